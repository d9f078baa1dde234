/* DeepBench (github.com/baidu-research/DeepBench): the same shapes in vendors'
 * libraries on many devices. */
#include <math.h>
#include <string.h>

#include "graph/op_inside.h"
#include "measure/dataset.h"

/* fp16_in_fp32acc: 16-bit operands, summed up in 32 bits. */
static ft_dtype dtype(ft__import *im, ft_dtype *to)
{
    const char *name = ft__text(im, FT__C_dtype);
    ft_dtype t = ft__dtype_from_name(name, strlen(name));

    *to = FT_DTYPE_NONE;
    if (strncmp(name, "fp16", 4) == 0)
        return FT_DTYPE_fp16;
    if (strncmp(name, "int8", 4) == 0) {
        *to = FT_DTYPE_int32;
        return FT_DTYPE_int8;
    }
    if (t == FT_DTYPE_NONE)
        ft__wrong(im, FT__C_dtype, "no such precision is known");
    return t;
}

/* BLAS keeps all three matrices by columns; what it calls transposed lies otherwise
 * than the result, which is what order says. */
static ft_op gemm(ft__import *im, ft_dtype t, ft_dtype to)
{
    int64_t k = ft__whole(im, FT__C_k);
    ft_shape x = {.rank = 2, .dim = {ft__whole(im, FT__C_m), k}};
    ft_shape y = {.rank = 2, .dim = {k, ft__whole(im, FT__C_n)}};
    ft_op op = ft__op(FT_KIND_matmul, t, &x);

    ft__op_set_shape(&op, FT_K_y, &y);
    ft__op_set1(&op, FT_K_to, to);
    ft__op_set1(&op, FT_K_order,
                (ft__is(im, FT__C_ta, "T") ? 1 : 0) +
                    (ft__is(im, FT__C_tb, "T") ? 2 : 0));
    return op;
}

static ft_op convolution(ft__import *im, ft_dtype t, ft_dtype to)
{
    ft_shape x = {.rank = 4,
                  .dim = {ft__whole(im, FT__C_batch), ft__whole(im, FT__C_cin),
                          ft__whole(im, FT__C_h), ft__whole(im, FT__C_w)}};
    int64_t kernel[2] = {ft__whole(im, FT__C_kh), ft__whole(im, FT__C_kw)};
    int64_t stride[2] = {ft__whole(im, FT__C_stride_h), ft__whole(im, FT__C_stride_w)};
    int64_t pad[2] = {ft__whole(im, FT__C_pad_h), ft__whole(im, FT__C_pad_w)};
    ft_op op = ft__op(FT_KIND_conv2d, t, &x);

    ft__op_set1(&op, FT_K_out, ft__whole(im, FT__C_cout));
    ft__op_set(&op, FT_K_kernel, kernel, 2);
    ft__op_set(&op, FT_K_stride, stride, 2);
    ft__op_set(&op, FT_K_pad, pad, 2);
    ft__op_set1(&op, FT_K_to, to);
    return op;
}

/* Inputs are as wide as the state. */
static ft_op recurrent(ft__import *im, const char *name, ft_dtype t)
{
    int64_t hidden = ft__whole(im, FT__C_hidden);
    ft_shape x = {
        .rank = 3,
        .dim = {ft__whole(im, FT__C_timesteps), ft__whole(im, FT__C_batch), hidden}};
    ft_op op = ft__op(strcmp(name, "lstm") == 0  ? FT_KIND_lstm
                      : strcmp(name, "gru") == 0 ? FT_KIND_gru
                                                 : FT_KIND_rnn,
                      t, &x);

    ft__op_set1(&op, FT_K_hidden, hidden);
    return op;
}

static ft_op allreduce(ft__import *im, ft_dtype t)
{
    int64_t size = (int64_t)ft_dtype_bits(t) / 8, bytes = ft__whole(im, FT__C_bytes);
    ft_shape x = {.rank = 1, .dim = {size ? bytes / size : 1}};
    ft_op op = ft__op(FT_KIND_collective, t, &x);

    ft__op_set1(&op, FT_K_ranks, ft__whole(im, FT__C_num_devices));
    return op;
}

static bool kind(ft__import *im, ft_op *op)
{
    const char *name = ft__text(im, FT__C_op);
    ft_dtype to, t = dtype(im, &to);

    if (strcmp(name, "gemm") == 0)
        *op = gemm(im, t, to);
    else if (strcmp(name, "conv2d") == 0)
        *op = convolution(im, t, to);
    else if (strcmp(name, "allreduce") == 0)
        *op = allreduce(im, t);
    else if (strcmp(name, "lstm") == 0 || strcmp(name, "gru") == 0 ||
             strncmp(name, "rnn", 3) == 0)
        *op = recurrent(im, name, t);
    else
        return false;
    return true;
}

static void phase(ft__import *im, ft_op *op)
{
    if (ft__is(im, FT__C_mode, "fwd") || ft__is(im, FT__C_mode, "collective"))
        return;
    op->phase = FT_PHASE_BACKWARD;
    if (ft__is(im, FT__C_mode, "bwd_input"))
        ft__op_set_wrt(op, FT_WRT_X);
    else if (ft__is(im, FT__C_mode, "bwd_weight"))
        ft__op_set_wrt(op, FT_WRT_WEIGHTS);
    else
        ft__wrong(im, FT__C_mode, "fwd, bwd_input, bwd_weight or collective is wanted");
}

static void operation(ft__import *im)
{
    ft_op op;

    if (!kind(im, &op)) {
        ft__wrong(im, FT__C_op, "no such operation is known");
        return;
    }
    ft__device(im, ft__text(im, FT__C_device));
    phase(im, &op);
    ft__setting(im, "suite", ft__text(im, FT__C_suite));
    ft__about(im, &op);
    ft__value(im, "time", "s", ft__real(im, FT__C_time_s), NAN, 1);
}

static const ft__column needs[] = {FT__C_device, FT__C_suite, FT__C_op,
                                   FT__C_dtype,  FT__C_mode,  FT__C_time_s};
const ft__form ft__deepbench_forms[1] = {
    {needs, sizeof(needs) / sizeof(*needs), "deepbench", "1", operation}};
