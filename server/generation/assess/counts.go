package assess

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/server/exposition"
)

// Counts counts recommendations and the sources of signals.
type Counts struct {
	recommendations exposition.Counts
	sources         exposition.Counts
}

func newCounts() *Counts {
	return &Counts{
		recommendations: exposition.NewCounts("assessments_total", "Answers assessed, by what was recommended.", "recommendation"),
		sources:         exposition.NewCounts("signals_total", "Self-assessments of models, by where they were read.", "source"),
	}
}

// Metrics returns the collectors.
func (c *Counts) Metrics() []prometheus.Collector {
	return []prometheus.Collector{c.recommendations, c.sources}
}

func (c *Counts) recommended(r signals.Recommendation) { c.recommendations.Count(string(r)) }

// Read counts signals by their source.
func (c *Counts) Read(from signals.Source) { c.sources.Count(string(from)) }
