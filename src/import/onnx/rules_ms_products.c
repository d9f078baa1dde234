/* com.microsoft: matrix products, of quantised weights and integers, too, with what is
 * fused to them, and mixtures of experts. */
#include <string.h>

#include "graph/op_inside.h"
#include "import/onnx/compose.h"

/* The operand as `rows` x `inner` behind its batch: libraries read a transposed
 * one where it lies. moved: axis 0 comes behind the batch first. */
static ft__onnx_value *make_oriented(const ft__onnx_node *n, ft__onnx_value *x,
                                     bool transposed, bool moved)
{
    ft_shape s = x->shape;
    uint32_t r = s.rank;
    int64_t first;

    if (r < 2 || (!transposed && !moved))
        return x;
    if (moved) {
        first = s.dim[0];
        memmove(s.dim, s.dim + 1, (r - 2) * sizeof(s.dim[0]));
        s.dim[r - 2] = first;
    }
    if (transposed) {
        first = s.dim[r - 2];
        s.dim[r - 2] = s.dim[r - 1];
        s.dim[r - 1] = first;
    }
    return ft__make_view(n, x, &s, NULL);
}

static ft__onnx_value *with_axis(const ft__onnx_node *n, ft__onnx_value *x, bool column)
{
    return x->shape.rank != 1 ? x
                              : ft__make_view(n, x,
                                              column ? FT__SHAPE(x->shape.dim[0], 1)
                                                     : FT__SHAPE(1, x->shape.dim[0]),
                                              NULL);
}

/* x times y, as MatMul: operands of one dimension lose it again. */
static ft__onnx_value *make_product(const ft__onnx_node *n, ft__onnx_value *x,
                                    ft__onnx_value *y, ft_dtype to,
                                    ft__onnx_value *bias, ft__onnx_value *out)
{
    bool row = x && x->shape.rank == 1, column = y && y->shape.rank == 1, bare;
    ft__onnx_value *left, *right, *p;
    ft_shape s = {0};

    if (!x || !y || !x->shape.rank || !y->shape.rank) {
        ft__misfit(n, 0);
        return NULL;
    }
    left = with_axis(n, x, false);
    right = with_axis(n, y, true);
    if (!left || !right)
        return NULL;
    if (left->shape.dim[left->shape.rank - 1] !=
        right->shape.dim[right->shape.rank - 2]) {
        ft__onnx_fail(n, "the inner sizes differ");
        return NULL;
    }
    bare = !row && !column;
    if (ft__is_constant(right) && right->shape.rank == 2 &&
        (!bias || ft__is_constant(bias))) {
        ft__linear l = {
            .weight = right, .bias = bias, .columns = right->shape.dim[1], .to = to};

        p = ft__make_linear(n, left, &l, bare ? out : NULL);
        bias = NULL;
    } else {
        p = ft__make_matmul(n, left, right, to, bare && !bias ? out : NULL);
    }
    for (uint32_t i = 0; p && i < p->shape.rank; i++)
        if (!(row && i + 2 == p->shape.rank) && !(column && i + 1 == p->shape.rank))
            s.dim[s.rank++] = p->shape.dim[i];
    if (p && !bare)
        p = ft__make_view(n, p, &s, bias ? NULL : out);
    return bias ? ft__make_sum(n, p, bias, out) : p;
}

/* arg: 1 with an activation. */
static void rule_matmul(ft__onnx_node *n)
{
    ft__onnx_value *x = make_oriented(n, n->in[0], ft__attr_int(n, "transA", 0) != 0,
                                      ft__attr_int(n, "transBatchA", 0) != 0);
    ft__onnx_value *y = make_oriented(n, n->in[1], ft__attr_int(n, "transB", 0) != 0,
                                      ft__attr_int(n, "transBatchB", 0) != 0);
    ft_kind kind;
    bool more = n->rule->arg && ft__activates(n, "activation", &kind);

    if (!x || !y)
        return;
    x = make_product(n, x, y, FT_DTYPE_NONE, NULL, more ? NULL : n->out[0]);
    if (more)
        ft__activate(n, kind, x, n->out[0]);
}

/* a b + c, then an activation. arg: 0 attribute `activation`, 1 gelu. */
static void rule_gemm(ft__onnx_node *n)
{
    ft__onnx_value *a =
        make_oriented(n, n->in[0], ft__attr_int(n, "transA", 0) != 0, false);
    ft__onnx_value *b =
        make_oriented(n, n->in[1], ft__attr_int(n, "transB", 0) != 0, false);
    ft__onnx_value *c = ft__in(n, 2);
    ft_dtype to = ft_dtype_from_onnx(ft__attr_int(n, "dtype", 0));
    ft_kind kind = FT_KIND_gelu_tanh;
    bool more = n->rule->arg || ft__activates(n, "activation", &kind), bias;

    if (!a || !b)
        return;
    bias = ft__is_constant(c) && ft__is_constant(b) && b->shape.rank == 2 &&
           ft_shape_elements(&c->shape) == b->shape.dim[1];
    a = make_product(n, a, b, to, bias ? c : NULL,
                     more || (c && !bias) ? NULL : n->out[0]);
    if (c && !bias)
        a = ft__make_sum(n, a, c, more ? NULL : n->out[0]);
    if (more)
        ft__activate(n, kind, a, n->out[0]);
}

/* A quantised weight of n rows and k columns, in blocks. */
static ft__linear packed(const ft__onnx_node *n, ft__onnx_value *weight,
                         ft__onnx_value *scales, const char *columns)
{
    int64_t bits = ft__attr_int(n, "bits", 4);

    return (ft__linear){.weight = weight,
                        .scales = {scales},
                        .columns = ft__attr_size(n, columns, 0),
                        .block = ft__attr_size(n, "block_size", 32),
                        .weights = bits > 4 ? FT_DTYPE_uint8 : FT_DTYPE_uint4};
}

static bool inner_is(const ft__onnx_node *n, const ft__onnx_value *x, int64_t k)
{
    if (x->shape.rank && x->shape.dim[x->shape.rank - 1] == k)
        return true;
    return ft__onnx_fail(n, "its first operand does not end in K = %lld", (long long)k);
}

static void rule_matmul_nbits(ft__onnx_node *n)
{
    ft__linear l = packed(n, n->in[1], n->in[2], "N");

    if (!inner_is(n, n->in[0], ft__attr_size(n, "K", 0)))
        return;
    l.scales[1] = ft__in(n, 3);
    l.scales[2] = ft__in(n, 4);
    l.bias = ft__in(n, 5);
    ft__make_linear(n, n->in[0], &l, n->out[0]);
}

/* transB 0: the product with the transposed weight, as its gradient needs it. */
static void rule_matmul_bnb4(ft__onnx_node *n)
{
    bool forward = ft__attr_int(n, "transB", 1);
    ft__linear l = packed(n, n->in[1], n->in[2], forward ? "N" : "K");

    l.weights = FT_DTYPE_fp4;
    if (inner_is(n, n->in[0], ft__attr_size(n, forward ? "K" : "N", 0)))
        ft__make_linear(n, n->in[0], &l, n->out[0]);
}

/* The weight is a blob; an operand says what it is: K, N. */
static void rule_matmul_fpq4(ft__onnx_node *n)
{
    int64_t k[2];
    ft__linear l = {.weight = n->in[1], .block = 32, .weights = FT_DTYPE_int4};

    if (ft__ints(n, n->in[2], k, 2) != 2 || k[1] < 1) {
        ft__emit_unknown(n);
        return;
    }
    l.columns = k[1];
    if (inner_is(n, n->in[0], k[0]))
        ft__make_linear(n, n->in[0], &l, n->out[0]);
}

/* x + skip, normalised: what blocks of a language model begin with. */
static ft__onnx_value *normalised(const ft__onnx_node *n, uint32_t sum_out)
{
    ft__onnx_value *x = n->in[0], *skip = ft__in(n, 1), *norm = ft__in(n, 2);

    if (skip)
        x = ft__apply(n, FT_KIND_add, FT__VALUES(x, skip), ft__out(n, sum_out));
    return norm ? ft__make_norm(n, FT_KIND_rmsnorm, x, FT_K_norm, 1, &norm, 1, NULL)
                : x;
}

/* Three products of one operand. */
static void rule_nbits_qkv(ft__onnx_node *n)
{
    ft__onnx_value *x = normalised(n, 3);

    for (uint32_t i = 0; i < 3 && i < n->n_out; i++) {
        ft__linear l =
            packed(n, ft__in(n, 3 + 3 * i), ft__in(n, 4 + 3 * i), i ? "Nkv" : "Nq");

        l.bias = ft__in(n, 5 + 3 * i);
        if (n->out[i])
            ft__make_linear(n, x, &l, n->out[i]);
    }
}

/* activation(gate) times up */
static void rule_nbits_mlp(ft__onnx_node *n)
{
    ft__onnx_value *x = normalised(n, 1), *side[2];
    ft_kind kind;

    for (uint32_t i = 0; i < 2; i++) {
        ft__linear l = packed(n, ft__in(n, 3 + 3 * i), ft__in(n, 4 + 3 * i), "N");

        l.bias = ft__in(n, 5 + 3 * i);
        side[i] = ft__make_linear(n, x, &l, NULL);
    }
    if (ft__activates(n, "activation", &kind))
        side[0] = ft__activate(n, kind, side[0], NULL);
    ft__apply(n, FT_KIND_mul, FT__VALUES(side[0], side[1]), n->out[0]);
}

/* Distances of all rows of one matrix from all of another: a product. */
static void rule_cdist(ft__onnx_node *n)
{

    if (ft__has_rank(n, 0, 2) && ft__has_rank(n, 1, 2))
        make_product(n, n->in[0], make_oriented(n, n->in[1], true, false),
                     FT_DTYPE_NONE, NULL, n->out[0]);
}

/* arg: 0 quantised here, 1 bytes already. */
static void rule_qmatmul(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    ft_dtype to = n->in[2]->dtype;

    if (!n->rule->arg)
        x = ft__make_cast(n, FT_KIND_quantize, x, FT_DTYPE_uint8, NULL);
    make_product(n, x, n->in[1], to, ft__in(n, n->rule->arg ? 6 : 4), n->out[0]);
}

static void rule_matmul_int16(ft__onnx_node *n)
{
    ft_dtype to = n->in[0]->dtype == FT_DTYPE_uint16 ? FT_DTYPE_uint32 : FT_DTYPE_int32;

    make_product(n, n->in[0], n->in[1], to, NULL, n->out[0]);
}

/* Without a zero point of the result it is real. */
static void rule_qgemm(ft__onnx_node *n)
{
    ft__onnx_value *b = n->in[3], *c = ft__in(n, 6);
    ft__onnx_value *a = make_oriented(n, n->in[0], ft__attr_int(n, "transA", 0), false);
    ft__linear l = {.weight = b,
                    .bias = c,
                    .columns = b->shape.dim[0],
                    .to = (ft__in(n, 8) ? n->in[8] : n->in[1])->dtype};
    bool back = ft__attr_int(n, "transB", 0);

    if (!ft__has_rank(n, 0, 2) || !ft__has_rank(n, 3, 2) || !a)
        return;
    if (back && ft__is_constant(b) && (!c || ft__is_constant(c)) &&
        a->shape.dim[1] == b->shape.dim[1])
        ft__make_linear(n, a, &l, n->out[0]);
    else
        make_product(n, a, make_oriented(n, b, back, false), l.to, c, n->out[0]);
}

/* For one device's order of bytes: A, scale, B, scale, y's scale, bias, C. */
static void rule_qordered_matmul(ft__onnx_node *n)
{
    ft__onnx_value *c = ft__in(n, 6), *p;

    p = make_product(n, n->in[0], n->in[2], FT_DTYPE_NONE, ft__in(n, 5),
                     c ? NULL : n->out[0]);
    if (c)
        ft__make_sum(n, p, c, n->out[0]);
}

struct experts {
    int64_t active;    /* that any row is routed to */
    int64_t rows;      /* of each of them */
    ft__onnx_value *x; /* active x rows x hidden */
};

/* A layer of every active expert: a batched product. per_byte: weights in a byte
 * of the tensor. */
static ft__onnx_value *layer_of_experts(const ft__onnx_node *n, const struct experts *e,
                                        ft__onnx_value *x, ft__onnx_value *w,
                                        ft_dtype weights)
{
    ft_shape y = {.rank = 3};
    ft_op op;

    if (!x || !w || w->shape.rank != 3) {
        ft__onnx_fail(n, "its weights do not have 3 dimensions");
        return NULL;
    }
    y.dim[0] = e->active;
    y.dim[1] = x->shape.dim[2];
    y.dim[2] = w->shape.dim[1];
    if (!ft__shape_fits(&y)) {
        ft__misfit(n, 2);
        return NULL;
    }
    op = ft__op_x(FT_KIND_matmul, x);
    ft__op_set_shape(&op, FT_K_y, &y);
    ft__op_set1(&op, FT_K_weights, weights == x->dtype ? FT_DTYPE_NONE : weights);
    return ft__make_of(n, &op, FT__VALUES(x, w), NULL, NULL);
}

/* Every row goes to the k best experts of its router's probabilities. */
static bool route(const ft__onnx_node *n, struct experts *e)
{
    const ft_shape *p = &n->in[1]->shape, *x = &n->in[0]->shape;
    int64_t k = ft__attr_size(n, "k", 1), rows, hidden;
    ft__onnx_value *best;
    ft_op op;

    if (!ft__has_rank(n, 1, 2) || x->rank < 2 || p->dim[1] < 1 || k > p->dim[1]) {
        ft__misfit(n, 1);
        return false;
    }
    hidden = x->dim[x->rank - 1];
    rows = p->dim[0];
    best = ft__make_softmax(n, n->in[1], 1, NULL);
    if (!best)
        return false;
    op = ft__op_x(FT_KIND_topk, best);
    ft__op_set1(&op, FT_K_axis, 1);
    ft__op_set1(&op, FT_K_size, k);
    if (!ft__make_of(n, &op, FT__VALUES(best), NULL, NULL))
        return false;
    e->active = rows * k < p->dim[1] ? rows * k : p->dim[1];
    e->rows = e->active ? (rows * k + e->active - 1) / e->active : 0;
    e->x = ft__make_view(n, n->in[0], FT__SHAPE(rows, hidden), NULL);
    e->x = ft__make_move(n, FT_KIND_expand, e->x, FT__SHAPE(e->active, e->rows, hidden),
                         NULL);
    return e->x != NULL;
}

static ft_dtype expert_dtype(const ft__onnx_node *n, const ft__onnx_value *w)
{
    if (n->rule->arg == 0)
        return w->dtype;
    return ft__attr_int(n, "expert_weight_bits", 4) > 4 ? FT_DTYPE_uint8
                                                        : FT_DTYPE_uint4;
}

/* arg: 0, or 1 with quantised weights and scales between the operands. */
static void rule_moe(ft__onnx_node *n)
{
    uint32_t step = n->rule->arg ? 3 : 2;
    ft__onnx_value *first = n->in[2], *second = ft__in(n, 2 + step),
                   *third = ft__in(n, 2 + 2 * step);
    ft__str act = ft__attr_str(n, "activation_type");
    struct experts e = {0};
    ft__onnx_value *h, *gate;
    ft_kind kind;

    if (!second || !route(n, &e))
        return;
    h = layer_of_experts(n, &e, e.x, first, expert_dtype(n, first));
    if (h && ft__str_is(act, "swiglu") && ft__attr_int(n, "swiglu_fusion", 0)) {
        ft_shape half = h->shape;

        half.dim[2] /= 2;
        gate = ft__apply(n, FT_KIND_silu, FT__VALUES(ft__make_view(n, h, &half, NULL)),
                         NULL);
        h = ft__apply(n, FT_KIND_mul,
                      FT__VALUES(gate, ft__make_view(n, h, &half, NULL)), NULL);
    } else {
        if (!ft__activates(n, "activation_type", &kind) && !act.n)
            kind = FT_KIND_relu;
        h = kind == FT_KIND_copy ? h : ft__activate(n, kind, h, NULL);
        if (third)
            h = ft__apply(n, FT_KIND_mul,
                          FT__VALUES(h, layer_of_experts(n, &e, e.x, third,
                                                         expert_dtype(n, third))),
                          NULL);
    }
    h = layer_of_experts(n, &e, h, second, expert_dtype(n, second));
    if (h)
        ft__make_move(n, FT_KIND_slice, h, &n->in[0]->shape, n->out[0]);
}

static const ft__operator_rule rules[] = {
    {"CDist", rule_cdist, 0, 2, FT__MICROSOFT},
    {"DynamicQuantizeMatMul", rule_qmatmul, 0, 3, FT__MICROSOFT},
    {"FusedGemm", rule_gemm, 0, 2, FT__MICROSOFT},
    {"FusedMatMul", rule_matmul, 0, 2, FT__MICROSOFT},
    {"FusedMatMulActivation", rule_matmul, 1, 2, FT__MICROSOFT},
    {"GemmFastGelu", rule_gemm, 1, 2, FT__MICROSOFT},
    {"GemmFloat8", rule_gemm, 0, 2, FT__MICROSOFT},
    {"MatMulBnb4", rule_matmul_bnb4, 0, 3, FT__MICROSOFT},
    {"MatMulFpQ4", rule_matmul_fpq4, 0, 3, FT__MICROSOFT},
    {"MatMulInteger16", rule_matmul_int16, 0, 2, FT__MICROSOFT},
    {"MatMulIntegerToFloat", rule_qmatmul, 1, 4, FT__MICROSOFT},
    {"MatMulNBits", rule_matmul_nbits, 0, 3, FT__MICROSOFT},
    {"MatMulNBitsMlp", rule_nbits_mlp, 0, 1, FT__MICROSOFT},
    {"MatMulNBitsQkv", rule_nbits_qkv, 0, 1, FT__MICROSOFT},
    {"MoE", rule_moe, 0, 3, FT__MICROSOFT},
    {"QGemm", rule_qgemm, 0, 6, FT__MICROSOFT},
    {"QMoE", rule_moe, 1, 3, FT__MICROSOFT},
    {"QOrderedMatMul", rule_qordered_matmul, 0, 3, FT__MICROSOFT},
    {"TransposeMatMul", rule_matmul, 0, 2, FT__MICROSOFT},
};

const ft__rule_table ft__rules_ms_products = {rules, sizeof(rules) / sizeof(*rules)};
