//go:build llama && cgo

package llama

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
)

// TestRecurrent checks the rules of the interface for models that can't
// rewind.
func TestRecurrent(t *testing.T) {
	for _, arch := range []string{"mamba", "rwkv7", "qwen35", "lfm2", "granitehybrid", "falcon-h1"} {
		t.Run(arch, func(t *testing.T) { testRecurrent(t, arch) })
	}
}

func testRecurrent(t *testing.T, arch string) {
	m := load(t, randomModel(t, models.RandomOptions{Arch: arch}), LoadOptions{})
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

// TestRecurrentAbort checks that a stopped decode leaves a sequence either
// unchanged or empty, and that SeqLen distinguishes the two.
func TestRecurrentAbort(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{Arch: "mamba", Layers: 8, Width: 128}), LoadOptions{})
	c := newCtx(t, m, backend.ContextParams{MaxSeqs: 2, MaxBatch: 2048, Size: 4096})
	start := someTokens(m, 10, 1)
	feed(t, c, 0, start...)
	var b backend.Batch
	b.AddTokens(0, 10, someTokens(m, 1500, 2), true)
	// On a fast machine the decode may finish before it is stopped.
	err := error(nil)
	for limit := 64 * time.Millisecond; limit > 0 && err == nil; limit /= 2 {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		if err = c.Decode(ctx, &b); err == nil {
			c.SeqRemove(0, 0, -1)
			feed(t, c, 0, start...)
		}
		cancel()
	}
	if !errors.Is(err, backend.ErrAborted) {
		t.Fatalf("no decode was stopped: %v", err)
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
