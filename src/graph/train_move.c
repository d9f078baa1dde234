/* Gradients of operations that move, reshape or sum: their shapes decide. */
#include "graph/op_inside.h"
#include "graph/train.h"

static const ft_shape *shape_of(const ft__train *t, uint32_t tensor)
{
    return &t->src->tensor[tensor].shape;
}

void ft__train_view_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    (void)op;
    ft__train_give(t, n->in[0], ft__train_view(t, g, shape_of(t, n->in[0])));
}

void ft__train_transpose_back(ft__train *t, const ft_node *n, const ft_op *op,
                              uint32_t g)
{
    ft_shape s, x = ft_op_shape(op, FT_K_x);
    int64_t back[FT_MAX_RANK] = {0};
    ft_dtype dtype;
    ft_op inverse;

    for (uint32_t i = 0; i < x.rank; i++)
        back[ft_op_at(op, FT_K_perm, i)] = i;
    ft_op_output(op, 0, &s, &dtype);
    ft__op_init(&inverse, FT_KIND_transpose, op->dtype);
    ft__op_set_shape(&inverse, FT_K_x, &s);
    ft__op_set(&inverse, FT_K_perm, back, x.rank);
    ft__train_give(t, n->in[0],
                   ft__train_node(t, &inverse, &g, 1, shape_of(t, n->in[0])));
}

void ft__train_concat_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    (void)op;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (ft__train_wants(t, n->in[i]))
            ft__train_give(t, n->in[i],
                           ft__train_move(t, FT_KIND_slice, g, shape_of(t, n->in[i])));
}

/* Parts without a gradient are zeros. */
void ft__train_split_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    uint32_t in[FT_OP_MAX_OPERANDS], n_sizes, axis;
    const int64_t *sizes = ft_op_get(op, FT_K_sizes, &n_sizes);
    ft_shape s;
    ft_op whole;

    (void)g;
    for (uint32_t i = 0; i < n->n_out; i++) {
        in[i] = t->grad[n->out[i]];
        if (in[i] == FT_NONE)
            in[i] = ft__train_fill(t, op->dtype, shape_of(t, n->out[i]));
    }
    s = ft_op_shape(op, FT_K_x);
    axis = (uint32_t)ft_op_at(op, FT_K_axis, 0);
    s.dim[axis] = sizes[0];
    ft__op_init(&whole, FT_KIND_concat, op->dtype);
    ft__op_set_shape(&whole, FT_K_x, &s);
    ft__op_set1(&whole, FT_K_axis, (int64_t)axis);
    ft__op_set(&whole, FT_K_sizes, sizes, n_sizes);
    ft__train_give(t, n->in[0],
                   ft__train_node(t, &whole, in, n->n_out, shape_of(t, n->in[0])));
}

/* What was cut off is zero; what was added falls away; what was repeated is
 * summed. */
void ft__train_resize_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    const ft_shape *x = shape_of(t, n->in[0]);

    ft__train_give(t, n->in[0],
                   op->kind == FT_KIND_slice ? ft__train_move(t, FT_KIND_pad, g, x)
                   : op->kind == FT_KIND_pad ? ft__train_move(t, FT_KIND_slice, g, x)
                                             : ft__train_sum_to(t, g, x));
}

/* x with a 1 for every axis that was reduced. */
static ft_shape kept_axes(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);
    uint32_t n;
    const int64_t *axes = ft_op_get(op, FT_K_axes, &n);

    if (op->kind == FT_KIND_global_avgpool)
        for (uint32_t i = 2; i < s.rank; i++)
            s.dim[i] = 1;
    for (uint32_t i = 0; i < n; i++)
        s.dim[axes[i]] = 1;
    return s;
}

void ft__train_sum_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    ft_shape kept = kept_axes(op), x = ft_op_shape(op, FT_K_x);

    g = ft__train_move(t, FT_KIND_expand, ft__train_view(t, g, &kept), &x);
    if (op->kind != FT_KIND_reduce_sum)
        g = ft__train_binary(t, FT_KIND_div, g, FT_NONE);
    ft__train_give(t, n->in[0], ft__train_view(t, g, shape_of(t, n->in[0])));
}

void ft__train_cast_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    ft__train_give(t, n->in[0], ft__train_cast(t, g, op->dtype));
}

/* One element of an axis is a slice; more are added to zeros, in place. */
void ft__train_gather_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    const ft_shape *x = shape_of(t, n->in[0]);
    ft_shape y = ft_op_shape(op, FT_K_y), s = *x;
    uint32_t in[3] = {FT_NONE, g, n->n_in > 1 ? n->in[1] : FT_NONE}, sum, axis;
    ft_op op_sum;

    if (op->kind == FT_KIND_gather && ft_shape_elements(&y) == 1) {
        axis = (uint32_t)ft_op_at(op, FT_K_axis, 0);
        s.dim[axis] = 1;
        g = ft__train_move(t, FT_KIND_pad, ft__train_view(t, g, &s), x);
        ft__train_give(t, n->in[0], g);
        return;
    }
    in[0] = ft__train_fill(t, op->dtype, x);
    if (in[0] == FT_NONE)
        return;
    y = ft__build_get(t->b, g)->shape;
    ft__op_init(&op_sum, FT_KIND_scatter, op->dtype);
    ft__op_set_shape(&op_sum, FT_K_x, x);
    ft__op_set_shape(&op_sum, FT_K_y, &y);
    sum = ft__train_node(t, &op_sum, in, in[2] == FT_NONE ? 2 : 3, x);
    if (sum != FT_NONE)
        ft__build_alias(t->b, sum, in[0]);
    ft__train_give(t, n->in[0], sum);
}

void ft__train_blocks_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    ft_kind back = op->kind == FT_KIND_depth_to_space ? FT_KIND_space_to_depth
                                                      : FT_KIND_depth_to_space;

    ft__train_give(t, n->in[0], ft__train_move(t, back, g, shape_of(t, n->in[0])));
}
