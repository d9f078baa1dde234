/* foretell show: a predictor in words, JSON and CSV, as train prints it too. */
#include "cli/show.h"

#include <math.h>

#include "report/units.h"

static bool print_datasets(const ft_predictor *p, uint32_t n)
{
    ft__table *t =
        ft__table_new("learned from|setting|engine|dtype policy|measurements>u");

    for (uint32_t i = 0; i < n; i++) {
        ft_predictor_dataset d;
        char engine[256];

        ft_predictor_get_dataset(p, i, &d);
        snprintf(engine, sizeof(engine), "%s %s", d.engine, d.engine_version);
        ft__table_row(t, d.device, d.setting, engine, d.policy, d.n);
    }
    return ft__table_print_take(t, stdout);
}

static ft__formatted interval_text(double low, double high)
{
    ft__formatted t;

    snprintf(t.s, sizeof(t.s), "%.2f .. %.2f", low, high);
    return t;
}

/* NAN: no network was measured with a power sensor. */
static double known_idle(const ft_predictor_schedule *s)
{
    return s->idle_w > 0 ? s->idle_w : NAN;
}

static bool print_schedules(const ft_predictor *p, uint32_t n)
{
    ft__table *t =
        ft__table_new("networks of|policy|engine|phase|n>u|error>%|without>%|90 % "
                      "interval>|conv>.2|products>.2|others>.2|relaid>.2|bounded>.2|a "
                      "launch>s|idle>W|energy>.2");

    for (uint32_t i = 0; i < n; i++) {
        ft_predictor_schedule s;

        ft_predictor_get_schedule(p, i, &s);
        ft__table_row(t, s.device, s.policy, s.engine, s.phase, s.n, s.error, s.without,
                      interval_text(s.interval_low, s.interval_high).s, s.convolutions,
                      s.products, s.others, s.relaid, s.bounded, s.launch_s,
                      known_idle(&s), s.dynamic);
    }
    return ft__table_print_take(t, stdout);
}

static void print_explanation(const ft_predictor_info *i)
{
    puts("\nkind: one kind of operation, a class of kinds (conv, norm; matmul and\n"
         "softmax are both), or all. n: measurements, with repeats. Errors are\n"
         "relative, of operations held out in cross-validation; interval:\n"
         "measured over predicted; constant: one factor on the physical estimate;\n"
         "physics: the estimate alone.");
    if (!*i->device)
        puts(
            "Errors on devices that are not among these: foretell evaluate --leave-out "
            "device.");
}

static bool print_regressors(const ft_predictor *p, uint32_t n)
{
    ft__table *t = ft__table_new(
        "kind|phase|metric|for devices|method|n>u|MAPE>%|median>%|p90>%|90 % "
        "interval>|constant MAPE>%|physics MAPE>%");

    for (uint32_t i = 0; i < n; i++) {
        ft_regressor_info r;

        ft_predictor_regressor(p, i, &r);
        ft__table_row(t, r.kind, r.phase, r.metric, r.unseen ? "others" : "these",
                      r.choice, r.forest.n, r.forest.mape, r.forest.median_ape,
                      r.forest.p90_ape,
                      interval_text(r.interval_low, r.interval_high).s, r.constant.mape,
                      r.roofline.mape);
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
        printf("machine  %s/s, %s/s, %s to launch an operation, %s before a network is "
               "loaded\n",
               ft__text_flops(info.peak_flops).s, ft__text_bytes(info.bandwidth).s,
               ft__text_seconds(info.launch_s).s, ft__text_bytes(info.context_bytes).s);
    printf("holds    %s, %s\n\n", ft__text_counted(info.n_regressors, "regressor").s,
           ft__text_counted(info.n_measured, "distinct measured operation").s);
    if (info.n_regressors) {
        good = print_regressors(p, info.n_regressors) && good;
        print_explanation(&info);
    } else {
        puts("too few operations were measured to learn from; what was not measured is "
             "answered by\nrooflines, lower bounds");
    }
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
                     s.products, s.others, s.relaid, s.bounded, s.launch_s,
                     known_idle(&s), s.dynamic, s.error, s.without, s.interval_low,
                     s.interval_high));
    }
    return all;
}

/* Lines of a regressor; what grows the error by less is noise to a reader. */
enum { MOST_LINES = 8 };
static const double least_shown = 0.001;

static bool print_importance(const ft__importances *all)
{
    ft__table *t =
        ft__table_new("regressor|metric|attribute|error grows by, points>.1|+->.1");

    for (size_t i = 0; i < all->n; i++) {
        const ft__importance_row *r = &all->row[i];
        char of[96]; /* "conv2d forward", "conv2d forward, other devices" */

        if (r->order >= MOST_LINES || r->worth.increase < least_shown)
            continue;
        snprintf(of, sizeof(of), "%s%s%s%s", r->kind, *r->phase ? " " : "", r->phase,
                 r->unseen ? ", other devices" : "");
        ft__table_row(t, of, r->metric, r->name, 100 * r->worth.increase,
                      100 * r->worth.spread);
    }
    puts("\nWhat attributes are worth: points of MAPE by which predictions of held-out "
         "operations get worse when\nthe attribute is that of another operation; up to "
         "8 of each regressor, --json has all. What\nothers repeat is worth little by "
         "itself, and what the physical estimate knows of an operation\nstays with "
         "it.\n");
    return ft__table_print_take(t, stdout) && !all->bad;
}

static json_t *importance_json(const ft__importances *all)
{
    json_t *list = all->bad ? NULL : json_array();

    for (size_t i = 0; i < all->n; i++) {
        const ft__importance_row *r = &all->row[i];

        ft__json_append_take(
            &list,
            ft__json("kind:s phase:s metric:s unseen:b attribute:s increase:g spread:g",
                     r->kind, r->phase, r->metric, r->unseen, r->name,
                     r->worth.increase, r->worth.spread));
    }
    return list;
}

static bool print_json(const ft__cli *c, const ft_predictor *p, const char *path,
                       const ft__importances *worth)
{
    json_t *attributes =
        worth ? ft__json("importance:o", importance_json(worth)) : json_object();
    ft_predictor_info i;

    ft_predictor_get_info(p, &i);
    return ft__cli_json_take(
        c, ft__json_join_take(
               ft__json(
                   "file:s device:s setting:s engine:s engine_version:s peak_flops:g "
                   "bandwidth_bytes_per_s:g launch_s:g context_bytes:g n_measured:n "
                   "datasets:o regressors:o schedules:o unseen_chips:n unseen_part:g",
                   path, i.device, i.setting, i.engine, i.engine_version, i.peak_flops,
                   i.bandwidth, i.launch_s, i.context_bytes, i.n_measured,
                   datasets_json(p, i.n_datasets), regressors_json(p, i.n_regressors),
                   schedules_json(p, i.n_schedules), i.n_chips, i.unseen_part),
               attributes));
}

static const char regressor_fields[] =
    "kind:s metric:s n:u mape:g median_ape:g p90_ape:g within_10:g max_ape:g bias:g "
    "r2:g adjusted_r2:g mae:g median_ae:g max_ae:g interval_low:g interval_high:g "
    "constant_median_ape:g roofline_median_ape:g method:s phase:s unseen:d";

static bool print_csv(const ft_predictor *p)
{
    ft_predictor_info info;

    ft_predictor_get_info(p, &info);
    ft__csv_head(stdout, regressor_fields);
    for (uint32_t i = 0; i < info.n_regressors; i++) {
        const ft_errors *e;
        ft_regressor_info r;

        ft_predictor_regressor(p, i, &r);
        e = &r.forest;
        ft__csv_row(stdout, regressor_fields, r.kind, r.metric, e->n, e->mape,
                    e->median_ape, e->p90_ape, e->within_10, e->max_ape, e->bias, e->r2,
                    e->adjusted_r2, e->mae, e->median_ae, e->max_ae, r.interval_low,
                    r.interval_high, r.constant.median_ape, r.roofline.median_ape,
                    r.choice, r.phase, r.unseen);
    }
    return true;
}

bool ft__predictor_print(const ft__cli *c, const ft_predictor *p, const char *path,
                         const ft__importances *worth)
{
    bool good;

    if (c->json)
        return print_json(c, p, path, worth);
    if (c->csv)
        return print_csv(p);
    good = print_text(p);
    return (!worth || print_importance(worth)) && good;
}

static int run(ft__cli *c, const void *options)
{
    const char *path = c->args.v[0];
    ft_predictor *p;
    bool printed;
    ft_status st = ft_predictor_load(&p, path, &c->err);

    (void)options;
    if (st)
        return ft__cli_check(c, st);
    printed = ft__predictor_print(c, p, path, NULL);
    ft_predictor_free(p);
    return ft__cli_done(c, printed);
}

const ft__command ft__show_command = {
    .name = "show",
    .arguments = "P.ftp",
    .summary = "show what a predictor was trained on and how good it is",
    .more = "",
    .examples = "  foretell show server.ftp\n"
                "  foretell show server.ftp --csv\n",
    .least_args = 1,
    .most_args = 1,
    .has_csv = true,
    .run = run,
};
