#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "cli/cli.h"
#include "foretell/predictor.h"

/* What an attribute is worth to a regressor (train --importance). */
typedef struct ft__importance_row {
    char kind[48], metric[16], phase[24], name[48];
    bool unseen;
    uint32_t order; /* in its regressor */
    ft_importance worth;
} ft__importance_row;

/* What training found out about the worth of attributes. */
typedef struct ft__importances {
    ft__importance_row *row;
    size_t n;
    bool bad; /* memory was short */
} ft__importances;

/* Whom a predictor is for and how good its regressors are, in the form that the
 * global options ask for, and what attributes are worth (NULL: was not asked for).
 * False: out of memory. */
bool ft__predictor_print(const ft__cli *c, const ft_predictor *p, const char *path,
                         const ft__importances *worth);

#endif
