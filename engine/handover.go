package engine

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// The loop runs most steps of constrained sequences itself: waking a worker for each costs more than a short step takes, in a
// virtual machine many times as much. But every step may take arbitrarily long, on its own or for a lock. Therefore a timer
// watches the loop, and if a step takes too long, the timer's goroutine becomes the loop. The goroutine that runs the step
// is then the worker of that sequence, which is away, and ends with the step.

// A watch notices when a step that the loop runs itself takes too long.
type watch struct {
	// step is odd while the loop runs a step itself, and grows by one at its start and end. Whoever ends the step is the
	// loop afterwards.
	step atomic.Uint64
	s    *sequence // whose step it is

	timer   *time.Timer
	ticking atomic.Bool  // the timer runs, or its function does and will start it again
	period  atomic.Int64 // of the timer, in nanoseconds: a step is waited for once or twice as long
	seen    uint64       // step at the last tick; for the timer's function alone
}

// own runs the step of a sequence. If it returns false, another goroutine has become the loop, and the caller must return
// without touching anything.
func (a *away) own(s *sequence) bool {
	w := &a.watch
	w.s, s.stage = s, a.at
	step, patience, signal := a.step, a.patience(), a.loop.workers.signal
	w.period.Store(int64(patience))
	during := w.step.Add(1) // from here on, all but s may be another goroutine's
	if !w.ticking.Load() && w.ticking.CompareAndSwap(false, true) {
		w.timer.Reset(patience)
	}
	s.toll.begin(w, during)
	guard(s, step)
	s.toll.end()
	if w.step.CompareAndSwap(during, during+1) {
		return true
	}
	s.toll.pay()
	s.back <- struct{}{}
	signal()
	return false
}

// tick is the timer's function. It becomes the loop if the same step has been running since the last tick, and stops the
// timer if no step has.
func (a *away) tick() {
	w := &a.watch
	now, seen := w.step.Load(), w.seen
	if now == seen {
		if now%2 == 1 && w.step.CompareAndSwap(now, now+1) {
			w.ticking.Store(false)
			a.drive(a.resume)
			return
		}
		w.ticking.Store(false) // from here on, own may start the timer
		if now = w.step.Load(); now == seen || !w.ticking.CompareAndSwap(false, true) {
			return
		}
	}
	w.seen = now
	w.timer.Reset(time.Duration(w.period.Load()))
}

// drive runs the loop, after first, until the engine is closed or another goroutine has become the loop. It locks its OS
// thread: otherwise the goroutine would change threads after nearly every decode and lose its core's caches.
func (a *away) drive(first func() (still bool)) {
	l := a.loop
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if !l.stepOn(first) {
		return
	}
	for {
		a.comeBack()
		l.reap()
		l.seats.receive()
		l.admit()
		l.publish()
		if len(l.active) == 0 {
			if l.finished() {
				l.workers.close()
				l.context.Close()
				l.cancelBase()
				l.reads.Wait()
				close(l.stopped)
				return
			}
			<-l.wake
			continue
		}
		if !l.stepOn(l.step) {
			return
		}
	}
}

// resume continues a step of the loop after the goroutine that ran it has become the worker of one of its sequences.
func (a *away) resume() bool {
	s := a.watch.s
	a.attended = slices.DeleteFunc(slices.Clone(a.attended), func(x *sequence) bool { return x == s })
	a.goAway(s)
	return a.loop.conclude(a.goOn())
}
