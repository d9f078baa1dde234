/* Operators that hold graphs: written out in place. A loop's body stands once,
 * with the number of times it runs where that is known. */
#include <string.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/pt2/pt2.h"

enum { MAX_GRAPHS = 2 };

/* The graphs of a node, and all tensors that it gives them. */
struct graph_call {
    ft__text graph[MAX_GRAPHS];
    uint32_t n_graphs;
    ft__pt2_value **in;
    uint32_t n_in;
};

/* {"name": "true_graph_0", "graph": {...}}. */
static ft__text graph_of(ft__pt2 *p, ft__text arg)
{
    ft__json r = ft__json_open(&p->doc, arg);
    ft__text name, graph = {"", 0};

    if (ft__json_object(&r))
        while (ft__json_member(&r, &name))
            ft__json_skip(&r, FT__IS(name, "graph") ? &graph : NULL);
    return graph;
}

/* Operands stand behind the graphs; some operators wrap them in lists. */
static bool read_call(const ft__pt2_node *n, struct graph_call *c)
{
    uint32_t count = 0;

    *c = (struct graph_call){0};
    for (uint32_t i = 0; i < n->n_args; i++)
        count += n->arg[i].n;
    c->in = ft__pt2_alloc(n->import, count, sizeof(*c->in));
    for (uint32_t i = 0; c->in && i < n->n_args; i++) {
        const ft__pt2_arg *a = &n->arg[i];

        if (a->type == FT__PT2_GRAPH && c->n_graphs < MAX_GRAPHS)
            c->graph[c->n_graphs++] = graph_of(n->import, a->text);
        for (uint32_t k = 0; c->n_graphs && k < a->n; k++)
            c->in[c->n_in++] = a->value[k];
    }
    return c->n_graphs > 0 && !ft__pt2_failed(n);
}

/* A graph's own names for what it is given. */
static void bind(ft__pt2 *p, const ft__pt2_body *body, ft__pt2_value *const *in,
                 uint32_t n_in)
{
    for (uint32_t i = 0; i < body->n_in && i < n_in; i++) {
        ft__pt2_value *inner = body->in[i], *outer = in[i];

        if (!inner || !outer || inner->state != FT__PT2_UNDEFINED)
            continue;
        if (!outer->typed) { /* a number */
            inner->number = outer->number;
            continue;
        }
        inner->tensor = ft__pt2_graph_tensor(p, outer);
        inner->state = outer->state;
        inner->of = outer->state == FT__PT2_WEIGHT ? outer : NULL;
        inner->dtype = outer->dtype;
        inner->shape = outer->shape;
        inner->typed = inner->resolved = true;
    }
}

/* The nodes of a graph; false: the import has failed. */
static bool write(const ft__pt2_node *n, ft__text graph, ft__pt2_value *const *in,
                  uint32_t n_in, ft__pt2_body *body)
{
    ft__name_table names = n->import->names;
    ft__pt2_value *newest = n->import->newest;
    ft__json r = ft__json_open(&n->import->doc, graph);

    *body = (ft__pt2_body){0};
    n->import->inlined += graph.n;
    if (++n->import->depth > FT__MAX_DEPTH || n->import->inlined > FT__MAX_INLINED) {
        ft__pt2_fail(n, FT_EFORMAT,
                     "graphs inside it are nested too deep, or too "
                     "large");
    } else {
        n->import->names = (ft__name_table){0};
        n->import->newest = NULL;
        ft__pt2_read_graph(n->import, &r, body);
        if (!ft__pt2_failed(n))
            bind(n->import, body, in, n_in);
        for (uint32_t i = 0; i < body->n_nodes; i++)
            body->node[i].backward = n->backward;
        ft__pt2_run(n->import, body);
        n->import->names = names;
        n->import->newest = newest;
    }
    n->import->depth--;
    return !ft__pt2_failed(n);
}

/* What a graph gives becomes what the node gives. */
static void hand_over(ft__pt2_node *n, const ft__pt2_body *body)
{
    for (uint32_t i = 0; i < n->n_out && i < body->n_out; i++) {
        ft__pt2_value *from = body->out[i], *to = n->out[i];

        if (from && to && to->typed && from->state != FT__PT2_UNDEFINED &&
            ft_shape_elements(&from->shape) == ft_shape_elements(&to->shape))
            ft__pt2_emit_view(n, from, to);
    }
}

/* Operators that only say how a graph is to run. */
void ft__aten_inline(ft__pt2_node *n)
{
    ft__pt2_body body;
    struct graph_call c;

    if (read_call(n, &c) && write(n, c.graph[0], c.in, c.n_in, &body))
        hand_over(n, &body);
}

/* ---- branches ---- */

struct graph_place {
    ft__build_mark mark;
    ft__pt2_value *lazy;
    uint32_t scalar[FT_DTYPE_COUNT];
};

static struct graph_place here(const ft__pt2 *p)
{
    struct graph_place at = {.mark = ft__build_here(p->b), .lazy = p->lazy};

    memcpy(at.scalar, p->scalar, sizeof(at.scalar));
    return at;
}

/* Constants that only what is gone had read are forgotten as well. */
static void take_back(ft__pt2 *p, const struct graph_place *at)
{
    for (; p->lazy != at->lazy; p->lazy = p->lazy->lazy)
        p->lazy->tensor = FT_NONE;
    memcpy(p->scalar, at->scalar, sizeof(at->scalar));
    ft__build_rollback(p->b, &at->mark);
}

static double cost_of(const ft__pt2_node *n, const struct graph_call *c,
                      uint32_t branch)
{
    struct graph_place start = here(n->import);
    double flops = 0, bytes = 0;
    ft__pt2_body body;

    if (write(n, c->graph[branch], c->in, c->n_in, &body))
        ft__build_cost(n->import->b, start.mark.n_nodes, &flops, &bytes);
    take_back(n->import, &start);
    return flops + bytes;
}

/* cond(predicate, true graph, false graph, operands): the dearer one counts. */
void ft__aten_cond(ft__pt2_node *n)
{
    ft__pt2_body body;
    struct graph_call c;
    uint32_t taken;

    if (!read_call(n, &c) || c.n_graphs != 2)
        return;
    taken = cost_of(n, &c, 1) > cost_of(n, &c, 0);
    ft__build_bounded(n->import->b, "cond (node %.*s), its dearer branch taken",
                      ft__shown(n->name.n, 200), n->name.s);
    if (write(n, c.graph[taken], c.in, c.n_in, &body))
        hand_over(n, &body);
}

/* ---- loops ---- */

/* while_loop(condition, body, carried, others): how often is not known. */
void ft__aten_while(ft__pt2_node *n)
{
    ft__pt2_body body;
    struct graph_call c;

    if (!read_call(n, &c) || c.n_graphs != 2 ||
        !write(n, c.graph[0], c.in, c.n_in, &body) ||
        !write(n, c.graph[1], c.in, c.n_in, &body))
        return;
    ft__build_bounded(n->import->b, "while_loop (node %.*s), counted as one round",
                      ft__shown(n->name.n, 200), n->name.s);
    hand_over(n, &body);
}

/* One element of what a loop runs over. */
static ft__pt2_value *element(const ft__pt2_node *n, ft__pt2_value *x)
{
    ft_shape s = x->shape;
    ft__pt2_value *v;
    ft_op op;

    s.rank--;
    memmove(s.dim, s.dim + 1, s.rank * sizeof(s.dim[0]));
    v = ft__pt2_temp(n, x, x->dtype, &s);
    op = ft__pt2_op(FT_KIND_slice, x->dtype, &x->shape);
    ft__op_set_shape(&op, FT_K_out, &s);
    if (v)
        ft__pt2_emit_to(n, &op, &x, 1, v);
    return v;
}

/* What every round gives, one behind the other. */
static void stack(const ft__pt2_node *n, ft__pt2_value *each, ft__pt2_value *out)
{
    ft_op op = ft__pt2_op(FT_KIND_expand, out->dtype, &each->shape);

    ft__op_set_shape(&op, FT_K_out, &out->shape);
    ft__pt2_emit_to(n, &op, &each, 1, out);
}

/* map(graph, xs, others) and scan(graph, initial, xs, others): `list` is which
 * argument xs is; what was carried comes first among the results. */
static void loop_over(ft__pt2_node *n, uint32_t list)
{
    const ft__pt2_arg *xs = ft__pt2_arg_at(n, list);
    uint32_t carried = list > 1 && n->n_args > 1 ? n->arg[1].n : 0, at = carried;
    uint32_t first = ft__build_here(n->import->b).n_nodes;
    int64_t rounds;
    ft__pt2_body body;
    struct graph_call c;

    if (!xs || xs->type != FT__PT2_TENSORS || !xs->n || !xs->value[0] ||
        !xs->value[0]->shape.rank || !read_call(n, &c))
        return;
    rounds = xs->value[0]->shape.dim[0];
    for (uint32_t i = 0; i < xs->n && at < c.n_in && !ft__pt2_failed(n); i++, at++)
        if (c.in[at] && c.in[at]->typed && c.in[at]->shape.rank)
            c.in[at] = element(n, c.in[at]);
    if (rounds < 1 || ft__pt2_failed(n) || !write(n, c.graph[0], c.in, c.n_in, &body))
        return;
    ft__build_repeat_from(n->import->b, first, (uint64_t)rounds);
    for (uint32_t i = 0; i < n->n_out && i < body.n_out; i++) {
        ft__pt2_value *from = body.out[i], *to = n->out[i];

        if (!from || !to || !to->typed || from->state == FT__PT2_UNDEFINED)
            continue;
        if (i < carried)
            ft__pt2_emit_view(n, from, to);
        else
            stack(n, from, to);
    }
}

/* arg: which argument is the list that is run over. */
void ft__aten_loop(ft__pt2_node *n)
{
    loop_over(n, (uint32_t)n->rule->arg);
}
