/* The weights inside an operation: how many elements they have, one by one, and how
 * many of a mixture are read. */
#include <math.h>
#include <string.h>

#include "graph/op.h"

/* Weights between one channel and `channels` on the other side, of its group. */
static double per_group(const ft_op *op, double channels)
{
    return channels / (double)ft_op_at(op, FT_K_groups, 0) * ft__kernel_volume(op);
}

/* Of every gate and direction: input, state, and two biases. */
static double rnn_weights(const ft_op *op)
{
    double hidden = (double)ft_op_at(op, FT_K_hidden, 0);
    double columns =
        ft__last_dim(op, FT_K_x) + hidden + 2 * (double)ft_op_at(op, FT_K_bias, 0);

    return (double)ft_op_at(op, FT_K_directions, 0) * (double)ft__rnn_gates(op->kind) *
           hidden * columns;
}

static int64_t shared_out(const ft_op *op, ft_key_id what, ft_key_id among)
{
    int64_t n = ft_op_at(op, among, 0);

    return n > 0 ? (ft_op_at(op, what, 0) + n - 1) / n : 0;
}

static int64_t moe_experts(const ft_op *op)
{
    return shared_out(op, FT_K_experts, FT_K_ep);
}

static int64_t moe_columns(const ft_op *op)
{
    return shared_out(op, FT_K_hidden, FT_K_tp);
}

/* The matrices of every expert. */
static uint32_t moe_matrices(const ft_op *op)
{
    return ft_op_at(op, FT_K_gated, 0) ? 3 : 2;
}

/* Of those that lie on this device. */
static double moe_weights(const ft_op *op)
{
    return moe_matrices(op) * (double)moe_experts(op) * (double)moe_columns(op) *
           ft__last_dim(op, FT_K_x);
}

double ft__weight_elements(const ft_op *op)
{
    double out = (double)ft_op_at(op, FT_K_out, 0),
           bias = (double)ft_op_at(op, FT_K_bias, 0);

    switch (op->kind) {
    case FT_KIND_linear: return ft__last_dim(op, FT_K_x) * out + bias * out;
    case FT_KIND_batchnorm: return 4 * (double)ft_op_at(op, FT_K_x, 1);
    case FT_KIND_layernorm: return 2 * ft__norm_elements(op);
    case FT_KIND_rmsnorm: return ft__norm_elements(op);
    case FT_KIND_groupnorm:
    case FT_KIND_instancenorm: return 2 * (double)ft_op_at(op, FT_K_x, 1);
    case FT_KIND_embedding:
        return (double)ft_op_at(op, FT_K_rows, 0) * (double)ft_op_at(op, FT_K_dim, 0);
    case FT_KIND_rnn:
    case FT_KIND_gru:
    case FT_KIND_lstm: return rnn_weights(op);
    case FT_KIND_moe: return moe_weights(op);
    default: break;
    }
    return ft_kind_class(op->kind) == FT_CLASS_CONV
               ? out * per_group(op, (double)ft_op_at(op, FT_K_x, 1)) + bias * out
               : 0;
}

uint32_t ft_op_n_params(const ft_op *op)
{
    uint32_t bias = ft_op_at(op, FT_K_bias, 0) != 0;

    if (ft_kind_class(op->kind) == FT_CLASS_CONV || op->kind == FT_KIND_linear)
        return 1 + bias;
    if (ft__rnn_gates(op->kind))
        return (uint32_t)ft_op_at(op, FT_K_directions, 0) * (2 + 2 * bias);
    switch (op->kind) {
    case FT_KIND_batchnorm: return 4;
    case FT_KIND_moe: return moe_matrices(op);
    case FT_KIND_layernorm:
    case FT_KIND_groupnorm:
    case FT_KIND_instancenorm: return 2;
    case FT_KIND_rmsnorm:
    case FT_KIND_embedding: return 1;
    default: return 0;
    }
}

static ft_shape vector(int64_t n)
{
    return (ft_shape){.rank = 1, .dim = {n}};
}

static ft_shape matrix(int64_t rows, int64_t columns)
{
    return (ft_shape){.rank = 2, .dim = {rows, columns}};
}

static int64_t last_dim(const ft_shape *s)
{
    return s->rank ? s->dim[s->rank - 1] : 1;
}

static ft_shape filter(const ft_op *op)
{
    int64_t groups = ft_op_at(op, FT_K_groups, 0), out = ft_op_at(op, FT_K_out, 0);
    int64_t in = ft_op_at(op, FT_K_x, 1);
    ft_shape s = {.rank = 2};
    uint32_t axes;
    const int64_t *kernel = ft_op_get(op, FT_K_kernel, &axes);

    s.dim[0] = ft__is_transposed(op) ? in : out;
    s.dim[1] = (ft__is_transposed(op) ? out : in) / (groups > 0 ? groups : 1);
    for (uint32_t i = 0; i < axes && s.rank < FT_MAX_RANK; i++)
        s.dim[s.rank++] = kernel[i];
    return s;
}

static ft_shape normalised(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), s = {0};

    if (op->kind == FT_KIND_layernorm || op->kind == FT_KIND_rmsnorm) {
        s.rank = (uint32_t)ft_op_at(op, FT_K_norm, 0);
        if (s.rank > x.rank)
            s.rank = x.rank;
        memcpy(s.dim, x.dim + x.rank - s.rank, s.rank * sizeof(*s.dim));
        return s;
    }
    return vector(x.rank > 1 ? x.dim[1] : 1);
}

static void recurrent(const ft_op *op, uint32_t i, ft_param *out)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t hidden = ft_op_at(op, FT_K_hidden, 0);
    int64_t gates = ft__rnn_gates(op->kind);

    i %= ft_op_at(op, FT_K_bias, 0) ? 4 : 2;
    out->shape = i == 0   ? matrix(gates * hidden, last_dim(&x))
                 : i == 1 ? matrix(gates * hidden, hidden)
                          : vector(gates * hidden);
    out->fan_in = i < 2 ? (double)out->shape.dim[1] : 0;
}

/* Gates, what they are multiplied with, and back: of all experts that lie here. */
static void experts(const ft_op *op, uint32_t i, ft_param *out)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t columns = moe_columns(op), size = last_dim(&x);
    const int wide = i + 1 < moe_matrices(op);

    out->shape =
        (ft_shape){3, {moe_experts(op), wide ? columns : size, wide ? size : columns}};
    out->fan_in = (double)out->shape.dim[2];
}

static void bias(const ft_op *op, ft_param *out)
{
    out->shape = vector(ft_op_at(op, FT_K_out, 0));
    out->dtype = op->dtype == FT_DTYPE_int8 || op->dtype == FT_DTYPE_uint8
                     ? FT_DTYPE_int32
                     : op->dtype;
}

void ft_op_param(const ft_op *op, uint32_t i, ft_param *out)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t own = ft_op_at(op, FT_K_weights, 0);

    *out = (ft_param){.dtype = own ? (ft_dtype)own : op->dtype, .trained = 1};
    if (ft__rnn_gates(op->kind)) {
        recurrent(op, i, out);
    } else if (ft_kind_class(op->kind) == FT_CLASS_CONV || op->kind == FT_KIND_linear) {
        if (i == 1) {
            bias(op, out);
            return;
        }
        out->shape = op->kind == FT_KIND_linear
                         ? matrix(ft_op_at(op, FT_K_out, 0), last_dim(&x))
                         : filter(op);
        out->fan_in = 1;
        for (uint32_t k = 1; k < out->shape.rank; k++)
            out->fan_in *= (double)out->shape.dim[k];
    } else if (op->kind == FT_KIND_moe) {
        experts(op, i, out);
    } else if (op->kind == FT_KIND_embedding) {
        out->shape = matrix(ft_op_at(op, FT_K_rows, 0), ft_op_at(op, FT_K_dim, 0));
    } else {
        out->shape = normalised(op);
        out->trained = i < 2;
    }
}

double ft__experts_used(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    double rows = (double)ft_shape_elements(&x) / ft__last_dim(op, FT_K_x);
    double picked =
        (double)ft_op_at(op, FT_K_topk, 0) / (double)ft_op_at(op, FT_K_experts, 0);

    return ft_op_at(op, FT_K_dealt, 0) ? fmin(1, rows * picked)
                                       : 1 - pow(1 - picked, rows);
}

/* The largest of so many normal variables, in standard deviations above their mean:
 * Blom's quantile, that by Tukey's lambda. */
static double largest_of(double n)
{
    const double p = (n - 0.375) / (n + 0.25);

    return n > 1 ? 4.91 * (pow(p, 0.14) - pow(1 - p, 0.14)) : 0;
}

double ft__experts_read(const ft_op *op)
{
    const double ways = fmax(1, (double)ft_op_at(op, FT_K_ep, 0));
    const double share = ft__experts_used(op);
    const double own = (double)ft_op_at(op, FT_K_experts, 0) / ways;
    const double above = ft_op_at(op, FT_K_dealt, 0) ? 0 : largest_of(ways);

    return fmin(own, fmax(1, own * share + above * sqrt(own * share * (1 - share))));
}
