/* Readings -> figures: value, error, MAD, mean and standard deviation, outliers marked
 * (docs/measuring.md has the formulae). */
#include "measure/readings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "measure/measure_inside.h"

/* A batch further from its round's median than this many sigma is marked. */
#define OUTLIER_SIGMA 5.0
/* Batches agree better than clocks can tell: scatter is taken to be at least this. */
#define LEAST_SCATTER 1e-3

double ft__reading_per_iteration(const ft_reading *r)
{
    return r->value / (double)r->iterations;
}

size_t ft__round_end(const ft_reading *r, size_t n, size_t from)
{
    size_t to = from;

    while (to < n && r[to].round == r[from].round)
        to++;
    return to;
}

/* away[i]: how far reading i is from its round's median, relative. */
static void find_away(double *away, const ft_reading *r, size_t n, double *scratch)
{
    for (size_t from = 0, to; from < n; from = to) {
        double centre;

        to = ft__round_end(r, n, from);
        for (size_t i = from; i < to; i++)
            scratch[i - from] = ft__reading_per_iteration(&r[i]);
        centre = ft__median(scratch, to - from);
        for (size_t i = from; i < to; i++)
            away[i] = ft__reading_per_iteration(&r[i]) / centre - 1;
    }
}

ft_status ft__mark_outliers(uint32_t *marked, ft_reading *r, size_t n, ft_error *err)
{
    double *away = calloc(2 * n + 1, sizeof(*away)), *scratch, sigma;

    *marked = 0;
    if (!away)
        return ft_fail(err, FT_ENOMEM, 0, "%zu readings", n);
    scratch = away + n;
    find_away(away, r, n, scratch);
    memcpy(scratch, away, n * sizeof(*away));
    /* Of all rounds together: one alone may have few batches. */
    sigma = fmax(ft__mad(scratch, n, 0), LEAST_SCATTER);
    for (size_t i = 0; i < n; i++) {
        bool far = fabs(away[i]) > OUTLIER_SIGMA * sigma;

        r[i].marks &= ~(uint32_t)FT_READING_OUTLIER;
        r[i].marks |= far ? FT_READING_OUTLIER : 0;
        *marked += far;
    }
    free(away);
    return FT_OK;
}

uint32_t ft__disturbed_mask(const ft_reading *r, size_t n)
{
    enum { LEAST_ROUNDS = 3 };
    uint32_t rounds = 0;

    for (size_t i = 0; i < n; i++)
        if (!(r[i].marks & FT_READING_DISTURBED) &&
            (i == 0 || r[i].round != r[i - 1].round))
            rounds++;
    return rounds >= LEAST_ROUNDS ? FT_READING_DISTURBED : 0;
}

/* Other processes make things slower, never faster: what lies further than this above
 * the lower quartile is taken to be disturbed. Sigma is estimated from the lower
 * quartile and what lies below it, and is at least a share of the lower quartile
 * (docs/notes/noise.md). Where nothing disturbs, all of it counts. */
static const double disturbed_sigma = 5, least_sigma = 0.01, least_of_rounds = 0.02;
/* Standard normal: lower quartile minus 5 % quantile. */
static const double quartile_to_tail = 0.970;

/* Median of those of n values that were not disturbed; sorts v and pulls those that
 * were down to the limit, so that an error made of v knows of them. */
static double undisturbed(double *v, size_t n, double least)
{
    double low, limit, centre;
    size_t kept = n;

    ft__sort(v, n);
    low = ft__quantile(v, n, 0.25);
    limit = low +
            disturbed_sigma *
                fmax((low - ft__quantile(v, n, 0.05)) / quartile_to_tail, least * low);
    while (kept > 1 && v[kept - 1] > limit)
        kept--;
    centre = ft__quantile(v, kept, 0.5);
    for (size_t i = kept; i < n; i++)
        v[i] = limit;
    return centre;
}

/* Fewer batches do not tell which of them were disturbed; other rounds do. */
enum { LEAST_TELLING = 4 };

double ft__round_value(double *error, double *v, size_t n)
{
    double centre =
        n < LEAST_TELLING ? ft__median(v, n) : undisturbed(v, n, least_sigma);

    *error = ft__mad(v, n, centre) / centre * sqrt(1.5707963267948966 / (double)n);
    return centre;
}

double ft__usual_error(double *error, size_t n)
{
    ft__sort(error, n);
    return ft__quantile(error, n, 0.25);
}

double ft__rounds_value(double *v, double *error, size_t n)
{
    return undisturbed(v, n, fmax(least_of_rounds, ft__usual_error(error, n)));
}

struct sums {
    double *batch; /* of rounds that count */
    double *round; /* medians of what was not disturbed in them */
    double *error; /* of these, relative */
    double *scratch;
    size_t n_batches;
    size_t n_rounds;
};

static void gather(struct sums *s, ft_measurement *out, const ft_reading *r, size_t n)
{
    uint32_t skip = ft__disturbed_mask(r, n);

    for (size_t from = 0, to; from < n; from = to) {
        size_t before = s->n_batches, taken;

        to = ft__round_end(r, n, from);
        for (size_t i = from; i < to; i++) {
            out->iterations += r[i].iterations;
            if (!(r[i].marks & skip))
                s->batch[s->n_batches++] = ft__reading_per_iteration(&r[i]);
        }
        taken = s->n_batches - before;
        memcpy(s->scratch, s->batch + before, taken * sizeof(*s->batch));
        if (taken) {
            s->round[s->n_rounds] =
                ft__round_value(&s->error[s->n_rounds], s->scratch, taken);
            s->n_rounds++;
        }
    }
}

ft_measurement ft__measurement_unknown(const char *unit)
{
    return (ft_measurement){.unit = unit,
                            .value = NAN,
                            .error = NAN,
                            .mad = NAN,
                            .mean = NAN,
                            .std = NAN,
                            .calibration_s = NAN};
}

ft_status ft__measurement_of_times(ft_measurement *out, const ft_reading *r, size_t n,
                                   ft_error *err)
{
    double *room = calloc(4 * n + 4, sizeof(*room)), spread;
    struct sums s = {.batch = room};

    *out = (ft_measurement){.unit = "s", .n = n, .calibration_s = NAN};
    if (!room)
        return ft_fail(err, FT_ENOMEM, 0, "%zu readings", n);
    s.round = s.batch + n + 1;
    s.error = s.round + n + 1;
    s.scratch = s.error + n + 1;
    gather(&s, out, r, n);
    out->mean = ft__mean(s.batch, s.n_batches);
    out->std = ft__std(s.batch, s.n_batches);
    out->value = n ? ft__rounds_value(s.round, s.error, s.n_rounds) : (double)NAN;
    out->error = ft__median_error(s.round, s.n_rounds, out->value);
    spread = ft__median(s.batch, s.n_batches);
    out->mad = ft__mad(s.batch, s.n_batches, spread);
    /* One round alone: standard error of a median of normal values. */
    if (isnan(out->error) && n)
        out->error = out->mad * sqrt(1.5707963267948966 / (double)s.n_batches);
    free(room);
    return FT_OK;
}

ft_status ft_measurement_of_times(ft_measurement *out, ft_reading *r, size_t n,
                                  ft_error *err)
{
    uint32_t outliers;
    ft_status st;

    if (!n)
        return ft_fail(err, FT_EINVAL, 0, "no times: give at least one");
    for (size_t i = 0; i < n; i++)
        if (!(r[i].value > 0) || isinf(r[i].value) || !r[i].iterations)
            return ft_fail(err, FT_EINVAL, 0,
                           "time %zu is %g s of %llu iterations: both are above 0", i,
                           r[i].value, (unsigned long long)r[i].iterations);
    st = ft__mark_outliers(&outliers, r, n, err);
    return st ? st : ft__measurement_of_times(out, r, n, err);
}
