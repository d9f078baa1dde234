/* What one operation costs, from its spec alone, and all of a graph: FLOPs and bytes,
 * forward and backward.
 * One multiply-accumulate is 2 FLOPs.
 * Counts per element are conventions where functions have no one count; all of them
 * with their sources: docs/costs.md. */
#include <math.h>
#include <stdbool.h>

#include "graph/graph_inside.h"
#include "graph/op.h"
#include "graph/op_inside.h"

static bool is_backward(const ft_op *op)
{
    return op->phase == FT_PHASE_BACKWARD;
}

static double elements(const ft_op *op, ft_key_id key)
{
    ft_shape s = ft_op_shape(op, key);

    return (double)ft_shape_elements(&s);
}

/* All results of the forward pass together. */
struct results {
    double elements, bytes;
};

static struct results results_of(const ft_op *op)
{
    struct results r = {0};
    ft_op forward;

    if (is_backward(op)) {
        forward = ft__forward_of(op);
        op = &forward;
    }
    for (uint32_t i = 0, n = ft_op_n_outputs(op); i < n; i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_output(op, i, &s, &t);
        r.elements += (double)ft_shape_elements(&s);
        r.bytes += (double)ft_tensor_bytes(&s, t);
    }
    return r;
}

/* FLOPs per element, forward and backward, of the kinds whose work is the same
 * for every element of x; 0: one. Backward includes the product with the
 * result's gradient. */
static const struct {
    double forward, backward;
} per_element[FT_KIND_COUNT] = {
    [FT_KIND_relu] = {1, 1},
    [FT_KIND_leaky_relu] = {1, 2},
    [FT_KIND_elu] = {3, 4},
    [FT_KIND_selu] = {4, 5},
    [FT_KIND_clip] = {2, 2},
    [FT_KIND_sigmoid] = {4, 3},
    [FT_KIND_hardsigmoid] = {3, 2},
    [FT_KIND_tanh] = {5, 3},
    [FT_KIND_silu] = {5, 8},
    [FT_KIND_hardswish] = {4, 5},
    [FT_KIND_gelu] = {8, 14},
    [FT_KIND_gelu_tanh] = {9, 20},
    [FT_KIND_mish] = {8, 16},
    [FT_KIND_softplus] = {4, 5},
    [FT_KIND_softsign] = {3, 5},
    [FT_KIND_erf] = {5, 6},
    [FT_KIND_exp] = {2, 1},
    [FT_KIND_log] = {2, 1},
    [FT_KIND_log1p] = {3, 2},
    [FT_KIND_expm1] = {3, 2},
    [FT_KIND_rotary] = {3, 3},
    [FT_KIND_dropout] = {2, 2},
    [FT_KIND_stochastic_depth] = {1, 1},
    [FT_KIND_quantize] = {4, 1},
    [FT_KIND_dequantize] = {2, 2},
    /* norms: docs/costs.md derives the 8 and the 13 */
    [FT_KIND_layernorm] = {8, 13},
    [FT_KIND_rmsnorm] = {8, 13},
    [FT_KIND_groupnorm] = {8, 13},
    [FT_KIND_instancenorm] = {8, 13},
    [FT_KIND_l2norm] = {8, 13},
    [FT_KIND_softmax] = {5, 4},
    [FT_KIND_logsoftmax] = {5, 4},
    [FT_KIND_hardmax] = {5, 0},
    [FT_KIND_cross_entropy] = {5, 3},
    [FT_KIND_mse_loss] = {3, 3},
    [FT_KIND_reduce_max] = {1, 3},
    [FT_KIND_reduce_min] = {1, 3},
    [FT_KIND_reduce_prod] = {1, 3},
    [FT_KIND_reduce_l1] = {2, 2},
    [FT_KIND_reduce_l2] = {2, 2},
    [FT_KIND_reduce_logsumexp] = {4, 4},
    /* optimizers, per parameter, weight decay included */
    [FT_KIND_sgd] = {4, 0},
    [FT_KIND_momentum] = {6, 0},
    [FT_KIND_adam] = {14, 0},
    [FT_KIND_adamw] = {14, 0},
};

/* Two per multiply-accumulate of every product inside. */
static double products(const ft_op *op)
{
    ft_product p[FT_MAX_PRODUCTS];
    uint32_t n = ft_op_products(op, p);
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += ft_product_flops(&p[i]);
    return sum;
}

/* Forward the bias is added to every result; backward summed over them. */
static double bias(const ft_op *op, double results)
{
    if (!ft_op_at(op, FT_K_bias, 0) ||
        (is_backward(op) && !(ft_op_wrt(op) & FT_WRT_WEIGHTS)))
        return 0;
    return results;
}

/* Transposed: every input element meets every filter of its group. */
static double one_convolution(const ft_op *op, double results)
{
    bool transposed =
        op->kind >= FT_KIND_conv_transpose1d && op->kind <= FT_KIND_conv_transpose3d;
    double channels =
        (double)(transposed ? ft_op_at(op, FT_K_out, 0) : ft_op_at(op, FT_K_x, 1));

    return 2 * (transposed ? elements(op, FT_K_x) : results) * channels /
           (double)ft_op_at(op, FT_K_groups, 0) * ft__kernel_volume(op);
}

/* Every value that a filter meets is interpolated between four others. */
static double deformation(const ft_op *op, double results)
{
    if (op->kind != FT_KIND_deform_conv2d)
        return 0;
    return 7 * results / (double)ft_op_at(op, FT_K_out, 0) * ft__kernel_volume(op) *
           (double)ft_op_at(op, FT_K_x, 1);
}

static double convolution(const ft_op *op, double results)
{
    double sum = bias(op, results);

    if (!is_backward(op))
        return sum + one_convolution(op, results) + deformation(op, results);
    return sum + products(op) + 2 * deformation(op, results);
}

/* Scores are scaled, masked and go through a softmax; backward they are made
 * again (Dao 2022, algorithms 1 and 4). */
static double attention(const ft_op *op, double results)
{
    double scores = (double)(ft_op_at(op, FT_K_x, 0) * ft_op_at(op, FT_K_x, 1) *
                             ft_op_at(op, FT_K_x, 2) * ft_op_at(op, FT_K_y, 2));
    double mask = (double)ft_op_at(op, FT_K_mask, 0);

    if (is_backward(op))
        return products(op) + (6 + mask) * scores + 2 * results;
    return 2 * scores * ft__last_dim(op, FT_K_x) +
           2 * results * (double)ft_op_at(op, FT_K_y, 2) + (6 + mask) * scores;
}

/* Over all steps and directions. */
static double state_elements(const ft_op *op)
{
    return (double)(ft_op_at(op, FT_K_x, 0) * ft_op_at(op, FT_K_x, 1) *
                    ft_op_at(op, FT_K_hidden, 0) * ft_op_at(op, FT_K_directions, 0));
}

/* Of one element of the state: sigmoids 4, tanh 5, products and sums. */
static double recurrent(const ft_op *op)
{
    double each = op->kind == FT_KIND_lstm ? 30 : op->kind == FT_KIND_gru ? 22 : 6;

    return products(op) + (is_backward(op) ? 2 : 1) * each * state_elements(op);
}

/* Of the rows' experts those that lie here; the gate is a product of two vectors and
 * a sigmoid (silu), and results are weighted and added. */
static double mixture(const ft_op *op)
{
    double size = ft__last_dim(op, FT_K_x), x = elements(op, FT_K_x);
    double hidden =
        (double)ft_op_at(op, FT_K_hidden, 0) / (double)ft_op_at(op, FT_K_tp, 0);
    double picks = x / size * (double)ft_op_at(op, FT_K_topk, 0) /
                   (double)ft_op_at(op, FT_K_ep, 0);

    return picks *
           ((ft_op_at(op, FT_K_gated, 0) ? 6 : 4) * size * hidden + 6 * hidden +
            2 * size) *
           (is_backward(op) && ft_op_wrt(op) & FT_WRT_WEIGHTS ? 2 : 1);
}

static double matrix(const ft_op *op, double results)
{
    if (op->kind == FT_KIND_moe)
        return mixture(op);
    if (op->kind == FT_KIND_attention)
        return attention(op, results);
    if (op->kind != FT_KIND_linear && op->kind != FT_KIND_matmul)
        return recurrent(op);
    return (is_backward(op) ? products(op) : 2 * results * ft__last_dim(op, FT_K_x)) +
           bias(op, results);
}

static double norm(const ft_op *op)
{
    double x = elements(op, FT_K_x), size = (double)ft_op_at(op, FT_K_size, 0), sum = 0;

    if (op->kind == FT_KIND_lrn)
        return x * (2 * size + 5) * (is_backward(op) ? 2 : 1);
    if (!is_backward(op))
        return x * (op->kind != FT_KIND_batchnorm ? 8
                    : ft_op_at(op, FT_K_train, 0) ? 8
                                                  : 2);
    sum = ft_op_wrt(op) & FT_WRT_X ? 10 : 2;
    return x * (sum + (ft_op_wrt(op) & FT_WRT_WEIGHTS ? 3 : 0));
}

/* Interpolation between neighbours: mode 0 takes the nearest. */
static double resampled(const ft_op *op, double results)
{
    double out = results * (1 + 6 * (double)ft_op_at(op, FT_K_mode, 0));

    if (op->kind == FT_KIND_grid_sample)
        out = (out + 3 * elements(op, FT_K_y)) * (is_backward(op) ? 2 : 1);
    return out;
}

static double moved(const ft_op *op, double results)
{
    switch (op->kind) {
    case FT_KIND_resize:
    case FT_KIND_grid_sample: return resampled(op, results);
    /* Four samples between four neighbours each, and their mean. */
    case FT_KIND_roi_align: return results * (4 * 7 + 4);
    /* Rows that occur twice are added. */
    case FT_KIND_embedding:
    case FT_KIND_tile: return is_backward(op) ? results : 0;
    /* Every element is added up once for every other device, shared out evenly. */
    case FT_KIND_collective:
        if (ft_op_at(op, FT_K_mode, 0))
            return 0;
        return results * (1 - 1 / (double)ft_op_at(op, FT_K_ranks, 0));
    default: return 0;
    }
}

static double reduced(const ft_op *op)
{
    double x = elements(op, FT_K_x), points = (double)ft_op_at(op, FT_K_size, 0);
    double each = is_backward(op) ? per_element[op->kind].backward
                                  : per_element[op->kind].forward;

    if (op->kind == FT_KIND_fft)
        return points > 1 ? 5 * x * log2(points) : 0;
    /* By LU decomposition: 2/3 n^3 a matrix. */
    if (op->kind == FT_KIND_det)
        return x * ft__last_dim(op, FT_K_x) * 2 / 3;
    if (op->kind == FT_KIND_topk || op->kind == FT_KIND_global_maxpool)
        return is_backward(op) ? 0 : x;
    return x * (each > 0 ? each : 1);
}

static double per_element_of(const ft_op *op)
{
    double forward = per_element[op->kind].forward,
           backward = per_element[op->kind].backward;

    forward = forward > 0 ? forward : 1;
    return elements(op, FT_K_x) * (!is_backward(op) ? forward
                                   : backward > 0   ? backward
                                                    : forward + 1);
}

static double flops(const ft_op *op, double results)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return convolution(op, results);
    case FT_CLASS_MATMUL: return matrix(op, results);
    /* Backward of a maximum: one addition where the largest was. */
    case FT_CLASS_POOL:
        return results * (is_backward(op) && ft_kind_saves(op->kind) & FT_SAVE_INDICES
                              ? 1
                              : ft__kernel_volume(op));
    case FT_CLASS_NORM: return norm(op);
    case FT_CLASS_SOFTMAX:
    case FT_CLASS_UNARY:
    case FT_CLASS_OPTIMIZER: return per_element_of(op);
    case FT_CLASS_BINARY:
        return op->kind == FT_KIND_swiglu ? results * (is_backward(op) ? 10 : 6)
                                          : results * (is_backward(op) ? 3 : 1);
    case FT_CLASS_REDUCE: return reduced(op);
    case FT_CLASS_MOVE: return moved(op, results);
    case FT_CLASS_VIEW:
    case FT_CLASS_GENERIC:
    case FT_CLASS_COUNT: break;
    }
    return 0;
}

/* Kinds that take one transcendental function of every element of x. */
static bool is_transcendental(ft_kind k)
{
    switch (k) {
    case FT_KIND_sigmoid:
    case FT_KIND_tanh:
    case FT_KIND_silu:
    case FT_KIND_swiglu:
    case FT_KIND_gelu:
    case FT_KIND_gelu_tanh:
    case FT_KIND_mish:
    case FT_KIND_softplus:
    case FT_KIND_elu:
    case FT_KIND_selu:
    case FT_KIND_erf:
    case FT_KIND_exp:
    case FT_KIND_expm1:
    case FT_KIND_log:
    case FT_KIND_log1p:
    case FT_KIND_lgamma:
    case FT_KIND_sin:
    case FT_KIND_cos:
    case FT_KIND_tan:
    case FT_KIND_sinh:
    case FT_KIND_cosh:
    case FT_KIND_asin:
    case FT_KIND_acos:
    case FT_KIND_atan:
    case FT_KIND_asinh:
    case FT_KIND_acosh:
    case FT_KIND_atanh:
    case FT_KIND_reduce_logsumexp:
    case FT_KIND_softmax:
    case FT_KIND_logsoftmax:
    case FT_KIND_cross_entropy: return true;
    default: return false;
    }
}

static double transcendentals(const ft_op *op, double results)
{
    switch (op->kind) {
    case FT_KIND_attention:
        return (double)(ft_op_at(op, FT_K_x, 0) * ft_op_at(op, FT_K_x, 1) *
                        ft_op_at(op, FT_K_x, 2) * ft_op_at(op, FT_K_y, 2));
    case FT_KIND_lstm: return is_backward(op) ? 0 : 5 * state_elements(op);
    case FT_KIND_gru: return is_backward(op) ? 0 : 3 * state_elements(op);
    case FT_KIND_rnn: return is_backward(op) ? 0 : state_elements(op);
    case FT_KIND_pow:
    case FT_KIND_atan2: return is_backward(op) ? 0 : results;
    default: break;
    }
    /* What is saved as a result needs no function again, but for logarithms. */
    if (is_backward(op) && ft_kind_saves(op->kind) & FT_SAVE_OUT &&
        op->kind != FT_KIND_logsoftmax && op->kind != FT_KIND_cross_entropy &&
        op->kind != FT_KIND_reduce_logsumexp)
        return 0;
    return is_transcendental(op->kind) ? elements(op, FT_K_x) : 0;
}

double ft_product_flops(const ft_product *p)
{
    ft_op forward = ft__forward_of(&p->op);

    return flops(&forward, results_of(&forward).elements) * (double)p->count;
}

/* In their own dtype, and a scale for every block of them, of fp4 a byte (NVFP4; OCP
 * Microscaling Formats 1.0). The bias of integer operands is added to sums of 32 bits.
 */
static double weight_bytes(const ft_op *op, double all)
{
    int64_t own = ft_op_at(op, FT_K_weights, 0), block = ft_op_at(op, FT_K_block, 0);
    const ft_dtype type = own ? (ft_dtype)own : op->dtype;
    uint32_t bits = ft_dtype_bits(op->dtype);
    double out = (double)ft_op_at(op, FT_K_out, 0), sum, scales = 0;
    double bias = (double)ft_op_at(op, FT_K_bias, 0) * out;

    if (block > 0 && (op->kind == FT_KIND_moe || op->kind == FT_KIND_embedding))
        scales = all / (double)block;
    else if (block > 0)
        scales = ceil(ft__last_dim(op, FT_K_x) / (double)block) * out;
    sum =
        (all - bias) * ft_dtype_bits(type) + scales * (type == FT_DTYPE_fp4 ? 8 : bits);
    return (sum + bias * (ft__dtype_is_byte(op->dtype) ? 32 : bits)) / 8;
}

/* Backward, weights are read where the gradient of an operand needs them. */
static double weights_read(const ft_op *op, double bytes)
{
    if (op->kind == FT_KIND_moe)
        bytes *= ft__experts_used(op);
    if (op->phase != FT_PHASE_BACKWARD)
        return bytes;
    return op->kind != FT_KIND_embedding && ft_op_wrt(op) & FT_WRT_X ? bytes : 0;
}

void ft__weights_of(double *elements, double *bytes, const ft_op *op)
{
    *elements = ft__weight_elements(op);
    *bytes = *elements > 0 ? weight_bytes(op, *elements) : 0;
}

double ft__weights_read(const ft_op *op)
{
    double elements, bytes;

    ft__weights_of(&elements, &bytes, op);
    return weights_read(op, bytes);
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
        if (i < 2 || op->kind != FT_KIND_attention || !ft_op_at(op, FT_K_shared, 0))
            sum += (double)ft_tensor_bytes(&s, t);
    }
    return sum;
}

/* The share of the data that each of n devices sends and receives: of a ring that
 * reduces 2 (n - 1) / n. */
static double ring(const ft_op *op)
{
    double ranks = (double)ft_op_at(op, FT_K_ranks, 0);

    if (op->kind != FT_KIND_collective || ft_op_at(op, FT_K_mode, 0) == 2)
        return 1;
    return (ft_op_at(op, FT_K_mode, 0) ? 1 : 2) * (ranks - 1) / ranks;
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

/* Of one moment of Adam. */
static double state_bytes(const ft_op *op)
{
    const int64_t own = ft_op_at(op, FT_K_weights, 0);

    return elements(op, FT_K_x) * ft_dtype_bits(own ? (ft_dtype)own : op->dtype) / 8;
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
    case FT_KIND_adamw: return 2 * sum + 2 * state_bytes(op);
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
    case FT_KIND_adamw: return sum + 2 * state_bytes(op);
    default: return sum;
    }
}

void ft_op_cost(const ft_op *op, ft_cost *out)
{
    struct results results;

    *out = (ft_cost){0};
    if (ft_kind_class(op->kind) == FT_CLASS_VIEW ||
        (op->kind == FT_KIND_stochastic_depth && !ft_op_at(op, FT_K_train, 0)))
        return;
    ft__weights_of(&out->weight_elements, &out->weight_bytes, op);
    results = results_of(op);
    out->flops = flops(op, results.elements);
    out->transcendentals = transcendentals(op, results.elements);
    out->bytes_read = bytes_read(op, out->weight_bytes, results.elements);
    out->bytes_written = bytes_written(op, results.bytes);
}

static void count_totals(const ft_graph *g, ft_totals *out)
{
    double flops[FT_DTYPE_COUNT] = {0};

    *out = (ft_totals){.dtype = g->n_ops ? g->op[0].dtype : FT_DTYPE_fp32};
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const double count = (double)g->op_count[i];
        const ft_dtype of = g->op[i].dtype;
        ft_cost c;

        ft_op_cost(&g->op[i], &c);
        out->flops += count * c.flops;
        out->bytes_read += count * c.bytes_read;
        out->bytes_written += count * c.bytes_written;
        flops[of] += count * c.flops;
        if (flops[of] > flops[out->dtype])
            out->dtype = of;
    }
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        if (t->role != FT_ROLE_WEIGHT || t->storage != i)
            continue;
        if (t->dtype != FT_DTYPE_fp8e8m0) /* scales of others */
            out->parameters += t->copies * (double)ft_shape_elements(&t->shape);
        out->weight_bytes += t->copies * (double)ft_tensor_bytes(&t->shape, t->dtype);
    }
}

void ft_graph_totals(const ft_graph *g, ft_totals *out)
{
    ft__graph_found *f = ft__graph_found_of(g);

    if (f && ft__found_is(&f->totals_state)) {
        *out = f->totals;
        return;
    }
    count_totals(g, out);
    if (f && ft__found_first(&f->totals_state)) {
        f->totals = *out;
        ft__found_done(&f->totals_state);
    }
}

ft_dtype ft__graph_dtype(const ft_graph *g)
{
    ft_totals t;

    ft_graph_totals(g, &t);
    return t.dtype;
}
