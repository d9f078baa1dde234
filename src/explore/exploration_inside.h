#ifndef EXPLORE_EXPLORATION_INSIDE_H
#define EXPLORE_EXPLORATION_INSIDE_H

#include "foretell/exploration.h"

/* The same of text; `name` is what messages call it. */
ft_status ft__exploration_read(ft_exploration **out, const char *text, size_t len,
                               const char *name, ft_error *err);
/* FT_EFORMAT: not a point of this space. */
ft_status ft__point_parse(const ft_exploration *x, double *point, const char *text,
                          ft_error *err);

#endif
