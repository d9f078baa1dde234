/* Convolutions, pools and resizing. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

/* Up to three axes, as windows.cl reads them; fewer are preceded by ones. */
typedef struct window {
    int32_t x[3], y[3], kernel[3], stride[3], pad[3], dilation[3];
} window;

static int32_t taps(const window *w)
{
    return w->kernel[0] * w->kernel[1] * w->kernel[2];
}

static int32_t volume(const int32_t v[3])
{
    return v[0] * v[1] * v[2];
}

static window window_of(const ft_block *b, ft_shape *out)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);
    uint32_t axes = x.rank - 2;
    ft_dtype t;
    window w = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, {1, 1, 1}};

    ft_op_output(&b->op, 0, out, &t);
    for (uint32_t i = 0; i < axes; i++) {
        uint32_t to = 3 - axes + i;
        int64_t begin, end;

        ft_op_pad(&b->op, i, &begin, &end);
        w.x[to] = (int32_t)x.dim[2 + i];
        w.y[to] = (int32_t)out->dim[2 + i];
        w.kernel[to] = (int32_t)ft_op_at(&b->op, FT_K_kernel, i);
        w.stride[to] = (int32_t)ft_op_at(&b->op, FT_K_stride, i);
        w.pad[to] = (int32_t)begin;
        w.dilation[to] = (int32_t)ft_op_at(&b->op, FT_K_dilation, i);
    }
    return w;
}

static void arg_window(ft_block *b, const window *w)
{
    ft__arg_sizes(b, (const int32_t *)w, sizeof(*w) / sizeof(int32_t));
}

void ft__build_window(ft_block *b)
{
    bool max = b->op.kind >= FT_KIND_maxpool1d && b->op.kind <= FT_KIND_maxpool3d;
    ft_shape out;
    window w = window_of(b, &out);

    if (!ft__computes_floats(b))
        return;
    ft__kernel(b, "windows", max ? "k_maxpool" : "k_avgpool", "float", "float", "");
    ft__arg_map(b, ft_shape_elements(&out));
    arg_window(b, &w);
    ft__range(b, ft_shape_elements(&out));
}

typedef struct conv {
    window w;
    ft_shape out;
    int64_t images, groups, ins, outs; /* channels of a group */
    bool bias;
} conv;

static conv conv_of(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);
    conv v = {.images = x.dim[0],
              .groups = ft_op_at(&b->op, FT_K_groups, 0),
              .bias = ft_op_at(&b->op, FT_K_bias, 0) != 0};

    v.w = window_of(b, &v.out);
    v.ins = x.dim[1] / v.groups;
    v.outs = ft_op_at(&b->op, FT_K_out, 0) / v.groups;
    return v;
}

/* Every result by itself. */
static void build_direct(ft_block *b, const conv *v, const char *kernel)
{
    ft__kernel(b, "windows", kernel, "float", "float", "");
    ft__arg_in(b, 0);
    ft__arg_in(b, 1);
    ft__arg_in(b, v->bias ? 2 : 1);
    ft__arg_out(b, 0);
    ft__arg_ints(b, ft_shape_elements(&v->out));
    arg_window(b, &v->w);
    ft__arg_ints(b, v->groups, v->ins, v->outs, v->bias);
    ft__range(b, ft_shape_elements(&v->out));
}

/* x is its own matrix of columns. */
static bool is_pointwise(const window *w)
{
    static const int32_t ones[3] = {1, 1, 1}, none[3] = {0};

    return !memcmp(w->kernel, ones, sizeof(ones)) &&
           !memcmp(w->stride, ones, sizeof(ones)) &&
           !memcmp(w->pad, none, sizeof(none)) && !memcmp(w->x, w->y, sizeof(w->x));
}

/* The products of some images: filters times what they read, group by group. */
static void launch_products(ft_block *b, const conv *v, int64_t first, int64_t images,
                            bool columns)
{
    int64_t batch = images * v->groups, n = volume(v->w.y);
    int64_t k = v->ins * taps(&v->w);
    int32_t *place = malloc((size_t)batch * 3 * sizeof(*place));
    ft__product p = {.m = v->outs,
                     .n = n,
                     .k = k,
                     .batch = batch,
                     .bias = v->bias && v->groups == 1,
                     .place = place,
                     .a = {.kind = FT__SLOT_IN, .index = 1},
                     .b = {.kind = columns ? FT__SLOT_SCRATCH : FT__SLOT_IN},
                     .c = {.kind = FT__SLOT_OUT},
                     .bias_slot = {.kind = FT__SLOT_IN, .index = v->bias ? 2 : 1}};

    for (int64_t i = 0; place && i < batch; i++) {
        int64_t at = first * v->groups + i;

        place[3 * i] = (int32_t)(at % v->groups * v->outs * k);
        place[3 * i + 1] = (int32_t)((columns ? i : at) * k * n);
        place[3 * i + 2] = (int32_t)(at * v->outs * n);
    }
    if (place)
        ft__product_launch(b, &p);
    else
        (void)ft__unsupported(b, "no memory to prepare it");
    free(place);
}

static void launch_columns(ft_block *b, const conv *v, int64_t first, int64_t images)
{
    int64_t n = images * v->groups * v->ins * taps(&v->w), lanes;

    ft__kernel(b, "windows", "k_columns", "float", "float", "");
    ft__arg_in(b, 0);
    ft__arg_slot(b, (ft__slot){.kind = FT__SLOT_SCRATCH});
    ft__arg_ints(b, n);
    arg_window(b, &v->w);
    ft__arg_ints(b, first * v->groups * v->ins * volume(v->w.x));
    lanes = !b->ctx->shares ? 1 : v->w.y[2] > 16 ? 32 : 8;
    ft__range3(b, lanes, v->w.y[0] * v->w.y[1], n, (size_t)lanes, 32 / (size_t)lanes);
    ft__fixed(b);
}

/* As matrix products; of so many images at a time that their columns fit in scratch
 * memory. False: not even one does. */
static bool build_as_products(ft_block *b, const conv *v)
{
    const int64_t most_scratch = INT64_C(1) << 26; /* bytes */
    int64_t of_image = v->groups * v->ins * taps(&v->w) * volume(v->w.y) * 4;
    int64_t at_once = most_scratch / of_image;
    bool columns = !is_pointwise(&v->w);

    if (columns && of_image > INT64_C(1) << 30)
        return false;
    at_once = !columns || at_once > v->images ? v->images : at_once < 1 ? 1 : at_once;
    for (int64_t first = 0; first < v->images && !b->status; first += at_once) {
        int64_t images = v->images - first < at_once ? v->images - first : at_once;

        if (columns)
            launch_columns(b, v, first, images);
        launch_products(b, v, first, images, columns);
    }
    b->scratch_bytes = columns ? (uint64_t)(at_once * of_image) : 0;
    return true;
}

void ft__build_conv(ft_block *b)
{
    bool transposed = b->op.kind >= FT_KIND_conv_transpose1d &&
                      b->op.kind <= FT_KIND_conv_transpose3d;
    conv v = conv_of(b);
    bool products = !transposed && v.ins * taps(&v.w) >= 16 && v.outs >= 4 &&
                    (v.groups == 1 || !v.bias);

    if (!ft__computes_floats(b))
        return;
    if (products && build_as_products(b, &v))
        return;
    build_direct(b, &v, transposed ? "k_conv_transpose" : "k_conv");
}

/* Axes as the kernel sees them: those that are resized and between them what is not;
 * what stands in front is run through. Returns how many, at most 4. */
static uint32_t resized_axes(const ft_shape *x, const ft_shape *out, int32_t from[4],
                             int32_t to[4])
{
    uint32_t n = 0;
    bool kept = false;

    for (uint32_t d = 0; d < x->rank; d++) {
        bool same = x->dim[d] == out->dim[d];

        if (same && ((kept && n) || n == 0)) {
            kept = true;
            if (n)
                from[n - 1] = to[n - 1] *= (int32_t)x->dim[d];
            continue;
        }
        kept = same;
        if (n == 4)
            return n;
        from[n] = (int32_t)x->dim[d];
        to[n++] = (int32_t)out->dim[d];
    }
    return n;
}

void ft__build_resize(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), out;
    int32_t from[4], to[4], sizes[6] = {1, 1, 1, 1, 1, 1};
    ft_dtype t;
    uint32_t n;

    ft_op_output(&b->op, 0, &out, &t);
    n = resized_axes(&x, &out, from, to);
    if (n > 3)
        (void)ft__unsupported(b, "more than three axes change");
    if (b->status || !ft__computes_floats(b))
        return;
    memcpy(sizes + 3 - n, from, n * sizeof(*from));
    memcpy(sizes + 6 - n, to, n * sizeof(*to));
    ft__kernel(b, "windows", "k_resize", "float", "float", "");
    ft__arg_map(b, ft_shape_elements(&out));
    ft__arg_sizes(b, sizes, 6);
    ft__arg_ints(b, ft_op_at(&b->op, FT_K_mode, 0));
    ft__range(b, ft_shape_elements(&out));
}
