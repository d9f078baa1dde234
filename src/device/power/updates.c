/* From the polls of a sensor to the new values that it brought. */
#include "device/power/updates.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/stats.h"

/* A poll that was answered, and whether its value was a new one. */
struct poll {
    double at, value;
    bool fresh;
};

static size_t answered(struct poll *p, const ft_domain *d, const ft_power_reading *r,
                       size_t n, bool joules)
{
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        double v = joules ? r[i].joules : r[i].watts;

        if (!isfinite(v) || !isfinite(r[i].at_s) || (!joules && v < 0) ||
            (m && r[i].at_s <= p[m - 1].at))
            continue;
        p[m] = (struct poll){r[i].at_s, v, d->all_fresh || (m && v != p[m - 1].value)};
        m++;
    }
    return m;
}

static double median_gap(double *gap, const struct poll *p, size_t n)
{
    for (size_t i = 1; i < n; i++)
        gap[i - 1] = p[i].at - p[i - 1].at;
    return n > 1 ? ft__median(gap, n - 1) : NAN;
}

/* The shortest times between new values are one period, longer ones are several,
 * in which equal values came or polls were missed. */
static double period_of(double *gap, const struct poll *p, size_t n, double poll_s)
{
    size_t n_gaps = 0;
    double last = NAN, period;

    for (size_t i = 0; i < n; i++) {
        if (!p[i].fresh || (i && p[i].at - p[i - 1].at > 2.5 * poll_s)) {
            last = p[i].fresh ? NAN : last;
            continue;
        }
        if (isfinite(last))
            gap[n_gaps++] = p[i].at - last;
        last = p[i].at;
    }
    if (n_gaps < 3)
        return NAN;
    ft__sort(gap, n_gaps);
    period = ft__quantile(gap, n_gaps, 0.2);
    for (int round_ = 0; round_ < 3; round_++) {
        double sum = 0, count = 0;

        for (size_t i = 0; i < n_gaps && gap[i] < 5.5 * period; i++) {
            double k = fmax(1, round(gap[i] / period));

            sum += gap[i];
            count += k;
        }
        period = sum / count;
    }
    return period;
}

/* What the domain is known for holds where it is finer than what was seen; nothing
 * is finer than the polls. */
static double settle_period(double seen, double known, double poll_s)
{
    double period = seen;

    if (isfinite(known) && !(seen < known))
        period = known;
    return isfinite(period) ? fmax(period, poll_s) : NAN;
}

static void note_stall(ft__updates *out, double from, double to, double lo, double hi)
{
    double inside = fmin(to, hi) - fmax(from, lo);

    if (inside > out->stall_s) {
        out->usual_stall_s = out->stall_s;
        out->stall_s = inside;
        out->stall_from_s = from;
    } else if (inside > out->usual_stall_s) {
        out->usual_stall_s = inside;
    }
}

/* Stretches that stay, and stretches without an answer. */
static void survey(ft__updates *out, const struct poll *p, size_t n, double lo,
                   double hi)
{
    double hole = 2.5 * fmax(out->poll_s, isfinite(out->period_s) ? out->period_s : 0);
    double since = n ? p[0].at : 0, last = lo;

    for (size_t i = 0; i < n; i++) {
        double gap = fmin(p[i].at, hi) - fmax(last, lo);

        out->holes_s += gap > hole ? gap : 0;
        if (i && (p[i].fresh || p[i].at - p[i - 1].at > hole)) {
            note_stall(out, since, p[i].at - p[i - 1].at > hole ? p[i - 1].at : p[i].at,
                       lo, hi);
            since = p[i].at;
        }
        last = p[i].at;
    }
    if (n)
        note_stall(out, since, p[n - 1].at, lo, hi);
    if (hi - fmax(last, lo) > hole)
        out->holes_s += hi - fmax(last, lo);
}

static bool put(ft__updates *out, size_t *cap, double at, double half, double value)
{
    ft__update *u = ft__list_grow(out->u, out->n, cap, sizeof(*u));

    if (!u)
        return false;
    out->u = u;
    out->u[out->n++] = (ft__update){at, half, value};
    return true;
}

/* `from` .. `to` in equal steps of about one period, the value staying. */
static bool repeat(ft__updates *out, size_t *cap, double from, double to, double value,
                   bool to_is_new)
{
    double steps = isfinite(out->period_s) ? (to - from) / out->period_s : 0;
    size_t k =
        steps < 1e6 ? (size_t)(to_is_new ? round(steps) : floor(steps + 0.25)) : 0;
    double step = to_is_new && k ? (to - from) / (double)k : out->period_s;

    for (size_t j = 1; j < k + !to_is_new; j++)
        if (!put(out, cap, from + (double)j * step, out->poll_s / 2, value))
            return false;
    return true;
}

/* Where the change seen by poll i happened. */
static double came_at(const ft__updates *out, const ft_domain *d, const struct poll *p,
                      size_t i, double *half)
{
    double back = p[i].at - p[i - 1].at;

    if (isfinite(out->period_s))
        back = fmin(back, out->period_s);
    if (isfinite(d->period_s))
        back = fmin(back, d->period_s);
    /* A value that is handed over as it comes waits for a poll only. */
    *half = d->all_fresh ? back / 20 : back / 2;
    return p[i].at - *half;
}

/* The value before the first new one was read too: since when is not known. */
static bool begin(ft__updates *out, size_t *cap, const struct poll *p, double first)
{
    size_t k;

    if (!isfinite(out->period_s) || !((first - p[0].at) / out->period_s < 1e6))
        return true;
    k = (size_t)floor((first - p[0].at) / out->period_s + 0.25) + 1;
    for (; k > 0; k--)
        if (!put(out, cap, first - (double)k * out->period_s, out->poll_s / 2,
                 p[0].value))
            return false;
    return true;
}

static bool collect(ft__updates *out, const ft_domain *d, const struct poll *p,
                    size_t n, bool joules)
{
    double hole = 2.5 * fmax(out->poll_s, out->period_s), half;
    size_t cap = 0, last = 0;
    bool any = false;

    if (d->all_fresh && n && !put(out, &cap, p[0].at, 0, p[0].value))
        return false;
    for (size_t i = 1; i < n; i++) {
        double at;
        bool ok = true;

        if (!p[i].fresh)
            continue;
        at = came_at(out, d, p, i, &half);
        if (!joules && !d->all_fresh) {
            if (!any)
                ok = begin(out, &cap, p, at);
            else if (p[i].at - p[i - 1].at > hole)
                ok = repeat(out, &cap, out->u[out->n - 1].at_s, p[i - 1].at,
                            p[last].value, false);
            else
                ok =
                    repeat(out, &cap, out->u[out->n - 1].at_s, at, p[last].value, true);
        }
        if (!ok || !put(out, &cap, at, half, p[i].value))
            return false;
        any = true;
        last = i;
    }
    return !any || joules || d->all_fresh ||
           repeat(out, &cap, out->u[out->n - 1].at_s, p[n - 1].at, p[last].value,
                  false);
}

bool ft__updates_find(ft__updates *out, const ft_domain *d, const ft_power_reading *r,
                      size_t n, bool joules, double from_s, double to_s)
{
    struct poll *p = malloc((n + 1) * sizeof(*p));
    double *gap = malloc((n + 1) * sizeof(*gap));
    bool ok = p && gap;

    *out = (ft__updates){.period_s = NAN, .poll_s = NAN};
    if (ok) {
        size_t m = answered(p, d, r, n, joules);

        out->poll_s = median_gap(gap, p, m);
        out->period_s =
            settle_period(period_of(gap, p, m, out->poll_s), d->period_s, out->poll_s);
        survey(out, p, m, from_s, to_s);
        ok = collect(out, d, p, m, joules);
    }
    if (!ok) {
        free(out->u);
        out->u = NULL;
        out->n = 0;
    }
    free(p);
    free(gap);
    return ok;
}

double ft__least_s(const ft_domain *d)
{
    double period = isfinite(d->period_s) ? d->period_s : 0;
    double window = isfinite(d->window_s) ? d->window_s : 0;

    if (isfinite(d->least_s))
        return d->least_s;
    if (period <= 0 && window <= 0)
        return 0.5;
    return fmax(window + 11 * period, d->duty < 1 ? 50 * period : 0);
}
