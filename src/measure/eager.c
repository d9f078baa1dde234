/* A network run operation by operation, as eager code runs it, on an engine that holds
 * values: which of these every node takes and gives, how long they live, and running
 * the nodes in order.
 *
 *   cells     one per tensor of the graph: its value now, or NULL
 *   a node    points at the cells it takes and gives; what its block wants and the
 *             graph does not have (weights of a list of operations) are values of
 *             the node's own
 *   drops     per node, the tensors whose last use it is
 *
 * Inputs, weights and states are made once. Gradients of weights stay until the next
 * pass begins, as after zero_grad(set_to_none=True); all others go with their last
 * use, or at the end of the pass where they are results of the network. */
#include "measure/eager.h"

#include <stdlib.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "measure/measure_inside.h"
#include "measure/values.h"

enum { MAX_IN = 2 * FT_OP_MAX_OPERANDS, MAX_OUT = 2 * FT_OP_MAX_OPERANDS };

struct eager_step {
    ft_block *block; /* NULL: nothing is run */
    void ***in;      /* cells; NULL: no operand */
    void ***out;     /* cells; NULL: dropped at once */
    uint32_t n_in;
    uint32_t n_out;
    uint64_t repeat;
    uint32_t first_drop; /* in drops[] */
    uint32_t n_drops;
};

/* Values that belong to one node. */
struct eager_own {
    struct eager_own *next;
    void *value;
};

struct ft__eager {
    ft_session *session;
    const ft_graph *graph;
    void **cell;    /* per tensor */
    ft_shape *made; /* per tensor that stays: the shape its cell was made with */
    uint32_t *last; /* per tensor: the last node that uses it; FT_NONE: it stays */
    int64_t *limit; /* per tensor: of whole numbers */
    struct eager_step *step;
    uint32_t *drops;
    struct eager_own *own;
    ft__eager_bytes bytes;
};

static bool stays(const ft__eager *e, uint32_t tensor)
{
    return e->graph->tensor[tensor].producer == FT_NONE;
}

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

/* ---- what is there from the beginning ---- */

static uint64_t *bytes_of_role(ft__eager *e, ft_role role)
{
    return role == FT_ROLE_STATE ? &e->bytes.states : &e->bytes.weights;
}

/* Single numbers are ones: multiplied and divided by, rooted and raised to. */
static ft__filling filling(const ft__eager *e, uint32_t tensor)
{
    const ft_tensor *t = &e->graph->tensor[tensor];
    ft__filling f = {
        .scale = 1, .limit = e->limit[tensor], .seed = ft__tensor_seed(e->session, t)};

    if (t->role == FT_ROLE_STATE)
        f.scale = 0;
    else if (t->role == FT_ROLE_WEIGHT && ft_shape_elements(&t->shape) == 1)
        f.scale = 0, f.offset = 1;
    else if (t->role == FT_ROLE_WEIGHT)
        f.scale = 0.1;
    return f;
}

static ft_status make_cell(ft__eager *e, uint32_t tensor, const ft_shape *shape,
                           const ft__filling *with, ft_error *err)
{
    const ft_tensor *t = &e->graph->tensor[tensor];

    if (e->cell[tensor])
        return FT_OK;
    e->made[tensor] = *shape;
    *bytes_of_role(e, t->role) += (uint64_t)ft_tensor_bytes(shape, t->dtype);
    return ft__value_make(e->session, &e->cell[tensor], shape, t->dtype,
                          FT_LAYOUT_PLAIN, with, err);
}

static ft_status make_operand(ft__eager *e, uint32_t tensor, ft_error *err)
{
    ft__filling with = filling(e, tensor);

    if (!stays(e, tensor))
        return FT_OK;
    return make_cell(e, tensor, &e->graph->tensor[tensor].shape, &with, err);
}

/* Whole numbers that become indices stay in range, through what only moves them. */
static void find_limits(ft__eager *e)
{
    const ft_graph *g = e->graph;

    for (uint32_t i = 0; i < g->n_tensors; i++)
        e->limit[i] = 0;
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        const ft_node *n = &g->node[i];
        const ft_op *op = &g->op[n->op];

        for (uint32_t j = 0; j < n->n_in; j++) {
            ft_op forward = ft__forward_of(op);
            int64_t at = ft__operand_limit(&forward, j), *limit = &e->limit[n->in[j]];
            ft_class c = ft_kind_class(op->kind);

            if (at == 2 && j == 0 && n->n_out &&
                (c == FT_CLASS_MOVE || c == FT_CLASS_VIEW || op->kind == FT_KIND_cast))
                at = e->limit[n->out[0]];
            if (at && (*limit == 0 || at < *limit))
                *limit = at;
        }
    }
    for (uint32_t i = 0; i < g->n_tensors; i++)
        e->limit[i] = e->limit[i] ? e->limit[i] : 2;
}

/* ---- binding nodes to cells ---- */

struct binding {
    ft__eager *e;
    const ft_node *n;
    const ft_op *op;
    void **in[MAX_IN];
    void **out[MAX_OUT];
    uint32_t n_in;
    uint32_t n_out;
};

/* A value of the node's own, still NULL. */
static ft_status new_own(struct binding *b, struct eager_own **out, uint32_t slot,
                         ft_error *err)
{
    struct eager_own *o = calloc(1, sizeof(*o));

    *out = o;
    if (!o)
        return ft_fail(err, FT_ENOMEM, 0, "node %s", b->n->name);
    o->next = b->e->own;
    b->e->own = o;
    b->in[slot] = &o->value;
    return FT_OK;
}

static ft_status bind_own(struct binding *b, uint32_t slot, const ft_shape *shape,
                          ft_dtype dtype, const ft__filling *with, ft_error *err)
{
    struct eager_own *o;
    ft_status st = new_own(b, &o, slot, err);

    if (st)
        return st;
    b->e->bytes.weights += (uint64_t)ft_tensor_bytes(shape, dtype);
    return ft__value_make(b->e->session, &o->value, shape, dtype, FT_LAYOUT_PLAIN, with,
                          err);
}

/* A matrix the other way round. */
static bool is_turned(const ft_shape *made, const ft_shape *wanted)
{
    return made->rank == 2 && wanted->rank == 2 && made->dim[0] == wanted->dim[1] &&
           made->dim[1] == wanted->dim[0] && made->dim[0] != made->dim[1];
}

/* A weight that another node made the other way round, as the gradient of a linear
 * layer in a joint graph reads it: a view of the same memory, which stays. */
static ft_status bind_turned(struct binding *b, uint32_t slot, uint32_t tensor,
                             ft_error *err)
{
    const ft_engine *engine = b->e->session->engine;
    const ft_shape *made = &b->e->made[tensor];
    const void *in[] = {b->e->cell[tensor]};
    struct eager_own *o;
    ft_block_info info = {0};
    ft_block *block = NULL;
    ft_op op;
    ft_status st = new_own(b, &o, slot, err);

    ft__op_init(&op, FT_KIND_transpose, b->e->graph->tensor[tensor].dtype);
    ft__op_set_shape(&op, FT_K_x, made);
    ft__op_set(&op, FT_K_perm, (int64_t[]){1, 0}, 2);
    if (!st)
        st =
            engine->values->prepare(b->e->session->context, &block, &info, &op, 0, err);
    if (!st)
        st = engine->run(block, 0, in, &o->value, NULL, err);
    if (block)
        engine->free_block(block);
    return st;
}

/* The graph's weight where it is one of this shape, made as this operation wants
 * it; a weight that is computed has its shape already. */
static ft_status bind_weight(struct binding *b, uint32_t i, ft_error *err)
{
    ft__filling with = ft__weight_filling(b->op, i, b->e->session->seed + b->n_in);
    uint32_t slot = b->n_in++, tensor;
    const ft_tensor *t;
    ft_param p;

    ft_op_param(b->op, i, &p);
    if (b->n->n_params != ft_op_n_params(b->op))
        return bind_own(b, slot, &p.shape, p.dtype, &with, err);
    tensor = b->n->params[i];
    t = &b->e->graph->tensor[tensor];
    if (t->dtype != p.dtype ||
        (stays(b->e, tensor)
             ? ft_shape_elements(&t->shape) != ft_shape_elements(&p.shape)
             : !ft_shape_equal(&t->shape, &p.shape)))
        return bind_own(b, slot, &p.shape, p.dtype, &with, err);
    if (b->e->cell[tensor] && stays(b->e, tensor) &&
        is_turned(&b->e->made[tensor], &p.shape))
        return bind_turned(b, slot, tensor, err);
    b->in[slot] = &b->e->cell[tensor];
    with.seed = ft__tensor_seed(b->e->session, t);
    return stays(b->e, tensor) ? make_cell(b->e, tensor, &p.shape, &with, err) : FT_OK;
}

static ft_status bind_weights(struct binding *b, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < ft_op_n_params(b->op) && !st; i++)
        st = bind_weight(b, i, err);
    return st;
}

static ft_status bind_tensor(struct binding *b, uint32_t tensor, ft_error *err)
{
    b->in[b->n_in++] = &b->e->cell[tensor];
    return make_operand(b->e, tensor, err);
}

/* Of what a forward node keeps for its backward one, or a view of it: the tensor in
 * whose cell that lies, the first behind the node's results. FT_NONE: `tensor` is
 * nothing kept. */
static uint32_t kept_for(const ft_graph *g, uint32_t tensor)
{
    const uint32_t storage = g->tensor[tensor].storage;
    uint32_t producer = g->tensor[storage].producer, n_out;
    const ft_node *n;
    ft_op op;

    if (producer == FT_NONE)
        return FT_NONE;
    n = &g->node[producer];
    op = g->op[n->op];
    n_out = ft_op_n_outputs(&op);
    if (op.phase != FT_PHASE_FORWARD || n->n_out <= n_out)
        return FT_NONE;
    for (uint32_t i = n_out; i < n->n_out; i++)
        if (n->out[i] == storage)
            return n->out[n_out];
    return FT_NONE;
}

/* A view of what a node keeps, as joint graphs have: nothing is run. */
static bool is_kept_view(const ft_graph *g, const ft_node *n, const ft_op *op)
{
    return op->kind == FT_KIND_view && n->n_in && kept_for(g, n->in[0]) != FT_NONE;
}

/* Of products only what a gradient needs is among a node's operands. */
static bool is_given(const ft_op *op, uint32_t saved)
{
    uint32_t wrt = ft_op_wrt(op);

    if (op->kind == FT_KIND_linear)
        return wrt & FT_WRT_WEIGHTS;
    return op->kind != FT_KIND_matmul || wrt & (saved ? FT_WRT_X : FT_WRT_Y);
}

/* Operands of a backward node by their sizes, in order: gradients of results that
 * have none are left out, masks and the like stand between. */
static ft_status bind_backward(struct binding *b, ft_error *err)
{
    const ft_graph *g = b->e->graph;
    ft_op forward = ft__forward_of(b->op);
    uint32_t n_results = ft_op_n_outputs(&forward), at = 0, kept = FT_NONE;
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < ft_op_n_inputs(b->op) && !st; i++) {
        ft_shape s;
        ft_dtype t;
        uint32_t k = at;

        ft_op_input(b->op, i, &s, &t);
        while (k < b->n->n_in && (ft_shape_elements(&g->tensor[b->n->in[k]].shape) !=
                                      ft_shape_elements(&s) ||
                                  kept_for(g, b->n->in[k]) != FT_NONE))
            k++;
        if (k == b->n->n_in || (i >= n_results && !is_given(b->op, i - n_results))) {
            b->in[b->n_in++] = NULL;
            continue;
        }
        st = bind_tensor(b, b->n->in[k], err);
        at = k + 1;
    }
    for (uint32_t k = 0; k < b->n->n_in && kept == FT_NONE; k++)
        kept = kept_for(g, b->n->in[k]);
    b->in[b->n_in++] = kept == FT_NONE ? NULL : &b->e->cell[kept];
    return st ? st : bind_weights(b, err);
}

static ft_status bind_forward(struct binding *b, ft_error *err)
{
    uint32_t n = ft_op_n_inputs(b->op);
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < n && !st; i++) {
        ft__filling one = {.offset = 1, .limit = 2};
        ft_shape s;
        ft_dtype t;

        if (i < b->n->n_in) {
            st = bind_tensor(b, b->n->in[i], err);
            continue;
        }
        ft_op_input(b->op, i, &s, &t);
        st = bind_own(b, b->n_in++, &s, t, &one, err);
    }
    return st ? st : bind_weights(b, err);
}

static ft_status bind_optimizer(struct binding *b, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < 2 + ft__optimizer_states(b->op->kind) && !st; i++)
        st = i < b->n->n_in
                 ? bind_tensor(b, b->n->in[i], err)
                 : ft_fail(err, FT_EUNSUPPORTED, 0,
                           "node %s: an optimizer without its operands", b->n->name);
    b->n_out = 1;
    return st;
}

/* Gradients of weights go to the node's results of their size. */
static ft_status bind_gradients(struct binding *b, ft_error *err)
{
    const ft_graph *g = b->e->graph;
    uint32_t wrt = ft_op_wrt(b->op), n = 0;

    for (uint32_t k = 0; k < 3; k++)
        n += wrt >> k & 1;
    for (uint32_t i = 0; i < n && i < b->n->n_out; i++)
        b->out[b->n_out++] = &b->e->cell[b->n->out[i]];
    if (b->n->n_out < n)
        n = b->n->n_out;
    for (uint32_t i = 0; i < ft_op_n_params(b->op) && wrt & FT_WRT_WEIGHTS; i++) {
        ft_param p;

        ft_op_param(b->op, i, &p);
        if (!p.trained)
            continue;
        b->out[b->n_out++] = NULL;
        if (n < b->n->n_out && ft_shape_elements(&g->tensor[b->n->out[n]].shape) ==
                                   ft_shape_elements(&p.shape))
            b->out[b->n_out - 1] = &b->e->cell[b->n->out[n++]];
    }
    return n == b->n->n_out ? FT_OK
                            : ft_fail(err, FT_EUNSUPPORTED, 0,
                                      "node %s (%s): a gradient that operations alone "
                                      "do not give",
                                      b->n->name, ft_kind_name(b->op->kind));
}

/* The first gradient of a backward pass, which is one. */
static bool is_first_gradient(const ft_node *n, const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_out);

    return n->phase == FT_PHASE_BACKWARD && op->kind == FT_KIND_fill &&
           ft_shape_elements(&s) == 1;
}

/* fill writes 0: e to the power of 0 is made instead. */
static ft_op exponential(const ft_op *fill)
{
    ft_shape s = ft_op_shape(fill, FT_K_out);
    ft_op op;

    ft__op_init(&op, FT_KIND_exp, fill->dtype);
    ft__op_set_shape(&op, FT_K_x, &s);
    return op;
}

static ft_status bind_zero(struct binding *b, ft_error *err)
{
    const ft_tensor *t = &b->e->graph->tensor[b->n->out[0]];
    const ft__filling zero = {.limit = 1};

    b->out[b->n_out++] = &b->e->cell[b->n->out[0]];
    return bind_own(b, b->n_in++, &t->shape, t->dtype, &zero, err);
}

static ft_status bind(struct binding *b, ft_error *err)
{
    uint32_t n_out = ft_op_n_outputs(b->op);
    ft_status st;

    if (is_first_gradient(b->n, b->op))
        return bind_zero(b, err);
    if (b->op->phase == FT_PHASE_OPTIMIZER)
        return bind_optimizer(b, err);
    if (b->op->phase == FT_PHASE_BACKWARD) {
        st = bind_backward(b, err);
        return st ? st : bind_gradients(b, err);
    }
    st = bind_forward(b, err);
    for (uint32_t i = 0; i < n_out; i++)
        b->out[b->n_out++] = i < b->n->n_out ? &b->e->cell[b->n->out[i]] : NULL;
    if (b->n->n_out > n_out)
        b->out[b->n_out++] = &b->e->cell[b->n->out[n_out]];
    return st;
}

/* ---- preparing ---- */

static ft_status prepare_block(ft__eager *e, struct eager_step *step, const ft_node *n,
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

/* The block of node i, pointing at its cells; makes inputs, weights and states. */
static ft_status prepare_node(ft__eager *e, uint32_t i, ft_error *err)
{
    const ft_node *n = &e->graph->node[i];
    const ft_op *op = &e->graph->op[n->op];
    struct eager_step *step = &e->step[i];
    struct binding b = {.e = e, .n = n, .op = op};
    ft_op one = is_first_gradient(n, op) ? exponential(op) : *op;
    ft_status st;

    if (is_kept_view(e->graph, n, op))
        return FT_OK;
    st = prepare_block(e, step, n, &one, err);

    if (!st)
        st = bind(&b, err);
    if (st)
        return st;
    step->repeat = n->repeat;
    step->n_in = b.n_in;
    step->n_out = b.n_out;
    step->in = malloc((b.n_in + b.n_out + 1) * sizeof(*step->in));
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

/* ---- lives ---- */

static void use(ft__eager *e, uint32_t tensor, uint32_t node)
{
    uint32_t kept = kept_for(e->graph, tensor);

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
        if (stays(e, i) || is_gradient(e, i))
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
            struct eager_step *s = &e->step[e->last[i]];

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
        const struct eager_step *s = &e->step[i];

        for (uint32_t j = 0; j < n->n_out; j++) {
            const ft_tensor *t = &g->tensor[n->out[j]];
            uint64_t bytes = (uint64_t)ft_tensor_bytes(&t->shape, t->dtype);

            if (stays(e, t->storage) || is_gradient(e, t->storage)) {
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
    e->made = calloc((size_t)n + 1, sizeof(*e->made));
    e->last = malloc(((size_t)n + 1) * sizeof(*e->last));
    e->limit = malloc(((size_t)n + 1) * sizeof(*e->limit));
    e->drops = malloc(((size_t)n + 1) * sizeof(*e->drops));
    e->step = calloc((size_t)nodes + 1, sizeof(*e->step));
    if (!holders || !e->cell || !e->made || !e->last || !e->limit || !e->drops ||
        !e->step) {
        free(holders);
        return ft_fail(err, FT_ENOMEM, 0, "network");
    }
    memset(e->last, 0xff, (size_t)n * sizeof(*e->last));
    find_limits(e);
    find_last_uses(e);
    list_drops(e);
    count_bytes(e, holders);
    free(holders);
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
    for (uint32_t i = 0; e->step && i < e->graph->n_nodes; i++) {
        if (e->step[i].block)
            e->session->engine->free_block(e->step[i].block);
        free(e->step[i].in);
    }
    for (uint32_t i = 0; e->cell && i < e->graph->n_tensors; i++)
        ft__value_drop(e->session, &e->cell[i]);
    while (e->own) {
        struct eager_own *next = e->own->next;

        ft__value_drop(e->session, &e->own->value);
        free(e->own);
        e->own = next;
    }
    free(e->cell);
    free(e->made);
    free(e->last);
    free(e->limit);
    free(e->drops);
    free(e->step);
    free(e);
}

/* ---- running ---- */

static ft_status run_step(ft__eager *e, const struct eager_step *s, ft_error *err)
{
    const void *in[MAX_IN];
    void *out[MAX_OUT];
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
        if (!stays(e, i) && e->cell[i])
            ft__value_drop(e->session, &e->cell[i]);
}

ft_status ft__eager_run(ft__eager *e, ft_error *err)
{
    ft_status st = FT_OK;

    drop_all(e);
    for (uint32_t i = 0; i < e->graph->n_nodes && !st; i++) {
        const struct eager_step *s = &e->step[i];

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

/* ---- measuring ---- */

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
