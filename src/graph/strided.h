#ifndef GRAPH_STRIDED_H
#define GRAPH_STRIDED_H

#include "foretell/graph.h"
#include "graph/graph_inside.h"

/* FT_POLICY_STRIDED_VIEWS of ft__graph_lower(), on graphs of any phase. Tensors
 * keep their numbers; copies come behind them. */
ft_status ft__graph_stride(ft_graph **out, const ft_graph *g, ft_error *err);

#endif
