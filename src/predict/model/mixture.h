#ifndef PREDICT_MODEL_MIXTURE_H
#define PREDICT_MODEL_MIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "foretell/error.h"

/* A whole as its parts, each of which counts more or less than it was thought to:
 * whole = level x sum over parts of weight x part. */
enum { FT__MIXTURE_PARTS = 23 };
typedef struct ft__mixture {
    double weight[FT__MIXTURE_PARTS]; /* logarithms */
    double level;                     /* likewise */
} ft__mixture;

/* part[]: FT__MIXTURE_PARTS each, not all 0; whole above 0. */
typedef struct ft__mixed {
    const double *part;
    double whole;
} ft__mixed;

/* Least absolute errors of log(whole / estimate), small ones squared (Gauss and Newton,
 * reweighted), with `pull` rows' worth of a prior at what *m holds; the level is fitted
 * with `level` alone, freely. */
void ft__mixture_fit(ft__mixture *m, const ft__mixed *v, size_t n, double pull,
                     int level);
double ft__mixture_estimate(const ft__mixture *m, const double *part);

#endif
