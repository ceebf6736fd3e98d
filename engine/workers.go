package engine

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// workers are goroutines that run steps of sequences beside the loop. Work on a
// constraint may take arbitrarily long, so the loop waits for it no longer than about a
// step: see [away.attend].
//
// Waking a worker costs some ten microseconds, in a virtual machine up to hundreds, on
// the loop's thread and on a core that llama.cpp may be using. Work that is expected to
// be short is therefore not given to workers: see worthHelp and [watch].
type workers struct {
	errands chan *sequence
	signal  func()         // called after each errand
	done    sync.WaitGroup // of the goroutines
}

// newWorkers starts n goroutines, enough for the sequences that run concurrently.
func newWorkers(n int, signal func()) *workers {
	w := &workers{errands: make(chan *sequence), signal: signal}
	for range n {
		w.done.Go(func() {
			for s := range w.errands {
				w.run(s)
			}
		})
	}
	return w
}

// give has a worker run a step of s. No other goroutine may touch s until s.back
// signals that it is done.
func (w *workers) give(s *sequence, step func(*sequence)) {
	s.errand = step
	select {
	case w.errands <- s:
	default: // all are busy; don't wait for them
		w.done.Go(func() { w.run(s) })
	}
}

func (w *workers) run(s *sequence) {
	s.toll.begin(nil, 0)
	guard(s, s.errand)
	s.toll.end()
	s.toll.pay()
	s.back <- struct{}{}
	w.signal()
}

// spins is how often wait polls for a step before it sleeps, as steps may take microseconds. It makes a few
// microseconds: polling for longer takes the core from the worker when other requests keep all of them busy.
const spins = 1000

// leastTimer is the shortest time that Go's timers keep: a process with nothing else to do sleeps in epoll_wait, which
// counts milliseconds.
const leastTimer = time.Millisecond

// wait waits for the steps of all sequences in list, at most for patience, and returns
// those that are not done.
func (w *workers) wait(list []*sequence, patience time.Duration) (late []*sequence) {
	var timer *time.Timer
	began := time.Now()
	for _, s := range list {
		for i := 0; i < spins && len(s.back) == 0; i++ {
			// A poll takes some nanoseconds; sleeping and waking take microseconds.
		}
		for patience < leastTimer && len(s.back) == 0 && time.Since(began) < patience {
			runtime.Gosched()
		}
		select {
		case <-s.back:
			continue
		default:
		}
		if patience < leastTimer {
			late = append(late, s)
			continue
		}
		if timer == nil {
			timer = time.NewTimer(patience)
			defer timer.Stop()
		}
		select {
		case <-s.back:
		case <-timer.C:
			timer.Reset(0) // for the others
			late = append(late, s)
		}
	}
	return late
}

// guard runs a step and turns a panic into a failure of the sequence, so that a bug
// hit by one request does not end the others.
func guard(s *sequence, step func(*sequence)) {
	defer func() {
		if r := recover(); r != nil {
			s.fail(fmt.Errorf("engine: internal error: %v\n%s", r, debug.Stack()))
		}
	}()
	step(s)
}

func (w *workers) close() {
	close(w.errands)
	w.done.Wait()
}
