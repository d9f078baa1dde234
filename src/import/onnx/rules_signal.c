/* Spectra and the windows they are taken through. */
#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

/* The axis, an operand from opset 20 on and an attribute before; -1: unknown. */
static int64_t dft_axis(const ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;
    int64_t axis = n->import->opset < 20 ? ft__attr_int(n, "axis", 1) : -2;

    if (ft__in(n, 2) && ft__ints(n, n->in[2], &axis, 1) != 1)
        return -1;
    return ft__axis(n, axis, x->rank);
}

/* Real signals end in 1, complex ones in 2. One-sided: only the half of a real
 * signal's spectrum that is not the mirror of the other. */
void ft__rule_dft(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *length = ft__in(n, 1);
    bool inverse = ft__attr_int(n, "inverse", 0), half = ft__attr_int(n, "onesided", 0),
         known;
    int64_t axis, points = -1;
    ft_shape s = x->shape;
    ft_op op = ft__op_x(FT_KIND_fft, x);
    uint32_t open = 0;

    if (s.rank < 2 || s.dim[s.rank - 1] < 1 || s.dim[s.rank - 1] > 2) {
        ft__onnx_fail(n, "the last dimension of its operand is not 1 or 2");
        return;
    }
    axis = dft_axis(n);
    if (ft__failed(n))
        return;
    s.dim[s.rank - 1] = inverse && half ? 1 : 2;
    if (axis >= 0)
        points = inverse && half ? 2 * (s.dim[axis] - 1) : s.dim[axis];
    known = !length || ft__ints(n, length, &points, 1) == 1;
    if (axis < 0 && !length && !half)
        axis = 0; /* any: all keep their sizes */
    if (axis < 0 || !known)
        open = axis < 0 ? (1u << (s.rank - 1)) - 1 : 1u << axis;
    if (points < 0 && axis >= 0)
        points = s.dim[axis];
    if (!open) {
        if (points < 1 || points > FT__MAX_ELEMENTS) {
            ft__onnx_fail(n, "it has %lld points", (long long)points);
            return;
        }
        s.dim[axis] = half && !inverse ? points / 2 + 1 : points;
        ft__op_set1(&op, FT_K_size, points);
        ft__op_set_shape(&op, FT_K_out, &s);
        ft__emit1(n, &op, x, &s);
    } else {
        ft__emit_bounded(n, &s, open);
    }
}

/* A spectrum of every frame: batch x frames x points x 2. */
void ft__rule_stft(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *window = ft__in(n, 2), *length = ft__in(n, 3);
    bool half = ft__attr_int(n, "onesided", 1), known;
    int64_t step = 0, points = 0, frames;
    ft_shape s = {4, {0, 0, 0, 2}};
    ft_op op = ft__op_x(FT_KIND_fft, x);

    if (x->shape.rank < 2 || x->shape.rank > 3) {
        ft__onnx_fail(n, "its signal has %u dimensions, not 3", x->shape.rank);
        return;
    }
    known = length ? ft__ints(n, length, &points, 1) == 1 : window != NULL;
    if (window && window->shape.rank == 1 && !(length && known)) {
        points = window->shape.dim[0];
        known = true;
    }
    s.dim[0] = x->shape.dim[0];
    s.dim[1] = x->shape.dim[1];
    s.dim[2] = known ? points : s.dim[1];
    if (half)
        s.dim[2] = s.dim[2] / 2 + 1;
    if (!known || ft__ints(n, n->in[1], &step, 1) != 1) {
        ft__emit_bounded(n, &s, known ? 2u : 6u);
        return;
    }
    if (step < 1 || points < 1 || points > x->shape.dim[1]) {
        ft__onnx_fail(n, "frames of %lld points do not fit its signal",
                      (long long)points);
        return;
    }
    frames = (x->shape.dim[1] - points) / step + 1;
    s.dim[1] = frames;
    ft__op_set1(&op, FT_K_size, points);
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__make_of(n, &op, (ft__onnx_value *[]){x, window}, window ? 2 : 1, &s, n->out[0]);
}

static ft_dtype window_dtype(const ft__onnx_node *n)
{
    ft_dtype t = ft_dtype_from_onnx(ft__attr_int(n, "output_datatype", 1));

    return t ? t : FT_DTYPE_fp32;
}

/* A table of this shape, made once. */
static void table(ft__onnx_node *n, const ft_shape *s, uint32_t open)
{
    if (open)
        ft__emit_open(n, n->out[0], window_dtype(n), s, open);
    else
        ft__define_constant(n, n->out[0], window_dtype(n), s);
}

/* Hann, Hamming, Blackman. */
void ft__rule_window(ft__onnx_node *n)
{
    ft_shape s = {1, {1}};
    bool known = ft__ints(n, n->in[0], s.dim, 1) == 1;

    table(n, &s, known ? 0 : 1u);
}

/* Frequencies of a spectrum x bins. */
void ft__rule_mel(ft__onnx_node *n)
{
    ft_shape s = {2, {1, 1}};
    bool length = ft__ints(n, n->in[1], &s.dim[0], 1) == 1,
         bins = ft__ints(n, n->in[0], &s.dim[1], 1) == 1;

    if (length)
        s.dim[0] = s.dim[0] / 2 + 1;
    table(n, &s, (length ? 0 : 1u) | (bins ? 0 : 2u));
}
