//go:build llama && cgo

package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/models"
)

// TestMain lets the test program run trials in a process of its own, as the server does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == llama.TrialCommand {
		os.Exit(llama.RunTrial(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// TestLlamaHostileModel requests models that crash the process that loads them, while another model
// answers.
func TestLlamaHostileModel(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := models.Random(&b, models.RandomOptions{Arch: "granitehybrid"}); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	const key = "granitehybrid.ssm.inner_size"
	crashing := bytes.Clone(whole)
	place := bytes.Index(crashing, []byte(key))
	if place < 0 {
		t.Fatalf("no key %s", key)
	}
	crashing[place+len(key)+4] = 7 // after the type; llama.cpp asserts that this is a multiple of the width
	unknown := bytes.Replace(whole, []byte("\x0d\x00\x00\x00\x00\x00\x00\x00granitehybrid"), []byte("\x0d\x00\x00\x00\x00\x00\x00\x00marblehybrids"), 1)
	files := map[string][]byte{"whole": whole, "crashing": crashing, "truncated": whole[:len(whole)/2], "unknown": unknown}

	e, url, srv := startLlamaServer(t, models.RandomOptions{Layers: 4, Width: 256, Heads: 4, Context: 8192},
		engine.Config{Parallel: 2, Context: backend.ContextParams{Size: 8192}})
	loads := 0
	for name, data := range files {
		path := filepath.Join(dir, name+".gguf")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		srv.AddModel(name, func(ctx context.Context) (Engines, func() error, error) {
			loads++ // one at a time: they are requested in turn
			m, err := llama.Load(ctx, path, llama.LoadOptions{Trial: &llama.Trial{Context: backend.ContextParams{MaxSeqs: 2}}})
			if err != nil {
				return Engines{}, nil, err
			}
			one, err := engine.New(m, engine.Config{Context: backend.ContextParams{Size: 512, Threads: 1}})
			if err != nil {
				m.Close()
				return Engines{}, nil, err
			}
			return Engines{Text: one}, func() error { one.Close(); return m.Close() }, nil
		}, time.Hour)
	}
	defer func() {
		if err := srv.CloseModels(); err != nil {
			t.Error(err)
		}
	}()

	body := `{"model": "random", "prompt": "x", "max_tokens": 1500, "stream": true, ` + endless(t) + `}`
	stream, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	first := make([]byte, 6)
	if _, err := io.ReadFull(stream.Body, first); err != nil || string(first) != "data: " {
		t.Fatalf("the stream begins with %q: %v", first, err)
	}
	ask := func(model string) (int, map[string]any) {
		status, _, got := post(t, url+"/generate", fmt.Sprintf(`{"model": %q, "prompt": "x", "max_tokens": 3}`, model))
		return status, got
	}
	for range 2 {
		for name, why := range map[string]string{"crashing": "its file is damaged", "truncated": "its file is truncated", "unknown": "its architecture is not supported"} {
			status, got := ask(name)
			message, _ := at(got, "error", "message").(string)
			if status != http.StatusUnprocessableEntity || at(got, "error", "code") != "model_not_loadable" ||
				message != fmt.Sprintf("the model %q can't be loaded: %s", name, why) || strings.Contains(message, dir) {
				t.Errorf("%s: %d %v", name, status, got)
			}
		}
	}
	t.Logf("%d requests in the engine after %d loads", e.Stats().Active, loads)
	if status, got := ask("whole"); status != 200 {
		t.Errorf("the whole model: %d %v", status, got)
	}
	rest, err := io.ReadAll(stream.Body)
	if err != nil || !bytes.HasSuffix(bytes.TrimSpace(rest), []byte("data: [DONE]")) || !bytes.Contains(rest, []byte(`"finish_reason":"length"`)) {
		t.Errorf("the stream ends with %q: %v", rest[max(0, len(rest)-300):], err)
	}
	if status, got := ask("random"); status != 200 {
		t.Errorf("afterwards: %d %v", status, got)
	}
}
