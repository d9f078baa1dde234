#ifndef EXPLORE_RUN_H
#define EXPLORE_RUN_H

#include <stdbool.h>

#include "foretell/exploration.h"
#include "measure/spawn.h"

/* As ft_explore(): `runner` runs the commands, and budgets are of its clock. */
ft_status ft__explore(ft_explored *out, const ft_exploration *x, ft_store *store,
                      const ft_explore_options *opt, const ft__runner *runner,
                      ft_error *err);

/* Of every point of a design, in its order: whether runs of it are missing. */
ft_status ft__explore_left(void (*each)(void *user, const char *point, bool left),
                           void *user, const ft_exploration *x, ft_store *store,
                           const ft_design_options *design, ft_error *err);

#endif
