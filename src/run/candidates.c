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

        c->one_s = ft__roofline(&c->op, &rough);
        c->work_s = c->count * c->one_s;
        c->spacing = 16;
        c->gain = INFINITY;
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
    k->n_known[k->c[i].op.kind]++;
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

/* Of a kind with more candidates than this, every second, third ... one is looked at.
 */
enum { MOST_LOOKED_AT = 2048 };
/* What measuring takes however short an operation is, and how often it runs at least.
 */
static const double least_cost_s = 0.05, runs = 8;

static uint32_t count_of(const struct ft__collection *k, ft_kind kind)
{
    uint32_t n = 0;

    for (size_t j = 0; j < k->n; j++)
        n += k->c[j].op.kind == kind;
    return n;
}

/* By how much all of its kind come nearer to something known, each as heavy as the
 * square root of its work (many small ones count as well), for the time that measuring
 * takes: the heaviest would use up a budget and say little of the others. */
static double gain_of(const struct ft__collection *k, size_t i, uint32_t stride)
{
    const ft__candidate *c = &k->c[i];
    double sum = c->spacing * sqrt(c->work_s);
    uint32_t at = 0;

    for (size_t j = 0; j < k->n; j++) {
        const ft__candidate *o = &k->c[j];
        double nearer;

        if (o->op.kind != c->op.kind || o->known || j == i || at++ % stride)
            continue;
        nearer = o->spacing - distance(c->row, o->row);
        sum += nearer > 0 ? stride * nearer * sqrt(o->work_s) : 0;
    }
    return sum / (least_cost_s + runs * c->one_s);
}

static bool may_be_next(const struct ft__collection *k, size_t i)
{
    return !k->c[i].known && !k->c[i].done && !k->c[i].chosen && !must_wait(k, i);
}

static size_t largest(const struct ft__collection *k)
{
    size_t best = k->n;

    for (size_t i = 0; i < k->n; i++)
        if ((best == k->n || k->c[i].gain > k->c[best].gain) && may_be_next(k, i))
            best = i;
    return best;
}

/* The largest gain: coverage (Cornuejols, Fisher, Nemhauser 1977). What more is known
 * only lessens gains, so that old ones are bounds and only those that come out largest
 * are computed anew (Minoux 1978). */
size_t ft__candidate_next(struct ft__collection *k)
{
    for (;;) {
        size_t i = largest(k);
        ft__candidate *c = &k->c[i];

        if (i == k->n || c->seen == k->n_known[c->op.kind] + 1)
            return i;
        c->seen = k->n_known[c->op.kind] + 1;
        c->gain = gain_of(k, i, 1 + count_of(k, c->op.kind) / MOST_LOOKED_AT);
    }
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
