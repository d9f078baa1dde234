#ifndef CLI_OPS_H
#define CLI_OPS_H

#include "cli/cli.h"

/* The views of `foretell ops`, one file each. They print the graph as the global
 * options ask (text, JSON, CSV); `top` rows of a table at most, in text. False: out
 * of memory. */
bool ft__ops_products(const ft__cli *c, const ft_graph *g, uint64_t top);
bool ft__ops_graph(const ft__cli *c, const ft_graph *g);
bool ft__ops_dot(const ft_graph *g); /* Graphviz */
/* What changed from a to b; an exit code. */
int ft__ops_diff(ft__cli *c, const ft_graph *a, const ft_graph *b, uint64_t top);

enum { FT__SPEC_MAX = 2048 };

/* "1x3x224x224", "scalar"; "<=100x4" where a dimension is a bound; "?" where not
 * even the rank is known. */
typedef struct ft__shape_text {
    char s[208];
} ft__shape_text;
ft__shape_text ft__tensor_shape_text(const ft_tensor *t);
double ft__tensor_bytes(const ft_tensor *t);

#endif
