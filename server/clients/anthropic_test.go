package clients

import (
	"errors"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

func anthropicClient(t *testing.T, reply string) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(start(t, reply)), option.WithAPIKey("none"))
}

func turn(text string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: "tiny", MaxTokens: 60, System: []anthropic.TextBlockParam{{Text: "Be brief."}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
	}
}

func TestAnthropicText(t *testing.T) {
	c := anthropicClient(t, "hello wörld, stop here")
	q := turn("hi")
	q.Temperature = anthropic.Float(0)
	got, err := c.Messages.New(t.Context(), q)
	if err != nil || got.Content[0].AsText().Text != "hello wörld, stop here" || got.StopReason != anthropic.StopReasonEndTurn {
		t.Fatalf("%v %v", got, err)
	}
	count, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{
		Model: q.Model, Messages: q.Messages, System: anthropic.MessageCountTokensParamsSystemUnion{OfTextBlockArray: q.System},
	})
	if err != nil || count.InputTokens != got.Usage.InputTokens || count.InputTokens == 0 {
		t.Errorf("counted %v (%v), used %d", count, err, got.Usage.InputTokens)
	}
	q.StopSequences = []string{", stop"}
	got, err = c.Messages.New(t.Context(), q)
	if err != nil || got.Content[0].AsText().Text != "hello wörld" || got.StopReason != anthropic.StopReasonStopSequence || got.StopSequence != ", stop" {
		t.Errorf("%v %v", got, err)
	}
	q.MaxTokens = 2
	if got, err = c.Messages.New(t.Context(), q); err != nil || got.StopReason != anthropic.StopReasonMaxTokens {
		t.Errorf("%v %v", got, err)
	}
}

// accumulate reads a stream to its end.
func accumulate(t *testing.T, c *anthropic.Client, q anthropic.MessageNewParams) anthropic.Message {
	t.Helper()
	stream := c.Messages.NewStreaming(t.Context(), q)
	var all anthropic.Message
	for stream.Next() {
		if err := all.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	return all
}

func TestAnthropicSchema(t *testing.T) {
	c := anthropicClient(t, "")
	q := turn("a person")
	q.OutputConfig = anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: personSchema}}
	got, err := c.Messages.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	wantPerson(t, got.Content[0].AsText().Text)
	all := accumulate(t, &c, q)
	wantPerson(t, all.Content[0].AsText().Text)
	if all.StopReason != anthropic.StopReasonEndTurn || all.Usage.OutputTokens == 0 || all.Usage.InputTokens+all.Usage.CacheReadInputTokens != got.Usage.InputTokens+got.Usage.CacheReadInputTokens {
		t.Errorf("%s", all.RawJSON())
	}
}

func TestAnthropicTools(t *testing.T) {
	c := anthropicClient(t, "")
	q := turn("save Ann")
	save := anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{
		Properties: personSchema["properties"], Required: []string{"name", "age"}, ExtraFields: map[string]any{"additionalProperties": false},
	}, "save")
	q.Tools = []anthropic.ToolUnionParam{save}
	for _, choice := range []anthropic.ToolChoiceUnionParam{anthropic.ToolChoiceParamOfTool("save"), {OfAny: &anthropic.ToolChoiceAnyParam{DisableParallelToolUse: anthropic.Bool(true)}}} {
		q.ToolChoice = choice
		got, err := c.Messages.New(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		use := got.Content[0].AsToolUse()
		if len(got.Content) != 1 || use.Name != "save" || got.StopReason != anthropic.StopReasonToolUse {
			t.Fatalf("%s", got.RawJSON())
		}
		wantPerson(t, string(use.Input))
		all := accumulate(t, &c, q)
		streamed := all.Content[0].AsToolUse()
		if len(all.Content) != 1 || streamed.Name != "save" || all.StopReason != anthropic.StopReasonToolUse {
			t.Errorf("stream: %s", all.RawJSON())
		}
		wantPerson(t, string(streamed.Input))

		next := q
		next.Messages = append(next.Messages, got.ToParam(), anthropic.NewUserMessage(anthropic.NewToolResultBlock(use.ID, "saved", false)))
		next.ToolChoice = anthropic.ToolChoiceUnionParam{OfNone: &anthropic.ToolChoiceNoneParam{}}
		if got, err = c.Messages.New(t.Context(), next); err != nil || got.StopReason == anthropic.StopReasonToolUse {
			t.Errorf("after the tool: %v %v", got, err)
		}
	}
}

func TestAnthropicErrors(t *testing.T) {
	c := anthropicClient(t, "x")
	q := turn("hi")
	q.Model = "claude-9"
	_, err := c.Messages.New(t.Context(), q)
	var failed *anthropic.Error
	if !errors.As(err, &failed) || failed.StatusCode != 404 || failed.Type() != "not_found_error" {
		t.Errorf("%v", err)
	}
	q = turn("hi")
	q.OutputConfig = anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: map[string]any{"type": "nothing"}}}
	if _, err = c.Messages.New(t.Context(), q); !errors.As(err, &failed) || failed.StatusCode != 400 || failed.Type() != "invalid_request_error" {
		t.Errorf("%v", err)
	}
	if list, err := c.Models.List(t.Context(), anthropic.ModelListParams{}); err != nil || len(list.Data) != 1 || list.Data[0].ID != "tiny" {
		t.Errorf("models: %v %v", list, err)
	}
}
