/* Types that devices have units for, and how layers are computed in those that they
 * have none for. */
#include <string.h>

#include "graph/op_inside.h"
#include "physics/physics.h"

/* NVIDIA's devices from this compute capability on, AMD's and CPUs with a peak in their
 * files. */
static bool computes(const ft_device_facts *d, double since, double peak)
{
    if (strcmp(d->vendor, "NVIDIA") == 0)
        return !(d->compute_capability < since);
    return peak > 0 || (strcmp(d->vendor, "AMD") != 0 && strcmp(d->type, "cpu") != 0);
}

bool ft__has_units(const ft_device_facts *d, ft_dtype t, bool tf32)
{
    switch (t) {
    case FT_DTYPE_fp32: return !tf32 || computes(d, 8.0, d->peak_tf32);
    case FT_DTYPE_bf16: return computes(d, 8.0, d->peak_bf16);
    case FT_DTYPE_fp16: return computes(d, 5.3, d->peak_fp16);
    case FT_DTYPE_fp8e4m3:
    case FT_DTYPE_fp8e4m3uz:
    case FT_DTYPE_fp8e5m2:
    case FT_DTYPE_fp8e5m2uz: return computes(d, 8.9, d->peak_fp8);
    case FT_DTYPE_fp4: return computes(d, 10.0, d->peak_fp4);
    default: return true;
    }
}

bool ft__is_widened(const ft_op *op, const ft_device_facts *d)
{
    return (op->kind == FT_KIND_linear || op->kind == FT_KIND_moe) &&
           op->phase == FT_PHASE_FORWARD && ft_dtype_bits(op->dtype) < 16 &&
           ft_dtype_bits((ft_dtype)ft_op_at(op, FT_K_to, 0)) >= 16 &&
           !ft__has_units(d, op->dtype, false);
}

ft_op ft__op_widened(const ft_op *op)
{
    static const ft_key_id behind[] = {FT_K_block, FT_K_gated, FT_K_dealt};
    enum { N_BEHIND = sizeof(behind) / sizeof(*behind) };
    int64_t value[N_BEHIND];
    ft_op out = *op;

    for (int k = 0; k < N_BEHIND; k++) {
        value[k] = ft_op_at(op, behind[k], 0);
        ft__op_clear(&out, behind[k]);
    }
    out.dtype = (ft_dtype)ft_op_at(op, FT_K_to, 0);
    ft__op_clear(&out, FT_K_to);
    ft__op_set1(&out, FT_K_weights, op->dtype);
    for (int k = 0; k < N_BEHIND; k++)
        ft__op_set1(&out, behind[k], value[k]);
    return out;
}
