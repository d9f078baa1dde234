/* How long Python's frames hold tensors. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "graph/memory.h"

/* One call of a module: nodes first to last, both included. */
struct call {
    uint32_t first, last;
    uint32_t parent; /* the call it was made in, FT_NONE: the network's own */
};

/* The calls that are open at a node, outermost first. */
struct open {
    const char *name;
    size_t len;
    uint32_t call;
};

struct frames {
    const ft_graph *g;
    struct call *call;
    uint32_t n_calls;
    size_t cap_calls;
    uint32_t *of_node; /* innermost call of each forward node */
    struct open open[FT__MAX_DEPTH];
    uint32_t depth;
};

static void close_calls(struct frames *f, uint32_t depth, uint32_t next)
{
    for (; f->depth > depth; f->depth--)
        f->call[f->open[f->depth - 1].call].last = next - 1;
}

static bool open_call(struct frames *f, const char *name, size_t len, uint32_t node)
{
    struct call *all = ft__list_grow(f->call, f->n_calls, &f->cap_calls, sizeof(*all));

    if (!all)
        return false;
    f->call = all;
    f->call[f->n_calls] = (struct call){
        .first = node, .parent = f->depth ? f->open[f->depth - 1].call : FT_NONE};
    f->open[f->depth++] = (struct open){name, len, f->n_calls++};
    return true;
}

/* Close the calls that `scope` has left, open those that it has entered. */
static bool enter(struct frames *f, const char *scope, uint32_t node)
{
    uint32_t depth = 0;

    while (*scope && depth < FT__MAX_DEPTH) {
        size_t len = strcspn(scope, "/");

        if (depth == f->depth || f->open[depth].len != len ||
            memcmp(f->open[depth].name, scope, len) != 0) {
            close_calls(f, depth, node);
            if (!open_call(f, scope, len, node))
                return false;
        }
        depth++;
        scope += len + (scope[len] == '/');
    }
    close_calls(f, depth, node);
    return true;
}

static bool find_calls(struct frames *f)
{
    const char *scope = "";
    uint32_t i, n = f->g->n_nodes;

    for (i = 0; i < n && f->g->node[i].phase == FT_PHASE_FORWARD; i++) {
        const ft_node *node = &f->g->node[i];

        if (node->scope != scope && !enter(f, node->scope, i))
            return false;
        scope = node->scope;
        f->of_node[i] = f->depth ? f->open[f->depth - 1].call : FT_NONE;
    }
    close_calls(f, 0, i);
    return true;
}

/* A concatenation that goes to a module has a name in the function that made it;
 * code hardly gives that name to something else. */
static uint32_t named_until(const struct frames *f, uint32_t producer)
{
    const uint32_t call = f->of_node[producer];

    if (call == FT_NONE || f->g->op[f->g->node[producer].op].kind != FT_KIND_concat)
        return 0;
    return f->call[call].last;
}

/* Tensor t is read by node i: whoever made the outermost call that began after t
 * was there holds it. */
static void hold(const struct frames *f, ft__life *life, uint32_t tensor, uint32_t i)
{
    const ft_tensor *t = &f->g->tensor[tensor];
    uint32_t last;

    if (t->producer == FT_NONE || f->of_node[t->producer] == f->of_node[i])
        return; /* the same call */
    last = named_until(f, t->producer);
    for (uint32_t c = f->of_node[i]; c != FT_NONE; c = f->call[c].parent) {
        if (f->call[c].first <= t->producer)
            break;
        last = f->call[c].last > last ? f->call[c].last : last;
    }
    if (life[t->storage].last < last)
        life[t->storage].last = last;
}

ft_status ft__hold_frames(ft__life *life, const ft_graph *g, ft_error *err)
{
    uint32_t n = g->n_nodes;
    struct frames f = {.g = g, .of_node = malloc((n + 1) * sizeof(uint32_t))};
    ft_status st = FT_OK;

    if (!f.of_node || !find_calls(&f))
        st = ft_fail(err, FT_ENOMEM, 0, "memory of %s", g->name);
    for (uint32_t i = 0; !st && i < n; i++) {
        const ft_node *node = &g->node[i];

        if (node->phase != FT_PHASE_FORWARD)
            break;
        for (uint32_t j = 0; j < node->n_in; j++)
            hold(&f, life, node->in[j], i);
    }
    free(f.of_node);
    free(f.call);
    return st;
}
