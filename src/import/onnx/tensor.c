/* Types and constants of the file: dtypes and shapes, and the elements of constants as
 * far as shapes can need them (small integer tensors and a few real numbers). */
#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "import/onnx/onnx.h"

enum {
    TYPE_SEQUENCE = 4,
    TYPE_MAP = 5,
    TYPE_OPTIONAL = 9,
    TENSOR_FLOAT_DATA = 4,
    TENSOR_INT32_DATA = 5,
    TENSOR_INT64_DATA = 7,
    TENSOR_RAW_DATA = 9,
    TENSOR_DOUBLE_DATA = 10,
    TENSOR_UINT64_DATA = 11,
    SPARSE_VALUES = 1,
    SPARSE_DIMS = 3,
};

/* -1: open. */
static int64_t read_dim(ft__onnx *o, ft__bytes dim)
{
    ft__str param = {NULL, 0};
    int64_t size = -1;

    for (ft__onnx_pb f = ft__pb_open(&o->doc, dim); ft__pb_next(&f);) {
        if (f.field == 1)
            size = (int64_t)f.num < 0 ? -1 : (int64_t)f.num;
        else if (f.field == 2)
            param = ft__str_of(f.bytes);
    }
    for (uint32_t i = 0; size < 0 && param.n && i < o->n_dims; i++)
        if (param.n == o->dim[i].name.n &&
            memcmp(param.s, o->dim[i].name.s, param.n) == 0)
            size = o->dim[i].value;
    return size;
}

static bool fits_where_known(const ft_shape *s)
{
    ft_shape known = *s;

    for (uint32_t i = 0; i < s->rank; i++)
        known.dim[i] = s->dim[i] < 0 ? 1 : s->dim[i];
    return ft__shape_fits(&known);
}

/* A dimension that is open and not bound is -1. False: not a tensor, or of unknown
 * rank. */
static bool read_type(ft__onnx *o, ft__bytes type, ft_dtype *dtype, ft_shape *shape)
{
    ft__bytes tensor = ft__pb_child(&o->doc, type, 1);
    bool known = false;

    *dtype = FT_DTYPE_NONE;
    *shape = (ft_shape){0};
    for (ft__onnx_pb f = ft__pb_open(&o->doc, tensor); ft__pb_next(&f);) {
        if (f.field == 1)
            *dtype = ft_dtype_from_onnx((int64_t)f.num);
        if (f.field != 2)
            continue;
        known = true;
        for (ft__onnx_pb d = ft__pb_open(&o->doc, f.bytes); ft__pb_next(&d);) {
            if (d.field != 1)
                continue;
            if (shape->rank == FT_MAX_RANK)
                return false;
            shape->dim[shape->rank++] = read_dim(o, d.bytes);
        }
    }
    return known && fits_where_known(shape);
}

/* The tensor type at the bottom, and what is around it. */
static ft__bytes unwrap(ft__onnx *o, ft__bytes type, uint32_t *container)
{
    *container = 0;
    for (int depth = 0; depth < 4; depth++) {
        ft__bytes inner = {type.p, 0};

        for (ft__onnx_pb f = ft__pb_open(&o->doc, type); ft__pb_next(&f);) {
            if (f.field == TYPE_SEQUENCE || f.field == TYPE_OPTIONAL) {
                *container |= f.field == TYPE_SEQUENCE ? FT_CONTAINER_SEQUENCE
                                                       : FT_CONTAINER_OPTIONAL;
                inner = ft__pb_child(&o->doc, f.bytes, 1);
            } else if (f.field == TYPE_MAP) {
                *container |= FT_CONTAINER_MAP;
                inner = ft__pb_child(&o->doc, f.bytes, 2);
            }
        }
        if (!inner.n)
            break;
        type = inner;
    }
    return type;
}

void ft__onnx_read_type(ft__onnx *o, ft__bytes type, ft__onnx_value *like)
{
    ft_shape s;

    type = unwrap(o, type, &like->container);
    like->open = 0;
    if (!read_type(o, type, &like->dtype, &s)) {
        like->open = like->container & FT_CONTAINER_MAP ? 0 : FT_OPEN_RANK;
        s = (ft_shape){0};
    }
    for (uint32_t i = 0; i < s.rank; i++)
        if (s.dim[i] < 0) {
            like->open |= 1u << i;
            s.dim[i] = 1;
        }
    like->shape = s;
}

static void add_dim(ft__onnx *o, ft__bytes tensor, ft_shape *s, uint64_t dim)
{
    if (s->rank == FT_MAX_RANK)
        ft__build_fail(o->b, FT_EUNSUPPORTED, (uint64_t)(tensor.p - o->doc.base),
                       "a tensor has more than %d dimensions", FT_MAX_RANK);
    else
        s->dim[s->rank++] = (int64_t)dim;
}

/* Numbers one by one, or packed. */
static void read_dims(ft__onnx *o, const ft__onnx_pb *f, ft__bytes tensor, ft_shape *s)
{
    ft__onnx_pb packed = ft__pb_open(&o->doc, f->bytes);
    uint64_t dim;

    if (f->wire == FT__PB_VARINT)
        add_dim(o, tensor, s, f->num);
    else
        while (ft__pb_varint(&packed, &dim))
            add_dim(o, tensor, s, dim);
}

/* Dtype and shape only; the payload is a length to jump over. */
static void read_dense(ft__onnx *o, ft__bytes tensor, ft__onnx_value *v)
{
    v->shape = (ft_shape){0};
    v->dtype = FT_DTYPE_NONE;
    for (ft__onnx_pb f = ft__pb_open(&o->doc, tensor); ft__pb_next(&f);) {
        if (f.field == 1)
            read_dims(o, &f, tensor, &v->shape);
        else if (f.field == 2)
            v->dtype = ft_dtype_from_onnx((int64_t)f.num);
        else
            o->payload += f.bytes.n;
    }
    v->proto = tensor;
    v->state = FT__CONSTANT;
    if (!o->doc.bad && (v->dtype == FT_DTYPE_NONE || !ft__shape_fits(&v->shape)))
        ft__build_fail(o->b, FT_EFORMAT, (uint64_t)(tensor.p - o->doc.base),
                       "constant \"%.*s\" has no valid type or shape",
                       ft__shown(v->name.n, 100), v->name.s);
}

void ft__onnx_read_tensor(ft__onnx *o, ft__bytes tensor, bool sparse, ft__onnx_value *v)
{
    read_dense(o, sparse ? ft__pb_child(&o->doc, tensor, SPARSE_VALUES) : tensor, v);
    if (!sparse)
        return;
    v->shape = (ft_shape){0};
    v->proto = (ft__bytes){0};
    for (ft__onnx_pb f = ft__pb_open(&o->doc, tensor); ft__pb_next(&f);)
        if (f.field == SPARSE_DIMS)
            read_dims(o, &f, tensor, &v->shape);
    if (!ft__shape_fits(&v->shape))
        ft__build_fail(o->b, FT_EFORMAT, (uint64_t)(tensor.p - o->doc.base),
                       "a sparse constant has no valid shape");
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

static ft__num number(uint64_t bits, ft_dtype t)
{
    return ft__dtype_is_real(t) ? (ft__num){.f = real_from_bits(bits, t)}
                                : (ft__num){.i = ft__integer_from_bits(bits, t)};
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
