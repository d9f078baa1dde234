/* Gradients of pooling, reductions and what moves elements. */
#include <string.h>

#include "backward.h"
#include "kinds.h"

/* A kernel, stride and the like of two axes where the operation has one. */
static void arg_window(ft_block *b, ft_key_id key, uint32_t n, int64_t one)
{
    int64_t v[FT_MAX_RANK];

    if (n > 1) {
        ft__args(b, FT__KEY(key, n));
        return;
    }
    v[0] = one;
    v[1] = ft_op_at(&b->op, key, 0);
    ft__args(b, FT__INTS(v, 2));
}

static bool even_padding(const ft_block *b, uint32_t n)
{
    bool even = true;

    for (uint32_t i = 0; i < n; i++) {
        int64_t begin, end;

        ft_op_pad(&b->op, i, &begin, &end);
        even &= begin == end;
    }
    return even;
}

/* One axis is run as two, the first of one element. */
static ft__reg widened(ft_block *b, ft__reg r, uint32_t n)
{
    if (n > 1)
        return r;
    return ft__made(b, "aten::unsqueeze", "", FT__TENSOR(r), FT__INT(-2));
}

static ft__reg narrowed(ft_block *b, ft__reg r, uint32_t n)
{
    if (n > 1)
        return r;
    return ft__made(b, "aten::squeeze", "dim", FT__TENSOR(r), FT__INT(-2));
}

static void arg_pad(ft_block *b, uint32_t n)
{
    int64_t pad[FT_MAX_RANK] = {0}, end;

    for (uint32_t i = 0; i < n; i++)
        ft_op_pad(&b->op, i, &pad[n > 1 ? i : 1], &end);
    ft__args(b, FT__INTS(pad, n > 1 ? n : 2));
}

static void begin_pool(ft_block *b, const char *op, uint32_t n)
{
    ft__reg g = widened(b, ft__in(b, 0), n);
    ft__reg x = widened(b, ft__saved(b, FT_SAVE_X), n);

    ft__call_with(b, op, "", FT__TENSOR(g), FT__TENSOR(x));
    arg_window(b, FT_K_kernel, n, 1);
    arg_window(b, FT_K_stride, n, 1);
    arg_pad(b, n);
}

ft_status ft__bwd_maxpool(ft_block *b)
{
    uint32_t n = ft__spatial(&b->op);
    ft__reg indices = ft__kept_in(b, 0);

    if (!even_padding(b, n))
        return ft__unsupported(b, "padding that differs by side");
    indices = widened(b, indices, n);
    begin_pool(b,
               n == 3 ? "aten::max_pool3d_with_indices_backward"
                      : "aten::max_pool2d_with_indices_backward",
               n);
    arg_window(b, FT_K_dilation, n, 1);
    ft__args(b, FT__INT(ft_op_at(&b->op, FT_K_ceil, 0)), FT__TENSOR(indices));
    ft__give(b, FT_WRT_X, narrowed(b, ft__result(b), n));
    return FT_OK;
}

ft_status ft__bwd_avgpool(ft_block *b)
{
    uint32_t n = ft__spatial(&b->op);

    if (!even_padding(b, n) || ft_op_at(&b->op, FT_K_dilation, 0) != 1)
        return ft__unsupported(b, "padding that differs by side, or dilation");
    begin_pool(b, n == 3 ? "aten::avg_pool3d_backward" : "aten::avg_pool2d_backward",
               n);
    ft__args(b, FT__INT(ft_op_at(&b->op, FT_K_ceil, 0)), FT__INT(0), FT__NONE);
    ft__give(b, FT_WRT_X, narrowed(b, ft__result(b), n));
    return FT_OK;
}

static ft__reg expand(ft_block *b, ft__reg r, const ft_shape *to)
{
    return ft__made(b, "aten::expand", "", FT__TENSOR(r), FT__INTS(to->dim, to->rank),
                    FT__INT(0));
}

/* x with a 1 for every axis that was reduced; n: elements that became one. */
static ft_shape kept_axes(const ft_op *op, int64_t *axes, uint32_t *n_axes, double *n)
{
    ft_shape s = ft_op_shape(op, FT_K_x);
    const int64_t *given = ft_op_get(op, FT_K_axes, n_axes);

    if (op->kind == FT_KIND_global_avgpool || op->kind == FT_KIND_global_maxpool)
        for (*n_axes = 0; *n_axes + 2 < s.rank; ++*n_axes)
            axes[*n_axes] = 2 + *n_axes;
    else if (given)
        memcpy(axes, given, *n_axes * sizeof(*axes));
    *n = 1;
    for (uint32_t i = 0; i < *n_axes; i++) {
        *n *= (double)s.dim[axes[i]];
        s.dim[axes[i]] = 1;
    }
    return s;
}

/* Where a result is the largest of equal ones, they share its gradient. */
static ft__reg of_extreme(ft_block *b, ft__reg g, ft__reg out, const int64_t *axes,
                          uint32_t n)
{
    ft__reg mask = ft__call2(b, "aten::eq", "Tensor", ft__saved(b, FT_SAVE_X), out);
    ft__reg count = ft__sum(b, mask, axes, n, true);

    return ft__div(b, ft__mul(b, g, mask), count);
}

static ft__reg of_log_sum(ft_block *b, ft__reg g, ft__reg x, ft__reg out)
{
    ft__reg r = ft__call1(b, "aten::exp", ft__call_add(b, x, out, -1));

    return ft__mul(b, g, r);
}

ft_status ft__bwd_reduce(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), kept;
    int64_t axes[FT_MAX_RANK];
    uint32_t n;
    double elements;
    ft__reg g, in = ft__saved(b, FT_SAVE_X), out = ft__saved(b, FT_SAVE_OUT);

    kept = kept_axes(&b->op, axes, &n, &elements);
    g = ft__reshaped(b, ft__in(b, 0), &kept);
    if (out != FT__NO_REG)
        out = ft__reshaped(b, out, &kept);
    switch (b->op.kind) {
    case FT_KIND_reduce_sum: g = expand(b, g, &x); break;
    case FT_KIND_reduce_mean:
    case FT_KIND_global_avgpool:
        g = ft__div(b, expand(b, g, &x), ft__number(b, elements));
        break;
    case FT_KIND_reduce_max:
    case FT_KIND_reduce_min: g = of_extreme(b, g, out, axes, n); break;
    case FT_KIND_reduce_prod: g = ft__div(b, ft__mul(b, g, out), in); break;
    case FT_KIND_reduce_l1: g = ft__mul(b, g, ft__call1(b, "aten::sgn", in)); break;
    case FT_KIND_reduce_l2: g = ft__mul(b, in, ft__div(b, g, out)); break;
    case FT_KIND_reduce_logsumexp: g = of_log_sum(b, g, in, out); break;
    default: return ft__unsupported(b, "no gradient is written down for it");
    }
    ft__give(b, FT_WRT_X, g);
    return FT_OK;
}

static ft__reg flip(ft_block *b, ft__reg r, int64_t axis)
{
    return ft__made(b, "aten::flip", "", FT__TENSOR(r), FT__INTS(&axis, 1));
}

ft_status ft__bwd_cumsum(ft_block *b)
{
    int64_t axis = ft_op_at(&b->op, FT_K_axis, 0);
    ft__reg r = flip(b, ft__in(b, 0), axis);

    ft__call_with(b, "aten::cumsum", "", FT__TENSOR(r), FT__INT(axis), FT__NONE);
    ft__give(b, FT_WRT_X, flip(b, ft__result(b), axis));
    return FT_OK;
}

static ft__reg zeros(ft_block *b, const ft_shape *s)
{
    ft__call_with(b, "aten::new_zeros", "", FT__TENSOR(ft__in(b, 0)),
                  FT__INTS(s->dim, s->rank));
    for (int i = 0; i < 4; i++)
        ft__args(b, FT__NONE);
    return ft__result(b);
}

/* The second operand is the place of each result. */
ft_status ft__bwd_topk(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);
    ft__reg r = zeros(b, &x);

    ft__call_with(b, "aten::scatter", "src", FT__TENSOR(r),
                  FT__INT(ft_op_at(&b->op, FT_K_axis, 0)), FT__TENSOR(ft__in(b, 1)),
                  FT__TENSOR(ft__in(b, 0)));
    ft__give(b, FT_WRT_X, ft__result(b));
    return FT_OK;
}

ft_status ft__bwd_embedding(ft_block *b)
{
    ft__call_with(b, "aten::embedding_dense_backward", "", FT__TENSOR(ft__in(b, 0)),
                  FT__TENSOR(ft__saved(b, FT_SAVE_X)),
                  FT__INT(ft_op_at(&b->op, FT_K_rows, 0)), FT__INT(-1), FT__INT(0));
    ft__give_weight(b, 0, ft__result(b));
    return FT_OK;
}

static const char *resize_name(const ft_op *op, uint32_t n)
{
    static const char *const name[3][3] = {
        {"aten::upsample_nearest1d_backward", "aten::upsample_nearest2d_backward",
         "aten::upsample_nearest3d_backward"},
        {"aten::upsample_linear1d_backward", "aten::upsample_bilinear2d_backward",
         "aten::upsample_trilinear3d_backward"},
        {NULL, "aten::upsample_bicubic2d_backward", NULL}};
    int64_t mode = ft_op_at(op, FT_K_mode, 0);

    return n >= 1 && n <= 3 && mode >= 0 && mode <= 2 ? name[mode][n - 1] : NULL;
}

ft_status ft__bwd_resize(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), out = ft_op_shape(&b->op, FT_K_out);
    uint32_t n = ft__spatial(&b->op);
    const char *name = resize_name(&b->op, n);

    if (!name || out.dim[0] != x.dim[0] || out.dim[1] != x.dim[1])
        return ft__unsupported(b, "PyTorch resizes one to three axes behind the "
                                  "channels");
    ft__call_with(b, name, "", FT__TENSOR(ft__in(b, 0)), FT__INTS(out.dim + 2, n),
                  FT__INTS(x.dim, x.rank));
    if (ft_op_at(&b->op, FT_K_mode, 0))
        ft__args(b, FT__INT(0));
    for (uint32_t i = 0; i < n; i++)
        ft__args(b, FT__NONE);
    ft__give(b, FT_WRT_X, ft__result(b));
    return FT_OK;
}

static ft__reg slice(ft_block *b, ft__reg r, int64_t axis, int64_t size, int64_t step)
{
    return ft__made(b, "aten::slice", "Tensor", FT__TENSOR(r), FT__INT(axis),
                    FT__OPT_INT(0), FT__OPT_INT((size - 1) * step + 1), FT__INT(step));
}

/* Zeros with g where the slice lay: a view is cut out of them and written to, for
 * as many axes as it takes. */
static ft__reg of_slice(ft_block *b, const ft_shape *x, const ft_shape *out)
{
    int64_t step = ft_op_at(&b->op, FT_K_step, 0);
    const uint32_t lost = ft__axis_apart(x, out);
    ft__reg all = zeros(b, x), part = all;

    if (lost < x->rank)
        part = ft__select_first(b, all, lost);
    for (uint32_t i = 0; i < x->rank && lost == x->rank; i++) {
        bool stepped = (out->dim[i] - 1) * step < x->dim[i];

        if (out->dim[i] < x->dim[i])
            part = slice(b, part, i, out->dim[i], stepped ? step : 1);
    }
    ft__call_with(b, "aten::copy_", "", FT__TENSOR(part), FT__TENSOR(ft__in(b, 0)),
                  FT__INT(0));
    (void)ft__result(b);
    return all;
}

static ft__reg of_transpose(ft_block *b, uint32_t rank)
{
    int64_t back[FT_MAX_RANK] = {0};

    for (uint32_t i = 0; i < rank; i++)
        back[ft_op_at(&b->op, FT_K_perm, i)] = i;
    return ft__made(b, "aten::permute", "", FT__TENSOR(ft__in(b, 0)),
                    FT__INTS(back, rank));
}

static ft__reg of_split(ft_block *b)
{
    ft__reg part[FT_OP_MAX_OPERANDS];
    uint32_t n = b->n_in < FT_OP_MAX_OPERANDS ? b->n_in : FT_OP_MAX_OPERANDS;

    for (uint32_t i = 0; i < n; i++)
        part[i] = ft__in(b, i);
    return ft__made(b, "aten::cat", "", FT__TENSORS(part, n),
                    FT__INT(ft_op_at(&b->op, FT_K_axis, 0)));
}

static ft__reg of_cast(ft_block *b)
{
    return ft__made(b, "aten::to", "dtype", FT__TENSOR(ft__in(b, 0)),
                    FT__INT(b->ctx->api.dtype[b->op.dtype]), FT__INT(0), FT__INT(0),
                    FT__NONE);
}

ft_status ft__bwd_move(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), out = ft_op_shape(&b->op, FT_K_out);
    ft__reg r;

    switch (b->op.kind) {
    case FT_KIND_view: r = ft__reshaped(b, ft__in(b, 0), &x); break;
    case FT_KIND_transpose: r = of_transpose(b, x.rank); break;
    case FT_KIND_split: r = of_split(b); break;
    case FT_KIND_expand: r = ft__sum_to(b, ft__in(b, 0), &out, &x); break;
    case FT_KIND_slice:
        if (x.rank != out.rank && ft__axis_apart(&x, &out) == x.rank)
            return ft__unsupported(b, "the number of axes changes");
        r = of_slice(b, &x, &out);
        break;
    case FT_KIND_cast: r = of_cast(b); break;
    default: return ft__unsupported(b, "no gradient is written down for it");
    }
    ft__give(b, FT_WRT_X, r);
    return FT_OK;
}
