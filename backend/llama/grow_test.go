//go:build llama && cgo

package llama

import (
	"context"
	"errors"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
)

// TestGrow checks that a growing context keeps its sequences: their next logits
// equal those of a context that was large from the start. Some sequences share a
// prefix, and one was restored.
func TestGrow(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{Context: 16384}), LoadOptions{})
	p := backend.ContextParams{MaxSeqs: 5, Threads: 1}
	p.Size = 16384
	small, large := newCtx(t, m, p).(*cContext), newCtx(t, m, p).(*cContext)
	if small.Cells() != firstCells || small.Size() != 16384 {
		t.Fatalf("%d cells of %d at first", small.Cells(), small.Size())
	}
	for large.Grow(true) {
	}
	if large.Cells() != 16384 {
		t.Fatalf("%d cells at last", large.Cells())
	}
	fill := func(c *cContext) {
		long := someTokens(m, 2500, 1)
		feedAll(t, c, 0, long)
		c.SeqCopy(0, 1, 0, 2000) // shares a prefix, and then differs
		feedAll(t, c, 1, someTokens(m, 100, 2))
		feedAll(t, c, 2, someTokens(m, 700, 3))
		c.SeqCopy(2, 3, 0, -1) // shares all of it
		state, err := c.SeqState(1)
		if err != nil {
			t.Fatal(err)
		}
		c.SeqRemove(1, 0, -1)
		if err := c.SetSeqState(1, state); err != nil {
			t.Fatal(err)
		}
	}
	fill(large)
	fill(small)
	// 2,500, 2,100 and 700 tokens do not fit 4,096 cells: restoring allocated more.
	if small.Cells() <= firstCells {
		t.Fatalf("%d cells hold all that", small.Cells())
	}
	before := small.Cells()
	if !small.Grow(true) || small.Cells() != 2*before {
		t.Fatalf("%d cells after %d", small.Cells(), before)
	}
	for seq := range int32(4) {
		if a, b := small.SeqLen(seq), large.SeqLen(seq); a != b {
			t.Errorf("sequence %d has %d tokens, want %d", seq, a, b)
		}
		got, want := feed(t, small, seq, 9), feed(t, large, seq, 9)
		if r := correlation(got, want); !(r > 0.9999) {
			t.Errorf("sequence %d: correlation %g with the logits of a context that did not grow", seq, r)
		}
	}
	// Shared cells are still shared: the sequences take the cells of 2,501, 701, and
	// 101 tokens of their own, and no more.
	if got := freeCells(t, small, 4); got < small.Cells()-(2501+701+1+2101)-512 {
		t.Errorf("%d of %d cells are free", got, small.Cells())
	}
}

// feedAll decodes tokens at the end of a sequence, growing the context if
// necessary.
func feedAll(t *testing.T, c *cContext, seq int32, tokens []int32) {
	t.Helper()
	for len(tokens) > 0 {
		var b backend.Batch
		n := min(len(tokens), c.MaxBatch())
		b.AddTokens(seq, c.SeqLen(seq), tokens[:n], true)
		err := c.Decode(context.Background(), &b)
		if errors.Is(err, backend.ErrNoSlot) && c.Grow(true) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		tokens = tokens[n:]
	}
}

// freeCells fills a sequence until nothing fits any more.
func freeCells(t *testing.T, c *cContext, seq int32) int {
	t.Helper()
	n := 0
	for {
		var b backend.Batch
		b.AddTokens(seq, c.SeqLen(seq), someTokens(c.model, 256, 5), true)
		if err := c.Decode(context.Background(), &b); errors.Is(err, backend.ErrNoSlot) {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
		n += 256
	}
}

// TestDefaultSize checks that the default size of a context is the trained length,
// of which little is allocated at first.
func TestDefaultSize(t *testing.T) {
	for _, trained := range []int{512, 4096, 40960} {
		m := load(t, randomModel(t, models.RandomOptions{Context: trained}), LoadOptions{})
		c := newCtx(t, m, backend.ContextParams{}).(*cContext)
		if c.Size() != trained || c.Cells() != min(trained, firstCells) {
			t.Errorf("trained for %d: %d cells of %d", trained, c.Cells(), c.Size())
		}
	}
}
