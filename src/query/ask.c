/* The question, asked: of one network; of one under many settings, or of many, with
 * what they have in common found once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "predict/query/op_query.h"
#include "query/answer.h"
#include "query/select.h"

/* By what was selected to answer; g is lowered as it wants it. */
static ft_status predict(ft__network_estimate *out, const ft__answer_source *s,
                         const ft_graph *g, ft_error *err)
{
    const ft_device_facts *facts = s->on.device ? ft_device_get(s->on.device) : NULL;

    switch (s->predictor ? FT__ANALYTIC_PHYSICS : s->model) {
    case FT__ANALYTIC_ROOFLINE: return ft__predict_network_roofline(out, facts, g, err);
    case FT__ANALYTIC_PALEO: return ft__predict_network_paleo(out, facts, g, err);
    case FT__ANALYTIC_PHYSICS: break;
    }
    return ft__predict_network(out, s->predictor, &s->on, g, err);
}

/* FT_POLICY_ bits: how graphs are lowered before it is asked. */
static uint32_t policy_of(const ft__answer_source *s)
{
    ft_predictor_info info = {.policy = FT_POLICY_STRIDED_VIEWS};

    if (s->predictor)
        ft_predictor_get_info(s->predictor, &info);
    if (s->channels_last && info.policy & FT_POLICY_STRIDED_VIEWS)
        info.policy |= FT_POLICY_CHANNELS_LAST;
    return info.policy;
}

static uint32_t bits_of(const char *run_mode)
{
    return run_mode ? ft__run_mode_find(run_mode, strlen(run_mode)) : FT__RUN_EAGER;
}

/* torch.compile replays CUDA graphs on copies of what it is given; who captures one by
 * hand, and engines that serve, have their inputs where the graph reads them. */
static bool copies_inputs(const ft__answer_source *s, const ft_graph *g)
{
    const uint32_t mode = bits_of(s->on.run_mode);
    const ft_device *device = s->on.device;

    return mode & FT__RUN_REPLAYED && mode != FT__RUN_REPLAYED && device &&
           strcmp(ft_device_get(device)->type, "gpu") == 0 &&
           g->mode == FT_MODE_INFERENCE && !ft__graph_writes_inputs(g);
}

/* torch.compile(backend="cudagraphs"), for which weights are inputs, too. */
static bool copies_weights(const char *run_mode, const ft_step *step)
{
    return bits_of(run_mode) & FT__RUN_COPIED &&
           !(step->given && step->mode == FT_MODE_TRAINING);
}

/* It replays nothing that writes what it was given: statistics of batch norms, a cache
 * of keys and values. torch.compile breaks its graph at recurrent layers
 * (allow_rnn=False), forward as in training: then all of the network is issued. Graphs
 * captured by hand replay all of these. */
static void issue_what_is_not_replayed(ft__question *a)
{
    const char **mode = &a->s.source.on.run_mode;
    const uint32_t bits = bits_of(*mode);
    const bool recurrent = ft__graph_is_recurrent(a->graph);

    if (recurrent && bits & FT__RUN_REPLAYED && bits & FT__RUN_FUSED)
        *mode = "compiled";
    else if (recurrent ? bits & FT__RUN_COPIED
                       : copies_weights(*mode, &a->step) &&
                             a->graph->mode == FT_MODE_INFERENCE &&
                             (ft__graph_keeps_statistics(a->graph) ||
                              ft__graph_writes_inputs(a->graph)))
        *mode = "eager";
}

/* --channels-last: does it say anything of this network, by what answers? */
static ft_status check_images(const ft__answer_source *s, const ft_graph *lowered,
                              ft_error *err)
{
    if (!(policy_of(s) & FT_POLICY_STRIDED_VIEWS))
        return ft_fail(err, FT_EINVAL, 0,
                       "--channels-last is of PyTorch: the predictor is of an engine "
                       "that lays images itself");
    for (uint32_t i = 0; i < lowered->n_ops; i++)
        if (lowered->op[i].layout == FT_LAYOUT_CHANNELS_LAST)
            return FT_OK;
    return ft_fail(err, FT_EINVAL, 0,
                   "--channels-last: no input of %s is of images with several "
                   "channels",
                   lowered->name);
}

/* g, or its training step, as it is run; NULL: it is g itself. */
static ft_status lower(ft_graph **out, const ft__answer_source *s, const ft_graph *g,
                       const ft_step *step, ft_error *err)
{
    ft_graph *made = NULL;
    ft_status st = FT_OK;

    *out = NULL;
    if (copies_inputs(s, g))
        st = ft__graph_copy_inputs(&made, g, copies_weights(s->on.run_mode, step), err);
    if (!st)
        st = ft_step_lower(out, made ? made : g, policy_of(s), step, err);
    if (st || *out)
        ft_graph_free(made);
    else
        *out = made;
    if (!st && s->channels_last)
        st = check_images(s, *out ? *out : g, err);
    if (st) {
        ft_graph_free(*out);
        *out = NULL;
    }
    return st;
}

/* Lowers g, or its training step, and predicts it. *lowered (or NULL): what was made,
 * the caller's; NULL where it is g itself. */
static ft_status predict_lowered(ft__network_estimate *out, ft_graph **lowered,
                                 const ft__answer_source *s, const ft_graph *g,
                                 const ft_step *step, ft_error *err)
{
    ft_graph *made;
    ft_status st = lower(&made, s, g, step, err);

    *out = (ft__network_estimate){0};
    if (!st)
        st = predict(out, s, made ? made : g, err);
    if (lowered)
        *lowered = st ? NULL : made;
    if (st || !lowered)
        ft_graph_free(made);
    return st;
}

/* Many settings, or lists: an answer each. */

static const ft_brief unknown = {NAN, NAN, NAN, NAN, FT_ENOTFOUND, ""};

static ft_status many_new(ft__many_asked *m, size_t n, ft_error *err)
{
    m->n = n;
    m->each = malloc((n + 1) * sizeof(*m->each));
    m->why = calloc(n + 1, sizeof(*m->why));
    for (size_t i = 0; m->each && i < n; i++)
        m->each[i] = unknown;
    return m->each && m->why ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu answers", n);
}

static void many_free(ft__many_asked *m)
{
    for (size_t i = 0; m->why && i < m->n; i++)
        free(m->why[i]);
    free(m->why);
    free(m->each);
}

static ft_status say_why(ft__many_asked *m, size_t i, const char *why, ft_error *err)
{
    m->why[i] = strdup(why);
    return m->why[i] ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%s", why);
}

static bool is_set(const char *setting)
{
    return setting && *setting;
}

/* Whatever the setting, it is the same. */
static ft_status ask_once(ft__many_asked *m, const ft__answer_source *from,
                          const ft_graph *g, ft_error *err)
{
    ft__network_estimate e;
    ft_status st = predict(&e, from, g, err);

    if (st)
        return st;
    for (size_t i = 0; i < m->n; i++)
        m->each[i] = (ft_brief){.time_s = e.time.value,
                                .energy_j = e.energy.value,
                                .power_w = e.power.value,
                                .memory_bytes = e.memory.value};
    ft__network_estimate_free(&e);
    return FT_OK;
}

/* Why setting i has no answer. */
static ft_status find_why(ft__question *a, size_t i, ft_error *err)
{
    ft__answer_source one = a->s.source;
    ft__network_estimate e;
    ft_error why = {0};

    one.on.setting = a->q.settings[i];
    if (predict(&e, &one, a->lowered ? a->lowered : a->graph, &why))
        return say_why(&a->many, i, why.msg, err);
    ft__network_estimate_free(&e);
    return FT_OK;
}

static ft_status mark_unknown(ft__question *a, ft_error *err)
{
    ft_status st = FT_OK;
    bool said = false;

    for (size_t i = 0; i < a->many.n && !st; i++) {
        ft_brief *b = &a->many.each[i];

        b->why = "";
        b->status = isnan(b->time_s) ? FT_ENOTFOUND : FT_OK;
        if (b->status && !said)
            st = find_why(a, i, err);
        said = said || b->status;
    }
    return st;
}

/* This machine answers as it was measured, whatever others are driven at. */
static ft_status drop_driven(ft__question *a, ft_error *err)
{
    bool said = false;
    ft_error why = {0};
    ft_status st = FT_OK;

    for (size_t i = 0; i < a->many.n && !st; i++) {
        if (!is_set(a->q.settings[i]))
            continue;
        a->many.each[i] = unknown;
        if (!said && ft__local_as_measured(&a->s, a->q.settings[i], &why))
            st = say_why(&a->many, i, why.msg, err);
        said = true;
    }
    return st;
}

static bool depends_on_setting(const ft__answer_source *from)
{
    return from->on.device && (from->predictor || from->model == FT__ANALYTIC_PHYSICS);
}

/* With one that is set the device's file is needed. */
static const char *first_set(const ft_query *q)
{
    size_t i = 0;

    while (i < q->n_settings && !is_set(q->settings[i]))
        i++;
    return i < q->n_settings ? q->settings[i] : "";
}

/* A language model in bf16 on a device that has units for fp16 alone, where no type is
 * asked for: in fp16, as servers compute it there (vLLM: "Falling back to
 * torch.float16"; before 0.9 it asks for --dtype float16), and people train it. */
static ft_status take_half(ft__question *a, ft_error *err)
{
    const ft_device *device = a->s.source.on.device;
    ft_graph *made;
    bool bf16 = false;
    ft_status st;

    for (uint32_t i = 0; a->graph->language_model && i < a->graph->n_tensors; i++)
        bf16 |= a->graph->tensor[i].dtype == FT_DTYPE_bf16;
    if (!bf16 || a->q.dtype || !device ||
        ft__device_has_units(ft_device_get(device), FT_DTYPE_bf16, false) ||
        !ft__device_has_units(ft_device_get(device), FT_DTYPE_fp16, false))
        return FT_OK;
    st = ft__graph_cast_from(&made, a->graph, FT_DTYPE_bf16, FT_DTYPE_fp16, err);
    if (st)
        return st;
    ft_graph_free(a->imported);
    a->graph = a->imported = made;
    a->half = true;
    return FT_OK;
}

static ft_status ask_settings(ft__question *a, ft_data *d, ft_error *err)
{
    const bool local = !a->q.device || strcmp(a->q.device, "local") == 0;
    const ft__answer_source *from = &a->s.source;
    const ft_graph *g;
    ft_status st;

    a->q.setting = local ? "" : first_set(&a->q);
    st = ft__select(&a->s, d, &a->q, a->graph, err);
    if (!st)
        st = take_half(a, err);
    issue_what_is_not_replayed(a);
    *a->s.setting = '\0';
    if (!st)
        st = many_new(&a->many, a->q.n_settings, err);
    if (!st)
        st = lower(&a->lowered, from, a->graph, &a->step, err);
    if (st)
        return st;
    g = a->lowered ? a->lowered : a->graph;
    st = depends_on_setting(from)
             ? ft__predict_network_many(a->many.each, from->predictor, &from->on,
                                        a->q.settings, a->q.n_settings, g, err)
             : ask_once(&a->many, from, g, err);
    if (st && st != FT_ENOTFOUND)
        return st;
    st = mark_unknown(a, err);
    return st || !local ? st : drop_driven(a, err);
}

/* What is remembered from question to question. */

/* What operations are remembered for, as text; false: they are not. */
static bool remembered_key(char key[FT__REMEMBERED_KEY], const ft__question *a)
{
    const ft__device_use *on = &a->s.source.on;
    int n = snprintf(key, FT__REMEMBERED_KEY, "%p\n%s\n%s\n%s\n%s\n%s\n%s\n%a",
                     (const void *)a->s.source.predictor, a->s.device,
                     on->setting ? on->setting : "", on->policy ? on->policy : "",
                     on->engine ? on->engine : "",
                     on->engine_version ? on->engine_version : "",
                     on->run_mode ? on->run_mode : "", on->launch_s);

    return n > 0 && n < FT__REMEMBERED_KEY && !a->q.loaded;
}

/* A new one where none is idle; NULL: nothing can be remembered. Whoever takes it has
 * it alone, and puts it back. */
static ft__remembered *take_idle(ft_data *d, const ft__question *a)
{
    char key[FT__REMEMBERED_KEY];
    ft__remembered *found, **at;

    if (!remembered_key(key, a))
        return NULL;
    pthread_mutex_lock(&d->lock);
    for (at = &d->idle; *at && strcmp((*at)->asked, key) != 0;)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&d->lock);
    if (!found && (found = calloc(1, sizeof(*found))))
        memcpy(found->asked, key, strlen(key) + 1);
    return found;
}

static void put_idle(ft_data *d, ft__remembered *r)
{
    ft__remembered *last = r, *dropped;

    if (!r)
        return;
    pthread_mutex_lock(&d->lock);
    r->next = d->idle;
    d->idle = r;
    for (int i = 1; i < FT__MOST_REMEMBERED && last->next; i++)
        last = last->next;
    dropped = last->next;
    last->next = NULL;
    pthread_mutex_unlock(&d->lock);
    ft__remembered_free(dropped);
}

/* The first that is a network: by it a family is chosen. */
static ft_status import_first(ft__question *a, ft_error *err)
{
    for (size_t i = 0; i < a->q.n_lists && !a->imported; i++)
        if (ft_import_ops(&a->imported, a->q.lists[i].text, a->q.lists[i].len, "list",
                          err) == FT_ENOMEM)
            return FT_ENOMEM;
    return FT_OK;
}

static ft_status price(ft__question *a, ft__op_costs *p, ft_error *err)
{
    const size_t n = a->q.n_lists;
    ft__listed *list = calloc(n + 1, sizeof(*list));
    ft_status st = list ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu lists", n);

    for (size_t i = 0; i < n && list; i++) {
        list[i].text = a->q.lists[i].text;
        list[i].len = a->q.lists[i].len;
    }
    if (!st)
        st = ft__op_costs_of_lists(p, list, n, err);
    for (size_t i = 0; i < n && !st; i++) {
        a->many.each[i] = list[i].brief;
        a->many.each[i].status = list[i].status;
        a->many.each[i].why = "";
        if (list[i].status)
            st = say_why(&a->many, i, list[i].why, err);
    }
    free(list);
    return st;
}

static ft_status ask_lists(ft__question *a, ft_data *d, ft_error *err)
{
    ft__remembered *r;
    ft__op_costs *p;
    ft_status st = FT_OK;

    if (a->q.method && strcmp(a->q.method, "physics") != 0)
        return ft_fail(err, FT_EINVAL, 0,
                       "many lists are answered by physics or a predictor of several "
                       "devices, not by --method %s",
                       a->q.method);
    if (!a->q.predictor && !a->q.loaded && !a->q.method)
        st = import_first(a, err);
    if (!st)
        st = ft__select(&a->s, d, &a->q, a->imported, err);
    if (!st && a->s.by == FT_ANSWERED_BY_DEVICE)
        st = ft_fail(
            err, FT_EINVAL, 0,
            "many lists are priced by a predictor for a family of devices, or by "
            "specifications; %s has neither",
            a->s.device);
    if (!st)
        st = many_new(&a->many, a->q.n_lists, err);
    if (st)
        return st;
    r = take_idle(d, a);
    p = r ? r->costs : NULL;
    if (p)
        ft__op_costs_reuse(p, &a->s.source.on);
    else
        st = ft__op_costs_new(&p, a->s.source.predictor, &a->s.source.on, err);
    if (!st)
        st = price(a, p, err);
    if (r)
        r->costs = st ? NULL : p;
    if (st || !r)
        ft__op_costs_free(p);
    put_idle(d, r);
    return st;
}

ft_status ft__max_batch(int64_t *out, uint64_t limit, ft__memory_at at, void *arg,
                        ft_error *err)
{
    const int64_t most = INT64_C(1) << 20;
    int64_t fits = 0, not = most + 1;
    uint64_t bytes;

    *out = 0;
    while (not -fits > 1) {
        /* Double until it no longer fits, then halve the interval. */
        int64_t batch = not > most ? (fits ? 2 * fits : 1) : fits + (not -fits) / 2;
        ft_status st;

        if (batch > most)
            batch = most;
        st = at(arg, batch, &bytes, err);
        if (st)
            return st;
        if (bytes <= limit)
            fits = batch;
        else
            not = batch;
    }
    *out = fits;
    return FT_OK;
}

struct at_batch {
    const ft__answer_source *source;
    ft_query q;
    ft_step step;
};

static ft_status bytes_at(void *arg, int64_t batch, uint64_t *bytes, ft_error *err)
{
    struct at_batch *at = arg;
    ft__network_estimate e;
    ft_graph *g;
    ft_status st;

    at->q.batch = batch;
    st = ft_query_import(&g, &at->q, err);
    if (!st)
        st = predict_lowered(&e, NULL, at->source, g, &at->step, err);
    if (!st) {
        *bytes = (uint64_t)e.memory.value;
        ft__network_estimate_free(&e);
    }
    ft_graph_free(g);
    return st;
}

/* The largest batch that fits the memory of the device; 0: none does. The model is
 * imported at several batches. */
static ft_status find_max_batch(ft__question *a, ft_error *err)
{
    struct at_batch at = {.source = &a->s.source, .q = a->q, .step = a->step};
    ft_error inner = {0};
    ft_status st;

    if (!a->q.max_batch)
        return FT_OK;
    if (!(a->s.limit_bytes > 0))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "--max-batch: the memory of %s is not known", a->s.device);
    st =
        ft__max_batch(&a->max_batch, (uint64_t)a->s.limit_bytes, bytes_at, &at, &inner);
    return st ? ft_fail(err, st, 0, "--max-batch asks at several batches: %.800s",
                        inner.msg)
              : FT_OK;
}

/* Why nothing measures this machine's power; "": something does. */
static const char *no_sensors(ft_data *d)
{
    ft_sensors *s = NULL;
    const char *why;

    pthread_mutex_lock(&d->lock);
    if (!d->no_sensors && !ft_sensors_probe(&s, "", 0, NULL))
        d->no_sensors = strdup(s->why_none);
    ft_sensors_free(s);
    why = d->no_sensors ? d->no_sensors : "";
    pthread_mutex_unlock(&d->lock);
    return why;
}

/* The network itself. */
static ft_status ask_one(ft__question *a, ft_data *d, ft_error *err)
{
    ft_status st = ft__select(&a->s, d, &a->q, a->graph, err);
    ft__remembered *r;

    if (!st)
        st = take_half(a, err);
    if (st)
        return st;
    issue_what_is_not_replayed(a);
    r = a->s.source.on.known ? NULL : take_idle(d, a);
    if (r && !r->answered)
        r->answered = ft__op_answers_new();
    a->s.source.on.answered = r ? r->answered : NULL;
    st = predict_lowered(&a->e, &a->lowered, &a->s.source, a->graph, &a->step, err);
    if (!st)
        st = find_max_batch(a, err);
    a->s.source.on.answered = NULL; /* another thread may have it next */
    put_idle(d, r);
    if (!st && strcmp(a->s.device, "local") == 0 &&
        a->e.energy.basis == FT_BASIS_UNAVAILABLE)
        a->no_sensors = no_sensors(d);
    return st;
}

static ft_status ask(ft__question *a, ft_data *d, ft_error *err)
{
    const ft_query *q = &a->q;
    ft_status st = ft__query_step(&a->step, q, err);

    if (st)
        return st;
    if (q->n_lists)
        return ask_lists(a, d, err);
    if (!q->graph)
        st = ft_query_import(&a->imported, q, err);
    a->graph = q->graph ? q->graph : a->imported;
    if (st)
        return st;
    return q->n_settings ? ask_settings(a, d, err) : ask_one(a, d, err);
}

ft_status ft_query_ask(ft_answer **out, ft_data *d, const ft_query *q, ft_error *err)
{
    ft__question a = {.max_batch = -1};
    ft_status st = ft__query_read(&a.q, q, err);

    *out = NULL;
    if (!st)
        st = ask(&a, d, err);
    if (!st)
        st = ft__answer_make(out, &a, err);
    ft__network_estimate_free(&a.e);
    many_free(&a.many);
    ft_graph_free(a.lowered);
    ft_graph_free(a.imported);
    return st;
}
