#ifndef PREDICT_MODEL_CLOCK_H
#define PREDICT_MODEL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foretell/error.h"

/* How clocks and power caps of a device change time and power: learned from workloads
 * measured at several of them, applied to a workload measured at one. docs/clocks.md
 * has the formulae. */

enum { FT__CLOCK_HINTS = 8, FT__CLOCK_NAMES = 6, FT__CLOCK_CONSTANTS = 14 };

/* Classes of workloads, each with default constants of its own. */
typedef enum ft__clock_class {
    FT__CLOCK_KERNEL,
    FT__CLOCK_NETWORK,
    FT__CLOCK_CAPPED, /* a network that somebody put a cap on */
    FT__N_CLOCK_CLASSES
} ft__clock_class;

typedef struct ft__clock_row {
    uint32_t workload; /* whose rows at other clocks are others of the list */
    uint32_t class;    /* ft__clock_class */
    uint64_t called;   /* a number of its name: its other sizes are no news */
    double core_hz;    /* NaN: nobody changed it, so that it is the highest */
    double memory_hz;  /* NaN: nobody changed it */
    double cap_w;      /* under which it was measured; NaN: none is known */
    double time_s;     /* or anything proportional to it; NaN: not known */
    double power_w;    /* NaN: not known */
    /* Activities at these clocks, 0 to 1, NaN where unknown: memory first, the others
     * in any order that all rows share. */
    double hint[FT__CLOCK_HINTS];
    /* Features of the workload's name: "gemm_512" is like "gemm_1024". */
    float name[FT__CLOCK_NAMES];
} ft__clock_row;

/* Dynamic power at a core clock by constants common to GPUs: f V(f)^2, clocks as shares
 * of the highest. */
double ft__clock_swing(double core);

typedef struct ft__matrix ft__matrix;
typedef struct ft__learn_model ft__learn_model;

/* Trees on the residual of the clock formulae, and trees on the whole ratio: formulae
 * extrapolate to clocks that nobody measured, trees alone do better where the formulae
 * are far off. */
typedef struct ft__clock_trees {
    ft__learn_model *miss;           /* NULL: nothing was learned */
    ft__learn_model *whole;          /* or NULL: what is missed tells all */
    ft__learn_model *residual_scale; /* NULL: too few workloads to hold any out */
    double share;                    /* 0 to 1 of what they say counts */
    double low; /* 90 % of what is missed after all, in residual scales */
    double high;
} ft__clock_trees;

/* Fits trees to miss[], the log residuals of predicted[] on the rows of x. Folds keep
 * equal group[0] together, or equal group[1] where the former are too few. whole: also
 * fit trees to the whole ratio. */
ft_status ft__clock_trees_fit(ft__clock_trees *t, const ft__matrix *x,
                              const double *predicted, const double *miss,
                              const uint64_t *const group[2], bool whole, uint64_t seed,
                              ft_error *err);
void ft__clock_trees_free(ft__clock_trees *t);

/* The logarithm of a ratio with its interval; without trees the formulae's value, and
 * NaN. */
typedef struct ft__log_ratio {
    double value, low, high;
} ft__log_ratio;
ft__log_ratio ft__clock_trees_at(const ft__clock_trees *t, const float *row,
                                 double predicted);

typedef struct ft__clocks {
    double v[FT__CLOCK_CONSTANTS];      /* of the formulae, in the order of clock.c */
    double core_hz, memory_hz, power_w; /* the largest; of power or cap */
    ft__clock_trees time, power;        /* what the formulae miss */
} ft__clocks;
enum { FT__CLOCK_COLUMNS = 10 + FT__CLOCK_HINTS + FT__CLOCK_NAMES };
/* Are constants and largest values within the ranges of ft__clocks_fit()? */
int ft__clocks_sound(const ft__clocks *c);

/* n rows of one device. Of fewer than two clocks or caps: constants that are common to
 * GPUs.
 * `trees` 0: the formulae alone, without what trees learn of their errors. The same
 * rows and seed give the same model. FT_ENOMEM. */
ft_status ft__clocks_fit(ft__clocks **out, const ft__clock_row *row, size_t n,
                         int trees, uint64_t seed, ft_error *err);
void ft__clocks_free(ft__clocks *c);

typedef struct ft__clock_ratio {
    double time; /* over the time at the clocks that were measured; NaN without one */
    double power;
    /* 90 % intervals, of what was learned with trees from workloads enough to hold some
     * out; NaN otherwise. */
    double time_low, time_high, power_low, power_high;
} ft__clock_ratio;
/* Time and power at other clocks and cap, over those measured; NaN means as measured.
 */
ft__clock_ratio ft__clocks_at(const ft__clocks *c, const ft__clock_row *measured,
                              double core_hz, double memory_hz, double cap_w);

#endif
