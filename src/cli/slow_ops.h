#ifndef CLI_SLOW_OPS_H
#define CLI_SLOW_OPS_H

#include "cli/cli.h"
#include "foretell/outliers.h"

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

#endif
