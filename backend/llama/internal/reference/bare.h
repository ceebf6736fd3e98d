// A generation loop without anything of this module in it.

#ifndef STENCIL_BARE_H
#define STENCIL_BARE_H

#include <stdint.h>

#include "../capi/capi.h"

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

// What Go calls as it is, under names without the prefix llama_.

struct ref_vocab {
    struct llama_model       * model;
    const struct llama_vocab * vocab;
};

static inline bool ref_open(struct ref_vocab * v, const char * path) {
    struct llama_model_params p = capi.llama_model_default_params();
    p.vocab_only = true;
    v->model = capi.llama_model_load_from_file(path, p);
    v->vocab = v->model ? capi.llama_model_get_vocab(v->model) : NULL;
    return v->model != NULL;
}

static inline void ref_free(struct ref_vocab * v) { capi.llama_model_free(v->model); }
static inline void ref_init(void)                 { capi.llama_backend_init(); }

static inline int32_t ref_tokenize(const struct ref_vocab * v, const char * text, int32_t len, int32_t * dst, int32_t n, bool add, bool parse) {
    return capi.llama_tokenize(v->vocab, text, len, dst, n, add, parse);
}
static inline int32_t ref_piece(const struct ref_vocab * v, int32_t id, char * dst, int32_t n, bool special) {
    return capi.llama_token_to_piece(v->vocab, id, dst, n, 0, special);
}
static inline int32_t ref_detokenize(const struct ref_vocab * v, const int32_t * ids, int32_t len, char * dst, int32_t n, bool remove, bool unparse) {
    return capi.llama_detokenize(v->vocab, ids, len, dst, n, remove, unparse);
}

static inline int32_t      ref_n_tokens(const struct ref_vocab * v)       { return capi.llama_vocab_n_tokens(v->vocab); }
static inline const char * ref_text(const struct ref_vocab * v, int32_t id) { return capi.llama_vocab_get_text(v->vocab, id); }
static inline int          ref_attr(const struct ref_vocab * v, int32_t id) { return capi.llama_vocab_get_attr(v->vocab, id); }
static inline bool         ref_is_eog(const struct ref_vocab * v, int32_t id) { return capi.llama_vocab_is_eog(v->vocab, id); }
static inline int32_t      ref_bos(const struct ref_vocab * v)            { return capi.llama_vocab_bos(v->vocab); }
static inline int32_t      ref_eos(const struct ref_vocab * v)            { return capi.llama_vocab_eos(v->vocab); }
static inline int32_t      ref_eot(const struct ref_vocab * v)            { return capi.llama_vocab_eot(v->vocab); }
static inline bool         ref_add_bos(const struct ref_vocab * v)        { return capi.llama_vocab_get_add_bos(v->vocab); }
static inline bool         ref_add_eos(const struct ref_vocab * v)        { return capi.llama_vocab_get_add_eos(v->vocab); }

static inline size_t   ref_row_size(int type, int64_t n) { return capi.ggml_row_size((enum ggml_type) type, n); }
static inline uint16_t ref_half(float x)                 { return capi.ggml_fp32_to_fp16(x); }
static inline void     ref_quantise(int type, const float * row, void * dst, int64_t n) {
    capi.ggml_quantize_chunk((enum ggml_type) type, row, dst, 0, 1, n, NULL);
}

#ifdef __cplusplus
}
#endif

#endif
