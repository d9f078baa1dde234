#ifndef PREDICT_CARRIED_H
#define PREDICT_CARRIED_H

#include "predict/learner.h"

/* Times of datasets that no training row is of: where a device of the same generation
 * (compute capability) was measured with the same engine, an operation that is among
 * the training rows there is answered as its template says (carry.h) instead of as the
 * regressor does; the interval stays as wide as it was. Changes answer[n_test]. */
ft_status ft__carry_answers(ft__answer *answer, const ft__learner *l,
                            const ft__samples *s, const uint32_t *train, size_t n_train,
                            const uint32_t *test, size_t n_test, ft_error *err);

#endif
