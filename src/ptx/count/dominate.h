#ifndef PTX_COUNT_DOMINATE_H
#define PTX_COUNT_DOMINATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Vertex v leads to edge[edges[v]] ... edge[edges[v + 1] - 1]. */
typedef struct ft__graph {
    uint32_t *edge, *edges, n;
} ft__graph;

/* Immediate dominators of what `root` reaches, UINT32_MAX for root and the rest.
 * T. Lengauer, R. E. Tarjan, A fast algorithm for finding dominators in a flowgraph,
 * ACM TOPLAS 1, 1979 (the simple version). false: out of memory. */
bool ft__dominate(uint32_t *above, ft__arena *a, const ft__graph *g, uint32_t root);

/* Strongly connected components, numbered from 0 (R. E. Tarjan, Depth-first search and
 * linear graph algorithms, SIAM J. Comput. 1, 1972), and vertices that edges lead back
 * to on a walk in depth from vertex 0 on, then from what it does not reach. */
bool ft__components(uint32_t *component, bool *header, uint32_t *n_components,
                    ft__arena *a, const ft__graph *g);

#endif
