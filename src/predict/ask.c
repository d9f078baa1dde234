#include "predict/ask.h"

#include <math.h>
#include <string.h>

#include "base/pairs.h"

/* What devices left out showed of operations (docs/networks.md): 90 % of the logarithm
 * of truth over estimate. */
static const double op_low = -0.9, op_high = 0.9;
/* Not named by the importer: what it moves is all that is known of it. */
static const double bound_high = 10;
/* The physical estimate's host time is that of a call from C. A framework's layers in
 * Python take this many times as long. */
static const double layer_factor = 1.8;

static ft_status find_clock(ft__asked *a, ft_error *err)
{
    const ft_device_facts *d = a->device;
    double top = isfinite(d->boost_clock_hz) ? d->boost_clock_hz : d->base_clock_hz;
    const ft__clock_row highest = {
        .core_hz = top, .memory_hz = NAN, .time_s = NAN, .power_w = d->tdp_w};

    a->clock_hz = ft__pair_number(a->setting, "clock");
    if (isnan(a->clock_hz))
        return FT_OK;
    if (!(top > 0))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s: the clock its peak rate belongs to is not known", d->name);
    if (a->clock_hz > 1.001 * top)
        return ft_fail(err, FT_ENOTFOUND, 0, "%s: its highest clock is %.0f MHz",
                       d->name, top / 1e6);
    return ft__clocks_fit(&a->clocks, &highest, 1, 0, 0, err);
}

static ft_status check_facts(const ft__asked *a, const ft_graph *g, ft_error *err)
{
    for (uint32_t i = 0; i < ft_graph_n_ops(g); i++) {
        const char *lacks;
        ft__chip chip;

        if (ft__costs_nothing(ft_graph_op(g, i)))
            continue;
        ft__chip_make(&chip, a->device, a->setting, a->policy, ft_graph_op(g, i));
        lacks = ft__chip_lacks(&chip);
        if (lacks)
            return ft_fail(err, FT_ENOTFOUND, 0,
                           "%s: its file does not say \"%s\", which an estimate needs",
                           a->device->name, lacks);
    }
    return FT_OK;
}

ft_status ft__ask_open(ft__asked *out, const ft_device_use *on, const ft__theta *theta,
                       const ft_graph *g, ft_error *err)
{
    double cap;
    ft_status st;

    *out = (ft__asked){.device = ft_device_get(on->device),
                       .setting = on->setting ? on->setting : "",
                       .policy = on->policy ? on->policy : "default",
                       .theta = *theta};
    cap = ft__pair_number(out->setting, "power");
    out->capped = isfinite(cap);
    out->cap_w = isfinite(cap)            ? cap
                 : out->device->tdp_w > 0 ? out->device->tdp_w
                                          : INFINITY;
    st = check_facts(out, g, err);
    return st ? st : find_clock(out, err);
}

void ft__ask_close(ft__asked *a)
{
    ft__clocks_free(a->clocks);
    a->clocks = NULL;
}

/* What the device would draw if nothing held it back; NaN: a CPU, or not known. */
static double free_power(const ft__asked *a, const ft_op *op)
{
    ft__clock_row row = {.memory_hz = NAN};
    ft__chip chip;
    ft__terms t;
    double w;

    ft__chip_make(&chip, a->device, "", a->policy, op);
    if (!chip.gpu || ft__costs_nothing(op))
        return NAN;
    ft__physics(&t, op, &chip, &a->theta);
    t.total_s = t.busy_s;
    w = ft__physics_power(&t, &chip, &a->theta);
    if (!a->clocks || !isfinite(w))
        return w;
    row.core_hz = chip.clock_hz;
    row.time_s = t.busy_s;
    row.power_w = w;
    for (int i = 0; i < FT__CLOCK_HINTS; i++)
        row.hint[i] = NAN;
    row.hint[0] = fmin(1, t.memory_s / t.busy_s);
    return w * ft__clocks_at(a->clocks, &row, a->clock_hz, NAN).power;
}

double ft__ask_power(const ft__asked *a, const ft_op *op)
{
    double w = free_power(a, op);

    return isfinite(w) ? fmin(w, a->cap_w) : w;
}

/* What switches draws as the clock times the square of the voltage, which falls with
 * the clock: nearly its cube. */
static double clock_under_cap(const ft__asked *a, const ft_op *op)
{
    double idle = a->theta.v[FT__C_power_idle] * a->device->tdp_w;
    double wanted = free_power(a, op) - idle, left = fmax(0.05 * idle, a->cap_w - idle);

    return wanted > left ? cbrt(left / wanted) : 1;
}

void ft__ask_terms(ft__terms *out, const ft__asked *a, const ft_op *op)
{
    double share = a->capped ? clock_under_cap(a, op) : 1;
    ft__chip chip;

    ft__chip_make(&chip, a->device, a->setting, a->policy, op);
    if (a->capped)
        chip.power_w = a->device->tdp_w; /* the clock is what the cap takes */
    chip.clock_hz *= share;
    chip.peak_flops *= share;
    chip.vector_flops *= share;
    ft__physics(out, op, &chip, &a->theta);
}

static ft__task_group group_of(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return FT__TASK_CONV;
    case FT_CLASS_MATMUL: return FT__TASK_MATMUL;
    default: return FT__TASK_OTHER;
    }
}

/* Host time of an operation, in calls of the plainest one. */
static double launches(const ft__asked *a, const ft_op *op)
{
    const ft__theta theta = ft__physics_default();
    ft__chip chip;
    ft__terms t;

    /* PyTorch updates many parameters in one launch. */
    if (op->phase == FT_PHASE_OPTIMIZER)
        return 0;
    ft__chip_make(&chip, a->device, a->setting, a->policy, op);
    ft__physics(&t, op, &chip, &theta);
    return t.launch_s / theta.v[FT__C_floor_s];
}

void ft__ask_bare(ft__task *task, ft_estimate *time, const ft__asked *a,
                  const ft_op *op, const ft__terms *t)
{
    *time = (ft_estimate){0, 0, 0, FT_BASIS_MEASURED, ""};
    task->group = group_of(op);
    task->alone_s = task->bare_s = 0;
    if (ft__costs_nothing(op))
        return;
    task->launches = launches(a, op);
    task->alone_s = task->bare_s = t->busy_s;
    *time = ft_kind_class(op->kind) == FT_CLASS_GENERIC
                ? (ft_estimate){t->busy_s, t->busy_s, bound_high * t->busy_s,
                                FT_BASIS_ROOFLINE, ""}
                : (ft_estimate){t->busy_s, t->busy_s * exp(op_low),
                                t->busy_s * exp(op_high), FT_BASIS_SCALED, ""};
}

ft__schedule ft__ask_schedule(const ft__asked *a)
{
    const ft__theta theta = ft__physics_default();
    ft__schedule s = ft__schedule_plain();
    double tdp = a->device->tdp_w;

    s.launch_s = layer_factor * theta.v[FT__C_floor_s];
    s.idle_w = tdp > 0 ? a->theta.v[FT__C_power_idle] * tdp : 0;
    return s;
}

void ft__ask_why_no_power(ft_network_estimate *e, const ft_device_facts *d)
{
    const char *why = "nothing is computed";

    if (e->energy.basis != FT_BASIS_UNAVAILABLE)
        return;
    if (!d->type || strcmp(d->type, "gpu") != 0)
        why = "what a CPU draws cannot be told from its data sheet";
    else if (!(d->tdp_w > 0))
        why = "the device's file does not say its power, tdp_w";
    e->energy.why = e->power.why = why;
}
