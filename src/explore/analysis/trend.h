#ifndef EXPLORE_ANALYSIS_TREND_H
#define EXPLORE_ANALYSIS_TREND_H

#include "explore/space/space.h"

enum { FT__MAX_TREND = 64 };

/* A quadratic of the parameters: numbers, their squares and products, categories. Trees
 * know what is left, and nothing of this beyond the points seen. Squares and products
 * are there while all columns fit. */
typedef struct ft__trend {
    size_t n; /* columns; 1: only a constant, there are too many parameters */
    double weight[FT__MAX_TREND];
} ft__trend;

/* Columns of a point, column[FT__MAX_TREND]; how many. */
size_t ft__trend_columns(const ft_space *s, const double *point, double *column);
/* Ridge regression of y on n rows of `columns`, as ft__trend_columns() gave them. */
void ft__trend_fit(ft__trend *t, const double *row, size_t columns, const double *y,
                   size_t n);
double ft__trend_at(const ft__trend *t, const double *column);

#endif
