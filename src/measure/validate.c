/* One network measured in turns with its operations. */
#include "measure/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/stats.h"
#include "foretell/names.h"
#include "measure/measure_inside.h"
#include "measure/op_job.h"
#include "store/store.h"
#include "store/store_inside.h"

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

        if (!ft__validation_counts(op) || op->kind == FT_KIND_generic)
            continue;
        ft_op_print(op, spec, sizeof(spec));
        if (!l->k.opt->again)
            st = ft__validation_newest(&row, &l->k, spec, "time", err);
        if (!st && l->k.opt->meter)
            st = ft__validation_newest(&energy, &l->k, spec, "energy", err);
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
    return ft_name(FT_NAMES_PHASE, l->k.graph->mode == FT_MODE_TRAINING
                                       ? FT_PHASE_STEP
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
    ft_status st = ft__validation_newest(&context, &l->k, "", "context", err);

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
        if (ft__validation_counts(&g->op[i]))
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
    l.k = (ft__validation){.store = store, .opt = opt, .base = ft__session_key(s)};
    st = ft__validation_lower(&l.k, g, ft_session_get(s)->policy, !s->engine->values,
                              err);
    if (!st) {
        ft__validation_describe(out, &l.k);
        st = run_live(&l, err);
    }
    if (!st)
        st = ft__validation_measured(out, &l.k, err);
    if (!st)
        st = ft__validation_price(out, &l.k, scatter(out), err);
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
