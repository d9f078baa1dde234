#ifndef PREDICT_MODEL_REGRESSOR_H
#define PREDICT_MODEL_REGRESSOR_H

#include "base/arena.h"
#include "predict/model/model_set.h"

/* Samples as the regressors of a model set see them: a matrix, targets relative to a
 * scale, and scratch for the rows of one regressor at a time. Private to the model
 * set's files. */

/* Intervals of rows far from the training rows are wider by this factor. */
#define FT__FAR_FACTOR 2.0

struct regressor_rows {
    ft__arena room;
    size_t n;
    const uint32_t *index; /* of samples */
    float *x;              /* all columns */
    double *y, *scale;
    double *shift; /* added to y: the target, had the base not known the row's chip */
    double *busy; /* of times: the device's share of the base; the rest is the host's */
    double *out;  /* out of fold */
    double *residual_scale;
    double *pooled;   /* out of fold, by the regressor of all kinds; NaN: not wanted */
    ft__scope *scope; /* of the regressor that out and residual scale are of */
    /* of one part: */
    size_t all;   /* that belong to it */
    size_t m;     /* that are drawn of them */
    uint32_t *of; /* rows here */
    float *px;    /* with room for columns of neighbours */
    double *py;
    uint64_t *group;
    bool by_kind;   /* group: the kinds, of a part that answers for others */
    bool blocks;    /* group: layers in blocks by the power of two of their weights */
    uint32_t sizes; /* how many of these intervals are to know of; 0: of no number */
    double *pout, *presidual_scale, *ppooled;
    double *punused; /* residual scales that nobody asks for */
};

/* Of samples index[n]. */
ft_status ft__rows_make(struct regressor_rows *r, const ft__model_set *l,
                        const ft__samples *s, const uint32_t *index, size_t n,
                        ft_error *err);
void ft__rows_free(struct regressor_rows *r);
/* The value of the metric for a target, which is relative to `scale`. */
double ft__model_set_value(const ft__model_set *l, double target, double scale);
/* The most specific regressor for an operation; l->n_regressors: there is none. */
uint32_t ft__model_set_regressor(const ft__model_set *l, const ft_op *op);
/* Constants of the physical estimate for an operation: those fitted to its class. Where
 * its kind was not trained on, and its class does not better the estimate on other
 * devices, the default ones: constants of layer norms say nothing of batch norms. */
const ft__physics_params *ft__model_set_params(const ft__model_set *l, const ft_op *op);
/* The regressor of all kinds; l->n_regressors: there is none. */
uint32_t ft__model_set_pooled(const ft__model_set *l, ft_phase phase);
/* The regressor of the same kind's rows that have neighbours; l->n_regressors: none. */
uint32_t ft__model_set_neighbours_of(const ft__model_set *l, const ft__regressor *kind);
/* Widens an interval that was calibrated on few sizes, by Student's t. */
void ft__widen_for_few_sizes(ft__fit *f, uint32_t sizes);
/* Errors out of fold of the rows that cross-validation looked at. */
ft_status ft__regressor_errors(ft__regressor *p, const ft__model_set *l,
                               const struct regressor_rows *r, ft_error *err);
/* r holds the rows of a kind with out-of-fold predictions. Where neighbours improve on
 * these, *made is true, *out is a regressor of the rows that have neighbours, and r
 * holds its predictions. */
ft_status ft__regressor_with_neighbours(ft__regressor *out, bool *made,
                                        const ft__model_set *l,
                                        struct regressor_rows *r, const ft__samples *s,
                                        const ft__regressor *kind,
                                        const ft__fit_options *how, ft_error *err);

/* Transfer to other devices and kinds: of regressors for devices that are not among the
 * rows, how much of what they learned is taken to other chips, and how far these
 * differ; of those that answer for kinds without rows the same of kinds. Both are found
 * by leaving each known one out. */

/* The fit options of a regressor: l->opt.fit; for unknown devices each known chip is
 * left out in turn (r->group), and a mixture with the constant shrinks what does not
 * transfer. */
ft__fit_options ft__transfer_how(const ft__model_set *l, struct regressor_rows *r,
                                 const ft__samples *s);
/* r holds the rows of a part, r->group their chips, and what its regressor says of each
 * with its chip left out, which is shrunk with the part. How sure it is of one row and
 * of another says nothing of other chips: all its answers are as unsure, and their
 * residual scale is 1. */
ft_status ft__transfer_part(ft__regressor *p, struct regressor_rows *r,
                            const ft__samples *s, ft_error *err);
/* The same of a part of known devices that answers for kinds it has no rows of;
 * r->group holds the kinds of those that it has, each left out in turn. */
ft_status ft__transfer_to_kinds(ft__regressor *p, struct regressor_rows *r,
                                const ft__samples *s, ft_error *err);
/* Sets l->low and l->high from the rows of all regressors. */
ft_status ft__transfer_tails(ft__model_set *l, const struct regressor_rows *r,
                             const ft__samples *s, ft_error *err);

#endif
