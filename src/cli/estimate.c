/* One network on one device, at one batch. */
#include "cli/estimate.h"

#include <string.h>

int64_t ft__graph_batch(const ft_graph *g)
{
    for (uint32_t i = 0; i < ft_graph_n_tensors(g); i++) {
        const ft_tensor *t = ft_graph_tensor(g, i);

        if (t->role == FT_ROLE_INPUT && t->shape.rank)
            return t->shape.dim[0];
    }
    return 0;
}

ft_status ft__estimate_lowered(ft_network_estimate *out, const ft__source *from,
                               const ft_graph *g, ft_error *err)
{
    const ft_device_facts *sheet =
        from->on.device ? ft_device_get(from->on.device) : NULL;

    if (from->predictor && sheet)
        return ft_predict_network_on(out, from->predictor, &from->on, g, err);
    if (from->predictor)
        return ft_predict_network(out, from->predictor, g, err);
    switch (from->by) {
    case FT__BY_ROOFLINE: return ft_predict_network_roofline(out, sheet, g, err);
    case FT__BY_PALEO: return ft_predict_network_paleo(out, sheet, g, err);
    case FT__BY_PHYSICS: break;
    }
    return ft_predict_network_physics(out, &from->on, g, err);
}

uint32_t ft__source_policy(const ft__source *from)
{
    ft_predictor_info info = {0};

    if (from->predictor)
        ft_predictor_get_info(from->predictor, &info);
    return from->predictor && !info.n_datasets ? info.policy : FT_POLICY_STRIDED_VIEWS;
}

ft_status ft__estimate_make(ft__estimate *out, const ft__source *from,
                            const ft_graph *g, const ft__step *step, ft_error *err)
{
    ft_status st;

    *out = (ft__estimate){0};
    st = ft__step_lower(&out->made, g, ft__source_policy(from), step, err);
    out->graph = out->made ? out->made : g;
    if (!st)
        st = ft__estimate_lowered(&out->e, from, out->graph, err);
    if (st)
        ft__estimate_free(out);
    return st;
}

void ft__estimate_free(ft__estimate *x)
{
    ft_network_estimate_free(&x->e);
    ft_graph_free(x->made);
    x->made = NULL;
}

/* ---- does it fit ---- */

struct at_batch {
    const ft__source *from;
    const char *model;
    const ft__model_options *how;
    const ft__step *step;
};

static ft_status bytes_at(void *arg, int64_t batch, uint64_t *bytes, ft_error *err)
{
    const struct at_batch *at = arg;
    ft__model_options how = *at->how;
    ft__estimate x;
    ft_graph *g;
    ft_status st;

    how.batch = (uint64_t)batch;
    st = ft__model_import(&g, at->model, &how, err);
    if (st)
        return st;
    st = ft__estimate_make(&x, at->from, g, at->step, err);
    if (!st) {
        *bytes = (uint64_t)x.e.memory.value;
        ft__estimate_free(&x);
    }
    ft_graph_free(g);
    return st;
}

ft_status ft__estimate_max_batch(int64_t *batch, const ft__source *from,
                                 const char *model, const ft__model_options *how,
                                 const ft__step *step, double limit_bytes,
                                 ft_error *err)
{
    struct at_batch at = {from, model, how, step};
    ft_error inner = {0};
    ft_status st =
        ft_memory_max_batch(batch, (uint64_t)limit_bytes, bytes_at, &at, &inner);

    return st ? ft_fail(err, st, 0, "--max-batch asks at several batches: %.800s",
                        inner.msg)
              : FT_OK;
}

/* ---- energy ---- */

void ft__energy_why(char *why, size_t size, const char *device,
                    const ft_network_estimate *e)
{
    const char *text = e->energy.why;
    ft_sensors *s = NULL;

    if (strcmp(device, "local") == 0 && !ft_sensors_probe(&s, "", 0, NULL) &&
        *ft_sensors_why_none(s))
        text = ft_sensors_why_none(s);
    snprintf(why, size, "%s", text);
    ft_sensors_free(s);
}
