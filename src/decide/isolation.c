/* Isolation forest: F. T. Liu, K. M. Ting, Z.-H. Zhou, ICDM 2008. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/prng.h"
#include "decide/slow.h"

enum { MAX_SAMPLE = 1 << 16 };

/* left 0: a leaf, `value` more steps on average; else x[column] > value goes to
 * left + 1, all else, missing values too, to left. */
struct isolation_node {
    uint32_t left, column;
    float value;
};

struct isolation_growth {
    const ft__matrix *x;
    uint32_t *row;               /* all rows; the tree's sample comes first */
    uint32_t *varies;            /* columns */
    struct isolation_node *node; /* 2 x sample */
    uint32_t n_nodes, deepest;
    ft__prng rng;
};

/* Mean depth of a search that fails among n rows (eq. 1). */
static double mean_depth(uint32_t n)
{
    double harmonic = 0;

    for (uint32_t i = 1; i < n; i++)
        harmonic += 1.0 / i;
    return n < 2 ? 0 : 2 * harmonic - 2.0 * (n - 1) / n;
}

static float value(const struct isolation_growth *g, uint32_t row, uint32_t col)
{
    return g->x->x[(size_t)row * g->x->n_cols + col];
}

/* The least and the greatest present value; false: they are equal, or none is there. */
static bool range_of(const struct isolation_growth *g, const uint32_t *row, uint32_t n,
                     uint32_t col, float *lo, float *hi)
{
    *lo = FLT_MAX;
    *hi = -FLT_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const float v = value(g, row[i], col);

        *lo = v < *lo ? v : *lo;
        *hi = v > *hi ? v : *hi;
    }
    return *lo < *hi;
}

/* A random column that varies, and a random cut of it below its greatest value. */
static bool cut(struct isolation_growth *g, const uint32_t *row, uint32_t n,
                struct isolation_node *out)
{
    uint32_t n_varies = 0;
    float lo, hi;

    for (uint32_t j = 0; j < g->x->n_cols; j++)
        if (range_of(g, row, n, j, &lo, &hi))
            g->varies[n_varies++] = j;
    if (n_varies == 0)
        return false;
    out->column = g->varies[ft__prng_below(&g->rng, n_varies)];
    (void)range_of(g, row, n, out->column, &lo, &hi);
    out->value =
        (float)((double)lo + ft__prng_unit(&g->rng) * ((double)hi - (double)lo));
    out->value = out->value < hi ? out->value : lo;
    return true;
}

/* Those above the cut to the end; how many are not. */
static uint32_t part(const struct isolation_growth *g, uint32_t *row, uint32_t n,
                     const struct isolation_node *node)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t r = row[i];

        if (!(value(g, r, node->column) > node->value)) {
            row[i] = row[left];
            row[left++] = r;
        }
    }
    return left;
}

/* Not deeper than 16 + 1 levels, as samples are at most 2^16 rows. */
static void grow(struct isolation_growth *g, uint32_t at, uint32_t *row, uint32_t n,
                 uint32_t depth)
{
    struct isolation_node *node = &g->node[at];
    uint32_t left;

    *node = (struct isolation_node){.value = (float)mean_depth(n)};
    if (n < 2 || depth == g->deepest || !cut(g, row, n, node)) {
        node->value = (float)mean_depth(n);
        return;
    }
    left = part(g, row, n, node);
    node->left = g->n_nodes;
    g->n_nodes += 2;
    grow(g, node->left, row, left, depth + 1);
    grow(g, node->left + 1, row + left, n - left, depth + 1);
}

static void draw_sample(struct isolation_growth *g, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = i + ft__prng_below(&g->rng, (uint32_t)g->x->n_rows - i);
        const uint32_t kept = g->row[i];

        g->row[i] = g->row[k];
        g->row[k] = kept;
    }
}

static double path(const struct isolation_node *node, const float *x)
{
    uint32_t at = 0, steps = 0;

    for (; node[at].left; steps++)
        at = node[at].left + (x[node[at].column] > node[at].value);
    return steps + (double)node[at].value;
}

static ft_status check(const ft__matrix *x, uint32_t sample, ft_error *err)
{
    if (x->n_rows == 0 || x->n_cols == 0 || x->n_rows > UINT32_MAX / 2)
        return ft_fail(err, FT_EINVAL, 0, "nothing to isolate: %zu rows, %zu columns",
                       x->n_rows, x->n_cols);
    if (sample > MAX_SAMPLE)
        return ft_fail(err, FT_EINVAL, 0, "a sample of %u rows is above %d", sample,
                       MAX_SAMPLE);
    for (size_t i = 0; i < x->n_rows * x->n_cols; i++)
        if (isinf(x->x[i]))
            return ft_fail(err, FT_EINVAL, 0,
                           "row %zu, column %zu is infinite: use NaN for missing",
                           i / x->n_cols, i % x->n_cols);
    return FT_OK;
}

static void score_all(double *score, struct isolation_growth *g, uint32_t n_trees,
                      uint32_t sample, uint64_t seed)
{
    const size_t n = g->x->n_rows, width = g->x->n_cols;
    const double mean = mean_depth(sample);

    for (size_t i = 0; i < n; i++)
        score[i] = 0;
    for (uint32_t t = 0; t < n_trees; t++) {
        g->rng = ft__prng_stream(seed, t);
        for (uint32_t i = 0; i < n; i++)
            g->row[i] = i;
        draw_sample(g, sample);
        g->n_nodes = 1;
        grow(g, 0, g->row, sample, 0);
        for (size_t i = 0; i < n; i++)
            score[i] += path(g->node, g->x->x + i * width);
    }
    for (size_t i = 0; i < n; i++)
        score[i] = mean > 0 ? exp2(-score[i] / n_trees / mean) : 0.5;
}

ft_status ft__isolation_scores(double *score, const ft__matrix *x,
                               const ft__isolation_options *opt, ft_error *err)
{
    uint32_t sample = opt->sample ? opt->sample : 256;
    struct isolation_growth g = {.x = x};
    ft_status st = check(x, sample, err);

    if (st)
        return st;
    sample = x->n_rows < sample ? (uint32_t)x->n_rows : sample;
    while (1U << g.deepest < sample)
        g.deepest++;
    g.row = calloc(x->n_rows, sizeof(*g.row));
    g.varies = calloc(x->n_cols, sizeof(*g.varies));
    g.node = calloc(2 * (size_t)sample, sizeof(*g.node));
    if (g.row && g.varies && g.node)
        score_all(score, &g, opt->n_trees ? opt->n_trees : 100, sample, opt->seed);
    else
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to isolate %zu rows", x->n_rows);
    free(g.row);
    free(g.varies);
    free(g.node);
    return st;
}
