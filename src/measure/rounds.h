#ifndef MEASURE_ROUNDS_H
#define MEASURE_ROUNDS_H

#include "measure/readings.h"

/* One of the things measured in rotation. */
typedef struct ft__turn {
    ft__job job;
    uint32_t calibrates;    /* 1 + which calibration this is; 0: none */
    uint32_t like;          /* which calibration it is compared with */
    ft_network_timing *out; /* what comes of it; NULL: nobody asks */
    ft_error *why;          /* that it broke, and the others went on; else untouched */
} ft__turn;

/* Warm up, then go round until each has its rounds: times, launches, conditions and
 * counts. FT_OK unless the loop itself cannot go on. */
ft_status ft__rounds_run(const ft__turn *turn, size_t n, ft_session *s,
                         const ft_measure_options *opt, ft_error *err);

/* What the calibration of products took so far. */
typedef struct ft__calibrations {
    double usual_s; /* of earlier sessions or this one, whichever is less, for what
                     * disturbs slows down; NaN: too few */
    double scatter; /* relative, from run to run, to be expected of this machine */
} ft__calibrations;

ft__calibrations ft__calibrations_so_far(const ft_session *s);

#endif
