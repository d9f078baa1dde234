/* Movement and views. */
#include <string.h>

#include "kinds.h"

ft__reg ft__reshaped(ft_block *b, ft__reg x, const ft_shape *to)
{
    return ft__made(b, "aten::reshape", "", FT__TENSOR(x), FT__INTS(to->dim, to->rank));
}

static ft__reg permuted(ft_block *b, ft__reg x, const int64_t *perm, uint32_t n)
{
    return ft__made(b, "aten::permute", "", FT__TENSOR(x), FT__INTS(perm, n));
}

static void arg_options(ft_block *b, ft_dtype t)
{
    ft__args(b, FT__OPT_INT(b->ctx->api.dtype[t]), FT__NONE,
             FT__OPT_INT((int64_t)b->ctx->device_type << 32 | b->ctx->device),
             FT__NONE);
}

ft_status ft__fwd_transpose(ft_block *b)
{
    uint32_t n;
    const int64_t *perm = ft_op_get(&b->op, FT_K_perm, &n);

    ft__out(b, 0, permuted(b, ft__in(b, 0), perm, n));
    return FT_OK;
}

ft_status ft__fwd_split(ft_block *b)
{
    uint32_t n;
    const int64_t *sizes = ft_op_get(&b->op, FT_K_sizes, &n);
    ft__reg r;

    ft__call_with(b, "aten::split_with_sizes", "", FT__TENSOR(ft__in(b, 0)),
                  FT__INTS(sizes, n), FT__INT(ft_op_at(&b->op, FT_K_axis, 0)));
    r = ft__result_list(b, n);
    for (uint32_t i = 0; i < n; i++)
        ft__out(b, i, (ft__reg)(r + i));
    return FT_OK;
}

uint32_t ft__axis_apart(const ft_shape *more, const ft_shape *less)
{
    uint32_t axis = 0;

    if (more->rank != less->rank + 1)
        return more->rank;
    while (axis < less->rank && more->dim[axis] == less->dim[axis])
        axis++;
    return memcmp(more->dim + axis + 1, less->dim + axis,
                  (less->rank - axis) * sizeof(*less->dim))
               ? more->rank
               : axis;
}

ft__reg ft__select_first(ft_block *b, ft__reg r, uint32_t axis)
{
    return ft__made(b, "aten::select", "int", FT__TENSOR(r), FT__INT(axis), FT__INT(0));
}

ft_status ft__fwd_slice(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_out);
    int64_t step = ft_op_at(&b->op, FT_K_step, 0);
    uint32_t axis = ft__axis_apart(&x, &y);
    ft__reg r = ft__in(b, 0);

    if (axis < x.rank) {
        ft__out(b, 0, ft__select_first(b, r, axis));
        return FT_OK;
    }
    if (x.rank != y.rank)
        return ft__unsupported(b, "the number of axes changes");
    for (uint32_t i = 0; i < x.rank; i++) {
        int64_t by = (y.dim[i] - 1) * step < x.dim[i] ? step : 1;

        if (x.dim[i] == y.dim[i])
            continue;
        r = ft__made(b, "aten::slice", "Tensor", FT__TENSOR(r), FT__INT(i),
                     FT__OPT_INT(0),
                     FT__OPT_INT(y.dim[i] ? (y.dim[i] - 1) * by + 1 : 0), FT__INT(by));
    }
    ft__out(b, 0, r);
    return FT_OK;
}

ft_status ft__fwd_expand(ft_block *b)
{
    ft_shape y = ft_op_shape(&b->op, FT_K_out);

    return ft__out_made(b, "aten::expand", "", FT__TENSOR(ft__in(b, 0)),
                        FT__INTS(y.dim, y.rank), FT__INT(0));
}

/* A part of what is there, in order, where the shape holds fewer elements. */
static ft__reg front_part(ft_block *b, ft__reg x, const ft_shape *y)
{
    int64_t strides[FT_MAX_RANK];

    ft__strides_for(strides, y, FT_LAYOUT_PLAIN);
    return ft__made(b, "aten::as_strided", "", FT__TENSOR(x), FT__INTS(y->dim, y->rank),
                    FT__INTS(strides, y->rank), FT__NONE);
}

ft_status ft__fwd_view(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_out);
    int64_t from = ft_shape_elements(&x), to = ft_shape_elements(&y);

    if (to > from)
        return ft__unsupported(b, "a view of more than there is");
    ft__out(b, 0,
            from == to ? ft__reshaped(b, ft__in(b, 0), &y)
                       : front_part(b, ft__in(b, 0), &y));
    return FT_OK;
}

ft_status ft__fwd_concat(ft_block *b)
{
    ft__reg part[FT_OP_MAX_OPERANDS];

    for (uint32_t i = 0; i < b->n_in; i++)
        part[i] = ft__in(b, i);
    return ft__out_made(b, "aten::cat", "", FT__TENSORS(part, b->n_in),
                        FT__INT(ft_op_at(&b->op, FT_K_axis, 0)));
}

/* The gradient of an index: zeros around it along an axis of its own. */
static ft_status unselect(ft_block *b, const ft_shape *y, uint32_t axis)
{
    return ft__out_made(b, "aten::select_backward", "", FT__TENSOR(ft__in(b, 0)),
                        FT__INTS(y->dim, y->rank), FT__INT(axis), FT__INT(0));
}

/* Halves rounded down in front; what goes beyond the end is cut off. */
ft_status ft__fwd_pad(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_out);
    int64_t around[2 * FT_MAX_RANK];
    uint32_t axis = ft__axis_apart(&y, &x);

    if (axis < y.rank)
        return unselect(b, &y, axis);
    if (x.rank != y.rank)
        return ft__unsupported(b, "the number of axes changes");
    for (uint32_t i = 0; i < x.rank; i++) {
        uint32_t at = 2 * (x.rank - 1 - i);

        around[at] = (y.dim[i] - x.dim[i]) / 2;
        around[at + 1] = y.dim[i] - x.dim[i] - around[at];
    }
    return ft__out_made(b, "aten::pad", "", FT__TENSOR(ft__in(b, 0)),
                        FT__INTS(around, 2 * x.rank), FT__TEXT("constant"), FT__NONE);
}

ft_status ft__fwd_tile(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_out);
    int64_t times[FT_MAX_RANK];

    if (y.rank < x.rank)
        return ft__unsupported(b, "the number of axes falls");
    for (uint32_t i = 0; i < y.rank; i++) {
        uint32_t extra = y.rank - x.rank;
        int64_t of = i < extra ? 1 : x.dim[i - extra];

        times[i] = of ? y.dim[i] / of : 1;
        if (times[i] * of != y.dim[i])
            return ft__unsupported(b, "whole repetitions only");
    }
    return ft__out_made(b, "aten::repeat", "", FT__TENSOR(ft__in(b, 0)),
                        FT__INTS(times, y.rank));
}

/* Views around one copy, as pixel_shuffle() does it in another order. */
ft_status ft__fwd_blocks(ft_block *b)
{
    static const int64_t to_space[6] = {0, 3, 4, 1, 5, 2},
                         to_depth[6] = {0, 3, 5, 1, 2, 4};
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_out);
    bool depth = b->op.kind == FT_KIND_space_to_depth;
    ft_shape apart = {.rank = 6};
    int64_t s;

    if (x.rank != 4 || y.rank != 4)
        return ft__unsupported(b, "two axes behind the channels");
    s = depth ? x.dim[2] / (y.dim[2] ? y.dim[2] : 1)
              : y.dim[2] / (x.dim[2] ? x.dim[2] : 1);
    if (s < 1 || x.dim[1] * (depth ? s * s : 1) != y.dim[1] * (depth ? 1 : s * s))
        return ft__unsupported(b, "square blocks only");
    if (depth)
        memcpy(apart.dim, (int64_t[]){x.dim[0], x.dim[1], y.dim[2], s, y.dim[3], s},
               6 * sizeof(int64_t));
    else
        memcpy(apart.dim, (int64_t[]){x.dim[0], s, s, y.dim[1], x.dim[2], x.dim[3]},
               6 * sizeof(int64_t));
    ft__out(b, 0,
            ft__reshaped(b,
                         permuted(b, ft__reshaped(b, ft__in(b, 0), &apart),
                                  depth ? to_depth : to_space, 6),
                         &y));
    return FT_OK;
}

/* Always in plain order, or channels-last where the operation says so. */
ft_status ft__fwd_copy(ft_block *b)
{
    return ft__out_made(
        b, "aten::clone", "", FT__TENSOR(ft__in(b, 0)),
        b->op.layout == FT_LAYOUT_PLAIN
            ? FT__OPT_INT(b->ctx->api.aoti_torch_memory_format_contiguous_format())
            : FT__NONE);
}

ft_status ft__fwd_made(ft_block *b)
{
    ft_shape y = ft_op_shape(&b->op, FT_K_out);

    ft__call_with(b, b->op.kind == FT_KIND_random ? "aten::rand" : "aten::zeros", "",
                  FT__INTS(y.dim, y.rank));
    arg_options(b, b->op.dtype);
    return ft__out_result(b);
}

static ft__reg indexed(ft_block *b, ft__reg x, const ft__reg *by, uint32_t n)
{
    return ft__made(b, "aten::index", "Tensor", FT__TENSOR(x), FT__MAYBES(by, n));
}

/* One index is a view; a row of them is index_select(), more are index(). */
ft_status ft__fwd_gather(ft_block *b)
{
    ft_shape y = ft_op_shape(&b->op, FT_K_y);
    uint32_t axis = (uint32_t)ft_op_at(&b->op, FT_K_axis, 0);
    ft__reg by[FT_MAX_RANK];

    if (y.rank > 1) {
        for (uint32_t i = 0; i < axis; i++)
            by[i] = FT__NO_REG;
        by[axis] = ft__in(b, 1);
        ft__out(b, 0, indexed(b, ft__in(b, 0), by, axis + 1));
        return FT_OK;
    }
    return ft__out_made(b, y.rank ? "aten::index_select" : "aten::select",
                        y.rank ? "" : "int", FT__TENSOR(ft__in(b, 0)), FT__INT(axis),
                        y.rank ? FT__TENSOR(ft__in(b, 1)) : FT__INT(0));
}

ft_status ft__fwd_embedding(ft_block *b)
{
    if (ft_op_at(&b->op, FT_K_weights, 0))
        return ft__unsupported(b, "a table of another type");
    return ft__out_made(b, "aten::embedding", "", FT__TENSOR(ft__param(b, 0)),
                        FT__TENSOR(ft__in(b, 0)), FT__INT(-1), FT__INT(0), FT__INT(0));
}

ft_status ft__fwd_gather_elements(ft_block *b)
{
    return ft__out_made(b, "aten::gather", "", FT__TENSOR(ft__in(b, 0)),
                        FT__INT(ft_op_at(&b->op, FT_K_axis, 0)),
                        FT__TENSOR(ft__in(b, 1)), FT__INT(0));
}

/* Is the result as ONNX's GatherND has it: y without its last axis, which holds n
 * indices, then the axes of x behind the n-th? */
static bool is_nd(const ft_shape *x, const ft_shape *y, const ft_shape *out, uint32_t n)
{
    if (n < 1 || n > x->rank || out->rank != y->rank - 1 + x->rank - n)
        return false;
    return !memcmp(out->dim, y->dim, (y->rank - 1) * sizeof(*y->dim)) &&
           !memcmp(out->dim + y->rank - 1, x->dim + n, (x->rank - n) * sizeof(*x->dim));
}

/* Indices stand along y's last axis: as many tensors, one an axis of x. Else one index
 * stands for each element. */
ft_status ft__fwd_gather_nd(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_y),
             out = ft_op_shape(&b->op, FT_K_out);
    uint32_t n = y.rank ? (uint32_t)y.dim[y.rank - 1] : 0;
    ft__reg by[FT_MAX_RANK], r;

    if (!is_nd(&x, &y, &out, n)) {
        if (!ft_shape_equal(&y, &out))
            return ft__unsupported(b, "indices of neither rows nor elements");
        ft__out(b, 0, ft__call2(b, "aten::take", "", ft__in(b, 0), ft__in(b, 1)));
        return FT_OK;
    }
    ft__call_with(b, "aten::unbind", "int", FT__TENSOR(ft__in(b, 1)), FT__INT(-1));
    r = ft__result_list(b, n);
    for (uint32_t i = 0; i < n; i++)
        by[i] = (ft__reg)(r + i);
    ft__out(b, 0, indexed(b, ft__in(b, 0), by, n));
    return FT_OK;
}

/* The specification has no indices: all updates go to the first place of axis 0. */
ft_status ft__fwd_scatter(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_y);
    ft__reg where;

    if (x.rank != y.rank)
        return ft__unsupported(b, "updates with as many axes as x");
    for (uint32_t i = 1; i < x.rank; i++)
        if (y.dim[i] > x.dim[i])
            return ft__unsupported(b, "updates wider than x");
    where = ft__constant(b, ft__tensor_zeros(b->ctx, &y, FT_DTYPE_int64));
    return ft__out_made(b, "aten::scatter", "src", FT__TENSOR(ft__in(b, 0)), FT__INT(0),
                        FT__TENSOR(where), FT__TENSOR(ft__in(b, 1)));
}

/* Classes as whole numbers, the new axis last. */
ft_status ft__fwd_one_hot(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_out);

    if (b->op.dtype != FT_DTYPE_int64 || y.rank != x.rank + 1)
        return ft__unsupported(b, "int64, and the new axis last");
    return ft__out_made(b, "aten::one_hot", "", FT__TENSOR(ft__in(b, 0)),
                        FT__INT(y.dim[x.rank]));
}
