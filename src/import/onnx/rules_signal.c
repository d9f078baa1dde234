/* Images and signals: what samples grids at places of its own, and spectra. */
#include <math.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

/* As resize's key mode. */
static int64_t interpolation(ft__str mode, int64_t fallback)
{
    static const struct {
        const char *name;
        int64_t mode;
    } modes[] = {{"nearest", 0},   {"linear", 1}, {"bilinear", 1},
                 {"trilinear", 1}, {"cubic", 2},  {"bicubic", 2}};

    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
        if (ft__str_is(mode, modes[i].name))
            return modes[i].mode;
    return fallback;
}

static int64_t reals(const ft__onnx_node *n, ft__onnx_value *v, double *out,
                     uint32_t max)
{
    const ft__num *d = ft__data(n, v);
    int64_t count =
        d && ft__dtype_is_real(v->dtype) ? ft_shape_elements(&v->shape) : -1;

    for (int64_t i = 0; i < count && count <= (int64_t)max; i++)
        out[i] = d[i].f;
    return count <= (int64_t)max ? count : -1;
}

/* In single precision, as ONNX computes it. */
static int64_t scaled(int64_t dim, double by, bool up)
{
    float x = (float)dim * (float)by;

    x = up ? roundf(x) : floorf(x);
    return x >= 0 && x < (float)FT__MAX_ELEMENTS ? (int64_t)x : -1;
}

/* sizes[] of the axes to resize, under a policy that keeps the aspect ratio. */
static void keep_aspect(const ft__onnx_node *n, const uint32_t *axis, int64_t count,
                        ft_shape *s, const ft_shape *x)
{
    ft__str policy = ft__attr_str(n, "keep_aspect_ratio_policy");
    bool larger = ft__str_is(policy, "not_smaller");
    double by = larger ? 0 : HUGE_VAL;

    if (!larger && !ft__str_is(policy, "not_larger"))
        return;
    for (int64_t i = 0; i < count; i++) {
        double r = (double)s->dim[axis[i]] / (double)x->dim[axis[i]];

        by = larger ? fmax(by, r) : fmin(by, r);
    }
    for (int64_t i = 0; i < count; i++)
        s->dim[axis[i]] = scaled(x->dim[axis[i]], by, true);
}

/* New sizes in s; false: unknown. Scales are operand 1 (or an attribute), from
 * opset 11 operand 2, with sizes as operand 3. */
static bool resized(const ft__onnx_node *n, ft_shape *s)
{
    ft_shape x = n->in[0]->shape;
    uint32_t axis[FT_MAX_RANK];
    int64_t v[FT_MAX_RANK], count = ft__attr_ints(n, "axes", v, FT_MAX_RANK), have;
    ft__onnx_value *scales = ft__in(n, n->n_in > 2 ? 2 : 1), *sizes = ft__in(n, 3);
    double by[FT_MAX_RANK];

    if (count > FT_MAX_RANK)
        return false;
    for (uint32_t i = 0; i < x.rank && count < 0; i++)
        axis[i] = i;
    for (int64_t i = 0; i < count; i++)
        axis[i] = ft__axis(n, v[i], x.rank);
    count = count < 0 ? x.rank : count;
    if (sizes && ft__length(sizes)) {
        have = ft__ints(n, sizes, v, FT_MAX_RANK);
        for (int64_t i = 0; i < have && have == count; i++)
            s->dim[axis[i]] = v[i];
        if (have == count && !ft__failed(n))
            keep_aspect(n, axis, count, s, &x);
        return have == count;
    }
    have = scales ? reals(n, scales, by, FT_MAX_RANK)
                  : ft__attr_floats(n, "scales", by, FT_MAX_RANK);
    for (int64_t i = 0; i < have && have == count; i++)
        s->dim[axis[i]] = scaled(x.dim[axis[i]], by[i], false);
    return have == count;
}

/* The axes that are resized by who knows how much: bits. */
static uint32_t resize_open(const ft__onnx_node *n)
{
    uint32_t rank = n->in[0]->shape.rank, open = 0;
    int64_t v[FT_MAX_RANK], count = ft__attr_ints(n, "axes", v, FT_MAX_RANK);

    for (int64_t i = 0; i < count && i < FT_MAX_RANK; i++)
        open |= 1u << ft__axis(n, v[i], rank);
    return count > 0 ? open : (1u << rank) - 1;
}

static void rule_resize(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    ft_shape s = x->shape;
    ft_op op;

    if (!resized(n, &s)) {
        if (!ft__failed(n))
            ft__emit_bounded(n, &x->shape, resize_open(n));
        return;
    }
    for (uint32_t i = 0; i < s.rank; i++)
        if (s.dim[i] < 0 || s.dim[i] > FT__MAX_ELEMENTS)
            ft__onnx_fail(n, "its scales do not fit its operand");
    if (ft__failed(n))
        return;
    op = ft__op_xto(FT_KIND_resize, x, &s);
    ft__op_set1(&op, FT_K_mode, interpolation(ft__attr_str(n, "mode"), 0));
    ft__emit1(n, &op, x, &s);
}

/* x at the points of a grid whose last axis is coordinates. */
static void rule_grid_sample(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *grid = n->in[1];
    uint32_t rank = x->shape.rank;
    ft_shape s = x->shape;
    ft_op op = ft__op_xy(FT_KIND_grid_sample, x, grid);

    if (rank < 3 || grid->shape.rank != rank || x->shape.dim[0] != grid->shape.dim[0] ||
        grid->shape.dim[rank - 1] != (int64_t)rank - 2) {
        ft__onnx_fail(n, "its grid does not fit its operand");
        return;
    }
    for (uint32_t i = 2; i < rank; i++)
        s.dim[i] = grid->shape.dim[i - 1];
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__op_set1(&op, FT_K_mode, interpolation(ft__attr_str(n, "mode"), 1));
    ft__emit2(n, &op, x, grid, &s);
}

/* The points of a plain grid of this size times a matrix for each image. */
static void rule_affine_grid(ft__onnx_node *n)
{
    ft__onnx_value *theta = n->in[0], *points = ft__onnx_temp(n, n->out[0]);
    int64_t size[FT_MAX_RANK] = {0}, count = ft__ints(n, n->in[1], size, FT_MAX_RANK);
    uint32_t rank = theta->shape.rank == 3 ? (uint32_t)theta->shape.dim[1] + 2 : 0;
    ft_shape s = {.rank = rank}, plain = {.rank = 2, .dim = {1, 0}};
    ft_op op;

    if ((rank != 4 && rank != 5) || theta->shape.dim[2] != (int64_t)rank - 1 ||
        (count >= 0 && count != (int64_t)rank)) {
        ft__onnx_fail(n, "its matrices do not fit its size");
        return;
    }
    s.dim[0] = theta->shape.dim[0];
    for (uint32_t i = 1; i + 1 < rank; i++)
        s.dim[i] = count < 0 ? 1 : size[i + 1];
    s.dim[rank - 1] = rank - 2;
    if (count < 0) {
        ft__emit_bounded(n, &s, ((1u << (rank - 1)) - 1) & ~1u);
        return;
    }
    if (!ft__shape_fits(&s) || !points) {
        ft__onnx_fail(n, "its result is too large");
        return;
    }
    for (uint32_t i = 1; i + 1 < rank; i++)
        plain.dim[0] *= s.dim[i];
    plain.dim[1] = rank - 1;
    ft__define_constant(n, points, theta->dtype, &plain);
    op = ft__op_of(FT_KIND_matmul, theta->dtype, &plain);
    ft__op_set(&op, FT_K_y, (int64_t[]){s.dim[0], rank - 1, rank - 2}, 3);
    ft__emit2(n, &op, points, theta, &s);
}

static void regions(ft__onnx_node *n, int64_t height, int64_t width)
{
    ft__onnx_value *x = n->in[0], *boxes = n->in[1];
    ft_shape s = x->shape;
    ft_op op = ft__op_xy(FT_KIND_roi_align, x, boxes);

    if (s.rank != 4 || boxes->shape.rank != 2 || height < 0 || width < 0) {
        ft__onnx_fail(n, "its regions do not fit its operand");
        return;
    }
    s.dim[0] = boxes->shape.dim[0];
    s.dim[2] = height;
    s.dim[3] = width;
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__make_of(n, &op, n->in, ft__in(n, 2) ? 3 : 2, &s, n->out[0]);
}

static void rule_roi_align(ft__onnx_node *n)
{
    regions(n, ft__attr_int(n, "output_height", 1), ft__attr_int(n, "output_width", 1));
}

static void rule_max_roi_pool(ft__onnx_node *n)
{
    int64_t size[2] = {-1, -1};

    (void)ft__attr_ints(n, "pooled_shape", size, 2);
    regions(n, size[0], size[1]);
}

/* Pieces of images: X, boxes, whose box it is, and the size. */
static void rule_ms_crop_resize(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape, *boxes = &n->in[1]->shape;
    int64_t size[2];
    ft_shape s;
    ft_op op;

    if (!ft__has_rank(n, 0, 4) || !ft__has_rank(n, 1, 2))
        return;
    if (ft__ints(n, n->in[3], size, 2) != 2 || size[0] < 0 || size[1] < 0) {
        ft__emit_unknown(n);
        return;
    }
    s = *FT__SHAPE(boxes->dim[0], x->dim[1], size[0], size[1]);
    op = ft__op_of(FT_KIND_roi_align, n->in[0]->dtype, x);
    ft__op_set_shape(&op, FT_K_y, boxes);
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__emit2(n, &op, n->in[0], n->in[1], &s);
}

/* Cut or padded in the middle, along some axes. */
static void rule_center_crop_pad(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    int64_t axes[FT_MAX_RANK], size[FT_MAX_RANK];
    int64_t count = ft__attr_ints(n, "axes", axes, FT_MAX_RANK);
    int64_t have = ft__ints(n, n->in[1], size, FT_MAX_RANK);
    ft_shape s = x->shape;
    bool larger = false;
    uint32_t open = 0;
    ft_op op;

    for (int64_t i = 0; count < 0 && i < (int64_t)s.rank; i++)
        axes[i] = i;
    count = count < 0 ? s.rank : count;
    if (count > FT_MAX_RANK || (have >= 0 && have != count)) {
        ft__onnx_fail(n, "it has not one size for each of its axes");
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        uint32_t axis = ft__axis(n, axes[i], s.rank);

        open |= 1u << axis;
        s.dim[axis] = have < 0 ? s.dim[axis] : size[i];
        larger |= s.dim[axis] > x->shape.dim[axis];
    }
    if (ft__failed(n))
        return;
    if (have < 0) {
        ft__emit_bounded(n, &s, open);
    } else if (ft_shape_equal(&s, &x->shape)) {
        ft__emit_shape(n, &s);
    } else {
        op = ft__op_xto(larger ? FT_KIND_pad : FT_KIND_slice, x, &s);
        ft__emit1(n, &op, x, &s);
    }
}

/* Columns added up into images: zeros, then a scatter. */
static void rule_col2im(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *zeros = ft__onnx_temp(n, n->out[0]);
    int64_t block[FT_MAX_RANK], image[FT_MAX_RANK], volume = 1;
    int64_t axes = ft__ints(n, n->in[1], image, FT_MAX_RANK - 2),
            sides = ft__ints(n, n->in[2], block, FT_MAX_RANK - 2);
    uint32_t known = axes >= 0 ? (uint32_t)axes : ft__length(n->in[1]);
    ft_shape s = {.rank = known + 2 < FT_MAX_RANK ? known + 2 : FT_MAX_RANK};
    ft_op op;

    for (int64_t i = 0; i < sides; i++)
        volume = block[i] > 0 && volume <= FT__MAX_ELEMENTS / block[i]
                     ? volume * block[i]
                     : 0;
    if (x->shape.rank != 3 || (sides >= 0 && axes >= 0 && sides != axes) ||
        volume == 0 || x->shape.dim[1] % volume) {
        ft__onnx_fail(n, "its blocks do not fit its operand");
        return;
    }
    s.dim[0] = x->shape.dim[0];
    s.dim[1] = sides < 0 ? x->shape.dim[1] : x->shape.dim[1] / volume;
    for (uint32_t i = 2; i < s.rank; i++)
        s.dim[i] = axes < 0 ? x->shape.dim[2] : image[i - 2];
    if (axes < 0 || sides < 0) {
        uint32_t open = axes < 0 ? ((1u << s.rank) - 1) & ~3u : 0;

        ft__emit_bounded(n, &s, open | (sides < 0 ? 2u : 0));
        return;
    }
    ft__op_init(&op, FT_KIND_fill, x->dtype);
    ft__op_set_shape(&op, FT_K_out, &s);
    if (!zeros)
        return;
    ft__emit(n, &op, &(ft__onnx_call){.out = &zeros, .n_out = 1, .shape = &s});
    if (ft__failed(n))
        return;
    op = ft__op_xy(FT_KIND_scatter, zeros, x);
    ft__emit2(n, &op, zeros, x, &s);
}

/* A file in memory: how large its image is only its bytes tell. */
static void rule_image_decoder(ft__onnx_node *n)
{
    bool grey = ft__str_is(ft__attr_str(n, "pixel_format"), "Grayscale");
    ft_shape s = {.rank = 3, .dim = {1, 1, grey ? 1 : 3}};

    s.dim[0] = ft_shape_elements(&n->in[0]->shape);
    ft__emit_open(n, n->out[0], FT_DTYPE_uint8, &s, 3u);
}

/* The axis, an operand from opset 20 on and an attribute before; -1: unknown. */
static int64_t dft_axis(const ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;
    int64_t axis = n->import->opset < 20 ? ft__attr_int(n, "axis", 1) : -2;

    if (ft__in(n, 2) && ft__ints(n, n->in[2], &axis, 1) != 1)
        return -1;
    return ft__axis(n, axis, x->rank);
}

/* Real signals end in 1, complex ones in 2. One-sided: only the half of a real
 * signal's spectrum that is not the mirror of the other. */
static void rule_dft(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *length = ft__in(n, 1);
    bool inverse = ft__attr_int(n, "inverse", 0), half = ft__attr_int(n, "onesided", 0),
         known;
    int64_t axis, points = -1;
    ft_shape s = x->shape;
    ft_op op = ft__op_x(FT_KIND_fft, x);
    uint32_t open = 0;

    if (s.rank < 2 || s.dim[s.rank - 1] < 1 || s.dim[s.rank - 1] > 2) {
        ft__onnx_fail(n, "the last dimension of its operand is not 1 or 2");
        return;
    }
    axis = dft_axis(n);
    if (ft__failed(n))
        return;
    s.dim[s.rank - 1] = inverse && half ? 1 : 2;
    if (axis >= 0)
        points = inverse && half ? 2 * (s.dim[axis] - 1) : s.dim[axis];
    known = !length || ft__ints(n, length, &points, 1) == 1;
    if (axis < 0 && !length && !half)
        axis = 0; /* any: all keep their sizes */
    if (axis < 0 || !known)
        open = axis < 0 ? (1u << (s.rank - 1)) - 1 : 1u << axis;
    if (points < 0 && axis >= 0)
        points = s.dim[axis];
    if (!open) {
        if (points < 1 || points > FT__MAX_ELEMENTS) {
            ft__onnx_fail(n, "it has %lld points", (long long)points);
            return;
        }
        s.dim[axis] = half && !inverse ? points / 2 + 1 : points;
        ft__op_set1(&op, FT_K_size, points);
        ft__op_set_shape(&op, FT_K_out, &s);
        ft__emit1(n, &op, x, &s);
    } else {
        ft__emit_bounded(n, &s, open);
    }
}

/* A spectrum of every frame: batch x frames x points x 2. */
static void rule_stft(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *window = ft__in(n, 2), *length = ft__in(n, 3);
    bool half = ft__attr_int(n, "onesided", 1), known;
    int64_t step = 0, points = 0, frames;
    ft_shape s = {4, {0, 0, 0, 2}};
    ft_op op = ft__op_x(FT_KIND_fft, x);

    if (x->shape.rank < 2 || x->shape.rank > 3) {
        ft__onnx_fail(n, "its signal has %u dimensions, not 3", x->shape.rank);
        return;
    }
    known = length ? ft__ints(n, length, &points, 1) == 1 : window != NULL;
    if (window && window->shape.rank == 1 && !(length && known)) {
        points = window->shape.dim[0];
        known = true;
    }
    s.dim[0] = x->shape.dim[0];
    s.dim[1] = x->shape.dim[1];
    s.dim[2] = known ? points : s.dim[1];
    if (half)
        s.dim[2] = s.dim[2] / 2 + 1;
    if (!known || ft__ints(n, n->in[1], &step, 1) != 1) {
        ft__emit_bounded(n, &s, known ? 2u : 6u);
        return;
    }
    if (step < 1 || points < 1 || points > x->shape.dim[1]) {
        ft__onnx_fail(n, "frames of %lld points do not fit its signal",
                      (long long)points);
        return;
    }
    frames = (x->shape.dim[1] - points) / step + 1;
    s.dim[1] = frames;
    ft__op_set1(&op, FT_K_size, points);
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__make_of(n, &op, (ft__onnx_value *[]){x, window}, window ? 2 : 1, &s, n->out[0]);
}

/* Over the last signal_ndim axes; complex numbers are a last axis of 2. arg: 0
 * real to complex, of which half is kept; 1 the way back. */
static void rule_ms_fft(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    int64_t axes = ft__attr_size(n, "signal_ndim", 1), points = 1;
    bool half = ft__attr_int(n, "onesided", 1);
    uint32_t last;
    ft_op op;

    if (n->rule->arg && s.rank && s.dim[s.rank - 1] == 2)
        s.rank--;
    if (s.rank == 0 || axes > s.rank) {
        ft__misfit(n, 0);
        return;
    }
    last = s.rank - 1;
    if (n->rule->arg && half)
        s.dim[last] = 2 * (s.dim[last] - 1);
    for (uint32_t i = 0; i < (uint32_t)axes; i++)
        points *= s.dim[last - i] > 0 ? s.dim[last - i] : 1;
    if (!n->rule->arg && half)
        s.dim[last] = s.dim[last] / 2 + 1;
    if (!n->rule->arg)
        ft__push(n, &s, 2);
    if (ft__failed(n))
        return;
    op = ft__op_x(FT_KIND_fft, n->in[0]);
    ft__op_set1(&op, FT_K_size, points);
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__emit1(n, &op, n->in[0], &s);
}

static ft_dtype window_dtype(const ft__onnx_node *n)
{
    ft_dtype t = ft_dtype_from_onnx(ft__attr_int(n, "output_datatype", 1));

    return t ? t : FT_DTYPE_fp32;
}

/* A table of this shape, made once. */
static void table(ft__onnx_node *n, const ft_shape *s, uint32_t open)
{
    if (open)
        ft__emit_open(n, n->out[0], window_dtype(n), s, open);
    else
        ft__define_constant(n, n->out[0], window_dtype(n), s);
}

/* Hann, Hamming, Blackman. */
static void rule_window(ft__onnx_node *n)
{
    ft_shape s = {1, {1}};
    bool known = ft__ints(n, n->in[0], s.dim, 1) == 1;

    table(n, &s, known ? 0 : 1u);
}

/* Frequencies of a spectrum x bins. */
static void rule_mel(ft__onnx_node *n)
{
    ft_shape s = {2, {1, 1}};
    bool length = ft__ints(n, n->in[1], &s.dim[0], 1) == 1,
         bins = ft__ints(n, n->in[0], &s.dim[1], 1) == 1;

    if (length)
        s.dim[0] = s.dim[0] / 2 + 1;
    table(n, &s, (length ? 0 : 1u) | (bins ? 0 : 2u));
}

static const ft__operator_rule rules[] = {
    {"AffineGrid", rule_affine_grid, 0, 2, 0},
    {"BlackmanWindow", rule_window, 0, 1, 0},
    {"CenterCropPad", rule_center_crop_pad, 0, 2, 0},
    {"Col2Im", rule_col2im, 0, 3, 0},
    {"DFT", rule_dft, 0, 1, 0},
    {"GridSample", rule_grid_sample, 0, 2, 0},
    {"HammingWindow", rule_window, 0, 1, 0},
    {"HannWindow", rule_window, 0, 1, 0},
    {"ImageDecoder", rule_image_decoder, 0, 1, 0},
    {"MaxRoiPool", rule_max_roi_pool, 0, 2, 0},
    {"MelWeightMatrix", rule_mel, 0, 5, 0},
    {"Resize", rule_resize, 0, 1, FT__BYTES_ONE},
    {"RoiAlign", rule_roi_align, 0, 3, 0},
    {"STFT", rule_stft, 0, 2, 0},
    {"Upsample", rule_resize, 0, 1, FT__BYTES_ONE},
    {"CropAndResize", rule_ms_crop_resize, 0, 4, FT__MICROSOFT},
    {"GridSample", rule_grid_sample, 0, 2, FT__MICROSOFT},
    {"Irfft", rule_ms_fft, 1, 1, FT__MICROSOFT},
    {"Rfft", rule_ms_fft, 0, 1, FT__MICROSOFT},
};

const ft__rule_table ft__rules_signal = {rules, sizeof(rules) / sizeof(*rules)};
