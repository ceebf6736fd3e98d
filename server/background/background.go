package background

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/stencil-json/stencil/server/problem"
)

// Limits limit runs.
type Limits struct {
	Number    int           // of runs that have not ended; negative: none
	PerClient int           // of those, a client's
	Bytes     int64         // of events kept
	Keep      time.Duration // for which events are kept after the end
}

// Causes with which the context of a run ends.
var (
	ErrCancelled = errors.New("background: the run was cancelled")
	ErrClosed    = problem.New(problem.Problem{Status: http.StatusServiceUnavailable, Kind: problem.Server, Code: "shutting_down",
		Message: "the server was shut down before the response was complete"})
)

// Runs are the runs of a server. It is safe for concurrent use.
type Runs struct {
	limits Limits

	mu      sync.Mutex
	runs    map[string]*Run // also those that have ended, while their events are kept
	count   int             // of those that have not ended
	of      map[string]int  // by client
	bytes   int64           // of all events
	closing bool
}

// New returns no runs yet.
func New(limits Limits) *Runs {
	return &Runs{limits: limits, runs: map[string]*Run{}, of: map[string]int{}}
}

// A Run is one of the runs.
type Run struct {
	ID     string
	runs   *Runs
	client string // whose work it is
	owner  string // who can get it
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}

	// Under the lock of runs:
	state []byte
	log   log
	ended bool
	at    time.Time // of the end
}

// Reserve makes place for a run of a client, which ends with Abandon or after Go.
func (r *Runs) Reserve(ctx context.Context, client, owner, id string) (*Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closing:
		return nil, errClosing
	case r.limits.Number <= 0:
		return nil, errNone
	case r.of[client] >= r.limits.PerClient && r.limits.PerClient < r.limits.Number:
		return nil, errMany(fmt.Sprintf("this client has %d background responses that have not ended, as many as one may", r.of[client]))
	case r.count >= r.limits.Number:
		return nil, errMany(fmt.Sprintf("there are %d background responses that have not ended, as many as may be", r.count))
	}
	run := &Run{ID: id, runs: r, client: client, owner: owner, done: make(chan struct{})}
	run.log.changed = make(chan struct{})
	run.ctx, run.cancel = context.WithCancelCause(ctx)
	r.runs[id] = run
	r.count++
	r.of[client]++
	return run, nil
}

// Context returns the context of the run, which ends with Cancel and when the server is shut down.
func (run *Run) Context() context.Context { return run.ctx }

// Go starts the run. Its place is free once do has returned.
func (run *Run) Go(do func()) {
	go func() {
		defer func() {
			run.end()
			time.AfterFunc(run.runs.limits.Keep, run.Forget)
		}()
		do()
	}()
}

// Abandon gives the place of a run back that has not been started.
func (run *Run) Abandon() {
	run.end()
	run.Forget()
}

// end ends the run.
func (run *Run) end() {
	r := run.runs
	r.mu.Lock()
	defer r.mu.Unlock()
	run.ended, run.at, run.state = true, time.Now(), nil
	run.cancel(nil)
	r.count--
	if r.of[run.client]--; r.of[run.client] == 0 {
		delete(r.of, run.client)
	}
	run.log.wake()
	close(run.done)
	for len(r.runs)-r.count > mostEnded {
		r.shorten()
	}
}

// Forget drops the run's events. A run that has not ended goes on.
func (run *Run) Forget() {
	r := run.runs
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(run)
}

// forget is Forget for callers who hold the lock.
func (r *Runs) forget(run *Run) {
	if run.ended && r.runs[run.ID] == run {
		delete(r.runs, run.ID)
	}
	for len(run.log.events) > 0 {
		r.bytes -= run.log.drop()
	}
}

// Cancel ends the run's context, with a cause. The run ends soon after.
func (run *Run) Cancel(cause error) { run.cancel(cause) }

// Done returns a channel that is closed once the run has ended.
func (run *Run) Done() <-chan struct{} { return run.done }

// Set sets the state of a run.
func (run *Run) Set(state []byte) {
	run.runs.mu.Lock()
	defer run.runs.mu.Unlock()
	run.state = state
}

// State returns the state of a run that has not ended, and whether that is so.
func (run *Run) State() ([]byte, bool) {
	if run == nil {
		return nil, false
	}
	run.runs.mu.Lock()
	defer run.runs.mu.Unlock()
	return run.state, !run.ended
}

// Get returns a run of an owner, nil if there is none.
func (r *Runs) Get(owner, id string) *Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	if run := r.runs[id]; run != nil && run.owner == owner {
		return run
	}
	return nil
}

// Active returns the number of runs that have not ended.
func (r *Runs) Active() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// Close refuses further runs and waits for those there are. When ctx ends, they are ended.
func (r *Runs) Close(ctx context.Context) {
	r.mu.Lock()
	r.closing = true
	var left []*Run
	for _, run := range r.runs {
		if !run.ended {
			left = append(left, run)
		}
	}
	r.mu.Unlock()
	for _, run := range left {
		select {
		case <-run.done:
		case <-ctx.Done():
			run.cancel(ErrClosed)
		}
	}
	for _, run := range left {
		<-run.done
	}
}

// Errors of Reserve.
var (
	errNone = problem.New(problem.Problem{Status: http.StatusBadRequest, Kind: problem.Invalid, Param: "background", Code: "not_offered",
		Message: "background: true is not offered here: the server was started without background responses"})
	errClosing = problem.New(problem.Problem{Status: http.StatusServiceUnavailable, Kind: problem.Server, Code: "shutting_down", RetryAfter: 5 * time.Second,
		Message: "the server is shutting down"})
)

func errMany(message string) error {
	return problem.New(problem.Problem{Status: http.StatusTooManyRequests, Kind: problem.Limited, Param: "background", Code: "too_many_background", RetryAfter: time.Second, Message: message})
}
