package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine/promptcache"
)

// greedy generates the most likely tokens until the budget is used up.
var greedy = sampling.Options{LogitBias: noEnd.LogitBias}

// answer runs a request and returns the result and the tokens of the text.
func answer(t testing.TB, e *Engine, req Request) (*Result, []int32) {
	t.Helper()
	req.Logprobs, req.Sampling = true, greedy
	stream, err := e.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var r *Result
	var tokens []int32
	for {
		ev, err := stream.Next(t.Context())
		if err == io.EOF {
			return r, tokens
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range ev.Tokens {
			tokens = append(tokens, x.ID)
		}
		if ev.Done != nil {
			r = ev.Done
		}
	}
}

// words returns n random tokens for a seed.
func words(seed uint64, n int) []int32 {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]int32, n)
	for i := range out {
		out[i] = 3 + rng.Int32N(200)
	}
	return out
}

func joined(parts ...[]int32) []int32 { return slices.Concat(parts...) }

// hooked is a model whose contexts are wrapped.
type hooked struct {
	backend.Model
	wrap func(backend.Context) backend.Context
}

func (m hooked) NewContext(p backend.ContextParams) (backend.Context, error) {
	c, err := m.Model.NewContext(p)
	if err != nil {
		return nil, err
	}
	return m.wrap(c), nil
}

// hookedContext calls functions before some methods.
type hookedContext struct {
	backend.Context
	decode func(ctx context.Context)
	batch  func(ctx backend.Context, b *backend.Batch)
	saved  func(tokens int32) error
	key    func() (string, error)
}

func (c *hookedContext) Decode(ctx context.Context, b *backend.Batch) error {
	if c.decode != nil {
		c.decode(ctx)
	}
	if c.batch != nil {
		c.batch(c.Context, b)
	}
	return c.Context.Decode(ctx, b)
}

func (c *hookedContext) Grain() int { return c.Context.(backend.Grained).Grain() }

func (c *hookedContext) SeqState(seq int32) ([]byte, error) {
	if c.saved != nil {
		if err := c.saved(c.Context.SeqLen(seq)); err != nil {
			return nil, err
		}
	}
	return c.Context.SeqState(seq)
}

func (c *hookedContext) StateKey() (string, error) {
	if c.key != nil {
		return c.key()
	}
	return c.Context.StateKey()
}

// newHooked returns an engine for a scripted model with hooks.
func newHooked(t testing.TB, opt scripted.Options, cfg Config, hooks hookedContext) *Engine {
	t.Helper()
	m := hooked{scripted.New(testVocab(t), scripted.Random(1), opt), func(c backend.Context) backend.Context {
		own := hooks
		own.Context = c
		return &own
	}}
	e, err := New(m, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// A conversation with a model that can't rewind, continued in every possible way.
// cached is the number of reused tokens.
func TestRecurrentConversation(t *testing.T) {
	system, first, second := words(1, 100), words(2, 120), words(3, 80)
	opening := joined(system, first)
	marks := []int{len(system), len(opening) - 5}
	for name, keep := range map[string]bool{"slots": true, "checkpoints": false} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Parallel: 1, CacheSlots: -1}
			if keep {
				cfg.CacheSlots = 8
			}
			e := newEngine(t, scripted.Random(1), scripted.Options{Recurrent: true}, cfg)
			ask := func(prompt []int32, marks ...int) (int, []int32) {
				r, tokens := answer(t, e, Request{Prompt: prompt, Marks: marks, MaxTokens: 10})
				alone := newEngine(t, scripted.Random(1), scripted.Options{}, cfg)
				if _, want := answer(t, alone, Request{Prompt: prompt, MaxTokens: 10}); !slices.Equal(tokens, want) {
					t.Errorf("%v, want %v", tokens, want)
				}
				alone.Close()
				if !keep { // another request takes the slot
					answer(t, e, Request{Prompt: words(99, 20), MaxTokens: 1})
				}
				return r.CachedTokens, tokens
			}
			check := func(what string, got, want int) {
				t.Helper()
				if got != want {
					t.Errorf("%s: %d tokens cached, want %d", what, got, want)
				}
			}
			cached, reply := ask(opening, marks...)
			check("the first turn", cached, 0)
			heard := joined(opening, reply)

			cached, _ = ask(opening, marks...)
			check("the same again", cached, len(opening)-5)

			turn := joined(heard, second)
			at := len(heard) - 1 // the last token was sampled but not decoded
			if !keep {
				// The answer is too short for a checkpoint.
				at = len(opening) - 5
			}
			cached, _ = ask(turn, len(system), len(heard), len(turn)-5)
			check("the second turn", cached, at)

			edited := joined(heard, words(4, 80))
			cached, _ = ask(edited, len(system), len(heard), len(edited)-5)
			check("another second turn", cached, at)

			cached, _ = ask(joined(system, words(5, 50)), len(system))
			check("another first turn", cached, len(system))

			cached, _ = ask(joined(words(6, 10), system))
			check("another system text", cached, 0)

			s := e.Stats()
			if s.CheckpointTokens == 0 || s.CheckpointTokens > s.ReusedTokens || s.StoredTokens != 0 || s.CheckpointBytes == 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

// A long answer is worth a checkpoint when its slot is given up.
func TestPartingCheckpoint(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{Recurrent: true}, Config{Parallel: 1, CacheSlots: -1})
	opening := words(1, 10)
	_, reply := answer(t, e, Request{Prompt: opening, MaxTokens: 100})
	answer(t, e, Request{Prompt: words(2, 10), MaxTokens: 1})
	r, _ := answer(t, e, Request{Prompt: joined(opening, reply, words(3, 10)), MaxTokens: 5})
	if want := len(opening) + len(reply) - 1; r.CachedTokens != want {
		t.Errorf("%d tokens cached, want %d", r.CachedTokens, want)
	}
}

// Without checkpoints, a model that can't rewind prefills everything that is not
// exactly in a slot. With them, short prompts aren't worth one.
func TestNoCheckpoints(t *testing.T) {
	for name, test := range map[string]struct {
		recurrent bool
		limit     int64
		prompt    int
	}{
		"none wanted":          {true, -1, 500},
		"a model that rewinds": {false, 0, 500},
		"a tiny prompt":        {true, 0, spacing},
	} {
		t.Run(name, func(t *testing.T) {
			saved := 0
			e := newHooked(t, scripted.Options{Recurrent: test.recurrent}, Config{CheckpointBytes: test.limit},
				hookedContext{saved: func(int32) error { saved++; return nil }})
			p := words(1, test.prompt)
			answer(t, e, Request{Prompt: p, Marks: []int{10, 20, 30}, MaxTokens: 5})
			r, _ := answer(t, e, Request{Prompt: p, MaxTokens: 5})
			if (r.CachedTokens > 0) == test.recurrent || saved != 0 {
				t.Errorf("%d tokens cached, %d states saved", r.CachedTokens, saved)
			}
		})
	}
}

// The prompt of several choices is prefilled once.
func TestRecurrentChoices(t *testing.T) {
	var rec recorder
	e := newEngine(t, scripted.Random(1), scripted.Options{Recurrent: true, Fault: rec.record}, Config{Parallel: 3})
	p := words(1, 600)
	results := collect(t, e, Request{Prompt: p, MaxTokens: 6, Choices: 5, Sampling: noEnd})
	entries := 0
	for _, b := range rec.all() {
		entries += b.Len()
	}
	if limit := len(p) + 5*(1+6); entries > limit {
		t.Errorf("%d tokens decoded, want at most %d", entries, limit)
	}
	for i, r := range results {
		one := noEnd
		one.Seed = uint64(i)
		if alone := collect(t, e, Request{Prompt: p, MaxTokens: 6, Sampling: one})[0]; alone.Text != r.Text {
			t.Errorf("choice %d is %q, alone with its seed %q", i, r.Text, alone.Text)
		}
	}
}

// A preempted sequence is restored from a checkpoint rather than prefilled
// completely.
func TestRecurrentPreemption(t *testing.T) {
	const n, prompt, generated = 6, 150, 80
	var rec recorder
	e := newEngine(t, scripted.Random(1), scripted.Options{Recurrent: true, Delay: 500 * time.Microsecond, Fault: rec.record},
		Config{Parallel: n, CacheSlots: -1, Context: backend.ContextParams{Size: 3 * (prompt + generated)}})
	alone := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Parallel: 1})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			p := words(uint64(i), prompt)
			_, got := answer(t, e, Request{Prompt: p, MaxTokens: generated, Marks: []int{70}})
			if _, want := answer(t, alone, Request{Prompt: p, MaxTokens: generated}); !slices.Equal(got, want) {
				t.Errorf("sequence %d: %v, alone %v", i, got, want)
			}
		})
	}
	wg.Wait()
	s := e.Stats()
	if s.Preempted == 0 {
		t.Fatal("nothing was preempted: the test is too easy")
	}
	entries := 0
	for _, b := range rec.all() {
		entries += b.Len()
	}
	// Each preemption loses at most the tokens since the last checkpoint; a batch
	// that did not fit was recorded too.
	if limit := n*(prompt+generated) + int(s.Preempted)*(spacing+512); entries > limit {
		t.Errorf("%d tokens decoded, want at most %d; %d preemptions", entries, limit, s.Preempted)
	}
}

// If a client hangs up during prefill, what was computed up to the last mark is
// kept, even if the model loses its state with the batch.
func TestRecurrentHangUp(t *testing.T) {
	var stream atomic.Pointer[Stream]
	n := 0
	e := newHooked(t, scripted.Options{Recurrent: true}, Config{Parallel: 1, Context: backend.ContextParams{MaxBatch: 50}},
		hookedContext{decode: func(ctx context.Context) {
			if n++; n == 9 {
				stream.Load().Close()
				<-ctx.Done()
			}
		}})
	// Stops at 90, 200, 330 and 799: the batches end at 50, 90, 140, 190, 200,
	// 250, 300, 330; the ninth is aborted.
	req := Request{Prompt: words(1, 800), Marks: []int{90, 200, 330}, MaxTokens: 5}
	s, err := e.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	stream.Store(s)
	if _, err := s.Collect(t.Context()); !errors.Is(err, context.Canceled) {
		t.Fatalf("ended with %v", err)
	}
	r, got := answer(t, e, req)
	if r.CachedTokens != 330 {
		t.Errorf("%d tokens cached, want 330", r.CachedTokens)
	}
	alone := newEngine(t, scripted.Random(1), scripted.Options{}, Config{})
	if _, want := answer(t, alone, Request{Prompt: req.Prompt, MaxTokens: 5}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// If a batch of several sequences is lost, those still wanted continue from their
// checkpoints.
func TestRecurrentRecall(t *testing.T) {
	var rec recorder
	lost := errors.New("lost")
	n := 0
	var inner backend.Context
	model := hooked{scripted.New(testVocab(t), scripted.Random(1), scripted.Options{Recurrent: true, Fault: func(i int, b *backend.Batch) error {
		rec.record(i, b)
		if n++; n == 12 {
			for _, seq := range b.Seqs {
				inner.SeqRemove(seq, 0, -1)
			}
			return fmt.Errorf("%w: %w", backend.ErrAborted, lost)
		}
		return nil
	}}), func(c backend.Context) backend.Context { inner = c; return c }}
	e, err := New(model, Config{Context: backend.ContextParams{MaxBatch: 100}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	alone := newEngine(t, scripted.Random(1), scripted.Options{}, Config{})
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			req := Request{Prompt: words(uint64(i), 500), Marks: []int{100, 200, 300, 400}, MaxTokens: 20}
			_, got := answer(t, e, req)
			if _, want := answer(t, alone, Request{Prompt: req.Prompt, MaxTokens: 20}); !slices.Equal(got, want) {
				t.Errorf("request %d: %v, want %v", i, got, want)
			}
		})
	}
	wg.Wait()
	entries := 0
	for _, b := range rec.all() {
		entries += b.Len()
	}
	if limit := 3*520 + 3*100 + 100; entries > limit { // 100 from the last mark, and the lost batch
		t.Errorf("%d tokens decoded, want at most %d", entries, limit)
	}
}

// Checkpoints stay within their limit, and a state that exceeds it is taken once
// rather than for every prompt.
func TestCheckpointBound(t *testing.T) {
	const limit = 10_000
	var saved []int32
	var log bytes.Buffer
	e := newHooked(t, scripted.Options{Recurrent: true}, Config{CheckpointBytes: limit, Log: slog.New(slog.NewTextHandler(&log, nil))},
		hookedContext{saved: func(n int32) error { saved = append(saved, n); return nil }})
	for i := range uint64(30) {
		answer(t, e, Request{Prompt: words(i, 300), MaxTokens: 3})
		if s := e.Stats(); s.CheckpointBytes > limit || s.CheckpointBytes < 2*299 {
			t.Fatalf("%d bytes of %d", s.CheckpointBytes, limit)
		}
	}
	if r, _ := answer(t, e, Request{Prompt: words(29, 300), MaxTokens: 3}); r.CachedTokens != 299 {
		t.Errorf("%d tokens cached", r.CachedTokens)
	}
	saved = nil
	for i := range uint64(5) {
		answer(t, e, Request{Prompt: words(50+i, 2000), MaxTokens: 3})
	}
	saved = slices.DeleteFunc(saved, func(n int32) bool { return n < 1000 }) // of slots that were given up
	if !slices.Equal(saved, []int32{1999}) || strings.Count(log.String(), "larger than all checkpoints") != 1 {
		t.Errorf("saved %v; log:\n%s", saved, &log)
	}
}

// A prompt whose state can't be saved or restored is prefilled again, and a
// warning is logged.
func TestStateFails(t *testing.T) {
	var log bytes.Buffer
	e := newHooked(t, scripted.Options{Recurrent: true}, Config{Log: slog.New(slog.NewTextHandler(&log, nil))},
		hookedContext{saved: func(int32) error { return errors.New("the device is gone") }})
	for range 2 {
		if r, _ := answer(t, e, Request{Prompt: words(1, 300), MaxTokens: 3}); r.CachedTokens != 0 {
			t.Errorf("%d tokens cached", r.CachedTokens)
		}
	}
	e.Close()
	if !strings.Contains(log.String(), "the device is gone") {
		t.Errorf("log: %s", &log)
	}
	m := hooked{scripted.New(testVocab(t), scripted.Random(1), scripted.Options{}), func(c backend.Context) backend.Context {
		return &hookedContext{Context: c, key: func() (string, error) { return "", errors.New("the file is gone") }}
	}}
	store := openStore(t, t.TempDir())
	if e, err := New(m, Config{PromptCache: store}); err == nil || !strings.Contains(err.Error(), "the file is gone") {
		t.Errorf("error %v", err)
		e.Close()
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// A text does not depend on what was cached of other prompts, in memory or on
// disk: random conversations, forked, edited and repeated, with marks at sensible
// and other positions.
func TestRandomConversations(t *testing.T) {
	steps := 120
	if testing.Short() {
		steps = 40
	}
	for name, test := range map[string]struct {
		opt      scripted.Options
		cfg      Config
		disk     int64 // limit of the prompt cache, 0: none
		restarts bool
	}{
		"recurrent":              {opt: scripted.Options{Recurrent: true}, cfg: Config{Parallel: 2}},
		"recurrent, little room": {opt: scripted.Options{Recurrent: true}, cfg: Config{Parallel: 2, CacheSlots: -1, CheckpointBytes: 20_000, Context: backend.ContextParams{Size: 1700, MaxBatch: 100}}},
		"recurrent, disk":        {opt: scripted.Options{Recurrent: true}, cfg: Config{Parallel: 1}, disk: 1 << 20, restarts: true},
		"recurrent, disk alone":  {opt: scripted.Options{Recurrent: true}, cfg: Config{Parallel: 2, CheckpointBytes: -1}, disk: 30_000},
		"attention, disk":        {cfg: Config{Parallel: 2}, disk: 1 << 20, restarts: true},
		"attention, little room": {cfg: Config{Parallel: 2, CacheSlots: -1, Context: backend.ContextParams{Size: 1700, MaxBatch: 100}}, disk: 30_000, restarts: true},
		"attention, several":     {cfg: Config{Parallel: 4, Context: backend.ContextParams{Size: 3000}}, disk: 100_000},
		"recurrent, several":     {opt: scripted.Options{Recurrent: true}, cfg: Config{Parallel: 4, CheckpointBytes: 50_000, Context: backend.ContextParams{Size: 3000}}, disk: 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var e *Engine
			var store *promptcache.Store
			var total Stats
			stop := func() {
				if e == nil {
					return
				}
				s := e.Stats()
				total.CheckpointTokens += s.CheckpointTokens
				total.StoredTokens += s.StoredTokens
				if s.Active+s.Waiting+s.Queued != 0 || s.CheckpointBytes > e.cfg.CheckpointBytes && s.CheckpointBytes > 0 {
					t.Errorf("stats %+v", s)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
				if store != nil {
					if err := store.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			defer func() { stop() }()
			start := func() {
				stop()
				cfg := test.cfg
				cfg.Log = slog.New(slog.DiscardHandler)
				if test.disk > 0 {
					var err error
					if store, err = promptcache.Open(dir, test.disk, cfg.Log); err != nil {
						t.Fatal(err)
					}
					cfg.PromptCache = store
				}
				e = newEngine(t, scripted.Random(1), test.opt, cfg)
			}
			start()
			alone := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Parallel: 1, CacheSlots: -1})
			rng := rand.New(rand.NewPCG(5, 5))
			type talk struct {
				tokens []int32
				marks  []int
			}
			var talks []talk
			for i := range 3 {
				n := 50 + 300*i
				talks = append(talks, talk{words(uint64(i), n), []int{n}})
			}
			for i := range steps {
				if test.restarts && i%20 == 19 {
					start()
				}
				k := 1
				if test.cfg.Parallel > 2 {
					k = 1 + rng.IntN(4)
				}
				type outcome struct {
					from   talk
					prompt []int32
					marks  []int
					reply  []int32
				}
				round := make([]outcome, k)
				var wg sync.WaitGroup
				for j := range round {
					o := &round[j]
					o.from = talks[rng.IntN(len(talks))]
					if rng.IntN(4) == 0 { // return to an earlier turn
						n := 1 + rng.IntN(len(o.from.marks))
						o.from = talk{o.from.tokens[:o.from.marks[n-1]], o.from.marks[:n]}
					}
					o.prompt = joined(o.from.tokens, words(rng.Uint64N(6), 1+rng.IntN(120)))
					o.marks = append(slices.Clone(o.from.marks), len(o.prompt)-rng.IntN(6))
					sent := slices.Clone(o.marks)
					if rng.IntN(5) == 0 {
						sent = append(sent, -1, 0, 1<<40, rng.IntN(len(o.prompt)), rng.IntN(len(o.prompt)))
					}
					hangUp := rng.IntN(10) == 0
					req := Request{Prompt: o.prompt, Marks: sent, MaxTokens: 1 + rng.IntN(30), Solo: rng.IntN(15) == 0}
					wg.Go(func() {
						if hangUp {
							if s, err := e.Submit(t.Context(), req); err == nil {
								s.Close()
							}
						}
						r, got := answer(t, e, req)
						o.reply = got
						if req.Solo && r.CachedTokens != 0 {
							t.Errorf("%d tokens of others in a solo", r.CachedTokens)
						}
					})
				}
				wg.Wait()
				for _, o := range round {
					if _, want := answer(t, alone, Request{Prompt: o.prompt, MaxTokens: len(o.reply)}); !slices.Equal(o.reply, want) {
						t.Fatalf("step %d, prompt of %d tokens: %v, without any cache %v", i, len(o.prompt), o.reply, want)
					}
					next := talk{joined(o.prompt, o.reply), append(slices.Clone(o.marks), len(o.prompt)+len(o.reply))}
					if len(next.tokens) > 1200 {
						continue
					}
					if len(talks) < 20 {
						talks = append(talks, next)
					} else {
						talks[3+rng.IntN(17)] = next
					}
				}
			}
			stop()
			e, store = nil, nil
			if test.opt.Recurrent && test.cfg.CheckpointBytes >= 0 && total.CheckpointTokens == 0 || test.restarts && total.StoredTokens == 0 {
				t.Errorf("nothing came from checkpoints, or from disk: %+v", total)
			}
		})
	}
}
