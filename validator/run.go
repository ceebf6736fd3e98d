package validator

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stencil-json/stencil/meter"
)

// ErrUndecided is matched by the error of a validation that was stopped because it would
// take too much work, and no other error.
var ErrUndecided = errors.New("validator: undecided")

// Bounds of a validation.
const (
	// MaxSteps bounds the work to about a second. Only schemas and documents whose
	// product of sizes is beyond anything useful exceed it.
	MaxSteps = 2 << 20
	// patternTime bounds the time of all backtracking matches together.
	patternTime = time.Second
	// linearTime bounds the time of all other matches together, but short ones.
	linearTime = 5 * time.Second
	// maxMemo bounds the memory: outcomes beyond it are computed again.
	maxMemo = 1 << 19
	// maxNested bounds how deeply applications of schemas may nest.
	maxNested = 20000
)

// undecided is the reason why there is no verdict.
type undecided struct{ why string }

// Error implements error.
func (e *undecided) Error() string { return "validator: undecided: " + e.why }

// Is reports whether target is ErrUndecided.
func (e *undecided) Is(target error) bool { return target == ErrUndecided }

// A run is one use of the package, with the work done so far.
type run struct {
	ctx      context.Context
	steps    int
	told     time.Time     // until when the context's pace has been told of the work; zero before the first poll
	patterns time.Duration // time spent in backtracking patterns
	linear   time.Duration // time spent in other patterns
	times    int           // how many times the bounds of one run apply
}

// together is the work of several runs.
type together struct {
	mu   sync.Mutex
	done run
}

type togetherKey struct{}

// Together returns a context whose validations have bounds together: n times those of a single one.
func Together(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, togetherKey{}, &together{done: run{times: n}})
}

// begin takes over the work of the runs that the context joins with this one; end adds to it.
func (r *run) begin() (end func()) {
	r.times = max(1, r.times)
	t, _ := r.ctx.Value(togetherKey{}).(*together)
	if t == nil {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	from := t.done
	r.steps, r.patterns, r.linear, r.times = from.steps, from.patterns, from.linear, from.times
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.done.steps += r.steps - from.steps
		t.done.patterns += r.patterns - from.patterns
		t.done.linear += r.linear - from.linear
	}
}

// given is the value that giveUp panics with; only attempt recovers it.
type given struct{ err error }

// attempt runs f. If f gives up, attempt returns the reason.
func (r *run) attempt(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			g, ok := p.(given)
			if !ok {
				panic(p)
			}
			err = g.err
		}
	}()
	defer r.begin()()
	r.poll()
	return f()
}

func (r *run) giveUp(err error) { panic(given{err}) }

// pollEvery is the number of steps between checks of the context.
const pollEvery = 1 << 10

// step counts n steps of work.
func (r *run) step(n int) {
	before := r.steps
	r.steps += n
	if r.steps/pollEvery == before/pollEvery {
		return
	}
	if r.steps > r.times*MaxSteps {
		r.giveUp(&undecided{"the schema and the document together are too much work"})
	}
	r.poll()
}

// restEvery is how long a run works between rests.
const restEvery = time.Millisecond

func (r *run) poll() {
	if now := time.Now(); r.told.IsZero() {
		r.told = now
	} else if worked := now.Sub(r.told); worked > restEvery {
		r.told = now.Add(meter.Rest(r.ctx, worked))
	}
	if r.ctx.Err() != nil {
		r.giveUp(context.Cause(r.ctx))
	}
}
