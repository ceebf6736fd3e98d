// Package clients holds the tests that run the official clients of other
// servers, unmodified, against this one.
package clients

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/server"
	"github.com/stencil-json/stencil/vocab"
)

// tiny is the built-in vocabulary, read back from a model file.
var tiny = sync.OnceValues(func() (*vocab.Vocab, error) {
	dir, err := os.MkdirTemp("", "stencil-clients-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tiny.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 16}); err != nil {
		return nil, err
	}
	return vocab.Load(path)
})

// start serves a model that says reply, or random text if that is empty, and
// returns the server's address.
func start(t testing.TB, reply string) string {
	t.Helper()
	v, err := tiny()
	if err != nil {
		t.Fatal(err)
	}
	if reply != "" {
		return serve(t, v, scripted.Say(v, reply))
	}
	return serve(t, v, scripted.Random(5))
}

// startSaying serves a model that writes reply in any tokenization: for replies of
// which a constraint may force a part.
func startSaying(t testing.TB, reply string) string {
	t.Helper()
	v, err := tiny()
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, v, scripted.SayText(v, reply))
}

// startThinking is startSaying for a model whose template supports reasoning.
func startThinking(t testing.TB, reply string) string {
	t.Helper()
	v, err := tiny()
	if err != nil {
		t.Fatal(err)
	}
	v = withTemplate(t, v, v.ChatTemplate()+"{% if x %}<think></think>{% endif %}")
	return serve(t, v, scripted.SayText(v, reply))
}

// withTemplate returns a vocabulary with another chat template, and further control tokens.
func withTemplate(t testing.TB, v *vocab.Vocab, template string, control ...string) *vocab.Vocab {
	t.Helper()
	var tokens []vocab.Token
	for id := range int32(v.Len()) {
		tokens = append(tokens, vocab.Token{Text: v.Text(id), Kind: v.Kind(id)})
	}
	for _, name := range control {
		tokens = append(tokens, vocab.Token{Text: name, Kind: vocab.Control})
	}
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.BPE, Pre: "gpt-2", EOS: &v.EOG()[0], ChatTemplate: template})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// named returns tokens as text, control tokens by their names.
func named(v *vocab.Vocab, tokens []int32) string {
	var text strings.Builder
	for _, id := range tokens {
		if b := v.Bytes(id); len(b) > 0 {
			text.Write(b)
		} else {
			text.WriteString(v.Text(id))
		}
	}
	return text.String()
}

// sayNamed is scripted.SayText for a text in which control tokens are written by their names.
func sayNamed(v *vocab.Vocab, reply string) scripted.Func {
	var names []string
	for id := range int32(v.Len()) {
		names = append(names, named(v, []int32{id}))
	}
	return func(history []int32, logits []float32) {
		text, n := named(v, history), len(reply)
		for n > 0 && !strings.HasSuffix(text, reply[:n]) {
			n--
		}
		if n == len(reply) {
			logits[v.EOG()[0]] = scripted.Strong
			return
		}
		for id := range logits {
			if name := names[id]; name != "" && strings.HasPrefix(reply[n:], name) {
				logits[id] = scripted.Strong + float32(len(name)) // the longest is the most likely
			}
		}
	}
}

// startAnswering serves a model that calls a tool, which returns "saved", and then
// reports that.
func startAnswering(t testing.TB, call string) string {
	t.Helper()
	v, err := tiny()
	if err != nil {
		t.Fatal(err)
	}
	calls, answers := scripted.SayText(v, call), scripted.SayText(v, "done: saved")
	return serve(t, v, func(history []int32, logits []float32) {
		if strings.Contains(string(v.Decode(history)), "tool\nsaved") {
			answers(history, logits)
			return
		}
		calls(history, logits)
	})
}

// startAnyName serves a model that generates random text and answers to every name.
func startAnyName(t testing.TB) string {
	t.Helper()
	v, err := tiny()
	if err != nil {
		t.Fatal(err)
	}
	return serveAs(t, v, scripted.Random(11), server.Config{})
}

// serve serves a model that answers only to its own name.
func serve(t testing.TB, v *vocab.Vocab, next scripted.Func) string {
	t.Helper()
	return serveAs(t, v, next, server.Config{StrictModels: true})
}

func serveAs(t testing.TB, v *vocab.Vocab, next scripted.Func, cfg server.Config) string {
	t.Helper()
	return serveWith(t, v, next, cfg, backend.ContextParams{})
}

// serveLong is serve for a model that reads long prompts.
func serveLong(t testing.TB, v *vocab.Vocab, next scripted.Func) string {
	t.Helper()
	return serveWith(t, v, next, server.Config{StrictModels: true}, backend.ContextParams{Size: 1 << 15})
}

func serveWith(t testing.TB, v *vocab.Vocab, next scripted.Func, cfg server.Config, params backend.ContextParams) string {
	t.Helper()
	e, err := engine.New(scripted.New(v, next, scripted.Options{Delay: time.Millisecond}), engine.Config{Context: params})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Log, cfg.Version = slog.New(slog.DiscardHandler), "0.0.1"
	s := server.New(cfg)
	if err := s.SetModel("tiny", e); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		h.Close()
		e.Close()
	})
	return h.URL
}

// A person is a document of personSchema.
type person struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

var personSchema = map[string]any{
	"type": "object",
	"properties": map[string]any{
		"name": map[string]any{"type": "string", "maxLength": 8},
		"age":  map[string]any{"type": "integer", "minimum": 1, "maximum": 120},
	},
	"required":             []string{"name", "age"},
	"additionalProperties": false,
}
