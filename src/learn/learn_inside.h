#ifndef LEARN_LEARN_INSIDE_H
#define LEARN_LEARN_INSIDE_H

#include "foretell/learn.h"

/* n_rows x n_cols values, row-major; borrowed. NaN means "missing". */
typedef struct ft__matrix {
    const float *x;
    size_t n_rows, n_cols;
} ft__matrix;

/* A forest never changes after it is made; any number of threads may predict
 * from one forest at the same time. */
typedef struct ft__forest ft__forest;

typedef enum ft__forest_kind {
    FT_FOREST_RANDOM, /* Breiman 2001: bootstrap rows, best split */
    FT_FOREST_EXTRA,  /* Geurts, Ernst, Wehenkel 2006: all rows, random cut points */
    FT_FOREST_BEST,   /* all rows, best split: trees that differ in the columns they
                         try, if in anything; one alone is CART (Breiman et al. 1984) */
} ft__forest_kind;

typedef struct ft__forest_options {
    ft__forest_kind kind;
    uint32_t n_trees;    /* 0: 100 */
    uint32_t max_depth;  /* 0: unlimited */
    uint32_t min_leaf;   /* least rows in a leaf; 0: 1 */
    double max_features; /* share of columns tried per split, (0, 1]; 0: all; of
                            those that vary in the node, and at least one */
    uint64_t seed;
    uint32_t threads; /* 0: 1. The result does not depend on it, bit for bit. */
} ft__forest_options;

/* A model of any method; it is immutable; any number of threads may predict from one.
 * Prediction needs no other library, whichever one fitted it. */
typedef struct ft__learn_model ft__learn_model;

/* 0 or NaN: the method's default, which docs/learning.md lists. */
typedef struct ft__learn_model_options {
    ft_method method;
    ft__forest_options forest; /* TREE, FOREST, EXTRA (kind is set by the method) */
    double penalty; /* RIDGE: lambda on standardised columns; BOOST, HIST: lambda; MLP:
                       weight decay; SVR: C */
    uint32_t neighbours; /* KNN */
    uint32_t rounds;    /* BOOST, HIST: trees; MLP: epochs; GP: steps to find lengths */
    uint32_t depth;     /* BOOST, HIST: of a tree; HIST: 16 at most */
    double rate;        /* BOOST, HIST, MLP: learning rate */
    double share;       /* BOOST, HIST: of rows and of columns a tree sees */
    uint32_t width;     /* MLP: units of a hidden layer */
    double epsilon;     /* SVR: half width of the tube, in sigmas of the target */
    double least, most; /* bounds of the target (logit transform): targets with a weight
                           lie strictly between them, else FT_EINVAL. Both 0: none */
    uint64_t seed;
    uint32_t threads; /* the result does not depend on it */
} ft__learn_model_options;

typedef struct ft__importance_options {
    const ft__learn_model_options *model; /* a weighted sum of these, ... */
    const double *weight;                 /* ... with these weights */
    uint32_t n_models;                    /* 1 to 8 */
    uint32_t n_repeats;                   /* 0: 5 */
    uint64_t seed;
} ft__importance_options;

ft_status ft__errors_compute(ft_errors *out, const double *measured,
                             const double *predicted, size_t n, size_t n_features,
                             ft_error *err);

/* Split conformal interval (Lei et al. 2018) of residuals r = measured - predicted
 * (any order): the finite-sample corrected quantiles at (1 - coverage)/2 and
 * (1 + coverage)/2. With too few residuals for that coverage, the extremes. */
ft_status ft__conformal(double *low, double *high, const double *residuals, size_t n,
                        double coverage, ft_error *err);
/* Deal n rows to n_folds folds (2 at least) so that rows with equal group[] never
 * part: the largest group first, each to the fold with fewest rows, groups of one
 * size in an order that seed and group numbers decide. NULL: every row by itself.
 * fold[i] in 0 .. n_folds - 1.
 * Fails with FT_EINVAL when there are fewer groups than folds. */
ft_status ft__folds_make(uint32_t *fold, const uint64_t *group, size_t n,
                         uint32_t n_folds, uint64_t seed, ft_error *err);
/* Fit on x and the targets y[x->n_rows]; `weights` (or NULL: all 1) are
 * non-negative row weights; a row of weight 0 is as good as absent. A missing
 * value goes left. Leaves are stored as float. Fails with FT_EINVAL (no rows,
 * an infinite value, a target that is no finite float, option out of range, more
 * than 1023 columns or 2^20 rows) or FT_ENOMEM. */
ft_status ft__forest_fit(ft__forest **out, const ft__matrix *x, const double *y,
                         const double *weights, const ft__forest_options *opt,
                         ft_error *err);
void ft__forest_free(ft__forest *f);
/* Use a stored image in place (a mapped file): `image` must be 8-byte aligned
 * and outlive the forest. Everything in it is checked here, so that predicting
 * needs no bounds.
 * Fails with FT_EFORMAT (err->pos is the offending byte), FT_EINVAL (not aligned)
 * or FT_ENOMEM. */
ft_status ft__forest_load(ft__forest **out, const void *image, size_t len,
                          ft_error *err);
/* Mean of the trees for one row, as wide as the matrix that was fitted on.
 * Allocates nothing, takes no locks. */
double ft__forest_predict(const ft__forest *f, const float *row);
/* The same for n rows, faster than n calls and bit-identical to them. */
void ft__forest_predict_rows(const ft__forest *f, const float *rows, size_t n,
                             double *out);
/* Predict every row from a model fitted on the other folds; out[x->n_rows]. */
ft_status ft__model_cross_validate(double *out, const ft__matrix *x, const double *y,
                                   const double *weights, const uint32_t *fold,
                                   uint32_t n_folds, const ft__learn_model_options *opt,
                                   ft_error *err);
/* As ft__forest_fit(). Methods that know no missing values put the column's median
 * there. FT_EUNSUPPORTED: this build cannot fit the method (what to install). */
ft_status ft__model_fit(ft__learn_model **out, const ft__matrix *x, const double *y,
                        const double *weights, const ft__learn_model_options *opt,
                        ft_error *err);
void ft__model_free(ft__learn_model *m);
/* The image of a model; borrowed, *len bytes. Little-endian, versioned. */
const void *ft__model_image(const ft__learn_model *m, size_t *len);
/* Permutation importance (Breiman 2001; Fisher, Rudin, Dominici 2019) of every column,
 * of rows out of fold: out[x->n_cols]. y are logarithms. Fails as ft__model_fit() does.
 */
ft_status ft__model_importance(ft_importance *out, const ft__matrix *x, const double *y,
                               const uint32_t *fold, uint32_t n_folds,
                               const ft__importance_options *opt, ft_error *err);
/* As ft__forest_load(). */
ft_status ft__model_load(ft__learn_model **out, const void *image, size_t len,
                         ft_error *err);
/* n rows of ft__model_width() values; bit-identical however they are dealt to calls. */
void ft__model_predict(const ft__learn_model *m, const float *rows, size_t n,
                       double *out);
uint32_t ft__model_width(const ft__learn_model *m);

#endif
