/* An operation of a network: its physical estimate, what was learned on top of it, what
 * it needs of host and device, and what it takes and draws alone. */
#include "predict/query/network_op.h"

#include <math.h>

#include "base/stats.h"
#include "physics/physics.h"
#include "physics/power.h"
#include "predict/model/calibration_set.h"
#include "predict/model/regressor.h"
#include "predict/query/op_query.h"

/* What no measurement of a machine says anything of takes its roofline and more. */
static const double bound_high = 10;

/* What the constants learned for it say of operation i as it is asked for. */
static const ft__terms *queried_terms(const ft__query_context *q, uint32_t i)
{
    return q->by_default[i] ? &q->bare_form[i] : &q->bare[i];
}

bool ft__knows_steady_power(const ft__query_context *q)
{
    return q->powered && q->power_known && isnan(q->a.loop_calls);
}

/* What the host and the device need for operation i, and what it takes the device. */
static void take_task(ft__op_task *task, ft_estimate *device, ft__query_context *q,
                      uint32_t i)
{
    const ft__model_set *l = q->models;
    const ft_op *op = &q->g->op[i];
    const ft__op_answer *a = &q->time[i];
    double factor = q->share[i] * ft__query_context_device_share(q, i);

    if (l)
        q->a.params = q->params[i];
    task->power_w = ft__knows_steady_power(q) && !q->rescaled && q->power[i].value > 0
                        ? q->power[i].value
                        : ft__device_query_power(&q->a, op, queried_terms(q, i));
    if (q->rescaled)
        task->power_w = ft__at_most(task->power_w * ft__query_context_power_scale(q, i),
                                    q->a.cap_w);
    if (l)
        q->a.params = l->base.params;
    ft__device_query_bare(task, device, &q->a, op, &q->bare[i]);
    if (ft__costs_nothing(op) || !l)
        return;
    task->in_turn = q->plain;
    if (q->plain)
        task->launches = ft__task_group_of(op) != FT__TASK_OTHER;
    if (!isfinite(factor) || !(a->value > 0)) {
        task->alone_s = NAN;
        if (q->plain)
            *device = (ft_estimate){device->value, device->value,
                                    bound_high * device->value, FT_BASIS_ROOFLINE, ""};
        return;
    }
    *device = (ft_estimate){a->value * factor, a->low * factor, a->high * factor,
                            a->measured && !q->rescaled && q->form[i].phase == op->phase
                                ? FT_BASIS_MEASURED
                            : q->known && !q->rescaled && !a->far ? FT_BASIS_LEARNED
                                                                  : FT_BASIS_SCALED,
                            ""};
    task->alone_s = device->value;
}

static bool is_learned(const ft__query_context *q, const ft__op_task *task)
{
    return q->models && !isnan(task->alone_s);
}

/* Is it said what a launch takes, where no correction by rows of the device that wait
 * for its host has it? */
static bool has_launch_time(const ft__query_context *q, const ft__op_task *task)
{
    return q->a.launch_s > 0 &&
           !(is_learned(q, task) && q->n_waiting >= FT__LEAST_CALIBRATION);
}

/* What the host takes for a launch, in s: as is said, or the default
 * beside the device's host. */
static double launch_of(const ft__query_context *q, const ft__op_task *task)
{
    return has_launch_time(q, task) ? q->a.launch_s
                                    : ft__physics_default().v[FT__C_floor_s] *
                                          ft__launch_factor(q->a.device);
}

/* How many times as long as by a predictor's constants the host asked for takes. */
static double host_times(const ft__query_context *q)
{
    const ft__physics_params *of = &q->models->base.params[FT_CLASS_SOFTMAX];

    return q->a.launch_s / (of->v[FT__C_floor_s] * ft__launch_factor(q->a.device));
}

/* Share of the device in what the operation takes alone in the run mode asked for, and
 * what was learned of hosts is what kinds differ by there. */
static double share_as_asked(const ft__query_context *q, uint32_t i,
                             const ft__op_task *task)
{
    const bool given = has_launch_time(q, task);
    ft__terms t = q->bare[i];

    if (q->a.graph || !(t.busy_s > 0))
        return 1;
    if (!(t.launch_s > 0) || (given && !is_learned(q, task)))
        return t.busy_s / hypot(t.busy_s, task->launches * launch_of(q, task));
    if (given)
        ft__physics_with_host(&t, host_times(q));
    return t.busy_s / t.total_s;
}

/* What a launch takes in a loop of one operation, 90 % of the logarithm: hosts differ,
 * and clocks that see the device alone. */
static const double launch_reach = 1.1;

/* An operation alone of which the device does so much, beside a host whose launches are
 * known or not. */
static ft_estimate with_launch(ft_estimate e, double device, bool timed)
{
    const double host = (1 - device) * (timed ? FT__TIMED_HOST : launch_reach);

    if (e.basis != FT_BASIS_SCALED)
        return e;
    e.low = e.value * exp(device * log(e.low / e.value) - host);
    e.high = e.value * exp(device * log(e.high / e.value) + host);
    return e;
}

/* The operation alone: as it was measured, where it was in this run mode and nobody
 * says what a launch takes. Then what a known device takes over the estimate is the
 * device's by its share: the rest was of the host that it was measured beside. */
static ft_estimate time_alone(const ft__query_context *q, uint32_t i,
                              const ft__op_task *task, const ft_estimate *device)
{
    double asked = share_as_asked(q, i, task);
    double measured = ft__query_context_device_share(q, i);
    const ft__op_answer *a = &q->time[i];
    ft_estimate out = ft__times(*device, 1 / asked);
    double factor = q->share[i] * (measured / asked);

    if (isnan(task->alone_s) || !(a->value > 0) || !(device->value > 0))
        return with_launch(out, asked, has_launch_time(q, task));
    if (q->known && has_launch_time(q, task) && !q->a.graph)
        factor *= fmax(pow(a->value / q->bare_form[i].total_s, measured - 1), asked);
    out.value = a->value * factor;
    out.low = a->low * factor;
    out.high = a->high * factor;
    return out;
}

/* op_power[i] and op_energy[i] of such, repeated alone: task->power_w (NaN: not known)
 * while it is busy, idle power while it waits for its next launches. */
static void power_by_specification(ft__network_estimate *e, uint32_t i,
                                   const ft__op_task *task, const ft__query_context *q)
{
    const ft__device_query *a = &q->a;
    const double busy_s = e->op_device[i].value;
    const double call_s = hypot(busy_s, task->launches * launch_of(q, task));
    const double idle_w = ft__device_query_idle_power(a);
    double power_w = task->power_w;
    ft__power_reading r;

    if (idle_w < power_w && busy_s > 0)
        power_w = idle_w + busy_s / call_s * (power_w - idle_w);
    r = ft__power_read(power_w, idle_w, a->cap_w, a->loop_calls, call_s);
    if (isfinite(power_w)) {
        e->op_power[i] = ft__around(
            r.value,
            -hypot(FT__POWER_FROM_SPECIFICATION, FT__COVERAGE * log(r.value / r.low)),
            hypot(FT__POWER_FROM_SPECIFICATION, FT__COVERAGE * log(r.high / r.value)),
            FT_BASIS_SCALED);
        ft__keep_under(&e->op_power[i], a->cap_w);
    }
    ft__estimate_op_energy(e, i);
}

/* *power at another clock or cap than it was learned at. */
static void rescale(ft_estimate *power, double value)
{
    *power = ft__around(
        value, -hypot(log(power->value / power->low), FT__RESCALING_ERROR),
        hypot(log(power->high / power->value), FT__RESCALING_ERROR), power->basis);
}

/* Of what a compiler leaves of it. */
static void fuse(ft__op_task *task, const ft__fused *f)
{
    if (task->launches > 0)
        task->launches = task->launches * f->launched + f->generated;
    task->more_kernels = f->launched + f->generated - 1;
    task->bare_s *= f->moved;
    task->alone_s *= f->moved;
}

void ft__network_op_task(ft__op_task *task, ft_estimate *device, ft__query_context *q,
                         uint32_t i)
{
    take_task(task, device, q, i);
    if (q->fused)
        fuse(task, &q->fused[i]);
}

void ft__network_op(ft__network_estimate *out, ft__op_task *task, ft__query_context *q,
                    uint32_t i)
{
    const ft__op_answer *w = &q->power[i];

    take_task(task, &out->op_device[i], q, i);
    out->op_time[i] = time_alone(q, i, task, &out->op_device[i]);
    if (q->fused) {
        const double moved = q->fused[i].moved;

        fuse(task, &q->fused[i]);
        out->op_device[i] = ft__times(out->op_device[i], moved);
        out->op_time[i] = ft__times(out->op_time[i], moved);
    }
    if (!q->powered || !(w->value > 0)) {
        power_by_specification(out, i, task, q);
        return;
    }
    out->op_power[i] = (ft_estimate){
        w->value, w->low, w->high,
        q->power_known && !q->rescaled && !w->far ? FT_BASIS_LEARNED : FT_BASIS_SCALED,
        ""};
    if (q->rescaled)
        rescale(&out->op_power[i], task->power_w);
    if (!q->power_known)
        ft__keep_under(&out->op_power[i], q->a.cap_w);
    ft__estimate_op_energy(out, i);
}
