package generation

import (
	"time"

	"github.com/stencil-json/stencil/engine"
)

// A Clock takes the time of a text that is being written, for streams that tell it with every part. It starts with the
// first tokens; what the prompt took is known at the end alone.
type Clock struct{ start time.Time }

// Timings returns those of a text that has so many tokens by now.
func (c *Clock) Timings(tokens int) *Timings {
	if c.start.IsZero() {
		c.start = time.Now()
	}
	out := Timings{Generate: Milliseconds(time.Since(c.start))}
	out.TokensPerSecond = Rate(tokens-1, time.Since(c.start))
	out.count(0, 0, tokens, 1)
	return &out
}

// A Progress is how much of a prompt has been read, as llama-server says it.
type Progress struct {
	Total     int     `json:"total"`
	Cache     int     `json:"cache"`     // what was known from the start
	Processed int     `json:"processed"` // that, and what has been read
	Time      float64 `json:"time_ms"`
}

// ProgressOf returns the reply for a progress, and the timings so far.
func ProgressOf(p engine.Progress) (*Progress, *Timings) {
	ms := Milliseconds(p.Took)
	if p.Known == p.Cached {
		ms = 0 // nothing has been read
	}
	t := Timings{Prompt: ms}
	t.count(p.Known-p.Cached, p.Cached, 0, 0)
	return &Progress{p.Total, p.Cached, p.Known, ms}, &t
}
