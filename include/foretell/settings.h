#ifndef FT_SETTINGS_H
#define FT_SETTINGS_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Clocks, cores and power caps: set temporarily, always restored; and monitored while
 * something runs (docs/clocks.md). */

/* NaN, 0 or NULL: leave as it is. */
typedef struct ft_settings {
    const char *device;       /* "cpu", "nvml:0"; NULL: cpu */
    double core_clock_hz;     /* rounded to the nearest available one */
    double memory_clock_hz;   /* GPUs only */
    double power_cap_w;       /* GPUs only */
    const char *cpus_online;  /* "0-3,8": these and no others (CPU 0 stays) */
    const char *governor;     /* "performance" */
    const char *turbo;        /* "off", "on"; a core clock up to the nominal one turns it off */
    const char *affinity;     /* "2-3": CPUs of the calling thread, and of the threads and
                                 programs that it starts */
} ft_settings;

typedef struct ft_settings_options {
    const char *root; /* as for ft_device_local(); NULL: this machine */
    const char *nvml; /* the management library; NULL: the usual name, and none for a
                         recorded machine */
    /* Folder of the lock and of the record of changes; NULL: neither, so only the guard
     * can restore. Created if missing. */
    const char *state_dir;
    /* Program and arguments, ended by NULL, that call ft_settings_guard() with their
     * remaining arguments; NULL: a fork of this process. */
    const char *const *guard;
    const ft_log *log; /* reports replaced values and repairs; may be NULL */
} ft_settings_options;

/* Settings in force. A guard process restores them when this process ends in any way
 * (kill -9 included). One thread; one holder per state_dir. */
typedef struct ft_held_settings ft_held_settings;

/* All or nothing. Settings left by a killed process are restored first. FT_EUNSUPPORTED:
 * not available on this machine, or not to this user (with the command that grants it),
 * or another process holds settings. */
FT_API ft_status ft_settings_hold(ft_held_settings **out, const ft_settings *want,
                                  const ft_settings_options *opt, ft_error *err);
/* The settings with the values chosen; borrowed. */
FT_API const ft_settings *ft_settings_held(const ft_held_settings *h);
/* Restore; takes h (may be NULL). FT_EIO names what could not be restored. */
FT_API ft_status ft_settings_restore_take(ft_held_settings *h, ft_error *err);

/* Set until ft_settings_reset() or a reboot; the old values are recorded in
 * opt->state_dir (required). Settings kept earlier and not named now stay. *chosen: NULL,
 * or receives the values chosen, its texts borrowed from `want`. */
FT_API ft_status ft_settings_keep(ft_settings *chosen, const ft_settings *want,
                                  const ft_settings_options *opt, ft_error *err);
/* Restore what was kept, and what a guard could not; *n: values written.
 * FT_EUNSUPPORTED: a running process holds them. */
FT_API ft_status ft_settings_reset(size_t *n, const ft_settings_options *opt,
                                   ft_error *err);
/* Main function of the guard, for the program named by opt->guard; argv[0] is the first
 * argument after those of opt->guard. Returns the program's exit code. */
FT_API int ft_settings_guard(int argc, char **argv);

/* The canonical text, as in datasets: "clock=1200MHz power=150W cpus=0-3"; "" for
 * none. GPUs begin with "device=nvml:0". Returns its length as snprintf() does. */
FT_API size_t ft_settings_print(const ft_settings *s, char *buf, size_t size);

/* A setting, its present value and range, for `foretell clocks show`. */
typedef struct ft_setting_state {
    const char *device; /* "cpu", "nvml:0": as in ft_settings */
    const char *name;   /* "core clock", "governor"; "core clock of CPUs 4-7" */
    double now;         /* SI; NaN: unknown, or not a number */
    const char *text;   /* present value where it is not a number: "performance"; "" */
    double least, most, normal; /* NaN: unknown */
    const char *unit;   /* "Hz", "W", "" */
    const char *choices; /* "600 900 1200 MHz", governors; "" */
    int writable;
    const char *reason; /* why not writable; "" */
    const char *remedy; /* the exact command or step that grants it; "" */
} ft_setting_state;
/* Made and freed by the library, so that fields can be appended; read only. */
typedef struct ft_settings_list {
    const ft_setting_state *state;
    size_t n;
    const char *in_force; /* who holds or left settings, a sentence; "" */
} ft_settings_list;
FT_API ft_status ft_settings_show(ft_settings_list **out, const ft_settings_options *opt,
                                  ft_error *err);
FT_API void ft_settings_list_free(ft_settings_list *l);

/* Conditions while something runs. */
enum { /* ft_conditions.marks */
    FT_MARK_CLOCK_MOVED = 1u << 0, /* by more than 2 % */
    FT_MARK_THROTTLED = 1u << 1,
    FT_MARK_FOREIGN_LOAD = 1u << 2, /* other processes were busy: 0.1 CPU and more */
    FT_MARK_HOT = 1u << 3,          /* within 5 K of the limit */
    FT_MARK_SPEED_MOVED = 1u << 4,  /* the calibration operation took 4 % more or less than
                                       usual: a cause without a sensor */
};

/* NaN: not available on this machine. */
typedef struct ft_conditions {
    double clock_low_hz;
    double clock_high_hz;
    double clock_hz; /* median over samples; of the fastest CPU that may be used */
    double memory_clock_hz;
    double temperature_max_k;
    double foreign_load; /* mean CPU use of other processes, in CPUs, hypervisor steal
                            included; needs 0.1 s */
    uint64_t throttle;   /* reasons, bits as NVML numbers them; CPU: bit 63 */
    uint32_t marks;      /* FT_MARK_ bits */
    uint32_t n;          /* samples taken */
} ft_conditions;

/* Samples clocks, temperature, throttling and load in a thread of its own, ten
 * times a second or as often as four thousandths of a CPU allow. */
typedef struct ft_monitor ft_monitor;
/* device as in ft_settings. Never fails for want of a sensor. */
FT_API ft_status ft_monitor_open(ft_monitor **out, const char *device,
                                 const ft_settings_options *opt, ft_error *err);
FT_API void ft_monitor_close(ft_monitor *m);
/* Call from the working thread: its CPUs are monitored. */
FT_API void ft_monitor_start(ft_monitor *m);
FT_API void ft_monitor_stop(ft_monitor *m, ft_conditions *out);
/* "clock 1410 MHz (1200..1410), throttled: power cap, foreign load 0.4"; "" when
 * nothing is known. Returns its length as snprintf() does. */
FT_API size_t ft_conditions_print(const ft_conditions *c, char *buf, size_t size);

FT_END_DECLS

#endif
