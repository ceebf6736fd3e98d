package meter

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"
)

// Limits bounds one piece of work. A zero field means no limit.
type Limits struct {
	Time  time.Duration
	Bytes int // of memory, as reported by the size function
}

// A LimitError reports which limit was reached.
type LimitError struct {
	Time  time.Duration // 0 if it was not the time limit
	Bytes int           // 0 if it was not the memory limit
}

// Error implements error.
func (e *LimitError) Error() string {
	if e.Bytes > 0 {
		return fmt.Sprintf("more than %d bytes of memory", e.Bytes)
	}
	return fmt.Sprintf("more than %v of computing", e.Time)
}

// A Stop is the value with which a meter panics. Cause is a [*LimitError], or the
// cause of the context's end.
type Stop struct{ Cause error }

// Error implements error.
func (s *Stop) Error() string { return s.Cause.Error() }

// Unwrap returns the cause.
func (s *Stop) Unwrap() error { return s.Cause }

// A Meter counts the steps of consecutive pieces of work. A nil Meter has no limits.
// It is not safe for concurrent use.
type Meter struct {
	limits Limits
	size   func() int // bytes in use by the work; nil: unknown

	ctx   context.Context
	left  int       // steps until the limits are checked next
	began time.Time // when they were first checked, later by its rests; zero before
	told  time.Time // until when its pace has been told of the work
}

// New returns a meter. size returns the memory in use by the work.
func New(limits Limits, size func() int) *Meter {
	return &Meter{limits: limits, size: size, left: interval}
}

// interval is the number of steps between checks: a step takes up to some
// microseconds.
const interval = 512

// Start starts a piece of work that ends with ctx, which may be nil.
func (m *Meter) Start(ctx context.Context) {
	m.ctx, m.left, m.began = ctx, interval, time.Time{}
}

// Pause disables the limits until the next Start.
func (m *Meter) Pause() { m.ctx, m.left = nil, math.MaxInt }

// Step reports n steps. It panics with a [*Stop] if a bound is reached.
func (m *Meter) Step(n int) {
	if m == nil {
		return
	}
	if m.left -= n; m.left < 0 {
		m.look(true)
	}
}

// StepLocked is Step for work that holds a lock which others need: it does not rest, whatever the pace.
func (m *Meter) StepLocked(n int) {
	if m == nil {
		return
	}
	if m.left -= n; m.left < 0 {
		m.look(false)
	}
}

// Look checks the limits immediately. It is called after operations that may take
// long and report no steps.
func (m *Meter) Look() { m.look(true) }

func (m *Meter) look(mayRest bool) {
	if m == nil || m.left > interval {
		return
	}
	m.left = interval
	if m.ctx != nil && m.ctx.Err() != nil {
		panic(&Stop{context.Cause(m.ctx)})
	}
	now := time.Now()
	if m.began.IsZero() {
		m.began, m.told = now, now
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
		if worked := now.Sub(m.told); mayRest && worked > yieldAfter {
			rested := Rest(m.ctx, worked)
			m.began, m.told = m.began.Add(rested), now.Add(rested)
		}
	}
}

// Stop ends the piece of work, for a cause that the working code has found: it panics with a [*Stop], unless the meter is
// paused.
func (m *Meter) Stop(cause error) {
	if m != nil && m.left <= interval {
		panic(&Stop{cause})
	}
}

// yieldAfter is how long work runs before it yields its core: other goroutines would
// otherwise wait for the scheduler's 10 ms.
const yieldAfter = time.Millisecond

// Catch is deferred by the code that started the work. It turns a [*Stop] into an
// error and passes on other panics.
func Catch(err *error) {
	if r := recover(); r != nil {
		stop, ok := r.(*Stop)
		if !ok {
			panic(r)
		}
		*err = stop.Cause
	}
}
