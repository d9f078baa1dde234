/* evaluate --networks: networks measured whole against their operations. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/evaluated.h"
#include "report/json.h"
#include "report/text.h"
#include "report/units.h"

/* ---- text ---- */

/* What follows the word "network " in a spec, and how it ran. */
static void put_name(ft__table *t, const ft_network_case *v)
{
    ft__table_cell(t, "%s %s%s%s", v->spec + sizeof("network"), v->phase,
                   *v->setting ? " " : "", v->setting);
}

static bool print_cases(const ft_networks *r)
{
    ft__table *t = ft__table_new("network<|device<|measured>|foretold>|error>|90 "
                                 "%>|sum>|host busy>|bounded>|energy>");

    for (size_t i = 0; i < r->n; i++) {
        const ft_network_case *v = &r->v[i];
        bool in = v->time_s >= v->time.low && v->time_s <= v->time.high;

        put_name(t, v);
        ft__table_cell(t, "%s", v->device);
        ft__table_cell(t, "%s", ft__text_seconds(v->time_s).s);
        ft__table_cell(t, "%s", ft__text_seconds(v->time.value).s);
        ft__table_cell(t, "%s", ft__text_signed(v->time.value / v->time_s - 1).s);
        ft__table_cell(t, "%s..%s%s", ft__text_seconds(v->time.low).s,
                       ft__text_seconds(v->time.high).s, in ? "" : " !");
        ft__table_cell(t, "%s", ft__text_signed(v->sum_s / v->time_s - 1).s);
        ft__table_cell(t, "%s", ft__text_percent(v->host_share).s);
        ft__table_cell(t, "%s", ft__text_percent(v->bounded_share).s);
        ft__table_cell(t, "%s", ft__text_signed(v->energy.value / v->energy_j - 1).s);
    }
    return ft__table_print_take(t, stdout);
}

static void put_errors(ft__table *t, const char *name, const ft_errors *e)
{
    if (e->n == 0)
        return;
    ft__table_cell(t, "%s", name);
    ft__table_cell(t, "%zu", e->n);
    ft__table_cell(t, "%s", ft__text_percent(e->mape).s);
    ft__table_cell(t, "%s", ft__text_percent(e->median_ape).s);
    ft__table_cell(t, "%s", ft__text_percent(e->p90_ape).s);
    ft__table_cell(t, "%s", ft__text_percent(e->within_10).s);
    ft__table_cell(t, "%s", ft__text_signed(e->bias).s);
}

static bool print_errors(const ft_networks *r)
{
    ft__table *t = ft__table_new("networks<|n>|MAPE>|median>|p90>|within 10 %>|bias>");

    put_errors(t, "time", &r->time);
    put_errors(t,
               r->left_out == FT_LEAVE_FAMILY ? "time, by FLOPs and bytes"
                                              : "time, plain sum",
               &r->sum_time);
    put_errors(t, "energy", &r->energy);
    put_errors(t, "energy, plain sum", &r->sum_energy);
    return ft__table_print_take(t, stdout);
}

/* The rows of one family: those behind *at. */
static void put_family(ft__table *t, const ft_networks *r, size_t at)
{
    double error = 0, totals = 0, bias = 0;
    size_t n = 0, covered = 0;

    for (size_t i = at; i < r->n; i++) {
        const ft_network_case *v = &r->v[i];

        if (strcmp(v->family, r->v[at].family) != 0)
            continue;
        n++;
        error += fabs(v->time.value / v->time_s - 1);
        totals += fabs(v->sum_s / v->time_s - 1);
        bias += v->time.value / v->time_s - 1;
        covered += v->time_s >= v->time.low && v->time_s <= v->time.high;
    }
    ft__table_cell(t, "%s", r->v[at].family);
    ft__table_cell(t, "%zu", n);
    ft__table_cell(t, "%s", ft__text_percent(error / (double)n).s);
    ft__table_cell(t, "%s", ft__text_signed(bias / (double)n).s);
    ft__table_cell(t, "%s", ft__text_percent((double)covered / (double)n).s);
    ft__table_cell(t, "%s", ft__text_percent(totals / (double)n).s);
}

static bool is_first(const ft_networks *r, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(r->v[i].family, r->v[at].family) == 0)
            return false;
    return true;
}

static bool print_families(const ft_networks *r)
{
    ft__table *t =
        ft__table_new("family<|n>|MAPE>|bias>|inside 90 %>|by FLOPs and bytes>");
    bool good;

    printf("%zu networks, each foretold from those of other families\n\n", r->n);
    for (size_t i = 0; i < r->n; i++)
        if (is_first(r, i))
            put_family(t, r, i);
    good = ft__table_print_take(t, stdout);
    putchar('\n');
    good = print_errors(r) && good;
    printf("\ntimes inside the 90 %% interval: %s, median high/low %.2f\n",
           ft__text_percent(r->covered).s, r->width);
    return good;
}

static bool print_text(const ft_networks *r, const ft_networks_options *how)
{
    bool good;

    printf("%zu networks, each foretold without %s\n\n", r->n,
           how->left_out == FT_LEAVE_DEVICE ? "anything of its device"
                                            : "its operations and itself");
    good = print_cases(r);
    putchar('\n');
    good = print_errors(r) && good;
    printf(
        "\ntimes inside the 90 %% interval: %s, median high/low %.2f\n"
        "sum: predicted times of operations alone, added up; host busy: share of the "
        "time in which\nit issues launches; bounded: share of device time of kinds "
        "never measured\n",
        ft__text_percent(r->covered).s, r->width);
    return good;
}

/* ---- JSON and CSV ---- */

static json_t *case_json(const ft_network_case *v)
{
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "network", v->spec, "phase", v->phase, "device", v->device, "setting",
        v->setting, "dtype_policy", v->policy, "family", v->family, "time_s",
        ft__json_real(v->time_s), "energy_j", ft__json_real(v->energy_j), "time",
        ft__json_estimate(&v->time, "s"), "energy", ft__json_estimate(&v->energy, "J"),
        "sum_s", ft__json_real(v->sum_s), "sum_j", ft__json_real(v->sum_j),
        "host_share", ft__json_real(v->host_share), "bounded_share",
        ft__json_real(v->bounded_share), "launches", ft__json_real(v->launches));
}

static bool print_json(const ft_networks *r, const ft_networks_options *how)
{
    json_t *all = json_array();

    for (size_t i = 0; i < r->n; i++)
        ft__json_append_take(&all, case_json(&r->v[i]));
    return ft__json_print_take(
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "left_out",
                  how->left_out == FT_LEAVE_DEVICE   ? "device"
                  : how->left_out == FT_LEAVE_FAMILY ? "family"
                                                     : "network",
                  "networks", all, "time", ft__json_errors(&r->time), "sum_time",
                  ft__json_errors(&r->sum_time), "energy", ft__json_errors(&r->energy),
                  "sum_energy", ft__json_errors(&r->sum_energy), "covered",
                  ft__json_real(r->covered), "width", ft__json_real(r->width)),
        stdout);
}

static bool print_csv(const ft_networks *r)
{
    puts(
        "network,phase,device,setting,dtype_policy,time_s,energy_j,foretold_s,low_s,"
        "high_s,foretold_j,low_j,high_j,sum_s,sum_j,host_share,bounded_share,launches");
    for (size_t i = 0; i < r->n; i++) {
        const ft_network_case *v = &r->v[i];

        ft__csv_row(stdout, "sssssggggggggggggg", v->spec, v->phase, v->device,
                    v->setting, v->policy, v->time_s, v->energy_j, v->time.value,
                    v->time.low, v->time.high, v->energy.value, v->energy.low,
                    v->energy.high, v->sum_s, v->sum_j, v->host_share, v->bounded_share,
                    v->launches);
    }
    return true;
}

/* ---- running ---- */

int ft__networks_evaluate(ft__cli *c, const char *path, const ft_networks_options *what)
{
    ft_store *store = NULL;
    ft_networks r;
    ft_error err = {0};
    bool good;
    ft_status st = ft_store_open(&store, path, FT_STORE_READ, &err);

    if (!st)
        st = ft_networks_evaluate(&r, store, what, &err);
    ft_store_close(store);
    if (st)
        return st == FT_EINVAL ? ft__cli_exit(c, FT__EXIT_USAGE, "%s", err.msg)
                               : ft__cli_fail(c, st, &err);
    good = c->json                             ? print_json(&r, what)
           : c->csv                            ? print_csv(&r)
           : what->left_out == FT_LEAVE_FAMILY ? print_families(&r)
                                               : print_text(&r, what);
    ft_networks_free(&r);
    return ft__cli_done(c, good);
}
