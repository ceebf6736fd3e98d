package clients

import (
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// selfAssessed is a text with a block of signals, of which clients must see
// neither the fence nor the values.
const selfAssessed = "It is Paris.\n\n```cortex-signals\n{\"confidence\":0.75,\"difficulty\":\"easy\",\"escalation\":\"none\"}\n```"

// wantSignals checks the signals and assessment beside an answer.
func wantSignals(t *testing.T, raw string) {
	t.Helper()
	for _, part := range []string{`"x_signals":{"confidence":0.75,`, `"x_assessment":{`, `"recommendation":"`} {
		if !strings.Contains(raw, part) {
			t.Errorf("%s is not in %s", part, raw)
		}
	}
}

func TestOpenAISignals(t *testing.T) {
	c := openaiClient(t, selfAssessed)
	q := ask("the capital of France?")
	q.Temperature = openai.Float(0)
	got, err := c.Chat.Completions.New(t.Context(), q, option.WithJSONSet("signals", true))
	if err != nil {
		t.Fatal(err)
	}
	if got.Choices[0].Message.Content != "It is Paris." {
		t.Errorf("%q", got.Choices[0].Message.Content)
	}
	wantSignals(t, got.RawJSON())
	stream := c.Chat.Completions.NewStreaming(t.Context(), q, option.WithJSONSet("signals", true))
	var all openai.ChatCompletionAccumulator
	last := ""
	for stream.Next() {
		all.AddChunk(stream.Current())
		last = stream.Current().RawJSON()
	}
	if err := stream.Err(); err != nil || all.Choices[0].Message.Content != "It is Paris." {
		t.Errorf("%q %v", all.Choices[0].Message.Content, err)
	}
	wantSignals(t, last)
}

func TestAnthropicSignals(t *testing.T) {
	c := anthropicClient(t, selfAssessed)
	q := turn("the capital of France?")
	q.Temperature = anthropic.Float(0)
	got, err := c.Messages.New(t.Context(), q, anthropicoption.WithJSONSet("signals", true))
	if err != nil {
		t.Fatal(err)
	}
	if got.Content[0].Text != "It is Paris." {
		t.Errorf("%q", got.Content[0].Text)
	}
	wantSignals(t, got.RawJSON())
	stream := c.Messages.NewStreaming(t.Context(), q, anthropicoption.WithJSONSet("signals", true))
	var all anthropic.Message
	raw := ""
	for stream.Next() {
		if err := all.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
		raw += stream.Current().RawJSON()
	}
	if err := stream.Err(); err != nil || all.Content[0].Text != "It is Paris." {
		t.Errorf("%v %v", all.Content, err)
	}
	wantSignals(t, raw)
}
