/* From which node to which each tensor of a graph is needed. */
#include "graph/lives.h"

#include <stdlib.h>

static const uint64_t MAX_BYTES = UINT64_C(1) << 62;

static void use(ft__life *life, const ft_graph *g, uint32_t tensor, uint32_t node)
{
    ft__life *p = &life[g->tensor[tensor].storage];

    if (p->first == FT_NONE)
        p->first = node;
    if (p->last == FT_NONE || p->last < node)
        p->last = node;
}

static void use_all(ft__life *life, const ft_graph *g)
{
    uint32_t n_nodes = g->n_nodes, end = n_nodes ? n_nodes - 1 : 0;

    for (uint32_t i = 0; i < n_nodes; i++) {
        const ft_node *node = &g->node[i];

        for (uint32_t j = 0; j < node->n_in; j++)
            use(life, g, node->in[j], i);
        for (uint32_t j = 0; j < node->n_params; j++) /* some are computed */
            use(life, g, node->params[j], i);
        for (uint32_t j = 0; j < node->n_out; j++)
            use(life, g, node->out[j], i);
    }
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        if (t->is_output)
            use(life, g, i, end);
        if (t->role == FT_ROLE_INPUT && t->storage == i)
            life[i].first = 0, life[i].last = end;
    }
}

ft_status ft__lives_find(ft__life **out, const ft_graph *g, ft_error *err)
{
    uint32_t n = g->n_tensors;
    uint64_t all = 0;
    ft__life *life = malloc((n + 1) * sizeof(*life));

    *out = NULL;
    if (!life)
        return ft_fail(err, FT_ENOMEM, 0, "memory plan of %s", g->name);
    for (uint32_t i = 0; i < n; i++) {
        const ft_tensor *t = &g->tensor[i];
        int64_t bytes = ft_tensor_bytes(&t->shape, t->dtype);

        life[i] = (ft__life){.first = FT_NONE, .last = FT_NONE};
        life[i].bytes = bytes < 0 ? MAX_BYTES : (uint64_t)bytes;
        if (t->storage == i)
            all += life[i].bytes;
        if (all >= MAX_BYTES) {
            free(life);
            return ft_fail(err, FT_EINVAL, 0, "the tensors of %s are larger than %s",
                           g->name, "4 EiB together; check its dimensions");
        }
    }
    use_all(life, g);
    *out = life;
    return FT_OK;
}
