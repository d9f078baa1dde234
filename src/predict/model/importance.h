#ifndef PREDICT_MODEL_IMPORTANCE_H
#define PREDICT_MODEL_IMPORTANCE_H

#include "predict/data/columns.h"
#include "predict/model/fit.h"
#include "predict/query/network.h"

/* The receiver of attribute importances. */
typedef struct ft__importance_to {
    void (*tell)(void *user, const ft_regressor_attributes *of);
    void *user;
} ft__importance_to;

/* A regressor whose importances are asked for: of.n columns, named by name(). */
typedef struct ft__importance_of {
    const ft__importance_to *to; /* NULL: nobody asks */
    ft_regressor_attributes of;
    void (*name)(const void *with, char out[48], uint32_t i);
    const void *with;
} ft__importance_of;
/* ft__fit_make(), with the importance of each column reported to the receiver. */
ft_status ft__importance_fit(ft__fit *f, double *out, double *residual_scale,
                             const ft__matrix *x, const double *y,
                             const uint64_t *group, const ft__fit_options *opt,
                             const ft__importance_of *ask, ft_error *err);

#endif
