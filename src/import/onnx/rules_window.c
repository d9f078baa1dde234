/* Convolutions and pooling: everything that slides a window. */
#include <string.h>

#include "graph/op_inside.h"
#include "import/onnx/compose.h"

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

static void per_axis(const ft__node *n, const char *name, uint32_t axes,
                     int64_t fallback, int64_t *out)
{
    int64_t have;

    for (uint32_t i = 0; i < axes; i++)
        out[i] = fallback;
    have = ft__attr_ints(n, name, out, axes);
    if (have >= 0 && have != (int64_t)axes)
        ft__onnx_fail(n, "%s has %lld values for %u axes", name, (long long)have, axes);
}

/* The sizes that a transposed convolution shall have; false: none. Once batch and
 * channels stood in front. */
static bool read_output_shape(const ft__node *n, uint32_t axes, int64_t *size)
{
    int64_t all[MAX_AXES + 2],
        count = ft__attr_ints(n, "output_shape", all, MAX_AXES + 2);

    if (count != (int64_t)axes && count != (int64_t)axes + 2)
        return false;
    memcpy(size, all + (count - axes), axes * sizeof(*size));
    for (uint32_t i = 0; i < axes; i++)
        if (size[i] < 0 || size[i] > INT32_MAX)
            size[i] = 0;
    return true;
}

/* auto_pad and pads; x is the input's shape. */
static void read_pads(const ft__node *n, const ft_shape *x, bool transposed,
                      struct window *w)
{
    ft__str mode = ft__attr_str(n, "auto_pad");
    bool upper = ft__str_is(mode, "SAME_UPPER"), lower = ft__str_is(mode, "SAME_LOWER");
    int64_t pads[2 * MAX_AXES] = {0}, size[MAX_AXES] = {0};
    bool sized = transposed && read_output_shape(n, w->axes, size);

    if (!upper && !lower && !sized && !ft__str_is(mode, "VALID"))
        per_axis(n, "pads", 2 * w->axes, 0, pads);
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
        if (total < 0 && transposed) /* what is asked for beyond the reach */
            w->outpad[i] -= total;
        total = total > 0 ? total : 0;
        w->begin[i] = lower ? total - total / 2 : total / 2;
        w->end[i] = total - w->begin[i];
    }
}

/* kernel is set; false: not a window that an operation can describe. */
static bool read_window(const ft__node *n, const ft_shape *x, bool transposed,
                        struct window *w)
{
    per_axis(n, "strides", w->axes, 1, w->stride);
    per_axis(n, "dilations", w->axes, 1, w->dilation);
    per_axis(n, "output_padding", w->axes, 0, w->outpad);
    for (uint32_t i = 0; i < w->axes; i++)
        if (w->stride[i] < 1 || w->dilation[i] < 1 || w->kernel[i] < 1 ||
            w->stride[i] > INT32_MAX || w->dilation[i] > INT32_MAX ||
            w->kernel[i] > INT32_MAX || w->outpad[i] < 0 || w->outpad[i] > INT32_MAX ||
            x->dim[i + 2] > INT32_MAX)
            return ft__onnx_fail(n, "kernel, strides and dilations must be 1 to 2^31");
    read_pads(n, x, transposed, w);
    for (uint32_t i = 0; i < w->axes; i++)
        if (w->begin[i] < 0 || w->end[i] < 0 || w->begin[i] > INT32_MAX ||
            w->end[i] > INT32_MAX)
            return false;
    return !ft__failed(n);
}

static void set_window(ft_op *op, const struct window *w)
{
    int64_t pad[2 * MAX_AXES];
    bool even = memcmp(w->begin, w->end, w->axes * sizeof(w->end[0])) == 0;

    memcpy(pad, w->begin, w->axes * sizeof(pad[0]));
    memcpy(pad + w->axes, w->end, w->axes * sizeof(pad[0]));
    ft__op_set(op, FT_K_kernel, w->kernel, w->axes);
    ft__op_set(op, FT_K_stride, w->stride, w->axes);
    ft__op_set(op, FT_K_pad, pad, even ? w->axes : 2 * w->axes);
    ft__op_set(op, FT_K_outpad, w->outpad, w->axes);
    ft__op_set(op, FT_K_dilation, w->dilation, w->axes);
}

/* ---- convolutions ---- */

struct conv {
    bool transposed;
    ft__value *x, *w, *bias;
    ft_dtype to;            /* of the result, NONE: that of x */
    ft__value *const *rest; /* scales, zero points */
    uint32_t n_rest;
};

/* Weights are channels out x channels in of a group x kernel; transposed:
 * channels in x channels out of a group. */
static bool conv_fits(const ft__node *n, const struct conv *c, int64_t groups)
{
    const ft_shape *x = &c->x->shape, *w = &c->w->shape;
    int64_t want;

    if (x->rank < 3 || w->rank != x->rank || groups < 1 || groups > INT32_MAX ||
        w->dim[0] > INT32_MAX || w->dim[1] > INT32_MAX)
        return ft__onnx_fail(
            n, "weights of %u dimensions in %lld groups do not fit its operand",
            w->rank, (long long)groups);
    want = c->transposed ? w->dim[0] : w->dim[1] * groups;
    if (x->dim[1] != want)
        ft__onnx_fail(n, "x has %lld channels, the weights are for %lld",
                      (long long)x->dim[1], (long long)want);
    return x->dim[1] == want;
}

static void emit_conv(ft__node *n, const struct conv *c, ft_op *op,
                      const struct window *win, int64_t groups)
{
    ft__value *rest[FT__MAX_REST] = {c->w, c->bias};
    uint32_t n_rest = 2;

    for (uint32_t i = 0; i < c->n_rest && n_rest < FT__MAX_REST; i++)
        rest[n_rest++] = c->rest[i];
    set_window(op, win);
    ft__op_set1(op, FT_K_groups, groups);
    ft__op_set1(op, FT_K_bias, c->bias != NULL);
    ft__op_set1(op, FT_K_to, c->to);
    ft__op_set1(op, FT_K_weights, ft__weights_dtype(c->x, c->w));
    ft__emit_layer(n, op,
                   &(ft__call){.in = &c->x,
                               .n_in = 1,
                               .params = rest,
                               .n_params = n_rest,
                               .out = n->out,
                               .n_out = 1});
}

static void conv(ft__node *n, const struct conv *c)
{
    int64_t groups = ft__attr_int(n, "group", 1), out;
    struct window win = {.axes = c->x->shape.rank - 2};
    ft_kind kind = c->transposed ? FT_KIND_conv_transpose1d : FT_KIND_conv1d;
    ft_op op;

    if (!conv_fits(n, c, groups))
        return;
    if (win.axes > MAX_AXES) {
        ft__emit_unknown(n);
        return;
    }
    memcpy(win.kernel, c->w->shape.dim + 2, win.axes * sizeof(win.kernel[0]));
    out = c->transposed ? c->w->shape.dim[1] * groups : c->w->shape.dim[0];
    if (!read_window(n, &c->x->shape, c->transposed, &win)) {
        ft__emit_unknown(n);
        return;
    }
    op = ft__op_x((ft_kind)((int)kind + (int)win.axes - 1), c->x);
    ft__op_set1(&op, FT_K_out, out);
    emit_conv(n, c, &op, &win, groups);
}

/* arg: 1 transposed. */
void ft__rule_conv(ft__node *n)
{
    conv(n, &(struct conv){.transposed = n->rule->arg,
                           .x = n->in[0],
                           .w = n->in[1],
                           .to = ft__product_dtype(n, n->in[0]),
                           .bias = ft__in(n, 2)});
}

/* Integers into int32. */
void ft__rule_conv_integer(ft__node *n)
{
    conv(n, &(struct conv){.x = n->in[0],
                           .w = n->in[1],
                           .to = FT_DTYPE_int32,
                           .rest = n->in + 2,
                           .n_rest = n->n_in - 2});
}

/* x, its scale and zero point, w and its, those of the result, bias. */
void ft__rule_qlinear_conv(ft__node *n)
{
    ft__value *x = n->in[0],
              *rest[] = {n->in[1], n->in[2], n->in[4], n->in[5], n->in[6], n->in[7]};

    conv(n, &(struct conv){.x = x,
                           .w = n->in[3],
                           .bias = ft__in(n, 8),
                           .to = n->in[7]->dtype == x->dtype ? FT_DTYPE_NONE
                                                             : n->in[7]->dtype,
                           .rest = rest,
                           .n_rest = sizeof(rest) / sizeof(*rest)});
}

/* x, weights, where each weight looks, bias, how much each counts. */
void ft__rule_deform_conv(ft__node *n)
{
    ft__value *x = n->in[0], *in[] = {x, n->in[2]},
              *rest[] = {n->in[1], ft__in(n, 3), ft__in(n, 4)};
    struct conv c = {.x = x, .w = n->in[1], .bias = ft__in(n, 3)};
    struct window win = {.axes = x->shape.rank - 2};
    int64_t groups = ft__attr_int(n, "group", 1);
    ft_op op = ft__op_xy(FT_KIND_deform_conv2d, x, n->in[2]);

    if (!conv_fits(n, &c, groups))
        return;
    if (win.axes != 2) {
        ft__emit_unknown(n);
        return;
    }
    memcpy(win.kernel, c.w->shape.dim + 2, win.axes * sizeof(win.kernel[0]));
    if (!read_window(n, &x->shape, false, &win)) {
        ft__emit_unknown(n);
        return;
    }
    ft__op_set1(&op, FT_K_out, c.w->shape.dim[0]);
    set_window(&op, &win);
    ft__op_set1(&op, FT_K_groups, groups);
    ft__op_set1(&op, FT_K_bias, c.bias != NULL);
    ft__emit_layer(n, &op,
                   &(ft__call){.in = in,
                               .n_in = 2,
                               .params = rest,
                               .n_params = 3,
                               .out = n->out,
                               .n_out = 1});
}

/* A causal depthwise convolution over what came before (operand 3) and x; the
 * last columns are what comes before the next x. */
void ft__rule_causal_conv(ft__node *n)
{
    ft__value *x = n->in[0], *w = n->in[1], *past = ft__in(n, 3), *all = x,
              *conv = n->out[0], *rest[] = {w, ft__in(n, 2)};
    ft__str act = ft__attr_str(n, "activation");
    bool gated = ft__str_is(act, "silu") || ft__str_is(act, "swish");
    ft_shape state = x->shape;
    ft_op op;

    if (x->shape.rank != 3 || w->shape.rank != 3 || w->shape.dim[2] < 1 ||
        (past &&
         (past->shape.rank != 3 || past->shape.dim[2] != w->shape.dim[2] - 1))) {
        ft__onnx_fail(n, "its weights and its state do not fit together");
        return;
    }
    state.dim[2] = w->shape.dim[2] - 1;
    if (past && state.dim[2]) {
        all = ft__onnx_temp(n, x);
        op = ft__op_x(FT_KIND_concat, past);
        ft__op_set1(&op, FT_K_axis, 2);
        ft__op_set(&op, FT_K_sizes, (int64_t[]){state.dim[2], x->shape.dim[2]}, 2);
        if (!all)
            return;
        ft__emit(
            n, &op,
            &(ft__call){
                .in = (ft__value *[]){past, x}, .n_in = 2, .out = &all, .n_out = 1});
    }
    if (gated)
        conv = ft__onnx_temp(n, x);
    if (ft__failed(n) || !conv)
        return;
    op = ft__op_x(FT_KIND_conv1d, all);
    ft__op_set1(&op, FT_K_out, x->shape.dim[1]);
    ft__op_set1(&op, FT_K_kernel, w->shape.dim[2]);
    ft__op_set1(&op, FT_K_stride, 1);
    ft__op_set(&op, FT_K_pad, (int64_t[]){all == x ? state.dim[2] : 0, 0}, 2);
    ft__op_set1(&op, FT_K_groups, x->shape.dim[1]);
    ft__op_set1(&op, FT_K_bias, rest[1] != NULL);
    ft__emit_layer(n, &op,
                   &(ft__call){.in = &all,
                               .n_in = 1,
                               .params = rest,
                               .n_params = 2,
                               .out = &conv,
                               .n_out = 1});
    if (gated)
        ft__apply1(n, FT_KIND_silu, conv, n->out[0]);
    if (!ft__out(n, 1) || ft__failed(n))
        return;
    op = ft__op_x(state.dim[2] <= all->shape.dim[2] ? FT_KIND_slice : FT_KIND_pad, all);
    ft__op_set_shape(&op, FT_K_out, &state);
    ft__emit(n, &op, &(ft__call){.in = &all, .n_in = 1, .out = &n->out[1], .n_out = 1});
}

/* ---- pooling ---- */

/* arg: the kind for one spatial axis; those for two and three follow it. */
void ft__rule_pool(ft__node *n)
{
    ft__value *x = n->in[0];
    struct window win = {.axes = x->shape.rank - 2};
    ft_op op;

    if (x->shape.rank < 3 || x->shape.rank > 5) {
        ft__emit_unknown(n);
        return;
    }
    per_axis(n, "kernel_shape", win.axes, 0, win.kernel);
    if (!read_window(n, &x->shape, false, &win)) {
        ft__emit_unknown(n);
        return;
    }
    op = ft__op_x((ft_kind)(n->rule->arg + (int)win.axes - 1), x);
    set_window(&op, &win);
    ft__op_set1(&op, FT_K_ceil, ft__attr_int(n, "ceil_mode", 0) != 0);
    ft__emit1(n, &op, x, NULL);
    if (ft__out(n, 0))
        ft__emit_extra(n, 1, FT_DTYPE_int64, &n->out[0]->shape);
}

void ft__rule_global_pool(ft__node *n)
{
    ft_op op;

    op = ft__op_x((ft_kind)n->rule->arg, n->in[0]);
    ft__emit1(n, &op, n->in[0], NULL);
}

/* The way back from maxpool: to a size that is given (operand 2), or to the
 * least that the window can have had. */
void ft__rule_max_unpool(ft__node *n)
{
    ft__value *x = n->in[0], *wanted = ft__in(n, 2);
    struct window win = {.axes = x->shape.rank - 2};
    int64_t size[FT_MAX_RANK];
    ft_shape s = x->shape;
    ft_op op = ft__op_x(FT_KIND_max_unpool, x);
    bool known;

    if (x->shape.rank < 3 || x->shape.rank > 5) {
        ft__emit_unknown(n);
        return;
    }
    per_axis(n, "kernel_shape", win.axes, 0, win.kernel);
    if (!read_window(n, &x->shape, false, &win)) {
        ft__emit_unknown(n);
        return;
    }
    for (uint32_t i = 0; i < win.axes; i++)
        s.dim[i + 2] = (s.dim[i + 2] - 1) * win.stride[i] + win.kernel[i] -
                       win.begin[i] - win.end[i];
    known = !wanted || ft__ints(n, wanted, size, FT_MAX_RANK) == (int64_t)s.rank;
    for (uint32_t i = 0; wanted && known && i < s.rank; i++)
        s.dim[i] = size[i];
    if (!known) {
        ft__emit_open(n, n->out[0], x->dtype, &s, ((1u << s.rank) - 1) & ~3u);
        return;
    }
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__emit2(n, &op, x, n->in[1], &s);
}

/* ---- for operators that are more than the window ---- */

ft__value *ft__make_conv(const ft__node *n, const ft__conv *c, ft__value *out)
{
    const ft_shape *x = c->x ? &c->x->shape : NULL;
    int64_t groups = ft__attr_size(n, "group", 1), bits;
    struct window win = {0};
    ft_op op;

    if (!x || !ft__is_constant(c->weights) || ft__failed(n))
        return NULL;
    if (x->rank < 3 || x->rank > 5 || c->filters.rank != x->rank ||
        c->filters.dim[1] > INT32_MAX || x->dim[1] != c->filters.dim[1] * groups) {
        ft__misfit(n, 1);
        return NULL;
    }
    win.axes = x->rank - 2;
    memcpy(win.kernel, c->filters.dim + 2, win.axes * sizeof(win.kernel[0]));
    if (!read_window(n, x, false, &win)) {
        ft__onnx_unsupported(n, "its window crops its operand");
        return NULL;
    }
    bits = ft__weights_dtype(c->x, c->weights);
    ft__op_init(&op, (ft_kind)(FT_KIND_conv1d + (int)win.axes - 1), c->x->dtype);
    ft__op_set_shape(&op, FT_K_x, x);
    ft__op_set1(&op, FT_K_out, c->filters.dim[0]);
    set_window(&op, &win);
    ft__op_set1(&op, FT_K_groups, groups);
    ft__op_set1(&op, FT_K_bias, c->bias != NULL);
    ft__op_set1(&op, FT_K_to, c->to == c->x->dtype ? FT_DTYPE_NONE : c->to);
    ft__op_set1(&op, FT_K_weights, bits);
    return ft__make(n, &op,
                    &(ft__call){.in = (ft__value *[]){c->x},
                                .n_in = 1,
                                .params = (ft__value *[]){c->weights, c->bias},
                                .n_params = c->bias ? 2 : 1},
                    out);
}

ft__value *ft__make_pool(const ft__node *n, ft_kind kind, ft__value *x, ft__value *out)
{
    struct window win = {.axes = x ? x->shape.rank - 2 : 0};
    ft_op op;

    if (!x || ft__failed(n))
        return NULL;
    if (x->shape.rank < 3 || x->shape.rank > 5) {
        ft__misfit(n, 0);
        return NULL;
    }
    per_axis(n, "kernel_shape", win.axes, 0, win.kernel);
    if (!read_window(n, &x->shape, false, &win)) {
        ft__onnx_unsupported(n, "its window crops its operand");
        return NULL;
    }
    op = ft__op_x((ft_kind)((int)kind + (int)win.axes - 1), x);
    set_window(&op, &win);
    ft__op_set1(&op, FT_K_ceil, ft__attr_int(n, "ceil_mode", 0) != 0);
    return ft__make(n, &op, &(ft__call){.in = &x, .n_in = 1}, out);
}
