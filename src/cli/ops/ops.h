#ifndef CLI_OPS_H
#define CLI_OPS_H

#include "cli/cli.h"

/* The views of `foretell ops`. They print the graph as the global
 * options ask (text, JSON, CSV); `top` rows of a table at most, in text. False: out
 * of memory. */
bool ft__ops_products(const ft__cli *c, const ft_graph *g, uint64_t top);
bool ft__ops_graph(const ft__cli *c, const ft_graph *g);
bool ft__ops_dot(const ft_graph *g); /* Graphviz */
/* What changed from a to b; an exit code. */
int ft__ops_diff(ft__cli *c, const ft_graph *a, const ft_graph *b, uint64_t top);

enum { FT__SPEC_MAX = 2048 };

#endif
