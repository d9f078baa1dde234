#ifndef LEARN_NUMERICS_H
#define LEARN_NUMERICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foretell/error.h"

/* Symmetric positive definite matrices, n x n, row-major. Sums are taken in an order
 * that depends on n alone, so that the bits depend on nothing else. */

/* Sum of a[i] b[i]. */
double ft__dot(const double *a, const double *b, size_t n);
/* L of a = L L', in its lower triangle; the upper one is not touched. false: it is not
 * positive definite. */
bool ft__cholesky(double *a, size_t n);
/* x with L L' x = b; x may be b. */
void ft__cholesky_solve(double *x, const double *l, const double *b, size_t n);
/* The lower triangle of (L L')^-1; scratch: n x n. */
void ft__cholesky_invert(double *out, const double *l, double *scratch, size_t n);

/* A function of n numbers and its gradient; infinite where it is not defined. */
typedef double (*ft__slope)(void *with, const double *x, double *gradient);

/* Walk downhill from x[n] by at most `steps` steps of L-BFGS (Nocedal 1980), none of
 * which changes a number by more than 1. The least value that was met, at x. */
ft_status ft__minimise(double *least, double *x, size_t n, uint32_t steps, ft__slope f,
                       void *with, ft_error *err);

#endif
