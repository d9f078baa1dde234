#ifndef PREDICT_MODEL_FEW_SHOT_H
#define PREDICT_MODEL_FEW_SHOT_H

#include "predict/model/model_set.h"

/* Times or power predicted for a device that nobody measured, corrected by the few
 * operations that were measured on it since: a Gaussian process over log(truth /
 * answer) (Rasmussen, Williams 2006, chapter 2), whose covariance has a part that all
 * operations share, one for each kind and phase, one linear in what bounds an operation
 * (arithmetic, cache, memory, host), as rates and floors that differ from the
 * estimate's would make it, and one for operations of like size; of power also one for
 * rows that divide by the same power of two, and no answer is above the cap. Intervals
 * are those of
 * the process, scaled so that each known row predicted from the others (leave-one-out)
 * is covered. */

enum { FT__LEAST_KNOWN = 5, FT__MOST_KNOWN = 1000 };

/* row[n]: indices into s->v, said[n]: what was answered for them. The first n_known
 * were measured, at most FT__MOST_KNOWN count; the answers of the others change. Fewer
 * than FT__LEAST_KNOWN change nothing. */
ft_status ft__correct_answers(ft__answer *said, const ft__learner *l,
                              const ft__samples *s, const uint32_t *row, size_t n_known,
                              size_t n, ft_error *err);

#endif
