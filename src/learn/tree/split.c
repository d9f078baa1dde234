/* How the rows of a node are parted: by the best of every cut, or of one random cut a
 * column. */
#include "learn/tree/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { WIDE = 4 }; /* floats in a vector */

static_assert(FT__BLOCK == 2 * WIDE, "a block is two vectors");

/* Four columns at once, in what gcc and clang both offer for every processor.
 * Each lane is the sum a scalar loop would form, so results do not depend on
 * how the vectors are carried out. */
typedef float vec __attribute__((vector_size(WIDE * sizeof(float))));
typedef int32_t mask __attribute__((vector_size(WIDE * sizeof(float))));

static inline vec load(const float *p)
{
    vec v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline vec pick(mask m, vec a, vec b)
{
    return (vec)((m & (mask)a) | (~m & (mask)b));
}

static inline vec only(mask m, vec a)
{
    return (vec)(m & (mask)a);
}

/* Least and greatest value of each column of a block. */
static void range(const float *block, const uint32_t *row, uint32_t n, float *lo,
                  float *hi)
{
    vec lo0 = load(block + (size_t)row[0] * FT__BLOCK), hi0 = lo0;
    vec lo1 = load(block + (size_t)row[0] * FT__BLOCK + WIDE), hi1 = lo1;

    for (uint32_t i = 1; i < n; i++) {
        const float *x = block + (size_t)row[i] * FT__BLOCK;
        const vec x0 = load(x), x1 = load(x + WIDE);

        lo0 = pick(x0 < lo0, x0, lo0);
        lo1 = pick(x1 < lo1, x1, lo1);
        hi0 = pick(x0 > hi0, x0, hi0);
        hi1 = pick(x1 > hi1, x1, hi1);
    }
    memcpy(lo, &lo0, sizeof(lo0));
    memcpy(lo + WIDE, &lo1, sizeof(lo1));
    memcpy(hi, &hi0, sizeof(hi0));
    memcpy(hi + WIDE, &hi1, sizeof(hi1));
}

static void ranges(const ft__tree_training *d, const uint32_t *row, uint32_t n,
                   float *lo, float *hi)
{
    for (uint32_t j = 0; j < d->n_cols; j += FT__BLOCK)
        range(ft__train_at(d, j, 0), row, n, lo + j, hi + j);
}

/* The gains of a block's columns, from the sums of yw over the rows above each cut. */
static void gain_of(const float *block, const uint32_t *row, uint32_t n,
                    const float *cut, const float *yw, double all, float *gain)
{
    double above_y[FT__BLOCK] = {0}, above_w[FT__BLOCK] = {0};
    const vec cut0 = load(cut), cut1 = load(cut + WIDE);
    uint32_t i = 0;

    while (i < n) {
        const uint32_t end = n - i < FT__RUN ? n : i + FT__RUN;
        vec y0 = {0}, y1 = {0}, w0 = {0}, w1 = {0};

        for (; i < end; i++) {
            const float *x = block + (size_t)row[i] * FT__BLOCK;
            const mask right0 = load(x) > cut0, right1 = load(x + WIDE) > cut1;
            const float a = yw[2 * i], b = yw[2 * i + 1];
            const vec y = {a, a, a, a}, w = {b, b, b, b};

            y0 += only(right0, y);
            y1 += only(right1, y);
            w0 += only(right0, w);
            w1 += only(right1, w);
        }
        for (int j = 0; j < WIDE; j++) {
            above_y[j] += (double)y0[j];
            above_w[j] += (double)w0[j];
            above_y[j + WIDE] += (double)y1[j];
            above_w[j + WIDE] += (double)w1[j];
        }
    }
    for (int j = 0; j < FT__BLOCK; j++)
        gain[j] = (float)ft__gain(above_y[j], above_w[j], all);
}

static void gains(const ft__tree_training *d, const uint32_t *row, uint32_t n,
                  const float *cut, const float *yw, double all, float *gain)
{
    for (uint32_t j = 0; j < d->n_cols; j += FT__BLOCK)
        gain_of(ft__train_at(d, j, 0), row, n, cut + j, yw, all, gain + j);
}

static void best_cut(ft__cut *cut, uint32_t n, const ft__row_sum *sum, double all,
                     uint32_t min_leaf)
{
    const ft__key *k = cut->key;
    double best = -1, y = 0, w = 0;
    uint32_t left = 0;

    for (uint32_t i = 1; i + min_leaf <= n; i++) {
        double gain;

        y += sum[k[i - 1].row].y;
        w += sum[k[i - 1].row].w;
        gain = i >= min_leaf && k[i].x > k[i - 1].x ? ft__gain(y, w, all) : -1;
        /* Two selections rather than one branch: which cut is better cannot be
         * predicted. */
        left = gain > best ? i : left;
        best = gain > best ? gain : best;
    }
    cut->gain = best;
    cut->n_left = left;
}

static void best_cuts(ft__cut *cut, uint32_t n_cuts, uint32_t n, const ft__row_sum *sum,
                      double all, uint32_t min_leaf)
{
    for (uint32_t i = 0; i < n_cuts; i++)
        best_cut(&cut[i], n, sum, all, min_leaf);
}

static void part(ft__key *k, uint32_t n, const uint8_t *right, ft__key *spare)
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

const ft__kernels ft__kernels_plain = {ranges, gains, best_cuts, part};

const ft__kernels *ft__kernels_here(void)
{
    const ft__kernels *k = ft__kernels_avx512();

    return k ? k : &ft__kernels_plain;
}

/* Extremely randomised trees (Geurts, Ernst, Wehenkel 2006): one cut per
 * column, drawn uniformly between the node's least and greatest value. */
struct random_cuts {
    ft__arena room;
    const ft__tree_training *d;
    const ft__kernels *kernels;
    const double *w;
    uint32_t *row;   /* the tree's rows, ordered by node */
    uint32_t *spare; /* n_rows */
    float *yw;       /* of the node's rows: { w * (y - mean), w } */
    float *lo, *hi;  /* per column, whole blocks */
    float *cut, *gain;
    uint32_t *cand; /* columns that are not constant */
};

static void random_close(void *state)
{
    struct random_cuts *s = state;

    ft__arena_free(&s->room);
    free(s);
}

static void *random_open(const ft__tree_training *d)
{
    const size_t n = d->n_rows, cols = (size_t)d->n_cols + FT__BLOCK;
    struct random_cuts *s = calloc(1, sizeof(*s));

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

static uint32_t random_start(void *state, const double *w)
{
    struct random_cuts *s = state;
    uint32_t n = 0;

    s->w = w;
    for (uint32_t i = 0; i < s->d->n_rows; i++)
        if (w[i] > 0)
            s->row[n++] = i;
    return n;
}

static ft__sums random_sums(void *state, uint32_t at, uint32_t n)
{
    struct random_cuts *s = state;
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
static uint32_t draw_cuts(struct random_cuts *s, const uint32_t *row, uint32_t n,
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

static bool random_split(void *state, uint32_t at, uint32_t n, const ft__sums *sums,
                         uint32_t n_try, uint32_t min_leaf, ft__prng *rng,
                         ft__split *out)
{
    struct random_cuts *s = state;
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
static void random_part(void *state, uint32_t at, uint32_t n, ft__split *split)
{
    struct random_cuts *s = state;
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

/* Random forests (Breiman 2001): every cut of the columns tried. Each column
 * keeps the tree's rows in its own ascending order; a split parts all orders
 * stably, so nothing is ever sorted again. */
struct all_cuts {
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

static void best_close(void *state)
{
    struct all_cuts *s = state;

    ft__arena_free(&s->room);
    free(s);
}

static void *best_open(const ft__tree_training *d)
{
    const size_t n = d->n_rows;
    struct all_cuts *s = calloc(1, sizeof(*s));

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

static ft__key *keys(struct all_cuts *s, uint32_t col, uint32_t at)
{
    return s->key + (size_t)col * s->d->n_rows + at;
}

static uint32_t best_start(void *state, const double *w)
{
    struct all_cuts *s = state;
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

static ft__sums best_sums(void *state, uint32_t at, uint32_t n)
{
    struct all_cuts *s = state;
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

static bool best_split(void *state, uint32_t at, uint32_t n, const ft__sums *sums,
                       uint32_t n_try, uint32_t min_leaf, ft__prng *rng, ft__split *out)
{
    struct all_cuts *s = state;
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

static void best_part(void *state, uint32_t at, uint32_t n, ft__split *split)
{
    struct all_cuts *s = state;
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
