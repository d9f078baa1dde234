/* Extremely randomised trees (Geurts, Ernst, Wehenkel 2006): one cut per
 * column, drawn uniformly between the node's least and greatest value. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "learn/tree/kernels.h"

struct ft__splitter {
    ft__arena room;
    const ft__tree_training *d;
    const ft__kernels *kernels;
    const double *w;
    uint32_t *row;   /* the tree's rows, ordered by node */
    uint32_t *spare; /* n_rows */
    float *yw;       /* of the node's rows: { w * (y - mean), w } */
    float *lo, *hi;  /* per column, whole blocks */
    float *cut;
    float *gain;
    uint32_t *cand; /* columns that are not constant */
};

static void random_close(ft__splitter *s)
{
    ft__arena_free(&s->room);
    free(s);
}

static ft__splitter *random_open(const ft__tree_training *d)
{
    const size_t n = d->n_rows, cols = (size_t)d->n_cols + FT__BLOCK;
    ft__splitter *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->d = d;
    s->kernels = ft__kernels_here();
    s->row = ft__arena_need(&s->room, n, sizeof(*s->row));
    s->spare = ft__arena_need(&s->room, n, sizeof(*s->spare));
    s->yw = ft__arena_need(&s->room, 2 * n, sizeof(*s->yw));
    s->lo = ft__arena_need(&s->room, cols, sizeof(*s->lo));
    s->hi = ft__arena_need(&s->room, cols, sizeof(*s->hi));
    s->cut = ft__arena_need(&s->room, cols, sizeof(*s->cut));
    s->gain = ft__arena_need(&s->room, cols, sizeof(*s->gain));
    s->cand = ft__arena_need(&s->room, cols, sizeof(*s->cand));
    if (s->room.bad) {
        random_close(s);
        return NULL;
    }
    return s;
}

static uint32_t random_start(ft__splitter *s, const double *w)
{
    uint32_t n = 0;

    s->w = w;
    for (uint32_t i = 0; i < s->d->n_rows; i++)
        if (w[i] > 0)
            s->row[n++] = i;
    return n;
}

static ft__sums random_sums(ft__splitter *s, uint32_t at, uint32_t n)
{
    const uint32_t *row = s->row + at;
    ft__sums sums = {.pure = true};
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sums.w += s->w[row[i]];
        sum += s->w[row[i]] * s->d->y[row[i]];
        sums.pure &= s->d->y[row[i]] == s->d->y[row[0]];
    }
    sums.mean = sums.pure ? s->d->y[row[0]] : sum / sums.w;
    return sums;
}

static uint32_t count_above(const ft__tree_training *d, uint32_t col,
                            const uint32_t *row, uint32_t n, float cut)
{
    uint32_t above = 0;

    for (uint32_t i = 0; i < n; i++)
        above += *ft__train_at(d, col, row[i]) > cut;
    return above;
}

/* Uniform in [lo, hi), so that neither side is empty. */
static float cut_between(float lo, float hi, uint32_t random)
{
    const double share = random * 0x1p-32;
    const float cut = (float)(lo + share * ((double)hi - (double)lo));

    return cut < hi ? cut : lo;
}

/* Draw the columns to try into cand[], in the order of trying, and their cuts. */
static uint32_t draw_cuts(ft__splitter *s, const uint32_t *row, uint32_t n,
                          uint32_t n_try, ft__prng *rng)
{
    const ft__tree_training *d = s->d;
    uint32_t n_cand = 0;

    s->kernels->ranges(d, row, n, s->lo, s->hi);
    for (uint32_t j = 0; j < d->n_cols; j++) {
        s->cand[n_cand] = j;
        n_cand += s->lo[j] < s->hi[j];
    }
    n_try = n_try < n_cand ? n_try : n_cand;
    for (uint32_t i = 0; i < n_try; i++) {
        const uint64_t random = ft__prng_u64(rng);
        const uint32_t k = i + (uint32_t)((random >> 32) * (n_cand - i) >> 32);
        const uint32_t col = s->cand[k];

        s->cand[k] = s->cand[i];
        s->cand[i] = col;
        s->cut[col] = cut_between(s->lo[col], s->hi[col], (uint32_t)random);
    }
    return n_try;
}

static bool random_split(ft__splitter *s, uint32_t at, uint32_t n, const ft__sums *sums,
                         uint32_t n_try, uint32_t min_leaf, ft__prng *rng,
                         ft__split *out)
{
    const ft__tree_training *d = s->d;
    const uint32_t *row = s->row + at;
    float best = -1;

    n_try = draw_cuts(s, row, n, n_try, rng);
    if (n_try == 0)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        s->yw[2 * i] = (float)(s->w[row[i]] * (d->y[row[i]] - sums->mean));
        s->yw[2 * i + 1] = (float)s->w[row[i]];
    }
    s->kernels->gains(d, row, n, s->cut, s->yw, sums->w, s->gain);
    for (uint32_t i = 0; i < n_try; i++) {
        const uint32_t col = s->cand[i];
        /* As float, so that mirror images of one split tie and the order drawn
         * decides, not the last bit of a sum. */
        const float gain = s->gain[col];

        if (!(gain > best))
            continue;
        if (min_leaf > 1) {
            const uint32_t above = count_above(d, col, row, n, s->cut[col]);

            if (above < min_leaf || n - above < min_leaf)
                continue;
        }
        best = gain;
        *out = (ft__split){.col = col, .cut = s->cut[col]};
    }
    return best >= 0;
}

/* Both sides keep their order; no branch on the data. */
static void random_part(ft__splitter *s, uint32_t at, uint32_t n, ft__split *split)
{
    const float *x = ft__train_at(s->d, split->col, 0);
    uint32_t *row = s->row + at, n_left = 0, n_right = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t r = row[i], right = x[(size_t)r * FT__BLOCK] > split->cut;

        row[n_left] = r;
        s->spare[n_right] = r;
        n_left += !right;
        n_right += right;
    }
    memcpy(row + n_left, s->spare, n_right * sizeof(*row));
    split->n_left = n_left;
}

const ft__splitter_ops ft__split_random = {
    .open = random_open,
    .close = random_close,
    .start = random_start,
    .sums = random_sums,
    .split = random_split,
    .part = random_part,
};
