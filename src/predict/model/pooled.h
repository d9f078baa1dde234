#ifndef PREDICT_MODEL_POOLED_H
#define PREDICT_MODEL_POOLED_H

#include "predict/model/fit.h"

/* A kind with few rows is predicted in part by the regressor of all kinds: what a
 * device does with small operations or at its power cap, it does with every kind. */

/* Above so many rows of a phase kinds say more than all of them together. */
enum { FT__POOLED_ROWS = 1500, FT__POOLED_SHARES = 10 };

/* The tenths of `general` in the mixture with `own` that is nearest to y, all of them
 * out of fold; own[n] becomes that mixture. 0: none is worth it. */
uint32_t ft__pooled_share(double *own, const double *pooled, const double *y, size_t n);
/* The fit as one that errs like `predicted` and not like its own models. */
ft_status ft__pooled_recalibrate(ft__fit *f, uint32_t share, const double *predicted,
                                 const double *y, const double *residual_scale,
                                 size_t n, ft_error *err);

#endif
