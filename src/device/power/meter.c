/* A meter's thread: reads what is due, and knows when a stretch has its ends. */
#include "device/power/meter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "device/power/trace.h"
#include "device/power/updates.h"

enum { AWAITED = 2 };
static const double least_period_s = 1e-3, usual_period_s = 0.01, most_period_s = 0.05;

static double now_of(const ft_meter *m)
{
    return ft__clock_now(m->all.clock);
}

/* A counter that has gone back has wrapped; where it is not known at what, it may
 * have been set back, and there is nothing to count from. */
static double unwrap(struct ft__lane *l, double raw)
{
    double range = l->source->wraps_at_j;

    if (!isfinite(raw))
        return raw;
    if (raw < l->last_raw && isfinite(range))
        l->turns += range;
    l->last_raw = raw;
    return raw + l->turns;
}

static bool append(struct ft__lane *l, const ft_power_reading *r)
{
    ft_power_reading *more = ft__list_grow(l->r, l->n, &l->cap, sizeof(*more));

    if (!more)
        return false;
    l->r = more;
    l->r[l->n++] = *r;
    return true;
}

static bool differs(double v, double before)
{
    return isfinite(v) && isfinite(before) && v != before;
}

static void note_fresh(struct ft__lane *l, const ft_power_reading *r)
{
    const ft_domain *d = &l->source->d;

    /* Where the period is not known, two readings have to do. */
    l->fresh += d->all_fresh || !isfinite(d->period_s) ||
                differs(r->watts, l->last_watts) || differs(r->joules, l->last_joules);
    l->last_watts = r->watts;
    l->last_joules = r->joules;
}

/* The time of a reading is the middle of the call. A call during which the thread had
 * to wait tells a wrong time: once more, twice at most, where the source holds its
 * value for us. */
static ft__read read_once(struct ft__lane *l, ft_power_reading *r)
{
    ft__read how = FT__READ_FAILED;

    for (int tries = 0; tries < 3; tries++) {
        double before = ft__clock_now(l->source->all->clock), took;

        *r = (ft_power_reading){before, NAN, NAN};
        how = l->source->read(l->source, r);
        took = ft__clock_now(l->source->all->clock) - before;
        r->at_s = before + took / 2;
        l->cost = l->cost > 0 ? fmin(took, 0.9 * l->cost + 0.1 * took) : took;
        if (how != FT__READ_GOOD || took < 4 * l->cost + 1e-4 || l->source->hands_over)
            break;
    }
    return how;
}

static bool read_lane(struct ft__lane *l)
{
    ft_power_reading r;
    ft__read how = read_once(l, &r);

    if (how == FT__READ_SAME)
        return true;
    l->failed = how == FT__READ_FAILED ? l->failed + 1 : 0;
    if (how == FT__READ_FAILED)
        r.watts = r.joules = NAN;
    r.joules = unwrap(l, r.joules);
    note_fresh(l, &r);
    return append(l, &r);
}

/* Not more than a twentieth of a CPU for one domain, and a dead source is asked
 * now and then only. */
static double pause_of(const struct ft__lane *l)
{
    double pause = fmax(l->period, 20 * l->cost);

    return l->failed > 20 ? fmax(pause, 0.2) : pause;
}

static bool has_settled(const ft_meter *m, double now)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->lane[i].fresh < AWAITED && now < m->lane[i].patience &&
            !m->lane[i].failed)
            return false;
    return true;
}

/* Reads what is due; when the next one is. */
static double read_due(ft_meter *m, double now)
{
    double next = INFINITY;

    for (uint32_t i = 0; i < m->n; i++) {
        struct ft__lane *l = &m->lane[i];
        double pause;

        if (l->next <= now) {
            if (!read_lane(l))
                m->short_of_memory = true;
            pause = pause_of(l);
            /* Polls that were missed are not made up for. */
            l->next = pause > l->period ? now + pause
                                        : fmax(l->next + pause, now + pause / 2);
        }
        next = fmin(next, l->next);
    }
    return next;
}

/* Awaits that every lane bring AWAITED values from now on. */
static void be_patient(ft_meter *m, double now)
{
    for (uint32_t i = 0; i < m->n; i++) {
        struct ft__lane *l = &m->lane[i];
        double period = fmax(
            pause_of(l), isfinite(l->source->d.period_s) ? l->source->d.period_s : 0);

        l->fresh = 0;
        l->patience = now + fmin(fmax(0.5, 2.2 * period), 3.5 * period);
    }
    m->settled = false;
}

/* One look at all lanes; the lock is held. True: it was the last one. */
static bool look(ft_meter *m, double now)
{
    pthread_mutex_unlock(&m->lock);
    m->next_s = read_due(m, now);
    pthread_mutex_lock(&m->lock);
    if (m->linger)
        be_patient(m, now_of(m));
    m->linger = false;
    if (!m->settled && has_settled(m, now_of(m))) {
        m->settled = true;
        pthread_cond_broadcast(&m->change);
    }
    return m->stop && m->settled;
}

static void *work(void *user)
{
    ft_meter *m = user;

    pthread_mutex_lock(&m->lock);
    while (!look(m, ft__now_s())) {
        struct timespec until = ft__timespec(m->next_s);

        pthread_cond_timedwait(&m->change, &m->lock, &until);
    }
    m->cpu_s = ft__clock_s(CLOCK_THREAD_CPUTIME_ID);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* Let time pass until the next reading is due; as look(). */
static bool look_when_due(ft_meter *m)
{
    double wait_s = m->next_s - now_of(m);
    bool last;

    if (wait_s > 0)
        ft__clock_sleep(m->all.clock, wait_s);
    pthread_mutex_lock(&m->lock);
    last = look(m, fmax(m->next_s, now_of(m)));
    pthread_mutex_unlock(&m->lock);
    return last;
}

double ft__meter_pass(ft_meter *m, double seconds)
{
    double end_s = now_of(m) + seconds;

    while (m->all.clock && m->running && m->next_s <= end_s)
        (void)look_when_due(m);
    ft__clock_sleep(m->all.clock, fmax(0, end_s - now_of(m)));
    return now_of(m);
}

static double poll_period(const ft_meter *m, const ft_domain *d)
{
    if (m->period_s > 0)
        return m->period_s;
    if (!isfinite(d->period_s))
        return m->probing ? 2 * least_period_s : usual_period_s;
    /* Edges of a counter are interpolated: not every step of it need be seen. */
    if (d->counts && !d->tells_power)
        return fmin(fmax(d->period_s / 10, usual_period_s / 2), most_period_s);
    return fmin(fmax(d->period_s / 10, least_period_s), most_period_s);
}

double ft__meter_loop_s(const ft_meter *m, uint32_t domain, double asked_s,
                        double error)
{
    static const double usual_error = 0.02, most_s = 5;
    const ft_domain *d = &m->domain[domain];
    /* What a value is an average over, and how late it may be seen. */
    double update_s =
        fmax(isfinite(d->window_s) ? fmax(d->period_s, d->window_s) : d->period_s,
             poll_period(m, d));
    double ends_s = isfinite(d->period_s)
                        ? 2 * update_s / (error > 0 ? error : usual_error)
                        : most_s;

    return fmax(asked_s > 0 ? asked_s : fmin(ends_s, most_s), d->least_s);
}

/* Begin a thread that reads. */
static ft_status begin_reading(ft_meter *m, ft_error *err)
{
    int code;

    m->began_s = m->next_s = now_of(m);
    m->stop = m->linger = m->short_of_memory = false;
    m->cpu_s = NAN;
    for (uint32_t i = 0; i < m->n; i++) {
        struct ft__lane *l = &m->lane[i];

        if (l->source->begin)
            l->source->begin(l->source);
        l->period = poll_period(m, &l->source->d);
        l->next = m->began_s;
        l->n = 0;
        l->failed = 0;
        l->cost = 0;
        l->turns = 0;
        l->last_raw = l->last_watts = l->last_joules = NAN;
    }
    be_patient(m, m->began_s);
    code = m->all.clock ? 0 : pthread_create(&m->thread, NULL, work, m);
    if (code)
        return ft_fail(err, FT_EIO, 0, "the meter's thread: %s", strerror(code));
    m->running = true;
    return FT_OK;
}

/* And end it once every lane has settled, or at once. */
static void end_reading(ft_meter *m, bool linger)
{
    pthread_mutex_lock(&m->lock);
    m->linger = linger;
    m->settled = m->settled || !linger;
    m->stop = true;
    pthread_cond_broadcast(&m->change);
    pthread_mutex_unlock(&m->lock);
    if (m->all.clock) {
        m->next_s = now_of(m); /* woken, as the thread is */
        while (!look_when_due(m))
            ;
    } else {
        pthread_join(m->thread, NULL);
    }
    m->running = false;
    m->wall_s = now_of(m) - m->began_s;
}

ft_status ft__meter_try(ft_meter *m, double seconds, ft_error *err)
{
    ft_status st;

    m->probing = true;
    st = begin_reading(m, err);
    m->probing = false;
    if (st)
        return st;
    (void)ft__meter_pass(m, seconds);
    end_reading(m, false);
    return FT_OK;
}

void ft_meter_close(ft_meter *m)
{
    if (!m)
        return;
    if (m->running)
        end_reading(m, false);
    for (uint32_t i = 0; i < m->n; i++)
        free(m->lane[i].r);
    free(m->lane);
    free(m->domain);
    ft__sources_free(&m->all);
    pthread_cond_destroy(&m->change);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

uint32_t ft_meter_n_domains(const ft_meter *m)
{
    return m->n;
}

const ft_domain *ft_meter_domain(const ft_meter *m, uint32_t i)
{
    return &m->domain[i];
}

ft_status ft__meter_start(ft_meter *m, ft_error *err)
{
    ft_status st;

    if (m->running)
        return ft_fail(err, FT_EINVAL, 0, "the meter has been started already");
    st = begin_reading(m, err);
    if (st)
        return st;
    while (m->all.clock && !m->settled)
        (void)look_when_due(m);
    pthread_mutex_lock(&m->lock);
    while (!m->settled)
        pthread_cond_wait(&m->change, &m->lock);
    pthread_mutex_unlock(&m->lock);
    return FT_OK;
}

/* The readings change hands. */
static ft_status hand_over(ft_meter *m, ft_trace *out, ft_error *err)
{
    ft_status st = ft__trace_new(out, m->domain, m->n, err);

    if (st)
        return st;
    out->cpu_share = m->cpu_s / m->wall_s;
    for (uint32_t i = 0; i < m->n; i++) {
        struct ft__lane *l = &m->lane[i];

        out->n[i] = l->n;
        out->reading[i] = l->r;
        l->r = NULL;
        l->n = l->cap = 0;
        out->why[i] =
            ft__arena_strndup(out->memory, l->source->why, strlen(l->source->why));
        l->source->why[0] = '\0';
        if (!out->why[i]) {
            ft_trace_free(out);
            return ft_fail(err, FT_ENOMEM, 0, "a trace");
        }
    }
    return FT_OK;
}

ft_status ft__meter_stop(ft_meter *m, ft_trace *out, ft_error *err)
{
    *out = (ft_trace){.cpu_share = NAN};
    if (!m->running)
        return ft_fail(err, FT_EINVAL, 0, "the meter has not been started");
    end_reading(m, true);
    if (m->short_of_memory)
        return ft_fail(err, FT_ENOMEM, 0, "the meter's readings");
    return hand_over(m, out, err);
}

ft_status ft_meter_watch(ft_meter *m, void (*run)(void *user), void *user,
                         ft_trace *out, double *from_s, double *to_s, ft_error *err)
{
    ft_status st = ft__meter_start(m, err);

    *out = (ft_trace){.cpu_share = NAN};
    *from_s = *to_s = NAN;
    if (st)
        return st;
    *from_s = now_of(m);
    run(user);
    *to_s = now_of(m);
    return ft__meter_stop(m, out, err);
}

struct steps {
    ft_meter *meter;
    const double *from_s; /* when they began */
    double seconds;
    bool (*step)(void *user);
    void *user;
};

static void run_steps(void *user)
{
    const struct steps *s = user;
    double end_s = *s->from_s + s->seconds;
    bool more;

    do
        more = s->step(s->user);
    while (ft__meter_pass(s->meter, 0) < end_s && more);
}

ft_status ft__meter_loop(ft_meter *m, const ft__clock *clock, double seconds,
                         bool (*step)(void *user), void *user, ft_trace *out,
                         double *from_s, double *to_s, ft_error *err)
{
    const ft__clock *own = m->all.clock;
    struct steps s = {m, from_s, seconds, step, user};
    ft_status st;

    if (clock && m->plays)
        m->all.clock = clock;
    st = ft_meter_watch(m, run_steps, &s, out, from_s, to_s, err);
    m->all.clock = own;
    return st;
}

/* Levels between from and to: watts as they came, or of a counter its growth over at
 * least an eleventh of the time, as single steps come irregularly. */
static size_t levels(double *v, const ft__updates *u, bool counts, double from,
                     double to)
{
    const ft__update *last = NULL;
    size_t n = 0;

    for (size_t i = 0; i < u->n; i++) {
        const ft__update *x = &u->u[i];

        if (x->at_s < from || x->at_s > to)
            continue;
        if (!counts)
            v[n++] = x->value;
        else if (last && x->at_s - last->at_s < (to - from) / 11)
            continue;
        else if (last)
            v[n++] = (x->value - last->value) / (x->at_s - last->at_s);
        last = x;
    }
    return n;
}

static double idle_watts(const ft_trace *t, uint32_t i, double from, double to)
{
    const ft_domain *d = &t->domain[i];
    double *v, median = NAN;
    ft__updates u;
    size_t n = 0;

    if (!ft__updates_find(&u, d, t->reading[i], t->n[i], !d->tells_power, from, to))
        return NAN;
    v = malloc((u.n + 1) * sizeof(*v));
    if (v)
        n = levels(v, &u, !d->tells_power, from, to);
    if (n)
        median = ft__median(v, n);
    free(v);
    free(u.u);
    return median;
}

ft_status ft__meter_idle(ft_meter *m, double quiet_s, double *watts, ft_error *err)
{
    double from, to;
    ft_trace t = {0};
    ft_status st;

    for (uint32_t i = 0; i < m->n; i++)
        watts[i] = NAN;
    if (!(quiet_s > 0 && quiet_s <= 3600))
        return ft_fail(err, FT_EINVAL, 0, "idle power is watched for up to 3600 s");
    st = ft__meter_start(m, err);
    if (st)
        return st;
    from = now_of(m);
    to = ft__meter_pass(m, quiet_s);
    st = ft__meter_stop(m, &t, err);
    for (uint32_t i = 0; !st && i < t.n_domains; i++)
        watts[i] = idle_watts(&t, i, from, to);
    ft_trace_free(&t);
    return st;
}
