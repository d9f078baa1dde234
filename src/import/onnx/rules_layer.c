/* Layers: norms, recurrent ones and attention; losses and what learns from them. */
#include "graph/op_inside.h"
#include "import/onnx/compose.h"
#include "import/rules/ops.h"

/* Before opset 13 the axes from `axis` on were one. */
static void rule_softmax(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    uint32_t rank = x->shape.rank;
    uint32_t axis = rank ? ft__attr_axis(n, n->import->opset < 13 ? 1 : -1) : 0;
    ft_shape s = x->shape;
    ft_op op;

    if (n->import->opset < 13 && axis + 1 < rank) {
        s = (ft_shape){.rank = 2, .dim = {1, 1}};
        for (uint32_t i = 0; i < rank; i++)
            s.dim[i >= axis] *= x->shape.dim[i];
        axis = 1;
    }
    op = ft__op_of((ft_kind)n->rule->arg, x->dtype, &s);
    ft__op_set1(&op, FT_K_axis, axis);
    ft__emit1(n, &op, x, &x->shape);
}

static void rule_ms_qsoftmax(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    bool old = ft__attr_int(n, "opset", 13) < 13;
    uint32_t axis = ft__attr_axis(n, old ? 1 : -1);

    ft__make_softmax(n, x, axis, n->out[0]);
}

/* One operand; the other ones are parameters. key: FT_K_COUNT for none. */
static void norm(ft__onnx_node *n, ft_kind kind, ft_key_id key, int64_t value)
{
    ft__onnx_value *x = n->in[0];
    ft_op op = ft__op_x(kind, x);

    if (key != FT_K_COUNT)
        ft__op_set1(&op, key, value);
    ft__emit_params(n, &op, &x->shape);
}

static void rule_batchnorm(ft__onnx_node *n)
{
    bool training = n->import->opset >= 14 && ft__attr_int(n, "training_mode", 0);

    norm(n, FT_KIND_batchnorm, FT_K_train, training);
    for (uint32_t i = 1; i < 5; i++) /* statistics, when it was exported in training */
        ft__emit_extra(n, i, n->in[3]->dtype, &n->in[3]->shape);
}

/* (x - mean) / deviation, over all but the channels unless axes say otherwise. */
static void rule_mean_variance(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *mean, *square;
    uint32_t rank = x->shape.rank;
    int64_t all = (((int64_t)1 << rank) - 1) & ~(int64_t)2,
            axes = ft__axes(n, 1, rank, all);

    mean = ft__reduce(n, FT_KIND_reduce_mean, x, (uint32_t)axes, true, NULL);
    x = ft__apply(n, FT_KIND_sub, FT__VALUES(x, mean), NULL);
    square = ft__apply(n, FT_KIND_mul, FT__VALUES(x, x), NULL);
    mean = ft__reduce(n, FT_KIND_reduce_mean, square, (uint32_t)axes, true, NULL);
    mean = ft__apply(n, FT_KIND_sqrt, FT__VALUES(mean), NULL);
    ft__apply(n, FT_KIND_div, FT__VALUES(x, mean), n->out[0]);
}

static void rule_instancenorm(ft__onnx_node *n)
{
    norm(n, FT_KIND_instancenorm, FT_K_COUNT, 0);
}

static void rule_groupnorm(ft__onnx_node *n)
{
    norm(n, FT_KIND_groupnorm, FT_K_groups, ft__attr_int(n, "num_groups", 1));
}

static void rule_lrn(ft__onnx_node *n)
{
    norm(n, FT_KIND_lrn, FT_K_size, ft__attr_int(n, "size", 1));
}

static void rule_l2norm(ft__onnx_node *n)
{
    norm(n, FT_KIND_l2norm, FT_K_axis, ft__attr_axis(n, -1));
}

/* arg: the kind. n->norm: set where a chain of nodes was fused. */
static void rule_layernorm(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    ft_dtype stash = ft_dtype_from_onnx(ft__attr_int(n, "stash_type", 1));
    uint32_t axis =
        n->norm ? (n->norm < s.rank ? s.rank - n->norm : 0) : ft__attr_axis(n, -1);

    norm(n, (ft_kind)n->rule->arg, FT_K_norm, s.rank - axis);
    for (uint32_t i = axis; i < s.rank; i++)
        s.dim[i] = 1;
    ft__emit_extra(n, 1, stash, &s);
    ft__emit_extra(n, 2, stash, &s);
}

static void rule_ms_qordered_norm(ft__onnx_node *n)
{
    ft__onnx_value *params[] = {n->in[2], ft__in(n, 3)};

    ft__make_norm(n, FT_KIND_layernorm, n->in[0], FT_K_norm, 1, params, 2, n->out[0]);
}

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
static void rule_rnn(ft__onnx_node *n)
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

/* Its weights are bytes. */
static void rule_ms_lstm(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *params[4] = {n->in[1], n->in[2], ft__in(n, 3)};
    int64_t hidden = ft__attr_size(n, "hidden_size", 1);
    bool both = ft__str_is(ft__attr_str(n, "direction"), "bidirectional");
    ft_op op;

    if (!ft__has_rank(n, 0, 3) || !ft__is_constant(n->in[1]) ||
        !ft__is_constant(n->in[2])) {
        ft__emit_unknown(n);
        return;
    }
    op = ft__op_recurrent(FT_KIND_lstm, x->dtype, &x->shape, hidden, both ? 2 : 1,
                          ft__in(n, 3) != NULL);
    ft__op_set1(&op, FT_K_weights,
                n->in[1]->dtype == x->dtype ? FT_DTYPE_NONE : n->in[1]->dtype);
    ft__emit(n, &op,
             &(ft__onnx_call){
                 .in = &x,
                 .n_in = 1,
                 .params = params,
                 .n_params = ft__in(n, 3) ? 3 : 2,
                 .out = (ft__onnx_value *[]){n->out[0], ft__out(n, 1), ft__out(n, 2)},
                 .n_out = 3});
}

/* Batch, heads, length and size of queries, keys or values, which come with four
 * dimensions in this order, or as batch x length x (heads x size). */
static bool read_heads(const ft__onnx_node *n, const ft__onnx_value *v,
                       const char *heads, ft_shape *out)
{
    const ft_shape *s = &v->shape;
    int64_t count;

    *out = *s;
    if (s->rank == 4)
        return true;
    count = ft__attr_int(n, heads, 0);
    if (s->rank != 3 || count < 1 || s->dim[2] % count)
        return ft__onnx_fail(n, "%s=%lld does not fit an operand of %u dimensions",
                             heads, (long long)count, s->rank);
    *out = (ft_shape){4, {s->dim[0], count, s->dim[1], s->dim[2] / count}};
    return true;
}

/* v with heads in front of length, into out (NULL: a value of its own). */
static ft__onnx_value *heads_first(const ft__onnx_node *n, ft__onnx_value *v,
                                   const ft_shape *s, ft__onnx_value *out)
{
    ft__onnx_value *rows =
        ft__make_view(n, v, FT__SHAPE(s->dim[0], s->dim[2], s->dim[1], s->dim[3]),
                      ft__onnx_temp(n, v));

    return ft__make_transpose(n, rows, (int64_t[]){0, 2, 1, 3},
                              out ? out : ft__onnx_temp(n, v));
}

/* Keys or values with those of the past in front, which become result i. What
 * attention then reads; *s is its shape. */
static ft__onnx_value *with_past(const ft__onnx_node *n, ft__onnx_value *v,
                                 ft__onnx_value *past, uint32_t i, ft_shape *s)
{
    ft__onnx_value *present = ft__out(n, i);

    if (!past && !present)
        return v;
    if (!past && v->shape.rank == 3)
        return heads_first(n, v, s, present);
    if (!past) {
        ft__emit_view(n, v, present, s);
        return v;
    }
    if (v->shape.rank == 3)
        v = heads_first(n, v, s, NULL);
    present =
        ft__make_concat(n, past, v, 2, present ? present : ft__onnx_temp(n, past));
    if (present)
        *s = present->shape;
    return present;
}

/* batch x heads matrices of rows x inner times inner x columns. */
static void products(const ft__onnx_node *n, const ft_shape *x, int64_t columns,
                     ft__onnx_value *const *in, uint32_t n_in, ft__onnx_value *out,
                     const ft_shape *shape, ft_dtype to)
{
    ft_op op = ft__op_of(FT_KIND_matmul, in[0]->dtype, x);
    ft__op_set(&op, FT_K_y, (int64_t[]){x->dim[0], x->dim[1], x->dim[3], columns}, 4);
    ft__op_set1(&op, FT_K_to, to == in[0]->dtype ? FT_DTYPE_NONE : to);
    if (out && !ft__failed(n))
        ft__make_of(n, &op, in, n_in, shape, out);
}

/* arg: 1 where only queries, keys and values can be operands. */
static void rule_attention(ft__onnx_node *n)
{
    bool plain = n->rule->arg;
    ft__onnx_value *past_k = plain ? NULL : ft__in(n, 4),
                   *past_v = plain ? NULL : ft__in(n, 5),
                   *mask = plain ? NULL : ft__in(n, 3), *in[3] = {n->in[0]},
                   *rest[2] = {mask, plain ? NULL : ft__in(n, 6)};
    ft_shape q, k, v, s;
    ft_op op;

    if (!read_heads(n, n->in[0], "q_num_heads", &q) ||
        !read_heads(n, n->in[1], "kv_num_heads", &k) ||
        !read_heads(n, n->in[2], "kv_num_heads", &v))
        return;
    in[1] = with_past(n, n->in[1], past_k, 1, &k);
    in[2] = with_past(n, n->in[2], past_v, 2, &v);
    if (!in[1] || !in[2])
        return;
    op = ft__op_attention(in[0]->dtype, &q, &k, &v,
                          ft__attr_int(n, "is_causal", 0) != 0, mask != NULL);
    s = q;
    s.dim[3] = v.dim[3];
    if (in[0]->shape.rank == 3)
        s = (ft_shape){3, {q.dim[0], q.dim[2], q.dim[1] * v.dim[3]}};
    ft__emit_weighted(n, &op, in, 3, rest, 2, &s);
    if (ft__out(n, 3) && !ft__failed(n))
        /* The products of queries and keys, which a fused kernel does not write. */
        products(n, &q, k.dim[2], in, 2, n->out[3],
                 FT__SHAPE(q.dim[0], q.dim[1], q.dim[2], k.dim[2]), in[0]->dtype);
}

static void rule_rotary(ft__onnx_node *n)
{
    ft_op op = ft__op_x(FT_KIND_rotary, n->in[0]);

    ft__emit_params(n, &op, &n->in[0]->shape);
}

/* A state of keys x values per head, and what queries read from it. Each step is
 * the same work as its part of these products: the keys by the values into the
 * state, (delta rules) the state's own answer to the keys, the queries by the
 * state. */
static void rule_linear_attention(ft__onnx_node *n)
{
    ft__onnx_value *q = n->in[0], *k = n->in[1], *v = n->in[2], *past = ft__in(n, 3),
                   *state = ft__out(n, 1), *in[6] = {k, v};
    ft__str how = ft__attr_str(n, "update_rule");
    bool delta =
        how.n == 0 || ft__str_is(how, "delta") || ft__str_is(how, "gated_delta");
    ft_shape sq, sk, sv, s, rows;
    uint32_t n_in = 2;

    if (!read_heads(n, q, "q_num_heads", &sq) ||
        !read_heads(n, k, "kv_num_heads", &sk) ||
        !read_heads(n, v, "kv_num_heads", &sv))
        return;
    state = state ? state : ft__onnx_temp(n, q);
    for (uint32_t i = 3; i < 6; i++)
        if (ft__in(n, i))
            in[n_in++] = n->in[i];
    s = (ft_shape){4, {sk.dim[0], sk.dim[1], sk.dim[3], sv.dim[3]}};
    rows = (ft_shape){4, {sk.dim[0], sk.dim[1], sk.dim[3], sk.dim[2]}};
    products(n, &rows, sv.dim[3], in, n_in, state, &s, past ? past->dtype : k->dtype);
    if (delta)
        products(n, &sk, sv.dim[3], (ft__onnx_value *[]){k, state}, 2,
                 ft__onnx_temp(n, q), NULL, k->dtype);
    s = (ft_shape){3, {sq.dim[0], sq.dim[2], sq.dim[1] * sv.dim[3]}};
    if (q->shape.rank == 4) {
        s = sq;
        s.dim[3] = sv.dim[3];
    }
    products(n, &sq, sv.dim[3], (ft__onnx_value *[]){q, state}, 2, n->out[0], &s,
             q->dtype);
}

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
    loss = ft__apply(n, FT_KIND_neg, FT__VALUES(loss),
                     none && !weights ? n->out[0] : NULL);
    if (weights)
        loss = ft__apply(n, FT_KIND_mul, FT__VALUES(loss, w), none ? n->out[0] : NULL);
    if (none)
        return;
    if (!weights || sum) {
        ft__reduce(n, sum ? FT_KIND_reduce_sum : FT_KIND_reduce_mean, loss, all, false,
                   n->out[0]);
        return;
    }
    loss = ft__reduce(n, FT_KIND_reduce_sum, loss, all, false, NULL);
    w = ft__reduce(n, FT_KIND_reduce_sum, w, all, false, NULL);
    ft__apply(n, FT_KIND_div, FT__VALUES(loss, w), n->out[0]);
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

static void rule_nll(ft__onnx_node *n)
{
    if (labels_fit(n))
        reduced_loss(n, n->in[0], n->in[1], ft__in(n, 2));
}

/* One kernel where only the loss is asked for, as a scalar. */
static void rule_cross_entropy(ft__onnx_node *n)
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
static void rule_optimizer(ft__onnx_node *n)
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
static void rule_gradient(ft__onnx_node *n)
{
    for (uint32_t i = 0; i < n->n_out; i++)
        if (ft__in(n, i))
            ft__emit_generic(n, n->out[i], n->in[i]->dtype, &n->in[i]->shape);
        else
            ft__emit_generic(n, n->out[i], FT_DTYPE_NONE, NULL);
}

static const ft__operator_rule rules[] = {
    {"Attention", rule_attention, 0, 3, 0},
    {"BatchNormalization", rule_batchnorm, 0, 5, FT__LAYER},
    {"GRU", rule_rnn, FT_KIND_gru, 3, 0},
    {"GroupNormalization", rule_groupnorm, 0, 3, FT__LAYER},
    {"Hardmax", rule_softmax, FT_KIND_hardmax, 1, FT__BYTES_ONE},
    {"InstanceNormalization", rule_instancenorm, 0, 3, FT__LAYER},
    {"LRN", rule_lrn, 0, 1, 0},
    {"LSTM", rule_rnn, FT_KIND_lstm, 3, 0},
    {"LayerNormalization", rule_layernorm, FT_KIND_layernorm, 2, FT__LAYER},
    {"LinearAttention", rule_linear_attention, 0, 3, 0},
    {"LogSoftmax", rule_softmax, FT_KIND_logsoftmax, 1, FT__BYTES_ONE},
    {"LpNormalization", rule_l2norm, 0, 1, 0},
    {"MeanVarianceNormalization", rule_mean_variance, 0, 1, 0},
    {"NegativeLogLikelihoodLoss", rule_nll, 0, 2, 0},
    {"RMSNormalization", rule_layernorm, FT_KIND_rmsnorm, 2, FT__LAYER},
    {"RNN", rule_rnn, FT_KIND_rnn, 3, 0},
    {"RotaryEmbedding", rule_rotary, 0, 1, 0},
    {"SimplifiedLayerNormalization", rule_layernorm, FT_KIND_rmsnorm, 2, FT__LAYER},
    {"Softmax", rule_softmax, FT_KIND_softmax, 1, FT__BYTES_ONE},
    {"SoftmaxCrossEntropyLoss", rule_cross_entropy, 0, 2, 0},
    {"DynamicQuantizeLSTM", rule_ms_lstm, 0, 3, FT__MICROSOFT},
    {"QLinearSoftmax", rule_ms_qsoftmax, 0, 1, FT__MICROSOFT},
    {"QOrderedLayerNormalization", rule_ms_qordered_norm, 0, 3, FT__MICROSOFT},
    {"FlexAttention", rule_attention, 1, 3, FT__PREVIEW},
    {"Adagrad", rule_optimizer, FT_KIND_momentum, 2, FT__TRAINING},
    {"Adam", rule_optimizer, FT_KIND_adam, 2, FT__TRAINING},
    {"Gradient", rule_gradient, 0, 1, FT__TRAINING},
    {"Momentum", rule_optimizer, FT_KIND_momentum, 2, FT__TRAINING},
};

const ft__rule_table ft__rules_layer = {rules, sizeof(rules) / sizeof(*rules)};
