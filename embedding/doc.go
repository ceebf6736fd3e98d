// Package embedding serves a model that turns texts into vectors, or queries and
// documents into scores: what package engine is for text, this is for embeddings.
//
// One goroutine owns the model's embedder. It fills each batch with inputs of
// the requests that wait: clients take turns, one input each, so that a request
// of a thousand texts does not hold up one of a single text. Requests wait in a
// bounded queue; one whose context ends is dropped, and a batch of which nobody
// wants anything any more is stopped.
//
// [Prompts] writes texts, and queries with documents, as the tokens that the
// model wants, and shortens what is too long.
package embedding
