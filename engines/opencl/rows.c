/* Reductions, softmax and norms. */
#include <stdio.h>
#include <string.h>

#include "opencl.h"

static size_t element(const ft_block *b)
{
    return ft_dtype_bits(b->op.dtype) / 8;
}

static bool is_global_pool(ft_kind k)
{
    return k == FT_KIND_global_avgpool || k == FT_KIND_global_maxpool;
}

static bool is_reduced(const ft_op *op, uint32_t axis)
{
    uint32_t n;
    const int64_t *v = ft_op_get(op, FT_K_axes, &n);

    if (is_global_pool(op->kind))
        return axis >= 2;
    for (uint32_t i = 0; i < n; i++)
        if (v[i] == (int64_t)axis)
            return true;
    return false;
}

/* The axes that stay (reduced: those that do not) into sizes[0..15]; returns how many,
 * *n elements. */
static uint32_t pick_axes(const ft_op *op, bool reduced, int32_t *sizes, int64_t *n)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int32_t size[FT_MAX_RANK], own[FT_MAX_RANK], stride[1][FT_MAX_RANK];
    uint32_t rank = 0;

    ft__strides(own, &x, &x);
    *n = 1;
    for (uint32_t d = 0; d < x.rank; d++) {
        if (is_reduced(op, d) != reduced)
            continue;
        size[rank] = (int32_t)x.dim[d];
        stride[0][rank++] = own[d];
        *n *= x.dim[d];
    }
    rank = ft__merge_axes(size, stride, 1, rank);
    memcpy(sizes, size, rank * sizeof(*sizes));
    memcpy(sizes + 8, stride[0], rank * sizeof(*sizes));
    return rank;
}

void ft__build_reduce(ft_block *b)
{
    ft_kind k = b->op.kind;
    bool real = k == FT_KIND_reduce_l2 || k == FT_KIND_reduce_logsumexp ||
                k == FT_KIND_reduce_mean || is_global_pool(k);
    const char *t = ft__arithmetic_type(b, real);
    int32_t sizes[32] = {0};
    int64_t rows, n;
    uint32_t stay = pick_axes(&b->op, false, sizes, &rows);
    uint32_t reduced = pick_axes(&b->op, true, sizes + 16, &n);
    char kernel[64];

    if (b->status)
        return;
    snprintf(kernel, sizeof(kernel), "k_%s",
             k == FT_KIND_global_avgpool   ? "reduce_mean"
             : k == FT_KIND_global_maxpool ? "reduce_max"
                                           : ft_kind_name(k));
    ft__kernel(b, "rows", kernel, t, t, "");
    ft__arg_map(b, rows);
    ft__arg_ints(b, n, stay, reduced);
    ft__arg_sizes(b, sizes, 32);
    ft__range_rows(b, rows, n, sizes[24 + reduced - 1] == 1, element(b));
}

/* Operand, result, rows, their length and the distance of their elements. */
static void arg_rows(ft_block *b, uint32_t axis, int64_t *rows, int64_t *n,
                     int64_t *inner)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);

    *n = x.dim[axis];
    *inner = ft__elements(&x, axis + 1, x.rank);
    *rows = ft__elements(&x, 0, axis) * *inner;
    ft__arg_map(b, *rows);
    ft__arg_ints(b, *n, *inner);
}

static void launch_rows(ft_block *b, const char *t)
{
    char kernel[64];

    snprintf(kernel, sizeof(kernel), "k_%s", ft_kind_name(b->op.kind));
    ft__kernel(b, "rows", kernel, t, t, "");
}

void ft__build_arg(ft_block *b)
{
    const char *t = ft__arithmetic_type(b, false);
    int64_t rows = 0, n, inner;

    if (b->status)
        return;
    launch_rows(b, t);
    arg_rows(b, (uint32_t)ft_op_at(&b->op, FT_K_axes, 0), &rows, &n, &inner);
    ft__range(b, rows);
}

void ft__build_rows(ft_block *b)
{
    bool sum = b->op.kind == FT_KIND_cumsum;
    const char *t = ft__arithmetic_type(b, !sum);
    int64_t rows = 0, n = 0, inner = 0;

    if (b->status)
        return;
    launch_rows(b, t);
    arg_rows(b, (uint32_t)ft_op_at(&b->op, FT_K_axis, 0), &rows, &n, &inner);
    if (sum)
        ft__range(b, rows);
    else
        ft__range_rows(b, rows, n, inner == 1, element(b));
}

static void arg_weights(ft_block *b)
{
    ft__arg_in(b, 0);
    for (uint32_t i = 0; i < ft_op_n_params(&b->op); i++)
        ft__arg_in(b, 1 + i);
    ft__arg_out(b, 0);
}

static void build_by_channel(ft_block *b, const char *t)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);

    launch_rows(b, t);
    arg_weights(b);
    ft__arg_ints(b, ft_shape_elements(&x), x.dim[1], ft__elements(&x, 2, x.rank));
    if (b->op.kind == FT_KIND_lrn)
        ft__arg_ints(b, ft_op_at(&b->op, FT_K_size, 0));
    ft__range(b, ft_shape_elements(&x));
}

static void build_normed_rows(ft_block *b, const char *t)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);
    bool by_channel =
        b->op.kind == FT_KIND_groupnorm || b->op.kind == FT_KIND_instancenorm;
    int64_t groups = b->op.kind == FT_KIND_instancenorm
                         ? x.dim[1]
                         : ft_op_at(&b->op, FT_K_groups, 0);
    uint32_t first = x.rank - (uint32_t)ft_op_at(&b->op, FT_K_norm, 0);
    int64_t n = by_channel ? ft__elements(&x, 1, x.rank) / groups
                           : ft__elements(&x, first, x.rank);
    int64_t rows = ft_shape_elements(&x) / n;

    ft__kernel(b, "rows", b->op.kind == FT_KIND_rmsnorm ? "k_rmsnorm" : "k_norm", t, t,
               "");
    arg_weights(b);
    ft__arg_ints(b, rows, n);
    if (b->op.kind != FT_KIND_rmsnorm) {
        ft__arg_ints(b, by_channel ? groups : 1, by_channel ? x.dim[1] / groups : 0,
                     by_channel ? ft__elements(&x, 2, x.rank) : 1);
    }
    ft__range_rows(b, rows, n, true, element(b));
}

void ft__build_norm(ft_block *b)
{
    const char *t = ft__arithmetic_type(b, true);

    if (b->op.kind == FT_KIND_batchnorm && ft_op_at(&b->op, FT_K_train, 0))
        (void)ft__unsupported(b, "statistics of a batch are not taken");
    if (b->status)
        return;
    if (b->op.kind == FT_KIND_batchnorm || b->op.kind == FT_KIND_lrn)
        build_by_channel(b, t);
    else
        build_normed_rows(b, t);
}
