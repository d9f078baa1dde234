#ifndef EXPLORE_RUNS_H
#define EXPLORE_RUNS_H

#include "explore/exploration.h"
#include "measure/spawn.h"
#include "store/trial.h"

/* What a run was measured by, beside the objectives' own names. */
#define FT__RUN_TIME ":time"
#define FT__RUN_MEMORY ":memory"

/* One run of a point: built where that is wanted, settings in force, measured. */
typedef struct ft__once {
    const ft_exploration *x;
    const ft_explore_options *opt;
    const double *point;
    uint32_t workload;
    uint32_t warmup;
    bool energy; /* measured, where there is a meter */
    const ft__runner *runner;
} ft__once;

typedef struct ft__outcome {
    ft__arena arena; /* of the texts */
    const char *failure, *output, *conditions;
    ft__trial_value *value;
    size_t n_values;
} ft__outcome;

/* That it fails is an outcome. FT_EUNSUPPORTED: settings; FT_EFORMAT: a placeholder.
 * The outcome's arena is freed by the caller, also on failure. */
ft_status ft__run_once(ft__outcome *out, const ft__once *o, ft_error *err);

/* Runs of one point and workload. */
typedef struct ft__runs {
    double
        *value; /* n x (objectives + 2): the objectives, time, memory; NaN: not known */
    size_t n, cap;
    bool failed; /* the last one */
    char *failure, *output;
} ft__runs;

/* Objective k over the runs that count, and its standard error. FT_ENOMEM. */
ft_status ft__objective_of(double *value, double *error, const ft_exploration *x,
                           const ft__runs *r, size_t k, ft_error *err);
/* Takes what the store says of a run in. */
ft_status ft__runs_add(ft__runs *r, const ft_exploration *x, const ft__trial_run *t,
                       ft_error *err);
void ft__runs_free(ft__runs *r);

#endif
