#ifndef PHYSICS_POWER_H
#define PHYSICS_POWER_H

#include "physics/physics.h"

/* What a GPU draws while one operation is repeated, at any of its clocks (as shares of
 * the nominal one; docs/clocks.md has the formulae and what they were fitted to):
 *
 *   power = idle (leak V + (1 - leak) f V^2) + (core_j + memory_j) V^2 / busy_s
 *
 * a part of idle whatever the clock where memory is GDDR.
 */
typedef struct ft__power {
    const ft__physics_params *params; /* borrowed, as what follows */
    const ft__hardware_spec *chip;
    const ft__terms *t;
    double idle_w;      /* at the nominal clock */
    double idle_memory; /* share of that which no core clock changes: GDDR's */
    double core_j;      /* of what is computed, at the voltage of that clock */
    double memory_j;    /* of what is moved: most of them over the chip */
} ft__power;

/* Of an operation whose terms on this chip are *t: what computes draws a share of
 * the TDP while it is busy, memory joules by the byte. */
void ft__power_make(ft__power *out, const ft__terms *t, const ft__hardware_spec *chip,
                    const ft__physics_params *params);
/* W of an operation that takes busy_s at this clock; NaN: busy_s is not above 0. */
double ft__power_at(const ft__power *p, double clock, double busy_s);
/* The busy time at this clock. */
double ft__busy_at(const ft__power *p, double clock);
/* The clock, at most the chip's, at which the power is no more than cap_w. There is a
 * lowest clock: below what that draws, a cap is exceeded. */
double ft__clock_under_cap(const ft__power *p, double cap_w);

/* TFLOP/s of fp32 of a GPU, times the energy of each over that at 16 nm. */
double ft__peak_tflops_16nm(const ft_device_facts *d);
/* W that a device draws at its nominal clock when it waits (NaN: no TDP is known); what
 * another clock makes of it, as a factor. */
double ft__idle_power(const ft__physics_params *params, const ft_device_facts *d);
double ft__idle_share(const ft__physics_params *params, const ft_device_facts *d,
                      double clock);
/* What a board that is held below its chip leaves of the cap beside the waiting chip,
 * relative to boards whose TDP is what the units draw. */
double ft__left_by_waiting(const ft__hardware_spec *chip);

/* What aiconfigurator's collector reads of an NVIDIA GPU in a loop of so many calls,
 * call_s each, of what draws steady_w. loop_calls NaN: steady_w. */
typedef struct ft__power_reading {
    double value;     /* the mean of its readings */
    double low, high; /* 90 % of what it may show, by what ran before */
} ft__power_reading;
ft__power_reading ft__power_read(double steady_w, double idle_w, double cap_w,
                                 double loop_calls, double call_s);
/* Watts while an operation is repeated for long, total_s each, at the chip's clock, and
 * at most the cap. NaN where the cap is not known. */
double ft__physics_power(const ft__terms *t, const ft__hardware_spec *chip,
                         const ft__physics_params *params);

#endif
