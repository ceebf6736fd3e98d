package agentapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// A pausedRun is a run that waits for its user: as it was written down, and how
// it is asked.
type pausedRun struct {
	ID      string
	Spec    spec
	State   json.RawMessage
	Seed    uint64
	Waiting []agent.Asked
	Spent   usage
	Noted   []string // warnings

	busy  bool // somebody goes on with it
	since uint64
	timer *time.Timer
}

// size is how many bytes a run is taken to occupy.
func (p *pausedRun) size() int64 {
	return int64(len(p.State)+len(p.Spec.System)+len(p.Spec.Model)) + pausedOverhead
}

// pausedOverhead is what a run occupies beside its texts.
const pausedOverhead = 1 << 10

// pausedRuns are the runs that wait for their users. They are bounded in number,
// bytes and time; when there is no room, the one that has waited longest goes.
type pausedRuns struct {
	number int
	bytes  int64
	time   time.Duration

	mu    sync.Mutex
	runs  map[string]*pausedRun
	used  int64
	count uint64
	lost  uint64 // that gave way or whose time was over
}

// A pausedError says that a run can't be resumed.
type pausedError struct {
	id   string
	busy bool // it is being resumed already; else there is none
}

func (e *pausedError) Error() string {
	if e.busy {
		return fmt.Sprintf("the run %q is being resumed already", e.id)
	}
	return fmt.Sprintf("no run %q waits for its user here: it has ended, its time is over, or it has made room for others", e.id)
}

// take returns a run for somebody who goes on with it. Until give or drop nobody
// else gets it.
func (l *pausedRuns) take(id string) (*pausedRun, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.runs[id]
	switch {
	case p == nil:
		return nil, &pausedError{id: strings.ToValidUTF8(id[:min(len(id), wire.LongestName)], "")}
	case p.busy:
		return nil, &pausedError{id: id, busy: true}
	}
	p.busy = true
	p.timer.Stop()
	return p, nil
}

// keep puts a run in, in place of the one with the same ID, and reports whether
// there is room for it. If not, the other one stays.
func (l *pausedRuns) keep(p *pausedRun) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.runs[p.ID]
	l.remove(before)
	for len(l.runs) >= l.number || l.used+p.size() > l.bytes {
		oldest := l.oldest()
		if oldest == nil || p.size() > l.bytes {
			if before != nil {
				l.add(before)
			}
			return false
		}
		l.remove(oldest)
		l.lost++
	}
	l.add(p)
	l.wait(p)
	return true
}

// add puts a run in. The lock is held.
func (l *pausedRuns) add(p *pausedRun) {
	l.runs[p.ID] = p
	l.used += p.size()
}

// give puts a run back that nothing has come of.
func (l *pausedRuns) give(p *pausedRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs[p.ID] == p && p.busy {
		l.wait(p)
	}
}

// drop takes a run out that has ended.
func (l *pausedRuns) drop(p *pausedRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs[p.ID] == p {
		l.remove(p)
	}
}

// wait begins the time of a run. The lock is held.
func (l *pausedRuns) wait(p *pausedRun) {
	l.count++
	p.busy, p.since = false, l.count
	since := l.count
	p.timer = time.AfterFunc(l.time, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.runs[p.ID] == p && !p.busy && p.since == since {
			l.remove(p)
			l.lost++
		}
	})
}

// remove takes a run out; nil is none. The lock is held.
func (l *pausedRuns) remove(p *pausedRun) {
	if p == nil {
		return
	}
	p.timer.Stop()
	delete(l.runs, p.ID)
	l.used -= p.size()
}

// oldest is the run that has waited longest, of those that nobody goes on with.
// The lock is held.
func (l *pausedRuns) oldest() (out *pausedRun) {
	for _, p := range l.runs {
		if !p.busy && (out == nil || p.since < out.since) {
			out = p
		}
	}
	return out
}

func (e *pausedError) Problem() problem.Problem {
	p := problem.Problem{Status: http.StatusNotFound, Kind: problem.NotFound, Param: "resume", Code: "run_not_found", Message: e.Error()}
	if e.busy {
		p.Status, p.Kind, p.Code = http.StatusConflict, problem.Invalid, "run_in_use"
	}
	return p
}
