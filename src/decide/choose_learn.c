/* How hard operations are to foretell, from those that were measured. */
#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "decide/choose.h"
#include "learn/cholesky.h"
#include "predict/model/model_set.h"

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
struct seen {
    size_t *at;     /* of the operations chosen among */
    double *square; /* a^2 */
    double *scratch;
    size_t n;
};

static void seen_free(struct seen *k)
{
    free(k->at);
    free(k->square);
    free(k->scratch);
}

/* ---- how far off they were ---- */

static ft_status hold_out(double *held, const ft__samples *s, const uint32_t *row,
                          size_t n, uint32_t threads, ft_error *err)
{
    const ft__learn_options how = {.metric = FT__METRIC_TIME,
                                   .plain = true,
                                   .held = held,
                                   .part_rows = n > MOST_ROWS ? MOST_ROWS : 0,
                                   .fit = {.methods = 1u << FT_METHOD_EXTRA,
                                           .no_spread = true,
                                           .n_trees = TREES,
                                           .seed = 1,
                                           .threads = threads}};
    ft__learner l;
    ft_status st = ft__learner_fit(&l, s, row, n, row, n, &how, err);

    if (!st)
        ft__learner_free(&l);
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

/* ---- in units of what the others leave unknown ---- */

/* 1 / diagonal of the inverse of their covariance with noise (Rasmussen, Williams 2006,
 * eq. 5.12). *good: there is one. */
static ft_status divide_by_left(bool *good, struct seen *k, const ft__choosing *c,
                                ft_error *err)
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
static void limit(struct seen *k)
{
    double most;

    for (size_t i = 0; i < k->n; i++)
        k->scratch[i] = k->square[i];
    ft__sort(k->scratch, k->n);
    most = ft__quantile(k->scratch, k->n, most_quantile);
    for (size_t i = 0; i < k->n; i++)
        k->square[i] = fmin(k->square[i], most);
}

/* ---- of all of them ---- */

/* a^2 of operation j. */
static double square_of(const struct seen *k, const ft__choosing *c, size_t j,
                        double usual)
{
    double near = 0, near_weight = 0, kind = of_all * usual, kind_weight = of_all;

    for (size_t i = 0; i < k->n; i++)
        if (c->sort[k->at[i]] == c->sort[j]) {
            double w = pow((double)c->alike[j * c->n + k->at[i]], sharpness);

            near += w * k->square[i];
            near_weight += w;
            kind += k->square[i];
            kind_weight++;
        }
    return (near + of_kind * kind / kind_weight) / (near_weight + of_kind);
}

static void weigh(ft__choosing *c, const struct seen *k)
{
    double usual = ft__mean(k->square, k->n);

    if (!(usual > 0))
        return;
    for (size_t j = 0; j < c->n; j++)
        c->weight[j] =
            (float)((double)c->wanted[j] * sqrt(square_of(k, c, j, usual) / usual));
}

static ft_status see(struct seen *out, const ft__choosing *c, const double *square,
                     ft_error *err)
{
    *out = (struct seen){.at = calloc(c->n + 1, sizeof(*out->at)),
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
    struct seen k = {0};
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
        limit(&k);
        weigh(c, &k);
    }
    seen_free(&k);
    free(held);
    free(square);
    return st;
}
