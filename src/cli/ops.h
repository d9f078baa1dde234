#ifndef CLI_OPS_H
#define CLI_OPS_H

#include "cli/cli.h"

/* The views of `foretell ops`, one file each. All print the graph as the global
 * options ask (text, JSON, CSV); false: out of memory. */
bool ft__ops_products(const ft__cli *c, const ft_graph *g);

enum { FT__SPEC_MAX = 2048 };

#endif
