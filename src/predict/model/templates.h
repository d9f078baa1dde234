#ifndef PREDICT_MODEL_TEMPLATES_H
#define PREDICT_MODEL_TEMPLATES_H

#include <stdatomic.h>

#include "predict/data/dataset.h"

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
