package clients

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"
)

func ollamaClient(t *testing.T, reply string) *api.Client {
	t.Helper()
	base, err := url.Parse(start(t, reply))
	if err != nil {
		t.Fatal(err)
	}
	return api.NewClient(base, http.DefaultClient)
}

func ollamaChat(stream bool) *api.ChatRequest {
	return &api.ChatRequest{
		Model: "tiny", Messages: []api.Message{{Role: "user", Content: "hi"}}, Stream: &stream,
		Options: map[string]any{"temperature": 0, "num_predict": 60, "seed": 3},
	}
}

func TestOllamaChat(t *testing.T) {
	c := ollamaClient(t, "hello wörld")
	for _, stream := range []bool{true, false} {
		text, parts := "", 0
		var last api.ChatResponse
		err := c.Chat(t.Context(), ollamaChat(stream), func(r api.ChatResponse) error {
			text += r.Message.Content
			parts++
			last = r
			return nil
		})
		if err != nil || text != "hello wörld" || !last.Done || last.DoneReason != "stop" || last.EvalCount == 0 || last.PromptEvalCount == 0 || last.TotalDuration == 0 {
			t.Errorf("stream %t: %q %+v %v", stream, text, last, err)
		}
		if stream != (parts > 1) || last.CreatedAt.IsZero() || last.Message.Role != "assistant" {
			t.Errorf("stream %t: %d parts, last %+v", stream, parts, last)
		}
	}
}

func TestOllamaFormat(t *testing.T) {
	c := ollamaClient(t, "")
	schema, err := json.Marshal(personSchema)
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []bool{true, false} {
		q := ollamaChat(stream)
		q.Format = schema
		text := ""
		if err := c.Chat(t.Context(), q, func(r api.ChatResponse) error { text += r.Message.Content; return nil }); err != nil {
			t.Fatal(err)
		}
		wantPerson(t, text)

		g := &api.GenerateRequest{Model: "tiny", Prompt: "a person", Stream: &stream, Format: schema, Options: q.Options}
		text = ""
		if err := c.Generate(t.Context(), g, func(r api.GenerateResponse) error { text += r.Response; return nil }); err != nil {
			t.Fatal(err)
		}
		wantPerson(t, text)

		g.Format, text = json.RawMessage(`"json"`), ""
		var object map[string]any
		if err := c.Generate(t.Context(), g, func(r api.GenerateResponse) error { text += r.Response; return nil }); err != nil || json.Unmarshal([]byte(text), &object) != nil {
			t.Errorf("format json: %q %v", text, err)
		}
	}
}

func TestOllamaModels(t *testing.T) {
	c := ollamaClient(t, "x")
	if err := c.Heartbeat(t.Context()); err != nil {
		t.Error(err)
	}
	if v, err := c.Version(t.Context()); err != nil || v != "0.24.0" {
		t.Errorf("%s %v", v, err)
	}
	if list, err := c.List(t.Context()); err != nil || len(list.Models) != 1 || list.Models[0].Name != "tiny" {
		t.Errorf("%v %v", list, err)
	}
	if list, err := c.ListRunning(t.Context()); err != nil || len(list.Models) != 1 || list.Models[0].ContextLength == 0 {
		t.Errorf("%v %v", list, err)
	}
	if got, err := c.Show(t.Context(), &api.ShowRequest{Model: "tiny:latest"}); err != nil || got.Details.Format != "gguf" {
		t.Errorf("%v %v", got, err)
	}
	stream := false
	loaded := ""
	err := c.Generate(t.Context(), &api.GenerateRequest{Model: "tiny", Stream: &stream}, func(r api.GenerateResponse) error { loaded = r.DoneReason; return nil })
	if err != nil || loaded != "load" {
		t.Errorf("%q %v", loaded, err)
	}
}

func TestOllamaErrors(t *testing.T) {
	c := ollamaClient(t, "x")
	nothing := func(api.ChatResponse) error { return nil }
	for _, stream := range []bool{true, false} {
		q := ollamaChat(stream)
		q.Model = "llama9"
		var failed api.StatusError
		if err := c.Chat(t.Context(), q, nothing); !errors.As(err, &failed) || failed.StatusCode != 404 || failed.ErrorMessage == "" {
			t.Errorf("stream %t: %v", stream, err)
		}
		q = ollamaChat(stream)
		q.Format = json.RawMessage(`{"type": "nothing"}`)
		if err := c.Chat(t.Context(), q, nothing); !errors.As(err, &failed) || failed.StatusCode != 400 || failed.ErrorMessage == "" {
			t.Errorf("stream %t: %v", stream, err)
		}
	}
}
