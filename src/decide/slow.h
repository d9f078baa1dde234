#ifndef DECIDE_SLOW_H
#define DECIDE_SLOW_H

#include "foretell/learn.h"

/* Isolation forest (Liu, Ting, Zhou 2008, eq. 2): score[x->n_rows], near 1 for rows
 * that random cuts part from all others early, below 0.5 for those among many. Fails
 * with FT_EINVAL (no rows, an infinite value) or FT_ENOMEM. */
ft_status ft__isolation_scores(double *score, const ft_matrix *x,
                               const ft_isolation_options *opt, ft_error *err);

/* Find slow rows: out[x->n_rows]. log_time are logarithms of times, best divided by an
 * estimate; rows of equal group (repeats) never vouch for each other. What slow rows
 * may reach by chance is read off the fast side, where no slow row is. Fails with
 * FT_EINVAL (fewer than 20 groups, a value that is not finite) or FT_ENOMEM. */
ft_status ft__outliers_find(ft_outlier *out, const ft_matrix *x, const double *log_time,
                            const uint64_t *group, const ft_outlier_options *opt,
                            ft_error *err);

#endif
