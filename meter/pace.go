package meter

import (
	"context"
	"time"
)

// A Pace keeps work to a share of the processor while others want it too. It may be used by several goroutines at a time.
type Pace interface {
	// Rest is told for how long work has run since it was last told, without the rests, and returns for how long the
	// work should rest now. It is asked again, with 0, after at most a few milliseconds.
	Rest(worked time.Duration) time.Duration
	// Rested is told how long a rest took.
	Rested(took time.Duration)
}

type paceKey struct{}

// WithPace returns a context for work that keeps to a pace: a [Meter]'s, and whatever calls [Rest].
func WithPace(ctx context.Context, p Pace) context.Context {
	return context.WithValue(ctx, paceKey{}, p)
}

// Unless returns a context for work that does not rest while wanted returns true: somebody waits for the result, or for a
// lock that the work holds. wanted is called on the goroutine of the work.
func Unless(ctx context.Context, wanted func() bool) context.Context {
	if p := PaceOf(ctx); p != nil {
		return WithPace(ctx, &unless{p, wanted})
	}
	return ctx
}

type unless struct {
	Pace
	wanted func() bool
}

func (u *unless) Rest(worked time.Duration) time.Duration {
	if d := u.Pace.Rest(worked); !u.wanted() { // it counts all the same
		return d
	}
	return 0
}

// PaceOf returns the pace of a context, nil if it has none.
func PaceOf(ctx context.Context) Pace {
	if ctx == nil {
		return nil
	}
	p, _ := ctx.Value(paceKey{}).(Pace)
	return p
}

// nap is the longest part of a rest. Go's timers keep about a millisecond.
const nap = 4 * time.Millisecond

// Rest rests after work of some time as the context's pace says, if it has one. It returns early when the context ends, and
// tells how long it took.
func Rest(ctx context.Context, worked time.Duration) (took time.Duration) {
	p := PaceOf(ctx)
	if p == nil {
		return 0
	}
	d := p.Rest(worked)
	if d <= 0 {
		return 0
	}
	begun := time.Now()
	timer := time.NewTimer(min(d, nap))
	defer timer.Stop()
	for d > 0 && ctx.Err() == nil {
		select {
		case <-timer.C:
			d = p.Rest(0)
			timer.Reset(min(d, nap))
		case <-ctx.Done():
		}
	}
	took = time.Since(begun)
	p.Rested(took)
	return took
}
