/* Products of 16-bit and narrower numbers on tensor cores. */
#include <math.h>

#include "predict/passes.h"

/* Tiles that libraries deal to cores; halved: 128 x 256 by 2^halved. */
static const struct tile {
    double m, n;
    int halved;
} tiles[] = {{128, 256, 0}, {256, 128, 0}, {128, 128, 1}, {64, 256, 1}, {256, 64, 1},
             {64, 128, 2},  {128, 64, 2},  {64, 64, 3},   {64, 32, 4},  {32, 64, 4}};
enum { N_TILES = sizeof(tiles) / sizeof(*tiles), N_HALVED = 5, MOST_SPLIT = 32 };
static const double LEAST_DEPTH = 128; /* of a part, where k is split */

struct machine {
    const double *c;
    double cores;
    double core_rate[N_HALVED]; /* FLOP/s of one core on tiles of a size */
    double core_cache;          /* B/s of one core from the last-level cache */
};

struct plan {
    double compute_s, cache_s, split_s, waves, total_s;
};

/* One tile after the other on every core; a core holds several at once, so that the
 * last wave is not all lost. */
static struct plan cut(const ft__pass *p, const struct tile *t, double split,
                       const struct machine *m)
{
    const double *c = m->c;
    double depth = p->k / split;
    double blocks = ceil(p->m / t->m) * ceil(p->n / t->n) * p->batch * split;
    double drawn = blocks * (fmin(t->m, p->m) + fmin(t->n, p->n)) * depth * p->size;
    struct plan plan = {.waves = blocks / m->cores};
    double even = c[FT__C_tensor_even];
    double waves =
        plan.waves < 1 ? 1 : ceil(plan.waves) * (1 - even) + plan.waves * even;

    plan.compute_s = waves * t->m * t->n * 2 * (depth + c[FT__C_tensor_start]) /
                     m->core_rate[t->halved];
    plan.cache_s = drawn / (m->core_cache * fmin(blocks, m->cores));
    if (split > 1)
        plan.split_s = c[FT__C_tensor_split_s] + 2 * split * p->batch * p->m * p->n *
                                                     4 / (m->core_cache * m->cores);
    plan.total_s = fmax(plan.compute_s, plan.cache_s) + plan.split_s;
    return plan;
}

static struct plan best_cut(const ft__pass *p, const struct machine *m)
{
    struct plan best = {.total_s = INFINITY};

    for (int i = 0; i < N_TILES; i++)
        for (int split = 1; split <= MOST_SPLIT; split *= 2) {
            struct plan plan;

            if (split > 1 && p->k / split < LEAST_DEPTH)
                break;
            plan = cut(p, &tiles[i], split, m);
            if (plan.total_s < best.total_s)
                best = plan;
        }
    return best;
}

int ft__tensor_serves(const ft__pass *p, const ft__chip *chip)
{
    return chip->tensor && p->size <= 2 && chip->clock_hz > 0;
}

/* Three resources that work at the same time: a power mean, for none hides the others
 * wholly where they are of one size. */
static double blended(double a, double b, double c, double power)
{
    double most = fmax(fmax(a, b), c);

    if (!(most > 0))
        return 0;
    return most *
           pow(pow(a / most, power) + pow(b / most, power) + pow(c / most, power),
               1 / power);
}

void ft__tensor_price(ft__terms *out, const ft__pass *p, const ft__chip *chip,
                      const ft__theta *theta)
{
    const double *c = theta->v;
    double half = exp2(-c[FT__C_tensor_slope]), bytes = p->read + p->written;
    struct machine m = {.c = c,
                        .cores = chip->cores,
                        .core_cache = chip->clock_hz * c[FT__C_tensor_cache]};
    struct plan plan;

    m.core_rate[0] = chip->peak_flops / chip->cores * c[FT__C_tensor_share];
    for (int i = 1; i < N_HALVED; i++)
        m.core_rate[i] = m.core_rate[i - 1] * half;
    plan = best_cut(p, &m);
    out->sustained = c[FT__C_tensor_share];
    out->compute_s = plan.compute_s;
    out->cache_s = plan.cache_s;
    out->memory_s = bytes / (chip->bandwidth * c[FT__C_tensor_memory]);
    out->waves = plan.waves;
    out->fill = plan.waves / ceil(plan.waves);
    out->busy_s =
        blended(out->compute_s, out->cache_s, out->memory_s, c[FT__C_tensor_blend]) +
        plan.split_s;
}
