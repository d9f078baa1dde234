/* Convolutions and pooling: everything that slides a window. */
#include <string.h>

#include "graph/op_inside.h"
#include "import/onnx/compose.h"
#include "import/rules/ops.h"

enum { MAX_REST = 10 }; /* operands behind x */

static void per_axis(const ft__onnx_node *n, const char *name, uint32_t axes,
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
static bool read_output_shape(const ft__onnx_node *n, uint32_t axes, int64_t *size)
{
    int64_t all[FT__WINDOW_AXES + 2],
        count = ft__attr_ints(n, "output_shape", all, FT__WINDOW_AXES + 2);

    if (count != (int64_t)axes && count != (int64_t)axes + 2)
        return false;
    memcpy(size, all + (count - axes), axes * sizeof(*size));
    for (uint32_t i = 0; i < axes; i++)
        if (size[i] < 0 || size[i] > INT32_MAX)
            size[i] = 0;
    return true;
}

/* auto_pad and pads; x is the input's shape. */
static void read_pads(const ft__onnx_node *n, const ft_shape *x, bool transposed,
                      ft__sliding_window *w)
{
    ft__str mode = ft__attr_str(n, "auto_pad");
    bool upper = ft__str_is(mode, "SAME_UPPER"), lower = ft__str_is(mode, "SAME_LOWER");
    int64_t pads[2 * FT__WINDOW_AXES] = {0}, size[FT__WINDOW_AXES] = {0};
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
static bool read_window(const ft__onnx_node *n, const ft_shape *x, bool transposed,
                        ft__sliding_window *w)
{
    bool fits = true;

    per_axis(n, "strides", w->axes, 1, w->stride);
    per_axis(n, "dilations", w->axes, 1, w->dilation);
    per_axis(n, "output_padding", w->axes, 0, w->outpad);
    for (uint32_t i = 0; i < w->axes; i++)
        fits &= x->dim[i + 2] <= INT32_MAX;
    if (!fits || !ft__window_steps_fit(w))
        return ft__onnx_fail(n, "kernel, strides and dilations must be 1 to 2^31");
    read_pads(n, x, transposed, w);
    return ft__window_pads_fit(w) && !ft__failed(n);
}

/* A convolution with the node's window; x: batch, channels, axes. */
struct convolution {
    ft__onnx_value *x, *weights;
    ft__onnx_value *bias; /* NULL: none */
    ft_shape filters;     /* out, in of a group, kernel */
    ft_dtype to;          /* NONE: that of x */
    bool transposed;
    ft__onnx_value *offsets; /* where each weight looks; NULL: at its own place */
};

/* Weights are channels out x channels in of a group x kernel; transposed:
 * channels in x channels out of a group. */
static bool conv_fits(const ft__onnx_node *n, const struct convolution *c,
                      int64_t groups)
{
    const ft_shape *x = &c->x->shape, *w = &c->filters;
    int64_t want;

    if (x->rank < 3 || w->rank != x->rank || groups < 1 || groups > INT32_MAX ||
        w->dim[0] > INT32_MAX || w->dim[1] > INT32_MAX)
        return ft__onnx_fail(
            n, "weights of %u dimensions in %lld groups do not fit its operand",
            w->rank, (long long)groups);
    want = c->transposed ? w->dim[0] : w->dim[1] * groups;
    return x->dim[1] == want ||
           ft__onnx_fail(n, "x has %lld channels, the weights are for %lld",
                         (long long)x->dim[1], (long long)want);
}

/* The operation; false: failed, or not a window that one can describe. */
static bool conv_op(const ft__onnx_node *n, const struct convolution *c, ft_op *op)
{
    const ft_shape *w = &c->filters;
    int64_t groups = ft__attr_int(n, "group", 1);
    ft__sliding_window win = {.axes = c->x->shape.rank - 2};
    ft_kind one = c->transposed ? FT_KIND_conv_transpose1d : FT_KIND_conv1d;

    if (!conv_fits(n, c, groups) || win.axes > FT__WINDOW_AXES)
        return false;
    memcpy(win.kernel, w->dim + 2, win.axes * sizeof(win.kernel[0]));
    if (!read_window(n, &c->x->shape, c->transposed, &win))
        return false;
    if (c->offsets && win.axes != 2)
        return false;
    *op =
        ft__op_x(c->offsets ? FT_KIND_deform_conv2d : ft__window_kind(one, &win), c->x);
    if (c->offsets)
        ft__op_set_shape(op, FT_K_y, &c->offsets->shape);
    ft__window_set_conv(op, &win, c->transposed ? w->dim[1] * groups : w->dim[0],
                        groups, c->bias != NULL);
    ft__op_set1(op, FT_K_to, c->to == c->x->dtype ? FT_DTYPE_NONE : c->to);
    ft__op_set1(op, FT_K_weights, ft__weights_dtype(c->x, c->weights));
    return true;
}

/* The node is this convolution; `more` is read as well: scales, zero points. */
static void conv(ft__onnx_node *n, const struct convolution *c,
                 ft__onnx_value *const *more, uint32_t n_more)
{
    ft__onnx_value *rest[MAX_REST] = {c->weights, c->bias};
    ft_op op;

    for (uint32_t i = 0; i < n_more && i + 2 < MAX_REST; i++)
        rest[i + 2] = more[i];
    if (conv_op(n, c, &op))
        ft__emit_weighted(n, &op, (ft__onnx_value *[]){c->x, c->offsets},
                          c->offsets ? 2 : 1, rest,
                          n_more + 2 < MAX_REST ? n_more + 2 : MAX_REST, NULL);
    else
        ft__emit_unknown(n);
}

/* arg: 1 transposed. */
static void rule_conv(ft__onnx_node *n)
{
    conv(n,
         &(struct convolution){.transposed = n->rule->arg,
                               .x = n->in[0],
                               .weights = n->in[1],
                               .filters = n->in[1]->shape,
                               .to = n->to,
                               .bias = ft__in(n, 2)},
         NULL, 0);
}

/* Integers into int32. */
static void rule_conv_integer(ft__onnx_node *n)
{
    conv(n,
         &(struct convolution){.x = n->in[0],
                               .weights = n->in[1],
                               .filters = n->in[1]->shape,
                               .to = FT_DTYPE_int32},
         n->in + 2, n->n_in - 2);
}

/* x, its scale and zero point, w and its, those of the result, bias. */
static void rule_qlinear_conv(ft__onnx_node *n)
{
    ft__onnx_value *rest[] = {n->in[1], n->in[2], n->in[4],
                              n->in[5], n->in[6], n->in[7]};

    conv(n,
         &(struct convolution){.x = n->in[0],
                               .weights = n->in[3],
                               .filters = n->in[3]->shape,
                               .bias = ft__in(n, 8),
                               .to = n->in[7]->dtype},
         rest, sizeof(rest) / sizeof(*rest));
}

/* x, weights, where each weight looks, bias, how much each counts. */
static void rule_deform_conv(ft__onnx_node *n)
{
    conv(n,
         &(struct convolution){.x = n->in[0],
                               .weights = n->in[1],
                               .filters = n->in[1]->shape,
                               .offsets = n->in[2],
                               .bias = ft__in(n, 3)},
         (ft__onnx_value *[]){ft__in(n, 4)}, 1);
}

/* A causal depthwise convolution over what came before (operand 3) and x; the
 * last columns are what comes before the next x. */
static void rule_causal_conv(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *w = n->in[1], *past = ft__in(n, 3), *all = x,
                   *conv = n->out[0], *rest[] = {w, ft__in(n, 2)};
    ft_kind kind;
    bool more = ft__activates(n, "activation", &kind);
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
        op = ft__op_concat(past->dtype, &past->shape, 2,
                           (int64_t[]){state.dim[2], x->shape.dim[2]}, 2);
        if (!all)
            return;
        ft__make_of(n, &op, FT__VALUES(past, x), NULL, all);
    }
    if (more)
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
                   &(ft__onnx_call){.in = &all,
                                    .n_in = 1,
                                    .params = rest,
                                    .n_params = 2,
                                    .out = &conv,
                                    .n_out = 1});
    if (more)
        ft__activate(n, kind, conv, n->out[0]);
    if (!ft__out(n, 1) || ft__failed(n))
        return;
    op = ft__op_xto(state.dim[2] <= all->shape.dim[2] ? FT_KIND_slice : FT_KIND_pad,
                    all, &state);
    ft__make_of(n, &op, FT__VALUES(all), NULL, n->out[1]);
}

static bool pool_window(const ft__onnx_node *n, const ft__onnx_value *x,
                        ft__sliding_window *w)
{
    *w = (ft__sliding_window){.axes = x->shape.rank - 2};
    if (x->shape.rank < 3 || x->shape.rank > 5)
        return false;
    per_axis(n, "kernel_shape", w->axes, 0, w->kernel);
    return read_window(n, &x->shape, false, w);
}

static bool pool_op(const ft__onnx_node *n, ft_kind one, const ft__onnx_value *x,
                    ft_op *op)
{
    ft__sliding_window w;

    if (!pool_window(n, x, &w))
        return false;
    *op = ft__op_x(ft__window_kind(one, &w), x);
    ft__window_set(op, &w);
    ft__op_set1(op, FT_K_ceil, ft__attr_int(n, "ceil_mode", 0) != 0);
    return true;
}

/* arg: the kind for one spatial axis; those for two and three follow it. */
static void rule_pool(ft__onnx_node *n)
{
    ft_op op;

    if (!pool_op(n, (ft_kind)n->rule->arg, n->in[0], &op)) {
        ft__emit_unknown(n);
        return;
    }
    ft__emit1(n, &op, n->in[0], NULL);
    ft__emit_extra(n, 1, FT_DTYPE_int64, &n->out[0]->shape);
}

/* A pool over all axes behind the channels. */
static ft__onnx_value *make_global(const ft__onnx_node *n, ft_kind kind,
                                   ft__onnx_value *x, ft__onnx_value *out)
{
    ft_op op;

    if (!x)
        return NULL;
    op = ft__op_x(kind, x);
    return ft__make_of(n, &op, FT__VALUES(x), NULL, out);
}

static void rule_global_pool(ft__onnx_node *n)
{
    make_global(n, (ft_kind)n->rule->arg, n->in[0], n->out[0]);
}

/* The way back from maxpool: to a size that is given (operand 2), or to the
 * least that the window can have had. */
static void rule_max_unpool(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *wanted = ft__in(n, 2);
    ft__sliding_window win;
    int64_t size[FT_MAX_RANK];
    ft_shape s = x->shape;
    ft_op op = ft__op_x(FT_KIND_max_unpool, x);
    bool known;

    if (!pool_window(n, x, &win)) {
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
        ft__emit_bounded(n, &s, ((1u << s.rank) - 1) & ~3u);
        return;
    }
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__emit2(n, &op, x, n->in[1], &s);
}

static ft__onnx_value *cropped(const ft__onnx_node *n)
{
    if (!ft__failed(n))
        ft__onnx_unsupported(n, "its window crops its operand");
    return NULL;
}

static ft__onnx_value *make_conv(const ft__onnx_node *n, const struct convolution *c,
                                 ft__onnx_value *out)
{
    ft_op op;

    if (!c->x || !ft__is_constant(c->weights) || ft__failed(n))
        return NULL;
    if (!conv_op(n, c, &op))
        return cropped(n);
    return ft__make(n, &op, &c->x, 1, (ft__onnx_value *[]){c->weights, c->bias},
                    c->bias ? 2 : 1, NULL, out);
}

/* Pooling with the node's window; kind: that for one axis. */
static ft__onnx_value *make_pool(const ft__onnx_node *n, ft_kind kind,
                                 ft__onnx_value *x, ft__onnx_value *out)
{
    ft_op op;

    if (!x || ft__failed(n))
        return NULL;
    if (!pool_op(n, kind, x, &op))
        return cropped(n);
    return ft__make_of(n, &op, FT__VALUES(x), NULL, out);
}

/* Filters as (out, channels, kernel); last: given as (out, kernel, channels). */
static ft_shape filters(const ft__onnx_value *w, bool last)
{
    ft_shape s = w->shape;

    if (!last || s.rank < 3)
        return s;
    memmove(s.dim + 2, w->shape.dim + 1, (s.rank - 2) * sizeof(s.dim[0]));
    s.dim[1] = w->shape.dim[s.rank - 1];
    return s;
}

/* A convolution, z added and an activation. arg: 1 with the channels at the end. */
static void rule_ms_conv(ft__onnx_node *n)
{
    bool last = n->rule->arg;
    ft__onnx_value *x = last ? ft__make_channels(n, n->in[0], false, NULL) : n->in[0];
    ft__onnx_value *z = ft__in(n, 3);
    struct convolution c = {.x = x, .weights = n->in[1], .bias = ft__in(n, 2)};
    ft_kind kind;
    bool more = ft__activates(n, "activation", &kind);

    c.filters = filters(n->in[1], last);
    x = make_conv(n, &c, more || z || last ? NULL : n->out[0]);
    if (last)
        x = ft__make_channels(n, x, true, more || z ? NULL : n->out[0]);
    if (z)
        x = ft__make_sum(n, x, z, more ? NULL : n->out[0]);
    if (more)
        ft__activate(n, kind, x, n->out[0]);
}

/* arg: the kind for one axis; channels at the end. */
static void rule_ms_pool_last(ft__onnx_node *n)
{
    ft__onnx_value *x = ft__make_channels(n, n->in[0], false, NULL);

    ft__make_channels(n, make_pool(n, (ft_kind)n->rule->arg, x, NULL), true, n->out[0]);
}

/* A depthwise convolution over the past and this piece: batch, channels, length. */
static void rule_ms_causal_conv(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *w = n->in[1], *bias = ft__in(n, 2);
    bool last = ft__attr_int(n, "channels_last", 0);
    int64_t dilation = ft__attr_size(n, "dilation", 1), keep, c, kernel;
    ft_kind kind;
    bool more = ft__activates(n, "activation", &kind);
    ft_op op;

    if (last)
        x = ft__make_channels(n, x, false, NULL);
    if (!x || x->shape.rank != 3 || w->shape.rank != 3 ||
        w->shape.dim[0] != x->shape.dim[1] || w->shape.dim[2] > INT32_MAX ||
        w->shape.dim[2] < 1) {
        ft__emit_unknown(n);
        return;
    }
    c = x->shape.dim[1];
    kernel = w->shape.dim[2];
    keep = dilation * (kernel - 1);
    op = ft__op_x(FT_KIND_conv1d, x);
    ft__op_set1(&op, FT_K_out, c);
    ft__op_set1(&op, FT_K_kernel, kernel);
    ft__op_set1(&op, FT_K_stride, 1);
    ft__op_set(&op, FT_K_pad, (int64_t[]){keep, 0}, 2);
    ft__op_set1(&op, FT_K_dilation, dilation);
    ft__op_set1(&op, FT_K_groups, c);
    ft__op_set1(&op, FT_K_bias, bias != NULL);
    keep = ft__in(n, 3) && n->in[3]->shape.rank == 3 ? n->in[3]->shape.dim[2] : keep;
    ft__emit_extra(n, 1, x->dtype, FT__SHAPE(x->shape.dim[0], c, keep));
    x = ft__make(n, &op, &x, 1, (ft__onnx_value *[]){w, bias}, bias ? 2 : 1, NULL,
                 more || last ? NULL : n->out[0]);
    if (more)
        x = ft__activate(n, kind, x, last ? NULL : n->out[0]);
    if (last)
        ft__make_channels(n, x, true, n->out[0]);
}

/* Letters of words to vectors: embedded, convolved, and the largest of each filter. */
static void rule_ms_word_conv(ft__onnx_node *n)
{
    const ft_shape *ids = &n->in[0]->shape, *w = &n->in[1]->shape,
                   *table = &n->in[3]->shape;
    ft__onnx_value *x;
    int64_t words, letters, size;
    ft_shape s = *ids;

    if (!ids->rank || !ft__has_rank(n, 1, 4) || !ft__has_rank(n, 3, 2) || ft__failed(n))
        return;
    letters = ids->dim[ids->rank - 1];
    words = letters ? ft_shape_elements(ids) / letters : 0;
    size = table->dim[1];
    x = ft__make_embedding(n, n->in[0],
                           &(ft__embedding_rows){.table = n->in[3],
                                                 .rows = table->dim[0],
                                                 .dim = size,
                                                 .dtype = n->in[3]->dtype},
                           NULL);
    x = ft__make_view(n, x, FT__SHAPE(words, 1, letters, size), NULL);
    x = make_conv(n,
                  &(struct convolution){
                      .x = x, .weights = n->in[1], .bias = n->in[2], .filters = *w},
                  NULL);
    x = ft__apply(n, FT_KIND_tanh, FT__VALUES(x), NULL);
    x = make_global(n, FT_KIND_global_maxpool, x, NULL);
    s.dim[s.rank - 1] = w->dim[0];
    ft__make_view(n, x, &s, n->out[0]);
}

/* arg: the kind for one axis; channels may be at the end. */
static void rule_ms_qpool(ft__onnx_node *n)
{
    bool last = ft__attr_int(n, "channels_last", 0);
    bool all = n->rule->arg == FT_KIND_global_avgpool;
    ft__onnx_value *x = last ? ft__make_channels(n, n->in[0], false, NULL) : n->in[0];
    ft__onnx_value *to = last ? NULL : n->out[0];

    x = all ? make_global(n, FT_KIND_global_avgpool, x, to)
            : make_pool(n, (ft_kind)n->rule->arg, x, to);
    if (last)
        ft__make_channels(n, x, true, n->out[0]);
}

/* x, scale, zero point, w, scale, zero point, y's scale and zero point, bias. */
static void rule_ms_qconv(ft__onnx_node *n)
{
    bool last = ft__attr_int(n, "channels_last", 0);
    ft__onnx_value *x = last ? ft__make_channels(n, n->in[0], false, NULL) : n->in[0];
    struct convolution c = {.x = x,
                            .weights = n->in[3],
                            .bias = ft__in(n, 8),
                            .filters = n->in[3]->shape,
                            .to = (ft__in(n, 7) ? n->in[7] : n->in[0])->dtype};

    x = make_conv(n, &c, last ? NULL : n->out[0]);
    if (last)
        ft__make_channels(n, x, true, n->out[0]);
}

static const ft__operator_rule rules[] = {
    {"AveragePool", rule_pool, FT_KIND_avgpool1d, 1, FT__BYTES_ONE},
    {"CausalConvWithState", rule_causal_conv, 0, 2, 0},
    {"Conv", rule_conv, 0, 2, FT__LAYER | FT__BYTES_CONV},
    {"ConvInteger", rule_conv_integer, 0, 2, 0},
    {"ConvTranspose", rule_conv, 1, 2, FT__LAYER | FT__BYTES_CONV},
    {"DeformConv", rule_deform_conv, 0, 3, 0},
    {"GlobalAveragePool", rule_global_pool, FT_KIND_global_avgpool, 1, FT__BYTES_ONE},
    {"GlobalLpPool", rule_global_pool, FT_KIND_global_avgpool, 1, FT__BYTES_ONE},
    {"GlobalMaxPool", rule_global_pool, FT_KIND_global_maxpool, 1, FT__BYTES_ONE},
    {"LpPool", rule_pool, FT_KIND_avgpool1d, 1, FT__BYTES_ONE},
    {"MaxPool", rule_pool, FT_KIND_maxpool1d, 1, FT__BYTES_ONE},
    {"MaxUnpool", rule_max_unpool, 0, 2, 0},
    {"QLinearConv", rule_qlinear_conv, 0, 8, 0},
    {"CausalConvWithState", rule_ms_causal_conv, 0, 2, FT__MICROSOFT},
    {"FusedConv", rule_ms_conv, 0, 2, FT__MICROSOFT},
    {"MaxpoolWithMask", rule_pool, FT_KIND_maxpool1d, 2, FT__MICROSOFT | FT__BYTES_ONE},
    {"NhwcConv", rule_ms_conv, 1, 2, FT__MICROSOFT},
    {"NhwcFusedConv", rule_ms_conv, 1, 2, FT__MICROSOFT},
    {"NhwcMaxPool", rule_ms_pool_last, FT_KIND_maxpool1d, 1, FT__MICROSOFT},
    {"QLinearAveragePool", rule_ms_qpool, FT_KIND_avgpool1d, 1, FT__MICROSOFT},
    {"QLinearConv", rule_ms_qconv, 0, 8, FT__MICROSOFT},
    {"QLinearGlobalAveragePool", rule_ms_qpool, FT_KIND_global_avgpool, 1,
     FT__MICROSOFT},
    {"WordConvEmbedding", rule_ms_word_conv, 0, 4, FT__MICROSOFT},
};

const ft__rule_table ft__rules_window = {rules, sizeof(rules) / sizeof(*rules)};
