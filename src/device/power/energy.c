/* The energy that a domain used over a stretch of time, from the updates of a counter
 * or of watts. */
#include "device/power/energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stats.h"

#define FAIL(out, ...)                                                                 \
    do {                                                                               \
        snprintf((out)->reason, sizeof((out)->reason), __VA_ARGS__);                   \
        (out)->joules = (out)->error = NAN;                                            \
    } while (0)

static double square(double x)
{
    return x * x;
}

/* Standard deviation of neighbouring values' noise: half the mean square of their
 * differences (von Neumann 1941); a drift does not count. */
static double noise_of(const ft__update *u, size_t n)
{
    double sum = 0;

    if (n < 2)
        return NAN;
    for (size_t i = 1; i < n; i++)
        sum += square(u[i].value - u[i - 1].value);
    return sqrt(sum / (2 * (double)(n - 1)));
}

static double slope(const ft__update *k, size_t i)
{
    return (k[i + 1].value - k[i].value) / (k[i + 1].at_s - k[i].at_s);
}

static double between(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* The value at t of a growing curve known at knots; adds to the variance. `scatter`
 * is that of the slopes. */
static double inside(const ft__update *k, size_t n, size_t i, double t, double scatter,
                     double *variance)
{
    double d0 = t - k[i].at_s, d1 = k[i + 1].at_s - t, g = d0 + d1;
    double here = slope(k, i), left = i ? slope(k, i - 1) : here;
    double right = i + 2 < n ? slope(k, i + 1) : here;
    double from_left = between(k[i].value + left * d0, k[i].value, k[i + 1].value);
    double from_right =
        between(k[i + 1].value - right * d1, k[i].value, k[i + 1].value);
    double steep = fmax(here, fmax(left, right)),
           half = fmax(k[i].half_s, k[i + 1].half_s);

    *variance += square(2 * d0 * d1 / (g * g) * (from_left - from_right));
    *variance += square(steep) *
                 (square(d1 * k[i].half_s / g) + square(d0 * k[i + 1].half_s / g)) / 3;
    *variance += square(steep * half / g * d0 * d1 / g) * 4 / 3;
    *variance += square(scatter * d0 * d1 / g);
    return (d1 * from_left + d0 * from_right) / g;
}

/* Likewise before the first and behind the last knot. */
static double outside(const ft__update *k, size_t n, double t, double scatter,
                      double *variance)
{
    size_t end = t < k[0].at_s ? 0 : n - 1;
    double rate = slope(k, end ? n - 2 : 0), d = t - k[end].at_s;

    *variance +=
        square(rate * k[end].half_s) / 3 + square(scatter * d) + square(0.1 * rate * d);
    return k[end].value + rate * d;
}

/* The last knot at or before t, but one in front of another. */
static size_t knot_before(const ft__update *k, size_t n, double t)
{
    size_t lo = 0, hi = n - 1;

    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;

        *(k[mid].at_s <= t ? &lo : &hi) = mid;
    }
    return lo;
}

static double at(const ft__update *k, size_t n, double t, double scatter,
                 double *variance)
{
    return t < k[0].at_s || t >= k[n - 1].at_s
               ? outside(k, n, t, scatter, variance)
               : inside(k, n, knot_before(k, n, t), t, scatter, variance);
}

/* Scatter of the slopes between knots in from .. to about their neighbours. */
static double slope_scatter(const ft__update *k, size_t n, double from, double to)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i + 2 < n; i++)
        if (k[i].at_s >= from && k[i + 2].at_s <= to) {
            sum += square(slope(k, i + 1) - slope(k, i));
            count++;
        }
    return count ? sqrt(sum / (2 * (double)count)) : 0;
}

/* The updates in from .. to: the first of them, and how many. */
static const ft__update *within(const ft__updates *u, double from, double to, size_t *n)
{
    size_t i = 0;

    while (i < u->n && u->u[i].at_s < from)
        i++;
    for (*n = 0; i + *n < u->n && u->u[i + *n].at_s <= to;)
        ++*n;
    return u->u ? u->u + i : NULL;
}

static void too_short(ft__energy_figure *out, const ft_domain *d, double seconds,
                      double needs, const char *what)
{
    FAIL(out, "%.3g s is shorter than the sensor's %s (%.3g s): loop for %.2g s",
         seconds, what, needs, ft__least_s(d));
}

/* Reasons that counters and watts have in common. */
static bool usable(ft__energy_figure *out, const ft_domain *d, const ft__updates *u,
                   double from, double to, const char *what, double holes)
{
    double seconds = to - from;
    size_t n;

    (void)within(u, from, to, &n);
    *out = (ft__energy_figure){.joules = NAN, .error = NAN};
    if (!isfinite(u->poll_s) || u->holes_s >= 0.999 * seconds)
        FAIL(out, "no readings");
    else if (u->holes_s > holes * seconds)
        FAIL(out, "no readings for %.3g s of %.3g s", u->holes_s, seconds);
    else if (d->window_s > seconds)
        too_short(out, d, seconds, d->window_s, "window");
    else if (isfinite(u->period_s) && seconds < 2 * u->period_s)
        too_short(out, d, seconds, u->period_s, "time between values");
    else if (u->n < 2 || !n)
        FAIL(out, "its %s stood still for all of %.3g s", what, seconds);
    else if (n < 2)
        FAIL(out, "its %s stood still but for once in %.3g s", what, seconds);
    return !*out->reason;
}

/* Values, or steps of a counter, are whole numbers of units: the least difference
 * between two of them is one unit, where there are enough. */
static double unit_of(const ft__updates *u, bool steps)
{
    double *v = malloc((u->n + 1) * sizeof(*v)), least = INFINITY;
    size_t n = u->n - steps;

    for (size_t i = 0; v && i < n; i++)
        v[i] = steps ? u->u[i + 1].value - u->u[i].value : u->u[i].value;
    if (v)
        ft__sort(v, n);
    for (size_t i = !steps; v && i < n; i++) {
        double apart = i ? v[i] - v[i - 1] : v[0];

        if (apart > 1e-6 * v[i])
            least = fmin(least, apart);
    }
    free(v);
    return isfinite(least) ? least : 0;
}

/* A value that stays may be a steady load, read in coarse units: it came from a
 * neighbouring value or goes to one, and the sensor did move later. */
static bool may_be_steady(const ft__updates *u)
{
    double slack = fmax(u->period_s, u->poll_s), unit = unit_of(u, false), here;
    size_t i = 0, j;

    while (i + 1 < u->n && u->u[i + 1].at_s <= u->stall_from_s + slack)
        i++;
    here = u->u[i].value;
    for (j = i; j < u->n && u->u[j].value == here; j++)
        ;
    while (i > 0 && u->u[i].value == here)
        i--;
    return j < u->n && (fabs(u->u[i].value - here) <= 1.5 * unit ||
                        fabs(u->u[j].value - here) <= 1.5 * unit);
}

/* A stretch in which the sensor stands still is suspect when it is much longer than
 * any other; where values hardly ever repeat, twice as long is much. */
static bool stalls(const ft__updates *u, double seconds)
{
    double period = isfinite(u->period_s) ? u->period_s : 0;
    double usual = fmax(u->usual_stall_s, period);
    double factor = usual < 1.6 * period ? 2 : 4;

    return u->stall_s > factor * usual + 2 * u->poll_s && u->stall_s > 0.02 * seconds &&
           !may_be_steady(u);
}

/* Energy missing from step i and those around it, up to three on either side inside
 * from .. to, as far as their median power lets expect; 0 where that tells nothing. */
static double missing_around(const ft__updates *u, size_t i, double from, double to,
                             double unit)
{
    double v[6], usual, lost;
    size_t lo = i, hi = i + 1, n = 0;

    while (lo > 0 && i - lo < 3 && u->u[lo - 1].at_s >= from)
        lo--;
    while (hi + 1 < u->n && hi - i < 4 && u->u[hi + 1].at_s <= to)
        hi++;
    for (size_t j = lo; j < hi; j++)
        if (j != i)
            v[n++] = slope(u->u, j);
    if (n == 0)
        return 0;
    usual = ft__median(v, n);
    lost = usual * (u->u[hi].at_s - u->u[lo].at_s) - (u->u[hi].value - u->u[lo].value);
    return usual * u->period_s > 3 * unit &&
                   lost > 0.5 * usual * (u->u[i + 1].at_s - u->u[i].at_s - u->period_s)
               ? lost
               : 0;
}

/* Energy that is missing because a counter stood still and did not catch up (or, while
 * nobody looked, wrapped more than once), and the longest time it stood. A reading that
 * was held up is made good by its neighbours. Steps of single units come irregularly.
 */
static double lost_j(const ft__updates *u, double from, double to, double *stood_s)
{
    double unit = unit_of(u, true), lost = 0;

    *stood_s = 0;
    for (size_t i = 0; i + 1 < u->n; i++) {
        const ft__update *k = &u->u[i];
        double gap = k[1].at_s - k->at_s, here;

        if (k[1].at_s <= from || k->at_s >= to ||
            gap < 1.7 * u->period_s + k->half_s + k[1].half_s)
            continue;
        here = missing_around(u, i, from, to, unit);
        lost += here;
        if (here > 0)
            *stood_s = fmax(*stood_s, gap);
    }
    return lost;
}

/* Polls went on, the counter did not. */
static bool ends_in_a_stall(const ft__updates *u, double to)
{
    double last = u->u[u->n - 1].at_s;
    double usual = fmax(u->usual_stall_s, isfinite(u->period_s) ? u->period_s : 0);

    return to - last > 2 * usual + 2 * u->poll_s && u->stall_s > 0.8 * (to - last);
}

static bool grows(const ft__updates *u)
{
    for (size_t i = 1; i < u->n; i++)
        if (u->u[i].value < u->u[i - 1].value)
            return false;
    return true;
}

/* E(to) - E(from) of a curve that knots tell. */
static void difference(ft__energy_figure *out, const ft__update *k, size_t n,
                       double from, double to, double reach)
{
    double scatter = slope_scatter(k, n, from, to), variance = 0, begin, end;

    if (k[0].at_s - from > reach || to - k[n - 1].at_s > reach) {
        double early = k[0].at_s - from, late = to - k[n - 1].at_s;

        FAIL(out, "no readings for the %s %.3g s", early > late ? "first" : "last",
             fmax(early, late));
        return;
    }
    begin = at(k, n, from, scatter, &variance);
    end = at(k, n, to, scatter, &variance);
    out->joules = end - begin;
    out->error = sqrt(variance);
}

/* Between two of its steps the power of neighbouring steps is continued from either
 * side, so that a load that begins or ends at an edge is kept apart from what was
 * before and after it. */
void ft__energy_of_counter(ft__energy_figure *out, const ft_domain *d,
                           const ft__updates *u, double from_s, double to_s)
{
    double seconds = to_s - from_s, reach, stood, lost;

    if (!usable(out, d, u, from_s, to_s, "counter", 0.75))
        return;
    if (!grows(u)) {
        FAIL(out, "its counter went back");
        return;
    }
    lost = lost_j(u, from_s, to_s, &stood);
    if (lost > 0.005 * (u->u[u->n - 1].value - u->u[0].value) ||
        ends_in_a_stall(u, to_s)) {
        FAIL(out, "its counter stood still for %.3g s of %.3g s",
             fmax(stood, fmin(u->stall_s, seconds)), seconds);
        return;
    }
    reach = fmax(3 * fmax(u->period_s, u->poll_s), 1.5 * u->usual_stall_s);
    difference(out, u->u, u->n, from_s, to_s, reach);
    /* Both ends are rounded: each a twelfth of a unit's square. */
    if (isfinite(out->joules))
        out->error = hypot(out->error, hypot(unit_of(u, true) / sqrt(6), lost));
}

/* Values as increments of a curve: each stands for the time from half-way to its
 * neighbours, moved back by half the window. */
static void of_increments(ft__energy_figure *out, const ft__updates *u, double window,
                          double from, double to)
{
    ft__update *k = malloc((u->n + 1) * sizeof(*k));
    double period = fmax(u->period_s, u->poll_s), total = 0;

    if (!k) {
        FAIL(out, "memory is short");
        return;
    }
    for (size_t i = 0; i <= u->n; i++) {
        double t = i == 0      ? u->u[0].at_s - window / 2 - period / 2
                   : i == u->n ? u->u[i - 1].at_s - window / 2 + period / 2
                               : (u->u[i].at_s + u->u[i - 1].at_s - window) / 2;

        if (i)
            total += u->u[i - 1].value * (t - k[i - 1].at_s);
        k[i] = (ft__update){t, u->u[i < u->n ? i : i - 1].half_s, total};
    }
    difference(out, k, u->n + 1, from, to, 1.5 * period);
    free(k);
}

/* Samples inside, each for the time to half-way to its neighbours. */
static void of_samples(ft__energy_figure *out, const ft__updates *u, double window,
                       double from, double to)
{
    double period = fmax(u->period_s, u->poll_s), total = 0, left = from;
    const ft__update *last = NULL;

    for (size_t i = 0; i < u->n; i++) {
        const ft__update *x = &u->u[i];
        double centre = x->at_s - window / 2, middle;

        if (x->at_s - window < from - x->half_s || x->at_s > to + x->half_s)
            continue;
        if (!last && centre - from > window + 3 * period) {
            FAIL(out, "no readings for the first %.3g s", centre - from);
            return;
        }
        middle =
            last ? between((last->at_s - window / 2 + centre) / 2, from, to) : from;
        total += last ? last->value * (middle - left) : 0;
        left = middle;
        last = x;
    }
    if (!last || to - last->at_s > 3 * period) {
        FAIL(out, "no readings for the last %.3g s",
             last ? to - last->at_s : to - from);
        return;
    }
    out->joules = total + last->value * (to - left);
    out->error = 0;
}

/* The sensor's value at t, between two that it brought; at an edge of the load it
 * has a kink there, and what neighbours on either side continue to counts. */
static double value_at(const ft__updates *u, double t, bool edge, double *variance)
{
    const ft__update *k = u->u;
    size_t lo, hi = u->n - 1;
    double rate;

    if (t <= k[0].at_s || t >= k[hi].at_s)
        return k[t <= k[0].at_s ? 0 : hi].value;
    lo = knot_before(k, u->n, t);
    hi = lo + 1;
    rate = slope(k, lo);
    *variance += square(rate) * (square(k[lo].half_s) + square(k[hi].half_s)) / 12;
    if (edge && lo > 0 && hi + 1 < u->n) {
        double d0 = t - k[lo].at_s, d1 = k[hi].at_s - t;

        return (d1 * (k[lo].value + slope(k, lo - 1) * d0) +
                d0 * (k[hi].value - slope(k, hi) * d1)) /
               (d0 + d1);
    }
    return k[lo].value + rate * (t - k[lo].at_s);
}

/* W A(t) is the energy of the last W seconds before t. Windows laid end to end from
 * `to` backwards; of the first one a part lies before `from`, where power is taken
 * to have been steady. */
static void of_windows(ft__energy_figure *out, const ft__updates *u, double window,
                       double from, double to)
{
    double period = fmax(u->period_s, u->poll_s), sum = 0, variance = 0, t = to, before;

    if (to - u->u[u->n - 1].at_s > 1.5 * period) {
        FAIL(out, "no readings for the last %.3g s", to - u->u[u->n - 1].at_s);
        return;
    }
    for (; t - window > from - 1e-9 * window; t -= window)
        sum += window * value_at(u, t, t == to, &variance);
    variance *= square(window);
    if (t > from + 1e-6 * window) {
        double rest = window - (t - from), ignored = 0;

        if (u->u[0].at_s > from + period) {
            FAIL(out, "no readings before it began, which its window of %.3g s needs",
                 window);
            return;
        }
        before = value_at(u, from, true, &variance);
        sum += window * value_at(u, t, t == to, &variance) - rest * before;
        variance +=
            square(rest * (before - value_at(u, from - rest, false, &ignored))) / 3;
    }
    out->joules = sum;
    out->error = sqrt(variance);
}

/* The last decimal that values have: 0.1 for 60.5 and 61; at least 0.001. */
static double last_decimal(const ft__update *u, size_t n)
{
    double unit = 1;

    for (size_t i = 0; i < n; i++)
        while (unit > 0.002 &&
               fabs(u[i].value / unit - round(u[i].value / unit)) > 1e-6)
            unit /= 10;
    return unit;
}

/* What the scatter of readings leaves open, over `seconds`. Whether it is the
 * sensor's or the load's own cannot be decided. */
static double reading_error(const ft__updates *u, double from, double to, double window)
{
    size_t n;
    const ft__update *k = within(u, from, to, &n);
    double seconds = to - from;
    double noise = noise_of(k, n), windows = seconds / window;
    double unit = last_decimal(k, n);

    if (!isfinite(noise))
        return 0;
    /* Scatter of more than a unit averages rounding out. */
    return hypot(noise * seconds / sqrt(fmax(1, fmin((double)n, windows))),
                 noise < unit ? unit / sqrt(12) * seconds : 0);
}

/* What may have happened while no new value came. */
static double unseen(const ft__updates *u, double from, double to)
{
    size_t n;
    const ft__update *k = within(u, from, to, &n);
    double standing = fmax(0, u->stall_s - fmax(2 * u->usual_stall_s, 2 * u->period_s));
    double sum = 0, squares = 0;

    for (size_t j = 0; j < n; j++) {
        sum += k[j].value;
        squares += square(k[j].value);
    }
    return n < 2 ? 0
                 : (u->holes_s / 2 + standing) *
                       sqrt(fmax(0, squares - sum * sum / (double)n) / (double)(n - 1));
}

/* How depends on the time over which a value is an average: about the time between
 * values: a counter's increments; longer: the window is undone (the values at the end
 * of consecutive windows add up to what passed in them); shorter or not always:
 * samples, only those inside count. */
void ft__energy_of_watts(ft__energy_figure *out, const ft_domain *d,
                         const ft__updates *u, double from_s, double to_s)
{
    double seconds = to_s - from_s, period = fmax(u->period_s, u->poll_s);
    double window = isfinite(d->window_s) ? d->window_s : period;

    if (!usable(out, d, u, from_s, to_s, "value", 1.0 / 3))
        return;
    if (stalls(u, seconds)) {
        FAIL(out, "it stood still for %.3g s of %.3g s", u->stall_s, seconds);
        return;
    }
    if (window > 1.5 * period)
        of_windows(out, u, window, from_s, to_s);
    else if (window < 0.75 * period || d->duty < 1)
        of_samples(out, u, window, from_s, to_s);
    else
        of_increments(out, u, window, from_s, to_s);
    if (!isfinite(out->joules))
        return;
    out->error =
        hypot(out->error, reading_error(u, from_s, to_s, fmax(window, period)));
    out->error = hypot(out->error, unseen(u, from_s, to_s));
    out->unit = last_decimal(u->u, u->n);
}
