/* Arithmetic: elementwise, reductions, transforms and softmax, each beside its
 * gradient. */
#include <math.h>

#include "graph/op_inside.h"
#include "import/onnx/onnx.h"
#include "import/pt2/pt2.h"

static void unary(ft__pt2_node *n, ft_kind kind)
{
    ft_op op = ft__pt2_op(kind, FT_DTYPE_NONE, n->x, NULL, NULL);

    ft__pt2_emit_in(n, &op, &n->x, 1);
}

static void aten_unary(ft__pt2_node *n)
{
    unary(n, (ft_kind)n->rule->arg);
}

static void aten_gelu(ft__pt2_node *n)
{
    bool tanh = FT__IS(ft__pt2_string(n, "approximate"), "tanh");

    unary(n, tanh ? FT_KIND_gelu_tanh : FT_KIND_gelu);
}

/* A view where nothing is dropped. */
static void aten_dropout(ft__pt2_node *n)
{
    if (ft__pt2_bool(n, "train", true) && ft__pt2_float(n, "p", 0.5) > 0)
        unary(n, FT_KIND_dropout);
    else
        ft__pt2_emit_view(n, n->x, ft__pt2_out(n, 0));
}

static void binary(ft__pt2_node *n, ft_kind kind, uint32_t i, uint32_t k,
                   ft_dtype dtype)
{
    ft__pt2_value *in[2] = {ft__pt2_operand(n, i, dtype), ft__pt2_operand(n, k, dtype)};
    ft_op op = ft__pt2_op(kind, dtype, in[0], in[1], NULL);

    ft__pt2_emit_in(n, &op, in, 2);
}

static void aten_binary(ft__pt2_node *n)
{
    ft__pt2_value *out = ft__pt2_out(n, 0);

    if (out)
        binary(n, (ft_kind)n->rule->arg, 0, 1, out->dtype);
}

static void aten_pow(ft__pt2_node *n)
{
    const ft_kind kind = ft__pow_kind(ft__pt2_float(n, "exponent", NAN));

    if (kind == FT_KIND_pow)
        aten_binary(n);
    else
        unary(n, kind);
}

static ft_dtype first_dtype(const ft__pt2_node *n)
{
    for (uint32_t i = 0; i < n->n_args; i++) {
        const ft__pt2_value *v = ft__pt2_in(n, i);

        if (v && v->typed)
            return v->dtype;
    }
    return FT_DTYPE_fp32;
}

static void aten_compare(ft__pt2_node *n)
{
    binary(n, (ft_kind)n->rule->arg, 0, 1, first_dtype(n));
}

/* rsub(x, y) is y - x. */
static void aten_rsub(ft__pt2_node *n)
{
    if (ft__pt2_out(n, 0))
        binary(n, FT_KIND_sub, 1, 0, n->out[0]->dtype);
}

static void where(ft__pt2_node *n, ft__pt2_value *const in[3], ft_dtype dtype)
{
    ft_op op = ft__pt2_op(FT_KIND_where, dtype, in[0], in[1], NULL);

    if (in[2])
        ft__op_set_shape(&op, FT_K_z, &in[2]->shape);
    ft__pt2_emit_in(n, &op, in, 3);
}

/* The places, one result for every axis. */
static void find_nonzero(ft__pt2_node *n)
{
    ft__pt2_value *out = ft__pt2_out(n, 0);
    ft_op op;

    if (!out)
        return;
    op = ft__pt2_op(FT_KIND_nonzero, out->dtype, n->x, NULL, out);
    ft__pt2_emit_in(n, &op, &n->x, 1);
}

/* where(condition, x, y); with one operand it finds what is not zero. */
static void aten_where(ft__pt2_node *n)
{
    ft_dtype t = ft__pt2_out(n, 0) ? n->out[0]->dtype : FT_DTYPE_fp32;

    if (n->n_args == 1)
        find_nonzero(n);
    else if (n->n_args >= 3)
        where(n,
              (ft__pt2_value *[]){n->x, ft__pt2_operand(n, 1, t),
                                  ft__pt2_operand(n, 2, t)},
              t);
}

/* masked_fill(x, mask, value) is where(mask, value, x). */
static void aten_masked_fill(ft__pt2_node *n)
{
    ft_dtype t = ft__pt2_out(n, 0) ? n->out[0]->dtype : FT_DTYPE_fp32;

    where(n, (ft__pt2_value *[]){n->y, ft__pt2_operand(n, 2, t), n->x}, t);
}

/* addcmul(x, a, b): x + a b, and the like: three operands in one pass. */
static void aten_ternary(ft__pt2_node *n)
{
    const ft_dtype t = n->out[0]->dtype;
    ft__pt2_value *in[2] = {n->y, ft__pt2_operand(n, 2, t)};
    ft_op op = ft__pt2_op((ft_kind)n->rule->arg, t, in[0], in[1], NULL);
    ft_shape s;

    if (!in[0] || !in[1] || !ft__broadcast(&in[0]->shape, &in[1]->shape, &s))
        return;
    in[1] = ft__pt2_make(n, &op, in, 2);
    in[0] = n->x;
    op = ft__pt2_op(FT_KIND_add, t, in[0], in[1], NULL);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* A part of x, of the result's shape. */
static ft__pt2_value *part(ft__pt2_node *n, ft__pt2_value *x)
{
    ft_op op = ft__pt2_op(FT_KIND_slice, FT_DTYPE_NONE, x, NULL, n->out[0]);

    return ft__pt2_make(n, &op, &x, 1);
}

/* glu(x): one half times the sigmoid of the other. */
static void aten_glu(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {part(n, n->x)}, *gate = part(n, n->x), *out = n->out[0];
    ft_op op = ft__pt2_op(FT_KIND_sigmoid, FT_DTYPE_NONE, gate, NULL, NULL);

    in[1] = ft__pt2_make(n, &op, &gate, 1);
    op = ft__pt2_op(FT_KIND_mul, out->dtype, out, out, NULL);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* x between what is put before it and behind it; x itself where nothing is, NULL where
 * that has other sizes on other axes. */
static ft__pt2_value *extended(ft__pt2_node *n, ft__pt2_value *x, uint32_t axis)
{
    ft__pt2_value *all[3] = {ft__pt2_tensor(n, "prepend"), x,
                             ft__pt2_tensor(n, "append")},
                  *in[3];
    int64_t sizes[3];
    uint32_t count = 0;
    ft_op op;

    for (int i = 0; i < 3; i++) {
        ft_shape s = x->shape;

        if (!all[i])
            continue;
        s.dim[axis] = all[i]->shape.dim[axis];
        if (!ft_shape_equal(&s, &all[i]->shape))
            return NULL;
        in[count] = all[i];
        sizes[count++] = s.dim[axis];
    }
    if (count == 1)
        return x;
    op = ft__op_concat(x->dtype, &in[0]->shape, axis, sizes, count);
    return ft__pt2_make(n, &op, in, count);
}

/* Each element less the one before. */
static void aten_diff(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = n->out[0], *in[2];
    ft_op op = ft__pt2_op(FT_KIND_sub, out->dtype, out, out, NULL);

    if (!x->shape.rank || ft__pt2_int(n, "n", 1) != 1)
        return;
    x = extended(n, x, ft__pt2_dim(n, -1));
    in[0] = part(n, x);
    in[1] = part(n, x);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* Axes in `name` as bits; all where there are none. */
static uint32_t axes_of(ft__pt2_node *n, const char *name, uint32_t rank)
{
    int64_t v[FT_MAX_RANK], count = ft__pt2_ints(n, name, v, FT_MAX_RANK);
    uint32_t bits = 0;

    if (count <= 0 || rank == 0)
        return (1u << rank) - 1;
    for (int64_t i = 0; i < count && i < FT_MAX_RANK; i++)
        bits |= 1u << ft__pt2_axis(n, v[i], rank);
    return bits;
}

static ft_op reduction(ft_kind kind, const ft__pt2_value *x, uint32_t bits,
                       const ft__pt2_value *out)
{
    ft_op op = ft__pt2_op(kind, FT_DTYPE_NONE, x, NULL, NULL);
    int64_t axes[FT_MAX_RANK];
    uint32_t count = 0;

    for (uint32_t i = 0; i < x->shape.rank; i++)
        if (bits >> i & 1)
            axes[count++] = i;
    if (x->shape.rank == 0) /* a scalar is written as one element */
        axes[count++] = 0;
    ft__op_set(&op, FT_K_axes, axes, count);
    ft__op_set1(&op, FT_K_keep, out->shape.rank == x->shape.rank);
    return op;
}

static void aten_reduce(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    const char *name = ft__pt2_arg_of(n, "axis") ? "axis" : "dim";
    ft_op op;

    /* max(x, y) is no reduction. */
    if (x && out && n->n_args > 1 && ft__pt2_tensor(n, "other")) {
        binary(n,
               n->rule->arg == FT_KIND_reduce_max ? FT_KIND_maximum : FT_KIND_minimum,
               0, 1, out->dtype);
        return;
    }
    op = reduction((ft_kind)n->rule->arg, x, axes_of(n, name, x->shape.rank), out);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* Points of a transform: the product of the axes it runs over. */
static int64_t points(ft__pt2_node *n, const ft_shape *s)
{
    int64_t v[FT_MAX_RANK], size = 1, count = ft__pt2_ints(n, "dim", v, FT_MAX_RANK);
    bool two = n->op.n && n->op.s[n->op.n - 1] == '2';
    uint32_t last = two && s->rank > 1 ? 2 : 1;

    if (n->op.n && n->op.s[n->op.n - 1] == 'n')
        last = s->rank;
    for (int64_t i = 0; i < count && i < FT_MAX_RANK; i++)
        size *= s->dim[ft__pt2_axis(n, v[i], s->rank)];
    for (uint32_t i = 0; count <= 0 && i < last; i++)
        size *= s->dim[s->rank - 1 - i];
    return size;
}

/* The longer of what goes in and what comes out says how many points there are:
 * of real numbers half is left out. */
static void aten_fft(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    const ft_shape *longer;
    ft_op op;

    if (!x->shape.rank || out->shape.rank != x->shape.rank)
        return;
    longer = ft_shape_elements(&x->shape) > ft_shape_elements(&out->shape)
                 ? &x->shape
                 : &out->shape;
    op = ft__pt2_op(FT_KIND_fft, out->dtype, x, NULL, NULL);
    ft__op_set1(&op, FT_K_size, points(n, longer));
    ft__op_set_shape(&op, FT_K_out, &out->shape);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* Frames of n_fft points, each transformed. */
static void aten_stft(ft__pt2_node *n)
{
    ft_op op = ft__pt2_op(FT_KIND_fft, n->out[0]->dtype, n->x, NULL, NULL);

    ft__op_set1(&op, FT_K_size, ft__pt2_int(n, "n_fft", 1));
    ft__op_set_shape(&op, FT_K_out, &n->out[0]->shape);
    ft__pt2_emit_in(n, &op, &n->x, 1);
}

static void aten_softmax(ft__pt2_node *n)
{
    ft_op op = ft__pt2_op((ft_kind)n->rule->arg, FT_DTYPE_NONE, n->x, NULL, NULL);

    ft__op_set1(&op, FT_K_axis, ft__pt2_dim(n, -1));
    ft__pt2_emit_in(n, &op, &n->x, 1);
}

/* cumsum and its like; the largest so far comes with where it was. */
static void aten_cum(ft__pt2_node *n)
{
    ft_op op = ft__pt2_op(FT_KIND_cumsum, n->out[0]->dtype, n->x, NULL, NULL);

    ft__op_set1(&op, FT_K_axis, ft__pt2_dim(n, 0));
    ft__pt2_emit_in(n, &op, &n->x, 1);
}

static void aten_topk(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *first = ft__pt2_out(n, 0);
    ft__pt2_value *out[2] = {first, ft__pt2_out(n, 1)};
    uint32_t axis;
    ft_op op;

    if (x->shape.rank == 0)
        return;
    axis = ft__pt2_dim(n, -1);
    op = ft__pt2_op(FT_KIND_topk, FT_DTYPE_NONE, x, NULL, NULL);
    ft__op_set1(&op, FT_K_axis, axis);
    ft__op_set1(&op, FT_K_size,
                first->shape.rank == x->shape.rank ? first->shape.dim[axis] : 1);
    if (n->n_out == 1) { /* argsort: the indices alone */
        out[0] = NULL;
        out[1] = first;
    }
    ft__pt2_emit(n, &op, &(ft__pt2_call){.in = &x, .n_in = 1, .out = out, .n_out = 2});
}

/* arg: the kind; the operands are the result's gradient, then what was kept. */
static void aten_unary_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, NULL}, *out = ft__pt2_out(n, 0);
    uint32_t n_in = 1;
    ft_op op;

    for (uint32_t i = 1; i < n->n_args && n_in == 1; i++)
        if (ft__pt2_in(n, i) && ft__pt2_in(n, i)->typed)
            in[n_in++] = ft__pt2_in(n, i);
    op = ft__pt2_op((ft_kind)n->rule->arg, FT_DTYPE_NONE, out, NULL, NULL);
    op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, in, n_in);
}

static void aten_gelu_grad(ft__pt2_node *n)
{
    bool tanh = FT__IS(ft__pt2_string(n, "approximate"), "tanh");
    ft_op op = ft__pt2_op(tanh ? FT_KIND_gelu_tanh : FT_KIND_gelu, FT_DTYPE_NONE, n->y,
                          NULL, NULL);

    op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, (ft__pt2_value *[]){n->x, n->y}, 2);
}

static void aten_softmax_grad(ft__pt2_node *n)
{
    ft_op op = ft__pt2_op((ft_kind)n->rule->arg, FT_DTYPE_NONE, n->y, NULL, NULL);

    if (!n->y)
        return;
    ft__op_set1(&op, FT_K_axis,
                ft__pt2_axis(n, ft__pt2_int(n, "dim", -1), n->y->shape.rank));
    op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, (ft__pt2_value *[]){n->x, n->y}, 2);
}

const ft__pt2_rule ft__pt2_math_rules[] = {
    {"add", aten_binary, FT_KIND_add, FT__PT2_ANY},
    {"arctan2 atan2", aten_binary, FT_KIND_atan2, FT__PT2_ANY},
    {"__and__ __lshift__ __or__ __rshift__ __xor__ bitwise_and bitwise_left_shift "
     "bitwise_or bitwise_right_shift bitwise_xor",
     aten_binary, FT_KIND_bitwise, FT__PT2_ANY},
    {"div divide floor_divide true_divide", aten_binary, FT_KIND_div, FT__PT2_ANY},
    {"fmax maximum", aten_binary, FT_KIND_maximum, FT__PT2_ANY},
    {"fmin minimum", aten_binary, FT_KIND_minimum, FT__PT2_ANY},
    {"fmod remainder", aten_binary, FT_KIND_mod, FT__PT2_ANY},
    {"mul multiply", aten_binary, FT_KIND_mul, FT__PT2_ANY},
    {"float_power special_xlog1py special_xlogy xlogy", aten_binary, FT_KIND_pow,
     FT__PT2_ANY},
    {"pow", aten_pow, FT_KIND_pow, FT__PT2_ANY},
    {"_prelu_kernel prelu", aten_binary, FT_KIND_prelu, FT__PT2_ANY},
    {"sub subtract", aten_binary, FT_KIND_sub, FT__PT2_ANY},
    {"eq ne", aten_compare, FT_KIND_equal, FT__PT2_ANY},
    {"gt", aten_compare, FT_KIND_greater, FT__PT2_ANY},
    {"ge", aten_compare, FT_KIND_greater_equal, FT__PT2_ANY},
    {"lt", aten_compare, FT_KIND_less, FT__PT2_ANY},
    {"le", aten_compare, FT_KIND_less_equal, FT__PT2_ANY},
    {"logical_and", aten_compare, FT_KIND_logical_and, FT__PT2_ANY},
    {"logical_or", aten_compare, FT_KIND_logical_or, FT__PT2_ANY},
    {"logical_xor", aten_compare, FT_KIND_logical_xor, FT__PT2_ANY},
    {"cummax cummin cumprod cumsum logcumsumexp", aten_cum, 0, 0},
    {"diff", aten_diff, 0, 0},
    {"alpha_dropout dropout feature_alpha_dropout feature_dropout native_dropout",
     aten_dropout, 0, 0},
    {"_fft_c2c _fft_c2r _fft_r2c fft_fft fft_fft2 fft_fftn fft_ifft fft_ifft2 "
     "fft_ifftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn",
     aten_fft, 0, 0},
    {"gelu", aten_gelu, 0, 0},
    {"gelu_backward", aten_gelu_grad, 0, 0},
    {"glu", aten_glu, 0, 0},
    {"masked_fill", aten_masked_fill, 0, 0},
    {"argmax", aten_reduce, FT_KIND_argmax, 0},
    {"argmin", aten_reduce, FT_KIND_argmin, 0},
    {"frobenius_norm linalg_vector_norm norm std std_mean var var_mean", aten_reduce,
     FT_KIND_reduce_l2, 0},
    {"logsumexp", aten_reduce, FT_KIND_reduce_logsumexp, 0},
    {"amax any max", aten_reduce, FT_KIND_reduce_max, 0},
    {"mean nanmean", aten_reduce, FT_KIND_reduce_mean, 0},
    {"all amin min", aten_reduce, FT_KIND_reduce_min, 0},
    {"prod", aten_reduce, FT_KIND_reduce_prod, 0},
    {"count_nonzero nansum sum", aten_reduce, FT_KIND_reduce_sum, 0},
    {"rsub", aten_rsub, 0, FT__PT2_ANY},
    {"_log_softmax log_softmax special_log_softmax", aten_softmax, FT_KIND_logsoftmax,
     0},
    {"_safe_softmax _softmax softmax special_softmax", aten_softmax, FT_KIND_softmax,
     0},
    {"_log_softmax_backward_data", aten_softmax_grad, FT_KIND_logsoftmax, 0},
    {"_softmax_backward_data", aten_softmax_grad, FT_KIND_softmax, 0},
    {"stft", aten_stft, 0, 0},
    {"addcdiv", aten_ternary, FT_KIND_div, 0},
    {"addcmul lerp", aten_ternary, FT_KIND_mul, 0},
    {"argsort kthvalue msort sort topk", aten_topk, 0, 0},
    {"abs square", aten_unary, FT_KIND_abs, 0},
    {"acos arccos", aten_unary, FT_KIND_acos, 0},
    {"acosh arccosh", aten_unary, FT_KIND_acosh, 0},
    {"arcsin asin", aten_unary, FT_KIND_asin, 0},
    {"arcsinh asinh", aten_unary, FT_KIND_asinh, 0},
    {"arctan atan", aten_unary, FT_KIND_atan, 0},
    {"arctanh atanh", aten_unary, FT_KIND_atanh, 0},
    {"bitwise_not", aten_unary, FT_KIND_bitwise_not, 0},
    {"ceil", aten_unary, FT_KIND_ceil, 0},
    {"clamp clamp_max clamp_min clip hardtanh nan_to_num relu6", aten_unary,
     FT_KIND_clip, 0},
    {"cos", aten_unary, FT_KIND_cos, 0},
    {"cosh", aten_unary, FT_KIND_cosh, 0},
    {"celu elu", aten_unary, FT_KIND_elu, 0},
    {"erf erfc erfinv special_erf", aten_unary, FT_KIND_erf, 0},
    {"exp exp2", aten_unary, FT_KIND_exp, 0},
    {"expm1 special_expm1", aten_unary, FT_KIND_expm1, 0},
    {"fix floor frac trunc", aten_unary, FT_KIND_floor, 0},
    {"hardsigmoid", aten_unary, FT_KIND_hardsigmoid, 0},
    {"hardswish", aten_unary, FT_KIND_hardswish, 0},
    {"isfinite isinf isneginf isposinf", aten_unary, FT_KIND_isinf, 0},
    {"isnan signbit", aten_unary, FT_KIND_isnan, 0},
    {"leaky_relu rrelu", aten_unary, FT_KIND_leaky_relu, 0},
    {"digamma lgamma", aten_unary, FT_KIND_lgamma, 0},
    {"log log10 log2", aten_unary, FT_KIND_log, 0},
    {"log1p special_log1p", aten_unary, FT_KIND_log1p, 0},
    {"logical_not", aten_unary, FT_KIND_logical_not, 0},
    {"mish", aten_unary, FT_KIND_mish, 0},
    {"neg negative", aten_unary, FT_KIND_neg, 0},
    {"reciprocal", aten_unary, FT_KIND_reciprocal, 0},
    {"relu", aten_unary, FT_KIND_relu, 0},
    {"round", aten_unary, FT_KIND_round, 0},
    {"rsqrt", aten_unary, FT_KIND_rsqrt, 0},
    {"selu", aten_unary, FT_KIND_selu, 0},
    {"hardshrink softshrink", aten_unary, FT_KIND_shrink, 0},
    {"log_sigmoid sigmoid special_expit", aten_unary, FT_KIND_sigmoid, 0},
    {"sgn sign", aten_unary, FT_KIND_sign, 0},
    {"silu", aten_unary, FT_KIND_silu, 0},
    {"sin", aten_unary, FT_KIND_sin, 0},
    {"sinh", aten_unary, FT_KIND_sinh, 0},
    {"log_sigmoid_forward softplus", aten_unary, FT_KIND_softplus, 0},
    {"softsign", aten_unary, FT_KIND_softsign, 0},
    {"sqrt", aten_unary, FT_KIND_sqrt, 0},
    {"tan", aten_unary, FT_KIND_tan, 0},
    {"tanh", aten_unary, FT_KIND_tanh, 0},
    {"threshold", aten_unary, FT_KIND_thresholded_relu, 0},
    {"hardtanh_backward", aten_unary_grad, FT_KIND_clip, 0},
    {"native_dropout_backward", aten_unary_grad, FT_KIND_dropout, 0},
    {"elu_backward", aten_unary_grad, FT_KIND_elu, 0},
    {"hardsigmoid_backward", aten_unary_grad, FT_KIND_hardsigmoid, 0},
    {"hardswish_backward", aten_unary_grad, FT_KIND_hardswish, 0},
    {"leaky_relu_backward rrelu_with_noise_backward", aten_unary_grad,
     FT_KIND_leaky_relu, 0},
    {"mish_backward", aten_unary_grad, FT_KIND_mish, 0},
    {"threshold_backward", aten_unary_grad, FT_KIND_relu, 0},
    {"hardshrink_backward softshrink_backward", aten_unary_grad, FT_KIND_shrink, 0},
    {"sigmoid_backward", aten_unary_grad, FT_KIND_sigmoid, 0},
    {"silu_backward", aten_unary_grad, FT_KIND_silu, 0},
    {"log_sigmoid_backward softplus_backward", aten_unary_grad, FT_KIND_softplus, 0},
    {"tanh_backward", aten_unary_grad, FT_KIND_tanh, 0},
    {"where", aten_where, 0, 0},
    {NULL, NULL, 0, 0},
};
