/* Tensors, nodes and notes in, one after the other; a checked, immutable graph out. */
#include "graph/build.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/index.h"
#include "base/limits.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"

/* What a graph owns: plain arrays; what nodes and strings point to lies in the arena.
 * Grown by the builder only. */
typedef struct ft__parts {
    ft__arena arena;
    const char *name;
    ft_mode mode;
    ft_tensor *tensor;
    ft_node *node;
    ft_op *op;
    uint64_t *op_count;
    uint32_t *output;
    const char **assumption, **bounded;
    uint32_t n_tensors, n_nodes, n_ops, n_outputs, n_assumptions, n_bounded;
    int64_t positions;
    bool language_model;
    const ft_graph *shown; /* by parts_show() */
    ft__graph_found found;
} ft__parts;

ft__graph_found *ft__graph_found_of(const ft_graph *g)
{
    return g->parts && g->parts->shown == g ? &g->parts->found : NULL;
}

static void parts_free(ft__parts *p)
{
    if (!p)
        return;
    ft__arena_free(&p->arena);
    free(p->tensor);
    free(p->node);
    free(p->op);
    free(p->op_count);
    free(p->output);
    free(p->assumption);
    free(p->bounded);
    free(p);
}

/* The first dimension of the first input. */
static int64_t batch_of(const ft__parts *p)
{
    for (uint32_t i = 0; i < p->n_tensors; i++)
        if (p->tensor[i].role == FT_ROLE_INPUT && p->tensor[i].shape.rank)
            return p->tensor[i].shape.dim[0];
    return 0;
}

/* The graph that shows them; takes. NULL: there is no memory, and they stay. */
static ft_graph *parts_show(ft__parts *p)
{
    ft_graph *g = malloc(sizeof(*g));

    if (g)
        *g = (ft_graph){
            .name = p->name,
            .mode = p->mode,
            .batch = batch_of(p),
            .tensor = p->tensor,
            .n_tensors = p->n_tensors,
            .node = p->node,
            .n_nodes = p->n_nodes,
            .op = p->op,
            .op_count = p->op_count,
            .n_ops = p->n_ops,
            .output = p->output,
            .n_outputs = p->n_outputs,
            .assumption = p->assumption,
            .n_assumptions = p->n_assumptions,
            .bounded = p->bounded,
            .n_bounded = p->n_bounded,
            .parts = p,
            .positions = p->positions,
            .language_model = p->language_model,
        };
    p->shown = g;
    return g;
}

void ft_graph_free(ft_graph *g)
{
    if (g)
        parts_free(g->parts);
    free(g);
}

/* What malloc() gives quickest, for the many small graphs. */
enum { SMALL_BYTES = 1000 };

/* The graph grows in place; capacities live here until it is finished. */
struct ft__build {
    ft__parts *g;
    uint32_t cap_tensors, cap_nodes, cap_ops, cap_outputs, cap_counts, cap_assumptions;
    uint32_t cap_bounded;
    ft__index index; /* of operations, by quick_hash() */
    ft_phase phase;
    const char *scope;
    ft_error err;
    bool failed;
};

ft__build *ft__build_new(const char *name)
{
    ft__build *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    b->scope = "";
    b->g = calloc(1, sizeof(*b->g));
    if (b->g)
        b->g->name = ft__arena_strndup(&b->g->arena, name, strlen(name));
    if (!b->g || !b->g->name) {
        ft__build_free(b);
        return NULL;
    }
    return b;
}

void ft__build_free(ft__build *b)
{
    if (!b)
        return;
    parts_free(b->g);
    ft__index_free(&b->index);
    free(b);
}

void ft__build_fail(ft__build *b, ft_status st, uint64_t pos, const char *fmt, ...)
{
    va_list ap;

    if (b->failed)
        return;
    b->failed = true;
    b->err.status = st;
    b->err.pos = pos;
    va_start(ap, fmt);
    vsnprintf(b->err.msg, sizeof(b->err.msg), fmt, ap);
    va_end(ap);
}

bool ft__build_failed(const ft__build *b)
{
    return b->failed;
}

static uint32_t out_of_memory(ft__build *b)
{
    ft__build_fail(b, FT_ENOMEM, 0, "out of memory while building %s", b->g->name);
    return FT_NONE;
}

/* Make room for n elements at *array. */
static bool reserve(ft__build *b, void *array, uint32_t n, uint32_t *cap, size_t size)
{
    void *p;

    if (b->failed || n <= *cap)
        return !b->failed;
    memcpy(&p, array, sizeof(p));
    p = realloc(p, n * size);
    if (!p) {
        out_of_memory(b);
        return false;
    }
    memcpy(array, &p, sizeof(p));
    *cap = n;
    return true;
}

/* For one more than n. */
static bool grow(ft__build *b, void *array, uint32_t n, uint32_t *cap, size_t size)
{
    return n < *cap ? !b->failed
                    : reserve(b, array,
                              *cap >= 64           ? *cap * 2u
                              : *cap               ? *cap * 4u
                              : size < SMALL_BYTES ? (uint32_t)(SMALL_BYTES / size)
                                                   : 1,
                              cap, size);
}

uint32_t ft__build_tensor(ft__build *b, const char *name, size_t name_len, ft_role role,
                          ft_dtype dtype, const ft_shape *shape)
{
    ft__parts *g = b->g;
    ft_tensor *t;

    if (!grow(b, &g->tensor, g->n_tensors, &b->cap_tensors, sizeof(*t)))
        return FT_NONE;
    t = &g->tensor[g->n_tensors];
    *t = (ft_tensor){.dtype = dtype,
                     .role = role,
                     .shape = *shape,
                     .producer = FT_NONE,
                     .storage = g->n_tensors,
                     .copies = 1};
    t->name = ft__arena_strndup(&g->arena, name, name_len);
    return t->name ? g->n_tensors++ : out_of_memory(b);
}

uint32_t ft__build_like(ft__build *b, const ft_tensor *like, ft_dtype dtype)
{
    uint32_t t = ft__build_tensor(b, like->name, strlen(like->name), like->role, dtype,
                                  &like->shape);

    if (t != FT_NONE) {
        b->g->tensor[t].layout = like->layout;
        b->g->tensor[t].open = like->open;
        b->g->tensor[t].container = like->container;
        b->g->tensor[t].copies = like->copies;
    }
    return t;
}

const ft_tensor *ft__build_get(const ft__build *b, uint32_t tensor)
{
    return &b->g->tensor[tensor];
}

void ft__build_output(ft__build *b, uint32_t tensor)
{
    if (!grow(b, &b->g->output, b->g->n_outputs, &b->cap_outputs,
              sizeof(*b->g->output)))
        return;
    b->g->output[b->g->n_outputs++] = tensor;
    b->g->tensor[tensor].is_output = 1;
}

void ft__build_open(ft__build *b, uint32_t tensor, uint32_t open)
{
    if (!b->failed)
        b->g->tensor[tensor].open = open;
}

void ft__build_container(ft__build *b, uint32_t tensor, uint32_t container)
{
    if (!b->failed)
        b->g->tensor[tensor].container = container;
}

void ft__build_detached(ft__build *b, uint32_t tensor)
{
    if (!b->failed)
        b->g->tensor[tensor].detached = 1;
}

void ft__build_own_storage(ft__build *b, uint32_t tensor)
{
    if (!b->failed)
        b->g->tensor[tensor].storage = tensor;
}

void ft__build_trainable(ft__build *b, uint32_t tensor)
{
    if (!b->failed)
        b->g->tensor[tensor].trainable = 1;
}

void ft__build_role(ft__build *b, uint32_t tensor, ft_role role)
{
    if (!b->failed)
        b->g->tensor[tensor].role = role;
}

void ft__build_alias(ft__build *b, uint32_t tensor, uint32_t of)
{
    if (!b->failed)
        b->g->tensor[tensor].storage = b->g->tensor[of].storage;
}

void ft__build_phase(ft__build *b, ft_phase phase)
{
    b->phase = phase;
}

/* The number of the operation equal to *op; `next` where there is none yet. */
static uint32_t number_of(ft__build *b, const ft_op *op, uint32_t next)
{
    uint64_t hash = ft__op_quick_hash(op);
    ft__index_slot *slot;

    while ((slot = ft__index_at(&b->index, hash, NULL)) && slot->hash &&
           !ft_op_equal(&b->g->op[slot->number], op))
        hash++;
    if (!slot)
        return out_of_memory(b);
    if (!slot->hash) {
        *slot = (ft__index_slot){.hash = hash, .number = next};
        b->index.n++;
    }
    return (uint32_t)slot->number;
}

void ft__build_scope(ft__build *b, const char *scope, size_t len)
{
    if (b->failed || (strlen(b->scope) == len && !memcmp(b->scope, scope, len)))
        return;
    b->scope = len ? ft__arena_strndup(&b->g->arena, scope, len) : "";
    if (!b->scope)
        out_of_memory(b);
}

/* Index of the operation equal to *op, added when it is new. */
static uint32_t intern(ft__build *b, const ft_op *op, uint64_t count)
{
    ft__parts *g = b->g;
    uint32_t at = number_of(b, op, g->n_ops);

    if (at == FT_NONE)
        return FT_NONE;
    if (at == g->n_ops) {
        if (!grow(b, &g->op, g->n_ops, &b->cap_ops, sizeof(*g->op)) ||
            !grow(b, &g->op_count, g->n_ops, &b->cap_counts, sizeof(*g->op_count)))
            return FT_NONE;
        g->op[g->n_ops] = *op;
        g->op_count[g->n_ops++] = 0;
    }
    g->op_count[at] += count;
    return at;
}

static const uint32_t *keep(ft__build *b, const uint32_t *v, uint32_t n)
{
    uint32_t *p;

    if (n == 0)
        return NULL;
    p = ft__arena_array(&b->g->arena, n, sizeof(*p));
    if (p)
        memcpy(p, v, n * sizeof(*p));
    else
        out_of_memory(b);
    return p;
}

/* Results must have the shapes that the operation gives; our own rules and the
 * importer's meet here. */
static void check_results(ft__build *b, const char *name, size_t name_len,
                          const ft_op *op, const uint32_t *out, uint32_t n_out)
{
    /* Behind the results of a forward operation lies what it saves; a backward
     * one gives the gradients of its weights one by one. */
    uint32_t checked = ft_op_n_outputs(op);

    if (op->phase != FT_PHASE_FORWARD)
        return;
    for (uint32_t i = 0; i < n_out && i < checked; i++) {
        ft_shape s;
        ft_dtype t;

        assert(out[i] < b->g->n_tensors);
        ft_op_output(op, i, &s, &t);
        if (ft_shape_elements(&s) != ft_shape_elements(&b->g->tensor[out[i]].shape))
            ft__build_fail(b, FT_EFORMAT, 0,
                           "node %.*s: the result of %s has another size",
                           (int)name_len, name, ft_kind_name(op->kind));
    }
}

uint32_t ft__build_node(ft__build *b, const char *name, size_t name_len,
                        const ft_op *op, const uint32_t *in, uint32_t n_in,
                        const uint32_t *params, uint32_t n_params, const uint32_t *out,
                        uint32_t n_out)
{
    uint32_t n_ops = b->g->n_ops;
    uint32_t node = ft__build_checked(b, name, name_len, op, in, n_in, params, n_params,
                                      out, n_out);
    ft_error err;

    /* One that was there before has been checked. */
    if (!b->failed && b->g->n_ops > n_ops && ft_op_check(op, &err))
        ft__build_fail(b, FT_EFORMAT, 0, "node %.*s: %s", (int)name_len, name, err.msg);
    if (!b->failed)
        check_results(b, name, name_len, op, out, n_out);
    return b->failed ? FT_NONE : node;
}

uint32_t ft__build_checked(ft__build *b, const char *name, size_t name_len,
                           const ft_op *op, const uint32_t *in, uint32_t n_in,
                           const uint32_t *params, uint32_t n_params,
                           const uint32_t *out, uint32_t n_out)
{
    ft__parts *g = b->g;
    ft_node node = {.n_in = n_in, .n_params = n_params, .n_out = n_out, .repeat = 1};

    if (b->failed)
        return FT_NONE;
    node.phase = b->phase;
    node.scope = b->scope;
    node.name = ft__arena_strndup(&g->arena, name, name_len);
    if (!node.name)
        return out_of_memory(b);
    if (g->n_nodes >= FT__MAX_NODES) {
        ft__build_fail(b, FT_EFORMAT, 0, "more than %d nodes", FT__MAX_NODES);
        return FT_NONE;
    }
    node.op = intern(b, op, 1);
    node.in = keep(b, in, n_in);
    node.params = keep(b, params, n_params);
    node.out = keep(b, out, n_out);
    if (!grow(b, &g->node, g->n_nodes, &b->cap_nodes, sizeof(node)))
        return FT_NONE;
    for (uint32_t i = 0; i < n_out; i++) {
        ft_tensor *t = &g->tensor[out[i]];

        t->producer = g->n_nodes;
        if (op->kind == FT_KIND_view) {
            t->storage = g->tensor[in[0]].storage;
            t->role = g->tensor[in[0]].role;
        }
    }
    if (op->phase == FT_PHASE_BACKWARD || b->phase == FT_PHASE_BACKWARD)
        g->mode = FT_MODE_TRAINING;
    g->node[g->n_nodes] = node;
    return g->n_nodes++;
}

/* Let a node run `count` times in one pass; nothing for FT_NONE. */
static void repeat_node(ft__build *b, uint32_t node, uint64_t count)
{
    if (b->failed || node == FT_NONE)
        return;
    b->g->op_count[b->g->node[node].op] += count - b->g->node[node].repeat;
    b->g->node[node].repeat = count;
}

void ft__build_at(ft__build *b, const ft_node *n)
{
    ft__build_phase(b, n->phase);
    ft__build_scope(b, n->scope, strlen(n->scope));
}

void ft__build_again(ft__build *b, const ft_node *n, const ft_op *op,
                     const uint32_t *in, const uint32_t *out, uint32_t n_out)
{
    repeat_node(b,
                ft__build_checked(b, n->name, strlen(n->name), op, in, n->n_in,
                                  n->params, n->n_params, out, n_out),
                n->repeat);
}

static void repeat(ft__build *b, uint32_t first, uint32_t end, uint64_t times)
{
    const uint64_t most = (uint64_t)FT__MAX_ELEMENTS;

    for (uint32_t i = first; i < end && !b->failed; i++) {
        uint64_t repeat = b->g->node[i].repeat;

        if (times && repeat > most / times)
            ft__build_fail(b, FT_EFORMAT, 0,
                           "node %s: loops run it more than 2^52 times",
                           b->g->node[i].name);
        repeat_node(b, i, repeat * times);
    }
}

void ft__build_repeat_from(ft__build *b, uint32_t first, uint64_t times)
{
    repeat(b, first, b->g->n_nodes, times);
}

void ft__build_stand_for(ft__build *b, const ft__build_mark *from,
                         const ft__build_mark *to, uint32_t layers)
{
    repeat(b, from->n_nodes, to->n_nodes, layers);
    for (uint32_t i = from->n_tensors; i < to->n_tensors && !b->failed; i++)
        b->g->tensor[i].copies = layers;
}

void ft__build_cost(const ft__build *b, uint32_t first, double *flops, double *bytes)
{
    *flops = *bytes = 0;
    for (uint32_t i = first; i < b->g->n_nodes; i++) {
        const ft_node *n = &b->g->node[i];
        ft_cost c;

        ft_op_cost(&b->g->op[n->op], &c);
        *flops += (double)n->repeat * c.flops;
        *bytes += (double)n->repeat * (c.bytes_read + c.bytes_written);
    }
}

ft__build_mark ft__build_here(const ft__build *b)
{
    const ft__parts *g = b->g;

    return (ft__build_mark){g->n_tensors, g->n_nodes, g->n_ops, g->n_assumptions,
                            g->n_bounded};
}

void ft__build_rollback(ft__build *b, const ft__build_mark *mark)
{
    ft__parts *g = b->g;

    for (uint32_t i = mark->n_nodes; i < g->n_nodes; i++)
        g->op_count[g->node[i].op] -= g->node[i].repeat;
    g->n_tensors = mark->n_tensors;
    g->n_nodes = mark->n_nodes;
    g->n_assumptions = mark->n_assumptions;
    g->n_bounded = mark->n_bounded;
    if (g->n_ops == mark->n_ops || b->failed)
        return;
    g->n_ops = mark->n_ops;
    ft__index_free(&b->index);
    for (uint32_t i = 0; i < g->n_ops; i++)
        (void)number_of(b, &g->op[i], i);
}

/* Where a copy's tensors are. */
struct copied {
    uint32_t first, further, in, instead;
};

static uint32_t copied_tensor(const struct copied *c, uint32_t tensor)
{
    return tensor == c->in     ? c->instead
           : tensor < c->first ? tensor
                               : tensor + c->further;
}

/* From *at on, which goes behind them; nothing of nothing. */
static const uint32_t *copied_tensors(uint32_t **at, const struct copied *c,
                                      const uint32_t *v, uint32_t n)
{
    uint32_t *p = *at;

    for (uint32_t i = 0; i < n; i++)
        p[i] = copied_tensor(c, v[i]);
    *at += n;
    return n ? p : NULL;
}

static void copy_scope(ft__build *b, ft__buf *text, const char *scope, const char *was,
                       const char *now)
{
    const size_t len = strlen(was), new_len = strlen(now);
    const char *at;

    text->len = 0;
    while ((at = strstr(scope, was))) {
        ft__buf_add(text, scope, (size_t)(at - scope));
        ft__buf_add(text, now, new_len);
        scope = at + len;
    }
    ft__buf_add(text, scope, strlen(scope));
    if (text->bad)
        out_of_memory(b);
    else
        ft__build_scope(b, text->s, text->len);
}

/* With room for them. */
static void copy_tensors(ft__parts *g, const struct copied *c, uint32_t n,
                         uint32_t nodes)
{
    ft_tensor *t = &g->tensor[g->n_tensors];

    memcpy(t, &g->tensor[c->first], n * sizeof(*t));
    g->n_tensors += n;
    for (uint32_t i = 0; i < n; i++) {
        t[i].storage = copied_tensor(c, t[i].storage);
        if (t[i].producer != FT_NONE)
            t[i].producer += nodes;
    }
}

void ft__build_reserve(ft__build *b, const ft__build_mark *from,
                       const ft__build_mark *to, uint32_t copies)
{
    ft__parts *g = b->g;

    (void)reserve(b, &g->tensor,
                  g->n_tensors + copies * (to->n_tensors - from->n_tensors),
                  &b->cap_tensors, sizeof(*g->tensor));
    (void)reserve(b, &g->node, g->n_nodes + copies * (to->n_nodes - from->n_nodes),
                  &b->cap_nodes, sizeof(*g->node));
}

void ft__build_copy(ft__build *b, const ft__build_mark *from, const ft__build_mark *to,
                    uint32_t in, uint32_t instead, const char *was, const char *now)
{
    ft__parts *g = b->g;
    const struct copied c = {from->n_tensors, g->n_tensors - from->n_tensors, in,
                             instead};
    const char *scope = NULL;
    ft__buf text = {0};
    uint32_t *at;
    size_t n_at = 0;

    ft__build_reserve(b, from, to, 1);
    for (uint32_t i = from->n_nodes; i < to->n_nodes; i++)
        n_at += g->node[i].n_in + g->node[i].n_params + g->node[i].n_out;
    at = ft__arena_array(&g->arena, n_at, sizeof(*at));
    if (!at)
        out_of_memory(b);
    if (b->failed)
        return;
    copy_tensors(g, &c, to->n_tensors - from->n_tensors, g->n_nodes - from->n_nodes);
    for (uint32_t i = from->n_nodes; i < to->n_nodes && !b->failed; i++) {
        ft_node *n = &g->node[g->n_nodes];

        *n = g->node[i];
        if (n->scope != scope)
            copy_scope(b, &text, n->scope, was, now);
        scope = n->scope;
        if (g->n_nodes >= FT__MAX_NODES)
            ft__build_fail(b, FT_EFORMAT, 0, "more than %d nodes", FT__MAX_NODES);
        n->scope = b->scope;
        n->in = copied_tensors(&at, &c, n->in, n->n_in);
        n->params = copied_tensors(&at, &c, n->params, n->n_params);
        n->out = copied_tensors(&at, &c, n->out, n->n_out);
        g->op_count[n->op] += n->repeat;
        g->n_nodes++;
    }
    ft__buf_free(&text);
}

FT_PRINTF(5, 0)
static void note(ft__build *b, const char ***list, uint32_t *n, uint32_t *cap,
                 const char *fmt, va_list ap)
{
    char text[512];
    int len = vsnprintf(text, sizeof(text), fmt, ap);
    size_t size = len < 0 ? 0 : (size_t)len;

    if (!grow(b, list, *n, cap, sizeof(**list)))
        return;
    (*list)[*n] = ft__arena_strndup(&b->g->arena, text,
                                    size < sizeof(text) ? size : sizeof(text) - 1);
    if (!(*list)[*n])
        out_of_memory(b);
    else
        ++*n;
}

void ft__build_assume(ft__build *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    note(b, &b->g->assumption, &b->g->n_assumptions, &b->cap_assumptions, fmt, ap);
    va_end(ap);
}

void ft__build_language_model(ft__build *b, int64_t positions, int64_t context)
{
    if (b->failed)
        return;
    b->g->language_model = true;
    b->g->positions = positions;
    if (positions > 0 && context > positions)
        ft__build_assume(b,
                         "a sequence of %" PRId64
                         " tokens, above the maximum context length of "
                         "%" PRId64,
                         context, positions);
}

void ft__build_bounded(ft__build *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    note(b, &b->g->bounded, &b->g->n_bounded, &b->cap_bounded, fmt, ap);
    va_end(ap);
}

void ft__build_notes(ft__build *b, const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_assumptions; i++)
        ft__build_assume(b, "%s", g->assumption[i]);
    for (uint32_t i = 0; i < g->n_bounded; i++)
        ft__build_bounded(b, "%s", g->bounded[i]);
}

ft_status ft__build_finish_take(ft_graph **out, ft__build *b, ft_error *err)
{
    ft_status st = FT_OK;

    *out = NULL;
    if (b->failed) {
        st = b->err.status;
        if (err)
            *err = b->err;
    } else if ((*out = parts_show(b->g))) {
        b->g = NULL;
    } else {
        st = ft_fail(err, FT_ENOMEM, 0, "out of memory while building %s", b->g->name);
    }
    ft__build_free(b);
    return st;
}
