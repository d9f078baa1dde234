/* com.microsoft: activations, norms and embeddings with what is fused to them, and what
 * is no operation of its own. */
#include "import/onnx/compose.h"

enum { FILL_BATCH_INDEX = 2 };

/* arg: the kind, of x or of x + bias. */
static void rule_unary(ft__onnx_node *n)
{

    ft__apply(n, (ft_kind)n->rule->arg,
              FT__VALUES(ft__make_sum(n, n->in[0], ft__in(n, 1), NULL)), n->out[0]);
}

/* The halves of x + bias along the last axis: one times the gelu of the other. */
static void rule_split_gelu(ft__onnx_node *n)
{
    ft__onnx_value *sum = ft__make_sum(n, n->in[0], n->in[1], NULL), *left, *right;
    ft_shape half = n->in[0]->shape;

    if (!half.rank || half.dim[half.rank - 1] % 2) {
        ft__misfit(n, 0);
        return;
    }
    half.dim[half.rank - 1] /= 2;
    left = ft__make_view(n, sum, &half, NULL);
    right = ft__apply(n, FT_KIND_gelu, FT__VALUES(ft__make_view(n, sum, &half, NULL)),
                      NULL);
    ft__apply(n, FT_KIND_mul, FT__VALUES(left, right), n->out[0]);
}

/* x + bias + skip */
static void rule_bias_add(ft__onnx_node *n)
{

    ft__make_sum(n, ft__make_sum(n, n->in[0], n->in[1], NULL), n->in[2], n->out[0]);
}

/* In evaluation dropout is nothing. arg: 0 its mask is bool, 1 bits, 2 bits and
 * there is neither bias nor residual. */
static void rule_bias_dropout(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;
    ft__onnx_value *bias = n->rule->arg < 2 ? n->in[1] : NULL;
    ft__onnx_value *residual = n->rule->arg < 2 ? ft__in(n, 2) : NULL;
    int64_t size = ft_shape_elements(x);

    ft__make_sum(n, ft__make_sum(n, n->in[0], bias, NULL), residual, n->out[0]);
    if (n->rule->arg)
        ft__emit_extra(n, 1, FT_DTYPE_uint32, FT__SHAPE((size + 31) / 32));
    else
        ft__emit_extra(n, 1, FT_DTYPE_bool, x);
}

static void rule_bias_softmax(ft__onnx_node *n)
{
    ft_shape whole = n->in[0]->shape, s = {.rank = 2, .dim = {1, 1}};
    uint32_t axis = ft__axis(n, ft__attr_int(n, "axis", 1), whole.rank);
    ft__onnx_value *sum = ft__make_sum(n, n->in[0], n->in[1], NULL);

    for (uint32_t i = 0; i < whole.rank; i++)
        s.dim[i >= axis] *= whole.dim[i];
    ft__make_view(n, ft__make_softmax(n, ft__make_view(n, sum, &s, NULL), 1, NULL),
                  &whole, n->out[0]);
}

/* x + y gate */
static void rule_gated_add(ft__onnx_node *n)
{

    ft__make_sum(n, n->in[0],
                 ft__apply(n, FT_KIND_mul, FT__VALUES(n->in[1], n->in[2]), NULL),
                 n->out[0]);
}

static ft_shape statistics(const ft__onnx_value *x)
{
    ft_shape s = x->shape;

    if (s.rank)
        s.dim[s.rank - 1] = 1;
    return s;
}

/* x + skip + bias, normalised; the fourth result is the sum. arg: the kind. */
static void rule_skip_norm(ft__onnx_node *n)
{
    bool centred = n->rule->arg == FT_KIND_layernorm;
    ft__onnx_value *bias = ft__in(n, centred ? 4 : 3), *sum_out = ft__out(n, 3), *sum;
    ft__onnx_value *params[] = {n->in[2], centred ? ft__in(n, 3) : NULL};
    ft_shape s = statistics(n->in[0]);

    sum = ft__make_sum(n, n->in[0], n->in[1], bias ? NULL : sum_out);
    if (bias)
        sum = ft__make_sum(n, sum, bias, sum_out);
    ft__make_norm(n, (ft_kind)n->rule->arg, sum, FT_K_norm, 1, params, 2, n->out[0]);
    ft__emit_extra(n, 1, FT_DTYPE_fp32, &s);
    ft__emit_extra(n, 2, FT_DTYPE_fp32, &s);
}

static void rule_rmsnorm(ft__onnx_node *n)
{
    ft__onnx_value *scale = ft__in(n, 1);

    ft__make_norm(n, FT_KIND_rmsnorm, n->in[0], FT_K_norm, 1, &scale, 1, n->out[0]);
}

/* rmsnorm of x, times an activation of the gate. */
static void rule_gated_norm(ft__onnx_node *n)
{
    ft__onnx_value *y =
        ft__make_norm(n, FT_KIND_rmsnorm, n->in[0], FT_K_norm, 1, &n->in[1], 1, NULL);

    ft__apply(n, FT_KIND_mul,
              FT__VALUES(y, ft__apply(n, FT_KIND_silu, FT__VALUES(n->in[2]), NULL)),
              n->out[0]);
}

/* x + skip + bias with the channels at the end; skip may be one value a channel. */
static ft__onnx_value *with_skip(const ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *skip = n->in[3], *bias = ft__in(n, 4);
    ft_shape s = x->shape;

    if (skip->shape.rank == 2 && s.rank > 2 && skip->shape.dim[0] == s.dim[0] &&
        skip->shape.dim[1] == s.dim[s.rank - 1]) {
        for (uint32_t i = 1; i + 1 < s.rank; i++)
            s.dim[i] = 1;
        skip = ft__make_view(n, skip, &s, NULL);
    }
    x = ft__make_sum(n, x, skip, bias ? NULL : ft__out(n, 1));
    return bias ? ft__make_sum(n, x, bias, ft__out(n, 1)) : x;
}

/* arg: 1 with a skip connection before it. */
static void rule_groupnorm(ft__onnx_node *n)
{
    bool last = ft__attr_int(n, "channels_last", 1);
    bool silu = ft__attr_int(n, "activation", 0) == 1;
    ft__onnx_value *x = n->rule->arg ? with_skip(n) : n->in[0];
    int64_t groups = ft__attr_size(n, "groups", 1);

    if (last)
        x = ft__make_channels(n, x, false, NULL);
    x = ft__make_norm(n, FT_KIND_groupnorm, x, FT_K_groups, groups, &n->in[1], 2,
                      last || silu ? NULL : n->out[0]);
    if (silu)
        x = ft__apply(n, FT_KIND_silu, FT__VALUES(x), last ? NULL : n->out[0]);
    if (last)
        ft__make_channels(n, x, true, n->out[0]);
}

static ft__onnx_value *look_up(const ft__onnx_node *n, ft__onnx_value *ids,
                               ft__onnx_value *table, ft_dtype dtype)
{
    if (!ids || !table)
        return NULL;
    return ft__make_embedding(n, ids,
                              &(ft__embedding_rows){.table = table,
                                                    .rows = table->shape.dim[0],
                                                    .dim = table->shape.dim[1],
                                                    .dtype = dtype},
                              NULL);
}

static bool is_table(const ft__onnx_node *n, uint32_t operand)
{
    if (ft__in(n, operand) && !ft__is_constant(n->in[operand]))
        ft__onnx_unsupported(n, "an embedding table is no constant");
    else if (ft__in(n, operand))
        ft__has_rank(n, operand, 2);
    return !ft__failed(n);
}

/* Words, positions and segments, summed and normalised. arg: 0, or 1 with tables
 * of bytes and their scales. */
static void rule_embed_norm(ft__onnx_node *n)
{
    ft__onnx_value *ids = n->in[0], *position = ft__in(n, 3), *places = NULL, *sum;
    ft__onnx_value *params[] = {ft__in(n, 5), ft__in(n, 6)};
    ft_dtype t;
    int64_t type = ft__attr_int(n, "mask_index_type", n->rule->arg);

    if (!ft__has_rank(n, 0, 2) || !is_table(n, 2) || !is_table(n, 3) ||
        !is_table(n, 4) || !ft__in(n, 2) || !position)
        return;
    t = n->rule->arg && ft__in(n, 8) ? n->in[8]->dtype : n->in[2]->dtype;
    places = n->rule->arg ? NULL : ft__in(n, 8);
    sum = look_up(n, ids, n->in[2], t);
    if (places)
        position = look_up(n, places, position, t);
    else
        position = ft__make_cast(
            n, FT_KIND_dequantize,
            ft__make_view(n, position,
                          FT__SHAPE(ids->shape.dim[1], position->shape.dim[1]), NULL),
            t, NULL);
    sum = ft__apply(n, FT_KIND_add, FT__VALUES(sum, position),
                    ft__in(n, 4) && ft__in(n, 1) ? NULL : ft__out(n, 2));
    if (ft__in(n, 4) && ft__in(n, 1))
        sum = ft__apply(n, FT_KIND_add,
                        FT__VALUES(sum, look_up(n, n->in[1], n->in[4], t)),
                        n->rule->arg ? NULL : ft__out(n, 2));
    ft__make_norm(n, FT_KIND_layernorm, sum, FT_K_norm, 1, params, 2, n->out[0]);
    ft__emit_extra(n, 1, FT_DTYPE_int32,
                   type == FILL_BATCH_INDEX ? FT__SHAPE(3 * ids->shape.dim[0] + 2)
                                            : FT__SHAPE(ids->shape.dim[0]));
}

/* Queries and keys are turned, each a result. */
static void rule_gemma_rotary(ft__onnx_node *n)
{

    ft__apply(n, FT_KIND_rotary, FT__VALUES(n->in[1]), n->out[0]);
    if (ft__out(n, 1))
        ft__apply(n, FT_KIND_rotary, FT__VALUES(n->in[3]), n->out[1]);
}

/* A table of buckets spread over queries and keys. */
static void rule_position_bias(ft__onnx_node *n)
{
    int64_t queries = ft__int_in(n, 1), keys = ft__int_in(n, 2);

    if (!ft__has_rank(n, 0, 2))
        return;
    if (queries < 0 || keys < 0)
        ft__emit_unknown(n);
    else
        ft__make_move(n, FT_KIND_expand, n->in[0],
                      FT__SHAPE(1, n->in[0]->shape.dim[1], queries, keys), n->out[0]);
}

/* A gate for every query and head, made by a small layer, times the bias. */
static void rule_gated_bias(ft__onnx_node *n)
{
    int64_t heads = ft__attr_size(n, "num_heads", 0);
    const ft_shape *bias = &n->in[2]->shape, *w = &n->in[3]->shape;
    const ft__onnx_value *batch = ft__in(n, 6) ? n->in[6] : n->in[0];
    ft__onnx_value *x = ft__make_sum(n, n->in[0], n->in[1], NULL);
    int64_t b;

    if (!x || !ft__has_rank(n, 2, 4) || !ft__has_rank(n, 3, 2) || batch->shape.rank < 2)
        return;
    b = batch->shape.dim[0];
    x = ft__make_view(n, x, FT__SHAPE(b, heads, bias->dim[2], w->dim[0]), NULL);
    x = ft__make_linear(
        n, x, &(ft__linear){.weight = n->in[3], .bias = n->in[4], .columns = w->dim[1]},
        NULL);
    x = ft__apply(n, FT_KIND_sigmoid, FT__VALUES(x), NULL);
    x = ft__make_view(n, x, FT__SHAPE(b, heads, bias->dim[2], 1), NULL);
    ft__apply(n, FT_KIND_mul, FT__VALUES(x, n->in[2]), n->out[0]);
}

/* One value. arg: its dtype. */
static void rule_scalar(ft__onnx_node *n)
{
    ft__emit_generic(n, n->out[0], (ft_dtype)n->rule->arg, &(ft_shape){0});
}

/* Generic, of operand `arg`'s shape and dtype. */
static void rule_like(ft__onnx_node *n)
{
    const ft__onnx_value *x = n->in[n->rule->arg];

    ft__emit_generic(n, n->out[0], x->dtype, &x->shape);
}

/* A hash of every element: positive ones have no sign. */
static void rule_hash(ft__onnx_node *n)
{
    bool positive = ft__attr_int(n, "positive", 1);

    ft__emit_generic(n, n->out[0], positive ? FT_DTYPE_uint32 : FT_DTYPE_int32,
                     &n->in[0]->shape);
}

/* At most as many as there are; then their first places, and how often each is. */
static void rule_unique(ft__onnx_node *n)
{
    const ft__onnx_value *x = n->in[0];

    ft__emit_bounded(n, &x->shape, 1);
    ft__emit_extra(n, 1, FT_DTYPE_int64, &x->shape);
    ft__emit_extra_open(n, 2, FT_DTYPE_int64, &x->shape, 1);
}

/* The way through a table of costs: at most all rows and columns. */
static void rule_time_warping(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;

    if (x->rank < 2 || x->rank > 3) {
        ft__misfit(n, 0);
        return;
    }
    ft__emit_open(n, n->out[0], FT_DTYPE_int32,
                  FT__SHAPE(2, x->dim[x->rank - 1] + x->dim[x->rank - 2]), 2);
}

/* Tokens of a guess that were right, then those after them. */
static void rule_bifurcation(ft__onnx_node *n)
{
    int64_t tokens = ft_shape_elements(&n->in[1]->shape);

    if (ft__in(n, 3))
        tokens += ft_shape_elements(&n->in[3]->shape);
    ft__emit_open(n, n->out[0], n->in[1]->dtype, FT__SHAPE(tokens), 1);
    ft__emit_extra(n, 1, n->in[2]->dtype, &(ft_shape){0});
}

/* At most all tokens; where they lie, sums of their numbers, and the largest. */
static void rule_remove_padding(ft__onnx_node *n)
{
    const ft_shape *x = &n->in[0]->shape;

    if (!ft__has_rank(n, 0, 3))
        return;
    ft__emit_bounded(n, FT__SHAPE(x->dim[0] * x->dim[1], x->dim[2]), 1);
    ft__emit_extra(n, 1, FT_DTYPE_int32, FT__SHAPE(x->dim[0], x->dim[1]));
    ft__emit_extra(n, 2, FT_DTYPE_int32, FT__SHAPE(x->dim[0] + 1));
    ft__emit_extra(n, 3, FT_DTYPE_int32, FT__SHAPE(1));
}

/* Text generated in a loop over a decoder that is an attribute: how often depends
 * on what it says. arg: 1 with beams. */
static void rule_search(ft__onnx_node *n)
{
    const ft__onnx_value *ids = n->in[0];
    int64_t length = ft__int_in(n, 1), each = n->rule->arg ? ft__int_in(n, 4) : 1;
    ft_shape s = {0};

    if (length < 0 || each < 0 || !ids->shape.rank) {
        ft__emit_unknown(n);
        return;
    }
    s.dim[s.rank++] = ids->shape.dim[0];
    if (n->rule->arg)
        s.dim[s.rank++] = each;
    s.dim[s.rank++] = length;
    ft__emit_generic(n, n->out[0], FT_DTYPE_int32, &s);
    s.rank--;
    for (uint32_t i = 1; i < n->n_out; i++)
        ft__emit_extra(n, i, FT_DTYPE_fp32, &s);
}

static const ft__operator_rule rules[] = {
    {"BeamSearch", rule_search, 1, 2, FT__MICROSOFT | FT__BODY},
    {"BiasAdd", rule_bias_add, 0, 3, FT__MICROSOFT},
    {"BiasDropout", rule_bias_dropout, 0, 2, FT__MICROSOFT},
    {"BiasGelu", rule_unary, FT_KIND_gelu, 2, FT__MICROSOFT},
    {"BiasSoftmax", rule_bias_softmax, 0, 2, FT__MICROSOFT},
    {"BiasSplitGelu", rule_split_gelu, 0, 2, FT__MICROSOFT},
    {"BifurcationDetector", rule_bifurcation, 0, 3, FT__MICROSOFT},
    {"BitmaskBiasDropout", rule_bias_dropout, 1, 2, FT__MICROSOFT},
    {"BitmaskDropout", rule_bias_dropout, 2, 1, FT__MICROSOFT},
    {"BranchwiseRMSNorm", rule_rmsnorm, 0, 1, FT__MICROSOFT},
    {"DynamicTimeWarping", rule_time_warping, 0, 1, FT__MICROSOFT},
    {"EmbedLayerNormalization", rule_embed_norm, 0, 1, FT__MICROSOFT},
    {"FastGelu", rule_unary, FT_KIND_gelu_tanh, 1, FT__MICROSOFT},
    {"GatedAdd", rule_gated_add, 0, 3, FT__MICROSOFT},
    {"GatedRMSNorm", rule_gated_norm, 0, 3, FT__MICROSOFT},
    {"GatedRelativePositionBias", rule_gated_bias, 0, 6, FT__MICROSOFT},
    {"GemmaRotaryEmbedding", rule_gemma_rotary, 0, 5, FT__MICROSOFT},
    {"GreedySearch", rule_search, 0, 2, FT__MICROSOFT | FT__BODY},
    {"GroupNorm", rule_groupnorm, 0, 3, FT__MICROSOFT},
    {"Inverse", rule_like, 0, 1, FT__MICROSOFT},
    {"IsAllFinite", rule_scalar, FT_DTYPE_bool, 1, FT__MICROSOFT},
    {"MurmurHash3", rule_hash, 0, 1, FT__MICROSOFT},
    {"NGramRepeatBlock", rule_like, 1, 2, FT__MICROSOFT},
    {"QEmbedLayerNormalization", rule_embed_norm, 1, 1, FT__MICROSOFT},
    {"RelativePositionBias", rule_position_bias, 0, 3, FT__MICROSOFT},
    {"RemovePadding", rule_remove_padding, 0, 2, FT__MICROSOFT},
    {"Sampling", rule_search, 0, 2, FT__MICROSOFT | FT__BODY},
    {"SkipGroupNorm", rule_groupnorm, 1, 4, FT__MICROSOFT},
    {"SkipLayerNormalization", rule_skip_norm, FT_KIND_layernorm, 3, FT__MICROSOFT},
    {"SkipSimplifiedLayerNormalization", rule_skip_norm, FT_KIND_rmsnorm, 3,
     FT__MICROSOFT},
    {"Unique", rule_unique, 0, 1, FT__MICROSOFT},
    {"WhisperBeamSearch", rule_search, 1, 2, FT__MICROSOFT | FT__BODY},
};

const ft__rule_table ft__rules_ms_layers = {rules, sizeof(rules) / sizeof(*rules)};
