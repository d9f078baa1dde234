#ifndef PREDICT_MODEL_CALIBRATION_SET_H
#define PREDICT_MODEL_CALIBRATION_SET_H

#include "predict/model/family.h"

/* A few measurements of a device, by which answers for it are corrected. Fewer than the
 * least correct nothing; of more than the most some are taken. */
enum { FT__LEAST_CALIBRATION = 5, FT__MOST_CALIBRATION = 1000 };

struct ft__calibration_set {
    ft__samples s;
};

/* Operations of the device (NULL: of all) of which this was measured. */
size_t ft__calibration_set_count(const ft__calibration_set *k, const char *device,
                                 ft__metric metric);

/* Those of dataset d, one of its own, and of others like it, of which this was
 * measured: of[FT__MOST_CALIBRATION]. Their number. */
uint32_t ft__calibration_set_like(const ft__sample **of, const ft__calibration_set *k,
                                  const ft__dataset *d, ft__metric metric);

/* What was said of n operations on the device of `on`, which is complete, corrected by
 * ft__calibration_set_like() d (NULL, FT_ENOTFOUND: none are of the device at its clock
 * and cap), of which `answered` was said, in that order (NULL: what the family says);
 * operations that are among the known ones are answered as measured. *n_used: by how
 * many operations; too few change nothing else. */
ft_status ft__calibration_set_correct(ft__op_answer *predicted, uint32_t *n_used,
                                      const ft__family *f, ft__metric metric,
                                      const ft__calibration_set *known,
                                      const ft__dataset *d, const ft__dataset *on,
                                      const ft__op_answer *answered, const ft_op *ops,
                                      size_t n, ft_error *err);

#endif
