/* Attention as one kernel (Dao et al. 2022): many queries at once, or one query against
 * the keys of all that came before. */
#include <math.h>

#include "physics/op_kernel_cost.h"

static const double QUERIES = 128; /* of a tile */
/* TensorRT-LLM's kernels of single tokens, decided on an A100 and an H200, which take
 * as many clocks alike. Blocks of one head: 4 of them on a core, clocks that they start
 * in, and how much longer a chain of keys takes them than vLLM's. They multiply on
 * vectors, as many FLOPs as so many rows on tensor cores take, and read their keys
 * again for each head, at this share of the cache's rate. */
static const double APART_BLOCKS = 4, APART_CLOCKS = 11000, APART_CHAIN = 3.5;
static const double APART_ROWS = 4, APART_CACHE = 0.5;
/* Of heads that share keys (XQA): the most blocks for which keys are split, a core
 * (kTargetWaveFactor in its source), and clocks that they start in. */
static const double XQA_BLOCKS = 8, XQA_CLOCKS = 8800;
/* Heads of latent attention, so many and more, multiply at the rate of prompts:
 * FlashMLA reaches 660 TFLOP/s of an H800, 0.67 of its peak (its documentation). */
static const double LATENT_ROWS = 64;
/* A block's in FlashAttention-2, and that one instruction of Hopper's tensor cores
 * takes (wgmma), of Blackwell's for data centres 64 or 128. */
static const double BLOCK_ROWS = 64;
static const double KEYS = 128;   /* a core's least share of the keys */
static const double EXPS = 16;    /* of a core in a clock */
static const double VERIFIED = 8; /* queries of decoding sequences: drafted tokens */
/* Backward five products in place of two, at 63 % of the peak where forward reaches
 * 73 % (Dao 2023, FlashAttention-2, of an A100). */
static const double BACKWARD = 2.5 * 73 / 63;
/* What of the last-level cache operands keep from one call to the next, how sharply
 * that ends, and the share of the specified bandwidth beyond. Not fitted: on one device
 * these cannot be distinguished from arithmetic, and how two devices differ hangs on
 * them. */
static const double KEPT = 0.5;
static const double MEMORY_SHARE = 0.85;

bool ft__is_one_attention(const ft_op *op, const ft__hardware_spec *chip)
{
    return op->kind == FT_KIND_attention &&
           (op->phase == FT_PHASE_FORWARD ||
            (op->phase == FT_PHASE_BACKWARD && ft_op_at(op, FT_K_causal, 0))) &&
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
    p->gradient = op->phase == FT_PHASE_BACKWARD ? FT_WRT_X : 0;
    p->latent = ft_op_at(op, FT_K_shared, 0) != 0;
    p->flops = cost.flops;
    p->read = cost.bytes_read;
    p->written = cost.bytes_written;
}

void ft__cache_kernel(ft__op_kernel *p, const ft__op_kernel *attention, bool packed)
{
    const ft__op_kernel *a = attention;
    const double heads = 2 * a->kv_heads + (packed ? a->heads : 0);

    p->kernels = 0; /* its start is in its price */
    p->read = a->batch * heads * a->m * a->k * a->size;
    p->written = p->read;
}

/* kept: operands stay in the cache from call to call, as TensorRT-LLM's keys of single
 * tokens do not. */
static void streamed(ft__terms *out, const ft__op_kernel *p, double blocks, bool kept,
                     const ft__hardware_spec *chip, const double *c)
{
    const double bytes = p->read + p->written;
    double over = bytes / (chip->l2_bytes * KEPT), hit = 0;

    over *= over;
    if (kept && chip->l2_bytes > 0)
        hit = 1 / (1 + over * over);
    out->memory_s =
        (1 - hit) * bytes / (chip->bandwidth * MEMORY_SHARE * ft__stream_ratio(chip));
    if (chip->clock_hz > 0)
        out->cache_s = bytes / (chip->clock_hz * c[FT__C_attention_cache] *
                                fmin(blocks, chip->cores));
}

/* Seconds of *out beside `start_s` of starting blocks. */
static double beside(double start_s, const ft__terms *out, const double *c)
{
    const double power = c[FT__C_attention_blend];

    return ft__together(
        start_s, ft__together(out->compute_s, fmax(out->memory_s, out->cache_s), power),
        power);
}

static void many_queries(ft__terms *out, const ft__op_kernel *p,
                         const ft__hardware_spec *chip, const double *c)
{
    double tiles = ceil(p->m / QUERIES), blocks = p->batch * p->heads * tiles;
    /* Of the causal triangle tiles are computed whole. */
    double keys = p->causal ? p->n - (p->m - fmin(p->m, QUERIES)) / 2 : p->n;
    double flops = 4 * p->batch * p->heads * p->k * tiles * QUERIES *
                   (keys + c[FT__C_attention_start]);
    double rate = chip->peak_flops * c[FT__C_attention_share];
    double exps = flops / (4 * p->k) * c[FT__C_attention_exp];
    double busy = flops / rate * (p->gradient ? BACKWARD : 1);

    if (chip->clock_hz > 0)
        busy += exps / (EXPS * chip->cores * chip->clock_hz);
    out->waves = blocks / chip->cores;
    out->compute_s = busy * (out->waves < 1 ? 1 / out->waves
                                            : 1 + c[FT__C_attention_tail] / out->waves);
    streamed(out, p, blocks, true, chip, c);
    out->busy_s = c[FT__C_attention_s] + beside(0, out, c);
    /* A kernel before deals tiles out (FlashAttention-3's scheduler); prompts of
     * TensorRT-LLM and on Blackwell take as much longer. */
    if (chip->hopper)
        out->busy_s += ft__clocks_s(c[FT__C_replay_clocks], chip);
}

/* FlashAttention-2: that of Hopper is another (Shah et al. 2024), and Blackwell's for
 * data centres, too. */
static bool is_flash_2(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return chip->ampere && !chip->hopper && !chip->packed && !p->latent;
}

bool ft__is_regrouped(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return is_flash_2(p, chip) && p->m <= 1 && p->batch > 1 && p->kv_heads > 1 &&
           p->heads > p->kv_heads;
}

bool ft__is_packed_prompt(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return chip->packed && (p->m > 1 || p->n <= 1);
}

/* Does each head have a block of its own (masked multi-head attention)? So it is with
 * TensorRT-LLM's single tokens where more than 32 share keys and, before Blackwell,
 * where none do or XQA's blocks of 128 keys would be fewer than a quarter of the cores
 * (mayHavePerfGain() in its source). */
static bool is_head_apart(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    const double shared = p->heads / p->kv_heads;
    const double blocks = p->batch * p->kv_heads * fmax(1, floor(p->n / KEYS));

    return chip->packed && p->m <= 1 && !p->latent &&
           (shared > 32 ||
            (!chip->blackwell && (shared <= 1 || 4 * blocks < chip->cores)));
}

/* A core has several blocks at once, 4 of 256 threads or fewer of more where there are
 * too few; so a few more blocks than cores take twice the time (mmha_launch_kernel_ex()
 * in its source). */
static void heads_apart(ft__terms *out, const ft__op_kernel *p,
                        const ft__hardware_spec *chip, const double *c)
{
    const double heads = p->batch * p->heads;
    const double split = fmin(floor(chip->cores / heads), ceil(p->n / KEYS));
    const double blocks = heads * fmax(1, split);
    const double larger = exp2(
        floor(log2(fmin(ceil(APART_BLOCKS * chip->cores / blocks), APART_BLOCKS))));
    const double waves = blocks * larger / (APART_BLOCKS * chip->cores);
    const double flops = 4 * heads * APART_ROWS * p->k * fmax(p->n, 64);

    out->waves = blocks / chip->cores;
    out->compute_s =
        flops / (chip->peak_flops * c[FT__C_decode_share]) * fmax(1, 1 / out->waves);
    streamed(out, p, blocks, false, chip, c);
    out->cache_s *= p->heads / p->kv_heads / APART_CACHE *
                    (out->waves > 1 ? ceil(waves) / waves : 1);
    out->busy_s = c[FT__C_decode_chain_s] * APART_CHAIN * log1p(p->n / 32) +
                  beside(ft__clocks_s(APART_CLOCKS, chip) * ceil(waves), out, c);
}

/* Heads that share keys are rows of one product; keys are split where there are fewer
 * products than cores. */
static void few_queries(ft__terms *out, const ft__op_kernel *p,
                        const ft__hardware_spec *chip, const double *c)
{
    const bool xqa = chip->packed && p->m <= 1 && !p->latent && !chip->blackwell;
    const double start_s =
        xqa ? ft__clocks_s(XQA_CLOCKS, chip) : c[FT__C_decode_block_s];
    const double most = xqa ? XQA_BLOCKS : c[FT__C_decode_blocks];
    double rows = p->m * p->heads / p->kv_heads;
    const bool wide = p->latent && rows >= LATENT_ROWS;
    const double tile = wide ? LATENT_ROWS : FT__TENSOR_ROWS;
    const double block = chip->ampere && !xqa ? BLOCK_ROWS : tile;
    const double share = c[wide ? FT__C_attention_share : FT__C_decode_share];
    double groups = p->batch * p->kv_heads * ceil(rows / block);
    /* FlashAttention-2 splits those of heads in a common order alone
     * (mha_varlen_fwd() in its source). */
    const bool whole = is_flash_2(p, chip) && (p->m > 1 || p->heads <= p->kv_heads);
    double parts = whole ? 1 : xqa ? floor(p->n / KEYS) : ceil(p->n / KEYS);
    double split = fmax(1, fmin(floor(most * chip->cores / groups), parts));
    double flops =
        4 * p->batch * p->kv_heads * ceil(rows / tile) * tile * p->k * fmax(p->n, 64);

    out->waves = groups * split / chip->cores;
    out->compute_s = flops / (chip->peak_flops * share) * fmax(1, 1 / out->waves);
    streamed(out, p, groups * split, !xqa, chip, c);
    out->busy_s =
        c[FT__C_decode_s] +
        c[FT__C_decode_chain_s] * log1p(p->n / 32) / (1 + groups / chip->cores) +
        beside(start_s * fmax(out->waves, 1), out, c);
    /* A kernel of its own puts the parts together. */
    if (split > 1 && is_flash_2(p, chip))
        out->busy_s += ft__clocks_s(c[FT__C_replay_clocks], chip);
}

void ft__attention_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    const bool first = p->n <= 1 && ft__is_packed_prompt(p, pace->chip);
    const bool many =
        first || p->gradient ||
        (p->m * p->heads / p->kv_heads > FT__TENSOR_ROWS && p->m > VERIFIED);

    if (many)
        many_queries(out, p, pace->chip, pace->c);
    else if (is_head_apart(p, pace->chip))
        heads_apart(out, p, pace->chip, pace->c);
    else
        few_queries(out, p, pace->chip, pace->c);
    out->fill = out->waves / ceil(out->waves);
    if (!many)
        out->drawing_s = ft__tensor_drawing_s(
            4 * p->batch * p->heads * p->m * p->k * p->n / pace->chip->peak_flops, out);
}
