/* To and from quantised integers. */
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

static bool all_constant(const ft__onnx_node *n)
{
    bool constant = true;

    for (uint32_t i = 0; i < n->n_in; i++)
        constant &= !n->in[i] || ft__is_constant(n->in[i]);
    return constant;
}

/* arg: 0 quantise, 1 the way back. The type of the result is an attribute's, the
 * zero point's, or uint8; on the way back an attribute's or the scale's. A
 * quantised weight stays a weight. */
void ft__rule_quantize(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    const ft__onnx_value *type = n->rule->arg ? n->in[1] : ft__in(n, 2);
    ft_dtype t = ft_dtype_from_onnx(ft__attr_int(n, "output_dtype", 0));
    ft_op op = ft__op_x(n->rule->arg ? FT_KIND_dequantize : FT_KIND_quantize, x);

    if (t == FT_DTYPE_NONE)
        t = type ? type->dtype : FT_DTYPE_uint8;
    if (all_constant(n)) {
        ft__define_constant(n, n->out[0], t, &x->shape);
        n->out[0]->stored = n->rule->arg ? x : NULL;
        return;
    }
    ft__op_set1(&op, FT_K_to, t);
    ft__emit_params(n, &op, &x->shape);
}

/* Scale and zero point from the least and the largest element. */
void ft__rule_dynamic_quantize(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *least, *most, *scale, *zero = ft__out(n, 2);
    uint32_t all = (1u << x->shape.rank) - 1;
    ft_op op;

    least = ft__reduce(n, FT_KIND_reduce_min, x, all, false, NULL);
    most = ft__reduce(n, FT_KIND_reduce_max, x, all, false, NULL);
    scale = ft__apply2(n, FT_KIND_sub, most, least, ft__out(n, 1));
    zero = zero ? zero : ft__onnx_temp(n, x);
    if (!scale || !zero)
        return;
    op = ft__op_x(FT_KIND_quantize, least);
    ft__op_set1(&op, FT_K_to, FT_DTYPE_uint8);
    ft__make_of(n, &op, FT__VALUES(least, scale), &least->shape, zero);
    op = ft__op_x(FT_KIND_quantize, x);
    ft__op_set1(&op, FT_K_to, FT_DTYPE_uint8);
    ft__make_of(n, &op, FT__VALUES(x, scale, zero), &x->shape, n->out[0]);
}
