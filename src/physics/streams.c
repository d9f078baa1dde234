/* Kernels that wait for memory: elementwise ones, norms, softmax, pools, moves; and
 * attention. In: one kernel of an operation, and what a chip reaches; out: its time. */
#include <math.h>

#include "physics/op_kernels.h"

/* What was touched just before is still in the last-level cache, the less the more
 * there is of it. */
static double kept(double bytes, const ft__pace *pace)
{
    double over = bytes / pace->kept_bytes;

    return pace->kept_bytes > 0 ? 1 / (1 + over * over * over) : 0;
}

double ft__cached_s(double bytes, const ft__pace *pace)
{
    double memory = bytes / pace->memory_rate, hit = kept(bytes, pace), fast;

    if (!(hit > 0) || !(pace->chip->clock_hz > 0))
        return memory;
    fast = bytes / pace->cache_rate;
    return hit * fmin(fast, memory) + (1 - hit) * memory;
}

/* Rows of softmax that GPUs' libraries keep in registers between finding their maximum
 * and dividing by their sum. */
enum { IN_REGISTERS = 1024 };
/* Those of norms that are still in a core's own cache when they are read again. */
enum { IN_CACHE = 3072 };

static double op_kernels(const ft__op_kernel *p, const ft__hardware_spec *chip,
                         const double *c)
{
    switch (p->what) {
    case FT__OP_KERNEL_NORM:
        return c[FT__C_norm_passes] *
               (chip->gpu && p->row > IN_CACHE ? c[FT__C_norm_wide] : 1);
    case FT__OP_KERNEL_SOFTMAX:
        return c[FT__C_softmax_passes] *
               (chip->gpu && p->row > IN_REGISTERS ? c[FT__C_softmax_wide] : 1);
    case FT__OP_KERNEL_BIAS: return c[FT__C_bias_passes];
    case FT__OP_KERNEL_LAYOUT: /* TF32 counts its own: products.c */
        return chip->tensor && p->size > 2 ? 0 : c[FT__C_layout_passes];
    case FT__OP_KERNEL_LOSS: return c[FT__C_step_passes];
    default: return 1;
    }
}

/* What is read after statistics is only read, whatever norms need besides: not `times`.
 */
static double read_again(const ft__op_kernel *p, const ft__pace *pace, double times)
{
    return p->what == FT__OP_KERNEL_NORM
               ? pace->c[FT__C_norm_again] * p->again / times
               : pace->c[FT__C_read_again] * p->again * (1 - kept(p->apart, pace));
}

/* What waits for itself: one block reads all of a channel, however few there are; a
 * short row ends before the next loads of its block have come. */
static double in_turn_s(const ft__op_kernel *p, double bytes, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;

    if (!chip->gpu || !(chip->clock_hz > 0))
        return 0;
    if (p->blocks > 0)
        return bytes / p->blocks / (pace->c[FT__C_norm_block] * chip->clock_hz);
    return p->rows / chip->cores * pace->c[FT__C_norm_row] / chip->clock_hz;
}

static void passes_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;
    double times = op_kernels(p, chip, pace->c);
    double bytes = p->read + p->written + read_again(p, pace, times);

    out->memory_s = times * ft__cached_s(bytes, pace);
    out->compute_s = p->special / (chip->vector_flops * pace->c[FT__C_special_rate]);
    if (p->what == FT__OP_KERNEL_POOL && chip->gpu)
        out->compute_s +=
            p->places * pace->c[FT__C_pool_place] * 2 / chip->vector_flops;
    out->busy_s = fmax(hypot(out->memory_s, in_turn_s(p, bytes, pace)), out->compute_s);
}

/* ---- attention as one kernel (Dao et al. 2022): many queries at once, or one query
 * against the keys of all that came before ---- */

static const double QUERIES = 128; /* of a tile */
static const double ROWS = 16;     /* of the smallest product of tensor cores */
static const double KEYS = 128;    /* a core's least share of the keys */
/* What of the last-level cache operands keep from one call to the next, how sharply
 * that ends, and the share of the specified bandwidth beyond. Not fitted: on one device
 * these cannot be distinguished from arithmetic, and how two devices differ hangs on
 * them. */
static const double KEPT = 0.5;
static const double MEMORY_SHARE = 0.85;
/* A kernel that does next to nothing (kernel_s before anything is fitted). Not fitted
 * either: where every row has it, it cannot be distinguished from attention's own
 * start. */
static const double STORE_S = 3e-6;

static double streamed(ft__terms *out, double bytes, double blocks,
                       const ft__hardware_spec *chip, const double *c)
{
    double over = bytes / (chip->l2_bytes * KEPT), hit = 0;

    over *= over;
    if (chip->l2_bytes > 0)
        hit = 1 / (1 + over * over);
    out->memory_s = (1 - hit) * bytes / (chip->bandwidth * MEMORY_SHARE);
    if (chip->clock_hz > 0)
        out->cache_s = bytes / (chip->clock_hz * c[FT__C_attention_cache] *
                                fmin(blocks, chip->cores));
    return out->memory_s + out->cache_s;
}

static double blended(double a, double b, double power)
{
    double most = fmax(a, b);

    return most > 0 ? most * pow(1 + pow(fmin(a, b) / most, power), 1 / power) : 0;
}

static void many_queries(ft__terms *out, const ft__op_kernel *p,
                         const ft__hardware_spec *chip, const double *c)
{
    double tiles = ceil(p->m / QUERIES), blocks = p->batch * p->heads * tiles;
    double keys = p->causal ? p->n - p->m / 2 : p->n;
    double flops = 4 * p->batch * p->heads * p->k * tiles * QUERIES *
                   (keys + c[FT__C_attention_start]);
    double head = fmin(1, pow(p->k / 128, c[FT__C_attention_head]));
    double rate = chip->peak_flops * c[FT__C_attention_share] * head;

    out->waves = blocks / chip->cores;
    out->compute_s =
        flops / rate *
        (out->waves < 1 ? 1 / out->waves : 1 + c[FT__C_attention_tail] / out->waves);
    out->busy_s =
        c[FT__C_attention_s] +
        blended(out->compute_s, streamed(out, p->read + p->written, blocks, chip, c),
                c[FT__C_attention_blend]);
}

/* Heads that share keys are rows of one product; keys are split where there are fewer
 * products than cores. */
static void few_queries(ft__terms *out, const ft__op_kernel *p,
                        const ft__hardware_spec *chip, const double *c)
{
    double rows = p->m * p->heads / p->kv_heads;
    double groups = p->batch * p->kv_heads * ceil(rows / ROWS);
    double split = floor(c[FT__C_decode_blocks] * chip->cores / groups), blocks;
    double flops = 4 * groups * ROWS * p->k * fmax(p->n, 64);

    split = fmax(1, fmin(split, ceil(p->n / KEYS)));
    blocks = groups * split;
    out->waves = blocks / chip->cores;
    out->compute_s =
        flops / (chip->peak_flops * c[FT__C_decode_share]) * fmax(1, 1 / out->waves);
    out->busy_s =
        c[FT__C_decode_s] + c[FT__C_decode_block_s] * fmax(out->waves, 1) +
        c[FT__C_decode_chain_s] * log1p(p->n / 32) / (1 + groups / chip->cores) +
        blended(out->compute_s, streamed(out, p->read + p->written, blocks, chip, c),
                c[FT__C_attention_blend]);
}

static void attention_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    if (p->m * p->heads / p->kv_heads > ROWS && p->m > 1)
        many_queries(out, p, pace->chip, pace->c);
    else
        few_queries(out, p, pace->chip, pace->c);
    out->fill = out->waves / ceil(out->waves);
}

/* The new keys and values to where the old ones are. */
static void cache_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    out->memory_s =
        (p->read + p->written) / (pace->chip->bandwidth * pace->c[FT__C_cache_share]);
    out->busy_s = STORE_S + out->memory_s;
    out->aside_s = out->busy_s;
}

void ft__stream_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    if (p->what == FT__OP_KERNEL_ATTENTION)
        attention_cost(out, p, pace);
    else if (p->what == FT__OP_KERNEL_CACHE)
        cache_cost(out, p, pace);
    else
        passes_cost(out, p, pace);
}
