/* Arithmetic: elementwise and reductions. */
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

static void rule_unary(ft__onnx_node *n)
{
    ft__apply(n, (ft_kind)n->rule->arg, FT__VALUES(n->in[0]), n->out[0]);
}

static void rule_gelu(ft__onnx_node *n)
{
    bool tanh = ft__str_is(ft__attr_str(n, "approximate"), "tanh");

    ft__apply(n, tanh ? FT_KIND_gelu_tanh : FT_KIND_gelu, FT__VALUES(n->in[0]),
              n->out[0]);
}

/* silu(a) b */
static void rule_swiglu(ft__onnx_node *n)
{
    ft__onnx_value *gate = ft__apply(n, FT_KIND_silu, FT__VALUES(n->in[0]), NULL);

    ft__apply(n, FT_KIND_mul, FT__VALUES(gate, n->in[1]), n->out[0]);
}

/* bound: least and most, NULL where there is none. */
static void fold_clip(const ft__onnx_node *node, ft__onnx_value *x,
                      ft__onnx_value *const bound[2], ft__onnx_value *out)
{
    bool real = ft__dtype_is_real(x->dtype);
    ft__num *to = ft__data(node, x) ? ft__fold_new(node, out) : NULL;
    const ft__num *least = ft__data(node, bound[0]), *most = ft__data(node, bound[1]);
    int64_t n = ft_shape_elements(&x->shape);

    for (unsigned i = 0; i < 2; i++)
        if (bound[i] &&
            (!ft__data(node, bound[i]) || ft_shape_elements(&bound[i]->shape) != 1))
            to = out->data = NULL;
    for (int64_t i = 0; to && i < n; i++) {
        to[i] = x->data[i];
        if (least && (real ? to[i].f < least->f : to[i].i < least->i))
            to[i] = *least;
        if (most && (real ? to[i].f > most->f : to[i].i > most->i))
            to[i] = *most;
    }
}

/* Bounds are operands, once attributes; only those that run are read. */
static void rule_clip(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *in[3] = {x},
                   *bound[2] = {ft__in(n, 1), ft__in(n, 2)};
    ft_op op = ft__op_x(FT_KIND_clip, x);
    uint32_t n_in = 1;

    for (uint32_t i = 0; i < 2; i++)
        if (bound[i] && !ft__is_constant(bound[i]))
            in[n_in++] = bound[i];
    if (ft__is_constant(ft__make_of(n, &op, in, n_in, &x->shape, n->out[0])) &&
        n->import->opset >= 11)
        fold_clip(n, x, bound, n->out[0]);
}

/* Of integers the sign is the divisor's (arithmetic.c), or (fmod) the other's. */
static void rule_mod(ft__onnx_node *n)
{
    ft__onnx_value *y =
        ft__apply(n, FT_KIND_mod, FT__VALUES(n->in[0], n->in[1]), n->out[0]);

    if (ft__is_constant(y) && ft__attr_int(n, "fmod", 0) &&
        !ft__dtype_is_real(y->dtype))
        y->data = NULL;
}

/* Nothing but in training, which operand 2 says. */
static void rule_dropout(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *training = ft__in(n, 2);
    const ft__num *on = ft__data(n, training);
    bool known = !training || (on && ft_shape_elements(&training->shape) == 1);

    if (known && (!training || !on->i))
        ft__emit_shape(n, &x->shape);
    else
        ft__apply(n, FT_KIND_dropout, FT__VALUES(x), n->out[0]);
    ft__emit_extra(n, 1, n->import->opset < 10 ? x->dtype : FT_DTYPE_bool, &x->shape);
}

static void cast(ft__onnx_node *n, ft_dtype to)
{
    if (to == FT_DTYPE_NONE)
        ft__onnx_fail(n, "its target is no known type");
    else
        ft__make_cast(n, FT_KIND_cast, n->in[0], to, n->out[0]);
}

static void rule_cast(ft__onnx_node *n)
{
    cast(n, ft_dtype_from_onnx(ft__attr_int(n, "to", 0)));
}

static void rule_cast_like(ft__onnx_node *n)
{
    cast(n, n->in[1]->dtype);
}

/* Another type over the same bytes: a view of that type. */
static void rule_bitcast(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    ft_dtype to = ft_dtype_from_onnx(ft__attr_int(n, "to", 0));
    ft_op op;

    if (ft_dtype_bits(to) != ft_dtype_bits(x->dtype)) {
        ft__onnx_fail(n, "its target has not as many bits as %s",
                      ft_dtype_name(x->dtype));
        return;
    }
    op = ft__op_of(FT_KIND_view, to, &x->shape);
    ft__op_set_shape(&op, FT_K_out, &x->shape);
    ft__emit1(n, &op, x, &x->shape);
}

static void rule_binary(ft__onnx_node *n)
{
    ft__apply(n, (ft_kind)n->rule->arg, FT__VALUES(n->in[0], n->in[1]), n->out[0]);
}

static void rule_pow(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *y = n->in[1];
    double exponent;
    ft_kind kind = FT_KIND_pow;

    if (!ft__is_constant(x) && y->shape.rank <= x->shape.rank &&
        ft__scalar(n, y, &exponent))
        kind = ft__pow_kind(exponent);
    if (kind == FT_KIND_pow)
        ft__apply(n, kind, FT__VALUES(x, y), n->out[0]);
    else
        ft__apply(n, kind, FT__VALUES(x), n->out[0]);
}

/* Two operands, each with scale and zero point. arg: the kind. */
static void rule_ms_qbinary(ft__onnx_node *n)
{
    ft__apply(n, (ft_kind)n->rule->arg, FT__VALUES(n->in[0], ft__in(n, 3)), n->out[0]);
}

/* The slope has a value for each of the last axes, or one per channel. */
static void rule_prelu(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *slope = n->in[1];
    ft_shape s;

    if (!ft__broadcast(&x->shape, &slope->shape, &s) && slope->shape.rank == 1 &&
        x->shape.rank > 1 && slope->shape.dim[0] == x->shape.dim[1]) {
        s = slope->shape;
        while (s.rank + 1 < x->shape.rank)
            s.dim[s.rank++] = 1;
        slope = ft__onnx_temp(n, n->in[1]);
        if (slope)
            ft__emit_view(n, n->in[1], slope, &s);
    }
    ft__apply(n, FT_KIND_prelu, FT__VALUES(x, slope), n->out[0]);
}

static ft__onnx_value *scalar_constant(const ft__onnx_node *n, ft_dtype t, double value)
{
    ft__onnx_value *v = ft__onnx_temp(n, n->out[0]);

    if (!v)
        return NULL;
    ft__define_constant(n, v, t, &(ft_shape){0});
    ft__fold_fill(n, v,
                  ft__dtype_is_real(t) ? (ft__num){.f = value}
                                       : (ft__num){.i = (int64_t)value},
                  (ft__num){0});
    return v;
}

/* Max, Min, Sum, Mean of any number of operands: a chain. */
static void rule_variadic(ft__onnx_node *n)
{
    ft_kind kind = (ft_kind)n->rule->arg;
    bool mean = kind == FT_KIND_div;
    ft__onnx_value *sum = n->in[0], *next;

    for (uint32_t i = 1; i < n->n_in && !ft__failed(n); i++) {
        bool last = i + 1 == n->n_in && !mean;

        next = last ? n->out[0] : ft__onnx_temp(n, n->out[0]);
        if (!next || !n->in[i])
            return;
        ft__apply(n, mean ? FT_KIND_add : kind, FT__VALUES(sum, n->in[i]), next);
        sum = next;
    }
    if (n->n_in == 1)
        ft__emit_view(n, sum, n->out[0], &sum->shape);
    else if (mean && !ft__failed(n) &&
             (next = scalar_constant(n, sum->dtype, n->n_in)) != NULL)
        ft__apply(n, FT_KIND_div, FT__VALUES(sum, next), n->out[0]);
}

static void rule_where(ft__onnx_node *n)
{
    ft__apply(n, FT_KIND_where, n->in, 3, n->out[0]);
}

/* condition, then two operands with scale and zero point each. */
static void rule_ms_qwhere(ft__onnx_node *n)
{
    ft__apply(n, FT_KIND_where, FT__VALUES(n->in[0], n->in[1], n->in[4]), n->out[0]);
}

/* Axes that are no constant: as many as the operand has elements. */
static void reduce_open(ft__onnx_node *n, bool keep)
{
    ft_shape s = n->in[0]->shape, *axes = &n->in[1]->shape;
    int64_t gone = axes->rank == 1 ? axes->dim[0] : -1;
    uint32_t all = (1u << s.rank) - 1;

    if (!keep && gone >= 0 && gone <= (int64_t)s.rank) {
        s.rank -= (uint32_t)gone;
        all = (1u << s.rank) - 1;
        keep = gone > 0 || ft__attr_int(n, "noop_with_empty_axes", 0);
    }
    ft__emit_bounded(n, &s, keep ? all : FT_OPEN_RANK);
}

static void rule_reduce(ft__onnx_node *n)
{
    uint32_t rank = n->in[0]->shape.rank;
    bool noop = ft__attr_int(n, "noop_with_empty_axes", 0),
         keep = ft__attr_int(n, "keepdims", 1);
    int64_t axes = ft__axes(n, 1, rank, noop ? 0 : ((int64_t)1 << rank) - 1);

    if (axes < 0)
        reduce_open(n, keep);
    else
        ft__reduce(n, (ft_kind)n->rule->arg, n->in[0], (uint32_t)axes, keep, n->out[0]);
}

static void rule_ms_qmean(ft__onnx_node *n)
{
    uint32_t axes = (uint32_t)ft__axes(n, UINT32_MAX, n->in[0]->shape.rank, 0);

    if (axes)
        ft__reduce(n, FT_KIND_reduce_mean, n->in[0], axes,
                   ft__attr_int(n, "keepdims", 1) != 0, n->out[0]);
    else
        ft__misfit(n, 0);
}

/* last: of equal ones. */
static void fold_arg(const ft__onnx_node *node, ft__onnx_value *x, uint32_t axis,
                     bool largest, bool last, ft__onnx_value *out)
{
    bool real = ft__dtype_is_real(x->dtype);
    ft__num *to = ft__data(node, x) ? ft__fold_new(node, out) : NULL;
    int64_t n = ft_shape_elements(&x->shape), size = x->shape.dim[axis], inner = 1;

    for (uint32_t d = axis + 1; d < x->shape.rank; d++)
        inner *= x->shape.dim[d];
    for (int64_t line = 0; to && size && line < n / size; line++) {
        const ft__num *f = x->data + line / inner * size * inner + line % inner;
        int64_t best = 0;

        for (int64_t k = 1; k < size; k++) {
            ft__num a = f[k * inner], b = f[best * inner];
            int sign = real ? (a.f > b.f) - (a.f < b.f) : (a.i > b.i) - (a.i < b.i);

            if (sign == 0 ? last : (sign > 0) == largest)
                best = k;
        }
        to[line].i = best;
    }
}

static void rule_arg(ft__onnx_node *n)
{
    uint32_t axis = ft__attr_axis(n, 0);
    ft__onnx_value *y = ft__reduce(n, (ft_kind)n->rule->arg, n->in[0], 1u << axis,
                                   ft__attr_int(n, "keepdims", 1) != 0, n->out[0]);

    if (ft__is_constant(y))
        fold_arg(n, n->in[0], axis, n->rule->arg == FT_KIND_argmax,
                 ft__attr_int(n, "select_last_index", 0) != 0, y);
}

/* How sums or products run along an axis. */
struct running_total {
    bool product;
    bool exclusive; /* of what comes before each element */
    bool reverse;
};

static void fold_running(const ft__onnx_node *node, ft__onnx_value *x, uint32_t axis,
                         struct running_total how, ft__onnx_value *out)
{
    bool real = ft__dtype_is_real(x->dtype);
    ft__num *to = ft__data(node, x) ? ft__fold_new(node, out) : NULL;
    int64_t n = ft_shape_elements(&x->shape), size = x->shape.dim[axis], inner = 1;

    for (uint32_t d = axis + 1; d < x->shape.rank; d++)
        inner *= x->shape.dim[d];
    for (int64_t line = 0; to && size && line < n / size; line++) {
        ft__num *t = to + line / inner * size * inner + line % inner;
        const ft__num *f = x->data + (t - to);
        double sum = how.product;
        uint64_t whole = how.product;

        for (int64_t k = 0; k < size; k++) {
            int64_t i = (how.reverse ? size - 1 - k : k) * inner;

            if (how.exclusive)
                t[i] = real ? (ft__num){.f = sum} : (ft__num){.i = (int64_t)whole};
            if (real)
                sum = how.product ? sum * f[i].f : sum + f[i].f;
            else
                whole =
                    how.product ? whole * (uint64_t)f[i].i : whole + (uint64_t)f[i].i;
            if (!how.exclusive)
                t[i] = real ? (ft__num){.f = sum} : (ft__num){.i = (int64_t)whole};
        }
    }
}

/* Sums or (arg 1) products up to each element; any axis costs the same. */
static void rule_cumsum(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *axis = n->in[1];
    ft_op op = ft__op_x(FT_KIND_cumsum, x);
    bool known;
    int64_t at;

    if (x->shape.rank == 0) {
        ft__onnx_fail(n, "its operand is a scalar");
        return;
    }
    known = ft__ints(n, axis, &at, 1) == 1;
    at = known ? ft__axis(n, at, x->shape.rank) : x->shape.rank - 1;
    ft__op_set1(&op, FT_K_axis, at);
    if (ft__emit2(n, &op, x, axis, &x->shape) && known)
        fold_running(
            n, x, (uint32_t)at,
            (struct running_total){.product = n->rule->arg,
                                   .exclusive = ft__attr_int(n, "exclusive", 0),
                                   .reverse = ft__attr_int(n, "reverse", 0)},
            n->out[0]);
}

/* The determinants of square matrices. */
static void rule_det(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    ft_op op = ft__op_x(FT_KIND_det, n->in[0]);

    if (s.rank < 2 || s.dim[s.rank - 1] != s.dim[s.rank - 2]) {
        ft__onnx_fail(n, "its operand holds no square matrices");
        return;
    }
    s.rank -= 2;
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__emit1(n, &op, n->in[0], &s);
}

static const ft__operator_rule rules[] = {
    {"Abs", rule_unary, FT_KIND_abs, 1, 0},
    {"Acos", rule_unary, FT_KIND_acos, 1, 0},
    {"Acosh", rule_unary, FT_KIND_acosh, 1, 0},
    {"Add", rule_binary, FT_KIND_add, 2, FT__ALIGNED | FT__BYTES_TWO},
    {"And", rule_binary, FT_KIND_logical_and, 2, FT__ALIGNED},
    {"ArgMax", rule_arg, FT_KIND_argmax, 1, 0},
    {"ArgMin", rule_arg, FT_KIND_argmin, 1, 0},
    {"Asin", rule_unary, FT_KIND_asin, 1, 0},
    {"Asinh", rule_unary, FT_KIND_asinh, 1, 0},
    {"Atan", rule_unary, FT_KIND_atan, 1, 0},
    {"Atanh", rule_unary, FT_KIND_atanh, 1, 0},
    {"BitCast", rule_bitcast, 0, 1, 0},
    {"BitShift", rule_binary, FT_KIND_bitwise, 2, FT__ALIGNED},
    {"BitwiseAnd", rule_binary, FT_KIND_bitwise, 2, FT__ALIGNED},
    {"BitwiseNot", rule_unary, FT_KIND_bitwise_not, 1, 0},
    {"BitwiseOr", rule_binary, FT_KIND_bitwise, 2, FT__ALIGNED},
    {"BitwiseXor", rule_binary, FT_KIND_bitwise, 2, FT__ALIGNED},
    {"Cast", rule_cast, 0, 1, 0},
    {"CastLike", rule_cast_like, 0, 2, 0},
    {"Ceil", rule_unary, FT_KIND_ceil, 1, 0},
    {"Celu", rule_unary, FT_KIND_elu, 1, 0},
    {"Clip", rule_clip, 0, 1, 0},
    {"Cos", rule_unary, FT_KIND_cos, 1, 0},
    {"Cosh", rule_unary, FT_KIND_cosh, 1, 0},
    {"CumProd", rule_cumsum, 1, 2, 0},
    {"CumSum", rule_cumsum, 0, 2, 0},
    {"Det", rule_det, 0, 1, 0},
    {"Div", rule_binary, FT_KIND_div, 2, FT__ALIGNED},
    {"Dropout", rule_dropout, 0, 1, 0},
    {"Elu", rule_unary, FT_KIND_elu, 1, 0},
    {"Equal", rule_binary, FT_KIND_equal, 2, FT__ALIGNED},
    {"Erf", rule_unary, FT_KIND_erf, 1, 0},
    {"Exp", rule_unary, FT_KIND_exp, 1, 0},
    {"Floor", rule_unary, FT_KIND_floor, 1, 0},
    {"Gelu", rule_gelu, 0, 1, 0},
    {"Greater", rule_binary, FT_KIND_greater, 2, FT__ALIGNED},
    {"GreaterOrEqual", rule_binary, FT_KIND_greater_equal, 2, FT__ALIGNED},
    {"HardSigmoid", rule_unary, FT_KIND_hardsigmoid, 1, 0},
    {"HardSwish", rule_unary, FT_KIND_hardswish, 1, 0},
    {"IsInf", rule_unary, FT_KIND_isinf, 1, 0},
    {"IsNaN", rule_unary, FT_KIND_isnan, 1, 0},
    {"LeakyRelu", rule_unary, FT_KIND_leaky_relu, 1, FT__BYTES_ONE},
    {"Less", rule_binary, FT_KIND_less, 2, FT__ALIGNED},
    {"LessOrEqual", rule_binary, FT_KIND_less_equal, 2, FT__ALIGNED},
    {"Log", rule_unary, FT_KIND_log, 1, 0},
    {"Max", rule_variadic, FT_KIND_maximum, 1, 0},
    {"Mean", rule_variadic, FT_KIND_div, 1, 0},
    {"Min", rule_variadic, FT_KIND_minimum, 1, 0},
    {"Mish", rule_unary, FT_KIND_mish, 1, 0},
    {"Mod", rule_mod, 0, 2, 0},
    {"Mul", rule_binary, FT_KIND_mul, 2, FT__ALIGNED | FT__BYTES_TWO},
    {"Neg", rule_unary, FT_KIND_neg, 1, 0},
    {"Not", rule_unary, FT_KIND_logical_not, 1, 0},
    {"Or", rule_binary, FT_KIND_logical_or, 2, FT__ALIGNED},
    {"PRelu", rule_prelu, 0, 2, 0},
    {"Pow", rule_pow, 0, 2, FT__ALIGNED},
    {"Reciprocal", rule_unary, FT_KIND_reciprocal, 1, 0},
    {"ReduceL1", rule_reduce, FT_KIND_reduce_l1, 1, FT__BYTES_ONE},
    {"ReduceL2", rule_reduce, FT_KIND_reduce_l2, 1, FT__BYTES_ONE},
    {"ReduceLogSum", rule_reduce, FT_KIND_reduce_logsumexp, 1, FT__BYTES_ONE},
    {"ReduceLogSumExp", rule_reduce, FT_KIND_reduce_logsumexp, 1, FT__BYTES_ONE},
    {"ReduceMax", rule_reduce, FT_KIND_reduce_max, 1, FT__BYTES_ONE},
    {"ReduceMean", rule_reduce, FT_KIND_reduce_mean, 1, FT__BYTES_ONE},
    {"ReduceMin", rule_reduce, FT_KIND_reduce_min, 1, FT__BYTES_ONE},
    {"ReduceProd", rule_reduce, FT_KIND_reduce_prod, 1, FT__BYTES_ONE},
    {"ReduceSum", rule_reduce, FT_KIND_reduce_sum, 1, FT__BYTES_ONE},
    {"ReduceSumSquare", rule_reduce, FT_KIND_reduce_l2, 1, FT__BYTES_ONE},
    {"Relu", rule_unary, FT_KIND_relu, 1, FT__BYTES_ONE},
    {"Round", rule_unary, FT_KIND_round, 1, 0},
    {"Selu", rule_unary, FT_KIND_selu, 1, 0},
    {"Shrink", rule_unary, FT_KIND_shrink, 1, 0},
    {"Sigmoid", rule_unary, FT_KIND_sigmoid, 1, FT__BYTES_ONE},
    {"Sign", rule_unary, FT_KIND_sign, 1, 0},
    {"Sin", rule_unary, FT_KIND_sin, 1, 0},
    {"Sinh", rule_unary, FT_KIND_sinh, 1, 0},
    {"Softplus", rule_unary, FT_KIND_softplus, 1, 0},
    {"Softsign", rule_unary, FT_KIND_softsign, 1, 0},
    {"Sqrt", rule_unary, FT_KIND_sqrt, 1, 0},
    {"Sub", rule_binary, FT_KIND_sub, 2, FT__ALIGNED},
    {"Sum", rule_variadic, FT_KIND_add, 1, 0},
    {"SwiGLU", rule_swiglu, 0, 2, 0},
    {"Swish", rule_unary, FT_KIND_silu, 1, 0},
    {"Tan", rule_unary, FT_KIND_tan, 1, 0},
    {"Tanh", rule_unary, FT_KIND_tanh, 1, 0},
    {"ThresholdedRelu", rule_unary, FT_KIND_thresholded_relu, 1, 0},
    {"Where", rule_where, 0, 3, FT__BYTES_CHOICE},
    {"Xor", rule_binary, FT_KIND_logical_xor, 2, FT__ALIGNED},
    {"ComplexMul", rule_binary, FT_KIND_mul, 2,
     FT__MICROSOFT | FT__ALIGNED | FT__BYTES_TWO},
    {"ComplexMulConj", rule_binary, FT_KIND_mul, 2,
     FT__MICROSOFT | FT__ALIGNED | FT__BYTES_TWO},
    {"Gelu", rule_unary, FT_KIND_gelu, 1, FT__MICROSOFT},
    {"MRotaryEmbedding", rule_unary, FT_KIND_rotary, 4, FT__MICROSOFT},
    {"QLinearAdd", rule_ms_qbinary, FT_KIND_add, 1, FT__MICROSOFT},
    {"QLinearLeakyRelu", rule_unary, FT_KIND_leaky_relu, 1,
     FT__MICROSOFT | FT__BYTES_ONE},
    {"QLinearMul", rule_ms_qbinary, FT_KIND_mul, 1, FT__MICROSOFT},
    {"QLinearReduceMean", rule_ms_qmean, 0, 1, FT__MICROSOFT},
    {"QLinearSigmoid", rule_unary, FT_KIND_sigmoid, 1, FT__MICROSOFT | FT__BYTES_ONE},
    {"QLinearWhere", rule_ms_qwhere, 0, 5, FT__MICROSOFT},
    {"QOrderedGelu", rule_unary, FT_KIND_gelu, 1, FT__MICROSOFT},
    {"QuickGelu", rule_unary, FT_KIND_silu, 1, FT__MICROSOFT},
    {"RotaryEmbedding", rule_unary, FT_KIND_rotary, 4, FT__MICROSOFT},
    {"ScaledSiLU", rule_unary, FT_KIND_silu, 1, FT__MICROSOFT},
};

const ft__rule_table ft__rules_math = {rules, sizeof(rules) / sizeof(*rules)};
