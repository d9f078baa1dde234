#ifndef PREDICT_DATA_CATEGORIES_H
#define PREDICT_DATA_CATEGORIES_H

#include "physics/physics.h"

/* Operations of one sort err alike in the estimate from specifications. */
typedef enum ft__category {
    FT__CATEGORY_FIRST,      /* convolutions of images: four channels at most */
    FT__CATEGORY_POINT,      /* of 1 x 1 */
    FT__CATEGORY_POINT_THIN, /* fewer than 64 channels in or out */
    FT__CATEGORY_CONV,
    FT__CATEGORY_CONV_THIN,
    FT__CATEGORY_GROUPED,
    FT__CATEGORY_GROUPED_THIN, /* fewer than 16 channels a group */
    FT__CATEGORY_DEPTHWISE, /* one or two channels a group; kernels up to 3, 5, more */
    FT__CATEGORY_DEPTHWISE_5,
    FT__CATEGORY_DEPTHWISE_7,
    FT__CATEGORY_LINEAR,
    FT__CATEGORY_PRODUCT,
    FT__CATEGORY_ATTENTION,
    FT__CATEGORY_BATCHNORM,
    FT__CATEGORY_NORM, /* the others, which mixed precision computes in fp32 */
    FT__CATEGORY_SOFTMAX,
    FT__CATEGORY_IN_PLACE, /* activations */
    FT__CATEGORY_UNARY,
    FT__CATEGORY_BINARY, /* of images */
    FT__CATEGORY_BINARY_TOKENS,
    FT__CATEGORY_MOVE, /* and whatever streams */
    FT__CATEGORY_REDUCE,
    FT__CATEGORY_POOL,
    FT__N_CATEGORIES
} ft__category;

/* The sort of a forward operation and what the device needs for it by its
 * specifications; NaN where something is not known. */
ft__category ft__category_cost(double *time_s, const ft_op *op,
                               const ft__hardware_spec *chip,
                               const ft__physics_params *params);

#endif
