#ifndef PREDICT_QUERY_ESTIMATE_H
#define PREDICT_QUERY_ESTIMATE_H

#include <math.h>
#include <stdbool.h>

#include "predict/data/sample.h"
#include "predict/query/network.h"
#include "predict/schedule/schedule.h"

/* low and high are logarithms relative to the value. */
static inline ft_estimate ft__around(double value, double low, double high,
                                     ft_basis basis)
{
    return (ft_estimate){value, value * exp(low), value * exp(high), basis, ""};
}
static inline ft_estimate ft__times(ft_estimate e, double factor)
{
    return (ft_estimate){e.value * factor, e.low * factor, e.high * factor, e.basis,
                         e.why};
}
/* Everything unknown, arrays by operation allocated. On failure *out is all 0. */
ft_status ft__estimate_start(ft__network_estimate *out, const ft_graph *g,
                             ft_error *err);
/* op_power[i] is set: op_energy[i] of it and op_time[i], errors independent. */
void ft__estimate_op_energy(ft__network_estimate *e, uint32_t i);
/* n_measured and the like from op_time[]. */
void ft__estimate_count(ft__network_estimate *e);
void ft__estimate_why_no_power(ft__network_estimate *e, const ft_device_facts *d);
/* memory. On a machine of ours, whose dataset `engine` says what its engine takes
 * beside: a forward pass lies at the offsets that ft_plan_make() finds; a training
 * step, which our engines do not run, is counted as PyTorch allocates it;
 * op_workspace[] is set. On any other device (engine NULL) as PyTorch allocates it, of
 * GPUs with the context and the workspace of a library (docs/memory.md). */
ft_status ft__estimate_memory(ft__network_estimate *e, const ft__dataset *engine,
                              const ft_device_facts *d, const ft_graph *g,
                              ft_error *err);
/* B that a process takes on a GPU before it has tensors: context, and the workspace of
 * cuBLAS where there are products. */
double ft__gpu_bytes(const ft_device_facts *d, bool products);
static inline ft_estimate ft__unavailable(const char *why)
{
    return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, why};
}
/* Does the graph consist of workloads measured whole alone? */
bool ft__graph_is_workload(const ft_graph *g);
/* FT_ENOTFOUND: g has a workload measured whole, which has no estimate. */
ft_status ft__check_operations(const ft_graph *g, ft_error *err);
/* True for views, and for workloads measured whole, which have no estimate. */
bool ft__costs_nothing(const ft_op *op);

/* The 90 % interval of log(measured / estimate) of networks. */
typedef struct ft__log_residual {
    double time_low, time_high; /* of the device's part, where the host has its own */
    double host_low, host_high; /* of a launch; both 0: time_low and time_high are of
                                   the whole */
    double energy_low, energy_high; /* NaN: those of time and power */
    double power_low, power_high;
    double energy_most; /* joules reach no further than this or than time */
} ft__log_residual;

/* From what each operation needs of host and device (task[] by operation of g,
 * op_device[] filled) to time, power and energy of the network by the
 * schedule (schedule.h). cap_w: what the device draws at most; INFINITY: not known.
 * call: of the network by its host, in launches. */
ft_status ft__estimate_assemble(ft__network_estimate *e, const ft_graph *g,
                                const ft__op_task *task, const ft__schedule *s,
                                double cap_w, double call,
                                const ft__log_residual *residual, ft_error *err);
/* The same values without memory, from sums. */
void ft__estimate_brief(ft_brief *out, const ft__network_load *load,
                        const ft__schedule *s);

#endif
