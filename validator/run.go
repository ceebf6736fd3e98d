package validator

import (
	"context"
	"errors"
	"time"
)

// ErrUndecided is matched by the verdict of a validation that was given up
// because it was too much work, and by no other.
var ErrUndecided = errors.New("validator: undecided")

// What a validation may take.
const (
	// MaxSteps bounds the work, for schemas and documents whose product of sizes
	// is beyond anything useful: about a second.
	MaxSteps = 2 << 20
	// patternTime is what all matches of patterns that backtrack may take together.
	patternTime = time.Second
	// maxMemo bounds the memory: verdicts beyond it are found again.
	maxMemo = 1 << 19
	// maxNested bounds how many applications of schemas there may be inside one
	// another.
	maxNested = 20000
)

// undecided says why there is no verdict.
type undecided struct{ why string }

// Error implements error.
func (e *undecided) Error() string { return "validator: undecided: " + e.why }

// Is makes it match ErrUndecided.
func (e *undecided) Is(target error) bool { return target == ErrUndecided }

// A run is one use of the package, and what it may still take.
type run struct {
	ctx      context.Context
	steps    int
	patterns time.Duration // taken by patterns that backtrack
}

// given is what a run panics with when it gives up; only attempt sees it.
type given struct{ err error }

// attempt runs f and returns the reason if it was given up.
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
	r.poll()
	return f()
}

func (r *run) giveUp(err error) { panic(given{err}) }

// pollEvery is how many steps pass between looks at the context.
const pollEvery = 1 << 10

// step spends work.
func (r *run) step(n int) {
	before := r.steps
	r.steps += n
	if r.steps/pollEvery == before/pollEvery {
		return
	}
	if r.steps > MaxSteps {
		r.giveUp(&undecided{"the schema and the document together are too much work"})
	}
	r.poll()
}

func (r *run) poll() {
	if r.ctx.Err() != nil {
		r.giveUp(context.Cause(r.ctx))
	}
}
