package clients

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

func langchain(t *testing.T, reply string, more ...openai.Option) *openai.LLM {
	t.Helper()
	llm, err := openai.New(append([]openai.Option{openai.WithBaseURL(start(t, reply) + "/v1"), openai.WithToken("none"), openai.WithModel("tiny")}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return llm
}

var said = []llms.MessageContent{
	llms.TextParts(llms.ChatMessageTypeSystem, "Be brief."), llms.TextParts(llms.ChatMessageTypeHuman, "a person"),
}

func TestLangChainText(t *testing.T) {
	llm := langchain(t, "hello wörld")
	streamed := ""
	got, err := llm.GenerateContent(t.Context(), said, llms.WithTemperature(0), llms.WithMaxTokens(60),
		llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error { streamed += string(chunk); return nil }))
	if err != nil || got.Choices[0].Content != "hello wörld" || streamed != "hello wörld" {
		t.Errorf("%v %q %v", got, streamed, err)
	}
	whole, err := llm.GenerateContent(t.Context(), said, llms.WithTemperature(0), llms.WithMaxTokens(60))
	if err != nil || whole.Choices[0].Content != "hello wörld" || whole.Choices[0].StopReason != "stop" {
		t.Errorf("%v %v", whole, err)
	}
}

func TestLangChainStructured(t *testing.T) {
	llm := langchain(t, "", openai.WithResponseFormat(&openai.ResponseFormat{Type: "json_schema", JSONSchema: &openai.ResponseFormatJSONSchema{
		Name: "person", Strict: true, Schema: &openai.ResponseFormatJSONSchemaProperty{
			Type: "object", AdditionalProperties: false, Required: []string{"name", "age"},
			Properties: map[string]*openai.ResponseFormatJSONSchemaProperty{"name": {Type: "string", Enum: []any{"Ann", "Bob"}}, "age": {Type: "integer"}},
		},
	}}))
	got, err := llm.GenerateContent(t.Context(), said, llms.WithMaxTokens(40))
	var p person
	if err != nil || json.Unmarshal([]byte(got.Choices[0].Content), &p) != nil || p.Name != "Ann" && p.Name != "Bob" {
		t.Errorf("%v %v", got, err)
	}

	llm = langchain(t, "")
	var object map[string]any
	got, err = llm.GenerateContent(t.Context(), said, llms.WithJSONMode(), llms.WithMaxTokens(40))
	if err != nil || json.Unmarshal([]byte(got.Choices[0].Content), &object) != nil {
		t.Errorf("JSON mode: %v %v", got, err)
	}
	got, err = llm.GenerateContent(t.Context(), said, llms.WithMaxTokens(60), llms.WithToolChoice("required"), llms.WithTools([]llms.Tool{
		{Type: "function", Function: &llms.FunctionDefinition{Name: "save", Parameters: personSchema}},
	}))
	if err != nil || len(got.Choices[0].ToolCalls) == 0 {
		t.Fatalf("tools: %v %v", got, err)
	}
	wantPerson(t, got.Choices[0].ToolCalls[0].FunctionCall.Arguments)
}
