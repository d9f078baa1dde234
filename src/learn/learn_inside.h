#ifndef LEARN_LEARN_INSIDE_H
#define LEARN_LEARN_INSIDE_H

#include "foretell/learn.h"

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
ft_status ft__forest_fit(ft_forest **out, const ft_matrix *x, const double *y,
                         const double *weights, const ft_forest_options *opt,
                         ft_error *err);
void ft__forest_free(ft_forest *f);
/* Use a stored image in place (a mapped file): `image` must be 8-byte aligned
 * and outlive the forest. Everything in it is checked here, so that predicting
 * needs no bounds. An image of an older version is copied into one of today's.
 * Fails with FT_EFORMAT (err->pos is the offending byte), FT_EINVAL (not aligned)
 * or FT_ENOMEM. */
ft_status ft__forest_load(ft_forest **out, const void *image, size_t len,
                          ft_error *err);
/* Mean of the trees for one row, as wide as the matrix that was fitted on.
 * Allocates nothing, takes no locks. */
double ft__forest_predict(const ft_forest *f, const float *row);
/* The same for n rows, faster than n calls and bit-identical to them. */
void ft__forest_predict_rows(const ft_forest *f, const float *rows, size_t n,
                             double *out);
/* Predict every row from a model fitted on the other folds; out[x->n_rows]. */
ft_status ft__model_cross_validate(double *out, const ft_matrix *x, const double *y,
                                   const double *weights, const uint32_t *fold,
                                   uint32_t n_folds, const ft_model_options *opt,
                                   ft_error *err);
/* As ft__forest_fit(). Methods that know no missing values put the column's median
 * there. FT_EUNSUPPORTED: this build cannot fit the method (what to install). */
ft_status ft__model_fit(ft_model **out, const ft_matrix *x, const double *y,
                        const double *weights, const ft_model_options *opt,
                        ft_error *err);
void ft__model_free(ft_model *m);
/* The image of a model; borrowed, *len bytes. Little-endian, versioned. */
const void *ft__model_image(const ft_model *m, size_t *len);
/* Permutation importance (Breiman 2001; Fisher, Rudin, Dominici 2019) of every column,
 * of rows out of fold: out[x->n_cols]. y are logarithms. Fails as ft__model_fit() does.
 */
ft_status ft__model_importance(ft_importance *out, const ft_matrix *x, const double *y,
                               const uint32_t *fold, uint32_t n_folds,
                               const ft_importance_options *opt, ft_error *err);
/* As ft__forest_load(). */
ft_status ft__model_load(ft_model **out, const void *image, size_t len, ft_error *err);
/* n rows of ft__model_width() values; bit-identical however they are dealt to calls. */
void ft__model_predict(const ft_model *m, const float *rows, size_t n, double *out);
uint32_t ft__model_width(const ft_model *m);

#endif
