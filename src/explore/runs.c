/* Runs of points: one that is made now, with its settings and build; what the store
 * says of those that were, and the figures of a point from them. */
#include "explore/runs.h"

#include <errno.h>
#include <math.h>
#include <pcre2posix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/index.h"
#include "base/number.h"
#include "base/pairs.h"
#include "base/stats.h"
#include "explore/space/params.h"
#include "foretell/command.h"
#include "foretell/measure.h"
#include "measure/measure_inside.h"

/* With one, whatever a run started is ended with it. */
static const double no_timeout_s = 1e9;

enum { KEPT_OUTPUT = 1 << 16, FAILURE_MAX = 1200 };

static const char *copy(ft__outcome *o, const char *text)
{
    const char *s = ft__arena_strndup(&o->arena, text, strlen(text));

    return s ? s : "out of memory";
}

static ft__place place_of(const ft__once *o, const char *build)
{
    return (ft__place){o->x, o->point, o->workload, build, o->opt->self};
}

/* Words with everything put in its place; a text goes to the shell. */
static const char **argv_of(const ft__words *w, const ft__place *p, ft__outcome *out,
                            ft_error *err)
{
    const char **argv = ft__arena_array(&out->arena, w->n + 4, sizeof(*argv));
    size_t at = 0;

    if (!argv) {
        (void)ft_fail(err, FT_ENOMEM, 0, "%s", p->x->name);
        return NULL;
    }
    if (w->shell) {
        argv[at++] = "/bin/sh";
        argv[at++] = "-c";
    }
    for (size_t i = 0; i < w->n; i++, at++)
        if (!(argv[at] = ft__place_text(p, &out->arena, w->word[i], err)))
            return NULL;
    return argv;
}

static const char *pair(ft__outcome *out, const char *name, const char *value)
{
    size_t len = strlen(name) + strlen(value) + 2;
    char *s = ft__arena_alloc(&out->arena, len);

    if (s)
        snprintf(s, len, "%s=%s", name, value);
    return s;
}

/* Of every run, and of the parameters that act there. */
static const char **env_of(const ft__place *p, ft__outcome *out, ft_error *err)
{
    const ft_parameter *param = p->x->space->param;
    size_t n = p->x->space->n, at = 0;
    const ft__names *all = &p->x->environment;
    const char **env = ft__arena_array(&out->arena, all->n + n + 1, sizeof(*env));

    for (size_t i = 0; i < all->n && env; i++) {
        const char *value = ft__place_text(p, &out->arena, all->value[i], err);

        if (!value)
            return NULL;
        if (!(env[at++] = pair(out, all->name[i], value)))
            env = NULL;
    }
    for (size_t k = 0; k < n && env; k++) {
        char text[FT__PARAM_TEXT];

        if (param[k].where != FT_ACTS_ENVIRONMENT || isnan(p->point[k]))
            continue;
        ft__param_print(&param[k], p->point[k], text, sizeof(text));
        if (!(env[at++] = pair(out, param[k].target, text)))
            env = NULL;
    }
    if (!env)
        (void)ft_fail(err, FT_ENOMEM, 0, "%s", p->x->name);
    return env;
}

/* "clock" and "1200MHz"; a number without a unit is one of Hz or W. */
static bool set_one(ft_settings *s, const char *name, const char *text)
{
    char pair[FT__PARAM_TEXT + 32];
    double v;

    snprintf(pair, sizeof(pair), "%s=%s", name, text);
    v = ft__pair_number(pair, name);
    if (strcmp(name, "clock") == 0)
        s->core_clock_hz = v;
    else if (strcmp(name, "memory_clock") == 0)
        s->memory_clock_hz = v;
    else if (strcmp(name, "power") == 0)
        s->power_cap_w = v;
    else if (strcmp(name, "cpus") == 0)
        s->cpus_online = text;
    else if (strcmp(name, "governor") == 0)
        s->governor = text;
    else if (strcmp(name, "turbo") == 0)
        s->turbo = text;
    else
        s->affinity = text;
    return !(isnan(v) && (strcmp(name, "clock") == 0 || strcmp(name, "power") == 0 ||
                          strcmp(name, "memory_clock") == 0));
}

/* *any: there are some. */
static ft_status settings_of(ft_settings *s, bool *any, const ft__once *o,
                             ft__outcome *out, ft_error *err)
{
    const ft_parameter *param = o->x->space->param;

    *any = false;
    *s = (ft_settings){.device = o->x->device,
                       .core_clock_hz = NAN,
                       .memory_clock_hz = NAN,
                       .power_cap_w = NAN};
    for (size_t k = 0; k < o->x->space->n; k++) {
        char text[FT__PARAM_TEXT];

        if (param[k].where != FT_ACTS_SETTING || isnan(o->point[k]))
            continue;
        ft__param_print(&param[k], o->point[k], text, sizeof(text));
        *any = true;
        if (!set_one(s, param[k].target, copy(out, text)))
            return ft_fail(err, FT_EFORMAT, 0,
                           "%s: %s: a number with its unit is wanted (1200MHz, 150W), "
                           "not \"%s\"",
                           o->x->name, param[k].name, text);
    }
    return FT_OK;
}

static const char *how_it_ended(ft__outcome *out, const ft_command_run *r,
                                const char *what)
{
    char text[FAILURE_MAX];

    if (r->timed_out)
        snprintf(text, sizeof(text), "%s took too long and was ended", what);
    else if (r->signal)
        snprintf(text, sizeof(text), "%s was ended by signal %d (%s)", what, r->signal,
                 strsignal(r->signal));
    else
        snprintf(text, sizeof(text), "%s ended with %d", what, r->exit_code);
    return copy(out, text);
}

static void add(ft__outcome *out, const char *name, double value)
{
    out->value[out->n_values++] = (ft__trial_value){name, value};
}

/* The last match counts: programs say their result at the end. NaN: none. */
static double matched(const char *pattern, const char *text)
{
    const char *whole = text;
    regmatch_t m[2];
    double v = NAN;
    regex_t re;

    if (regcomp(&re, pattern, REG_EXTENDED | REG_NEWLINE))
        return NAN;
    while (regexec(&re, text, 2, m,
                   text > whole && text[-1] != '\n' ? REG_NOTBOL : 0) == 0) {
        char digits[FT__NUMBER_TEXT];
        int len = (int)(m[1].rm_eo - m[1].rm_so);

        if (m[1].rm_so >= 0 && len < FT__NUMBER_TEXT) {
            double one;

            snprintf(digits, sizeof(digits), "%.*s", len, text + m[1].rm_so);
            v = ft__number_parse(digits, &one) ? one : v;
        }
        text += m[0].rm_eo > 0 ? m[0].rm_eo : 1;
        if (!text[-1] || !*text)
            break;
    }
    regfree(&re);
    return v;
}

static const ft_command_energy *domain_of(const ft_command_result *r, const char *name)
{
    for (uint32_t i = 0; i < r->n_domains; i++)
        if (!name || strcmp(r->energy[i].domain, name) == 0)
            return &r->energy[i];
    return NULL;
}

/* NaN with a sentence: it ought to be there and is not. Energy may be missing. */
static ft_status measured(double *value, const ft_objective *ob, const ft__place *p,
                          const ft_command_result *r, ft__outcome *out, ft_error *err)
{
    const ft_command_energy *e = domain_of(r, ob->domain);
    struct stat info;
    char text[FAILURE_MAX];
    const char *file;

    *value = NAN;
    if (ob->what == FT_MEASURED_ENERGY && e)
        *value = e->energy.value;
    if (ob->what == FT_MEASURED_POWER && e)
        *value = e->power.value;
    if (ob->what == FT_MEASURED_MATCH) {
        *value = matched(ob->pattern, r->output);
        if (isnan(*value)) {
            snprintf(text, sizeof(text), "%s: the output has no \"%s\"", ob->name,
                     ob->pattern);
            out->failure = copy(out, text);
        }
    }
    if (ob->what == FT_MEASURED_SIZE) {
        if (!(file = ft__place_text(p, &out->arena, ob->file, err)))
            return err->status;
        if (stat(file, &info) == 0) {
            *value = (double)info.st_size;
        } else {
            snprintf(text, sizeof(text), "%s: %s: %s", ob->name, file, strerror(errno));
            out->failure = copy(out, text);
        }
    }
    return FT_OK;
}

static ft_status take(ft__outcome *out, const ft__once *o, const ft__place *p,
                      const ft_command_result *r, ft_error *err)
{
    const ft_command_run *run = &r->run[0];
    ft_network_timing t = {.conditions = run->conditions, .rounds = 1};
    char conditions[1024];
    ft__buf noted = {0};

    ft__timing_conditions(&t, conditions, sizeof(conditions));
    ft__notes_put(&noted, o->opt->note, o->opt->n_notes, conditions);
    out->conditions = copy(out, noted.s && !noted.bad ? noted.s : "");
    ft__buf_free(&noted);
    add(out, FT__RUN_TIME, run->wall_s);
    add(out, FT__RUN_MEMORY, (double)run->peak_bytes);
    add(out, ":user", run->user_s);
    add(out, ":system", run->system_s);
    if (run->exit_code || run->signal || run->timed_out)
        out->failure = how_it_ended(out, run, "the run");
    for (size_t k = 0; k < o->x->n_objectives && !out->failure; k++) {
        const ft_objective *ob = &o->x->objective[k];
        double value;
        ft_status st = measured(&value, ob, p, r, out, err);

        if (st)
            return st;
        if (!isnan(value))
            add(out, ob->name, value);
    }
    if (out->failure)
        out->output = copy(out, r->output ? r->output : "");
    return FT_OK;
}

static bool make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* The same words build the same things, once. */
static ft_status folder_of(char *path, size_t size, const ft__once *o,
                           const char *const *argv, ft_error *err)
{
    uint64_t h = FT__HASH_BEGIN;

    for (size_t i = 0; argv[i]; i++)
        h = ft__hash_text(h, argv[i]);
    snprintf(path, size, "%s/%016llx", o->opt->build_dir, (unsigned long long)h);
    if (make_folder(o->opt->build_dir) && make_folder(path))
        return FT_OK;
    return ft_fail(err, FT_EIO, 0, "cannot make the folder %s: %s", path,
                   strerror(errno));
}

/* {build} in a build step is the folder itself; its name depends on the rest. */
static ft_status build(const char *folder, const char *done, const char **failure,
                       ft__outcome *out, const ft__once *o, ft_error *err)
{
    ft__place p = place_of(o, folder);
    ft_command_options how = {.min_runs = 1,
                              .max_runs = 1,
                              .timeout_s = no_timeout_s,
                              .keep_output = KEPT_OUTPUT,
                              .ignore_failure = 1};
    ft_command c = {.argv = argv_of(&o->x->build, &p, out, err)};
    ft_command_result *r;
    ft_status st =
        c.argv ? ft__runner_measure(&r, &c, 1, &how, o->runner, err) : err->status;
    FILE *mark;

    if (st == FT_ENOTFOUND) {
        *failure = copy(out, err->msg);
        return FT_OK;
    }
    if (st)
        return st;
    if (r->run[0].exit_code || r->run[0].signal) {
        *failure = how_it_ended(out, &r->run[0], "the build");
        out->output = copy(out, r->output ? r->output : "");
    } else if (!(mark = fopen(done, "w")) || fclose(mark)) {
        st = ft_fail(err, FT_EIO, 0, "cannot write %s: %s", done, strerror(errno));
    }
    ft_command_results_free(r, 1);
    return st;
}

/* The folder of what is built for a point, built now if it is not there; "" without a
 * build step. *failure: what it ended with, NULL: it is there. */
static ft_status get_build(const char **folder, const char **failure, ft__outcome *out,
                           const ft__once *o, ft_error *err)
{
    ft__place p = place_of(o, "{build}");
    char path[4096], done[4200];
    const char **argv;
    struct stat info;
    ft_status st;

    *folder = "";
    if (o->x->build.n == 0)
        return FT_OK;
    argv = argv_of(&o->x->build, &p, out, err);
    st = argv ? folder_of(path, sizeof(path), o, argv, err) : err->status;
    if (st)
        return st;
    *folder = copy(out, path);
    snprintf(done, sizeof(done), "%s/.built", path);
    return stat(done, &info) == 0 ? FT_OK : build(*folder, done, failure, out, o, err);
}

static ft_command_options how_to_run(const ft__once *o)
{
    return (ft_command_options){.warmup = o->warmup,
                                .min_runs = 1,
                                .max_runs = 1,
                                .timeout_s = o->x->timeout_s > 0 ? o->x->timeout_s
                                                                 : no_timeout_s,
                                .keep_output = KEPT_OUTPUT,
                                .ignore_failure = 1,
                                .meter = o->energy ? o->opt->meter : NULL,
                                .power_time_s = o->x->power_s,
                                .power_error = o->x->precision,
                                .no_idle = 1,
                                .no_energy = o->opt->no_energy,
                                .device = o->x->device,
                                .log = NULL};
}

static ft_status measure(ft__outcome *out, const ft__once *o, const char *folder,
                         ft_error *err)
{
    ft__place p = place_of(o, folder);
    ft_command_options how = how_to_run(o);
    ft_command c = {.argv = argv_of(&o->x->command, &p, out, err),
                    .env = env_of(&p, out, err)};
    ft_command_result *r;
    ft_status st;

    if (!c.argv || !c.env)
        return err->status;
    if (o->x->cool_s > 0)
        ft__clock_sleep(o->runner->clock, o->x->cool_s);
    st = ft__runner_measure(&r, &c, 1, &how, o->runner, err);
    if (st == FT_ENOTFOUND) { /* a program that a parameter names */
        out->failure = copy(out, err->msg);
        return FT_OK;
    }
    if (st)
        return st;
    st = take(out, o, &p, r, err);
    ft_command_results_free(r, 1);
    return st;
}

ft_status ft__run_once(ft__outcome *out, const ft__once *o, ft_error *err)
{
    ft_held_settings *held = NULL;
    const char *folder = "";
    ft_settings want;
    ft_status st, restored;
    bool any;

    *out = (ft__outcome){.output = "", .conditions = ""};
    out->value =
        ft__arena_array(&out->arena, o->x->n_objectives + 4, sizeof(*out->value));
    if (!out->value)
        return ft_fail(err, FT_ENOMEM, 0, "%s", o->x->name);
    st = settings_of(&want, &any, o, out, err);
    if (!st)
        st = get_build(&folder, &out->failure, out, o, err);
    if (st || out->failure)
        return st;
    if (any)
        st = ft_settings_hold(&held, &want, o->opt->settings, err);
    if (!st)
        st = measure(out, o, folder, err);
    restored = ft_settings_restore_take(held, st ? NULL : err);
    return st ? st : restored;
}

void ft__runs_free(ft__runs *r)
{
    free(r->value);
    free(r->failure);
    free(r->output);
}

static double value_of(const ft__trial_run *t, const char *name)
{
    for (size_t i = 0; i < t->n_values; i++)
        if (strcmp(t->value[i].name, name) == 0)
            return t->value[i].value;
    return NAN;
}

/* Where it came from a run that failed, or is measured anew, the last word counts. */
static ft_status note_failure(ft__runs *r, const ft_exploration *x,
                              const ft__trial_run *t, ft_error *err)
{
    free(r->failure);
    free(r->output);
    r->failure = r->output = NULL;
    r->failed = *t->failure != '\0';
    if (!r->failed)
        return FT_OK;
    r->failure = strdup(t->failure);
    r->output = strdup(t->output);
    return r->failure && r->output ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%s", x->name);
}

ft_status ft__runs_add(ft__runs *r, const ft_exploration *x, const ft__trial_run *t,
                       ft_error *err)
{
    size_t width = x->n_objectives + 2;
    ft_status st = note_failure(r, x, t, err);
    double *grown, *row;

    if (st || r->failed)
        return st;
    grown = r->n < r->cap
                ? r->value
                : ft__list_grow(r->value, r->n, &r->cap, width * sizeof(*r->value));
    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "%s", x->name);
    r->value = grown;
    row = grown + r->n++ * width;
    for (size_t k = 0; k < x->n_objectives; k++)
        row[k] = value_of(t, x->objective[k].name);
    row[x->n_objectives] = value_of(t, FT__RUN_TIME);
    row[x->n_objectives + 1] = value_of(t, FT__RUN_MEMORY);
    return FT_OK;
}

ft_status ft__objective_of(double *value, double *error, const ft_exploration *x,
                           const ft__runs *r, size_t k, ft_error *err)
{
    ft_measured what = x->objective[k].what;
    size_t width = x->n_objectives + 2, n = 0;
    size_t column = what == FT_MEASURED_TIME || what == FT_MEASURED_P95
                        ? x->n_objectives
                    : what == FT_MEASURED_MEMORY ? x->n_objectives + 1
                                                 : k;
    double *v = malloc((r->n + 1) * sizeof(*v));

    *value = *error = NAN;
    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "%s", x->name);
    for (size_t i = 0; i < r->n && !r->failed; i++)
        if (!isnan(r->value[i * width + column]))
            v[n++] = r->value[i * width + column];
    ft__sort(v, n);
    if (n && what == FT_MEASURED_P95)
        *value = ft__quantile(v, n, 0.95);
    else if (n && what == FT_MEASURED_MEMORY)
        *value = v[n - 1];
    else if (n)
        *value = ft__quantile(v, n, 0.5);
    /* Of a quantile and a maximum it is not known. */
    if (n > 1 && what != FT_MEASURED_P95 && what != FT_MEASURED_MEMORY)
        *error = ft__median_error(v, n, *value);
    free(v);
    return FT_OK;
}
