/* A predictor in words: shown by train and by show. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/predictor.h"
#include "foretell/names.h"
#include "report/units.h"

/* What was learned from. */
static bool print_datasets(const ft_predictor *p, uint32_t n)
{
    ft__table *t =
        ft__table_new("learned from|setting|engine|dtype policy|operations>");

    for (uint32_t i = 0; i < n; i++) {
        ft_predictor_dataset d;

        ft_predictor_get_dataset(p, i, &d);
        ft__table_cell(t, "%s", d.device);
        ft__table_cell(t, "%s", d.setting);
        ft__table_cell(t, "%s %s", d.engine, d.engine_version);
        ft__table_cell(t, "%s", d.policy);
        ft__table_cell(t, "%" PRIu64, d.n);
    }
    return ft__table_print_take(t, stdout);
}

/* What networks showed of its devices. */
static bool print_schedules(const ft_predictor *p, uint32_t n)
{
    ft__table *t =
        ft__table_new("networks of|policy|engine|phase|n>|error>|without>|90 % "
                      "interval>|conv>|products>|others>|relaid>|bounded>|"
                      "a launch>|idle>|energy>");

    for (uint32_t i = 0; i < n; i++) {
        ft_predictor_schedule s;

        ft_predictor_get_schedule(p, i, &s);
        ft__table_cell(t, "%s", s.device);
        ft__table_cell(t, "%s", s.policy);
        ft__table_cell(t, "%s", s.engine);
        ft__table_cell(t, "%s", s.phase);
        ft__table_cell(t, "%" PRIu64, s.n);
        ft__table_cell(t, "%s", ft__text_percent(s.error).s);
        ft__table_cell(t, "%s", ft__text_percent(s.without).s);
        ft__table_cell(t, "%.2f .. %.2f", s.interval_low, s.interval_high);
        ft__table_cell(t, "%.2f", s.convolutions);
        ft__table_cell(t, "%.2f", s.products);
        ft__table_cell(t, "%.2f", s.others);
        ft__table_cell(t, "%.2f", s.relaid);
        ft__table_cell(t, "%.2f", s.bounded);
        ft__table_cell(t, "%s", ft__text_seconds(s.launch_s).s);
        ft__table_cell(t, "%s", ft__text_watts(s.idle_w).s);
        ft__table_cell(t, "%.2f", s.dynamic);
    }
    return ft__table_print_take(t, stdout);
}

static void print_machine(const ft_predictor_info *i)
{
    printf("machine  %s/s, %s/s, %s to launch an operation, %s before a network is "
           "loaded\n",
           ft__text_flops(i->peak_flops).s, ft__text_bytes(i->bandwidth).s,
           ft__text_seconds(i->launch_s).s, ft__text_bytes(i->context_bytes).s);
}

static void print_explanation(const ft_predictor_info *i)
{
    puts("\nErrors are relative, of operations held out in cross-validation; interval: "
         "measured over\npredicted; constant and physics: median errors of always the "
         "same ratio to the physical\nestimate, and of the estimate itself.");
    if (!*i->device)
        puts(
            "Errors on devices that are not among these: foretell evaluate --leave-out "
            "device.");
}

static bool print_regressors(const ft_predictor *p, uint32_t n)
{
    ft__table *t =
        ft__table_new("kind|phase|metric|for devices|method|n>|MAPE>|median>|"
                      "p90>|90 % interval>|constant>|physics>");

    for (uint32_t i = 0; i < n; i++) {
        ft_regressor_info r;

        ft_predictor_regressor(p, i, &r);
        ft__table_cell(t, "%s", r.kind);
        ft__table_cell(t, "%s", r.phase);
        ft__table_cell(t, "%s", r.metric);
        ft__table_cell(t, "%s", r.unseen ? "others" : "these");
        ft__table_cell(t, "%s", r.choice);
        ft__table_cell(t, "%zu", r.forest.n);
        ft__table_cell(t, "%s", ft__text_percent(r.forest.mape).s);
        ft__table_cell(t, "%s", ft__text_percent(r.forest.median_ape).s);
        ft__table_cell(t, "%s", ft__text_percent(r.forest.p90_ape).s);
        ft__table_cell(t, "%.2f .. %.2f", r.interval_low, r.interval_high);
        ft__table_cell(t, "%s", ft__text_percent(r.constant.median_ape).s);
        ft__table_cell(t, "%s", ft__text_percent(r.roofline.median_ape).s);
    }
    return ft__table_print_take(t, stdout);
}

static bool print_text(const ft_predictor *p)
{
    ft_predictor_info info;
    bool good;

    ft_predictor_get_info(p, &info);
    good = print_datasets(p, info.n_datasets);
    putchar('\n');
    if (isfinite(info.peak_flops))
        print_machine(&info);
    printf("holds    %u regressors, %u measured operations\n\n", info.n_regressors,
           info.n_measured);
    good = print_regressors(p, info.n_regressors) && good;
    print_explanation(&info);
    if (!info.n_schedules)
        return good;
    putchar('\n');
    good = print_schedules(p, info.n_schedules) && good;
    puts("\nNetworks measured whole, each left out in turn: their errors by what the "
         "others show of\nhost and device, and without; and by how much times and "
         "energy of operations are scaled.");
    if (info.n_chips)
        printf("Networks of other devices lie within %.2f times what their operations "
               "may err by on\naverage (logarithms), as those of %u chips do that were "
               "left out in turn.\n",
               info.unseen_part, info.n_chips);
    return good;
}

static json_t *regressors_json(const ft_predictor *p, uint32_t n)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < n; i++) {
        ft_regressor_info r;

        ft_predictor_regressor(p, i, &r);
        ft__json_append_take(
            &all,
            ft__json("kind:s phase:s metric:s unseen:b method:s forest:o constant:o "
                     "roofline:o interval_low:g interval_high:g",
                     r.kind, r.phase, r.metric, r.unseen, r.choice,
                     ft__json_errors(&r.forest), ft__json_errors(&r.constant),
                     ft__json_errors(&r.roofline), r.interval_low, r.interval_high));
    }
    return all;
}

static json_t *datasets_json(const ft_predictor *p, uint32_t n)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < n; i++) {
        ft_predictor_dataset d;

        ft_predictor_get_dataset(p, i, &d);
        ft__json_append_take(
            &all,
            ft__json("device:s setting:s engine:s engine_version:s dtype_policy:s n:u",
                     d.device, d.setting, d.engine, d.engine_version, d.policy, d.n));
    }
    return all;
}

static json_t *schedules_json(const ft_predictor *p, uint32_t n)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < n; i++) {
        ft_predictor_schedule s;

        ft_predictor_get_schedule(p, i, &s);
        ft__json_append_take(
            &all,
            ft__json("device:s dtype_policy:s engine:s phase:s n:u convolutions:g "
                     "products:g others:g relaid:g bounded:g launch_s:g idle_w:g "
                     "dynamic:g mape:g mape_without:g interval_low:g interval_high:g",
                     s.device, s.policy, s.engine, s.phase, s.n, s.convolutions,
                     s.products, s.others, s.relaid, s.bounded, s.launch_s, s.idle_w,
                     s.dynamic, s.error, s.without, s.interval_low, s.interval_high));
    }
    return all;
}

static bool print_json(const ft_predictor *p, const char *path,
                       const ft__importance *worth)
{
    json_t *attributes =
        worth ? ft__json("importance:o", ft__importance_json(worth)) : json_object();
    ft_predictor_info i;

    ft_predictor_get_info(p, &i);
    return ft__json_print_take(
        ft__json_join_take(
            ft__json("file:s device:s setting:s engine:s engine_version:s peak_flops:g "
                     "bandwidth_bytes_per_s:g launch_s:g context_bytes:g n_measured:n "
                     "datasets:o regressors:o schedules:o unseen_chips:n unseen_part:g",
                     path, i.device, i.setting, i.engine, i.engine_version,
                     i.peak_flops, i.bandwidth, i.launch_s, i.context_bytes,
                     i.n_measured, datasets_json(p, i.n_datasets),
                     regressors_json(p, i.n_regressors),
                     schedules_json(p, i.n_schedules), i.n_chips, i.unseen_part),
            attributes),
        stdout);
}

static const char row_fields[] =
    "kind:s metric:s n:u mape:g median_ape:g p90_ape:g within_10:g max_ape:g bias:g "
    "r2:g adjusted_r2:g mae:g median_ae:g max_ae:g interval_low:g interval_high:g "
    "constant_median_ape:g roofline_median_ape:g method:s phase:s unseen:d";

static bool print_csv(const ft_predictor *p)
{
    ft_predictor_info info;

    ft_predictor_get_info(p, &info);
    ft__csv_head(stdout, row_fields);
    for (uint32_t i = 0; i < info.n_regressors; i++) {
        const ft_errors *e;
        ft_regressor_info r;

        ft_predictor_regressor(p, i, &r);
        e = &r.forest;
        ft__csv_row(stdout, row_fields, r.kind, r.metric, e->n, e->mape, e->median_ape,
                    e->p90_ape, e->within_10, e->max_ape, e->bias, e->r2,
                    e->adjusted_r2, e->mae, e->median_ae, e->max_ae, r.interval_low,
                    r.interval_high, r.constant.median_ape, r.roofline.median_ape,
                    r.choice, r.phase, r.unseen);
    }
    return true;
}

bool ft__predictor_print(const ft__cli *c, const ft_predictor *p, const char *path,
                         const ft__importance *worth)
{
    bool good;

    if (c->json)
        return print_json(p, path, worth);
    if (c->csv)
        return print_csv(p);
    good = print_text(p);
    return (!worth || ft__importance_print(worth)) && good;
}

int ft__methods_parse(ft__cli *c, uint32_t *out, const char *text)
{
    *out = 0;
    if (!text)
        return FT__EXIT_GOOD;
    if (strcmp(text, "all") == 0) {
        *out = (1u << FT_METHOD_COUNT) - 1;
        return FT__EXIT_GOOD;
    }
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ",");
        int m = ft_from_name(FT_NAMES_METHOD, p, n);
        const char *why;

        if (m < 0)
            return ft__usage(c, "--method: no method is called \"%.*s\"", (int)n, p);
        if (!ft_method_available((ft_method)m, &why))
            return ft__cli_exit(c, FT__EXIT_MISSING, "--method %.*s: %s", (int)n, p,
                                why);
        *out |= 1u << m;
        p += n + (p[n] == ',');
    }
    return FT__EXIT_GOOD;
}
