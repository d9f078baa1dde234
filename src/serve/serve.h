#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <stdbool.h>

#include "base/index.h"
#include "foretell/serve.h"
#include "serve/llm_memory.h"

static inline ft_status ft__serve_no_memory(ft_error *err)
{
    return ft_fail(err, FT_ENOMEM, 0, "steps");
}
/* Replaces 0, which stands for the default, by the default. */
static inline void ft__serve_default(uint64_t *field, uint64_t otherwise)
{
    if (!*field)
        *field = otherwise;
}

enum {
    FT__SERVE_PROMPT = 1024,
    FT__SERVE_GENERATE = 256,
    FT__SERVE_BLOCK = 16,
    FT__SERVE_MOST_REQUESTS = 1000000,
    FT__SERVE_MOST_TOKENS = 1 << 24, /* of a request */
    FT__SERVE_MOST_SEQS = 1 << 16,
};

/* Of any size as today's, with defaults in the place of 0, those of a device with so
 * much memory. */
ft_status ft__serve_load_read(ft_serve_load *out, const ft_serve_load *in,
                              double memory_bytes, ft_error *err);
/* Bounds of the token counts of requests and of how many run at once. */
typedef struct ft__serve_bounds {
    uint64_t least_prompt, most_prompt, most_context, seqs, tokens;
} ft__serve_bounds;
void ft__serve_bounds_of(ft__serve_bounds *out, const ft_serve_load *load);
/* Its requests, n_requests or n_recorded; NULL: memory is short. Arrivals of a closed
 * load are 0; at a rate they are spread over as long as so many take to come, as those
 * of vLLM's benchmark. */
ft_serve_request *ft__serve_requests(const ft_serve_load *load, size_t *n);

enum { FT__SERVE_GRID = 48, FT__SERVE_MOST_RANKS = 64 };

/* Grid points at which steps are estimated, ascending. */
typedef struct ft__serve_grid {
    double at[FT__SERVE_GRID];
    size_t n;
} ft__serve_grid;

/* Operations with counts: plan.entry[first .. first + n). */
typedef struct ft__serve_cell {
    uint32_t first, n;
} ft__serve_cell;
typedef struct ft__serve_entry {
    uint32_t op;
    double count;
} ft__serve_entry;

/* The parts that add up to a step. */
typedef enum ft__serve_part {
    FT__SERVE_ROWS,    /* of every token, whoever it belongs to: by tokens */
    FT__SERVE_HEAD,    /* of every sequence: by sequences */
    FT__SERVE_DECODE,  /* of sequences that decode: by sequences and context of each */
    FT__SERVE_PREFILL, /* of tokens of prompts: by tokens and those before them */
    FT__SERVE_ATTENTION, /* of them, the attention */
    FT__SERVE_PARTS
} ft__serve_part;

struct ft_serve_plan {
    ft_op *op; /* no two are equal */
    uint32_t n_ops;
    size_t cap_ops;
    ft__index op_of;
    ft_graph *list; /* of them, each alone */
    ft__serve_entry *entry;
    size_t n_entries, cap_entries;
    ft__serve_grid rows, seqs, context, chunk, before;
    ft__serve_cell *cell[FT__SERVE_PARTS];
    ft_graph *decode, *prefill; /* at sizes of the grids: how sure steps are */
    ft_serve_step decode_step, prefill_step;
    uint64_t ranks;    /* devices of a replica */
    uint64_t replicas; /* of attention: their steps wait for each other */
    uint64_t stages;   /* of a pipeline: graphs are of one of them */
    uint64_t layers;
    uint64_t issued;    /* operations of a mixture's prompt; 0: there is no mixture */
    bool block_experts; /* ft__serve_block_experts() of it */
    bool may_draft;     /* it has speculative layers, and nothing is said of them */
    ft__serve_bounds bounds; /* of all loads */
    ft__llm_sizes sizes;
    /* Of so many ranks of tensor parallelism, from more than the query's on; without
     * weights: they do not divide the model. */
    ft__llm_sizes divided[FT__SERVE_MOST_RANKS + 1];
    double kv_bytes_per_token;
};

/* Of an operation; FT_NONE: the plan has none that is equal. */
uint32_t ft__serve_number_of(const ft_serve_plan *p, const ft_op *op);

typedef struct ft__serve_cost {
    double time_s;
    double energy_j; /* of a device */
} ft__serve_cost;

/* What an engine does besides the device's kernels. */
typedef struct ft__serve_engine {
    double step_s;        /* of the host between steps, ... */
    double sequence_s;    /* ... of each sequence of the step before ... */
    double prompt_s;      /* ... and each prompt */
    double sampling_s;    /* of the device, of each sequence's next token */
    double layer_s;       /* it takes to issue a layer: a step is no shorter */
    double issue_s;       /* likewise an operation of prompts of mixtures, ... */
    double block_issue_s; /* ... of those with block_experts, where it differs, ... */
    double graph_tokens;  /* ... unless the step has at most so many tokens */
    double held_steps;    /* that decode, which a prompt may have to wait for */
    double attention_passes; /* so often the cache goes through memory; 0: once */
    double sum_s;          /* that a sum over ranks takes longer than a fused kernel */
    bool nccl_sums;        /* over ranks: no kernel of its own */
    double core_bytes;     /* of weights a core reads in a clock; 0: bandwidth alone */
    double amd_core_bytes; /* the same of cores of AMD */
    bool no_dataset;       /* was measured of it */
    bool whole_attention;  /* rotates and writes the cache within it */
    bool whole_sums;       /* over ranks add, and are normalised, within them */
    bool prompts_alone;    /* steps of prompts, before those that decode */
    bool all_experts; /* reads those that no token goes to, too, of block_experts */
    bool reserves;    /* blocks for all tokens that a request will have, as it begins */
    bool sorted_logits;   /* to sample from them */
    bool reserves_graphs; /* memory for CUDA graphs, before it divides the rest */
    bool keeps_freed; /* a preempted sequence finds its blocks that nobody took since */
    bool shares_free; /* memory_share is of what weights and a step leave, not of all */
} ft__serve_engine;
/* FT_EINVAL: no such name, or the version is not a number; each may be NULL. */
ft_status ft__serve_engine_check(const char *name, const char *version, ft_error *err);
/* The engine of that name and version, in that run mode (as in ft_query); NULL: any,
 * which is the newest, by graphs. */
ft__serve_engine ft__serve_engine_of(const char *name, const char *version,
                                     const char *run_mode);
/* Is it a mixture of experts with block-scaled 8-bit weights, which has kernels of its
 * own? */
bool ft__serve_block_experts(const ft_op *op);
/* Names of engines that were measured, from 0 on; NULL: no more. */
const char *ft__serve_engine_measured(size_t i);
/* Does the engine replace kernels of the estimate? */
bool ft__serve_engine_changes(const ft__serve_engine *e);
/* Change the cost of an operation as far as its kernels are its own, at a clock of the
 * cores. width: of what is summed over ranks; 0: nothing is. */
void ft__serve_engine_cost(ft__serve_cost *c, const ft__serve_engine *e,
                           const ft_op *op, int64_t width, const ft_device_facts *f,
                           double clock_hz, double idle_w);

/* The low and high ends of an interval, as factors of the value. */
typedef struct ft__serve_ends {
    double value, low, high;
} ft__serve_ends;

struct ft_serve_steps {
    ft__serve_grid rows, seqs, context, chunk, before;
    ft__serve_cost *cost[FT__SERVE_PARTS];
    ft__serve_cost launch; /* of every step, whatever it does */
    ft__serve_ends decode_time, decode_energy, prefill_time, prefill_energy;
    ft__serve_ends power; /* of a step that decodes, in which times and joules err
                             together or not */
    ft__serve_bounds bounds;
    uint64_t ranks, replicas, stages, layers, issued;
    bool block_experts, may_draft;
    ft__llm_sizes sizes, divided[FT__SERVE_MOST_RANKS + 1]; /* as in ft_serve_plan */
    double kv_bytes_per_token, memory_bytes;
    double host_s; /* that it takes to issue a step; 0: nothing is known of it */
    ft__serve_engine engine;
    double idle_w; /* of a device; NaN: not known */
    double most_w; /* that it is built for; NaN: not known */
    double link_bytes_per_s;
    ft_basis basis;
    char device[128], title[128], predictor[1024], run_mode[32];
    char no_hardware[256];
    ft_dtype no_hardware_for;
    const char *no_hardware_ending; /* in no_hardware */
    bool half;                      /* as in ft_answer */
};

typedef enum ft__serve_end {
    FT__SERVE_VALUE,
    FT__SERVE_LOW,
    FT__SERVE_HIGH
} ft__serve_end;

/* The cost of a step at one end of the interval, with the energy of prefill and
 * decoding. */
typedef struct ft__serve_split {
    double time_s, busy_s;      /* busy: the device, while the host issues the rest */
    double prefill_share;       /* of busy_s */
    double prefill_j, decode_j; /* of a device */
} ft__serve_split;
ft__serve_split ft__serve_step_cost(const ft_serve_steps *s, const ft_serve_step *step,
                                    ft__serve_end end);
/* The step of the replica with the most work, for which all others wait. Sequences are
 * spread evenly over replicas. */
ft_serve_step ft__serve_replica_step(const ft_serve_steps *s, const ft_serve_step *step,
                                     ft__serve_end end);
/* The share of a step's time that a token takes where tokens are drafted. */
double ft__serve_drafted(const ft_serve_steps *s, ft__serve_end end);
/* Of the device for sampling, and of the host until the next step; overhead_s 0: the
 * engine's, else it is all that there is. */
double ft__serve_sampling(const ft_serve_steps *s, const ft_serve_step *step,
                          double overhead_s, ft__serve_end end);
double ft__serve_between(const ft_serve_steps *s, const ft_serve_step *step,
                         double overhead_s);

/* Requests of an open load whose servers reach their steady state, the cache of a group
 * holding so many tokens. */
uint64_t ft__serve_steady(const ft_serve_steps *s, const ft_serve_load *l,
                          double kv_tokens);

/* *asked with defaults in *load, and what fits in *out. As ft_serve_run(). */
ft_status ft__serve_prepare(ft_serve_load *load, ft_served *out,
                            const ft_serve_steps *s, const ft_serve_load *asked,
                            ft_error *err);

/* A latency in s and how often it occurs. */
typedef struct ft__serve_latency {
    double s, count;
} ft__serve_latency;
/* By nearest rank; NaN: there are none. Sorts v. */
void ft__serve_points(double out[FT_SERVE_POINT_COUNT], ft__serve_latency *v, size_t n);

/* The result of a simulated run of a group of devices. */
typedef struct ft__serve_run {
    double latency[FT_SERVE_METRIC_COUNT][FT_SERVE_POINT_COUNT];
    double duration_s, generated, busy_s;
    double between_s;                   /* host's, between steps, on average */
    double prefill_j, decode_j, idle_j; /* of all devices */
    double batch_s;                     /* decoding sequences times seconds */
    uint64_t steps, preemptions, most_batch, requests, devices;
    double kv_peak;
    double steady; /* rates of an open load in its steady part, of those of the run */
} ft__serve_run;

ft_status ft__serve_simulate(ft__serve_run *out, const ft_serve_steps *s,
                             const ft_serve_load *asked, double kv_tokens,
                             ft__serve_end end, ft_error *err);

#endif
