/* Time and power as functions of clocks. */
#include "predict/model/clock.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"
#include "learn/learn_inside.h"

/* Shares are of the largest power that was seen, clocks of the highest. */
enum clock_constant {
    IDLE,        /* power that no clock changes, but the voltage */
    MEMORY,      /* power that goes with the memory's clock alone */
    CLOCKED,     /* share of the rest that goes with the clock, not with the work */
    KNEE,        /* clock up to which the voltage stays what it is */
    SLOPE,       /* of the relative voltage above it */
    SMOOTH,      /* 1: core and memory one after the other; more: at once */
    BOUND,       /* how much of a workload waits for memory: logistic of this ... */
    BOUND_POWER, /* ... and this times log(power / largest) ... */
    BOUND_HINT,  /* ... and this times the activity of memory */
    N_CONSTANTS
};
static_assert((int)N_CONSTANTS == (int)FT__CLOCK_CONSTANTS,
              "as predictor files have them");
static const struct clock_range {
    double value, least, most;
} ranges[N_CONSTANTS] = {
    {0.15, 0.01, 0.6}, {0.10, 0.001, 0.6}, {0.4, 0, 1},  {0.65, 0.2, 1}, {1.0, 0, 4},
    {3, 1, 12},        {-0.5, -8, 8},      {0.5, -8, 8}, {2, -12, 12},
};
enum { SWEEPS = 60 };
static const double FIRST_STEP = 0.2; /* of a range */
static const double LAST_STEP = 0.002;

/* From one row of a workload to another. */
struct clock_pair {
    const ft__clock_row *from, *to;
};

/* ---- trees ---- */

enum {
    TREES = 100,
    LEAST_LEAF = 2,
    RESIDUAL_SCALE_TREES = 32,
    RESIDUAL_SCALE_LEAF = 5,
    FOLDS = 5
};
/* Measurements repeat no better. */
static const double LEAST_RESIDUAL_SCALE = 0.002;

/* A ratio and its interval, as logarithms; without trees the formulae, and NaN. */
struct log_ratio {
    double value, low, high;
};

static ft_model_options trees(uint32_t n, uint32_t leaf, uint64_t seed)
{
    return (ft_model_options){.method = FT_METHOD_EXTRA,
                              .forest = {.n_trees = n, .min_leaf = leaf, .seed = seed},
                              .seed = seed};
}

/* Of one fit. */
struct tree_fit {
    const ft_matrix *x;
    const double *predicted, *miss;
    uint32_t *fold;
    double *all;   /* predicted and missed */
    double *out;   /* out of fold: what is missed after all */
    double *other; /* scratch */
    uint64_t seed;
};

static ft_status fit_models(ft__clock_trees *t, const struct tree_fit *l, bool whole,
                            ft_error *err)
{
    const ft_model_options one = trees(TREES, LEAST_LEAF, l->seed),
                           two = trees(TREES, LEAST_LEAF, l->seed + 1);
    ft_status st = ft__model_fit(&t->miss, l->x, l->miss, NULL, &one, err);

    return st || !whole ? st : ft__model_fit(&t->whole, l->x, l->all, NULL, &two, err);
}

/* What the models miss of workloads that they were not shown. */
static ft_status hold_out(const ft__clock_trees *t, struct tree_fit *l, ft_error *err)
{
    const ft_model_options one = trees(TREES, LEAST_LEAF, l->seed),
                           two = trees(TREES, LEAST_LEAF, l->seed + 1);
    ft_status st = ft__model_cross_validate(l->out, l->x, l->miss, NULL, l->fold, FOLDS,
                                            &one, err);

    if (!st && t->whole)
        st = ft__model_cross_validate(l->other, l->x, l->all, NULL, l->fold, FOLDS,
                                      &two, err);
    for (size_t i = 0; i < l->x->n_rows && !st; i++)
        l->out[i] = t->whole
                        ? l->all[i] - (l->predicted[i] + l->out[i] + l->other[i]) / 2
                        : l->miss[i] - l->out[i];
    return st;
}

static ft_status fit_residual_scale(ft__clock_trees *t, struct tree_fit *l,
                                    ft_error *err)
{
    const ft_model_options coarse =
        trees(RESIDUAL_SCALE_TREES, RESIDUAL_SCALE_LEAF, l->seed + 2);
    const size_t n = l->x->n_rows;
    ft_status st;

    for (size_t i = 0; i < n; i++)
        l->other[i] = fabs(l->out[i]);
    st = ft__model_fit(&t->residual_scale, l->x, l->other, NULL, &coarse, err);
    if (!st)
        st = ft__model_cross_validate(l->all, l->x, l->other, NULL, l->fold, FOLDS,
                                      &coarse, err);
    for (size_t i = 0; i < n && !st; i++)
        l->out[i] /= fmax(0, l->all[i]) + LEAST_RESIDUAL_SCALE;
    return st ? st : ft__conformal(&t->low, &t->high, l->out, n, FT__COVERAGE, err);
}

static void trees_free(ft__clock_trees *t)
{
    ft__model_free(t->miss);
    ft__model_free(t->whole);
    ft__model_free(t->residual_scale);
    *t = (ft__clock_trees){0};
}

static ft_status trees_fit(ft__clock_trees *t, const ft_matrix *x,
                           const double *predicted, const double *miss,
                           const uint64_t *group, bool whole, uint64_t seed,
                           ft_error *err)
{
    const size_t n = x->n_rows;
    struct tree_fit l = {.x = x,
                         .predicted = predicted,
                         .miss = miss,
                         .fold = calloc(n + 1, sizeof(*l.fold)),
                         .all = calloc(n + 1, sizeof(*l.all)),
                         .out = calloc(n + 1, sizeof(*l.out)),
                         .other = calloc(n + 1, sizeof(*l.other)),
                         .seed = seed};
    ft_status st;

    *t = (ft__clock_trees){0};
    if (!l.fold || !l.all || !l.out || !l.other) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to learn from %zu clocks", n);
    } else {
        for (size_t i = 0; i < n; i++)
            l.all[i] = predicted[i] + miss[i];
        st = fit_models(t, &l, whole, err);
        /* Too few workloads to hold any out: no interval. */
        if (!st && ft__folds_make(l.fold, group, n, FOLDS, seed, NULL) == FT_OK) {
            st = hold_out(t, &l, err);
            if (!st)
                st = fit_residual_scale(t, &l, err);
        }
    }
    free(l.fold);
    free(l.all);
    free(l.out);
    free(l.other);
    if (st)
        trees_free(t);
    return st;
}

static struct log_ratio trees_at(const ft__clock_trees *t, const float *row,
                                 double predicted)
{
    struct log_ratio out = {predicted, NAN, NAN};
    double more, whole, residual_scale;

    if (!t->miss)
        return out;
    ft__model_predict(t->miss, row, 1, &more);
    out.value += more;
    if (t->whole) {
        ft__model_predict(t->whole, row, 1, &whole);
        out.value = (out.value + whole) / 2;
    }
    if (!t->residual_scale)
        return out;
    ft__model_predict(t->residual_scale, row, 1, &residual_scale);
    residual_scale = fmax(0, residual_scale) + LEAST_RESIDUAL_SCALE;
    out.low = out.value + fmin(0, t->low) * residual_scale;
    out.high = out.value + fmax(0, t->high) * residual_scale;
    return out;
}

/* ---- formulae ---- */

static double relative(double value, double largest)
{
    return isfinite(value) && largest > 0 ? value / largest : 1;
}

static double voltage(const double *v, double core)
{
    return 1 + v[SLOPE] * fmax(0, core - v[KNEE]);
}

double ft__clock_swing(double core)
{
    double v[N_CONSTANTS];

    for (int i = 0; i < N_CONSTANTS; i++)
        v[i] = ranges[i].value;
    return core * voltage(v, core) * voltage(v, core);
}

static double bound(const ft__clocks *c, const ft__clock_row *r)
{
    const double *v = c->v;
    double power = relative(r->power_w, c->power_w);
    double hint = isfinite(r->hint[0]) ? r->hint[0] : 0;

    return 1 /
           (1 + exp(-(v[BOUND] + v[BOUND_POWER] * log(power) + v[BOUND_HINT] * hint)));
}

static double to_power(double v, double q)
{
    return q == 3 ? v * v * v : pow(v, q);
}

/* What of a ratio does not depend on the clocks asked for. */
struct clock_start {
    const ft__clocks *c;
    double core_top, memory_top; /* clocks below are shares of these */
    double core, memory, power, volt, level, bound;
    double whole; /* the time as measured */
    double held;  /* what memory has in it */
};

/* The share `bound` of the time, at the clocks measured, is memory's. */
static void start_of(struct clock_start *out, const ft__clocks *c,
                     const ft__clock_row *r)
{
    const double *v = c->v, q = v[SMOOTH];

    out->c = c;
    out->core_top = c->core_hz > 0 ? c->core_hz : r->core_hz;
    out->memory_top = c->memory_hz > 0 ? c->memory_hz : r->memory_hz;
    out->core = relative(r->core_hz, out->core_top);
    out->memory = relative(r->memory_hz, out->memory_top);
    out->bound = bound(c, r);
    out->held = to_power(out->bound, q);
    out->whole = pow(to_power(1 - out->bound, q) + out->held, 1 / q);
    out->power = relative(r->power_w, c->power_w);
    out->volt = voltage(v, out->core);
    out->level = v[IDLE] * out->volt / voltage(v, 1) + v[MEMORY] * out->memory;
}

static double time_ratio(const struct clock_start *s, double core, double memory)
{
    double q = s->c->v[SMOOTH];
    double held = memory == 1 ? s->held : to_power(s->bound / memory, q);
    double then = pow(to_power((1 - s->bound) / core, q) + held, 1 / q);

    return then / s->whole;
}

static ft__clock_ratio ratio_at(const struct clock_start *s, double core_hz,
                                double memory_hz)
{
    const double *v = s->c->v;
    double core = relative(core_hz, s->core_top), volt = voltage(v, core), rest, swing;
    double memory =
        isfinite(memory_hz) ? relative(memory_hz, s->memory_top) : s->memory;
    /* A workload that takes less than what is always taken has its own share of it. */
    double level = fmin(s->level, 0.8 * s->power);
    ft__clock_ratio out = {.time_low = NAN,
                           .time_high = NAN,
                           .power = NAN,
                           .power_low = NAN,
                           .power_high = NAN};

    out.time = time_ratio(s, core / s->core, memory / s->memory);
    rest = s->power - level;
    swing = volt * volt / (s->volt * s->volt) *
            (v[CLOCKED] * core / s->core + (1 - v[CLOCKED]) / out.time);
    level *= (v[IDLE] * volt / voltage(v, 1) + v[MEMORY] * memory) / s->level;
    out.power = (level + rest * swing) / s->power;
    return out;
}

static ft__clock_ratio formulae(const ft__clocks *c, const ft__clock_row *r,
                                double core_hz, double memory_hz)
{
    struct clock_start s;

    start_of(&s, c, r);
    return ratio_at(&s, core_hz, memory_hz);
}

static double miss(double from, double to, double ratio)
{
    double e = fabs(log(to / from) - log(ratio));

    return isfinite(e) ? e : 0;
}

static double loss(const ft__clocks *c, const struct clock_pair *pair, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        const ft__clock_row *a = pair[i].from, *b = pair[i].to;
        ft__clock_ratio r = formulae(c, a, b->core_hz, b->memory_hz);

        sum +=
            miss(a->time_s, b->time_s, r.time) + miss(a->power_w, b->power_w, r.power);
    }
    return sum;
}

/* Hooke and Jeeves (1961), one constant after the other. */
static void search(ft__clocks *c, const struct clock_pair *pair, size_t n)
{
    double step[N_CONSTANTS], least = loss(c, pair, n), largest = FIRST_STEP;

    for (int i = 0; i < N_CONSTANTS; i++)
        step[i] = FIRST_STEP;
    for (int interpolation = 0; interpolation < SWEEPS && largest >= LAST_STEP;
         interpolation++) {
        largest = 0;
        for (int i = 0; i < N_CONSTANTS; i++) {
            double old = c->v[i], width = ranges[i].most - ranges[i].least;
            int better = 0;

            for (int sign = 1; sign >= -1 && !better; sign -= 2) {
                double l;

                c->v[i] = fmin(fmax(old + sign * step[i] * width, ranges[i].least),
                               ranges[i].most);
                l = loss(c, pair, n);
                better = l < least;
                least = better ? l : least;
            }
            if (!better)
                c->v[i] = old;
            step[i] *= better ? 1.5 : 0.5;
            largest = fmax(largest, step[i]);
        }
    }
}

static void columns(float *out, const ft__clocks *c, const ft__clock_row *r,
                    double core_hz, double memory_hz)
{
    ft__clock_ratio predicted = formulae(c, r, core_hz, memory_hz);
    double memory = isfinite(memory_hz) ? memory_hz : r->memory_hz;

    *out++ = (float)log(core_hz / r->core_hz);
    *out++ =
        (float)(isfinite(memory) && isfinite(r->memory_hz) ? log(memory / r->memory_hz)
                                                           : 0);
    *out++ = (float)relative(core_hz, c->core_hz);
    *out++ = (float)relative(r->core_hz, c->core_hz);
    *out++ = (float)log(relative(r->power_w, c->power_w));
    *out++ = isfinite(r->time_s) ? (float)log(r->time_s) : 0;
    *out++ = (float)bound(c, r);
    *out++ = (float)log(predicted.time);
    *out++ = (float)log(predicted.power);
    for (int i = 0; i < FT__CLOCK_HINTS; i++)
        *out++ = isfinite(r->hint[i]) ? (float)r->hint[i] : NAN;
    memcpy(out, r->name, sizeof(r->name));
}

int ft__clocks_sound(const ft__clocks *c)
{
    for (int i = 0; i < N_CONSTANTS; i++)
        if (!(c->v[i] >= ranges[i].least && c->v[i] <= ranges[i].most))
            return 0;
    return c->core_hz >= 0 && c->memory_hz >= 0 && c->power_w >= 0 &&
           isfinite(c->core_hz) && isfinite(c->memory_hz) && isfinite(c->power_w);
}

/* Trees on what the formulae miss of time or of power. Without a pair that tells of
 * it: none. */
static ft_status learn(ft__clock_trees *out, const ft__clocks *c,
                       const struct clock_pair *pair, size_t n, bool power,
                       uint64_t seed, ft_error *err)
{
    float *x = malloc(n * FT__CLOCK_COLUMNS * sizeof(*x));
    double *predicted = malloc(n * sizeof(*predicted)),
           *miss = malloc(n * sizeof(*miss));
    uint64_t *group = malloc(n * sizeof(*group));
    ft_status st = FT_OK;
    size_t used = 0;

    for (size_t i = 0; x && predicted && miss && group && i < n; i++) {
        const ft__clock_row *a = pair[i].from, *b = pair[i].to;
        ft__clock_ratio r = formulae(c, a, b->core_hz, b->memory_hz);

        predicted[used] = log(power ? r.power : r.time);
        miss[used] = log(power ? b->power_w / a->power_w : b->time_s / a->time_s) -
                     predicted[used];
        if (!isfinite(miss[used]))
            continue;
        columns(x + used * FT__CLOCK_COLUMNS, c, a, b->core_hz, b->memory_hz);
        group[used++] = a->workload;
    }
    if (!x || !predicted || !miss || !group)
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to learn from %zu clocks", n);
    else if (used)
        st = trees_fit(out, &(ft_matrix){x, used, FT__CLOCK_COLUMNS}, predicted, miss,
                       group, !power, seed, err);
    free(x);
    free(predicted);
    free(miss);
    free(group);
    return st;
}

static int higher(const ft__clock_row *a, const ft__clock_row *b)
{
    double x = isfinite(a->memory_hz) ? a->memory_hz : 0,
           y = isfinite(b->memory_hz) ? b->memory_hz : 0;

    return a->core_hz != b->core_hz ? a->core_hz > b->core_hz : x > y;
}

/* From the highest clocks of a workload, and from others drawn, to all of its rows:
 * two references each. */
static struct clock_pair *pairs(size_t *n_pairs, const ft__clock_row *row, size_t n,
                                uint64_t seed)
{
    struct clock_pair *list = malloc((2 * n + 1) * sizeof(*list));
    const ft__clock_row **top;
    uint32_t workloads = 0;

    *n_pairs = 0;
    for (size_t i = 0; i < n; i++)
        workloads = row[i].workload >= workloads ? row[i].workload + 1 : workloads;
    top = calloc((size_t)workloads * 2 + 1, sizeof(*top));
    for (size_t i = 0; list && top && i < n; i++) {
        const ft__clock_row **t = &top[2 * (size_t)row[i].workload];
        ft__prng p = ft__prng_stream(seed, i);

        if (!t[0] || higher(&row[i], t[0]))
            t[0] = &row[i];
        if (!t[1] || ft__prng_unit(&p) < 0.2)
            t[1] = &row[i];
    }
    for (size_t i = 0; list && top && i < n; i++)
        for (int k = 0; k < 2; k++) {
            const ft__clock_row *from = top[2 * (size_t)row[i].workload + (size_t)k];

            if (from != &row[i] && (k == 0 || from != top[2 * (size_t)row[i].workload]))
                list[(*n_pairs)++] = (struct clock_pair){from, &row[i]};
        }
    if (!top) {
        free(list);
        list = NULL;
    }
    free(top);
    return list;
}

ft_status ft__clocks_fit(ft__clocks **out, const ft__clock_row *row, size_t n,
                         int trees, uint64_t seed, ft_error *err)
{
    ft__clocks *c = calloc(1, sizeof(*c));
    size_t n_pairs;
    struct clock_pair *pair = pairs(&n_pairs, row, n, seed);
    ft_status st = FT_OK;

    *out = NULL;
    for (int i = 0; c && i < N_CONSTANTS; i++)
        c->v[i] = ranges[i].value;
    for (size_t i = 0; c && i < n; i++) {
        c->core_hz = fmax(c->core_hz, row[i].core_hz);
        c->memory_hz = fmax(c->memory_hz, row[i].memory_hz);
        c->power_w = fmax(c->power_w, row[i].power_w);
    }
    if (!c || !pair) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for %zu clocks", n);
    } else if (n_pairs) {
        search(c, pair, n_pairs);
        if (trees)
            st = learn(&c->time, c, pair, n_pairs, false, seed, err);
        if (trees && !st)
            st = learn(&c->power, c, pair, n_pairs, true, seed + 3, err);
    }
    free(pair);
    if (st)
        ft__clocks_free(c);
    else
        *out = c;
    return st;
}

void ft__clocks_free(ft__clocks *c)
{
    if (!c)
        return;
    trees_free(&c->time);
    trees_free(&c->power);
    free(c);
}

ft__clock_ratio ft__clocks_at(const ft__clocks *c, const ft__clock_row *measured,
                              double core_hz, double memory_hz)
{
    ft__clock_ratio r = formulae(c, measured, core_hz, memory_hz);
    struct log_ratio time, power;
    float row[FT__CLOCK_COLUMNS];

    if (!c->time.miss && !c->power.miss) {
        if (!isfinite(measured->power_w))
            r.power = NAN;
        return r;
    }
    columns(row, c, measured, core_hz, memory_hz);
    time = trees_at(&c->time, row, log(r.time));
    power = trees_at(&c->power, row, log(r.power));
    if (!isfinite(measured->power_w))
        power = (struct log_ratio){NAN, NAN, NAN};
    return (ft__clock_ratio){.time = exp(time.value),
                             .time_low = exp(time.low),
                             .time_high = exp(time.high),
                             .power = exp(power.value),
                             .power_low = exp(power.low),
                             .power_high = exp(power.high)};
}
