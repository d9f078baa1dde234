/* foretell collect: measure operations into the store. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/measure/modules.h"
#include "cli/session.h"
#include "foretell/measure.h"
#include "foretell/names.h"
#include "foretell/store.h"
#include "report/units.h"

struct collect_options {
    ft__model_options model;
    const char *engine;
    uint64_t threads;
    bool quick;
    double budget_s, op_time_s;
    ft__texts without;
    bool again;
    const char *batches;
    uint64_t rounds, redo;
    const char *repeat_share, *choose, *until_error;
    const char *power, *power_share;
    double power_time_s;
    ft__texts notes;
    bool lowered, whole;
    const char *export;
    ft_step_names step;
    ft__clock_steps_options sweep;
};

static const ft__option options[] = {
    FT__ENGINE_OPTIONS(struct collect_options, "what runs the operations; ",
                       "threads it may use; "),
    FT__FLAG(struct collect_options, quick, "quick",
             "a representative set: models and workloads of the data folder"),
    FT__SECONDS(struct collect_options, budget_s, "budget", "TIME",
                "stop after this long (--quick: 60s unless said otherwise)"),
    FT__SECONDS(struct collect_options, op_time_s, "op-time", "TIME",
                "how long to measure each operation; the budget shared out unless said "
                "otherwise"),
    FT__TEXTS(struct collect_options, without, "without", "MODEL",
              "leave out what only this model needs, to test on it later"),
    FT__FLAG(struct collect_options, again, "again",
             "measure also what the store already holds"),
    FT__TEXT(struct collect_options, batches, "batches", "N,N,...",
             "models at each of these batch sizes, in ascending order; after a failure "
             "the larger ones of an operation are left out"),
    FT__COUNT(
        struct collect_options, rounds, "rounds", "N",
        "repeats of each operation, with others between them; 5 unless said otherwise"),
    FT__COUNT(struct collect_options, redo, "redo", "N",
              "disturbed repeats of an operation are run again, at most so many; as "
              "many as --rounds, fewer where the machine is never quiet"),
    FT__TEXT(
        struct collect_options, repeat_share, "repeat-share", "P%",
        "how many of the operations are measured once more at the end, at least 5; 3%"),
    FT__TEXT(struct collect_options, choose, "choose", "NAME",
             "acquisition criterion: active (the default; largest expected reduction "
             "of the error), spread (farthest from what was measured) or random"),
    FT__TEXT(struct collect_options, until_error, "until-error", "P%",
             "stop when operations held out of what was measured are predicted so well "
             "(MAPE)"),
    FT__TEXT(struct collect_options, power, "power", "SOURCES",
             "power and energy too: all, or sources as foretell doctor names them"),
    FT__TEXT(struct collect_options, power_share, "power-share", "P%",
             "of the operations, the heaviest first; 10%"),
    FT__SECONDS(struct collect_options, power_time_s, "power-time", "TIME",
                "how long an operation is looped for that; 5s"),
    FT__TEXTS(struct collect_options, notes, "note", "NAME=VALUE",
              "kept with every measurement, among its conditions"),
    FT__FLAG(
        struct collect_options, lowered, "lowered",
        "lists hold operations as the engine runs them: they are left as they are"),
    FT__FLAG(
        struct collect_options, whole, "whole",
        "models are run whole, --op-time each, and none of their operations alone"),
    FT__TEXT(struct collect_options, export, "export", "FOLDER",
             "measure nothing: compile into this folder what a device without a "
             "compiler is to measure (--engine tvm)"),
    FT__GROUP(struct collect_options, sweep, ft__clock_steps_table),
    FT__NETWORK_OPTIONS(struct collect_options),
    {0},
};

/* Operations wanted from models and from lists, which `--without` treats differently.
 */
struct wanted {
    struct gathered *to;
    ft__ops models, lists;
    ft_step step; /* of models; lists are as they are */
    uint32_t policy;
    uint64_t batch[FT__MAX_BATCHES]; /* one at least; 0: as the model has it */
    size_t n_batches;
};

static bool is_list(const char *path)
{
    const char *dot = strrchr(path, '.');

    return strcmp(path, "-") == 0 || (dot && strcmp(dot, ".ops") == 0);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static bool is_left_out(const struct collect_options *o, const char *path)
{
    for (size_t i = 0; i < o->without.n; i++)
        if (same_file(o->without.v[i], path))
            return true;
    return false;
}

enum { MOST_NETWORKS = 3, MOST_WHOLE = 100 };
struct gathered {
    ft__ops ops;
    ft_collect_network network[MOST_WHOLE + 1]; /* those of least work, it first */
    double flops[MOST_WHOLE + 1];
    size_t n_networks;
};

static void network_free(ft_collect_network *w)
{
    free((char *)w->name);
    ft_graph_free((ft_graph *)w->graph);
}

static void gathered_free(struct gathered *to)
{
    for (size_t i = 0; i < to->n_networks; i++)
        network_free(&to->network[i]);
    ft__ops_free(&to->ops);
}

/* In the order of their work, the largest of too many dropped. */
static int add_network(ft__cli *c, struct gathered *to, const char *path,
                       const ft__model_options *how, size_t most)
{
    ft_collect_network w = {.name = NULL};
    ft_graph *g = NULL;
    ft_totals sums;
    size_t at = to->n_networks;
    int code = ft__model_read(c, &g, path, how);

    if (code)
        return code;
    w.graph = g;
    if (g->mode == FT_MODE_TRAINING) {
        network_free(&w);
        return FT__EXIT_GOOD;
    }
    w.name = strdup(path);
    if (!w.name) {
        network_free(&w);
        return ft__cli_done(c, false);
    }
    ft_graph_totals(g, &sums);
    for (; at > 0 && sums.flops < to->flops[at - 1]; at--) {
        to->network[at] = to->network[at - 1];
        to->flops[at] = to->flops[at - 1];
    }
    to->network[at] = w;
    to->flops[at] = sums.flops;
    if (to->n_networks < most)
        to->n_networks++;
    else
        network_free(&to->network[most]);
    return FT__EXIT_GOOD;
}

/* The sizes and phases of a list stand in its lines. */
static const ft__model_options as_it_is = {0};
static const ft_step none = {0};

static int add_ops(ft__cli *c, const struct wanted *w, ft__ops *to, const char *path,
                   const struct collect_options *o)
{
    ft__model_options how = o->model;
    int code = FT__EXIT_GOOD;

    if (is_list(path))
        return ft__model_add_ops(c, to, path, &as_it_is, o->lowered ? NULL : &none,
                                 w->policy);
    for (size_t i = 0; i < w->n_batches && !code; i++) {
        how.batch = w->batch[i];
        code = ft__model_add_ops(c, to, path, &how, &w->step, w->policy);
    }
    return code;
}

static int add_wanted(ft__cli *c, struct wanted *w, const char *path,
                      const struct collect_options *o)
{
    ft__model_options how = o->model;
    const bool whole = o->whole && !is_list(path);
    int code = FT__EXIT_GOOD;

    if (is_left_out(o, path))
        return FT__EXIT_GOOD;
    if (whole && (w->step.mode != FT_MODE_INFERENCE ||
                  w->to->n_networks + w->n_batches > MOST_WHOLE))
        return ft__usage(c, "--whole is of inference, of %d networks at most",
                         MOST_WHOLE);
    for (size_t i = 0; i < (whole ? w->n_batches : 1) && !code; i++) {
        how.batch = w->batch[i];
        if (!is_list(path) && w->step.mode == FT_MODE_INFERENCE)
            code =
                add_network(c, w->to, path, &how, whole ? MOST_WHOLE : MOST_NETWORKS);
    }
    if (code || whole)
        return code;
    return add_ops(c, w, is_list(path) ? &w->lists : &w->models, path, o);
}

static int is_model(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');

    return is_list(e->d_name) || (dot && strcmp(dot, ".onnx") == 0);
}

/* Every model in a folder; a folder that is not there is empty. */
static int add_folder(ft__cli *c, struct wanted *w, const char *dir,
                      const struct collect_options *o)
{
    struct dirent **list;
    int code = FT__EXIT_GOOD, n = scandir(dir, &list, is_model, alphasort);

    for (int i = 0; i < n; i++) {
        char path[FT__PATH_MAX + 512];

        snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
        if (!code)
            code = add_wanted(c, w, path, o);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    return code;
}

static int add_quick(ft__cli *c, struct wanted *w, const struct collect_options *o)
{
    char data[FT__PATH_MAX], dir[FT__PATH_MAX + 16];
    int code;

    ft__path_data(c, data);
    snprintf(dir, sizeof(dir), "%s/models", data);
    code = add_folder(c, w, dir, o);
    snprintf(dir, sizeof(dir), "%s/workloads", data);
    if (!code)
        code = add_folder(c, w, dir, o);
    if (!code && !w->models.n && !w->lists.n)
        code =
            ft__cli_exit(c, FT__EXIT_MISSING,
                         "no models in %s: say --data-dir DIR, or name models", data);
    return code;
}

static bool has_op(const ft__ops *s, const ft_op *op)
{
    for (size_t i = 0; i < s->n; i++)
        if (ft_op_equal(&s->op[i], op))
            return true;
    return false;
}

/* Drop from the lists what a left out model needs and no other model does. */
static void subtract(struct wanted *w, const ft__ops *out)
{
    ft__ops *l = &w->lists;
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (has_op(out, &l->op[i]) && !has_op(&w->models, &l->op[i]))
            continue;
        l->op[n] = l->op[i];
        l->count[n++] = l->count[i];
    }
    l->n = n;
}

/* False: out of memory. */
static bool join(ft__ops *out, const struct wanted *w)
{
    const ft__ops *part[] = {&w->models, &w->lists};
    const size_t n = w->models.n + w->lists.n;

    *out = (ft__ops){.op = malloc((n + 1) * sizeof(*out->op)),
                     .count = malloc((n + 1) * sizeof(*out->count)),
                     .cap = n + 1};
    if (!out->op || !out->count)
        return false;
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < part[p]->n; i++) {
            out->op[out->n] = part[p]->op[i];
            out->count[out->n++] = part[p]->count[i];
        }
    return true;
}

static int gather(ft__cli *c, struct gathered *all, const struct collect_options *o,
                  uint32_t policy)
{
    struct wanted w = {.to = all, .policy = policy};
    ft__ops out = {0};
    int code = ft__step_parse(c, &w.step, &o->step);

    if (!code)
        code = ft__batches_parse(c, w.batch, &w.n_batches, o->batches, &o->model);
    for (size_t i = 0; i < c->args.n && !code; i++)
        code = add_wanted(c, &w, c->args.v[i], o);
    if (!code && o->quick)
        code = add_quick(c, &w, o);
    for (size_t i = 0; i < o->without.n && !code; i++)
        code = add_ops(c, &w, &out, o->without.v[i], o);
    if (!code) {
        subtract(&w, &out);
        if (!join(&all->ops, &w))
            code = ft__cli_done(c, false);
    }
    ft__ops_free(&w.models);
    ft__ops_free(&w.lists);
    ft__ops_free(&out);
    return code;
}

static bool print_json(const ft_collect_report *r, const char *setting,
                       const char *store)
{
    return ft__json_print_take(
        ft__json(
            "store:s setting:s wanted:u present:u measured:u refused:u failed:u left:u "
            "seconds:g too_large:u skipped:u repeated:u powered:u disturbed:u redone:u "
            "outliers:u why_no_power:s error:g reached:b networks:u doubted:u",
            store, setting, r->wanted, r->present, r->measured, r->refused, r->failed,
            r->left, r->seconds, r->too_large, r->skipped, r->repeated, r->powered,
            r->disturbed, r->redone, r->outliers, r->why_no_power, r->error, r->reached,
            r->networks, r->doubted),
        stdout);
}

static void print_text(const ft__cli *c, const ft_collect_report *r,
                       const ft_session *s, const char *store)
{
    printf("%s measured in %s with %s %s, %s\n",
           ft__text_counted(r->measured, "operation").s, ft__text_seconds(r->seconds).s,
           ft_session_get(s)->engine, ft_session_get(s)->engine_version,
           ft_session_get(s)->setting);
    if (r->networks)
        printf("%s run whole: what this machine takes beside operations\n",
               ft__text_counted(r->networks, "network").s);
    printf("%zu wanted: %zu were in the store before, %zu the engine does not run, %zu "
           "failed, %zu left\n",
           r->wanted, r->present, r->refused, r->failed, r->left);
    if (r->too_large || r->skipped)
        printf("%zu too large, for a smaller one had no memory; %zu not tried, for a "
               "smaller one failed\n",
               r->too_large, r->skipped);
    if (!isnan(r->error))
        printf("operations held out of what was measured are predicted with a mean "
               "error of %s%s\n",
               ft__text_percent(r->error).s,
               r->reached ? ": that is enough" : ", more than asked for");
    if (r->repeated)
        printf("%zu measured once more; foretell data show says how well they agree\n",
               r->repeated);
    if (r->doubted)
        printf("%zu measured once more, for they scatter or disagree with others of "
               "their kind\n",
               r->doubted);
    if (r->redone)
        printf("%zu rounds redone for other load or clocks; %zu measurements stay "
               "marked\n",
               r->redone, r->disturbed);
    if (r->powered)
        printf("%zu with power and energy\n", r->powered);
    if (r->why_no_power[0])
        printf("no power: %s\n", r->why_no_power);
    printf("store: %s\n", store);
    fputs("next: ", stdout);
    if (r->left)
        fputs("the same command again goes on with what is left", stdout);
    if (r->left && r->measured + r->present)
        fputs(", or ", stdout);
    if (!r->left || r->measured + r->present)
        ft__print_train(c, s);
    putchar('\n');
}

/* "3%" or "0.03"; none given: 0, which means the usual. What is given as 0 means
 * none. */
static int read_share(ft__cli *c, double *out, const char *option, const char *text)
{
    *out = 0;
    if (!text)
        return FT__EXIT_GOOD;
    if (!ft__share_from_text(out, text) || *out > 1)
        return ft__usage(c, "--%s %s: a share like 3%% or 0.03", option, text);
    if (!(*out > 0))
        *out = -1;
    return FT__EXIT_GOOD;
}

static int read_choose(ft__cli *c, ft_criterion *out, const char *text)
{
    int by, code = ft__name_parse(c, &by, "choose", text, FT_NAMES_CRITERION);

    *out = (ft_criterion)by;
    return code;
}

/* What an interrupted collection keeps: of this setting, and of those before it. */
static const volatile ft_collect_report *volatile under_way;
static volatile size_t kept_before;

static void say_kept(int signal)
{
    static const char before[] =
        "\nforetell collect: interrupted; operations measured, which are kept: ";
    static const char behind[] = "; the same command again goes on with what is left\n";
    size_t n = kept_before + (under_way ? under_way->measured : 0);
    char digits[24], *at = digits + sizeof(digits);

    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    if (write(STDERR_FILENO, before, sizeof(before) - 1) < 0 ||
        write(STDERR_FILENO, at, (size_t)(digits + sizeof(digits) - at)) < 0 ||
        write(STDERR_FILENO, behind, sizeof(behind) - 1) < 0)
        errno = 0;       /* nobody reads it */
    (void)raise(signal); /* ends it as without this, when this returns */
}

/* At Ctrl-C, unless it is ignored. */
static void tell_when_interrupted(void)
{
    struct sigaction how = {.sa_handler = say_kept, .sa_flags = (int)SA_RESETHAND},
                     before;

    sigemptyset(&how.sa_mask);
    if (!sigaction(SIGINT, NULL, &before) && before.sa_handler != SIG_IGN)
        (void)sigaction(SIGINT, &how, NULL);
}

static int collect(ft__cli *c, ft_session *s, const struct gathered *all,
                   const ft_collect_options *how, const char *why_no_power)
{
    char path[FT__PATH_MAX];
    ft_collect_report report = {.measured = 0};
    ft_store *store = NULL;
    bool printed = true;
    ft_status st;
    int code = ft__home_needed(c, c->store);

    ft__path_store(c, path);
    if (code)
        return code;
    st = ft_store_open(&store, path, FT_STORE_WRITE, &c->err);
    under_way = &report;
    if (!st)
        st = ft_collect(&report, s, store, all->ops.op, all->ops.count, all->ops.n, how,
                        &c->err);
    ft_store_close(store);
    under_way = NULL; /* first: an interrupt between them counts none twice */
    kept_before += report.measured;
    ft__path_store_shown(c, path);
    if (st)
        return ft__cli_check_asked(c, st);
    if (!report.why_no_power[0])
        snprintf(report.why_no_power, sizeof(report.why_no_power), "%s", why_no_power);
    if (c->json)
        printed = print_json(&report, ft_session_get(s)->setting, path);
    else
        print_text(c, &report, s, path);
    return ft__cli_done(c, printed);
}

static int measure(ft__cli *c, ft_session *s, const struct gathered *all,
                   const struct collect_options *o, ft_monitor *monitor)
{
    ft_collect_options how = {.budget_s = o->budget_s,
                              .op_time_s = o->op_time_s,
                              .again = o->again,
                              .rounds = (uint32_t)o->rounds,
                              .max_redone = (uint32_t)o->redo,
                              .ascending = o->batches != NULL,
                              .power_time_s = o->power_time_s,
                              .command = c->line,
                              .monitor = monitor,
                              .log = &c->log,
                              .networks = all->network,
                              .n_networks = all->n_networks,
                              .whole = o->whole,
                              .note = o->notes.v,
                              .n_notes = o->notes.n};
    ft_error no_power = {0};
    int code = read_share(c, &how.repeat_share, "repeat-share", o->repeat_share);

    if (!code)
        code = read_share(c, &how.power_share, "power-share", o->power_share);
    if (!code)
        code = read_share(c, &how.until_error, "until-error", o->until_error);
    if (!code && o->choose)
        code = read_choose(c, &how.choose, o->choose);
    if (o->quick && !(how.budget_s > 0))
        how.budget_s = 60;
    if (!code && o->power)
        code = ft__power_open(c, &how.meter, o->power, &no_power);
    if (!code)
        code = collect(c, s, all, &how, no_power.msg);
    ft_meter_close(how.meter);
    return code;
}

/* The operations are gathered at the first setting: they are the same at all. */
static int collect_at(ft__cli *c, const struct collect_options *o, struct gathered *all,
                      ft__clock_steps *w, size_t i)
{
    char engine[2 * FT__PATH_MAX];
    ft__modules m = {.folder = o->export,
                     .engine = o->engine,
                     .threads = o->threads,
                     .ops = &all->ops,
                     .files = &c->args,
                     .how = &o->model};
    ft_monitor *monitor = NULL;
    ft_session *s;
    int code = o->export ? ft__modules_engine(c, engine, sizeof(engine), &m) : 0;

    if (!code)
        code =
            ft__session_open(c, &s, o->export ? engine : o->engine, o->threads, w, i);
    if (code)
        return code;
    if (i == 0)
        code = gather(c, all, o, ft_session_get(s)->policy);
    if (!code && o->export) {
        code = ft__modules_write(c, s, &m);
    } else if (!code) {
        /* Short of memory nothing watches the device. */
        (void)ft_monitor_open(&monitor, w->device, &w->machine.how, NULL);
        ft__clock_steps_part(c, w, i);
        code = measure(c, s, all, o, monitor);
    }
    ft_monitor_close(monitor);
    ft_session_close(s);
    return code;
}

static int run(ft__cli *c, const void *user)
{
    const struct collect_options *o = user;
    struct gathered all = {.n_networks = 0};
    ft__clock_steps w;
    int code;

    if (!c->args.n && !o->quick)
        return ft__usage(c, "name models or lists of operations, or say --quick");
    code = ft__clock_steps_parse(c, &w, &o->sweep, o->engine);
    if (!c->json && !o->export)
        tell_when_interrupted();
    for (size_t i = 0; !code && i < w.n; i++)
        code = collect_at(c, o, &all, &w, i);
    if (!code)
        ft__clock_steps_part(c, &w, w.n);
    gathered_free(&all);
    return code;
}

const ft__command ft__collect_command = {
    .name = "collect",
    .arguments = "[MODEL|OPS...]",
    .summary = "measure operations on this machine into the store",
    .more =
        "The operations of the given models are measured, the most informative first.\n"
        "What is measured is kept at once: a collection that is stopped goes on where "
        "it\n"
        "was when it is started again.",
    .examples = "  foretell collect --quick\n"
                "  foretell collect resnet50.onnx vgg16.onnx --budget 10min\n"
                "  foretell collect --quick --without vgg16.onnx\n"
                "  sudo foretell collect --quick --clocks 1200,1800,2400\n"
                "  foretell collect resnet50.onnx --batches 1,2,4,8,16,32\n"
                "  foretell collect resnet18.pt2 --engine torch --mode training\n"
                "  foretell collect resnet50.onnx --whole --batches 1,8\n"
                "  foretell collect resnet50.onnx --export modules --engine \\\n"
                "      tvm,target=llvm:mtriple=aarch64-linux-gnu:mcpu=cortex-a72\n",
    .most_args = SIZE_MAX,
    .options_size = sizeof(struct collect_options),
    .options = options,
    .run = run,
};
