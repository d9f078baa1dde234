/* Single nodes of a backward pass. */
#include <string.h>

#include "graph/op_inside.h"
#include "graph/train.h"

uint32_t ft__train_tensor(ft__train *t, ft_dtype dtype, const ft_shape *shape)
{
    return ft__build_tensor(t->b, t->at, strlen(t->at), FT_ROLE_ACTIVATION, dtype,
                            shape);
}

uint32_t ft__train_node(ft__train *t, const ft_op *op, const uint32_t *in,
                        uint32_t n_in, const ft_shape *shape)
{
    ft_shape s;
    ft_dtype dtype;
    uint32_t out;

    ft_op_output(op, 0, &s, &dtype);
    out = ft__train_tensor(t, dtype, shape ? shape : &s);
    if (out != FT_NONE)
        ft__build_node(t->b, t->at, strlen(t->at), op, in, n_in, NULL, 0, &out, 1);
    return ft__build_failed(t->b) ? FT_NONE : out;
}

/* An operation on tensor x of the step; its shape. */
static ft_shape begin(const ft__train *t, ft_op *op, ft_kind kind, uint32_t x)
{
    const ft_tensor *tensor = ft__build_get(t->b, x);

    ft__op_init(op, kind, tensor->dtype);
    ft__op_set_shape(op, FT_K_x, &tensor->shape);
    return tensor->shape;
}

uint32_t ft__train_unary(ft__train *t, ft_kind kind, uint32_t x)
{
    ft_shape s;
    ft_op op;

    if (x == FT_NONE)
        return FT_NONE;
    s = begin(t, &op, kind, x);
    return ft__train_node(t, &op, &x, 1, &s);
}

/* A number in the code is an operand of one element. */
static uint32_t scalar(ft__train *t, ft_dtype dtype)
{
    const ft_shape s = {.rank = 0};

    if (t->scalar == FT_NONE)
        t->scalar = ft__build_tensor(t->b, "number", 6, FT_ROLE_WEIGHT, dtype, &s);
    return t->scalar;
}

uint32_t ft__train_binary(ft__train *t, ft_kind kind, uint32_t x, uint32_t y)
{
    ft_dtype dtype = x != FT_NONE ? ft__build_get(t->b, x)->dtype : FT_DTYPE_fp32;
    uint32_t in[2] = {x, y == FT_NONE ? scalar(t, dtype) : y};
    ft_shape a, b;
    ft_op op;

    if (x == FT_NONE || in[1] == FT_NONE)
        return FT_NONE;
    a = begin(t, &op, kind, x);
    b = ft__build_get(t->b, in[1])->shape;
    ft__op_set_shape(&op, FT_K_y, &b);
    return ft__train_node(t, &op, in, 2, a.rank == 0 && b.rank == 0 ? &a : NULL);
}

uint32_t ft__train_where(ft__train *t, uint32_t condition, uint32_t x, uint32_t y)
{
    static const ft_key_id keys[] = {FT_K_x, FT_K_y, FT_K_z};
    uint32_t in[3] = {condition, x, y}, rank = 0;
    ft_dtype dtype = FT_DTYPE_fp32;
    ft_shape s;
    ft_op op;

    if (condition == FT_NONE || (x == FT_NONE && y == FT_NONE))
        return FT_NONE;
    dtype = ft__build_get(t->b, x != FT_NONE ? x : y)->dtype;
    ft__op_init(&op, FT_KIND_where, dtype);
    for (uint32_t i = 0; i < 3; i++) {
        if (in[i] == FT_NONE)
            in[i] = scalar(t, dtype);
        if (in[i] == FT_NONE)
            return FT_NONE;
        s = ft__build_get(t->b, in[i])->shape;
        rank = s.rank > rank ? s.rank : rank;
        ft__op_set_shape(&op, keys[i], &s);
    }
    return ft__train_node(t, &op, in, 3, rank == 0 ? &s : NULL);
}

uint32_t ft__train_cast(ft__train *t, uint32_t x, ft_dtype to)
{
    ft_shape s;
    ft_op op;

    if (x == FT_NONE || ft__build_get(t->b, x)->dtype == to)
        return x;
    s = begin(t, &op, FT_KIND_cast, x);
    ft__op_set1(&op, FT_K_to, (int64_t)to);
    return ft__train_node(t, &op, &x, 1, &s);
}

uint32_t ft__train_move(ft__train *t, ft_kind kind, uint32_t x, const ft_shape *shape)
{
    ft_op op;

    if (x == FT_NONE)
        return FT_NONE;
    begin(t, &op, kind, x);
    ft__op_set_shape(&op, FT_K_out, shape);
    return ft__train_node(t, &op, &x, 1, shape);
}

uint32_t ft__train_view(ft__train *t, uint32_t x, const ft_shape *shape)
{
    if (x == FT_NONE || ft_shape_equal(&ft__build_get(t->b, x)->shape, shape))
        return x;
    return ft__train_move(t, FT_KIND_view, x, shape);
}

uint32_t ft__train_fill(ft__train *t, ft_dtype dtype, const ft_shape *shape)
{
    ft_op op;

    ft__op_init(&op, FT_KIND_fill, dtype);
    ft__op_set_shape(&op, FT_K_out, shape);
    return ft__train_node(t, &op, NULL, 0, shape);
}

uint32_t ft__train_sum_to(ft__train *t, uint32_t x, const ft_shape *shape)
{
    int64_t axes[FT_MAX_RANK];
    uint32_t n = 0, lead;
    ft_shape s;
    ft_op op;

    if (x == FT_NONE)
        return FT_NONE;
    s = ft__build_get(t->b, x)->shape;
    /* Exporters flatten axes; a shape of as many elements was not broadcast. */
    if (s.rank < shape->rank || ft_shape_elements(&s) == ft_shape_elements(shape))
        return ft__train_view(t, x, shape);
    lead = s.rank - shape->rank;
    for (uint32_t i = 0; i < s.rank; i++)
        if (s.dim[i] != 1 && (i < lead || shape->dim[i - lead] == 1))
            axes[n++] = i;
    begin(t, &op, FT_KIND_reduce_sum, x);
    ft__op_set(&op, FT_K_axes, axes, n);
    return ft__train_view(t, ft__train_node(t, &op, &x, 1, NULL), shape);
}
