/* foretell ops: what a model consists of. */
#include <inttypes.h>

#include "cli/ops.h"
#include "report/json.h"
#include "report/units.h"

struct options {
    ft__model_options model;
    bool products;
};

static const ft__option options[] = {
    {"products", 0, FT__OPT_FLAG, offsetof(struct options, products), NULL,
     "only the convolutions and matrix products inside operations"},
    FT__MODEL_OPTIONS(struct options, model),
    {0},
};

/* Costs of all occurrences of unique operation i. */
static ft_cost cost_of(const ft_graph *g, uint32_t i)
{
    double n = (double)ft_graph_op_count(g, i);
    ft_cost c;

    ft_op_cost(ft_graph_op(g, i), &c);
    c.flops *= n;
    c.bytes_read *= n;
    c.bytes_written *= n;
    return c;
}

/* Parameters of all nodes that run operation i; shared ones count each time. */
static double parameters_of(const ft_graph *g, uint32_t i)
{
    ft_cost c;

    ft_op_cost(ft_graph_op(g, i), &c);
    return c.weight_elements * (double)ft_graph_op_count(g, i);
}

static bool print_text(const ft_graph *g, const ft_totals *sum, const ft_plan *plan)
{
    ft__table *t =
        ft__table_new("operation<|count>|GFLOP>|MiB read>|MiB written>|parameters>");
    char spec[FT__SPEC_MAX];
    uint64_t count = 0;

    for (uint32_t i = 0; i < ft_graph_n_ops(g); i++) {
        ft_cost c = cost_of(g, i);

        ft_op_print(ft_graph_op(g, i), spec, sizeof(spec));
        count += ft_graph_op_count(g, i);
        ft__table_cell(t, "%s", spec);
        ft__table_cell(t, "%" PRIu64, ft_graph_op_count(g, i));
        ft__table_cell(t, "%.4f", c.flops / 1e9);
        ft__table_cell(t, "%.2f", c.bytes_read / 0x1p20);
        ft__table_cell(t, "%.2f", c.bytes_written / 0x1p20);
        ft__table_cell(t, "%.0f", parameters_of(g, i));
    }
    ft__table_rule(t);
    ft__table_cell(t, "%u unique", ft_graph_n_ops(g));
    ft__table_cell(t, "%" PRIu64, count);
    ft__table_cell(t, "%.4f", sum->flops / 1e9);
    ft__table_cell(t, "%.2f", sum->bytes_read / 0x1p20);
    ft__table_cell(t, "%.2f", sum->bytes_written / 0x1p20);
    ft__table_cell(t, "%.0f", sum->parameters);
    ft__model_print_bounded(g);
    ft__model_print_assumptions(g);
    printf(
        "%s: one forward pass; a multiply-accumulate is 2 FLOPs; parameters that are "
        "shared count once in the sum\n\n",
        ft_graph_name(g));
    if (!ft__table_print_take(t, stdout))
        return false;
    printf("\nweights %s, activations %s at their peak (no plan needs less than %s)\n",
           ft__text_bytes(sum->weight_bytes).s,
           ft__text_bytes((double)plan->arena_bytes).s,
           ft__text_bytes((double)plan->lower_bound_bytes).s);
    return true;
}

static json_t *ops_json(const ft_graph *g)
{
    json_t *all = json_array();
    char spec[FT__SPEC_MAX];

    for (uint32_t i = 0; i < ft_graph_n_ops(g); i++) {
        ft_cost c = cost_of(g, i);

        ft_op_print(ft_graph_op(g, i), spec, sizeof(spec));
        ft__json_append_take(&all,
                             json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "spec", spec,
                                       "count", ft__json_count(ft_graph_op_count(g, i)),
                                       "flops", ft__json_real(c.flops), "bytes_read",
                                       ft__json_real(c.bytes_read), "bytes_written",
                                       ft__json_real(c.bytes_written), "parameters",
                                       ft__json_real(parameters_of(g, i))));
    }
    return all;
}

static bool print_json(const ft_graph *g, const ft_totals *sum, const ft_plan *plan)
{
    return ft__json_print_take(
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "model",
                  ft__json_text(ft_graph_name(g)), "assumptions",
                  ft__model_assumptions_json(g), "bounded", ft__model_bounded_json(g),
                  "flops", ft__json_real(sum->flops), "bytes_read",
                  ft__json_real(sum->bytes_read), "bytes_written",
                  ft__json_real(sum->bytes_written), "parameters",
                  ft__json_real(sum->parameters), "weight_bytes",
                  ft__json_real(sum->weight_bytes), "activation_bytes",
                  ft__json_count(plan->arena_bytes), "activation_least_bytes",
                  ft__json_count(plan->lower_bound_bytes), "ops", ops_json(g)),
        stdout);
}

static bool print_csv(const ft_graph *g)
{
    char spec[FT__SPEC_MAX];

    puts("spec,count,flops,bytes_read,bytes_written,parameters");
    for (uint32_t i = 0; i < ft_graph_n_ops(g); i++) {
        ft_cost c = cost_of(g, i);

        ft_op_print(ft_graph_op(g, i), spec, sizeof(spec));
        ft__csv_row(stdout, "sugggg", spec, ft_graph_op_count(g, i), c.flops,
                    c.bytes_read, c.bytes_written, parameters_of(g, i));
    }
    return true;
}

static int print_list(ft__cli *c, const ft_graph *g)
{
    ft_error err = {0};
    ft_totals sum;
    ft_plan plan;
    bool good;
    ft_status st = ft_plan_make(&plan, g, &err);

    if (st)
        return ft__cli_fail(c, st, &err);
    ft_graph_totals(g, &sum);
    good = c->json  ? print_json(g, &sum, &plan)
           : c->csv ? print_csv(g)
                    : print_text(g, &sum, &plan);
    ft_plan_free(&plan);
    return ft__cli_done(c, good);
}

static int run(ft__cli *c, const void *user)
{
    const struct options *o = user;
    ft_graph *g;
    int code = ft__model_read(c, &g, c->args.v[0], &o->model);

    if (code)
        return code;
    code = o->products ? ft__cli_done(c, ft__ops_products(c, g)) : print_list(c, g);
    ft_graph_free(g);
    return code;
}

const ft__command ft__ops_command = {
    .name = "ops",
    .arguments = "MODEL",
    .summary = "list the unique operations of a model and what they cost",
    .more =
        "MODEL is an .onnx file, or a list of operations, one a line (- reads it from\n"
        "standard input).",
    .examples = "  foretell ops resnet50.onnx\n"
                "  foretell ops bert.onnx --batch 8 --dim seq=128 --json\n"
                "  foretell ops resnet50.onnx --products\n"
                "  echo 'linear x=1x512 out=1000 dtype=fp32 *3' | foretell ops -\n",
    .least_args = 1,
    .most_args = 1,
    .has_csv = true,
    .options_size = sizeof(struct options),
    .options = options,
    .run = run,
};
