/* Elements of constants, as far as shapes can need them: small integer tensors
 * and a few real numbers. */
#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "import/onnx/onnx.h"

enum {
    TENSOR_FLOAT_DATA = 4,
    TENSOR_INT32_DATA = 5,
    TENSOR_INT64_DATA = 7,
    TENSOR_RAW_DATA = 9,
    TENSOR_DOUBLE_DATA = 10,
    TENSOR_UINT64_DATA = 11,
};

bool ft__dtype_is_real(ft_dtype t)
{
    return t == FT_DTYPE_fp32 || t == FT_DTYPE_fp64 || t == FT_DTYPE_fp16 ||
           t == FT_DTYPE_bf16;
}

static bool is_integer(ft_dtype t)
{
    return (t >= FT_DTYPE_uint8 && t <= FT_DTYPE_int64) || t == FT_DTYPE_bool ||
           t == FT_DTYPE_uint32 || t == FT_DTYPE_uint64;
}

ft__num *ft__fold_new(const ft__onnx_node *node, ft__onnx_value *v)
{
    int64_t n = ft_shape_elements(&v->shape);
    bool real = ft__dtype_is_real(v->dtype);

    if ((!real && !is_integer(v->dtype)) || n < 0 ||
        n > (real ? FT__MAX_CONST_REALS : FT__MAX_CONST_VALUES) ||
        n > FT__MAX_FOLDED - node->import->folded || ft__failed(node))
        return NULL;
    node->import->folded += n;
    return v->data = ft__onnx_alloc(node->import, (size_t)n, sizeof(*v->data));
}

/* ---- from the file ---- */

static double from_fp16(uint32_t h)
{
    int exponent = (int)(h >> 10 & 31), mantissa = (int)(h & 1023);
    double x = exponent == 0    ? ldexp(mantissa, -24)
               : exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                                : ldexp(mantissa + 1024, exponent - 25);

    return h & 0x8000 ? -x : x;
}

static double real_from_bits(uint64_t bits, ft_dtype t)
{
    double d;

    switch (t) {
    case FT_DTYPE_fp64: memcpy(&d, &bits, sizeof(d)); return d;
    case FT_DTYPE_fp16: return from_fp16((uint32_t)bits & 0xffff);
    case FT_DTYPE_bf16: return (double)ft__pb_float((bits & 0xffff) << 16);
    default: return (double)ft__pb_float(bits);
    }
}

/* The low bits of a number, as wide as the dtype, with its sign. */
static int64_t integer_from_bits(uint64_t bits, ft_dtype t)
{
    unsigned unused = 64 - ft_dtype_bits(t);

    switch (t) {
    case FT_DTYPE_bool: return (bits & 0xff) != 0;
    case FT_DTYPE_int8:
    case FT_DTYPE_int16:
    case FT_DTYPE_int32: return (int64_t)(bits << unused) >> unused;
    default: return unused ? (int64_t)(bits << unused >> unused) : (int64_t)bits;
    }
}

static ft__num number(uint64_t bits, ft_dtype t)
{
    return ft__dtype_is_real(t) ? (ft__num){.f = real_from_bits(bits, t)}
                                : (ft__num){.i = integer_from_bits(bits, t)};
}

/* A list of `width` byte numbers, little-endian; returns how many fitted. */
static int64_t read_fixed(ft__bytes b, unsigned width, ft_dtype t, ft__num *out,
                          int64_t max)
{
    int64_t n = 0;

    for (; n < max && b.n >= width; n++, b.p += width, b.n -= width) {
        uint64_t bits = 0;

        for (unsigned i = 0; i < width; i++)
            bits |= (uint64_t)b.p[i] << (8 * i);
        out[n] = number(bits, t);
    }
    return n;
}

/* One typed field: a single number or a packed list. */
static int64_t read_field(const ft__onnx_node *node, const ft__onnx_pb *f, ft_dtype t,
                          ft__num *out, int64_t max)
{
    ft__onnx_pb packed = ft__pb_open(&node->import->doc, f->bytes);
    uint64_t bits;
    int64_t n = 0;

    switch (f->field) {
    case TENSOR_RAW_DATA:
        return read_fixed(f->bytes, ft_dtype_bits(t) / 8, t, out, max);
    case TENSOR_FLOAT_DATA:
    case TENSOR_DOUBLE_DATA:
        if (f->wire == FT__PB_BYTES)
            return read_fixed(f->bytes, f->field == TENSOR_FLOAT_DATA ? 4 : 8, t, out,
                              max);
        break;
    case TENSOR_INT32_DATA:
    case TENSOR_INT64_DATA:
    case TENSOR_UINT64_DATA:
        if (f->wire != FT__PB_BYTES)
            break;
        while (n < max && ft__pb_varint(&packed, &bits))
            out[n++] = number(bits, t);
        return n;
    default: return 0;
    }
    if (max < 1)
        return 0;
    out[0] = number(f->num, t);
    return 1;
}

static const ft__num *decode(const ft__onnx_node *node, ft__onnx_value *v)
{
    int64_t n = ft_shape_elements(&v->shape), have = 0;
    ft__bytes proto = v->proto;

    v->proto.n = 0; /* asked once */
    if (!ft__fold_new(node, v))
        return NULL;
    for (ft__onnx_pb f = ft__pb_open(&node->import->doc, proto); ft__pb_next(&f);)
        have += read_field(node, &f, v->dtype, v->data + have, n - have);
    if (have < n)
        v->data = NULL; /* external, or elsewhere */
    return v->data;
}

const ft__num *ft__data(const ft__onnx_node *node, ft__onnx_value *v)
{
    if (!v || v->state != FT__CONSTANT)
        return NULL;
    return v->data || !v->proto.n ? v->data : decode(node, v);
}

bool ft__scalar(const ft__onnx_node *node, ft__onnx_value *v, double *out)
{
    const ft__num *d;

    if (!ft__is_constant(v) || ft_shape_elements(&v->shape) != 1 ||
        !(d = ft__data(node, v)))
        return false;
    *out = ft__dtype_is_real(v->dtype) ? d->f : (double)d->i;
    return true;
}

int64_t ft__ints(const ft__onnx_node *node, ft__onnx_value *v, int64_t *out,
                 uint32_t max)
{
    int64_t n;
    const ft__num *d = ft__data(node, v);

    if (!d || ft__dtype_is_real(v->dtype))
        return -1;
    n = ft_shape_elements(&v->shape);
    for (int64_t i = 0; i < n && n <= (int64_t)max; i++)
        out[i] = d[i].i;
    return n <= (int64_t)max ? n : -1;
}

/* ---- walking over a result with offsets into its operands ---- */

void ft__strides(const ft_shape *s, int64_t *stride)
{
    int64_t step = 1;

    for (uint32_t i = s->rank; i-- > 0;) {
        stride[i] = step;
        step *= s->dim[i];
    }
}

/* Strides of x below a broadcast result: 0 along repeated axes. */
static void broadcast_strides(const ft_shape *x, const ft_shape *out, int64_t *stride)
{
    int64_t own[FT_MAX_RANK] = {0};
    uint32_t lead = out->rank - x->rank;

    ft__strides(x, own);
    for (uint32_t i = 0; i < out->rank; i++)
        stride[i] = i < lead || x->dim[i - lead] == 1 ? 0 : own[i - lead];
}

struct element_walk {
    const ft_shape *shape;
    int64_t at[FT_MAX_RANK];
    int64_t stride[3][FT_MAX_RANK];
    int64_t offset[3];
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

void ft__fold_strided(const ft__onnx_node *node, ft__onnx_value *x, ft__onnx_value *out,
                      int64_t base, const int64_t *stride)
{
    const ft__num *d = ft__data(node, x);
    struct element_walk w = {.shape = &out->shape, .offset = {base}};
    int64_t n = ft_shape_elements(&out->shape);

    memcpy(w.stride[0], stride, out->shape.rank * sizeof(*stride));
    if (!d || !ft__fold_new(node, out))
        return;
    for (int64_t i = 0; i < n; i++, step(&w))
        out->data[i] = d[w.offset[0]];
}

void ft__fold_where(const ft__onnx_node *node, ft__onnx_value *const in[3],
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

/* ---- arithmetic ---- */

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
                   : (ft__num){.i = integer_from_bits((uint64_t)x.i, to)};
    if (ft__dtype_is_real(to))
        return (ft__num){.f = rounded(x.f, to)};
    if (to == FT_DTYPE_bool)
        return (ft__num){.i = x.f != 0};
    return (ft__num){.i = integer_from_bits((uint64_t)saturated(x.f), to)};
}

void ft__fold_unary(const ft__onnx_node *node, ft_kind kind, ft__onnx_value *x,
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
            out->data[i].i = integer_from_bits((uint64_t)out->data[i].i, out->dtype);
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

void ft__fold_binary(const ft__onnx_node *node, ft_kind kind, ft__onnx_value *x,
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
            out->data[i].i = integer_from_bits((uint64_t)out->data[i].i, out->dtype);
    }
    if (!known)
        out->data = NULL;
}

/* ---- the rest ---- */

void ft__fold_fill(const ft__onnx_node *node, ft__onnx_value *out, ft__num start,
                   ft__num by)
{
    int64_t n = ft_shape_elements(&out->shape);

    if (!ft__fold_new(node, out))
        return;
    for (int64_t i = 0; i < n; i++) {
        if (ft__dtype_is_real(out->dtype))
            out->data[i].f = start.f + (double)i * by.f;
        else
            out->data[i].i =
                (int64_t)((uint64_t)start.i + (uint64_t)i * (uint64_t)by.i);
    }
}

void ft__fold_concat(const ft__onnx_node *node, ft__onnx_value *const *part, uint32_t n,
                     uint32_t axis, ft__onnx_value *out)
{
    int64_t outer = 1, row = 1, at = 0;

    for (uint32_t i = 0; i < n; i++)
        if (!ft__data(node, part[i]))
            return;
    if (!ft__fold_new(node, out))
        return;
    for (uint32_t i = 0; i < out->shape.rank; i++)
        *(i < axis ? &outer : &row) *= out->shape.dim[i];
    for (uint32_t i = 0; i < n; i++) {
        int64_t width = outer ? ft_shape_elements(&part[i]->shape) / outer : 0;

        for (int64_t r = 0; r < outer && width; r++)
            memcpy(out->data + r * row + at, part[i]->data + r * width,
                   (size_t)width * sizeof(*out->data));
        at += width;
    }
}

void ft__fold_gather(const ft__onnx_node *node, ft__onnx_value *x,
                     ft__onnx_value *index, uint32_t axis, ft__onnx_value *out)
{
    const ft__num *d = ft__data(node, x), *at = ft__data(node, index);
    int64_t outer = 1, inner = 1, size = x->shape.dim[axis], n, to = 0;

    if (!d || !at || !ft__fold_new(node, out))
        return;
    for (uint32_t i = 0; i < x->shape.rank; i++) {
        outer *= i < axis ? x->shape.dim[i] : 1;
        inner *= i > axis ? x->shape.dim[i] : 1;
    }
    n = ft_shape_elements(&index->shape);
    for (int64_t r = 0; r < outer && inner; r++)
        for (int64_t i = 0; i < n; i++, to += inner) {
            int64_t k = at[i].i < 0 ? at[i].i + size : at[i].i;

            if (k < 0 || k >= size) {
                out->data = NULL;
                return;
            }
            memcpy(out->data + to, d + (r * size + k) * inner,
                   (size_t)inner * sizeof(*d));
        }
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

void ft__fold_reduce(const ft__onnx_node *node, ft_kind kind, ft__onnx_value *x,
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
