#ifndef FT_LLM_H
#define FT_LLM_H

#include "foretell/query.h"

FT_BEGIN_DECLS

/* Memory of a server of a language model (config.json, GGUF) on each of its devices, as
 * vLLM divides it: a share of the device's memory holds weights, what the largest step
 * needs, and libraries; the rest is cache. docs/llm.md compares it with measurements.
 * Bytes, tokens. */

/* Start from FT_LLM_LIMITS_INIT; 0 is the default of every field. Fields are only
 * appended, as in ft_query. */
typedef struct ft_llm_limits {
    size_t size;
    double share;            /* of the device's memory; 0.9 */
    uint64_t seqs;           /* sequences of a step; 256, from 70 GiB of memory on 1024 */
    uint64_t batched_tokens; /* new tokens of a step; 2048, from 70 GiB on 8192 */
    uint64_t context;        /* tokens of a request; 4096 */
    uint64_t concurrency;    /* requests at once, for ft_llm_memory.longest; 1 */
    uint64_t block;          /* tokens of a block of the cache; 16 */
} ft_llm_limits;
#ifdef __cplusplus
#define FT_LLM_LIMITS_INIT [] { ft_llm_limits l = {}; l.size = sizeof(l); return l; }()
#else
#define FT_LLM_LIMITS_INIT {.size = sizeof(ft_llm_limits)}
#endif

typedef struct ft_llm_memory {
    double budget;      /* that the server takes */
    double weights;     /* of this rank */
    double activations; /* of the largest step, its sampling among them */
    double workspace;   /* of libraries: contexts, collectives */
    double cache;       /* what is left; below 0: what is missing */
    double request;     /* bytes of the cache for a request of that context */
    double requests;    /* of that context at once */
    double tokens;      /* requests x context: vLLM's "GPU KV cache size" */
    double longest;     /* context of each of `concurrency` requests; 0: not even one
                           block of tokens; at most 2^24 */
    const char *most;   /* what takes most of the budget: "weights", "activations",
                           "workspace" or "cache" */
} ft_llm_memory;

/* Of q: model, its dims (tp, pp, ep, dp, kv_bits, weight_bits), dtype, engine, its
 * version and run_mode (vLLM sampled from sorted logits before 0.17, and reserves memory
 * for CUDA graphs from 0.21 on). memory_bytes: of a device. FT_EINVAL: no language model,
 * or limits that cannot be; otherwise as ft_query_import(). */
FT_API ft_status ft_llm_memory_ask(ft_llm_memory *out, const ft_query *q,
                                   double memory_bytes, const ft_llm_limits *limits,
                                   ft_error *err);

/* Training over many devices. */

/* How a model is trained. Start from FT_LLM_TRAIN_INIT; 0 is the default of every field.
 * Fields are only appended, as in ft_query. */
typedef struct ft_llm_train {
    size_t size;
    uint64_t devices;       /* 1; a multiple of tp x pp, the rest is data parallel */
    uint64_t tp, pp;        /* ranks of tensor parallelism, stages of a pipeline; 1 */
    uint64_t node;          /* devices of a machine; 8 */
    uint64_t sequence;      /* tokens of a sequence; 4096 */
    uint64_t micro_batch;   /* sequences that go through a stage at once; 1 */
    uint64_t global_batch;  /* sequences of a step; as many as replicas x pp x micro_batch */
    uint64_t zero;          /* what replicas divide: 1 states of the optimizer, 2 gradients,
                               3 weights, too (FSDP); 0: nothing */
    uint64_t recompute;     /* 1: only inputs of layers are kept, the rest is made again */
    uint64_t interleave;    /* parts of the model that each stage runs in turn; 1 */
    double tokens;          /* of the whole run; 0: a step */
    uint64_t ep;            /* devices, of those of tp and replicas, that divide whole experts; 1 */
    uint64_t lora;          /* rank of adapters beside frozen weights; 0: all weights are trained */
    uint64_t network;       /* 1: of any other network, by replicas alone: tokens and sequences
                               are items, micro_batch a device's batch, states as q's optimizer has
                               them, in the weights' type */
} ft_llm_train;
#ifdef __cplusplus
#define FT_LLM_TRAIN_INIT [] { ft_llm_train t = {}; t.size = sizeof(t); return t; }()
#else
#define FT_LLM_TRAIN_INIT {.size = sizeof(ft_llm_train)}
#endif

/* s, J and W are of all devices, B of the one that needs most. */
typedef struct ft_llm_trained {
    ft_estimate step_s;
    ft_estimate tokens_per_s;
    ft_estimate tokens_per_s_per_device;
    ft_estimate step_j, power_w;
    ft_estimate run_s, run_j;   /* of all tokens; unavailable where none are asked for */
    ft_estimate device_hours;
    double mfu;                 /* FLOPs of forward and backward pass, without what is
                                   computed again, of the devices' bf16 peak; NaN: not known */
    double compute_s;           /* of step_s: forward and backward passes, ... */
    double bubble_s;            /* ... stages that wait, ... */
    double exchange_s;          /* ... what exchange of gradients and weights adds, ... */
    double optimizer_s;         /* ... and the optimizer */
    double weights, gradients, states, activations, bytes; /* bytes: their sum and what
                                   the process takes */
    double memory_bytes;        /* that a device has */
    uint64_t replicas, micro_batches;
    uint64_t global_batch;      /* sequences */
    ft_basis basis;
    uint32_t fp32;              /* 1: weights, gradients and states are in fp32 */
    uint32_t states_8_bits;     /* 1: of the optimizer */
    char no_hardware[256];      /* as in ft_served */
    char assumed[2048];         /* of the model: sentences, a line each */
} ft_llm_trained;

/* Of q: model, device, dtype, predictor and the like; no batch, and none of train, tokens,
 * context, tp, pp, dp, ep, lora, once and mtp among dims. Weights and gradients in 16 bits,
 * AdamW with an fp32 copy of the weights; of a model in fp32 (its own type, dtype "fp32" or
 * "amp-") all in fp32, without a copy; optimizer "adamw8bit": states of 8 bits, without a
 * copy. Weights frozen by lora have the checkpoint's few bits, or 4 with weight_bits=4 among
 * dims (QLoRA). FT_EINVAL: devices or sequences do not divide, a dim is one of these, or
 * training of the model is not supported (docs/llm.md); otherwise as ft_query_ask(). */
FT_API ft_status ft_llm_train_ask(ft_llm_trained *out, ft_data *d, const ft_query *q,
                                  const ft_llm_train *how, ft_error *err);

FT_END_DECLS

#endif
