package generation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"stencil/asking"
	"stencil/server/exposition"
)

// Counts counts the texts of generations.
type Counts struct {
	mu       sync.Mutex
	queued   exposition.Histogram // time in the queue
	masks    exposition.Histogram // longest mask of each constrained text
	maskTime time.Duration
	asked    askCounts
}

func newCounts() Counts {
	return Counts{
		queued: exposition.NewHistogram(0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60),
		masks:  exposition.NewHistogram(1e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 1e-2, 0.1),
	}
}

// choices counts texts that are complete.
func (m *Counts) choices(list []Choice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range list {
		if c.Result == nil {
			continue
		}
		m.queued.Observe(c.Result.Timings.Queued)
		if limits := c.Result.Constraint; limits != nil {
			m.masks.Observe(limits.MaskMax)
			m.maskTime += limits.MaskTotal
		}
	}
}

// Print writes the metrics.
func (m *Counts) Print(b *strings.Builder) {
	m.mu.Lock()
	m.queued.Print(b, "queue_seconds", "Time that a text waited for a slot.")
	m.masks.Print(b, "mask_seconds", "The longest mask of each constrained text.")
	exposition.Family(b, "mask_seconds_total", "counter", "Time spent on masks.")
	fmt.Fprintf(b, "stencil_mask_seconds_total %g\n", m.maskTime.Seconds())
	m.mu.Unlock()
	m.asked.print(b)
}

// askCounts counts the tries of texts that are got by asking.
type askCounts struct {
	mu    sync.Mutex
	tries map[string]uint64 // by the labels of a try
}

// observe counts a try.
func (c *askCounts) observe(t asking.Try) {
	outcome := "accepted"
	switch {
	case t.Failed != "" && t.Last:
		outcome = "given_up"
	case t.Failed != "":
		outcome = "asked_again"
	case t.Edited:
		outcome = "accepted_edited"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tries == nil {
		c.tries = map[string]uint64{}
	}
	c.tries[fmt.Sprintf("model=%q,strategy=%q,cause=%q,outcome=%q", t.Model, t.Strategy, cmp.Or(t.Failed, "none"), outcome)]++
}

func (c *askCounts) print(b *strings.Builder) {
	exposition.Family(b, "answer_tries_total", "counter", "Answers of models without masks, by what was wrong with them and what became of them.")
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, labels := range slices.Sorted(maps.Keys(c.tries)) {
		fmt.Fprintf(b, "stencil_answer_tries_total{%s} %d\n", labels, c.tries[labels])
	}
}
