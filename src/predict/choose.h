#ifndef PREDICT_CHOOSE_H
#define PREDICT_CHOOSE_H

#include <stdbool.h>

#include "foretell/choose.h"
#include "foretell/op.h"

/* Which of n operations to measure next, so that most is known of all of them. Only
 * what operations are counts, nothing that was measured: the order is there before
 * anything ran, and the same everywhere.
 *
 * What is not known of an operation is taken for a Gaussian process of variance 1; two
 * operations share 1 / (1 + distance / reach) of it, distances over columns in units of
 * their scatter, so that long-tailed sizes count as much as small ones. Measuring i
 * lessens the sum of variances by sum_j weight_j C_ij^2 / (C_ii + noise): what is alike
 * to much that is heavy and unknown comes first. */
enum { FT__MOST_CHOOSABLE = 2048 };

typedef struct ft__choosing {
    ft_criterion by;
    size_t n;
    float *between;  /* n x n: covariance left; SPREAD: distance; NULL: RANDOM */
    float *weight;   /* of being wrong about each */
    float *spacing;  /* SPREAD: to the nearest known */
    float *lot;      /* RANDOM */
    unsigned char *known;
} ft__choosing;

/* n <= FT__MOST_CHOOSABLE; weight NULL: all 1. FT_ENOMEM. */
ft_status ft__choosing_make(ft__choosing *out, const ft_op *ops, const double *weight,
                            size_t n, ft_criterion by, uint64_t seed, ft_error *err);
void ft__choosing_free(ft__choosing *c);
/* It is measured, or is going to be. */
void ft__choosing_know(ft__choosing *c, size_t i);
/* What brings most for its cost (NULL: all 1) among those that are not known and that
 * may(user, i) allows (NULL: all); c->n: there is none. */
size_t ft__choosing_next(const ft__choosing *c, const double *cost,
                         bool (*may)(const void *user, size_t i), const void *user);

#endif
