// A generation loop without anything of this module in it.

#ifndef STENCIL_BARE_H
#define STENCIL_BARE_H

#include <stdint.h>

#include "llama.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bare {
    struct llama_model   * model;
    struct llama_context * ctx;
};

void bare_quiet(void);

// bare_open returns 0 on success.
int bare_open(struct bare * b, const char * path, int32_t n_ctx, int32_t n_threads);
void bare_close(struct bare * b);

// bare_greedy decodes a prompt and then n tokens, each the most probable one,
// into out. It returns the nanoseconds that the n tokens took, the prompt not
// counted; negative on failure.
int64_t bare_greedy(struct bare * b, const int32_t * prompt, int32_t n_prompt, int32_t * out, int32_t n);

#ifdef __cplusplus
}
#endif

#endif
