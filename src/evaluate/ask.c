/* Rows of a dataset, asked for through the door that users take. */
#include "evaluate/ask.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/graph.h"
#include "predict/file/predictor.h"
#include "predict/query/network.h"
#include "predict/query/op_costs.h"

ft_status ft__evaluate_needs(ft__family_options *how, const ft__samples *s,
                             const uint32_t *train, size_t n_train,
                             const uint32_t *test, size_t n_test, ft_error *err)
{
    const uint32_t n = s->n_datasets;
    bool *trained = calloc(2 * (size_t)n + 1, sizeof(*trained)), *tested = trained + n;

    if (!trained)
        return ft_fail(err, FT_ENOMEM, 0, "evaluation");
    for (size_t i = 0; i < n_train; i++)
        trained[s->v[train[i]].dataset] = true;
    for (size_t i = 0; i < n_test; i++)
        tested[s->v[test[i]].dataset] = true;
    how->no_known = how->no_unknown = true;
    for (uint32_t a = 0; a < n; a++) {
        bool known = false;

        for (uint32_t b = 0; b < n && tested[a]; b++)
            known = known || (trained[b] &&
                              strcmp(s->dataset[a].device, s->dataset[b].device) == 0);
        how->no_known = how->no_known && !(tested[a] && known);
        how->no_unknown = how->no_unknown && !(tested[a] && !known);
    }
    free(trained);
    return FT_OK;
}

/* Rows by dataset, equal operations beside each other. */
struct row_place {
    uint32_t dataset;
    uint64_t hash;
    uint32_t at; /* index in row[] and out[] */
};

static int by_place(const void *a, const void *b)
{
    const struct row_place *x = a, *y = b;

    if (x->dataset != y->dataset)
        return x->dataset < y->dataset ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

struct query {
    const ft_predictor *p;
    const ft__calibration_set *known;
    ft__metric metric;
    const ft__samples *s;
    const uint32_t *row;
    ft__op_answer *out;
};

static bool starts_run(const struct row_place *v, size_t i)
{
    return i == 0 || v[i].hash != v[i - 1].hash;
}

/* A list of the operations, each once, as they were measured: one node each. */
static ft_status list_of(ft_graph **out, const struct query *a,
                         const struct row_place *v, size_t n, ft_error *err)
{
    const ft_op **op = calloc(n, sizeof(*op));
    uint32_t n_ops = 0;
    ft_status st;

    if (!op)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    for (size_t i = 0; i < n; i++)
        if (starts_run(v, i))
            op[n_ops++] = &a->s->v[a->row[v[i].at]].op;
    st = ft__op_list(out, op, n_ops, err);
    free(op);
    return st;
}

static const ft_estimate *estimates_of(const ft__network_estimate *e, ft__metric metric)
{
    switch (metric) {
    case FT__METRIC_TIME: return e->op_time;
    case FT__METRIC_POWER: return e->op_power;
    case FT__METRIC_ENERGY: return e->op_energy;
    case FT__METRIC_MEMORY: return e->op_memory;
    default: return e->op_workspace;
    }
}

/* Answers for v[n], which are of one dataset. */
static void take_answers(const struct query *a, const ft__network_estimate *e,
                         const ft_graph *g, const struct row_place *v, size_t n)
{
    const ft_estimate *of = estimates_of(e, a->metric);
    uint32_t node = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        const ft_estimate *x;

        node += starts_run(v, i);
        x = &of[g->node[node].op];
        a->out[v[i].at].value = x->value;
        a->out[v[i].at].low = x->low;
        a->out[v[i].at].high = x->high;
        a->out[v[i].at].basis = x->basis;
    }
}

/* Two answers that learn next to nothing, to stand beside. */
static ft_status take_baselines(const struct query *a, const ft_graph *g,
                                const ft__dataset *d, const struct row_place *v,
                                size_t n, ft_error *err)
{
    uint32_t n_ops = g->n_ops, node = UINT32_MAX;
    ft__op_answer *plain = calloc(n_ops + 1u, sizeof(*plain));
    ft_status st = plain ? ft__family_query(plain, a->p->family, a->metric, d,
                                            &g->op[0], NULL, n_ops, err)
                         : ft_fail(err, FT_ENOMEM, 0, "%u operations", n_ops);

    for (size_t i = 0; i < n && !st; i++) {
        node += starts_run(v, i);
        a->out[v[i].at].base = plain[g->node[node].op].base;
        a->out[v[i].at].constant = plain[g->node[node].op].constant;
    }
    free(plain);
    return st;
}

/* Of what was measured whole: the formulae without what trees learn. */
static void take_formulae(const struct query *a, const ft__dataset *d,
                          const struct row_place *v, size_t n)
{
    const ft__clocked_list *l = &a->p->family->clocked;
    const ft__device_use on = {.name = d->device,
                               .setting = d->setting,
                               .engine = d->engine,
                               .engine_version = d->engine_version};

    for (size_t i = 0; i < n; i++) {
        ft__op_answer *out = &a->out[v[i].at];

        out->base = out->constant =
            ft__clocked_formulae(l, &on, v[i].hash, a->metric == FT__METRIC_TIME,
                                 a->metric == FT__METRIC_POWER);
    }
}

static ft_status ask_dataset(const struct query *a, const struct row_place *v, size_t n,
                             ft_error *err)
{
    const ft__dataset *d = &a->s->dataset[v->dataset];
    ft__device_use on = ft__dataset_use(d);
    ft__network_estimate e;
    ft_graph *g = NULL;
    ft_status st = list_of(&g, a, v, n, err);

    on.known = a->known;
    if (!st)
        st = ft__predict_network(&e, a->p, &on, g, err);
    if (!st) {
        take_answers(a, &e, g, v, n);
        ft__network_estimate_free(&e);
    }
    if (!st && a->s->v[a->row[v->at]].whole)
        take_formulae(a, d, v, n);
    else if (!st)
        st = take_baselines(a, g, d, v, n, err);
    ft_graph_free(g);
    return st;
}

ft_status ft__evaluate_query(ft__op_answer *out, const ft_predictor *p,
                             const ft__calibration_set *known, ft__metric metric,
                             const ft__samples *s, const uint32_t *row, size_t n,
                             char why[240], ft_error *err)
{
    const struct query a = {p, known, metric, s, row, out};
    ft_error none = {0};
    struct row_place *v = calloc(n + 1, sizeof(*v));
    ft_status st = v ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);

    for (size_t i = 0; i < n && v; i++) {
        const ft__sample *x = &s->v[row[i]];

        v[i] = (struct row_place){x->dataset, x->hash, (uint32_t)i};
        out[i] = (ft__op_answer){.value = NAN, .low = NAN, .high = NAN};
    }
    if (v)
        qsort(v, n, sizeof(*v), by_place);
    for (size_t i = 0, end; i < n && !st; i = end) {
        for (end = i + 1; end < n && v[end].dataset == v[i].dataset;)
            end++;
        st = ask_dataset(&a, v + i, end - i, &none);
        /* A device that cannot be asked about has no answers. */
        if (st == FT_ENOTFOUND) {
            snprintf(why, 240, "%.239s", none.msg);
            st = FT_OK;
        } else if (st) {
            st = ft_fail(err, st, none.pos, "%s", none.msg);
        }
    }
    free(v);
    return st;
}
