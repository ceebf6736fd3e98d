// Package models writes GGUF model files: models with random weights and any
// vocabulary, for tests and benchmarks, and trained ones. It also contains the small
// model that `make run` serves.
//
// # Random weights
//
// A model with random weights costs as much compute as a trained one of its size, and
// generates nonsense. Its logits must look realistic, because masks, samplers and
// penalties depend on them: a standard deviation of 4, as in trained models, and
// variation from step to step. Embeddings with a standard deviation of 0.5 achieve
// this; with the usual 0.02, the residual stream is dominated by what all tokens share,
// and greedy decoding cycles through a handful of tokens. Each matrix has a standard
// deviation of 1/√(inputs), so that activations keep their size from layer to layer.
//
// There is an architecture for each kind of memory: keys and values in all layers, in
// some, within a window, or shared by several; a latent vector; a recurrent state;
// none. [Architectures] lists them. Each has the layer structure of the models of that
// name, with sizes chosen by the caller.
//
// # The bundled model
//
// [Bundled] is the model that `make run` serves: the file in the folder weights, which
// is built into the program unless the build tag nomodel is set. It is trained on
// documents that package lessons generates, by the programs in the folder train;
// README.md describes the training and the results.
//
// Without that file, the bundled model has random weights of less than 2 MB and a
// vocabulary of its own (bytes, merges that suit JSON, a ChatML template). It only
// shows that the server works and that constraints hold, as its general.description
// says; see [RandomDescription].
package models
