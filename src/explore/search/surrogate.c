#include "explore/search/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explore/explore_inside.h"
#include "learn/learn_inside.h"
#include "learn/tree/walk.h"

enum { TREES = 16, TREES_OF_FAILURES = 32, TUNED_EVERY = 8 };

/* Where more points fail than work, gains do not count for much: nothing that was told
 * bounds them there. */
static const double likely = 0.5, unlikely = 1e-3;

/* ---- scales ---- */

/* How far values lean to one side. */
static double skew(const double *v, size_t n)
{
    double mean = 0, square = 0, cube = 0;

    for (size_t i = 0; i < n; i++)
        mean += v[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double off = v[i] - mean;

        square += off * off;
        cube += off * off * off;
    }
    return square > 0 ? fabs(cube) / (square * sqrt(square)) : 0;
}

static double transformed(const ft__scale *c, double y)
{
    return ((c->log ? log(fmax(y, 0)) : y) - c->low) / c->width;
}

/* Logarithms where they lean less; room: n. */
static void choose_scale(ft__scale *c, const double *v, double *room, size_t n,
                         double limit)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
        room[i] = v[i] > 0 ? log(v[i]) : 0;
    }
    c->log = low > 0 && skew(room, n) < skew(v, n);
    c->low = c->log ? log(low) : low;
    c->width = 1.1 * ((c->log ? log(high) : high) - c->low);
    c->width = c->width > 0 ? c->width : 1;
    c->limit = transformed(c, limit);
}

/* ---- rows ---- */

static void write_row(const ft_search *s, float *x, const double *point)
{
    double unit[FT__MAX_PARAMS];

    ft__space_to_unit(s->s, unit, point);
    for (size_t k = 0; k < s->s->n; k++)
        x[k] = isnan(point[k]) ? NAN : (float)unit[k];
}

static bool failed(const ft_search *s, size_t row)
{
    for (uint32_t k = 0; k < s->m; k++)
        if (!isfinite(s->y[row * s->m + k]))
            return true;
    return false;
}

static void take_rows(ft__surrogate *o, const ft_search *s)
{
    double column[FT__MAX_TREND];

    for (size_t i = 0; i < s->n; i++) {
        const double *point = s->point + i * s->s->n;

        if (failed(s, i))
            continue;
        write_row(s, o->x + o->n * s->s->n, point);
        o->columns = ft__trend_columns(s->s, point, column);
        memcpy(o->column + o->n * o->columns, column, o->columns * sizeof(*column));
        o->row[o->n++] = i;
    }
}

static void scale_targets(ft__surrogate *o, const ft_search *s)
{
    for (uint32_t k = 0; k < s->m; k++) {
        double *t = o->target + k * s->n;

        for (size_t i = 0; i < o->n; i++)
            t[i] = s->y[o->row[i] * s->m + k];
        choose_scale(&o->scale[k], t, o->best, o->n, s->limit[k]);
        for (size_t i = 0; i < o->n; i++)
            t[i] = transformed(&o->scale[k], t[i]);
    }
}

/* Points within limits to the front of the list of rows, for the moment. */
static ft_status find_base(ft__surrogate *o, const ft_search *s, ft_error *err)
{
    unsigned char *on = malloc(o->n);
    double least = INFINITY;
    ft_status st;

    if (!on)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a front");
    for (size_t i = 0; i < o->n; i++) {
        const double excess = ft__search_excess(s, s->y + o->row[i] * s->m);

        if (excess < least)
            o->base[0] = o->row[i];
        least = fmin(least, excess);
        for (uint32_t k = 0; k < s->m && excess <= 0; k++)
            o->best[o->n_best * s->m + k] = o->target[k * s->n + i];
        if (excess <= 0)
            o->base[o->n_best++] = o->row[i];
    }
    st = ft_pareto(on, o->best, o->n_best, s->m, err);
    for (size_t i = 0; i < o->n_best && !st; i++)
        if (on[i])
            o->base[o->n_base++] = o->base[i];
    o->n_base = o->n_best ? o->n_base : 1;
    free(on);
    return st;
}

/* ---- learning ---- */

/* What is expected where nothing is known, scaled: half-way to the reference. */
static const double middle = 0.5;

static void take_middle(ft__surrogate *o, const ft_search *s)
{
    for (uint32_t k = 0; k < s->m; k++)
        for (size_t i = 0; i < o->n; i++)
            o->target[k * s->n + i] -= middle;
}

/* Lengths hold for some points to come. They depend on the first points alone, so that
 * a search that was cut off goes on as it would have. */
static ft_status tune(ft__surrogate *o, ft_search *s, ft_error *err)
{
    const size_t all = o->n;
    ft_status st = FT_OK;

    o->n -= all < TUNED_EVERY ? 0 : all % TUNED_EVERY;
    if (s->tuned_on != o->n) {
        scale_targets(o, s);
        take_middle(o, s);
        st =
            ft__process_tune(&o->process, s->s, o->x, o->target, s->n, o->n, s->m, err);
        s->tuned_on = st ? 0 : o->n;
        memcpy(s->rate, o->process.rate, sizeof(s->rate));
        s->noise = o->process.noise;
    }
    memcpy(o->process.rate, s->rate, sizeof(s->rate));
    o->process.noise = s->noise;
    o->n = all;
    return st;
}

static ft_status fit_trees(ft__surrogate *o, const ft_search *s, ft_error *err)
{
    const ft_forest_options opt = {
        .kind = FT_FOREST_EXTRA, .n_trees = TREES, .seed = s->n};
    const ft_matrix x = {o->x, o->n, s->s->n};
    ft_status st = FT_OK;

    for (uint32_t k = 0; k < s->m && !st; k++) {
        double *t = o->target + k * s->n;

        ft__trend_fit(&o->trend[k], o->column, o->columns, t, o->n);
        for (size_t i = 0; i < o->n; i++)
            t[i] -= ft__trend_at(&o->trend[k], o->column + i * o->columns);
        st = ft__forest_fit(&o->forest[k], &x, t, NULL, &opt, err);
    }
    return st;
}

static ft_status fit(ft__surrogate *o, const ft_search *s, ft_error *err)
{
    ft_status st = ft__gain_start(&o->gain, o->best, o->n_best, s->m, err);

    if (st)
        return st;
    if (o->n > FT__PROCESS_MOST)
        return fit_trees(o, s, err);
    take_middle(o, s);
    return ft__process_fit(&o->process, s->s, o->x, o->target, s->n, o->n, s->m, err);
}

/* Where points fail, from all of them; nothing while none did. */
static ft_status learn_failures(ft__surrogate *o, const ft_search *s, ft_error *err)
{
    const ft_forest_options opt = {.kind = FT_FOREST_EXTRA,
                                   .n_trees = TREES_OF_FAILURES};
    float *x = malloc((s->n + 1) * s->s->n * sizeof(*x));
    double *good = malloc((s->n + 1) * sizeof(*good));
    const ft_matrix rows = {x, s->n, s->s->n};
    ft_status st = x && good ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu points", s->n);

    for (size_t i = 0; i < s->n && !st; i++) {
        write_row(s, x + i * s->s->n, s->point + i * s->s->n);
        good[i] = !failed(s, i);
    }
    if (!st && o->n < s->n)
        st = ft__forest_fit(&o->good, &rows, good, NULL, &opt, err);
    free(x);
    free(good);
    return st;
}

ft_status ft__surrogate_learn(ft__surrogate *o, ft_search *s, ft_error *err)
{
    const size_t n = s->n + 1;
    ft_status st = FT_OK;

    o->row = malloc(n * sizeof(*o->row));
    o->base = malloc(n * sizeof(*o->base));
    o->target = malloc(n * s->m * sizeof(*o->target));
    o->best = malloc(n * s->m * sizeof(*o->best));
    o->x = malloc(n * s->s->n * sizeof(*o->x));
    o->column = malloc(n * FT__MAX_TREND * sizeof(*o->column));
    if (!o->row || !o->base || !o->target || !o->best || !o->x || !o->column)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a model of %zu points", s->n);
    take_rows(o, s);
    if (o->n < FT__SURROGATE_LEAST)
        return FT_OK;
    if (o->n <= FT__PROCESS_MOST)
        st = tune(o, s, err);
    scale_targets(o, s);
    if (!st)
        st = find_base(o, s, err);
    if (!st)
        st = fit(o, s, err);
    return st ? st : learn_failures(o, s, err);
}

void ft__surrogate_free(ft__surrogate *o)
{
    free(o->row);
    free(o->base);
    free(o->target);
    free(o->best);
    free(o->x);
    free(o->column);
    ft__forest_free(o->good);
    ft__gain_free(&o->gain);
    ft__process_free(&o->process);
    for (uint32_t k = 0; k < FT__MAX_OBJECTIVES; k++)
        ft__forest_free(o->forest[k]);
}

static void ask_trees(const ft__surrogate *o, const ft_search *s, const double *point,
                      const float *x, double *mean, double *sigma)
{
    double column[FT__MAX_TREND], tree[TREES];

    ft__trend_columns(s->s, point, column);
    for (uint32_t k = 0; k < s->m; k++) {
        double sum = 0, square = 0;

        ft__forest_each(o->forest[k], x, tree);
        for (int t = 0; t < TREES; t++) {
            sum += tree[t] / TREES;
            square += tree[t] * tree[t] / TREES;
        }
        mean[k] = sum + ft__trend_at(&o->trend[k], column);
        sigma[k] = sqrt(fmax(0, square - sum * sum));
    }
}

void ft__surrogate_ask(ft__surrogate *o, const ft_search *s, const double *point,
                       double *mean, double *sigma)
{
    float x[FT__MAX_PARAMS];

    write_row(s, x, point);
    if (o->n > FT__PROCESS_MOST) {
        ask_trees(o, s, point, x, mean, sigma);
        return;
    }
    ft__process_ask(&o->process, s->s, x, mean, sigma);
    for (uint32_t k = 0; k < s->m; k++)
        mean[k] += middle;
}

double ft__surrogate_chance(const ft__surrogate *o, const ft_search *s,
                            const double *point)
{
    float x[FT__MAX_PARAMS];
    double share;

    if (!o->good)
        return 1;
    write_row(s, x, point);
    share = ft__forest_predict(o->good, x);
    return share > likely ? share : fmax(share, unlikely) * unlikely;
}
