#ifndef PREDICT_PRICES_H
#define PREDICT_PRICES_H

#include <stdbool.h>

#include "foretell/device.h"
#include "foretell/learn.h"
#include "predict/physics.h"
#include "predict/sample.h"
#include "predict/schedule.h"

/* What the operations of networks cost, learned from operations measured one by one:
 * one forest for all kinds on log(time / physical estimate), one for power. */
typedef struct ft__prices ft__prices;

/* What the rows of one dataset were measured on. */
typedef struct ft__place {
    const ft_device_facts *device;
    const char *setting;
    const char *policy;
} ft__place;

typedef struct ft__prices_options {
    uint32_t n_trees; /* 0: 64 */
    size_t most_rows; /* of more that many are drawn; 0: 8000 */
    uint64_t seed;
    size_t physics_rows; /* fit the constants of the estimate to so many, too; 0: not */
    double residual;     /* share of what the forest says beyond the estimate that
                            counts: 1, less for devices that are not among the rows */
} ft__prices_options;

/* row[n]: indices into s->v, times known; place[]: of every dataset of s.
 * FT_ENOTFOUND: no row, or a fact of a device is not known. */
ft_status ft__prices_fit(ft__prices **out, const ft__samples *s, const ft__place *place,
                         const uint32_t *row, size_t n, const ft__prices_options *opt,
                         ft_error *err);
void ft__prices_free(ft__prices *p);

/* Seconds the device itself needs, from its specifications. */
double ft__prices_bare(const ft__prices *p, const ft_op *op, const ft__place *at);

/* What one form of an operation (its phase is that of op) takes alone, and at what
 * power (NaN: not known). False: no rows of its kind in that phase. */
bool ft__prices_alone(const ft__prices *p, double *time_s, double *power_w,
                      const ft_op *op, const ft__place *at);

/* Below this an operation of that kind may have waited for the host; 0: not known. */
double ft__prices_floor(const ft__prices *p, const ft_op *op);
/* Least power among the rows: of a device that waits. NaN: none is known. */
double ft__prices_idle(const ft__prices *p);
/* Typical power of the rows that kept the device busy; NaN: none is known. */
double ft__prices_busy(const ft__prices *p);
/* Typical time at the host's floor, over kinds: where a search for the time of a launch
 * begins. */
double ft__prices_launch(const ft__prices *p);

#endif
