// Package backend defines the interfaces that a language model implements to be
// served: a vocabulary, contexts that hold several sequences, and a decode step
// that computes rows of logits for a batch of tokens.
//
// # Model and context
//
// A [Model] is the weights; it is immutable once loaded and safe for concurrent
// use. A [Context] is the working memory for it: a KV cache of Size cells shared
// by up to MaxSeqs sequences. A context belongs to one goroutine; its methods
// must not be called concurrently. A running [Context.Decode] is stopped through
// its context.Context.
//
// # Sequences
//
// A sequence is identified by a number in [0, MaxSeqs). Its tokens have the
// positions 0, 1, 2, … without gaps; an entry of a batch must directly follow
// the last one of its sequence. All sequences share one pool of cells, and
// copying cells from one sequence to another shares them, so that a common
// prefix is stored once.
//
// # Logits
//
// A batch entry may request logits. The rows come back in the order of the
// entries that requested them: row 0 belongs to the first of them, regardless of
// its index in the batch. A row is memory of the backend: it is valid until the
// next Decode or Close, may be modified in place until then (to apply a mask,
// for example), and is never copied.
//
// # Embeddings
//
// An [EmbeddingModel] turns a text into a vector, or a query and a document into
// a score. Its [Embedder] keeps no state between calls: for each text it
// computes a row of [EmbeddingInfo].Width float32 elements, which is not
// normalised.
//
// # Implementations
//
// backend/llama runs GGUF files through llama.cpp. backend/scripted computes
// logits with a Go function of the token history, and vectors with a hash of the
// tokens, for tests without C. backend/remote is a model behind an
// OpenAI-compatible API, which has no contexts.
package backend
