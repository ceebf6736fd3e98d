//go:build llama && cgo && llama_module

#include "capi.h"

const char * capi_built(void) { return "of the module github.com/ollama/ollama"; }
const char * capi_dir(void) { return ""; }
bool         capi_static(void) { return true; }

const char * capi_open(const char * path) {
    (void) path;
#define STENCIL_TAKE(name) capi.name = name;
    STENCIL_FUNCTIONS(STENCIL_TAKE)
#undef STENCIL_TAKE
    return NULL;
}
