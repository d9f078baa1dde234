/* How much of what all kinds have in common a kind with few rows is predicted by. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "learn/learn_inside.h"
#include "predict/model/model_set.h"

/* Few rows do not tell which share is best: as many more count as if it were half. */
enum { ROWS_FOR_HALF = 20 };

static double mixed(double own, double pooled, uint32_t share)
{
    return own + (pooled - own) * share / FT__POOLED_SHARES;
}

/* The share of least mean relative error. */
static uint32_t best_share(const double *own, const double *pooled, const double *y,
                           size_t n)
{
    double least = INFINITY;
    uint32_t best = 0;

    for (uint32_t share = 0; share <= FT__POOLED_SHARES; share++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += fabs(exp(mixed(own[i], pooled[i], share) - y[i]) - 1);
        if (sum < least) {
            least = sum;
            best = share;
        }
    }
    return best;
}

uint32_t ft__pooled_share(double *own, const double *pooled, const double *y, size_t n)
{
    const double half = FT__POOLED_SHARES / 2.0, rows = (double)n;
    const double share = (rows * best_share(own, pooled, y, n) + ROWS_FOR_HALF * half) /
                         (rows + ROWS_FOR_HALF);
    const uint32_t tenths = (uint32_t)lround(share);

    for (size_t i = 0; i < n; i++)
        own[i] = mixed(own[i], pooled[i], tenths);
    return tenths;
}

static void say_share(ft__fit *f, uint32_t share)
{
    size_t len = strlen(f->choice);

    snprintf(f->choice + len, sizeof(f->choice) - len, ", 0.%u of all kinds", share);
    if (share == FT__POOLED_SHARES)
        snprintf(f->choice, sizeof(f->choice), "as all kinds");
}

ft_status ft__pooled_recalibrate(ft__fit *f, uint32_t share, const double *predicted,
                                 const double *y, const double *residual_scale,
                                 size_t n, ft_error *err)
{
    double *residual = malloc((n + 1) * sizeof(*residual));
    ft_status st;

    if (!residual)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    for (size_t i = 0; i < n; i++)
        residual[i] = (y[i] - predicted[i]) / residual_scale[i];
    st = ft__conformal(&f->low, &f->high, residual, n, FT__COVERAGE, err);
    free(residual);
    say_share(f, share);
    return st;
}
