/* The control-flow graph of a function. In: its instructions; out: blocks, edges,
 * reconvergence points, loops. */
#include "ptx/count/flow.h"

#include <string.h>

#define NONE FT__FLOW_NONE

enum { MOST_EDGES = 1 << 26 };

/* Vertex v leads to edge[edges[v]] ... edge[edges[v + 1] - 1]. */
struct flow_graph {
    uint32_t *edge, *edges, n;
};

/* Everything but `ancestor` and `label` by number in the order of the walk, from 0. */
struct lt {
    const struct flow_graph *g;
    uint32_t *number, *vertex, *parent; /* number and parent by vertex */
    uint32_t *semi, *ancestor, *label, *idom;
    uint32_t *bucket, *behind; /* lists: first of a bucket, next of a vertex */
    uint32_t *stack, *at, n;
    uint32_t *pred, *preds; /* of visited vertices, by number */
};

static bool lt_new(struct lt *w, ft__arena *a, const struct flow_graph *g)
{
    const size_t n = (size_t)g->n + 2;
    uint32_t **part[] = {&w->number,   &w->vertex, &w->parent, &w->semi,
                         &w->ancestor, &w->label,  &w->idom,   &w->bucket,
                         &w->behind,   &w->stack,  &w->at,     &w->preds};

    w->g = g;
    for (size_t k = 0; k < sizeof(part) / sizeof(*part); k++)
        if (!(*part[k] = ft__arena_array(a, n, sizeof(uint32_t))))
            return false;
    w->pred = ft__arena_array(a, (size_t)g->edges[g->n] + 1, sizeof(*w->pred));
    return w->pred != NULL;
}

static void visit(struct lt *w, uint32_t v, uint32_t from)
{
    w->number[v] = w->n;
    w->parent[w->n] = from;
    w->vertex[w->n++] = v;
    w->at[v] = w->g->edges[v];
}

static void walk(struct lt *w, uint32_t root)
{
    uint32_t deep = 0;

    for (uint32_t v = 0; v < w->g->n; v++)
        w->number[v] = NONE;
    visit(w, root, NONE);
    w->stack[deep++] = root;
    while (deep) {
        const uint32_t v = w->stack[deep - 1];

        if (w->at[v] == w->g->edges[v + 1]) {
            deep--;
        } else {
            const uint32_t to = w->g->edge[w->at[v]++];

            if (w->number[to] == NONE) {
                visit(w, to, w->number[v]);
                w->stack[deep++] = to;
            }
        }
    }
}

static void find_preds(struct lt *w)
{
    uint32_t *at = w->preds + 2; /* counts, then ends, then beginnings */

    for (uint32_t k = 0; k < w->n; k++) {
        const uint32_t v = w->vertex[k];

        for (uint32_t e = w->g->edges[v]; e < w->g->edges[v + 1]; e++)
            at[w->number[w->g->edge[e]]]++;
    }
    for (uint32_t k = 1; k < w->n; k++)
        at[k] += at[k - 1];
    at = w->preds + 1;
    for (uint32_t k = 0; k < w->n; k++) {
        const uint32_t v = w->vertex[k];

        for (uint32_t e = w->g->edges[v]; e < w->g->edges[v + 1]; e++)
            w->pred[at[w->number[w->g->edge[e]]]++] = k;
    }
}

static uint32_t evaluate(struct lt *w, uint32_t v)
{
    uint32_t deep = 0, u = v;

    if (w->ancestor[v] == NONE)
        return v;
    for (; w->ancestor[w->ancestor[u]] != NONE; u = w->ancestor[u])
        w->stack[deep++] = u;
    while (deep) {
        const uint32_t x = w->stack[--deep], above = w->ancestor[x];

        if (w->semi[w->label[above]] < w->semi[w->label[x]])
            w->label[x] = w->label[above];
        w->ancestor[x] = w->ancestor[above];
    }
    return w->label[v];
}

static void settle(struct lt *w, uint32_t k)
{
    for (uint32_t e = w->preds[k]; e < w->preds[k + 1]; e++) {
        const uint32_t u = evaluate(w, w->pred[e]);

        if (w->semi[u] < w->semi[k])
            w->semi[k] = w->semi[u];
    }
    w->behind[k] = w->bucket[w->semi[k]];
    w->bucket[w->semi[k]] = k;
    w->ancestor[k] = w->parent[k];
    for (uint32_t v = w->bucket[w->parent[k]]; v != NONE;) {
        const uint32_t next = w->behind[v], u = evaluate(w, v);

        w->idom[v] = w->semi[u] < w->semi[v] ? u : w->parent[k];
        v = next;
    }
    w->bucket[w->parent[k]] = NONE;
}

/* Immediate dominators of what `root` reaches, NONE for root and the rest.
 * T. Lengauer, R. E. Tarjan, A fast algorithm for finding dominators in a flowgraph,
 * ACM TOPLAS 1, 1979 (the simple version). false: out of memory. */
static bool dominate(uint32_t *above, ft__arena *a, const struct flow_graph *g,
                     uint32_t root)
{
    struct lt w = {0};

    if (!lt_new(&w, a, g))
        return false;
    walk(&w, root);
    find_preds(&w);
    for (uint32_t k = 0; k < w.n; k++) {
        w.semi[k] = w.label[k] = k;
        w.ancestor[k] = w.bucket[k] = NONE;
    }
    for (uint32_t k = w.n; k-- > 1;)
        settle(&w, k);
    for (uint32_t v = 0; v < g->n; v++)
        above[v] = NONE;
    for (uint32_t k = 1; k < w.n; k++) {
        if (w.idom[k] != w.semi[k])
            w.idom[k] = w.idom[w.idom[k]];
        above[w.vertex[k]] = w.vertex[w.idom[k]];
    }
    return true;
}

struct components {
    const struct flow_graph *g;
    uint32_t *number, *low, *at, *path, *stack, *component;
    bool *header, *on_path;
    uint32_t next, deep, waiting, n;
};

static void enter(struct components *w, uint32_t v)
{
    w->number[v] = w->low[v] = ++w->next;
    w->at[v] = w->g->edges[v];
    w->path[w->deep++] = v;
    w->stack[w->waiting++] = v;
    w->on_path[v] = true;
}

static void leave(struct components *w, uint32_t v)
{
    uint32_t u;

    w->deep--;
    w->on_path[v] = false;
    if (w->deep && w->low[v] < w->low[w->path[w->deep - 1]])
        w->low[w->path[w->deep - 1]] = w->low[v];
    if (w->low[v] != w->number[v])
        return;
    do {
        u = w->stack[--w->waiting];
        w->component[u] = w->n;
    } while (u != v);
    w->n++;
}

static void search(struct components *w, uint32_t from)
{
    enter(w, from);
    while (w->deep) {
        const uint32_t v = w->path[w->deep - 1];

        if (w->at[v] == w->g->edges[v + 1]) {
            leave(w, v);
        } else {
            const uint32_t to = w->g->edge[w->at[v]++];

            if (!w->number[to])
                enter(w, to);
            else if (w->component[to] == NONE && w->number[to] < w->low[v])
                w->low[v] = w->number[to];
            if (w->on_path[to] && w->path[w->deep - 1] == v)
                w->header[to] = true;
        }
    }
}

/* Strongly connected components, numbered from 0 (R. E. Tarjan, Depth-first search and
 * linear graph algorithms, SIAM J. Comput. 1, 1972), and vertices that edges lead back
 * to on a walk in depth from vertex 0 on, then from what it does not reach. */
static bool strong_components(uint32_t *component, bool *header, uint32_t *n_components,
                              ft__arena *a, const struct flow_graph *g)
{
    struct components w = {.g = g, .component = component, .header = header};

    w.number = ft__arena_array(a, g->n, sizeof(*w.number));
    w.low = ft__arena_array(a, g->n, sizeof(*w.low));
    w.at = ft__arena_array(a, g->n, sizeof(*w.at));
    w.path = ft__arena_array(a, g->n, sizeof(*w.path));
    w.stack = ft__arena_array(a, g->n, sizeof(*w.stack));
    w.on_path = ft__arena_array(a, g->n, sizeof(*w.on_path));
    if (!w.number || !w.low || !w.at || !w.path || !w.stack || !w.on_path)
        return false;
    for (uint32_t v = 0; v < g->n; v++)
        component[v] = NONE;
    for (uint32_t v = 0; v < g->n; v++)
        if (!w.number[v])
            search(&w, v);
    *n_components = w.n;
    return true;
}

static const ft__ptx_operand *operands(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    return f->operand + i->operands;
}

/* Where a bra leads, or nowhere. */
static uint32_t target(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    for (uint32_t k = 0; k < i->n_operands; k++)
        if (operands(f, i)[k].kind == FT__PTX_LABEL)
            return operands(f, i)[k].index;
    return NONE;
}

const ft__ptx_targets *ft__flow_targets(const ft__ptx_function *f,
                                        const ft__ptx_insn *i)
{
    for (uint32_t k = 0; k < i->n_operands; k++)
        if (operands(f, i)[k].kind == FT__PTX_TARGETS)
            return &f->targets[operands(f, i)[k].index];
    return NULL;
}

static bool returns_never(const ft_ptx *m, const ft__ptx_function *f,
                          const ft__ptx_insn *i)
{
    for (uint32_t k = 0; k < i->n_operands; k++)
        if (operands(f, i)[k].kind == FT__PTX_FUNCTION)
            return m->function[operands(f, i)[k].index].noreturn;
    return false;
}

/* Marks first instructions in `of`. */
static void mark(ft__flow *out, const ft__ptx_function *f)
{
    out->of[0] = 1;
    for (uint32_t k = 0; k < f->n_insns; k++) {
        const ft__ptx_insn *i = &f->insn[k];
        const ft__flow_kind kind = ft__flow_kind_of(i);
        const ft__ptx_targets *list;
        uint32_t to;

        if (kind == FT__FLOW_ON)
            continue;
        out->of[k + 1] = 1;
        if (kind == FT__FLOW_BRANCH && (to = target(f, i)) <= f->n_insns)
            out->of[to] = 1;
        if (kind == FT__FLOW_INDEX && (list = ft__flow_targets(f, i)))
            for (uint32_t t = 0; t < list->n; t++)
                if (list->index[t] <= f->n_insns)
                    out->of[list->index[t]] = 1;
    }
    /* A label that is no target begins a block too, so that it names one. */
    for (uint32_t k = 0; k < f->n_labels; k++)
        if (f->label[k].insn <= f->n_insns)
            out->of[f->label[k].insn] = 1;
}

static bool cut(ft__flow *out, ft__arena *a, const ft__ptx_function *f)
{
    uint32_t n = 0;

    out->of = ft__arena_array(a, (size_t)f->n_insns + 1, sizeof(*out->of));
    if (!out->of)
        return false;
    if (f->n_insns)
        mark(out, f);
    for (uint32_t k = 0; k < f->n_insns; k++)
        n += out->of[k];
    out->n = n;
    out->block = ft__arena_array(a, (size_t)n + 1, sizeof(*out->block));
    if (!out->block)
        return false;
    n = 0;
    for (uint32_t k = 0; k < f->n_insns; k++) {
        if (out->of[k])
            out->block[n++].first = k;
        out->of[k] = n - 1;
        out->block[n - 1].end = k + 1;
    }
    out->of[f->n_insns] = n;
    return true;
}

/* Those of block b into `to` (NULL: only counted); how many. */
static uint32_t edges_of(ft__flow *w, const ft_ptx *m, const ft__ptx_function *f,
                         uint32_t b, uint32_t *to)
{
    ft__flow_block *block = &w->block[b];
    const ft__ptx_insn *i = &f->insn[block->end - 1];
    const bool guarded = i->guard >= 0;
    const ft__ptx_targets *list = NULL;
    uint32_t n = 0;

    block->next = b + 1;
    block->jump = NONE;
    switch (ft__flow_kind_of(i)) {
    case FT__FLOW_BRANCH:
        block->jump = w->of[target(f, i) <= f->n_insns ? target(f, i) : f->n_insns];
        block->next = guarded ? b + 1 : NONE;
        break;
    case FT__FLOW_INDEX:
        list = ft__flow_targets(f, i);
        block->next = guarded ? b + 1 : NONE;
        break;
    case FT__FLOW_LEAVE: block->next = guarded ? b + 1 : w->n; break;
    case FT__FLOW_CALL:
        block->next = !guarded && returns_never(m, f, i) ? w->n : b + 1;
        break;
    case FT__FLOW_ON: break;
    }
    if (block->next != NONE && n++ != NONE && to)
        to[n - 1] = block->next;
    if (block->jump != NONE && n++ != NONE && to)
        to[n - 1] = block->jump;
    for (uint32_t t = 0; list && t < list->n; t++, n++)
        if (to)
            to[n] = w->of[list->index[t] <= f->n_insns ? list->index[t] : f->n_insns];
    return n;
}

/* Lists of branches may name one label any number of times. */
static bool too_many(ft__flow *w, const ft_ptx *m, const ft__ptx_function *f)
{
    size_t n = 0;

    for (uint32_t b = 0; b < w->n && n <= MOST_EDGES; b++)
        n += edges_of(w, m, f, b, NULL);
    return n > MOST_EDGES;
}

static bool connect(ft__flow *w, ft__arena *a, const ft_ptx *m,
                    const ft__ptx_function *f)
{
    uint32_t n = 0;

    w->edges = ft__arena_array(a, (size_t)w->n + 2, sizeof(*w->edges));
    if (!w->edges)
        return false;
    for (uint32_t b = 0; b < w->n; b++) {
        w->edges[b] = n;
        n += edges_of(w, m, f, b, NULL);
    }
    w->edges[w->n] = w->edges[w->n + 1] = n;
    w->edge = ft__arena_array(a, (size_t)n + 1, sizeof(*w->edge));
    if (!w->edge)
        return false;
    for (uint32_t b = 0; b < w->n; b++)
        edges_of(w, m, f, b, w->edge + w->edges[b]);
    return true;
}

/* The graph backwards; `extra` blocks lead to the end, too. */
static bool reverse(struct flow_graph *out, ft__arena *a, const ft__flow *w,
                    const bool *extra)
{
    uint32_t *at;

    out->n = w->n + 1;
    out->edges = ft__arena_array(a, (size_t)w->n + 3, sizeof(*out->edges));
    out->edge = ft__arena_array(a, (size_t)w->edges[w->n] + w->n + 1, sizeof(*at));
    if (!out->edges || !out->edge)
        return false;
    at = out->edges + 2;
    for (uint32_t e = 0; e < w->edges[w->n]; e++)
        at[w->edge[e]]++;
    for (uint32_t b = 0; b < w->n; b++)
        at[w->n] += extra[b];
    for (uint32_t b = 1; b <= w->n; b++)
        at[b] += at[b - 1];
    at = out->edges + 1;
    for (uint32_t b = 0; b < w->n; b++) {
        for (uint32_t e = w->edges[b]; e < w->edges[b + 1]; e++)
            out->edge[at[w->edge[e]]++] = b;
        if (extra[b])
            out->edge[at[w->n]++] = b;
    }
    return true;
}

static void reach(const struct flow_graph *g, uint32_t from, bool *seen,
                  uint32_t *stack)
{
    uint32_t n = 0;

    if (seen[from])
        return;
    seen[from] = true;
    stack[n++] = from;
    while (n) {
        const uint32_t v = stack[--n];

        for (uint32_t e = g->edges[v]; e < g->edges[v + 1]; e++)
            if (!seen[g->edge[e]]) {
                seen[g->edge[e]] = true;
                stack[n++] = g->edge[e];
            }
    }
}

/* Blocks that get an edge to the end so that every block reaches it. */
static void find_extra(bool *extra, const struct flow_graph *g,
                       const ft__ptx_function *f, const ft__flow *w, bool *seen,
                       uint32_t *stack)
{
    reach(g, w->n, seen, stack);
    for (uint32_t b = 0; b < w->n; b++) {
        const ft__ptx_insn *i = &f->insn[w->block[b].end - 1];

        extra[b] = !seen[b] && i->guard >= 0 && ft__flow_kind_of(i) == FT__FLOW_LEAVE;
    }
    for (uint32_t b = 0; b < w->n; b++)
        if (extra[b])
            reach(g, b, seen, stack);
    for (uint32_t b = w->n; b-- > 0;)
        if (!seen[b]) {
            extra[b] = true;
            reach(g, b, seen, stack);
        }
}

static bool reconvergence(ft__flow *w, ft__arena *a, const ft__ptx_function *f)
{
    bool *extra = ft__arena_array(a, (size_t)w->n + 1, sizeof(*extra));
    bool *seen = ft__arena_array(a, (size_t)w->n + 1, sizeof(*seen));
    uint32_t *stack = ft__arena_array(a, (size_t)w->n + 1, sizeof(*stack));
    struct flow_graph back = {0};
    uint32_t *above;

    if (!extra || !seen || !stack || !reverse(&back, a, w, extra))
        return false;
    find_extra(extra, &back, f, w, seen, stack);
    above = stack; /* no longer needed */
    if (!reverse(&back, a, w, extra) || !dominate(above, a, &back, w->n))
        return false;
    for (uint32_t b = 0; b < w->n; b++)
        w->block[b].reconvergence = above[b];
    return true;
}

static bool find_components(ft__flow *w, ft__arena *a)
{
    const struct flow_graph g = {w->edge, w->edges, w->n + 1};
    uint32_t *component = ft__arena_array(a, (size_t)w->n + 1, sizeof(*component));
    bool *header = ft__arena_array(a, (size_t)w->n + 1, sizeof(*header));

    w->component_first =
        ft__arena_array(a, (size_t)w->n + 1, sizeof(*w->component_first));
    w->component_last =
        ft__arena_array(a, (size_t)w->n + 1, sizeof(*w->component_last));
    if (!component || !header || !w->component_first || !w->component_last ||
        !strong_components(component, header, &w->n_components, a, &g))
        return false;
    for (uint32_t r = 0; r < w->n_components; r++)
        w->component_first[r] = NONE;
    for (uint32_t b = 0; b < w->n; b++) {
        const uint32_t r = component[b];

        w->block[b].component = r;
        w->block[b].header = header[b];
        if (w->component_first[r] == NONE)
            w->component_first[r] = b;
        w->component_last[r] = b;
    }
    return true;
}

ft_status ft__flow_make(ft__flow *out, ft__arena *a, const ft_ptx *m,
                        const ft__ptx_function *f, ft_error *err)
{
    ft__arena work = {0};
    bool ok;

    memset(out, 0, sizeof(*out));
    ok = cut(out, a, f);
    if (ok && too_many(out, m, f))
        return ft_fail(err, FT_EUNSUPPORTED, 0, "%s: more than %d branches", f->name,
                       MOST_EDGES);
    ok = ok && connect(out, a, m, f) && reconvergence(out, &work, f) &&
         find_components(out, a);
    ft__arena_free(&work);
    return ok ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "no memory for %s", f->name);
}
