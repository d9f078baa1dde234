#ifndef CLI_PREDICTOR_H
#define CLI_PREDICTOR_H

#include "cli/cli.h"
#include "foretell/predictor.h"

/* What training found out about the worth of attributes. */
typedef struct ft__importance {
    struct ft__importance_row *row;
    size_t n;
    bool bad; /* memory was short */
} ft__importance;

/* ft_train_options.importance; user: an ft__importance that began as {0}. */
void ft__importance_take(void *user, const ft_regressor_attributes *of);
void ft__importance_free(ft__importance *i);

/* Whom a predictor is for and how good its regressors are, in the form that the
 * global options ask for, and what attributes are worth (NULL: was not asked for).
 * False: out of memory. */
bool ft__predictor_print(const ft__cli *c, const ft_predictor *p, const char *path,
                         const ft__importance *worth);

/* The bits of "extra,boost", or of "all"; NULL: none. Complains itself. */
int ft__methods_parse(ft__cli *c, uint32_t *out, const char *text);
#define FT__METHODS_HELP                                                               \
    "choose from these methods by cross-validation: ridge, knn, template, tree, "      \
    "forest, extra, boost, mlp, svr, gp, hist, "                                       \
    "middle; or all; extra, with --family the usual ones, mixed"

#endif
