#ifndef PREDICT_MODEL_CALIBRATION_SET_H
#define PREDICT_MODEL_CALIBRATION_SET_H

#include "predict/model/family.h"

/* A few measurements of a device, by which answers for it are corrected. Fewer than the
 * least correct nothing; of more than the most some are taken. */
enum { FT__LEAST_KNOWN = 5, FT__MOST_KNOWN = 1000 };

/* Samples row[n], whose device files are borrowed; freed by ft_known_free(). */
ft_status ft__known_of_rows(ft_known **out, const ft__samples *s, const uint32_t *row,
                            size_t n, ft_error *err);
/* Which of the known measurements are of the device of `on`, at its clock and cap:
 * those measured with most in common with it; NULL: none. `known` may be NULL. */
const ft__dataset *ft__known_dataset(const ft_known *known, const ft__dataset *on);
/* Is the operation among those? */
bool ft__known_has(const ft_known *known, const ft__dataset *on, const ft_op *op);
/* What a family said of n operations on the device of `on`, which is complete,
 * corrected by what is known of it (few_shot.h); operations that are among the known
 * ones are answered as measured. *n_used: by how many operations; too few change
 * nothing else. */
ft_status ft__known_correct(ft__answer *said, uint32_t *n_used, const ft__family *f,
                            ft__metric metric, const ft_known *known,
                            const ft__dataset *on, const ft_op *ops, size_t n,
                            ft_error *err);

#endif
