package server

import (
	"fmt"
	"strings"

	"stencil/embedding"
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

func printEmbeddings(b *strings.Builder, hosts []*host) {
	var names []string
	var stats []embedding.Stats
	for _, h := range hosts {
		if m := h.inMemory(); m != nil && m.embeddings != nil {
			names, stats = append(names, m.name), append(stats, m.embeddings.Stats())
		}
	}
	for _, metric := range embeddingMetrics {
		family(b, metric.name, metric.kind, metric.help)
		for i, s := range stats {
			fmt.Fprintf(b, "stencil_%s{model=%q} %d\n", metric.name, names[i], metric.value(s))
		}
	}
}
