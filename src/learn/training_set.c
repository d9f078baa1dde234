/* A matrix and targets in, checked; rows that count, standardised columns and targets
 * out. */
#include "learn/training_set.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static ft_status check_shape(const ft__matrix *x, ft_error *err)
{
    if (x->n_rows == 0 || x->n_cols == 0)
        return ft_fail(err, FT_EINVAL, 0,
                       "nothing to learn from: %zu rows, %zu columns", x->n_rows,
                       x->n_cols);
    if (x->n_cols >= FT__MAX_WIDTH)
        return ft_fail(err, FT_EINVAL, 0, "%zu columns are too many for a forest (%d)",
                       x->n_cols, FT__MAX_WIDTH - 1);
    if (x->n_rows > FT__MAX_TREE_ROWS)
        return ft_fail(err, FT_EINVAL, 0, "%zu rows are too many for a forest (%d)",
                       x->n_rows, FT__MAX_TREE_ROWS);
    return FT_OK;
}

static ft_status check_values(const ft__matrix *x, const double *y,
                              const double *weights, ft_error *err)
{
    double largest = 0;

    for (size_t i = 0; i < x->n_rows; i++) {
        if (!(fabs(y[i]) <= (double)FLT_MAX))
            return ft_fail(err, FT_EINVAL, 0, "target %zu is %g: drop the row", i,
                           y[i]);
        if (weights && !(weights[i] >= 0 && isfinite(weights[i])))
            return ft_fail(err, FT_EINVAL, 0, "weight %zu is %g: it must be 0 or more",
                           i, weights[i]);
        largest = fmax(largest, weights ? weights[i] : 1);
        for (size_t j = 0; j < x->n_cols; j++)
            if (isinf(x->x[i * x->n_cols + j]))
                return ft_fail(err, FT_EINVAL, 0,
                               "row %zu, column %zu is infinite: use NaN for missing",
                               i, j);
    }
    if (largest == 0)
        return ft_fail(err, FT_EINVAL, 0, "every row has weight 0");
    return FT_OK;
}

ft_status ft__train_check(const ft__matrix *x, const double *y, const double *weights,
                          ft_error *err)
{
    ft_status st = check_shape(x, err);

    return st ? st : check_values(x, y, weights, err);
}

static int by_value(const void *a, const void *b)
{
    const ft__key *p = a, *q = b;

    if (p->x != q->x)
        return p->x > q->x ? 1 : -1;
    return (p->row > q->row) - (p->row < q->row);
}

void ft__keys_sort(ft__key *k, size_t n)
{
    qsort(k, n, sizeof(*k), by_value);
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Describe a column by its values v[n], which are filled up; sorted[n] is scratch.
 * false: it never changes. */
static bool describe(ft__column *c, float *v, float *sorted, const double *w,
                     uint32_t n)
{
    uint32_t present = 0;
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < n; i++)
        if (!isnan(v[i]))
            sorted[present++] = v[i];
    if (present == 0)
        return false;
    qsort(sorted, present, sizeof(*sorted), ascending);
    if (sorted[0] == sorted[present - 1])
        return false;
    c->fill = sorted[(present - 1) / 2];
    for (uint32_t i = 0; i < n; i++) {
        v[i] = isnan(v[i]) ? c->fill : v[i];
        sum += w[i] * (double)v[i];
    }
    c->mean = sum / n;
    for (uint32_t i = 0; i < n; i++) {
        const double d = (double)v[i] - c->mean;

        squares += w[i] * d * d;
    }
    c->scale = 1 / sqrt(squares / n);
    return isfinite(c->scale);
}

static void copy_targets(ft__training_set *l, const ft__task *t)
{
    double all = 0, sum = 0, squares = 0;
    uint32_t n = 0;

    for (size_t i = 0; i < t->x->n_rows; i++) {
        if (t->weights && !(t->weights[i] > 0))
            continue;
        l->y[n] = t->y[i];
        l->w[n] = t->weights ? t->weights[i] : 1;
        all += l->w[n++];
    }
    for (uint32_t i = 0; i < n; i++) {
        l->w[i] *= n / all;
        sum += l->w[i] * l->y[i];
    }
    l->mean = sum / n;
    for (uint32_t i = 0; i < n; i++)
        squares += l->w[i] * (l->y[i] - l->mean) * (l->y[i] - l->mean);
    l->sd = squares > 0 ? sqrt(squares / n) : 1;
}

/* The values of one column, rows of weight 0 left out. */
static void gather(float *v, const ft__task *t, size_t col)
{
    uint32_t n = 0;

    for (size_t i = 0; i < t->x->n_rows; i++)
        if (!t->weights || t->weights[i] > 0)
            v[n++] = t->x->x[i * t->x->n_cols + col];
}

static void find_columns(ft__training_set *l, const ft__task *t, float *v,
                         float *sorted)
{
    for (uint32_t j = 0; j < t->x->n_cols; j++) {
        ft__column *c = &l->column[l->n_cols];

        gather(v, t, j);
        c->col = j;
        l->n_cols += describe(c, v, sorted, l->w, l->n_rows);
    }
}

static void standardise(ft__training_set *l, const ft__task *t)
{
    float *to = l->u;

    for (size_t i = 0; i < t->x->n_rows; i++) {
        if (t->weights && !(t->weights[i] > 0))
            continue;
        ft__columns_apply(to, l->column, l->n_cols, t->x->x + i * t->x->n_cols);
        to += l->n_cols;
    }
}

static ft_status no_memory(ft__training_set *l, ft_error *err)
{
    const uint32_t n = l->n_rows;

    ft__training_set_free(l);
    return ft_fail(err, FT_ENOMEM, 0, "no memory to learn from %u rows", n);
}

ft_status ft__training_set_targets(ft__training_set *l, const ft__task *t,
                                   ft_error *err)
{
    *l = (ft__training_set){0};
    for (size_t i = 0; i < t->x->n_rows; i++)
        l->n_rows += !t->weights || t->weights[i] > 0;
    l->y = calloc(l->n_rows, sizeof(*l->y));
    l->w = calloc(l->n_rows, sizeof(*l->w));
    if (!l->y || !l->w)
        return no_memory(l, err);
    copy_targets(l, t);
    return FT_OK;
}

ft_status ft__training_set_new(ft__training_set *l, const ft__task *t, ft_error *err)
{
    ft_status st = ft__training_set_targets(l, t, err);
    float *v, *sorted;

    if (st)
        return st;
    v = calloc(l->n_rows, sizeof(*v));
    sorted = calloc(l->n_rows, sizeof(*sorted));
    l->column = calloc(t->x->n_cols, sizeof(*l->column));
    if (v && sorted && l->column) {
        find_columns(l, t, v, sorted);
        l->u = calloc((size_t)l->n_rows * l->n_cols + 1, sizeof(*l->u));
    }
    free(v);
    free(sorted);
    if (!l->u)
        return no_memory(l, err);
    standardise(l, t);
    return FT_OK;
}

void ft__training_set_free(ft__training_set *l)
{
    free(l->column);
    free(l->u);
    free(l->y);
    free(l->w);
    *l = (ft__training_set){0};
}
