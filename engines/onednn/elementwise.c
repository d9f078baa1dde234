/* One result element from one element of each operand. Primitives of oneDNN
 * for fp32 where it has them, our own rows for the rest. */
#include "onednn.h"

typedef struct eltwise {
    dnnl_alg_kind_t alg; /* dnnl_alg_kind_undef: none */
    float alpha, beta;
} eltwise;

static const eltwise eltwises[FT_KIND_COUNT] = {
    [FT_KIND_relu] = {dnnl_eltwise_relu, 0, 0},
    [FT_KIND_leaky_relu] = {dnnl_eltwise_relu, 0.01f, 0},
    [FT_KIND_elu] = {dnnl_eltwise_elu, 1, 0},
    [FT_KIND_clip] = {dnnl_eltwise_clip_v2, 0, 6},
    [FT_KIND_sigmoid] = {dnnl_eltwise_logistic, 0, 0},
    [FT_KIND_tanh] = {dnnl_eltwise_tanh, 0, 0},
    [FT_KIND_silu] = {dnnl_eltwise_swish, 1, 0},
    [FT_KIND_hardswish] = {dnnl_eltwise_hardswish, 0, 0},
    [FT_KIND_gelu] = {dnnl_eltwise_gelu_erf, 0, 0},
    [FT_KIND_gelu_tanh] = {dnnl_eltwise_gelu_tanh, 0, 0},
    [FT_KIND_mish] = {dnnl_eltwise_mish, 0, 0},
    [FT_KIND_softplus] = {dnnl_eltwise_soft_relu, 0, 0},
    [FT_KIND_exp] = {dnnl_eltwise_exp, 0, 0},
    [FT_KIND_log] = {dnnl_eltwise_log, 0, 0},
    [FT_KIND_sqrt] = {dnnl_eltwise_sqrt, 0, 0},
    [FT_KIND_abs] = {dnnl_eltwise_abs, 0, 0},
    [FT_KIND_neg] = {dnnl_eltwise_linear, -1, 0},
    [FT_KIND_round] = {dnnl_eltwise_round, 0, 0},
};

typedef struct row_plan {
    ft__nest nest;
    ft__row_fn *row;
} row_plan;

static dnnl_status_t run_row(ft_block *b, const ft__call *call)
{
    const row_plan *plan = b->plan;
    void *p[FT__OPERANDS] = {call->out[0]};

    for (uint32_t i = 1; i < plan->nest.n; i++)
        p[i] = (void *)call->in[i - 1];
    ft__nest_run(b->ctx->threads, &plan->nest, plan->row, p);
    return dnnl_success;
}

static ft_status plan_row(ft_block *b, ft__row_fn *row, const ft__tensor *operands,
                          uint32_t n, ft_error *err)
{
    row_plan *plan;

    if (!row)
        return ft__unsupported(b, err, "%s is not implemented for %s",
                               ft_kind_name(b->op.kind), ft_dtype_name(b->op.dtype));
    plan = ft__new_plan(b, sizeof(*plan), err);
    if (!plan)
        return FT_ENOMEM;
    plan->row = row;
    ft__nest_init(&plan->nest, operands, n, 0);
    ft__use_loops(b, run_row);
    return FT_OK;
}

/* Operand and result are dense and in the same order: one long row. */
static ft_status plan_flat(ft_block *b, ft__row_fn *row, ft_error *err)
{
    int64_t n = ft__tensor_elements(&b->y);
    ft__tensor operands[] = {ft__tensor_rows(1, &n), ft__tensor_rows(1, &n)};

    operands[0].dtype = b->y.dtype;
    operands[1].dtype = b->x.dtype;
    return plan_row(b, row, operands, 2, err);
}

ft_status ft__prepare_unary(ft_block *b, ft_error *err)
{
    eltwise e = eltwises[b->op.kind];

    if (b->op.dtype != FT_DTYPE_fp32 || e.alg == dnnl_alg_kind_undef)
        return plan_flat(b, b->ctx->kernels->kind(b->op.kind, b->op.dtype), err);
    return ft__use_prim(
        b, ft__prim_eltwise(b, e.alg, e.alpha, e.beta, ft__tensor_elements(&b->x)),
        err);
}

ft_status ft__prepare_cast(ft_block *b, ft_error *err)
{
    const ft__kernels *kernels = b->ctx->kernels;
    ft__row_fn *row = b->op.kind == FT_KIND_cast
                          ? kernels->cast(b->op.dtype, b->y.dtype)
                          : kernels->scale(b->op.dtype, b->y.dtype);

    if (!row)
        return ft__unsupported(b, err, "no %s from %s to %s", ft_kind_name(b->op.kind),
                               ft_dtype_name(b->op.dtype), ft_dtype_name(b->y.dtype));
    return plan_flat(b, row, err);
}

static const dnnl_alg_kind_t binaries[FT_KIND_COUNT] = {
    [FT_KIND_add] = dnnl_binary_add,     [FT_KIND_sub] = dnnl_binary_sub,
    [FT_KIND_mul] = dnnl_binary_mul,     [FT_KIND_div] = dnnl_binary_div,
    [FT_KIND_minimum] = dnnl_binary_min, [FT_KIND_maximum] = dnnl_binary_max,
};

ft_status ft__prepare_binary(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, y = ft__tensor_in(&b->op, 1);
    ft__tensor z = b->y;
    ft__tensor operands[] = {z, ft__tensor_spread(&x, &z), ft__tensor_spread(&y, &z)};

    /* oneDNN's kernels spread only the second operand. */
    if (b->op.dtype == FT_DTYPE_fp32 && binaries[b->op.kind] &&
        ft__tensor_elements(&x) == ft__tensor_elements(&z)) {
        x = ft__tensor_widen(&x, z.rank);
        y = ft__tensor_widen(&y, z.rank);
        if (ft__use_fast_prim(b, ft__prim_binary(b, binaries[b->op.kind], &x, &y, &z)))
            return FT_OK;
    }
    return plan_row(b, b->ctx->kernels->kind(b->op.kind, b->op.dtype), operands, 3,
                    err);
}

ft_status ft__prepare_where(ft_block *b, ft_error *err)
{
    ft__tensor c = b->x, x = ft__tensor_in(&b->op, 1);
    ft__tensor y = ft__tensor_in(&b->op, 2), z = b->y;
    ft__tensor operands[] = {z, ft__tensor_spread(&c, &z), ft__tensor_spread(&x, &z),
                             ft__tensor_spread(&y, &z)};

    return plan_row(b, b->ctx->kernels->kind(FT_KIND_where, b->op.dtype), operands, 4,
                    err);
}
