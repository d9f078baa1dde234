/* Layers that exporters write as chains of nodes, found again: the network's
 * author wrote one GELU, and engines run one. A chain is taken only when nobody
 * else reads what lies inside it. The last node of the chain becomes the whole;
 * constants have been folded before. */
#include <math.h>
#include <string.h>

#include "import/onnx/onnx.h"

/* Layers on bytes.
 * A layer between dequantised operands and a quantised result is the layer on
 * integers that its author wrote so: DequantizeLinear and QuantizeLinear around it
 * fall away. ONNX Runtime runs it so, too. */
/* Operands from `first` to `last` are data; product: weights may be of another
 * type, and the result real. */
struct quantised_layer {
    uint32_t trait, first, last;
    bool product;
};

static const struct quantised_layer *layer_of(const ft__onnx_node *n)
{
    static const struct quantised_layer layers[] = {
        {FT__BYTES_ONE, 0, 0, false},          {FT__BYTES_TWO, 0, 1, false},
        {FT__BYTES_ALL, 0, UINT32_MAX, false}, {FT__BYTES_CHOICE, 1, 2, false},
        {FT__BYTES_PRODUCT, 0, 2, true},       {FT__BYTES_CONV, 0, 2, true},
    };

    for (size_t i = 0; n->rule && i < sizeof(layers) / sizeof(*layers); i++)
        if (n->rule->traits & layers[i].trait)
            return &layers[i];
    return NULL;
}

static bool is(const ft__onnx_node *n, const char *op)
{
    return n && !n->done && n->rule && strcmp(n->rule->op, op) == 0;
}

/* A node between reals and bytes, that quantises or (back) the other way. */
static bool converts(const ft__onnx_node *n, bool back)
{
    return is(n, back ? "DequantizeLinear" : "QuantizeLinear") && n->n_in >= 2 &&
           n->in[0] && ft__out(n, 0);
}

/* The bytes behind an operand: what is dequantised to it; NULL: it is real. */
static ft__onnx_value *bytes_of(ft__onnx_value *v)
{
    const ft__onnx_node *n = v ? v->producer : NULL;

    if (ft__is_constant(v))
        return v->stored;
    if (!converts(n, true) || n->out[0] != v || !ft__is_constant(n->in[1]))
        return NULL;
    if (n->n_in > 2 && n->in[2] && !ft__dtype_is_byte(n->in[2]->dtype))
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

    if (!converts(n, false) || n->in[0] != v || !ft__is_constant(n->in[1]))
        return NULL;
    return n->n_in < 3 || !n->in[2] || ft__dtype_is_byte(n->in[2]->dtype) ? n : NULL;
}

/* An activation between a product and its quantiser that the limits of bytes do. */
static ft__onnx_node *clipped(const ft__onnx_value *v)
{
    ft__onnx_node *n = v && v->uses == 1 ? v->reader : NULL;

    return is(n, "Relu") && n->in[0] == v && n->n_out == 1 ? n : NULL;
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

/* True where the node has become one of integers. */
static bool fuse_quantised(ft__onnx_node *n)
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
    if (constant || (!q && (!l->product || l->trait == FT__BYTES_CONV)))
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

/* Nodes of the chain under examination. */
struct chain {
    const ft__onnx_node *at; /* the node that may end it */
    ft__onnx_node *node[16];
    uint32_t n;
};

/* What a chain can be; its scale and shift may be left out. */
struct fused_layer {
    const char *domain, *op;
};

static const struct fused_layer gelu = {"com.microsoft", "Gelu"};
static const struct fused_layer gelu_tanh = {"com.microsoft", "FastGelu"};
static const struct fused_layer silu = {"", "Swish"};
static const struct fused_layer hardswish = {"", "HardSwish"};
static const struct fused_layer mish = {"", "Mish"};
static const struct fused_layer layernorm = {"", "LayerNormalization"};
static const struct fused_layer rmsnorm = {"", "RMSNormalization"};

static ft__str text(const char *s)
{
    return (ft__str){s, strlen(s)};
}

/* The node of this operator that makes v, for `uses` readers only. */
static ft__onnx_node *made_by(struct chain *c, const ft__onnx_value *v, const char *op,
                              uint32_t uses)
{
    ft__onnx_node *n = v ? v->producer : NULL;

    if (!is(n, op) || v->uses != uses || !n->n_in || !n->in[0] || n->out[0] != v ||
        c->n == sizeof(c->node) / sizeof(*c->node))
        return NULL;
    c->node[c->n++] = n;
    return n;
}

static bool is_about(const ft__onnx_node *n, ft__onnx_value *v, double want)
{
    double x;

    return ft__scalar(n, v, &x) && fabs(x - want) <= 0.01 * fabs(want);
}

/* Of a node with two operands the one that is not v. */
static ft__onnx_value *other(const ft__onnx_node *n, const ft__onnx_value *v)
{
    return n->n_in != 2 ? NULL : n->in[0] == v ? n->in[1] : n->in[0];
}

/* The operand of a commutative node beside a constant of about this value. */
static ft__onnx_value *beside(const ft__onnx_node *n, double constant)
{
    if (!n || n->n_in != 2)
        return NULL;
    return is_about(n, n->in[0], constant)   ? n->in[1]
           : is_about(n, n->in[1], constant) ? n->in[0]
                                             : NULL;
}

/* Its rule, for as few operands as a chain may have; NULL: out of memory. */
static const ft__operator_rule *rule_of(ft__onnx *o, const struct fused_layer *whole)
{
    ft__operator_rule *rule = ft__onnx_alloc(o, 1, sizeof(*rule));

    if (rule) {
        *rule = *ft__onnx_rule(o, text(whole->domain), text(whole->op));
        rule->min_in = 1;
    }
    return rule;
}

/* `last` becomes the whole chain; its nodes fall away. */
static void replace(struct chain *c, ft__onnx_node *last, const ft__operator_rule *rule,
                    ft__onnx_value *const *in, uint32_t n_in)
{
    ft__onnx_value **copy = ft__onnx_alloc(c->at->import, n_in, sizeof(*copy));

    if (!copy || !rule)
        return;
    memcpy(copy, in, n_in * sizeof(*copy));
    for (uint32_t i = 0; i < c->n; i++)
        c->node[i]->done = c->node[i] != last;
    last->rule = rule;
    last->in = copy;
    last->n_in = n_in;
}

static const struct fused_layer *gate(struct chain *c, const ft__onnx_value *x,
                                      const ft__onnx_value *y)
{
    ft__onnx_node *n;

    c->n = 0;
    if ((n = made_by(c, y, "Sigmoid", 1)) != NULL && n->in[0] == x)
        return &silu;
    if ((n = made_by(c, y, "HardSigmoid", 1)) != NULL && n->in[0] == x)
        return &hardswish;
    if ((n = made_by(c, y, "Tanh", 1)) != NULL &&
        (n = made_by(c, n->in[0], "Softplus", 1)) != NULL && n->in[0] == x)
        return &mish;
    return NULL;
}

static bool fuse_gate(struct chain *c, ft__onnx_node *mul)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct fused_layer *whole = gate(c, mul->in[i], mul->in[1 - i]);

        if (whole) {
            replace(c, mul, rule_of(mul->import, whole), &mul->in[i], 1);
            return true;
        }
    }
    return false;
}

/* gelu: 0.5 x (1 + erf(x / sqrt 2)), the factors in any order. */
static bool is_cube(struct chain *c, const ft__onnx_value *v, const ft__onnx_value *x)
{
    uint32_t before = c->n;
    ft__onnx_node *n = made_by(c, v, "Pow", 1), *square;

    if (n)
        return n->in[0] == x && is_about(c->at, ft__in(n, 1), 3);
    c->n = before;
    n = made_by(c, v, "Mul", 1);
    if (!n || (n->in[0] != x && n->in[1] != x))
        return false;
    square = made_by(c, other(n, x), "Mul", 1);
    return square && square->in[0] == x && square->in[1] == x;
}

/* sqrt(2 / pi) (x + 0.044715 x^3) */
static bool is_tanh_argument(struct chain *c, const ft__onnx_value *v,
                             const ft__onnx_value *x)
{
    ft__onnx_value *sum = beside(made_by(c, v, "Mul", 1), 0.7978845608);
    ft__onnx_node *add = made_by(c, sum, "Add", 1);
    ft__onnx_value *cubic;

    if (!add || (add->in[0] != x && add->in[1] != x))
        return false;
    cubic = beside(made_by(c, other(add, x), "Mul", 1), 0.044715);
    return cubic && is_cube(c, cubic, x);
}

static bool is_erf_argument(struct chain *c, const ft__onnx_value *v,
                            const ft__onnx_value *x)
{
    uint32_t before = c->n;
    ft__onnx_node *n = made_by(c, v, "Div", 1);

    if (n)
        return n->in[0] == x && is_about(c->at, ft__in(n, 1), 1.4142135624);
    c->n = before;
    return beside(made_by(c, v, "Mul", 1), 0.7071067812) == x;
}

/* v = 1 + erf(...) or 1 + tanh(...) of x. */
static const struct fused_layer *bell(struct chain *c, const ft__onnx_value *v,
                                      const ft__onnx_value *x)
{
    ft__onnx_value *inner = beside(made_by(c, v, "Add", 1), 1);
    uint32_t before = c->n;
    ft__onnx_node *n = made_by(c, inner, "Erf", 1);

    if (n)
        return is_erf_argument(c, n->in[0], x) ? &gelu : NULL;
    c->n = before;
    n = made_by(c, inner, "Tanh", 1);
    return n && is_tanh_argument(c, n->in[0], x) ? &gelu_tanh : NULL;
}

/* Three factors: of `mul` and of the product that is its operand i. */
static bool fuse_gelu(struct chain *c, ft__onnx_node *mul, uint32_t i)
{
    ft__onnx_node *inner;
    ft__onnx_value *f[3];

    c->n = 0;
    inner = made_by(c, mul->in[i], "Mul", 1);
    if (!inner || inner->n_in != 2)
        return false;
    f[0] = mul->in[1 - i];
    f[1] = inner->in[0];
    f[2] = inner->in[1];
    for (uint32_t half = 0; half < 3; half++) {
        if (!is_about(c->at, f[half], 0.5))
            continue;
        for (uint32_t k = 1; k < 3; k++) {
            ft__onnx_value *x = f[(half + k) % 3], *v = f[(half + 3 - k) % 3];
            const struct fused_layer *whole;

            c->n = 1;
            whole = bell(c, v, x);
            if (whole) {
                replace(c, mul, rule_of(mul->import, whole), &x, 1);
                return true;
            }
        }
    }
    return false;
}

/* How many trailing axes a ReduceMean takes; 0: other axes. Only axes counted
 * from the end tell without the shape. */
static uint32_t trailing_axes(const ft__onnx_node *n)
{
    int64_t v[FT_MAX_RANK], count;
    uint32_t seen = 0;

    count = ft__in(n, 1) ? ft__ints(n, n->in[1], v, FT_MAX_RANK)
                         : ft__attr_ints(n, "axes", v, FT_MAX_RANK);
    if (count < 1 || count > FT_MAX_RANK || !ft__attr_int(n, "keepdims", 1))
        return 0;
    for (int64_t i = 0; i < count; i++)
        if (v[i] < 0 && v[i] >= -count)
            seen |= 1u << (-v[i] - 1);
    return seen == (1u << count) - 1 ? (uint32_t)count : 0;
}

/* s = sqrt(mean(v^2) + eps); the number of axes, 0: it is not. *reads: how often
 * the square reads v. */
static uint32_t is_deviation(struct chain *c, const ft__onnx_value *s,
                             const ft__onnx_value *v, uint32_t *reads)
{
    ft__onnx_node *n = made_by(c, s, "Sqrt", 1), *mean, *square;
    double eps;

    n = n ? made_by(c, n->in[0], "Add", 1) : NULL;
    if (!n || n->n_in != 2 || !ft__scalar(c->at, n->in[1], &eps) || eps > 0.1)
        return 0;
    mean = made_by(c, n->in[0], "ReduceMean", 1);
    if (!mean)
        return 0;
    square = made_by(c, mean->in[0], "Pow", 1);
    *reads = square ? 1 : 2;
    if (square ? !is_about(c->at, ft__in(square, 1), 2)
               : !(square = made_by(c, mean->in[0], "Mul", 1)) || square->in[1] != v)
        return 0;
    return square->in[0] == v ? trailing_axes(mean) : 0;
}

/* The constant operand of the only reader of v, when that is an `op`. */
static ft__onnx_value *constant_behind(const ft__onnx_value *v, const char *op)
{
    ft__onnx_node *n = v->uses == 1 ? v->reader : NULL;
    ft__onnx_value *w = is(n, op) ? other(n, v) : NULL;

    return ft__is_constant(w) && w->shape.rank > 0 ? w : NULL;
}

/* v / deviation, in node `last`; what follows it may be scale and shift. */
static bool fuse_norm(struct chain *c, ft__onnx_node *last, ft__onnx_value *v,
                      const ft__onnx_value *s)
{
    uint32_t reads, before, axes = is_deviation(c, s, v, &reads), n_in = 1;
    ft__onnx_node *sub, *mean;
    ft__onnx_value *in[3] = {v}, *w;
    bool centred;

    if (!axes)
        return false;
    before = c->n;
    sub = made_by(c, v, "Sub", reads + 1);
    mean = sub ? made_by(c, ft__in(sub, 1), "ReduceMean", 1) : NULL;
    centred = mean && mean->in[0] == sub->in[0] && trailing_axes(mean) == axes;
    if (centred)
        in[0] = sub->in[0];
    else
        c->n = before;
    if (c->n + 2 > sizeof(c->node) / sizeof(*c->node))
        return false;
    c->node[c->n++] = last;
    if ((w = constant_behind(last->out[0], "Mul")) != NULL) {
        in[n_in++] = w;
        c->node[c->n++] = last = last->out[0]->reader;
        if (centred && (w = constant_behind(last->out[0], "Add")) != NULL) {
            in[n_in++] = w;
            last = last->out[0]->reader;
        }
    }
    replace(c, last, rule_of(last->import, centred ? &layernorm : &rmsnorm), in, n_in);
    last->norm = axes;
    return true;
}

/* v * (1 / deviation) */
static bool fuse_norm_by_product(struct chain *c, ft__onnx_node *mul, uint32_t i)
{
    ft__onnx_node *n;

    c->n = 0;
    if ((n = made_by(c, mul->in[i], "Reciprocal", 1)) != NULL)
        return fuse_norm(c, mul, mul->in[1 - i], n->in[0]);
    n = made_by(c, mul->in[i], "Div", 1);
    return n && n->n_in == 2 && is_about(c->at, n->in[0], 1) &&
           fuse_norm(c, mul, mul->in[1 - i], n->in[1]);
}

static bool fuse_bias(struct chain *c, ft__onnx_node *matmul)
{
    ft__onnx_value *w = ft__in(matmul, 1), *bias;
    ft__onnx_node *add;

    c->n = 0;
    if (matmul->n_in != 2 || !ft__is_constant(w) || w->shape.rank != 2)
        return false;
    bias = constant_behind(matmul->out[0], "Add");
    if (!bias || bias->shape.rank != 1 || bias->shape.dim[0] != w->shape.dim[1])
        return false;
    add = matmul->out[0]->reader;
    c->node[c->n++] = matmul;
    replace(c, add, matmul->rule, (ft__onnx_value *[]){matmul->in[0], w, bias}, 3);
    add->name = matmul->name;
    return true;
}

/* The node makes v alone by constant weights, and has no bias yet. */
static bool takes_bias(const ft__onnx_value *v, const ft__onnx_value *bias)
{
    const ft__onnx_node *n = v && v->uses == 1 ? v->producer : NULL;
    const ft__onnx_value *w = is(n, "MatMul") && n->n_in == 2 ? n->in[1] : NULL;

    return ft__is_constant(w) && w->shape.rank == 2 && ft__is_constant(bias) &&
           bias->shape.rank == 1 && bias->shape.dim[0] == w->shape.dim[1];
}

/* Operand `from` of n, a bias, becomes that of the product that makes operand x. */
static bool hand_bias(ft__onnx_node *n, uint32_t x, uint32_t from)
{
    ft__onnx_value *bias = ft__in(n, from), **in;
    ft__onnx_node *product;

    if (!takes_bias(ft__in(n, x), bias) ||
        !(in = ft__onnx_alloc(n->import, 3, sizeof(*in))))
        return false;
    product = n->in[x]->producer;
    memcpy(in, product->in, 2 * sizeof(*in));
    in[2] = bias;
    product->in = in;
    product->n_in = 3;
    n->in[from] = NULL;
    return true;
}

/* Operators that add a bias to what a product gives. */
static void fuse_carried_bias(ft__onnx_node *n)
{
    if (is(n, "BiasGelu") && hand_bias(n, 0, 1))
        n->rule = ft__onnx_rule(n->import, text(gelu.domain), text(gelu.op));
    else if (is(n, "FastGelu"))
        hand_bias(n, 0, 1);
    else if (is(n, "SkipLayerNormalization"))
        (void)(hand_bias(n, 0, 4) || hand_bias(n, 1, 4));
    else if (is(n, "SkipSimplifiedLayerNormalization"))
        (void)(hand_bias(n, 0, 3) || hand_bias(n, 1, 3));
}

void ft__onnx_fuse(ft__onnx *o, ft__body *body)
{
    struct chain c = {.n = 0};

    for (uint32_t i = 0; i < body->n_nodes && !ft__build_failed(o->b); i++) {
        ft__onnx_node *n = &body->node[i];

        c.n = 0;
        c.at = n;
        if (fuse_quantised(n))
            continue;
        if (!n->done && n->n_in > 1 && n->domain.n)
            fuse_carried_bias(n);
        if (n->done || !n->rule || n->n_in != 2 || !n->in[0] || !n->in[1] ||
            n->n_out != 1 || !n->out[0])
            continue;
        if (is(n, "Mul"))
            (void)(fuse_gate(&c, n) || fuse_gelu(&c, n, 0) || fuse_gelu(&c, n, 1) ||
                   fuse_norm_by_product(&c, n, 0) || fuse_norm_by_product(&c, n, 1));
        else if (is(n, "Div"))
            fuse_norm(&c, n, n->in[0], n->in[1]);
        else if (is(n, "MatMul"))
            fuse_bias(&c, n);
    }
}
