#ifndef DEVICE_POWER_INTEGRAL_H
#define DEVICE_POWER_INTEGRAL_H

#include "device/power/updates.h"

/* Energy of a stretch of time from what a sensor brought. */

typedef struct ft__energy {
    double joules; /* NaN: reason says why */
    double error;
    char reason[160];
} ft__energy;

/* From a counter. Between two of its steps the power of neighbouring steps is
 * continued from either side, so that a load that begins or ends at an edge is kept
 * apart from what was before and after it. */
void ft__energy_of_counter(ft__energy *out, const ft_domain *d, const ft__updates *u,
                           double from_s, double to_s);

/* From watts. How depends on the time over which a value is an average: about the
 * time between values: a counter's increments; longer: the window is undone (the
 * values at the end of consecutive windows add up to what passed in them); shorter
 * or not always: samples, only those inside count. */
void ft__energy_of_power(ft__energy *out, const ft_domain *d, const ft__updates *u,
                         double from_s, double to_s);

/* The last decimal that values have: 0.1 for 60.5 and 61; at least 0.001. */
double ft__last_decimal(const ft__update *u, size_t n);

/* Seconds a loop must last (ft_domain.least_s). */
double ft__least_s(const ft_domain *d);

#endif
