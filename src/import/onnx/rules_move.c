/* Data movement: what copies elements, of constants, too, without computing on them. */

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/compose.h"
#include "import/rules/ops.h"

/* Row-major strides of a shape. */
static void strides(const ft_shape *s, int64_t *stride)
{
    int64_t step = 1;

    for (uint32_t i = s->rank; i-- > 0;) {
        stride[i] = step;
        step *= s->dim[i];
    }
}

/* out[i] = x[base + sum of i * stride]: transpose, slice, expand, split. */
static void fold_strided(const ft__onnx_node *node, ft__onnx_value *x,
                         ft__onnx_value *out, int64_t base, const int64_t *stride)
{
    const ft__num *d = ft__data(node, x);
    const ft_shape *s = &out->shape;
    int64_t n = ft_shape_elements(s), at[FT_MAX_RANK] = {0};

    if (!d || !ft__fold_new(node, out))
        return;
    for (int64_t i = 0; i < n; i++) {
        out->data[i] = d[base];
        for (uint32_t k = s->rank; k-- > 0;) {
            base += stride[k];
            if (++at[k] < s->dim[k])
                break;
            base -= at[k] * stride[k];
            at[k] = 0;
        }
    }
}

/* An operation whose spec is x and out. */
static bool move(const ft__onnx_node *n, ft_kind kind, const ft_shape *out)
{
    ft__onnx_value *x = n->in[0];
    ft_op op = ft__op_xto(kind, x, out);
    return ft__emit1(n, &op, x, out);
}

static void rule_transpose(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    uint32_t rank = x->shape.rank;
    int64_t perm[FT_MAX_RANK], own[FT_MAX_RANK], stride[FT_MAX_RANK];
    int64_t have = ft__attr_ints(n, "perm", perm, FT_MAX_RANK);
    bool moved = false;
    ft_shape s = {.rank = rank};
    ft_op op;

    if (have >= 0 && have != (int64_t)rank) {
        ft__onnx_fail(n, "perm has %lld entries for %u dimensions", (long long)have,
                      rank);
        return;
    }
    strides(&x->shape, own);
    for (uint32_t i = 0; i < rank; i++) {
        perm[i] = ft__axis(n, have < 0 ? rank - 1 - i : perm[i], rank);
        s.dim[i] = x->shape.dim[perm[i]];
        stride[i] = own[perm[i]];
        moved |= perm[i] != i;
    }
    if (!moved) {
        ft__emit_shape(n, &s);
        return;
    }
    op = ft__op_x(FT_KIND_transpose, x);
    ft__op_set(&op, FT_K_perm, perm, rank);
    if (ft__emit1(n, &op, x, &s)) {
        n->out[0]->root = x->root ? x->root : x;
        n->out[0]->stored = x->stored;
        fold_strided(n, x, n->out[0], 0, stride);
    }
}

static void rule_concat(ft__onnx_node *n)
{
    ft__emit_concat(n, n->in, n->n_in, ft__attr_axis(n, 1), n->in[0]->dtype);
}

/* From operand 2 on: a part, its scale, its zero point. */
static void rule_ms_qconcat(ft__onnx_node *n)
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

/* Integers of an operand, or of the attribute it was before; -1: unknown. */
static int64_t list_of(const ft__onnx_node *n, uint32_t operand, const char *attr,
                       int64_t *v, uint32_t max)
{
    int64_t count;

    if (ft__in(n, operand))
        return ft__ints(n, n->in[operand], v, max);
    count = ft__attr_ints(n, attr, v, max);
    return count <= (int64_t)max ? count : -1;
}

/* Sizes of the parts; false: they depend on values that are not known. */
static bool split_sizes(const ft__onnx_node *n, int64_t size, int64_t *sizes)
{
    int64_t parts = ft__attr_int(n, "num_outputs", n->n_out), chunk;
    int64_t have = list_of(n, 1, "split", sizes, n->n_out);

    if (have == (int64_t)n->n_out)
        return true;
    if (ft__in(n, 1) || have >= 0 || parts != (int64_t)n->n_out)
        return false;
    chunk = (size + parts - 1) / parts;
    for (int64_t i = 0; i < parts; i++) {
        sizes[i] = chunk < size ? chunk : size;
        size -= sizes[i];
    }
    return true;
}

/* One operation, or a slice for each part where they are too many. True: the parts
 * are constants. */
static bool emit_parts(const ft__onnx_node *n, uint32_t axis, const int64_t *sizes)
{
    ft__onnx_value *x = n->in[0];
    ft_shape s = x->shape;
    ft_op op = ft__op_x(FT_KIND_split, x);
    ft__onnx_call c = {.in = &x, .n_in = 1, .out = n->out, .n_out = n->n_out};

    if (n->n_out <= FT__MAX_PARTS) {
        ft__op_set1(&op, FT_K_axis, axis);
        ft__op_set(&op, FT_K_sizes, sizes, n->n_out);
        return ft__emit(n, &op, &c);
    }
    for (uint32_t i = 0; i < n->n_out; i++) {
        s.dim[axis] = sizes[i];
        op = ft__op_xto(FT_KIND_slice, x, &s);
        c = (ft__onnx_call){
            .in = &x, .n_in = 1, .out = &n->out[i], .n_out = 1, .shape = &s};
        ft__emit(n, &op, &c);
    }
    return ft__is_constant(x) && !ft__failed(n);
}

static void rule_split(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    uint32_t axis = ft__attr_axis(n, 0);
    int64_t *sizes = ft__onnx_alloc(n->import, n->n_out, sizeof(*sizes));
    int64_t stride[FT_MAX_RANK], base = 0;

    if (!sizes || ft__failed(n))
        return;
    if (!split_sizes(n, x->shape.dim[axis], sizes)) {
        for (uint32_t i = 0; i < n->n_out; i++)
            ft__emit_open(n, n->out[i], x->dtype, &x->shape, 1u << axis);
        return;
    }
    for (uint32_t i = 0; i < n->n_out; i++)
        if (sizes[i] < 0 || sizes[i] > x->shape.dim[axis]) {
            ft__onnx_fail(n, "a part of size %lld does not fit", (long long)sizes[i]);
            return;
        }
    if (n->n_out == 1) {
        ft__emit_shape(n, &x->shape);
        return;
    }
    if (!emit_parts(n, axis, sizes))
        return;
    strides(&x->shape, stride);
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (n->out[i])
            fold_strided(n, x, n->out[i], base, stride);
        base += sizes[i] * stride[axis];
    }
}

struct cut {
    int64_t base;
    int64_t stride[FT_MAX_RANK];
    int64_t step; /* largest */
    ft_shape shape;
    bool whole;
};

static int64_t clamped(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static void cut_axis(struct cut *c, uint32_t axis, int64_t start, int64_t end,
                     int64_t step)
{
    int64_t size = c->shape.dim[axis], low = step < 0 ? -1 : 0,
            high = step < 0 ? size - 1 : size, count;

    start = clamped(start < 0 ? start + size : start, low + (step < 0), high);
    end = clamped(end < 0 ? end + size : end, low, high);
    count =
        step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    count = count > 0 && size > 0 ? count : 0;
    c->whole &= count == size && step == 1;
    c->base += count ? start * c->stride[axis] : 0;
    c->stride[axis] *= step;
    c->shape.dim[axis] = count;
    step = step < 0 ? -step : step;
    c->step = step > c->step ? step : c->step;
}

/* starts, ends, axes, steps: attributes, later operands. */
static bool read_cut(const ft__onnx_node *n, struct cut *c)
{
    const int64_t limit = FT__MAX_ELEMENTS;
    int64_t start[FT_MAX_RANK], end[FT_MAX_RANK], axes[FT_MAX_RANK], step[FT_MAX_RANK];
    int64_t count = list_of(n, 1, "starts", start, FT_MAX_RANK), n_axes, n_steps;
    uint32_t seen = 0;

    if (count < 0 || list_of(n, 2, "ends", end, FT_MAX_RANK) != count)
        return false;
    n_axes = list_of(n, 3, "axes", axes, FT_MAX_RANK);
    n_steps = ft__in(n, 4) ? ft__ints(n, n->in[4], step, FT_MAX_RANK) : 0;
    if ((n_axes != count && (n_axes > 0 || ft__in(n, 3))) || n_steps < 0 ||
        (n_steps != count && n_steps != 0))
        return false;
    for (int64_t i = 0; i < count; i++) {
        uint32_t axis = ft__axis(n, n_axes > 0 ? axes[i] : i, c->shape.rank);
        int64_t by = clamped(n_steps ? step[i] : 1, -limit, limit);

        if (by == 0 || seen >> axis & 1)
            ft__onnx_fail(n, "a step of 0, or an axis given twice");
        if (ft__failed(n))
            return false;
        seen |= 1u << axis;
        cut_axis(c, axis, clamped(start[i], -limit, limit),
                 clamped(end[i], -limit, limit), by);
    }
    return true;
}

/* The axes that are cut somewhere, as far as that is known: bits. */
static uint32_t cut_open(const ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape, *starts = &n->in[ft__in(n, 1) ? 1 : 0]->shape;
    int64_t axes[FT_MAX_RANK], count = list_of(n, 3, "axes", axes, FT_MAX_RANK);
    uint32_t all = (1u << x->rank) - 1, open = 0;

    if (!ft__in(n, 3) && ft__in(n, 1) && starts->rank == 1 && starts->dim[0] < x->rank)
        return all & ((1u << starts->dim[0]) - 1);
    for (int64_t i = 0; i < count; i++)
        open |= 1u << ft__axis(n, axes[i], x->rank);
    return count > 0 ? open : all;
}

static void rule_slice(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    struct cut c = {.shape = x->shape, .step = 1, .whole = true};
    ft_op op;

    strides(&x->shape, c.stride);
    if (!read_cut(n, &c)) {
        if (!ft__failed(n))
            ft__emit_bounded(n, &x->shape, cut_open(n));
        return;
    }
    if (c.whole) {
        ft__emit_shape(n, &c.shape);
        return;
    }
    op = ft__op_xto(FT_KIND_slice, x, &c.shape);
    ft__op_set1(&op, FT_K_step, c.step);
    if (ft__emit1(n, &op, x, &c.shape))
        fold_strided(n, x, n->out[0], c.base, c.stride);
}

static bool padded_by_constant(const ft__onnx_node *n)
{
    ft__str mode = ft__attr_str(n, "mode");

    return mode.n == 0 || ft__str_is(mode, "constant");
}

/* before: elements in front, less than 0: taken away. fill: NULL for zeros. */
static void fold_pad(const ft__onnx_node *node, ft__onnx_value *x, ft__onnx_value *fill,
                     const int64_t *before, ft__onnx_value *out)
{
    bool known = ft__data(node, x) && (!fill || ft__data(node, fill)),
         filled = fill && ft_shape_elements(&fill->shape) == 1;
    ft__num *to = known ? ft__fold_new(node, out) : NULL;
    int64_t n = ft_shape_elements(&out->shape), from[FT_MAX_RANK], into[FT_MAX_RANK];

    strides(&x->shape, from);
    strides(&out->shape, into);
    for (int64_t i = 0; to && i < n; i++) {
        bool inside = true;
        int64_t offset = 0;

        for (uint32_t d = 0; d < x->shape.rank; d++) {
            int64_t at = i / into[d] % out->shape.dim[d] - before[d];

            inside &= at >= 0 && at < x->shape.dim[d];
            offset += inside ? at * from[d] : 0;
        }
        to[i] = inside ? x->data[offset] : filled ? fill->data[0] : (ft__num){0};
    }
}

static void rule_pad(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    int64_t pads[2 * FT_MAX_RANK], axes[FT_MAX_RANK];
    int64_t have = list_of(n, 1, "pads", pads, 2 * FT_MAX_RANK), count = x->shape.rank;
    int64_t begin[FT_MAX_RANK] = {0};
    ft_shape s = x->shape;

    if (ft__in(n, 3))
        count = ft__ints(n, n->in[3], axes, FT_MAX_RANK);
    if (have < 0 || count < 0 || have != 2 * count) {
        ft__emit_bounded(n, &s, (1u << s.rank) - 1);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        uint32_t axis = ft__axis(n, ft__in(n, 3) ? axes[i] : i, s.rank);

        if (ft__failed(n))
            return;
        begin[axis] = clamped(pads[i], -FT__MAX_ELEMENTS, FT__MAX_ELEMENTS);
        s.dim[axis] +=
            begin[axis] + clamped(pads[count + i], -FT__MAX_ELEMENTS, FT__MAX_ELEMENTS);
    }
    if (ft_shape_equal(&s, &x->shape))
        ft__emit_shape(n, &s);
    else if (move(n, FT_KIND_pad, &s) && padded_by_constant(n))
        fold_pad(n, x, ft__in(n, 2), begin, n->out[0]);
}

/* To a shape of which only the length may be known: ones can become anything. */
static void expand_open(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;
    ft_shape s = {.rank = ft__length(n->in[1])};
    uint32_t open = 0;

    if (s.rank < x->rank)
        s.rank = x->rank;
    for (uint32_t i = 0; i < s.rank; i++) {
        uint32_t lead = s.rank - x->rank;

        s.dim[i] = i < lead ? 1 : x->dim[i - lead];
        open |= (uint32_t)(s.dim[i] == 1) << i;
    }
    ft__emit_bounded(n, &s, ft__length(n->in[1]) ? open : FT_OPEN_RANK);
}

static void rule_expand(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    ft_shape to = {0}, s;
    int64_t have = ft__ints(n, n->in[1], to.dim, FT_MAX_RANK), stride[FT_MAX_RANK];

    if (have < 0) {
        expand_open(n);
        return;
    }
    to.rank = (uint32_t)have;
    if (!ft__broadcast(&x->shape, &to, &s)) {
        ft__onnx_fail(n, "its operand does not fit the shape");
        return;
    }
    if (ft_shape_elements(&s) == ft_shape_elements(&x->shape)) {
        ft__emit_shape(n, &s);
        return;
    }
    if (!move(n, FT_KIND_expand, &s))
        return;
    strides(&x->shape, stride + s.rank - x->shape.rank);
    for (uint32_t i = 0; i < s.rank; i++)
        if (i < s.rank - x->shape.rank || x->shape.dim[i + x->shape.rank - s.rank] == 1)
            stride[i] = 0;
    fold_strided(n, x, n->out[0], 0, stride);
}

static void fold_tile(const ft__onnx_node *node, ft__onnx_value *x, ft__onnx_value *out)
{
    ft__num *to = ft__data(node, x) ? ft__fold_new(node, out) : NULL;
    int64_t n = ft_shape_elements(&out->shape), from[FT_MAX_RANK], into[FT_MAX_RANK];

    strides(&x->shape, from);
    strides(&out->shape, into);
    for (int64_t i = 0; to && i < n; i++) {
        int64_t offset = 0;

        for (uint32_t d = 0; d < x->shape.rank; d++)
            offset += i / into[d] % x->shape.dim[d] * from[d];
        to[i] = x->data[offset];
    }
}

static void rule_tile(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    int64_t times[FT_MAX_RANK];
    ft_shape s = x->shape;

    if (!ft__data(n, n->in[1])) {
        ft__emit_bounded(n, &s, (1u << s.rank) - 1);
        return;
    }
    if (ft__ints(n, n->in[1], times, FT_MAX_RANK) != (int64_t)s.rank) {
        ft__onnx_fail(n, "it has not one repeat for each of %u axes", s.rank);
        return;
    }
    for (uint32_t i = 0; i < s.rank; i++) {
        if (times[i] < 0 || (times[i] && s.dim[i] > FT__MAX_ELEMENTS / times[i])) {
            ft__onnx_fail(n, "it repeats %lld times", (long long)times[i]);
            return;
        }
        s.dim[i] *= times[i];
    }
    if (ft_shape_equal(&s, &x->shape))
        ft__emit_shape(n, &s);
    else if (move(n, FT_KIND_tile, &s))
        fold_tile(n, x, n->out[0]);
}

/* Windows along an axis, each of them copied. */
static void rule_ms_unfold(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    uint32_t axis = ft__axis(n, ft__attr_int(n, "dim", -1), s.rank);
    int64_t size = ft__attr_size(n, "size", 0), step = ft__attr_size(n, "step", 1);

    if (ft__failed(n) || s.dim[axis] < size) {
        ft__misfit(n, 0);
        return;
    }
    s.dim[axis] = (s.dim[axis] - size) / step + 1;
    ft__push(n, &s, size);
    if (!ft__failed(n))
        ft__make_move(n, FT_KIND_expand, n->in[0], &s, n->out[0]);
}

static void rule_ms_restore_padding(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape, *places = &n->in[1]->shape;

    if (ft__has_rank(n, 0, 2) && ft__has_rank(n, 1, 2))
        ft__make_move(n, FT_KIND_pad, n->in[0],
                      FT__SHAPE(places->dim[0], places->dim[1], x->dim[1]), n->out[0]);
}

/* arg: 0 depth to space, 1 the way back. */
static void rule_depth_to_space(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    int64_t block = ft__attr_int(n, "blocksize", 0);
    bool back = n->rule->arg;

    if (s.rank != 4 || block < 1 || block > INT16_MAX ||
        (back ? s.dim[2] % block || s.dim[3] % block : s.dim[1] % (block * block))) {
        ft__onnx_fail(n, "blocks of %lld do not fit its operand", (long long)block);
        return;
    }
    s.dim[1] = back ? s.dim[1] * block * block : s.dim[1] / (block * block);
    for (uint32_t i = 2; i < 4; i++)
        s.dim[i] = back ? s.dim[i] / block : s.dim[i] * block;
    move(n, back ? FT_KIND_space_to_depth : FT_KIND_depth_to_space, &s);
}

/* The order along an axis turned, up to a length for each batch. */
static void rule_reverse_sequence(ft__onnx_node *n)
{
    ft_op op = ft__op_x(FT_KIND_copy, n->in[0]);

    ft__emit2(n, &op, n->in[0], n->in[1], &n->in[0]->shape);
}

static void fold_trilu(const ft__onnx_node *node, ft__onnx_value *x, int64_t k,
                       bool upper, ft__onnx_value *out)
{
    ft__num *to = ft__data(node, x) ? ft__fold_new(node, out) : NULL;
    int64_t n = ft_shape_elements(&x->shape), columns = x->shape.dim[x->shape.rank - 1],
            rows = x->shape.dim[x->shape.rank - 2];

    k = k < -rows ? -rows : k > columns ? columns : k;
    for (int64_t i = 0; to && i < n; i++) {
        int64_t above = i % columns - i / columns % rows - k;

        to[i] = (upper ? above >= 0 : above <= 0) ? x->data[i] : (ft__num){0};
    }
}

/* One triangle of the last two axes. */
static void rule_trilu(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *by = ft__in(n, 1);
    ft_op op = ft__op_x(FT_KIND_copy, x);
    int64_t k = 0;

    if (x->shape.rank < 2) {
        ft__onnx_fail(n, "its operand is no matrix");
        return;
    }
    if (ft__is_constant(ft__make_of(n, &op, n->in, by ? 2 : 1, &x->shape, n->out[0])) &&
        (!by || ft__ints(n, by, &k, 1) == 1))
        fold_trilu(n, x, k, ft__attr_int(n, "upper", 1) != 0, n->out[0]);
}

static const ft__operator_rule rules[] = {
    {"Concat", rule_concat, 0, 1, FT__BYTES_ALL},
    {"DepthToSpace", rule_depth_to_space, 0, 1, FT__BYTES_ONE},
    {"Expand", rule_expand, 0, 2, FT__BYTES_ONE},
    {"Pad", rule_pad, 0, 1, FT__BYTES_ONE},
    {"ReverseSequence", rule_reverse_sequence, 0, 2, 0},
    {"Slice", rule_slice, 0, 1, FT__BYTES_ONE},
    {"SpaceToDepth", rule_depth_to_space, 1, 1, FT__BYTES_ONE},
    {"Split", rule_split, 0, 1, 0},
    {"Tile", rule_tile, 0, 2, 0},
    {"Transpose", rule_transpose, 0, 1, FT__BYTES_ONE},
    {"Trilu", rule_trilu, 0, 1, 0},
    {"Pad", rule_pad, 0, 2, FT__MICROSOFT | FT__BYTES_ONE},
    {"QLinearConcat", rule_ms_qconcat, 0, 3, FT__MICROSOFT},
    {"RestorePadding", rule_ms_restore_padding, 0, 2, FT__MICROSOFT},
    {"Trilu", rule_trilu, 0, 1, FT__MICROSOFT},
    {"UnfoldTensor", rule_ms_unfold, 0, 1, FT__MICROSOFT},
};

const ft__rule_table ft__rules_move = {rules, sizeof(rules) / sizeof(*rules)};
