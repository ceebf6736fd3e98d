package generation

import (
	"time"

	"github.com/stencil-json/stencil/engine"
)

// A Clock measures the time of a text that is being generated, for streams that report it with every part. It starts
// with the first tokens; the prefill time is known only at the end.
type Clock struct{ start time.Time }

// Timings returns the timings of a text that has the given number of tokens so far.
func (c *Clock) Timings(tokens int) *Timings {
	if c.start.IsZero() {
		c.start = time.Now()
	}
	out := Timings{Generate: Milliseconds(time.Since(c.start))}
	out.TokensPerSecond = Rate(tokens-1, time.Since(c.start))
	out.count(0, 0, tokens, 1)
	return &out
}

// A Progress reports the progress of a prefill, in llama-server's form.
type Progress struct {
	Total     int     `json:"total"`
	Cache     int     `json:"cache"`     // tokens reused from the cache
	Processed int     `json:"processed"` // tokens reused or decoded so far
	Time      float64 `json:"time_ms"`
}

// ProgressOf returns the reply for a progress event, and the timings so far.
func ProgressOf(p engine.Progress) (*Progress, *Timings) {
	ms := Milliseconds(p.Took)
	if p.Known == p.Cached {
		ms = 0 // nothing has been decoded
	}
	t := Timings{Prompt: ms}
	t.count(p.Known-p.Cached, p.Cached, 0, 0)
	return &Progress{p.Total, p.Cached, p.Known, ms}, &t
}
