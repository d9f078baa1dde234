#ifndef EXPLORE_SPACE_READ_H
#define EXPLORE_SPACE_READ_H

#include "explore/exploration.h"
#include "explore/space/yaml.h"

/* A list of words, or one text for the shell; n 0: the node is not there. */
ft__words ft__read_words(ft__yaml *y, ft__node *n, const char *where);
/* A mapping of names to texts, without `but`. */
ft__names ft__read_names(ft__yaml *y, ft__node *map, const char *where,
                         const char *but);
/* predict and prices, if they are there; then what belongs to runs is not. */
void ft__read_predict(ft__yaml *y, ft__node *root, ft_exploration *x);
bool ft__can_measure(ft_measured what, bool predicted);
/* Text that may be a name. */
const char *ft__read_name(ft__yaml *y, ft__node *n, const char *where);
/* Parameters, their conditions and forbidden combinations: x->space; what is read
 * before must be there. */
void ft__read_params(ft__yaml *y, ft__node *root, ft_exploration *x);

#endif
