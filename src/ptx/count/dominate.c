/* Dominators and strongly connected components of a graph. */
#include "ptx/count/dominate.h"

#define NONE UINT32_MAX

/* Everything but `ancestor` and `label` by number in the order of the walk, from 0. */
struct lt {
    const ft__graph *g;
    uint32_t *number, *vertex, *parent; /* number and parent by vertex */
    uint32_t *semi, *ancestor, *label, *idom;
    uint32_t *bucket, *behind; /* lists: first of a bucket, next of a vertex */
    uint32_t *stack, *at, n;
    uint32_t *pred, *preds; /* of visited vertices, by number */
};

static bool lt_new(struct lt *w, ft__arena *a, const ft__graph *g)
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

bool ft__dominate(uint32_t *above, ft__arena *a, const ft__graph *g, uint32_t root)
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

/* ---- strongly connected components ---- */

struct components {
    const ft__graph *g;
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

bool ft__components(uint32_t *component, bool *header, uint32_t *n_components,
                    ft__arena *a, const ft__graph *g)
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
