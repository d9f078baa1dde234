#ifndef DEVICE_POWER_ENERGY_H
#define DEVICE_POWER_ENERGY_H

#include "device/power/updates.h"

typedef struct ft__energy_figure {
    double joules; /* NaN: reason says why */
    double error;
    double unit; /* of watts: 0.1 where values end with it at most; of a counter 0 */
    char reason[160];
} ft__energy_figure;

/* From the updates of a counter, or of watts, between two times. */
void ft__energy_of_counter(ft__energy_figure *out, const ft_domain *d,
                           const ft__updates *u, double from_s, double to_s);
void ft__energy_of_watts(ft__energy_figure *out, const ft_domain *d,
                         const ft__updates *u, double from_s, double to_s);

#endif
