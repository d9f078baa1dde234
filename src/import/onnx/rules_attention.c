/* Attention, its positions, and what stands in for it. */
#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/compose.h"
#include "import/rules/ops.h"

/* Batch, heads, length and size of queries, keys or values, which come with four
 * dimensions in this order, or as batch x length x (heads x size). */
static bool read_heads(const ft__onnx_node *n, const ft__onnx_value *v,
                       const char *heads, ft_shape *out)
{
    const ft_shape *s = &v->shape;
    int64_t count;

    *out = *s;
    if (s->rank == 4)
        return true;
    count = ft__attr_int(n, heads, 0);
    if (s->rank != 3 || count < 1 || s->dim[2] % count)
        return ft__onnx_fail(n, "%s=%lld does not fit an operand of %u dimensions",
                             heads, (long long)count, s->rank);
    *out = (ft_shape){4, {s->dim[0], count, s->dim[1], s->dim[2] / count}};
    return true;
}

/* v with heads in front of length, into out (NULL: a value of its own). */
static ft__onnx_value *heads_first(const ft__onnx_node *n, ft__onnx_value *v,
                                   const ft_shape *s, ft__onnx_value *out)
{
    ft__onnx_value *rows =
        ft__make_view(n, v, FT__SHAPE(s->dim[0], s->dim[2], s->dim[1], s->dim[3]),
                      ft__onnx_temp(n, v));

    return ft__make_transpose(n, rows, (int64_t[]){0, 2, 1, 3},
                              out ? out : ft__onnx_temp(n, v));
}

/* Keys or values with those of the past in front, which become result i. What
 * attention then reads; *s is its shape. */
static ft__onnx_value *with_past(const ft__onnx_node *n, ft__onnx_value *v,
                                 ft__onnx_value *past, uint32_t i, ft_shape *s)
{
    ft__onnx_value *present = ft__out(n, i);

    if (!past && !present)
        return v;
    if (!past && v->shape.rank == 3)
        return heads_first(n, v, s, present);
    if (!past) {
        ft__emit_view(n, v, present, s);
        return v;
    }
    if (v->shape.rank == 3)
        v = heads_first(n, v, s, NULL);
    present =
        ft__make_concat(n, past, v, 2, present ? present : ft__onnx_temp(n, past));
    if (present)
        *s = present->shape;
    return present;
}

/* batch x heads matrices of rows x inner times inner x columns. */
static void products(const ft__onnx_node *n, const ft_shape *x, int64_t columns,
                     ft__onnx_value *const *in, uint32_t n_in, ft__onnx_value *out,
                     const ft_shape *shape, ft_dtype to)
{
    ft_op op;

    ft__op_init(&op, FT_KIND_matmul, in[0]->dtype);
    ft__op_set_shape(&op, FT_K_x, x);
    ft__op_set(&op, FT_K_y, (int64_t[]){x->dim[0], x->dim[1], x->dim[3], columns}, 4);
    ft__op_set1(&op, FT_K_to, to == in[0]->dtype ? FT_DTYPE_NONE : to);
    if (out && !ft__failed(n))
        ft__make_of(n, &op, in, n_in, shape, out);
}

/* arg: 1 where only queries, keys and values can be operands. */
void ft__rule_attention(ft__onnx_node *n)
{
    bool plain = n->rule->arg;
    ft__onnx_value *past_k = plain ? NULL : ft__in(n, 4),
                   *past_v = plain ? NULL : ft__in(n, 5),
                   *mask = plain ? NULL : ft__in(n, 3), *in[3] = {n->in[0]},
                   *rest[2] = {mask, plain ? NULL : ft__in(n, 6)};
    ft_shape q, k, v, s;
    ft_op op;

    if (!read_heads(n, n->in[0], "q_num_heads", &q) ||
        !read_heads(n, n->in[1], "kv_num_heads", &k) ||
        !read_heads(n, n->in[2], "kv_num_heads", &v))
        return;
    in[1] = with_past(n, n->in[1], past_k, 1, &k);
    in[2] = with_past(n, n->in[2], past_v, 2, &v);
    if (!in[1] || !in[2])
        return;
    op = ft__op_attention(in[0]->dtype, &q, &k, &v,
                          ft__attr_int(n, "is_causal", 0) != 0, mask != NULL);
    s = q;
    s.dim[3] = v.dim[3];
    if (in[0]->shape.rank == 3)
        s = (ft_shape){3, {q.dim[0], q.dim[2], q.dim[1] * v.dim[3]}};
    ft__emit_layer(n, &op,
                   &(ft__onnx_call){.in = in,
                                    .n_in = 3,
                                    .params = rest,
                                    .n_params = 2,
                                    .out = n->out,
                                    .n_out = 1,
                                    .shape = &s});
    if (ft__out(n, 3) && !ft__failed(n))
        /* The products of queries and keys, which a fused kernel does not write. */
        products(n, &q, k.dim[2], in, 2, n->out[3],
                 FT__SHAPE(q.dim[0], q.dim[1], q.dim[2], k.dim[2]), in[0]->dtype);
}

void ft__rule_rotary(ft__onnx_node *n)
{
    ft_op op = ft__op_x(FT_KIND_rotary, n->in[0]);

    ft__emit_params(n, &op, &n->in[0]->shape);
}

/* ---- linear attention ---- */

/* A state of keys x values per head, and what queries read from it. Each step is
 * the same work as its part of these products: the keys by the values into the
 * state, (delta rules) the state's own answer to the keys, the queries by the
 * state. */
void ft__rule_linear_attention(ft__onnx_node *n)
{
    ft__onnx_value *q = n->in[0], *k = n->in[1], *v = n->in[2], *past = ft__in(n, 3),
                   *state = ft__out(n, 1), *in[6] = {k, v};
    ft__str how = ft__attr_str(n, "update_rule");
    bool delta =
        how.n == 0 || ft__str_is(how, "delta") || ft__str_is(how, "gated_delta");
    ft_shape sq, sk, sv, s, rows;
    uint32_t n_in = 2;

    if (!read_heads(n, q, "q_num_heads", &sq) ||
        !read_heads(n, k, "kv_num_heads", &sk) ||
        !read_heads(n, v, "kv_num_heads", &sv))
        return;
    state = state ? state : ft__onnx_temp(n, q);
    for (uint32_t i = 3; i < 6; i++)
        if (ft__in(n, i))
            in[n_in++] = n->in[i];
    s = (ft_shape){4, {sk.dim[0], sk.dim[1], sk.dim[3], sv.dim[3]}};
    rows = (ft_shape){4, {sk.dim[0], sk.dim[1], sk.dim[3], sk.dim[2]}};
    products(n, &rows, sv.dim[3], in, n_in, state, &s, past ? past->dtype : k->dtype);
    if (delta)
        products(n, &sk, sv.dim[3], (ft__onnx_value *[]){k, state}, 2,
                 ft__onnx_temp(n, q), NULL, k->dtype);
    s = (ft_shape){3, {sq.dim[0], sq.dim[2], sq.dim[1] * sv.dim[3]}};
    if (q->shape.rank == 4) {
        s = sq;
        s.dim[3] = sv.dim[3];
    }
    products(n, &sq, sv.dim[3], (ft__onnx_value *[]){q, state}, 2, n->out[0], &s,
             q->dtype);
}
