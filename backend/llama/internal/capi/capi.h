// llama.cpp's C API as a table of functions, filled when the library is opened.

#ifndef STENCIL_CAPI_H
#define STENCIL_CAPI_H

#include "gguf.h"
#include "llama.h"

// LLAMA_SESSION_VERSION tells apart the two generations of the API that this
// module knows: that of llama.cpp 0.5, and that of the sources which the module
// github.com/ollama/ollama carries. All differences between them are here.
#if LLAMA_SESSION_VERSION >= 10
#define STENCIL_API_CURRENT 1
#else
#define STENCIL_API_CURRENT 0
#endif

#if STENCIL_API_CURRENT
#define STENCIL_VERSIONED(X)       \
    X(llama_model_init_from_user)  \
    X(llama_model_n_embd_out)      \
    X(llama_set_adapters_lora)
#else
#define STENCIL_VERSIONED(X)       \
    X(llama_set_adapter_lora)
#endif

#define STENCIL_FUNCTIONS(X)           \
    STENCIL_VERSIONED(X)               \
    X(ggml_backend_buft_name)          \
    X(ggml_backend_dev_backend_reg)    \
    X(ggml_backend_dev_buffer_type)    \
    X(ggml_backend_dev_by_name)        \
    X(ggml_backend_dev_by_type)        \
    X(ggml_backend_dev_count)          \
    X(ggml_backend_dev_description)    \
    X(ggml_backend_dev_get)            \
    X(ggml_backend_dev_memory)         \
    X(ggml_backend_dev_name)           \
    X(ggml_backend_dev_type)           \
    X(ggml_backend_load_all_from_path) \
    X(ggml_backend_reg_count)          \
    X(ggml_backend_reg_get)            \
    X(ggml_backend_reg_get_proc_address) \
    X(ggml_backend_reg_name)           \
    X(ggml_fp32_to_fp16)               \
    X(ggml_log_set)                    \
    X(ggml_quantize_chunk)             \
    X(ggml_row_size)                   \
    X(ggml_set_abort_callback)         \
    X(ggml_threadpool_params_default)  \
    X(gguf_free)                       \
    X(gguf_init_empty)                 \
    X(gguf_set_val_str)                \
    X(gguf_write_to_file)              \
    X(llama_adapter_lora_free)         \
    X(llama_adapter_lora_init)         \
    X(llama_attach_threadpool)         \
    X(llama_backend_init)              \
    X(llama_batch_get_one)             \
    X(llama_context_default_params)    \
    X(llama_decode)                    \
    X(llama_detokenize)                \
    X(llama_encode)                    \
    X(llama_free)                      \
    X(llama_get_embeddings_ith)        \
    X(llama_get_embeddings_seq)        \
    X(llama_get_logits)                \
    X(llama_get_logits_ith)            \
    X(llama_get_memory)                \
    X(llama_init_from_model)           \
    X(llama_log_set)                   \
    X(llama_max_parallel_sequences)    \
    X(llama_max_devices)               \
    X(llama_memory_clear)              \
    X(llama_memory_seq_cp)             \
    X(llama_memory_seq_keep)           \
    X(llama_memory_seq_pos_max)        \
    X(llama_memory_seq_pos_min)        \
    X(llama_memory_seq_rm)             \
    X(llama_model_cls_label)           \
    X(llama_model_default_params)      \
    X(llama_model_free)                \
    X(llama_model_get_vocab)           \
    X(llama_model_has_decoder)         \
    X(llama_model_has_encoder)         \
    X(llama_model_is_diffusion)        \
    X(llama_model_is_hybrid)           \
    X(llama_model_is_recurrent)        \
    X(llama_model_load_from_file)      \
    X(llama_model_n_cls_out)           \
    X(llama_model_n_embd)              \
    X(llama_model_n_params)            \
    X(llama_model_n_swa)               \
    X(llama_model_size)                \
    X(llama_n_batch)                   \
    X(llama_n_ctx)                     \
    X(llama_pooling_type)              \
    X(llama_sampler_accept)            \
    X(llama_sampler_apply)             \
    X(llama_sampler_free)              \
    X(llama_sampler_init_grammar)      \
    X(llama_set_n_threads)             \
    X(llama_state_seq_get_data)        \
    X(llama_state_seq_get_data_ext)    \
    X(llama_state_seq_get_size)        \
    X(llama_state_seq_get_size_ext)    \
    X(llama_state_seq_set_data)        \
    X(llama_state_seq_set_data_ext)    \
    X(llama_token_to_piece)            \
    X(llama_tokenize)                  \
    X(llama_vocab_bos)                 \
    X(llama_vocab_eos)                 \
    X(llama_vocab_eot)                 \
    X(llama_vocab_get_add_bos)         \
    X(llama_vocab_get_add_eos)         \
    X(llama_vocab_get_add_sep)         \
    X(llama_vocab_get_attr)            \
    X(llama_vocab_get_text)            \
    X(llama_vocab_is_eog)              \
    X(llama_vocab_n_tokens)            \
    X(llama_vocab_sep)

#ifdef __cplusplus
extern "C" {
#endif

// stencil_capi has one member for each function, of the same name.
struct stencil_capi {
#define STENCIL_MEMBER(name) __typeof__(name) * name;
    STENCIL_FUNCTIONS(STENCIL_MEMBER)
#undef STENCIL_MEMBER
};

// capi is complete once capi_open has succeeded, and never changes after that.
extern struct stencil_capi capi;

// capi_built returns the version of llama.cpp whose headers this is built with,
// and capi_dir the folder where its libraries were then, "" if that means nothing.
const char * capi_built(void);
const char * capi_dir(void);

// capi_open opens the library at path and fills the table. It returns NULL, or
// what is wrong; the text is valid until the next call. Where llama.cpp is part
// of the program path is ignored.
const char * capi_open(const char * path);

// capi_static tells whether llama.cpp is part of the program.
bool capi_static(void);

#ifdef __cplusplus
}
#endif

#endif
