#ifndef FT_EVALUATE_H
#define FT_EVALUATE_H

#include "foretell/error.h"
#include "foretell/learn.h"
#include "foretell/networks.h"
#include "foretell/rank.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Accuracy on held-out rows: a predictor is trained on the rest exactly as by
 * ft_predictor_train(), model selection included, and queried. Equal operations are never
 * on both sides of FOLDS and SHARE. docs/evaluation.md */

typedef enum ft_protocol {
    FT_PROTOCOL_FOLDS,   /* each of n_folds parts of the operations once */
    FT_PROTOCOL_SHARE,   /* all but a random share of the operations */
    FT_PROTOCOL_DEVICE,  /* each device once, from the others */
    FT_PROTOCOL_KIND,    /* each kind once, from the others */
    FT_PROTOCOL_SETTING, /* each setting once, from the others */
    FT_PROTOCOL_NETWORK, /* each network's operations once, from those not in it */
    FT_PROTOCOL_CLOCKS,  /* kernels and networks measured at several clocks, n_folds
                            parts of the names: trained on their highest clocks, tested
                            at all others */
    FT_PROTOCOL_ARCHITECTURE, /* "family": each architecture of networks once */
    FT_PROTOCOL_KERNEL,  /* of PTX kernels: each once, from the others */
    FT_PROTOCOL_STORES,  /* test on a second store; devices missing in the first are
                            predicted as with DEVICE */
    FT_PROTOCOL_LAYER,   /* as FOLDS, the batches of a layer all in one part */
    FT_PROTOCOL_COUNT
} ft_protocol;

/* The alternatives whose predicted order is scored. */
typedef enum ft_choices {
    FT_CHOICES_NONE, /* no order is scored */
    FT_CHOICES_DEVICE,
    FT_CHOICES_SETTING, /* of one device, such as its clock */
} ft_choices;

/* One tested row. Texts are borrowed for the call. */
typedef struct ft_evaluated_row {
    const char *device;
    const char *setting;
    const char *engine;
    const char *engine_version;
    const char *policy; /* on dtypes */
    const char *spec;
    const char *phase;
    const char *metric;
    const char *basis;
    const char *split; /* what was left out with it */
    double truth; /* measured */
    double value;
    double low; /* 90 % */
    double high;
} ft_evaluated_row;

typedef struct ft_evaluate_options {
    const char *where;    /* which rows: "device=a30 phase=forward kind=conv2d"; names
                             are device, engine, version, policy, phase, kind, class,
                             and those of settings and specs; values between commas
                             are alternatives; NULL: all */
    const char *metric;   /* "time" (NULL), "power", "energy", "memory", "workspace" */
    ft_protocol protocol;
    const char *only;     /* DEVICE, KIND, SETTING, NETWORK, KERNEL: this one alone; NULL: all */
    uint32_t n_folds;     /* 0: 5; of CLOCKS 10 */
    double share;         /* SHARE: of the operations, for training */
    const char *networks; /* NULL, or test these measured networks, in the syntax of
                             `where`; by NETWORK, DEVICE or ARCHITECTURE. All measurements
                             of a network's operations leave training with it, and
                             schedules are fitted to the remaining networks */
    ft_networks_find find; /* their operations, as in ft_train_options */
    void *find_user;
    const char *kernels;  /* NULL, or test launches of PTX kernels instead of operations,
                             files as in ft_train_options; by KERNEL or DEVICE */
    int siblings;         /* DEVICE: other devices of its chip stay in training */
    uint32_t correct;     /* DEVICE, times, power: few-shot correction by so many random
                             rows of each device, at most half of them */
    int chosen;           /* not random: the operations of ft_choose_few() */
    uint32_t methods;     /* bits 1 << ft_method, candidates; 0: the default ones */
    int mix;              /* also stack the three best */
    int single;           /* one regressor for all kinds */
    size_t most_bytes;    /* of the predictor's file, as in ft_train_options */
    uint32_t curve_steps; /* > 0: learning curve over growing parts of the training rows */
    void (*row)(void *user, const ft_evaluated_row *row); /* NULL, or takes each row */
    void *row_user;
    ft_choices choices;   /* also score the order of these by the metric */
    const char *data_dir; /* where device files are; NULL: none are known */
    uint64_t seed;
    uint32_t threads;
    const ft_log *log;
} ft_evaluate_options;

/* Scores of a group of rows. */
typedef struct ft_evaluated {
    char name[160];
    ft_errors learned;
    ft_errors constant; /* baseline: one ratio to the physical estimate */
    ft_errors base;     /* baseline: the physical estimate */
    double covered;     /* share of rows inside their 90 % interval */
    double width;       /* median of high / low */
} ft_evaluated;

typedef enum ft_by {
    FT_BY_KIND,
    FT_BY_DEVICE,
    FT_BY_SIZE,  /* deciles of the true value */
    FT_BY_SPLIT, /* what was left out */
    FT_BY_COUNT
} ft_by;

/* One step of a learning curve. */
typedef struct ft_curve_point {
    double rows; /* mean number of training rows */
    ft_errors learned;
} ft_curve_point;

typedef struct ft_evaluation {
    ft_evaluated all;
    ft_evaluated *by[FT_BY_COUNT];
    size_t n_by[FT_BY_COUNT];
    ft_curve_point *curve;
    size_t n_curve;
    ft_rank_evaluation order; /* of ft_evaluate_options.choices, by operation */
    size_t n_rows;       /* read, with a value of the metric */
    uint32_t n_datasets; /* they come from */
    size_t n_splits;
    double n_learned;    /* mean number of training rows */
    size_t n_unanswered; /* tested rows without an answer; not scored */
    char unanswered[240]; /* why, of the last of them; "" */
    char chosen[4096];   /* regressors of the last split, one a line: name, rows, method */
} ft_evaluation;

/* store: NULL where kernels are tested. test: STORES only, otherwise NULL. FT_EINVAL:
 * incompatible options (the message names them); FT_ENOTFOUND: nothing left to train or
 * test on. */
FT_API ft_status ft_evaluate(ft_evaluation *out, ft_store *store, ft_store *test,
                             const ft_evaluate_options *opt, ft_error *err);
FT_API void ft_evaluation_free(ft_evaluation *e);

FT_END_DECLS

#endif
