#include "decide/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"
#include "graph/op_inside.h"
#include "learn/numerics.h"
#include "predict/data/features.h"
#include "predict/model/model_set.h"

/* In units of the scatter of all columns together. */
static const double reach = 2;
static const float noise = FT__CHOOSING_NOISE;

enum { WIDTH = FT__N_FEATURES + 3 };

static ft__roof rough_roof(void)
{
    return ft__flat_roof(1e11, 1e10, 1e-6);
}

double ft__choosing_work(const ft_op *op)
{
    const ft__roof rough = rough_roof();

    return ft__roofline(op, &rough);
}

static void fill_row(float *row, const ft_op *op)
{
    const ft__roof rough = rough_roof();
    ft_cost cost;

    ft_op_cost(op, &cost);
    ft__features(row, op, &cost, &rough);
    row += FT__N_FEATURES;
    *row++ = (float)ft_kind_class(op->kind);
    *row++ = (float)op->phase;
    *row = (float)ft_dtype_bits(op->dtype);
}

/* Mean 0 and variance 1; a column that says nothing is 0. Missing is the mean. */
static void standardise(float *x, size_t n, uint32_t column)
{
    double sum = 0, square = 0, mean, scale;
    size_t there = 0;

    for (size_t i = 0; i < n; i++) {
        double v = (double)x[i * WIDTH + column];

        if (isfinite(v)) {
            sum += v;
            square += v * v;
            there++;
        }
    }
    mean = there ? sum / (double)there : 0;
    scale = there ? sqrt(fmax(0, square / (double)there - mean * mean)) : 0;
    for (size_t i = 0; i < n; i++) {
        float *v = &x[i * WIDTH + column];

        *v = isfinite(*v) && scale > 1e-6 * fabs(mean) && scale > 1e-9
                 ? (float)(((double)*v - mean) / scale)
                 : 0;
    }
}

static float distance(const float *a, const float *b)
{
    float sum = 0;

    for (int j = 0; j < WIDTH; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrtf(sum);
}

/* Root of the mean squared distance from the middle. */
static double scatter(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n * WIDTH; i++)
        sum += (double)x[i] * (double)x[i];
    return n && sum > 0 ? sqrt(sum / (double)n) : 1;
}

static void compare(ft__choosing *c, const float *x)
{
    const float unit = (float)(reach * scatter(x, c->n));

    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j <= i; j++) {
            float d = distance(x + i * WIDTH, x + j * WIDTH) / unit;

            if (c->by == FT_CRITERION_ACTIVE)
                d = 1 / (1 + d);
            c->between[i * c->n + j] = c->between[j * c->n + i] = d;
        }
}

static ft_status compare_ops(ft__choosing *c, const ft_op *ops, ft_error *err)
{
    const size_t n2 = c->n * c->n + 1;
    float *x = ft__arena_need(&c->room, c->n + 1, WIDTH * sizeof(*x));

    c->between = ft__arena_need(&c->room, n2, sizeof(*c->between));
    if (c->by == FT_CRITERION_ACTIVE)
        c->alike = ft__arena_need(&c->room, n2, sizeof(*c->alike));
    if (c->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", c->n);
    for (size_t i = 0; i < c->n; i++)
        fill_row(x + i * WIDTH, &ops[i]);
    for (uint32_t j = 0; j < WIDTH; j++)
        standardise(x, c->n, j);
    compare(c, x);
    if (c->alike)
        memcpy(c->alike, c->between, c->n * c->n * sizeof(*c->alike));
    return FT_OK;
}

/* What measuring takes however short an operation is, and how often it runs at least.
 */
static const double least_cost_s = 0.05, runs = 8;

ft_status ft__choosing_make(ft__choosing *out, const ft_op *ops, const double *count,
                            size_t n, ft_criterion by, uint64_t seed, ft_error *err)
{
    /* Farther than anything lies. */
    const float far = 16;
    ft_status st = FT_OK;

    *out = (ft__choosing){.by = by, .n = n, .pace = 1, .learn_at = FT__FIRST_LEARNED};
    out->wanted = ft__arena_need(&out->room, n + 1, sizeof(*out->wanted));
    out->weight = ft__arena_need(&out->room, n + 1, sizeof(*out->weight));
    out->work_s = ft__arena_need(&out->room, n + 1, sizeof(*out->work_s));
    out->left = ft__arena_need(&out->room, n + 1, sizeof(*out->left));
    out->spacing = ft__arena_need(&out->room, n + 1, sizeof(*out->spacing));
    out->lot = ft__arena_need(&out->room, n + 1, sizeof(*out->lot));
    out->known = ft__arena_need(&out->room, n + 1, sizeof(*out->known));
    out->hash = ft__arena_need(&out->room, n + 1, sizeof(*out->hash));
    out->category = ft__arena_need(&out->room, n + 1, sizeof(*out->category));
    if (out->room.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    for (size_t i = 0; i < n && !st; i++) {
        ft__prng p;

        out->work_s[i] = ft__choosing_work(&ops[i]);
        out->hash[i] = ft__op_hash(&ops[i]);
        out->category[i] = (uint32_t)ops[i].kind * FT_PHASE_COUNT + ops[i].phase;
        p = ft__prng_stream(seed, out->hash[i]);
        out->wanted[i] = out->weight[i] = count ? (float)count[i] : 1;
        out->left[i] = 1;
        out->spacing[i] = far;
        out->lot[i] = (float)ft__prng_unit(&p);
    }
    if (!st && by != FT_CRITERION_RANDOM)
        st = compare_ops(out, ops, err);
    if (st)
        ft__choosing_free(out);
    return st;
}

void ft__choosing_free(ft__choosing *c)
{
    ft__arena_free(&c->room);
    *c = (ft__choosing){0};
}

/* What is left of the covariance once i is known but for noise. */
static void condition(ft__choosing *c, size_t i)
{
    const float *row = c->between + i * c->n;
    const float left = row[i] + noise;

    for (size_t a = 0; a < c->n; a++) {
        float *to = c->between + a * c->n, part = c->between[a * c->n + i] / left;

        /* What is known is asked for no more. */
        if (a == i || c->known[a])
            continue;
        for (size_t b = 0; b < c->n; b++)
            to[b] -= part * row[b];
        c->left[a] = sqrtf(fmaxf(to[a], 0));
    }
    c->left[i] = 0;
    /* Its own row last: all others were read from it. */
    for (size_t b = 0; b < c->n; b++)
        c->between[i * c->n + b] *= noise / left;
}

void ft__choosing_know(ft__choosing *c, size_t i)
{
    if (c->known[i])
        return;
    c->known[i] = 1;
    c->n_known++;
    if (c->by == FT_CRITERION_ACTIVE)
        condition(c, i);
    for (size_t j = 0; c->by == FT_CRITERION_SPREAD && j < c->n; j++)
        c->spacing[j] = fminf(c->spacing[j], c->between[i * c->n + j]);
}

/* Learned anew when there are so many times more. */
static const double again = 1.5;
/* Trees of one forest: many forests are grown to see how hard operations are. From more
 * rows, of which a store may hold any number, a part is drawn. */
enum { TREES = 24, MOST_ROWS = 8192 };
/* Those of one kind count with this power of their likeness; as if of the whole kind
 * one counted so much, and of all kinds so many of the kind. */
static const double sharpness = 8, of_kind = 0.5, of_all = 3;
/* Single operations that are far off say little of others. */
static const double most_quantile = 0.98;

bool ft__choosing_is_due(const ft__choosing *c)
{
    return c->by == FT_CRITERION_ACTIVE && c->n_known >= c->learn_at;
}

/* What is known of the measured ones. */
struct measured_errors {
    size_t *at;     /* of the operations chosen among */
    double *square; /* a^2 */
    double *scratch;
    size_t n;
};

static void seen_free(struct measured_errors *k)
{
    free(k->at);
    free(k->square);
    free(k->scratch);
}

static ft_status hold_out(double *held, const ft__samples *s, const uint32_t *row,
                          size_t n, uint32_t threads, ft_error *err)
{
    const ft__model_set_options how = {.metric = FT__METRIC_TIME,
                                       .plain = true,
                                       .held = held,
                                       .part_rows = n > MOST_ROWS ? MOST_ROWS : 0,
                                       .fit = {.methods = 1u << FT_METHOD_EXTRA,
                                               .no_residual_scale = true,
                                               .n_trees = TREES,
                                               .seed = 1,
                                               .threads = threads}};
    ft__model_set l;
    ft_status st = ft__model_set_fit(&l, s, row, n, row, n, &how, err);

    if (!st)
        ft__model_set_free(&l);
    /* Nothing that was measured has a time: nothing is held out. */
    return st == FT_ENOTFOUND ? FT_OK : st;
}

struct hashed {
    uint64_t hash;
    size_t at;
};

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ((const struct hashed *)a)->hash, y = ((const struct hashed *)b)->hash;

    return (x > y) - (x < y);
}

/* Mean squared error of each operation; NaN: there is none. */
static ft_status find_errors(double *square, const ft__choosing *c,
                             const ft__samples *s, const uint32_t *row, size_t n,
                             const double *held, ft_error *err)
{
    struct hashed *all = calloc(c->n + 1, sizeof(*all));
    size_t *count = calloc(c->n + 1, sizeof(*count));

    if (!all || !count) {
        free(all);
        free(count);
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", c->n);
    }
    for (size_t i = 0; i < c->n; i++)
        all[i] = (struct hashed){c->hash[i], i};
    qsort(all, c->n, sizeof(*all), by_hash);
    for (size_t k = 0; k < n; k++) {
        const ft__sample *v = &s->v[row[k]];
        const struct hashed *h =
            bsearch(&(struct hashed){v->hash, 0}, all, c->n, sizeof(*all), by_hash);
        double e = log(v->value[FT__METRIC_TIME] / held[row[k]]);

        if (h && isfinite(e)) {
            square[h->at] += e * e;
            count[h->at]++;
        }
    }
    for (size_t i = 0; i < c->n; i++)
        square[i] = count[i] ? square[i] / (double)count[i] : NAN;
    free(all);
    free(count);
    return FT_OK;
}

/* 1 / diagonal of the inverse of their covariance with noise (Rasmussen, Williams 2006,
 * eq. 5.12). *good: there is one. */
static ft_status divide_by_left(bool *good, struct measured_errors *k,
                                const ft__choosing *c, ft_error *err)
{
    const size_t n = k->n;
    double *a = calloc(3 * n * n + 1, sizeof(*a)), *inverse = a + n * n;

    if (!a)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            a[i * n + j] = (double)c->alike[k->at[i] * c->n + k->at[j]] +
                           (i == j ? (double)FT__CHOOSING_NOISE : 0);
    *good = ft__cholesky(a, n);
    if (*good)
        ft__cholesky_invert(inverse, a, inverse + n * n, n);
    for (size_t i = 0; i < n && *good; i++)
        k->square[i] *= inverse[i * n + i];
    free(a);
    return FT_OK;
}

/* No more than nearly all of them have. */
static void limit_squares(struct measured_errors *k)
{
    double most;

    for (size_t i = 0; i < k->n; i++)
        k->scratch[i] = k->square[i];
    ft__sort(k->scratch, k->n);
    most = ft__quantile(k->scratch, k->n, most_quantile);
    for (size_t i = 0; i < k->n; i++)
        k->square[i] = fmin(k->square[i], most);
}

/* a^2 of operation j. */
static double square_of(const struct measured_errors *k, const ft__choosing *c,
                        size_t j, double usual)
{
    double near = 0, near_weight = 0, kind = of_all * usual, kind_weight = of_all;

    for (size_t i = 0; i < k->n; i++)
        if (c->category[k->at[i]] == c->category[j]) {
            double w = pow((double)c->alike[j * c->n + k->at[i]], sharpness);

            near += w * k->square[i];
            near_weight += w;
            kind += k->square[i];
            kind_weight++;
        }
    return (near + of_kind * kind / kind_weight) / (near_weight + of_kind);
}

static void weigh(ft__choosing *c, const struct measured_errors *k)
{
    double usual = ft__mean(k->square, k->n);

    if (!(usual > 0))
        return;
    for (size_t j = 0; j < c->n; j++)
        c->weight[j] =
            (float)((double)c->wanted[j] * sqrt(square_of(k, c, j, usual) / usual));
}

static ft_status see(struct measured_errors *out, const ft__choosing *c,
                     const double *square, ft_error *err)
{
    *out = (struct measured_errors){.at = calloc(c->n + 1, sizeof(*out->at)),
                                    .square = calloc(c->n + 1, sizeof(*out->square)),
                                    .scratch = calloc(c->n + 1, sizeof(*out->scratch))};
    if (!out->at || !out->square || !out->scratch)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", c->n);
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(square[i])) {
            out->at[out->n] = i;
            out->square[out->n++] = square[i];
        }
    return FT_OK;
}

/* How much longer operations take than was thought: in the middle. */
static ft_status find_pace(double *pace, const ft__samples *s, const uint32_t *row,
                           size_t n, ft_error *err)
{
    double *ratio = calloc(n + 1, sizeof(*ratio));
    size_t there = 0;

    if (!ratio)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    for (size_t k = 0; k < n; k++) {
        const ft__sample *v = &s->v[row[k]];
        double r = v->value[FT__METRIC_TIME] / ft__choosing_work(&v->op);

        if (isfinite(r))
            ratio[there++] = r;
    }
    ft__sort(ratio, there);
    if (there)
        *pace = ft__quantile(ratio, there, 0.5);
    free(ratio);
    return FT_OK;
}

ft_status ft__choosing_learn(ft__choosing *c, const ft__samples *s, const uint32_t *row,
                             size_t n, uint32_t threads, ft_error *err)
{
    double *held = calloc(s->n + 1, sizeof(*held));
    double *square = calloc(c->n + 1, sizeof(*square));
    struct measured_errors k = {0};
    bool good = false;
    ft_status st = held && square ? hold_out(held, s, row, n, threads, err)
                                  : ft_fail(err, FT_ENOMEM, 0, "%zu rows", s->n);

    c->learn_at = (size_t)(again * (double)c->n_known) + 1;
    if (!st)
        st = find_pace(&c->pace, s, row, n, err);
    if (!st)
        st = find_errors(square, c, s, row, n, held, err);
    if (!st)
        st = see(&k, c, square, err);
    if (!st)
        st = divide_by_left(&good, &k, c, err);
    if (!st && good && k.n) {
        limit_squares(&k);
        weigh(c, &k);
    }
    seen_free(&k);
    free(held);
    free(square);
    return st;
}

/* LANES operations at a time are summed, BLOCK looked at. */
enum { LANES = 8, BLOCK = 32 * LANES };

/* By how much less is unknown of each of n operations when one is known. */
static void find_less(float *restrict less, const float *restrict left,
                      const float *restrict row, const float *restrict weight,
                      float share, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        const float after = left[j] * left[j] - row[j] * row[j] * share;

        /* The larger of `after` and 0, without a branch. */
        less[j] = weight[j] * (left[j] - sqrtf(0.5F * (after + fabsf(after))));
    }
}

/* Sums in lanes: the same order whatever the processor, and the compiler may use
 * vectors. */
static double gain_active(const ft__choosing *c, size_t i)
{
    const float *row = c->between + i * c->n;
    const float share = 1 / (fmaxf(row[i], 0) + noise);
    float lane[LANES] = {0}, less[BLOCK];
    double sum = 0;

    for (size_t j = 0; j < c->n; j += BLOCK) {
        const size_t n = c->n - j < BLOCK ? c->n - j : BLOCK;

        find_less(less, c->left + j, row + j, c->weight + j, share, n);
        for (size_t k = n; k % LANES; k++)
            less[k] = 0;
        for (size_t k = 0; k < n; k += LANES)
            for (size_t l = 0; l < LANES; l++)
                lane[l] += less[k + l];
    }
    for (size_t k = 0; k < LANES; k++)
        sum += (double)lane[k];
    return sum;
}

/* Coverage (Cornuejols, Fisher, Nemhauser 1977). */
static double gain_spread(const ft__choosing *c, size_t i)
{
    const float *row = c->between + i * c->n;
    double sum = 0;

    for (size_t j = 0; j < c->n; j++)
        sum += (double)(c->weight[j] * fmaxf(0, c->spacing[j] - row[j]));
    return sum;
}

static double gain(const ft__choosing *c, size_t i)
{
    switch (c->by) {
    case FT_CRITERION_ACTIVE: return gain_active(c, i);
    case FT_CRITERION_SPREAD: return gain_spread(c, i);
    default: return (double)c->lot[i];
    }
}

size_t ft__choosing_next(const ft__choosing *c, bool (*may)(const void *user, size_t i),
                         const void *user)
{
    size_t best = c->n;
    double most = 0;

    for (size_t i = 0; i < c->n; i++) {
        double g;

        if (c->known[i] || (may && !may(user, i)))
            continue;
        g = gain(c, i);
        if (c->by != FT_CRITERION_RANDOM)
            g /= least_cost_s + runs * c->pace * c->work_s[i];
        if (best == c->n || g > most) {
            best = i;
            most = g;
        }
    }
    return best;
}
