//go:build llama && cgo

package llama

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama/internal/reference"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/models"
)

// libraryKey is the environment variable with the folder whose llama.cpp
// library a test process opens.
const libraryKey = "STENCIL_TEST_LIBRARY"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == TrialCommand {
		os.Exit(RunTrial(os.Stdin, os.Stdout))
	}
	flag.Parse()
	if os.Getenv(libraryKey) == "" { // otherwise this process must find its own
		if err := start(); err != nil { // before any test measures memory or time
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if !testing.Verbose() {
		SetLogger(slog.New(slog.DiscardHandler))
	}
	os.Exit(m.Run())
}

// randomModel writes a random-weight model for the test.
func randomModel(t testing.TB, opt models.RandomOptions) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := models.WriteRandom(path, opt); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t testing.TB, path string, opt LoadOptions) backend.Model {
	t.Helper()
	m, err := Load(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func newCtx(t testing.TB, m backend.Model, p backend.ContextParams) backend.Context {
	t.Helper()
	if p.Threads == 0 {
		p.Threads = 1
	}
	c, err := m.NewContext(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// feed decodes tokens at the end of a sequence and returns a copy of the
// logits after the last one.
func feed(t testing.TB, c backend.Context, seq int32, tokens ...int32) []float32 {
	t.Helper()
	var b backend.Batch
	var row []float32
	for len(tokens) > 0 {
		n := min(len(tokens), c.MaxBatch())
		b.Reset()
		r := b.AddTokens(seq, c.SeqLen(seq), tokens[:n], n == len(tokens))
		if err := c.Decode(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		if tokens = tokens[n:]; len(tokens) == 0 {
			row = slices.Clone(c.Logits(r))
		}
	}
	return row
}

// someTokens returns n tokens picked at random.
func someTokens(m backend.Model, n int, seed uint64) []int32 {
	rng := rand.New(rand.NewPCG(seed, 0))
	out := make([]int32, n)
	for i := range out {
		out[i] = rng.Int32N(int32(m.Vocab().Len()))
	}
	return out
}

// argmax looks at eight logits at a time: most are not above the best so far.
func argmax(x []float32) int32 {
	best, most := 0, float32(math.Inf(-1))
	i := 0
	for ; i+8 <= len(x); i += 8 {
		y := (*[8]float32)(x[i:])
		if y[0] > most || y[1] > most || y[2] > most || y[3] > most || y[4] > most || y[5] > most || y[6] > most || y[7] > most {
			for k, v := range y {
				if v > most {
					best, most = i+k, v
				}
			}
		}
	}
	for ; i < len(x); i++ {
		if x[i] > most {
			best, most = i, x[i]
		}
	}
	return int32(best)
}

// sameLogits fails the test if two rows differ by more than the order of
// summation explains: logits have a standard deviation of 4.
func sameLogits(t testing.TB, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d logits, want %d", what, len(got), len(want))
	}
	worst := 0.0
	for i := range got {
		worst = max(worst, math.Abs(float64(got[i]-want[i])))
	}
	if !(worst < 0.02) {
		t.Errorf("%s: logits differ by %g", what, worst)
	}
}

// TestDecode loads models with each vocabulary and weight type, and compares
// their output with a loop in plain C.
func TestDecode(t *testing.T) {
	cases := []struct {
		name string
		opt  models.RandomOptions
	}{
		{"built-in-F32", models.RandomOptions{Type: models.F32}},
		{"built-in-F16", models.RandomOptions{Type: models.F16}},
		{"built-in-Q8_0", models.RandomOptions{Type: models.Q8_0}},
		{"built-in-Q4_0", models.RandomOptions{Type: models.Q4_0, KVHeads: 2}},
	}
	for _, v := range []string{"llama2", "mistral3", "llama3", "llama4"} {
		cases = append(cases, struct {
			name string
			opt  models.RandomOptions
		}{v, models.RandomOptions{Vocab: "vocab/" + v + ".gguf", Type: models.Q8_0}})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.opt.Vocab != "" {
				c.opt.Vocab = shared.File(t, c.opt.Vocab)
			}
			path := randomModel(t, c.opt)
			m := load(t, path, LoadOptions{})
			if got := m.Info().Quantization; got != c.opt.Type.String() {
				t.Errorf("quantization %s, want %s", got, c.opt.Type)
			}
			ctx := newCtx(t, m, backend.ContextParams{Size: 512})
			prompt := m.Vocab().Encode("The quick brown fox")
			row := feed(t, ctx, 0, prompt...)
			if len(row) != m.Vocab().Len() {
				t.Fatalf("%d logits, %d tokens", len(row), m.Vocab().Len())
			}
			if std := deviation(row); !(std > 3 && std < 5) {
				t.Errorf("standard deviation of the logits is %.2f, want 4", std)
			}

			const n = 48
			var got []int32
			for range n {
				got = append(got, argmax(row))
				row = feed(t, ctx, 0, got[len(got)-1])
			}
			bare, err := reference.OpenBare(path, 512, 1, true)
			if err != nil {
				t.Fatal(err)
			}
			defer bare.Close()
			want, _, err := bare.Greedy(prompt, n)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("wrote %v, a loop in C %v", got, want)
			}
			distinct := slices.Clone(want)
			slices.Sort(distinct)
			if d := len(slices.Compact(distinct)); d < n/3 {
				t.Errorf("only %d different tokens in %d: %v", d, n, want)
			}
		})
	}
}

func deviation(x []float32) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	n := float64(len(x))
	return math.Sqrt(squares/n - sum/n*sum/n)
}

func TestContextSettings(t *testing.T) {
	// Heads of 32, a whole block of the quantised caches.
	path := randomModel(t, models.RandomOptions{Width: 128, Heads: 4})
	m := load(t, path, LoadOptions{})
	tokens := someTokens(m, 40, 1)
	want := feed(t, newCtx(t, m, backend.ContextParams{CacheType: backend.CacheF32, FlashAttention: backend.FlashOff}), 0, tokens...)
	for ct, x := range cacheTypes {
		for _, fa := range []backend.FlashAttention{backend.FlashAuto, backend.FlashOn, backend.FlashOff} {
			if x.quantised && fa == backend.FlashOff {
				_, err := m.NewContext(backend.ContextParams{CacheType: ct, FlashAttention: fa})
				if err == nil {
					t.Errorf("%s without flash attention was accepted", ct)
				}
				continue
			}
			got := feed(t, newCtx(t, m, backend.ContextParams{CacheType: ct, FlashAttention: fa}), 0, tokens...)
			// A quantised cache changes the logits, but they stay close: 4 bits keep a
			// correlation that unrelated logits never reach.
			if r := correlation(got, want); !(r > 0.95) {
				t.Errorf("cache %s, flash attention %s: correlation %.3f with the exact logits", ct, fa, r)
			}
		}
	}
	for _, p := range []backend.ContextParams{
		{Size: -1}, {MaxSeqs: 1000}, {MaxSeqs: -1}, {Threads: -1}, {Threads: 100000}, {CacheType: "q3"}, {FlashAttention: "maybe"}, {MaxBatch: -2}, {Size: 1 << 40},
	} {
		if c, err := m.NewContext(p); err == nil {
			c.Close()
			t.Errorf("%+v was accepted", p)
		}
	}
	c := newCtx(t, m, backend.ContextParams{})
	if c.Size() != 4096 || c.MaxSeqs() != 1 || c.MaxBatch() != 512 {
		t.Errorf("defaults: %d cells, %d sequences, batches of %d", c.Size(), c.MaxSeqs(), c.MaxBatch())
	}
	threaded := newCtx(t, m, backend.ContextParams{Threads: 2, BatchThreads: 1, CacheType: backend.CacheF32, FlashAttention: backend.FlashOff})
	sameLogits(t, "two threads", feed(t, threaded, 0, tokens...), want)
}

func correlation(x, y []float32) float64 {
	var xy, xx, yy float64
	for i := range x {
		xy += float64(x[i]) * float64(y[i])
		xx += float64(x[i]) * float64(x[i])
		yy += float64(y[i]) * float64(y[i])
	}
	return xy / math.Sqrt(xx*yy)
}

// TestMixedBatch decodes several sequences in one batch and compares each row
// with that of the sequence alone.
func TestMixedBatch(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{}), LoadOptions{})
	const seqs = 5
	c := newCtx(t, m, backend.ContextParams{MaxSeqs: seqs})
	var text [seqs][]int32
	var b backend.Batch
	rows := map[int]int32{}
	for s := range int32(seqs) {
		text[s] = someTokens(m, 3+int(s)*7, uint64(s))
		if s == 2 { // a sequence that requests no logits
			b.AddTokens(s, 0, text[s], false)
			continue
		}
		rows[b.AddTokens(s, 0, text[s], true)] = s
	}
	if err := c.Decode(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	alone := newCtx(t, m, backend.ContextParams{})
	for r, s := range rows {
		alone.SeqRemove(0, 0, -1)
		sameLogits(t, fmt.Sprintf("row %d, sequence %d", r, s), c.Logits(r), feed(t, alone, 0, text[s]...))
	}
	if len(rows) != seqs-1 || b.Rows() != seqs-1 {
		t.Errorf("%d rows, %d counted", len(rows), b.Rows())
	}
	// Every position's logits in one batch, sequences interleaved token by token.
	for s := range int32(seqs) {
		c.SeqRemove(s, 0, -1)
	}
	b.Reset()
	for i := range int32(3) {
		for s := range int32(seqs) {
			b.Add(s, i, text[s][i], true)
		}
	}
	if err := c.Decode(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	for s := range int32(seqs) {
		alone.SeqRemove(0, 0, -1)
		for i := range int32(3) {
			sameLogits(t, fmt.Sprintf("sequence %d position %d", s, i), c.Logits(int(i*seqs+s)), feed(t, alone, 0, text[s][i]))
		}
	}
}

func TestBatchErrors(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{}), LoadOptions{})
	c := newCtx(t, m, backend.ContextParams{Size: 256, MaxSeqs: 2, MaxBatch: 64})
	feed(t, c, 0, 1, 2, 3)
	vocabLen := int32(m.Vocab().Len())
	for name, entries := range map[string][][3]int32{ // sequence, position, token
		"empty":              {},
		"token too large":    {{0, 3, vocabLen}},
		"negative token":     {{0, 3, -1}},
		"sequence too large": {{2, 0, 1}},
		"negative sequence":  {{-1, 0, 1}},
		"gap":                {{0, 4, 1}},
		"overlap":            {{0, 2, 1}},
		"negative position":  {{1, -1, 1}},
		"gap in the batch":   {{0, 3, 1}, {0, 5, 1}},
		"second starts late": {{0, 3, 1}, {1, 1, 1}},
		"too many":           make([][3]int32, 65),
	} {
		var b backend.Batch
		for _, e := range entries {
			b.Add(e[0], e[1], e[2], false)
		}
		if err := c.Decode(context.Background(), &b); !errors.Is(err, backend.ErrBatch) {
			t.Errorf("%s: %v", name, err)
		}
		if c.SeqLen(0) != 3 || c.SeqLen(1) != 0 {
			t.Errorf("%s: sequences now have %d and %d tokens", name, c.SeqLen(0), c.SeqLen(1))
		}
	}
	// The cache is full at 256 tokens.
	feed(t, c, 1, someTokens(m, 250, 1)...)
	var b backend.Batch
	b.AddTokens(0, 3, someTokens(m, 4, 2), true)
	if err := c.Decode(context.Background(), &b); !errors.Is(err, backend.ErrNoSlot) {
		t.Errorf("a full cache: %v", err)
	}
	if c.SeqLen(0) != 3 || c.SeqLen(1) != 250 {
		t.Errorf("after a full cache: %d and %d tokens", c.SeqLen(0), c.SeqLen(1))
	}
	c.SeqRemove(1, 0, -1)
	if err := c.Decode(context.Background(), &b); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestClose(t *testing.T) {
	path := randomModel(t, models.RandomOptions{})
	m, err := Load(context.Background(), path, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.NewContext(backend.ContextParams{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); !errors.Is(err, backend.ErrBusy) {
		t.Errorf("closing under an open context: %v", err)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	var b backend.Batch
	b.Add(0, 0, 1, true)
	if err := c.Decode(context.Background(), &b); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("decode after close: %v", err)
	}
	if _, err := c.SeqState(0); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("state after close: %v", err)
	}
	c.SeqKeep(0)
	c.SeqRemove(0, 0, -1)
	c.SeqCopy(0, 0, 0, -1)
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := m.NewContext(backend.ContextParams{}); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("context of a closed model: %v", err)
	}
}

// TestBorrowedLogits checks that a decode step allocates nothing, that a row
// is llama.cpp's own memory, and that it is writable.
func TestBorrowedLogits(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{}), LoadOptions{})
	c := newCtx(t, m, backend.ContextParams{})
	feed(t, c, 0, 1, 2, 3)
	var b backend.Batch
	var row []float32
	step := func() {
		b.Reset()
		b.Add(0, c.SeqLen(0), 5, true)
		if err := c.Decode(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		row = c.Logits(0)
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%.1f allocations a step", n)
	}
	if cap(row) != len(row) || len(row) != m.Vocab().Len() {
		t.Errorf("row of %d, capacity %d", len(row), cap(row))
	}
	for i := range row {
		row[i] = float32(math.Inf(-1))
	}
	if again := c.Logits(0); &again[0] != &row[0] || !math.IsInf(float64(again[7]), -1) {
		t.Error("the row was copied")
	}
	before := slices.Clone(feed(t, c, 0, 6))
	c.SeqRemove(0, c.SeqLen(0)-1, -1)
	sameLogits(t, "after writing over a row", feed(t, c, 0, 6), before)
	defer func() {
		if recover() == nil {
			t.Error("a row that does not exist was handed out")
		}
	}()
	c.Logits(1)
}
