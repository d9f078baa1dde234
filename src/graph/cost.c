/* Bytes and weights of one operation, from its spec alone; docs/costs.md. */
#include "graph/op.h"

#include <math.h>
#include <stdbool.h>

static double elements(const ft_op *op, ft_key_id key)
{
    ft_shape s = ft_op_shape(op, key);

    return (double)ft_shape_elements(&s);
}

double ft__kernel_volume(const ft_op *op)
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
    return channels / (double)ft_op_at(op, FT_K_groups, 0) * ft__kernel_volume(op);
}

double ft__last_dim(const ft_op *op, ft_key_id key)
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

int64_t ft__rnn_gates(ft_kind k)
{
    return k == FT_KIND_rnn ? 1 : k == FT_KIND_gru ? 3 : k == FT_KIND_lstm ? 4 : 0;
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

int64_t ft__moe_experts(const ft_op *op)
{
    return shared_out(op, FT_K_experts, FT_K_ep);
}

int64_t ft__moe_columns(const ft_op *op)
{
    return shared_out(op, FT_K_hidden, FT_K_tp);
}

/* Three matrices of every expert that lies on this device. */
static double moe_weights(const ft_op *op)
{
    return 3 * (double)ft__moe_experts(op) * (double)ft__moe_columns(op) *
           ft__last_dim(op, FT_K_x);
}

double ft__weight_elements(const ft_op *op)
{
    double out = (double)ft_op_at(op, FT_K_out, 0),
           bias = (double)ft_op_at(op, FT_K_bias, 0);

    switch (op->kind) {
    case FT_KIND_linear: return ft__last_dim(op, FT_K_x) * out + bias * out;
    case FT_KIND_batchnorm: return 4 * (double)ft_op_at(op, FT_K_x, 1);
    case FT_KIND_layernorm: return 2 * norm_size(op);
    case FT_KIND_rmsnorm: return norm_size(op);
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

double ft__trained_elements(const ft_op *op)
{
    return op->kind == FT_KIND_batchnorm ? 2 * (double)ft_op_at(op, FT_K_x, 1)
                                         : ft__weight_elements(op);
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

    if (block > 0 && op->kind == FT_KIND_moe)
        scales = all / (double)block;
    else if (block > 0)
        scales = ceil(ft__last_dim(op, FT_K_x) / (double)block) * out;
    sum = (all - bias) * (own ? ft_dtype_bits((ft_dtype)own) : bits) + scales * bits;
    return (sum + bias * (is_byte(op->dtype) ? 32 : bits)) / 8;
}

/* The share of experts that any row goes to, when each row picks its own evenly. */
static double experts_used(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    double rows = (double)ft_shape_elements(&x) / ft__last_dim(op, FT_K_x);
    double topk = (double)ft_op_at(op, FT_K_topk, 0);

    return 1 - pow(1 - topk / (double)ft_op_at(op, FT_K_experts, 0), rows);
}

/* Backward, weights are read where the gradient of an operand needs them. */
static double weights_read(const ft_op *op, double bytes)
{
    if (op->kind == FT_KIND_moe)
        bytes *= experts_used(op);
    if (op->phase != FT_PHASE_BACKWARD)
        return bytes;
    return op->kind != FT_KIND_embedding && ft_op_wrt(op) & FT_WRT_X ? bytes : 0;
}

/* Only the rows and elements that are taken are read. */
static double taken(const ft_op *op, double size, double results)
{
    int64_t own = ft_op_at(op, FT_K_weights, 0);

    switch (op->kind) {
    case FT_KIND_generic: return (double)ft_op_at(op, FT_K_read, 0) * size;
    case FT_KIND_embedding:
        size = own ? (double)ft_dtype_bits((ft_dtype)own) / 8 : size;
        return elements(op, FT_K_x) * (8 + (double)ft_op_at(op, FT_K_dim, 0) * size);
    case FT_KIND_gather: return elements(op, FT_K_y) * 8 + results * size;
    case FT_KIND_slice: return results * size;
    default: return -1;
    }
}

static double operand_bytes(const ft_op *op)
{
    double sum = 0;

    for (uint32_t i = 0, n = ft_op_n_inputs(op); i < n; i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_input(op, i, &s, &t);
        sum += (double)ft_tensor_bytes(&s, t);
    }
    return sum;
}

/* Of a ring of n devices each sends and receives 2 (n - 1) / n of the data. */
static double ring(const ft_op *op)
{
    double ranks = (double)ft_op_at(op, FT_K_ranks, 0);

    return op->kind == FT_KIND_collective ? 2 * (ranks - 1) / ranks : 1;
}

/* Backward of a maximum reads where it was, not among what. */
static double positions_for_values(const ft_op *op)
{
    double size = (double)ft_dtype_bits(op->dtype) / 8;
    ft_shape out;
    ft_dtype t;

    if (op->phase != FT_PHASE_BACKWARD ||
        !(ft_kind_saves(op->kind) & FT_SAVE_INDICES) || op->kind == FT_KIND_topk)
        return 0;
    ft_op_input(op, 0, &out, &t);
    return 8 * (double)ft_shape_elements(&out) - size * elements(op, FT_K_x);
}

static double bytes_read(const ft_op *op, double weight_bytes, double results)
{
    double size = (double)ft_dtype_bits(op->dtype) / 8, sum = taken(op, size, results);

    if (sum >= 0 && op->phase != FT_PHASE_BACKWARD)
        return sum;
    sum = weights_read(op, weight_bytes) + ring(op) * operand_bytes(op) +
          positions_for_values(op);
    switch (op->kind) {
    /* Rows of the table's gradient are added to. */
    case FT_KIND_embedding:
        return sum + elements(op, FT_K_x) * (double)ft_op_at(op, FT_K_dim, 0) * size;
    /* x is the parameter; its gradient and what is kept of older ones: */
    case FT_KIND_sgd: return 2 * sum;
    case FT_KIND_momentum: return 3 * sum;
    case FT_KIND_adam:
    case FT_KIND_adamw: return 4 * sum;
    default: return sum;
    }
}

/* results: B of the forward pass's. */
static double bytes_written(const ft_op *op, double results)
{
    const bool back = op->phase == FT_PHASE_BACKWARD;
    double sum = back ? 0 : results;

    for (uint32_t i = 0, n = back ? ft_op_n_outputs(op) : 0; i < n; i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_output(op, i, &s, &t);
        sum += (double)ft_tensor_bytes(&s, t);
    }
    switch (op->kind) {
    case FT_KIND_embedding: /* zeros, then the rows */
        return op->phase == FT_PHASE_BACKWARD
                   ? sum + elements(op, FT_K_x) * (double)ft_op_at(op, FT_K_dim, 0) *
                               (double)ft_dtype_bits(op->dtype) / 8
                   : sum;
    case FT_KIND_collective: return ring(op) * sum;
    case FT_KIND_momentum: return 2 * sum;
    case FT_KIND_adam:
    case FT_KIND_adamw: return 3 * sum;
    default: return sum;
    }
}

void ft_op_cost(const ft_op *op, ft_cost *out)
{
    ft__results results;

    *out = (ft_cost){0};
    out->weight_elements = ft__weight_elements(op);
    out->weight_bytes = weight_bytes(op, out->weight_elements);
    if (ft_kind_class(op->kind) == FT_CLASS_VIEW ||
        (op->kind == FT_KIND_stochastic_depth && !ft_op_at(op, FT_K_train, 0)))
        return;
    results = ft__results_of(op);
    out->flops = ft__flops(op, results.elements);
    out->transcendentals = ft__transcendentals(op, results.elements);
    out->bytes_read = bytes_read(op, out->weight_bytes, results.elements);
    out->bytes_written = bytes_written(op, results.bytes);
}
