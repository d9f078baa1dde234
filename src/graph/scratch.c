#include "graph/scratch.h"

#include <stdbool.h>

/* oneDNN's blocked layouts hold channels in sixteens. */
enum { BLOCK = 16 };

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
    uint32_t n;

    ft_op_get(op, FT_K_kernel, &n);
    if (ft_op_at(op, FT_K_groups, 0) != 1)
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
    ft_op f = *op;
    ft_shape s;
    ft_dtype t;

    f.phase = FT_PHASE_FORWARD;
    f.wrt = 0;
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
    c.depthwise = in == 1 && groups > 1;
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
    if (gw && !(c->depthwise && c->kernel > 5))
        most = max2(most, gx + c->yb + c->xb + c->wb);
    if (gw)
        most = max2(most, gx + gw + c->wb);
    return most - gx - gw;
}

static uint64_t conv_bytes(const ft_op *op)
{
    struct conv c;

    if (is_product(op) || op->layout == FT_LAYOUT_CHANNELS_LAST ||
        op->kind == FT_KIND_deform_conv2d)
        return 0;
    c = conv_of(op);
    return op->phase == FT_PHASE_BACKWARD ? conv_backward(&c, ft_op_wrt(op))
                                          : conv_forward(&c);
}

uint64_t ft__scratch_bytes(const ft_op *op)
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
    case FT_KIND_adam:
    case FT_KIND_adamw: /* the root of the second moment, before and after scaling */
        return 2 * bytes;
    default: return 0;
    }
}

/* ---- buffers of matrix products ---- */

/* MKL packs up to 384 rows of up to 9984 columns of the right operand beside a
 * fixed part; small products need no buffer. */
static uint64_t packed(int64_t rows, int64_t inner, int64_t columns)
{
    enum { FIXED = 4400000, INNER = 384, COLUMNS = 9984, SMALL = 100, FEW = 32768 };

    if (rows < SMALL || columns <= FEW / rows)
        return 0;
    inner = inner < INNER ? inner : INNER;
    columns = columns < COLUMNS ? columns : COLUMNS;
    return FIXED + 4 * (uint64_t)inner * (uint64_t)columns;
}

uint64_t ft__buffer_bytes(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y;
    int64_t inner, rows, columns;
    bool backward = op->phase == FT_PHASE_BACKWARD;

    if (op->kind == FT_KIND_linear) {
        inner = x.dim[x.rank - 1];
        columns = ft_op_at(op, FT_K_out, 0);
        rows = ft_shape_elements(&x) / (inner ? inner : 1);
        return backward ? packed(rows, columns, inner) : packed(rows, inner, columns);
    }
    if (ft_kind_class(op->kind) == FT_CLASS_CONV && is_product(op)) {
        y = forward_output(op);
        return packed(y.dim[1], 132, ft_shape_elements(&y) / (y.dim[0] * y.dim[1]));
    }
    if ((op->kind != FT_KIND_matmul && op->kind != FT_KIND_attention) || x.rank < 2)
        return 0;
    y = ft_op_shape(op, FT_K_y);
    if (op->kind == FT_KIND_attention || y.rank < 2)
        return packed(x.dim[x.rank - 2], 16, 512);
    rows = x.dim[x.rank - 2];
    inner = x.dim[x.rank - 1];
    columns = y.dim[y.rank - 1];
    return backward ? max2(packed(rows, columns, inner), packed(inner, rows, columns))
                    : packed(rows, inner, columns);
}
