/* Norms and softmax. */
#include "kinds.h"

static const double epsilon = 1e-5;

static void arg_params(ft_block *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ft__args(b, FT__MAYBE(ft__param(b, i)));
}

/* The trailing axes that are normalised. */
static void arg_trailing(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);
    uint32_t n = (uint32_t)ft_op_at(&b->op, FT_K_norm, 0);

    ft__args(b, FT__INTS(x.dim + x.rank - n, n));
}

bool ft__norm_is_cudnn(const ft_block *b)
{
    return b->ctx->opt.device >= 0 && b->op.dtype == FT_DTYPE_fp32 &&
           ft_op_at(&b->op, FT_K_train, 0) && ft__spatial(&b->op) > 0;
}

/* Where results are kept, what batch_norm() of PyTorch calls. */
ft_status ft__fwd_batchnorm(ft_block *b)
{
    bool keep = b->how & FT_VALUES_KEEP, cudnn = keep && ft__norm_is_cudnn(b);

    ft__call_with(b,
                  cudnn  ? "aten::cudnn_batch_norm"
                  : keep ? "aten::native_batch_norm"
                         : "aten::batch_norm",
                  "", FT__TENSOR(ft__in(b, 0)));
    arg_params(b, 4);
    ft__args(b, FT__INT(ft_op_at(&b->op, FT_K_train, 0) != 0), FT__REAL(0.1),
             FT__REAL(epsilon));
    if (!keep)
        ft__args(b, FT__INT(1));
    ft__out_and_keep(b, cudnn ? 4 : keep ? 3 : 1);
    return FT_OK;
}

ft_status ft__fwd_layernorm(ft_block *b)
{
    bool keep = b->how & FT_VALUES_KEEP;

    ft__call_with(b, keep ? "aten::native_layer_norm" : "aten::layer_norm", "",
                  FT__TENSOR(ft__in(b, 0)));
    arg_trailing(b);
    arg_params(b, 2);
    ft__args(b, FT__REAL(epsilon));
    if (!keep)
        ft__args(b, FT__INT(1));
    ft__out_and_keep(b, keep ? 3 : 1);
    return FT_OK;
}

ft_status ft__fwd_rmsnorm(ft_block *b)
{
    bool keep = b->how & FT_VALUES_KEEP;

    ft__call_with(b, keep ? "aten::_fused_rms_norm" : "aten::rms_norm", "",
                  FT__TENSOR(ft__in(b, 0)));
    arg_trailing(b);
    arg_params(b, 1);
    ft__args(b, FT__OPT_REAL(epsilon));
    ft__out_and_keep(b, keep ? 2 : 1);
    return FT_OK;
}

static void groupnorm_kept(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);
    int64_t inner = 1;

    for (uint32_t i = 2; i < x.rank; i++)
        inner *= x.dim[i];
    ft__call_with(b, "aten::native_group_norm", "", FT__TENSOR(ft__in(b, 0)));
    arg_params(b, 2);
    ft__args(b, FT__INT(x.dim[0]), FT__INT(x.dim[1]), FT__INT(inner),
             FT__INT(ft_op_at(&b->op, FT_K_groups, 0)), FT__REAL(epsilon));
    ft__out_and_keep(b, 3);
}

ft_status ft__fwd_groupnorm(ft_block *b)
{
    if (b->how & FT_VALUES_KEEP) {
        groupnorm_kept(b);
        return FT_OK;
    }
    ft__call_with(b, "aten::group_norm", "", FT__TENSOR(ft__in(b, 0)),
                  FT__INT(ft_op_at(&b->op, FT_K_groups, 0)));
    arg_params(b, 2);
    ft__args(b, FT__REAL(epsilon), FT__INT(1));
    return ft__out_result(b);
}

/* One batchnorm over batch x channels, as instance_norm() of PyTorch does it; what
 * is kept are the repeated scale, mean and deviation. */
static void instancenorm_kept(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), one = x;
    ft__reg scale[2], seen, r;

    one.dim[0] = 1;
    one.dim[1] = x.dim[0] * x.dim[1];
    for (uint32_t i = 0; i < 2; i++) {
        scale[i] = ft__made(b, "aten::repeat", "", FT__TENSOR(ft__param(b, i)),
                            FT__INTS(x.dim, 1));
    }
    seen = ft__reshaped(b, ft__in(b, 0), &one);
    ft__call_with(b, "aten::native_batch_norm", "", FT__TENSOR(seen),
                  FT__MAYBE(scale[0]), FT__MAYBE(scale[1]), FT__NONE, FT__NONE,
                  FT__INT(1), FT__REAL(0.1), FT__REAL(epsilon));
    r = ft__results(b, 3);
    ft__out(b, 0, ft__reshaped(b, r, &x));
    ft__keep(b, scale[0]);
    ft__keep(b, (ft__reg)(r + 1));
    ft__keep(b, (ft__reg)(r + 2));
}

ft_status ft__fwd_instancenorm(ft_block *b)
{
    if (b->how & FT_VALUES_KEEP) {
        instancenorm_kept(b);
        return FT_OK;
    }
    ft__call_with(b, "aten::instance_norm", "", FT__TENSOR(ft__in(b, 0)));
    arg_params(b, 2);
    ft__args(b, FT__NONE, FT__NONE, FT__INT(1), FT__REAL(0.1), FT__REAL(epsilon),
             FT__INT(1));
    return ft__out_result(b);
}

/* x / (1 + 1e-4 mean of squares of neighbours)^0.75, in the steps of
 * torch.nn.functional.local_response_norm(): a mean pool over an axis in front. */
ft_status ft__fwd_lrn(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), seen = {.rank = 5};
    int64_t size = ft_op_at(&b->op, FT_K_size, 0), window[3] = {size, 1, 1};
    static const int64_t ones[3] = {1, 1, 1}, none[3] = {0, 0, 0};
    int64_t around[6] = {0, 0, 0, 0, (size) / 2, (size - 1) / 2};
    ft__reg r = ft__call2(b, "aten::mul", "Tensor", ft__in(b, 0), ft__in(b, 0));

    if (x.rank < 3)
        return ft__unsupported(b, "an axis behind the channels is needed");
    seen.dim[0] = x.dim[0];
    seen.dim[1] = 1;
    seen.dim[2] = x.dim[1];
    seen.dim[3] = x.dim[2];
    seen.dim[4] = 1;
    for (uint32_t i = 3; i < x.rank; i++)
        seen.dim[4] *= x.dim[i];
    r = ft__reshaped(b, r, &seen);
    r = ft__made(b, "aten::pad", "", FT__TENSOR(r), FT__INTS(around, 6),
                 FT__TEXT("constant"), FT__NONE);
    ft__call_with(b, "aten::avg_pool3d", "", FT__TENSOR(r), FT__INTS(window, 3),
                  FT__INTS(ones, 3), FT__INTS(none, 3), FT__INT(0), FT__INT(1),
                  FT__NONE);
    r = ft__reshaped(b, ft__result(b), &x);
    r = ft__call2(b, "aten::mul", "Tensor", r, ft__number(b, 1e-4));
    r = ft__call_add(b, r, ft__number(b, 1), 1);
    ft__call_native(b, FT__NATIVE_POW);
    ft__args(b, FT__TENSOR(r), FT__SCALAR(0.75));
    r = ft__result(b);
    ft__out(b, 0, ft__call2(b, "aten::div", "Tensor", ft__in(b, 0), r));
    return FT_OK;
}

/* x / max(norm, 1e-12), in the steps of torch.nn.functional.normalize(). */
ft_status ft__fwd_l2norm(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);
    int64_t axis = ft_op_at(&b->op, FT_K_axis, 0);
    ft__reg norm;

    norm = ft__norm2(b, &axis, 1, true);
    ft__call_native(b, "_ZN2at4_ops9clamp_min4callERKNS_6TensorERKN3c106ScalarE");
    ft__args(b, FT__TENSOR(norm), FT__SCALAR(1e-12));
    norm = ft__result(b);
    norm = ft__made(b, "aten::expand", "", FT__TENSOR(norm), FT__INTS(x.dim, x.rank),
                    FT__INT(0));
    ft__out(b, 0, ft__call2(b, "aten::div", "Tensor", ft__in(b, 0), norm));
    return FT_OK;
}

ft_status ft__fwd_softmax(ft_block *b)
{
    return ft__out_made(
        b, b->op.kind == FT_KIND_softmax ? "aten::softmax" : "aten::log_softmax", "int",
        FT__TENSOR(ft__in(b, 0)), FT__INT(ft_op_at(&b->op, FT_K_axis, 0)), FT__NONE);
}
