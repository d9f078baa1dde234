/* foretell ops: what a model consists of. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli/llm_memory.h"
#include "cli/ops/ops.h"
#include "foretell/choose.h"
#include "foretell/names.h"
#include "report/units.h"

struct ops_options {
    ft__model_options model;
    ft_step_names step;
    bool products, graph, dot, diff, list, tree;
    const char *device, *lower;
    uint64_t depth, top, few;
};

static const ft__option options[] = {
    FT__FLAG(struct ops_options, products, "products",
             "only the convolutions and matrix products inside operations"),
    FT__FLAG(struct ops_options, graph, "graph",
             "every node in order, with its tensors"),
    FT__FLAG(struct ops_options, dot, "dot", "the graph as a picture, for Graphviz"),
    FT__FLAG(struct ops_options, diff, "diff",
             "what changed from one model to another"),
    FT__FLAG(struct ops_options, tree, "tree",
             "its modules with FLOPs, parameters and memory"),
    FT__TEXT(struct ops_options, device, "device", "D",
             "with --tree: their times and energy on this device, too"),
    FT__COUNT(struct ops_options, depth, "depth", "N",
              "with --tree: how many levels of modules; all"),
    FT__FLAG(struct ops_options, list, "list",
             "as a list of operations, which every command reads as a model"),
    FT__COUNT(struct ops_options, few, "few", "N",
              "with --list: only the N whose times on a device that nobody measured "
              "say most of the others (predict --correct), best first; of more than "
              "4096 as many, evenly spaced, are compared"),
    FT__TEXT(
        struct ops_options, lower, "lower", "HOW",
        "as an engine runs it: strided (PyTorch), channels-last (oneDNN), fused (TVM)"),
    FT__COUNT(struct ops_options, top, "top", "N",
              "how many operations to list, the heaviest; 40, with --diff 15"),
    FT__NETWORK_OPTIONS(struct ops_options),
    {0},
};

enum { TOP = 40, TOP_DIFF = 15 };

/* Costs of all occurrences of unique operation i. */
static ft_cost cost_of(const ft_graph *g, uint32_t i)
{
    double n = (double)g->op_count[i];
    ft_cost c;

    ft_op_cost(&g->op[i], &c);
    c.flops *= n;
    c.bytes_read *= n;
    c.bytes_written *= n;
    return c;
}

/* Parameters of all nodes that run operation i; shared ones count each time, those
 * of a backward operation are its forward one's. */
static double parameters_of(const ft_graph *g, uint32_t i)
{
    ft_cost c;

    if (g->op[i].phase != FT_PHASE_FORWARD)
        return 0;
    ft_op_cost(&g->op[i], &c);
    return c.weight_elements * (double)g->op_count[i];
}

struct weighed_op {
    double weight;
    uint32_t op;
};

static int by_weight(const void *a, const void *b)
{
    const struct weighed_op *p = a, *q = b;

    return p->weight < q->weight   ? 1
           : p->weight > q->weight ? -1
           : p->op < q->op         ? -1
                                   : 1;
}

/* 1 for each of the `top` operations with the largest shares of FLOPs and bytes;
 * NULL: out of memory. */
static char *heaviest(const ft_graph *g, const ft_totals *sum, uint64_t top)
{
    uint32_t n = g->n_ops;
    struct weighed_op *w = malloc((n + 1u) * sizeof(*w));
    char *shown = calloc(n + 1u, 1);

    if (!w || !shown) {
        free(w);
        free(shown);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        ft_cost c = cost_of(g, i);

        w[i] =
            (struct weighed_op){c.flops / fmax(1, sum->flops) +
                                    (c.bytes_read + c.bytes_written) /
                                        fmax(1, sum->bytes_read + sum->bytes_written),
                                i};
    }
    qsort(w, n, sizeof(*w), by_weight);
    for (uint32_t i = 0; i < n && i < top; i++)
        shown[w[i].op] = 1;
    free(w);
    return shown;
}

static bool is_training(const ft_graph *g)
{
    return g->mode == FT_MODE_TRAINING;
}

static void cost_row(ft__table *t, const char *spec, uint64_t count, const ft_cost *c,
                     const char *phase, double parameters)
{
    ft__table_row(t, spec, count, c->flops / 1e9, c->bytes_read / 0x1p20,
                  c->bytes_written / 0x1p20, phase, parameters);
}

/* In order of first use; what is too light to be listed is one row. */
static void op_rows(ft__table *t, const ft_graph *g, const char *shown)
{
    char spec[FT__SPEC_MAX];
    uint64_t others = 0, count = 0;
    ft_cost rest = {0};
    double parameters = 0;

    for (uint32_t i = 0; i < g->n_ops; i++) {
        ft_cost c = cost_of(g, i);

        if (shown[i]) {
            ft_op_print(&g->op[i], spec, sizeof(spec));
            cost_row(t, spec, g->op_count[i], &c,
                     ft_name(FT_NAMES_PHASE, g->op[i].phase), parameters_of(g, i));
            continue;
        }
        others++;
        count += g->op_count[i];
        rest.flops += c.flops;
        rest.bytes_read += c.bytes_read;
        rest.bytes_written += c.bytes_written;
        parameters += parameters_of(g, i);
    }
    snprintf(spec, sizeof(spec), "%" PRIu64 " others, lighter (--top %u lists all)",
             others, g->n_ops);
    if (others)
        cost_row(t, spec, count, &rest, "", parameters);
}

static bool print_table(const ft_graph *g, const ft_totals *sum, uint64_t top)
{
    ft_cost all = {.flops = sum->flops,
                   .bytes_read = sum->bytes_read,
                   .bytes_written = sum->bytes_written};
    /* A step has phases where a pass has parameters: a spec that is shortened on a
     * narrow terminal would not say which it is. */
    ft__table *t = ft__table_new(
        "operation<|count>u|GFLOP>.4|MiB read>.2|MiB written>.2|?phase|?parameters>.0",
        is_training(g), !is_training(g));
    char *shown = heaviest(g, sum, top), unique[32];
    uint64_t count = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        count += g->op_count[i];
    if (shown)
        op_rows(t, g, shown);
    ft__table_rule(t);
    snprintf(unique, sizeof(unique), "%u unique", g->n_ops);
    cost_row(t, unique, count, &all, "", sum->parameters);
    free(shown);
    return ft__table_print_take(t, shown ? stdout : NULL) && shown;
}

struct ops_list {
    const ft__cli *c;
    const ft_graph *g;
    const ft_step *step;
    ft_totals sum;
    ft_plan plan;
    ft_memory memory;
    struct phase_cost {
        uint64_t count;
        ft_cost cost;
    } phase[FT_PHASE_COUNT];
};

static void sum_phases(struct ops_list *l)
{
    for (uint32_t i = 0; i < l->g->n_nodes; i++) {
        const ft_node *n = &l->g->node[i];
        struct phase_cost *p = &l->phase[n->phase];
        double times = (double)n->repeat;
        ft_cost c;

        ft_op_cost(&l->g->op[n->op], &c);
        p->count += n->repeat;
        p->cost.flops += times * c.flops;
        p->cost.bytes_read += times * c.bytes_read;
        p->cost.bytes_written += times * c.bytes_written;
    }
}

static bool print_phases(const struct ops_list *l)
{
    ft__table *t =
        ft__table_new("phase|operations>u|GFLOP>.4|MiB read>.2|MiB written>.2");

    for (int p = 0; p < FT_PHASE_COUNT; p++) {
        if (!l->phase[p].count)
            continue;
        ft__table_row(t, ft_name(FT_NAMES_PHASE, (ft_phase)p), l->phase[p].count,
                      l->phase[p].cost.flops / 1e9,
                      l->phase[p].cost.bytes_read / 0x1p20,
                      l->phase[p].cost.bytes_written / 0x1p20);
    }
    putchar('\n');
    return ft__table_print_take(t, stdout);
}

static void print_memory(const ft_memory *m, const ft_graph *g)
{
    const double cache = ft__cache_bytes(g);
    const char *lead = " = ";

    printf("memory at its peak: %s", ft__text_bytes((double)m->peak_bytes).s);
    for (int p = 0; p < FT_PART_COUNT; p++)
        if (m->part[p]) {
            printf("%s%s %s", lead, ft_name(FT_NAMES_PART, (ft_part)p),
                   ft__text_bytes((double)m->part[p]).s);
            lead = " + ";
        }
    if (cache > 0)
        printf("; %s of the inputs are the KV cache", ft__text_bytes(cache).s);
    putchar('\n');
}

/* "" unless a training step is asked of a graph whose norms are folded. */
static const char *doubt(const struct ops_list *l, char *buf, size_t size)
{
    return is_training(l->g) && ft_graph_folded_norms(buf, size, l->g) ? buf : "";
}

static bool print_text(const struct ops_list *l, uint64_t top)
{
    char what[512];

    if (*doubt(l, what, sizeof(what)))
        ft__put_line(stdout, "warning: ", what);
    ft__model_print_bounded(l->g);
    ft__model_print_assumptions(l->g);
    ft__put_clean(stdout, l->g->name);
    printf(": %s; a multiply-accumulate is 2 FLOPs%s\n\n", ft_step_name(l->step, l->g),
           is_training(l->g) ? ""
                             : "; parameters that are shared count once in the sum");
    if (!print_table(l->g, &l->sum, top))
        return false;
    if (is_training(l->g) && !print_phases(l))
        return false;
    putchar('\n');
    print_memory(&l->memory, l->g);
    if (!is_training(l->g))
        printf("activations and inputs at planned offsets: %s\n",
               ft__text_bytes((double)l->plan.arena_bytes).s);
    if (l->c->verbose)
        ft__memory_print_rules(l->memory.two_largest_bytes, l->memory.twice_mean_bytes);
    return true;
}

/* Of all operations, as CSV where that is a file. */
static json_t *ops_json(const ft_graph *g, FILE *csv)
{
    ft__records r = ft__records_begin(
        "spec:s count:u flops:g bytes_read:g bytes_written:g parameters:g", csv);
    char spec[FT__SPEC_MAX];

    for (uint32_t i = 0; i < g->n_ops; i++) {
        ft_cost c = cost_of(g, i);

        ft_op_print(&g->op[i], spec, sizeof(spec));
        ft__records_add(&r, spec, g->op_count[i], c.flops, c.bytes_read,
                        c.bytes_written, parameters_of(g, i));
    }
    return r.array;
}

static json_t *phases_json(const struct ops_list *l)
{
    json_t *all = json_array();

    for (int p = 0; p < FT_PHASE_COUNT; p++)
        if (l->phase[p].count)
            ft__json_append_take(
                &all,
                ft__json("phase:s operations:u flops:g bytes_read:g bytes_written:g",
                         ft_name(FT_NAMES_PHASE, (ft_phase)p), l->phase[p].count,
                         l->phase[p].cost.flops, l->phase[p].cost.bytes_read,
                         l->phase[p].cost.bytes_written));
    return all;
}

static bool print_json(const ft__cli *c, const struct ops_list *l)
{
    const ft_totals *sum = &l->sum;
    char what[512];
    const char *const warning[] = {doubt(l, what, sizeof(what))};

    return ft__cli_json_take(
        c,
        ft__json("model:s mode:s step:s assumptions:o bounded:o warnings:o flops:g "
                 "bytes_read:g bytes_written:g parameters:g weight_bytes:g "
                 "activation_bytes:u activation_least_bytes:u memory:o phases:o ops:o",
                 l->g->name, ft_name(FT_NAMES_MODE, l->g->mode),
                 ft_step_name(l->step, l->g),
                 ft__json_texts(l->g->assumption, l->g->n_assumptions),
                 ft__json_texts(l->g->bounded, l->g->n_bounded),
                 ft__json_texts(warning, *warning[0] != '\0'), sum->flops,
                 sum->bytes_read, sum->bytes_written, sum->parameters,
                 sum->weight_bytes, l->plan.arena_bytes, l->plan.lower_bound_bytes,
                 ft__memory_json(&l->memory), phases_json(l), ops_json(l->g, NULL)));
}

static int print_list(ft__cli *c, const ft_graph *g, const ft_step *step, uint64_t top)
{
    static const ft_memory_policy exact = {0};
    struct ops_list l = {.c = c, .g = g, .step = step};
    bool good;
    ft_status st = ft_plan_make(&l.plan, g, &c->err);

    if (st)
        return ft__cli_check(c, st);
    st = ft_memory_make(&l.memory, g, &exact, &c->err);
    ft_graph_totals(g, &l.sum);
    sum_phases(&l);
    good = st        ? true
           : c->json ? print_json(c, &l)
           : c->csv  ? !ops_json(g, stdout)
                     : print_text(&l, top);
    ft_plan_free(&l.plan);
    return st ? ft__cli_check_asked(c, st) : ft__cli_done(c, good);
}

/* What ft_import_ops() reads. */
static void print_spec(const ft_graph *g, uint32_t i)
{
    char spec[FT__SPEC_MAX];

    ft_op_print(&g->op[i], spec, sizeof(spec));
    printf("%s", spec);
    if (g->op_count[i] > 1)
        printf(" *%" PRIu64, g->op_count[i]);
    putchar('\n');
}

static int print_few(ft__cli *c, const ft_graph *g, uint32_t want)
{
    ft_op *op = calloc(g->n_ops + 1u, sizeof(*op));
    uint32_t *of = calloc(g->n_ops + 1u, sizeof(*of)), n = 0;
    uint32_t *chosen = calloc(g->n_ops + 1u, sizeof(*chosen)), n_chosen = 0;
    ft_status st = op && of && chosen ? FT_OK : FT_ENOMEM;

    for (uint32_t i = 0; i < g->n_ops && !st; i++) {
        ft_cost cost = cost_of(g, i);

        if (cost.flops + cost.bytes_read + cost.bytes_written > 0) {
            op[n] = g->op[i];
            of[n++] = i;
        }
    }
    if (!st)
        st = ft_choose_few(chosen, &n_chosen, op, n, want, &c->err);
    for (uint32_t k = 0; k < n_chosen && !st; k++)
        print_spec(g, of[chosen[k]]);
    free(op);
    free(of);
    free(chosen);
    return st ? ft__cli_check(c, st) : ft__cli_done(c, true);
}

static int print_specs(ft__cli *c, const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        print_spec(g, i);
    return ft__cli_done(c, true);
}

static int check(ft__cli *c, const struct ops_options *o)
{
    const struct {
        bool given;
        const char *name;
    } view[] = {{o->products, "--products"}, {o->graph, "--graph"},
                {o->dot, "--dot"},           {o->tree, "--tree"},
                {o->list, "--list"},         {o->diff, "--diff"}};
    const char *first = NULL;

    for (size_t i = 0; i < sizeof(view) / sizeof(*view); i++) {
        if (view[i].given && first)
            return ft__usage(c, "%s and %s exclude each other", first, view[i].name);
        first = view[i].given ? view[i].name : first;
    }
    if ((o->dot || o->list) && (c->json || c->csv))
        return ft__usage(c, "%s is a format of its own: without --json and --csv",
                         o->dot ? "--dot" : "--list");
    if (!o->tree && (o->device || o->depth))
        return ft__usage(c, "--%s goes with --tree", o->device ? "device" : "depth");
    if (o->few && !o->list)
        return ft__usage(c, "--few goes with --list");
    if (o->device && o->lower)
        return ft__usage(c, "--lower goes without --device, which says how it runs");
    if (o->diff && c->args.n != 2)
        return ft__usage(c, "--diff wants two models");
    if (!o->diff && c->args.n > 1)
        return ft__usage(c, "one argument too many: \"%s\"; --diff compares two models",
                         c->args.v[1]);
    return FT__EXIT_GOOD;
}

static int parse_lower(ft__cli *c, uint32_t *policy, const char *how)
{
    static const uint32_t policies[] = {FT_POLICY_STRIDED_VIEWS,
                                        FT_POLICY_CHANNELS_LAST, FT_POLICY_FUSED};
    int which, code = ft__choice_parse(c, &which, "lower", how,
                                       "strided, channels-last, fused");

    *policy = how && !code ? policies[which] : 0;
    return code;
}

static int read_step(ft__cli *c, ft_graph **out, const char *path,
                     const struct ops_options *o, const ft_step *step)
{
    ft_graph *made = NULL;
    uint32_t policy;
    ft_status st;
    int code = parse_lower(c, &policy, o->lower);

    if (!code)
        code = ft__model_read(c, out, path, &o->model);
    if (code)
        return code;
    if (policy)
        st = ft_step_lower(&made, *out, policy, step, &c->err);
    else
        st = ft_step_make(&made, *out, step, &c->err);
    if (made) {
        ft__model_close(c, *out);
        *out = made;
    }
    if (!st)
        return FT__EXIT_GOOD;
    ft__model_close(c, *out);
    return ft__cli_check_asked(c, st);
}

static int diff(ft__cli *c, const struct ops_options *o, const ft_step *step,
                const ft_graph *g)
{
    ft_graph *second;
    int code = read_step(c, &second, c->args.v[1], o, step);

    if (code)
        return code;
    code = ft__ops_diff(c, g, second, o->top ? o->top : TOP_DIFF);
    ft__model_close(c, second);
    return code;
}

/* The tree on a device: the question is predict's. */
static int tree_on(ft__cli *c, const struct ops_options *o)
{
    ft__model_values values;
    ft_query q = FT_QUERY_INIT;
    ft_graph *g = NULL;
    int code = ft__model_read(c, &g, c->args.v[0], &o->model);

    if (code)
        return code;
    code =
        ft__cli_check_asked(c, ft__model_values_read(&values, &q, &o->model, &c->err));
    q.model = c->args.v[0];
    q.graph = g;
    q.device = o->device;
    q.mode = o->step.mode;
    q.optimizer = o->step.optimizer;
    q.loss = o->step.loss;
    q.loss_on = o->step.loss_on;
    if (!code)
        code = ft__ops_tree(c, NULL, &q, o->depth ? o->depth : UINT64_MAX);
    ft__model_values_free(&values);
    ft_graph_free(g);
    return code;
}

static int view(ft__cli *c, const struct ops_options *o, const ft_step *step,
                const ft_graph *g)
{
    if (o->products)
        return ft__cli_done(c, ft__ops_products(c, g, o->top ? o->top : TOP));
    if (o->graph || o->dot)
        return ft__cli_done(c, ft__ops_graph(c, g, o->dot));
    if (o->diff)
        return diff(c, o, step, g);
    if (o->tree)
        return ft__ops_tree(c, g, NULL, o->depth ? o->depth : UINT64_MAX);
    if (o->few)
        return print_few(c, g, o->few < g->n_ops ? (uint32_t)o->few : g->n_ops);
    if (o->list)
        return print_specs(c, g);
    return print_list(c, g, step, o->top ? o->top : TOP);
}

static int run(ft__cli *c, const void *user)
{
    const struct ops_options *o = user;
    ft_step step;
    ft_graph *g;
    int code = check(c, o);

    if (!code)
        code = ft__step_parse(c, &step, &o->step);
    if (!code && o->device)
        return tree_on(c, o);
    if (!code)
        code = read_step(c, &g, c->args.v[0], o, &step);
    if (code)
        return code;
    code = view(c, o, &step, g);
    ft__model_close(c, g);
    return code;
}

const ft__command ft__ops_command = {
    .name = "ops",
    .arguments = "MODEL",
    .summary = "list the unique operations of a model and what they cost",
    .more = "MODEL is an .onnx file, a torch.export archive (.pt2), or a list of "
            "operations,\n"
            "one a line (- reads it from standard input). --diff takes two of them.",
    .examples =
        "  foretell ops resnet50.onnx\n"
        "  foretell ops bert.onnx --batch 8 --dim seq=128 --json\n"
        "  foretell ops resnet50.onnx --products\n"
        "  foretell ops resnet50.pt2 --tree --depth 2 --device a30\n"
        "  foretell ops resnet18.onnx --dot | dot -Tsvg -o resnet18.svg\n"
        "  foretell ops resnet50.onnx --mode training --optimizer adam\n"
        "  foretell ops --diff before.onnx after.onnx\n"
        "  foretell ops resnet50.onnx --batch 32 --lower strided --list > r.ops\n"
        "  foretell ops resnet50.onnx --list --few 50 > few.ops\n"
        "  echo 'linear x=1x512 out=1000 dtype=fp32 *3' | foretell ops -\n",
    .least_args = 1,
    .most_args = 2,
    .has_csv = true,
    .options_size = sizeof(struct ops_options),
    .options = options,
    .run = run,
};
