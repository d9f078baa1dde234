#ifndef PREDICT_DATA_HOSTS_H
#define PREDICT_DATA_HOSTS_H

#include "physics/physics.h"

/* Rows of a device that take its host longer than itself. */
size_t ft__rows_waiting(const ft__physics_row *row, size_t n, uint32_t device,
                        const ft__physics_params *params);
/* How many times as long as estimated a device's host takes, by the rows of that group;
 * NaN: none waits for it. t: scratch of n. */
double ft__host_of(const ft__physics_row *row, size_t n, uint32_t device,
                   const ft__physics_params *params, ft__terms *t);
/* Times of what the mean of several hosts takes, as far as they are known. */
void ft__relate_hosts(double *host, uint32_t n_hosts);

#endif
