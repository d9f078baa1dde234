#include <stdlib.h>
#include <string.h>

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
        row[i] = (struct row_of){group[i], i};
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

/* The rows outside one fold, copied. */
struct rest {
    float *x;
    double *y;
    double *w;
    size_t n;
};

static void gather(struct rest *r, const ft_matrix *x, const double *y,
                   const double *weights, const uint32_t *fold, uint32_t without)
{
    r->n = 0;
    for (size_t i = 0; i < x->n_rows; i++) {
        if (fold[i] == without)
            continue;
        memcpy(r->x + r->n * x->n_cols, x->x + i * x->n_cols,
               x->n_cols * sizeof(*r->x));
        r->y[r->n] = y[i];
        r->w[r->n++] = weights ? weights[i] : 1;
    }
}

/* Fit on the rest, and predict the rows of fold k. */
typedef ft_status learn_rest(double *out, const struct rest *r, const ft_matrix *x,
                             const uint32_t *fold, uint32_t k, const void *opt,
                             ft_error *err);

static ft_status learn_forest(double *out, const struct rest *r, const ft_matrix *x,
                              const uint32_t *fold, uint32_t k, const void *opt,
                              ft_error *err)
{
    const ft_matrix others = {r->x, r->n, x->n_cols};
    ft_forest *f;
    ft_status st = ft__forest_fit(&f, &others, r->y, r->w, opt, err);

    if (st)
        return st;
    for (size_t i = 0; i < x->n_rows; i++)
        if (fold[i] == k)
            out[i] = ft__forest_predict(f, x->x + i * x->n_cols);
    ft__forest_free(f);
    return FT_OK;
}

static ft_status learn_model(double *out, const struct rest *r, const ft_matrix *x,
                             const uint32_t *fold, uint32_t k, const void *opt,
                             ft_error *err)
{
    const ft_matrix others = {r->x, r->n, x->n_cols};
    ft_model *m;
    ft_status st = ft__model_fit(&m, &others, r->y, r->w, opt, err);

    if (st)
        return st;
    for (size_t i = 0; i < x->n_rows; i++)
        if (fold[i] == k)
            ft__model_predict(m, x->x + i * x->n_cols, 1, &out[i]);
    ft__model_free(m);
    return FT_OK;
}

/* How many rows each fold holds, so that an empty one costs no fit. */
static ft_status count_rows(size_t *count, const uint32_t *fold, size_t n,
                            uint32_t n_folds, ft_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (fold[i] >= n_folds)
            return ft_fail(err, FT_EINVAL, 0, "row %zu is in fold %u of %u", i, fold[i],
                           n_folds);
        count[fold[i]]++;
    }
    return FT_OK;
}

static ft_status cross_validate(double *out, const ft_matrix *x, const double *y,
                                const double *weights, const uint32_t *fold,
                                uint32_t n_folds, learn_rest *learn, const void *opt,
                                ft_error *err)
{
    struct rest r = {0};
    size_t *count = NULL;
    ft_status st = FT_OK;

    if (x->n_rows == 0 || x->n_cols == 0 || n_folds < 2)
        return ft_fail(err, FT_EINVAL, 0,
                       "%zu rows and %u folds are too few to validate", x->n_rows,
                       n_folds);
    r.x = calloc(x->n_rows, x->n_cols * sizeof(*r.x));
    r.y = calloc(x->n_rows, sizeof(*r.y));
    r.w = calloc(x->n_rows, sizeof(*r.w));
    count = calloc(n_folds, sizeof(*count));
    if (!r.x || !r.y || !r.w || !count)
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to validate %zu rows", x->n_rows);
    else
        st = count_rows(count, fold, x->n_rows, n_folds, err);
    for (uint32_t k = 0; !st && k < n_folds; k++) {
        if (count[k] == 0)
            continue;
        gather(&r, x, y, weights, fold, k);
        st = learn(out, &r, x, fold, k, opt, err);
    }
    free(r.x);
    free(r.y);
    free(r.w);
    free(count);
    return st;
}

ft_status ft__forest_cross_validate(double *out, const ft_matrix *x, const double *y,
                                    const double *weights, const uint32_t *fold,
                                    uint32_t n_folds, const ft_forest_options *opt,
                                    ft_error *err)
{
    return cross_validate(out, x, y, weights, fold, n_folds, learn_forest, opt, err);
}

ft_status ft__model_cross_validate(double *out, const ft_matrix *x, const double *y,
                                   const double *weights, const uint32_t *fold,
                                   uint32_t n_folds, const ft_model_options *opt,
                                   ft_error *err)
{
    return cross_validate(out, x, y, weights, fold, n_folds, learn_model, opt, err);
}
