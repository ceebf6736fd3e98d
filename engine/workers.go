package engine

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// workers are goroutines that help the loop when there is the same to do for
// several sequences, or something to do while the model computes.
//
// Waking one costs some ten microseconds, on the loop's thread and on a core
// that llama.cpp may be computing on. So they are called only for work that is
// worth it: see worthHelp.
type workers struct {
	count  int
	shifts chan *shift
	done   sync.WaitGroup // of the goroutines
}

// A shift is a list of sequences that whoever has time takes a step with.
type shift struct {
	list []*sequence
	step func(*sequence)
	next atomic.Int32   // the first sequence that nobody has taken
	left sync.WaitGroup // sequences whose step has not returned
}

func newWorkers(n int) *workers {
	w := &workers{count: n, shifts: make(chan *shift, n)}
	for range n {
		w.done.Go(func() {
			for s := range w.shifts {
				s.help()
			}
		})
	}
	return w
}

// start calls as many workers to take a step with every sequence, and does not
// wait for them.
func (w *workers) start(list []*sequence, step func(*sequence), helpers int) *shift {
	s := &shift{list: list, step: step}
	s.left.Add(len(list))
	for range min(helpers, w.count) {
		select {
		case w.shifts <- s:
		default: // all are busy and have been called already
		}
	}
	return s
}

// help takes steps until nobody is left to take one with.
func (s *shift) help() {
	for {
		i := int(s.next.Add(1)) - 1
		if i >= len(s.list) {
			return
		}
		guard(s.list[i], s.step)
		s.left.Done()
	}
}

// finish does what no worker has begun, and waits for the rest.
func (s *shift) finish() {
	s.help()
	s.left.Wait()
}

// run takes a step with every sequence and returns when all are done, with
// help if it is wanted. The caller's goroutine does its share.
func (w *workers) run(list []*sequence, step func(*sequence), help bool) {
	if help && len(list) > 1 {
		w.start(list, step, len(list)-1).finish()
		return
	}
	for _, s := range list {
		guard(s, step)
	}
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
	close(w.shifts)
	w.done.Wait()
}
