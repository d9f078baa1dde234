/* A graph as an engine runs it: layouts chosen, transposes inserted.
 *
 * Every tensor of the source graph becomes one tensor per layout in which it is
 * needed; the second one is made when first asked for, by a transpose, or for
 * nothing where both orders are the same bytes. What a compiler does within the
 * kernel before becomes a view of that kernel's result. */
#include "graph/lower.h"

#include <stdlib.h>
#include <string.h>

#include "graph/build.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"

struct lower {
    const ft_graph *src;
    ft__build *b;
    uint32_t policy;
    /* Per source tensor: the new one in each layout, FT_NONE: not made yet. */
    uint32_t (*made)[FT_LAYOUT_COUNT];
    /* Per source tensor: the node that computes it, FT_NONE: none; how many read it,
     * and the last of them. */
    uint32_t *source, *readers, *reader;
};

static bool channels_last_class(ft_kind k)
{
    ft_class c = ft_kind_class(k);

    return c == FT_CLASS_CONV || c == FT_CLASS_POOL || k == FT_KIND_batchnorm ||
           k == FT_KIND_instancenorm || k == FT_KIND_groupnorm || k == FT_KIND_lrn ||
           k == FT_KIND_resize;
}

void ft__op_lower(ft_op *op, uint32_t policy)
{
    ft_shape x = ft_op_shape(op, FT_K_x);

    if ((policy & FT_POLICY_CHANNELS_LAST) && channels_last_class(op->kind) &&
        x.rank > 2)
        op->layout = FT_LAYOUT_CHANNELS_LAST;
}

/* Both layouts are the same bytes: one channel, or nothing but channels. */
static bool same_bytes(const ft_shape *s)
{
    int64_t spatial = 1;

    for (uint32_t i = 2; i < s->rank; i++)
        spatial *= s->dim[i];
    return s->rank < 3 || s->dim[1] == 1 || spatial == 1;
}

static ft_shape last_channel_shape(const ft_shape *s)
{
    ft_shape out = *s;

    for (uint32_t i = 2; i < s->rank; i++)
        out.dim[i - 1] = s->dim[i];
    out.dim[s->rank - 1] = s->dim[1];
    return out;
}

/* What `from` is as a view, or with perm given a transpose, of this shape. */
static uint32_t add_moved(struct lower *l, uint32_t from, const char *name,
                          const int64_t *perm, const ft_shape *shape, ft_layout layout)
{
    const ft_tensor t = *ft__build_get(l->b, from);
    const ft_tensor moved = {.name = name,
                             .role = FT_ROLE_ACTIVATION,
                             .shape = *shape,
                             .layout = layout,
                             .copies = t.copies};
    uint32_t to = ft__build_like(l->b, &moved, t.dtype);
    ft_op op;

    if (to == FT_NONE)
        return FT_NONE;
    ft__op_init(&op, perm ? FT_KIND_transpose : FT_KIND_view, t.dtype);
    ft__op_set_shape(&op, FT_K_x, &t.shape);
    if (perm)
        ft__op_set(&op, FT_K_perm, perm, t.shape.rank);
    else
        ft__op_set_shape(&op, FT_K_out, shape);
    ft__build_node(l->b, name, strlen(name), &op, &from, 1, NULL, 0, &to, 1);
    return to;
}

static uint32_t add_view(struct lower *l, uint32_t from, const char *name,
                         const ft_shape *shape, ft_layout layout)
{
    return add_moved(l, from, name, NULL, shape, layout);
}

static uint32_t add_transpose(struct lower *l, uint32_t from, const char *name,
                              const int64_t *perm, const ft_shape *shape)
{
    return add_moved(l, from, name, perm, shape, FT_LAYOUT_PLAIN);
}

/* perm that moves axis 1 to the end, or back. */
static void channel_perm(int64_t *perm, uint32_t rank, ft_layout to)
{
    perm[0] = 0;
    for (uint32_t i = 1; i < rank; i++)
        perm[i] = to == FT_LAYOUT_CHANNELS_LAST
                      ? (i + 1 < rank ? (int64_t)i + 1 : 1)
                      : (i == 1 ? (int64_t)rank - 1 : (int64_t)i - 1);
}

/* The tensor `from` (in the other layout) in layout `to`. */
static uint32_t convert(struct lower *l, uint32_t from, const char *name, ft_layout to)
{
    ft_shape s = ft__build_get(l->b, from)->shape, moved = last_channel_shape(&s);
    int64_t perm[FT_MAX_RANK];
    uint32_t mid;

    if (same_bytes(&s))
        return add_view(l, from, name, &s, to);
    channel_perm(perm, s.rank, to);
    if (to == FT_LAYOUT_CHANNELS_LAST) {
        mid = add_transpose(l, from, name, perm, &moved);
        return mid == FT_NONE ? FT_NONE : add_view(l, mid, name, &s, to);
    }
    mid = add_view(l, from, name, &moved, FT_LAYOUT_PLAIN);
    return mid == FT_NONE ? FT_NONE : add_transpose(l, mid, name, perm, &s);
}

/* New tensor for source tensor i in the layout asked for. */
static uint32_t get(struct lower *l, uint32_t i, ft_layout layout)
{
    const ft_tensor *t = &l->src->tensor[i];
    ft_layout other =
        layout == FT_LAYOUT_PLAIN ? FT_LAYOUT_CHANNELS_LAST : FT_LAYOUT_PLAIN;
    ft_tensor like;

    if (t->shape.rank < 3)
        layout = FT_LAYOUT_PLAIN;
    if (l->made[i][layout] != FT_NONE)
        return l->made[i][layout];
    if (l->made[i][other] != FT_NONE && t->role != FT_ROLE_WEIGHT)
        return l->made[i][layout] = convert(l, l->made[i][other], t->name, layout);
    /* Inputs come, and constants are stored, in the layout first asked for. */
    like = *t;
    like.layout = layout;
    l->made[i][layout] = ft__build_like(l->b, &like, t->dtype);
    if (t->trainable)
        ft__build_trainable(l->b, l->made[i][layout]);
    return l->made[i][layout];
}

static bool is_channels_last(const struct lower *l, uint32_t i)
{
    return l->made[i][FT_LAYOUT_CHANNELS_LAST] != FT_NONE &&
           l->made[i][FT_LAYOUT_PLAIN] == FT_NONE;
}

/* Operations that take either layout as long as all operands have the same. */
static bool follows(const ft_graph *g, const ft_node *node, const ft_op *op)
{
    ft_shape out, s;
    ft_dtype t;
    ft_class c = ft_kind_class(op->kind);

    if (c != FT_CLASS_UNARY && c != FT_CLASS_BINARY && c != FT_CLASS_SOFTMAX &&
        c != FT_CLASS_REDUCE && op->kind != FT_KIND_concat &&
        op->kind != FT_KIND_split && op->kind != FT_KIND_pad &&
        op->kind != FT_KIND_slice && op->kind != FT_KIND_copy)
        return false;
    if (op->kind == FT_KIND_cumsum)
        return false;
    ft_op_output(op, 0, &out, &t);
    for (uint32_t i = 0; i < node->n_in; i++) {
        s = g->tensor[node->in[i]].shape;
        /* A shorter operand is broadcast by position: its axes would no longer
         * meet the right ones, unless it is one value or one per channel. */
        if (c == FT_CLASS_BINARY && s.rank != out.rank && ft_shape_elements(&s) != 1 &&
            !(s.rank + 1 == out.rank && s.dim[0] == ft_shape_elements(&s)))
            return false;
        if (c == FT_CLASS_REDUCE && out.rank != s.rank && out.rank > 2)
            return false;
    }
    return true;
}

static ft_layout choose(const struct lower *l, const ft_node *node, const ft_op *op)
{
    if (!(l->policy & FT_POLICY_CHANNELS_LAST))
        return FT_LAYOUT_PLAIN;
    if (channels_last_class(op->kind) && ft_op_shape(op, FT_K_x).rank > 2)
        return FT_LAYOUT_CHANNELS_LAST;
    if (!follows(l->src, node, op))
        return FT_LAYOUT_PLAIN;
    for (uint32_t i = 0; i < node->n_in; i++)
        if (is_channels_last(l, node->in[i]))
            return FT_LAYOUT_CHANNELS_LAST;
    return FT_LAYOUT_PLAIN;
}

/* Elementwise work on operands of one shape is the same in any order. */
static bool order_matters(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y),
             z = ft_op_shape(op, FT_K_z);
    ft_class c = ft_kind_class(op->kind);

    if (c == FT_CLASS_UNARY || op->kind == FT_KIND_copy)
        return false;
    if (c == FT_CLASS_BINARY)
        return !((ft_shape_equal(&x, &y) || ft_shape_elements(&y) == 1) &&
                 (op->kind != FT_KIND_where || ft_shape_equal(&x, &z)));
    return true;
}

/* A transpose between the two orders of a channels-last tensor moves nothing. */
static bool free_transpose(struct lower *l, const ft_node *node, const ft_op *op)
{
    const ft_tensor *r;
    uint32_t from, to, rank;

    if (!(l->policy & FT_POLICY_CHANNELS_LAST) || op->kind != FT_KIND_transpose)
        return false;
    from = node->in[0];
    to = node->out[0];
    r = &l->src->tensor[to];
    rank = r->shape.rank;
    if (rank < 3)
        return false;
    for (int layout = FT_LAYOUT_PLAIN; layout < FT_LAYOUT_COUNT; layout++) {
        int64_t perm[FT_MAX_RANK];
        bool match = true;

        channel_perm(perm, rank, (ft_layout)layout);
        for (uint32_t i = 0; i < rank; i++)
            match = match && perm[i] == ft_op_at(op, FT_K_perm, i);
        /* Moving channels to the end: the channels-last source is the plain
         * result. Moving the last axis to 1: the plain source is the
         * channels-last result. */
        if (match && layout == FT_LAYOUT_CHANNELS_LAST && is_channels_last(l, from)) {
            l->made[to][FT_LAYOUT_PLAIN] =
                add_view(l, get(l, from, FT_LAYOUT_CHANNELS_LAST), r->name, &r->shape,
                         FT_LAYOUT_PLAIN);
            return true;
        }
        if (match && layout == FT_LAYOUT_PLAIN && !is_channels_last(l, from)) {
            l->made[to][FT_LAYOUT_CHANNELS_LAST] =
                add_view(l, get(l, from, FT_LAYOUT_PLAIN), r->name, &r->shape,
                         FT_LAYOUT_CHANNELS_LAST);
            return true;
        }
    }
    return false;
}

/* Reshaping behind the channels, (N, C, H, W) to (N, C, H x W), keeps a
 * channels-last tensor in order. */
static bool free_view(struct lower *l, const ft_node *node, const ft_op *op)
{
    const ft_tensor *t, *r;

    if (op->kind != FT_KIND_view || !is_channels_last(l, node->in[0]))
        return false;
    t = &l->src->tensor[node->in[0]];
    r = &l->src->tensor[node->out[0]];
    if (r->shape.rank < 3 || t->shape.dim[0] != r->shape.dim[0] ||
        t->shape.dim[1] != r->shape.dim[1])
        return false;
    l->made[node->out[0]][FT_LAYOUT_CHANNELS_LAST] =
        add_view(l, get(l, node->in[0], FT_LAYOUT_CHANNELS_LAST), r->name, &r->shape,
                 FT_LAYOUT_CHANNELS_LAST);
    return true;
}

static bool is_pointwise(const ft_op *op)
{
    ft_class c = ft_kind_class(op->kind);

    return c == FT_CLASS_UNARY || c == FT_CLASS_BINARY;
}

/* Its kernel goes over its results once more after the sums, or does nothing else:
 * there it takes a few instructions a number more for nothing. */
static bool passes_over_results(const ft_op *op)
{
    ft_class c = ft_kind_class(op->kind);

    if (c == FT_CLASS_CONV || c == FT_CLASS_MATMUL)
        return ft_op_at(op, FT_K_bias, 0) != 0;
    return is_pointwise(op) || op->kind == FT_KIND_batchnorm;
}

static void find_readers(struct lower *l)
{
    const ft_graph *g = l->src;

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        for (uint32_t j = 0; j < g->node[i].n_in; j++)
            l->readers[g->node[i].in[j]]++, l->reader[g->node[i].in[j]] = i;
        for (uint32_t j = 0; j < g->node[i].n_out; j++)
            l->source[g->node[i].out[j]] = i;
    }
    for (uint32_t i = 0; i < g->n_outputs; i++)
        l->readers[g->output[i]]++;
}

/* Which operand's kernel computes this node's result in place of its own, of which
 * nobody else knows; n_in: none does. */
static uint32_t joined_operand(const struct lower *l, const ft_node *node,
                               const ft_op *op)
{
    const ft_graph *g = l->src;
    const ft_tensor *to;
    ft_cost cost;
    uint32_t j = 0;

    if (!(l->policy & FT_POLICY_FUSED) || op->phase != FT_PHASE_FORWARD ||
        node->repeat != 1 || node->n_params || node->n_out != 1 || !is_pointwise(op))
        return node->n_in;
    ft_op_cost(op, &cost);
    if (cost.transcendentals > 0)
        return node->n_in;
    to = &g->tensor[node->out[0]];
    for (; j < node->n_in; j++) {
        const ft_tensor *t = &g->tensor[node->in[j]];
        const uint32_t from = l->source[node->in[j]];

        if (from != FT_NONE && l->readers[node->in[j]] == 1 && t->dtype == to->dtype &&
            ft_shape_equal(&t->shape, &to->shape) &&
            passes_over_results(&g->op[g->node[from].op]))
            break;
    }
    return j;
}

/* A view of that operand, which costs nothing; the others are read there, and stay
 * until then, as does what the sums are kept in: the kernel has both of them. */
static bool joins_kernel(struct lower *l, const ft_node *node, const ft_op *op)
{
    const uint32_t joined = joined_operand(l, node, op);
    uint32_t in[FT_OP_MAX_OPERANDS], out;
    const ft_shape *shape;
    ft_op view;

    if (joined == node->n_in)
        return false;
    shape = &l->src->tensor[node->out[0]].shape;
    for (uint32_t j = 0; j < node->n_in; j++)
        in[j] = get(l, node->in[j], FT_LAYOUT_PLAIN);
    out = in[joined], in[joined] = in[0], in[0] = out;
    out = get(l, node->out[0], FT_LAYOUT_PLAIN);
    ft__op_init(&view, FT_KIND_view, op->dtype);
    ft__op_set_shape(&view, FT_K_x, shape);
    ft__op_set_shape(&view, FT_K_out, shape);
    ft__build_at(l->b, node);
    if (!ft__build_failed(l->b))
        ft__build_node(l->b, node->name, strlen(node->name), &view, in, node->n_in,
                       NULL, 0, &out, 1);
    ft__build_own_storage(l->b, out);
    return true;
}

/* Bias and activation are one pass over the sums. Where the activation is an operation
 * of its own, which costs what it computes, that pass is its. */
static bool bias_joins_activation(const struct lower *l, uint32_t i)
{
    const ft_graph *g = l->src;
    const ft_node *node = &g->node[i];
    const ft_op *op = &g->op[node->op], *next;
    const ft_class c = ft_kind_class(op->kind);
    ft_cost cost;

    if (!(l->policy & FT_POLICY_FUSED) || op->phase != FT_PHASE_FORWARD ||
        (c != FT_CLASS_CONV && c != FT_CLASS_MATMUL) || node->n_out != 1 ||
        node->repeat != 1 || !ft_op_at(op, FT_K_bias, 0) ||
        l->readers[node->out[0]] != 1 || l->reader[node->out[0]] == FT_NONE)
        return false;
    next = &g->op[g->node[l->reader[node->out[0]]].op];
    ft_op_cost(next, &cost);
    return ft_kind_class(next->kind) == FT_CLASS_UNARY && cost.transcendentals > 0;
}

/* The activation reads the bias of the product before. */
static uint32_t bias_before(const struct lower *l, const ft_node *node)
{
    const uint32_t from = node->n_in == 1 ? l->source[node->in[0]] : FT_NONE;
    const ft_node *product = from == FT_NONE ? NULL : &l->src->node[from];

    return product && product->n_params > 1 && bias_joins_activation(l, from)
               ? product->params[product->n_params - 1]
               : FT_NONE;
}

static ft_status lower_node(struct lower *l, uint32_t i, ft_error *err)
{
    const ft_node *node = &l->src->node[i];
    const uint32_t bias = bias_before(l, node);
    uint32_t n_in = node->n_in + (bias != FT_NONE);
    const bool biased = !bias_joins_activation(l, i);
    uint32_t n_params = node->n_params - (!biased && node->n_params > 1);
    uint32_t *ids = malloc((n_in + n_params + node->n_out + 1) * sizeof(*ids));
    uint32_t *in = ids, *params, *out, first;
    ft_op op = l->src->op[node->op];
    ft_layout layout;

    if (!ids)
        return ft_fail(err, FT_ENOMEM, 0, "node %s", node->name);
    params = in + n_in;
    out = params + n_params;
    if (!biased)
        ft__op_clear(&op, FT_K_bias);
    if ((op.kind == FT_KIND_transpose && free_transpose(l, node, &op)) ||
        free_view(l, node, &op) || joins_kernel(l, node, &op))
        goto done;
    layout = choose(l, node, &op);
    for (uint32_t j = 0; j < node->n_in; j++)
        in[j] = get(l, node->in[j], layout);
    if (bias != FT_NONE)
        in[node->n_in] = get(l, bias, FT_LAYOUT_PLAIN);
    for (uint32_t j = 0; j < n_params; j++)
        params[j] = get(l, node->params[j], FT_LAYOUT_PLAIN);
    for (uint32_t j = 0; j < node->n_out; j++)
        out[j] = get(l, node->out[j], layout);
    op.layout = order_matters(&op) ? layout : FT_LAYOUT_PLAIN;
    ft__build_at(l->b, node);
    first = ft__build_here(l->b).n_nodes;
    if (!ft__build_failed(l->b))
        ft__build_node(l->b, node->name, strlen(node->name), &op, in, n_in, params,
                       n_params, out, node->n_out);
    ft__build_repeat_from(l->b, first, node->repeat);
done:
    free(ids);
    return FT_OK;
}

static void mark_outputs(struct lower *l)
{
    for (uint32_t i = 0; i < l->src->n_outputs; i++) {
        uint32_t t = l->src->output[i];

        ft__build_output(l->b, get(l, t,
                                   is_channels_last(l, t) ? FT_LAYOUT_CHANNELS_LAST
                                                          : FT_LAYOUT_PLAIN));
    }
}

ft_status ft__graph_lower(ft_graph **out, const ft_graph *g, uint32_t policy,
                          ft_error *err)
{
    struct lower l = {.src = g, .b = ft__build_new(g->name), .policy = policy};
    uint32_t n = g->n_tensors;
    ft_status st = FT_OK;

    *out = NULL;
    if (policy & FT_POLICY_STRIDED_VIEWS) {
        ft__build_free(l.b);
        return ft__graph_stride(out, g, policy & FT_POLICY_CHANNELS_LAST, err);
    }
    l.made = malloc((n + 1) * sizeof(*l.made));
    l.source = malloc((n + 1) * sizeof(*l.source));
    l.readers = calloc(n + 1, sizeof(*l.readers));
    l.reader = malloc((n + 1) * sizeof(*l.reader));
    if (!l.b || !l.made || !l.source || !l.readers || !l.reader) {
        st = ft_fail(err, FT_ENOMEM, 0, "lowering %s", g->name);
    } else {
        memset(l.made, 0xff, (n + 1) * sizeof(*l.made));
        memset(l.source, 0xff, (n + 1) * sizeof(*l.source));
        memset(l.reader, 0xff, (n + 1) * sizeof(*l.reader));
        find_readers(&l);
        ft__build_notes(l.b, g);
    }
    for (uint32_t i = 0; i < g->n_nodes && !st; i++)
        st = lower_node(&l, i, err);
    if (!st)
        mark_outputs(&l);
    free(l.made);
    free(l.source);
    free(l.readers);
    free(l.reader);
    if (st) {
        ft__build_free(l.b);
        return st;
    }
    return ft__build_finish_take(out, l.b, err);
}
