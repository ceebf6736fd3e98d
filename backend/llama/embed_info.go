package llama

import (
	"fmt"

	"github.com/stencil-json/stencil/backend"
)

// poolings are the values of ARCH.pooling_type, from llama.h.
var poolings = []backend.Pooling{"", backend.PoolingMean, backend.PoolingCLS, backend.PoolingLast, backend.PoolingRank}

// embeds describes the embeddings of the file's model. A model that generates
// text returns the vector of the last token, the only one that has seen the whole
// text.
func (f *file) embeds() (backend.EmbeddingInfo, error) {
	info := backend.EmbeddingInfo{
		MaxTokens: int(f.number("context_length")),
		Pair:      backend.PairForm{Template: f.header.Str("tokenizer.chat_template.rerank")},
	}
	if f.arch == "wavtokenizer-dec" {
		return info, fmt.Errorf("llama: %s: %w: %.80q makes sound", f.path, backend.ErrArchitecture, f.arch)
	}
	n, given := f.header.Int(f.arch + ".pooling_type")
	if given && (n < 0 || int(n) >= len(poolings)) {
		return info, fmt.Errorf("llama: %s: %w: %s.pooling_type is %d, which is not a pooling type", f.path, backend.ErrArchitecture, f.arch, n)
	}
	if info.Pooling = poolings[n]; info.Pooling != "" {
		if info.Reranks() && !f.hasHead() {
			return info, fmt.Errorf("llama: %s: %w: it is to rerank, but has no classification head", f.path, backend.ErrNotModel)
		}
		return info, nil
	}
	if f.readsWhole() || !f.causal() {
		info.Pooling = backend.PoolingMean
		return info, nil
	}
	info.Pooling, info.Generates = backend.PoolingLast, true
	return info, nil
}

// causal reports whether a token attends only to those before it, according to
// the file; it is not used for encoders.
func (f *file) causal() bool {
	causal, given := f.header.Bool(f.arch + ".attention.causal")
	return causal || !given
}

// hasHead reports whether the model has a classification head of one or two
// layers.
func (f *file) hasHead() bool {
	for _, t := range f.header.Tensors {
		if t.Name == "cls.weight" || t.Name == "cls.output.weight" {
			return true
		}
	}
	return false
}

// splits reports whether an input can be computed in pieces: its row comes from
// its last token, and no token attends to those after it. Rerankers use the first
// token except for these two architectures.
func (f *file) splits(info backend.EmbeddingInfo) bool {
	last := info.Pooling == backend.PoolingLast || info.Reranks() && (f.arch == "qwen3" || f.arch == "qwen3vl")
	return last && f.causal() && !f.readsWhole()
}

// embedInputs is the most inputs of one call. More than fill a batch of
// microBatch tokens are useless, and llama.cpp keeps logits for each.
const embedInputs = 32

// embedShape is the size of an embedder's context.
type embedShape struct {
	tokens int // longest input
	batch  int // tokens computed at a time
	cells  int // of the cache, if there is one: tokens of one call
}

// shape returns the context size for inputs of up to tokens tokens. Batches and
// cells are multiples of cellBlock: llama.cpp rounds cells up to it, and ends the
// process when it plans a batch whose size is not a multiple of the number of
// sequences.
func (f *file) shape(tokens int, splits bool) embedShape {
	s := embedShape{tokens: tokens, batch: (max(tokens, microBatch) + cellBlock - 1) / cellBlock * cellBlock}
	s.cells = s.batch
	if splits {
		s.batch = microBatch
	}
	return s
}

// params returns the parameters of a context of that size.
func (s embedShape) params(flash backend.FlashAttention) backend.ContextParams {
	return backend.ContextParams{Size: s.cells, MaxBatch: s.batch, MaxSeqs: embedInputs, CacheType: backend.CacheF16, FlashAttention: flash}
}

// estimateEmbedder returns the memory of an embedder on the CPU without the
// weights. llama.cpp reserves logits for every token of a batch, even for a model
// that computes none.
func (f *file) estimateEmbedder(s embedShape, flash backend.FlashAttention) Estimate {
	e := f.estimate(s.params(flash))
	e.Weights = 0
	var tokens int64
	if v, ok := f.header.Get("tokenizer.ggml.tokens"); ok {
		tokens = int64(v.Len())
	}
	e.Output = int64(s.batch) * (tokens + f.number("embedding_length")) * 4
	if !f.readsWhole() && s.batch > microBatch {
		e.Compute *= int64(s.batch / microBatch) // estimate assumes microBatch for models with a cache
	}
	return e
}
