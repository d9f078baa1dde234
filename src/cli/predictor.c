/* foretell train: from the store to a predictor; foretell show: a predictor in words,
 * JSON and CSV, as train prints it too. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "foretell/engine.h"
#include "foretell/names.h"
#include "foretell/networks.h"
#include "foretell/outliers.h"
#include "foretell/predictor.h"
#include "report/units.h"

/* ==== a predictor, printed ==== */

/* What was learned from. */
static bool print_datasets(const ft_predictor *p, uint32_t n)
{
    ft__table *t =
        ft__table_new("learned from|setting|engine|dtype policy|operations>u");

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

/* What networks showed of its devices. */
static bool print_schedules(const ft_predictor *p, uint32_t n)
{
    ft__table *t = ft__table_new(
        "networks of|policy|engine|phase|n>u|error>%|without>%|90 % interval>|conv>.2|"
        "products>.2|others>.2|relaid>.2|bounded>.2|a launch>s|idle>W|energy>.2");

    for (uint32_t i = 0; i < n; i++) {
        ft_predictor_schedule s;

        ft_predictor_get_schedule(p, i, &s);
        ft__table_row(t, s.device, s.policy, s.engine, s.phase, s.n, s.error, s.without,
                      interval_text(s.interval_low, s.interval_high).s, s.convolutions,
                      s.products, s.others, s.relaid, s.bounded, s.launch_s, s.idle_w,
                      s.dynamic);
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
         "measured over\npredicted; constant and physics: of always the same ratio to "
         "the "
         "physical estimate, and of the\nestimate itself.");
    if (!*i->device)
        puts(
            "Errors on devices that are not among these: foretell evaluate --leave-out "
            "device.");
}

static bool print_regressors(const ft_predictor *p, uint32_t n)
{
    ft__table *t =
        ft__table_new("kind|phase|metric|for devices|method|n>u|MAPE>%|median>%|p90>%|"
                      "90 % interval>|constant MAPE>%|physics MAPE>%");

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

/* ---- what attributes are worth: train --importance ---- */

struct importance_row {
    char kind[48], metric[16], phase[24], name[48];
    bool unseen;
    uint32_t order; /* in its regressor */
    ft_importance worth;
};

/* What training found out about the worth of attributes. */
struct importance {
    struct importance_row *row;
    size_t n;
    bool bad; /* memory was short */
};

/* Lines of a regressor; what grows the error by less is noise to a reader. */
enum { MOST_LINES = 8 };
static const double least_shown = 0.001;

static bool print_importance(const struct importance *all)
{
    ft__table *t =
        ft__table_new("regressor|metric|attribute|error grows by, points>.1|+->.1");

    for (size_t i = 0; i < all->n; i++) {
        const struct importance_row *r = &all->row[i];
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
         "8 "
         "of each regressor, --json has all. What\nothers repeat is worth little by "
         "itself, and what the physical estimate knows of an operation\nstays with "
         "it.\n");
    return ft__table_print_take(t, stdout) && !all->bad;
}

static json_t *importance_json(const struct importance *all)
{
    json_t *list = all->bad ? NULL : json_array();

    for (size_t i = 0; i < all->n; i++) {
        const struct importance_row *r = &all->row[i];

        ft__json_append_take(
            &list,
            ft__json("kind:s phase:s metric:s unseen:b attribute:s increase:g spread:g",
                     r->kind, r->phase, r->metric, r->unseen, r->name,
                     r->worth.increase, r->worth.spread));
    }
    return list;
}

/* ---- all of it ---- */

static bool print_json(const ft__cli *c, const ft_predictor *p, const char *path,
                       const struct importance *worth)
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

/* Whom a predictor is for and how good its regressors are, in the form that the
 * global options ask for, and what attributes are worth (NULL: was not asked for).
 * False: out of memory. */
static bool print_predictor(const ft__cli *c, const ft_predictor *p, const char *path,
                            const struct importance *worth)
{
    bool good;

    if (c->json)
        return print_json(c, p, path, worth);
    if (c->csv)
        return print_csv(p);
    good = print_text(p);
    return (!worth || print_importance(worth)) && good;
}

/* ==== foretell show ==== */

static int run_show(ft__cli *c, const void *options)
{
    const char *path = c->args.v[0];
    ft_predictor *p;
    bool printed;
    ft_status st = ft_predictor_load(&p, path, &c->err);

    (void)options;
    if (st)
        return ft__cli_check(c, st);
    printed = print_predictor(c, p, path, NULL);
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
    .options_size = 0,
    .options = NULL,
    .run = run_show,
};

/* ==== foretell train ==== */

struct train_options {
    const char *out;
    const char *engine;
    const char *device;
    uint64_t threads;
    const char *setting;
    const char *methods;
    bool mix;
    ft__texts without;
    bool forget;
    bool tune;
    const char *layout;
    uint64_t size;
    const char *add;
    bool importance;
    bool family;
    const char *where;
    const char *networks;
    const char *lists;
    const char *kernels;
    uint64_t seed;
};

static const ft__option options[] = {
    {"out", 'o', FT__OPT_OUTPUT, offsetof(struct train_options, out), "P.ftp",
     "file to write; where predict looks first unless said otherwise", NULL},
    FT__TEXT(struct train_options, engine, "engine", "NAME",
             "learn from measurements with this one; " FT__DEFAULT_ENGINE),
    FT__COUNT(struct train_options, threads, "threads", "N",
              "learn from measurements with so many threads; 1"),
    FT__TEXT(struct train_options, setting, "setting", "TEXT",
             "learn from measurements at this setting, \"threads=1 clock=1200MHz\""),
    FT__TEXT(struct train_options, device, "device", "NAME",
             "learn from measurements of this device; this machine"),
    FT__FLAG(struct train_options, family, "family",
             "learn from all devices, settings and engines in the store, for any "
             "device that "
             "has a data sheet"),
    FT__TEXT(struct train_options, where, "where", "NAME=VALUE,...",
             "which of these measurements, as evaluate has it: \"device=a30,l4 "
             "policy=default\""),
    FT__TEXT(struct train_options, networks, "networks", "NAME=VALUE,...",
             "fit to these networks, measured whole, what host and device share of the "
             "work, "
             "as "
             "evaluate --networks does: \"device=a30 phase=step\""),
    FT__LISTS_OPTION(struct train_options, "those of data/workloads/networks"),
    FT__INPUT(struct train_options, kernels, "kernels", "FILE,...",
              "learn from " FT__TIMED_KERNELS
              ", for foretell ptx --device; without --family from them alone"),
    FT__METHODS_OPTIONS(struct train_options, " by cross-validation",
                        "; extra, with --family the usual ones, mixed"),
    FT__FLAG(struct train_options, tune, "tune",
             "choose hyper-parameters of these methods as well, by cross-validation"),
    FT__TEXT(struct train_options, layout, "layout", "WHAT",
             "one regressor a kind, or single: one for all of them"),
    FT__COUNT(struct train_options, size, "size", "MB",
              "what the file may take, about; 40"),
    FT__INPUT(
        struct train_options, add, "add", "P.ftp",
        "add what the store holds to this predictor: only what has new measurements is "
        "learned again"),
    FT__FLAG(struct train_options, importance, "importance",
             "say what each attribute is worth to each regressor that is learned, by "
             "permuting "
             "it"),
    FT__TEXTS(
        struct train_options, without, "without", "MODEL",
        "leave out every operation of this model, to test on it later; with --kernels "
        "every launch of this launch file"),
    FT__FLAG(struct train_options, forget, "forget",
             "keep no measured values: every answer is learned"),
    FT__COUNT(struct train_options, seed, "seed", "N", "of the random choices; 1"),
    {0},
};

static bool from_store(const struct train_options *o)
{
    return o->family || !o->kernels;
}

/* How the engine runs graphs: operations are left out as it runs them. */
static ft_status policy_of(ft__cli *c, uint32_t *policy, const char *engine,
                           ft_error *err)
{
    char dir[FT__PATH_MAX], path[FT__PATH_MAX + 512];
    const ft_engine *e;
    ft_status st;

    ft__path_plugins(c, dir);
    snprintf(path, sizeof(path), "%s/ft_%.256s.so", dir, engine);
    st = ft_engine_load(&e, path, err);
    if (!st)
        *policy = e->policy;
    return st;
}

static int leave_out(ft__cli *c, ft__ops *out, const struct train_options *o,
                     const char *engine)
{
    const ft__model_options as_it_is = {0};
    const ft_step inference = {0};
    uint32_t policy = 0;
    ft_status st;
    int code = FT__EXIT_GOOD;

    if (!o->without.n || o->kernels)
        return code;
    st = policy_of(c, &policy, engine, &c->err);
    if (st)
        return ft__cli_check(c, st);
    for (size_t i = 0; i < o->without.n && !code; i++)
        code =
            ft__model_add_ops(c, out, o->without.v[i], &as_it_is, &inference, policy);
    return code;
}

/* Worth tuning, or measuring again: said once the predictor is made of them. */
static void tell_slow(const ft__cli *c, ft_store *store, const ft_train_options *how)
{
    char where[FT__PATH_MAX], spec[1024], text[2048];
    ft_slow_op *op = NULL;
    uint32_t n_datasets;
    size_t n;

    snprintf(where, sizeof(where), "device=%s engine=%s %s", how->filter.device,
             how->filter.engine, how->filter.setting);
    if (!c->log.message || ft_slow_ops_find(&op, &n, &n_datasets, store, where,
                                            how->data_dir, how->seed, NULL))
        return;
    if (n) {
        ft_op_print(&op[0].op, spec, sizeof(spec));
        snprintf(text, sizeof(text),
                 "%zu operation%s slower than others like %s, %s %.1f times: foretell "
                 "validate --outliers lists what to tune or to measure again",
                 n, n > 1 ? "s are" : " is", n > 1 ? "them" : "it", spec, op[0].slower);
        c->log.message(c->log.user, FT_LOG_INFO, text);
    }
    free(op);
}

/* Of one machine: which rows of the store. */
static ft_status train_one(ft__cli *c, ft_predictor **out, ft_store *store,
                           const struct train_options *o,
                           const ft_train_options *common, ft_error *err)
{
    ft_train_options how = *common;
    ft_device *local = NULL;
    char setting[32];
    ft_status st = ft_device_local(&local, "", err);

    if (!st) {
        snprintf(setting, sizeof(setting), "threads=%u",
                 (unsigned)(o->threads ? o->threads : 1));
        how.filter.engine = o->engine ? o->engine : FT__DEFAULT_ENGINE;
        how.filter.setting = o->setting ? o->setting : setting;
        how.filter.device = o->device && strcmp(o->device, "local") != 0
                                ? o->device
                                : ft_device_get(local)->fingerprint;
        st = ft_predictor_train(out, store, &how, err);
        if (!st)
            tell_slow(c, store, &how);
    }
    ft_device_free(local);
    return st;
}

static ft_status train(ft__cli *c, ft_predictor **out, const char *store_path,
                       const struct train_options *o, const ft_train_options *common,
                       ft_error *err)
{
    ft_train_options how = *common;
    ft_predictor *before = NULL;
    ft_store *store = NULL;
    ft_status st =
        from_store(o) ? ft_store_open(&store, store_path, FT_STORE_READ, err) : FT_OK;

    *out = NULL;
    if (!st && o->add)
        st = ft_predictor_load(&before, o->add, err);
    how.add = before;
    if (!st)
        st = o->family || o->kernels ? ft_predictor_train(out, store, &how, err)
                                     : train_one(c, out, store, o, &how, err);
    ft_predictor_free(before);
    ft_store_close(store);
    return st;
}

static int check(ft__cli *c, const struct train_options *o)
{
    int layout;

    if (o->importance && c->csv)
        return ft__usage(c, "--importance is printed as text or with --json");
    if (!from_store(o) && (o->networks || o->add || o->methods || o->mix || o->tune ||
                           o->layout || o->engine || o->size))
        return ft__usage(c, "--kernels without --family goes with --where, --without, "
                            "--importance, --seed and --out alone");
    if (o->kernels && o->family && o->without.n)
        return ft__usage(c, "--without is of operations or of launches: with --family "
                            "and --kernels train each on its own");
    if ((o->family || o->kernels) && (o->device || o->threads || o->setting))
        return ft__usage(c, "--%s goes with --where, which says of which device%s",
                         o->family ? "family" : "kernels",
                         o->family ? ", setting and engine" : "");
    if (o->lists && !o->networks)
        return ft__usage(c, "--lists goes with --networks");
    return ft__choice_parse(c, &layout, "layout", o->layout, "kind, single");
}

/* ft_train_options.importance; user: a struct importance that began as {0}. */
static void take_importance(void *user, const ft_regressor_attributes *of)
{
    struct importance *all = user;
    struct importance_row *row = realloc(all->row, (all->n + of->n + 1) * sizeof(*row));

    if (!row) {
        all->bad = true;
        return;
    }
    all->row = row;
    for (size_t i = 0; i < of->n; i++) {
        const ft_attribute *a = &of->attribute[i];
        struct importance_row *r = &row[all->n];

        if (a->worth.increase == 0)
            continue;
        *r = (struct importance_row){
            .unseen = of->unseen != 0, .order = (uint32_t)i, .worth = a->worth};
        snprintf(r->kind, sizeof(r->kind), "%s", of->kind);
        snprintf(r->metric, sizeof(r->metric), "%s", of->metric);
        snprintf(r->phase, sizeof(r->phase), "%s", of->phase);
        snprintf(r->name, sizeof(r->name), "%s", a->name);
        all->n++;
    }
}

/* What asks it: by its file where predict would not look for it. */
static void print_next(const struct train_options *o, const char *path)
{
    const bool many = o->family || o->kernels;
    const bool by_path = o->out || (o->device && strcmp(o->device, "local") != 0);

    printf("\nwritten: %s\nnext: foretell %s", path,
           from_store(o) ? "predict MODEL" : "ptx FILE --grid X");
    ft__put_word(stdout, " --device ", many ? "D" : o->device ? o->device : "local");
    if (by_path)
        ft__put_word(stdout, " --predictor ", path);
    else if (!many && o->engine && strcmp(o->engine, FT__DEFAULT_ENGINE) != 0)
        ft__put_word(stdout, " --engine ", o->engine);
    if (!by_path && !many && o->threads > 1)
        printf(" --threads %" PRIu64, o->threads);
    putchar('\n');
}

static int save(ft__cli *c, const ft_predictor *p, const char *path,
                const struct train_options *o, const struct importance *worth)
{
    bool printed;
    ft_status st = ft_predictor_save(p, path, &c->err);

    if (st)
        return ft__cli_check(c, st);
    printed = print_predictor(c, p, path, worth);
    if (!c->json && !c->csv)
        print_next(o, path);
    return ft__cli_done(c, printed);
}

static int run_train(ft__cli *c, const void *user)
{
    const struct train_options *o = user;
    const char *engine = o->engine ? o->engine : FT__DEFAULT_ENGINE;
    ft_train_options how = {.seed = o->seed ? o->seed : 1,
                            .threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
                            .mix = o->mix,
                            .tune = o->tune,
                            .single = o->layout && strcmp(o->layout, "single") == 0,
                            .forget = o->forget,
                            .where = o->where,
                            .most_bytes = (size_t)o->size * 1000000,
                            .log = &c->log};
    char store[FT__PATH_MAX], path[FT__PATH_MAX], data[FT__PATH_MAX];
    ft_network_lists *lists = NULL;
    struct importance worth = {0};
    ft__ops without = {0};
    ft_predictor *p;
    ft_status st;
    int code = check(c, o);

    if (!code)
        code = ft__methods_parse(c, &how.methods, o->methods);
    if (code)
        return code;
    ft__path_data(c, data);
    how.data_dir = data;
    how.networks = o->networks;
    how.find = ft_network_lists_find;
    ft__path_store(c, store);
    code = from_store(o) ? ft__store_needed(c, store) : FT__EXIT_GOOD;
    if (!code && o->networks)
        code = ft__lists_open(c, &lists, o->lists, false);
    how.find_user = lists;
    if (!code)
        code = leave_out(c, &without, o, engine);
    if (!code) {
        how.importance = o->importance ? take_importance : NULL;
        how.importance_user = &worth;
        how.without = without.op;
        how.n_without = without.n;
        how.kernels = o->kernels;
        how.without_launches = o->without.v;
        how.n_without_launches = o->kernels ? o->without.n : 0;
        st = train(c, &p, store, o, &how, &c->err);
        code = ft__cli_check_asked(c, st);
    }
    ft__ops_free(&without);
    ft_network_lists_free(lists);
    if (code) {
        free(worth.row);
        return code;
    }
    if (o->family)
        ft__path_predictor(path, NULL, 0);
    else
        ft__path_predictor(path, o->kernels ? "kernels" : engine, o->threads);
    code = ft__home_needed(c, o->out);
    if (!code)
        code = save(c, p, o->out ? o->out : path, o, o->importance ? &worth : NULL);
    free(worth.row);
    ft_predictor_free(p);
    return code;
}

const ft__command ft__train_command = {
    .name = "train",
    .arguments = "",
    .summary = "learn a predictor from the measurements in the store",
    .more = "",
    .examples = "  foretell train\n"
                "  foretell train -o server.ftp --engine onednn --threads 8\n"
                "  foretell train --without vgg16.onnx --forget -o honest.ftp\n"
                "  foretell train --add server.ftp -o more.ftp\n"
                "  foretell train --importance\n"
                "  foretell train --family --where 'device=a30,l4 phase=forward' -o "
                "gpus.ftp\n"
                "  foretell train --family --where 'device=a30 "
                "phase=forward_backward' --networks 'device=a30 phase=step'\n"
                "  foretell train --kernels a30.jsonl,a100.jsonl\n",
    .least_args = 0,
    .most_args = 0,
    .has_csv = true,
    .options_size = sizeof(struct train_options),
    .options = options,
    .run = run_train,
};
