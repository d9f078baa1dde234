/* The measuring loop: rounds of several jobs in rotation, batches of iterations within
 * a round, every batch time kept (docs/measuring.md). */
#include "measure/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/stats.h"
#include "device/cpus.h"
#include "measure/readings.h"

enum { MAX_READINGS = 1 << 16, BURST = 32 };

/* Where fewer of the last rounds than this were undisturbed, waiting for quiet is in
 * vain: unless somebody said how often, rounds are marked and no longer redone. */
static const double in_vain_below = 0.1;
/* A round counts for so much of that share: the last thirty or so. */
static const double of_late = 1.0 / 32;

static const double default_time_s = 0.2;
static const double default_batch_s = 1e-3;
enum { DEFAULT_BATCHES = 5, DEFAULT_ROUNDS = 5 };

/* CPUs' worth of others' work that a round may see. */
static const double foreign_may_be = 0.1;

struct plan {
    double round_s, warmup_s, batch_s;
    uint32_t rounds;
    uint32_t batches; /* of a round at least */
    uint32_t max_redone;
    bool patient; /* redo whatever became of earlier rounds */
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
    p.patient = opt->max_redone > p.rounds;
    return p;
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
            t->batch_s = took / (double)n * (double)t->per_batch;
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
    ft_reading *r = ft__list_grow(t->readings, t->n, &t->cap, sizeof(*r));

    if (!r)
        return NULL;
    t->readings = r;
    return &r[t->n++];
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

    if (4 * t->batch_s <= p->round_s) {
        st = ft__run_batch(&took, &t->job, t->done, t->per_batch, &t->why);
        t->done += t->per_batch;
    }
    return st;
}

static ft_status run_round(ft__timed *t, const struct plan *p, uint32_t round,
                           double begin_s)
{
    const ft_session *s = t->job.session;
    double spent = 0;
    bool move = t->job.move && round && s->clock_is_real;
    ft_status st = move ? t->job.move(t->job.self, &t->why) : FT_OK;

    if (!st)
        st = settle(t, p);
    for (uint32_t i = 0;
         !st && t->n < MAX_READINGS && (i < p->batches || spent < p->round_s); i++) {
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

/* From round to round. */
static const double clock_may_move = 0.02;

static ft_conditions conditions_unknown(void)
{
    return (ft_conditions){.clock_low_hz = NAN,
                           .clock_high_hz = NAN,
                           .clock_hz = NAN,
                           .memory_clock_hz = NAN,
                           .temperature_max_k = NAN,
                           .foreign_load = NAN};
}

/* Mean of n + 1 values from that of n; unknown values do not count. */
static double mean_with(double mean, double one, uint32_t n)
{
    if (isnan(mean) || isnan(one))
        return isnan(mean) ? one : mean;
    return mean + (one - mean) / (double)(n + 1);
}

/* Add what one round showed to what earlier ones showed; n: how many these were. */
static void conditions_add(ft_conditions *sum, const ft_conditions *one, uint32_t n)
{
    sum->clock_low_hz = fmin(sum->clock_low_hz, one->clock_low_hz);
    sum->clock_high_hz = fmax(sum->clock_high_hz, one->clock_high_hz);
    sum->clock_hz = mean_with(sum->clock_hz, one->clock_hz, n);
    sum->memory_clock_hz = mean_with(sum->memory_clock_hz, one->memory_clock_hz, n);
    sum->temperature_max_k = fmax(sum->temperature_max_k, one->temperature_max_k);
    sum->foreign_load = mean_with(sum->foreign_load, one->foreign_load, n);
    sum->throttle |= one->throttle;
    sum->marks |= one->marks;
    sum->n += one->n;
    /* Rounds may each be steady and yet differ. */
    if (sum->clock_high_hz > (1 + clock_may_move) * sum->clock_low_hz)
        sum->marks |= FT_MARK_CLOCK_MOVED;
}

static const uint32_t disturbing = FT_MARK_CLOCK_MOVED | FT_MARK_THROTTLED |
                                   FT_MARK_FOREIGN_LOAD | FT_MARK_SPEED_MOVED;

static void mark_round(ft__timed *t, uint32_t round)
{
    for (size_t i = t->n; i-- > 0 && t->readings[i].round == round;)
        t->readings[i].marks |= FT_READING_DISTURBED;
}

/* A round that was disturbed is run again, unless that was tried often enough. */
static void judge(ft__timed *t, const struct plan *p, uint32_t round, bool in_vain,
                  const ft_conditions *c)
{
    if (c->marks & disturbing) {
        mark_round(t, round);
        if (t->redone < p->max_redone && !in_vain) {
            t->redone++;
            return;
        }
    }
    conditions_add(&t->seen, c, t->n_seen++);
    t->left--;
}

/* What measurements in two processes differ by where nothing else changes:
 * docs/notes/statistics.md. */
static const double least_floor = 0.0175;

/* What else differs when the calibration does, more than its own scatter. */
static const double may_differ = 0.04;

enum {
    KEPT = sizeof(((ft_session *)0)->calibrations) / sizeof(double),
    ENOUGH = 5, /* to say what is usual */
};

ft__calibrations ft__calibrations_so_far(const ft_session *s)
{
    ft__calibrations c = {.usual_s = s->usual_s, .scatter = least_floor};
    size_t n = s->n_calibrations < KEPT ? s->n_calibrations : KEPT;
    double v[KEPT], centre;

    if (n < ENOUGH)
        return c;
    memcpy(v, s->calibrations, n * sizeof(*v));
    ft__sort(v, n);
    c.usual_s = fmin(s->usual_s, ft__quantile(v, n, 0.1));
    centre = ft__quantile(v, n, 0.5);
    c.scatter = fmax(least_floor, ft__mad(v, n, centre) / centre);
    return c;
}

/* Note what the calibration of products took before or after a round. True: 4 % more or
 * less than usual. */
static bool calibration_moved(ft_session *s, double seconds)
{
    s->calibrations[s->n_calibrations++ % KEPT] = seconds;
    return fabs(seconds / ft__calibrations_so_far(s).usual_s - 1) > may_differ;
}

/* All that goes round. */
struct rotation {
    ft__timed *t;
    size_t n;
    ft_session *session;
    struct plan plan;
    ft_monitor *monitor;
    ft_conditions *seen; /* of each, in this round */
    ft__timed *calibration[FT__N_CALIBRATIONS];
    double begin_s;
};

/* A stretch of each calibration: the faster of two batches, for an interruption is not
 * what is asked for. What others left in the caches goes first. */
static void calibrate(struct rotation *r, double s[FT__N_CALIBRATIONS])
{
    for (uint32_t k = 0; k < FT__N_CALIBRATIONS; k++) {
        ft__timed *t = r->calibration[k];
        double first, second;

        s[k] = NAN;
        if (!t || t->st)
            continue;
        t->st = ft__run_batch(&first, &t->job, t->done, 1, &t->why);
        if (!t->st)
            t->st = ft__run_batch(&first, &t->job, t->done + 1, t->per_batch, &t->why);
        if (!t->st)
            t->st = ft__run_batch(&second, &t->job, t->done + 1 + t->per_batch,
                                  t->per_batch, &t->why);
        t->done += 1 + 2 * t->per_batch;
        if (!t->st)
            s[k] = fmin(first, second) / (double)t->per_batch;
    }
}

/* What stands for a round between two stretches: their mean, or where they differ the
 * one that was not disturbed. */
static double between(double before, double after)
{
    return fabs(before / after - 1) > may_differ ? fmin(before, after)
                                                 : 0.5 * (before + after);
}

/* Keep what the calibrations before and after a round of t took. False: no memory. */
static bool keep_calibrations(ft__timed *t, uint32_t round, const double *before,
                              const double *after)
{
    ft__calibrated *all = realloc(t->calibrated, (t->n_calibrated + 1) * sizeof(*all));

    if (!all)
        return false;
    t->calibrated = all;
    all[t->n_calibrated] = (ft__calibrated){.round = round};
    for (uint32_t k = 0; k < FT__N_CALIBRATIONS; k++)
        all[t->n_calibrated].s[k] = between(before[k], after[k]);
    t->n_calibrated++;
    return true;
}

/* Round `round` of i lay between these two. */
static void end_round(struct rotation *r, size_t i, uint32_t round,
                      const double *before, const double *after)
{
    enum { P = FT__CALIBRATE_PRODUCTS };
    ft__timed *t = &r->t[i];

    if (isnan(before[P]) || isnan(after[P]) ||
        !keep_calibrations(t, round, before, after))
        return;
    if (calibration_moved(r->session, before[P]) ||
        calibration_moved(r->session, after[P]))
        r->seen[i].marks |= FT_MARK_SPEED_MOVED;
}

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

    t->job.touch(t->job.self);
    st = ft__run_batch(&took, &t->job, t->done++, 1, &t->why);
    if (st || t->n == MAX_READINGS)
        return st;
    if (!r || r->round != round || r->value >= least_reading_s) {
        r = next_reading(t);
        if (!r)
            return ft_fail(&t->why, FT_ENOMEM, 0, "%zu readings", t->n);
        *r = (ft_reading){.start_s = at, .round = round};
    }
    r->value += took;
    r->iterations++;
    return FT_OK;
}

static bool is_active(const ft__timed *t)
{
    return !t->st && t->left && !t->calibrates;
}

static bool may_run_in_turn(const struct rotation *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (!r->t[i].job.touch)
            return false;
    return r->n > 1 && r->session->clock_is_real && !r->session->issues_ahead;
}

/* All in turn for as long as they have together; once around first that does not
 * count. */
static void run_in_turn(struct rotation *r, uint32_t round)
{
    const ft_session *s = r->session;
    double want_s = 0, end_s, took;

    for (size_t i = 0; i < r->n; i++)
        if (is_active(&r->t[i])) {
            want_s += r->plan.round_s;
            r->t[i].st =
                ft__run_batch(&took, &r->t[i].job, r->t[i].done++, 1, &r->t[i].why);
        }
    end_s = s->engine->now(s->context) + want_s;
    for (uint32_t k = 0; k < r->plan.batches || s->engine->now(s->context) < end_s; k++)
        for (size_t i = 0; i < r->n; i++)
            if (is_active(&r->t[i]))
                r->t[i].st = run_once(&r->t[i], round, r->begin_s);
}

static void run_all_in_turn(struct rotation *r, uint32_t round)
{
    ft_conditions seen = conditions_unknown();
    double before[FT__N_CALIBRATIONS], after[FT__N_CALIBRATIONS];

    calibrate(r, before);
    if (r->monitor)
        ft_monitor_start(r->monitor);
    run_in_turn(r, round);
    if (r->monitor)
        ft_monitor_stop(r->monitor, &seen);
    calibrate(r, after);
    for (size_t i = 0; i < r->n; i++) {
        r->seen[i] = seen;
        if (is_active(&r->t[i]))
            end_round(r, i, round, before, after);
    }
}

/* One round of each that has any left. */
static void run_all(struct rotation *r, uint32_t round)
{
    double took[2][FT__N_CALIBRATIONS];
    uint32_t now = 0;

    calibrate(r, took[now]);
    for (size_t i = 0; i < r->n; i++) {
        r->seen[i] = conditions_unknown();
        if (!is_active(&r->t[i]))
            continue;
        if (r->monitor)
            ft_monitor_start(r->monitor);
        r->t[i].st = run_round(&r->t[i], &r->plan, round, r->begin_s);
        if (r->monitor)
            ft_monitor_stop(r->monitor, &r->seen[i]);
        calibrate(r, took[1 - now]);
        end_round(r, i, round, took[now], took[1 - now]);
        now = 1 - now;
    }
}

/* The same, and see what disturbed them. */
static void cycle(struct rotation *r, uint32_t round)
{
    ft__cpu_load from = ft__load_now("", NULL), to;
    double foreign = NAN;
    double *calm = &r->session->calm;
    bool in_vain = *calm < in_vain_below && !r->plan.patient;

    if (may_run_in_turn(r))
        run_all_in_turn(r, round);
    else
        run_all(r, round);
    to = ft__load_now("", NULL);
    if (r->session->clock_is_real)
        foreign = ft__load_foreign(&from, &to);
    for (size_t i = 0; i < r->n; i++) {
        ft_conditions *c = &r->seen[i];

        if (!is_active(&r->t[i]))
            continue;
        /* The longer stretch tells better than a monitor's short one. */
        if (!isnan(foreign)) {
            c->foreign_load = foreign;
            c->marks &= ~(uint32_t)FT_MARK_FOREIGN_LOAD;
        }
        if (foreign > foreign_may_be)
            c->marks |= FT_MARK_FOREIGN_LOAD;
        *calm += of_late * (!(c->marks & disturbing) - *calm);
        judge(&r->t[i], &r->plan, round, in_vain, c);
    }
}

static bool any_left(const ft__timed *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_active(&t[i]))
            return true;
    return false;
}

/* One round more for each whose rounds disagree, at most as often as any are redone.
 * False: none is wanted. */
static bool want_more(struct rotation *r)
{
    bool any = false;

    for (size_t i = 0; i < r->n; i++) {
        ft__timed *t = &r->t[i];

        if (t->st || t->calibrates || t->left || t->redone >= r->plan.max_redone ||
            ft__timed_agrees(t, r->plan.rounds))
            continue;
        t->left = 1;
        t->redone++;
        any = true;
    }
    return any;
}

static void timed_free(ft__timed *t)
{
    free(t->readings);
    free(t->launches);
    free(t->calibrated);
}

static void conclude(const ft__turn *turn, ft__timed *t)
{
    if (turn->out && !t->st)
        t->st = ft__timed_result(turn->out, t, &t->why);
    if (turn->why && t->st) {
        *turn->why = t->why;
        turn->why->status = t->st;
    }
}

ft_status ft__rounds_run(const ft__turn *turn, size_t n, ft_session *s,
                         const ft_measure_options *opt, ft_error *err)
{
    struct rotation r = {.t = calloc(n + 1, sizeof(*r.t)),
                         .n = n,
                         .session = s,
                         .plan = plan_of(opt),
                         .monitor = s->clock_is_real ? opt->monitor : NULL,
                         .seen = calloc(n + 1, sizeof(*r.seen))};

    if (!r.t || !r.seen) {
        free(r.t);
        free(r.seen);
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    }
    for (size_t i = 0; i < n; i++) {
        ft__timed *t = &r.t[i];

        *t = (ft__timed){.job = turn[i].job,
                         .calibrates = turn[i].calibrates,
                         .like = turn[i].like,
                         .left = r.plan.rounds,
                         .seen = conditions_unknown()};
        t->st = warm_up(t, &r.plan);
        if (t->calibrates)
            r.calibration[t->calibrates - 1] = t;
    }
    r.begin_s = s->engine->now(s->context);
    for (uint32_t round = 0; any_left(r.t, n) || want_more(&r); round++)
        cycle(&r, round);
    for (size_t i = 0; i < n; i++) {
        conclude(&turn[i], &r.t[i]);
        timed_free(&r.t[i]);
    }
    free(r.t);
    free(r.seen);
    return FT_OK;
}
