/* Linear attention and Mamba: a state for each head in place of a cache. */
#include "import/llm/step.h"

/* Tokens that kernels of a prefill take at once. */
enum { CHUNK = 64 };

/* A state of heads x keys x values for each sequence. Decoding, one kernel reads it,
 * lets it decay, adds the new token, and writes it. A prefill goes by chunks: products
 * within each, and with the state between them (Dao & Gu 2024, section 6; Yang et al.
 * 2024). */
static uint32_t recur(ft__llm_step *s, uint32_t x, int64_t heads, int64_t keys,
                      int64_t values, ft_dtype type)
{
    const ft_shape held = {.rank = 4, .dim = {s->batch, heads, keys, values}};
    const uint32_t state = ft__llm_tensor_of(s, "state", FT_ROLE_INPUT, type, &held);
    const ft__llm_sizes whole = SIZES(s->batch, heads, keys, values);
    const int64_t chunk = s->tokens < CHUNK ? s->tokens : CHUNK;
    const int64_t n = s->batch * heads * ((s->tokens + chunk - 1) / chunk);
    uint32_t q, k, v, y;

    y = ft__llm_node_on(
        s, "state",
        (uint32_t[]){state, ft__llm_as(s, x, SHAPE(s->batch, heads, keys, 1))}, 2,
        "mul x=%s y=%s dtype=%s", whole.s, X(s->batch, heads, keys, 1),
        ft_dtype_name(type));
    if (y != FT_NONE)
        ft__build_alias(s->b, y, state);
    if (s->tokens > 1) {
        q = ft__llm_as(s, x, SHAPE(n, chunk, keys));
        k = ft__llm_as(s, x, SHAPE(n, keys, chunk));
        v = ft__llm_as(s, x, SHAPE(n, chunk, values));
        y = ft__llm_binary(s, "chunk_scores", FT_KIND_matmul, q, k,
                           SHAPE(n, chunk, keys), SHAPE(n, keys, chunk));
        y = ft__llm_binary(s, "chunk_scan", FT_KIND_matmul, y, v,
                           SHAPE(n, chunk, chunk), SHAPE(n, chunk, values));
        k = ft__llm_binary(s, "chunk_state", FT_KIND_matmul, k, v,
                           SHAPE(n, keys, chunk), SHAPE(n, chunk, values));
        k = ft__llm_binary(s, "chunk_state", FT_KIND_matmul, q, k,
                           SHAPE(n, chunk, keys), SHAPE(n, keys, values));
        y = ft__llm_binary(s, "add", FT_KIND_add, y, k, SHAPE(n, chunk, values),
                           SHAPE(n, chunk, values));
    }
    return ft__llm_as(s, y, SHAPE(s->rows, heads * values));
}

/* A short causal convolution over tokens with its state. */
static uint32_t convolve(ft__llm_step *s, uint32_t x, int64_t wide, bool bias)
{
    const int64_t held = s->m.conv - 1;
    const ft_shape shape = {.rank = 3, .dim = {s->batch, wide, held}};

    ft__llm_tensor_of(s, "conv_state", FT_ROLE_INPUT, s->m.dtype, &shape);
    x = ft__llm_as(s, x, SHAPE(s->batch, wide, s->tokens + held));
    x = ft__llm_node(s, "conv1d", x,
                     "conv1d x=%s out=%" PRId64 " kernel=%" PRId64
                     " stride=1 pad=0 groups=%" PRId64 "%s",
                     X(s->batch, wide, s->tokens + held), wide, held + 1, wide,
                     bias ? " bias=1" : "");
    x = ft__llm_as(s, x, SHAPE(s->rows, wide));
    return ft__llm_unary(s, "act_fn", FT_KIND_silu, x, SHAPE(s->rows, wide));
}

/* Norms of each head, times a gate. */
static uint32_t gated_norm(ft__llm_step *s, uint32_t x, uint32_t gate, int64_t heads,
                           int64_t size, int64_t norm_size)
{
    const int64_t n = s->rows * heads * size / norm_size;
    const ft_shape all = SHAPE(s->rows, heads * size), normed = SHAPE(n, norm_size);

    x = ft__llm_unary(s, "norm", FT_KIND_rmsnorm, ft__llm_view(s, x, all, normed),
                      normed);
    x = ft__llm_view(s, x, normed, all);
    return ft__llm_binary(s, "gate", FT_KIND_mul, x, ft__llm_as(s, gate, all), all,
                          all);
}

uint32_t ft__llm_linear_attention(ft__llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;
    const int64_t heads = m->linear_v_heads, values = heads * m->linear_v_head;
    const int64_t keys = m->linear_heads * m->linear_head;
    const int64_t qkv = 2 * keys + values;
    uint32_t y, gate;

    s->part = FT__LLM_PART_LINEAR;
    if (m->linear == FT__LLM_KDA) {
        y = ft__llm_linear(s, "qkv_proj", x, s->rows, m->hidden, qkv, false);
        ft__llm_linear(s, "b_proj", x, s->rows, m->hidden, heads, false);
        gate = ft__llm_linear(s, "f_a_proj", x, s->rows, m->hidden, m->linear_v_head,
                              false);
        ft__llm_linear(s, "f_b_proj", gate, s->rows, m->linear_v_head, keys, false);
        if (!m->full_gate)
            gate = ft__llm_linear(s, "g_a_proj", x, s->rows, m->hidden,
                                  m->linear_v_head, false);
        gate =
            ft__llm_linear(s, "g_b_proj", m->full_gate ? x : gate, s->rows,
                           m->full_gate ? m->hidden : m->linear_v_head, values, false);
    } else {
        y = ft__llm_linear(s, "in_proj", x, s->rows, m->hidden, qkv + values, false);
        gate = ft__llm_view(s, y, SHAPE(s->rows, qkv + values), SHAPE(s->rows, values));
        if (m->linear == FT__LLM_DELTA)
            ft__llm_linear(s, "in_proj_ba", x, s->rows, m->hidden, 2 * heads, false);
    }
    if (m->linear != FT__LLM_LIGHTNING)
        y = convolve(s, y, qkv, false);
    ft__llm_weight(s, (ft_shape){.rank = 1, .dim = {2 * heads}});
    y = recur(s, y, heads, m->linear_head, m->linear_v_head, m->state);
    y = gated_norm(s, y, gate, heads, m->linear_v_head, m->linear_v_head);
    return ft__llm_linear(s, "out_proj", y, s->rows, values, m->hidden, false);
}

uint32_t ft__llm_mamba2(ft__llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;
    const int64_t heads = m->mamba_heads, inner = heads * m->mamba_head;
    const int64_t wide = inner + 2 * m->mamba_groups * m->mamba_state;
    const int64_t all = inner + wide + heads;
    uint32_t y, gate;

    y = ft__llm_linear(s, "in_proj", x, s->rows, m->hidden, all, false);
    gate = ft__llm_view(s, y, SHAPE(s->rows, all), SHAPE(s->rows, inner));
    y = convolve(s, y, wide, true);
    ft__llm_weight(s, (ft_shape){.rank = 1, .dim = {3 * heads}});
    y = recur(s, y, heads, m->mamba_state, m->mamba_head, m->state);
    y = gated_norm(s, y, gate, heads, m->mamba_head, inner);
    return ft__llm_linear(s, "out_proj", y, s->rows, inner, m->hidden, false);
}

/* Of Mamba-1 every feature has a state and decays of its own. */
uint32_t ft__llm_mamba1(ft__llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;
    const int64_t inner = m->mamba_expand * m->hidden / s->ranks;
    const int64_t few = m->mamba_rank + 2 * m->mamba_state;
    const ft_shape all = SHAPE(s->rows, inner);
    uint32_t y, gate;

    y = ft__llm_linear(s, "in_proj", x, s->rows, m->hidden, 2 * inner, false);
    gate = ft__llm_view(s, y, SHAPE(s->rows, 2 * inner), all);
    y = convolve(s, y, inner, true);
    x = ft__llm_linear(s, "x_proj", y, s->rows, inner, few, false);
    x = ft__llm_view(s, x, SHAPE(s->rows, few), SHAPE(s->rows, m->mamba_rank));
    ft__llm_linear(s, "dt_proj", x, s->rows, m->mamba_rank, inner, true);
    ft__llm_weight(s, (ft_shape){.rank = 2, .dim = {inner, m->mamba_state + 1}});
    y = recur(s, y, inner, m->mamba_state, 1, m->state);
    y = ft__llm_binary(s, "gate", FT_KIND_mul, y, gate, all, all);
    return ft__llm_linear(s, "out_proj", y, s->rows, inner, m->hidden, false);
}
