/* Points, run and run again until their figures are sure enough. */
#include "explore/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/prng.h"
#include "explore/runs.h"
#include "explore/search/search.h"
#include "explore/space/params.h"
#include "explore/space/space.h"
#include "measure/measure_inside.h"
#include "store/store_inside.h"

/* Half a 95 % interval in standard errors. */
static const double half_95 = 1.96;
static const uint64_t default_points = 40;
static const double default_gain = 0.001;
enum { POINT_MAX = 1 << 16, PATIENCE = 10 };

/* One point with one workload. */
struct job {
    uint32_t workload;
    size_t point; /* row */
    ft__runs runs;
    bool warm;    /* has run in this process */
    bool retried; /* a failure of before */
};

struct work {
    const ft_exploration *x;
    const ft_explore_options *opt;
    const ft__runner *runner;
    ft_store *store;
    int64_t exploration, run;
    ft__points points;
    char **text;     /* of each point */
    struct job *job; /* of point p and workload w: p * n_workloads + w */
    size_t cap_texts, cap_jobs;
    ft_explored *out;
    double end_s;
    ft_error *err;
};

static size_t width(const struct work *w)
{
    return w->x->space->n;
}

static ft_status add_point(struct work *w, const double *point)
{
    size_t p = w->points.n, most = w->x->n_workloads;
    struct job *jobs = ft__list_grow(w->job, p, &w->cap_jobs, most * sizeof(*jobs));
    char **texts = ft__list_grow(w->text, p, &w->cap_texts, sizeof(*texts));
    char *text = malloc(POINT_MAX);
    bool added = false;
    ft_status st = FT_OK;

    w->job = jobs ? jobs : w->job;
    w->text = texts ? texts : w->text;
    if (!text || !jobs || !texts)
        st = ft_fail(w->err, FT_ENOMEM, 0, "%s", w->x->name);
    else if (ft_point_print(w->x, point, text, POINT_MAX) >= POINT_MAX)
        st = ft_fail(w->err, FT_EUNSUPPORTED, 0, "%s: a point's values are too long",
                     w->x->name);
    else
        st = ft__points_add(&w->points, point, &added, w->err);
    if (!added) {
        free(text);
        return st;
    }
    texts[p] = realloc(text, strlen(text) + 1);
    texts[p] = texts[p] ? texts[p] : text;
    for (uint32_t v = 0; v < most; v++)
        jobs[p * most + v] = (struct job){.workload = v, .point = p};
    return FT_OK;
}

static bool take_known(void *user, const ft__trial_run *t)
{
    struct work *w = user;
    double point[FT__MAX_PARAMS];
    uint32_t v;
    size_t p = ft__run_place(w->x, &v, point, t->workload, t->point)
                   ? ft__points_find(&w->points, point)
                   : w->points.n;

    return p == w->points.n ||
           !ft__runs_add(&w->job[p * w->x->n_workloads + v].runs, w->x, t, w->err);
}

/* Of points that are no points of the design, when a search goes on. */
static bool take_point(void *user, const ft__trial_run *t)
{
    struct work *w = user;
    double point[FT__MAX_PARAMS];
    uint32_t v;

    return !ft__run_place(w->x, &v, point, t->workload, t->point) ||
           ft__points_find(&w->points, point) < w->points.n || !add_point(w, point);
}

static ft_status each_known(struct work *w, bool (*each)(void *, const ft__trial_run *))
{
    ft_error before = *w->err;
    ft_status st;

    w->err->status = FT_OK;
    st = ft__trial_each(w->store, w->exploration, each, w, w->err);
    if (!st)
        st = w->err->status;
    if (!st)
        *w->err = before;
    return st;
}

/* What a meter tells. */
static bool is_energy(const struct work *w, size_t k)
{
    ft_measured what = w->x->objective[k].what;

    return what == FT_MEASURED_ENERGY || what == FT_MEASURED_POWER;
}

/* Every objective that scatters is known to the precision wanted; or those of `energy`
 * alone. Where no run gave an energy, none will. */
static ft_status is_tight(bool *tight, const struct work *w, const struct job *j,
                          bool energy)
{
    *tight = true;
    for (size_t k = 0; k < w->x->n_objectives && *tight; k++) {
        ft_measured what = w->x->objective[k].what;
        double value, error;
        ft_status st;

        if (!is_energy(w, k) &&
            (energy || (what != FT_MEASURED_TIME && what != FT_MEASURED_MATCH)))
            continue;
        st = ft__objective_of(&value, &error, w->x, &j->runs, k, w->err);
        if (st)
            return st;
        *tight = half_95 * error <= w->x->precision * fabs(value) ||
                 (is_energy(w, k) && isnan(value));
    }
    return FT_OK;
}

static ft_status wants_more(bool *more, const struct work *w, const struct job *j)
{
    bool tight;
    ft_status st;

    *more = false;
    if (j->runs.failed) {
        *more = w->opt->retry && !j->retried;
        return FT_OK;
    }
    if (j->runs.n >= w->x->most_runs)
        return FT_OK;
    st = is_tight(&tight, w, j, false);
    *more = j->runs.n < w->x->least_runs || !tight;
    return st;
}

static bool is_over(const struct work *w)
{
    return (w->opt->max_runs && w->out->runs >= w->opt->max_runs) ||
           (w->opt->time_s > 0 && ft__clock_now(w->runner->clock) >= w->end_s);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static ft_status run_job(struct work *w, struct job *j)
{
    ft__once o = {w->x,
                  w->opt,
                  w->points.row + j->point * width(w),
                  j->workload,
                  j->warm ? 0 : w->x->warmup,
                  true,
                  w->runner};
    ft__outcome got;
    ft__trial_run t;
    bool tight;
    ft_status st = is_tight(&tight, w, j, true);

    if (st)
        return st;
    o.energy = j->runs.n < w->x->least_runs || !tight;
    st = ft__run_once(&got, &o, w->err);
    t = (ft__trial_run){.workload = w->x->workload[j->workload],
                        .point = w->text[j->point],
                        .taken_at = now_ns(),
                        .failure = got.failure ? got.failure : "",
                        .output = got.output,
                        .conditions = got.conditions,
                        .value = got.value,
                        .n_values = got.n_values};

    if (!st)
        st = ft__trial_add(w->store, w->exploration, w->run, &t, w->err);
    if (!st)
        st = ft__runs_add(&j->runs, w->x, &t, w->err);
    ft__arena_free(&got.arena);
    j->warm = true;
    j->retried = true;
    w->out->runs++;
    return st;
}

/* What is done of what may be needed, for the progress. */
static void report_progress(const struct work *w, size_t from)
{
    uint64_t done = 0, wanted = 0;
    size_t n = w->points.n * w->x->n_workloads;

    for (size_t i = from; i < n; i++) {
        const struct job *j = &w->job[i];
        uint64_t had = j->runs.n < w->x->least_runs ? j->runs.n : w->x->least_runs;

        wanted += w->x->least_runs;
        done += j->runs.failed ? w->x->least_runs : had;
    }
    ft__progress(w->opt->log, done, wanted, w->x->name);
}

/* One run of each job from `from` on that wants one, in another order each time, so
 * that a machine that drifts favours none. *any: there was one. */
static ft_status pass(struct work *w, size_t from, uint64_t number, bool *any)
{
    size_t n = w->points.n * w->x->n_workloads - from;
    uint32_t *order = malloc((n + 1) * sizeof(*order));
    ft__prng rng = ft__prng_stream(w->opt->design.seed, number);
    ft_status st = order ? FT_OK : ft_fail(w->err, FT_ENOMEM, 0, "%s", w->x->name);

    *any = false;
    for (size_t i = 0; i < n && order; i++)
        order[i] = (uint32_t)(from + i);
    if (order)
        ft__prng_shuffle(&rng, order, n);
    for (size_t i = 0; i < n && !st && !is_over(w); i++) {
        bool more;

        st = wants_more(&more, w, &w->job[order[i]]);
        if (st || !more)
            continue;
        *any = true;
        st = run_job(w, &w->job[order[i]]);
        report_progress(w, from);
    }
    free(order);
    return st;
}

static ft_status run_from(struct work *w, size_t from)
{
    ft_status st = FT_OK;
    bool any = true;

    for (uint64_t number = 0; any && !st && !is_over(w); number++)
        st = pass(w, from, number, &any);
    return st;
}

/* Point i, counted from 0, is wanted. */
static bool is_wanted(const ft_explore_options *opt, size_t i)
{
    bool wanted = !opt->only;

    for (size_t k = 0; k < opt->n_only && !wanted; k++)
        wanted = opt->only[k] == i + 1;
    return wanted;
}

static ft_status add_design(struct work *w)
{
    double *points;
    size_t n, numbered = 0;
    ft_status st = ft_design_make(&points, &n, w->x->space, &w->opt->design, w->err);

    if (st)
        return st;
    for (size_t i = 0; i < n && !st; i++)
        if (is_wanted(w->opt, i))
            st = add_point(w, points + i * width(w));
    free(points);
    for (size_t k = 0; k < w->opt->n_only; k++)
        numbered = w->opt->only[k] > numbered ? w->opt->only[k] : numbered;
    if (!st && numbered > n)
        st = ft_fail(w->err, FT_EINVAL, 0, "%s: point %zu of a design of %zu points",
                     w->x->name, numbered, n);
    return st ? st : each_known(w, take_known);
}

static ft_status run_design(struct work *w)
{
    ft_status st = add_design(w);

    return st ? st : run_from(w, 0);
}

/* Over workloads the geometric mean, which no workload's size dominates; small is good.
 * NaN: one failed, or is not known. */
static ft_status sum_up(double *y, struct work *w, size_t p)
{
    size_t n = w->x->n_workloads;

    for (size_t k = 0; k < w->x->n_objectives; k++) {
        const ft_objective *o = &w->x->objective[k];
        double logs = 0, sum = 0, value, error;

        for (size_t v = 0; v < n; v++) {
            ft_status st = ft__objective_of(&value, &error, w->x,
                                            &w->job[p * n + v].runs, k, w->err);

            if (st)
                return st;
            logs += log(value);
            sum += value;
        }
        y[k] = isnan(logs) ? sum / (double)n : exp(logs / (double)n);
        y[k] = o->maximize ? -y[k] : y[k];
    }
    return FT_OK;
}

static ft_status tell_search(struct work *w, ft__search *s, size_t p)
{
    double *y = malloc(w->x->n_objectives * sizeof(*y));
    ft_status st = y ? sum_up(y, w, p) : ft_fail(w->err, FT_ENOMEM, 0, "search");
    bool known = true;

    for (size_t k = 0; k < w->x->n_objectives && !st; k++)
        known = known && !isnan(y[k]);
    for (size_t k = 0; k < w->x->n_objectives && !st && !known; k++)
        y[k] = NAN;
    if (!st)
        st = ft__search_tell(s, w->points.row + p * width(w), y, w->err);
    free(y);
    return st;
}

static bool is_finished(struct work *w, size_t p)
{
    for (size_t v = 0; v < w->x->n_workloads; v++) {
        bool more;

        if (wants_more(&more, w, &w->job[p * w->x->n_workloads + v]) || more)
            return false;
    }
    return true;
}

static uint64_t points_wanted(const struct work *w)
{
    return w->opt->points ? w->opt->points : default_points;
}

static ft_status search_on(struct work *w, ft__search *s)
{
    uint64_t most = points_wanted(w);
    double least = w->opt->least_gain > 0 ? w->opt->least_gain : default_gain, gain;
    double *point = malloc(width(w) * sizeof(*point));
    ft_status st = point ? FT_OK : ft_fail(w->err, FT_ENOMEM, 0, "search");

    for (int in_vain = 0; !st && w->points.n < most && in_vain < PATIENCE;) {
        size_t p = w->points.n;

        if (is_over(w))
            break;
        st = ft__search_ask(s, point, &gain, w->err);
        if (st == FT_ENOTFOUND) { /* every point is known */
            st = FT_OK;
            break;
        }
        in_vain = !isnan(gain) && gain < least ? in_vain + 1 : 0;
        if (!st)
            st = add_point(w, point);
        if (!st && w->points.n > p)
            st = run_from(w, p * w->x->n_workloads);
        if (!st && w->points.n > p && is_finished(w, p))
            st = tell_search(w, s, p);
    }
    free(point);
    return st;
}

static ft_status run_search(struct work *w)
{
    double *limit = malloc(w->x->n_objectives * sizeof(*limit));
    ft__search_options how = {.searcher = w->opt->searcher,
                              .objectives = (uint32_t)w->x->n_objectives,
                              .limit = limit,
                              .seed = w->opt->design.seed};
    ft__search *s = NULL;
    ft_status st = limit ? FT_OK : ft_fail(w->err, FT_ENOMEM, 0, "search");

    for (size_t k = 0; k < w->x->n_objectives && !st; k++) {
        const ft_objective *o = &w->x->objective[k];

        if (!w->opt->meter &&
            (o->what == FT_MEASURED_ENERGY || o->what == FT_MEASURED_POWER))
            st = ft_fail(w->err, FT_EUNSUPPORTED, 0,
                         "%s: a search for the least %s needs to measure it: %s",
                         w->x->name, o->name,
                         w->opt->no_energy ? w->opt->no_energy : "there is no meter");
        limit[k] = isnan(o->limit) ? INFINITY : o->maximize ? -o->limit : o->limit;
    }
    if (!st)
        st = ft__search_new(&s, w->x->space, &how, w->err);
    if (!st)
        st = each_known(w, take_point);
    if (!st)
        st = each_known(w, take_known);
    if (!st)
        st = run_from(w, 0); /* what was cut off */
    for (size_t p = 0; p < w->points.n && !st; p++)
        if (is_finished(w, p))
            st = tell_search(w, s, p);
    if (!st)
        st = search_on(w, s);
    ft__search_free(s);
    free(limit);
    return st;
}

static ft_status count(struct work *w)
{
    w->out->points = w->points.n;
    for (size_t i = 0; i < w->points.n * w->x->n_workloads; i++) {
        bool more;
        ft_status st = wants_more(&more, w, &w->job[i]);

        if (st)
            return st;
        w->out->failed += w->job[i].runs.failed;
        w->out->left += more;
    }
    if (w->opt->searcher != FT_SEARCH_COUNT && is_over(w)) {
        double most = fmin((double)points_wanted(w), w->x->space->size);

        w->out->left += (size_t)fmax(0, most - (double)w->points.n) * w->x->n_workloads;
    }
    return FT_OK;
}

static void free_work(struct work *w)
{
    for (size_t i = 0; i < w->points.n * w->x->n_workloads; i++)
        ft__runs_free(&w->job[i].runs);
    for (size_t p = 0; p < w->points.n; p++)
        free(w->text[p]);
    ft__points_free(&w->points);
    free(w->text);
    free(w->job);
}

ft_status ft__explore(ft_explored *out, const ft_exploration *x, ft_store *store,
                      const ft_explore_options *opt, const ft__runner *runner,
                      ft_error *err)
{
    ft_error own = {0};
    struct work w = {.x = x,
                     .points.s = x->space,
                     .opt = opt,
                     .store = store,
                     .out = out,
                     .runner = runner,
                     .end_s = ft__clock_now(runner->clock) + opt->time_s,
                     .err = err ? err : &own};
    ft__trials stored;
    ft_status st;

    *out = (ft_explored){0};
    if (x->predict.n)
        return ft_fail(err, FT_EINVAL, 0, "%s: its points are predicted, not run",
                       x->name);
    if (x->build.n && !opt->build_dir)
        return ft_fail(err, FT_EINVAL, 0, "%s: builds need a folder", x->name);
    st = ft__notes_check(opt->note, opt->n_notes, err);
    if (st)
        return st;
    st = ft__trials_of(&stored, store, x->name, x->print, opt->plan, w.err);
    free(stored.plan);
    w.exploration = stored.number;
    if (!st)
        st = ft__store_begin_run(store, &w.run, opt->command ? opt->command : "",
                                 opt->environment ? opt->environment : "", w.err);
    if (!st)
        st = opt->searcher == FT_SEARCH_COUNT ? run_design(&w) : run_search(&w);
    if (!st)
        st = count(&w);
    free_work(&w);
    return st;
}

ft_status ft__explore_left(void (*each)(void *user, const char *point, bool left),
                           void *user, const ft_exploration *x, ft_store *store,
                           const ft_design_options *design, ft_error *err)
{
    const ft_explore_options opt = {.design = *design};
    struct work w = {
        .x = x, .points.s = x->space, .opt = &opt, .store = store, .err = err};
    const size_t n = x->n_workloads;
    ft__trials stored;
    ft_status st = ft__trials_of(&stored, store, x->name, x->print, NULL, err);

    free(stored.plan);
    w.exploration = stored.number;
    if (!st)
        st = add_design(&w);
    for (size_t p = 0; p < w.points.n && !st; p++) {
        bool left = false;

        for (size_t v = 0; v < n; v++) {
            const ft__runs *runs = &w.job[p * n + v].runs;

            left = left || (!runs->failed && runs->n < x->least_runs);
        }
        each(user, w.text[p], left);
    }
    free_work(&w);
    return st;
}

ft_status ft_explore_plan(char *buf, size_t size, const ft_exploration *x,
                          ft_store *store, ft_error *err)
{
    ft__trials stored;
    ft_status st = ft__trials_of(&stored, store, x->name, x->print, NULL, err);

    snprintf(buf, size, "%s", !st && stored.plan ? stored.plan : "");
    free(stored.plan);
    return st;
}

ft_status ft_explore(ft_explored *out, const ft_exploration *x, ft_store *store,
                     const ft_explore_options *opt, ft_error *err)
{
    return ft__explore(out, x, store, opt, &ft__system_runner, err);
}
