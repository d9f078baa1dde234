/* One network beside the sum of its operations: measured in turns with them, or looked
 * up in a store, in all datasets in which it was measured whole. */
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

/* Sums do not depend on the order of operations. */
size_t ft__network_spec(const ft_graph *g, char *buf, size_t size)
{
    uint64_t id = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        if (ft__validate_runs(&g->op[i]))
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
        *f = ft__figure_unknown(why);
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

/* What was measured of the network itself. */
static ft_status network_rows(ft_validated *out, ft__validation *k, ft_error *err)
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

static void describe(ft_validated *out, const ft__validation *k)
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
static ft_status lower(ft__validation *k, const ft_graph *g, uint32_t policy,
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

/* ---- measuring ---- */

static const double default_time_s = 2;
static const double default_op_time_s = 0.1;
static const uint32_t default_rounds = 4;

struct live {
    ft__validation k;
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

        if (!ft__validate_runs(op) || op->kind == FT_KIND_generic)
            continue;
        ft_op_print(op, spec, sizeof(spec));
        if (!l->k.opt->again)
            st = ft__validate_row(&row, &l->k, spec, "time", err);
        if (!st && l->k.opt->meter)
            st = ft__validate_row(&energy, &l->k, spec, "energy", err);
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

static ft_status put(struct live *l, const char *metric, const ft_measurement *m,
                     const ft_reading *r, size_t n, ft_error *err)
{
    ft_key key = l->k.base;

    key.spec = l->k.spec;
    key.metric = metric;
    key.phase = l->k.graph->mode == FT_MODE_TRAINING ? "step" : "forward";
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
    ft_status st = ft__validate_row(&context, &l->k, "", "context", err);

    if (st || !context.id || peak <= before)
        return st;
    m.value = m.mean = (double)(peak - before) + context.m.value;
    m.error = m.mad = m.std = NAN;
    return put(l, "memory", &m, NULL, 0, err);
}

static ft_status put_network(struct live *l, ft_error *err)
{
    ft_validated *v = l->out;
    ft_measurement m;
    ft_status st = ft__measurement_of_times(&m, v->reading, v->n_readings, err);

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
    l.k = (ft__validation){.store = store, .opt = opt, .base = ft__session_key(s)};
    st = lower(&l.k, g, ft_session_get(s)->policy, !s->engine->values, err);
    if (!st) {
        describe(out, &l.k);
        st = run_live(&l, err);
    }
    if (!st)
        st = network_rows(out, &l.k, err);
    if (!st)
        st = ft__validate_price(out, &l.k, scatter(out), err);
    if (!st && *l.no_energy && isnan(out->measured[FT_QUANTITY_ENERGY].value))
        out->measured[FT_QUANTITY_ENERGY] = ft__figure_unknown(l.no_energy);
    for (int q = 0; !st && *l.no_network && q < FT_QUANTITY_COUNT; q++)
        if (isnan(out->measured[q].value))
            out->measured[q] = ft__figure_unknown(l.no_network);
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
        ft__validation k = {0};

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
    ft__validation k = {.store = store,
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
        st = ft__validate_price(out, &k, NAN, err);
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
