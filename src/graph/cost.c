/* FLOPs, bytes and weights of one operation, from its spec alone. Conventions
 * and sources: docs/costs.md. */
#include "graph/op.h"

#include <math.h>

/* FLOPs per element of the kinds that do more than one; conventions, since
 * transcendental functions have no one count. */
static const double unary_flops[FT_KIND_COUNT] = {
    [FT_KIND_sigmoid] = 4,   [FT_KIND_tanh] = 5,        [FT_KIND_silu] = 5,
    [FT_KIND_hardswish] = 4, [FT_KIND_hardsigmoid] = 3, [FT_KIND_gelu] = 8,
    [FT_KIND_gelu_tanh] = 9, [FT_KIND_mish] = 8,        [FT_KIND_softplus] = 4,
    [FT_KIND_elu] = 3,       [FT_KIND_selu] = 4,        [FT_KIND_clip] = 2,
    [FT_KIND_erf] = 5,       [FT_KIND_exp] = 2,         [FT_KIND_log] = 2,
};

/* Per parameter, weight decay included. */
static const double optimizer_flops[FT_KIND_COUNT] = {
    [FT_KIND_sgd] = 4,
    [FT_KIND_momentum] = 6,
    [FT_KIND_adam] = 14,
    [FT_KIND_adamw] = 14,
};

/* Kinds whose work is a transcendental function of every element. */
static int is_transcendental(ft_kind k)
{
    switch (k) {
    case FT_KIND_sigmoid:
    case FT_KIND_tanh:
    case FT_KIND_silu:
    case FT_KIND_gelu:
    case FT_KIND_gelu_tanh:
    case FT_KIND_mish:
    case FT_KIND_softplus:
    case FT_KIND_elu:
    case FT_KIND_selu:
    case FT_KIND_erf:
    case FT_KIND_exp:
    case FT_KIND_log:
    case FT_KIND_sin:
    case FT_KIND_cos:
    case FT_KIND_softmax:
    case FT_KIND_logsoftmax: return 1;
    default: return 0;
    }
}

static double elements(const ft_op *op, ft_key_id key)
{
    ft_shape s = ft_op_shape(op, key);

    return (double)ft_shape_elements(&s);
}

static double result_elements(const ft_op *op)
{
    double sum = 0;

    for (uint32_t i = 0; i < ft_op_n_outputs(op); i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_output(op, i, &s, &t);
        sum += (double)ft_shape_elements(&s);
    }
    return sum;
}

static double kernel_volume(const ft_op *op)
{
    uint32_t n;
    const int64_t *v = ft_op_get(op, FT_K_kernel, &n);
    double volume = 1;

    for (uint32_t i = 0; i < n; i++)
        volume *= (double)v[i];
    return volume;
}

/* Weights between one channel and `channels` on the other side, of its group. */
static double per_group(const ft_op *op, double channels)
{
    return channels / (double)ft_op_at(op, FT_K_groups, 0) * kernel_volume(op);
}

static double last_dim(const ft_op *op, ft_key_id key)
{
    ft_shape s = ft_op_shape(op, key);

    return s.rank ? (double)s.dim[s.rank - 1] : 1;
}

static double norm_size(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);
    double n = 1;

    for (int64_t i = 0; i < ft_op_at(op, FT_K_norm, 0) && i < (int64_t)s.rank; i++)
        n *= (double)s.dim[s.rank - 1 - (uint32_t)i];
    return n;
}

/* Of every gate and direction: input, state, and two biases. */
static double rnn_weights(const ft_op *op, double gates)
{
    double hidden = (double)ft_op_at(op, FT_K_hidden, 0);
    double columns =
        last_dim(op, FT_K_x) + hidden + 2 * (double)ft_op_at(op, FT_K_bias, 0);

    return (double)ft_op_at(op, FT_K_directions, 0) * gates * hidden * columns;
}

double ft__weight_elements(const ft_op *op)
{
    double out = (double)ft_op_at(op, FT_K_out, 0),
           bias = (double)ft_op_at(op, FT_K_bias, 0);

    switch (op->kind) {
    case FT_KIND_linear: return last_dim(op, FT_K_x) * out + bias * out;
    case FT_KIND_batchnorm: return 4 * (double)ft_op_at(op, FT_K_x, 1);
    case FT_KIND_layernorm: return 2 * norm_size(op);
    case FT_KIND_rmsnorm: return norm_size(op);
    case FT_KIND_groupnorm:
    case FT_KIND_instancenorm: return 2 * (double)ft_op_at(op, FT_K_x, 1);
    case FT_KIND_embedding:
        return (double)ft_op_at(op, FT_K_rows, 0) * (double)ft_op_at(op, FT_K_dim, 0);
    case FT_KIND_rnn: return rnn_weights(op, 1);
    case FT_KIND_gru: return rnn_weights(op, 3);
    case FT_KIND_lstm: return rnn_weights(op, 4);
    default: break;
    }
    return ft_kind_class(op->kind) == FT_CLASS_CONV
               ? out * per_group(op, (double)ft_op_at(op, FT_K_x, 1)) + bias * out
               : 0;
}

static int is_byte(ft_dtype t)
{
    return t == FT_DTYPE_int8 || t == FT_DTYPE_uint8;
}

/* In their own dtype, and a scale for every block of them. The bias of integer
 * operands is added to sums of 32 bits. */
static double weight_bytes(const ft_op *op, double all)
{
    int64_t own = ft_op_at(op, FT_K_weights, 0), block = ft_op_at(op, FT_K_block, 0);
    uint32_t bits = ft_dtype_bits(op->dtype);
    double out = (double)ft_op_at(op, FT_K_out, 0), sum, scales = 0;
    double bias = (double)ft_op_at(op, FT_K_bias, 0) * out;

    if (block > 0)
        scales = ceil(last_dim(op, FT_K_x) / (double)block) * out;
    sum = (all - bias) * (own ? ft_dtype_bits((ft_dtype)own) : bits) + scales * bits;
    return (sum + bias * (is_byte(op->dtype) ? 32 : bits)) / 8;
}

/* Two per multiply-accumulate of every matrix product inside. */
static double products(const ft_op *op)
{
    ft_product p[FT_MAX_PRODUCTS];
    uint32_t n = ft_op_products(op, p);
    double sum = 0;

    if (op->kind == FT_KIND_matmul)
        return 2 * result_elements(op) * last_dim(op, FT_K_x);
    for (uint32_t i = 0; i < n; i++)
        sum += ft_product_flops(&p[i]);
    return sum;
}

/* One multiply-accumulate = 2. */
static double flops(const ft_op *op)
{
    double x = elements(op, FT_K_x), out = result_elements(op);
    double bias = (double)ft_op_at(op, FT_K_bias, 0);

    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV:
        /* Transposed: every input element meets every filter of its group. */
        if (op->kind >= FT_KIND_conv_transpose1d &&
            op->kind <= FT_KIND_conv_transpose3d)
            return 2 * x * per_group(op, (double)ft_op_at(op, FT_K_out, 0)) +
                   bias * out;
        return 2 * out * per_group(op, (double)ft_op_at(op, FT_K_x, 1)) + bias * out;
    case FT_CLASS_MATMUL: return products(op) + bias * out;
    case FT_CLASS_POOL: return out * kernel_volume(op);
    case FT_CLASS_NORM:
        return op->kind == FT_KIND_batchnorm ? 2 * x
               : op->kind == FT_KIND_lrn
                   ? x * (2 * (double)ft_op_at(op, FT_K_size, 0) + 5)
                   : 8 * x;
    case FT_CLASS_SOFTMAX: return 5 * x;
    case FT_CLASS_UNARY:
        return x * (unary_flops[op->kind] > 0 ? unary_flops[op->kind] : 1);
    case FT_CLASS_BINARY: return out;
    case FT_CLASS_REDUCE:
        return op->kind == FT_KIND_det ? x * last_dim(op, FT_K_x) * 2 / 3 : x;
    case FT_CLASS_MOVE:
        return op->kind == FT_KIND_resize
                   ? out * (1 + 6 * (double)ft_op_at(op, FT_K_mode, 0))
                   : 0;
    case FT_CLASS_OPTIMIZER: return x * optimizer_flops[op->kind];
    case FT_CLASS_VIEW:
    case FT_CLASS_GENERIC:
    case FT_CLASS_COUNT: break;
    }
    return 0;
}

static double bytes_read(const ft_op *op, double weight_bytes)
{
    double size = (double)ft_dtype_bits(op->dtype) / 8, sum = weight_bytes;
    int64_t own = ft_op_at(op, FT_K_weights, 0);

    switch (op->kind) {
    case FT_KIND_generic: return (double)ft_op_at(op, FT_K_read, 0) * size;
    /* Only the rows and elements that are taken are read. */
    case FT_KIND_embedding:
        size = own ? (double)ft_dtype_bits((ft_dtype)own) / 8 : size;
        return elements(op, FT_K_x) * (8 + (double)ft_op_at(op, FT_K_dim, 0) * size);
    case FT_KIND_gather: return elements(op, FT_K_y) * 8 + result_elements(op) * size;
    case FT_KIND_slice: return result_elements(op) * size;
    default: break;
    }
    for (uint32_t i = 0; i < ft_op_n_inputs(op); i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_input(op, i, &s, &t);
        sum += (double)ft_tensor_bytes(&s, t);
    }
    return sum;
}

void ft_op_cost(const ft_op *op, ft_cost *out)
{
    ft_shape s;
    ft_dtype t;

    *out = (ft_cost){0};
    out->weight_elements = ft__weight_elements(op);
    out->weight_bytes = weight_bytes(op, out->weight_elements);
    if (ft_kind_class(op->kind) == FT_CLASS_VIEW)
        return;
    out->flops = flops(op);
    out->transcendentals = is_transcendental(op->kind) ? elements(op, FT_K_x) : 0;
    out->bytes_read = bytes_read(op, out->weight_bytes);
    for (uint32_t i = 0; i < ft_op_n_outputs(op); i++) {
        ft_op_output(op, i, &s, &t);
        out->bytes_written += (double)ft_tensor_bytes(&s, t);
    }
}
