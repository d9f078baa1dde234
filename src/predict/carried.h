#ifndef PREDICT_CARRIED_H
#define PREDICT_CARRIED_H

#include "predict/learner.h"

/* Times of devices that no training row is of; of power the intervals alone. Where an
 * operation was measured on known devices of the same maker with the same engine, what
 * the estimate misses of it there is a template of what it misses here (carry.h): the
 * mean over those devices, nearer generations counting more. How much of the template
 * is taken in place of the regressor's answer, how quickly generations grow apart, and
 * the interval come from the training rows: each known device is told from the others.
 * Where they do not say, and where no two of them are as near to each other as this
 * device to one of its own generation, that one is a whole template, and the interval
 * stays as wide as it was; of fewer than FT__LEAST_DEVICES devices it is widened to
 * what devices of another version or generation were seen to differ by. Answers for a
 * device without kin (another maker or sort, another engine) and for CPUs are marked
 * far, their intervals reach a factor of three either way at least; none reaches more
 * than a hundred. Changes answer[n_test]. */
ft_status ft__carry_answers(ft__answer *answer, const ft__learner *l,
                            const ft__samples *s, const uint32_t *train, size_t n_train,
                            const uint32_t *test, size_t n_test, ft_error *err);

#endif
