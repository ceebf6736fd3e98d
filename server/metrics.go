package server

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stencil-json/stencil/server/background"
	"github.com/stencil-json/stencil/server/exposition"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// metrics counts requests and gathers the metrics of all parts of the server.
type metrics struct {
	all      *exposition.Registry
	requests exposition.Counts
	took     prometheus.Histogram
	codes    exposition.Counts
	refusals exposition.Counts
	ended    exposition.Counts
	stores   exposition.Gauges
	start    time.Time
}

func newMetrics() *metrics {
	m := &metrics{
		all:      exposition.NewRegistry(),
		start:    time.Now(),
		requests: exposition.NewCounts("requests_total", "Requests answered, by route and status.", "path", "status"),
		took:     exposition.NewHistogram("request_seconds", "Time from a request to the end of its answer.", 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300),
		codes:    exposition.NewCounts("failures_total", "Requests that failed, by code.", "code"),
		refusals: exposition.NewCounts("schema_refusals_total", "Keywords of schemas that could not be enforced and were refused.", "keyword"),
		stores:   exposition.NewGauges("store_open", "1 if the server can write a file or folder that it was given, else 0.", "store"),
	}
	m.ended = exposition.NewCounts("background_responses_total", "Responses in the background that have ended, by status.", "status")
	m.all.Add(m.requests, m.took, m.codes, m.refusals, m.ended, m.stores)
	return m
}

// request counts an answered request.
func (m *metrics) request(path string, status int, took time.Duration, err error) {
	m.requests.Count(path, strconv.Itoa(status))
	m.took.Observe(took.Seconds())
	m.failure(err)
}

// failure counts an error that a client was told, if there is one.
func (m *metrics) failure(err error) {
	if err == nil {
		return
	}
	p := problem.Describe(err)
	m.codes.Count(p.Code)
	if p.Code == "unsupported_schema_keyword" {
		for _, d := range p.Details {
			m.refusals.Count(keywordLabel(d.Keyword))
		}
	}
}

// backgroundMetrics are the responses in the background that have not ended.
type backgroundMetrics struct{ runs *background.Runs }

var backgroundActive = exposition.NewReading("background_responses_active", "gauge", "Responses in the background that have not ended.")

// Describe implements prometheus.Collector.
func (backgroundMetrics) Describe(to chan<- *prometheus.Desc) { backgroundActive.Describe(to) }

// Collect implements prometheus.Collector.
func (m backgroundMetrics) Collect(to chan<- prometheus.Metric) {
	backgroundActive.Read(to, float64(m.runs.Active()))
}

// Stores reports in /metrics whether the server can use a file or folder it keeps something in: feedback,
// responses or prompts.
func (s *Server) Stores(what string, open bool) {
	value := 0.0
	if open {
		value = 1
	}
	s.metrics.stores.Set(value, what)
}

// keywordLabel returns keyword if it looks like a JSON Schema keyword, else "other": clients choose keywords,
// and labels must stay few.
func keywordLabel(keyword string) string {
	for _, c := range keyword {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '$') {
			return "other"
		}
	}
	if len(keyword) > 32 || keyword == "" {
		return "other"
	}
	return keyword
}

// writeMetrics handles GET /metrics.
func (s *Server) writeMetrics(*http.Request) (wire.Answer, error) {
	all, err := s.metrics.all.Gather()
	if err != nil {
		s.cfg.Log.Error("reading metrics failed", slog.Any("error", err))
	}
	if s.cfg.LlamaMetrics {
		return withStart{all, s.metrics.start}, nil
	}
	return all, nil
}
