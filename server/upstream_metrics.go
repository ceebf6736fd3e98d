package server

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"stencil/asking"
)

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
