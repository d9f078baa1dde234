/* A network in another floating-point type: model.to(dtype). */
#include <stdbool.h>

#include "base/index.h"
#include "graph/graph.h"

/* The type of the operation with the most arithmetic. */
ft_dtype ft_graph_dtype(const ft_graph *g)
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

static bool castable(ft_dtype t)
{
    return t == FT_DTYPE_fp64 || t == FT_DTYPE_fp32 || t == FT_DTYPE_fp16 ||
           t == FT_DTYPE_bf16;
}

static void cast_op(ft_op *op, ft_dtype from, ft_dtype to)
{
    static const ft_key_id key[] = {FT_K_to, FT_K_weights};

    if (op->dtype == from)
        op->dtype = to;
    for (size_t k = 0; k < sizeof(key) / sizeof(*key); k++) {
        uint32_t n;
        const int64_t *named = ft_op_get(op, key[k], &n);

        if (n && *named == (int64_t)from)
            op->value[named - op->value] = (int64_t)to;
    }
}

/* Operations that differed in their type alone become one: now[i] is where i went. */
static bool unite(ft_graph *g, uint32_t *now)
{
    ft__index seen = {0};
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_ops; i++) {
        ft_op op = g->op[i];
        uint64_t count = g->op_count[i];
        uint64_t hash = ft__hash_bytes(FT__HASH_BEGIN, &op, sizeof(op));
        ft__index_slot *s = ft__index_at(&seen, hash, NULL);

        if (!s) {
            ft__index_free(&seen);
            return false;
        }
        if (!s->hash) {
            *s = (ft__index_slot){.hash = hash, .number = n};
            seen.n++;
            g->op[n] = op;
            g->op_count[n++] = 0;
        }
        now[i] = (uint32_t)s->number;
        g->op_count[now[i]] += count;
    }
    g->n_ops = n;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        g->node[i].op = now[g->node[i].op];
    ft__index_free(&seen);
    return true;
}

ft_status ft_graph_cast(ft_graph *g, ft_dtype to, ft_error *err)
{
    ft_dtype from = ft_graph_dtype(g);
    uint32_t *now;

    if (!castable(to))
        return ft_fail(err, FT_EINVAL, 0,
                       "networks are told in fp64, fp32, fp16 or bf16, not in %s",
                       ft_dtype_name(to));
    if (from == to)
        return FT_OK;
    if (!castable(from))
        return ft_fail(err, FT_EINVAL, 0,
                       "the model computes in %s, which is no matter of a cast: "
                       "export it in %s",
                       ft_dtype_name(from), ft_dtype_name(to));
    now = ft__arena_array(&g->arena, g->n_ops, sizeof(*now));
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensor[i].dtype == from)
            g->tensor[i].dtype = to;
    for (uint32_t i = 0; i < g->n_ops; i++)
        cast_op(&g->op[i], from, to);
    if (!now || !unite(g, now))
        return ft_fail(err, FT_ENOMEM, 0, "casting %s", g->name);
    return FT_OK;
}
