/* Pooling, resizing and what looks at places of an image. */
#include <math.h>

#include "kinds.h"

static uint32_t axes_of(const ft_op *op)
{
    uint32_t n = ft__spatial(op);

    return n < 1 ? 1 : n > 3 ? 3 : n;
}

/* The same on both sides, and at most half a window. */
static bool pads_itself(const ft_op *op, int64_t *pad, uint32_t n)
{
    bool small = true;

    for (uint32_t i = 0; i < n; i++) {
        int64_t begin, end;

        ft_op_pad(op, i, &begin, &end);
        small &= 2 * begin <= ft_op_at(op, FT_K_kernel, i);
    }
    return ft__pads(op, pad, n) && small;
}

ft_status ft__fwd_maxpool(ft_block *b)
{
    static const char *const plain[] = {"aten::max_pool1d", "aten::max_pool2d",
                                        "aten::max_pool3d"};
    static const char *const indexed[] = {"aten::max_pool1d_with_indices",
                                          "aten::max_pool2d_with_indices",
                                          "aten::max_pool3d_with_indices"};
    uint32_t n = axes_of(&b->op);
    bool keep = b->how & FT_VALUES_KEEP;
    int64_t pad[FT_MAX_RANK];
    ft__reg x = ft__in(b, 0);

    if (!pads_itself(&b->op, pad, n))
        x = ft__padded(b, x, pad, n, (double)-INFINITY);
    ft__call_with(b, keep ? indexed[n - 1] : plain[n - 1], "", FT__TENSOR(x),
                  FT__KEY(FT_K_kernel, n), FT__KEY(FT_K_stride, n), FT__INTS(pad, n),
                  FT__KEY(FT_K_dilation, n), FT__INT(ft_op_at(&b->op, FT_K_ceil, 0)));
    ft__out_and_keep(b, keep ? 2 : 1);
    return FT_OK;
}

ft_status ft__fwd_avgpool(ft_block *b)
{
    static const char *const name[] = {"aten::avg_pool1d", "aten::avg_pool2d",
                                       "aten::avg_pool3d"};
    uint32_t n = axes_of(&b->op);
    int64_t pad[FT_MAX_RANK];

    for (uint32_t i = 0; i < n; i++)
        if (ft_op_at(&b->op, FT_K_dilation, i) != 1)
            return ft__unsupported(b, "windows with gaps");
    if (!ft__pads(&b->op, pad, n))
        return ft__unsupported(b, "padding differs from side to side");
    ft__call_with(b, name[n - 1], "", FT__TENSOR(ft__in(b, 0)), FT__KEY(FT_K_kernel, n),
                  FT__KEY(FT_K_stride, n), FT__INTS(pad, n),
                  FT__INT(ft_op_at(&b->op, FT_K_ceil, 0)), FT__INT(0));
    if (n > 1)
        ft__args(b, FT__NONE);
    return ft__out_result(b);
}

ft_status ft__fwd_global_pool(ft_block *b)
{
    static const char *const mean[] = {"aten::adaptive_avg_pool1d",
                                       "aten::adaptive_avg_pool2d",
                                       "aten::adaptive_avg_pool3d"};
    static const char *const most[] = {"aten::adaptive_max_pool1d",
                                       "aten::adaptive_max_pool2d",
                                       "aten::adaptive_max_pool3d"};
    static const int64_t ones[3] = {1, 1, 1};
    uint32_t n = ft__spatial(&b->op);
    bool max = b->op.kind == FT_KIND_global_maxpool;
    ft__reg r;

    if (n < 1 || n > 3)
        return ft__unsupported(b, "one to three axes behind the channels");
    ft__call_with(b, max ? most[n - 1] : mean[n - 1], "", FT__TENSOR(ft__in(b, 0)),
                  FT__INTS(ones, n));
    r = ft__results(b, max ? 2 : 1);
    ft__out(b, 0, r);
    if (max && (b->how & FT_VALUES_KEEP))
        ft__keep(b, (ft__reg)(r + 1));
    return FT_OK;
}

/* A resize as PyTorch has it: batch, channels, and one to three axes. */
typedef struct resize {
    ft_shape from; /* x seen so */
    int64_t size[3];
    uint32_t axes;
    bool whole; /* every extent grows by a whole factor */
} resize;

/* Axes in front of the first that changes are batch and channels; those behind the
 * last are one more axis that stays. */
static bool plan_resize(const ft_op *op, resize *r)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_out);
    uint32_t first = x.rank, end = 0;
    int64_t batch = 1, rest = 1;

    *r = (resize){.from = {.rank = 2, .dim = {1, 1}}, .whole = true};
    for (uint32_t i = x.rank; i-- > 0;)
        if (x.dim[i] != y.dim[i]) {
            first = i;
            end = end ? end : i + 1;
            r->whole &= y.dim[i] % x.dim[i] == 0;
        }
    if (x.rank >= 3 && x.rank <= 5 && first >= 2) { /* as it is */
        first = 2;
        end = x.rank;
        r->from.dim[0] = x.dim[0];
        batch = x.dim[1];
    } else {
        for (uint32_t i = 0; i < first; i++)
            batch *= x.dim[i];
    }
    r->from.dim[1] = batch;
    for (uint32_t i = end; i < x.rank; i++)
        rest *= x.dim[i];
    for (uint32_t i = first; i < end && r->axes < 3; i++) {
        r->size[r->axes++] = y.dim[i];
        r->from.dim[r->from.rank++] = x.dim[i];
    }
    if (rest > 1 && r->axes < 3) {
        r->size[r->axes++] = rest;
        r->from.dim[r->from.rank++] = rest;
    }
    return r->axes > 0 && end - first + (rest > 1) <= 3;
}

static const char *resize_name(const ft_op *op, const resize *r)
{
    static const char *const nearest[] = {"aten::upsample_nearest1d",
                                          "aten::upsample_nearest2d",
                                          "aten::upsample_nearest3d"};
    static const char *const exact[] = {"aten::_upsample_nearest_exact1d",
                                        "aten::_upsample_nearest_exact2d",
                                        "aten::_upsample_nearest_exact3d"};
    static const char *const linear[] = {"aten::upsample_linear1d",
                                         "aten::upsample_bilinear2d",
                                         "aten::upsample_trilinear3d"};

    switch (ft_op_at(op, FT_K_mode, 0)) {
    case 0: return r->whole ? nearest[r->axes - 1] : exact[r->axes - 1];
    case 1: return linear[r->axes - 1];
    default: return r->axes == 2 ? "aten::upsample_bicubic2d" : NULL;
    }
}

ft_status ft__fwd_resize(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_out);
    ft__reg at = ft__in(b, 0);
    const char *name;
    resize r;

    if (!plan_resize(&b->op, &r))
        return ft__unsupported(b, "at most three axes in a row");
    name = resize_name(&b->op, &r);
    if (!name)
        return ft__unsupported(b, "cubic is for two axes");
    if (!ft_shape_equal(&x, &r.from))
        at = ft__reshaped(b, at, &r.from);
    ft__call_with(b, name, "", FT__TENSOR(at), FT__INTS(r.size, r.axes));
    if (ft_op_at(&b->op, FT_K_mode, 0))
        ft__args(b, FT__INT(0));
    for (uint32_t i = 0; i < r.axes; i++)
        ft__args(b, FT__NONE);
    at = ft__result(b);
    ft__out(b, 0, ft_shape_equal(&x, &r.from) ? at : ft__reshaped(b, at, &y));
    return FT_OK;
}

ft_status ft__fwd_grid_sample(ft_block *b)
{
    static const int64_t modes[] = {1, 0, 2}; /* ours: nearest, linear, cubic */

    return ft__out_made(
        b, "aten::grid_sampler", "", FT__TENSOR(ft__in(b, 0)), FT__TENSOR(ft__in(b, 1)),
        FT__INT(modes[ft_op_at(&b->op, FT_K_mode, 0) % 3]), FT__INT(0), FT__INT(0));
}

ft_status ft__fwd_max_unpool(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), out = ft_op_shape(&b->op, FT_K_out);
    ft__reg where;

    if (x.rank != 4)
        return ft__unsupported(b, "two axes behind the channels");
    where = ft__constant(b, ft__tensor_zeros(b->ctx, &x, FT_DTYPE_int64));
    return ft__out_made(b, "aten::max_unpool2d", "", FT__TENSOR(ft__in(b, 0)),
                        FT__TENSOR(where), FT__INTS(out.dim + 2, 2));
}
