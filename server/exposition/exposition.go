// Package exposition defines stencil's kinds of metrics and serves GET /metrics in Prometheus' text format. It builds
// on Prometheus' client library; each metric is defined in the package whose activity it measures.
package exposition

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// namespace is the prefix of the names of stencil's own metrics.
const namespace = "stencil"

// NewCounter returns a counter without labels.
func NewCounter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
}

// NewGauge returns a gauge without labels.
func NewGauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
}

// NewHistogram returns a histogram of seconds with the given upper bounds, in ascending order.
func NewHistogram(name, help string, bounds ...float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: bounds})
}

// Counts is a counter with labels.
type Counts struct{ *prometheus.CounterVec }

// NewCounts returns a counter with labels.
func NewCounts(name, help string, labels ...string) Counts {
	return Counts{prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)}
}

// Count increments the counter for the given label values, in order.
func (c Counts) Count(values ...string) { c.WithLabelValues(valid(values)...).Inc() }

// Gauges is a gauge with labels.
type Gauges struct{ *prometheus.GaugeVec }

// NewGauges returns a gauge with labels.
func NewGauges(name, help string, labels ...string) Gauges {
	return Gauges{prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)}
}

// Set sets the gauge for the given label values, in order.
func (g Gauges) Set(value float64, labels ...string) { g.WithLabelValues(valid(labels)...).Set(value) }

// valid returns label values as valid UTF-8, which the library requires.
func valid(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strings.ToValidUTF8(v, "\uFFFD")
	}
	return out
}

// A Reading is a metric that is read when it is collected.
type Reading struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// NewReading returns a reading. The kind is "gauge" or "counter".
func NewReading(name, kind, help string, labels ...string) Reading {
	return NewForeignReading(prometheus.BuildFQName(namespace, "", name), kind, help, labels...)
}

// NewForeignReading is NewReading with another server's full name for the metric.
func NewForeignReading(name, kind, help string, labels ...string) Reading {
	r := Reading{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue}
	if kind == "counter" {
		r.kind = prometheus.CounterValue
	}
	return r
}

// Describe implements a part of prometheus.Collector.
func (r Reading) Describe(to chan<- *prometheus.Desc) { to <- r.desc }

// Read sends the value for the given label values, in order.
func (r Reading) Read(to chan<- prometheus.Metric, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(r.desc, r.kind, value, valid(labels)...)
}

// A Registry holds the metrics of a server.
type Registry struct{ of *prometheus.Registry }

// NewRegistry returns a registry that holds the metrics of the process and of Go's runtime.
func NewRegistry() *Registry {
	r := &Registry{prometheus.NewRegistry()}
	r.Add(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Add registers metrics. It panics if one is registered already.
func (r *Registry) Add(list ...prometheus.Collector) { r.of.MustRegister(list...) }

// Gather reads all metrics. With an error, it also returns those that could be read.
func (r *Registry) Gather() (Exposition, error) {
	families, err := r.of.Gather()
	for _, f := range families {
		for _, m := range f.Metric {
			slices.SortStableFunc(m.Label, func(a, b *dto.LabelPair) int {
				return cmp.Compare(slices.Index(labelOrder, a.GetName()), slices.Index(labelOrder, b.GetName()))
			})
		}
	}
	return families, err
}

// labelOrder is the order in which labels are written, unlisted ones first. The library sorts them by name, which would
// break scripts that match whole lines.
var labelOrder = []string{"model", "path", "strategy", "cause", "outcome", "status", "bound"}

// Exposition is the answer of GET /metrics.
type Exposition []*dto.MetricFamily

// Write implements wire.Answer.
func (e Exposition) Write(w http.ResponseWriter, _ *http.Request) error {
	var b bytes.Buffer
	for _, family := range e {
		if _, err := expfmt.MetricFamilyToText(&b, family); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(b.Bytes())
	return err
}
