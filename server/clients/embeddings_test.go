package clients

import (
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	langchainembeddings "github.com/tmc/langchaingo/embeddings"
	langchainopenai "github.com/tmc/langchaingo/llms/openai"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/server"
)

// startEmbedding serves a model with embeddings of 8 numbers that reads
// texts of up to 64 tokens.
func startEmbedding(t testing.TB) string {
	t.Helper()
	v, err := tiny()
	if err != nil {
		t.Fatal(err)
	}
	e, err := embedding.New(scripted.NewEmbedding(v, scripted.EmbedOptions{MaxTokens: 64}), embedding.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{Log: slog.New(slog.DiscardHandler), Version: "0.0.1", StrictModels: true})
	if err := s.SetEngines("tiny", server.Engines{Embeddings: e}); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		h.Close()
		e.Close()
	})
	return h.URL
}

var animals = []string{"the cat", "the dog", "the cat"}

// wantUnit checks a vector of n numbers and length 1.
func wantUnit[T float32 | float64](t *testing.T, row []T, n int) {
	t.Helper()
	var sum float64
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	if len(row) != n || math.Abs(sum-1) > 1e-5 {
		t.Errorf("%d numbers, want %d, the sum of their squares is %g", len(row), n, sum)
	}
}

func TestOpenAIEmbeddings(t *testing.T) {
	c := openai.NewClient(option.WithBaseURL(startEmbedding(t)+"/v1"), option.WithAPIKey("none"))
	q := openai.EmbeddingNewParams{Model: "tiny", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: animals}}
	got, err := c.Embeddings.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Data) != 3 || got.Data[2].Index != 2 || got.Model != "tiny" || got.Usage.PromptTokens == 0 || got.Usage.TotalTokens != got.Usage.PromptTokens {
		t.Errorf("%s", got.RawJSON())
	}
	wantUnit(t, got.Data[0].Embedding, 8)
	if !slices.Equal(got.Data[0].Embedding, got.Data[2].Embedding) || slices.Equal(got.Data[0].Embedding, got.Data[1].Embedding) {
		t.Errorf("%s", got.RawJSON())
	}
	q.Input, q.Dimensions = openai.EmbeddingNewParamsInputUnion{OfArrayOfTokenArrays: [][]int64{{5, 6}, {7}}}, openai.Int(3)
	if got, err = c.Embeddings.New(t.Context(), q); err != nil || len(got.Data) != 2 || got.Usage.PromptTokens != 3 {
		t.Fatalf("tokens: %v %v", got, err)
	}
	wantUnit(t, got.Data[1].Embedding, 3)
	q.Dimensions = openai.Int(9)
	var refused *openai.Error
	if _, err = c.Embeddings.New(t.Context(), q); !errors.As(err, &refused) || refused.StatusCode != 400 || refused.Param != "dimensions" {
		t.Errorf("%v", err)
	}
	if _, err := c.Chat.Completions.New(t.Context(), ask("hi")); !errors.As(err, &refused) || refused.StatusCode != 400 || refused.Code != "model_not_capable" {
		t.Errorf("%v", err)
	}
}

func TestOllamaEmbeddings(t *testing.T) {
	base, err := url.Parse(startEmbedding(t))
	if err != nil {
		t.Fatal(err)
	}
	c := api.NewClient(base, http.DefaultClient)
	got, err := c.Embed(t.Context(), &api.EmbedRequest{Model: "tiny", Input: animals, Dimensions: 4})
	if err != nil || len(got.Embeddings) != 3 || got.Model != "tiny" || got.PromptEvalCount == 0 || got.TotalDuration == 0 {
		t.Fatalf("%+v %v", got, err)
	}
	wantUnit(t, got.Embeddings[1], 4)
	old, err := c.Embeddings(t.Context(), &api.EmbeddingRequest{Model: "tiny", Prompt: "the cat"})
	if err != nil || len(old.Embedding) != 8 {
		t.Errorf("%+v %v", old, err)
	}
	shown, err := c.Show(t.Context(), &api.ShowRequest{Model: "tiny"})
	if err != nil || len(shown.Capabilities) != 1 || shown.Capabilities[0] != "embedding" {
		t.Errorf("%+v %v", shown, err)
	}
	no := false
	var refused api.StatusError
	_, err = c.Embed(t.Context(), &api.EmbedRequest{Model: "tiny", Input: string(make([]byte, 200)), Truncate: &no})
	if !errors.As(err, &refused) || refused.StatusCode != 400 {
		t.Errorf("%v", err)
	}
}

func TestLangChainEmbeddings(t *testing.T) {
	llm, err := langchainopenai.New(langchainopenai.WithBaseURL(startEmbedding(t)+"/v1"), langchainopenai.WithToken("none"), langchainopenai.WithEmbeddingModel("tiny"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := langchainembeddings.NewEmbedder(llm)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.EmbedDocuments(t.Context(), animals)
	if err != nil || len(rows) != 3 || !slices.Equal(rows[0], rows[2]) {
		t.Fatalf("%v %v", rows, err)
	}
	wantUnit(t, rows[0], 8)
	one, err := c.EmbedQuery(t.Context(), "the cat")
	if err != nil || !slices.Equal(one, rows[0]) {
		t.Errorf("%v %v", one, err)
	}
}
