#ifndef LEARN_MINIMISE_H
#define LEARN_MINIMISE_H

#include <stddef.h>
#include <stdint.h>

#include "foretell/error.h"

/* A function of n numbers and its gradient; infinite where it is not defined. */
typedef double (*ft__slope)(void *with, const double *x, double *gradient);

/* Walk downhill from x[n] by at most `steps` steps of L-BFGS (Nocedal 1980), none of
 * which changes a number by more than 1. The least value that was met, at x. */
ft_status ft__minimise(double *least, double *x, size_t n, uint32_t steps, ft__slope f,
                       void *with, ft_error *err);

#endif
