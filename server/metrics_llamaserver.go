package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/exposition"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
)

// llamaMetrics are metrics under llama-server's names, for dashboards made for it: sums over all models, without
// labels.
type llamaMetrics struct{ models *registry.Registry }

// A llamaMetric is computed from the stats of all engines.
type llamaMetric struct {
	exposition.Reading
	value func(s engine.Stats) float64
}

func asLlama(name, kind, help string, value func(s engine.Stats) float64) llamaMetric {
	return llamaMetric{exposition.NewForeignReading("llamacpp:"+name, kind, help), value}
}

var llamaMetricList = []llamaMetric{
	asLlama("prompt_tokens_total", "counter", "Tokens of prompts computed.", func(s engine.Stats) float64 { return float64(s.PromptTokens) }),
	asLlama("prompt_tokens_cached_total", "counter", "Tokens of prompts that were not computed again.", func(s engine.Stats) float64 { return float64(s.ReusedTokens) }),
	asLlama("prompt_seconds_total", "counter", "Time in prompts, of texts that are complete.", func(s engine.Stats) float64 { return s.PromptTime.Seconds() }),
	asLlama("tokens_predicted_total", "counter", "Tokens generated, forced ones included.", func(s engine.Stats) float64 { return float64(s.GeneratedTokens) }),
	asLlama("tokens_predicted_seconds_total", "counter", "Time in generating, of texts that are complete.", func(s engine.Stats) float64 { return s.GenerateTime.Seconds() }),
	asLlama("n_decode_total", "counter", "Batches decoded.", func(s engine.Stats) float64 { return float64(s.Decodes) }),
	asLlama("n_tokens_max", "counter", "Tokens of the longest prompt with its text.", func(s engine.Stats) float64 { return float64(s.LongestText) }),
	asLlama("spec_decode_num_draft_tokens_total", "counter", "Tokens that were guessed and decoded with the one before them.", func(s engine.Stats) float64 { return float64(s.DraftTokens) }),
	asLlama("spec_decode_num_accepted_tokens_total", "counter", "Draft tokens that the model confirmed.", func(s engine.Stats) float64 { return float64(s.AcceptedTokens) }),
	asLlama("spec_decode_num_drafts_total", "counter", "Steps of texts with draft tokens.", func(s engine.Stats) float64 { return float64(s.DraftSteps) }),
	asLlama("prompt_tokens_seconds", "gauge", "Tokens of prompts in a second of computing them.", func(s engine.Stats) float64 { return rate(s.PromptTokens, s.PromptTime) }),
	asLlama("predicted_tokens_seconds", "gauge", "Tokens generated in a second of generating.", func(s engine.Stats) float64 { return rate(s.GeneratedTokens, s.GenerateTime) }),
	asLlama("requests_processing", "gauge", "Texts that are generated now.", func(s engine.Stats) float64 { return float64(s.Active) }),
	asLlama("requests_deferred", "gauge", "Requests and texts that wait.", func(s engine.Stats) float64 { return float64(s.Queued + s.Waiting) }),
	asLlama("n_busy_slots_per_decode", "gauge", "Texts in a batch, on average.", func(s engine.Stats) float64 { return float64(s.Steps) / max(1, float64(s.Decodes)) }),
}

func rate(tokens uint64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(tokens) / took.Seconds()
}

// Describe implements prometheus.Collector.
func (c llamaMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, m := range llamaMetricList {
		m.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (c llamaMetrics) Collect(to chan<- prometheus.Metric) {
	var all engine.Stats
	for _, h := range c.models.Every() {
		m := h.InMemory()
		if m == nil {
			continue
		}
		s := m.Text.Stats()
		if m.Embeddings != nil {
			e := m.Embeddings.Stats()
			s.PromptTokens += e.Tokens
			s.Decodes += e.Batches
			s.Steps += e.Inputs
			if m.Engine != nil { // without an Engine, m.Text.Stats already includes them
				s.Queued += e.Queued
				s.Active += e.Active
			}
		}
		all.Add(s)
	}
	for _, x := range llamaMetricList {
		x.Read(to, x.value(all))
	}
}

// withStart adds a header with the server's start time, for computing rates from counters.
type withStart struct {
	wire.Answer
	start time.Time
}

// Write implements wire.Answer.
func (a withStart) Write(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Process-Start-Time-Unix", strconv.FormatInt(a.start.Unix(), 10))
	return a.Answer.Write(w, r)
}
