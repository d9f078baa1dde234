#ifndef EVALUATE_HOLD_OUT_H
#define EVALUATE_HOLD_OUT_H

#include "foretell/evaluate.h"
#include "predict/train/train.h"

/* ---- networks as lists of operations ---- */

typedef struct ft__network {
    char name[160];
    uint64_t *hash; /* of its operations, ascending when all are read */
    size_t n;
} ft__network;

typedef struct ft__networks {
    ft__network *v;
    uint32_t n;
} ft__networks;

/* Those of a store's members, by the name in their spec whatever their input; only:
 * this one alone, or NULL. */
ft_status ft__networks_read(ft__networks *out, ft_store *store, const char *only,
                            ft_error *err);
void ft__networks_free(ft__networks *n);
bool ft__network_has(const ft__network *n, uint64_t hash);

/* ---- what was said of tested rows ---- */

/* A row that was tested: an operation, or what was measured whole with its spec. */
typedef struct ft__tested {
    const ft__dataset *on;
    const ft_op *op;  /* NULL: measured whole */
    const char *spec; /* then */
    const char *phase;
    const char *kind;
    uint32_t kind_order, device_order; /* of lines in tables */
    uint64_t hash; /* equal: the same operation or network, wherever it ran */
    double truth;
} ft__tested;

typedef struct ft__result {
    ft__tested row;
    uint32_t split;
    ft__answer said;
} ft__result;

/* Zero to begin. */
typedef struct ft__results {
    ft__result *v;
    size_t n;
    size_t n_splits;
    size_t n_unanswered;  /* tested rows that the predictor has no answer for */
    char unanswered[240]; /* why, of the last of them */
    double n_learned;     /* rows learned from, over all splits */
    char chosen[4096];    /* of the last split */
} ft__results;

ft_status ft__results_add(ft__results *r, const ft__tested *row, const ft__answer *said,
                          size_t n, uint32_t split, ft_error *err);
/* Note which methods a learner chose. */
void ft__results_choices(ft__results *r, const ft__family *f, ft__metric metric);
void ft__results_kernels(ft__results *r, const ft__kernels *k);
/* Every row to opt->row. */
void ft__results_rows(const ft__results *r, ft__metric metric, const char (*split)[160],
                      const ft_evaluate_options *opt);
ft_status ft__results_errors(ft_errors *out, const ft__results *r, ft_error *err);
ft_status ft__results_tables(ft_evaluation *out, const ft__results *r,
                             const char (*split)[160], ft_error *err);
/* The order of choices over operations that were tested on all of them. */
ft_status ft__results_order(ft_rank_evaluation *out, const ft__results *r,
                            ft_choices choices, ft_error *err);
void ft__results_free(ft__results *r);

/* ft_evaluate() of networks measured whole; how: as rows are learned from. */
ft_status ft__evaluate_networks(ft_evaluation *out, ft_store *store,
                                const ft_evaluate_options *opt,
                                const ft__family_options *how, ft__metric metric,
                                ft_error *err);
/* The same of kernels in PTX. */
ft_status ft__evaluate_kernels(ft_evaluation *out, const ft_evaluate_options *opt,
                               ft_error *err);

#endif
