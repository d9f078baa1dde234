/* Kinds that move elements: each is a list of copies between parts of its
 * operands, seen with the axes and strides that make them simple copies. */
#include <stdlib.h>
#include <string.h>

#include "onednn.h"

/* One copy: from in[input] + from_at to out[output] + to_at, in bytes. */
typedef struct piece {
    ft__copy copy;
    uint32_t input; /* ZEROS: the constant 0 */
    uint32_t output;
    int64_t from_at, to_at;
} piece;

#define ZEROS UINT32_MAX

typedef struct pieces {
    uint32_t n;
    int64_t zero;
    piece list[];
} pieces;

static void free_pieces(void *plan)
{
    pieces *p = plan;

    for (uint32_t i = 0; i < p->n; i++)
        ft__copy_clear(&p->list[i].copy);
    free(p);
}

static dnnl_status_t run_pieces(ft_block *b, const ft__call *call)
{
    const pieces *p = b->plan;

    for (uint32_t i = 0; i < p->n; i++) {
        const piece *m = &p->list[i];
        const char *from = m->input == ZEROS ? (const char *)&p->zero
                                             : (const char *)call->in[m->input];
        dnnl_status_t s =
            ft__copy_run(&m->copy, b, from + m->from_at,
                         (char *)call->out[m->output] + m->to_at, call->workspace);

        if (s != dnnl_success)
            return s;
    }
    return dnnl_success;
}

static pieces *new_pieces(ft_block *b, uint32_t at_most, ft_error *err)
{
    pieces *p = ft__new_plan(b, sizeof(*p) + at_most * sizeof(p->list[0]), err);

    if (p)
        b->free_plan = free_pieces;
    ft__use_loops(b, run_pieces);
    return p;
}

/* Append a copy to the plan; an empty one is left out. */
static ft_status add_piece(ft_block *b, piece m, const ft__tensor *from,
                           const ft__tensor *to, ft_error *err)
{
    pieces *p = b->plan;

    if (ft__tensor_elements(to) == 0)
        return FT_OK;
    p->list[p->n] = m;
    return ft__copy_init(&p->list[p->n++].copy, b, from, to, &b->workspace_bytes, err);
}

/* Everything in one copy. */
static ft_status one_piece(ft_block *b, const ft__tensor *from, const ft__tensor *to,
                           uint32_t input, ft_error *err)
{
    ft_status st;

    if (!new_pieces(b, 1, err))
        return FT_ENOMEM;
    st = add_piece(b, (piece){.input = input}, from, to, err);
    if (!st && ((pieces *)b->plan)->n && ((pieces *)b->plan)->list[0].copy.reorder)
        strcpy(b->implementation, "reorder");
    return st;
}

static ft__tensor zeros_like(const ft__tensor *t)
{
    ft__tensor z = *t;

    memset(z.stride, 0, sizeof(z.stride));
    return z;
}

ft_status ft__prepare_transpose(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, y = b->y, from = y;

    for (uint32_t i = 0; i < y.rank; i++)
        from.stride[i] = x.stride[ft_op_at(&b->op, FT_K_perm, i)];
    return one_piece(b, &from, &y, 0, err);
}

ft_status ft__prepare_copy(ft_block *b, ft_error *err)
{
    return one_piece(b, &b->x, &b->y, 0, err);
}

ft_status ft__prepare_fill(ft_block *b, ft_error *err)
{
    ft__tensor zero = zeros_like(&b->y);

    return one_piece(b, &zero, &b->y, ZEROS, err);
}

/* Parts of `whole` along an axis, one after the other. */
static ft_status add_parts(ft_block *b, const ft__tensor *whole, bool join,
                           ft_error *err)
{
    uint32_t n, axis = (uint32_t)ft_op_at(&b->op, FT_K_axis, 0);
    int64_t at = 0, step = whole->stride[axis] * ft__tensor_size(whole);

    (void)ft_op_get(&b->op, FT_K_sizes, &n);
    if (!new_pieces(b, n, err))
        return FT_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        ft__tensor part = join ? ft__tensor_in(&b->op, i) : ft__tensor_out(&b->op, i);
        ft__tensor place = part;
        ft_status st;

        memcpy(place.stride, whole->stride, sizeof(place.stride));
        st = join ? add_piece(b, (piece){.input = i, .to_at = at}, &part, &place, err)
                  : add_piece(b, (piece){.output = i, .from_at = at}, &place, &part,
                              err);
        if (st)
            return st;
        at += part.dim[axis] * step;
    }
    return FT_OK;
}

ft_status ft__prepare_concat(ft_block *b, ft_error *err)
{
    return add_parts(b, &b->y, true, err);
}

ft_status ft__prepare_split(ft_block *b, ft_error *err)
{
    return add_parts(b, &b->x, false, err);
}

static ft_status same_rank(ft_block *b, ft_error *err)
{
    return b->x.rank == b->y.rank ? FT_OK
                                  : ft__unsupported(b, err, "x and out differ in rank");
}

ft_status ft__prepare_slice(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, y = b->y, from = y;
    int64_t step = ft_op_at(&b->op, FT_K_step, 0);
    ft_status st = same_rank(b, err);

    if (st)
        return st;
    for (uint32_t i = 0; i < y.rank; i++) {
        if (y.dim[i] > x.dim[i])
            return ft__unsupported(b, err, "a slice cannot be longer than x");
        if (step > 0 && y.dim[i] - 1 <= (x.dim[i] - 1) / step)
            from.stride[i] = x.stride[i] * step;
        else
            from.stride[i] = x.stride[i];
    }
    return one_piece(b, &from, &y, 0, err);
}

/* The middle is copied, the borders are cleared: axis by axis the slabs in front
 * and behind, as far as the axes before have left room. */
ft_status ft__prepare_pad(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, y = b->y, room = y;
    int64_t size = ft__tensor_size(&y), from_at = 0, to_at = 0;
    ft_status st = same_rank(b, err);

    if (st)
        return st;
    if (!new_pieces(b, 2 * y.rank + 1, err))
        return FT_ENOMEM;
    for (uint32_t i = 0; i < y.rank && !st; i++) {
        int64_t grow = y.dim[i] > x.dim[i] ? y.dim[i] - x.dim[i] : 0, begin = grow / 2;
        ft__tensor slab = room, zero;
        piece m = {.input = ZEROS, .to_at = to_at};

        slab.dim[i] = begin;
        zero = zeros_like(&slab);
        st = add_piece(b, m, &zero, &slab, err);
        slab.dim[i] = zero.dim[i] = grow - begin;
        m.to_at = to_at + (begin + x.dim[i]) * y.stride[i] * size;
        if (!st)
            st = add_piece(b, m, &zero, &slab, err);
        room.dim[i] -= grow;
        to_at += begin * y.stride[i] * size;
        from_at += (x.dim[i] - room.dim[i]) / 2 * x.stride[i] * size;
    }
    if (st)
        return st;
    memcpy(x.dim, room.dim, sizeof(x.dim));
    return add_piece(b, (piece){.from_at = from_at, .to_at = to_at}, &x, &room, err);
}

ft_status ft__prepare_expand(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, y = b->y, from;

    if (x.rank > y.rank)
        return ft__unsupported(b, err, "x has more axes than out");
    for (uint32_t i = 1; i <= x.rank; i++)
        if (x.dim[x.rank - i] != 1 && x.dim[x.rank - i] != y.dim[y.rank - i])
            return ft__unsupported(b, err, "x does not broadcast to out");
    from = ft__tensor_spread(&x, &y);
    return one_piece(b, &from, &y, 0, err);
}

/* Axis i of the result becomes (copies, extent of x). */
ft_status ft__prepare_tile(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, y = b->y;
    ft__tensor from = {.dtype = y.dtype}, to = {.dtype = y.dtype};

    if (x.rank > y.rank)
        return ft__unsupported(b, err, "x has more axes than out");
    x = ft__tensor_widen(&x, y.rank);
    for (uint32_t i = 0; i < y.rank; i++) {
        int64_t copies = x.dim[i] ? y.dim[i] / x.dim[i] : 0;

        if (copies * x.dim[i] != y.dim[i] || to.rank + 2 > FT__RANK)
            return ft__unsupported(b, err,
                                   "out is no multiple of x, or has too many axes");
        if (copies != 1) {
            to.dim[to.rank] = copies;
            from.stride[to.rank] = 0;
            to.stride[to.rank++] = y.stride[i] * x.dim[i];
        }
        to.dim[to.rank] = x.dim[i];
        from.stride[to.rank] = x.stride[i];
        to.stride[to.rank++] = y.stride[i];
    }
    from.rank = to.rank;
    memcpy(from.dim, to.dim, sizeof(to.dim));
    return one_piece(b, &from, &to, 0, err);
}

/* Axes n, block row, block column, c, h, w of both: the deep tensor has them as
 * channels (i * s + j) * C + c, the wide one as rows h * s + i, w * s + j. */
static bool block_axes(const ft__tensor *deep, const ft__tensor *wide, ft__tensor *d,
                       ft__tensor *w)
{
    int64_t c = wide->dim[1], s = wide->dim[2] / deep->dim[2];

    if (s < 1 || wide->dim[2] % deep->dim[2] || wide->dim[3] % deep->dim[3] ||
        wide->dim[3] / deep->dim[3] != s || deep->dim[0] != wide->dim[0] ||
        deep->dim[1] != c * s * s)
        return false;
    *d = (ft__tensor){.rank = 6,
                      .dtype = deep->dtype,
                      .dim = {deep->dim[0], s, s, c, deep->dim[2], deep->dim[3]},
                      .stride = {deep->stride[0], deep->stride[1] * s * c,
                                 deep->stride[1] * c, deep->stride[1], deep->stride[2],
                                 deep->stride[3]}};
    *w = *d;
    memcpy(w->stride,
           (int64_t[]){wide->stride[0], wide->stride[2], wide->stride[3],
                       wide->stride[1], wide->stride[2] * s, wide->stride[3] * s},
           6 * sizeof(w->stride[0]));
    return true;
}

ft_status ft__prepare_blocks(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, y = b->y, d, w;
    bool deep = b->op.kind == FT_KIND_depth_to_space;

    if (x.rank != 4 || y.rank != 4 || ft__tensor_elements(&x) == 0 ||
        !block_axes(deep ? &x : &y, deep ? &y : &x, &d, &w))
        return ft__unsupported(b, err, "x and out are not related by square blocks");
    return deep ? one_piece(b, &d, &w, 0, err) : one_piece(b, &w, &d, 0, err);
}
