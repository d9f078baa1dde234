/* Arithmetic: elementwise and reductions. */
#include <string.h>

#include "graph/op_inside.h"
#include "import/onnx/compose.h"

ft_op ft__op_x(ft_kind kind, const ft__onnx_value *x)
{
    ft_op op;

    ft__op_init(&op, kind, x->dtype);
    ft__op_set_shape(&op, FT_K_x, &x->shape);
    return op;
}

ft_op ft__op_xy(ft_kind kind, const ft__onnx_value *x, const ft__onnx_value *y)
{
    ft_op op = ft__op_x(kind, x);

    ft__op_set_shape(&op, FT_K_y, &y->shape);
    return op;
}

/* ---- elementwise ---- */

ft__onnx_value *ft__apply1(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                           ft__onnx_value *out)
{
    ft_op op;

    if (!out && x)
        out = ft__onnx_temp(n, n->out[0]);
    if (!x || !out || ft__failed(n))
        return NULL;
    op = ft__op_x(kind, x);
    if (ft__is_constant(ft__make_of(n, &op, FT__VALUES(x), &x->shape, out)))
        ft__fold_unary(n, kind, x, out);
    return ft__failed(n) ? NULL : out;
}

ft__onnx_value *ft__apply2(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                           ft__onnx_value *y, ft__onnx_value *out)
{
    ft_shape s;
    ft_op op;

    if (!out && x && y)
        out = ft__onnx_temp(n, n->out[0]);
    if (!x || !y || !out || ft__failed(n))
        return NULL;
    op = ft__op_xy(kind, x, y);
    if (!ft__broadcast(&x->shape, &y->shape, &s)) {
        ft__onnx_fail(n, "the shapes of its operands do not fit");
        return NULL;
    }
    if (ft__is_constant(ft__make_of(n, &op, FT__VALUES(x, y), &s, out)))
        ft__fold_binary(n, kind, x, y, out);
    return ft__failed(n) ? NULL : out;
}

void ft__rule_unary(ft__onnx_node *n)
{
    ft__apply1(n, (ft_kind)n->rule->arg, n->in[0], n->out[0]);
}

void ft__rule_gelu(ft__onnx_node *n)
{
    bool tanh = ft__str_is(ft__attr_str(n, "approximate"), "tanh");

    ft__apply1(n, tanh ? FT_KIND_gelu_tanh : FT_KIND_gelu, n->in[0], n->out[0]);
}

/* silu(a) b */
void ft__rule_swiglu(ft__onnx_node *n)
{
    ft__onnx_value *gate = ft__apply1(n, FT_KIND_silu, n->in[0], NULL);

    ft__apply2(n, FT_KIND_mul, gate, n->in[1], n->out[0]);
}

/* Bounds are operands, once attributes; only those that run are read. */
void ft__rule_clip(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *in[3] = {x},
                   *bound[2] = {ft__in(n, 1), ft__in(n, 2)};
    ft_op op = ft__op_x(FT_KIND_clip, x);
    uint32_t n_in = 1;

    for (uint32_t i = 0; i < 2; i++)
        if (bound[i] && !ft__is_constant(bound[i]))
            in[n_in++] = bound[i];
    if (ft__is_constant(ft__make_of(n, &op, in, n_in, &x->shape, n->out[0])) &&
        n->import->opset >= 11)
        ft__fold_clip(n, x, bound, n->out[0]);
}

/* Of integers the sign is the divisor's, as fold.c has it, or (fmod) the other's. */
void ft__rule_mod(ft__onnx_node *n)
{
    ft__onnx_value *y = ft__apply2(n, FT_KIND_mod, n->in[0], n->in[1], n->out[0]);

    if (ft__is_constant(y) && ft__attr_int(n, "fmod", 0) &&
        !ft__dtype_is_real(y->dtype))
        y->data = NULL;
}

/* Nothing but in training, which operand 2 says. */
void ft__rule_dropout(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *training = ft__in(n, 2);
    const ft__num *on = ft__data(n, training);
    bool known = !training || (on && ft_shape_elements(&training->shape) == 1);

    if (known && (!training || !on->i))
        ft__emit_shape(n, &x->shape);
    else
        ft__apply1(n, FT_KIND_dropout, x, n->out[0]);
    ft__emit_extra(n, 1, n->import->opset < 10 ? x->dtype : FT_DTYPE_bool, &x->shape);
}

static void cast(ft__onnx_node *n, ft_dtype to)
{
    ft__onnx_value *x = n->in[0];
    ft_op op = ft__op_x(FT_KIND_cast, x);

    if (to == FT_DTYPE_NONE) {
        ft__onnx_fail(n, "its target is no known type");
        return;
    }
    if (to == x->dtype) {
        ft__emit_shape(n, &x->shape);
        return;
    }
    ft__op_set1(&op, FT_K_to, to);
    if (ft__emit1(n, &op, x, &x->shape))
        ft__fold_unary(n, FT_KIND_cast, x, n->out[0]);
}

void ft__rule_cast(ft__onnx_node *n)
{
    cast(n, ft_dtype_from_onnx(ft__attr_int(n, "to", 0)));
}

void ft__rule_cast_like(ft__onnx_node *n)
{
    cast(n, n->in[1]->dtype);
}

/* Another type over the same bytes: a view of that type. */
void ft__rule_bitcast(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    ft_dtype to = ft_dtype_from_onnx(ft__attr_int(n, "to", 0));
    ft_op op;

    if (ft_dtype_bits(to) != ft_dtype_bits(x->dtype)) {
        ft__onnx_fail(n, "its target has not as many bits as %s",
                      ft_dtype_name(x->dtype));
        return;
    }
    ft__op_init(&op, FT_KIND_view, to);
    ft__op_set_shape(&op, FT_K_x, &x->shape);
    ft__op_set_shape(&op, FT_K_out, &x->shape);
    ft__emit1(n, &op, x, &x->shape);
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

void ft__rule_binary(ft__onnx_node *n)
{
    ft__apply2(n, (ft_kind)n->rule->arg, n->in[0], n->in[1], n->out[0]);
}

/* The slope has a value for each of the last axes, or one per channel. */
void ft__rule_prelu(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *slope = n->in[1];
    ft_shape s;

    if (!ft__broadcast(&x->shape, &slope->shape, &s) && slope->shape.rank == 1 &&
        x->shape.rank > 1 && slope->shape.dim[0] == x->shape.dim[1]) {
        s = slope->shape;
        while (s.rank + 1 < x->shape.rank)
            s.dim[s.rank++] = 1;
        slope = ft__onnx_temp(n, n->in[1]);
        if (slope)
            ft__emit_view(n, n->in[1], slope, &s);
    }
    ft__apply2(n, FT_KIND_prelu, x, slope, n->out[0]);
}

ft__onnx_value *ft__scalar_constant(const ft__onnx_node *n, ft_dtype t, double value)
{
    ft__onnx_value *v = ft__onnx_temp(n, n->out[0]);

    if (!v)
        return NULL;
    ft__define_constant(n, v, t, &(ft_shape){0});
    ft__fold_fill(n, v,
                  ft__dtype_is_real(t) ? (ft__num){.f = value}
                                       : (ft__num){.i = (int64_t)value},
                  (ft__num){0});
    return v;
}

/* Max, Min, Sum, Mean of any number of operands: a chain. */
void ft__rule_variadic(ft__onnx_node *n)
{
    ft_kind kind = (ft_kind)n->rule->arg;
    bool mean = kind == FT_KIND_div;
    ft__onnx_value *sum = n->in[0], *next;

    for (uint32_t i = 1; i < n->n_in && !ft__failed(n); i++) {
        bool last = i + 1 == n->n_in && !mean;

        next = last ? n->out[0] : ft__onnx_temp(n, n->out[0]);
        if (!next || !n->in[i])
            return;
        ft__apply2(n, mean ? FT_KIND_add : kind, sum, n->in[i], next);
        sum = next;
    }
    if (n->n_in == 1)
        ft__emit_view(n, sum, n->out[0], &sum->shape);
    else if (mean && !ft__failed(n) &&
             (next = ft__scalar_constant(n, sum->dtype, n->n_in)) != NULL)
        ft__apply2(n, FT_KIND_div, sum, next, n->out[0]);
}

void ft__emit_where(ft__onnx_node *n, ft__onnx_value *const in[3])
{
    ft_op op = ft__op_xy(FT_KIND_where, in[0], in[1]);
    ft_shape s, all;

    op.dtype = in[1]->dtype;
    ft__op_set_shape(&op, FT_K_z, &in[2]->shape);
    if (!ft__broadcast(&in[1]->shape, &in[2]->shape, &s) ||
        !ft__broadcast(&in[0]->shape, &s, &all))
        ft__onnx_fail(n, "the shapes of its operands do not fit");
    else if (ft__is_constant(ft__make_of(n, &op, in, 3, &all, n->out[0])))
        ft__fold_where(n, in, n->out[0]);
}

void ft__rule_where(ft__onnx_node *n)
{
    ft__emit_where(n, n->in);
}

/* ---- reductions ---- */

uint32_t ft__axis(const ft__onnx_node *n, int64_t axis, uint32_t rank)
{
    if (axis < 0)
        axis += rank;
    if (axis < 0 || axis >= (int64_t)rank) {
        ft__onnx_fail(n, "an axis lies outside its %u dimensions", rank);
        return 0;
    }
    return (uint32_t)axis;
}

uint32_t ft__attr_axis(const ft__onnx_node *n, int64_t fallback)
{
    return ft__axis(n, ft__attr_int(n, "axis", fallback), n->in[0]->shape.rank);
}

int64_t ft__axes(const ft__onnx_node *n, uint32_t operand, uint32_t rank, int64_t all)
{
    int64_t v[2 * FT_MAX_RANK], bits = 0, count;

    if (ft__in(n, operand)) {
        count = ft__ints(n, n->in[operand], v, FT_MAX_RANK);
        if (count < 0)
            return -1;
    } else {
        count = ft__attr_ints(n, "axes", v, FT_MAX_RANK);
    }
    if (count <= 0)
        return all;
    for (int64_t i = 0; i < count && i < FT_MAX_RANK; i++)
        bits |= (int64_t)1 << ft__axis(n, v[i], rank);
    return bits;
}

ft__onnx_value *ft__reduce(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                           uint32_t axes, bool keep, ft__onnx_value *out)
{
    int64_t list[FT_MAX_RANK];
    uint32_t count = 0;
    ft_shape s = {0};
    ft_op op;

    if (!out && x)
        out = ft__onnx_temp(n, n->out[0]);
    if (!x || !out || ft__failed(n))
        return NULL;
    for (uint32_t i = 0; i < x->shape.rank; i++) {
        bool gone = axes >> i & 1;

        if (gone)
            list[count++] = i;
        if (!gone || keep)
            s.dim[s.rank++] = gone ? 1 : x->shape.dim[i];
    }
    op = ft__op_x(kind, x);
    ft__op_set(&op, FT_K_axes, list, count);
    ft__op_set1(&op, FT_K_keep, keep);
    if (count == 0)
        ft__emit_view(n, x, out, &s);
    else if (ft__is_constant(ft__make_of(n, &op, FT__VALUES(x), &s, out)))
        ft__fold_reduce(n, kind, x, axes, out);
    return ft__failed(n) ? NULL : out;
}

/* Axes that are no constant: as many as the operand has elements. */
static void reduce_open(ft__onnx_node *n, bool keep)
{
    ft_shape s = n->in[0]->shape, *axes = &n->in[1]->shape;
    int64_t gone = axes->rank == 1 ? axes->dim[0] : -1;
    uint32_t all = (1u << s.rank) - 1;

    if (!keep && gone >= 0 && gone <= (int64_t)s.rank) {
        s.rank -= (uint32_t)gone;
        all = (1u << s.rank) - 1;
        keep = gone > 0 || ft__attr_int(n, "noop_with_empty_axes", 0);
    }
    ft__emit_bounded(n, &s, keep ? all : FT_OPEN_RANK);
}

void ft__rule_reduce(ft__onnx_node *n)
{
    uint32_t rank = n->in[0]->shape.rank;
    bool noop = ft__attr_int(n, "noop_with_empty_axes", 0),
         keep = ft__attr_int(n, "keepdims", 1);
    int64_t axes = ft__axes(n, 1, rank, noop ? 0 : ((int64_t)1 << rank) - 1);

    if (axes < 0)
        reduce_open(n, keep);
    else
        ft__reduce(n, (ft_kind)n->rule->arg, n->in[0], (uint32_t)axes, keep, n->out[0]);
}

void ft__rule_arg(ft__onnx_node *n)
{
    uint32_t axis = ft__attr_axis(n, 0);
    ft__onnx_value *y = ft__reduce(n, (ft_kind)n->rule->arg, n->in[0], 1u << axis,
                                   ft__attr_int(n, "keepdims", 1) != 0, n->out[0]);

    if (ft__is_constant(y))
        ft__fold_arg(n, n->in[0], axis, n->rule->arg == FT_KIND_argmax,
                     ft__attr_int(n, "select_last_index", 0) != 0, y);
}

/* Sums or (arg 1) products up to each element; any axis costs the same. */
void ft__rule_cumsum(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *axis = n->in[1];
    ft_op op = ft__op_x(FT_KIND_cumsum, x);
    bool known;
    int64_t at;

    if (x->shape.rank == 0) {
        ft__onnx_fail(n, "its operand is a scalar");
        return;
    }
    known = ft__ints(n, axis, &at, 1) == 1;
    at = known ? ft__axis(n, at, x->shape.rank) : x->shape.rank - 1;
    ft__op_set1(&op, FT_K_axis, at);
    if (ft__emit2(n, &op, x, axis, &x->shape) && known)
        ft__fold_running(n, x, (uint32_t)at,
                         (ft__running){.product = n->rule->arg,
                                       .exclusive = ft__attr_int(n, "exclusive", 0),
                                       .reverse = ft__attr_int(n, "reverse", 0)},
                         n->out[0]);
}

/* The determinants of square matrices. */
void ft__rule_det(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    ft_op op = ft__op_x(FT_KIND_det, n->in[0]);

    if (s.rank < 2 || s.dim[s.rank - 1] != s.dim[s.rank - 2]) {
        ft__onnx_fail(n, "its operand holds no square matrices");
        return;
    }
    s.rank -= 2;
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__emit1(n, &op, n->in[0], &s);
}
