#ifndef EXPLORE_SEARCH_PROCESS_H
#define EXPLORE_SEARCH_PROCESS_H

#include "explore/analysis/front.h"
#include "explore/space/space.h"

/* A Gaussian process over points of a space for several objectives, which share lengths
 * and noise and have each an amplitude of their own (Rasmussen, Williams 2006). The
 * kernel is Matern's of order 5/2 of the distance with every parameter over its length:
 * numbers in the unit cube, categories 0 or 1 apart, as are a parameter that has no say
 * and one that has. It is fitted anew for every proposal, so microseconds count; the
 * method `gp` of learn/ takes its time for one target and many rows. Zero-initialise.
 */
typedef struct ft__process {
    ft__arena arena; /* to be freed by its owner */
    size_t n, dims, m;
    double rate[FT__MAX_PARAMS]; /* 1 / length */
    double noise;                /* variance, as a share of the amplitude */
    double amplitude[FT__MAX_OBJECTIVES];
    double *x;       /* dims columns of n: unit coordinates */
    double *inverse; /* n x n */
    double *alpha;   /* m rows of n */
    double *kernel;  /* room: n x n */
    double *room;    /* n x n */
} ft__process;

enum { FT__PROCESS_MOST = 256 }; /* points; fitting takes their cube */

/* rate[] and noise that make y likeliest: n rows of x (unit coordinates, NaN: no say),
 * m rows of n targets around 0, `stride` apart. A walk of so many steps at most.
 * FT_ENOMEM. */
ft_status ft__process_tune(ft__process *p, const ft_space *s, const float *x,
                           const double *y, size_t stride, size_t n, size_t m,
                           ft_error *err);
/* With these rate[] and noise. */
ft_status ft__process_fit(ft__process *p, const ft_space *s, const float *x,
                          const double *y, size_t stride, size_t n, size_t m,
                          ft_error *err);
/* Mean and spread of each objective. */
void ft__process_ask(ft__process *p, const ft_space *s, const float *x, double *mean,
                     double *sigma);

#endif
