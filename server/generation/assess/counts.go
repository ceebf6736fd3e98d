package assess

import (
	"strings"
	"sync"

	"stencil/agent/signals"
	"stencil/server/exposition"
)

// Counts counts what was recommended, and where signals came from.
type Counts struct {
	mu              sync.Mutex
	recommendations map[string]uint64
	sources         map[string]uint64
}

func (c *Counts) recommended(r signals.Recommendation) { c.count(&c.recommendations, string(r)) }

func (c *Counts) Read(from signals.Source) { c.count(&c.sources, string(from)) }

func (c *Counts) count(in *map[string]uint64, label string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *in == nil {
		*in = map[string]uint64{}
	}
	(*in)[label]++
}

// Print writes the metrics.
func (c *Counts) Print(b *strings.Builder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	exposition.PrintCounts(b, "assessments_total", "Answers assessed, by what was recommended.", "recommendation", c.recommendations)
	exposition.PrintCounts(b, "signals_total", "Self-assessments of models, by where they were read.", "source", c.sources)
}
