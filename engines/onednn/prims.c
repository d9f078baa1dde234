/* Kinds that are primitives of oneDNN: convolution, products, pooling, norms. */
#include "onednn.h"

#define EPSILON 1e-5f

static uint32_t spatial_axes(const ft_op *op)
{
    return ft_op_shape(op, FT_K_x).rank - 2;
}

static ft__window window_of(const ft_op *op)
{
    ft__window w = {0};

    for (uint32_t i = 0; i < spatial_axes(op) && i < 3; i++) {
        w.kernel[i] = ft_op_at(op, FT_K_kernel, i);
        w.stride[i] = ft_op_at(op, FT_K_stride, i);
        w.dilation[i] = ft_op_at(op, FT_K_dilation, i);
        ft_op_pad(op, i, &w.begin[i], &w.end[i]);
    }
    return w;
}

/* oneDNN keeps windows and extents in 32 bits and trusts their sums to fit. */
static bool fits_onednn(const ft__tensor *x, const ft__tensor *y, const ft__window *w)
{
    const int64_t most = 1 << 24;

    for (uint32_t i = 0; i + 2 < x->rank && i < 3; i++)
        if (w->kernel[i] > most || w->stride[i] > most || w->begin[i] > most ||
            w->end[i] > most || w->end[i] < -most || w->dilation[i] > most ||
            w->kernel[i] * w->dilation[i] > most)
            return false;
    for (uint32_t i = 0; i < x->rank; i++)
        if (x->dim[i] > most || y->dim[i] > most)
            return false;
    return true;
}

/* A filter of (groups,) out, in and kernel axes over memory in ONNX's order:
 * out x in/groups x kernel, a transposed one's in x out/groups x kernel. */
static ft__tensor filter_of(const ft_op *op, bool transposed)
{
    int64_t groups = ft_op_at(op, FT_K_groups, 0), dim[6] = {groups};
    int64_t in = ft_op_at(op, FT_K_x, 1) / groups;
    int64_t out = ft_op_at(op, FT_K_out, 0) / groups;
    uint32_t n = 3, lead = groups == 1;
    ft__tensor t;

    dim[1] = transposed ? in : out;
    dim[2] = transposed ? out : in;
    for (uint32_t i = 0; i < spatial_axes(op); i++)
        dim[n++] = ft_op_at(op, FT_K_kernel, i);
    t = ft__tensor_rows(n - lead, dim + lead);
    if (transposed) {
        uint32_t o = 1 - lead;
        int64_t stride = t.stride[o];

        t.dim[o] = out;
        t.dim[o + 1] = in;
        t.stride[o] = t.stride[o + 1];
        t.stride[o + 1] = stride;
    }
    return t;
}

ft_status ft__prepare_conv(ft_block *b, ft_error *err)
{
    const ft_op *op = &b->op;
    bool transposed = op->kind == FT_KIND_conv_transpose1d ||
                      op->kind == FT_KIND_conv_transpose2d ||
                      op->kind == FT_KIND_conv_transpose3d;
    int64_t out = ft_op_at(op, FT_K_out, 0);
    ft__tensor x = b->x, y = b->y;
    ft__tensor w = filter_of(op, transposed), bias = ft__tensor_rows(1, &out);
    bool has_bias = ft_op_at(op, FT_K_bias, 0) != 0;
    ft__window win = window_of(op);

    if (op->dtype != FT_DTYPE_fp32 || !fits_onednn(&x, &y, &win))
        return ft__unsupported(b, err, "convolutions take fp32 and extents up to 2^24");
    return ft__use_prim(
        b, ft__prim_conv(b, transposed, &x, &w, has_bias ? &bias : NULL, &y, &win),
        err);
}

/* Behind the end lies as much padding as the result needs: less when a rest
 * does not fill a window, more when sizes are rounded up. */
static void fit_end(ft__window *w, const ft__tensor *x, const ft__tensor *y)
{
    for (uint32_t i = 0; i + 2 < x->rank; i++) {
        int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;

        w->end[i] =
            (y->dim[i + 2] - 1) * w->stride[i] + reach - x->dim[i + 2] - w->begin[i];
    }
}

static bool is_max(ft_kind k)
{
    return k == FT_KIND_maxpool1d || k == FT_KIND_maxpool2d || k == FT_KIND_maxpool3d ||
           k == FT_KIND_global_maxpool;
}

static ft_status make_pool(ft_block *b, ft__window *win, ft_error *err)
{

    fit_end(win, &b->x, &b->y);
    if (b->op.dtype != FT_DTYPE_fp32 || !fits_onednn(&b->x, &b->y, win))
        return ft__unsupported(b, err, "pooling takes fp32 and extents up to 2^24");
    return ft__use_prim(
        b,
        ft__prim_pool(
            b, is_max(b->op.kind) ? dnnl_pooling_max : dnnl_pooling_avg_exclude_padding,
            &b->x, &b->y, win),
        err);
}

ft_status ft__prepare_pool(ft_block *b, ft_error *err)
{
    ft__window win = window_of(&b->op);

    return make_pool(b, &win, err);
}

ft_status ft__prepare_global_pool(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x;
    ft__window win = {0};

    if (x.rank < 3 || x.rank > 5)
        return ft__unsupported(b, err, "pooling takes 1 to 3 spatial axes");
    for (uint32_t i = 0; i + 2 < x.rank; i++) {
        win.kernel[i] = x.dim[i + 2];
        win.stride[i] = win.dilation[i] = 1;
    }
    return make_pool(b, &win, err);
}

ft_status ft__prepare_linear(ft_block *b, ft_error *err)
{
    const ft_op *op = &b->op;
    ft_shape s = ft_op_shape(op, FT_K_x);
    int64_t k = s.rank ? s.dim[s.rank - 1] : 1, n = ft_op_at(op, FT_K_out, 0);
    int64_t m = k ? ft_shape_elements(&s) / k : 0;
    ft__tensor x = ft__tensor_rows(2, (int64_t[]){m, k});
    ft__tensor w = ft__tensor_rows(2, (int64_t[]){n, k});
    ft__tensor y = ft__tensor_rows(2, (int64_t[]){m, n}), bias = ft__tensor_rows(1, &n);
    bool has_bias = ft_op_at(op, FT_K_bias, 0) != 0;

    if (op->dtype != FT_DTYPE_fp32)
        return ft__unsupported(b, err, "products run in fp32 only");
    return ft__use_prim(b, ft__prim_linear(b, &x, &w, has_bias ? &bias : NULL, &y),
                        err);
}

static int64_t batches(const ft__tensor *t)
{
    int64_t n = 1;

    for (uint32_t i = 0; i + 2 < t->rank; i++)
        n *= t->dim[i];
    return n;
}

static ft__tensor as_batch(const ft__tensor *t)
{
    return ft__tensor_rows(
        3, (int64_t[]){batches(t), t->dim[t->rank - 2], t->dim[t->rank - 1]});
}

/* One batch axis wherever all operands agree or one has no batch at all: the
 * fast kernels know no more. */
ft_status ft__prepare_matmul(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, y = ft__tensor_in(&b->op, 1);
    ft__tensor z = b->y;
    int64_t nx = batches(&x), ny = batches(&y), nz = batches(&z);

    if (b->op.dtype != FT_DTYPE_fp32)
        return ft__unsupported(b, err, "products run in fp32 only");
    if ((nx == nz || nx == 1) && (ny == nz || ny == 1)) {
        x = as_batch(&x);
        y = as_batch(&y);
        z = as_batch(&z);
    } else {
        x = ft__tensor_widen(&x, z.rank);
        y = ft__tensor_widen(&y, z.rank);
    }
    return ft__use_prim(b, ft__prim_matmul(b, &x, &y, &z), err);
}

ft_status ft__prepare_batchnorm(ft_block *b, ft_error *err)
{

    if (b->op.dtype != FT_DTYPE_fp32 || b->x.rank < 2 || b->x.rank > 5)
        return ft__unsupported(b, err, "batchnorm takes fp32 of rank 2 to 5");
    return ft__use_prim(b, ft__prim_batchnorm(b, &b->x, EPSILON), err);
}

ft_status ft__prepare_layernorm(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x;
    uint32_t first = x.rank - (uint32_t)ft_op_at(&b->op, FT_K_norm, 0);
    int64_t size[] = {1, 1};

    if (b->op.dtype != FT_DTYPE_fp32 || first == x.rank)
        return ft__unsupported(b, err, "layernorm takes fp32 and at least one axis");
    for (uint32_t i = 0; i < x.rank; i++)
        size[i >= first] *= x.dim[i];
    x = ft__tensor_rows(2, size);
    return ft__use_prim(b, ft__prim_layernorm(b, &x, EPSILON), err);
}

ft_status ft__prepare_lrn(ft_block *b, ft_error *err)
{
    int64_t size = ft_op_at(&b->op, FT_K_size, 0);

    if (b->op.dtype != FT_DTYPE_fp32 || size % 2 == 0)
        return ft__unsupported(b, err, "lrn takes fp32 and an odd size");
    return ft__use_prim(b, ft__prim_lrn(b, &b->x, size, 1e-4f, 0.75f, 1), err);
}
