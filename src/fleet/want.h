#ifndef FLEET_WANT_H
#define FLEET_WANT_H

#include "base/buf.h"
#include "base/index.h"
#include "fleet/jobs.h"

/* One operation wanted of a part, or a network run whole, or a point of an exploration,
 * and where it stands. */
typedef struct ft__wanted_op {
    enum { FT__OPERATION, FT__NETWORK, FT__POINT } what;
    ft_op op;                   /* OPERATION: as the engine runs it */
    const char *text;           /* others: what they are known by */
    const ft__fleet_wanted *of; /* and where that stands */
    uint64_t number;  /* NETWORK: its batch, 0: as the model is; POINT: of the design */
    const char *name; /* POINT: of the results */
    double runs;      /* POINT: at least */
    double count;
    uint64_t hash;
    bool known;       /* measured */
    double time_s;    /* predicted, or about */
    double cost_s;    /* of measuring it */
    double log_ratio; /* OPERATION: of the time measured to ft__choosing_work(); NaN */
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
    bool first;           /* of the kind: explorations, which set clocks themselves */
    double clock_hz;
    char name[160]; /* "a30", "a30-1200MHz": the beginning of its batches' names */
    char engine[64];
    char setting[256]; /* as keys of the store have it, */
    char held[256];    /* and as a job found it, where clocks were rounded; "" */
    bool lowered;      /* the engine's policy is known */
    uint32_t policy;
    ft__arena arena; /* of texts */
    ft__wanted_op *op;
    size_t n_ops, cap;
    double planned_s, took_s; /* of jobs that did all that they were to */
    size_t n_took;
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
/* By its spec, by the text of what is no operation, by either's hash; NULL: it is not
 * wanted. */
ft__wanted_op *ft__part_find(const ft__part *p, const char *spec);
ft__wanted_op *ft__part_named(const ft__part *p, const char *text);
ft__wanted_op *ft__part_at(const ft__part *p, uint64_t hash);

/* An operation more, at the end; what is none goes by its text. */
ft_status ft__part_add_text(ft__part *p, ft__wanted_op o, const ft__buf *text,
                            ft_error *err);

/* Of every point wanted of the part whether it is known; `add`: they are to become
 * wanted. */
ft_status ft__part_points(ft__part *p, bool add, const ft_fleet *f, ft_store *store,
                          ft_error *err);

/* What the store has of all that, and what its jobs were about. */
ft_status ft__part_refresh(ft__part *p, const ft_fleet *f, ft_store *store,
                           const ft__batches *list, ft_error *err);
/* What measuring the others takes, if jobs take as long as planned. */
void ft__part_costs(ft__part *p, const ft_fleet_options *opt);
/* What they took over what was planned. */
double ft__part_took(const ft__part *p);
bool ft__op_given_up(const ft__wanted_op *o);
/* Neither known nor given up nor submitted. */
bool ft__op_missing(const ft__wanted_op *o);

/* How a list says what it takes, in seconds, on its first line; and how the line begins
 * that stands for what is no operation. */
#define FT__PLANNED_LINE(number) "# about " number " s"
#define FT__TEXT_LINE "#: "
/* A new batch and its folder, complete but for the script: its jobs are to measure the
 * n operations chosen, each of them as much. */
ft_status ft__batch_write(ft__batches *list, ft_fleet *f, ft__part *p,
                          const size_t *chosen, size_t n, size_t n_jobs, ft_error *err);
/* The script that runs its jobs, by this command unless the kind names one. */
ft_status ft__batch_script(const ft__fleet_batch *b, const ft__part *p,
                           const char *foretell, ft_error *err);
ft_status ft__make_folder(const char *path, ft_error *err);

/* Which to measure next of part p: those chosen[] of *n, networks and points first,
 * then
 * (`operations`) the most informative operations by all that any part knows, until they
 * take `most_s` or are `most`. */
ft_status ft__fleet_choose(size_t *chosen, size_t *n, const ft__part *p,
                           const ft__part *all, size_t n_parts, ft_store *store,
                           double most_s, size_t most, bool operations,
                           const ft_fleet_options *opt, ft_error *err);
/* Held-out error of what is known of p, when it is time to look at it. */
ft_status ft__part_judge(ft__part *p, ft_store *store, const ft_fleet_options *opt,
                         ft_error *err);

#endif
