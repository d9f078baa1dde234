#ifndef EVALUATE_HOLD_OUT_H
#define EVALUATE_HOLD_OUT_H

#include "foretell/evaluate.h"
#include "predict/train/train.h"

/* ---- networks as lists of operations ---- */

typedef struct ft__network_ops {
    char name[160];
    uint64_t *hash; /* of its operations, ascending when all are read */
    size_t n;
} ft__network_ops;

typedef struct ft__networks {
    ft__network_ops *v;
    uint32_t n;
} ft__networks;

/* Those of a store's members, by the name in their spec whatever their input; only:
 * this one alone, or NULL. */
ft_status ft__networks_read(ft__networks *out, ft_store *store, const char *only,
                            ft_error *err);
void ft__networks_free(ft__networks *n);
bool ft__network_has(const ft__network_ops *n, uint64_t hash);

/* ---- what was predicted of tested rows ---- */

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
    ft__op_answer predicted;
} ft__result;

/* Zero to begin. */
typedef struct ft__test_results {
    ft__result *v;
    size_t n;
    size_t n_splits;
    size_t n_unanswered;  /* tested rows that the predictor has no answer for */
    char unanswered[240]; /* why, of the last of them */
    double n_learned;     /* rows learned from, over all splits */
    char chosen[4096];    /* of the last split */
} ft__test_results;

ft_status ft__results_add(ft__test_results *r, const ft__tested *row,
                          const ft__op_answer *predicted, size_t n, uint32_t split,
                          ft_error *err);
/* Note which methods a model set chose. */
void ft__results_choices(ft__test_results *r, const ft__family *f, ft__metric metric);
void ft__results_kernels(ft__test_results *r, const ft__kernel_models *k);
ft_status ft__results_errors(ft_errors *out, const ft__test_results *r, ft_error *err);
void ft__results_free(ft__test_results *r);

/* ---- what is left out together ---- */

/* Names are cut at so many bytes, less a final 0. */
enum { FT__SPLIT_NAME = 160 };
#define FT__NOT_TESTED UINT32_MAX
typedef struct ft__splits {
    uint32_t n;
    uint32_t *of; /* of every item: its split, or FT__NOT_TESTED */
    char (*name)[FT__SPLIT_NAME];
} ft__splits;
/* Of n items, none of which is tested yet. */
ft_status ft__splits_make(ft__splits *s, size_t n, ft_error *err);
/* The split of that name, which is added if there is none. */
ft_status ft__splits_add(uint32_t *index, ft__splits *s, const char *name,
                         ft_error *err);
bool ft__split_is(const ft__splits *s, uint32_t split, const char *name);
void ft__splits_free(ft__splits *s);
/* One split after the other: run() hides it, trains, asks, adds to the results. */
typedef ft_status ft__split_run(void *user, ft__test_results *out, uint32_t split,
                                ft_error *err);
ft_status ft__splits_run(ft__test_results *out, const ft__splits *s, ft__split_run *run,
                         void *user, const ft_log *log, ft_error *err);
/* All that an evaluation says of results. */
ft_status ft__results_report(ft_evaluation *out, const ft__test_results *r,
                             const ft__splits *s, ft__metric metric,
                             const ft_evaluate_options *opt, ft_error *err);

/* ft_evaluate() of networks measured whole; how: as rows are learned from. */
ft_status ft__evaluate_networks(ft_evaluation *out, ft_store *store,
                                const ft_evaluate_options *opt,
                                const ft__family_options *how, ft__metric metric,
                                ft_error *err);
/* The same of kernels in PTX. */
ft_status ft__evaluate_kernels(ft_evaluation *out, const ft_evaluate_options *opt,
                               ft_error *err);

#endif
