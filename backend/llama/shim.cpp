//go:build llama && cgo

#include "shim.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#ifdef __linux__
#include <sched.h>
#endif

// Implemented in Go.
extern "C" bool stencilProgress(float progress, uintptr_t handle);
extern "C" void stencilLog(int32_t level, char * text);

namespace {

void set_error(stencil_error * err, const char * text) {
    std::snprintf(err->text, sizeof err->text, "%s", text);
}

// guarded runs f and makes an error of what it throws.
template <typename F> bool guarded(stencil_error * err, F f) {
    try {
        f();
        return true;
    } catch (const std::exception & e) {
        set_error(err, e.what());
    } catch (...) {
        set_error(err, "unknown exception");
    }
    return false;
}

void on_log(ggml_log_level level, const char * text, void *) {
    stencilLog((int32_t) level, const_cast<char *>(text));
}

bool on_progress(float progress, void * user_data) {
    return stencilProgress(progress, (uintptr_t) user_data);
}

bool on_abort(void * data) {
    auto * a = (stencil_abort *) data;
    return __atomic_load_n(&a->aborted, __ATOMIC_ACQUIRE) >= __atomic_load_n(&a->running, __ATOMIC_RELAXED);
}

// The CPU back end in force may be one loaded from lib/, whose threads must be
// made by its own functions.
template <typename F> F cpu_function(const char * name) {
    auto * dev = capi.ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    return dev ? (F) capi.ggml_backend_reg_get_proc_address(capi.ggml_backend_dev_backend_reg(dev), name) : nullptr;
}

// Between two batches workers sleep. Within one they wait for one another by
// spinning; a worker that goes on with it after the batch, as ggml's default has
// it, takes the core that sampling, HTTP and other models run on. On two cores,
// both of them llama.cpp's, generation was measured to be faster with sleep.
const uint32_t pool_poll = 0;

ggml_threadpool * pool_new(int n_threads) {
    using new_fn = ggml_threadpool * (*)(ggml_threadpool_params *);
    auto make = cpu_function<new_fn>("ggml_threadpool_new");
    if (!make || n_threads < 2) {
        return nullptr;
    }
    ggml_threadpool_params p = capi.ggml_threadpool_params_default(n_threads);
    p.poll = pool_poll;
    return make(&p);
}

void pool_free(ggml_threadpool * pool) {
    using free_fn = void (*)(ggml_threadpool *);
    auto release = cpu_function<free_fn>("ggml_threadpool_free");
    if (pool && release) {
        release(pool);
    }
}

void attach(stencil_ctx * c, llama_context * lctx) {
    if (c->pool || c->pool_batch) {
        capi.llama_attach_threadpool(lctx, c->pool, c->pool_batch);
    }
}

// undo removes what a failed batch left in the sequences: first[s] is the
// position where it began, for each sequence in it.
void undo(stencil_ctx * c, int32_t n, const int32_t * pos, const int32_t * seqs) {
    for (int32_t i = 0; i < n; i++) {
        // Positions rise within a sequence, so its first entry cuts deepest;
        // for the others there is nothing left to remove.
        if (capi.llama_memory_seq_pos_max(c->mem, seqs[i]) < pos[i]) {
            continue;
        }
        if (!capi.llama_memory_seq_rm(c->mem, seqs[i], pos[i], -1)) {
            capi.llama_memory_seq_rm(c->mem, seqs[i], -1, -1);
        }
    }
}

#if STENCIL_API_CURRENT

void set_load_mode(llama_model_params * mp, bool mmap, bool lock) {
    mp->load_mode = mmap ? (lock ? LLAMA_LOAD_MODE_MMAP_MLOCK : LLAMA_LOAD_MODE_MMAP)
                         : (lock ? LLAMA_LOAD_MODE_MLOCK : LLAMA_LOAD_MODE_NONE);
}

bool probe(gguf_context * meta) {
    llama_model_params mp = capi.llama_model_default_params();
    mp.no_alloc     = true;
    mp.n_gpu_layers = 0;
    if (auto * model = capi.llama_model_init_from_user(meta, [](ggml_tensor *, void *) {}, nullptr, mp)) {
        capi.llama_model_free(model);
    }
    return true;
}

#else

void set_load_mode(llama_model_params * mp, bool mmap, bool lock) {
    mp->use_mmap  = mmap;
    mp->use_mlock = lock;
}

bool probe(gguf_context * meta) {
    char path[] = "/tmp/stencil-probe-XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0) {
        return false;
    }
    close(fd);
    if (capi.gguf_write_to_file(meta, path, true)) {
        llama_model_params mp = capi.llama_model_default_params();
        mp.vocab_only = true;
        if (auto * model = capi.llama_model_load_from_file(path, mp)) {
            capi.llama_model_free(model);
        }
    }
    unlink(path);
    return true;
}

#endif

// on_abort comes before ggml ends the process over a condition that doesn't
// hold. Go would print the stacks of all goroutines, none of which is to blame.
void on_abort(const char * message) {
    fprintf(stderr, "stencil: llama.cpp ends the process: %s\n", message);
    fflush(stderr);
    std::signal(SIGABRT, SIG_DFL);
}

} // namespace

void stencil_init(void) {
#ifdef __GLIBC__
    // Caches and compute buffers are large and come and go with contexts. By
    // default glibc, once one was freed, takes the next ones from its heaps,
    // where small neighbours that live longer keep them from being given back:
    // hundreds of kilobytes lost with every model that is loaded and unloaded.
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
    capi.ggml_log_set(on_log, nullptr);
    capi.llama_log_set(on_log, nullptr);
    capi.ggml_set_abort_callback(on_abort);
}

bool stencil_probe_arch(const char * name) {
    // A model of nothing but its architecture. It can't be loaded; what
    // llama.cpp says about it tells whether it got as far as asking for more.
    bool done = false;
    stencil_error err;
    guarded(&err, [&] {
        auto * meta = capi.gguf_init_empty();
        capi.gguf_set_val_str(meta, "general.architecture", name);
        done = probe(meta);
        capi.gguf_free(meta);
    });
    return done;
}

static void set_override(llama_model_kv_override * to, const stencil_override * from) {
    *to = {};
    std::snprintf(to->key, sizeof to->key, "%s", from->key);
    switch (from->kind) {
        case 'i': to->tag = LLAMA_KV_OVERRIDE_TYPE_INT;   to->val_i64  = from->integer; break;
        case 'f': to->tag = LLAMA_KV_OVERRIDE_TYPE_FLOAT; to->val_f64  = from->number;  break;
        case 'b': to->tag = LLAMA_KV_OVERRIDE_TYPE_BOOL;  to->val_bool = from->truth;   break;
        default:  to->tag = LLAMA_KV_OVERRIDE_TYPE_STR;
                  std::snprintf(to->val_str, sizeof to->val_str, "%s", from->text);
    }
}

void stencil_backend_init(void) {
#ifdef __linux__
    std::thread([] {
        // A thread may have a working folder of its own.
        if (unshare(CLONE_FS) == 0 && chdir("/") != 0) {
            std::perror("stencil: /");
        }
        capi.llama_backend_init();
    }).join();
#else
    capi.llama_backend_init();
#endif
}

void stencil_set_rope(llama_context_params * cp, const stencil_rope * rope) {
    if (rope->scaling >= 0) {
        cp->rope_scaling_type = (llama_rope_scaling_type) rope->scaling;
    }
    cp->rope_freq_base  = rope->freq_base;
    cp->rope_freq_scale = rope->freq_scale;
    cp->yarn_orig_ctx   = rope->original;
    if (rope->ext >= 0) {
        cp->yarn_ext_factor = rope->ext;
    }
    if (rope->attn >= 0) {
        cp->yarn_attn_factor = rope->attn;
    }
    if (rope->beta_fast >= 0) {
        cp->yarn_beta_fast = rope->beta_fast;
    }
    if (rope->beta_slow >= 0) {
        cp->yarn_beta_slow = rope->beta_slow;
    }
}

// find_buffer returns the buffers of the device of that name, and otherwise leaves a text with the names that there are.
static ggml_backend_buffer_type_t find_buffer(const char * name, stencil_error * err) {
    std::string known;
    for (size_t i = 0; i < capi.ggml_backend_dev_count(); i++) {
        auto * type = capi.ggml_backend_dev_buffer_type(capi.ggml_backend_dev_get(i));
        if (!type) {
            continue;
        }
        const std::string one = capi.ggml_backend_buft_name(type);
        if (one == name) {
            return type;
        }
        known += (known.empty() ? "" : ", ") + one;
    }
    std::snprintf(err->text, sizeof err->text, "tensors can't be kept on %.80s; there are %.140s", name, known.c_str());
    return nullptr;
}

llama_model * stencil_load(const char * path, const stencil_load_params * p, stencil_error * err) {
    llama_model * model = nullptr;
    guarded(err, [&] {
        std::vector<ggml_backend_dev_t> devices;
        for (int32_t i = 0; i < p->n_devices; i++) {
            auto * dev = capi.ggml_backend_dev_by_name(p->devices[i]);
            if (!dev) {
                std::snprintf(err->text, sizeof err->text, "there is no device named %s", p->devices[i]);
                return;
            }
            // The CPU is always there and not part of llama.cpp's list.
            if (capi.ggml_backend_dev_type(dev) != GGML_BACKEND_DEVICE_TYPE_CPU) {
                devices.push_back(dev);
            }
        }
        devices.push_back(nullptr);

        llama_model_params mp = capi.llama_model_default_params();
        mp.n_gpu_layers  = p->n_gpu_layers;
        mp.check_tensors = p->check_tensors;
        mp.use_extra_bufts = !p->no_extra;
        set_load_mode(&mp, p->use_mmap, p->use_mlock);
        // Without layers on a GPU, none is to be touched at all.
        if (p->devices || p->n_gpu_layers == 0) {
            mp.devices = devices.data();
        }
        std::vector<llama_model_kv_override> overrides(p->n_overrides + 1);
        for (int32_t i = 0; i < p->n_overrides; i++) {
            set_override(&overrides[i], &p->overrides[i]);
        }
        if (p->n_overrides > 0) {
            mp.kv_overrides = overrides.data(); // an empty key ends them
        }
        std::vector<llama_model_tensor_buft_override> tensors;
        for (int32_t i = 0; i < p->n_patterns; i++) {
            try {
                std::regex check(p->patterns[i]);
            } catch (const std::regex_error &) {
                std::snprintf(err->text, sizeof err->text, "%.100s is not a regular expression", p->patterns[i]);
                return;
            }
            auto * type = find_buffer(p->buffers[i], err);
            if (!type) {
                return;
            }
            tensors.push_back({ p->patterns[i], type });
        }
        if (!tensors.empty()) {
            tensors.push_back({ nullptr, nullptr });
            mp.tensor_buft_overrides = tensors.data();
        }
        std::vector<float> split(std::max<size_t>(capi.llama_max_devices(), 1));
        if (p->split_mode > LLAMA_SPLIT_MODE_ROW && !STENCIL_API_CURRENT) {
            std::snprintf(err->text, sizeof err->text, "this version of llama.cpp does not split tensors");
            return;
        }
        if (p->n_split > (int32_t) split.size()) {
            std::snprintf(err->text, sizeof err->text, "there are shares for %d GPUs, and at most %zu", p->n_split, split.size());
            return;
        }
        if (p->split_mode >= 0) {
            mp.split_mode = (llama_split_mode) p->split_mode;
        }
        mp.main_gpu = p->main_gpu;
        if (p->n_split > 0) {
            std::copy(p->tensor_split, p->tensor_split + p->n_split, split.begin());
            mp.tensor_split = split.data();
        }
        mp.progress_callback           = on_progress;
        mp.progress_callback_user_data = (void *) p->handle;
        model = capi.llama_model_load_from_file(path, mp);
    });
    return model;
}

stencil_ctx * stencil_ctx_new(llama_model * model, const stencil_ctx_params * p, stencil_error * err) {
    stencil_ctx * c = nullptr;
    try {
        c = new stencil_ctx();
        c->model = model;

        llama_context_params cp = capi.llama_context_default_params();
        cp.n_ctx           = p->n_ctx;
        cp.n_batch         = p->n_batch;
        cp.n_ubatch        = std::min(p->n_batch, 512);
        cp.n_seq_max       = p->n_seq_max;
        cp.n_threads       = p->n_threads;
        cp.n_threads_batch = p->n_threads_batch;
        cp.type_k          = (ggml_type) p->type_kv;
        cp.type_v          = (ggml_type) p->type_kv;
        cp.flash_attn_type = (llama_flash_attn_type) p->flash_attn;
        cp.kv_unified      = p->n_seq_max > 1; // one pool of cells, so that sequences share prefixes
        cp.swa_full        = true; // sliding-window layers keep all cells, so that tails can be removed
        cp.no_perf         = true;
        stencil_set_rope(&cp, &p->rope);
        cp.abort_callback      = on_abort;
        cp.abort_callback_data = p->abort;
        c->params = cp;
        c->lctx   = capi.llama_init_from_model(model, cp);
        if (!c->lctx) {
            stencil_ctx_free(c);
            return nullptr;
        }
        c->mem = capi.llama_get_memory(c->lctx);

        c->pool = pool_new(p->n_threads);
        if (p->n_threads_batch != p->n_threads) {
            c->pool_batch = pool_new(p->n_threads_batch);
        }
        attach(c, c->lctx);

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
        set_error(err, e.what());
    } catch (...) {
        set_error(err, "unknown exception");
    }
    stencil_ctx_free(c);
    return nullptr;
}

void stencil_ctx_free(stencil_ctx * c) {
    if (!c) {
        return;
    }
    for (auto * lctx : {c->lctx, c->next}) {
        if (lctx) {
            capi.llama_free(lctx);
        }
    }
    pool_free(c->pool);
    pool_free(c->pool_batch);
    delete[] c->n_seq_id;
    delete[] c->seqs;
    delete[] c->seq_id;
    delete c;
}

void stencil_threads(stencil_ctx * c, int32_t n, int32_t n_batch) {
    c->params.n_threads       = n;
    c->params.n_threads_batch = n_batch;
    capi.llama_set_n_threads(c->lctx, n, n_batch);
}

bool stencil_grow_begin(stencil_ctx * c, int32_t n_ctx, stencil_error * err) {
    guarded(err, [&] {
        llama_context_params cp = c->params;
        cp.n_ctx = n_ctx;
        c->next  = capi.llama_init_from_model(c->model, cp);
        if (c->next) {
            attach(c, c->next);
        }
    });
    return c->next != nullptr;
}

bool stencil_move(stencil_ctx * c, int32_t seq, int32_t like, int32_t common, stencil_error * err) {
    bool moved = false;
    guarded(err, [&] {
        std::vector<uint8_t> state(capi.llama_state_seq_get_size(c->lctx, seq));
        if (capi.llama_state_seq_get_data(c->lctx, state.data(), state.size(), seq) != state.size() ||
            capi.llama_state_seq_set_data(c->next, state.data(), state.size(), seq) != state.size()) {
            return;
        }
        if (common > 0) {
            auto * mem = capi.llama_get_memory(c->next);
            if (!capi.llama_memory_seq_rm(mem, seq, 0, common)) {
                return;
            }
            capi.llama_memory_seq_cp(mem, like, seq, 0, common);
        }
        moved = true;
    });
    return moved;
}

void stencil_grow_end(stencil_ctx * c, bool commit) {
    if (commit) {
        std::swap(c->lctx, c->next);
        c->mem          = capi.llama_get_memory(c->lctx);
        c->params.n_ctx = capi.llama_n_ctx(c->lctx);
    }
    if (c->next) {
        capi.llama_free(c->next);
        c->next = nullptr;
    }
}

int32_t stencil_decode(stencil_ctx * c, int32_t n,
                       const int32_t * tokens, const int32_t * pos, const int32_t * seqs, const int8_t * want) {
    int32_t status = STENCIL_EXCEPTION;
    guarded(&c->err, [&] {
        std::memcpy(c->seqs, seqs, n * sizeof *seqs);
        llama_batch b = {};
        b.n_tokens = n;
        b.token    = const_cast<int32_t *>(tokens);
        b.pos      = const_cast<int32_t *>(pos);
        b.n_seq_id = c->n_seq_id;
        b.seq_id   = c->seq_id;
        b.logits   = const_cast<int8_t *>(want);
        const int32_t got = capi.llama_decode(c->lctx, b);
        if (got == STENCIL_OK) {
            c->logits = capi.llama_get_logits(c->lctx); // also waits for the device
        }
        status = got;
    });
    if (status == STENCIL_OK) {
        return status;
    }
    undo(c, n, pos, seqs);
    return status;
}

size_t stencil_state_set(stencil_ctx * c, int32_t seq, const uint8_t * data, size_t size) {
    capi.llama_memory_seq_rm(c->mem, seq, -1, -1);
    size_t got = 0;
    try {
        got = capi.llama_state_seq_set_data(c->lctx, data, size, seq);
    } catch (...) {
    }
    if (got != size) {
        capi.llama_memory_seq_rm(c->mem, seq, -1, -1);
        got = 0;
    }
    return got;
}

bool stencil_device_get(size_t i, stencil_device * out) {
    if (i >= capi.ggml_backend_dev_count()) {
        return false;
    }
    auto * dev = capi.ggml_backend_dev_get(i);
    out->name        = capi.ggml_backend_dev_name(dev);
    out->description = capi.ggml_backend_dev_description(dev);
    out->library     = capi.ggml_backend_reg_name(capi.ggml_backend_dev_backend_reg(dev));
    out->type        = capi.ggml_backend_dev_type(dev);
    capi.ggml_backend_dev_memory(dev, &out->free, &out->total);
    return true;
}

void stencil_features(char * dst, size_t size) {
    std::string text;
    auto features = cpu_function<ggml_backend_get_features_t>("ggml_backend_get_features");
    if (features) {
        auto * reg = capi.ggml_backend_dev_backend_reg(capi.ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
        for (auto * f = features(reg); f->name; f++) {
            // The value is "1" for an instruction set and text for anything else.
            if (!std::strcmp(f->value, "1")) {
                text += text.empty() ? "" : " ";
                text += f->name;
            }
        }
    }
    std::snprintf(dst, size, "%s", text.c_str());
}

stencil_grammar * stencil_grammar_new(const llama_model * model, const char * text) {
    stencil_grammar * g = nullptr;
    try {
        const auto * vocab = capi.llama_model_get_vocab(model);
        g = new stencil_grammar();
        g->n_vocab = capi.llama_vocab_n_tokens(vocab);
        g->tokens  = new llama_token_data[g->n_vocab];
        g->sampler = capi.llama_sampler_init_grammar(vocab, text, "root");
        if (g->sampler) {
            return g;
        }
    } catch (...) {
    }
    stencil_grammar_free(g);
    return nullptr;
}

void stencil_grammar_free(stencil_grammar * g) {
    if (!g) {
        return;
    }
    if (g->sampler) {
        capi.llama_sampler_free(g->sampler);
    }
    delete[] g->tokens;
    delete g;
}

bool stencil_grammar_mask(stencil_grammar * g, uint64_t * set) {
    return guarded(&g->err, [&] {
        for (int32_t i = 0; i < g->n_vocab; i++) {
            g->tokens[i] = { i, 0.0f, 0.0f };
        }
        llama_token_data_array all = { g->tokens, (size_t) g->n_vocab, -1, false };
        capi.llama_sampler_apply(g->sampler, &all);
        for (int32_t i = 0; i < g->n_vocab; i++) {
            if (g->tokens[i].logit == 0.0f) {
                set[i / 64] |= (uint64_t) 1 << (i % 64);
            }
        }
    });
}

bool stencil_grammar_accept(stencil_grammar * g, int32_t token) {
    return guarded(&g->err, [&] { capi.llama_sampler_accept(g->sampler, token); });
}

bool stencil_set_lora(stencil_ctx * c, llama_adapter_lora ** adapters, float * scales, size_t n) {
    auto * lctx = c->next ? c->next : c->lctx;
#if STENCIL_API_CURRENT
    return capi.llama_set_adapters_lora(lctx, adapters, n, scales) == 0;
#else
    for (size_t i = 0; i < n; i++) {
        if (capi.llama_set_adapter_lora(lctx, adapters[i], scales[i]) != 0) {
            return false;
        }
    }
    return true;
#endif
}

void stencil_default_signals(void) {
    for (int s : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGXCPU}) {
        std::signal(s, SIG_DFL);
    }
}
