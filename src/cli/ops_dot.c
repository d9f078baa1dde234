/* foretell ops --dot: a picture of the graph, for Graphviz. */
#include <string.h>

#include "cli/ops.h"
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

/* "conv2d 3x3 /2" over the shape of its first result. */
static void put_node(const ft_graph *g, uint32_t i)
{
    const ft_node *n = ft_graph_node(g, i);
    const ft_op *op = ft_graph_op(g, n->op);
    ft_class cls = ft_kind_class(op->kind);

    printf("    n%u [label=\"%s", i, ft_kind_name(op->kind));
    put_values(op, FT_K_kernel, " ");
    if (ft_op_at(op, FT_K_stride, 0) > 1)
        put_values(op, FT_K_stride, " / ");
    if (ft_op_at(op, FT_K_groups, 0) > 1)
        put_values(op, FT_K_groups, ", groups ");
    if (n->n_out)
        printf("\\n%s", ft__tensor_shape_text(ft_graph_tensor(g, n->out[0])).s);
    if (n->repeat > 1)
        printf("\\n%llu times", (unsigned long long)n->repeat);
    printf("\", fillcolor=\"%s\"%s, tooltip=\"", colour_of(cls),
           cls == FT_CLASS_VIEW ? ", style=\"filled,dashed\"" : "");
    put_escaped(n->name);
    puts("\"];");
}

static bool has_source(const ft_tensor *t)
{
    return t->producer != FT_NONE || t->role == FT_ROLE_INPUT;
}

/* Where an edge begins: a node, or an input. */
static void put_source(const ft_graph *g, uint32_t tensor)
{
    const ft_tensor *t = ft_graph_tensor(g, tensor);

    if (t->producer != FT_NONE)
        printf("  n%u", t->producer);
    else
        printf("  t%u", tensor);
}

/* What the forward pass saved is drawn faintly: it crosses the picture. */
static void put_edges(const ft_graph *g, uint32_t i)
{
    const ft_node *n = ft_graph_node(g, i);

    for (uint32_t k = 0; k < n->n_in; k++) {
        const ft_tensor *t = ft_graph_tensor(g, n->in[k]);
        bool saved =
            t->producer != FT_NONE && ft_graph_node(g, t->producer)->phase != n->phase;

        if (!has_source(t))
            continue;
        put_source(g, n->in[k]);
        printf(" -> n%u [label=\" %s\"%s];\n", i, ft__text_bytes(ft__tensor_bytes(t)).s,
               saved ? ", color=\"#999999\", style=dashed, constraint=false" : "");
    }
}

static void put_ends(const ft_graph *g)
{
    for (uint32_t i = 0; i < ft_graph_n_tensors(g); i++) {
        const ft_tensor *t = ft_graph_tensor(g, i);

        if (t->role != FT_ROLE_INPUT && !t->is_output)
            continue;
        printf("  %s%u [shape=ellipse, label=\"", t->role == FT_ROLE_INPUT ? "t" : "o",
               i);
        put_escaped(t->name);
        printf("\\n%s %s\"];\n", ft_dtype_name(t->dtype), ft__tensor_shape_text(t).s);
        if (t->is_output && has_source(t)) {
            put_source(g, i);
            printf(" -> o%u [label=\" %s\"];\n", i,
                   ft__text_bytes(ft__tensor_bytes(t)).s);
        }
    }
}

static void put_phase(const ft_graph *g, ft_phase phase)
{
    bool any = false;

    for (uint32_t i = 0; i < ft_graph_n_nodes(g); i++) {
        if (ft_graph_node(g, i)->phase != phase)
            continue;
        if (!any)
            printf("  subgraph cluster_%s {\n    label=\"%s\"; color=\"#999999\";\n",
                   ft_phase_name(phase), ft_phase_name(phase));
        any = true;
        put_node(g, i);
    }
    if (any)
        puts("  }");
}

void ft__ops_dot(const ft_graph *g)
{
    bool training = ft_graph_mode(g) == FT_MODE_TRAINING;

    fputs("digraph \"", stdout);
    put_escaped(ft_graph_name(g));
    puts("\" {\n  node [shape=box, style=filled, fontname=\"sans-serif\", "
         "fontsize=10];\n"
         "  edge [fontname=\"sans-serif\", fontsize=8];");
    for (int p = 0; p < FT_PHASE_COUNT && training; p++)
        put_phase(g, (ft_phase)p);
    for (uint32_t i = 0; i < ft_graph_n_nodes(g) && !training; i++)
        put_node(g, i);
    put_ends(g);
    for (uint32_t i = 0; i < ft_graph_n_nodes(g); i++)
        put_edges(g, i);
    puts("}");
}
