/* Fitting the constants of the physical estimate of kernels, and what hosts need for a
 * call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "learn/learn_inside.h"
#include "learn/numerics.h"
#include "physics/kernel.h"

static const double NUDGE = 1e-3;  /* of a logarithm, for derivatives */
static const double SMALL = 0.03;  /* errors below count squared */
static const double TYPICAL = 0.1; /* size of an error, to weigh the prior against */
static const double SPREAD = 0.7;  /* prior of a constant's logarithm */
enum { STEPS = 60, N = FT__N_KERNEL_CONSTANTS };

static const struct kernel_constant_range {
    double value, least, most;
} ranges[N] = {
#define FT__KERNEL_CONSTANT(name, value, least, most) {value, least, most},
#include "physics/kernel.def"
#undef FT__KERNEL_CONSTANT
};

struct kernel_samples {
    const ft__kernel_sample *v;
    size_t n;
};

static ft__kernel_params parameters_at(const double *x)
{
    ft__kernel_params t;

    for (int i = 0; i < N; i++)
        t.v[i] = fmin(fmax(exp(x[i]), ranges[i].least), ranges[i].most);
    return t;
}

static double loss(const struct kernel_samples *j, const double *x)
{
    ft__kernel_params params = parameters_at(x);
    double sum = 0;

    for (size_t i = 0; i < j->n; i++) {
        const ft__kernel_sample *s = &j->v[i];
        ft_kernel_terms t;
        double miss;

        ft__kernel_cost(&t, s->work, s->gpu, &params);
        miss = log(ft__kernel_time(&t, s->call_s, &params) / s->time_s);
        sum += (sqrt(miss * miss + SMALL * SMALL) - SMALL) / TYPICAL;
    }
    for (int i = 0; i < N; i++) {
        double away = (x[i] - log(ranges[i].value)) / SPREAD;

        sum += away * away / 2;
    }
    return sum;
}

static double slope(void *with, const double *x, double *gradient)
{
    double at = loss(with, x), neighbours[N];

    memcpy(neighbours, x, sizeof(neighbours));
    for (int i = 0; i < N; i++) {
        neighbours[i] = x[i] + NUDGE;
        gradient[i] = (loss(with, neighbours) - at) / NUDGE;
        neighbours[i] = x[i];
    }
    return at;
}

ft_status ft__kernel_fit(ft__kernel_params *out, const ft__kernel_sample *v, size_t n,
                         ft_error *err)
{
    struct kernel_samples job = {v, n};
    double x[N], least;
    ft_status st;

    for (int i = 0; i < N; i++)
        x[i] = log(ranges[i].value);
    st = ft__minimise(&least, x, N, STEPS, slope, &job, err);
    *out = parameters_at(x);
    return st;
}

/* ---- hosts ---- */

static double median_known(double *scratch, const double *v, size_t n)
{
    size_t known = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(v[i]))
            scratch[known++] = v[i];
    return ft__median(scratch, known);
}

/* Levels and parts in turn, each as medians of what the other leaves. */
static void part_from_level(ft__hosts *h, double *left, double *scratch)
{
    enum { ROUNDS = 10 };

    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t d = 0; d < h->n_devices; d++) {
            for (uint32_t c = 0; c < h->n_calls; c++)
                left[c] = h->known[d * h->n_calls + c] - h->part[c];
            h->level[d] = median_known(scratch, left, h->n_calls);
        }
        for (uint32_t c = 0; c < h->n_calls; c++) {
            double m;

            for (uint32_t d = 0; d < h->n_devices; d++)
                left[d] = h->known[d * h->n_calls + c] - h->level[d];
            m = median_known(scratch, left, h->n_devices);
            h->part[c] = isfinite(m) ? m : 0;
        }
    }
}

/* What levels usually are is estimated by a quantile of the known ones: that of a few
 * which tells each of them best from the others. Many machines have hosts alike and
 * some have slow ones, so it need not be the median. */
static double level_quantile(double *scratch, const double *level, uint32_t n,
                             uint32_t without, double quantile)
{
    size_t k = 0;

    for (uint32_t i = 0; i < n; i++)
        if (i != without && isfinite(level[i]))
            scratch[k++] = level[i];
    ft__sort(scratch, k);
    return ft__quantile(scratch, k, quantile);
}

static ft_status choose_usual(ft__hosts *h, double *scratch, ft_error *err)
{
    static const double quantiles[] = {0.5, 0.25, 0};
    double best = INFINITY, *miss = calloc(h->n_devices + 1u, sizeof(*miss));
    ft_status st = FT_OK;

    if (!miss)
        return ft_fail(err, FT_ENOMEM, 0, "%u devices", h->n_devices);
    for (size_t q = 0; q < 3; q++) {
        double error = 0;
        size_t n = 0;

        for (uint32_t d = 0; d < h->n_devices; d++) {
            double m = h->level[d] -
                       level_quantile(scratch, h->level, h->n_devices, d, quantiles[q]);

            if (!isfinite(m))
                continue;
            error += fabs(m);
            miss[n++] = m;
        }
        if (error >= best && q > 0)
            continue;
        best = error;
        h->usual =
            level_quantile(scratch, h->level, h->n_devices, UINT32_MAX, quantiles[q]);
        h->low = h->high = 0;
        if (n && !st)
            st = ft__conformal(&h->low, &h->high, miss, n, 0.9, err);
    }
    free(miss);
    return st;
}

/* How far off is a call of which nothing is known? */
static ft_status spread_parts(ft__hosts *h, ft_error *err)
{
    h->part_low = h->part_high = 0;
    return h->n_calls > 1 ? ft__conformal(&h->part_low, &h->part_high, h->part,
                                          h->n_calls, 0.9, err)
                          : FT_OK;
}

ft_status ft__hosts_make(ft__hosts *out, const double *known, uint32_t n_devices,
                         uint32_t n_calls, ft_error *err)
{
    size_t most = (n_devices > n_calls ? n_devices : n_calls) + 1u;
    double *left = malloc(most * sizeof(*left)),
           *scratch = malloc(most * sizeof(*left));
    ft_status st = FT_OK;

    *out =
        (ft__hosts){.n_devices = n_devices,
                    .n_calls = n_calls,
                    .known = malloc(((size_t)n_devices * n_calls + 1) * sizeof(double)),
                    .level = calloc(n_devices + 1u, sizeof(double)),
                    .part = calloc(n_calls + 1u, sizeof(double)),
                    .usual = NAN};
    if (!left || !scratch || !out->known || !out->level || !out->part)
        st = ft_fail(err, FT_ENOMEM, 0, "%u devices", n_devices);
    if (!st) {
        memcpy(out->known, known, (size_t)n_devices * n_calls * sizeof(*known));
        part_from_level(out, left, scratch);
        st = choose_usual(out, scratch, err);
    }
    if (!st)
        st = spread_parts(out, err);
    free(left);
    free(scratch);
    if (st)
        ft__hosts_free(out);
    return st;
}

void ft__hosts_free(ft__hosts *h)
{
    free(h->known);
    free(h->level);
    free(h->part);
    *h = (ft__hosts){0};
}
