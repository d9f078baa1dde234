/* Reductions, searches, transforms. */
#include "kinds.h"

static void arg_axes(ft_block *b)
{
    uint32_t n;
    const int64_t *axes = ft_op_get(&b->op, FT_K_axes, &n);

    ft__args(b, FT__INTS(axes, n));
}

/* A product goes along one axis at a time. */
static ft__reg product(ft_block *b, bool keep)
{
    uint32_t n;
    const int64_t *axes = ft_op_get(&b->op, FT_K_axes, &n);
    ft__reg r = ft__in(b, 0);

    for (uint32_t i = n; i-- > 0;) {
        r = ft__made(b, "aten::prod", "dim_int", FT__TENSOR(r), FT__INT(axes[i]),
                     FT__INT(keep), FT__NONE);
    }
    return r;
}

/* The vector norm that linalg_norm() takes without an order. */
ft__reg ft__norm2(ft_block *b, const int64_t *axes, uint32_t n, bool keep)
{
    return ft__made(b, "aten::linalg_norm", "", FT__TENSOR(ft__in(b, 0)), FT__NONE,
                    FT__OPT_INTS(axes, n), FT__INT(keep), FT__NONE);
}

/* mean and sum, whose axes are optional and whose result may have another type. */
static ft__reg summed(ft_block *b, const char *name, const char *overload, ft__reg x,
                      bool keep)
{
    uint32_t n;
    const int64_t *axes = ft_op_get(&b->op, FT_K_axes, &n);

    return ft__made(
        b, name, overload, FT__TENSOR(x), FT__OPT_INTS(axes, n), FT__INT(keep),
        b->op.dtype == FT_DTYPE_int32 ? FT__OPT_INT(b->ctx->api.dtype[FT_DTYPE_int32])
                                      : FT__NONE);
}

static ft__reg plain(ft_block *b, const char *name, bool keep)
{
    ft__call_with(b, name, "", FT__TENSOR(ft__in(b, 0)));
    arg_axes(b);
    ft__args(b, FT__INT(keep));
    return ft__result(b);
}

ft_status ft__fwd_reduce(ft_block *b)
{
    bool keep = ft_op_at(&b->op, FT_K_keep, 0) != 0;
    ft__reg x = ft__in(b, 0), r;
    uint32_t n;
    const int64_t *axes = ft_op_get(&b->op, FT_K_axes, &n);

    switch (b->op.kind) {
    case FT_KIND_reduce_mean: r = summed(b, "aten::mean", "dim", x, keep); break;
    case FT_KIND_reduce_sum: r = summed(b, "aten::sum", "dim_IntList", x, keep); break;
    case FT_KIND_reduce_l1:
        x = ft__call1(b, "aten::abs", x);
        r = summed(b, "aten::sum", "dim_IntList", x, keep);
        break;
    case FT_KIND_reduce_max: r = plain(b, "aten::amax", keep); break;
    case FT_KIND_reduce_min: r = plain(b, "aten::amin", keep); break;
    case FT_KIND_reduce_l2: r = ft__norm2(b, axes, n, keep); break;
    case FT_KIND_reduce_logsumexp: r = plain(b, "aten::logsumexp", keep); break;
    default: r = product(b, keep); break;
    }
    ft__out(b, 0, r);
    return FT_OK;
}

ft_status ft__fwd_arg(ft_block *b)
{
    uint32_t n;
    const int64_t *axes = ft_op_get(&b->op, FT_K_axes, &n);

    if (n != 1)
        return ft__unsupported(b, "one axis only");
    return ft__out_made(b,
                        b->op.kind == FT_KIND_argmax ? "aten::argmax" : "aten::argmin",
                        "", FT__TENSOR(ft__in(b, 0)), FT__OPT_INT(axes[0]),
                        FT__INT(ft_op_at(&b->op, FT_K_keep, 0)));
}

ft_status ft__fwd_cumsum(ft_block *b)
{
    return ft__out_made(b, "aten::cumsum", "", FT__TENSOR(ft__in(b, 0)),
                        FT__INT(ft_op_at(&b->op, FT_K_axis, 0)),
                        b->op.dtype == FT_DTYPE_int32
                            ? FT__OPT_INT(b->ctx->api.dtype[FT_DTYPE_int32])
                            : FT__NONE);
}

ft_status ft__fwd_topk(ft_block *b)
{
    ft__reg r;

    ft__call_with(b, "aten::topk", "", FT__TENSOR(ft__in(b, 0)),
                  FT__INT(ft_op_at(&b->op, FT_K_size, 0)),
                  FT__INT(ft_op_at(&b->op, FT_K_axis, 0)), FT__INT(1), FT__INT(1));
    r = ft__results(b, 2);
    ft__out(b, 0, r);
    ft__out(b, 1, (ft__reg)(r + 1));
    return FT_OK;
}

ft_status ft__fwd_det(ft_block *b)
{
    ft__out(b, 0, ft__call1(b, "aten::linalg_det", ft__in(b, 0)));
    return FT_OK;
}

static ft__reg transform(ft_block *b, const char *name, ft__reg x)
{
    return ft__made(b, name, "", FT__TENSOR(x),
                    FT__OPT_INT(ft_op_at(&b->op, FT_K_size, 0)), FT__INT(-1), FT__NONE);
}

/* Along the last axis; complex numbers as a further axis of two, as in ONNX, or as
 * elements. */
ft_status ft__fwd_fft(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_out);
    int64_t n = ft_op_at(&b->op, FT_K_size, 0);
    bool complex =
        b->op.dtype == FT_DTYPE_complex64 || b->op.dtype == FT_DTYPE_complex128;
    ft__reg r = ft__in(b, 0);

    if (complex && ft_shape_equal(&x, &y) && x.rank && x.dim[x.rank - 1] == n) {
        ft__out(b, 0, transform(b, "aten::fft_fft", r));
        return FT_OK;
    }
    if (complex || y.rank < 2 || y.dim[y.rank - 1] != 2)
        return ft__unsupported(b, "real to pairs, or pairs to pairs only");
    if (y.rank == x.rank + 1 && y.dim[x.rank - 1] == n / 2 + 1) {
        r = transform(b, "aten::fft_rfft", r);
    } else if (ft_shape_equal(&x, &y) && x.dim[x.rank - 2] == n) {
        r = ft__call1(b, "aten::view_as_complex", r);
        r = transform(b, "aten::fft_fft", r);
    } else {
        return ft__unsupported(b, "along the last axis only");
    }
    ft__out(b, 0, ft__call1(b, "aten::view_as_real", r));
    return FT_OK;
}
