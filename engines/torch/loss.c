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
    logs = ft__made(b, "aten::_log_softmax", "", FT__TENSOR(r), FT__INT(1), FT__INT(0));
    ft__call_with(
        b, rows.rank == 4 ? "aten::nll_loss2d_forward" : "aten::nll_loss_forward", "",
        FT__TENSOR(logs), FT__TENSOR(target), FT__NONE, FT__INT(MEAN),
        FT__INT(IGNORED));
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

    r = ft__made(
        b, rows.rank == 4 ? "aten::nll_loss2d_backward" : "aten::nll_loss_backward", "",
        FT__TENSOR(ft__in(b, 0)), FT__TENSOR(logs), FT__TENSOR(ft__kept_in(b, 1)),
        FT__NONE, FT__INT(MEAN), FT__INT(IGNORED), FT__TENSOR(ft__kept_in(b, 2)));
    r = ft__made(b, "aten::_log_softmax_backward_data", "", FT__TENSOR(r),
                 FT__TENSOR(logs), FT__INT(1), FT__INT(b->ctx->api.dtype[b->op.dtype]));
    ft__give(b, FT_WRT_X, ft_shape_equal(&x, &rows) ? r : ft__reshaped(b, r, &x));
    return FT_OK;
}

ft_status ft__fwd_mse(ft_block *b)
{
    return ft__out_made(b, "aten::mse_loss", "", FT__TENSOR(ft__in(b, 0)),
                        FT__TENSOR(ft__in(b, 1)), FT__INT(MEAN));
}

static ft__reg mse_gradient(ft_block *b, uint32_t of, uint32_t other)
{
    return ft__made(b, "aten::mse_loss_backward", "", FT__TENSOR(ft__in(b, 0)),
                    FT__TENSOR(ft__saved(b, of)), FT__TENSOR(ft__saved(b, other)),
                    FT__INT(MEAN));
}

ft_status ft__bwd_mse(ft_block *b)
{
    if (ft__wants(b, FT_WRT_X))
        ft__give(b, FT_WRT_X, mse_gradient(b, FT_SAVE_X, FT_SAVE_Y));
    if (ft__wants(b, FT_WRT_Y))
        ft__give(b, FT_WRT_Y, mse_gradient(b, FT_SAVE_Y, FT_SAVE_X));
    return FT_OK;
}
