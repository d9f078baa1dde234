/* Operators that move elements. */
#include <string.h>

#include "node.h"

static int64_t at(const ft__model *m, ft_key_id key, uint32_t i)
{
    return ft_op_at(m->op, key, i);
}

/* Leading axes of one element, so that x has as many as the result. */
static void raise_rank(ft__model *m)
{
    uint32_t more = m->out[0].rank - m->in[0].rank;

    if (m->out[0].rank <= m->in[0].rank)
        return;
    memmove(m->in[0].dim + more, m->in[0].dim, m->in[0].rank * sizeof(*m->in[0].dim));
    for (uint32_t i = 0; i < more; i++)
        m->in[0].dim[i] = 1;
    m->in[0].rank = m->out[0].rank;
}

static void const_shape(ft__model *m, const char *name, const ft_shape *s)
{
    ft__const_ints(m, name, s->dim, s->rank);
}

static void transpose(ft__model *m)
{
    uint32_t n;
    const int64_t *perm = ft_op_get(m->op, FT_K_perm, &n);

    ft__attr_ints(m, "perm", perm, n);
    ft__node(m, "Transpose", "i0", "o0");
}

/* "i0 i1 i2 ..." */
static void list_names(char *out, char letter, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        *out++ = letter;
        if (i >= 10)
            *out++ = (char)('0' + i / 10);
        *out++ = (char)('0' + i % 10);
        *out++ = ' ';
    }
    out[-1] = '\0';
}

static void concat(ft__model *m)
{
    char names[4 * FT_OP_MAX_OPERANDS + 1];

    list_names(names, 'i', m->n_in);
    ft__attr_int(m, "axis", at(m, FT_K_axis, 0));
    ft__node(m, "Concat", names, "o0");
}

static void split(ft__model *m)
{
    char names[4 * FT_OP_MAX_OPERANDS + 1];
    uint32_t n;
    const int64_t *sizes = ft_op_get(m->op, FT_K_sizes, &n);

    list_names(names, 'o', m->n_out);
    ft__const_ints(m, "sizes", sizes, n);
    ft__attr_int(m, "axis", at(m, FT_K_axis, 0));
    ft__node(m, "Split", "i0 sizes", names);
}

/* The result with an axis of one element for each axis of x that it lacks; false:
 * it is no part of x. */
static bool match_axes(ft__model *m)
{
    ft_shape *x = &m->in[0], out = m->out[0];
    uint32_t k = 0;

    for (uint32_t d = 0; d < x->rank; d++) {
        bool spare = x->rank - d > out.rank - k;
        bool drop = spare && (k == out.rank || out.dim[k] != x->dim[d]);

        m->out[0].dim[d] = drop ? 1 : out.dim[k];
        if (m->out[0].dim[d] > x->dim[d])
            return false;
        k += !drop;
    }
    m->out[0].rank = x->rank;
    return k == out.rank;
}

static void slice(ft__model *m)
{
    int64_t zero[FT_MAX_RANK] = {0}, end[FT_MAX_RANK] = {0}, step[FT_MAX_RANK] = {0};
    uint32_t n = m->in[0].rank;

    if (m->out[0].rank > n || !match_axes(m)) {
        m->why = "the result is no part of x";
        return;
    }
    for (uint32_t d = 0; d < n; d++) {
        int64_t last = (m->out[0].dim[d] - 1) * at(m, FT_K_step, 0);

        step[d] = last < m->in[0].dim[d] ? at(m, FT_K_step, 0) : 1;
        end[d] = (m->out[0].dim[d] - 1) * step[d] + 1;
    }
    ft__const_ints(m, "starts", zero, n);
    ft__const_ints(m, "ends", end, n);
    for (uint32_t d = 0; d < n; d++)
        zero[d] = d;
    ft__const_ints(m, "axes", zero, n);
    ft__const_ints(m, "steps", step, n);
    ft__node(m, "Slice", "i0 starts ends axes steps", "o0");
}

static void pad(ft__model *m)
{
    int64_t pads[2 * FT_MAX_RANK];
    uint32_t n = m->in[0].rank;

    for (uint32_t d = 0; d < n; d++) {
        int64_t more = m->out[0].dim[d] - m->in[0].dim[d];

        pads[d] = more / 2;
        pads[n + d] = more - more / 2;
    }
    ft__const_ints(m, "pads", pads, 2 * n);
    ft__node(m, "Pad", "i0 pads", "o0");
}

static void expand(ft__model *m)
{
    const_shape(m, "shape", &m->out[0]);
    ft__node(m, "Expand", "i0 shape", "o0");
}

static void tile(ft__model *m)
{
    int64_t repeats[FT_MAX_RANK];

    raise_rank(m);
    for (uint32_t d = 0; d < m->out[0].rank; d++)
        repeats[d] = m->in[0].dim[d] ? m->out[0].dim[d] / m->in[0].dim[d] : 1;
    ft__const_ints(m, "repeats", repeats, m->out[0].rank);
    ft__node(m, "Tile", "i0 repeats", "o0");
}

static void resize(ft__model *m)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    int64_t mode = at(m, FT_K_mode, 0);

    if (mode < 0 || mode > 2) {
        m->why = "there is no such mode";
        return;
    }
    const_shape(m, "sizes", &m->out[0]);
    ft__attr_text(m, "mode", modes[mode]);
    ft__attr_text(m, "coordinate_transformation_mode", "half_pixel");
    ft__attr_text(m, "nearest_mode", "round_prefer_ceil");
    ft__attr_float(m, "cubic_coeff_a", -0.75f);
    ft__node(m, "Resize", "i0 - - sizes", "o0");
}

static void blocks(ft__model *m, const char *type, int64_t large, int64_t small)
{
    ft__attr_int(m, "blocksize", small ? large / small : 1);
    ft__node(m, type, "i0", "o0");
}

static void gather(ft__model *m, const char *type, int64_t axis)
{
    m->repair = FT__REPAIR_INDEX;
    m->repair_operand = 1;
    m->repair_extent = m->in[0].dim[axis];
    if (m->repair_extent < 1)
        m->why = "there is nothing to pick from";
    ft__attr_int(m, "axis", axis);
    ft__node(m, type, "i0 i1", "o0");
}

/* As ONNX has it, or, from PyTorch's indexing, one index for each result. */
static void gather_nd(ft__model *m)
{
    const ft_shape *x = &m->in[0], *y = &m->in[1];
    uint32_t last = y->rank ? y->rank - 1 : 0;
    int64_t depth = y->rank ? y->dim[last] : 1;
    int64_t n = depth ? ft_shape_elements(y) / depth : 0;

    for (uint32_t d = 0; d < x->rank; d++)
        n *= (int64_t)d < depth ? 1 : x->dim[d];
    if (depth <= (int64_t)x->rank && n == ft_shape_elements(&m->out[0])) {
        ft__node(m, "GatherND", "i0 i1", "o0");
    } else if (ft_shape_elements(y) == ft_shape_elements(&m->out[0])) {
        m->in[0] = (ft_shape){.rank = 1, .dim = {ft_shape_elements(x)}};
        m->out[0] = *y;
        gather(m, "Gather", 0);
    } else {
        m->why = "its indices do not fit its result";
    }
}

static void embedding(ft__model *m)
{
    ft__weights(m);
    m->repair = FT__REPAIR_INDEX;
    m->repair_extent = at(m, FT_K_rows, 0);
    if (m->repair_extent < 1)
        m->why = "there is nothing to pick from";
    ft__node(m, "Gather", "w0 i0", "o0");
}

/* Indices that are part of the model: each update goes to its own place along the
 * last axis. */
static void scatter(ft__model *m)
{
    const ft_shape *y = &m->in[1];
    uint32_t last = y->rank ? y->rank - 1 : 0;
    int64_t n = ft_shape_elements(y);
    unsigned char *to;

    for (uint32_t d = 0; d < y->rank; d++)
        if (y->rank != m->in[0].rank || y->dim[d] > m->in[0].dim[d]) {
            m->why = "updates of other ranks are not written here";
            return;
        }
    to = ft__const_raw(m, "indices", FT_DTYPE_int64, y);
    for (int64_t i = 0; i < n && to; i++) {
        int64_t index = y->rank ? i % y->dim[last] : 0;

        memcpy(to + (size_t)i * sizeof(index), &index, sizeof(index));
    }
    ft__attr_int(m, "axis", last);
    ft__node(m, "ScatterElements", "i0 indices i1", "o0");
}

static void one_hot(ft__model *m)
{
    static const double off_on[] = {0, 1};

    ft__const_scalar(m, "depth", m->in_type[0],
                     (double)m->out[0].dim[m->out[0].rank - 1]);
    ft__const_numbers(m, "values", m->op->dtype, off_on, 2);
    ft__node(m, "OneHot", "i0 depth values", "o0");
}

static void grid_sample(ft__model *m)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};

    ft__attr_text(m, "mode", modes[at(m, FT_K_mode, 0) % 3]);
    ft__node(m, "GridSample", "i0 i1", "o0");
}

static void roi_align(ft__model *m)
{
    ft_shape boxes = {.rank = 1, .dim = {m->in[1].dim[0]}};
    void *to = ft__const_raw(m, "batch", FT_DTYPE_int64, &boxes);

    if (to)
        memset(to, 0, (size_t)ft_tensor_bytes(&boxes, FT_DTYPE_int64));
    ft__attr_int(m, "output_height", m->out[0].dim[2]);
    ft__attr_int(m, "output_width", m->out[0].dim[3]);
    ft__attr_int(m, "sampling_ratio", 2);
    ft__node(m, "RoiAlign", "i0 i1 batch", "o0");
}

static void random_values(ft__model *m)
{
    ft__attr_ints(m, "shape", m->out[0].dim, m->out[0].rank);
    ft__node(m, "RandomUniform", "", "o0");
}

/* Of a shape that stands in the model: the runtime fills it in beforehand, and
 * copies it out in every run. */
static void fill(ft__model *m)
{
    ft_shape one = {.rank = 1, .dim = {1}};
    void *to = ft__const_raw(m, "value", m->op->dtype, &one);

    if (to)
        memset(to, 0, (size_t)ft_tensor_bytes(&one, m->op->dtype));
    const_shape(m, "shape", &m->out[0]);
    ft__node(m, "Expand", "value shape", "o0");
}

static bool write_picks(ft__model *m)
{
    switch (m->op->kind) {
    case FT_KIND_gather: gather(m, "Gather", at(m, FT_K_axis, 0)); return true;
    case FT_KIND_gather_elements:
        gather(m, "GatherElements", at(m, FT_K_axis, 0));
        return true;
    case FT_KIND_gather_nd: gather_nd(m); return true;
    case FT_KIND_embedding: embedding(m); return true;
    case FT_KIND_scatter: scatter(m); return true;
    case FT_KIND_one_hot: one_hot(m); return true;
    case FT_KIND_grid_sample: grid_sample(m); return true;
    case FT_KIND_roi_align: roi_align(m); return true;
    default: return false;
    }
}

bool ft__write_move(ft__model *m)
{
    switch (m->op->kind) {
    case FT_KIND_transpose: transpose(m); return true;
    case FT_KIND_concat: concat(m); return true;
    case FT_KIND_split: split(m); return true;
    case FT_KIND_slice: slice(m); return true;
    case FT_KIND_pad: pad(m); return true;
    case FT_KIND_expand: expand(m); return true;
    case FT_KIND_tile: tile(m); return true;
    case FT_KIND_resize: resize(m); return true;
    case FT_KIND_depth_to_space:
        blocks(m, "DepthToSpace", m->out[0].dim[2], m->in[0].dim[2]);
        return true;
    case FT_KIND_space_to_depth:
        blocks(m, "SpaceToDepth", m->in[0].dim[2], m->out[0].dim[2]);
        return true;
    case FT_KIND_random: random_values(m); return true;
    case FT_KIND_fill: fill(m); return true;
    default: return write_picks(m);
    }
}
