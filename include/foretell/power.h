#ifndef FT_POWER_H
#define FT_POWER_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Watching power and energy while something runs.
 *
 * A meter reads one or several domains (ft_sensors_probe() lists them) in a thread
 * of its own and keeps every reading with its time. What a stretch of time cost
 * is worked out afterwards, so that a loop is not disturbed. Times are seconds of
 * CLOCK_MONOTONIC. One meter, one thread at a time. docs/power.md tells how the
 * figures are made. */
typedef struct ft_meter ft_meter;

typedef struct ft_meter_options {
    /* Names joined by commas, as ft_sensor.name gives them, or a family ("nvml",
     * "powercap"); a GPU also by UUID or PCI id ("nvml:GPU-5fd4..."); or alone
     * "replay:FILE" (a recorded trace, played as it was) or "command:PROGRAM
     * ARGUMENTS" (prints watts, one number a line); NULL: every usable one. */
    const char *sources;
    const char *root;  /* as for ft_device_local(); NULL: this machine */
    const char *nvml;  /* NVIDIA's management library; NULL: the usual name */
    const char *amd;   /* AMD's, amdsmi or rocm_smi; NULL: the usual names */
    double period_s;   /* between readings; 0: a tenth of what the source needs for a
                          new value, at least 1 ms */
} ft_meter_options;

/* Watches the sources for a moment (0.3 s, and 0.7 s more where one stands
 * still), as a sensor
 * that stands still is of no use.
 * FT_EUNSUPPORTED: no source works (the sentence of ft_sensors.why_none);
 * FT_ENOTFOUND: a source that was named is not there, or why it does not work. */
FT_API ft_status ft_meter_open(ft_meter **out, const ft_meter_options *opt,
                               ft_error *err);
/* Ends the thread and a command that was started. */
FT_API void ft_meter_close(ft_meter *m);

/* What can be read apart. Domains may contain others ("package-0" contains
 * "package-0/core"): never add those up; `part_of` says which. */
typedef struct ft_domain {
    const char *name;
    const char *part_of;  /* name of the domain that contains this one; "" */
    int counts;           /* 1: has a counter of joules */
    int tells_power;      /* 1: tells watts */
    int all_fresh;        /* 1: every reading is a new value, be it the same number */
    double period_s;      /* between new values, found by watching; NaN: not known */
    double window_s;      /* over which a value is an average; NaN: not known */
    double duty;          /* share of the time the sensor looks; 1 unless known to be less */
    double least_s;       /* a loop must last this long for the domain to be told: one
                             window and eleven new values; fifty where the sensor looks a
                             part of the time only; 0.5 s where neither is known */
    const char *note;     /* "MIG is on: the whole GPU's"; "" */
} ft_domain;
FT_API uint32_t ft_meter_n_domains(const ft_meter *m);
FT_API const ft_domain *ft_meter_domain(const ft_meter *m, uint32_t i);

typedef struct ft_power_reading {
    double at_s;
    double watts;  /* NaN: not told */
    double joules; /* of the counter, unwrapped; NaN: none */
} ft_power_reading;

/* Everything read between start and stop; reading[i] has n[i] of domain i. A
 * reading that failed is kept as NaN; why[i] is the last reason, "" if none. It
 * owns all it points to. */
typedef struct ft_trace {
    uint32_t n_domains;
    ft_domain *domain;
    size_t *n;
    ft_power_reading **reading;
    const char **why;
    double cpu_share; /* of one CPU, that reading took; NaN: not known */
    void *memory;     /* text, and the lists above */
} ft_trace;
/* Returns once every domain has brought two new values (where its period is not known,
 * been read twice), or 0.5 s or two periods have passed, so that the stretch that
 * follows has a beginning; stop lingers likewise for its end. */
FT_API void ft_trace_free(ft_trace *t);
/* Start, run(user), stop; from_s and to_s are when run() began and returned. */
FT_API ft_status ft_meter_watch(ft_meter *m, void (*run)(void *user), void *user,
                                ft_trace *out, double *from_s, double *to_s,
                                ft_error *err);


/* What domain i says of from_s .. to_s. NaN and a reason where it says nothing;
 * never 0 for want of knowledge. Errors are one standard deviation and hold what
 * the readings show (scatter, edges, resolution); the sensor's own calibration
 * (NVIDIA states 5 %) is not in them. */
typedef struct ft_power {
    double watts;       /* mean of fresh readings within three sigma of it: the steady
                           level; from counters, of their steps */
    double watts_std;   /* their scatter */
    double watts_error; /* standard error of the mean, correlated readings counted for
                           what they are worth */
    double integral_j;  /* told watts over time; nothing is dropped, a window is undone */
    double integral_error_j;
    double counter_j; /* end minus begin of the counter, edges interpolated */
    double counter_error_j;
    double disagreement; /* counter_j / integral_j - 1; NaN unless both are known */
    double joules;       /* the one to use: the counter's, else the integral */
    double joules_error;
    double period_s;     /* between new values here; NaN: not known */
    uint64_t n_readings;
    uint64_t n_fresh;   /* new values; polls that see a value again do not count */
    uint64_t n_dropped; /* outside three sigma: start-up, outliers */
    uint64_t n_missing; /* readings that failed */
    char reason[160];   /* why joules is NaN; "" when it is known */
    char note[160];     /* what the user should know beside; "" */
} ft_power;
FT_API void ft_power_of(ft_power *out, const ft_trace *t, uint32_t domain, double from_s,
                        double to_s);


FT_END_DECLS

#endif
