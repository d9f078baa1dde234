/* A device that operations are asked of by its specifications and constants: what one
 * takes and draws there, at one setting or at many. */
#include "predict/query/op_query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "graph/op.h"
#include "physics/op_kernel_cost.h"
#include "physics/op_kernels.h"
#include "physics/physics.h"
#include "physics/power.h"
#include "predict/data/baseline.h"

/* What devices left out showed of operations (docs/networks.md): 90 % of the logarithm
 * of measured over estimate, either way. */
static const double reach_point = 0.4, reach_fold = 0.5, reach_chain = 0.35,
                    reach_product = 0.6, reach_deep = 0.65, reach_transposed = 0.6,
                    reach_choice = 1.05, reach_other = 0.9;
/* Of NVIDIA's GPUs, of which more were left out. */
static const double reach_nvidia_point = 0.25, reach_nvidia_product = 0.45;
/* In TF32 a convolution is one product, on vectors libraries choose among algorithms:
 * KernelBench's on A10, A10G and A100. */
static const double reach_tensor_conv = 0.45, reach_tensor_transposed = 0.47;
/* Images of three channels, read in turn: likewise, and a T4's. */
static const double reach_few = 0.42;
enum { FEW_CHANNELS = 3 };
/* Where no atomic addition has 16 bits, gradients of the data in steps take up to 80
 * times as long, by what no shape tells: three in four of DeepBench's on a P100 are
 * within a factor of 7. A wider interval would break the promise that no answer's high
 * is above 50 times its low. */
static const double reach_half_steps = 1.95;
/* Over links of one machine, of all sizes: of the kinds of aiconfigurator's collectives
 * on an A100 and an H200 the one that errs most. */
static const double reach_collective = 0.49;
/* Sums of one machine over PCIe before Volta, of 1 MiB and more; of less than 256 KiB
 * as of others, and a part of both between: of DeepBench's by whichever path.
 * No device file says whether it goes through the host's memory, where NCCL has 6 GB/s
 * in place of 12 (its issue 406; DeepBench's P100 and Maxwells, its Pascals have 12).
 */
static const double reach_pcie = 0.3, by_host_memory = 2;
enum { MACHINE_RANKS = 8, LEAST_OF_PCIE = 256 << 10, ALL_OF_PCIE = 1 << 20 };
/* Not named by the importer: what it moves is all that is known of it. */
static const double bound_high = 10;

static bool is_made_by(const ft__device_query *a, const char *maker)
{
    return a->device && a->device->vendor && strcmp(a->device->vendor, maker) == 0;
}

static bool is_nvidia(const ft__device_query *a)
{
    return is_made_by(a, "NVIDIA");
}

static bool uses_tensor_cores(const ft__device_query *a, const ft_op *op)
{
    ft__hardware_spec chip;

    if (!is_nvidia(a))
        return false;
    ft__hardware_spec_set(&chip, a->device, &a->set, a->policy, op);
    return chip.tensor;
}

static bool has_few_channels(const ft_op *op, const ft__device_query *a)
{
    return is_nvidia(a) && a->device->compute_capability >= 7 &&
           ft_op_shape(op, FT_K_x).dim[1] <= FEW_CHANNELS;
}

/* Libraries choose among algorithms; of few channels they have few, but where memory is
 * stacked others. */
static double reach_of_volumes(const ft_op *op, const ft__device_query *a, bool plain)
{
    return plain && ft_op_at(op, FT_K_groups, 0) <= 1 && has_few_channels(op, a) &&
                   !ft__has_stacked_memory(a->device)
               ? reach_product
               : reach_choice;
}

/* Is such a gradient what it is, or among its passes? */
static bool adds_halves_in_steps(const ft_op *op, const ft__device_query *a)
{
    const ft__op_kernel kernel = {.size = ft_dtype_bits(op->dtype) / 8.};
    ft_op back = *op;
    ft__hardware_spec chip;

    back.phase = FT_PHASE_BACKWARD;
    if (!is_nvidia(a) || op->phase == FT_PHASE_FORWARD ||
        !(ft_op_wrt(&back) & FT_WRT_X) ||
        (ft_op_at(op, FT_K_stride, 0) <= 1 && ft_op_at(op, FT_K_stride, 1) <= 1))
        return false;
    ft__hardware_spec_set(&chip, a->device, &a->set, a->policy, op);
    return ft__has_vectors_of_16_bits(&kernel, &chip);
}

static double reach_of_images(const ft_op *op, const ft__device_query *a, bool plain)
{
    const bool tensor = plain && uses_tensor_cores(a, op);

    if (ft_op_at(op, FT_K_groups, 0) > 1)
        return reach_choice;
    if (ft__is_transposed(op))
        return tensor  ? reach_tensor_transposed
               : plain ? reach_transposed
                       : reach_choice;
    if (!plain)
        return adds_halves_in_steps(op, a) ? reach_half_steps : reach_deep;
    if (has_few_channels(op, a))
        return reach_few;
    return tensor ? reach_tensor_conv : reach_product;
}

/* How far is it one of those sums, from 0 to 1? */
static double early_pcie(const ft_op *op, const ft__device_query *a)
{
    const ft_shape x = ft_op_shape(op, FT_K_x);

    if (op->kind != FT_KIND_collective || ft_op_at(op, FT_K_mode, 0) != 0 ||
        ft_op_at(op, FT_K_nodes, 0) > 1 ||
        ft_op_at(op, FT_K_ranks, 0) > MACHINE_RANKS || !is_nvidia(a) ||
        !(a->device->compute_capability < 7) || a->device->link_bytes_per_s > 0)
        return 0;
    return fmin(1, fmax(0, log((double)ft_tensor_bytes(&x, op->dtype) / LEAST_OF_PCIE) /
                               log((double)ALL_OF_PCIE / LEAST_OF_PCIE)));
}

/* Integers of 8 bits that vectors multiply, four at once, have kernels like fp32's:
 * DeepBench's products of two operands, which say nothing of layers. */
static bool has_vectors_of_8_bits(const ft_op *op, const ft__device_query *a)
{
    return (op->dtype == FT_DTYPE_int8 || op->dtype == FT_DTYPE_uint8) &&
           a->device->peak_int8 > 0 && !uses_tensor_cores(a, op);
}

static double reach_of(const ft_op *op, const ft__device_query *a)
{
    const bool forward = op->phase == FT_PHASE_FORWARD,
               plain = forward && ft_dtype_bits(op->dtype) == 32;

    switch (op->kind) {
    case FT_KIND_rnn:
    case FT_KIND_gru:
    case FT_KIND_lstm: return reach_chain;
    case FT_KIND_linear: return ft__is_narrow(op) ? reach_other : reach_fold;
    case FT_KIND_matmul:
        return is_nvidia(a) && (plain || (forward && has_vectors_of_8_bits(op, a)))
                   ? reach_nvidia_product
               : ft__is_narrow(op) ? reach_other
                                   : reach_product;
    case FT_KIND_conv1d:
    case FT_KIND_conv2d:
    case FT_KIND_conv_transpose1d:
    case FT_KIND_conv_transpose2d: return reach_of_images(op, a, plain);
    case FT_KIND_conv3d: return reach_of_volumes(op, a, plain);
    case FT_KIND_collective:
        return ft_op_at(op, FT_K_nodes, 0) <= 1 && a->device->link_bytes_per_s > 0 &&
                       ft__is_joined(a->device, op)
                   ? reach_collective
                   : reach_other + early_pcie(op, a) * (reach_pcie - reach_other);
    case FT_KIND_cumsum: /* ways of one row, of many and of columns */
        return ft_op_at(op, FT_K_axis, 0) + 1 == ft_op_shape(op, FT_K_x).rank
                   ? reach_choice
                   : reach_fold;
    default: break;
    }
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return reach_choice;
    case FT_CLASS_UNARY:
    case FT_CLASS_BINARY: return is_nvidia(a) ? reach_nvidia_point : reach_point;
    case FT_CLASS_NORM:
    case FT_CLASS_SOFTMAX:
    case FT_CLASS_POOL:
    case FT_CLASS_REDUCE: return reach_fold;
    default: return reach_other;
    }
}

/* PyTorch updates many parameters in one launch. For each, Python walks lists, and a
 * node of the graph has put its gradient where it is looked for. */
static const double parameter_launches = 1. / 3;

static const struct run_mode {
    const char *name;
    uint32_t bits;
} run_modes[] = {
    {"eager", FT__RUN_EAGER},
    {"graph", FT__RUN_REPLAYED},
    {"compiled", FT__RUN_FUSED},
    {"compiled-graph", FT__RUN_FUSED | FT__RUN_REPLAYED},
    {"cudagraphs", FT__RUN_REPLAYED | FT__RUN_COPIED},
};
enum { N_RUN_MODES = sizeof(run_modes) / sizeof(*run_modes) };

const char *ft__run_mode_name(uint32_t bits)
{
    for (size_t i = 0; i < N_RUN_MODES; i++)
        if (run_modes[i].bits == bits)
            return run_modes[i].name;
    return "";
}

uint32_t ft__run_mode_find(const char *name, size_t len)
{
    for (size_t i = 0; i < N_RUN_MODES; i++)
        if (strlen(run_modes[i].name) == len &&
            memcmp(run_modes[i].name, name, len) == 0)
            return run_modes[i].bits;
    return FT__NO_RUN_MODE;
}

/* As asked for, otherwise as the setting says; FT__RUN_EAGER where neither does. */
static uint32_t run_mode_of(const ft__device_use *on)
{
    size_t len = on->run_mode ? strlen(on->run_mode) : 0;
    const char *name =
        on->run_mode ? on->run_mode : ft__pair(on->setting, "run_mode", &len);
    const uint32_t mode = name ? ft__run_mode_find(name, len) : FT__RUN_EAGER;

    return mode < FT__NO_RUN_MODE ? mode : FT__RUN_EAGER;
}

static double top_clock(const ft_device_facts *d)
{
    return isfinite(d->boost_clock_hz) ? d->boost_clock_hz : d->base_clock_hz;
}

/* The lowest clocks that drivers set are 8 % of the highest and more (Jetson TX1 77 of
 * 998 MHz, RTX 4090 210 of 2520): below 5 % it is another unit's number, of memory,
 * which may be asked how slow it could be, at a thousandth: GHz for MHz. */
static const double least_clock = 0.05, least_memory_clock = 0.0015;

static bool has_clock(const ft_device_facts *d, double clock_hz)
{
    return clock_hz <= 1.001 * top_clock(d) && clock_hz >= least_clock * top_clock(d);
}

bool ft__knows_memory_clock(const ft_device_facts *d, double clock_hz)
{
    return isnan(clock_hz) || d->memory_clock_hz > 0;
}

/* Of one that is not known, any. */
static bool has_memory_clock(const ft_device_facts *d, double clock_hz)
{
    return !(clock_hz > 1.001 * d->memory_clock_hz ||
             clock_hz < least_memory_clock * d->memory_clock_hz);
}

static ft_status find_clock(ft__device_query *a, ft_error *err)
{
    const ft_device_facts *d = a->device;

    if (!has_memory_clock(d, a->set.at.memory_hz))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s: its highest memory clock is %.0f MHz%s", d->name,
                       d->memory_clock_hz / 1e6,
                       a->set.at.memory_hz < d->memory_clock_hz
                           ? ", and none of its memory clocks is below 0.15 % of it"
                           : "");
    a->clock_hz = a->set.at.clock_hz;
    if (isnan(a->clock_hz))
        return FT_OK;
    if (!(top_clock(d) > 0))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s: the clock its peak rate belongs to is not known", d->name);
    if (!has_clock(d, a->clock_hz))
        return ft_fail(err, FT_ENOTFOUND, 0, "%s: its highest clock is %.0f MHz%s",
                       d->name, top_clock(d) / 1e6,
                       a->clock_hz < top_clock(d)
                           ? ", and none of its clocks is below 5 % of it"
                           : "");
    return FT_OK;
}

static ft_status check_facts(const ft__device_query *a, const ft_graph *g,
                             ft_error *err)
{
    ft_status st = ft__check_operations(g, err);
    const char *lacks;
    ft__hardware_spec chip;
    uint32_t i = 0;

    while (i < g->n_ops && ft__costs_nothing(&g->op[i]))
        i++;
    if (st || i == g->n_ops)
        return st;
    /* What is wanted of a chip is so whatever it computes. */
    ft__hardware_spec_set(&chip, a->device, &a->set, a->policy, &g->op[i]);
    lacks = ft__hardware_spec_lacks(&chip);
    return lacks ? ft_fail(err, FT_ENOTFOUND, 0,
                           "%s: its file does not say \"%s\", which an estimate needs",
                           a->device->name, lacks)
                 : FT_OK;
}

bool ft__is_idle_cap(const ft_device_facts *d, double power_w)
{
    return d->tdp_w > 0 && power_w >= d->tdp_w;
}

/* What the device draws at most under a cap (NaN: none), W: no cap goes below what it
 * draws idle at its lowest clock. */
static double cap_under(const ft_device_facts *d, double power_w,
                        const ft__physics_params *params)
{
    const double least = ft__idle_power(params, d) *
                         ft__idle_share(params, d, params->v[FT__C_clock_least]);
    const double most = d->tdp_w > 0 ? d->tdp_w : INFINITY;

    return isfinite(power_w) ? fmin(fmax(power_w, least), most) : most;
}

/* Checks of arguments before what torch.compile made is run, or its graph replayed, and
 * before a module's first operation, in launches: modules of KernelBench that are one
 * operation. A graph captured by hand is replayed by one call. */
static const double compiled_call = 4, eager_call = 0.8, replay_call = 1;

static double call_of(uint32_t mode)
{
    return mode == FT__RUN_EAGER      ? eager_call
           : mode == FT__RUN_REPLAYED ? replay_call
                                      : compiled_call;
}

ft_status ft__device_query_open(ft__device_query *out, const ft__device_use *on,
                                const ft_graph *g, ft_error *err)
{
    const uint32_t mode = run_mode_of(on);
    bool cpu;
    double cap;
    ft_status st;

    *out = (ft__device_query){.device = ft_device_get(on->device),
                              .setting = on->setting ? on->setting : "",
                              .policy = on->policy ? on->policy : "default",
                              .launch_s = on->launch_s,
                              .params = ft__physics_defaults()};
    out->set = ft__setting_read(out->setting);
    cap = out->set.at.power_w;
    cpu = strcmp(out->device->type, "cpu") == 0;
    out->call = cpu ? 0 : call_of(mode);
    /* A CPU issues its own operations. */
    out->graph = cpu || mode & FT__RUN_REPLAYED;
    out->fused = mode & FT__RUN_FUSED;
    out->copied = !cpu && mode & FT__RUN_COPIED;
    out->short_loop = out->set.short_loop;
    out->loop_calls = is_nvidia(out) ? ft__loop_calls(out->setting) : (double)NAN;
    out->capped = isfinite(cap) && !ft__is_idle_cap(out->device, cap);
    out->is_default = ft__has_default_hardware(out->setting);
    out->cap_w = cap_under(out->device, cap, out->params);
    st = check_facts(out, g, err);
    return st ? st : find_clock(out, err);
}

/* How it runs may be asked for beside the setting, which says it of measurements. */
static void run_as_asked(ft__hardware_spec *chip, const ft__device_query *a)
{
    chip->graph = a->graph;
    chip->fused = a->fused;
    chip->short_loop = a->short_loop;
}

/* What a GPU would draw at a clock if no cap held it back, and the share of the clock
 * that its time goes with. */
struct drawn {
    double free_w;
    double held;     /* 1: all of it */
    double budget_w; /* of the rate that power sustains; NaN: not known */
};

/* What power leaves of an operation's clock as it comes, clock_share there. */
struct left {
    double clock;
    double by_own; /* of it, by the device's own power */
    double own; /* share beyond what the budget of vector units (t->sustained) takes */
    double cap; /* share of what the device's own power leaves */
};

/* The clock under a cap, of an operation whose terms at the chip's clock are *t. */
static double clock_left(const ft__terms *t, const ft__hardware_spec *chip,
                         double cap_w, const ft__physics_params *params)
{
    ft__power p;

    ft__power_make(&p, t, chip, params);
    return ft__clock_under_cap(&p, cap_w);
}

/* Tensor cores have their budget by another rule, and what is no product none. */
static bool has_budget(const ft_op *op, const ft__hardware_spec *chip)
{
    const ft_class c = ft_kind_class(op->kind);

    return !chip->tensor && (c == FT_CLASS_CONV || c == FT_CLASS_MATMUL);
}

/* *t: as it comes, without a cap. */
static struct left left_uncapped(const ft__terms *t, const ft_op *op,
                                 const ft__hardware_spec *chip,
                                 const ft__physics_params *params)
{
    struct left out = {chip->clock_share, chip->clock_share, 1, 1};

    if (!(chip->tdp_w > 0))
        return out;
    out.by_own = clock_left(t, chip, chip->tdp_w, params);
    if (has_budget(op, chip))
        out.own = fmin(1, out.by_own / chip->clock_share / t->sustained);
    return out;
}

/* Likewise. */
static void left_cap(struct left *left, const ft__terms *t,
                     const ft__hardware_spec *chip, double cap_w,
                     const ft__physics_params *params)
{
    if (cap_w < chip->tdp_w)
        left->cap = clock_left(t, chip, cap_w, params) / left->by_own;
}

/* Of an operation whose terms at the chip's clock are *t. What the device's own power
 * holds back is in its times, so that a clock costs nothing until it is below what that
 * leaves, at most the share that products reach of their peak; and a cap counts against
 * that, whatever the clock: of what it takes of the clock it takes as much of the
 * budget, or what the budget holds back already would be given again. */
static struct drawn drawn_by(const ft__terms *t, const struct left *left,
                             const ft__hardware_spec *chip,
                             const ft__physics_params *params)
{
    const double clock = chip->clock_share;
    const double spare = fmin(1 / left->own, 1 / params->v[FT__C_tile_share]);
    struct drawn out;
    ft__power p;

    ft__power_make(&p, t, chip, params);
    out.held = fmax(1, fmin(spare, left->clock / clock));
    out.free_w = ft__power_at(&p, clock, ft__busy_at(&p, clock * out.held));
    out.budget_w = chip->tdp_w * left->cap;
    if (left->cap < 1)
        out.held = fmin(out.held, left->cap * left->clock / clock);
    return out;
}

/* Experts, and what is reduced for the scale of their operands. */
static bool depends_on_picks(const ft_op *op)
{
    return op->kind == FT_KIND_moe || op->kind == FT_KIND_reduce_max;
}

/* known: the terms where they are known, or NULL. free_w NaN: a CPU, or not known. */
static struct drawn drawn(const ft__device_query *a, const ft_op *op,
                          const ft__terms *known)
{
    const struct drawn nothing = {NAN, 1, NAN};
    ft__hardware_spec chip;
    struct left left;
    ft__terms t;

    if (!a->device || ft__costs_nothing(op))
        return nothing;
    ft__hardware_spec_at(&chip, a->device, NAN, a->policy, op);
    run_as_asked(&chip, a);
    if (!chip.gpu)
        return nothing;
    if (known && a->is_default && !(a->set.masked && depends_on_picks(op)))
        t = *known;
    else
        ft__physics(&t, op, &chip, a->params);
    /* At the clock that it comes with, all that its own power leaves is in its times.
     */
    left = (struct left){chip.clock_share, chip.clock_share, 1, 1};
    if (isfinite(a->clock_hz) || a->cap_w < chip.tdp_w) {
        left = left_uncapped(&t, op, &chip, a->params);
        left_cap(&left, &t, &chip, a->cap_w, a->params);
    }
    if (isfinite(a->clock_hz)) {
        ft__hardware_spec_at(&chip, a->device, a->clock_hz, a->policy, op);
        run_as_asked(&chip, a);
        ft__physics(&t, op, &chip, a->params);
    }
    return drawn_by(&t, &left, &chip, a->params);
}

double ft__device_query_power(const ft__device_query *a, const ft_op *op,
                              const ft__terms *t)
{
    return ft__at_most(drawn(a, op, t).free_w, a->cap_w);
}

double ft__device_query_idle(const ft__device_query *a, double clock_hz)
{
    return a->device && isfinite(clock_hz)
               ? ft__idle_share(a->params, a->device, clock_hz / top_clock(a->device))
               : 1;
}

double ft__device_query_idle_power(const ft__device_query *a)
{
    return a->device && a->device->tdp_w > 0 ? ft__idle_power(a->params, a->device) *
                                                   ft__device_query_idle(a, a->clock_hz)
                                             : (double)NAN;
}

void ft__device_query_terms(ft__terms *out, const ft__device_query *a, const ft_op *op)
{
    ft__hardware_spec chip;

    ft__hardware_spec_set(&chip, a->device, &a->set, a->policy, op);
    run_as_asked(&chip, a);
    if (a->capped || isfinite(a->clock_hz)) {
        const struct drawn d = drawn(a, op, NULL);

        chip.power_w = d.budget_w;
        ft__hardware_spec_hold(&chip, d.held);
    }
    ft__physics(out, op, &chip, a->params);
}

bool ft__device_has_units(const ft_device_facts *d, ft_dtype t, bool tf32)
{
    return ft__has_units(d, t, tf32);
}

ft_dtype ft__device_computes_in(const ft_device_facts *d, const ft_op *op)
{
    return ft__is_widened(op, d) ? ft__op_widened(op).dtype : op->dtype;
}

bool ft__device_query_may(const ft_device_facts *d, const ft__operating_point *at)
{
    return has_memory_clock(d, at->memory_hz) &&
           (isnan(at->clock_hz) || (top_clock(d) > 0 && has_clock(d, at->clock_hz)));
}

static ft_status range_open(ft__device_query_range *out, const ft__device_use *on,
                            const ft__operating_point *operating_point, size_t n,
                            const ft_graph *g, ft_error *err)
{
    ft__device_use plain = *on;
    ft_status st;

    *out = (ft__device_query_range){.operating_point = operating_point, .n = n};
    plain.setting = "";
    st = ft__device_query_open(&out->a, &plain, g, err);
    if (st)
        return st;
    out->cap_w = malloc((n + 1) * sizeof(*out->cap_w));
    if (!out->cap_w)
        return ft_fail(err, FT_ENOMEM, 0, "%zu settings", n);
    for (size_t k = 0; k < n; k++) {
        const bool open = ft__device_query_may(out->a.device, &operating_point[k]);

        out->cap_w[k] =
            open ? cap_under(out->a.device, operating_point[k].power_w, out->a.params)
                 : (double)NAN;
    }
    return FT_OK;
}

/* One operation of many settings. */
struct range_op {
    ft__device_query_range *r;
    const ft_op *op;
    ft__op_range range;
    ft__hardware_spec chip; /* as it comes */
    ft__terms terms;        /* there; of GPUs alone, as what follows */
    struct left left;
};

/* As drawn(), at operating point k; *t: its terms but for cap and memory clock. */
static struct drawn drawn_at(ft__terms *t, struct range_op *p, size_t k)
{
    const ft__operating_point uncapped = {p->r->operating_point[k].clock_hz, NAN, NAN};
    struct left left = p->left;

    ft__op_range_cost(t, &p->range, &uncapped, 1);
    if (!p->chip.gpu)
        return (struct drawn){NAN, 1, NAN};
    left_cap(&left, &p->terms, &p->chip, p->r->cap_w[k], p->range.params);
    return drawn_by(t, &left, &p->range.chip, p->range.params);
}

static void price_at(struct range_op *p, size_t k, double *busy_s, double *weights_s,
                     double *power_w)
{
    ft__operating_point at = p->r->operating_point[k];
    ft__terms t;
    const struct drawn d = drawn_at(&t, p, k);

    *power_w = ft__at_most(d.free_w, p->r->cap_w[k]);
    if (!busy_s)
        return;
    if (isfinite(at.power_w))
        at.power_w = d.budget_w;
    if (d.held != 1 || isfinite(at.power_w) || isfinite(at.memory_hz))
        ft__op_range_cost(&t, &p->range, &at, d.held);
    *busy_s = t.busy_s;
    *weights_s = t.weights_s;
}

/* What no setting changes of an operation. */
static bool range_op_make(struct range_op *p, const ft__physics_params *params,
                          ft__arena *arena)
{
    const ft__operating_point as_it_comes = {NAN, NAN, NAN};
    ft__device_query_range *r = p->r;
    ft__terms t;

    r->a.params = params;
    if (!ft__op_range_make(&p->range, &t, p->op, r->a.device, r->a.policy, params,
                           arena))
        return false;
    run_as_asked(&p->range.chip, &r->a);
    p->chip = p->range.chip;
    if (p->chip.gpu) {
        ft__op_range_cost(&p->terms, &p->range, &as_it_comes, 1);
        p->left = left_uncapped(&p->terms, p->op, &p->range.chip, params);
    }
    return true;
}

static ft_status range_ask_op(ft__device_query_range *r, double *busy_s,
                              double *weights_s, double *power_w,
                              const ft__priced_by *by, const ft_op *op, ft_error *err)
{
    struct range_op p = {.r = r, .op = op};
    ft__arena arena = {0};
    bool good;

    for (size_t k = 0; k < r->n; k++) {
        busy_s[k] = weights_s[k] = 0;
        power_w[k] = NAN;
    }
    if (ft__costs_nothing(op))
        return FT_OK;
    good = range_op_make(&p, by->time, &arena);
    for (size_t k = 0; k < r->n && good; k++)
        price_at(&p, k, &busy_s[k], &weights_s[k], &power_w[k]);
    if (good && by->power != by->time) {
        good = range_op_make(&p, by->power, &arena);
        for (size_t k = 0; k < r->n && good; k++)
            price_at(&p, k, NULL, NULL, &power_w[k]);
    }
    ft__arena_free(&arena);
    return good ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu settings", r->n);
}

ft_status ft__device_query_range_ask(ft__device_query_range *out, double *busy_s,
                                     double *weights_s, double *power_w,
                                     const ft__device_use *on, const ft__priced_by *by,
                                     const ft__operating_point *operating_point,
                                     size_t n, const ft_graph *g, ft_error *err)
{
    ft_status st = range_open(out, on, operating_point, n, g, err);

    for (uint32_t i = 0; i < g->n_ops && !st; i++)
        st = range_ask_op(out, &busy_s[i * n], &weights_s[i * n], &power_w[i * n],
                          &by[i], &g->op[i], err);
    return st;
}

/* Of a view, which launches nothing, in the same calls: a tensor is made all the same.
 * KernelBench's networks of attention and state spaces, with 60 to 140 views each. */
static const double view_launches = 0.2;

/* In eager PyTorch the forward pass of what asks no library takes less than a call, of
 * linear layers and convolutions more, and a norm that trains counts its batches
 * besides: fitted to KernelBench's modules that the host holds back on A10, A10G and
 * A100. NeuSight's shortest operations on A100 and T4 differ likewise. */
static const double less_than_call = -0.4, more_than_call = 0.4, counts_batches = 1.8;

static double beside_calls(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: /* PyTorch has a kernel of its own for depthwise ones */
        return ft__is_depthwise(op) && !ft__is_transposed(op) ? less_than_call
                                                              : more_than_call;
    case FT_CLASS_MATMUL:
        return op->kind == FT_KIND_linear && !ft__has_block_scales(op) ? more_than_call
                                                                       : 0;
    case FT_CLASS_NORM: return ft_op_at(op, FT_K_train, 0) ? counts_batches : 0;
    case FT_CLASS_REDUCE: /* minima and maxima come with their places */
        return op->kind == FT_KIND_reduce_max || op->kind == FT_KIND_reduce_min ||
                       op->kind == FT_KIND_reduce_logsumexp
                   ? 0
                   : less_than_call;
    case FT_CLASS_UNARY:
    case FT_CLASS_BINARY: return less_than_call;
    default: return 0;
    }
}

/* Host time of an operation, in launches: what one takes that is a single call of a
 * library, such as softmax. Elementwise ones take 0.6 of that. */
static double launches(const ft__device_query *a, const ft_op *op, double kernels)
{
    const ft__physics_params *params = ft__physics_defaults();
    ft__calls calls = ft__calls_of(op, is_made_by(a, "AMD"));
    double all;

    if (a->graph)
        return 0;
    if (ft_kind_class(op->kind) == FT_CLASS_VIEW)
        return a->fused ? 0 : view_launches;
    if (op->phase == FT_PHASE_OPTIMIZER)
        return parameter_launches;
    calls.each = fmin(calls.each, 1); /* a network's launch takes twice as long */
    all = ft__host_s(&calls, kernels, params) / params->v[FT__C_floor_s];
    return op->phase != FT_PHASE_BACKWARD && !a->fused ? all + beside_calls(op) : all;
}

void ft__device_query_bare(ft__op_task *task, ft_estimate *time,
                           const ft__device_query *a, const ft_op *op,
                           const ft__terms *t)
{
    const double reach = reach_of(op, a);
    const double longest = pow(by_host_memory, early_pcie(op, a));

    *time = (ft_estimate){0, 0, 0, FT_BASIS_NONE, ""};
    task->group = ft__task_group_of(op);
    task->alone_s = task->bare_s = 0;
    task->launches = launches(a, op, t->kernels);
    if (ft__costs_nothing(op))
        return;
    task->alone_s = task->bare_s = t->busy_s;
    task->weights_s = t->weights_s;
    task->weights = t->weights;
    *time = ft_kind_class(op->kind) == FT_CLASS_GENERIC
                ? (ft_estimate){t->busy_s, t->busy_s, bound_high * t->busy_s,
                                FT_BASIS_ROOFLINE, ""}
                : (ft_estimate){t->busy_s, t->busy_s * exp(-reach),
                                t->busy_s * exp(reach) * longest, FT_BASIS_SCALED, ""};
}
