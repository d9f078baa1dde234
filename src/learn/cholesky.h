#ifndef LEARN_CHOLESKY_H
#define LEARN_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
