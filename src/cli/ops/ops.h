#ifndef CLI_OPS_H
#define CLI_OPS_H

#include "cli/cli.h"

/* Every node, as the global options ask (text, JSON, CSV), or, with `dot`, a picture
 * for Graphviz. False: out of memory. */
bool ft__ops_graph(const ft__cli *c, const ft_graph *g, bool dot);
/* The convolutions and matrix products inside operations, as the global options ask;
 * `top` rows of the table. False: out of memory. */
bool ft__ops_products(const ft__cli *c, const ft_graph *g, uint64_t top);
/* What changed from a to b, as the global options ask; `top` rows of a table at most,
 * in text. An exit code. */
int ft__ops_diff(ft__cli *c, const ft_graph *a, const ft_graph *b, uint64_t top);

/* The modules of g to `depth` levels; or, where q is not NULL, of its answer's graph,
 * with times and energy. An exit code. */
int ft__ops_tree(ft__cli *c, const ft_graph *g, const ft_query *q, uint64_t depth);

enum { FT__SPEC_MAX = 2048 };

#endif
