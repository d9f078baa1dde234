/* Matrix products of 16-bit and narrower numbers on tensor cores. */
#include <math.h>

#include "physics/op_kernel_cost.h"

/* Products on tensor cores of numbers of 16 bits at most. */
int ft__tensor_serves(const ft__op_kernel *p, const ft__hardware_spec *chip)
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
    return p->packed_last
               ? fmin(t->m, ft__up(p->m / FT__TENSOR_ROWS) * FT__TENSOR_ROWS) * t->n
               : t->m * fmin(t->n, ft__up(p->n / FT__TENSOR_ROWS) * FT__TENSOR_ROWS);
}

/* Of the last wave what others fill, as a core holds several tiles at once. Those of
 * 128 x 128 and more leave no room for that on NVIDIA's until Hopper, whose kernels
 * load the next tile and store the last one meanwhile. Capability 12 has instructions
 * of sm_80 alone (mma and cp.async, no wgmma: pytorch/pytorch 155991). */
static double filled(const struct tensor_tile *t, const ft__pace *pace)
{
    const bool full = t->halved <= 1 && pace->chip->volta && !pace->chip->hopper;

    return full ? 0 : pace->c[FT__C_tensor_even];
}

/* One tile after the other on every core, k in one part and in more. */
static uint32_t tensor_ways_of(struct tiling *out, const ft__op_kernel *p,
                               const struct tensor_tile *t, const ft__pace *pace)
{
    const double cores = pace->chip->cores, even = filled(t, pace);
    const double tiles = ft__up(p->m / t->m) * ft__up(p->n / t->n) * p->batch;
    const double area = tile_area(p, t);
    const double drawn = ft__drawn_b(p, fmin(t->m, p->m), fmin(t->n, p->n));
    uint32_t n = 0;

    for (uint32_t split = 1; split <= TENSOR_MOST_SPLIT; split *= 2) {
        const double depth = p->k / split, blocks = tiles * split, all = blocks / cores;
        const double waves = all < 1 ? 1 : ft__up(all) * (1 - even) + all * even;

        if (split > 1 && depth < TENSOR_LEAST_DEPTH)
            break;
        out[n++] = (struct tiling){
            .work = waves * area * 2 * (depth + pace->c[FT__C_tensor_start]),
            .drawn = blocks * drawn * depth,
            .cores = fmin(blocks, cores),
            .extra = split > 1 ? (double)(2 * split) * p->batch * p->m * p->n * 4 : 0,
            .waves = all,
            .halved = t->halved,
            .split = split};
    }
    return n;
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
        n += tensor_ways_of(out + n, p, &tensor_tiles[i], pace);
    return n;
}

/* Times tensor_share, where tensor cores are held to half of what a core feeds, or
 * less: they wait for operands less. Of the peak 0.96 in an H20's published products of
 * 10240 and 0.95 in an L20's of 4096 and 8192, the best of each; no budget binds. */
static const double HALVED = 1.065;

static double tensor_share(const ft__pace *pace)
{
    return pace->c[FT__C_tensor_share] * (pace->chip->halved ? HALVED : 1);
}

static struct tensor_machine machine_of(const ft__pace *pace, double share)
{
    struct tensor_machine m = {.c = pace->c,
                               .cores = pace->chip->cores,
                               .core_cache =
                                   pace->chip->clock_hz * pace->c[FT__C_tensor_cache]};

    m.core_rate[0] =
        pace->chip->peak_flops / pace->chip->cores * tensor_share(pace) * share;
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

    return (a->split == 1 || b->split > 1) &&
           pa.compute_s * FT__SURELY <= pb.compute_s &&
           pa.cache_s * FT__SURELY <= fmax(pb.compute_s, pb.cache_s) &&
           (pa.split_s - (a->split > 1 ? start : 0)) * FT__SURELY <=
               pb.split_s - (b->split > 1 ? start : 0);
}

uint32_t ft__tensor_ways(struct tiling out[MAX_WAYS], const ft__algorithm *a,
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

/* Tiles that are not full: the rest of what tensor cores do is with zeros, and draws
 * this share. Decided on products of up to 32 rows on an H200. */
static const double ZEROS = 0.2;

/* useful_s: of what is asked for. */
double ft__tensor_drawing_s(double useful_s, const ft__terms *t)
{
    const double all = t->fill * t->compute_s;

    return useful_s < all ? useful_s + ZEROS * (all - useful_s) : all;
}

/* The budget binds where tensor cores draw all the time, as in large products; where
 * they draw for a part of it, the clock falls by less. Decided on an H200. */
static const double DRAWING_ALL = 0.8;

double ft__freed(double sustained, double drawing)
{
    return fmax(sustained, sqrt(fmin(1, drawing / DRAWING_ALL)));
}

/* Of the bandwidth. Other memory than HBM does not pass the data sheet's by its ratio.
 */
static double memory_share(const ft__hardware_spec *chip, const double *c)
{
    const double hbm = c[FT__C_tensor_memory];

    return fmin(fmax(1, hbm), hbm * ft__stream_ratio(chip));
}

void ft__tensor_cost(ft__terms *out, const ft__algorithm *a, const ft__pace *pace)
{
    const double *c = pace->c;
    double bytes = a->op_kernel.read + a->op_kernel.written;
    const struct tensor_machine m = machine_of(pace, pace->tensor_sustained * a->share);
    struct tiling all[MAX_WAYS];
    uint32_t n = a->way ? a->n_ways : all_ways(all, &a->op_kernel, pace);
    struct tensor_plan plan = tensor_best_of(a->way ? a->way : all, n, &m);

    out->sustained = tensor_share(pace) * pace->tensor_sustained;
    out->compute_s = plan.compute_s;
    out->cache_s = plan.cache_s;
    out->memory_s = bytes / (pace->chip->bandwidth * memory_share(pace->chip, c));
    out->waves = plan.waves;
    out->fill = plan.waves / ceil(plan.waves);
    out->drawing_s =
        ft__tensor_drawing_s(2 * a->op_kernel.batch * a->op_kernel.m * a->op_kernel.n *
                                 a->op_kernel.k / (m.core_rate[0] * m.cores),
                             out);
    out->busy_s = blended_three(out->compute_s, out->cache_s, out->memory_s,
                                c[FT__C_tensor_blend]);
    out->compute_s *= ft__freed(pace->tensor_sustained, out->drawing_s / out->busy_s);
    out->busy_s = blended_three(out->compute_s, out->cache_s, out->memory_s,
                                c[FT__C_tensor_blend]) +
                  plan.split_s;
}
