/* A graph in another floating-point type. */
#include <stdlib.h>
#include <string.h>

#include "graph/build.h"

int ft_dtype_is_plain_float(ft_dtype t)
{
    return t == FT_DTYPE_fp32 || t == FT_DTYPE_fp16 || t == FT_DTYPE_bf16;
}

static ft_dtype cast_of(ft_dtype t, ft_dtype to)
{
    return ft_dtype_is_plain_float(t) ? to : t;
}

static void cast_attribute(ft_op *op, ft_key_id key, ft_dtype to)
{
    uint32_t n;
    /* Of an operation of one's own. */
    int64_t *t = (int64_t *)ft_op_get(op, key, &n);

    if (t && n && ft_dtype_is_plain_float((ft_dtype)*t))
        *t = (int64_t)to;
}

static void copy_tensors(ft__build *b, const ft_graph *g, ft_dtype to)
{
    for (uint32_t i = 0; i < ft_graph_n_tensors(g); i++) {
        const ft_tensor *t = ft_graph_tensor(g, i);

        ft__build_tensor(b, t->name, strlen(t->name), t->role, cast_of(t->dtype, to),
                         &t->shape);
        ft__build_set_layout(b, i, t->layout);
        ft__build_open(b, i, t->open);
        ft__build_container(b, i, t->container);
        if (t->trainable)
            ft__build_trainable(b, i);
        if (t->detached)
            ft__build_detached(b, i);
    }
}

static void copy_node(ft__build *b, const ft_graph *g, const ft_node *n, ft_dtype to)
{
    ft_op op = *ft_graph_op(g, n->op);

    op.dtype = cast_of(op.dtype, to);
    cast_attribute(&op, FT_K_to, to);
    cast_attribute(&op, FT_K_weights, to);
    ft__build_phase(b, n->phase);
    ft__build_scope(b, n->scope, strlen(n->scope));
    ft__build_repeat(b,
                     ft__build_checked(b, n->name, strlen(n->name), &op, n->in, n->n_in,
                                       n->params, n->n_params, n->out, n->n_out),
                     n->repeat);
    /* Results in the memory of others, which views have by themselves. */
    for (uint32_t j = 0; j < n->n_out; j++) {
        uint32_t of = ft_graph_tensor(g, n->out[j])->storage;

        if (of != n->out[j] && !ft__build_failed(b))
            ft__build_alias(b, n->out[j], of);
    }
}

ft_status ft_graph_cast(ft_graph **out, const ft_graph *g, ft_dtype to, ft_error *err)
{
    ft__build *b;

    *out = NULL;
    if (!ft_dtype_is_plain_float(to))
        return ft_fail(err, FT_EINVAL, 0,
                       "%s: a graph can be cast to fp32, fp16 and bf16, not to %s",
                       ft_graph_name(g), ft_dtype_name(to));
    b = ft__build_new(ft_graph_name(g));
    if (!b)
        return ft_fail(err, FT_ENOMEM, 0, "%s in %s", ft_graph_name(g),
                       ft_dtype_name(to));
    copy_tensors(b, g, to);
    for (uint32_t i = 0; i < ft_graph_n_outputs(g); i++)
        ft__build_output(b, ft_graph_output(g, i));
    for (uint32_t i = 0; i < ft_graph_n_assumptions(g); i++)
        ft__build_assume(b, "%s", ft_graph_assumption(g, i));
    for (uint32_t i = 0; i < ft_graph_n_bounded(g); i++)
        ft__build_bounded(b, "%s", ft_graph_bounded(g, i));
    for (uint32_t i = 0; i < ft_graph_n_nodes(g) && !ft__build_failed(b); i++)
        copy_node(b, g, ft_graph_node(g, i), to);
    ft__build_assume(b, "cast to %s: weights, activations and arithmetic",
                     ft_dtype_name(to));
    return ft__build_finish_take(out, b, err);
}
