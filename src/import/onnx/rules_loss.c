/* Losses and what learns from them. */
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

/* What labels pick of x, by a kind of gather with these indices. */
static ft__onnx_value *picked_of(const ft__onnx_node *n, ft_kind kind,
                                 ft__onnx_value *x, const ft_shape *index,
                                 uint32_t axis, ft__onnx_value *labels)
{
    ft_op op = ft__op_x(kind, x);

    ft__op_set_shape(&op, FT_K_y, index);
    ft__op_set1(&op, FT_K_axis, axis);
    return ft__make_of(n, &op, FT__VALUES(x, labels), &labels->shape,
                       ft__onnx_temp(n, axis ? x : labels));
}

/* Picked, negated, weighted; then what `reduction` says. */
static void reduced_loss(ft__onnx_node *n, ft__onnx_value *x, ft__onnx_value *labels,
                         ft__onnx_value *weights)
{
    ft__str how = ft__attr_str(n, "reduction");
    bool none = ft__str_is(how, "none"), sum = ft__str_is(how, "sum");
    uint32_t all = (1u << labels->shape.rank) - 1;
    ft__onnx_value *w = NULL, *loss;
    ft_shape index = x->shape;

    if (weights)
        w = picked_of(n, FT_KIND_gather, weights, &labels->shape, 0, labels);
    index.dim[1] = 1;
    loss = picked_of(n, FT_KIND_gather_elements, x, &index, 1, labels);
    loss = ft__apply1(n, FT_KIND_neg, loss, none && !weights ? n->out[0] : NULL);
    if (weights)
        loss = ft__apply2(n, FT_KIND_mul, loss, w, none ? n->out[0] : NULL);
    if (none)
        return;
    if (!weights || sum) {
        ft__reduce(n, sum ? FT_KIND_reduce_sum : FT_KIND_reduce_mean, loss, all, false,
                   n->out[0]);
        return;
    }
    loss = ft__reduce(n, FT_KIND_reduce_sum, loss, all, false, NULL);
    w = ft__reduce(n, FT_KIND_reduce_sum, w, all, false, NULL);
    ft__apply2(n, FT_KIND_div, loss, w, n->out[0]);
}

/* Scores are batch x classes x ..., labels the same without the classes. */
static bool labels_fit(const ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape, *t = &n->in[1]->shape;
    bool fit = x->rank >= 2 && t->rank + 1 == x->rank;

    for (uint32_t i = 0; fit && i < t->rank; i++)
        fit = t->dim[i] == x->dim[i + (i > 0)];
    if (!fit)
        ft__onnx_fail(n, "its labels do not fit its scores");
    return fit;
}

void ft__rule_nll(ft__onnx_node *n)
{
    if (labels_fit(n))
        reduced_loss(n, n->in[0], n->in[1], ft__in(n, 2));
}

/* One kernel where only the loss is asked for, as a scalar. */
void ft__rule_cross_entropy(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *log = ft__out(n, 1);
    bool none = ft__str_is(ft__attr_str(n, "reduction"), "none");
    ft_op op;

    if (!labels_fit(n))
        return;
    op = ft__op_x(none || log ? FT_KIND_logsoftmax : FT_KIND_cross_entropy, x);
    ft__op_set1(&op, FT_K_axis, 1);
    if (!none && !log) {
        ft__emit_params(n, &op, NULL);
        return;
    }
    log = log ? log : ft__onnx_temp(n, x);
    if (!log)
        return;
    ft__make_of(n, &op, FT__VALUES(x), NULL, log);
    if (!ft__failed(n))
        reduced_loss(n, log, n->in[1], ft__in(n, 2));
}

/* Rate and count, then for each parameter: itself, its gradient and its states,
 * all of one sort together; the results are the parameter and its states. arg:
 * the kind; Adam has two states, the others one. */
void ft__rule_optimizer(ft__onnx_node *n)
{
    ft_kind kind = (ft_kind)n->rule->arg;
    uint32_t states = kind == FT_KIND_adam ? 2 : 1, each = 2 + states,
             count = (n->n_in - 2) / each;

    if ((n->n_in - 2) % each || n->n_out != count * (1 + states)) {
        ft__onnx_fail(n, "%u operands are not %u for each parameter", n->n_in - 2,
                      each);
        return;
    }
    for (uint32_t i = 0; i < count && !ft__failed(n); i++) {
        ft__onnx_value *in[4] = {NULL}, *out[3] = {NULL};
        ft_op op;

        for (uint32_t k = 0; k < each; k++)
            if (!(in[k] = n->in[2 + k * count + i]))
                ft__onnx_fail(n, "an operand is missing");
        for (uint32_t k = 0; k < 1 + states; k++)
            out[k] = n->out[k * count + i];
        if (ft__failed(n))
            return;
        op = ft__op_x(kind, in[0]);
        ft__emit(
            n, &op,
            &(ft__onnx_call){.in = in, .n_in = each, .out = out, .n_out = 1 + states});
    }
}

/* What the backward pass costs is not said here: bounded. */
void ft__rule_gradient(ft__onnx_node *n)
{
    for (uint32_t i = 0; i < n->n_out; i++)
        if (ft__in(n, i))
            ft__emit_generic(n, n->out[i], n->in[i]->dtype, &n->in[i]->shape);
        else
            ft__emit_generic(n, n->out[i], FT_DTYPE_NONE, NULL);
}
