/* Matrix products and convolutions: tiles dealt to cores in waves. */
#include <math.h>

#include "predict/passes.h"

/* Tiles of the result that a core works on at a time; halved: 128 x 128 by 2^halved. */
static const struct tile {
    double m, n;
    int halved;
} tiles[] = {{128, 128, 0}, {128, 64, 1}, {64, 128, 1}, {64, 64, 2},
             {128, 32, 2},  {32, 128, 2}, {32, 32, 4}};
enum { N_TILES = sizeof(tiles) / sizeof(*tiles), N_HALVED = 5, MOST_SPLIT = 256 };

struct machine {
    const ft__chip *chip;
    const ft__theta *theta;
    double share[N_HALVED]; /* of the rate that tiles of a size reach */
    double rate;            /* FLOP/s */
    double core_cache;      /* B/s of one core from the last-level cache */
};

struct plan {
    double compute_s, cache_s, waves, total_s;
};

/* One way of cutting the product: k in `split` parts, added up afterwards. */
static struct plan cut(const ft__pass *p, const struct tile *t, double split,
                       const struct machine *m)
{
    const double *c = m->theta->v;
    double cores = m->chip->cores;
    double blocks = ceil(p->m / t->m) * ceil(p->n / t->n) * p->batch * split;
    double depth = ceil(p->k / split / 8) * 8, whole;
    struct plan plan = {.waves = blocks / cores};

    whole = ceil(plan.waves);
    plan.compute_s = (whole + c[FT__C_wave_tail]) * t->m * t->n * 2 *
                     (depth + c[FT__C_depth_start]) * cores /
                     (m->rate * m->share[t->halved]);
    if (m->core_cache > 0)
        plan.cache_s = blocks * (t->m + t->n) * depth * p->size /
                       (m->core_cache * fmin(cores, blocks));
    plan.total_s = fmax(plan.compute_s, plan.cache_s);
    if (split > 1) {
        double extra = 2 * split * p->m * p->n * p->batch * 4 * c[FT__C_split_cost];

        plan.total_s +=
            ft__cached_s(extra, extra, m->chip, m->theta) + c[FT__C_kernel_s];
    }
    return plan;
}

static struct plan best_cut(const ft__pass *p, const struct machine *m)
{
    struct plan best = {.total_s = INFINITY};

    for (int i = 0; i < N_TILES; i++)
        for (int split = 1; split <= MOST_SPLIT; split *= 2) {
            struct plan plan;

            if (split > 1 && (p->k / split < 64 || best.waves > 2))
                break;
            plan = cut(p, &tiles[i], split, m);
            if (plan.total_s < best.total_s)
                best = plan;
        }
    return best;
}

void ft__product_cut(ft__terms *out, const ft__pass *p, double share,
                     const ft__chip *chip, const ft__theta *theta)
{
    const double *c = theta->v;
    double half = exp2(-c[FT__C_tile_slope]), bytes = p->read + p->written;
    struct machine m = {.chip = chip,
                        .theta = theta,
                        .rate = chip->peak_flops * out->sustained * share,
                        .core_cache = chip->clock_hz * c[FT__C_cache_width]};
    struct plan plan;

    m.share[0] = c[FT__C_tile_share];
    for (int i = 1; i < N_HALVED; i++)
        m.share[i] = m.share[i - 1] * half;
    plan = best_cut(p, &m);
    out->compute_s = plan.compute_s;
    out->cache_s = plan.cache_s;
    out->memory_s = ft__cached_s(bytes, bytes, chip, theta);
    out->waves = plan.waves;
    out->fill = plan.waves / ceil(plan.waves);
    out->busy_s = fmax(plan.total_s, out->memory_s);
}

void ft__product_price(ft__terms *out, const ft__pass *p, const ft__chip *chip,
                       const ft__theta *theta)
{
    if (ft__tensor_serves(p, chip))
        ft__tensor_price(out, p, chip, theta);
    else
        ft__product_cut(out, p, 1, chip, theta);
}
