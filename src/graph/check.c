/* Whether the keys of an operation fit together, and its shapes. */
#include <stdbool.h>
#include <string.h>

#include "graph/op_inside.h"
#include "graph/result_rule.h"

static ft_status bad(const ft_op *op, const char *what, ft_error *err)
{
    return ft_fail(err, FT_EFORMAT, 0, "%s: %s", ft_kind_name(op->kind), what);
}

/* Keys of one value; the others are shapes, one per axis, or lists. */
static bool single(ft_key_id key, enum ft__result_rule r)
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
    return key == FT_K_out && r != FT__RULE_OUT;
}

static bool shaped(ft_key_id key, enum ft__result_rule r)
{
    return key == FT_K_x || key == FT_K_y || key == FT_K_z ||
           (key == FT_K_out && r == FT__RULE_OUT);
}

/* Every key that is required is there, no shape is too long or too large. */
static ft_status check_keys(const ft_op *op, ft_error *err)
{
    enum ft__result_rule r = ft__result_rules[op->kind];
    ft_key_id key;
    int required;

    for (uint32_t i = 0; (key = ft__kind_key(op->kind, i, &required)) != FT_K_COUNT;
         i++) {
        ft_shape s;
        uint32_t n;

        (void)ft_op_get(op, key, &n);
        if (n == 0 && required)
            return ft_fail(err, FT_EFORMAT, 0, "%s needs %s=", ft_kind_name(op->kind),
                           ft__key_name(key));
        if (n > 1 && single(key, r))
            return ft_fail(err, FT_EFORMAT, 0, "%s takes one value for %s",
                           ft_kind_name(op->kind), ft__key_name(key));
        if (!shaped(key, r))
            continue;
        if (n > FT_MAX_RANK)
            return bad(op, "a shape has more than 8 dimensions", err);
        s = ft_op_shape(op, key);
        if (ft_shape_elements(&s) < 0)
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
            return bad(
                op, "kernel, stride and dilation need one value per axis, such as 3x3",
                err);
        for (uint32_t j = 0; j < n; j++)
            if ((v[j] < 1 && per_axis[i] != FT_K_outpad) || v[j] > FT__MAX_WINDOW)
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
    ft_shape x = ft_op_shape(op, FT_K_x), whole = ft__along_axis(op, -1);
    int64_t axis = ft_op_at(op, FT_K_axis, 0), first = ft_op_at(op, FT_K_sizes, 0);

    if (ft__result_rules[op->kind] == FT__RULE_CONCAT ? x.dim[axis] != first
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
    if (!st && (ft__result_rules[op->kind] == FT__RULE_CONV ||
                ft__result_rules[op->kind] == FT__RULE_CONV_TRANSPOSE))
        st = check_conv(op, err);
    if (!st)
        st = check_axes(op, FT_K_axis, err);
    if (!st)
        st = check_axes(op, FT_K_axes, err);
    if (!st && ft__result_rules[op->kind] == FT__RULE_TRANSPOSE)
        st = check_perm(op, err);
    if (!st && (ft__result_rules[op->kind] == FT__RULE_CONCAT ||
                ft__result_rules[op->kind] == FT__RULE_SPLIT))
        st = check_parts(op, err);
    if (!st && op->kind == FT_KIND_groupnorm &&
        (x.rank < 2 || ft_op_at(op, FT_K_groups, 0) < 1 ||
         x.dim[1] % ft_op_at(op, FT_K_groups, 0)))
        st = bad(op, "groups must divide the channels of x", err);
    if (!st && (ft_op_at(op, FT_K_norm, 0) > (int64_t)x.rank))
        st = bad(op, "norm reduces more axes than x has", err);
    if (!st &&
        (to < (ft__result_rules[op->kind] == FT__RULE_CAST) || to >= FT_DTYPE_COUNT))
        st = bad(op, "to is no dtype", err);
    if (!st && ft_op_at(op, FT_K_weights, 0) >= FT_DTYPE_COUNT)
        st = bad(op, "weights is no dtype", err);
    if (!st && ft__result_rules[op->kind] == FT__RULE_RNN &&
        ft_op_at(op, FT_K_directions, 0) > 2)
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
    ft_op forward;
    ft_status st = check_keys(op, err);

    if (!st)
        st = check_rule(op, err);
    if (!st)
        st = check_in_place(op, err);
    if (st)
        return st;
    if (op->phase != FT_PHASE_FORWARD) {
        forward = ft__forward_of(op);
        op = &forward;
    }
    for (uint32_t i = 0, n = ft_op_n_outputs(op); i < n; i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_output(op, i, &s, &t);
        if (ft_shape_elements(&s) < 0)
            return bad(op, "shapes do not fit together, or the result is too large",
                       err);
    }
    return FT_OK;
}
