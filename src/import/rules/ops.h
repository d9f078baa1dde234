#ifndef IMPORT_RULES_OPS_H
#define IMPORT_RULES_OPS_H

#include <stdbool.h>

#include "foretell/op.h"

/* Operations with their keys, as rules of every importer make them; x: the first
 * operand. */
ft_op ft__op_of(ft_kind kind, ft_dtype dtype, const ft_shape *x);
ft_op ft__op_attention(ft_dtype dtype, const ft_shape *q, const ft_shape *k,
                       const ft_shape *v, bool causal, bool mask);
/* x to a power that is known: PyTorch multiplies, takes roots or divides for some, and
 * x alone is read (PowKernel.cu); else FT_KIND_pow. */
ft_kind ft__pow_kind(double exponent);
/* The first part has shape x. */
ft_op ft__op_concat(ft_dtype dtype, const ft_shape *x, uint32_t axis,
                    const int64_t *sizes, uint32_t n);
/* x: the shape of the indices. */
ft_op ft__op_embedding(ft_dtype dtype, const ft_shape *x, int64_t rows, int64_t dim);
/* x: length x batch x features. */
ft_op ft__op_recurrent(ft_kind kind, ft_dtype dtype, const ft_shape *x, int64_t hidden,
                       int64_t directions, bool bias);

/* Every dimension is there, and no product of them passes the limit, zeros left
 * out: strides and partial products stay in range. */
bool ft__shape_fits(const ft_shape *s);
/* The shape of an elementwise result; false: they do not fit. */
bool ft__broadcast(const ft_shape *a, const ft_shape *b, ft_shape *out);

/* The window of a convolution or pooling layer, one value an axis. */
enum { FT__WINDOW_AXES = 3 };
typedef struct ft__sliding_window {
    uint32_t axes;
    int64_t kernel[FT__WINDOW_AXES], stride[FT__WINDOW_AXES], dilation[FT__WINDOW_AXES];
    int64_t begin[FT__WINDOW_AXES]; /* padding */
    int64_t end[FT__WINDOW_AXES];
    int64_t outpad[FT__WINDOW_AXES]; /* transposed only */
} ft__sliding_window;

/* Small enough that sums and products of two stay in int64_t: padding, and all else. */
bool ft__window_pads_fit(const ft__sliding_window *w);
bool ft__window_steps_fit(const ft__sliding_window *w);
/* The kind for so many axes; `one` is that for one. */
ft_kind ft__window_kind(ft_kind one, const ft__sliding_window *w);
/* The keys of an operation. */
void ft__window_set(ft_op *op, const ft__sliding_window *w);
void ft__window_set_conv(ft_op *op, const ft__sliding_window *w, int64_t out,
                         int64_t groups, bool bias);

#endif
