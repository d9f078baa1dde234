#ifndef FT_EXPLORATION_H
#define FT_EXPLORATION_H

#include "foretell/explore.h"
#include "foretell/power.h"
#include "foretell/settings.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Explorations (docs/exploration.md): a file with a command, parameters, workloads,
 * objectives and limits; running it; its results. */

typedef enum ft_measured {
    FT_MEASURED_TIME,   /* s, median of runs */
    FT_MEASURED_P95,    /* s */
    FT_MEASURED_ENERGY, /* J a run */
    FT_MEASURED_POWER,  /* W while it runs */
    FT_MEASURED_MEMORY, /* B, the largest peak */
    FT_MEASURED_MATCH,  /* a number in the output of the command, median of runs */
    FT_MEASURED_SIZE,   /* B, of a file */
    FT_MEASURED_COST,   /* time x price: of predictions alone */
    FT_MEASURED_COUNT
} ft_measured;

typedef struct ft_objective {
    const char *name;
    ft_measured what;
    const char *domain;  /* ENERGY, POWER: of the meter; NULL: the first one */
    const char *pattern; /* MATCH: extended regular expression with the number in ( ) */
    const char *file;    /* SIZE */
    const char *unit;    /* "s", "J", "W", "B"; of a MATCH that of the file, or "" */
    int per_item; /* of predictions: per item of a batch, not per pass */
    int maximize;
    double limit; /* at most (at least, if maximized); NaN: none */
} ft_objective;

typedef struct ft_exploration ft_exploration;

/* name: under which its results are kept, one for each machine; NULL: the file's.
 * FT_EFORMAT names the file, the line and the key; FT_EIO. */
FT_API ft_status ft_exploration_load(ft_exploration **out, const char *path,
                                     const char *name, ft_error *err);
FT_API void ft_exploration_free(ft_exploration *x);
/* Contents of the file; borrowed from the exploration. */
typedef struct ft_exploration_facts {
    const char *name;
    const ft_space *space;
    const ft_parameter *param; /* of the space, in the order of points */
    size_t n_params;
    const ft_objective *objective;
    size_t n_objectives;
    const char *const *workload; /* at least one; unnamed where the file has none */
    size_t n_workloads;
    const char *const *word; /* arguments of `foretell predict` as written; none: a
                                command is run */
    size_t n_words;
} ft_exploration_facts;
FT_API const ft_exploration_facts *ft_exploration_get(const ft_exploration *x);

/* "threads=2 wait=active": active parameters, in order, %XX for blanks and '%' in values.
 * Returns its length as snprintf() does. */
FT_API size_t ft_point_print(const ft_exploration *x, const double *point, char *buf,
                             size_t size);

/* Predictions instead of runs. */

/* The words at a point with values substituted, ended by NULL; freed with free(). An option
 * whose value is empty because its parameter is inactive is left out. */
FT_API ft_status ft_exploration_words(char ***out, size_t *n, const ft_exploration *x,
                                      uint32_t workload, const double *point,
                                      ft_error *err);
/* Price of a device per second; NaN: not in the file. */
FT_API double ft_exploration_price(const ft_exploration *x, const char *device);

typedef struct ft_explore_options {
    ft_design_options design; /* which points; with a searcher: unused */
    ft_searcher searcher;     /* FT_SEARCH_COUNT: none, the design */
    uint64_t points;          /* with a searcher: how many; 0: 40 */
    double least_gain;        /* stop after ten proposals of less expected improvement; 0:
                                 0.001 */
    uint64_t max_runs;        /* of commands, in all; 0: no limit */
    double time_s;            /* for all; 0: no limit */
    int retry;                /* run again what failed */
    const char *build_dir;    /* where builds are kept; NULL: no build steps */
    const char *self;         /* what {foretell} stands for; may be NULL */
    ft_meter *meter;          /* may be NULL */
    const char *no_energy;    /* why there is no meter */
    const ft_settings_options *settings; /* for parameters that are settings */
    const char *plan;         /* stored with the exploration, for resuming; may be NULL */
    const char *command;      /* stored with the runs; may be NULL */
    const char *environment;  /* machine and versions; may be NULL */
    const ft_log *log;
    const uint64_t *only; /* of a design these points alone, counted from 1; NULL: all */
    size_t n_only;
    const char *const *note; /* as in ft_collect_options */
    size_t n_notes;
} ft_explore_options;

typedef struct ft_explored {
    size_t points; /* of the space, completed; each with all workloads */
    size_t runs;   /* of commands, this time */
    size_t failed; /* points, per workload */
    size_t left;   /* points that need more runs, likewise */
} ft_explored;

/* Every run is stored when it ends, and stored runs are not repeated. A failed run is a
 * result. FT_EUNSUPPORTED: settings cannot be set; FT_ENOTFOUND: no such
 * command. */
FT_API ft_status ft_explore(ft_explored *out, const ft_exploration *x, ft_store *store,
                            const ft_explore_options *opt, ft_error *err);

/* The `plan` of the last time; "" when it never ran. Returns its length as snprintf()
 * does. */
FT_API ft_status ft_explore_plan(char *buf, size_t size, const ft_exploration *x,
                                 ft_store *store, ft_error *err);

typedef struct ft_trial {
    uint32_t workload; /* index */
    double *point;
    double *value; /* of each objective, measured; NaN: unavailable */
    double *error; /* standard error, widened for few runs (1.645 of it is half a 90 %
                      interval); NaN: unknown */
    uint32_t runs; /* that count */
    char *failure; /* why it failed; NULL: it did not */
    char *output;  /* of a failed run, its end; NULL */
} ft_trial;

typedef struct ft_trials {
    ft_trial *v;
    size_t n;
    size_t params, objectives, workloads;
} ft_trials;

/* All stored runs of this exploration in its present form; n 0 when there are none. */
FT_API ft_status ft_trials_load(ft_trials *out, const ft_exploration *x,
                                ft_store *store, ft_error *err);
FT_API void ft_trials_free(ft_trials *t);

/* Within all limits; a failure, or a limited objective that is unavailable, is not. */
FT_API int ft_trial_keeps_limits(const ft_exploration *x, const ft_trial *t);
/* The best trial of a workload by objective k, within all limits; t->n: none. */
FT_API size_t ft_trials_best(const ft_exploration *x, const ft_trials *t,
                             uint32_t workload, size_t k);
/* on[i] = 1: trial i of this workload is on the front of all objectives, within all
 * limits. Objectives that are unavailable everywhere do not count. */
FT_API ft_status ft_trials_front(unsigned char *on, const ft_exploration *x,
                                 const ft_trials *t, uint32_t workload, ft_error *err);

/* Transfer of one workload's best point to another. */
typedef struct ft_transfer {
    uint32_t from, to;       /* workloads */
    ft_correlation rank;     /* Spearman's, of points that both have */
    size_t best_from, best;  /* trials of `to`: where `from` is best, and its own best */
    double regret;           /* relative excess of the former: 0.1 is 10 %; NaN: not run, not
                                within the limits, or values not above zero */
    double regret_error;     /* one sigma */
    size_t few;              /* random runs of `to` for training, ... */
    double with, without;    /* ... and the median error of predicting its others from
                                these, with all of `from` and without; NaN: too few */
} ft_transfer;
/* Of objective k. `few`: 0: 10. */
FT_API ft_status ft_transfer_compute(ft_transfer *out, const ft_exploration *x,
                                     const ft_trials *t, size_t k, uint32_t from,
                                     uint32_t to, size_t few, uint64_t seed,
                                     ft_error *err);

FT_END_DECLS

#endif
