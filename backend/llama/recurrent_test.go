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
	"strings"
	"testing"
	"time"

	"stencil/backend"
	"stencil/models"
	"stencil/vocab"
)

// mamba writes a random-weight model with recurrent state in place of a cache.
func mamba(t *testing.T, layers int, width int64) string {
	t.Helper()
	const conv, state, rank = 4, 16, 8
	inner := 2 * width
	tiny := randomModel(t, models.RandomOptions{Layers: 1, Width: 32}) // for its vocabulary
	g, err := vocab.OpenGGUF(tiny)
	if err != nil {
		t.Fatal(err)
	}
	tokens, _ := g.Get("tokenizer.ggml.tokens")
	w := new(models.Writer)
	w.String("general.architecture", "mamba")
	for key, n := range map[string]int64{
		"context_length": 4096, "embedding_length": width, "block_count": int64(layers), "feed_forward_length": 0,
		"attention.head_count": 0, "ssm.conv_kernel": conv, "ssm.inner_size": inner, "ssm.state_size": state, "ssm.time_step_rank": rank,
	} {
		w.Uint32("mamba."+key, uint32(n))
	}
	w.Float32("mamba.attention.layer_norm_rms_epsilon", 1e-5)
	for _, p := range g.Pairs {
		if strings.HasPrefix(p.Key, "tokenizer.") {
			if err := w.Value(p.Key, p.Value); err != nil {
				t.Fatal(err)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	add := func(name string, mean, std float64, shape ...int64) {
		err := w.Tensor(name, models.F32, shape, func(row []float32) {
			for i := range row {
				row[i] = float32(mean + rng.NormFloat64()*std)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	from := func(n int64) float64 { return 1 / math.Sqrt(float64(n)) }
	add("token_embd.weight", 0, 0.5, width, int64(tokens.Len()))
	for i := range layers {
		at := fmt.Sprintf("blk.%d.", i)
		add(at+"attn_norm.weight", 1, 0, width)
		add(at+"ssm_in.weight", 0, from(width), width, 2*inner)
		add(at+"ssm_conv1d.weight", 0, 0.5, conv, inner)
		add(at+"ssm_conv1d.bias", 0, 0, inner)
		add(at+"ssm_x.weight", 0, from(inner), inner, rank+2*state)
		add(at+"ssm_dt.weight", 0, from(rank), rank, inner)
		add(at+"ssm_dt.bias", -2, 0.1, inner)
		add(at+"ssm_a", -1, 0.1, state, inner)
		add(at+"ssm_d", 1, 0, inner)
		add(at+"ssm_out.weight", 0, from(inner), inner, width)
	}
	add("output_norm.weight", 1, 0, width)
	path := filepath.Join(t.TempDir(), "mamba.gguf")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := w.Write(f, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRecurrent holds what the interface says about models that forget all or
// nothing.
func TestRecurrent(t *testing.T) {
	m := load(t, mamba(t, 2, 64), LoadOptions{})
	c := newCtx(t, m, backend.ContextParams{MaxSeqs: 4})
	fresh := newCtx(t, m, backend.ContextParams{})
	direct := func(tokens ...int32) []float32 {
		fresh.SeqRemove(0, 0, -1)
		return feed(t, fresh, 0, tokens...)
	}
	a, b := someTokens(m, 20, 1), someTokens(m, 5, 2)
	feed(t, c, 0, a...)
	if c.SeqRemove(0, 10, -1) || c.SeqLen(0) != 20 {
		t.Error("part of a recurrent state was removed")
	}
	c.SeqCopy(0, 1, 0, 10)
	if c.SeqLen(1) != 0 {
		t.Error("part of a recurrent state was copied")
	}
	c.SeqCopy(0, 1, 0, -1)
	want := direct(append(append([]int32(nil), a...), b...)...)
	sameLogits(t, "copy", feed(t, c, 1, b...), want)
	state, err := c.SeqState(0)
	if err != nil {
		t.Fatal(err)
	}
	sameLogits(t, "original", feed(t, c, 0, b...), want)
	if err := c.SetSeqState(2, state); err != nil || c.SeqLen(2) != 20 {
		t.Fatalf("restored %d tokens: %v", c.SeqLen(2), err)
	}
	sameLogits(t, "restored", feed(t, c, 2, b...), want)
	if !c.SeqRemove(0, 0, -1) || c.SeqLen(0) != 0 {
		t.Error("a whole state was not removed")
	}
	sameLogits(t, "emptied", feed(t, c, 0, a...), direct(a...))
}

// TestRecurrentAbort holds that a stopped decode leaves a sequence that is
// either as it was or empty, and that SeqLen says which.
func TestRecurrentAbort(t *testing.T) {
	m := load(t, mamba(t, 8, 128), LoadOptions{})
	c := newCtx(t, m, backend.ContextParams{MaxSeqs: 2, MaxBatch: 2048, Size: 4096})
	start := someTokens(m, 10, 1)
	feed(t, c, 0, start...)
	var b backend.Batch
	b.AddTokens(0, 10, someTokens(m, 1500, 2), true)
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := c.Decode(ctx, &b); !errors.Is(err, backend.ErrAborted) {
		t.Skipf("done before it was stopped, in %v: %v", time.Since(began), err)
	}
	switch c.SeqLen(0) {
	case 0:
		sameLogits(t, "again", feed(t, c, 0, append(start, 3)...), feed(t, c, 1, append(start, 3)...))
	case 10:
		sameLogits(t, "continued", feed(t, c, 0, 3), feed(t, c, 1, append(start, 3)...))
	default:
		t.Errorf("%d tokens left of 10", c.SeqLen(0))
	}
}
