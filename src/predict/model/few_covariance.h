#ifndef PREDICT_MODEL_FEW_COVARIANCE_H
#define PREDICT_MODEL_FEW_COVARIANCE_H

#include "predict/model/family.h"

/* The prior covariance of the log residuals log(measured / answer) of two operations on
 * a device that was not measured. The few-shot correction (calibration_set.h) and the
 * choice of what to measure (ft_choose_few()) use it. */

enum { FT__FEW_HOST = 3, FT__FEW_SHARES = 4, FT__FEW_SIZES = 5 };

/* Standard deviations of log(measured / answer), before anything was measured. */
struct ft__few_scales {
    double shared, of_kind, of_share, of_size, noise;
    double of_host; /* of the host's share: 0.4, as hosts differ, with of_share. 0, of
                       power: levels do not fall with that share */
    double of_type, of_type_share; /* for each element type */
    double octaves;                /* sizes that differ by so much are independent */
    double rough, rough_octaves;   /* kernels that libraries choose by size */
    double far, far_octaves;       /* of all kinds of a class */
    /* Where rows divide by the same power of two, of all sizes and of like ones. */
    double of_twos, of_twos_size;
    double of_other; /* for each device */
    double of_session;
    double of_narrow;          /* products of one length of the shorter side */
    double of_order;           /* correlation where operands lie otherwise */
    double long_noise, long_s; /* of operations much longer than long_s */
};
extern const struct ft__few_scales ft__few_of_time, ft__few_of_power;

struct ft__few_point {
    uint32_t kind; /* and phase */
    ft_dtype type;
    double share[FT__FEW_SHARES]; /* of the estimate: what bounds the operation */
    double size[FT__FEW_SIZES];   /* logarithms to base 2 */
    double side[FT__FEW_SIZES];   /* those of a product's sides; of others the sizes */
    double narrow;                /* of a product's shorter side */
    bool is_product;
    int64_t order;                 /* how its operands lie */
    double twos;                   /* power of two in the rows */
    double other[FT__MOST_OTHERS]; /* log(time on a device / answer), as estimates
                                         differ; 0: it was not measured there */
    const char *session;           /* setting that it was measured in */
    double noise;                  /* variance */
};

/* What the operation says by itself: all but shares, others, session and noise. */
struct ft__few_point ft__few_point_of(const ft_op *op);
double ft__few_covariance(const struct ft__few_scales *s, const struct ft__few_point *a,
                          const struct ft__few_point *b);

#endif
