// The few C functions that package llama calls. Each wraps what would
// otherwise be several crossings between Go and C, and none lets a C++
// exception out.

#ifndef STENCIL_SHIM_H
#define STENCIL_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/capi/capi.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a call returns besides llama_decode's own codes.
enum {
    STENCIL_OK        = 0,
    STENCIL_NO_SLOT   = 1,
    STENCIL_ABORTED   = 2,
    STENCIL_EXCEPTION = -100,
};

// stencil_error receives the text of a C++ exception.
struct stencil_error {
    char text[256];
};

void stencil_init(void);

// stencil_backend_init starts llama.cpp. Without any back end so far, llama.cpp
// also looks for them in the working folder, which may hold another's code: on
// Linux it is started where the working folder is /.
void stencil_backend_init(void);

// stencil_probe_arch has llama.cpp look at a model that consists of the name of
// its architecture; what it logs as an error tells whether it knows that. It
// returns false if that could not be done.
bool stencil_probe_arch(const char * name);

// stencil_override gives a key of the metadata another value; kind is i, f, b or s.
struct stencil_override {
    const char * key;
    char         kind;
    int64_t      integer;
    double       number;
    bool         truth;
    const char * text;
};

// stencil_rope says how positions are turned. What is 0, or -1 where 0 means
// something, is as the file says.
struct stencil_rope {
    int32_t  scaling; // enum llama_rope_scaling_type
    float    freq_base;
    float    freq_scale;
    float    ext; // of YaRN, and what follows
    float    attn;
    float    beta_fast;
    float    beta_slow;
    uint32_t original;
};

void stencil_set_rope(struct llama_context_params * cp, const struct stencil_rope * rope);

struct stencil_load_params {
    uintptr_t            handle;        // passed to stencilProgress
    int32_t              n_gpu_layers;
    bool                 use_mmap;
    bool                 use_mlock;
    bool                 check_tensors;
    bool                 no_extra;      // don't copy weights into the forms that some kernels like
    const char * const * devices;       // names, or NULL for llama.cpp's choice
    int32_t              n_devices;
    int32_t              split_mode;    // enum llama_split_mode, or -1
    int32_t              main_gpu;
    float              * tensor_split;  // n_split shares, or NULL
    int32_t              n_split;
    const struct stencil_override * overrides;
    int32_t              n_overrides;
    const char * const * patterns;      // n_patterns regular expressions for names of tensors
    const char * const * buffers;       // and the device that each keeps them on
    int32_t              n_patterns;
};

struct llama_model * stencil_load(const char * path, const struct stencil_load_params * p, struct stencil_error * err);

// stencil_abort is shared with Go. A decode numbered `running` is to stop when
// `aborted` has reached that number. Both are accessed atomically.
struct stencil_abort {
    uint64_t running;
    uint64_t aborted;
};

struct stencil_ctx {
    struct llama_context * lctx;
    llama_memory_t         mem;
    struct llama_context * next; // the larger one that takes its place, while sequences move

    struct llama_model        * model;
    struct llama_context_params params;
    struct ggml_threadpool * pool;
    struct ggml_threadpool * pool_batch;

    float              * logits; // of the last decode that worked
    struct stencil_error err;    // of the last one that threw

    int32_t         max_batch;
    int32_t       * n_seq_id; // all 1
    llama_seq_id  * seqs;
    llama_seq_id ** seq_id;   // seq_id[i] == &seqs[i]
};

struct stencil_ctx_params {
    int32_t n_ctx;
    int32_t n_batch;
    int32_t n_seq_max;
    int32_t n_threads;
    int32_t n_threads_batch;
    int32_t type_kv;    // enum ggml_type
    int32_t flash_attn; // enum llama_flash_attn_type
    struct stencil_abort * abort;
    struct stencil_rope rope;
};

struct stencil_ctx * stencil_ctx_new(struct llama_model * model, const struct stencil_ctx_params * p, struct stencil_error * err);
void                 stencil_ctx_free(struct stencil_ctx * c);

// stencil_threads changes how many threads decode, up to those it was made with.
void stencil_threads(struct stencil_ctx * c, int32_t n, int32_t n_batch);

// A context grows in steps: a larger one is made, each sequence moves over, and
// then the old one goes; or, if something fails on the way, the new one does.
bool stencil_grow_begin(struct stencil_ctx * c, int32_t n_ctx, struct stencil_error * err);
void stencil_grow_end(struct stencil_ctx * c, bool commit);

// stencil_move copies a sequence to the larger context. The first `common` of its
// tokens share the cells that those of the sequence `like` have there.
bool stencil_move(struct stencil_ctx * c, int32_t seq, int32_t like, int32_t common, struct stencil_error * err);

// stencil_decode decodes n entries and waits for the result. On success
// c->logits is the first row asked for (rows follow one another); on failure
// the sequences of the batch are cut back to the positions where it began.
int32_t stencil_decode(struct stencil_ctx * c, int32_t n,
                       const int32_t * tokens, const int32_t * pos, const int32_t * seqs, const int8_t * want);

// stencil_state_set returns the number of bytes read, 0 on failure, in which
// case the sequence is empty.
size_t stencil_state_set(struct stencil_ctx * c, int32_t seq, const uint8_t * data, size_t size);

// stencil_set_lora puts n adapters in force, in the larger context while there is one.
bool stencil_set_lora(struct stencil_ctx * c, struct llama_adapter_lora ** adapters, float * scales, size_t n);

// stencil_device is one entry of ggml's list of devices.
struct stencil_device {
    const char * name;
    const char * description;
    const char * library;
    int32_t      type; // enum ggml_backend_dev_type
    size_t       free;
    size_t       total;
};

bool stencil_device_get(size_t i, struct stencil_device * out);

// stencil_features writes the instruction sets that the CPU back end in force
// was compiled for, such as "AVX2 FMA F16C".
void stencil_features(char * dst, size_t size);

// stencil_grammar is llama.cpp's grammar sampler over a model's vocabulary.
struct stencil_grammar {
    struct llama_sampler    * sampler;
    struct llama_token_data * tokens; // scratch, one for each token
    int32_t                   n_vocab;
    struct stencil_error      err;    // of the last call that failed
};

// stencil_grammar_new returns NULL when the grammar can't be read.
struct stencil_grammar * stencil_grammar_new(const struct llama_model * model, const char * text);
void                     stencil_grammar_free(struct stencil_grammar * g);

// stencil_grammar_mask sets the bits of the tokens that may come next.
bool stencil_grammar_mask(struct stencil_grammar * g, uint64_t * set);
bool stencil_grammar_accept(struct stencil_grammar * g, int32_t token);

// stencil_default_signals has signals of faults and of limits end the process as
// they do in C, without Go's report.
void stencil_default_signals(void);

// What Go calls as it is. cgo can't call through the pointers of a table.

static inline void   stencil_load_backends(const char * dir) { capi.ggml_backend_load_all_from_path(dir); }
static inline size_t stencil_reg_count(void)                 { return capi.ggml_backend_reg_count(); }
static inline const char * stencil_reg_name(size_t i)        { return capi.ggml_backend_reg_name(capi.ggml_backend_reg_get(i)); }
static inline size_t stencil_max_seqs(void)                  { return capi.llama_max_parallel_sequences(); }

static inline struct llama_adapter_lora * stencil_lora_load(struct llama_model * m, const char * path) { return capi.llama_adapter_lora_init(m, path); }
static inline void stencil_lora_free(struct llama_adapter_lora * l) { capi.llama_adapter_lora_free(l); }

static inline int32_t  stencil_n_tokens(const struct llama_model * m)     { return capi.llama_vocab_n_tokens(capi.llama_model_get_vocab(m)); }
static inline uint64_t stencil_n_params(const struct llama_model * m)     { return capi.llama_model_n_params(m); }
static inline uint64_t stencil_model_size(const struct llama_model * m)   { return capi.llama_model_size(m); }
static inline bool     stencil_has_encoder(const struct llama_model * m)  { return capi.llama_model_has_encoder(m); }
static inline bool     stencil_is_diffusion(const struct llama_model * m) { return capi.llama_model_is_diffusion(m); }
static inline bool     stencil_is_recurrent(const struct llama_model * m) { return capi.llama_model_is_recurrent(m) || capi.llama_model_is_hybrid(m); }
static inline void     stencil_model_free(struct llama_model * m)         { capi.llama_model_free(m); }

static inline uint32_t  stencil_n_ctx(const struct stencil_ctx * c)               { return capi.llama_n_ctx(c->lctx); }
static inline llama_pos stencil_seq_end(const struct stencil_ctx * c, int32_t seq) { return capi.llama_memory_seq_pos_max(c->mem, seq) + 1; }
static inline bool stencil_seq_rm(struct stencil_ctx * c, int32_t seq, int32_t p0, int32_t p1) { return capi.llama_memory_seq_rm(c->mem, seq, p0, p1); }
static inline void stencil_seq_cp(struct stencil_ctx * c, int32_t src, int32_t dst, int32_t p0, int32_t p1) { capi.llama_memory_seq_cp(c->mem, src, dst, p0, p1); }
static inline void stencil_seq_keep(struct stencil_ctx * c, int32_t seq) { capi.llama_memory_seq_keep(c->mem, seq); }

static inline size_t stencil_state_size(struct stencil_ctx * c, int32_t seq) { return capi.llama_state_seq_get_size(c->lctx, seq); }
static inline size_t stencil_state_get(struct stencil_ctx * c, int32_t seq, uint8_t * dst, size_t size) { return capi.llama_state_seq_get_data(c->lctx, dst, size, seq); }

#ifdef __cplusplus
}
#endif

#endif
