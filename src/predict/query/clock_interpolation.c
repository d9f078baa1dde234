/* A device that was measured at several core clocks, at another one: the two that
 * serve, and what lies between and beyond them. */
#include "predict/query/query_context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "predict/model/clock.h"

/* Beyond the measured clocks power is not followed further than this. */
static const double most_beyond = 0.7;

static bool same_pair(const char *asked, const char *measured, const char *name)
{
    double a = ft__pair_number(asked, name), b = ft__pair_number(measured, name);

    return isnan(a) ? isnan(b) : fabs(a - b) <= 1e-3 * a;
}

static double far_from(double a, double b)
{
    return fabs(log(a / b));
}

static bool is_between(const double clock_hz[2], double hz)
{
    return (clock_hz[0] - hz) * (clock_hz[1] - hz) <= 0;
}

/* Is (a, b) nearer to what is asked than the pair there is? Clocks on either side come
 * before the nearest. */
static bool is_better(const struct clock_interpolation *s, const double clock_hz[2])
{
    bool between = is_between(clock_hz, s->asked_hz);

    if (!s->at[0])
        return true;
    if (between != is_between(s->clock_hz, s->asked_hz))
        return between;
    return far_from(clock_hz[0], s->asked_hz) + far_from(clock_hz[1], s->asked_hz) <
           far_from(s->clock_hz[0], s->asked_hz) +
               far_from(s->clock_hz[1], s->asked_hz);
}

/* Its clock where it may serve; NaN otherwise. */
static double clock_of(const ft__dataset *d, const ft__dataset *asked)
{
    if (strcmp(d->device, asked->device) != 0 || d->n == 0 ||
        !same_pair(asked->setting, d->setting, "memory") ||
        !same_pair(asked->setting, d->setting, "power"))
        return NAN;
    return ft__pair_number(d->setting, "clock");
}

bool ft__clock_interpolation_find(struct clock_interpolation *out, const ft__family *f,
                                  const ft__dataset *asked)
{
    *out = (struct clock_interpolation){.asked_hz =
                                            ft__pair_number(asked->setting, "clock")};
    for (uint32_t i = 0; i < f->n_datasets && out->asked_hz > 0; i++)
        for (uint32_t k = 0; k < i; k++) {
            const double hz[2] = {clock_of(&f->dataset[i], asked),
                                  clock_of(&f->dataset[k], asked)};

            if (!(hz[0] > 0) || !(hz[1] > 0) || far_from(hz[0], hz[1]) < 0.02 ||
                strcmp(f->dataset[i].engine, f->dataset[k].engine) != 0 ||
                strcmp(f->dataset[i].policy, f->dataset[k].policy) != 0 ||
                !is_better(out, hz))
                continue;
            out->at[0] = &f->dataset[i];
            out->at[1] = &f->dataset[k];
            memcpy(out->clock_hz, hz, sizeof(hz));
        }
    if (out->at[0] && !is_between(out->clock_hz, out->asked_hz))
        out->reach = fmin(far_from(out->clock_hz[0], out->asked_hz),
                          far_from(out->clock_hz[1], out->asked_hz));
    out->top_hz = fmax(fmax(out->clock_hz[0], out->clock_hz[1]), out->asked_hz);
    if (asked->file)
        out->top_hz = fmax(out->top_hz, ft_device_get(asked->file)->boost_clock_hz);
    return out->at[0] != NULL;
}

/* t = a / f + b through both, neither below 0. */
static double time_at(const struct clock_interpolation *s, double t0, double t1)
{
    const double *f = s->clock_hz;
    double a = (t0 - t1) / (1 / f[0] - 1 / f[1]), b;

    a = fmax(0, fmin(a, fmin(t0 * f[0], t1 * f[1])));
    b = ((t0 - a / f[0]) + (t1 - a / f[1])) / 2;
    return a / s->asked_hz + b;
}

static double power_at(const struct clock_interpolation *s, double p0, double p1)
{
    double first = ft__clock_swing(s->clock_hz[0] / s->top_hz), share;

    if (s->reach == 0)
        return p0 + (p1 - p0) * (ft__clock_swing(s->asked_hz / s->top_hz) - first) /
                        (ft__clock_swing(s->clock_hz[1] / s->top_hz) - first);
    share = log(s->asked_hz / s->clock_hz[0]) / log(s->clock_hz[1] / s->clock_hz[0]);
    share = fmax(-most_beyond, fmin(1 + most_beyond, share));
    return p0 * pow(p1 / p0, share);
}

/* The value of both, and the wider interval. */
static void join(ft__op_answer *a, const ft__op_answer *b,
                 const struct clock_interpolation *s, ft__metric metric)
{
    double low = fmax(log(a->value / a->low), log(b->value / b->low));
    double high = fmax(log(a->high / a->value), log(b->high / b->value));
    double value = metric == FT__METRIC_POWER ? power_at(s, a->value, b->value)
                                              : time_at(s, a->value, b->value);

    a->value = value;
    a->low = value * exp(-low);
    a->high = value * exp(high);
    a->measured = false;
    a->far = true; /* nobody measured anything at this clock */
}

/* Time: what computes goes with 1 / clock, the rest does not change (docs/clocks.md);
 * what the family says at both clocks tells how much of each there is. Power: a level
 * and what switches at a clock, between the two; beyond them a power of the clock,
 * which errs less there (docs/notes/clocks-model.md). */
ft_status ft__clock_interpolation_query(ft__op_answer *out,
                                        const struct clock_interpolation *s,
                                        const ft__family *f, ft__metric metric,
                                        const ft__dataset *on, const ft_op *ops,
                                        size_t n, ft_error *err)
{
    ft__op_answer *other = calloc(n + 1, sizeof(*other));
    ft__dataset at = *on;
    ft_status st = other ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);

    at.setting = s->at[0]->setting;
    if (!st)
        st = ft__family_query(out, f, metric, &at, ops, NULL, n, err);
    at.setting = s->at[1]->setting;
    if (!st)
        st = ft__family_query(other, f, metric, &at, ops, NULL, n, err);
    for (size_t i = 0; i < n && !st; i++)
        join(&out[i], &other[i], s, metric);
    free(other);
    return st;
}
