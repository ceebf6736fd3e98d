// Package capi opens llama.cpp's library and holds a table of the functions
// of its public C API that this module uses.
//
// By default the library is loaded at run time, so that a program starts
// without it and can report that it is missing or of another version, and so
// that neither compiling nor linking needs it. With the build tag
// llama_module, llama.cpp is compiled into the program instead, from the
// sources in the Go module github.com/ollama/ollama. The Makefile selects the
// build of llama.cpp (LLAMA=prebuilt, source, system or module); package capi
// only sees the headers, and stencil-build.h beside them, which defines the
// version and the folder of the libraries.
//
// The package is empty without the tag llama.
package capi
