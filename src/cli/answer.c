#include "cli/answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "report/units.h"

enum { SPEC_MAX = 2048 };

void ft__answer_warn(ft__answer *a, const char *fmt, ...)
{
    va_list ap;

    if (a->n_warnings == FT__MAX_WARNINGS)
        return;
    va_start(ap, fmt);
    vsnprintf(a->warning[a->n_warnings++], sizeof(a->warning[0]), fmt, ap);
    va_end(ap);
}

/* Seconds of all occurrences of unique operation i. */
static double total_s(const ft__answer *a, uint32_t i)
{
    return a->e.op_time[i].value * (double)ft_graph_op_count(a->graph, i);
}

/* The energy's estimate with the reason that this machine gives. */
static ft_estimate with_reason(const ft__answer *a, ft_estimate e)
{
    if (e.basis == FT_BASIS_UNAVAILABLE && *a->energy_why)
        e.why = a->energy_why;
    return e;
}

/* ---- text ---- */

static void total_row(ft__table *t, const char *name, const ft_estimate *e,
                      ft__text (*text)(double))
{
    ft__table_cell(t, "%s", name);
    ft__table_cell(t, "%s", text(e->value).s);
    ft__table_cell(t, "%s", text(e->low).s);
    ft__table_cell(t, "%s", text(e->high).s);
    ft__table_cell(t, "%s", ft_basis_name(e->basis));
}

static void part_row(ft__table *t, const char *name, double bytes)
{
    ft__table_cell(t, "  %s", name);
    ft__table_cell(t, "%s", ft__text_bytes(bytes).s);
    for (int i = 0; i < 3; i++)
        ft__table_cell(t, "%s", "");
}

static bool print_totals(const ft__answer *a)
{
    ft__table *t = ft__table_new("of one pass|estimate>|low>|high>|basis");
    bool good;

    total_row(t, "time", &a->e.time, ft__text_seconds);
    total_row(t, "energy", &a->e.energy, ft__text_joules);
    total_row(t, "power", &a->e.power, ft__text_watts);
    total_row(t, "memory", &a->e.memory, ft__text_bytes);
    part_row(t, "weights", a->e.weights_bytes);
    part_row(t, "activations", a->e.activations_bytes);
    part_row(t, "workspace", a->e.workspace_bytes);
    part_row(t, "process", a->e.context_bytes);
    putchar('\n');
    good = ft__table_print_take(t, stdout);
    if (a->e.energy.basis == FT_BASIS_UNAVAILABLE) {
        fputs("energy and power are unavailable: ", stdout);
        ft__put_clean(stdout, with_reason(a, a->e.energy).why);
        putchar('\n');
    }
    if (a->lower_bound)
        puts("This is a lower bound, not an expectation: the device's data sheet alone "
             "was used (roofline);\nreal times are longer, often several times.");
    else
        printf("low .. high is a 90 %% interval; %u unique operations: %u measured, %u "
               "learned, %u scaled, %u roofline\n",
               a->e.n_ops, a->e.n_measured, a->e.n_learned, a->e.n_scaled,
               a->e.n_roofline);
    return good;
}

/* Indices of the operations, heaviest first; NULL: out of memory. */
static uint32_t *by_weight(const ft__answer *a)
{
    uint32_t *order = malloc((a->e.n_ops + 1u) * sizeof(*order));

    /* Insertion sort: stable, and a network has a few hundred unique operations. */
    for (uint32_t i = 0; order && i < a->e.n_ops; i++) {
        uint32_t j = i;

        for (; j > 0 && total_s(a, order[j - 1]) < total_s(a, i); j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    return order;
}

static void op_row(ft__table *t, const ft__answer *a, uint32_t i)
{
    const ft_estimate *e = &a->e.op_time[i];
    char spec[SPEC_MAX];

    ft_op_print(ft_graph_op(a->graph, i), spec, sizeof(spec));
    ft__table_cell(t, "%s", spec);
    ft__table_cell(t, "%" PRIu64, ft_graph_op_count(a->graph, i));
    ft__table_cell(t, "%s", ft__text_percent(total_s(a, i) / a->e.time.value).s);
    ft__table_cell(t, "%s", ft__text_seconds(total_s(a, i)).s);
    ft__table_cell(t, "%s", ft__text_seconds(e->value).s);
    ft__table_cell(t, "%s", ft__text_seconds(e->low).s);
    ft__table_cell(t, "%s", ft__text_seconds(e->high).s);
    ft__table_cell(t, "%s", ft_basis_name(e->basis));
}

static bool print_heaviest(const ft__answer *a, uint64_t top)
{
    ft__table *t =
        ft__table_new("operation<|count>|share>|total>|each>|low>|high>|basis");
    uint32_t *order = by_weight(a);
    bool good = order != NULL;

    for (uint32_t i = 0; good && i < a->e.n_ops && i < top; i++)
        op_row(t, a, order[i]);
    free(order);
    putchar('\n');
    return ft__table_print_take(t, good ? stdout : NULL) && good;
}

static void print_assumptions(const ft__answer *a)
{
    ft__model_print_assumptions(a->graph);
    printf("assumed: inference, one forward pass at a time, %s\n", a->dtype);
}

static void print_title(const ft__answer *a)
{
    ft__put_clean(stdout, ft_graph_name(a->graph));
    printf(" on %s: %s%s%s%s%s\n", a->device, a->known_as, *a->engine ? "; " : "",
           a->engine, *a->setting ? ", " : "", a->setting);
}

static void print_warnings(const ft__answer *a)
{
    for (size_t i = 0; i < a->n_warnings; i++) {
        fputs("warning: ", stdout);
        ft__put_clean(stdout, a->warning[i]);
        putchar('\n');
    }
}

bool ft__answer_print(const ft__answer *a, uint64_t top)
{
    print_title(a);
    print_assumptions(a);
    if (!print_totals(a) || !print_heaviest(a, top))
        return false;
    putchar('\n');
    ft__model_print_bounded(a->graph);
    print_warnings(a);
    printf("verify%s: %s\n", a->lower_bound ? " on that device" : "", a->verify);
    return true;
}

bool ft__answers_print(const ft__answer *a, size_t n)
{
    ft__table *t = ft__table_new("device|time>|low>|high>|energy>|memory>|basis");
    bool good;

    ft__put_clean(stdout, ft_graph_name(a[0].graph));
    putchar('\n');
    print_assumptions(&a[0]);
    for (size_t i = 0; i < n; i++) {
        ft__table_cell(t, "%s", a[i].device);
        ft__table_cell(t, "%s", ft__text_seconds(a[i].e.time.value).s);
        ft__table_cell(t, "%s", ft__text_seconds(a[i].e.time.low).s);
        ft__table_cell(t, "%s", ft__text_seconds(a[i].e.time.high).s);
        ft__table_cell(t, "%s", ft__text_joules(a[i].e.energy.value).s);
        ft__table_cell(t, "%s", ft__text_bytes(a[i].e.memory.value).s);
        ft__table_cell(t, "%s",
                       a[i].lower_bound ? "roofline: a lower bound"
                                        : ft_basis_name(a[i].e.time.basis));
    }
    putchar('\n');
    good = ft__table_print_take(t, stdout);
    puts("- is not known; asked about one device alone, foretell says why\n");
    ft__model_print_bounded(a[0].graph);
    for (size_t i = 0; i < n; i++)
        print_warnings(&a[i]);
    return good;
}

/* ---- JSON and CSV ---- */

static json_t *warnings_json(const ft__answer *a)
{
    json_t *all = json_array();

    for (size_t i = 0; i < a->n_warnings; i++)
        ft__json_append_take(&all, ft__json_text(a->warning[i]));
    return all;
}

static json_t *memory_json(const ft__answer *a)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "total",
                     ft__json_estimate(&a->e.memory, "B"), "weights",
                     ft__json_real(a->e.weights_bytes), "activations",
                     ft__json_real(a->e.activations_bytes), "workspace",
                     ft__json_real(a->e.workspace_bytes), "context",
                     ft__json_real(a->e.context_bytes));
}

static json_t *ops_json(const ft__answer *a)
{
    uint32_t *order = by_weight(a);
    json_t *all = order ? json_array() : NULL;
    char spec[SPEC_MAX];

    for (uint32_t k = 0; all && k < a->e.n_ops; k++) {
        uint32_t i = order[k];

        ft_op_print(ft_graph_op(a->graph, i), spec, sizeof(spec));
        ft__json_append_take(
            &all, json_pack("{s:s, s:o, s:o, s:o}", "spec", spec, "count",
                            ft__json_count(ft_graph_op_count(a->graph, i)), "share",
                            ft__json_real(total_s(a, i) / a->e.time.value), "time",
                            ft__json_estimate(&a->e.op_time[i], "s")));
    }
    free(order);
    return all;
}

json_t *ft__answer_json(const ft__answer *a)
{
    ft_estimate energy = with_reason(a, a->e.energy),
                power = with_reason(a, a->e.power);
    ft_totals sum;

    ft_graph_totals(a->graph, &sum);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
        " s:o, s:o, s:b, s:o}",
        "model", ft__json_text(ft_graph_name(a->graph)), "device",
        ft__json_text(a->device), "known_as", ft__json_text(a->known_as), "engine",
        ft__json_text(a->engine), "mode", "inference", "batch",
        a->batch ? ft__json_count((uint64_t)a->batch) : json_null(), "dtype", a->dtype,
        "setting", ft__json_text(a->setting), "assumptions",
        ft__model_assumptions_json(a->graph), "time",
        ft__json_estimate(&a->e.time, "s"), "energy", ft__json_estimate(&energy, "J"),
        "power", ft__json_estimate(&power, "W"), "memory", memory_json(a), "flops",
        ft__json_real(sum.flops), "ops", ops_json(a), "bounded",
        ft__model_bounded_json(a->graph), "warnings", warnings_json(a), "lower_bound",
        a->lower_bound, "verify", ft__json_text(a->verify));
}

void ft__answer_print_csv(const ft__answer *a, bool head)
{
    char spec[SPEC_MAX];

    if (head)
        puts("device,spec,count,time_s,low_s,high_s,basis");
    for (uint32_t i = 0; i < a->e.n_ops; i++) {
        const ft_estimate *e = &a->e.op_time[i];

        ft_op_print(ft_graph_op(a->graph, i), spec, sizeof(spec));
        ft__csv_row(stdout, "ssugggs", a->device, spec, ft_graph_op_count(a->graph, i),
                    e->value, e->low, e->high, ft_basis_name(e->basis));
    }
}
