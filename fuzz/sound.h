/* What every importer promises. */
#ifndef SOUND_H
#define SOUND_H

#include "foretell/graph.h"
#include "graph/graph_inside.h"

/* A message and no graph, or a graph whose operations are sound; true: the latter. */
static inline bool is_sound(ft_status st, ft_graph *const *made, const ft_error *err)
{
    const ft_graph *g = *made;
    ft_error wrong;

    if (st != FT_OK && (g || !err->msg[0]))
        __builtin_trap();
    for (uint32_t k = 0; st == FT_OK && k < g->n_ops; k++)
        if (ft_op_check(&g->op[k], &wrong))
            __builtin_trap();
    return st == FT_OK;
}

#endif
