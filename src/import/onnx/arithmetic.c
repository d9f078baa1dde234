/* Elementwise operations and reductions as steps of rules, and what they make of
 * constants whose elements are known. */
#include <math.h>
#include <string.h>

#include "graph/op_inside.h"
#include "import/onnx/compose.h"

/* Strides of x below a broadcast result: 0 along repeated axes. */
static void broadcast_strides(const ft_shape *x, const ft_shape *out, int64_t *stride)
{
    uint32_t lead = out->rank - x->rank;
    int64_t step = 1;

    memset(stride, 0, lead * sizeof(*stride));
    for (uint32_t i = x->rank; i-- > 0;) {
        stride[lead + i] = x->dim[i] == 1 ? 0 : step;
        step *= x->dim[i];
    }
}

struct element_walk {
    const ft_shape *shape;
    int64_t at[FT_MAX_RANK];
    int64_t stride[3][FT_MAX_RANK], offset[3];
};

static void step(struct element_walk *w)
{
    for (uint32_t i = w->shape->rank; i-- > 0;) {
        bool carry = ++w->at[i] == w->shape->dim[i];

        for (unsigned k = 0; k < 3; k++)
            w->offset[k] +=
                carry ? w->stride[k][i] * (1 - w->shape->dim[i]) : w->stride[k][i];
        if (!carry)
            return;
        w->at[i] = 0;
    }
}

/* What the network computes with has fewer bits than a double. */
static double rounded(double x, ft_dtype t)
{
    return t == FT_DTYPE_fp64 ? x : (double)(float)x;
}

static int64_t saturated(double x)
{
    return !(x > -9.2e18) ? INT64_MIN : x > 9.2e18 ? INT64_MAX : (int64_t)x;
}

/* False: the kind is not one that shapes are computed with. */
static bool unary_real(ft_kind kind, double x, double *y)
{
    switch (kind) {
    case FT_KIND_neg: *y = -x; return true;
    case FT_KIND_abs: *y = fabs(x); return true;
    case FT_KIND_floor: *y = floor(x); return true;
    case FT_KIND_ceil: *y = ceil(x); return true;
    case FT_KIND_round: *y = nearbyint(x); return true;
    case FT_KIND_sqrt: *y = sqrt(x); return true;
    case FT_KIND_reciprocal: *y = 1 / x; return true;
    case FT_KIND_exp: *y = exp(x); return true;
    case FT_KIND_log: *y = log(x); return true;
    case FT_KIND_sign: *y = (x > 0) - (x < 0); return true;
    case FT_KIND_relu: *y = x > 0 ? x : 0; return true;
    default: return false;
    }
}

static bool unary_integer(ft_kind kind, int64_t x, int64_t *y)
{
    switch (kind) {
    case FT_KIND_neg: *y = (int64_t)(0 - (uint64_t)x); return true;
    case FT_KIND_abs: *y = x < 0 ? (int64_t)(0 - (uint64_t)x) : x; return true;
    case FT_KIND_sign: *y = (x > 0) - (x < 0); return true;
    case FT_KIND_relu: *y = x > 0 ? x : 0; return true;
    case FT_KIND_logical_not: *y = !x; return true;
    case FT_KIND_bitwise_not: *y = ~x; return true;
    default: return false;
    }
}

static ft__num converted(ft__num x, ft_dtype from, ft_dtype to)
{
    if (!ft__dtype_is_real(from))
        return ft__dtype_is_real(to)
                   ? (ft__num){.f = rounded((double)x.i, to)}
                   : (ft__num){.i = ft__integer_from_bits((uint64_t)x.i, to)};
    if (ft__dtype_is_real(to))
        return (ft__num){.f = rounded(x.f, to)};
    if (to == FT_DTYPE_bool)
        return (ft__num){.i = x.f != 0};
    return (ft__num){.i = ft__integer_from_bits((uint64_t)saturated(x.f), to)};
}

static void fold_unary(const ft__onnx_node *node, ft_kind kind, ft__onnx_value *x,
                       ft__onnx_value *out)
{
    const ft__num *d = ft__data(node, x);
    int64_t n = ft_shape_elements(&out->shape);
    bool real = ft__dtype_is_real(x->dtype), known = true;

    if (!d || !ft__fold_new(node, out))
        return;
    for (int64_t i = 0; i < n && known; i++) {
        if (kind == FT_KIND_cast)
            out->data[i] = converted(d[i], x->dtype, out->dtype);
        else if (real && (known = unary_real(kind, d[i].f, &out->data[i].f)))
            out->data[i].f = rounded(out->data[i].f, x->dtype);
        else if (!real)
            known = unary_integer(kind, d[i].i, &out->data[i].i);
        if (!ft__dtype_is_real(out->dtype))
            out->data[i].i =
                ft__integer_from_bits((uint64_t)out->data[i].i, out->dtype);
    }
    if (!known)
        out->data = NULL;
}

/* By squaring; false: a fraction. */
static bool power(int64_t base, int64_t exponent, int64_t *y)
{
    uint64_t b = (uint64_t)base, product = 1;

    for (int64_t e = exponent; e > 0; e /= 2, b *= b)
        product *= e % 2 ? b : 1;
    *y = (int64_t)product;
    return exponent >= 0;
}

/* Integer modulus takes the sign of the divisor, as ONNX has it. */
static bool binary_integer(ft_kind kind, int64_t a, int64_t b, int64_t *y)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

    switch (kind) {
    case FT_KIND_add: *y = (int64_t)(ua + ub); return true;
    case FT_KIND_sub: *y = (int64_t)(ua - ub); return true;
    case FT_KIND_mul: *y = (int64_t)(ua * ub); return true;
    case FT_KIND_div:
    case FT_KIND_mod:
        if (b == 0)
            return false;
        if (b == -1)
            *y = kind == FT_KIND_div ? (int64_t)(0 - ua) : 0;
        else if (kind == FT_KIND_div)
            *y = a / b;
        else
            *y = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
        return true;
    case FT_KIND_pow: return power(a, b, y);
    case FT_KIND_minimum: *y = a < b ? a : b; return true;
    case FT_KIND_maximum: *y = a > b ? a : b; return true;
    case FT_KIND_equal: *y = a == b; return true;
    case FT_KIND_less: *y = a < b; return true;
    case FT_KIND_less_equal: *y = a <= b; return true;
    case FT_KIND_greater: *y = a > b; return true;
    case FT_KIND_greater_equal: *y = a >= b; return true;
    case FT_KIND_logical_and: *y = a && b; return true;
    case FT_KIND_logical_or: *y = a || b; return true;
    case FT_KIND_logical_xor: *y = !a != !b; return true;
    default: return false;
    }
}

static bool binary_real(ft_kind kind, double a, double b, ft_dtype t, ft__num *y)
{
    switch (kind) {
    case FT_KIND_add: y->f = rounded(a + b, t); return true;
    case FT_KIND_sub: y->f = rounded(a - b, t); return true;
    case FT_KIND_mul: y->f = rounded(a * b, t); return true;
    case FT_KIND_div: y->f = rounded(a / b, t); return true;
    case FT_KIND_pow: y->f = rounded(pow(a, b), t); return true;
    case FT_KIND_mod: y->f = rounded(fmod(a, b), t); return true;
    case FT_KIND_minimum: y->f = a < b ? a : b; return true;
    case FT_KIND_maximum: y->f = a > b ? a : b; return true;
    case FT_KIND_equal: y->i = a == b; return true;
    case FT_KIND_less: y->i = a < b; return true;
    case FT_KIND_less_equal: y->i = a <= b; return true;
    case FT_KIND_greater: y->i = a > b; return true;
    case FT_KIND_greater_equal: y->i = a >= b; return true;
    default: return false;
    }
}

static void fold_binary(const ft__onnx_node *node, ft_kind kind, ft__onnx_value *x,
                        ft__onnx_value *y, ft__onnx_value *out)
{
    const ft__num *a = ft__data(node, x), *b = ft__data(node, y);
    struct element_walk w = {.shape = &out->shape};
    int64_t n = ft_shape_elements(&out->shape);
    bool real = ft__dtype_is_real(x->dtype), known = true;

    if (!a || !b || real != ft__dtype_is_real(y->dtype) || !ft__fold_new(node, out))
        return;
    broadcast_strides(&x->shape, &out->shape, w.stride[0]);
    broadcast_strides(&y->shape, &out->shape, w.stride[1]);
    for (int64_t i = 0; i < n && known; i++, step(&w)) {
        ft__num p = a[w.offset[0]], q = b[w.offset[1]];

        known = real ? binary_real(kind, p.f, q.f, x->dtype, &out->data[i])
                     : binary_integer(kind, p.i, q.i, &out->data[i].i);
        if (!ft__dtype_is_real(out->dtype))
            out->data[i].i =
                ft__integer_from_bits((uint64_t)out->data[i].i, out->dtype);
    }
    if (!known)
        out->data = NULL;
}

static bool reduced(ft_kind kind, ft__num a, ft__num b, ft_dtype t, ft__num *y)
{
    ft_kind pair = kind == FT_KIND_reduce_sum    ? FT_KIND_add
                   : kind == FT_KIND_reduce_mean ? FT_KIND_add
                   : kind == FT_KIND_reduce_prod ? FT_KIND_mul
                   : kind == FT_KIND_reduce_min  ? FT_KIND_minimum
                   : kind == FT_KIND_reduce_max  ? FT_KIND_maximum
                                                 : FT_KIND_view;

    return ft__dtype_is_real(t) ? binary_real(pair, a.f, b.f, t, y)
                                : binary_integer(pair, a.i, b.i, &y->i);
}

static void fold_reduce(const ft__onnx_node *node, ft_kind kind, ft__onnx_value *x,
                        uint32_t axes, ft__onnx_value *out)
{
    const ft__num *d = ft__data(node, x);
    struct element_walk w = {.shape = &x->shape};
    int64_t n = ft_shape_elements(&x->shape), size = 1;
    bool known = n > 0;

    if (!d || !known || !ft__fold_new(node, out))
        return;
    /* Strides of the result with its reduced axes kept as ones. */
    for (uint32_t i = x->shape.rank; i-- > 0;) {
        bool gone = axes >> i & 1;

        w.stride[0][i] = gone ? 0 : size;
        w.stride[1][i] = gone;
        size *= gone ? 1 : x->shape.dim[i];
    }
    /* offset[1] is 0 at the first element that falls on a result. */
    for (int64_t i = 0; i < n && known; i++, step(&w)) {
        ft__num *y = &out->data[w.offset[0]];

        if (w.offset[1] == 0)
            *y = d[i];
        else
            known = reduced(kind, *y, d[i], x->dtype, y);
    }
    known &= kind != FT_KIND_reduce_mean || ft__dtype_is_real(x->dtype);
    for (int64_t i = 0; i < size && known && kind == FT_KIND_reduce_mean; i++)
        out->data[i].f = rounded(out->data[i].f * (double)size / (double)n, x->dtype);
    if (!known)
        out->data = NULL;
}

/* The second where the first is true, else the third. */
static void fold_where(const ft__onnx_node *node, ft__onnx_value *const in[3],
                       ft__onnx_value *out)
{
    const ft__num *d[3];
    struct element_walk w = {.shape = &out->shape};
    int64_t n = ft_shape_elements(&out->shape);

    for (unsigned k = 0; k < 3; k++) {
        d[k] = ft__data(node, in[k]);
        if (!d[k])
            return;
        broadcast_strides(&in[k]->shape, &out->shape, w.stride[k]);
    }
    if (!ft__fold_new(node, out))
        return;
    for (int64_t i = 0; i < n; i++, step(&w))
        out->data[i] = d[0][w.offset[0]].i ? d[1][w.offset[1]] : d[2][w.offset[2]];
}

/* The shape of an elementwise result; false: they do not fit. */
static bool broadcast_all(ft__onnx_value *const *in, uint32_t n_in, ft_shape *s)
{
    bool fit = true;

    *s = in[n_in - 1]->shape;
    for (uint32_t i = n_in - 1; i-- > 0 && fit;) {
        ft_shape behind = *s;

        fit = ft__broadcast(&in[i]->shape, &behind, s);
    }
    return fit;
}

ft__onnx_value *ft__apply(const ft__onnx_node *n, ft_kind kind,
                          ft__onnx_value *const *in, uint32_t n_in, ft__onnx_value *out)
{
    static const ft_key_id key[] = {FT_K_x, FT_K_y, FT_K_z};
    bool there = true;
    ft_shape s;
    ft_op op;

    for (uint32_t i = 0; i < n_in; i++)
        there &= in[i] != NULL;
    if (!out && there)
        out = ft__onnx_temp(n, n->out[0]);
    if (!there || !out || ft__failed(n))
        return NULL;
    ft__op_init(&op, kind, in[kind == FT_KIND_where]->dtype);
    for (uint32_t i = 0; i < n_in; i++)
        ft__op_set_shape(&op, key[i], &in[i]->shape);
    if (!broadcast_all(in, n_in, &s)) {
        ft__onnx_fail(n, "the shapes of its operands do not fit");
        return NULL;
    }
    if (ft__is_constant(ft__make_of(n, &op, in, n_in, &s, out))) {
        if (n_in == 1)
            fold_unary(n, kind, in[0], out);
        else if (n_in == 2)
            fold_binary(n, kind, in[0], in[1], out);
        else
            fold_where(n, in, out);
    }
    return ft__failed(n) ? NULL : out;
}

ft__onnx_value *ft__make_cast(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                              ft_dtype to, ft__onnx_value *out)
{
    ft_op op;

    if (!x)
        return NULL;
    if (x->dtype == to && !out)
        return x;
    if (x->dtype == to) {
        ft__emit_view(n, x, out, &x->shape);
        return ft__failed(n) ? NULL : out;
    }
    op = ft__op_x(kind, x);
    ft__op_set1(&op, FT_K_to, to);
    out = ft__make_of(n, &op, FT__VALUES(x), &x->shape, out);
    if (kind == FT_KIND_cast && ft__is_constant(out))
        fold_unary(n, kind, x, out);
    return ft__failed(n) ? NULL : out;
}

ft__onnx_value *ft__reduce(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                           uint32_t axes, bool keep, ft__onnx_value *out)
{
    int64_t list[FT_MAX_RANK];
    uint32_t count = 0;
    ft_shape s = {0};
    ft_op op;

    if (!out && x)
        out = ft__onnx_temp(n, n->out[0]);
    if (!x || !out || ft__failed(n))
        return NULL;
    for (uint32_t i = 0; i < x->shape.rank; i++) {
        bool gone = axes >> i & 1;

        if (gone)
            list[count++] = i;
        if (!gone || keep)
            s.dim[s.rank++] = gone ? 1 : x->shape.dim[i];
    }
    op = ft__op_x(kind, x);
    ft__op_set(&op, FT_K_axes, list, count);
    ft__op_set1(&op, FT_K_keep, keep);
    if (count == 0)
        ft__emit_view(n, x, out, &s);
    else if (ft__is_constant(ft__make_of(n, &op, FT__VALUES(x), &s, out)))
        fold_reduce(n, kind, x, axes, out);
    return ft__failed(n) ? NULL : out;
}
