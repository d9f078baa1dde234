/* torch.einsum, by what rules/einsum.c makes of it: each product is a batched one of
 * matrices. */
#include "graph/op_inside.h"
#include "import/pt2/pt2.h"
#include "import/rules/einsum.h"

static ft__pt2_value *made(const ft__pt2_node *n, ft__pt2_value *v)
{
    return v && v->state != FT__PT2_UNDEFINED && !ft__pt2_failed(n) ? v : NULL;
}

static void *einsum_view(void *node, void *value, const ft_shape *s, void *to)
{
    const ft__pt2_value *x = value;
    ft__pt2_value *out = to ? to : ft__pt2_temp(node, x, x->dtype, s);

    ft__pt2_emit_view(node, value, out);
    return made(node, out);
}

static void *einsum_transpose(void *node, void *value, const int64_t *perm,
                              const ft_shape *s, void *to)
{
    ft__pt2_value *x = value, *out = ft__pt2_temp(node, x, x->dtype, s);

    if (out)
        ft__pt2_emit_transpose(node, x, out, perm);
    return to && made(node, out) ? einsum_view(node, out, s, to) : made(node, out);
}

static void *einsum_product(void *node, void *x, void *y, const ft__einsum_sizes *z,
                            const ft_shape *s, void *to)
{
    ft_shape xs = {3, {z->batch, z->rows, z->inner}},
             ys = {3, {z->batch, z->inner, z->columns}},
             all = {3, {z->batch, z->rows, z->columns}};
    ft__pt2_value *in[2] = {einsum_view(node, x, &xs, NULL),
                            einsum_view(node, y, &ys, NULL)};
    ft__pt2_value *out;
    ft_op op;

    if (!in[0] || !in[1])
        return NULL;
    out = ft__pt2_temp(node, x, in[0]->dtype, &all);
    op = ft__pt2_op(FT_KIND_matmul, in[0]->dtype, &xs);
    ft__op_set_shape(&op, FT_K_y, &ys);
    if (out)
        ft__pt2_emit(node, &op,
                     &(ft__pt2_call){.in = in, .n_in = 2, .out = &out, .n_out = 1});
    return made(node, out) ? einsum_view(node, out, s, to) : NULL;
}

void ft__aten_einsum(ft__pt2_node *n)
{
    const ft__einsum_ops ops = {.node = n,
                                .own_order = true,
                                .view = einsum_view,
                                .transpose = einsum_transpose,
                                .product = einsum_product};
    const ft__pt2_arg *list = ft__pt2_arg_of(n, "tensors");
    ft__text equation = ft__pt2_string(n, "equation");
    const ft_shape *shape[FT__EINSUM_TERMS];
    void *in[FT__EINSUM_TERMS];
    ft__einsum e;

    if (!list || !list->n || list->n > FT__EINSUM_TERMS || !ft__pt2_out(n, 0))
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        in[i] = list->value[i];
        if (!in[i])
            return;
        shape[i] = &list->value[i]->shape;
    }
    if (ft__einsum_read(&e, equation.s, equation.n, shape, list->n))
        (void)ft__einsum_write(&e, &ops, in, shape, n->out[0]);
}
