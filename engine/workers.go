package engine

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// workers runs the same step for several sequences at once.
type workers struct {
	tasks chan task
	done  sync.WaitGroup // of the goroutines
}

type task struct {
	seq  *sequence
	step func(*sequence)
	wait *sync.WaitGroup
}

func newWorkers(n int) *workers {
	w := &workers{tasks: make(chan task)}
	for range n {
		w.done.Go(func() {
			for t := range w.tasks {
				guard(t.seq, t.step)
				t.wait.Done()
			}
		})
	}
	return w
}

// start runs step for every sequence; wait is done when all have returned. It
// does not wait for a free worker.
func (w *workers) start(list []*sequence, step func(*sequence), wait *sync.WaitGroup) {
	if len(list) == 0 {
		return
	}
	wait.Add(len(list))
	go func() {
		for _, s := range list {
			w.tasks <- task{s, step, wait}
		}
	}()
}

// run runs step for every sequence and returns when all are done. The caller's
// goroutine takes the first one, so that a lone sequence costs no switch.
func (w *workers) run(list []*sequence, step func(*sequence)) {
	if len(list) == 0 {
		return
	}
	var wait sync.WaitGroup
	w.start(list[1:], step, &wait)
	guard(list[0], step)
	wait.Wait()
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
	close(w.tasks)
	w.done.Wait()
}
