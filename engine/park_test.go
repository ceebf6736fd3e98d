package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
)

// The contents of idle slots leave the cells when another prompt comes, and are
// not prefilled again when they are needed, as a whole or in part.
func TestIdlePromptsArePutAside(t *testing.T) {
	alone := newEngine(t, scripted.Random(1), scripted.Options{}, Config{CacheSlots: -1, CheckpointBytes: -1})
	for name, c := range map[string]struct {
		bytes  int64
		cells  int // most cells of idle slots while the third prompt runs
		cached int // cached tokens of the first prompt when it is repeated
	}{
		"kept":      {0, 100/idlePart + spacing, 299},
		"too large": {1000, 1 << 30, 299}, // stays in its slot
		"not asked": {-1, 1 << 30, 299},
	} {
		t.Run(name, func(t *testing.T) {
			idle, third := 0, false
			e := newHooked(t, scripted.Options{}, Config{Parallel: 2, CheckpointBytes: c.bytes},
				hookedContext{batch: func(ctx backend.Context, b *backend.Batch) {
					if !third {
						return
					}
					n := 0
					for seq := range int32(ctx.MaxSeqs()) {
						if !slices.Contains(b.Seqs, seq) {
							n += int(ctx.SeqLen(seq))
						}
					}
					idle = max(idle, n)
				}})
			first := words(1, 300)
			answer(t, e, Request{Prompt: first, MaxTokens: 5})
			answer(t, e, Request{Prompt: words(2, 200), MaxTokens: 5})
			third = true
			answer(t, e, Request{Prompt: words(3, 100), MaxTokens: 5})
			third = false
			if idle > c.cells || c.cells == 1<<30 && idle < 500 {
				t.Errorf("idle slots hold %d tokens", idle)
			}
			for _, prompt := range [][]int32{first, joined(first[:250], words(4, 60))} {
				r, got := answer(t, e, Request{Prompt: prompt, MaxTokens: 5})
				if want := min(c.cached, commonPrefix(first, prompt)); r.CachedTokens != want {
					t.Errorf("%d tokens cached, want %d", r.CachedTokens, want)
				}
				if _, want := answer(t, alone, Request{Prompt: prompt, MaxTokens: 5}); !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			}
		})
	}
}

// A prompt that shares only a prefix with a parked one does not remove the parked
// one.
func TestPutAsideForOthers(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Parallel: 2})
	first := words(1, 400)
	answer(t, e, Request{Prompt: first, MaxTokens: 5})
	answer(t, e, Request{Prompt: words(2, 100), MaxTokens: 5})
	r, _ := answer(t, e, Request{Prompt: joined(first[:100], words(3, 50)), MaxTokens: 5})
	if r.CachedTokens != 100 {
		t.Errorf("%d tokens of what both have are cached", r.CachedTokens)
	}
	if r, _ = answer(t, e, Request{Prompt: first, MaxTokens: 5}); r.CachedTokens != 399 {
		t.Errorf("%d tokens of the first are left", r.CachedTokens)
	}
}

// A conversation that is parked and restored many times takes no more memory than
// once.
func TestPutAsideOnce(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Parallel: 2})
	talk := words(1, 300)
	var after []int64
	for i := range 6 {
		answer(t, e, Request{Prompt: talk, MaxTokens: 5})
		answer(t, e, Request{Prompt: words(uint64(100+i), 40), MaxTokens: 5})
		after = append(after, e.Stats().CheckpointBytes)
		talk = joined(talk, words(uint64(10+i), 10))
	}
	if one := after[0]; one == 0 || slices.Max(after) > 2*one {
		t.Error(fmt.Sprint("bytes kept: ", after))
	}
}
