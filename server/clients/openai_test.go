package clients

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

func openaiClient(t *testing.T, reply string) openai.Client {
	return openai.NewClient(option.WithBaseURL(start(t, reply)+"/v1"), option.WithAPIKey("none"))
}

func ask(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "tiny", MaxCompletionTokens: openai.Int(60), Seed: openai.Int(7),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief."), openai.UserMessage(text)},
	}
}

func wantPerson(t *testing.T, text string) {
	t.Helper()
	var p person
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil || p.Age < 1 || p.Age > 120 || len([]rune(p.Name)) > 8 {
		t.Errorf("%q: %v", text, err)
	}
}

func TestOpenAIChat(t *testing.T) {
	c := openaiClient(t, "hello wörld")
	q := ask("hi")
	q.Temperature, q.Logprobs, q.TopLogprobs = openai.Float(0), openai.Bool(true), openai.Int(2)
	got, err := c.Chat.Completions.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	one := got.Choices[0]
	if one.Message.Content != "hello wörld" || one.FinishReason != "stop" || got.Usage.TotalTokens != got.Usage.PromptTokens+got.Usage.CompletionTokens {
		t.Errorf("%s", got.RawJSON())
	}
	if len(one.Logprobs.Content) == 0 || len(one.Logprobs.Content[0].TopLogprobs) != 2 {
		t.Errorf("logprobs %s", one.Logprobs.RawJSON())
	}
	q.N = openai.Int(3)
	if got, err = c.Chat.Completions.New(t.Context(), q); err != nil || len(got.Choices) != 3 {
		t.Errorf("n = 3: %v %v", got, err)
	}
}

func personFormat() openai.ChatCompletionNewParamsResponseFormatUnion {
	return openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "person", Strict: openai.Bool(true), Schema: personSchema},
	}}
}

func TestOpenAISchema(t *testing.T) {
	c := openaiClient(t, "")
	q := ask("a person")
	q.ResponseFormat = personFormat()
	got, err := c.Chat.Completions.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	wantPerson(t, got.Choices[0].Message.Content)
	if got.Choices[0].Message.Refusal != "" || got.Choices[0].FinishReason != "stop" {
		t.Errorf("%s", got.RawJSON())
	}

	q.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := c.Chat.Completions.NewStreaming(t.Context(), q)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			t.Fatalf("chunk %s does not fit the others", stream.Current().RawJSON())
		}
	}
	if stream.Err() != nil || all.Choices[0].Message.Content != got.Choices[0].Message.Content || all.Choices[0].FinishReason != "stop" || all.Usage.CompletionTokens != got.Usage.CompletionTokens {
		t.Errorf("stream: %v, %q, usage %v; at once %q", stream.Err(), all.Choices[0].Message.Content, all.Usage, got.Choices[0].Message.Content)
	}

	q.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONObject: &shared.ResponseFormatJSONObjectParam{}}
	q.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	got, err = c.Chat.Completions.New(t.Context(), q)
	var object map[string]any
	if err != nil || json.Unmarshal([]byte(got.Choices[0].Message.Content), &object) != nil {
		t.Errorf("json_object: %v %v", got, err)
	}
}

func personTool() openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "save", Description: openai.String("Save a person."), Strict: openai.Bool(true), Parameters: personSchema,
	})
}

func TestOpenAITools(t *testing.T) {
	c := openaiClient(t, "")
	q := ask("save Ann")
	q.Tools = []openai.ChatCompletionToolUnionParam{personTool()}
	q.ToolChoice = openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "save"})
	got, err := c.Chat.Completions.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	calls := got.Choices[0].Message.ToolCalls
	if len(calls) != 1 || calls[0].Function.Name != "save" || got.Choices[0].FinishReason != "tool_calls" {
		t.Fatalf("%s", got.RawJSON())
	}
	wantPerson(t, calls[0].Function.Arguments)

	stream := c.Chat.Completions.NewStreaming(t.Context(), q)
	var all openai.ChatCompletionAccumulator
	finished := 0
	for stream.Next() {
		all.AddChunk(stream.Current())
		if call, ok := all.JustFinishedToolCall(); ok {
			finished++
			if call.Name != "save" || call.Arguments != calls[0].Function.Arguments {
				t.Errorf("streamed call %+v", call)
			}
		}
	}
	if stream.Err() != nil || finished != 1 {
		t.Errorf("%d calls in the stream, %v", finished, stream.Err())
	}

	// The tool's result goes back.
	q.Messages = append(q.Messages, got.Choices[0].Message.ToParam(), openai.ToolMessage("saved", calls[0].ID))
	q.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("none")}
	if got, err = c.Chat.Completions.New(t.Context(), q); err != nil || len(got.Choices[0].Message.ToolCalls) != 0 {
		t.Errorf("after the tool: %v %v", got, err)
	}
}

func TestOpenAIErrors(t *testing.T) {
	c := openaiClient(t, "x")
	q := ask("hi")
	q.Model = "gpt-9"
	_, err := c.Chat.Completions.New(t.Context(), q)
	var failed *openai.Error
	if !errors.As(err, &failed) || failed.StatusCode != 404 || failed.Code != "model_not_found" {
		t.Errorf("%v", err)
	}
	q = ask("hi")
	q.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "x", Strict: openai.Bool(true), Schema: map[string]any{"$ref": "https://example.com/x"}},
	}}
	_, err = c.Chat.Completions.New(t.Context(), q)
	if !errors.As(err, &failed) || failed.StatusCode != 400 || failed.Code != "unsupported_schema_keyword" || failed.Param != "response_format.json_schema.schema" {
		t.Errorf("%v", err)
	}
	if stream := c.Chat.Completions.NewStreaming(t.Context(), q); stream.Next() || !errors.As(stream.Err(), &failed) || failed.StatusCode != 400 {
		t.Errorf("in a stream: %v", stream.Err())
	}
}

func TestOpenAICompletionsAndModels(t *testing.T) {
	c := openaiClient(t, " hello")
	got, err := c.Completions.New(t.Context(), openai.CompletionNewParams{
		Model: "tiny", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("say")}, MaxTokens: openai.Int(20), Temperature: openai.Float(0),
	})
	if err != nil || got.Choices[0].Text != " hello" || got.Choices[0].FinishReason != "stop" {
		t.Errorf("%v %v", got, err)
	}
	list, err := c.Models.List(t.Context())
	if err != nil || len(list.Data) != 1 || list.Data[0].ID != "tiny" {
		t.Errorf("%v %v", list, err)
	}
	if one, err := c.Models.Get(t.Context(), "tiny"); err != nil || one.ID != "tiny" {
		t.Errorf("%v %v", one, err)
	}
}

func TestOpenAIResponses(t *testing.T) {
	c := openaiClient(t, "")
	q := responses.ResponseNewParams{
		Model: "tiny", Instructions: openai.String("Be brief."), MaxOutputTokens: openai.Int(60),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("a person")},
		Text: responses.ResponseTextConfigParam{Format: responses.ResponseFormatTextConfigUnionParam{
			OfJSONSchema: &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "person", Strict: openai.Bool(true), Schema: personSchema},
		}},
	}
	got, err := c.Responses.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	wantPerson(t, got.OutputText())
	if got.Status != "completed" || got.Usage.OutputTokens == 0 {
		t.Errorf("%s", got.RawJSON())
	}
	stream := c.Responses.NewStreaming(t.Context(), q)
	text, kinds, last := "", []string{}, int64(-1)
	for stream.Next() {
		e := stream.Current()
		kinds = append(kinds, e.Type)
		if e.SequenceNumber != last+1 {
			t.Errorf("sequence number %d after %d", e.SequenceNumber, last)
		}
		last = e.SequenceNumber
		switch e := e.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += e.Delta
		case responses.ResponseCompletedEvent:
			if e.Response.OutputText() != text || e.Response.Status != "completed" {
				t.Errorf("completed: %q, deltas %q", e.Response.OutputText(), text)
			}
		}
	}
	if stream.Err() != nil || kinds[0] != "response.created" || kinds[len(kinds)-1] != "response.completed" {
		t.Errorf("%v, events %v", stream.Err(), kinds)
	}
	wantPerson(t, text)

	q.Text = responses.ResponseTextConfigParam{}
	q.Tools = []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "save", Parameters: personSchema, Strict: param.NewOpt(true)}}}
	q.ToolChoice = responses.ResponseNewParamsToolChoiceUnion{OfFunctionTool: &responses.ToolChoiceFunctionParam{Name: "save"}}
	if got, err = c.Responses.New(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	call := got.Output[0].AsFunctionCall()
	if call.Name != "save" || call.CallID == "" {
		t.Errorf("%s", got.RawJSON())
	}
	wantPerson(t, call.Arguments)
}
