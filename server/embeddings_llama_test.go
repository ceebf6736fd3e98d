//go:build llama && cgo

package server

import (
	"fmt"
	"log/slog"
	"math"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/internal/realmodels"
	"github.com/stencil-json/stencil/models"
)

// serveLlama serves a model file that embeds or reranks.
func serveLlama(t *testing.T, path string) string {
	t.Helper()
	m, err := llama.Load(t.Context(), path, llama.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := embedding.New(m.(backend.EmbeddingModel), embedding.Config{Embedder: backend.EmbedderParams{Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	srv := New(Config{Log: slog.New(slog.DiscardHandler)})
	if err := srv.SetEngines("real", Engines{Embeddings: e}); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(srv.Handler())
	t.Cleanup(func() {
		h.Close()
		e.Close()
		m.Close()
	})
	return h.URL
}

// TestMiniLM checks that a trained model's vectors reach the client as its authors' code computes them.
func TestMiniLM(t *testing.T) {
	url := serveLlama(t, realmodels.Path(t, realmodels.MiniLM))
	for _, s := range realmodels.MiniLMSentences {
		_, _, got := post(t, url+"/api/embed", fmt.Sprintf(`{"model": "real", "input": %q}`, s.Text))
		row := vectorAt(t, got, "embeddings", 0)
		for i, want := range s.First {
			if math.Abs(float64(row[i])-want) > 1e-2 {
				t.Errorf("%q: element %d is %g, want %g", s.Text, i, row[i], want)
			}
		}
		if got["prompt_eval_count"] != float64(len(s.Tokens)) {
			t.Errorf("%q: %v tokens, want %d", s.Text, got["prompt_eval_count"], len(s.Tokens))
		}
		_, _, got = post(t, url+"/api/embeddings", fmt.Sprintf(`{"model": "real", "prompt": %q}`, s.Text))
		if n := norm(vectorAt(t, got, "embedding")); math.Abs(n/s.Norm-1) > 1e-2 {
			t.Errorf("%q: length %g, want %g", s.Text, n, s.Norm)
		}
	}
	_, _, got := post(t, url+"/v1/embeddings", `{"input": ["cat", "kitten", "car insurance"]}`)
	var rows [3][]float32
	for i := range rows {
		rows[i] = vectorAt(t, got, "data", i, "embedding")
	}
	dot := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	if near, far := dot(rows[0], rows[1]), dot(rows[0], rows[2]); near <= far {
		t.Errorf("a cat is %g like a kitten, %g like car insurance", near, far)
	}
}

// TestRerankLlama checks that scores are those of the model's head over the pair as llama-server writes it:
// [CLS] query [SEP] document, for a vocabulary that specifies nothing else.
func TestRerankLlama(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reranker.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Arch: "bert", Pooling: models.PoolingRank}); err != nil {
		t.Fatal(err)
	}
	url := serveLlama(t, path)
	status, _, got := post(t, url+"/v1/rerank", `{"query": "the cat", "documents": ["a dog", "the cat is here", "a dog"]}`)
	if status != 200 {
		t.Fatal(got)
	}
	scores := map[float64]float64{}
	last := math.Inf(1)
	for i := range 3 {
		score := at(got, "results", i, "relevance_score").(float64)
		if score > last {
			t.Errorf("not sorted: %v", got["results"])
		}
		last = score
		scores[at(got, "results", i, "index").(float64)] = score
	}
	if math.Abs(scores[0]-scores[2]) > 1e-3 || math.Abs(scores[0]-scores[1]) < 1e-4 {
		t.Errorf("%v", scores)
	}

	m, err := llama.Load(t.Context(), path, llama.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e, err := m.(backend.EmbeddingModel).NewEmbedder(backend.EmbedderParams{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	v := m.Vocab()
	pair := append(v.Encode("the cat"), v.Tokenize(nil, "the cat is here", false)...) // Encode ends in [SEP]
	row := []float32{0}
	if err := e.Embed(t.Context(), [][]int32{pair}, [][]float32{row}); err != nil {
		t.Fatal(err)
	}
	if math.Abs(scores[1]-float64(row[0])) > 1e-3 {
		t.Errorf("score %g, want %g", scores[1], row[0])
	}
}
