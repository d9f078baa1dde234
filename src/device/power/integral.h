#ifndef DEVICE_POWER_INTEGRAL_H
#define DEVICE_POWER_INTEGRAL_H

#include "device/power/updates.h"

/* Energy of a stretch of time from what a sensor brought. */

typedef struct ft__energy {
    double joules; /* NaN: reason says why */
    double error;
    double unit; /* of watts: 0.1 where values end with it at most; of a counter 0 */
    char reason[160];
} ft__energy;

/* From what a counter, or else watts, brought. */
void ft__energy_find(ft__energy *out, const ft_domain *d, const ft__updates *u,
                     bool counter, double from_s, double to_s);

#endif
