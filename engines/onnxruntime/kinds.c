/* Which ONNX operators an operation is: a recipe each kind, and what has to be made
 * ready for it. */
#include <stddef.h>
#include <string.h>

#include "node.h"
#include "ort.h"
#include "random.h"

#define WINDOW " kernel_shape=*kernel strides=*stride pads=*pad"
#define CONV(type) type " i0 w0 w1? > o0 dilations=*dilation group=$groups" WINDOW
#define POOL(type) type " i0 > o0 ceil_mode=$ceil dilations=*dilation" WINDOW

static const char conv[] = CONV("Conv");
static const char conv_transpose[] = CONV("ConvTranspose") " output_padding=*outpad";
static const char deform_conv[] =
    "DeformConv i0 w0 i1 w1? > o0 dilations=*dilation group=$groups" WINDOW;
static const char resize[] =
    "Resize i0 - - @out > o0 coordinate_transformation_mode=half_pixel"
    " nearest_mode=round_prefer_ceil cubic_coeff_a=-0.75";
static const char max_pool[] = POOL("MaxPool");
static const char average_pool[] = POOL("AveragePool");

static const char *const recipes[FT_KIND_COUNT] = {
    [FT_KIND_relu] = "Relu i0 > o0",
    [FT_KIND_sigmoid] = "Sigmoid i0 > o0",
    [FT_KIND_leaky_relu] = "LeakyRelu i0 > o0",
    [FT_KIND_elu] = "Elu i0 > o0",
    [FT_KIND_selu] = "Selu i0 > o0",
    [FT_KIND_tanh] = "Tanh i0 > o0",
    [FT_KIND_silu] = "Sigmoid i0 > t0|Mul i0 t0 > o0",
    [FT_KIND_hardswish] = "HardSwish i0 > o0",
    [FT_KIND_gelu] = "Gelu i0 > o0",
    [FT_KIND_mish] = "Mish i0 > o0",
    [FT_KIND_softplus] = "Softplus i0 > o0",
    [FT_KIND_softsign] = "Softsign i0 > o0",
    [FT_KIND_erf] = "Erf i0 > o0",
    [FT_KIND_exp] = "Exp i0 > o0",
    [FT_KIND_log] = "Log i0 > o0",
    [FT_KIND_sqrt] = "Sqrt i0 > o0",
    [FT_KIND_abs] = "Abs i0 > o0",
    [FT_KIND_neg] = "Neg i0 > o0",
    [FT_KIND_sign] = "Sign i0 > o0",
    [FT_KIND_reciprocal] = "Reciprocal i0 > o0",
    [FT_KIND_floor] = "Floor i0 > o0",
    [FT_KIND_ceil] = "Ceil i0 > o0",
    [FT_KIND_round] = "Round i0 > o0",
    [FT_KIND_sin] = "Sin i0 > o0",
    [FT_KIND_cos] = "Cos i0 > o0",
    [FT_KIND_tan] = "Tan i0 > o0",
    [FT_KIND_sinh] = "Sinh i0 > o0",
    [FT_KIND_cosh] = "Cosh i0 > o0",
    [FT_KIND_asin] = "Asin i0 > o0",
    [FT_KIND_acos] = "Acos i0 > o0",
    [FT_KIND_atan] = "Atan i0 > o0",
    [FT_KIND_asinh] = "Asinh i0 > o0",
    [FT_KIND_acosh] = "Acosh i0 > o0",
    [FT_KIND_atanh] = "Atanh i0 > o0",
    [FT_KIND_rsqrt] = "Sqrt i0 > t0|Reciprocal t0 > o0",
    [FT_KIND_expm1] = "Exp i0 > t0|Sub t0 #1 > o0",
    [FT_KIND_log1p] = "Add i0 #1 > t0|Log t0 > o0",
    [FT_KIND_bitwise_not] = "BitwiseNot i0 > o0",
    [FT_KIND_logical_not] = "Not i0 > o0",
    [FT_KIND_isnan] = "IsNaN i0 > o0",
    [FT_KIND_isinf] = "IsInf i0 > o0",
    [FT_KIND_add] = "Add i0 i1 > o0",
    [FT_KIND_sub] = "Sub i0 i1 > o0",
    [FT_KIND_mul] = "Mul i0 i1 > o0",
    [FT_KIND_div] = "Div i0 i1 > o0",
    [FT_KIND_pow] = "Pow i0 i1 > o0",
    [FT_KIND_minimum] = "Min i0 i1 > o0",
    [FT_KIND_maximum] = "Max i0 i1 > o0",
    [FT_KIND_prelu] = "PRelu i0 i1 > o0",
    [FT_KIND_bitwise] = "BitwiseAnd i0 i1 > o0",
    [FT_KIND_equal] = "Equal i0 i1 > o0",
    [FT_KIND_less] = "Less i0 i1 > o0",
    [FT_KIND_less_equal] = "LessOrEqual i0 i1 > o0",
    [FT_KIND_greater] = "Greater i0 i1 > o0",
    [FT_KIND_greater_equal] = "GreaterOrEqual i0 i1 > o0",
    [FT_KIND_logical_and] = "And i0 i1 > o0",
    [FT_KIND_logical_or] = "Or i0 i1 > o0",
    [FT_KIND_logical_xor] = "Xor i0 i1 > o0",
    [FT_KIND_where] = "Where i0 i1 i2 > o0",
    [FT_KIND_matmul] = "MatMul i0 i1 > o0",
    [FT_KIND_global_avgpool] = "GlobalAveragePool i0 > o0",
    [FT_KIND_global_maxpool] = "GlobalMaxPool i0 > o0",
    [FT_KIND_copy] = "Identity i0 > o0",
    [FT_KIND_det] = "Det i0 > o0",
    [FT_KIND_conv1d] = conv,
    [FT_KIND_conv2d] = conv,
    [FT_KIND_conv3d] = conv,
    [FT_KIND_conv_transpose1d] = conv_transpose,
    [FT_KIND_conv_transpose2d] = conv_transpose,
    [FT_KIND_conv_transpose3d] = conv_transpose,
    [FT_KIND_deform_conv2d] = deform_conv,
    [FT_KIND_maxpool1d] = max_pool,
    [FT_KIND_maxpool2d] = max_pool,
    [FT_KIND_maxpool3d] = max_pool,
    [FT_KIND_avgpool1d] = average_pool,
    [FT_KIND_avgpool2d] = average_pool,
    [FT_KIND_avgpool3d] = average_pool,
    [FT_KIND_batchnorm] = "BatchNormalization i0 w0 w1 w2 w3 > o0 epsilon=0.00001",
    [FT_KIND_layernorm] =
        "LayerNormalization i0 w0 w1 > o0 axis=-$norm epsilon=0.00001",
    [FT_KIND_rmsnorm] =
        "SimplifiedLayerNormalization i0 w0 > o0 axis=-$norm epsilon=0.00001",
    [FT_KIND_groupnorm] =
        "GroupNormalization i0 w0 w1 > o0 num_groups=$groups epsilon=0.00001",
    [FT_KIND_instancenorm] = "InstanceNormalization i0 w0 w1 > o0 epsilon=0.00001",
    [FT_KIND_lrn] = "LRN i0 > o0 size=$size alpha=0.0001 beta=0.75 bias=1.",
    [FT_KIND_l2norm] = "LpNormalization i0 > o0 axis=$axis",
    [FT_KIND_softmax] = "Softmax i0 > o0 axis=$axis",
    [FT_KIND_logsoftmax] = "LogSoftmax i0 > o0 axis=$axis",
    [FT_KIND_hardmax] = "Hardmax i0 > o0 axis=$axis",
    [FT_KIND_reduce_mean] = "ReduceMean i0 @axes > o0 keepdims=$keep",
    [FT_KIND_reduce_sum] = "ReduceSum i0 @axes > o0 keepdims=$keep",
    [FT_KIND_reduce_max] = "ReduceMax i0 @axes > o0 keepdims=$keep",
    [FT_KIND_reduce_min] = "ReduceMin i0 @axes > o0 keepdims=$keep",
    [FT_KIND_reduce_prod] = "ReduceProd i0 @axes > o0 keepdims=$keep",
    [FT_KIND_reduce_l1] = "ReduceL1 i0 @axes > o0 keepdims=$keep",
    [FT_KIND_reduce_l2] = "ReduceL2 i0 @axes > o0 keepdims=$keep",
    [FT_KIND_reduce_logsumexp] = "ReduceLogSumExp i0 @axes > o0 keepdims=$keep",
    [FT_KIND_mse_loss] = "Sub i0 i1 > t0|Mul t0 t0 > t1|ReduceMean t1 > o0 keepdims=0",
    [FT_KIND_argmax] = "ArgMax i0 > o0 axis=$axes keepdims=$keep",
    [FT_KIND_argmin] = "ArgMin i0 > o0 axis=$axes keepdims=$keep",
    [FT_KIND_cumsum] = "CumSum i0 $axis > o0",
    [FT_KIND_topk] = "TopK i0 @size > o0 o1 axis=$axis",
    [FT_KIND_fft] = "DFT i0 $size last > o0",
    [FT_KIND_clip] = "Clip i0 #0 #6 > o0",
    [FT_KIND_gelu_tanh] = "Gelu i0 > o0 approximate=tanh",
    [FT_KIND_hardsigmoid] = "HardSigmoid i0 > o0 alpha=0.2",
    [FT_KIND_thresholded_relu] = "ThresholdedRelu i0 > o0 alpha=1.",
    [FT_KIND_shrink] = "Shrink i0 > o0 lambd=0.5",
    [FT_KIND_mod] = "Mod i0 i1 > o0",
    [FT_KIND_cast] = "Cast i0 > o0",
    [FT_KIND_quantize] = "QuantizeLinear i0 scale zero > o0",
    [FT_KIND_dequantize] = "DequantizeLinear i0 scale zero > o0",
    [FT_KIND_attention] = "Attention i0 i1 i2 mask > o0 is_causal=$causal",
    [FT_KIND_rotary] = "RotaryEmbedding i0 cos sin > o0",
    [FT_KIND_transpose] = "Transpose i0 > o0 perm=@perm",
    [FT_KIND_concat] = "Concat i* > o0 axis=$axis",
    [FT_KIND_split] = "Split i0 @sizes > o* axis=$axis",
    [FT_KIND_slice] = "Slice i0 starts ends axes steps > o0",
    [FT_KIND_pad] = "Pad i0 pads > o0",
    [FT_KIND_expand] = "Expand i0 @out > o0",
    [FT_KIND_tile] = "Tile i0 repeats > o0",
    [FT_KIND_resize] = resize,
    [FT_KIND_depth_to_space] = "DepthToSpace i0 > o0",
    [FT_KIND_space_to_depth] = "SpaceToDepth i0 > o0",
    [FT_KIND_gather] = "Gather i0 i1 > o0 axis=$axis",
    [FT_KIND_gather_elements] = "GatherElements i0 i1 > o0 axis=$axis",
    [FT_KIND_embedding] = "Gather w0 i0 > o0",
    [FT_KIND_scatter] = "ScatterElements i0 indices i1 > o0",
    [FT_KIND_one_hot] = "OneHot i0 depth values > o0",
    [FT_KIND_grid_sample] = "GridSample i0 i1 > o0",
    [FT_KIND_roi_align] = "RoiAlign i0 i1 batch > o0 sampling_ratio=2",
    [FT_KIND_random] = "RandomUniform > o0 shape=@out",
    [FT_KIND_fill] = "Expand value @out > o0",
};

#define TRAINING "it is part of training, and the runtime is for inference"

/* Why a kind is not run at all. */
static const char *const refusals[FT_KIND_COUNT] = {
    [FT_KIND_atan2] = "ONNX has no such operator; exporters write a dozen others",
    [FT_KIND_lgamma] = "ONNX has no such operator",
    [FT_KIND_max_unpool] = "it needs the indices of a pooling",
    [FT_KIND_cross_entropy] = "it needs labels, and the runtime is for inference",
    [FT_KIND_dropout] = TRAINING,
    [FT_KIND_stochastic_depth] = TRAINING,
    [FT_KIND_moe] = "ONNX has no such operator",
    [FT_KIND_collective] = "it takes several devices",
    [FT_KIND_nonzero] = "the size of its result depends on data",
    [FT_KIND_nms] = "the size of its result depends on data",
    [FT_KIND_sgd] = "optimizers are part of training, the runtime is for inference",
    [FT_KIND_momentum] =
        "optimizers are part of training, the runtime is for inference",
    [FT_KIND_adam] = "optimizers are part of training, the runtime is for inference",
    [FT_KIND_adamw] = "optimizers are part of training, the runtime is for inference",
    [FT_KIND_view] = "a view costs nothing",
    [FT_KIND_generic] = "nobody knows what it computes",
};

static int64_t at(const ft__model *m, ft_key_id key)
{
    return ft_op_at(m->op, key, 0);
}

static bool is_eight_bits(ft_dtype t)
{
    return t == FT_DTYPE_int8 || t == FT_DTYPE_uint8;
}

static void const_zeros(ft__model *m, const char *name, ft_dtype t, const ft_shape *s)
{
    void *to = ft__const_raw(m, name, t, s);

    if (to)
        memset(to, 0, (size_t)ft_tensor_bytes(s, t));
}

static void deformable(ft__model *m)
{
    ft__attr_int(m, "offset_group",
                 m->in[1].dim[1] /
                     (2 * at(m, FT_K_kernel) * ft_op_at(m->op, FT_K_kernel, 1)));
    m->opset = 22;
}

/* Two axes: Gemm, with its bias; else a product and an addition, as exported. */
static void linear(ft__model *m)
{
    ft_shape *x = &m->in[0], *y = &m->out[0];
    bool whole = is_eight_bits(m->op->dtype);

    if (at(m, FT_K_block) ||
        (at(m, FT_K_weights) && at(m, FT_K_weights) != (int64_t)m->op->dtype)) {
        m->why = "weights packed in blocks are not written here";
        return;
    }
    if (x->rank == 1) { /* a row */
        *x = (ft_shape){.rank = 2, .dim = {1, x->dim[0]}};
        *y = (ft_shape){.rank = 2, .dim = {1, y->dim[0]}};
    }
    if (x->rank == 2 && !whole) {
        ft__weights(m);
        ft__follow(m, "Gemm i0 w0 w1? > o0 transB=1");
        return;
    }
    ft__weights_turned(m);
    if (at(m, FT_K_bias))
        ft__follow(m, whole ? "MatMulInteger i0 w0 > t0|Add t0 w1 > o0"
                            : "MatMul i0 w0 > t0|Add t0 w1 > o0");
    else
        ft__follow(m, whole ? "MatMulInteger i0 w0 > o0" : "MatMul i0 w0 > o0");
}

static void attention(ft__model *m)
{
    ft_shape mask = {.rank = 4, .dim = {1, 1, m->in[0].dim[2], m->in[1].dim[2]}};

    m->opset = 23;
    if (at(m, FT_K_train))
        m->why = TRAINING;
    else if (at(m, FT_K_mask))
        const_zeros(m, "mask", m->op->dtype, &mask);
}

static void recurrent(ft__model *m)
{
    ft__weights_recurrent(m);
    ft__attr_text(m, "direction",
                  at(m, FT_K_directions) == 2 ? "bidirectional" : "forward");
    ft__follow(
        m, m->op->kind == FT_KIND_lstm
               ? "LSTM i0 w0 w1 w2? > o0 o1 o2 hidden_size=$hidden"
           : m->op->kind == FT_KIND_gru
               ? "GRU i0 w0 w1 w2? > o0 o1 hidden_size=$hidden linear_before_reset=1"
               : "RNN i0 w0 w1 w2? > o0 o1 hidden_size=$hidden");
}

/* Angles of positions, as a table that is part of the model. */
static void rotary(ft__model *m)
{
    const ft_shape *x = &m->in[0];
    ft_shape s = {.rank = 3, .dim = {x->dim[0], x->dim[2], x->dim[3] / 2}};

    m->opset = 23;
    if (x->rank != 4 || x->dim[3] % 2) {
        m->why = "only batch x heads x length x an even size are rotated here";
        return;
    }
    const_zeros(m, "cos", m->op->dtype, &s);
    const_zeros(m, "sin", m->op->dtype, &s);
}

static void batch_norm(ft__model *m)
{
    if (at(m, FT_K_train))
        m->why = "statistics of a batch are training, and the runtime is for inference";
}

/* A last axis of one element where the operator wants three axes. */
static void channel_norm(ft__model *m)
{
    if (m->in[0].rank == 2) {
        m->in[0].dim[2] = m->out[0].dim[2] = 1;
        m->in[0].rank = m->out[0].rank = 3;
    }
}

/* Of real numbers along the last axis. */
static void fourier(ft__model *m)
{
    int64_t size = at(m, FT_K_size);
    uint32_t last = m->in[0].rank - 1;
    int64_t kept = m->out[0].dim[last];

    if (m->out[0].rank != last + 2 || last + 2 > FT_MAX_RANK ||
        m->in[0].dim[last] != size || (kept != size && kept != size / 2 + 1)) {
        m->why = "only transforms of real numbers along the last axis are written here";
        return;
    }
    m->in[0].dim[m->in[0].rank++] = 1;
    ft__const_scalar(m, "last", FT_DTYPE_int64, last);
    ft__attr_int(m, "onesided", kept != size);
}

static void cast(ft__model *m)
{
    ft__attr_int(m, "to", ft__ort_number((ft_dtype)at(m, FT_K_to)));
}

static void quantisation(ft__model *m)
{
    ft_dtype t = m->op->dtype, to = (ft_dtype)at(m, FT_K_to);
    bool forth = m->op->kind == FT_KIND_quantize;

    ft__const_scalar(m, "scale", forth ? t : to, 1.0 / 16);
    ft__const_scalar(m, "zero", forth ? to : t, 0);
}

static void repair_operand(ft__model *m, ft__repair repair, uint32_t operand)
{
    m->repair = repair;
    m->repair_operand = operand;
}

static void quotient(ft__model *m)
{
    if (!ft__is_real(m->op->dtype))
        repair_operand(m, FT__REPAIR_DIVISOR, 1);
}

static void remainder_of(ft__model *m)
{
    bool real = ft__is_real(m->op->dtype) && m->op->dtype != FT_DTYPE_bf16;

    if (!real)
        repair_operand(m, FT__REPAIR_MODULUS, 1);
    ft__attr_int(m, "fmod", real);
}

/* The result with an axis of one element for each axis of x that it lacks; false:
 * it is no part of x. */
static bool match_axes(ft__model *m)
{
    ft_shape *x = &m->in[0], out = m->out[0];
    uint32_t k = 0;

    for (uint32_t d = 0; d < x->rank; d++) {
        bool spare = x->rank - d > out.rank - k;
        bool drop = spare && (k == out.rank || out.dim[k] != x->dim[d]);

        m->out[0].dim[d] = drop ? 1 : out.dim[k];
        if (m->out[0].dim[d] > x->dim[d])
            return false;
        k += !drop;
    }
    m->out[0].rank = x->rank;
    return k == out.rank;
}

static void slice(ft__model *m)
{
    int64_t zero[FT_MAX_RANK] = {0}, end[FT_MAX_RANK] = {0}, step[FT_MAX_RANK] = {0};
    uint32_t n = m->in[0].rank;

    if (m->out[0].rank > n || !match_axes(m)) {
        m->why = "the result is no part of x";
        return;
    }
    for (uint32_t d = 0; d < n; d++) {
        int64_t last = (m->out[0].dim[d] - 1) * at(m, FT_K_step);

        step[d] = last < m->in[0].dim[d] ? at(m, FT_K_step) : 1;
        end[d] = (m->out[0].dim[d] - 1) * step[d] + 1;
    }
    ft__const_ints(m, "starts", zero, n);
    ft__const_ints(m, "ends", end, n);
    for (uint32_t d = 0; d < n; d++)
        zero[d] = d;
    ft__const_ints(m, "axes", zero, n);
    ft__const_ints(m, "steps", step, n);
}

static void pad(ft__model *m)
{
    int64_t pads[2 * FT_MAX_RANK];
    uint32_t n = m->in[0].rank;

    for (uint32_t d = 0; d < n; d++) {
        int64_t more = m->out[0].dim[d] - m->in[0].dim[d];

        pads[d] = more / 2;
        pads[n + d] = more - more / 2;
    }
    ft__const_ints(m, "pads", pads, 2 * n);
}

/* Leading axes of one element give x as many as the result has. */
static void tile(ft__model *m)
{
    ft_shape x = {.rank = m->out[0].rank};
    int64_t repeats[FT_MAX_RANK];

    for (uint32_t d = 0; d < x.rank; d++) {
        uint32_t more = x.rank - m->in[0].rank;

        x.dim[d] = d < more ? 1 : m->in[0].dim[d - more];
        repeats[d] = x.dim[d] ? m->out[0].dim[d] / x.dim[d] : 1;
    }
    m->in[0] = x;
    ft__const_ints(m, "repeats", repeats, x.rank);
}

static void set_mode(ft__model *m)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    int64_t mode = at(m, FT_K_mode);

    if (m->op->kind == FT_KIND_grid_sample)
        mode %= 3;
    if (mode < 0 || mode > 2)
        m->why = "there is no such mode";
    else
        ft__attr_text(m, "mode", modes[mode]);
}

static void blocks(ft__model *m)
{
    int64_t x = m->in[0].dim[2], y = m->out[0].dim[2];
    int64_t small = x < y ? x : y;

    ft__attr_int(m, "blocksize", small ? (x < y ? y : x) / small : 1);
}

static void pick(ft__model *m, uint32_t operand, int64_t extent)
{
    repair_operand(m, FT__REPAIR_INDEX, operand);
    m->repair_extent = extent;
    if (extent < 1)
        m->why = "there is nothing to pick from";
}

static void gather(ft__model *m)
{
    pick(m, 1, m->in[0].dim[at(m, FT_K_axis)]);
}

/* As ONNX has it, or, from PyTorch's indexing, one index for each result. */
static void gather_nd(ft__model *m)
{
    const ft_shape *x = &m->in[0], *y = &m->in[1];
    uint32_t last = y->rank ? y->rank - 1 : 0;
    int64_t depth = y->rank ? y->dim[last] : 1;
    int64_t n = depth ? ft_shape_elements(y) / depth : 0;

    for (uint32_t d = 0; d < x->rank; d++)
        n *= (int64_t)d < depth ? 1 : x->dim[d];
    if (depth <= (int64_t)x->rank && n == ft_shape_elements(&m->out[0])) {
        ft__follow(m, "GatherND i0 i1 > o0");
    } else if (ft_shape_elements(y) == ft_shape_elements(&m->out[0])) {
        m->in[0] = (ft_shape){.rank = 1, .dim = {ft_shape_elements(x)}};
        m->out[0] = *y;
        pick(m, 1, m->in[0].dim[0]);
        ft__follow(m, "Gather i0 i1 > o0 axis=0");
    } else {
        m->why = "its indices do not fit its result";
    }
}

static void embedding(ft__model *m)
{
    pick(m, 0, at(m, FT_K_rows));
}

/* Indices that are part of the model: each update goes to its own place along the
 * last axis. */
static void scatter(ft__model *m)
{
    const ft_shape *y = &m->in[1];
    uint32_t last = y->rank ? y->rank - 1 : 0;
    int64_t n = ft_shape_elements(y);
    unsigned char *to;

    for (uint32_t d = 0; d < y->rank; d++)
        if (y->rank != m->in[0].rank || y->dim[d] > m->in[0].dim[d]) {
            m->why = "updates of other ranks are not written here";
            return;
        }
    to = ft__const_raw(m, "indices", FT_DTYPE_int64, y);
    for (int64_t i = 0; i < n && to; i++) {
        int64_t index = y->rank ? i % y->dim[last] : 0;

        memcpy(to + (size_t)i * sizeof(index), &index, sizeof(index));
    }
    ft__attr_int(m, "axis", last);
}

static void one_hot(ft__model *m)
{
    static const double off_on[] = {0, 1};

    ft__const_scalar(m, "depth", m->in_type[0],
                     (double)m->out[0].dim[m->out[0].rank - 1]);
    ft__const_numbers(m, "values", m->op->dtype, off_on, 2);
}

static void roi_align(ft__model *m)
{
    ft_shape boxes = {.rank = 1, .dim = {m->in[1].dim[0]}};

    const_zeros(m, "batch", FT_DTYPE_int64, &boxes);
    ft__attr_int(m, "output_height", m->out[0].dim[2]);
    ft__attr_int(m, "output_width", m->out[0].dim[3]);
}

/* Of a shape that stands in the model: the runtime fills it in beforehand, and
 * copies it out in every run. */
static void fill(ft__model *m)
{
    ft_shape one = {.rank = 1, .dim = {1}};

    const_zeros(m, "value", m->op->dtype, &one);
}

/* What a recipe needs besides: constants, attributes that depend on shapes, repairs. A
 * kind without a recipe writes its nodes itself. */
static void (*const make_ready[FT_KIND_COUNT])(ft__model *m) = {
    [FT_KIND_deform_conv2d] = deformable,
    [FT_KIND_linear] = linear,
    [FT_KIND_attention] = attention,
    [FT_KIND_rnn] = recurrent,
    [FT_KIND_gru] = recurrent,
    [FT_KIND_lstm] = recurrent,
    [FT_KIND_rotary] = rotary,
    [FT_KIND_batchnorm] = batch_norm,
    [FT_KIND_groupnorm] = channel_norm,
    [FT_KIND_instancenorm] = channel_norm,
    [FT_KIND_fft] = fourier,
    [FT_KIND_cast] = cast,
    [FT_KIND_quantize] = quantisation,
    [FT_KIND_dequantize] = quantisation,
    [FT_KIND_div] = quotient,
    [FT_KIND_mod] = remainder_of,
    [FT_KIND_slice] = slice,
    [FT_KIND_pad] = pad,
    [FT_KIND_tile] = tile,
    [FT_KIND_resize] = set_mode,
    [FT_KIND_grid_sample] = set_mode,
    [FT_KIND_depth_to_space] = blocks,
    [FT_KIND_space_to_depth] = blocks,
    [FT_KIND_gather] = gather,
    [FT_KIND_gather_elements] = gather,
    [FT_KIND_gather_nd] = gather_nd,
    [FT_KIND_embedding] = embedding,
    [FT_KIND_scatter] = scatter,
    [FT_KIND_one_hot] = one_hot,
    [FT_KIND_roi_align] = roi_align,
    [FT_KIND_fill] = fill,
};

/* Another recipe where the runtime has the usual one for other types only: whole
 * numbers have no Relu, booleans are not bits, a choice of booleans is one of bytes,
 * and products of bytes give whole numbers. */
static const char *recipe_of(ft__model *m)
{
    const ft_op *op = m->op;
    bool boolean = op->dtype == FT_DTYPE_bool, bytes = is_eight_bits(op->dtype);

    switch (op->kind) {
    case FT_KIND_relu:
        if (!ft__is_real(op->dtype))
            return "Max i0 #0 > o0";
        break;
    case FT_KIND_bitwise:
        if (boolean)
            return recipes[FT_KIND_logical_and];
        break;
    case FT_KIND_bitwise_not:
        if (boolean)
            return recipes[FT_KIND_logical_not];
        break;
    case FT_KIND_where:
        if (boolean)
            m->in_type[1] = m->in_type[2] = m->out_type[0] = FT_DTYPE_uint8;
        break;
    case FT_KIND_matmul:
        if (at(m, FT_K_order))
            m->why = "ONNX has no transposed operands";
        if (bytes)
            return "MatMulInteger i0 i1 > o0";
        break;
    case FT_KIND_attention:
        if (!at(m, FT_K_mask))
            return "Attention i0 i1 i2 > o0 is_causal=$causal";
        break;
    case FT_KIND_conv1d:
    case FT_KIND_conv2d:
    case FT_KIND_conv3d:
        if (bytes && at(m, FT_K_bias))
            m->why = "eight-bit convolutions have no bias in ONNX";
        if (bytes)
            return CONV("ConvInteger");
        break;
    default: break;
    }
    return recipes[op->kind];
}

void ft__write_nodes(ft__model *m)
{
    ft_kind k = m->op->kind;
    const char *recipe = recipe_of(m);

    if (refusals[k])
        m->why = refusals[k];
    else if (!recipe && !make_ready[k])
        m->why = "ONNX has no such operator";
    if (!m->why && make_ready[k])
        make_ready[k](m);
    if (m->why || !recipe)
        return;
    ft__weights(m);
    ft__follow(m, recipe);
}
