/* What a schedule needs of a device that is asked about: its own schedule, the device's
 * part of times, and the scale of power at another clock. */
#include <math.h>
#include <string.h>

#include "physics/physics.h"
#include "physics/power.h"
#include "predict/model/regressor.h"
#include "predict/query/query_context.h"

/* The physical estimate's host time is that of a call from C. A framework's layers in
 * Python take this many times as long. */
static const double layer_factor = 1.8;

double ft__query_context_power_scale(ft__query_context *q, uint32_t i)
{
    const ft_op *op = &q->g->op[i];
    const double w = q->powered ? q->power[i].value : (double)NAN;
    double before;

    if (!q->rescaled || !q->power_known || !(w > 0))
        return 1;
    q->measured.params = q->params[i];
    before = ft__device_query_power(&q->measured, op, NULL);
    return before > 0 ? w / before : 1;
}

double ft__query_context_device_share(const ft__query_context *q, uint32_t i)
{
    const ft__device_query *measured =
        q->rescaled || q->from_short_loops ? &q->measured : &q->a;
    ft__device_query as;
    ft__terms t;

    if (!q->known || q->plain || !measured->device ||
        strcmp(measured->device->type, "gpu") != 0 || !isfinite(q->share[i]) ||
        !measured->graph || q->set.graph)
        return ft__device_share(&q->bare_form[i]);
    as = *measured;
    as.graph = false;
    as.params = ft__model_set_params(q->models, &q->form[i]);
    ft__device_query_terms(&t, &as, &q->form[i]);
    return ft__device_share(&t);
}

/* Of the device as it comes; nothing fitted on networks. */
static ft__schedule schedule_by_specification(const ft__device_query *a)
{
    ft__schedule s = ft__schedule_plain();
    const double idle_w =
        a->device ? ft__idle_power(a->params, a->device) : (double)NAN;

    /* What it was measured of is Python for each operation, which compiled networks
     * have as well (generated wrappers issue their kernels). A graph is one call of C.
     */
    s.launch_s = layer_factor * ft__physics_defaults()->v[FT__C_floor_s] *
                 (a->graph ? 1 : ft__launch_factor(a->device));
    s.idle_w = idle_w > 0 ? idle_w : 0;
    return s;
}

ft__schedule ft__query_context_schedule(ft__query_context *q,
                                        const ft__device_query *at, double clock_hz)
{
    ft__schedule s;

    if (q->f)
        q->a.params = q->models->base.params;
    s = q->device_schedule ? q->device_schedule->schedule
                           : schedule_by_specification(&q->a);
    if (!q->device_schedule && q->plain)
        s.launch_s = 0;
    else if (q->a.launch_s > 0)
        s.launch_s = q->a.launch_s;
    if (!q->device_schedule || q->rescaled || q->interpolated)
        s.idle_w *= ft__device_query_idle(at, clock_hz);
    return s;
}
