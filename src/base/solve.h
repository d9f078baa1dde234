#ifndef BASE_SOLVE_H
#define BASE_SOLVE_H

#include <stdbool.h>

/* Solve a x = b for a symmetric positive definite a of n x n, of which the lower half
 * is given (Cholesky); x replaces b, its factor a. false: a is not positive definite,
 * and x is what a little more on its diagonal gives. */
bool ft__solve(double *a, double *b, int n);

#endif
