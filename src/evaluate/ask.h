#ifndef EVALUATE_ASK_H
#define EVALUATE_ASK_H

#include "predict/model/calibration_set.h"
#include "predict/train/train.h"

/* Which regressors the rows test[n_test] need, of a predictor that learns
 * train[n_train]: those of devices in training, of others. The rest is not made. */
ft_status ft__evaluate_needs(ft__family_options *how, const ft__samples *s,
                             const uint32_t *train, size_t n_train,
                             const uint32_t *test, size_t n_test, ft_error *err);
/* What a user of the predictor is answered for samples row[n]: one list of operations
 * for each dataset, asked by ft__predict_network() on its device, setting, engine and
 * policy. out[i] of row[i]; value is NaN where there is no answer (a device without a
 * file, a metric that was not learned); `why` says so of the last of them. */
ft_status ft__evaluate_query(ft__op_answer *out, const ft_predictor *p,
                             const ft__calibration_set *known, ft__metric metric,
                             const ft__samples *s, const uint32_t *row, size_t n,
                             char why[240], ft_error *err);

#endif
