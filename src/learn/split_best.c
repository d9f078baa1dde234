/* Random forests (Breiman 2001): every cut of the columns tried. Each column
 * keeps the tree's rows in its own ascending order; a split parts all orders
 * stably, so nothing is ever sorted again. */
#include <stdlib.h>
#include <string.h>

#include "learn/train.h"

struct row_sum {
    double y; /* w * (y - mean of the node) */
    double w;
};

struct ft__splitter {
    const ft__train *d;
    const double *w;
    ft__key *key; /* n_rows per column */
    ft__key *spare;
    struct row_sum *sum; /* by row */
    uint8_t *right;      /* by row */
    uint32_t *cand;      /* columns that are not constant */
};

static void best_close(ft__splitter *s)
{
    free(s->key);
    free(s->spare);
    free(s->sum);
    free(s->right);
    free(s->cand);
    free(s);
}

static ft__splitter *best_open(const ft__train *d)
{
    const size_t n = d->n_rows;
    ft__splitter *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->d = d;
    s->key = calloc(n * d->n_cols, sizeof(*s->key));
    s->spare = calloc(n, sizeof(*s->spare));
    s->sum = calloc(n, sizeof(*s->sum));
    s->right = calloc(n, sizeof(*s->right));
    s->cand = calloc(d->n_cols, sizeof(*s->cand));
    if (!s->key || !s->spare || !s->sum || !s->right || !s->cand) {
        best_close(s);
        return NULL;
    }
    return s;
}

static ft__key *keys(ft__splitter *s, uint32_t col, uint32_t at)
{
    return s->key + (size_t)col * s->d->n_rows + at;
}

static uint32_t best_start(ft__splitter *s, const double *w)
{
    const uint32_t n = s->d->n_rows;
    uint32_t kept = 0;

    s->w = w;
    for (uint32_t j = 0; j < s->d->n_cols; j++) {
        const ft__key *from = s->d->key + (size_t)j * n;
        ft__key *to = keys(s, j, 0);

        kept = 0;
        for (uint32_t i = 0; i < n; i++) {
            to[kept] = from[i];
            kept += w[from[i].row] > 0;
        }
    }
    return kept;
}

static ft__sums best_sums(ft__splitter *s, uint32_t at, uint32_t n)
{
    const ft__key *k = keys(s, 0, at);
    const double *y = s->d->y, first = y[k[0].row];
    ft__sums sums = {.pure = true};
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sums.w += s->w[k[i].row];
        sum += s->w[k[i].row] * y[k[i].row];
        sums.pure &= y[k[i].row] == first;
    }
    sums.mean = sums.pure ? first : sum / sums.w;
    return sums;
}

/* The best cut of a column between two rows that differ; the gain, or less
 * than 0. */
static double best_cut(const ft__key *k, uint32_t n, const struct row_sum *sum,
                       double all, uint32_t min_leaf, uint32_t *n_left)
{
    double best = -1, y = 0, w = 0;
    uint32_t left = 0;

    for (uint32_t i = 1; i + min_leaf <= n; i++) {
        double gain;

        y += sum[k[i - 1].row].y;
        w += sum[k[i - 1].row].w;
        gain = i >= min_leaf && k[i].x > k[i - 1].x ? ft__gain(y, w, all) : -1;
        /* Two selections rather than one branch: which cut is better cannot be
         * foretold. */
        left = gain > best ? i : left;
        best = gain > best ? gain : best;
    }
    *n_left = left;
    return best;
}

/* Half way between two neighbours, never at the upper one. */
static float cut_between(float lo, float hi)
{
    const float cut = lo / 2 + hi / 2;

    return cut >= lo && cut < hi ? cut : lo;
}

static bool best_split(ft__splitter *s, uint32_t at, uint32_t n, const ft__sums *sums,
                       uint32_t n_try, uint32_t min_leaf, ft__prng *rng, ft__split *out)
{
    const ft__key *k = keys(s, 0, at);
    uint32_t n_cand = 0;
    float best = -1;

    for (uint32_t j = 0; j < s->d->n_cols; j++)
        if (keys(s, j, at)[0].x < keys(s, j, at)[n - 1].x)
            s->cand[n_cand++] = j;
    for (uint32_t i = 0; i < n; i++) {
        const double w = s->w[k[i].row];

        s->sum[k[i].row] = (struct row_sum){w * (s->d->y[k[i].row] - sums->mean), w};
    }
    for (uint32_t i = 0; i < n_try && i < n_cand; i++) {
        const uint32_t pick = i + ft__prng_below(rng, n_cand - i), col = s->cand[pick];
        uint32_t n_left = 0;
        float gain;

        s->cand[pick] = s->cand[i];
        k = keys(s, col, at);
        /* As float, so that mirror images of one split tie and the order drawn
         * decides, not the last bit of a sum. */
        gain = (float)best_cut(k, n, s->sum, sums->w, min_leaf, &n_left);
        if (gain > best) {
            best = gain;
            *out = (ft__split){col, cut_between(k[n_left - 1].x, k[n_left].x), n_left};
        }
    }
    return best >= 0;
}

static void part_keys(ft__key *k, uint32_t n, const uint8_t *right, ft__key *spare)
{
    uint32_t n_left = 0, n_right = 0;

    for (uint32_t i = 0; i < n; i++) {
        const ft__key key = k[i];
        const uint32_t to_right = right[key.row];

        k[n_left] = key;
        spare[n_right] = key;
        n_left += !to_right;
        n_right += to_right;
    }
    memcpy(k + n_left, spare, n_right * sizeof(*k));
}

static void best_part(ft__splitter *s, uint32_t at, uint32_t n, ft__split *split)
{
    const ft__key *k = keys(s, split->col, at);

    for (uint32_t i = 0; i < n; i++)
        s->right[k[i].row] = i >= split->n_left;
    for (uint32_t j = 0; j < s->d->n_cols; j++)
        if (j != split->col)
            part_keys(keys(s, j, at), n, s->right, s->spare);
}

const ft__splitter_ops ft__split_best = {
    .open = best_open,
    .close = best_close,
    .start = best_start,
    .sums = best_sums,
    .split = best_split,
    .part = best_part,
};
