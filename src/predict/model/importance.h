#ifndef PREDICT_MODEL_IMPORTANCE_H
#define PREDICT_MODEL_IMPORTANCE_H

#include "predict/data/columns.h"
#include "predict/model/fit.h"
#include "predict/query/network.h"

/* Who receives what the columns of each regressor are worth. */
typedef struct ft__importance_to {
    void (*tell)(void *user, const ft_regressor_attributes *of);
    void *user;
} ft__importance_to;

/* Have the fit find what its columns are worth where somebody asks for it: room for
 * them in how->importance, which the caller frees. */
ft_status ft__importance_want(ft__fit_options *how, const ft__importance_to *to,
                              uint32_t n_columns, ft_error *err);
/* Of of->n columns; name(i, with) in a buffer of 48 bytes. */
ft_status
ft__importance_tell_named(const ft__importance_to *to,
                          const ft_regressor_attributes *of, const ft_importance *worth,
                          void (*name)(const void *with, char out[48], uint32_t i),
                          const void *with, ft_error *err);
/* of->n columns, which are those of features.h where `columns` is NULL; without `to`
 * nothing happens. */
ft_status ft__importance_tell(const ft__importance_to *to,
                              const ft_regressor_attributes *of,
                              const ft_importance *worth, const ft__columns *columns,
                              ft_error *err);

#endif
