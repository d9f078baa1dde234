/* foretell ops --graph: the nodes in the order in which they run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ops/ops.h"
#include "report/units.h"

ft__shape_text ft__tensor_shape_text(const ft_tensor *t)
{
    ft__shape_text out = {""};
    size_t n = 0;

    if (t->open & FT_OPEN_RANK)
        return (ft__shape_text){"?"};
    if (!t->shape.rank)
        return (ft__shape_text){"scalar"};
    for (uint32_t i = 0; i < t->shape.rank && n < sizeof(out.s); i++)
        n += (size_t)snprintf(out.s + n, sizeof(out.s) - n, "%s%s%lld", i ? "x" : "",
                              t->open >> i & 1 ? "<=" : "", (long long)t->shape.dim[i]);
    return out;
}

double ft__tensor_bytes(const ft_tensor *t)
{
    return (double)ft_tensor_bytes(&t->shape, t->dtype);
}

static bool is_view(const ft_graph *g, uint32_t tensor)
{
    return g->tensor[tensor].storage != tensor;
}

/* ---- text and CSV ---- */

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
            ft__tensor_shape_text(t).s);
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
    printf(": %u node%s in the order in which they run\n", g->n_nodes,
           g->n_nodes == 1 ? "" : "s");
    print_ends(g, "input", false);
    print_ends(g, "output", true);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (g->node[i].phase != phase) {
            phase = g->node[i].phase;
            printf("\n%s\n", ft_phase_name(phase));
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
            ft__csv_row(stdout, node_fields, i, ft_phase_name(n->phase), spec, n->name,
                        n->repeat, in, params, out);
        free(in);
        free(params);
        free(out);
    }
    return good;
}

/* ---- JSON ---- */

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
                    role_name(t->role), ft__tensor_bytes(t),
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
                i, n->name, spec, ft_phase_name(n->phase), n->repeat,
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

static bool print_json(const ft_graph *g)
{
    return ft__json_print_take(
        ft__json("model:s assumptions:o bounded:o inputs:o outputs:o nodes:o", g->name,
                 ft__json_texts(g->assumption, g->n_assumptions),
                 ft__json_texts(g->bounded, g->n_bounded), with_role_json(g, false),
                 with_role_json(g, true), nodes_json(g)),
        stdout);
}

bool ft__ops_graph(const ft__cli *c, const ft_graph *g)
{
    return c->json ? print_json(g) : c->csv ? print_csv(g) : print_text(g);
}
