// Package models writes GGUF model files: random-weight models over any
// vocabulary, for tests and benchmarks, and the small model that `make run`
// serves.
//
// # Random weights
//
// A model of random weights computes as much as a trained one of its size and
// says nothing. What it must get right is how its logits look, because masks,
// samplers and penalties depend on that: standard deviation 4, as trained
// models show, and varied from step to step. Embeddings of standard deviation
// 0.5 do that; with the usual 0.02 the residual stream is dominated by what
// all tokens share, and greedy decoding cycles through a handful of tokens.
// Each matrix has standard deviation 1/√(inputs), so that signals keep their
// size from layer to layer.
//
// # The bundled model
//
// [Bundled] writes a model of under 2 MB with a vocabulary of its own (bytes,
// merges that suit JSON, a ChatML template). Its weights are random: it shows
// that the server works and that constraints hold, and nothing else. Its
// general.description says so; see [RandomDescription].
package models
