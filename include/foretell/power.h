#ifndef FT_POWER_H
#define FT_POWER_H

#include <stddef.h>
#include <stdint.h>

#include "foretell/error.h"

/* Watching power and energy while something runs.
 *
 * A meter reads one or several domains (ft_sensors_probe() lists them) in a thread
 * of its own and keeps every reading with its time. What a stretch of time cost
 * is worked out afterwards, so that a loop is not disturbed. Times are seconds of
 * CLOCK_MONOTONIC. One meter, one thread at a time. */
typedef struct ft_meter ft_meter;

typedef struct ft_meter_options {
    /* Names joined by commas, as ft_sensor.name gives them; or "replay:FILE" (a
     * recorded trace) or "command:PROGRAM ARGUMENTS" (prints watts, one number a
     * line); NULL: every usable one. */
    const char *sources;
    const char *root;  /* as for ft_device_local(); NULL: this machine */
    const char *nvml;  /* NVIDIA's management library; NULL: the usual name */
    double period_s;   /* between readings; 0: a tenth of what the source needs for a
                          new value, at least 1 ms */
} ft_meter_options;

/* FT_EUNSUPPORTED: no source works (the sentence of ft_sensors_why_none());
 * FT_ENOTFOUND: a source that was named is not there, or why it does not work. */
FT_API ft_status ft_meter_open(ft_meter **out, const ft_meter_options *opt,
                               ft_error *err);
FT_API void ft_meter_close(ft_meter *m);

/* What can be read apart. Domains may contain others ("package-0" contains
 * "package-0/core"): never add those up; `part_of` says which. */
typedef struct ft_domain {
    const char *name;
    const char *part_of;  /* name of the domain that contains this one; "" */
    int counts;           /* 1: has a counter of joules */
    int tells_power;      /* 1: tells watts */
    double period_s;      /* between new values, found by watching; NaN: not known */
    double window_s;      /* over which a value is an average; NaN: not known */
    double duty;          /* share of the time the sensor looks; 1 unless known to be less */
} ft_domain;
FT_API uint32_t ft_meter_n_domains(const ft_meter *m);
FT_API const ft_domain *ft_meter_domain(const ft_meter *m, uint32_t i);
/* Seconds a loop must last for this domain to be told; what is shorter is looped. */
FT_API double ft_meter_least_s(const ft_meter *m, uint32_t i);

typedef struct ft_power_reading {
    double at_s;
    double watts;  /* NaN: not told */
    double joules; /* of the counter, unwrapped; NaN: none */
} ft_power_reading;

/* Everything read between start and stop; readings[i] has n[i] of domain i. */
typedef struct ft_trace {
    uint32_t n_domains;
    const ft_domain *domain; /* the meter's */
    size_t *n;
    ft_power_reading **reading;
} ft_trace;
FT_API ft_status ft_meter_start(ft_meter *m, ft_error *err);
FT_API ft_status ft_meter_stop(ft_meter *m, ft_trace *out, ft_error *err);
FT_API void ft_trace_free(ft_trace *t);

/* What domain i says of from_s .. to_s. NaN and a reason where it says nothing;
 * never 0 for want of knowledge. */
typedef struct ft_power {
    double watts;          /* mean of fresh readings within three sigma of it */
    double watts_std;      /* their scatter */
    double watts_error;    /* standard error of the mean */
    double integral_j;     /* watts x duration */
    double integral_error_j;
    double counter_j;      /* end minus begin of the counter, edges interpolated */
    double counter_error_j;
    double joules;         /* the one to use, and its error */
    double joules_error;
    uint64_t n_readings;
    uint64_t n_fresh;      /* readings that brought a new value */
    uint64_t n_dropped;    /* outside three sigma: start-up, outliers */
    char reason[160];      /* "" when joules is known */
} ft_power;
FT_API void ft_power_of(ft_power *out, const ft_trace *t, uint32_t domain, double from_s,
                        double to_s);

/* Energy of one iteration from mean power and time, both with their standard
 * errors: E = P t, sigma_E^2 = (P sigma_t)^2 + (t sigma_P)^2 (thesis on GPU
 * selection, eq. 3.1-3.9). */
FT_API void ft_energy_of(double *joules, double *error_j, double watts, double watts_error,
                         double seconds, double seconds_error);

#endif
