/* Convolutions and matrix products. */
#include "kinds.h"

/* Same padding on both sides, as the convolutions of PyTorch have it; otherwise
 * zeros are put around first, as its users do. */
static ft__reg padded(ft_block *b, ft__reg x, int64_t *pad, uint32_t n)
{
    int64_t around[2 * FT_MAX_RANK];
    bool even = true;

    for (uint32_t i = 0; i < n; i++) {
        int64_t begin, end;

        ft_op_pad(&b->op, i, &begin, &end);
        pad[i] = begin;
        even &= begin == end;
        around[2 * (n - 1 - i)] = begin;
        around[2 * (n - 1 - i) + 1] = end;
    }
    if (even)
        return x;
    for (uint32_t i = 0; i < n; i++)
        pad[i] = 0;
    ft__call(b, "aten::pad", "");
    ft__arg_tensor(b, x);
    ft__arg_ints(b, around, 2 * n);
    ft__arg_string(b, "constant");
    ft__arg_none(b);
    return ft__result(b);
}

ft_status ft__fwd_conv(ft_block *b, ft_error *err)
{
    static const char *const name[] = {"aten::conv1d", "aten::conv2d", "aten::conv3d"};
    uint32_t n = ft__spatial(&b->op);
    int64_t pad[FT_MAX_RANK];
    ft__reg x;

    if (ft_op_at(&b->op, FT_K_to, 0) || ft_op_at(&b->op, FT_K_weights, 0))
        return ft__unsupported(b, err, "operands of several types");
    x = padded(b, ft__in(b, 0), pad, n);
    ft__call(b, name[n - 1], "");
    ft__arg_tensor(b, x);
    ft__arg_tensor(b, ft__param(b, 0));
    ft__arg_opt_tensor(b, ft__param(b, 1));
    ft__arg_key(b, FT_K_stride, n);
    ft__arg_ints(b, pad, n);
    ft__arg_key(b, FT_K_dilation, n);
    ft__arg_int(b, ft_op_at(&b->op, FT_K_groups, 0));
    ft__out(b, 0, ft__result(b));
    return FT_OK;
}

ft_status ft__fwd_linear(ft_block *b, ft_error *err)
{
    if (ft_op_at(&b->op, FT_K_to, 0) || ft_op_at(&b->op, FT_K_weights, 0))
        return ft__unsupported(b, err, "operands of several types");
    ft__call(b, "aten::linear", "");
    ft__arg_tensor(b, ft__in(b, 0));
    ft__arg_tensor(b, ft__param(b, 0));
    ft__arg_opt_tensor(b, ft__param(b, 1));
    ft__out(b, 0, ft__result(b));
    return FT_OK;
}
