#ifndef FT_FLEET_H
#define FT_FLEET_H

#include "foretell/error.h"
#include "foretell/query.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Measuring on many machines of several kinds, by jobs of Slurm or on this machine, into
 * one store (docs/fleet.md). */

/* A fleet's file. */
typedef struct ft_fleet ft_fleet;
/* FT_EIO: it cannot be read; FT_EFORMAT: says file, line and what is wrong. */
FT_API ft_status ft_fleet_load(ft_fleet **out, const char *path, ft_error *err);
FT_API void ft_fleet_free(ft_fleet *f);

typedef struct ft_fleet_options {
    const char *foretell;   /* the command, for kinds that name none */
    const char *plugin_dir; /* engines, to ask how they run graphs; NULL: not asked */
    const char *data_dir;   /* device files; NULL: none */
    ft_data *data;          /* for predicted costs; NULL: rough costs */
    uint32_t local;         /* 0: by Slurm; else so many jobs at once on this machine */
    const ft_log *log;      /* may be NULL */
} ft_fleet_options;

/* One kind of device at one clock. Operations, networks measured whole and points of
 * explorations: wanted = known + refused + missing. */
typedef struct ft_fleet_part {
    const char *kind;
    const char *device;  /* in the store */
    const char *setting; /* "threads=1 clock=1200MHz" */
    size_t wanted;
    size_t known;   /* measured */
    size_t refused; /* given up: FOLDER/refused.csv says why */
    size_t missing;
    double missing_s; /* node seconds that measuring them takes */
    double error;     /* held-out MAPE, where the file asks for one; NaN: not known yet */
    int enough;       /* 1: the error asked for is reached, missing ones are not measured */
    size_t jobs, waiting, running, died, quarantined; /* jobs so far; of them */
    double spent_s; /* node seconds */
    double took; /* time of its jobs over the planned time; missing_s includes it */
} ft_fleet_part;

/* A node that gets no more jobs. */
typedef struct ft_fleet_node {
    const char *kind;
    const char *node;
    const char *why;
} ft_fleet_node;

/* Its texts are valid as long as the fleet. */
typedef struct ft_fleet_report {
    const char *folder; /* of jobs and refused.csv */
    ft_fleet_part *part;
    size_t n_parts;
    ft_fleet_node *node;
    size_t n_nodes;
    double budget_s; /* node seconds; INFINITY: no limit */
    double spent_s;
    int out_of_budget; /* 1: work is left, and no budget for it */
} ft_fleet_report;
FT_API void ft_fleet_report_free(ft_fleet_report *r);

/* What is wanted, known and missing, and what became of jobs; changes nothing. As in
 * ft_query_import() for models that cannot be read. */
FT_API ft_status ft_fleet_look(ft_fleet_report *out, ft_fleet *f, ft_store *store,
                               const ft_fleet_options *opt, ft_error *err);
/* Submit jobs and merge what they measure until nothing is missing, the errors wanted
 * are reached or the budget is spent. Stopped at any moment, the next call goes on: what
 * is known of jobs lies in files beside the fleet's. FT_EIO: Slurm is not there or
 * refuses the jobs (says why), or another call works there. */
FT_API ft_status ft_fleet_run(ft_fleet_report *out, ft_fleet *f, ft_store *store,
                              const ft_fleet_options *opt, ft_error *err);

FT_END_DECLS

#endif
