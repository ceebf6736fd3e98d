// Package exposition writes metrics in Prometheus' text format.
package exposition

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Exposition is the answer of GET /metrics.
type Exposition struct{ Text string }

func (e Exposition) Write(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_, err := w.Write([]byte(e.Text))
	return err
}

// Family begins a metric: what it is called, of which kind it is, what it says.
func Family(b *strings.Builder, name, kind, help string) {
	fmt.Fprintf(b, "# HELP stencil_%s %s\n# TYPE stencil_%s %s\n", name, help, name, kind)
}

// Histogram counts seconds in buckets.
type Histogram struct {
	bounds []float64
	counts []uint64 // one more than bounds
	sum    float64
}

// NewHistogram returns a histogram of seconds with these upper bounds, in ascending order.
func NewHistogram(bounds ...float64) Histogram {
	return Histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	i, _ := slices.BinarySearch(h.bounds, d.Seconds())
	h.counts[i]++
	h.sum += d.Seconds()
}

// Print writes the histogram as the metric of that name.
func (h *Histogram) Print(b *strings.Builder, name, help string) {
	Family(b, name, "histogram", help)
	sum := uint64(0)
	for i, bound := range h.bounds {
		sum += h.counts[i]
		fmt.Fprintf(b, "stencil_%s_bucket{le=\"%g\"} %d\n", name, bound, sum)
	}
	sum += h.counts[len(h.bounds)]
	fmt.Fprintf(b, "stencil_%s_bucket{le=\"+Inf\"} %d\nstencil_%s_sum %g\nstencil_%s_count %d\n", name, sum, name, h.sum, name, sum)
}

// PrintCounts writes a counter with one label.
func PrintCounts(b *strings.Builder, name, help, label string, counts map[string]uint64) {
	Family(b, name, "counter", help)
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(b, "stencil_%s{%s=%q} %d\n", name, label, k, counts[k])
	}
}

// CountOf counts one more of a kind.
func CountOf(counts *map[string]uint64, kind string) {
	if *counts == nil {
		*counts = map[string]uint64{}
	}
	(*counts)[kind]++
}
