package registry

import (
	"net/http"
	"slices"
	"sync"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/problem"
)

// places bound how many models that were loaded on request are in memory at once. Models wait in line for one: the first
// takes it as soon as there is a free one or a model that nobody uses, which gives up its own.
type places struct {
	mu    sync.Mutex
	moved sync.Cond // of mu: a place may be free, or a model in line no longer wanted
	line  []*Entry
}

// enter waits until the model may be loaded, and reports whether anyone still wants it. If nobody does, its attempt to load
// is over. The model has its place until it is unloaded, or leave is called.
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
	p.moved.Broadcast() // who is first now may find another model idle
	return true
}

// leave says that places may be free. Nobody holds the lock of an entry then.
func (r *Registry) leave() {
	if r.Max <= 0 {
		return
	}
	r.places.mu.Lock()
	defer r.places.mu.Unlock()
	r.places.moved.Broadcast()
}

// room reports whether there is a place, and makes one if it can.
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

// giveUp ends the attempt to load a model that nobody waits for any more, or that is too late, since the server ends.
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

// errNotLoaded refuses a request for a model that is not in memory, where requests don't load models.
var errNotLoaded = problem.New(problem.Problem{Status: http.StatusBadRequest, Kind: problem.Invalid, Param: "model", Code: "model_not_loaded",
	Message: "the model is not loaded, and requests load none here: POST /models/load does"})
