/* A network on a device that nobody measured: from its specifications. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/query/op_query.h"

/* What devices left out showed of networks (docs/networks.md). */
static const ft__log_residual network_residual = {-0.5, 0.5, -0.5, 0.5, -0.35, 0.35};

static void ask_op(ft__task *task, ft__terms *t, ft_estimate *device,
                   const ft__asked *a, const ft_op *op)
{
    ft__ask_terms(t, a, op);
    task->power_w = ft__ask_power(a, op, t);
    ft__ask_bare(task, device, a, op, t);
}

static void take(ft_network_estimate *out, uint32_t i, ft__task *task,
                 const ft__asked *a, const ft_op *op)
{
    ft__terms t;

    ask_op(task, &t, &out->op_device[i], a, op);
    out->op_time[i] =
        ft__estimate_times(out->op_device[i], 1 / ft__ask_device_share(a, task, &t));
    ft__estimate_op_power(out, i, task->power_w);
}

static ft_status ask_all(ft_network_estimate *out, const ft__asked *a,
                         const ft_graph *g, ft_error *err)
{
    ft__task *task = calloc(out->n_ops + 1u, sizeof(*task));
    const ft__schedule s = ft__ask_schedule(a, a->clock_hz);
    ft_status st;

    if (!task)
        return ft_fail(err, FT_ENOMEM, 0, "%u operations", out->n_ops);
    for (uint32_t i = 0; i < out->n_ops; i++) {
        task[i].count = (double)g->op_count[i];
        take(out, i, &task[i], a, &g->op[i]);
    }
    st = ft__estimate_assemble(out, g, task, &s, a->cap_w, &network_residual, err);
    free(task);
    return st;
}

ft_status ft__physics_tasks(ft__tasks *out, const ft_device_use *on, const ft_graph *g,
                            ft_error *err)
{
    const ft__theta theta = ft__physics_default();
    ft__asked a = {0};
    ft_estimate unused;
    ft__terms terms;
    ft_status st = ft__ask_open(&a, on, &theta, g, err);

    for (uint32_t i = 0; i < g->n_ops && !st; i++) {
        out->task[i] = (ft__task){0};
        ask_op(&out->task[i], &terms, &unused, &a, &g->op[i]);
    }
    if (!st)
        out->schedule = ft__ask_schedule(&a, a.clock_hz);
    out->cap_w = a.cap_w;
    ft__ask_close(&a);
    return st;
}

ft_status ft_predict_network_physics(ft_network_estimate *out, const ft_device_use *on,
                                     const ft_graph *g, ft_error *err)
{
    const ft_device_facts *d = ft_device_get(on->device);
    const ft__theta theta = ft__physics_default();
    const ft_estimate exact = {0};
    ft__asked a = {0};
    ft_status st = ft__estimate_start(out, g, err);

    if (!st)
        st = ft__ask_open(&a, on, &theta, g, err);
    if (!st)
        st = ask_all(out, &a, g, err);
    if (!st)
        st = ft__estimate_memory_of_device(out, d, g, err);
    ft__ask_close(&a);
    if (st) {
        ft_network_estimate_free(out);
        return st;
    }
    out->graph = on->run_mode && strcmp(on->run_mode, "graph") == 0;
    ft__ask_why_no_power(out, d);
    ft__estimate_count(out);
    ft__estimate_memory_sum(out, &exact);
    return FT_OK;
}
