#include "predict/model/pooled.h"

#include "learn/learn_inside.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Few rows do not tell which share is best: as many more count as if it were half. */
enum { ROWS_FOR_HALF = 20 };

static double mixed(double own, double general, uint32_t share)
{
    return own + (general - own) * share / FT__GENERAL_SHARES;
}

/* The share of least mean relative error. */
static uint32_t best_share(const double *own, const double *general, const double *y,
                           size_t n)
{
    double least = INFINITY;
    uint32_t best = 0;

    for (uint32_t share = 0; share <= FT__GENERAL_SHARES; share++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += fabs(exp(mixed(own[i], general[i], share) - y[i]) - 1);
        if (sum < least) {
            least = sum;
            best = share;
        }
    }
    return best;
}

uint32_t ft__general_share(double *own, const double *general, const double *y,
                           size_t n)
{
    const double half = FT__GENERAL_SHARES / 2.0, rows = (double)n;
    const double share =
        (rows * best_share(own, general, y, n) + ROWS_FOR_HALF * half) /
        (rows + ROWS_FOR_HALF);
    const uint32_t tenths = (uint32_t)lround(share);

    for (size_t i = 0; i < n; i++)
        own[i] = mixed(own[i], general[i], tenths);
    return tenths;
}

static void say_share(ft__fit *f, uint32_t share)
{
    size_t len = strlen(f->choice);

    snprintf(f->choice + len, sizeof(f->choice) - len, ", 0.%u of all kinds", share);
    if (share == FT__GENERAL_SHARES)
        snprintf(f->choice, sizeof(f->choice), "as all kinds");
}

ft_status ft__general_retail(ft__fit *f, uint32_t share, const double *said,
                             const double *y, const double *spread, size_t n,
                             ft_error *err)
{
    double *residual = malloc((n + 1) * sizeof(*residual));
    ft_status st;

    if (!residual)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    for (size_t i = 0; i < n; i++)
        residual[i] = (y[i] - said[i]) / spread[i];
    st = ft__conformal(&f->low, &f->high, residual, n, 0.9, err);
    free(residual);
    say_share(f, share);
    return st;
}
