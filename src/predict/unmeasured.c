/* A network on a device that nobody measured: from its specifications. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "predict/clock.h"
#include "predict/estimate.h"
#include "predict/physics.h"

/* What devices left out showed (docs/physics.md): logarithm of truth over estimate. */
static const ft__stray network_stray = {-0.5, 0.5, -0.5, 0.5, -0.35, 0.35};
static const double op_low = -0.9, op_high = 0.9;
/* Not named by the importer: what it moves is all that is known of it. */
static const double bound_high = 10;

struct asking {
    const ft_device_use *on;
    const char *setting, *policy;
    ft__theta theta;
    ft__clocks *clocks; /* NULL: the clock is as it comes */
    double clock_hz;
    double cap_w;
};

static ft__task_group group_of(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return FT__TASK_CONV;
    case FT_CLASS_MATMUL: return FT__TASK_MATMUL;
    default: return FT__TASK_OTHER;
    }
}

/* W while the device is busy with it: told at the clock that it comes with, and from
 * there by what GPUs have in common. CPUs: not known. */
static double power_of(const struct asking *q, const ft_op *op)
{
    ft__clock_row row = {.core_hz = NAN, .memory_hz = NAN};
    ft__chip chip;
    ft__terms t;
    double w;

    ft__chip_make(&chip, q->on->device, "", q->policy, op);
    ft__physics(&t, op, &chip, &q->theta);
    t.total_s = t.busy_s;
    w = chip.gpu ? ft__physics_power(&t, &chip, &q->theta) : (double)NAN;
    if (q->clocks && isfinite(w)) {
        row.core_hz = chip.clock_hz;
        row.time_s = t.busy_s;
        row.power_w = w;
        for (int i = 0; i < FT__CLOCK_HINTS; i++)
            row.hint[i] = NAN;
        row.hint[0] = fmin(1, t.memory_s / t.busy_s);
        w *= ft__clocks_at(q->clocks, &row, q->clock_hz, NAN).power;
    }
    return isfinite(w) ? fmin(w, q->cap_w) : (double)NAN;
}

static ft_status ask(ft__task *task, ft_estimate *time, const struct asking *q,
                     const ft_op *op, ft_error *err)
{
    const bool named = ft_kind_class(op->kind) != FT_CLASS_GENERIC;
    const ft_device_facts *d = q->on->device;
    const char *lacks;
    ft__chip chip;
    ft__terms t;

    *time = (ft_estimate){0, 0, 0, FT_BASIS_MEASURED, ""};
    if (ft__costs_nothing(op))
        return FT_OK;
    ft__chip_make(&chip, d, q->setting, q->policy, op);
    lacks = ft__chip_lacks(&chip);
    if (lacks)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s: its file does not say \"%s\", which an estimate needs",
                       d->name, lacks);
    ft__physics(&t, op, &chip, &q->theta);
    task->group = group_of(op);
    /* PyTorch updates many parameters in one launch. */
    task->launches =
        op->phase == FT_PHASE_OPTIMIZER ? 0 : t.launch_s / q->theta.v[FT__C_floor_s];
    task->alone_s = task->bare_s = t.busy_s;
    task->power_w = power_of(q, op);
    *time = (ft_estimate){t.busy_s, t.busy_s * exp(op_low), t.busy_s * exp(op_high),
                          FT_BASIS_SCALED, ""};
    if (!named)
        *time = (ft_estimate){t.busy_s, t.busy_s, bound_high * t.busy_s,
                              FT_BASIS_ROOFLINE, ""};
    return FT_OK;
}

static ft_status find_clock(struct asking *q, ft_error *err)
{
    const ft_device_facts *d = q->on->device;
    double top = isfinite(d->boost_clock_hz) ? d->boost_clock_hz : d->base_clock_hz;
    const ft__clock_row highest = {
        .core_hz = top, .memory_hz = NAN, .time_s = NAN, .power_w = d->tdp_w};

    q->clock_hz = ft__pair_number(q->setting, "clock");
    if (isnan(q->clock_hz))
        return FT_OK;
    if (!(top > 0))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s: the clock its peak rate belongs to is not known", d->name);
    if (q->clock_hz > 1.001 * top)
        return ft_fail(err, FT_ENOTFOUND, 0, "%s: its highest clock is %.0f MHz",
                       d->name, top / 1e6);
    return ft__clocks_fit(&q->clocks, &highest, 1, 0, 0, err);
}

static ft__schedule schedule_of(const struct asking *q)
{
    ft__schedule s = ft__schedule_plain();
    double tdp = q->on->device->tdp_w;

    s.launch_s = q->theta.v[FT__C_floor_s];
    s.idle_w = tdp > 0 ? q->theta.v[FT__C_power_idle] * tdp : 0;
    return s;
}

static ft_status ask_all(ft_network_estimate *out, const struct asking *q,
                         const ft_graph *g, ft_error *err)
{
    ft__task *task = calloc(out->n_ops + 1u, sizeof(*task));
    const ft__schedule s = schedule_of(q);
    ft_status st =
        task ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%u operations", out->n_ops);

    for (uint32_t i = 0; i < out->n_ops && !st; i++) {
        task[i] = (ft__task){.count = (double)ft_graph_op_count(g, i), .power_w = NAN};
        st = ask(&task[i], &out->op_time[i], q, ft_graph_op(g, i), err);
    }
    if (!st)
        st = ft__estimate_assemble(out, g, task, &s, q->cap_w, &network_stray, err);
    free(task);
    return st;
}

static const char *why_no_power(const ft_device_facts *d)
{
    if (d->type && strcmp(d->type, "gpu") != 0)
        return "what a CPU draws cannot be told from its data sheet";
    return d->tdp_w > 0 ? "nothing is computed"
                        : "the device's file does not say its power, tdp_w";
}

ft_status ft_predict_network_physics(ft_network_estimate *out, const ft_device_use *on,
                                     const ft_graph *g, ft_error *err)
{
    struct asking q = {.on = on,
                       .setting = on->setting ? on->setting : "",
                       .policy = on->policy ? on->policy : "default",
                       .theta = ft__physics_default()};
    const ft_estimate exact = {0};
    double cap = ft__pair_number(q.setting, "power");
    ft_status st = ft__estimate_start(out, g, err);

    q.cap_w = isfinite(cap)           ? cap
              : on->device->tdp_w > 0 ? on->device->tdp_w
                                      : INFINITY;
    if (!st)
        st = find_clock(&q, err);
    if (!st)
        st = ask_all(out, &q, g, err);
    if (!st)
        st = ft__estimate_memory_of_device(out, on->device, g, err);
    ft__clocks_free(q.clocks);
    if (st) {
        ft_network_estimate_free(out);
        return st;
    }
    if (out->energy.basis == FT_BASIS_UNAVAILABLE)
        out->energy.why = out->power.why = why_no_power(on->device);
    ft__estimate_count(out);
    ft__estimate_memory_sum(out, &exact);
    return FT_OK;
}
