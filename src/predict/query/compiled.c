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

/* A convolution whose bias the kernel that follows adds to the share f->biased of its
 * nodes, whatever their dimensions (Inductor's lowering of convolutions). */
static double unbiased_s(const ft__query_context *q, const ft_op *op,
                         const ft__fused *f)
{
    const double all = busy_of(q, op);
    ft_shape out;
    ft_dtype dtype;

    ft_op_output(op, 0, &out, &dtype);
    return fmax(all - f->biased * copy_s(q, &out, dtype), (1 - f->biased) * all);
}

/* Compilers lay images' channels last, which makes convolutions other ones. Operands,
 * results and weights are copied where no kernel that is generated does it by the way.
 */
static void lay_last(ft__query_context *q, uint32_t i)
{
    ft_op op = q->g->op[i];
    ft__fused *f = &q->fused[i];
    const double own = busy_of(q, &op);
    const double weights = ft_op_at(&op, FT_K_kernel, 0) > 1;
    ft_shape in, out;
    ft_dtype dtype;

    ft_op_input(&op, 0, &in, &dtype);
    ft_op_output(&op, 0, &out, &dtype);
    op.layout = FT_LAYOUT_CHANNELS_LAST;
    f->moved *= (unbiased_s(q, &op, f) + f->copied_in * copy_s(q, &in, dtype) +
                 f->copied_out * copy_s(q, &out, dtype)) /
                own;
    f->copies = q->a.graph ? 0 : f->copied_in + f->copied_out + weights;
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

/* Norms that are generated: elementwise but for a second reading of long rows. */
static void generate_norm(ft__query_context *q, uint32_t i)
{
    const ft_op *op = &q->g->op[i];
    const double own = busy_of(q, op);
    ft_shape x = ft_op_shape(op, FT_K_x);
    const double row = (double)ft_tensor_bytes(&x, op->dtype) / rows_of(op);
    ft_op one;
    bool good;

    ft__op_init(&one, row > kept_row ? FT_KIND_mul : FT_KIND_relu, op->dtype);
    good = ft__op_set_shape(&one, FT_K_x, &x) &&
           (one.kind == FT_KIND_relu || ft__op_set_shape(&one, FT_K_y, &x));
    if (good)
        q->fused[i].moved *= fmin(1, busy_of(q, &one) / own);
}

void ft__query_context_compile(ft__query_context *q)
{
    for (uint32_t i = 0; i < q->n; i++) {
        const ft_op *op = &q->g->op[i];

        switch (op->kind) {
        case FT_KIND_conv2d:
        case FT_KIND_conv_transpose2d: lay_last(q, i); break;
        case FT_KIND_batchnorm:
        case FT_KIND_groupnorm:
        case FT_KIND_instancenorm:
        case FT_KIND_layernorm: generate_norm(q, i); break;
        default:
            if (q->fused[i].biased > 0)
                q->fused[i].moved *= unbiased_s(q, op, &q->fused[i]) / busy_of(q, op);
        }
    }
}
