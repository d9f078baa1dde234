#ifndef IMPORT_LLM_LLM_H
#define IMPORT_LLM_LLM_H

#include "graph/build.h"

/* Language models from the config.json of Hugging Face. In: its text; out: the graph of
 * one step: some new tokens of each sequence, the keys and values of the context in a
 * cache.
 *   batch           sequences; 1 unless given
 *   dim tokens=N    new tokens of each; 1 (decoding) unless given
 *   dim context=N   tokens of each in the cache after the step; 1024 when decoding, as
 *                   many as are new otherwise, unless given
 *   dim tp=N        this is one of N ranks of tensor parallelism; 1
 *   dim ep=N        of a mixture, N of the ranks have whole experts of their own; 1
 * FT_EFORMAT: no JSON, or it lacks what a model needs; FT_EUNSUPPORTED: a part of the
 * model is not known, and is named. */
ft_status ft__import_llm(ft_graph **out, const char *text, size_t len, const char *name,
                         const ft_import_options *opt, ft_error *err);

enum { FT__LLM_LAYERS = 1024 }; /* at most */

typedef enum ft__llm_norm { FT__LLM_RMS, FT__LLM_LAYER } ft__llm_norm;

/* How numbers of the layers lie in memory and are multiplied; others are of
 * ft__llm.dtype. */
typedef struct ft__llm_quant {
    ft_dtype weights; /* FT_DTYPE_NONE: as the rest of the model */
    int64_t block;    /* weights of an output that share a scale; 0: all */
    bool activations; /* products are of this dtype, too */
    bool experts;     /* of mixtures of experts alone */
} ft__llm_quant;

/* What a config.json says; 0 is what it does not say. */
typedef struct ft__llm {
    int64_t hidden, layers, vocab;
    int64_t heads, kv_heads, head; /* head: features of one */
    int64_t ffn, dense_ffn;        /* of dense layers between those of experts */
    int64_t experts, topk, expert_ffn, shared, shared_ffn;
    int64_t dense_first, moe_every;
    int64_t kv_rank, q_rank, rope_head, nope_head, v_head; /* latent attention */
    int64_t index_topk, index_heads, index_head; /* tokens that an indexer picks */
    int64_t window, window_pattern, positions;
    int64_t tied, attention_bias, mlp_bias, use_window, qk_norm,
        multi_query; /* 0, 1; -1: not said */
    ft_dtype dtype;
    ft__llm_quant quant;
    ft__llm_norm norm;
    bool gated, rope, qkv_bias, o_bias, one_norm, four_norms, head_bias;
    bool embed_norm, learned_positions;
    bool like_llama; /* its model_type is not known */
    char type[64];
    bool windowed[FT__LLM_LAYERS],
        dense[FT__LLM_LAYERS]; /* layer_types, mlp_only_layers */
    bool said_windows;
} ft__llm;

ft_status ft__llm_read(ft__llm *out, const char *text, size_t len, const char *name,
                       ft_error *err);

#endif
