/* config.json: fields by their names in the models of Hugging Face, and what models of
 * a type have without saying so. */
#include "import/llm/llm.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* A field of more says nothing about a model that runs anywhere. */
static const int64_t most = 100000000;

/* ---- what a type of models has ---- */

enum {
    UNGATED = 1 << 0, /* feed-forward of two products */
    LAYER_NORM = 1 << 1,
    QKV_BIAS = 1 << 2,
    O_BIAS = 1 << 3,
    MLP_BIAS = 1 << 4,
    HEAD_BIAS = 1 << 5,
    TIED = 1 << 6, /* unless it says otherwise */
    ONE_NORM = 1 << 7,
    FOUR_NORMS = 1 << 8,
    QK_NORM = 1 << 9,
    NO_ROPE = 1 << 10,
    LEARNED = 1 << 11, /* positions */
    EMBED_NORM = 1 << 12,
    BIASED = QKV_BIAS | O_BIAS | MLP_BIAS,
};

/* By the beginning of model_type; the longest that fits counts. */
static const struct model_type {
    const char *begin;
    int has;
} types[] = {
    {"bloom", UNGATED | LAYER_NORM | BIASED | TIED | NO_ROPE | EMBED_NORM},
    {"deepseek_v3", 0},
    {"falcon", UNGATED | LAYER_NORM | TIED | ONE_NORM},
    {"gemma", TIED},
    {"gemma2", TIED | FOUR_NORMS},
    {"gemma3", TIED | FOUR_NORMS | QK_NORM},
    {"gpt2", UNGATED | LAYER_NORM | BIASED | TIED | NO_ROPE | LEARNED},
    {"gpt_neox", UNGATED | LAYER_NORM | BIASED},
    {"gpt_oss", 0},
    {"glm", 0},
    {"gptj", UNGATED | LAYER_NORM | MLP_BIAS | HEAD_BIAS | ONE_NORM},
    {"internlm", QKV_BIAS | O_BIAS},
    {"kimi_k2", 0},
    {"llama", 0},
    {"llama4", QK_NORM},
    {"mimo", QKV_BIAS},
    {"minimax_m2", QK_NORM},
    {"mistral", 0},
    {"mixtral", 0},
    {"opt", UNGATED | LAYER_NORM | BIASED | TIED | NO_ROPE | LEARNED},
    {"phi3", 0},
    {"qwen2", QKV_BIAS},
    {"qwen3", QK_NORM},
};

static void know_type(ft__llm *m)
{
    size_t longest = 0;
    int has = 0;

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        const size_t n = strlen(types[i].begin);

        if (n > longest && strncmp(m->type, types[i].begin, n) == 0) {
            longest = n;
            has = types[i].has;
        }
    }
    m->like_llama = longest == 0;
    m->gated = !(has & UNGATED);
    m->norm = has & LAYER_NORM ? FT__LLM_LAYER : FT__LLM_RMS;
    m->rope = !(has & NO_ROPE);
    m->qkv_bias = has & QKV_BIAS || m->attention_bias == 1;
    m->o_bias = has & O_BIAS || m->attention_bias == 1;
    m->head_bias = has & HEAD_BIAS;
    m->one_norm = has & ONE_NORM;
    m->four_norms = has & FOUR_NORMS;
    m->learned_positions = has & LEARNED;
    m->embed_norm = has & EMBED_NORM;
    m->mlp_bias = m->mlp_bias == 1 || (m->mlp_bias < 0 && has & MLP_BIAS);
    m->tied = m->tied == 1 || (m->tied < 0 && has & TIED);
    m->qk_norm = m->qk_norm == 1 || (m->qk_norm < 0 && has & QK_NORM);
}

/* ---- fields ---- */

static const struct config_number {
    const char *key;
    size_t at;
} numbers[] = {
#define N(key, member) {#key, offsetof(ft__llm, member)},
    N(hidden_size, hidden) N(n_embd, hidden) N(d_model, hidden) N(
        num_hidden_layers, layers) N(n_layer, layers) N(num_layers, layers)
        N(vocab_size, vocab) N(num_attention_heads, heads) N(n_head, heads) N(
            num_key_value_heads, kv_heads) N(num_kv_heads, kv_heads) N(head_dim, head)
            N(intermediate_size, ffn) N(ffn_dim, ffn) N(n_inner, ffn) N(
                intermediate_size_mlp, dense_ffn) N(num_experts, experts)
                N(num_local_experts, experts) N(n_routed_experts, experts) N(
                    num_experts_per_tok, topk) N(experts_per_token, topk)
                    N(moe_intermediate_size, expert_ffn) N(n_shared_experts, shared) N(
                        shared_expert_intermediate_size,
                        shared_ffn) N(first_k_dense_replace, dense_first)
                        N(decoder_sparse_step, moe_every) N(interleave_moe_layer_step,
                                                            moe_every) N(kv_lora_rank,
                                                                         kv_rank)
                            N(q_lora_rank, q_rank) N(qk_rope_head_dim, rope_head)
                                N(qk_nope_head_dim, nope_head) N(v_head_dim, v_head) N(
                                    index_topk,
                                    index_topk) N(index_n_heads, index_heads)
                                    N(index_head_dim,
                                      index_head) N(sliding_window, window)
                                        N(sliding_window_pattern, window_pattern) N(
                                            max_position_embeddings,
                                            positions) N(n_positions, positions)
                                            N(tie_word_embeddings,
                                              tied) N(attention_bias, attention_bias)
                                                N(mlp_bias, mlp_bias)
                                                    N(use_sliding_window, use_window)
                                                        N(use_qk_norm, qk_norm)
                                                            N(multi_query, multi_query)
#undef N
};

/* Parts of models that no step is made of. */
static const char *const unknown[] = {
    "hybrid_override_pattern", "layers_block_type", "compress_ratios",
    "linear_attn_config",      "block_configs",     "linear_num_key_heads",
    "mamba_num_heads",         "ssm_state_size",
};

struct config_reader {
    ft__llm *m;
    const char *why; /* of another kind than wrong JSON; key */
    char key[48];
};

static void keep(struct config_reader *r, const char *why, const char *key)
{
    if (r->why)
        return;
    r->why = why;
    snprintf(r->key, sizeof(r->key), "%s", key);
}

static bool is_called(ft__text name, const char *key)
{
    return ft__text_is(name, key, strlen(key));
}

static void take_number(struct config_reader *r, ft__json *j,
                        const struct config_number *n)
{
    int64_t *to = (int64_t *)((char *)r->m + n->at), value;
    const char next = ft__json_peek(j);
    ft__text skipped;
    bool yes;

    if (next == 't' || next == 'f') {
        if (ft__json_bool(j, &yes))
            *to = yes;
    } else if (next == '0') {
        if (ft__json_int(j, &value))
            *to = value;
        if (*to < 0 || *to > most)
            keep(r, "is no size", n->key);
    } else {
        ft__json_skip(j, &skipped);
    }
}

static ft_dtype dtype_called(ft__text s)
{
    return FT__IS(s, "bfloat16")  ? FT_DTYPE_bf16
           : FT__IS(s, "float16") ? FT_DTYPE_fp16
           : FT__IS(s, "float32") ? FT_DTYPE_fp32
                                  : FT_DTYPE_NONE;
}

static void take_layer_types(struct config_reader *r, ft__json *j)
{
    size_t n = 0;
    ft__text s;

    if (ft__json_peek(j) != '[') {
        ft__json_skip(j, &s);
        return;
    }
    r->m->said_windows = ft__json_array(j);
    while (ft__json_element(j))
        if (ft__json_string(j, &s) && n < FT__LLM_LAYERS) {
            r->m->windowed[n] = FT__IS(s, "sliding_attention");
            if (!r->m->windowed[n] && !FT__IS(s, "full_attention") &&
                !FT__IS(s, "chunked_attention"))
                keep(r, "has layers that are not known", "layer_types");
            n++;
        }
}

static void take_dense_layers(struct config_reader *r, ft__json *j)
{
    int64_t layer;
    ft__text s;

    if (ft__json_peek(j) != '[') {
        ft__json_skip(j, &s);
        return;
    }
    ft__json_array(j);
    while (ft__json_element(j))
        if (ft__json_int(j, &layer) && layer >= 0 && layer < FT__LLM_LAYERS)
            r->m->dense[layer] = true;
}

/* ---- quantization_config ---- */

struct quant_scheme {
    ft__text method, type, algorithm;
    int64_t bits, group, activation_bits;
};

static void take_scheme(struct quant_scheme *s, ft__json *j, bool activations,
                        int depth)
{
    ft__text name, skipped;

    if (ft__json_peek(j) != '{' || depth > 4) {
        ft__json_skip(j, &skipped);
        return;
    }
    ft__json_object(j);
    while (ft__json_member(j, &name)) {
        const char next = ft__json_peek(j);

        if (FT__IS(name, "quant_method") && next == '"')
            ft__json_string(j, &s->method);
        else if (FT__IS(name, "quant_algo") && next == '"')
            ft__json_string(j, &s->algorithm);
        else if (FT__IS(name, "type") && next == '"' && !activations)
            ft__json_string(j, &s->type);
        else if ((FT__IS(name, "bits") || FT__IS(name, "num_bits")) && next == '0')
            ft__json_int(j, activations ? &s->activation_bits : &s->bits);
        else if (FT__IS(name, "group_size") && next == '0' && !activations)
            ft__json_int(j, &s->group);
        else if (FT__IS(name, "weight_block_size") && next == '[' &&
                 ft__json_array(j) && ft__json_element(j)) {
            ft__json_int(j, &s->group);
            while (ft__json_element(j))
                ft__json_skip(j, &skipped);
        } else if (FT__IS(name, "config_groups") || FT__IS(name, "group_0") ||
                   FT__IS(name, "weights"))
            take_scheme(s, j, activations, depth + 1);
        else if (FT__IS(name, "input_activations"))
            take_scheme(s, j, true, depth + 1);
        else
            ft__json_skip(j, &skipped);
    }
}

static void take_quantization(struct config_reader *r, ft__json *j)
{
    struct quant_scheme s = {0};
    ft__llm_quant *q = &r->m->quant;

    if (ft__json_peek(j) != '{') {
        ft__json_skip(j, &s.method);
        return;
    }
    take_scheme(&s, j, false, 0);
    if (s.group < 0 || s.group > most)
        s.group = 0;
    if (FT__IS(s.method, "fp8") || FT__IS(s.method, "fbgemm_fp8"))
        *q = (ft__llm_quant){FT_DTYPE_fp8e4m3, s.group, true, false};
    else if (FT__IS(s.method, "mxfp4"))
        *q = (ft__llm_quant){FT_DTYPE_fp4, 32, false, true};
    else if (s.bits == 8 && FT__IS(s.type, "float"))
        *q = (ft__llm_quant){FT_DTYPE_fp8e4m3, s.group, s.activation_bits == 8, false};
    else if (s.bits == 4 && FT__IS(s.type, "float"))
        *q = (ft__llm_quant){FT_DTYPE_fp4, s.group ? s.group : 16,
                             s.activation_bits == 4, false};
    else if (s.bits == 4)
        *q = (ft__llm_quant){FT_DTYPE_int4, s.group ? s.group : 128, false, false};
    else if (s.bits == 8)
        *q = (ft__llm_quant){FT_DTYPE_int8, s.group, s.activation_bits == 8, false};
    else
        keep(r, "is of a method that is not known", "quantization_config");
}

/* ---- the file ---- */

static void take_object(struct config_reader *r, ft__json *j, int depth);

static void take_member(struct config_reader *r, ft__json *j, ft__text name, int depth)
{
    const char next = ft__json_peek(j);
    ft__text s;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (is_called(name, numbers[i].key)) {
            take_number(r, j, &numbers[i]);
            return;
        }
    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        if (is_called(name, unknown[i]) && next != 'n')
            keep(r, "is of a model that is not known", unknown[i]);
    if (FT__IS(name, "text_config") || FT__IS(name, "llm_config") ||
        FT__IS(name, "language_config")) {
        take_object(r, j, depth + 1);
    } else if (FT__IS(name, "quantization_config")) {
        take_quantization(r, j);
    } else if (FT__IS(name, "layer_types")) {
        take_layer_types(r, j);
    } else if (FT__IS(name, "mlp_only_layers")) {
        take_dense_layers(r, j);
    } else if ((FT__IS(name, "torch_dtype") || FT__IS(name, "dtype")) && next == '"') {
        if (ft__json_string(j, &s) && dtype_called(s))
            r->m->dtype = dtype_called(s);
    } else if (FT__IS(name, "model_type") && next == '"') {
        size_t n;

        if (ft__json_string(j, &s) &&
            ft__json_unescape(s, r->m->type, sizeof(r->m->type) - 1, &n))
            r->m->type[n] = 0;
    } else {
        ft__json_skip(j, &s);
    }
}

static void take_object(struct config_reader *r, ft__json *j, int depth)
{
    ft__text name, skipped;

    if (ft__json_peek(j) != '{' || depth > 1) {
        ft__json_skip(j, &skipped);
        return;
    }
    ft__json_object(j);
    while (ft__json_member(j, &name))
        take_member(r, j, name, depth);
}

static const char *missing(const ft__llm *m)
{
    if (!m->hidden || !m->layers || !m->heads || !m->vocab)
        return !m->hidden   ? "hidden_size"
               : !m->layers ? "num_hidden_layers"
               : !m->heads  ? "num_attention_heads"
                            : "vocab_size";
    if (m->experts && !m->topk)
        return "num_experts_per_tok";
    if (m->kv_rank && !(m->v_head && m->nope_head && m->rope_head))
        return "v_head_dim\", \"qk_nope_head_dim\" or \"qk_rope_head_dim";
    if (m->index_topk && !(m->kv_rank && m->q_rank && m->index_heads && m->index_head))
        return "q_lora_rank\", \"kv_lora_rank\", \"index_n_heads\" or \"index_head_dim";
    return !m->head && !m->kv_rank && m->hidden % m->heads ? "head_dim" : NULL;
}

/* What follows from the rest where it is not said. */
static void complete(ft__llm *m)
{
    know_type(m);
    m->dtype = m->dtype ? m->dtype : FT_DTYPE_bf16;
    m->head = m->head ? m->head : m->hidden / m->heads;
    if (m->multi_query == 1 && !m->kv_heads)
        m->kv_heads = 1;
    m->kv_heads = m->kv_heads ? m->kv_heads : m->heads;
    m->ffn = m->ffn ? m->ffn : 4 * m->hidden;
    m->dense_ffn = m->dense_ffn ? m->dense_ffn : m->ffn;
    m->expert_ffn = m->expert_ffn ? m->expert_ffn : m->ffn;
    if (strncmp(m->type, "llama4", 6) == 0)
        m->shared = 1;
    m->shared_ffn = m->shared_ffn ? m->shared_ffn : m->shared * m->expert_ffn;
    for (int64_t i = 0; i < m->layers; i++) {
        if (!m->said_windows)
            m->windowed[i] = m->window && m->use_window != 0 &&
                             (m->window_pattern < 2 || (i + 1) % m->window_pattern);
        if (i < m->dense_first || (m->moe_every > 1 && (i + 1) % m->moe_every))
            m->dense[i] = true;
    }
}

ft_status ft__llm_read(ft__llm *out, const char *text, size_t len, const char *name,
                       ft_error *err)
{
    ft__json_doc doc = {.base = text, .len = len};
    ft__json j = ft__json_open(&doc, (ft__text){text, len});
    struct config_reader r = {.m = out};

    *out = (ft__llm){.tied = -1,
                     .attention_bias = -1,
                     .mlp_bias = -1,
                     .use_window = -1,
                     .qk_norm = -1,
                     .multi_query = -1};
    take_object(&r, &j, 0);
    ft__json_done(&j);
    if (doc.why)
        return ft_fail(err, FT_EFORMAT, doc.pos, "%s: byte %zu: %s", name, doc.pos,
                       doc.why);
    if (r.why)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "%s: \"%s\" %s", name, r.key, r.why);
    if (missing(out))
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: no configuration of a language model: it lacks \"%s\"",
                       name, missing(out));
    if (out->layers > FT__LLM_LAYERS)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "%s: %lld layers; at most %d are known",
                       name, (long long)out->layers, FT__LLM_LAYERS);
    complete(out);
    return FT_OK;
}
