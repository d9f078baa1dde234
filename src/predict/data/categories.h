#ifndef PREDICT_DATA_CATEGORIES_H
#define PREDICT_DATA_CATEGORIES_H

#include "physics/physics.h"

/* Operations of one sort err alike in the estimate from specifications. */
typedef enum ft__sort_of {
    FT__SORT_FIRST,      /* convolutions of images: four channels at most */
    FT__SORT_POINT,      /* of 1 x 1 */
    FT__SORT_POINT_THIN, /* fewer than 64 channels in or out */
    FT__SORT_CONV,
    FT__SORT_CONV_THIN,
    FT__SORT_GROUPED,
    FT__SORT_GROUPED_THIN, /* fewer than 16 channels a group */
    FT__SORT_DEPTHWISE,    /* one or two channels a group; kernels up to 3, 5, more */
    FT__SORT_DEPTHWISE_5,
    FT__SORT_DEPTHWISE_7,
    FT__SORT_LINEAR,
    FT__SORT_PRODUCT,
    FT__SORT_ATTENTION,
    FT__SORT_BATCHNORM,
    FT__SORT_NORM, /* the others, which mixed precision computes in fp32 */
    FT__SORT_SOFTMAX,
    FT__SORT_IN_PLACE, /* activations */
    FT__SORT_UNARY,
    FT__SORT_BINARY, /* of images */
    FT__SORT_BINARY_TOKENS,
    FT__SORT_MOVE, /* and whatever streams */
    FT__SORT_REDUCE,
    FT__SORT_POOL,
    FT__N_SORTS
} ft__sort_of;

/* The sort of a forward operation and what the device needs for it by its
 * specifications; NaN where something is not known. */
ft__sort_of ft__sort_price(double *time_s, const ft_op *op, const ft__chip *chip,
                           const ft__theta *theta);

#endif
