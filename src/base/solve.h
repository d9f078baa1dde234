#ifndef BASE_SOLVE_H
#define BASE_SOLVE_H

/* Solve a x = b for a symmetric positive a of n x n, of which the lower half is given
 * (Cholesky); x replaces b, its factor a. */
void ft__solve(double *a, double *b, int n);

#endif
