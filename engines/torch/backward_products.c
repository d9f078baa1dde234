/* Gradients of convolutions and matrix products. */
#include "backward.h"

static bool is_transposed(const ft_op *op)
{
    return op->kind == FT_KIND_conv_transpose1d ||
           op->kind == FT_KIND_conv_transpose2d || op->kind == FT_KIND_conv_transpose3d;
}

/* Zeros around x, or (sign -1) that many elements off again. */
static ft__reg pad(ft_block *b, ft__reg x, const int64_t *around, uint32_t n, int sign)
{
    int64_t signed_pad[2 * FT_MAX_RANK];

    for (uint32_t i = 0; i < 2 * n; i++)
        signed_pad[i] = sign * around[i];
    return ft__made(b, "aten::pad", "", FT__TENSOR(x), FT__INTS(signed_pad, 2 * n),
                    FT__TEXT("constant"), FT__NONE);
}

/* Where padding differs by side, users of PyTorch pad first. */
static bool read_padding(const ft_block *b, int64_t *begin, int64_t *around, uint32_t n)
{
    bool even = true;

    for (uint32_t i = 0; i < n; i++) {
        int64_t end;

        ft_op_pad(&b->op, i, &begin[i], &end);
        around[2 * (n - 1 - i)] = begin[i];
        around[2 * (n - 1 - i) + 1] = end;
        even &= begin[i] == end;
    }
    for (uint32_t i = 0; i < n && !even; i++)
        begin[i] = 0;
    return even;
}

ft_status ft__bwd_conv(ft_block *b)
{
    bool weights = ft__wants(b, FT_WRT_WEIGHTS), bias = ft_op_at(&b->op, FT_K_bias, 0);
    bool transposed = is_transposed(&b->op), even;
    uint32_t n = ft__spatial(&b->op);
    int64_t begin[FT_MAX_RANK], around[2 * FT_MAX_RANK], none[FT_MAX_RANK] = {0};
    const int64_t mask[3] = {ft__wants(b, FT_WRT_X), weights, weights && bias};
    int64_t out = ft_op_at(&b->op, FT_K_out, 0);
    ft__reg x = ft__saved(b, FT_SAVE_X), r;

    even = read_padding(b, begin, around, n);
    if (transposed && !even)
        return ft__unsupported(b, "padding that differs by side");
    if (!even)
        x = pad(b, x, around, n, 1);
    ft__call_with(b, "aten::convolution_backward", "", FT__TENSOR(ft__in(b, 0)),
                  FT__TENSOR(x), FT__TENSOR(ft__param(b, 0)),
                  bias ? FT__OPT_INTS(&out, 1) : FT__NONE, FT__KEY(FT_K_stride, n),
                  FT__INTS(begin, n), FT__KEY(FT_K_dilation, n), FT__INT(transposed),
                  transposed ? FT__KEY(FT_K_outpad, n) : FT__INTS(none, n),
                  FT__INT(ft_op_at(&b->op, FT_K_groups, 0)), FT__INTS(mask, 3));
    r = ft__results(b, 3);
    ft__give(b, FT_WRT_X, even || !mask[0] ? r : pad(b, r, around, n, -1));
    ft__give_weight(b, 0, (ft__reg)(r + 1));
    ft__give_weight(b, 1, (ft__reg)(r + 2));
    return FT_OK;
}

static ft__reg transposed(ft_block *b, ft__reg x)
{
    return ft__made(b, "aten::transpose", "int", FT__TENSOR(x), FT__INT(-2),
                    FT__INT(-1));
}

static ft_shape as_matrix(const ft_shape *s)
{
    ft_shape m = {.rank = 2, .dim = {1, s->rank ? s->dim[s->rank - 1] : 1}};

    for (uint32_t i = 0; i + 1 < s->rank; i++)
        m.dim[0] *= s->dim[i];
    return m;
}

static ft__reg matrix(ft_block *b, ft__reg x, const ft_shape *s)
{
    ft_shape m = as_matrix(s);

    return s->rank == 2 ? x : ft__reshaped(b, x, &m);
}

/* Two products, and for the bias a sum over the rows. */
ft_status ft__bwd_linear(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = x, bias;
    const int64_t rows = 0;
    ft__reg g, r;

    if (ft_op_at(&b->op, FT_K_to, 0) || ft_op_at(&b->op, FT_K_weights, 0))
        return ft__unsupported(b, "operands of several types");
    if (x.rank == 0)
        return ft__unsupported(b, "x has no axes");
    y.dim[y.rank - 1] = ft_op_at(&b->op, FT_K_out, 0);
    bias = (ft_shape){.rank = 1, .dim = {y.dim[y.rank - 1]}};
    g = matrix(b, ft__in(b, 0), &y);
    if (ft__wants(b, FT_WRT_X)) {
        r = ft__call2(b, "aten::mm", "", g, ft__param(b, 0));
        ft__give(b, FT_WRT_X, x.rank == 2 ? r : ft__reshaped(b, r, &x));
    }
    if (ft__wants(b, FT_WRT_WEIGHTS)) {
        r = matrix(b, ft__saved(b, FT_SAVE_X), &x);
        ft__give_weight(b, 0, ft__call2(b, "aten::mm", "", transposed(b, g), r));
        if (b->n_params > 1) {
            r = ft__sum(b, g, &rows, 1, true);
            ft__give_weight(b, 1, ft__reshaped(b, r, &bias));
        }
    }
    return FT_OK;
}

/* A batch of matrices times one matrix is one product of all rows. */
static void fold(ft_block *b, const ft_shape *x, const ft_shape *y)
{
    ft_shape out = *x;
    ft__reg g, r;

    out.dim[out.rank - 1] = y->dim[1];
    g = matrix(b, ft__in(b, 0), &out);
    if (ft__wants(b, FT_WRT_X)) {
        r = transposed(b, ft__saved(b, FT_SAVE_Y));
        r = ft__call2(b, "aten::mm", "", g, r);
        ft__give(b, FT_WRT_X, x->rank == 2 ? r : ft__reshaped(b, r, x));
    }
    if (ft__wants(b, FT_WRT_Y)) {
        r = transposed(b, matrix(b, ft__saved(b, FT_SAVE_X), x));
        ft__give(b, FT_WRT_Y, ft__call2(b, "aten::mm", "", r, g));
    }
}

ft_status ft__bwd_matmul(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_y), dx, dy;
    ft_op forward = b->op;
    ft_dtype t;
    ft__reg g = ft__in(b, 0), r;

    if (ft_op_at(&b->op, FT_K_to, 0) || ft_op_at(&b->op, FT_K_weights, 0))
        return ft__unsupported(b, "operands of several types");
    if (ft_op_at(&b->op, FT_K_order, 0))
        return ft__unsupported(b, "operands that lie transposed");
    if (y.rank == 2) {
        fold(b, &x, &y);
        return FT_OK;
    }
    forward.phase = FT_PHASE_FORWARD;
    ft_op_output(&forward, 0, &dx, &t);
    dy = dx;
    dx.dim[dx.rank - 1] = x.dim[x.rank - 1];
    dy.dim[dy.rank - 2] = y.dim[y.rank - 2];
    if (ft__wants(b, FT_WRT_X)) {
        r = transposed(b, ft__saved(b, FT_SAVE_Y));
        r = ft__call2(b, "aten::matmul", "", g, r);
        ft__give(b, FT_WRT_X, ft__sum_to(b, r, &dx, &x));
    }
    if (ft__wants(b, FT_WRT_Y)) {
        r = transposed(b, ft__saved(b, FT_SAVE_X));
        r = ft__call2(b, "aten::matmul", "", r, g);
        ft__give(b, FT_WRT_Y, ft__sum_to(b, r, &dy, &y));
    }
    return FT_OK;
}
