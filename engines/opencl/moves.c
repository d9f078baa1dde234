/* Shapes as kernels see them, and kinds that move elements. */
#include <string.h>

#include "opencl.h"

uint32_t ft__merge_axes(int32_t *size, int32_t (*stride)[FT_MAX_RANK],
                        uint32_t n_strides, uint32_t rank)
{
    uint32_t n = 0;

    for (uint32_t d = 0; d < rank; d++) {
        bool joins = n > 0;

        if (size[d] == 1)
            continue;
        for (uint32_t i = 0; i < n_strides; i++)
            joins = joins && stride[i][n - 1] == stride[i][d] * size[d];
        size[joins ? n - 1 : n] = joins ? size[n - 1] * size[d] : size[d];
        for (uint32_t i = 0; i < n_strides; i++)
            stride[i][joins ? n - 1 : n] = stride[i][d];
        n += !joins;
    }
    if (n)
        return n;
    size[0] = 1;
    for (uint32_t i = 0; i < n_strides; i++)
        stride[i][0] = 0;
    return 1;
}

void ft__strides(int32_t *stride, const ft_shape *s, const ft_shape *result)
{
    int64_t step = 1;

    memset(stride, 0, FT_MAX_RANK * sizeof(*stride));
    for (uint32_t d = s->rank; d-- > 0;) {
        stride[result->rank - s->rank + d] = s->dim[d] == 1 ? 0 : (int32_t)step;
        step *= s->dim[d];
    }
}

int64_t ft__elements(const ft_shape *s, uint32_t first, uint32_t end)
{
    int64_t n = 1;

    for (uint32_t d = first; d < end; d++)
        n *= s->dim[d];
    return n;
}

static ft_shape output(const ft_block *b)
{
    ft_shape s;
    ft_dtype t;

    ft_op_output(&b->op, 0, &s, &t);
    return s;
}

/* What one launch moves. */
typedef struct move {
    uint32_t rank, in, out;
    int32_t size[FT_MAX_RANK];
    int32_t stride[2][FT_MAX_RANK]; /* of x, of y */
    int64_t from, to;
} move;

static void launch(ft_block *b, const char *kernel)
{
    static const char *const types[] = {"uchar", "ushort", NULL, "uint",
                                        NULL,    NULL,     NULL, "ulong"};
    uint32_t bits = ft_dtype_bits(b->op.dtype);
    const char *t = bits >= 8 && bits <= 64 ? types[bits / 8 - 1] : NULL;

    if (t)
        ft__kernel(b, "move", kernel, t, t, "");
    else
        (void)ft__unsupported(b, "no kernel moves elements of this type");
}

static void launch_move(ft_block *b, move *m)
{
    int32_t sizes[24] = {0};
    int64_t n = 1;

    m->rank = ft__merge_axes(m->size, m->stride, 2, m->rank);
    memcpy(sizes, m->size, m->rank * sizeof(*sizes));
    memcpy(sizes + 8, m->stride[0], m->rank * sizeof(*sizes));
    memcpy(sizes + 16, m->stride[1], m->rank * sizeof(*sizes));
    for (uint32_t d = 0; d < m->rank; d++)
        n *= m->size[d];
    launch(b, "k_move");
    ft__arg_in(b, m->in);
    ft__arg_out(b, m->out);
    ft__arg_ints(b, n, m->rank);
    ft__arg_sizes(b, sizes, 24);
    ft__arg_ints(b, m->from, m->to);
    ft__range(b, n);
}

/* As many elements as `part` has, from the first of x to the first of y on. */
static move move_of(const ft_shape *part, const ft_shape *x, const ft_shape *y)
{
    move m = {.rank = part->rank};

    for (uint32_t d = 0; d < part->rank; d++)
        m.size[d] = (int32_t)part->dim[d];
    ft__strides(m.stride[0], x, part);
    ft__strides(m.stride[1], y, part);
    return m;
}

static void build_transpose(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), out = output(b);
    move m = move_of(&out, &out, &out);
    int32_t own[FT_MAX_RANK];

    ft__strides(own, &x, &x);
    for (uint32_t d = 0; d < out.rank; d++)
        m.stride[0][d] = own[ft_op_at(&b->op, FT_K_perm, d)];
    launch_move(b, &m);
}

/* Parts of a concatenation into the result, or parts of the operand of a split out of
 * it: which of both is the whole. */
static void build_parts(ft_block *b, bool split)
{
    uint32_t axis = (uint32_t)ft_op_at(&b->op, FT_K_axis, 0);
    uint32_t n = split ? b->n_out : ft_op_n_inputs(&b->op);
    ft_shape whole = split ? ft_op_shape(&b->op, FT_K_x) : output(b);
    int64_t inner = ft__elements(&whole, axis + 1, whole.rank), at = 0;

    for (uint32_t i = 0; i < n; i++) {
        ft_shape part = whole;
        move m;

        part.dim[axis] = ft_op_at(&b->op, FT_K_sizes, i);
        m = move_of(&part, split ? &whole : &part, split ? &part : &whole);
        *(split ? &m.out : &m.in) = i;
        *(split ? &m.from : &m.to) = at * inner;
        at += part.dim[axis];
        launch_move(b, &m);
    }
}

static void build_slice(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), out = output(b);
    int64_t step = ft_op_at(&b->op, FT_K_step, 0);
    move m = move_of(&out, &out, &out);

    ft__strides(m.stride[0], &x, &x);
    for (uint32_t d = 0; d < out.rank; d++)
        if ((out.dim[d] - 1) * step < x.dim[d])
            m.stride[0][d] *= (int32_t)step;
    launch_move(b, &m);
}

static void build_expand(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), out = output(b);
    move m = move_of(&out, &x, &out);

    launch_move(b, &m);
}

/* Blocks of s x s pixels as channels, block index first, and back: axes n, block row,
 * block column, c, h, w of the deep tensor. */
static void build_blocks(ft_block *b, bool to_space)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), out = output(b);
    ft_shape wide = to_space ? out : x, deep = to_space ? x : out;
    int32_t s = (int32_t)(wide.dim[2] / deep.dim[2]), c = (int32_t)wide.dim[1];
    int32_t h = (int32_t)deep.dim[2], w = (int32_t)deep.dim[3];
    int32_t of_deep[] = {s * s * c * h * w, s * c * h * w, c * h * w, h * w, w, 1};
    int32_t of_wide[] = {c * h * s * w * s, w * s, 1, h * s * w * s, s * w * s, s};
    move m = {.rank = 6, .size = {(int32_t)x.dim[0], s, s, c, h, w}};

    memcpy(m.stride[!to_space], of_deep, sizeof(of_deep));
    memcpy(m.stride[to_space], of_wide, sizeof(of_wide));
    launch_move(b, &m);
}

static void build_copy(ft_block *b)
{
    move m = {.rank = 1, .stride = {{1}, {1}}};
    ft_shape s = output(b);

    m.size[0] = (int32_t)ft_shape_elements(&s);
    launch_move(b, &m);
}

/* Sizes of the result and the operand, whose axes stand under each other. */
static void build_with_sizes(ft_block *b, const char *kernel)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), out = output(b);
    int32_t sizes[32] = {0};
    int64_t n = ft_shape_elements(&out);

    for (uint32_t d = 0; d < out.rank; d++) {
        int64_t own = d + x.rank < out.rank ? 1 : x.dim[d + x.rank - out.rank];

        sizes[d] = (int32_t)out.dim[d];
        sizes[8 + d] = (int32_t)own;
        sizes[24 + d] = (int32_t)((out.dim[d] - own) / 2);
    }
    ft__strides(sizes + 16, &x, &out);
    launch(b, kernel);
    ft__arg_map(b, n);
    ft__arg_ints(b, out.rank);
    ft__arg_sizes(b, sizes, 32);
    ft__range(b, n);
}

static void build_fill(ft_block *b)
{
    ft_shape s = output(b);

    launch(b, "k_fill");
    ft__arg_out(b, 0);
    ft__arg_ints(b, ft_shape_elements(&s));
    ft__range(b, ft_shape_elements(&s));
}

static void build_gather(ft_block *b, bool embedding)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), out = output(b), picked = x;
    uint32_t axis = (uint32_t)ft_op_at(&b->op, FT_K_axis, 0);
    ft_dtype t = FT_DTYPE_int64;
    int64_t extent = ft_op_at(&b->op, FT_K_rows, 0);
    int64_t inner = ft_op_at(&b->op, FT_K_dim, 0);

    if (embedding) {
        ft_op_input(&b->op, 0, &picked, &t);
    } else {
        ft_op_input(&b->op, 1, &picked, &t);
        extent = x.dim[axis];
        inner = ft__elements(&x, axis + 1, x.rank);
    }
    if (t != FT_DTYPE_int64)
        (void)ft__unsupported(b, "indices are int64");
    launch(b, "k_gather");
    ft__arg_in(b, embedding);
    ft__arg_in(b, !embedding);
    ft__arg_out(b, 0);
    ft__arg_ints(b, ft_shape_elements(&out), extent, ft_shape_elements(&picked), inner);
    ft__range(b, ft_shape_elements(&out));
}

void ft__build_move(ft_block *b)
{
    switch (b->op.kind) {
    case FT_KIND_transpose: build_transpose(b); break;
    case FT_KIND_concat: build_parts(b, false); break;
    case FT_KIND_split: build_parts(b, true); break;
    case FT_KIND_slice: build_slice(b); break;
    case FT_KIND_expand: build_expand(b); break;
    case FT_KIND_depth_to_space: build_blocks(b, true); break;
    case FT_KIND_space_to_depth: build_blocks(b, false); break;
    case FT_KIND_tile: build_with_sizes(b, "k_tile"); break;
    case FT_KIND_pad: build_with_sizes(b, "k_pad"); break;
    case FT_KIND_gather: build_gather(b, false); break;
    case FT_KIND_embedding: build_gather(b, true); break;
    case FT_KIND_fill: build_fill(b); break;
    case FT_KIND_copy: build_copy(b); break;
    case FT_KIND_resize: ft__build_resize(b); break;
    default: (void)ft__unsupported(b, "there is no kernel for this kind"); break;
    }
}
