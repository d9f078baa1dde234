/* Networks measured whole among the operations of a collection: what a machine takes
 * for a network beside the sum of its operations. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "foretell/names.h"
#include "graph/graph_inside.h"
#include "measure/collection.h"
#include "measure/measure_inside.h"
#include "predict/train/readings.h"
#include "store/store_inside.h"

/* Of a network where there is time enough; of the budget for all of them; and no fewer
 * passes than these fit in. */
static const double network_time_s = 2, networks_take = 0.1;
enum { LEAST_PASSES = 5 };

void ft__whole_spec(ft__buf *b, const char *name, const ft_graph *g)
{
    const char *from = ft__base_name(name);
    const char *dot = strrchr(from, '.');
    const char *end = dot && dot > from ? dot : from + strlen(from);
    uint32_t i = 0;

    while (i < g->n_tensors && g->tensor[i].role != FT_ROLE_INPUT)
        i++;
    ft__buf_str(b, "network name=");
    for (const char *p = from; p < end; p++) {
        const char c = (unsigned char)*p <= ' ' ? '_' : *p;

        ft__buf_add(b, &c, 1);
    }
    for (uint32_t k = 0; i < g->n_tensors && k < g->tensor[i].shape.rank; k++)
        ft__buf_fmt(b, "%s%lld", k ? "x" : " x=", (long long)g->tensor[i].shape.dim[k]);
    ft__buf_fmt(b, " dtype=%s", ft_dtype_name(ft__graph_dtype(g)));
}

/* Its operations as the engine runs them. */
static ft_status put_members(struct ft__collection *k, const ft_key *key,
                             const ft_graph *lowered, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < lowered->n_ops && !st; i++) {
        char part[2048];
        const ft_member m = {.source = key->engine,
                             .whole = key->spec,
                             .phase = key->phase,
                             .part = part,
                             .count = (double)lowered->op_count[i],
                             .note = ""};

        ft_op_print(&lowered->op[i], part, sizeof(part));
        st = ft__store_add_member(k->store, &m, err);
    }
    return st;
}

/* NaN: too few of its passes would fit. */
static double time_for(const struct ft__collection *k, const ft_graph *lowered)
{
    const double each_s = isfinite(k->end_s)
                              ? k->opt->budget_s / (double)k->opt->n_networks
                              : (double)INFINITY;
    double pass_s = 0;

    if (k->opt->whole)
        return fmin(k->opt->op_time_s > 0 ? k->opt->op_time_s : network_time_s, each_s);
    for (uint32_t i = 0; i < lowered->n_ops; i++)
        pass_s += (double)lowered->op_count[i] * ft__choosing_work(&lowered->op[i]);
    return LEAST_PASSES * pass_s > network_time_s
               ? (double)NAN
               : fmin(network_time_s, networks_take * each_s);
}

static bool is_rough(const ft_network_timing *t)
{
    return t->time.error > FT__ROUGH_READING * t->time.value;
}

/* Once more where it scatters: the better of both. */
static ft_status measure_well(ft_network_timing *t, struct ft__collection *k,
                              const ft_graph *g, double time_s, ft_error *err)
{
    const ft_measure_options how = {.min_time_s = time_s, .monitor = k->opt->monitor};
    ft_network_timing other;
    ft_status st = ft_measure_network(t, k->session, g, &how, err);

    if (st || !is_rough(t) || ft__clock_now(k->clock) > k->end_s)
        return st;
    st = ft_measure_network(&other, k->session, g, &how, err);
    if (!st && other.time.error / other.time.value < t->time.error / t->time.value) {
        const ft_network_timing better = other;

        other = *t;
        *t = better;
    }
    ft_network_timing_free(st ? t : &other);
    return st;
}

static ft_status measure_and_put(struct ft__collection *k, const ft_graph *g,
                                 const ft_graph *lowered, const ft_key *key,
                                 double time_s, ft_error *err)
{
    ft_network_timing t;
    char conditions[1024];
    ft_error why = {0};
    ft_status st = measure_well(&t, k, g, time_s, &why);

    if (st) {
        ft__log(k->opt->log, FT_LOG_INFO, "not run whole: %s: %s", key->spec, why.msg);
        return FT_OK;
    }
    ft__timing_conditions(&t, conditions, sizeof(conditions));
    t.time.conditions = conditions;
    st = put_members(k, key, lowered, err);
    if (!st)
        st = ft__collection_put(k, key, &t.time, t.readings, t.n_readings, err);
    k->report->networks += !st;
    ft_network_timing_free(&t);
    return st;
}

static ft_status measure_one(struct ft__collection *k, const ft_collect_network *w,
                             ft_error *err)
{
    ft_key key = ft__session_key(k->session);
    ft_graph *lowered = NULL;
    ft__buf spec = {0};
    int has = 0;
    ft_status st = ft__graph_lower(&lowered, w->graph, k->session->engine->policy, err);

    if (!st) {
        ft__whole_spec(&spec, w->name, w->graph);
        key.spec = spec.s;
        key.phase = ft_name(FT_NAMES_PHASE, FT_PHASE_FORWARD);
        key.metric = "time";
        if (spec.bad)
            st = ft_fail(err, FT_ENOMEM, 0, "%s", w->name);
    }
    if (!st && !k->opt->again)
        st = ft__store_has(k->store, &key, &has, err);
    if (!st && !has) {
        const double time_s = time_for(k, lowered);

        if (time_s > 0)
            st = measure_and_put(k, w->graph, lowered, &key, time_s, err);
    }
    ft__buf_free(&spec);
    ft_graph_free(lowered);
    return st;
}

ft_status ft__measure_networks(struct ft__collection *k, double progress, ft_error *err)
{
    ft_status st = FT_OK;

    while (!st && k->networks_tried < k->opt->n_networks &&
           progress * (double)k->opt->n_networks >= (double)k->networks_tried + 0.5 &&
           ft__clock_now(k->clock) < k->end_s)
        st = measure_one(k, &k->opt->networks[k->networks_tried++], err);
    return st;
}
