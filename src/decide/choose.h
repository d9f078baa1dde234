#ifndef DECIDE_CHOOSE_H
#define DECIDE_CHOOSE_H

#include <stdbool.h>

#include "base/arena.h"
#include "foretell/choose.h"
#include "predict/data/sample.h"

/* Which of n operations to measure next, so that most is known of all of them. Until
 * ft__choosing_learn() is called only what operations are counts, and the order is the
 * same everywhere.
 *
 * What is not known of an operation is taken for a Gaussian process of variance 1; two
 * operations share 1 / (1 + distance / reach) of it, distances over columns in units of
 * their scatter, so that long-tailed sizes count as much as small ones. Measuring i
 * lessens the sum of standard deviations, to which mean errors are in proportion, by
 * sum_j weight_j (sqrt(C_jj) - sqrt(C_jj - C_ij^2 / (C_ii + noise))): what is alike to
 * much that is heavy and unknown comes first.
 *
 * That variance is 1 holds before anything is known. Some operations are hard to
 * predict, others easy; where the variance of j is a_j^2 (and noise in proportion),
 * a_j is one more factor of weight_j and nothing else changes. */
/* Each choice takes time with the square of the most. */
enum { FT__MOST_CHOOSABLE = 1024, FT__FIRST_LEARNED = 16 };
/* Of the variance, that measuring an operation leaves. */
#define FT__CHOOSING_NOISE 0.05F

typedef struct ft__choosing {
    ft__arena room;
    ft_criterion by;
    size_t n;
    float *between; /* n x n: covariance left; SPREAD: distance; NULL: RANDOM */
    float *alike;   /* n x n, ACTIVE: `between` as it was before anything was known */
    float *wanted;  /* weight of each as it was asked for */
    float *weight;  /* the same times a_j */
    double *work_s; /* what one of each takes, about, */
    double pace;    /* and what this is to be multiplied by, as far as is known */
    float *left;    /* ACTIVE: root of the variance left; 0 of what is known */
    float *spacing; /* SPREAD: to the nearest known */
    float *lot;     /* RANDOM */
    unsigned char *known;
    uint64_t *hash;     /* of the operations */
    uint32_t *category; /* equal for those of one kind and phase */
    size_t n_known;
    size_t learn_at; /* so many known: ft__choosing_is_due() */
} ft__choosing;

/* What one takes on a slow device, about; of others ft__choosing_learn() finds the
 * pace. */
double ft__choosing_work(const ft_op *op);
/* n <= FT__MOST_CHOOSABLE, each wanted count[] times (NULL: once): so much it weighs.
 * FT_ENOMEM. */
ft_status ft__choosing_make(ft__choosing *out, const ft_op *ops, const double *count,
                            size_t n, ft_criterion by, uint64_t seed, ft_error *err);
void ft__choosing_free(ft__choosing *c);
/* It is measured, or is going to be. */
void ft__choosing_know(ft__choosing *c, size_t i);
/* What brings most for the time of measuring it among those that are not known and that
 * may(user, i) allows (NULL: all); c->n: there is none. */
size_t ft__choosing_next(const ft__choosing *c, bool (*may)(const void *user, size_t i),
                         const void *user);
/* Is enough known, or enough more than the last time, to learn from? Never, where the
 * criterion has no use for it. */
bool ft__choosing_is_due(const ft__choosing *c);
/* Find a_j from what was measured, n rows of s: from how far trees err that have not
 * seen the operation, in units of what alike operations leave unknown of it, over those
 * of its kind and the more the liker they are. Rows of other operations help the trees
 * only. */
ft_status ft__choosing_learn(ft__choosing *c, const ft__samples *s, const uint32_t *row,
                             size_t n, uint32_t threads, ft_error *err);

#endif
