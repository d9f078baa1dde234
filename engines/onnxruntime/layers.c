/* Layers: operators with weights, windows, axes or statistics. */
#include <math.h>
#include <string.h>

#include "node.h"
#include "ort.h"

static int64_t at(const ft__model *m, ft_key_id key, uint32_t i)
{
    return ft_op_at(m->op, key, i);
}

static uint32_t rank(const ft__model *m)
{
    return m->in[0].rank;
}

/* ---- windows ---- */

static void per_axis(ft__model *m, const char *name, ft_key_id key)
{
    int64_t v[FT_MAX_RANK] = {0};
    uint32_t axes = rank(m) - 2;

    for (uint32_t i = 0; i < axes; i++)
        v[i] = at(m, key, i);
    ft__attr_ints(m, name, v, axes);
}

static void window(ft__model *m)
{
    int64_t pads[2 * FT_MAX_RANK] = {0};
    uint32_t axes = rank(m) - 2;

    per_axis(m, "kernel_shape", FT_K_kernel);
    per_axis(m, "strides", FT_K_stride);
    for (uint32_t i = 0; i < axes; i++)
        ft_op_pad(m->op, i, &pads[i], &pads[axes + i]);
    ft__attr_ints(m, "pads", pads, 2 * axes);
}

static bool is_eight_bits(ft_dtype t)
{
    return t == FT_DTYPE_int8 || t == FT_DTYPE_uint8;
}

static bool has_bias(const ft__model *m)
{
    return at(m, FT_K_bias, 0) != 0;
}

static void convolution(ft__model *m, const char *type)
{
    bool whole = is_eight_bits(m->op->dtype);

    ft__weights(m);
    window(m);
    per_axis(m, "dilations", FT_K_dilation);
    ft__attr_int(m, "group", at(m, FT_K_groups, 0));
    if (whole && has_bias(m))
        m->why = "eight-bit convolutions have no bias in ONNX";
    if (m->op->kind >= FT_KIND_conv_transpose1d &&
        m->op->kind <= FT_KIND_conv_transpose3d)
        per_axis(m, "output_padding", FT_K_outpad);
    ft__node(m, whole ? "ConvInteger" : type, has_bias(m) ? "i0 w0 w1" : "i0 w0", "o0");
}

static void deformable(ft__model *m)
{
    ft__weights(m);
    window(m);
    per_axis(m, "dilations", FT_K_dilation);
    ft__attr_int(m, "group", at(m, FT_K_groups, 0));
    ft__attr_int(m, "offset_group",
                 m->in[1].dim[1] / (2 * at(m, FT_K_kernel, 0) * at(m, FT_K_kernel, 1)));
    m->opset = 22;
    ft__node(m, "DeformConv", has_bias(m) ? "i0 w0 i1 w1" : "i0 w0 i1", "o0");
}

static void pooling(ft__model *m, const char *type)
{
    window(m);
    ft__attr_int(m, "ceil_mode", at(m, FT_K_ceil, 0));
    per_axis(m, "dilations", FT_K_dilation);
    ft__node(m, type, "i0", "o0");
}

/* ---- products ---- */

/* Two axes: Gemm, with its bias; else a product and an addition, as exported. */
static void linear(ft__model *m)
{
    if (at(m, FT_K_block, 0) ||
        (at(m, FT_K_weights, 0) && at(m, FT_K_weights, 0) != (int64_t)m->op->dtype)) {
        m->why = "weights packed in blocks are not written here";
        return;
    }
    if (rank(m) == 1) { /* a row */
        m->in[0] = (ft_shape){.rank = 2, .dim = {1, m->in[0].dim[0]}};
        m->out[0] = (ft_shape){.rank = 2, .dim = {1, m->out[0].dim[0]}};
    }
    if (rank(m) == 2 && !is_eight_bits(m->op->dtype)) {
        ft__weights(m);
        ft__attr_int(m, "transB", 1);
        ft__node(m, "Gemm", has_bias(m) ? "i0 w0 w1" : "i0 w0", "o0");
        return;
    }
    ft__weights_turned(m);
    ft__node(m, is_eight_bits(m->op->dtype) ? "MatMulInteger" : "MatMul", "i0 w0",
             has_bias(m) ? "t0" : "o0");
    if (has_bias(m))
        ft__node(m, "Add", "t0 w1", "o0");
}

static void attention(ft__model *m)
{
    int64_t mask[4] = {1, 1, m->in[0].dim[2], m->in[1].dim[2]};
    ft_shape s = {.rank = 4};

    m->opset = 23;
    ft__attr_int(m, "is_causal", at(m, FT_K_causal, 0));
    if (at(m, FT_K_train, 0)) {
        m->why = "it is part of training, and the runtime is for inference";
    } else if (at(m, FT_K_mask, 0)) {
        void *to;

        memcpy(s.dim, mask, sizeof(mask));
        to = ft__const_raw(m, "mask", m->op->dtype, &s);
        if (to)
            memset(to, 0, (size_t)ft_tensor_bytes(&s, m->op->dtype));
        ft__node(m, "Attention", "i0 i1 i2 mask", "o0");
    } else {
        ft__node(m, "Attention", "i0 i1 i2", "o0");
    }
}

static void recurrent(ft__model *m, const char *type)
{
    ft__weights_recurrent(m);
    ft__attr_int(m, "hidden_size", at(m, FT_K_hidden, 0));
    ft__attr_text(m, "direction",
                  at(m, FT_K_directions, 0) == 2 ? "bidirectional" : "forward");
    if (m->op->kind == FT_KIND_gru)
        ft__attr_int(m, "linear_before_reset", 1);
    ft__node(m, type, has_bias(m) ? "i0 w0 w1 w2" : "i0 w0 w1",
             m->op->kind == FT_KIND_lstm ? "o0 o1 o2" : "o0 o1");
}

/* Angles of positions, as a table that is part of the model. */
static void rotary(ft__model *m)
{
    ft_shape s = {.rank = 3};
    void *c, *sine;

    if (rank(m) != 4 || m->in[0].dim[3] % 2) {
        m->why = "only batch x heads x length x an even size are rotated here";
        return;
    }
    s.dim[0] = m->in[0].dim[0];
    s.dim[1] = m->in[0].dim[2];
    s.dim[2] = m->in[0].dim[3] / 2;
    c = ft__const_raw(m, "cos", m->op->dtype, &s);
    if (c)
        memset(c, 0, (size_t)ft_tensor_bytes(&s, m->op->dtype));
    sine = ft__const_raw(m, "sin", m->op->dtype, &s);
    if (sine)
        memset(sine, 0, (size_t)ft_tensor_bytes(&s, m->op->dtype));
    m->opset = 23;
    ft__node(m, "RotaryEmbedding", "i0 cos sin", "o0");
}

/* ---- norms ---- */

/* A last axis of one element where the operator wants three axes. */
static void lift(ft__model *m)
{
    if (rank(m) == 2) {
        m->in[0].dim[2] = m->out[0].dim[2] = 1;
        m->in[0].rank = m->out[0].rank = 3;
    }
}

static void norm(ft__model *m, const char *type, const char *inputs)
{
    ft__weights(m);
    ft__attr_float(m, "epsilon", 1e-5f);
    ft__node(m, type, inputs, "o0");
}

static void row_norm(ft__model *m, const char *type, const char *inputs)
{
    ft__attr_int(m, "axis", -at(m, FT_K_norm, 0));
    norm(m, type, inputs);
}

static void batch_norm(ft__model *m)
{
    if (at(m, FT_K_train, 0)) {
        m->why = "statistics of a batch are training, and the runtime is for inference";
        return;
    }
    norm(m, "BatchNormalization", "i0 w0 w1 w2 w3");
}

static void group_norm(ft__model *m)
{
    lift(m);
    ft__attr_int(m, "num_groups", at(m, FT_K_groups, 0));
    norm(m, "GroupNormalization", "i0 w0 w1");
}

static void instance_norm(ft__model *m)
{
    lift(m);
    norm(m, "InstanceNormalization", "i0 w0 w1");
}

static void local_norm(ft__model *m)
{
    ft__attr_int(m, "size", at(m, FT_K_size, 0));
    ft__attr_float(m, "alpha", 1e-4f);
    ft__attr_float(m, "beta", 0.75f);
    ft__attr_float(m, "bias", 1);
    ft__node(m, "LRN", "i0", "o0");
}

static void along_axis(ft__model *m, const char *type)
{
    ft__attr_int(m, "axis", at(m, FT_K_axis, 0));
    ft__node(m, type, "i0", "o0");
}

/* ---- reductions ---- */

static void reduction(ft__model *m, const char *type)
{
    uint32_t n;
    const int64_t *axes = ft_op_get(m->op, FT_K_axes, &n);

    ft__const_ints(m, "axes", axes, n);
    ft__attr_int(m, "keepdims", at(m, FT_K_keep, 0));
    ft__node(m, type, "i0 axes", "o0");
}

static void mean_square(ft__model *m)
{
    ft__node(m, "Sub", "i0 i1", "t0");
    ft__node(m, "Mul", "t0 t0", "t1");
    ft__attr_int(m, "keepdims", 0);
    ft__node(m, "ReduceMean", "t1", "o0");
}

static void extreme(ft__model *m, const char *type)
{
    ft__attr_int(m, "axis", at(m, FT_K_axes, 0));
    ft__attr_int(m, "keepdims", at(m, FT_K_keep, 0));
    ft__node(m, type, "i0", "o0");
}

static void running_sum(ft__model *m)
{
    ft__const_scalar(m, "axis", FT_DTYPE_int64, (double)at(m, FT_K_axis, 0));
    ft__node(m, "CumSum", "i0 axis", "o0");
}

static void largest(ft__model *m)
{
    int64_t k = at(m, FT_K_size, 0);

    ft__const_ints(m, "k", &k, 1);
    ft__attr_int(m, "axis", at(m, FT_K_axis, 0));
    ft__node(m, "TopK", "i0 k", "o0 o1");
}

/* Of real numbers along the last axis. */
static void fourier(ft__model *m)
{
    int64_t size = at(m, FT_K_size, 0), last = m->in[0].dim[rank(m) - 1];
    uint32_t r = rank(m);

    if (m->out[0].rank != r + 1 || r + 1 > FT_MAX_RANK || last != size ||
        (m->out[0].dim[r - 1] != size && m->out[0].dim[r - 1] != size / 2 + 1)) {
        m->why = "only transforms of real numbers along the last axis are written here";
        return;
    }
    m->in[0].dim[m->in[0].rank++] = 1;
    ft__const_scalar(m, "length", FT_DTYPE_int64, (double)size);
    ft__const_scalar(m, "axis", FT_DTYPE_int64, (double)r - 1);
    ft__attr_int(m, "onesided", m->out[0].dim[r - 1] != size);
    ft__node(m, "DFT", "i0 length axis", "o0");
}

/* ---- activations with attributes, and types ---- */

static void clip(ft__model *m)
{
    ft__const_scalar(m, "least", m->op->dtype, 0);
    ft__const_scalar(m, "most", m->op->dtype, 6);
    ft__node(m, "Clip", "i0 least most", "o0");
}

static void quantisation(ft__model *m, const char *type, ft_dtype real, ft_dtype whole)
{
    ft__const_scalar(m, "scale", real, 1.0 / 16);
    ft__const_scalar(m, "zero", whole, 0);
    ft__node(m, type, "i0 scale zero", "o0");
}

static void cast(ft__model *m)
{
    ft__attr_int(m, "to", ft__ort_number((ft_dtype)at(m, FT_K_to, 0)));
    ft__node(m, "Cast", "i0", "o0");
}

static void with_attribute(ft__model *m, const char *type, const char *name,
                           double value)
{
    ft__attr_float(m, name, (float)value);
    ft__node(m, type, "i0", "o0");
}

static void remainder_of(ft__model *m)
{
    bool real = m->op->dtype == FT_DTYPE_fp32 || m->op->dtype == FT_DTYPE_fp16 ||
                m->op->dtype == FT_DTYPE_fp64;

    if (!real) {
        m->repair = FT__REPAIR_MODULUS;
        m->repair_operand = 1;
    }
    ft__attr_int(m, "fmod", real);
    ft__node(m, "Mod", "i0 i1", "o0");
}

/* ---- the way in ---- */

static bool write_window(ft__model *m)
{
    switch (m->op->kind) {
    case FT_KIND_conv1d:
    case FT_KIND_conv2d:
    case FT_KIND_conv3d: convolution(m, "Conv"); return true;
    case FT_KIND_conv_transpose1d:
    case FT_KIND_conv_transpose2d:
    case FT_KIND_conv_transpose3d: convolution(m, "ConvTranspose"); return true;
    case FT_KIND_deform_conv2d: deformable(m); return true;
    case FT_KIND_maxpool1d:
    case FT_KIND_maxpool2d:
    case FT_KIND_maxpool3d: pooling(m, "MaxPool"); return true;
    case FT_KIND_avgpool1d:
    case FT_KIND_avgpool2d:
    case FT_KIND_avgpool3d: pooling(m, "AveragePool"); return true;
    default: return false;
    }
}

static bool write_norm(ft__model *m)
{
    switch (m->op->kind) {
    case FT_KIND_batchnorm: batch_norm(m); return true;
    case FT_KIND_layernorm: row_norm(m, "LayerNormalization", "i0 w0 w1"); return true;
    case FT_KIND_rmsnorm:
        row_norm(m, "SimplifiedLayerNormalization", "i0 w0");
        return true;
    case FT_KIND_groupnorm: group_norm(m); return true;
    case FT_KIND_instancenorm: instance_norm(m); return true;
    case FT_KIND_lrn: local_norm(m); return true;
    case FT_KIND_l2norm: along_axis(m, "LpNormalization"); return true;
    case FT_KIND_softmax: along_axis(m, "Softmax"); return true;
    case FT_KIND_logsoftmax: along_axis(m, "LogSoftmax"); return true;
    case FT_KIND_hardmax: along_axis(m, "Hardmax"); return true;
    default: return false;
    }
}

static bool write_reduction(ft__model *m)
{
    switch (m->op->kind) {
    case FT_KIND_reduce_mean: reduction(m, "ReduceMean"); return true;
    case FT_KIND_reduce_sum: reduction(m, "ReduceSum"); return true;
    case FT_KIND_reduce_max: reduction(m, "ReduceMax"); return true;
    case FT_KIND_reduce_min: reduction(m, "ReduceMin"); return true;
    case FT_KIND_reduce_prod: reduction(m, "ReduceProd"); return true;
    case FT_KIND_reduce_l1: reduction(m, "ReduceL1"); return true;
    case FT_KIND_reduce_l2: reduction(m, "ReduceL2"); return true;
    case FT_KIND_reduce_logsumexp: reduction(m, "ReduceLogSumExp"); return true;
    case FT_KIND_mse_loss: mean_square(m); return true;
    case FT_KIND_argmax: extreme(m, "ArgMax"); return true;
    case FT_KIND_argmin: extreme(m, "ArgMin"); return true;
    case FT_KIND_cumsum: running_sum(m); return true;
    case FT_KIND_topk: largest(m); return true;
    case FT_KIND_fft: fourier(m); return true;
    default: return false;
    }
}

static bool write_elementwise(ft__model *m)
{
    ft_dtype t = m->op->dtype, to = (ft_dtype)at(m, FT_K_to, 0);

    switch (m->op->kind) {
    case FT_KIND_clip: clip(m); return true;
    case FT_KIND_gelu_tanh:
        ft__attr_text(m, "approximate", "tanh");
        ft__node(m, "Gelu", "i0", "o0");
        return true;
    case FT_KIND_hardsigmoid:
        with_attribute(m, "HardSigmoid", "alpha", 0.2);
        return true;
    case FT_KIND_thresholded_relu:
        with_attribute(m, "ThresholdedRelu", "alpha", 1);
        return true;
    case FT_KIND_shrink: with_attribute(m, "Shrink", "lambd", 0.5); return true;
    case FT_KIND_mod: remainder_of(m); return true;
    case FT_KIND_cast: cast(m); return true;
    case FT_KIND_quantize: quantisation(m, "QuantizeLinear", t, to); return true;
    case FT_KIND_dequantize: quantisation(m, "DequantizeLinear", to, t); return true;
    case FT_KIND_rotary: rotary(m); return true;
    default: return false;
    }
}

bool ft__write_layer(ft__model *m)
{
    switch (m->op->kind) {
    case FT_KIND_linear: linear(m); return true;
    case FT_KIND_matmul:
        if (at(m, FT_K_order, 0)) {
            m->why = "ONNX has no transposed operands";
            return true;
        }
        if (!is_eight_bits(m->op->dtype))
            return false;
        ft__node(m, "MatMulInteger", "i0 i1", "o0");
        return true;
    case FT_KIND_attention: attention(m); return true;
    case FT_KIND_rnn: recurrent(m, "RNN"); return true;
    case FT_KIND_gru: recurrent(m, "GRU"); return true;
    case FT_KIND_lstm: recurrent(m, "LSTM"); return true;
    default:
        return write_window(m) || write_norm(m) || write_reduction(m) ||
               write_elementwise(m);
    }
}
