/* Operations one by one, for rules that make several of one node. */
#include "import/onnx/compose.h"

#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/rules/ops.h"

void ft__emit_params(const ft__onnx_node *n, const ft_op *op, const ft_shape *shape)
{
    ft__emit_weighted(n, op, n->in, 1, n->in + 1, n->n_in - 1, shape);
}

ft__onnx_value *ft__make_sum(const ft__onnx_node *n, ft__onnx_value *x,
                             ft__onnx_value *y, ft__onnx_value *out)
{
    if (y)
        return ft__apply(n, FT_KIND_add, FT__VALUES(x, y), out);
    return x && out ? ft__make_view(n, x, &x->shape, out) : x;
}

ft__onnx_value *ft__make_view(const ft__onnx_node *n, ft__onnx_value *x,
                              const ft_shape *s, ft__onnx_value *out)
{
    if (!x || ft__failed(n))
        return NULL;
    if (!ft__shape_fits(s) || ft_shape_elements(s) > ft_shape_elements(&x->shape)) {
        ft__onnx_fail(n, "its operands do not fit together");
        return NULL;
    }
    if (!out)
        out = ft__onnx_temp(n, n->out[0]);
    if (!out)
        return NULL;
    ft__emit_view(n, x, out, s);
    return ft__failed(n) ? NULL : out;
}

ft__onnx_value *ft__make_transpose(const ft__onnx_node *n, ft__onnx_value *x,
                                   const int64_t *perm, ft__onnx_value *out)
{
    ft_op op;

    if (!x)
        return NULL;
    op = ft__op_x(FT_KIND_transpose, x);
    ft__op_set(&op, FT_K_perm, perm, x->shape.rank);
    return ft__make_of(n, &op, FT__VALUES(x), NULL, out);
}

ft__onnx_value *ft__make_channels(const ft__onnx_node *n, ft__onnx_value *x, bool last,
                                  ft__onnx_value *out)
{
    int64_t perm[FT_MAX_RANK];
    uint32_t rank = x ? x->shape.rank : 0;

    if (rank < 3) {
        ft__misfit(n, 0);
        return NULL;
    }
    for (uint32_t i = 0; i < rank; i++)
        perm[i] = i == 0 ? 0 : last ? (i + 1) % rank : i - 1;
    perm[last ? rank - 1 : 1] = last ? 1 : rank - 1;
    return ft__make_transpose(n, x, perm, out);
}

ft__onnx_value *ft__make_concat(const ft__onnx_node *n, ft__onnx_value *x,
                                ft__onnx_value *y, uint32_t axis, ft__onnx_value *out)
{
    ft_op op;

    if (!y)
        return NULL;
    if (!x)
        return ft__apply(n, FT_KIND_copy, FT__VALUES(y), out);
    for (uint32_t i = 0; i < x->shape.rank || i < y->shape.rank; i++)
        if (x->shape.rank != y->shape.rank ||
            (i != axis && x->shape.dim[i] != y->shape.dim[i])) {
            ft__onnx_fail(n, "what it has from the past does not fit");
            return NULL;
        }
    op = ft__op_concat(x->dtype, &x->shape, axis,
                       (int64_t[]){x->shape.dim[axis], y->shape.dim[axis]}, 2);
    return ft__make_of(n, &op, FT__VALUES(x, y), NULL, out);
}

/* Parts of equal shape but for the axis; their sum along it, or -1. */
static int64_t sum_along(ft__onnx_value *const *part, uint32_t count, uint32_t axis)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        const ft_shape *s = part[i] ? &part[i]->shape : NULL, *first = &part[0]->shape;

        if (!s || s->rank != first->rank)
            return -1;
        for (uint32_t d = 0; d < s->rank; d++)
            if (d != axis && s->dim[d] != first->dim[d])
                return -1;
        sum += s->dim[axis];
        if (sum > FT__MAX_ELEMENTS)
            return -1;
    }
    return sum;
}

static void fold_concat(const ft__onnx_node *node, ft__onnx_value *const *part,
                        uint32_t n, uint32_t axis, ft__onnx_value *out)
{
    int64_t outer = 1, row = 1, at = 0;

    for (uint32_t i = 0; i < n; i++)
        if (!ft__data(node, part[i]))
            return;
    if (!ft__fold_new(node, out))
        return;
    for (uint32_t i = 0; i < out->shape.rank; i++)
        *(i < axis ? &outer : &row) *= out->shape.dim[i];
    for (uint32_t i = 0; i < n; i++) {
        int64_t width = outer ? ft_shape_elements(&part[i]->shape) / outer : 0;

        for (int64_t r = 0; r < outer && width; r++)
            memcpy(out->data + r * row + at, part[i]->data + r * width,
                   (size_t)width * sizeof(*out->data));
        at += width;
    }
}

void ft__emit_concat(ft__onnx_node *n, ft__onnx_value *const *part, uint32_t count,
                     uint32_t axis, ft_dtype dtype)
{
    int64_t sizes[FT__MAX_PARTS], sum;
    ft__onnx_value *x = part[0];
    ft_shape s;
    ft_op op;

    if (ft__failed(n))
        return;
    sum = sum_along(part, count, axis);
    if (sum < 0) {
        ft__onnx_fail(n, "the shapes of its parts do not fit");
        return;
    }
    s = x->shape;
    s.dim[axis] = sum;
    if (count == 1) {
        ft__emit_view(n, x, n->out[0], &s);
        return;
    }
    if (count > FT__MAX_PARTS) {
        ft__emit_counted(n, n->out[0], dtype, &s);
        if (ft__is_constant(n->out[0]))
            fold_concat(n, part, count, axis, n->out[0]);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        sizes[i] = part[i]->shape.dim[axis];
    op = ft__op_concat(dtype, &x->shape, axis, sizes, count);
    if (ft__is_constant(ft__make_of(n, &op, part, count, NULL, n->out[0])))
        fold_concat(n, part, count, axis, n->out[0]);
}

ft__onnx_value *ft__make_softmax(const ft__onnx_node *n, ft__onnx_value *x,
                                 uint32_t axis, ft__onnx_value *out)
{
    ft_op op;

    if (!x)
        return NULL;
    op = ft__op_x(FT_KIND_softmax, x);
    ft__op_set1(&op, FT_K_axis, axis);
    return ft__make_of(n, &op, FT__VALUES(x), NULL, out);
}

ft__onnx_value *ft__make_norm(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                              ft_key_id key, int64_t value,
                              ft__onnx_value *const *params, uint32_t n_params,
                              ft__onnx_value *out)
{
    ft__onnx_value *there[8];
    uint32_t count = 0;
    ft_op op;

    if (!x)
        return NULL;
    for (uint32_t i = 0; i < n_params && count < 8; i++)
        if (ft__is_constant(params[i]))
            there[count++] = params[i];
    op = ft__op_x(kind, x);
    if (key != FT_K_COUNT)
        ft__op_set1(&op, key, value);
    return ft__make(n, &op, &x, 1, there, count, &x->shape, out);
}

ft__onnx_value *ft__make_matmul(const ft__onnx_node *n, ft__onnx_value *x,
                                ft__onnx_value *y, ft_dtype to, ft__onnx_value *out)
{
    ft_op op;

    if (!x || !y)
        return NULL;
    op = ft__op_xy(FT_KIND_matmul, x, y);
    ft__op_set1(&op, FT_K_to, to == x->dtype ? FT_DTYPE_NONE : to);
    ft__op_set1(&op, FT_K_weights, y->dtype == x->dtype ? FT_DTYPE_NONE : y->dtype);
    return ft__make_of(n, &op, FT__VALUES(x, y), NULL, out);
}

ft__onnx_value *ft__make_embedding(const ft__onnx_node *n, ft__onnx_value *x,
                                   const ft__embedding_rows *t, ft__onnx_value *out)
{
    ft_dtype own;
    ft_shape s;
    ft_op op;

    if (!x || !t->table)
        return NULL;
    own = t->weights ? t->weights : t->table->dtype;
    s = x->shape;
    ft__push(n, &s, t->dim);
    op = ft__op_embedding(t->dtype, &x->shape, t->rows, t->dim);
    ft__op_set1(&op, FT_K_weights, own == t->dtype ? FT_DTYPE_NONE : own);
    return ft__make(n, &op, &x, 1, &t->table, 1, &s, out);
}

ft__onnx_value *ft__make_move(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                              const ft_shape *s, ft__onnx_value *out)
{
    ft_op op;

    if (!x)
        return NULL;
    op = ft__op_xto(kind, x, s);
    return ft__make_of(n, &op, FT__VALUES(x), s, out);
}

ft__onnx_value *ft__make_linear(const ft__onnx_node *n, ft__onnx_value *x,
                                const ft__linear *l, ft__onnx_value *out)
{
    ft__onnx_value *params[5];
    uint32_t count = 0;
    ft_dtype own;
    ft_shape s;
    ft_op op;

    if (!x || !x->shape.rank || !ft__is_constant(l->weight))
        return NULL;
    own = l->weights ? l->weights : ft__weights_dtype(x, l->weight);
    s = x->shape;
    s.dim[s.rank - 1] = l->columns;
    params[count++] = l->weight;
    for (uint32_t i = 0; i < 3; i++)
        if (ft__is_constant(l->scales[i]))
            params[count++] = l->scales[i];
    if (l->bias)
        params[count++] = l->bias;
    op = ft__op_x(FT_KIND_linear, x);
    ft__op_set1(&op, FT_K_out, l->columns);
    ft__op_set1(&op, FT_K_bias, l->bias != NULL);
    ft__op_set1(&op, FT_K_to, l->to == x->dtype ? FT_DTYPE_NONE : l->to);
    ft__op_set1(&op, FT_K_weights, own == x->dtype ? FT_DTYPE_NONE : own);
    ft__op_set1(&op, FT_K_block, l->block);
    return ft__make(n, &op, &x, 1, params, count, &s, out);
}

/* Some operators write names in small or capital letters. */
static bool is_called(ft__str s, const char *name)
{
    return s.n == strlen(name) && strncasecmp(s.s, name, s.n) == 0;
}

/* FT_KIND_copy: none; FT_KIND_generic: one that is not known. */
static ft_kind activation(ft__str s)
{
    static const struct {
        const char *name;
        ft_kind kind;
    } known[] = {
        {"Relu", FT_KIND_relu},
        {"Sigmoid", FT_KIND_sigmoid},
        {"Tanh", FT_KIND_tanh},
        {"LeakyRelu", FT_KIND_leaky_relu},
        {"Clip", FT_KIND_clip},
        {"HardSigmoid", FT_KIND_hardsigmoid},
        {"HardSwish", FT_KIND_hardswish},
        {"Elu", FT_KIND_elu},
        {"Selu", FT_KIND_selu},
        {"Softplus", FT_KIND_softplus},
        {"Softsign", FT_KIND_softsign},
        {"Gelu", FT_KIND_gelu},
        {"FastGelu", FT_KIND_gelu_tanh},
        {"silu", FT_KIND_silu},
        {"swish", FT_KIND_silu},
        {"swiglu", FT_KIND_silu},
        {"ThresholdedRelu", FT_KIND_thresholded_relu},
        {"Softmax", FT_KIND_softmax},
        {"LogSoftmax", FT_KIND_logsoftmax},
        {"identity", FT_KIND_copy},
        {"none", FT_KIND_copy},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (is_called(s, known[i].name))
            return known[i].kind;
    return s.n ? FT_KIND_generic : FT_KIND_copy;
}

/* Of x alone, named among the bounded: what it computes is not known. */
static ft__onnx_value *make_unknown(const ft__onnx_node *n, ft__onnx_value *x,
                                    ft__onnx_value *out)
{
    ft__str name = n->name.n ? n->name : n->out[0]->name;
    ft_op op;

    if (!x)
        return NULL;
    op = ft__op_x(FT_KIND_generic, x);
    ft__op_set1(&op, FT_K_read, ft_shape_elements(&x->shape));
    ft__op_set_shape(&op, FT_K_out, &x->shape);
    ft__build_bounded(n->import->b, "unknown activation of %.*s (node %.*s)",
                      ft__shown(n->op.n, 60), n->op.s, ft__shown(name.n, 200), name.s);
    return ft__make_of(n, &op, FT__VALUES(x), NULL, out);
}

bool ft__activates(const ft__onnx_node *n, const char *attr, ft_kind *kind)
{
    *kind = activation(ft__attr_str(n, attr));
    return *kind != FT_KIND_copy;
}

ft__onnx_value *ft__activate(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                             ft__onnx_value *out)
{
    if (kind == FT_KIND_generic)
        return make_unknown(n, x, out);
    if (kind == FT_KIND_softmax && x && x->shape.rank)
        return ft__make_softmax(n, x, x->shape.rank - 1, out);
    return ft__apply(n, kind, FT__VALUES(x), out);
}
