#ifndef EXPLORE_ANALYSIS_FRONT_H
#define EXPLORE_ANALYSIS_FRONT_H

#include <stdbool.h>

#include "foretell/explore.h"

enum { FT__MAX_OBJECTIVES = 16 };

/* At least as good in all m objectives, and better in one; false with NaN in b. */
bool ft__dominates(const double *a, const double *b, size_t m);

/* Compares rows by their first value, for qsort(). */
int ft__by_first(const void *a, const void *b);

#endif
