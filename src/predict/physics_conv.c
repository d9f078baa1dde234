/* Convolutions: the fastest of the algorithms that libraries have for them. */
#include <math.h>

#include "predict/passes.h"

/* A convolution over square pieces of the image: each of `points` positions of the
 * transformed pieces is a product over channels. */
struct pieces {
    double step;   /* results of a piece along an axis */
    double points; /* of a transformed piece */
    double work;   /* real products for each */
};

static ft__pass transformed(const ft__pass *p, const struct pieces *t)
{
    double n = p->images * ceil(p->height / t->step) * ceil(p->width / t->step);
    ft__pass q = *p;

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

/* Seconds of an algorithm whose transforms pass through memory. */
static void apart(ft__terms *out, const ft__pass *p, const struct pieces *t,
                  double share, const ft__chip *chip, const ft__theta *theta)
{
    ft__pass q = transformed(p, t);
    double pieces = p->gradient == FT_WRT_WEIGHTS ? q.k / t->work : q.m;
    double points =
        t->points * (t->work > 1 ? 2 : 1); /* complex ones are two numbers */
    double spread = pieces * points * p->batch * (p->in + p->out) * p->size;
    double weights = p->in * p->out * p->batch * points * p->size;
    double extra = p->tensors + spread + weights, s;

    q.read = spread + weights;
    q.written = 0;
    ft__product_cut(out, &q, share, chip, theta);
    s = ft__cached_s(extra, extra, chip, theta) + 2 * theta->v[FT__C_kernel_s];
    out->memory_s += s;
    out->busy_s += s;
}

static void take_faster(ft__terms *best, const ft__terms *other)
{
    if (other->busy_s < best->busy_s)
        *best = *other;
}

static double direction(const ft__pass *p, const double *c)
{
    return p->gradient == FT_WRT_X         ? c[FT__C_data_share]
           : p->gradient == FT_WRT_WEIGHTS ? c[FT__C_weights_share]
                                           : 1;
}

/* One channel a group: every value is read for few operations. */
static void direct(ft__terms *out, const ft__pass *p, double share,
                   const ft__chip *chip, const ft__theta *theta)
{
    double bytes = p->read + p->written;

    out->compute_s = p->flops / (chip->vector_flops * out->sustained * share);
    out->memory_s = ft__cached_s(bytes, bytes, chip, theta);
    out->busy_s = fmax(out->compute_s, out->memory_s);
    out->waves = 1;
}

/* A gradient of the data as one product, whose columns are added up afterwards. */
static void by_columns(ft__terms *out, const ft__pass *p, double share,
                       const ft__chip *chip, const ft__theta *theta)
{
    ft__pass q = *p;
    double values = p->out * p->taps * p->columns * p->batch * p->size, s;

    q.m = p->out * p->taps;
    q.n = p->columns;
    q.k = p->in;
    q.read = p->read;
    q.written = values;
    ft__product_cut(out, &q, share, chip, theta);
    s = ft__cached_s(values + p->written, values + p->written, chip, theta) +
        theta->v[FT__C_kernel_s];
    out->memory_s += s;
    out->busy_s += s;
}

void ft__conv_price(ft__terms *out, const ft__pass *p, const ft__chip *chip,
                    const ft__theta *theta)
{
    static const struct pieces fused = {2, 16, 1}, wide = {4, 36, 1};
    const double *c = theta->v;
    double share = direction(p, c);
    ft__terms other = *out;

    if (p->what == FT__PASS_DIRECT) {
        direct(out, p, share * c[FT__C_direct_share], chip, theta);
        return;
    }
    ft__product_cut(out, p, share * c[FT__C_conv_share], chip, theta);
    if (p->columns > 0) {
        by_columns(&other, p, c[FT__C_conv_share], chip, theta);
        take_faster(out, &other);
    }
    if (chip->tensor || !chip->gpu || p->kernel < 3)
        return;
    if (p->kernel == 3) {
        ft__pass q = transformed(p, &fused);

        ft__product_cut(&other, &q, share * c[FT__C_fused_share], chip, theta);
        take_faster(out, &other);
        apart(&other, p, &wide, share * c[FT__C_apart_share], chip, theta);
        take_faster(out, &other);
    }
    if (p->kernel < 16) {
        struct pieces fft = {33 - p->kernel, 32 * 17, 4};

        apart(&other, p, &fft, share * c[FT__C_fft_share], chip, theta);
        take_faster(out, &other);
    }
}
