#include "predict/data/categories.h"

#include <math.h>
#include <stdbool.h>

/* Channels below which tiles of a product are not filled, and those below which a
 * product is no more than a pass over its operands. */
enum { FEW_CHANNELS = 64, THIN = 16 };
static ft__category category_of_conv(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t groups = ft_op_at(op, FT_K_groups, 0), in = x.dim[1];
    int64_t kernel = ft_op_at(op, FT_K_kernel, 0), out = ft_op_at(op, FT_K_out, 0);
    bool few = in < FEW_CHANNELS || out < FEW_CHANNELS;

    if (in <= 4)
        return FT__CATEGORY_FIRST;
    if (groups > 1 && 2 * groups >= in)
        return kernel <= 3   ? FT__CATEGORY_DEPTHWISE
               : kernel <= 5 ? FT__CATEGORY_DEPTHWISE_5
                             : FT__CATEGORY_DEPTHWISE_7;
    if (groups > 1)
        return in < THIN * groups ? FT__CATEGORY_GROUPED_THIN : FT__CATEGORY_GROUPED;
    if (kernel == 1)
        return few ? FT__CATEGORY_POINT_THIN : FT__CATEGORY_POINT;
    return few ? FT__CATEGORY_CONV_THIN : FT__CATEGORY_CONV;
}

static ft__category category_of(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return category_of_conv(op);
    case FT_CLASS_MATMUL:
        return op->kind == FT_KIND_linear      ? FT__CATEGORY_LINEAR
               : op->kind == FT_KIND_attention ? FT__CATEGORY_ATTENTION
                                               : FT__CATEGORY_PRODUCT;
    case FT_CLASS_POOL: return FT__CATEGORY_POOL;
    case FT_CLASS_NORM:
        return op->kind == FT_KIND_batchnorm ? FT__CATEGORY_BATCHNORM
                                             : FT__CATEGORY_NORM;
    case FT_CLASS_SOFTMAX: return FT__CATEGORY_SOFTMAX;
    case FT_CLASS_UNARY:
        return op->in_place ? FT__CATEGORY_IN_PLACE : FT__CATEGORY_UNARY;
    case FT_CLASS_BINARY:
        return ft_op_shape(op, FT_K_x).rank < 4 ? FT__CATEGORY_BINARY_TOKENS
                                                : FT__CATEGORY_BINARY;
    case FT_CLASS_REDUCE: return FT__CATEGORY_REDUCE;
    default: return FT__CATEGORY_MOVE;
    }
}

static bool is_thin(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);

    return op->kind == FT_KIND_linear &&
           (x.dim[x.rank - 1] <= THIN || ft_op_at(op, FT_K_out, 0) <= THIN);
}

ft__category ft__category_cost(double *time_s, const ft_op *op,
                               const ft__hardware_spec *chip,
                               const ft__physics_params *params)
{
    ft__category category = category_of(op);
    ft__terms t;

    ft__physics(&t, op, chip, params);
    *time_s = t.busy_s;
    if (category == FT__CATEGORY_LINEAR && is_thin(op)) {
        ft_cost cost;

        ft_op_cost(op, &cost);
        *time_s = 3 * (cost.bytes_read + cost.bytes_written) / (0.85 * chip->bandwidth);
        return FT__CATEGORY_MOVE;
    }
    return category;
}
