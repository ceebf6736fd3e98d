//go:build llama && cgo

#include "bare.h"

#include <stddef.h>
#include <time.h>

static void no_log(enum ggml_log_level level, const char * text, void * data) {
    (void) level; (void) text; (void) data;
}

void bare_quiet(void) {
    capi.llama_log_set(no_log, NULL);
    capi.ggml_log_set(no_log, NULL);
}

int bare_open(struct bare * b, const char * path, int32_t n_ctx, int32_t n_threads, bool flash) {
    capi.llama_backend_init();
    struct llama_model_params mp = capi.llama_model_default_params();
    mp.n_gpu_layers = 0;
    b->model = capi.llama_model_load_from_file(path, mp);
    if (!b->model) {
        return -1;
    }
    struct llama_context_params cp = capi.llama_context_default_params();
    cp.n_ctx           = n_ctx;
    cp.n_batch         = 512;
    cp.n_threads       = n_threads;
    cp.n_threads_batch = n_threads;
    cp.no_perf         = true;
    cp.flash_attn_type = flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    b->ctx = capi.llama_init_from_model(b->model, cp);
    if (!b->ctx) {
        capi.llama_model_free(b->model);
        return -1;
    }
    return 0;
}

void bare_close(struct bare * b) {
    capi.llama_free(b->ctx);
    capi.llama_model_free(b->model);
}

static int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t bare_cpu_ns(void) {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int32_t argmax(const float * x, int32_t n) {
    int32_t best = 0;
    float most = x[0];
    for (int32_t i = 1; i < n; i++) {
        if (x[i] > most) {
            best = i;
            most = x[i];
        }
    }
    return best;
}

int bare_greedy(struct bare * b, const int32_t * prompt, int32_t n_prompt, int32_t * out, int32_t n,
                int64_t * wall_ns, int64_t * cpu_ns) {
    const int32_t n_vocab = capi.llama_vocab_n_tokens(capi.llama_model_get_vocab(b->model));
    capi.llama_memory_clear(capi.llama_get_memory(b->ctx), false);
    if (capi.llama_decode(b->ctx, capi.llama_batch_get_one((int32_t *) prompt, n_prompt)) != 0) {
        return -1;
    }
    int32_t token = argmax(capi.llama_get_logits_ith(b->ctx, -1), n_vocab);
    const int64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = bare_cpu_ns();
    for (int32_t i = 0; i < n; i++) {
        out[i] = token;
        if (capi.llama_decode(b->ctx, capi.llama_batch_get_one(&token, 1)) != 0) {
            return -1;
        }
        token = argmax(capi.llama_get_logits_ith(b->ctx, -1), n_vocab);
    }
    *wall_ns = clock_ns(CLOCK_MONOTONIC) - wall;
    *cpu_ns  = bare_cpu_ns() - cpu;
    return 0;
}
