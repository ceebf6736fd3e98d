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

// bare_open loads a model on the CPU and makes a context of n_ctx cells, with
// flash attention or without. It returns 0 on success.
int bare_open(struct bare * b, const char * path, int32_t n_ctx, int32_t n_threads, bool flash);
void bare_close(struct bare * b);

// bare_greedy decodes a prompt and then n tokens, each the most probable one,
// into out. It writes the nanoseconds that the n tokens took, the prompt not
// counted, on the clock and of CPU time, and returns 0 on success.
int bare_greedy(struct bare * b, const int32_t * prompt, int32_t n_prompt, int32_t * out, int32_t n,
                int64_t * wall_ns, int64_t * cpu_ns);

// bare_cpu_ns returns the CPU time of the process.
int64_t bare_cpu_ns(void);

#ifdef __cplusplus
}
#endif

#endif
