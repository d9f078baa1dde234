/* foretell ops --graph: the nodes in the order in which they run; --dot: the graph as a
 * picture. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/ops/ops.h"
#include "foretell/names.h"
#include "report/units.h"

struct shape_text {
    char s[208];
};

/* "1x3x224x224", "scalar"; "<=100x4" where a dimension is a bound; "?" where not
 * even the rank is known. */
static struct shape_text shape_of(const ft_tensor *t)
{
    struct shape_text out = {""};
    size_t n = 0;

    if (t->open & FT_OPEN_RANK)
        return (struct shape_text){"?"};
    if (!t->shape.rank)
        return (struct shape_text){"scalar"};
    for (uint32_t i = 0; i < t->shape.rank && n < sizeof(out.s); i++)
        n += (size_t)snprintf(out.s + n, sizeof(out.s) - n, "%s%s%lld", i ? "x" : "",
                              t->open >> i & 1 ? "<=" : "", (long long)t->shape.dim[i]);
    return out;
}

static double bytes_of(const ft_tensor *t)
{
    return (double)ft_tensor_bytes(&t->shape, t->dtype);
}

static bool is_view(const ft_graph *g, uint32_t tensor)
{
    return g->tensor[tensor].storage != tensor;
}

/* Gradients have the names of what they are gradients of. */
static bool is_gradient(const ft_graph *g, const ft_tensor *t)
{
    return t->role == FT_ROLE_GRADIENT ||
           (t->producer != FT_NONE && g->node[t->producer].phase == FT_PHASE_BACKWARD);
}

/* "conv1  fp32 1x64x112x112, a view of x" */
static void put_tensor(FILE *fp, const ft_graph *g, uint32_t i)
{
    const ft_tensor *t = &g->tensor[i];

    ft__put_clean(fp, t->name);
    fprintf(fp, "%s%s %s", *t->name ? "  " : "", ft_dtype_name(t->dtype),
            shape_of(t).s);
    if (is_gradient(g, t))
        fputs(", gradient", fp);
    if (is_view(g, i)) {
        fputs(", a view of ", fp);
        ft__put_clean(fp, g->tensor[t->storage].name);
    }
}

static void print_tensors(const ft_graph *g, const uint32_t *v, uint32_t n,
                          const char *lead)
{
    for (uint32_t i = 0; i < n; i++) {
        printf("         %-5s", i ? "" : lead);
        put_tensor(stdout, g, v[i]);
        putchar('\n');
    }
}

static void print_node(const ft_graph *g, uint32_t i)
{
    const ft_node *n = &g->node[i];
    char spec[FT__SPEC_MAX];

    ft_op_print(&g->op[n->op], spec, sizeof(spec));
    printf("%6u  %s", i, spec);
    if (n->repeat > 1)
        printf(", %" PRIu64 " times", n->repeat);
    fputs(*n->name ? "\n         " : "", stdout);
    ft__put_clean(stdout, n->name);
    putchar('\n');
    print_tensors(g, n->in, n->n_in, "in");
    print_tensors(g, n->params, n->n_params, "with");
    print_tensors(g, n->out, n->n_out, "out");
}

static void print_ends(const ft_graph *g, const char *what, bool outputs)
{
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        if (outputs ? !t->is_output : t->role != FT_ROLE_INPUT)
            continue;
        printf("%-7s ", what);
        put_tensor(stdout, g, i);
        putchar('\n');
    }
}

static bool print_text(const ft_graph *g)
{
    ft_phase phase = FT_PHASE_COUNT;

    ft__model_print_bounded(g);
    ft__model_print_assumptions(g);
    ft__put_clean(stdout, g->name);
    printf(": %s in the order in which they run\n",
           ft__text_counted(g->n_nodes, "node").s);
    print_ends(g, "input", false);
    print_ends(g, "output", true);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (g->node[i].phase != phase) {
            phase = g->node[i].phase;
            printf("\n%s\n", ft_name(FT_NAMES_PHASE, phase));
        }
        print_node(g, i);
    }
    return true;
}

/* Several tensors in one field; NULL: out of memory. */
static char *joined(const ft_graph *g, const uint32_t *v, uint32_t n)
{
    char *text = NULL;
    size_t len;
    FILE *fp = open_memstream(&text, &len);

    if (!fp)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        fputs(i ? "; " : "", fp);
        put_tensor(fp, g, v[i]);
    }
    if (fclose(fp)) {
        free(text);
        return NULL;
    }
    return text;
}

static const char node_fields[] =
    "number:n phase:s spec:s name:s repeat:u inputs:s params:s outputs:s";

static bool print_csv(const ft_graph *g)
{
    char spec[FT__SPEC_MAX];
    bool good = true;

    ft__csv_head(stdout, node_fields);
    for (uint32_t i = 0; i < g->n_nodes && good; i++) {
        const ft_node *n = &g->node[i];
        char *in = joined(g, n->in, n->n_in),
             *params = joined(g, n->params, n->n_params),
             *out = joined(g, n->out, n->n_out);

        good = in && params && out;
        ft_op_print(&g->op[n->op], spec, sizeof(spec));
        if (good)
            ft__csv_row(stdout, node_fields, i, ft_name(FT_NAMES_PHASE, n->phase), spec,
                        n->name, n->repeat, in, params, out);
        free(in);
        free(params);
        free(out);
    }
    return good;
}

static const char *role_name(ft_role r)
{
    switch (r) {
    case FT_ROLE_INPUT: return "input";
    case FT_ROLE_WEIGHT: return "weight";
    case FT_ROLE_ACTIVATION: return "activation";
    case FT_ROLE_GRADIENT: return "gradient";
    case FT_ROLE_STATE: return "state";
    }
    return "";
}

/* Sizes in order; null where the rank is open. */
static json_t *shape_json(const ft_tensor *t)
{
    json_t *all = json_array();

    if (t->open & FT_OPEN_RANK) {
        json_decref(all);
        return json_null();
    }
    for (uint32_t i = 0; i < t->shape.rank; i++)
        ft__json_append_take(&all, ft__json_count((uint64_t)t->shape.dim[i]));
    return all;
}

/* Which dimensions are upper bounds. */
static json_t *open_json(const ft_tensor *t)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < t->shape.rank; i++)
        if (t->open >> i & 1)
            ft__json_append_take(&all, ft__json_count(i));
    return all;
}

static json_t *tensor_json(const ft_graph *g, uint32_t i)
{
    const ft_tensor *t = &g->tensor[i];

    return ft__json("name:s dtype:s shape:o open:o role:s bytes:g view_of:s", t->name,
                    ft_dtype_name(t->dtype), shape_json(t), open_json(t),
                    role_name(t->role), bytes_of(t),
                    is_view(g, i) ? g->tensor[t->storage].name : NULL);
}

static json_t *tensors_json(const ft_graph *g, const uint32_t *v, uint32_t n)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < n; i++)
        ft__json_append_take(&all, tensor_json(g, v[i]));
    return all;
}

static json_t *nodes_json(const ft_graph *g)
{
    json_t *all = json_array();
    char spec[FT__SPEC_MAX];

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];

        ft_op_print(&g->op[n->op], spec, sizeof(spec));
        ft__json_append_take(
            &all,
            ft__json(
                "number:n name:s spec:s phase:s repeat:u inputs:o params:o outputs:o",
                i, n->name, spec, ft_name(FT_NAMES_PHASE, n->phase), n->repeat,
                tensors_json(g, n->in, n->n_in),
                tensors_json(g, n->params, n->n_params),
                tensors_json(g, n->out, n->n_out)));
    }
    return all;
}

static json_t *with_role_json(const ft_graph *g, bool outputs)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        if (outputs ? t->is_output != 0 : t->role == FT_ROLE_INPUT)
            ft__json_append_take(&all, tensor_json(g, i));
    }
    return all;
}

static bool print_json(const ft__cli *c, const ft_graph *g)
{
    return ft__cli_json_take(
        c, ft__json("model:s assumptions:o bounded:o inputs:o outputs:o nodes:o",
                    g->name, ft__json_texts(g->assumption, g->n_assumptions),
                    ft__json_texts(g->bounded, g->n_bounded), with_role_json(g, false),
                    with_role_json(g, true), nodes_json(g)));
}

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
        printf("\\n%s", shape_of(&g->tensor[n->out[0]]).s);
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
        printf(" -> n%u [label=\" %s\"];\n", i, ft__text_bytes(bytes_of(t)).s);
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
        printf("\\n%s %s\"];\n", ft_dtype_name(t->dtype), shape_of(t).s);
        if (t->is_output && (t->producer != FT_NONE || t->role == FT_ROLE_INPUT)) {
            put_source(g, i);
            printf(" -> o%u [label=\" %s\"];\n", i, ft__text_bytes(bytes_of(t)).s);
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
    begin_cluster(ft_name(FT_NAMES_PHASE, phase));
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
            bytes += bytes_of(&g->tensor[node->in[0]]);
    }
    if (!n)
        return;
    begin_cluster("optimizer");
    printf("    optimizer [label=\"%s, %s\", fillcolor=\"%s\"];\n  }\n", kind,
           ft__text_counted(n, "time").s, colour_of(FT_CLASS_OPTIMIZER));
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

static bool print_dot(const ft_graph *g)
{
    bool *kept = find_kept(g);

    if (kept)
        put_graph(g, kept);
    free(kept);
    return kept != NULL;
}

bool ft__ops_graph(const ft__cli *c, const ft_graph *g, bool dot)
{
    if (dot)
        return print_dot(g);
    return c->json ? print_json(c, g) : c->csv ? print_csv(g) : print_text(g);
}
