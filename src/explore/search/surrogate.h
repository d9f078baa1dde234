#ifndef EXPLORE_SEARCH_SURROGATE_H
#define EXPLORE_SEARCH_SURROGATE_H

#include "explore/analysis/trend.h"
#include "explore/search/gain.h"
#include "explore/search/process.h"
#include "explore/search/search.h"
#include "foretell/learn.h"

/* An objective as the model sees it, itself or its logarithm, scaled so that the best
 * known is 0 and the reference, a tenth beyond the worst known, is 1. */
typedef struct ft__scale {
    bool log;
    double low, width;
    double limit; /* scaled */
} ft__scale;

/* What is expected of points: a Gaussian process; beyond FT__PROCESS_MOST points, where
 * that is dear, for each objective a trend, and for what is left a forest of randomised
 * trees, whose spread, too, is nothing where a point is known and grows away from it.
 * Zero-initialise. */
typedef struct ft__surrogate {
    size_t n;       /* points told that did not fail */
    size_t *row;    /* of the search, that these are */
    double *target; /* n of each objective, scaled; then what is to be learned of it */
    float *x;
    double *column; /* of trends */
    size_t columns;
    double *best; /* n_best rows of objectives: points within limits */
    size_t *base; /* rows of the search: the front of these; or, while there are none,
                     what is least beyond the limits */
    size_t n_best, n_base;
    ft__scale scale[FT__MAX_OBJECTIVES];
    ft__trend trend[FT__MAX_OBJECTIVES];
    ft__process process;
    ft_forest *forest[FT__MAX_OBJECTIVES]; /* NULL: the process knows */
    ft_forest *good; /* share of points that work; NULL: none has failed */
    ft__gain gain;
} ft__surrogate;

enum { FT__SURROGATE_LEAST = 4 }; /* points to be fitted to */

/* Learn from all that was told; with fewer points than that, only n is set. */
ft_status ft__surrogate_learn(ft__surrogate *o, ft_search *s, ft_error *err);
void ft__surrogate_free(ft__surrogate *o);
/* The chance that a point does not fail. */
double ft__surrogate_chance(const ft__surrogate *o, const ft_search *s,
                            const double *point);
/* Mean and spread of each objective, scaled. */
void ft__surrogate_ask(ft__surrogate *o, const ft_search *s, const double *point,
                       double *mean, double *sigma);

#endif
