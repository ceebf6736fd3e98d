//go:build llama && cgo && llama_module

// The module's Go package for the CPU leaves out the folder amx, whose kernels
// ggml calls wherever the compiler may use AMX. The path is below the folder of
// ggml's sources, which the Makefile adds to the include path.
#if defined(__AMX_INT8__) && defined(__AVX512VNNI__)
#include "ggml-cpu/amx/amx.cpp"
#endif
