/* config.json: fields by their names in the models of Hugging Face. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "import/llm/read.h"

/* Larger values are of no model that runs anywhere. */
static const int64_t most = 100000000;

static const struct config_number {
    const char *key;
    size_t at;
} numbers[] = {
    {"hidden_size", offsetof(ft__llm, hidden)},
    {"n_embd", offsetof(ft__llm, hidden)},
    {"d_model", offsetof(ft__llm, hidden)},
    {"num_hidden_layers", offsetof(ft__llm, layers)},
    {"n_layer", offsetof(ft__llm, layers)},
    {"num_layers", offsetof(ft__llm, layers)},
    {"vocab_size", offsetof(ft__llm, vocab)},
    {"num_attention_heads", offsetof(ft__llm, heads)},
    {"n_head", offsetof(ft__llm, heads)},
    {"num_key_value_heads", offsetof(ft__llm, kv_heads)},
    {"num_kv_heads", offsetof(ft__llm, kv_heads)},
    {"head_dim", offsetof(ft__llm, head)},
    {"attention_head_dim", offsetof(ft__llm, head)},
    {"swa_num_attention_heads", offsetof(ft__llm, window_heads)},
    {"swa_num_key_value_heads", offsetof(ft__llm, window_kv_heads)},
    {"swa_head_dim", offsetof(ft__llm, window_head)},
    {"swa_v_head_dim", offsetof(ft__llm, window_v_head)},
    {"num_global_key_value_heads", offsetof(ft__llm, full_kv_heads)},
    {"global_head_dim", offsetof(ft__llm, full_head)},
    {"intermediate_size", offsetof(ft__llm, ffn)},
    {"ffn_dim", offsetof(ft__llm, ffn)},
    {"n_inner", offsetof(ft__llm, ffn)},
    {"intermediate_size_mlp", offsetof(ft__llm, dense_ffn)},
    {"dense_intermediate_size", offsetof(ft__llm, dense_ffn)},
    {"num_experts", offsetof(ft__llm, experts)},
    {"num_local_experts", offsetof(ft__llm, experts)},
    {"n_routed_experts", offsetof(ft__llm, experts)},
    {"moe_num_experts", offsetof(ft__llm, experts)},
    {"num_experts_per_tok", offsetof(ft__llm, topk)},
    {"num_experts_per_token", offsetof(ft__llm, topk)},
    {"experts_per_token", offsetof(ft__llm, topk)},
    {"top_k_experts", offsetof(ft__llm, topk)},
    {"moe_topk", offsetof(ft__llm, topk)},
    {"moe_k", offsetof(ft__llm, topk)},
    {"moe_intermediate_size", offsetof(ft__llm, expert_ffn)},
    {"expert_intermediate_size", offsetof(ft__llm, expert_ffn)},
    {"n_shared_experts", offsetof(ft__llm, shared)},
    {"num_shared_experts", offsetof(ft__llm, shared)},
    {"num_shared_expert", offsetof(ft__llm, shared)},
    {"moe_num_shared_experts", offsetof(ft__llm, shared)},
    {"shared_expert_intermediate_size", offsetof(ft__llm, shared_ffn)},
    {"moe_shared_expert_intermediate_size", offsetof(ft__llm, shared_ffn)},
    {"shared_intermediate_size", offsetof(ft__llm, shared_ffn)},
    {"share_expert_dim", offsetof(ft__llm, shared_ffn)},
    {"moe_latent_size", offsetof(ft__llm, expert_in)},
    {"routed_expert_hidden_size", offsetof(ft__llm, expert_in)},
    {"first_k_dense_replace", offsetof(ft__llm, dense_first)},
    {"moe_layer_start_index", offsetof(ft__llm, dense_first)},
    {"decoder_sparse_step", offsetof(ft__llm, moe_every)},
    {"interleave_moe_layer_step", offsetof(ft__llm, moe_every)},
    {"moe_layer_interval", offsetof(ft__llm, moe_every)},
    {"moe_layer_frequency", offsetof(ft__llm, moe_every)},
    {"full_attention_interval", offsetof(ft__llm, full_every)},
    {"expert_layer_period", offsetof(ft__llm, moe_every)},
    {"attn_layer_period", offsetof(ft__llm, attention_period)},
    {"attn_layer_offset", offsetof(ft__llm, attention_offset)},
    {"expert_layer_offset", offsetof(ft__llm, expert_offset)},
    {"kv_lora_rank", offsetof(ft__llm, kv_rank)},
    {"q_lora_rank", offsetof(ft__llm, q_rank)},
    {"qk_rope_head_dim", offsetof(ft__llm, rope_head)},
    {"qk_nope_head_dim", offsetof(ft__llm, nope_head)},
    {"v_head_dim", offsetof(ft__llm, v_head)},
    {"o_lora_rank", offsetof(ft__llm, o_rank)},
    {"o_groups", offsetof(ft__llm, o_groups)},
    {"hc_mult", offsetof(ft__llm, streams)},
    {"index_topk", offsetof(ft__llm, index_topk)},
    {"index_n_heads", offsetof(ft__llm, index_heads)},
    {"index_head_dim", offsetof(ft__llm, index_head)},
    {"sliding_window", offsetof(ft__llm, window)},
    {"sliding_window_pattern", offsetof(ft__llm, window_pattern)},
    {"max_position_embeddings", offsetof(ft__llm, positions)},
    {"n_positions", offsetof(ft__llm, positions)},
    {"linear_num_key_heads", offsetof(ft__llm, linear_heads)},
    {"linear_num_value_heads", offsetof(ft__llm, linear_v_heads)},
    {"linear_key_head_dim", offsetof(ft__llm, linear_head)},
    {"linear_value_head_dim", offsetof(ft__llm, linear_v_head)},
    {"linear_conv_kernel_dim", offsetof(ft__llm, conv)},
    {"conv_kernel", offsetof(ft__llm, conv)},
    {"mamba_d_conv", offsetof(ft__llm, conv)},
    {"mamba_num_heads", offsetof(ft__llm, mamba_heads)},
    {"mamba_n_heads", offsetof(ft__llm, mamba_heads)},
    {"mamba_head_dim", offsetof(ft__llm, mamba_head)},
    {"mamba_d_head", offsetof(ft__llm, mamba_head)},
    {"ssm_state_size", offsetof(ft__llm, mamba_state)},
    {"mamba_d_state", offsetof(ft__llm, mamba_state)},
    {"state_size", offsetof(ft__llm, mamba_state)},
    {"n_groups", offsetof(ft__llm, mamba_groups)},
    {"mamba_n_groups", offsetof(ft__llm, mamba_groups)},
    {"mamba_dt_rank", offsetof(ft__llm, mamba_rank)},
    {"time_step_rank", offsetof(ft__llm, mamba_rank)},
    {"mamba_expand", offsetof(ft__llm, mamba_expand)},
    {"expand", offsetof(ft__llm, mamba_expand)},
    {"num_nextn_predict_layers", offsetof(ft__llm, drafts)},
    {"mtp_num_hidden_layers", offsetof(ft__llm, drafts)},
    {"tie_word_embeddings", offsetof(ft__llm, tied)},
    {"attention_bias", offsetof(ft__llm, attention_bias)},
    {"mlp_bias", offsetof(ft__llm, mlp_bias)},
    {"use_sliding_window", offsetof(ft__llm, use_window)},
    {"use_qk_norm", offsetof(ft__llm, qk_norm)},
    {"multi_query", offsetof(ft__llm, multi_query)},
    {"attn_output_gate", offsetof(ft__llm, out_gate)},
    {"mla_use_output_gate", offsetof(ft__llm, out_gate)},
    {"attention_k_eq_v", offsetof(ft__llm, k_is_v)},
    {"enable_moe_block", offsetof(ft__llm, parallel_experts)},
    {"residual_moe", offsetof(ft__llm, parallel_experts)},
    {"parallel_attn_mlp_res", offsetof(ft__llm, parallel_experts)},
};

const ft__llm ft__llm_unsaid = {.tied = -1,
                                .attention_bias = -1,
                                .mlp_bias = -1,
                                .use_window = -1,
                                .qk_norm = -1,
                                .multi_query = -1,
                                .out_gate = -1,
                                .k_is_v = -1,
                                .parallel_experts = -1};

bool ft__llm_holds(ft__text s, const char *what)
{
    const size_t n = strlen(what);

    for (size_t i = 0; i + n <= s.n; i++)
        if (memcmp(s.s + i, what, n) == 0)
            return true;
    return false;
}

void ft__llm_refuse(ft__llm_reader *r, const char *why, const char *key)
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

static void take_number(ft__llm_reader *r, ft__json *j, const char *key, int64_t *to)
{
    const char next = ft__json_peek(j);
    int64_t value;
    ft__text skipped;
    bool yes;

    if (next == 't' || next == 'f') {
        if (ft__json_bool(j, &yes))
            *to = yes;
    } else if (next == '0') {
        if (ft__json_int(j, &value))
            *to = value;
        if (*to < 0 || *to > most)
            ft__llm_refuse(r, "is no size", key);
    } else {
        ft__json_skip(j, &skipped);
    }
}

/* One value for all layers, as a list; positions are nothing of layers. */
static void take_alike(ft__llm_reader *r, ft__json *j, const char *key, int64_t *to)
{
    int64_t value = -1;
    bool alike = true;

    ft__json_array(j);
    while (ft__json_element(j)) {
        int64_t one = -1;

        take_number(r, j, key, &one);
        alike = alike && one >= 0 && (value < 0 || one == value);
        value = one;
    }
    if (!alike && to != &r->m->positions)
        ft__llm_refuse(r, "differs from layer to layer, which is not known", key);
    else if (alike && value >= 0)
        *to = value;
}

static ft_dtype dtype_called(ft__text s)
{
    return FT__IS(s, "bfloat16")  ? FT_DTYPE_bf16
           : FT__IS(s, "float16") ? FT_DTYPE_fp16
           : FT__IS(s, "float32") ? FT_DTYPE_fp32
                                  : FT_DTYPE_NONE;
}

static void take_dtype(ft__json *j, ft_dtype *to)
{
    ft__text s;

    if (ft__json_peek(j) != '"')
        ft__json_skip(j, &s);
    else if (ft__json_string(j, &s) && dtype_called(s))
        *to = dtype_called(s);
}

struct part_number {
    const char *key;
    int64_t *to;
};

/* Reads the first number of a list, or its length. */
static void take_list(ft__json *j, int64_t *to, bool count)
{
    int64_t n = 0;
    ft__text skipped;

    ft__json_array(j);
    while (ft__json_element(j)) {
        if (n++ || count || ft__json_peek(j) != '0')
            ft__json_skip(j, &skipped);
        else
            ft__json_int(j, to);
    }
    *to = count ? n : *to < 0 || *to > most ? 0 : *to;
}

/* Reads these numbers of an object. */
static void take_part(ft__llm_reader *r, ft__json *j, const struct part_number *fields,
                      size_t n)
{
    ft__text name, skipped;

    if (ft__json_peek(j) != '{') {
        ft__json_skip(j, &skipped);
        return;
    }
    ft__json_object(j);
    while (ft__json_member(j, &name)) {
        size_t i = 0;

        while (i < n && !is_called(name, fields[i].key))
            i++;
        if (i < n && ft__json_peek(j) == '[')
            take_list(j, fields[i].to, FT__IS(name, "deepstack_visual_indexes"));
        else if (i < n)
            take_number(r, j, fields[i].key, fields[i].to);
        else if (!ft__llm_take_layers(r, j, name))
            ft__json_skip(j, &skipped);
    }
}
#define TAKE_PART(r, j, fields)                                                        \
    take_part(r, j, fields, sizeof(fields) / sizeof(*(fields)))

static void take_vision(ft__llm_reader *r, ft__json *j)
{
    ft__llm_vision *v = &r->m->vision;
    const struct part_number fields[] = {
        {"hidden_size", &v->hidden},
        {"vt_hidden_size", &v->hidden},
        {"depth", &v->layers},
        {"num_hidden_layers", &v->layers},
        {"vt_num_hidden_layers", &v->layers},
        {"intermediate_size", &v->ffn},
        {"vt_intermediate_size", &v->ffn},
        {"qkv_hidden_size", &v->attention},
        {"patch_size", &v->patch},
        {"in_channels", &v->channels},
        {"num_channels", &v->channels},
        {"temporal_patch_size", &v->frames},
        {"num_position_embeddings", &v->positions},
        {"position_embedding_size", &v->positions},
        {"out_hidden_size", &v->out},
        {"text_hidden_size", &v->out},
        {"spatial_merge_size", &v->merge},
        {"merge_kernel_size", &v->merge},
        {"deepstack_visual_indexes", &v->taps},
    };

    TAKE_PART(r, j, fields);
}

static void take_linear(ft__llm_reader *r, ft__json *j)
{
    ft__llm *m = r->m;
    int64_t full_gate = 0;
    const struct part_number fields[] = {
        {"num_heads", &m->linear_heads},
        {"head_dim", &m->linear_head},
        {"short_conv_kernel_size", &m->conv},
        {"use_full_rank_gate", &full_gate},
    };

    m->linear = FT__LLM_KDA;
    TAKE_PART(r, j, fields);
    m->full_gate = full_gate == 1;
}

/* Blocks of keys that an indexer picks. */
static void take_sparse(ft__llm_reader *r, ft__json *j)
{
    ft__llm *m = r->m;
    int64_t block = 0, picked = 0;
    const struct part_number fields[] = {
        {"sparse_block_size", &block},
        {"sparse_topk_blocks", &picked},
        {"sparse_num_index_heads", &m->index_heads},
        {"sparse_index_dim", &m->index_head},
    };

    TAKE_PART(r, j, fields);
    if (block > 0 && picked > 0 && block <= most / picked)
        m->index_topk = block * picked;
}

static void take_object(ft__llm_reader *r, ft__json *j, int depth);

static void take_type(ft__llm *m, ft__json *j)
{
    ft__text s;
    size_t n;

    if (ft__json_peek(j) != '"')
        ft__json_skip(j, &s);
    else if (ft__json_string(j, &s) &&
             ft__json_unescape(s, m->type, sizeof(m->type) - 1, &n))
        m->type[n] = 0;
}

static void take_classes(ft__llm *m, ft__json *j)
{
    ft__text s;

    ft__json_array(j);
    while (ft__json_element(j))
        if (ft__json_peek(j) != '"')
            ft__json_skip(j, &s);
        else if (ft__json_string(j, &s))
            m->masked |= FT__IS(s, "NewModel") || /* gte's, of model_type "new" */
                         ft__llm_holds(s, "ForMaskedLM") ||
                         ft__llm_holds(s, "ForSequenceClassification");
}

/* Experts may have numbers of their own. */
static void take_expert_dtype(ft__llm *m, ft__json *j)
{
    ft__text s;

    if (ft__json_peek(j) != '"')
        ft__json_skip(j, &s);
    else if (ft__json_string(j, &s) && FT__IS(s, "fp4"))
        m->fp4_experts = true;
}

/* Parts of models that no step is made of: there where the field is a number above 0,
 * true, or a list with something in it. */
static void refuse_unknown(ft__llm_reader *r, ft__json j, ft__text name)
{
    static const char *const unknown[] = {
        "num_kv_shared_layers", "hidden_size_per_layer_input", "cross_attention_layers",
        "is_encoder_decoder", "zero_expert_num"};
    const char next = ft__json_peek(&j);
    int64_t value = 0;
    bool yes = false;

    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
        if (!is_called(name, unknown[i]))
            continue;
        if (next == '0')
            ft__json_int(&j, &value);
        else if (next == 't' || next == 'f')
            ft__json_bool(&j, &yes);
        else if (next == '[' && ft__json_array(&j))
            yes = ft__json_element(&j);
        if (value > 0 || yes)
            ft__llm_refuse(r, "is of a model that is not known", unknown[i]);
    }
}

static void take_member(ft__llm_reader *r, ft__json *j, ft__text name, int depth)
{
    double share;
    ft__text s;

    refuse_unknown(r, *j, name);

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (is_called(name, numbers[i].key)) {
            (ft__json_peek(j) == '[' ? take_alike : take_number)(
                r, j, numbers[i].key, (int64_t *)((char *)r->m + numbers[i].at));
            return;
        }
    if (FT__IS(name, "text_config") || FT__IS(name, "llm_config") ||
        FT__IS(name, "language_config"))
        take_object(r, j, depth + 1);
    else if ((FT__IS(name, "attn_pdrop") || FT__IS(name, "attention_dropout")) &&
             ft__json_peek(j) == '0')
        r->m->dropout |= ft__json_number(j, &share) && share > 0;
    else if (FT__IS(name, "quantization_config"))
        ft__llm_take_quant(r, j);
    else if (FT__IS(name, "vision_config"))
        take_vision(r, j);
    else if (FT__IS(name, "linear_attn_config"))
        take_linear(r, j);
    else if (FT__IS(name, "sparse_attention_config"))
        take_sparse(r, j);
    else if (FT__IS(name, "torch_dtype") || FT__IS(name, "dtype"))
        take_dtype(j, &r->m->dtype);
    else if (FT__IS(name, "mamba_ssm_cache_dtype") || FT__IS(name, "mamba_ssm_dtype"))
        take_dtype(j, &r->m->state);
    else if (FT__IS(name, "architectures") && ft__json_peek(j) == '[')
        take_classes(r->m, j);
    else if (FT__IS(name, "model_type"))
        take_type(r->m, j);
    else if (FT__IS(name, "moe_layer_end_index") && ft__json_peek(j) == '0')
        ft__json_int(j, &r->m->moe_last);
    else if (FT__IS(name, "expert_dtype"))
        take_expert_dtype(r->m, j);
    else if (!ft__llm_take_layers(r, j, name))
        ft__json_skip(j, &s);
}

static void take_object(ft__llm_reader *r, ft__json *j, int depth)
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

/* metadata.total_size, which stands before the long list of tensors. */
static void take_index(ft__llm_reader *r, ft__json *j)
{
    double bytes;
    ft__text name, inner, skipped;

    if (ft__json_peek(j) != '{' || !ft__json_object(j) || !ft__json_member(j, &name))
        return;
    if (!FT__IS(name, "metadata") || ft__json_peek(j) != '{')
        return;
    ft__json_object(j);
    while (ft__json_member(j, &inner))
        if (!FT__IS(inner, "total_size") || ft__json_peek(j) != '0')
            ft__json_skip(j, &skipped);
        else if (ft__json_number(j, &bytes) && bytes > 0)
            r->m->checkpoint_bytes = bytes;
}

/* A file by its reader; file: its name where it lies beside. */
static ft_status read_one(ft__llm_reader *r, const char *text, size_t len,
                          void (*take)(ft__llm_reader *, ft__json *), const char *name,
                          const char *file, ft_error *err)
{
    const size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    ft__json_doc doc = {.base = text, .len = len};
    ft__json j = ft__json_open(&doc, (ft__text){text + mark, len - mark});

    take(r, &j);
    if (take != take_index)
        ft__json_done(&j);
    if (doc.why)
        return ft_fail(err, FT_EFORMAT, doc.pos, "%s: byte %zu%s: %s", name, doc.pos,
                       file, doc.why);
    if (r->why)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "%s: \"%s\" %s", name, r->key, r->why);
    return FT_OK;
}

static void take_whole(ft__llm_reader *r, ft__json *j)
{
    take_object(r, j, 0);
}

static bool has(const ft__llm *m, ft__llm_mixer a, ft__llm_mixer b)
{
    for (int64_t i = 0; i < m->layers && i < FT__LLM_LAYERS; i++)
        if (m->layer[i].mixer == a || m->layer[i].mixer == b)
            return true;
    return false;
}

static const char *missing_of_attention(const ft__llm *m)
{
    if (!m->heads)
        return "num_attention_heads";
    if (m->kv_rank && !(m->v_head && m->nope_head && m->rope_head))
        return "v_head_dim\", \"qk_nope_head_dim\" or \"qk_rope_head_dim";
    if (m->index_topk && !(m->index_heads && m->index_head))
        return "index_n_heads\" or \"index_head_dim";
    if (m->index_topk && m->kv_rank && !m->q_rank)
        return "q_lora_rank";
    if (m->o_rank && !(m->o_groups && m->q_rank && m->heads % m->o_groups == 0))
        return "o_groups\" or \"q_lora_rank";
    return !m->head && !m->kv_rank ? "head_dim" : NULL;
}

static const char *missing(const ft__llm *m)
{
    const bool mamba = has(m, FT__LLM_MAMBA, FT__LLM_MAMBA1);

    if (!m->hidden || !m->layers || !m->vocab)
        return !m->hidden   ? "hidden_size"
               : !m->layers ? "num_hidden_layers"
                            : "vocab_size";
    if (m->experts && (!m->topk || m->topk > m->experts))
        return "num_experts_per_tok";
    if (has(m, FT__LLM_LINEAR, FT__LLM_LINEAR) && !(m->linear_heads && m->linear_head))
        return "linear_num_key_heads\" or \"linear_key_head_dim";
    if (mamba && !m->mamba_state)
        return "ssm_state_size";
    if (has(m, FT__LLM_MAMBA, FT__LLM_MAMBA) && !(m->mamba_heads && m->mamba_head))
        return "mamba_num_heads\" or \"mamba_head_dim";
    return has(m, FT__LLM_ATTENTION, FT__LLM_WINDOW) ? missing_of_attention(m) : NULL;
}

/* The first field that belongs to a type of layer that the model lacks. */
static const char *unused(const ft__llm *m)
{
    if (m->said_mixers)
        return NULL;
    if (m->mamba_state && !has(m, FT__LLM_MAMBA, FT__LLM_MAMBA1))
        return "ssm_state_size";
    return m->linear_heads && m->linear != FT__LLM_LIGHTNING &&
                   !has(m, FT__LLM_LINEAR, FT__LLM_LINEAR)
               ? "linear_num_key_heads"
               : NULL;
}

/* Encoders whose layers differ from BERT's, and related decoders, by model_type
 * (Hugging Face) or architecture (ggml); other types by their "architectures". */
static bool is_unsupported(const ft__llm *m)
{
    static const char types[] =
        " albert bart bert-generation big_bird convbert deberta "
        "deberta-v2 distilbert electra ernie esm eurobert flaubert "
        "gte ibert jina-bert-v2 jina-bert-v3 longformer luke mbart "
        "megatron-bert mobilebert modern-bert modernbert "
        "modernbert-decoder mpnet mt5 neo-bert neobert nomic-bert "
        "nomic-bert-moe rembert roformer squeezebert t5 t5encoder "
        "umt5 xlm xlnet ";
    char type[sizeof(m->type) + 2];

    snprintf(type, sizeof(type), " %s ", m->type);
    return strstr(types, type) || (m->like_llama && m->masked);
}

ft_status ft__llm_check(const ft__llm *m, const char *name, ft_error *err)
{
    if (m->layers > FT__LLM_LAYERS)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "%s: %lld layers; at most %d are known",
                       name, (long long)m->layers, FT__LLM_LAYERS);
    if (is_unsupported(m))
        return ft_fail(
            err, FT_EUNSUPPORTED, 0,
            "%s: model_type \"%s\" is not known; exported (ONNX, torch.export) it is a "
            "model like others",
            name, m->type);
    if (missing(m))
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: no configuration of a language model: it lacks a number "
                       "above 0 for \"%s\"",
                       name, missing(m));
    if (m->kv_heads > 0 && m->heads % m->kv_heads)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: %lld attention heads cannot share %lld of keys and values",
                       name, (long long)m->heads, (long long)m->kv_heads);
    if (unused(m))
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: \"%s\" is of layers, but which of them is not said in a "
                       "way that is known",
                       name, unused(m));
    return FT_OK;
}

ft_status ft__llm_read(ft__llm *out, const char *text, size_t len,
                       const ft__llm_beside *beside, const char *name, ft_error *err)
{
    ft__llm_reader r = {.m = out};
    ft_status st;

    *out = ft__llm_unsaid;
    memset(r.layers.mixer, -1, sizeof(r.layers.mixer));
    memset(r.layers.ffn, -1, sizeof(r.layers.ffn));
    st = read_one(&r, text, len, take_whole, name, "", err);
    if (!st && beside && beside->quant_len)
        st = read_one(&r, beside->quant, beside->quant_len, ft__llm_take_quant, name,
                      " of hf_quant_config.json", err);
    if (!st && beside && beside->index_len)
        st = read_one(&r, beside->index, beside->index_len, take_index, name,
                      " of model.safetensors.index.json", err);
    if (st)
        return st;
    if (out->layers <= FT__LLM_LAYERS)
        ft__llm_complete(out, &r.layers);
    return ft__llm_check(out, name, err);
}
