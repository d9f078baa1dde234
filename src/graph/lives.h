#ifndef GRAPH_LIVES_H
#define GRAPH_LIVES_H

#include "foretell/graph.h"

/* How long the memory of a tensor is needed: from node `first` to node `last`,
 * both included; FT_NONE: never. One per tensor; that of a view is its storage's,
 * and its own stays empty. */
typedef struct ft__life {
    uint64_t bytes;
    uint32_t first;
    uint32_t last;
} ft__life;

/* Inputs live throughout, outputs to the end. All bytes together are below 2^62.
 * *out has one element per tensor and at least one; the caller frees it. */
ft_status ft__lives_find(ft__life **out, const ft_graph *g, ft_error *err);

#endif
