/* One network on one device, by what was selected to answer. */
#include <stdio.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "query/select.h"

ft_status ft__analytic_read(ft__analytic *out, const char *name, ft_error *err)
{
    static const char *const names[] = {[FT__ANALYTIC_PHYSICS] = "physics",
                                        [FT__ANALYTIC_ROOFLINE] = "roofline",
                                        [FT__ANALYTIC_PALEO] = "paleo"};

    *out = FT__ANALYTIC_PHYSICS;
    for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (ft__analytic)i;
            return FT_OK;
        }
    return name ? ft_fail(err, FT_EINVAL, 0,
                          "--method wants physics, roofline or paleo, not \"%s\"", name)
                : FT_OK;
}

ft_status ft__source_predict(ft_network_estimate *out, const ft__answer_source *s,
                             const ft_graph *g, ft_error *err)
{
    const ft_device_facts *facts = s->on.device ? ft_device_get(s->on.device) : NULL;

    switch (s->predictor ? FT__ANALYTIC_PHYSICS : s->model) {
    case FT__ANALYTIC_ROOFLINE: return ft_predict_network_roofline(out, facts, g, err);
    case FT__ANALYTIC_PALEO: return ft_predict_network_paleo(out, facts, g, err);
    case FT__ANALYTIC_PHYSICS: break;
    }
    return ft_predict_network(out, s->predictor, &s->on, g, err);
}

uint32_t ft__source_policy(const ft__answer_source *s)
{
    ft_predictor_info info = {.policy = FT_POLICY_STRIDED_VIEWS};

    if (s->predictor)
        ft_predictor_get_info(s->predictor, &info);
    return info.policy;
}

ft_status ft__source_network(ft_network_estimate *out, ft_graph **lowered,
                             const ft__answer_source *s, const ft_graph *g,
                             const ft_step *step, ft_error *err)
{
    ft_graph *made;
    ft_status st = ft_step_lower(&made, g, ft__source_policy(s), step, err);

    *out = (ft_network_estimate){0};
    if (!st)
        st = ft__source_predict(out, s, made ? made : g, err);
    if (lowered)
        *lowered = st ? NULL : made;
    if (st || !lowered)
        ft_graph_free(made);
    return st;
}

/* ---- does it fit ---- */

struct at_batch {
    const ft__answer_source *source;
    ft_query q;
    ft_step step;
};

static ft_status bytes_at(void *arg, int64_t batch, uint64_t *bytes, ft_error *err)
{
    struct at_batch *at = arg;
    ft_network_estimate e;
    ft_graph *g;
    ft_status st;

    at->q.batch = batch;
    st = ft_query_import(&g, &at->q, err);
    if (!st)
        st = ft__source_network(&e, NULL, at->source, g, &at->step, err);
    if (!st) {
        *bytes = (uint64_t)e.memory.value;
        ft_network_estimate_free(&e);
    }
    ft_graph_free(g);
    return st;
}

ft_status ft__source_max_batch(int64_t *batch, const ft__answer_source *s,
                               const ft_query *q, double limit_bytes, ft_error *err)
{
    struct at_batch at = {.source = s};
    ft_error inner = {0};
    ft_status st = ft__query_read(&at.q, q, err);

    if (!st)
        st = ft__query_step(&at.step, &at.q, err);
    if (st)
        return st;
    st = ft__memory_max_batch(batch, (uint64_t)limit_bytes, bytes_at, &at, &inner);
    return st ? ft_fail(err, st, 0, "--max-batch asks at several batches: %.800s",
                        inner.msg)
              : FT_OK;
}
