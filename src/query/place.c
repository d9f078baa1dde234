/* One network cut over several devices: what parts and cuts take, the best way to cut,
 * and the question that asks for it by the names of devices. */
#include "query/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/plan.h"
#include "predict/query/op_query.h"
#include "predict/schedule/schedule.h"
#include "query/select.h"

/* What parts and cuts take. */

struct placing {
    const ft__place_device *device;
    size_t n_devices;
    const ft_graph *g;
    uint32_t n; /* nodes */
    ft__tasks tasks[FT_PLACE_MAX_DEVICES];
    ft__life *life;
    /* At cut k, before node k: what goes from one side to the other. */
    uint32_t *n_sent;
    double *sent_bytes;
    double *alive;    /* bytes at node k, but weights */
    uint32_t *in;     /* of a tensor: the last part that its memory was counted in */
    uint32_t n_parts; /* looked at */
};

/* Nodes one behind the other, as far as they are known. */
struct running {
    ft__network_load load;
    double weights, most; /* bytes */
};

static bool is_weight(const ft_tensor *t)
{
    return t->role == FT_ROLE_WEIGHT || t->role == FT_ROLE_STATE;
}

static void find_alive(struct placing *p)
{
    for (uint32_t i = 0; i < p->g->n_tensors; i++) {
        const ft_tensor *t = &p->g->tensor[i];
        const ft__life *l = &p->life[i];

        if (t->storage != i || l->first == FT_NONE || is_weight(t))
            continue;
        for (uint32_t k = l->first; k <= l->last; k++)
            p->alive[k] += (double)l->bytes;
    }
}

/* Nodes that read or write the memory of a tensor. */
struct touched {
    uint32_t first, last;
};

static void touch(struct touched *t, const ft_graph *g, const uint32_t *tensor,
                  uint32_t n, uint32_t node)
{
    for (uint32_t j = 0; j < n; j++) {
        struct touched *s = &t[g->tensor[tensor[j]].storage];

        s->first = s->first == FT_NONE ? node : s->first;
        s->last = node;
    }
}

/* Inputs are with whoever reads them first, results stay where they are made; weights
 * are where they are needed. */
static ft_status find_sent(struct placing *p, ft_error *err)
{
    const uint32_t n = p->g->n_tensors;
    struct touched *t = malloc((n + 1u) * sizeof(*t));

    if (!t)
        return ft_fail(err, FT_ENOMEM, 0, "placing");
    for (uint32_t i = 0; i < n; i++)
        t[i] = (struct touched){FT_NONE, 0};
    for (uint32_t k = 0; k < p->n; k++) {
        const ft_node *node = &p->g->node[k];

        touch(t, p->g, node->in, node->n_in, k);
        touch(t, p->g, node->out, node->n_out, k);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (t[i].first == FT_NONE || is_weight(&p->g->tensor[i]))
            continue;
        for (uint32_t k = t[i].first + 1; k <= t[i].last; k++) {
            p->n_sent[k]++;
            p->sent_bytes[k] += (double)p->life[i].bytes;
        }
    }
    free(t);
    return FT_OK;
}

static ft_status find_tasks(struct placing *p, size_t d, ft_error *err)
{
    const ft__place_device *x = &p->device[d];

    p->tasks[d].task = calloc(p->g->n_ops + 1u, sizeof(*p->tasks[d].task));
    if (!p->tasks[d].task)
        return ft_fail(err, FT_ENOMEM, 0, "placing");
    return ft__network_tasks(&p->tasks[d], x->predictor, &x->use, p->g,
                             ft__graph_phase(p->g), err);
}

static ft_status open(struct placing *p, const ft__place_device *device, size_t n,
                      const ft_graph *g, ft_error *err)
{
    ft_status st;

    *p = (struct placing){.device = device, .n_devices = n, .g = g, .n = g->n_nodes};
    if (n == 0 || n > FT_PLACE_MAX_DEVICES)
        return ft_fail(err, FT_EINVAL, 0, "from 1 to %d devices", FT_PLACE_MAX_DEVICES);
    st = ft__lives_find(&p->life, g, err);
    p->n_sent = calloc(p->n + 2u, sizeof(*p->n_sent));
    p->sent_bytes = calloc(p->n + 2u, sizeof(*p->sent_bytes));
    p->alive = calloc(p->n + 2u, sizeof(*p->alive));
    p->in = calloc(g->n_tensors + 1u, sizeof(*p->in));
    if (!st && (!p->n_sent || !p->sent_bytes || !p->alive || !p->in))
        st = ft_fail(err, FT_ENOMEM, 0, "placing");
    if (!st)
        st = find_sent(p, err);
    if (!st)
        find_alive(p);
    for (size_t d = 0; d < n && !st; d++)
        st = find_tasks(p, d, err);
    return st;
}

static void close(struct placing *p)
{
    for (size_t d = 0; d < p->n_devices && d < FT_PLACE_MAX_DEVICES; d++)
        free(p->tasks[d].task);
    free(p->life);
    free(p->n_sent);
    free(p->sent_bytes);
    free(p->alive);
    free(p->in);
}

static struct running begin(struct placing *p, size_t d)
{
    const struct running r = {
        .load = ft__schedule_no_load(p->tasks[d].cap_w, p->tasks[d].call)};

    p->n_parts++;
    return r;
}

/* Weights are in every part that uses them, each once. */
static void add_weights(struct running *r, struct placing *p, const uint32_t *tensor,
                        uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        const uint32_t i = p->g->tensor[tensor[j]].storage;

        if (!is_weight(&p->g->tensor[i]) || p->in[i] == p->n_parts)
            continue;
        p->in[i] = p->n_parts;
        r->weights += (double)p->life[i].bytes;
    }
}

/* Node k on device d; of the part that was begun last. */
static void add(struct running *r, struct placing *p, size_t d, uint32_t k)
{
    const ft_node *n = &p->g->node[k];
    ft__op_task task = p->tasks[d].task[n->op];

    task.count = (double)n->repeat;
    ft__schedule_load(&r->load, &task, 1);
    r->most = fmax(r->most, p->alive[k]);
    add_weights(r, p, n->in, n->n_in);
    add_weights(r, p, n->params, n->n_params);
    add_weights(r, p, n->out, n->n_out);
}

/* Nodes first to end on device d, without what is sent. */
static ft_stage stage_of(const struct running *r, const struct placing *p, size_t d,
                         uint32_t first, uint32_t end)
{
    ft_stage out = {.first = first, .end = end};
    ft_brief b;

    if (first == end)
        return out;
    ft__estimate_brief(&b, &r->load, &p->tasks[d].schedule);
    out.time_s = b.time_s;
    out.energy_j = b.time_s > 0 ? b.energy_j : 0; /* views take nothing */
    out.memory_bytes = r->weights + r->most;
    return out;
}

static ft_stage part(struct placing *p, size_t d, uint32_t first, uint32_t end)
{
    struct running r = begin(p, d);

    for (uint32_t k = first; k < end; k++)
        add(&r, p, d, k);
    return stage_of(&r, p, d, first, end);
}

static void sending(ft_stage *s, const struct placing *p, size_t d)
{
    const ft__place_device *x = &p->device[d];

    if (d + 1 == p->n_devices || s->end == 0 || s->end == p->n)
        return;
    s->n_sent = p->n_sent[s->end];
    s->sent_bytes = p->sent_bytes[s->end];
    s->sent_s = s->sent_bytes / x->link_bytes_per_s + s->n_sent * x->link_latency_s;
}

static bool fits(const ft_stage *s, const ft__place_device *d)
{
    return !(s->memory_bytes > d->limit_bytes);
}

static void add_up(ft_split *out, const struct placing *p)
{
    out->fits = 1;
    for (size_t d = 0; d < p->n_devices; d++) {
        const ft_stage *s = &out->stage[d];

        out->time_s += s->time_s + s->sent_s;
        out->period_s = fmax(out->period_s, fmax(s->time_s, s->sent_s));
        out->energy_j += s->energy_j + s->sent_bytes * p->device[d].link_j_per_byte;
        out->fits = out->fits && fits(s, &p->device[d]);
    }
}

static void split_at(ft_split *out, struct placing *p, const uint32_t *cut)
{
    *out = (ft_split){0};
    for (size_t d = 0; d < p->n_devices; d++) {
        out->stage[d] = part(p, d, cut[d], cut[d + 1]);
        sending(&out->stage[d], p, d);
    }
    add_up(out, p);
}

ft_status ft__place_at(ft_split *out, const ft__place_device *device, size_t n,
                       const ft_graph *g, const uint32_t *cut, ft_error *err)
{
    struct placing p;
    ft_status st = open(&p, device, n, g, err);

    for (size_t d = 0; d < n && !st; d++)
        if (cut[d] > cut[d + 1] || cut[n] != p.n || cut[0] != 0)
            st = ft_fail(err, FT_EINVAL, 0, "cuts rise from 0 to %u", p.n);
    if (!st)
        split_at(out, &p, cut);
    close(&p);
    return st;
}

/* best[d * (n + 1) + k]: the least for nodes before k on devices up to d, and where the
 * part on d begins. */
struct state {
    double value;
    uint32_t from;
};

static double joined(double a, double b, ft_place_by by)
{
    return by == FT_PLACE_BY_PERIOD ? fmax(a, b) : a + b;
}

static double value_of(const ft_stage *s, const ft__place_device *d, ft_place_by by)
{
    switch (by) {
    case FT_PLACE_BY_PERIOD: return fmax(s->time_s, s->sent_s);
    case FT_PLACE_BY_ENERGY: return s->energy_j + s->sent_bytes * d->link_j_per_byte;
    default: return s->time_s + s->sent_s;
    }
}

/* All ways whose last part begins at `from` on device d, to best[]; `start` is what was
 * before. A part that does not fit fits no better with more nodes. */
static void try_from(struct state *best, struct placing *p, size_t d, uint32_t from,
                     double start, ft_place_by by)
{
    struct running r = begin(p, d);

    for (uint32_t k = from; k <= p->n; k++) {
        ft_stage s;
        double v;

        if (k > from)
            add(&r, p, d, k - 1);
        s = stage_of(&r, p, d, from, k);
        if (!fits(&s, &p->device[d]))
            break;
        sending(&s, p, d);
        v = joined(start, value_of(&s, &p->device[d], by), by);
        if (v < best[k].value)
            best[k] = (struct state){v, from};
    }
}

static ft_status search(uint32_t *cut, struct placing *p, ft_place_by by, ft_error *err)
{
    const size_t width = p->n + 1u;
    struct state *best = calloc(p->n_devices * width, sizeof(*best));

    if (!best)
        return ft_fail(err, FT_ENOMEM, 0, "placing");
    for (size_t i = 0; i < p->n_devices * width; i++)
        best[i].value = INFINITY;
    for (size_t d = 0; d < p->n_devices; d++)
        for (uint32_t from = 0; from <= (d ? p->n : 0); from++) {
            double start = d ? best[(d - 1) * width + from].value : 0;

            if (isfinite(start))
                try_from(&best[d * width], p, d, from, start, by);
        }
    cut[p->n_devices] = p->n;
    for (size_t d = p->n_devices; d-- > 0;)
        cut[d] = best[d * width + cut[d + 1]].from;
    if (!isfinite(best[(p->n_devices - 1) * width + p->n].value)) {
        free(best);
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            by == FT_PLACE_BY_ENERGY
                ? "no split fits the devices' memory, or their power is unknown"
                : "no split fits the devices' memory");
    }
    free(best);
    return FT_OK;
}

ft_status ft__place_split(ft_split *out, ft_split *alone,
                          const ft__place_device *device, size_t n, const ft_graph *g,
                          ft_place_by by, ft_error *err)
{
    uint32_t cut[FT_PLACE_MAX_DEVICES + 1];
    struct placing p;
    ft_status st = open(&p, device, n, g, err);

    for (size_t d = 0; d < n && alone && !st; d++) {
        for (size_t i = 0; i <= n; i++)
            cut[i] = i <= d ? 0 : p.n;
        split_at(&alone[d], &p, cut);
    }
    if (!st)
        st = search(cut, &p, by, err);
    if (!st)
        split_at(out, &p, cut);
    close(&p);
    return st;
}

struct split_owner {
    ft_split_answer a; /* what callers see */
    ft_graph *imported, *lowered;
    ft__selection found[FT_PLACE_MAX_DEVICES];
    char why[1000];
    ft_remark left_out;
    const ft_remark *warning[1];
};

void ft_split_free(ft_split_answer *a)
{
    struct split_owner *s = (struct split_owner *)a;

    if (!s)
        return;
    ft_graph_free(s->lowered);
    ft_graph_free(s->imported);
    free(s);
}

static ft_status find_device(ft__place_device *out, struct split_owner *s, size_t i,
                             ft_data *d, const ft_query *asked, const ft_graph *g,
                             const ft_place_options *opt, ft_error *err)
{
    ft__selection *found = &s->found[i];
    ft_query q = *asked;
    ft_status st;

    q.device = opt->device[i];
    st = ft__select(found, d, &q, g, err);
    if (!st && found->by == FT_ANSWERED_BY_DEVICE)
        st =
            ft_fail(err, FT_EINVAL, 0,
                    "%s: parts are placed by predictors for families of devices, or by "
                    "specifications",
                    found->device);
    s->a.device[i] = found->device;
    if (*found->damaged) {
        s->left_out = (ft_remark){.code = FT_REMARK_DAMAGED, .text = found->damaged};
        s->a.n_warnings = 1;
    }
    *out = (ft__place_device){.predictor = found->source.predictor,
                              .use = found->source.on,
                              .limit_bytes = found->limit_bytes,
                              .link_bytes_per_s = opt->link_bytes_per_s,
                              .link_latency_s = opt->link_latency_s,
                              .link_j_per_byte = opt->link_j_per_byte};
    return st;
}

/* That nothing fits is an answer, unless no way can be predicted. */
static bool is_predictable(const ft__place_device *device, size_t n, const ft_graph *g)
{
    uint32_t cut[FT_PLACE_MAX_DEVICES + 1] = {0};
    ft_split s;

    for (size_t d = 1; d <= n; d++)
        cut[d] = g->n_nodes;
    return !ft__place_at(&s, device, n, g, cut, NULL);
}

static ft_status place(struct split_owner *s, const ft__place_device *device,
                       const ft_graph *g, ft_place_by by, ft_error *err)
{
    const size_t n = s->a.n_devices;
    ft_error why = {0};
    ft_status st = ft__place_split(&s->a.best, s->a.alone, device, n, g, by, &why);

    s->a.graph = g;
    s->a.why = s->why;
    if (st == FT_ENOTFOUND && is_predictable(device, n, g)) {
        snprintf(s->why, sizeof(s->why), "%s", why.msg);
        return FT_OK;
    }
    return st ? ft_fail(err, st, why.pos, "%s", why.msg) : FT_OK;
}

static ft_status ask(struct split_owner *s, ft_data *d, const ft_query *q,
                     const ft_place_options *opt, ft_error *err)
{
    ft__place_device device[FT_PLACE_MAX_DEVICES];
    const ft_graph *g = q->graph;
    ft_step step;
    ft_status st = ft__query_step(&step, q, err);

    if (!st && !g) {
        st = ft_query_import(&s->imported, q, err);
        g = s->imported;
    }
    s->warning[0] = &s->left_out;
    s->a.warning = s->warning;
    s->a.n_devices = opt->n_devices;
    for (size_t i = 0; i < opt->n_devices && !st; i++)
        st = find_device(&device[i], s, i, d, q, g, opt, err);
    if (!st)
        st = ft_step_lower(&s->lowered, g, FT_POLICY_STRIDED_VIEWS, &step, err);
    return st ? st : place(s, device, s->lowered ? s->lowered : g, opt->by, err);
}

ft_status ft_place_split(ft_split_answer **out, ft_data *d, const ft_query *asked,
                         const ft_place_options *opt, ft_error *err)
{
    struct split_owner *s = calloc(1, sizeof(*s));
    ft_query q;
    ft_status st =
        s ? ft__query_read(&q, asked, err) : ft_fail(err, FT_ENOMEM, 0, "placing");

    *out = NULL;
    if (!st && (opt->n_devices == 0 || opt->n_devices > FT_PLACE_MAX_DEVICES))
        st = ft_fail(err, FT_EINVAL, 0, "from 1 to %d devices", FT_PLACE_MAX_DEVICES);
    if (!st)
        st = ask(s, d, &q, opt, err);
    if (st)
        ft_split_free(s ? &s->a : NULL);
    else
        *out = &s->a;
    return st;
}
