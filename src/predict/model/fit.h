#ifndef PREDICT_MODEL_FIT_H
#define PREDICT_MODEL_FIT_H

#include <stdbool.h>

#include "learn/learn_inside.h"

/* One regressor on a plain matrix: of several methods the best in grouped
 * cross-validation, or the best mixture of up to three, and the scale of its
 * residuals. Knows nothing of operations. */

enum { FT__MAX_MIXED = 3 };
/* Rows up to which a Gaussian process is among the usual methods, boosting above. */
enum { FT__PROCESS_ROWS = 1500 };
/* A residual scale is never less: measurements repeat no better. Only where the typical
 * one comes out below is it at least a third of that: power at a cap repeats to 0.2 %.
 */
#define FT__LEAST_RESIDUAL_SCALE 0.01

enum { FT__BLOCK_BITS = 58 };

typedef struct ft__fit_options {
    uint32_t methods; /* bits 1 << ft_method to choose from; 0: the usual ones, mixed */
    int mix;          /* 1: a mixture of the best three, too, where it is better */
    double gain;      /* share by which a method has to better the constant to be
                         trusted; 0: any */
    double ceiling;   /* 0, or the mean deviation out of fold from which on nothing is
                         fitted (ft__fit.refused) */
    bool tune;        /* more hyper-parameters of each method */
    bool no_residual_scale; /* the residual scale will not be asked for */
    bool blocks;      /* groups that are like each other make a block, whose number
                         is above FT__BLOCK_BITS of theirs: folds hold whole blocks */
    bool one_forest;  /* of trees and their middles a mixture holds one */
    bool relative;    /* targets are logarithms, and what is chosen errs least in
                         proportion; else it deviates least */
    double least;     /* between which all targets lie, for models to know (learn.h); */
    double most;      /* both 0: that is not known */
    uint32_t n_folds; /* 0: 10 below 300 rows, else 5 */
    uint32_t n_trees; /* 0: 64 */
    uint64_t seed;
    uint32_t threads;
    ft_importance *importance; /* NULL, or of every column: what it is worth */
} ft__fit_options;

/* Variance components of the residuals on chips left out. */
typedef struct ft__chip_effects {
    uint32_t chips;
    double between; /* what a chip's rows have in common */
    double below;   /* from there to where all but a twentieth of its rows are above */
    double above;
} ft__chip_effects;

typedef struct ft__fit {
    size_t n_rows;
    uint32_t n_models; /* 0: the centre is the answer */
    ft__learn_model *model[FT__MAX_MIXED];
    double weight[FT__MAX_MIXED]; /* they sum to 1, or to the share that is left */
    double centre;                /* the median target: what the best constant says */
    char choice[96];              /* "extra", "0.6 extra + 0.4 boost" */
    ft__learn_model
        *residual_scale; /* of |target - answer|; NULL: `typical` everywhere */
    double typical;      /* median residual scale */
    double least;        /* added to what `residual_scale` says */
    /* 90 % of target - answer lie between these times the residual scale. */
    double low;
    double high;
    /* Only of one that was made here: */
    double deviation; /* mean |target - answer|, held out */
    bool refused;     /* it reached the ceiling */
    ft__chip_effects
        effects; /* of devices that are not among the rows; chips 0: none */
} ft__fit;

/* out[x->n_rows] and residual_scale[x->n_rows]: what was predicted of each row out of
 * fold; NaN for the rows that cross-validation did not look at. Rows with equal group[]
 * stay together. */
ft_status ft__fit_make(ft__fit *f, double *out, double *residual_scale,
                       const ft__matrix *x, const double *y, const uint64_t *group,
                       const ft__fit_options *opt, ft_error *err);
/* Predicts value[n] and residual_scale[n] of n rows; scratch[n]. */
void ft__fit_predict(const ft__fit *f, const float *rows, size_t n, double *value,
                     double *residual_scale, double *scratch);
/* `least` of a fit whose median residual scale this is. */
double ft__fit_least(double typical);
void ft__fit_free(ft__fit *f);

#endif
