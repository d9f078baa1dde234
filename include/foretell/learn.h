#ifndef FT_LEARN_H
#define FT_LEARN_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Regression methods on plain matrices, their options, and error measures
 * (docs/learning.md). */

/* n_rows x n_cols values, row-major; borrowed. NaN means "missing". */
typedef struct ft_matrix {
    const float *x;
    size_t n_rows;
    size_t n_cols;
} ft_matrix;

/* ---- tree ensembles ----
 * A forest never changes after it is made; any number of threads may predict
 * from one forest at the same time. */
typedef struct ft_forest ft_forest;

typedef enum ft_forest_kind {
    FT_FOREST_RANDOM, /* Breiman 2001: bootstrap rows, best split */
    FT_FOREST_EXTRA,  /* Geurts, Ernst, Wehenkel 2006: all rows, random cut points */
    FT_FOREST_BEST,   /* all rows, best split: trees that differ in the columns they
                         try, if in anything; one alone is CART (Breiman et al. 1984) */
} ft_forest_kind;

typedef struct ft_forest_options {
    ft_forest_kind kind;
    uint32_t n_trees;    /* 0: 100 */
    uint32_t max_depth;  /* 0: unlimited */
    uint32_t min_leaf;   /* least rows in a leaf; 0: 1 */
    double max_features; /* share of columns tried per split, (0, 1]; 0: all; of
                            those that vary in the node, and at least one */
    uint64_t seed;
    uint32_t threads; /* 0: 1. The result does not depend on it, bit for bit. */
} ft_forest_options;




/* ---- one interface for every method ----
 * A model is immutable; any number of threads may predict from one. Prediction needs no
 * other library, whichever one fitted it. */
typedef struct ft_model ft_model;

typedef enum ft_method {
    FT_METHOD_RIDGE,    /* linear with an L2 penalty (Hoerl, Kennard 1970) */
    FT_METHOD_KNN,      /* k nearest neighbours, weighted by inverse distance */
    FT_METHOD_TEMPLATE, /* the nearest sample (Sponner et al. 2022) */
    FT_METHOD_TREE,     /* one regression tree (CART, Breiman et al. 1984) */
    FT_METHOD_FOREST,   /* random forest */
    FT_METHOD_EXTRA,    /* extremely randomised trees */
    FT_METHOD_BOOST,    /* gradient boosting, fitted by XGBoost (Chen, Guestrin 2016) */
    FT_METHOD_MLP,      /* multi-layer perceptron, ReLU, Adam (Kingma, Ba 2015) */
    FT_METHOD_SVR,      /* epsilon support vectors, radial basis, fitted by libsvm */
    FT_METHOD_GP,       /* Gaussian process, Matern 3/2, one length a column (Rasmussen,
                           Williams 2006) */
    FT_METHOD_HIST,     /* gradient boosting on histograms (Ke et al. 2017), own
                           implementation */
    FT_METHOD_MIDDLE,   /* extremely randomised trees for log targets: weighted median of
                           the trees, which minimises the relative error */
    FT_METHOD_COUNT
} ft_method;
/* 1 when it can be fitted here; else 0, and *why names what is missing ("" otherwise). */
FT_API int ft_method_available(ft_method m, const char **why);

/* 0 or NaN: the method's default, which docs/learning.md lists. */
typedef struct ft_model_options {
    ft_method method;
    ft_forest_options forest; /* TREE, FOREST, EXTRA (kind is set by the method) */
    double penalty;    /* RIDGE: lambda on standardised columns; BOOST, HIST: lambda; MLP: weight
                          decay; SVR: C */
    uint32_t neighbours; /* KNN */
    uint32_t rounds;   /* BOOST, HIST: trees; MLP: epochs; GP: steps to find lengths */
    uint32_t depth;    /* BOOST, HIST: of a tree; HIST: 16 at most */
    double rate;       /* BOOST, HIST, MLP: learning rate */
    double share;      /* BOOST, HIST: of rows and of columns a tree sees */
    uint32_t width;    /* MLP: units of a hidden layer */
    uint32_t layers;   /* MLP: hidden layers */
    double gamma;      /* SVR: of exp(-gamma |a - b|^2), on standardised columns */
    double epsilon;    /* SVR: half width of the tube, in sigmas of the target */
    double least, most; /* bounds of the target (logit transform): targets with a weight
                           lie strictly between them, else FT_EINVAL. Both 0: none */
    uint64_t seed;
    uint32_t threads;  /* the result does not depend on it */
} ft_model_options;



/* Permutation importance of a column: increase of the mean relative error of exp(target)
 * when its values are permuted among rows, 0.01 being one percentage point. Redundant
 * columns share their importance. */
typedef struct ft_importance {
    double increase; /* mean over repeats; about 0 or below: unused */
    double spread;   /* standard deviation over repeats; NaN with one */
} ft_importance;

typedef struct ft_importance_options {
    const ft_model_options *model; /* a weighted sum of these, ... */
    const double *weight;          /* ... with these weights */
    uint32_t n_models;             /* 1 to 8 */
    uint32_t n_repeats;            /* 0: 5 */
    size_t most_rows;              /* random rows to permute; 0: 1000 */
    uint64_t seed;
} ft_importance_options;


/* ---- outliers ---- */

typedef struct ft_isolation_options {
    uint32_t n_trees; /* 0: 100 */
    uint32_t sample;  /* rows a tree sees; 0: 256 */
    uint64_t seed;
} ft_isolation_options;


typedef struct ft_outlier {
    double slower;    /* exp(log_time - out-of-fold prediction, without its group) */
    double isolation; /* isolation forest score of its columns (Liu et al. 2008): near
                         1, few similar rows support the comparison */
    int slow;         /* 1: slower than the noise level allows */
} ft_outlier;

typedef struct ft_outlier_options {
    double false_alarms; /* tolerated share of false positives; 0: 0.01 */
    double least;        /* least factor to be reported; 0: 1.5 */
    uint64_t seed;
    uint32_t threads;
} ft_outlier_options;


/* ---- evaluation ---- */



/* Error measures. Relative errors are |predicted - measured| / |measured|, as
 * fractions; rows measured as 0 count in the absolute ones only. NaN where undefined; all of
 * them when n is 0. */
typedef struct ft_errors {
    size_t n;
    double mape;
    double median_ape;
    double p90_ape;
    double within_10; /* share of rows with relative error at most 0.10 */
    double max_ape;
    double bias; /* mean of (predicted - measured) / measured */
    double r2;
    double adjusted_r2; /* for n_features predictors; NaN when n <= n_features + 1 */
    double mae;
    double median_ae;
    double max_ae;
} ft_errors;

FT_END_DECLS

#endif
