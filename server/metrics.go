package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"stencil/server/exposition"
	"stencil/server/generation"
	"stencil/server/generation/assess"
	"stencil/server/problem"
	"stencil/server/wire"
)

// metrics counts what the server does, for Prometheus.
type metrics struct {
	mu       sync.Mutex
	requests map[requestLabels]uint64
	took     exposition.Histogram // of answers to requests
	refusals map[string]uint64    // of schemas, by keyword
	codes    map[string]uint64    // of failures, by code
}

type requestLabels struct {
	path   string
	status int
}

func newMetrics() *metrics {
	return &metrics{
		requests: map[requestLabels]uint64{}, refusals: map[string]uint64{}, codes: map[string]uint64{},
		took: exposition.NewHistogram(0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300),
	}
}

// request counts an answered request.
func (m *metrics) request(path string, status int, took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[requestLabels{path, status}]++
	m.took.Observe(took)
	if err == nil {
		return
	}
	p := problem.Describe(err)
	m.codes[p.Code]++
	if p.Code == "unsupported_schema_keyword" {
		for _, d := range p.Details {
			m.refusals[keywordLabel(d.Keyword)]++
		}
	}
}

// keywordLabel keeps what a client writes from becoming a label.
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

// writeMetrics is GET /metrics.
func (s *Server) writeMetrics(*http.Request) (wire.Answer, error) {
	var b strings.Builder
	s.metrics.print(&b, &s.text.Counts, &s.assess.Counts)
	s.agents.Print(&b)
	printModels(&b, s.models.Every())
	printEmbeddings(&b, s.models.Every())
	return exposition.Exposition{Text: b.String()}, nil
}

func (m *metrics) print(b *strings.Builder, texts *generation.Counts, assessments *assess.Counts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	exposition.Family(b, "requests_total", "counter", "Requests answered, by route and status.")
	keys := slices.SortedFunc(maps.Keys(m.requests), func(x, y requestLabels) int {
		if c := strings.Compare(x.path, y.path); c != 0 {
			return c
		}
		return x.status - y.status
	})
	for _, k := range keys {
		fmt.Fprintf(b, "stencil_requests_total{path=%q,status=\"%d\"} %d\n", k.path, k.status, m.requests[k])
	}
	m.took.Print(b, "request_seconds", "Time from a request to the end of its answer.")
	texts.Print(b)
	assessments.Print(b)
	exposition.PrintCounts(b, "failures_total", "Requests that failed, by code.", "code", m.codes)
	exposition.PrintCounts(b, "schema_refusals_total", "Keywords of schemas that could not be enforced and were refused.", "keyword", m.refusals)
}
