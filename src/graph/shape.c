/* What an operation takes and gives: operands and results, forward and backward, by one
 * rule per family, named in ops.def. */
#include <stdbool.h>

#include "graph/op.h"
#include "graph/op_inside.h"
#include "graph/result_rule.h"

const enum ft__result_rule ft__result_rules[FT_KIND_COUNT] = {
#define FT_KIND(name, cls, rule, saves, ...) [FT_KIND_##name] = FT__RULE_##rule,
#include "foretell/ops.def"
#undef FT_KIND
};

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
    if (s.rank > 1 && ft__result_rules[op->kind] == FT__RULE_CONV)
        s.dim[1] = ft_op_at(op, FT_K_out, 0);
    return s;
}

static ft_shape conv_transpose_result(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);

    for (uint32_t i = 0; i + 2 < s.rank; i++) {
        int64_t begin, end;

        ft_op_pad(op, i, &begin, &end);
        if (s.dim[i + 2] > FT__MAX_WINDOW) {
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

ft_shape ft__along_axis(const ft_op *op, int64_t part)
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

    switch (ft__result_rules[op->kind]) {
    case FT__RULE_SAME:
    case FT__RULE_SAME_BOOL:
    case FT__RULE_CAST: return s;
    case FT__RULE_CONV:
    case FT__RULE_POOL: return conv_result(op);
    case FT__RULE_CONV_TRANSPOSE: return conv_transpose_result(op);
    case FT__RULE_LINEAR:
        s.dim[s.rank ? s.rank - 1 : 0] = ft_op_at(op, FT_K_out, 0);
        return s;
    case FT__RULE_MATMUL: return matmul_result(op);
    case FT__RULE_GLOBAL_POOL:
        for (uint32_t d = 2; d < s.rank; d++)
            s.dim[d] = 1;
        return s;
    case FT__RULE_BROADCAST:
    case FT__RULE_BROADCAST_BOOL: return broadcast(s, ft_op_shape(op, FT_K_y));
    case FT__RULE_WHERE:
        return broadcast(broadcast(s, ft_op_shape(op, FT_K_y)),
                         ft_op_shape(op, FT_K_z));
    case FT__RULE_REDUCE:
    case FT__RULE_ARG: return reduce_result(op);
    case FT__RULE_TRANSPOSE: return transpose_result(op);
    case FT__RULE_CONCAT: return ft__along_axis(op, -1);
    case FT__RULE_SPLIT: return ft__along_axis(op, i);
    case FT__RULE_OUT: return ft_op_shape(op, FT_K_out);
    case FT__RULE_GATHER: return gather_result(op);
    case FT__RULE_EMBEDDING: return with_axis(s, ft_op_at(op, FT_K_dim, 0));
    case FT__RULE_ATTENTION: return attention_result(op);
    case FT__RULE_RNN: return rnn_result(op, i);
    case FT__RULE_LOSS: return (ft_shape){0};
    case FT__RULE_TOPK: return topk_result(op);
    case FT__RULE_LIKE_Y: return ft_op_shape(op, FT_K_y);
    }
    return s;
}

static uint32_t n_results(const ft_op *op)
{
    uint32_t n = 1;

    switch (ft__result_rules[op->kind]) {
    case FT__RULE_SPLIT: (void)ft_op_get(op, FT_K_sizes, &n); return n;
    case FT__RULE_TOPK: return 2;
    case FT__RULE_RNN: return op->kind == FT_KIND_lstm ? 3 : 2;
    default: return 1;
    }
}

static ft_dtype result_dtype(const ft_op *op, uint32_t i)
{
    int64_t to = ft_op_at(op, FT_K_to, 0);

    switch (ft__result_rules[op->kind]) {
    case FT__RULE_SAME_BOOL:
    case FT__RULE_BROADCAST_BOOL: return FT_DTYPE_bool;
    case FT__RULE_ARG: return FT_DTYPE_int64;
    case FT__RULE_TOPK: return i ? FT_DTYPE_int64 : op->dtype;
    default: break;
    }
    return op->kind == FT_KIND_nms ? FT_DTYPE_int64 : to ? (ft_dtype)to : op->dtype;
}

static uint32_t n_operands(const ft_op *op)
{
    uint32_t n;

    if (ft__result_rules[op->kind] == FT__RULE_CONCAT) {
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
    if (ft__result_rules[k] == FT__RULE_CONCAT) {
        *shape = ft__along_axis(op, i);
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
