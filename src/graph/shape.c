/* What an operation takes and gives: operands and results, forward and backward, by one
 * rule per family, named in ops.def; and whether its keys fit together. */
#include <stdbool.h>
#include <string.h>

#include "graph/op.h"
#include "graph/op_inside.h"

/* Attributes of windows: small enough that products of two stay in int64_t. */
#define MAX_STEP ((int64_t)1 << 30)

/* How the results follow from the keys: the third column of ops.def. */
enum result_rule {
    RULE_SAME,
    RULE_SAME_BOOL,
    RULE_CAST,
    RULE_CONV,
    RULE_CONV_TRANSPOSE,
    RULE_LINEAR,
    RULE_MATMUL,
    RULE_POOL,
    RULE_GLOBAL_POOL,
    RULE_BROADCAST,
    RULE_BROADCAST_BOOL,
    RULE_WHERE,
    RULE_REDUCE,
    RULE_ARG,
    RULE_TRANSPOSE,
    RULE_CONCAT,
    RULE_SPLIT,
    RULE_OUT,
    RULE_GATHER,
    RULE_EMBEDDING,
    RULE_ATTENTION,
    RULE_RNN,
    RULE_LOSS,
    RULE_TOPK,
    RULE_LIKE_Y,
};

static const enum result_rule rules[FT_KIND_COUNT] = {
#define FT_KIND(name, cls, rule, saves, ...) [FT_KIND_##name] = RULE_##rule,
#include "foretell/ops.def"
#undef FT_KIND
};

/* ---- results ---- */

/* Of operands that do not fit together. */
static const ft_shape impossible = {.rank = 1, .dim = {-1}};

/* What a key says of each axis. */
static void per_axis(int64_t *out, uint32_t axes, const ft_op *op, ft_key_id key)
{
    uint32_t n;
    const int64_t *v = ft_op_get(op, key, &n);
    int64_t otherwise = v ? 0 : ft_op_at(op, key, 0);

    for (uint32_t i = 0; i < axes; i++)
        out[i] = i < n ? v[i] : otherwise;
}

/* Of a convolution or pool, along its axes in space. */
struct windows {
    int64_t kernel[FT_MAX_RANK], stride[FT_MAX_RANK], dilation[FT_MAX_RANK];
    int64_t pad[2 * FT_MAX_RANK]; /* begins, then ends */
    bool ceil;
};

static void windows_of(struct windows *w, const ft_op *op, uint32_t axes)
{
    uint32_t n;

    (void)ft_op_get(op, FT_K_pad, &n);
    per_axis(w->kernel, axes, op, FT_K_kernel);
    per_axis(w->stride, axes, op, FT_K_stride);
    per_axis(w->dilation, axes, op, FT_K_dilation);
    per_axis(w->pad, 2 * axes, op, FT_K_pad);
    for (uint32_t i = 0; i < axes && n != 2 * axes; i++)
        w->pad[axes + i] = w->pad[i];
    w->ceil = ft_op_at(op, FT_K_ceil, 0);
}

static int64_t window(const struct windows *w, uint32_t axes, uint32_t i, int64_t in)
{
    int64_t begin = w->pad[i], end = w->pad[axes + i], stride = w->stride[i], out;
    int64_t span = in + begin + end - (w->dilation[i] * (w->kernel[i] - 1) + 1);

    if (span < 0 || stride < 1)
        return -1;
    out = span / stride + 1;
    /* A window that starts in the padding behind the input is dropped. */
    if (w->ceil && span % stride && out * stride < in + begin)
        out++;
    return out;
}

static ft_shape conv_result(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);
    const uint32_t axes = s.rank > 2 ? s.rank - 2 : 0;
    struct windows w;

    windows_of(&w, op, axes);
    for (uint32_t i = 0; i < axes; i++)
        s.dim[i + 2] = window(&w, axes, i, s.dim[i + 2]);
    if (s.rank > 1 && rules[op->kind] == RULE_CONV)
        s.dim[1] = ft_op_at(op, FT_K_out, 0);
    return s;
}

static ft_shape conv_transpose_result(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);

    for (uint32_t i = 0; i + 2 < s.rank; i++) {
        int64_t begin, end;

        ft_op_pad(op, i, &begin, &end);
        if (s.dim[i + 2] > MAX_STEP) {
            s.dim[i + 2] = -1;
            continue;
        }
        s.dim[i + 2] =
            (s.dim[i + 2] - 1) * ft_op_at(op, FT_K_stride, i) +
            ft_op_at(op, FT_K_dilation, i) * (ft_op_at(op, FT_K_kernel, i) - 1) + 1 +
            ft_op_at(op, FT_K_outpad, i) - begin - end;
    }
    if (s.rank > 1)
        s.dim[1] = ft_op_at(op, FT_K_out, 0);
    return s;
}

/* Numpy broadcasting; a dimension that does not fit becomes -1. */
static ft_shape broadcast(ft_shape a, ft_shape b)
{
    ft_shape s = a.rank >= b.rank ? a : b, t = a.rank >= b.rank ? b : a;

    for (uint32_t i = 0; i < t.rank; i++) {
        int64_t *d = &s.dim[s.rank - 1 - i], e = t.dim[t.rank - 1 - i];

        if (*d == 1)
            *d = e;
        else if (e != 1 && e != *d)
            *d = -1;
    }
    return s;
}

static ft_shape matmul_result(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y), s;
    int64_t m = x.rank > 1 ? x.dim[x.rank - 2] : -1;
    int64_t n = y.rank > 1 ? y.dim[y.rank - 1] : -1;

    if (x.rank < 2 || y.rank < 2 || x.dim[x.rank - 1] != y.dim[y.rank - 2])
        return impossible;
    x.rank -= 2;
    y.rank -= 2;
    s = broadcast(x, y);
    s.dim[s.rank++] = m;
    s.dim[s.rank++] = n;
    return s;
}

static ft_shape reduce_result(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);
    uint32_t n, rank = 0;
    const int64_t *axes = ft_op_get(op, FT_K_axes, &n);
    int keep = (int)ft_op_at(op, FT_K_keep, 0);

    for (uint32_t i = 0; i < s.rank; i++) {
        int reduced = 0;

        for (uint32_t j = 0; j < n; j++)
            reduced |= axes[j] == (int64_t)i;
        if (!reduced || keep)
            s.dim[rank++] = reduced ? 1 : s.dim[i];
    }
    s.rank = rank;
    return s;
}

static ft_shape transpose_result(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), s = x;

    for (uint32_t i = 0; i < x.rank; i++) {
        int64_t p = ft_op_at(op, FT_K_perm, i);

        s.dim[i] = p < (int64_t)x.rank ? x.dim[p] : -1;
    }
    return s;
}

static ft_shape gather_result(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y), s = {0};
    uint32_t axis = (uint32_t)ft_op_at(op, FT_K_axis, 0);

    if (axis >= x.rank || x.rank + y.rank - 1 > FT_MAX_RANK)
        return impossible;
    for (uint32_t i = 0; i < axis; i++)
        s.dim[s.rank++] = x.dim[i];
    for (uint32_t i = 0; i < y.rank; i++)
        s.dim[s.rank++] = y.dim[i];
    for (uint32_t i = axis + 1; i < x.rank; i++)
        s.dim[s.rank++] = x.dim[i];
    return s;
}

/* x with the sum of sizes (part < 0) or one of them along axis. */
static ft_shape along_axis(const ft_op *op, int64_t part)
{
    ft_shape s = ft_op_shape(op, FT_K_x);
    uint32_t n, axis = (uint32_t)ft_op_at(op, FT_K_axis, 0);
    const int64_t *sizes = ft_op_get(op, FT_K_sizes, &n);
    int64_t sum = 0;

    if (axis >= s.rank || part >= (int64_t)n)
        return impossible;
    for (uint32_t i = 0; i < n; i++)
        sum += part < 0 || part == (int64_t)i ? sizes[i] : 0;
    s.dim[axis] = sum;
    return s;
}

static ft_shape with_axis(ft_shape s, int64_t size)
{
    if (s.rank < FT_MAX_RANK)
        s.dim[s.rank++] = size;
    else
        s.dim[0] = -1;
    return s;
}

/* Queries' batch, heads and length, values' size. */
static ft_shape attention_result(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y),
             z = ft_op_shape(op, FT_K_z);

    if (x.rank != 4 || y.rank != 4 || z.rank != 4 || x.dim[0] != y.dim[0] ||
        x.dim[0] != z.dim[0] || x.dim[3] != y.dim[3] || y.dim[1] != z.dim[1] ||
        y.dim[2] != z.dim[2] || y.dim[1] == 0 || x.dim[1] % y.dim[1])
        return impossible;
    x.dim[3] = z.dim[3];
    return x;
}

/* All steps of the layer, or (part > 0) the state behind the last one. */
static ft_shape rnn_result(const ft_op *op, uint32_t part)
{
    ft_shape x = ft_op_shape(op, FT_K_x), s = {0};

    if (x.rank != 3)
        return impossible;
    if (part == 0)
        s.dim[s.rank++] = x.dim[0];
    s.dim[s.rank++] = ft_op_at(op, FT_K_directions, 0);
    s.dim[s.rank++] = x.dim[1];
    s.dim[s.rank++] = ft_op_at(op, FT_K_hidden, 0);
    return s;
}

static ft_shape topk_result(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);
    uint32_t axis = (uint32_t)ft_op_at(op, FT_K_axis, 0);

    if (axis < s.rank)
        s.dim[axis] =
            ft_op_at(op, FT_K_size, 0) <= s.dim[axis] ? ft_op_at(op, FT_K_size, 0) : -1;
    return s;
}

/* Of the forward pass; a dimension that does not fit is -1. */
static ft_shape result(const ft_op *op, uint32_t i)
{
    ft_shape s = ft_op_shape(op, FT_K_x);

    switch (rules[op->kind]) {
    case RULE_SAME:
    case RULE_SAME_BOOL:
    case RULE_CAST: return s;
    case RULE_CONV:
    case RULE_POOL: return conv_result(op);
    case RULE_CONV_TRANSPOSE: return conv_transpose_result(op);
    case RULE_LINEAR:
        s.dim[s.rank ? s.rank - 1 : 0] = ft_op_at(op, FT_K_out, 0);
        return s;
    case RULE_MATMUL: return matmul_result(op);
    case RULE_GLOBAL_POOL:
        for (uint32_t d = 2; d < s.rank; d++)
            s.dim[d] = 1;
        return s;
    case RULE_BROADCAST:
    case RULE_BROADCAST_BOOL: return broadcast(s, ft_op_shape(op, FT_K_y));
    case RULE_WHERE:
        return broadcast(broadcast(s, ft_op_shape(op, FT_K_y)),
                         ft_op_shape(op, FT_K_z));
    case RULE_REDUCE:
    case RULE_ARG: return reduce_result(op);
    case RULE_TRANSPOSE: return transpose_result(op);
    case RULE_CONCAT: return along_axis(op, -1);
    case RULE_SPLIT: return along_axis(op, i);
    case RULE_OUT: return ft_op_shape(op, FT_K_out);
    case RULE_GATHER: return gather_result(op);
    case RULE_EMBEDDING: return with_axis(s, ft_op_at(op, FT_K_dim, 0));
    case RULE_ATTENTION: return attention_result(op);
    case RULE_RNN: return rnn_result(op, i);
    case RULE_LOSS: return (ft_shape){0};
    case RULE_TOPK: return topk_result(op);
    case RULE_LIKE_Y: return ft_op_shape(op, FT_K_y);
    }
    return s;
}

static uint32_t n_results(const ft_op *op)
{
    uint32_t n = 1;

    switch (rules[op->kind]) {
    case RULE_SPLIT: (void)ft_op_get(op, FT_K_sizes, &n); return n;
    case RULE_TOPK: return 2;
    case RULE_RNN: return op->kind == FT_KIND_lstm ? 3 : 2;
    default: return 1;
    }
}

static ft_dtype result_dtype(const ft_op *op, uint32_t i)
{
    int64_t to = ft_op_at(op, FT_K_to, 0);

    switch (rules[op->kind]) {
    case RULE_SAME_BOOL:
    case RULE_BROADCAST_BOOL: return FT_DTYPE_bool;
    case RULE_ARG: return FT_DTYPE_int64;
    case RULE_TOPK: return i ? FT_DTYPE_int64 : op->dtype;
    default: break;
    }
    return op->kind == FT_KIND_nms ? FT_DTYPE_int64 : to ? (ft_dtype)to : op->dtype;
}

/* ---- operands ---- */

static uint32_t n_operands(const ft_op *op)
{
    uint32_t n;

    if (rules[op->kind] == RULE_CONCAT) {
        (void)ft_op_get(op, FT_K_sizes, &n);
        return n;
    }
    if (op->kind == FT_KIND_fill || op->kind == FT_KIND_random ||
        op->kind == FT_KIND_generic)
        return 0;
    (void)ft_op_get(op, FT_K_z, &n);
    if (n)
        return 3;
    (void)ft_op_get(op, FT_K_y, &n);
    return n ? 2 : 1;
}

static void operand(const ft_op *op, uint32_t i, ft_shape *shape, ft_dtype *dtype)
{
    static const ft_key_id keys[3] = {FT_K_x, FT_K_y, FT_K_z};
    ft_kind k = op->kind;

    *dtype = op->dtype;
    if (rules[k] == RULE_CONCAT) {
        *shape = along_axis(op, i);
        return;
    }
    *shape = ft_op_shape(op, keys[i < 3 ? i : 2]);
    if (k == FT_KIND_matmul && i == 1 && ft_op_at(op, FT_K_weights, 0))
        *dtype = (ft_dtype)ft_op_at(op, FT_K_weights, 0);
    if (k == FT_KIND_where && i == 0)
        *dtype = FT_DTYPE_bool;
    if (k == FT_KIND_embedding ||
        (i == 1 && (k == FT_KIND_gather || k == FT_KIND_gather_nd ||
                    k == FT_KIND_gather_elements)))
        *dtype = FT_DTYPE_int64;
}

/* ---- backward ---- */

/* Of weights that training changes: without the statistics of a batch norm. */
static double trained_elements(const ft_op *op)
{
    return op->kind == FT_KIND_batchnorm ? 2 * (double)ft_op_at(op, FT_K_x, 1)
                                         : ft__weight_elements(op);
}

uint32_t ft_op_wrt(const ft_op *op)
{
    uint32_t all = 0;

    if (op->phase != FT_PHASE_BACKWARD)
        return 0;
    if (op->wrt)
        return op->wrt;
    for (uint32_t i = 0; i < n_operands(op) && i < 3; i++) {
        ft_shape s;
        ft_dtype t;

        operand(op, i, &s, &t);
        if (t == op->dtype)
            all |= (uint32_t)FT_WRT_X << i;
    }
    return ft__weight_elements(op) > 0 ? all | FT_WRT_WEIGHTS : all;
}

void ft__op_set_wrt(ft_op *op, uint32_t bits)
{
    op->wrt = 0;
    if (bits != ft_op_wrt(op))
        op->wrt = (uint8_t)bits;
}

/* i-th bit that is set among the first three of a mask: an operand; -1: none. */
static int nth_bit(uint32_t bits, uint32_t i)
{
    for (int k = 0; k < 3; k++)
        if (bits >> k & 1 && i-- == 0)
            return k;
    return -1;
}

static uint32_t n_bits(uint32_t bits)
{
    return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1);
}

uint32_t ft_op_n_outputs(const ft_op *op)
{
    uint32_t wrt = ft_op_wrt(op);

    return op->phase == FT_PHASE_BACKWARD ? n_bits(wrt) + (wrt >= FT_WRT_WEIGHTS)
                                          : n_results(op);
}

void ft_op_output(const ft_op *op, uint32_t i, ft_shape *shape, ft_dtype *dtype)
{
    int of = op->phase == FT_PHASE_BACKWARD ? nth_bit(ft_op_wrt(op), i) : -1;

    if (op->phase != FT_PHASE_BACKWARD) {
        *shape = result(op, i);
        *dtype = result_dtype(op, i);
    } else if (of >= 0) {
        operand(op, (uint32_t)of, shape, dtype);
    } else {
        *shape = (ft_shape){.rank = 1, .dim = {(int64_t)trained_elements(op)}};
        *dtype = op->dtype;
    }
}

uint32_t ft_op_n_inputs(const ft_op *op)
{
    uint32_t saves = ft_kind_saves(op->kind), n = n_operands(op);

    if (op->phase != FT_PHASE_BACKWARD)
        return n;
    if (n < 3)
        saves &= ~(uint32_t)(FT_SAVE_Z | (n < 2 ? FT_SAVE_Y : 0));
    return n_results(op) + n_bits(saves) + !!(saves & FT_SAVE_OUT);
}

void ft_op_input(const ft_op *op, uint32_t i, ft_shape *shape, ft_dtype *dtype)
{
    uint32_t n = n_results(op);
    int of;

    if (op->phase != FT_PHASE_BACKWARD) {
        operand(op, i, shape, dtype);
        return;
    }
    of = i < n ? -1 : nth_bit(ft_kind_saves(op->kind), i - n);
    if (of >= 0 && (uint32_t)of < n_operands(op)) {
        operand(op, (uint32_t)of, shape, dtype);
        return;
    }
    *shape = result(op, i < n ? i : 0);
    *dtype = result_dtype(op, i < n ? i : 0);
}

/* ---- whether it fits together ---- */

static ft_status bad(const ft_op *op, const char *what, ft_error *err)
{
    return ft_fail(err, FT_EFORMAT, 0, "%s: %s", ft_kind_name(op->kind), what);
}

/* Keys of one value; the others are shapes, one per axis, or lists. */
static bool single(ft_key_id key, enum result_rule r)
{
    static const ft_key_id keys[] = {
        FT_K_groups, FT_K_bias,    FT_K_ceil,   FT_K_norm,    FT_K_size,
        FT_K_axis,   FT_K_keep,    FT_K_step,   FT_K_mode,    FT_K_rows,
        FT_K_dim,    FT_K_to,      FT_K_read,   FT_K_hidden,  FT_K_directions,
        FT_K_causal, FT_K_mask,    FT_K_train,  FT_K_weights, FT_K_block,
        FT_K_order,  FT_K_experts, FT_K_topk,   FT_K_tp,      FT_K_ep,
        FT_K_ranks,  FT_K_id,      FT_K_shared, FT_K_gated,   FT_K_nodes,
        FT_K_dealt};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (keys[i] == key)
            return true;
    return key == FT_K_out && r != RULE_OUT;
}

static bool shaped(ft_key_id key, enum result_rule r)
{
    return key == FT_K_x || key == FT_K_y || key == FT_K_z ||
           (key == FT_K_out && r == RULE_OUT);
}

/* Every key that is required is there, no shape is too long or too large. */
static ft_status check_keys(const ft_op *op, ft_error *err)
{
    enum result_rule r = rules[op->kind];
    ft_key_id key;
    int required;

    for (uint32_t i = 0; (key = ft__kind_key(op->kind, i, &required)) != FT_K_COUNT;
         i++) {
        ft_shape s = ft_op_shape(op, key);
        uint32_t n;

        (void)ft_op_get(op, key, &n);
        if (n == 0 && required)
            return ft_fail(err, FT_EFORMAT, 0, "%s needs %s=", ft_kind_name(op->kind),
                           ft__key_name(key));
        if (n > 1 && single(key, r))
            return ft_fail(err, FT_EFORMAT, 0, "%s takes one value for %s",
                           ft_kind_name(op->kind), ft__key_name(key));
        if (shaped(key, r) && n > FT_MAX_RANK)
            return bad(op, "a shape has more than 8 dimensions", err);
        if (shaped(key, r) && ft_shape_elements(&s) < 0)
            return bad(op, "a shape has more than 2^52 elements", err);
    }
    return FT_OK;
}

/* The digit in the name: conv2d, maxpool3d. */
static uint32_t spatial_axes(ft_kind k)
{
    const char *name = ft_kind_name(k);

    return (uint32_t)(name[strlen(name) - 2] - '0');
}

/* kernel, stride, dilation: one value per spatial axis; pad: one or two. */
static ft_status check_window(const ft_op *op, uint32_t spatial, ft_error *err)
{
    static const ft_key_id per_axis[] = {FT_K_kernel, FT_K_stride, FT_K_dilation,
                                         FT_K_outpad};
    ft_shape x = ft_op_shape(op, FT_K_x);
    uint32_t n;

    if (x.rank != spatial + 2)
        return bad(op, "x must be batch x channels x one size per axis", err);
    for (size_t i = 0; i < sizeof(per_axis) / sizeof(*per_axis); i++) {
        const int64_t *v = ft_op_get(op, per_axis[i], &n);

        if (v && n != spatial)
            return bad(op, "kernel, stride and dilation need one value per axis", err);
        for (uint32_t j = 0; j < n; j++)
            if ((v[j] < 1 && per_axis[i] != FT_K_outpad) || v[j] > MAX_STEP)
                return bad(op, "kernel, stride and dilation must be 1 to 2^30", err);
    }
    (void)ft_op_get(op, FT_K_pad, &n);
    if (n != spatial && n != 2 * spatial)
        return bad(op, "pad needs one value per axis, or begins then ends", err);
    return FT_OK;
}

static ft_status check_conv(const ft_op *op, ft_error *err)
{
    int64_t groups = ft_op_at(op, FT_K_groups, 0), out = ft_op_at(op, FT_K_out, 0);
    int64_t channels = ft_op_at(op, FT_K_x, 1);

    if (out < 1 || groups < 1 || channels % groups || out % groups)
        return bad(op, "groups must divide the channels of x and out", err);
    return FT_OK;
}

static ft_status check_axes(const ft_op *op, ft_key_id key, ft_error *err)
{
    uint32_t n, rank;
    const int64_t *v = ft_op_get(op, key, &n);

    (void)ft_op_get(op, FT_K_x, &rank);
    for (uint32_t i = 0; i < n; i++)
        if (v[i] >= (int64_t)rank)
            return bad(op, "an axis lies outside x", err);
    return FT_OK;
}

static ft_status check_perm(const ft_op *op, ft_error *err)
{
    uint32_t n, rank, seen = 0;
    const int64_t *v = ft_op_get(op, FT_K_perm, &n);

    (void)ft_op_get(op, FT_K_x, &rank);
    for (uint32_t i = 0; i < n && v[i] < (int64_t)rank; i++)
        seen |= 1u << v[i];
    if (n != rank || seen != (1u << rank) - 1)
        return bad(op, "perm must name every axis of x once", err);
    return FT_OK;
}

static ft_status check_parts(const ft_op *op, ft_error *err)
{
    ft_shape x = ft_op_shape(op, FT_K_x), whole = along_axis(op, -1);
    int64_t axis = ft_op_at(op, FT_K_axis, 0), first = ft_op_at(op, FT_K_sizes, 0);

    if (rules[op->kind] == RULE_CONCAT ? x.dim[axis] != first
                                       : x.dim[axis] != whole.dim[axis])
        return bad(op, "sizes do not add up to x along axis", err);
    return FT_OK;
}

/* Every device holds whole experts, and as many columns of each. */
static ft_status check_moe(const ft_op *op, ft_error *err)
{
    int64_t experts = ft_op_at(op, FT_K_experts, 0), topk = ft_op_at(op, FT_K_topk, 0);
    int64_t ep = ft_op_at(op, FT_K_ep, 0), tp = ft_op_at(op, FT_K_tp, 0);
    int64_t hidden = ft_op_at(op, FT_K_hidden, 0);

    if (experts < 1 || topk < 1 || topk > experts)
        return bad(op, "topk must be 1 to experts", err);
    if (ep < 1 || ep > experts || tp < 1 || hidden < tp)
        return bad(op, "ep must be 1 to experts, and tp 1 to hidden", err);
    return FT_OK;
}

static ft_status check_rule(const ft_op *op, ft_error *err)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t to = ft_op_at(op, FT_K_to, 0);
    uint32_t n;
    ft_status st = FT_OK;

    (void)ft_op_get(op, FT_K_kernel, &n);
    if (n)
        st = check_window(op, spatial_axes(op->kind), err);
    if (!st && (rules[op->kind] == RULE_CONV || rules[op->kind] == RULE_CONV_TRANSPOSE))
        st = check_conv(op, err);
    if (!st)
        st = check_axes(op, FT_K_axis, err);
    if (!st)
        st = check_axes(op, FT_K_axes, err);
    if (!st && rules[op->kind] == RULE_TRANSPOSE)
        st = check_perm(op, err);
    if (!st && (rules[op->kind] == RULE_CONCAT || rules[op->kind] == RULE_SPLIT))
        st = check_parts(op, err);
    if (!st && op->kind == FT_KIND_groupnorm &&
        (x.rank < 2 || ft_op_at(op, FT_K_groups, 0) < 1 ||
         x.dim[1] % ft_op_at(op, FT_K_groups, 0)))
        st = bad(op, "groups must divide the channels of x", err);
    if (!st && (ft_op_at(op, FT_K_norm, 0) > (int64_t)x.rank))
        st = bad(op, "norm reduces more axes than x has", err);
    if (!st && (to < (rules[op->kind] == RULE_CAST) || to >= FT_DTYPE_COUNT))
        st = bad(op, "to is no dtype", err);
    if (!st && ft_op_at(op, FT_K_weights, 0) >= FT_DTYPE_COUNT)
        st = bad(op, "weights is no dtype", err);
    if (!st && rules[op->kind] == RULE_RNN && ft_op_at(op, FT_K_directions, 0) > 2)
        st = bad(op, "directions is 1 or 2", err);
    if (!st && op->kind == FT_KIND_moe)
        st = check_moe(op, err);
    if (!st && ft_op_at(op, FT_K_order, 0) > 3)
        st = bad(op, "order is 0 to 3", err);
    if (!st && op->kind == FT_KIND_collective && ft_op_at(op, FT_K_ranks, 0) < 1)
        st = bad(op, "ranks is at least 1", err);
    if (!st && op->kind == FT_KIND_collective &&
        (ft_op_at(op, FT_K_mode, 0) > 2 || ft_op_at(op, FT_K_nodes, 0) < 1))
        st = bad(op, "mode is 0 to 2, and nodes at least 1", err);
    if (!st && op->phase == FT_PHASE_BACKWARD &&
        ft_kind_saves(op->kind) == FT_SAVE_NONE)
        st = bad(op, "has no gradient", err);
    if (!st && op->wrt && op->phase != FT_PHASE_BACKWARD)
        st = bad(op, "wrt is for phase=backward", err);
    return st;
}

/* What is written over x is as large as x. */
static ft_status check_in_place(const ft_op *op, ft_error *err)
{
    ft_class c = ft_kind_class(op->kind);
    ft_shape x, out;
    ft_dtype t;

    if (!op->in_place)
        return FT_OK;
    if (op->phase != FT_PHASE_BACKWARD &&
        (c == FT_CLASS_UNARY || c == FT_CLASS_BINARY)) {
        ft_op_input(op, 0, &x, &t);
        ft_op_output(op, 0, &out, &t);
        if (ft_shape_equal(&x, &out))
            return FT_OK;
    }
    return bad(op, "inplace=1 is for elementwise forward operations as large as x",
               err);
}

ft_status ft_op_check(const ft_op *op, ft_error *err)
{
    ft_status st = check_keys(op, err);

    if (!st)
        st = check_rule(op, err);
    if (!st)
        st = check_in_place(op, err);
    if (st)
        return st;
    for (uint32_t i = 0; i < n_results(op); i++) {
        ft_shape s = result(op, i);

        if (ft_shape_elements(&s) < 0)
            return bad(op, "shapes do not fit together, or the result is too large",
                       err);
    }
    return FT_OK;
}
