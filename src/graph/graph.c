#include "graph/graph.h"

#include "graph/graph_inside.h"
#include <stdlib.h>

void ft_graph_free(ft_graph *g)
{
    if (!g)
        return;
    ft__arena_free(&g->arena);
    free(g->tensor);
    free(g->node);
    free(g->op);
    free(g->op_count);
    free(g->output);
    free(g->assumption);
    free(g->bounded);
    free(g);
}

const char *ft_graph_name(const ft_graph *g)
{
    return g->name;
}

ft_mode ft_graph_mode(const ft_graph *g)
{
    return g->mode;
}

uint32_t ft_graph_n_tensors(const ft_graph *g)
{
    return g->n_tensors;
}

const ft_tensor *ft_graph_tensor(const ft_graph *g, uint32_t i)
{
    return &g->tensor[i];
}

uint32_t ft__graph_n_outputs(const ft_graph *g)
{
    return g->n_outputs;
}

uint32_t ft__graph_output(const ft_graph *g, uint32_t i)
{
    return g->output[i];
}

uint32_t ft_graph_n_nodes(const ft_graph *g)
{
    return g->n_nodes;
}

const ft_node *ft_graph_node(const ft_graph *g, uint32_t i)
{
    return &g->node[i];
}

uint32_t ft_graph_n_ops(const ft_graph *g)
{
    return g->n_ops;
}

const ft_op *ft_graph_op(const ft_graph *g, uint32_t i)
{
    return &g->op[i];
}

uint64_t ft_graph_op_count(const ft_graph *g, uint32_t i)
{
    return g->op_count[i];
}

uint32_t ft_graph_n_assumptions(const ft_graph *g)
{
    return g->n_assumptions;
}

const char *ft_graph_assumption(const ft_graph *g, uint32_t i)
{
    return g->assumption[i];
}

uint32_t ft_graph_n_bounded(const ft_graph *g)
{
    return g->n_bounded;
}

const char *ft_graph_bounded(const ft_graph *g, uint32_t i)
{
    return g->bounded[i];
}

void ft_graph_totals(const ft_graph *g, ft_totals *out)
{
    *out = (ft_totals){0};
    for (uint32_t i = 0; i < g->n_ops; i++) {
        double count = (double)g->op_count[i];
        ft_cost c;

        ft_op_cost(&g->op[i], &c);
        out->flops += count * c.flops;
        out->bytes_read += count * c.bytes_read;
        out->bytes_written += count * c.bytes_written;
    }
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        if (t->role != FT_ROLE_WEIGHT || t->storage != i)
            continue;
        out->parameters += (double)ft_shape_elements(&t->shape);
        out->weight_bytes += (double)ft_tensor_bytes(&t->shape, t->dtype);
    }
}
