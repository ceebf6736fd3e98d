package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
)

// TestGrow checks that a context whose cells are allocated as needed can be
// filled to its size, by one sequence or by several, and that the texts equal
// those of a context with all cells from the start.
func TestGrow(t *testing.T) {
	texts := func(cells int) []string {
		e := newEngine(t, scripted.Random(7), scripted.Options{ContextLength: 1024, Cells: cells},
			Config{Parallel: 3, CacheSlots: 2, Context: backend.ContextParams{Size: 1024, MaxBatch: 64}})
		var out []string
		run := func(sizes ...int) {
			var streams []*Stream
			for i, size := range sizes {
				s, err := e.Submit(context.Background(), Request{Prompt: prompt(e, strings.Repeat(string(rune('a'+i)), size)), MaxTokens: 40})
				if err != nil {
					t.Fatal(err)
				}
				streams = append(streams, s)
			}
			for i, s := range streams {
				results, err := s.Collect(context.Background())
				if err != nil {
					t.Fatalf("%d tokens: %v", sizes[i], err)
				}
				out = append(out, results[0].Text)
			}
		}
		run(30)
		run(100, 200, 300) // together they need more than is allocated
		run(30)
		run(1024 - 40) // all cells, in batches larger than what is allocated
		return out
	}
	want := texts(0)
	for _, cells := range []int{8, 64, 200} {
		for i, got := range texts(cells) {
			if got != want[i] {
				t.Errorf("%d cells at first: text %d is %q, want %q", cells, i, got, want[i])
			}
		}
	}
}
