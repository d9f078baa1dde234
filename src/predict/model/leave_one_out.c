#include "predict/model/leave_one_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "learn/learn_inside.h"

/* Below this many rows or groups there is nothing to choose by. */
enum { LEAST_ROWS = 12 };

void ft__look_free(ft__look *l)
{
    free(l->row);
    free(l->x);
    free(l->y);
    free(l->group);
    free(l->fold);
    free(l->best);
    free(l->residual);
    free(l->spread);
    for (int c = 0; c < FT__MOST_TRIED; c++)
        free(l->said[c]);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static size_t count_groups(const uint64_t *group, size_t n, uint64_t *scratch)
{
    size_t groups = n > 0;

    memcpy(scratch, group, n * sizeof(*scratch));
    qsort(scratch, n, sizeof(*scratch), by_value);
    for (size_t i = 1; i < n; i++)
        groups += scratch[i] != scratch[i - 1];
    return groups;
}

/* Groups are drawn whole, but where there are few (of devices) all of them are looked
 * at, in rows. */
enum { FEW_GROUPS = 50, MOST_ROWS = 4000 };

static bool is_looked_at(uint64_t key, size_t n, const ft__fit_options *o)
{
    ft__prng p = ft__prng_stream(o->seed, key);

    return n <= MOST_ROWS || ft__prng_unit(&p) < (double)MOST_ROWS / (double)n;
}

static ft_status deal_folds(ft__look *l, const ft__fit_options *o, ft_error *err)
{
    uint64_t *scratch = malloc((l->n + 1) * sizeof(*scratch));
    size_t groups;

    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", l->n);
    groups = count_groups(l->group, l->n, scratch);
    free(scratch);
    l->n_folds = o->n_folds ? o->n_folds : l->n < 300 ? 10 : 5;
    if (l->n_folds > groups)
        l->n_folds = (uint32_t)groups;
    if (l->n < LEAST_ROWS || l->n_folds < 2) {
        l->n_folds = 0;
        return FT_OK;
    }
    return ft__folds_make(l->fold, l->group, l->n, l->n_folds, o->seed, err);
}

ft_status ft__look_make(ft__look *l, const ft_matrix *x, const double *y,
                        const uint64_t *group, const ft__fit_options *o, ft_error *err)
{
    size_t n = x->n_rows + 1;
    uint64_t *scratch;

    *l = (ft__look){.n_all = x->n_rows,
                    .row = calloc(n, sizeof(*l->row)),
                    .x = malloc(n * x->n_cols * sizeof(*l->x)),
                    .y = calloc(n, sizeof(*l->y)),
                    .group = calloc(n, sizeof(*l->group)),
                    .fold = calloc(n, sizeof(*l->fold)),
                    .best = calloc(n, sizeof(*l->best)),
                    .residual = calloc(n, sizeof(*l->residual)),
                    .spread = calloc(n, sizeof(*l->spread))};
    if (!l->row || !l->x || !l->y || !l->group || !l->fold || !l->best ||
        !l->residual || !l->spread)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", x->n_rows);
    scratch = malloc(n * sizeof(*scratch));
    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", x->n_rows);
    l->few = count_groups(group, x->n_rows, scratch) < FEW_GROUPS;
    free(scratch);
    for (size_t i = 0; i < x->n_rows; i++) {
        if (!is_looked_at(l->few ? i : group[i], x->n_rows, o))
            continue;
        memcpy(l->x + l->n * x->n_cols, x->x + i * x->n_cols,
               x->n_cols * sizeof(*l->x));
        l->y[l->n] = y[i];
        l->group[l->n] = group[i];
        l->row[l->n++] = (uint32_t)i;
    }
    l->m = (ft_matrix){l->x, l->n, x->n_cols};
    return deal_folds(l, o, err);
}
