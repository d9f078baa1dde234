#ifndef FT_CHOOSE_H
#define FT_CHOOSE_H

#include "foretell/error.h"
#include "foretell/learn.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* By what the next operations to measure are chosen among those that are wanted. */
typedef enum ft_criterion {
    FT_CRITERION_ACTIVE, /* what lessens the expected squared error over all of them
                            most: errors of alike operations are alike (Seo et al. 2000,
                            after Cohn 1996), and larger where trees that had not seen
                            the operations erred more */
    FT_CRITERION_SPREAD, /* what brings all of them nearest to something measured */
    FT_CRITERION_RANDOM,
    FT_CRITERION_COUNT
} ft_criterion;

/* ---- what a criterion brings: measuring played on a store ---- */

typedef struct ft_choice_options {
    const char *where;    /* as in ft_evaluate_options */
    uint32_t criteria;    /* bits 1 << ft_criterion; random is always beside */
    uint32_t n_seeds;     /* 0: 10 */
    uint32_t n_steps;     /* 0: 15; from 2 % of the operations to all, equal factors */
    uint32_t methods;     /* as in ft_evaluate_options */
    const char *data_dir; /* where device files are; NULL: none are known */
    uint64_t seed;
    uint32_t threads;
    const ft_log *log;
} ft_choice_options;

/* Where curves are compared with learning from all operations, a share of these, in
 * percent. */
#define FT_CHOICE_PERCENT 60

typedef struct ft_choice_point {
    double ops;                       /* measured so far, mean over seeds */
    double mape[FT_CRITERION_COUNT];  /* of tested rows, mean over seeds; NaN: not asked */
} ft_choice_point;

typedef struct ft_choice_curves {
    ft_choice_point *point;
    size_t n_points;
    double area[FT_CRITERION_COUNT];   /* mean MAPE over the logarithm of ops */
    double better[FT_CRITERION_COUNT]; /* share of seeds with less area than random */
    /* Part of the operations from which on the mean error is that of all of them, and at
     * most 2 % and 5 % above it (relative); between points by the logarithm. */
    double full_at[FT_CRITERION_COUNT];
    double close_at[FT_CRITERION_COUNT];
    double near_at[FT_CRITERION_COUNT];
    /* By how much the error of FT_CHOICE_PERCENT of the operations is above that of all of
     * them, as a share of the latter, and the standard error of that over seeds (NaN:
     * there is one only). */
    double excess[FT_CRITERION_COUNT];
    double excess_error[FT_CRITERION_COUNT];
    size_t n_ops;    /* that could be measured, per seed */
    size_t n_tested; /* rows, per seed */
    uint32_t n_seeds;
} ft_choice_curves;

/* For each seed a quarter of the operations is held out, and of the others (2048 at most,
 * by lot) more and more are learned from, in the order of each criterion; all rows of an
 * operation come with it, and it weighs in the criterion as much as it has rows. Errors as
 * ft_evaluate(); FT_ENOTFOUND: fewer than 40 operations. */
FT_API ft_status ft_choice_evaluate(ft_choice_curves *out, ft_store *store,
                                    const ft_choice_options *opt, ft_error *err);
FT_API void ft_choice_curves_free(ft_choice_curves *c);

FT_END_DECLS

#endif
