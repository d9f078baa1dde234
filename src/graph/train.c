/* One training step from a forward graph.
 *
 *   1. which tensors need a gradient: what a trained weight leads to
 *   2. which of them the loss sees
 *   3. the forward pass again, with what it saves for the backward one
 *   4. the loss
 *   5. the nodes in reverse order, each with its backward nodes; gradients of a
 *      tensor with several readers are added as they come, in place where nobody
 *      else holds the first one (PyTorch's engine does the same)
 *   6. one optimizer node per parameter */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "graph/train.h"

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
        /* mixed precision casts the weights of layers */
        found += op->kind != FT_KIND_prelu && op->kind != FT_KIND_cast;
    }
    return found;
}

/* What the importer knows; where it knows nothing, parameters of layers and constants
 * that look like some. Returns how many tensors are trained. */
static uint32_t find_trained(ft__train *t)
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
    return ft__dtype_is_real(t->dtype) && !t->container && !t->detached;
}

static void find_needs(ft__train *t)
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

/* The results to train on: the first, or all, that have a gradient; returns how many.
 * result[] has room for all results of the graph. */
static uint32_t find_results(ft__train *t, bool all, uint32_t *result)
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

/* What leads to them. */
static void find_reached(ft__train *t)
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

/* The node has backward nodes. */
static bool differentiates(const ft__train *t, const ft_node *n, const ft_op *op)
{
    return reached_any(t, n) && needs_any(t, n, op);
}

/* For a list of operations, all that can have a gradient. Each stands alone: the
 * gradients of its results come out of nowhere, and all its operands get one. */
static void want_all(ft__train *t)
{
    for (uint32_t i = 0; i < t->src->n_tensors; i++) {
        t->needs[i] |= is_activation(&t->src->tensor[i]) &&
                       t->src->tensor[i].role != FT_ROLE_WEIGHT;
        t->reached[i] = 1;
    }
}

/* How many tensors a node saves beside operands and results. */
static uint32_t n_kept(const ft_op *op)
{
    uint32_t saves = ft_kind_saves(op->kind);

    if (op->kind == FT_KIND_topk) /* its indices are a result */
        return 0;
    if (op->kind == FT_KIND_rmsnorm || op->kind == FT_KIND_attention ||
        op->kind == FT_KIND_cross_entropy || op->kind == FT_KIND_lstm ||
        op->kind == FT_KIND_gru || op->kind == FT_KIND_moe)
        return 1;
    return saves & FT_SAVE_STATS ? 2 : saves & (FT_SAVE_INDICES | FT_SAVE_MASK) ? 1 : 0;
}

/* One element for all that is normalised together. */
static ft_shape groups_of(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);

    switch (op->kind) {
    case FT_KIND_batchnorm: return (ft_shape){.rank = 1, .dim = {s.dim[1]}};
    case FT_KIND_groupnorm:
        return (ft_shape){.rank = 2, .dim = {s.dim[0], ft_op_at(op, FT_K_groups, 0)}};
    case FT_KIND_instancenorm:
        return (ft_shape){.rank = 2, .dim = {s.dim[0], s.dim[1]}};
    case FT_KIND_attention: s.rank = 3; return s;
    default:
        for (int64_t i = 0; i < ft_op_at(op, FT_K_norm, 0) && i < (int64_t)s.rank; i++)
            s.dim[s.rank - 1 - (uint32_t)i] = 1;
        return s;
    }
}

/* Of each row that this device's experts are given: the row itself, and what goes into
 * the activation and comes out of it. */
static ft_shape rows_of_experts(const ft_op *op, ft_shape s)
{
    const int64_t size = s.dim[s.rank - 1], rows = ft_shape_elements(&s) / size;
    const int64_t hidden = ft_op_at(op, FT_K_hidden, 0) / ft_op_at(op, FT_K_tp, 0);

    return (ft_shape){
        .rank = 2,
        .dim = {(rows * ft_op_at(op, FT_K_topk, 0) + ft_op_at(op, FT_K_ep, 0) - 1) /
                    ft_op_at(op, FT_K_ep, 0),
                size + (ft_op_at(op, FT_K_gated, 0) ? 3 : 2) * hidden}};
}

/* Each of the tensors that a node saves beside operands and results. */
static void kept_tensor(const ft_op *op, ft_shape *shape, ft_dtype *dtype)
{
    uint32_t saves = ft_kind_saves(op->kind);
    ft_dtype result;

    ft_op_output(op, 0, shape, &result);
    *dtype = saves & FT_SAVE_INDICES ? FT_DTYPE_int64
             : saves & FT_SAVE_MASK  ? FT_DTYPE_bool
                                     : op->dtype;
    if (op->kind == FT_KIND_cross_entropy)
        *shape = ft_op_shape(op, FT_K_x);
    if (op->kind == FT_KIND_moe) {
        *shape = rows_of_experts(op, *shape);
        *dtype = result;
    }
    /* Of every step four gates and the cell, or what stands for it. */
    if (op->kind == FT_KIND_lstm || op->kind == FT_KIND_gru)
        shape->dim[3] *= 5;
    if (!(saves & FT_SAVE_STATS))
        return;
    *shape = groups_of(op);
    *dtype = op->dtype == FT_DTYPE_fp64 ? FT_DTYPE_fp64 : FT_DTYPE_fp32;
}

static void copy_tensors(ft__train *t)
{
    for (uint32_t i = 0; i < t->src->n_tensors; i++) {
        const ft_tensor *s = &t->src->tensor[i];

        ft__build_like(t->b, s, s->dtype);
        if (t->needs[i] && s->role == FT_ROLE_WEIGHT && s->producer == FT_NONE)
            ft__build_trainable(t->b, i);
    }
}

/* Results made in the memory of an operand; views do so by themselves. Where the
 * backward pass needs that operand as it was, it has to be copied: then nothing is
 * saved by writing over it. */
static void copy_storage(ft__train *t, const ft_node *n, const ft_op *op)
{
    bool keeps = ft_kind_class(op->kind) == FT_CLASS_UNARY &&
                 (ft_kind_saves(op->kind) & FT_SAVE_X);

    for (uint32_t i = 0; i < n->n_out && !ft__build_failed(t->b); i++) {
        uint32_t out = n->out[i], of = t->src->tensor[out].storage;

        if (of == out || op->kind == FT_KIND_view || (keeps && ft__train_wants(t, out)))
            continue;
        if (n->n_in && t->src->tensor[n->in[0]].storage == of)
            of = n->in[0];
        ft__build_alias(t->b, out, of);
    }
}

/* Makes them; returns how many. */
static uint32_t keep_tensors(ft__train *t, uint32_t node, const ft_op *op,
                             uint32_t *out)
{
    uint32_t n = n_kept(op);
    ft_shape s;
    ft_dtype dtype;

    if (n)
        kept_tensor(op, &s, &dtype);
    for (uint32_t k = 0; k < n; k++)
        out[k] =
            ft__build_tensor(t->b, t->at, strlen(t->at), FT_ROLE_ACTIVATION, dtype, &s);
    t->kept[node] = n ? out[0] : FT_NONE;
    t->n_kept[node] = (uint8_t)n;
    return n;
}

static void copy_node(ft__train *t, uint32_t i, bool training)
{
    const ft_node *n = &t->src->node[i];
    ft_op op = t->src->op[n->op];
    uint32_t out[FT_OP_MAX_OPERANDS + 8], n_out = n->n_out;

    t->at = n->name;
    memcpy(out, n->out, n_out * sizeof(*out));
    if (training && op.kind == FT_KIND_batchnorm)
        ft__op_set1(&op, FT_K_train, 1);
    if (training && differentiates(t, n, &op) && n_out <= FT_OP_MAX_OPERANDS)
        n_out += keep_tensors(t, i, &op, out + n_out);
    ft__build_at(t->b, n);
    ft__build_again(t->b, n, &op, n->in, out, n_out);
    copy_storage(t, n, &op);
}

static void copy_forward(ft__train *t, bool training)
{
    copy_tensors(t);
    for (uint32_t i = 0; i < t->src->n_nodes && !ft__build_failed(t->b); i++)
        copy_node(t, i, training);
    for (uint32_t i = 0; i < t->src->n_outputs; i++)
        ft__build_output(t->b, t->src->output[i]);
    ft__build_scope(t->b, "", 0);
}

static void step(ft__train *t, ft_optimizer optimizer, uint32_t weight, uint32_t g)
{
    static const struct {
        ft_kind kind;
        uint32_t states;
    } how[] = {[FT_OPTIMIZER_SGD] = {FT_KIND_sgd, 0},
               [FT_OPTIMIZER_MOMENTUM] = {FT_KIND_momentum, 1},
               [FT_OPTIMIZER_ADAM] = {FT_KIND_adam, 2},
               [FT_OPTIMIZER_ADAMW] = {FT_KIND_adamw, 2},
               [FT_OPTIMIZER_ADAMW8BIT] = {FT_KIND_adamw, 2}};
    const bool narrow = optimizer == FT_OPTIMIZER_ADAMW8BIT;
    uint32_t in[4] = {weight, g}, out, n = 2;
    const ft_tensor *w = ft__build_get(t->b, weight);
    ft_shape s = w->shape;
    ft_dtype dtype = w->dtype;
    ft_op op;

    t->at = w->name;
    for (uint32_t i = 0; i < how[optimizer].states; i++)
        in[n++] = ft__build_tensor(t->b, t->at, strlen(t->at), FT_ROLE_STATE,
                                   narrow ? FT_DTYPE_int8 : dtype, &s);
    out = ft__build_tensor(t->b, t->at, strlen(t->at), FT_ROLE_WEIGHT, dtype, &s);
    ft__build_alias(t->b, out, weight);
    ft__op_init(&op, how[optimizer].kind, dtype);
    op.phase = FT_PHASE_OPTIMIZER;
    ft__op_set_shape(&op, FT_K_x, &s);
    if (narrow)
        ft__op_set1(&op, FT_K_weights, FT_DTYPE_int8);
    ft__build_node(t->b, t->at, strlen(t->at), &op, in, n, NULL, 0, &out, 1);
}

static void optimize(ft__train *t, ft_optimizer optimizer)
{
    ft__build_phase(t->b, FT_PHASE_OPTIMIZER);
    for (uint32_t i = 0; i < t->src->n_tensors && !ft__build_failed(t->b); i++) {
        uint32_t g = t->grad[i];

        if (g == FT_NONE || !ft__train_is_parameter(&t->src->tensor[i]))
            continue;
        ft__build_role(t->b, g, FT_ROLE_GRADIENT);
        ft__build_role(t->b, ft__build_get(t->b, g)->storage, FT_ROLE_GRADIENT);
        if (optimizer == FT_OPTIMIZER_NONE)
            ft__build_output(t->b, g);
        else
            step(t, optimizer, i, g);
    }
}

/* Of the trained weights the one of this shape that has no gradient yet, the one
 * of the same name before others. */
static uint32_t weight_for(const ft__train *t, const uint32_t *trained, uint32_t n,
                           const ft_tensor *g)
{
    uint32_t best = FT_NONE;

    for (uint32_t i = 0; i < n; i++) {
        const ft_tensor *w = &t->src->tensor[trained[i]];

        if (t->grad[trained[i]] != FT_NONE || !ft_shape_equal(&w->shape, &g->shape))
            continue;
        if (strncmp(w->name, g->name, strlen(w->name)) == 0)
            return trained[i];
        best = best == FT_NONE ? trained[i] : best;
    }
    return best;
}

/* A gradient may be a view, of a transposed product; of a sum in place there are
 * several tensors and one storage. */
static void match_gradients(ft__train *t)
{
    uint32_t *trained = malloc(((size_t)t->src->n_tensors + 1) * sizeof(*trained));
    uint32_t n = 0;

    if (!trained) {
        ft__build_fail(t->b, FT_ENOMEM, 0, "training step of %s", t->src->name);
        return;
    }
    for (uint32_t i = 0; i < t->src->n_tensors; i++)
        if (t->src->tensor[i].trainable)
            trained[n++] = i;
    for (uint32_t i = 0; i < t->src->n_tensors; i++) {
        const ft_tensor *g = &t->src->tensor[i];
        uint32_t w = FT_NONE;

        if (g->role == FT_ROLE_GRADIENT && !t->reached[g->storage])
            w = weight_for(t, trained, n, g);
        if (w == FT_NONE)
            continue;
        t->grad[w] = i;
        t->reached[g->storage] = 1;
    }
    free(trained);
}

static bool open_train(ft__train *t, const ft_graph *g)
{
    size_t n = (size_t)g->n_tensors + 1, nodes = (size_t)g->n_nodes + 1;

    *t = (ft__train){.src = g, .b = ft__build_new(g->name), .scalar = FT_NONE};
    t->needs = ft__arena_need(&t->room, n, 1);
    t->reached = ft__arena_need(&t->room, n, 1);
    t->grad = ft__arena_need(&t->room, n, sizeof(*t->grad));
    t->kept = ft__arena_need(&t->room, nodes, sizeof(*t->kept));
    t->n_kept = ft__arena_need(&t->room, nodes, sizeof(*t->n_kept));
    if (!t->b || t->room.bad)
        return false;
    memset(t->grad, 0xff, n * sizeof(*t->grad));
    memset(t->kept, 0xff, nodes * sizeof(*t->kept));
    return true;
}

static void close_train(ft__train *t)
{
    ft__arena_free(&t->room);
    free(t->holders);
}

static void derive_list(ft__train *t)
{
    (void)find_trained(t);
    want_all(t);
    ft__build_assume(t->b, "every operation is differentiated alone, without a loss");
    copy_forward(t, true);
    ft__train_backward(t, NULL, 0, FT_LOSS_NONE);
}

static bool has_dropout(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].kind == FT_KIND_dropout)
            return true;
    return false;
}

/* The losses of these results, and all that follows from them. */
static void derive_from(ft__train *t, const uint32_t *result, uint32_t n, ft_loss loss)
{
    if (n == 0) {
        ft__build_fail(t->b, FT_EINVAL, 0,
                       "%s has no gradient: no trained weight leads to it by "
                       "operations that can be differentiated",
                       t->src->n_outputs ? t->src->tensor[t->src->output[0]].name
                                         : t->src->name);
        return;
    }
    if (!has_dropout(t->src))
        ft__build_assume(t->b, "no dropout: models exported for evaluation have none");
    find_reached(t);
    copy_forward(t, true);
    ft__train_backward(t, result, n, loss);
}

static void derive(ft__train *t, const ft_step_options *opt)
{
    uint32_t *result = calloc((size_t)t->src->n_outputs + 1, sizeof(*result));

    if (!result)
        ft__build_fail(t->b, FT_ENOMEM, 0, "training step of %s", t->src->name);
    else if (find_trained(t) == 0)
        ft__build_fail(t->b, FT_EINVAL, 0,
                       "%s has nothing to train: no layer has floating-point weights",
                       t->src->name);
    if (!ft__build_failed(t->b)) {
        find_needs(t);
        derive_from(t, result, find_results(t, opt->loss_on_all, result), opt->loss);
    }
    free(result);
}

ft_status ft__graph_train(ft_graph **out, const ft_graph *g, const ft_step_options *opt,
                          ft_error *err)
{
    ft__train t;

    *out = NULL;
    if (!open_train(&t, g)) {
        ft__build_free(t.b);
        close_train(&t);
        return ft_fail(err, FT_ENOMEM, 0, "training step of %s", g->name);
    }
    ft__build_notes(t.b, g);
    if (g->mode == FT_MODE_TRAINING) {
        copy_forward(&t, false);
        match_gradients(&t);
    } else if (g->n_outputs == 0) {
        derive_list(&t);
    } else {
        derive(&t, opt);
    }
    optimize(&t, opt->optimizer);
    close_train(&t);
    return ft__build_finish_take(out, t.b, err);
}
