/* Operations that rules of several importers make: in, shapes and what a file says of
 * the layer; out, the operation. */
#include "import/rules/ops.h"

#include "graph/op_inside.h"

static ft_op op_of(ft_kind kind, ft_dtype dtype, const ft_shape *x)
{
    ft_op op;

    ft__op_init(&op, kind, dtype);
    ft__op_set_shape(&op, FT_K_x, x);
    return op;
}

ft_op ft__op_attention(ft_dtype dtype, const ft_shape *q, const ft_shape *k,
                       const ft_shape *v, bool causal, bool mask)
{
    ft_op op = op_of(FT_KIND_attention, dtype, q);

    ft__op_set_shape(&op, FT_K_y, k);
    ft__op_set_shape(&op, FT_K_z, v);
    ft__op_set1(&op, FT_K_causal, causal);
    ft__op_set1(&op, FT_K_mask, mask);
    return op;
}

ft_op ft__op_concat(ft_dtype dtype, const ft_shape *x, uint32_t axis,
                    const int64_t *sizes, uint32_t n)
{
    ft_op op = op_of(FT_KIND_concat, dtype, x);

    ft__op_set1(&op, FT_K_axis, axis);
    ft__op_set(&op, FT_K_sizes, sizes, n);
    return op;
}

ft_op ft__op_embedding(ft_dtype dtype, const ft_shape *x, int64_t rows, int64_t dim)
{
    ft_op op = op_of(FT_KIND_embedding, dtype, x);

    ft__op_set1(&op, FT_K_rows, rows);
    ft__op_set1(&op, FT_K_dim, dim);
    return op;
}

ft_op ft__op_recurrent(ft_kind kind, ft_dtype dtype, const ft_shape *x, int64_t hidden,
                       int64_t directions, bool bias)
{
    ft_op op = op_of(kind, dtype, x);

    ft__op_set1(&op, FT_K_hidden, hidden);
    ft__op_set1(&op, FT_K_directions, directions);
    ft__op_set1(&op, FT_K_bias, bias);
    return op;
}
