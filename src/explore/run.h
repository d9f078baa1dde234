#ifndef EXPLORE_RUN_H
#define EXPLORE_RUN_H

#include "foretell/exploration.h"
#include "measure/spawn.h"

/* As ft_explore(): `runner` runs the commands, and budgets are of its clock. */
ft_status ft__explore(ft_explored *out, const ft_exploration *x, ft_store *store,
                      const ft_explore_options *opt, const ft__runner *runner,
                      ft_error *err);

#endif
