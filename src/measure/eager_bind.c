/* Which values every node of a network that is run eagerly takes and gives. */
#include <stdlib.h>

#include "graph/op_inside.h"
#include "measure/eager_inside.h"
#include "measure/values.h"

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

    if (!ft__eager_stays(e, tensor))
        return FT_OK;
    return make_cell(e, tensor, &e->graph->tensor[tensor].shape, &with, err);
}

void ft__eager_find_limits(ft__eager *e)
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

/* A value of the node's own, still NULL. */
static ft_status new_own(ft__eager_binding *b, ft__eager_own **out, uint32_t slot,
                         ft_error *err)
{
    ft__eager_own *o = ft__arena_array(&b->e->arena, 1, sizeof(*o));

    *out = o;
    if (!o)
        return ft_fail(err, FT_ENOMEM, 0, "node %s", b->n->name);
    o->next = b->e->own;
    b->e->own = o;
    b->in[slot] = &o->value;
    return FT_OK;
}

static ft_status bind_own(ft__eager_binding *b, uint32_t slot, const ft_shape *shape,
                          ft_dtype dtype, const ft__filling *with, ft_error *err)
{
    ft__eager_own *o;
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
static ft_status bind_turned(ft__eager_binding *b, uint32_t slot, uint32_t tensor,
                             ft_error *err)
{
    const ft_engine *engine = b->e->session->engine;
    const ft_shape *made = &b->e->made[tensor];
    const void *in[] = {b->e->cell[tensor]};
    ft__eager_own *o;
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
static ft_status bind_weight(ft__eager_binding *b, uint32_t i, ft_error *err)
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
        (ft__eager_stays(b->e, tensor)
             ? ft_shape_elements(&t->shape) != ft_shape_elements(&p.shape)
             : !ft_shape_equal(&t->shape, &p.shape)))
        return bind_own(b, slot, &p.shape, p.dtype, &with, err);
    if (b->e->cell[tensor] && ft__eager_stays(b->e, tensor) &&
        is_turned(&b->e->made[tensor], &p.shape))
        return bind_turned(b, slot, tensor, err);
    b->in[slot] = &b->e->cell[tensor];
    with.seed = ft__tensor_seed(b->e->session, t);
    return ft__eager_stays(b->e, tensor) ? make_cell(b->e, tensor, &p.shape, &with, err)
                                         : FT_OK;
}

static ft_status bind_weights(ft__eager_binding *b, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < ft_op_n_params(b->op) && !st; i++)
        st = bind_weight(b, i, err);
    return st;
}

static ft_status bind_tensor(ft__eager_binding *b, uint32_t tensor, ft_error *err)
{
    b->in[b->n_in++] = &b->e->cell[tensor];
    return make_operand(b->e, tensor, err);
}

uint32_t ft__eager_kept_for(const ft_graph *g, uint32_t tensor)
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
static ft_status bind_backward(ft__eager_binding *b, ft_error *err)
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
                                  ft__eager_kept_for(g, b->n->in[k]) != FT_NONE))
            k++;
        if (k == b->n->n_in || (i >= n_results && !is_given(b->op, i - n_results))) {
            b->in[b->n_in++] = NULL;
            continue;
        }
        st = bind_tensor(b, b->n->in[k], err);
        at = k + 1;
    }
    for (uint32_t k = 0; k < b->n->n_in && kept == FT_NONE; k++)
        kept = ft__eager_kept_for(g, b->n->in[k]);
    b->in[b->n_in++] = kept == FT_NONE ? NULL : &b->e->cell[kept];
    return st ? st : bind_weights(b, err);
}

static ft_status bind_forward(ft__eager_binding *b, ft_error *err)
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

static ft_status bind_optimizer(ft__eager_binding *b, ft_error *err)
{
    ft_status st = FT_OK;

    if (b->n->n_in > 2 && b->e->graph->tensor[b->n->in[2]].dtype != b->op->dtype)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "node %s: no engine has optimizers with states of 8 bits",
                       b->n->name);
    for (uint32_t i = 0; i < 2 + ft__optimizer_states(b->op->kind) && !st; i++)
        st = i < b->n->n_in
                 ? bind_tensor(b, b->n->in[i], err)
                 : ft_fail(err, FT_EUNSUPPORTED, 0,
                           "node %s: an optimizer without its operands", b->n->name);
    b->n_out = 1;
    return st;
}

/* Gradients of weights go to the node's results of their size. */
static ft_status bind_gradients(ft__eager_binding *b, ft_error *err)
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
ft_op ft__eager_op(const ft_node *n, const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_out);
    ft_op one = *op;

    if (!is_first_gradient(n, op))
        return one;
    ft__op_init(&one, FT_KIND_exp, op->dtype);
    ft__op_set_shape(&one, FT_K_x, &s);
    return one;
}

static ft_status bind_zero(ft__eager_binding *b, ft_error *err)
{
    const ft_tensor *t = &b->e->graph->tensor[b->n->out[0]];
    const ft__filling zero = {.limit = 1};

    b->out[b->n_out++] = &b->e->cell[b->n->out[0]];
    return bind_own(b, b->n_in++, &t->shape, t->dtype, &zero, err);
}

ft_status ft__eager_bind(ft__eager_binding *b, ft_error *err)
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
