package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
)

// Requests with different scales of adapters never share a batch, nor reuse prompts computed
// with other scales.
func TestAdapters(t *testing.T) {
	v := testVocab(t)
	now := float32(1) // the scale in force
	var batches []float32
	refuse := errors.New("no such scale")
	e := newEngine(t, scripted.Say(v, "one two three"), scripted.Options{
		Adapters: []backend.Adapter{{Path: "a.gguf", Scale: 1}},
		Adapt: func(scales []float32) error {
			if scales[0] > 8 {
				return refuse
			}
			now = scales[0]
			return nil
		},
		Fault: func(_ int, b *backend.Batch) error {
			for range b.Len() {
				batches = append(batches, now)
			}
			return nil
		},
	}, Config{Parallel: 4, CheckpointBytes: 1 << 20})
	text := prompt(e, "a prompt that is known")
	ask := func(scales ...float32) *Result {
		t.Helper()
		return collect(t, e, Request{Prompt: text, MaxTokens: 20, Adapters: scales})[0]
	}
	for i, test := range []struct {
		scale  []float32
		cached bool
	}{{nil, false}, {nil, true}, {[]float32{1}, true}, {[]float32{0.5}, false}, {[]float32{0.5}, true}, {nil, false}, {[]float32{0}, false}} {
		batches = nil
		r := ask(test.scale...)
		want := append(test.scale, 1)[0]
		if r.Text != "one two three" || (r.CachedTokens > 0) != test.cached || slices.ContainsFunc(batches, func(s float32) bool { return s != want }) {
			t.Errorf("%d: %+v, %v", i, r, batches)
		}
	}
	// Requests that set no scales have the engine's.
	e.Adapt([]float32{0.25})
	batches = nil
	if ask(); slices.ContainsFunc(batches, func(s float32) bool { return s != 0.25 }) || e.Adapters()[0].Scale != 0.25 {
		t.Errorf("%v %v", batches, e.Adapters())
	}
	e.Adapt([]float32{1})
	// Concurrently, each batch has requests of one kind only.
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			stream, err := e.Submit(ctx, Request{Prompt: text, MaxTokens: 20, Choices: 2, Adapters: [][]float32{nil, {0}, {0.5}}[i%3]})
			if err != nil {
				t.Error(err)
				return
			}
			if list, err := stream.Collect(ctx); err != nil || len(list) != 2 || list[1].Text != "one two three" {
				t.Errorf("%v %v", list, err)
			}
		})
	}
	all.Wait()
	stream, err := e.Submit(t.Context(), Request{Prompt: text, MaxTokens: 20, Adapters: []float32{9}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Collect(t.Context()); !errors.Is(err, refuse) {
		t.Errorf("%v", err)
	}
	if _, err := e.Submit(t.Context(), Request{Prompt: text, Adapters: []float32{1, 2}}); err == nil {
		t.Error("two scales for one adapter")
	}
	if r := ask(); r.Text != "one two three" {
		t.Errorf("%+v", r)
	}
}
