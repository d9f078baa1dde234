/* Functional analysis of variance of a forest: F. Hutter, H. Hoos, K. Leyton-Brown, An
 * efficient approach for assessing hyperparameter importance, ICML 2014. Columns are
 * cut into bins, over which a tree is a sum of boxes: its means over all columns but
 * one or two are exact. They are taken of the forest, the mean of its trees; what each
 * tree alone says of pairs is mostly noise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/prng.h"
#include "base/stats.h"
#include "explore/space/space.h"
#include "learn/learn_inside.h"
#include "learn/tree/forest.h"

enum {
    TREES = 64,
    FOLDS = 5,
    LEAST_POINTS = 10,
    BINS = 64,
    MAX_CELLS = 1 << 23, /* of all pairs' tables: bins are fewer where pairs are many */
    DRAWS = 16384,       /* rows over which the forest's variance is taken */
};

struct anova {
    ft__arena room;
    size_t k, n; /* columns; points of which y is known */
    uint32_t bins[FT__MAX_PARAMS];
    float *x;
    double *y;
    size_t *line_at;     /* k + 1 */
    size_t *table_at;    /* k x k: of pairs i < j */
    double *line;        /* effects of bins in the tree at hand, as differences */
    double *lines;       /* summed over trees */
    double *table;       /* summed over trees, as differences in both directions */
    double mean, square; /* of the tree at hand */
    double *share;       /* k x TREES: each tree's main effects */
};

static void add_pair(struct anova *a, size_t i, size_t j, const uint32_t *low,
                     const uint32_t *high, double v)
{
    double *t = a->table + a->table_at[i * a->k + j];
    const size_t wide = a->bins[j] + 1;

    t[low[i] * wide + low[j]] += v;
    t[low[i] * wide + high[j]] -= v;
    t[high[i] * wide + low[j]] -= v;
    t[high[i] * wide + high[j]] += v;
}

/* A column that a leaf is not bounded in has no part in its effect: what it adds there
 * is the same for all bins. */
static void add_leaf(struct anova *a, const uint32_t *low, const uint32_t *high,
                     double value)
{
    uint32_t bound[FT__MAX_PARAMS];
    double width[FT__MAX_PARAMS], volume = 1;
    size_t n = 0;

    for (uint32_t k = 0; k < a->k; k++) {
        if (high[k] - low[k] == a->bins[k])
            continue;
        width[n] = (double)(high[k] - low[k]) / a->bins[k];
        volume *= width[n];
        bound[n++] = k;
    }
    a->mean += volume * value;
    a->square += volume * value * value;
    for (size_t i = 0; i < n; i++) {
        double *line = a->line + a->line_at[bound[i]];
        const double v = value * volume / width[i];

        line[low[bound[i]]] += v;
        line[high[bound[i]]] -= v;
        for (size_t j = i + 1; j < n; j++)
            add_pair(a, bound[i], bound[j], low, high, v / width[j] / TREES);
    }
}

/* The float of which ft__key_of() made a key. */
static float float_of(uint32_t key)
{
    const uint32_t bits = key >> 31 ? key ^ 0x80000000u : ~key;
    float v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* A way down a tree over whole numbers, none of them missing: column k of a row that
 * comes here lies in low[k] .. high[k] - 1. */
struct descent {
    struct anova *a;
    const ft__forest *f;
    uint32_t *low, *high;
};

/* Add the leaves below a cell; low and high are afterwards as they were. */
static void descend(const struct descent *d, const ft__cell *c)
{
    const uint32_t col = c->link % FT__MAX_WIDTH;
    const ft__cell *left = c + (c->link >> FT__LINK_SHIFT);
    uint32_t low, high, cut;

    if (c->link == d->f->head->width) {
        add_leaf(d->a, d->low, d->high, ft__leaf_value(c));
        return;
    }
    low = d->low[col];
    high = d->high[col];
    cut = (uint32_t)fmax(0, floor((double)float_of(c->key)) +
                                1); /* the first to go right */
    d->high[col] = cut < high ? cut : high;
    if (d->low[col] < d->high[col])
        descend(d, left);
    d->high[col] = high;
    d->low[col] = cut > low ? cut : low;
    if (d->low[col] < d->high[col])
        descend(d, left + 1);
    d->low[col] = low;
}

static double variance(const double *v, size_t n)
{
    const double mean = ft__mean(v, n);
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (v[i] - mean) * (v[i] - mean);
    return sum / (double)n;
}

static void add_tree(struct anova *a, const ft__forest *f, uint32_t t)
{
    uint32_t low[FT__MAX_PARAMS] = {0}, high[FT__MAX_PARAMS];
    const struct descent d = {a, f, low, high};
    double total;

    memcpy(high, a->bins, a->k * sizeof(*high));
    memset(a->line, 0, a->line_at[a->k] * sizeof(*a->line));
    a->mean = a->square = 0;
    descend(&d, f->cell + (size_t)f->start[t] * FT__LINE);
    total = a->square - a->mean * a->mean;
    for (size_t k = 0; k < a->k; k++) {
        double *line = a->line + a->line_at[k], *sum = a->lines + a->line_at[k];

        for (size_t b = 0; b < a->bins[k]; b++) {
            line[b] += b ? line[b - 1] : 0;
            sum[b] += line[b] / TREES;
        }
        a->share[k * TREES + t] = variance(line, a->bins[k]) / total;
    }
}

/* Sum up the differences, and take the means of rows and columns away: what is left is
 * what both do together. */
static double pair_variance(double *t, size_t rows, size_t columns)
{
    const size_t wide = columns + 1;
    double sum = 0;

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            t[i * wide + j] += (i ? t[(i - 1) * wide + j] : 0) +
                               (j ? t[i * wide + j - 1] : 0) -
                               (i && j ? t[(i - 1) * wide + j - 1] : 0);
    for (size_t i = 0; i < rows; i++) {
        const double mean = ft__mean(t + i * wide, columns);

        for (size_t j = 0; j < columns; j++)
            t[i * wide + j] -= mean;
    }
    for (size_t j = 0; j < columns; j++) {
        double mean = 0;

        for (size_t i = 0; i < rows; i++)
            mean += t[i * wide + j] / (double)rows;
        for (size_t i = 0; i < rows; i++)
            sum += (t[i * wide + j] - mean) * (t[i * wide + j] - mean);
    }
    return sum / (double)(rows * columns);
}

/* Bins that all weigh the same: values, or parts of the range where they are many. */
static void choose_bins(struct anova *a, const ft_space *s)
{
    size_t cells = 0;

    for (uint32_t most = BINS; most == BINS || cells > MAX_CELLS; most /= 2) {
        cells = 0;
        for (size_t i = 0; i < a->k; i++) {
            const uint32_t n = s->param[i].n_values;

            a->bins[i] = n && n <= most ? n : most;
            for (size_t j = 0; j < i; j++)
                cells += (size_t)(a->bins[i] + 1) * (a->bins[j] + 1);
        }
    }
}

/* A parameter that has no say stands at the middle of its range (as in their section on
 * conditional parameters). */
static void write_columns(struct anova *a, const ft_space *s, const double *points,
                          const double *y, size_t n)
{
    double unit[FT__MAX_PARAMS];

    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i]))
            continue;
        ft__space_to_unit(s, unit, points + i * a->k);
        for (size_t k = 0; k < a->k; k++) {
            const double bin = floor(unit[k] * a->bins[k]);

            a->x[a->n * a->k + k] = (float)fmin(fmax(bin, 0), a->bins[k] - 1);
        }
        a->y[a->n++] = y[i];
    }
}

static ft_status start(struct anova *a, const ft_space *s, const double *points,
                       const double *y, size_t n, ft_error *err)
{
    size_t cells = 0;

    a->k = s->n;
    choose_bins(a, s);
    a->x = ft__arena_need(&a->room, n * a->k, sizeof(*a->x));
    a->y = ft__arena_need(&a->room, n, sizeof(*a->y));
    a->line_at = ft__arena_need(&a->room, a->k + 1, sizeof(*a->line_at));
    a->table_at = ft__arena_need(&a->room, a->k * a->k, sizeof(*a->table_at));
    a->share = ft__arena_need(&a->room, a->k * TREES, sizeof(*a->share));
    if (a->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for the influence of parameters");
    for (size_t i = 0; i < a->k; i++) {
        a->line_at[i + 1] = a->line_at[i] + a->bins[i] + 1;
        for (size_t j = i + 1; j < a->k; j++) {
            a->table_at[i * a->k + j] = cells;
            cells += (size_t)(a->bins[i] + 1) * (a->bins[j] + 1);
        }
    }
    a->line = ft__arena_need(&a->room, a->line_at[a->k], sizeof(*a->line));
    a->lines = ft__arena_need(&a->room, a->line_at[a->k], sizeof(*a->lines));
    a->table = ft__arena_need(&a->room, cells + 1, sizeof(*a->table));
    if (a->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for the influence of parameters");
    write_columns(a, s, points, y, n);
    return FT_OK;
}

/* How many combinations of bins there are; no more than DRAWS + 1. */
static size_t combinations(const struct anova *a)
{
    size_t n = 1;

    for (size_t i = 0; i < a->k && n <= DRAWS; i++)
        n = a->bins[i] > DRAWS / n ? DRAWS + 1 : n * a->bins[i];
    return n;
}

/* Over all combinations, or where they are too many, over so many at random. */
static ft_status forest_variance(double *out, const struct anova *a,
                                 const ft__forest *f, uint64_t seed, ft_error *err)
{
    size_t all = combinations(a), n = all <= DRAWS ? all : DRAWS;
    float *x = malloc(n * a->k * sizeof(*x));
    double *y = malloc(n * sizeof(*y));
    ft__prng rng = ft__prng_stream(seed, TREES);
    ft_status st = FT_OK;

    if (x && y) {
        for (size_t r = 0; r < n; r++)
            for (size_t i = 0, left = r; i < a->k; left /= a->bins[i++])
                x[r * a->k + i] =
                    (float)(all <= DRAWS ? left % a->bins[i]
                                         : ft__prng_below(&rng, a->bins[i]));
        ft__forest_predict_rows(f, x, n, y);
        *out = variance(y, n);
    } else {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for the variance of a forest");
    }
    free(x);
    free(y);
    return st;
}

static ft_status out_of_fold(double *r2, const struct anova *a, const ft__matrix *x,
                             const ft__learn_model_options *opt, ft_error *err)
{
    double *predicted = malloc(a->n * sizeof(*predicted));
    uint32_t *fold = malloc(a->n * sizeof(*fold));
    ft_errors errors;
    ft_status st = predicted && fold
                       ? FT_OK
                       : ft_fail(err, FT_ENOMEM, 0, "no memory for %zu points", a->n);

    if (!st)
        st = ft__folds_make(fold, NULL, a->n, FOLDS, opt->seed, err);
    if (!st)
        st = ft__model_cross_validate(predicted, x, a->y, NULL, fold, FOLDS, opt, err);
    if (!st)
        st = ft__errors_compute(&errors, a->y, predicted, a->n, a->k, err);
    if (!st)
        *r2 = errors.r2;
    free(predicted);
    free(fold);
    return st;
}

static ft_status analyse(ft_influence *out, struct anova *a, uint64_t seed,
                         ft_error *err)
{
    const ft__forest_options opt = {.n_trees = TREES, .seed = seed};
    const ft__learn_model_options how = {
        .method = FT_METHOD_FOREST, .forest = opt, .seed = seed};
    const ft__matrix x = {a->x, a->n, a->k};
    ft__forest *f;
    double total = NAN;
    ft_status st = ft__forest_fit(&f, &x, a->y, NULL, &opt, err);

    if (st)
        return st;
    for (uint32_t t = 0; t < TREES; t++)
        add_tree(a, f, t);
    st = forest_variance(&total, a, f, seed, err);
    for (size_t i = 0; i < a->k && !st; i++) {
        out->main[i] = variance(a->lines + a->line_at[i], a->bins[i]) / total;
        out->main_sigma[i] = ft__std(a->share + i * TREES, TREES);
        for (size_t j = i + 1; j < a->k; j++)
            out->pair[i * a->k + j] = out->pair[j * a->k + i] =
                pair_variance(a->table + a->table_at[i * a->k + j], a->bins[i],
                              a->bins[j]) /
                total;
    }
    if (!st)
        st = out_of_fold(&out->r2, a, &x, &how, err);
    ft__forest_free(f);
    return st;
}

ft_status ft_influence_compute(ft_influence *out, const ft_space *s,
                               const double *points, const double *y, size_t n,
                               uint64_t seed, ft_error *err)
{
    struct anova a = {0};
    ft_status st = start(&a, s, points, y, n, err);

    *out = (ft_influence){.k = s->n, .r2 = NAN};
    if (!st && a.n < LEAST_POINTS)
        st = ft_fail(err, FT_EINVAL, 0,
                     "%zu points whose outcome is known, at least %d say something "
                     "about influence",
                     a.n, LEAST_POINTS);
    if (!st) {
        out->main = calloc(s->n, sizeof(*out->main));
        out->main_sigma = calloc(s->n, sizeof(*out->main_sigma));
        out->pair = calloc(s->n * s->n, sizeof(*out->pair));
        st = out->main && out->main_sigma && out->pair
                 ? analyse(out, &a, seed, err)
                 : ft_fail(err, FT_ENOMEM, 0, "no memory for influences");
    }
    ft__arena_free(&a.room);
    if (st)
        ft_influence_free(out);
    return st;
}

void ft_influence_free(ft_influence *i)
{
    free(i->main);
    free(i->main_sigma);
    free(i->pair);
    *i = (ft_influence){0};
}
