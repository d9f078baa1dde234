#ifndef PREDICT_SCHEDULE_SCHEDULE_H
#define PREDICT_SCHEDULE_SCHEDULE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "foretell/op.h"

/* From operations to a network: two resources (docs/networks.md). The host issues
 * launches one after the other, the device executes them in order; a pass that is
 * repeated without waiting takes as long as the busier of the two. */

/* Measured alone, operations err in their own ways: the loop around a memory-bound one
 * keeps it in the cache, that around a training step adds passes over its operands. */
typedef enum ft__task_group {
    FT__TASK_CONV,
    FT__TASK_MATMUL,
    FT__TASK_OTHER,
    FT__TASK_RELAID, /* of any sort, in a layout that it was not measured in: other
                        kernels, whose time is known to an order of magnitude */
    FT__N_TASK_GROUPS
} ft__task_group;

/* As it was measured. */
ft__task_group ft__task_group_of(const ft_op *op);

/* One operation of a network. */
typedef struct ft__op_task {
    ft__task_group group;
    double count;    /* how often it runs in a pass */
    double launches; /* what the host issues for it each time; 0 for a view */
    double alone_s;  /* in a loop of its own: max(host, device); NaN: never measured
                        nor learned */
    double bare_s;   /* what the device needs, from its specifications; above 0 */
    double floor_s;  /* an operation that took no longer alone may have waited for the
                        host: then no more than bare_s is the device's; 0: not known */
    double power_w;  /* in that loop; NaN: not known */
} ft__op_task;

/* What operations measured one by one do not say; fitted on networks that were
 * measured whole. All are at least 0. Predictor files hold it as it is here
 * (device_schedule.h): a change of it, or of the groups, needs a new version of theirs.
 */
typedef struct ft__schedule {
    double scale[FT__N_TASK_GROUPS]; /* of device times, by group */
    double bounded;  /* of the bare times of operations that were never measured */
    double launch_s; /* host time of one launch */
    double idle_w;   /* drawn when nothing runs */
    double dynamic;  /* scale of energy above idle */
} ft__schedule;
static_assert(sizeof(ft__schedule) == 64, "image layout");

/* Sums: device times as they are, the host costs nothing. */
ft__schedule ft__schedule_plain(void);

/* Sums of one network, from which every schedule is computed quickly. */
typedef struct ft__network_load {
    double
        known_s[FT__N_TASK_GROUPS]; /* device time of operations measured or learned */
    double unmodelled_s;            /* of the others */
    double launches;
    double alone_s; /* of the known ones that kept the device busy alone, and whose
                       power is known */
    double alone_j;
    double typical_w; /* drawn where no operation kept the device busy alone; NaN: not
                         known */
    double cap_w;     /* what the device draws at most; INFINITY: not known */
} ft__network_load;

/* Device time of one operation, its host floor removed. */
double ft__schedule_device(const ft__op_task *w);
/* Of nothing. */
ft__network_load ft__schedule_no_load(void);
void ft__schedule_load_add(ft__network_load *l, const ft__op_task *w);
/* Sums in the order of task[]. */
void ft__schedule_load(ft__network_load *out, const ft__op_task *task, size_t n);
/* Seconds of a pass that is repeated: max(device, host). */
double ft__schedule_time(const ft__network_load *l, const ft__schedule *s);
/* Device time of a pass. */
double ft__schedule_busy(const ft__network_load *l, const ft__schedule *s);
/* Joules of a pass that takes time_s: idle power throughout, and what the device adds
 * while it is busy, as much per second as the operations that kept it busy alone did.
 * NaN: no power is known. */
double ft__schedule_energy(const ft__network_load *l, const ft__schedule *s,
                           double time_s);

/* A network that was measured whole. */
typedef struct ft__known_network {
    ft__network_load load;
    double time_s;
    double energy_j; /* NaN: not measured */
    double weight;   /* as so many networks */
} ft__known_network;

/* Least mean of |log(time / estimate)| over the networks, then of energies; drawn to
 * what *s holds before as if `prior` networks had shown it, less where that is known
 * to an order of magnitude only. launch_s and idle_w must
 * not be 0 to be fitted. Without a network *s stays as it is. */
void ft__schedule_fit(ft__schedule *s, const ft__known_network *network, size_t n,
                      double prior);

/* Student's t of n > 0 degrees of freedom, within which nine in ten are; of more than
 * 18 what it is of those. */
double ft__student(size_t n);
/* Between which logarithms of measured over estimate nine in ten networks lie,
 * predicted from those of n > 0 others that the schedule was not fitted to. */
ft_status ft__schedule_range(double *low, double *high, const double *residual,
                             size_t n, ft_error *err);

#endif
