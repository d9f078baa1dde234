#ifndef PREDICT_QUERY_OP_QUERY_H
#define PREDICT_QUERY_OP_QUERY_H

#include <stdbool.h>

#include "physics/setting.h"
#include "predict/query/estimate.h"

/* A device whose specifications answer for operations. */
typedef struct ft__device_query {
    const ft_device_facts *device; /* NULL: it has no file; operations are added up */
    const char *setting;
    ft__chip_setting set; /* what it says of a chip */
    const char *policy;
    const ft__physics_params *params;
    double cap_w;      /* INFINITY: not known */
    bool capped;       /* by the setting, below its TDP */
    bool is_default;   /* ft__has_default_hardware(): its setting */
    double clock_hz;   /* NaN: as it comes */
    double call;       /* of the network by its host, in launches */
    double launch_s;   /* host time of one launch; 0: not known */
    bool graph;        /* run mode: no launches from the host */
    bool fused;        /* run mode: by a compiler, before */
    bool copied;       /* run mode: weights are copied before each replay */
    bool short_loop;   /* in loops too short for the power limiter */
    double loop_calls; /* that power is read in; NaN: of the steady state */
} ft__device_query;

/* FT_ENOTFOUND: the file lacks what estimates need of the operations of g, or the clock
 * is above the highest. */
ft_status ft__device_query_open(ft__device_query *out, const ft__device_use *on,
                                const ft_graph *g, ft_error *err);

void ft__device_query_terms(ft__terms *out, const ft__device_query *a, const ft_op *op);
/* From the terms of an operation: what it needs of host and device, and the estimate of
 * the latter; task->count and power_w are the caller's. Launches are in units of the
 * schedule's launch_s, what an operation such as softmax takes the host (elementwise
 * ones 0.6 of that): what a call takes it when it is measured alone says little of
 * networks, so that constants fitted to such calls have no part in it. */
void ft__device_query_bare(ft__op_task *task, ft_estimate *time,
                           const ft__device_query *a, const ft_op *op,
                           const ft__terms *t);
/* W while the device is busy with it; NaN: a CPU, or the file does not say. t: what
 * ft__device_query_terms() said of it, or NULL. */
double ft__device_query_power(const ft__device_query *a, const ft_op *op,
                              const ft__terms *t);
/* The smaller of both; NaN if w is NaN. */
static inline double ft__at_most(double w, double cap_w)
{
    return w > cap_w ? cap_w : w;
}
/* Is this cap (NaN: none) above what the device draws at most, so that it holds nothing
 * back? */
bool ft__is_idle_cap(const ft_device_facts *d, double power_w);
/* Idle power at a clock (NaN: as it comes), over that of the device as it comes. */
double ft__device_query_idle(const ft__device_query *a, double clock_hz);
/* W that it draws while it waits, at the clock asked for; NaN: not known. */
double ft__device_query_idle_power(const ft__device_query *a);
/* The added error of DVFS rescaling: half a 90 % interval of the logarithm. Formulae
 * alone erred 7 to 12 % on benchmarks left out (docs/notes/clocks-model.md). */
#define FT__RESCALING_ERROR 0.2

/* What each unique operation of g needs of host and device, but its count: from
 * specifications (p NULL), or as a predictor says; its schedule is of what runs as
 * `phase`. */
typedef struct ft__tasks {
    ft__op_task *task;                    /* the caller's, one for each */
    const struct ft__device_schedule *as; /* whose sessions answer for operations; NULL:
                                    as users are answered */
    ft__schedule schedule;
    double cap_w;
    double call;        /* of the network, in launches */
    const char *engine; /* family: whose operations these are; borrowed from it */
} ft__tasks;
ft_status ft__network_tasks(ft__tasks *out, const ft_predictor *p,
                            const ft__device_use *on, const ft_graph *g, ft_phase phase,
                            ft_error *err);

/* One query at many settings: what no clock and no cap changes is found once. */
typedef struct ft__device_query_range {
    ft__device_query a;
    const ft__operating_point *operating_point;
    size_t n;
    double *cap_w; /* by operating_point: what the device draws at most; NaN:
                      ft__device_query_open() would fail */
} ft__device_query_range;
/* The constants for an operation's time and power. */
typedef struct ft__priced_by {
    const ft__physics_params *time, *power;
} ft__priced_by;
/* What *on but its setting takes for every operation i of g at every operating point k:
 * busy_s[i * n + k] and weights_s[i * n + k] as ft__device_query_terms() with
 * by[i].time, power_w[i * n + k] as ft__device_query_power() with by[i].power.
 * FT_ENOTFOUND where nothing can be asked about. out->cap_w is to be freed in any case.
 */
ft_status ft__device_query_range_ask(ft__device_query_range *out, double *busy_s,
                                     double *weights_s, double *power_w,
                                     const ft__device_use *on, const ft__priced_by *by,
                                     const ft__operating_point *operating_point,
                                     size_t n, const ft_graph *g, ft_error *err);
/* ft__has_units(), and the type that a device computes an operation in: its own, or a
 * wider one (ft__is_widened()). */
bool ft__device_has_units(const ft_device_facts *d, ft_dtype t, bool tf32);
ft_dtype ft__device_computes_in(const ft_device_facts *d, const ft_op *op);
/* Is it known what this memory clock (NaN: as it comes) changes, by the highest? */
bool ft__knows_memory_clock(const ft_device_facts *d, double clock_hz);
/* Can the device be asked about at these clocks (NaN: as it comes)? */
bool ft__device_query_may(const ft_device_facts *d, const ft__operating_point *at);

/* An answered operation, for one device at one setting: the next step of a model has
 * most of the operations of the one before. Those used last are kept; not
 * thread-safe. */
typedef struct ft__op_answered {
    bool powered;     /* power was learned */
    ft__op_task task; /* but its count */
    ft_estimate estimate[FT__OP_ESTIMATES];
} ft__op_answered;

/* Looks up an operation in a network that runs as `phase`; NULL: it is not cached. */
const ft__op_answered *ft__op_answers_find(ft__op_answers *a, const ft_op *op,
                                           ft_phase phase);
/* To be filled, of an operation that is not cached. */
ft__op_answered *ft__op_answers_add(ft__op_answers *a, const ft_op *op, ft_phase phase);

#endif
