#ifndef FT_CHOOSE_H
#define FT_CHOOSE_H

#include "foretell/error.h"
#include "foretell/learn.h"
#include "foretell/op.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Acquisition criteria for the next operation to measure. */
typedef enum ft_criterion {
    FT_CRITERION_ACTIVE, /* largest expected reduction of the squared error over all
                            operations under a Gaussian process (Seo et al. 2000, after
                            Cohn 1996), whose variance grows with held-out errors of
                            trees */
    FT_CRITERION_SPREAD, /* largest reduction of the distance of all to measured ones */
    FT_CRITERION_RANDOM,
    FT_CRITERION_COUNT
} ft_criterion;

enum { FT_CHOOSE_MOST = 4096 };

/* Those of n different operations, best first, whose times on a device that nobody
 * measured say most of the others, where these are then corrected (ft_query.correct):
 * the greatest decrease of the sum of variances under the process that corrects, before
 * anything of the device is known. All pairs are compared: of more than
 * FT_CHOOSE_MOST operations so many, evenly spaced, are, and the rest follows in order.
 * out[want]; *n_chosen: `want` or all there are. FT_ENOMEM. */
FT_API ft_status ft_choose_few(uint32_t *out, uint32_t *n_chosen, const ft_op *ops,
                               uint32_t n, uint32_t want, ft_error *err);

/* Comparison of criteria, replayed on a store. */

typedef struct ft_choice_options {
    const char *where;    /* as in ft_evaluate_options */
    uint32_t criteria;    /* bits 1 << ft_criterion; random is always beside */
    uint32_t n_seeds;     /* 0: 10 */
    uint32_t n_steps;     /* 0: 15; from 2 % of the operations to all, equal factors */
    uint32_t methods;     /* as in ft_evaluate_options */
    /* NULL, or takes each operation when it is chosen. */
    void (*chosen)(void *user, uint64_t seed, ft_criterion by, const ft_op *op);
    void *chosen_user;
    const char *data_dir; /* where device files are; NULL: none are known */
    uint64_t seed;
    uint32_t threads;
    const ft_log *log;
} ft_choice_options;

/* At this percentage of the operations curves are compared with training on all. */
#define FT_CHOICE_PERCENT 60

typedef struct ft_choice_point {
    double ops;                       /* measured so far, mean over seeds */
    double mape[FT_CRITERION_COUNT];  /* of tested rows, mean over seeds; NaN: not requested */
} ft_choice_point;

typedef struct ft_choice_curves {
    ft_choice_point *point;
    size_t n_points;
    double area[FT_CRITERION_COUNT];   /* mean MAPE over the logarithm of ops */
    double better[FT_CRITERION_COUNT]; /* share of seeds with less area than random */
    /* Share of the operations from which on the mean error is that of all, or at most 2 %
     * or 5 % above it (relative); log-interpolated. */
    double full_at[FT_CRITERION_COUNT];
    double close_at[FT_CRITERION_COUNT];
    double near_at[FT_CRITERION_COUNT];
    /* Relative excess of the error at FT_CHOICE_PERCENT over that of all operations, and
     * its standard error over seeds (NaN: one seed). */
    double excess[FT_CRITERION_COUNT];
    double excess_error[FT_CRITERION_COUNT];
    size_t n_ops;    /* that could be measured, per seed */
    size_t n_tested; /* rows, per seed */
    uint32_t n_seeds;
} ft_choice_curves;

/* For each seed a quarter of the operations is held out; the others (at most 1024, drawn at
 * random) join the training set in the order of ft_collect(), weighted by their number of
 * rows, with all their rows. At each step the predictor of ft_predictor_train() is scored
 * on the held-out ones as in ft_evaluate(). Errors as there; FT_ENOTFOUND: fewer than 40
 * operations, or a device without specifications. */
FT_API ft_status ft_choice_evaluate(ft_choice_curves *out, ft_store *store,
                                    const ft_choice_options *opt, ft_error *err);
FT_API void ft_choice_curves_free(ft_choice_curves *c);

FT_END_DECLS

#endif
