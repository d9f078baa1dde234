#ifndef PREDICT_MODEL_CLOCK_TREES_H
#define PREDICT_MODEL_CLOCK_TREES_H

#include <stdbool.h>

#include "foretell/learn.h"

/* Trees on what formulae of other clocks miss, and on the whole ratio: formulae lead to
 * clocks that nobody measured; where they are far off, trees do better alone. */
typedef struct ft__clock_trees {
    ft_model *miss;   /* NULL: nothing was learned */
    ft_model *whole;  /* or NULL: what is missed tells all */
    ft_model *spread; /* NULL: too few workloads to hold any out */
    double low;       /* 90 % of what is missed after all, in spreads */
    double high;
} ft__clock_trees;

/* Logarithms of ratios: said by formulae, and miss[] on top of it. Rows of equal
 * group[] are of one workload. */
ft_status ft__clock_trees_fit(ft__clock_trees *t, const ft_matrix *x,
                              const double *said, const double *miss,
                              const uint64_t *group, bool whole, uint64_t seed,
                              ft_error *err);
void ft__clock_trees_free(ft__clock_trees *t);

/* A ratio and its interval, as logarithms; without trees what was said, and NaN. */
typedef struct ft__clock_said {
    double value, low, high;
} ft__clock_said;
ft__clock_said ft__clock_trees_at(const ft__clock_trees *t, const float *row,
                                  double said);

#endif
