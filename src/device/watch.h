#ifndef DEVICE_WATCH_H
#define DEVICE_WATCH_H

#include "device/clocks/acts.h"
#include "device/cpus.h"
#include "foretell/settings.h"

/* What a machine does between two moments, without threads of its own. */

/* A sensor of temperature, as files below the root. */
typedef struct ft__thermometer {
    const char *path; /* 1/1000 degree Celsius */
    double limit_k;   /* NaN: unknown */
} ft__thermometer;

enum { FT__MAX_THERMOMETERS = 16, FT__MAX_WATCHED = 16, FT__MAX_SAMPLES = 4096 };

typedef struct ft__watch {
    ft__machine machine;
    void *gpu;           /* NULL: the CPU is watched */
    double (*now)(void); /* as for ft__load_now() */
    bool has_cpufreq;
    ft__thermometer thermometer[FT__MAX_THERMOMETERS];
    size_t n_thermometers;
    bool capped; /* a power cap below the usual one: reaching it is no fault */
    ft__arena arena;

    /* of one stretch of time */
    unsigned cpu[FT__MAX_WATCHED];
    size_t n_cpus;
    ft__cpu_load begin;
    double throttled; /* the CPUs' counters at its beginning */
    double *clock_hz; /* FT__MAX_SAMPLES, or fewer: every stride-th sample */
    size_t n_clocks, stride;
    double memory_hz, hottest_k, margin_k;
    uint64_t throttle;
    uint32_t n;
} ft__watch;

/* FT_ENOMEM alone; whatever is not there is not watched. */
ft_status ft__watch_open(ft__watch *w, const char *device,
                         const ft_settings_options *opt, ft_error *err);
void ft__watch_close(ft__watch *w);
/* `cpus`: those whose clock counts, the fastest at each sample. */
void ft__watch_begin(ft__watch *w, const ft__cpus *cpus);
void ft__watch_sample(ft__watch *w);
void ft__watch_end(ft__watch *w, ft_conditions *out);

#endif
