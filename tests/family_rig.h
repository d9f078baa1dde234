/* Predictors for a family of devices, quickly trained. */
#ifndef FAMILY_RIG_H
#define FAMILY_RIG_H

#include <stdio.h>

#include "check.h"
#include "foretell/predictor.h"
#include "store/store_inside.h"

static char data[4096];

static inline ft_predictor *train(ft_store *s, const ft_train_options *more)
{
    ft_train_options how = *more;
    ft_predictor *p = NULL;
    ft_error err = {0};

    how.data_dir = data;
    how.seed = 1;
    how.n_trees = 24;
    how.n_folds = 4;
    CHECK_EQ(ft_predictor_train(&p, s, &how, &err), FT_OK);
    if (err.msg[0])
        fprintf(stderr, "%s\n", err.msg);
    return p;
}

#endif
