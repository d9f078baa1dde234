#ifndef PREDICT_PHYSICS_H
#define PREDICT_PHYSICS_H

#include "foretell/device.h"
#include "foretell/op.h"

/* How long an operation takes on a device that nobody measured: a structured estimate
 * from its specifications. Regressors learn what truth is relative to it. */

/* What a device offers one operation: at the clock and under the cap of a setting, for
 * its dtype and the dtype policy. SI; NaN where nobody knows. */
typedef struct ft__chip {
    double cores;          /* SMs, compute units, CPU cores */
    double clock_hz;       /* the setting's, otherwise the boost clock */
    double peak_flops;     /* at that clock, with tensor cores where they serve */
    double vector_flops;   /* fp32 without tensor cores, at that clock */
    double bandwidth;      /* of memory, B/s, at the setting's memory clock */
    double l2_bytes;
    double memory_bytes;
    double power_w;        /* the setting's cap, otherwise TDP */
    double tensor_flops;   /* 16-bit, whatever the operation's dtype: tells generations apart */
    double process_nm;
    double year;
    int gpu;
    int tensor;            /* peak_flops is that of tensor cores */
} ft__chip;

/* `setting`: "clock=1200MHz power=250W"; `policy`: "default", "tf32". */
void ft__chip_make(ft__chip *out, const ft_device_facts *d, const char *setting,
                   const char *policy, const ft_op *op);

/* The parts of an estimate: what a regressor sees of it, too. */
typedef struct ft__terms {
    double compute_s;   /* at the sustained rate, with waves and tiles */
    double cache_s;     /* from the last-level cache */
    double memory_s;
    double launch_s;    /* kernels x their least time */
    double kernels;     /* launches */
    double waves;       /* of tiles over cores; fill = waves / ceil(waves) */
    double fill;
    double sustained;   /* share of peak that the power budget allows */
    double total_s;
} ft__terms;

/* Constants of a family of datasets (one engine), fitted on its training rows.
 * theta[]: see ft__physics_name(); all positive. */
enum { FT__N_THETA = 24 };
typedef struct ft__theta {
    double v[FT__N_THETA];
} ft__theta;
const char *ft__physics_name(int i);
ft__theta ft__physics_default(void);

void ft__physics(ft__terms *out, const ft_op *op, const ft__chip *chip,
                 const ft__theta *theta);

/* Fit those constants that the rows say something of: least mean of
 * weight x |log(time / estimate)|. n rows. Constants nothing depends on stay. */
typedef struct ft__physics_row {
    const ft_op *op;
    const ft__chip *chip;
    double time_s;
    double weight;
} ft__physics_row;
void ft__physics_fit(ft__theta *theta, const ft__physics_row *row, size_t n, uint64_t seed);

#endif
