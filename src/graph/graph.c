/* A graph's memory, and totals over its operations. */
#include "graph/graph.h"

#include "graph/graph_inside.h"
#include <stdlib.h>

void ft__parts_free(ft__parts *p)
{
    if (!p)
        return;
    ft__arena_free(&p->arena);
    free(p->tensor);
    free(p->node);
    free(p->op);
    free(p->op_count);
    free(p->output);
    free(p->assumption);
    free(p->bounded);
    free(p);
}

/* The first dimension of the first input. */
static int64_t batch_of(const ft__parts *p)
{
    for (uint32_t i = 0; i < p->n_tensors; i++)
        if (p->tensor[i].role == FT_ROLE_INPUT && p->tensor[i].shape.rank)
            return p->tensor[i].shape.dim[0];
    return 0;
}

ft_graph *ft__parts_show(ft__parts *p)
{
    ft_graph *g = malloc(sizeof(*g));

    if (g)
        *g = (ft_graph){
            .name = p->name,
            .mode = p->mode,
            .batch = batch_of(p),
            .tensor = p->tensor,
            .n_tensors = p->n_tensors,
            .node = p->node,
            .n_nodes = p->n_nodes,
            .op = p->op,
            .op_count = p->op_count,
            .n_ops = p->n_ops,
            .output = p->output,
            .n_outputs = p->n_outputs,
            .assumption = p->assumption,
            .n_assumptions = p->n_assumptions,
            .bounded = p->bounded,
            .n_bounded = p->n_bounded,
            .parts = p,
        };
    return g;
}

void ft_graph_free(ft_graph *g)
{
    if (g)
        ft__parts_free(g->parts);
    free(g);
}

ft_dtype ft__graph_dtype(const ft_graph *g)
{
    ft_dtype dtype = FT_DTYPE_fp32;
    double most = -1;

    for (uint32_t i = 0; i < g->n_ops; i++) {
        ft_cost c;

        ft_op_cost(&g->op[i], &c);
        if (c.flops > most) {
            most = c.flops;
            dtype = g->op[i].dtype;
        }
    }
    return dtype;
}

void ft_graph_totals(const ft_graph *g, ft_totals *out)
{
    *out = (ft_totals){.dtype = ft__graph_dtype(g)};
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
