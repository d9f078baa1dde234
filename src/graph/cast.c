/* A network in another floating-point type, model.to(dtype); and one whose inputs are
 * copied first, as before a CUDA graph is replayed. */
#include <stdbool.h>
#include <string.h>

#include "graph/build.h"
#include "graph/graph_inside.h"
#include "graph/op.h"
#include "graph/op_inside.h"

ft_op ft__op_cast_same(const ft_op *cast)
{
    const ft_shape x = ft_op_shape(cast, FT_K_x);
    ft_op op;

    if (ft_op_at(cast, FT_K_to, 0) != (int64_t)cast->dtype)
        return *cast;
    ft__op_init(&op, FT_KIND_view, cast->dtype);
    ft__op_set_shape(&op, FT_K_x, &x);
    ft__op_set_shape(&op, FT_K_out, &x);
    return op;
}

ft_op ft__op_cast(const ft_op *of, ft_dtype from, ft_dtype to)
{
    static const ft_key_id key[] = {FT_K_to, FT_K_weights};
    ft_op op = *of;

    if (op.dtype == from)
        op.dtype = to;
    for (size_t k = 0; k < sizeof(key) / sizeof(*key); k++) {
        uint32_t n;
        const int64_t *named = ft_op_get(&op, key[k], &n);

        if (n && *named == (int64_t)from)
            op.value[named - op.value] = (int64_t)to;
    }
    return op.kind == FT_KIND_cast ? ft__op_cast_same(&op) : op;
}

static void copy_tensors(ft__build *b, const ft_graph *g, ft_dtype from, ft_dtype to)
{
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        ft__build_like(b, t, t->dtype == from ? to : t->dtype);
        if (t->trainable)
            ft__build_trainable(b, i);
        if (t->detached)
            ft__build_detached(b, i);
    }
}

static void copy_node(ft__build *b, const ft_graph *g, const ft_node *n, ft_dtype from,
                      ft_dtype to)
{
    const ft_op op = ft__op_cast(&g->op[n->op], from, to);

    ft__build_at(b, n);
    ft__build_again(b, n, &op, n->in, n->out, n->n_out);
    /* Results in the memory of others, which views have by themselves. */
    for (uint32_t j = 0; j < n->n_out && !ft__build_failed(b); j++) {
        const uint32_t of = g->tensor[n->out[j]].storage;

        if (of != n->out[j])
            ft__build_alias(b, n->out[j], of);
    }
}

static ft_status check(const ft_graph *g, ft_dtype from, ft_dtype to, ft_error *err)
{
    if (!ft__dtype_is_real(to))
        return ft_fail(err, FT_EINVAL, 0,
                       "networks are predicted in fp64, fp32, fp16 or bf16, not in %s",
                       ft_dtype_name(to));
    if (!ft__dtype_is_real(from))
        return ft_fail(err, FT_EINVAL, 0,
                       "%s computes in %s, which no cast changes: export it in %s",
                       g->name, ft_dtype_name(from), ft_dtype_name(to));
    return FT_OK;
}

static void copy_graph(ft__build *b, const ft_graph *g, ft_dtype from, ft_dtype to)
{
    for (uint32_t i = 0; i < g->n_outputs; i++)
        ft__build_output(b, g->output[i]);
    ft__build_notes(b, g);
    for (uint32_t i = 0; i < g->n_nodes && !ft__build_failed(b); i++)
        copy_node(b, g, &g->node[i], from, to);
}

ft_status ft__graph_cast(ft_graph **out, const ft_graph *g, ft_dtype to, ft_error *err)
{
    return ft__graph_cast_from(out, g, ft__graph_dtype(g), to, err);
}

ft_status ft__graph_cast_from(ft_graph **out, const ft_graph *g, ft_dtype from,
                              ft_dtype to, ft_error *err)
{
    ft_status st = check(g, from, to, err);
    ft__build *b;

    *out = NULL;
    if (st)
        return st;
    b = ft__build_new(g->name);
    if (!b)
        return ft_fail(err, FT_ENOMEM, 0, "casting %s", g->name);
    copy_tensors(b, g, from, to);
    copy_graph(b, g, from, to);
    if (from != to)
        ft__build_assume(b, "cast from %s to %s: weights, activations and arithmetic",
                         ft_dtype_name(from), ft_dtype_name(to));
    return ft__build_finish_take(out, b, err);
}

/* The input keeps its number, which nodes know, as what was copied. */
static void copy_input(ft__build *b, const ft_tensor *input, uint32_t number)
{
    const uint32_t given = ft__build_like(b, input, input->dtype);
    ft_op op;

    ft__op_init(&op, FT_KIND_copy, input->dtype);
    ft__op_set_shape(&op, FT_K_x, &input->shape);
    op.layout = input->layout;
    ft__build_role(b, number, FT_ROLE_ACTIVATION);
    if (given != FT_NONE)
        ft__build_checked(b, input->name, strlen(input->name), &op, &given, 1, NULL, 0,
                          &number, 1);
}

static bool is_weight(const ft_graph *g, uint32_t i)
{
    return g->tensor[i].role == FT_ROLE_WEIGHT && g->tensor[i].storage == i;
}

/* All weights of one type at once, as PyTorch's _foreach_copy_(). `first` of them. */
static void copy_weights(ft__build *b, const ft_graph *g, uint32_t first)
{
    const ft_dtype dtype = g->tensor[first].dtype;
    ft_shape all = {.rank = 1};
    uint32_t to;
    ft_op op;

    for (uint32_t i = 0; i < g->n_tensors; i++) {
        if (!is_weight(g, i) || g->tensor[i].dtype != dtype)
            continue;
        if (i < first)
            return; /* done */
        all.dim[0] += ft_shape_elements(&g->tensor[i].shape);
    }
    ft__op_init(&op, FT_KIND_copy, dtype);
    ft__op_set_shape(&op, FT_K_x, &all);
    to = ft__build_tensor(b, "weights", 7, FT_ROLE_ACTIVATION, dtype, &all);
    if (!ft__build_failed(b))
        ft__build_checked(b, "weights", 7, &op, &first, 1, NULL, 0, &to, 1);
}

ft_status ft__graph_copy_inputs(ft_graph **out, const ft_graph *g, bool weights,
                                ft_error *err)
{
    ft__build *b = ft__build_new(g->name);

    *out = NULL;
    if (!b)
        return ft_fail(err, FT_ENOMEM, 0, "copies of the inputs of %s", g->name);
    copy_tensors(b, g, FT_DTYPE_NONE, FT_DTYPE_NONE);
    for (uint32_t i = 0; i < g->n_tensors && !ft__build_failed(b); i++)
        if (g->tensor[i].role == FT_ROLE_INPUT && g->tensor[i].storage == i)
            copy_input(b, &g->tensor[i], i);
        else if (weights && is_weight(g, i))
            copy_weights(b, g, i);
    if (weights)
        ft__build_assume(b, "weights are copied before each replay, as "
                            "torch.compile(backend=\"cudagraphs\") does since 2.5");
    copy_graph(b, g, FT_DTYPE_NONE, FT_DTYPE_NONE);
    return ft__build_finish_take(out, b, err);
}
