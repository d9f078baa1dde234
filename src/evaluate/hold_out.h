#ifndef EVALUATE_HOLD_OUT_H
#define EVALUATE_HOLD_OUT_H

#include "foretell/evaluate.h"
#include "foretell/rank.h"
#include "predict/train/train.h"

/* A row that was tested: an operation, or what was measured whole with its spec. */
typedef struct ft__tested {
    const ft__dataset *on;
    const ft_op *op;  /* NULL: measured whole */
    const char *spec; /* then */
    const char *phase, *kind;
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
    size_t n, n_splits;
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
/* Of all splits, all that an evaluation says of results. */
ft_status ft__splits_evaluate(ft_evaluation *out, const ft__splits *s,
                              ft__split_run *run, void *user, ft__metric metric,
                              const ft_evaluate_options *opt, ft_error *err);

/* One choice for one item (an operation, a network): predicted value with its 90 %
 * interval, and measured value. */
typedef struct ft__rank_row {
    uint64_t item;
    const char *choice; /* "h200-sxm" */
    double truth;       /* measured; above 0, as the value */
    double value, low, high;
} ft__rank_row;

/* Orders that were predicted against the true ones. A choice that an item has several
 * times counts by its mean measured value and mean value. FT_ENOTFOUND: no item has all
 * choices, or there is one choice only. */
ft_status ft__rank_evaluate(ft_rank_evaluation *out, const ft__rank_row *row, size_t n,
                            ft_error *err);

/* ft_evaluate() of networks measured whole; how: as rows are learned from. */
ft_status ft__evaluate_networks(ft_evaluation *out, ft_store *store,
                                const ft_evaluate_options *opt,
                                const ft__family_options *how, ft__metric metric,
                                ft_error *err);
/* The same of kernels in PTX. */
ft_status ft__evaluate_kernels(ft_evaluation *out, const ft_evaluate_options *opt,
                               ft_error *err);

#endif
