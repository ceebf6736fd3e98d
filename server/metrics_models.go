package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/exposition"
	"github.com/stencil-json/stencil/server/registry"
)

// modelMetrics reads the stats of the engines of models in memory.
type modelMetrics struct{ models *registry.Registry }

// loaded is reported for every model, in memory or not.
var loaded = exposition.NewReading("model_loaded", "gauge", "1 for a model in memory.", "model")

// An engineMetric is read from the engine of each model in memory.
type engineMetric struct {
	exposition.Reading
	value func(m *registry.Model, s engine.Stats) float64
}

func ofEngine(name, kind, help string, value func(m *registry.Model, s engine.Stats) float64) engineMetric {
	return engineMetric{exposition.NewReading(name, kind, help, "model"), value}
}

var engineMetrics = []engineMetric{
	ofEngine("queued", "gauge", "Requests in the queue.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Queued) }),
	ofEngine("slots_active", "gauge", "Sequences that generate.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Active) }),
	ofEngine("slots_waiting", "gauge", "Sequences admitted that wait for a slot.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Waiting) }),
	ofEngine("cached_tokens", "gauge", "Tokens of prompts kept for reuse.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.CachedTokens) }),
	ofEngine("decodes_total", "counter", "Batches decoded.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Decodes) }),
	ofEngine("prompt_tokens_total", "counter", "Tokens of prompts computed.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.PromptTokens) }),
	ofEngine("reused_tokens_total", "counter", "Tokens of prompts that were not computed again.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.ReusedTokens) }),
	ofEngine("checkpoint_tokens_total", "counter", "Of the reused tokens, those from checkpoints in memory.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.CheckpointTokens) }),
	ofEngine("stored_tokens_total", "counter", "Of the reused tokens, those from the prompt cache on disk.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.StoredTokens) }),
	ofEngine("checkpoint_bytes", "gauge", "Memory of checkpoints.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.CheckpointBytes) }),
	ofEngine("generated_tokens_total", "counter", "Tokens generated, forced ones included.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.GeneratedTokens) }),
	ofEngine("forced_tokens_total", "counter", "Forced tokens, appended without running the model.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.ForcedTokens) }),
	ofEngine("draft_tokens_total", "counter", "Tokens that were guessed and decoded with the one before them.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.DraftTokens) }),
	ofEngine("accepted_tokens_total", "counter", "Draft tokens that the model confirmed.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.AcceptedTokens) }),
	ofEngine("refused_total", "counter", "Requests refused because the queue was full.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Refused) }),
	ofEngine("cancelled_total", "counter", "Requests that were cancelled.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Cancelled) }),
	ofEngine("preempted_total", "counter", "Sequences whose KV cells were freed for others.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Preempted) }),
	ofEngine("schema_cache_hits_total", "counter", "Schemas found in the cache.", func(m *registry.Model, _ engine.Stats) float64 { return float64(m.Schemas.Stats().Hits) }),
	ofEngine("schema_cache_misses_total", "counter", "Schemas that had to be compiled.", func(m *registry.Model, _ engine.Stats) float64 { return float64(m.Schemas.Stats().Misses) }),
	ofEngine("grammar_cache_hits_total", "counter", "Grammars found in the cache.", func(m *registry.Model, _ engine.Stats) float64 { return float64(m.Grammars.Stats().Hits) }),
	ofEngine("grammar_cache_misses_total", "counter", "Grammars that had to be compiled.", func(m *registry.Model, _ engine.Stats) float64 { return float64(m.Grammars.Stats().Misses) }),
}

// An embeddingMetric is read from each model in memory that embeds or reranks.
type embeddingMetric struct {
	exposition.Reading
	value func(s embedding.Stats) uint64
}

func ofEmbedding(name, kind, help string, value func(s embedding.Stats) uint64) embeddingMetric {
	return embeddingMetric{exposition.NewReading(name, kind, help, "model"), value}
}

var embeddingMetrics = []embeddingMetric{
	ofEmbedding("embedding_queued", "gauge", "Requests for embeddings or scores in the queue.", func(s embedding.Stats) uint64 { return uint64(s.Queued) }),
	ofEmbedding("embedding_requests_total", "counter", "Requests for embeddings or scores that were accepted.", func(s embedding.Stats) uint64 { return s.Requests }),
	ofEmbedding("embedding_inputs_total", "counter", "Texts embedded and documents scored.", func(s embedding.Stats) uint64 { return s.Inputs }),
	ofEmbedding("embedding_tokens_total", "counter", "Tokens of texts embedded and documents scored.", func(s embedding.Stats) uint64 { return s.Tokens }),
	ofEmbedding("embedding_batches_total", "counter", "Batches computed for embeddings or scores.", func(s embedding.Stats) uint64 { return s.Batches }),
	ofEmbedding("embedding_refused_total", "counter", "Requests for embeddings or scores refused because the queue was full.", func(s embedding.Stats) uint64 { return s.Refused }),
	ofEmbedding("embedding_cancelled_total", "counter", "Requests for embeddings or scores that were cancelled.", func(s embedding.Stats) uint64 { return s.Cancelled }),
}

// Describe implements prometheus.Collector.
func (c modelMetrics) Describe(to chan<- *prometheus.Desc) {
	loaded.Describe(to)
	for _, m := range engineMetrics {
		m.Describe(to)
	}
	for _, m := range embeddingMetrics {
		m.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (c modelMetrics) Collect(to chan<- prometheus.Metric) {
	for _, h := range c.models.Every() {
		m := h.InMemory()
		if m == nil {
			loaded.Read(to, 0, h.Name)
			continue
		}
		loaded.Read(to, 1, h.Name)
		stats := m.Text.Stats()
		for _, x := range engineMetrics {
			x.Read(to, x.value(m, stats), m.Name)
		}
		if m.Embeddings == nil {
			continue
		}
		embedded := m.Embeddings.Stats()
		for _, x := range embeddingMetrics {
			x.Read(to, float64(x.value(embedded)), m.Name)
		}
	}
}
