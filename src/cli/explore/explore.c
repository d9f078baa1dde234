/* foretell explore: run a design space, and say what came of it. */
#include "cli/explore/explore.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/names.h"

enum { PLAN_MAX = 256, DEFAULT_POINTS = 40, DEFAULT_TOP = 12, VERIFIED = 3 };

struct explore_options {
    const char *design, *search;
    uint64_t points, seed, resolution, levels, max_runs;
    double budget_s;
    bool retry;
    const char *power;
    bool no_power;
    const char *build_dir;
    uint64_t top;
    const char *html, *notebook, *shard, *name, *only;
    ft__texts notes;
};

static const ft__option options[] = {
    FT__TEXT(struct explore_options, design, "design", "D",
             "full (the default), fractional, random, latin, sobol"),
    FT__TEXT(struct explore_options, search, "search", "S",
             "look for the best instead: model, nsga2, random"),
    {"points", 'n', FT__OPT_COUNT, offsetof(struct explore_options, points), "N",
     "at most so many points; 40 unless the design is full or fractional", NULL},
    FT__COUNT(struct explore_options, seed, "seed", "N", "of the random choices; 1"),
    FT__COUNT(struct explore_options, resolution, "resolution", "R",
              "of a fractional design: 3, 4 (the default) or 5"),
    FT__COUNT(struct explore_options, levels, "levels", "N",
              "values of a real parameter in a full design, 5"),
    FT__COUNT(struct explore_options, max_runs, "max-runs", "N",
              "stop after so many runs of the command"),
    FT__SECONDS(struct explore_options, budget_s, "budget", "TIME",
                "stop after this time"),
    FT__FLAG(struct explore_options, retry, "retry", "run once more what failed"),
    FT__TEXT(struct explore_options, power, "power", "SOURCES",
             "where power is read; every source that works"),
    FT__FLAG(struct explore_options, no_power, "no-power", "do not measure energy"),
    FT__TEXT(struct explore_options, build_dir, "build-dir", "DIR",
             "where builds are kept; STORE.builds unless said otherwise"),
    FT__COUNT(struct explore_options, top, "top", "N",
              "report: points of a front that are shown, 12"),
    FT__OUTPUT(struct explore_options, html, "html", "FILE",
               "write the report there as well, a page with charts"),
    FT__OUTPUT(struct explore_options, notebook, "notebook", "FILE",
               "and as a Jupyter notebook, with its output"),
    FT__TEXT(struct explore_options, shard, "shard", "I/N",
             "front: of the I-th of N parts of the points alone"),
    FT__TEXT(struct explore_options, name, "name", "NAME",
             "results are kept under this name, not the file's: one for each machine"),
    FT__TEXT(struct explore_options, only, "only", "N,N,...",
             "run: these points of the design alone, counted from 1"),
    FT__TEXTS(struct explore_options, notes, "note", "NAME=VALUE",
              "run: kept with every run, among its conditions"),
    {0},
};

static int plan_of(ft__cli *c, ft_explore_options *how, const struct explore_options *o)
{
    int code, d = FT_DESIGN_FULL, s = FT_SEARCH_COUNT;

    if (o->design && o->search)
        return ft__usage(c, "--design and --search exclude each other");
    if (o->resolution && (o->resolution < 3 || o->resolution > 5))
        return ft__usage(c, "--resolution is 3, 4 or 5");
    code = o->search   ? ft__name_parse(c, &s, "search", o->search, FT_NAMES_SEARCHER)
           : o->design ? ft__name_parse(c, &d, "design", o->design, FT_NAMES_DESIGN)
                       : FT__EXIT_GOOD;
    if (code)
        return code;
    how->searcher = (ft_searcher)s;
    how->design.design = (ft_design)d;
    how->design.n = o->points;
    how->points = o->points;
    if (!o->points && !o->search && how->design.design != FT_DESIGN_FULL &&
        how->design.design != FT_DESIGN_FRACTIONAL)
        how->design.n = DEFAULT_POINTS;
    how->design.seed = o->seed ? o->seed : 1;
    how->design.resolution = (uint32_t)o->resolution;
    how->design.levels = (uint32_t)o->levels;
    return FT__EXIT_GOOD;
}

/* "3,7,11"; the caller's to free(). */
static int read_only(ft__cli *c, uint64_t **out, size_t *n, const char *text)
{
    const char *at = text;
    char *end;

    *n = 0;
    *out = text ? malloc((strlen(text) + 1) * sizeof(**out)) : NULL;
    if (text && !*out)
        return ft__cli_done(c, false);
    while (at && *at) {
        const unsigned long long v = strtoull(at, &end, 10);

        if (*at < '0' || *at > '9' || v == 0 || (*end && *end != ','))
            break;
        (*out)[(*n)++] = v;
        at = *end ? end + 1 : end;
    }
    return text && (*at || *n == 0)
               ? ft__usage(c, "--only %s: points are numbered from 1: N,N,...", text)
               : FT__EXIT_GOOD;
}

/* The same space, store and name asked otherwise, as it can be typed. */
static void print_command(FILE *fp, const ft__cli *c, const struct explore_options *o,
                          const char *verb)
{
    char shown[FT__PATH_MAX];

    fprintf(fp, "foretell explore %s", verb);
    ft__put_word(fp, " ", c->args.v[1]);
    if (o->name)
        ft__put_word(fp, " --name ", o->name);
    if (!c->store)
        return;
    ft__path_store_shown(c, shown);
    ft__put_word(fp, " --db ", shown);
}

static int not_run_yet(ft__cli *c, const struct explore_options *o, const char *name)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    int code;

    if (!fp)
        return ft__cli_done(c, false);
    print_command(fp, c, o, "run");
    code = fclose(fp)
               ? ft__cli_done(c, false)
               : ft__cli_exit(
                     c, FT__EXIT_MISSING,
                     "nothing of %s was run yet as the file stands; begin with: %s",
                     name, text);
    free(text);
    return code;
}

static int none_ran(ft__cli *c, const ft__explored *e)
{
    return ft__cli_exit(c, FT__EXIT_NO,
                        "%s failed, so nothing is known; resume with --retry runs %s "
                        "again, once the reason is mended",
                        e->failed == 1 ? "the only run" : "every run",
                        e->failed == 1 ? "it" : "them");
}

/* The plan of before in place of what was not said now; texts stay in buf. */
static int plan_again(ft__cli *c, struct explore_options *o, char *buf,
                      const ft_exploration *x, ft_store *store)
{
    unsigned long long n[4] = {0};
    char *rest = buf, *design, *search;
    ft_status st = ft_explore_plan(buf, PLAN_MAX, x, store, &c->err);

    if (st)
        return ft__cli_check(c, st);
    design = strtok_r(rest, " ", &rest);
    search = strtok_r(rest, " ", &rest);
    if (!design || !search ||
        sscanf(rest, "%llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3]) != 4)
        return not_run_yet(c, o, ft_exploration_get(x)->name);
    if (!o->design && !o->search) {
        o->design = strcmp(design, "-") == 0 ? NULL : design;
        o->search = strcmp(search, "-") == 0 ? NULL : search;
    }
    o->points = o->points ? o->points : n[0];
    o->seed = o->seed ? o->seed : n[1];
    o->resolution = o->resolution ? o->resolution : n[2];
    o->levels = o->levels ? o->levels : n[3];
    return FT__EXIT_GOOD;
}

static bool wants_energy(const ft_exploration *x)
{
    const ft_objective *o = ft_exploration_get(x)->objective;
    size_t n = ft_exploration_get(x)->n_objectives;

    for (size_t k = 0; k < n; k++)
        if (o[k].what == FT_MEASURED_ENERGY || o[k].what == FT_MEASURED_POWER)
            return true;
    return false;
}

static int open_meter(ft__cli *c, ft_explore_options *how,
                      const struct explore_options *o, const ft_exploration *x,
                      ft_error *why)
{
    ft_meter_options power = {.sources = o->power};

    if (!wants_energy(x))
        return FT__EXIT_GOOD;
    if (o->no_power) {
        how->no_energy = "--no-power was given";
        return FT__EXIT_GOOD;
    }
    if (!ft_meter_open(&how->meter, &power, why))
        return FT__EXIT_GOOD;
    if (o->power)
        return ft__cli_fail(c, why->status, why);
    how->no_energy = why->msg;
    ft__cli_exit(c, FT__EXIT_GOOD, "energy and power are unavailable: %s", why->msg);
    return FT__EXIT_GOOD;
}

static void tell(const ft__cli *c, const struct explore_options *o,
                 const ft_explored *e, const ft_exploration *x)
{
    size_t workloads = ft_exploration_get(x)->n_workloads;

    fprintf(stderr, "%s: %s", ft_exploration_get(x)->name,
            ft__text_counted(e->points, "point").s);
    if (workloads > 1)
        fprintf(stderr, " with %zu workloads each", workloads);
    fprintf(stderr, ", %s now, %zu failed, %zu left\n",
            ft__text_counted(e->runs, "run").s, e->failed, e->left);
    if (!e->left)
        return;
    fputs("go on with: ", stderr);
    print_command(stderr, c, o, "resume");
    fputc('\n', stderr);
}

static int explore(ft__cli *c, const struct explore_options *o, const ft_exploration *x,
                   ft_store *store, const char *store_path)
{
    char build_dir[FT__PATH_MAX + 128], self[FT__PATH_MAX], plan[PLAN_MAX];
    ft_explore_options how = {.retry = o->retry,
                              .max_runs = o->max_runs,
                              .time_s = o->budget_s,
                              .plan = plan,
                              .command = c->line,
                              .self = self,
                              .log = &c->log};
    ft__this_machine machine;
    ft_error why = {0};
    uint64_t *only = NULL;
    ft_explored done;
    ft_status st;
    int code = plan_of(c, &how, o);

    if (!code && o->only && o->search)
        code = ft__usage(c, "--only is of a design, not of a --search");
    if (!code)
        code = read_only(c, &only, &how.n_only, o->only);
    if (!code)
        code = open_meter(c, &how, o, x, &why);
    if (code) {
        free(only);
        return code;
    }
    how.only = only;
    how.note = o->notes.v;
    how.n_notes = o->notes.n;
    snprintf(plan, sizeof(plan), "%s %s %llu %llu %llu %llu",
             o->design ? o->design : "-", o->search ? o->search : "-",
             (unsigned long long)o->points, (unsigned long long)o->seed,
             (unsigned long long)o->resolution, (unsigned long long)o->levels);
    snprintf(build_dir, sizeof(build_dir), "%s.builds",
             ft_store_shown(NULL, 0, store_path) ? "exploration" : store_path);
    how.build_dir = o->build_dir ? o->build_dir : build_dir;
    ft__path_self(self);
    ft__machine_open(&machine, c, NULL);
    how.settings = &machine.how;
    st = ft_explore(&done, x, store, &how, &c->err);
    ft_meter_close(how.meter);
    free(only);
    if (st)
        return ft__cli_check_asked(c, st);
    ft__bar_draw(&c->bar, 0, 0, "");
    if (!c->quiet)
        tell(c, o, &done, x);
    return FT__EXIT_GOOD;
}

static int show(ft__cli *c, const struct explore_options *o, const ft__explored *e)
{
    return ft__explored_show(c, e, o->top ? o->top : DEFAULT_TOP, o->html, o->notebook);
}

static bool find_unknown(ft__explored *e)
{
    ft__rows r = {.point = malloc((e->t.n + 1) * sizeof(*r.point)),
                  .value = malloc((e->t.n + 1) * sizeof(*r.value))};
    bool good = r.point && r.value;

    for (uint32_t w = 0; w < e->n_workloads && good; w++) {
        r.n = 0;
        for (size_t i = 0; i < e->t.n; i++) {
            if (e->t.v[i].workload != w || e->t.v[i].failure)
                continue;
            r.point[r.n] = e->t.v[i].point;
            r.value[r.n++] = e->t.v[i].value;
        }
        good = ft__explored_find_unknown(e, w, &r);
    }
    free(r.point);
    free(r.value);
    return good;
}

static int report(ft__cli *c, const struct explore_options *o, const ft_exploration *x,
                  ft_store *store, bool ran)
{
    ft__explored e;
    ft_trials t = {0};
    ft_status st = ft_trials_load(&t, x, store, &c->err);
    int code = st ? ft__cli_check(c, st)
                  : ft__explored_take(c, &e, x, &t, NULL, o->seed ? o->seed : 1);

    if (code)
        return code;
    if (!find_unknown(&e)) {
        code = ft__cli_done(c, false);
    } else if (e.t.n == 0) {
        code = not_run_yet(c, o, ft_exploration_get(x)->name);
    } else {
        code = show(c, o, &e);
        if (!code && ran && e.failed == e.t.n)
            code = none_ran(c, &e);
    }
    ft__explored_free(&e);
    return code;
}

enum { COMMAND_MAX = 1 << 14, POINT_TEXT = 4096 };

/* What a point took when it was measured; NaN: it could not be. */
static double measure(const char *command)
{
    FILE *fp = popen(command, "r");
    json_t *doc = fp ? json_loadf(fp, 0, NULL) : NULL;
    double time_s =
        json_number_value(json_object_get(json_object_get(doc, "time"), "value"));
    int status = fp ? pclose(fp) : -1;

    json_decref(doc);
    return status == 0 && time_s > 0 ? time_s : NAN;
}

static void print_point(ft__table *t, const ft__explored *e, const ft_trial *trial,
                        double predicted_s, double measured_s)
{
    const char *workload = e->workload[trial->workload];
    char text[POINT_TEXT], name[POINT_TEXT + 256];

    ft_point_print(e->x, trial->point, text, sizeof(text));
    snprintf(name, sizeof(name), "%.200s%s%s", workload, *workload ? " " : "", text);
    ft__table_row(t, name, predicted_s, measured_s, measured_s / predicted_s - 1);
}

static int ask(ft__point_queries *a, double *time_s, const ft_trial *t)
{
    const char *setting;
    ft__point_prediction f;
    char why[256];
    int code = ft__point_queries_setting(a, &setting, t->workload, t->point);

    if (!code)
        code = ft__point_queries_ask(a, &f, why, sizeof(why), t->workload, t->point,
                                     &setting, 1);
    *time_s = code ? NAN : f.brief.time_s;
    return code;
}

static void choose(unsigned char *may, ft__point_queries *a, const ft__explored *e)
{
    char command[COMMAND_MAX];

    for (size_t i = 0; i < e->t.n; i++) {
        const ft_trial *t = &e->t.v[i];

        may[i] = e->front[i] && ft__point_queries_measure(a, command, sizeof(command),
                                                          t->workload, t->point);
    }
}

static int verify(ft__point_queries *a, ft__table *t, const ft__explored *e,
                  const size_t *at, size_t n)
{
    char command[COMMAND_MAX];
    int code = FT__EXIT_GOOD;

    for (size_t k = 0; k < n && !code; k++) {
        const ft_trial *trial = &e->t.v[at[k]];
        double predicted_s = NAN;

        (void)ft__point_queries_measure(a, command, sizeof(command), trial->workload,
                                        trial->point);
        code = ask(a, &predicted_s, trial);
        if (!code)
            print_point(t, e, trial, predicted_s, measure(command));
    }
    return code;
}

static int verify_some(ft__cli *c, ft__point_queries *a, const ft__explored *e,
                       unsigned char *may, size_t *at, uint64_t most)
{
    ft__table *t;
    size_t n;
    int code;

    choose(may, a, e);
    n = ft__explored_spread(at, e, may, most < e->t.n ? (size_t)most : e->t.n);
    if (n == 0)
        return ft__cli_exit(c, FT__EXIT_MISSING,
                            "no point of the front is of this machine as it was "
                            "measured: device local, inference");
    t = ft__table_new("front point<|time predicted>s|measured>s|differs by>%");
    code = verify(a, t, e, at, n);
    if (code)
        (void)ft__table_print_take(t, NULL);
    return code ? code : ft__cli_done(c, ft__table_print_take(t, stdout));
}

static int design_verify(ft__cli *c, const ft__explored *e, uint64_t most)
{
    ft__point_queries *a = ft__point_queries_new(c, e->x);
    unsigned char *may = calloc(e->t.n + 1, 1);
    size_t *at = calloc(e->t.n + 1, sizeof(*at));
    int code =
        a && may && at ? verify_some(c, a, e, may, at, most) : ft__cli_done(c, false);

    ft__point_queries_free(a);
    free(may);
    free(at);
    return code;
}

enum { RUN, RESUME, REPORT, VERIFY, FRONT };

/* Of a sweep, of a shard of it, or of fronts of shards in files. */
static int front(ft__cli *c, const struct explore_options *o, const ft_exploration *x)
{
    ft_explore_options how = {0};
    ft__shard shard = {1, 1};
    char rest;
    int code = plan_of(c, &how, o);

    if (code)
        return code;
    if (!ft_exploration_get(x)->n_words)
        return ft__usage(c,
                         "front is of what is predicted: %s has no predict; explore "
                         "report shows the front of its runs",
                         ft_exploration_get(x)->name);
    if (o->shard && (sscanf(o->shard, "%zu/%zu%c", &shard.i, &shard.n, &rest) != 2 ||
                     shard.i < 1 || shard.i > shard.n || shard.n > 1000000))
        return ft__usage(c, "--shard %s: I/N, from 1/N to N/N", o->shard);
    if (c->args.n > 2 && o->shard)
        return ft__usage(c, "--shard is of points to predict, not of files");
    return c->args.n > 2 ? ft__fronts_merge(c, x, c->args.v + 2, c->args.n - 2)
                         : ft__predict_front(c, x, &how.design, &shard);
}

/* Of a sweep nothing is kept: it is asked again. */
static int predict(ft__cli *c, const struct explore_options *o, const ft_exploration *x,
                   bool verify)
{
    ft_explore_options how = {0};
    ft__explored e;
    int code = plan_of(c, &how, o);

    if (code)
        return code;
    if (o->search)
        return ft__usage(c, "--search: predictions are quick, so that every point is "
                            "asked about: leave it out, or draw some with --design");
    if (o->budget_s > 0 || o->max_runs)
        return ft__usage(c, "--%s ends runs, and %s",
                         o->max_runs ? "max-runs" : "budget",
                         verify ? "verify measures few points: --top says how many"
                                : "predictions run nothing: draw fewer points, such as "
                                  "with --design sobol --points 1000");
    if (c->csv && !verify && (o->html || o->notebook))
        return ft__usage(c, "--csv of predictions is a table alone: leave it out for "
                            "--html and --notebook");
    if (c->csv && !verify)
        return ft__predict_csv(c, x, &how.design);
    code = ft__explored_predict(c, &e, x, &how.design);
    if (code)
        return code;
    code = verify ? design_verify(c, &e, o->top ? o->top : VERIFIED) : show(c, o, &e);
    ft__explored_free(&e);
    return code;
}

static int with_store(ft__cli *c, const struct explore_options *given, int verb,
                      const ft_exploration *x)
{
    struct explore_options o = *given;
    char path[FT__PATH_MAX], plan[PLAN_MAX];
    ft_store *store = NULL;
    ft_status st;
    int code;

    ft__path_store(c, path);
    if (verb != RUN && *path && !ft__store_is_there(c, path))
        return not_run_yet(c, given, ft_exploration_get(x)->name);
    code = ft__home_needed(c, c->store);
    if (code)
        return code;
    st = ft_store_open(&store, path, verb == REPORT ? FT_STORE_READ : FT_STORE_WRITE,
                       &c->err);
    if (st)
        return ft__cli_check(c, st);
    if (verb == RESUME)
        code = plan_again(c, &o, plan, x, store);
    if (!code && verb != REPORT)
        code = explore(c, &o, x, store, path);
    if (!code)
        code = report(c, &o, x, store, verb != REPORT);
    ft_store_close(store);
    return code;
}

static int run(ft__cli *c, const void *user)
{
    ft_exploration *x;
    int verb, code = ft__verb_parse(c, &verb, c->args.v[0],
                                    "run, resume, report, verify, front");
    const struct explore_options *o = user;
    ft_status st;

    if (code)
        return code;
    if (verb != FRONT && (c->args.n > 2 || o->shard))
        return ft__usage(c, "%s is for front",
                         o->shard ? "--shard" : "more than one file");
    if (o->only && verb != RUN)
        return ft__usage(c, "--only is for run");
    st = ft_exploration_load(&x, c->args.v[1], o->name, &c->err);
    if (st)
        return ft__cli_check(c, st);
    code = verb == FRONT                    ? front(c, o, x)
           : ft_exploration_get(x)->n_words ? predict(c, user, x, verb == VERIFY)
           : verb == VERIFY
               ? ft__usage(c,
                           "verify measures what was predicted: %s has no predict, its "
                           "points are run",
                           ft_exploration_get(x)->name)
               : with_store(c, user, verb, x);
    ft_exploration_free(x);
    return code;
}

const ft__command ft__explore_command = {
    .name = "explore",
    .arguments = "run|resume|report|verify|front SPACE.yaml [FRONT.csv...]",
    .summary =
        "design-space exploration: time, energy and memory over settings of a program",
    .more = "SPACE.yaml says what is run and what can be set where: environment, "
            "arguments,\n"
            "build steps, clocks and cores (docs/exploration.md). run: every point of "
            "a design,\nor what a search asks for, each run until its figures are sure "
            "enough; every run is\nstored at once. resume: continue an interrupted "
            "run. report: Pareto fronts,\nsensitivity, correlations, and the transfer "
            "of the best point of one workload to\nanother. Where SPACE.yaml "
            "has\npredict, nothing is run: every point is predicted; verify measures "
            "some of the front; front prints it as CSV,\nor that of a --shard, or that "
            "of the fronts of all shards.",
    .examples = "  foretell explore run space.yaml --budget 10min\n"
                "  foretell explore run space.yaml --design sobol --points 100\n"
                "  foretell explore run space.yaml --search model --points 40\n"
                "  foretell explore report space.yaml --csv\n"
                "  foretell explore run space.yaml --name conv@node3 --only 2,5\n"
                "  foretell explore front sweep.yaml --shard 2/8 >front-2.csv\n"
                "  foretell explore front sweep.yaml front-*.csv\n",
    .least_args = 2,
    .most_args = SIZE_MAX,
    .has_csv = true,
    .options_size = sizeof(struct explore_options),
    .options = options,
    .run = run,
};
