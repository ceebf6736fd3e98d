package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

// TestApart checks that a client's prompts reuse nothing of another's, wherever it is in memory.
func TestApart(t *testing.T) {
	for name, c := range map[string]struct {
		opt scripted.Options
		cfg Config
	}{
		"slots":     {cfg: Config{CheckpointBytes: -1}},
		"parked":    {cfg: Config{Parallel: 1, CacheSlots: -1}},
		"grain":     {opt: scripted.Options{Grain: 16}, cfg: Config{Parallel: 2}},
		"recurrent": {opt: scripted.Options{Recurrent: true}, cfg: Config{Parallel: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			cfg := c.cfg
			cfg.Apart = true
			e := newEngine(t, scripted.Random(1), c.opt, cfg)
			sent := map[string][][]int32{} // prompts and answers, by client
			reused, kept := 0, 0           // tokens that a client had sent, and of those, reused
			for range 60 {
				// Prompts of a few beginnings and turns, so that clients often send the same.
				prompt := words(uint64(rnd.IntN(2)), 300)
				for range rnd.IntN(3) {
					prompt = joined(prompt, words(uint64(10+rnd.IntN(2)), 100))
				}
				client := []string{"ann", "bob"}[rnd.IntN(2)]
				r, answered := answer(t, e, Request{Client: client, Prompt: prompt, MaxTokens: 3, Marks: []int{300, 400}})
				own := 0
				for _, before := range sent[client] {
					own = max(own, commonPrefix(before, prompt))
				}
				if r.CachedTokens > own {
					t.Fatalf("%s: %d tokens of %d are reused, %d are the client's own", client, r.CachedTokens, len(prompt), own)
				}
				reused, kept = reused+own, kept+r.CachedTokens
				sent[client] = append(sent[client], joined(prompt, answered))
			}
			if kept < reused/2 {
				t.Errorf("%d tokens reused of %d that the same client had sent", kept, reused)
			}
		})
	}
}

// TestApartOnDisk checks the same for what is read from disk.
func TestApartOnDisk(t *testing.T) {
	both(t, func(t *testing.T, opt scripted.Options) {
		for _, apart := range []bool{true, false} {
			dir, prompt := t.TempDir(), words(1, 600)
			e := begin(t, dir, opt, Config{Apart: apart})
			answer(t, e.Engine, Request{Client: "ann", Prompt: prompt, MaxTokens: 3})
			e.end(t)
			e = begin(t, dir, opt, Config{Apart: apart})
			want := map[bool]int{true: 0, false: 599}[apart]
			if r, _ := answer(t, e.Engine, Request{Client: "bob", Prompt: prompt, MaxTokens: 3}); r.CachedTokens != want {
				t.Errorf("apart %v: %d tokens are reused, want %d", apart, r.CachedTokens, want)
			}
			if r, _ := answer(t, e.Engine, Request{Client: "ann", Prompt: prompt, MaxTokens: 3}); r.CachedTokens != 599 || e.Stats().StoredTokens == 0 {
				t.Errorf("apart %v: %d tokens of one's own are reused", apart, r.CachedTokens)
			}
			e.end(t)
		}
	})
}

// TestApartAtOnce checks the same for requests that run at the same time, and for saved places.
func TestApartAtOnce(t *testing.T) {
	for _, apart := range []bool{true, false} {
		e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Parallel: 4, Apart: apart})
		prompt := words(1, 300)
		ann, err := e.Submit(t.Context(), Request{Client: "ann", Prompt: prompt, MaxTokens: 400, Sampling: noEnd})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ann.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[bool]int{true: 0, false: 299}[apart]
		if r, _ := answer(t, e, Request{Client: "bob", Prompt: prompt, MaxTokens: 3}); r.CachedTokens != want {
			t.Errorf("apart %v: %d tokens are reused, want %d", apart, r.CachedTokens, want)
		}
		ann.Close()
	}
	e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Parallel: 2, Apart: true})
	first, place := words(1, 300), 1
	answer(t, e, Request{Client: "ann", Prompt: first, MaxTokens: 3, Place: &place})
	saved, err := e.Save(t.Context(), place)
	if err != nil || len(saved.Tokens) < 299 {
		t.Fatalf("%d tokens are saved: %v", len(saved.Tokens), err)
	}
	if n, err := e.Erase(t.Context(), place); err != nil || n < 299 {
		t.Fatalf("%d tokens are erased: %v", n, err)
	}
	if err := e.Restore(t.Context(), place, "ann", saved); err != nil {
		t.Fatal(err)
	}
	if r, _ := answer(t, e, Request{Client: "bob", Prompt: first, MaxTokens: 3}); r.CachedTokens != 0 {
		t.Errorf("%d tokens that another client restored are reused", r.CachedTokens)
	}
	if r, _ := answer(t, e, Request{Client: "ann", Prompt: first, MaxTokens: 3}); r.CachedTokens < 299 {
		t.Errorf("%d tokens that were restored are reused", r.CachedTokens)
	}
}
