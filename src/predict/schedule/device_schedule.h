#ifndef PREDICT_SCHEDULE_DEVICE_SCHEDULE_H
#define PREDICT_SCHEDULE_DEVICE_SCHEDULE_H

#include <assert.h>
#include <stdbool.h>

#include "predict/data/network_samples.h"
#include "predict/schedule/schedule.h"

/* Schedules in a predictor for a family of devices: what networks that were measured
 * whole on one of its devices showed of host and device (docs/networks.md). */

struct ft__family;

/* Of fewer networks nothing is said. */
enum { FT__LEAST_NETWORKS = 2 };

/* A dataset of the device: operations that were measured in several sessions contradict
 * each other where clocks drifted or a host changed. */
typedef struct ft__placed_session {
    char setting[120];
    double weight; /* of its answers' logarithms; those of a schedule add up to 1 */
} ft__placed_session;
enum { FT__MOST_SESSIONS = 8 };

/* In a file as it is here (family_image.h). */
typedef struct ft__placed {
    char device[128];
    char policy[32];
    char engine[32];
    char phase[24]; /* "forward", "forward_backward", "step" */
    uint64_t n;     /* networks */
    ft__schedule schedule;
    /* 90 % of log(truth / estimate) of networks that it was not fitted to. */
    double time_low, time_high;
    double energy_low, energy_high; /* NaN: no energy was measured */
    double error;                   /* of their times, mean; relative */
    double without;                 /* the same with the schedule it began from */
    uint64_t
        n_sessions; /* in whose terms its operations are predicted, by how well each
                       tells networks that it was not fitted to; 0: as asked */
    ft__placed_session session[FT__MOST_SESSIONS];
} ft__placed;
static_assert(sizeof(ft__placed) == 344 + FT__MOST_SESSIONS * 128, "image layout");

/* What a graph is: a pass, both passes, or a training step. */
ft_phase ft__placed_phase(const ft_graph *g);
bool ft__placed_is_of(const ft__placed *p, const ft__dataset *on, const char *phase);
/* That of a device, policy and engine; NULL: there is none. */
const ft__placed *ft__placed_find(const struct ft__family *f, const ft__dataset *on,
                                  ft_phase phase);
ft_status ft__placed_add(struct ft__family *f, const ft__placed *p, ft_error *err);
/* Can it be true? */
bool ft__placed_sound(const ft__placed *p);

#endif
