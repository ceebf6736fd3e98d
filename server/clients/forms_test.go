package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/vocab"
)

// noteSchema is the schema of the arguments in TestToolCallsOfEveryTemplate. Its properties are sorted by name, since
// some clients send them so and arguments are written in the schema's order.
const noteSchema = `{"type": "object", "properties": {
	"count": {"type": "integer"}, "empty": {"type": "object"}, "list": {"type": "array"},
	"place": {"type": "object", "properties": {"at": {"type": "object", "properties": {"lat": {"type": "number"}}}, "city": {"type": "string"},
		"none": {"type": "object", "properties": {"x": {"type": "string"}}}, "notes": {"type": "array", "items": {"type": "object", "properties": {"is": {"type": "boolean"}, "text": {"type": "string"}}}}}},
	"text": {"type": "string"}}}`

// A clientCall is a call as a client receives it, with its arguments as a value.
type clientCall struct {
	Name      string
	Arguments any
}

func read(t *testing.T, name string, arguments []byte) clientCall {
	t.Helper()
	var v any
	if err := json.Unmarshal(arguments, &v); err != nil {
		t.Errorf("arguments of %s: %v: %s", name, err, arguments)
	}
	return clientCall{name, v}
}

// TestToolCallsOfEveryTemplate checks, for every template of llama.cpp's collection, that the official clients
// understand a model that calls two tools at once in its template's form, with arguments that are difficult to write,
// streamed and whole.
func TestToolCallsOfEveryTemplate(t *testing.T) {
	tiny, err := tiny()
	if err != nil {
		t.Fatal(err)
	}
	calls := []chat.ToolCall{
		{ID: "abcdefghi", Name: "note", Arguments: json.RawMessage(`{"count": -3, "empty": {}, "list": ["a\tb", true, null, [1.5]], "place": {"at": {"lat": 47.4}, "city": "Zürich", "none": {}, "notes": [{"is": true, "text": "It's \"so\":\n\t{nice}, [é] \\n & <b> 日本 😀"}, {}, {"is": false, "text": ""}]}, "text": "It's \"so\":\n  {nice} & <b>\\ é 日本 😀"}`)},
		{ID: "jklmnopqr", Name: "now", Arguments: json.RawMessage(`{}`)},
	}
	forms, tried := map[string]int{}, 0
	for name, source := range shared.Templates(t) {
		tmpl, err := chat.New(source, chat.Options{BOS: "<BOS>", EOS: "<EOS>", Now: func() time.Time { return time.Unix(0, 0) }})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		form, known := tmpl.CallForm()
		if !known {
			continue // see chat.TestBundledTemplates
		}
		if form.Name == chat.Harmony {
			tried++
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				callsInChannels(t, withTemplate(t, tiny, source, harmonyTokens...), calls)
			})
			continue
		}
		calls := slices.Clone(calls)
		if n := form.Arguments.Values[chat.ArrayValue].Nested; n != nil && n.OmitsNull {
			calls[0].Arguments = json.RawMessage(strings.ReplaceAll(string(calls[0].Arguments), "null, ", ""))
		}
		if form.Next == "" {
			calls = calls[:1]
		}
		text, err := form.Write(calls)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		prompt, err := tmpl.Render(chat.Input{Messages: []chat.Message{{Role: "user", Content: "x"}}, AddGenerationPrompt: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		thoughts, _ := tmpl.ThoughtForm()
		begun := strings.HasSuffix(strings.TrimSpace(prompt), thoughts.Open)
		blank := thoughts.Gap[:len(thoughts.Gap)-len(strings.TrimLeft(thoughts.Gap, " \n"))] // the rest is the answer's mark
		thinking := thoughts.Open + thoughts.Lead + "Hm." + thoughts.Close
		if begun {
			thinking = "Hm." + thoughts.Close
		}
		before := blank + form.Lead
		if thoughts.CallGap != nil {
			before = *thoughts.CallGap
		}
		thoughtful, document := thinking+before+text, thinking+thoughts.Gap+`{"age": 5, "name": "Ann"}`
		if form.Answer != "" { // calls, answers and thoughts each begin with whom they address
			text = form.Call + strings.TrimPrefix(text, form.Triggers[0].Mark)
			thoughtful, document = thinking+thoughts.Gap+text, thinking+thoughts.Gap+form.Answer+`{"age": 5, "name": "Ann"}`
		}
		if begun {
			text = thoughtful
		}
		tried++
		if forms[text]++; forms[text] > 1 {
			continue // another template has the same form
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := withTemplate(t, tiny, source)
			address := serveLong(t, v, scripted.SayText(v, text))
			var want []clientCall
			for _, c := range calls {
				want = append(want, read(t, c.Name, c.Arguments))
			}
			for way, got := range callsByClients(t, address) {
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %v\n  of %q", way, got, text)
				}
			}
			if got := callOrDocument(t, serveLong(t, v, scripted.SayText(v, thoughtful))); got.Content != "" || len(got.ToolCalls) != len(want) || read(t, got.ToolCalls[0].Function.Name, []byte(got.ToolCalls[0].Function.Arguments)).Name != "note" {
				t.Errorf("thoughts and calls beside a document: %s\n  of %q", got.RawJSON(), thoughtful)
			}
			if got := callOrDocument(t, serveLong(t, v, scripted.SayText(v, document))); len(got.ToolCalls) != 0 {
				t.Errorf("thoughts and a document beside calls: %s\n  of %q", got.RawJSON(), document)
			} else {
				wantPerson(t, got.Content)
			}
		})
	}
	t.Logf("%d templates, %d forms", tried, len(forms))
	if tried < 65 || len(forms) < 44 {
		t.Errorf("%d templates with %d forms were tried", tried, len(forms))
	}
}

// harmonyTokens are the marks of messages in channels. Beside the last two, <|end|> does not end an answer.
var harmonyTokens = []string{"<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|return|>", "<|call|>"}

// callsInChannels checks that the clients understand a model that writes messages in channels, and calls two tools: at once, with
// the channel before the tool's name or after it, and one after the other.
func callsInChannels(t *testing.T, v *vocab.Vocab, calls []chat.ToolCall) {
	const next, thoughts = "<|end|><|start|>assistant", "<|channel|>analysis<|message|>Hm."
	after := func(c chat.ToolCall) string {
		return "<|channel|>commentary to=functions." + c.Name + " <|constrain|>json<|message|>" + string(c.Arguments)
	}
	before := func(c chat.ToolCall) string {
		return " to=functions." + c.Name + "<|channel|>commentary json<|message|>" + string(c.Arguments)
	}
	var want []clientCall
	for _, c := range calls {
		want = append(want, read(t, c.Name, c.Arguments))
	}
	for _, text := range []string{
		thoughts + next + after(calls[0]) + next + after(calls[1]), thoughts + next + before(calls[0]) + next + before(calls[1]), after(calls[0]) + next + before(calls[1]),
		// What follows and is no call ends the answer.
		after(calls[0]) + next + after(calls[1]) + next + "<|channel|>final<|message|>I have called them.", after(calls[0]) + next + after(calls[1]) + "<|end|>",
	} {
		for way, got := range callsByClients(t, serveLong(t, v, sayNamed(v, text))) {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v\n  of %q", way, got, text)
			}
		}
	}
	got := callOrDocument(t, serveLong(t, v, sayNamed(v, thoughts+next+after(calls[0])+next+after(calls[1]))))
	if len(got.ToolCalls) != 2 || !reflect.DeepEqual(read(t, "note", []byte(got.ToolCalls[0].Function.Arguments)), want[0]) {
		t.Errorf("thoughts and calls beside a document: %s", got.RawJSON())
	}
	got = callOrDocument(t, serveLong(t, v, sayNamed(v, thoughts+next+`<|channel|>final<|message|>{"age": 5, "name": "Ann"}`)))
	if len(got.ToolCalls) != 0 {
		t.Errorf("thoughts and a document beside calls: %s", got.RawJSON())
	}
	wantPerson(t, got.Content)

	// One after the other, each after the result of the one before.
	steps := []scripted.Func{sayNamed(v, thoughts+next+after(calls[0])), sayNamed(v, before(calls[1])), sayNamed(v, "<|channel|>final<|message|>Done.")}
	o := openai.NewClient(option.WithBaseURL(serveLong(t, v, func(history []int32, logits []float32) {
		steps[strings.Count(named(v, history), " to=assistant<|channel|>commentary<|message|>")](history, logits)
	})+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	q := noteQuestion(t)
	for i := range steps {
		answer, err := o.Chat.Completions.New(t.Context(), q)
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		message := answer.Choices[0].Message
		if i == len(calls) {
			if message.Content != "Done." || len(message.ToolCalls) != 0 {
				t.Errorf("at the end: %s", message.RawJSON())
			}
			break
		}
		if len(message.ToolCalls) != 1 || !reflect.DeepEqual(read(t, message.ToolCalls[0].Function.Name, []byte(message.ToolCalls[0].Function.Arguments)), want[i]) {
			t.Fatalf("step %d: %s", i, message.RawJSON())
		}
		q.Messages = append(q.Messages, message.ToParam(), openai.ToolMessage("saved", message.ToolCalls[0].ID))
	}
}

// callOrDocument asks a reasoning model for calls or a document, as it chooses, and returns the message.
func callOrDocument(t *testing.T, address string) openai.ChatCompletionMessage {
	t.Helper()
	o := openai.NewClient(option.WithBaseURL(address+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0), option.WithJSONSet("reasoning", map[string]any{"enabled": true}))
	q := noteQuestion(t)
	q.ResponseFormat = personFormat()
	got, err := o.Chat.Completions.New(t.Context(), q)
	if err != nil {
		t.Fatalf("calls or a document: %v", err)
	}
	message := got.Choices[0].Message
	if thought := message.JSON.ExtraFields["reasoning_content"].Raw(); thought != `"Hm."` {
		t.Errorf("calls or a document: the thoughts are %s", thought)
	}
	return message
}

// noteQuestion returns a request with two tools.
func noteQuestion(t *testing.T) openai.ChatCompletionNewParams {
	t.Helper()
	var parameters map[string]any
	if err := json.Unmarshal([]byte(noteSchema), &parameters); err != nil {
		t.Fatal(err)
	}
	return openai.ChatCompletionNewParams{
		Model: "tiny", Temperature: openai.Float(0), MaxCompletionTokens: openai.Int(1500),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("note it")},
		Tools: []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "note", Description: openai.String("note it down"), Parameters: parameters}),
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "now", Description: openai.String("the time")}),
		},
	}
}

// callsByClients returns the calls that the official clients of three dialects receive, streamed and whole.
func callsByClients(t *testing.T, address string) map[string][]clientCall {
	out := map[string][]clientCall{}
	var parameters map[string]any
	if err := json.Unmarshal([]byte(noteSchema), &parameters); err != nil {
		t.Fatal(err)
	}

	o := openai.NewClient(option.WithBaseURL(address+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	q := noteQuestion(t)
	ofChat := func(way string, message openai.ChatCompletionMessage, finish string, err error) {
		if err != nil || finish != "tool_calls" || message.Content != "" {
			t.Errorf("%s: %q %s %v", way, message.Content, finish, err)
		}
		out[way] = nil
		for _, c := range message.ToolCalls {
			out[way] = append(out[way], read(t, c.Function.Name, []byte(c.Function.Arguments)))
		}
	}
	if got, err := o.Chat.Completions.New(t.Context(), q); err != nil {
		t.Errorf("OpenAI: %v", err)
	} else {
		ofChat("OpenAI", got.Choices[0].Message, got.Choices[0].FinishReason, err)
	}
	stream := o.Chat.Completions.NewStreaming(t.Context(), q)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			t.Errorf("OpenAI's stream: a chunk does not fit those before it")
		}
	}
	if len(all.Choices) == 1 {
		ofChat("OpenAI, streamed", all.Choices[0].Message, all.Choices[0].FinishReason, stream.Err())
	} else {
		t.Errorf("OpenAI, streamed: %d choices, %v", len(all.Choices), stream.Err())
	}

	a := anthropic.NewClient(anthropicoption.WithBaseURL(address), anthropicoption.WithAPIKey("none"), anthropicoption.WithMaxRetries(0))
	turn := anthropic.MessageNewParams{
		Model: "tiny", MaxTokens: 1500, Temperature: anthropic.Float(0),
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("note it"))},
		Tools: []anthropic.ToolUnionParam{
			{OfTool: &anthropic.ToolParam{Name: "note", Description: anthropic.String("note it down"), InputSchema: anthropic.ToolInputSchemaParam{Properties: parameters["properties"]}}},
			{OfTool: &anthropic.ToolParam{Name: "now", Description: anthropic.String("the time"), InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{}}}},
		},
	}
	ofMessages := func(way string, m anthropic.Message) {
		if m.StopReason != anthropic.StopReasonToolUse {
			t.Errorf("%s: %s", way, m.StopReason)
		}
		out[way] = nil
		for _, b := range m.Content {
			if use := b.AsToolUse(); b.Type == "tool_use" {
				out[way] = append(out[way], read(t, use.Name, use.Input))
			}
		}
	}
	if got, err := a.Messages.New(t.Context(), turn); err != nil {
		t.Errorf("Anthropic: %v", err)
	} else {
		ofMessages("Anthropic", *got)
	}
	ofMessages("Anthropic, streamed", accumulate(t, &a, turn))

	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l := api.NewClient(base, http.DefaultClient)
	var tools api.Tools
	if err := json.Unmarshal(fmt.Appendf(nil, `[{"type": "function", "function": {"name": "note", "description": "note it down", "parameters": %s}},
		{"type": "function", "function": {"name": "now", "description": "the time", "parameters": {"type": "object", "properties": {}}}}]`, noteSchema), &tools); err != nil {
		t.Fatal(err)
	}
	for way, streamed := range map[string]bool{"Ollama": false, "Ollama, streamed": true} {
		out[way] = nil
		err := l.Chat(t.Context(), &api.ChatRequest{
			Model: "tiny", Messages: []api.Message{{Role: "user", Content: "note it"}}, Stream: &streamed, Tools: tools,
			Options: map[string]any{"temperature": 0, "num_predict": 1500},
		}, func(r api.ChatResponse) error {
			for _, c := range r.Message.ToolCalls {
				arguments, err := json.Marshal(c.Function.Arguments)
				if err != nil {
					return err
				}
				out[way] = append(out[way], read(t, c.Function.Name, arguments))
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
	return out
}
