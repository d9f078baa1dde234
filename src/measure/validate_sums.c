/* What a store knows of a network beside its operations: their measurements add up,
 * with errors and what is missing, to its time and energy, with its plan of memory to
 * its bytes; and what a predictor says of it. */
#include "measure/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "store/store_inside.h"

void ft_validated_free(ft_validated *v)
{
    free(v->kind);
    free(v->unpriced);
    free(v->round);
    free(v->reading);
    free(v->power);
    *v = (ft_validated){0};
}

bool ft__validation_counts(const ft_op *op)
{
    return ft_kind_class(op->kind) != FT_CLASS_VIEW;
}

ft_figure ft__figure_unknown(const char *why)
{
    ft_figure f = {.value = NAN, .sigma = NAN};

    snprintf(f.why, sizeof(f.why), "%.199s", why);
    return f;
}

/* Sums do not depend on the order of operations. */
size_t ft__network_spec(const ft_graph *g, char *buf, size_t size)
{
    uint64_t id = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        if (ft__validation_counts(&g->op[i]))
            id += ft__op_hash(&g->op[i]) * (2 * g->op_count[i] + 1);
    return (size_t)snprintf(buf, size, "network id=%016llx name=%.200s",
                            (unsigned long long)id, g->name);
}

static void take_row(ft_figure *f, const ft_row *row, const char *why)
{
    if (row->id && isfinite(row->m.value))
        *f = (ft_figure){.value = row->m.value, .sigma = row->m.error};
    else
        *f = ft__figure_unknown(why);
}

struct store_search {
    ft_row row;
    const char *metric; /* how it begins; NULL: the key says all of it */
    const char *spec;
};

static int keep_if_same(void *user, const ft_row *row)
{
    struct store_search *s = user;

    if (strncmp(row->key.spec, s->spec, FT__NETWORK_ID_LENGTH) == 0 &&
        (!s->metric || strncmp(row->key.metric, s->metric, strlen(s->metric)) == 0) &&
        (!s->row.id || row->taken_at >= s->row.taken_at))
        s->row = *row;
    return 0;
}

static ft_status network_row(ft_row *row, ft__validation *k, const char *metric,
                             ft_error *err)
{
    struct store_search s = {.spec = k->spec};
    ft_key key = k->base;
    ft_status st;

    key.metric = metric;
    st = ft_store_each(k->store, &key, 1, keep_if_same, &s, err);
    *row = s.row;
    return st;
}

/* Watts as they were read: of the whole, or of the meter's first domain. */
static ft_status read_power(ft_validated *out, ft__validation *k, ft_error *err)
{
    struct store_search s = {.spec = k->spec, .metric = "power:"};
    ft_row power;
    ft_status st = network_row(&power, k, "power", err);

    if (!st && power.id)
        st = ft__store_readings(k->store, power.id, &out->power, &out->n_power, err);
    if (st || !power.id || out->n_power)
        return st;
    free(out->power);
    out->power = NULL;
    st = ft_store_each(k->store, &k->base, 1, keep_if_same, &s, err);
    if (!st && s.row.id)
        st = ft__store_readings(k->store, s.row.id, &out->power, &out->n_power, err);
    return st;
}

ft_status ft__validation_measured(ft_validated *out, ft__validation *k, ft_error *err)
{
    ft_row time, memory, energy;
    ft_status st = network_row(&time, k, "time", err);

    if (!st)
        st = network_row(&memory, k, "memory", err);
    if (!st)
        st = network_row(&energy, k, "energy", err);
    if (!st)
        st = read_power(out, k, err);
    if (st)
        return st;
    take_row(&out->measured[FT_QUANTITY_TIME], &time, "not measured whole");
    take_row(&out->measured[FT_QUANTITY_MEMORY], &memory, "not measured whole");
    take_row(&out->measured[FT_QUANTITY_ENERGY], &energy,
             "the network's energy was not measured");
    if (time.id && !out->reading)
        st =
            ft__store_readings(k->store, time.id, &out->reading, &out->n_readings, err);
    return st;
}

void ft__validation_describe(ft_validated *out, const ft__validation *k)
{
    snprintf(out->name, sizeof(out->name), "%s", k->graph->name);
    snprintf(out->device, sizeof(out->device), "%s", k->base.device);
    snprintf(out->setting, sizeof(out->setting), "%s", k->base.setting);
    snprintf(out->engine, sizeof(out->engine), "%s", k->base.engine);
    snprintf(out->engine_version, sizeof(out->engine_version), "%s",
             k->base.engine_version);
    out->mode = k->graph->mode;
}

ft_status ft__validation_lower(ft__validation *k, const ft_graph *g, uint32_t policy,
                               bool planned, ft_error *err)
{
    ft_status st = ft__graph_lower(&k->lowered, g, policy, err);

    k->graph = g;
    k->planned = planned && g->mode == FT_MODE_INFERENCE;
    if (!st)
        ft__network_spec(k->lowered, k->spec, sizeof(k->spec));
    return st;
}

static int keep_newest(void *user, const ft_row *row)
{
    ft_row *newest = user;

    if (!newest->id || row->taken_at >= newest->taken_at)
        *newest = *row;
    return 0;
}

ft_status ft__validation_newest(ft_row *row, ft__validation *k, const char *spec,
                                const char *metric, ft_error *err)
{
    ft_key key = k->base;

    *row = (ft_row){0};
    key.spec = spec;
    key.metric = metric;
    return ft_store_each(k->store, &key, 1, keep_newest, row, err);
}

/* A sum that is still growing. */
struct sum {
    double value;
    double squares; /* of errors: an operation's occurrences share one */
    uint32_t n, missing;
};

static void add(struct sum *s, const ft_row *row, double count)
{
    if (!row->id || !isfinite(row->m.value)) {
        s->missing++;
        return;
    }
    s->n++;
    s->value += count * row->m.value;
    if (isfinite(row->m.error))
        s->squares += pow(count * row->m.error, 2);
}

static void finish(ft_figure *f, const struct sum *s, double shared)
{
    double common = isfinite(shared) ? shared * s->value : 0;

    *f = (ft_figure){.value = s->value, .sigma = sqrt(s->squares + common * common)};
}

static ft_kind_sum *kind_of(ft_validated *out, const ft_op *op)
{
    for (size_t i = 0; i < out->n_kinds; i++)
        if (out->kind[i].kind == op->kind && out->kind[i].phase == op->phase)
            return &out->kind[i];
    out->kind[out->n_kinds] = (ft_kind_sum){.kind = op->kind, .phase = op->phase};
    return &out->kind[out->n_kinds++];
}

static void add_kind(ft_validated *out, const ft_op *op, double count,
                     const ft_row *time, const ft_row *energy)
{
    ft_kind_sum *s = kind_of(out, op);

    s->n_unique++;
    s->count += count;
    s->time_s += count * time->m.value;
    s->energy_j += energy->id ? count * energy->m.value : NAN;
}

static void add_unpriced(ft_validated *out, const ft_op *op, uint64_t count)
{
    ft_unpriced *u = &out->unpriced[out->n_unpriced++];

    *u = (ft_unpriced){.op = *op, .count = count};
    snprintf(u->why, sizeof(u->why), "%s",
             op->kind == FT_KIND_generic ? "there is no rule for it: it is bounded by "
                                           "the bytes it moves"
                                         : "not measured");
}

static int by_time(const void *a, const void *b)
{
    double x = ((const ft_kind_sum *)a)->time_s, y = ((const ft_kind_sum *)b)->time_s;

    return (x < y) - (x > y);
}

static int by_count(const void *a, const void *b)
{
    const ft_unpriced *x = a, *y = b;

    return (x->count < y->count) - (x->count > y->count);
}

struct price_sums {
    struct sum time, energy;
    double workspace; /* the largest */
};

static ft_status price_op(ft_validated *out, ft__validation *k, uint32_t i,
                          struct price_sums *s, ft_error *err)
{
    const ft_op *op = &k->lowered->op[i];
    uint64_t count = k->lowered->op_count[i];
    ft_row time, energy, workspace;
    char spec[2048];
    ft_status st;

    out->n_ops++;
    ft_op_print(op, spec, sizeof(spec));
    st = ft__validation_newest(&time, k, spec, "time", err);
    if (!st)
        st = ft__validation_newest(&energy, k, spec, "energy", err);
    if (!st)
        st = ft__validation_newest(&workspace, k, spec, "workspace", err);
    if (st)
        return st;
    add(&s->time, &time, (double)count);
    add(&s->energy, &energy, (double)count);
    if (workspace.id)
        s->workspace = fmax(s->workspace, workspace.m.value);
    if (time.id)
        add_kind(out, op, (double)count, &time, &energy);
    else
        add_unpriced(out, op, count);
    return FT_OK;
}

static void finish_energy(ft_validated *out, const struct sum *s)
{
    char why[200];

    if (s->n && !s->missing) {
        finish(&out->sum[FT_QUANTITY_ENERGY], s, out->shared);
        return;
    }
    if (s->n)
        snprintf(why, sizeof(why), "energy was not measured for %u of %u operations",
                 s->missing, s->n + s->missing);
    else
        snprintf(why, sizeof(why), "no operation's energy was measured");
    out->sum[FT_QUANTITY_ENERGY] = ft__figure_unknown(why);
}

/* Memory: weights, tensors as they are placed, the largest workspace, and
 * what engine and process need besides. */
static ft_status tensors(double *bytes, const ft__validation *k, ft_error *err)
{
    const ft_memory_policy policy = {FT_POLICY_EAGER};
    ft_memory m;
    ft_plan plan;
    ft_status st = ft_memory_make(&m, k->lowered, &policy, err);

    if (st)
        return st;
    *bytes = (double)(m.peak_bytes - m.part[FT_PART_WORKSPACE]);
    if (!k->planned)
        return FT_OK;
    st = ft_plan_make(&plan, k->lowered, err);
    if (st)
        return st;
    *bytes = (double)(m.part[FT_PART_WEIGHTS] + plan.arena_bytes);
    ft_plan_free(&plan);
    return FT_OK;
}

static ft_status sum_memory(ft_validated *out, ft__validation *k, double workspace,
                            ft_error *err)
{
    ft_row context, each;
    double bytes = 0;
    ft_status st = tensors(&bytes, k, err);

    if (!st)
        st = ft__validation_newest(&context, k, "", "context", err);
    if (!st)
        st = ft__validation_newest(&each, k, "", "context_per_operation", err);
    if (st)
        return st;
    if (!context.id) {
        out->sum[FT_QUANTITY_MEMORY] =
            ft__figure_unknown("the engine's own memory was not measured");
        return FT_OK;
    }
    bytes += workspace + context.m.value + (each.id ? each.m.value : 0) * out->n_ops;
    out->sum[FT_QUANTITY_MEMORY] = (ft_figure){.value = bytes, .sigma = NAN};
    return FT_OK;
}

static ft_status sum_all(ft_validated *out, ft__validation *k, ft_error *err)
{
    uint32_t n = k->lowered->n_ops;
    struct price_sums s = {0};
    ft_status st = FT_OK;

    out->kind = calloc(n + 1u, sizeof(*out->kind));
    out->unpriced = calloc(n + 1u, sizeof(*out->unpriced));
    if (!out->kind || !out->unpriced)
        return ft_fail(err, FT_ENOMEM, 0, "sums");
    for (uint32_t i = 0; i < n && !st; i++)
        if (ft__validation_counts(&k->lowered->op[i]))
            st = price_op(out, k, i, &s, err);
    if (st)
        return st;
    out->n_priced = s.time.n;
    finish(&out->sum[FT_QUANTITY_TIME], &s.time, out->shared);
    if (!s.time.n && out->n_ops)
        out->sum[FT_QUANTITY_TIME] = ft__figure_unknown("no operation was measured");
    finish_energy(out, &s.energy);
    qsort(out->kind, out->n_kinds, sizeof(*out->kind), by_time);
    qsort(out->unpriced, out->n_unpriced, sizeof(*out->unpriced), by_count);
    return sum_memory(out, k, s.workspace, err);
}

static void take_estimate(ft_figure *f, const ft_estimate *e)
{
    *f = (ft_figure){.value = e->value, .sigma = (e->high - e->low) / (2 * FT__Z90)};
    if (e->basis == FT_BASIS_UNAVAILABLE)
        *f = ft__figure_unknown(e->why);
}

static void nothing_predicted(ft_validated *out, const char *why)
{
    for (int q = 0; q < FT_QUANTITY_COUNT; q++)
        out->predicted[q] = ft__figure_unknown(why);
}

/* loaded: NULL, or the predictor to ask. */
static ft_status ask(ft_validated *out, ft__validation *k, const ft_predictor *loaded,
                     ft_error *err)
{
    ft_query q = *k->opt->query;
    ft_answer *a;
    ft_error why = {0};
    ft_status st;

    q.graph = k->graph;
    q.totals = 1;
    q.loaded = loaded;
    q.predictor = loaded ? NULL : q.predictor;
    if (k->stored) {
        q.device = k->base.device;
        q.engine = k->base.engine;
    }
    st = ft_query_ask(&a, k->opt->data, &q, &why);
    if (st == FT_ENOTFOUND) {
        nothing_predicted(out, why.msg);
        return FT_OK;
    }
    if (st)
        return ft_fail(err, st, why.pos, "%s", why.msg);
    take_estimate(&out->predicted[FT_QUANTITY_TIME], &a->time);
    take_estimate(&out->predicted[FT_QUANTITY_ENERGY], &a->energy);
    take_estimate(&out->predicted[FT_QUANTITY_MEMORY], &a->memory);
    /* What sensors there are now is another matter. */
    if (a->energy.basis == FT_BASIS_UNAVAILABLE && a->by == FT_ANSWERED_BY_DEVICE)
        out->predicted[FT_QUANTITY_ENERGY] =
            ft__figure_unknown("no power was measured for this predictor");
    ft_answer_free(a);
    return FT_OK;
}

/* A predictor that has never seen this network's operations. */
static ft_status predict_without(ft_validated *out, ft__validation *k, ft_error *err)
{
    ft_train_options how = {.filter = k->base,
                            .seed = 1,
                            .threads = 1,
                            .without = k->lowered->n_ops ? &k->lowered->op[0] : NULL,
                            .n_without = k->lowered->n_ops,
                            .forget = 1};
    ft_predictor *p;
    ft_error why = {0};
    ft_status st = ft_predictor_train(&p, k->store, &how, &why);

    if (!st) {
        st = ask(out, k, p, err);
        ft_predictor_free(p);
        return st;
    }
    if (st != FT_ENOTFOUND && st != FT_EINVAL)
        return ft_fail(err, st, 0, "%s", why.msg);
    nothing_predicted(out, why.msg);
    return FT_OK;
}

static ft_status predict(ft_validated *out, ft__validation *k, ft_error *err)
{
    if (k->opt->forget)
        return predict_without(out, k, err);
    if (k->opt->query)
        return ask(out, k, NULL, err);
    nothing_predicted(out, "no predictor for this engine and these threads");
    return FT_OK;
}

ft_status ft__validation_price(ft_validated *out, ft__validation *k, double shared,
                               ft_error *err)
{
    ft_status st;

    out->shared = shared;
    st = sum_all(out, k, err);
    return st ? st : predict(out, k, err);
}
