/* ops --tree: modules, what they hold, compute and, on a device, take. */

#include "cli/ops/ops.h"
#include "foretell/timeline.h"
#include "report/units.h"

static bool print_text(const ft_timeline *t, const ft_answer *a, uint64_t depth)
{
    const bool known = a != NULL, energy = known && a->energy.value > 0;
    ft__table *table = ft__table_new(
        "module<|operations>u|?time>s|?low>s|?high>s|?share>%|?energy>J|?low>J|?high>J|"
        "FLOPs>FLOP|parameters>k|memory>B",
        known, known, known, known, energy, energy, energy);

    for (uint32_t i = 0; i < t->n_modules; i++) {
        const ft_module *m = &t->module[i];
        char name[512];

        if (m->depth > depth)
            continue;
        snprintf(name, sizeof(name), "%*s%s", 2 * (int)m->depth, "", m->name);
        ft__table_row(table, name, m->n_ops, m->time.value, m->time.low, m->time.high,
                      m->time.value / t->time_s, m->energy.value, m->energy.low,
                      m->energy.high, m->flops, m->parameters, m->peak_bytes);
    }
    if (!ft__table_print_take(table, stdout))
        return false;
    if (known)
        puts(
            "\ntime, energy: of the device while it runs their operations; low .. high "
            "as if all of them\nerred together; share of the network's time");
    puts("parameters: at each use; memory: most that is alive while one of their "
         "operations runs");
    return true;
}

static json_t *modules_json(const ft_timeline *t, uint64_t depth)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < t->n_modules; i++) {
        const ft_module *m = &t->module[i];

        if (m->depth <= depth)
            ft__json_append_take(
                &all, ft__json("path:s depth:n operations:u flops:g bytes:g "
                               "parameters:g memory:g share:g time:e(s) energy:e(J)",
                               m->path, m->depth, m->n_ops, m->flops, m->bytes,
                               m->parameters, m->peak_bytes, m->time.value / t->time_s,
                               &m->time, &m->energy));
    }
    return all;
}

static void print_csv(const ft_timeline *t, uint64_t depth)
{
    static const char fields[] =
        "path:s depth:n operations:u flops:g bytes:g parameters:g memory:g time_s:g "
        "low_s:g high_s:g energy_j:g low_j:g high_j:g";

    ft__csv_head(stdout, fields);
    for (uint32_t i = 0; i < t->n_modules; i++) {
        const ft_module *m = &t->module[i];

        if (m->depth <= depth)
            ft__csv_row(stdout, fields, m->path, m->depth, m->n_ops, m->flops, m->bytes,
                        m->parameters, m->peak_bytes, m->time.value, m->time.low,
                        m->time.high, m->energy.value, m->energy.low, m->energy.high);
    }
}

static bool print_tree(const ft__cli *c, const ft_graph *g, const ft_timeline *t,
                       const ft_answer *a, uint64_t depth)
{
    if (c->csv)
        print_csv(t, depth);
    if (c->csv)
        return true;
    if (c->json)
        return ft__cli_json_take(
            c,
            ft__json("model:s device:s assumptions:o bounded:o modules:o", g->name,
                     a ? a->device : NULL,
                     ft__json_texts(g->assumption, g->n_assumptions),
                     ft__json_texts(g->bounded, g->n_bounded), modules_json(t, depth)));
    ft__model_print_bounded(g);
    ft__model_print_assumptions(g);
    if (a)
        printf("on %s: %s in all, %s .. %s\n", a->device,
               ft__text_seconds(a->time.value).s, ft__text_seconds(a->time.low).s,
               ft__text_seconds(a->time.high).s);
    return print_text(t, a, depth);
}

int ft__ops_tree(ft__cli *c, const ft_graph *g, const ft_query *q, uint64_t depth)
{
    ft_data *data = NULL;
    ft_answer *a = NULL;
    ft_timeline *t = NULL;
    int code = q ? ft__data_open(c, &data) : FT__EXIT_GOOD;

    if (!code && q)
        code = ft__cli_check_asked(c, ft_query_ask(&a, data, q, &c->err));
    if (!code)
        code = ft__cli_check(c, ft_timeline_make(&t, a ? a->graph : g, a, &c->err));
    if (!code)
        code = ft__cli_done(c, print_tree(c, a ? a->graph : g, t, a, depth));
    ft_timeline_free(t);
    ft_answer_free(a);
    ft_data_close(data);
    return code;
}
