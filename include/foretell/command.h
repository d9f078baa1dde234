#ifndef FT_COMMAND_H
#define FT_COMMAND_H

#include "foretell/error.h"
#include "foretell/power.h"
#include "foretell/settings.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Benchmarks of arbitrary programs: wall and processor time, peak memory, energy.
 *
 * Programs run without a shell. Several commands alternate, each round beginning with
 * another one, so that drift favours none. The calling process should have no other
 * children.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT, unless ignored, are deferred while commands are
 * measured: the current run gets the same signal (after a second SIGKILL; with a timeout
 * its descendants, too), and the signal takes effect when ft_measure_commands()
 * returns. */

typedef struct ft_command {
    const char *name;        /* as shown; NULL: the words joined by blanks */
    const char *const *argv; /* ended by NULL; argv[0] is looked up in PATH */
    const char *const *env;  /* "NAME=VALUE" beside what this process has, ended by NULL;
                                NULL: none */
} ft_command;

typedef struct ft_command_options {
    uint32_t warmup;     /* runs before those that count */
    uint32_t min_runs;   /* 0: 10 */
    uint32_t max_runs;   /* 0: no limit but time_s */
    double time_s;       /* for each command, if min_runs take less; 0: 3 s */
    double timeout_s;    /* kill a run, with what it started, after this; 0: never */
    const char *setup;   /* shell text, each outside of what is timed: before the */
    const char *prepare; /* first run of a command, before each run, after each */
    const char *conclude; /* run, after the last one; NULL: none */
    const char *cleanup;
    const char *input;   /* file on standard input; NULL: /dev/null */
    int show_output;     /* 0: standard output and error go to /dev/null */
    size_t keep_output;  /* bytes of a command's last run to be kept in its result, from
                            the end; they go to a file then. 0: none */
    size_t most_output;  /* a run that prints more bytes, where they are kept, is ended,
                            ignored failures or not: FT_EBACKEND; 0: no limit */
    int ignore_failure;  /* 1: runs that fail count as well */
    ft_meter *meter;     /* energy is measured; may be NULL */
    double power_time_s; /* duration for which short commands are looped, unless there
                            is a prepare or conclude; 0: by power_error, 5 s at most */
    double power_error;  /* relative error that sensor updates at the ends of a loop may
                            leave; 0: 0.02 */
    int no_idle;         /* 1: idle power is not looked for */
    const char *no_energy; /* why there is no meter, for the results; NULL: "" */
    const char *device;  /* whose conditions are watched; NULL: "cpu" */
    const ft_log *log;
} ft_command_options;

/* One run. */
typedef struct ft_command_run {
    double start_s; /* since the first run of all */
    double wall_s;  /* from exec to the end */
    double user_s;
    double system_s;
    uint64_t peak_bytes; /* resident, of the largest process; at least what a copy
                            of this process holds when it becomes the program */
    uint64_t read_bytes; /* from and to block devices */
    uint64_t written_bytes;
    uint64_t page_faults;   /* that needed a block device */
    uint64_t switches;      /* of context, both kinds */
    int32_t exit_code;      /* -1: ended by a signal */
    int32_t signal;         /* 0: none */
    int32_t timed_out;
    int32_t outlier; /* 1: modified z-score above 14.826 (Iglewicz and Hoaglin) */
    ft_conditions conditions;
} ft_command_run;

/* Energy of one run in one domain. */
typedef struct ft_command_energy {
    const char *domain; /* the meter's */
    const char *part_of;
    ft_measurement energy; /* J a run; value NaN: reason says why */
    ft_measurement power;  /* W while it runs */
    double idle_w;         /* of the machine just before; NaN: not known, or no_idle */
    uint64_t runs;         /* number of runs behind it */
    double *joules;        /* of each of the result's n_runs, NaN where it is not known;
                              NULL: runs are too short for it */
    char reason[160];
} ft_command_energy;

typedef struct ft_command_result {
    char *name;
    ft_measurement time;   /* wall time of a run: value is the median */
    ft_measurement user;   /* value is the mean */
    ft_measurement system;
    ft_measurement memory; /* value is the largest peak */
    double min_s, max_s, p95_s;
    ft_command_run *run; /* in order */
    size_t n_runs;
    size_t n_outliers;
    size_t n_failed;
    ft_command_energy *energy; /* one a domain */
    uint32_t n_domains;
    char no_energy[256]; /* why there is none at all */
    char *output; /* where it was to be kept: standard output and error, as they came */
} ft_command_result;

/* results: an array of n, made here, freed by ft_command_results_free(). FT_EINVAL:
 * no command; FT_ENOTFOUND: no such program, or it may not be run; FT_EBACKEND: a run
 * failed or timed out and ignore_failure is 0, or the shell text failed (says
 * which run, and what it ended with); FT_EIO: `input` cannot be read. */
FT_API ft_status ft_measure_commands(ft_command_result **results, const ft_command *c,
                                     size_t n, const ft_command_options *opt,
                                     ft_error *err);
FT_API void ft_command_results_free(ft_command_result *r, size_t n);

FT_END_DECLS

#endif
