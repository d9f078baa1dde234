/* com.microsoft: attention over tokens without padding, windows, pages, and with a
 * state instead of keys. */
#include "graph/op_inside.h"
#include "import/onnx/attention.h"
#include "import/rules/ops.h"

/* Tokens without padding; token_offset is operand 4. */
void ft__rule_ms_packed_multihead(ft__onnx_node *n)
{
    ft__heads h = {.heads = ft__attr_size(n, "num_heads", 0), .mask = true};
    const ft_shape *q = &n->in[0]->shape;
    ft__onnx_value *v = ft__in(n, 2), *x = n->in[0];
    int64_t tokens, columns;
    ft_shape all;

    if (!ft__has_rank(n, 4, 2) || q->rank < 2 || (v && v->shape.rank != 2)) {
        ft__misfit(n, 0);
        return;
    }
    tokens = q->dim[0];
    h.kv_heads = h.heads;
    h.batch = n->in[4]->shape.dim[0];
    h.queries = h.keys = n->in[4]->shape.dim[1];
    h.size = q->rank == 4 ? q->dim[3] : ft__per_head(n, q->dim[1], h.heads);
    h.value = v ? ft__per_head(n, v->shape.dim[1], h.heads) : h.size;
    columns = h.heads * (h.size > h.value ? h.size : h.value);
    all = (ft_shape){.rank = 3, .dim = {h.batch, h.queries, columns}};
    if (!ft__shape_fits(&all)) {
        ft__misfit(n, 0);
        return;
    }
    x = ft__make_sum(n, ft__make_view(n, x, FT__SHAPE(tokens, h.heads * h.size), NULL),
                     NULL, NULL);
    x = ft__make_move(n, FT_KIND_pad, x, &all, NULL);
    ft__attend(n, &h, x, x, x, FT__SHAPE(tokens, h.heads * h.value));
}

/* Every query meets `window` keys on both sides and in its own block; tokens that
 * are global have a layer of their own. */
void ft__rule_ms_longformer(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *w = n->in[1];
    ft__heads h = {.heads = ft__attr_size(n, "num_heads", 0), .mask = true};
    int64_t window = ft__attr_size(n, "window", 0), hidden, blocks;

    if (!ft__has_rank(n, 0, 3) || !ft__has_rank(n, 1, 2) || !ft__has_rank(n, 4, 2))
        return;
    hidden = x->shape.dim[2];
    blocks = ft__per_head(n, x->shape.dim[1], window);
    h.size = h.value = ft__per_head(n, hidden, h.heads);
    h.kv_heads = h.heads;
    h.batch = x->shape.dim[0] * blocks;
    h.queries = window;
    h.keys = 3 * window;
    (void)ft__project(n, x, n->in[4], ft__in(n, 5), FT_DTYPE_NONE);
    x = ft__project(n, x, w, ft__in(n, 2), FT_DTYPE_NONE);
    ft__attend(n, &h, x, x, x, &n->in[0]->shape);
}

/* Length x batch x features; the key gives keys and values by one layer. */
void ft__rule_ms_decoder_attention(ft__onnx_node *n)
{
    ft__heads h = {.heads = ft__attr_size(n, "num_heads", 0), .mask = true};
    ft__onnx_value *q = n->in[0], *k = n->in[1];
    int64_t hidden;

    if (!ft__has_rank(n, 0, 3) || !ft__has_rank(n, 1, 3) || !ft__has_rank(n, 2, 2) ||
        !ft__has_rank(n, 3, 2))
        return;
    hidden = q->shape.dim[2];
    h.kv_heads = h.heads;
    h.queries = q->shape.dim[0];
    h.batch = q->shape.dim[1];
    h.keys = k->shape.dim[0];
    h.size = h.value = ft__per_head(n, hidden, h.heads);
    q = ft__project(n, q, n->in[2], NULL, FT_DTYPE_NONE);
    k = ft__project(n, k, n->in[3], NULL, FT_DTYPE_NONE);
    ft__attend(n, &h, q, k, k, &n->in[0]->shape);
    for (uint32_t i = 1; i < 3; i++)
        ft__emit_extra(n, i, n->in[0]->dtype,
                       FT__SHAPE(h.batch, h.heads, h.keys, h.size));
}

/* A state of size x value a head instead of keys: one product makes it, one reads
 * it. */
void ft__rule_ms_linear_attention(ft__onnx_node *n)
{
    int64_t heads = ft__attr_size(n, "kv_num_heads", 0);
    int64_t q_heads = ft__attr_size(n, "q_num_heads", 0);
    ft__onnx_value *q = n->in[0], *k = n->in[1], *v = n->in[2], *state;
    int64_t b, t, size, value;

    if (!ft__has_rank(n, 0, 3) || !ft__has_rank(n, 1, 3) || !ft__has_rank(n, 2, 3))
        return;
    b = q->shape.dim[0];
    t = q->shape.dim[1];
    size = ft__per_head(n, q->shape.dim[2], q_heads);
    value = ft__per_head(n, v->shape.dim[2], heads);
    k = ft__make_move(n, FT_KIND_expand, k, FT__SHAPE(b, heads, size, t), NULL);
    state =
        ft__make_matmul(n, k, ft__make_view(n, v, FT__SHAPE(b, heads, t, value), NULL),
                        FT_DTYPE_NONE, ft__in(n, 3) ? NULL : ft__wanted(n, 1));
    if (ft__in(n, 3))
        state = ft__apply2(n, FT_KIND_add, state, n->in[3], ft__wanted(n, 1));
    if (!state)
        return;
    q = ft__make_view(n, q, FT__SHAPE(b, heads, t * (q_heads / heads), size), NULL);
    q = ft__make_matmul(n, q, state, FT_DTYPE_NONE, NULL);
    ft__make_view(n, q, FT__SHAPE(b, t, q_heads * value), n->out[0]);
}

/* Keys and values of all sequences in pages of one cache: how long each is, is not
 * known; all pages of the table (operand 7) count. */
void ft__rule_ms_paged(ft__onnx_node *n)
{
    ft__heads h = {.heads = ft__attr_size(n, "num_heads", 0),
                   .kv_heads = ft__attr_size(n, "kv_num_heads", 0)};
    ft__onnx_value *q = n->in[0], *caches[] = {ft__in(n, 3), ft__in(n, 4)}, *out;
    bool packed = !ft__in(n, 1), rotary = ft__attr_int(n, "do_rotary", 0);
    int64_t tokens, parts = h.heads + (packed ? 2 * h.kv_heads : 0);
    ft_shape keys;
    ft_op op;

    if (!ft__has_rank(n, 0, 2) || !ft__has_rank(n, 3, 4) || !ft__has_rank(n, 7, 2) ||
        n->in[7]->shape.dim[0] < 1)
        return;
    tokens = q->shape.dim[0];
    h.batch = n->in[7]->shape.dim[0];
    h.queries = (tokens + h.batch - 1) / h.batch;
    h.keys =
        ft_shape_elements(FT__SHAPE(n->in[7]->shape.dim[1], caches[0]->shape.dim[1]));
    h.size = ft__per_head(n, q->shape.dim[1], parts);
    q = rotary ? ft__apply1(n, FT_KIND_rotary, q, NULL) : q;
    if (!q || ft__failed(n))
        return;
    keys = *FT__SHAPE(h.batch, h.kv_heads, h.keys, h.size);
    op = ft__op_attention(q->dtype, FT__SHAPE(h.batch, h.heads, h.queries, h.size),
                          &keys, &keys, true, false);
    out =
        ft__make_of(n, &op, FT__VALUES(q, caches[0], caches[1] ? caches[1] : caches[0]),
                    NULL, NULL);
    ft__make_view(n, out, FT__SHAPE(tokens, h.heads * h.size), n->out[0]);
    for (uint32_t i = 0; i < 2; i++)
        if (caches[i] && ft__out(n, i + 1))
            ft__make_view(n, caches[i], &caches[i]->shape, n->out[i + 1]);
    ft__build_bounded(n->import->b,
                      "PagedAttention (node %.*s), all of its pages counted",
                      ft__shown(n->name.n, 100), n->name.s);
}

/* Three layers of bytes, and attention of bytes. */
void ft__rule_ms_qordered_attention(ft__onnx_node *n)
{
    ft__heads h = {.heads = ft__attr_size(n, "num_heads", 0)};
    ft__onnx_value *x = n->in[0], *part[3];

    if (!ft__has_rank(n, 0, 3))
        return;
    for (uint32_t i = 0; i < 3; i++) {
        if (!ft__has_rank(n, 5 + i, 2))
            return;
        part[i] = ft__project(n, x, n->in[5 + i], ft__in(n, 11 + i), FT_DTYPE_NONE);
    }
    h.kv_heads = h.heads;
    h.batch = x->shape.dim[0];
    h.queries = h.keys = x->shape.dim[1];
    h.size = ft__per_head(n, n->in[5]->shape.dim[1], h.heads);
    h.value = ft__per_head(n, n->in[7]->shape.dim[1], h.heads);
    h.causal = ft__attr_int(n, "unidirectional", 0);
    h.mask = ft__in(n, 17) != NULL;
    ft__attend(n, &h, part[0], part[1], part[2],
               FT__SHAPE(h.batch, h.queries, n->in[7]->shape.dim[1]));
}
