/* Shapes: other shapes over the same memory, and nodes that compute with
 * shapes, most of which leave no operation behind. */
#include <math.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

static void rule_identity(ft__onnx_node *n)
{
    ft__emit_shape(n, &n->in[0]->shape);
}

/* Fill in 0 (copy) and -1 (what is left); false: they cannot be. */
static bool complete(const ft_shape *x, ft_shape *s, bool zero_is_zero)
{
    int64_t n = ft_shape_elements(x), known = 1;
    uint32_t open = FT_MAX_RANK;

    for (uint32_t i = 0; i < s->rank; i++) {
        if (s->dim[i] == 0 && !zero_is_zero) {
            if (i >= x->rank)
                return false;
            s->dim[i] = x->dim[i];
        }
        if (s->dim[i] == -1 && open == FT_MAX_RANK) {
            open = i;
            continue;
        }
        if (s->dim[i] < 0 || (s->dim[i] && known > FT__MAX_ELEMENTS / s->dim[i]))
            return false;
        known *= s->dim[i];
    }
    if (open < FT_MAX_RANK) {
        s->dim[open] = known ? n / known : 0;
        known *= s->dim[open];
    }
    return known == n;
}

/* All elements, in a shape of which only the length may be known. */
static void reshape_open(ft__onnx_node *n)
{
    const ft__onnx_value *x = n->in[0];
    uint32_t rank = ft__in(n, 1) ? ft__length(n->in[1]) : 0;
    ft_shape s = {.rank = rank ? rank : 1, .dim = {ft_shape_elements(&x->shape)}};

    for (uint32_t i = 1; i < s.rank; i++)
        s.dim[i] = 1;
    ft__emit_bounded(n, &s, rank ? (1u << rank) - 1 : FT_OPEN_RANK);
}

static void rule_reshape(ft__onnx_node *n)
{
    ft_shape s = {0};
    int64_t have = ft__in(n, 1) ? ft__ints(n, n->in[1], s.dim, FT_MAX_RANK)
                                : ft__attr_ints(n, "shape", s.dim, FT_MAX_RANK);

    if (have > FT_MAX_RANK || (ft__in(n, 1) && ft__data(n, n->in[1]) && have < 0)) {
        ft__onnx_unsupported(n, "its result has more than %d dimensions", FT_MAX_RANK);
        return;
    }
    if (have < 0) {
        reshape_open(n);
        return;
    }
    s.rank = (uint32_t)have;
    if (complete(&n->in[0]->shape, &s, ft__attr_int(n, "allowzero", 0) != 0))
        ft__emit_shape(n, &s);
    else
        ft__onnx_fail(n,
                      "%lld elements do not fit the new shape; if it was exported for "
                      "one batch size, leave --batch out",
                      (long long)ft_shape_elements(&n->in[0]->shape));
}

static void rule_flatten(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;
    int64_t axis = ft__attr_int(n, "axis", 1);
    ft_shape s = {.rank = 2, .dim = {1, 1}};

    if (axis != (int64_t)x->rank)
        axis = ft__axis(n, axis, x->rank);
    for (uint32_t i = 0; i < x->rank; i++)
        s.dim[i >= axis] *= x->dim[i];
    ft__emit_shape(n, &s);
}

/* Ones added or taken away who knows where: the rank may be known. */
static void unknown_axes(ft__onnx_node *n, int64_t rank)
{
    const ft_shape *x = &n->in[0]->shape;
    bool known = rank >= 0 && rank <= FT_MAX_RANK && rank != (int64_t)x->rank;
    ft_shape s = {.rank = known ? (uint32_t)rank : x->rank};

    for (uint32_t i = 0; i < s.rank; i++)
        s.dim[i] = i ? 1 : ft_shape_elements(x);
    ft__emit_bounded(n, &s, known ? (1u << s.rank) - 1 : FT_OPEN_RANK);
}

static void rule_squeeze(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;
    int64_t ones = 0, axes;
    ft_shape s = {0};

    for (uint32_t i = 0; i < x->rank; i++)
        ones |= (int64_t)(x->dim[i] == 1) << i;
    axes = ft__axes(n, 1, x->rank, ones);
    if (axes < 0) {
        unknown_axes(n, (int64_t)x->rank - ft__length(n->in[1]));
        return;
    }
    if (axes & ~ones)
        ft__onnx_fail(n, "it drops a dimension that is not 1");
    for (uint32_t i = 0; i < x->rank; i++)
        if (!(axes >> i & 1))
            s.dim[s.rank++] = x->dim[i];
    if (!ft__failed(n))
        ft__emit_shape(n, &s);
}

static void rule_unsqueeze(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;
    int64_t v[FT_MAX_RANK], count, axes;
    uint32_t from = 0;
    ft_shape s = {0};

    count = ft__in(n, 1) ? ft__ints(n, n->in[1], v, FT_MAX_RANK)
                         : ft__attr_ints(n, "axes", v, FT_MAX_RANK);
    if (count < 0) {
        unknown_axes(n, (int64_t)x->rank + ft__length(n->in[1]));
        return;
    }
    if (x->rank + count > FT_MAX_RANK) {
        ft__onnx_unsupported(n, "its result has more than %d dimensions", FT_MAX_RANK);
        return;
    }
    s.rank = x->rank + (uint32_t)count;
    axes = ft__axes(n, 1, s.rank, 0);
    for (uint32_t i = 0; i < s.rank; i++)
        s.dim[i] = axes >> i & 1 || from == x->rank ? 1 : x->dim[from++];
    if (!ft__failed(n))
        ft__emit_shape(n, &s);
}

static void rule_ms_expand_dims(ft__onnx_node *n)
{
    ft_shape x = n->in[0]->shape, s = {0};
    int64_t at;

    if (ft__ints(n, n->in[1], &at, 1) != 1) {
        ft__emit_unknown(n);
        return;
    }
    at = ft__axis(n, at, x.rank + 1);
    for (uint32_t i = 0; i <= x.rank; i++) {
        if (i == at)
            ft__push(n, &s, 1);
        if (i < x.rank)
            ft__push(n, &s, x.dim[i]);
    }
    if (!ft__failed(n))
        ft__emit_shape(n, &s);
}

static void define_ints(const ft__onnx_node *n, const int64_t *v, uint32_t count,
                        bool scalar)
{
    ft_shape s = {.rank = !scalar, .dim = {scalar ? 0 : count}};

    ft__define_constant(n, n->out[0], FT_DTYPE_int64, &s);
    if (ft__fold_new(n, n->out[0]))
        for (uint32_t i = 0; i < count; i++)
            n->out[0]->data[i].i = v[i];
}

static void rule_shape(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;
    int64_t rank = x->rank, start = ft__attr_int(n, "start", 0),
            end = ft__attr_int(n, "end", rank);

    start += start < 0 ? rank : 0;
    end += end < 0 ? rank : 0;
    start = start < 0 ? 0 : start > rank ? rank : start;
    end = end > rank ? rank : end < start ? start : end;
    define_ints(n, x->dim + start, (uint32_t)(end - start), false);
}

static void rule_size(ft__onnx_node *n)
{
    define_ints(n, &(int64_t){ft_shape_elements(&n->in[0]->shape)}, 1, true);
}

/* The tensor in the attribute `value`, where it has one. */
static bool tensor_attribute(const ft__onnx_node *n, ft__onnx_value *v)
{
    ft__bytes tensor;

    if (!ft__attr_message(n, "value", 5, &tensor))
        return false;
    ft__onnx_read_tensor(n->import, tensor, false, v);
    return true;
}

static void define_real(const ft__onnx_node *n, const double *v, uint32_t count,
                        bool scalar)
{
    ft_shape s = {.rank = !scalar, .dim = {scalar ? 0 : count}};

    ft__define_constant(n, n->out[0], FT_DTYPE_fp32, &s);
    if (ft__fold_new(n, n->out[0]))
        for (uint32_t i = 0; i < count; i++)
            n->out[0]->data[i].f = v[i];
}

/* One of value, value_int(s), value_float(s), value_string(s), sparse_value. */
static void rule_constant(ft__onnx_node *n)
{
    enum { MAX = 256 };
    int64_t i = ft__attr_int(n, "value_int", INT64_MIN), ints[MAX], count;
    double f = (double)NAN, reals[MAX];

    if (tensor_attribute(n, n->out[0]))
        return;
    (void)ft__attr_floats(n, "value_float", &f, 1);
    if (i != INT64_MIN)
        define_ints(n, &i, 1, true);
    else if (!isnan(f))
        define_real(n, &f, 1, true);
    else if ((count = ft__attr_ints(n, "value_ints", ints, MAX)) > 0 && count <= MAX)
        define_ints(n, ints, (uint32_t)count, false);
    else if ((count = ft__attr_floats(n, "value_floats", reals, MAX)) > 0 &&
             count <= MAX)
        define_real(n, reals, (uint32_t)count, false);
    else
        ft__emit_unknown(n);
}

static void rule_constant_of_shape(ft__onnx_node *n)
{
    ft_shape s = {0};
    int64_t have = ft__ints(n, n->in[0], s.dim, FT_MAX_RANK);
    ft__onnx_value fill = {.dtype = FT_DTYPE_fp32};
    const ft__num *value;

    tensor_attribute(n, &fill);
    if (have < 0) {
        s.rank = ft__length(n->in[0]);
        for (uint32_t i = 0; i < s.rank; i++)
            s.dim[i] = 1;
        ft__emit_open(n, n->out[0], fill.dtype, &s,
                      s.rank ? (1u << s.rank) - 1 : FT_OPEN_RANK);
        return;
    }
    s.rank = (uint32_t)have;
    ft__define_constant(n, n->out[0], fill.dtype, &s);
    value = ft__data(n, &fill);
    if (!fill.state || (value && ft_shape_elements(&fill.shape) == 1))
        ft__fold_fill(n, n->out[0], value ? *value : (ft__num){0}, (ft__num){0});
}

/* From a start to an end, by steps of one where none are given. */
static void rule_range(ft__onnx_node *n)
{
    bool real = ft__dtype_is_real(n->in[0]->dtype);
    ft__num by = real ? (ft__num){.f = 1} : (ft__num){.i = 1};
    double v[3] = {0, 0, 1}, count;

    for (uint32_t i = 0; i < 3; i++)
        if ((i < 2 || ft__in(n, 2)) && !ft__scalar(n, n->in[i], &v[i])) {
            ft__emit_bounded(n, FT__SHAPE(1), 1u);
            return;
        }
    count = ceil((v[1] - v[0]) / v[2]);
    if (!(fabs(count) < (double)FT__MAX_ELEMENTS)) {
        ft__onnx_fail(n, "its range never ends");
        return;
    }
    ft__define_constant(n, n->out[0], n->in[0]->dtype,
                        FT__SHAPE(count > 0 ? (int64_t)count : 0));
    if (ft__in(n, 2))
        by = *ft__data(n, n->in[2]);
    if (!ft__in(n, 2) || real == ft__dtype_is_real(n->in[2]->dtype))
        ft__fold_fill(n, n->out[0], *ft__data(n, n->in[0]), by);
}

/* Ones k right of the diagonal of a matrix. */
static void fold_eye(const ft__onnx_node *node, int64_t k, ft__onnx_value *out)
{
    ft__num *to = ft__fold_new(node, out);
    int64_t n = ft_shape_elements(&out->shape), columns = out->shape.dim[1];
    bool real = ft__dtype_is_real(out->dtype);

    k = k < -n ? -n : k > n ? n : k;
    for (int64_t i = 0; to && i < n; i++) {
        bool one = i % columns - i / columns == k;

        to[i] = real ? (ft__num){.f = one} : (ft__num){.i = one};
    }
}

static void rule_eye_like(ft__onnx_node *n)
{
    ft_dtype t = ft_dtype_from_onnx(ft__attr_int(n, "dtype", 0));

    if (n->in[0]->shape.rank != 2) {
        ft__onnx_fail(n, "its operand is no matrix");
        return;
    }
    ft__define_constant(n, n->out[0], t ? t : n->in[0]->dtype, &n->in[0]->shape);
    fold_eye(n, ft__attr_int(n, "k", 0), n->out[0]);
}

static void random_numbers(ft__onnx_node *n, ft_dtype t, const ft_shape *s,
                           ft__onnx_value *from)
{
    ft_op op;

    ft__op_init(&op, FT_KIND_random, t);
    ft__op_set_shape(&op, FT_K_out, s);
    ft__emit_weighted(n, &op, NULL, 0, &from, 1, s);
}

/* arg: 1 where an operand gives the shape, 2 where it is read as well. */
static void rule_random(ft__onnx_node *n)
{
    ft_dtype t = ft_dtype_from_onnx(ft__attr_int(n, "dtype", 0));
    ft_shape s = {0};

    if (n->rule->arg) {
        s = n->in[0]->shape;
        t = t ? t : n->in[0]->dtype;
    } else {
        int64_t have = ft__attr_ints(n, "shape", s.dim, FT_MAX_RANK);

        s.rank = have < 0 || have > FT_MAX_RANK ? 0 : (uint32_t)have;
    }
    random_numbers(n, t ? t : FT_DTYPE_fp32, &s, n->rule->arg == 2 ? n->in[0] : NULL);
}

/* Classes drawn by their probabilities, some for each row. */
static void rule_multinomial(ft__onnx_node *n)
{
    ft_dtype t = ft_dtype_from_onnx(ft__attr_int(n, "dtype", 6));
    ft_shape s = {.rank = 2};

    if (n->in[0]->shape.rank != 2) {
        ft__onnx_fail(n, "its operand is no matrix");
        return;
    }
    s.dim[0] = n->in[0]->shape.dim[0];
    s.dim[1] = ft__attr_int(n, "sample_size", 1);
    random_numbers(n, t ? t : FT_DTYPE_int32, &s, n->in[0]);
}

static const ft__operator_rule rules[] = {
    {"Bernoulli", rule_random, 2, 1, 0},
    {"Constant", rule_constant, 0, 0, FT__SOURCE},
    {"ConstantOfShape", rule_constant_of_shape, 0, 1, 0},
    {"EyeLike", rule_eye_like, 0, 1, 0},
    {"Flatten", rule_flatten, 0, 1, FT__BYTES_ONE},
    {"Identity", rule_identity, 0, 1, FT__CONTAINERS},
    {"Multinomial", rule_multinomial, 0, 1, 0},
    {"RandomNormal", rule_random, 0, 0, 0},
    {"RandomNormalLike", rule_random, 1, 1, 0},
    {"RandomUniform", rule_random, 0, 0, 0},
    {"RandomUniformLike", rule_random, 1, 1, 0},
    {"Range", rule_range, 0, 3, 0},
    {"Reshape", rule_reshape, 0, 1, FT__BYTES_ONE},
    {"Shape", rule_shape, 0, 1, 0},
    {"Size", rule_size, 0, 1, 0},
    {"Squeeze", rule_squeeze, 0, 1, FT__BYTES_ONE},
    {"Unsqueeze", rule_unsqueeze, 0, 1, FT__BYTES_ONE},
    {"ExpandDims", rule_ms_expand_dims, 0, 2, FT__MICROSOFT},
    {"Range", rule_range, 0, 2, FT__MICROSOFT},
    {"SampleOp", rule_identity, 0, 1, FT__MICROSOFT | FT__CONTAINERS},
};

const ft__rule_table ft__rules_shape = {rules, sizeof(rules) / sizeof(*rules)};
