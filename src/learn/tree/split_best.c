/* Random forests (Breiman 2001): every cut of the columns tried. Each column
 * keeps the tree's rows in its own ascending order; a split parts all orders
 * stably, so nothing is ever sorted again. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "learn/tree/kernels.h"

struct ft__splitter {
    ft__arena room;
    const ft__tree_training *d;
    const ft__kernels *kernels;
    const double *w;
    ft__key *key; /* n_rows per column */
    ft__key *spare;
    ft__row_sum *sum; /* by row */
    uint8_t *right;   /* by row */
    uint32_t *cand;   /* columns that are not constant */
    ft__cut *cut;     /* of the columns tried */
};

static void best_close(ft__splitter *s)
{
    ft__arena_free(&s->room);
    free(s);
}

static ft__splitter *best_open(const ft__tree_training *d)
{
    const size_t n = d->n_rows;
    ft__splitter *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->d = d;
    s->kernels = ft__kernels_here();
    s->key = ft__arena_need(&s->room, n * d->n_cols, sizeof(*s->key));
    s->spare = ft__arena_need(&s->room, n + FT__SPARE, sizeof(*s->spare));
    s->sum = ft__arena_need(&s->room, n, sizeof(*s->sum));
    s->right = ft__arena_need(&s->room, n + FT__SPARE, sizeof(*s->right));
    s->cand = ft__arena_need(&s->room, d->n_cols, sizeof(*s->cand));
    s->cut = ft__arena_need(&s->room, d->n_cols, sizeof(*s->cut));
    if (s->room.bad) {
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

        s->sum[k[i].row] = (ft__row_sum){w * (s->d->y[k[i].row] - sums->mean), w};
    }
    n_try = n_try < n_cand ? n_try : n_cand;
    for (uint32_t i = 0; i < n_try; i++) {
        const uint32_t pick = i + ft__prng_below(rng, n_cand - i), col = s->cand[pick];

        s->cand[pick] = s->cand[i];
        s->cand[i] = col;
        s->cut[i].key = keys(s, col, at);
    }
    s->kernels->best_cuts(s->cut, n_try, n, s->sum, sums->w, min_leaf);
    for (uint32_t i = 0; i < n_try; i++) {
        const uint32_t n_left = s->cut[i].n_left;
        /* As float, so that mirror images of one split tie and the order drawn
         * decides, not the last bit of a sum. */
        const float gain = (float)s->cut[i].gain;

        if (gain > best) {
            best = gain;
            k = s->cut[i].key;
            *out = (ft__split){s->cand[i], ft__between(k[n_left - 1].x, k[n_left].x),
                               n_left};
        }
    }
    return best >= 0;
}

static void best_part(ft__splitter *s, uint32_t at, uint32_t n, ft__split *split)
{
    const ft__key *k = keys(s, split->col, at);

    for (uint32_t i = 0; i < n; i++)
        s->right[k[i].row] = i >= split->n_left;
    for (uint32_t j = 0; j < s->d->n_cols; j++)
        if (j != split->col)
            s->kernels->part(keys(s, j, at), n, s->right, s->spare);
}

const ft__splitter_ops ft__split_best = {
    .open = best_open,
    .close = best_close,
    .start = best_start,
    .sums = best_sums,
    .split = best_split,
    .part = best_part,
};
