#ifndef PREDICT_MODEL_CLOCK_TREES_H
#define PREDICT_MODEL_CLOCK_TREES_H

#include <stdbool.h>
#include <stdint.h>

#include "foretell/error.h"
#include "learn/learn_inside.h"

/* Trees on what formulae of other clocks miss, and on the whole ratio: formulae lead to
 * clocks that nobody measured; where they are far off, trees do better alone. */
typedef struct ft__clock_trees {
    ft__learn_model *miss;           /* NULL: nothing was learned */
    ft__learn_model *whole;          /* or NULL: what is missed tells all */
    ft__learn_model *residual_scale; /* NULL: too few workloads to hold any out */
    double share;                    /* 0 to 1 of what they say counts */
    double low; /* 90 % of what is missed after all, in residual scales */
    double high;
} ft__clock_trees;

/* miss[]: what formulae that say predicted[] miss, as logarithms, of the rows of x.
 * Folds are of equal group[0], or of group[1] where these are too few. whole: trees on
 * the whole ratio, too. */
ft_status ft__clock_trees_fit(ft__clock_trees *t, const ft__matrix *x,
                              const double *predicted, const double *miss,
                              const uint64_t *const group[2], bool whole, uint64_t seed,
                              ft_error *err);
void ft__clock_trees_free(ft__clock_trees *t);

/* A ratio and its interval, as logarithms; without trees the formulae, and NaN. */
typedef struct ft__log_ratio {
    double value, low, high;
} ft__log_ratio;
ft__log_ratio ft__clock_trees_at(const ft__clock_trees *t, const float *row,
                                 double predicted);
#endif
