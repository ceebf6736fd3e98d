package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/engine/prefix"
	"github.com/stencil-json/stencil/engine/promptcache"
)

// Clients of llama-server identify the place of a text by a number, and save, restore and erase
// what is there. In this engine prompts are reused from any slot, so a place only records the
// tokens that were last there: their state is looked up when a client saves it.

// A place is the tokens last generated at one of the Parallel places.
type place struct {
	client string
	tokens []int32
	users  int // sequences that generate there
	used   uint64
}

// similar limits reuse of a place: it must hold at least a tenth of a prompt for the prompt to
// return to it.
const similar = 10

// seats is the part of a loop that assigns places to sequences.
type seats struct {
	loop  *loop
	clock uint64 // counts assignments
	key   string // the context's StateKey; "": not read yet
}

// Places describes one place: whether sequences generate there, and whose tokens were last left there, and how many.
type Places struct {
	Busy   bool
	Client string
	Tokens int
}

// Places returns the contents of each place.
func (e *Engine) Places() []Places {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]Places, len(e.places))
	for i, p := range e.places {
		out[i] = Places{p.users > 0, p.client, len(p.tokens)}
	}
	return out
}

// sit assigns a place to a sequence that is about to run: the one that it requests, the one
// with the longest prefix of its prompt, or the one that has been idle longest.
func (a *seats) sit(s *sequence) {
	l := a.loop
	if s.sits || s.job.req.Aside {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	held := make([]int, len(l.places))
	for i := range l.places {
		if n := common(a.at(i), s.run()); n*similar >= s.prompt {
			held[i] = n
		}
	}
	before := func(a, b int) bool {
		x, y := &l.places[a], &l.places[b]
		switch {
		case (x.users == 0) != (y.users == 0):
			return x.users == 0
		case held[a] != held[b]:
			return held[a] > held[b]
		}
		return x.used < y.used
	}
	at := 0
	for i := range l.places {
		if before(i, at) {
			at = i
		}
	}
	if want := s.job.req.Place; want != nil && s.choice == 0 {
		at = *want % len(l.places)
	}
	s.sits, s.result.Place = true, at
	a.clock++
	p := &l.places[at]
	p.users, p.used, p.client = p.users+1, a.clock, s.job.req.Client
}

// rise frees the place of a sequence that has ended and records its tokens there.
func (a *seats) rise(s *sequence) {
	l := a.loop
	if !s.sits {
		return
	}
	s.sits = false
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.places[s.result.Place]
	p.users--
	if s.slot != nil {
		p.tokens = append(p.tokens[:0], s.slot.tokens...)
	}
}

// visits are functions to be run on the loop's goroutine, between steps.
type visits struct {
	mu   sync.Mutex
	list []*visit
}

// A visit is called until it reports that it is done.
type visit struct {
	ctx  context.Context
	do   func(*loop) (bool, error)
	done chan error // of capacity 1
}

// visit has the loop call do, repeatedly until it is done.
func (e *Engine) visit(ctx context.Context, do func(*loop) (bool, error)) error {
	v := &visit{ctx, do, make(chan error, 1)}
	e.visits.mu.Lock()
	e.visits.list = append(e.visits.list, v)
	e.visits.mu.Unlock()
	e.signal()
	select {
	case err := <-v.done:
		return err
	case <-ctx.Done():
		e.signal()
		return context.Cause(ctx)
	case <-e.stopped:
		return ErrClosed
	}
}

// receive calls the waiting visits until one is done, which may take as long as a step, and keeps the others.
func (a *seats) receive() {
	l := a.loop
	l.visits.mu.Lock()
	list := l.visits.list
	l.visits.list = nil
	l.visits.mu.Unlock()
	var later []*visit
	for i, v := range list {
		if v.ctx.Err() != nil {
			continue
		}
		if done, err := v.do(l); done {
			v.done <- err
			later = append(later, list[i+1:]...)
			l.signal()
			break
		}
		later = append(later, v)
	}
	l.visits.mu.Lock()
	l.visits.list = append(later, l.visits.list...)
	l.visits.mu.Unlock()
}

// at returns the tokens last at a place. The caller holds the lock.
func (a *seats) at(n int) run {
	p := &a.loop.places[n]
	return run{a.loop.cfg.owner(p.client), p.tokens}
}

// last returns the tokens last at a place; ok is false while a sequence generates there.
func (a *seats) last(n int) (held run, ok bool) {
	l := a.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	return a.at(n), l.places[n].users == 0
}

// errPlace means that the model's states can't be saved.
var errPlace = errors.New("engine: this model's states can't be kept")

// stateKey returns what states depend on, including the adapters in force.
func (a *seats) stateKey() (string, error) {
	l := a.loop
	if a.key == "" {
		key, err := l.context.StateKey()
		if err != nil {
			return "", fmt.Errorf("engine: %w", err)
		}
		if key == "" {
			return "", errPlace
		}
		a.key = key
	}
	if l.scales == nil {
		return a.key, nil
	}
	return fmt.Sprint(a.key, " adapters ", l.scales), nil
}

// Save returns the state at a place, as far as the model still has it. It waits until no
// sequence generates there.
func (e *Engine) Save(ctx context.Context, n int) (promptcache.State, error) {
	if err := e.hasPlace(n); err != nil {
		return promptcache.State{}, err
	}
	var out promptcache.State // owned by the loop until visit returns
	err := e.visit(ctx, func(l *loop) (bool, error) {
		held, ok := l.seats.last(n)
		tokens := held.tokens
		if !ok {
			return false, nil
		}
		key, err := l.seats.stateKey()
		if out.Key = key; err != nil || len(tokens) == 0 {
			return true, err
		}
		x := l.slots.holding(held)
		if x == nil {
			const nothing = -1 // acquire never reuses a prompt's last token
			if x, _ = l.slots.acquire(run{held.owner, append(slices.Clone(tokens), nothing)}, nil, prefix.Cutting{}); x == nil {
				return false, nil
			}
			defer l.slots.release(x)
			l.seats.disorder()
		}
		if len(x.tokens) == 0 {
			return true, nil
		}
		if out.Bytes = l.slots.state(x); out.Bytes == nil {
			return true, errPlace
		}
		out.Tokens = slices.Clone(x.tokens)
		spans := x.spans
		if n := len(spans); n == 0 || spans[n-1].End != len(x.tokens) {
			spans = prefix.History{{End: len(x.tokens), Kind: prefix.Piece}}
		}
		for _, s := range spans {
			out.Ends, out.Kinds = append(out.Ends, int32(s.End)), append(out.Kinds, byte(s.Kind))
		}
		return true, nil
	})
	if err != nil {
		return promptcache.State{}, err
	}
	return out, nil
}

// Restore puts a client's saved state at a place, where prompts with that prefix can reuse it. It waits
// until no sequence generates there. The error matches backend.ErrState if the state was saved
// with another model.
func (e *Engine) Restore(ctx context.Context, n int, client string, in promptcache.State) error {
	if err := e.hasPlace(n); err != nil {
		return err
	}
	if len(in.Tokens) >= e.limit {
		return &ContextError{Prompt: len(in.Tokens), Limit: e.limit}
	}
	var spans prefix.History
	for i := range in.Ends {
		spans = append(spans, prefix.Span{End: int(in.Ends[i]), Kind: prefix.Kind(in.Kinds[i])})
	}
	return e.visit(ctx, func(l *loop) (bool, error) {
		if _, ok := l.seats.last(n); !ok {
			return false, nil
		}
		key, err := l.seats.stateKey()
		if err == nil && !in.Fits(key) {
			err = fmt.Errorf("engine: %w: it was saved with another model, cache type or adapters", backend.ErrState)
		}
		if err != nil {
			return true, err
		}
		if len(in.Tokens) > 0 {
			x := l.slots.acquireEmpty()
			if x == nil {
				return false, nil
			}
			defer l.slots.release(x)
			l.seats.disorder()
			if err := l.slots.restore(x, contents{run: run{l.cfg.owner(client), in.Tokens}, spans: spans}, in.Bytes); err != nil {
				return true, err
			}
			if len(x.tokens) == 0 {
				return true, fmt.Errorf("engine: %w for %d tokens", backend.ErrNoSlot, len(in.Tokens))
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.places[n].client, l.places[n].tokens = client, append(l.places[n].tokens[:0], in.Tokens...)
		return true, nil
	})
}

// Erase drops what is at a place from memory and returns the number of tokens. It waits until
// no sequence generates there.
func (e *Engine) Erase(ctx context.Context, n int) (int, error) {
	if err := e.hasPlace(n); err != nil {
		return 0, err
	}
	erased := 0
	err := e.visit(ctx, func(l *loop) (bool, error) {
		last, ok := l.seats.last(n)
		if !ok {
			return false, nil
		}
		erased = len(last.tokens)
		same := func(held run) bool {
			n := common(held, last)
			return n > 0 && n == min(len(held.tokens), len(last.tokens))
		}
		for _, x := range l.slots.all {
			if !x.busy && same(x.run) {
				l.slots.clear(x)
			}
		}
		l.slots.kept.forgetAll(same)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.places[n].tokens = l.places[n].tokens[:0]
		return true, nil
	})
	if err != nil {
		return 0, err
	}
	return erased, nil
}

// disorder records that the cells of running sequences are no longer the first ones.
func (a *seats) disorder() {
	l := a.loop
	for _, list := range [][]*sequence{l.active, l.away.list} {
		for _, s := range list {
			if s.slot != nil {
				s.slot.first = false
			}
		}
	}
}

// A PlaceError reports a place that does not exist.
type PlaceError struct{ Place, Places int }

// Error implements error.
func (e *PlaceError) Error() string {
	return fmt.Sprintf("engine: there is no place %d, the last of %d is %d", e.Place, e.Places, e.Places-1)
}

func (e *Engine) hasPlace(n int) error {
	if n < 0 || n >= e.cfg.Parallel {
		return &PlaceError{n, e.cfg.Parallel}
	}
	return nil
}
