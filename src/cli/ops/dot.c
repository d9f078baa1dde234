/* foretell ops --dot: a picture of the graph, for Graphviz. */
#include <stdlib.h>
#include <string.h>

#include "cli/ops/ops.h"
#include "report/units.h"

/* Text inside quotes; names come from model files. */
static void put_escaped(const char *s)
{
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putchar('\\');
        putchar((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s);
    }
}

/* Fill colours by what limits a class: arithmetic, memory, nothing. */
static const char *colour_of(ft_class c)
{
    switch (c) {
    case FT_CLASS_CONV: return "#cfe2f3";
    case FT_CLASS_MATMUL: return "#d9d2e9";
    case FT_CLASS_NORM:
    case FT_CLASS_SOFTMAX: return "#d9ead3";
    case FT_CLASS_POOL:
    case FT_CLASS_REDUCE: return "#fff2cc";
    case FT_CLASS_OPTIMIZER: return "#f4cccc";
    case FT_CLASS_GENERIC: return "#ea9999";
    case FT_CLASS_UNARY:
    case FT_CLASS_BINARY:
    case FT_CLASS_MOVE:
    case FT_CLASS_VIEW:
    case FT_CLASS_COUNT: break;
    }
    return "#f3f3f3";
}

static void put_values(const ft_op *op, ft_key_id key, const char *lead)
{
    uint32_t n;
    const int64_t *v = ft_op_get(op, key, &n);

    for (uint32_t i = 0; i < n; i++)
        printf("%s%lld", i ? "x" : lead, (long long)v[i]);
}

/* Saved tensors would be lines across the whole picture: what is saved has a double
 * border instead. kept[] has an element per tensor. */
static bool *find_kept(const ft_graph *g)
{
    bool *kept = calloc(g->n_tensors + 1u, sizeof(*kept));

    for (uint32_t i = 0; kept && i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];

        for (uint32_t k = 0; n->phase == FT_PHASE_BACKWARD && k < n->n_in; k++) {
            const ft_tensor *t = &g->tensor[n->in[k]];

            kept[n->in[k]] |= t->producer == FT_NONE ||
                              g->node[t->producer].phase == FT_PHASE_FORWARD;
        }
    }
    return kept;
}

static const char *border(const ft_graph *g, const bool *kept, const ft_node *n)
{
    for (uint32_t k = 0; k < n->n_out; k++)
        if (kept[n->out[k]] && g->mode == FT_MODE_TRAINING)
            return ", peripheries=2";
    return "";
}

/* "conv2d 3x3 / 2x2" over the shape of its first result. */
static void put_node(const ft_graph *g, const bool *kept, uint32_t i)
{
    const ft_node *n = &g->node[i];
    const ft_op *op = &g->op[n->op];
    ft_class cls = ft_kind_class(op->kind);

    printf("    n%u [label=\"%s", i, ft_kind_name(op->kind));
    put_values(op, FT_K_kernel, " ");
    if (ft_op_at(op, FT_K_stride, 0) > 1)
        put_values(op, FT_K_stride, " / ");
    if (ft_op_at(op, FT_K_groups, 0) > 1)
        put_values(op, FT_K_groups, ", groups ");
    if (n->n_out)
        printf("\\n%s", ft__tensor_shape_text(&g->tensor[n->out[0]]).s);
    if (n->repeat > 1)
        printf("\\n%llu times", (unsigned long long)n->repeat);
    printf("\", fillcolor=\"%s\"%s%s, tooltip=\"", colour_of(cls),
           cls == FT_CLASS_VIEW ? ", style=\"filled,dashed\"" : "", border(g, kept, n));
    put_escaped(n->name);
    puts("\"];");
}

/* Where an edge begins: a node, or an input. */
static void put_source(const ft_graph *g, uint32_t tensor)
{
    const ft_tensor *t = &g->tensor[tensor];

    if (t->producer != FT_NONE)
        printf("  n%u", t->producer);
    else
        printf("  t%u", tensor);
}

static bool is_drawn(const ft_graph *g, const ft_node *n, const ft_tensor *t)
{
    if (t->producer == FT_NONE)
        return t->role == FT_ROLE_INPUT && n->phase == FT_PHASE_FORWARD;
    return g->node[t->producer].phase == n->phase && n->phase != FT_PHASE_OPTIMIZER;
}

static void put_edges(const ft_graph *g, uint32_t i)
{
    const ft_node *n = &g->node[i];

    for (uint32_t k = 0; k < n->n_in; k++) {
        const ft_tensor *t = &g->tensor[n->in[k]];

        if (!is_drawn(g, n, t))
            continue;
        put_source(g, n->in[k]);
        printf(" -> n%u [label=\" %s\"];\n", i, ft__text_bytes(ft__tensor_bytes(t)).s);
    }
}

static void put_ends(const ft_graph *g, const bool *kept)
{
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        if (t->role != FT_ROLE_INPUT && !t->is_output)
            continue;
        printf("  %s%u [shape=ellipse%s, label=\"",
               t->role == FT_ROLE_INPUT ? "t" : "o", i,
               t->role == FT_ROLE_INPUT && kept[i] ? ", peripheries=2" : "");
        put_escaped(t->name);
        printf("\\n%s %s\"];\n", ft_dtype_name(t->dtype), ft__tensor_shape_text(t).s);
        if (t->is_output && (t->producer != FT_NONE || t->role == FT_ROLE_INPUT)) {
            put_source(g, i);
            printf(" -> o%u [label=\" %s\"];\n", i,
                   ft__text_bytes(ft__tensor_bytes(t)).s);
        }
    }
}

static void begin_cluster(const char *name)
{
    printf("  subgraph cluster_%s {\n    label=\"%s\"; color=\"#999999\";\n", name,
           name);
}

static void put_phase(const ft_graph *g, const bool *kept, ft_phase phase)
{
    begin_cluster(ft_phase_name(phase));
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (g->node[i].phase == phase)
            put_node(g, kept, i);
    puts("  }");
}

/* The same for every parameter: one node for all, behind the backward pass. */
static void put_optimizer(const ft_graph *g)
{
    const char *kind = NULL;
    uint32_t n = 0, last = FT_NONE;
    double bytes = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *node = &g->node[i];

        if (node->phase == FT_PHASE_BACKWARD)
            last = i;
        if (node->phase != FT_PHASE_OPTIMIZER)
            continue;
        kind = ft_kind_name(g->op[node->op].kind);
        n++;
        if (node->n_in)
            bytes += ft__tensor_bytes(&g->tensor[node->in[0]]);
    }
    if (!n)
        return;
    begin_cluster("optimizer");
    printf("    optimizer [label=\"%s, %u times\", fillcolor=\"%s\"];\n  }\n", kind, n,
           colour_of(FT_CLASS_OPTIMIZER));
    if (last != FT_NONE)
        printf("  n%u -> optimizer [label=\" gradients %s\"];\n", last,
               ft__text_bytes(bytes).s);
}

static void put_graph(const ft_graph *g, const bool *kept)
{
    bool training = g->mode == FT_MODE_TRAINING;

    fputs("digraph \"", stdout);
    put_escaped(g->name);
    puts("\" {\n  node [shape=box, style=filled, fontname=\"sans-serif\", "
         "fontsize=10];\n"
         "  edge [fontname=\"sans-serif\", fontsize=8];");
    if (training) {
        puts("  label=\"double border: kept for the backward pass\"; "
             "fontname=\"sans-serif\";");
        put_phase(g, kept, FT_PHASE_FORWARD);
        put_phase(g, kept, FT_PHASE_BACKWARD);
        put_optimizer(g);
    }
    for (uint32_t i = 0; i < g->n_nodes && !training; i++)
        put_node(g, kept, i);
    put_ends(g, kept);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        put_edges(g, i);
    puts("}");
}

bool ft__ops_dot(const ft_graph *g)
{
    bool *kept = find_kept(g);

    if (kept)
        put_graph(g, kept);
    free(kept);
    return kept != NULL;
}
