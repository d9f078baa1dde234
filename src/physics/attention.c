/* Attention as one kernel (Dao et al. 2022): many queries at once, or one query against
 * the keys of all that came before. */
#include <math.h>

#include "physics/op_kernel_cost.h"

static const double QUERIES = 128; /* of a tile */
/* Blocks of one head multiply on vectors, as many FLOPs as so many rows on tensor cores
 * take, and start in a part of the time. Decided on an A100 and an H200. */
static const double APART_ROWS = 4, APART_START = 0.5;
/* They read their keys again for each head, at this share of the cache's rate. */
static const double APART_CACHE = 0.5;
/* TensorRT-LLM's kernels of single tokens whose heads share keys (XQA): a block's least
 * share of the keys, times that it and a chain of keys take as vLLM's do. Decided on an
 * A100 and an H200, as the two before. */
static const double XQA_KEYS = 512, XQA_START = 1.4, XQA_CHAIN = 1.75;
/* Heads of latent attention, so many and more, multiply at the rate of prompts:
 * FlashMLA reaches 660 TFLOP/s of an H800, 0.67 of its peak (its documentation). */
static const double LATENT_ROWS = 64;
/* That one instruction of Hopper's tensor cores takes (wgmma), and so a block; of
 * Blackwell's for data centres 64 or 128. */
static const double HOPPER_ROWS = 64;
static const double KEYS = 128;   /* a core's least share of the keys */
static const double EXPS = 16;    /* of a core in a clock */
static const double VERIFIED = 8; /* queries of a decoding sequence: drafts */
/* What of the last-level cache operands keep from one call to the next, how sharply
 * that ends, and the share of the specified bandwidth beyond. Not fitted: on one device
 * these cannot be distinguished from arithmetic, and how two devices differ hangs on
 * them. */
static const double KEPT = 0.5;
static const double MEMORY_SHARE = 0.85;

bool ft__is_one_attention(const ft_op *op, const ft__hardware_spec *chip)
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
    p->latent = ft_op_at(op, FT_K_shared, 0) != 0;
    p->flops = cost.flops;
    p->read = cost.bytes_read;
    p->written = cost.bytes_written;
}

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
    return fmax(out->memory_s, out->cache_s);
}

static void many_queries(ft__terms *out, const ft__op_kernel *p,
                         const ft__hardware_spec *chip, const double *c)
{
    double tiles = ceil(p->m / QUERIES), blocks = p->batch * p->heads * tiles;
    double keys = p->causal ? p->n - p->m / 2 : p->n;
    double flops = 4 * p->batch * p->heads * p->k * tiles * QUERIES *
                   (keys + c[FT__C_attention_start]);
    double rate = chip->peak_flops * c[FT__C_attention_share];
    double exps = flops / (4 * p->k) * c[FT__C_attention_exp];
    double busy = flops / rate;

    if (chip->clock_hz > 0)
        busy += exps / (EXPS * chip->cores * chip->clock_hz);
    out->waves = blocks / chip->cores;
    out->compute_s = busy * (out->waves < 1 ? 1 / out->waves
                                            : 1 + c[FT__C_attention_tail] / out->waves);
    out->busy_s = c[FT__C_attention_s] +
                  ft__together(out->compute_s,
                               streamed(out, p->read + p->written, blocks, chip, c),
                               c[FT__C_attention_blend]);
}

/* FlashAttention-2: that of Hopper is another (Shah et al. 2024), and Blackwell's for
 * data centres, too. */
static bool is_flash_2(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return chip->ampere && !chip->hopper && !chip->packed && !p->latent;
}

bool ft__is_regrouped(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return is_flash_2(p, chip) && p->m <= 1 && p->kv_heads > 1 &&
           p->heads > p->kv_heads;
}

bool ft__is_packed_prompt(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return chip->packed && (p->m > 1 || p->n <= 1);
}

/* TensorRT-LLM's kernels of single tokens; latent attention has kernels of its own. */
static bool is_single(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return chip->packed && p->m <= 1 && !p->latent;
}

/* Does each head have a block of its own, as where none or more than 32 share keys? */
static bool is_head_apart(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    const double shared = p->heads / p->kv_heads;

    return is_single(p, chip) && (shared <= 1 || shared > 32);
}

static double few_streamed(ft__terms *out, const ft__op_kernel *p, double blocks,
                           const ft__hardware_spec *chip, const double *c)
{
    streamed(out, p->read + p->written, blocks, chip, c);
    if (is_head_apart(p, chip))
        out->cache_s *= p->heads / p->kv_heads / APART_CACHE;
    return fmax(out->memory_s, out->cache_s);
}

static double start_s(const ft__op_kernel *p, const ft__hardware_spec *chip,
                      const double *c)
{
    return c[FT__C_decode_block_s] * (is_head_apart(p, chip) ? APART_START
                                      : is_single(p, chip)   ? XQA_START
                                                             : 1);
}

/* Heads that share keys are rows of one product; keys are split where there are fewer
 * products than cores. */
static void few_queries(ft__terms *out, const ft__op_kernel *p,
                        const ft__hardware_spec *chip, const double *c)
{
    const bool apart = is_head_apart(p, chip), single = is_single(p, chip);
    const double least = single && !apart ? XQA_KEYS : KEYS;
    const double chain_s = c[FT__C_decode_chain_s] * (single ? XQA_CHAIN : 1);
    const double of = apart ? p->heads : p->kv_heads;
    double rows = p->m * p->heads / of;
    const bool wide = p->latent && rows >= LATENT_ROWS;
    const double tile = apart ? APART_ROWS : wide ? LATENT_ROWS : FT__TENSOR_ROWS;
    const double block = chip->hopper && !single ? HOPPER_ROWS : tile;
    const double share = c[wide ? FT__C_attention_share : FT__C_decode_share];
    double groups = p->batch * of * ceil(rows / block);
    double split = floor(c[FT__C_decode_blocks] * chip->cores / groups), blocks;
    double flops = 4 * p->batch * of * ceil(rows / tile) * tile * p->k * fmax(p->n, 64);

    split = fmax(1, fmin(split, ceil(p->n / least)));
    blocks = groups * split;
    out->waves = blocks / chip->cores;
    out->compute_s = flops / (chip->peak_flops * share) * fmax(1, 1 / out->waves);
    out->fill = out->waves / ceil(out->waves);
    out->drawing_s = ft__tensor_drawing_s(
        4 * p->batch * p->heads * p->m * p->k * p->n / chip->peak_flops, out);
    out->busy_s =
        c[FT__C_decode_s] + chain_s * log1p(p->n / 32) / (1 + groups / chip->cores) +
        ft__together(start_s(p, chip, c) * fmax(out->waves, 1),
                     ft__together(out->compute_s, few_streamed(out, p, blocks, chip, c),
                                  c[FT__C_attention_blend]),
                     c[FT__C_attention_blend]);
    /* A kernel of its own puts the parts together. */
    if (split > 1 && is_flash_2(p, chip) && chip->clock_hz > 0)
        out->busy_s += c[FT__C_replay_clocks] / chip->clock_hz;
}

void ft__attention_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    const bool first = p->n <= 1 && ft__is_packed_prompt(p, pace->chip);

    if (first || (p->m * p->heads / p->kv_heads > FT__TENSOR_ROWS && p->m > VERIFIED))
        many_queries(out, p, pace->chip, pace->c);
    else
        few_queries(out, p, pace->chip, pace->c);
    out->fill = out->waves / ceil(out->waves);
}
