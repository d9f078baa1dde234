/* A layer between dequantised operands and a quantised result is the layer on
 * integers that its author wrote so: DequantizeLinear and QuantizeLinear around it
 * fall away. ONNX Runtime runs it so, too. */
#include "import/onnx/onnx.h"

/* Operands from `first` to `last` are data; product: weights may be of another
 * type, and the result real. */
struct quantised_layer {
    ft__rule_fn run;
    uint32_t first, last;
    bool product;
};

static const struct quantised_layer *layer_of(const ft__onnx_node *n)
{
    static const struct quantised_layer layers[] = {
        {ft__rule_conv, 0, 2, true},
        {ft__rule_matmul, 0, 2, true},
        {ft__rule_gemm, 0, 2, true},
        {ft__rule_binary, 0, 1, false},
        {ft__rule_concat, 0, UINT32_MAX, false},
        {ft__rule_where, 1, 2, false},
        {ft__rule_unary, 0, 0, false},
        {ft__rule_softmax, 0, 0, false},
        {ft__rule_pool, 0, 0, false},
        {ft__rule_global_pool, 0, 0, false},
        {ft__rule_reduce, 0, 0, false},
        {ft__rule_reshape, 0, 0, false},
        {ft__rule_flatten, 0, 0, false},
        {ft__rule_squeeze, 0, 0, false},
        {ft__rule_unsqueeze, 0, 0, false},
        {ft__rule_transpose, 0, 0, false},
        {ft__rule_slice, 0, 0, false},
        {ft__rule_pad, 0, 0, false},
        {ft__rule_expand, 0, 0, false},
        {ft__rule_resize, 0, 0, false},
        {ft__rule_gather, 0, 0, false},
        {ft__rule_depth_to_space, 0, 0, false},
    };

    if (!n->rule || (n->rule->run == ft__rule_binary && n->rule->arg != FT_KIND_add &&
                     n->rule->arg != FT_KIND_mul))
        return NULL;
    if (n->rule->run == ft__rule_unary && n->rule->arg != FT_KIND_relu &&
        n->rule->arg != FT_KIND_sigmoid && n->rule->arg != FT_KIND_leaky_relu)
        return NULL;
    for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++)
        if (n->rule->run == layers[i].run)
            return &layers[i];
    return NULL;
}

static bool converts(const ft__onnx_node *n, int back)
{
    return n && !n->done && n->rule && n->rule->run == ft__rule_quantize &&
           n->rule->arg == back && n->n_in >= 2 && n->in[0] && ft__out(n, 0);
}

static bool is_byte(ft_dtype t)
{
    return t == FT_DTYPE_int8 || t == FT_DTYPE_uint8;
}

/* The bytes behind an operand: what is dequantised to it; NULL: it is real. */
static ft__onnx_value *bytes_of(ft__onnx_value *v)
{
    const ft__onnx_node *n = v ? v->producer : NULL;

    if (ft__is_constant(v))
        return v->stored;
    if (!converts(n, 1) || n->out[0] != v || !ft__is_constant(n->in[1]))
        return NULL;
    if (n->n_in > 2 && n->in[2] && !is_byte(n->in[2]->dtype))
        return NULL;
    return n->in[0];
}

/* The type that a node of either kind converts to, or from. */
static ft_dtype type_of(const ft__onnx_node *n)
{
    return n->n_in > 2 && n->in[2] ? n->in[2]->dtype : FT_DTYPE_uint8;
}

/* The node that quantises v, which nothing else reads. */
static ft__onnx_node *quantiser(const ft__onnx_value *v)
{
    ft__onnx_node *n = v && v->uses == 1 ? v->reader : NULL;

    if (!converts(n, 0) || n->in[0] != v || !ft__is_constant(n->in[1]))
        return NULL;
    return n->n_in < 3 || !n->in[2] || is_byte(n->in[2]->dtype) ? n : NULL;
}

/* An activation between a product and its quantiser that the limits of bytes do. */
static ft__onnx_node *clipped(const ft__onnx_value *v)
{
    ft__onnx_node *n = v && v->uses == 1 ? v->reader : NULL;

    if (!n || n->done || !n->rule || n->rule->run != ft__rule_unary || n->in[0] != v ||
        n->n_out != 1)
        return NULL;
    return n->rule->arg == FT_KIND_relu || n->rule->arg == FT_KIND_clip ? n : NULL;
}

/* Only products give another type than they take. */
static bool same_type(const ft__onnx_node *n, const struct quantised_layer *l,
                      const ft__onnx_node *q)
{
    for (uint32_t i = l->first; i < n->n_in && i <= l->last; i++)
        if (n->in[i] && !ft__is_constant(n->in[i]) &&
            type_of(n->in[i]->producer) != type_of(q))
            return false;
    return true;
}

static bool operands_are_bytes(const ft__onnx_node *n, const struct quantised_layer *l)
{
    for (uint32_t i = l->first; i < n->n_in && i <= l->last; i++) {
        const ft__onnx_value *v = n->in[i];
        bool bias = l->product && i == 2;

        if (v && !bytes_of(n->in[i]) && !(bias && ft__is_constant(v)))
            return false;
    }
    return n->n_in > l->first;
}

/* Read what is behind an operand; its node falls away with its last reader. */
static void bypass(ft__onnx_node *n, uint32_t i)
{
    ft__onnx_value *v = n->in[i], *bytes = v ? bytes_of(v) : NULL;

    if (!bytes)
        return;
    n->in[i] = bytes;
    bytes->uses++;
    bytes->reader = n;
    if (v->uses && --v->uses == 0 && v->producer)
        v->producer->done = true;
}

static void give(ft__onnx_node *n, ft__onnx_node *q)
{
    q->done = true;
    n->out[0] = q->out[0];
    n->out[0]->producer = n;
    n->to = type_of(q);
}

bool ft__fuse_quantised(ft__onnx_node *n)
{
    const struct quantised_layer *l = layer_of(n);
    ft__onnx_node *q, *limit;
    bool constant = true;

    if (!l || n->done || n->n_out != 1 || !n->out[0] || !operands_are_bytes(n, l))
        return false;
    for (uint32_t i = l->first; i < n->n_in && i <= l->last; i++)
        constant &= !n->in[i] || ft__is_constant(n->in[i]);
    q = quantiser(n->out[0]);
    if (q && !l->product && !same_type(n, l, q))
        return false;
    limit = l->product && !q ? clipped(n->out[0]) : NULL;
    if (limit && (q = quantiser(limit->out[0])) != NULL)
        limit->done = true;
    if (constant || (!q && (!l->product || n->rule->run == ft__rule_conv)))
        return false;
    n->to = FT_DTYPE_NONE;
    if (q)
        give(n, q);
    else
        n->to = FT_DTYPE_fp32;
    for (uint32_t i = l->first; i < n->n_in && i <= l->last; i++)
        bypass(n, i);
    return true;
}
