/* What a compiler makes of operations beside fusing them: images with channels last,
 * and norms of one kernel. */
#include <math.h>

#include "predict/query/query_context.h"

static double busy_of(const ft__query_context *q, const ft_op *op)
{
    ft__terms t;

    ft__device_query_terms(&t, &q->a, op);
    return t.busy_s;
}

/* To read a tensor of *shape and to write it, s. */
static double copy_s(const ft__query_context *q, const ft_shape *shape, ft_dtype dtype)
{
    ft_op op;

    ft__op_init(&op, FT_KIND_copy, dtype);
    return ft__op_set_shape(&op, FT_K_x, shape) ? busy_of(q, &op) : 0;
}

/* A convolution's time without the pass over its result that adds a bias, s. */
static double without_bias(const ft__query_context *q, const ft_op *op,
                           const ft__fused *f)
{
    const double s = busy_of(q, op);
    ft_shape out;
    ft_dtype dtype;

    ft_op_output(op, 0, &out, &dtype);
    return fmax(s - f->biased * copy_s(q, &out, dtype), (1 - f->biased) * s);
}

/* Of a plain copy's rate, which reads and writes in the same order. KernelBench's
 * single convolutions on A10, A10G and A100; those on an L40S, kept apart, bear it out.
 */
static const double RELAID_RATE = 0.9;

/* Compilers lay images' channels last, which makes convolutions other ones. Operands,
 * results and weights are copied where no kernel that is generated does it by the way,
 * and libraries pad few channels. */
static double lay_last(const ft__query_context *q, const ft_op *first, ft__fused *f)
{
    const double weights = ft_op_at(first, FT_K_kernel, 0) > 1;
    ft_op op = *first;
    ft_shape in, out;
    ft_dtype dtype;
    ft__terms first_lies, lies;

    ft_op_input(&op, 0, &in, &dtype);
    ft_op_output(&op, 0, &out, &dtype);
    op.layout = FT_LAYOUT_CHANNELS_LAST;
    ft__device_query_terms(&first_lies, &q->a, first);
    ft__device_query_terms(&lies, &q->a, &op);
    f->generated += f->copied_in + f->copied_out + weights +
                    ft__physics_defaults()->v[FT__C_inner_start] *
                        (lies.kernels - first_lies.kernels);
    return without_bias(q, &op, f) + (f->copied_in * copy_s(q, &in, dtype) +
                                      f->copied_out * copy_s(q, &out, dtype)) /
                                         RELAID_RATE;
}

static void compile_convolution(ft__query_context *q, uint32_t i)
{
    const ft_op *op = &q->g->op[i];

    q->fused[i].moved *=
        (q->fused[i].laid_last > 0 ? lay_last(q, op, &q->fused[i])
                                   : without_bias(q, op, &q->fused[i])) /
        busy_of(q, op);
}

/* Over which a norm takes its statistics. */
static double rows_of(const ft_op *op)
{
    const ft_shape x = ft_op_shape(op, FT_K_x);
    double rows = (double)x.dim[0];

    switch (op->kind) {
    case FT_KIND_batchnorm:
        return x.rank < 2 || !ft_op_at(op, FT_K_train, 0)
                   ? (double)ft_shape_elements(&x)
                   : (double)x.dim[1];
    case FT_KIND_groupnorm: return rows * (double)ft_op_at(op, FT_K_groups, 0);
    case FT_KIND_instancenorm: return rows * (x.rank < 2 ? 1 : (double)x.dim[1]);
    default:
        for (int64_t i = 1; i < (int64_t)x.rank - ft_op_at(op, FT_K_norm, 0); i++)
            rows *= (double)x.dim[i];
        return rows;
    }
}

/* Rows, in bytes, that a generated norm keeps between its statistics and its results.
 */
static const double kept_row = 32768;

/* Kernels that find moments of batches, groups or instances before another applies
 * them. Their rows are not one behind the other in memory, so that no kernel can do
 * both. Images have few rows, which are divided: a second kernel adds up. */
static double moment_kernels(const ft_op *op)
{
    if (op->kind == FT_KIND_layernorm ||
        (op->kind == FT_KIND_batchnorm && !ft_op_at(op, FT_K_train, 0)))
        return 0;
    return ft_op_shape(op, FT_K_x).rank > 2 ? 2 : 1;
}

/* Along another axis than the last one in memory: the kernel that divides reads anew.
 */
static void generate_softmax(ft__query_context *q, uint32_t i)
{
    const ft_op *op = &q->g->op[i];
    const ft_shape x = ft_op_shape(op, FT_K_x);
    const int64_t axis = ft_op_at(op, FT_K_axis, 0);
    const double images = q->fused[i].laid_last;
    const double across = axis == (int64_t)x.rank - 1 ? images
                          : axis == 1                 ? 1 - images
                                                      : 1;

    q->fused[i].moved += across * copy_s(q, &x, op->dtype) / 2 / busy_of(q, op);
    q->fused[i].generated += across;
}

/* Norms that are generated: elementwise but for a second reading of long rows. */
static void generate_norm(ft__query_context *q, uint32_t i)
{
    const ft_op *op = &q->g->op[i];
    const double own = busy_of(q, op);
    ft_shape x = ft_op_shape(op, FT_K_x);
    const double row = (double)ft_tensor_bytes(&x, op->dtype) / rows_of(op);
    const double moments = moment_kernels(op);
    ft_op one;
    bool good;

    ft__op_init(&one, row > kept_row ? FT_KIND_mul : FT_KIND_relu, op->dtype);
    good = ft__op_set_shape(&one, FT_K_x, &x) &&
           (one.kind == FT_KIND_relu || ft__op_set_shape(&one, FT_K_y, &x));
    if (good)
        q->fused[i].moved *= fmin(1, busy_of(q, &one) / own);
    q->fused[i].generated += moments;
    q->fused[i].moved += moments * copy_s(q, &(ft_shape){1, {1}}, op->dtype) / own;
}

void ft__query_context_compile(ft__query_context *q)
{
    for (uint32_t i = 0; i < q->n; i++)
        switch (q->g->op[i].kind) {
        case FT_KIND_conv1d:
        case FT_KIND_conv2d:
        case FT_KIND_conv3d:
        case FT_KIND_conv_transpose1d:
        case FT_KIND_conv_transpose2d:
        case FT_KIND_conv_transpose3d: compile_convolution(q, i); break;
        case FT_KIND_batchnorm:
        case FT_KIND_groupnorm:
        case FT_KIND_instancenorm:
        case FT_KIND_layernorm: generate_norm(q, i); break;
        case FT_KIND_softmax:
        case FT_KIND_logsoftmax: generate_softmax(q, i); break;
        default: break;
        }
}
