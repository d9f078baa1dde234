#ifndef IMPORT_LLM_LLM_H
#define IMPORT_LLM_LLM_H

#include "graph/build.h"

/* Language models from the config.json of Hugging Face. In: its text; out: the graph of
 * one step: some new tokens of each sequence, the keys and values of the context in a
 * cache. */

/* Files beside a config.json; NULL: there is none. */
typedef struct ft__llm_beside {
    const char *quant; /* hf_quant_config.json: how numbers are packed */
    size_t quant_len;
    const char *index; /* model.safetensors.index.json: what the checkpoint takes, which
                          is said where it is more than 5 % from what is counted */
    size_t index_len;
} ft__llm_beside;

enum { FT__LLM_LAYERS = 1024 }; /* at most */

typedef enum ft__llm_norm_kind { FT__LLM_RMS, FT__LLM_LAYER } ft__llm_norm_kind;

/* What mixes the tokens of a sequence in a layer. */
typedef enum ft__llm_mixer {
    FT__LLM_ATTENTION,
    FT__LLM_WINDOW, /* attention to the last tokens alone */
    FT__LLM_LINEAR, /* a state for each head in place of a cache */
    FT__LLM_MAMBA,  /* Mamba-2 */
    FT__LLM_MAMBA1,
    FT__LLM_NO_MIXER,
} ft__llm_mixer;

typedef enum ft__llm_ffn {
    FT__LLM_DENSE,
    FT__LLM_EXPERTS,
    FT__LLM_BOTH, /* side by side, their results added */
    FT__LLM_NO_FFN,
} ft__llm_ffn;

/* Linear attention. */
typedef enum ft__llm_linear_kind {
    FT__LLM_DELTA,     /* gated delta net (Qwen3-Next) */
    FT__LLM_KDA,       /* Kimi's: decays of each feature, from products of low rank */
    FT__LLM_LIGHTNING, /* MiniMax-01: decays are constants */
} ft__llm_linear_kind;

typedef struct ft__llm_layer {
    uint8_t mixer, ffn;
    bool indexed;     /* picks tokens (ft__llm.index_topk) by an indexer of its own */
    int64_t compress; /* tokens that an entry of its cache stands for; 0: one */
    int64_t heads, kv_heads, head, v_head;
    int64_t size; /* of its dense feed-forward layer */
} ft__llm_layer;

/* How numbers of the layers lie in memory and are multiplied; others are of
 * ft__llm.dtype. */
typedef struct ft__llm_quant {
    ft_dtype weights; /* FT_DTYPE_NONE: as the rest of the model */
    int64_t block;    /* weights of an output that share a scale; 0: all */
    bool activations; /* products are of this dtype, too */
} ft__llm_quant;
/* bitsandbytes' 4 bits (arXiv:2305.14314). */
#define FT__LLM_NF4 ((ft__llm_quant){FT_DTYPE_int4, 64, false})

/* Parts of a model with an ft__llm_quant each. */
typedef enum ft__llm_part {
    FT__LLM_PART_ATTENTION,
    FT__LLM_PART_LINEAR, /* linear attention, Mamba */
    FT__LLM_PART_DENSE,
    FT__LLM_PART_SHARED, /* experts that all tokens go to */
    FT__LLM_PART_EXPERTS,
    FT__LLM_PART_HEAD,
    FT__LLM_PARTS
} ft__llm_part;

/* A vision tower; hidden 0: none. */
typedef struct ft__llm_vision {
    int64_t hidden, layers, ffn, patch, channels, frames, positions, attention;
    int64_t out, merge, taps; /* taps: layers whose features go to the model, too */
} ft__llm_vision;

/* What a config.json says; 0 is what it does not say. */
typedef struct ft__llm {
    int64_t hidden, layers, vocab;
    int64_t heads, kv_heads, head; /* head: features of one */
    int64_t window_heads, window_kv_heads, window_head, window_v_head;
    int64_t full_kv_heads, full_head; /* where windows are the rule */
    int64_t ffn, dense_ffn;           /* of dense layers between those of experts */
    int64_t experts, topk, expert_ffn, shared, shared_ffn;
    int64_t expert_in; /* features that experts see; 0: all */
    int64_t dense_first, moe_every, expert_offset, moe_last, full_every;
    int64_t attention_period, attention_offset;            /* among layers of Mamba */
    int64_t kv_rank, q_rank, rope_head, nope_head, v_head; /* latent attention */
    int64_t o_rank, o_groups; /* output by two products, the first in groups */
    int64_t streams;          /* of the residual (hyper-connections); 1 */
    int64_t index_topk, index_heads, index_head; /* tokens that an indexer picks */
    int64_t window, window_pattern, positions;
    int64_t linear_heads, linear_v_heads, linear_head, linear_v_head; /* v: values */
    int64_t conv;                                                     /* its length */
    int64_t mamba_heads, mamba_head, mamba_state, mamba_groups, mamba_rank,
        mamba_expand;
    int64_t drafts; /* speculative layers */
    int64_t tied, attention_bias, mlp_bias, use_window, qk_norm, multi_query, out_gate,
        k_is_v, parallel_experts; /* 0, 1; -1: not said */
    ft_dtype table;               /* of the embeddings; NONE: dtype */
    int64_t table_block;          /* likewise, as ft__llm_quant.block */
    ft_dtype dtype, kv, state;    /* kv: of the cache; state: of linear layers */
    ft__llm_quant quant[FT__LLM_PARTS];
    bool gptq; /* weights of few bits are packed by GPTQ */
    ft__llm_norm_kind norm;
    ft__llm_linear_kind linear;
    bool dropout; /* of attention's weights, where it is trained by its scores */
    bool gated, rope, qkv_bias, o_bias, one_norm, four_norms, head_bias;
    bool encoder; /* whole sequences, whose first token becomes a vector (BERT) */
    bool embed_norm, learned_positions, shared_gate, full_gate, fp4_experts;
    bool said_indexed; /* layers, which of them have indexers */
    bool said_mixers;  /* what mixes tokens in each layer */
    bool searched;     /* layers have sizes of their own */
    bool like_llama;   /* its model_type is not known */
    bool masked;       /* it fills in masked tokens, or classifies, and no more */
    bool guessed_ffn;  /* nothing says how wide its feed-forward layers are */
    char type[64];
    double checkpoint_bytes; /* that its index says; 0: nothing does */
    const char *named_type;  /* type of weights that the path names where the
                                configuration names none; NULL */
    ft__llm_vision vision;
    ft__llm_layer layer[FT__LLM_LAYERS];
} ft__llm;

/* beside may be NULL. FT_EFORMAT: no JSON, or it lacks what a model needs;
 * FT_EUNSUPPORTED: a part of the model is not known, and is named. */
ft_status ft__llm_read(ft__llm *out, const char *text, size_t len,
                       const ft__llm_beside *beside, const char *name, ft_error *err);

/* Values of dim once below. */
enum { FT__LLM_ALIKE_ONCE = 1, FT__LLM_COUNTED };

/* A step of a model that was read:
 *   batch           sequences; 1 unless given
 *   dim tokens=N    new tokens of each; 1 (decoding), of encoders 512, unless given
 *   dim context=N   tokens of each in the cache after the step; 1024 when decoding, as
 *                   many as are new otherwise, unless given
 *   dim tp=N        this is one of N ranks of tensor parallelism; 1
 *   dim ep=N        of a mixture, N of the ranks have whole experts of their own; 1
 *   dim pp=N        this is the last of N stages of a pipeline; 1
 *   dim dp=N        one of N replicas of attention, which share the experts; 1
 *   dim node=N      devices of a machine; 8
 *   dim kv_bits=N   of the cache: 16 or 8; as the configuration says
 *   dim weight_bits=N   of the layers' weights: 16, 8 (fp8) or 4 (fp4); as it says
 *   dim served=1    what is stored in fp32 is held in 16 bits, as by vLLM and SGLang
 *                   (their --dtype auto)
 *   dim train=1     whole sequences without a cache, logits of all tokens: what a
 *                   training step is derived from
 *   dim scores=1    with train=1: attention by its scores, which go through memory, as
 *                   before FlashAttention; 0
 *   dim mtp=N       tokens that a speculative layer drafts for each sequence; 0
 *   dim once=1      layers that are alike, between others that are, stand once, with
 *                   ft_node.repeat and ft_tensor.copies: answers are the same; 2: also
 *                   those between others, which compilers would fuse otherwise; 0;
 *                   not with train=1
 */
ft_status ft__llm_step_of(ft_graph **out, const ft__llm *m, const char *name,
                          const ft_import_options *opt, ft_error *err);

/* A GGUF file's header -> what a config.json says, with types of each part's weights as
 * the file has them. Weights are not read. FT_EFORMAT: the header is damaged, or lacks
 * what a model needs. */
ft_status ft__llm_read_gguf(ft__llm *out, const uint8_t *data, size_t len,
                            const char *name, ft_error *err);

#endif
