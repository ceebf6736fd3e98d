package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
)

// TestPromptsByTime checks that a prompt is read in chunks of so much time, whatever the speed of the machine: others that come
// while it is read, and those that generate, are hardly held up, and it takes no more than twice as long as without them.
func TestPromptsByTime(t *testing.T) {
	for name, c := range map[string]struct {
		token, step time.Duration // what a batch takes for each token of a prompt, and besides
		grain       int
		first       time.Duration // most that a short request waits for its first token
		each        time.Duration // most that each further token takes on average
	}{
		"a GPU":                {50 * time.Microsecond, 10 * time.Millisecond, 1, 500 * time.Millisecond, 30 * time.Millisecond},
		"a laptop":             {3 * time.Millisecond, 50 * time.Millisecond, 64, time.Second, 200 * time.Millisecond},
		"a loaded one":         {12 * time.Millisecond, 150 * time.Millisecond, 64, 3 * time.Second, 350 * time.Millisecond},
		"one without blocks":   {12 * time.Millisecond, 150 * time.Millisecond, 1, 2 * time.Second, 350 * time.Millisecond},
		"one at an awful pace": {100 * time.Millisecond, 500 * time.Millisecond, 64, 25 * time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newHooked(t, scripted.Options{Grain: c.grain}, Config{Parallel: 4, Context: backend.ContextParams{Size: 8192, MaxBatch: 2048}},
					hookedContext{batch: func(_ backend.Context, b *backend.Batch) {
						time.Sleep(c.step + time.Duration(len(b.Pos))*c.token)
					}})
				read := func(prompt []int32) time.Duration {
					begun := time.Now()
					answer(t, e, Request{Client: "a", Prompt: prompt, MaxTokens: 1, Sampling: noEnd})
					return time.Since(begun)
				}
				read(words(1, 300)) // the speed is measured
				alone := read(words(2, 4000))
				took := make(chan time.Duration, 1)
				go func() { took <- read(words(3, 4000)) }()
				time.Sleep(10 * time.Millisecond)
				const tokens = 20
				for len(took) == 0 {
					begun := time.Now()
					stream, err := e.Submit(t.Context(), Request{Client: "b", Prompt: words(4, 40), MaxTokens: tokens, Sampling: noEnd, NoReuse: true})
					if err != nil {
						t.Fatal(err)
					}
					if _, err := stream.Next(t.Context()); err != nil {
						t.Fatal(err)
					}
					first := time.Since(begun)
					if _, err := stream.Collect(t.Context()); err != nil {
						t.Fatal(err)
					}
					each := (time.Since(begun) - first) / tokens
					if first > c.first || each > c.each {
						t.Errorf("beside a prompt the first token takes %v, each further one %v", first, each)
					}
				}
				if beside := <-took; beside > 3*alone {
					t.Errorf("a prompt takes %v beside short requests, %v alone", beside, alone)
				}
			})
		})
	}
}
