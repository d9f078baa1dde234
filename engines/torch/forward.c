/* Convolutions and matrix products. */

#include "kinds.h"

static bool has_other_types(const ft_op *op)
{
    return ft_op_at(op, FT_K_to, 0) || ft_op_at(op, FT_K_weights, 0) ||
           ft_op_at(op, FT_K_block, 0) || ft_op_at(op, FT_K_order, 0);
}

bool ft__pads(const ft_op *op, int64_t *pad, uint32_t n)
{
    bool even = true;

    for (uint32_t i = 0; i < n; i++) {
        int64_t begin, end;

        ft_op_pad(op, i, &begin, &end);
        pad[i] = begin;
        even &= begin == end;
    }
    return even;
}

ft__reg ft__padded(ft_block *b, ft__reg x, int64_t *pad, uint32_t n, double with)
{
    int64_t around[2 * FT_MAX_RANK];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = 2 * (n - 1 - i);

        ft_op_pad(&b->op, i, &around[at], &around[at + 1]);
        pad[i] = 0;
    }
    return ft__made(b, "aten::pad", "", FT__TENSOR(x), FT__INTS(around, 2 * n),
                    FT__TEXT("constant"), FT__OPT_REAL(with));
}

ft_status ft__fwd_conv(ft_block *b)
{
    static const char *const name[] = {"aten::conv1d", "aten::conv2d", "aten::conv3d"};
    uint32_t n = ft__spatial(&b->op);
    int64_t pad[FT_MAX_RANK];
    ft__reg x;

    if (has_other_types(&b->op))
        return ft__unsupported(b, "operands of several types");
    x = ft__in(b, 0);
    if (!ft__pads(&b->op, pad, n))
        x = ft__padded(b, x, pad, n, 0);
    return ft__out_made(b, name[n - 1], "", FT__TENSOR(x), FT__TENSOR(ft__param(b, 0)),
                        FT__MAYBE(ft__param(b, 1)), FT__KEY(FT_K_stride, n),
                        FT__INTS(pad, n), FT__KEY(FT_K_dilation, n),
                        FT__INT(ft_op_at(&b->op, FT_K_groups, 0)));
}

ft_status ft__fwd_conv_transpose(ft_block *b)
{
    static const char *const name[] = {
        "aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d"};
    uint32_t n = ft__spatial(&b->op);
    int64_t pad[FT_MAX_RANK];

    if (has_other_types(&b->op))
        return ft__unsupported(b, "operands of several types");
    if (!ft__pads(&b->op, pad, n))
        return ft__unsupported(b, "padding differs from side to side");
    return ft__out_made(
        b, name[n - 1], n == 1 ? "" : "input", FT__TENSOR(ft__in(b, 0)),
        FT__TENSOR(ft__param(b, 0)), FT__MAYBE(ft__param(b, 1)),
        FT__KEY(FT_K_stride, n), FT__INTS(pad, n), FT__KEY(FT_K_outpad, n),
        FT__INT(ft_op_at(&b->op, FT_K_groups, 0)), FT__KEY(FT_K_dilation, n));
}

ft_status ft__fwd_linear(ft_block *b)
{
    if (has_other_types(&b->op))
        return ft__unsupported(b, "operands of several types");
    return ft__out_made(b, "aten::linear", "", FT__TENSOR(ft__in(b, 0)),
                        FT__TENSOR(ft__param(b, 0)), FT__MAYBE(ft__param(b, 1)));
}

ft_status ft__fwd_matmul(ft_block *b)
{
    if (has_other_types(&b->op))
        return ft__unsupported(b, "operands of several types");
    ft__out(b, 0, ft__call2(b, "aten::matmul", "", ft__in(b, 0), ft__in(b, 1)));
    return FT_OK;
}

static void attention_operands(ft_block *b)
{
    for (uint32_t i = 0; i < 3; i++)
        ft__args(b, FT__TENSOR(ft__in(b, i)));
}

ft__reg ft__attention_mask(ft_block *b)
{
    ft_shape s = {.rank = 2};

    if (!ft_op_at(&b->op, FT_K_mask, 0))
        return FT__NO_REG;
    s.dim[0] = ft_op_at(&b->op, FT_K_x, 2);
    s.dim[1] = ft_op_at(&b->op, FT_K_y, 2);
    return ft__constant(b, ft__tensor_zeros(b->ctx, &s, b->op.dtype));
}

/* The kernel that scaled_dot_product_attention() takes on the CPU when it can. */
static void attention_flash(ft_block *b, ft__reg mask)
{
    ft__call(b, "aten::_scaled_dot_product_flash_attention_for_cpu", "");
    attention_operands(b);
    ft__args(b, FT__REAL(0), FT__INT(ft_op_at(&b->op, FT_K_causal, 0)), FT__MAYBE(mask),
             FT__NONE);
    ft__out_and_keep(b, 2);
}

/* On CUDA for 16 bits without a mask. */
static void attention_flash_cuda(ft_block *b, double dropout)
{
    static const uint8_t kept[] = {1, 2, 3, 6, 7};
    ft__reg r;

    ft__call(b, "aten::_scaled_dot_product_flash_attention", "");
    attention_operands(b);
    ft__args(b, FT__REAL(dropout), FT__INT(ft_op_at(&b->op, FT_K_causal, 0)),
             FT__INT(0), FT__NONE);
    r = ft__results(b, 9);
    ft__result_numbers(b, 1u << 4 | 1u << 5); /* the lengths */
    ft__out(b, 0, r);
    for (size_t i = 0; i < sizeof(kept); i++)
        ft__keep(b, (ft__reg)(r + kept[i]));
}

/* On CUDA otherwise: log-sum-exp, seed and offset are kept. */
static void attention_efficient(ft_block *b, ft__reg mask, double dropout)
{
    ft__call(b, "aten::_scaled_dot_product_efficient_attention", "");
    attention_operands(b);
    ft__args(b, FT__MAYBE(mask), FT__INT(1), FT__REAL(dropout),
             FT__INT(ft_op_at(&b->op, FT_K_causal, 0)), FT__NONE);
    ft__out_and_keep(b, 4);
}

/* In single steps; the weights are kept. */
static void attention_math(ft_block *b, ft__reg mask, double dropout, bool shared)
{
    ft__call(b, "aten::_scaled_dot_product_attention_math", "");
    attention_operands(b);
    ft__args(b, FT__MAYBE(mask), FT__REAL(dropout),
             FT__INT(ft_op_at(&b->op, FT_K_causal, 0)), FT__NONE, FT__NONE,
             FT__INT(shared));
    ft__out_and_keep(b, 2);
}

ft__attention ft__attention_way(const ft_block *b)
{
    const ft_op *op = &b->op;
    bool shared = ft_op_at(op, FT_K_x, 1) != ft_op_at(op, FT_K_y, 1);

    if (shared || ft_op_at(op, FT_K_x, 3) != ft_op_at(op, FT_K_z, 3))
        return FT__ATTENTION_MATH;
    if (b->ctx->opt.device >= 0)
        return ft_dtype_bits(op->dtype) == 16 && !ft_op_at(op, FT_K_mask, 0)
                   ? FT__ATTENTION_FLASH_CUDA
                   : FT__ATTENTION_EFFICIENT;
    return ft_op_at(op, FT_K_train, 0) ? FT__ATTENTION_MATH : FT__ATTENTION_FLASH;
}

ft_status ft__fwd_attention(ft_block *b)
{
    bool shared = ft_op_at(&b->op, FT_K_x, 1) != ft_op_at(&b->op, FT_K_y, 1);
    double dropout = ft_op_at(&b->op, FT_K_train, 0) & 1 ? 0.1 : 0;
    ft__reg mask = ft__attention_mask(b);

    if (b->how & FT_VALUES_KEEP) {
        switch (ft__attention_way(b)) {
        case FT__ATTENTION_FLASH: attention_flash(b, mask); break;
        case FT__ATTENTION_FLASH_CUDA: attention_flash_cuda(b, dropout); break;
        case FT__ATTENTION_EFFICIENT: attention_efficient(b, mask, dropout); break;
        default: attention_math(b, mask, dropout, shared); break;
        }
        return FT_OK;
    }
    ft__call(b, "aten::scaled_dot_product_attention", "");
    attention_operands(b);
    ft__args(b, FT__MAYBE(mask), FT__REAL(dropout),
             FT__INT(ft_op_at(&b->op, FT_K_causal, 0)), FT__NONE, FT__INT(shared));
    return ft__out_result(b);
}

/* directions x batch x hidden of zeros, as who gives no state gets it. */
static ft__reg first_state(ft_block *b)
{
    ft_shape s = {.rank = 3};

    s.dim[0] = ft_op_at(&b->op, FT_K_directions, 0);
    s.dim[1] = ft_op_at(&b->op, FT_K_x, 1);
    s.dim[2] = ft_op_at(&b->op, FT_K_hidden, 0);
    return ft__constant(b, ft__tensor_zeros(b->ctx, &s, b->op.dtype));
}

/* length x batch x (directions hidden), seen as ONNX orders it. */
static ft__reg states_by_direction(ft_block *b, ft__reg y)
{
    static const int64_t perm[4] = {0, 2, 1, 3};
    int64_t size[4] = {ft_op_at(&b->op, FT_K_x, 0), ft_op_at(&b->op, FT_K_x, 1),
                       ft_op_at(&b->op, FT_K_directions, 0),
                       ft_op_at(&b->op, FT_K_hidden, 0)};

    y = ft__made(b, "aten::view", "", FT__TENSOR(y), FT__INTS(size, 4));
    return ft__made(b, "aten::permute", "", FT__TENSOR(y), FT__INTS(perm, 4));
}

ft_status ft__fwd_rnn(ft_block *b)
{
    bool lstm = b->op.kind == FT_KIND_lstm;
    ft__reg state[2], weights[16], r;

    if (ft_op_at(&b->op, FT_K_weights, 0))
        return ft__unsupported(b, "operands of several types");
    state[0] = first_state(b);
    state[1] = lstm ? first_state(b) : 0;
    for (uint32_t i = 0; i < b->n_params && i < 16; i++)
        weights[i] = ft__param(b, i);
    ft__call_with(b,
                  lstm                        ? "aten::lstm"
                  : b->op.kind == FT_KIND_gru ? "aten::gru"
                                              : "aten::rnn_tanh",
                  "input", FT__TENSOR(ft__in(b, 0)),
                  lstm ? FT__TENSORS(state, 2) : FT__TENSOR(state[0]),
                  FT__TENSORS(weights, b->n_params),
                  FT__INT(ft_op_at(&b->op, FT_K_bias, 0) != 0), FT__INT(1), FT__REAL(0),
                  FT__INT(b->how & FT_VALUES_KEEP ? 1 : 0),
                  FT__INT(ft_op_at(&b->op, FT_K_directions, 0) == 2), FT__INT(0));
    r = ft__results(b, lstm ? 3 : 2);
    ft__out(b, 0, states_by_direction(b, r));
    for (uint32_t i = 1; i < b->n_out; i++)
        ft__out(b, i, (ft__reg)(r + i));
    return FT_OK;
}
