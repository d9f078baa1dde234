#ifndef MEASURE_READINGS_H
#define MEASURE_READINGS_H

#include "foretell/measure.h"

/* Mark what lies far from the others of its round; how many. */
ft_status ft__mark_outliers(uint32_t *marked, ft_reading *r, size_t n, ft_error *err);

double ft__reading_per_iteration(const ft_reading *r);
/* One past the round that begins at `from`: readings of a round lie together. */
size_t ft__round_end(const ft_reading *r, size_t n, size_t from);
/* The marks of readings that do not count: those of disturbed rounds, or none when too
 * few rounds were not disturbed. */
uint32_t ft__disturbed_mask(const ft_reading *r, size_t n);

/* Median of a round's n batches, v, less what was disturbed, and its relative standard
 * error by their scatter. The order of v changes. */
double ft__round_value(double *error, double *v, size_t n);
/* The same of n rounds, v, with such errors: rounds that differ by no more than their
 * batches let expect are not disturbed. The order of both changes. */
double ft__rounds_value(double *v, double *error, size_t n);
/* What the scatter of batches lets rounds differ by where nothing disturbs: the lower
 * quartile of their n errors. */
double ft__usual_error(double *error, size_t n);

#endif
