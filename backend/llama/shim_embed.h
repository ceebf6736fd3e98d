// Contexts that turn texts into vectors.

#ifndef STENCIL_SHIM_EMBED_H
#define STENCIL_SHIM_EMBED_H

#include "shim.h"

#ifdef __cplusplus
extern "C" {
#endif

// stencil_width returns the elements of a vector; of a reranker, its classes.
int32_t stencil_width(const struct llama_model * m, bool rank);

struct stencil_embed_params {
    int32_t n_ctx;
    int32_t n_batch; // of one call, computed in one piece
    int32_t n_seq_max;
    int32_t n_threads;
    int32_t pooling;    // enum llama_pooling_type
    int32_t flash_attn; // enum llama_flash_attn_type
    struct stencil_abort * abort;
    struct stencil_rope rope;
};

// stencil_embed_new returns a context to be freed with stencil_ctx_free, or NULL.
struct stencil_ctx * stencil_embed_new(struct llama_model * model, const struct stencil_embed_params * p, struct stencil_error * err);

// stencil_embed computes n entries; want is all ones. It returns STENCIL_OK or
// another status, as stencil_decode does; after any other stencil_embed_clear
// is to be called.
int32_t stencil_embed(struct stencil_ctx * c, bool encoder, int32_t n,
                      const int32_t * tokens, const int32_t * pos, const int32_t * seqs, const int8_t * want);

// stencil_embed_row copies the row of a sequence that ended in the last
// stencil_embed; false if there is none.
bool stencil_embed_row(struct stencil_ctx * c, int32_t seq, float * dst, int32_t width);

// stencil_embed_clear forgets all sequences.
void stencil_embed_clear(struct stencil_ctx * c);

static inline bool    stencil_has_decoder(const struct llama_model * m) { return capi.llama_model_has_decoder(m); }
static inline int32_t stencil_vocab_sep(const struct llama_model * m)   { return capi.llama_vocab_sep(capi.llama_model_get_vocab(m)); }
static inline bool    stencil_add_sep(const struct llama_model * m)     { return capi.llama_vocab_get_add_sep(capi.llama_model_get_vocab(m)); }

#ifdef __cplusplus
}
#endif

#endif
