/* Operations that rules of several importers make: in, shapes and what a file says of
 * the layer; out, the operation. */
#include "import/rules/ops.h"

#include <string.h>

#include "base/limits.h"
#include "graph/op_inside.h"

ft_op ft__op_of(ft_kind kind, ft_dtype dtype, const ft_shape *x)
{
    ft_op op;

    ft__op_init(&op, kind, dtype);
    ft__op_set_shape(&op, FT_K_x, x);
    return op;
}

ft_kind ft__pow_kind(double exponent)
{
    if (exponent == 2 || exponent == 3 || exponent == -2)
        return FT_KIND_abs; /* as cheap */
    return exponent == 0.5    ? FT_KIND_sqrt
           : exponent == -0.5 ? FT_KIND_rsqrt
           : exponent == -1   ? FT_KIND_reciprocal
                              : FT_KIND_pow;
}

ft_op ft__op_attention(ft_dtype dtype, const ft_shape *q, const ft_shape *k,
                       const ft_shape *v, bool causal, bool mask)
{
    ft_op op = ft__op_of(FT_KIND_attention, dtype, q);

    ft__op_set_shape(&op, FT_K_y, k);
    ft__op_set_shape(&op, FT_K_z, v);
    ft__op_set1(&op, FT_K_causal, causal);
    ft__op_set1(&op, FT_K_mask, mask);
    return op;
}

ft_op ft__op_concat(ft_dtype dtype, const ft_shape *x, uint32_t axis,
                    const int64_t *sizes, uint32_t n)
{
    ft_op op = ft__op_of(FT_KIND_concat, dtype, x);

    ft__op_set1(&op, FT_K_axis, axis);
    ft__op_set(&op, FT_K_sizes, sizes, n);
    return op;
}

ft_op ft__op_embedding(ft_dtype dtype, const ft_shape *x, int64_t rows, int64_t dim)
{
    ft_op op = ft__op_of(FT_KIND_embedding, dtype, x);

    ft__op_set1(&op, FT_K_rows, rows);
    ft__op_set1(&op, FT_K_dim, dim);
    return op;
}

ft_op ft__op_recurrent(ft_kind kind, ft_dtype dtype, const ft_shape *x, int64_t hidden,
                       int64_t directions, bool bias)
{
    ft_op op = ft__op_of(kind, dtype, x);

    ft__op_set1(&op, FT_K_hidden, hidden);
    ft__op_set1(&op, FT_K_directions, directions);
    ft__op_set1(&op, FT_K_bias, bias);
    return op;
}

bool ft__shape_fits(const ft_shape *s)
{
    int64_t n = 1;

    for (uint32_t i = 0; i < s->rank; i++) {
        int64_t d = s->dim[i] ? s->dim[i] : 1;

        if ((uint64_t)(n | d) >> 26 && (d < 0 || n > FT__MAX_ELEMENTS / d))
            return false;
        n *= d;
    }
    return true;
}

bool ft__broadcast(const ft_shape *a, const ft_shape *b, ft_shape *out)
{
    const ft_shape *t = a->rank >= b->rank ? b : a;

    *out = a->rank >= b->rank ? *a : *b;
    for (uint32_t i = 0; i < t->rank; i++) {
        int64_t *d = &out->dim[out->rank - 1 - i], e = t->dim[t->rank - 1 - i];

        if (*d == 1)
            *d = e;
        else if (e != 1 && e != *d)
            return false;
    }
    return true;
}

static bool between(const int64_t *v, uint32_t n, int64_t least)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i] < least || v[i] > INT32_MAX)
            return false;
    return true;
}

bool ft__window_pads_fit(const ft__sliding_window *w)
{
    return between(w->begin, w->axes, 0) && between(w->end, w->axes, 0);
}

bool ft__window_steps_fit(const ft__sliding_window *w)
{
    return between(w->kernel, w->axes, 1) && between(w->stride, w->axes, 1) &&
           between(w->dilation, w->axes, 1) && between(w->outpad, w->axes, 0);
}

ft_kind ft__window_kind(ft_kind one, const ft__sliding_window *w)
{
    return (ft_kind)((int)one + (int)w->axes - 1);
}

void ft__window_set(ft_op *op, const ft__sliding_window *w)
{
    int64_t pad[2 * FT__WINDOW_AXES];
    bool even = memcmp(w->begin, w->end, w->axes * sizeof(w->end[0])) == 0;

    memcpy(pad, w->begin, w->axes * sizeof(pad[0]));
    memcpy(pad + w->axes, w->end, w->axes * sizeof(pad[0]));
    ft__op_set(op, FT_K_kernel, w->kernel, w->axes);
    ft__op_set(op, FT_K_stride, w->stride, w->axes);
    ft__op_set(op, FT_K_pad, pad, even ? w->axes : 2 * w->axes);
    ft__op_set(op, FT_K_outpad, w->outpad, w->axes);
    ft__op_set(op, FT_K_dilation, w->dilation, w->axes);
}

void ft__window_set_conv(ft_op *op, const ft__sliding_window *w, int64_t out,
                         int64_t groups, bool bias)
{
    ft__op_set1(op, FT_K_out, out);
    ft__window_set(op, w);
    ft__op_set1(op, FT_K_groups, groups);
    ft__op_set1(op, FT_K_bias, bias);
}
