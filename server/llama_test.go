//go:build llama && cgo

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/models"
)

// startLlama serves a small random model through llama.cpp itself.
func startLlama(t *testing.T, opt models.RandomOptions, cfg engine.Config) (*engine.Engine, string) {
	t.Helper()
	e, url, _ := startLlamaServer(t, opt, cfg)
	return e, url
}

func startLlamaServer(t *testing.T, opt models.RandomOptions, cfg engine.Config) (*engine.Engine, string, *Server) {
	t.Helper()
	return startLlamaWith(t, opt, cfg, Config{})
}

func startLlamaWith(t *testing.T, opt models.RandomOptions, cfg engine.Config, with Config) (*engine.Engine, string, *Server) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "random.gguf")
	if err := models.WriteRandom(path, opt); err != nil {
		t.Fatal(err)
	}
	return startFile(t, path, cfg, with)
}

// startFile is startLlamaWith of a model's file.
func startFile(t *testing.T, path string, cfg engine.Config, with Config) (*engine.Engine, string, *Server) {
	t.Helper()
	model, err := llama.Load(t.Context(), path, llama.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Context.Threads = 1 // tests share the machine
	e, err := engine.New(model, cfg)
	if err != nil {
		t.Fatal(err)
	}
	with.Log = slog.New(slog.DiscardHandler)
	srv := New(with)
	if err := srv.SetModel("random", e); err != nil {
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
	return e, h.URL, srv
}

// TestLlamaGenerateJSON runs concurrent clients through HTTP, the engine and
// llama.cpp: every document fits its schema and, as far as the arithmetic
// allows, does not depend on concurrent requests.
func TestLlamaGenerateJSON(t *testing.T) {
	_, url := startLlama(t, models.RandomOptions{}, engine.Config{Parallel: 4, Queue: 100, Context: backend.ContextParams{Size: 1024}})
	var wg sync.WaitGroup
	for client := range 8 {
		wg.Go(func() {
			for i := range 5 {
				body := fmt.Sprintf(`{"prompt": "Customer %d: ", "max_tokens": %d, "seed": %d, "temperature": 1.2, "schema": %s}`, client, 16+5*i, 10*client+i, personSchema)
				resp, err := http.Post(url+"/generate_json", "application/json", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				var got struct {
					JSON struct {
						Name *string
						Age  *int
					}
					FinishReason string `json:"finish_reason"`
					Constraint   struct{ Validated bool }
				}
				err = json.NewDecoder(resp.Body).Decode(&got)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 || got.JSON.Name == nil || got.JSON.Age == nil || *got.JSON.Age < 0 || *got.JSON.Age > 150 ||
					got.FinishReason != "stop" || !got.Constraint.Validated {
					t.Errorf("client %d, request %d: %d %+v %v", client, i, resp.StatusCode, got, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestLlamaPrefixReuse checks that prefix reuse does not change the result: the
// same question gives the same text the second time, from the cache.
func TestLlamaPrefixReuse(t *testing.T) {
	e, url := startLlama(t, models.RandomOptions{}, engine.Config{Parallel: 1})
	body := fmt.Sprintf(`{"prompt": %q, "max_tokens": 30, "temperature": 0}`, strings.Repeat("The people of the town. ", 30))
	_, _, first := post(t, url+"/generate", body)
	_, _, second := post(t, url+"/generate", body)
	if first["text"] != second["text"] {
		t.Errorf("computed %q, from the cache %q", first["text"], second["text"])
	}
	if cached, all := at(second, "usage", "prompt_tokens_details", "cached_tokens"), at(second, "usage", "prompt_tokens"); cached.(float64) < all.(float64)-1 {
		t.Errorf("%v of %v tokens cached", cached, all)
	}
	if s := e.Stats(); s.ReusedTokens == 0 {
		t.Errorf("stats %+v", s)
	}
}

// TestLlamaHangUp checks that llama.cpp stops within a step when the client
// disconnects, during generation and during a long prefill.
func TestLlamaHangUp(t *testing.T) {
	e, url := startLlama(t, models.RandomOptions{Layers: 4, Width: 256, Heads: 4, Context: 8192},
		engine.Config{Parallel: 2, Context: backend.ContextParams{Size: 8192, MaxBatch: 256}})
	for name, body := range map[string]string{
		"generating": `{"prompt": "x", "max_tokens": 6000, "stream": true, ` + endless(t) + `}`,
		"prefilling": fmt.Sprintf(`{"prompt": %q, "max_tokens": 5}`, strings.Repeat("zq", 2500)),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		before := e.Stats()
		gone := hangingUp(ctx, t, url+"/generate", body)
		poll.Until(func() bool { return e.Stats().Decodes >= before.Decodes+2 })
		hungUp, decodes := time.Now(), e.Stats().Decodes
		cancel()
		poll.Until(func() bool { return e.Stats().Active == 0 })
		took, after := time.Since(hungUp), e.Stats()
		<-gone
		if after.Cancelled != before.Cancelled+1 {
			t.Errorf("%s: it ended before the client hung up; stats %+v", name, after)
		}
		// The running batch, and one that may have been started before the
		// server noticed the disconnect.
		if extra := after.Decodes - decodes; extra > 3 {
			t.Errorf("%s: %d more decodes in %v after the client hung up", name, extra, took)
		}
		t.Logf("%s: freed after %v and %d decodes", name, took, after.Decodes-decodes)
	}
}

// TestNeighboursLlama is TestNeighbours on llama.cpp, with random weights or the model file in STENCIL_NEIGHBOURS_MODEL.
func TestNeighboursLlama(t *testing.T) {
	cfg := engine.Config{Parallel: 4, Context: backend.ContextParams{Size: 4096}}
	with := Config{Access: neighbourKeys, MemoryLimit: neighbourMemory}
	if path := os.Getenv("STENCIL_NEIGHBOURS_MODEL"); path != "" {
		_, url, srv := startFile(t, path, cfg, with)
		testNeighbours(t, srv, url)
		return
	}
	_, url, srv := startLlamaWith(t, models.RandomOptions{}, cfg, with)
	testNeighbours(t, srv, url)
}
