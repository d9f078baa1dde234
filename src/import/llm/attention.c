/* Attention of a step: queries in groups that share keys and values, latent attention,
 * caches of compressed tokens. */
#include <string.h>

#include "import/llm/step.h"

/* Tokens of context that a layer attends to. */
static int64_t reach_of(const ft__llm_step *s, int64_t layer)
{
    const bool windowed = s->m.layer[layer].mixer == FT__LLM_WINDOW;
    const int64_t window = windowed ? s->m.window + s->tokens - 1 : 0;

    return window > 0 && window < s->context ? window : s->context;
}

/* A KV cache input, which the caller holds. */
static uint32_t cache(ft__llm_step *s, const char *name, int64_t heads, int64_t reach,
                      int64_t size)
{
    const ft_shape shape = {.rank = 4, .dim = {s->batch, heads, reach, size}};

    return ft__llm_tensor_of(s, name, FT_ROLE_INPUT, s->m.kv, &shape);
}

static void store(ft__llm_step *s, uint32_t x, int64_t heads, int64_t size,
                  uint32_t cached)
{
    const uint32_t out = ft__llm_unary(s, "cache", FT_KIND_copy, x,
                                       SHAPE(s->batch, heads, s->tokens, size));

    if (out != FT_NONE)
        ft__build_alias(s->b, out, cached);
}

/* Appends new keys or values to the cache; in training and in encoders, where there is
 * no cache, returns x. */
static uint32_t kept(ft__llm_step *s, const char *name, uint32_t x, int64_t heads,
                     int64_t reach, int64_t size)
{
    uint32_t cached;

    if (s->whole || s->m.encoder)
        return x;
    cached = cache(s, name, heads, reach, size);
    store(s, x, heads, size, cached);
    return cached;
}

/* Heads of the new tokens: size of `from` features of each row. */
static uint32_t heads_of(ft__llm_step *s, uint32_t x, int64_t from, int64_t heads,
                         int64_t size)
{
    return ft__llm_view(s, x, SHAPE(s->rows, from),
                        SHAPE(s->batch, heads, s->tokens, size));
}

static uint32_t by_heads(ft__llm_step *s, const char *name, ft_kind kind, uint32_t x,
                         int64_t heads, int64_t size)
{
    return ft__llm_unary(s, name, kind, x, SHAPE(s->batch, heads, s->tokens, size));
}

/* Unfused attention: two products, with a kernel between them that scales, masks and
 * normalises. Queries that share keys are rows of one product; keys are read
 * transposed. */
static uint32_t by_scores(ft__llm_step *s, const uint32_t qkv[3], int64_t heads,
                          int64_t kv_heads, int64_t reach, int64_t size, int64_t v_size)
{
    const int64_t rows = heads / kv_heads * s->tokens;
    const ft_shape q = SHAPE(s->batch, kv_heads, rows, size);
    const ft_shape k = SHAPE(s->batch, kv_heads, size, reach);
    const ft__llm_sizes all = SIZES(s->batch, kv_heads, rows, reach);
    uint32_t x = ft__llm_as(s, qkv[0], q), y = ft__llm_as(s, qkv[1], k);

    x = ft__llm_binary(s, "scores", FT_KIND_matmul, x, y, q, k);
    x = ft__llm_node(s, "scores", x, "softmax x=%s axis=3", all.s);
    if (s->m.dropout)
        x = ft__llm_unary(s, "scores", FT_KIND_dropout, x, all.shape);
    x = ft__llm_binary(s, "attn", FT_KIND_matmul, x, qkv[2], all.shape,
                       SHAPE(s->batch, kv_heads, reach, v_size));
    return ft__llm_as(s, x, SHAPE(s->batch, heads, s->tokens, v_size));
}

static uint32_t attend(ft__llm_step *s, const uint32_t qkv[3], int64_t heads,
                       int64_t kv_heads, int64_t reach, int64_t size, int64_t v_size,
                       bool shared)
{
    /* Narrow keys are multiplied with queries as narrow; those that are expanded from
     * the cache are as wide as the model. */
    const bool narrow =
        (shared || !s->m.kv_rank) && ft_dtype_bits(s->m.kv) < ft_dtype_bits(s->m.dtype);
    const bool causal = s->tokens > 1 && s->tokens <= reach && !s->m.encoder;

    if (s->scores)
        return by_scores(s, qkv, heads, kv_heads, reach, size, v_size);
    return ft__llm_node_on(
        s, "attn", qkv, 3, "attention x=%s y=%s z=%s%s%s%s%s",
        X(s->batch, heads, s->tokens, size), X(s->batch, kv_heads, reach, size),
        X(s->batch, kv_heads, reach, v_size), causal ? " causal=1" : "",
        shared ? " shared=1" : "", narrow ? " dtype=" : "",
        narrow ? ft_dtype_name(s->m.kv) : "");
}

static uint32_t output(ft__llm_step *s, uint32_t x, int64_t size, bool bias)
{
    const int64_t heads = s->l->heads, all = heads * size;
    const ft_shape sizes = SHAPE(s->rows, all);

    x = ft__llm_view(s, x, SHAPE(s->batch, heads, s->tokens, size), sizes);
    if (s->m.out_gate == 1) {
        x = ft__llm_unary(s, "gate", FT_KIND_sigmoid, x, sizes);
        x = ft__llm_binary(s, "gate", FT_KIND_mul, x, x, sizes, sizes);
    }
    return ft__llm_linear(s, "o_proj", x, s->rows, all, s->m.hidden, bias);
}

static uint32_t normed_heads(ft__llm_step *s, const char *name, uint32_t x,
                             int64_t heads)
{
    return s->m.qk_norm == 1 ? by_heads(s, name, FT_KIND_rmsnorm, x, heads, s->l->head)
                             : x;
}

uint32_t ft__llm_rotations(ft__llm_step *s)
{
    ft_shape table = {.rank = 2, .dim = {s->tokens, 0}};

    for (int64_t i = 0; i < s->m.layers; i++)
        if (table.dim[1] < s->m.layer[i].head)
            table.dim[1] = s->m.layer[i].head;
    return s->unfused && s->m.rope
               ? ft__llm_tensor_of(s, "", FT_ROLE_INPUT, FT_DTYPE_fp32, &table)
               : FT_NONE;
}

/* Rotary embedding as model code has it: a complex product in fp32, with a table. */
static uint32_t turned_in_fp32(ft__llm_step *s, uint32_t x, int64_t heads)
{
    const ft__llm_sizes all = SIZES(s->batch, heads, s->tokens, s->l->head);
    const uint32_t y = ft__llm_as(s, s->rotations, SHAPE(s->tokens, s->l->head));

    x = ft__llm_node(s, "", x, "cast x=%s to=fp32", all.s);
    x = ft__llm_node_on(s, "rotary_emb", (uint32_t[]){x, y}, 2,
                        "mul x=%s y=%s dtype=fp32", all.s, X(s->tokens, s->l->head));
    return ft__llm_node(s, "", x, "cast x=%s to=%s dtype=fp32", all.s, s->type);
}

static uint32_t turned(ft__llm_step *s, uint32_t x, int64_t heads)
{
    if (s->unfused && s->m.rope)
        return turned_in_fp32(s, x, heads);
    return s->m.rope ? by_heads(s, "rotary_emb", FT_KIND_rotary, x, heads, s->l->head)
                     : x;
}

/* Sparse attention (DeepSeek-V3.2-Exp): heads of its own score the tokens of the
 * context, and each query attends to the best. low: what queries are made of. */
static void pick(ft__llm_step *s, uint32_t x, uint32_t low, int64_t size_of_low,
                 int64_t all, int64_t best)
{
    const ft__llm *m = &s->m;
    const int64_t size = m->index_head, width = m->index_heads * size;
    const int64_t queries = s->tokens * m->index_heads;
    const uint32_t keys = cache(s, "index", 1, all, size);
    uint32_t q = ft__llm_linear(s, "index_q", low, s->rows, size_of_low, width, false),
             k;

    k = ft__llm_linear(s, "index_k", x, s->rows, m->hidden, size, false);
    ft__llm_linear(s, "index_weights", x, s->rows, m->hidden, m->index_heads, false);
    store(s, heads_of(s, k, size, 1, size), 1, size, keys);
    q = ft__llm_view(s, q, SHAPE(s->rows, width), SHAPE(s->batch, queries, size));
    k = ft__llm_view(s, keys, SHAPE(s->batch, 1, all, size),
                     SHAPE(s->batch, size, all));
    q = ft__llm_binary(s, "index_scores", FT_KIND_matmul, q, k,
                       SHAPE(s->batch, queries, size), SHAPE(s->batch, size, all));
    q = ft__llm_view(s, q, SHAPE(s->batch, queries, all), SHAPE(s->rows, all));
    ft__llm_node(s, "index_topk", q, "topk x=%s axis=1 size=%s", X(s->rows, all),
                 X(best));
}

/* Heads of queries share keys and values in groups. */
uint32_t ft__llm_grouped(ft__llm_step *s, uint32_t x, int64_t layer)
{
    const ft__llm *m = &s->m;
    const ft__llm_layer *l = s->l;
    const int64_t n = l->kv_heads, reach = reach_of(s, layer);
    const bool one = m->k_is_v == 1 && l->mixer != FT__LLM_WINDOW;
    const int64_t queries = l->heads * (l->head + (m->out_gate == 1 ? l->v_head : 0));
    const int64_t all = queries + n * (l->head + (one ? 0 : l->v_head));
    const int64_t seen = l->indexed && m->index_topk < reach ? m->index_topk : reach;
    const uint32_t qkv =
        ft__llm_linear(s, "qkv_proj", x, s->rows, m->hidden, all, m->qkv_bias);
    uint32_t q = heads_of(s, qkv, all, l->heads, l->head);
    uint32_t k = heads_of(s, qkv, all, n, l->head);
    uint32_t v = heads_of(s, qkv, all, n, l->v_head);

    if (l->indexed)
        pick(s, x, x, m->hidden, reach, seen);
    q = turned(s, normed_heads(s, "q_norm", q, l->heads), l->heads);
    k = turned(s, normed_heads(s, "k_norm", k, n), n);
    k = kept(s, "keys", k, n, reach, l->head);
    v = kept(s, "values", v, n, reach, l->v_head);
    if (seen < reach) {
        k = ft__llm_view(s, k, SHAPE(s->batch, n, reach, l->head),
                         SHAPE(s->batch, n, seen, l->head));
        v = ft__llm_view(s, v, SHAPE(s->batch, n, reach, l->v_head),
                         SHAPE(s->batch, n, seen, l->v_head));
    }
    x = attend(s, (uint32_t[]){q, k, v}, l->heads, n, seen, l->head, l->v_head, false);
    return output(s, x, l->v_head, m->o_bias);
}

/* A product with weights of each head. */
static uint32_t each_head(ft__llm_step *s, const char *name, uint32_t x, int64_t from,
                          int64_t to)
{
    const int64_t heads = s->m.heads;
    const uint32_t w =
        ft__llm_weight(s, (ft_shape){.rank = 3, .dim = {heads, from, to}});

    x = ft__llm_view(s, x, SHAPE(s->batch, heads, s->tokens, from),
                     SHAPE(heads, s->rows, from));
    x = ft__llm_binary(s, name, FT_KIND_matmul, x, w, SHAPE(heads, s->rows, from),
                       SHAPE(heads, from, to));
    return ft__llm_view(s, x, SHAPE(heads, s->rows, to),
                        SHAPE(s->batch, heads, s->tokens, to));
}

/* Queries in the space of the cache, whose expansion goes to them. */
static uint32_t absorbed(ft__llm_step *s, uint32_t q)
{
    const ft__llm *m = &s->m;
    const ft__llm_sizes all =
        SIZES(s->batch, m->heads, s->tokens, m->nope_head + m->rope_head);
    uint32_t part = ft__llm_view(s, q, all.shape,
                                 SHAPE(s->batch, m->heads, s->tokens, m->nope_head));
    const uint32_t turned = ft__llm_view(
        s, q, all.shape, SHAPE(s->batch, m->heads, s->tokens, m->rope_head));

    part = each_head(s, "k_b_proj", part, m->nope_head, m->kv_rank);
    return ft__llm_node_on(
        s, "", (uint32_t[]){part, turned}, 2, "concat x=%s axis=3 sizes=%s",
        X(s->batch, m->heads, s->tokens, m->kv_rank), X(m->kv_rank, m->rope_head));
}

/* Decoding: all heads read one vector of the cache for each token. */
static uint32_t attend_latent(ft__llm_step *s, uint32_t q, uint32_t cached, int64_t all,
                              int64_t reach)
{
    const ft__llm *m = &s->m;
    const int64_t held = m->kv_rank + m->rope_head;
    const ft__llm_sizes keys = SIZES(s->batch, 1, all, held);
    const uint32_t qkv[3] = {
        absorbed(s, q),
        ft__llm_view(s, cached, keys.shape, SHAPE(s->batch, 1, reach, held)),
        ft__llm_view(s, cached, keys.shape, SHAPE(s->batch, 1, reach, m->kv_rank))};

    return each_head(s, "v_b_proj",
                     attend(s, qkv, m->heads, 1, reach, held, m->kv_rank, true),
                     m->kv_rank, m->v_head);
}

/* Prefill: the cache is expanded to keys and values of each head. */
static uint32_t attend_expanded(ft__llm_step *s, uint32_t q, uint32_t cached,
                                int64_t reach)
{
    const ft__llm *m = &s->m;
    const int64_t held = m->kv_rank + m->rope_head, size = m->nope_head + m->rope_head;
    const int64_t rows = s->batch * reach, both = m->heads * (m->nope_head + m->v_head);
    uint32_t kv = ft__llm_view(s, cached, SHAPE(s->batch, 1, reach, held),
                               SHAPE(rows, m->kv_rank));
    uint32_t k, v;

    kv = ft__llm_linear(s, "kv_b_proj", kv, rows, m->kv_rank, both, false);
    k = ft__llm_view(s, kv, SHAPE(rows, both), SHAPE(s->batch, m->heads, reach, size));
    v = ft__llm_view(s, kv, SHAPE(rows, both),
                     SHAPE(s->batch, m->heads, reach, m->v_head));
    return attend(s, (uint32_t[]){q, k, v}, m->heads, m->heads, reach, size, m->v_head,
                  false);
}

/* Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1). */
uint32_t ft__llm_latent(ft__llm_step *s, uint32_t x, int64_t layer)
{
    const ft__llm *m = &s->m;
    const int64_t size = m->nope_head + m->rope_head, held = m->kv_rank + m->rope_head;
    const int64_t down = m->q_rank ? m->q_rank : m->heads * size;
    const int64_t reach = reach_of(s, layer), all = down + held;
    const int64_t seen = m->index_topk && m->index_topk < reach ? m->index_topk : reach;
    const uint32_t cached = cache(s, "latent", 1, reach, held);
    const uint32_t low =
        ft__llm_linear(s, "qkv_a_proj", x, s->rows, m->hidden, all, false);
    uint32_t q = ft__llm_view(s, low, SHAPE(s->rows, all), SHAPE(s->rows, down));

    if (m->q_rank) {
        q = ft__llm_norm(s, "q_a_norm", q, m->q_rank);
        if (s->l->indexed)
            pick(s, x, q, m->q_rank, reach, seen);
        q = ft__llm_linear(s, "q_b_proj", q, s->rows, m->q_rank, m->heads * size,
                           false);
    }
    q = heads_of(s, q, m->heads * size, m->heads, size);
    if (m->rope)
        q = by_heads(s, "rotary_emb", FT_KIND_rotary, q, m->heads, size);
    if (m->out_gate == 1)
        ft__llm_linear(s, "g_proj", x, s->rows, m->hidden, m->heads * m->v_head, false);
    ft__llm_norm(s, "kv_a_norm",
                 ft__llm_view(s, low, SHAPE(s->rows, all), SHAPE(s->rows, m->kv_rank)),
                 m->kv_rank);
    store(s, heads_of(s, low, all, 1, held), 1, held, cached);
    x = s->tokens <= 1 + s->drafts || seen < reach
            ? attend_latent(s, q, cached, reach, seen)
            : attend_expanded(s, q, cached, reach);
    return output(s, x, m->v_head, false);
}

/* Compresses every `ratio` tokens into one cache entry, weighted by gates
 * (DeepSeek-V4). Overlapping ratios make two. */
static void compress(ft__llm_step *s, uint32_t x, int64_t ratio, int64_t size,
                     uint32_t cached)
{
    const int64_t wide = (ratio == 4 ? 2 : 1) * size;
    const int64_t entries = (s->tokens + ratio - 1) / ratio;
    const ft_shape all = SHAPE(s->rows, wide);
    const ft_shape made = SHAPE(s->batch, 1, entries, size);

    x = ft__llm_linear(s, "compressor", x, s->rows, s->m.hidden, 2 * wide, false);
    x = ft__llm_view(s, x, SHAPE(s->rows, 2 * wide), all);
    ft__llm_weight(s, (ft_shape){.rank = 2, .dim = {ratio, wide}});
    x = ft__llm_binary(s, "compressor", FT_KIND_mul, x, x, all, all);
    x = ft__llm_unary(s, "compressor", FT_KIND_rmsnorm, ft__llm_view(s, x, all, made),
                      made);
    x = ft__llm_unary(s, "cache", FT_KIND_copy, x, made);
    if (x != FT_NONE)
        ft__build_alias(s->b, x, cached);
}

/* A grouped product. */
static uint32_t in_groups(ft__llm_step *s, const char *name, uint32_t x, int64_t groups,
                          int64_t from, int64_t to)
{
    const uint32_t w =
        ft__llm_weight(s, (ft_shape){.rank = 3, .dim = {groups, from, to}});

    x = ft__llm_view(s, x, SHAPE(s->rows, groups * from), SHAPE(groups, s->rows, from));
    x = ft__llm_binary(s, name, FT_KIND_matmul, x, w, SHAPE(groups, s->rows, from),
                       SHAPE(groups, from, to));
    return ft__llm_view(s, x, SHAPE(groups, s->rows, to), SHAPE(s->rows, groups * to));
}

/* One vector of each token, key and value at once: those of a window, and entries for
 * many tokens before it, all or those that an indexer picks. */
uint32_t ft__llm_compressed(ft__llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;
    const ft__llm_layer *l = s->l;
    const int64_t size = l->head, all = l->heads * size;
    const int64_t window = m->window && m->window < s->context ? m->window : s->context;
    const int64_t entries = l->compress ? s->context / l->compress : 0;
    const int64_t best =
        l->indexed && m->index_topk < entries ? m->index_topk : entries;
    const int64_t seen = window + best;
    const uint32_t cached = cache(s, "window", 1, window + entries, size);
    uint32_t q = ft__llm_linear(s, "q_a_proj", x, s->rows, m->hidden, m->q_rank, false),
             kv;

    q = ft__llm_norm(s, "q_a_norm", q, m->q_rank);
    if (l->indexed && entries)
        pick(s, x, q, m->q_rank, entries, best);
    q = ft__llm_linear(s, "q_b_proj", q, s->rows, m->q_rank, all, false);
    q = by_heads(s, "rotary_emb", FT_KIND_rotary, heads_of(s, q, all, l->heads, size),
                 l->heads, size);
    kv = ft__llm_linear(s, "kv_proj", x, s->rows, m->hidden, size, false);
    kv = ft__llm_norm(s, "kv_norm", kv, size);
    store(s, heads_of(s, kv, size, 1, size), 1, size, cached);
    if (l->compress)
        compress(s, x, l->compress, size, cached);
    kv = ft__llm_view(s, cached, SHAPE(s->batch, 1, window + entries, size),
                      SHAPE(s->batch, 1, seen, size));
    x = attend(s, (uint32_t[]){q, kv, kv}, l->heads, 1, seen, size, size, true);
    x = ft__llm_view(s, x, SHAPE(s->batch, l->heads, s->tokens, size),
                     SHAPE(s->rows, all));
    x = in_groups(s, "o_a_proj", x, m->o_groups, all / m->o_groups, m->o_rank);
    return ft__llm_linear(s, "o_b_proj", x, s->rows, m->o_groups * m->o_rank, m->hidden,
                          false);
}
