/* The inner loops of growing, for every processor. */
#include "learn/tree/kernels.h"

#include <string.h>

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
