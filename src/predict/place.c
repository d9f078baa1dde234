/* A network cut into parts, each on a device of its own. */
#include "foretell/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/lives.h"
#include "predict/ask.h"
#include "predict/predictor.h"

const char *ft_place_by_name(ft_place_by by)
{
    static const char *const name[FT_PLACE_BY_COUNT] = {"time", "period", "energy"};

    return (unsigned)by < FT_PLACE_BY_COUNT ? name[by] : "?";
}

ft_place_by ft_place_by_from_name(const char *name, size_t len)
{
    int by = 0;

    while (by < FT_PLACE_BY_COUNT &&
           (strlen(ft_place_by_name((ft_place_by)by)) != len ||
            memcmp(ft_place_by_name((ft_place_by)by), name, len) != 0))
        by++;
    return (ft_place_by)by;
}

/* ---- what parts and cuts take ---- */

struct placing {
    const ft_place_device *device;
    size_t n_devices;
    const ft_graph *g;
    uint32_t n; /* nodes */
    ft__tasks tasks[FT_PLACE_MAX_DEVICES];
    ft__life *life;
    /* At cut k, before node k: what goes from one side to the other. */
    uint32_t *n_sent;
    double *sent_bytes;
    double *alive;   /* bytes at node k, but weights */
    double *weights; /* of node k that no node before it has */
    ft__task *row;   /* one part */
};

static void find_alive(struct placing *p)
{
    for (uint32_t i = 0; i < ft_graph_n_tensors(p->g); i++) {
        const ft_tensor *t = ft_graph_tensor(p->g, i);
        const ft__life *l = &p->life[i];

        if (t->storage != i || l->first == FT_NONE)
            continue;
        if (t->role == FT_ROLE_WEIGHT || t->role == FT_ROLE_STATE)
            p->weights[l->first] += (double)l->bytes;
        else
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
        struct touched *s = &t[ft_graph_tensor(g, tensor[j])->storage];

        s->first = s->first == FT_NONE ? node : s->first;
        s->last = node;
    }
}

/* Inputs are with whoever reads them first, results stay where they are made; weights
 * are where they are needed. */
static ft_status find_sent(struct placing *p, ft_error *err)
{
    const uint32_t n = ft_graph_n_tensors(p->g);
    struct touched *t = malloc((n + 1u) * sizeof(*t));

    if (!t)
        return ft_fail(err, FT_ENOMEM, 0, "placing");
    for (uint32_t i = 0; i < n; i++)
        t[i] = (struct touched){FT_NONE, 0};
    for (uint32_t k = 0; k < p->n; k++) {
        const ft_node *node = ft_graph_node(p->g, k);

        touch(t, p->g, node->in, node->n_in, k);
        touch(t, p->g, node->out, node->n_out, k);
    }
    for (uint32_t i = 0; i < n; i++) {
        const ft_role role = ft_graph_tensor(p->g, i)->role;

        if (t[i].first == FT_NONE || role == FT_ROLE_WEIGHT || role == FT_ROLE_STATE)
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
    const ft_place_device *x = &p->device[d];

    p->tasks[d].task = calloc(ft_graph_n_ops(p->g) + 1u, sizeof(*p->tasks[d].task));
    if (!p->tasks[d].task)
        return ft_fail(err, FT_ENOMEM, 0, "placing");
    if (x->predictor && !x->predictor->family)
        return ft_fail(err, FT_EINVAL, 0,
                       "parts are placed by predictors for families of devices, or by "
                       "data sheets");
    return x->predictor
               ? ft__family_tasks(&p->tasks[d], x->predictor, &x->use, p->g, err)
               : ft__physics_tasks(&p->tasks[d], &x->use, p->g, err);
}

static ft_status open(struct placing *p, const ft_place_device *device, size_t n,
                      const ft_graph *g, ft_error *err)
{
    ft_status st;

    *p = (struct placing){
        .device = device, .n_devices = n, .g = g, .n = ft_graph_n_nodes(g)};
    if (n == 0 || n > FT_PLACE_MAX_DEVICES)
        return ft_fail(err, FT_EINVAL, 0, "from 1 to %d devices", FT_PLACE_MAX_DEVICES);
    st = ft__lives_find(&p->life, g, err);
    p->n_sent = calloc(p->n + 2u, sizeof(*p->n_sent));
    p->sent_bytes = calloc(p->n + 2u, sizeof(*p->sent_bytes));
    p->alive = calloc(p->n + 2u, sizeof(*p->alive));
    p->weights = calloc(p->n + 2u, sizeof(*p->weights));
    p->row = calloc(p->n + 1u, sizeof(*p->row));
    if (!st && (!p->n_sent || !p->sent_bytes || !p->alive || !p->weights || !p->row))
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
    free(p->weights);
    free(p->row);
}

/* Nodes first to end on device d, without what is sent. */
static void part(ft_stage *out, struct placing *p, size_t d, uint32_t first,
                 uint32_t end)
{
    const ft__tasks *t = &p->tasks[d];
    double most = 0, weights = 0;
    ft_brief b;

    *out = (ft_stage){.first = first, .end = end};
    for (uint32_t k = first; k < end; k++) {
        const ft_node *n = ft_graph_node(p->g, k);

        p->row[k - first] = t->task[n->op];
        p->row[k - first].count = (double)n->repeat;
        most = fmax(most, p->alive[k]);
        weights += p->weights[k];
    }
    if (first == end)
        return;
    ft__estimate_brief(&b, p->row, end - first, &t->schedule, t->cap_w);
    out->time_s = b.time_s;
    out->energy_j = b.energy_j;
    out->memory_bytes = weights + most;
}

static void sending(ft_stage *s, const struct placing *p, size_t d)
{
    const ft_place_device *x = &p->device[d];

    if (d + 1 == p->n_devices || s->end == 0 || s->end == p->n)
        return;
    s->n_sent = p->n_sent[s->end];
    s->sent_bytes = p->sent_bytes[s->end];
    s->sent_s = s->sent_bytes / x->link_bytes_per_s + s->n_sent * x->link_latency_s;
}

static bool fits(const ft_stage *s, const ft_place_device *d)
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
        part(&out->stage[d], p, d, cut[d], cut[d + 1]);
        sending(&out->stage[d], p, d);
    }
    add_up(out, p);
}

ft_status ft_place_at(ft_split *out, const ft_place_device *device, size_t n,
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

/* ---- the best way ---- */

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

static double value_of(const ft_stage *s, const ft_place_device *d, ft_place_by by)
{
    switch (by) {
    case FT_PLACE_BY_PERIOD: return fmax(s->time_s, s->sent_s);
    case FT_PLACE_BY_ENERGY: return s->energy_j + s->sent_bytes * d->link_j_per_byte;
    default: return s->time_s + s->sent_s;
    }
}

/* All ways to the nodes before k, whose last part is on device d. */
static struct state best_until(struct placing *p, const struct state *before, size_t d,
                               uint32_t k, ft_place_by by)
{
    struct state best = {INFINITY, 0};

    for (uint32_t from = 0; from <= k; from++) {
        double start = before ? before[from].value : from ? (double)INFINITY : 0, v;
        ft_stage s;

        if (!(start < best.value))
            continue;
        part(&s, p, d, from, k);
        if (!fits(&s, &p->device[d]))
            continue;
        sending(&s, p, d);
        v = joined(start, value_of(&s, &p->device[d], by), by);
        if (v < best.value)
            best = (struct state){v, from};
    }
    return best;
}

static ft_status search(uint32_t *cut, struct placing *p, ft_place_by by, ft_error *err)
{
    const size_t width = p->n + 1u;
    struct state *best = calloc(p->n_devices * width, sizeof(*best));

    if (!best)
        return ft_fail(err, FT_ENOMEM, 0, "placing");
    for (size_t d = 0; d < p->n_devices; d++) {
        uint32_t k = d + 1 == p->n_devices ? p->n : 0;

        for (; k <= p->n; k++)
            best[d * width + k] =
                best_until(p, d ? &best[(d - 1) * width] : NULL, d, k, by);
    }
    cut[p->n_devices] = p->n;
    for (size_t d = p->n_devices; d-- > 0;)
        cut[d] = best[d * width + cut[d + 1]].from;
    if (!isfinite(best[(p->n_devices - 1) * width + p->n].value)) {
        free(best);
        return ft_fail(err, FT_ENOTFOUND, 0,
                       by == FT_PLACE_BY_ENERGY
                           ? "no way fits, or what the devices draw is not known"
                           : "no way of cutting it fits the devices' memory");
    }
    free(best);
    return FT_OK;
}

ft_status ft_place_split(ft_split *out, ft_split *alone, const ft_place_device *device,
                         size_t n, const ft_graph *g, ft_place_by by, ft_error *err)
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
