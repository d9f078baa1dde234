/* How long a kernel takes, from what it executes: each of the resources it needs has a
 * time, and the longest of them set the pace. */
#include "physics/kernel.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { WARP = 32, SECTOR = 32 };
/* How sharply host and device, of which one waits for the other, meet. */
static const double MEET = 20;

ft__kernel_params ft__kernel_default(void)
{
    return (ft__kernel_params){{
#define FT__KERNEL_CONSTANT(name, value, least, most) value,
#include "physics/kernel.def"
#undef FT__KERNEL_CONSTANT
    }};
}

static const struct generation {
    double from; /* compute capability */
    double slots, special_lanes;
    double warps, blocks, registers, reserved_bytes;
} generations[] = {
    {12.0, 4, 16, 48, 24, 65536, 1024}, {10.0, 4, 16, 64, 32, 65536, 1024},
    {9.0, 4, 16, 64, 32, 65536, 1024},  {8.9, 4, 16, 48, 24, 65536, 1024},
    {8.6, 4, 16, 48, 16, 65536, 1024},  {8.0, 4, 16, 64, 32, 65536, 1024},
    {7.5, 4, 16, 32, 16, 65536, 0},     {7.0, 4, 16, 64, 32, 65536, 0},
    {6.1, 4, 32, 64, 32, 65536, 0},     {6.0, 2, 16, 64, 32, 65536, 0},
    {5.0, 4, 32, 64, 32, 65536, 0},     {3.7, 4, 32, 64, 16, 131072, 0},
    {3.0, 4, 32, 64, 16, 65536, 0},
};
enum { N_GENERATIONS = sizeof(generations) / sizeof(*generations) };

static const struct generation *generation(double capability)
{
    for (int i = 0; i < N_GENERATIONS; i++)
        if (capability >= generations[i].from - 1e-6)
            return &generations[i];
    return NULL;
}

static double or_else(double a, double b)
{
    return a > 0 ? a : b;
}

static ft_status lack(const ft_device_facts *d, const char *what, ft_error *err)
{
    return ft_fail(
        err, FT_ENOTFOUND, 0,
        "%s: %s is not known, so the time of a kernel cannot be predicted; add it "
        "to the device's file",
        d->name, what);
}

ft_status ft__gpu_make(ft__gpu *out, const ft_device_facts *d, ft_error *err)
{
    const struct generation *a = generation(d->compute_capability);
    double clock = or_else(d->boost_clock_hz, d->base_clock_hz);

    if (!d->vendor || strcmp(d->vendor, "NVIDIA") != 0 || !a)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: kernels in PTX run on GPUs of NVIDIA's, of compute "
                       "capability 3.0 and more; name one of them",
                       d->name);
    if (!(d->cores > 0))
        return lack(d, "cores", err);
    if (!(clock > 0))
        return lack(d, "boost_clock_mhz", err);
    if (!(d->peak_fp32 > 0))
        return lack(d, "peak_fp32_tflops", err);
    if (!(d->bandwidth_bytes_per_s > 0))
        return lack(d, "bandwidth_gb_s", err);
    *out = (ft__gpu){
        .sms = d->cores,
        .clock_hz = clock,
        .slots = a->slots,
        .lanes = d->peak_fp32 / (2 * d->cores * clock),
        .special_lanes = a->special_lanes,
        .warps = a->warps,
        .blocks = a->blocks,
        .registers = a->registers,
        .shared_bytes = or_else(d->shared_memory_per_core_bytes, 49152),
        .reserved_bytes = a->reserved_bytes,
        .bandwidth = d->bandwidth_bytes_per_s,
        .l2_bytes = or_else(d->l2_bytes, 1),
        .peak_fp32 = d->peak_fp32,
        .peak_fp64 = or_else(d->peak_fp64, d->peak_fp32 / 32),
        .peak_fp16 = 2 * d->peak_fp32,
        .peak_tensor = d->compute_capability >= 7 ? or_else(d->peak_fp16, d->peak_fp32)
                                                  : d->peak_fp32,
        .power_w = d->tdp_w,
        .stacked =
            d->year >= 2017 && d->bandwidth_bytes_per_s > 400 * d->memory_clock_hz,
    };
    return FT_OK;
}

static double of(ft_ptx_tally t)
{
    return (double)t.value;
}

static double both(const ft_ptx_tally t[2])
{
    return of(t[FT_PTX_LOADED]) + of(t[FT_PTX_STORED]);
}

static bool is_known(const ft_ptx_tally t[2])
{
    return t[FT_PTX_LOADED].low == t[FT_PTX_LOADED].high &&
           t[FT_PTX_STORED].low == t[FT_PTX_STORED].high;
}

static double sum_on(const ft_ptx_counts *c)
{
    double sum = 0;

    for (int i = 0; i < FT_PTX_CLASSES; i++)
        sum += of(c->on[i]);
    return sum;
}

static double sum(const double *v)
{
    double s = 0;

    for (int i = 0; i < FT_PTX_CLASSES; i++)
        s += v[i];
    return s;
}

void ft__kernel_work_make(ft__kernel_work *out, const ft_ptx_counts *c,
                          const ft__kernel_space *space)
{
    double touched;

    *out = (ft__kernel_work){
        .blocks = (double)c->blocks,
        .warps = (double)c->warps,
        .threads = (double)c->threads,
        .loaded_bytes = of(c->bytes[FT_PTX_GLOBAL][FT_PTX_LOADED]) +
                        of(c->bytes[FT_PTX_GENERIC][FT_PTX_LOADED]) +
                        of(c->bytes[FT_PTX_TEXTURE][FT_PTX_LOADED]),
        .stored_bytes = of(c->bytes[FT_PTX_GLOBAL][FT_PTX_STORED]) +
                        of(c->bytes[FT_PTX_GENERIC][FT_PTX_STORED]),
        .sectors = both(c->sectors),
        .requests = both(c->requests),
        .wavefronts = both(c->wavefronts),
        .local_bytes = both(c->bytes[FT_PTX_LOCAL]),
        .branches = of(c->branches),
        .divergent = of(c->divergent),
        .fp64_flops = of(c->flops[1]),
        .fp16_flops = of(c->flops[2]),
        .tensor_flops = of(c->tensor_flops),
        .registers = space->registers ? space->registers : 32,
        .shared_bytes = (double)space->shared_bytes,
    };
    for (int i = 0; i < FT_PTX_CLASSES; i++)
        out->warp[i] = of(c->warp[i]);
    out->lanes = sum_on(c) / fmax(1, sum(out->warp));
    touched = out->loaded_bytes + out->stored_bytes;
    out->distinct_bytes = SECTOR * ((double)c->distinct[0] + (double)c->distinct[1]) +
                          both(c->bytes[FT_PTX_GENERIC]) +
                          of(c->bytes[FT_PTX_TEXTURE][FT_PTX_LOADED]);
    out->block_bytes = space->block_bytes > 0
                           ? fmin(touched, space->block_bytes * out->blocks)
                           : touched;
    if (space->distinct_bytes > 0)
        out->distinct_bytes = fmin(out->distinct_bytes, space->distinct_bytes);
    if (c->exact && is_known(c->sectors))
        out->sure_bytes =
            fmin(SECTOR * ((double)c->distinct[0] + (double)c->distinct[1]),
                 out->distinct_bytes);
}

ft_status ft__kernel_work_of(ft__kernel_work *out, const ft_kernel_query *q,
                             ft_error *err)
{
    const ft_ptx_listed *v = q->launch;
    ft__kernel_space space = {
        .registers = (uint32_t)(q->registers ? q->registers : v->registers),
        .shared_bytes = q->shared_bytes
                            ? q->shared_bytes
                            : v->kernel->shared_bytes + v->launch.dynamic_shared,
        .distinct_bytes = (double)v->memory_bytes,
        .block_bytes = (double)v->block_bytes};
    ft_status st = FT_OK;

    if (!space.registers)
        st = ft_ptx_registers(&space.registers, v->module,
                              (uint32_t)(v->kernel - ft_ptx_get(v->module)->kernel),
                              err);
    if (!st)
        ft__kernel_work_make(out, q->counts, &space);
    return st;
}

static void reside(ft_kernel_terms *t, const ft__kernel_work *w, const ft__gpu *g)
{
    double warps = fmax(1, ceil(w->warps / fmax(1, w->blocks)));
    /* Registers are dealt to warps by 256, to each quarter of an SM from its own. */
    double each = ceil(fmax(1, w->registers) / 8) * 8 * WARP;
    double shared = w->shared_bytes + g->reserved_bytes;

    t->resident = fmin(g->blocks, floor(g->warps / warps));
    t->resident = fmin(t->resident, floor(floor(g->registers / 4 / each) * 4 / warps));
    if (shared > 0)
        t->resident = fmin(t->resident, floor(g->shared_bytes / shared));
    t->resident = fmax(1, t->resident);
    t->occupancy = fmin(1, t->resident * warps / g->warps);
    t->waves = w->blocks / (t->resident * g->sms);
}

static double slots(const ft__kernel_work *w, const double *c)
{
    double special = w->warp[FT_PTX_SPECIAL], fdiv = w->warp[FT_PTX_FDIV];
    double divide = w->warp[FT_PTX_DIV];
    double move = w->warp[FT_PTX_MOVE] + w->warp[FT_PTX_CONVERT];
    double plain = sum(w->warp) - special - fdiv - divide - move;

    return c[FT__K_plain_slots] * plain + c[FT__K_move_slots] * move +
           c[FT__K_special_slots] * special + c[FT__K_fdiv_slots] * fdiv +
           c[FT__K_divide_slots] * divide;
}

static double units(const ft__kernel_work *w, const ft__gpu *g, const double *c)
{
    double clocks = g->sms * g->clock_hz;
    double fp32 = w->warp[FT_PTX_FP32] * WARP / (g->lanes * clocks);
    double special = (w->warp[FT_PTX_SPECIAL] + w->warp[FT_PTX_FDIV]) * WARP /
                     (g->special_lanes * clocks);
    double fp64 = w->fp64_flops / g->peak_fp64, fp16 = w->fp16_flops / g->peak_fp16;
    double tensor = w->tensor_flops / (g->peak_tensor * c[FT__K_tensor_share]);

    return fmax(fmax(fmax(fp32, special), fmax(fp64, fp16)) / c[FT__K_compute_share],
                tensor);
}

/* A block reads again what was pushed out of the cache by what all others that run
 * beside it read meanwhile; what blocks share is there. */
static double from_memory(ft_kernel_terms *t, const ft__kernel_work *w,
                          const ft__gpu *g, const double *c)
{
    double again = w->loaded_bytes + w->stored_bytes - w->block_bytes;
    double reads = fmax(0, w->distinct_bytes - w->stored_bytes) / fmax(1, w->blocks);
    double active = reads * fmin(w->blocks, t->resident * g->sms);
    double over = active / (c[FT__K_cache_keeps] * g->l2_bytes);

    t->hit = 1 / (1 + over * over * over * over);
    return w->distinct_bytes + again * (1 - t->hit) + w->local_bytes * (1 - t->hit);
}

static double chain_cycles(const ft__kernel_work *w, const double *c)
{
    double exchange = w->warp[FT_PTX_WARP] + w->warp[FT_PTX_SYNC] + w->wavefronts;
    double special = w->warp[FT_PTX_SPECIAL];
    double fdiv = w->warp[FT_PTX_FDIV] + w->warp[FT_PTX_DIV];
    double plain = sum(w->warp) - special - fdiv - w->warp[FT_PTX_WARP] -
                   w->warp[FT_PTX_SYNC] - w->warp[FT_PTX_MOVE];

    return c[FT__K_start_cycles] +
           (c[FT__K_plain_cycles] * plain + c[FT__K_special_cycles] * special +
            c[FT__K_fdiv_cycles] * fdiv + c[FT__K_exchange_cycles] * exchange +
            c[FT__K_load_cycles] * w->requests) /
               fmax(1, w->warps);
}

static double blended(const ft_kernel_terms *t, double p)
{
    const double part[] = {t->issue_s, t->compute_s, t->shared_s,
                           t->cache_s, t->memory_s,  t->latency_s};
    double most = 0, s = 0;

    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        most = fmax(most, part[i]);
    for (size_t i = 0; most > 0 && i < sizeof(part) / sizeof(*part); i++)
        s += pow(part[i] / most, p);
    return most * pow(s, 1 / p);
}

void ft__kernel_cost(ft_kernel_terms *t, const ft__kernel_work *w, const ft__gpu *g,
                     const ft__kernel_params *params)
{
    const double *c = params->v;
    double clocks = g->sms * g->clock_hz;
    double share = c[FT__K_memory_share] * (g->stacked ? c[FT__K_stacked_share] : 1);

    reside(t, w, g);
    t->issue_s = slots(w, c) / (g->slots * clocks);
    t->compute_s = units(w, g, c);
    t->shared_s = w->wavefronts / clocks;
    t->cache_s = w->sectors * SECTOR / (c[FT__K_cache_width] * clocks);
    t->memory_s = from_memory(t, w, g, c) / (g->bandwidth * share);
    t->latency_s = fmax(1, t->waves) * chain_cycles(w, c) / g->clock_hz;
    t->launch_s = c[FT__K_launch_s];
    t->device_s = t->launch_s + blended(t, c[FT__K_blend]);
}

double ft__kernel_least_time(const ft__kernel_work *w, const ft__gpu *g)
{
    return fmax(0, w->sure_bytes - g->l2_bytes) / g->bandwidth;
}

double ft__kernel_time(const ft_kernel_terms *t, double call_s,
                       const ft__kernel_params *params)
{
    double device = t->device_s, behind;

    if (!(call_s > 0))
        return device;
    behind = params->v[FT__K_begin_share] * call_s + device;
    return fmax(behind, call_s) *
           pow(1 + pow(fmin(behind, call_s) / fmax(behind, call_s), MEET), 1 / MEET);
}

double ft__kernel_power(const ft_kernel_terms *t, const ft__gpu *g, double total_s,
                        const ft__kernel_params *params)
{
    const double *c = params->v;
    double compute = fmin(1, fmax(t->issue_s, t->compute_s) / total_s);
    double memory = fmin(1, t->memory_s / total_s);

    return g->power_w * fmin(1, c[FT__K_power_idle] + c[FT__K_power_compute] * compute +
                                    c[FT__K_power_memory] * memory);
}

/* Of the launch alone and of how it fits the GPU; then of the GPU itself, which tells
 * known ones apart. */
static const char *const names[] = {
    "issue / device",
    "compute / device",
    "shared / device",
    "cache / device",
    "memory / device",
    "latency / device",
    "launch / device",
    "host / device",
    "waves",
    "tail",
    "occupancy",
    "warps of a block",
    "active lanes",
    "bytes / L2",
    "read again",
    "loaded / stored",
    "sectors of requests",
    "instructions of warps",
    "instructions / byte",
    "FLOPs / byte",
    "special",
    "integer",
    "load and store",
    "control",
    "exchange",
    "divergent branches",
    "L2 hit",
    "SMs",
    "bytes / clock and SM",
    "L2 cache / SM",
    "lanes",
    "slots",
};
enum { N_NAMES = sizeof(names) / sizeof(*names), N_OF_GPU = 5 };

uint32_t ft__kernel_columns(const char *const **name, int of_gpu)
{
    if (name)
        *name = names;
    return of_gpu ? N_NAMES : N_NAMES - N_OF_GPU;
}

static float ratio(double a, double b)
{
    return (float)log(fmax(a, 1e-12) / fmax(b, 1e-12));
}

void ft__kernel_fill(float *row, const ft__kernel_work *w, const ft__gpu *g,
                     const ft_kernel_terms *t, double call_s, int of_gpu)
{
    const double *n = w->warp;
    double device = t->device_s, bytes = w->loaded_bytes + w->stored_bytes,
           all = fmax(1, sum(w->warp));
    double flops =
        64 * n[FT_PTX_FP32] + w->fp64_flops + w->fp16_flops + w->tensor_flops;
    double integer = n[FT_PTX_INT] + n[FT_PTX_MUL] + n[FT_PTX_DIV] + n[FT_PTX_LOGIC];

    *row++ = ratio(t->issue_s, device);
    *row++ = ratio(t->compute_s, device);
    *row++ = ratio(t->shared_s + 1e-9, device);
    *row++ = ratio(t->cache_s, device);
    *row++ = ratio(t->memory_s, device);
    *row++ = ratio(t->latency_s, device);
    *row++ = ratio(t->launch_s, device);
    *row++ = call_s > 0 ? ratio(call_s, device) : NAN;
    *row++ = ratio(t->waves, 1);
    *row++ = ratio(ceil(t->waves), t->waves);
    *row++ = (float)t->occupancy;
    *row++ = (float)(w->warps / fmax(1, w->blocks));
    *row++ = (float)(w->lanes / 32);
    *row++ = ratio(w->distinct_bytes, g->l2_bytes);
    *row++ = ratio(fmax(bytes, 1), w->distinct_bytes);
    *row++ = ratio(w->loaded_bytes + 1, w->stored_bytes + 1);
    *row++ = (float)(w->sectors / fmax(1, w->requests));
    *row++ = ratio(all, w->warps);
    *row++ = ratio(32 * all, bytes + 1);
    *row++ = ratio(flops + 1, bytes + 1);
    *row++ = (float)((n[FT_PTX_SPECIAL] + n[FT_PTX_FDIV]) / all);
    *row++ = (float)(integer / all);
    *row++ = (float)((n[FT_PTX_LOAD] + n[FT_PTX_STORE]) / all);
    *row++ = (float)((n[FT_PTX_CONTROL] + n[FT_PTX_COMPARE]) / all);
    *row++ = (float)((n[FT_PTX_WARP] + n[FT_PTX_SYNC]) / all);
    *row++ = (float)(w->divergent / fmax(1, w->branches));
    *row++ = (float)t->hit;
    if (!of_gpu)
        return;
    *row++ = (float)g->sms;
    *row++ = (float)(g->bandwidth / (g->sms * g->clock_hz));
    *row++ = (float)(g->l2_bytes / g->sms);
    *row++ = (float)g->lanes;
    *row++ = (float)g->slots;
}
