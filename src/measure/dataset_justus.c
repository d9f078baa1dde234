/* Justus, Brennan, Bonner, McGough: Predicting the Computational Cost of Deep Learning
 * Models (2018; github.com/CDECatapult/ml-performance-prediction): single layers under
 * TensorFlow 1, timed from outside. */
#include <math.h>

#include "graph/op_inside.h"
#include "measure/dataset.h"

/* "same": as many results as x has elements, over the stride; what has to be added for
 * that is shared out, the odd one at the end. */
static void same_padding(int64_t pad[4], uint32_t *n, int64_t size, int64_t kernel,
                         int64_t stride)
{
    int64_t out = stride > 0 ? (size + stride - 1) / stride : 0;
    int64_t all = (out - 1) * stride + kernel - size;

    all = all > 0 ? all : 0;
    pad[0] = pad[1] = all / 2;
    pad[2] = pad[3] = all - all / 2;
    *n = all % 2 ? 4 : 2;
}

static ft_op convolution(ft__import *im)
{
    int64_t size = ft__whole(im, FT__C_insize), kernel = ft__whole(im, FT__C_ksize);
    int64_t stride = ft__whole(im, FT__C_stride), pad[4] = {0};
    uint32_t n = 2;
    ft_shape x = {
        .rank = 4,
        .dim = {ft__whole(im, FT__C_batch), ft__whole(im, FT__C_cin), size, size}};
    ft_op op = ft__op(FT_KIND_conv2d, FT_DTYPE_fp32, &x);

    if (ft__is(im, FT__C_padding, "same"))
        same_padding(pad, &n, size, kernel, stride);
    else if (!ft__is(im, FT__C_padding, "valid"))
        ft__wrong(im, FT__C_padding, "same or valid is wanted");
    ft__op_set1(&op, FT_K_out, ft__whole(im, FT__C_cout));
    ft__op_set(&op, FT_K_kernel, (int64_t[]){kernel, kernel}, 2);
    ft__op_set(&op, FT_K_stride, (int64_t[]){stride, stride}, 2);
    ft__op_set(&op, FT_K_pad, pad, n);
    ft__op_set1(&op, FT_K_bias, ft__whole_or(im, FT__C_bias, 0));
    return op;
}

static ft_op dense(ft__import *im)
{
    ft_shape x = {.rank = 2,
                  .dim = {ft__whole(im, FT__C_batch), ft__whole(im, FT__C_cin)}};
    ft_op op = ft__op(FT_KIND_linear, FT_DTYPE_fp32, &x);

    ft__op_set1(&op, FT_K_out, ft__whole(im, FT__C_cout));
    ft__op_set1(&op, FT_K_bias, ft__whole_or(im, FT__C_bias, 1));
    return op;
}

/* The activation is part of what was timed; of a step also loss and optimizer. */
static void layer(ft__import *im)
{
    bool step = ft__is(im, FT__C_mode, "training_step");
    ft_op op;

    if (ft__is(im, FT__C_op, "conv2d"))
        op = convolution(im);
    else if (ft__is(im, FT__C_op, "dense"))
        op = dense(im);
    else {
        ft__wrong(im, FT__C_op, "no such layer is known");
        return;
    }
    if (!step && !ft__is(im, FT__C_mode, "inference_fwd"))
        ft__wrong(im, FT__C_mode, "inference_fwd or training_step is wanted");
    (void)ft__text(im, FT__C_dtype);
    op.phase = step ? FT_PHASE_STEP : FT_PHASE_FORWARD;
    ft__device(im, ft__text(im, FT__C_device));
    ft__setting(im, "activation", ft__text(im, FT__C_activation));
    if (!ft__is(im, FT__C_optimizer, "None"))
        ft__setting(im, "optimizer", ft__text(im, FT__C_optimizer));
    ft__about(im, &op);
    ft__value(im, "time", "s", ft__real(im, FT__C_time_s),
              ft__real(im, FT__C_time_std_s), 1);
}

static const ft__column needs[] = {FT__C_device, FT__C_op,         FT__C_mode,
                                   FT__C_batch,  FT__C_activation, FT__C_time_s};
const ft__form ft__justus_forms[1] = {
    {needs, sizeof(needs) / sizeof(*needs), "tensorflow", "1", layer}};
