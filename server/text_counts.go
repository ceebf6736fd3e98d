package server

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"stencil/asking"
)

// textCounts counts the texts of generations.
type textCounts struct {
	mu       sync.Mutex
	queued   histogram // time in the queue
	masks    histogram // longest mask of each constrained text
	maskTime time.Duration
	asked    askCounts
}

func newTextCounts() textCounts {
	return textCounts{
		queued: newHistogram(0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60),
		masks:  newHistogram(1e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 1e-2, 0.1),
	}
}

// choices counts texts that are complete.
func (m *textCounts) choices(list []choice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range list {
		if c.result == nil {
			continue
		}
		m.queued.observe(c.result.Timings.Queued)
		if limits := c.result.Constraint; limits != nil {
			m.masks.observe(limits.MaskMax)
			m.maskTime += limits.MaskTotal
		}
	}
}

func (m *textCounts) print(b *strings.Builder) {
	m.mu.Lock()
	m.queued.print(b, "queue_seconds", "Time that a text waited for a slot.")
	m.masks.print(b, "mask_seconds", "The longest mask of each constrained text.")
	family(b, "mask_seconds_total", "counter", "Time spent on masks.")
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
	family(b, "answer_tries_total", "counter", "Answers of models without masks, by what was wrong with them and what became of them.")
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, labels := range slices.Sorted(maps.Keys(c.tries)) {
		fmt.Fprintf(b, "stencil_answer_tries_total{%s} %d\n", labels, c.tries[labels])
	}
}
