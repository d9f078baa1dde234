/* What to measure next. */
#include <math.h>
#include <stdlib.h>

#include "run/collection.h"

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ft_op_hash(&((const ft__candidate *)a)->op);
    uint64_t y = ft_op_hash(&((const ft__candidate *)b)->op);

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
    return ft_op_hash(&one);
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
        ft_op_lower(&k->c[k->n].op, k->session->engine->policy);
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

ft_status ft__candidates_make(struct ft__collection *k, const ft_op *ops,
                              const uint64_t *count, size_t n, ft_error *err)
{
    /* Only the order of magnitude matters here: which operations are heavy. */
    const ft__roof rough = ft__flat_roof(1e11, 1e10, 1e-6);

    k->c = calloc(n + 1, sizeof(*k->c));
    if (!k->c)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    take_unique(k, ops, count, n);
    for (size_t i = 0; i < k->n; i++) {
        ft__candidate *c = &k->c[i];

        c->work_s = c->count * ft__roofline(&c->op, &rough);
        c->spacing = 16;
        c->series = series_of(&c->op);
        c->batch = ft_op_at(&c->op, FT_K_x, 0);
        ft__features(c->row, &c->op, &rough);
    }
    return FT_OK;
}

static double distance(const float *a, const float *b)
{
    double sum = 0;

    for (int i = 0; i < FT__N_FEATURES; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

void ft__candidate_near(struct ft__collection *k, size_t i)
{
    for (size_t j = 0; j < k->n; j++)
        if (!k->c[j].known && k->c[j].op.kind == k->c[i].op.kind)
            k->c[j].spacing = fmin(k->c[j].spacing, distance(k->c[i].row, k->c[j].row));
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

/* The largest expected gain: far from everything known of its kind, and a large
 * part of the work there is (square root: many small ones count as well). */
size_t ft__candidate_next(const struct ft__collection *k)
{
    size_t best = k->n;
    double most = -1;

    for (size_t i = 0; i < k->n; i++) {
        double gain = k->c[i].spacing * sqrt(k->c[i].work_s);

        if (!k->c[i].known && !k->c[i].done && !k->c[i].chosen && gain > most &&
            !must_wait(k, i)) {
            most = gain;
            best = i;
        }
    }
    return best;
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
