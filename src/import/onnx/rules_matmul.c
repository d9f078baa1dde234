/* Matrix products, plain and quantised; to and from quantised integers. */
#include "graph/op_inside.h"
#include "import/onnx/compose.h"
#include "import/rules/einsum.h"

/* A matrix product. to: dtype of the result, NONE: that of x; rest: what is read
 * besides (scales, zero points). */
enum { MAX_REST = 10 };
struct matrix_product {
    ft__onnx_value *x, *y, *bias, *out;
    ft_dtype to;
    ft__onnx_value *const *rest;
    uint32_t n_rest;
};

/* The type of a product that was fused with its conversions. */
static ft_dtype product_dtype(const ft__onnx_node *n, const ft__onnx_value *x)
{
    return n->to == x->dtype ? FT_DTYPE_NONE : n->to;
}

/* x times constant weights of `columns` columns. */
static void linear(const ft__onnx_node *n, const struct matrix_product *p,
                   int64_t columns)
{
    ft__onnx_value *rest[MAX_REST];
    ft_op op = ft__op_x(FT_KIND_linear, p->x);
    ft_shape s = p->x->shape;
    uint32_t n_rest = 0;

    rest[n_rest++] = p->y;
    rest[n_rest++] = p->bias;
    for (uint32_t i = 0; i < p->n_rest && n_rest < MAX_REST; i++)
        rest[n_rest++] = p->rest[i];
    s.dim[s.rank - 1] = columns;
    ft__op_set1(&op, FT_K_out, columns);
    ft__op_set1(&op, FT_K_bias, p->bias != NULL);
    ft__op_set1(&op, FT_K_to, p->to);
    ft__op_set1(&op, FT_K_weights, ft__weights_dtype(p->x, p->y));
    ft__emit_layer(n, &op,
                   &(ft__onnx_call){.in = &p->x,
                                    .n_in = 1,
                                    .params = rest,
                                    .n_params = n_rest,
                                    .out = &p->out,
                                    .n_out = 1,
                                    .shape = &s});
}

static ft__onnx_value *as_matrix(const ft__onnx_node *n, ft__onnx_value *v, bool column)
{
    ft__onnx_value *m = ft__onnx_temp(n, v);
    ft_shape s = {.rank = 2, .dim = {1, 1}};

    s.dim[column ? 0 : 1] = v->shape.dim[0];
    if (n)
        ft__emit_view(n, v, m, &s);
    return m;
}

static void matmul(const ft__onnx_node *n, const struct matrix_product *p)
{
    bool row = p->x->shape.rank == 1, column = p->y->shape.rank == 1;
    ft__onnx_value *x = row ? as_matrix(n, p->x, false) : p->x,
                   *y = column ? as_matrix(n, p->y, true) : p->y;
    ft__onnx_call c = {
        .in = (ft__onnx_value *[]){x, y}, .n_in = 2, .out = &p->out, .n_out = 1};
    ft_shape s, t = {0};
    ft_dtype dtype;
    ft_op op;

    if (!x || !y || ft__failed(n))
        return;
    op = ft__op_xy(FT_KIND_matmul, x, y);
    ft__op_set1(&op, FT_K_to, p->to);
    ft_op_output(&op, 0, &s, &dtype);
    for (uint32_t i = 0; i < s.rank; i++)
        if (!(row && i + 2 == s.rank) && !(column && i + 1 == s.rank))
            t.dim[t.rank++] = s.dim[i];
    c.shape = &t;
    c.params = p->rest;
    c.n_params = p->n_rest;
    if (p->n_rest)
        ft__emit_layer(n, &op, &c);
    else
        ft__emit(n, &op, &c);
}

static bool inner_sizes_fit(const ft__onnx_node *n, const ft__onnx_value *x,
                            const ft__onnx_value *y)
{
    const ft_shape *a = &x->shape, *b = &y->shape;

    if (!a->rank || !b->rank)
        ft__onnx_fail(n, "an operand of a matrix product is a scalar");
    else if (a->dim[a->rank - 1] != b->dim[b->rank > 1 ? b->rank - 2 : 0])
        ft__onnx_fail(n, "the inner sizes %lld and %lld differ",
                      (long long)a->dim[a->rank - 1],
                      (long long)b->dim[b->rank > 1 ? b->rank - 2 : 0]);
    return !ft__failed(n);
}

static void emit_product(const ft__onnx_node *n, const struct matrix_product *p)
{
    if (!inner_sizes_fit(n, p->x, p->y))
        return;
    if (ft__is_constant(p->y) && p->y->shape.rank == 2)
        linear(n, p, p->y->shape.dim[1]);
    else
        matmul(n, p);
}

/* A third operand is the bias that fuse.c found behind it. */
static void rule_matmul(ft__onnx_node *n)
{
    emit_product(n, &(struct matrix_product){.x = n->in[0],
                                             .y = n->in[1],
                                             .bias = ft__in(n, 2),
                                             .to = product_dtype(n, n->in[0]),
                                             .out = n->out[0]});
}

/* Integers into int32, zero points behind. */
static void rule_matmul_integer(ft__onnx_node *n)
{
    emit_product(n, &(struct matrix_product){.x = n->in[0],
                                             .y = n->in[1],
                                             .to = FT_DTYPE_int32,
                                             .rest = n->in + 2,
                                             .n_rest = n->n_in - 2,
                                             .out = n->out[0]});
}

/* a, its scale and zero point, b and its, those of the result. */
static void rule_qlinear_matmul(ft__onnx_node *n)
{
    ft__onnx_value *rest[] = {n->in[1], n->in[2], n->in[4],
                              n->in[5], n->in[6], n->in[7]};
    ft_dtype to = n->in[7]->dtype;

    emit_product(
        n, &(struct matrix_product){.x = n->in[0],
                                    .y = n->in[3],
                                    .to = to == n->in[0]->dtype ? FT_DTYPE_NONE : to,
                                    .rest = rest,
                                    .n_rest = sizeof(rest) / sizeof(*rest),
                                    .out = n->out[0]});
}

static ft__onnx_value *transposed(const ft__onnx_node *n, ft__onnx_value *x)
{
    ft__onnx_value *t = ft__onnx_temp(n, x);
    ft_op op = ft__op_x(FT_KIND_transpose, x);

    ft__op_set(&op, FT_K_perm, (int64_t[]){1, 0}, 2);
    if (t && ft__is_constant(ft__make_of(n, &op, FT__VALUES(x), NULL, t))) {
        t->root = x->root ? x->root : x;
        t->stored = x->stored;
    }
    return t;
}

static void rule_gemm(ft__onnx_node *n)
{
    ft__onnx_value *a = n->in[0], *b = n->in[1], *c = ft__in(n, 2), *bias = NULL;
    bool trans_b = ft__attr_int(n, "transB", 0);
    bool constant = ft__is_constant(b);
    struct matrix_product p = {.y = b};
    int64_t columns;

    if (a->shape.rank != 2 || b->shape.rank != 2) {
        ft__onnx_fail(n, "its operands must have 2 dimensions");
        return;
    }
    columns = b->shape.dim[!trans_b];
    if (ft__attr_int(n, "transA", 0))
        a = transposed(n, a);
    if (trans_b && !constant)
        p.y = transposed(n, b);
    if (!a || !p.y || ft__failed(n))
        return;
    if (a->shape.dim[1] != p.y->shape.dim[constant && trans_b ? 1 : 0]) {
        ft__onnx_fail(n, "the inner sizes differ");
        return;
    }
    if (constant && ft__is_constant(c) && ft_shape_elements(&c->shape) == columns)
        bias = c;
    p.x = a;
    p.to = product_dtype(n, a);
    p.bias = bias;
    p.out = c && !bias ? ft__onnx_temp(n, n->out[0]) : n->out[0];
    if (!p.out)
        return;
    if (constant)
        linear(n, &p, columns);
    else
        matmul(n, &p);
    if (c && !bias)
        ft__apply(n, FT_KIND_add, FT__VALUES(p.out, c), n->out[0]);
}

static void *einsum_view(void *node, void *x, const ft_shape *s, void *out)
{
    return ft__make_view(node, x, s, out ? out : ft__onnx_temp(node, x));
}

static void *einsum_transpose(void *node, void *x, const int64_t *perm,
                              const ft_shape *s, void *out)
{
    (void)s;
    return ft__make_transpose(node, x, perm, out ? out : ft__onnx_temp(node, x));
}

static void *einsum_part(void *node, void *x, const ft_shape *s)
{
    bool view =
        ft_shape_elements(s) == ft_shape_elements(&((ft__onnx_value *)x)->shape);

    return view ? einsum_view(node, x, s, NULL)
                : ft__make_move(node, FT_KIND_slice, x, s, ft__onnx_temp(node, x));
}

static void *einsum_sum(void *node, void *x, uint32_t axes)
{
    return ft__reduce(node, FT_KIND_reduce_sum, x, axes, false, NULL);
}

static void *einsum_product(void *node, void *left, void *right,
                            const ft__einsum_sizes *z, const ft_shape *s, void *out)
{
    ft__onnx_value *x = left, *y = right;
    bool linear = ft__is_constant(y) && !z->batched;
    ft_op op;

    if (z->elementwise)
        return ft__apply(node, FT_KIND_mul, FT__VALUES(x, y), out);
    ft__op_init(&op, linear ? FT_KIND_linear : FT_KIND_matmul, x->dtype);
    if (z->batched)
        ft__op_set_shape(&op, FT_K_x, FT__SHAPE(z->batch, z->rows, z->inner));
    else
        ft__op_set_shape(&op, FT_K_x, FT__SHAPE(z->rows, z->inner));
    if (z->batched)
        ft__op_set_shape(&op, FT_K_y, FT__SHAPE(z->batch, z->inner, z->columns));
    else if (linear)
        ft__op_set1(&op, FT_K_out, z->columns);
    else
        ft__op_set_shape(&op, FT_K_y, FT__SHAPE(z->inner, z->columns));
    return ft__make(node, &op, (ft__onnx_value *[]){x, y}, linear ? 1 : 2, &y, linear,
                    s, out);
}

/* As many dimensions as these engines' products can have; else only counted. */
static void rule_einsum(ft__onnx_node *n)
{
    const ft__einsum_ops ops = {.node = n,
                                .view = einsum_view,
                                .transpose = einsum_transpose,
                                .part = einsum_part,
                                .sum = einsum_sum,
                                .product = einsum_product};
    ft__einsum_operands x = {.n = n->n_in};
    ft__str equation = ft__attr_str(n, "equation");
    bool there = n->n_in <= FT__EINSUM_TERMS;
    ft__einsum_end end = FT__EINSUM_MISFIT;
    ft_shape result;

    for (uint32_t i = 0; i < n->n_in && there; i++) {
        there = n->in[i] != NULL;
        x.in[i] = n->in[i];
        x.shape[i] = there ? &n->in[i]->shape : NULL;
    }
    if (there)
        end = ft__einsum(equation.s, equation.n, &ops, &x, n->out[0], &result);
    if (end == FT__EINSUM_MISFIT)
        ft__onnx_fail(n, "its equation does not fit its operands");
    else if (end == FT__EINSUM_TOO_LARGE)
        ft__onnx_fail(n, "its result is too large");
    else if (end == FT__EINSUM_TOO_DEEP && !ft__failed(n))
        ft__emit_generic(n, n->out[0], n->in[0]->dtype, &result);
}

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
static void rule_quantize(ft__onnx_node *n)
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
static void rule_dynamic_quantize(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *least, *most, *scale, *zero = ft__out(n, 2);
    uint32_t all = (1u << x->shape.rank) - 1;
    ft_op op;

    least = ft__reduce(n, FT_KIND_reduce_min, x, all, false, NULL);
    most = ft__reduce(n, FT_KIND_reduce_max, x, all, false, NULL);
    scale = ft__apply(n, FT_KIND_sub, FT__VALUES(most, least), ft__out(n, 1));
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

/* Another type, by attribute `to`, or int8. arg: the kind. */
static void rule_ms_with_order(ft__onnx_node *n)
{
    ft_dtype to = ft_dtype_from_onnx(ft__attr_int(n, "to", 0));

    if (n->rule->arg == FT_KIND_quantize)
        to = FT_DTYPE_int8;
    if (to)
        ft__make_cast(n, (ft_kind)n->rule->arg, n->in[0], to, n->out[0]);
    else
        ft__emit_unknown(n);
}

static const ft__operator_rule rules[] = {
    {"DequantizeLinear", rule_quantize, 1, 2, 0},
    {"DynamicQuantizeLinear", rule_dynamic_quantize, 0, 1, 0},
    {"Einsum", rule_einsum, 0, 1, FT__LAYER},
    {"Gemm", rule_gemm, 0, 2, FT__LAYER | FT__BYTES_PRODUCT},
    {"MatMul", rule_matmul, 0, 2, FT__LAYER | FT__BYTES_PRODUCT},
    {"MatMulInteger", rule_matmul_integer, 0, 2, 0},
    {"QLinearMatMul", rule_qlinear_matmul, 0, 8, 0},
    {"QuantizeLinear", rule_quantize, 0, 2, 0},
    {"DequantizeLinear", rule_quantize, 1, 2, FT__MICROSOFT},
    {"DequantizeWithOrder", rule_ms_with_order, FT_KIND_dequantize, 2, FT__MICROSOFT},
    {"QuantizeLinear", rule_quantize, 0, 2, FT__MICROSOFT},
    {"QuantizeWithOrder", rule_ms_with_order, FT_KIND_quantize, 2, FT__MICROSOFT},
};

const ft__rule_table ft__rules_matmul = {rules, sizeof(rules) / sizeof(*rules)};
