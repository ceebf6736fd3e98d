//go:build llama && cgo && !llama_module

#include "capi.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// Written where the headers are put: STENCIL_LLAMA_VERSION and STENCIL_LLAMA_DIR.
#include "stencil-build.h"

const char * capi_built(void) { return STENCIL_LLAMA_VERSION; }

const char * capi_dir(void) {
#ifdef STENCIL_DIST
    return ""; // a program that is handed on knows no folder of the machine that made it
#else
    return STENCIL_LLAMA_DIR;
#endif
}

bool capi_static(void) { return false; }

static char error[512];

static const char * fail(void * handle, const char * text, const char * detail) {
    snprintf(error, sizeof error, "%s%s", text, detail ? detail : "");
    if (handle) {
        dlclose(handle);
    }
    return error;
}

// same_release compares versions up to a suffix: builds that are not of a tagged
// commit call themselves "0.5.0-dev".
static bool same_release(const char * a, const char * b) {
    const size_t n = strcspn(a, "-+");
    return n == strcspn(b, "-+") && strncmp(a, b, n) == 0;
}

const char * capi_open(const char * path) {
    void * handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        return fail(NULL, "", dlerror());
    }
    // Asked before anything else is called: the layout of every struct depends on it.
    const char * (*version)(void) = NULL;
    *(void **) &version = dlsym(handle, "llama_version");
    if (!version) {
        return fail(handle, "it does not say its version; this program was built for llama.cpp ", STENCIL_LLAMA_VERSION);
    }
    if (!same_release(version(), STENCIL_LLAMA_VERSION)) {
        char text[160];
        snprintf(text, sizeof text, "it is llama.cpp %.60s, this program was built for %s", version(), STENCIL_LLAMA_VERSION);
        return fail(handle, text, NULL);
    }
    struct stencil_capi table;
#define STENCIL_FIND(name)                                             \
    *(void **) &table.name = dlsym(handle, #name);                     \
    if (!table.name) {                                                 \
        return fail(handle, "it lacks the function ", #name);          \
    }
    STENCIL_FUNCTIONS(STENCIL_FIND)
#undef STENCIL_FIND
    capi = table;
    return NULL; // the handle stays open as long as the process runs
}
