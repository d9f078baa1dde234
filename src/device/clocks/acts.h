#ifndef DEVICE_CLOCKS_ACTS_H
#define DEVICE_CLOCKS_ACTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "device/nvml.h"
#include "foretell/settings.h"

/* Lists of values to be written, in order: to set something, or to put it back.
 * As text, one a line and fields between tabs, they are the record on disk and what
 * the guard is sent:
 *
 *   put          /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq   3900000
 *   core         0   1200,1200      GPU 0 locked at 1200 MHz; "free": no lock
 *   memory       0   free
 *   applications 0   5001,1410      memory, core
 *   power        0   250000         milliwatts
 */
typedef enum ft__verb {
    FT__ACT_PUT,
    FT__ACT_CORE,
    FT__ACT_MEMORY,
    FT__ACT_APPLICATIONS,
    FT__ACT_POWER,
    FT__N_VERBS
} ft__verb;

typedef struct ft__act {
    ft__verb verb;
    const char *target; /* a path below the root, or a GPU's number */
    const char *value;
} ft__act;

/* Zero-initialise. Failure is sticky. */
typedef struct ft__acts {
    ft__act *act;
    size_t n, cap;
    ft__arena arena;
    bool bad; /* memory was short */
} ft__acts;

FT_PRINTF(4, 5)
void ft__acts_add(ft__acts *a, ft__verb verb, const char *target, const char *fmt, ...);
void ft__acts_free(ft__acts *a);
void ft__acts_print(const ft__acts *a, ft__buf *out);
/* Appends the lines of `text`. FT_EFORMAT: not such a list, or a path outside
 * /sys/devices/system/cpu. */
ft_status ft__acts_parse(ft__acts *a, const char *text, ft_error *err);

/* The machine that is acted upon. */
typedef struct ft__machine {
    const char *root; /* "": this one */
    const char *nvml; /* library; NULL: the usual one, and none below a root */
    ft__nvml gpus;    /* opened when first needed */
} ft__machine;

/* opt may be NULL. */
ft__machine ft__machine_of(const ft_settings_options *opt);
/* Opens the library at the first call. */
ft_status ft__machine_gpus(ft__machine *m, ft_error *err);
void ft__machine_close(ft__machine *m);

/* What is to be written to set something, and what to put it back, both found out
 * before anything is written. The order differs: a file's limits depend on others
 * (clocks on turbo, the upper clock on the lower one). */
typedef struct ft__settings_plan {
    ft__acts apply;
    ft__acts instead; /* of apply, where the device or its owner does not allow that */
    ft__acts restore;
    ft_settings chosen; /* texts are the caller's */
} ft__settings_plan;

void ft__plan_free(ft__settings_plan *p);

/* Write values in order; the first failure ends it. FT_EUNSUPPORTED: no right to, with
 * the command that gives it; FT_EIO. A file that holds its value already is left alone.
 * *clean: nothing is changed after a failure. */
ft_status ft__plan_apply(bool *clean, ft__machine *m, const ft__settings_plan *p,
                         ft_error *err);
/* Put all back that is not so, in order, also after a failure; the first one is
 * reported. */
ft_status ft__acts_undo_all(ft__machine *m, const ft__acts *a, ft_error *err);
/* What keeps files from being written. */
typedef struct ft__refusal {
    int code;         /* the errno of the first that may not be; 0: all may */
    char remedy[600]; /* the command that makes them so; "" where none does */
} ft__refusal;

/* Whether all files may be written, before any is. FT_EUNSUPPORTED has the command
 * that makes them so. why may be NULL. */
ft_status ft__acts_allowed(ft__refusal *why, const char *root, const ft__acts *a,
                           ft_error *err);

#endif
