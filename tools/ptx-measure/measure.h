#ifndef PTX_MEASURE_MEASURE_H
#define PTX_MEASURE_MEASURE_H

#include "device/nvml.h"
#include "job.h"

typedef struct how {
    double time_s, power_s; /* of each launch; 0: no power */
    ft__nvml *nvml;         /* NULL: none */
    void *gpu;              /* of NVML */
} how;

/* Times and, while it loops, power and clocks: readings into `out`, figures beside
 * them. */
ft_status measure(json_t *out, job *j, const how *h, ft_error *err);

#endif
