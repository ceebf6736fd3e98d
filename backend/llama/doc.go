// Package llama runs GGUF models through llama.cpp.
//
// It comes in two forms with the same functions. Built with the tag llama, cgo
// and a C++ compiler it is the real thing; built without, every function that
// needs llama.cpp returns [backend.ErrNotBuilt], so that the rest of the module
// is vetted and tested with the Go toolchain alone. [Built] tells which one it
// is. Reading a file's header, estimating memory and checking a file before it
// is loaded are pure Go and work in both.
//
// # Building
//
// With the tag llama the package is compiled against the headers of llama.cpp
// and opens its library when the first model is loaded. Which build of llama.cpp
// that is, the Makefile's variable LLAMA says; internal/llamacpp fetches or
// compiles it and knows the flags:
//
//	go run ./internal/llamacpp run go build ./...
//	eval "$(go run ./internal/llamacpp env)"
//
// Package capi holds the functions of the library and checks its version before
// it calls any of them. Nothing but the public C API is used.
//
// # Devices
//
// Kernels are ggml's dynamic back ends, shared libraries: those for the CPU lie
// beside libllama, one for each generation of processors, of which the best one
// for the machine is loaded. [LoadBackends] loads those for GPUs too.
//
// # Threads
//
// ggml's threads wait for one another by spinning. While other programs use
// cores, as many threads fewer compute; see threads.go.
//
// # Cells
//
// A context has room for what the model was trained for, as far as memory
// allows. Cells are allotted as they are used: see [backend.Grower].
//
// # Stopping
//
// A Decode ends soon after its context.Context does. On the CPU and on Metal
// llama.cpp looks between the nodes of the graph; other devices finish the
// running micro-batch of at most 512 tokens. What the stopped batch had
// written is removed, so its sequences are as they were.
//
// # Crossings
//
// A batch costs one call from Go to C, with the slices of [backend.Batch]
// handed on as they are, and logits are read where llama.cpp wrote them.
package llama
