/* Gradients of norms, softmax, dropout and attention: kernels of their own, with
 * what the forward operation kept in the order of its results. */
#include <math.h>

#include "backward.h"
#include "kinds.h"

static const double epsilon = 1e-5;

/* Which of x, scale and shift have a gradient that is asked for. */
static void arg_mask(ft_block *b)
{
    bool weights = ft__wants(b, FT_WRT_WEIGHTS);
    const int64_t mask[3] = {ft__wants(b, FT_WRT_X), weights, weights};

    ft__args(b, FT__INTS(mask, 3));
}

static void give_three(ft_block *b)
{
    ft__reg r = ft__results(b, 3);

    ft__give(b, FT_WRT_X, r);
    ft__give_weight(b, 0, (ft__reg)(r + 1));
    ft__give_weight(b, 1, (ft__reg)(r + 2));
}

static void batchnorm_cudnn(ft_block *b)
{
    ft__call_with(b, "aten::cudnn_batch_norm_backward", "",
                  FT__TENSOR(ft__saved(b, FT_SAVE_X)), FT__TENSOR(ft__in(b, 0)),
                  FT__TENSOR(ft__param(b, 0)), FT__MAYBE(ft__param(b, 2)),
                  FT__MAYBE(ft__param(b, 3)), FT__MAYBE(ft__kept_in(b, 0)),
                  FT__MAYBE(ft__kept_in(b, 1)), FT__REAL(epsilon),
                  FT__TENSOR(ft__kept_in(b, 2)));
    give_three(b);
}

ft_status ft__bwd_batchnorm(ft_block *b)
{
    bool train = ft_op_at(&b->op, FT_K_train, 0);

    if (ft__norm_is_cudnn(b)) {
        batchnorm_cudnn(b);
        return FT_OK;
    }
    ft__call_with(b, "aten::native_batch_norm_backward", "", FT__TENSOR(ft__in(b, 0)),
                  FT__TENSOR(ft__saved(b, FT_SAVE_X)), FT__MAYBE(ft__param(b, 0)),
                  FT__MAYBE(ft__param(b, 2)), FT__MAYBE(ft__param(b, 3)),
                  FT__MAYBE(train ? ft__kept_in(b, 0) : FT__NO_REG),
                  FT__MAYBE(train ? ft__kept_in(b, 1) : FT__NO_REG), FT__INT(train),
                  FT__REAL(epsilon));
    arg_mask(b);
    give_three(b);
    return FT_OK;
}

static void arg_normalised(ft_block *b)
{
    uint32_t n;
    const int64_t *x = ft_op_get(&b->op, FT_K_x, &n);
    uint32_t axes = (uint32_t)ft_op_at(&b->op, FT_K_norm, 0);

    ft__args(b, FT__INTS(x + n - axes, axes));
}

ft_status ft__bwd_layernorm(ft_block *b)
{
    ft__call_with(b, "aten::native_layer_norm_backward", "", FT__TENSOR(ft__in(b, 0)),
                  FT__TENSOR(ft__saved(b, FT_SAVE_X)));
    arg_normalised(b);
    ft__args(b, FT__TENSOR(ft__kept_in(b, 0)), FT__TENSOR(ft__kept_in(b, 1)),
             FT__MAYBE(ft__param(b, 0)), FT__MAYBE(ft__param(b, 1)));
    arg_mask(b);
    give_three(b);
    return FT_OK;
}

ft_status ft__bwd_groupnorm(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);
    int64_t inner = 1;

    for (uint32_t i = 2; i < x.rank; i++)
        inner *= x.dim[i];
    ft__call_with(b, "aten::native_group_norm_backward", "", FT__TENSOR(ft__in(b, 0)),
                  FT__TENSOR(ft__saved(b, FT_SAVE_X)), FT__TENSOR(ft__kept_in(b, 0)),
                  FT__TENSOR(ft__kept_in(b, 1)), FT__MAYBE(ft__param(b, 0)),
                  FT__INT(x.dim[0]), FT__INT(x.dim[1]), FT__INT(inner),
                  FT__INT(ft_op_at(&b->op, FT_K_groups, 0)));
    arg_mask(b);
    give_three(b);
    return FT_OK;
}

/* PyTorch's CPU has no kernel for it: what autograd makes of
 * x * rsqrt(mean(x^2)) * scale.
 *   x' = x rstd;  scale: sum of g x';  x: rstd (h - x' mean(h x')), h = g scale */
ft_status ft__bwd_rmsnorm(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), count = {0};
    uint32_t n = (uint32_t)ft_op_at(&b->op, FT_K_norm, 0);
    int64_t last[FT_MAX_RANK], lead[FT_MAX_RANK];
    ft__reg normal, rstd = ft__kept_in(b, 0), g = ft__in(b, 0), h, r;

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
ft_status ft__bwd_l2norm(ft_block *b)
{
    int64_t axis = ft_op_at(&b->op, FT_K_axis, 0);
    ft__reg g = ft__in(b, 0), x = ft__saved(b, FT_SAVE_X),
            y = ft__saved(b, FT_SAVE_OUT), length, r;

    length = ft__call1(b, "aten::sqrt", ft__sum(b, ft__mul(b, x, x), &axis, 1, true));
    r = ft__sum(b, ft__mul(b, g, y), &axis, 1, true);
    r = ft__call_add(b, g, ft__mul(b, y, r), -1);
    ft__give(b, FT_WRT_X, ft__div(b, r, length));
    return FT_OK;
}

ft_status ft__bwd_softmax(ft_block *b)
{
    ft__call_with(b,
                  b->op.kind == FT_KIND_softmax ? "aten::_softmax_backward_data"
                                                : "aten::_log_softmax_backward_data",
                  "", FT__TENSOR(ft__in(b, 0)), FT__TENSOR(ft__saved(b, FT_SAVE_OUT)),
                  FT__INT(ft_op_at(&b->op, FT_K_axis, 0)),
                  FT__INT(b->ctx->api.dtype[b->op.dtype]));
    ft__give(b, FT_WRT_X, ft__result(b));
    return FT_OK;
}

/* As batchnorm over batch x channels; kept are the repeated scale, mean and
 * deviation. */
ft_status ft__bwd_instancenorm(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), one = x, rows;
    const int64_t batch = 0;
    ft__reg g, seen, r;

    one.dim[0] = 1;
    one.dim[1] = x.dim[0] * x.dim[1];
    rows = (ft_shape){.rank = 2, .dim = {x.dim[0], x.dim[1]}};
    g = ft__reshaped(b, ft__in(b, 0), &one);
    seen = ft__reshaped(b, ft__saved(b, FT_SAVE_X), &one);
    ft__call_with(b, "aten::native_batch_norm_backward", "", FT__TENSOR(g),
                  FT__TENSOR(seen), FT__MAYBE(ft__kept_in(b, 0)), FT__NONE, FT__NONE,
                  FT__MAYBE(ft__kept_in(b, 1)), FT__MAYBE(ft__kept_in(b, 2)),
                  FT__INT(1), FT__REAL(epsilon));
    arg_mask(b);
    r = ft__results(b, 3);
    if (ft__wants(b, FT_WRT_X))
        ft__give(b, FT_WRT_X, ft__reshaped(b, r, &x));
    for (uint32_t i = 0; i < 2 && ft__wants(b, FT_WRT_WEIGHTS); i++)
        ft__give_weight(
            b, i,
            ft__sum(b, ft__reshaped(b, (ft__reg)(r + 1 + i), &rows), &batch, 1, false));
    return FT_OK;
}

ft_status ft__bwd_dropout(ft_block *b)
{
    ft__call_with(b, "aten::native_dropout_backward", "", FT__TENSOR(ft__in(b, 0)),
                  FT__TENSOR(ft__kept_in(b, 0)), FT__REAL(2));
    ft__give(b, FT_WRT_X, ft__result(b));
    return FT_OK;
}

static void give_operands(ft_block *b, ft__reg first)
{
    for (uint32_t i = 0; i < 3; i++)
        ft__give(b, (uint32_t)FT_WRT_X << i, (ft__reg)(first + i));
}

static void arg_operands(ft_block *b)
{
    ft__args(b, FT__TENSOR(ft__in(b, 0)));
    for (uint32_t bit = FT_SAVE_X; bit <= FT_SAVE_Z; bit <<= 1)
        ft__args(b, FT__TENSOR(ft__saved(b, bit)));
}

static void attention_flash(ft_block *b)
{
    ft__reg mask = ft__attention_mask(b);

    ft__call(b, "aten::_scaled_dot_product_flash_attention_for_cpu_backward", "");
    arg_operands(b);
    ft__args(b, FT__TENSOR(ft__saved(b, FT_SAVE_OUT)), FT__TENSOR(ft__kept_in(b, 0)),
             FT__REAL(0), FT__INT(ft_op_at(&b->op, FT_K_causal, 0)), FT__MAYBE(mask),
             FT__NONE);
    give_operands(b, ft__results(b, 3));
}

static ft__reg product(ft_block *b, ft__reg x, bool turn_x, ft__reg y, bool turn_y)
{
    ft__reg *turned[2] = {turn_x ? &x : NULL, turn_y ? &y : NULL};

    for (int i = 0; i < 2; i++) {
        if (!turned[i])
            continue;
        *turned[i] = ft__made(b, "aten::transpose", "int", FT__TENSOR(*turned[i]),
                              FT__INT(-2), FT__INT(-1));
    }
    return ft__call2(b, "aten::matmul", "", x, y);
}

/* Heads of y and z that several of x share: repeated, and summed again. */
static ft__reg repeated(ft_block *b, ft__reg r, int64_t times)
{
    if (times == 1)
        return r;
    return ft__made(b, "aten::repeat_interleave", "self_int", FT__TENSOR(r),
                    FT__INT(times), FT__OPT_INT(1), FT__NONE);
}

static ft__reg gathered(ft_block *b, ft__reg r, const ft_shape *s, int64_t times)
{
    ft_shape apart = {.rank = 5,
                      .dim = {s->dim[0], s->dim[1], times, s->dim[2], s->dim[3]}};
    const int64_t axis = 2;

    return times == 1 ? r : ft__sum(b, ft__reshaped(b, r, &apart), &axis, 1, false);
}

/* w = softmax(s x y'), result w z:
 *   z: w' g;  d = gradient of softmax of g z';  x: s d y;  y: s d' x */
static void attention_math(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_y),
             z = ft_op_shape(&b->op, FT_K_z);
    int64_t times = x.dim[1] / y.dim[1];
    ft__reg w = ft__kept_in(b, 0), g = ft__in(b, 0), d, r;

    if (ft__wants(b, FT_WRT_Z))
        ft__give(b, FT_WRT_Z, gathered(b, product(b, w, true, g, false), &z, times));
    if (!ft__wants(b, FT_WRT_X | FT_WRT_Y))
        return;
    d = product(b, g, false, repeated(b, ft__saved(b, FT_SAVE_Z), times), true);
    ft__call_with(b, "aten::_softmax_backward_data", "", FT__TENSOR(d), FT__TENSOR(w),
                  FT__INT(-1), FT__INT(b->ctx->api.dtype[b->op.dtype]));
    d = ft__mul(b, ft__result(b), ft__number(b, 1 / sqrt((double)x.dim[3])));
    if (ft__wants(b, FT_WRT_X)) {
        r = repeated(b, ft__saved(b, FT_SAVE_Y), times);
        ft__give(b, FT_WRT_X, product(b, d, false, r, false));
    }
    if (ft__wants(b, FT_WRT_Y)) {
        r = product(b, d, true, ft__saved(b, FT_SAVE_X), false);
        ft__give(b, FT_WRT_Y, gathered(b, r, &y, times));
    }
}

static void attention_efficient(ft_block *b)
{
    const int64_t mask[4] = {ft__wants(b, FT_WRT_X), ft__wants(b, FT_WRT_Y),
                             ft__wants(b, FT_WRT_Z), 0};
    ft__reg bias = ft__attention_mask(b);

    if (bias == FT__NO_REG)
        bias = ft__undefined(b);
    ft__call(b, "aten::_scaled_dot_product_efficient_attention_backward", "");
    arg_operands(b);
    ft__args(b, FT__TENSOR(bias), FT__TENSOR(ft__saved(b, FT_SAVE_OUT)));
    for (uint32_t i = 0; i < 3; i++)
        ft__args(b, FT__TENSOR(ft__kept_in(b, i)));
    ft__args(b, FT__REAL(0), FT__INTS(mask, 4),
             FT__INT(ft_op_at(&b->op, FT_K_causal, 0)), FT__NONE);
    give_operands(b, ft__results(b, 4));
}

static void attention_flash_cuda(ft_block *b)
{
    ft__call(b, "aten::_scaled_dot_product_flash_attention_backward", "");
    arg_operands(b);
    ft__args(b, FT__TENSOR(ft__saved(b, FT_SAVE_OUT)));
    for (uint32_t i = 0; i < 3; i++)
        ft__args(b, FT__TENSOR(ft__kept_in(b, i)));
    ft__args(b, FT__INT(ft_op_at(&b->op, FT_K_x, 2)),
             FT__INT(ft_op_at(&b->op, FT_K_y, 2)), FT__REAL(0),
             FT__INT(ft_op_at(&b->op, FT_K_causal, 0)), FT__TENSOR(ft__kept_in(b, 3)),
             FT__TENSOR(ft__kept_in(b, 4)), FT__NONE);
    give_operands(b, ft__results(b, 3));
}

ft_status ft__bwd_attention(ft_block *b)
{
    if (ft_op_at(&b->op, FT_K_train, 0))
        return ft__unsupported(b, "dropout of weights, or a mask that is trained");
    switch (ft__attention_way(b)) {
    case FT__ATTENTION_FLASH: attention_flash(b); break;
    case FT__ATTENTION_FLASH_CUDA: attention_flash_cuda(b); break;
    case FT__ATTENTION_EFFICIENT: attention_efficient(b); break;
    default: attention_math(b); break;
    }
    return FT_OK;
}
