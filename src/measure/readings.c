/* Readings -> figures: value, error, MAD, mean and standard deviation, outliers marked;
 * of what was measured in rotation relative to the calibration around each round, and
 * whether its rounds agree (docs/measuring.md has the formulae). */
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

/* The marks of readings that do not count: those of disturbed rounds, or none when too
 * few rounds were not disturbed. */
static uint32_t disturbed_mask(const ft_reading *r, size_t n)
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

/* Median of a round's n batches, v, less what was disturbed, and its relative standard
 * error by their scatter. The order of v changes. */
static double round_value(double *error, double *v, size_t n)
{
    double centre =
        n < LEAST_TELLING ? ft__median(v, n) : undisturbed(v, n, least_sigma);

    *error = ft__mad(v, n, centre) / centre * sqrt(1.5707963267948966 / (double)n);
    return centre;
}

/* What the scatter of batches lets rounds differ by where nothing disturbs: the lower
 * quartile of their n errors. */
static double usual_error(double *error, size_t n)
{
    ft__sort(error, n);
    return ft__quantile(error, n, 0.25);
}

/* The same of n rounds, v, with such errors: rounds that differ by no more than their
 * batches let expect are not disturbed. The order of both changes. */
static double rounds_value(double *v, double *error, size_t n)
{
    return undisturbed(v, n, fmax(least_of_rounds, usual_error(error, n)));
}

struct sums {
    double *batch; /* of rounds that count */
    double *round; /* medians of what was not disturbed in them */
    double *error; /* of these, relative */
    double *scratch;
    size_t n_batches, n_rounds;
};

static void gather(struct sums *s, ft_measurement *out, const ft_reading *r, size_t n)
{
    uint32_t skip = disturbed_mask(r, n);

    for (size_t from = 0, to; from < n; from = to) {
        size_t before = s->n_batches, taken;

        to = round_end(r, n, from);
        for (size_t i = from; i < to; i++) {
            out->iterations += r[i].iterations;
            if (!(r[i].marks & skip))
                s->batch[s->n_batches++] = per_iteration(&r[i]);
        }
        taken = s->n_batches - before;
        memcpy(s->scratch, s->batch + before, taken * sizeof(*s->batch));
        if (taken) {
            s->round[s->n_rounds] =
                round_value(&s->error[s->n_rounds], s->scratch, taken);
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
    out->value = n ? rounds_value(s.round, s.error, s.n_rounds) : (double)NAN;
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

static const ft__calibrated *calibrated_of(const ft__timed *t, uint32_t round)
{
    for (size_t i = 0; i < t->n_calibrated; i++)
        if (t->calibrated[i].round == round)
            return &t->calibrated[i];
    return NULL;
}

/* From here on what differs is not the scatter of stretches. */
static const double ratio_may_differ = 0.1;

/* What stands for the calibration `like` where these took so long: the one of
 * products in its usual ratio, which is the steadier one, unless the ratio is more than
 * a tenth away from that: then something slows the caches or memory alone. */
static double unit_by(const ft_session *s, const double *took, uint32_t like)
{
    double usual = took[FT__CALIBRATE_PRODUCTS] * s->usual_ratio[like];

    if (like == FT__CALIBRATE_PRODUCTS || isnan(usual) ||
        fabs(log(took[like] / usual)) > ratio_may_differ)
        return took[like];
    return usual;
}

/* Time of the calibration around round `round` of t, s; NaN: there is none. */
static double unit_of(const ft__timed *t, uint32_t round)
{
    const ft__calibrated *b = calibrated_of(t, round);

    return b ? unit_by(t->job.session, b->s, t->like) : (double)NAN;
}

/* Times of rounds, relative to the calibration around each. */
struct ratios {
    double *ratio;
    double *error; /* relative, by the scatter of batches */
    double *unit, *scratch;
    size_t n;
};

static bool ratios_make(struct ratios *r, size_t readings)
{
    const size_t room = readings + 1;

    r->ratio = calloc(4 * room, sizeof(*r->ratio));
    if (!r->ratio)
        return false;
    r->error = r->ratio + room;
    r->unit = r->error + room;
    r->scratch = r->unit + room;
    return true;
}

/* Of each round that counts and has a calibration around it, or of each that counts, in
 * seconds, where plain. */
static void find_ratios(struct ratios *out, const ft__timed *t, bool plain)
{
    const ft_reading *r = t->readings;
    uint32_t skip = disturbed_mask(r, t->n);

    out->n = 0;
    for (size_t from = 0, to; from < t->n; from = to) {
        double unit = plain ? 1 : unit_of(t, r[from].round);
        size_t n = out->n;

        to = round_end(r, t->n, from);
        if (r[from].marks & skip || !(unit > 0))
            continue;
        for (size_t i = from; i < to; i++)
            out->scratch[i - from] = per_iteration(&r[i]);
        out->unit[n] = unit;
        out->ratio[n] =
            round_value(&out->error[n], out->scratch, to - from) / out->unit[n];
        out->n++;
    }
}

/* m in units of the calibration in the same rounds, times what that took in the median:
 * what slows both down for a while does not count. m stays where no round has
 * one. */
static ft_status measurement_relative(ft_measurement *m, const ft__timed *t,
                                      ft_error *err)
{
    struct ratios r;

    if (!ratios_make(&r, t->n))
        return ft_fail(err, FT_ENOMEM, 0, "%zu readings", t->n);
    find_ratios(&r, t, false);
    if (r.n) {
        double centre = rounds_value(r.ratio, r.error, r.n);
        double unit = ft__median(r.unit, r.n);
        double error = ft__median_error(r.ratio, r.n, centre);

        m->value = centre * unit;
        m->calibration_s = unit;
        if (!isnan(error))
            m->error = error * unit;
    }
    free(r.ratio);
    return FT_OK;
}

ft_status ft__timed_result(ft_network_timing *out, ft__timed *t, ft_error *err)
{
    ft_status st = ft__mark_outliers(&out->outliers, t->readings, t->n, err);

    if (!st)
        st = ft__measurement_of_times(&out->time, t->readings, t->n, err);
    if (!st)
        st = measurement_relative(&out->time, t, err);
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

/* Rounds further apart than this, and than so many standard errors by the scatter of
 * their batches, are not of the same state of the machine. */
static const double rounds_may_differ = 0.1, errors_may_differ = 3,
                    most_may_differ = 0.5;

bool ft__timed_agrees(const ft__timed *t, uint32_t rounds)
{
    size_t agree = 0, wanted;
    struct ratios r;
    double centre, may;

    if (!ratios_make(&r, t->n))
        return true;
    find_ratios(&r, t, false);
    if (r.n == 0)
        find_ratios(&r, t, true);
    memcpy(r.scratch, r.ratio, r.n * sizeof(*r.ratio));
    centre = r.n ? rounds_value(r.scratch, r.error, r.n) : 0;
    may = fmin(most_may_differ, errors_may_differ * usual_error(r.error, r.n));
    may = fmax(rounds_may_differ, may);
    for (size_t i = 0; i < r.n; i++)
        agree += fabs(r.ratio[i] - centre) <= may * centre;
    wanted = r.n < rounds ? r.n : rounds;
    free(r.ratio);
    return agree >= wanted;
}
