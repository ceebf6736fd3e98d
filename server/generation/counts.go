package generation

import (
	"cmp"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/server/exposition"
)

// Counts holds the metrics of generated texts.
type Counts struct {
	queued   prometheus.Histogram
	masks    prometheus.Histogram
	maskTime prometheus.Counter
	tries    exposition.Counts // of texts from upstreams or without masks
}

func newCounts() *Counts {
	return &Counts{
		queued:   exposition.NewHistogram("queue_seconds", "Time that a text waited for a slot.", 0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60),
		masks:    exposition.NewHistogram("mask_seconds", "The longest mask of each constrained text.", 1e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 1e-2, 0.1),
		maskTime: exposition.NewCounter("mask_seconds_total", "Time spent on masks."),
		tries: exposition.NewCounts("answer_tries_total", "Answers generated without masks, by error and by what was done about it.",
			"model", "strategy", "cause", "outcome"),
	}
}

// Metrics returns the collectors.
func (m *Counts) Metrics() []prometheus.Collector {
	return []prometheus.Collector{m.queued, m.masks, m.maskTime, m.tries}
}

// choices counts complete texts.
func (m *Counts) choices(list []Choice) {
	for _, c := range list {
		if c.Result == nil {
			continue
		}
		m.queued.Observe(c.Result.Timings.Queued.Seconds())
		if limits := c.Result.Constraint; limits != nil {
			m.masks.Observe(limits.MaskMax.Seconds())
			m.maskTime.Add(limits.MaskTotal.Seconds())
		}
	}
}

// try counts an attempt at an unmasked text.
func (m *Counts) try(t asking.Try) {
	outcome := "accepted"
	switch {
	case t.Failed != "" && t.Last:
		outcome = "given_up"
	case t.Failed != "":
		outcome = "asked_again"
	case t.Edited:
		outcome = "accepted_edited"
	}
	m.tries.Count(t.Model, string(t.Strategy), string(cmp.Or(t.Failed, "none")), outcome)
}
