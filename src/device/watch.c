/* What a machine does while something runs: clocks, temperatures and throttling from
 * /proc, /sys and NVML, sampled by a thread, and as text. Throttle counters:
 * Documentation/ABI/testing/sysfs-devices-system-cpu. */
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
#include <strings.h>

#include "base/clock.h"
#include "base/stats.h"
#include "device/sysfs.h"
#include "device/watch.h"

static const double zero_celsius_k = 273.15;

/* Throttling by NVML's bits that slows work down against the user's will; the others
 * say that the device is idle or does as it was set. */
enum { POWER_CAP = 0x4, SLOWED = 0x4 | 0x8 | 0x20 | 0x40 | 0x80 };
#define CPU_THROTTLED ((uint64_t)1 << 63)

static void add_thermometer(ft__watch *w, double limit_k, const char *path)
{
    const char *kept = ft__arena_strndup(&w->arena, path, strlen(path));

    if (kept && w->n_thermometers < FT__MAX_THERMOMETERS)
        w->thermometer[w->n_thermometers++] = (ft__thermometer){kept, limit_k};
}

static double kelvin(double millidegrees)
{
    return millidegrees * 1e-3 + zero_celsius_k;
}

static bool is_of_cpu(const char *name)
{
    static const char *const names[] = {"coretemp", "k10temp", "zenpower",
                                        "cpu",      "x86_pkg", "soc"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strncasecmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void look_at_chip(ft__watch *w, const char *chip)
{
    const char *root = w->machine.root;
    char name[64], path[128];
    double v, limit;

    ft__sys_text(name, sizeof(name), root, "/sys/class/hwmon/%s/name", chip);
    for (int i = 1; is_of_cpu(name) && i <= FT__MAX_THERMOMETERS; i++) {
        snprintf(path, sizeof(path), "/sys/class/hwmon/%.32s/temp%d_input", chip, i);
        if (!ft__sys_number(&v, root, "%s", path))
            continue;
        limit =
            ft__sys_number(&v, root, "/sys/class/hwmon/%s/temp%d_crit", chip, i) ||
                    ft__sys_number(&v, root, "/sys/class/hwmon/%s/temp%d_max", chip, i)
                ? kelvin(v)
                : NAN;
        add_thermometer(w, limit, path);
    }
}

/* The lowest temperature at which something happens. */
static double zone_limit(const char *root, const char *zone)
{
    double limit = NAN, v;
    char type[32];

    for (int i = 0; i < 12; i++) {
        ft__sys_text(type, sizeof(type), root,
                     "/sys/class/thermal/%s/trip_point_%d_type", zone, i);
        if ((strcmp(type, "passive") == 0 || strcmp(type, "hot") == 0 ||
             strcmp(type, "critical") == 0) &&
            ft__sys_number(&v, root, "/sys/class/thermal/%s/trip_point_%d_temp", zone,
                           i) &&
            v > 0)
            limit = fmin(limit, kelvin(v));
    }
    return limit;
}

static void look_at_zone(ft__watch *w, const char *zone)
{
    const char *root = w->machine.root;
    char type[64], path[128];

    ft__sys_text(type, sizeof(type), root, "/sys/class/thermal/%s/type", zone);
    snprintf(path, sizeof(path), "/sys/class/thermal/%.32s/temp", zone);
    if (strncmp(zone, "thermal_zone", 12) == 0 && is_of_cpu(type))
        add_thermometer(w, zone_limit(root, zone), path);
}

static void each_of(ft__watch *w, const char *folder,
                    void (*look)(ft__watch *w, const char *name))
{
    char **names;
    size_t n;

    if (ft__sys_names(&names, &n, w->machine.root, "%s", folder) != FT_OK)
        return;
    for (size_t i = 0; i < n; i++)
        look(w, names[i]);
    ft__sys_names_free(names, n);
}

static void open_gpu(ft__watch *w, const char *device)
{
    unsigned index, limit, usual;

    if (ft__machine_gpus(&w->machine, NULL) ||
        ft__nvml_find(&w->gpu, &index, &w->machine.gpus, device, NULL)) {
        w->gpu = NULL;
        return;
    }
    w->capped =
        FT__NVML_CALL(&w->machine.gpus, power_limit, w->gpu, &limit) == 0 &&
        FT__NVML_CALL(&w->machine.gpus, power_limit_default, w->gpu, &usual) == 0 &&
        limit < usual;
}

ft_status ft__watch_open(ft__watch *w, const char *device,
                         const ft_settings_options *opt, ft_error *err)
{
    *w = (ft__watch){.machine = ft__machine_of(opt)};
    w->clock_hz = calloc(FT__MAX_SAMPLES, sizeof(*w->clock_hz));
    if (!w->clock_hz)
        return ft_fail(err, FT_ENOMEM, 0, "monitor");
    if (device && strcmp(device, "cpu") != 0) {
        open_gpu(w, device);
        return FT_OK;
    }
    each_of(w, "/sys/class/hwmon", look_at_chip);
    if (!w->n_thermometers)
        each_of(w, "/sys/class/thermal", look_at_zone);
    return FT_OK;
}

void ft__watch_close(ft__watch *w)
{
    ft__machine_close(&w->machine);
    ft__arena_free(&w->arena);
    free(w->clock_hz);
    *w = (ft__watch){0};
}

static double throttle_count(const ft__watch *w)
{
    double sum = 0, v;

    for (size_t i = 0; i < w->n_cpus; i++) {
        if (ft__sys_number(&v, w->machine.root,
                           FT__CPU "/cpu%u/thermal_throttle/core_throttle_count",
                           w->cpu[i]))
            sum += v;
        if (ft__sys_number(&v, w->machine.root,
                           FT__CPU "/cpu%u/thermal_throttle/package_throttle_count",
                           w->cpu[i]))
            sum += v;
    }
    return sum;
}

void ft__watch_begin(ft__watch *w, const ft__cpus *cpus)
{
    double v;

    w->n_cpus = w->n_clocks = w->n = 0;
    w->stride = 1;
    w->throttle = 0;
    w->memory_hz = w->hottest_k = w->margin_k = NAN;
    for (unsigned i = 0; i < FT__MAX_CPUS && w->n_cpus < FT__MAX_WATCHED; i++)
        if (cpus->has[i])
            w->cpu[w->n_cpus++] = i;
    w->has_cpufreq =
        w->n_cpus &&
        ft__sys_number(&v, w->machine.root, FT__CPUFREQ "scaling_cur_freq", w->cpu[0]);
    w->throttled = w->gpu ? 0 : throttle_count(w);
    w->begin = ft__load_now(w->machine.root, w->now);
}

/* The highest "cpu MHz" of those watched, where it is known. */
static double cpuinfo_hz(const ft__watch *w)
{
    double best = NAN;
    char *text = ft__cpuinfo(w->machine.root);
    long cpu = -1;

    for (char *line = text; line; line = strchr(line, '\n')) {
        double mhz;

        line += *line == '\n';
        (void)sscanf(line, "processor : %ld", &cpu);
        for (size_t i = 0; i < w->n_cpus; i++)
            if (cpu == (long)w->cpu[i] && sscanf(line, "cpu MHz : %lf", &mhz) == 1)
                best = fmax(best, mhz * 1e6);
    }
    free(text);
    return best;
}

static double cpu_clock_hz(const ft__watch *w)
{
    double best = NAN, khz;

    if (!w->has_cpufreq)
        return cpuinfo_hz(w);
    for (size_t i = 0; i < w->n_cpus; i++)
        if (ft__sys_number(&khz, w->machine.root, FT__CPUFREQ "scaling_cur_freq",
                           w->cpu[i]))
            best = fmax(best, khz * 1e3);
    return best;
}

static void note_clock(ft__watch *w, double hz)
{
    if (!(hz > 0) || w->n % w->stride)
        return;
    if (w->n_clocks == FT__MAX_SAMPLES) { /* every second one is enough from now on */
        for (size_t i = 0; i < FT__MAX_SAMPLES / 2; i++)
            w->clock_hz[i] = w->clock_hz[2 * i];
        w->n_clocks = FT__MAX_SAMPLES / 2;
        w->stride *= 2;
    }
    w->clock_hz[w->n_clocks++] = hz;
}

static void note_temperature(ft__watch *w, double k, double limit_k)
{
    w->hottest_k = fmax(w->hottest_k, k);
    w->margin_k = fmin(w->margin_k, limit_k - k);
}

static void sample_gpu(ft__watch *w)
{
    const ft__nvml *n = &w->machine.gpus;
    unsigned long long reasons = 0;
    unsigned v, limit;

    if (FT__NVML_CALL(n, clock, w->gpu, FT__NVML_CLOCK_SM, &v) == 0)
        note_clock(w, v * 1e6);
    if (FT__NVML_CALL(n, clock, w->gpu, FT__NVML_CLOCK_MEMORY, &v) == 0)
        w->memory_hz = v * 1e6;
    if (FT__NVML_CALL(n, temperature, w->gpu, 0, &v) == 0)
        note_temperature(w, v + zero_celsius_k,
                         FT__NVML_CALL(n, temperature_threshold, w->gpu,
                                       FT__NVML_THRESHOLD_SLOWDOWN, &limit) == 0
                             ? limit + zero_celsius_k
                             : NAN);
    if (FT__NVML_CALL(n, throttle_reasons, w->gpu, &reasons) == 0)
        w->throttle |= reasons;
}

void ft__watch_sample(ft__watch *w)
{
    double v;

    if (w->gpu) {
        sample_gpu(w);
    } else {
        note_clock(w, cpu_clock_hz(w));
        for (size_t i = 0; i < w->n_thermometers; i++)
            if (ft__sys_number(&v, w->machine.root, "%s", w->thermometer[i].path))
                note_temperature(w, kelvin(v), w->thermometer[i].limit_k);
    }
    w->n++;
}

/* A tenth of a CPU; and, as counters move in ticks, three of a hundredth. */
static bool is_disturbed(const ft__cpu_load *from, const ft__cpu_load *to)
{
    double load = ft__load_foreign(from, to);

    return load > 0.1 && load * (to->at_s - from->at_s) > 0.03;
}

static void sum_up(ft__watch *w, ft_conditions *c)
{
    size_t n = w->n_clocks;

    ft__sort(w->clock_hz, n);
    c->clock_hz = ft__quantile(w->clock_hz, n, 0.5);
    c->clock_low_hz = n ? w->clock_hz[0] : NAN;
    c->clock_high_hz = n ? w->clock_hz[n - 1] : NAN;
    if (c->clock_high_hz - c->clock_low_hz > 0.02 * c->clock_hz)
        c->marks |= FT_MARK_CLOCK_MOVED;
    if (c->throttle & (CPU_THROTTLED | (SLOWED & ~(w->capped ? POWER_CAP : 0u))))
        c->marks |= FT_MARK_THROTTLED;
    if (w->margin_k < 5)
        c->marks |= FT_MARK_HOT;
}

void ft__watch_end(ft__watch *w, ft_conditions *out)
{
    const ft__cpu_load end = ft__load_now(w->machine.root, w->now);

    *out = (ft_conditions){.memory_clock_hz = w->memory_hz,
                           .temperature_max_k = w->hottest_k,
                           .foreign_load = ft__load_foreign(&w->begin, &end),
                           .throttle = w->throttle,
                           .n = w->n};
    if (!w->gpu && throttle_count(w) > w->throttled)
        out->throttle |= CPU_THROTTLED;
    if (is_disturbed(&w->begin, &end))
        out->marks |= FT_MARK_FOREIGN_LOAD;
    sum_up(w, out);
}

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
