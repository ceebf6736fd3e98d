package generation

import "time"

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
