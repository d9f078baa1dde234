/* Performance-influence models: N. Siegmund, A. Grebhahn, S. Apel, C. Kaestner,
 * Performance-influence models for highly configurable systems, ESEC/FSE 2015: terms
 * are added one at a time, each the one that explains most of what is left (forward
 * selection by orthogonal columns), as many as the error of points held out says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/solve.h"
#include "explore/space/space.h"
#include "learn/learn_inside.h"

enum {
    FOLDS = 5,
    LEAST_POINTS = 10,
    MOST_TERMS = 24,
    MOST_CANDIDATES = 4096, /* beyond that no products */
    MOST_VALUES = 16,       /* of a category that is looked at */
};

static const double WORTH = 0.01; /* of the least error: fewer terms are as good */

struct term_search {
    ft__arena room;
    const ft_space *s;
    ft_influence_term *term; /* candidates; the first is the constant */
    size_t n_terms;
    size_t n;  /* points */
    double *x; /* n_terms columns of n values */
    double *y;
    double *q;    /* x without what chosen columns explain, 0 in rows held out */
    double *left; /* y, likewise */
    uint32_t *fold;
    size_t chosen[MOST_TERMS];
    size_t n_chosen;
};

static ft_influence_term base_term(int32_t param, int32_t category, int32_t power)
{
    return (ft_influence_term){0, {param, -1}, {category, -1}, {power, 1}};
}

static size_t bases_of(const ft_parameter *p)
{
    if (p->n_values == 1 ||
        (p->type == FT_PARAM_CATEGORICAL && p->n_values > MOST_VALUES))
        return 0;
    if (p->type == FT_PARAM_CATEGORICAL)
        return p->n_values == 2 ? 1 : p->n_values;
    return p->n_values == 2 ? 1 : 2;
}

/* Base b of a parameter: a category (the second one of two says it all), or a power. */
static ft_influence_term base_of(const ft_parameter *p, size_t param, size_t b)
{
    if (p->type == FT_PARAM_CATEGORICAL)
        return base_term((int32_t)param, (int32_t)(p->n_values == 2 ? 1 : b), 1);
    return base_term((int32_t)param, -1, (int32_t)b + 1);
}

static void add_products(struct term_search *w, size_t singles)
{
    for (size_t i = 1; i < singles; i++)
        for (size_t j = 1; j < i; j++) {
            const ft_influence_term *a = &w->term[j], *b = &w->term[i];

            if (a->param[0] == b->param[0] || a->power[0] > 1 || b->power[0] > 1)
                continue;
            w->term[w->n_terms++] =
                (ft_influence_term){0,
                                    {a->param[0], b->param[0]},
                                    {a->category[0], b->category[0]},
                                    {1, 1}};
        }
}

static ft_status list_terms(struct term_search *w, ft_error *err)
{
    size_t singles = 1;

    for (size_t k = 0; k < w->s->n; k++)
        singles += bases_of(&w->s->param[k]);
    w->term =
        ft__arena_need(&w->room, singles + singles * singles / 2, sizeof(*w->term));
    if (w->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu terms", singles);
    w->term[w->n_terms++] = base_term(-1, -1, 1);
    for (size_t k = 0; k < w->s->n; k++)
        for (size_t b = 0; b < bases_of(&w->s->param[k]); b++)
            w->term[w->n_terms++] = base_of(&w->s->param[k], k, b);
    if (singles * singles / 2 <= MOST_CANDIDATES)
        add_products(w, singles);
    return FT_OK;
}

/* 0 where a parameter has no say. */
static double value_of(const ft_influence_term *t, const double *point,
                       const double *unit)
{
    double v = 1;

    for (int i = 0; i < 2 && t->param[i] >= 0; i++) {
        const int32_t k = t->param[i];

        if (isnan(point[k]))
            return 0;
        if (t->category[i] >= 0)
            v *= point[k] == t->category[i];
        else
            v *= t->power[i] == 2 ? unit[k] * unit[k] : unit[k];
    }
    return v;
}

static ft_status write_columns(struct term_search *w, const double *points,
                               const double *y, size_t n, ft_error *err)
{
    double unit[FT__MAX_PARAMS];

    w->x = ft__arena_need(&w->room, w->n_terms * n, sizeof(*w->x));
    w->q = ft__arena_need(&w->room, w->n_terms * n, sizeof(*w->q));
    w->y = ft__arena_need(&w->room, n, sizeof(*w->y));
    w->left = ft__arena_need(&w->room, n, sizeof(*w->left));
    w->fold = ft__arena_need(&w->room, n, sizeof(*w->fold));
    if (w->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu points", n);
    for (size_t i = 0; i < n; i++)
        w->n += isnan(y[i]) ? 0 : 1;
    for (size_t i = 0, row = 0; i < n; i++) {
        const double *point = points + i * w->s->n;

        if (isnan(y[i]))
            continue;
        ft__space_to_unit(w->s, unit, point);
        for (size_t t = 0; t < w->n_terms; t++)
            w->x[t * w->n + row] = value_of(&w->term[t], point, unit);
        w->y[row++] = y[i];
    }
    return FT_OK;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void start(struct term_search *w, uint32_t held_out)
{
    for (size_t i = 0; i < w->n; i++) {
        const double keep = w->fold[i] != held_out;

        w->left[i] = keep * w->y[i];
        for (size_t t = 0; t < w->n_terms; t++)
            w->q[t * w->n + i] = keep * w->x[t * w->n + i];
    }
    w->n_chosen = 0;
}

/* Take the column, and what it explains out of everything. */
static void take(struct term_search *w, size_t t)
{
    const double *q = w->q + t * w->n;
    const double norm = dot(q, q, w->n), share = dot(q, w->left, w->n) / norm;

    w->chosen[w->n_chosen++] = t;
    for (size_t i = 0; i < w->n; i++)
        w->left[i] -= share * q[i];
    for (size_t c = 0; c < w->n_terms; c++) {
        double *other = w->q + c * w->n;
        const double of_it = dot(q, other, w->n) / norm;

        for (size_t i = 0; i < w->n && c != t; i++)
            other[i] -= of_it * q[i];
    }
    memset(w->q + t * w->n, 0, w->n * sizeof(*w->q));
}

/* The column that explains most of what is left; false: none does. */
static bool choose(const struct term_search *w, size_t *best)
{
    double most = 1e-12 * dot(w->y, w->y, w->n);
    const double before = most;

    for (size_t t = 0; t < w->n_terms; t++) {
        const double *q = w->q + t * w->n, *x = w->x + t * w->n;
        const double norm = dot(q, q, w->n), along = dot(q, w->left, w->n);

        /* what is left of a column that others explain is rounding */
        if (norm <= 1e-9 * dot(x, x, w->n) || along * along / norm <= most)
            continue;
        most = along * along / norm;
        *best = t;
    }
    return most > before;
}

/* Least squares on the first n of the chosen columns over the rows not held out. */
static void solve(const struct term_search *w, size_t n, uint32_t held_out,
                  double *weight)
{
    double a[MOST_TERMS * MOST_TERMS] = {0};

    memset(weight, 0, n * sizeof(*weight));
    for (size_t r = 0; r < w->n; r++) {
        double row[MOST_TERMS];

        if (w->fold[r] == held_out)
            continue;
        for (size_t i = 0; i < n; i++) {
            row[i] = w->x[w->chosen[i] * w->n + r];
            weight[i] += row[i] * w->y[r];
            for (size_t j = 0; j <= i; j++)
                a[i * n + j] += row[i] * row[j];
        }
    }
    ft__solve(a, weight, (int)n);
}

static double squared_error(const struct term_search *w, size_t n, const double *weight,
                            uint32_t fold)
{
    double sum = 0;

    for (size_t r = 0; r < w->n; r++) {
        double off = w->y[r];

        if (w->fold[r] != fold)
            continue;
        for (size_t i = 0; i < n; i++)
            off -= weight[i] * w->x[w->chosen[i] * w->n + r];
        sum += off * off;
    }
    return sum;
}

/* Choose without the rows of a fold, and add their errors with each number of terms. */
static void try_fold(struct term_search *w, uint32_t fold, double *error)
{
    double weight[MOST_TERMS], last = 0;
    size_t t = 0;

    start(w, fold);
    for (size_t n = 0; n < MOST_TERMS; n++) {
        if (n == 0 || choose(w, &t)) {
            take(w, n == 0 ? 0 : t);
            solve(w, w->n_chosen, fold, weight);
            last = squared_error(w, w->n_chosen, weight, fold);
        }
        error[n] += last;
    }
}

/* The fewest terms whose error is next to the least. */
static size_t best_size(const double *error)
{
    double least = error[0];
    size_t n = 0;

    for (size_t i = 1; i < MOST_TERMS; i++)
        least = fmin(least, error[i]);
    while (error[n] > (1 + WORTH) * least)
        n++;
    return n + 1;
}

static ft_status keep(ft_influence_model *out, const struct term_search *w,
                      ft_error *err)
{
    double weight[MOST_TERMS];

    solve(w, w->n_chosen, FOLDS, weight);
    out->term = malloc(w->n_chosen * sizeof(*out->term));
    if (!out->term)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu terms", w->n_chosen);
    for (size_t i = 0; i < w->n_chosen; i++) {
        out->term[i] = w->term[w->chosen[i]];
        out->term[i].coefficient = weight[i];
    }
    out->n = w->n_chosen;
    return FT_OK;
}

static ft_status fit(ft_influence_model *out, struct term_search *w, uint64_t seed,
                     ft_error *err)
{
    double error[MOST_TERMS] = {0}, mean = 0, all = 0;
    size_t size, t = 0;
    ft_status st = ft__folds_make(w->fold, NULL, w->n, FOLDS, seed, err);

    for (size_t i = 0; i < w->n; i++)
        mean += w->y[i] / (double)w->n;
    if (st)
        return st;
    for (uint32_t f = 0; f < FOLDS; f++)
        try_fold(w, f, error);
    size = best_size(error);
    for (size_t i = 0; i < w->n; i++)
        all += (w->y[i] - mean) * (w->y[i] - mean);
    out->r2 = all > 0 ? 1 - error[size - 1] / all : (double)NAN;
    start(w, FOLDS);
    take(w, 0);
    while (w->n_chosen < size && choose(w, &t))
        take(w, t);
    return keep(out, w, err);
}

ft_status ft_influence_fit(ft_influence_model *out, const ft_space *s,
                           const double *points, const double *y, size_t n,
                           uint64_t seed, ft_error *err)
{
    struct term_search w = {.s = s};
    ft_status st = list_terms(&w, err);

    *out = (ft_influence_model){.r2 = NAN};
    if (!st)
        st = write_columns(&w, points, y, n, err);
    if (!st && w.n < LEAST_POINTS)
        st = ft_fail(err, FT_EINVAL, 0,
                     "%zu points whose outcome is known, at least %d make a model", w.n,
                     LEAST_POINTS);
    if (!st)
        st = fit(out, &w, seed, err);
    ft__arena_free(&w.room);
    return st;
}

void ft_influence_model_free(ft_influence_model *m)
{
    free(m->term);
    *m = (ft_influence_model){0};
}
