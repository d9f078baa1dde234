/* How long values live, and running the nodes in order. */
#include <stdlib.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "measure/eager_parts.h"
#include "measure/values.h"

static bool is_gradient(const ft__eager *e, uint32_t tensor)
{
    return e->graph->tensor[tensor].role == FT_ROLE_GRADIENT;
}

/* ---- lives ---- */

static void use(ft__eager *e, uint32_t tensor, uint32_t node)
{
    uint32_t kept = ft__eager_kept(e->graph, tensor);

    e->last[tensor] = node;
    if (kept != FT_NONE)
        e->last[kept] = node;
}

static void find_last_uses(ft__eager *e)
{
    const ft_graph *g = e->graph;
    uint32_t n_nodes = g->n_nodes;

    for (uint32_t i = 0; i < n_nodes; i++) {
        const ft_node *n = &g->node[i];

        for (uint32_t j = 0; j < n->n_out; j++)
            use(e, n->out[j], i);
        for (uint32_t j = 0; j < n->n_in; j++)
            use(e, n->in[j], i);
        for (uint32_t j = 0; j < n->n_params; j++)
            use(e, n->params[j], i);
    }
    for (uint32_t i = 0; i < g->n_outputs; i++)
        e->last[g->output[i]] = n_nodes - 1;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (ft__eager_stays(e, i) || is_gradient(e, i))
            e->last[i] = FT_NONE;
}

static void list_drops(ft__eager *e)
{
    uint32_t n = e->graph->n_nodes, at = 0;

    for (uint32_t i = 0; i < e->graph->n_tensors; i++)
        if (e->last[i] != FT_NONE)
            e->step[e->last[i]].n_drops++;
    for (uint32_t i = 0; i < n; i++) {
        e->step[i].first_drop = at;
        at += e->step[i].n_drops;
        e->step[i].n_drops = 0;
    }
    for (uint32_t i = 0; i < e->graph->n_tensors; i++)
        if (e->last[i] != FT_NONE) {
            ft__eager_step *s = &e->step[e->last[i]];

            e->drops[s->first_drop + s->n_drops++] = i;
        }
}

/* Memory goes with the last value that lies in it. */
static void count_bytes(ft__eager *e, uint32_t *holders)
{
    const ft_graph *g = e->graph;
    uint64_t now = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];
        const ft__eager_step *s = &e->step[i];

        for (uint32_t j = 0; j < n->n_out; j++) {
            const ft_tensor *t = &g->tensor[n->out[j]];
            uint64_t bytes = (uint64_t)ft_tensor_bytes(&t->shape, t->dtype);

            if (ft__eager_stays(e, t->storage) || is_gradient(e, t->storage)) {
                if (t->storage == n->out[j])
                    e->bytes.gradients += bytes;
            } else if (holders[t->storage]++ == 0) {
                now += bytes;
            }
        }
        if (now > e->bytes.activations)
            e->bytes.activations = now;
        for (uint32_t j = 0; j < s->n_drops; j++) {
            uint32_t storage = g->tensor[e->drops[s->first_drop + j]].storage;
            const ft_tensor *t = &g->tensor[storage];

            if (holders[storage] && --holders[storage] == 0)
                now -= (uint64_t)ft_tensor_bytes(&t->shape, t->dtype);
        }
    }
}

static ft_status set_up(ft__eager *e, ft_error *err)
{
    uint32_t n = e->graph->n_tensors, nodes = e->graph->n_nodes;
    uint32_t *holders = calloc((size_t)n + 1, sizeof(*holders));
    ft_status st = FT_OK;

    e->cell = calloc((size_t)n + 1, sizeof(*e->cell));
    e->last = malloc(((size_t)n + 1) * sizeof(*e->last));
    e->limit = malloc(((size_t)n + 1) * sizeof(*e->limit));
    e->drops = malloc(((size_t)n + 1) * sizeof(*e->drops));
    e->step = calloc((size_t)nodes + 1, sizeof(*e->step));
    if (!holders || !e->cell || !e->last || !e->limit || !e->drops || !e->step) {
        free(holders);
        return ft_fail(err, FT_ENOMEM, 0, "network");
    }
    memset(e->last, 0xff, (size_t)n * sizeof(*e->last));
    ft__eager_find_limits(e);
    find_last_uses(e);
    list_drops(e);
    count_bytes(e, holders);
    free(holders);
    for (uint32_t i = 0; i < nodes && !st; i++)
        st = ft__eager_prepare(e, i, err);
    return st;
}

ft_status ft__eager_make(ft__eager **out, ft_session *s, const ft_graph *g,
                         ft_error *err)
{
    ft__eager *e = calloc(1, sizeof(*e));
    ft_status st;

    *out = NULL;
    if (!e)
        return ft_fail(err, FT_ENOMEM, 0, "network");
    e->session = s;
    e->graph = g;
    st = set_up(e, err);
    if (st) {
        ft__eager_free(e);
        return st;
    }
    *out = e;
    return FT_OK;
}

void ft__eager_free(ft__eager *e)
{
    if (!e)
        return;
    for (uint32_t i = 0; e->step && i < e->graph->n_nodes; i++) {
        if (e->step[i].block)
            e->session->engine->free_block(e->step[i].block);
        free(e->step[i].in);
    }
    for (uint32_t i = 0; e->cell && i < e->graph->n_tensors; i++)
        ft__value_drop(e->session, &e->cell[i]);
    while (e->own) {
        ft__eager_own *next = e->own->next;

        ft__value_drop(e->session, &e->own->value);
        free(e->own);
        e->own = next;
    }
    free(e->cell);
    free(e->last);
    free(e->limit);
    free(e->drops);
    free(e->step);
    free(e);
}

/* ---- running ---- */

static ft_status run_step(ft__eager *e, const ft__eager_step *s, ft_error *err)
{
    const void *in[FT__EAGER_MAX_IN];
    void *out[FT__EAGER_MAX_OUT];
    ft_status st;

    for (uint32_t j = 0; j < s->n_in; j++)
        in[j] = s->in[j] ? *s->in[j] : NULL;
    for (uint32_t j = 0; j < s->n_out; j++)
        out[j] = NULL;
    st = e->session->engine->run(s->block, 0, in, out, NULL, err);
    for (uint32_t j = 0; j < s->n_out; j++) {
        if (s->out[j] && *s->out[j])
            ft__value_drop(e->session, s->out[j]);
        if (s->out[j])
            *s->out[j] = out[j];
        else if (out[j])
            ft__value_drop(e->session, &out[j]);
    }
    return st;
}

/* What a pass that failed left. */
static void drop_all(ft__eager *e)
{
    for (uint32_t i = 0; i < e->graph->n_tensors; i++)
        if (!ft__eager_stays(e, i) && e->cell[i])
            ft__value_drop(e->session, &e->cell[i]);
}

ft_status ft__eager_run(ft__eager *e, ft_error *err)
{
    ft_status st = FT_OK;

    drop_all(e);
    for (uint32_t i = 0; i < e->graph->n_nodes && !st; i++) {
        const ft__eager_step *s = &e->step[i];

        for (uint64_t r = s->repeat; r && !st; r--)
            st = run_step(e, s, err);
        for (uint32_t j = 0; j < s->n_drops; j++)
            if (e->cell[e->drops[s->first_drop + j]])
                ft__value_drop(e->session, &e->cell[e->drops[s->first_drop + j]]);
    }
    return st;
}

const ft__eager_bytes *ft__eager_memory(const ft__eager *e)
{
    return &e->bytes;
}

ft_status ft__eager_read(ft__eager *e, void *host, uint32_t tensor, ft_error *err)
{
    if (!e->cell[tensor])
        return ft_fail(err, FT_EINVAL, 0, "tensor %s is not there between passes",
                       e->graph->tensor[tensor].name);
    return e->session->engine->values->read(e->session->context, host, e->cell[tensor],
                                            err);
}
