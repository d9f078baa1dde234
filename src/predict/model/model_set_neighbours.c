/* A regressor of those rows of a kind that have neighbours. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "learn/learn_inside.h"
#include "predict/model/model_set_rows.h"

/* Fewer rows with neighbours are not worth one, nor is a gain below this. */
enum { LEAST_ROWS = 200 };
static const double least_gain = 0.03;

/* Rows that have neighbours: in the order of the part's, of[m] which they are. */
struct wide {
    float *x;
    double *y, *out, *residual_scale;
    uint64_t *group;
    size_t *of;
    uint32_t width;
    size_t m;
};

static void wide_free(struct wide *w)
{
    free(w->x);
    free(w->y);
    free(w->out);
    free(w->residual_scale);
    free(w->group);
    free(w->of);
}

static ft_status wide_make(struct wide *w, size_t n, uint32_t width, ft_error *err)
{
    *w = (struct wide){.x = malloc((n + 1) * width * sizeof(float)),
                       .y = malloc((n + 1) * sizeof(double)),
                       .out = malloc((n + 1) * sizeof(double)),
                       .residual_scale = malloc((n + 1) * sizeof(double)),
                       .group = malloc((n + 1) * sizeof(uint64_t)),
                       .of = malloc((n + 1) * sizeof(size_t)),
                       .width = width};
    if (w->x && w->y && w->out && w->residual_scale && w->group && w->of)
        return FT_OK;
    wide_free(w);
    return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
}

static void take_wide(struct wide *w, const ft__neighbours *neighbours,
                      const ft__model_set *l, const struct regressor_rows *r,
                      const ft__samples *s)
{
    const uint32_t plain = l->columns.n;

    for (size_t i = 0; i < r->m; i++) {
        float *row = w->x + w->m * w->width;

        if (!ft__neighbours_fill(neighbours, row + plain, &s->v[r->index[r->of[i]]]))
            continue;
        memcpy(row, r->px + i * plain, plain * sizeof(float));
        w->y[w->m] = r->py[i];
        w->group[w->m] = r->group[i];
        w->of[w->m++] = i;
    }
}

/* Mean deviation out of fold of the kind's regressor, where rows have neighbours. */
static double deviation_without(const struct wide *w, const struct regressor_rows *r)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < w->m; i++)
        if (isfinite(r->pout[w->of[i]])) {
            sum += fabs(w->y[i] - r->pout[w->of[i]]);
            n++;
        }
    return sum / (double)n;
}

/* What it says of them out of fold, to r: nothing of those without neighbours. */
static void tell(struct regressor_rows *r, const struct wide *w)
{
    for (size_t i = 0; i < r->m; i++)
        r->pout[i] = r->presidual_scale[i] = NAN;
    for (size_t i = 0; i < w->m; i++) {
        r->pout[w->of[i]] = w->out[i];
        r->presidual_scale[w->of[i]] = w->residual_scale[i];
    }
}

static ft_status copy_range(ft__regressor *out, const ft__regressor *kind,
                            uint32_t width, ft_error *err)
{
    out->least = malloc(width * sizeof(float));
    out->most = malloc(width * sizeof(float));
    if (!out->least || !out->most)
        return ft_fail(err, FT_ENOMEM, 0, "regressor");
    memcpy(out->least, kind->least, width * sizeof(float));
    memcpy(out->most, kind->most, width * sizeof(float));
    return FT_OK;
}

/* ---- is it worth trying? ---- */

/* A few trees, with and without neighbours, on a fifth of the rows that they have not
 * seen: most of what neighbours say nothing of is found out in a tenth of the time. */
enum { FEW_TREES = 12 };
static const double held_share = 0.2;

static bool is_held(uint64_t seed, uint64_t group)
{
    ft__prng p = ft__prng_stream(seed ^ 0x6e656172, group);

    return ft__prng_unit(&p) < held_share;
}

/* Mean deviation of trees on the rows of weight 0 that `tested` names. */
static ft_status deviation_of(double *out, const ft_matrix *x, const double *y,
                              const double *weight, const size_t *tested, size_t n,
                              const ft__fit_options *how, ft_error *err)
{
    const ft_model_options trees = {.method = FT_METHOD_EXTRA,
                                    .forest = {.n_trees = FEW_TREES,
                                               .min_leaf = 1,
                                               .seed = how->seed,
                                               .threads = how->threads}};
    ft_model *model;
    double sum = 0;
    ft_status st = ft__model_fit(&model, x, y, weight, &trees, err);

    if (st)
        return st;
    for (size_t i = 0; i < n; i++) {
        double predicted;

        ft__model_predict(model, x->x + tested[i] * x->n_cols, 1, &predicted);
        sum += fabs(y[tested[i]] - predicted);
    }
    ft__model_free(model);
    *out = n ? sum / (double)n : 0;
    return FT_OK;
}

static ft_status find_gain(bool *gains, const struct wide *w, const ft__model_set *l,
                           const struct regressor_rows *r, const ft__fit_options *how,
                           ft_error *err)
{
    const ft_matrix with = {w->x, w->m, w->width};
    const ft_matrix without = {r->px, r->m, l->columns.n};
    double *weight = calloc(w->m + r->m + 1, sizeof(*weight)), *other;
    size_t *held = malloc((2 * w->m + 1) * sizeof(*held)), n = 0;
    double a = 0, b = 0;
    ft_status st = FT_OK;

    if (!weight || !held)
        st = ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", w->m);
    other = weight ? weight + w->m : NULL;
    for (size_t i = 0; i < w->m && !st; i++) {
        if (is_held(how->seed, w->group[i])) {
            held[n] = i;
            held[w->m + n++] = w->of[i];
        } else
            weight[i] = other[w->of[i]] = 1;
    }
    if (!st && n && n < w->m)
        st = deviation_of(&a, &with, w->y, weight, held, n, how, err);
    if (!st && n && n < w->m)
        st = deviation_of(&b, &without, r->py, other, held + w->m, n, how, err);
    *gains = a < (1 - least_gain) * b;
    free(weight);
    free(held);
    return st;
}

/* ---- all of it ---- */

static double deviation_of_all(const struct regressor_rows *r)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < r->m; i++)
        if (isfinite(r->pout[i])) {
            sum += fabs(r->py[i] - r->pout[i]);
            n++;
        }
    return sum / (double)n;
}

/* Cross-validation that looks at some of many rows flatters neighbours, which stay as
 * near as they are: both have to be held against all rows, too. easier: what the kind's
 * regressor errs where rows have neighbours, against everywhere. */
static bool is_better(const ft__fit *with, const ft__fit *without, double easier)
{
    return !with->refused &&
           with->deviation < (1 - least_gain) * without->deviation * easier;
}

/* In the file, beside the kind's own, among m rows. */
static bool has_room(const ft__model_set *l, const ft__regressor *neighbours,
                     const ft__regressor *kind, size_t m)
{
    size_t bytes = ft__fit_bytes(&kind->fit) + ft__fit_bytes(&neighbours->fit) +
                   neighbours->neighbours.bytes;

    return !(l->opt.row_bytes > 0) || (double)bytes <= l->opt.row_bytes * (double)m;
}

static void say(ft__fit *f)
{
    const size_t len = strlen(f->choice);

    snprintf(f->choice + len, sizeof(f->choice) - len, ", with neighbours");
}

static ft_status fit_wide(ft__regressor *out, bool *made, struct wide *w,
                          const ft__model_set *l, struct regressor_rows *r,
                          const ft__regressor *kind, const ft__fit_options *how,
                          ft_error *err)
{
    const ft_matrix x = {w->x, w->m, w->width};
    ft__fit_options with = *how;
    const double without = deviation_without(w, r);
    bool gains;
    ft_status st = find_gain(&gains, w, l, r, how, err);

    if (st || !gains)
        return st;
    with.ceiling = (1 - least_gain) * without;
    st = ft__fit_make(&out->fit, w->out, w->residual_scale, &x, w->y, w->group, &with,
                      err);
    if (st || !is_better(&out->fit, &kind->fit, without / deviation_of_all(r)) ||
        !has_room(l, out, kind, r->m))
        return st;
    *made = true;
    say(&out->fit);
    tell(r, w);
    st = copy_range(out, kind, l->columns.n, err);
    return st ? st : ft__regressor_errors(out, l, r, err);
}

/* In all rows of the kind, also those that are not drawn: they take little room. */
static ft_status find_neighbours(ft__neighbours *out, const ft__samples *s,
                                 const struct regressor_rows *r,
                                 const ft__regressor *kind, ft_error *err)
{
    uint32_t *row = malloc((r->n + 1) * sizeof(*row));
    double *target = malloc((r->n + 1) * sizeof(*target));
    size_t n = 0;
    ft_status st;

    for (size_t i = 0; i < r->n && row && target; i++)
        if (ft__regressor_has(kind, &s->v[r->index[i]].op)) {
            row[n] = r->index[i];
            target[n++] = r->y[i];
        }
    st = row && target ? ft__neighbours_make(out, s, row, target, n, err)
                       : ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", r->n);
    free(row);
    free(target);
    return st;
}

ft_status ft__regressor_with_neighbours(ft__regressor *out, bool *made,
                                        const ft__model_set *l,
                                        struct regressor_rows *r, const ft__samples *s,
                                        const ft__regressor *kind,
                                        const ft__fit_options *how, ft_error *err)
{
    struct wide w = {0};
    ft_status st = FT_OK;

    *out = (ft__regressor){.scope = FT__SCOPE_NEIGHBOURS,
                           .which = kind->which,
                           .phase = kind->phase,
                           .rows = kind->rows};
    *made = false;
    if (r->m < LEAST_ROWS || !kind->fit.n_models)
        return FT_OK;
    st = find_neighbours(&out->neighbours, s, r, kind, err);
    if (!st && out->neighbours.n_axes)
        st = wide_make(&w, r->m,
                       l->columns.n + ft__neighbours_columns(&out->neighbours), err);
    if (!st && out->neighbours.n_axes)
        take_wide(&w, &out->neighbours, l, r, s);
    if (!st && w.m >= LEAST_ROWS)
        st = fit_wide(out, made, &w, l, r, kind, how, err);
    wide_free(&w);
    if (st || !*made)
        ft__regressor_free(out);
    return st;
}
