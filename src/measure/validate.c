/* One network beside the sum of its operations: measured in turns with them, or looked
 * up in a store, in all datasets in which it was measured whole. What measurements add
 * up to, with errors and what is missing; its plan of memory; what a predictor says. */
#include "measure/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "measure/measure_inside.h"
#include "measure/op_job.h"
#include "store/store.h"
#include "store/store_inside.h"

/* A network as one dataset's engine runs it. */
struct validation {
    ft_store *store;
    const ft_validate_options *opt;
    const ft_graph *graph; /* as imported, or a training step */
    ft_graph *lowered;
    uint32_t policy;
    bool stored;    /* nothing runs: `base` is of any device */
    bool planned;   /* the engine's tensors lie at offsets planned ahead */
    ft_key base;    /* device, setting, engine, version; the rest NULL */
    char spec[300]; /* of the network */
};

void ft_validated_free(ft_validated *v)
{
    free(v->kind);
    free(v->unpriced);
    free(v->round);
    free(v->reading);
    free(v->power);
    *v = (ft_validated){0};
}

/* An operation that counts: not a view. */
static bool takes_part(const ft_op *op)
{
    return ft_kind_class(op->kind) != FT_CLASS_VIEW;
}

static ft_figure figure_unknown(const char *why)
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
        if (takes_part(&g->op[i]))
            id += ft__op_hash(&g->op[i]) * (2 * g->op_count[i] + 1);
    return (size_t)snprintf(buf, size, "network id=%016llx name=%.200s",
                            (unsigned long long)id, g->name);
}

/* ---- what the store knows of the network itself ---- */

static void take_row(ft_figure *f, const ft_row *row, const char *why)
{
    if (row->id && isfinite(row->m.value))
        *f = (ft_figure){.value = row->m.value, .sigma = row->m.error};
    else
        *f = figure_unknown(why);
}

/* The network's name is not part of what it is: of all rows that begin alike. */
enum { ID_LENGTH = sizeof("network id=0123456789abcdef ") - 1 };

struct store_search {
    ft_row row;
    const char *metric; /* how it begins; NULL: the key says all of it */
    const char *spec;
};

static int keep_if_same(void *user, const ft_row *row)
{
    struct store_search *s = user;

    if (strncmp(row->key.spec, s->spec, ID_LENGTH) == 0 &&
        (!s->metric || strncmp(row->key.metric, s->metric, strlen(s->metric)) == 0) &&
        (!s->row.id || row->taken_at >= s->row.taken_at))
        s->row = *row;
    return 0;
}

static ft_status network_row(ft_row *row, struct validation *k, const char *metric,
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
static ft_status read_power(ft_validated *out, struct validation *k, ft_error *err)
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

/* What was measured of the network itself. */
static ft_status network_rows(ft_validated *out, struct validation *k, ft_error *err)
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

static void describe(ft_validated *out, const struct validation *k)
{
    snprintf(out->name, sizeof(out->name), "%s", k->graph->name);
    snprintf(out->device, sizeof(out->device), "%s", k->base.device);
    snprintf(out->setting, sizeof(out->setting), "%s", k->base.setting);
    snprintf(out->engine, sizeof(out->engine), "%s", k->base.engine);
    snprintf(out->engine_version, sizeof(out->engine_version), "%s",
             k->base.engine_version);
    out->mode = k->graph->mode;
}

/* k->lowered, k->spec and how memory is counted; k->lowered is the caller's to free. */
static ft_status lower(struct validation *k, const ft_graph *g, uint32_t policy,
                       bool planned, ft_error *err)
{
    ft_status st = ft__graph_lower(&k->lowered, g, policy, err);

    k->graph = g;
    k->policy = policy;
    k->planned = planned && g->mode == FT_MODE_INFERENCE;
    if (!st)
        ft__network_spec(k->lowered, k->spec, sizeof(k->spec));
    return st;
}

/* ---- sums of what the store knows of its operations ---- */

static int keep_newest(void *user, const ft_row *row)
{
    ft_row *newest = user;

    if (!newest->id || row->taken_at >= newest->taken_at)
        *newest = *row;
    return 0;
}

/* The newest row for `spec` and `metric` in the dataset; row->id 0: none. Strings of
 * the row's key are gone. */
static ft_status newest_row(ft_row *row, struct validation *k, const char *spec,
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
    uint32_t n;
    uint32_t missing;
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
    struct sum time;
    struct sum energy;
    double workspace; /* the largest */
};

static ft_status price_op(ft_validated *out, struct validation *k, uint32_t i,
                          struct price_sums *s, ft_error *err)
{
    const ft_op *op = &k->lowered->op[i];
    uint64_t count = k->lowered->op_count[i];
    ft_row time, energy, workspace;
    char spec[2048];
    ft_status st;

    out->n_ops++;
    ft_op_print(op, spec, sizeof(spec));
    st = newest_row(&time, k, spec, "time", err);
    if (!st)
        st = newest_row(&energy, k, spec, "energy", err);
    if (!st)
        st = newest_row(&workspace, k, spec, "workspace", err);
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
    out->sum[FT_QUANTITY_ENERGY] = figure_unknown(why);
}

/* ---- memory: weights, tensors as they are placed, the largest workspace, and
 * what engine and process need besides ---- */

static ft_status tensors(double *bytes, const struct validation *k, ft_error *err)
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

static ft_status sum_memory(ft_validated *out, struct validation *k, double workspace,
                            ft_error *err)
{
    ft_row context, each;
    double bytes = 0;
    ft_status st = tensors(&bytes, k, err);

    if (!st)
        st = newest_row(&context, k, "", "context", err);
    if (!st)
        st = newest_row(&each, k, "", "context_per_operation", err);
    if (st)
        return st;
    if (!context.id) {
        out->sum[FT_QUANTITY_MEMORY] =
            figure_unknown("the engine's own memory was not measured");
        return FT_OK;
    }
    bytes += workspace + context.m.value + (each.id ? each.m.value : 0) * out->n_ops;
    out->sum[FT_QUANTITY_MEMORY] = (ft_figure){.value = bytes, .sigma = NAN};
    return FT_OK;
}

static ft_status sum_all(ft_validated *out, struct validation *k, ft_error *err)
{
    uint32_t n = k->lowered->n_ops;
    struct price_sums s = {0};
    ft_status st = FT_OK;

    out->kind = calloc(n + 1u, sizeof(*out->kind));
    out->unpriced = calloc(n + 1u, sizeof(*out->unpriced));
    if (!out->kind || !out->unpriced)
        return ft_fail(err, FT_ENOMEM, 0, "sums");
    for (uint32_t i = 0; i < n && !st; i++)
        if (takes_part(&k->lowered->op[i]))
            st = price_op(out, k, i, &s, err);
    if (st)
        return st;
    out->n_priced = s.time.n;
    finish(&out->sum[FT_QUANTITY_TIME], &s.time, out->shared);
    if (!s.time.n && out->n_ops)
        out->sum[FT_QUANTITY_TIME] = figure_unknown("no operation was measured");
    finish_energy(out, &s.energy);
    qsort(out->kind, out->n_kinds, sizeof(*out->kind), by_time);
    qsort(out->unpriced, out->n_unpriced, sizeof(*out->unpriced), by_count);
    return sum_memory(out, k, s.workspace, err);
}

/* ---- prediction ---- */

static void take_estimate(ft_figure *f, const ft_estimate *e)
{
    *f = (ft_figure){.value = e->value, .sigma = (e->high - e->low) / (2 * FT__Z90)};
    if (e->basis == FT_BASIS_UNAVAILABLE)
        *f = figure_unknown(e->why);
}

static void nothing_predicted(ft_validated *out, const char *why)
{
    for (int q = 0; q < FT_QUANTITY_COUNT; q++)
        out->predicted[q] = figure_unknown(why);
}

/* loaded: NULL, or the predictor to ask. */
static ft_status ask(ft_validated *out, struct validation *k,
                     const ft_predictor *loaded, ft_error *err)
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
            figure_unknown("no power was measured for this predictor");
    ft_answer_free(a);
    return FT_OK;
}

/* A predictor that has never seen this network's operations. */
static ft_status predict_without(ft_validated *out, struct validation *k, ft_error *err)
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

static ft_status predict(ft_validated *out, struct validation *k, ft_error *err)
{
    if (k->opt->forget)
        return predict_without(out, k, err);
    if (k->opt->query)
        return ask(out, k, NULL, err);
    nothing_predicted(out, "no predictor for this engine and these threads");
    return FT_OK;
}

/* Sums over operations, what they lack, kinds, prediction: all of `out` that comes
 * from the store. shared: as ft_validated.shared. */
static ft_status price(ft_validated *out, struct validation *k, double shared,
                       ft_error *err)
{
    ft_status st;

    out->shared = shared;
    st = sum_all(out, k, err);
    return st ? st : predict(out, k, err);
}

/* ---- measuring ---- */

static const double default_time_s = 2;
static const double default_op_time_s = 0.1;
static const uint32_t default_rounds = 4;

struct live {
    struct validation k;
    ft_session *session;
    ft_validated *out;
    ft_op *op; /* to be measured */
    uint64_t *count;
    size_t n;
    ft_network_timing memory; /* of the first round, figures only */
    char no_network[200];     /* why the network does not run; "" */
    char no_energy[200];
    int64_t run;
    double begin_s;
};

/* Operations to measure: those the store lacks, or all. */
static ft_status find_wanted(struct live *l, ft_error *err)
{
    const ft_graph *g = l->k.lowered;
    ft_status st = FT_OK;

    l->op = calloc(g->n_ops + 1u, sizeof(*l->op));
    l->count = calloc(g->n_ops + 1u, sizeof(*l->count));
    if (!l->op || !l->count)
        return ft_fail(err, FT_ENOMEM, 0, "operations");
    for (uint32_t i = 0; i < g->n_ops && !st; i++) {
        const ft_op *op = &g->op[i];
        char spec[2048];
        ft_row row = {0}, energy = {0};

        if (!takes_part(op) || op->kind == FT_KIND_generic)
            continue;
        ft_op_print(op, spec, sizeof(spec));
        if (!l->k.opt->again)
            st = newest_row(&row, &l->k, spec, "time", err);
        if (!st && l->k.opt->meter)
            st = newest_row(&energy, &l->k, spec, "energy", err);
        if (row.id && (energy.id || !l->k.opt->meter))
            continue;
        l->op[l->n] = *op;
        l->count[l->n++] = g->op_count[i];
    }
    return st;
}

/* Every rounds-th operation, so that each part is a mixture. */
static ft_status measure_part(struct live *l, uint32_t round, uint32_t rounds,
                              ft_error *err)
{
    ft_collect_options how = {.op_time_s = l->k.opt->op_time_s > 0 ? l->k.opt->op_time_s
                                                                   : default_op_time_s,
                              /* What is here has no energy yet. */
                              .again = l->k.opt->again || l->k.opt->meter,
                              .repeat_share = -1,
                              .monitor = l->k.opt->monitor,
                              .meter = l->k.opt->meter,
                              .power_share = 1,
                              .power_time_s = l->k.opt->power_time_s,
                              .command = l->k.opt->command,
                              .log = l->k.opt->log};
    ft_op *op = calloc(l->n + 1, sizeof(*op));
    uint64_t *count = calloc(l->n + 1, sizeof(*count));
    ft_collect_report report;
    size_t n = 0;
    ft_status st;

    for (size_t i = round; op && count && i < l->n; i += rounds) {
        op[n] = l->op[i];
        count[n++] = l->count[i];
    }
    /* The first one looks at the machine, too. */
    st = !op || !count ? ft_fail(err, FT_ENOMEM, 0, "operations")
         : n || round == 0
             ? ft_collect(&report, l->session, l->k.store, op, count, n, &how, err)
             : FT_OK;
    free(op);
    free(count);
    return st;
}

static ft_status keep_readings(ft_validated *out, const ft_network_timing *t,
                               double begin_s, ft_error *err)
{
    ft_round *r = &out->round[out->n_rounds];
    uint32_t first = out->n_readings ? out->reading[out->n_readings - 1].round + 1 : 0;
    ft_reading *all =
        realloc(out->reading, (out->n_readings + t->n_readings + 1) * sizeof(*all));

    if (!all)
        return ft_fail(err, FT_ENOMEM, 0, "readings");
    out->reading = all;
    *r = (ft_round){.begin_s = begin_s,
                    .time_s = t->time.value,
                    .first = out->n_readings,
                    .n = t->n_readings};
    for (size_t i = 0; i < t->n_readings; i++) {
        all[out->n_readings] = t->readings[i];
        all[out->n_readings].round += first;
        all[out->n_readings++].start_s += begin_s;
    }
    out->n_rounds++;
    return FT_OK;
}

/* As the engine runs it: its own way where it takes the file, else in order. */
static ft_status run_whole(ft_network_timing *t, const struct live *l,
                           const ft_measure_options *how, ft_error *err)
{
    const char *path = l->k.opt->path;

    if (path && l->k.graph->mode == FT_MODE_INFERENCE &&
        ft_session_runs_whole(l->session, path))
        return ft_measure_model(t, l->session, path, l->k.graph, how, err);
    return ft_measure_network(t, l->session, l->k.graph, how, err);
}

static const char *phase_of(const struct live *l)
{
    return ft_phase_name(l->k.graph->mode == FT_MODE_TRAINING ? FT_PHASE_STEP
                                                              : FT_PHASE_FORWARD);
}

static ft_status put(struct live *l, const char *metric, const ft_measurement *m,
                     const ft_reading *r, size_t n, ft_error *err)
{
    ft_key key = l->k.base;

    key.spec = l->k.spec;
    key.metric = metric;
    key.phase = phase_of(l);
    return ft__store_put(l->k.store, l->run, &key, m, r, n, err);
}

/* The sum of the meter's domains, and what was read of each. */
static ft_status put_energies(struct live *l, const ft_network_timing *t, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < t->n_energy && !st; i++) {
        const ft_energy *e = &t->energy[i];
        char power[160] = "power", energy[160] = "energy";

        if (i) {
            snprintf(power, sizeof(power), "power:%.140s", e->domain);
            snprintf(energy, sizeof(energy), "energy:%.140s", e->domain);
        }
        if (!i)
            snprintf(l->no_energy, sizeof(l->no_energy), "%s", e->reason);
        if (isnan(e->energy.value))
            continue;
        st = put(l, power, &e->power, e->readings, e->n_readings, err);
        if (!st)
            st = put(l, energy, &e->energy, NULL, 0, err);
    }
    return st;
}

/* An engine that runs operations may still not run their network. */
static ft_status refuse(struct live *l, ft_status st, const ft_error *why,
                        ft_error *err)
{
    if (st == FT_EUNSUPPORTED || st == FT_EBACKEND) {
        snprintf(l->no_network, sizeof(l->no_network), "%.199s", why->msg);
        return FT_OK;
    }
    if (err)
        *err = *why;
    return st;
}

static ft_status measure_whole(struct live *l, uint32_t rounds, bool last,
                               ft_error *err)
{
    double time_s = l->k.opt->time_s > 0 ? l->k.opt->time_s : default_time_s;
    ft_measure_options how = {.min_time_s = time_s / rounds,
                              .rounds = 1,
                              .monitor = l->k.opt->monitor,
                              .meter = last ? l->k.opt->meter : NULL,
                              .power_time_s = l->k.opt->power_time_s};
    ft_network_timing t;
    ft_error why = {0};
    double begin_s;
    ft_status st;

    /* What was freed before would hide what the network takes. */
    ft__memory_trim(false);
    begin_s = ft__clock_now(ft__session_clock(l->session)) - l->begin_s;
    st = run_whole(&t, l, &how, &why);
    if (st)
        return refuse(l, st, &why, err);
    if (!l->out->n_rounds)
        l->memory = t;
    l->memory.readings = NULL;
    st = keep_readings(l->out, &t, begin_s, err);
    if (!st)
        st = put_energies(l, &t, err);
    ft_network_timing_free(&t);
    return st;
}

static ft_status measure_round(struct live *l, uint32_t round, uint32_t rounds,
                               ft_error *err)
{
    ft_status st = measure_part(l, round, rounds, err);

    return st || *l->no_network ? st
                                : measure_whole(l, rounds, round + 1 == rounds, err);
}

/* ---- what came of it ---- */

/* Relative scatter of the rounds; NaN with one. */
static double scatter(const ft_validated *v)
{
    double *t = calloc(v->n_rounds + 1, sizeof(*t)), s = NAN;

    for (size_t i = 0; t && i < v->n_rounds; i++)
        t[i] = v->round[i].time_s;
    if (t && v->n_rounds > 1)
        s = ft__std(t, v->n_rounds) / ft__mean(t, v->n_rounds);
    free(t);
    return s;
}

/* What running the network added to this process, and what the engine takes in a
 * process of its own. */
static ft_status put_memory(struct live *l, ft_error *err)
{
    ft_measurement m = {.unit = "B", .n = 1, .iterations = 1};
    uint64_t before = l->memory.context_bytes, peak = l->memory.peak_process_bytes;
    ft_row context;
    ft_status st = newest_row(&context, &l->k, "", "context", err);

    if (st || !context.id || peak <= before)
        return st;
    m.value = m.mean = (double)(peak - before) + context.m.value;
    m.error = m.mad = m.std = NAN;
    return put(l, "memory", &m, NULL, 0, err);
}

/* What it consists of, as the engine runs it: schedules are fitted to that. */
static ft_status put_members(struct live *l, ft_error *err)
{
    const ft_graph *g = l->k.lowered;
    ft_status st = ft__store_begin(l->k.store, err);

    if (st)
        return st;
    for (uint32_t i = 0; i < g->n_ops && !st; i++) {
        char spec[2048];
        const ft_member m = {.source = l->k.base.engine,
                             .whole = l->k.spec,
                             .phase = phase_of(l),
                             .part = spec,
                             .count = (double)g->op_count[i]};

        ft_op_print(&g->op[i], spec, sizeof(spec));
        if (takes_part(&g->op[i]))
            st = ft__store_add_member(l->k.store, &m, err);
    }
    return ft__store_end(l->k.store, st, err);
}

static ft_status put_network(struct live *l, ft_error *err)
{
    ft_validated *v = l->out;
    ft_measurement m;
    ft_status st = ft__measurement_of_times(&m, v->reading, v->n_readings, err);

    if (!st)
        st = put_members(l, err);
    if (!st)
        st = put(l, "time", &m, v->reading, v->n_readings, err);
    return st ? st : put_memory(l, err);
}

/* The engine says why it does not run an operation; prepared once more for that. */
static void explain(ft_validated *v, ft_session *s)
{
    for (size_t i = 0; i < v->n_unpriced; i++) {
        ft__op_job *j = NULL;
        ft_error why = {0};

        if (v->unpriced[i].op.kind == FT_KIND_generic)
            continue;
        if (ft__op_job_make(&j, s, &v->unpriced[i].op, 1, &why))
            snprintf(v->unpriced[i].why, sizeof(v->unpriced[i].why), "%.199s", why.msg);
        ft__op_job_free(j);
    }
}

static ft_status run_live(struct live *l, ft_error *err)
{
    const ft_validate_options *opt = l->k.opt;
    uint32_t rounds = opt->rounds ? opt->rounds : default_rounds;
    ft_status st = find_wanted(l, err);

    l->out->round = calloc(rounds, sizeof(*l->out->round));
    if (!st && !l->out->round)
        st = ft_fail(err, FT_ENOMEM, 0, "rounds");
    if (!st)
        st = ft__store_begin_run(l->k.store, &l->run, opt->command ? opt->command : "",
                                 "{}", err);
    for (uint32_t r = 0; r < rounds && !st; r++)
        st = measure_round(l, r, rounds, err);
    if (!st && l->out->n_rounds)
        st = put_network(l, err);
    return st;
}

ft_status ft_validate_network(ft_validated *out, ft_session *s, ft_store *store,
                              const ft_graph *g, const ft_validate_options *opt,
                              ft_error *err)
{
    struct live l = {
        .session = s, .out = out, .begin_s = ft__clock_now(ft__session_clock(s))};
    ft_status st;

    *out = (ft_validated){0};
    l.k = (struct validation){.store = store, .opt = opt, .base = ft__session_key(s)};
    st = lower(&l.k, g, ft_session_get(s)->policy, !s->engine->values, err);
    if (!st) {
        describe(out, &l.k);
        st = run_live(&l, err);
    }
    if (!st)
        st = network_rows(out, &l.k, err);
    if (!st)
        st = price(out, &l.k, scatter(out), err);
    if (!st && *l.no_energy && isnan(out->measured[FT_QUANTITY_ENERGY].value))
        out->measured[FT_QUANTITY_ENERGY] = figure_unknown(l.no_energy);
    for (int q = 0; !st && *l.no_network && q < FT_QUANTITY_COUNT; q++)
        if (isnan(out->measured[q].value))
            out->measured[q] = figure_unknown(l.no_network);
    if (!st)
        explain(out, s);
    else
        ft_validated_free(out);
    ft_graph_free(l.k.lowered);
    free(l.op);
    free(l.count);
    return st;
}

/* ---- from the store alone ---- */

/* A dataset in which the network was measured, and how its engine lowers. */
struct dataset {
    char device[128];
    char setting[64];
    char engine[32];
    char engine_version[32];
    uint32_t policy;
};

struct datasets {
    struct dataset *d;
    size_t n;
    const char *spec;
    uint32_t policy;
    bool no_memory;
};

static int keep_dataset(void *user, const ft_row *row)
{
    struct datasets *all = user;
    struct dataset d = {.policy = all->policy}, *grown;

    if (strncmp(row->key.spec, all->spec, ID_LENGTH) != 0)
        return 0;
    snprintf(d.device, sizeof(d.device), "%s", row->key.device);
    snprintf(d.setting, sizeof(d.setting), "%s", row->key.setting);
    snprintf(d.engine, sizeof(d.engine), "%s", row->key.engine);
    snprintf(d.engine_version, sizeof(d.engine_version), "%s", row->key.engine_version);
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->d[i].device, d.device) == 0 &&
            strcmp(all->d[i].setting, d.setting) == 0 &&
            strcmp(all->d[i].engine, d.engine) == 0 &&
            strcmp(all->d[i].engine_version, d.engine_version) == 0)
            return 0;
    grown = realloc(all->d, (all->n + 1) * sizeof(*grown));
    all->no_memory = !grown;
    if (grown) {
        all->d = grown;
        all->d[all->n++] = d;
    }
    return !grown;
}

/* The id is that of the lowered graph, so that it shows how the engine lowers. */
static const uint32_t policies[] = {0, FT_POLICY_CHANNELS_LAST,
                                    FT_POLICY_STRIDED_VIEWS};

static ft_status find_datasets(struct datasets *all, ft_store *store,
                               const ft_key *filter, const ft_graph *g, ft_error *err)
{
    ft_key key = *filter;
    char before[300] = "";
    ft_status st = FT_OK;

    key.metric = "time";
    for (size_t i = 0; i < sizeof(policies) / sizeof(*policies) && !st; i++) {
        struct validation k = {0};

        st = lower(&k, g, policies[i], true, err);
        all->spec = k.spec;
        all->policy = policies[i];
        if (!st && strcmp(before, k.spec) != 0)
            st = ft_store_each(store, &key, 1, keep_dataset, all, err);
        snprintf(before, sizeof(before), "%s", k.spec);
        ft_graph_free(k.lowered);
        all->spec = NULL; /* it was k's */
    }
    if (!st && all->no_memory)
        st = ft_fail(err, FT_ENOMEM, 0, "datasets");
    if (!st && !all->n)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "%s was not measured whole in any dataset that fits; foretell "
                     "validate without --from-store measures it",
                     g->name);
    return st;
}

static ft_status look_up(ft_validated *out, const struct dataset *d, ft_store *store,
                         const ft_graph *g, const ft_validate_options *opt,
                         ft_error *err)
{
    struct validation k = {.store = store,
                           .opt = opt,
                           .stored = true,
                           .base = {.device = d->device,
                                    .setting = d->setting,
                                    .engine = d->engine,
                                    .engine_version = d->engine_version}};
    ft_status st = lower(&k, g, d->policy, !(d->policy & FT_POLICY_STRIDED_VIEWS), err);

    describe(out, &k);
    if (!st)
        st = network_rows(out, &k, err);
    if (!st)
        st = price(out, &k, NAN, err);
    ft_graph_free(k.lowered);
    return st;
}

ft_status ft_validate_stored(ft_validated **out, size_t *n, ft_store *store,
                             const ft_key *filter, const ft_graph *g,
                             const ft_validate_options *opt, ft_error *err)
{
    struct datasets all = {0};
    ft_status st = find_datasets(&all, store, filter, g, err);

    *n = 0;
    *out = st ? NULL : calloc(all.n, sizeof(**out));
    if (!st && !*out)
        st = ft_fail(err, FT_ENOMEM, 0, "datasets");
    for (size_t i = 0; i < all.n && !st; i++) {
        st = look_up(&(*out)[i], &all.d[i], store, g, opt, err);
        *n = i + 1;
    }
    if (st && *out) {
        while (*n)
            ft_validated_free(&(*out)[--*n]);
        free(*out);
        *out = NULL;
    }
    free(all.d);
    return st;
}
