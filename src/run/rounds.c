/* The measuring loop: rounds of several jobs in rotation, batches of iterations
 * within a round, every batch time kept. */
#include "run/rounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "device/load.h"

enum { MAX_READINGS = 1 << 16, BURST = 32 };

static const double default_time_s = 0.2;
static const double default_batch_s = 1e-3;
enum { DEFAULT_BATCHES = 5, DEFAULT_ROUNDS = 5 };

/* CPUs' worth of others' work that a round may see. */
static const double foreign_may_be = 0.1;

struct plan {
    double round_s;
    double warmup_s;
    double batch_s;
    uint32_t rounds;
    uint32_t batches; /* of a round at least */
    uint32_t max_redone;
};

static struct plan plan_of(const ft_measure_options *opt)
{
    double time_s = opt->min_time_s > 0 ? opt->min_time_s : default_time_s;
    uint32_t batches = opt->min_batches ? opt->min_batches : DEFAULT_BATCHES;
    struct plan p = {.rounds = opt->rounds ? opt->rounds : DEFAULT_ROUNDS};

    p.round_s = time_s / p.rounds;
    p.warmup_s = opt->warmup_s > 0 ? opt->warmup_s : time_s / 10;
    p.batch_s = opt->batch_time_s > 0 ? opt->batch_time_s : default_batch_s;
    p.batches = (batches + p.rounds - 1) / p.rounds;
    p.max_redone = opt->max_redone ? opt->max_redone : p.rounds;
    return p;
}

ft_status ft__run_batch(double *seconds, const ft__job *job, uint64_t first, uint64_t n,
                        ft_error *err)
{
    const ft_engine *e = job->session->engine;
    double t0 = e->now(job->session->context);
    ft_status st = FT_OK;

    for (uint64_t i = 0; i < n && !st; i++)
        st = job->run(job->self, first + i, err);
    if (!st)
        st = e->sync(job->session->context, err);
    *seconds = e->now(job->session->context) - t0;
    return st;
}

/* Run for warmup_s and find how many iterations take batch_s. */
static ft_status warm_up(ft__timed *t, const struct plan *p)
{
    double spent = 0, took = 0;
    uint64_t n = 1;

    for (;;) {
        ft_status st = ft__run_batch(&took, &t->job, t->done, n, &t->why);

        if (st)
            return st;
        t->done += n;
        spent += took;
        if (took >= p->batch_s) {
            double fit = ceil((double)n * p->batch_s / took);

            t->per_batch = fit < 1 ? 1 : (uint64_t)fit;
            if (spent >= p->warmup_s)
                return FT_OK;
        } else {
            /* Grow towards the target, at most tenfold a step: the first
             * iterations are slow and mislead. */
            double want =
                took > 0 ? 1.2 * (double)n * p->batch_s / took : 10.0 * (double)n;

            n = (uint64_t)fmin(want, 10.0 * (double)n) + 1;
        }
    }
}

static ft_reading *next_reading(ft__timed *t)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;
        ft_reading *r = realloc(t->readings, cap * sizeof(*r));

        if (!r)
            return NULL;
        t->readings = r;
        t->cap = cap;
    }
    return &t->readings[t->n++];
}

/* Time to issue a few iterations: few, for a device's queue is of limited length
 * and a full one would make us wait. */
static ft_status time_launch(ft__timed *t, uint32_t round, double begin_s)
{
    const ft_engine *e = t->job.session->engine;
    ft_engine_context *c = t->job.session->context;
    uint64_t n = t->per_batch < BURST ? t->per_batch : BURST;
    ft_reading *all = realloc(t->launches, (t->n_launches + 1) * sizeof(*t->launches));
    ft_status st = FT_OK;
    double t0, t1;

    if (!all)
        return ft_fail(&t->why, FT_ENOMEM, 0, "%zu readings", t->n_launches);
    t->launches = all;
    t0 = e->now(c);
    for (uint64_t i = 0; i < n && !st; i++)
        st = t->job.run(t->job.self, t->done++, &t->why);
    t1 = e->now(c);
    if (!st)
        st = e->sync(c, &t->why);
    all[t->n_launches++] = (ft_reading){
        .value = t1 - t0, .start_s = t0 - begin_s, .iterations = n, .round = round};
    return st;
}

/* What others left in the caches goes first, where that is cheap. */
static ft_status settle(ft__timed *t, const struct plan *p)
{
    double took;
    ft_status st = FT_OK;

    if (p->round_s >= 10 * p->batch_s || t->per_batch > 1) {
        st = ft__run_batch(&took, &t->job, t->done, t->per_batch, &t->why);
        t->done += t->per_batch;
    }
    return st;
}

static ft_status run_round(ft__timed *t, const struct plan *p, uint32_t round,
                           double begin_s)
{
    const ft_session *s = t->job.session;
    double want_s = t->round_s > 0 ? t->round_s : p->round_s, spent = 0;
    ft_status st = t->job.move && round ? t->job.move(t->job.self, &t->why) : FT_OK;

    if (!st)
        st = settle(t, p);
    for (uint32_t i = 0;
         !st && t->n < MAX_READINGS && (i < p->batches || spent < want_s); i++) {
        ft_reading *r = next_reading(t);

        if (!r)
            return ft_fail(&t->why, FT_ENOMEM, 0, "%zu readings", t->n);
        *r = (ft_reading){.start_s = s->engine->now(s->context) - begin_s,
                          .iterations = t->per_batch,
                          .round = round};
        st = ft__run_batch(&r->value, &t->job, t->done, t->per_batch, &t->why);
        t->done += t->per_batch;
        spent += r->value;
    }
    return !st && s->issues_ahead ? time_launch(t, round, begin_s) : st;
}

/* ---- disturbances ---- */

static void mark_round(ft__timed *t, uint32_t round)
{
    for (size_t i = t->n; i-- > 0 && t->readings[i].round == round;)
        t->readings[i].marks |= FT_READING_DISTURBED;
}

/* A round that was disturbed is run again, unless that was tried often enough. */
static void judge(ft__timed *t, const struct plan *p, uint32_t round,
                  const ft_conditions *c)
{
    uint32_t bad = FT_MARK_CLOCK_MOVED | FT_MARK_THROTTLED | FT_MARK_FOREIGN_LOAD;

    if (c->marks & bad) {
        mark_round(t, round);
        if (t->redone < p->max_redone) {
            t->redone++;
            return;
        }
    }
    ft__conditions_add(&t->seen, c, t->n_seen++);
    t->left--;
}

/* ---- one after the other ---- */

/* In a network an operation finds its operands in the caches, but its code, and the
 * tables that addresses are translated by, thrown out by the one before: that is
 * many times what a short operation takes in a loop of its own. So each runs once,
 * then the next. Only engines that issue and run at once can be timed so
 * (docs/validate.md). */
static const double least_reading_s = 50e-6;

static ft_status run_once(ft__timed *t, uint32_t round, double begin_s)
{
    const ft_session *s = t->job.session;
    ft_reading *r = t->n ? &t->readings[t->n - 1] : NULL;
    double took, at = s->engine->now(s->context) - begin_s;
    ft_status st;

    if (t->job.touch)
        t->job.touch(t->job.self);
    st = ft__run_batch(&took, &t->job, t->done++, 1, &t->why);

    if (st)
        return st;
    if (!r || r->round != round || r->value >= least_reading_s) {
        r = t->n < MAX_READINGS ? next_reading(t) : NULL;
        if (!r)
            return t->n < MAX_READINGS
                       ? ft_fail(&t->why, FT_ENOMEM, 0, "%zu readings", t->n)
                       : FT_OK;
        *r = (ft_reading){.start_s = at, .round = round};
    }
    r->value += took;
    r->iterations++;
    return FT_OK;
}

static bool is_active(const ft__timed *t)
{
    return !t->st && t->left;
}

static bool may_run_in_turn(const ft__timed *t, size_t n, const ft_session *s)
{
    for (size_t i = 0; i < n; i++)
        if (!t[i].job.touch)
            return false;
    return n > 1 && s->clock_is_real && !s->issues_ahead;
}

/* All in turn for as long as they have together; once around first that does not
 * count. */
static void run_in_turn(ft__timed *t, size_t n, const ft_session *s,
                        const struct plan *p, uint32_t round, double begin_s)
{
    double want_s = 0, end_s = 0, took;

    for (size_t i = 0; i < n; i++)
        if (is_active(&t[i])) {
            want_s += t[i].round_s > 0 ? t[i].round_s : p->round_s;
            if (t[i].job.move && round)
                t[i].st = t[i].job.move(t[i].job.self, &t[i].why);
        }
    for (size_t i = 0; i < n; i++)
        if (is_active(&t[i]))
            t[i].st = ft__run_batch(&took, &t[i].job, t[i].done++, 1, &t[i].why);
    end_s = s->engine->now(s->context) + want_s;
    for (uint32_t k = 0; k < p->batches || s->engine->now(s->context) < end_s; k++)
        for (size_t i = 0; i < n; i++)
            if (is_active(&t[i]))
                t[i].st = run_once(&t[i], round, begin_s);
}

/* ---- rounds ---- */

static void run_each(ft__timed *t, size_t n, const struct plan *p, uint32_t round,
                     double begin_s, ft_conditions *seen, ft_monitor *monitor)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_active(&t[i]))
            continue;
        if (monitor)
            ft_monitor_start(monitor);
        t[i].st = run_round(&t[i], p, round, begin_s);
        if (monitor)
            ft_monitor_stop(monitor, &seen[i]);
    }
}

static void run_all(ft__timed *t, size_t n, const ft_session *s, const struct plan *p,
                    uint32_t round, double begin_s, ft_conditions *seen,
                    ft_monitor *monitor)
{
    ft_conditions all = ft__conditions_unknown();

    if (monitor)
        ft_monitor_start(monitor);
    run_in_turn(t, n, s, p, round, begin_s);
    if (monitor)
        ft_monitor_stop(monitor, &all);
    for (size_t i = 0; i < n; i++)
        seen[i] = all;
}

/* One round of each that has any left. */
static void cycle(ft__timed *t, size_t n, const ft_session *s, const struct plan *p,
                  uint32_t round, double begin_s, ft_conditions *seen,
                  ft_monitor *monitor)
{
    ft__load from = ft__load_now("", NULL), to;
    double foreign = NAN;

    for (size_t i = 0; i < n; i++)
        seen[i] = ft__conditions_unknown();
    if (may_run_in_turn(t, n, s))
        run_all(t, n, s, p, round, begin_s, seen, monitor);
    else
        run_each(t, n, p, round, begin_s, seen, monitor);
    to = ft__load_now("", NULL);
    if (s->clock_is_real)
        foreign = ft__load_foreign(&from, &to);
    for (size_t i = 0; i < n; i++) {
        seen[i].foreign_load = foreign;
        seen[i].marks &= ~(uint32_t)FT_MARK_FOREIGN_LOAD;
        if (foreign > foreign_may_be)
            seen[i].marks |= FT_MARK_FOREIGN_LOAD;
        if (!t[i].st && t[i].left)
            judge(&t[i], p, round, &seen[i]);
    }
}

static bool any_left(const ft__timed *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!t[i].st && t[i].left)
            return true;
    return false;
}

ft_status ft__rounds_run(ft__timed *t, size_t n, ft_session *s,
                         const ft_measure_options *opt, ft_error *err)
{
    struct plan p = plan_of(opt);
    ft_conditions *seen = calloc(n + 1, sizeof(*seen));
    double begin_s;

    if (!seen)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    for (size_t i = 0; i < n; i++) {
        t[i].left = p.rounds;
        t[i].seen = ft__conditions_unknown();
        t[i].st = warm_up(&t[i], &p);
    }
    begin_s = s->engine->now(s->context);
    for (uint32_t round = 0; any_left(t, n); round++)
        cycle(t, n, s, &p, round, begin_s, seen,
              s->clock_is_real ? opt->monitor : NULL);
    free(seen);
    return FT_OK;
}

void ft__timed_free(ft__timed *t)
{
    free(t->readings);
    free(t->launches);
    t->readings = t->launches = NULL;
}

/* ---- what came of it ---- */

ft_status ft__timing_take(ft_timing *out, ft__timed *t, const ft_measure_options *opt,
                          ft_error *err)
{
    ft_status st = ft__mark_outliers(&out->outliers, t->readings, t->n, err);

    if (!st)
        st = ft_measurement_of_times(&out->time, t->readings, t->n, err);
    if (!st && t->n_launches)
        st = ft_measurement_of_times(&out->launch, t->launches, t->n_launches, err);
    else
        out->launch = (ft_measurement){.unit = "s", .value = NAN, .error = NAN};
    if (st)
        return st;
    if (opt->error_floor > 0)
        out->time.error = hypot(out->time.error, opt->error_floor * out->time.value);
    out->readings = t->readings;
    out->n_readings = t->n;
    out->launches = t->launches;
    out->conditions = t->seen;
    out->redone = t->redone;
    out->rounds = t->n_seen;
    out->calibration_s = NAN;
    t->readings = t->launches = NULL;
    return FT_OK;
}
