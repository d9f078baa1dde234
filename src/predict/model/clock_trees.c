#include "predict/model/clock_trees.h"

#include "learn/learn_inside.h"
#include <math.h>
#include <stdlib.h>

enum { TREES = 100, LEAST_LEAF = 2, SPREAD_TREES = 32, SPREAD_LEAF = 5, FOLDS = 5 };
/* Measurements repeat no better. */
static const double LEAST_SPREAD = 0.002;

static ft_model_options trees(uint32_t n, uint32_t leaf, uint64_t seed)
{
    return (ft_model_options){.method = FT_METHOD_EXTRA,
                              .forest = {.n_trees = n, .min_leaf = leaf, .seed = seed},
                              .seed = seed};
}

/* Of one fit. */
struct lesson {
    const ft_matrix *x;
    const double *said, *miss;
    uint32_t *fold;
    double *all;   /* said and missed */
    double *out;   /* out of fold: what is missed after all */
    double *other; /* scratch */
    uint64_t seed;
};

static ft_status fit_models(ft__clock_trees *t, const struct lesson *l, bool whole,
                            ft_error *err)
{
    const ft_model_options one = trees(TREES, LEAST_LEAF, l->seed),
                           two = trees(TREES, LEAST_LEAF, l->seed + 1);
    ft_status st = ft__model_fit(&t->miss, l->x, l->miss, NULL, &one, err);

    return st || !whole ? st : ft__model_fit(&t->whole, l->x, l->all, NULL, &two, err);
}

/* What the models miss of workloads that they were not shown. */
static ft_status hold_out(const ft__clock_trees *t, struct lesson *l, ft_error *err)
{
    const ft_model_options one = trees(TREES, LEAST_LEAF, l->seed),
                           two = trees(TREES, LEAST_LEAF, l->seed + 1);
    ft_status st = ft__model_cross_validate(l->out, l->x, l->miss, NULL, l->fold, FOLDS,
                                            &one, err);

    if (!st && t->whole)
        st = ft__model_cross_validate(l->other, l->x, l->all, NULL, l->fold, FOLDS,
                                      &two, err);
    for (size_t i = 0; i < l->x->n_rows && !st; i++)
        l->out[i] = t->whole ? l->all[i] - (l->said[i] + l->out[i] + l->other[i]) / 2
                             : l->miss[i] - l->out[i];
    return st;
}

static ft_status fit_spread(ft__clock_trees *t, struct lesson *l, ft_error *err)
{
    const ft_model_options coarse = trees(SPREAD_TREES, SPREAD_LEAF, l->seed + 2);
    const size_t n = l->x->n_rows;
    ft_status st;

    for (size_t i = 0; i < n; i++)
        l->other[i] = fabs(l->out[i]);
    st = ft__model_fit(&t->spread, l->x, l->other, NULL, &coarse, err);
    if (!st)
        st = ft__model_cross_validate(l->all, l->x, l->other, NULL, l->fold, FOLDS,
                                      &coarse, err);
    for (size_t i = 0; i < n && !st; i++)
        l->out[i] /= fmax(0, l->all[i]) + LEAST_SPREAD;
    return st ? st : ft__conformal(&t->low, &t->high, l->out, n, 0.9, err);
}

ft_status ft__clock_trees_fit(ft__clock_trees *t, const ft_matrix *x,
                              const double *said, const double *miss,
                              const uint64_t *group, bool whole, uint64_t seed,
                              ft_error *err)
{
    const size_t n = x->n_rows;
    struct lesson l = {.x = x,
                       .said = said,
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
            l.all[i] = said[i] + miss[i];
        st = fit_models(t, &l, whole, err);
        /* Too few workloads to hold any out: no interval. */
        if (!st && ft__folds_make(l.fold, group, n, FOLDS, seed, NULL) == FT_OK) {
            st = hold_out(t, &l, err);
            if (!st)
                st = fit_spread(t, &l, err);
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

void ft__clock_trees_free(ft__clock_trees *t)
{
    ft__model_free(t->miss);
    ft__model_free(t->whole);
    ft__model_free(t->spread);
    *t = (ft__clock_trees){0};
}

ft__clock_said ft__clock_trees_at(const ft__clock_trees *t, const float *row,
                                  double said)
{
    ft__clock_said out = {said, NAN, NAN};
    double more, whole, spread;

    if (!t->miss)
        return out;
    ft__model_predict(t->miss, row, 1, &more);
    out.value += more;
    if (t->whole) {
        ft__model_predict(t->whole, row, 1, &whole);
        out.value = (out.value + whole) / 2;
    }
    if (!t->spread)
        return out;
    ft__model_predict(t->spread, row, 1, &spread);
    spread = fmax(0, spread) + LEAST_SPREAD;
    out.low = out.value + fmin(0, t->low) * spread;
    out.high = out.value + fmax(0, t->high) * spread;
    return out;
}
