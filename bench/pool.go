package bench

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// pool processes the cases of a corpus, each on a locked thread, and survives
// panics, hangs and memory leaks of an engine. Go can't stop a goroutine from
// outside, so a case that exceeds its time or memory is abandoned: its goroutine
// gets a signal and ends when it next checks it, and a new one takes its place.
type pool[R any] struct {
	jobs    int           // concurrent cases; 0 is 1
	timeout time.Duration // per case; 0 is no limit
	// memory is the resident size in bytes above which the cases in progress are
	// abandoned; 0 is no limit.
	memory int64
	// newWork returns a function that processes cases one after another. It is
	// called once per goroutine, so that the function may keep buffers.
	newWork func() func(c *Case, abandoned *atomic.Bool) R
	// failed returns the result of a case that panicked or was abandoned.
	failed func(c *Case, status Status, message string) R

	stuck stuckCases
}

// stuckCases are the abandoned cases whose goroutines have not ended yet.
type stuckCases struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (s *stuckCases) set(id string, stuck bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[string]bool{}
	}
	s.ids[id] = stuck
}

// list returns the names of the cases, "" if there are none.
func (s *stuckCases) list() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for id, stuck := range s.ids {
		if stuck {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, ", ")
}

// memoryCheckEvery is short enough to catch a runaway case within a few hundred
// megabytes of the limit, and long enough not to affect the measured times.
const memoryCheckEvery = 100 * time.Millisecond

// run calls collect with every result, on one goroutine, in the order in which cases
// end. An error of collect stops the run and is returned.
func (p *pool[R]) run(ctx context.Context, corpus *Corpus, collect func(R) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cases := make(chan Case)
	results := make(chan R)
	var readErr error
	go func() {
		defer close(cases)
		readErr = corpus.Each(func(c Case) error {
			select {
			case cases <- c:
				return nil
			case <-ctx.Done():
				return errEnough
			}
		})
	}()
	var slots sync.WaitGroup
	for range max(p.jobs, 1) {
		slots.Go(func() { p.slot(ctx, stop, cases, results) })
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
			stop(collectErr)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	// results is closed after cases, and cases after readErr is set.
	return readErr
}

// slot passes cases to its worker, one at a time, and replaces the worker when it
// abandons a case.
func (p *pool[R]) slot(ctx context.Context, stop context.CancelCauseFunc, cases <-chan Case, results chan<- R) {
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
			w.abandon(c.ID, &p.stuck)
			w = p.newWorker()
			results <- p.failed(&c, status, message)
		}
		w.in <- &c
		for open := true; open; {
			select {
			case r := <-w.out:
				results <- r
				open = false
			case <-ctx.Done():
				w.abandoned.Store(true)
				return
			case <-deadline:
				giveUp(TimedOut, fmt.Sprintf("no end after %v", p.timeout))
				open = false
			case <-ticker.C:
				if p.memory == 0 || residentBytes() < p.memory {
					continue
				}
				// Free memory of earlier cases that was not returned to the system
				// yet doesn't count.
				debug.FreeOSMemory()
				if rss := residentBytes(); rss >= p.memory {
					if stuck := p.stuck.list(); stuck != "" {
						// The stuck cases may hold the memory, and only the end of
						// the process frees it.
						stop(fmt.Errorf("bench: out of memory at %s: given up and still running: %s", c.ID, stuck))
						continue
					}
					giveUp(Crashed, fmt.Sprintf("memory limit: the process holds %d MiB of %d MiB", rss>>20, p.memory>>20))
					open = false
				}
			}
		}
	}
}

// poolWorker is a goroutine on a locked thread.
type poolWorker[R any] struct {
	in        chan *Case
	out       chan R // has room for one result, so that an abandoned worker can end
	abandoned atomic.Bool
}

// abandon signals the worker to end, and lists its case as stuck until it does.
func (w *poolWorker[R]) abandon(id string, stuck *stuckCases) {
	w.abandoned.Store(true)
	close(w.in)
	stuck.set(id, true)
	go func() {
		<-w.out
		stuck.set(id, false)
	}()
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

// guard converts a panic to a failed case.
func (p *pool[R]) guard(work func(*Case, *atomic.Bool) R, c *Case, abandoned *atomic.Bool) (r R) {
	defer func() {
		if v := recover(); v != nil {
			r = p.failed(c, Crashed, fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	return work(c, abandoned)
}
