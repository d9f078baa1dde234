/* Losses. Labels are the block's own: random classes. */
#include "backward.h"

enum { MEAN = 1, IGNORED = -100 };

/* x as rows x classes x 1 x the rest: what the kernels take. Without a rest, rows x
 * classes. */
static ft_shape as_rows(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    uint32_t axis = (uint32_t)ft_op_at(op, FT_K_axis, 0);
    ft_shape s = {.rank = 2, .dim = {1, 1, 1, 1}};

    for (uint32_t i = 0; i < axis; i++)
        s.dim[0] *= x.dim[i];
    s.dim[1] = x.dim[axis];
    for (uint32_t i = axis + 1; i < x.rank; i++)
        s.dim[3] *= x.dim[i];
    if (axis + 1 < x.rank)
        s.rank = 4;
    return s;
}

static ft__reg labels(ft_block *b, const ft_shape *rows)
{
    ft_shape s = {.rank = 1, .dim = {rows->dim[0]}};
    ft_engine_context *c = b->ctx;
    void *value;
    ft_error err;

    if (rows->rank == 4)
        s = (ft_shape){.rank = 3, .dim = {rows->dim[0], 1, rows->dim[3]}};
    if (ft__torch_values.make(c, &value, &s, FT_DTYPE_int64, FT_LAYOUT_PLAIN, &err))
        return ft__constant(b, NULL);
    if (ft__value_fill(c, value, FT_DTYPE_int64, (uint64_t)ft_shape_elements(&s),
                       rows->dim[1], c->seed, &err))
        b->bad = true;
    return ft__constant(b, value);
}

static ft__reg rows_of(ft_block *b, ft__reg r, const ft_shape *rows)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);

    return ft_shape_equal(&x, rows) ? r : ft__reshaped(b, r, rows);
}

ft_status ft__fwd_cross_entropy(ft_block *b)
{
    ft_shape rows = as_rows(&b->op);
    ft__reg target = labels(b, &rows), logs, r;

    r = rows_of(b, ft__in(b, 0), &rows);
    ft__call(b, "aten::_log_softmax", "");
    ft__arg_tensor(b, r);
    ft__arg_int(b, 1);
    ft__arg_int(b, 0);
    logs = ft__result(b);
    ft__call(b, rows.rank == 4 ? "aten::nll_loss2d_forward" : "aten::nll_loss_forward",
             "");
    ft__arg_tensor(b, logs);
    ft__arg_tensor(b, target);
    ft__arg_none(b);
    ft__arg_int(b, MEAN);
    ft__arg_int(b, IGNORED);
    r = ft__results(b, 2);
    ft__out(b, 0, r);
    ft__keep(b, logs);
    ft__keep(b, target);
    ft__keep(b, (ft__reg)(r + 1));
    return FT_OK;
}

ft_status ft__bwd_cross_entropy(ft_block *b)
{
    ft_shape rows = as_rows(&b->op), x = ft_op_shape(&b->op, FT_K_x);
    ft__reg logs = ft__kept_in(b, 0), r;

    ft__call(b,
             rows.rank == 4 ? "aten::nll_loss2d_backward" : "aten::nll_loss_backward",
             "");
    ft__arg_tensor(b, ft__in(b, 0));
    ft__arg_tensor(b, logs);
    ft__arg_tensor(b, ft__kept_in(b, 1));
    ft__arg_none(b);
    ft__arg_int(b, MEAN);
    ft__arg_int(b, IGNORED);
    ft__arg_tensor(b, ft__kept_in(b, 2));
    r = ft__result(b);
    ft__call(b, "aten::_log_softmax_backward_data", "");
    ft__arg_tensor(b, r);
    ft__arg_tensor(b, logs);
    ft__arg_int(b, 1);
    ft__arg_int(b, b->ctx->api.dtype[b->op.dtype]);
    r = ft__result(b);
    ft__give(b, FT_WRT_X, ft_shape_equal(&x, &rows) ? r : ft__reshaped(b, r, &x));
    return FT_OK;
}

ft_status ft__fwd_mse(ft_block *b)
{
    ft__call(b, "aten::mse_loss", "");
    ft__arg_tensor(b, ft__in(b, 0));
    ft__arg_tensor(b, ft__in(b, 1));
    ft__arg_int(b, MEAN);
    return ft__out_result(b);
}

static ft__reg mse_gradient(ft_block *b, uint32_t of, uint32_t other)
{
    ft__call(b, "aten::mse_loss_backward", "");
    ft__arg_tensor(b, ft__in(b, 0));
    ft__arg_tensor(b, ft__saved(b, of));
    ft__arg_tensor(b, ft__saved(b, other));
    ft__arg_int(b, MEAN);
    return ft__result(b);
}

ft_status ft__bwd_mse(ft_block *b)
{
    if (ft__wants(b, FT_WRT_X))
        ft__give(b, FT_WRT_X, mse_gradient(b, FT_SAVE_X, FT_SAVE_Y));
    if (ft__wants(b, FT_WRT_Y))
        ft__give(b, FT_WRT_Y, mse_gradient(b, FT_SAVE_Y, FT_SAVE_X));
    return FT_OK;
}
