/* Clocks, temperatures and throttling from /proc, /sys and NVML. Throttle counters:
 * Documentation/ABI/testing/sysfs-devices-system-cpu. */
#include "device/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/stats.h"
#include "device/clocks/plan.h"
#include "device/sysfs.h"

static const double zero_celsius_k = 273.15;

/* Throttling by NVML's bits that slows work down against the user's will; the others
 * say that the device is idle or does as it was set. */
enum { POWER_CAP = 0x4, SLOWED = 0x4 | 0x8 | 0x20 | 0x40 | 0x80 };
#define CPU_THROTTLED ((uint64_t)1 << 63)

/* ---- thermometers ---- */

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

/* ---- opening ---- */

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

/* ---- one stretch ---- */

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
        ft__sys_number(&v, w->machine.root, FT__CPU "/cpu%u/cpufreq/scaling_cur_freq",
                       w->cpu[0]);
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
        if (ft__sys_number(&khz, w->machine.root,
                           FT__CPU "/cpu%u/cpufreq/scaling_cur_freq", w->cpu[i]))
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
