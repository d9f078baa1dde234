#ifndef ONEDNN_TENSOR_H
#define ONEDNN_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "foretell/op.h"

/* Room for 8 axes, some of them split in two, and an axis of bytes. */
enum { FT__RANK = 12 };

/* How an operand lies in memory. Axes in logical order, strides in elements;
 * a scalar has rank 1. */
typedef struct ft__tensor {
    uint32_t rank;
    ft_dtype dtype;
    int64_t dim[FT__RANK], stride[FT__RANK];
} ft__tensor;

ft__tensor ft__tensor_in(const ft_op *op, uint32_t i);
ft__tensor ft__tensor_out(const ft_op *op, uint32_t i);
/* Row-major over n axes. */
ft__tensor ft__tensor_rows(uint32_t n, const int64_t *dim);
/* The same elements with `rank` axes, 1s in front. */
ft__tensor ft__tensor_widen(const ft__tensor *t, uint32_t rank);
/* Broadcast to the axes of `to`: stride 0 where the extent is 1. */
ft__tensor ft__tensor_spread(const ft__tensor *t, const ft__tensor *to);

int64_t ft__tensor_elements(const ft__tensor *t);
/* Bytes of one element. */
int64_t ft__tensor_size(const ft__tensor *t);
int64_t ft__tensor_bytes(const ft__tensor *t);
/* Memory order equals the order of the axes. */
bool ft__tensor_is_plain(const ft__tensor *t);

#endif
