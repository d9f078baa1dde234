/* A device that executes kernels in the order in which its host launches them, event by
 * event; both deviate at random from kernel to kernel. What schedules are held against:
 * it knows no formula of theirs. */
#ifndef SIMULATED_DEVICE_H
#define SIMULATED_DEVICE_H

#include <math.h>

#include "base/prng.h"

enum { SIMULATED_QUEUE = 64 }; /* launches that wait; then the host waits */

struct simulated {
    ft__prng rng;
    double host_s;                /* the host is free again */
    double device_s;              /* the last kernel ends */
    double busy_s;                /* of the device; the rest are gaps */
    double energy_j;              /* of the device */
    double ends[SIMULATED_QUEUE]; /* of the last kernels */
    unsigned n;
};

static inline struct simulated simulated_device(uint64_t seed)
{
    return (struct simulated){.rng = ft__prng_stream(77, seed)};
}

/* x, off by `deviation` of it at most. */
static inline double simulated_about(struct simulated *m, double x, double deviation)
{
    return x * (1 + deviation * (2 * ft__prng_unit(&m->rng) - 1));
}

/* Watts of a kernel and of a gap; at its begin the clocks are still up for a while,
 * which no formula of energy knows. */
static const double simulated_kernel_w = 140, simulated_gap_w = 40,
                    simulated_slowing_w = 90, simulated_slowing_s = 15e-6;

static inline void simulated_launch(struct simulated *m, double launch_s,
                                    double kernel_s)
{
    double *const slot = &m->ends[m->n++ % SIMULATED_QUEUE];
    const double ran = simulated_about(m, kernel_s, 0.1);
    double gap, slowing;

    m->host_s = fmax(m->host_s, *slot) + simulated_about(m, launch_s, 0.2);
    gap = fmax(0, m->host_s - m->device_s);
    slowing = fmin(gap, simulated_slowing_s);
    m->energy_j += simulated_kernel_w * ran + simulated_slowing_w * slowing +
                   simulated_gap_w * (gap - slowing);
    m->device_s += gap + ran;
    m->busy_s += ran;
    *slot = m->device_s;
}

#endif
