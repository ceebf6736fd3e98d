//go:build llama && cgo && llama_module

// See module_amx.cpp; the two files define names that clash in one unit.
#if defined(__AMX_INT8__) && defined(__AVX512VNNI__)
#include "ggml-cpu/amx/mmq.cpp"
#endif
