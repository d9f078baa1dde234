#ifndef PREDICT_FEATURES_H
#define PREDICT_FEATURES_H

#include "foretell/op.h"

/* What the roofline (Williams, Waterman, Patterson 2009) is drawn with. */
typedef struct ft__roof {
    double peak_flops; /* FLOP/s */
    double bandwidth;  /* B/s */
    double launch_s;   /* least time of one operation */
} ft__roof;

/* Seconds: max(FLOPs / peak, bytes / bandwidth) + launch. The target of every
 * time regressor is log(measured / this). */
double ft__roofline(const ft_op *op, const ft__roof *r);

/* One row of numbers per operation, the same columns for all kinds: sizes as
 * log2(1 + v), so that a threshold splits ratios. A column that says nothing for
 * a kind is constant there and never split on. */
enum { FT__N_FEATURES = 40 };
void ft__features(float row[FT__N_FEATURES], const ft_op *op, const ft__roof *r);
const char *ft__feature_name(uint32_t i);

#endif
