package server

import (
	"fmt"
	"strings"

	"stencil/embedding"
	"stencil/engine"
	"stencil/server/exposition"
	"stencil/server/registry"
)

// An embeddingMetric is read from each model in memory that embeds or reranks.
type embeddingMetric struct {
	name, kind, help string
	value            func(s embedding.Stats) uint64
}

var embeddingMetrics = []embeddingMetric{
	{"embedding_queued", "gauge", "Requests for embeddings or scores that wait.", func(s embedding.Stats) uint64 { return uint64(s.Queued) }},
	{"embedding_requests_total", "counter", "Requests for embeddings or scores that were accepted.", func(s embedding.Stats) uint64 { return s.Requests }},
	{"embedding_inputs_total", "counter", "Texts embedded and documents scored.", func(s embedding.Stats) uint64 { return s.Inputs }},
	{"embedding_tokens_total", "counter", "Tokens of those.", func(s embedding.Stats) uint64 { return s.Tokens }},
	{"embedding_batches_total", "counter", "Batches computed for them.", func(s embedding.Stats) uint64 { return s.Batches }},
	{"embedding_refused_total", "counter", "Requests for embeddings or scores refused because the queue was full.", func(s embedding.Stats) uint64 { return s.Refused }},
	{"embedding_cancelled_total", "counter", "Requests for embeddings or scores that ended before their time.", func(s embedding.Stats) uint64 { return s.Cancelled }},
}

func printEmbeddings(b *strings.Builder, hosts []*registry.Entry) {
	var names []string
	var stats []embedding.Stats
	for _, h := range hosts {
		if m := h.InMemory(); m != nil && m.Embeddings != nil {
			names, stats = append(names, m.Name), append(stats, m.Embeddings.Stats())
		}
	}
	for _, metric := range embeddingMetrics {
		exposition.Family(b, metric.name, metric.kind, metric.help)
		for i, s := range stats {
			fmt.Fprintf(b, "stencil_%s{model=%q} %d\n", metric.name, names[i], metric.value(s))
		}
	}
}

// A modelMetric is read from the engine of each model in memory.
type modelMetric struct {
	name, kind, help string
	value            func(m *registry.Model, s engine.Stats) float64
}

var modelMetrics = []modelMetric{
	{"queued", "gauge", "Requests that wait.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Queued) }},
	{"slots_active", "gauge", "Sequences that generate.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Active) }},
	{"slots_waiting", "gauge", "Sequences admitted that wait for a slot.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Waiting) }},
	{"cached_tokens", "gauge", "Tokens kept for prompts to come.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.CachedTokens) }},
	{"decodes_total", "counter", "Batches decoded.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Decodes) }},
	{"prompt_tokens_total", "counter", "Tokens of prompts computed.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.PromptTokens) }},
	{"reused_tokens_total", "counter", "Tokens of prompts that were not computed again.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.ReusedTokens) }},
	{"checkpoint_tokens_total", "counter", "Of the reused tokens, those from checkpoints in memory.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.CheckpointTokens) }},
	{"stored_tokens_total", "counter", "Of the reused tokens, those from the prompt cache on disk.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.StoredTokens) }},
	{"checkpoint_bytes", "gauge", "Memory of checkpoints.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.CheckpointBytes) }},
	{"generated_tokens_total", "counter", "Tokens generated, forced ones included.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.GeneratedTokens) }},
	{"forced_tokens_total", "counter", "Tokens appended without asking the model.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.ForcedTokens) }},
	{"draft_tokens_total", "counter", "Tokens that were guessed and decoded with the one before them.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.DraftTokens) }},
	{"accepted_tokens_total", "counter", "Of the draft tokens, those that the model wrote.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.AcceptedTokens) }},
	{"refused_total", "counter", "Requests refused because the queue was full.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Refused) }},
	{"cancelled_total", "counter", "Requests that ended before their time.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Cancelled) }},
	{"preempted_total", "counter", "Sequences that gave up their cells for others.", func(_ *registry.Model, s engine.Stats) float64 { return float64(s.Preempted) }},
	{"schema_cache_hits_total", "counter", "Schemas that were compiled already.", func(m *registry.Model, _ engine.Stats) float64 { return float64(m.Schemas.Stats().Hits) }},
	{"schema_cache_misses_total", "counter", "Schemas that had to be compiled.", func(m *registry.Model, _ engine.Stats) float64 { return float64(m.Schemas.Stats().Misses) }},
	{"grammar_cache_hits_total", "counter", "Grammars that were compiled already.", func(m *registry.Model, _ engine.Stats) float64 { return float64(m.Grammars.Stats().Hits) }},
	{"grammar_cache_misses_total", "counter", "Grammars that had to be compiled.", func(m *registry.Model, _ engine.Stats) float64 { return float64(m.Grammars.Stats().Misses) }},
}

func printModels(b *strings.Builder, hosts []*registry.Entry) {
	exposition.Family(b, "model_loaded", "gauge", "1 for a model in memory.")
	var loaded []*registry.Model
	var stats []engine.Stats
	for _, h := range hosts {
		in := 0
		if m := h.InMemory(); m != nil {
			in = 1
			loaded = append(loaded, m)
			stats = append(stats, m.Text.Stats())
		}
		fmt.Fprintf(b, "stencil_model_loaded{model=%q} %d\n", h.Name, in)
	}
	for _, metric := range modelMetrics {
		exposition.Family(b, metric.name, metric.kind, metric.help)
		for i, m := range loaded {
			fmt.Fprintf(b, "stencil_%s{model=%q} %g\n", metric.name, m.Name, metric.value(m, stats[i]))
		}
	}
}
