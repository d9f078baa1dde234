#ifndef PREDICT_PLACED_H
#define PREDICT_PLACED_H

#include <assert.h>
#include <stdbool.h>

#include "foretell/networks.h"
#include "predict/sample.h"
#include "predict/schedule.h"

/* Schedules in a predictor for a family of devices: what networks that were measured
 * whole on one of its devices showed of host and device (docs/networks.md). */

struct ft__family;

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
} ft__placed;
static_assert(sizeof(ft__placed) == 336, "image layout");

/* What a graph is: a pass, both passes, or a training step. */
ft_phase ft__placed_phase(const ft_graph *g);
/* That of a device, policy and engine; NULL: there is none. */
const ft__placed *ft__placed_find(const struct ft__family *f, const ft__dataset *on,
                                  ft_phase phase);
ft_status ft__placed_add(struct ft__family *f, const ft__placed *p, ft_error *err);
/* Can it be true? */
bool ft__placed_sound(const ft__placed *p);

typedef struct ft__placed_options {
    const char *networks; /* as of ft_networks_options */
    ft_networks_graph graph;
    void *user;
    const char *data_dir;
    const struct ft__family *before; /* whose schedules stay where none is fitted anew,
                                        or NULL */
    const ft_log *log;               /* why a place gets none */
} ft__placed_options;
/* f->placed: one for every device that operations were learned of, policy, engine and
 * phase of which at least four networks were measured, at the clock and the cap that
 * the device comes with, where it tells those that it was not fitted to better than
 * none. Halves of training steps (ft__whole_of_step()) are left out. FT_ENOTFOUND: no
 * such networks, or nowhere four. */
ft_status ft__placed_fit(struct ft__family *f, ft_store *store,
                         const ft__placed_options *opt, ft_error *err);

#endif
