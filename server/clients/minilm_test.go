//go:build llama && cgo

package clients

import (
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/internal/realmodels"
	"github.com/stencil-json/stencil/server"
)

// startMiniLM serves a trained embedding model.
func startMiniLM(t *testing.T) string {
	t.Helper()
	m, err := llama.Load(t.Context(), realmodels.Path(t, realmodels.MiniLM), llama.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := embedding.New(m.(backend.EmbeddingModel), embedding.Config{Embedder: backend.EmbedderParams{Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{Log: slog.New(slog.DiscardHandler), StrictModels: true})
	if err := s.SetEngines("minilm", server.Engines{Embeddings: e}); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		h.Close()
		e.Close()
		m.Close()
	})
	return h.URL
}

// TestMiniLMClients checks that the official clients get a trained model's vectors as its authors'
// code computes them.
func TestMiniLMClients(t *testing.T) {
	base := startMiniLM(t)
	var texts []string
	for _, s := range realmodels.MiniLMSentences {
		texts = append(texts, s.Text)
	}
	check := func(client string, i int, got func(i int) float64, scale float64) {
		t.Helper()
		for k, want := range realmodels.MiniLMSentences[i].First {
			if x := got(k) / scale; !(math.Abs(x-want) <= 1e-2) {
				t.Errorf("%s: %q: element %d is %g, want %g", client, texts[i], k, x, want)
			}
		}
	}

	o := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("none"))
	q := openai.EmbeddingNewParams{Model: "minilm", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}}
	got, err := o.Embeddings.New(t.Context(), q)
	if err != nil || len(got.Data) != len(texts) {
		t.Fatalf("%v %v", got, err)
	}
	tokens := 0
	for i, s := range realmodels.MiniLMSentences {
		check("openai", i, func(k int) float64 { return got.Data[i].Embedding[k] }, 1)
		tokens += len(s.Tokens)
	}
	if got.Usage.PromptTokens != int64(tokens) || len(got.Data[0].Embedding) != 384 {
		t.Errorf("openai: %d tokens, want %d; %d numbers", got.Usage.PromptTokens, tokens, len(got.Data[0].Embedding))
	}

	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	c := api.NewClient(u, http.DefaultClient)
	all, err := c.Embed(t.Context(), &api.EmbedRequest{Model: "minilm", Input: texts})
	if err != nil || len(all.Embeddings) != len(texts) {
		t.Fatalf("%v %v", all, err)
	}
	for i, s := range realmodels.MiniLMSentences {
		check("ollama", i, func(k int) float64 { return float64(all.Embeddings[i][k]) }, 1)
		one, err := c.Embeddings(t.Context(), &api.EmbeddingRequest{Model: "minilm", Prompt: s.Text})
		if err != nil {
			t.Fatal(err)
		}
		check("ollama, one text", i, func(k int) float64 { return one.Embedding[k] }, s.Norm)
	}
}
