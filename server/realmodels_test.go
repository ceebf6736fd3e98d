//go:build llama && cgo

package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/realmodels"
)

// These tests are end to end, from HTTP to trained weights and back. The expected texts have a margin: at each token
// the most likely one leads the next by more than arithmetic differs between machines or batches. Questions are worded
// so that even 135 million parameters answer correctly: asked for the capital of France without "one word", SmolLM2
// names none, also in llama.cpp alone.

// startReal serves a trained model.
func startReal(t *testing.T, m realmodels.Model) string {
	t.Helper()
	model, err := llama.Load(t.Context(), realmodels.Path(t, m), llama.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(model, engine.Config{Parallel: 4, Context: backend.ContextParams{Size: 4096, Threads: 1}}) // tests share the machine
	if err != nil {
		t.Fatal(err)
	}
	srv := New(Config{Log: slog.New(slog.DiscardHandler)})
	if err := srv.SetModel("real", e); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(srv.Handler())
	t.Cleanup(func() {
		h.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	return h.URL
}

// ask returns a chat request at temperature 0 with further fields.
func ask(question, more string) string {
	quoted, _ := json.Marshal(question)
	if more != "" {
		more = ", " + more
	}
	return fmt.Sprintf(`{"messages": [{"role": "user", "content": %s}], "temperature": 0, "max_tokens": 60%s}`, quoted, more)
}

// answerOf posts a chat request and returns its only choice.
func answerOf(t *testing.T, url, body string) (content string, choice, whole map[string]any) {
	t.Helper()
	status, _, got := post(t, url+"/v1/chat/completions", body)
	choices, _ := got["choices"].([]any)
	if status != 200 || len(choices) != 1 {
		t.Fatalf("%s: %d %v", body, status, got)
	}
	choice = choices[0].(map[string]any)
	content, _ = at(choice, "message", "content").(string)
	return content, choice, got
}

// streamOf returns the assembled content of a chat stream.
func streamOf(t *testing.T, url, body string) (content string, reason any) {
	t.Helper()
	for _, c := range chatChunks(t, url, body[:len(body)-1]+`, "stream": true}`) {
		piece, _ := at(c, "choices", 0, "delta", "content").(string)
		content += piece
		if r := at(c, "choices", 0, "finish_reason"); r != nil {
			reason = r
		}
	}
	return content, reason
}

// realChat checks that an answer contains a word, whole and as a stream.
func realChat(t *testing.T, url, question, word string) {
	t.Helper()
	body := ask(question, "")
	content, choice, got := answerOf(t, url, body)
	if !strings.Contains(content, word) || choice["finish_reason"] != "stop" {
		t.Errorf("%s: %q, %v", question, content, choice["finish_reason"])
	}
	spent, _ := at(got, "usage", "completion_tokens").(float64)
	if prompt, _ := at(got, "usage", "prompt_tokens").(float64); spent < 1 || spent > 60 || prompt < 10 {
		t.Errorf("%s: usage %v", question, got["usage"])
	}
	if streamed, reason := streamOf(t, url, body); streamed != content || reason != "stop" {
		t.Errorf("%s: %q as a stream, %v; %q at once", question, streamed, reason, content)
	}
}

// realDocument checks that a document under a schema is the expected one, whole and as a stream.
func realDocument(t *testing.T, url, question, schema, want string) {
	t.Helper()
	body := ask(question, `"response_format": {"type": "json_schema", "json_schema": {"name": "doc", "strict": true, "schema": `+schema+`}}`)
	content, choice, got := answerOf(t, url, body)
	var doc any
	if err := json.Unmarshal([]byte(content), &doc); err != nil {
		t.Fatalf("%s: %v in %q", question, err, content)
	}
	if plain, _ := json.Marshal(doc); string(plain) != want || choice["finish_reason"] != "stop" || at(got, "x_constraint", "validated") != true {
		t.Errorf("%s: %s, %v, %v; want %s", question, plain, choice["finish_reason"], got["x_constraint"], want)
	}
	if streamed, _ := streamOf(t, url, body); streamed != content {
		t.Errorf("%s: %q as a stream, %q at once", question, streamed, content)
	}
}

// realCall checks that the right tool is called, whole and as a stream.
func realCall(t *testing.T, url string) {
	t.Helper()
	const tools = `"tool_choice": "required", "parallel_tool_calls": false, "tools": [
		{"type": "function", "function": {"name": "get_weather", "description": "Current weather of a city", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false}}},
		{"type": "function", "function": {"name": "send_mail", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"], "additionalProperties": false}}}]`
	body := ask("What is the weather in Paris?", tools)
	content, choice, got := answerOf(t, url, body)
	calls, _ := at(choice, "message", "tool_calls").([]any)
	if content != "" || len(calls) != 1 || choice["finish_reason"] != "tool_calls" || at(got, "x_constraint", "validated") != true {
		t.Fatalf("%v", got)
	}
	var arguments map[string]string
	if err := json.Unmarshal([]byte(at(calls, 0, "function", "arguments").(string)), &arguments); err != nil {
		t.Fatal(err)
	}
	if at(calls, 0, "function", "name") != "get_weather" || len(arguments) != 1 || arguments["city"] != "Paris" {
		t.Errorf("%v", calls)
	}
	if streamed := readCalls(t, url, body); fmt.Sprint(streamed) != fmt.Sprint(callsOf(calls)) {
		t.Errorf("%v as a stream, %v at once", streamed, callsOf(calls))
	}
}

// realCompletion checks the continuation of a raw text, whole and as a stream.
func realCompletion(t *testing.T, url, prompt, want string, tokens int) {
	t.Helper()
	quoted, _ := json.Marshal(prompt)
	body := fmt.Sprintf(`{"prompt": %s, "temperature": 0, "max_tokens": %d`, quoted, tokens)
	status, _, got := post(t, url+"/v1/completions", body+`}`)
	if text := at(got, "choices", 0, "text"); status != 200 || text != want || at(got, "choices", 0, "finish_reason") != "length" || at(got, "usage", "completion_tokens") != float64(tokens) {
		t.Errorf("%q goes on with %q, want %q: %d, %v", prompt, text, want, status, got)
	}
	streamed := ""
	for _, c := range chunksOf(t, url+"/v1/completions", body+`, "stream": true}`) {
		piece, _ := at(c, "choices", 0, "text").(string)
		streamed += piece
	}
	if streamed != want {
		t.Errorf("%q goes on with %q as a stream, want %q", prompt, streamed, want)
	}
}

const (
	countrySchema = `{"type": "object", "properties": {"capital": {"type": "string"}, "continent": {"enum": ["Africa", "Asia", "Europe"]}}, "required": ["capital", "continent"], "additionalProperties": false}`
	citizenSchema = `{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}, "city": {"type": "string"}}, "required": ["name", "age", "city"], "additionalProperties": false}`
)

func TestRealSmolLM2(t *testing.T) {
	url := startReal(t, realmodels.SmolLM2)
	const question = "What is the capital of France? Answer with one word."
	t.Run("chat", func(t *testing.T) { realChat(t, url, question, "Paris") })
	t.Run("document", func(t *testing.T) {
		realDocument(t, url, "Which city is the capital of France?", countrySchema, `{"capital":"Paris","continent":"Europe"}`)
	})
	t.Run("call", func(t *testing.T) { realCall(t, url) })
	t.Run("completion", func(t *testing.T) { realCompletion(t, url, "The capital of France is", " Paris", 1) })
	t.Run("several", func(t *testing.T) { realSeveral(t, url) })
	t.Run("logprobs", func(t *testing.T) { realLogprobs(t, url, question) })
	t.Run("dialects", func(t *testing.T) { realDialects(t, url, question) })
}

// realSeveral checks that the choices of one request are independent texts.
func realSeveral(t *testing.T, url string) {
	const body = `{"messages": [{"role": "user", "content": "Tell me a story."}], "n": 2, "temperature": 1, "seed": 5, "max_tokens": 24}`
	status, _, got := post(t, url+"/v1/chat/completions", body)
	choices, _ := got["choices"].([]any)
	if status != 200 || len(choices) != 2 {
		t.Fatalf("%d %v", status, got)
	}
	var texts [2]string
	for i, c := range choices {
		texts[i], _ = at(c, "message", "content").(string)
		if at(c, "index") != float64(i) || len(strings.Fields(texts[i])) < 3 {
			t.Errorf("choice %d: %v", i, c)
		}
	}
	if texts[0] == texts[1] {
		t.Errorf("twice %q", texts[0])
	}
	if spent := at(got, "usage", "completion_tokens").(float64); spent < 6 || spent > 48 {
		t.Errorf("usage %v", got["usage"])
	}
	streamed := map[any]string{}
	for _, c := range chatChunks(t, url, body[:len(body)-1]+`, "stream": true}`) {
		piece, _ := at(c, "choices", 0, "delta", "content").(string)
		streamed[at(c, "choices", 0, "index")] += piece
	}
	if len(streamed) != 2 || streamed[0.0] == streamed[1.0] || streamed[0.0] == "" || streamed[1.0] == "" {
		t.Errorf("as a stream %v", streamed)
	}
}

// realLogprobs checks that the reported tokens are the sampled ones, in order and with probabilities.
func realLogprobs(t *testing.T, url, question string) {
	content, choice, got := answerOf(t, url, ask(question, `"logprobs": true, "top_logprobs": 3`))
	tokens, _ := at(choice, "logprobs", "content").([]any)
	if spent := at(got, "usage", "completion_tokens").(float64); len(tokens) == 0 || float64(len(tokens)) > spent {
		t.Fatalf("%d tokens in logprobs, usage %v", len(tokens), got["usage"])
	}
	spelt := ""
	for i, token := range tokens {
		text := at(token, "token").(string)
		spelt += text
		var bytes []byte
		for _, b := range at(token, "bytes").([]any) {
			bytes = append(bytes, byte(b.(float64)))
		}
		top, _ := at(token, "top_logprobs").([]any)
		if len(top) != 3 || string(bytes) != text {
			t.Fatalf("token %d: %v", i, token)
		}
		sum, last := 0.0, 0.0
		for _, x := range top {
			p := at(x, "logprob").(float64)
			if p > last {
				t.Errorf("token %d: %v is no order", i, top)
			}
			sum, last = sum+math.Exp(p), p
		}
		if sum > 1+1e-4 {
			t.Errorf("token %d: probabilities of %g together", i, sum)
		}
		if at(top, 0, "token") != text || at(top, 0, "logprob") != at(token, "logprob") {
			t.Errorf("token %d: at temperature 0 %q was taken, and not the most likely of %v", i, text, top)
		}
	}
	if spelt != content {
		t.Errorf("the tokens spell %q, the answer is %q", spelt, content)
	}
}

// realDialects checks that a question has the same answer in every dialect.
func realDialects(t *testing.T, url, question string) {
	want, _, _ := answerOf(t, url, ask(question, ""))
	quoted, _ := json.Marshal(question)
	for _, d := range []struct {
		path, body string
		answer     []any
	}{
		{"/v1/responses", `{"model": "real", "input": %s, "temperature": 0, "max_output_tokens": 60}`, []any{"output", 0, "content", 0, "text"}},
		{"/v1/messages", `{"model": "real", "messages": [{"role": "user", "content": %s}], "temperature": 0, "max_tokens": 60}`, []any{"content", 0, "text"}},
		{"/api/chat", `{"model": "real", "messages": [{"role": "user", "content": %s}], "stream": false, "options": {"temperature": 0, "num_predict": 60, "repeat_penalty": 1}}`, []any{"message", "content"}},
		{"/generate", `{"messages": [{"role": "user", "content": %s}], "temperature": 0, "max_tokens": 60}`, []any{"text"}},
	} {
		status, _, got := post(t, url+d.path, fmt.Sprintf(d.body, quoted))
		if status != 200 || at(got, d.answer...) != want {
			t.Errorf("%s: %d %v, want %q", d.path, status, got, want)
		}
	}
}

// realGap fills in text, and continues a conversation by its context.
func realGap(t *testing.T, url string) {
	t.Helper()
	_, _, got := post(t, url+"/v1/completions", `{"prompt": "def add(a, b):\n    return ", "suffix": "\n\nprint(add(1, 2))\n", "max_tokens": 12, "temperature": 0, "stop": "\n"}`)
	if text, _ := at(got, "choices", 0, "text").(string); strings.TrimSpace(text) != "a + b" {
		t.Errorf("the gap: %v", got)
	}
	generate := func(prompt, more string) map[string]any {
		_, _, got := post(t, url+"/api/generate", `{"model": "real", "stream": false, "options": {"temperature": 0, "num_predict": 30}, "prompt": "`+prompt+`"`+more+`}`)
		return got
	}
	context, _ := json.Marshal(generate("My name is Ada. Say hello.", "")["context"])
	if answer, _ := generate("What is my name? Answer with one word.", `, "context": `+string(context))["response"].(string); !strings.Contains(answer, "Ada") {
		t.Errorf("what follows: %q", answer)
	}
}

func TestRealQwen(t *testing.T) {
	url := startReal(t, realmodels.Qwen)
	t.Run("chat", func(t *testing.T) { realChat(t, url, "What is the capital of France?", "Paris") })
	t.Run("document", func(t *testing.T) {
		realDocument(t, url, "Maria Lopez is 34 years old and lives in Madrid. Who is she?", citizenSchema, `{"age":34,"city":"Madrid","name":"Maria Lopez"}`)
	})
	t.Run("call", func(t *testing.T) { realCall(t, url) })
	t.Run("completion", func(t *testing.T) { realCompletion(t, url, "One, two, three, four,", " five, six, seven, eight", 7) })
	t.Run("gap", func(t *testing.T) { realGap(t, url) })
	// Sequences that share batches don't affect one another.
	t.Run("at once", func(t *testing.T) {
		var clients sync.WaitGroup
		for country, capital := range map[string]string{"France": "Paris", "Italy": "Rome", "Japan": "Tokyo", "Germany": "Berlin"} {
			clients.Go(func() {
				_, _, got := post(t, url+"/v1/chat/completions", ask("What is the capital of "+country+"?", ""))
				if content, _ := at(got, "choices", 0, "message", "content").(string); !strings.Contains(content, capital) {
					t.Errorf("%s: %v", country, got)
				}
			})
		}
		clients.Wait()
	})
}

// TestRealGemma checks a base model, which has learnt no chat and continues the text.
func TestRealGemma(t *testing.T) {
	url := startReal(t, realmodels.Gemma)
	realCompletion(t, url, "One, two, three, four,", " five, six, seven, eight", 7)
}
