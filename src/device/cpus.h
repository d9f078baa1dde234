#ifndef DEVICE_CPUS_H
#define DEVICE_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"

/* A set of processors. */
typedef struct ft__cpus {
    bool has[FT__MAX_CPUS];
    size_t n;
} ft__cpus;

/* "0-3,8" as Linux writes it. Ranges beyond the limit are cut. False: it is not
 * such a list, or an empty one; the set holds what came before the fault. */
bool ft__cpus_parse(ft__cpus *set, const char *text);
void ft__cpus_put(ft__cpus *set, unsigned cpu, bool has);
/* Cut where it does not fit. */
void ft__cpus_print(const ft__cpus *set, char *text, size_t size);
/* The lowest one; FT__MAX_CPUS: none. */
unsigned ft__cpus_first(const ft__cpus *set);
/* CPUs that are online, and those that there are. */
void ft__cpus_online(ft__cpus *online, ft__cpus *present, const char *root);

#define FT__CPU "/sys/devices/system/cpu"
#define FT__CPUFREQ FT__CPU "/cpu%u/cpufreq/"

enum { FT__MAX_STEPS = 128 };

typedef struct ft__policy {
    unsigned cpu;
    double least_hz, most_hz;
    double low_hz, high_hz; /* the limits now */
    double now_hz;          /* NaN: unknown */
    double nominal_hz;      /* without turbo; NaN: unknown */
    double step_hz[FT__MAX_STEPS];
    size_t n_steps; /* 0: any clock in between */
    char governor[64], governors[256];
} ft__policy;

/* False: this CPU has no clock that could be set. */
bool ft__policy_read(ft__policy *p, const char *root, unsigned cpu);

typedef struct ft__turbo {
    const char *path;
    const char *on, *off; /* what to write */
    bool is_on;
} ft__turbo;

bool ft__turbo_read(ft__turbo *t, const char *root);

/* Up to a moment, in seconds of CPUs. */
typedef struct ft__cpu_load {
    double at_s;
    double busy_s; /* by all, and taken by a host; NaN: unknown */
    double own_s;  /* by this process, and children that it has waited for */
} ft__cpu_load;

/* root: as for sysfs.h; now(): seconds; NULL: the monotonic clock. */
ft__cpu_load ft__load_now(const char *root, double (*now)(void));

/* CPUs' worth of others' work between two moments, mean; NaN when they are too near
 * each other for the kernel's ticks, or nothing is known. */
double ft__load_foreign(const ft__cpu_load *from, const ft__cpu_load *to);

#endif
