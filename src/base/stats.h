#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stddef.h>

/* All sort or read `v` of n values; NaN for n == 0. */
void ft__sort(double *v, size_t n);
double ft__mean(const double *v, size_t n);
/* Sample standard deviation (n - 1); 0 for n == 1. */
double ft__std(const double *v, size_t n);
/* Linear interpolation between order statistics (type 7, numpy's default);
 * `sorted` ascending, 0 <= q <= 1. */
double ft__quantile(const double *sorted, size_t n, double q);
/* Median of unsorted values; reorders v. */
double ft__median(double *v, size_t n);
/* Median absolute deviation from `centre`, times 1.4826 so that it estimates
 * sigma of a normal distribution; reorders v and overwrites it. */
double ft__mad(double *v, size_t n, double centre);
/* Every interval is to hold nine in ten: of a normal distribution, its mean +- FT__Z90
 * sigma. */
#define FT__COVERAGE 0.9
#define FT__Z90 1.645
/* Student's t of n > 0 degrees of freedom, within which nine in ten are; of more than
 * FT__STUDENT_ROWS what it is of those. */
enum { FT__STUDENT_ROWS = 18 };
double ft__student(size_t n);
/* Standard error of the median, `centre`, of n values, so that it +- FT__Z90 of them is
 * a 90 % interval of few values too; NaN for fewer than two. */
double ft__median_error(const double *v, size_t n, double centre);

#endif
