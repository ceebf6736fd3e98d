package engine

import (
	"slices"

	"github.com/stencil-json/stencil/backend"
)

// Adapters returns the model's adapters with the scales used by requests that set none.
func (e *Engine) Adapters() []backend.Adapter {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := slices.Clone(e.adapters)
	for i, scale := range e.adapted {
		out[i].Scale = scale
	}
	return out
}

// Adapt sets the scales for future requests that set none. There must be one for each of
// Adapters.
func (e *Engine) Adapt(scales []float32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.adapted = slices.Clone(scales); e.asLoaded(scales) {
		e.adapted = nil
	}
}

// asLoaded reports whether scales are those that the adapters were loaded with.
func (e *Engine) asLoaded(scales []float32) bool {
	for i, scale := range scales {
		if scale != e.adapters[i].Scale {
			return false
		}
	}
	return true
}

// adapt applies a job's scales once no sequence runs with others, and reports whether they are
// in force. Cached prompts were computed with the previous scales and are dropped.
func (l *loop) adapt(j *job) bool {
	want := j.req.Adapters
	if slices.Equal(want, l.scales) {
		return true
	}
	if len(l.active)+len(l.away.list)+l.readsRunning() > 0 {
		return false
	}
	scales := want
	if want == nil {
		for _, a := range l.adapters {
			scales = append(scales, a.Scale)
		}
	}
	if err := l.context.(backend.Adaptable).Adapt(scales); err != nil {
		l.drop(j, err)
		l.sayGoodbye()
		l.signal() // others may wait behind it
		return false
	}
	l.scales = want
	for _, x := range l.slots.all {
		l.slots.clear(x)
	}
	l.slots.kept.clear()
	return true
}
