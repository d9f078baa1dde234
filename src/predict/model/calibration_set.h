#ifndef PREDICT_MODEL_CALIBRATION_SET_H
#define PREDICT_MODEL_CALIBRATION_SET_H

#include "predict/data/network_samples.h"
#include "predict/model/family.h"

/* A few measurements of a device, for the few-shot correction of predictions for it.
 * Fewer than the least change nothing; of more than the most a part is taken. */
enum { FT__LEAST_CALIBRATION = 5, FT__MOST_CALIBRATION = 1000 };

struct ft__calibration_set {
    ft__samples s;
    ft__network_samples networks; /* measured whole */
};

/* The number of operations of the device (NULL: of all devices) with a measured value
 * of the metric. */
size_t ft__calibration_set_count(const ft__calibration_set *k, const char *device,
                                 ft__metric metric);

/* The same of networks, whose operations it lists. */
size_t ft__calibration_set_networks(const ft__calibration_set *k, const char *device);

/* Writes to of[FT__MOST_CALIBRATION] the samples that have the metric, of dataset d and
 * of others measured under the same engine, clocks and cap; returns their number. */
uint32_t ft__calibration_set_like(const ft__sample **of, const ft__calibration_set *k,
                                  const ft__dataset *d, ft__metric metric);

/* Corrects the predictions for n operations on the device of `on` (complete) by the
 * samples of ft__calibration_set_like() d. `answered` are the predictions for these
 * samples, in that order; NULL: they are asked of the family. Operations that are among
 * the samples are answered as measured. *n_used: the number of operations used; with
 * too few of them nothing else changes. FT_ENOTFOUND: d is NULL, no sample is of the
 * device at its clock and cap. */
ft_status ft__calibration_set_correct(ft__op_answer *predicted, uint32_t *n_used,
                                      const ft__family *f, ft__metric metric,
                                      const ft__calibration_set *known,
                                      const ft__dataset *d, const ft__dataset *on,
                                      const ft__op_answer *answered, const ft_op *ops,
                                      size_t n, ft_error *err);

#endif
