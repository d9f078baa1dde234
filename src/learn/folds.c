#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/prng.h"
#include "foretell/learn.h"
#include "learn/learn_inside.h"

struct row_of {
    uint64_t group;
    size_t row;
};

struct group {
    size_t first; /* in the rows sorted by group */
    size_t n;
    uint64_t lot; /* breaks ties of size; drawn from the group's number, so that
                     the order of the rows plays no part */
};

static int by_group(const void *a, const void *b)
{
    const struct row_of *p = a, *q = b;

    if (p->group != q->group)
        return p->group > q->group ? 1 : -1;
    return (p->row > q->row) - (p->row < q->row);
}

static int largest_first(const void *a, const void *b)
{
    const struct group *p = a, *q = b;

    if (p->n != q->n)
        return p->n < q->n ? 1 : -1;
    if (p->lot != q->lot)
        return p->lot > q->lot ? 1 : -1;
    return (p->first > q->first) - (p->first < q->first);
}

static size_t find_groups(struct group *g, const struct row_of *row, size_t n,
                          uint64_t seed)
{
    size_t n_groups = 0;

    for (size_t i = 0; i < n; i++) {
        if (i == 0 || row[i].group != row[i - 1].group) {
            ft__prng lot = ft__prng_stream(seed, row[i].group);

            g[n_groups++] = (struct group){.first = i, .lot = ft__prng_u64(&lot)};
        }
        g[n_groups - 1].n++;
    }
    qsort(g, n_groups, sizeof(*g), largest_first);
    return n_groups;
}

/* Largest group first, each to the fold that has fewest rows so far. */
static void deal(uint32_t *fold, const struct row_of *row, const struct group *g,
                 size_t n_groups, size_t *filled, uint32_t n_folds)
{
    for (size_t i = 0; i < n_groups; i++) {
        uint32_t to = 0;

        for (uint32_t k = 1; k < n_folds; k++)
            to = filled[k] < filled[to] ? k : to;
        filled[to] += g[i].n;
        for (size_t r = g[i].first; r < g[i].first + g[i].n; r++)
            fold[row[r].row] = to;
    }
}

ft_status ft__folds_make(uint32_t *fold, const uint64_t *group, size_t n,
                         uint32_t n_folds, uint64_t seed, ft_error *err)
{
    struct row_of *row = NULL;
    struct group *g = NULL;
    size_t *filled = NULL, n_groups;
    ft_status st = FT_OK;

    if (n_folds < 2 || n < n_folds)
        return ft_fail(err, FT_EINVAL, 0, "%zu rows cannot be dealt to %u folds", n,
                       n_folds);
    row = calloc(n, sizeof(*row));
    g = calloc(n, sizeof(*g));
    filled = calloc(n_folds, sizeof(*filled));
    if (!row || !g || !filled) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to deal %zu rows", n);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        row[i] = (struct row_of){group ? group[i] : i, i};
    qsort(row, n, sizeof(*row), by_group);
    n_groups = find_groups(g, row, n, seed);
    if (n_groups < n_folds)
        st = ft_fail(err, FT_EINVAL, 0,
                     "%zu groups cannot be dealt to %u folds: ask for fewer folds",
                     n_groups, n_folds);
    else
        deal(fold, row, g, n_groups, filled, n_folds);
done:
    free(row);
    free(g);
    free(filled);
    return st;
}

/* ---- cross-validation ---- */

ft_status ft__model_fit_without(ft_model **out, const ft_matrix *x, const double *y,
                                const double *weights, const uint32_t *fold,
                                uint32_t without, const ft_model_options *opt,
                                ft_error *err)
{
    ft__arena room = {0};
    float *rest_x = ft__arena_need(&room, x->n_rows, x->n_cols * sizeof(*rest_x));
    double *rest_y = ft__arena_need(&room, x->n_rows, sizeof(*rest_y));
    double *rest_w = ft__arena_need(&room, x->n_rows, sizeof(*rest_w));
    ft_matrix rest = {rest_x, 0, x->n_cols};
    ft_status st;

    *out = NULL;
    for (size_t i = 0; i < x->n_rows && !room.bad; i++) {
        if (fold[i] == without)
            continue;
        memcpy(rest_x + rest.n_rows * x->n_cols, x->x + i * x->n_cols,
               x->n_cols * sizeof(*rest_x));
        rest_y[rest.n_rows] = y[i];
        rest_w[rest.n_rows++] = weights ? weights[i] : 1;
    }
    st = room.bad
             ? ft_fail(err, FT_ENOMEM, 0, "no memory to validate %zu rows", x->n_rows)
             : ft__model_fit(out, &rest, rest_y, rest_w, opt, err);
    ft__arena_free(&room);
    return st;
}

/* Predict the rows of fold k, if there are any, from the others. */
static ft_status predict_fold(double *out, const ft_matrix *x, const double *y,
                              const double *weights, const uint32_t *fold, uint32_t k,
                              const ft_model_options *opt, ft_error *err)
{
    ft_model *m = NULL;
    ft_status st = FT_OK;

    for (size_t i = 0; i < x->n_rows && !st; i++) {
        if (fold[i] != k)
            continue;
        if (!m)
            st = ft__model_fit_without(&m, x, y, weights, fold, k, opt, err);
        if (!st)
            ft__model_predict(m, x->x + i * x->n_cols, 1, &out[i]);
    }
    ft__model_free(m);
    return st;
}

ft_status ft__model_cross_validate(double *out, const ft_matrix *x, const double *y,
                                   const double *weights, const uint32_t *fold,
                                   uint32_t n_folds, const ft_model_options *opt,
                                   ft_error *err)
{
    ft_status st = FT_OK;

    if (x->n_rows == 0 || x->n_cols == 0 || n_folds < 2)
        return ft_fail(err, FT_EINVAL, 0,
                       "%zu rows and %u folds are too few to validate", x->n_rows,
                       n_folds);
    for (size_t i = 0; i < x->n_rows; i++)
        if (fold[i] >= n_folds)
            return ft_fail(err, FT_EINVAL, 0, "row %zu is in fold %u of %u", i, fold[i],
                           n_folds);
    for (uint32_t k = 0; !st && k < n_folds; k++)
        st = predict_fold(out, x, y, weights, fold, k, opt, err);
    return st;
}
