/* Layers that exporters write as chains of nodes, found again: the network's
 * author wrote one GELU, and engines run one. A chain is taken only when nobody
 * else reads what lies inside it. The last node of the chain becomes the whole;
 * constants have been folded before. */
#include <math.h>
#include <string.h>

#include "import/onnx/onnx.h"

/* Nodes of the chain under examination. */
struct chain {
    const ft__onnx_node *at; /* the node that may end it */
    ft__onnx_node *node[16];
    uint32_t n;
};

static const ft__operator_rule gelu_rule =
    FT__RULE_OF("Gelu", ft__rule_unary, FT_KIND_gelu, 1);
static const ft__operator_rule gelu_tanh_rule =
    FT__RULE_OF("Gelu", ft__rule_unary, FT_KIND_gelu_tanh, 1);
static const ft__operator_rule silu_rule =
    FT__RULE_OF("Swish", ft__rule_unary, FT_KIND_silu, 1);
static const ft__operator_rule hardswish_rule =
    FT__RULE_OF("HardSwish", ft__rule_unary, FT_KIND_hardswish, 1);
static const ft__operator_rule mish_rule =
    FT__RULE_OF("Mish", ft__rule_unary, FT_KIND_mish, 1);
static const ft__operator_rule layernorm_rule =
    FT__RULE_OF("LayerNormalization", ft__rule_layernorm, FT_KIND_layernorm, 1);
static const ft__operator_rule rmsnorm_rule =
    FT__RULE_OF("RMSNormalization", ft__rule_layernorm, FT_KIND_rmsnorm, 1);

static bool is(const ft__onnx_node *n, const char *op)
{
    return n && !n->done && n->rule && strcmp(n->rule->op, op) == 0;
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

/* `last` becomes the whole chain; its nodes fall away. */
static void replace(struct chain *c, ft__onnx_node *last, const ft__operator_rule *rule,
                    ft__onnx_value *const *in, uint32_t n_in)
{
    ft__onnx_value **copy = ft__onnx_alloc(c->at->import, n_in, sizeof(*copy));

    if (!copy)
        return;
    memcpy(copy, in, n_in * sizeof(*copy));
    for (uint32_t i = 0; i < c->n; i++)
        c->node[i]->done = c->node[i] != last;
    last->rule = rule;
    last->in = copy;
    last->n_in = n_in;
}

/* ---- x * f(x) ---- */

static const ft__operator_rule *gate(struct chain *c, const ft__onnx_value *x,
                                     const ft__onnx_value *y)
{
    ft__onnx_node *n;

    c->n = 0;
    if ((n = made_by(c, y, "Sigmoid", 1)) != NULL && n->in[0] == x)
        return &silu_rule;
    if ((n = made_by(c, y, "HardSigmoid", 1)) != NULL && n->in[0] == x)
        return &hardswish_rule;
    if ((n = made_by(c, y, "Tanh", 1)) != NULL &&
        (n = made_by(c, n->in[0], "Softplus", 1)) != NULL && n->in[0] == x)
        return &mish_rule;
    return NULL;
}

static bool fuse_gate(struct chain *c, ft__onnx_node *mul)
{
    for (uint32_t i = 0; i < 2; i++) {
        const ft__operator_rule *rule = gate(c, mul->in[i], mul->in[1 - i]);

        if (rule) {
            replace(c, mul, rule, &mul->in[i], 1);
            return true;
        }
    }
    return false;
}

/* ---- gelu: 0.5 x (1 + erf(x / sqrt 2)), the factors in any order ---- */

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
static const ft__operator_rule *bell(struct chain *c, const ft__onnx_value *v,
                                     const ft__onnx_value *x)
{
    ft__onnx_value *inner = beside(made_by(c, v, "Add", 1), 1);
    uint32_t before = c->n;
    ft__onnx_node *n = made_by(c, inner, "Erf", 1);

    if (n)
        return is_erf_argument(c, n->in[0], x) ? &gelu_rule : NULL;
    c->n = before;
    n = made_by(c, inner, "Tanh", 1);
    return n && is_tanh_argument(c, n->in[0], x) ? &gelu_tanh_rule : NULL;
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
            const ft__operator_rule *rule;

            c->n = 1;
            rule = bell(c, v, x);
            if (rule) {
                replace(c, mul, rule, &x, 1);
                return true;
            }
        }
    }
    return false;
}

/* ---- layer norms ---- */

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
    replace(c, last, centred ? &layernorm_rule : &rmsnorm_rule, in, n_in);
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

/* ---- matrix product and bias ---- */

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
        n->rule = &gelu_rule;
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
        if (ft__fuse_quantised(n))
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
