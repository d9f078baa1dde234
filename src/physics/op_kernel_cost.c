/* One kernel of an operation, and what a chip reaches -> its time. Kernels that wait
 * for memory: elementwise ones, norms, softmax, pools, moves; attention; and kernels
 * that multiply: matrix products and convolutions on vectors and on tensor cores, by
 * the fastest of the algorithms that libraries have, each cut into tiles the best way.
 */
#include <math.h>
#include <string.h>

#include "physics/op_kernels.h"

/* ---- kernels that wait for memory ---- */

/* What was touched just before is still in the last-level cache, the less the more
 * there is of it. */
static double kept(double bytes, const ft__pace *pace)
{
    double over = bytes / pace->kept_bytes;

    return pace->kept_bytes > 0 ? 1 / (1 + over * over * over) : 0;
}

/* Seconds to move `bytes` when as many are touched. */
static double cached_s(double bytes, const ft__pace *pace)
{
    double memory = bytes / pace->memory_rate, hit = kept(bytes, pace), fast;

    if (!(hit > 0) || !(pace->chip->clock_hz > 0))
        return memory;
    fast = bytes / pace->cache_rate;
    return hit * fmin(fast, memory) + (1 - hit) * memory;
}

/* Of a CPU: what operations hand on is in its caches, weights come from memory, and so
 * do lines that are only written. */
static double cpu_moved_s(const ft__op_kernel *p, double again, const ft__pace *pace)
{
    const double bytes = p->read - p->weights + p->written + again;
    const double hit = kept(bytes, pace);

    return p->weights / pace->memory_rate + hit * bytes / pace->cache_rate +
           (1 - hit) * (bytes + p->written) / pace->memory_rate;
}

/* Seconds to move all that a kernel reads, `again` B of it twice, and writes. */
static double moved_s(const ft__op_kernel *p, double again, const ft__pace *pace)
{
    return pace->chip->gpu ? cached_s(p->read + p->written + again, pace)
                           : cpu_moved_s(p, again, pace);
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
        return c[FT__C_softmax_passes] * (!chip->gpu   ? 1
                                          : p->strided ? c[FT__C_softmax_strided]
                                          : p->row > IN_REGISTERS
                                              ? c[FT__C_softmax_wide]
                                              : 1);
    case FT__OP_KERNEL_BIAS: /* of convolutions a kernel of its own, on GPUs */
        return chip->gpu && p->taps > 0 ? 1 : c[FT__C_bias_passes];
    case FT__OP_KERNEL_LAYOUT: /* TF32 counts its own: tensor_cost() */
        return chip->tensor && p->size > 2 ? 0 : c[FT__C_layout_passes];
    case FT__OP_KERNEL_LOSS: return c[FT__C_step_passes];
    case FT__OP_KERNEL_QUANTIZE: return c[FT__C_quantize_passes];
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

/* Lane operations of pools: finding a place by divisions, then bounds for every tap.
 * Since Turing at most 64 lanes of a core compute with integers. */
static double pool_s(const ft__op_kernel *p, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;
    const double lanes = chip->early ? 1 : fmax(1, chip->lanes / 64);
    const double work = pace->c[FT__C_pool_place] + pace->c[FT__C_pool_tap] * p->taps;

    return p->places * work * lanes * 2 / chip->vector_flops;
}

static void passes_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;
    double times = op_kernels(p, chip, pace->c);
    double again = read_again(p, pace, times), bytes = p->read + p->written + again;

    out->memory_s = times * moved_s(p, again, pace);
    out->compute_s =
        (p->special / pace->c[FT__C_special_rate] + p->lanes) / chip->vector_flops;
    if (p->what == FT__OP_KERNEL_POOL && chip->gpu)
        out->compute_s += pool_s(p, pace);
    out->busy_s = fmax(hypot(out->memory_s, in_turn_s(p, bytes, pace)), out->compute_s);
}

/* ---- attention as one kernel (Dao et al. 2022): many queries at once, or one query
 * against the keys of all that came before ---- */

static const double QUERIES = 128; /* of a tile */
static const double ROWS = 16;     /* of the smallest product of tensor cores */
/* Blocks of one head multiply on vectors, as many FLOPs as so many rows on tensor cores
 * take, and start in a part of the time. Decided on an A100 and an H200. */
static const double APART_ROWS = 4, APART_START = 0.5;
static const double KEYS = 128; /* a core's least share of the keys */
static const double EXPS = 16;  /* of a core in a clock */
static const double VERIFIED =
    8; /* queries of a sequence that decodes: drafted tokens */
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

/* Tiles that are not full: the rest of what tensor cores do is with zeros, and draws
 * this share. Decided on products of up to 32 rows on an H200. */
static const double ZEROS = 0.2;

/* useful_s: of what is asked for. */
static double drawing(double useful_s, const ft__terms *t)
{
    const double all = t->fill * t->compute_s;

    return useful_s < all ? useful_s + ZEROS * (all - useful_s) : all;
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
    double rate = chip->peak_flops * c[FT__C_attention_share];
    double exps = flops / (4 * p->k) * c[FT__C_attention_exp];
    double busy = flops / rate;

    if (chip->clock_hz > 0)
        busy += exps / (EXPS * chip->cores * chip->clock_hz);
    out->waves = blocks / chip->cores;
    out->compute_s = busy * (out->waves < 1 ? 1 / out->waves
                                            : 1 + c[FT__C_attention_tail] / out->waves);
    out->busy_s =
        c[FT__C_attention_s] +
        blended(out->compute_s, streamed(out, p->read + p->written, blocks, chip, c),
                c[FT__C_attention_blend]);
}

/* TensorRT-LLM's kernels of single tokens: does each head have a block of its own, as
 * where none or more than 32 share keys? */
static bool is_head_apart(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    const double shared = p->heads / p->kv_heads;

    return chip->packed && p->m <= 1 && (shared <= 1 || shared > 32);
}

/* Heads that share keys are rows of one product; keys are split where there are fewer
 * products than cores. */
static void few_queries(ft__terms *out, const ft__op_kernel *p,
                        const ft__hardware_spec *chip, const double *c)
{
    const bool apart = is_head_apart(p, chip);
    const double of = apart ? p->heads : p->kv_heads, tile = apart ? APART_ROWS : ROWS;
    double rows = p->m * p->heads / of;
    double groups = p->batch * of * ceil(rows / tile);
    double split = floor(c[FT__C_decode_blocks] * chip->cores / groups), blocks;
    double flops = 4 * groups * tile * p->k * fmax(p->n, 64);

    split = fmax(1, fmin(split, ceil(p->n / KEYS)));
    blocks = groups * split;
    out->waves = blocks / chip->cores;
    out->compute_s =
        flops / (chip->peak_flops * c[FT__C_decode_share]) * fmax(1, 1 / out->waves);
    out->fill = out->waves / ceil(out->waves);
    out->drawing_s =
        drawing(4 * p->batch * p->heads * p->m * p->k * p->n / chip->peak_flops, out);
    out->busy_s =
        c[FT__C_decode_s] +
        c[FT__C_decode_chain_s] * log1p(p->n / 32) / (1 + groups / chip->cores) +
        blended(c[FT__C_decode_block_s] * (apart ? APART_START : 1) *
                    fmax(out->waves, 1),
                blended(out->compute_s,
                        streamed(out, p->read + p->written, blocks, chip, c),
                        c[FT__C_attention_blend]),
                c[FT__C_attention_blend]);
}

static void attention_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    if (p->m * p->heads / p->kv_heads > ROWS && p->m > VERIFIED)
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

/* Every device reads all of the others at once, or each a part of the sum, which the
 * others then read from it (two steps), whichever is faster: vLLM's custom all-reduce,
 * NCCL. Decided on all-reduces of aiconfigurator, 64 KiB and more, on A100 and H200:
 * docs/physics.md. */
static double summed_s(double bytes, double devices, double rate)
{
    static const double second_s = 3e-6;
    const double others = devices - 1;

    return fmin(bytes * others / rate, second_s + 2 * bytes * others / devices / rate);
}

/* Over several machines each device has a share of the network: sums are made within
 * machines first, of a part on each device, then of that part between them; parts for
 * devices of other machines go over the network. */
static void collective_cost(ft__terms *out, const ft__op_kernel *p,
                            const ft__pace *pace)
{
    static const double start_s = 1e-6, network_s = 1e-5, share = 0.7;
    const double rate = pace->chip->link * share, apart = pace->chip->network * share;
    const double inside = fmax(1, p->m / p->n), bytes = p->read;

    if (p->sums)
        out->memory_s =
            summed_s(bytes, inside, rate) + summed_s(bytes / inside, p->n, apart);
    else if (p->sends)
        out->memory_s = bytes / (p->n > 1 ? apart : rate);
    else
        out->memory_s = fmax(bytes / p->m * (inside - 1) / rate,
                             bytes / p->m * (p->m - inside) / apart);
    out->busy_s = start_s + (p->n > 1 ? network_s : 0) + out->memory_s;
}

static void stream_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    if (p->what == FT__OP_KERNEL_ATTENTION)
        attention_cost(out, p, pace);
    else if (p->what == FT__OP_KERNEL_CACHE)
        cache_cost(out, p, pace);
    else if (p->what == FT__OP_KERNEL_COLLECTIVE)
        collective_cost(out, p, pace);
    else
        passes_cost(out, p, pace);
}

/* ---- kernels that multiply ---- */

/* B of a step of k of a tile's operands, so many rows of each. */
static double drawn_b(const ft__op_kernel *p, double m, double n)
{
    const double packed = p->packed > 0 ? p->packed : p->size;

    return p->packed_last ? m * p->size + n * packed : m * packed + n * p->size;
}

/* One way of cutting a product into tiles, as far as no clock changes it. */
struct tiling {
    double work;  /* FLOPs, with those that are lost */
    double drawn; /* B from the last-level cache, by so many cores: */
    double cores;
    double extra; /* B of partial results that are added up */
    double waves;
    uint32_t halved; /* size of the tiles */
    uint32_t split;  /* k, into so many parts */
};

/* One algorithm for a product or convolution: a product of its own, and passes over
 * memory before and behind it. */
struct ft__algorithm {
    ft__op_kernel op_kernel;
    double share;             /* of the rate of a plain product */
    double added;             /* B of those passes */
    double starts;            /* of kernels */
    int tensor;               /* on tensor cores, of numbers of 16 bits at most */
    const struct tiling *way; /* NULL: worked out as it is priced */
    uint32_t n_ways;
};
enum { MAX_ALGORITHMS = 5, MAX_WAYS = 64 };

/* ceil() of what is not negative, without a call. */
static inline double up(double v)
{
    const double whole = v < 0x1p52 ? (double)(int64_t)v : v;

    return whole + (whole < v);
}

/* ---- matrix products: tiles dealt to cores in waves ---- */

/* Tiles of the result that a core works on at a time; halved: 128 x 128 by 2^halved. */
static const struct tile {
    double m, n;
    uint32_t halved;
} tiles[] = {{128, 128, 0}, {128, 64, 1}, {64, 128, 1}, {64, 64, 2},
             {128, 32, 2},  {32, 128, 2}, {32, 32, 4}};
enum { N_TILES = sizeof(tiles) / sizeof(*tiles), MOST_SPLIT = 256 };
static const double LEAST_DEPTH = 64; /* of a part, where k is split */
static const double ENOUGH_WAVES = 2; /* then it is not */

/* Is an fp32 product cut as cuBLAS cuts those of one batched call? Its kernels for that
 * are fewer, and leave k whole. */
static bool is_batched_call(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return p->batched && p->size == 4 && !chip->tensor && (chip->early || chip->ampere);
}

/* Before Volta maxwell_sgemm_128x128 and 128x64 (columns by rows), since Ampere
 * ampere_sgemm_128x128 alone. */
static bool has_tile(const ft__op_kernel *p, const struct tile *t,
                     const ft__hardware_spec *chip)
{
    if (!is_batched_call(p, chip))
        return true;
    if (chip->ampere)
        return t->halved == 0;
    return t->halved == 0 ||
           (t->halved == 1 && (t->n == 128 || p->phase != FT_PHASE_FORWARD));
}

struct product_machine {
    const ft__pace *pace;
    double rate;       /* FLOP/s */
    double core_cache; /* B/s of one core from the last-level cache */
};

struct product_plan {
    double compute_s, cache_s, waves, total_s;
};

/* k in `split` parts, added up afterwards. */
static struct tiling way_of(const ft__op_kernel *p, const struct tile *t,
                            uint32_t split, const ft__pace *pace)
{
    const double *c = pace->c;
    double cores = pace->chip->cores;
    double blocks = up(p->m / t->m) * up(p->n / t->n) * p->batch * split;
    double depth = up(p->k / split / 8) * 8, whole;
    struct tiling w = {.waves = blocks / cores, .halved = t->halved, .split = split};

    whole = up(w.waves);
    w.work = (whole + c[FT__C_wave_tail]) * t->m * t->n * 2 *
             (depth + c[FT__C_depth_start]) * cores;
    w.drawn = blocks * drawn_b(p, t->m, t->n) * depth;
    w.cores = fmin(cores, blocks);
    if (split > 1)
        w.extra =
            (double)(2 * split) * p->m * p->n * p->batch * 4 * c[FT__C_split_cost];
    return w;
}

/* In place of *best where it is faster. */
static void try_way(struct product_plan *best, const struct tiling *w,
                    const struct product_machine *m)
{
    struct product_plan plan = {.waves = w->waves};

    plan.compute_s = w->work / (m->rate * m->pace->tile[w->halved]);
    if (plan.compute_s >= best->total_s)
        return;
    if (m->core_cache > 0)
        plan.cache_s = w->drawn / (m->core_cache * w->cores);
    plan.total_s = fmax(plan.compute_s, plan.cache_s);
    if (w->split > 1)
        plan.total_s += cached_s(w->extra, m->pace) + m->pace->c[FT__C_kernel_s];
    if (plan.total_s < best->total_s)
        *best = plan;
}

/* Into how many parts k is split at most. Cores that are busy anyway gain nothing by
 * parts, whatever the way costs: then a faster device never leaves one out that a
 * slower one takes. */
static uint32_t most_split(const ft__op_kernel *p, const struct tile *t,
                           const ft__pace *pace)
{
    const double blocks = up(p->m / t->m) * up(p->n / t->n) * p->batch;
    uint32_t split = 1;

    if (!(blocks / pace->chip->cores <= ENOUGH_WAVES) || is_batched_call(p, pace->chip))
        return 1;
    while (split < MOST_SPLIT && p->k / (2 * split) >= LEAST_DEPTH)
        split *= 2;
    return split;
}

static struct product_plan best_of(const ft__algorithm *a,
                                   const struct product_machine *m)
{
    struct product_plan best = {.total_s = INFINITY};

    for (uint32_t i = 0; i < a->n_ways; i++)
        try_way(&best, &a->way[i], m);
    return best;
}

static struct product_plan best_cut(const ft__op_kernel *p,
                                    const struct product_machine *m)
{
    struct product_plan best = {.total_s = INFINITY};

    for (int i = 0; i < N_TILES; i++) {
        const uint32_t most = most_split(p, &tiles[i], m->pace);

        if (!has_tile(p, &tiles[i], m->pace->chip))
            continue;
        for (uint32_t split = 1; split <= most; split *= 2) {
            const struct tiling w = way_of(p, &tiles[i], split, m->pace);

            try_way(&best, &w, m);
        }
    }
    return best;
}

/* CPUs: what registers hold of the result, dealt to cores; blocks for the caches keep
 * reading it no bottleneck (Goto, van de Geijn 2008). One row needs no more than one.
 */
static const double REGISTER_ROWS = 8, REGISTER_COLUMNS = 32;

static struct product_plan cpu_cut(const ft__op_kernel *p,
                                   const struct product_machine *m)
{
    const double cores = m->pace->chip->cores;
    const double rows = fmin(REGISTER_ROWS, fmin(p->m, p->n));
    const double blocks = up(fmin(p->m, p->n) / rows) *
                          up(fmax(p->m, p->n) / REGISTER_COLUMNS) * p->batch;
    struct product_plan plan = {.waves = blocks / cores};

    plan.compute_s = up(plan.waves) * rows * REGISTER_COLUMNS * 2 *
                     (p->k + m->pace->c[FT__C_depth_start]) * cores /
                     (m->rate * m->pace->tile[0]);
    plan.total_s = plan.compute_s;
    return plan;
}

static void product_cost(ft__terms *out, const ft__algorithm *a, const ft__pace *pace)
{
    const struct product_machine m = {
        .pace = pace,
        .rate = pace->chip->peak_flops * out->sustained * a->share,
        .core_cache = pace->chip->clock_hz * pace->c[FT__C_cache_width]};
    struct product_plan plan = a->way            ? best_of(a, &m)
                               : pace->chip->gpu ? best_cut(&a->op_kernel, &m)
                                                 : cpu_cut(&a->op_kernel, &m);

    out->compute_s = plan.compute_s;
    out->cache_s = plan.cache_s;
    out->memory_s = moved_s(&a->op_kernel, 0, pace);
    out->waves = plan.waves;
    out->fill = plan.waves / ceil(plan.waves);
    out->busy_s = fmax(plan.total_s, out->memory_s);
}

/* Beyond what rounding may bring. */
static const double SURELY = 1 + 1e-9;

/* A way that is always tried, and faster at every clock. Arithmetic and cache go with
 * the clock alike; of the sustained share only the most is known. */
static bool beats(const struct tiling *a, const struct tiling *b,
                  const ft__algorithm *of, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;
    double most = pace->c[FT__C_sustain_most] * fmax(1, pace->c[FT__C_wide_share]);
    double bytes_per_flop = chip->clock_hz * pace->c[FT__C_cache_width] /
                            (chip->peak_flops * most * of->share);
    double work_a = a->work / pace->tile[a->halved],
           work_b = b->work / pace->tile[b->halved];
    double drawn_b = b->drawn / b->cores, at_least = work_b * bytes_per_flop;

    return a->split == 1 && work_a * SURELY <= work_b &&
           a->drawn / a->cores * SURELY <= (at_least > drawn_b ? at_least : drawn_b);
}

/* The ways that may be the fastest at some clock of the chip. */
static uint32_t product_ways(struct tiling out[MAX_WAYS], const ft__algorithm *a,
                             const ft__pace *pace)
{
    uint32_t n = 0;

    for (int i = 0; i < N_TILES; i++) {
        const uint32_t most = most_split(&a->op_kernel, &tiles[i], pace);

        if (!has_tile(&a->op_kernel, &tiles[i], pace->chip))
            continue;
        for (uint32_t split = 1; split <= most; split *= 2) {
            bool beaten = false;

            out[n] = way_of(&a->op_kernel, &tiles[i], split, pace);
            for (uint32_t j = 0; j < n && !beaten; j++)
                beaten = beats(&out[j], &out[n], a, pace);
            n += !beaten;
        }
    }
    return n;
}

/* ---- products of 16-bit and narrower numbers on tensor cores ---- */

/* Products on tensor cores of numbers of 16 bits at most. */
static int tensor_serves(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return chip->tensor && p->size <= 2 && chip->clock_hz > 0;
}

/* Tiles that libraries deal to cores; halved: 128 x 256 by 2^halved. */
static const struct tensor_tile {
    double m, n;
    uint32_t halved;
} tensor_tiles[] = {{128, 256, 0}, {256, 128, 0}, {128, 128, 1}, {64, 256, 1},
                    {256, 64, 1},  {64, 128, 2},  {128, 64, 2},  {64, 64, 3},
                    {64, 32, 4},   {32, 64, 4}};
enum {
    N_TENSOR_TILES = sizeof(tensor_tiles) / sizeof(*tensor_tiles),
    TENSOR_MOST_SPLIT = 32
};
static const double TENSOR_LEAST_DEPTH = 128; /* of a part, where k is split */

struct tensor_machine {
    const double *c;
    double cores;
    double
        core_rate[FT__N_TILE_SIZES]; /* FLOP/s of one core on tensor_tiles of a size */
    double core_cache;               /* B/s of one core from the last-level cache */
};

struct tensor_plan {
    double compute_s, cache_s, split_s, waves, total_s;
};

/* Elements of a tile that are computed. Kernels for packed weights are made for few
 * rows: their tiles are no wider than those (Frantar et al. 2024, arXiv:2408.11743). */
static double tile_area(const ft__op_kernel *p, const struct tensor_tile *t)
{
    if (!(p->packed > 0))
        return t->m * t->n;
    return p->packed_last ? fmin(t->m, up(p->m / ROWS) * ROWS) * t->n
                          : t->m * fmin(t->n, up(p->n / ROWS) * ROWS);
}

/* One tile after the other on every core; a core holds several at once, so that the
 * last wave is not all lost. */
static struct tiling tensor_way_of(const ft__op_kernel *p, const struct tensor_tile *t,
                                   uint32_t split, const ft__pace *pace)
{
    const double *c = pace->c;
    double cores = pace->chip->cores, depth = p->k / split;
    double blocks = up(p->m / t->m) * up(p->n / t->n) * p->batch * split;
    struct tiling w = {.waves = blocks / cores, .halved = t->halved, .split = split};
    double even = c[FT__C_tensor_even];
    double waves = w.waves < 1 ? 1 : up(w.waves) * (1 - even) + w.waves * even;

    w.work = waves * tile_area(p, t) * 2 * (depth + c[FT__C_tensor_start]);
    w.drawn = blocks * drawn_b(p, fmin(t->m, p->m), fmin(t->n, p->n)) * depth;
    w.cores = fmin(blocks, cores);
    if (split > 1)
        w.extra = (double)(2 * split) * p->batch * p->m * p->n * 4;
    return w;
}

static struct tensor_plan tensor_price(const struct tiling *w,
                                       const struct tensor_machine *m)
{
    struct tensor_plan plan = {.waves = w->waves};

    plan.compute_s = w->work / m->core_rate[w->halved];
    plan.cache_s = w->drawn / (m->core_cache * w->cores);
    if (w->split > 1)
        plan.split_s =
            m->c[FT__C_tensor_split_s] + w->extra / (m->core_cache * m->cores);
    plan.total_s = fmax(plan.compute_s, plan.cache_s) + plan.split_s;
    return plan;
}

static struct tensor_plan tensor_best_of(const struct tiling *way, uint32_t n,
                                         const struct tensor_machine *m)
{
    struct tensor_plan best = {.total_s = INFINITY};

    for (uint32_t i = 0; i < n; i++) {
        struct tensor_plan plan = tensor_price(&way[i], m);

        if (plan.total_s < best.total_s)
            best = plan;
    }
    return best;
}

static uint32_t all_ways(struct tiling out[MAX_WAYS], const ft__op_kernel *p,
                         const ft__pace *pace)
{
    uint32_t n = 0;

    for (int i = 0; i < N_TENSOR_TILES; i++)
        for (uint32_t split = 1; split <= TENSOR_MOST_SPLIT; split *= 2) {
            if (split > 1 && p->k / split < TENSOR_LEAST_DEPTH)
                break;
            out[n++] = tensor_way_of(p, &tensor_tiles[i], split, pace);
        }
    return n;
}

static struct tensor_machine machine_of(const ft__pace *pace, double share)
{
    struct tensor_machine m = {.c = pace->c,
                               .cores = pace->chip->cores,
                               .core_cache =
                                   pace->chip->clock_hz * pace->c[FT__C_tensor_cache]};

    m.core_rate[0] = pace->chip->peak_flops / pace->chip->cores *
                     pace->c[FT__C_tensor_share] * share;
    for (int i = 1; i < FT__N_TILE_SIZES; i++)
        m.core_rate[i] = m.core_rate[i - 1] * pace->tensor_half;
    return m;
}

/* A way that is faster at every clock. All but starting to add up goes with the clock;
 * of the sustained share, by which arithmetic alone goes, only the most is known: *m is
 * at that. */
static bool tensor_beats(const struct tiling *a, const struct tiling *b,
                         const struct tensor_machine *m)
{
    const struct tensor_plan pa = tensor_price(a, m), pb = tensor_price(b, m);
    const double start = m->c[FT__C_tensor_split_s];

    return (a->split == 1 || b->split > 1) && pa.compute_s * SURELY <= pb.compute_s &&
           pa.cache_s * SURELY <= fmax(pb.compute_s, pb.cache_s) &&
           (pa.split_s - (a->split > 1 ? start : 0)) * SURELY <=
               pb.split_s - (b->split > 1 ? start : 0);
}

static uint32_t tensor_ways(struct tiling out[MAX_WAYS], const ft__algorithm *a,
                            const ft__pace *pace)
{
    const struct tensor_machine m = machine_of(pace, a->share);
    uint32_t n = all_ways(out, &a->op_kernel, pace), kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        bool beaten = false;

        for (uint32_t j = 0; j < n && !beaten; j++)
            beaten = j != i && tensor_beats(&out[j], &out[i], &m);
        if (!beaten)
            out[kept++] = out[i];
    }
    return kept;
}

/* Three resources that work at the same time: a power mean, for none hides the others
 * wholly where they are of one size. */
static double share_to(double share, double power)
{
    return share == 1 ? 1 : pow(share, power);
}

static double blended_three(double a, double b, double c, double power)
{
    double most = fmax(fmax(a, b), c);

    if (!(most > 0))
        return 0;
    return most * pow(share_to(a / most, power) + share_to(b / most, power) +
                          share_to(c / most, power),
                      1 / power);
}

static void tensor_cost(ft__terms *out, const ft__algorithm *a, const ft__pace *pace)
{
    const double *c = pace->c;
    double bytes = a->op_kernel.read + a->op_kernel.written;
    const struct tensor_machine m = machine_of(pace, pace->tensor_sustained * a->share);
    struct tiling all[MAX_WAYS];
    uint32_t n = a->way ? a->n_ways : all_ways(all, &a->op_kernel, pace);
    struct tensor_plan plan = tensor_best_of(a->way ? a->way : all, n, &m);

    out->sustained = c[FT__C_tensor_share] * pace->tensor_sustained;
    out->compute_s = plan.compute_s;
    out->cache_s = plan.cache_s;
    out->memory_s = bytes / (pace->chip->bandwidth * c[FT__C_tensor_memory]);
    out->waves = plan.waves;
    out->fill = plan.waves / ceil(plan.waves);
    out->drawing_s = drawing(2 * a->op_kernel.batch * a->op_kernel.m * a->op_kernel.n *
                                 a->op_kernel.k / (m.core_rate[0] * m.cores),
                             out);
    out->busy_s = blended_three(out->compute_s, out->cache_s, out->memory_s,
                                c[FT__C_tensor_blend]) +
                  plan.split_s;
}

/* ---- convolutions ---- */

/* A convolution over square pieces of the image: each of `points` positions of the
 * transformed pieces is a product over channels. */
struct conv_pieces {
    double step;   /* results of a piece along an axis */
    double points; /* of a transformed piece */
    double work;   /* real products for each */
};

static ft__op_kernel transformed(const ft__op_kernel *p, const struct conv_pieces *t)
{
    double n = p->images * ceil(p->height / t->step) * ceil(p->width / t->step);
    ft__op_kernel q = *p;

    q.batch = p->batch * t->points;
    q.m = n;
    q.n = p->out;
    q.k = p->in * t->work;
    if (p->gradient == FT_WRT_WEIGHTS) {
        q.m = p->out;
        q.n = p->in;
        q.k = n * t->work;
    }
    return q;
}

/* An algorithm whose transforms pass through memory. */
static ft__algorithm apart(const ft__op_kernel *p, const struct conv_pieces *t,
                           double share)
{
    ft__algorithm a = {.op_kernel = transformed(p, t), .share = share, .starts = 2};
    double pieces =
        p->gradient == FT_WRT_WEIGHTS ? a.op_kernel.k / t->work : a.op_kernel.m;
    double points =
        t->points * (t->work > 1 ? 2 : 1); /* complex ones are two numbers */
    double spread = pieces * points * p->batch * (p->in + p->out) * p->size;
    double weights = p->in * p->out * p->batch * points * p->size;

    a.added = p->tensors + spread + weights;
    a.op_kernel.read = spread + weights;
    a.op_kernel.written = 0;
    return a;
}

/* Libraries of GPUs with tensor cores keep few kernels for vectors whose steps are more
 * than one: KernelBench's transposed convolutions on a T4. */
static const double STRIDED_VECTORS = 0.55;

/* A gradient of the data as one product, whose columns are added up afterwards. */
static ft__algorithm by_columns(const ft__op_kernel *p, const ft__hardware_spec *chip,
                                bool tensor, double share)
{
    const bool few = chip->gpu && !tensor && !chip->early && !chip->amd;
    ft__algorithm a = {
        .op_kernel = *p, .share = share * (few ? STRIDED_VECTORS : 1), .starts = 1};
    double values = p->out * p->taps * p->columns * p->batch * p->size;

    a.op_kernel.m = p->out * p->taps;
    a.op_kernel.n = p->columns;
    a.op_kernel.k = p->in;
    a.op_kernel.written = values;
    a.added = values + p->written;
    return a;
}

/* Whether tensor cores serve: TF32 wants a few channels on both sides. */
static int is_tensor(const ft__op_kernel *p, const ft__hardware_spec *chip,
                     const double *c)
{
    return chip->tensor &&
           (p->size <= 2 || fmin(p->in, p->out) >= c[FT__C_tensor_channels]);
}

/* TF32, 1 x 1: a product for every image, channels where they are. It loads numbers one
 * by one, which is slower than after they are laid side by side; for few of them it is
 * worth it. */
static ft__algorithm by_image(const ft__op_kernel *p, double share)
{
    ft__algorithm a = {.op_kernel = *p, .share = share};

    a.op_kernel.batch = p->batch * p->images;
    a.op_kernel.m = p->height * p->width;
    return a;
}

static double direction(const ft__op_kernel *p, const double *c)
{
    return p->gradient == FT_WRT_X         ? c[FT__C_data_share]
           : p->gradient == FT_WRT_WEIGHTS ? c[FT__C_weights_share]
                                           : 1;
}

/* What a library's plain products reach of the best ones'. */
static double library_share(const ft__op_kernel *p, const ft__hardware_spec *chip,
                            const double *c)
{
    if (!chip->gpu)
        return 1;
    if (tensor_serves(p, chip))
        return (chip->amd ? c[FT__C_amd_share] : 1) *
               (p->scaled ? c[FT__C_scaled_share] : 1);
    return (chip->amd ? c[FT__C_amd_share] * (p->batch > 1 ? c[FT__C_amd_batched] : 1)
                      : 1) *
           (chip->early && p->crossed ? c[FT__C_crossed_share] : 1);
}

/* Those that save multiplications; how many. */
static uint32_t fast(ft__algorithm *out, const ft__op_kernel *p, double share,
                     const double *c)
{
    static const struct conv_pieces fused = {2, 16, 1}, wide = {4, 36, 1};
    const struct conv_pieces fft = {33 - p->kernel, 32 * 17, 4};
    uint32_t n = 0;

    if (p->kernel == 3) {
        out[n++] = (ft__algorithm){.op_kernel = transformed(p, &fused),
                                   .share = share * c[FT__C_fused_share]};
        out[n++] = apart(p, &wide, share * c[FT__C_apart_share]);
    }
    if (p->kernel >= 5 && p->kernel < 16)
        out[n++] = apart(p, &fft, share * c[FT__C_fft_share]);
    return n;
}

/* Images of three channels: libraries of GPUs with tensor cores keep few kernels for
 * vectors. */
static bool is_few(const ft__op_kernel *p, const ft__hardware_spec *chip,
                   const double *c)
{
    return !chip->early && !chip->amd && (!p->volume || p->columns > 0) &&
           fmin(p->in, p->out) < c[FT__C_tensor_channels];
}

/* Gradients of such images' data, which transposed convolutions are: KernelBench's, on
 * T4, A100, A10 and A10G alike. */
static const double FEW_TRANSPOSED = 0.5;

/* Of a plain product's rate; beyond it only where constants say so of all. */
static double implicit_share(const ft__op_kernel *p, const ft__hardware_spec *chip,
                             bool tensor, const double *c)
{
    const bool vectors = chip->gpu && !tensor;
    const double all = c[tensor && p->size <= 2 ? FT__C_tensor_conv : FT__C_conv_share];
    const double more = c[p->taps == 1 ? FT__C_pointwise_share : FT__C_window_share];

    if (!vectors)
        return all;
    return fmin(all * more, fmax(all, 1)) *
           (is_few(p, chip, c)
                ? c[FT__C_few_share] * (p->columns > 0 ? FEW_TRANSPOSED : 1)
                : 1);
}

/* Of the rate with channels first: vectors have few kernels for channels that lie last,
 * and waste most of them where there are few. */
static double last_share(const ft__op_kernel *p, const ft__hardware_spec *chip,
                         const double *c)
{
    if (!p->last || !chip->gpu || chip->tensor)
        return 1;
    return fmin(p->in, p->out) < c[FT__C_tensor_channels] ? c[FT__C_last_few]
                                                          : c[FT__C_last_share];
}

/* Of the passes that lay channels last and back, with 16 bits: some kernels take
 * channels first. Half of timm's networks on an RTX 3090 in mixed precision. */
static const double RELAID_HALVES = 0.4;

/* Fewest results of a tile of convolutions in three dimensions on tensor cores. */
static const double VOLUME_CHANNELS = 64;

static uint32_t convolution(ft__algorithm *out, const ft__op_kernel *p,
                            const ft__hardware_spec *chip, const double *c)
{
    const int tensor = is_tensor(p, chip, c);
    /* Tensor cores work channels-last: one pass there, one back. */
    const double relaid = !tensor ? 0 : p->relaid * (p->size > 2 ? 1 : RELAID_HALVES);
    const double own =
        (chip->tensor && !tensor ? chip->vector_share : 1) * last_share(p, chip, c);
    const double share = own * direction(p, c);
    const double product = own * implicit_share(p, chip, tensor, c);
    uint32_t n = 0;

    out[n] = (ft__algorithm){
        .op_kernel = *p, .share = direction(p, c) * product, .added = relaid};
    if (tensor && p->volume)
        out[n].op_kernel.n = fmax(p->n, VOLUME_CHANNELS);
    n++;
    if (p->columns > 0) {
        out[n] = by_columns(p, chip, tensor, product);
        out[n++].added += relaid;
    }
    if (relaid > 0 && p->size > 2 && p->kernel == 1 && p->gradient != FT_WRT_WEIGHTS)
        out[n++] = by_image(p, share * c[FT__C_image_share]);
    return tensor || !chip->gpu ? n : n + fast(out + n, p, share, c);
}

/* One channel a group: every value is read for few operations. A thread finds its place
 * by divisions first; in a gradient of weights it does for every term. */
static void direct_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    const double *c = pace->c;
    double each = 1 / (direction(p, c) * c[FT__C_direct_share]), work;

    if (pace->chip->gpu && p->gradient == FT_WRT_WEIGHTS)
        each = fmax(each, c[FT__C_direct_sum]);
    work = p->flops * each;
    if (pace->chip->gpu)
        work += 2 * p->places * c[FT__C_direct_place];
    out->compute_s = work / (pace->chip->vector_flops * out->sustained);
    out->memory_s = moved_s(p, 0, pace);
    out->busy_s = fmax(out->compute_s, out->memory_s);
    out->waves = 1;
}

/* ---- the fastest algorithm ---- */

/* Those of a product or convolution, the plainest first. */
static uint32_t algorithms(ft__algorithm out[MAX_ALGORITHMS], const ft__op_kernel *p,
                           const ft__hardware_spec *chip, const double *c)
{
    if (p->what == FT__OP_KERNEL_CONV)
        return convolution(out, p, chip, c);
    out[0] = (ft__algorithm){.op_kernel = *p,
                             .share = library_share(p, chip, c),
                             .tensor = tensor_serves(p, chip)};
    return 1;
}

/* The fastest of them: all of *out but its launches. */
static void fastest(ft__terms *out, const ft__algorithm *a, uint32_t n,
                    const ft__pace *pace)
{
    ft__terms best = {.busy_s = INFINITY};

    for (uint32_t i = 0; i < n; i++) {
        ft__terms t = *out;

        if (a[i].tensor)
            tensor_cost(&t, &a[i], pace);
        else
            product_cost(&t, &a[i], pace);
        if (a[i].added > 0) {
            double s =
                cached_s(a[i].added, pace) + a[i].starts * pace->c[FT__C_kernel_s];

            t.memory_s += s;
            t.busy_s += s;
        }
        if (i == 0 || t.busy_s < best.busy_s)
            best = t;
    }
    *out = best;
}

static bool find_ways(ft__algorithm *a, const ft__pace *pace, ft__arena *arena)
{
    struct tiling way[MAX_WAYS], *own;

    if (!pace->chip->gpu)
        return true;
    a->n_ways = a->tensor ? tensor_ways(way, a, pace) : product_ways(way, a, pace);
    own = ft__arena_array(arena, a->n_ways, sizeof(*own));
    if (own)
        memcpy(own, way, a->n_ways * sizeof(*own));
    a->way = own;
    return own != NULL;
}

bool ft__algorithms_make(const ft__algorithm **out, uint32_t *n, const ft__op_kernel *p,
                         const ft__pace *pace, ft__arena *arena)
{
    ft__algorithm found[MAX_ALGORITHMS], *own;
    bool good = true;

    *n = p->what < FT__OP_KERNEL_DIRECT ? algorithms(found, p, pace->chip, pace->c) : 0;
    for (uint32_t i = 0; i < *n && good; i++)
        good = find_ways(&found[i], pace, arena);
    own = ft__arena_array(arena, *n + 1, sizeof(*own));
    if (own)
        memcpy(own, found, *n * sizeof(*own));
    *out = own;
    return good && own;
}

void ft__op_kernel_cost(ft__terms *out, const ft__op_kernel *p,
                        const ft__algorithm *known, uint32_t n, const ft__pace *pace)
{
    ft__algorithm found[MAX_ALGORITHMS];

    if (p->what > FT__OP_KERNEL_DIRECT)
        stream_cost(out, p, pace);
    else if (p->what == FT__OP_KERNEL_DIRECT)
        direct_cost(out, p, pace);
    else if (known)
        fastest(out, known, n, pace);
    else
        fastest(out, found, algorithms(found, p, pace->chip, pace->c), pace);
}
