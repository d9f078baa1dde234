/* Predictors for a family of devices, quickly trained. */
#ifndef FAMILY_RIG_H
#define FAMILY_RIG_H

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "foretell/predictor.h"
#include "import/list.h"
#include "predict/query/network.h"
#include "store/store_inside.h"

static inline ft_predictor *train(ft_store *s, const ft_train_options *more)
{
    ft_train_options how = *more;
    ft_predictor *p = NULL;
    ft_error err = {0};

    how.data_dir = data_dir;
    how.seed = 1;
    how.n_trees = 24;
    how.n_folds = 4;
    CHECK_EQ(ft_predictor_train(&p, s, &how, &err), FT_OK);
    if (err.msg[0])
        fprintf(stderr, "%s\n", err.msg);
    return p;
}

/* What one operation takes a device, by the predictor or by its data sheet alone: NULL.
 */
static inline ft_estimate ask_one(const ft_predictor *p, const ft_device *d,
                                  const char *setting, const char *spec)
{
    const ft__device_use on = {.device = d, .setting = setting};
    ft__network_estimate e;
    ft_estimate out;
    ft_graph *g;

    CHECK_EQ(ft_import_ops(&g, spec, strlen(spec), "list", NULL), FT_OK);
    CHECK_EQ(ft__predict_network(&e, p, &on, g, NULL), FT_OK);
    out = e.op_device[0];
    ft__network_estimate_free(&e);
    ft_graph_free(g);
    return out;
}

#endif
