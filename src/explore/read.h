#ifndef EXPLORE_READ_H
#define EXPLORE_READ_H

#include "explore/exploration.h"
#include "explore/yaml.h"

/* Text that may be a name. */
const char *ft__read_name(ft__yaml *y, ft__node *n, const char *where);
/* Parameters, their conditions and forbidden combinations: x->space; what is read
 * before must be there. */
void ft__read_params(ft__yaml *y, ft__node *root, ft_exploration *x);

#endif
