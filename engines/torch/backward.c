#include "backward.h"

static uint32_t n_results(const ft_block *b)
{
    ft_op forward = b->op;

    forward.phase = FT_PHASE_FORWARD;
    forward.wrt = 0;
    return ft_op_n_outputs(&forward);
}

ft__reg ft__saved(const ft_block *b, uint32_t bit)
{
    uint32_t saves = ft_kind_saves(b->op.kind), at = n_results(b);

    if (!(saves & bit))
        return FT__NO_REG;
    if (bit == FT_SAVE_OUT)
        return (ft__reg)(b->n_in - 1);
    for (uint32_t i = FT_SAVE_X; i < bit; i <<= 1)
        at += (saves & i) != 0;
    return at < b->n_in ? (ft__reg)at : FT__NO_REG;
}

bool ft__wants(const ft_block *b, uint32_t bit)
{
    return (ft_op_wrt(&b->op) & bit) != 0;
}

void ft__give(ft_block *b, uint32_t bit, ft__reg r)
{
    uint32_t at = 0;

    if (!ft__wants(b, bit))
        return;
    for (uint32_t i = FT_WRT_X; i < bit; i <<= 1)
        at += ft__wants(b, i);
    ft__out(b, at, r);
}

void ft__give_weight(ft_block *b, uint32_t i, ft__reg r)
{
    uint32_t at = 0;

    if (!ft__wants(b, FT_WRT_WEIGHTS) || i >= b->n_params)
        return;
    for (uint32_t k = FT_WRT_X; k <= FT_WRT_Z; k <<= 1)
        at += ft__wants(b, k);
    for (uint32_t k = 0; k < i; k++) {
        ft_param p;

        ft_op_param(&b->op, k, &p);
        at += p.trained != 0;
    }
    ft__out(b, at, r);
}

ft__reg ft__undefined(ft_block *b)
{
    ft__tensor *t = NULL;

    if (b->ctx->api.aoti_torch_new_uninitialized_tensor(&t))
        t = NULL;
    return ft__constant(b, t);
}

ft__reg ft__mul(ft_block *b, ft__reg x, ft__reg y)
{
    return ft__call2(b, "aten::mul", "Tensor", x, y);
}

ft__reg ft__div(ft_block *b, ft__reg x, ft__reg y)
{
    return ft__call2(b, "aten::div", "Tensor", x, y);
}

ft__reg ft__sum(ft_block *b, ft__reg x, const int64_t *axes, uint32_t n, bool keep)
{
    return ft__made(b, "aten::sum", "dim_IntList", FT__TENSOR(x), FT__OPT_INTS(axes, n),
                    FT__INT(keep), FT__NONE);
}

ft__reg ft__sum_to(ft_block *b, ft__reg r, const ft_shape *from, const ft_shape *to)
{
    if (ft_shape_equal(from, to))
        return r;
    return ft__made(b, "aten::sum_to_size", "", FT__TENSOR(r),
                    FT__INTS(to->dim, to->rank));
}
