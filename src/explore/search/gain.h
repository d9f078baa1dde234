#ifndef EXPLORE_SEARCH_GAIN_H
#define EXPLORE_SEARCH_GAIN_H

#include "base/prng.h"
#include "explore/analysis/front.h"

/* Of a normal variable: the chance that it is below t, and the mean of what it is below
 * t by, 0 where it is above. */
double ft__chance_below(double t, double mean, double sigma);
double ft__mean_below(double t, double mean, double sigma);

/* What a point adds to the hypervolume of a front when its objectives are normal and
 * independent. All are scaled so that the reference is 1. Zero-initialise. */
typedef struct ft__gain {
    size_t m, n;
    double *y;     /* n rows that dominate the reference, by the first objective */
    double volume; /* of them */
    double *room;  /* n rows */
} ft__gain;

/* Take the front of n rows of m objectives. */
ft_status ft__gain_start(ft__gain *g, const double *y, size_t n, size_t m,
                         ft_error *err);
void ft__gain_free(ft__gain *g);
/* Exact for one or two objectives (Emmerich, Giannakoglou, Naujoks 2006; strips: Yang
 * et al. 2019), else the mean of draws. */
double ft__gain_expected(const ft__gain *g, const double *mean, const double *sigma,
                         ft__prng *rng);

#endif
