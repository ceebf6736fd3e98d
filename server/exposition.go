package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// exposition is the answer of GET /metrics.
type exposition struct{ text string }

func (e exposition) write(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_, err := w.Write([]byte(e.text))
	return err
}

// family begins a metric: what it is called, of which kind it is, what it says.
func family(b *strings.Builder, name, kind, help string) {
	fmt.Fprintf(b, "# HELP stencil_%s %s\n# TYPE stencil_%s %s\n", name, help, name, kind)
}

// histogram counts seconds in buckets.
type histogram struct {
	bounds []float64
	counts []uint64 // one more than bounds
	sum    float64
}

func newHistogram(bounds ...float64) histogram {
	return histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

func (h *histogram) observe(d time.Duration) {
	i, _ := slices.BinarySearch(h.bounds, d.Seconds())
	h.counts[i]++
	h.sum += d.Seconds()
}

func (h *histogram) print(b *strings.Builder, name, help string) {
	family(b, name, "histogram", help)
	sum := uint64(0)
	for i, bound := range h.bounds {
		sum += h.counts[i]
		fmt.Fprintf(b, "stencil_%s_bucket{le=\"%g\"} %d\n", name, bound, sum)
	}
	sum += h.counts[len(h.bounds)]
	fmt.Fprintf(b, "stencil_%s_bucket{le=\"+Inf\"} %d\nstencil_%s_sum %g\nstencil_%s_count %d\n", name, sum, name, h.sum, name, sum)
}

func printCounts(b *strings.Builder, name, help, label string, counts map[string]uint64) {
	family(b, name, "counter", help)
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(b, "stencil_%s{%s=%q} %d\n", name, label, k, counts[k])
	}
}

// countOf counts one more of a kind.
func countOf(counts *map[string]uint64, kind string) {
	if *counts == nil {
		*counts = map[string]uint64{}
	}
	(*counts)[kind]++
}
