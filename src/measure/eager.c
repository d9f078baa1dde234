/* A network run operation by operation, as eager code runs it, on an engine that holds
 * values: how long these live, and running the nodes in order. */
#include "measure/eager.h"

#include <stdlib.h>
#include <string.h>

#include "measure/eager_inside.h"
#include "measure/measure_inside.h"
#include "measure/values.h"

/* The step's result is its first operand, written over. */
static bool is_in_place(const ft_graph *g, const ft_node *n, const ft_op *op)
{
    const ft_tensor *x, *y;

    if (op->phase != FT_PHASE_FORWARD || ft_kind_class(op->kind) == FT_CLASS_VIEW ||
        n->n_in == 0)
        return false;
    x = &g->tensor[n->in[0]];
    y = &g->tensor[n->out[0]];
    return x->storage == y->storage && ft_shape_equal(&x->shape, &y->shape) &&
           x->dtype == y->dtype;
}

/* A view of what a node keeps, as joint graphs have: nothing is run. */
static bool is_kept_view(const ft_graph *g, const ft_node *n, const ft_op *op)
{
    return op->kind == FT_KIND_view && n->n_in &&
           ft__eager_kept_for(g, n->in[0]) != FT_NONE;
}

static ft_status prepare_block(ft__eager *e, ft__eager_step *step, const ft_node *n,
                               const ft_op *op, ft_error *err)
{
    const ft_engine_values *v = e->session->engine->values;
    int how = op->phase == FT_PHASE_FORWARD && n->n_out > ft_op_n_outputs(op)
                  ? FT_VALUES_KEEP
                  : 0;
    ft_block_info info = {0};
    ft_status st = FT_EUNSUPPORTED;

    if (is_in_place(e->graph, n, op))
        st = v->prepare(e->session->context, &step->block, &info, op,
                        how | FT_VALUES_IN_PLACE, err);
    if (st == FT_EUNSUPPORTED)
        st = v->prepare(e->session->context, &step->block, &info, op, how, err);
    return st;
}

/* The block of node i, pointing at its cells. */
static ft_status prepare_node(ft__eager *e, uint32_t i, ft_error *err)
{
    const ft_node *n = &e->graph->node[i];
    const ft_op *op = &e->graph->op[n->op];
    ft__eager_step *step = &e->step[i];
    ft__eager_binding b = {.e = e, .n = n, .op = op};
    ft_op one = ft__eager_op(n, op);
    ft_status st;

    if (is_kept_view(e->graph, n, op))
        return FT_OK;
    st = prepare_block(e, step, n, &one, err);
    if (!st)
        st = ft__eager_bind(&b, err);
    if (st)
        return st;
    step->repeat = n->repeat;
    step->n_in = b.n_in;
    step->n_out = b.n_out;
    step->in = ft__arena_array(&e->arena, b.n_in + b.n_out + 1, sizeof(*step->in));
    if (!step->in)
        return ft_fail(err, FT_ENOMEM, 0, "node %s", n->name);
    step->out = step->in + b.n_in;
    memcpy(step->in, b.in, b.n_in * sizeof(*step->in));
    memcpy(step->out, b.out, b.n_out * sizeof(*step->out));
    return FT_OK;
}

static bool is_gradient(const ft__eager *e, uint32_t tensor)
{
    return e->graph->tensor[tensor].role == FT_ROLE_GRADIENT;
}

static void use(ft__eager *e, uint32_t tensor, uint32_t node)
{
    uint32_t kept = ft__eager_kept_for(e->graph, tensor);

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
    uint32_t *holders = ft__arena_need(&e->arena, (size_t)n + 1, sizeof(*holders));
    ft_status st = FT_OK;

    e->cell = ft__arena_need(&e->arena, (size_t)n + 1, sizeof(*e->cell));
    e->made = ft__arena_need(&e->arena, (size_t)n + 1, sizeof(*e->made));
    e->last = ft__arena_need(&e->arena, (size_t)n + 1, sizeof(*e->last));
    e->limit = ft__arena_need(&e->arena, (size_t)n + 1, sizeof(*e->limit));
    e->drops = ft__arena_need(&e->arena, (size_t)n + 1, sizeof(*e->drops));
    e->step = ft__arena_need(&e->arena, (size_t)nodes + 1, sizeof(*e->step));
    if (e->arena.bad)
        return ft_fail(err, FT_ENOMEM, 0, "network");
    memset(e->last, 0xff, (size_t)n * sizeof(*e->last));
    ft__eager_find_limits(e);
    find_last_uses(e);
    list_drops(e);
    count_bytes(e, holders);
    for (uint32_t i = 0; i < nodes && !st; i++)
        st = prepare_node(e, i, err);
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
    for (uint32_t i = 0; e->step && i < e->graph->n_nodes; i++)
        if (e->step[i].block)
            e->session->engine->free_block(e->step[i].block);
    for (uint32_t i = 0; e->cell && i < e->graph->n_tensors; i++)
        ft__value_drop(e->session, &e->cell[i]);
    for (ft__eager_own *own = e->own; own; own = own->next)
        ft__value_drop(e->session, &own->value);
    ft__arena_free(&e->arena);
    free(e);
}

static ft_status run_step(ft__eager *e, const ft__eager_step *s, ft_error *err)
{
    const void *in[FT__EAGER_OPERANDS];
    void *out[FT__EAGER_OPERANDS];
    ft_status st;

    if (!s->block)
        return FT_OK;
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

static ft_status run_pass(void *self, uint64_t iteration, ft_error *err)
{
    (void)iteration;
    return ft__eager_run(self, err);
}

static void take_bytes(ft_network_timing *out, const ft__eager_bytes *b, uint64_t held)
{
    out->weight_bytes = b->weights;
    out->gradient_bytes = b->gradients;
    out->state_bytes = b->states;
    out->activation_bytes = b->activations;
    held -= held < b->weights ? held : b->weights;
    held -= held < b->states ? held : b->states;
    held -= held < b->gradients ? held : b->gradients;
    out->workspace_bytes = held > b->activations ? held - b->activations : 0;
}

ft_status ft__eager_measure(ft_network_timing *out, ft_session *s, const ft_graph *g,
                            const ft_measure_options *opt, ft_error *err)
{
    ft__job job = {.session = s, .run = run_pass};
    ft__eager *e;
    uint64_t held;
    ft_status st = ft__eager_make(&e, s, g, err);

    if (st)
        return st;
    job.self = e;
    st = ft__measure_passes(out, &held, &job, FT__FIRST_PASS_APART, opt, err);
    take_bytes(out, &e->bytes, held);
    ft__eager_free(e);
    return st;
}
