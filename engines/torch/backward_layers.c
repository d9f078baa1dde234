/* Gradients of norms, softmax, dropout and attention: kernels of their own, with
 * what the forward operation kept in the order of its results. */
#include "backward.h"

static const double epsilon = 1e-5;

/* Which of x, scale and shift have a gradient that is asked for. */
static void arg_mask(ft_block *b, uint32_t n)
{
    bool weights = ft__wants(b, FT_WRT_WEIGHTS);
    const int64_t mask[3] = {ft__wants(b, FT_WRT_X), weights, weights};

    ft__arg_ints(b, mask, n);
}

static void give_three(ft_block *b)
{
    ft__reg r = ft__results(b, 3);

    ft__give(b, FT_WRT_X, r);
    ft__give_weight(b, 0, (ft__reg)(r + 1));
    ft__give_weight(b, 1, (ft__reg)(r + 2));
}

ft_status ft__bwd_batchnorm(ft_block *b, ft_error *err)
{
    bool train = ft_op_at(&b->op, FT_K_train, 0);

    (void)err;
    ft__call(b, "aten::native_batch_norm_backward", "");
    ft__arg_tensor(b, ft__in(b, 0));
    ft__arg_tensor(b, ft__saved(b, FT_SAVE_X));
    ft__arg_opt_tensor(b, ft__param(b, 0));
    ft__arg_opt_tensor(b, ft__param(b, 2));
    ft__arg_opt_tensor(b, ft__param(b, 3));
    ft__arg_opt_tensor(b, train ? ft__kept_in(b, 0) : FT__NO_REG);
    ft__arg_opt_tensor(b, train ? ft__kept_in(b, 1) : FT__NO_REG);
    ft__arg_int(b, train);
    ft__arg_double(b, epsilon);
    arg_mask(b, 3);
    give_three(b);
    return FT_OK;
}

static void arg_normalised(ft_block *b)
{
    uint32_t n;
    const int64_t *x = ft_op_get(&b->op, FT_K_x, &n);
    uint32_t axes = (uint32_t)ft_op_at(&b->op, FT_K_norm, 0);

    ft__arg_ints(b, x + n - axes, axes);
}

ft_status ft__bwd_layernorm(ft_block *b, ft_error *err)
{
    (void)err;
    ft__call(b, "aten::native_layer_norm_backward", "");
    ft__arg_tensor(b, ft__in(b, 0));
    ft__arg_tensor(b, ft__saved(b, FT_SAVE_X));
    arg_normalised(b);
    ft__arg_tensor(b, ft__kept_in(b, 0));
    ft__arg_tensor(b, ft__kept_in(b, 1));
    ft__arg_opt_tensor(b, ft__param(b, 0));
    ft__arg_opt_tensor(b, ft__param(b, 1));
    arg_mask(b, 3);
    give_three(b);
    return FT_OK;
}

ft_status ft__bwd_groupnorm(ft_block *b, ft_error *err)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);
    int64_t inner = 1;

    (void)err;
    for (uint32_t i = 2; i < x.rank; i++)
        inner *= x.dim[i];
    ft__call(b, "aten::native_group_norm_backward", "");
    ft__arg_tensor(b, ft__in(b, 0));
    ft__arg_tensor(b, ft__saved(b, FT_SAVE_X));
    ft__arg_tensor(b, ft__kept_in(b, 0));
    ft__arg_tensor(b, ft__kept_in(b, 1));
    ft__arg_opt_tensor(b, ft__param(b, 0));
    ft__arg_int(b, x.dim[0]);
    ft__arg_int(b, x.dim[1]);
    ft__arg_int(b, inner);
    ft__arg_int(b, ft_op_at(&b->op, FT_K_groups, 0));
    arg_mask(b, 3);
    give_three(b);
    return FT_OK;
}

/* PyTorch's CPU has no kernel for it: what autograd makes of
 * x * rsqrt(mean(x^2)) * scale.
 *   x' = x rstd;  scale: sum of g x';  x: rstd (h - x' mean(h x')), h = g scale */
ft_status ft__bwd_rmsnorm(ft_block *b, ft_error *err)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), count = {0};
    uint32_t n = (uint32_t)ft_op_at(&b->op, FT_K_norm, 0);
    int64_t last[FT_MAX_RANK], lead[FT_MAX_RANK];
    ft__reg normal, rstd = ft__kept_in(b, 0), g = ft__in(b, 0), h, r;

    (void)err;
    count.rank = n;
    for (uint32_t i = 0; i < n; i++) {
        last[i] = x.rank - n + i;
        count.dim[i] = x.dim[last[i]];
    }
    for (uint32_t i = 0; i + n < x.rank; i++)
        lead[i] = i;
    normal = ft__mul(b, ft__saved(b, FT_SAVE_X), rstd);
    if (ft__wants(b, FT_WRT_WEIGHTS)) {
        r = ft__mul(b, g, normal);
        ft__give_weight(b, 0, x.rank > n ? ft__sum(b, r, lead, x.rank - n, false) : r);
    }
    if (!ft__wants(b, FT_WRT_X))
        return FT_OK;
    h = ft__mul(b, g, ft__param(b, 0));
    r = ft__sum(b, ft__mul(b, h, normal), last, n, true);
    r = ft__div(b, r, ft__number(b, (double)ft_shape_elements(&count)));
    r = ft__call_add(b, h, ft__mul(b, normal, r), -1);
    ft__give(b, FT_WRT_X, ft__mul(b, r, rstd));
    return FT_OK;
}

/* y = x / |x|: (g - y sum(g y)) / |x|. */
ft_status ft__bwd_l2norm(ft_block *b, ft_error *err)
{
    int64_t axis = ft_op_at(&b->op, FT_K_axis, 0);
    ft__reg g = ft__in(b, 0), x = ft__saved(b, FT_SAVE_X),
            y = ft__saved(b, FT_SAVE_OUT), length, r;

    (void)err;
    length =
        ft__call1(b, "aten::sqrt", "", ft__sum(b, ft__mul(b, x, x), &axis, 1, true));
    r = ft__sum(b, ft__mul(b, g, y), &axis, 1, true);
    r = ft__call_add(b, g, ft__mul(b, y, r), -1);
    ft__give(b, FT_WRT_X, ft__div(b, r, length));
    return FT_OK;
}

ft_status ft__bwd_softmax(ft_block *b, ft_error *err)
{
    (void)err;
    ft__call(b,
             b->op.kind == FT_KIND_softmax ? "aten::_softmax_backward_data"
                                           : "aten::_log_softmax_backward_data",
             "");
    ft__arg_tensor(b, ft__in(b, 0));
    ft__arg_tensor(b, ft__saved(b, FT_SAVE_OUT));
    ft__arg_int(b, ft_op_at(&b->op, FT_K_axis, 0));
    ft__arg_int(b, b->ctx->api.dtype[b->op.dtype]);
    ft__give(b, FT_WRT_X, ft__result(b));
    return FT_OK;
}
