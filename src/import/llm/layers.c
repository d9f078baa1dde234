/* What single layers are: lists of configurations, and what follows where they say
 * nothing. */
#include <string.h>

#include "import/llm/read.h"

struct word {
    const char *word;
    int8_t is;
};

static const struct word mixers[] = {
    {"full_attention", FT__LLM_ATTENTION},
    {"chunked_attention", FT__LLM_ATTENTION},
    {"attention", FT__LLM_ATTENTION},
    {"deepseek_sparse_attention", FT__LLM_ATTENTION},
    {"sliding_attention", FT__LLM_WINDOW},
    {"linear_attention", FT__LLM_LINEAR},
    {"mamba", FT__LLM_MAMBA},
};
static const struct word halves[] = {
    {"dense", FT__LLM_DENSE},
    {"sparse", FT__LLM_EXPERTS},
    {"mlp", FT__LLM_DENSE},
    {"moe", FT__LLM_EXPERTS},
};

static int8_t found(const struct word *words, size_t n, ft__text s)
{
    for (size_t i = 0; i < n; i++)
        if (ft__text_is(s, words[i].word, strlen(words[i].word)))
            return words[i].is;
    return -1;
}
#define FOUND(words, s) found(words, sizeof(words) / sizeof(*(words)), s)

/* "mamba", "moe": with either of the latter a layer is one half alone. */
static void take_word(ft__llm_reader *r, ft__text s, size_t layer, const char *key)
{
    ft__llm_layers *l = &r->layers;
    const int8_t mixer = FOUND(mixers, s), ffn = FOUND(halves, s);

    if (mixer < 0 && ffn < 0) {
        ft__llm_refuse(r, "has layers that are not known", key);
        return;
    }
    if (ffn >= 0 && key[0] == 'l')
        l->alone = true;
    if (mixer >= 0)
        l->mixer[layer] = mixer;
    if (ffn >= 0) {
        l->ffn[layer] = ffn;
        if (l->alone)
            l->mixer[layer] = FT__LLM_NO_MIXER;
    }
}

static void take_words(ft__llm_reader *r, ft__json *j, const char *key)
{
    size_t n = 0;
    ft__text s;

    ft__json_array(j);
    while (ft__json_element(j))
        if (ft__json_string(j, &s) && n < FT__LLM_LAYERS)
            take_word(r, s, n++, key);
    if (!r->m->layers)
        r->m->layers = (int64_t)n;
}

/* "M-M*E": Mamba, dense, attention, experts. */
static void take_pattern(ft__llm_reader *r, ft__json *j)
{
    ft__llm_layers *l = &r->layers;
    ft__text s;

    if (!ft__json_string(j, &s))
        return;
    l->alone = true;
    for (size_t i = 0; i < s.n && i < FT__LLM_LAYERS; i++) {
        l->mixer[i] = s.s[i] == 'M'   ? FT__LLM_MAMBA
                      : s.s[i] == '*' ? FT__LLM_ATTENTION
                                      : FT__LLM_NO_MIXER;
        l->ffn[i] = s.s[i] == '-'   ? FT__LLM_DENSE
                    : s.s[i] == 'E' ? FT__LLM_EXPERTS
                                    : FT__LLM_NO_FFN;
        if (!strchr("M*-E", s.s[i]))
            ft__llm_refuse(r, "has layers that are not known",
                           "hybrid_override_pattern");
    }
    if (!r->m->layers)
        r->m->layers = (int64_t)s.n;
}

/* Meanings of lists of numbers. */
enum numbers {
    WINDOWS,   /* 1: a window */
    LINEARS,   /* 0: linear attention */
    MOES,      /* 1: experts */
    INDEXED,   /* 1: an indexer of its own */
    RATIOS,    /* tokens of an entry */
    DENSE_AT,  /* number of a layer, from 0 */
    LINEAR_AT, /* from 1 */
    FULL_AT,
};

static void take_value(ft__llm_reader *r, enum numbers what, size_t i, int64_t value)
{
    ft__llm_layers *l = &r->layers;
    const size_t at = (size_t)value - (what == DENSE_AT ? 0 : 1);

    if (what >= DENSE_AT && (value < 0 || at >= FT__LLM_LAYERS))
        return;
    switch (what) {
    case WINDOWS: l->mixer[i] = value ? FT__LLM_WINDOW : FT__LLM_ATTENTION; break;
    case LINEARS: l->mixer[i] = value ? FT__LLM_ATTENTION : FT__LLM_LINEAR; break;
    case MOES: l->ffn[i] = value ? FT__LLM_EXPERTS : FT__LLM_DENSE; break;
    case INDEXED: r->m->layer[i].indexed = value != 0; break;
    case RATIOS:
        r->m->layer[i].compress = value > 0 && value < 1 << 20 ? value : 0;
        break;
    case DENSE_AT: l->ffn[at] = FT__LLM_DENSE; break;
    case LINEAR_AT: l->mixer[at] = FT__LLM_LINEAR; break;
    case FULL_AT: l->mixer[at] = FT__LLM_ATTENTION; break;
    }
}

static void take_numbers(ft__llm_reader *r, ft__json *j, enum numbers what)
{
    int64_t value;
    size_t i = 0;

    ft__json_array(j);
    while (ft__json_element(j)) {
        if (ft__json_int(j, &value) && i < FT__LLM_LAYERS)
            take_value(r, what, i, value);
        i++;
    }
}

/* "full": it picks tokens itself; "shared": those that one before it picked. */
static void take_indexers(ft__llm_reader *r, ft__json *j)
{
    size_t i = 0;
    ft__text s;

    r->m->said_indexed = true;
    ft__json_array(j);
    while (ft__json_element(j))
        if (ft__json_string(j, &s) && i < FT__LLM_LAYERS)
            r->m->layer[i++].indexed = FT__IS(s, "full");
}

/* A layer of a network found by search (Puzzle): what is left out, how many heads
 * share keys and values, and how wide the feed-forward layer is. */
static void take_half(ft__llm_reader *r, ft__json *j, size_t i, bool attention)
{
    ft__llm_layers *l = &r->layers;
    double value;
    ft__text name, skipped;
    bool yes;

    if (ft__json_peek(j) != '{') {
        ft__json_skip(j, &skipped);
        return;
    }
    ft__json_object(j);
    while (ft__json_member(j, &name)) {
        const char next = ft__json_peek(j);

        if (FT__IS(name, "no_op") && (next == 't' || next == 'f')) {
            if (ft__json_bool(j, &yes) && yes)
                *(attention ? &l->mixer[i] : &l->ffn[i]) =
                    attention ? FT__LLM_NO_MIXER : FT__LLM_NO_FFN;
        } else if (FT__IS(name, "replace_with_linear") && next == 't') {
            ft__llm_refuse(r, "is of a layer that is not known", "replace_with_linear");
            ft__json_skip(j, &skipped);
        } else if (FT__IS(name, "n_heads_in_group") && next == '0' && attention) {
            if (ft__json_number(j, &value) && value >= 1 && value <= 1e6)
                r->m->layer[i].kv_heads = -(int64_t)value;
        } else if (FT__IS(name, "ffn_mult") && next == '0' && !attention) {
            if (ft__json_number(j, &value) && value > 0 && value < 1e4)
                r->m->layer[i].size = (int64_t)(value * 65536);
        } else {
            ft__json_skip(j, &skipped);
        }
    }
}

static void take_blocks(ft__llm_reader *r, ft__json *j)
{
    size_t i = 0;
    ft__text name, skipped;

    r->m->searched = true;
    ft__json_array(j);
    while (ft__json_element(j)) {
        if (i >= FT__LLM_LAYERS || ft__json_peek(j) != '{') {
            ft__json_skip(j, &skipped);
            continue;
        }
        ft__json_object(j);
        while (ft__json_member(j, &name))
            if (FT__IS(name, "attention") || FT__IS(name, "ffn"))
                take_half(r, j, i, FT__IS(name, "attention"));
            else
                ft__json_skip(j, &skipped);
        i++;
    }
}

bool ft__llm_take_layers(ft__llm_reader *r, ft__json *j, ft__text key)
{
    static const struct {
        const char *key;
        enum numbers what;
    } lists[] = {
        {"hybrid_layer_pattern", WINDOWS}, {"attn_type_list", LINEARS},
        {"moe_layer_freq", MOES},          {"sparse_attention_freq", INDEXED},
        {"compress_ratios", RATIOS},       {"mlp_only_layers", DENSE_AT},
        {"kda_layers", LINEAR_AT},         {"full_attn_layers", FULL_AT},
    };
    const char next = ft__json_peek(j);

    if (FT__IS(key, "hybrid_override_pattern") && next == '"') {
        take_pattern(r, j);
        return true;
    }
    if (next != '[')
        return false;
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        if (ft__text_is(key, lists[i].key, strlen(lists[i].key))) {
            r->m->said_indexed |= lists[i].what == INDEXED;
            take_numbers(r, j, lists[i].what);
            return true;
        }
    if (FT__IS(key, "layer_types"))
        take_words(r, j, "layer_types");
    else if (FT__IS(key, "layers_block_type"))
        take_words(r, j, "layers_block_type");
    else if (FT__IS(key, "mlp_layer_types"))
        take_words(r, j, "mlp_layer_types");
    else if (FT__IS(key, "indexer_types"))
        take_indexers(r, j);
    else if (FT__IS(key, "block_configs"))
        take_blocks(r, j);
    else
        return false;
    return true;
}

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
    OUT_GATE = 1 << 13,    /* of attention */
    SHARED_GATE = 1 << 14, /* of shared experts */
    MAMBAS = 1 << 15,      /* layers are of Mamba unless they say otherwise */
    ENCODER = 1 << 16,     /* tokens attend to later ones, too */
    BIASED = QKV_BIAS | O_BIAS | MLP_BIAS,
    BERT = ENCODER | UNGATED | LAYER_NORM | BIASED | HEAD_BIAS | NO_ROPE | LEARNED |
           EMBED_NORM,
};

/* By the beginning of model_type; the longest that fits counts. */
static const struct model_type {
    const char *begin;
    int has;
} types[] = {
    {"apertus", UNGATED | QK_NORM},
    {"baichuan", 0},
    {"bamba", 0},
    {"bert", BERT},
    {"bloom", UNGATED | LAYER_NORM | BIASED | TIED | NO_ROPE | EMBED_NORM},
    {"camembert", BERT},
    {"cohere", LAYER_NORM | TIED | ONE_NORM},
    {"deepseek", 0},
    {"exaone", 0},
    {"falcon", UNGATED | LAYER_NORM | TIED | ONE_NORM},
    {"falcon_mamba", MAMBAS},
    {"gemma", TIED},
    {"gemma2", TIED | FOUR_NORMS},
    {"gemma3", TIED | FOUR_NORMS | QK_NORM},
    {"gemma4", TIED | FOUR_NORMS | QK_NORM},
    {"gpt2", UNGATED | LAYER_NORM | BIASED | TIED | NO_ROPE | LEARNED},
    {"gpt_bigcode", UNGATED | LAYER_NORM | BIASED | TIED | NO_ROPE | LEARNED},
    {"gpt_neox", UNGATED | LAYER_NORM | BIASED},
    {"gpt_oss", 0},
    {"glm", 0},
    {"glm4", FOUR_NORMS},
    {"glm4_moe", 0},
    {"gptj", UNGATED | LAYER_NORM | MLP_BIAS | HEAD_BIAS | ONE_NORM},
    {"granite", 0},
    {"internlm", QKV_BIAS | O_BIAS},
    {"jamba", NO_ROPE | MAMBAS},
    {"kimi_k2", 0},
    {"kimi_linear", 0},
    {"llama", 0},
    {"llama4", QK_NORM},
    {"mamba", MAMBAS | TIED},
    {"mimo", QKV_BIAS},
    {"mimo_v2", 0},
    {"minimax", 0},
    {"minimax_m", QK_NORM},
    {"mistral", 0},
    {"mixtral", 0},
    {"mpt", UNGATED | LAYER_NORM | TIED | NO_ROPE},
    {"nemotron", UNGATED | LAYER_NORM},
    {"nemotron-nas", 0},
    {"nemotron_h", UNGATED | NO_ROPE},
    {"nomic_bert", ENCODER | LAYER_NORM | EMBED_NORM},
    {"olmo2", QK_NORM},
    {"opt", UNGATED | LAYER_NORM | BIASED | TIED | NO_ROPE | LEARNED},
    {"phi", UNGATED | LAYER_NORM | BIASED | HEAD_BIAS | ONE_NORM},
    {"phi3", 0},
    {"phimoe", LAYER_NORM | HEAD_BIAS},
    {"qwen2", QKV_BIAS},
    {"qwen2_moe", QKV_BIAS | SHARED_GATE},
    {"qwen3", QK_NORM},
    {"qwen3_5", QK_NORM | OUT_GATE | SHARED_GATE},
    {"qwen3_next", QK_NORM | OUT_GATE | SHARED_GATE},
    {"roberta", BERT},
    {"seed_oss", QKV_BIAS},
    {"smollm3", TIED},
    {"starcoder2", UNGATED | LAYER_NORM | BIASED | TIED},
    {"step3", 0},
    {"xlm-roberta", BERT},
};

static int known_of(ft__llm *m)
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
    return has;
}

/* The configuration's value, or the default of the model type. */
static bool is(int64_t said, int has, int bit)
{
    return said == 1 || (said < 0 && has & bit);
}

static void know_type(ft__llm *m, int has)
{
    m->encoder = has & ENCODER;
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
    m->shared_gate = has & SHARED_GATE;
    m->mlp_bias = is(m->mlp_bias, has, MLP_BIAS);
    m->tied = !m->encoder && is(m->tied, has, TIED);
    m->qk_norm = is(m->qk_norm, has, QK_NORM);
    m->out_gate = is(m->out_gate, has, OUT_GATE);
}

static int64_t first(int64_t a, int64_t b)
{
    return a ? a : b;
}

/* What configurations of Gemma 3 leave to Transformers' Gemma3TextConfig. */
static void complete_gemma3(ft__llm *m)
{
    m->vocab = first(m->vocab, 262208);
    m->heads = first(m->heads, 8);
    m->kv_heads = first(m->kv_heads, 4);
    m->head = first(m->head, 256);
    m->window_pattern = first(m->window_pattern, 6);
}

static void complete_sizes(ft__llm *m)
{
    if (strncmp(m->type, "gemma3", 6) == 0)
        complete_gemma3(m);
    m->dtype = m->dtype ? m->dtype : FT_DTYPE_bf16;
    m->kv = m->kv ? m->kv : m->dtype;
    m->state = m->state ? m->state : FT_DTYPE_fp32;
    if (!m->head && m->heads && m->hidden % m->heads == 0)
        m->head = m->hidden / m->heads;
    if (m->multi_query == 1 && !m->kv_heads)
        m->kv_heads = 1;
    m->kv_heads = first(m->kv_heads, m->heads);
    m->ffn = first(m->ffn, 4 * m->hidden);
    m->dense_ffn = first(m->dense_ffn, m->ffn);
    m->expert_ffn = first(m->expert_ffn, m->ffn);
    if (strncmp(m->type, "llama4", 6) == 0)
        m->shared = 1;
    m->shared_ffn = first(m->shared_ffn, m->shared * m->expert_ffn);
    m->streams = first(m->streams, 1);
    m->conv = first(m->conv, 4);
    m->mamba_groups = first(m->mamba_groups, 1);
    m->mamba_expand = first(m->mamba_expand, 2);
    m->mamba_rank = first(m->mamba_rank, (m->hidden + 15) / 16);
    if (strncmp(m->type, "minimax", 7) == 0 && !m->linear_heads) {
        m->linear = FT__LLM_LIGHTNING;
        m->linear_heads = m->heads;
        m->linear_head = m->head;
    }
    if (m->fp4_experts && m->quant[FT__LLM_PART_EXPERTS].weights != FT_DTYPE_fp4)
        m->quant[FT__LLM_PART_EXPERTS] = (ft__llm_quant){FT_DTYPE_fp4, 32, false};
    m->linear_v_heads = first(m->linear_v_heads, m->linear_heads);
    m->linear_v_head = first(m->linear_v_head, m->linear_head);
}

static ft__llm_mixer mixer_of(const ft__llm *m, int has, int64_t i)
{
    if (has & MAMBAS)
        return m->attention_period && i % m->attention_period == m->attention_offset
                   ? FT__LLM_ATTENTION
               : m->mamba_heads ? FT__LLM_MAMBA
                                : FT__LLM_MAMBA1;
    if (m->linear_v_heads && m->full_every > 1 && (i + 1) % m->full_every)
        return FT__LLM_LINEAR;
    return m->window && m->use_window != 0 &&
                   (m->window_pattern < 2 || (i + 1) % m->window_pattern)
               ? FT__LLM_WINDOW
               : FT__LLM_ATTENTION;
}

static ft__llm_ffn ffn_of(const ft__llm *m, int64_t i)
{
    const int64_t every = m->moe_every;
    const bool offset = m->attention_period != 0; /* Jamba */

    if (!m->experts || i < m->dense_first || (m->moe_last > 0 && i > m->moe_last) ||
        (every > 1 && (offset ? i % every != m->expert_offset : (i + 1) % every)))
        return FT__LLM_DENSE;
    return m->parallel_experts == 1 ? FT__LLM_BOTH : FT__LLM_EXPERTS;
}

/* Fills in a layer's heads; sliding-window layers and others may differ. */
static void complete_heads(const ft__llm *m, ft__llm_layer *l)
{
    const bool window = l->mixer == FT__LLM_WINDOW;
    const int64_t group = -l->kv_heads; /* heads that share keys */

    l->heads = window ? first(m->window_heads, m->heads) : m->heads;
    l->head = window ? first(m->window_head, m->head) : first(m->full_head, m->head);
    l->v_head = window ? first(m->window_v_head, l->head)
                       : first(m->full_head || m->kv_rank ? 0 : m->v_head, l->head);
    l->kv_heads = group > 0 ? m->heads / group
                  : window  ? first(m->window_kv_heads, m->kv_heads)
                            : first(m->full_kv_heads, m->kv_heads);
    l->kv_heads = first(l->kv_heads, 1);
}

/* Of a searched network the width is 2/3 of a multiple of hidden, in steps of 256. */
static int64_t searched_size(const ft__llm *m, int64_t mult)
{
    const double n = 2.0 / 3 * (double)mult / 65536 * (double)m->hidden;

    return ((int64_t)n + 255) / 256 * 256;
}

static uint8_t as_said(int8_t said, int otherwise)
{
    return (uint8_t)(said >= 0 ? said : otherwise);
}

static void complete_vision(ft__llm *m)
{
    ft__llm_vision *v = &m->vision;

    v->channels = first(v->channels, 3);
    v->frames = first(v->frames, 1);
    v->merge = first(v->merge, 1);
    v->out = first(v->out, m->hidden);
}

void ft__llm_complete(ft__llm *m, const ft__llm_layers *said)
{
    const int has = known_of(m);
    const bool dense_said = m->ffn || m->dense_ffn || m->searched;
    const bool experts_said = m->ffn || m->expert_ffn;
    const bool arctic = strcmp(m->type, "arctic") == 0;

    know_type(m, has);
    complete_sizes(m);
    complete_vision(m);
    m->said_mixers = true;
    for (int64_t i = 0; i < m->layers; i++) {
        ft__llm_layer *l = &m->layer[i];

        m->said_mixers &= said->mixer[i] >= 0;
        l->mixer = as_said(said->mixer[i], (int)mixer_of(m, has, i));
        l->ffn = as_said(said->ffn[i], (int)ffn_of(m, i));
        if (said->alone && l->mixer != FT__LLM_NO_MIXER)
            l->ffn = FT__LLM_NO_FFN;
        if (strncmp(m->type, "mamba", 5) == 0 ||
            strncmp(m->type, "falcon_mamba", 12) == 0)
            l->ffn = FT__LLM_NO_FFN;
        if (l->ffn == FT__LLM_EXPERTS && !m->experts)
            l->ffn = FT__LLM_DENSE;
        if (l->ffn != FT__LLM_NO_FFN)
            m->guessed_ffn |= !(l->ffn == FT__LLM_EXPERTS ? experts_said : dense_said);
        if (!m->said_indexed)
            l->indexed = m->index_topk && (!m->o_rank || l->compress == 4);
        l->size = m->searched && l->size             ? searched_size(m, l->size)
                  : arctic && l->ffn == FT__LLM_BOTH ? m->hidden
                                                     : m->dense_ffn;
        complete_heads(m, l);
    }
}
