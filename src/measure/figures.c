/* Readings -> value, error, MAD, mean and standard deviation, outliers marked
 * (docs/measuring.md has the formulae). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "measure/measure_inside.h"
#include "measure/rounds.h"

/* A batch further from its round's median than this many sigma is marked. */
#define OUTLIER_SIGMA 5.0
/* Batches agree better than clocks can tell: scatter is taken to be at least this. */
#define LEAST_SCATTER 1e-3

static double per_iteration(const ft_reading *r)
{
    return r->value / (double)r->iterations;
}

/* One past the round that begins at `from`: readings of a round lie together. */
static size_t round_end(const ft_reading *r, size_t n, size_t from)
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

        to = round_end(r, n, from);
        for (size_t i = from; i < to; i++)
            scratch[i - from] = per_iteration(&r[i]);
        centre = ft__median(scratch, to - from);
        for (size_t i = from; i < to; i++)
            away[i] = per_iteration(&r[i]) / centre - 1;
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

/* Whether a reading's round counts: those that were not disturbed, or all when
 * these are too few. */
static int disturbed_mask(const ft_reading *r, size_t n)
{
    enum { ENOUGH = 3 };
    uint32_t rounds = 0;

    for (size_t i = 0; i < n; i++)
        if (!(r[i].marks & FT_READING_DISTURBED) &&
            (i == 0 || r[i].round != r[i - 1].round))
            rounds++;
    return rounds >= ENOUGH ? FT_READING_DISTURBED : 0;
}

struct sums {
    double *batch; /* of rounds that count */
    double *round; /* their medians */
    size_t n_batches;
    size_t n_rounds;
};

static void gather(struct sums *s, ft_measurement *out, const ft_reading *r, size_t n)
{
    uint32_t skip = (uint32_t)disturbed_mask(r, n);

    for (size_t from = 0, to; from < n; from = to) {
        size_t before = s->n_batches;

        to = round_end(r, n, from);
        for (size_t i = from; i < to; i++) {
            out->iterations += r[i].iterations;
            if (!(r[i].marks & skip))
                s->batch[s->n_batches++] = per_iteration(&r[i]);
        }
        if (s->n_batches > before)
            s->round[s->n_rounds++] =
                ft__median(s->batch + before, s->n_batches - before);
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
    struct sums s = {.batch = calloc(2 * n + 2, sizeof(double)),
                     .round = calloc(2 * n + 2, sizeof(double))};
    double spread;

    *out = (ft_measurement){.unit = "s", .n = n, .calibration_s = NAN};
    if (!s.batch || !s.round) {
        free(s.batch);
        free(s.round);
        return ft_fail(err, FT_ENOMEM, 0, "%zu readings", n);
    }
    gather(&s, out, r, n);
    out->mean = ft__mean(s.batch, s.n_batches);
    out->std = ft__std(s.batch, s.n_batches);
    out->value = ft__median(s.round, s.n_rounds);
    out->error = ft__median_error(s.round, s.n_rounds, out->value);
    spread = ft__median(s.batch, s.n_batches);
    out->mad = ft__mad(s.batch, s.n_batches, spread);
    /* One round alone: standard error of a median of normal values. */
    if (isnan(out->error) && n)
        out->error = out->mad * sqrt(1.5707963267948966 / (double)s.n_batches);
    free(s.batch);
    free(s.round);
    return FT_OK;
}

static const ft__beside *beside_of(const ft__timed *t, uint32_t round)
{
    for (size_t i = 0; i < t->n_beside; i++)
        if (t->beside[i].round == round)
            return &t->beside[i];
    return NULL;
}

/* From here on what differs is not the scatter of stretches. */
static const double ratio_may_differ = 0.1;

/* What stands for the calibration `like` where these were measured beside: the one of
 * products in its usual ratio, which is the steadier one, unless the ratio is more than
 * a tenth away from that: then something slows the caches or memory alone. */
static double calibration_beside(const ft_session *s, const double *beside,
                                 uint32_t like)
{
    double usual = beside[FT__CALIBRATE_PRODUCTS] * s->usual_ratio[like];

    if (like == FT__CALIBRATE_PRODUCTS || isnan(usual) ||
        fabs(log(beside[like] / usual)) > ratio_may_differ)
        return beside[like];
    return usual;
}

/* What most interruptions leave alone, and yet no single lucky batch. */
static const double within_round = 0.25;

/* ratio[], beside[]: of each round that counts; how many. */
static size_t ratios_of(double *ratio, double *beside, const ft__timed *t,
                        double *scratch)
{
    const ft_reading *r = t->readings;
    uint32_t skip = (uint32_t)disturbed_mask(r, t->n);
    size_t n = 0;

    for (size_t from = 0, to; from < t->n; from = to) {
        const ft__beside *b = beside_of(t, r[from].round);
        double unit = b ? calibration_beside(t->job.session, b->s, t->like) : NAN;

        to = round_end(r, t->n, from);
        if (r[from].marks & skip || !(unit > 0))
            continue;
        for (size_t i = from; i < to; i++)
            scratch[i - from] = per_iteration(&r[i]);
        ft__sort(scratch, to - from);
        beside[n] = unit;
        ratio[n] = ft__quantile(scratch, to - from, within_round) / beside[n];
        n++;
    }
    return n;
}

/* m in units of the calibration in the same rounds, times what that took in the median:
 * what slows both down for a while does not count. m stays where no round has one
 * beside. */
static ft_status measurement_beside(ft_measurement *m, const ft__timed *t,
                                    ft_error *err)
{
    double *ratio = calloc(3 * t->n + 3, sizeof(*ratio)), *beside, *scratch, error;
    size_t n;

    if (!ratio)
        return ft_fail(err, FT_ENOMEM, 0, "%zu readings", t->n);
    beside = ratio + t->n + 1;
    scratch = beside + t->n + 1;
    n = ratios_of(ratio, beside, t, scratch);
    if (n) {
        double centre = ft__median(ratio, n), unit = ft__median(beside, n);

        error = ft__median_error(ratio, n, centre);
        m->value = centre * unit;
        m->calibration_s = unit;
        if (!isnan(error))
            m->error = error * unit;
    }
    free(ratio);
    return FT_OK;
}

ft_status ft__timing_take(ft_timing *out, ft__timed *t, ft_error *err)
{
    ft_status st = ft__mark_outliers(&out->outliers, t->readings, t->n, err);

    if (!st)
        st = ft__measurement_of_times(&out->time, t->readings, t->n, err);
    if (!st)
        st = measurement_beside(&out->time, t, err);
    if (!st && t->n_launches)
        st = ft__measurement_of_times(&out->launch, t->launches, t->n_launches, err);
    else
        out->launch = (ft_measurement){.unit = "s", .value = NAN, .error = NAN};
    if (st)
        return st;
    out->readings = t->readings;
    out->n_readings = t->n;
    out->launches = t->launches;
    out->conditions = t->seen;
    out->redone = t->redone;
    out->rounds = t->n_seen;
    out->calibration_s = out->time.calibration_s;
    t->readings = t->launches = NULL;
    return FT_OK;
}
