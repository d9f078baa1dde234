#ifndef CLI_VALIDATE_H
#define CLI_VALIDATE_H

#include "cli/cli.h"
#include "foretell/outliers.h"
#include "foretell/validate.h"

/* A slow operation measured again, and with the schedule that was found for it. */
typedef struct ft__retuned {
    double before_s, after_s; /* NaN: `why` */
    char schedule[40];        /* "tuned:64"; "": not tried */
    char why[160];
} ft__retuned;

/* Operations of a store that take longer than others like them. */
typedef struct ft__slow_ops {
    ft_slow_op *op; /* the slowest first */
    size_t n;
    uint32_t n_datasets;
    ft__retuned *retuned; /* [n]; NULL: not asked for */
    const char *engine;   /* as asked for, with its options; NULL */
    const char *next;     /* what a hint names besides --tune; NULL: no hint */
} ft__slow_ops;

void ft__slow_ops_free(ft__slow_ops *s);
/* The `most` slowest whose engine has schedules are measured again on this machine, as
 * they were and tuned; all of it goes into the store. Complains itself. */
int ft__slow_ops_tune(ft__cli *c, ft__slow_ops *s, ft_store *store, uint64_t most);
/* False: out of memory. */
bool ft__slow_ops_print(const ft__cli *c, const ft__slow_ops *s, uint64_t top);
json_t *ft__slow_ops_json(const ft__slow_ops *s);
void ft__slow_ops_csv(const ft__slow_ops *s);

/* What was found about networks. */
typedef struct ft__validations {
    const ft_validated *v;
    size_t n;
    bool datasets; /* of several devices or settings: named at each */
    const ft_kind_effect *kind;
    size_t n_kinds;
    ft_errors errors[FT_QUANTITY_COUNT][FT_ESTIMATOR_COUNT];
    double within; /* fraction that every time must be within; NaN: not asked */
    bool holds;    /* every time is */
    uint64_t top;  /* kinds and operations without a price to list */
} ft__validations;

/* Estimate over measured, less one; NaN: one is not known. */
double ft__validated_error(const ft_validated *v, ft_quantity q, ft_estimator e);
/* In the form that the global options ask for; slow: NULL where it was not asked for.
 * Without networks it is all there is. False: out of memory. */
bool ft__validations_print(const ft__cli *c, const ft__validations *a,
                           const ft__slow_ops *slow);
/* As a page. s: of the machine that measured; NULL: nothing was run. */
int ft__validations_page(ft__cli *c, const char *path, const ft__validations *a,
                         ft_session *s);

#endif
