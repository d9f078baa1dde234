/* The expected gain over a front, of objectives that are normal. */
#include "explore/search/gain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explore/search/search.h"

enum { DRAWS = 32 }; /* more than two objectives */

double ft__chance_below(double t, double mean, double sigma)
{
    if (!(sigma > 0))
        return t >= mean;
    return 0.5 * erfc((mean - t) / sigma * 0.70710678118654752);
}

/* sigma (z Phi(z) + phi(z)), z = (t - mean) / sigma; beyond 6 sigmas it is 0, or the
 * difference itself, to more digits than a search has a use for. */
double ft__mean_below(double t, double mean, double sigma)
{
    const double z = (t - mean) / sigma;

    if (!(sigma > 0) || fabs(z) > 6)
        return fmax(0, t - mean);
    return sigma * (0.5 * z * erfc(-z * 0.70710678118654752) +
                    0.39894228040143268 * exp(-0.5 * z * z));
}

ft_status ft__gain_start(ft__gain *g, const double *y, size_t n, size_t m,
                         ft_error *err)
{
    double reference[FT__MAX_OBJECTIVES];
    unsigned char *on = malloc(n + 1);
    ft_status st = FT_OK;

    g->m = m;
    g->n = 0;
    g->y = malloc((n + 1) * m * sizeof(*g->y));
    g->room = malloc((n + 1) * m * sizeof(*g->room));
    for (size_t k = 0; k < m; k++)
        reference[k] = 1;
    if (!on || !g->y || !g->room)
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for a front of %zu rows", n);
    if (!st)
        st = ft_pareto(on, y, n, m, err);
    for (size_t i = 0; i < n && !st; i++) {
        bool below = on[i];

        for (size_t k = 0; k < m && below; k++)
            below = y[i * m + k] < 1;
        if (below)
            memcpy(g->y + g->n++ * m, y + i * m, m * sizeof(*y));
    }
    free(on);
    if (st)
        return st;
    qsort(g->y, g->n, m * sizeof(*g->y), ft__by_first);
    return ft_hypervolume(&g->volume, g->y, g->n, m, reference, err);
}

void ft__gain_free(ft__gain *g)
{
    free(g->y);
    free(g->room);
    *g = (ft__gain){0};
}

/* Between the first objectives of two neighbours of the front, whatever has a second
 * one below that of the left neighbour is new. */
static double strips(const ft__gain *g, const double *mean, const double *sigma)
{
    double sum = 0, height = 1, before = 0;

    for (size_t i = 0; i <= g->n; i++) {
        const double end = i < g->n ? g->y[2 * i] : 1;
        const double below = ft__mean_below(end, mean[0], sigma[0]);

        if (below > before)
            sum += (below - before) * ft__mean_below(height, mean[1], sigma[1]);
        before = below;
        height = i < g->n ? g->y[2 * i + 1] : 0;
    }
    return sum;
}

/* The box of a point less what the front has of it. */
static double gained(const ft__gain *g, const double *y)
{
    double reference[FT__MAX_OBJECTIVES], box = 1, known;

    for (size_t k = 0; k < g->m; k++) {
        reference[k] = 1;
        box *= fmax(0, 1 - y[k]);
    }
    if (box == 0)
        return 0;
    for (size_t i = 0; i < g->n; i++) {
        for (size_t k = 0; k < g->m; k++)
            g->room[i * g->m + k] = fmax(y[k], g->y[i * g->m + k]);
        if (ft__dominates(g->y + i * g->m, y, g->m))
            return 0;
    }
    if (ft_hypervolume(&known, g->room, g->n, g->m, reference, NULL))
        return 0;
    return fmax(0, box - known);
}

static double drawn(const ft__gain *g, const double *mean, const double *sigma,
                    ft__prng *rng)
{
    double sum = 0, y[FT__MAX_OBJECTIVES];

    for (int d = 0; d < DRAWS; d++) {
        for (size_t k = 0; k < g->m; k++) {
            const double r = sqrt(-2 * log(1 - ft__prng_unit(rng)));

            y[k] = mean[k] + sigma[k] * r * cos(6.283185307179586 * ft__prng_unit(rng));
        }
        sum += gained(g, y);
    }
    return sum / DRAWS;
}

double ft__gain_expected(const ft__gain *g, const double *mean, const double *sigma,
                         ft__prng *rng)
{
    if (g->m == 1)
        return ft__mean_below(g->n ? g->y[0] : 1, mean[0], sigma[0]);
    return g->m == 2 ? strips(g, mean, sigma) : drawn(g, mean, sigma, rng);
}
