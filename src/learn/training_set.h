#ifndef LEARN_TRAINING_SET_H
#define LEARN_TRAINING_SET_H

#include "learn/model.h"
#include "learn/tree/forest.h"

/* Standardised rows, for methods that measure distances or add columns up. */

/* How one column is seen: (value - mean) * scale, with `fill` for a missing value.
 * Columns that never change are left out. Part of images. */
typedef struct ft__column {
    uint32_t col;
    float fill; /* median of what is present */
    double mean;
    double scale; /* 1 / standard deviation */
} ft__column;

static_assert(sizeof(ft__column) == 24, "image layout");

enum { FT__MAX_COLUMNS = FT__MAX_WIDTH - 1 }; /* of any model */

/* A task's rows of weight above 0. */
typedef struct ft__training_set {
    uint32_t n_rows;
    double *y;   /* as given */
    double *w;   /* with mean 1 */
    double mean; /* of y, weighted */
    double sd;   /* of y; 1 when all are equal */
    /* Only from ft__training_set_new(): */
    uint32_t n_cols; /* those that change; may be 0 */
    ft__column *column;
    float *u; /* n_rows x n_cols, standardised */
} ft__training_set;

ft_status ft__training_set_new(ft__training_set *l, const ft__task *t, ft_error *err);
/* Without the columns. */
ft_status ft__training_set_targets(ft__training_set *l, const ft__task *t,
                                   ft_error *err);
void ft__training_set_free(ft__training_set *l);

/* One row as it is seen; out[n]. */
static inline void ft__columns_apply(float *out, const ft__column *c, uint32_t n,
                                     const float *row)
{
    for (uint32_t j = 0; j < n; j++) {
        const float v = row[c[j].col];
        /* A missing value is not equal to itself. */
        const float present = v == v ? v : c[j].fill;

        out[j] = (float)(((double)present - c[j].mean) * c[j].scale);
    }
}

/* Columns of a stored model: all of them inside its width, all numbers finite. */
ft_status ft__columns_check(const ft_model *m, const ft__column *c, uint32_t n,
                            ft_error *err);

#endif
