package background

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// A log has the events of a run: those from number first on.
type log struct {
	events  []string
	first   int
	bytes   int64
	changed chan struct{} // closed at the next event, and at the end
}

// eventOverhead is the assumed size of an event beside its text.
const eventOverhead = 64

func (l *log) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// drop drops the first event and returns its size.
func (l *log) drop() int64 {
	size := int64(len(l.events[0])) + eventOverhead
	l.events[0] = ""
	l.events = l.events[1:]
	l.first++
	l.bytes -= size
	return size
}

// ErrGone means that events have made room for others.
var ErrGone = problem.New(problem.Problem{Status: http.StatusBadRequest, Kind: problem.Invalid, Param: "starting_after", Code: "events_not_kept",
	Message: "the events after that number are not kept any more; without stream, the response is there as a whole"})

// Event adds an event as text of server-sent events. Its number is that of the events before it.
func (run *Run) Event(name string, data any) error {
	text, err := wire.EventText(name, data)
	if err != nil {
		return err
	}
	r := run.runs
	r.mu.Lock()
	defer r.mu.Unlock()
	run.log.events = append(run.log.events, text)
	size := int64(len(text)) + eventOverhead
	run.log.bytes += size
	r.bytes += size
	run.log.wake()
	for r.bytes > r.limits.Bytes {
		r.shorten()
	}
	return nil
}

// Ping does nothing: no connection has to be kept open.
func (run *Run) Ping() error { return nil }

// mostEnded is how many runs that have ended are known.
const mostEnded = 256

// shorten drops events of the client with the most, in bytes or, of runs that have ended, in runs: all of the run that ended
// first, or else the first of the run with the most. The caller holds the lock.
func (r *Runs) shorten() {
	of := map[string]int64{}
	size := func(run *Run) int64 {
		switch {
		case r.bytes > r.limits.Bytes:
			return run.log.bytes
		case run.ended:
			return 1
		}
		return 0
	}
	for _, run := range r.runs {
		of[run.client] += size(run)
	}
	var most string
	for client, n := range of {
		if n > of[most] {
			most = client
		}
	}
	var oldest, largest *Run
	for _, run := range r.runs {
		if run.client != most || size(run) == 0 {
			continue
		}
		if run.ended && (oldest == nil || run.at.Before(oldest.at)) {
			oldest = run
		}
		if largest == nil || run.log.bytes > largest.log.bytes {
			largest = run
		}
	}
	if oldest != nil {
		r.forget(oldest)
		return
	}
	r.bytes -= largest.log.drop()
}

// Kept reports whether the events after a number are there. It is false for no run.
func (run *Run) Kept(after int) bool {
	if run == nil {
		return false
	}
	run.runs.mu.Lock()
	defer run.runs.mu.Unlock()
	return after+1 >= run.log.first && (!run.ended || run.runs.runs[run.ID] == run)
}

// atOnce is how many events are written between two looks at the log.
const atOnce = 256

// Follow writes the events after a number, and those to come, until the run or ctx has ended.
func (run *Run) Follow(ctx context.Context, after int, out *wire.EventStream) error {
	for next := after + 1; ; {
		run.runs.mu.Lock()
		at, ended, changed := next-run.log.first, run.ended, run.log.changed
		var events []string
		if at >= 0 && at < len(run.log.events) {
			events = slices.Clone(run.log.events[at:min(at+atOnce, len(run.log.events))])
		}
		run.runs.mu.Unlock()
		if at < 0 {
			return ErrGone
		}
		for _, text := range events {
			if err := out.Flush(text); err != nil {
				return err
			}
		}
		if next += len(events); len(events) > 0 {
			continue
		}
		if ended {
			return nil
		}
		if err := idle(ctx, changed, out); err != nil {
			return err
		}
	}
}

// idle waits for a change, and keeps the connection open meanwhile.
func idle(ctx context.Context, changed <-chan struct{}, out wire.Pinger) error {
	ping := time.NewTicker(wire.PingEvery)
	defer ping.Stop()
	for {
		select {
		case <-changed:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ping.C:
			if err := out.Ping(); err != nil {
				return err
			}
		}
	}
}

// Events is the answer that follows a run.
type Events struct {
	Run   *Run
	After int // the number of the last event that the client has; -1: none
}

// Write implements [wire.Answer].
func (e Events) Write(w http.ResponseWriter, r *http.Request) error {
	out := wire.NewEventStream(w)
	err := e.Run.Follow(r.Context(), e.After, out)
	if errors.Is(err, ErrGone) {
		p := problem.Describe(err)
		err = errors.Join(err, out.Event("error", map[string]any{"type": "error", "code": p.Code, "message": p.Message, "param": nil, "sequence_number": e.After + 1}))
	}
	return err
}
