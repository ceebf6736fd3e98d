package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func tokensFrom(from int32, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = from + int32(i)
	}
	return out
}

func TestCheckpoints(t *testing.T) {
	c := newCheckpoints(3*(100+4*100), false)
	tokens := tokensFrom(0, 1000)
	state := make([]byte, 100)
	if c.reach(run{tokens: tokens}) != 0 || !c.wants(run{tokens: tokens[:spacing]}) || c.wants(run{tokens: tokens[:spacing-1]}) {
		t.Error("an empty store is wrong")
	}
	for range 2 { // the second time it is stored already
		if !c.put(contents{run: run{tokens: tokens[:100]}}, state) || c.size != 500 {
			t.Errorf("%d bytes", c.size)
		}
	}
	for n, want := range map[int]int{99: 0, 100: 100, 101: 100, 1000: 100} {
		if got := c.reach(run{tokens: tokens[:n]}); got != want {
			t.Errorf("%d tokens: reach %d, want %d", n, got, want)
		}
	}
	if c.reach(run{tokens: tokens[1:]}) != 0 || c.wants(run{tokens: tokens[:100+spacing-1]}) || !c.wants(run{tokens: tokens[:100+spacing]}) {
		t.Error("prefixes are mistaken for others")
	}
	// The least recently used is evicted.
	a, b, d := tokensFrom(2000, 100), tokensFrom(3000, 100), tokensFrom(4000, 100)
	c.put(contents{run: run{tokens: a}}, state)
	c.put(contents{run: run{tokens: b}}, state)
	c.reach(run{tokens: tokens})
	c.put(contents{run: run{tokens: d}}, state)
	if c.reach(run{tokens: tokens}) == 0 || c.reach(run{tokens: a}) != 0 || c.reach(run{tokens: b}) == 0 || c.reach(run{tokens: d}) == 0 || c.bytes() != c.limit {
		t.Errorf("after eviction %d bytes of %d", c.bytes(), c.limit)
	}
	// A state larger than the limit is rejected, and longer ones are no longer
	// wanted.
	if c.put(contents{run: run{tokens: tokens[:500]}}, state) || c.reach(run{tokens: tokens}) != 100 || c.wants(run{tokens: tokens[:500]}) || !c.wants(run{tokens: tokens[:499]}) {
		t.Error("a state that is too large")
	}
	x, _ := c.longest(run{tokens: tokens})
	c.forget(x)
	c.forget(x)
	if c.reach(run{tokens: tokens}) != 0 || c.bytes() != 2*500 {
		t.Errorf("after forgetting %d bytes", c.bytes())
	}
	var none *checkpoints
	if none.reach(run{tokens: tokens}) != 0 || none.wants(run{tokens: tokens}) || none.bytes() != 0 {
		t.Error("nil keeps something")
	}
}

// Compared with a plain list: longest finds the longest stored prefix of the same owner.
func TestCheckpointsAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := newCheckpoints(5000, false)
	random := func() []int32 {
		out := make([]int32, 1+rng.IntN(30))
		for i := range out {
			out[i] = rng.Int32N(2)
		}
		return out
	}
	for range 5000 {
		tokens, owner := random(), []string{"", "a", "b"}[rng.IntN(3)]
		want := 0
		for el := c.recent.Front(); el != nil; el = el.Next() {
			if x := el.Value.(*checkpoint); x.owner == owner && len(x.tokens) <= len(tokens) && slices.Equal(x.tokens, tokens[:len(x.tokens)]) {
				want = max(want, len(x.tokens))
			}
		}
		if got := c.reach(run{owner, tokens}); got != want {
			t.Fatalf("%v: %d, want %d", tokens, got, want)
		}
		c.put(contents{run: run{owner, tokens}}, make([]byte, rng.IntN(300)))
		if c.size > c.limit || c.recent.Len() != len(c.index) {
			t.Fatalf("%d bytes of %d, %d and %d entries", c.size, c.limit, c.recent.Len(), len(c.index))
		}
	}
}

// For models that can rewind, any prefix of a checkpoint is usable, and a
// checkpoint replaces those that it includes.
func TestCheckpointsInPart(t *testing.T) {
	c := newCheckpoints(10_000, true)
	tokens, state := tokensFrom(0, 1000), make([]byte, 100)
	c.put(contents{run: run{tokens: tokens[:300]}}, state)
	for n, want := range map[int]int{1: 1, 299: 299, 300: 300, 1000: 300} {
		if got := c.reach(run{tokens: tokens[:n]}); got != want {
			t.Errorf("%d tokens: reach %d, want %d", n, got, want)
		}
	}
	other := append(slices.Clone(tokens[:200]), tokensFrom(5000, 50)...)
	if x, n := c.longest(run{tokens: other}); n != 200 || len(x.tokens) != 300 {
		t.Errorf("%d tokens in common", n)
	}
	c.put(contents{run: run{tokens: tokens[:400]}}, state)
	if c.recent.Len() != 1 || len(c.index) != 1 || c.reach(run{tokens: tokens}) != 400 || c.bytes() != 100+4*400 {
		t.Errorf("%d checkpoints of %d bytes", c.recent.Len(), c.bytes())
	}
	c.put(contents{run: run{tokens: other}}, state)
	if c.recent.Len() != 2 || c.reach(run{tokens: other}) != len(other) || c.reach(run{tokens: tokens}) != 400 {
		t.Error("a text that only begins alike has taken the place of another")
	}
}
