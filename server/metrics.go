package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"stencil/engine"
)

// metrics counts what the server does, for Prometheus.
type metrics struct {
	mu       sync.Mutex
	requests map[requestLabels]uint64
	took     histogram // of answers to requests
	queued   histogram // time in the queue
	masks    histogram // longest mask of each constrained text
	maskTime time.Duration
	refusals map[string]uint64 // of schemas, by keyword
	codes    map[string]uint64 // of failures, by code
	asked    askCounts
	signals  signalCounts
	agent    agentCounts
}

type requestLabels struct {
	path   string
	status int
}

func newMetrics() *metrics {
	return &metrics{
		requests: map[requestLabels]uint64{}, refusals: map[string]uint64{}, codes: map[string]uint64{},
		took:   newHistogram(0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300),
		queued: newHistogram(0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60),
		masks:  newHistogram(1e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 1e-2, 0.1),
	}
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

// request counts an answered request.
func (m *metrics) request(path string, status int, took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[requestLabels{path, status}]++
	m.took.observe(took)
	if err == nil {
		return
	}
	p := describe(err)
	m.codes[p.code]++
	if p.code == "unsupported_schema_keyword" {
		for _, d := range p.details {
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

// choices counts texts that are complete.
func (m *metrics) choices(list []choice) {
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

// exposition is the answer of GET /metrics.
type exposition struct{ text string }

func (e exposition) write(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_, err := w.Write([]byte(e.text))
	return err
}

// writeMetrics is GET /metrics.
func (s *Server) writeMetrics(*http.Request) (answer, error) {
	var b strings.Builder
	s.metrics.print(&b)
	s.hostsMu.Lock()
	hosts := s.hosts
	s.hostsMu.Unlock()
	s.metrics.agent.print(&b)
	s.paused.print(&b)
	printModels(&b, hosts)
	printEmbeddings(&b, hosts)
	return exposition{b.String()}, nil
}

// family begins a metric: what it is called, of which kind it is, what it says.
func family(b *strings.Builder, name, kind, help string) {
	fmt.Fprintf(b, "# HELP stencil_%s %s\n# TYPE stencil_%s %s\n", name, help, name, kind)
}

func (m *metrics) print(b *strings.Builder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	family(b, "requests_total", "counter", "Requests answered, by route and status.")
	keys := slices.SortedFunc(maps.Keys(m.requests), func(x, y requestLabels) int {
		if c := strings.Compare(x.path, y.path); c != 0 {
			return c
		}
		return x.status - y.status
	})
	for _, k := range keys {
		fmt.Fprintf(b, "stencil_requests_total{path=%q,status=\"%d\"} %d\n", k.path, k.status, m.requests[k])
	}
	m.took.print(b, "request_seconds", "Time from a request to the end of its answer.")
	m.queued.print(b, "queue_seconds", "Time that a text waited for a slot.")
	m.masks.print(b, "mask_seconds", "The longest mask of each constrained text.")
	family(b, "mask_seconds_total", "counter", "Time spent on masks.")
	fmt.Fprintf(b, "stencil_mask_seconds_total %g\n", m.maskTime.Seconds())
	m.asked.print(b)
	m.signals.print(b)
	printCounts(b, "failures_total", "Requests that failed, by code.", "code", m.codes)
	printCounts(b, "schema_refusals_total", "Keywords of schemas that could not be enforced and were refused.", "keyword", m.refusals)
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

// A modelMetric is read from the engine of each model in memory.
type modelMetric struct {
	name, kind, help string
	value            func(m *served, s engine.Stats) float64
}

var modelMetrics = []modelMetric{
	{"queued", "gauge", "Requests that wait.", func(_ *served, s engine.Stats) float64 { return float64(s.Queued) }},
	{"slots_active", "gauge", "Sequences that generate.", func(_ *served, s engine.Stats) float64 { return float64(s.Active) }},
	{"slots_waiting", "gauge", "Sequences admitted that wait for a slot.", func(_ *served, s engine.Stats) float64 { return float64(s.Waiting) }},
	{"cached_tokens", "gauge", "Tokens kept for prompts to come.", func(_ *served, s engine.Stats) float64 { return float64(s.CachedTokens) }},
	{"decodes_total", "counter", "Batches decoded.", func(_ *served, s engine.Stats) float64 { return float64(s.Decodes) }},
	{"prompt_tokens_total", "counter", "Tokens of prompts computed.", func(_ *served, s engine.Stats) float64 { return float64(s.PromptTokens) }},
	{"reused_tokens_total", "counter", "Tokens of prompts that were not computed again.", func(_ *served, s engine.Stats) float64 { return float64(s.ReusedTokens) }},
	{"checkpoint_tokens_total", "counter", "Of the reused tokens, those from checkpoints in memory.", func(_ *served, s engine.Stats) float64 { return float64(s.CheckpointTokens) }},
	{"stored_tokens_total", "counter", "Of the reused tokens, those from the prompt cache on disk.", func(_ *served, s engine.Stats) float64 { return float64(s.StoredTokens) }},
	{"checkpoint_bytes", "gauge", "Memory of checkpoints.", func(_ *served, s engine.Stats) float64 { return float64(s.CheckpointBytes) }},
	{"generated_tokens_total", "counter", "Tokens generated, forced ones included.", func(_ *served, s engine.Stats) float64 { return float64(s.GeneratedTokens) }},
	{"forced_tokens_total", "counter", "Tokens appended without asking the model.", func(_ *served, s engine.Stats) float64 { return float64(s.ForcedTokens) }},
	{"draft_tokens_total", "counter", "Tokens that were guessed and decoded with the one before them.", func(_ *served, s engine.Stats) float64 { return float64(s.DraftTokens) }},
	{"accepted_tokens_total", "counter", "Of the draft tokens, those that the model wrote.", func(_ *served, s engine.Stats) float64 { return float64(s.AcceptedTokens) }},
	{"refused_total", "counter", "Requests refused because the queue was full.", func(_ *served, s engine.Stats) float64 { return float64(s.Refused) }},
	{"cancelled_total", "counter", "Requests that ended before their time.", func(_ *served, s engine.Stats) float64 { return float64(s.Cancelled) }},
	{"preempted_total", "counter", "Sequences that gave up their cells for others.", func(_ *served, s engine.Stats) float64 { return float64(s.Preempted) }},
	{"schema_cache_hits_total", "counter", "Schemas that were compiled already.", func(m *served, _ engine.Stats) float64 { return float64(m.schemas.Stats().Hits) }},
	{"schema_cache_misses_total", "counter", "Schemas that had to be compiled.", func(m *served, _ engine.Stats) float64 { return float64(m.schemas.Stats().Misses) }},
	{"grammar_cache_hits_total", "counter", "Grammars that were compiled already.", func(m *served, _ engine.Stats) float64 { return float64(m.grammars.Stats().Hits) }},
	{"grammar_cache_misses_total", "counter", "Grammars that had to be compiled.", func(m *served, _ engine.Stats) float64 { return float64(m.grammars.Stats().Misses) }},
}

func printModels(b *strings.Builder, hosts []*host) {
	family(b, "model_loaded", "gauge", "1 for a model in memory.")
	var loaded []*served
	var stats []engine.Stats
	for _, h := range hosts {
		in := 0
		if m := h.inMemory(); m != nil {
			in = 1
			loaded = append(loaded, m)
			stats = append(stats, m.engine.Stats())
		}
		fmt.Fprintf(b, "stencil_model_loaded{model=%q} %d\n", h.name, in)
	}
	for _, metric := range modelMetrics {
		family(b, metric.name, metric.kind, metric.help)
		for i, m := range loaded {
			fmt.Fprintf(b, "stencil_%s{model=%q} %g\n", metric.name, m.name, metric.value(m, stats[i]))
		}
	}
}
