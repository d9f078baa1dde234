#ifndef GRAPH_FRAMES_H
#define GRAPH_FRAMES_H

#include <stdbool.h>

#include "graph/lives.h"

/* Let tensors live as long as Python holds them: what is passed to a module is
 * held by its caller until the call returns (nodes' scopes tell the calls), and a
 * concatenation that is passed on until the call that made it returns. Only
 * nodes of the forward phase are looked at. */
ft_status ft__frames_hold(ft__life *life, const ft_graph *g, ft_error *err);

#endif
