#ifndef PREDICT_SCHEDULE_UNSEEN_NETWORKS_H
#define PREDICT_SCHEDULE_UNSEEN_NETWORKS_H

#include <assert.h>

#include "predict/data/network_samples.h"
#include "predict/query/network.h"
#include "predict/schedule/schedule.h"

/* How far off networks are on devices that nobody measured, as the chips show that
 * were: each is left out of training with all that was measured on it, and its networks
 * are predicted. Errors of a network's operations have a part in common and a part of
 * their own; how much of an operation's interval is left of it in a network is what
 * these residuals say. */

/* What operations of a network may err by, as one sigma of the logarithm would be in
 * 90 %: the mean over its time below and above; and how much one of them weighs. */
typedef struct ft__op_bounds {
    double low, high;         /* mean of log(value / low) and log(high / value) */
    double own_low, own_high; /* the same, were they independent */
    double alone; /* sum of squares of shares of the time: 1 of one operation */
    double share[FT__N_TASK_GROUPS]; /* of the time, by group */
} ft__op_bounds;
/* e->op_device[] of g; false: nothing takes time. */
bool ft__op_bounds_of(ft__op_bounds *out, const ft_network_estimate *e,
                      const ft_graph *g);

/* In a file as it is here. */
typedef struct ft__unseen {
    uint64_t n;     /* networks; 0: none, nothing is known */
    uint64_t chips; /* that they ran on */
    double part;    /* of the mean bound of operations: what reaches 90 % of networks */
    double alone;   /* mean of the networks' */
    double share[FT__N_TASK_GROUPS]; /* mean of the networks' */
} ft__unseen;
static_assert(sizeof(ft__unseen) == 64, "image layout");
/* No interval is known to be wider, as parts of what operations may err by. */
#define FT__WIDEST 10
/* Can it be true? */
bool ft__unseen_sound(const ft__unseen *u);
/* How unlike those networks one with these bounds is, 0 to 1 (a tenth of its time in
 * groups that they lack is enough), or how much more of it a few operations take. */
double ft__unseen_unlike(const ft__unseen *u, const ft__op_bounds *of);

struct ft__family;
/* f->unseen as *u is. */
ft_status ft__unseen_set(struct ft__family *f, const ft__unseen *u, ft_error *err);

#endif
