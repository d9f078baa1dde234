/* Views and moves. */
#include <string.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/pt2/pt2.h"
#include "import/rules/ops.h"

void ft__aten_view(ft__pt2_node *n)
{
    ft__pt2_emit_view(n, n->x, ft__pt2_out(n, 0));
}

void ft__aten_detach(ft__pt2_node *n)
{
    ft__pt2_value *out = ft__pt2_out(n, 0);

    ft__aten_view(n);
    if (out && out->tensor != FT_NONE && !ft__pt2_failed(n))
        ft__build_detached(n->import->b, out->tensor);
}

/* Whether a tensor's elements lie in the same order as another's would. */
static bool same_order(ft__pt2 *p, const ft__pt2_value *a, const ft__pt2_value *b)
{
    int64_t x[FT_MAX_RANK], y[FT_MAX_RANK];

    if (!ft_shape_equal(&a->shape, &b->shape) || !ft__pt2_strides(p, a, x) ||
        !ft__pt2_strides(p, b, y))
        return false;
    for (uint32_t i = 0; i < a->shape.rank; i++)
        if (a->shape.dim[i] > 1 && x[i] != y[i])
            return false;
    return true;
}

/* contiguous() copies where the order changes; clone() copies always, but what
 * it is called for in an exported graph is the order as well, and else the copy
 * that keeps a value from being changed in place. */
void ft__aten_copy(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    ft_op op;

    if (n->rule->arg == 0 && same_order(n->import, x, out)) {
        ft__pt2_emit_view(n, x, out);
        return;
    }
    op = ft__pt2_op(FT_KIND_copy, x->dtype, &x->shape);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* One kind, the operand's shape, nothing else. */
void ft__aten_transpose(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    int64_t perm[FT_MAX_RANK];
    uint32_t rank = x ? x->shape.rank : 0, a, b;

    for (uint32_t i = 0; i < rank; i++)
        perm[i] = i;
    if (n->rule->arg == 2) { /* permute */
        int64_t dims[FT_MAX_RANK];

        if (ft__pt2_ints(n, "dims", dims, FT_MAX_RANK) != (int64_t)rank)
            return;
        for (uint32_t i = 0; i < rank; i++)
            perm[i] = ft__pt2_axis(n, dims[i], rank);
    } else if (rank >= 2) { /* t, mT: the last two; transpose: the two named */
        a = n->rule->arg ? rank - 2 : ft__pt2_axis(n, ft__pt2_int(n, "dim0", 0), rank);
        b = n->rule->arg ? rank - 1 : ft__pt2_axis(n, ft__pt2_int(n, "dim1", 1), rank);
        perm[a] = b;
        perm[b] = a;
    }
    ft__pt2_emit_transpose(n, x, out, perm);
}

/* arg: a kind whose result's shape is a key of its own. */
void ft__aten_move(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    ft_op op;

    if (n->rule->arg == FT_KIND_expand &&
        ft_shape_elements(&x->shape) == ft_shape_elements(&out->shape)) {
        ft__pt2_emit_view(n, x, out);
        return;
    }
    op = ft__pt2_op((ft_kind)n->rule->arg, x->dtype, &x->shape);
    ft__op_set_shape(&op, FT_K_out, &out->shape);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* slice, select, narrow: a part of x. */
void ft__aten_slice(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    int64_t step = ft__pt2_int(n, "step", 1);
    ft_op op;

    if (ft_shape_equal(&x->shape, &out->shape)) {
        ft__pt2_emit_view(n, x, out);
        return;
    }
    op = ft__pt2_op(FT_KIND_slice, x->dtype, &x->shape);
    ft__op_set_shape(&op, FT_K_out, &out->shape);
    ft__op_set1(&op, FT_K_step, step > 0 ? step : 1);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* More parts than an operation can have: one slice for each. */
static void slices(ft__pt2_node *n, ft__pt2_value *x)
{
    for (uint32_t i = 0; i < n->n_out; i++) {
        ft__pt2_value *out = n->out[i];
        ft_op op;

        if (!out || !out->typed)
            continue;
        op = ft__pt2_op(FT_KIND_slice, x->dtype, &x->shape);
        ft__op_set_shape(&op, FT_K_out, &out->shape);
        ft__pt2_emit_to(n, &op, &x, 1, out);
    }
}

/* split, chunk, unbind (whose parts have no such axis). */
void ft__aten_split(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x;
    int64_t sizes[FT_OP_MAX_OPERANDS];
    uint32_t axis;
    ft_op op;

    if (n->n_out == 0)
        return;
    axis = ft__pt2_dim(n, 0);
    if (n->n_out > FT_OP_MAX_OPERANDS - 16) {
        slices(n, x);
        return;
    }
    for (uint32_t i = 0; i < n->n_out; i++) {
        const ft__pt2_value *v = n->out[i];

        if (!v || !v->typed)
            return;
        sizes[i] = v->shape.rank == x->shape.rank ? v->shape.dim[axis] : 1;
    }
    if (n->n_out == 1) {
        ft__pt2_emit_view(n, x, n->out[0]);
        return;
    }
    op = ft__pt2_op(FT_KIND_split, x->dtype, &x->shape);
    ft__op_set1(&op, FT_K_axis, axis);
    ft__op_set(&op, FT_K_sizes, sizes, n->n_out);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* arg 1: stack, whose parts have no such axis yet. */
void ft__aten_concat(ft__pt2_node *n)
{
    const ft__pt2_arg *list = ft__pt2_arg_at(n, 0);
    ft__pt2_value *in[FT_OP_MAX_OPERANDS], *out = ft__pt2_out(n, 0);
    int64_t sizes[FT_OP_MAX_OPERANDS];
    uint32_t count = 0, axis;
    ft_shape first;
    ft_op op;

    if (!list || list->type != FT__PT2_TENSORS || !out || out->shape.rank == 0)
        return;
    axis = ft__pt2_axis(n, ft__pt2_int(n, "dim", 0), out->shape.rank);
    for (uint32_t i = 0; i < list->n; i++) {
        ft__pt2_value *v = list->value[i];

        /* Empty tensors of any rank may be there, and add nothing. */
        if (!v || ft_shape_elements(&v->shape) == 0)
            continue;
        if (count == FT_OP_MAX_OPERANDS - 16)
            return;
        sizes[count] = n->rule->arg ? 1 : v->shape.dim[axis];
        in[count++] = v;
    }
    if (count == 0)
        return;
    if (count == 1) {
        ft__pt2_emit_view(n, in[0], out);
        return;
    }
    first = out->shape;
    first.dim[axis] = sizes[0];
    op = ft__op_concat(out->dtype, &first, axis, sizes, count);
    ft__pt2_emit_in(n, &op, in, count);
}

/* arg: fill or random, made of nothing. */
void ft__aten_fill(ft__pt2_node *n)
{
    ft__pt2_value *out = ft__pt2_out(n, 0);
    ft_op op;

    if (!out)
        return;
    ft__op_init(&op, (ft_kind)n->rule->arg, out->dtype);
    ft__op_set_shape(&op, FT_K_out, &out->shape);
    ft__pt2_emit_in(n, &op, NULL, 0);
}

void ft__aten_meshgrid(ft__pt2_node *n)
{
    const ft__pt2_arg *list = ft__pt2_arg_at(n, 0);

    for (uint32_t i = 0; list && i < list->n && i < n->n_out; i++) {
        ft__pt2_value *x = list->value[i], *out = n->out[i];
        ft_op op;

        if (!x || !out)
            continue;
        op = ft__pt2_op(FT_KIND_expand, x->dtype, &x->shape);
        ft__op_set_shape(&op, FT_K_out, &out->shape);
        ft__pt2_emit_to(n, &op, &x, 1, out);
    }
}

/* ---- by index ---- */

void ft__aten_embedding(ft__pt2_node *n)
{
    ft__pt2_value *w = n->x, *x = n->y;
    ft_op op;

    if (!x || w->shape.rank != 2)
        return;
    op = ft__op_embedding(w->dtype, &x->shape, w->shape.dim[0], w->shape.dim[1]);
    ft__pt2_emit_layer(n, &op, &x, 1, &w, 1);
}

/* index_select, gather: x, axis, indices. */
void ft__aten_gather(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, ft__pt2_tensor(n, "index")};
    ft_op op;

    if (!in[1] || in[0]->shape.rank == 0)
        return;
    op = ft__pt2_op((ft_kind)n->rule->arg, in[0]->dtype, &in[0]->shape);
    ft__op_set_shape(&op, FT_K_y, &in[1]->shape);
    ft__op_set1(&op, FT_K_axis,
                ft__pt2_axis(n, ft__pt2_int(n, "dim", 0), in[0]->shape.rank));
    ft__pt2_emit_in(n, &op, in, 2);
}

/* x[i, :, j]: one index is a gather, several are one of tuples, a mask picks. */
void ft__aten_index(ft__pt2_node *n)
{
    const ft__pt2_arg *list = ft__pt2_arg_of(n, "indices");
    ft__pt2_value *in[2] = {n->x, NULL}, *out = ft__pt2_out(n, 0);
    uint32_t count = 0, axis = 0;
    ft_op op;

    if (!list)
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        ft__pt2_value *v = list->value[i];

        if (!v)
            continue;
        if (!in[1] || ft_shape_elements(&v->shape) > ft_shape_elements(&in[1]->shape))
            in[1] = v;
        axis = count++ ? axis : i;
    }
    if (!in[1])
        return;
    if (in[1]->dtype == FT_DTYPE_bool) {
        op = ft__pt2_op(FT_KIND_nonzero, in[0]->dtype, &in[0]->shape);
        ft__op_set_shape(&op, FT_K_out, &out->shape);
        ft__pt2_emit_in(n, &op, in, 1);
        return;
    }
    op = ft__pt2_op(count == 1 ? FT_KIND_gather : FT_KIND_gather_nd, in[0]->dtype,
                    &in[0]->shape);
    ft__op_set_shape(&op, FT_K_y, &in[1]->shape);
    if (count == 1)
        ft__op_set1(&op, FT_K_axis, axis);
    else
        ft__op_set_shape(&op, FT_K_out, &out->shape);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* x with some elements replaced or added to; arg: which argument they are. */
void ft__aten_scatter(ft__pt2_node *n)
{
    ft__pt2_value *out = ft__pt2_out(n, 0), *in[2] = {n->x, NULL};
    ft_op op;

    in[1] = ft__pt2_operand(n, (uint32_t)n->rule->arg, out->dtype);
    if (!in[1])
        return;
    op = ft__pt2_op(FT_KIND_scatter, out->dtype, &in[0]->shape);
    ft__op_set_shape(&op, FT_K_y, &in[1]->shape);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* Rows of a table, summed bag by bag: torch makes them in one pass. */
void ft__aten_embedding_bag(ft__pt2_node *n)
{
    ft__pt2_value *w = n->x, *x = n->y, *out = ft__pt2_out(n, 0);
    ft__pt2_value *rows;
    ft_shape s;
    ft_op op;

    if (!x || w->shape.rank != 2 || x->shape.rank != 1 || out->shape.rank != 2 ||
        !out->shape.dim[0] || x->shape.dim[0] % out->shape.dim[0])
        return;
    s = (ft_shape){.rank = 3,
                   .dim = {out->shape.dim[0], x->shape.dim[0] / out->shape.dim[0],
                           w->shape.dim[1]}};
    rows = ft__pt2_temp(n, out, w->dtype, &s);
    op = ft__op_embedding(w->dtype, &x->shape, w->shape.dim[0], w->shape.dim[1]);
    if (!rows)
        return;
    ft__pt2_emit(n, &op,
                 &(ft__pt2_call){.in = &x,
                                 .n_in = 1,
                                 .params = &w,
                                 .n_params = 1,
                                 .out = &rows,
                                 .n_out = 1});
    if (ft__pt2_failed(n) || rows->state == FT__PT2_UNDEFINED)
        return;
    op = ft__pt2_op(FT_KIND_reduce_sum, w->dtype, &s);
    ft__op_set1(&op, FT_K_axes, 1);
    ft__op_set1(&op, FT_K_keep, 0);
    ft__pt2_emit_in(n, &op, &rows, 1);
}

/* copy(x, y): y in the place of x. */
void ft__aten_copy_from(ft__pt2_node *n)
{
    ft__pt2_value *x = n->y, *out = ft__pt2_out(n, 0);
    ft_op op;

    if (!x)
        return;
    if (ft_shape_equal(&x->shape, &out->shape)) {
        op = ft__pt2_op(x->dtype == out->dtype ? FT_KIND_copy : FT_KIND_cast, x->dtype,
                        &x->shape);
        ft__op_set1(&op, FT_K_to, out->dtype);
    } else {
        op = ft__pt2_op(FT_KIND_expand, x->dtype, &x->shape);
        ft__op_set_shape(&op, FT_K_out, &out->shape);
    }
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* Columns added up into a picture: zeros first, then each to its place. */
void ft__aten_col2im(ft__pt2_node *n)
{
    ft__pt2_value *out = ft__pt2_out(n, 0), *in[2] = {NULL, n->x};
    ft_op op;

    if (!in[1])
        return;
    in[0] = ft__pt2_temp(n, out, out->dtype, &out->shape);
    ft__op_init(&op, FT_KIND_fill, out->dtype);
    ft__op_set_shape(&op, FT_K_out, &out->shape);
    if (!in[0])
        return;
    ft__pt2_emit(n, &op, &(ft__pt2_call){.out = in, .n_out = 1});
    op = ft__pt2_op(FT_KIND_scatter, out->dtype, &out->shape);
    ft__op_set_shape(&op, FT_K_y, &in[1]->shape);
    ft__pt2_emit_in(n, &op, in, 2);
}
