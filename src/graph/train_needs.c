/* Which tensors of a graph need a gradient: those that a trained weight leads to
 * and that lead to the loss. */
#include "graph/graph_inside.h"
#include "graph/train.h"

static bool is_floating(ft_dtype t)
{
    return t == FT_DTYPE_fp32 || t == FT_DTYPE_fp64 || t == FT_DTYPE_fp16 ||
           t == FT_DTYPE_bf16;
}

/* ---- what is trained ---- */

bool ft__train_is_parameter(const ft_tensor *t)
{
    return t->role == FT_ROLE_WEIGHT && t->producer == FT_NONE && is_floating(t->dtype);
}

/* The weight of which this one is a view, or the tensor itself. */
static uint32_t leaf_of(const ft_graph *g, uint32_t tensor)
{
    return g->tensor[tensor].storage;
}

static void train_params(ft__train *t, const ft_node *n, const ft_op *op)
{
    /* A batch norm's mean and variance are no parameters. */
    uint32_t last = op->kind == FT_KIND_batchnorm ? 2 : n->n_params;

    for (uint32_t i = 0; i < n->n_params && i < last; i++)
        if (ft__train_is_parameter(&t->src->tensor[leaf_of(t->src, n->params[i])]))
            t->needs[leaf_of(t->src, n->params[i])] = 1;
}

/* Constants of more than one element that meet activations: position tables,
 * class tokens, layer scales. Returns how many. */
static uint32_t train_constants(ft__train *t, const ft_node *n, const ft_op *op)
{
    uint32_t found = 0, n_operands = ft_op_n_inputs(op);

    for (uint32_t i = 0; i < n->n_in && i < n_operands; i++) {
        uint32_t leaf = leaf_of(t->src, n->in[i]);
        const ft_tensor *w = &t->src->tensor[leaf];

        if (!ft__train_is_parameter(w) || t->needs[leaf] || op->kind == FT_KIND_view ||
            (ft_shape_elements(&w->shape) <= 1 && op->kind != FT_KIND_prelu))
            continue;
        t->needs[leaf] = 1;
        found += op->kind != FT_KIND_prelu;
    }
    return found;
}

uint32_t ft__train_find_trained(ft__train *t)
{
    uint32_t known = 0, n = 0, constants = 0;

    for (uint32_t i = 0; i < t->src->n_tensors; i++)
        if (t->src->tensor[i].trainable)
            t->needs[i] = 1, known++;
    for (uint32_t i = 0; i < t->src->n_nodes && !known; i++) {
        const ft_node *node = &t->src->node[i];
        const ft_op *op = &t->src->op[node->op];

        train_params(t, node, op);
        constants += train_constants(t, node, op);
    }
    for (uint32_t i = 0; i < t->src->n_tensors; i++)
        n += t->needs[i];
    if (constants)
        ft__build_assume(t->b,
                         "%u constant tensors, operands of additions and the like, "
                         "taken to be trained",
                         constants);
    return n;
}

/* ---- where gradients flow ---- */

static bool needs_any(const ft__train *t, const ft_node *n, const ft_op *op)
{
    for (uint32_t i = 0; i < n->n_params; i++)
        if (t->needs[n->params[i]])
            return true;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (t->needs[n->in[i]] && ft__train_passes(op, i))
            return true;
    return false;
}

static bool is_activation(const ft_tensor *t)
{
    return is_floating(t->dtype) && !t->container && !t->detached;
}

void ft__train_find_needs(ft__train *t)
{
    for (uint32_t i = 0; i < t->src->n_nodes; i++) {
        const ft_node *n = &t->src->node[i];

        if (!needs_any(t, n, &t->src->op[n->op]))
            continue;
        for (uint32_t j = 0; j < n->n_out; j++)
            t->needs[n->out[j]] = is_activation(&t->src->tensor[n->out[j]]);
    }
}

static bool reached_any(const ft__train *t, const ft_node *n)
{
    for (uint32_t i = 0; i < n->n_out; i++)
        if (ft__train_wants(t, n->out[i]))
            return true;
    return false;
}

uint32_t ft__train_results(ft__train *t, bool all, uint32_t *result)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->src->n_outputs && (all || n == 0); i++) {
        uint32_t tensor = t->src->output[i];

        if (!t->needs[tensor] || t->reached[tensor])
            continue;
        t->reached[tensor] = 1;
        result[n++] = tensor;
    }
    return n;
}

void ft__train_find_reached(ft__train *t)
{
    for (uint32_t i = t->src->n_nodes; i-- > 0;) {
        const ft_node *n = &t->src->node[i];
        const ft_op *op = &t->src->op[n->op];

        if (!reached_any(t, n))
            continue;
        for (uint32_t j = 0; j < n->n_in; j++)
            t->reached[n->in[j]] |= ft__train_passes(op, j);
        for (uint32_t j = 0; j < n->n_params; j++)
            t->reached[n->params[j]] = 1;
    }
}

bool ft__train_differentiates(const ft__train *t, const ft_node *n, const ft_op *op)
{
    return reached_any(t, n) && needs_any(t, n, op);
}

/* Each stands alone: the gradients of its results come out of nowhere, and all
 * its operands get one. */
void ft__train_want_all(ft__train *t)
{
    for (uint32_t i = 0; i < t->src->n_tensors; i++) {
        t->needs[i] |= is_activation(&t->src->tensor[i]) &&
                       t->src->tensor[i].role != FT_ROLE_WEIGHT;
        t->reached[i] = 1;
    }
}
