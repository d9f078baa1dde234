/* Operations of a graph, with what each needs of host and device, to a network. */
#include <math.h>
#include <stdlib.h>

#include "predict/query/estimate.h"

static ft_estimate unknown(const char *why)
{
    return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, why};
}

static ft_estimate around(double value, double low, double high, ft_basis basis)
{
    return (ft_estimate){value, value * exp(low), value * exp(high), basis, ""};
}

static double device_s(const ft__task *w, const ft__schedule *s)
{
    return ft__schedule_device(w) *
           (isfinite(w->alone_s) ? s->scale[w->group] : s->bounded);
}

/* Of the bases that hold at least a tenth of what is shared, the least certain. */
static ft_basis weakest(const double share[FT_BASIS_COUNT])
{
    ft_basis basis = FT_BASIS_MEASURED;
    double sum = 0;

    for (int b = 0; b < FT_BASIS_COUNT; b++)
        sum += share[b];
    for (int b = 0; b < FT_BASIS_COUNT; b++)
        if (share[b] > 0 && share[b] >= 0.1 * sum)
            basis = (ft_basis)b;
    return basis;
}

/* A phase's part of the time: of the device's, or of the host's where that is the
 * busier of the two. */
static void share_phases(ft_network_estimate *e, const ft_graph *g,
                         const ft__task *task, const ft__schedule *s, double busy_s,
                         const ft__log_residual *residual)
{
    const bool host = e->host_s > busy_s;
    double part[FT_PHASE_COUNT] = {0}, share[FT_PHASE_COUNT][FT_BASIS_COUNT] = {0};

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *node = &g->node[i];
        const ft__task *w = &task[node->op];

        part[node->phase] +=
            (double)node->repeat * (host ? w->launches * s->launch_s : device_s(w, s));
        share[node->phase][e->op_device[node->op].basis] +=
            (double)node->repeat * e->op_device[node->op].value;
    }
    for (int p = 0; p < FT_PHASE_COUNT; p++)
        e->phase_time[p] =
            around(part[p], residual->time_low, residual->time_high, weakest(share[p]));
}

/* Of the bases of power that hold at least a tenth of the busy time, and of the time's:
 * the least certain. */
static ft_basis basis_of_energy(const ft_network_estimate *e, const ft__task *task)
{
    double share[FT_BASIS_COUNT] = {0}, sum = 0;
    ft_basis basis = e->time.basis;

    for (uint32_t i = 0; i < e->n_ops; i++) {
        double busy_s = task[i].count * e->op_device[i].value;

        if (!(busy_s > 0))
            continue;
        share[e->op_power[i].basis] += busy_s;
        sum += busy_s;
    }
    for (int b = (int)basis + 1; b < FT_BASIS_UNAVAILABLE; b++)
        if (share[b] >= 0.1 * sum && sum > 0)
            basis = (ft_basis)b;
    return basis;
}

static void find_energy(ft_network_estimate *e, const ft__task *task,
                        const ft__load *load, const ft__schedule *s,
                        const ft__log_residual *residual)
{
    const ft_basis basis = basis_of_energy(e, task);
    double joules = ft__schedule_energy(load, s, e->time.value);

    if (!(joules > 0) || !(e->time.value > 0)) {
        e->energy = e->power = unknown("what the device draws is not known");
        return;
    }
    e->energy = around(joules, residual->energy_low, residual->energy_high, basis);
    e->power = around(joules / e->time.value, residual->power_low, residual->power_high,
                      basis);
    e->power.high = fmin(e->power.high, fmax(load->cap_w, e->power.value));
}

ft_status ft__estimate_assemble(ft_network_estimate *e, const ft_graph *g,
                                const ft__task *task, const ft__schedule *s,
                                double cap_w, const ft__log_residual *residual,
                                ft_error *err)
{
    double *count = malloc((e->n_ops + 1u) * sizeof(*count)), busy_s, t;
    ft_basis basis;
    ft__load load;

    if (!count)
        return ft_fail(err, FT_ENOMEM, 0, "estimate");
    for (uint32_t i = 0; i < e->n_ops; i++)
        count[i] = task[i].count;
    ft__schedule_load(&load, task, e->n_ops);
    load.cap_w = cap_w;
    busy_s = ft__schedule_busy(&load, s);
    t = ft__schedule_time(&load, s);
    basis = busy_s > 0 ? ft__estimate_weakest(e, count, busy_s) : FT_BASIS_SCALED;
    free(count);
    e->host_s = load.launches * s->launch_s;
    e->busy_s = busy_s;
    e->time = around(t, residual->time_low, residual->time_high, basis);
    share_phases(e, g, task, s, busy_s, residual);
    find_energy(e, task, &load, s, residual);
    return FT_OK;
}

void ft__estimate_brief(ft_brief *out, const ft__task *task, size_t n,
                        const ft__schedule *s, double cap_w)
{
    ft__load load;

    ft__schedule_load(&load, task, n);
    load.cap_w = cap_w;
    ft__estimate_of_load(out, &load, s);
}

void ft__estimate_of_load(ft_brief *out, const ft__load *load, const ft__schedule *s)
{
    double joules;

    out->time_s = ft__schedule_time(load, s);
    joules = ft__schedule_energy(load, s, out->time_s);
    if (joules > 0 && out->time_s > 0) {
        out->energy_j = joules;
        out->power_w = joules / out->time_s;
    } else {
        out->energy_j = out->power_w = NAN;
    }
}
