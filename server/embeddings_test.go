package server

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

// wordsVocab is the built-in vocabulary of words, read back from a model file.
var wordsVocab = sync.OnceValues(func() (*vocab.Vocab, error) {
	dir, err := os.MkdirTemp("", "stencil-server-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bert.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Arch: "bert", Layers: 1, Width: 16}); err != nil {
		return nil, err
	}
	return vocab.Load(path)
})

func loadWords(t testing.TB) *vocab.Vocab {
	t.Helper()
	v, err := wordsVocab()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// pairForm returns the form of a reranker with the vocabulary of words.
func pairForm(t testing.TB) backend.PairForm {
	ends := loadWords(t).Encode("")
	return backend.PairForm{Before: ends[:1], Between: ends[1:], After: ends[1:]}
}

func newEmbeddings(t testing.TB, m backend.EmbeddingModel, cfg embedding.Config) *embedding.Engine {
	t.Helper()
	e, err := embedding.New(m, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// startEmbedding serves "vectors", followed by "tiny", which generates text,
// "both", which does both, and "ranks", which reranks.
func startEmbedding(t testing.TB, opt scripted.EmbedOptions, cfg embedding.Config) (*Server, string) {
	t.Helper()
	srv := New(Config{Log: slog.New(slog.DiscardHandler)})
	newText := func(m backend.Model) *engine.Engine {
		e, err := engine.New(m, engine.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		return e
	}
	both := scripted.New(loadVocab(t), scripted.Say(loadVocab(t), "hello"), scripted.Options{})
	ranker := scripted.NewEmbedding(loadWords(t), scripted.EmbedOptions{Pooling: backend.PoolingRank, Pair: pairForm(t), MaxTokens: 24})
	for _, m := range []struct {
		name string
		e    Engines
	}{
		{"vectors", Engines{Embeddings: newEmbeddings(t, scripted.NewEmbedding(loadWords(t), opt), cfg)}},
		{"tiny", Engines{Text: newText(scripted.New(loadVocab(t), scripted.Say(loadVocab(t), "hello"), scripted.Options{}))}},
		{"both", Engines{Text: newText(both), Embeddings: newEmbeddings(t, both, embedding.Config{})}},
		{"ranks", Engines{Embeddings: newEmbeddings(t, ranker, embedding.Config{})}},
	} {
		if err := srv.SetEngines(m.name, m.e); err != nil {
			t.Fatal(err)
		}
	}
	h := httptest.NewServer(srv.Handler())
	t.Cleanup(h.Close)
	return srv, h.URL
}

// vectorAt returns the vector at a path of an answer.
func vectorAt(t testing.TB, got map[string]any, path ...any) (out []float32) {
	t.Helper()
	list, ok := at(got, path...).([]any)
	if !ok {
		t.Fatalf("no vector at %v of %v", path, got)
	}
	for _, x := range list {
		out = append(out, float32(x.(float64)))
	}
	return out
}

func norm(row []float32) float64 {
	var sum float64
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func TestOpenAIEmbeddings(t *testing.T) {
	_, url := startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
	url += "/v1/embeddings"
	status, _, got := post(t, url, `{"model": "vectors", "input": ["the cat", "the dog", "the cat"], "user": "me"}`)
	if status != 200 || got["object"] != "list" || got["model"] != "vectors" || at(got, "data", 1, "object") != "embedding" || at(got, "data", 2, "index") != 2.0 || got["warnings"] != nil {
		t.Fatalf("%d %v", status, got)
	}
	one, two := vectorAt(t, got, "data", 0, "embedding"), vectorAt(t, got, "data", 1, "embedding")
	if len(one) != 8 || math.Abs(norm(one)-1) > 1e-6 || slices.Equal(one, two) || !slices.Equal(one, vectorAt(t, got, "data", 2, "embedding")) {
		t.Errorf("%v %v", one, two)
	}
	v := loadWords(t)
	tokens := len(v.Encode("the cat"))*2 + len(v.Encode("the dog"))
	if at(got, "usage", "prompt_tokens") != float64(tokens) || at(got, "usage", "total_tokens") != float64(tokens) {
		t.Errorf("usage %v, want %d", got["usage"], tokens)
	}
	ids := strings.ReplaceAll(fmt.Sprint(v.Encode("the cat")), " ", ",")
	for name, input := range map[string]string{"a text": `"the cat"`, "tokens": ids, "lists of tokens": "[" + ids + "]"} {
		if _, _, got := post(t, url, `{"model": "vectors", "input": `+input+`}`); !slices.Equal(vectorAt(t, got, "data", 0, "embedding"), one) {
			t.Errorf("%s: %v", name, got)
		}
	}
	_, _, got = post(t, url, `{"model": "vectors", "input": "the cat", "encoding_format": "base64"}`)
	raw, err := base64.StdEncoding.DecodeString(at(got, "data", 0, "embedding").(string))
	if err != nil || len(raw) != 4*len(one) {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	for i, want := range one {
		if x := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])); x != want {
			t.Errorf("element %d in base64 is %g, want %g", i, x, want)
		}
	}
	_, _, got = post(t, url, `{"model": "vectors", "input": "the cat", "dimensions": 3}`)
	short := vectorAt(t, got, "data", 0, "embedding")
	if len(short) != 3 || math.Abs(norm(short)-1) > 1e-6 || math.Abs(float64(short[0]/short[1]-one[0]/one[1])) > 1e-5 {
		t.Errorf("3 dimensions: %v of %v", short, one)
	}
	if status, _, got := post(t, url, `{"input": "the cat", "dimensions": 8, "shiny": 1}`); status != 200 || got["model"] != "vectors" || !strings.Contains(fmt.Sprint(got["warnings"]), "shiny") {
		t.Errorf("%d %v", status, got)
	}
	if _, _, got := post(t, url, `{"model": "both", "input": "x"}`); len(vectorAt(t, got, "data", 0, "embedding")) != 8 {
		t.Errorf("%v", got)
	}
}

func TestEmbeddingsRefused(t *testing.T) {
	_, url := startEmbedding(t, scripted.EmbedOptions{MaxTokens: 16}, embedding.Config{})
	size := loadWords(t).Len()
	long := strings.Repeat("cat ", 30)
	many := `["a"` + strings.Repeat(`,"a"`, embedding.MaxInputs) + `]`
	tooLong := ` is too large: this model's maximum context length is 16 tokens, it has `
	for _, c := range []struct{ body, param, code, message string }{
		{`{}`, "input", "invalid_value", "input is required: a string or an array of strings, or of tokens, or of arrays of tokens"},
		{`{"input": null}`, "input", "invalid_value", "is required"},
		{`{"input": ""}`, "input", "invalid_value", "input must not be empty"},
		{`{"input": []}`, "input", "invalid_value", "input must not be empty"},
		{`{"input": [[]]}`, "input[0]", "invalid_value", "input[0] must not be empty"},
		{`{"input": ["a", ""]}`, "input[1]", "invalid_value", "input[1] must not be empty"},
		{`{"input": ["a", true]}`, "input[1]", "invalid_value", "input[1] must be a string, not true"},
		{`{"input": ["a", {"content": "b"}]}`, "input[1].content", "invalid_value", "must be an array"},
		{`{"input": ["a", {"prompt_string": "b", "content": []}]}`, "input[1]", "invalid_value", "input[1] must have prompt_string or content"},
		{`{"input": {"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}}`, "input.content[0].type", "not_offered", `"image_url" is not offered`},
		{`{"input": {"content": []}}`, "input", "invalid_value", "input must not be empty"},
		{`{"input": [null]}`, "input[0]", "invalid_value", "input[0] must be a string, not null"},
		{`{"input": [1, null]}`, "input", "invalid_value", "input must be an array of tokens"},
		{`{"input": [1.5]}`, "input", "invalid_value", "input must be an array of tokens"},
		{`{"input": [[1], null]}`, "input[1]", "invalid_value", "input[1] must be a string, not null"},
		{`{"input": [[1], [2, 99999999999]]}`, "input[1]", "invalid_value", "input[1] must be an array of tokens"},
		{fmt.Sprintf(`{"input": [[1], [%d]]}`, size), "input[1]", "invalid_value", fmt.Sprintf("input[1] has the token %d, the vocabulary ends at %d", size, size-1)},
		{`{"input": [-1]}`, "input", "invalid_value", "input has the token -1"},
		{`{"input": {"text": "a"}}`, "input.text", "unknown_field", "input.text is not known"},
		{`{"input": 3}`, "input", "invalid_value", "input must be a string or"},
		{`{"input": "` + long + `"}`, "input", "context_length_exceeded", "input" + tooLong},
		{`{"input": ["a", "` + long + `"]}`, "input[1]", "context_length_exceeded", "input[1]" + tooLong},
		{`{"input": ` + many + `}`, "input", "too_many_inputs", "input has 2049 inputs, at most 2048 are possible in one request"},
		{`{"input": "a", "dimensions": 9}`, "dimensions", "invalid_value", `dimensions must be at most 8 for the model "vectors", not 9`},
		{`{"input": "a", "dimensions": 0}`, "dimensions", "invalid_value", "dimensions must be between 1 and"},
		{`{"input": "a", "encoding_format": "int8"}`, "encoding_format", "invalid_value", `one of "float", "base64"`},
		{`{"input": "a", "timeout": -1}`, "timeout", "invalid_value", "timeout must be between 0 and"},
		{`{"input": "a", "model": "tiny"}`, "model", "model_not_capable", `the model "tiny" generates text; it was not loaded for embeddings, as stencil serve --embeddings does`},
		{`{"input": "a", "model": "ranks"}`, "model", "model_not_capable", `the model "ranks" reranks documents; it does not give embeddings`},
	} {
		status, _, got := post(t, url+"/v1/embeddings", c.body)
		message, _ := at(got, "error", "message").(string)
		if status != 400 || at(got, "error", "param") != c.param || at(got, "error", "code") != c.code || !strings.Contains(message, c.message) {
			t.Errorf("%.80s: %d %v", c.body, status, got["error"])
		}
	}
	if status, _, got := post(t, url+"/v1/embeddings", `{"input": "a", "model": "none"}`); status != 404 {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/v1/embeddings", `{"truncate": true, "input": ["`+long+`", "cat"]}`); status != 200 || at(got, "usage", "prompt_tokens") != float64(16+len(loadWords(t).Encode("cat"))) {
		t.Errorf("truncated: %d %v", status, got)
	}
}

// TestEmbeddingsForms checks that texts and tokens can be mixed as in
// llama-server.
func TestEmbeddingsForms(t *testing.T) {
	_, url := startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
	v := loadWords(t)
	cat := v.Tokenize(nil, "cat", true)
	for input, tokens := range map[string][]int{
		`[2, 3, "cat", 4]`:                      {3 + len(cat)},
		`["cat", [2, 3, 4]]`:                    {len(v.Encode("cat")), 3},
		`[[2, 3], [4, "cat", 5]]`:               {2, 2 + len(cat)},
		`{"prompt_string": "cat"}`:              {len(v.Encode("cat"))},
		`[{"prompt_string": "cat"}, "the cat"]`: {len(v.Encode("cat")), len(v.Encode("the cat"))},
		`{"content": [{"type": "text", "text": "the "}, {"type": "text", "text": "cat"}]}`: {len(v.Encode("the cat"))},
	} {
		want := 0
		for _, n := range tokens {
			want += n
		}
		status, _, got := post(t, url+"/v1/embeddings", `{"model": "vectors", "input": `+input+`}`)
		if data, _ := got["data"].([]any); status != 200 || len(data) != len(tokens) || at(got, "usage", "prompt_tokens") != float64(want) {
			t.Errorf("%s: %d %v, want %d inputs of %d tokens", input, status, got, len(tokens), want)
		}
	}
}

// TestLlamaServerEmbeddings checks llama-server's own form of embeddings.
func TestLlamaServerEmbeddings(t *testing.T) {
	_, url := startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
	ask := func(path, body string) (out []struct {
		Index     int
		Embedding [][]float32
	}) {
		t.Helper()
		status, _, text := send(t, "POST", url+path, body)
		if err := json.Unmarshal([]byte(text), &out); status != 200 || err != nil {
			t.Fatalf("%s: %d %s", body, status, text)
		}
		return out
	}
	one := ask("/embedding", `{"model": "vectors", "content": "the cat"}`)
	if len(one) != 1 || len(one[0].Embedding) != 1 || len(one[0].Embedding[0]) != 8 || math.Abs(norm(one[0].Embedding[0])-1) > 1e-6 {
		t.Fatal(one)
	}
	both := ask("/embeddings", `{"model": "vectors", "input": ["a dog", "the cat"]}`)
	if len(both) != 2 || both[1].Index != 1 || !slices.Equal(both[1].Embedding[0], one[0].Embedding[0]) {
		t.Error(both)
	}
	raw := ask("/embedding", `{"model": "vectors", "content": "the cat", "embd_normalize": -1}`)[0].Embedding[0]
	if n := norm(raw); math.Abs(n-1) < 1e-3 || math.Abs(float64(raw[0])/n-float64(one[0].Embedding[0][0])) > 1e-6 {
		t.Error(raw)
	}
	for p, size := range map[int]func([]float32) float64{
		0: func(row []float32) float64 {
			most := 0.0
			for _, x := range row {
				most = max(most, math.Abs(float64(x)))
			}
			return most / 32760
		},
		1: func(row []float32) (sum float64) {
			for _, x := range row {
				sum += math.Abs(float64(x))
			}
			return sum
		},
		3: func(row []float32) (sum float64) {
			for _, x := range row {
				sum += math.Pow(math.Abs(float64(x)), 3)
			}
			return sum
		},
	} {
		row := ask("/embedding", fmt.Sprintf(`{"model": "vectors", "content": "the cat", "embd_normalize": %d}`, p))[0].Embedding[0]
		if got := size(row); math.Abs(got-1) > 1e-4 {
			t.Errorf("embd_normalize %d: %g of %v", p, got, row)
		}
	}
	if status, _, got := post(t, url+"/embedding", `{"model": "vectors", "content": "a", "encoding_format": "base64"}`); status != 400 || at(got, "error", "reason") != "not_offered" {
		t.Errorf("%d %v", status, got)
	}
}

// TestEmbeddingModelWritesNoText checks that every path that generates text
// refuses a model that does not.
func TestEmbeddingModelWritesNoText(t *testing.T) {
	_, url := startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
	for path, body := range map[string]string{
		"/generate": `"prompt": "x"`, "/generate_json": `"prompt": "x"`, "/v1/completions": `"prompt": "x"`,
		"/v1/chat/completions": `"messages": [{"role": "user", "content": "x"}]`, "/v1/responses": `"input": "x"`,
		"/v1/messages":              `"messages": [{"role": "user", "content": "x"}], "max_tokens": 5`,
		"/v1/messages/count_tokens": `"messages": [{"role": "user", "content": "x"}]`,
		"/api/chat":                 `"messages": [{"role": "user", "content": "x"}]`, "/api/generate": `"prompt": "x"`, "/agent/run": `"query": "x"`,
	} {
		for model, want := range map[string]string{
			"vectors": `the model "vectors" gives embeddings; it does not generate text`,
			"ranks":   `the model "ranks" reranks documents; it does not generate text`,
		} {
			status, _, got := post(t, url+path, `{"model": "`+model+`", `+body+`}`)
			if status != 400 || !strings.Contains(fmt.Sprint(got), want) {
				t.Errorf("%s: %d %v", path, status, got)
			}
		}
	}
	if status, _, got := post(t, url+"/generate", `{"model": "both", "prompt": "x", "temperature": 0}`); status != 200 || got["text"] != "hello" {
		t.Errorf("%d %v", status, got)
	}
}

func TestOllamaEmbeddings(t *testing.T) {
	_, url := startEmbedding(t, scripted.EmbedOptions{MaxTokens: 16}, embedding.Config{})
	status, _, got := post(t, url+"/api/embed", `{"model": "vectors", "input": ["the cat", "a dog"], "keep_alive": "5m", "options": {"num_thread": 2}}`)
	if status != 200 || got["model"] != "vectors" || at(got, "total_duration").(float64) <= 0 || at(got, "load_duration").(float64) <= 0 || got["warnings"] != nil {
		t.Fatalf("%d %v", status, got)
	}
	v := loadWords(t)
	if want := len(v.Encode("the cat")) + len(v.Encode("a dog")); got["prompt_eval_count"] != float64(want) {
		t.Errorf("%v tokens, want %d", got["prompt_eval_count"], want)
	}
	cat := vectorAt(t, got, "embeddings", 0)
	if len(cat) != 8 || math.Abs(norm(cat)-1) > 1e-6 {
		t.Error(cat)
	}
	_, _, got = post(t, url+"/api/embed", `{"model": "vectors", "input": "the cat", "dimensions": 2}`)
	if short := vectorAt(t, got, "embeddings", 0); len(short) != 2 || math.Abs(norm(short)-1) > 1e-6 {
		t.Error(short)
	}
	_, _, got = post(t, url+"/api/embeddings", `{"model": "vectors", "prompt": "the cat"}`)
	raw := vectorAt(t, got, "embedding")
	if n := norm(raw); len(raw) != 8 || math.Abs(n-1) < 1e-3 || math.Abs(float64(raw[0])/n-float64(cat[0])) > 1e-6 {
		t.Errorf("as the model gives it: %v, of length 1: %v", raw, cat)
	}
	for _, c := range []struct{ path, body, field string }{
		{"/api/embed", `{"model": "vectors"}`, "embeddings"},
		{"/api/embed", `{"model": "vectors", "input": ""}`, "embeddings"},
		{"/api/embed", `{"model": "vectors", "input": []}`, "embeddings"},
		{"/api/embeddings", `{"model": "vectors"}`, "embedding"},
		{"/api/embeddings", `{"model": "vectors", "prompt": ""}`, "embedding"},
	} {
		status, _, got := post(t, url+c.path, c.body)
		if list, ok := got[c.field].([]any); status != 200 || !ok || len(list) != 0 {
			t.Errorf("%s %s: %d %v", c.path, c.body, status, got)
		}
	}
	long := strings.Repeat("cat ", 30)
	for body, tokens := range map[string]int{
		`{"model": "vectors", "input": "` + long + `"}`:                                  16,
		`{"model": "vectors", "input": "` + long + `", "options": {"num_ctx": 7}}`:       7,
		`{"model": "vectors", "input": "` + long + `", "options": {"num_ctx": 1000000}}`: 16,
	} {
		if status, _, got := post(t, url+"/api/embed", body); status != 200 || got["prompt_eval_count"] != float64(tokens) {
			t.Errorf("%d %v, want %d tokens", status, got, tokens)
		}
	}
	for _, c := range []struct{ path, body, want string }{
		{"/api/embed", `{"model": "vectors", "input": ["a", "` + long + `"], "truncate": false}`, "input[1] is too large"},
		{"/api/embeddings", `{"model": "vectors", "prompt": "` + long + `"}`, "prompt is too large"},
		{"/api/embed", `{"input": "a"}`, "model is required"},
		{"/api/embed", `{"model": "vectors", "input": [1, 2]}`, "input[0] must be a string, not 1"},
		{"/api/embed", `{"model": "vectors", "input": 5}`, "input must be a string or an array of strings, not 5"},
		{"/api/embed", `{"model": "vectors", "input": "a", "dimensions": 9}`, "dimensions must be at most 8"},
		{"/api/embed", `{"model": "vectors", "input": "a", "options": {"num_ctx": 0}}`, "options.num_ctx must be between 1"},
		{"/api/embed", `{"model": "tiny", "input": "a"}`, "was not loaded for embeddings"},
	} {
		status, _, got := post(t, url+c.path, c.body)
		if message, _ := got["error"].(string); status != 400 || !strings.Contains(message, c.want) {
			t.Errorf("%.60s: %d %v", c.body, status, got)
		}
	}
}

// TestEmbeddingModels checks that models of different kinds are described,
// loaded and unloaded side by side.
func TestEmbeddingModels(t *testing.T) {
	_, url := startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
	_, _, got := post(t, url+"/api/show", `{"model": "vectors"}`)
	if fmt.Sprint(got["capabilities"]) != "[embedding]" {
		t.Errorf("%v", got)
	}
	_, _, list := send(t, "GET", url+"/v1/models", "")
	for model, want := range map[string]string{"tiny": "[completion tools]", "both": "[completion tools embedding]", "ranks": "[rerank]"} {
		if _, _, got := post(t, url+"/api/show", `{"model": "`+model+`"}`); fmt.Sprint(got["capabilities"]) != want {
			t.Errorf("%s: %v", model, got["capabilities"])
		}
	}
	for _, want := range []string{
		`"capabilities":["embedding"],"embedding_length":8}`, `"capabilities":["completion"],"tool_calls"`,
		`"capabilities":["completion","embedding"],"embedding_length":8,"tool_calls"`, `"capabilities":["rerank"]}`,
	} {
		if !strings.Contains(list, want) {
			t.Errorf("/v1/models lacks %s: %s", want, list)
		}
	}
	if _, _, text := send(t, "GET", url+"/api/ps", ""); !strings.Contains(text, `"context_length":512`) {
		t.Error(text)
	}
	if status, _, text := send(t, "GET", url+"/readyz", ""); status != 200 {
		t.Error(text)
	}

	srv := New(Config{Log: slog.New(slog.DiscardHandler)})
	m := scripted.NewEmbedding(loadWords(t), scripted.EmbedOptions{})
	srv.AddModel("later", func(context.Context) (Engines, func() error, error) {
		e, err := embedding.New(m, embedding.Config{})
		return Engines{Embeddings: e}, e.Close, err
	}, time.Hour)
	srv.AddModel("nothing", func(context.Context) (Engines, func() error, error) {
		return Engines{}, func() error { return nil }, nil
	}, time.Hour)
	h := httptest.NewServer(srv.Handler())
	defer h.Close()
	if m.OpenEmbedders() != 0 {
		t.Error("loaded before it is asked for")
	}
	if status, _, got := post(t, h.URL+"/generate", `{"model": "later", "prompt": "x"}`); status != 400 || m.OpenEmbedders() != 1 {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, h.URL+"/api/embed", `{"model": "later", "input": "x", "keep_alive": 0}`); status != 200 {
		t.Errorf("%d %v", status, got)
	}
	poll.Until(func() bool { return m.OpenEmbedders() == 0 })
	if status, _, got := post(t, h.URL+"/v1/embeddings", `{"model": "later", "input": "x"}`); status != 200 || m.OpenEmbedders() != 1 {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, h.URL+"/v1/embeddings", `{"model": "nothing", "input": "x"}`); status != 422 {
		t.Errorf("%d %v", status, got)
	}
	if err := errors.Join(srv.CloseModels(), m.Close()); err != nil {
		t.Error(err)
	}
}

// TestEmbeddingsLoad checks that a full queue and a failing device are
// reported as with text, and counted.
func TestEmbeddingsLoad(t *testing.T) {
	arrived, pass := make(chan int), make(chan error)
	srv, url := startEmbedding(t, scripted.EmbedOptions{MaxInputs: 1, Fault: func(int, [][]int32) error {
		arrived <- 1
		return <-pass
	}}, embedding.Config{Queue: 1})
	e := srv.models.Every()[0].InMemory().Embeddings
	const body = `{"model": "vectors", "input": "x"}`
	statuses := make(chan int, 2)
	ask := func() {
		status, _, _ := post(t, url+"/v1/embeddings", body)
		statuses <- status
	}
	go ask()
	<-arrived
	go ask()
	poll.Until(func() bool { return e.Stats().Queued == 1 })
	status, header, got := post(t, url+"/v1/embeddings", body)
	if status != 429 || header.Get("Retry-After") == "" || at(got, "error", "code") != "queue_full" {
		t.Errorf("%d %v", status, got)
	}
	pass <- errors.New("the device is gone")
	<-arrived
	pass <- nil
	if all := []int{<-statuses, <-statuses}; !slices.Contains(all, 200) || !slices.Contains(all, 500) {
		t.Error(all)
	}
	_, _, text := send(t, "GET", url+"/metrics", "")
	for _, want := range []string{
		`stencil_embedding_requests_total{model="vectors"} 2`, `stencil_embedding_inputs_total{model="vectors"} 1`,
		`stencil_embedding_refused_total{model="vectors"} 1`, `stencil_embedding_cancelled_total{model="vectors"} 0`,
		`stencil_embedding_batches_total{model="vectors"} 2`, `stencil_embedding_queued{model="both"} 0`,
		fmt.Sprintf(`stencil_embedding_tokens_total{model="vectors"} %d`, len(loadWords(t).Encode("x"))),
		`stencil_requests_total{path="/v1/embeddings",status="429"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, `embedding_queued{model="tiny"}`) {
		t.Error("a model that does not embed has metrics of embeddings")
	}
}

// TestEmbeddingsGivenUp checks that a request that times out or is cancelled
// stops the model.
func TestEmbeddingsGivenUp(t *testing.T) {
	srv, url := startEmbedding(t, scripted.EmbedOptions{Delay: time.Hour}, embedding.Config{})
	e := srv.models.Every()[0].InMemory().Embeddings
	status, _, got := post(t, url+"/v1/embeddings", `{"input": "x", "timeout": 0.001}`)
	if status != 504 || at(got, "error", "code") != "timeout" {
		t.Errorf("%d %v", status, got)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	gone := hangingUp(ctx, t, url+"/v1/embeddings", `{"input": "x"}`)
	poll.Until(func() bool { return e.Stats().Active != 0 && e.Stats().Requests >= 2 })
	hangUp()
	<-gone
	poll.Until(func() bool {
		s := e.Stats()
		return s.Active == 0 && s.Cancelled == 2
	})
}

// Texts that are far too long are refused, or truncated, without being tokenized, and the time of a request includes
// tokenizing.
func TestLongTextsToEmbed(t *testing.T) {
	_, url := startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
	long, err := json.Marshal(strings.Repeat("x y ", 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, body string
		status     int
		param      string
	}{
		{"/v1/embeddings", `{"model": "vectors", "input": ["x", %s]}`, 400, "input[1]"},
		{"/v1/embeddings", `{"model": "vectors", "input": [[1, %s]]}`, 400, "input[0]"},
		{"/v1/embeddings", `{"model": "vectors", "input": %s, "truncate": true}`, 200, ""},
		{"/api/embed", `{"model": "vectors", "input": [%s]}`, 200, ""},
		{"/v1/rerank", `{"model": "ranks", "query": "x", "documents": ["y", %s]}`, 400, "documents[1]"},
		{"/v1/rerank", `{"model": "ranks", "query": "x", "documents": ["y", %s], "truncate": true}`, 200, ""},
		{"/v1/rerank", `{"model": "ranks", "query": %s, "documents": ["y"], "truncate": true}`, 400, "documents[0]"},
	} {
		status, _, answer := post(t, url+c.path, fmt.Sprintf(c.body, long))
		message, _ := at(answer, "error", "message").(string)
		if status != c.status || c.status != 200 && (at(answer, "error", "code") != "context_length_exceeded" || at(answer, "error", "param") != c.param || !strings.Contains(message, "bytes")) {
			t.Errorf("%s %.60s: status %d, %.300v", c.path, c.body, status, answer)
		}
	}
	many := `{"model": "vectors", "input": [` + strings.Repeat(`"`+strings.Repeat("x y ", 20)+`",`, 2000) + `"x"], "timeout": 0.000001}`
	if status, _, answer := post(t, url+"/v1/embeddings", many); status != 504 {
		t.Errorf("status %d, %.300v", status, answer)
	}
}
