/* Convolutions and pooling: everything that slides a window. */
#include <string.h>

#include "import/compose.h"

enum { MAX_AXES = 3 };

struct window {
    uint32_t axes;
    int64_t kernel[MAX_AXES];
    int64_t stride[MAX_AXES];
    int64_t dilation[MAX_AXES];
    int64_t begin[MAX_AXES];
    int64_t end[MAX_AXES];
    int64_t outpad[MAX_AXES]; /* transposed only */
};

static void per_axis(ft__onnx *o, const ft__node *n, const char *name, uint32_t axes,
                     int64_t fallback, int64_t *out)
{
    int64_t have;

    for (uint32_t i = 0; i < axes; i++)
        out[i] = fallback;
    have = ft__attr_ints(o, n, name, out, axes);
    if (have >= 0 && have != (int64_t)axes)
        ft__onnx_fail(o, n, FT_EFORMAT, "%s has %lld values for %u axes", name,
                      (long long)have, axes);
}

/* auto_pad and pads; x is the input's shape. */
static void read_pads(ft__onnx *o, const ft__node *n, const ft_shape *x,
                      bool transposed, struct window *w)
{
    ft__str mode = ft__attr_str(o, n, "auto_pad");
    bool upper = ft__str_is(mode, "SAME_UPPER"), lower = ft__str_is(mode, "SAME_LOWER");
    int64_t pads[2 * MAX_AXES] = {0}, size[MAX_AXES] = {0};
    bool sized = transposed &&
                 ft__attr_ints(o, n, "output_shape", size, w->axes) == (int64_t)w->axes;

    if (!upper && !lower && !sized && !ft__str_is(mode, "VALID"))
        per_axis(o, n, "pads", 2 * w->axes, 0, pads);
    for (uint32_t i = 0; i < w->axes; i++) {
        int64_t in = x->dim[i + 2], total,
                reach = w->dilation[i] * (w->kernel[i] - 1) + 1;

        w->begin[i] = pads[i];
        w->end[i] = pads[w->axes + i];
        if (!upper && !lower && !sized)
            continue;
        if (transposed)
            total = w->stride[i] * (in - 1) + w->outpad[i] + reach -
                    (sized ? size[i] : in * w->stride[i]);
        else
            total = ((in + w->stride[i] - 1) / w->stride[i] - 1) * w->stride[i] +
                    reach - in;
        total = total > 0 ? total : 0;
        w->begin[i] = lower ? total - total / 2 : total / 2;
        w->end[i] = total - w->begin[i];
    }
}

/* kernel is set; false: not a window that an operation can describe. */
static bool read_window(ft__onnx *o, const ft__node *n, const ft_shape *x,
                        bool transposed, struct window *w)
{
    per_axis(o, n, "strides", w->axes, 1, w->stride);
    per_axis(o, n, "dilations", w->axes, 1, w->dilation);
    per_axis(o, n, "output_padding", w->axes, 0, w->outpad);
    for (uint32_t i = 0; i < w->axes; i++)
        if (w->stride[i] < 1 || w->dilation[i] < 1 || w->kernel[i] < 1 ||
            w->stride[i] > INT32_MAX || w->dilation[i] > INT32_MAX ||
            w->kernel[i] > INT32_MAX || w->outpad[i] < 0 || w->outpad[i] > INT32_MAX ||
            x->dim[i + 2] > INT32_MAX) {
            ft__onnx_fail(o, n, FT_EFORMAT,
                          "kernel, strides and dilations must be 1 to 2^31");
            return false;
        }
    read_pads(o, n, x, transposed, w);
    for (uint32_t i = 0; i < w->axes; i++)
        if (w->begin[i] < 0 || w->end[i] < 0 || w->begin[i] > INT32_MAX ||
            w->end[i] > INT32_MAX)
            return false;
    return !ft__failed(o);
}

static void set_window(ft_op *op, const struct window *w)
{
    int64_t pad[2 * MAX_AXES];
    bool even = memcmp(w->begin, w->end, w->axes * sizeof(w->end[0])) == 0;

    memcpy(pad, w->begin, w->axes * sizeof(pad[0]));
    memcpy(pad + w->axes, w->end, w->axes * sizeof(pad[0]));
    ft_op_set(op, FT_K_kernel, w->kernel, w->axes);
    ft_op_set(op, FT_K_stride, w->stride, w->axes);
    ft_op_set(op, FT_K_pad, pad, even ? w->axes : 2 * w->axes);
    ft_op_set(op, FT_K_outpad, w->outpad, w->axes);
    ft_op_set(op, FT_K_dilation, w->dilation, w->axes);
}

static bool channels_fit(ft__onnx *o, const ft__node *n, int64_t channels, int64_t want)
{
    if (channels != want)
        ft__onnx_fail(o, n, FT_EFORMAT, "x has %lld channels, the weights are for %lld",
                      (long long)channels, (long long)want);
    return channels == want;
}

/* arg: 0 convolution, 1 transposed. */
void ft__rule_conv(ft__onnx *o, ft__node *n)
{
    ft__value *x = n->in[0], *w = n->in[1], *bias = ft__in(n, 2);
    bool transposed = n->rule->arg;
    int64_t groups = ft__attr_int(o, n, "group", 1), out;
    struct window win = {.axes = x->shape.rank - 2};
    ft_op op;

    if (x->shape.rank < 3 || x->shape.rank > 5 || w->shape.rank != x->shape.rank ||
        !ft__is_constant(w) || (bias && !ft__is_constant(bias)) || groups < 1 ||
        groups > INT32_MAX || w->shape.dim[0] > INT32_MAX ||
        w->shape.dim[1] > INT32_MAX) {
        ft__emit_unknown(o, n);
        return;
    }
    memcpy(win.kernel, w->shape.dim + 2, win.axes * sizeof(win.kernel[0]));
    out = transposed ? w->shape.dim[1] * groups : w->shape.dim[0];
    if (!channels_fit(o, n, x->shape.dim[1],
                      transposed ? w->shape.dim[0] : w->shape.dim[1] * groups))
        return;
    if (!read_window(o, n, &x->shape, transposed, &win)) {
        ft__emit_unknown(o, n);
        return;
    }
    ft_op_init(&op,
               (ft_kind)((transposed ? FT_KIND_conv_transpose1d : FT_KIND_conv1d) +
                         (int)win.axes - 1),
               x->dtype);
    ft_op_set_shape(&op, FT_K_x, &x->shape);
    ft_op_set1(&op, FT_K_out, out);
    set_window(&op, &win);
    ft_op_set1(&op, FT_K_groups, groups);
    ft_op_set1(&op, FT_K_bias, bias != NULL);
    ft__emit(o, n, &op,
             &(ft__call){.in = n->in,
                         .n_in = 1,
                         .params = n->in + 1,
                         .n_params = bias ? 2 : 1,
                         .out = n->out,
                         .n_out = 1});
}

/* arg: the kind for one spatial axis; those for two and three follow it. */
void ft__rule_pool(ft__onnx *o, ft__node *n)
{
    ft__value *x = n->in[0];
    struct window win = {.axes = x->shape.rank - 2};
    ft_op op;

    if (x->shape.rank < 3 || x->shape.rank > 5) {
        ft__emit_unknown(o, n);
        return;
    }
    per_axis(o, n, "kernel_shape", win.axes, 0, win.kernel);
    if (!read_window(o, n, &x->shape, false, &win)) {
        ft__emit_unknown(o, n);
        return;
    }
    ft_op_init(&op, (ft_kind)(n->rule->arg + (int)win.axes - 1), x->dtype);
    ft_op_set_shape(&op, FT_K_x, &x->shape);
    set_window(&op, &win);
    ft_op_set1(&op, FT_K_ceil, ft__attr_int(o, n, "ceil_mode", 0) != 0);
    ft__emit1(o, n, &op, x, NULL);
    if (ft__out(n, 0))
        ft__emit_extra(o, n, 1, FT_DTYPE_int64, &n->out[0]->shape);
}

void ft__rule_global_pool(ft__onnx *o, ft__node *n)
{
    ft_op op;

    ft_op_init(&op, (ft_kind)n->rule->arg, n->in[0]->dtype);
    ft_op_set_shape(&op, FT_K_x, &n->in[0]->shape);
    ft__emit1(o, n, &op, n->in[0], NULL);
}

/* ---- for operators that are more than the window ---- */

ft__value *ft__make_conv(ft__maker m, const ft__conv *c, ft__value *out)
{
    const ft_shape *x = c->x ? &c->x->shape : NULL;
    int64_t groups = ft__attr_size(m.o, m.n, "group", 1), bits;
    struct window win = {0};
    ft_op op;

    if (!x || !ft__is_constant(c->weights) || ft__failed(m.o))
        return NULL;
    if (x->rank < 3 || x->rank > 5 || c->filters.rank != x->rank ||
        c->filters.dim[1] > INT32_MAX ||
        !channels_fit(m.o, m.n, x->dim[1], c->filters.dim[1] * groups)) {
        ft__misfit(m.o, m.n, 1);
        return NULL;
    }
    win.axes = x->rank - 2;
    memcpy(win.kernel, c->filters.dim + 2, win.axes * sizeof(win.kernel[0]));
    if (!read_window(m.o, m.n, x, false, &win)) {
        ft__onnx_fail(m.o, m.n, FT_EUNSUPPORTED, "its window crops its operand");
        return NULL;
    }
    bits = c->weights->dtype == c->x->dtype ? FT_DTYPE_NONE : c->weights->dtype;
    ft_op_init(&op, (ft_kind)(FT_KIND_conv1d + (int)win.axes - 1), c->x->dtype);
    ft_op_set_shape(&op, FT_K_x, x);
    ft_op_set1(&op, FT_K_out, c->filters.dim[0]);
    set_window(&op, &win);
    ft_op_set1(&op, FT_K_groups, groups);
    ft_op_set1(&op, FT_K_bias, c->bias != NULL);
    ft_op_set1(&op, FT_K_to, c->to == c->x->dtype ? FT_DTYPE_NONE : c->to);
    ft_op_set1(&op, FT_K_weights, bits);
    return ft__make(m, &op,
                    &(ft__call){.in = (ft__value *[]){c->x},
                                .n_in = 1,
                                .params = (ft__value *[]){c->weights, c->bias},
                                .n_params = c->bias ? 2 : 1},
                    out);
}

ft__value *ft__make_pool(ft__maker m, ft_kind kind, ft__value *x, ft__value *out)
{
    struct window win = {.axes = x ? x->shape.rank - 2 : 0};
    ft_op op;

    if (!x || ft__failed(m.o))
        return NULL;
    if (x->shape.rank < 3 || x->shape.rank > 5) {
        ft__misfit(m.o, m.n, 0);
        return NULL;
    }
    per_axis(m.o, m.n, "kernel_shape", win.axes, 0, win.kernel);
    if (!read_window(m.o, m.n, &x->shape, false, &win)) {
        ft__onnx_fail(m.o, m.n, FT_EUNSUPPORTED, "its window crops its operand");
        return NULL;
    }
    ft_op_init(&op, (ft_kind)((int)kind + (int)win.axes - 1), x->dtype);
    ft_op_set_shape(&op, FT_K_x, &x->shape);
    set_window(&op, &win);
    ft_op_set1(&op, FT_K_ceil, ft__attr_int(m.o, m.n, "ceil_mode", 0) != 0);
    return ft__make(m, &op, &(ft__call){.in = &x, .n_in = 1}, out);
}
