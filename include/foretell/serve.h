#ifndef FT_SERVE_H
#define FT_SERVE_H

#include "foretell/query.h"

FT_BEGIN_DECLS

/* Serving of language models: continuous batching, simulated step by step. What a step
 * takes is what ft_query_ask() answers for its operations (docs/llm.md). Seconds,
 * joules, bytes, tokens. */

/* A request of a recorded load. */
typedef struct ft_serve_request {
    double arrival_s;
    uint64_t prompt;   /* tokens, at least 1 */
    uint64_t generate; /* tokens, at least 1 */
} ft_serve_request;

/* Requests, and how the engine schedules them. Start from FT_SERVE_LOAD_INIT; 0 is the
 * default of every field. Fields are only appended, as in ft_query. */
typedef struct ft_serve_load {
    size_t size;
    uint64_t prompt;      /* tokens of a request; 1024 */
    uint64_t generate;    /* tokens; 256 */
    double vary;          /* lengths are uniform between (1 - vary) and (1 + vary) of
                             these; below 1 */
    uint64_t concurrency; /* closed load: requests under way, the next begins when one
                             ends; 1. With a rate or a record: at most so many, 0: any
                             number */
    double rate_per_s;    /* open load: a Poisson process; 0: closed */
    uint64_t n_requests; /* 10 for each of the concurrency, 32 of up to 3; of a rate 200
                            to 10000, 8 for each that is under way */
    uint64_t seed;       /* of arrivals and lengths */
    const ft_serve_request *request; /* a recorded load in place of all that, by
                                        arrival; borrowed for the call */
    uint64_t n_recorded;
    uint64_t max_seqs;           /* sequences of a step; 256, from 70 GiB of memory on
                                    1024 (as vLLM) */
    uint64_t max_batched_tokens; /* tokens of a step; 2048, from 70 GiB on 8192 */
    uint64_t whole_prompts;      /* 1: no chunks, a prompt is one step, alone */
    uint64_t
        shared_prefix;   /* tokens that all prompts begin with and that stay cached */
    uint64_t block;      /* tokens of a block of the cache; 16 */
    double memory_share; /* of the device's memory that the engine takes; 0.9. With
                            trtllm from 1.0 on: that the cache takes of what is left */
    uint64_t kv_tokens;  /* that the cache holds; 0: what memory leaves */
    double step_overhead_s;   /* between two steps; 0: as the engine's, below 0: none */
    uint64_t prefill_workers; /* disaggregated: groups of devices for prompts, ... */
    uint64_t decode_workers;  /* ... and for decoding; both 0: one group does both */
    uint64_t n_shown;         /* TTFT, TPOT and end to end are of the first so many
                                 requests; 0: of all */
    double prompt_factor;     /* on the time that prompts take of steps, ... */
    double decode_factor;     /* ... and decoding: ft_serve_learn(); 0: 1 */
} ft_serve_load;
#ifdef __cplusplus
#define FT_SERVE_LOAD_INIT                                                             \
    [] {                                                                               \
        ft_serve_load l = {};                                                          \
        l.size = sizeof(l);                                                            \
        return l;                                                                      \
    }()
#else
#define FT_SERVE_LOAD_INIT                                                             \
    {                                                                                  \
        .size = sizeof(ft_serve_load)                                                  \
    }
#endif

/* Default time between two steps, s: scheduling, inputs, sampling (docs/llm.md has that
 * of each engine). */
#define FT_SERVE_OVERHEAD_S 5e-4

/* Requests of a closed load whose lengths vary by at most this share may stay together if
 * they begin together; intervals contain both cases. */
#define FT_SERVE_ALIKE 0.05

/* Operations of the steps that loads may take, at sizes between which is interpolated.
 * q: model, its `tp` and `ep` among dims, dtype; no batch. Independent of any device;
 * threads may share it. */
typedef struct ft_serve_plan ft_serve_plan;
/* FT_EINVAL: no language model, or a load that cannot be; otherwise as
 * ft_query_import(). */
FT_API ft_status ft_serve_plan_open(ft_serve_plan **out, const ft_query *q,
                                    const ft_serve_load *load, size_t n, ft_error *err);
FT_API void ft_serve_plan_close(ft_serve_plan *p);

/* Their costs on a device. q: device, setting, predictor, engine and its version (what
 * the host does between steps and kernels of its own, docs/llm.md), run mode
 * ("compiled-graph" unless said, "eager" of engines that are) and the like. Immutable:
 * threads may share it; outlives plan and data. As ft_query_ask(). */
typedef struct ft_serve_steps ft_serve_steps;
FT_API ft_status ft_serve_steps_open(ft_serve_steps **out, ft_data *d,
                                     const ft_serve_plan *p, const ft_query *q,
                                     ft_error *err);
FT_API void ft_serve_steps_close(ft_serve_steps *s);

/* A step: the new tokens of prompts, and sequences that decode one token each. */
typedef struct ft_serve_step {
    double prefill_tokens;
    double prefill_pairs; /* of them and the tokens each attends to: of a whole prompt
                             of n tokens n (n + 1) / 2 */
    double prefill_seqs;
    double decode_seqs;
    double decode_context; /* tokens that they attend to, in all */
} ft_serve_step;
/* time (s) and energy (J, of all devices of the group) of the step alone, without the
 * overhead between steps. */
FT_API void ft_serve_step_ask(ft_estimate *time, ft_estimate *energy,
                              const ft_serve_steps *s, const ft_serve_step *step);

typedef enum ft_serve_metric {
    FT_SERVE_TTFT, /* s: arrival to first token */
    FT_SERVE_TPOT, /* s: (end - first token) / (tokens - 1), of a request */
    FT_SERVE_ITL,  /* s: between two tokens of a request */
    FT_SERVE_E2E,  /* s: arrival to last token */
    FT_SERVE_METRIC_COUNT
} ft_serve_metric;

typedef enum ft_serve_point {
    FT_SERVE_MEAN,
    FT_SERVE_P50,
    FT_SERVE_P90,
    FT_SERVE_P95,
    FT_SERVE_P99,
    FT_SERVE_POINT_COUNT
} ft_serve_point;

/* What a server may do that neither query nor load rules out; intervals include it. */
enum {
    FT_SERVE_MAY_DRAFT = 1, /* speculative decoding by the model's own layers, unless
                               the query has mtp=0 */
    FT_SERVE_MAY_STAY = 2,  /* requests of a closed load that begin together end
                               together, being nearly equal (FT_SERVE_ALIKE) */
};

/* Result of a simulated run, from the first arrival to the last token; of a rate without
 * n_requests tokens_per_s and requests_per_s are those of its steady state. Intervals:
 * the run with every step at its low and at its high end, because all steps share their
 * error. That of power is at least as wide as a decoding step's. */
typedef struct ft_served {
    ft_estimate latency[FT_SERVE_METRIC_COUNT][FT_SERVE_POINT_COUNT]; /* s */
    ft_estimate tokens_per_s;          /* generated, of the group */
    ft_estimate tokens_per_s_per_user; /* 1 / mean TPOT */
    ft_estimate tokens_per_s_per_device;
    ft_estimate requests_per_s;
    ft_estimate joules_per_token; /* generated: prefill + decode + idle */
    ft_estimate prefill_joules_per_token;
    ft_estimate decode_joules_per_token;
    ft_estimate idle_joules_per_token; /* devices wait: between steps, for requests */
    ft_estimate power_w;               /* of all devices together */
    ft_estimate duration_s;
    uint64_t devices;
    uint64_t requests;
    uint64_t steps;
    uint64_t preemptions;
    double mean_batch;         /* sequences decoding, by time */
    uint64_t most_batch;       /* the most at once */
    double kv_tokens;          /* capacity of the KV cache of a group */
    double kv_peak;            /* largest share of it in use */
    double kv_bytes_per_token; /* per device, as the next three */
    double weight_bytes;
    double activation_bytes;
    double memory_bytes;    /* of the device; the engine takes a share of it */
    double step_overhead_s; /* between steps, on average */
    uint64_t max_batched_tokens;
    int fits; /* 1: weights and one request fit in memory_bytes */
    ft_basis basis;
    ft_dtype no_hardware_for; /* as ft_remark.dtype of no_hardware */
    const char *run_mode; /* of the steps, as in ft_query */
    const char *device;   /* as in ft_answer; the steps' */
    const char *title;
    const char *predictor;
    int prompts_alone;       /* 1: no step has both prefill and decode */
    int may;                 /* FT_SERVE_MAY_ bits */
    const char *no_hardware; /* a sentence if the device does not compute in the
                                model's element type; else "" */
    int64_t positions; /* tokens, as in ft_graph; 0: unknown. Servers refuse requests whose
                          prompt and answer are longer, or answer them badly */
    int shares_free;   /* 1: memory_share is of what weights and a step leave */
    const char *no_hardware_ending; /* as ft_remark.ending of no_hardware; or "" */
    uint32_t half; /* as in ft_answer */
} ft_served;

/* FT_EINVAL: the load is malformed, or larger than the plan's; FT_ENOTFOUND: it does
 * not fit, then *out says how much there is. */
FT_API ft_status ft_serve_run(ft_served *out, const ft_serve_steps *s,
                              const ft_serve_load *load, ft_error *err);

/* Results of a benchmark and its load; NaN, 0: not in its file. */
typedef struct ft_serve_measured {
    const char *tool;  /* such as "sglang", "vllm or sglang", "mlperf"; static */
    uint64_t prompt;   /* tokens, on average */
    uint64_t generate; /* tokens, on average */
    uint64_t concurrency;
    uint64_t n_requests;
    double rate_per_s;                                           /* of an open load */
    double latency[FT_SERVE_METRIC_COUNT][FT_SERVE_POINT_COUNT]; /* s */
    double tokens_per_s;                                         /* generated */
    double requests_per_s;
    double duration_s;
} ft_serve_measured;

/* Read the JSON of `vllm bench serve` or of SGLang's bench_serving (an object, or one a
 * line), that of `llama-bench -o json`, or the summary of MLPerf Inference's load
 * generator. Fills out[*n], at most `most`. FT_EFORMAT: it is none of them. */
FT_API ft_status ft_serve_measured_read(ft_serve_measured *out, size_t *n, size_t most,
                                        const char *text, size_t len, const char *name,
                                        ft_error *err);

/* Factors of *load with which the run shows what was measured (means, or p50 where
 * there is none; tokens a second where there are no latencies): least squares of
 * logarithms, each factor between 1/8 and 8. A factor that no figure depends on is 1.
 * FT_ENOTFOUND: nothing was measured. Otherwise as ft_serve_run(). */
FT_API ft_status ft_serve_learn(double *prompt_factor, double *decode_factor,
                                const ft_serve_steps *s, const ft_serve_load *load,
                                const ft_serve_measured *m, ft_error *err);

FT_END_DECLS

#endif
