/* The loss at the end of the forward pass, and the gradient that it starts. */
#include <string.h>

#include "graph/train.h"

uint32_t ft__train_result(const ft__train *t, uint32_t *i)
{
    while (*i < ft_graph_n_outputs(t->src)) {
        uint32_t result = ft_graph_output(t->src, (*i)++);

        if (t->needs[result])
            return result;
    }
    return FT_NONE;
}

/* The operation that made a tensor, but for what only moves or adds to it. */
static ft_kind made_by(const ft_graph *g, uint32_t tensor)
{
    for (;;) {
        uint32_t node = ft_graph_tensor(g, tensor)->producer;
        const ft_node *n = node == FT_NONE ? NULL : ft_graph_node(g, node);
        ft_kind kind = n ? ft_graph_op(g, n->op)->kind : FT_KIND_view;

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
    const ft_shape *s = &ft_graph_tensor(g, tensor)->shape;
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

/* The loss and its gradient, both with a kernel of their own. Saved: the
 * logarithms of the probabilities, or both operands. */
static uint32_t loss_pair(ft__train *t, ft_op *op, const uint32_t in[2],
                          const ft_shape *probabilities)
{
    const ft_shape scalar = {.rank = 0};
    uint32_t out[2], n_out = 1, back[4], n_back = 0, g;
    ft_shape s = ft__build_get(t->b, in[0])->shape;

    t->at = "loss";
    out[0] = ft__train_tensor(t, op->dtype, &scalar);
    if (probabilities)
        out[n_out++] = ft__train_tensor(t, op->dtype, probabilities);
    ft__build_node(t->b, "loss", 4, op, in, 2, NULL, 0, out, n_out);
    ft__build_output(t->b, out[0]);
    ft__build_phase(t->b, FT_PHASE_BACKWARD);
    back[n_back++] = ft__train_fill(t, op->dtype, &scalar);
    if (!probabilities)
        back[n_back++] = in[0];
    else
        back[n_back++] = out[1];
    back[n_back++] = in[1];
    g = ft__train_tensor(t, op->dtype, &s);
    op->phase = FT_PHASE_BACKWARD;
    ft_op_set_wrt(op, FT_WRT_X);
    ft__build_node(t->b, "loss", 4, op, back, n_back, NULL, 0, &g, 1);
    return g;
}

static uint32_t cross_entropy(ft__train *t, uint32_t result, uint32_t axis)
{
    const ft_tensor *x = ft_graph_tensor(t->src, result);
    ft_shape s = x->shape, labels = s;
    uint32_t in[2] = {result, FT_NONE};
    ft_op op;

    labels.rank--;
    for (uint32_t i = axis; i < labels.rank; i++)
        labels.dim[i] = s.dim[i + 1];
    in[1] = input(t, "labels", FT_DTYPE_int64, &labels);
    ft_op_init(&op, FT_KIND_cross_entropy, x->dtype);
    ft_op_set_shape(&op, FT_K_x, &s);
    ft_op_set1(&op, FT_K_axis, (int64_t)axis);
    ft__build_assume(t->b, "loss: cross entropy over the %lld classes of %s",
                     (long long)s.dim[axis], x->name);
    return loss_pair(t, &op, in, &s);
}

static uint32_t mean_square(ft__train *t, uint32_t result)
{
    const ft_tensor *x = ft_graph_tensor(t->src, result);
    ft_shape s = x->shape;
    uint32_t in[2] = {result, input(t, "target", x->dtype, &s)};
    ft_op op;

    ft_op_init(&op, FT_KIND_mse_loss, x->dtype);
    ft_op_set_shape(&op, FT_K_x, &s);
    ft_op_set_shape(&op, FT_K_y, &s);
    ft__build_assume(t->b, "loss: mean square error of %s", x->name);
    return loss_pair(t, &op, in, NULL);
}

/* A scalar starts with 1; any other result takes a gradient from outside. */
static uint32_t start(ft__train *t, uint32_t result)
{
    const ft_tensor *x = ft_graph_tensor(t->src, result);
    ft_shape s = x->shape;

    ft__build_phase(t->b, FT_PHASE_BACKWARD);
    t->at = "loss";
    if (ft_shape_elements(&s) == 1) {
        ft__build_assume(t->b, "loss: %s itself", x->name);
        return ft__train_fill(t, x->dtype, &s);
    }
    ft__build_assume(t->b, "loss: none; the gradient of %s is given", x->name);
    return input(t, "gradient", x->dtype, &s);
}

void ft__train_loss(ft__train *t, uint32_t result, ft_loss loss)
{
    const ft_shape *s = &ft_graph_tensor(t->src, result)->shape;
    uint32_t axis = class_axis(t->src, result), g;

    if (loss == FT_LOSS_AUTO)
        loss = ft_shape_elements(s) == 1 ? FT_LOSS_NONE
               : axis != FT_NONE         ? FT_LOSS_CROSS_ENTROPY
                                         : FT_LOSS_MSE;
    if (loss == FT_LOSS_CROSS_ENTROPY && s->rank == 0) {
        ft__build_fail(t->b, FT_EINVAL, 0,
                       "%s is one number: no cross entropy over classes",
                       ft_graph_tensor(t->src, result)->name);
        return;
    }
    if (loss == FT_LOSS_CROSS_ENTROPY)
        g = cross_entropy(t, result, axis != FT_NONE ? axis : s->rank > 1 ? 1 : 0);
    else
        g = loss == FT_LOSS_MSE ? mean_square(t, result) : start(t, result);
    ft__train_give(t, result, g);
}
