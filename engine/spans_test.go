package engine

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
)

// TestCutting splits whole prompts and compares the batches.
func TestCutting(t *testing.T) {
	for _, c := range []struct {
		cutting
		from, end, room int
		want            string
	}{
		{cutting{1, 0}, 0, 100, 512, "[{100 written}]"},
		{cutting{64, 0}, 0, 40, 512, "[{40 rest}]"},
		{cutting{64, 0}, 0, 64, 512, "[{64 blocks}]"},
		{cutting{64, 0}, 0, 300, 512, "[{256 blocks} {300 rest}]"},
		{cutting{64, 0}, 0, 300, 150, "[{128 blocks} {256 blocks} {300 rest}]"},
		{cutting{64, 0}, 0, 300, 63, "[{63 piece} {64 rest} {127 piece} {128 rest} {191 piece} {192 rest} {255 piece} {256 rest} {300 rest}]"},
		{cutting{64, 100}, 0, 300, 512, "[{64 blocks} {100 rest} {292 blocks} {300 rest}]"},
		{cutting{64, 100}, 0, 90, 512, "[{64 blocks} {90 rest}]"},
		{cutting{64, 0}, 70, 300, 512, "[{128 rest} {256 blocks} {300 rest}]"},
		{cutting{64, 0}, 70, 90, 512, "[{90 rest}]"},
	} {
		var got history
		for at := c.from; at < c.end; {
			n, kind := c.next(at, c.end, c.room)
			if n < 1 || n > c.room {
				t.Fatalf("%+v: %d tokens at %d", c, n, at)
			}
			at += n
			got = append(got, span{at, kind})
		}
		if s := fmt.Sprint(got); s != c.want {
			t.Errorf("%+v: %s, want %s", c, s, c.want)
		}
	}
}

func (x span) String() string {
	return fmt.Sprintf("{%d %s}", x.end, [...]string{"blocks", "rest", "piece", "written"}[x.kind])
}

// TestUsable checks how much of a slot another prompt can reuse.
func TestUsable(t *testing.T) {
	turn := history{{64, blocks}, {100, rest}, {164, blocks}, {180, rest}, {200, written}, {230, rest}, {240, written}}
	for _, c := range []struct {
		cutting
		h       history
		n, want int
	}{
		{cutting{1, 0}, nil, 77, 77},
		{cutting{64, 0}, nil, 77, 0}, // it is unknown how it was computed
		{cutting{64, 0}, history{{256, blocks}, {300, rest}}, 300, 256},
		{cutting{64, 0}, history{{256, blocks}, {300, rest}}, 255, 192},
		{cutting{64, 0}, history{{256, blocks}, {300, rest}}, 63, 0},
		{cutting{64, 0}, history{{40, rest}, {60, written}}, 39, 0},
		{cutting{64, 0}, history{{40, rest}, {60, written}}, 41, 41},
		{cutting{64, 0}, history{{40, piece}, {60, rest}}, 60, 0},
		{cutting{64, 100}, turn, 99, 64},
		{cutting{64, 100}, turn, 100, 100}, // up to the mark
		{cutting{64, 100}, turn, 120, 100},
		{cutting{64, 100}, turn, 170, 164},
		{cutting{64, 100}, turn, 190, 190},
		{cutting{64, 100}, turn, 210, 200},
		{cutting{64, 100}, turn, 235, 235},
		{cutting{64, 0}, turn, 120, 64}, // this prompt isn't split at 100
		{cutting{64, 0}, turn, 164, 64},
	} {
		if got := c.usable(c.h, c.n); got != c.want {
			t.Errorf("%+v: %d, want %d", c, got, c.want)
		}
	}
	if got := fmt.Sprint(slices.Clone(turn).cut(170)); got != "[{64 blocks} {100 rest} {164 blocks} {170 piece}]" {
		t.Error(got)
	}
	if got := fmt.Sprint(slices.Clone(turn).cut(164)); got != "[{64 blocks} {100 rest} {164 blocks}]" {
		t.Error(got)
	}
}

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
