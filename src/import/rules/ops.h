#ifndef IMPORT_RULES_OPS_H
#define IMPORT_RULES_OPS_H

#include <stdbool.h>

#include "foretell/op.h"

/* Operations with their keys, as rules of every importer make them. */
ft_op ft__op_attention(ft_dtype dtype, const ft_shape *q, const ft_shape *k,
                       const ft_shape *v, bool causal, bool mask);
/* The first part has shape x. */
ft_op ft__op_concat(ft_dtype dtype, const ft_shape *x, uint32_t axis,
                    const int64_t *sizes, uint32_t n);
/* x: the shape of the indices. */
ft_op ft__op_embedding(ft_dtype dtype, const ft_shape *x, int64_t rows, int64_t dim);
/* x: length x batch x features. */
ft_op ft__op_recurrent(ft_kind kind, ft_dtype dtype, const ft_shape *x, int64_t hidden,
                       int64_t directions, bool bias);

#endif
