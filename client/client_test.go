package client_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/client"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/server"
	"github.com/stencil-json/stencil/vocab"
)

// start serves a model that generates random text.
func start(t *testing.T) *client.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 16}); err != nil {
		t.Fatal(err)
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(scripted.New(v, scripted.Random(5), scripted.Options{}), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{Log: slog.New(slog.DiscardHandler)})
	if err := s.SetModel("tiny", e); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		h.Close()
		e.Close()
	})
	return client.New(h.URL + "/")
}

type person struct {
	Name string `json:"name" jsonschema:"maxLength=8"`
	Age  int    `json:"age" jsonschema:"minimum=1,maximum=120"`
	Plan string `json:"plan" jsonschema:"enum=free,enum=pro"`
}

func TestJSON(t *testing.T) {
	c := start(t)
	for seed := range uint64(10) {
		p, answer, err := client.JSON[person](t.Context(), c, client.Request{Prompt: "x", MaxTokens: 60, Seed: client.Value(seed)})
		if err != nil {
			t.Fatal(err)
		}
		if p.Age < 1 || p.Age > 120 || len([]rune(p.Name)) > 8 || p.Plan != "free" && p.Plan != "pro" {
			t.Errorf("%+v does not fit", p)
		}
		if answer.Receipt == nil || !answer.Receipt.Validated || answer.Receipt.Type != "schema" || answer.Usage.Completion == 0 || answer.Seed != seed {
			t.Errorf("the answer %+v", answer)
		}
		if f := answer.Fields["/plan"]; len(f.Alternatives) != 2 {
			t.Errorf("/plan is %+v", f)
		}
	}
}

func TestOrder(t *testing.T) {
	c := start(t)
	schema := json.RawMessage(`{"type":"object","properties":{"z":{"const":1},"a":{"const":2}},"required":["z","a"],"additionalProperties":false}`)
	answer, err := c.GenerateJSON(t.Context(), client.Request{Prompt: "x", Schema: schema, More: map[string]any{"whitespace": "compact"}})
	if err != nil || answer.Text != `{"z":1,"a":2}` {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestGenerate(t *testing.T) {
	c := start(t)
	for want, r := range map[string]client.Request{
		"regex":   {Prompt: "x", Regex: "[a-c]{3}"},
		"choice":  {Prompt: "x", Choice: []string{"yes", "no"}},
		"grammar": {Prompt: "x", Grammar: map[string]any{"builtin": "integer"}, MaxTokens: 20},
	} {
		answer, err := c.Generate(t.Context(), r)
		if err != nil || answer.Receipt.Type != want {
			t.Errorf("%s: %+v, %v", want, answer, err)
		}
	}
}

func TestStream(t *testing.T) {
	c := start(t)
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","maximum":9,"minimum":0},"b":{"type":"boolean"}},"required":["a","b"],"additionalProperties":false}`)
	text, pointers := "", []string{}
	var done *client.Answer
	for event, err := range c.Stream(t.Context(), client.Request{Prompt: "x", Schema: schema, MaxTokens: 40}) {
		if err != nil {
			t.Fatal(err)
		}
		text += event.Token
		if event.Field != nil {
			pointers = append(pointers, event.Field.Pointer)
		}
		if event.Done != nil {
			done = event.Done
		}
	}
	if done == nil || text != done.Text || strings.Join(pointers, " ") != "/a /b " {
		t.Errorf("%q, %q, %+v", text, pointers, done)
	}
	for _, err := range c.Stream(t.Context(), client.Request{Prompt: "x", Schema: schema, MaxTokens: 1}) {
		var refusal *client.Error
		if !errors.As(err, &refusal) || refusal.Code != "budget_too_small" || refusal.Minimum < 2 {
			t.Errorf("%v", err)
		}
	}
}

func TestErrors(t *testing.T) {
	c := start(t)
	_, err := c.GenerateJSON(t.Context(), client.Request{Prompt: "x", Schema: json.RawMessage(`{"type":"string","maxLenght":3}`)})
	var refusal *client.Error
	if !errors.As(err, &refusal) || refusal.Status != 400 || refusal.Code != "invalid_schema" || len(refusal.Details) != 1 || refusal.Details[0].Pointer != "/maxLenght" {
		t.Errorf("%+v", err)
	}
	if _, err = c.Generate(t.Context(), client.Request{Prompt: "x", Regex: "(a)\\1"}); !errors.As(err, &refusal) || refusal.Code != "invalid_grammar" || refusal.Param != "regex" {
		t.Errorf("%+v", err)
	}
}

func TestTools(t *testing.T) {
	c := start(t)
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"maximum":3}}}`)
	check, err := c.CheckSchema(t.Context(), schema)
	if err != nil || !check.OK || string(check.Shortest) == "" {
		t.Errorf("%+v, %v", check, err)
	}
	if check, err = c.CheckGrammar(t.Context(), `root ::= "a" nme`); err != nil || check.OK || check.Errors[0].Line != 1 {
		t.Errorf("%+v, %v", check, err)
	}
	for text, valid := range map[string]bool{`{"a": 2}`: true, `{"a": 4}`: false} {
		if got, err := c.Validate(t.Context(), schema, text); err != nil || got.Valid != valid {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	answer, err := c.GenerateJSON(t.Context(), client.Request{
		Prompt: "x", Schema: json.RawMessage(`{"type":"string","maxLength":3,"pattern":"^()\\1"}`), OnUnsupported: "validate", Seed: client.Value(uint64(1)), More: map[string]any{"strict": false},
	})
	if err != nil || len(answer.Receipt.Checked) != 1 || answer.Receipt.Checked[0].Keyword != "pattern" {
		t.Errorf("%+v, %v", answer, err)
	}
	probabilities, err := c.Decide(t.Context(), "I was charged twice.", "Which team?", "billing", "shipping")
	if sum := probabilities["billing"] + probabilities["shipping"]; err != nil || sum < 0.999 || sum > 1.001 {
		t.Errorf("%v, %v", probabilities, err)
	}
}

// TestRetry checks that a request is sent again only if the server says so.
func TestRetry(t *testing.T) {
	var asked atomic.Int32
	status, header := 429, map[string]string{"Retry-After": "0"}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			for name, value := range header {
				w.Header().Set(name, value)
			}
			w.WriteHeader(status)
			w.Write([]byte(`{"error":{"message":"m","type":"t","param":null,"code":"queue_full"}}`))
			return
		}
		w.Write([]byte(`{"text":"ok"}`))
	}))
	t.Cleanup(h.Close)
	c := client.New(h.URL)
	if answer, err := c.Generate(t.Context(), client.Request{Prompt: "x"}); err != nil || answer.Text != "ok" || asked.Load() != 3 {
		t.Errorf("%+v, %v after %d", answer, err, asked.Load())
	}
	asked.Store(0)
	header["X-Should-Retry"] = "false"
	var refusal *client.Error
	if _, err := c.Generate(t.Context(), client.Request{Prompt: "x"}); !errors.As(err, &refusal) || refusal.Code != "queue_full" || asked.Load() != 1 {
		t.Errorf("%v after %d", err, asked.Load())
	}
}
