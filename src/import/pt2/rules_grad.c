/* Backward operators of joint graphs; convolutions, pooling, norms and attention
 * stand beside their forward ones. */
#include "graph/op_inside.h"
#include "import/pt2/pt2.h"
#include "import/rules/ops.h"

/* arg: the kind; the operands are the result's gradient, then what was kept. */
void ft__aten_unary_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, NULL}, *out = ft__pt2_out(n, 0);
    uint32_t n_in = 1;
    ft_op op;

    for (uint32_t i = 1; i < n->n_args && n_in == 1; i++)
        if (ft__pt2_in(n, i) && ft__pt2_in(n, i)->typed)
            in[n_in++] = ft__pt2_in(n, i);
    op = ft__pt2_op((ft_kind)n->rule->arg, out->dtype, &out->shape);
    op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, in, n_in);
}

void ft__aten_gelu_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y};
    bool tanh = FT__IS(ft__pt2_string(n, "approximate"), "tanh");
    ft_op op;

    if (!in[1])
        return;
    op = ft__pt2_op(tanh ? FT_KIND_gelu_tanh : FT_KIND_gelu, in[1]->dtype,
                    &in[1]->shape);
    op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, in, 2);
}

void ft__aten_softmax_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y};
    ft_op op;

    if (!in[1])
        return;
    op = ft__pt2_op((ft_kind)n->rule->arg, in[1]->dtype, &in[1]->shape);
    ft__op_set1(&op, FT_K_axis,
                ft__pt2_axis(n, ft__pt2_int(n, "dim", -1), in[1]->shape.rank));
    op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, in, 2);
}

/* Of a slice or a resized picture: x is what the node gives. */
static void move_grad(ft__pt2_node *n, ft_kind kind, ft_key_id key, int64_t value)
{
    ft__pt2_value *grad = n->x, *out = ft__pt2_out(n, 0);
    ft_op op;

    if (!grad || !out)
        return;
    op = ft__pt2_op(kind, out->dtype, &out->shape);
    ft__op_set_shape(&op, FT_K_out, &grad->shape);
    ft__op_set1(&op, key, value);
    op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, &grad, 1);
}

void ft__aten_slice_grad(ft__pt2_node *n)
{
    int64_t step = ft__pt2_int(n, "step", 1);

    move_grad(n, FT_KIND_slice, FT_K_step, step > 0 ? step : 1);
}

void ft__aten_resize_grad(ft__pt2_node *n)
{
    move_grad(n, FT_KIND_resize, FT_K_mode, n->rule->arg);
}

void ft__aten_embedding_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y}, *out = ft__pt2_out(n, 0);
    ft_op op;

    if (!in[1] || out->shape.rank != 2)
        return;
    op = ft__op_embedding(out->dtype, &in[1]->shape, out->shape.dim[0],
                          out->shape.dim[1]);
    op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, in, 2);
}

/* ---- losses ---- */

void ft__aten_cross_entropy(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x;
    ft_op op;

    if (x->shape.rank == 0)
        return;
    op = ft__pt2_op(FT_KIND_cross_entropy, x->dtype, &x->shape);
    ft__op_set1(&op, FT_K_axis, x->shape.rank > 1);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* One number is picked for every target, then their mean taken. */
void ft__aten_nll(ft__pt2_node *n)
{
    ft__pt2_value *target = n->y, *out = ft__pt2_out(n, 0);
    int64_t axes[FT_MAX_RANK];
    ft_op op;

    if (!target || out->shape.rank || !target->shape.rank)
        return;
    op = ft__pt2_op(FT_KIND_reduce_mean, out->dtype, &target->shape);
    for (uint32_t i = 0; i < target->shape.rank; i++)
        axes[i] = i;
    ft__op_set(&op, FT_K_axes, axes, target->shape.rank);
    ft__op_set1(&op, FT_K_keep, 0);
    ft__pt2_emit_in(n, &op, &target, 1);
}

void ft__aten_mse(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y};
    ft_op op;

    if (!in[1])
        return;
    op = ft__pt2_op(FT_KIND_mse_loss, in[0]->dtype, &in[0]->shape);
    ft__op_set_shape(&op, FT_K_y, &in[1]->shape);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* 2 (x - y), times the loss's gradient. */
void ft__aten_mse_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[3] = {n->x, n->y, ft__pt2_in(n, 2)};
    ft_op op;

    if (!in[1] || !in[2])
        return;
    op = ft__pt2_op(FT_KIND_mse_loss, in[1]->dtype, &in[1]->shape);
    ft__op_set_shape(&op, FT_K_y, &in[2]->shape);
    op.phase = FT_PHASE_BACKWARD;
    ft__op_set_wrt(&op, FT_WRT_X);
    ft__pt2_emit_in(n, &op, in, 3);
}

/* Of what two operands were picked from: x, and where (a grid, boxes). */
static void pick_grad(ft__pt2_node *n, ft_kind kind, const ft_shape *x,
                      ft__pt2_value *const *in, uint32_t n_in, uint32_t wrt)
{
    ft__pt2_value *out[2];
    uint32_t n_out = 0;
    ft_op op = ft__pt2_op(kind, in[0]->dtype, x);

    ft__op_set_shape(&op, FT_K_y, &in[n_in - 1]->shape);
    ft__op_set_shape(&op, FT_K_out, &in[0]->shape);
    op.phase = FT_PHASE_BACKWARD;
    ft__op_set_wrt(&op, wrt);
    for (uint32_t i = 0; i < n->n_out && n_out < 2; i++)
        if (n->out[i])
            out[n_out++] = n->out[i];
    ft__pt2_emit(n, &op,
                 &(ft__pt2_call){.in = in, .n_in = n_in, .out = out, .n_out = n_out});
}

void ft__aten_grid_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[3] = {n->x, n->y, ft__pt2_in(n, 2)};

    if (in[0] && in[1] && in[2])
        pick_grad(n, FT_KIND_grid_sample, &in[1]->shape, in, 3,
                  ft__pt2_mask(n, "output_mask", 3) & (FT_WRT_X | FT_WRT_Y));
}

void ft__aten_roi_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y};

    if (in[0] && in[1] && ft__pt2_out(n, 0))
        pick_grad(n, FT_KIND_roi_align, &n->out[0]->shape, in, 2, FT_WRT_X);
}

/* arg: 1 the gradient; a weight over its norm. */
void ft__aten_weight_norm(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y}, *v = in[n->rule->arg];
    ft_op op;

    if (!in[0] || !v || !v->shape.rank)
        return;
    op = ft__pt2_op(FT_KIND_l2norm, v->dtype, &v->shape);
    ft__op_set1(&op, FT_K_axis,
                ft__pt2_axis(n, ft__pt2_int(n, "dim", 0), v->shape.rank));
    if (n->rule->arg)
        op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, in, n->rule->arg ? 2 : 1);
}
