/* evaluate --clocks: what was measured at one pair of clocks, told at others. */
#include <math.h>
#include <stdio.h>

#include "cli/evaluated.h"
#include "report/json.h"
#include "report/text.h"
#include "report/units.h"

static void put_errors(ft__table *t, const ft_clocks_evaluated *v, const char *metric,
                       const ft_errors *e, const ft_clocks_interval *i)
{
    if (e->n == 0)
        return;
    ft__table_cell(t, "%s", v->name);
    ft__table_cell(t, "%s", metric);
    ft__table_cell(t, "%zu", v->n_workloads);
    ft__table_cell(t, "%zu", e->n);
    ft__table_cell(t, "%s", ft__text_percent(e->mape).s);
    ft__table_cell(t, "%s", ft__text_percent(e->median_ape).s);
    ft__table_cell(t, "%s", ft__text_percent(e->p90_ape).s);
    ft__table_cell(t, "%s", ft__text_signed(e->bias).s);
    ft__table_cell(t, "%s", ft__text_percent(e[FT_CLOCKS_FORMULAE].mape).s);
    ft__table_cell(t, "%s", ft__text_percent(e[FT_CLOCKS_USUAL].mape).s);
    ft__table_cell(t, "%s", ft__text_percent(i->covered).s);
    ft__table_cell(t, "%s", isfinite(i->width) ? ft__text_plain(i->width).s : "-");
}

static bool print_text(const ft_clocks_evaluation *r)
{
    ft__table *t =
        ft__table_new("device<|metric<|workloads>|n>|MAPE>|median>|p90>|"
                      "bias>|formulae>|median of others>|covered>|high/low>");

    for (size_t i = 0; i < r->n; i++) {
        put_errors(t, &r->v[i], "time", r->v[i].time, &r->v[i].time_interval);
        put_errors(t, &r->v[i], "power", r->v[i].power, &r->v[i].power_interval);
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    puts("\nn: pairs of a workload and clocks that it was not known at; formulae, "
         "median "
         "of others:\nMAPE of the formulae without trees, of the other workloads' "
         "median "
         "ratio; covered: inside the 90 % interval; high/low: its median "
         "width");
    return true;
}

static json_t *ways_json(const ft_errors *e, const ft_clocks_interval *i)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "learned",
                     ft__json_errors(&e[FT_CLOCKS_LEARNED]), "formulae",
                     ft__json_errors(&e[FT_CLOCKS_FORMULAE]), "usual",
                     ft__json_errors(&e[FT_CLOCKS_USUAL]), "covered",
                     ft__json_real(i->covered), "width", ft__json_real(i->width));
}

static bool print_json(const ft_clocks_evaluation *r)
{
    json_t *all = json_array();

    for (size_t i = 0; i < r->n; i++)
        ft__json_append_take(
            &all, json_pack("{s:s, s:I, s:o, s:o}", "name", r->v[i].name, "workloads",
                            (json_int_t)r->v[i].n_workloads, "time",
                            ways_json(r->v[i].time, &r->v[i].time_interval), "power",
                            ways_json(r->v[i].power, &r->v[i].power_interval)));
    return ft__json_print_take(json_pack("{s:o}", "devices", all), stdout);
}

static void csv_row(const ft_clocks_evaluated *v, const char *metric,
                    const ft_errors *e, const ft_clocks_interval *i)
{
    if (e->n)
        ft__csv_row(stdout, "ssuugggggggg", v->name, metric, (uint64_t)v->n_workloads,
                    (uint64_t)e->n, e->mape, e->median_ape, e->p90_ape, e->bias,
                    e[FT_CLOCKS_FORMULAE].mape, e[FT_CLOCKS_USUAL].mape, i->covered,
                    i->width);
}

static bool print_csv(const ft_clocks_evaluation *r)
{
    puts("device,metric,workloads,n,mape,median_ape,p90_ape,bias,mape_formulae,"
         "mape_usual,covered,width");
    for (size_t i = 0; i < r->n; i++) {
        csv_row(&r->v[i], "time", r->v[i].time, &r->v[i].time_interval);
        csv_row(&r->v[i], "power", r->v[i].power, &r->v[i].power_interval);
    }
    return true;
}

int ft__clocks_evaluate(ft__cli *c, const char *path, const char *test,
                        const ft_clocks_options *how)
{
    ft_store *store = NULL, *second = NULL;
    ft_clocks_evaluation r;
    ft_error err = {0};
    bool good;
    ft_status st = ft_store_open(&store, path, FT_STORE_READ, &err);

    if (!st && test)
        st = ft_store_open(&second, test, FT_STORE_READ, &err);
    if (!st)
        st = ft_clocks_evaluate(&r, store, second, how, &err);
    ft_store_close(store);
    ft_store_close(second);
    if (st)
        return st == FT_EINVAL ? ft__cli_exit(c, FT__EXIT_USAGE, "%s", err.msg)
                               : ft__cli_fail(c, st, &err);
    good = c->json ? print_json(&r) : c->csv ? print_csv(&r) : print_text(&r);
    ft_clocks_evaluation_free(&r);
    return ft__cli_done(c, good);
}
