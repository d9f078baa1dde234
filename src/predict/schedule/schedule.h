#ifndef PREDICT_SCHEDULE_SCHEDULE_H
#define PREDICT_SCHEDULE_SCHEDULE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foretell/op.h"
#include "predict/data/network_samples.h"
#include "predict/query/network.h"

/* From operations to a network: two resources (docs/networks.md). The host issues
 * launches one after the other, the device executes them in order, each as soon as it
 * is issued and the one before has ended. */

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

/* What a graph is: a pass, both passes, or a training step. */
ft_phase ft__graph_phase(const ft_graph *g);
/* As it was measured. */
ft__task_group ft__task_group_of(const ft_op *op);

/* One operation of a network. */
typedef struct ft__op_task {
    ft__task_group group;
    double count;        /* how often it runs in a pass */
    double launches;     /* what the host issues for it each time; 0 for a view */
    double more_kernels; /* than its one: those a compiler adds, less what it fuses */
    bool in_turn;   /* the device itself issues them, and does nothing else meanwhile */
    double alone_s; /* in a loop of its own: max(host, device); NaN: never measured
                       nor learned */
    double bare_s;  /* what the device needs, from its specifications; above 0 */
    double floor_s; /* an operation that took no longer alone may have waited for the
                       host: then no more than bare_s is the device's; 0: not known */
    double power_w; /* in that loop; NaN: not known */
    double weights_s; /* to read its weights from memory */
    double weights;   /* of them, in sizes of the last-level cache */
} ft__op_task;

/* What operations measured one by one do not say; fitted on networks that were
 * measured whole. All are at least 0. Predictor files hold it as it is here
 * (ft__device_schedule): a change of it, or of the groups, needs a new version of
 * theirs.
 */
typedef struct ft__schedule {
    double scale[FT__N_TASK_GROUPS]; /* of device times, by group */
    double bounded;  /* of the bare times of operations that were never measured */
    double launch_s; /* host time of one launch; in turn: what a convolution or product
                        takes more behind others, whose code and data are in caches */
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
    double weights;                 /* of all, in sizes of the last-level cache */
    /* What reading weights from memory adds, by group, of unmodelled ones last: all of
     * them, and the part that an operation alone finds in the cache. */
    double reread_s[FT__N_TASK_GROUPS + 1], alone_hit_s[FT__N_TASK_GROUPS + 1];
    double launches;
    double issued;  /* kernels that the host issues launches for */
    double in_turn; /* launches that the device's time contains */
    double call;    /* of the network, in launches */
    double alone_s; /* of those that kept the device busy alone, and whose power is
                       known */
    double alone_j;
    double typical_w; /* drawn where no operation kept the device busy alone; NaN: not
                         known */
    double cap_w;     /* what the device draws at most; INFINITY: not known */
} ft__network_load;

/* Device time of one operation, its host floor removed. */
double ft__schedule_device(const ft__op_task *w);
/* The same in a network with these sums, whose other weights displace its own from the
 * cache. */
double ft__schedule_among(const ft__op_task *w, const ft__network_load *l);
/* Of nothing, on a device that draws cap_w at most (INFINITY: not known). */
ft__network_load ft__schedule_no_load(double cap_w, double call);
/* With task[n] behind what *l is of, in their order. */
void ft__schedule_load(ft__network_load *l, const ft__op_task *task, size_t n);
/* Host time of a pass: of its launches, and of calling the network. */
double ft__schedule_host(const ft__network_load *l, const ft__schedule *s);
/* Seconds of a pass, from its call to the end of its last operation: the device waits
 * for the first one to be issued, and has the last one to do when all are. */
double ft__schedule_time(const ft__network_load *l, const ft__schedule *s);
/* Device time of a pass. */
double ft__schedule_busy(const ft__network_load *l, const ft__schedule *s);
/* Joules of a pass that takes time_s: idle power throughout, and what the device adds
 * while it is busy, as much per second as the operations that kept it busy alone did.
 * NaN: no power is known. */
double ft__schedule_energy(const ft__network_load *l, const ft__schedule *s,
                           double time_s);

/* Schedules in a predictor for a family of devices: what networks that were measured
 * whole on one of its devices showed of host and device (docs/networks.md). */

struct ft__family;

/* Of fewer networks nothing is said. */
enum { FT__LEAST_NETWORKS = 2 };

/* A dataset of the device: operations that were measured in several sessions contradict
 * each other where clocks drifted or a host changed. */
typedef struct ft__device_session {
    char setting[120];
    double weight; /* of its answers' logarithms; those of a schedule add up to 1 */
} ft__device_session;
enum { FT__MOST_SESSIONS = 8 };

/* In a file as it is here (family_image.h). */
typedef struct ft__device_schedule {
    char device[128], policy[32], engine[32];
    char phase[24]; /* "forward", "forward_backward", "step" */
    uint64_t n;     /* networks */
    ft__schedule schedule;
    /* 90 % of log(measured / estimate) of networks that it was not fitted to. */
    double time_low, time_high;
    double energy_low, energy_high; /* NaN: no energy was measured */
    double error;                   /* of their times, mean; relative */
    double without;                 /* the same with the schedule it began from */
    uint64_t
        n_sessions; /* in whose terms its operations are predicted, by how well each
                       tells networks that it was not fitted to; 0: as asked */
    ft__device_session session[FT__MOST_SESSIONS];
} ft__device_schedule;
static_assert(sizeof(ft__device_schedule) == 344 + FT__MOST_SESSIONS * 128,
              "image layout");

bool ft__device_schedule_is_of(const ft__device_schedule *p, const ft__dataset *on,
                               const char *phase);
ft_status ft__device_schedule_add(struct ft__family *f, const ft__device_schedule *p,
                                  ft_error *err);
/* Can it be true? */
bool ft__device_schedule_sound(const ft__device_schedule *p);

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
    double chains; /* recurrent layers', in a group with operations unlike them. None of
                      the networks that predictors are trained on has any: said of those
                      rows, not fitted */
} ft__op_bounds;
/* e->op_device[] of g; false: nothing takes time. */
bool ft__op_bounds_of(ft__op_bounds *out, const ft__network_estimate *e,
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

/* f->unseen as *u is. */
ft_status ft__unseen_set(struct ft__family *f, const ft__unseen *u, ft_error *err);

#endif
