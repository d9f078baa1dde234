/* What to measure next. */
#include <math.h>
#include <stdlib.h>

#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "run/collection.h"

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

/* What measuring takes however short an operation is, and how often it runs at least.
 */
static const double least_cost_s = 0.05, runs = 8;
/* Each choice takes time with the square of this. */
enum { AT_ONCE = 1024 };

static size_t part_size(const struct ft__collection *k)
{
    size_t left = k->n - k->from;

    return left < AT_ONCE ? left : AT_ONCE;
}

/* Choose among those from k->from on. Each weighs as the square root of its work: many
 * small ones count as well. */
static ft_status open_part(struct ft__collection *k, ft_error *err)
{
    size_t n = part_size(k);
    ft_op *ops = calloc(n + 1, sizeof(*ops));
    double *weight = calloc(n + 1, sizeof(*weight));
    ft_status st =
        ops && weight ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);

    ft__choosing_free(&k->choosing);
    for (size_t i = 0; i < n && !st; i++) {
        const ft__candidate *c = &k->c[k->from + i];

        ops[i] = c->op;
        weight[i] = sqrt(c->work_s);
        k->cost[i] = least_cost_s + runs * c->one_s;
    }
    if (!st)
        st = ft__choosing_make(&k->choosing, ops, weight, n, k->opt->choose,
                               k->session->seed, err);
    for (size_t i = 0; i < n && !st; i++)
        if (k->c[k->from + i].known || k->c[k->from + i].chosen)
            ft__choosing_know(&k->choosing, i);
    free(ops);
    free(weight);
    return st;
}

ft_status ft__candidates_make(struct ft__collection *k, const ft_op *ops,
                              const uint64_t *count, size_t n, ft_error *err)
{
    /* Only the order of magnitude matters here: which operations are heavy. */
    const ft__roof rough = ft__flat_roof(1e11, 1e10, 1e-6);

    k->c = calloc(n + 1, sizeof(*k->c));
    k->cost = calloc(AT_ONCE, sizeof(*k->cost));
    if (!k->c || !k->cost)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    take_unique(k, ops, count, n);
    for (size_t i = 0; i < k->n; i++) {
        ft__candidate *c = &k->c[i];

        c->one_s = ft__roofline(&c->op, &rough);
        c->work_s = c->count * c->one_s;
        c->series = series_of(&c->op);
        c->batch = ft_op_at(&c->op, FT_K_x, 0);
    }
    return open_part(k, err);
}

void ft__candidates_free(struct ft__collection *k)
{
    ft__choosing_free(&k->choosing);
    free(k->cost);
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
    for (size_t tried = 0; tried <= k->n / AT_ONCE + 1 && !st; tried++) {
        size_t i = ft__choosing_next(&k->choosing, k->cost, may_be_next, k);

        if (i < k->choosing.n) {
            *next = k->from + i;
            return FT_OK;
        }
        if (k->n <= AT_ONCE)
            return FT_OK;
        k->from += AT_ONCE;
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
