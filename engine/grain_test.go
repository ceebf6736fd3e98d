package engine

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
)

// TestGrain sends prompts one after another to a context with a grain, and compares
// the batches of their prefill.
func TestGrain(t *testing.T) {
	var batches []string
	e := newHooked(t, scripted.Options{Grain: 64}, Config{Parallel: 2}, hookedContext{batch: func(_ backend.Context, b *backend.Batch) {
		if n := len(b.Pos); n > 1 && b.Seqs[0] == b.Seqs[n-1] {
			batches = append(batches, fmt.Sprintf("%d-%d", b.Pos[0], b.Pos[n-1]+1))
		}
	}})
	long, other := words(1, 300), words(2, 90)
	for _, c := range []struct {
		name   string
		req    Request
		cached int
		want   string
	}{
		{"the first", Request{Prompt: long}, 0, "[0-256 256-300]"},
		{"the same again", Request{Prompt: long}, 300, "[]"},
		{"two choices of it", Request{Prompt: long, Choices: 2}, 300, "[]"},
		{"something between", Request{Prompt: words(5, 100)}, 0, "[0-64 64-100]"},
		{"the first after that", Request{Prompt: long}, 300, "[]"},
		{"a beginning of it", Request{Prompt: long[:200]}, 192, "[192-200]"},
		{"another", Request{Prompt: other}, 0, "[0-64 64-90]"},
		{"the first after its beginning", Request{Prompt: long}, 192, "[192-256 256-300]"},
		{"the same with another end", Request{Prompt: joined(long[:280], other[:9])}, 256, "[256-289]"},
		{"a marked one", Request{Prompt: joined(other[:80], long[:100]), Marks: []int{80}}, 64, "[64-80 80-144 144-180]"},
		{"another after that mark", Request{Prompt: joined(other[:80], long[100:170]), Marks: []int{80}}, 80, "[80-144 144-150]"},
	} {
		batches = []string{}
		c.req.MaxTokens = 3
		r, _ := answer(t, e, c.req)
		if got := fmt.Sprint(batches); got != c.want || r.CachedTokens != c.cached {
			t.Errorf("%s: read in %s with %d tokens cached, want %s with %d", c.name, got, r.CachedTokens, c.want, c.cached)
		}
	}
}

// TestGrainAfterPreemption checks that a prompt whose cells were given up is read again in the same pieces.
func TestGrainAfterPreemption(t *testing.T) {
	const prompt = 100
	var wrong []string
	again := 0
	e := newHooked(t, scripted.Options{Grain: 64, Delay: 200 * time.Microsecond}, Config{Parallel: 2, CacheSlots: -1, Context: backend.ContextParams{Size: 256}}, hookedContext{batch: func(_ backend.Context, b *backend.Batch) {
		for from := 0; from < len(b.Pos); {
			to := from + 1
			for to < len(b.Pos) && b.Seqs[to] == b.Seqs[from] {
				to++
			}
			begin, end := int(b.Pos[from]), int(b.Pos[to-1])+1
			if begin == 0 {
				again++
			}
			if begin < prompt && begin%64 != 0 || begin < prompt && end > prompt {
				wrong = append(wrong, fmt.Sprintf("%d-%d", begin, end))
			}
			from = to
		}
	}})
	var clients sync.WaitGroup
	for i := range uint64(4) {
		clients.Go(func() {
			stream, err := e.Submit(t.Context(), Request{Prompt: words(i, prompt), MaxTokens: 100, Sampling: noEnd})
			if err == nil {
				_, err = stream.Collect(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	clients.Wait()
	if s := e.Stats(); s.Preempted == 0 || again <= 4 {
		t.Fatalf("%d preempted, prompts begun %d times: the test is too easy", s.Preempted, again)
	}
	if len(wrong) > 0 {
		t.Errorf("pieces of prompts: %v", wrong)
	}
}
