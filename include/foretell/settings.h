#ifndef FT_SETTINGS_H
#define FT_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "foretell/error.h"

/* Clocks, cores and power caps: set for a while, always put back; and what they
 * really were while something ran. */

/* NaN, 0 or NULL: leave as it is. */
typedef struct ft_settings {
    const char *device;       /* "cpu", "nvml:0"; NULL: cpu */
    double core_clock_hz;
    double memory_clock_hz;
    double power_cap_w;
    const char *cpus_online;  /* "0-3,8": these and no others (CPU 0 stays) */
    const char *governor;     /* "performance" */
} ft_settings;

typedef struct ft_settings_options {
    const char *root; /* as for ft_device_local(); NULL: this machine */
    const char *nvml; /* the management library; NULL: the usual name */
    const char *guard; /* program that waits and restores; NULL: this process forks */
} ft_settings_options;

/* Settings that are in force. A guard process puts them back when this process
 * goes, however it goes (kill -9 too). */
typedef struct ft_held_settings ft_held_settings;

/* All or nothing: on failure what was set already is put back. FT_EUNSUPPORTED: this
 * machine does not offer it, or not to this user (with the command that would). */
FT_API ft_status ft_settings_hold(ft_held_settings **out, const ft_settings *want,
                                  const ft_settings_options *opt, ft_error *err);
/* Put back; takes. FT_EIO names what could not be put back. NULL is fine. */
FT_API ft_status ft_settings_restore_take(ft_held_settings *h, ft_error *err);
/* Now in force, with what is possible: text for `foretell clocks show`. */
typedef struct ft_setting_state {
    const char *name;   /* "cpu0/scaling_max_freq", "nvml:0 core clock" */
    double now;         /* SI; NaN: not told */
    double least, most, normal; /* NaN: not told */
    const char *unit;   /* "Hz", "W", "" */
    const char *choices; /* "600 900 1200 MHz", governors; "" */
    int writable;
    const char *reason; /* why not writable, and the remedy; "" */
} ft_setting_state;
typedef struct ft_settings_list ft_settings_list;
FT_API ft_status ft_settings_show(ft_settings_list **out, const ft_settings_options *opt,
                                  ft_error *err);
FT_API size_t ft_settings_count(const ft_settings_list *l);
FT_API const ft_setting_state *ft_settings_at(const ft_settings_list *l, size_t i);
FT_API void ft_settings_list_free(ft_settings_list *l);

/* ---- what the machine did while something ran ---- */
enum { /* ft_conditions.marks */
    FT_MARK_CLOCK_MOVED = 1u << 0, /* by more than 2 % */
    FT_MARK_THROTTLED = 1u << 1,
    FT_MARK_FOREIGN_LOAD = 1u << 2, /* other processes were busy */
    FT_MARK_HOT = 1u << 3,          /* within 5 K of the limit */
};

/* NaN: not told by this machine. */
typedef struct ft_conditions {
    double clock_low_hz;
    double clock_high_hz;
    double clock_hz; /* median */
    double memory_clock_hz;
    double temperature_max_k;
    double foreign_load; /* CPUs' worth of other processes' work, mean */
    uint64_t throttle;   /* reasons, bits as NVML numbers them; CPU: bit 63 */
    uint32_t marks;      /* FT_MARK_ bits */
} ft_conditions;

/* Samples clocks, temperature, throttling and load in a thread of its own. */
typedef struct ft_monitor ft_monitor;
/* device as in ft_settings. Never fails for want of a sensor. */
FT_API ft_status ft_monitor_open(ft_monitor **out, const char *device,
                                 const ft_settings_options *opt, ft_error *err);
FT_API void ft_monitor_close(ft_monitor *m);
FT_API void ft_monitor_start(ft_monitor *m);
FT_API void ft_monitor_stop(ft_monitor *m, ft_conditions *out);
/* "clock 1410 MHz (1200..1410), throttled: power cap, foreign load 0.4"; "" when
 * nothing is worth saying. Returns its length as snprintf() does. */
FT_API size_t ft_conditions_print(const ft_conditions *c, char *buf, size_t size);

#endif
