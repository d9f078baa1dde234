#ifndef PREDICT_MODEL_TRANSFER_H
#define PREDICT_MODEL_TRANSFER_H

#include "predict/model/regressor.h"

/* Transfer to other devices and kinds: of regressors for devices that are not among the
 * rows, how much of what they learned is taken to other chips, and how far these
 * differ; of those that answer for kinds without rows the same of kinds. Both are found
 * by leaving each known one out. */

/* The fit options of a regressor: l->opt.fit; for unknown devices each known chip is
 * left out in turn (r->group), and a mixture with the constant shrinks what does not
 * transfer. */
ft__fit_options ft__transfer_how(const ft__model_set *l, struct regressor_rows *r,
                                 const ft__samples *s);
/* r holds the rows of a part, r->group their chips, and what its regressor says of each
 * with its chip left out, which is shrunk with the part. How sure it is of one row and
 * of another says nothing of other chips: all its answers are as unsure, and their
 * residual scale is 1. */
ft_status ft__transfer_part(ft__regressor *p, struct regressor_rows *r,
                            const ft__samples *s, ft_error *err);
/* The same of a part of known devices that answers for kinds it has no rows of;
 * r->group holds the kinds of those that it has, each left out in turn. */
ft_status ft__transfer_to_kinds(ft__regressor *p, struct regressor_rows *r,
                                const ft__samples *s, ft_error *err);
/* Sets l->low and l->high from the rows of all regressors. */
ft_status ft__transfer_tails(ft__model_set *l, const struct regressor_rows *r,
                             const ft__samples *s, ft_error *err);

#endif
