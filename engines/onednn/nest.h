#ifndef ONEDNN_NEST_H
#define ONEDNN_NEST_H

#include "tensor.h"

/* A loop over the elements of up to four operands of one shape, operand 0 the
 * result. Axes are sorted and merged when it is made, so that running it is a
 * few long rows:
 *
 *   for i0: for i1: ... row(dim[last], pointers, step[..][last])            */
enum { FT__OPERANDS = 4 };

/* n elements; operand k advances by step[k] bytes, 0: one value for all. */
typedef void ft__row_fn(int64_t n, char *const *p, const int64_t *step);

typedef struct ft__nest {
    uint32_t rank; /* at least 1 */
    uint32_t n;    /* operands */
    int64_t dim[FT__RANK], step[FT__OPERANDS][FT__RANK];
} ft__nest;

/* All operands have the same extents (ft__tensor_spread() makes them so). Rows
 * follow the memory of operand `lead`: the result, or the source of a
 * reduction, whose result has stride 0 along what is summed up. */
void ft__nest_init(ft__nest *t, const ft__tensor *operands, uint32_t n, uint32_t lead);
void ft__nest_run(uint32_t threads, const ft__nest *t, ft__row_fn *row, void *const *p);

#endif
