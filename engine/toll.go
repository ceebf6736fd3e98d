package engine

import (
	"context"
	"time"

	"github.com/stencil-json/stencil/meter"
)

// A toll keeps the steps of a sequence to the pace of its request's context, if it has one: it is the pace of the
// matcher, and counts what steps take beyond that. It belongs to the goroutine of the step. A nil toll has no effect.
type toll struct {
	meter.Pace                 // of the request
	ctx        context.Context // of the job, with the toll as its pace
	begun      time.Time       // of the current step
	watch      *watch          // of the loop if that runs the step itself, until it is another goroutine's
	during     uint64          // watch.step while the loop does
	told       time.Duration   // of it: work that the pace was told of, and rests
	owed       time.Duration   // work that the pace is yet to be told of
	due        bool            // there is a rest to take
}

const (
	// shortStep is what a step may take without being counted: masks take microseconds, and sampling from a large
	// vocabulary a hundred.
	shortStep = 200 * time.Microsecond
	// mostOwed is how much work the pace is told of at once.
	mostOwed = time.Millisecond
)

// newToll returns the toll of a sequence, nil without a pace.
func newToll(ctx context.Context) *toll {
	p := meter.PaceOf(ctx)
	if p == nil {
		return nil
	}
	t := &toll{Pace: p}
	t.ctx = meter.WithPace(ctx, t)
	return t
}

// context returns the context for the sequence's matcher.
func (t *toll) context(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return t.ctx
}

// Rest implements [meter.Pace].
func (t *toll) Rest(worked time.Duration) time.Duration {
	t.told += worked
	d := t.Pace.Rest(worked)
	if t.due = d > 0; t.watch != nil && t.watch.step.Load() == t.during {
		return 0 // the loop doesn't rest
	}
	return d
}

// Rested implements [meter.Pace].
func (t *toll) Rested(took time.Duration) {
	t.told += took
	t.Pace.Rested(took)
}

// wanted reports whether a worker should run the next step, and pay.
func (t *toll) wanted() bool { return t != nil && (t.due || t.owed > mostOwed) }

// begin and end enclose a step. watch is nil if a worker runs it.
func (t *toll) begin(watch *watch, during uint64) {
	if t != nil {
		t.begun, t.watch, t.during, t.told = time.Now(), watch, during, 0
	}
}

func (t *toll) end() {
	if t != nil && !t.begun.IsZero() { // it is zero in the step that creates the toll
		t.owed += max(0, time.Since(t.begun)-t.told-shortStep)
		t.begun = time.Time{}
	}
}

// waited is told of time within a step that was no work.
func (t *toll) waited(d time.Duration) {
	if t != nil {
		t.told += d
	}
}

// pay takes a rest that is due. The caller is not the loop.
func (t *toll) pay() {
	if t.wanted() {
		owed := t.owed
		t.owed, t.due = 0, false
		meter.Rest(t.ctx, owed)
	}
}
