/* Which nodes a compiler makes one kernel of, and what memory traffic that saves. In: a
 * graph; out: shares for its unique operations. */
#include "graph/fuse.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"

/* What a node is to its neighbours. */
enum role {
    ALONE,   /* a library's kernel, or none that is generated */
    POINT,   /* each result from a few numbers of every operand */
    FOLD,    /* many numbers to one: norms, softmax, reductions */
    WINDOW,  /* reads numbers several times: what it reads is written first */
    NOTHING, /* a view */
};

struct fusion {
    const ft_graph *g;
    uint32_t *level;  /* by node: kernels that have to end before it */
    uint32_t *kernel; /* by node: another of its kernel, nearer to the first; itself */
    uint32_t *source; /* by tensor: the node that computes it, behind views; FT_NONE */
    uint32_t *origin; /* by tensor: what it is a view of; itself. What is computed in
                         place is another tensor */
    uint32_t *reader; /* by tensor: the last kernel that read it, + 1 */
    double *saved;    /* by node: B */
    bool *inner;      /* by tensor: read by its own kernel alone */
    uint8_t *read_by; /* by node: bits of enum reader */
    bool *last;       /* by node: channels of its result lie last */
};

enum reader { BY_GENERATED = 1, BY_LIBRARY = 2 };

static enum role role_of(const ft_op *op)
{
    if (op->kind == FT_KIND_batchnorm && !ft_op_at(op, FT_K_train, 0))
        return POINT;
    if (op->kind == FT_KIND_maxpool3d) /* Inductor calls PyTorch's kernel */
        return ALONE;
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_UNARY:
    case FT_CLASS_BINARY: return POINT;
    case FT_CLASS_NORM:
    case FT_CLASS_SOFTMAX: return FOLD;
    case FT_CLASS_POOL: return WINDOW;
    case FT_CLASS_VIEW: return NOTHING;
    default: break;
    }
    switch (op->kind) {
    case FT_KIND_copy:
    case FT_KIND_expand:
    case FT_KIND_fill:
    case FT_KIND_pad:
    case FT_KIND_slice:
    case FT_KIND_tile:
    case FT_KIND_concat:
    case FT_KIND_transpose: return POINT;
    case FT_KIND_cumsum:
    case FT_KIND_det:
    case FT_KIND_fft:
    case FT_KIND_nms:
    case FT_KIND_topk: return ALONE;
    default: return ft_kind_class(op->kind) == FT_CLASS_REDUCE ? FOLD : ALONE;
    }
}

/* Inputs are copied before a graph is replayed, whatever reads them there. */
static enum role role_at(const struct fusion *f, uint32_t node)
{
    const ft_node *n = &f->g->node[node];
    const ft_op *op = &f->g->op[n->op];

    if (op->kind == FT_KIND_copy && f->g->tensor[n->in[0]].role == FT_ROLE_INPUT)
        return ALONE;
    return role_of(op);
}

static int64_t results_of(const struct fusion *f, uint32_t node)
{
    return ft_shape_elements(&f->g->tensor[f->g->node[node].out[0]].shape);
}

/* Rows that are folded are over before anything is done with all of their numbers. */
static bool spreads(const struct fusion *f, uint32_t first, uint32_t next)
{
    return results_of(f, next) > results_of(f, first);
}

/* May `next` be of the kernel of `first`, whose result it reads? */
static bool joins(const struct fusion *f, uint32_t first, uint32_t next)
{
    const enum role a = role_at(f, first), b = role_at(f, next);

    if (b == FOLD)
        return a == POINT;
    return b == POINT && a != ALONE && !(a == FOLD && spreads(f, first, next));
}

static uint32_t kernel_of(const struct fusion *f, uint32_t node)
{
    while (f->kernel[node] != node)
        node = f->kernel[node];
    return node;
}

static double bytes_of(const ft_tensor *t)
{
    return (double)ft_tensor_bytes(&t->shape, t->dtype);
}

/* Its level first: kernels of one level never wait for each other, so that to merge
 * them makes no circle. */
static void place_node(struct fusion *f, uint32_t at)
{
    const ft_node *node = &f->g->node[at];

    for (uint32_t j = 0; j < node->n_in; j++) {
        const uint32_t from = f->source[node->in[j]];

        if (from != FT_NONE) {
            const uint32_t level = f->level[from] + !joins(f, from, at);

            f->level[at] = level > f->level[at] ? level : f->level[at];
        }
    }
    for (uint32_t j = 0; j < node->n_in; j++) {
        const uint32_t from = f->source[node->in[j]];

        if (from != FT_NONE && joins(f, from, at) && f->level[from] == f->level[at])
            f->kernel[kernel_of(f, at)] = kernel_of(f, from);
    }
}

static void find_kernels(struct fusion *f)
{
    const ft_graph *g = f->g;

    for (uint32_t i = 0; i < g->n_tensors; i++) {
        f->source[i] = FT_NONE;
        f->origin[i] = i;
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *node = &g->node[i];
        const bool view = role_at(f, i) == NOTHING;

        f->kernel[i] = i;
        if (!view)
            place_node(f, i);
        for (uint32_t j = 0; j < node->n_out; j++) {
            const uint32_t out = node->out[j];

            f->source[out] = view ? FT_NONE : i;
            if (view && node->n_in) {
                f->source[out] = f->source[node->in[0]];
                f->origin[out] = f->origin[node->in[0]];
            }
        }
    }
}

/* What is written for another kernel, given out, in the place of an input or read by
 * none is no inner tensor: lists of operations name no results. */
static void find_inner(struct fusion *f)
{
    const ft_graph *g = f->g;

    for (uint32_t i = 0; i < g->n_nodes; i++)
        for (uint32_t j = 0; role_at(f, i) != NOTHING && j < g->node[i].n_in; j++) {
            const uint32_t t = f->origin[g->node[i].in[j]];

            f->inner[t] =
                f->source[t] != FT_NONE && f->source[g->tensor[t].storage] != FT_NONE;
        }
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensor[i].is_output)
            f->inner[f->origin[i]] = false;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *node = &g->node[i];

        for (uint32_t j = 0; role_at(f, i) != NOTHING && j < node->n_in; j++) {
            const uint32_t from = f->source[node->in[j]];

            if (from != FT_NONE && kernel_of(f, from) != kernel_of(f, i))
                f->inner[f->origin[node->in[j]]] = false;
        }
    }
}

/* Reads of what its kernel made, or has read already, and writes of what no other
 * needs.
 */
static void save(struct fusion *f, uint32_t at)
{
    const ft_node *node = &f->g->node[at];
    const uint32_t kernel = kernel_of(f, at);

    for (uint32_t j = 0; j < node->n_in; j++) {
        const uint32_t from = f->source[node->in[j]];
        uint32_t *reader = &f->reader[f->origin[node->in[j]]];

        if ((from != FT_NONE && kernel_of(f, from) == kernel) || *reader == kernel + 1)
            f->saved[at] += bytes_of(&f->g->tensor[node->in[j]]);
        *reader = kernel + 1;
    }
    for (uint32_t j = 0; j < node->n_out; j++)
        if (f->inner[f->origin[node->out[j]]])
            f->saved[at] += bytes_of(&f->g->tensor[node->out[j]]);
}

static bool is_fused(const struct fusion *f, uint32_t node)
{
    const enum role r = role_at(f, node);

    return r == POINT || r == FOLD || r == WINDOW;
}

/* Convolutions whose channels a compiler lays last. */
static bool is_image_conv(const ft_op *op)
{
    return op->kind == FT_KIND_conv2d || op->kind == FT_KIND_conv_transpose2d;
}

/* Kernels that are generated, and libraries' convolutions, take what they read in
 * either layout. */
static bool takes_any(const struct fusion *f, uint32_t node)
{
    return is_fused(f, node) || is_image_conv(&f->g->op[f->g->node[node].op]);
}

/* Is it computed from images that lie last, as one? */
static bool keeps_last(const struct fusion *f, uint32_t at)
{
    const ft_node *node = &f->g->node[at];
    bool last = false;

    if (!is_fused(f, at) || f->g->tensor[node->out[0]].shape.rank != 4)
        return false;
    for (uint32_t j = 0; j < node->n_in; j++) {
        const uint32_t from = f->source[node->in[j]];

        last = last || (from != FT_NONE && f->last[from] &&
                        f->g->tensor[node->in[j]].shape.rank == 4);
    }
    return last;
}

static void find_last(struct fusion *f)
{
    for (uint32_t i = 0; i < f->g->n_nodes; i++)
        f->last[i] = is_image_conv(&f->g->op[f->g->node[i].op]) || keeps_last(f, i);
}

/* Does it compute what it reads once? Windows would do so for each of their places. */
static bool computes_on(const struct fusion *f, uint32_t node)
{
    return is_fused(f, node) && role_at(f, node) != WINDOW;
}

/* By which kernels every node's result is read; given out counts as a library's. */
static void find_readers(struct fusion *f)
{
    const ft_graph *g = f->g;

    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensor[i].is_output && f->source[i] != FT_NONE)
            f->read_by[f->source[i]] |= BY_LIBRARY;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        for (uint32_t j = 0; role_at(f, i) != NOTHING && j < g->node[i].n_in; j++) {
            const uint32_t from = f->source[g->node[i].in[j]];

            if (from != FT_NONE)
                f->read_by[from] |= (computes_on(f, i) ? BY_GENERATED : 0) |
                                    (takes_any(f, i) ? 0 : BY_LIBRARY);
        }
}

/* What becomes of a convolution: a bias is added by a kernel that follows, which writes
 * either layout. */
static void follow_convolution(ft__fused *out, const struct fusion *f, uint32_t at,
                               double part)
{
    const ft_node *node = &f->g->node[at];
    const ft_op *op = &f->g->op[node->op];
    const uint32_t from = node->n_in ? f->source[node->in[0]] : FT_NONE;
    const bool bias = op->phase == FT_PHASE_FORWARD &&
                      ft_kind_class(op->kind) == FT_CLASS_CONV &&
                      ft_op_at(op, FT_K_bias, 0) != 0;

    out->biased += bias && f->read_by[at] & BY_GENERATED ? part : 0;
    if (!is_image_conv(op) || !node->n_in)
        return;
    if (from == FT_NONE ? f->g->tensor[node->in[0]].role == FT_ROLE_INPUT
                        : !takes_any(f, from))
        out->copied_in += part;
    out->copied_out += !bias && f->read_by[at] & BY_LIBRARY ? part : 0;
}

static void shares(ft__fused *out, struct fusion *f)
{
    const ft_graph *g = f->g;

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *node = &g->node[i];
        const double part = (double)node->repeat / (double)g->op_count[node->op];
        ft_cost cost;

        out[node->op].laid_last += f->last[i] ? part : 0;
        if (!is_fused(f, i)) {
            out[node->op].moved += part;
            out[node->op].launched += part;
            follow_convolution(&out[node->op], f, i, part);
            continue;
        }
        save(f, i);
        ft_op_cost(&g->op[node->op], &cost);
        out[node->op].moved +=
            part * fmax(0, 1 - f->saved[i] / (cost.bytes_read + cost.bytes_written));
        out[node->op].generated += part * (kernel_of(f, i) == i);
    }
}

ft_status ft__graph_fuse(ft__fused **out, const ft_graph *g, ft_error *err)
{
    const size_t nodes = g->n_nodes + 1u, tensors = g->n_tensors + 1u;
    ft__arena room = {0};
    struct fusion f = {.g = g,
                       .level = ft__arena_need(&room, nodes, sizeof(*f.level)),
                       .kernel = ft__arena_need(&room, nodes, sizeof(*f.kernel)),
                       .source = ft__arena_need(&room, tensors, sizeof(*f.source)),
                       .origin = ft__arena_need(&room, tensors, sizeof(*f.origin)),
                       .reader = ft__arena_need(&room, tensors, sizeof(*f.reader)),
                       .saved = ft__arena_need(&room, nodes, sizeof(*f.saved)),
                       .inner = ft__arena_need(&room, tensors, sizeof(*f.inner)),
                       .read_by = ft__arena_need(&room, nodes, sizeof(*f.read_by)),
                       .last = ft__arena_need(&room, nodes, sizeof(*f.last))};

    *out = room.bad ? NULL : calloc(g->n_ops + 1u, sizeof(**out));
    if (*out) {
        find_kernels(&f);
        find_inner(&f);
        find_readers(&f);
        find_last(&f);
        shares(*out, &f);
    }
    ft__arena_free(&room);
    return *out ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "kernels of %s", g->name);
}
