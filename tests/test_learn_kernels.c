/* The inner loops of growing: what this processor does best gives the bits that the
 * plain ones give. Where there is but the plain set, there is nothing to compare. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "learn/decay.h"
#include "learn/tree/split.h"
#include "learn/vectors.h"
#include "learn_data.h"

enum { ROWS = 200, MOST = 80 };

static ft__tree_training *trained(const data *d, ft__forest_kind kind)
{
    ft__tree_training *t;

    if (ft__train_new(&t, &d->m, d->y, NULL, kind, NULL))
        abort();
    return t;
}

static void columns_side_by_side(size_t cols, uint32_t n, const ft__kernels *best)
{
    data d = data_new(ROWS, cols, cols);
    ft__tree_training *t = trained(&d, FT_FOREST_EXTRA);
    float out[2][3][MOST] = {0}, cut[MOST], yw[2 * ROWS];
    ft__prng rng = ft__prng_stream(7, n);
    uint32_t row[ROWS];
    double all = 0;

    for (uint32_t i = 0; i < n; i++) {
        row[i] = ft__prng_below(&rng, ROWS);
        yw[2 * i] = (float)ft__prng_unit(&rng) - 0.5F;
        yw[2 * i + 1] = (float)ft__prng_unit(&rng);
        all += (double)yw[2 * i + 1];
    }
    for (int k = 0; k < 2; k++) {
        const ft__kernels *s = k ? best : &ft__kernels_plain;

        s->ranges(t, row, n, out[k][0], out[k][1]);
        for (size_t j = 0; j < cols; j++) /* some at an end: one side is empty */
            cut[j] = j % 5 == 0 ? out[k][1][j] : (out[k][0][j] + out[k][1][j]) / 2;
        for (size_t j = cols; j < MOST; j++)
            cut[j] = 0;
        s->gains(t, row, n, cut, yw, all, out[k][2]);
    }
    CHECK(BYTES(out[0], out[1], sizeof(out[0])));
    ft__train_free(t);
    data_free(&d);
}

static void columns_in_their_own_order(size_t cols, uint32_t n, uint32_t min_leaf,
                                       const ft__kernels *best)
{
    data d = data_new(ROWS, cols, cols + n);
    ft__cut cut[2][MOST];
    ft__row_sum sum[ROWS];
    ft__prng rng = ft__prng_stream(8, n);
    double all = 0;
    ft__tree_training *t;

    for (size_t i = 0; i < ROWS * cols; i += 3)
        d.x[i] = 0.25F; /* ties */
    t = trained(&d, FT_FOREST_RANDOM);
    for (int i = 0; i < ROWS; i++)
        sum[i] = (ft__row_sum){ft__prng_unit(&rng) - 0.5, ft__prng_unit(&rng)};
    for (uint32_t i = 0; i < n; i++)
        all += sum[t->key[i].row].w;
    for (int k = 0; k < 2; k++) {
        for (size_t j = 0; j < cols; j++)
            cut[k][j] = (ft__cut){.key = t->key + j * ROWS};
        (k ? best : &ft__kernels_plain)
            ->best_cuts(cut[k], (uint32_t)cols, n, sum, all, min_leaf);
    }
    for (size_t j = 0; j < cols; j++)
        CHECK(EQ(cut[0][j].gain, cut[1][j].gain) &&
              EQ(cut[0][j].n_left, cut[1][j].n_left));
    ft__train_free(t);
    data_free(&d);
}

static void keys_parted(uint32_t n, const ft__kernels *best)
{
    static ft__key key[2][ROWS], spare[ROWS + FT__SPARE];
    static uint8_t right[ROWS + FT__SPARE];
    ft__prng rng = ft__prng_stream(9, n);

    for (uint32_t i = 0; i < ROWS; i++) {
        right[i] = (uint8_t)ft__prng_below(&rng, 2);
        key[0][i] = key[1][i] = (ft__key){(float)i, ROWS - 1 - i};
    }
    ft__kernels_plain.part(key[0], n, right, spare);
    best->part(key[1], n, right, spare);
    CHECK(BYTES(key[0], key[1], sizeof(key[0])));
}

/* Near, far, and beyond where the kernel is 0. */
static void vectors_side_by_side(uint32_t n, double scale)
{
    static double (*const plain[])(double) = {ft__decay, ft__matern};
    ft__wide_kernel *const wide[] = {ft__wide_decay(), ft__wide_matern()};
    const ft__vectors h = {.scale = scale, .n_columns = n, .n_blocks = 1};
    double block[FT__LANES + MOST * FT__LANES / 2], t[FT__LANES], got[FT__LANES];
    float u[MOST];
    ft__prng rng = ft__prng_stream(11, n);

    for (uint32_t j = 0; j < n; j++)
        u[j] = (float)ft__prng_unit(&rng);
    for (uint32_t i = 0; i < FT__LANES; i++) {
        float v[MOST];

        for (uint32_t j = 0; j < n; j++)
            v[j] = i ? (float)ft__prng_unit(&rng) : u[j];
        ft__vectors_put((char *)block, &h, i, ft__prng_unit(&rng) - 0.5, v);
    }
    ft__vectors_distances(t, &h, (char *)block, u);
    for (int k = 0; k < 2 && wide[k]; k++) {
        wide[k](got, &h, (char *)block, u);
        for (uint32_t i = 0; i < FT__LANES; i++) {
            CHECK_EQ(got[i], block[i] * plain[k](t[i]));
            CHECK(CMP(fabs(plain[k](t[i]) /
                               (k ? (1 + sqrt(t[i])) * exp(-sqrt(t[i])) : exp(-t[i])) -
                           1),
                      <, 1e-13) ||
                  CMP(plain[k](t[i]), <, 1e-300));
        }
    }
}

int main(void)
{
    static const double scales[] = {1e-9, 0.01, 1, 30, 1e4, 1e6, 1e300};
    static const size_t cols[] = {1, 7, 8, 9, 24, 33, 80};
    static const uint32_t rows[] = {1, 2, 7, 8, 9, 63, 64, 65, 200};
    const ft__kernels *best = ft__kernels_here();

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        for (size_t k = 0; k < sizeof(cols) / sizeof(*cols); k++) {
            columns_side_by_side(cols[k], rows[i], best);
            columns_in_their_own_order(cols[k], rows[i], 1, best);
            columns_in_their_own_order(cols[k], rows[i], 5, best);
        }
        keys_parted(rows[i], best);
    }
    for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++)
        for (size_t k = 0; k < sizeof(cols) / sizeof(*cols); k++)
            vectors_side_by_side((uint32_t)cols[k], scales[i]);
    CHECK_DONE();
}
