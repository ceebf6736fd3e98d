package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/internal/poll"
)

// noEnd keeps free text going until its budget is used up.
var noEnd = sampling.Options{Temperature: 1, LogitBias: []sampling.Bias{{Token: 2, Add: -100}}}

// recorder records every batch.
type recorder struct {
	mu      sync.Mutex
	batches []backend.Batch
}

func (r *recorder) record(_ int, b *backend.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, backend.Batch{Tokens: slices.Clone(b.Tokens), Pos: slices.Clone(b.Pos), Seqs: slices.Clone(b.Seqs)})
	return nil
}

func (r *recorder) all() []backend.Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.batches)
}

// A text does not depend on other running requests: scripted logits depend on
// the sequence alone, so any difference is the scheduler's fault.
func TestBatchedEqualsAlone(t *testing.T) {
	v := testVocab(t)
	request := func(i int) Request {
		req := Request{
			Prompt: v.Encode(strings.Repeat("one two ", i%7) + fmt.Sprint(i)), MaxTokens: 5 + i%20,
			Sampling: sampling.Options{Temperature: 1, Seed: uint64(i)},
		}
		if i%3 == 0 {
			req.Constraint = quoted(v, `{"name":"`, "abcde", `"}`)
			req.MaxTokens += 15
		}
		return req
	}
	const n = 60
	var want []string
	alone := newEngine(t, scripted.Random(4), scripted.Options{}, Config{Parallel: 1})
	for i := range n {
		want = append(want, collect(t, alone, request(i))[0].Text)
	}
	for name, cfg := range map[string]Config{
		"roomy":         {Parallel: 8, Queue: n},
		"small batches": {Parallel: 8, Queue: n, PrefillChunk: 3, Context: backend.ContextParams{MaxBatch: 5}},
		"full cache":    {Parallel: 8, Queue: n, Context: backend.ContextParams{Size: 90}},
		"no cache":      {Parallel: 3, CacheSlots: 1, Queue: n},
	} {
		t.Run(name, func(t *testing.T) {
			// Steps take a while, so that requests overlap on one processor too.
			e := newEngine(t, scripted.Random(4), scripted.Options{Delay: 200 * time.Microsecond}, cfg)
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					stream, err := e.Submit(t.Context(), request(i))
					if err != nil {
						t.Error(err)
						return
					}
					results, err := stream.Collect(t.Context())
					if err != nil {
						t.Errorf("request %d: %v", i, err)
						return
					}
					if results[0].Text != want[i] {
						t.Errorf("request %d: %q, alone %q", i, results[0].Text, want[i])
					}
				})
			}
			wg.Wait()
			s := e.Stats()
			if name == "full cache" && s.Preempted == 0 {
				t.Error("nothing was preempted: the test is too easy")
			}
			if s.Active != 0 || s.Waiting != 0 || s.Queued != 0 || s.Requests != n {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

// Requests join the running batch; they don't wait for its end.
func TestContinuousBatching(t *testing.T) {
	var rec recorder
	e := newEngine(t, scripted.Random(1), scripted.Options{Delay: time.Millisecond, Fault: rec.record}, Config{})
	long, err := e.Submit(t.Context(), Request{Prompt: []int32{1, 5}, MaxTokens: 300, Sampling: noEnd})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	collect(t, e, Request{Prompt: []int32{1, 6}, MaxTokens: 5, Sampling: noEnd})
	if s := e.Stats(); s.Active != 1 {
		t.Errorf("the long request ended before the short one: %+v", s)
	}
	long.Close()
	together := 0
	for _, b := range rec.all() {
		if slices.Contains(b.Seqs, 0) && slices.Contains(b.Seqs, 1) {
			together++
		}
	}
	if together != 5 {
		t.Errorf("%d batches with both, want 5", together)
	}
}

// A long prompt is computed in chunks, between which others generate.
func TestChunkedPrefill(t *testing.T) {
	var rec recorder
	e := newEngine(t, scripted.Random(1), scripted.Options{Delay: time.Millisecond, Fault: rec.record},
		Config{PrefillChunk: 50, Context: backend.ContextParams{MaxBatch: 200}})
	runner, err := e.Submit(t.Context(), Request{Prompt: []int32{1, 5}, MaxTokens: 100, Sampling: noEnd})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	long := make([]int32, 600)
	for i := range long {
		long[i] = int32(3 + i%200)
	}
	collect(t, e, Request{Prompt: long, MaxTokens: 1, Sampling: noEnd})
	runner.Close()
	chunks := 0
	for _, b := range rec.all() {
		prefill, generate := 0, 0
		for _, s := range b.Seqs {
			if s == 0 {
				generate++
			} else {
				prefill++
			}
		}
		if prefill == 0 {
			continue
		}
		chunks++
		if prefill > 50 || generate != 1 {
			t.Errorf("a batch of %d prompt tokens and %d generated ones", prefill, generate)
		}
	}
	if chunks != 12 {
		t.Errorf("%d pieces, want 12", chunks)
	}
}

func TestPrefixReuse(t *testing.T) {
	v := testVocab(t)
	var rec recorder
	e := newEngine(t, scripted.Random(1), scripted.Options{Fault: rec.record}, Config{Parallel: 2, CacheSlots: 2})
	system := v.Encode(strings.Repeat("one two three ", 20))
	ask := func(question string) *Result {
		return collect(t, e, Request{Prompt: append(slices.Clone(system), v.TokenizeText(nil, []byte(question))...), MaxTokens: 4, Sampling: noEnd})[0]
	}
	if r := ask("a b"); r.CachedTokens != 0 {
		t.Errorf("first question: %d tokens cached", r.CachedTokens)
	}
	if r := ask("a c"); r.CachedTokens < len(system) {
		t.Errorf("second question: %d tokens cached, want at least %d", r.CachedTokens, len(system))
	}
	if r := ask("a b"); r.CachedTokens != r.PromptTokens-1 {
		t.Errorf("first question again: %d of %d tokens cached", r.CachedTokens, r.PromptTokens)
	}
	// Fill the other slots; the shared prefix was used last and survives.
	for _, p := range []string{"x", "n", "m"} {
		collect(t, e, Request{Prompt: v.Encode(strings.Repeat(p, 30)), MaxTokens: 2, Sampling: noEnd})
		ask("d")
	}
	if r := ask("e"); r.CachedTokens < len(system) {
		t.Errorf("after other prompts: %d tokens cached", r.CachedTokens)
	}
	for _, b := range rec.all() {
		if n := b.Len(); n > len(system)+10 {
			t.Errorf("a batch of %d", n)
		}
	}
}

// The prompt of a request for several texts is computed once.
func TestChoices(t *testing.T) {
	v := testVocab(t)
	var rec recorder
	e := newEngine(t, scripted.Random(1), scripted.Options{Fault: rec.record}, Config{Parallel: 3})
	p := v.Encode(strings.Repeat("one two three ", 30))
	opt := noEnd
	opt.Seed = 100
	results := collect(t, e, Request{Prompt: p, MaxTokens: 6, Choices: 5, Sampling: opt})
	if len(results) != 5 {
		t.Fatalf("%d results", len(results))
	}
	entries := 0
	for _, b := range rec.all() {
		entries += b.Len()
	}
	if limit := len(p) + 5*(1+6); entries > limit {
		t.Errorf("%d tokens decoded, want at most %d", entries, limit)
	}
	texts := map[string]bool{}
	for i, r := range results {
		one := opt
		one.Seed = 100 + uint64(i)
		if r.Seed != one.Seed {
			t.Errorf("choice %d: seed %d", i, r.Seed)
		}
		if alone := collect(t, e, Request{Prompt: p, MaxTokens: 6, Sampling: one})[0]; alone.Text != r.Text {
			t.Errorf("choice %d is %q, alone with its seed %q", i, r.Text, alone.Text)
		}
		texts[r.Text] = true
	}
	if len(texts) < 3 {
		t.Errorf("only %d different texts", len(texts))
	}
}

func TestQueueBoundAndTurns(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{Delay: time.Millisecond}, Config{Parallel: 1, Queue: 5})
	var order []string
	var mu sync.Mutex
	var wg sync.WaitGroup
	submit := func(client string) error {
		stream, err := e.Submit(t.Context(), Request{Client: client, Prompt: []int32{1}, MaxTokens: 10, Sampling: noEnd})
		if err != nil {
			return err
		}
		wg.Go(func() {
			if _, err := stream.Collect(t.Context()); err != nil {
				t.Error(err)
			}
			mu.Lock()
			order = append(order, client)
			mu.Unlock()
		})
		return nil
	}
	if err := submit("first"); err != nil {
		t.Fatal(err)
	}
	poll.Until(func() bool { return e.Stats().Active > 0 })
	for _, c := range []string{"a", "a", "a", "a", "b"} {
		if err := submit(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := submit("a"); !errors.Is(err, ErrQueueFull) {
		t.Errorf("a sixth request: %v", err)
	}
	wg.Wait()
	if want := []string{"first", "a", "b", "a", "a", "a"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if s := e.Stats(); s.Refused != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestQueuedRequestIsCancelled(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{Delay: time.Millisecond}, Config{Parallel: 1})
	running, err := e.Submit(t.Context(), Request{Prompt: []int32{1}, MaxTokens: 2000, Sampling: noEnd})
	if err != nil {
		t.Fatal(err)
	}
	poll.Until(func() bool { return e.Stats().Active > 0 })
	queued, err := e.Submit(t.Context(), Request{Prompt: []int32{1}, MaxTokens: 2000, Sampling: noEnd})
	if err != nil {
		t.Fatal(err)
	}
	queued.Close()
	if _, err := queued.Collect(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if s := e.Stats(); s.Active != 1 {
		t.Errorf("stats %+v", s)
	}
	running.Close()
}

func TestDecodeFailure(t *testing.T) {
	broken := errors.New("the device is gone")
	e := newEngine(t, scripted.Random(1), scripted.Options{Fault: func(n int, _ *backend.Batch) error {
		if n == 3 {
			return broken
		}
		return nil
	}}, Config{})
	stream, err := e.Submit(t.Context(), Request{Prompt: []int32{1}, MaxTokens: 20, Sampling: noEnd})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Collect(t.Context()); !errors.Is(err, broken) {
		t.Errorf("ended with %v", err)
	}
	if r := collect(t, e, Request{Prompt: []int32{1}, MaxTokens: 20, Sampling: noEnd})[0]; r.CompletionTokens != 20 {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestShutdownFinishesWhatRuns(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{Delay: time.Millisecond}, Config{Parallel: 1})
	var streams []*Stream
	for range 3 {
		s, err := e.Submit(t.Context(), Request{Prompt: []int32{1}, MaxTokens: 20, Sampling: noEnd})
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, s := range streams {
		if r, err := s.Collect(t.Context()); err != nil || r[0].CompletionTokens != 20 {
			t.Errorf("request %d: %v, %v", i, r, err)
		}
	}
	if _, err := e.Submit(t.Context(), Request{Prompt: []int32{1}}); !errors.Is(err, ErrClosed) {
		t.Errorf("after the shutdown: %v", err)
	}
}

func TestShutdownGivesUp(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{Delay: time.Millisecond}, Config{})
	s, err := e.Submit(t.Context(), Request{Prompt: []int32{1}, MaxTokens: 4000, Sampling: noEnd})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := e.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("shutdown: %v", err)
	}
	if _, err := s.Collect(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("the request ended with %v", err)
	}
}

// Many concurrent clients, some of which hang up: every constrained text is
// complete, and nothing is left open.
func TestManyClients(t *testing.T) {
	v := testVocab(t)
	goroutines := runtime.NumGoroutine()
	model := scripted.New(v, scripted.Random(7), scripted.Options{TokenDelay: 2 * time.Microsecond})
	e, err := New(model, Config{Parallel: 6, Queue: 200, Context: backend.ContextParams{Size: 300}})
	if err != nil {
		t.Fatal(err)
	}
	lang := quoted(v, `{"name":"`, "abcde日", `"}`)
	var wg sync.WaitGroup
	for client := range 24 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(client), 1))
			for i := range 25 {
				req := Request{
					Client: fmt.Sprint(client), Prompt: v.Encode(strings.Repeat("one ", rng.IntN(20)) + "x"), MaxTokens: 12 + rng.IntN(40),
					Sampling: sampling.Options{Temperature: 1.2, Seed: rng.Uint64()}, Choices: 1 + rng.IntN(2), NoForced: rng.IntN(2) == 0,
				}
				constrained := rng.IntN(2) == 0
				if constrained {
					req.Constraint = lang
				}
				stream, err := e.Submit(context.Background(), req)
				if err != nil {
					t.Error(err)
					return
				}
				if rng.IntN(4) == 0 {
					for range rng.IntN(4) {
						stream.Next(context.Background())
					}
					stream.Close()
					continue
				}
				results, err := stream.Collect(context.Background())
				if err != nil {
					t.Errorf("client %d, request %d: %v", client, i, err)
					return
				}
				for _, r := range results {
					if constrained && !lang.complete(r.Text) {
						t.Errorf("client %d, request %d: text %q", client, i, r.Text)
					}
				}
			}
		})
	}
	wg.Wait()
	poll.Until(func() bool {
		s := e.Stats()
		return s.Active+s.Waiting+s.Queued == 0
	})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := model.Close(); err != nil {
		t.Error(err)
	}
	poll.Until(func() bool { return runtime.NumGoroutine() <= goroutines })
}

// A model faster than its reader does not wake it for every token, and no
// text is lost, regardless of how it ends.
func TestTextIsToldInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := testVocab(t)
		reply := strings.Repeat("one two three ", 40)
		const delay = time.Millisecond
		e := newEngine(t, scripted.Say(v, reply), scripted.Options{Delay: delay}, Config{})
		read := func(timeout time.Duration) (events, tokens int, text string, longest time.Duration, err error) {
			stream, err := e.Submit(t.Context(), Request{Prompt: prompt(e, "x"), Logprobs: true, Timeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			last := time.Now()
			for {
				ev, err := stream.Next(t.Context())
				if err != nil {
					return events, tokens, text, longest, err
				}
				if events++; events > 1 {
					longest = max(longest, time.Since(last))
				}
				last = time.Now()
				tokens += len(ev.Tokens)
				text += ev.Text
			}
		}
		events, tokens, text, longest, err := read(0)
		if err != io.EOF || text != reply {
			t.Fatalf("error %v, text %q", err, text)
		}
		if events < 3 || events > tokens/2 {
			t.Errorf("%d events for %d tokens of %v", events, tokens, delay)
		}
		if longest > patience+delay {
			t.Errorf("nothing was told for %v", longest)
		}
		_, _, text, _, err = read(40 * time.Millisecond)
		if !errors.Is(err, ErrTimeout) || text == "" || !strings.HasPrefix(reply, text) {
			t.Errorf("with a time limit: error %v, text %q", err, text)
		}
	})
}

// The choices of a request take turns with other requests, of other clients and of the same.
func TestChoicesTakeTurns(t *testing.T) {
	for _, client := range []string{"a", "b"} {
		t.Run(client, func(t *testing.T) { testChoicesTakeTurns(t, client) })
	}
}

func testChoicesTakeTurns(t *testing.T, client string) {
	e := newEngine(t, scripted.Random(1), scripted.Options{Delay: time.Millisecond}, Config{Parallel: 1})
	many, err := e.Submit(t.Context(), Request{Client: "a", Prompt: []int32{1}, MaxTokens: 10, Choices: 20, Sampling: noEnd})
	if err != nil {
		t.Fatal(err)
	}
	poll.Until(func() bool { return e.Stats().Active > 0 })
	if s := e.Stats(); s.Waiting != 19 || s.Queued != 0 {
		t.Errorf("stats %+v, want 19 choices waiting", s)
	}
	for range 2 {
		collect(t, e, Request{Client: client, Prompt: []int32{2}, MaxTokens: 10, Sampling: noEnd})
	}
	if s := e.Stats(); s.Waiting < 13 {
		t.Errorf("two requests came after all but %d of the choices", s.Waiting)
	}
	results, err := many.Collect(t.Context())
	if err != nil || len(results) != 20 {
		t.Errorf("%d choices, %v", len(results), err)
	}
	if s := e.Stats(); s.Active+s.Waiting+s.Queued != 0 {
		t.Errorf("afterwards: %+v", s)
	}
}

// A client with long texts leaves a place to one that sends short requests, from when it was first there until it has not been
// there for a while.
func TestPlaceIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, scripted.Random(1), scripted.Options{Delay: time.Millisecond}, Config{Parallel: 2})
		long, err := e.Submit(t.Context(), Request{Client: "a", Prompt: []int32{1}, MaxTokens: 1000, Choices: 16, Sampling: noEnd})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		for i := range 8 {
			begun := time.Now()
			collect(t, e, Request{Client: "b", Prompt: []int32{2}, MaxTokens: 10, Sampling: noEnd})
			if took := time.Since(begun); i > 0 && took > 50*time.Millisecond {
				t.Errorf("request %d took %v beside a client with many choices", i, took)
			}
			time.Sleep(lately / 2)
		}
		time.Sleep(3 * time.Second)
		if s := e.Stats(); s.Active != 2 {
			t.Errorf("%d texts run long after the other client has gone, want 2", s.Active)
		}
		if _, err := long.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
