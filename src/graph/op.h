#ifndef GRAPH_OP_H
#define GRAPH_OP_H

#include <stdbool.h>

#include "foretell/op.h"

/* Was it measured whole, a kernel or a network by name? */
static inline bool ft__op_is_workload(const ft_op *op)
{
    return op->kind == FT_KIND_kernel || op->kind == FT_KIND_network;
}
/* fp64, fp32, fp16 or bf16. */
static inline bool ft__dtype_is_real(ft_dtype t)
{
    return t == FT_DTYPE_fp32 || t == FT_DTYPE_fp64 || t == FT_DTYPE_fp16 ||
           t == FT_DTYPE_bf16;
}
static inline bool ft__dtype_is_byte(ft_dtype t)
{
    return t == FT_DTYPE_int8 || t == FT_DTYPE_uint8;
}
/* Elements of all weights of an operation (ft_cost.weight_elements). */
double ft__weight_elements(const ft_op *op);
/* And their bytes with what lies beside them. */
void ft__weights_of(double *elements, double *bytes, const ft_op *op);
/* Of a recurrent layer; 0: the kind is none. */
static inline int64_t ft__rnn_gates(ft_kind k)
{
    return k == FT_KIND_rnn ? 1 : k == FT_KIND_gru ? 3 : k == FT_KIND_lstm ? 4 : 0;
}
/* Elements of one filter, of one channel. */
static inline double ft__kernel_volume(const ft_op *op)
{
    uint32_t n;
    const int64_t *v = ft_op_get(op, FT_K_kernel, &n);
    double volume = 1;

    for (uint32_t i = 0; i < n; i++)
        volume *= (double)v[i];
    return volume;
}
/* Of one row, over which layers are normalised. */
static inline double ft__norm_elements(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);
    double n = 1;

    for (int64_t i = 0; i < ft_op_at(op, FT_K_norm, 0) && i < (int64_t)s.rank; i++)
        n *= (double)s.dim[s.rank - 1 - (uint32_t)i];
    return n;
}
static inline int ft__is_transposed(const ft_op *op)
{
    return op->kind == FT_KIND_conv_transpose1d ||
           op->kind == FT_KIND_conv_transpose2d || op->kind == FT_KIND_conv_transpose3d;
}
/* A filter for each channel? */
static inline int ft__is_depthwise(const ft_op *op)
{
    const int64_t groups = ft_op_at(op, FT_K_groups, 0);

    return groups > 1 && groups == ft_op_shape(op, FT_K_x).dim[1];
}
static inline double ft__last_dim(const ft_op *op, ft_key_id key)
{
    ft_shape s = ft_op_shape(op, key);

    return s.rank ? (double)s.dim[s.rank - 1] : 1;
}

/* B of its weights that an operation reads; of an embedding its whole table. */
double ft__weights_read(const ft_op *op);
/* The share of a mixture's experts that any row goes to. */
double ft__experts_used(const ft_op *op);
/* Experts of the device that has most to read, for which the others wait. */
double ft__experts_read(const ft_op *op);

#endif
