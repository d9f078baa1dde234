/* com.microsoft: integers instead of reals. Scales and zero points are operands
 * of every node; what they scale is an operation on bytes. */
#include "graph/op_inside.h"
#include "import/onnx/compose.h"
#include "import/rules/ops.h"

static ft_dtype dtype_of(const ft__onnx_value *v, ft_dtype fallback)
{
    return v ? v->dtype : fallback;
}

/* Two operands, each with scale and zero point. arg: the kind. */
void ft__rule_ms_qbinary(ft__onnx_node *n)
{
    ft__apply2(n, (ft_kind)n->rule->arg, n->in[0], ft__in(n, 3), n->out[0]);
}

void ft__rule_ms_qsoftmax(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    bool old = ft__attr_int(n, "opset", 13) < 13;
    uint32_t axis = ft__attr_axis(n, old ? 1 : -1);

    ft__make_softmax(n, x, axis, n->out[0]);
}

/* arg: the kind for one axis; channels may be at the end. */
void ft__rule_ms_qpool(ft__onnx_node *n)
{
    bool last = ft__attr_int(n, "channels_last", 0);
    bool all = n->rule->arg == FT_KIND_global_avgpool;
    ft__onnx_value *x = last ? ft__make_channels(n, n->in[0], false, NULL) : n->in[0];
    ft__onnx_value *to = last ? NULL : n->out[0];

    x = all ? ft__make_global(n, FT_KIND_global_avgpool, x, to)
            : ft__make_pool(n, (ft_kind)n->rule->arg, x, to);
    if (last)
        ft__make_channels(n, x, true, n->out[0]);
}

void ft__rule_ms_qmean(ft__onnx_node *n)
{
    uint32_t axes = (uint32_t)ft__axes(n, UINT32_MAX, n->in[0]->shape.rank, 0);

    if (axes)
        ft__reduce(n, FT_KIND_reduce_mean, n->in[0], axes,
                   ft__attr_int(n, "keepdims", 1) != 0, n->out[0]);
    else
        ft__misfit(n, 0);
}

/* condition, then two operands with scale and zero point each. */
void ft__rule_ms_qwhere(ft__onnx_node *n)
{
    ft__emit_where(n, (ft__onnx_value *[]){n->in[0], n->in[1], n->in[4]});
}

/* From operand 2 on: a part, its scale, its zero point. */
void ft__rule_ms_qconcat(ft__onnx_node *n)
{
    uint32_t count = (n->n_in - 2) / 3;
    ft__onnx_value *x = n->in[2], **part = ft__onnx_alloc(n->import, count, sizeof(x));

    if (!part || count < 1 || (n->n_in - 2) % 3)
        return;
    for (uint32_t i = 0; i < count; i++)
        part[i] = n->in[2 + 3 * i];
    ft__emit_concat(n, part, count,
                    ft__axis(n, ft__attr_int(n, "axis", 0), x->shape.rank),
                    n->in[1]->dtype);
}

/* x, scale, zero point, w, scale, zero point, y's scale and zero point, bias. */
void ft__rule_ms_qconv(ft__onnx_node *n)
{
    bool last = ft__attr_int(n, "channels_last", 0);
    ft__onnx_value *x = last ? ft__make_channels(n, n->in[0], false, NULL) : n->in[0];
    ft__conv c = {.x = x,
                  .weights = n->in[3],
                  .bias = ft__in(n, 8),
                  .filters = n->in[3]->shape,
                  .to = dtype_of(ft__in(n, 7), n->in[0]->dtype)};

    x = ft__make_conv(n, &c, last ? NULL : n->out[0]);
    if (last)
        ft__make_channels(n, x, true, n->out[0]);
}

/* ---- matrix products ---- */

/* arg: 0 quantised here, 1 bytes already. */
void ft__rule_ms_qmatmul(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    ft_dtype to = n->in[2]->dtype;

    if (!n->rule->arg)
        x = ft__make_cast(n, FT_KIND_quantize, x, FT_DTYPE_uint8, NULL);
    ft__make_product(n, x, n->in[1], to, ft__in(n, n->rule->arg ? 6 : 4), n->out[0]);
}

void ft__rule_ms_matmul_int16(ft__onnx_node *n)
{
    ft_dtype to = n->in[0]->dtype == FT_DTYPE_uint16 ? FT_DTYPE_uint32 : FT_DTYPE_int32;

    ft__make_product(n, n->in[0], n->in[1], to, NULL, n->out[0]);
}

/* Without a zero point of the result it is real. */
void ft__rule_ms_qgemm(ft__onnx_node *n)
{
    ft__onnx_value *b = n->in[3], *c = ft__in(n, 6);
    ft__onnx_value *a =
        ft__make_oriented(n, n->in[0], ft__attr_int(n, "transA", 0), false);
    ft__linear l = {.weight = b,
                    .bias = c,
                    .columns = b->shape.dim[0],
                    .to = dtype_of(ft__in(n, 8), n->in[1]->dtype)};
    bool back = ft__attr_int(n, "transB", 0);

    if (!ft__has_rank(n, 0, 2) || !ft__has_rank(n, 3, 2) || !a)
        return;
    if (back && ft__is_constant(b) && (!c || ft__is_constant(c)) &&
        a->shape.dim[1] == b->shape.dim[1])
        ft__make_linear(n, a, &l, n->out[0]);
    else
        ft__make_product(n, a, ft__make_oriented(n, b, back, false), l.to, c,
                         n->out[0]);
}

/* For one device's order of bytes: A, scale, B, scale, y's scale, bias, C. */
void ft__rule_ms_qordered_matmul(ft__onnx_node *n)
{
    ft__onnx_value *c = ft__in(n, 6), *p;

    p = ft__make_product(n, n->in[0], n->in[2], FT_DTYPE_NONE, ft__in(n, 5),
                         c ? NULL : n->out[0]);
    if (c)
        ft__make_sum(n, p, c, n->out[0]);
}

void ft__rule_ms_qordered_norm(ft__onnx_node *n)
{
    ft__onnx_value *params[] = {n->in[2], ft__in(n, 3)};

    ft__make_norm(n, FT_KIND_layernorm, n->in[0], FT_K_norm, 1, params, 2, n->out[0]);
}

/* Another type, by attribute `to`, or int8. arg: the kind. */
void ft__rule_ms_with_order(ft__onnx_node *n)
{
    ft_dtype to = ft_dtype_from_onnx(ft__attr_int(n, "to", 0));

    if (n->rule->arg == FT_KIND_quantize)
        to = FT_DTYPE_int8;
    if (to)
        ft__make_cast(n, (ft_kind)n->rule->arg, n->in[0], to, n->out[0]);
    else
        ft__emit_unknown(n);
}

/* ---- a recurrent layer with weights of bytes ---- */

void ft__rule_ms_lstm(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *params[4] = {n->in[1], n->in[2], ft__in(n, 3)};
    int64_t hidden = ft__attr_size(n, "hidden_size", 1);
    bool both = ft__str_is(ft__attr_str(n, "direction"), "bidirectional");
    ft_op op;

    if (!ft__has_rank(n, 0, 3) || !ft__is_constant(n->in[1]) ||
        !ft__is_constant(n->in[2])) {
        ft__emit_unknown(n);
        return;
    }
    op = ft__op_recurrent(FT_KIND_lstm, x->dtype, &x->shape, hidden, both ? 2 : 1,
                          ft__in(n, 3) != NULL);
    ft__op_set1(&op, FT_K_weights,
                n->in[1]->dtype == x->dtype ? FT_DTYPE_NONE : n->in[1]->dtype);
    ft__emit(n, &op,
             &(ft__onnx_call){
                 .in = &x,
                 .n_in = 1,
                 .params = params,
                 .n_params = ft__in(n, 3) ? 3 : 2,
                 .out = (ft__onnx_value *[]){n->out[0], ft__out(n, 1), ft__out(n, 2)},
                 .n_out = 3});
}

/* Rows of a quantised table, real when they are read. */
void ft__rule_ms_gather_quantised(ft__onnx_node *n)
{
    ft__onnx_value *data = n->in[0], *index = n->in[1];
    uint32_t axis = ft__axis(n, ft__attr_int(n, "gather_axis", 0), data->shape.rank);
    bool halves = data->dtype == FT_DTYPE_uint8 && ft__attr_int(n, "bits", 4) == 4;
    ft_shape s = {0};

    if (ft__failed(n))
        return;
    for (uint32_t i = 0; i < data->shape.rank; i++) {
        for (uint32_t d = 0; i == axis && d < index->shape.rank; d++)
            ft__push(n, &s, index->shape.dim[d]);
        if (i != axis)
            ft__push(n, &s,
                     data->shape.dim[i] *
                         (halves && i + 1 == data->shape.rank ? 2 : 1));
    }
    if (ft__failed(n))
        return;
    if (axis == 0 && data->shape.rank == 2 && ft__is_constant(data))
        ft__make_embedding(
            n, index,
            &(ft__embedding_rows){.table = data,
                                  .rows = data->shape.dim[0],
                                  .dim = s.dim[s.rank - 1],
                                  .dtype = n->in[2]->dtype,
                                  .weights = halves ? FT_DTYPE_uint4 : data->dtype},
            n->out[0]);
    else
        ft__emit_generic(n, n->out[0], n->in[2]->dtype, &s);
}
