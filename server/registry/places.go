package registry

import (
	"net/http"
	"slices"
	"sync"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/problem"
)

// places limit how many models loaded on demand are in memory at once. Models queue for a place: the first in line
// takes it as soon as a place is free or an idle model can be unloaded for it.
type places struct {
	mu    sync.Mutex
	moved sync.Cond // uses mu; signals that a place may be free, or a queued model no longer wanted
	line  []*Entry
}

// enter waits until the model may be loaded, and reports whether a request still wants it. If none does, the load
// attempt is over. The model keeps its place until it is unloaded or leave is called.
func (r *Registry) enter(h *Entry, done chan struct{}) bool {
	if r.Max <= 0 {
		return true
	}
	p := &r.places
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = append(p.line, h)
	for p.line[0] != h || !r.room(h) {
		if h.giveUp(done) {
			p.line = slices.DeleteFunc(p.line, func(x *Entry) bool { return x == h })
			p.moved.Broadcast()
			return false
		}
		p.moved.Wait()
	}
	p.line = p.line[1:]
	h.mu.Lock()
	h.placed = true
	h.mu.Unlock()
	p.moved.Broadcast() // the next in line may find another idle model
	return true
}

// leave signals that places may be free. The caller must not hold the lock of an entry.
func (r *Registry) leave() {
	if r.Max <= 0 {
		return
	}
	r.places.mu.Lock()
	defer r.places.mu.Unlock()
	r.places.moved.Broadcast()
}

// room reports whether a place is free, after unloading an idle model if necessary.
func (r *Registry) room(wanted *Entry) bool {
	for {
		n := 0
		for _, h := range r.Every() {
			h.mu.Lock()
			if h.placed {
				n++
			}
			h.mu.Unlock()
		}
		if n < r.Max {
			return true
		}
		if !r.makeRoom(wanted) {
			return false
		}
	}
}

// giveUp ends the load attempt if no request waits for the model any more or the server is closing.
func (h *Entry) giveUp(done chan struct{}) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting > 0 && !h.registry.closing.Load() {
		return false
	}
	if h.waiting > 0 {
		h.err = engine.ErrClosed
	}
	h.loading = nil
	close(done)
	return true
}

// errNotLoaded refuses a request for a model that is not in memory on a server where requests don't load models.
var errNotLoaded = problem.New(problem.Problem{Status: http.StatusBadRequest, Kind: problem.Invalid, Param: "model", Code: "model_not_loaded",
	Message: "the model is not loaded, and this server loads models only by POST /models/load"})
