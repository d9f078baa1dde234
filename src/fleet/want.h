#ifndef FLEET_WANT_H
#define FLEET_WANT_H

#include "base/index.h"
#include "fleet/jobs.h"

/* One operation wanted of a part, and where it stands. */
typedef struct ft__wanted_op {
    ft_op op; /* as the engine runs it */
    double count;
    uint64_t hash;
    double time_s;    /* predicted, or about */
    double cost_s;    /* of measuring it */
    double log_ratio; /* of the time measured to ft__choosing_work(); NaN: not known */
    unsigned tries;   /* jobs that ended without it */
    unsigned deaths;  /* jobs that died without it */
    bool refused;     /* by the engine */
    char why[120];    /* as a job says; "" */
    bool submitted;   /* a job is to measure it */
} ft__wanted_op;

/* One kind at one clock. Its operations lie in the order of their hashes. */
typedef struct ft__part {
    const ft__fleet_kind *kind;
    size_t n_kind, index; /* of the kind, of the part */
    double clock_hz;
    ft__part_name name;
    char engine[64];
    char setting[256]; /* as keys of the store have it, */
    char held[256];    /* and as a job found it, where clocks were rounded; "" */
    bool lowered;      /* the engine's policy is known */
    uint32_t policy;
    ft__wanted_op *op;
    size_t n_ops, cap;
    size_t judged; /* how many were known when the error was looked at */
    double error;
    unsigned batches; /* number of the last one */
} ft__part;

ft_status ft__part_make(ft__part *out, const ft_fleet *f, size_t kind, size_t clock,
                        size_t index, ft_error *err);
void ft__part_free(ft__part *p);

/* What is wanted of it, as its engine runs that: where the policy has become known,
 * anew. */
ft_status ft__part_gather(ft__part *p, const ft_fleet *f, ft_store *store,
                          const ft_fleet_options *opt, ft_error *err);
/* What the store has of that, and what its jobs were about. */
ft_status ft__part_refresh(ft__part *p, ft_store *store, const ft__fleet_batch *list,
                           size_t n, ft_error *err);
/* What measuring the others takes. */
void ft__part_costs(ft__part *p, const ft_fleet_options *opt);
bool ft__op_given_up(const ft__wanted_op *o);
/* Neither known nor given up nor submitted. */
bool ft__op_missing(const ft__wanted_op *o);

/* Which to measure next of part p: those chosen[] of *n, most informative first, until
 * they take `most_s` or are `most`. What is known of other parts counts, too. */
ft_status ft__fleet_choose(size_t *chosen, size_t *n, const ft__part *p,
                           const ft__part *all, size_t n_parts, ft_store *store,
                           double most_s, size_t most, const ft_fleet_options *opt,
                           ft_error *err);
/* Held-out error of what is known of p, when it is time to look at it. */
ft_status ft__part_judge(ft__part *p, ft_store *store, const ft_fleet_options *opt,
                         ft_error *err);

#endif
