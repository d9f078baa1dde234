/* Vision: convolutions and pooling, forward and backward, everything that slides a
 * window, and what picks from a picture. */
#include <string.h>

#include "graph/op_inside.h"
#include "import/pt2/pt2.h"

/* One value for every axis, or one each. False: there are none. */
static bool per_axis(const ft__pt2_node *n, const char *name, uint32_t axes,
                     int64_t fallback, int64_t *out)
{
    int64_t have = ft__pt2_ints(n, name, out, axes);

    for (uint32_t i = have > 0 ? (uint32_t)have : 0; i < axes; i++)
        out[i] = have > 0 ? out[0] : fallback;
    return have > 0;
}

/* padding: numbers, "same" or "valid". */
static void read_padding(const ft__pt2_node *n, ft__sliding_window *w)
{
    bool same = FT__IS(ft__pt2_string(n, "padding"), "same");

    per_axis(n, "padding", w->axes, 0, w->begin);
    memcpy(w->end, w->begin, sizeof(w->end));
    for (uint32_t i = 0; same && i < w->axes; i++) {
        int64_t total = w->dilation[i] * (w->kernel[i] - 1);

        w->begin[i] = total / 2;
        w->end[i] = total - total / 2;
    }
}

static void read_window(const ft__pt2_node *n, ft__sliding_window *w)
{
    per_axis(n, "stride", w->axes, 1, w->stride);
    per_axis(n, "dilation", w->axes, 1, w->dilation);
    per_axis(n, "output_padding", w->axes, 0, w->outpad);
    read_padding(n, w);
}

static bool window_fits(const ft__sliding_window *w)
{
    return ft__window_steps_fit(w) && ft__window_pads_fit(w);
}

/* batch x channels x spatial; an input without a batch is a batch of one. */
static bool with_batch(const ft__pt2_value *v, uint32_t axes, ft_shape *s)
{
    *s = v->shape;
    if (s->rank == axes + 1) {
        memmove(s->dim + 1, s->dim, s->rank * sizeof(s->dim[0]));
        s->dim[0] = 1;
        s->rank++;
    }
    return s->rank == axes + 2;
}

/* The convolution that a node does, or whose gradient it is. */
static bool convolution(const ft__pt2_node *n, bool transposed, bool bias, ft_op *op)
{
    ft__pt2_value *x = ft__pt2_tensor(n, "input"), *w = ft__pt2_tensor(n, "weight");
    int64_t groups = ft__pt2_int(n, "groups", 1);
    ft__sliding_window win = {0};
    ft_shape s;

    if (!x || !w || w->shape.rank < 3 || w->shape.rank > 5 || groups < 1 ||
        groups > INT32_MAX || w->shape.dim[1] > INT32_MAX)
        return false;
    win.axes = w->shape.rank - 2;
    memcpy(win.kernel, w->shape.dim + 2, win.axes * sizeof(win.kernel[0]));
    read_window(n, &win);
    if (!with_batch(x, win.axes, &s) || !window_fits(&win))
        return false;
    *op = ft__op_of(
        ft__window_kind(transposed ? FT_KIND_conv_transpose1d : FT_KIND_conv1d, &win),
        x->dtype, &s);
    ft__window_set_conv(op, &win,
                        transposed ? w->shape.dim[1] * groups : w->shape.dim[0], groups,
                        bias);
    return true;
}

/* arg: 1 transposed; convolution() itself says so in an argument. */
static void aten_conv(ft__pt2_node *n)
{
    bool transposed = ft__pt2_bool(n, "transposed", n->rule->arg);
    ft__pt2_value *x = ft__pt2_tensor(n, "input"), *bias = ft__pt2_tensor(n, "bias");
    ft_op op;

    if (!convolution(n, transposed, bias != NULL, &op))
        return;
    ft__pt2_emit_layer(n, &op, &x, 1,
                       (ft__pt2_value *[]){ft__pt2_tensor(n, "weight"), bias}, 2);
}

static void aten_conv_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {ft__pt2_tensor(n, "grad_output"),
                            ft__pt2_tensor(n, "input")};
    ft__pt2_value *w = ft__pt2_tensor(n, "weight");
    int64_t sizes[1] = {0};
    bool bias = ft__pt2_ints(n, "bias_sizes", sizes, 1) > 0 && sizes[0] > 0;
    ft_op op;

    if (!in[0] || !convolution(n, ft__pt2_bool(n, "transposed", false), bias, &op))
        return;
    ft__pt2_emit_gradient(n, &op, ft__pt2_layer_wrt(n), in, 2, w);
}

/* deform_conv2d(x, weight, offset, mask, bias, stride h, w, pad h, w, dilation h,
 * w, groups ...). */
static void aten_deform_conv(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, ft__pt2_in(n, 2)};
    ft__pt2_value *w = n->y, *bias = ft__pt2_tensor(n, "bias");
    ft__sliding_window win = {.axes = 2};
    ft_op op;

    if (!w || w->shape.rank != 4)
        return;
    memcpy(win.kernel, w->shape.dim + 2, 2 * sizeof(win.kernel[0]));
    win.stride[0] = ft__pt2_int(n, "stride_h", 1);
    win.stride[1] = ft__pt2_int(n, "stride_w", 1);
    win.begin[0] = win.end[0] = ft__pt2_int(n, "pad_h", 0);
    win.begin[1] = win.end[1] = ft__pt2_int(n, "pad_w", 0);
    win.dilation[0] = ft__pt2_int(n, "dilation_h", 1);
    win.dilation[1] = ft__pt2_int(n, "dilation_w", 1);
    if (!window_fits(&win))
        return;
    op = ft__pt2_op(FT_KIND_deform_conv2d, FT_DTYPE_NONE, in[0], in[1], NULL);
    ft__window_set_conv(&op, &win, w->shape.dim[0], ft__pt2_int(n, "groups", 1),
                        bias != NULL);
    ft__pt2_emit_layer(n, &op, in, 2, (ft__pt2_value *[]){w, bias}, 2);
}

/* The last digit before "d" or "d_...": max_pool2d_with_indices. */
static uint32_t axes_in_name(ft__text op)
{
    for (size_t i = op.n; i-- > 1;)
        if (op.s[i] == 'd' && op.s[i - 1] >= '1' && op.s[i - 1] <= '3')
            return (uint32_t)(op.s[i - 1] - '0');
    return 0;
}

static bool pooling(const ft__pt2_node *n, ft_kind kind, const ft__pt2_value *x,
                    ft_op *op)
{
    ft__sliding_window w = {.axes = axes_in_name(n->op)};
    ft_shape s;

    if (!w.axes || !with_batch(x, w.axes, &s) ||
        !per_axis(n, "kernel_size", w.axes, 0, w.kernel))
        return false;
    read_window(n, &w);
    if (!per_axis(n, "stride", w.axes, 1, w.stride))
        memcpy(w.stride, w.kernel, sizeof(w.stride));
    if (!window_fits(&w))
        return false;
    *op = ft__op_of(ft__window_kind(kind, &w), x->dtype, &s);
    ft__window_set(op, &w);
    ft__op_set1(op, FT_K_ceil, ft__pt2_bool(n, "ceil_mode", false));
    return true;
}

/* arg: the kind for one spatial axis; those for two and three follow it. */
static void aten_pool(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x;
    ft_op op;

    if (x && pooling(n, (ft_kind)n->rule->arg, x, &op))
        ft__pt2_emit_in(n, &op, &x, 1);
}

/* To a given size: over everything, or windows as even as they can be. */
static bool adaptive(ft_kind kind, ft_kind global, const ft__pt2_value *x,
                     const ft__pt2_value *result, uint32_t axes, ft_op *op)
{
    ft__sliding_window w = {.axes = axes};
    int64_t outputs = 1;
    ft_shape s, out;

    if (!w.axes || !with_batch(x, axes, &s) || !with_batch(result, axes, &out))
        return false;
    for (uint32_t i = 0; i < axes; i++) {
        int64_t in = s.dim[i + 2], want = out.dim[i + 2];

        outputs *= want;
        if (want < 1)
            return false;
        w.dilation[i] = 1;
        w.stride[i] = in > want ? in / want : 1;
        w.kernel[i] = in - (want - 1) * w.stride[i];
    }
    if (outputs == 1) {
        *op = ft__op_of(global, x->dtype, &s);
        return true;
    }
    if (!window_fits(&w)) /* to more than there is: each reads one */
        return false;
    *op = ft__op_of(ft__window_kind(kind, &w), x->dtype, &s);
    ft__window_set(op, &w);
    return true;
}

/* arg: as in pool. */
static void aten_adaptive_pool(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    ft_kind kind = (ft_kind)n->rule->arg;
    ft_op op;

    if (ft_shape_equal(&x->shape, &out->shape) && n->n_out == 1)
        ft__pt2_emit_view(n, x, out);
    else if (adaptive(kind,
                      kind == FT_KIND_avgpool1d ? FT_KIND_global_avgpool
                                                : FT_KIND_global_maxpool,
                      x, out, axes_in_name(n->op), &op))
        ft__pt2_emit_in(n, &op, &x, 1);
}

/* The gradient of pooling: of the result, x, and where the maxima were. */
static void pool_grad(ft__pt2_node *n, ft_op *op)
{
    ft__pt2_value *in[3] = {n->x, n->y, ft__pt2_tensor(n, "indices")};

    op->phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, op, in, in[2] ? 3 : 2);
}

static void aten_pool_grad(ft__pt2_node *n)
{
    ft__pt2_value *x = n->y;
    ft_op op;

    if (x && n->x && pooling(n, (ft_kind)n->rule->arg, x, &op))
        pool_grad(n, &op);
}

static void aten_adaptive_pool_grad(ft__pt2_node *n)
{
    ft__pt2_value *grad = n->x, *x = n->y;
    ft_kind kind = (ft_kind)n->rule->arg;
    ft_op op;

    if (x && grad &&
        adaptive(kind,
                 kind == FT_KIND_avgpool1d ? FT_KIND_global_avgpool
                                           : FT_KIND_global_maxpool,
                 x, grad, axes_in_name(n->op), &op))
        pool_grad(n, &op);
}

/* Two operands and a result of any shape; arg: the kind. */
static void aten_pick(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y};
    ft_op op = ft__pt2_op((ft_kind)n->rule->arg, FT_DTYPE_NONE, n->x, n->y, n->out[0]);

    ft__pt2_emit_in(n, &op, in, 2);
}

/* Of what two operands were picked from: x, and where (a grid, boxes). */
static void pick_grad(ft__pt2_node *n, ft_kind kind, const ft__pt2_value *x,
                      ft__pt2_value *const *in, uint32_t n_in, uint32_t wrt)
{
    ft_op op = ft__pt2_op(kind, in[0]->dtype, x, in[n_in - 1], in[0]);

    ft__pt2_emit_gradient(n, &op, wrt, in, n_in, NULL);
}

static void aten_grid_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[3] = {n->x, n->y, ft__pt2_in(n, 2)};

    if (in[0] && in[1] && in[2])
        pick_grad(n, FT_KIND_grid_sample, in[1], in, 3,
                  ft__pt2_mask(n, 3) & (FT_WRT_X | FT_WRT_Y));
}

static void aten_roi_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y};

    if (in[0] && in[1] && ft__pt2_out(n, 0))
        pick_grad(n, FT_KIND_roi_align, n->out[0], in, 2, FT_WRT_X);
}

const ft__pt2_rule ft__pt2_window_rules[] = {
    {"_adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool1d "
     "adaptive_avg_pool2d adaptive_avg_pool3d",
     aten_adaptive_pool, FT_KIND_avgpool1d, 0},
    {"adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", aten_adaptive_pool,
     FT_KIND_maxpool1d, 0},
    {"_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward",
     aten_adaptive_pool_grad, FT_KIND_avgpool1d, 0},
    {"adaptive_max_pool2d_backward adaptive_max_pool3d_backward",
     aten_adaptive_pool_grad, FT_KIND_maxpool1d, 0},
    {"_convolution _convolution_mode conv1d conv2d conv3d convolution "
     "cudnn_convolution mkldnn_convolution",
     aten_conv, 0, 0},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", aten_conv, 1, 0},
    {"convolution_backward", aten_conv_grad, 0, FT__PT2_ANY},
    {"torchvision.deform_conv2d", aten_deform_conv, 0, 0},
    {"grid_sampler_2d_backward grid_sampler_3d_backward", aten_grid_grad, 0,
     FT__PT2_ANY},
    {"grid_sampler grid_sampler_2d grid_sampler_3d", aten_pick, FT_KIND_grid_sample, 0},
    {"torchvision.nms", aten_pick, FT_KIND_nms, 0},
    {"torchvision.ps_roi_align torchvision.ps_roi_pool torchvision.roi_align "
     "torchvision.roi_pool",
     aten_pick, FT_KIND_roi_align, 0},
    {"avg_pool1d avg_pool2d avg_pool3d", aten_pool, FT_KIND_avgpool1d, 0},
    {"max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices "
     "max_pool3d max_pool3d_with_indices",
     aten_pool, FT_KIND_maxpool1d, 0},
    {"avg_pool2d_backward avg_pool3d_backward", aten_pool_grad, FT_KIND_avgpool1d, 0},
    {"max_pool2d_with_indices_backward max_pool3d_with_indices_backward",
     aten_pool_grad, FT_KIND_maxpool1d, 0},
    {"torchvision._roi_align_backward", aten_roi_grad, 0, 0},
    {NULL, NULL, 0, 0},
};
