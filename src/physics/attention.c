/* Attention as one kernel (Dao et al. 2022): many queries at once, or one query against
 * the keys of all that came before. */
#include <math.h>

#include "physics/op_kernels.h"

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

void ft__attention_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    if (p->m * p->heads / p->kv_heads > ROWS && p->m > 1)
        many_queries(out, p, pace->chip, pace->c);
    else
        few_queries(out, p, pace->chip, pace->c);
    out->fill = out->waves / ceil(out->waves);
}

void ft__cache_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    out->memory_s =
        (p->read + p->written) / (pace->chip->bandwidth * pace->c[FT__C_cache_share]);
    out->busy_s = STORE_S + out->memory_s;
    out->aside_s = out->busy_s;
}

int ft__attention_serves(const ft_op *op, const ft__hardware_spec *chip)
{
    return op->kind == FT_KIND_attention && op->phase == FT_PHASE_FORWARD &&
           chip->tensor && ft_dtype_bits(op->dtype) <= 16 &&
           ft_op_shape(op, FT_K_x).rank == 4;
}

void ft__attention_kernel(ft__op_kernel *p, const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y);
    ft_cost cost;

    ft_op_cost(op, &cost);
    p->batch = (double)x.dim[0];
    p->heads = (double)x.dim[1];
    p->kv_heads = (double)y.dim[1];
    p->m = (double)x.dim[2];
    p->n = (double)y.dim[2];
    p->k = (double)x.dim[3];
    p->causal = ft_op_at(op, FT_K_causal, 0) != 0;
    p->flops = cost.flops;
    p->read = cost.bytes_read;
    p->written = cost.bytes_written;
}

void ft__cache_kernel(ft__op_kernel *p, const ft__op_kernel *attention)
{
    const ft__op_kernel *a = attention;

    p->kernels = 0; /* its start is in its price */
    p->read = 2 * a->batch * a->kv_heads * a->m * a->k * a->size;
    p->written = p->read;
}
