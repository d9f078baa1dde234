/* What picks or places elements by indices or by value, of constants, too. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/compose.h"
#include "import/rules/ops.h"

/* Row-major coordinates of the i-th element. */
static void coordinates(const ft_shape *s, int64_t i, int64_t *at)
{
    for (uint32_t d = s->rank; d-- > 0;) {
        at[d] = i % s->dim[d];
        i /= s->dim[d];
    }
}

static int64_t offset_of(const ft_shape *s, const int64_t *at)
{
    int64_t offset = 0;

    for (uint32_t d = 0; d < s->rank; d++)
        offset = offset * s->dim[d] + at[d];
    return offset;
}

/* An index counted from either end; -1: it lies outside. */
static int64_t from_front(int64_t i, int64_t size)
{
    i += i < 0 ? size : 0;
    return i >= 0 && i < size ? i : -1;
}

/* Room for the result when all of these are known; else NULL. */
static ft__num *begin(const ft__onnx_node *node, ft__onnx_value *const *in, uint32_t n,
                      ft__onnx_value *out)
{
    for (uint32_t i = 0; i < n; i++)
        if (!ft__data(node, in[i]))
            return NULL;
    return ft__fold_new(node, out);
}

static void fold_gather(const ft__onnx_node *node, ft__onnx_value *x,
                        ft__onnx_value *index, uint32_t axis, ft__onnx_value *out)
{
    const ft__num *d = ft__data(node, x), *at = ft__data(node, index);
    int64_t outer = 1, inner = 1, size = x->shape.dim[axis], n, to = 0;

    if (!d || !at || !ft__fold_new(node, out))
        return;
    for (uint32_t i = 0; i < x->shape.rank; i++) {
        outer *= i < axis ? x->shape.dim[i] : 1;
        inner *= i > axis ? x->shape.dim[i] : 1;
    }
    n = ft_shape_elements(&index->shape);
    for (int64_t r = 0; r < outer && inner; r++)
        for (int64_t i = 0; i < n; i++, to += inner) {
            int64_t k = at[i].i < 0 ? at[i].i + size : at[i].i;

            if (k < 0 || k >= size) {
                out->data = NULL;
                return;
            }
            memcpy(out->data + to, d + (r * size + k) * inner,
                   (size_t)inner * sizeof(*d));
        }
}

/* x at places along axis; rows of a constant table are an embedding. `places`:
 * the shape of the indices. */
static void gather(ft__onnx_node *n, uint32_t axis, const ft_shape *places)
{
    ft__onnx_value *x = n->in[0], *index = n->in[1];
    ft_shape s = {0};
    ft_op op;

    for (uint32_t i = 0; i < axis; i++)
        ft__push(n, &s, x->shape.dim[i]);
    for (uint32_t i = 0; i < places->rank; i++)
        ft__push(n, &s, places->dim[i]);
    for (uint32_t i = axis + 1; i < x->shape.rank; i++)
        ft__push(n, &s, x->shape.dim[i]);
    if (ft__failed(n))
        return;
    if (ft__is_constant(x) && ft__dtype_is_real(x->dtype) && x->shape.rank == 2 &&
        axis == 0) {
        op = ft__op_embedding(x->dtype, places, x->shape.dim[0], x->shape.dim[1]);
        ft__emit_weighted(n, &op, &index, 1, &x, 1, &s);
        return;
    }
    op = ft__op_x(FT_KIND_gather, x);
    ft__op_set_shape(&op, FT_K_y, places);
    ft__op_set1(&op, FT_K_axis, axis);
    if (ft__emit2(n, &op, x, index, &s))
        fold_gather(n, x, index, axis, n->out[0]);
}

static void rule_gather(ft__onnx_node *n)
{
    gather(n, ft__attr_axis(n, 0), &n->in[1]->shape);
}

/* Features by their numbers: the last axis, one number or a list of them. */
static void rule_array_feature(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;
    ft_shape places = {.rank = 1, .dim = {ft_shape_elements(&n->in[1]->shape)}};

    if (x->rank == 1) { /* gives a row */
        ft_shape s = {.rank = 2, .dim = {1, places.dim[0]}};
        ft_op op = ft__op_x(FT_KIND_gather, n->in[0]);

        ft__op_set_shape(&op, FT_K_y, &places);
        ft__op_set1(&op, FT_K_axis, 0);
        ft__emit2(n, &op, n->in[0], n->in[1], &s);
        return;
    }
    gather(n, ft__axis(n, -1, x->rank), &places);
}

/* The element of x where element i of the index lies, but along the axis, where that
 * says where; -1: outside. */
static int64_t element_at(const ft__onnx_value *x, const ft__onnx_value *index,
                          int64_t i, uint32_t axis)
{
    int64_t at[FT_MAX_RANK];

    coordinates(&index->shape, i, at);
    at[axis] = from_front(index->data[i].i, x->shape.dim[axis]);
    for (uint32_t d = 0; d < x->shape.rank; d++)
        if (at[d] < 0 || at[d] >= x->shape.dim[d])
            return -1;
    return offset_of(&x->shape, at);
}

static void fold_gather_elements(const ft__onnx_node *node, ft__onnx_value *x,
                                 ft__onnx_value *index, uint32_t axis,
                                 ft__onnx_value *out)
{
    ft__onnx_value *in[] = {x, index};
    ft__num *to = begin(node, in, 2, out);
    int64_t n = ft_shape_elements(&index->shape);

    for (int64_t i = 0; to && i < n; i++) {
        int64_t at = element_at(x, index, i, axis);

        if (at < 0) {
            out->data = NULL;
            return;
        }
        to[i] = x->data[at];
    }
}

static void rule_gather_elements(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *index = n->in[1];
    ft_op op = ft__op_xy(FT_KIND_gather_elements, x, index);
    uint32_t axis = ft__attr_axis(n, 0);

    if (index->shape.rank != x->shape.rank) {
        ft__onnx_fail(n, "its indices have %u dimensions, not %u", index->shape.rank,
                      x->shape.rank);
        return;
    }
    ft__op_set1(&op, FT_K_axis, axis);
    if (ft__emit2(n, &op, x, index, &index->shape))
        fold_gather_elements(n, x, index, axis, n->out[0]);
}

/* Where the rows of an index tensor point to: offsets of pieces of `piece`
 * elements in x; false: outside. */
static bool row_offset(const ft__onnx_value *x, const ft__num *row, int64_t width,
                       int64_t piece, int64_t *offset)
{
    *offset = 0;
    for (int64_t d = 0; d < width; d++) {
        int64_t i = from_front(row[d].i, x->shape.dim[d]);

        if (i < 0)
            return false;
        *offset = *offset * x->shape.dim[d] + i;
    }
    *offset *= piece;
    return true;
}

static int64_t row_width(const ft__onnx_value *index)
{
    return index->shape.rank ? index->shape.dim[index->shape.rank - 1] : 0;
}

static int64_t piece_of(const ft__onnx_value *x, int64_t width)
{
    int64_t piece = 1;

    for (int64_t d = width; d < (int64_t)x->shape.rank; d++)
        piece *= x->shape.dim[d];
    return piece;
}

static void fold_gather_nd(const ft__onnx_node *node, ft__onnx_value *x,
                           ft__onnx_value *index, ft__onnx_value *out)
{
    ft__onnx_value *in[] = {x, index};
    ft__num *to = begin(node, in, 2, out);
    int64_t width = row_width(index), piece = piece_of(x, width), offset,
            rows = width ? ft_shape_elements(&index->shape) / width : 0;

    if (width == 0)
        out->data = NULL;
    for (int64_t r = 0; to && r < rows && piece; r++) {
        if (!row_offset(x, index->data + r * width, width, piece, &offset)) {
            out->data = NULL;
            return;
        }
        memcpy(to + r * piece, x->data + offset, (size_t)piece * sizeof(*to));
    }
}

/* Every last row of indices picks a piece of x; with one index in it, it is a
 * gather. */
static void rule_gather_nd(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *index = n->in[1];
    int64_t batch = ft__attr_int(n, "batch_dims", 0), from;
    ft_shape s = {0};
    ft_op op;

    from = index->shape.rank ? index->shape.dim[index->shape.rank - 1] : -1;
    if (from < 0 || batch < 0 || batch > x->shape.rank ||
        from > x->shape.rank - batch) {
        ft__onnx_fail(n, "its indices do not fit its operand");
        return;
    }
    for (uint32_t i = 0; i + 1 < index->shape.rank; i++)
        ft__push(n, &s, index->shape.dim[i]);
    if (batch == 0 && from == 1) {
        gather(n, 0, &s);
        return;
    }
    for (uint32_t i = (uint32_t)(batch + from); i < x->shape.rank; i++)
        ft__push(n, &s, x->shape.dim[i]);
    if (ft__failed(n))
        return;
    op = ft__op_xy(FT_KIND_gather_nd, x, index);
    ft__op_set_shape(&op, FT_K_out, &s);
    if (ft__emit2(n, &op, x, index, &s) && batch == 0)
        fold_gather_nd(n, x, index, n->out[0]);
}

/* in: a tensor, updates, indices. */
static void fold_scatter(const ft__onnx_node *node, ft__onnx_value *const in[3],
                         uint32_t axis, ft__onnx_value *out)
{
    const ft__onnx_value *x = in[0], *updates = in[1], *index = in[2];
    ft__num *to = begin(node, in, 3, out);
    int64_t n = ft_shape_elements(&index->shape);

    if (!to || index->shape.rank != x->shape.rank ||
        ft_shape_elements(&updates->shape) < n) {
        out->data = NULL;
        return;
    }
    memcpy(to, x->data, (size_t)ft_shape_elements(&x->shape) * sizeof(*to));
    for (int64_t i = 0; i < n; i++) {
        int64_t at = element_at(x, index, i, axis);

        if (at < 0) {
            out->data = NULL;
            return;
        }
        to[at] = updates->data[i];
    }
}

static void fold_scatter_nd(const ft__onnx_node *node, ft__onnx_value *const in[3],
                            ft__onnx_value *out)
{
    const ft__onnx_value *x = in[0], *updates = in[1], *index = in[2];
    ft__num *to = begin(node, in, 3, out);
    int64_t width = row_width(index), rows, piece, offset;

    if (!to || width < 1 || width > (int64_t)x->shape.rank) {
        out->data = NULL;
        return;
    }
    rows = ft_shape_elements(&index->shape) / width;
    piece = piece_of(x, width);
    if (ft_shape_elements(&updates->shape) < rows * piece)
        rows = -1;
    memcpy(to, x->data, (size_t)ft_shape_elements(&x->shape) * sizeof(*to));
    for (int64_t r = 0; r < rows && piece; r++) {
        if (!row_offset(x, index->data + r * width, width, piece, &offset))
            rows = -1;
        else
            memcpy(to + offset, updates->data + r * piece, (size_t)piece * sizeof(*to));
    }
    if (rows < 0)
        out->data = NULL;
}

/* Updates into a copy of x. arg: 0 at indices along an axis, 1 at rows of
 * indices, 2 into a cache, where the place is optional. */
static void rule_scatter(ft__onnx_node *n)
{
    int form = n->rule->arg;
    ft__onnx_value *x = n->in[0], *updates = n->in[form == 2 ? 1 : 2],
                   *index = ft__in(n, form == 2 ? 2 : 1);
    ft_op op = ft__op_xy(FT_KIND_scatter, x, updates);
    ft__str how = ft__attr_str(n, "reduction");
    ft__onnx_value *in[] = {x, updates, index};

    if (!ft__is_constant(
            ft__make_of(n, &op, in, index ? 3 : 2, &x->shape, n->out[0])) ||
        (how.n && !ft__str_is(how, "none")))
        return;
    if (form == 0)
        fold_scatter(n, in, ft__attr_axis(n, 0), n->out[0]);
    else if (form == 1)
        fold_scatter_nd(n, in, n->out[0]);
}

struct ranked {
    double key;
    int64_t index;
};

static int by_key(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;

    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* out: values and their places, NULL where nobody reads them. */
static void fold_topk(const ft__onnx_node *node, ft__onnx_value *x, uint32_t axis,
                      bool largest, ft__onnx_value *const out[2])
{
    bool real = ft__dtype_is_real(x->dtype);
    int64_t n = ft_shape_elements(&x->shape), size = x->shape.dim[axis], inner = 1, k;
    struct ranked *r = ft__onnx_alloc(node->import, (size_t)size, sizeof(*r));
    ft__num *to[2] = {NULL, NULL};

    for (uint32_t d = axis + 1; d < x->shape.rank; d++)
        inner *= x->shape.dim[d];
    for (uint32_t i = 0; i < 2 && r; i++)
        if (out[i])
            to[i] = begin(node, &x, 1, out[i]);
    if (!r || (!to[0] && !to[1]))
        return;
    k = out[to[0] ? 0 : 1]->shape.dim[axis];
    for (int64_t line = 0; size && line < n / size; line++) {
        int64_t from = line / inner * size * inner + line % inner,
                at = line / inner * k * inner + line % inner;

        for (int64_t i = 0; i < size; i++) {
            ft__num v = x->data[from + i * inner];
            double key = real ? v.f : (double)v.i;

            r[i] = (struct ranked){largest ? -key : key, i};
        }
        qsort(r, (size_t)size, sizeof(*r), by_key);
        for (int64_t i = 0; i < k; i++) {
            if (to[0])
                to[0][at + i * inner] = x->data[from + r[i].index * inner];
            if (to[1])
                to[1][at + i * inner].i = r[i].index;
        }
    }
}

static void rule_topk(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *out[2] = {n->out[0], ft__out(n, 1)};
    ft_shape s = x->shape;
    uint32_t axis = ft__attr_axis(n, -1);
    int64_t k = ft__attr_int(n, "k", 0);
    bool known = !ft__in(n, 1) || ft__ints(n, n->in[1], &k, 1) == 1;
    ft__onnx_call c = {
        .in = n->in, .n_in = n->n_in > 1 && n->in[1] ? 2 : 1, .out = out};
    ft_op op = ft__op_x(FT_KIND_topk, x);

    c.n_out = 2;
    if (ft__failed(n))
        return;
    if (!known) {
        s = ft__guess(n->import, &s, 1u << axis);
        k = s.dim[axis] < x->shape.dim[axis] ? s.dim[axis] : x->shape.dim[axis];
    }
    if (k < 0 || k > x->shape.dim[axis]) {
        ft__onnx_fail(n, "it wants %lld of %lld elements", (long long)k,
                      (long long)x->shape.dim[axis]);
        return;
    }
    ft__op_set1(&op, FT_K_axis, axis);
    ft__op_set1(&op, FT_K_size, k);
    c.open = known ? 0 : 1u << axis;
    if (ft__emit(n, &op, &c) && known)
        fold_topk(n, x, axis, ft__attr_int(n, "largest", 1) != 0, out);
}

/* How many elements of a constant are not zero; -1: it is none. */
static int64_t count_true(const ft__onnx_node *n, ft__onnx_value *v, int64_t most)
{
    const ft__num *d = v->guessed ? NULL : ft__data(n, v);
    int64_t size = ft_shape_elements(&v->shape), count = 0;
    bool real = ft__dtype_is_real(v->dtype);

    for (int64_t i = 0; d && i < size && i < most; i++)
        count += real ? d[i].f != 0 : d[i].i != 0;
    return d ? count : -1;
}

/* An operation of this kind whose result has `s`, guessed along dimension 0 <=
 * axis < 8, or known. */
static void pick(ft__onnx_node *n, ft_op *op, ft__onnx_value *const *in, uint32_t n_in,
                 ft_shape *s, uint32_t open)
{
    ft__onnx_call c = {
        .in = in, .n_in = n_in, .out = n->out, .n_out = 1, .shape = s, .open = open};

    if (open)
        *s = ft__guess(n->import, s, open);
    ft__op_set_shape(op, FT_K_out, s);
    ft__emit(n, op, &c);
}

static void fold_nonzero(const ft__onnx_node *node, ft__onnx_value *x,
                         ft__onnx_value *out)
{
    ft__num *to = begin(node, &x, 1, out);
    int64_t n = ft_shape_elements(&x->shape), count = out->shape.dim[1], found = 0,
            at[FT_MAX_RANK];
    bool real = ft__dtype_is_real(x->dtype);

    for (int64_t i = 0; to && i < n && found < count; i++) {
        if (real ? x->data[i].f == 0 : x->data[i].i == 0)
            continue;
        coordinates(&x->shape, i, at);
        for (uint32_t d = 0; d < x->shape.rank; d++)
            to[d * count + found].i = at[d];
        found++;
    }
}

/* Coordinates of the elements that are not zero. */
static void rule_nonzero(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    int64_t size = ft_shape_elements(&x->shape), count = count_true(n, x, size);
    ft_shape s = {.rank = 2, .dim = {x->shape.rank, count < 0 ? size : count}};
    ft_op op;

    if (count >= 0) {
        ft__define_constant(n, n->out[0], FT_DTYPE_int64, &s);
        fold_nonzero(n, x, n->out[0]);
        return;
    }
    op = ft__op_of(FT_KIND_nonzero, FT_DTYPE_int64, &x->shape);
    pick(n, &op, &x, 1, &s, size ? 1u << 1 : 0);
}

/* Slices along an axis where a condition holds; in a row of all elements, axis
 * is 0 and x as out would be. */
static void fold_compress(const ft__onnx_node *node, ft__onnx_value *x,
                          ft__onnx_value *condition, const ft_shape *from,
                          uint32_t axis, ft__onnx_value *out)
{
    ft__onnx_value *in[] = {x, condition};
    ft__num *to = begin(node, in, 2, out);
    int64_t n = ft_shape_elements(from), most = ft_shape_elements(&condition->shape),
            left = ft_shape_elements(&out->shape), at[FT_MAX_RANK];

    for (int64_t i = 0; to && i < n && left > 0; i++) {
        coordinates(from, i, at);
        if (at[axis] >= most || !condition->data[at[axis]].i)
            continue;
        *to++ = x->data[i];
        left--;
    }
}

/* Slices along an axis, or elements, where a condition holds. */
static void rule_compress(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    int64_t given = ft__attr_int(n, "axis", INT64_MIN), have;
    ft_shape s = {.rank = 1, .dim = {ft_shape_elements(&x->shape)}}, from;
    ft_op op = ft__op_x(FT_KIND_nonzero, x);
    uint32_t axis = 0;

    if (given != INT64_MIN) {
        s = x->shape;
        axis = ft__axis(n, given, s.rank);
    }
    if (ft__failed(n))
        return;
    from = s;
    have = count_true(n, n->in[1], s.dim[axis]);
    if (have >= 0)
        s.dim[axis] = have;
    else if (s.dim[axis] > ft_shape_elements(&n->in[1]->shape))
        s.dim[axis] = ft_shape_elements(&n->in[1]->shape);
    pick(n, &op, n->in, 2, &s, have < 0 ? 1u << axis : 0);
    if (have >= 0 && ft__is_constant(n->out[0]))
        fold_compress(n, x, n->in[1], &from, axis, n->out[0]);
}

/* Sorted, then one of each: values, where they stood first, which each was, how
 * many there were. */
static void rule_unique(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *sorted = ft__onnx_temp(n, x);
    int64_t given = ft__attr_int(n, "axis", INT64_MIN);
    ft_shape s = {.rank = 1, .dim = {ft_shape_elements(&x->shape)}}, list;
    ft_op op = ft__op_x(FT_KIND_copy, x);
    uint32_t axis = 0;

    if (given != INT64_MIN) {
        s = x->shape;
        axis = ft__axis(n, given, s.rank);
    }
    if (!sorted || ft__failed(n))
        return;
    list = (ft_shape){.rank = 1, .dim = {s.dim[axis]}};
    if (s.dim[axis] > 0) {
        op = ft__op_of(FT_KIND_topk, x->dtype, &s);
        ft__op_set1(&op, FT_K_axis, axis);
        ft__op_set1(&op, FT_K_size, s.dim[axis]);
    }
    ft__emit(n, &op,
             &(ft__onnx_call){.in = &x,
                              .n_in = 1,
                              .out = (ft__onnx_value *[]){sorted, NULL},
                              .n_out = ft_op_n_outputs(&op)});
    if (ft__failed(n))
        return;
    op = ft__op_x(FT_KIND_nonzero, sorted);
    pick(n, &op, &sorted, 1, &s, s.dim[axis] > 1 ? 1u << axis : 0);
    for (uint32_t i = 1; i < 4; i++)
        ft__emit_extra_open(n, i, FT_DTYPE_int64, &list,
                            i != 2 && list.dim[0] > 1 ? 1u : 0);
}

/* in: indices, depth, off and on. */
static void fold_one_hot(const ft__onnx_node *node, ft__onnx_value *const in[3],
                         uint32_t axis, ft__onnx_value *out)
{
    const ft__onnx_value *x = in[0];
    ft__num *to = begin(node, in, 3, out);
    int64_t n = ft_shape_elements(&out->shape), at[FT_MAX_RANK];

    if (!to || ft_shape_elements(&in[2]->shape) != 2 || ft__dtype_is_real(x->dtype)) {
        out->data = NULL;
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t place, k = 0;

        coordinates(&out->shape, i, at);
        for (uint32_t d = 0; d < out->shape.rank; d++)
            if (d != axis)
                k = k * out->shape.dim[d] + at[d];
        place = from_front(x->data[k].i, out->shape.dim[axis]);
        to[i] = in[2]->data[place == at[axis]];
    }
}

/* A new axis of `depth` with one element on; depth unknown: open. */
static void rule_one_hot(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    uint32_t axis = ft__axis(n, ft__attr_int(n, "axis", -1), x->shape.rank + 1);
    ft_shape s = {0};
    double depth;
    bool known = ft__scalar(n, n->in[1], &depth);
    ft_op op;

    if (known && !(depth >= 0 && depth < (double)FT__MAX_ELEMENTS)) {
        ft__onnx_fail(n, "its depth is %g", depth);
        return;
    }
    for (uint32_t i = 0; i <= x->shape.rank; i++)
        ft__push(n, &s,
                 i == axis ? (known ? (int64_t)depth : 1)
                           : x->shape.dim[i - (i > axis)]);
    if (ft__failed(n))
        return;
    op = ft__op_of(FT_KIND_one_hot, n->in[2]->dtype, &x->shape);
    pick(n, &op, n->in, 3, &s, known ? 0 : 1u << axis);
    if (known && ft__is_constant(n->out[0]))
        fold_one_hot(n, n->in, axis, n->out[0]);
}

/* Boxes kept, for each batch and class, as rows of three numbers. */
static void rule_nms(ft__onnx_node *n)
{
    const ft_shape *boxes = &n->in[0]->shape, *scores = &n->in[1]->shape;
    ft__onnx_value *limit = ft__in(n, 2);
    ft_shape s = {.rank = 2, .dim = {0, 3}};
    int64_t most = 0;
    ft_op op;

    if (boxes->rank != 3 || scores->rank != 3 || boxes->dim[0] != scores->dim[0] ||
        boxes->dim[1] != scores->dim[2]) {
        ft__onnx_fail(n, "boxes and scores do not fit together");
        return;
    }
    if (!limit || ft__ints(n, limit, &most, 1) != 1 || most > boxes->dim[1])
        most = limit ? boxes->dim[1] : 0;
    most = most < 0 ? 0 : most;
    s.dim[0] = scores->dim[0] * scores->dim[1];
    if (s.dim[0] && most > FT__MAX_ELEMENTS / s.dim[0]) {
        ft__onnx_fail(n, "it may keep more than 2^52 boxes");
        return;
    }
    s.dim[0] *= most;
    op = ft__op_of(FT_KIND_nms, n->in[0]->dtype, boxes);
    ft__op_set_shape(&op, FT_K_y, scores);
    pick(n, &op, n->in, 2, &s, s.dim[0] ? 1u : 0);
}

/* Rows of a quantised table, real when they are read. */
static void rule_ms_gather_quantised(ft__onnx_node *n)
{
    ft__onnx_value *data = n->in[0], *index = n->in[1];
    uint32_t axis = ft__axis(n, ft__attr_int(n, "gather_axis", 0), data->shape.rank);
    bool halves = data->dtype == FT_DTYPE_uint8 && ft__attr_int(n, "bits", 4) == 4;
    ft_shape s = {0};

    if (ft__failed(n))
        return;
    for (uint32_t i = 0; i < data->shape.rank; i++) {
        for (uint32_t d = 0; i == axis && d < index->shape.rank; d++)
            ft__push(n, &s, index->shape.dim[d]);
        if (i != axis)
            ft__push(n, &s,
                     data->shape.dim[i] *
                         (halves && i + 1 == data->shape.rank ? 2 : 1));
    }
    if (ft__failed(n))
        return;
    if (axis == 0 && data->shape.rank == 2 && ft__is_constant(data))
        ft__make_embedding(
            n, index,
            &(ft__embedding_rows){.table = data,
                                  .rows = data->shape.dim[0],
                                  .dim = s.dim[s.rank - 1],
                                  .dtype = n->in[2]->dtype,
                                  .weights = halves ? FT_DTYPE_uint4 : data->dtype},
            n->out[0]);
    else
        ft__emit_generic(n, n->out[0], n->in[2]->dtype, &s);
}

static const ft__operator_rule rules[] = {
    {"Compress", rule_compress, 0, 2, 0},
    {"Gather", rule_gather, 0, 2, FT__LAYER | FT__BYTES_ONE},
    {"GatherElements", rule_gather_elements, 0, 2, 0},
    {"GatherND", rule_gather_nd, 0, 2, FT__LAYER},
    {"NonMaxSuppression", rule_nms, 0, 2, 0},
    {"NonZero", rule_nonzero, 0, 1, 0},
    {"OneHot", rule_one_hot, 0, 3, 0},
    {"Scatter", rule_scatter, 0, 3, 0},
    {"ScatterElements", rule_scatter, 0, 3, 0},
    {"ScatterND", rule_scatter, 1, 3, 0},
    {"TensorScatter", rule_scatter, 2, 2, 0},
    {"TopK", rule_topk, 0, 1, 0},
    {"Unique", rule_unique, 0, 1, 0},
    {"ArrayFeatureExtractor", rule_array_feature, 0, 2, FT__ML},
    {"GatherBlockQuantized", rule_ms_gather_quantised, 0, 3, FT__MICROSOFT},
    {"GatherND", rule_gather_nd, 0, 2, FT__MICROSOFT | FT__LAYER},
    {"TorchEmbedding", rule_gather, 0, 2, FT__MICROSOFT | FT__LAYER | FT__BYTES_ONE},
};

const ft__rule_table ft__rules_pick = {rules, sizeof(rules) / sizeof(*rules)};
