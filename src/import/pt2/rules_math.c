/* Arithmetic: elementwise, reductions, softmax. */
#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/onnx.h"
#include "import/pt2/pt2.h"
#include "import/rules/ops.h"

ft_op ft__pt2_op(ft_kind kind, ft_dtype dtype, const ft_shape *x)
{
    ft_op op;

    ft__op_init(&op, kind, dtype);
    ft__op_set_shape(&op, FT_K_x, x);
    return op;
}

uint32_t ft__pt2_axis(const ft__pt2_node *n, int64_t axis, uint32_t rank)
{
    if (axis < 0)
        axis += rank ? rank : 1;
    if (axis < 0 || (axis >= (int64_t)rank && axis > 0)) {
        ft__pt2_fail(n, FT_EFORMAT, "an axis lies outside its %u dimensions", rank);
        return 0;
    }
    return (uint32_t)axis;
}

uint32_t ft__pt2_dim(const ft__pt2_node *n, int64_t fallback)
{
    return ft__pt2_axis(n, ft__pt2_int(n, "dim", fallback), n->x->shape.rank);
}

ft__pt2_value *ft__pt2_operand(const ft__pt2_node *n, uint32_t i, ft_dtype dtype)
{
    ft__pt2_value *v = ft__pt2_in(n, i);

    return v && v->typed ? v : ft__pt2_scalar(n, dtype);
}

/* ---- elementwise ---- */

static void unary(ft__pt2_node *n, ft_kind kind)
{
    ft_op op = ft__pt2_op(kind, n->x->dtype, &n->x->shape);

    ft__pt2_emit_in(n, &op, &n->x, 1);
}

void ft__aten_unary(ft__pt2_node *n)
{
    unary(n, (ft_kind)n->rule->arg);
}

void ft__aten_gelu(ft__pt2_node *n)
{
    bool tanh = FT__IS(ft__pt2_string(n, "approximate"), "tanh");

    unary(n, tanh ? FT_KIND_gelu_tanh : FT_KIND_gelu);
}

/* Limits may be tensors; then it is two comparisons, but one pass. */
void ft__aten_dropout(ft__pt2_node *n)
{
    if (ft__pt2_bool(n, "train", true) && ft__pt2_float(n, "n->import", 0.5) > 0)
        unary(n, FT_KIND_dropout);
    else
        ft__pt2_emit_view(n, n->x, ft__pt2_out(n, 0));
}

static void binary(ft__pt2_node *n, ft_kind kind, uint32_t i, uint32_t k,
                   ft_dtype dtype)
{
    ft__pt2_value *in[2] = {ft__pt2_operand(n, i, dtype), ft__pt2_operand(n, k, dtype)};
    ft_op op;

    if (!in[0] || !in[1])
        return;
    op = ft__pt2_op(kind, dtype, &in[0]->shape);
    ft__op_set_shape(&op, FT_K_y, &in[1]->shape);
    ft__pt2_emit_in(n, &op, in, 2);
}

void ft__aten_binary(ft__pt2_node *n)
{
    ft__pt2_value *out = ft__pt2_out(n, 0);

    if (out)
        binary(n, (ft_kind)n->rule->arg, 0, 1, out->dtype);
}

static ft_dtype first_dtype(const ft__pt2_node *n)
{
    for (uint32_t i = 0; i < n->n_args; i++) {
        const ft__pt2_value *v = ft__pt2_in(n, i);

        if (v && v->typed)
            return v->dtype;
    }
    return FT_DTYPE_fp32;
}

void ft__aten_compare(ft__pt2_node *n)
{
    binary(n, (ft_kind)n->rule->arg, 0, 1, first_dtype(n));
}

/* rsub(x, y) is y - x. */
void ft__aten_rsub(ft__pt2_node *n)
{
    if (ft__pt2_out(n, 0))
        binary(n, FT_KIND_sub, 1, 0, n->out[0]->dtype);
}

static void where(ft__pt2_node *n, ft__pt2_value *const in[3], ft_dtype dtype)
{
    ft_op op;

    if (!in[0] || !in[1] || !in[2])
        return;
    op = ft__pt2_op(FT_KIND_where, dtype, &in[0]->shape);
    ft__op_set_shape(&op, FT_K_y, &in[1]->shape);
    ft__op_set_shape(&op, FT_K_z, &in[2]->shape);
    ft__pt2_emit_in(n, &op, in, 3);
}

/* The places, one result for every axis. */
static void find_nonzero(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    ft_op op;

    if (!x || !out)
        return;
    op = ft__pt2_op(FT_KIND_nonzero, out->dtype, &x->shape);
    ft__op_set_shape(&op, FT_K_out, &out->shape);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* where(condition, x, y); with one operand it finds what is not zero. */
void ft__aten_where(ft__pt2_node *n)
{
    ft_dtype t = ft__pt2_out(n, 0) ? n->out[0]->dtype : FT_DTYPE_fp32;

    if (n->n_args == 1)
        find_nonzero(n);
    else if (n->n_args >= 3)
        where(n,
              (ft__pt2_value *[]){n->x, ft__pt2_operand(n, 1, t),
                                  ft__pt2_operand(n, 2, t)},
              t);
}

/* masked_fill(x, mask, value) is where(mask, value, x). */
void ft__aten_masked_fill(ft__pt2_node *n)
{
    ft_dtype t = ft__pt2_out(n, 0) ? n->out[0]->dtype : FT_DTYPE_fp32;

    where(n, (ft__pt2_value *[]){n->y, ft__pt2_operand(n, 2, t), n->x}, t);
}

/* addcmul(x, a, b): x + a b, and the like: three operands in one pass. */
void ft__aten_ternary(ft__pt2_node *n)
{
    ft__pt2_value *out = ft__pt2_out(n, 0), *in[2] = {n->y, NULL}, *product;
    ft_shape s;
    ft_op op;

    in[1] = ft__pt2_operand(n, 2, out->dtype);
    if (!in[0] || !in[1] || !ft__broadcast(&in[0]->shape, &in[1]->shape, &s))
        return;
    product = ft__pt2_temp(n, out, out->dtype, &s);
    op = ft__pt2_op((ft_kind)n->rule->arg, out->dtype, &in[0]->shape);
    ft__op_set_shape(&op, FT_K_y, &in[1]->shape);
    if (!product)
        return;
    ft__pt2_emit_to(n, &op, in, 2, product);
    in[0] = n->x;
    in[1] = product;
    if (ft__pt2_failed(n) || product->state == FT__PT2_UNDEFINED)
        return;
    op = ft__pt2_op(FT_KIND_add, out->dtype, &in[0]->shape);
    ft__op_set_shape(&op, FT_K_y, &product->shape);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* A part of x, of the result's shape. */
static ft__pt2_value *part(ft__pt2_node *n, ft__pt2_value *x)
{
    const ft__pt2_value *out = n->out[0];
    ft__pt2_value *v = ft__pt2_temp(n, out, x->dtype, &out->shape);
    ft_op op = ft__pt2_op(FT_KIND_slice, x->dtype, &x->shape);

    ft__op_set_shape(&op, FT_K_out, &out->shape);
    if (v)
        ft__pt2_emit_to(n, &op, &x, 1, v);
    return v && v->state != FT__PT2_UNDEFINED ? v : NULL;
}

/* glu(x): one half times the sigmoid of the other. */
void ft__aten_glu(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0), *in[2], *gate;
    ft_op op;

    in[0] = part(n, x);
    gate = part(n, x);
    in[1] = ft__pt2_temp(n, out, x->dtype, &out->shape);
    if (!in[0] || !in[1] || !gate)
        return;
    op = ft__pt2_op(FT_KIND_sigmoid, x->dtype, &out->shape);
    ft__pt2_emit_to(n, &op, &gate, 1, in[1]);
    op = ft__pt2_op(FT_KIND_mul, out->dtype, &out->shape);
    ft__op_set_shape(&op, FT_K_y, &out->shape);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* x between what is put before it and behind it; x itself where nothing is. */
static ft__pt2_value *extended(ft__pt2_node *n, ft__pt2_value *x, uint32_t axis)
{
    ft__pt2_value *all[3] = {ft__pt2_tensor(n, "prepend"), x,
                             ft__pt2_tensor(n, "append")},
                  *in[3], *out;
    int64_t sizes[3];
    uint32_t count = 0;
    ft_shape s = x->shape;
    ft_op op;

    s.dim[axis] = 0;
    for (int i = 0; i < 3; i++) {
        if (!all[i] || all[i]->shape.rank != s.rank)
            continue;
        in[count] = all[i];
        sizes[count++] = all[i]->shape.dim[axis];
        s.dim[axis] += all[i]->shape.dim[axis];
    }
    if (count == 1)
        return x;
    op = ft__op_concat(x->dtype, &in[0]->shape, axis, sizes, count);
    out = ft__pt2_temp(n, x, x->dtype, &s);
    if (out)
        ft__pt2_emit_to(n, &op, in, count, out);
    return out && out->state != FT__PT2_UNDEFINED ? out : NULL;
}

/* Each element less the one before. */
void ft__aten_diff(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0), *in[2];
    ft_op op;

    if (!x->shape.rank || ft__pt2_int(n, "n", 1) != 1)
        return;
    x = extended(n, x, ft__pt2_dim(n, -1));
    in[0] = x ? part(n, x) : NULL;
    in[1] = x ? part(n, x) : NULL;
    if (!in[0] || !in[1])
        return;
    op = ft__pt2_op(FT_KIND_sub, out->dtype, &out->shape);
    ft__op_set_shape(&op, FT_K_y, &out->shape);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* To another dtype; to the same one it is a view (to) or a copy (_to_copy). */
void ft__aten_cast(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    ft_op op;

    if (x->dtype == out->dtype) {
        if (n->rule->arg)
            ft__aten_copy(n);
        else
            ft__pt2_emit_view(n, x, out);
        return;
    }
    op = ft__pt2_op(FT_KIND_cast, x->dtype, &x->shape);
    ft__op_set1(&op, FT_K_to, out->dtype);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* ---- reductions ---- */

/* Axes in `name` as bits; all where there are none. */
static uint32_t axes_of(ft__pt2_node *n, const char *name, uint32_t rank)
{
    int64_t v[FT_MAX_RANK], count = ft__pt2_ints(n, name, v, FT_MAX_RANK);
    uint32_t bits = 0;

    if (count <= 0 || rank == 0)
        return (1u << rank) - 1;
    for (int64_t i = 0; i < count && i < FT_MAX_RANK; i++)
        bits |= 1u << ft__pt2_axis(n, v[i], rank);
    return bits;
}

static ft_op reduction(ft_kind kind, const ft__pt2_value *x, uint32_t bits,
                       const ft__pt2_value *out)
{
    ft_op op = ft__pt2_op(kind, x->dtype, &x->shape);
    int64_t axes[FT_MAX_RANK];
    uint32_t count = 0;

    for (uint32_t i = 0; i < x->shape.rank; i++)
        if (bits >> i & 1)
            axes[count++] = i;
    if (x->shape.rank == 0) /* a scalar is written as one element */
        axes[count++] = 0;
    ft__op_set(&op, FT_K_axes, axes, count);
    ft__op_set1(&op, FT_K_keep, out->shape.rank == x->shape.rank);
    return op;
}

void ft__aten_reduce(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    const char *name = ft__pt2_arg_of(n, "axis") ? "axis" : "dim";
    ft_op op;

    /* max(x, y) is no reduction. */
    if (x && out && n->n_args > 1 && ft__pt2_tensor(n, "other")) {
        binary(n,
               n->rule->arg == FT_KIND_reduce_max ? FT_KIND_maximum : FT_KIND_minimum,
               0, 1, out->dtype);
        return;
    }
    op = reduction((ft_kind)n->rule->arg, x, axes_of(n, name, x->shape.rank), out);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* Points of a transform: the product of the axes it runs over. */
static int64_t points(ft__pt2_node *n, const ft_shape *s)
{
    int64_t v[FT_MAX_RANK], size = 1, count = ft__pt2_ints(n, "dim", v, FT_MAX_RANK);
    bool two = n->op.n && n->op.s[n->op.n - 1] == '2';
    uint32_t last = two && s->rank > 1 ? 2 : 1;

    if (n->op.n && n->op.s[n->op.n - 1] == 'n')
        last = s->rank;
    for (int64_t i = 0; i < count && i < FT_MAX_RANK; i++)
        size *= s->dim[ft__pt2_axis(n, v[i], s->rank)];
    for (uint32_t i = 0; count <= 0 && i < last; i++)
        size *= s->dim[s->rank - 1 - i];
    return size;
}

/* The longer of what goes in and what comes out says how many points there are:
 * of real numbers half is left out. */
void ft__aten_fft(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    const ft_shape *longer;
    ft_op op;

    if (!x->shape.rank || out->shape.rank != x->shape.rank)
        return;
    longer = ft_shape_elements(&x->shape) > ft_shape_elements(&out->shape)
                 ? &x->shape
                 : &out->shape;
    op = ft__pt2_op(FT_KIND_fft, out->dtype, &x->shape);
    ft__op_set1(&op, FT_K_size, points(n, longer));
    ft__op_set_shape(&op, FT_K_out, &out->shape);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* Frames of n_fft points, each transformed. */
void ft__aten_stft(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    ft_op op;

    op = ft__pt2_op(FT_KIND_fft, out->dtype, &x->shape);
    ft__op_set1(&op, FT_K_size, ft__pt2_int(n, "n_fft", 1));
    ft__op_set_shape(&op, FT_K_out, &out->shape);
    ft__pt2_emit_in(n, &op, &x, 1);
}

void ft__aten_softmax(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x;
    ft_op op;

    op = ft__pt2_op((ft_kind)n->rule->arg, x->dtype, &x->shape);
    ft__op_set1(&op, FT_K_axis, ft__pt2_dim(n, -1));
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* cumsum and its like; the largest so far comes with where it was. */
void ft__aten_cum(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    ft_op op;

    op = ft__pt2_op(FT_KIND_cumsum, out->dtype, &x->shape);
    ft__op_set1(&op, FT_K_axis, ft__pt2_dim(n, 0));
    ft__pt2_emit_in(n, &op, &x, 1);
}

void ft__aten_topk(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *first = ft__pt2_out(n, 0);
    ft__pt2_value *out[2] = {first, ft__pt2_out(n, 1)};
    uint32_t axis;
    ft_op op;

    if (x->shape.rank == 0)
        return;
    axis = ft__pt2_dim(n, -1);
    op = ft__pt2_op(FT_KIND_topk, x->dtype, &x->shape);
    ft__op_set1(&op, FT_K_axis, axis);
    ft__op_set1(&op, FT_K_size,
                first->shape.rank == x->shape.rank ? first->shape.dim[axis] : 1);
    if (n->n_out == 1) { /* argsort: the indices alone */
        out[0] = NULL;
        out[1] = first;
    }
    ft__pt2_emit(n, &op, &(ft__pt2_call){.in = &x, .n_in = 1, .out = out, .n_out = 2});
}
