package scripted

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

// letters is a vocabulary of the lower-case letters and an end token.
func letters(t testing.TB) *vocab.Vocab {
	t.Helper()
	var tokens []vocab.Token
	for c := 'a'; c <= 'z'; c++ {
		tokens = append(tokens, vocab.Token{Text: string(c), Kind: vocab.Normal})
	}
	end := int32(len(tokens))
	tokens = append(tokens, vocab.Token{Text: "</s>", Kind: vocab.Control})
	v, err := vocab.FromTokens(tokens, vocab.Options{EOS: &end})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func open(t testing.TB, m *Model, p backend.ContextParams) *Context {
	t.Helper()
	c, err := m.NewContext(p)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*Context)
}

func feed(t testing.TB, c backend.Context, seq int32, tokens ...int32) []float32 {
	t.Helper()
	var b backend.Batch
	row := b.AddTokens(seq, c.SeqLen(seq), tokens, true)
	if err := c.Decode(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(c.Logits(row))
}

func best(row []float32) int32 {
	b := 0
	for i, x := range row {
		if x > row[b] {
			b = i
		}
	}
	return int32(b)
}

func TestSay(t *testing.T) {
	v := letters(t)
	c := open(t, New(v, Say(v, "abcabd"), Options{}), backend.ContextParams{MaxSeqs: 2})
	write := func(seq int32, prompt string) string {
		row := feed(t, c, seq, v.TokenizeText(nil, []byte(prompt))...)
		var out []int32
		for id := best(row); !v.IsEOG(id); id = best(row) {
			if out = append(out, id); len(out) > 50 {
				t.Fatalf("no end: %s", v.Decode(out))
			}
			row = feed(t, c, seq, id)
		}
		return string(v.Decode(out))
	}
	if got := write(0, "xyz"); got != "abcabd" {
		t.Errorf("wrote %q", got)
	}
	// A prompt whose end is a prefix of the reply is taken for its start.
	if got := write(1, "xyzabcab"); got != "d" {
		t.Errorf("continued with %q", got)
	}
}

func TestRandom(t *testing.T) {
	f := Random(5)
	a, b, other := make([]float32, 4001), make([]float32, 4001), make([]float32, 4001)
	f([]int32{1, 2}, a)
	f([]int32{1, 2}, b)
	f([]int32{1, 3}, other)
	if !slices.Equal(a, b) {
		t.Error("the same history gave different logits")
	}
	var aa, ab, sum float64
	for i := range a {
		sum += float64(a[i])
		aa += float64(a[i]) * float64(a[i])
		ab += float64(a[i]) * float64(other[i])
	}
	n := float64(len(a))
	if mean, std := sum/n, math.Sqrt(aa/n); math.Abs(mean) > 0.3 || math.Abs(std-4) > 0.3 {
		t.Errorf("mean %.2f, standard deviation %.2f", mean, std)
	}
	if r := ab / aa; math.Abs(r) > 0.1 {
		t.Errorf("another history correlates: %.2f", r)
	}
}

// TestSequences checks the operations of the interface; Tokens shows the contents
// of a sequence, Used its cost.
func TestSequences(t *testing.T) {
	m := New(letters(t), Random(1), Options{})
	c := open(t, m, backend.ContextParams{Size: 12, MaxSeqs: 3})
	want := func(used int, seqs ...[]int32) {
		t.Helper()
		for s, tokens := range seqs {
			if !slices.Equal(c.Tokens(int32(s)), tokens) || int(c.SeqLen(int32(s))) != len(tokens) {
				t.Errorf("sequence %d is %v, want %v", s, c.Tokens(int32(s)), tokens)
			}
		}
		if c.Used() != used {
			t.Errorf("%d cells in use, want %d", c.Used(), used)
		}
	}
	feed(t, c, 0, 1, 2, 3, 4)
	c.SeqCopy(0, 1, 0, 3)
	c.SeqCopy(0, 2, 0, -1)
	want(4, []int32{1, 2, 3, 4}, []int32{1, 2, 3}, []int32{1, 2, 3, 4})
	feed(t, c, 1, 9)
	if !c.SeqRemove(0, 2, -1) || c.SeqRemove(2, 0, 2) {
		t.Error("a tail must go, a beginning must stay")
	}
	want(5, []int32{1, 2}, []int32{1, 2, 3, 9}, []int32{1, 2, 3, 4})
	state, err := c.SeqState(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetSeqState(0, state); err != nil {
		t.Fatal(err)
	}
	want(9, []int32{1, 2, 3, 9}, []int32{1, 2, 3, 9}, []int32{1, 2, 3, 4})
	if err := c.SetSeqState(2, state); err != nil { // its own cells are freed first
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, []byte("else"), state[:len(state)-1]} {
		if err := c.SetSeqState(2, bad); !errors.Is(err, backend.ErrState) || c.SeqLen(2) != 0 {
			t.Errorf("%q: %v", bad, err)
		}
	}
	c.SeqKeep(1)
	want(4, nil, []int32{1, 2, 3, 9}, nil)

	feed(t, c, 0, 1, 2, 3, 4, 5, 6, 7)
	var b backend.Batch
	b.AddTokens(2, 0, []int32{1, 2}, true)
	if err := c.Decode(context.Background(), &b); !errors.Is(err, backend.ErrNoSlot) {
		t.Errorf("a full cache: %v", err)
	}
	if err := c.SetSeqState(2, state); !errors.Is(err, backend.ErrNoSlot) {
		t.Errorf("a state into a full cache: %v", err)
	}
	want(11, []int32{1, 2, 3, 4, 5, 6, 7}, []int32{1, 2, 3, 9}, nil)
	b.Reset()
	b.Add(1, 3, 1, true)
	if err := c.Decode(context.Background(), &b); !errors.Is(err, backend.ErrBatch) {
		t.Errorf("a position that is taken: %v", err)
	}
}

// TestRecurrent checks what a model with recurrent state can't do, and that
// states bring it back to earlier positions.
func TestRecurrent(t *testing.T) {
	m := New(letters(t), Random(1), Options{Recurrent: true})
	c := open(t, m, backend.ContextParams{Size: 12, MaxSeqs: 2})
	if c.Rewinds() || !open(t, New(letters(t), Random(1), Options{}), backend.ContextParams{}).Rewinds() {
		t.Error("only models without recurrent state rewind")
	}
	feed(t, c, 0, 1, 2, 3)
	state, err := c.SeqState(0)
	if err != nil {
		t.Fatal(err)
	}
	want := feed(t, c, 0, 4)
	if c.SeqRemove(0, 3, -1) || c.SeqLen(0) != 4 {
		t.Error("a part was removed")
	}
	if c.SeqCopy(0, 1, 0, 3); c.SeqLen(1) != 0 {
		t.Error("a part was copied")
	}
	if c.SeqCopy(0, 1, 0, -1); c.SeqLen(1) != 4 {
		t.Error("the whole was not copied")
	}
	if err := c.SetSeqState(1, state); err != nil || !slices.Equal(feed(t, c, 1, 4), want) {
		t.Errorf("from an earlier state it goes on in another way: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var b backend.Batch
	b.Add(0, 4, 5, true)
	if err := c.Decode(ctx, &b); !errors.Is(err, backend.ErrAborted) || c.SeqLen(0) != 0 || c.SeqLen(1) != 4 {
		t.Errorf("after an abort: %v, %d and %d tokens", err, c.SeqLen(0), c.SeqLen(1))
	}
	if !c.SeqRemove(1, 0, -1) || c.SeqLen(1) != 0 || c.Used() != 0 {
		t.Error("the whole was not removed")
	}
	if key, err := c.StateKey(); err != nil || key == "" {
		t.Errorf("key %q, %v", key, err)
	}
}

func TestStopping(t *testing.T) {
	m := New(letters(t), Random(1), Options{Delay: time.Hour})
	c := open(t, m, backend.ContextParams{})
	var b backend.Batch
	b.Add(0, 0, 1, true)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(10*time.Millisecond, func() { cancel(gone) })
	if err := c.Decode(ctx, &b); !errors.Is(err, backend.ErrAborted) || !errors.Is(err, gone) || c.SeqLen(0) != 0 {
		t.Errorf("%v, %d tokens", err, c.SeqLen(0))
	}
}

func TestFaultAndClose(t *testing.T) {
	fault := errors.New("broken")
	m := New(letters(t), Random(1), Options{Fault: func(n int, b *backend.Batch) error {
		if n == 1 {
			return fault
		}
		return nil
	}})
	c := open(t, m, backend.ContextParams{})
	var b backend.Batch
	for n, want := range []error{nil, fault, nil} {
		b.Reset()
		b.Add(0, c.SeqLen(0), 1, true)
		if err := c.Decode(context.Background(), &b); !errors.Is(err, want) {
			t.Errorf("decode %d: %v", n, err)
		}
	}
	if err := m.Close(); !errors.Is(err, backend.ErrBusy) || m.OpenContexts() != 1 {
		t.Errorf("closing with an open context: %v", err)
	}
	if err := errors.Join(c.Close(), c.Close(), m.Close()); err != nil || m.OpenContexts() != 0 {
		t.Error(err)
	}
	if err := c.Decode(context.Background(), &b); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("decode after close: %v", err)
	}
	if _, err := m.NewContext(backend.ContextParams{}); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("context after close: %v", err)
	}
}
