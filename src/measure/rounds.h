#ifndef MEASURE_ROUNDS_H
#define MEASURE_ROUNDS_H

#include "measure/session.h"

/* What an iteration of each calibration took just before and after a round, the mean of
 * both; NaN: the engine does not run it, or it broke. */
typedef struct ft__beside {
    uint32_t round;
    double s[FT__N_CALIBRATIONS];
} ft__beside;

/* One of the things measured in rotation. */
typedef struct ft__turn {
    ft__job job;
    uint32_t calibrates; /* 1 + which calibration this is; 0: none */
    uint32_t like;       /* which calibration it is compared with */
    ft_timing *out;      /* what comes of it; NULL: nobody asks */
    ft_error *why;       /* that it broke, and the others went on; else untouched */
} ft__turn;

/* Warm up, then go round until each has its rounds: times, launches, conditions and
 * counts. FT_OK unless the loop itself cannot go on. */
ft_status ft__rounds_run(const ft__turn *turn, size_t n, ft_session *s,
                         const ft_measure_options *opt, ft_error *err);

/* Where it stands. */
typedef struct ft__timed {
    ft__job job;
    uint32_t calibrates;
    uint32_t like;
    ft_status st;        /* not FT_OK: it broke, and the others go on */
    ft_error why;
    ft_reading *readings; /* of a round together */
    ft_reading *launches; /* one a round, where the engine issues ahead */
    ft__beside *beside;   /* one a round, where there are calibrations */
    size_t n, cap, n_launches, n_beside;
    uint64_t per_batch; /* iterations */
    double batch_s;     /* about what they take */
    uint64_t done;      /* iterations so far */
    uint32_t left;      /* rounds to go */
    uint32_t redone;
    ft_conditions seen; /* over all rounds so far that count */
    uint32_t n_seen;
} ft__timed;

/* What the calibration of products took so far. */
typedef struct ft__calibrations {
    double usual_s; /* of earlier sessions or this one, whichever is less, for what
                     * disturbs slows down; NaN: too few */
    double scatter; /* relative, from run to run, to be expected of this machine */
} ft__calibrations;

ft__calibrations ft__calibrations_so_far(const ft_session *s);

/* ---- figures.c ---- */
/* Times, launches, conditions and counts of one; readings change hands. */
ft_status ft__timing_take(ft_timing *out, ft__timed *t, ft_error *err);
/* Mark what lies far from the others of its round; how many. */
ft_status ft__mark_outliers(uint32_t *marked, ft_reading *r, size_t n, ft_error *err);

#endif
