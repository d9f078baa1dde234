#include "tensor.h"

#include <string.h>

ft__tensor ft__tensor_rows(uint32_t n, const int64_t *dim)
{
    ft__tensor t = {.rank = n, .dtype = FT_DTYPE_fp32};
    int64_t stride = 1;

    for (uint32_t i = n; i-- > 0; stride *= dim[i]) {
        t.dim[i] = dim[i];
        t.stride[i] = stride;
    }
    return t;
}

static ft__tensor tensor_of(const ft_shape *s, ft_dtype dtype, ft_layout layout)
{
    const int64_t one = 1;
    ft__tensor t =
        s->rank ? ft__tensor_rows(s->rank, s->dim) : ft__tensor_rows(1, &one);

    t.dtype = dtype;
    if (layout == FT_LAYOUT_CHANNELS_LAST && s->rank >= 3) {
        int64_t stride = s->dim[1];

        t.stride[1] = 1;
        for (uint32_t i = s->rank; i-- > 2; stride *= s->dim[i])
            t.stride[i] = stride;
    }
    return t;
}

ft__tensor ft__tensor_in(const ft_op *op, uint32_t i)
{
    ft_shape s;
    ft_dtype t;

    ft_op_input(op, i, &s, &t);
    return tensor_of(&s, t, op->layout);
}

ft__tensor ft__tensor_out(const ft_op *op, uint32_t i)
{
    ft_shape s;
    ft_dtype t;

    ft_op_output(op, i, &s, &t);
    return tensor_of(&s, t, op->layout);
}

ft__tensor ft__tensor_widen(const ft__tensor *t, uint32_t rank)
{
    uint32_t more = rank - t->rank;
    ft__tensor w = {.rank = rank, .dtype = t->dtype};

    for (uint32_t i = 0; i < more; i++) {
        w.dim[i] = 1;
        w.stride[i] = t->dim[0] * t->stride[0];
    }
    memcpy(w.dim + more, t->dim, t->rank * sizeof(*t->dim));
    memcpy(w.stride + more, t->stride, t->rank * sizeof(*t->stride));
    return w;
}

ft__tensor ft__tensor_spread(const ft__tensor *t, const ft__tensor *to)
{
    ft__tensor w = ft__tensor_widen(t, to->rank);

    for (uint32_t i = 0; i < w.rank; i++) {
        if (w.dim[i] == 1)
            w.stride[i] = 0;
        w.dim[i] = to->dim[i];
    }
    return w;
}

int64_t ft__tensor_elements(const ft__tensor *t)
{
    int64_t n = 1;

    for (uint32_t i = 0; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

int64_t ft__tensor_size(const ft__tensor *t)
{
    return (int64_t)ft_dtype_bits(t->dtype) / 8;
}

int64_t ft__tensor_bytes(const ft__tensor *t)
{
    return ft__tensor_elements(t) * ft__tensor_size(t);
}

bool ft__tensor_is_plain(const ft__tensor *t)
{
    ft__tensor p = ft__tensor_rows(t->rank, t->dim);

    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dim[i] != 1 && t->stride[i] != p.stride[i])
            return false;
    return true;
}
