/* One step of a language model as a graph: what vLLM and its like issue for each layer,
 * with queries, keys and values of one product, and gate and up of another. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "import/list.h"
#include "import/llm/llm.h"
#include "import/options.h"

enum { DECODE_CONTEXT = 1024 };

struct llm_step {
    ft__build *b;
    ft__llm m;
    int64_t batch, tokens, context, rows; /* rows: tokens of all sequences */
    int64_t ranks, expert_ranks; /* of tensor parallelism, this is one of them; of those
                                    with whole experts of their own */
    const char *type;            /* of activations */
    uint32_t embedding;
};

/* ---- nodes ---- */

/* "8x64x128" */
struct llm_sizes {
    char s[96];
};

static struct llm_sizes sizes_of(const int64_t *size, size_t n)
{
    struct llm_sizes out = {""};
    size_t len = 0;

    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(out.s + len, sizeof(out.s) - len, "%s%" PRId64,
                                i ? "x" : "", size[i]);
    return out;
}
#define SIZES(...)                                                                     \
    sizes_of((const int64_t[]){__VA_ARGS__},                                           \
             sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
/* For one call: it ends with the expression. */
#define X(...) SIZES(__VA_ARGS__).s

static uint32_t tensor_of(struct llm_step *s, const char *name, ft_role role,
                          ft_dtype t, const ft_shape *shape)
{
    return ft__build_tensor(s->b, name, strlen(name), role, t, shape);
}

static uint32_t weight(struct llm_step *s, ft_shape shape)
{
    return tensor_of(s, "", FT_ROLE_WEIGHT, s->m.dtype, &shape);
}

/* A node of that spec, of the model's type unless it says another, with the weights
 * that its operation has, or with `tied` in their place; its first result. */
static uint32_t node_of(struct llm_step *s, const char *name, const uint32_t *in,
                        uint32_t n_in, uint32_t tied, const char *fmt, va_list ap)
{
    uint32_t out[FT_OP_MAX_OPERANDS], params[3] = {tied}, n_params = tied != FT_NONE;
    char spec[1024];
    size_t len;
    ft_error err;
    ft_op op;

    vsnprintf(spec, sizeof(spec) - 16, fmt, ap);
    if (ft__build_failed(s->b))
        return FT_NONE;
    len = strlen(spec);
    if (!strstr(spec, "dtype="))
        snprintf(spec + len, sizeof(spec) - len, " dtype=%s", s->type);
    if (ft_op_parse(&op, spec, strlen(spec), &err)) {
        ft__build_fail(s->b, FT_EFORMAT, 0, "%s: %s", spec, err.msg);
        return FT_NONE;
    }
    for (uint32_t i = 0; i < ft_op_n_outputs(&op); i++) {
        ft_shape shape;
        ft_dtype t;

        ft_op_output(&op, i, &shape, &t);
        out[i] = tensor_of(s, "", FT_ROLE_ACTIVATION, t, &shape);
    }
    if (tied == FT_NONE)
        n_params = ft__op_weights(s->b, &op, 1, params);
    ft__build_node(s->b, name, strlen(name), &op, in, n_in, params, n_params, out,
                   ft_op_n_outputs(&op));
    return ft__build_failed(s->b) ? FT_NONE : out[0];
}

FT_PRINTF(4, 5)
static uint32_t node(struct llm_step *s, const char *name, uint32_t x, const char *fmt,
                     ...)
{
    va_list ap;
    uint32_t out;

    va_start(ap, fmt);
    out = node_of(s, name, &x, 1, FT_NONE, fmt, ap);
    va_end(ap);
    return out;
}

/* With the weights of another node. */
FT_PRINTF(5, 6)
static uint32_t node_with(struct llm_step *s, const char *name, uint32_t x,
                          uint32_t tied, const char *fmt, ...)
{
    va_list ap;
    uint32_t out;

    va_start(ap, fmt);
    out = node_of(s, name, &x, 1, tied, fmt, ap);
    va_end(ap);
    return out;
}

FT_PRINTF(5, 6)
static uint32_t node_on(struct llm_step *s, const char *name, const uint32_t *in,
                        uint32_t n_in, const char *fmt, ...)
{
    va_list ap;
    uint32_t out;

    va_start(ap, fmt);
    out = node_of(s, name, in, n_in, FT_NONE, fmt, ap);
    va_end(ap);
    return out;
}

/* Other sizes, or a part of it. */
static uint32_t view(struct llm_step *s, uint32_t x, const char *from, const char *to)
{
    return node(s, "", x, "view x=%s out=%s", from, to);
}

/* " to=bf16 block=128 dtype=fp8e4m3", " weights=int4 block=128" */
static void put_types(char out[96], const struct llm_step *s, bool experts)
{
    const ft__llm_quant *q = &s->m.quant;
    char block[32] = "";

    *out = 0;
    if (q->weights == FT_DTYPE_NONE || (q->experts && !experts))
        return;
    if (q->block)
        snprintf(block, sizeof(block), " block=%" PRId64, q->block);
    if (q->activations)
        snprintf(out, 96, " to=%s%s dtype=%s", s->type, block,
                 ft_dtype_name(q->weights));
    else
        snprintf(out, 96, " weights=%s%s", ft_dtype_name(q->weights), block);
}

static uint32_t linear(struct llm_step *s, const char *name, uint32_t x, int64_t rows,
                       int64_t from, int64_t to, bool bias)
{
    char types[96];

    put_types(types, s, false);
    return node(s, name, x, "linear x=%s out=%s%s%s", X(rows, from), X(to),
                bias ? " bias=1" : "", types);
}

static uint32_t norm(struct llm_step *s, const char *name, uint32_t x, int64_t size)
{
    return node(s, name, x, "%s x=%s norm=1",
                s->m.norm == FT__LLM_RMS ? "rmsnorm" : "layernorm", X(s->rows, size));
}

static uint32_t add(struct llm_step *s, const char *name, uint32_t x, uint32_t y)
{
    const struct llm_sizes sizes = SIZES(s->rows, s->m.hidden);

    return node_on(s, name, (uint32_t[]){x, y}, 2, "add x=%s y=%s", sizes.s, sizes.s);
}

/* ---- attention ---- */

/* Tokens that a layer looks back on. */
static int64_t reach_of(const struct llm_step *s, int64_t layer)
{
    const int64_t window = s->m.windowed[layer] ? s->m.window + s->tokens - 1 : 0;

    return window > 0 && window < s->context ? window : s->context;
}

/* Keys or values of the context, which the caller holds. */
static uint32_t cache(struct llm_step *s, const char *name, int64_t heads,
                      int64_t reach, int64_t size)
{
    const ft_shape shape = {.rank = 4, .dim = {s->batch, heads, reach, size}};

    return tensor_of(s, name, FT_ROLE_INPUT, s->m.dtype, &shape);
}

static void store(struct llm_step *s, uint32_t x, int64_t heads, int64_t size,
                  uint32_t cached)
{
    const uint32_t out =
        node(s, "cache", x, "copy x=%s", X(s->batch, heads, s->tokens, size));

    if (out != FT_NONE)
        ft__build_alias(s->b, out, cached);
}

/* Heads of the new tokens: size of `from` features of each row. */
static uint32_t heads_of(struct llm_step *s, uint32_t x, int64_t from, int64_t heads,
                         int64_t size)
{
    return view(s, x, X(s->rows, from), X(s->batch, heads, s->tokens, size));
}

static uint32_t by_heads(struct llm_step *s, const char *name, const char *kind,
                         uint32_t x, int64_t heads, int64_t size)
{
    return node(s, name, x, "%s x=%s%s", kind, X(s->batch, heads, s->tokens, size),
                strcmp(kind, "rmsnorm") == 0 ? " norm=1" : "");
}

static uint32_t attend(struct llm_step *s, const uint32_t qkv[3], int64_t heads,
                       int64_t kv_heads, int64_t reach, int64_t size, int64_t v_size)
{
    return node_on(s, "attn", qkv, 3, "attention x=%s y=%s z=%s%s",
                   X(s->batch, heads, s->tokens, size),
                   X(s->batch, kv_heads, reach, size),
                   X(s->batch, kv_heads, reach, v_size),
                   s->tokens > 1 && s->tokens <= reach ? " causal=1" : "");
}

static uint32_t output(struct llm_step *s, uint32_t x, int64_t size, bool bias)
{
    const int64_t heads = s->m.heads;

    x = view(s, x, X(s->batch, heads, s->tokens, size), X(s->rows, heads * size));
    return linear(s, "o_proj", x, s->rows, heads * size, s->m.hidden, bias);
}

/* Heads of queries share keys and values in groups. */
static uint32_t grouped(struct llm_step *s, uint32_t x, int64_t layer)
{
    const ft__llm *m = &s->m;
    const int64_t n = m->kv_heads, all = (m->heads + 2 * n) * m->head;
    const int64_t reach = reach_of(s, layer);
    const uint32_t keys = cache(s, "keys", n, reach, m->head);
    const uint32_t values = cache(s, "values", n, reach, m->head);
    const uint32_t qkv = linear(s, "qkv_proj", x, s->rows, m->hidden, all, m->qkv_bias);
    uint32_t q = heads_of(s, qkv, all, m->heads, m->head);
    uint32_t k = heads_of(s, qkv, all, n, m->head);

    if (m->qk_norm) {
        q = by_heads(s, "q_norm", "rmsnorm", q, m->heads, m->head);
        k = by_heads(s, "k_norm", "rmsnorm", k, n, m->head);
    }
    if (m->rope) {
        q = by_heads(s, "rotary_emb", "rotary", q, m->heads, m->head);
        k = by_heads(s, "rotary_emb", "rotary", k, n, m->head);
    }
    store(s, k, n, m->head, keys);
    store(s, heads_of(s, qkv, all, n, m->head), n, m->head, values);
    x = attend(s, (uint32_t[]){q, keys, values}, m->heads, n, reach, m->head, m->head);
    return output(s, x, m->head, m->o_bias);
}

/* A product with constants of each head, from so many features to so many. */
static uint32_t each_head(struct llm_step *s, const char *name, uint32_t x,
                          int64_t from, int64_t to)
{
    const int64_t heads = s->m.heads;
    const uint32_t w = weight(s, (ft_shape){.rank = 3, .dim = {heads, from, to}});

    x = view(s, x, X(s->batch, heads, s->tokens, from), X(heads, s->rows, from));
    x = node_on(s, name, (uint32_t[]){x, w}, 2, "matmul x=%s y=%s",
                X(heads, s->rows, from), X(heads, from, to));
    return view(s, x, X(heads, s->rows, to), X(s->batch, heads, s->tokens, to));
}

/* Queries in the space of the cache, whose expansion goes to them. */
static uint32_t absorbed(struct llm_step *s, uint32_t q)
{
    const ft__llm *m = &s->m;
    const struct llm_sizes all =
        SIZES(s->batch, m->heads, s->tokens, m->nope_head + m->rope_head);
    uint32_t part = view(s, q, all.s, X(s->batch, m->heads, s->tokens, m->nope_head));
    const uint32_t turned =
        view(s, q, all.s, X(s->batch, m->heads, s->tokens, m->rope_head));

    part = each_head(s, "k_b_proj", part, m->nope_head, m->kv_rank);
    return node_on(s, "", (uint32_t[]){part, turned}, 2, "concat x=%s axis=3 sizes=%s",
                   X(s->batch, m->heads, s->tokens, m->kv_rank),
                   X(m->kv_rank, m->rope_head));
}

/* Sparse attention (DeepSeek-V3.2-Exp): heads of its own score the tokens of the
 * context, and each query attends to the best. low: what queries are made of. */
static void pick(struct llm_step *s, uint32_t x, uint32_t low, int64_t all,
                 int64_t best)
{
    const ft__llm *m = &s->m;
    const int64_t size = m->index_head, width = m->index_heads * size;
    const int64_t queries = s->tokens * m->index_heads;
    const uint32_t keys = cache(s, "index", 1, all, size);
    uint32_t q = linear(s, "index_q", low, s->rows, m->q_rank, width, false), k;

    k = linear(s, "index_k", x, s->rows, m->hidden, size, false);
    linear(s, "index_weights", x, s->rows, m->hidden, m->index_heads, false);
    store(s, heads_of(s, k, size, 1, size), 1, size, keys);
    q = view(s, q, X(s->rows, width), X(s->batch, queries, size));
    k = view(s, keys, X(s->batch, 1, all, size), X(s->batch, size, all));
    q = node_on(s, "index_scores", (uint32_t[]){q, k}, 2, "matmul x=%s y=%s",
                X(s->batch, queries, size), X(s->batch, size, all));
    q = view(s, q, X(s->batch, queries, all), X(s->rows, all));
    node(s, "index_topk", q, "topk x=%s axis=1 size=%s", X(s->rows, all), X(best));
}

/* Decoding: all heads read one vector of the cache for each token. */
static uint32_t attend_latent(struct llm_step *s, uint32_t q, uint32_t cached,
                              int64_t all, int64_t reach)
{
    const ft__llm *m = &s->m;
    const int64_t held = m->kv_rank + m->rope_head;
    const struct llm_sizes keys = SIZES(s->batch, 1, all, held);
    const uint32_t qkv[3] = {
        absorbed(s, q), view(s, cached, keys.s, X(s->batch, 1, reach, held)),
        view(s, cached, keys.s, X(s->batch, 1, reach, m->kv_rank))};

    return each_head(s, "v_b_proj",
                     attend(s, qkv, m->heads, 1, reach, held, m->kv_rank), m->kv_rank,
                     m->v_head);
}

/* Prefill: the cache is expanded to keys and values of each head. */
static uint32_t attend_expanded(struct llm_step *s, uint32_t q, uint32_t cached,
                                int64_t reach)
{
    const ft__llm *m = &s->m;
    const int64_t held = m->kv_rank + m->rope_head, size = m->nope_head + m->rope_head;
    const int64_t rows = s->batch * reach, both = m->heads * (m->nope_head + m->v_head);
    uint32_t kv = view(s, cached, X(s->batch, 1, reach, held), X(rows, m->kv_rank));
    uint32_t k, v;

    kv = linear(s, "kv_b_proj", kv, rows, m->kv_rank, both, false);
    k = view(s, kv, X(rows, both), X(s->batch, m->heads, reach, size));
    v = view(s, kv, X(rows, both), X(s->batch, m->heads, reach, m->v_head));
    return attend(s, (uint32_t[]){q, k, v}, m->heads, m->heads, reach, size, m->v_head);
}

/* Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1). */
static uint32_t latent(struct llm_step *s, uint32_t x, int64_t layer)
{
    const ft__llm *m = &s->m;
    const int64_t size = m->nope_head + m->rope_head, held = m->kv_rank + m->rope_head;
    const int64_t down = m->q_rank ? m->q_rank : m->heads * size;
    const int64_t reach = reach_of(s, layer), all = down + held;
    const int64_t seen = m->index_topk && m->index_topk < reach ? m->index_topk : reach;
    const uint32_t cached = cache(s, "latent", 1, reach, held);
    const uint32_t low = linear(s, "qkv_a_proj", x, s->rows, m->hidden, all, false);
    uint32_t q = view(s, low, X(s->rows, all), X(s->rows, down));

    if (m->q_rank) {
        q = norm(s, "q_a_norm", q, m->q_rank);
        if (m->index_topk)
            pick(s, x, q, reach, seen);
        q = linear(s, "q_b_proj", q, s->rows, m->q_rank, m->heads * size, false);
    }
    q = heads_of(s, q, m->heads * size, m->heads, size);
    q = by_heads(s, "rotary_emb", "rotary", q, m->heads, size);
    norm(s, "kv_a_norm", view(s, low, X(s->rows, all), X(s->rows, m->kv_rank)),
         m->kv_rank);
    store(s, heads_of(s, low, all, 1, held), 1, held, cached);
    x = s->tokens == 1 || seen < reach ? attend_latent(s, q, cached, reach, seen)
                                       : attend_expanded(s, q, cached, reach);
    return output(s, x, m->v_head, false);
}

/* ---- feed-forward ---- */

static uint32_t dense(struct llm_step *s, uint32_t x, int64_t size)
{
    const ft__llm *m = &s->m;
    const struct llm_sizes wide = SIZES(s->rows, size);
    uint32_t gate, up;

    if (m->gated) {
        x = linear(s, "gate_up_proj", x, s->rows, m->hidden, 2 * size,
                   m->mlp_bias == 1);
        gate = view(s, x, X(s->rows, 2 * size), wide.s);
        up = view(s, x, X(s->rows, 2 * size), wide.s);
        gate = node(s, "act_fn", gate, "silu x=%s", wide.s);
        x = node_on(s, "mul", (uint32_t[]){gate, up}, 2, "mul x=%s y=%s", wide.s,
                    wide.s);
    } else {
        x = linear(s, "up_proj", x, s->rows, m->hidden, size, m->mlp_bias == 1);
        x = node(s, "act_fn", x, "gelu x=%s", wide.s);
    }
    return linear(s, "down_proj", x, s->rows, size, m->hidden, m->mlp_bias == 1);
}

static uint32_t mixture(struct llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;
    const struct llm_sizes all = SIZES(s->rows, m->experts);
    uint32_t out, scores;
    char types[96], split[64] = "";

    if (s->ranks > 1)
        snprintf(split, sizeof(split), " tp=%" PRId64 " ep=%" PRId64,
                 s->ranks / s->expert_ranks, s->expert_ranks);
    scores =
        node(s, "gate", x, "linear x=%s out=%s", X(s->rows, m->hidden), X(m->experts));
    scores = node(s, "gate", scores, "softmax x=%s axis=1", all.s);
    node(s, "gate", scores, "topk x=%s axis=1 size=%s", all.s, X(m->topk));
    put_types(types, s, true);
    out = node(s, "experts", x, "moe x=%s hidden=%s experts=%s topk=%s%s%s",
               X(s->rows, m->hidden), X(m->expert_ffn), X(m->experts), X(m->topk),
               split, types);
    return m->shared_ffn ? add(s, "add", out, dense(s, x, m->shared_ffn)) : out;
}

/* ---- the network ---- */

static uint32_t attention(struct llm_step *s, uint32_t x, int64_t layer)
{
    return s->m.kv_rank ? latent(s, x, layer) : grouped(s, x, layer);
}

static uint32_t feed_forward(struct llm_step *s, uint32_t x, int64_t layer)
{
    return s->m.experts && !s->m.dense[layer] ? mixture(s, x)
                                              : dense(s, x, s->m.dense_ffn);
}

/* Each rank has a part of every sum. */
static uint32_t reduced(struct llm_step *s, uint32_t x)
{
    return s->ranks == 1 ? x
                         : node(s, "all_reduce", x, "collective x=%s ranks=%s",
                                X(s->rows, s->m.hidden), X(s->ranks));
}

/* part: a module inside the layer, "" is the layer itself. */
static void scope(struct llm_step *s, int64_t layer, const char *part)
{
    char name[96];
    int n = snprintf(name, sizeof(name), "layers.%" PRId64, layer);

    if (*part)
        n += snprintf(name + n, sizeof(name) - (size_t)n, "/layers.%" PRId64 ".%s",
                      layer, part);
    ft__build_scope(s->b, name, (size_t)n);
}

static uint32_t layer_of(struct llm_step *s, uint32_t x, int64_t layer)
{
    const ft__llm *m = &s->m;
    uint32_t normed, y;

    scope(s, layer, "");
    normed = norm(s, "input_norm", x, m->hidden);
    scope(s, layer, "self_attn");
    y = reduced(s, attention(s, normed, layer));
    scope(s, layer, "");
    if (m->four_norms)
        y = norm(s, "post_attention_norm", y, m->hidden);
    x = add(s, "add", x, y);
    if (!m->one_norm)
        normed = norm(s, m->four_norms ? "pre_feedforward_norm" : "post_attention_norm",
                      x, m->hidden);
    scope(s, layer, "mlp");
    y = reduced(s, feed_forward(s, normed, layer));
    scope(s, layer, "");
    if (m->four_norms)
        y = norm(s, "post_feedforward_norm", y, m->hidden);
    return add(s, "add", x, y);
}

static uint32_t embed(struct llm_step *s)
{
    const ft__llm *m = &s->m;
    const ft_shape ids = {.rank = 2, .dim = {s->batch, s->tokens}};
    uint32_t x = tensor_of(s, "input_ids", FT_ROLE_INPUT, FT_DTYPE_int64, &ids), places;

    s->embedding = weight(s, (ft_shape){.rank = 2, .dim = {m->vocab, m->hidden}});
    x = node(s, "", x, "view x=%s out=%s dtype=int64", X(s->batch, s->tokens),
             X(s->rows));
    x = node_with(s, "embed_tokens", x, s->embedding, "embedding x=%s rows=%s dim=%s",
                  X(s->rows), X(m->vocab), X(m->hidden));
    if (m->embed_norm)
        x = norm(s, "embed_norm", x, m->hidden);
    if (!m->learned_positions)
        return x;
    places = weight(s, (ft_shape){.rank = 2, .dim = {m->positions, m->hidden}});
    places = view(s, places, X(m->positions, m->hidden), X(s->rows, m->hidden));
    return add(s, "embed_positions", x, places);
}

/* Of the last token of each sequence. */
static void head(struct llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;

    ft__build_scope(s->b, "", 0);
    x = norm(s, "norm", x, m->hidden);
    x = view(s, x, X(s->rows, m->hidden), X(s->batch, m->hidden));
    x = node_with(s, "lm_head", x, m->tied ? s->embedding : FT_NONE,
                  "linear x=%s out=%s%s", X(s->batch, m->hidden), X(m->vocab),
                  m->head_bias ? " bias=1" : "");
    if (x != FT_NONE)
        ft__build_output(s->b, x);
}

/* ---- options ---- */

static int64_t taken(const ft_import_options *opt, const char *name, bool *used,
                     int64_t otherwise)
{
    for (size_t i = 0; opt && i < opt->n_dims; i++)
        if (strcmp(opt->dims[i].name, name) == 0) {
            used[i] = true;
            return opt->dims[i].value;
        }
    return otherwise;
}

static void take_options(struct llm_step *s, const ft_import_options *opt)
{
    bool *used = calloc(opt && opt->n_dims ? opt->n_dims : 1, sizeof(*used));

    if (!used) {
        ft__build_fail(s->b, FT_ENOMEM, 0, "options");
        return;
    }
    s->batch = opt && opt->batch ? opt->batch : 1;
    s->tokens = taken(opt, "tokens", used, 1);
    s->ranks = taken(opt, "tp", used, 1);
    s->expert_ranks = taken(opt, "ep", used, 1);
    s->context =
        taken(opt, "context", used, s->tokens > 1 ? s->tokens : DECODE_CONTEXT);
    if (opt && ft__options_are_sizes(s->b, opt)) {
        if (opt->n_inputs)
            ft__build_fail(s->b, FT_EINVAL, 0,
                           "--input does not apply: --batch, --dim tokens= and --dim "
                           "context= say what goes in");
        ft__options_are_used(s->b, opt, used, NULL);
    }
    free(used);
    if (s->context < s->tokens)
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "--dim context=%" PRId64 ": less than the %" PRId64
                       " new tokens",
                       s->context, s->tokens);
    else if ((double)s->batch * (double)s->context > (double)FT__MAX_ELEMENTS)
        ft__build_fail(s->b, FT_EINVAL, 0, "batch times context is too large");
    s->rows = ft__build_failed(s->b) ? 1 : s->batch * s->tokens;
}

/* What one rank has of the layers: heads and columns, of keys and values at least one
 * head. */
static void divide(struct llm_step *s)
{
    const struct {
        int64_t *part;
        const char *what;
    } parts[] = {{&s->m.heads, "heads"},
                 {&s->m.ffn, "features of the feed-forward layers"},
                 {&s->m.dense_ffn, "features of the feed-forward layers"},
                 {&s->m.shared_ffn, "features of the shared experts"}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (*parts[i].part % s->ranks)
            ft__build_fail(s->b, FT_EINVAL, 0,
                           "--dim tp=%" PRId64 ": does not divide the %" PRId64 " %s",
                           s->ranks, *parts[i].part, parts[i].what);
        *parts[i].part /= s->ranks;
    }
    if (s->ranks % s->expert_ranks || s->m.experts % s->expert_ranks)
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "--dim ep=%" PRId64 ": does not divide tp=%" PRId64
                       " and the %" PRId64 " experts",
                       s->expert_ranks, s->ranks, s->m.experts);
    s->m.kv_heads = (s->m.kv_heads + s->ranks - 1) / s->ranks;
    s->m.vocab = (s->m.vocab + s->ranks - 1) / s->ranks;
}

static void say_assumed(struct llm_step *s)
{
    const ft__llm *m = &s->m;

    ft__build_assume(
        s->b,
        "one step: tokens=%" PRId64 " new of each sequence, context=%" PRId64
        " in the cache, batch %" PRId64 " (--dim tokens=N, --dim context=N, --batch N)",
        s->tokens, s->context, s->batch);
    if (s->ranks > 1)
        ft__build_assume(s->b, "one of %" PRId64 " ranks of tensor parallelism",
                         s->ranks);
    if (m->like_llama)
        ft__build_assume(s->b, "layers like Llama's: model_type \"%s\" is not known",
                         m->type);
}

ft_status ft__import_llm(ft_graph **out, const char *text, size_t len, const char *name,
                         const ft_import_options *opt, ft_error *err)
{
    struct llm_step s = {0};
    ft_error inner = {0};
    uint32_t x;
    ft_status st = ft__llm_read(&s.m, text, len, name, err);

    *out = NULL;
    if (st)
        return st;
    s.b = ft__build_new(name);
    if (!s.b)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    s.type = ft_dtype_name(s.m.dtype);
    take_options(&s, opt);
    say_assumed(&s);
    if (!ft__build_failed(s.b))
        divide(&s);
    x = embed(&s);
    for (int64_t i = 0; i < s.m.layers && !ft__build_failed(s.b); i++)
        x = layer_of(&s, x, i);
    head(&s, x);
    st = ft__build_finish_take(out, s.b, &inner);
    return st ? ft_fail(err, st, inner.pos, "%s: %.400s", name, inner.msg) : FT_OK;
}
