/* The losses of a training step, and the gradients that they begin with. */
#include <stdlib.h>
#include <string.h>

#include "graph/gradient.h"
#include "graph/op_inside.h"

/* The operation that made a tensor, but for what only moves or adds to it. */
static ft_kind made_by(const ft_graph *g, uint32_t tensor)
{
    for (;;) {
        uint32_t node = g->tensor[tensor].producer;
        const ft_node *n = node == FT_NONE ? NULL : &g->node[node];
        ft_kind kind = n ? g->op[n->op].kind : FT_KIND_view;

        if (!n || !n->n_in ||
            (kind != FT_KIND_view && kind != FT_KIND_transpose && kind != FT_KIND_add &&
             kind != FT_KIND_cast))
            return kind;
        tensor = n->in[0];
    }
}

/* The axis of the classes, FT_NONE: these are no logits. */
static uint32_t class_axis(const ft_graph *g, uint32_t tensor)
{
    const ft_shape *s = &g->tensor[tensor].shape;
    ft_kind kind = made_by(g, tensor);

    if (s->rank == 2 && s->dim[1] > 1)
        return 1;
    if (s->rank > 2 && (kind == FT_KIND_linear || kind == FT_KIND_matmul))
        return s->rank - 1;
    if (s->rank > 3 && s->dim[1] > 1 &&
        (ft_kind_class(kind) == FT_CLASS_CONV || kind == FT_KIND_resize))
        return 1;
    return FT_NONE;
}

/* A tensor that comes from outside. */
static uint32_t input(ft__train *t, const char *name, ft_dtype dtype,
                      const ft_shape *shape)
{
    return ft__build_tensor(t->b, name, strlen(name), FT_ROLE_INPUT, dtype, shape);
}

/* What losses compute a result in: fp32 where mixed precision cast the weights. */
static ft_dtype loss_dtype(const ft__train *t, const ft_tensor *x)
{
    for (uint32_t i = 0; i < t->src->n_nodes; i++) {
        const ft_node *n = &t->src->node[i];
        const ft_op *op = &t->src->op[n->op];

        if (op->kind == FT_KIND_cast && op->dtype == FT_DTYPE_fp32 &&
            ft_op_at(op, FT_K_to, 0) == (int64_t)x->dtype &&
            t->src->tensor[n->in[0]].role == FT_ROLE_WEIGHT)
            return FT_DTYPE_fp32;
    }
    return x->dtype;
}

/* One result's loss: an operation of its own; the result itself, where that is a
 * scalar; or none, and a gradient from outside. */
struct loss {
    ft_op op;
    uint32_t result;
    uint32_t other;         /* labels or target, FT_NONE: there is no operation */
    uint32_t probabilities; /* their logarithms are kept; FT_NONE: both operands are */
    uint32_t value;         /* FT_NONE: the gradient comes from outside */
};

static void append(ft__train *t, struct loss *l, bool probabilities)
{
    const ft_shape scalar = {.rank = 0};
    ft_shape s = t->src->tensor[l->result].shape;
    uint32_t in[2] = {l->result, l->other}, out[2], n_out = 1;

    t->at = "loss";
    out[0] = l->value = ft__grad_tensor(t, l->op.dtype, &scalar);
    if (probabilities)
        out[n_out++] = l->probabilities = ft__grad_tensor(t, l->op.dtype, &s);
    ft__build_node(t->b, t->at, strlen(t->at), &l->op, in, 2, NULL, 0, out, n_out);
}

static void cross_entropy(ft__train *t, struct loss *l, uint32_t axis)
{
    const ft_tensor *x = &t->src->tensor[l->result];
    ft_shape s = x->shape, labels = s;

    labels.rank--;
    for (uint32_t i = axis; i < labels.rank; i++)
        labels.dim[i] = s.dim[i + 1];
    l->other = input(t, "labels", FT_DTYPE_int64, &labels);
    ft__op_init(&l->op, FT_KIND_cross_entropy, loss_dtype(t, x));
    ft__op_set_shape(&l->op, FT_K_x, &s);
    ft__op_set1(&l->op, FT_K_axis, (int64_t)axis);
    ft__build_assume(t->b, "loss: cross entropy over the %lld classes of %s",
                     (long long)s.dim[axis], x->name);
    append(t, l, true);
}

static void mean_square(ft__train *t, struct loss *l)
{
    const ft_tensor *x = &t->src->tensor[l->result];

    l->other = input(t, "target", loss_dtype(t, x), &x->shape);
    ft__op_init(&l->op, FT_KIND_mse_loss, loss_dtype(t, x));
    ft__op_set_shape(&l->op, FT_K_x, &x->shape);
    ft__op_set_shape(&l->op, FT_K_y, &x->shape);
    ft__build_assume(t->b, "loss: mean square error of %s", x->name);
    append(t, l, false);
}

static void none(ft__train *t, struct loss *l)
{
    const ft_tensor *x = &t->src->tensor[l->result];

    if (ft_shape_elements(&x->shape) == 1)
        l->value = l->result;
    ft__build_assume(t->b,
                     l->value == FT_NONE ? "loss: none; the gradient of %s is given"
                                         : "loss: %s itself",
                     x->name);
}

static void begin_loss(ft__train *t, struct loss *l, uint32_t result, ft_loss loss)
{
    const ft_shape *s = &t->src->tensor[result].shape;
    uint32_t axis = class_axis(t->src, result);

    *l = (struct loss){
        .result = result, .other = FT_NONE, .probabilities = FT_NONE, .value = FT_NONE};
    if (loss == FT_LOSS_AUTO)
        loss = ft_shape_elements(s) == 1 ? FT_LOSS_NONE
               : axis != FT_NONE         ? FT_LOSS_CROSS_ENTROPY
                                         : FT_LOSS_MSE;
    if (loss == FT_LOSS_CROSS_ENTROPY && s->rank == 0)
        ft__build_fail(t->b, FT_EINVAL, 0,
                       "%s is one number: no cross entropy over classes",
                       t->src->tensor[result].name);
    else if (loss == FT_LOSS_CROSS_ENTROPY)
        cross_entropy(t, l, axis != FT_NONE ? axis : s->rank > 1 ? 1 : 0);
    else if (loss == FT_LOSS_MSE)
        mean_square(t, l);
    else
        none(t, l);
}

/* The result's gradient; that of the losses' sum is `one`. */
static uint32_t gradient(ft__train *t, struct loss *l, uint32_t one)
{
    const ft_tensor *x = &t->src->tensor[l->result];
    uint32_t in[3] = {one, l->probabilities, l->other}, g;

    if (l->value == FT_NONE)
        return input(t, "gradient", x->dtype, &x->shape);
    if (l->other == FT_NONE)
        return ft__grad_view(t, one, &x->shape);
    if (l->probabilities == FT_NONE)
        in[1] = l->result;
    g = ft__grad_tensor(t, x->dtype, &x->shape);
    l->op.phase = FT_PHASE_BACKWARD;
    ft__op_set_wrt(&l->op, FT_WRT_X);
    ft__build_node(t->b, t->at, strlen(t->at), &l->op, in, 3, NULL, 0, &g, 1);
    return g;
}

static void all_losses(ft__train *t, struct loss *l, const uint32_t *result, uint32_t n,
                       ft_loss loss)
{
    const ft_shape scalar = {.rank = 0};
    uint32_t sum = FT_NONE, one = FT_NONE;

    for (uint32_t i = 0; i < n && !ft__build_failed(t->b); i++) {
        begin_loss(t, &l[i], result[i], loss);
        if (l[i].value != FT_NONE)
            sum = sum == FT_NONE ? l[i].value
                                 : ft__grad_binary(t, FT_KIND_add, sum, l[i].value);
    }
    if (ft__build_failed(t->b))
        return;
    t->at = "loss";
    if (sum != FT_NONE && !ft__build_get(t->b, sum)->is_output)
        ft__build_output(t->b, sum);
    ft__build_phase(t->b, FT_PHASE_BACKWARD);
    if (sum != FT_NONE)
        one = ft__grad_fill(t, ft__build_get(t->b, sum)->dtype, &scalar);
    for (uint32_t i = n; i-- > 0 && !ft__build_failed(t->b);) {
        ft__grad_give(t, l[i].result, gradient(t, &l[i], one));
        ft__grad_take_given(t);
    }
}

void ft__train_loss(ft__train *t, const uint32_t *result, uint32_t n, ft_loss loss)
{
    struct loss *l = malloc(n * sizeof(*l));

    if (l)
        all_losses(t, l, result, n, loss);
    else
        ft__build_fail(t->b, FT_ENOMEM, 0, "training step of %s", t->src->name);
    free(l);
}
