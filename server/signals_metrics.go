package server

import (
	"strings"
	"sync"

	"stencil/agent/signals"
)

// signalCounts counts what was recommended, and where signals came from.
type signalCounts struct {
	mu              sync.Mutex
	recommendations map[string]uint64
	sources         map[string]uint64
}

func (c *signalCounts) recommended(r signals.Recommendation) { c.count(&c.recommendations, string(r)) }

func (c *signalCounts) read(from signals.Source) { c.count(&c.sources, string(from)) }

func (c *signalCounts) count(in *map[string]uint64, label string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *in == nil {
		*in = map[string]uint64{}
	}
	(*in)[label]++
}

func (c *signalCounts) print(b *strings.Builder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	printCounts(b, "assessments_total", "Answers assessed, by what was recommended.", "recommendation", c.recommendations)
	printCounts(b, "signals_total", "Self-assessments of models, by where they were read.", "source", c.sources)
}
