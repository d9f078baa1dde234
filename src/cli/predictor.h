#ifndef CLI_PREDICTOR_H
#define CLI_PREDICTOR_H

#include "cli/cli.h"
#include "foretell/predictor.h"

/* Whom a predictor is for and how good its regressors are, in the form that the
 * global options ask for. False: out of memory. */
bool ft__predictor_print(const ft__cli *c, const ft_predictor *p, const char *path);

#endif
