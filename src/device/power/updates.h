#ifndef DEVICE_POWER_UPDATES_H
#define DEVICE_POWER_UPDATES_H

#include <stdbool.h>
#include <stddef.h>

#include "foretell/power.h"

/* When a sensor brought new values, found in the polls of it. */

typedef struct ft__update {
    double at_s;   /* middle of the time in which it must have come */
    double half_s; /* half of that time */
    double value;
} ft__update;

typedef struct ft__updates {
    ft__update *u;
    size_t n;
    double period_s; /* between new values; NaN: not known */
    double poll_s;   /* median time between polls */
    /* Within the time asked about: the longest stretch in which polls came and their
     * value stayed, since when it did, and the longest but one. */
    double stall_s, stall_from_s, usual_stall_s;
    double holes_s; /* the sum of stretches without any good poll there */
} ft__updates;

/* Of watts or, `joules`, of the counter. Polls that see a value again tell nothing
 * new; a sensor of power whose value lasts for several of its periods brought it
 * as often (quantised readings would get wrong weights otherwise). False: memory
 * is short. The caller frees out->u. */
bool ft__updates_find(ft__updates *out, const ft_domain *d, const ft_power_reading *r,
                      size_t n, bool joules, double from_s, double to_s);

/* Seconds a loop must last to bring enough of them (ft_domain.least_s). */
double ft__least_s(const ft_domain *d);

#endif
