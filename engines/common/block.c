/* What engines over a runtime say of every operation before they ask it. */
#include "block.h"

ft_status ft__block_run(ft_block *b, uint32_t instance, const void *const *in,
                        void *const *out, void *workspace, ft_error *err)
{
    if (instance >= b->instances)
        return ft_fail(err, FT_EINVAL, 0, "%s: instance %u of %u", ft__engine_name,
                       instance, b->instances);
    return b->run(b, instance, in, out, workspace, err);
}

void ft__block_free(ft_block *b)
{
    if (b)
        b->free(b);
}

ft_status ft__unsupported(const ft_op *op, const char *why, ft_error *err)
{
    return ft_fail(err, FT_EUNSUPPORTED, 0, "%s: %s (%s) is not run: %s",
                   ft__engine_name, ft_kind_name(op->kind), ft_dtype_name(op->dtype),
                   why);
}

ft_status ft__no_memory(ft_error *err)
{
    return ft_fail(err, FT_ENOMEM, 0, "%s: out of memory", ft__engine_name);
}

/* Sizes below this do not overflow. */
#define MAX_WEIGHT_BYTES 0x1p46

ft_status ft__request_check(const ft_op *op, uint32_t instances,
                            const float *const *params, uint32_t n_params,
                            ft_error *err)
{
    ft_cost cost;

    ft_op_cost(op, &cost);
    if (instances < 1)
        return ft_fail(err, FT_EINVAL, 0, "%s: at least one instance is needed",
                       ft__engine_name);
    if (op->phase != FT_PHASE_FORWARD)
        return ft__unsupported(op, "only the forward phase is", err);
    if (op->layout != FT_LAYOUT_PLAIN)
        return ft__unsupported(op, "only plain tensors are taken and given", err);
    if (cost.weight_bytes * instances > MAX_WEIGHT_BYTES)
        return ft_fail(err, FT_ENOMEM, 0, "%s: no memory for the weights of %s",
                       ft__engine_name, ft_kind_name(op->kind));
    if (params && n_params != ft_op_n_params(op))
        return ft_fail(err, FT_EINVAL, 0, "%s: %s takes %u weights, given are %u",
                       ft__engine_name, ft_kind_name(op->kind), ft_op_n_params(op),
                       n_params);
    return FT_OK;
}
