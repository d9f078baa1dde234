#ifndef DECIDE_SLOW_H
#define DECIDE_SLOW_H

#include "learn/learn_inside.h"

typedef struct ft__isolation_options {
    uint32_t n_trees; /* 0: 100 */
    uint32_t sample;  /* rows a tree sees; 0: 256 */
    uint64_t seed;
} ft__isolation_options;

/* Isolation forest (Liu, Ting, Zhou 2008, eq. 2): score[x->n_rows], near 1 for rows
 * that random cuts part from all others early, below 0.5 for those among many. Fails
 * with FT_EINVAL (no rows, an infinite value) or FT_ENOMEM. */
ft_status ft__isolation_scores(double *score, const ft__matrix *x,
                               const ft__isolation_options *opt, ft_error *err);

typedef struct ft__outlier {
    double slower;    /* exp(log_time - out-of-fold prediction, without its group) */
    double isolation; /* isolation forest score of its columns (Liu et al. 2008): near
                         1, few similar rows support the comparison */
    int slow;         /* 1: slower than the noise level allows */
} ft__outlier;

typedef struct ft__outlier_options {
    double false_alarms; /* tolerated share of false positives; 0: 0.01 */
    double least;        /* least factor to be reported; 0: 1.5 */
    uint64_t seed;
    uint32_t threads;
} ft__outlier_options;

/* Find slow rows: out[x->n_rows]. log_time are logarithms of times, best divided by an
 * estimate; rows of equal group (repeats) never vouch for each other. What slow rows
 * may reach by chance is read off the fast side, where no slow row is. Fails with
 * FT_EINVAL (fewer than 20 groups, a value that is not finite) or FT_ENOMEM. */
ft_status ft__outliers_find(ft__outlier *out, const ft__matrix *x,
                            const double *log_time, const uint64_t *group,
                            const ft__outlier_options *opt, ft_error *err);

#endif
