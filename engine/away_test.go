package engine

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend/scripted"
)

// A slow constraint delays only its own sequence: the others continue while its mask,
// its completion or its forced text is being computed.
func TestSlowConstraintWaitsAlone(t *testing.T) {
	v := testVocab(t)
	for name, slow := range map[string]func(l *fakeLanguage, wait func()){
		"mask": func(l *fakeLanguage, wait func()) { l.pause = wait },
		"completion": func(l *fakeLanguage, wait func()) {
			shortest := l.shortest
			l.shortest = func(text string) string {
				if text != "" { // at the start the request itself waits
					wait()
				}
				return shortest(text)
			}
		},
		"forced": func(l *fakeLanguage, wait func()) {
			forced := l.forced
			l.forced = func(text string) string { wait(); return forced(text) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, scripted.Random(3), scripted.Options{}, Config{Parallel: 2, CacheSlots: -1})
			began, release := make(chan bool, 1000), make(chan bool)
			language := quoted(v, "", "ab", "x")
			slow(&language, func() { began <- true; <-release })
			stream, err := e.Submit(t.Context(), Request{Prompt: prompt(e, "x"), MaxTokens: 30, Constraint: language, Logprobs: true, Alternatives: 2})
			if err != nil {
				t.Fatal(err)
			}
			<-began
			for i := range 20 {
				req := Request{Prompt: prompt(e, strings.Repeat("y", 1+i)), MaxTokens: 40}
				if i%2 == 1 {
					req.Constraint = quoted(v, "", "ab", "x")
				}
				collect(t, e, req)
			}
			if e.Stats().Active != 1 {
				t.Errorf("%d sequences are active, want the slow one", e.Stats().Active)
			}
			close(release)
			results, err := stream.Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			// The text is the same as without other requests.
			want := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 30, Constraint: quoted(v, "", "ab", "x"), Logprobs: true, Alternatives: 2})[0]
			if results[0].Text != want.Text || want.Text == "" {
				t.Errorf("text %q, want %q", results[0].Text, want.Text)
			}
		})
	}
}

// A sequence that loses its slot while it is away, and then gets one that holds its whole prompt with the logits after it,
// goes on from these.
// A request on which one that is away may wait starts, however many are away, before those that were there earlier, and with a
// full queue.
func TestAside(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Random(3), scripted.Options{}, Config{Parallel: 1, CacheSlots: -1, Queue: 2 + mostAway})
	began, release := make(chan bool, 1000), make(chan bool)
	slow := quoted(v, "", "ab", "x")
	slow.pause = func() { began <- true; <-release }
	var streams []*Stream
	submit := func(req Request) {
		t.Helper()
		stream, err := e.Submit(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, stream)
	}
	for range mostAway {
		submit(Request{Prompt: prompt(e, "x"), MaxTokens: 30, Constraint: slow})
		<-began
	}
	submit(Request{Prompt: prompt(e, "y"), MaxTokens: 30, Client: "other"})
	submit(Request{Prompt: prompt(e, "y"), MaxTokens: 30})
	for range mostAway {
		if stream, err := e.Submit(t.Context(), Request{Prompt: prompt(e, "y"), MaxTokens: 30}); err == nil {
			streams = append(streams, stream)
		}
	}
	if _, err := e.Submit(t.Context(), Request{Prompt: prompt(e, "y"), MaxTokens: 30}); !errors.Is(err, ErrQueueFull) {
		t.Fatalf("the queue isn't full: %v", err)
	}
	for range 3 {
		r := collect(t, e, Request{Prompt: prompt(e, "is it?"), Questions: []Question{{Tokens: v.TokenizeText(nil, []byte("ab"))}}, Aside: true})
		if len(r) != 1 || len(r[0].Scores) == 0 {
			t.Errorf("%+v", r)
		}
	}
	if n := e.Stats().Queued; n != 2+mostAway {
		t.Errorf("%d wait", n)
	}
	close(release)
	for _, s := range streams {
		if _, err := s.Collect(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestSlotLostAndFoundWhole(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Random(3), scripted.Options{Grain: 16}, Config{Parallel: 1, CacheSlots: -1})
	same := prompt(e, "x")
	began, release := make(chan bool, 1000), make(chan bool)
	language := quoted(v, "", "ab", "x")
	language.forced = func(string) string { began <- true; <-release; return "" }
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stream, err := e.Submit(ctx, Request{Prompt: same, MaxTokens: 30, Constraint: language})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	collect(t, e, Request{Prompt: same, MaxTokens: 1})
	close(release)
	results, err := stream.Collect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	language.forced = func(string) string { return "" }
	want := collect(t, e, Request{Prompt: same, MaxTokens: 30, Constraint: language})[0]
	if results[0].Text != want.Text || want.Text == "" {
		t.Errorf("text %q, want %q", results[0].Text, want.Text)
	}
}

// A sequence that is away ends when its client hangs up, once its step has returned,
// and so do the other choices of its job.
func TestHangUpWhileAway(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Random(3), scripted.Options{}, Config{Parallel: 2, CacheSlots: -1})
	began, release := make(chan bool, 1000), make(chan bool)
	language := quoted(v, "", "ab", "x")
	language.pause = func() { began <- true; <-release }
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := e.Submit(ctx, Request{Prompt: prompt(e, "x"), MaxTokens: 30, Constraint: language, Choices: 2})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	cancel()
	collect(t, e, Request{Prompt: prompt(e, "y"), MaxTokens: 10})
	close(release)
	if _, err := stream.Collect(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	collect(t, e, Request{Prompt: prompt(e, "y"), MaxTokens: 10, Choices: 2})
	if s := e.Stats(); s.Active+s.Waiting+s.Queued != 0 {
		t.Errorf("afterwards: %+v", s)
	}
}

// TestSlowNowAndThen checks that texts don't depend on how long the steps of constraints take: whichever goroutine becomes the
// loop, they are those of a constraint without pauses.
func TestSlowNowAndThen(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Random(3), scripted.Options{}, Config{Parallel: 3, CacheSlots: -1})
	prompts := []string{"x", "y", "xy", "yx", "xx", "yy"}
	request := func(i int, language fakeLanguage) Request {
		req := Request{Prompt: prompt(e, prompts[i]), MaxTokens: 30, Constraint: language}
		if i%3 == 2 {
			req.Constraint = nil
		}
		return req
	}
	var want []string
	for i := range prompts {
		want = append(want, collect(t, e, request(i, quoted(v, "", "ab", "x")))[0].Text)
	}
	var steps atomic.Int64
	slow := quoted(v, "", "ab", "x")
	slow.pause = func() {
		if n := steps.Add(1); n%5 == 0 {
			for range n % 4 * 20000 { // some milliseconds
				runtime.Gosched()
			}
		}
	}
	for range 3 {
		var clients sync.WaitGroup
		for i := range prompts {
			clients.Go(func() {
				language := slow
				if i == 1 {
					language = quoted(v, "", "ab", "x")
				}
				if got := collect(t, e, request(i, language))[0].Text; got != want[i] {
					t.Errorf("%q: %q, want %q", prompts[i], got, want[i])
				}
			})
		}
		clients.Wait()
	}
	if s := e.Stats(); s.Active+s.Waiting+s.Queued != 0 {
		t.Errorf("afterwards: %+v", s)
	}
}
