#ifndef PREDICT_MODEL_FAMILY_UNSEEN_H
#define PREDICT_MODEL_FAMILY_UNSEEN_H

#include "predict/model/family.h"

/* Intervals reach a factor of `least` either way at least, and of `most` at most. */
void ft__family_bound(ft__op_answer *out, size_t n, double least, double most);
/* Answers as far as they concern a device that is not among those learned from, and how
 * far they may be off there. */
void ft__family_fit_to_device(ft__op_answer *out, const ft__family *f,
                              const ft__model_set *l, const ft__dataset *on,
                              const ft__samples *s);

#endif
