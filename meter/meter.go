package meter

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"
)

// Limits bound one piece of work. A zero field means no bound.
type Limits struct {
	Time  time.Duration
	Bytes int // of memory, as the size function of the work reports it
}

// A LimitError says which bound was reached.
type LimitError struct {
	Time  time.Duration // 0 if it was not the time
	Bytes int           // 0 if it was not the memory
}

// Error implements error.
func (e *LimitError) Error() string {
	if e.Bytes > 0 {
		return fmt.Sprintf("more than %d bytes of memory", e.Bytes)
	}
	return fmt.Sprintf("more than %v of computing", e.Time)
}

// A Stop is what a meter panics with. Cause is a [*LimitError], or the cause of the
// context's end.
type Stop struct{ Cause error }

// Error implements error.
func (s *Stop) Error() string { return s.Cause.Error() }

// Unwrap returns the cause.
func (s *Stop) Unwrap() error { return s.Cause }

// A Meter counts the steps of one piece of work after another. A nil Meter bounds
// nothing. It is used by one goroutine at a time.
type Meter struct {
	limits Limits
	size   func() int // of what the work fills, in bytes; nil: unknown

	ctx   context.Context
	left  int       // steps until the next look at the bounds
	began time.Time // when the first look was; zero before
}

// New returns a meter. size returns the memory that the work holds.
func New(limits Limits, size func() int) *Meter {
	return &Meter{limits: limits, size: size, left: interval}
}

// interval is the number of steps between looks: a step takes up to some
// microseconds.
const interval = 512

// Start begins a piece of work that is to end with ctx, which may be nil.
func (m *Meter) Start(ctx context.Context) {
	m.ctx, m.left, m.began = ctx, interval, time.Time{}
}

// Pause has the meter bound nothing until the next Start.
func (m *Meter) Pause() { m.ctx, m.left = nil, math.MaxInt }

// Step reports n steps. It panics with a [*Stop] if a bound is reached.
func (m *Meter) Step(n int) {
	if m == nil {
		return
	}
	if m.left -= n; m.left < 0 {
		m.Look()
	}
}

// Look compares the work with its bounds now. It is called directly after something
// that may have taken long and reports no steps.
func (m *Meter) Look() {
	if m == nil || m.left > interval {
		return
	}
	m.left = interval
	if m.ctx != nil && m.ctx.Err() != nil {
		panic(&Stop{context.Cause(m.ctx)})
	}
	now := time.Now()
	if m.began.IsZero() {
		m.began = now
	}
	took := now.Sub(m.began)
	if m.limits.Time > 0 && took > m.limits.Time {
		panic(&Stop{&LimitError{Time: m.limits.Time}})
	}
	if m.limits.Bytes > 0 && m.size != nil && m.size() > m.limits.Bytes {
		panic(&Stop{&LimitError{Bytes: m.limits.Bytes}})
	}
	if took > yieldAfter {
		runtime.Gosched()
	}
}

// yieldAfter is how long work goes on before it lets others have its core: who waits
// for a core waits otherwise for the scheduler's 10 ms.
const yieldAfter = time.Millisecond

// Catch is deferred by the code that began the work. It makes an error of a [*Stop]
// and lets other panics go on.
func Catch(err *error) {
	if r := recover(); r != nil {
		stop, ok := r.(*Stop)
		if !ok {
			panic(r)
		}
		*err = stop.Cause
	}
}
