/* A thread that watches clocks, temperature and load while something runs, and what it
 * saw as text. */
#define _GNU_SOURCE /* CPU sets */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "device/watch.h"

/* Between samples: at least; and so long that they take this share of a CPU. */
static const double period_s = 0.1;
static const double share = 0.004;
/* The first one: what comes before may still be the governor's awakening. */
static const double first_s = 0.01;

struct ft_monitor {
    ft__watch watch; /* of the thread while it runs, else of the caller */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool running, ending; /* under the lock */
};

/* Until start, stop, the end, or when_s; the lock is held. */
static bool wait_until(ft_monitor *m, double when_s)
{
    const struct timespec t = ft__timespec(when_s);

    return pthread_cond_timedwait(&m->changed, &m->lock, &t) != ETIMEDOUT;
}

static void sample_while_running(ft_monitor *m)
{
    double next_s = ft__now_s() + first_s;

    while (m->running) {
        double before_s;

        if (wait_until(m, next_s) || !m->running)
            continue;
        before_s = ft__clock_s(CLOCK_THREAD_CPUTIME_ID);
        ft__watch_sample(&m->watch);
        next_s =
            ft__now_s() +
            fmax(period_s, (ft__clock_s(CLOCK_THREAD_CPUTIME_ID) - before_s) / share);
    }
}

static void *work(void *user)
{
    ft_monitor *m = user;

    pthread_mutex_lock(&m->lock);
    while (!m->ending) {
        if (m->running)
            sample_while_running(m);
        else
            pthread_cond_wait(&m->changed, &m->lock);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* Without a thread a sample is taken at each stop: better than none. */
static void start_thread(ft_monitor *m)
{
    pthread_condattr_t how;
    sigset_t all, before;

    pthread_mutex_init(&m->lock, NULL);
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&m->changed, &how);
    pthread_condattr_destroy(&how);
    /* Signals are the program's. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    m->has_thread = pthread_create(&m->thread, NULL, work, m) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

ft_status ft_monitor_open(ft_monitor **out, const char *device,
                          const ft_settings_options *opt, ft_error *err)
{
    ft_monitor *m = calloc(1, sizeof(*m));
    ft_status st;

    *out = NULL;
    if (!m)
        return ft_fail(err, FT_ENOMEM, 0, "monitor");
    st = ft__watch_open(&m->watch, device, opt, err);
    if (st) {
        free(m);
        return st;
    }
    start_thread(m);
    *out = m;
    return FT_OK;
}

static void set_running(ft_monitor *m, bool running, bool ending)
{
    pthread_mutex_lock(&m->lock);
    m->running = running;
    m->ending = ending;
    pthread_cond_signal(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

void ft_monitor_close(ft_monitor *m)
{
    if (!m)
        return;
    set_running(m, false, true);
    if (m->has_thread)
        pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    ft__watch_close(&m->watch);
    free(m);
}

/* The caller's CPUs are watched; the thread keeps off them, where there are others. */
static void share_out(ft_monitor *m, ft__cpus *watched)
{
    cpu_set_t callers, others;

    memset(watched, 0, sizeof(*watched));
    if (sched_getaffinity(0, sizeof(callers), &callers))
        return;
    CPU_ZERO(&others);
    for (unsigned i = 0; i < CPU_SETSIZE && i < FT__MAX_CPUS; i++) {
        ft__cpus_put(watched, i, CPU_ISSET(i, &callers));
        if (!watched->has[i])
            CPU_SET(i, &others);
    }
    if (m->has_thread)
        (void)pthread_setaffinity_np(m->thread, sizeof(others), &others);
}

void ft_monitor_start(ft_monitor *m)
{
    ft__cpus watched;

    share_out(m, &watched);
    ft__watch_begin(&m->watch, &watched);
    set_running(m, true, false);
}

void ft_monitor_stop(ft_monitor *m, ft_conditions *out)
{
    set_running(m, false, false);
    /* Too short for the thread to have looked. */
    if (m->watch.n == 0)
        ft__watch_sample(&m->watch);
    ft__watch_end(&m->watch, out);
}

/* ---- as text ---- */

FT_PRINTF(4, 5)
static void word(char *buf, size_t size, size_t *len, const char *fmt, ...)
{
    char text[128];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (*len < size)
        snprintf(buf + *len, size - *len, "%s%s", *len ? ", " : "", text);
    *len += strlen(text) + (*len ? 2 : 0);
}

static void throttle_text(char *text, size_t size, uint64_t reasons)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } names[] = {
        {0x4, "power cap"},    {0x8, "hardware slowdown"},
        {0x20, "heat"},        {0x40, "heat (hardware)"},
        {0x80, "power brake"}, {(uint64_t)1 << 63, "heat"},
    };
    size_t len = 0;

    *text = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (reasons & names[i].bit && len < size)
            len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "",
                                    names[i].name);
}

size_t ft_conditions_print(const ft_conditions *c, char *buf, size_t size)
{
    char reasons[96];
    size_t len = 0;

    if (size)
        *buf = '\0';
    if (c->clock_high_hz > c->clock_low_hz)
        word(buf, size, &len, "clock %.0f MHz (%.0f..%.0f)", c->clock_hz * 1e-6,
             c->clock_low_hz * 1e-6, c->clock_high_hz * 1e-6);
    else if (c->clock_hz > 0)
        word(buf, size, &len, "clock %.0f MHz", c->clock_hz * 1e-6);
    if (c->memory_clock_hz > 0)
        word(buf, size, &len, "memory %.0f MHz", c->memory_clock_hz * 1e-6);
    if (c->temperature_max_k > 0)
        word(buf, size, &len, "%.0f C%s", c->temperature_max_k - 273.15,
             c->marks & FT_MARK_HOT ? " (near its limit)" : "");
    throttle_text(reasons, sizeof(reasons), c->throttle);
    if (*reasons)
        word(buf, size, &len, "throttled: %s", reasons);
    if (c->foreign_load >= 0.05)
        word(buf, size, &len, "foreign load %.1f", c->foreign_load);
    return len;
}
