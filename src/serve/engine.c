/* What engines do besides the device's kernels: the host's part of a step, and kernels
 * of their own. Where each number is from: docs/notes/llm-served.md. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "physics/physics.h"
#include "serve/serve.h"

/* s that NCCL of that time took beyond the kernels of a sum over ranks: Llama-2-7B on
 * two A100. */
#define SLOW_SUM_S 2e-5
/* Steps that TensorRT-LLM may hold prompts back (batch_wait_timeout_iters, which
 * those before 1.0 lack): as a published script that measures it sets it. */
#define STEPS_WAITED 20

/* Of a name the first whose version is above the one asked for. Times are of x86 hosts
 * and hold for all: what Grace takes was published of one eager layer, while steps of
 * engines are CUDA graphs and their schedulers, partly C++, were timed beside none. */
static const struct {
    const char *name, *before;
    ft__serve_engine engine;
} engines[] = {
    /* Before CUDA graphs: PyTorch issues every kernel. */
    {"vllm",
     "0.3",
     {.sequence_s = 3e-4,
      .prompt_s = 2e-2,
      .layer_s = 5.5e-4,
      .nccl_sums = true,
      .sorted_logits = true}},
    /* Before sums over ranks were as fast as their kernels by themselves. */
    {"vllm",
     "0.6",
     {.step_s = 7e-4,
      .sampling_s = 5.8e-5,
      .sum_s = SLOW_SUM_S,
      .issue_s = 8.5e-5,
      .graph_tokens = 512,
      .all_experts = true,
      .sorted_logits = true}},
    /* Before the next step was scheduled during a step. */
    {"vllm",
     "0.14",
     {.step_s = 7e-4,
      .sampling_s = 5.8e-5,
      .issue_s = 8.5e-5,
      .graph_tokens = 512,
      .all_experts = true,
      .keeps_freed = true,
      .sorted_logits = true}},
    /* Before logits were no longer sorted (vllm-project/vllm pull request 33538). */
    {"vllm",
     "0.17",
     {.step_s = FT_SERVE_OVERHEAD_S,
      .issue_s = 8.5e-5,
      .graph_tokens = 512,
      .keeps_freed = true,
      .sorted_logits = true}},
    /* Before memory for CUDA graphs was reserved (vllm-project/vllm pull request 30515,
     * the default from 0.21 on). */
    {"vllm",
     "0.21",
     {.step_s = FT_SERVE_OVERHEAD_S,
      .issue_s = 8.5e-5,
      .graph_tokens = 512,
      .keeps_freed = true}},
    {"sglang",
     NULL,
     {.step_s = FT_SERVE_OVERHEAD_S,
      .issue_s = 1.65e-4,
      .no_dataset = true,
      .prompts_alone = true}},
    /* Before sums over ranks took in what follows them. */
    {"trtllm",
     "1.0",
     {.step_s = FT_SERVE_OVERHEAD_S,
      .sum_s = SLOW_SUM_S,
      .issue_s = 8.5e-5,
      .graph_tokens = 512,
      .whole_attention = true,
      .reserves = true}},
    {"trtllm",
     NULL,
     {.step_s = FT_SERVE_OVERHEAD_S,
      .issue_s = 8.5e-5,
      .block_issue_s = 2e-4,
      .graph_tokens = 512,
      .held_steps = STEPS_WAITED,
      .whole_attention = true,
      .whole_sums = true,
      .reserves = true,
      .shares_free = true}},
    {"transformers",
     NULL,
     {.layer_s = 9.1e-4, .attention_passes = 8, .no_dataset = true}},
    {"llama.cpp",
     NULL,
     {.step_s = FT_SERVE_OVERHEAD_S,
      .core_bytes = 5.5,
      .amd_core_bytes = 3.5,
      .no_dataset = true}},
};

/* Compares versions numerically: "0.9" is before "0.14". */
static bool is_before(const char *version, const char *than)
{
    while (*version && *than) {
        char *v, *t;
        const unsigned long a = strtoul(version, &v, 10), b = strtoul(than, &t, 10);

        if (a != b || v == version)
            return a < b && v != version;
        version = *v == '.' ? v + 1 : "";
        than = *t == '.' ? t + 1 : "";
    }
    return !*version && *than;
}

ft_status ft__serve_engine_check(const char *name, const char *version, ft_error *err)
{
    bool known = !name;

    for (size_t i = 0; i < sizeof(engines) / sizeof(*engines) && !known; i++)
        known = strcmp(engines[i].name, name) == 0;
    if (!known)
        return ft_fail(err, FT_EINVAL, 0,
                       "--engine %s: no software that serves is called so; there are "
                       "vllm, sglang, trtllm, transformers, llama.cpp",
                       name);
    if (version && !isdigit((unsigned char)*version))
        return ft_fail(err, FT_EINVAL, 0,
                       "--engine-version %s: want a number such as 0.11", version);
    return FT_OK;
}

static ft__serve_engine of_version(const char *name, const char *version)
{
    for (size_t i = 0; name && i < sizeof(engines) / sizeof(*engines); i++)
        if (strcmp(engines[i].name, name) == 0 &&
            (!engines[i].before || (version && is_before(version, engines[i].before))))
            return engines[i].engine;
    return (ft__serve_engine){.step_s = FT_SERVE_OVERHEAD_S,
                              .issue_s = 8.5e-5,
                              .graph_tokens = 512,
                              .keeps_freed = true,
                              .reserves_graphs = true};
}

ft__serve_engine ft__serve_engine_of(const char *name, const char *version,
                                     const char *run_mode)
{
    ft__serve_engine e = of_version(name, version);

    e.reserves_graphs = e.reserves_graphs && (!run_mode || strstr(run_mode, "graph"));
    return e;
}

const char *ft__serve_engine_measured(size_t i)
{
    static const char *const names[] = {"vllm", "trtllm"};

    return i < sizeof(names) / sizeof(*names) ? names[i] : NULL;
}

static void take_at_least(ft__serve_cost *c, double time_s, double idle_w)
{
    if (!(time_s > c->time_s))
        return;
    c->energy_j += idle_w * (time_s - c->time_s);
    c->time_s = time_s;
}

/* The share of a mixture's experts that none of so many rows goes to. */
static double unused_experts(const ft_op *op, double rows)
{
    const double topk = (double)ft_op_at(op, FT_K_topk, 0);
    const double experts = (double)ft_op_at(op, FT_K_experts, 0);

    return pow(1 - topk / experts, rows);
}

/* At the same power. */
static void take_time(ft__serve_cost *c, double time_s)
{
    c->energy_j *= c->time_s > 0 ? time_s / c->time_s : 1;
    c->time_s = time_s;
}

/* A product of few rows by kernels that read so many bytes a clock of each core, than
 * which more rows take no less. Those of a mixture are the same kernels, not engines'
 * with tiles for experts: they read weights once for as many rows. */
static void read_weights(ft__serve_cost *c, const ft_op *op, double bytes_per_s,
                         double bandwidth, double idle_w)
{
    static const double reached = 0.85; /* of the bandwidth, as by products */
    static const double few = 8;
    const ft_shape x = ft_op_shape(op, FT_K_x);
    const double rows = x.rank ? (double)x.dim[0] : 0, reads = fmax(1, rows / few);
    ft_cost cost;

    if (x.rank < 1)
        return;
    ft_op_cost(op, &cost);
    if (op->kind == FT_KIND_moe) {
        cost.weight_bytes *= 1 - unused_experts(op, fmin(rows, few));
        take_time(c,
                  fmin(c->time_s, reads * cost.weight_bytes / (reached * bandwidth)));
    }
    take_at_least(c, cost.weight_bytes / bytes_per_s, idle_w);
}

/* One query a sequence: keys and values of all heads go through memory that often. */
static void pass_cache(ft__serve_cost *c, const ft_op *op, double passes,
                       double bandwidth)
{
    const ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y);
    double bytes;

    if (x.rank != 4 || y.rank != 4 || x.dim[2] != 1)
        return;
    bytes = 2 * (double)ft_dtype_bits(op->dtype) / 8 * (double)(x.dim[0] * x.dim[1]) *
            (double)(y.dim[2] * y.dim[3]);
    take_time(c, fmax(c->time_s, passes * bytes / bandwidth));
}

bool ft__serve_block_experts(const ft_op *op)
{
    return op->kind == FT_KIND_moe && ft_op_at(op, FT_K_block, 0) &&
           ft_dtype_bits(op->dtype) == 8;
}

/* Weights of all experts are read, those that no row goes to as well. */
static void read_all_experts(ft__serve_cost *c, const ft_op *op, double bandwidth)
{
    static const double reached = 0.6; /* of the bandwidth, by mixtures as measured */
    ft_cost cost;

    ft_op_cost(op, &cost);
    take_time(c, fmax(c->time_s, cost.weight_bytes / (reached * bandwidth)));
}

/* What NCCL takes for a sum beyond a kernel that devices read each other's memory by,
 * where the estimate has one: it starts later, and is at its rate from 8 MiB on. NCCL
 * on 2, 4 and 8 A100, by itself. */
static double beyond_kernel_s(const ft_op *op, const ft_device_facts *f)
{
    static const double start_s = 1e-5, late_s = 3.5e-5, full_bytes = 8 << 20;
    const ft_shape x = ft_op_shape(op, FT_K_x);
    const double bytes = (double)ft_tensor_bytes(&x, op->dtype);
    ft__hardware_spec chip;

    ft__hardware_spec_at(&chip, f, NAN, "", op);
    return ft_op_at(op, FT_K_mode, 0) || bytes > chip.kernel_sum_bytes
               ? 0
               : start_s + late_s * fmin(1, bytes / full_bytes);
}

/* Is it done within another kernel? Numbers as wide as what ranks sum come from such a
 * sum. */
static bool is_within(const ft__serve_engine *e, const ft_op *op, int64_t width)
{
    const ft_shape x = ft_op_shape(op, FT_K_x);
    const bool summed = width && x.rank == 2 && x.dim[1] == width;

    switch (op->kind) {
    case FT_KIND_rotary:
    case FT_KIND_copy: return e->whole_attention;
    case FT_KIND_add:
    case FT_KIND_rmsnorm: return e->whole_sums && summed;
    default: return false;
    }
}

bool ft__serve_engine_changes(const ft__serve_engine *e)
{
    return e->core_bytes > 0 || e->attention_passes > 0 || e->whole_attention ||
           e->whole_sums || e->all_experts || e->sum_s > 0 || e->nccl_sums;
}

void ft__serve_engine_cost(ft__serve_cost *c, const ft__serve_engine *e,
                           const ft_op *op, int64_t width, const ft_device_facts *f,
                           double clock_hz, double idle_w)
{
    const bool amd = f->vendor && strcmp(f->vendor, "AMD") == 0;
    const double core_bytes = amd ? e->amd_core_bytes : e->core_bytes;

    if (is_within(e, op, width))
        *c = (ft__serve_cost){0, 0};
    if (e->sum_s > 0 && op->kind == FT_KIND_collective)
        take_at_least(c, c->time_s + e->sum_s, idle_w);
    if (e->nccl_sums && op->kind == FT_KIND_collective)
        take_at_least(c, c->time_s + beyond_kernel_s(op, f), idle_w);
    if (e->all_experts && ft__serve_block_experts(op))
        read_all_experts(c, op, f->bandwidth_bytes_per_s);
    if (e->core_bytes > 0 && (op->kind == FT_KIND_linear || op->kind == FT_KIND_moe))
        read_weights(c, op, core_bytes * f->cores * clock_hz, f->bandwidth_bytes_per_s,
                     idle_w);
    if (e->attention_passes > 0 && op->kind == FT_KIND_attention)
        pass_cache(c, op, e->attention_passes, f->bandwidth_bytes_per_s);
}
