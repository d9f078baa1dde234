/* A matrix and targets in, checked; blocks and sorted columns that trees grow on out.
 */
#include "learn/tree/train.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static ft_status check_shape(const ft_matrix *x, ft_error *err)
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

static ft_status check_values(const ft_matrix *x, const double *y,
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

ft_status ft__train_check(const ft_matrix *x, const double *y, const double *weights,
                          ft_error *err)
{
    ft_status st = check_shape(x, err);

    return st ? st : check_values(x, y, weights, err);
}

/* The exponent that brings the largest of |v| to [0.5, 1). */
static int scale_of(const double *v, uint32_t n)
{
    double largest = 0;
    int exponent;

    for (uint32_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(v[i]));
    frexp(largest, &exponent);
    return exponent;
}

static void scale(double *v, uint32_t n, int exponent)
{
    for (uint32_t i = 0; i < n; i++)
        v[i] = ldexp(v[i], -exponent);
}

/* Put a number below every present value where one is missing. A random cut
 * parts missing from present about as often as it falls elsewhere when the gap
 * is as wide as the column. */
static void fill_missing(const ft__tree_training *d, uint32_t col)
{
    float lo = FLT_MAX, hi = -FLT_MAX, gap;

    for (uint32_t i = 0; i < d->n_rows; i++) {
        float v = *ft__train_at(d, col, i);

        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
    }
    d->least[col] = lo;
    gap = fmaxf(hi - lo, 0) + fabsf(lo) + 1;
    for (uint32_t i = 0; i < d->n_rows; i++) {
        float *v = ft__train_at(d, col, i);

        if (isnan(*v))
            *v = fmaxf(lo - gap, -FLT_MAX);
    }
}

static void copy_rows(ft__tree_training *d, const ft_matrix *x, const double *y,
                      const double *weights)
{
    uint32_t n = 0;

    for (size_t i = 0; i < x->n_rows; i++) {
        if (weights && weights[i] == 0)
            continue;
        for (uint32_t j = 0; j < d->n_cols; j++)
            *ft__train_at(d, j, n) = x->x[i * x->n_cols + j];
        d->y[n] = y[i];
        d->w[n] = weights ? weights[i] : 1;
        n++;
    }
    for (uint32_t j = 0; j < d->n_cols; j++)
        fill_missing(d, j);
    d->y_exp = scale_of(d->y, n);
    scale(d->y, n, d->y_exp);
    scale(d->w, n, scale_of(d->w, n));
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

static void sort_columns(const ft__tree_training *d)
{
    for (uint32_t j = 0; j < d->n_cols; j++) {
        ft__key *k = d->key + (size_t)j * d->n_rows;

        for (uint32_t i = 0; i < d->n_rows; i++)
            k[i] = (ft__key){*ft__train_at(d, j, i), i};
        ft__keys_sort(k, d->n_rows);
    }
}

ft_status ft__train_new(ft__tree_training **out, const ft_matrix *x, const double *y,
                        const double *weights, ft_forest_kind kind, ft_error *err)
{
    ft__tree_training *d = NULL;
    size_t blocks;
    ft_status st;

    *out = NULL;
    st = ft__train_check(x, y, weights, err);
    if (st)
        return st;
    d = calloc(1, sizeof(*d));
    if (!d)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to learn from %zu rows",
                       x->n_rows);
    d->n_cols = (uint32_t)x->n_cols;
    for (size_t i = 0; i < x->n_rows; i++)
        d->n_rows += !weights || weights[i] > 0;
    blocks = (d->n_cols + FT__BLOCK - 1) / FT__BLOCK;
    d->x = ft__arena_need(&d->room, blocks * d->n_rows, FT__BLOCK * sizeof(*d->x));
    d->least = ft__arena_need(&d->room, d->n_cols, sizeof(*d->least));
    d->y = ft__arena_need(&d->room, d->n_rows, sizeof(*d->y));
    d->w = ft__arena_need(&d->room, d->n_rows, sizeof(*d->w));
    if (kind != FT_FOREST_EXTRA)
        d->key =
            ft__arena_need(&d->room, (size_t)d->n_cols * d->n_rows, sizeof(*d->key));
    if (d->room.bad) {
        ft__train_free(d);
        return ft_fail(err, FT_ENOMEM, 0, "no memory to learn from %zu rows",
                       x->n_rows);
    }
    copy_rows(d, x, y, weights);
    if (d->key)
        sort_columns(d);
    *out = d;
    return FT_OK;
}

void ft__train_free(ft__tree_training *d)
{
    if (!d)
        return;
    ft__arena_free(&d->room);
    free(d);
}
