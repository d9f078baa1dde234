#ifndef MEASURE_READINGS_H
#define MEASURE_READINGS_H

#include "measure/session.h"

/* Mark what lies far from the others of its round; how many. */
ft_status ft__mark_outliers(uint32_t *marked, ft_reading *r, size_t n, ft_error *err);

/* What an iteration of each calibration took just before and after a round, the mean of
 * both; NaN: the engine does not run it, or it broke. */
typedef struct ft__calibrated {
    uint32_t round;
    double s[FT__N_CALIBRATIONS];
} ft__calibrated;

/* One of the things measured in rotation (ft__turn), while the rounds go on. */
typedef struct ft__timed {
    ft__job job;
    uint32_t calibrates, like;
    ft_status st; /* not FT_OK: it broke, and the others go on */
    ft_error why;
    ft_reading *readings;       /* of a round together */
    ft_reading *launches;       /* one a round, where the engine issues ahead */
    ft__calibrated *calibrated; /* one a round, where there are calibrations */
    size_t n, cap, n_launches, n_calibrated;
    uint64_t per_batch; /* iterations */
    double batch_s;     /* about what they take */
    uint64_t done;      /* iterations so far */
    uint32_t left;      /* rounds to go */
    uint32_t redone;
    ft_conditions seen; /* over all rounds so far that count */
    uint32_t n_seen;
} ft__timed;

/* Times, launches, conditions and counts of one; readings change hands. */
ft_status ft__timed_result(ft_network_timing *out, ft__timed *t, ft_error *err);
/* Are there as many rounds as were asked for that agree? No memory: nobody asks. */
bool ft__timed_agrees(const ft__timed *t, uint32_t rounds);

#endif
