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

static uint32_t tensor_of(struct llm_step *s, ft_role role, ft_dtype t, ft_shape *shape)
{
    return ft__build_tensor(s->b, "", 0, role, t, shape);
}

/* A node with the weights that its operation has, or with `tied` in their place; its
 * first result. */
static uint32_t node_of(struct llm_step *s, const char *name, const uint32_t *in,
                        uint32_t n_in, uint32_t tied, const char *fmt, va_list ap)
{
    uint32_t out[FT_OP_MAX_OPERANDS], params[3] = {tied}, n_params = tied != FT_NONE;
    char spec[1024];
    ft_error err;
    ft_op op;

    vsnprintf(spec, sizeof(spec), fmt, ap);
    if (ft__build_failed(s->b))
        return FT_NONE;
    if (ft_op_parse(&op, spec, strlen(spec), &err)) {
        ft__build_fail(s->b, FT_EFORMAT, 0, "%s: %s", name, err.msg);
        return FT_NONE;
    }
    for (uint32_t i = 0; i < ft_op_n_outputs(&op); i++) {
        ft_shape shape;
        ft_dtype t;

        ft_op_output(&op, i, &shape, &t);
        out[i] = tensor_of(s, FT_ROLE_ACTIVATION, t, &shape);
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

FT_PRINTF(4, 5)
static uint32_t node_on(struct llm_step *s, const char *name, const uint32_t in[3],
                        const char *fmt, ...)
{
    const uint32_t n = in[2] == FT_NONE ? 2 : 3;
    va_list ap;
    uint32_t out;

    va_start(ap, fmt);
    out = node_of(s, name, in, n, FT_NONE, fmt, ap);
    va_end(ap);
    return out;
}

/* " to=bf16 block=128 dtype=fp8e4m3", " weights=int4 block=128 dtype=bf16" */
static void put_types(char out[96], const struct llm_step *s, bool experts)
{
    const ft__llm_quant *q = &s->m.quant;
    char block[32] = "";

    if (q->weights == FT_DTYPE_NONE || (q->experts && !experts)) {
        snprintf(out, 96, " dtype=%s", s->type);
        return;
    }
    if (q->block)
        snprintf(block, sizeof(block), " block=%" PRId64, q->block);
    if (q->activations)
        snprintf(out, 96, " to=%s%s dtype=%s", s->type, block,
                 ft_dtype_name(q->weights));
    else
        snprintf(out, 96, " weights=%s%s dtype=%s", ft_dtype_name(q->weights), block,
                 s->type);
}

static uint32_t linear(struct llm_step *s, const char *name, uint32_t x, int64_t rows,
                       int64_t from, int64_t to, bool bias)
{
    char types[96];

    put_types(types, s, false);
    return node(s, name, x, "linear x=%" PRId64 "x%" PRId64 " out=%" PRId64 "%s%s",
                rows, from, to, bias ? " bias=1" : "", types);
}

static uint32_t view4(struct llm_step *s, uint32_t x, int64_t from, int64_t heads,
                      int64_t size)
{
    return node(s, "", x,
                "view x=%" PRId64 "x%" PRId64 " out=%" PRId64 "x%" PRId64 "x%" PRId64
                "x%" PRId64 " dtype=%s",
                s->rows, from, s->batch, heads, s->tokens, size, s->type);
}

static uint32_t rows_of(struct llm_step *s, uint32_t x, int64_t heads, int64_t size)
{
    return node(s, "", x,
                "view x=%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 " out=%" PRId64
                "x%" PRId64 " dtype=%s",
                s->batch, heads, s->tokens, size, s->rows, heads * size, s->type);
}

/* Of the first `to` features of each row. */
static uint32_t part_of(struct llm_step *s, uint32_t x, int64_t from, int64_t to)
{
    return node(s, "", x,
                "view x=%" PRId64 "x%" PRId64 " out=%" PRId64 "x%" PRId64 " dtype=%s",
                s->rows, from, s->rows, to, s->type);
}

static uint32_t norm(struct llm_step *s, const char *name, uint32_t x, int64_t size)
{
    return node(s, name, x, "%s x=%" PRId64 "x%" PRId64 " norm=1 dtype=%s",
                s->m.norm == FT__LLM_RMS ? "rmsnorm" : "layernorm", s->rows, size,
                s->type);
}

static uint32_t add(struct llm_step *s, const char *name, uint32_t x, uint32_t y)
{
    return node_on(s, name, (uint32_t[]){x, y, FT_NONE},
                   "add x=%" PRId64 "x%" PRId64 " y=%" PRId64 "x%" PRId64 " dtype=%s",
                   s->rows, s->m.hidden, s->rows, s->m.hidden, s->type);
}

/* ---- attention ---- */

/* Tokens that a layer looks back on. */
static int64_t reach_of(const struct llm_step *s, int64_t layer)
{
    const int64_t window = s->m.windowed[layer] ? s->m.window + s->tokens - 1 : 0;

    return window > 0 && window < s->context ? window : s->context;
}

/* Keys or values of the context, which the caller holds. */
static uint32_t cache(struct llm_step *s, int64_t heads, int64_t reach, int64_t size,
                      const char *name)
{
    ft_shape shape = {.rank = 4, .dim = {s->batch, heads, reach, size}};

    return ft__build_tensor(s->b, name, strlen(name), FT_ROLE_INPUT, s->m.dtype,
                            &shape);
}

static void store(struct llm_step *s, uint32_t x, int64_t heads, int64_t size,
                  uint32_t cached)
{
    const uint32_t out =
        node(s, "cache", x,
             "copy x=%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 " dtype=%s",
             s->batch, heads, s->tokens, size, s->type);

    if (out != FT_NONE)
        ft__build_alias(s->b, out, cached);
}

static uint32_t rotary(struct llm_step *s, uint32_t x, int64_t heads, int64_t size)
{
    return node(s, "rotary_emb", x,
                "rotary x=%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 " dtype=%s",
                s->batch, heads, s->tokens, size, s->type);
}

static uint32_t head_norm(struct llm_step *s, const char *name, uint32_t x,
                          int64_t heads)
{
    return node(s, name, x,
                "rmsnorm x=%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64
                " norm=1 dtype=%s",
                s->batch, heads, s->tokens, s->m.head, s->type);
}

static uint32_t attend(struct llm_step *s, uint32_t q, uint32_t k, uint32_t v,
                       int64_t heads, int64_t kv_heads, int64_t reach, int64_t size,
                       int64_t v_size)
{
    return node_on(s, "attn", (uint32_t[]){q, k, v},
                   "attention x=%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64
                   " y=%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 " z=%" PRId64
                   "x%" PRId64 "x%" PRId64 "x%" PRId64 "%s dtype=%s",
                   s->batch, heads, s->tokens, size, s->batch, kv_heads, reach, size,
                   s->batch, kv_heads, reach, v_size, s->tokens > 1 ? " causal=1" : "",
                   s->type);
}

/* Heads of queries share keys and values in groups. */
static uint32_t grouped(struct llm_step *s, uint32_t x, int64_t layer)
{
    const ft__llm *m = &s->m;
    const int64_t all = (m->heads + 2 * m->kv_heads) * m->head,
                  reach = reach_of(s, layer);
    const uint32_t keys = cache(s, m->kv_heads, reach, m->head, "keys"),
                   values = cache(s, m->kv_heads, reach, m->head, "values");
    uint32_t qkv = linear(s, "qkv_proj", x, s->rows, m->hidden, all, m->qkv_bias);
    uint32_t q = view4(s, qkv, all, m->heads, m->head);
    uint32_t k = view4(s, qkv, all, m->kv_heads, m->head);
    uint32_t v = view4(s, qkv, all, m->kv_heads, m->head), out;

    if (m->qk_norm) {
        q = head_norm(s, "q_norm", q, m->heads);
        k = head_norm(s, "k_norm", k, m->kv_heads);
    }
    if (m->rope) {
        q = rotary(s, q, m->heads, m->head);
        k = rotary(s, k, m->kv_heads, m->head);
    }
    store(s, k, m->kv_heads, m->head, keys);
    store(s, v, m->kv_heads, m->head, values);
    out = attend(s, q, keys, values, m->heads, m->kv_heads, reach, m->head, m->head);
    out = rows_of(s, out, m->heads, m->head);
    return linear(s, "o_proj", out, s->rows, m->heads * m->head, m->hidden, m->o_bias);
}

/* A product with constants for each head: rows x from by from x to. */
static uint32_t by_head(struct llm_step *s, const char *name, uint32_t x, int64_t from,
                        int64_t to)
{
    ft_shape shape = {.rank = 3, .dim = {s->m.heads, from, to}};
    const uint32_t w = tensor_of(s, FT_ROLE_WEIGHT, s->m.dtype, &shape);

    x = node(s, "", x,
             "view x=%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 " out=%" PRId64
             "x%" PRId64 "x%" PRId64 " dtype=%s",
             s->batch, s->m.heads, s->tokens, from, s->m.heads, s->rows, from, s->type);
    x = node_on(s, name, (uint32_t[]){x, w, FT_NONE},
                "matmul x=%" PRId64 "x%" PRId64 "x%" PRId64 " y=%" PRId64 "x%" PRId64
                "x%" PRId64 " dtype=%s",
                s->m.heads, s->rows, from, s->m.heads, from, to, s->type);
    return node(s, "", x,
                "view x=%" PRId64 "x%" PRId64 "x%" PRId64 " out=%" PRId64 "x%" PRId64
                "x%" PRId64 "x%" PRId64 " dtype=%s",
                s->m.heads, s->rows, to, s->batch, s->m.heads, s->tokens, to, s->type);
}

static uint32_t view4_of(struct llm_step *s, uint32_t x, int64_t rank3, int64_t from,
                         int64_t heads, int64_t length, int64_t to)
{
    return node(s, "", x,
                "view x=%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 " out=%" PRId64
                "x%" PRId64 "x%" PRId64 "x%" PRId64 " dtype=%s",
                s->batch, rank3, length, from, s->batch, heads, length, to, s->type);
}

/* Rows of the whole context, by head. */
static uint32_t view_of_rows(struct llm_step *s, uint32_t x, int64_t reach,
                             int64_t from, int64_t size)
{
    return node(s, "", x,
                "view x=%" PRId64 "x%" PRId64 " out=%" PRId64 "x%" PRId64 "x%" PRId64
                "x%" PRId64 " dtype=%s",
                s->batch * reach, from, s->batch, s->m.heads, reach, size, s->type);
}

/* Queries in the space of the cache: the products that expand its vectors go to them.
 */
static uint32_t absorbed(struct llm_step *s, uint32_t q)
{
    const ft__llm *m = &s->m;
    const int64_t size = m->nope_head + m->rope_head;
    uint32_t part = view4_of(s, q, m->heads, size, m->heads, s->tokens, m->nope_head);
    const uint32_t turned =
        view4_of(s, q, m->heads, size, m->heads, s->tokens, m->rope_head);

    part = by_head(s, "k_b_proj", part, m->nope_head, m->kv_rank);
    return node_on(s, "", (uint32_t[]){part, turned, FT_NONE},
                   "concat x=%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64
                   " axis=3 sizes=%" PRId64 "x%" PRId64 " dtype=%s",
                   s->batch, m->heads, s->tokens, m->kv_rank, m->kv_rank, m->rope_head,
                   s->type);
}

/* Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1): the cache
 * holds one vector for all heads. A prefill expands it to keys and values. */
static uint32_t latent(struct llm_step *s, uint32_t x, int64_t layer)
{
    const ft__llm *m = &s->m;
    const int64_t size = m->nope_head + m->rope_head, held = m->kv_rank + m->rope_head;
    const int64_t down = m->q_rank ? m->q_rank : m->heads * size,
                  reach = reach_of(s, layer);
    const int64_t both = m->heads * (m->nope_head + m->v_head);
    const uint32_t cached = cache(s, 1, reach, held, "latent");
    const uint32_t low =
        linear(s, "qkv_a_proj", x, s->rows, m->hidden, down + held, false);
    uint32_t q = part_of(s, low, down + held, down), kv, out;

    if (m->q_rank) {
        q = norm(s, "q_a_norm", q, m->q_rank);
        q = linear(s, "q_b_proj", q, s->rows, m->q_rank, m->heads * size, false);
    }
    q = rotary(s, view4(s, q, m->heads * size, m->heads, size), m->heads, size);
    norm(s, "kv_a_norm", part_of(s, low, down + held, m->kv_rank), m->kv_rank);
    store(s, view4(s, low, down + held, 1, held), 1, held, cached);
    if (s->tokens == 1) {
        out = attend(s, absorbed(s, q), cached,
                     view4_of(s, cached, 1, held, 1, reach, m->kv_rank), m->heads, 1,
                     reach, held, m->kv_rank);
        out = by_head(s, "v_b_proj", out, m->kv_rank, m->v_head);
    } else {
        kv = node(s, "", cached,
                  "view x=%" PRId64 "x1x%" PRId64 "x%" PRId64 " out=%" PRId64
                  "x%" PRId64 " dtype=%s",
                  s->batch, reach, held, s->batch * reach, m->kv_rank, s->type);
        kv = linear(s, "kv_b_proj", kv, s->batch * reach, m->kv_rank, both, false);
        out = attend(s, q, view_of_rows(s, kv, reach, both, size),
                     view_of_rows(s, kv, reach, both, m->v_head), m->heads, m->heads,
                     reach, size, m->v_head);
    }
    out = rows_of(s, out, m->heads, m->v_head);
    return linear(s, "o_proj", out, s->rows, m->heads * m->v_head, m->hidden, false);
}

/* ---- feed-forward ---- */

static uint32_t pointwise(struct llm_step *s, const char *name, const char *kind,
                          uint32_t x, int64_t size)
{
    return node(s, name, x, "%s x=%" PRId64 "x%" PRId64 " dtype=%s", kind, s->rows,
                size, s->type);
}

static uint32_t dense(struct llm_step *s, uint32_t x, int64_t size)
{
    const ft__llm *m = &s->m;
    uint32_t gate;

    if (!m->gated) {
        x = linear(s, "up_proj", x, s->rows, m->hidden, size, m->mlp_bias == 1);
        x = pointwise(s, "act_fn", "gelu", x, size);
        return linear(s, "down_proj", x, s->rows, size, m->hidden, m->mlp_bias == 1);
    }
    x = linear(s, "gate_up_proj", x, s->rows, m->hidden, 2 * size, m->mlp_bias == 1);
    gate = pointwise(s, "act_fn", "silu", part_of(s, x, 2 * size, size), size);
    x = node_on(s, "mul", (uint32_t[]){gate, part_of(s, x, 2 * size, size), FT_NONE},
                "mul x=%" PRId64 "x%" PRId64 " y=%" PRId64 "x%" PRId64 " dtype=%s",
                s->rows, size, s->rows, size, s->type);
    return linear(s, "down_proj", x, s->rows, size, m->hidden, m->mlp_bias == 1);
}

static uint32_t mixture(struct llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;
    uint32_t out, scores;
    char types[96], split[64] = "";

    if (s->ranks > 1)
        snprintf(split, sizeof(split), " tp=%" PRId64 " ep=%" PRId64,
                 s->ranks / s->expert_ranks, s->expert_ranks);
    scores =
        node(s, "gate", x, "linear x=%" PRId64 "x%" PRId64 " out=%" PRId64 " dtype=%s",
             s->rows, m->hidden, m->experts, s->type);
    scores =
        node(s, "gate", scores, "softmax x=%" PRId64 "x%" PRId64 " axis=1 dtype=%s",
             s->rows, m->experts, s->type);
    node(s, "gate", scores,
         "topk x=%" PRId64 "x%" PRId64 " axis=1 size=%" PRId64 " dtype=%s", s->rows,
         m->experts, m->topk, s->type);
    put_types(types, s, true);
    out = node(s, "experts", x,
               "moe x=%" PRId64 "x%" PRId64 " hidden=%" PRId64 " experts=%" PRId64
               " topk=%" PRId64 "%s%s",
               s->rows, m->hidden, m->expert_ffn, m->experts, m->topk, split, types);
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

static void scope(struct llm_step *s, int64_t layer, const char *part)
{
    char name[64];

    snprintf(name, sizeof(name), "layers.%" PRId64 "%s%s", layer, *part ? "/" : "",
             part);
    ft__build_scope(s->b, name, strlen(name));
}

/* Each rank has a part of every sum. */
static uint32_t reduced(struct llm_step *s, uint32_t x)
{
    return s->ranks == 1
               ? x
               : node(s, "all_reduce", x,
                      "collective x=%" PRId64 "x%" PRId64 " ranks=%" PRId64 " dtype=%s",
                      s->rows, s->m.hidden, s->ranks, s->type);
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
    ft_shape ids = {.rank = 2, .dim = {s->batch, s->tokens}};
    ft_shape rows = {.rank = 2, .dim = {m->vocab, m->hidden}};
    uint32_t x = tensor_of(s, FT_ROLE_INPUT, FT_DTYPE_int64, &ids);

    s->embedding = tensor_of(s, FT_ROLE_WEIGHT, m->dtype, &rows);
    x = node(s, "", x, "view x=%" PRId64 "x%" PRId64 " out=%" PRId64 " dtype=int64",
             s->batch, s->tokens, s->rows);
    x = node_with(s, "embed_tokens", x, s->embedding,
                  "embedding x=%" PRId64 " rows=%" PRId64 " dim=%" PRId64 " dtype=%s",
                  s->rows, m->vocab, m->hidden, s->type);
    if (m->embed_norm)
        x = norm(s, "embed_norm", x, m->hidden);
    if (m->learned_positions) {
        ft_shape places = {.rank = 2, .dim = {m->positions, m->hidden}};
        const uint32_t table = tensor_of(s, FT_ROLE_WEIGHT, m->dtype, &places);

        x = add(s, "embed_positions", x,
                node(s, "", table,
                     "view x=%" PRId64 "x%" PRId64 " out=%" PRId64 "x%" PRId64
                     " dtype=%s",
                     m->positions, m->hidden, s->rows, m->hidden, s->type));
    }
    return x;
}

/* Of the last token of each sequence. */
static void head(struct llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;

    ft__build_scope(s->b, "", 0);
    x = norm(s, "norm", x, m->hidden);
    x = node(s, "", x,
             "view x=%" PRId64 "x%" PRId64 " out=%" PRId64 "x%" PRId64 " dtype=%s",
             s->rows, m->hidden, s->batch, m->hidden, s->type);
    x = node_with(s, "lm_head", x, m->tied ? s->embedding : FT_NONE,
                  "linear x=%" PRId64 "x%" PRId64 " out=%" PRId64 "%s dtype=%s",
                  s->batch, m->hidden, m->vocab, m->head_bias ? " bias=1" : "",
                  s->type);
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
