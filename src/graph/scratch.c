/* What PyTorch's CPU kernels allocate beside an operation's tensors. */
#include <stdbool.h>

#include "graph/memory.h"
#include "graph/op.h"
#include "graph/op_inside.h"

/* oneDNN's blocked layouts hold channels in blocks of 16. */
enum { BLOCK = 16 };

/* From so many images on, convolutions as matrix products are not preferred. */
enum { MANY_IMAGES = 16 };

/* A convolution's tensors in bytes, plain and as the kernel wants them; 0 where
 * it takes the plain one. */
struct conv {
    uint64_t x, w, y;
    uint64_t xb, wb, yb;
    bool strided, depthwise;
    int64_t kernel;
};

static uint64_t max2(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t bytes_of(const ft_shape *s, ft_dtype t)
{
    int64_t n = ft_tensor_bytes(s, t);

    return n < 0 ? 0 : (uint64_t)n;
}

static ft_shape padded(ft_shape s)
{
    s.dim[1] = (s.dim[1] + BLOCK - 1) / BLOCK * BLOCK;
    return s;
}

static uint64_t padded_bytes(const ft_op *op, ft_shape s)
{
    s = padded(s);
    return bytes_of(&s, op->dtype);
}

/* A window of one element that skips nothing is a matrix product as it lies. */
static bool is_product(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    uint32_t n;

    ft_op_get(op, FT_K_kernel, &n);
    if (ft_op_at(op, FT_K_groups, 0) != 1 ||
        (x.dim[0] >= MANY_IMAGES && op->layout == FT_LAYOUT_PLAIN))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        int64_t begin, end;

        ft_op_pad(op, i, &begin, &end);
        if (ft_op_at(op, FT_K_kernel, i) != 1 || ft_op_at(op, FT_K_stride, i) != 1 ||
            begin != 0 || end != 0)
            return false;
    }
    return true;
}

/* The output of the forward operation, whatever the phase. */
static ft_shape forward_output(const ft_op *op)
{
    ft_op f = ft__forward_of(op);
    ft_shape s;
    ft_dtype t;

    ft_op_output(&f, 0, &s, &t);
    return s;
}

static struct conv conv_of(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = forward_output(op);
    int64_t groups = ft_op_at(op, FT_K_groups, 0), in = x.dim[1] / groups;
    struct conv c = {.x = bytes_of(&x, op->dtype), .y = bytes_of(&y, op->dtype)};
    ft_shape w = {.rank = 3, .dim = {y.dim[1], in, 1}};
    uint32_t n;

    ft_op_get(op, FT_K_kernel, &n);
    for (uint32_t i = 0; i < n; i++) {
        w.dim[2] *= ft_op_at(op, FT_K_kernel, i);
        c.strided = c.strided || ft_op_at(op, FT_K_stride, i) != 1;
        c.kernel = ft_op_at(op, FT_K_kernel, i);
    }
    c.w = bytes_of(&w, op->dtype);
    c.depthwise = ft__is_depthwise(op);
    /* Images of up to three channels are read as they lie. */
    c.xb = in <= 3 && groups == 1 ? 0 : padded_bytes(op, x);
    c.yb = padded_bytes(op, y);
    if (groups == 1) {
        w.dim[0] = (w.dim[0] + BLOCK - 1) / BLOCK * BLOCK;
        c.wb = c.xb ? padded_bytes(op, w) : bytes_of(&w, op->dtype);
    } else {
        c.wb = c.w;
    }
    return c;
}

static uint64_t conv_forward(const struct conv *c)
{
    return max2(c->xb + c->wb + c->yb, c->yb + c->y) - c->y;
}

/* The gradients of the operand and of the weights, one after the other. */
static uint64_t conv_backward(const struct conv *c, uint32_t wrt)
{
    uint64_t gx = wrt & FT_WRT_X ? c->x : 0, gw = wrt & FT_WRT_WEIGHTS ? c->w : 0;
    uint64_t xb = c->xb ? c->xb : c->x, most = gx + gw;

    if (gx) {
        most = max2(most, c->yb + c->wb + xb);
        most = max2(most, c->strided && !c->depthwise ? 3 * xb : xb + gx);
    }
    /* Wide depthwise windows take plain tensors. */
    if (gw && !(c->depthwise && c->kernel > 3))
        most = max2(most, gx + c->yb + c->xb + c->wb);
    if (gw)
        most = max2(most, gx + gw + c->wb);
    return most - gx - gw;
}

/* Channels-last tensors are taken as they are; the weights are reordered, for the
 * gradient of wide depthwise windows with a whole block for each channel. */
static uint64_t conv_channels_last(const ft_op *op, const struct conv *c)
{
    bool wide = c->depthwise && c->kernel > 3;

    if (op->phase != FT_PHASE_BACKWARD)
        return c->depthwise ? (wide ? c->w : 0) : 2 * c->wb;
    if (wide && (ft_op_wrt(op) & FT_WRT_WEIGHTS))
        return c->w * BLOCK * BLOCK + 2 * c->w;
    return c->depthwise ? 0 : 3 * c->wb;
}

static uint64_t conv_bytes(const ft_op *op)
{
    struct conv c;

    if (is_product(op) || op->kind == FT_KIND_deform_conv2d)
        return 0;
    c = conv_of(op);
    if (op->layout == FT_LAYOUT_CHANNELS_LAST)
        return conv_channels_last(op, &c);
    return op->phase == FT_PHASE_BACKWARD ? conv_backward(&c, ft_op_wrt(op))
                                          : conv_forward(&c);
}

static uint64_t attention_bytes(const ft_op *op)
{
    ft_shape x, y;

    if (op->kind != FT_KIND_attention || !ft_op_at(op, FT_K_train, 0))
        return 0;
    x = ft_op_shape(op, FT_K_x);
    y = ft_op_shape(op, FT_K_y);
    if (x.rank < 4)
        return 0;
    x.dim[x.rank - 1] = y.dim[y.rank - 2];
    return bytes_of(&x, op->dtype);
}

static uint64_t inside_bytes(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    uint64_t bytes = bytes_of(&x, op->dtype);
    bool backward = op->phase == FT_PHASE_BACKWARD;

    if (ft_kind_class(op->kind) == FT_CLASS_CONV)
        return conv_bytes(op);
    switch (op->kind) {
    case FT_KIND_batchnorm:     /* the operand less its mean */
    case FT_KIND_cross_entropy: /* the gradient of the logarithms */
    case FT_KIND_pow: return backward ? bytes : 0;
    case FT_KIND_attention: /* gradients before and behind the softmax */
        return backward ? 2 * attention_bytes(op) : 0;
    case FT_KIND_adam:
    case FT_KIND_adamw: /* the root of the second moment, before and after scaling */
        return 2 * bytes;
    default: return 0;
    }
}

/* M x K by K x N: room for packed panels of both operands, blocked as the library
 * blocks them. Matrices with a side up to `shortest` are multiplied as they lie;
 * transposed weights are packed from `rows` rows on. */
struct products {
    uint64_t fixed;
    int64_t block_m, block_n, block_k, least_k;
    int64_t copies_m; /* of a panel of M rows */
    int64_t shortest_m, shortest_n, rows;
};

static const struct products with_avx512 = {.fixed = 4205088,
                                            .block_m = 384,
                                            .block_n = 9984,
                                            .block_k = 384,
                                            .least_k = 128,
                                            .copies_m = 1,
                                            .shortest_m = 176,
                                            .shortest_n = 176,
                                            .rows = 16};
static const struct products with_avx2 = {.fixed = 17056,
                                          .block_m = 384,
                                          .block_n = 6400,
                                          .block_k = 192,
                                          .least_k = 128,
                                          .copies_m = 2,
                                          .shortest_m = 3,
                                          .shortest_n = 8,
                                          .rows = 4};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static uint64_t packed(const struct products *by, int64_t m, int64_t k, int64_t n,
                       int64_t shortest)
{
    if (m < shortest || n <= by->shortest_n)
        return 0;
    m = by->copies_m * least(m, by->block_m);
    n = least((n + BLOCK - 1) / BLOCK * BLOCK, by->block_n);
    if (k >= 2 * by->block_k)
        k = by->block_k;
    else if (k > by->block_k)
        k = (k + 1) / 2;
    else if (k < by->least_k)
        k = by->least_k;
    return by->fixed + 4 * (uint64_t)k * (uint64_t)(m + n);
}

static uint64_t product(const struct products *by, int64_t m, int64_t k, int64_t n)
{
    return packed(by, m, k, n, by->shortest_m + 1);
}

/* Transposed weights are packed for shorter operands too. */
static uint64_t linear_buffer(const struct products *by, const ft_op *op, bool backward)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t in = x.dim[x.rank - 1], out = ft_op_at(op, FT_K_out, 0);
    int64_t rows = in ? ft_shape_elements(&x) / in : 0;

    return backward ? max2(product(by, rows, out, in), product(by, out, rows, in))
                    : packed(by, rows, in, out, by->rows);
}

static uint64_t matmul_buffer(const struct products *by, const ft_op *op, bool backward)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y);
    int64_t m, k, n;

    if (x.rank < 2 || y.rank < 2)
        return 0;
    m = x.dim[x.rank - 2];
    k = x.dim[x.rank - 1];
    n = y.dim[y.rank - 1];
    return backward ? max2(product(by, m, n, k), product(by, k, m, n))
                    : product(by, m, k, n);
}

static uint64_t conv_buffer(const struct products *by, const ft_op *op, bool backward)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y;
    int64_t pixels = 1;

    if (!is_product(op))
        return 0;
    y = forward_output(op);
    for (uint32_t i = 2; i < y.rank; i++)
        pixels *= y.dim[i];
    if (op->layout == FT_LAYOUT_CHANNELS_LAST && !backward)
        return packed(by, pixels, x.dim[1], y.dim[1], by->rows);
    return backward ? max2(product(by, x.dim[1], y.dim[1], pixels),
                           product(by, y.dim[1], pixels, x.dim[1]))
                    : product(by, y.dim[1], x.dim[1], pixels);
}

/* The fused kernel goes by blocks of queries and of up to 512 keys. */
static uint64_t attention_buffer(const struct products *by, const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y);
    int64_t queries, keys;

    if (x.rank < 4 || y.rank < 4)
        return 0;
    queries = x.dim[2] >= 768 ? 256 : x.dim[2] >= 192 ? 64 : 32;
    keys = y.dim[2] < 512 ? y.dim[2] : 512;
    return packed(by, queries, x.dim[3], keys, 0);
}

static uint64_t buffer_bytes(const struct products *by, const ft_op *op)
{
    bool backward = op->phase == FT_PHASE_BACKWARD;

    if (op->kind == FT_KIND_linear)
        return linear_buffer(by, op, backward);
    if (op->kind == FT_KIND_matmul)
        return matmul_buffer(by, op, backward);
    if (op->kind == FT_KIND_attention)
        return attention_buffer(by, op);
    return ft_kind_class(op->kind) == FT_CLASS_CONV ? conv_buffer(by, op, backward) : 0;
}

ft__scratch ft__scratch_of(const ft_op *op, uint32_t policy)
{
    const struct products *by = policy & FT_POLICY_MKL_AVX2 ? &with_avx2 : &with_avx512;

    return (ft__scratch){.bytes = inside_bytes(op),
                         .attention = attention_bytes(op),
                         .buffer = buffer_bytes(by, op)};
}
