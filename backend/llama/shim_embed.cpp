//go:build llama && cgo

#include "shim_embed.h"

#include <cstdio>
#include <cstring>
#include <exception>

namespace {

bool embed_abort(void * data) {
    auto * a = (stencil_abort *) data;
    return __atomic_load_n(&a->aborted, __ATOMIC_ACQUIRE) >= __atomic_load_n(&a->running, __ATOMIC_RELAXED);
}

} // namespace

int32_t stencil_width(const llama_model * m, bool rank) {
    if (rank) {
        return (int32_t) capi.llama_model_n_cls_out(m);
    }
#if STENCIL_API_CURRENT
    return capi.llama_model_n_embd_out(m); // models with dense layers after the pooling differ
#else
    return capi.llama_model_n_embd(m);
#endif
}

stencil_ctx * stencil_embed_new(llama_model * model, const stencil_embed_params * p, stencil_error * err) {
    stencil_ctx * c = nullptr;
    try {
        c = new stencil_ctx();

        llama_context_params cp = capi.llama_context_default_params();
        cp.embeddings      = true;
        cp.pooling_type    = (enum llama_pooling_type) p->pooling;
        cp.n_ctx           = p->n_ctx;
        cp.n_batch         = p->n_batch;
        cp.n_ubatch        = p->n_batch; // attention that looks ahead must see an input as a whole
        cp.n_seq_max       = p->n_seq_max;
        cp.n_threads       = p->n_threads;
        cp.n_threads_batch = p->n_threads;
        cp.flash_attn_type = (llama_flash_attn_type) p->flash_attn;
        cp.kv_unified      = true;
        cp.no_perf         = true;
        stencil_set_rope(&cp, &p->rope);
        cp.abort_callback      = embed_abort;
        cp.abort_callback_data = p->abort;
        c->lctx = capi.llama_init_from_model(model, cp);
        if (!c->lctx) {
            stencil_ctx_free(c);
            return nullptr;
        }
        c->mem = capi.llama_get_memory(c->lctx);

        c->max_batch = (int32_t) capi.llama_n_batch(c->lctx);
        c->n_seq_id  = new int32_t[c->max_batch];
        c->seqs      = new llama_seq_id[c->max_batch];
        c->seq_id    = new llama_seq_id *[c->max_batch];
        for (int32_t i = 0; i < c->max_batch; i++) {
            c->n_seq_id[i] = 1;
            c->seq_id[i]   = &c->seqs[i];
        }
        return c;
    } catch (const std::exception & e) {
        std::snprintf(err->text, sizeof err->text, "%s", e.what());
    } catch (...) {
        std::snprintf(err->text, sizeof err->text, "unknown exception");
    }
    stencil_ctx_free(c);
    return nullptr;
}

int32_t stencil_embed(stencil_ctx * c, bool encoder, int32_t n,
                      const int32_t * tokens, const int32_t * pos, const int32_t * seqs, const int8_t * want) {
    try {
        std::memcpy(c->seqs, seqs, n * sizeof *seqs);
        llama_batch b = {};
        b.n_tokens = n;
        b.token    = const_cast<int32_t *>(tokens);
        b.pos      = const_cast<int32_t *>(pos);
        b.n_seq_id = c->n_seq_id;
        b.seq_id   = c->seq_id;
        b.logits   = const_cast<int8_t *>(want);
        return encoder ? capi.llama_encode(c->lctx, b) : capi.llama_decode(c->lctx, b);
    } catch (const std::exception & e) {
        std::snprintf(c->err.text, sizeof c->err.text, "%s", e.what());
    } catch (...) {
        std::snprintf(c->err.text, sizeof c->err.text, "unknown exception");
    }
    return STENCIL_EXCEPTION;
}

bool stencil_embed_row(stencil_ctx * c, int32_t seq, float * dst, int32_t width) {
    const float * row = capi.llama_get_embeddings_seq(c->lctx, seq); // also waits for the device
    if (!row) {
        return false;
    }
    std::memcpy(dst, row, width * sizeof *row);
    return true;
}

void stencil_embed_clear(stencil_ctx * c) {
    if (c->mem) {
        capi.llama_memory_clear(c->mem, false);
    }
}
