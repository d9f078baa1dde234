/* What the host does to start an operation. */
#include <math.h>

#include "graph/op.h"
#include "physics/op_kernels.h"

/* A scale for each block of weights that tensor cores do not multiply by: partial sums
 * leave them for the vectors. */
bool ft__has_block_scales(const ft_op *op)
{
    return op->kind == FT_KIND_linear && ft_op_at(op, FT_K_block, 0) > 0 &&
           ft_dtype_bits(op->dtype) == 8;
}

static int floor_of(const ft_op *op)
{
    if (op->kind == FT_KIND_linear)
        return ft__has_block_scales(op) ? FT__C_floor_scaled : FT__C_floor_linear;
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return FT__C_floor_conv;
    case FT_CLASS_NORM: return FT__C_floor_norm;
    default: return -1;
    }
}

/* vLLM's products with scales for blocks of weights: below 32 rows one kernel narrows
 * what it is given itself; otherwise that is a call of its own, as is padding to
 * multiples of four rows. Seen beside an H200: 52, 75 and 84 us. */
static double scaled_kernels(const ft_op *op)
{
    const ft_shape x = ft_op_shape(op, FT_K_x);
    const int64_t rows = ft_shape_elements(&x) / x.dim[x.rank - 1];

    return rows < 32 ? 0 : rows % 4 ? 4 : 3;
}

/* PyTorch's logsumexp: the largest, its magnitude, whether that is infinite, 0 there,
 * less that, exponentials, their sum, its logarithm, and that again (ReduceOps.cpp), in
 * the time of six of a library (KernelBench's on A10, A10G and A100); groupnorm:
 * moments, their scales, the rest (group_norm_kernel.cu); cross_entropy: logarithms,
 * their mean at the targets. */
static double inner_kernels(const ft_op *op)
{
    if (op->phase == FT_PHASE_BACKWARD)
        return 0;
    if (ft__has_block_scales(op))
        return scaled_kernels(op);
    switch (op->kind) {
    case FT_KIND_reduce_logsumexp: return 6;
    case FT_KIND_groupnorm: return 2;
    case FT_KIND_cross_entropy: return 1;
    default: return 0;
    }
}

/* Libraries make the gradients of convolutions and products one by one, all others of
 * an operation at once. A step's are in its own host time. */
static double gradient_calls(const ft_op *op)
{
    ft_class class = ft_kind_class(op->kind);
    ft_op back;
    double calls = 1;
    uint32_t wrt;

    if (op->phase != FT_PHASE_BACKWARD && op->phase != FT_PHASE_FORWARD_BACKWARD)
        return 0;
    back = *op;
    back.phase = FT_PHASE_BACKWARD;
    wrt = ft_op_wrt(&back);
    if (class == FT_CLASS_CONV || class == FT_CLASS_MATMUL)
        calls = !!(wrt & FT_WRT_X) + !!(wrt & FT_WRT_Y) + !!(wrt & FT_WRT_WEIGHTS);
    return op->phase == FT_PHASE_BACKWARD ? fmax(calls - 1, 0) : calls;
}

/* Recurrent layers of MIOpen take a call of its own or of rocBLAS for each kernel of
 * each step, twice as long as to start one: 9.1 ms of the host for 8 LSTMs of 32 steps,
 * some 640 kernels (ROCm/MIOpen 3180). */
static const double LIBRARY_CALL = 2;

ft__calls ft__calls_of(const ft_op *op, bool amd)
{
    return (ft__calls){.floor = floor_of(op),
                       .inner = inner_kernels(op),
                       .each = amd && ft__rnn_gates(op->kind) ? LIBRARY_CALL : 0,
                       .step = op->phase == FT_PHASE_STEP,
                       .gradients = gradient_calls(op)};
}

double ft__host_s(const ft__calls *calls, double kernels,
                  const ft__physics_params *params)
{
    const double *c = params->v;
    const double inner = calls->each > 0 ? calls->each * (kernels - 1) : calls->inner;

    return c[FT__C_floor_s] * ((calls->floor < 0 ? 1 : c[calls->floor]) *
                                   (1 + c[FT__C_gradient_calls] * calls->gradients) +
                               c[FT__C_inner_start] * inner + calls->around) +
           (calls->step ? c[FT__C_step_s] : 0);
}
