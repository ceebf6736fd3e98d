// Package embedding is the engine for embedding models and rerankers, which compute a
// vector for a text, or a score for a query and a document.
//
// One goroutine owns the model's embedder. It fills each batch with inputs of the
// waiting requests, clients in turn by the tokens of their inputs, so that a request of
// a thousand texts does not delay one of a single text. Requests wait in a bounded queue. A
// request whose context ends is dropped, and a batch whose requests have all been
// cancelled is stopped.
//
// [Prompts] tokenizes texts, and queries with documents, as the model expects them,
// and truncates inputs that are too long.
package embedding
