/* GGUF: metadata and the list of tensors in front of the weights, which are never read.
 * Layers are read off the tensors' names and shapes, bytes of weights off their types.
 * The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
#include "import/llm/llm.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "import/llm/read.h"

enum { MAX_DIMS = 4, MAX_ARRAYS = 4 };
static const uint64_t most_tensors = 1 << 20, most_keys = 1 << 16;
static const int64_t most = 100000000; /* of a size */

/* Failure is sticky: after the first everything is 0. */
struct gguf {
    const uint8_t *base;
    size_t len, at;
    const char *why;
};

static bool take(struct gguf *g, void *out, size_t n)
{
    memset(out, 0, n);
    if (g->why)
        return false;
    if (n > g->len - g->at) {
        g->why = "the file ends in its header";
        return false;
    }
    memcpy(out, g->base + g->at, n);
    g->at += n;
    return true;
}

static uint32_t take_u32(struct gguf *g)
{
    uint8_t b[4];

    take(g, b, 4);
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
           (uint32_t)b[3] << 24;
}

static uint64_t take_u64(struct gguf *g)
{
    const uint64_t low = take_u32(g);

    return low | (uint64_t)take_u32(g) << 32;
}

static ft__text take_text(struct gguf *g)
{
    const uint64_t n = take_u64(g);
    ft__text s = {"", 0};

    if (!g->why && n > g->len - g->at)
        g->why = "a text is longer than the file";
    if (g->why)
        return s;
    s = (ft__text){(const char *)g->base + g->at, (size_t)n};
    g->at += (size_t)n;
    return s;
}

enum type {
    T_U8,
    T_I8,
    T_U16,
    T_I16,
    T_U32,
    T_I32,
    T_F32,
    T_BOOL,
    T_TEXT,
    T_ARRAY,
    T_U64,
    T_I64,
    T_F64
};

static size_t size_of(uint32_t type)
{
    static const uint8_t sizes[] = {
        [T_U8] = 1,  [T_I8] = 1,   [T_U16] = 2, [T_I16] = 2, [T_U32] = 4, [T_I32] = 4,
        [T_F32] = 4, [T_BOOL] = 1, [T_U64] = 8, [T_I64] = 8, [T_F64] = 8};

    return type < sizeof(sizes) ? sizes[type] : 0;
}

/* Reads an integer; a value of another type is skipped and reads as 0. */
static int64_t take_whole(struct gguf *g, uint32_t type)
{
    uint8_t b[8];

    switch (type) {
    case T_U32: return (int64_t)take_u32(g);
    case T_I32: return (int32_t)take_u32(g);
    case T_U64:
    case T_I64: return (int64_t)take_u64(g);
    case T_U16:
    case T_I16: take(g, b, 2); return b[0] | b[1] << 8;
    case T_U8:
    case T_I8:
    case T_BOOL: take(g, b, 1); return b[0];
    default: take(g, b, size_of(type)); return 0;
    }
}

static void skip(struct gguf *g, uint32_t type, int depth);

/* Its elements' type and how many there are. */
static uint64_t open_array(struct gguf *g, uint32_t *type)
{
    const uint64_t n = (*type = take_u32(g), take_u64(g));

    if (!g->why && n > g->len - g->at)
        g->why = "an array is longer than the file";
    return g->why ? 0 : n;
}

static void skip_array(struct gguf *g, int depth)
{
    uint32_t type;
    const uint64_t n = open_array(g, &type);
    const size_t each = size_of(type);

    if (!g->why && each && n > (g->len - g->at) / each)
        g->why = "an array is longer than the file";
    if (g->why)
        return;
    if (each)
        g->at += (size_t)n * each;
    for (uint64_t i = 0; !each && i < n && !g->why; i++)
        skip(g, type, depth + 1);
}

static void skip(struct gguf *g, uint32_t type, int depth)
{
    uint8_t b[8];

    if (type == T_TEXT)
        take_text(g);
    else if (type == T_ARRAY && depth < MAX_ARRAYS)
        skip_array(g, depth);
    else if (size_of(type))
        take(g, b, size_of(type));
    else if (!g->why)
        g->why = "a value of a type that is not known";
}

/* What the metadata say; tensors refine it. */
struct header {
    ft__llm *m;
    ft__llm_layers layers;
    ft__text architecture;
    uint64_t words; /* of the tokenizer */
    int64_t pieces; /* files that the model is in */
    int64_t key_mla, value_mla, inner;
};

struct field {
    const char *key;
    int64_t *to;
};

/* One number, or one for each layer. */
static void take_layers(struct gguf *g, const char *key, ft__llm_layer *layer)
{
    uint32_t type;
    const uint64_t n = open_array(g, &type);

    for (uint64_t i = 0; i < n && !g->why; i++) {
        const int64_t value = size_of(type) ? take_whole(g, type) : 0;

        if (!size_of(type))
            skip(g, type, 1);
        if (i >= FT__LLM_LAYERS || value < 0 || value > most)
            continue;
        if (strcmp(key, "attention.head_count") == 0)
            layer[i].heads = value;
        else if (strcmp(key, "attention.head_count_kv") == 0)
            layer[i].kv_heads = value;
        else if (strcmp(key, "feed_forward_length") == 0)
            layer[i].size = value;
    }
}

static void take_field(struct gguf *g, struct header *h, ft__text key, uint32_t type,
                       ft__llm_layer *layer)
{
    ft__llm *m = h->m;
    const struct field fields[] = {
        {"block_count", &m->layers},
        {"embedding_length", &m->hidden},
        {"feed_forward_length", &m->ffn},
        {"attention.head_count", &m->heads},
        {"attention.head_count_kv", &m->kv_heads},
        {"attention.key_length", &m->head},
        {"attention.value_length", &m->v_head},
        {"attention.key_length_mla", &h->key_mla},
        {"attention.value_length_mla", &h->value_mla},
        {"attention.kv_lora_rank", &m->kv_rank},
        {"attention.q_lora_rank", &m->q_rank},
        {"attention.sliding_window", &m->window},
        {"rope.dimension_count", &m->rope_head},
        {"context_length", &m->positions},
        {"vocab_size", &m->vocab},
        {"expert_count", &m->experts},
        {"expert_used_count", &m->topk},
        {"expert_feed_forward_length", &m->expert_ffn},
        {"expert_shared_count", &m->shared},
        {"expert_shared_feed_forward_length", &m->shared_ffn},
        {"ssm.conv_kernel", &m->conv},
        {"ssm.state_size", &m->mamba_state},
        {"ssm.inner_size", &h->inner},
        {"ssm.time_step_rank", &m->mamba_rank},
        {"ssm.group_count", &m->mamba_groups},
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (ft__text_is(key, fields[i].key, strlen(fields[i].key))) {
            if (type == T_ARRAY)
                take_layers(g, fields[i].key, layer);
            else if (size_of(type))
                *fields[i].to = take_whole(g, type);
            else
                skip(g, type, 0);
            if (!g->why && (*fields[i].to < 0 || *fields[i].to > most))
                g->why = "a size is negative or too large";
            return;
        }
    skip(g, type, 0);
}

static void take_key(struct gguf *g, struct header *h, ft__llm_layer *layer)
{
    ft__text key = take_text(g);
    const uint32_t type = take_u32(g);
    const size_t n = h->architecture.n;

    if (FT__IS(key, "general.architecture") && type == T_TEXT) {
        h->architecture = take_text(g);
    } else if (FT__IS(key, "split.count") && size_of(type)) {
        h->pieces = take_whole(g, type);
    } else if (FT__IS(key, "tokenizer.ggml.tokens") && type == T_ARRAY) {
        const struct gguf here = *g;
        uint32_t of;

        h->words = open_array(g, &of);
        *g = here;
        skip(g, type, 0);
    } else if (n && key.n > n && memcmp(key.s, h->architecture.s, n) == 0 &&
               key.s[n] == '.') {
        key = (ft__text){key.s + n + 1, key.n - n - 1};
        take_field(g, h, key, type, layer);
    } else {
        skip(g, type, 0);
    }
}

/* Bytes of a block of elements, by ggml's number of the type. */
static const struct block {
    uint16_t elements, bytes;
} blocks[] = {
    [0] = {1, 4},      [1] = {1, 2},      [2] = {32, 18},    [3] = {32, 20},
    [6] = {32, 22},    [7] = {32, 24},    [8] = {32, 34},    [9] = {32, 36},
    [10] = {256, 84},  [11] = {256, 110}, [12] = {256, 144}, [13] = {256, 176},
    [14] = {256, 210}, [15] = {256, 292}, [16] = {256, 66},  [17] = {256, 74},
    [18] = {256, 98},  [19] = {256, 50},  [20] = {32, 18},   [21] = {256, 110},
    [22] = {256, 82},  [23] = {256, 136}, [24] = {1, 1},     [25] = {1, 2},
    [26] = {1, 4},     [27] = {1, 8},     [28] = {1, 8},     [29] = {256, 56},
    [30] = {1, 2},     [34] = {256, 54},  [35] = {256, 66},  [39] = {32, 17},
};

/* What the list of tensors says: bytes and elements by part. */
struct tensors {
    double bytes[FT__LLM_PARTS], elements[FT__LLM_PARTS];
    double table_bytes, table_elements;
    bool mixers[FT__LLM_LAYERS], states[FT__LLM_LAYERS], experts[FT__LLM_LAYERS],
        dense[FT__LLM_LAYERS];
    bool qkv_bias, o_bias, mlp_bias, qk_norm, gate, output, after, ffn_norm, norm_bias,
        positions, head_bias, shared_gate, latent, embed_norm, mamba2;
    int64_t vocab, hidden, up;
};

static bool begins(ft__text s, const char *with)
{
    return s.n >= strlen(with) && memcmp(s.s, with, strlen(with)) == 0;
}

/* "blk.12.attn_q.weight": 12, and the rest; -1: of no layer. */
static int64_t layer_of(ft__text *name)
{
    int64_t layer = 0;
    size_t i = 4;

    if (!begins(*name, "blk."))
        return -1;
    while (i < name->n && name->s[i] >= '0' && name->s[i] <= '9' && layer < most)
        layer = 10 * layer + (name->s[i++] - '0');
    if (i == name->n || name->s[i] != '.' || layer >= FT__LLM_LAYERS)
        return -1;
    *name = (ft__text){name->s + i + 1, name->n - i - 1};
    return layer;
}

static ft__llm_part part_of(ft__text rest)
{
    if (!ft__llm_holds(rest, ".weight") || ft__llm_holds(rest, "norm") ||
        ft__llm_holds(rest, "gate_inp"))
        return FT__LLM_PARTS;
    if (begins(rest, "ssm_"))
        return ft__llm_holds(rest, "_in") || ft__llm_holds(rest, "_out")
                   ? FT__LLM_PART_LINEAR
                   : FT__LLM_PARTS;
    if (begins(rest, "attn_"))
        return FT__LLM_PART_ATTENTION;
    if (!begins(rest, "ffn_"))
        return FT__LLM_PARTS;
    return ft__llm_holds(rest, "_exps")    ? FT__LLM_PART_EXPERTS
           : ft__llm_holds(rest, "_shexp") ? FT__LLM_PART_SHARED
                                           : FT__LLM_PART_DENSE;
}

static void note_layer(struct tensors *t, ft__text rest, int64_t layer,
                       const uint64_t *dim)
{
    t->qkv_bias |= FT__IS(rest, "attn_q.bias") || FT__IS(rest, "attn_qkv.bias");
    t->o_bias |= FT__IS(rest, "attn_output.bias");
    t->mlp_bias |= FT__IS(rest, "ffn_down.bias") || FT__IS(rest, "ffn_down_exps.bias");
    t->qk_norm |= FT__IS(rest, "attn_q_norm.weight");
    t->gate |= begins(rest, "ffn_gate.") || begins(rest, "ffn_gate_exps.") ||
               begins(rest, "ffn_gate_up_exps.");
    t->after |= begins(rest, "post_ffw_norm") || begins(rest, "ffn_post_norm");
    t->ffn_norm |= begins(rest, "ffn_norm") || begins(rest, "post_attention_norm");
    t->norm_bias |= FT__IS(rest, "attn_norm.bias");
    t->shared_gate |= begins(rest, "ffn_gate_inp_shexp");
    t->latent |= begins(rest, "attn_kv_a");
    t->mamba2 |= FT__IS(rest, "ssm_norm.weight");
    t->mixers[layer] |= begins(rest, "attn_q") || begins(rest, "attn_kv");
    t->states[layer] |= begins(rest, "ssm_in");
    t->experts[layer] |= begins(rest, "ffn_down_exps");
    t->dense[layer] |= begins(rest, "ffn_down.");
    if (FT__IS(rest, "ffn_up.weight") && dim[1] < (uint64_t)most)
        t->up = (int64_t)dim[1];
}

static void note(struct tensors *t, ft__text name, const uint64_t *dim, double elements,
                 double bytes)
{
    ft__text rest = name;
    const int64_t layer = layer_of(&rest);
    ft__llm_part part = FT__LLM_PARTS;

    if (layer >= 0) {
        note_layer(t, rest, layer, dim);
        part = part_of(rest);
    } else if (FT__IS(name, "token_embd.weight") && dim[1] < (uint64_t)most) {
        t->vocab = (int64_t)dim[1];
        t->table_bytes = bytes;
        t->table_elements = elements;
    } else if (FT__IS(name, "output.weight")) {
        t->output = true;
        part = FT__LLM_PART_HEAD;
    }
    t->head_bias |= FT__IS(name, "output.bias");
    t->positions |= FT__IS(name, "position_embd.weight");
    t->embed_norm |= begins(name, "token_embd_norm");
    if (part == FT__LLM_PARTS)
        return;
    t->bytes[part] += bytes;
    t->elements[part] += elements;
}

static void take_tensor(struct gguf *g, struct tensors *t)
{
    const ft__text name = take_text(g);
    const uint32_t n = take_u32(g);
    uint64_t dim[MAX_DIMS] = {1, 1, 1, 1};
    double elements = 1;
    uint32_t type;

    if (!g->why && n > MAX_DIMS)
        g->why = "a tensor of more than 4 dimensions";
    for (uint32_t i = 0; i < n && !g->why; i++) {
        dim[i] = take_u64(g);
        elements *= (double)dim[i];
    }
    type = take_u32(g);
    take_u64(g); /* where it lies */
    if (!g->why && (type >= sizeof(blocks) / sizeof(*blocks) || !blocks[type].elements))
        g->why = "a tensor of a type that is not known";
    if (!g->why && elements > (double)FT__MAX_ELEMENTS)
        g->why = "a tensor is too large";
    if (!g->why)
        note(t, name, dim, elements,
             elements * blocks[type].bytes / blocks[type].elements);
}

/* The number type of so many bits and less, with as many scales of 16 bits as make up
 * the rest. Of K-quants that is about 1 % off. */
static ft__llm_quant quant_of(double bytes, double elements)
{
    const double bits = elements > 0 ? 8 * bytes / elements : 16;
    const int own = bits >= 8 ? 8 : bits >= 4 ? 4 : 2;
    const double block = bits > own ? 16 / (bits - own) : 0;

    if (bits >= 15)
        return (ft__llm_quant){FT_DTYPE_NONE, 0, false};
    return (ft__llm_quant){own == 8   ? FT_DTYPE_int8
                           : own == 4 ? FT_DTYPE_int4
                                      : FT_DTYPE_int2,
                           block > 0 && block < 1024 ? (int64_t)(block + 0.5) : 0,
                           false};
}

/* Maps ggml's names of architectures to Hugging Face's model_type. */
static void name_type(ft__llm *m, ft__text architecture)
{
    static const char *const other[][2] = {{"gptneox", "gpt_neox"},
                                           {"gpt-oss", "gpt_oss"},
                                           {"command-r", "cohere"},
                                           {"starcoder", "gpt_bigcode"},
                                           {"nemotron_h_moe", "nemotron_h"}};

    if (architecture.n >= sizeof(m->type))
        architecture.n = sizeof(m->type) - 1;
    memcpy(m->type, architecture.s, architecture.n);
    m->type[architecture.n] = 0;
    for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
        if (strcmp(m->type, other[i][0]) == 0)
            snprintf(m->type, sizeof(m->type), "%s", other[i][1]);
}

/* Of so many layers the last one sees all tokens. */
static void name_windows(ft__llm *m, ft__text architecture)
{
    static const struct {
        const char *architecture;
        int64_t pattern;
    } known[] = {{"gemma2", 2},  {"gemma3", 6},  {"gemma4", 6},
                 {"gpt-oss", 2}, {"cohere2", 4}, {"olmo2", 4}};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (begins(architecture, known[i].architecture))
            m->window_pattern = known[i].pattern;
}

static void take_latent(struct header *h)
{
    ft__llm *m = h->m;
    const int64_t key = h->key_mla ? h->key_mla : m->head;

    m->nope_head = key > m->rope_head ? key - m->rope_head : 0;
    m->v_head = h->value_mla ? h->value_mla : m->v_head;
    m->head = 0;
}

static void name_layers(struct header *h, const struct tensors *t)
{
    ft__llm_layers *l = &h->layers;
    bool states = false;

    for (int64_t i = 0; i < h->m->layers && i < FT__LLM_LAYERS; i++) {
        states |= t->states[i];
        if (!t->mixers[i])
            l->mixer[i] = t->states[i] ? t->mamba2 ? FT__LLM_MAMBA : FT__LLM_MAMBA1
                                       : FT__LLM_NO_MIXER;
        l->ffn[i] = t->experts[i] && t->dense[i] ? FT__LLM_BOTH
                    : t->experts[i]              ? FT__LLM_EXPERTS
                    : t->dense[i]                ? FT__LLM_DENSE
                                                 : FT__LLM_NO_FFN;
    }
    if (!states)
        return;
    h->m->mamba_expand = h->m->hidden ? h->inner / h->m->hidden : 0;
    if (t->mamba2 && h->m->mamba_rank) { /* heads, there */
        h->m->mamba_heads = h->m->mamba_rank;
        h->m->mamba_head = h->inner / h->m->mamba_rank;
    }
}

/* Replaces what follows from the model's type by what tensors show. */
static void override(ft__llm *m, const struct tensors *t, bool whole)
{
    const ft__llm_quant table = quant_of(t->table_bytes, t->table_elements);

    m->qkv_bias = t->qkv_bias;
    m->o_bias = t->o_bias;
    m->mlp_bias = t->mlp_bias;
    m->qk_norm = t->qk_norm;
    m->gated = t->gate || t->up == 2 * m->ffn;
    m->four_norms = t->after;
    m->one_norm = !t->ffn_norm && !t->after;
    m->norm = t->norm_bias ? FT__LLM_LAYER : FT__LLM_RMS;
    m->learned_positions = t->positions && m->positions;
    m->embed_norm = t->embed_norm;
    m->head_bias = t->head_bias;
    m->shared_gate = t->shared_gate;
    m->tied = whole && !t->output;
    m->like_llama = false;
    m->table = table.weights;
    m->table_block = table.block;
    for (int part = 0; part < FT__LLM_PARTS; part++)
        m->quant[part] = quant_of(t->bytes[part], t->elements[part]);
    if (m->tied)
        m->quant[FT__LLM_PART_HEAD] = table;
}

/* Sizes of single layers, which the file has in lists. */
static void take_lists(ft__llm *m, const ft__llm_layer *said)
{
    for (int64_t i = 0; i < m->layers; i++) {
        ft__llm_layer *l = &m->layer[i];

        l->heads = said[i].heads ? said[i].heads : l->heads;
        l->kv_heads = said[i].kv_heads ? said[i].kv_heads : l->kv_heads;
        l->size = said[i].size ? said[i].size : l->size;
        m->heads = m->heads > l->heads ? m->heads : l->heads;
    }
}

/* The model's single value of a field that varies by layer is the largest. */
static void largest(ft__llm *m, const ft__llm_layer *said)
{
    for (int64_t i = 0; i < FT__LLM_LAYERS; i++) {
        m->heads = m->heads > said[i].heads ? m->heads : said[i].heads;
        m->kv_heads = m->kv_heads > said[i].kv_heads ? m->kv_heads : said[i].kv_heads;
        m->ffn = m->ffn > said[i].size ? m->ffn : said[i].size;
    }
}

static void read_header(struct gguf *g, struct header *h, struct tensors *t,
                        ft__llm_layer *said)
{
    uint8_t magic[4];
    uint64_t n_tensors, n_keys;
    uint32_t version;

    take(g, magic, 4);
    version = take_u32(g);
    if (!g->why && (version < 2 || version > 3))
        g->why = "a version of GGUF that is not known";
    n_tensors = take_u64(g);
    n_keys = take_u64(g);
    if (!g->why && (n_tensors > most_tensors || n_keys > most_keys))
        g->why = "too many keys or tensors";
    for (uint64_t i = 0; i < n_keys && !g->why; i++)
        take_key(g, h, said);
    for (uint64_t i = 0; i < n_tensors && !g->why; i++)
        take_tensor(g, t);
    if (!g->why && h->architecture.n == 0)
        g->why = "it names no architecture";
    if (!g->why && (ft__llm_holds(h->architecture, "qwen3next") ||
                    ft__llm_holds(h->architecture, "rwkv") ||
                    ft__llm_holds(h->architecture, "qwen35")))
        g->why = "an architecture whose linear attention is not read from GGUF: ask by "
                 "its config.json";
}

ft_status ft__llm_read_gguf(ft__llm *out, const uint8_t *data, size_t len,
                            const char *name, ft_error *err)
{
    struct gguf g = {.base = data, .len = len};
    struct tensors t = {0};
    struct header h = {.m = out, .pieces = 1};
    ft__llm_layer said[FT__LLM_LAYERS] = {0};

    *out = ft__llm_unsaid;
    memset(h.layers.mixer, -1, sizeof(h.layers.mixer));
    memset(h.layers.ffn, -1, sizeof(h.layers.ffn));
    read_header(&g, &h, &t, said);
    if (g.why)
        return ft_fail(err, FT_EFORMAT, g.at, "%s: byte %zu: %s", name, g.at, g.why);
    out->vocab = t.vocab ? t.vocab : out->vocab ? out->vocab : (int64_t)h.words;
    out->dtype = FT_DTYPE_fp16;
    name_type(out, h.architecture);
    name_windows(out, h.architecture);
    largest(out, said);
    if (t.latent)
        take_latent(&h);
    else
        out->kv_rank = out->q_rank = 0;
    if (h.pieces <= 1)
        name_layers(&h, &t);
    if (out->layers <= FT__LLM_LAYERS)
        ft__llm_complete(out, &h.layers);
    override(out, &t, h.pieces <= 1);
    if (out->layers <= FT__LLM_LAYERS)
        take_lists(out, said);
    return ft__llm_check(out, name, err);
}
