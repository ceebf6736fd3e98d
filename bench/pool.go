package bench

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// pool works on the cases of a corpus, each on a locked thread, and survives
// what an engine may do wrong: a panic, a hang, a memory leak. Go cannot stop
// a goroutine from outside, so a case out of time or memory is abandoned: its
// goroutine is told, ends when it next looks, and another takes its place.
type pool[R any] struct {
	jobs    int           // cases at once; 0 is 1
	timeout time.Duration // for one case; 0 is no limit
	// memory is the resident size in bytes above which the cases being worked
	// on are abandoned; 0 is no limit.
	memory int64
	// newWork returns the function that works on cases in turn; it is called
	// once for every goroutine, so that the function may keep buffers.
	newWork func() func(c *Case, abandoned *atomic.Bool) R
	// failed makes the result of a case that panicked or was abandoned.
	failed func(c *Case, status Status, message string) R
}

// memoryCheckEvery is often enough to catch a runaway case at some hundred
// megabytes beyond the limit, and seldom enough not to be seen in the times.
const memoryCheckEvery = 100 * time.Millisecond

// run calls collect with every result, from one goroutine, in the order in
// which cases end. An error of collect stops the run and is returned.
func (p *pool[R]) run(corpus *Corpus, collect func(R) error) error {
	cases := make(chan Case)
	results := make(chan R)
	stop := make(chan struct{})
	var readErr error
	go func() {
		defer close(cases)
		readErr = corpus.Each(func(c Case) error {
			select {
			case cases <- c:
				return nil
			case <-stop:
				return errEnough
			}
		})
	}()
	var slots sync.WaitGroup
	for range max(p.jobs, 1) {
		slots.Go(func() { p.slot(cases, results) })
	}
	go func() {
		slots.Wait()
		close(results)
	}()
	var collectErr error
	for r := range results {
		if collectErr != nil {
			continue
		}
		if collectErr = collect(r); collectErr != nil {
			close(stop)
		}
	}
	// results is closed after cases, and cases after readErr is set.
	return errors.Join(collectErr, readErr)
}

// slot hands cases to a worker of its own, one at a time, and replaces the
// worker when a case has to be abandoned.
func (p *pool[R]) slot(cases <-chan Case, results chan<- R) {
	w := p.newWorker()
	defer func() { close(w.in) }()
	ticker := time.NewTicker(memoryCheckEvery)
	defer ticker.Stop()
	for c := range cases {
		var deadline <-chan time.Time
		if p.timeout > 0 {
			deadline = time.After(p.timeout)
		}
		giveUp := func(status Status, message string) {
			w.abandoned.Store(true)
			close(w.in)
			w = p.newWorker()
			results <- p.failed(&c, status, message)
		}
		w.in <- &c
		for open := true; open; {
			select {
			case r := <-w.out:
				results <- r
				open = false
			case <-deadline:
				giveUp(TimedOut, fmt.Sprintf("no end after %v", p.timeout))
				open = false
			case <-ticker.C:
				if p.memory == 0 || residentBytes() < p.memory {
					continue
				}
				// Memory of earlier cases that was not returned yet is no fault
				// of this one.
				debug.FreeOSMemory()
				if rss := residentBytes(); rss >= p.memory {
					giveUp(Crashed, fmt.Sprintf("memory limit: the process holds %d MiB of %d MiB", rss>>20, p.memory>>20))
					open = false
				}
			}
		}
	}
}

// poolWorker is one goroutine on a locked thread.
type poolWorker[R any] struct {
	in        chan *Case
	out       chan R // holds one, so that an abandoned worker can end
	abandoned atomic.Bool
}

func (p *pool[R]) newWorker() *poolWorker[R] {
	w := &poolWorker[R]{in: make(chan *Case), out: make(chan R, 1)}
	go func() {
		unlock := lockThread()
		defer unlock()
		work := p.newWork()
		for c := range w.in {
			w.out <- p.guard(work, c, &w.abandoned)
		}
	}()
	return w
}

// guard turns a panic into a failed case.
func (p *pool[R]) guard(work func(*Case, *atomic.Bool) R, c *Case, abandoned *atomic.Bool) (r R) {
	defer func() {
		if v := recover(); v != nil {
			r = p.failed(c, Crashed, fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	return work(c, abandoned)
}
