/* com.microsoft: moving data, transforms, and what generates text. */
#include <math.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

static void rule_expand_dims(ft__onnx_node *n)
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

/* Windows along an axis, each of them copied. */
static void rule_unfold(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    uint32_t axis = ft__axis(n, ft__attr_int(n, "dim", -1), s.rank);
    int64_t size = ft__attr_size(n, "size", 0), step = ft__attr_size(n, "step", 1);

    if (ft__failed(n) || s.dim[axis] < size) {
        ft__misfit(n, 0);
        return;
    }
    s.dim[axis] = (s.dim[axis] - size) / step + 1;
    ft__push(n, &s, size);
    if (!ft__failed(n))
        ft__make_move(n, FT_KIND_expand, n->in[0], &s, n->out[0]);
}

/* Pieces of images: X, boxes, whose box it is, and the size. */
static void rule_crop_resize(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape, *boxes = &n->in[1]->shape;
    int64_t size[2];
    ft_shape s;
    ft_op op;

    if (!ft__has_rank(n, 0, 4) || !ft__has_rank(n, 1, 2))
        return;
    if (ft__ints(n, n->in[3], size, 2) != 2 || size[0] < 0 || size[1] < 0) {
        ft__emit_unknown(n);
        return;
    }
    s = *FT__SHAPE(boxes->dim[0], x->dim[1], size[0], size[1]);
    ft__op_init(&op, FT_KIND_roi_align, n->in[0]->dtype);
    ft__op_set_shape(&op, FT_K_x, x);
    ft__op_set_shape(&op, FT_K_y, boxes);
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__emit2(n, &op, n->in[0], n->in[1], &s);
}

/* Over the last signal_ndim axes; complex numbers are a last axis of 2. arg: 0
 * real to complex, of which half is kept; 1 the way back. */
static void rule_fft(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    int64_t axes = ft__attr_size(n, "signal_ndim", 1), points = 1;
    bool half = ft__attr_int(n, "onesided", 1);
    uint32_t last;
    ft_op op;

    if (n->rule->arg && s.rank && s.dim[s.rank - 1] == 2)
        s.rank--;
    if (s.rank == 0 || axes > s.rank) {
        ft__misfit(n, 0);
        return;
    }
    last = s.rank - 1;
    if (n->rule->arg && half)
        s.dim[last] = 2 * (s.dim[last] - 1);
    for (uint32_t i = 0; i < (uint32_t)axes; i++)
        points *= s.dim[last - i] > 0 ? s.dim[last - i] : 1;
    if (!n->rule->arg && half)
        s.dim[last] = s.dim[last] / 2 + 1;
    if (!n->rule->arg)
        ft__push(n, &s, 2);
    if (ft__failed(n))
        return;
    op = ft__op_x(FT_KIND_fft, n->in[0]);
    ft__op_set1(&op, FT_K_size, points);
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__emit1(n, &op, n->in[0], &s);
}

/* ---- results without operations of their own ---- */

/* One value. arg: its dtype. */
static void rule_scalar(ft__onnx_node *n)
{
    ft__emit_generic(n, n->out[0], (ft_dtype)n->rule->arg, &(ft_shape){0});
}

/* Generic, of operand `arg`'s shape and dtype. */
static void rule_like(ft__onnx_node *n)
{
    const ft__onnx_value *x = n->in[n->rule->arg];

    ft__emit_generic(n, n->out[0], x->dtype, &x->shape);
}

/* A hash of every element: positive ones have no sign. */
static void rule_hash(ft__onnx_node *n)
{
    bool positive = ft__attr_int(n, "positive", 1);

    ft__emit_generic(n, n->out[0], positive ? FT_DTYPE_uint32 : FT_DTYPE_int32,
                     &n->in[0]->shape);
}

/* At most as many as there are; then their first places, and how often each is. */
static void rule_unique(ft__onnx_node *n)
{
    const ft__onnx_value *x = n->in[0];

    ft__emit_bounded(n, &x->shape, 1);
    ft__emit_extra(n, 1, FT_DTYPE_int64, &x->shape);
    ft__emit_extra_open(n, 2, FT_DTYPE_int64, &x->shape, 1);
}

/* The way through a table of costs: at most all rows and columns. */
static void rule_time_warping(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;

    if (x->rank < 2 || x->rank > 3) {
        ft__misfit(n, 0);
        return;
    }
    ft__emit_open(n, n->out[0], FT_DTYPE_int32,
                  FT__SHAPE(2, x->dim[x->rank - 1] + x->dim[x->rank - 2]), 2);
}

/* Tokens of a guess that were right, then those after them. */
static void rule_bifurcation(ft__onnx_node *n)
{
    int64_t tokens = ft_shape_elements(&n->in[1]->shape);

    if (ft__in(n, 3))
        tokens += ft_shape_elements(&n->in[3]->shape);
    ft__emit_open(n, n->out[0], n->in[1]->dtype, FT__SHAPE(tokens), 1);
    ft__emit_extra(n, 1, n->in[2]->dtype, &(ft_shape){0});
}

/* At most all tokens; where they lie, sums of their numbers, and the largest. */
static void rule_remove_padding(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;

    if (!ft__has_rank(n, 0, 3))
        return;
    ft__emit_bounded(n, FT__SHAPE(x->dim[0] * x->dim[1], x->dim[2]), 1);
    ft__emit_extra(n, 1, FT_DTYPE_int32, FT__SHAPE(x->dim[0], x->dim[1]));
    ft__emit_extra(n, 2, FT_DTYPE_int32, FT__SHAPE(x->dim[0] + 1));
    ft__emit_extra(n, 3, FT_DTYPE_int32, FT__SHAPE(1));
}

static void rule_restore_padding(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape, *places = &n->in[1]->shape;

    if (ft__has_rank(n, 0, 2) && ft__has_rank(n, 1, 2))
        ft__make_move(n, FT_KIND_pad, n->in[0],
                      FT__SHAPE(places->dim[0], places->dim[1], x->dim[1]), n->out[0]);
}

/* Text generated in a loop over a decoder that is an attribute: how often depends
 * on what it says. arg: 1 with beams. */
static void rule_search(ft__onnx_node *n)
{
    const ft__onnx_value *ids = n->in[0];
    int64_t length = ft__int_in(n, 1), each = n->rule->arg ? ft__int_in(n, 4) : 1;
    ft_shape s = {0};

    if (length < 0 || each < 0 || !ids->shape.rank) {
        ft__emit_unknown(n);
        return;
    }
    s.dim[s.rank++] = ids->shape.dim[0];
    if (n->rule->arg)
        s.dim[s.rank++] = each;
    s.dim[s.rank++] = length;
    ft__emit_generic(n, n->out[0], FT_DTYPE_int32, &s);
    s.rank--;
    for (uint32_t i = 1; i < n->n_out; i++)
        ft__emit_extra(n, i, FT_DTYPE_fp32, &s);
}

static const ft__operator_rule rules[] = {
    {"BeamSearch", rule_search, 1, 2, FT__MICROSOFT | FT__BODY},
    {"BifurcationDetector", rule_bifurcation, 0, 3, FT__MICROSOFT},
    {"CropAndResize", rule_crop_resize, 0, 4, FT__MICROSOFT},
    {"DynamicTimeWarping", rule_time_warping, 0, 1, FT__MICROSOFT},
    {"ExpandDims", rule_expand_dims, 0, 2, FT__MICROSOFT},
    {"GreedySearch", rule_search, 0, 2, FT__MICROSOFT | FT__BODY},
    {"Inverse", rule_like, 0, 1, FT__MICROSOFT},
    {"Irfft", rule_fft, 1, 1, FT__MICROSOFT},
    {"IsAllFinite", rule_scalar, FT_DTYPE_bool, 1, FT__MICROSOFT},
    {"MurmurHash3", rule_hash, 0, 1, FT__MICROSOFT},
    {"NGramRepeatBlock", rule_like, 1, 2, FT__MICROSOFT},
    {"RemovePadding", rule_remove_padding, 0, 2, FT__MICROSOFT},
    {"RestorePadding", rule_restore_padding, 0, 2, FT__MICROSOFT},
    {"Rfft", rule_fft, 0, 1, FT__MICROSOFT},
    {"Sampling", rule_search, 0, 2, FT__MICROSOFT | FT__BODY},
    {"UnfoldTensor", rule_unfold, 0, 1, FT__MICROSOFT},
    {"Unique", rule_unique, 0, 1, FT__MICROSOFT},
    {"WhisperBeamSearch", rule_search, 1, 2, FT__MICROSOFT | FT__BODY},
};

const ft__rule_table ft__rules_ms_others = {rules, sizeof(rules) / sizeof(*rules)};
