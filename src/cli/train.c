/* foretell train: from the store to a predictor. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session.h"
#include "cli/settings.h"
#include "cli/show.h"
#include "foretell/engine.h"
#include "foretell/networks.h"
#include "foretell/outliers.h"

struct train_options {
    const char *out, *engine, *device;
    uint64_t threads;
    const char *setting, *methods;
    bool mix;
    ft__texts without;
    bool forget, tune;
    const char *layout;
    uint64_t size;
    const char *add;
    bool importance, family, other_boards;
    const char *where, *networks, *lists, *kernels;
    uint64_t seed;
};

static const ft__option options[] = {
    {"out", 'o', FT__OPT_OUTPUT, offsetof(struct train_options, out), "P.ftp",
     "file to write; where predict looks first unless said otherwise", NULL},
    FT__TEXT(struct train_options, engine, "engine", "NAME",
             "learn from measurements with this one; " FT_DEFAULT_ENGINE),
    FT__COUNT(struct train_options, threads, "threads", "N",
              "learn from measurements with so many threads; 1"),
    FT__TEXT(struct train_options, setting, "setting", "TEXT",
             "learn from measurements at this setting, \"threads=1 clock=1200MHz\""),
    FT__TEXT(struct train_options, device, "device", "NAME",
             "learn from measurements of this device; this machine"),
    FT__FLAG(struct train_options, family, "family",
             "learn from all devices, settings and engines in the store, for any "
             "device that has a data sheet"),
    FT__FLAG(struct train_options, other_boards, "other-boards",
             "the measurements are of others' boards, not of those that will be asked "
             "about: intervals of known devices hold for any board of theirs"),
    FT__TEXT(struct train_options, where, "where", "NAME=VALUE,...",
             "which of these measurements, as evaluate has it: \"device=a30,l4 "
             "policy=default\""),
    FT__TEXT(struct train_options, networks, "networks", "NAME=VALUE,...",
             "fit to these networks, measured whole, what host and device share of the "
             "work, as evaluate --networks does: \"device=a30 phase=step\""),
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
    FT__INPUT(struct train_options, add, "add", "P.ftp",
              "add what the store holds to this predictor: only what has new "
              "measurements is learned again"),
    FT__FLAG(
        struct train_options, importance, "importance",
        "print the permutation importance of the features of each fitted regressor"),
    FT__TEXTS(struct train_options, without, "without", "MODEL",
              "leave out every operation of this model, to test on it later; with "
              "--kernels every launch of this launch file"),
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

static bool is_elsewhere(const struct train_options *o)
{
    return o->device && strcmp(o->device, "local") != 0;
}

/* Settings of rows that come ordered by them. */
struct settings_there {
    char all[512], last[FT__SETTING_MAX];
    size_t n;
};

static int take_setting(void *user, const ft_row *row)
{
    struct settings_there *s = user;
    const size_t len = strlen(s->all);

    if (s->n && strcmp(s->last, row->key.setting) == 0)
        return 0;
    snprintf(s->last, sizeof(s->last), "%s", row->key.setting);
    snprintf(s->all + len, sizeof(s->all) - len, "%s%s", s->n++ ? ", " : "",
             *s->last ? s->last : "none");
    return 0;
}

/* Rows of others' files often do not say how many threads. FT_ENOTFOUND: there are
 * none; FT_EUNSUPPORTED: there are some at other settings, of which one has to be
 * named. */
static ft_status train_without_setting(ft_predictor **out, ft_store *store,
                                       ft_train_options *how, ft_error *err)
{
    struct settings_there s = {0};
    ft_status st;

    how->filter.setting = "";
    st = ft_store_each(store, &how->filter, 0, take_setting, &s, err);
    if (st || !s.n)
        return st ? st : FT_ENOTFOUND;
    if (s.n == 1 && !*s.last)
        return ft_predictor_train(out, store, how, err);
    snprintf(err->msg, sizeof(err->msg),
             "the store holds measurements of %s with engine %s at these settings: %s; "
             "--setting names one",
             how->filter.device, how->filter.engine, s.all);
    return FT_EUNSUPPORTED;
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
        how.filter.engine = o->engine ? o->engine : FT_DEFAULT_ENGINE;
        how.filter.setting = o->setting ? o->setting : setting;
        how.filter.device =
            is_elsewhere(o) ? o->device : ft_device_get(local)->fingerprint;
        st = ft_predictor_train(out, store, &how, err);
        if (st == FT_ENOTFOUND && is_elsewhere(o) && !o->setting && !o->threads)
            st = train_without_setting(out, store, &how, err);
        if (!st)
            tell_slow(c, store, &how);
    }
    ft_device_free(local);
    return st;
}

/* What brings in the rows that c->err misses: where those are another device's, there.
 */
static void say_collect(ft__cli *c, const struct train_options *o)
{
    const char *engine = o->engine ? o->engine : o->family ? NULL : FT_DEFAULT_ENGINE;
    char hint[2 * FT__PATH_MAX];
    size_t n = strlen(c->err.msg);

    ft__collect_hint(c, hint, sizeof(hint), engine, o->threads);
    snprintf(c->err.msg + n, sizeof(c->err.msg) - n, "; %s makes some%s%s", hint,
             is_elsewhere(o) ? " there" : "",
             o->family ? "" : ", --family learns from whatever devices it holds");
}

static int train(ft__cli *c, ft_predictor **out, const char *store_path,
                 const struct train_options *o, const ft_train_options *common)
{
    ft_train_options how = *common;
    ft_error *err = &c->err;
    int code = FT__EXIT_GOOD;
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
    /* What no engine measures is no reason to collect. */
    if (st == FT_ENOTFOUND && from_store(o) && !o->family)
        code = ft__engine_needed(c, o->engine);
    if (!code && st == FT_ENOTFOUND && from_store(o) && !o->networks)
        say_collect(c, o);
    return code ? code : ft__cli_check_asked(c, st);
}

static int check(ft__cli *c, const struct train_options *o)
{
    int layout;

    if (o->setting && !*o->setting)
        return ft__usage(c,
                         "--setting is empty; rows that have none need no --setting");
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

/* ft_train_options.importance; user: a ft__importances that began as {0}. */
static void take_importance(void *user, const ft_regressor_attributes *of)
{
    ft__importances *all = user;
    ft__importance_row *row = realloc(all->row, (all->n + of->n + 1) * sizeof(*row));

    if (!row) {
        all->bad = true;
        return;
    }
    all->row = row;
    for (size_t i = 0; i < of->n; i++) {
        const ft_attribute *a = &of->attribute[i];
        ft__importance_row *r = &row[all->n];

        if (a->worth.increase == 0)
            continue;
        *r = (ft__importance_row){
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
    else if (!many && o->engine && strcmp(o->engine, FT_DEFAULT_ENGINE) != 0)
        ft__put_word(stdout, " --engine ", o->engine);
    if (!by_path && !many && o->threads > 1)
        printf(" --threads %" PRIu64, o->threads);
    putchar('\n');
}

static int save(ft__cli *c, const ft_predictor *p, const char *path,
                const struct train_options *o, const ft__importances *worth)
{
    bool printed;
    ft_status st = ft_predictor_save(p, path, &c->err);

    if (st)
        return ft__cli_check(c, st);
    printed = ft__predictor_print(c, p, path, worth);
    if (!c->json && !c->csv)
        print_next(o, path);
    return ft__cli_done(c, printed);
}

/* *p by what the options say; to be freed where it is good. */
static int learn(ft__cli *c, ft_predictor **p, const struct train_options *o,
                 const char *engine, ft__importances *worth)
{
    ft_train_options how = {.seed = o->seed ? o->seed : 1,
                            .threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
                            .mix = o->mix,
                            .tune = o->tune,
                            .single = o->layout && strcmp(o->layout, "single") == 0,
                            .forget = o->forget,
                            .other_boards = o->other_boards,
                            .where = o->where,
                            .networks = o->networks,
                            .find = ft_network_lists_find,
                            .kernels = o->kernels,
                            .without_launches = o->without.v,
                            .n_without_launches = o->kernels ? o->without.n : 0,
                            .importance = o->importance ? take_importance : NULL,
                            .importance_user = worth,
                            .most_bytes = (size_t)o->size * 1000000,
                            .log = &c->log};
    char store[FT__PATH_MAX], data[FT__PATH_MAX];
    ft_network_lists *lists = NULL;
    ft__ops without = {0};
    int code = ft__methods_parse(c, &how.methods, o->methods);

    ft__path_data(c, data);
    how.data_dir = data;
    ft__path_store(c, store);
    if (!code && from_store(o))
        code = ft__store_needed(c, store, o->engine, o->threads);
    if (!code && o->networks)
        code = ft__lists_open(c, &lists, o->lists, false);
    how.find_user = lists;
    if (!code)
        code = leave_out(c, &without, o, engine);
    how.without = without.op;
    how.n_without = without.n;
    if (!code)
        code = train(c, p, store, o, &how);
    ft__ops_free(&without);
    ft_network_lists_free(lists);
    return code;
}

static int run(ft__cli *c, const void *user)
{
    const struct train_options *o = user;
    const char *engine = o->engine ? o->engine : FT_DEFAULT_ENGINE;
    char path[FT__PATH_MAX];
    ft__importances worth = {0};
    ft_predictor *p = NULL;
    int code = check(c, o);

    if (!code)
        code = learn(c, &p, o, engine, &worth);
    if (o->family)
        ft__path_predictor(path, NULL, 0);
    else
        ft__path_predictor(path, o->kernels ? "kernels" : engine, o->threads);
    if (!code)
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
    .summary = "train a predictor on the measurements in the store",
    .more = "",
    .examples =
        "  foretell train\n"
        "  foretell train -o server.ftp --engine onednn --threads 8\n"
        "  foretell train --without vgg16.onnx --forget -o honest.ftp\n"
        "  foretell train --add server.ftp -o more.ftp\n"
        "  foretell train --importance\n"
        "  foretell train --family --where 'device=a30,l4 phase=forward' -o gpus.ftp\n"
        "  foretell train --family --where 'device=a30 phase=forward_backward' "
        "--networks 'device=a30 phase=step'\n"
        "  foretell train --kernels a30.jsonl,a100.jsonl\n",
    .has_csv = true,
    .options_size = sizeof(struct train_options),
    .options = options,
    .run = run,
};
