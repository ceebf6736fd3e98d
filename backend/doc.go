// Package backend says what a language model must offer to be served: a
// vocabulary, contexts that hold several sequences, and a decode step that
// turns a batch of tokens into rows of logits.
//
// # Model and context
//
// A [Model] is the weights; it is immutable once loaded and may be shared by
// goroutines. A [Context] is the working memory over it: a KV cache of Size
// cells shared by up to MaxSeqs sequences. One goroutine owns a context;
// nothing on it may be called concurrently. Stopping a running [Context.Decode]
// is done through the context.Context it was given.
//
// # Sequences
//
// A sequence is named by a number in [0, MaxSeqs). Its tokens stand at the
// positions 0, 1, 2, … without gaps; an entry of a batch must stand right
// behind the last one of its sequence. All sequences draw from one pool of
// cells, and cells copied from one sequence to another are shared, not
// duplicated, so that a common prefix costs its length once.
//
// # Logits
//
// A batch entry may ask for logits. The rows come back in the order of the
// entries that asked: row 0 belongs to the first of them, whatever its index
// in the batch. A row is borrowed memory of the backend: it is valid until the
// next Decode or Close, may be changed in place until then (a mask may be laid
// over it), and is never copied.
//
// # Embeddings
//
// An [EmbeddingModel] turns a text into a vector, or a query and a document into
// a score. Its [Embedder] keeps nothing from one call to the next: several texts
// go in, a row of float32 for each comes out, of [EmbeddingInfo].Width elements
// and of whatever length the model gives it.
//
// # Implementations
//
// backend/llama runs GGUF files through llama.cpp. backend/scripted computes
// logits with a Go function of the token history, and vectors with a hash of the
// tokens, for tests without C.
package backend
