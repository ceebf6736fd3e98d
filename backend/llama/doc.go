// Package llama runs GGUF models through llama.cpp.
//
// It has two forms with the same functions. With the build tag llama, cgo and a
// C++ compiler, it uses llama.cpp; without, every function that needs llama.cpp
// returns [backend.ErrNotBuilt], so that the rest of the module can be vetted
// and tested with the Go toolchain alone. [Built] distinguishes the two. Reading
// a file's header, estimating memory and checking a file before it is loaded are
// pure Go and work in both.
//
// # Building
//
// With the tag llama the package is compiled against the headers of llama.cpp
// and opens its library when the first model is loaded. The Makefile's variable
// LLAMA selects the build of llama.cpp; internal/llamacpp fetches or compiles it
// and knows the flags:
//
//	go run ./internal/llamacpp run go build ./...
//	eval "$(go run ./internal/llamacpp env)"
//
// Package capi contains the functions of the library and checks its version
// before it calls any of them. Only the public C API is used.
//
// # Devices
//
// Kernels are ggml's dynamic backends, which are shared libraries: those for the
// CPU are in the folder of libllama, one for each generation of processors, and
// the best one for the machine is loaded. [LoadBackends] also loads those for
// GPUs.
//
// # Threads
//
// ggml's threads wait for one another by spinning. While other programs use
// cores, correspondingly fewer threads compute; see threads.go.
//
// # Cells
//
// A context has room for the trained context length, as far as memory allows.
// Cells are allocated as they are used: see [backend.Grower].
//
// # Stopping
//
// A Decode stops soon after its context.Context ends. On the CPU and on Metal
// llama.cpp checks between the nodes of the graph; other devices finish the
// running micro-batch of at most 512 tokens. What the stopped batch has written
// is removed, so its sequences are unchanged.
//
// # Calls into C
//
// A batch costs one call from Go to C, with the slices of [backend.Batch] passed
// on unchanged, and logits are read where llama.cpp wrote them.
package llama
