#ifndef REFERENCE_H
#define REFERENCE_H

#include "foretell/op.h"

/* What every engine has to compute, as plainly as it can be written: one result
 * element at a time, in double, on row-major operands. Nothing of it is shared
 * with an engine. */

/* The weights of an operation in the order of ft_engine.prepare(): how many
 * elements each has. Returns their number, at most 4. */
uint32_t reference_params(const ft_op *op, int64_t elements[4]);
/* Each how many-th element of a result is computed, 1: all; not of reductions. */
extern int64_t reference_step;
/* 0: it does not know the kind. */
int reference_run(const ft_op *op, const void *const *in, const float *const *params,
                  void *const *out);

/* Element i of an array of this type as a double, and back. */
double reference_get(ft_dtype t, const void *array, int64_t i);
void reference_set(ft_dtype t, void *array, int64_t i, double value);

#endif
