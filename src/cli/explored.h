#ifndef CLI_EXPLORED_H
#define CLI_EXPLORED_H

#include "cli/cli.h"
#include "foretell/exploration.h"
#include "report/units.h"

/* What came of an exploration, analysed. */

/* Correlation of a parameter with an objective, or of two objectives. */
typedef struct ft__relation {
    size_t a, b; /* parameter and objective, or two objectives */
    ft_correlation r[FT_CORRELATION_COUNT];
} ft__relation;

/* One workload with one objective. */
typedef struct ft__aspect {
    uint32_t workload;
    size_t objective;
    size_t n;           /* trials that have it */
    size_t best, worst; /* trials; t.n: none */
    double median;
    bool has_influence; /* else too few trials, or all alike */
    ft_influence influence;
    ft_influence_model model;
} ft__aspect;

typedef struct ft__explored {
    const ft_exploration *x;
    ft_trials t;
    const ft_parameter *param;
    const ft_objective *objective;
    const char *const *workload;
    size_t n_params, n_objectives, n_workloads;
    unsigned char *front; /* of each trial */
    double *hypervolume;  /* of each workload, share of the box that the worst of every
                             objective spans with the best; NaN: under two objectives */
    ft__aspect *aspect;   /* workload * n_objectives + objective */
    ft__relation *of_params;     /* n_relations of each workload */
    ft__relation *of_objectives; /* n_pairs of each workload */
    size_t n_relations, n_pairs;
    ft_transfer *transfer; /* n_transfers of each objective */
    size_t n_transfers;
    size_t runs, failed;
    /* Of a sweep, 0 of runs: how many points were foretold, and how long it took. */
    size_t foretold;
    double seconds;
    unsigned char *drawn; /* those that stand for all of them; NULL: all do */
} ft__explored;

/* x is borrowed. Complains itself. */
int ft__explored_make(ft__cli *c, ft__explored *e, const ft_exploration *x,
                      ft_store *store, uint64_t seed);
/* The same of trials that are there already, which it takes; drawn_take may be NULL. */
int ft__explored_take(ft__cli *c, ft__explored *e, const ft_exploration *x,
                      ft_trials *trials_take, unsigned char *drawn_take, uint64_t seed);
void ft__explored_free(ft__explored *e);

/* A value of objective k with its unit. */
ft__text ft__objective_text(const ft_objective *o, double v);
/* "image" or "" */
const char *ft__workload_text(const ft__explored *e, uint32_t w);
/* The point of a trial as text; in a buffer of the caller. */
void ft__trial_text(const ft__explored *e, const ft_trial *t, char *buf, size_t size);

/* At most so many of the trials with may[i], spread over what they reach in all
 * objectives, sorted by the first; out has room for them. */
size_t ft__explored_spread(size_t *out, const ft__explored *e, const unsigned char *may,
                           size_t most);

json_t *ft__explored_document(const ft__explored *e);
bool ft__explored_print(const ft__explored *e, uint64_t top);
bool ft__explored_json(const ft__explored *e);
/* One HTML page with the same data and charts to play with; nothing is fetched. */
bool ft__explored_page(const ft__explored *e, FILE *fp);
void ft__explored_csv(const ft__explored *e);

#endif
