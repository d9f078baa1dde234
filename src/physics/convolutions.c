/* Convolutions: the product of each pass; the algorithms that libraries have for one,
 * each a product and passes over memory; and the kernel of those of one channel a
 * group. */
#include <math.h>

#include "graph/op.h"
#include "physics/op_kernel_cost.h"

/* A convolution and what its three products have in common. */
struct conv_sizes {
    const ft_op *op;
    double groups, in, out; /* channels of a group */
    double places, results; /* positions over the batch, before and after */
    double taps, flops, weights;
    int64_t height; /* of the result */
    int transposed;
};

static struct conv_sizes conv_of(const ft_op *forward)
{
    struct conv_sizes v = {.op = forward, .taps = 1};
    ft_shape x = ft_op_shape(forward, FT_K_x), y;
    ft_dtype t;
    ft_cost cost;

    ft_op_cost(forward, &cost);
    ft_op_output(forward, 0, &y, &t);
    v.groups = (double)ft_op_at(forward, FT_K_groups, 0);
    v.in = (double)x.dim[1] / v.groups;
    v.out = (double)ft_op_at(forward, FT_K_out, 0) / v.groups;
    v.places = (double)ft_shape_elements(&x) / (double)x.dim[1];
    v.results = (double)ft_shape_elements(&y) / (v.out * v.groups);
    for (uint32_t i = 0; i + 2 < x.rank; i++)
        v.taps *= (double)ft_op_at(forward, FT_K_kernel, i);
    v.height = y.rank > 2 ? y.dim[2] : 1;
    v.flops = cost.flops;
    v.weights = v.groups * v.in * v.out * v.taps;
    v.transposed = ft__is_transposed(forward);
    return v;
}

/* Winograd's and Fourier's algorithms are for square kernels in steps of one. */
static double fast_kernel(const struct conv_sizes *v)
{
    int64_t wide = ft_op_at(v->op, FT_K_kernel, 0);

    if (v->op->kind != FT_KIND_conv2d || ft_op_at(v->op, FT_K_kernel, 1) != wide)
        return 0;
    for (uint32_t i = 0; i < 2; i++)
        if (ft_op_at(v->op, FT_K_stride, i) != 1 ||
            ft_op_at(v->op, FT_K_dilation, i) != 1)
            return 0;
    return (double)wide;
}

/* PyTorch's depthwise kernels for vectors find the place of each result by divisions.
 * Forward it has cuDNN's, which do not, where channels lie last, and for fp16 with
 * square windows of 1, 3 or 5 that are not dilated, from 32 channels on
 * (Convolution.cpp, use_cudnn_depthwise). Half of timm's networks on an RTX 3090. */
static bool finds_place(const struct conv_sizes *v, int gradient)
{
    const ft_op *op = v->op;
    const int64_t wide = ft_op_at(op, FT_K_kernel, 0);

    if (op->kind != FT_KIND_conv2d || gradient)
        return true;
    return op->layout != FT_LAYOUT_CHANNELS_LAST &&
           (op->dtype != FT_DTYPE_fp16 || ft_op_at(op, FT_K_kernel, 1) != wide ||
            (wide != 1 && wide != 3 && wide != 5) || v->in * v->groups < 32 ||
            ft_op_at(op, FT_K_dilation, 0) > 1 || ft_op_at(op, FT_K_dilation, 1) > 1);
}

void ft__conv_kernel(ft__op_kernel *p, const ft_op *forward, int gradient)
{
    const struct conv_sizes sizes = conv_of(forward), *v = &sizes;
    int direct = v->groups > 1 && (v->in == 1 || v->out == 1);
    double x = v->places * v->in * v->groups, r = v->results * v->out * v->groups;
    int over_input = v->transposed ? gradient == 0 : gradient == FT_WRT_X;

    p->what = direct ? FT__OP_KERNEL_DIRECT : FT__OP_KERNEL_CONV;
    p->gradient = gradient;
    p->batch = v->groups;
    p->taps = v->taps;
    p->kernel = fast_kernel(v);
    p->columns = !over_input ? 0 : v->transposed ? v->places : v->results;
    p->flops = v->flops;
    p->n = gradient == FT_WRT_X ? v->in : v->out;
    p->m = over_input == v->transposed ? v->results : v->places;
    /* Steps of more than one are zeros between the gradients: multiplied, too. */
    p->k = (over_input == v->transposed ? v->in : v->out) * v->taps;
    p->read = ((gradient == FT_WRT_X ? r : x) + v->weights) * p->size;
    p->weights = v->weights * p->size;
    p->written = (gradient == FT_WRT_X ? x : r) * p->size;
    p->images = (double)ft_op_at(v->op, FT_K_x, 0);
    p->height = (double)(gradient == FT_WRT_X ? ft_op_at(v->op, FT_K_x, 2) : v->height);
    p->width = p->m / p->images / p->height;
    p->in = gradient == FT_WRT_X ? v->out : v->in;
    p->out = p->n;
    p->tensors = (x + r) * p->size;
    p->last = v->op->layout == FT_LAYOUT_CHANNELS_LAST;
    p->volume = ft_op_shape(v->op, FT_K_x).rank == 5;
    p->relaid = p->last ? 0 : 2 * p->tensors;
    p->places = p->written / p->size;
    p->placed = finds_place(v, gradient);
    if (direct && gradient == FT_WRT_X) /* taps between strides are looked at, too */
        p->flops = fmax(p->flops, 2 * p->places * p->taps);
    if (gradient == FT_WRT_WEIGHTS) {
        p->m = v->out;
        p->n = v->in * v->taps;
        p->k = v->flops / (2 * p->m * p->n * v->groups);
        p->read = (x + r) * p->size;
        p->weights = 0;
        p->written = v->weights * p->size;
        p->places = 0;
    }
}

/* A convolution over square pieces of the image: each of `points` positions of the
 * transformed pieces is a product over channels. */
struct conv_pieces {
    double step;   /* results of a piece along an axis */
    double points; /* of a transformed piece */
    double work;   /* real products for each */
};

static ft__op_kernel transformed(const ft__op_kernel *p, const struct conv_pieces *t)
{
    double n = p->images * ceil(p->height / t->step) * ceil(p->width / t->step);
    ft__op_kernel q = *p;

    q.batch = p->batch * t->points;
    q.m = n;
    q.n = p->out;
    q.k = p->in * t->work;
    if (p->gradient == FT_WRT_WEIGHTS) {
        q.m = p->out;
        q.n = p->in;
        q.k = n * t->work;
    }
    return q;
}

/* Vectors of 16 bits before Volta take 16 images at a time: DeepBench's in 3 x 3 of a
 * P100, forward and gradients of the data, of 7 x 7 to 56 x 56, take as long for 8.
 * Fewer were not measured. */
static double whole_images(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return ft__has_vectors_of_16_bits(p, chip) && p->gradient != FT_WRT_WEIGHTS
               ? fmin(2 * p->images, ft__up(p->images / 16) * 16)
               : p->images;
}

/* An algorithm whose transforms pass through memory. */
static ft__algorithm apart(const ft__op_kernel *p, const struct conv_pieces *t,
                           double share)
{
    ft__algorithm a = {.op_kernel = transformed(p, t), .share = share, .starts = 2};
    double pieces =
        p->gradient == FT_WRT_WEIGHTS ? a.op_kernel.k / t->work : a.op_kernel.m;
    double points =
        t->points * (t->work > 1 ? 2 : 1); /* complex ones are two numbers */
    double spread = pieces * points * p->batch * (p->in + p->out) * p->size;
    double weights = p->in * p->out * p->batch * points * p->size;

    a.added = p->tensors + spread + weights;
    a.op_kernel.read = spread + weights;
    a.op_kernel.written = 0;
    return a;
}

/* NVIDIA's libraries keep few kernels for vectors whose steps are more than one:
 * KernelBench's transposed convolutions on a T4, gradients of DeepBench's Pascals and
 * Maxwells. Before Volta no atomic addition has 16 bits: cuDNN's gradients of a P100's
 * data take up to 80 times as long then, by what no shape tells. */
static const double STRIDED_VECTORS = 0.55, STRIDED_HALVES = 0.14;

static double strided_vectors(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    const bool in_halves =
        ft__has_vectors_of_16_bits(p, chip) && p->gradient == FT_WRT_X;

    if (!chip->gpu || chip->amd)
        return 1;
    return in_halves ? STRIDED_HALVES : STRIDED_VECTORS;
}

/* Of what a gradient of the data multiplies; the rest are zeros between its steps. */
static double useful(const ft__op_kernel *p)
{
    return p->flops / (2 * p->batch * p->m * p->n * p->k);
}

/* Padding alone leaves more than that, two steps along one axis less. */
static bool in_steps(const ft__op_kernel *p)
{
    return p->columns > 0 && useful(p) < 0.7;
}

/* Tensor cores' kernels take the results by their place between two steps, so that they
 * multiply no zeros (CUTLASS 2.9, "strided dgrad"): short products, of which they reach
 * less. KernelBench's transposed convolutions on A10, A10G and A100. */
static const double STRIDED_TENSOR = 0.5;

static void skip_zeros(ft__algorithm *a)
{
    a->op_kernel.k *= useful(&a->op_kernel);
    a->share *= STRIDED_TENSOR;
}

/* A gradient of the data as one product, whose columns are added up afterwards. */
static ft__algorithm by_columns(const ft__op_kernel *p, const ft__hardware_spec *chip,
                                bool tensor, double share)
{
    ft__algorithm a = {.op_kernel = *p,
                       .share = share * (tensor ? 1 : strided_vectors(p, chip)),
                       .starts = 1,
                       .matrix = tensor};
    double values = p->out * p->taps * p->columns * p->batch * p->size;

    a.op_kernel.m = p->out * p->taps;
    a.op_kernel.n = p->columns;
    a.op_kernel.k = p->in;
    a.op_kernel.written = values;
    a.added = values + p->written;
    return a;
}

/* Libraries pad channels of what is read, where they lie last, to the four that TF32
 * wants: KernelBench's images of three, compiled, on A100 and A10. */
static const double PADDED = 4;

static bool is_padded(const ft__op_kernel *p)
{
    return p->last && p->columns == 0 && p->gradient == 0 && p->batch == 1 &&
           p->in < PADDED && p->out >= PADDED;
}

double ft__padding_kernels(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return chip->tensor && !chip->amd && p->size > 2 && is_padded(p) ? 2 : 0;
}

static void pad(ft__op_kernel *p)
{
    if (p->size > 2 && is_padded(p))
        p->k *= PADDED / p->in;
}

/* Whether tensor cores serve: TF32 wants a few channels on both sides. */
static int is_tensor(const ft__op_kernel *p, const ft__hardware_spec *chip,
                     const double *c)
{
    return chip->tensor && (p->size <= 2 || is_padded(p) ||
                            fmin(p->in, p->out) >= c[FT__C_tensor_channels]);
}

/* TF32, 1 x 1: a product for every image, channels where they are. It loads numbers one
 * by one, which is slower than after they are laid side by side; for few of them it is
 * worth it. */
static ft__algorithm by_image(const ft__op_kernel *p, double share)
{
    ft__algorithm a = {.op_kernel = *p, .share = share, .matrix = true};

    a.op_kernel.batch = p->batch * p->images;
    a.op_kernel.m = p->height * p->width;
    return a;
}

static double direction(const ft__op_kernel *p, const double *c)
{
    return p->gradient == FT_WRT_X         ? c[FT__C_data_share]
           : p->gradient == FT_WRT_WEIGHTS ? c[FT__C_weights_share]
                                           : 1;
}

/* Those that save multiplications; how many. Winograd's are as fast in all directions,
 * but weights' gradients have none in one kernel (cuDNN: BWD_FILTER_ALGO_WINOGRAD is
 * not implemented), and libraries of CUDA 7.5 none apart
 * (WINOGRAD_NONFUSED: since cuDNN 5.1). */
static uint32_t fast(ft__algorithm *out, const ft__op_kernel *p,
                     const ft__hardware_spec *chip, double share, const double *c)
{
    static const struct conv_pieces fused = {2, 16, 1}, wide = {4, 36, 1};
    const struct conv_pieces fft = {33 - p->kernel, 32 * 17, 4};
    uint32_t n = 0;

    if (p->kernel == 3 && p->gradient != FT_WRT_WEIGHTS)
        out[n++] = (ft__algorithm){.op_kernel = transformed(p, &fused),
                                   .share = share * c[FT__C_fused_share]};
    if (p->kernel == 3 && chip->cuda >= 8)
        out[n++] = apart(p, &wide, share * c[FT__C_apart_share]);
    if (p->kernel >= 5 && p->kernel < 16)
        out[n++] = apart(p, &fft, share * direction(p, c) * c[FT__C_fft_share]);
    return n;
}

/* Images of three channels: libraries of GPUs with tensor cores keep few kernels for
 * vectors. Volumes of as few too on KernelBench's A10, A10G and T4, but not on an A100,
 * the only one of them with stacked memory. */
static bool is_few(const ft__op_kernel *p, const ft__hardware_spec *chip,
                   const double *c)
{
    return !chip->early && !chip->amd &&
           (!p->volume || p->columns > 0 || !chip->stacked) &&
           fmin(p->in, p->out) < c[FT__C_tensor_channels];
}

/* Gradients of such images' data, which transposed convolutions are: KernelBench's, on
 * T4, A100, A10 and A10G alike. */
static const double FEW_TRANSPOSED = 0.5;

/* 3-D convolutions with few input channels on CUDA cores. Their occupancy is low, so
 * that the power budget does not bind: a share of the peak. Tiles are 16 output
 * channels wide, those of products 32 at least. KernelBench's of 16 and 64 output
 * channels on A10, A10G and T4. */
static const double FEW_CHANNELS_3D = 0.3;

static bool is_few_3d(const ft__op_kernel *p, const ft__hardware_spec *chip,
                      const double *c)
{
    return chip->gpu && p->volume && p->columns == 0 && is_few(p, chip, c);
}

static double few_share(const ft__op_kernel *p, const ft__hardware_spec *chip,
                        const double *c)
{
    if (!is_few(p, chip, c))
        return 1;
    if (is_few_3d(p, chip, c))
        return c[FT__C_few_share] * FEW_CHANNELS_3D * ft__up(p->n / 32) * 2 /
               ft__up(p->n / 16);
    return c[FT__C_few_share] * (p->columns > 0 ? FEW_TRANSPOSED : 1);
}

/* Of a plain product's rate; beyond it only where constants say so of all. */
static double implicit_share(const ft__op_kernel *p, const ft__hardware_spec *chip,
                             bool tensor, const double *c)
{
    const bool vectors = chip->gpu && !tensor;
    const double all = c[tensor && p->size <= 2 ? FT__C_tensor_conv : FT__C_conv_share];
    const double more = c[p->taps == 1 ? FT__C_pointwise_share : FT__C_window_share];

    if (!vectors)
        return all;
    return fmin(all * more, fmax(all, 1)) * few_share(p, chip, c);
}

/* Of the rate with channels first: vectors have few kernels for channels that lie last,
 * and waste most of them where there are few. */
static double last_share(const ft__op_kernel *p, const ft__hardware_spec *chip,
                         const double *c)
{
    if (!p->last || !chip->gpu || chip->tensor)
        return 1;
    return fmin(p->in, p->out) < c[FT__C_tensor_channels] ? c[FT__C_last_few]
                                                          : c[FT__C_last_share];
}

/* Of the passes that lay channels last and back, with 16 bits: some kernels take
 * channels first. Half of timm's networks on an RTX 3090 in mixed precision. */
static const double RELAID_HALVES = 0.4;

/* Forward, of images with so few channels: k is so short that tiles, 64 results wide,
 * read, multiply and write in turn. KernelBench's on A100, A10G and T4, NeuSight's on
 * an A100 and a T4. */
static bool is_in_turn(const ft__op_kernel *p, const ft__hardware_spec *chip,
                       const double *c)
{
    return chip->gpu && is_few(p, chip, c) && p->taps > 1 && !p->volume &&
           (!p->last || chip->tensor) && p->columns == 0 && p->gradient == 0 &&
           p->batch == 1 && p->in < c[FT__C_tensor_channels];
}

static const double IN_TURN_WIDTH = 64, IN_TURN_SHARE = 1.1;

static ft__algorithm in_turn(const ft__op_kernel *p, bool tensor, double share)
{
    ft__algorithm a = {.op_kernel = *p,
                       .share = share * IN_TURN_SHARE,
                       .added = p->read + p->written,
                       .matrix = tensor};

    if (tensor)
        pad(&a.op_kernel);
    a.op_kernel.batch = p->batch * ft__up(p->n / IN_TURN_WIDTH);
    a.op_kernel.n = IN_TURN_WIDTH;
    a.op_kernel.read = a.op_kernel.written = 0;
    return a;
}

/* Fewest results of a tile of convolutions in three dimensions on tensor cores. */
static const double VOLUME_CHANNELS = 64;

uint32_t ft__conv_algorithms(ft__algorithm *out, const ft__op_kernel *p,
                             const ft__hardware_spec *chip, const double *c)
{
    const int tensor = is_tensor(p, chip, c);
    /* Tensor cores work channels-last: one pass there, one back. */
    const double relaid =
        !tensor ? 0 : p->relaid * (p->size > 2 || p->gradient ? 1 : RELAID_HALVES);
    const double own =
        (chip->tensor && !tensor ? chip->vector_share : 1) * last_share(p, chip, c);
    const double product = own * implicit_share(p, chip, tensor, c);
    /* Before Volta weights' gradients are cut along k, and parts added atomically:
     * cuDNN's BWD_FILTER_ALGO_0 and 3, which are not deterministic. */
    const bool atomic = chip->early && p->gradient == FT_WRT_WEIGHTS && p->size >= 2;
    ft__op_kernel whole = *p;
    uint32_t n = 0;

    if ((!tensor || p->size > 2) && is_in_turn(p, chip, c)) {
        out[0] = in_turn(p, tensor, own);
        return 1;
    }
    out[n] = (ft__algorithm){.op_kernel = *p,
                             .share = (atomic ? 1 : direction(p, c)) * product,
                             .added = relaid,
                             .below_power_budget = !tensor && is_few_3d(p, chip, c),
                             .matrix = tensor != 0};
    out[n].op_kernel.atomic = atomic;
    if (tensor)
        pad(&out[n].op_kernel);
    if (in_steps(p) && tensor && p->batch == 1)
        skip_zeros(&out[n]);
    else if (in_steps(p) && !tensor)
        out[n].share *= strided_vectors(p, chip);
    if (tensor && p->volume)
        out[n].op_kernel.n = fmax(p->n, VOLUME_CHANNELS);
    n++;
    if (p->columns > 0) {
        out[n] = by_columns(p, chip, tensor, product);
        out[n++].added += relaid;
    }
    if (relaid > 0 && p->size > 2 && p->kernel == 1 && p->gradient != FT_WRT_WEIGHTS)
        out[n++] = by_image(p, own * direction(p, c) * c[FT__C_image_share]);
    whole.images = whole_images(p, chip);
    return tensor || !chip->gpu || p->size < 2
               ? n
               : n + fast(out + n, &whole, chip, own, c);
}

/* One channel a group: every value is read for few operations. A thread finds its place
 * by divisions first; in a gradient of weights it does for every term. */
void ft__direct_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;
    const double *c = pace->c;
    double each = 1 / (direction(p, c) * c[FT__C_direct_share]), work;

    if (chip->gpu && p->gradient == FT_WRT_WEIGHTS)
        each = fmax(each, c[FT__C_direct_sum]);
    work = p->flops * each;
    if (chip->gpu && (p->placed || chip->amd || chip->early))
        work += 2 * p->places * c[FT__C_direct_place];
    out->compute_s = work / (chip->vector_flops * out->sustained);
    out->memory_s = ft__moved_s(p, 0, pace);
    out->busy_s = fmax(out->compute_s, out->memory_s);
    out->waves = 1;
}
