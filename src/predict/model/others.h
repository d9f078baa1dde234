#ifndef PREDICT_MODEL_OTHERS_H
#define PREDICT_MODEL_OTHERS_H

#include <stdatomic.h>

#include "predict/data/sample.h"

/* What other chips took for the same operation, on a device that was not measured: a
 * template for each operation (few-shot correction looks them up as well). How much of
 * it to take is found by leaving each known chip out. */

struct ft__family;
struct ft__model_set;
struct ft__op_answer;

/* Of the operations of one regressor that were measured on other chips. */
typedef struct ft__others {
    double share; /* of the template, 1 - share of what the regressor says; 0: none */
    double low;   /* 90 % of log(measured / answer) are between these */
    double high;
} ft__others;

/* Weight of what a device took in the mean of several: less by a factor of e with each
 * 0.3 of NVIDIA's compute capability, where its first digit differs 1 more; 0 of
 * another maker or type of device. */
double ft__others_weight(const ft__hardware *own, const ft__hardware *other);

/* log(measured / estimate) of an operation on other chips. */
typedef struct ft__others_ratio {
    double mean;   /* weighted; NaN: none measured it */
    double weight; /* the greatest of theirs */
} ft__others_ratio;

/* Takes ratio[s->n] into out[s->n] by the share of each one's regressor; of a near
 * relative three quarters at least, where they are few: fewer than three chips left out
 * say little of one another. */
void ft__others_take(struct ft__op_answer *out, const struct ft__model_set *l,
                     const ft__samples *s, const ft__others_ratio *ratio, bool few);

/* What operations of one dataset were measured to take, against the physical estimate
 * of them: in a file, used where it lies. */
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

/* Of a file: is it sound? Asked before any ratio of it; looked at once. */
ft_status ft__templates_check(ft__templates *t, ft_error *err);
/* log(measured / estimate) of an operation by its hash; NaN: it was not measured. */
double ft__templates_ratio(const ft__templates *t, uint64_t hash);
/* One sigma of that; 0: not known. */
double ft__templates_error(const ft__templates *t, uint64_t hash);

#endif
