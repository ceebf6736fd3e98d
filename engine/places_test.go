package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine/promptcache"
)

// reread writes a state to a file and reads it back.
func reread(t *testing.T, s promptcache.State) promptcache.State {
	t.Helper()
	var file bytes.Buffer
	if n, err := s.WriteTo(&file); err != nil || n != s.Size() || n != int64(file.Len()) {
		t.Fatalf("%d of %d bytes: %v", n, s.Size(), err)
	}
	out, err := promptcache.ReadState(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return *out
}

// The state at a place is restored from a file, also in another engine with the same model, and
// is dropped when it is erased.
func TestPlaces(t *testing.T) {
	for name, opt := range map[string]scripted.Options{"": {}, "recurrent": {Recurrent: true}, "grain": {Grain: 16}} {
		t.Run(name, func(t *testing.T) {
			ctx, one := t.Context(), 1
			e := newEngine(t, scripted.Random(1), opt, Config{Parallel: 2, CheckpointBytes: 1 << 20})
			first := words(1, 300)
			r, want := answer(t, e, Request{Prompt: first, MaxTokens: 5, Place: &one})
			if r.Place != 1 || e.Places()[1].Tokens < 300 || e.Places()[1].Busy {
				t.Fatalf("%+v, %+v", r, e.Places())
			}
			// Other requests use the other place.
			for i := range uint64(6) {
				if r, _ := answer(t, e, Request{Prompt: words(10+i, 400), MaxTokens: 5, Place: new(int)}); r.Place != 0 {
					t.Errorf("at %d", r.Place)
				}
			}
			saved, err := e.Save(ctx, 1)
			// A model that can't rewind may have only its last checkpoint.
			if n := commonPrefix(saved.Tokens, first); err != nil || n < 299 || n < 300 && !opt.Recurrent {
				t.Fatalf("%d tokens, %v", len(saved.Tokens), err)
			}
			if n, err := e.Erase(ctx, 1); err != nil || n < len(saved.Tokens) || e.Places()[1].Tokens != 0 {
				t.Errorf("%d erased, %v", n, err)
			}
			if r, got := answer(t, e, Request{Prompt: first, MaxTokens: 5, Place: &one}); r.CachedTokens != 0 || !slices.Equal(got, want) {
				t.Errorf("%d tokens known after they were erased", r.CachedTokens)
			}
			if empty, err := newEngine(t, scripted.Random(1), opt, Config{}).Save(ctx, 0); err != nil || len(empty.Tokens) != 0 {
				t.Errorf("%d tokens of nothing, %v", len(empty.Tokens), err)
			}
			other := newEngine(t, scripted.Random(1), opt, Config{Parallel: 2, CheckpointBytes: 1 << 20})
			if err := other.Restore(ctx, 0, "", reread(t, saved)); err != nil || other.Places()[0].Tokens != len(saved.Tokens) {
				t.Fatal(err)
			}
			longer := joined(saved.Tokens, words(2, 30))
			_, fresh := answer(t, newEngine(t, scripted.Random(1), opt, Config{}), Request{Prompt: longer, MaxTokens: 5})
			r, got := answer(t, other, Request{Prompt: longer, MaxTokens: 5})
			if r.CachedTokens != len(saved.Tokens) || r.Place != 0 || !slices.Equal(got, fresh) {
				t.Errorf("%d of %d tokens known, at %d", r.CachedTokens, len(saved.Tokens), r.Place)
			}
		})
	}
}

// Invalid states are rejected, and nothing is saved while a sequence generates.
func TestPlacesRefused(t *testing.T) {
	ctx := t.Context()
	e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Parallel: 2})
	answer(t, e, Request{Prompt: words(1, 100), MaxTokens: 5})
	saved, err := e.Save(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	var place *PlaceError
	if _, err := e.Save(ctx, 2); !errors.As(err, &place) || place.Places != 2 {
		t.Errorf("%v", err)
	}
	if _, err := e.Erase(ctx, -1); !errors.As(err, &place) {
		t.Errorf("%v", err)
	}
	other := newEngine(t, scripted.Random(1), scripted.Options{StateKey: "another model"}, Config{})
	if err := other.Restore(ctx, 0, "", reread(t, saved)); !errors.Is(err, backend.ErrState) {
		t.Errorf("%v", err)
	}
	damaged := saved
	damaged.Bytes = damaged.Bytes[:len(damaged.Bytes)-4]
	if err := e.Restore(ctx, 1, "", damaged); !errors.Is(err, backend.ErrState) || e.Places()[1].Tokens != 0 {
		t.Errorf("%v", err)
	}
	small := newEngine(t, scripted.Random(1), scripted.Options{ContextLength: 64}, Config{})
	var long *ContextError
	if err := small.Restore(ctx, 0, "", saved); !errors.As(err, &long) {
		t.Errorf("%v", err)
	}

	// Save waits for a generating sequence until its context ends.
	begun, goOn := make(chan struct{}), make(chan struct{})
	first := true
	slow := newHooked(t, scripted.Options{}, Config{Parallel: 1}, hookedContext{batch: func(backend.Context, *backend.Batch) {
		if first {
			first = false
			close(begun)
			<-goOn
		}
	}})
	stream, err := slow.Submit(ctx, Request{Prompt: words(1, 50), MaxTokens: 3})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if !slow.Places()[0].Busy {
		t.Error("nobody is there")
	}
	soon, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := slow.Save(soon, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	result := make(chan error)
	go func() {
		saved, err := slow.Save(ctx, 0)
		if len(saved.Tokens) < 50 {
			err = errors.Join(err, errors.New("less than the prompt was saved"))
		}
		result <- err
	}()
	close(goOn)
	if err := <-result; err != nil {
		t.Error(err)
	}
	if _, err := stream.Collect(ctx); err != nil {
		t.Error(err)
	}
	slow.Close()
	if _, err := slow.Save(ctx, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

// Requests without a place get the one with most of their prompt, or else the least recently
// used.
func TestPlacesChosen(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Parallel: 3})
	prompts := [][]int32{words(1, 50), words(2, 50), words(3, 50)}
	for i, p := range prompts {
		if r, _ := answer(t, e, Request{Prompt: p, MaxTokens: 3}); r.Place != i {
			t.Errorf("%d at %d", i, r.Place)
		}
	}
	if r, _ := answer(t, e, Request{Prompt: joined(prompts[1], words(4, 20)), MaxTokens: 3}); r.Place != 1 {
		t.Errorf("goes on at %d", r.Place)
	}
	if r, _ := answer(t, e, Request{Prompt: words(5, 50), MaxTokens: 3}); r.Place != 0 {
		t.Errorf("a new one at %d", r.Place)
	}
	seven := 7
	if r, _ := answer(t, e, Request{Prompt: words(6, 50), MaxTokens: 3, Place: &seven}); r.Place != 1 {
		t.Errorf("7 of 3 is %d", r.Place)
	}
	all := collect(t, e, Request{Prompt: words(7, 50), MaxTokens: 3, Choices: 3})
	var at []int
	for _, r := range all {
		at = append(at, r.Place)
	}
	if slices.Sort(at); !slices.Equal(at, []int{0, 1, 2}) {
		t.Errorf("choices at %v", at)
	}
}
