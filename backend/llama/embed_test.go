//go:build llama && cgo

package llama

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/internal/realmodels"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

func loadEmbedding(t testing.TB, path string) *model {
	t.Helper()
	return load(t, path, LoadOptions{}).(*model)
}

func newEmbedderOf(t testing.TB, m *model, p backend.EmbedderParams) backend.Embedder {
	t.Helper()
	p.Threads = 1
	e, err := m.NewEmbedder(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// embed returns a row for each input, all computed in one call.
func embed(t testing.TB, e backend.Embedder, width int, inputs ...[]int32) [][]float32 {
	t.Helper()
	out := make([][]float32, len(inputs))
	for i := range out {
		out[i] = make([]float32, width)
	}
	if err := e.Embed(t.Context(), inputs, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func length(row []float32) float64 {
	var sum float64
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum / length(a) / length(b)
}

// distance returns the largest difference of the elements of two rows.
func distance(a, b []float32) float64 {
	var most float64
	for i := range a {
		most = max(most, math.Abs(float64(a[i]-b[i])))
	}
	return most
}

// The vectors of a trained model equal those of its authors' code.
func TestMiniLM(t *testing.T) {
	m := loadEmbedding(t, realmodels.Path(t, realmodels.MiniLM))
	info := m.Embedding()
	if info.Pooling != backend.PoolingMean || info.Generates || info.Width != 384 || info.MaxTokens != 512 {
		t.Errorf("%+v", info)
	}
	e := newEmbedderOf(t, m, backend.EmbedderParams{})
	var inputs [][]int32
	for _, s := range realmodels.MiniLMSentences {
		tokens := m.Vocab().Encode(s.Text)
		if !slices.Equal(tokens, s.Tokens) {
			t.Errorf("%q: tokens %v, want %v", s.Text, tokens, s.Tokens)
		}
		inputs = append(inputs, tokens)
	}
	rows := embed(t, e, info.Width, inputs...)
	const within = 1e-2
	for i, s := range realmodels.MiniLMSentences {
		norm := length(rows[i])
		if math.Abs(norm/s.Norm-1) > within {
			t.Errorf("%q: length %g, want %g", s.Text, norm, s.Norm)
		}
		for j, want := range s.First {
			if got := float64(rows[i][j]) / norm; math.Abs(got-want) > within {
				t.Errorf("%q: element %d is %g, want %g", s.Text, j, got, want)
			}
		}
	}
	for i, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		if got := cosine(rows[pair[0]], rows[pair[1]]); math.Abs(got-realmodels.MiniLMCosines[i]) > within {
			t.Errorf("sentences %v: %g, want %g", pair, got, realmodels.MiniLMCosines[i])
		}
	}
	words := embed(t, e, info.Width, m.Vocab().Encode("cat"), m.Vocab().Encode("kitten"), m.Vocab().Encode("car insurance"))
	if near, far := cosine(words[0], words[1]), cosine(words[0], words[2]); near <= far {
		t.Errorf("a cat is %g like a kitten, %g like car insurance", near, far)
	}
}

// some returns n arbitrary tokens of a vocabulary.
func some(v *vocab.Vocab, n, seed int) []int32 {
	out := make([]int32, 0, n)
	for i := 0; len(out) < n; i++ {
		if id := int32((i*31 + seed*17 + 40) % v.Len()); v.Kind(id) == vocab.Normal {
			out = append(out, id)
		}
	}
	return out
}

// checkEmbedder embeds three inputs, alone and in one call.
func checkEmbedder(t *testing.T, m *model) {
	t.Helper()
	width := m.Embedding().Width
	e := newEmbedderOf(t, m, backend.EmbedderParams{MaxTokens: 600})
	a, b, long := some(m.Vocab(), 9, 1), some(m.Vocab(), 30, 2), some(m.Vocab(), 500, 3)
	packed := embed(t, e, width, a, b, long)
	for i, tokens := range [][]int32{a, b, long} {
		if alone := embed(t, e, width, tokens); distance(alone[0], packed[i]) > 1e-2*max(1, length(alone[0])) {
			t.Errorf("input %d: %g apart alone and beside others", i, distance(alone[0], packed[i]))
		}
	}
	if distance(packed[0], packed[1]) < 1e-4 {
		t.Error("two inputs have the same row")
	}
	if again := embed(t, e, width, a, b, long); !slices.Equal(again[1], packed[1]) {
		t.Error("the same call gives another row")
	}
}

// The row of an input does not depend on other inputs of the call, for all
// poolings.
func TestEmbedPoolings(t *testing.T) {
	for _, c := range []struct {
		opt  models.RandomOptions
		want backend.EmbeddingInfo
	}{
		{models.RandomOptions{Arch: "bert"}, backend.EmbeddingInfo{Pooling: backend.PoolingMean, Width: 64}},
		{models.RandomOptions{Arch: "bert", Pooling: models.PoolingNone}, backend.EmbeddingInfo{Pooling: backend.PoolingMean, Width: 64}},
		{models.RandomOptions{Arch: "bert", Pooling: models.PoolingCLS}, backend.EmbeddingInfo{Pooling: backend.PoolingCLS, Width: 64}},
		{models.RandomOptions{Arch: "bert", Pooling: models.PoolingRank}, backend.EmbeddingInfo{Pooling: backend.PoolingRank, Width: 1}},
		{models.RandomOptions{Arch: "qwen3", Pooling: models.PoolingMean}, backend.EmbeddingInfo{Pooling: backend.PoolingMean, Width: 64}},
		{models.RandomOptions{Arch: "qwen3", Pooling: models.PoolingLast}, backend.EmbeddingInfo{Pooling: backend.PoolingLast, Width: 64}},
		{models.RandomOptions{Arch: "qwen3", Pooling: models.PoolingRank}, backend.EmbeddingInfo{Pooling: backend.PoolingRank, Width: 2}},
		{models.RandomOptions{}, backend.EmbeddingInfo{Pooling: backend.PoolingLast, Width: 64, Generates: true}},
		{models.RandomOptions{Arch: "mamba"}, backend.EmbeddingInfo{Pooling: backend.PoolingLast, Width: 64, Generates: true}},
		{models.RandomOptions{Arch: "gemma3"}, backend.EmbeddingInfo{Pooling: backend.PoolingLast, Width: 64, Generates: true}},
	} {
		t.Run(c.opt.Arch+string(c.opt.Pooling), func(t *testing.T) {
			m := loadEmbedding(t, randomModel(t, c.opt))
			checkEmbedder(t, m)
			info := m.Embedding()
			if info.Pooling != c.want.Pooling || info.Width != c.want.Width || info.Generates != c.want.Generates || info.MaxTokens != 4096 {
				t.Fatalf("%+v", info)
			}
		})
	}
}

// An input that a causal model computes in several pieces has the same row as
// in one.
func TestEmbedPieces(t *testing.T) {
	m := loadEmbedding(t, randomModel(t, models.RandomOptions{}))
	pieces := newEmbedderOf(t, m, backend.EmbedderParams{MaxTokens: 2000})
	whole, err := m.newEmbedder(embedShape{tokens: 2000, batch: 2048, cells: 2048}, backend.FlashOff, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.open.Add(1)
	defer whole.Close()
	inputs := [][]int32{some(m.Vocab(), 700, 1), some(m.Vocab(), 5, 2), some(m.Vocab(), 1100, 3)}
	got, want := embed(t, pieces, 64, inputs...), embed(t, whole, 64, inputs...)
	for i := range inputs {
		if d := distance(got[i], want[i]); d > 1e-2*length(want[i]) {
			t.Errorf("input %d: %g apart", i, d)
		}
	}
}

func TestEmbedErrors(t *testing.T) {
	path := randomModel(t, models.RandomOptions{Arch: "bert", Context: 64})
	m := loadEmbedding(t, path)
	if _, err := m.NewContext(backend.ContextParams{}); !errors.Is(err, backend.ErrArchitecture) {
		t.Errorf("a context: %v", err)
	}
	e := newEmbedderOf(t, m, backend.EmbedderParams{})
	if e.MaxTokens() != 64 || e.MaxBatch() != microBatch || e.MaxInputs() != embedInputs {
		t.Errorf("%d tokens, %d in all, %d inputs", e.MaxTokens(), e.MaxBatch(), e.MaxInputs())
	}
	ok := some(m.Vocab(), 4, 1)
	many := slices.Repeat([][]int32{some(m.Vocab(), 64, 1)}, 9)
	for name, inputs := range map[string][][]int32{
		"none": {}, "empty": {{}}, "too long": {some(m.Vocab(), 65, 1)}, "negative": {{-1}}, "outside": {ok, {int32(m.Vocab().Len())}},
		"too many": slices.Repeat([][]int32{ok}, embedInputs+1), "too many tokens": many,
	} {
		out := make([][]float32, len(inputs))
		for i := range out {
			out[i] = make([]float32, 64)
		}
		if err := e.Embed(t.Context(), inputs, out); !errors.Is(err, backend.ErrBatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := e.Embed(t.Context(), [][]int32{ok}, [][]float32{make([]float32, 63)}); !errors.Is(err, backend.ErrBatch) {
		t.Errorf("a short row: %v", err)
	}
	want := embed(t, e, 64, ok)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Embed(gone, [][]int32{ok}, [][]float32{make([]float32, 64)}); !errors.Is(err, backend.ErrAborted) || !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	if err := m.Close(); !errors.Is(err, backend.ErrBusy) {
		t.Errorf("closing the model: %v", err)
	}
	if got := embed(t, e, 64, ok); !slices.Equal(got[0], want[0]) {
		t.Error("another row after all that")
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	if err := e.Embed(t.Context(), [][]int32{ok}, [][]float32{make([]float32, 64)}); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := m.NewEmbedder(backend.EmbedderParams{MaxTokens: -1}); err == nil {
		t.Error("a negative length")
	}
}

// An aborted call stops and leaves nothing behind.
func TestEmbedAborts(t *testing.T) {
	m := loadEmbedding(t, randomModel(t, models.RandomOptions{Arch: "bert", Layers: 8, Width: 256}))
	e := newEmbedderOf(t, m, backend.EmbedderParams{})
	long := some(m.Vocab(), 4096, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error)
	go func() { failed <- e.Embed(ctx, [][]int32{long}, [][]float32{make([]float32, 256)}) }()
	number := e.(*embedder).c.abort
	for number.running.Load() < 2 {
	}
	cancel()
	if err := <-failed; !errors.Is(err, backend.ErrAborted) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	short := some(m.Vocab(), 20, 2)
	fresh := newEmbedderOf(t, m, backend.EmbedderParams{})
	if got, want := embed(t, e, 256, short), embed(t, fresh, 256, short); distance(got[0], want[0]) > 1e-4 {
		t.Errorf("%g apart after a call that was stopped", distance(got[0], want[0]))
	}
}

// The estimate of an embedder is close to what llama.cpp allocates.
func TestEmbedEstimate(t *testing.T) {
	re := regexp.MustCompile(`compute buffer size = +([0-9.]+) MiB`)
	for _, arch := range []string{"bert", "llama"} {
		for _, tokens := range []int{512, 2048} {
			for _, flash := range []backend.FlashAttention{backend.FlashOn, backend.FlashOff} {
				m := loadEmbedding(t, randomModel(t, models.RandomOptions{Arch: arch, Width: 256}))
				l := captureLog(t)
				newEmbedderOf(t, m, backend.EmbedderParams{MaxTokens: tokens, FlashAttention: flash})
				var took float64
				for _, line := range l.lines {
					if m := re.FindStringSubmatch(line); m != nil {
						x, _ := strconv.ParseFloat(m[1], 64)
						took += x * (1 << 20)
					}
				}
				e := m.file.estimateEmbedder(m.file.shape(tokens, m.file.splits(m.embedding)), flash)
				t.Logf("%s, %d tokens, flash attention %s: %s; compute is %s", arch, tokens, flash, e, Size(took))
				if f := float64(e.Compute); took == 0 || f < 0.9*took-1<<20 || f > 2*took+16<<20 {
					t.Errorf("%s, %d tokens, flash attention %s: compute is estimated %s, it is %s", arch, tokens, flash, Size(e.Compute), Size(took))
				}
			}
		}
	}
}

// t5encoder writes a random-weight model of the only architecture that just
// encodes and says so.
func t5encoder(t *testing.T) string {
	t.Helper()
	const layers, width, heads, ff, buckets = 2, 64, 4, 128, 32
	g, err := vocab.OpenGGUF(randomModel(t, models.RandomOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	tokens, _ := g.Get("tokenizer.ggml.tokens")
	w := new(models.Writer)
	w.String("general.architecture", "t5encoder")
	for key, n := range map[string]uint32{
		"context_length": 600, "embedding_length": width, "block_count": layers, "feed_forward_length": ff,
		"attention.head_count": heads, "attention.relative_buckets_count": buckets,
	} {
		w.Uint32("t5encoder."+key, n)
	}
	w.Float32("t5encoder.attention.layer_norm_rms_epsilon", 1e-6)
	for _, p := range g.Pairs {
		if strings.HasPrefix(p.Key, "tokenizer.") {
			if err := w.Value(p.Key, p.Value); err != nil {
				t.Fatal(err)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	add := func(name string, mean, std float64, shape ...int64) {
		if err := w.Tensor(name, models.F32, shape, func(row []float32) {
			for i := range row {
				row[i] = float32(mean + std*rng.NormFloat64())
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	add("token_embd.weight", 0, 1, width, int64(tokens.Len()))
	add("enc.output_norm.weight", 1, 0, width)
	add("enc.blk.0.attn_rel_b.weight", 0, 1, heads, buckets)
	for i := range layers {
		at := fmt.Sprintf("enc.blk.%d.", i)
		add(at+"attn_norm.weight", 1, 0, width)
		add(at+"ffn_norm.weight", 1, 0, width)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_o"} {
			add(at+name+".weight", 0, 0.1, width, width)
		}
		add(at+"ffn_up.weight", 0, 0.1, width, ff)
		add(at+"ffn_down.weight", 0, 0.1, ff, width)
	}
	path := filepath.Join(t.TempDir(), "t5.gguf")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(f, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEmbedT5(t *testing.T) {
	m := loadEmbedding(t, t5encoder(t))
	if info := m.Embedding(); info.Pooling != backend.PoolingMean || info.Generates || info.Width != 64 || info.MaxTokens != 600 {
		t.Errorf("%+v", info)
	}
	checkEmbedder(t, m)
}

// A requested length is rejected if there is not enough memory for it.
func TestEmbedMemory(t *testing.T) {
	if _, ok := systemMemory(); !ok {
		t.Skip("the system does not say how much memory there is")
	}
	// A token takes 128 KiB of cache.
	m := loadEmbedding(t, randomModel(t, models.RandomOptions{Arch: "qwen3", Heads: 16, HeadSize: 1024, Context: 1 << 20}))
	if _, err := m.NewEmbedder(backend.EmbedderParams{MaxTokens: 1 << 20}); !errors.Is(err, backend.ErrMemory) || !strings.Contains(err.Error(), "inputs of 1048576 tokens") {
		t.Errorf("%v", err)
	}
	small := loadEmbedding(t, randomModel(t, models.RandomOptions{Context: 1 << 20}))
	if e := newEmbedderOf(t, small, backend.EmbedderParams{}); e.MaxTokens() != embedTokens {
		t.Errorf("%d tokens", e.MaxTokens())
	}
}
