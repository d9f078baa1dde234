/* foretell explore: run a design space, and say what came of it. */
#include <stdlib.h>
#include <string.h>

#include "cli/explore/explore.h"
#include "foretell/names.h"

enum { PLAN_MAX = 256, DEFAULT_POINTS = 40, DEFAULT_TOP = 12 };

struct explore_options {
    const char *design;
    const char *search;
    uint64_t points;
    uint64_t seed;
    uint64_t resolution;
    uint64_t levels;
    uint64_t max_runs;
    double budget_s;
    bool retry;
    const char *power;
    bool no_power;
    const char *build_dir;
    uint64_t top;
    const char *html;
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
    FT__TEXT(struct explore_options, html, "html", "FILE",
             "write the report there as well, a page with charts"),
    {0},
};

/* ---- the plan ---- */

static int plan_of(ft__cli *c, ft_explore_options *how, const struct explore_options *o)
{
    int code, d = FT_DESIGN_FULL, s = FT_SEARCH_COUNT;

    if (o->design && o->search)
        return ft__usage(c, "--design and --search exclude each "
                            "other");
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

/* As it is kept for resume. */
static void plan_text(char *buf, size_t size, const struct explore_options *o)
{
    snprintf(buf, size, "%s %s %llu %llu %llu %llu", o->design ? o->design : "-",
             o->search ? o->search : "-", (unsigned long long)o->points,
             (unsigned long long)o->seed, (unsigned long long)o->resolution,
             (unsigned long long)o->levels);
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
        return ft__cli_exit(
            c, FT__EXIT_MISSING,
            "%s was not run yet as the file stands; begin with: foretell "
            "explore run FILE",
            ft_exploration_get(x)->name);
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

/* ---- running ---- */

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

static void tell(const ft_explored *e, const ft_exploration *x, const char *file)
{
    size_t workloads = ft_exploration_get(x)->n_workloads;

    fprintf(stderr, "%s: %zu point%s", ft_exploration_get(x)->name, e->points,
            e->points == 1 ? "" : "s");
    if (workloads > 1)
        fprintf(stderr, " with %zu workloads each", workloads);
    fprintf(stderr, ", %zu run%s now, %zu failed, %zu left\n", e->runs,
            e->runs == 1 ? "" : "s", e->failed, e->left);
    if (e->left)
        fprintf(stderr, "go on with: foretell explore resume %s\n", file);
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
    ft_explored done;
    ft_status st;
    int code = plan_of(c, &how, o);

    if (!code)
        code = open_meter(c, &how, o, x, &why);
    if (code)
        return code;
    plan_text(plan, sizeof(plan), o);
    snprintf(build_dir, sizeof(build_dir), "%s.builds", store_path);
    how.build_dir = o->build_dir ? o->build_dir : build_dir;
    ft__path_self(self);
    ft__machine_open(&machine, c, NULL);
    how.settings = &machine.how;
    st = ft_explore(&done, x, store, &how, &c->err);
    ft_meter_close(how.meter);
    if (st)
        return ft__cli_check_asked(c, st);
    ft__bar_clear(&c->bar);
    if (!c->quiet)
        tell(&done, x, c->args.v[1]);
    return FT__EXIT_GOOD;
}

static int write_page(ft__cli *c, const ft__explored *e, const char *path)
{
    FILE *fp = fopen(path, "w");
    bool good = fp && ft__explored_page(e, fp);

    if (fp && fclose(fp))
        good = false;
    return good ? FT__EXIT_GOOD
                : ft__cli_exit(c, FT__EXIT_INPUT, "cannot write %s", path);
}

static int show(ft__cli *c, const struct explore_options *o, const ft__explored *e)
{
    bool printed = true;
    int code;

    if (c->json)
        printed = ft__explored_json(e);
    else if (c->csv)
        ft__explored_csv(e);
    else
        printed = ft__explored_print(e, o->top ? o->top : DEFAULT_TOP);
    code = ft__cli_done(c, printed);
    return !code && o->html ? write_page(c, e, o->html) : code;
}

static int report(ft__cli *c, const struct explore_options *o, const ft_exploration *x,
                  ft_store *store)
{
    ft__explored e;
    int code = ft__explored_make(c, &e, x, store, o->seed ? o->seed : 1);

    if (code)
        return code;
    if (e.t.n == 0) {
        code = ft__cli_exit(c, FT__EXIT_MISSING,
                            "nothing of %s was run yet as the file stands; begin with: "
                            "foretell explore run %s",
                            ft_exploration_get(x)->name, c->args.v[1]);
    } else {
        code = show(c, o, &e);
    }
    ft__explored_free(&e);
    return code;
}

/* ---- the command ---- */

enum { RUN, RESUME, REPORT, VERIFY };

/* Of a sweep nothing is kept: it is asked again. */
enum { LOOKED_AT = 2000, VERIFIED = 3 };
static int predict(ft__cli *c, const struct explore_options *o, const ft_exploration *x,
                   bool verify)
{
    ft_explore_options how = {0};
    uint64_t seed = o->seed ? o->seed : 1;
    ft__predicted_design s;
    ft__explored e;
    ft_trials t;
    unsigned char *drawn;
    ft_status st;
    int code = plan_of(c, &how, o);

    if (code)
        return code;
    if (o->search)
        return ft__usage(
            c, "--search: predictions are quick, so that every point is asked "
               "about: leave it out, or draw some with --design");
    code = ft__design_predict(c, &s, x, &how.design);
    if (code)
        return code;
    if (c->csv && !verify) {
        ft__predicted_design_csv(&s);
        ft__predicted_design_free(&s);
        return ft__cli_done(c, true);
    }
    st = ft__predicted_design_trials(&t, &drawn, &s, LOOKED_AT, seed, &c->err);
    code = st ? ft__cli_check(c, st) : ft__explored_take(c, &e, x, &t, drawn, seed);
    if (!code) {
        e.predicted = s.n * s.n_workloads;
        e.seconds = s.seconds;
        code = verify ? ft__design_verify(c, &e, o->top ? o->top : VERIFIED)
                      : show(c, o, &e);
        ft__explored_free(&e);
    }
    ft__predicted_design_free(&s);
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
    code = verb == RUN ? ft__home_needed(c, c->store) : ft__store_needed(c, path);
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
        code = report(c, &o, x, store);
    ft_store_close(store);
    return code;
}

static int run(ft__cli *c, const void *user)
{
    ft_exploration *x;
    int verb,
        code = ft__verb_parse(c, &verb, c->args.v[0], "run, resume, report, verify");
    ft_status st;

    if (code)
        return code;
    st = ft_exploration_load(&x, c->args.v[1], &c->err);
    if (st)
        return ft__cli_check(c, st);
    code = ft_exploration_get(x)->n_words ? predict(c, user, x, verb == VERIFY)
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
    .arguments = "run|resume|report|verify SPACE.yaml",
    .summary = "what settings do to time, energy and memory",
    .more =
        "SPACE.yaml says what is run and what can be set where: environment, "
        "arguments,\n"
        "build steps, clocks and cores (docs/exploration.md). run: every point of a "
        "design,\nor what a search asks for, each run until its figures are sure "
        "enough; "
        "every run is\nkept at once. resume: go on where it was cut off. report: "
        "fronts, "
        "what decides,\ncorrelations, and whether the best of one workload suits "
        "another. Where SPACE.yaml has\npredict, nothing is run: every point is "
        "predicted; "
        "verify measures some of the front.",
    .examples = "  foretell explore run space.yaml --budget 10min\n"
                "  foretell explore run space.yaml --design sobol --points 100\n"
                "  foretell explore run space.yaml --search model --points 40\n"
                "  foretell explore report space.yaml --csv\n",
    .least_args = 2,
    .most_args = 2,
    .has_csv = true,
    .options_size = sizeof(struct explore_options),
    .options = options,
    .run = run,
};
