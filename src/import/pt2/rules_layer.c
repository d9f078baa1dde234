/* Layers: matrix products, norms, attention, recurrent layers. */
#include "graph/op_inside.h"
#include "import/pt2/pt2.h"
#include "import/rules/einsum.h"

/* The parameter at the end of a chain of views; *swapped: its two axes are. NULL: no
 * constant matrix. */
static ft__pt2_value *weight_matrix(ft__pt2_value *v, bool *swapped)
{
    *swapped = false;
    if (!v || v->state != FT__PT2_WEIGHT || v->shape.rank != 2)
        return NULL;
    while (v->of && (v->transposed || ft_shape_equal(&v->shape, &v->of->shape))) {
        *swapped ^= v->transposed;
        v = v->of;
    }
    return v;
}

/* x with constant weights, in x out. */
static void linear(ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *w, int64_t out,
                   ft__pt2_value *bias)
{
    ft_op op = ft__op_of(FT_KIND_linear, x->dtype, &x->shape);

    ft__op_set1(&op, FT_K_out, out);
    ft__op_set1(&op, FT_K_bias, bias != NULL);
    ft__pt2_emit_layer(n, &op, &x, 1, (ft__pt2_value *[]){w, bias}, 2);
}

/* A vector is a matrix of one row, or of one column on the right. */
static ft_shape as_matrix(const ft__pt2_value *v, bool right)
{
    ft_shape s = v->shape;

    if (s.rank == 1) {
        s = (ft_shape){.rank = 2, .dim = {1, s.dim[0]}};
        if (right)
            s = (ft_shape){.rank = 2, .dim = {s.dim[1], 1}};
    }
    return s;
}

static void matmul(ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *y,
                   ft__pt2_value *out)
{
    ft__pt2_value *w, *in[2] = {x, y};
    ft_shape xs, ys;
    bool swapped;
    ft_op op;

    if (!x || !y || !out)
        return;
    w = weight_matrix(y, &swapped);
    if (w && x->state != FT__PT2_WEIGHT && x->shape.rank && out == ft__pt2_out(n, 0)) {
        linear(n, x, w, y->shape.dim[1], NULL);
        return;
    }
    xs = as_matrix(x, false);
    ys = as_matrix(y, true);
    op = ft__op_of(FT_KIND_matmul, out->dtype, &xs);
    ft__op_set_shape(&op, FT_K_y, &ys);
    ft__pt2_emit_to(n, &op, in, 2, out);
}

static void aten_matmul(ft__pt2_node *n)
{
    matmul(n, n->x, n->y, ft__pt2_out(n, 0));
}

/* The product first, then what is added to it. */
static void matmul_add(ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *y,
                       ft__pt2_value *z)
{
    ft__pt2_value *out = ft__pt2_out(n, 0), *in[2] = {NULL, z};
    ft_op op;

    if (!x || !y || !out || !z)
        return;
    in[0] = ft__pt2_temp(n, out, out->dtype, &out->shape);
    matmul(n, x, y, in[0]);
    in[0] = ft__pt2_made(n, in[0]);
    op = ft__pt2_op(FT_KIND_add, out->dtype, out, z, NULL);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* addmm(z, x, y), baddbmm, addmv: z + x y. */
static void aten_addmm(ft__pt2_node *n)
{
    ft__pt2_value *z = n->x, *x = n->y, *y = ft__pt2_in(n, 2);
    bool swapped;
    ft__pt2_value *w = weight_matrix(y, &swapped);

    if (w && x && z && z->state == FT__PT2_WEIGHT && z->shape.rank == 1 &&
        x->state != FT__PT2_WEIGHT && z->shape.dim[0] == y->shape.dim[1])
        linear(n, x, w, y->shape.dim[1], z);
    else
        matmul_add(n, x, y, z);
}

/* Weights that are made in every pass: a product of two activations, of which the
 * second one lies transposed. */
static void linear_of_activations(ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *w,
                                  ft__pt2_value *bias)
{
    ft_shape s = {.rank = 2, .dim = {w->shape.dim[1], w->shape.dim[0]}};
    ft__pt2_value *t = ft__pt2_temp(n, w, w->dtype, &s);

    if (!t)
        return;
    ft__pt2_emit_transpose(n, w, t, (int64_t[]){1, 0});
    if (!ft__pt2_made(n, t))
        return;
    if (bias)
        matmul_add(n, x, t, bias);
    else
        matmul(n, x, t, ft__pt2_out(n, 0));
}

static void aten_linear(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *w = n->y;
    ft__pt2_value *bias = ft__pt2_tensor(n, "bias"), *matrix;
    bool swapped;

    if (!w || x->shape.rank == 0)
        return;
    matrix = weight_matrix(w, &swapped);
    if (matrix && (!bias || bias->state == FT__PT2_WEIGHT))
        linear(n, x, matrix, w->shape.dim[0], bias);
    else if (w->shape.rank == 2)
        linear_of_activations(n, x, w, bias);
    else if (w->shape.rank == 1 && !bias)
        matmul(n, x, w, ft__pt2_out(n, 0));
}

static void *einsum_view(void *node, void *value, const ft_shape *s, void *to)
{
    const ft__pt2_value *x = value;
    ft__pt2_value *out = to ? to : ft__pt2_temp(node, x, x->dtype, s);

    ft__pt2_emit_view(node, value, out);
    return ft__pt2_made(node, out);
}

static void *einsum_transpose(void *node, void *value, const int64_t *perm,
                              const ft_shape *s, void *to)
{
    ft__pt2_value *x = value, *out = ft__pt2_temp(node, x, x->dtype, s);

    if (out)
        ft__pt2_emit_transpose(node, x, out, perm);
    return to && ft__pt2_made(node, out) ? einsum_view(node, out, s, to)
                                         : ft__pt2_made(node, out);
}

static void *einsum_product(void *node, void *x, void *y, const ft__einsum_sizes *z,
                            const ft_shape *s, void *to)
{
    ft_shape xs = {3, {z->batch, z->rows, z->inner}},
             ys = {3, {z->batch, z->inner, z->columns}},
             all = {3, {z->batch, z->rows, z->columns}};
    ft__pt2_value *in[2] = {einsum_view(node, x, &xs, NULL),
                            einsum_view(node, y, &ys, NULL)};
    ft__pt2_value *out;
    ft_op op;

    if (!in[0] || !in[1])
        return NULL;
    out = ft__pt2_temp(node, x, in[0]->dtype, &all);
    op = ft__pt2_op(FT_KIND_matmul, FT_DTYPE_NONE, in[0], in[1], NULL);
    if (out)
        ft__pt2_emit_to(node, &op, in, 2, out);
    return ft__pt2_made(node, out) ? einsum_view(node, out, s, to) : NULL;
}

static void aten_einsum(ft__pt2_node *n)
{
    const ft__einsum_ops ops = {.node = n,
                                .own_order = true,
                                .view = einsum_view,
                                .transpose = einsum_transpose,
                                .product = einsum_product};
    const ft__pt2_arg *list = ft__pt2_arg_of(n, "tensors");
    ft__text equation = ft__pt2_string(n, "equation");
    ft__einsum_operands x = {.n = list ? list->n : 0};
    ft_shape result;

    if (!x.n || x.n > FT__EINSUM_TERMS || !ft__pt2_out(n, 0))
        return;
    for (uint32_t i = 0; i < x.n; i++) {
        if (!list->value[i])
            return;
        x.in[i] = list->value[i];
        x.shape[i] = &list->value[i]->shape;
    }
    (void)ft__einsum(equation.s, equation.n, &ops, &x, n->out[0], &result);
}

/* The norm that a node does, or whose gradient it is. x: what is normalised. */
static bool norm(const ft__pt2_node *n, ft_kind kind, const ft__pt2_value *x, ft_op *op)
{
    int64_t axes, groups;

    *op = ft__op_of(kind, x->dtype, &x->shape);
    switch (kind) {
    case FT_KIND_batchnorm:
        ft__op_set1(op, FT_K_train,
                    ft__pt2_bool(n, "training", ft__pt2_bool(n, "train", false)));
        return true;
    case FT_KIND_layernorm:
    case FT_KIND_rmsnorm:
        axes = ft__pt2_ints(n, "normalized_shape", NULL, 0);
        ft__op_set1(op, FT_K_norm, axes > 0 ? axes : 1);
        return true;
    case FT_KIND_groupnorm:
        groups = ft__pt2_int(n, "num_groups", ft__pt2_int(n, "group", 0));
        ft__op_set1(op, FT_K_groups, groups);
        return groups > 0;
    default: return true;
    }
}

/* arg: the kind. */
static void aten_norm(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x;
    ft_op op;

    if (!x || !norm(n, (ft_kind)n->rule->arg, x, &op))
        return;
    ft__pt2_emit_layer(n, &op, &x, 1,
                       (ft__pt2_value *[]){
                           ft__pt2_tensor(n, "weight"),
                           ft__pt2_tensor(n, "bias"),
                           ft__pt2_tensor(n, "running_mean"),
                           ft__pt2_tensor(n, "running_var"),
                       },
                       4);
}

static void aten_norm_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[4] = {n->x, n->y, NULL, NULL};
    ft__pt2_value *w = ft__pt2_tensor(n, "weight");
    ft__pt2_value *mean = ft__pt2_tensor(n, "save_mean"),
                  *scale = ft__pt2_tensor(n, "save_invstd");
    uint32_t n_in = 2;
    ft_op op;

    if (!in[0] || !in[1] || !norm(n, (ft_kind)n->rule->arg, in[1], &op))
        return;
    mean = mean ? mean : ft__pt2_tensor(n, "mean");
    scale = scale ? scale : ft__pt2_tensor(n, "rstd");
    if (mean)
        in[n_in++] = mean;
    if (scale)
        in[n_in++] = scale;
    ft__pt2_emit_gradient(n, &op, ft__pt2_layer_wrt(n), in, n_in, w);
}

/* arg: 1 the gradient; a weight over its norm. */
static void aten_weight_norm(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y}, *v = in[n->rule->arg];
    ft_op op;

    if (!in[0] || !v || !v->shape.rank)
        return;
    op = ft__pt2_op(FT_KIND_l2norm, FT_DTYPE_NONE, v, NULL, NULL);
    ft__op_set1(&op, FT_K_axis,
                ft__pt2_axis(n, ft__pt2_int(n, "dim", 0), v->shape.rank));
    if (n->rule->arg)
        op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, in, n->rule->arg ? 2 : 1);
}

/* batch x heads x length x size; without heads it has one. */
static bool heads(const ft__pt2_value *v, ft_shape *s)
{
    *s = v->shape;
    if (s->rank == 3) {
        *s = (ft_shape){.rank = 4, .dim = {s->dim[0], 1, s->dim[1], s->dim[2]}};
    } else if (s->rank == 5) {
        *s = (ft_shape){
            .rank = 4, .dim = {s->dim[0] * s->dim[1], s->dim[2], s->dim[3], s->dim[4]}};
    }
    return s->rank == 4;
}

static bool attention(const ft__pt2_node *n, ft__pt2_value *in[3], ft_op *op)
{
    const ft__pt2_value *mask;
    ft_shape x, y, z;

    in[0] = ft__pt2_tensor(n, "query");
    in[1] = ft__pt2_tensor(n, "key");
    in[2] = ft__pt2_tensor(n, "value");
    if (!in[0] || !in[1] || !in[2] || !heads(in[0], &x) || !heads(in[1], &y) ||
        !heads(in[2], &z))
        return false;
    mask = ft__pt2_tensor(n, "attn_mask");
    mask = mask ? mask : ft__pt2_tensor(n, "attn_bias");
    *op = ft__op_attention(in[0]->dtype, &x, &y, &z,
                           ft__pt2_bool(n, "is_causal", false), mask != NULL);
    ft__op_set1(op, FT_K_train,
                (ft__pt2_float(n, "dropout_p", 0) > 0) +
                    2 * (mask && (mask->learned || mask->trainable)));
    return true;
}

static void aten_attention(ft__pt2_node *n)
{
    ft__pt2_value *in[3];
    ft_op op;

    if (attention(n, in, &op))
        ft__pt2_emit_in(n, &op, in, 3);
}

static void aten_attention_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[6] = {n->x};
    uint32_t n_in = 4;
    ft_op op;

    if (!in[0] || !attention(n, in + 1, &op))
        return;
    if (ft__pt2_tensor(n, "out"))
        in[n_in++] = ft__pt2_tensor(n, "out");
    if (ft__pt2_tensor(n, "logsumexp"))
        in[n_in++] = ft__pt2_tensor(n, "logsumexp");
    ft__pt2_emit_gradient(n, &op, 0, in, n_in, NULL);
}

struct stack {
    ft_kind kind;
    uint32_t layers, directions;
    uint32_t per_cell; /* weights of one layer and direction */
    bool bias, batch_first;
    ft_shape x; /* length x batch x features */
    int64_t hidden;
};

static bool read_stack(const ft__pt2_node *n, const ft__pt2_arg *params,
                       struct stack *s)
{
    ft__pt2_value *x = n->x;
    const ft__pt2_arg *state = ft__pt2_arg_of(n, "hx");
    int64_t layers = ft__pt2_int(n, "num_layers", 1);

    s->kind = (ft_kind)n->rule->arg;
    s->directions = ft__pt2_bool(n, "bidirectional", false) ? 2 : 1;
    s->bias = ft__pt2_bool(n, "has_biases", true);
    s->per_cell = s->bias ? 4 : 2;
    if (!x || !state || !state->n || !state->value[0] || layers < 1 || layers > 64 ||
        x->shape.rank != 3 || state->value[0]->shape.rank < 2 ||
        params->n != (uint32_t)layers * s->directions * s->per_cell)
        return false;
    s->layers = (uint32_t)layers;
    s->x = x->shape;
    s->batch_first = ft__pt2_bool(n, "batch_first", false);
    if (s->batch_first) {
        s->x.dim[0] = x->shape.dim[1];
        s->x.dim[1] = x->shape.dim[0];
    }
    s->hidden = state->value[0]->shape.dim[state->value[0]->shape.rank - 1];
    return true;
}

/* The states behind the layers, one after the other. */
static void join_states(ft__pt2_node *n, ft__pt2_value *const *state, uint32_t count,
                        ft__pt2_value *out)
{
    int64_t sizes[64];
    ft_op op;

    if (!out || !out->typed || count < 2)
        return;
    for (uint32_t i = 0; i < count; i++)
        sizes[i] = state[i]->shape.dim[0];
    op = ft__op_concat(out->dtype, &state[0]->shape, 0, sizes, count);
    ft__pt2_emit_to(n, &op, state, count, out);
}

/* Length and batch in the other order, as layers run them and as they are given. */
static void swap_first_two(ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *out)
{
    if (out && ft__pt2_made(n, x))
        ft__pt2_emit_transpose(n, x, out, (int64_t[]){1, 0, 2});
}

/* What a layer gives, [length, directions, batch, hidden], as PyTorch has it:
 * directions side by side. */
static ft__pt2_value *side_by_side(ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *y,
                                   const ft_shape *all)
{
    ft_shape s = x->shape;
    ft__pt2_value *t = x;

    y = y ? y : ft__pt2_temp(n, x, x->dtype, all);
    if (s.dim[1] > 1) {
        s.dim[1] = x->shape.dim[2];
        s.dim[2] = x->shape.dim[1];
        t = ft__pt2_temp(n, x, x->dtype, &s);
        if (t)
            ft__pt2_emit_transpose(n, x, t, (int64_t[]){0, 2, 1, 3});
    }
    if (t && y && t->state != FT__PT2_UNDEFINED)
        ft__pt2_emit_view(n, t, y);
    return ft__pt2_made(n, y);
}

static void layers(ft__pt2_node *n, const struct stack *s, ft__pt2_value *x,
                   ft__pt2_value *y, const ft__pt2_arg *params)
{
    ft__pt2_value *h[64], *c[64];
    uint32_t per_layer = s->per_cell * s->directions;
    ft_shape in = s->x,
             state = {.rank = 3, .dim = {s->directions, s->x.dim[1], s->hidden}};
    ft_shape all = {.rank = 3,
                    .dim = {in.dim[0], in.dim[1], s->hidden * s->directions}};
    const ft_shape by_direction = {
        .rank = 4, .dim = {in.dim[0], s->directions, in.dim[1], s->hidden}};

    for (uint32_t i = 0; i < s->layers && !ft__pt2_failed(n); i++) {
        bool only = s->layers == 1, last = i + 1 == s->layers;
        ft__pt2_value *out[3];
        ft_op op =
            ft__op_recurrent(s->kind, x->dtype, &in, s->hidden, s->directions, s->bias);

        out[0] = ft__pt2_temp(n, x, x->dtype, &by_direction);
        out[1] = h[i] = only ? ft__pt2_out(n, 1) : ft__pt2_temp(n, x, x->dtype, &state);
        out[2] = c[i] = only ? ft__pt2_out(n, 2) : ft__pt2_temp(n, x, x->dtype, &state);
        ft__pt2_emit(n, &op,
                     &(ft__pt2_call){.in = &x,
                                     .n_in = 1,
                                     .params = params->value + i * per_layer,
                                     .n_params = per_layer,
                                     .out = out,
                                     .n_out = s->kind == FT_KIND_lstm ? 3 : 2});
        if (!ft__pt2_made(n, out[0]))
            return;
        x = side_by_side(n, out[0], last ? y : NULL, &all);
        if (!x)
            return;
        in.dim[2] = s->hidden * s->directions;
    }
    join_states(n, h, s->layers, ft__pt2_out(n, 1));
    if (s->kind == FT_KIND_lstm)
        join_states(n, c, s->layers, ft__pt2_out(n, 2));
}

/* arg: the kind; one operation per layer, of both directions. */
static void aten_rnn(ft__pt2_node *n)
{
    const ft__pt2_arg *params = ft__pt2_arg_of(n, "params");
    ft__pt2_value *x, *y;
    struct stack s;
    ft_shape all;

    if (!params || params->type != FT__PT2_TENSORS || !read_stack(n, params, &s))
        return;
    if (!s.batch_first) {
        layers(n, &s, n->x, ft__pt2_out(n, 0), params);
        return;
    }
    all =
        (ft_shape){.rank = 3, .dim = {s.x.dim[0], s.x.dim[1], s.hidden * s.directions}};
    x = ft__pt2_temp(n, n->x, n->x->dtype, &s.x);
    y = ft__pt2_temp(n, n->x, n->x->dtype, &all);
    swap_first_two(n, n->x, x);
    if (x && y && x->state != FT__PT2_UNDEFINED)
        layers(n, &s, x, y, params);
    swap_first_two(n, y, ft__pt2_out(n, 0));
}

const ft__pt2_rule ft__pt2_layer_rules[] = {
    {"addmm addmv baddbmm", aten_addmm, 0, 0},
    {"_scaled_dot_product_attention_math "
     "_scaled_dot_product_attention_math_for_mps "
     "_scaled_dot_product_cudnn_attention _scaled_dot_product_efficient_attention "
     "_scaled_dot_product_flash_attention "
     "_scaled_dot_product_flash_attention_for_cpu "
     "_scaled_dot_product_fused_attention_overrideable "
     "scaled_dot_product_attention",
     aten_attention, 0, 0},
    {"_scaled_dot_product_cudnn_attention_backward "
     "_scaled_dot_product_efficient_attention_backward "
     "_scaled_dot_product_flash_attention_backward "
     "_scaled_dot_product_flash_attention_for_cpu_backward "
     "_scaled_dot_product_fused_attention_overrideable_backward",
     aten_attention_grad, 0, FT__PT2_ANY},
    {"_batch_norm_no_update _batch_norm_with_update "
     "_batch_norm_with_update_functional _native_batch_norm_legit "
     "_native_batch_norm_legit_functional _native_batch_norm_legit_no_training "
     "batch_norm cudnn_batch_norm miopen_batch_norm native_batch_norm",
     aten_norm, FT_KIND_batchnorm, 0},
    {"batch_norm_backward cudnn_batch_norm_backward native_batch_norm_backward",
     aten_norm_grad, FT_KIND_batchnorm, FT__PT2_ANY},
    {"einsum", aten_einsum, 0, FT__PT2_ANY},
    {"linear", aten_linear, 0, 0},
    {"bmm dot inner linalg_matmul matmul mm mv vdot", aten_matmul, 0, 0},
    {"group_norm native_group_norm", aten_norm, FT_KIND_groupnorm, 0},
    {"instance_norm", aten_norm, FT_KIND_instancenorm, 0},
    {"layer_norm native_layer_norm", aten_norm, FT_KIND_layernorm, 0},
    {"_fused_rms_norm rms_norm", aten_norm, FT_KIND_rmsnorm, 0},
    {"native_group_norm_backward", aten_norm_grad, FT_KIND_groupnorm, FT__PT2_ANY},
    {"native_layer_norm_backward", aten_norm_grad, FT_KIND_layernorm, FT__PT2_ANY},
    {"_fused_rms_norm_backward", aten_norm_grad, FT_KIND_rmsnorm, FT__PT2_ANY},
    {"gru", aten_rnn, FT_KIND_gru, 0},
    {"lstm", aten_rnn, FT_KIND_lstm, 0},
    {"rnn_relu rnn_tanh", aten_rnn, FT_KIND_rnn, 0},
    {"_weight_norm _weight_norm_interface", aten_weight_norm, 0, FT__PT2_ANY},
    {"_weight_norm_interface_backward", aten_weight_norm, 1, FT__PT2_ANY},
    {NULL, NULL, 0, 0},
};
