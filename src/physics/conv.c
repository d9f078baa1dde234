/* Products and convolutions: the fastest of the algorithms that libraries have. */
#include <math.h>

#include "physics/op_kernels.h"

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

/* A gradient of the data as one product, whose columns are added up afterwards. */
static ft__algorithm by_columns(const ft__op_kernel *p, double share)
{
    ft__algorithm a = {.op_kernel = *p, .share = share, .starts = 1};
    double values = p->out * p->taps * p->columns * p->batch * p->size;

    a.op_kernel.m = p->out * p->taps;
    a.op_kernel.n = p->columns;
    a.op_kernel.k = p->in;
    a.op_kernel.written = values;
    a.added = values + p->written;
    return a;
}

/* Whether tensor cores serve: TF32 wants a few channels on both sides. */
static int is_tensor(const ft__op_kernel *p, const ft__hardware_spec *chip,
                     const double *c)
{
    return chip->tensor &&
           (p->size <= 2 || fmin(p->in, p->out) >= c[FT__C_tensor_channels]);
}

/* TF32, 1 x 1: a product for every image, channels where they are. It loads numbers one
 * by one, which is slower than after they are laid side by side; for few of them it is
 * worth it. */
static ft__algorithm by_image(const ft__op_kernel *p, double share)
{
    ft__algorithm a = {.op_kernel = *p, .share = share};

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

/* What a library's plain products reach of the best ones'. */
static double library_share(const ft__op_kernel *p, const ft__hardware_spec *chip,
                            const double *c)
{
    if (!chip->gpu)
        return 1;
    return (chip->amd ? c[FT__C_amd_share] : 1) *
           (chip->early && p->crossed ? c[FT__C_crossed_share] : 1);
}

/* Those that save multiplications; how many. */
static uint32_t fast(ft__algorithm *out, const ft__op_kernel *p, double share,
                     const double *c)
{
    static const struct conv_pieces fused = {2, 16, 1}, wide = {4, 36, 1};
    const struct conv_pieces fft = {33 - p->kernel, 32 * 17, 4};
    uint32_t n = 0;

    if (p->kernel == 3) {
        out[n++] = (ft__algorithm){.op_kernel = transformed(p, &fused),
                                   .share = share * c[FT__C_fused_share]};
        out[n++] = apart(p, &wide, share * c[FT__C_apart_share]);
    }
    if (p->kernel >= 3 && p->kernel < 16)
        out[n++] = apart(p, &fft, share * c[FT__C_fft_share]);
    return n;
}

/* At most that of a plain product, but for constants that say more of all. */
static double pointwise_share(const double *c)
{
    double all = c[FT__C_conv_share];

    return fmin(all * c[FT__C_pointwise_share], fmax(all, 1));
}

static uint32_t convolution(ft__algorithm *out, const ft__op_kernel *p,
                            const ft__hardware_spec *chip, const double *c)
{
    const int tensor = is_tensor(p, chip, c);
    /* TF32 works channels-last: one pass there, one back. */
    const double relaid = tensor && p->size > 2 ? p->relaid : 0;
    const double own = chip->tensor && !tensor ? chip->vector_share : 1;
    const double share = own * direction(p, c);
    const double product =
        own * (chip->gpu && !tensor && p->kernel == 1 ? pointwise_share(c)
                                                      : c[FT__C_conv_share]);
    uint32_t n = 0;

    out[n++] = (ft__algorithm){
        .op_kernel = *p, .share = direction(p, c) * product, .added = relaid};
    if (p->columns > 0) {
        out[n] = by_columns(p, product);
        out[n++].added += relaid;
    }
    if (relaid > 0 && p->kernel == 1 && p->gradient != FT_WRT_WEIGHTS)
        out[n++] = by_image(p, share * c[FT__C_image_share]);
    return tensor || !chip->gpu ? n : n + fast(out + n, p, share, c);
}

uint32_t ft__algorithms(ft__algorithm out[FT__MAX_ALGORITHMS], const ft__op_kernel *p,
                        const ft__hardware_spec *chip, const double *c)
{
    if (p->what == FT__OP_KERNEL_CONV)
        return convolution(out, p, chip, c);
    out[0] = (ft__algorithm){.op_kernel = *p,
                             .share = library_share(p, chip, c),
                             .tensor = ft__tensor_serves(p, chip)};
    return 1;
}

void ft__algorithms_cost(ft__terms *out, const ft__algorithm *a, uint32_t n,
                         const ft__pace *pace)
{
    ft__terms best = {.busy_s = INFINITY};

    for (uint32_t i = 0; i < n; i++) {
        ft__terms t = *out;

        if (a[i].tensor)
            ft__tensor_cost(&t, &a[i], pace);
        else
            ft__product_cost(&t, &a[i], pace);
        if (a[i].added > 0) {
            double s =
                ft__cached_s(a[i].added, pace) + a[i].starts * pace->c[FT__C_kernel_s];

            t.memory_s += s;
            t.busy_s += s;
        }
        if (i == 0 || t.busy_s < best.busy_s)
            best = t;
    }
    *out = best;
}

/* One channel a group: every value is read for few operations. A thread finds its place
 * by divisions first; in a gradient of weights it does for every term. */
void ft__direct_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    const double *c = pace->c;
    double each = 1 / (direction(p, c) * c[FT__C_direct_share]), work;

    if (pace->chip->gpu && p->gradient == FT_WRT_WEIGHTS)
        each = fmax(each, c[FT__C_direct_sum]);
    work = p->flops * each;
    if (pace->chip->gpu)
        work += 2 * p->places * c[FT__C_direct_place];
    out->compute_s = work / (pace->chip->vector_flops * out->sustained);
    out->memory_s = ft__cached_s(p->read + p->written, pace);
    out->busy_s = fmax(out->compute_s, out->memory_s);
    out->waves = 1;
}
