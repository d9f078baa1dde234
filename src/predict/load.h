#ifndef PREDICT_LOAD_H
#define PREDICT_LOAD_H

#include "predict/prices.h"
#include "predict/schedule.h"
#include "predict/whole.h"

/* A network's parts, priced: what a schedule makes its time and energy of. */

typedef struct ft__sums {
    double time_s; /* of what its operations take alone; bounded ones count nothing */
    double energy_j;
    double launches;
} ft__sums;

/* part[n] on `on`, as in `session` (a setting). Where the very form of a part was
 * never measured, one that was is scaled by what specifications say of both; a kind
 * that never was has its time from specifications alone (bounded). blind: as if none of
 * these operations had been measured. */
ft_status ft__load_price(ft__load *out, ft__sums *sums, const ft__prices *p,
                         const ft__piece *part, size_t n, const ft__dataset *on,
                         const char *session, bool blind, ft_error *err);

#endif
