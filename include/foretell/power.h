#ifndef FT_POWER_H
#define FT_POWER_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Power and energy meters.
 *
 * A meter polls one or several domains (ft_sensors_probe() lists them) in a thread of its
 * own and keeps every reading with its time. The energy of an interval is computed
 * afterwards (docs/power.md). Times are seconds of CLOCK_MONOTONIC. One thread at a time
 * may use a meter. */
typedef struct ft_meter ft_meter;

typedef struct ft_meter_options {
    /* Names joined by commas, as in ft_sensor.name, or a source ("nvml",
     * "powercap"); a GPU also by UUID or PCI id ("nvml:GPU-5fd4..."); or alone
     * "replay:FILE" (a recorded trace, at its speed) or "command:PROGRAM
     * ARGUMENTS" (prints watts, one number a line); NULL or "all": every usable one. */
    const char *sources;
    const char *root;  /* as for ft_device_local(); NULL: this machine */
    const char *nvml;  /* NVIDIA's management library; NULL: the usual name */
    const char *amd;   /* AMD's, amdsmi or rocm_smi; NULL: the usual names */
    double period_s;   /* between readings; 0: a tenth of what the source needs for a
                          new value, at least 1 ms */
} ft_meter_options;

/* Watches the sources for 0.3 s, and 0.7 s more where one does not move: such a sensor is
 * not used. FT_EUNSUPPORTED: no source works (the sentence of ft_sensors.why_none);
 * FT_ENOTFOUND: a named source is missing, or does not work (says why). */
FT_API ft_status ft_meter_open(ft_meter **out, const ft_meter_options *opt,
                               ft_error *err);
/* Ends the thread and a command that was started. */
FT_API void ft_meter_close(ft_meter *m);

/* One measured part of the machine. Domains may contain others ("package-0" contains
 * "package-0/core"): never add those up; `part_of` says which. */
typedef struct ft_domain {
    const char *name;
    const char *part_of;  /* name of the domain that contains this one; "" */
    int counts;           /* 1: has an energy counter */
    int tells_power;      /* 1: reports power */
    int all_fresh;        /* 1: every reading is a new value, even if equal */
    double period_s;      /* between new values, as observed; NaN: unknown */
    double window_s;      /* averaging window of a value; NaN: unknown */
    double duty;          /* share of the time that the sensor samples; 1 unless known */
    double least_s;       /* least duration of a loop: one window and eleven new values;
                             fifty with a duty cycle below 1; 0.5 s where neither is
                             known */
    const char *note;     /* "MIG is on: the whole GPU's"; "" */
} ft_domain;
FT_API uint32_t ft_meter_n_domains(const ft_meter *m);
FT_API const ft_domain *ft_meter_domain(const ft_meter *m, uint32_t i);

typedef struct ft_power_reading {
    double at_s;
    double watts;  /* NaN: unknown */
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
FT_API void ft_trace_free(ft_trace *t);
/* Start, run(user), stop; from_s and to_s are when run() began and returned. Before and
 * after it, waits until every domain has had two new values (two readings where its
 * period is unknown), at most 0.5 s or two periods, so that both ends can be
 * interpolated. */
FT_API ft_status ft_meter_watch(ft_meter *m, void (*run)(void *user), void *user,
                                ft_trace *out, double *from_s, double *to_s,
                                ft_error *err);

/* Power and energy of domain i from from_s to to_s. NaN and a reason where unknown;
 * never 0. Errors are one standard deviation of what the readings show
 * (scatter, edges, resolution), without the sensor's calibration (NVIDIA states 5 %). */
typedef struct ft_power {
    double watts;       /* mean of fresh readings within three sigma of it: the steady
                           level; from counters, of their steps */
    double watts_std;   /* their scatter */
    double watts_error; /* standard error of the mean, autocorrelation included */
    double integral_j;  /* integrated power, deconvolved of the window; nothing is dropped */
    double integral_error_j;
    double counter_j; /* end minus begin of the counter, edges interpolated */
    double counter_error_j;
    double disagreement; /* counter_j / integral_j - 1; NaN unless both are known */
    double joules;       /* the one to use: the counter's, else the integral */
    double joules_error;
    double period_s;     /* between new values here; NaN: not known */
    uint64_t n_readings;
    uint64_t n_fresh;   /* new values; repeated values do not count */
    uint64_t n_dropped; /* outside three sigma: start-up, outliers */
    uint64_t n_missing; /* readings that failed */
    char reason[160];   /* why joules is NaN; "" when it is known */
    char note[160];     /* a remark for the user; "" */
} ft_power;
FT_API void ft_power_of(ft_power *out, const ft_trace *t, uint32_t domain, double from_s,
                        double to_s);

FT_END_DECLS

#endif
