#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "base/arena.h"
#include "foretell/graph.h"

/* What a graph owns: plain arrays; what nodes and strings point to lies in the arena.
 * Grown by build.c only. */
typedef struct ft__parts {
    ft__arena arena;
    const char *name;
    ft_mode mode;
    ft_tensor *tensor;
    ft_node *node;
    ft_op *op;
    uint64_t *op_count;
    uint32_t *output;
    const char **assumption;
    const char **bounded;
    uint32_t n_tensors;
    uint32_t n_nodes;
    uint32_t n_ops;
    uint32_t n_outputs;
    uint32_t n_assumptions;
    uint32_t n_bounded;
} ft__parts;

/* NULL is fine. */
void ft__parts_free(ft__parts *p);
/* The graph that shows them; takes. NULL: there is no memory, and they stay. */
ft_graph *ft__parts_show(ft__parts *p);

#endif
