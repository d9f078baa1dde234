/* Operations and networks of torchvision, with power (github.com/
 * ConstantinNicolai/ml-operator-profiling): torch 2.3.1, fp32, batch 32. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/op_inside.h"
#include "measure/dataset.h"

/* "A30_no_tc" is an A30 that was told to keep fp32 as it is. */
static void device(ft__import *im)
{
    static const char ieee[] = "_no_tc";
    const char *title = ft__text(im, FT__C_device);
    size_t n = strlen(title), end = sizeof(ieee) - 1;
    char plain[200];

    if (n < end || n >= sizeof(plain) || strcmp(title + n - end, ieee) != 0) {
        ft__device(im, title);
        return;
    }
    snprintf(plain, sizeof(plain), "%.*s", (int)(n - end), title);
    ft__device(im, plain);
    ft__policy(im, "ieee");
}

/* "2024-11-18_fullmodel_150W": the cap is part of the session's name. */
static double cap_of(const char *session)
{
    const char *last = strrchr(session, '_');
    double w;
    char unit;

    return last && sscanf(last + 1, "%4lf%c", &w, &unit) == 2 && unit == 'W' ? w : NAN;
}

static void key(ft__import *im)
{
    const char *session = ft__text(im, FT__C_session);

    device(im);
    ft__when(im, ft__text(im, FT__C_start));
    ft__setting_unit(im, "clock", ft__real(im, FT__C_core_clock_mhz), "MHz");
    ft__setting_unit(im, "power", cap_of(session), "W");
    ft__setting(im, "session", session);
}

static void values(ft__import *im)
{
    uint64_t iterations = (uint64_t)ft__whole_or(im, FT__C_iterations, 1);

    ft__value(im, "time", "s", ft__real(im, FT__C_time_s),
              ft__real(im, FT__C_time_std_s), iterations);
    ft__value(im, "power", "W", ft__real(im, FT__C_power_w),
              ft__real(im, FT__C_power_std_w), iterations);
    ft__value(im, "energy", "J", ft__real(im, FT__C_energy_j),
              ft__real(im, FT__C_energy_std_j), iterations);
}

/* ---- modules ---- */

static const struct {
    const char *name;
    ft_kind kind;
} unary[] = {
    {"ReLU", FT_KIND_relu},
    {"ReLU6", FT_KIND_clip},
    {"GELU", FT_KIND_gelu},
    {"SiLU", FT_KIND_silu},
    {"Sigmoid", FT_KIND_sigmoid},
    {"Tanh", FT_KIND_tanh},
    {"Hardswish", FT_KIND_hardswish},
    {"Hardsigmoid", FT_KIND_hardsigmoid},
    {"ELU", FT_KIND_elu},
    {"SELU", FT_KIND_selu},
    {"LeakyReLU", FT_KIND_leaky_relu},
    {"Mish", FT_KIND_mish},
    {"Softplus", FT_KIND_softplus},
    {"Hardtanh", FT_KIND_clip},
};

static void two(ft__import *im, ft_op *op, ft_key_id key, ft__column h, ft__column w)
{
    int64_t v[2];

    if (!*ft__text(im, h))
        return;
    v[0] = ft__whole(im, h);
    v[1] = ft__whole_or(im, w, v[0]);
    ft__op_set(op, key, v, 2);
}

static ft_op convolution(ft__import *im, const ft_shape *x)
{
    ft_op op = ft__op(FT_KIND_conv2d, FT_DTYPE_fp32, x);

    ft__op_set1(&op, FT_K_out, ft__whole(im, FT__C_out_channels));
    two(im, &op, FT_K_kernel, FT__C_kernel_h, FT__C_kernel_w);
    two(im, &op, FT_K_stride, FT__C_stride_h, FT__C_stride_w);
    two(im, &op, FT_K_pad, FT__C_pad_h, FT__C_pad_w);
    two(im, &op, FT_K_dilation, FT__C_dilation_h, FT__C_dilation_w);
    ft__op_set1(&op, FT_K_groups, ft__whole_or(im, FT__C_groups, 1));
    ft__op_set1(&op, FT_K_bias, ft__whole_or(im, FT__C_bias, 0));
    (void)ft__text(im, FT__C_in_channels); /* those of the shape */
    return op;
}

static ft_op pool(ft__import *im, ft_kind kind, const ft_shape *x)
{
    ft_op op = ft__op(kind, FT_DTYPE_fp32, x);

    two(im, &op, FT_K_kernel, FT__C_kernel_h, FT__C_kernel_w);
    two(im, &op, FT_K_stride, FT__C_stride_h, FT__C_stride_w);
    two(im, &op, FT_K_pad, FT__C_pad_h, FT__C_pad_w);
    two(im, &op, FT_K_dilation, FT__C_dilation_h, FT__C_dilation_w);
    ft__op_set1(&op, FT_K_ceil, ft__whole_or(im, FT__C_ceil_mode, 0));
    return op;
}

/* To one value a channel; to windows that cover the image evenly; or, of images that
 * are smaller than what is asked for, each value several times. */
static ft_op adaptive_pool(const ft_shape *x, const ft_shape *out)
{
    int64_t stride[2], kernel[2];
    ft_op op;

    if (x->rank != 4 || out->rank != 4 || (out->dim[2] == 1 && out->dim[3] == 1))
        return ft__op(FT_KIND_global_avgpool, FT_DTYPE_fp32, x);
    if (x->dim[2] < out->dim[2] || x->dim[3] < out->dim[3]) {
        op = ft__op(FT_KIND_resize, FT_DTYPE_fp32, x);
        ft__op_set_shape(&op, FT_K_out, out);
        return op;
    }
    for (int i = 0; i < 2; i++) {
        stride[i] = out->dim[2 + i] ? x->dim[2 + i] / out->dim[2 + i] : 1;
        kernel[i] = x->dim[2 + i] - (out->dim[2 + i] - 1) * stride[i];
    }
    op = ft__op(FT_KIND_avgpool2d, FT_DTYPE_fp32, x);
    ft__op_set(&op, FT_K_kernel, kernel, 2);
    ft__op_set(&op, FT_K_stride, stride, 2);
    ft__op_set(&op, FT_K_pad, (int64_t[]){0, 0}, 2);
    return op;
}

static ft_op layernorm(ft__import *im, const ft_shape *x)
{
    ft_op op = ft__op(FT_KIND_layernorm, FT_DTYPE_fp32, x);

    ft__op_set1(&op, FT_K_norm,
                *ft__text(im, FT__C_normalized_shape)
                    ? ft__shape(im, FT__C_normalized_shape).rank
                    : 1);
    return op;
}

/* torchvision's: over the channels, between two views. */
static ft_op layernorm2d(const ft_shape *x)
{
    ft_shape last = *x;
    ft_op op;

    if (x->rank == 4)
        last = (ft_shape){4, {x->dim[0], x->dim[2], x->dim[3], x->dim[1]}};
    op = ft__op(FT_KIND_layernorm, FT_DTYPE_fp32, &last);
    ft__op_set1(&op, FT_K_norm, 1);
    return op;
}

static ft_op shaped(ft_kind kind, const ft_shape *x, const ft_shape *out)
{
    ft_op op;

    ft__op_init(&op, kind, FT_DTYPE_fp32);
    if (kind == FT_KIND_generic)
        ft__op_set1(&op, FT_K_read, ft_shape_elements(x));
    else
        ft__op_set_shape(&op, FT_K_x, x);
    ft__op_set_shape(&op, FT_K_out, out);
    return op;
}

static ft_op keyed(ft_kind kind, const ft_shape *x, ft_key_id key, int64_t value)
{
    ft_op op = ft__op(kind, FT_DTYPE_fp32, x);

    ft__op_set1(&op, key, value);
    return op;
}

/* Modules that training and inference run differently. p: share that is dropped. */
static bool moody(ft__import *im, ft_op *op, const char *name, const ft_shape *x,
                  bool train)
{
    double p = ft__real(im, FT__C_p);

    ft__keep(im, FT__C_p);
    train = train && !(p <= 0);
    if (strcmp(name, "BatchNorm2d") == 0)
        *op = keyed(FT_KIND_batchnorm, x, FT_K_train, train);
    else if (strcmp(name, "StochasticDepth") == 0)
        *op = keyed(FT_KIND_stochastic_depth, x, FT_K_train, train);
    else if (strcmp(name, "Dropout") == 0 || strcmp(name, "Dropout2d") == 0)
        *op = train ? ft__op(FT_KIND_dropout, FT_DTYPE_fp32, x)
                    : shaped(FT_KIND_view, x, x);
    else
        return false;
    return true;
}

static bool is_view(const char *name)
{
    static const char *const names[] = {"Flatten", "Permute", "Identity", "Unflatten"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool layer(ft__import *im, ft_op *op, const char *name, const ft_shape *x,
                  const ft_shape *out)
{
    if (strcmp(name, "Conv2d") == 0)
        *op = convolution(im, x);
    else if (strcmp(name, "MaxPool2d") == 0)
        *op = pool(im, FT_KIND_maxpool2d, x);
    else if (strcmp(name, "AvgPool2d") == 0)
        *op = pool(im, FT_KIND_avgpool2d, x);
    else if (strcmp(name, "AdaptiveAvgPool2d") == 0)
        *op = adaptive_pool(x, out);
    else if (strcmp(name, "LayerNorm") == 0)
        *op = layernorm(im, x);
    else if (strcmp(name, "LayerNorm2d") == 0)
        *op = layernorm2d(x);
    else if (strcmp(name, "Softmax") == 0)
        *op = keyed(FT_KIND_softmax, x, FT_K_axis, x->rank - 1);
    else if (strcmp(name, "Linear") == 0) {
        *op = keyed(FT_KIND_linear, x, FT_K_out, ft__whole(im, FT__C_out_features));
        ft__op_set1(op, FT_K_bias, ft__whole_or(im, FT__C_bias, 0));
    } else {
        return false;
    }
    return true;
}

/* What a module does, from its name and columns. `train`: in training mode. */
static ft_op module(ft__import *im, bool train)
{
    const char *name = ft__text(im, FT__C_op);
    ft_shape x = ft__shape(im, FT__C_input_shape), out = x;
    ft_op op;

    if (*ft__text(im, FT__C_output_shape))
        out = ft__shape(im, FT__C_output_shape);
    (void)ft__text(im, FT__C_output_h);
    (void)ft__text(im, FT__C_output_w);
    if (layer(im, &op, name, &x, &out) || moody(im, &op, name, &x, train))
        return op;
    if (is_view(name))
        return shaped(FT_KIND_view, &x, &out);
    for (size_t i = 0; i < sizeof(unary) / sizeof(*unary); i++) {
        if (strcmp(unary[i].name, name) != 0)
            continue;
        op = ft__op(unary[i].kind, FT_DTYPE_fp32, &x);
        op.in_place = ft__whole_or(im, FT__C_inplace, 0) == 1;
        return op;
    }
    ft__count_unknown(im);
    return shaped(FT_KIND_generic, &x, &out);
}

/* ---- tables ---- */

static bool is_training(ft__import *im)
{
    return ft__is(im, FT__C_mode, "training");
}

/* Operations: training is forward and backward. Until 2025 inference was measured of
 * modules that had not been told so: "train_mode_autograd_on". */
static void operation(ft__import *im)
{
    bool train = strncmp(ft__text(im, FT__C_module_state), "train", 5) == 0;
    ft_op op = module(im, train);

    if (is_training(im))
        op.phase = FT_PHASE_FORWARD_BACKWARD;
    key(im);
    ft__setting(im, "state", train ? "train" : "eval");
    ft__keep(im, FT__C_op);
    ft__about(im, &op);
    values(im);
}

static void whole(ft__import *im, ft__column name, ft__column shape, ft_phase phase)
{
    ft_shape x = ft__shape(im, shape);
    char rest[200] = "x=";
    size_t n = 2;

    for (uint32_t i = 0; i < x.rank; i++)
        n += (size_t)snprintf(rest + n, sizeof(rest) - n, i ? "x%lld" : "%lld",
                              (long long)x.dim[i]);
    snprintf(rest + n, sizeof(rest) - n, " dtype=fp32");
    ft__about_whole(im, "network", ft__text(im, name), rest, phase);
}

/* Networks: training is a whole step, with loss and optimizer. */
static void network(ft__import *im)
{
    key(im);
    whole(im, FT__C_model, FT__C_input_shape,
          is_training(im) ? FT_PHASE_STEP : FT_PHASE_FORWARD);
    values(im);
}

/* What networks consist of: as inference runs it, as inference in training mode runs
 * it (of whole networks before 2025), and as training does. */
static void member(ft__import *im)
{
    double count = (double)ft__whole_or(im, FT__C_count_all_calls, 1);
    char spec[300], note[120];

    whole(im, FT__C_model, FT__C_model_input, FT_PHASE_FORWARD);
    snprintf(spec, sizeof(spec), "%s", ft__spec(im));
    snprintf(note, sizeof(note),
             "count_thesis=%.20s in_thesis_filter=%.20s in_full_filter=%.20s",
             ft__text(im, FT__C_count_thesis), ft__text(im, FT__C_in_thesis_filter),
             ft__text(im, FT__C_in_full_filter));
    for (int i = 0; i < 3; i++) {
        static const char *const lists[] = {"thesis", "thesis state=train", "thesis"};
        ft_op op = module(im, i > 0);

        op.phase = i == 2 ? FT_PHASE_FORWARD_BACKWARD : FT_PHASE_FORWARD;
        ft__about(im, &op);
        ft__member(im, lists[i], spec, i == 2 ? FT_PHASE_STEP : FT_PHASE_FORWARD, count,
                   note);
    }
}

static const ft__column op_needs[] = {FT__C_device, FT__C_session,     FT__C_mode,
                                      FT__C_op,     FT__C_input_shape, FT__C_time_s};
static const ft__column net_needs[] = {FT__C_device, FT__C_session,     FT__C_mode,
                                       FT__C_model,  FT__C_input_shape, FT__C_time_s};
static const ft__column member_needs[] = {FT__C_model, FT__C_model_input, FT__C_op,
                                          FT__C_input_shape, FT__C_count_all_calls};

#define NEEDS(list) list, sizeof(list) / sizeof(*(list))
const ft__form ft__thesis_forms[3] = {
    {NEEDS(member_needs), "torch", "2.3.1", member},
    {NEEDS(op_needs), "torch", "2.3.1", operation},
    {NEEDS(net_needs), "torch", "2.3.1", network},
};
