#ifndef FLEET_FILE_H
#define FLEET_FILE_H

#include <stdbool.h>

#include "base/arena.h"
#include "foretell/explore.h"
#include "foretell/fleet.h"

enum { MOST_OPTIONS = 100 }; /* of sbatch */

/* A fleet's file, read. Texts are "" where the file says nothing, unless otherwise
 * noted. */
typedef struct ft__fleet_kind {
    const char *name, *device;
    const char *engine; /* with its options: "torch,device=cuda" */
    uint32_t threads;
    double *clock_hz; /* NaN, one: as it is */
    size_t n_clocks;
    const char *constraint, *partition, *account;
    const char **sbatch; /* further arguments of it */
    size_t n_sbatch;
    uint32_t nodes;          /* jobs at once, at most */
    const char *foretell;    /* command; NULL: the submitter's */
    const char *portable;    /* folder that a job copies to its node */
    const char *setup;       /* lines of shell before measuring */
    const char *power;       /* as collect --power */
    double op_seconds;       /* of measuring one operation */
    double overhead_s;       /* of a job */
    double job_s;            /* of one job, about */
    uint32_t job_operations; /* at most */
} ft__fleet_kind;

typedef struct ft__fleet_wanted {
    const char *model;                    /* path: a model or a list of operations */
    bool ops, whole;                      /* of it: each operation, all at once */
    const char *explore;                  /* path of a space instead, else NULL: */
    ft_design_options design;             /* points of it */
    const char *mode, *dtype, *optimizer; /* NULL: as the model is */
    uint32_t *batch;                      /* 0: as the model is */
    size_t n_batches;
    bool *of_kind; /* wanted of it */
} ft__fleet_wanted;

struct ft_fleet {
    ft__arena arena;
    const char *folder; /* of jobs */
    ft__fleet_kind *kind;
    size_t n_kinds;
    ft__fleet_wanted *wanted;
    size_t n_wanted;
    double error;       /* 0: until all is measured */
    double budget_s;    /* INFINITY: none */
    double calibration; /* relative; beyond it a node is out of use */
};

/* `path` is where the file lies: models are beside it, and so is the folder of jobs. */
ft_status ft__fleet_read(ft_fleet **out, const char *text, size_t len, const char *path,
                         ft_error *err);

#endif
