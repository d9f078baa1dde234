/* Elements of constants, continued: what picks, places and repeats them. */
#include <stdlib.h>
#include <string.h>

#include "import/onnx/onnx.h"

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

void ft__fold_tile(const ft__onnx_node *node, ft__onnx_value *x, ft__onnx_value *out)
{
    ft__num *to = begin(node, &x, 1, out);
    int64_t n = ft_shape_elements(&out->shape), at[FT_MAX_RANK];

    for (int64_t i = 0; to && i < n; i++) {
        coordinates(&out->shape, i, at);
        for (uint32_t d = 0; d < x->shape.rank; d++)
            at[d] %= x->shape.dim[d];
        to[i] = x->data[offset_of(&x->shape, at)];
    }
}

void ft__fold_pad(const ft__onnx_node *node, ft__onnx_value *x, ft__onnx_value *fill,
                  const int64_t *before, ft__onnx_value *out)
{
    ft__onnx_value *in[] = {x, fill};
    ft__num *to = begin(node, in, fill ? 2 : 1, out);
    bool filled = fill && ft_shape_elements(&fill->shape) == 1;
    int64_t n = ft_shape_elements(&out->shape), at[FT_MAX_RANK];

    for (int64_t i = 0; to && i < n; i++) {
        bool inside = true;

        coordinates(&out->shape, i, at);
        for (uint32_t d = 0; d < x->shape.rank; d++) {
            at[d] -= before[d];
            inside &= at[d] >= 0 && at[d] < x->shape.dim[d];
        }
        to[i] = inside   ? x->data[offset_of(&x->shape, at)]
                : filled ? fill->data[0]
                         : (ft__num){0};
    }
}

void ft__fold_running(const ft__onnx_node *node, ft__onnx_value *x, uint32_t axis,
                      ft__running how, ft__onnx_value *out)
{
    bool real = ft__dtype_is_real(x->dtype);
    ft__num *to = begin(node, &x, 1, out);
    int64_t n = ft_shape_elements(&x->shape), size = x->shape.dim[axis], inner = 1;

    for (uint32_t d = axis + 1; d < x->shape.rank; d++)
        inner *= x->shape.dim[d];
    for (int64_t line = 0; to && size && line < n / size; line++) {
        ft__num *t = to + line / inner * size * inner + line % inner;
        const ft__num *f = x->data + (t - to);
        double sum = how.product;
        uint64_t whole = how.product;

        for (int64_t k = 0; k < size; k++) {
            int64_t i = (how.reverse ? size - 1 - k : k) * inner;

            if (how.exclusive)
                t[i] = real ? (ft__num){.f = sum} : (ft__num){.i = (int64_t)whole};
            if (real)
                sum = how.product ? sum * f[i].f : sum + f[i].f;
            else
                whole =
                    how.product ? whole * (uint64_t)f[i].i : whole + (uint64_t)f[i].i;
            if (!how.exclusive)
                t[i] = real ? (ft__num){.f = sum} : (ft__num){.i = (int64_t)whole};
        }
    }
}

void ft__fold_trilu(const ft__onnx_node *node, ft__onnx_value *x, int64_t k, bool upper,
                    ft__onnx_value *out)
{
    ft__num *to = begin(node, &x, 1, out);
    int64_t n = ft_shape_elements(&x->shape), columns = x->shape.dim[x->shape.rank - 1],
            rows = x->shape.dim[x->shape.rank - 2];

    k = k < -rows ? -rows : k > columns ? columns : k;
    for (int64_t i = 0; to && i < n; i++) {
        int64_t above = i % columns - i / columns % rows - k;

        to[i] = (upper ? above >= 0 : above <= 0) ? x->data[i] : (ft__num){0};
    }
}

void ft__fold_nonzero(const ft__onnx_node *node, ft__onnx_value *x, ft__onnx_value *out)
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

/* ---- by indices ---- */

void ft__fold_gather_elements(const ft__onnx_node *node, ft__onnx_value *x,
                              ft__onnx_value *index, uint32_t axis, ft__onnx_value *out)
{
    ft__onnx_value *in[] = {x, index};
    ft__num *to = begin(node, in, 2, out);
    int64_t n = ft_shape_elements(&index->shape), at[FT_MAX_RANK];

    for (int64_t i = 0; to && i < n; i++) {
        bool inside = true;

        coordinates(&index->shape, i, at);
        at[axis] = from_front(index->data[i].i, x->shape.dim[axis]);
        for (uint32_t d = 0; d < x->shape.rank; d++)
            inside &= at[d] >= 0 && at[d] < x->shape.dim[d];
        if (!inside) {
            out->data = NULL;
            return;
        }
        to[i] = x->data[offset_of(&x->shape, at)];
    }
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

void ft__fold_gather_nd(const ft__onnx_node *node, ft__onnx_value *x,
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

void ft__fold_scatter(const ft__onnx_node *node, ft__onnx_value *const in[3],
                      uint32_t axis, ft__onnx_value *out)
{
    const ft__onnx_value *x = in[0], *updates = in[1], *index = in[2];
    ft__num *to = begin(node, in, 3, out);
    int64_t n = ft_shape_elements(&index->shape), at[FT_MAX_RANK];

    if (!to || index->shape.rank != x->shape.rank ||
        ft_shape_elements(&updates->shape) < n) {
        out->data = NULL;
        return;
    }
    memcpy(to, x->data, (size_t)ft_shape_elements(&x->shape) * sizeof(*to));
    for (int64_t i = 0; i < n; i++) {
        bool inside = true;

        coordinates(&index->shape, i, at);
        at[axis] = from_front(index->data[i].i, x->shape.dim[axis]);
        for (uint32_t d = 0; d < x->shape.rank; d++)
            inside &= at[d] >= 0 && at[d] < x->shape.dim[d];
        if (!inside) {
            out->data = NULL;
            return;
        }
        to[offset_of(&x->shape, at)] = updates->data[i];
    }
}

void ft__fold_scatter_nd(const ft__onnx_node *node, ft__onnx_value *const in[3],
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

/* in: indices, depth, off and on. */
void ft__fold_one_hot(const ft__onnx_node *node, ft__onnx_value *const in[3],
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

/* ---- by value ---- */

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

void ft__fold_topk(const ft__onnx_node *node, ft__onnx_value *x, uint32_t axis,
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

/* Slices along an axis where a condition holds; in a row of all elements, axis
 * is 0 and x as out would be. */
void ft__fold_compress(const ft__onnx_node *node, ft__onnx_value *x,
                       ft__onnx_value *condition, const ft_shape *from, uint32_t axis,
                       ft__onnx_value *out)
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

void ft__fold_arg(const ft__onnx_node *node, ft__onnx_value *x, uint32_t axis,
                  bool largest, bool last, ft__onnx_value *out)
{
    bool real = ft__dtype_is_real(x->dtype);
    ft__num *to = begin(node, &x, 1, out);
    int64_t n = ft_shape_elements(&x->shape), size = x->shape.dim[axis], inner = 1;

    for (uint32_t d = axis + 1; d < x->shape.rank; d++)
        inner *= x->shape.dim[d];
    for (int64_t line = 0; to && size && line < n / size; line++) {
        const ft__num *f = x->data + line / inner * size * inner + line % inner;
        int64_t best = 0;

        for (int64_t k = 1; k < size; k++) {
            ft__num a = f[k * inner], b = f[best * inner];
            int sign = real ? (a.f > b.f) - (a.f < b.f) : (a.i > b.i) - (a.i < b.i);

            if (sign == 0 ? last : (sign > 0) == largest)
                best = k;
        }
        to[line].i = best;
    }
}

/* bound: least and most, NULL where there is none. */
void ft__fold_clip(const ft__onnx_node *node, ft__onnx_value *x,
                   ft__onnx_value *const bound[2], ft__onnx_value *out)
{
    bool real = ft__dtype_is_real(x->dtype);
    ft__num *to = begin(node, &x, 1, out);
    const ft__num *least = ft__data(node, bound[0]), *most = ft__data(node, bound[1]);
    int64_t n = ft_shape_elements(&x->shape);

    for (unsigned i = 0; i < 2; i++)
        if (bound[i] &&
            (!ft__data(node, bound[i]) || ft_shape_elements(&bound[i]->shape) != 1))
            to = out->data = NULL;
    for (int64_t i = 0; to && i < n; i++) {
        to[i] = x->data[i];
        if (least && (real ? to[i].f < least->f : to[i].i < least->i))
            to[i] = *least;
        if (most && (real ? to[i].f > most->f : to[i].i > most->i))
            to[i] = *most;
    }
}

void ft__fold_eye(const ft__onnx_node *node, int64_t k, ft__onnx_value *out)
{
    ft__num *to = ft__fold_new(node, out);
    int64_t n = ft_shape_elements(&out->shape), columns = out->shape.dim[1];
    bool real = ft__dtype_is_real(out->dtype);

    k = k < -n ? -n : k > n ? n : k;
    for (int64_t i = 0; to && i < n; i++) {
        bool one = i % columns - i / columns == k;

        to[i] = real ? (ft__num){.f = one} : (ft__num){.i = one};
    }
}
