/* What to measure next. */
#include <stdlib.h>

#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "measure/collection.h"

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ft__op_hash(&((const ft__candidate *)a)->op);
    uint64_t y = ft__op_hash(&((const ft__candidate *)b)->op);

    return (x > y) - (x < y);
}

/* The operation with every first extent of its operands taken out. */
static uint64_t series_of(const ft_op *op)
{
    static const ft_key_id shape[] = {FT_K_x, FT_K_y, FT_K_z, FT_K_out};
    ft_op one = *op;

    for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
        uint32_t rank;
        const int64_t *first = ft_op_get(&one, shape[i], &rank);

        if (first && rank > 1)
            one.value[first - one.value] = 1;
    }
    return ft__op_hash(&one);
}

/* Lower, drop repeats (adding their counts). */
static void take_unique(struct ft__collection *k, const ft_op *ops,
                        const uint64_t *count, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (ft_kind_class(ops[i].kind) == FT_CLASS_VIEW ||
            ops[i].kind == FT_KIND_generic)
            continue;
        k->c[k->n].op = ops[i];
        ft__op_lower(&k->c[k->n].op, k->session->engine->policy);
        k->c[k->n++].count = count ? (double)count[i] : 1;
    }
    qsort(k->c, k->n, sizeof(*k->c), by_hash);
    n = k->n;
    k->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (k->n && ft_op_equal(&k->c[k->n - 1].op, &k->c[i].op))
            k->c[k->n - 1].count += k->c[i].count;
        else
            k->c[k->n++] = k->c[i];
    }
}

/* ---- the order ---- */

static size_t part_size(const struct ft__collection *k)
{
    size_t left = k->n - k->from;

    return left < FT__MOST_CHOOSABLE ? left : FT__MOST_CHOOSABLE;
}

/* Choose among those from k->from on. */
static ft_status open_part(struct ft__collection *k, ft_error *err)
{
    size_t n = part_size(k);
    ft_op *ops = calloc(n + 1, sizeof(*ops));
    double *count = calloc(n + 1, sizeof(*count));
    ft_status st =
        ops && count ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);

    ft__choosing_free(&k->choosing);
    for (size_t i = 0; i < n && !st; i++) {
        ops[i] = k->c[k->from + i].op;
        count[i] = k->c[k->from + i].count;
    }
    if (!st)
        st = ft__choosing_make(&k->choosing, ops, count, n, k->opt->choose,
                               k->session->seed, err);
    for (size_t i = 0; i < n && !st; i++)
        if (k->c[k->from + i].known || k->c[k->from + i].chosen)
            ft__choosing_know(&k->choosing, i);
    free(ops);
    free(count);
    return st;
}

ft_status ft__candidates_make(struct ft__collection *k, const ft_op *ops,
                              const uint64_t *count, size_t n, ft_error *err)
{
    k->c = calloc(n + 1, sizeof(*k->c));
    if (!k->c)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    take_unique(k, ops, count, n);
    for (size_t i = 0; i < k->n; i++) {
        ft__candidate *c = &k->c[i];

        c->work_s = c->count * ft__choosing_work(&c->op);
        c->series = series_of(&c->op);
        c->batch = ft_op_at(&c->op, FT_K_x, 0);
    }
    return open_part(k, err);
}

void ft__candidates_free(struct ft__collection *k)
{
    ft__choosing_free(&k->choosing);
    free(k->c);
}

void ft__candidate_near(struct ft__collection *k, size_t i)
{
    if (i >= k->from && i < k->from + k->choosing.n)
        ft__choosing_know(&k->choosing, i - k->from);
}

void ft__candidate_known(struct ft__collection *k, size_t i)
{
    k->c[i].known = true;
    ft__candidate_near(k, i);
}

/* A smaller one of its series is still to come, or being measured. */
static bool must_wait(const struct ft__collection *k, size_t i)
{
    for (size_t j = 0; k->opt->ascending && j < k->n; j++)
        if (k->c[j].series == k->c[i].series && k->c[j].batch < k->c[i].batch &&
            !k->c[j].done && !k->c[j].known)
            return true;
    return false;
}

static bool may_be_next(const void *user, size_t i)
{
    const struct ft__collection *k = user;
    const ft__candidate *c = &k->c[k->from + i];

    return !c->known && !c->done && !c->chosen && !must_wait(k, k->from + i);
}

/* There may be more than can be chosen among at once: then the next part follows when
 * nothing of this one is left that may be tried. */
ft_status ft__candidate_next(struct ft__collection *k, size_t *next, ft_error *err)
{
    ft_status st = FT_OK;

    *next = k->n;
    for (size_t tried = 0; tried <= k->n / FT__MOST_CHOOSABLE + 1 && !st; tried++) {
        size_t i = ft__choosing_next(&k->choosing, may_be_next, k);

        if (i < k->choosing.n) {
            *next = k->from + i;
            return FT_OK;
        }
        if (k->n <= FT__MOST_CHOOSABLE)
            return FT_OK;
        k->from += FT__MOST_CHOOSABLE;
        if (k->from >= k->n)
            k->from = 0;
        st = open_part(k, err);
    }
    return st;
}

size_t ft__candidate_end_series(struct ft__collection *k, size_t i)
{
    size_t ended = 0;

    for (size_t j = 0; k->opt->ascending && j < k->n; j++) {
        if (k->c[j].series != k->c[i].series || k->c[j].batch <= k->c[i].batch ||
            k->c[j].done || k->c[j].known)
            continue;
        k->c[j].done = true;
        ended++;
    }
    return ended;
}
