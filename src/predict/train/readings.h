#ifndef PREDICT_TRAIN_READINGS_H
#define PREDICT_TRAIN_READINGS_H

#include "predict/data/sample.h"

/* Readings of this machine, weighted by their errors against what the regressors learn
 * from all other operations (docs/measuring.md). */

/* A reading whose error is larger is weighed; a smaller one is taken as measured. */
#define FT__ROUGH_READING 0.05

typedef struct ft__weighed {
    double value_s;  /* what the operation takes; NaN: what is learned says more */
    double error;    /* of its logarithm; 0: not known */
    bool doubtful;   /* rough, or slower than others let it be by far more than both
                        errors */
    bool learned_of; /* it tells regressors something */
} ft__weighed;

/* Is a disturbed reading more likely than a wrong expectation? slower: log(measured /
 * expected); error: one sigma of it. */
bool ft__reading_disturbed(double slower, double error);
/* out[s->n]. Readings of one operation of a dataset have one value. Those without an
 * error, or of datasets whose roofline was not probed, stay as they are; where there
 * are too few to learn from, those of one operation are weighed against each other
 * alone. */
ft_status ft__readings_weigh(ft__weighed *out, const ft__samples *s, uint64_t seed,
                             uint32_t threads, ft_error *err);

#endif
