#ifndef STORE_TRIAL_H
#define STORE_TRIAL_H

#include "store/store.h"
#include "store/store_inside.h"

/* Runs of points of an exploration. `print` distinguishes explorations of one name that
 * run something else. */

/* An exploration as the store has it. */
typedef struct ft__trials {
    int64_t number; /* 0: not there, in a store that may only be read */
    char *plan;     /* what was planned the last time, "" at first; the caller's to
                     * free() */
} ft__trials;

/* Made when it is not there. `plan` is planned from now on; NULL: it stays. */
ft_status ft__trials_of(ft__trials *out, ft_store *s, const char *name, uint64_t print,
                        const char *plan, ft_error *err);

typedef struct ft__trial_value {
    const char *name; /* "time", "memory", an objective's */
    double value;     /* NaN is not kept */
} ft__trial_value;

typedef struct ft__trial_run {
    const char *workload, *point;
    int64_t taken_at;    /* ns since 1970 */
    const char *failure; /* a sentence; "": none */
    const char *output;  /* of one that failed; "" */
    const char *conditions;
    const ft__trial_value *value;
    size_t n_values;
} ft__trial_run;

/* When it returns, it outlives this process. `run` as for ft__store_put(). */
ft_status ft__trial_add(ft_store *s, int64_t exploration, int64_t run,
                        const ft__trial_run *t, ft_error *err);
/* All of them in the order in which they were taken. */
ft_status ft__trial_each(ft_store *s, int64_t exploration,
                         bool (*each)(void *user, const ft__trial_run *t), void *user,
                         ft_error *err);

/* Statements that take those of a copied store (temp.from_...) in, ended by NULL; the
 * one before the last adds the runs. */
extern const char *const ft__trial_merge[];

#endif
