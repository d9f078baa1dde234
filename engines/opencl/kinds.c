/* Which builder runs a kind, and elementwise kinds, whose kernels have their names. */
#include <stdio.h>
#include <string.h>

#include "opencl.h"

const char *ft__arithmetic_type(ft_block *b, bool real_only)
{
    const char *t = ft__type_name(b, b->op.dtype);

    if (t && real_only && b->op.dtype != FT_DTYPE_fp32 && b->op.dtype != FT_DTYPE_fp64)
        t = NULL;
    if (!t)
        (void)ft__unsupported(b, "no kernel computes in this type on this device");
    return t;
}

bool ft__computes_floats(ft_block *b)
{
    ft_shape s;
    ft_dtype t;

    ft_op_output(&b->op, 0, &s, &t);
    if (b->op.dtype == FT_DTYPE_fp32 && t == FT_DTYPE_fp32 &&
        !ft_op_at(&b->op, FT_K_weights, 0))
        return true;
    (void)ft__unsupported(b, "only fp32 is computed in");
    return false;
}

/* Kinds whose kernels are there for floats only, or for whole numbers only. */
static bool takes(ft_kind k, bool real)
{
    switch (k) {
    case FT_KIND_relu:
    case FT_KIND_clip:
    case FT_KIND_neg:
    case FT_KIND_abs:
    case FT_KIND_sign:
    case FT_KIND_cast:
    case FT_KIND_logical_not: return true;
    case FT_KIND_bitwise_not:
    case FT_KIND_bitwise:
    case FT_KIND_dequantize: return !real;
    case FT_KIND_prelu:
    case FT_KIND_atan2:
    case FT_KIND_swiglu:
    case FT_KIND_quantize: return real;
    default: return real || ft_kind_class(k) == FT_CLASS_BINARY;
    }
}

static const char *result_type(ft_block *b)
{
    const char *r;
    ft_shape s;
    ft_dtype t;

    ft_op_output(&b->op, 0, &s, &t);
    r = ft__type_name(b, t);
    if (!r)
        (void)ft__unsupported(b, "no kernel writes results of this type");
    return r;
}

static const char *more_options(const ft_op *op)
{
    ft_dtype to = (ft_dtype)ft_op_at(op, FT_K_to, 0);

    if (op->kind == FT_KIND_quantize && to == FT_DTYPE_int8)
        return " -DLOWEST=-128";
    return op->kind == FT_KIND_cast && to == FT_DTYPE_bool ? " -DTO_BOOL" : "";
}

static void build_unary(ft_block *b)
{
    const char *t = ft__arithmetic_type(b, false), *r = result_type(b);
    ft_shape s = ft_op_shape(&b->op, FT_K_x);
    char kernel[64];

    if (b->status)
        return;
    snprintf(kernel, sizeof(kernel), "k_%s", ft_kind_name(b->op.kind));
    ft__kernel(b, "elementwise", kernel, t, r, more_options(&b->op));
    ft__arg_map(b, ft_shape_elements(&s));
    ft__range(b, ft_shape_elements(&s));
}

/* Sizes and the operands' strides as kernels read them; returns their rank. */
static uint32_t broadcast(const ft_block *b, int32_t sizes[32])
{
    int32_t size[FT_MAX_RANK], stride[3][FT_MAX_RANK];
    uint32_t n = ft_op_n_inputs(&b->op), rank;
    ft_shape out, s;
    ft_dtype t;

    ft_op_output(&b->op, 0, &out, &t);
    for (uint32_t d = 0; d < out.rank; d++)
        size[d] = (int32_t)out.dim[d];
    for (uint32_t i = 0; i < n; i++) {
        ft_op_input(&b->op, i, &s, &t);
        ft__strides(stride[i], &s, &out);
    }
    rank = ft__merge_axes(size, stride, n, out.rank);
    memset(sizes, 0, 32 * sizeof(*sizes));
    memcpy(sizes, size, rank * sizeof(*size));
    for (uint32_t i = 0; i < n; i++)
        memcpy(sizes + 8 + 8 * i, stride[i], rank * sizeof(*size));
    return rank;
}

static void build_binary(ft_block *b)
{
    const char *t = ft__arithmetic_type(b, false), *r = result_type(b);
    uint32_t n_in = ft_op_n_inputs(&b->op), rank;
    int32_t sizes[32];
    char kernel[64];
    ft_shape out;
    ft_dtype type;
    bool flat;

    if (b->status)
        return;
    rank = broadcast(b, sizes);
    flat = rank == 1 && n_in == 2;
    ft_op_output(&b->op, 0, &out, &type);
    snprintf(kernel, sizeof(kernel), "k_%s%s", ft_kind_name(b->op.kind),
             flat ? "_flat" : "");
    ft__kernel(b, "elementwise", kernel, t, r, "");
    for (uint32_t i = 0; i < n_in; i++)
        ft__arg_in(b, i);
    ft__arg_out(b, 0);
    ft__arg_ints(b, ft_shape_elements(&out), flat ? sizes[8] : (int32_t)rank);
    if (flat)
        ft__arg_ints(b, sizes[16]);
    else
        ft__arg_sizes(b, sizes, 32);
    ft__range(b, ft_shape_elements(&out));
}

static void build_elementwise(ft_block *b)
{
    bool real = b->op.dtype == FT_DTYPE_fp32 || b->op.dtype == FT_DTYPE_fp64;

    if (!takes(b->op.kind, real) || b->op.kind == FT_KIND_dropout ||
        b->op.kind == FT_KIND_rotary || b->op.kind == FT_KIND_stochastic_depth)
        (void)ft__unsupported(b, "there is no kernel for this kind and type");
    else if (ft_kind_class(b->op.kind) == FT_CLASS_UNARY)
        build_unary(b);
    else
        build_binary(b);
}

static void build_view(ft_block *b)
{
    b->view_of = 0;
    snprintf(b->implementation, sizeof(b->implementation), "view");
}

static ft__build_fn *reduction(ft_kind k)
{
    if (k == FT_KIND_argmax || k == FT_KIND_argmin)
        return ft__build_arg;
    if (k == FT_KIND_cumsum)
        return ft__build_rows;
    return k == FT_KIND_mse_loss || k == FT_KIND_det || k == FT_KIND_topk ||
                   k == FT_KIND_fft || k == FT_KIND_nms
               ? NULL
               : ft__build_reduce;
}

static ft__build_fn *builder(ft_kind k)
{
    switch (ft_kind_class(k)) {
    case FT_CLASS_CONV: return k == FT_KIND_deform_conv2d ? NULL : ft__build_conv;
    case FT_CLASS_POOL: return k == FT_KIND_max_unpool ? NULL : ft__build_window;
    case FT_CLASS_MATMUL:
        return k == FT_KIND_linear   ? ft__build_linear
               : k == FT_KIND_matmul ? ft__build_matmul
                                     : NULL;
    case FT_CLASS_SOFTMAX:
        return k == FT_KIND_softmax || k == FT_KIND_logsoftmax ? ft__build_rows : NULL;
    case FT_CLASS_NORM: return k == FT_KIND_l2norm ? ft__build_rows : ft__build_norm;
    case FT_CLASS_REDUCE: return reduction(k);
    case FT_CLASS_MOVE: return ft__build_move;
    case FT_CLASS_VIEW: return build_view;
    case FT_CLASS_UNARY:
    case FT_CLASS_BINARY: return build_elementwise;
    default: return NULL;
    }
}

/* Kernels count elements in 31 bits, and know one layout. */
static void check_shapes(ft_block *b)
{
    uint32_t n_in = ft_op_n_inputs(&b->op), n_params = ft_op_n_params(&b->op);

    for (uint32_t i = 0; i < n_in + n_params + b->n_out; i++) {
        ft_param p;
        ft_shape s;
        ft_dtype t;
        int64_t n;

        if (i < n_in) {
            ft_op_input(&b->op, i, &s, &t);
        } else if (i < n_in + n_params) {
            ft_op_param(&b->op, i - n_in, &p);
            s = p.shape;
        } else {
            ft_op_output(&b->op, i - n_in - n_params, &s, &t);
        }
        n = ft_shape_elements(&s);
        if (n < 0 || n > INT32_MAX)
            (void)ft__unsupported(b, "tensors have 2^31 - 1 elements at most");
        if (s.rank >= 3 && b->op.layout == FT_LAYOUT_CHANNELS_LAST)
            (void)ft__unsupported(b, "tensors are row-major only");
    }
}

ft_status ft__build(ft_block *b)
{
    ft__build_fn *build = builder(b->op.kind);

    if (b->op.phase != FT_PHASE_FORWARD)
        return ft__unsupported(b, "forward operations only");
    if (!build)
        return ft__unsupported(b, "there is no kernel for this kind");
    check_shapes(b);
    if (!b->status)
        build(b);
    return b->status;
}
