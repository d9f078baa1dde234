#ifndef PREDICT_MODEL_OTHERS_H
#define PREDICT_MODEL_OTHERS_H

#include <stdatomic.h>

#include "predict/data/sample.h"

/* Templates: measured operations of a dataset, and their use on chips that were not
 * measured: the time of the same operation on other chips. Its share in the prediction
 * is chosen by leaving each known chip out. The few-shot correction looks templates up,
 * too. */

struct ft__family;
struct ft__model_set;
struct ft__op_answer;

/* Parameters for the operations of one regressor. */
typedef struct ft__others {
    double share; /* of the template, 1 - share of what the regressor says; 0: none */
    double low;   /* 90 % of log(measured / answer) are between these */
    double high;
} ft__others;

/* The weight of another device in the mean of several: e^-1 for each 0.3 of NVIDIA's
 * compute capability between them, where another first digit counts as 1 more; 0 for
 * another maker or type. */
double ft__others_weight(const ft__hardware *own, const ft__hardware *other);

/* The weighted mean log(measured / estimate) of an operation on other chips. */
typedef struct ft__others_ratio {
    double mean;   /* weighted; NaN: none measured it */
    double weight; /* the greatest of theirs */
} ft__others_ratio;

/* Mixes ratio[s->n] into the predictions out[s->n] by the share of each one's
 * regressor. few: fewer than three chips were left out, so a near relative counts at
 * least three quarters. */
void ft__others_take(struct ft__op_answer *out, const struct ft__model_set *l,
                     const ft__samples *s, const ft__others_ratio *ratio, bool few);

/* Measured times of the operations of one dataset relative to the physical estimate, in
 * a file and used in place. */
typedef struct ft__templates {
    const uint64_t *hash; /* ascending, n of them */
    const float *ratio;   /* log(measured / estimate) */
    const float *error;   /* one sigma of it; NULL: not known of any, 0: of this one */
    size_t n;
    void *own; /* to free, or NULL */
    ft__hardware hardware;
    const unsigned char *section; /* NULL: not in a file */
    size_t bytes;
    uint64_t checksum;
    atomic_bool sound; /* the checksum was looked at */
} ft__templates;

/* Checks the checksum of templates in a file, once; call it before any look-up. */
ft_status ft__templates_check(ft__templates *t, ft_error *err);
/* log(measured / estimate) of an operation by its hash; NaN: it was not measured. */
double ft__templates_ratio(const ft__templates *t, uint64_t hash);
/* One sigma of that; 0: not known. */
double ft__templates_error(const ft__templates *t, uint64_t hash);

#endif
