package agentapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/shares"
	"github.com/stencil-json/stencil/server/wire"
)

// A pausedRun is a run that waits for its user: its saved state, and the spec of
// its questions.
type pausedRun struct {
	ID      string
	Owner   string // only this client can resume it
	Spec    spec
	State   json.RawMessage
	Seed    uint64
	Waiting []agent.Asked
	Spent   usage
	Noted   []string // warnings

	busy  bool // a request is resuming it
	since uint64
	timer *time.Timer
}

// size returns the assumed size of a run in bytes.
func (p *pausedRun) size() int64 {
	return int64(len(p.State)+len(p.Spec.System)+len(p.Spec.Model)) + pausedOverhead
}

// pausedOverhead is the assumed size of a run beside its texts.
const pausedOverhead = 1 << 10

// pausedRuns are the runs that wait for their users, limited in number, bytes
// and time. If there is no room, the run that has waited longest among those of
// the client who has most is dropped.
type pausedRuns struct {
	time time.Duration

	mu    sync.Mutex
	runs  map[string]*pausedRun
	of    shares.Shares
	count uint64
	lost  uint64 // runs dropped to make room or after the time limit
}

// A pausedError means that a run can't be resumed.
type pausedError struct {
	id   string
	busy bool // it is being resumed already; otherwise it does not exist
}

func (e *pausedError) Error() string {
	if e.busy {
		return fmt.Sprintf("the run %q is being resumed already", e.id)
	}
	return fmt.Sprintf("no run %q waits for its user here: it has ended, its time is over, or it has made room for others", e.id)
}

// take returns a client's run to a request that resumes it. Until give or drop,
// no other request can take it.
func (l *pausedRuns) take(owner, id string) (*pausedRun, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.runs[id]
	switch {
	case p == nil || p.Owner != owner:
		return nil, &pausedError{id: strings.ToValidUTF8(id[:min(len(id), wire.LongestName)], "")}
	case p.busy:
		return nil, &pausedError{id: id, busy: true}
	}
	p.busy = true
	p.timer.Stop()
	return p, nil
}

// keep adds a run, replacing one with the same ID, and reports whether there was
// room. If not, the replaced run stays.
func (l *pausedRuns) keep(p *pausedRun) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.runs[p.ID]
	l.remove(before)
	drop, ok := shares.Room(&l.of, p.Owner, shares.Share{Number: 1, Bytes: p.size()}, l.oldest())
	if !ok {
		if before != nil {
			l.add(before)
		}
		return false
	}
	for _, p := range drop {
		l.remove(p)
		l.lost++
	}
	l.add(p)
	l.wait(p)
	return true
}

// add adds a run. The caller holds the lock.
func (l *pausedRuns) add(p *pausedRun) {
	l.runs[p.ID] = p
	l.of.Add(p.Owner, p.size())
}

// give returns a taken run that was not continued.
func (l *pausedRuns) give(p *pausedRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs[p.ID] == p && p.busy {
		l.wait(p)
	}
}

// drop removes a run that has ended.
func (l *pausedRuns) drop(p *pausedRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs[p.ID] == p {
		l.remove(p)
	}
}

// wait starts the time limit of a run. The caller holds the lock.
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

// remove removes a run, which may be nil. The caller holds the lock.
func (l *pausedRuns) remove(p *pausedRun) {
	if p == nil {
		return
	}
	p.timer.Stop()
	delete(l.runs, p.ID)
	l.of.Remove(p.Owner, p.size())
}

// oldest returns the runs that are not being resumed, those first that have waited
// longest. The caller holds the lock.
func (l *pausedRuns) oldest() iter.Seq2[*pausedRun, shares.Thing] {
	idle := slices.DeleteFunc(slices.Collect(maps.Values(l.runs)), func(p *pausedRun) bool { return p.busy })
	slices.SortFunc(idle, func(a, b *pausedRun) int { return cmp.Compare(a.since, b.since) })
	return func(yield func(*pausedRun, shares.Thing) bool) {
		for _, p := range idle {
			if !yield(p, shares.Thing{Owner: p.Owner, Bytes: p.size()}) {
				return
			}
		}
	}
}

func (e *pausedError) Problem() problem.Problem {
	p := problem.Problem{Status: http.StatusNotFound, Kind: problem.NotFound, Param: "resume", Code: "run_not_found", Message: e.Error()}
	if e.busy {
		p.Status, p.Kind, p.Code = http.StatusConflict, problem.Invalid, "run_in_use"
	}
	return p
}
