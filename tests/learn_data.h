/* Made-up matrices for the tests of learn. */
#ifndef LEARN_DATA_H
#define LEARN_DATA_H

#include <math.h>
#include <stdlib.h>

#include "base/prng.h"
#include "learn/learn_inside.h"

typedef struct data {
    ft__matrix m;
    float *x;
    double *y;
} data;

/* y = 3 x0 + (x1 > 0.5) + a little noise; the other columns say nothing.
 * Only + and *, so that every machine makes the same bits. */
static inline data data_new(size_t n_rows, size_t n_cols, uint64_t seed)
{
    ft__prng rng = ft__prng_stream(seed, 0);
    data d = {.x = calloc(n_rows * n_cols, sizeof(float)),
              .y = calloc(n_rows, sizeof(double))};

    if (!d.x || !d.y)
        abort();
    for (size_t i = 0; i < n_rows; i++) {
        float *row = d.x + i * n_cols;

        for (size_t j = 0; j < n_cols; j++)
            row[j] = (float)ft__prng_unit(&rng);
        d.y[i] = 3 * (double)row[0] + (n_cols > 1 && row[1] > 0.5F) +
                 0.01 * ft__prng_unit(&rng);
    }
    d.m = (ft__matrix){d.x, n_rows, n_cols};
    return d;
}

static inline void data_free(data *d)
{
    free(d->x);
    free(d->y);
}

static inline double predict_one(const ft__learn_model *m, const float *row)
{
    double y = NAN;

    ft__model_predict(m, row, 1, &y);
    return y;
}

#endif
