/* What a domain used over a stretch of time: its energy, by counter and by watts, and
 * its steady power. */
#include "foretell/power.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stats.h"
#include "device/power/energy.h"

/* Levels of power, each with the time it stands for. */
struct levels {
    double *watts, *weight;
    size_t n;
};

/* The level of watts that the sensor brought wholly inside from .. to. */
static void levels_of_watts(struct levels *out, const ft__updates *u, double window,
                            double from, double to)
{
    for (size_t i = 0; i < u->n; i++) {
        const ft__update *x = &u->u[i];
        double slack = x->half_s + 1e-6 * window;

        if (x->at_s - window < from - slack || x->at_s > to + slack)
            continue;
        out->watts[out->n] = x->value;
        out->weight[out->n++] = 1;
    }
}

/* Of a counter: between two steps. */
static void levels_of_steps(struct levels *out, const ft__updates *u, double from,
                            double to)
{
    for (size_t i = 1; i < u->n; i++) {
        const ft__update *a = &u->u[i - 1], *b = &u->u[i];

        if (a->at_s < from - a->half_s || b->at_s > to + b->half_s)
            continue;
        out->weight[out->n] = b->at_s - a->at_s;
        out->watts[out->n] = (b->value - a->value) / out->weight[out->n];
        out->n++;
    }
}

static double weighted_mean(const struct levels *l)
{
    double sum = 0, weight = 0;

    for (size_t i = 0; i < l->n; i++) {
        sum += l->watts[i] * l->weight[i];
        weight += l->weight[i];
    }
    return sum / weight;
}

/* One pass. Of fewer than eleven values none can lie outside three sigma: the
 * largest deviation is (n - 1) / sqrt(n) sigma. */
static size_t drop_outside(struct levels *l)
{
    double mean = ft__mean(l->watts, l->n), channel = 3 * ft__std(l->watts, l->n);
    size_t kept = 0, dropped;

    for (size_t i = 0; i < l->n; i++)
        if (!(fabs(l->watts[i] - mean) > channel)) {
            l->watts[kept] = l->watts[i];
            l->weight[kept++] = l->weight[i];
        }
    dropped = l->n - kept;
    l->n = kept;
    return dropped;
}

/* How many independent values n with this correlation of neighbours are worth, as
 * a factor of the error (first-order autoregression); the estimate of a correlation
 * from few values lies too low by about (1 + 4 r) / n. */
static double correlation_factor(const double *v, size_t n)
{
    double mean = ft__mean(v, n), with_next = 0, with_self = 0, r;

    for (size_t i = 0; i < n; i++) {
        with_self += (v[i] - mean) * (v[i] - mean);
        with_next += i ? (v[i] - mean) * (v[i - 1] - mean) : 0;
    }
    if (n < 3 || with_self <= 0)
        return 1;
    r = with_next / with_self;
    r = fmin(r + (1 + 4 * r) / (double)n, 0.98);
    return r > 0 ? sqrt((1 + r) / (1 - r)) : 1;
}

/* `unit`: in which levels are rounded; scatter of more than that averages it out. */
static void steady_level(ft_power *out, struct levels *l, double windows, double unit)
{
    out->n_dropped = drop_outside(l);
    if (l->n)
        out->watts = weighted_mean(l);
    if (l->n < 2)
        return;
    out->watts_std = ft__std(l->watts, l->n);
    out->watts_error = out->watts_std * correlation_factor(l->watts, l->n) /
                       sqrt(fmin((double)l->n, fmax(1, windows)));
    if (out->watts_std < unit)
        out->watts_error = hypot(out->watts_error, unit / sqrt(12));
}

static bool new_levels(struct levels *l, size_t n)
{
    l->n = 0;
    l->watts = malloc((n + 1) * sizeof(double));
    l->weight = malloc((n + 1) * sizeof(double));
    return l->watts && l->weight;
}

static void compare(ft_power *out)
{
    double both = hypot(out->counter_error_j, out->integral_error_j);

    out->disagreement = out->counter_j / out->integral_j - 1;
    if (isfinite(out->disagreement) && fabs(out->disagreement) > 0.02 &&
        fabs(out->counter_j - out->integral_j) > 3 * both)
        snprintf(out->note, sizeof(out->note),
                 "the counter says %.4g J, watts over time %.4g J (%+.1f %%)",
                 out->counter_j, out->integral_j, 100 * out->disagreement);
    else if (out->n_missing && isfinite(out->joules))
        snprintf(out->note, sizeof(out->note), "%llu of %llu readings failed",
                 (unsigned long long)out->n_missing,
                 (unsigned long long)out->n_readings);
}

static void choose(ft_power *out, const ft__energy_figure *counter,
                   const ft__energy_figure *power, const ft_domain *d)
{
    const ft__energy_figure *use = isfinite(counter->joules) ? counter : power;

    out->counter_j = counter->joules;
    out->counter_error_j = counter->error;
    out->integral_j = power->joules;
    out->integral_error_j = power->error;
    out->joules = use->joules;
    out->joules_error = use->error;
    if (isnan(out->joules))
        snprintf(out->reason, sizeof(out->reason), "%s",
                 d->counts        ? counter->reason
                 : d->tells_power ? power->reason
                                  : "it tells neither watts nor joules");
    compare(out);
}

struct stretch {
    const ft_domain *d;
    const ft_power_reading *r;
    size_t n;
    double from, to;
};

static void count_readings(ft_power *out, const struct stretch *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const ft_power_reading *r = &s->r[i];

        if (!(r->at_s >= s->from && r->at_s <= s->to))
            continue;
        out->n_readings++;
        out->n_missing += (!s->d->tells_power || !isfinite(r->watts)) &&
                          (!s->d->counts || !isfinite(r->joules));
    }
}

/* The energy that counter or watts give, and their steady level. What watts say of the
 * level counts more than what a counter's steps say. */
static bool examine(ft_power *out, ft__energy_figure *e, const struct stretch *s,
                    bool counter)
{
    struct levels l = {NULL, NULL, 0};
    ft__updates u;
    double period, window, windows;
    bool ok = ft__updates_find(&u, s->d, s->r, s->n, counter, s->from, s->to) &&
              new_levels(&l, u.n);

    if (ok) {
        period = isfinite(u.period_s) ? u.period_s : 0;
        window = isfinite(s->d->window_s) ? s->d->window_s : period;
        if (counter) {
            ft__energy_of_counter(e, s->d, &u, s->from, s->to);
            levels_of_steps(&l, &u, s->from, s->to);
            windows = (double)l.n;
        } else {
            ft__energy_of_watts(e, s->d, &u, s->from, s->to);
            levels_of_watts(&l, &u, window, s->from, s->to);
            windows = (s->to - s->from) / fmax(window, period);
        }
        if (counter || isfinite(e->joules) || !s->d->counts || !isfinite(out->watts)) {
            out->period_s = u.period_s;
            out->n_fresh = l.n;
        }
        if (isfinite(e->joules))
            steady_level(out, &l, windows, e->unit);
    }
    free(l.watts);
    free(l.weight);
    free(u.u);
    return ok;
}

void ft_power_of(ft_power *out, const ft_trace *t, uint32_t domain, double from_s,
                 double to_s)
{
    ft__energy_figure counter = {.joules = NAN, .error = NAN}, power = counter;
    struct stretch s;

    *out = (ft_power){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN,
                      NAN, NAN, 0,   0,   0,   0,   "",  ""};
    if (domain >= t->n_domains || !(to_s > from_s) || !isfinite(to_s - from_s)) {
        snprintf(out->reason, sizeof(out->reason), "no such stretch of time");
        return;
    }
    s = (struct stretch){&t->domain[domain], t->reading[domain], t->n[domain], from_s,
                         to_s};
    count_readings(out, &s);
    if ((s.d->counts && !examine(out, &counter, &s, true)) ||
        (s.d->tells_power && !examine(out, &power, &s, false)))
        snprintf(out->reason, sizeof(out->reason), "memory is short");
    else
        choose(out, &counter, &power, s.d);
}
