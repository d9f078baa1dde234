/* Arithmetic: elementwise, reductions, normalisation, matrix products. */
#include <string.h>

#include "import/onnx.h"

static ft_op one_operand(ft_kind kind, const ft__value *x)
{
    ft_op op;

    ft_op_init(&op, kind, x->dtype);
    ft_op_set_shape(&op, FT_K_x, &x->shape);
    return op;
}

static ft_op two_operands(ft_kind kind, const ft__value *x, const ft__value *y)
{
    ft_op op = one_operand(kind, x);

    ft_op_set_shape(&op, FT_K_y, &y->shape);
    return op;
}

static bool all_constant(const ft__node *n, uint32_t from)
{
    for (uint32_t i = from; i < n->n_in; i++)
        if (n->in[i] && !ft__is_constant(n->in[i]))
            return false;
    return true;
}

/* ---- elementwise ---- */

static void unary(ft__onnx *o, ft__node *n, ft_kind kind)
{
    ft__value *x = n->in[0];
    ft_op op = one_operand(kind, x);

    if (ft__emit1(o, n, &op, x, &x->shape))
        ft__fold_unary(o, kind, x, n->out[0]);
}

void ft__rule_unary(ft__onnx *o, ft__node *n)
{
    unary(o, n, (ft_kind)n->rule->arg);
}

void ft__rule_gelu(ft__onnx *o, ft__node *n)
{
    bool tanh = ft__str_is(ft__attr_str(o, n, "approximate"), "tanh");

    unary(o, n, tanh ? FT_KIND_gelu_tanh : FT_KIND_gelu);
}

/* Generic, of the operand's shape and dtype. */
void ft__rule_same(ft__onnx *o, ft__node *n)
{
    ft__emit_generic(o, n, n->out[0], n->in[0]->dtype, &n->in[0]->shape);
}

/* To and from quantised integers; a quantised weight stays a weight. */
void ft__rule_quantize(ft__onnx *o, ft__node *n)
{
    const ft__value *type = n->rule->arg ? n->in[1] : ft__in(n, 2);
    ft_dtype t = type ? type->dtype : FT_DTYPE_uint8;

    if (all_constant(n, 0))
        ft__define_constant(o, n, n->out[0], t, &n->in[0]->shape);
    else
        ft__emit_generic(o, n, n->out[0], t, &n->in[0]->shape);
}

static void cast(ft__onnx *o, ft__node *n, ft_dtype to)
{
    ft__value *x = n->in[0];
    ft_op op = one_operand(FT_KIND_cast, x);

    if (to == FT_DTYPE_NONE) {
        ft__onnx_fail(o, n, FT_EFORMAT, "its target is no known type");
        return;
    }
    if (to == x->dtype) {
        ft__emit_view(o, n, x, n->out[0], &x->shape);
        return;
    }
    ft_op_set1(&op, FT_K_to, to);
    if (ft__emit1(o, n, &op, x, &x->shape))
        ft__fold_unary(o, FT_KIND_cast, x, n->out[0]);
}

void ft__rule_cast(ft__onnx *o, ft__node *n)
{
    cast(o, n, ft_dtype_from_onnx(ft__attr_int(o, n, "to", 0)));
}

void ft__rule_cast_like(ft__onnx *o, ft__node *n)
{
    cast(o, n, n->in[1]->dtype);
}

bool ft__broadcast(const ft_shape *a, const ft_shape *b, ft_shape *out)
{
    const ft_shape *t = a->rank >= b->rank ? b : a;

    *out = a->rank >= b->rank ? *a : *b;
    for (uint32_t i = 0; i < t->rank; i++) {
        int64_t *d = &out->dim[out->rank - 1 - i], e = t->dim[t->rank - 1 - i];

        if (*d == 1)
            *d = e;
        else if (e != 1 && e != *d)
            return false;
    }
    return true;
}

static void binary(ft__onnx *o, const ft__node *n, ft_kind kind, ft__value *x,
                   ft__value *y, ft__value *out)
{
    ft_op op = two_operands(kind, x, y);
    ft_shape s;

    if (!ft__broadcast(&x->shape, &y->shape, &s)) {
        ft__onnx_fail(o, n, FT_EFORMAT, "the shapes of its operands do not fit");
        return;
    }
    if (ft__emit(o, n, &op,
                 &(ft__call){.in = (ft__value *[]){x, y},
                             .n_in = 2,
                             .out = &out,
                             .n_out = 1,
                             .shape = &s}) &&
        out)
        ft__fold_binary(o, kind, x, y, out);
}

void ft__rule_binary(ft__onnx *o, ft__node *n)
{
    binary(o, n, (ft_kind)n->rule->arg, n->in[0], n->in[1], n->out[0]);
}

/* Generic, of the broadcast shape of two operands. */
void ft__rule_bitwise(ft__onnx *o, ft__node *n)
{
    ft_shape s;

    if (ft__broadcast(&n->in[0]->shape, &n->in[1]->shape, &s))
        ft__emit_generic(o, n, n->out[0], n->in[0]->dtype, &s);
    else
        ft__onnx_fail(o, n, FT_EFORMAT, "the shapes of its operands do not fit");
}

static ft__value *scalar_constant(ft__onnx *o, const ft__node *n, ft_dtype t)
{
    ft__value *v = ft__onnx_temp(o, n->out[0]);

    if (v)
        ft__define_constant(o, n, v, t, &(ft_shape){0});
    return v;
}

/* Max, Min, Sum, Mean of any number of operands: a chain. */
void ft__rule_variadic(ft__onnx *o, ft__node *n)
{
    ft_kind kind = (ft_kind)n->rule->arg;
    bool mean = kind == FT_KIND_div;
    ft__value *sum = n->in[0], *next;

    for (uint32_t i = 1; i < n->n_in && !ft__failed(o); i++) {
        bool last = i + 1 == n->n_in && !mean;

        next = last ? n->out[0] : ft__onnx_temp(o, n->out[0]);
        if (!next || !n->in[i])
            return;
        binary(o, n, mean ? FT_KIND_add : kind, sum, n->in[i], next);
        sum = next;
    }
    if (n->n_in == 1)
        ft__emit_view(o, n, sum, n->out[0], &sum->shape);
    else if (mean && !ft__failed(o) &&
             (next = scalar_constant(o, n, sum->dtype)) != NULL)
        binary(o, n, FT_KIND_div, sum, next, n->out[0]);
}

void ft__rule_where(ft__onnx *o, ft__node *n)
{
    ft_op op;
    ft_shape s, all;

    ft_op_init(&op, FT_KIND_where, n->in[1]->dtype);
    ft_op_set_shape(&op, FT_K_x, &n->in[0]->shape);
    ft_op_set_shape(&op, FT_K_y, &n->in[1]->shape);
    ft_op_set_shape(&op, FT_K_z, &n->in[2]->shape);
    if (!ft__broadcast(&n->in[1]->shape, &n->in[2]->shape, &s) ||
        !ft__broadcast(&n->in[0]->shape, &s, &all)) {
        ft__onnx_fail(o, n, FT_EFORMAT, "the shapes of its operands do not fit");
        return;
    }
    if (ft__emit(
            o, n, &op,
            &(ft__call){
                .in = n->in, .n_in = 3, .out = n->out, .n_out = 1, .shape = &all}) &&
        n->out[0])
        ft__fold_where(o, n->in, n->out[0]);
}

/* ---- reductions ---- */

uint32_t ft__axis(ft__onnx *o, const ft__node *n, int64_t axis, uint32_t rank)
{
    if (axis < 0)
        axis += rank;
    if (axis < 0 || axis >= (int64_t)rank) {
        ft__onnx_fail(o, n, FT_EFORMAT, "an axis lies outside its %u dimensions", rank);
        return 0;
    }
    return (uint32_t)axis;
}

int64_t ft__axes(ft__onnx *o, const ft__node *n, uint32_t operand, uint32_t rank,
                 int64_t all)
{
    int64_t v[2 * FT_MAX_RANK], bits = 0, count;

    if (ft__in(n, operand)) {
        count = ft__ints(o, n->in[operand], v, FT_MAX_RANK);
        if (count < 0)
            return -1;
    } else {
        count = ft__attr_ints(o, n, "axes", v, FT_MAX_RANK);
    }
    if (count <= 0)
        return all;
    for (int64_t i = 0; i < count && i < FT_MAX_RANK; i++)
        bits |= (int64_t)1 << ft__axis(o, n, v[i], rank);
    return bits;
}

static void reduce(ft__onnx *o, ft__node *n, ft_kind kind, uint32_t axes, bool keep)
{
    ft__value *x = n->in[0];
    ft_op op = one_operand(kind, x);
    int64_t list[FT_MAX_RANK];
    uint32_t count = 0;
    ft_shape s = {0};

    for (uint32_t i = 0; i < x->shape.rank; i++) {
        bool gone = axes >> i & 1;

        if (gone)
            list[count++] = i;
        if (!gone || keep)
            s.dim[s.rank++] = gone ? 1 : x->shape.dim[i];
    }
    ft_op_set(&op, FT_K_axes, list, count);
    ft_op_set1(&op, FT_K_keep, keep);
    if (count == 0)
        ft__emit_view(o, n, x, n->out[0], &s);
    else if (ft__emit1(o, n, &op, x, &s) && ft_kind_class(kind) == FT_CLASS_REDUCE &&
             n->out[0])
        ft__fold_reduce(o, kind, x, axes, n->out[0]);
}

void ft__rule_reduce(ft__onnx *o, ft__node *n)
{
    uint32_t rank = n->in[0]->shape.rank;
    bool noop = ft__attr_int(o, n, "noop_with_empty_axes", 0) != 0;
    int64_t axes = ft__axes(o, n, 1, rank, noop ? 0 : ((int64_t)1 << rank) - 1);

    if (axes < 0)
        ft__emit_unknown(o, n);
    else
        reduce(o, n, (ft_kind)n->rule->arg, (uint32_t)axes,
               ft__attr_int(o, n, "keepdims", 1) != 0);
}

void ft__rule_arg(ft__onnx *o, ft__node *n)
{
    uint32_t axis = ft__axis(o, n, ft__attr_int(o, n, "axis", 0), n->in[0]->shape.rank);

    reduce(o, n, (ft_kind)n->rule->arg, 1u << axis,
           ft__attr_int(o, n, "keepdims", 1) != 0);
}

void ft__rule_cumsum(ft__onnx *o, ft__node *n)
{
    ft__value *x = n->in[0];
    ft_op op = one_operand(FT_KIND_cumsum, x);
    int64_t axis;

    if (ft__ints(o, n->in[1], &axis, 1) != 1) {
        ft__rule_same(o, n);
        return;
    }
    ft_op_set1(&op, FT_K_axis, ft__axis(o, n, axis, x->shape.rank));
    ft__emit1(o, n, &op, x, &x->shape);
}

/* ---- normalisation ---- */

/* Before opset 13 the axes from `axis` on were one. */
void ft__rule_softmax(ft__onnx *o, ft__node *n)
{
    ft__value *x = n->in[0];
    uint32_t rank = x->shape.rank;
    uint32_t axis =
        rank ? ft__axis(o, n, ft__attr_int(o, n, "axis", o->opset < 13 ? 1 : -1), rank)
             : 0;
    ft_shape s = x->shape;
    ft_op op;

    if (o->opset < 13 && axis + 1 < rank) {
        s = (ft_shape){.rank = 2, .dim = {1, 1}};
        for (uint32_t i = 0; i < rank; i++)
            s.dim[i >= axis] *= x->shape.dim[i];
        axis = 1;
    }
    ft_op_init(&op, (ft_kind)n->rule->arg, x->dtype);
    ft_op_set_shape(&op, FT_K_x, &s);
    ft_op_set1(&op, FT_K_axis, axis);
    ft__emit1(o, n, &op, x, &x->shape);
}

/* One operand, the other ones parameters. key: FT_K_COUNT for none. */
static void norm(ft__onnx *o, ft__node *n, ft_kind kind, ft_key_id key, int64_t value)
{
    ft__value *x = n->in[0], *params[8];
    uint32_t n_params = 0;
    ft_op op = one_operand(kind, x);

    for (uint32_t i = 1; i < n->n_in && i < 8; i++)
        if (n->in[i])
            params[n_params++] = n->in[i];
    if (!all_constant(n, 1)) {
        ft__rule_same(o, n);
        return;
    }
    if (key != FT_K_COUNT)
        ft_op_set1(&op, key, value);
    ft__emit(o, n, &op,
             &(ft__call){.in = &x,
                         .n_in = 1,
                         .params = params,
                         .n_params = n_params,
                         .out = n->out,
                         .n_out = 1,
                         .shape = &x->shape});
}

void ft__rule_batchnorm(ft__onnx *o, ft__node *n)
{
    norm(o, n, FT_KIND_batchnorm, FT_K_COUNT, 0);
    for (uint32_t i = 1; i < 5; i++) /* statistics, when it was exported in training */
        ft__emit_extra(o, n, i, n->in[3]->dtype, &n->in[3]->shape);
}

void ft__rule_instancenorm(ft__onnx *o, ft__node *n)
{
    norm(o, n, FT_KIND_instancenorm, FT_K_COUNT, 0);
}

void ft__rule_groupnorm(ft__onnx *o, ft__node *n)
{
    norm(o, n, FT_KIND_groupnorm, FT_K_groups, ft__attr_int(o, n, "num_groups", 1));
}

void ft__rule_lrn(ft__onnx *o, ft__node *n)
{
    norm(o, n, FT_KIND_lrn, FT_K_size, ft__attr_int(o, n, "size", 1));
}

void ft__rule_l2norm(ft__onnx *o, ft__node *n)
{
    uint32_t rank = n->in[0]->shape.rank;

    norm(o, n, FT_KIND_l2norm, FT_K_axis,
         ft__axis(o, n, ft__attr_int(o, n, "axis", -1), rank));
}

/* arg: the kind. n->norm: set where a chain of nodes was fused. */
void ft__rule_layernorm(ft__onnx *o, ft__node *n)
{
    ft_shape s = n->in[0]->shape;
    uint32_t axis = n->norm ? (n->norm < s.rank ? s.rank - n->norm : 0)
                            : ft__axis(o, n, ft__attr_int(o, n, "axis", -1), s.rank);

    norm(o, n, (ft_kind)n->rule->arg, FT_K_norm, s.rank - axis);
    for (uint32_t i = axis; i < s.rank; i++)
        s.dim[i] = 1;
    ft__emit_extra(o, n, 1, FT_DTYPE_fp32, &s);
    ft__emit_extra(o, n, 2, FT_DTYPE_fp32, &s);
}

/* ---- matrix products ---- */

/* x times constant weights of `out` columns. */
static void linear(ft__onnx *o, const ft__node *n, ft__value *x, ft__value *weight,
                   ft__value *bias, int64_t out_features, ft__value *out)
{
    ft_op op = one_operand(FT_KIND_linear, x);
    ft_shape s = x->shape;

    s.dim[s.rank - 1] = out_features;
    ft_op_set1(&op, FT_K_out, out_features);
    ft_op_set1(&op, FT_K_bias, bias != NULL);
    ft__emit(o, n, &op,
             &(ft__call){.in = &x,
                         .n_in = 1,
                         .params = (ft__value *[]){weight, bias},
                         .n_params = bias ? 2 : 1,
                         .out = &out,
                         .n_out = 1,
                         .shape = &s});
}

static ft__value *as_matrix(ft__onnx *o, const ft__node *n, ft__value *v, bool column)
{
    ft__value *m = ft__onnx_temp(o, v);
    ft_shape s = {.rank = 2, .dim = {1, 1}};

    s.dim[column ? 0 : 1] = v->shape.dim[0];
    if (m)
        ft__emit_view(o, n, v, m, &s);
    return m;
}

static void matmul(ft__onnx *o, const ft__node *n, ft__value *x, ft__value *y,
                   ft__value *out)
{
    bool row = x->shape.rank == 1, column = y->shape.rank == 1;
    ft_shape s, t;
    ft_dtype dtype;
    ft_op op;

    x = row ? as_matrix(o, n, x, false) : x;
    y = column ? as_matrix(o, n, y, true) : y;
    if (!x || !y || ft__failed(o))
        return;
    op = two_operands(FT_KIND_matmul, x, y);
    ft_op_output(&op, 0, &s, &dtype);
    t = (ft_shape){0};
    for (uint32_t i = 0; i < s.rank; i++)
        if (!(row && i + 2 == s.rank) && !(column && i + 1 == s.rank))
            t.dim[t.rank++] = s.dim[i];
    ft__emit(o, n, &op,
             &(ft__call){.in = (ft__value *[]){x, y},
                         .n_in = 2,
                         .out = &out,
                         .n_out = 1,
                         .shape = &t});
}

static bool inner_sizes_fit(ft__onnx *o, const ft__node *n, const ft__value *x,
                            const ft__value *y)
{
    const ft_shape *a = &x->shape, *b = &y->shape;

    if (!a->rank || !b->rank)
        ft__onnx_fail(o, n, FT_EFORMAT, "an operand of a matrix product is a scalar");
    else if (a->dim[a->rank - 1] != b->dim[b->rank > 1 ? b->rank - 2 : 0])
        ft__onnx_fail(o, n, FT_EFORMAT, "the inner sizes %lld and %lld differ",
                      (long long)a->dim[a->rank - 1],
                      (long long)b->dim[b->rank > 1 ? b->rank - 2 : 0]);
    return !ft__failed(o);
}

/* A third operand is the bias that fuse.c found behind it. */
void ft__rule_matmul(ft__onnx *o, ft__node *n)
{
    ft__value *x = n->in[0], *y = n->in[1];

    if (!inner_sizes_fit(o, n, x, y))
        return;
    if (ft__is_constant(y) && y->shape.rank == 2)
        linear(o, n, x, y, ft__in(n, 2), y->shape.dim[1], n->out[0]);
    else
        matmul(o, n, x, y, n->out[0]);
}

static ft__value *transposed(ft__onnx *o, const ft__node *n, ft__value *x)
{
    ft__value *t = ft__onnx_temp(o, x);
    ft_op op = one_operand(FT_KIND_transpose, x);

    ft_op_set(&op, FT_K_perm, (int64_t[]){1, 0}, 2);
    if (t &&
        ft__emit(o, n, &op, &(ft__call){.in = &x, .n_in = 1, .out = &t, .n_out = 1}))
        t->root = x->root ? x->root : x;
    return t;
}

void ft__rule_gemm(ft__onnx *o, ft__node *n)
{
    ft__value *a = n->in[0], *b = n->in[1], *c = ft__in(n, 2), *product, *bias = NULL;
    bool trans_b = ft__attr_int(o, n, "transB", 0) != 0;
    bool constant = ft__is_constant(b);
    int64_t columns;

    if (a->shape.rank != 2 || b->shape.rank != 2) {
        ft__onnx_fail(o, n, FT_EFORMAT, "its operands must have 2 dimensions");
        return;
    }
    columns = b->shape.dim[!trans_b];
    if (ft__attr_int(o, n, "transA", 0))
        a = transposed(o, n, a);
    if (trans_b && !constant)
        b = transposed(o, n, b);
    if (!a || !b || ft__failed(o))
        return;
    if (a->shape.dim[1] != b->shape.dim[constant && trans_b ? 1 : 0]) {
        ft__onnx_fail(o, n, FT_EFORMAT, "the inner sizes differ");
        return;
    }
    if (constant && ft__is_constant(c) && ft_shape_elements(&c->shape) == columns)
        bias = c;
    product = c && !bias ? ft__onnx_temp(o, n->out[0]) : n->out[0];
    if (c && !product)
        return;
    if (constant)
        linear(o, n, a, b, bias, columns, product);
    else
        matmul(o, n, a, b, product);
    if (c && !bias && !ft__failed(o))
        binary(o, n, FT_KIND_add, product, c, n->out[0]);
}
