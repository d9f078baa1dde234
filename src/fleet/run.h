#ifndef FLEET_RUN_H
#define FLEET_RUN_H

#include "fleet/want.h"

/* A fleet while it is worked on: its parts, and all batches of jobs there ever were. */
typedef struct ft__fleet_run {
    ft_fleet *fleet;
    ft_store *store;
    const ft_fleet_options *opt;
    ft__part *part;
    size_t n_parts;
    ft__batches batches;
    bool out_of_budget;
} ft__fleet_run;

/* Jobs of a part that wait or run. */
bool ft__fleet_has_open(const ft__fleet_run *r, size_t part);
/* Those jobs of a part that are over: into the store, or not. While a kind's nodes are
 * too few to be compared, and others are on their way, they wait. *merged: grows by as
 * many as were looked at. */
ft_status ft__fleet_merge(size_t *merged, ft__fleet_run *r, size_t part, ft_error *err);
/* Is this job the first for which its node is quarantined? */
bool ft__fleet_is_out(const ft__fleet_run *r, const ft__fleet_job *of);
/* "gpu3,gpu7": quarantined nodes of a kind. */
void ft__fleet_excluded(ft__buf *out, const ft__fleet_run *r,
                        const ft__fleet_kind *kind);

/* Seconds of nodes; part SIZE_MAX: of all. */
double ft__fleet_spent_s(const ft__fleet_run *r, size_t part);
/* Is what was learned of it as accurate as wanted? */
bool ft__fleet_is_enough(const ft__fleet_run *r, const ft__part *p);
ft_status ft__fleet_report(ft_fleet_report *out, const ft__fleet_run *r, ft_error *err);
/* What is not in the store, and why: refused.csv of the folder. */
ft_status ft__fleet_refused(ft__fleet_run *r, ft_error *err);

#endif
