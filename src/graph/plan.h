#ifndef GRAPH_PLAN_H
#define GRAPH_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "foretell/graph.h"

/* One piece of an arena: needed from node `first` to node `last`, both included. */
typedef struct ft__piece {
    uint64_t bytes; /* above 0 */
    uint64_t offset;
    uint32_t first, last, tensor;
} ft__piece;

/* Give every piece an offset from `base` on, so that none that are needed at the
 * same node overlap. *end is where the last one ends. The order of piece[] may
 * change. n_nodes is above every `last`. false: out of memory. */

/* Largest first: close to the least there can be, but n pieces cost n^2. */
bool ft__place_by_size(ft__piece *piece, uint32_t n, uint64_t base, uint64_t *end);
/* As an allocator meets them: the smallest hole that is large enough. */
bool ft__place_in_time(ft__piece *piece, uint32_t n, uint32_t n_nodes, uint64_t base,
                       uint64_t *end);

/* How long the memory of a tensor is needed: from node `first` to node `last`,
 * both included; FT_NONE: never. One per tensor; that of a view is its storage's,
 * and its own stays empty. */
typedef struct ft__life {
    uint64_t bytes;
    uint32_t first, last;
} ft__life;

/* Inputs live throughout, outputs to the end. All bytes together are below 2^62.
 * *out has one element per tensor and at least one; the caller frees it. */
ft_status ft__lives_find(ft__life **out, const ft_graph *g, ft_error *err);

#endif
