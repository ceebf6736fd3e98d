//go:build llama && cgo

package llama

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

// TestSequenceOperations compares each way to produce a sequence with
// decoding it from the start.
func TestSequenceOperations(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{}), LoadOptions{})
	fresh := newCtx(t, m, backend.ContextParams{})
	direct := func(tokens ...int32) []float32 {
		fresh.SeqRemove(0, 0, -1)
		return feed(t, fresh, 0, tokens...)
	}
	c := newCtx(t, m, backend.ContextParams{Size: 1024, MaxSeqs: 4})
	prefix, a, b := someTokens(m, 100, 1), someTokens(m, 20, 2), someTokens(m, 30, 3)
	join := func(parts ...[]int32) (out []int32) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}

	feed(t, c, 0, prefix...)
	c.SeqCopy(0, 1, 0, -1)
	c.SeqCopy(0, 2, 0, 60)
	if c.SeqLen(1) != 100 || c.SeqLen(2) != 60 {
		t.Fatalf("copies have %d and %d tokens", c.SeqLen(1), c.SeqLen(2))
	}
	sameLogits(t, "continued original", feed(t, c, 0, a...), direct(join(prefix, a)...))
	sameLogits(t, "continued copy", feed(t, c, 1, b...), direct(join(prefix, b)...))
	sameLogits(t, "continued part", feed(t, c, 2, a...), direct(join(prefix[:60], a)...))

	if !c.SeqRemove(0, 50, -1) || c.SeqLen(0) != 50 {
		t.Fatalf("tail not removed: %d tokens", c.SeqLen(0))
	}
	sameLogits(t, "after removing a tail", feed(t, c, 0, b...), direct(join(prefix[:50], b)...))
	sameLogits(t, "copy, its source cut", feed(t, c, 1, a...), direct(join(prefix, b, a)...))

	if c.SeqRemove(1, 10, 20) || c.SeqLen(1) != 150 {
		t.Error("a stretch was removed from the middle")
	}
	if !c.SeqRemove(1, 500, -1) || !c.SeqRemove(1, 5, 5) || c.SeqLen(1) != 150 {
		t.Error("removing nothing changed something")
	}
	c.SeqKeep(1)
	if c.SeqLen(0) != 0 || c.SeqLen(1) != 150 || c.SeqLen(2) != 0 {
		t.Errorf("after keep: %d, %d, %d tokens", c.SeqLen(0), c.SeqLen(1), c.SeqLen(2))
	}
	sameLogits(t, "kept", feed(t, c, 1, 7), direct(join(prefix, b, a, []int32{7})...))
	sameLogits(t, "emptied", feed(t, c, 0, a...), direct(a...))
}

// TestSharedCells checks that copies take no cells.
func TestSharedCells(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{}), LoadOptions{})
	c := newCtx(t, m, backend.ContextParams{Size: 256, MaxSeqs: 8})
	feed(t, c, 0, someTokens(m, 200, 1)...)
	for s := int32(1); s < 8; s++ {
		c.SeqCopy(0, s, 0, -1)
		feed(t, c, s, 1, 2, 3, 4)
	}
	for s := range int32(8) {
		c.SeqRemove(s, 0, -1)
	}
	feed(t, c, 3, someTokens(m, 256, 2)...) // all cells are free again
}

func TestState(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{Name: "one"}), LoadOptions{})
	c := newCtx(t, m, backend.ContextParams{Size: 512, MaxSeqs: 3})
	tokens := someTokens(m, 150, 1)
	feed(t, c, 1, tokens...)
	state, err := c.SeqState(1)
	if err != nil {
		t.Fatal(err)
	}
	want := feed(t, c, 1, 9)

	other := newCtx(t, m, backend.ContextParams{Size: 256, MaxSeqs: 2})
	feed(t, other, 0, someTokens(m, 20, 2)...) // so that the cells are elsewhere
	feed(t, other, 1, 1, 2, 3)                 // is replaced
	if err := other.SetSeqState(1, state); err != nil {
		t.Fatal(err)
	}
	if other.SeqLen(1) != 150 || other.SeqLen(0) != 20 {
		t.Fatalf("restored %d tokens, the other sequence has %d", other.SeqLen(1), other.SeqLen(0))
	}
	sameLogits(t, "restored", feed(t, other, 1, 9), want)
	again, err := other.SeqState(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetSeqState(2, again); err != nil {
		t.Fatal(err)
	}
	sameLogits(t, "restored twice", feed(t, c, 2, 10), feed(t, c, 1, 10))

	empty, err := c.SeqState(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetSeqState(2, empty); err != nil || c.SeqLen(2) != 0 {
		t.Errorf("an empty sequence: %v, %d tokens", err, c.SeqLen(2))
	}

	refused := func(what string, c backend.Context, state []byte, want error) {
		t.Helper()
		if err := c.SetSeqState(0, state); !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
		if c.SeqLen(0) != 0 {
			t.Errorf("%s: %d tokens", what, c.SeqLen(0))
		}
		feed(t, c, 0, 1, 2, 3)
		c.SeqRemove(0, 0, -1)
	}
	refused("nothing", c, nil, backend.ErrState)
	refused("truncated", c, state[:len(state)/2], backend.ErrState)
	damaged := append([]byte(nil), state...)
	damaged[len(damaged)/2] ^= 1
	refused("damaged", c, damaged, backend.ErrState)
	refused("other cache type", newCtx(t, m, backend.ContextParams{CacheType: backend.CacheF32}), state, backend.ErrState)
	refused("other form of attention", newCtx(t, m, backend.ContextParams{FlashAttention: backend.FlashOff}), state, backend.ErrState)
	second := load(t, randomModel(t, models.RandomOptions{Name: "two"}), LoadOptions{})
	refused("other model", newCtx(t, second, backend.ContextParams{}), state, backend.ErrState)
	full := newCtx(t, m, backend.ContextParams{Size: 256, MaxSeqs: 2})
	feed(t, full, 1, someTokens(m, 200, 3)...)
	forged := slices.Clone(state)
	forged[stateHeader] ^= 1 // with a matching checksum
	binary.LittleEndian.PutUint32(forged[28:], crc32.Checksum(forged[stateHeader:], castagnoli))
	refused("what llama.cpp does not take", newCtx(t, m, backend.ContextParams{Size: 512}), forged, backend.ErrState)
	refused("no room", full, state, backend.ErrNoSlot)
}

// TestAbort stops a long prefill in its first micro-batch and in a later one.
func TestAbort(t *testing.T) {
	path := randomModel(t, models.RandomOptions{Layers: 4, Width: 384, Heads: 8, Type: models.F16})
	m := load(t, path, LoadOptions{})
	c := newCtx(t, m, backend.ContextParams{Size: 4096, MaxSeqs: 2, MaxBatch: 2048})
	start := someTokens(m, 10, 1)
	feed(t, c, 0, start...)
	feed(t, c, 1, start...)

	var b backend.Batch
	b.AddTokens(0, 10, someTokens(m, 900, 2), false)
	b.AddTokens(1, 10, someTokens(m, 900, 3), true)
	began := time.Now()
	if err := c.Decode(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	c.SeqRemove(0, 10, -1)
	c.SeqRemove(1, 10, -1)

	gone := errors.New("the client hung up")
	for _, after := range []time.Duration{whole / 50, whole / 2} {
		ctx, cancel := context.WithCancelCause(context.Background())
		told := make(chan time.Time, 1)
		time.AfterFunc(after, func() {
			told <- time.Now()
			cancel(gone)
		})
		err := c.Decode(ctx, &b)
		late := time.Since(<-told)
		if !errors.Is(err, backend.ErrAborted) || !errors.Is(err, gone) {
			t.Fatalf("after %v: %v", after, err)
		}
		t.Logf("whole batch %v; stopped after %v, %v after being told", whole, after, late)
		if c.SeqLen(0) != 10 || c.SeqLen(1) != 10 {
			t.Fatalf("sequences have %d and %d tokens, want 10", c.SeqLen(0), c.SeqLen(1))
		}
	}

	fresh := newCtx(t, m, backend.ContextParams{Size: 256})
	want := feed(t, fresh, 0, append(start, 5, 6)...)
	sameLogits(t, "after aborts", feed(t, c, 0, 5, 6), want)
	sameLogits(t, "after aborts", feed(t, c, 1, 5, 6), want)

	ctx, cancel := context.WithTimeout(context.Background(), -1)
	defer cancel()
	b.Reset()
	b.Add(0, c.SeqLen(0), 1, true)
	if err := c.Decode(ctx, &b); !errors.Is(err, backend.ErrAborted) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that is over: %v", err)
	}
}

// TestAbortRace cancels around the end of short decodes: a late cancellation
// must not stop the next decode.
func TestAbortRace(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{}), LoadOptions{})
	c := newCtx(t, m, backend.ContextParams{})
	var b backend.Batch
	for i := range 2000 {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Duration(i%200)*time.Microsecond, cancel)
		b.Reset()
		b.AddTokens(0, 0, []int32{1, 2, 3}, true)
		if err := c.Decode(ctx, &b); err != nil && !errors.Is(err, backend.ErrAborted) {
			t.Fatal(err)
		}
		c.SeqRemove(0, 0, -1)
		if err := c.Decode(context.Background(), &b); err != nil {
			t.Fatalf("round %d: a decode nobody stopped: %v", i, err)
		}
		c.SeqRemove(0, 0, -1)
	}
}

// TestSuppressedTokens checks that tokens suppressed by the file are never
// the most likely, using the one that the model would have chosen.
func TestSuppressedTokens(t *testing.T) {
	plain := load(t, randomModel(t, models.RandomOptions{}), LoadOptions{})
	ids := someTokens(plain, 9, 1)
	best := int32(argmax(feed(t, newCtx(t, plain, backend.ContextParams{Threads: 1}), 0, ids...)))

	g, err := vocab.OpenGGUF(plain.Info().Path)
	if err != nil {
		t.Fatal(err)
	}
	w := new(models.Writer)
	w.String("general.architecture", "llama")
	for _, p := range g.Pairs {
		if strings.HasPrefix(p.Key, "tokenizer.") {
			if err := w.Value(p.Key, p.Value); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Int32s("tokenizer.ggml.suppress_tokens", []int32{best})
	words := filepath.Join(t.TempDir(), "vocab.gguf")
	f, err := os.Create(words)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(f, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	m := load(t, randomModel(t, models.RandomOptions{Vocab: words}), LoadOptions{})
	row := feed(t, newCtx(t, m, backend.ContextParams{Threads: 1}), 0, ids...)
	if next := int32(argmax(row)); next == best || !math.IsInf(float64(row[best]), -1) {
		t.Errorf("token %d is chosen, the forbidden %d has the logit %g", next, best, row[best])
	}
}
