// Package capi opens llama.cpp's library and holds a table of its functions,
// which is the whole of what this module uses of it: the public C API.
//
// By default the library is loaded when the program runs, so that a program
// starts without it and can say in words that it is missing or of another
// version, and so that neither compiling nor linking needs it. With the build
// tag llama_module llama.cpp is compiled into the program instead, from the
// sources that the Go module github.com/ollama/ollama carries. Which build of
// llama.cpp is used is up to the Makefile (LLAMA=prebuilt, source, system or
// module); package capi sees the headers, and stencil-build.h beside them,
// which says the version and the folder of the libraries.
//
// The package is empty without the tag llama.
package capi
