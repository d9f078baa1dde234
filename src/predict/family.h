#ifndef PREDICT_FAMILY_H
#define PREDICT_FAMILY_H

#include "base/buf.h"
#include "predict/learner.h"

/* Regressors for any device with a data sheet, learned from measurements on several. */
typedef struct ft__family {
    ft__learner *learner[FT__N_METRICS]; /* NULL: nothing of the metric was measured */
} ft__family;

/* Of all samples. opt->metric is set here, metric by metric: time and power, and
 * workspace where it was measured. FT_ENOTFOUND: no time is among them. */
ft_status ft__family_train(ft__family *out, const ft__samples *s,
                           const ft__learn_options *opt, ft_error *err);
void ft__family_free(ft__family *f);

/* n operations on one device, set and driven as `on` says, whose `file` is its data
 * sheet; on->device may be one that is among the rows or not. out[n]; FT_ENOTFOUND: the
 * metric was not learned, or a fact of the device is missing (the message names it). */
ft_status ft__family_ask(ft__answer *out, const ft__family *f, ft__metric metric,
                         const ft__dataset *on, const ft_op *ops, size_t n,
                         ft_error *err);

#endif
