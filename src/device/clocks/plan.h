#ifndef DEVICE_CLOCKS_PLAN_H
#define DEVICE_CLOCKS_PLAN_H

#include "device/clocks/acts.h"
#include "device/cpus.h"
#include "foretell/settings.h"

#define FT__CPU "/sys/devices/system/cpu"

/* What is to be written to set something, and what to put it back, both found out
 * before anything is written. The order differs: a file's limits depend on others
 * (clocks on turbo, the upper clock on the lower one). */
typedef struct ft__settings_plan {
    ft__acts apply;
    ft__acts instead; /* of apply, where the device or its owner does not allow that */
    ft__acts restore;
    ft_settings chosen; /* texts are the caller's */
} ft__settings_plan;

/* FT_EUNSUPPORTED: the machine does not offer it. Free also after a failure. */
ft_status ft__plan_make(ft__settings_plan *p, const ft_settings *want, ft__machine *m,
                        const ft_log *log, ft_error *err);
void ft__plan_free(ft__settings_plan *p);

/* ---- what cpufreq says of one CPU ---- */
enum { FT__MAX_STEPS = 128 };

typedef struct ft__policy {
    unsigned cpu;
    double least_hz, most_hz;
    double low_hz, high_hz; /* the limits now */
    double now_hz;          /* NaN: unknown */
    double nominal_hz;      /* without turbo; NaN: unknown */
    double step_hz[FT__MAX_STEPS];
    size_t n_steps; /* 0: any clock in between */
    char governor[64];
    char governors[256];
} ft__policy;

/* False: this CPU has no clock that could be set. */
bool ft__policy_read(ft__policy *p, const char *root, unsigned cpu);

typedef struct ft__turbo {
    const char *path;
    const char *on, *off; /* what to write */
    bool is_on;
} ft__turbo;

bool ft__turbo_read(ft__turbo *t, const char *root);
/* CPUs that are online, and those that there are. */
void ft__cpus_online(ft__cpus *online, ft__cpus *present, const char *root);

#endif
