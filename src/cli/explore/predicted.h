#ifndef CLI_EXPLORE_PREDICTED_H
#define CLI_EXPLORE_PREDICTED_H

#include "cli/explore/explore.h"

enum { FT__REASON_SIZE = 256 };

/* All points of a design, or of a shard of it. */
typedef struct ft__predicted_design {
    const ft_exploration *x;
    size_t first;  /* point of the design */
    double *point; /* n rows */
    size_t n, n_params, n_objectives, n_workloads;
    double *value;       /* [(workload * n + point) * n_objectives + objective] */
    unsigned char *fits; /* of workload * n + point: the device's memory is enough */
    uint16_t *why;       /* likewise: 0, or behind which reason it has no time */
    char (*reason)[FT__REASON_SIZE];
    size_t n_reasons;
    uint16_t *method; /* likewise: behind which reason stands what answered */
    unsigned char *learned;
    double seconds;
} ft__predicted_design;

/* shard NULL: all of it. Complains itself; to be freed where it is good. */
int ft__design_predict(ft__cli *c, ft__predicted_design *out, const ft_exploration *x,
                       const ft_design_options *design, const ft__shard *shard);
void ft__predicted_design_free(ft__predicted_design *s);

#endif
