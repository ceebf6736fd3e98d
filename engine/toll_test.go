package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/meter"
)

// A fakePace wants a rest after each millisecond of work until it is open.
type fakePace struct {
	mu     sync.Mutex
	worked time.Duration
	asked  chan struct{}
	open   bool
}

func (p *fakePace) Rest(worked time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.worked += worked; p.open || p.worked < time.Millisecond {
		return 0
	}
	select {
	case p.asked <- struct{}{}:
	default:
	}
	return time.Millisecond
}

func (p *fakePace) Rested(time.Duration) {}

// A sequence that has to rest because its steps take long rests alone, and goes on afterwards.
func TestSequenceRestsAlone(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Random(3), scripted.Options{}, Config{Parallel: 2, CacheSlots: -1})
	language := quoted(v, "", "ab", "x")
	language.pause = func() {
		for range 2_000_000 { // about a millisecond
		}
	}
	pace := &fakePace{asked: make(chan struct{}, 1)}
	stream, err := e.Submit(meter.WithPace(t.Context(), pace), Request{Prompt: prompt(e, "x"), MaxTokens: 30, Constraint: language})
	if err != nil {
		t.Fatal(err)
	}
	<-pace.asked // from now on it rests
	for range 20 {
		collect(t, e, Request{Prompt: prompt(e, "y"), MaxTokens: 40, Constraint: quoted(v, "", "ab", "x")})
	}
	if e.Stats().Active != 1 {
		t.Errorf("%d sequences are active, want the one that rests", e.Stats().Active)
	}
	pace.mu.Lock()
	pace.open = true
	pace.mu.Unlock()
	results, err := stream.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 30, Constraint: quoted(v, "", "ab", "x")})[0]
	if results[0].Text != want.Text || want.Text == "" {
		t.Errorf("text %q, want %q", results[0].Text, want.Text)
	}
}

// Work that a matcher tells the pace of itself, and its rests, are not counted again with the step.
func TestTollCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := &fakePace{open: true}
		toll := newToll(meter.WithPace(t.Context(), pace))
		toll.begin(nil, 0)
		toll.Rest(time.Hour)
		toll.end()
		toll.pay()
		if pace.worked != time.Hour {
			t.Errorf("the pace was told of %v", pace.worked)
		}
		toll.begin(nil, 0)
		time.Sleep(3 * time.Millisecond)
		toll.end()
		if toll.pay(); pace.worked != time.Hour+3*time.Millisecond-shortStep {
			t.Errorf("the pace was told of %v after a step of 3 ms", pace.worked-time.Hour)
		}
		w := new(watch)
		w.step.Store(1)
		pace.open = false
		if toll.begin(w, 1); toll.Rest(time.Second) != 0 || !toll.wanted() {
			t.Error("the loop rests")
		}
		if w.step.Store(2); toll.Rest(time.Second) == 0 {
			t.Error("the step does not rest once it is not the loop's any more")
		}
		if newToll(t.Context()) != nil || newToll(t.Context()).context(context.Background()) != context.Background() {
			t.Error("there is a toll without a pace")
		}
	})
}
