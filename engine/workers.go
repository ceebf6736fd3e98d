package engine

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// workers are goroutines that take steps with sequences beside the loop. What a
// constraint asks for may take any time, so the loop never does it itself, and does
// not wait for it longer than about a step: see [away.attend].
//
// Waking a worker costs some ten microseconds, on the loop's thread and on a core that
// llama.cpp may be computing on. So what is known to be short is not given to them:
// see worthHelp.
type workers struct {
	errands chan *sequence
	signal  func()         // called after each errand
	done    sync.WaitGroup // of the goroutines
}

// newWorkers starts n goroutines, for as many sequences as run at a time.
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

// give has a worker take a step with s, which nobody else may touch until s.back says
// that it is done.
func (w *workers) give(s *sequence, step func(*sequence)) {
	s.errand = step
	select {
	case w.errands <- s:
	default: // all are busy, and nobody is to wait for them
		w.done.Go(func() { w.run(s) })
	}
}

func (w *workers) run(s *sequence) {
	guard(s, s.errand)
	s.back <- struct{}{}
	w.signal()
}

// spins is how often wait looks for a step that takes microseconds before it sleeps.
const spins = 20_000

// wait waits until the steps with all of list have been taken, but for no longer than
// patience, and returns those with which it was not.
func (w *workers) wait(list []*sequence, patience time.Duration) (late []*sequence) {
	var timer *time.Timer
	for _, s := range list {
		for i := 0; i < spins && len(s.back) == 0; i++ {
			// Each look takes some nanoseconds; sleeping, and being woken, microseconds.
		}
		select {
		case <-s.back:
			continue
		default:
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

// guard runs a step and makes a failure of the sequence of a panic, so that a
// mistake met by one request does not end the others.
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
