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
// The sources of llama.cpp and ggml are those that the Go module
// github.com/ollama/ollama carries. Two of its packages are imported for their
// object files only; everything else of that module stays out. The headers are
// found through the environment, and the CPU kernels need to be told which
// instructions they may use:
//
//	OLLAMA=$(go list -m -f '{{.Dir}}' github.com/ollama/ollama)
//	export CGO_CPPFLAGS="-I$OLLAMA/llama/llama.cpp/include -I$OLLAMA/ml/backend/ggml/ggml/include"
//	export CGO_CFLAGS="-O3 -march=native -w" CGO_CXXFLAGS="-O3 -march=native -w"
//	go build -tags llama ./...
//
// On 64-bit Arm -mcpu=native takes the place of -march=native. The Makefile
// sets exactly these and `make env` prints them; any other flags mean another
// build of all of llama.cpp, some three minutes on two cores. Without
// -march=native the kernels are limited to the oldest processor of the family
// and many times slower: right for a program that is to run elsewhere, if it
// finds faster kernels in lib/ (see below).
//
// # Devices
//
// The CPU is built in, and so is Metal on Apple silicon. Everything else comes
// from ggml's dynamic back ends, shared libraries that CMakeLists.txt builds
// into lib/; [LoadBackends] loads those that fit the machine. A CPU back end
// found there takes the place of the built-in one if its instruction set is
// better.
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
