#ifndef MEASURE_GRAPH_FILE_H
#define MEASURE_GRAPH_FILE_H

#include "foretell/graph.h"

enum { FT__GRAPH_FILE = 32 };

/* A new file in /tmp that tells a forward graph to an engine (ft_engine.loads_graphs);
 * the caller removes it. FT_EUNSUPPORTED: the graph has loops. */
ft_status ft__graph_file_write(char path[FT__GRAPH_FILE], const ft_graph *g,
                               ft_error *err);

#endif
