/* Methods made of our own trees: the body is the image of a forest. */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "learn/learn_inside.h"
#include "learn/model.h"
#include "learn/tree/forest.h"

ft_status ft__trees_write(ft__draft *out, const ft__forest *f, ft_error *err)
{
    void *body = ft__draft_body(out, f->len);

    if (!body)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a forest of %zu bytes",
                       f->len);
    memcpy(body, f->head, f->len);
    return FT_OK;
}

static ft_status fit(ft__draft *out, const ft__task *t, ft__forest_kind kind,
                     uint32_t n_trees, ft_error *err)
{
    ft__forest_options opt = t->opt->forest;
    ft__forest *f;
    ft_status st;

    opt.kind = kind;
    opt.n_trees = n_trees;
    opt.seed = t->opt->seed;
    opt.threads = t->opt->threads;
    st = ft__forest_fit(&f, t->x, t->y, t->weights, &opt, err);
    if (!st)
        st = ft__trees_write(out, f, err);
    ft__forest_free(f);
    return st;
}

static ft_status tree_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    return fit(out, t, FT_FOREST_BEST, 1, err);
}

static ft_status forest_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    return fit(out, t, FT_FOREST_RANDOM, t->opt->forest.n_trees, err);
}

static ft_status extra_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    return fit(out, t, FT_FOREST_EXTRA, t->opt->forest.n_trees, err);
}

ft_status ft__trees_open(ft__learn_model *m, ft_error *err)
{
    ft_error inner = {0};
    ft_status st = ft__forest_load(&m->forest, m->body, m->len, &inner);

    if (st)
        return ft_fail(err, st, sizeof(*m->head) + inner.pos, "%s", inner.msg);
    if (m->forest->head->width != m->head->width)
        return ft__model_damaged(m, m->body, err,
                                 "its trees are for %u columns, not %u",
                                 m->forest->head->width, m->head->width);
    return FT_OK;
}

void ft__trees_predict(const ft__learn_model *m, const float *rows, size_t n,
                       double *out)
{
    ft__forest_predict_rows(m->forest, rows, n, out);
}

/* What each of them predicts of a row lies on the stack. */
enum { MOST_TREES = 1024 };

static ft_status middle_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    if (t->opt->forest.n_trees > MOST_TREES)
        return ft_fail(err, FT_EINVAL, 0, "%u trees are too many for a middle (%d)",
                       t->opt->forest.n_trees, MOST_TREES);
    return extra_fit(out, t, err);
}

static ft_status middle_open(ft__learn_model *m, ft_error *err)
{
    ft_status st = ft__trees_open(m, err);

    if (!st && m->forest->head->n_trees > MOST_TREES)
        st = ft__model_damaged(m, m->body, err, "%u trees", m->forest->head->n_trees);
    return st;
}

/* A value of a tree in the unit of the target. */
static double meaning(const ft__learn_model *m, double value)
{
    return ft__model_is_bounded(m) ? ft__model_bounded(m, value) : value;
}

/* The weighted median of what trees predict, each weighing 1 / exp(value): the v for
 * which the sum of |exp(v) / exp(value[k]) - 1| is least. Where trees disagree their
 * mean is what none of them predicts, and too much costs more than too little. Sorts
 * them. */
static double weighted_median(const ft__learn_model *m, double *value, uint32_t n)
{
    double weight[MOST_TREES], all = 0, below = 0;
    uint32_t i = 0;

    ft__sort(value, n);
    for (uint32_t k = 0; k < n; k++)
        all += weight[k] = exp(meaning(m, value[0]) - meaning(m, value[k]));
    while (i + 1 < n && (below += weight[i]) < all / 2)
        i++;
    return value[i];
}

static void middle_predict(const ft__learn_model *m, const float *rows, size_t n,
                           double *out)
{
    double value[MOST_TREES];

    for (size_t i = 0; i < n; i++) {
        ft__forest_each(m->forest, rows + i * m->head->width, value);
        out[i] = weighted_median(m, value, m->forest->head->n_trees);
    }
}

const ft__method_ops ft__method_tree = {NULL, tree_fit, ft__trees_open,
                                        ft__trees_predict};
const ft__method_ops ft__method_forest = {NULL, forest_fit, ft__trees_open,
                                          ft__trees_predict};
const ft__method_ops ft__method_extra = {NULL, extra_fit, ft__trees_open,
                                         ft__trees_predict};
const ft__method_ops ft__method_middle = {NULL, middle_fit, middle_open,
                                          middle_predict};
