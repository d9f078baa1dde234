/* Trees on what the formulae of clocks miss, with intervals from workloads held out. */
#include "predict/model/clock.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "learn/learn_inside.h"

enum {
    TREES = 100,
    LEAST_LEAF = 2,
    RESIDUAL_SCALE_TREES = 32,
    RESIDUAL_SCALE_LEAF = 5,
    FOLDS = 5
};
/* Repeatability of measurements. */
static const double LEAST_RESIDUAL_SCALE = 0.002;

static ft__learn_model_options trees(uint32_t n, uint32_t leaf, uint64_t seed)
{
    return (ft__learn_model_options){
        .method = FT_METHOD_EXTRA,
        .forest = {.n_trees = n, .min_leaf = leaf, .seed = seed},
        .seed = seed};
}

struct tree_fit {
    const ft__matrix *x;
    const double *predicted, *miss;
    uint32_t *fold;
    double *all;   /* predicted and missed */
    double *out;   /* out of fold: what is missed after all */
    double *other; /* scratch */
    size_t n_groups;
    uint64_t seed;
};

static ft_status fit_models(ft__clock_trees *t, const struct tree_fit *l, bool whole,
                            ft_error *err)
{
    const ft__learn_model_options one = trees(TREES, LEAST_LEAF, l->seed),
                                  two = trees(TREES, LEAST_LEAF, l->seed + 1);
    ft_status st = ft__model_fit(&t->miss, l->x, l->miss, NULL, &one, err);

    return st || !whole ? st : ft__model_fit(&t->whole, l->x, l->all, NULL, &two, err);
}

/* The share of what the models say, of out[], that leaves least of miss[]: of few
 * workloads they may say less than nothing. */
static double share_of(const struct tree_fit *l)
{
    enum { STEPS = 4 };
    double least = INFINITY, best = 0;

    for (int k = 0; k <= STEPS; k++) {
        const double share = (double)k / STEPS;
        double sum = 0;

        for (size_t i = 0; i < l->x->n_rows; i++)
            sum += fabs(l->miss[i] - share * l->out[i]);
        best = sum < least ? share : best;
        least = fmin(least, sum);
    }
    return best;
}

/* Out-of-fold residuals, with whole workloads left out. */
static ft_status hold_out(ft__clock_trees *t, struct tree_fit *l, ft_error *err)
{
    const ft__learn_model_options one = trees(TREES, LEAST_LEAF, l->seed),
                                  two = trees(TREES, LEAST_LEAF, l->seed + 1);
    ft_status st = ft__model_cross_validate(l->out, l->x, l->miss, NULL, l->fold, FOLDS,
                                            &one, err);

    if (!st && t->whole)
        st = ft__model_cross_validate(l->other, l->x, l->all, NULL, l->fold, FOLDS,
                                      &two, err);
    for (size_t i = 0; i < l->x->n_rows && !st && t->whole; i++)
        l->out[i] = (l->out[i] + l->other[i] - l->predicted[i]) / 2;
    t->share = st ? 0 : share_of(l);
    for (size_t i = 0; i < l->x->n_rows && !st; i++)
        l->out[i] = l->miss[i] - t->share * l->out[i];
    return st;
}

/* Of so many groups held out, so that another one is held as often as FT__COVERAGE
 * says; of few not quite. */
static double coverage_of(size_t n_groups)
{
    static const double most = 0.97;

    return fmin(most, FT__COVERAGE * (double)(n_groups + 1) / (double)n_groups);
}

static ft_status fit_residual_scale(ft__clock_trees *t, struct tree_fit *l,
                                    ft_error *err)
{
    const ft__learn_model_options coarse =
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
    return st ? st
              : ft__conformal(&t->low, &t->high, l->out, n, coverage_of(l->n_groups),
                              err);
}

void ft__clock_trees_free(ft__clock_trees *t)
{
    ft__model_free(t->miss);
    ft__model_free(t->whole);
    ft__model_free(t->residual_scale);
    *t = (ft__clock_trees){0};
}

/* Deals rows to folds by name, or by workload where there are too few names; false: too
 * few of both. */
static bool deal(struct tree_fit *l, const uint64_t *const group[2], uint64_t seed)
{
    const size_t n = l->x->n_rows;
    int k = 0;

    while (k < 2 && ft__folds_make(l->fold, group[k], n, FOLDS, seed, NULL) != FT_OK)
        k++;
    l->n_groups = 0;
    for (size_t i = 0, j; k < 2 && i < n; i++) {
        for (j = 0; j < i && group[k][j] != group[k][i];)
            j++;
        l->n_groups += j == i;
    }
    return k < 2;
}

ft_status ft__clock_trees_fit(ft__clock_trees *t, const ft__matrix *x,
                              const double *predicted, const double *miss,
                              const uint64_t *const group[2], bool whole, uint64_t seed,
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

    *t = (ft__clock_trees){.share = 1};
    if (!l.fold || !l.all || !l.out || !l.other) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to learn from %zu clocks", n);
    } else {
        for (size_t i = 0; i < n; i++)
            l.all[i] = predicted[i] + miss[i];
        st = fit_models(t, &l, whole, err);
        /* Too few workloads to hold any out: no interval. */
        if (!st && deal(&l, group, seed)) {
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
        ft__clock_trees_free(t);
    return st;
}

ft__log_ratio ft__clock_trees_at(const ft__clock_trees *t, const float *row,
                                 double predicted)
{
    ft__log_ratio out = {predicted, NAN, NAN};
    double more, whole, residual_scale;

    if (!t->miss)
        return out;
    ft__model_predict(t->miss, row, 1, &more);
    if (t->whole) {
        ft__model_predict(t->whole, row, 1, &whole);
        more = (more + whole - predicted) / 2;
    }
    out.value += t->share * more;
    if (!t->residual_scale)
        return out;
    ft__model_predict(t->residual_scale, row, 1, &residual_scale);
    residual_scale = fmax(0, residual_scale) + LEAST_RESIDUAL_SCALE;
    out.low = out.value + fmin(0, t->low) * residual_scale;
    out.high = out.value + fmax(0, t->high) * residual_scale;
    return out;
}
