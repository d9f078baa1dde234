/* The answer: what was found out, in one piece of memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/names.h"
#include "graph/op.h"
#include "query/answer_inside.h"

enum { SPEC_MAX = 2048 };

static const char *good(struct answer *x, const char *s)
{
    x->bad = x->bad || !s;
    return s ? s : "";
}

const char *ft__answer_vtext(struct answer *x, const char *fmt, va_list ap)
{
    return good(x, ft__arena_vfmt(&x->arena, fmt, ap));
}

const char *ft__answer_text(struct answer *x, const char *fmt, ...)
{
    va_list ap;
    const char *s;

    va_start(ap, fmt);
    s = ft__answer_vtext(x, fmt, ap);
    va_end(ap);
    return s;
}

static const char *copied(struct answer *x, const char *s)
{
    return good(x, ft__arena_strndup(&x->arena, s, strlen(s)));
}

void *ft__answer_piece(struct answer *x, size_t n, size_t size)
{
    void *p = ft__arena_array(&x->arena, n + 1, size);

    x->bad = x->bad || !p;
    return p;
}

static ft_estimate kept(struct answer *x, ft_estimate e)
{
    e.why = e.why && *e.why ? copied(x, e.why) : "";
    return e;
}

/* Our engines plan the memory of a forward pass ahead; nothing else is run by them. */
static bool is_planned(const ft_answer *a)
{
    return a->by == FT_ANSWERED_BY_DEVICE && a->graph->mode == FT_MODE_INFERENCE;
}

const char *ft__answer_spec(struct answer *x, const ft_op *op)
{
    char spec[SPEC_MAX];

    ft_op_print(op, spec, sizeof(spec));
    return copied(x, spec);
}

/* Stable insertion sort: a network has a few hundred unique operations. */
static void put_heaviest(struct answer *x)
{
    const uint32_t n = x->a.n_ops;
    const ft_answer_op **order = ft__answer_piece(x, n, sizeof(*order));

    for (uint32_t i = 0; order && i < n; i++) {
        uint32_t j = i;

        for (; j > 0 && order[j - 1]->total_s < x->a.op[i]->total_s; j--)
            order[j] = order[j - 1];
        order[j] = x->a.op[i];
    }
    x->a.heaviest = order;
}

static void put_ops(struct answer *x, const ft__network_estimate *e)
{
    const ft_graph *g = x->a.graph;
    ft_answer_op *row = ft__answer_piece(x, e->n_ops, sizeof(*row));
    const ft_answer_op **list = ft__answer_piece(x, e->n_ops, sizeof(*list));

    x->network_w = ft__answer_piece(x, e->n_ops, sizeof(*x->network_w));
    if (!row || !list || !x->network_w)
        return;
    memcpy(x->network_w, e->op_network_w, e->n_ops * sizeof(*x->network_w));
    for (uint32_t i = 0; i < e->n_ops; i++) {
        const uint64_t count = g->op_count[i];
        const double total_s = e->op_device[i].value * (double)count;

        row[i] = (ft_answer_op){.spec = ft__answer_spec(x, &g->op[i]),
                                .name = "",
                                .op = &g->op[i],
                                .count = count,
                                .total_s = total_s,
                                .share = total_s / e->time.value,
                                .time = kept(x, e->op_time[i]),
                                .device_time = kept(x, e->op_device[i]),
                                .power = kept(x, e->op_power[i]),
                                .energy = kept(x, e->op_energy[i])};
        list[i] = &row[i];
    }
    for (uint32_t i = g->n_nodes; i-- > 0;)
        row[g->node[i].op].name = g->node[i].name;
    for (uint32_t i = 0; i < e->n_ops; i++)
        if (*row[i].name && ft__op_is_workload(row[i].op))
            row[i].spec = row[i].name;
    x->a.n_ops = e->n_ops;
    x->a.op = list;
    put_heaviest(x);
}

static void put_unmodelled(struct answer *x)
{
    const ft_graph *g = x->a.graph;
    const char **list = ft__answer_piece(x, g->n_bounded, sizeof(*list));

    for (uint32_t i = 0; list && i < g->n_bounded; i++)
        list[x->a.n_unmodelled++] = g->bounded[i];
    x->a.unmodelled = list;
}

static void put_selection(struct answer *x, const ft__question *q)
{
    const ft__selection *s = &q->s;
    const bool by_facts = s->by == FT_ANSWERED_BY_SPECIFICATION;
    ft_answer *a = &x->a;

    a->flops = NAN;
    a->model = a->mode = a->step = a->dtype = a->run_mode = a->host = "";
    a->verify = a->unverified = "";
    a->device = copied(x, s->device);
    a->title = copied(x, s->title);
    a->setting = copied(x, s->setting);
    a->engine = s->by == FT_ANSWERED_BY_DEVICE
                    ? ft__answer_text(x, "%s %s", s->engine, s->engine_version)
                    : "";
    a->by = s->by;
    a->predictor = copied(x, s->predictor);
    a->method = !by_facts                                  ? "learned"
                : s->source.model == FT__ANALYTIC_PHYSICS  ? "physics"
                : s->source.model == FT__ANALYTIC_ROOFLINE ? "roofline"
                                                           : "paleo";
    a->among = s->among;
    a->lower_bound = by_facts && s->source.model == FT__ANALYTIC_ROOFLINE;
    a->limit_bytes = s->limit_bytes;
    a->max_batch = q->max_batch;
}

static void put_network(struct answer *x, const ft__question *q)
{
    ft_answer *a = &x->a;
    a->model = a->graph->name;
    a->mode = ft_name(FT_NAMES_MODE, a->graph->mode);
    a->step = ft_step_name(&q->step, a->graph);
    a->batch = q->graph->batch;
    a->memory_planned = is_planned(a);
    if (q->many.n)
        return;
    a->run_mode = ft__run_mode_name(q->e.run_mode);
    a->host = q->e.run_mode & FT__RUN_REPLAYED || isnan(q->e.host_s)
                  ? ""
                  : copied(x, q->s.host);
}

/* Of a device, by who makes it; NULL: none inside. */
static const char *sensor_of(const ft_device_facts *d)
{
    const bool gpu = strcmp(d->type, "gpu") == 0;

    if (strncmp(d->name, "jetson-", 7) == 0)
        return "hwmon (INA3221)";
    if (gpu && strcmp(d->vendor, "NVIDIA") == 0)
        return "nvml, its driver's library,";
    if (gpu && strcmp(d->vendor, "AMD") == 0)
        return "its driver's power sensor";
    return strcmp(d->vendor, "Intel") == 0 || strcmp(d->vendor, "AMD") == 0
               ? "powercap (RAPL)"
               : NULL;
}

/* Why there is no energy, and the sensor, host and command that would give it. */
static const char *no_energy(struct answer *x, const ft__question *q, const char *why)
{
    const ft__selection *s = &q->s;
    const ft_device *device = s->source.on.device;
    const ft_device_facts *d = device ? ft_device_get(device) : NULL;
    const bool local = strcmp(s->device, "local") == 0;
    const char *sensor = local || !d ? "a sensor" : sensor_of(d);
    const bool named = strcmp(s->run_by, FT_DEFAULT_ENGINE) != 0;

    if (local && q->no_sensors && *q->no_sensors)
        why = q->no_sensors;
    if (s->by == FT_ANSWERED_BY_SPECIFICATION &&
        s->source.model != FT__ANALYTIC_PHYSICS && d && strcmp(d->type, "gpu") == 0 &&
        d->tdp_w > 0)
        return ft__answer_text(x, "%s; --method physics estimates them", why);
    if (!*s->run_by)
        return ft__answer_text(
            x,
            "%s; no engine of foretell measures there: foretell data import of "
            "others' measurements (docs/data.md), then foretell train --family",
            why);
    return ft__answer_text(
        x,
        "%s; measured where %s can be read (%s): foretell collect%s%s --power "
        "%s, then foretell train%s%.*s",
        why, sensor ? sensor : "a power meter",
        local ? "foretell doctor shows which" : "on a host that has this device",
        named ? " --engine " : "", named ? s->run_by : "",
        sensor ? "all" : "\"command:PROGRAM\"",
        !named  ? ""
        : local ? " --engine "
                : " --family",
        local && named ? (int)strcspn(s->run_by, ",") : 0, s->run_by);
}

static void put_estimates(struct answer *x, const ft__question *q)
{
    const ft__network_estimate *e = &q->e;
    ft_estimate *phase = ft__answer_piece(x, FT_PHASE_COUNT, sizeof(*phase));
    double *part = ft__answer_piece(x, FT_PART_COUNT, sizeof(*part));
    ft_answer *a = &x->a;

    a->time = kept(x, e->time);
    a->energy = kept(x, e->energy);
    a->power = kept(x, e->power);
    a->memory = kept(x, e->memory);
    if (e->energy.basis == FT_BASIS_UNAVAILABLE)
        a->energy.why = no_energy(x, q, e->energy.why);
    if (e->power.basis == FT_BASIS_UNAVAILABLE && *a->energy.why)
        a->power.why = a->energy.why;
    for (int p = 0; phase && p < FT_PHASE_COUNT; p++)
        phase[p] = kept(x, e->phase_time[p]);
    if (part)
        memcpy(part, e->part_bytes, sizeof(e->part_bytes));
    a->phase_time = phase;
    a->part_bytes = part;
    a->context_bytes = e->context_bytes;
    a->two_largest_bytes = e->two_largest_bytes;
    a->twice_mean_bytes = e->twice_mean_bytes;
    a->memory_policy = e->memory_policy;
    a->host_s = e->host_s;
    a->busy_s = e->busy_s;
    a->n_measured = e->n_measured;
    a->n_learned = e->n_learned;
    a->n_scaled = e->n_scaled;
    a->n_roofline = e->n_roofline;
    a->n_known = e->n_known;
    a->n_networks = e->n_networks;
}

static void put_work(struct answer *x, const ft__question *q)
{
    ft_totals t = x->asked;

    if (x->a.graph != q->graph)
        ft_graph_totals(x->a.graph, &t);
    x->a.flops = t.flops;
    x->a.dtype = q->q.dtype && strncmp(q->q.dtype, "amp-", 4) == 0
                     ? copied(x, q->q.dtype)
                     : ft_dtype_name(x->asked.dtype);
}

static void put_answer(struct answer *x, const ft__question *q)
{
    ft_graph_totals(q->graph, &x->asked);
    put_estimates(x, q);
    ft__answer_put_warnings(x, q);
    x->a.n_ops = q->e.n_ops;
    if (!q->q.totals)
        put_work(x, q);
    ft__answer_put_assumptions(x, q);
    if (q->q.totals)
        return;
    put_ops(x, &q->e);
    put_unmodelled(x);
    ft__answer_put_verify(x, q);
}

/* Of many settings or lists there are values alone. */
static void put_each(struct answer *x, const ft__many_asked *m)
{
    const ft_estimate none = {NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, "asked of many"};
    ft_estimate *phase = ft__answer_piece(x, FT_PHASE_COUNT, sizeof(*phase));
    ft_brief *each = ft__answer_piece(x, m->n, sizeof(*each));
    ft_answer *a = &x->a;

    a->time = a->energy = a->power = a->memory = none;
    a->part_bytes = ft__answer_piece(x, FT_PART_COUNT, sizeof(*a->part_bytes));
    a->phase_time = phase;
    for (int p = 0; phase && p < FT_PHASE_COUNT; p++)
        phase[p] = none;
    if (!each)
        return;
    memcpy(each, m->each, m->n * sizeof(*each));
    for (size_t i = 0; i < m->n; i++)
        if (m->why[i])
            each[i].why = copied(x, m->why[i]);
    a->each = each;
    a->n_each = m->n;
}

ft_status ft__answer_make(ft_answer **out, ft__question *q, ft_error *err)
{
    struct answer *x = calloc(1, sizeof(*x));

    *out = NULL;
    if (!x)
        return ft_fail(err, FT_ENOMEM, 0, "answer");
    x->a.graph = q->lowered ? q->lowered : q->graph;
    put_selection(x, q);
    if (x->a.graph)
        put_network(x, q);
    if (q->many.n)
        put_each(x, &q->many);
    else
        put_answer(x, q);
    if (x->bad) {
        ft_answer_free(&x->a);
        return ft_fail(err, FT_ENOMEM, 0, "answer");
    }
    x->a.half = q->half;
    x->imported = q->imported;
    x->lowered = q->lowered;
    q->imported = q->lowered = NULL;
    *out = &x->a;
    return FT_OK;
}

const double *ft__answer_network_w(const ft_answer *a)
{
    return ((const struct answer *)a)->network_w;
}

void ft_answer_free(ft_answer *a)
{
    struct answer *x = (struct answer *)a;

    if (!x)
        return;
    ft_graph_free(x->imported);
    ft_graph_free(x->lowered);
    ft__arena_free(&x->arena);
    free(x);
}
