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
#include <stdlib.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "graph/train.h"

/* ---- forward ---- */

static bool is_gated(const ft_op *op)
{
    return op->kind == FT_KIND_lstm || op->kind == FT_KIND_gru;
}

uint32_t ft__train_n_kept(const ft_op *op)
{
    uint32_t saves = ft_kind_saves(op->kind);

    if (op->kind == FT_KIND_topk) /* its indices are a result */
        return 0;
    if (op->kind == FT_KIND_rmsnorm || op->kind == FT_KIND_attention ||
        op->kind == FT_KIND_cross_entropy || is_gated(op))
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

void ft__train_kept(const ft_op *op, uint32_t i, ft_shape *shape, ft_dtype *dtype)
{
    uint32_t saves = ft_kind_saves(op->kind);
    ft_dtype result;

    (void)i;
    ft_op_output(op, 0, shape, &result);
    *dtype = saves & FT_SAVE_INDICES ? FT_DTYPE_int64
             : saves & FT_SAVE_MASK  ? FT_DTYPE_bool
                                     : op->dtype;
    if (op->kind == FT_KIND_cross_entropy)
        *shape = ft_op_shape(op, FT_K_x);
    /* Of every step four gates and the cell, or what stands for it. */
    if (is_gated(op))
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

static void copy_node(ft__train *t, uint32_t i, bool training)
{
    const ft_node *n = &t->src->node[i];
    ft_op op = t->src->op[n->op];
    uint32_t out[FT_OP_MAX_OPERANDS + 8], n_out = n->n_out;

    t->at = n->name;
    memcpy(out, n->out, n_out * sizeof(*out));
    if (training && op.kind == FT_KIND_batchnorm)
        ft__op_set1(&op, FT_K_train, 1);
    if (training && ft__train_differentiates(t, n, &op) && n_out <= FT_OP_MAX_OPERANDS)
        for (uint32_t k = 0; k < ft__train_n_kept(&op); k++) {
            ft_shape s;
            ft_dtype dtype;

            ft__train_kept(&op, k, &s, &dtype);
            out[n_out++] = ft__train_tensor(t, dtype, &s);
            if (k == 0)
                t->kept[i] = out[n_out - 1];
        }
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

/* ---- backward ---- */

static uint16_t *holders(ft__train *t, uint32_t tensor)
{
    uint32_t storage = ft__build_get(t->b, tensor)->storage;
    uint16_t *p;

    if (storage >= t->cap_holders) {
        uint32_t cap = storage + storage / 2 + 64;

        p = realloc(t->holders, cap * sizeof(*p));
        if (!p) {
            ft__build_fail(t->b, FT_ENOMEM, 0, "training step of %s", t->src->name);
            return NULL;
        }
        memset(p + t->cap_holders, 0, (cap - t->cap_holders) * sizeof(*p));
        t->holders = p;
        t->cap_holders = cap;
    }
    return &t->holders[storage];
}

static void hold(ft__train *t, uint32_t g)
{
    uint16_t *p = holders(t, g);

    if (p && *p < UINT16_MAX)
        ++*p;
}

static void release(ft__train *t, uint32_t tensor)
{
    uint16_t *p = t->grad[tensor] == FT_NONE ? NULL : holders(t, t->grad[tensor]);

    if (p && *p && *p < UINT16_MAX)
        --*p;
    t->grad[tensor] = FT_NONE;
}

/* The sum lies where the older gradient did, unless somebody else needs that. */
static uint32_t accumulate(ft__train *t, uint32_t old, uint32_t g)
{
    uint32_t sum = ft__train_binary(t, FT_KIND_add, old, g);
    uint16_t *p = holders(t, old);

    if (sum == FT_NONE || !p)
        return sum;
    if (*p == 1 && ft__build_get(t->b, old)->role == FT_ROLE_ACTIVATION &&
        ft__build_get(t->b, old)->storage != ft__build_get(t->b, g)->storage)
        ft__build_alias(t->b, sum, old);
    return sum;
}

void ft__train_give(ft__train *t, uint32_t tensor, uint32_t g)
{
    if (ft__build_failed(t->b) || g == FT_NONE || !ft__train_wants(t, tensor))
        return;
    if (t->n_given == sizeof(t->given) / sizeof(*t->given)) {
        ft__build_fail(t->b, FT_EUNSUPPORTED, 0, "node %s: more than %d operands",
                       t->at, FT_OP_MAX_OPERANDS);
        return;
    }
    t->given[t->n_given].tensor = tensor;
    t->given[t->n_given++].g = g;
}

static void take(ft__train *t, uint32_t tensor, uint32_t g)
{
    if (g != FT_NONE && t->grad[tensor] != FT_NONE) {
        g = accumulate(t, t->grad[tensor], g);
        release(t, tensor);
    }
    if (g == FT_NONE)
        return;
    t->grad[tensor] = g;
    hold(t, g);
}

/* Sums over what was broadcast come before all additions. */
void ft__train_take(ft__train *t)
{
    for (uint32_t i = 0; i < t->n_given; i++) {
        const ft_tensor *of = &t->src->tensor[t->given[i].tensor];
        uint32_t g = ft__train_sum_to(t, t->given[i].g, &of->shape);

        t->given[i].g = ft__train_cast(t, g, of->dtype);
    }
    for (uint32_t i = 0; i < t->n_given; i++)
        take(t, t->given[i].tensor, t->given[i].g);
    t->n_given = 0;
}

/* A parameter keeps its gradient: one that others hold too is copied. */
static void own_gradients(ft__train *t, const uint32_t *tensor, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t g = t->grad[tensor[i]], own;
        uint16_t *p = g == FT_NONE ? NULL : holders(t, g);

        if (!p || *p < 2 || !ft__train_is_parameter(&t->src->tensor[tensor[i]]))
            continue;
        own = ft__train_unary(t, FT_KIND_copy, g);
        release(t, tensor[i]);
        t->grad[tensor[i]] = own;
        if (own != FT_NONE)
            hold(t, own);
    }
}

static void backward_node(ft__train *t, uint32_t i)
{
    const ft_node *n = &t->src->node[i];
    uint32_t first = ft__build_here(t->b).n_nodes;
    bool any = false;

    for (uint32_t j = 0; j < n->n_out; j++)
        any |= t->grad[n->out[j]] != FT_NONE;
    if (!any)
        return;
    t->at = n->name;
    ft__train_backward(t, i);
    for (uint32_t j = 0; j < n->n_out; j++)
        release(t, n->out[j]);
    ft__train_take(t);
    own_gradients(t, n->in, n->n_in);
    if (n->repeat != 1)
        ft__build_repeat_from(t->b, first, n->repeat);
}

static void backward(ft__train *t)
{
    ft__build_phase(t->b, FT_PHASE_BACKWARD);
    for (uint32_t i = t->src->n_nodes; i-- > 0 && !ft__build_failed(t->b);)
        backward_node(t, i);
}

/* ---- a list of operations ---- */

static void backward_list(ft__train *t)
{
    ft__build_phase(t->b, FT_PHASE_BACKWARD);
    for (uint32_t i = t->src->n_nodes; i-- > 0 && !ft__build_failed(t->b);) {
        const ft_node *n = &t->src->node[i];
        const ft_tensor *out = &t->src->tensor[n->out[0]];

        t->at = n->name;
        if (ft__train_wants(t, n->out[0]) &&
            ft_kind_saves(t->src->op[n->op].kind) != FT_SAVE_NONE)
            take(t, n->out[0], ft__train_tensor(t, out->dtype, &out->shape));
        backward_node(t, i);
    }
}

/* ---- optimizer ---- */

static void step(ft__train *t, ft_optimizer optimizer, uint32_t weight, uint32_t g)
{
    static const struct {
        ft_kind kind;
        uint32_t states;
    } how[] = {[FT_OPTIMIZER_SGD] = {FT_KIND_sgd, 0},
               [FT_OPTIMIZER_MOMENTUM] = {FT_KIND_momentum, 1},
               [FT_OPTIMIZER_ADAM] = {FT_KIND_adam, 2},
               [FT_OPTIMIZER_ADAMW] = {FT_KIND_adamw, 2}};
    uint32_t in[4] = {weight, g}, out, n = 2;
    const ft_tensor *w = ft__build_get(t->b, weight);
    ft_shape s = w->shape;
    ft_dtype dtype = w->dtype;
    ft_op op;

    t->at = w->name;
    for (uint32_t i = 0; i < how[optimizer].states; i++)
        in[n++] =
            ft__build_tensor(t->b, t->at, strlen(t->at), FT_ROLE_STATE, dtype, &s);
    out = ft__build_tensor(t->b, t->at, strlen(t->at), FT_ROLE_WEIGHT, dtype, &s);
    ft__build_alias(t->b, out, weight);
    ft__op_init(&op, how[optimizer].kind, dtype);
    op.phase = FT_PHASE_OPTIMIZER;
    ft__op_set_shape(&op, FT_K_x, &s);
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

/* ---- a graph that holds its backward pass ---- */

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

/* ---- all of it ---- */

static bool open_train(ft__train *t, const ft_graph *g)
{
    size_t n = (size_t)g->n_tensors + 1, nodes = (size_t)g->n_nodes + 1;

    *t = (ft__train){.src = g, .b = ft__build_new(g->name), .scalar = FT_NONE};
    t->needs = calloc(n, 1);
    t->reached = calloc(n, 1);
    t->grad = malloc(n * sizeof(*t->grad));
    t->kept = malloc(nodes * sizeof(*t->kept));
    if (!t->b || !t->needs || !t->reached || !t->grad || !t->kept)
        return false;
    memset(t->grad, 0xff, n * sizeof(*t->grad));
    memset(t->kept, 0xff, nodes * sizeof(*t->kept));
    return true;
}

static void close_train(ft__train *t)
{
    free(t->needs);
    free(t->reached);
    free(t->grad);
    free(t->kept);
    free(t->holders);
}

/* The name of the first result, for messages. */
static const char *first_result(const ft_graph *g)
{
    return g->n_outputs ? g->tensor[g->output[0]].name : g->name;
}

static void derive_list(ft__train *t)
{
    (void)ft__train_find_trained(t);
    ft__train_want_all(t);
    ft__build_assume(t->b, "every operation is differentiated alone, without a loss");
    copy_forward(t, true);
    backward_list(t);
}

/* The losses of these results, and all that follows from them. */
static void derive_from(ft__train *t, const uint32_t *result, uint32_t n, ft_loss loss)
{
    if (n == 0) {
        ft__build_fail(t->b, FT_EINVAL, 0,
                       "%s has no gradient: no trained weight leads to it by "
                       "operations that can be differentiated",
                       first_result(t->src));
        return;
    }
    ft__build_assume(t->b, "no dropout: models exported for evaluation have none");
    ft__train_find_reached(t);
    copy_forward(t, true);
    if (!ft__build_failed(t->b))
        ft__train_loss(t, result, n, loss);
    backward(t);
}

static void derive(ft__train *t, const ft_step_options *opt)
{
    uint32_t *result = calloc((size_t)t->src->n_outputs + 1, sizeof(*result));

    if (!result)
        ft__build_fail(t->b, FT_ENOMEM, 0, "training step of %s", t->src->name);
    else if (ft__train_find_trained(t) == 0)
        ft__build_fail(t->b, FT_EINVAL, 0,
                       "%s has nothing to train: no layer has floating-point weights",
                       t->src->name);
    if (!ft__build_failed(t->b)) {
        ft__train_find_needs(t);
        derive_from(t, result, ft__train_results(t, opt->loss_on_all, result),
                    opt->loss);
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
