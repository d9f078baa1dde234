#include "predict/data/categories.h"

#include <math.h>
#include <stdbool.h>

/* Channels below which tiles of a product are not filled, and those below which a
 * product is no more than a pass over its operands. */
enum { FEW_CHANNELS = 64, THIN = 16 };
static ft__sort_of sort_of_conv(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t groups = ft_op_at(op, FT_K_groups, 0), in = x.dim[1];
    int64_t kernel = ft_op_at(op, FT_K_kernel, 0), out = ft_op_at(op, FT_K_out, 0);
    bool few = in < FEW_CHANNELS || out < FEW_CHANNELS;

    if (in <= 4)
        return FT__SORT_FIRST;
    if (groups > 1 && 2 * groups >= in)
        return kernel <= 3   ? FT__SORT_DEPTHWISE
               : kernel <= 5 ? FT__SORT_DEPTHWISE_5
                             : FT__SORT_DEPTHWISE_7;
    if (groups > 1)
        return in < THIN * groups ? FT__SORT_GROUPED_THIN : FT__SORT_GROUPED;
    if (kernel == 1)
        return few ? FT__SORT_POINT_THIN : FT__SORT_POINT;
    return few ? FT__SORT_CONV_THIN : FT__SORT_CONV;
}

static ft__sort_of sort_of(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return sort_of_conv(op);
    case FT_CLASS_MATMUL:
        return op->kind == FT_KIND_linear      ? FT__SORT_LINEAR
               : op->kind == FT_KIND_attention ? FT__SORT_ATTENTION
                                               : FT__SORT_PRODUCT;
    case FT_CLASS_POOL: return FT__SORT_POOL;
    case FT_CLASS_NORM:
        return op->kind == FT_KIND_batchnorm ? FT__SORT_BATCHNORM : FT__SORT_NORM;
    case FT_CLASS_SOFTMAX: return FT__SORT_SOFTMAX;
    case FT_CLASS_UNARY: return op->in_place ? FT__SORT_IN_PLACE : FT__SORT_UNARY;
    case FT_CLASS_BINARY:
        return ft_op_shape(op, FT_K_x).rank < 4 ? FT__SORT_BINARY_TOKENS
                                                : FT__SORT_BINARY;
    case FT_CLASS_REDUCE: return FT__SORT_REDUCE;
    default: return FT__SORT_MOVE;
    }
}

static bool is_thin(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);

    return op->kind == FT_KIND_linear &&
           (x.dim[x.rank - 1] <= THIN || ft_op_at(op, FT_K_out, 0) <= THIN);
}

ft__sort_of ft__sort_price(double *time_s, const ft_op *op, const ft__chip *chip,
                           const ft__theta *theta)
{
    ft__sort_of sort = sort_of(op);
    ft__terms t;

    ft__physics(&t, op, chip, theta);
    *time_s = t.busy_s;
    if (sort == FT__SORT_LINEAR && is_thin(op)) {
        ft_cost cost;

        ft_op_cost(op, &cost);
        *time_s = 3 * (cost.bytes_read + cost.bytes_written) / (0.85 * chip->bandwidth);
        return FT__SORT_MOVE;
    }
    return sort;
}
