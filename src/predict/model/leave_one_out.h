#ifndef PREDICT_MODEL_LEAVE_ONE_OUT_H
#define PREDICT_MODEL_LEAVE_ONE_OUT_H

#include "predict/model/fit.h"

/* The rows of a matrix that cross-validation looks at, dealt to folds, and what was
 * said of them. */
enum { FT__MOST_TRIED = 32 };

typedef struct ft__look {
    size_t n;
    size_t n_all;  /* rows that the model is fitted to */
    uint32_t *row; /* which of the matrix */
    float *x;
    double *y;
    uint64_t *group;
    uint32_t *fold;
    uint32_t n_folds;
    double *said[FT__MOST_TRIED]; /* out of fold, NULL: not tried */
    double *best;                 /* of the choice */
    double *residual;
    double *spread;
    ft_matrix m;
    bool few; /* groups */
} ft__look;

/* n_folds 0: too few rows or groups to choose by. */
ft_status ft__look_make(ft__look *l, const ft_matrix *x, const double *y,
                        const uint64_t *group, const ft__fit_options *o, ft_error *err);
void ft__look_free(ft__look *l);

#endif
