#ifndef FT_LEARN_H
#define FT_LEARN_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Regression methods and error measures (docs/learning.md). */

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

/* Permutation importance of a column: increase of the mean relative error of exp(target)
 * when its values are permuted among rows, 0.01 being one percentage point. Redundant
 * columns share their importance. */
typedef struct ft_importance {
    double increase; /* mean over repeats; about 0 or below: unused */
    double spread;   /* standard deviation over repeats; NaN with one */
} ft_importance;

/* Error measures. Relative errors are |predicted - measured| / |measured|, as
 * fractions; rows measured as 0 count in the absolute ones only. NaN where undefined; all of
 * them when n is 0. */
typedef struct ft_errors {
    size_t n;
    double mape; /* mean relative error */
    double median_ape;
    double p90_ape; /* 90th percentile */
    double within_10; /* share of rows with relative error at most 0.10 */
    double max_ape;
    double bias; /* mean of (predicted - measured) / measured */
    double r2;
    double adjusted_r2; /* for the number of features; NaN with too few rows for it */
    double mae; /* absolute errors, in the unit of what was measured */
    double median_ae;
    double max_ae;
} ft_errors;

FT_END_DECLS

#endif
