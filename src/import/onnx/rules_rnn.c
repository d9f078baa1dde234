/* Recurrent layers. */
#include "graph/op_inside.h"
#include "import/onnx/compose.h"
#include "import/rules/ops.h"

/* What the file says about a layer, whatever its axes' order. */
struct recurrent_layer {
    int64_t steps, batch, features, hidden, directions;
    bool batch_first;
};

static bool read_layer(const ft__onnx_node *n, int64_t gates, struct recurrent_layer *l)
{
    const ft_shape *x = &n->in[0]->shape, *w = &n->in[1]->shape, *r = &n->in[2]->shape;

    if (x->rank != 3 || w->rank != 3 || r->rank != 3)
        return ft__onnx_fail(n, "its operands must have 3 dimensions");
    l->batch_first = ft__attr_int(n, "layout", 0);
    l->steps = x->dim[l->batch_first];
    l->batch = x->dim[!l->batch_first];
    l->features = x->dim[2];
    l->directions = w->dim[0];
    l->hidden = ft__attr_int(n, "hidden_size", r->dim[2]);
    if (l->hidden != r->dim[2] || l->directions < 1 || l->directions > 2 ||
        w->dim[2] != l->features || w->dim[1] / gates != l->hidden || w->dim[1] % gates)
        return ft__onnx_fail(n, "its weights do not fit together");
    return true;
}

/* All steps, the state behind the last one, and (lstm) its cells. */
void ft__rule_rnn(ft__onnx_node *n)
{
    ft_kind kind = (ft_kind)n->rule->arg;
    int64_t gates = kind == FT_KIND_lstm ? 4 : kind == FT_KIND_gru ? 3 : 1;
    ft__onnx_value *out[3] = {n->out[0], ft__out(n, 1), ft__out(n, 2)};
    struct recurrent_layer l = {0};
    ft_shape s[3];
    ft_op op;

    if (!read_layer(n, gates, &l))
        return;
    if (l.batch_first) {
        s[0] = (ft_shape){4, {l.batch, l.steps, l.directions, l.hidden}};
        s[1] = (ft_shape){3, {l.batch, l.directions, l.hidden}};
    } else {
        s[0] = (ft_shape){4, {l.steps, l.directions, l.batch, l.hidden}};
        s[1] = (ft_shape){3, {l.directions, l.batch, l.hidden}};
    }
    s[2] = s[1];
    op =
        ft__op_recurrent(kind, n->in[0]->dtype, FT__SHAPE(l.steps, l.batch, l.features),
                         l.hidden, l.directions, ft__in(n, 3) != NULL);
    ft__op_set1(&op, FT_K_weights, ft__weights_dtype(n->in[0], n->in[1]));
    ft__emit_layer(n, &op,
                   &(ft__onnx_call){.in = n->in,
                                    .n_in = 1,
                                    .params = n->in + 1,
                                    .n_params = n->n_in - 1,
                                    .out = out,
                                    .n_out = kind == FT_KIND_lstm ? 3 : 2,
                                    .shape = s,
                                    .n_shapes = 3});
}
