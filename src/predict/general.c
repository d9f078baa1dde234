#include "predict/general.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A share has to better the kind's own regressor by so much to be no accident. */
static const double worth_sharing = 0.01;

static double mixed(double own, double general, uint32_t share)
{
    return own + (general - own) * share / FT__GENERAL_SHARES;
}

uint32_t ft__general_share(double *own, const double *general, const double *y,
                           size_t n)
{
    double least = INFINITY, alone = 0;
    uint32_t best = 0;

    for (uint32_t share = 0; share <= FT__GENERAL_SHARES; share++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += fabs(y[i] - mixed(own[i], general[i], share));
        alone = share ? alone : sum;
        if (sum < least) {
            least = sum;
            best = share;
        }
    }
    if (!(least < (1 - worth_sharing) * alone))
        return 0;
    for (size_t i = 0; i < n; i++)
        own[i] = mixed(own[i], general[i], best);
    return best;
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
    double *stray = malloc((n + 1) * sizeof(*stray));
    ft_status st;

    if (!stray)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    for (size_t i = 0; i < n; i++)
        stray[i] = (y[i] - said[i]) / spread[i];
    st = ft_conformal(&f->low, &f->high, stray, n, 0.9, err);
    free(stray);
    say_share(f, share);
    return st;
}
