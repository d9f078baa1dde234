#ifndef FT_LEARN_H
#define FT_LEARN_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Regression on plain matrices: trees, their evaluation and the error figures
 * reported everywhere. Knows nothing of networks or devices. */

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

/* Fit on x and the targets y[x->n_rows]; `weights` (or NULL: all 1) are
 * non-negative row weights; a row of weight 0 is as good as absent. A missing
 * value goes left. Leaves are stored as float. Fails with FT_EINVAL (no rows,
 * an infinite value, a target that is no finite float, option out of range, more
 * than 1023 columns or 2^20 rows) or FT_ENOMEM. */
FT_API ft_status ft_forest_fit(ft_forest **out, const ft_matrix *x, const double *y,
                               const double *weights, const ft_forest_options *opt,
                               ft_error *err);

/* Use a stored image in place (a mapped file): `image` must be 8-byte aligned
 * and outlive the forest. Everything in it is checked here, so that predicting
 * needs no bounds. An image of an older version is copied into one of today's.
 * Fails with FT_EFORMAT (err->pos is the offending byte), FT_EINVAL (not aligned)
 * or FT_ENOMEM. */
FT_API ft_status ft_forest_load(ft_forest **out, const void *image, size_t len,
                                ft_error *err);
/* The image of a forest; borrowed, *len bytes. Little-endian, versioned. */
FT_API const void *ft_forest_image(const ft_forest *f, size_t *len);
FT_API void ft_forest_free(ft_forest *f);

FT_API uint32_t ft_forest_width(const ft_forest *f);
FT_API uint32_t ft_forest_trees(const ft_forest *f);
/* Mean of the trees for one row of ft_forest_width() values. Allocates
 * nothing, takes no locks. */
FT_API double ft_forest_predict(const ft_forest *f, const float *row);
/* The same for n rows, faster than n calls and bit-identical to them. */
FT_API void ft_forest_predict_rows(const ft_forest *f, const float *rows, size_t n,
                                   double *out);

/* ---- one interface for every method ----
 * A model never changes after it is made; any number of threads may predict from one.
 * Whatever library fits it, what is kept is our own form: predicting needs none. */
typedef struct ft_model ft_model;

typedef enum ft_method {
    FT_METHOD_RIDGE,    /* linear with an L2 penalty (Hoerl, Kennard 1970) */
    FT_METHOD_KNN,      /* k nearest neighbours, weighted by inverse distance */
    FT_METHOD_TEMPLATE, /* the nearest sample, as it is (Sponner et al. 2022) */
    FT_METHOD_TREE,     /* one regression tree (CART, Breiman et al. 1984) */
    FT_METHOD_FOREST,   /* random forest */
    FT_METHOD_EXTRA,    /* extremely randomised trees */
    FT_METHOD_BOOST,    /* gradient boosting, fitted by XGBoost (Chen, Guestrin 2016) */
    FT_METHOD_MLP,      /* multi-layer perceptron, ReLU, Adam (Kingma, Ba 2015) */
    FT_METHOD_SVR,      /* epsilon support vectors, radial basis, fitted by libsvm */
    FT_METHOD_GP,       /* Gaussian process, Matern 3/2, one length a column (Rasmussen,
                           Williams 2006) */
    FT_METHOD_HIST,     /* gradient boosting on histograms (Ke et al. 2017), grown by
                           ourselves */
    FT_METHOD_MIDDLE,   /* extremely randomised trees for targets that are logarithms: of
                           what single trees say, that which errs least in proportion */
    FT_METHOD_COUNT
} ft_method;
FT_API const char *ft_method_name(ft_method m); /* "ridge", "knn", "template", ... */
/* FT_METHOD_COUNT: unknown. */
FT_API ft_method ft_method_from_name(const char *name, size_t len);
/* 1 when this build can fit it; else 0 and *why says what is missing ("" otherwise). */
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
    double least, most; /* all targets with a weight lie strictly between them, else
                           FT_EINVAL, as does whatever is predicted: a logistic curve is
                           what is learned. Both 0: nothing is known */
    uint64_t seed;
    uint32_t threads;  /* the result does not depend on it */
} ft_model_options;

/* As ft_forest_fit(). Methods that know no missing values put the column's median
 * there. FT_EUNSUPPORTED: this build cannot fit the method (what to install). */
FT_API ft_status ft_model_fit(ft_model **out, const ft_matrix *x, const double *y,
                              const double *weights, const ft_model_options *opt,
                              ft_error *err);
/* As ft_forest_load(), ft_forest_image(). */
FT_API ft_status ft_model_load(ft_model **out, const void *image, size_t len,
                               ft_error *err);
FT_API const void *ft_model_image(const ft_model *m, size_t *len);
FT_API void ft_model_free(ft_model *m);
FT_API ft_method ft_model_method(const ft_model *m);
FT_API uint32_t ft_model_width(const ft_model *m);
/* n rows of ft_model_width() values; bit-identical however they are dealt to calls. */
FT_API void ft_model_predict(const ft_model *m, const float *rows, size_t n, double *out);

/* Predict every row from a model fitted on the other folds; out[x->n_rows]. */
FT_API ft_status ft_model_cross_validate(double *out, const ft_matrix *x, const double *y,
                                         const double *weights, const uint32_t *fold,
                                         uint32_t n_folds, const ft_model_options *opt,
                                         ft_error *err);

/* What one column is worth: by how much the mean relative error of exp(target) grows
 * when the column's values are those of other rows, 0.01 being one percentage point. A
 * column that another one repeats is worth little by itself. */
typedef struct ft_importance {
    double increase; /* mean over repeats; about 0 or below: nothing is learned of it */
    double spread;   /* standard deviation over repeats; NaN of one */
} ft_importance;

typedef struct ft_importance_options {
    const ft_model_options *model; /* a mixture of these, ... */
    const double *weight;          /* ... with these weights */
    uint32_t n_models;             /* 1 to 8 */
    uint32_t n_repeats;            /* 0: 5 */
    size_t most_rows;              /* rows to permute, drawn; 0: 1000 */
    uint64_t seed;
} ft_importance_options;

/* Permutation importance (Breiman 2001; Fisher, Rudin, Dominici 2019) of every column,
 * of rows out of fold: out[x->n_cols]. y are logarithms. Fails as ft_model_fit() does. */
FT_API ft_status ft_model_importance(ft_importance *out, const ft_matrix *x,
                                     const double *y, const uint32_t *fold,
                                     uint32_t n_folds, const ft_importance_options *opt,
                                     ft_error *err);

/* ---- rows unlike the others ---- */

typedef struct ft_isolation_options {
    uint32_t n_trees; /* 0: 100 */
    uint32_t sample;  /* rows a tree sees; 0: 256 */
    uint64_t seed;
} ft_isolation_options;

/* Isolation forest (Liu, Ting, Zhou 2008, eq. 2): score[x->n_rows], near 1 for rows that
 * random cuts part from all others early, below 0.5 for those among many. Fails with
 * FT_EINVAL (no rows, an infinite value) or FT_ENOMEM. */
FT_API ft_status ft_isolation_scores(double *score, const ft_matrix *x,
                                     const ft_isolation_options *opt, ft_error *err);

typedef struct ft_outlier {
    double slower;    /* times what rows like it take: exp(log_time - that of the
                         others, learned without it and its group) */
    double isolation; /* score of its columns: near 1, it has few neighbours to be
                         compared with */
    int slow;         /* 1: slower than chance and its neighbours allow */
} ft_outlier;

typedef struct ft_outlier_options {
    double false_alarms; /* share of ordinary rows that may be called slow; 0: 0.01 */
    double least;        /* times slower that is worth a word; 0: 1.5 */
    uint64_t seed;
    uint32_t threads;
} ft_outlier_options;

/* Find slow rows: out[x->n_rows]. log_time are logarithms of times, best divided by an
 * estimate; rows of equal group (repeats) never vouch for each other. What slow rows may
 * reach by chance is read off the fast side, where no slow row is. Fails with FT_EINVAL
 * (fewer than 20 groups, a value that is not finite) or FT_ENOMEM. */
FT_API ft_status ft_outliers_find(ft_outlier *out, const ft_matrix *x,
                                  const double *log_time, const uint64_t *group,
                                  const ft_outlier_options *opt, ft_error *err);

/* ---- evaluation ---- */

/* Deal n rows to n_folds folds (2 at least) so that rows with equal group[] never
 * part: the largest group first, each to the fold with fewest rows, groups of one
 * size in an order that seed and group numbers decide. fold[i] in 0 .. n_folds-1.
 * Fails with FT_EINVAL when there are fewer groups than folds. */
FT_API ft_status ft_folds_make(uint32_t *fold, const uint64_t *group, size_t n,
                               uint32_t n_folds, uint64_t seed, ft_error *err);

/* Predict every row from a forest fitted on the other folds; out[x->n_rows].
 * Fails as ft_forest_fit() does. */
FT_API ft_status ft_forest_cross_validate(double *out, const ft_matrix *x,
                                          const double *y, const double *weights,
                                          const uint32_t *fold, uint32_t n_folds,
                                          const ft_forest_options *opt, ft_error *err);

/* The error figures that are always reported together. Relative errors are
 * |predicted - truth| / |truth|, as fractions; rows with truth 0 count in the
 * absolute figures only. NaN where undefined; all of them when n is 0. Fails with
 * FT_EINVAL when a value is not finite. */
typedef struct ft_errors {
    size_t n;
    double mape;
    double median_ape;
    double p90_ape;
    double within_10; /* share of rows with relative error at most 0.10 */
    double max_ape;
    double bias; /* mean of (predicted - truth) / truth */
    double r2;
    double adjusted_r2; /* for n_features predictors; NaN when n <= n_features + 1 */
    double mae;
    double median_ae;
    double max_ae;
} ft_errors;

FT_API ft_status ft_errors_compute(ft_errors *out, const double *truth,
                                   const double *predicted, size_t n, size_t n_features,
                                   ft_error *err);

/* Split conformal interval (Lei et al. 2018) of residuals r = truth - predicted
 * (any order): the finite-sample corrected quantiles at (1 - coverage)/2 and
 * (1 + coverage)/2. With too few residuals for that coverage, the extremes. */
FT_API ft_status ft_conformal(double *low, double *high, const double *residuals,
                              size_t n, double coverage, ft_error *err);

FT_END_DECLS

#endif
