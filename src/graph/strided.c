/* A graph as PyTorch runs it: views with strides, and copies where they will not do. */
#include "graph/lower.h"

#include <stdlib.h>
#include <string.h>

#include "graph/build.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"

ft__strides ft__strides_plain(const ft_shape *s)
{
    ft__strides t = {{0}};
    int64_t step = 1;

    for (uint32_t i = s->rank; i-- > 0;) {
        t.of[i] = step;
        step *= s->dim[i] > 1 ? s->dim[i] : 1;
    }
    return t;
}

ft__strides ft__strides_channels_last(const ft_shape *s)
{
    ft__strides t = {{0}};
    int64_t step = s->rank > 1 ? s->dim[1] : 1;

    for (uint32_t i = s->rank; i-- > 2;) {
        t.of[i] = step;
        step *= s->dim[i];
    }
    if (s->rank > 1)
        t.of[1] = 1;
    t.of[0] = step;
    return t;
}

static bool same(const ft_shape *s, const ft__strides *a, const ft__strides *b)
{
    for (uint32_t i = 0; i < s->rank; i++)
        if (s->dim[i] != 1 && a->of[i] != b->of[i])
            return false;
    return true;
}

bool ft__strides_are_plain(const ft_shape *s, const ft__strides *t)
{
    ft__strides plain = ft__strides_plain(s);

    return same(s, t, &plain);
}

bool ft__strides_are_channels_last(const ft_shape *s, const ft__strides *t)
{
    ft__strides last = ft__strides_channels_last(s);

    return s->rank > 2 && same(s, t, &last) && !ft__strides_are_plain(s, t);
}

ft__strides ft__strides_like(const ft_shape *s, const ft__strides *like)
{
    ft__strides t = {{0}};
    bool done[FT_MAX_RANK] = {false};
    int64_t step = 1;

    for (uint32_t n = 0; n < s->rank; n++) {
        uint32_t next = FT_MAX_RANK;

        /* The innermost axis of those left; of equals the last one. */
        for (uint32_t i = s->rank; i-- > 0;)
            if (!done[i] && (next == FT_MAX_RANK || like->of[i] < like->of[next]))
                next = i;
        done[next] = true;
        t.of[next] = step;
        step *= s->dim[next] > 1 ? s->dim[next] : 1;
    }
    return t;
}

/* Axes of `from` from the last one on are joined as long as they lie in one run;
 * the axes of `to` must divide each run. */
bool ft__strides_view(const ft_shape *from, const ft__strides *t, const ft_shape *to,
                      ft__strides *out)
{
    int64_t base = from->rank ? t->of[from->rank - 1] : 1, run = 1, used = 1;
    uint32_t j = to->rank;

    *out = ft__strides_plain(to);
    if (ft__strides_are_plain(from, t))
        return true;
    for (uint32_t i = from->rank; i-- > 0;) {
        run *= from->dim[i];
        if (i > 0 && (from->dim[i - 1] == 1 || t->of[i - 1] == run * base))
            continue;
        for (; j > 0 && (used < run || to->dim[j - 1] == 1); j--) {
            out->of[j - 1] = used * base;
            used *= to->dim[j - 1];
        }
        if (used != run)
            return false;
        if (i > 0)
            base = t->of[i - 1];
        run = used = 1;
    }
    return j == 0;
}

/* The graph with views.
 *
 * What only moves elements becomes a view with strides; what needs its operands in
 * order gets copies of those that are not. Every tensor keeps its number. Copies that
 * PyTorch saves for the backward pass (operands of matrix products) are made once;
 * others are made again each time. */
struct strided {
    const ft_graph *src;
    ft__build *b;
    ft__strides *strides; /* per source tensor */
    uint32_t *copied;     /* per source tensor: its copy in order, FT_NONE: none */
};

/* What an operation wants of its operands. */
typedef enum need {
    ANY,      /* takes strides */
    ORDERED,  /* copies for itself */
    CHANNELS, /* plain or channels-last, else copies for itself */
    ROWS,     /* a matrix: all axes but the last one as one */
    BATCH,    /* matrices: all axes but the last two as one */
} need;

static need need_of(const ft_op *op)
{
    ft_class c = ft_kind_class(op->kind);

    switch (op->kind) {
    case FT_KIND_linear: return ROWS;
    case FT_KIND_matmul: return BATCH;
    case FT_KIND_layernorm:
    case FT_KIND_embedding:
    case FT_KIND_rnn:
    case FT_KIND_gru:
    case FT_KIND_lstm: return ORDERED;
    case FT_KIND_resize: return CHANNELS;
    default:
        return c == FT_CLASS_CONV || c == FT_CLASS_POOL || c == FT_CLASS_NORM ? CHANNELS
                                                                              : ANY;
    }
}

static const ft_shape *shape_of(const struct strided *s, uint32_t t)
{
    return &s->src->tensor[t].shape;
}

static bool is_last(const struct strided *s, uint32_t t)
{
    return ft__strides_are_channels_last(shape_of(s, t), &s->strides[t]);
}

/* Do all axes but the last n lie in one run, and is one of those n without gaps? */
static bool is_joined(const struct strided *s, uint32_t t, uint32_t n)
{
    ft_shape x = *shape_of(s, t), to = {.rank = n + 1, .dim = {1}};
    const ft__strides *st = &s->strides[t];
    ft__strides out;
    bool dense = false;

    if (x.rank <= n)
        return true;
    for (uint32_t i = 0; i < x.rank - n; i++)
        to.dim[0] *= x.dim[i];
    for (uint32_t i = 0; i < n; i++) {
        to.dim[i + 1] = x.dim[x.rank - n + i];
        dense |= st->of[x.rank - n + i] == 1 || to.dim[i + 1] == 1;
    }
    return dense && ft__strides_view(&x, st, &to, &out);
}

static bool is_fit(const struct strided *s, uint32_t t, need what)
{
    switch (what) {
    case ORDERED: return ft__strides_are_plain(shape_of(s, t), &s->strides[t]);
    case CHANNELS:
        return ft__strides_are_plain(shape_of(s, t), &s->strides[t]) || is_last(s, t);
    case ROWS: return is_joined(s, t, 1);
    case BATCH: return is_joined(s, t, 2);
    default: return true;
    }
}

/* A copy of source tensor t in plain order. */
static uint32_t copy(struct strided *s, const ft_node *n, uint32_t t)
{
    const ft_tensor *x = &s->src->tensor[t];
    uint32_t out = ft__build_tensor(s->b, x->name, strlen(x->name), FT_ROLE_ACTIVATION,
                                    x->dtype, &x->shape);
    ft_op op;

    ft__op_init(&op, FT_KIND_copy, x->dtype);
    ft__op_set_shape(&op, FT_K_x, &x->shape);
    if (out != FT_NONE)
        ft__build_node(s->b, n->name, strlen(n->name), &op, &t, 1, NULL, 0, &out, 1);
    return out;
}

static uint32_t operand(struct strided *s, const ft_node *n, uint32_t t, need what)
{
    uint32_t made;

    if (is_fit(s, t, what))
        return t;
    if (s->copied[t] != FT_NONE)
        return s->copied[t];
    made = copy(s, n, t);
    if (what == ROWS || what == BATCH)
        s->copied[t] = made;
    return made;
}

static void view(struct strided *s, const ft_node *n, uint32_t from, uint32_t to,
                 const ft__strides *strides)
{
    const ft_tensor *x = &s->src->tensor[n->in[0]];
    ft_op op;

    ft__op_init(&op, FT_KIND_view, x->dtype);
    ft__op_set_shape(&op, FT_K_x, &x->shape);
    ft__op_set_shape(&op, FT_K_out, shape_of(s, to));
    s->strides[to] = *strides;
    ft__build_node(s->b, n->name, strlen(n->name), &op, &from, 1, NULL, 0, &to, 1);
}

static void transpose(struct strided *s, const ft_node *n, const ft_op *op)
{
    const ft__strides *x = &s->strides[n->in[0]];
    ft__strides t = {{0}};

    for (uint32_t i = 0; i < shape_of(s, n->in[0])->rank; i++)
        t.of[i] = x->of[ft_op_at(op, FT_K_perm, i)];
    view(s, n, n->in[0], n->out[0], &t);
}

/* Parts of x; the operation does not say where they begin, which is all the same. */
static void cut(struct strided *s, const ft_node *n, const ft_op *op)
{
    const ft_shape *x = shape_of(s, n->in[0]);

    for (uint32_t j = 0; j < n->n_out; j++) {
        ft__strides t = s->strides[n->in[0]];
        const ft_shape *part = shape_of(s, n->out[j]);

        for (uint32_t i = 0; op->kind == FT_KIND_slice && i < x->rank; i++)
            if (part->dim[i] < x->dim[i])
                t.of[i] *= ft_op_at(op, FT_K_step, 0);
        view(s, n, n->in[0], n->out[j], &t);
    }
}

static void expand(struct strided *s, const ft_node *n, const ft_op *op)
{
    const ft_shape *x = shape_of(s, n->in[0]), *y = shape_of(s, n->out[0]);
    ft__strides t = {{0}};

    (void)op;
    for (uint32_t i = 0; i < x->rank && y->rank >= x->rank; i++) {
        uint32_t to = y->rank - x->rank + i;

        t.of[to] = x->dim[i] == y->dim[to] ? s->strides[n->in[0]].of[i] : 0;
    }
    view(s, n, n->in[0], n->out[0], &t);
}

/* One index out of an axis. */
static void select_one(struct strided *s, const ft_node *n, const ft_op *op)
{
    const ft_shape *x = shape_of(s, n->in[0]);
    const uint32_t axis = (uint32_t)ft_op_at(op, FT_K_axis, 0);
    ft__strides t = {{0}};
    uint32_t to = 0;

    for (uint32_t i = 0; i < x->rank; i++)
        if (i != axis)
            t.of[to++] = s->strides[n->in[0]].of[i];
    view(s, n, n->in[0], n->out[0], &t);
}

static void reshape(struct strided *s, const ft_node *n, const ft_op *op)
{
    uint32_t from = n->in[0];
    ft__strides t;

    (void)op;
    if (!ft__strides_view(shape_of(s, from), &s->strides[from], shape_of(s, n->out[0]),
                          &t)) {
        from = copy(s, n, from);
        t = ft__strides_plain(shape_of(s, n->out[0]));
    }
    if (from != FT_NONE)
        view(s, n, from, n->out[0], &t);
}

typedef void (*take_view)(struct strided *s, const ft_node *n, const ft_op *op);

/* How its result is taken as a view of the operand; NULL: it is none. */
static take_view view_of(const ft_op *op)
{
    if (op->phase != FT_PHASE_FORWARD)
        return NULL;
    switch (op->kind) {
    case FT_KIND_transpose: return transpose;
    case FT_KIND_slice:
    case FT_KIND_split: return cut;
    case FT_KIND_expand: return expand;
    case FT_KIND_view: return reshape;
    case FT_KIND_gather: return ft_op_shape(op, FT_K_y).rank == 0 ? select_one : NULL;
    default: return NULL;
    }
}

static bool same_size(const ft_graph *g, uint32_t a, uint32_t b)
{
    const ft_shape *x = &g->tensor[a].shape, *y = &g->tensor[b].shape;

    return x->rank == y->rank && ft_shape_elements(x) == ft_shape_elements(y);
}

/* Results lie as the first operand of their size does where the operation goes
 * element by element (and attention's as its queries), else in plain order. */
static void set_results(struct strided *s, const ft_node *n, const ft_op *op, bool last)
{
    ft_class c = ft_kind_class(op->kind);

    for (uint32_t j = 0; j < n->n_out; j++) {
        uint32_t out = n->out[j];
        const ft_shape *x = shape_of(s, out);

        s->strides[out] =
            last && x->rank > 2 ? ft__strides_channels_last(x) : ft__strides_plain(x);
        if (c != FT_CLASS_UNARY && c != FT_CLASS_BINARY &&
            op->kind != FT_KIND_attention)
            continue;
        for (uint32_t i = 0; i < n->n_in; i++)
            if (same_size(s->src, n->in[i], out)) {
                s->strides[out] = ft__strides_like(x, &s->strides[n->in[i]]);
                break;
            }
    }
}

/* Results in the memory of others, which views have by themselves. */
static void alias(struct strided *s, const ft_node *n)
{
    for (uint32_t j = 0; j < n->n_out; j++) {
        uint32_t of = s->src->tensor[n->out[j]].storage;

        if (of != n->out[j] && !ft__build_failed(s->b)) {
            ft__build_alias(s->b, n->out[j], of);
            if (same_size(s->src, of, n->out[j]))
                s->strides[n->out[j]] = s->strides[of];
        }
    }
}

/* The result is the first operand, written over. */
static bool is_over(const ft_graph *g, const ft_node *n, const ft_op *op)
{
    const ft_class c = ft_kind_class(op->kind);
    const ft_tensor *x, *y;

    if ((c != FT_CLASS_UNARY && c != FT_CLASS_BINARY) || !n->n_in)
        return false;
    x = &g->tensor[n->in[0]];
    y = &g->tensor[n->out[0]];
    return op->phase == FT_PHASE_FORWARD && x->storage == y->storage &&
           x->dtype == y->dtype && same_size(g, n->in[0], n->out[0]);
}

static void stride_node(struct strided *s, const ft_node *n, uint32_t *in)
{
    ft_op op = s->src->op[n->op];
    const take_view take = view_of(&op);
    need what = need_of(&op);
    const uint32_t first = ft__build_here(s->b).n_nodes;
    bool last = false;

    ft__build_at(s->b, n);
    if (take) {
        take(s, n, &op);
        ft__build_repeat_from(s->b, first, n->repeat);
        return;
    }
    for (uint32_t j = 0; j < n->n_in; j++) {
        in[j] = operand(s, n, n->in[j], what);
        last |= what == CHANNELS && is_last(s, n->in[j]);
    }
    ft__build_repeat_from(s->b, first, n->repeat); /* copies of operands */
    if (ft__build_failed(s->b))
        return;
    if (last)
        op.layout = FT_LAYOUT_CHANNELS_LAST;
    op.in_place |= is_over(s->src, n, &op);
    /* Of an operation that lies otherwise, no size is another one. */
    ft__build_again(s->b, n, &op, in, n->out, n->n_out);
    set_results(s, n, &op, last);
    alias(s, n);
}

/* Of each tensor: is it images or volumes, which something that knows channels reads,
 * or what goes there element by element? */
static void find_images(bool *images, const ft_graph *g)
{
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        const ft_node *n = &g->node[i];
        const ft_op *op = &g->op[n->op];
        const ft_class c = ft_kind_class(op->kind);

        if (op->phase != FT_PHASE_FORWARD || !n->n_in)
            continue;
        if (need_of(op) == CHANNELS)
            images[n->in[0]] = true;
        for (uint32_t k = 0; k < n->n_in && n->n_out && images[n->out[0]]; k++)
            if (c == FT_CLASS_UNARY || c == FT_CLASS_BINARY || op->kind == FT_KIND_pad)
                images[n->in[k]] = true;
    }
}

/* images: of each tensor, where inputs of images lie channels-last; or NULL. */
static void copy_tensors(struct strided *s, const bool *images)
{
    bool last = false;

    for (uint32_t i = 0; i < s->src->n_tensors; i++) {
        const ft_tensor *t = &s->src->tensor[i];

        ft__build_like(s->b, t, t->dtype);
        if (t->trainable)
            ft__build_trainable(s->b, i);
        s->strides[i] =
            images && images[i] && t->role == FT_ROLE_INPUT && t->shape.rank > 3
                ? ft__strides_channels_last(&t->shape)
                : ft__strides_plain(&t->shape);
        last |= t->role == FT_ROLE_INPUT && is_last(s, i);
        s->copied[i] = FT_NONE;
    }
    for (uint32_t i = 0; i < s->src->n_outputs; i++)
        ft__build_output(s->b, s->src->output[i]);
    ft__build_notes(s->b, s->src);
    if (last)
        ft__build_assume(s->b, "images lie channels-last (--channels-last)");
}

bool ft__graph_is_plain(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const take_view take = view_of(&g->op[i]);

        /* A reshape of what lies in plain order does, too. */
        if (g->op[i].layout != FT_LAYOUT_PLAIN || (take && take != reshape))
            return false;
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_op *op = &g->op[g->node[i].op];

        if (!op->in_place && is_over(g, &g->node[i], op))
            return false;
    }
    return true;
}

static uint32_t most_operands(const ft_graph *g)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (g->node[i].n_in > most)
            most = g->node[i].n_in;
    return most;
}

ft_status ft__graph_stride(ft_graph **out, const ft_graph *g, bool images_last,
                           ft_error *err)
{
    struct strided s = {.src = g, .b = ft__build_new(g->name)};
    uint32_t *in = malloc((most_operands(g) + 1) * sizeof(*in));
    bool *images = calloc(g->n_tensors + 1u, sizeof(*images));
    ft_status st = FT_OK;

    *out = NULL;
    s.strides = malloc((g->n_tensors + 1) * sizeof(*s.strides));
    s.copied = malloc((g->n_tensors + 1) * sizeof(*s.copied));
    if (s.b && in && images && s.strides && s.copied) {
        find_images(images, g);
        copy_tensors(&s, images_last ? images : NULL);
        for (uint32_t i = 0; i < g->n_nodes && !ft__build_failed(s.b); i++)
            stride_node(&s, &g->node[i], in);
        st = ft__build_finish_take(out, s.b, err);
    } else {
        ft__build_free(s.b);
        st = ft_fail(err, FT_ENOMEM, 0, "views of %s", g->name);
    }
    free(in);
    free(images);
    free(s.strides);
    free(s.copied);
    return st;
}
