// Package models writes GGUF model files: random-weight models over any
// vocabulary, for tests and benchmarks, and trained ones; and it holds the
// small model that `make run` serves.
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
// There is an architecture for each way of keeping what was read: keys and
// values in all layers, in some, within a window, or shared by several; a
// latent vector; a recurrent state; nothing. [Architectures] lists them. What
// else they have in common with the models of that name is the order of
// things in a layer: sizes are the caller's.
//
// # The bundled model
//
// [Bundled] is the model that `make run` serves: the file in the folder
// weights, which is built into the program unless the build tag nomodel says
// otherwise. It is trained on documents that package lessons writes, by the
// programs in the folder train; README.md says how and how well it does.
//
// Without such a file it is one of random weights of under 2 MB with a
// vocabulary of its own (bytes, merges that suit JSON, a ChatML template),
// which shows that the server works and that constraints hold, and nothing
// else. Its general.description says so; see [RandomDescription].
package models
