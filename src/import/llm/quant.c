/* How a checkpoint's numbers are packed: quantization_config of Hugging Face, FP8,
 * GPTQ, AWQ, bitsandbytes, compressed-tensors, AMD's Quark; hf_quant_config.json of
 * NVIDIA's ModelOpt. */
#include <string.h>

#include "import/llm/read.h"

/* Larger groups or widths are mistakes. */
static const int64_t most = 100000000;

struct scheme {
    ft__text method, type, algorithm, kv;
    int64_t bits, group, activation_bits, kv_bits;
    uint32_t n_plain[FT__LLM_PARTS];  /* names of what is left as it is */
    bool plain[FT__LLM_PARTS];        /* everywhere */
    ft__llm_quant own[FT__LLM_PARTS]; /* of layers listed one by one */
    bool listed;
};

/* The part that a module's name or pattern is of; FT__LLM_PARTS: none that counts. */
static ft__llm_part part_of(ft__text name)
{
    if (ft__llm_holds(name, "vis") || ft__llm_holds(name, "mtp") ||
        ft__llm_holds(name, "norm") || ft__llm_holds(name, "indexer") ||
        ft__llm_holds(name, "bias"))
        return FT__LLM_PARTS;
    if (ft__llm_holds(name, "lm_head") || FT__IS(name, "head"))
        return FT__LLM_PART_HEAD;
    if (ft__llm_holds(name, "linear_attn") || ft__llm_holds(name, "mixer.in_proj") ||
        ft__llm_holds(name, "mixer.out_proj"))
        return FT__LLM_PART_LINEAR;
    if (ft__llm_holds(name, "self_attn") || ft__llm_holds(name, ".attn"))
        return FT__LLM_PART_ATTENTION;
    if (ft__llm_holds(name, "shared_expert"))
        return ft__llm_holds(name, "gate") && !ft__llm_holds(name, "gate_proj")
                   ? FT__LLM_PARTS
                   : FT__LLM_PART_SHARED;
    if (ft__llm_holds(name, "experts"))
        return FT__LLM_PART_EXPERTS;
    return ft__llm_holds(name, "mlp") &&
                   (ft__llm_holds(name, "_proj") || name.s[name.n - 1] == '*' ||
                    (name.n >= 3 && memcmp(name.s + name.n - 3, "mlp", 3) == 0))
               ? FT__LLM_PART_DENSE
               : FT__LLM_PARTS;
}

/* The name of one layer, or a pattern that many fit. */
static bool is_of_one_layer(ft__text name)
{
    for (size_t i = 0; i + 1 < name.n; i++)
        if (name.s[i] == '.' && name.s[i + 1] >= '0' && name.s[i + 1] <= '9')
            return true;
    return false;
}

static void take_plain(struct scheme *s, ft__json *j)
{
    ft__text name;

    ft__json_array(j);
    while (ft__json_element(j)) {
        ft__llm_part part;

        if (!ft__json_string(j, &name) || !name.n)
            continue;
        part = part_of(name);
        if (part == FT__LLM_PARTS)
            continue;
        s->n_plain[part]++;
        s->plain[part] |= !is_of_one_layer(name);
    }
}

static ft__llm_quant called(ft__text algorithm, int64_t group)
{
    if (FT__IS(algorithm, "FP8"))
        return (ft__llm_quant){FT_DTYPE_fp8e4m3, group, true};
    if (FT__IS(algorithm, "NVFP4"))
        return (ft__llm_quant){FT_DTYPE_fp4, group ? group : 16, true};
    if (ft__llm_holds(algorithm, "NVFP4"))
        return (ft__llm_quant){FT_DTYPE_fp4, group ? group : 16, false};
    return (ft__llm_quant){FT_DTYPE_NONE, 0, false};
}

static void take_scheme(struct scheme *s, ft__json *j, bool activations, int depth);

/* {"model.layers.0.mlp.experts": {"quant_algo": "NVFP4", "group_size": 16}} */
static void take_listed(struct scheme *s, ft__json *j)
{
    ft__text name;

    s->listed = true;
    ft__json_object(j);
    while (ft__json_member(j, &name)) {
        struct scheme one = {0};
        const ft__llm_part part = name.n ? part_of(name) : FT__LLM_PARTS;

        take_scheme(&one, j, false, 4);
        if (part != FT__LLM_PARTS && one.group >= 0 && one.group < most)
            s->own[part] = called(one.algorithm, one.group);
    }
}

/* The type of the KV cache: a name, or an object with its bits. */
static void take_kv(struct scheme *s, ft__json *j)
{
    struct scheme one = {0};
    ft__text skipped;

    if (ft__json_peek(j) == '"') {
        ft__json_string(j, &s->kv);
    } else if (ft__json_peek(j) == '{') {
        take_scheme(&one, j, false, 4);
        s->kv_bits = one.bits;
    } else {
        ft__json_skip(j, &skipped);
    }
}

static bool is_list_of_plain(ft__text name)
{
    return FT__IS(name, "ignore") || FT__IS(name, "exclude") ||
           FT__IS(name, "exclude_modules") || FT__IS(name, "modules_to_not_convert") ||
           FT__IS(name, "ignored_layers");
}

/* Quark's names: "fp8_e4m3", "fp4", "uint4". */
static void take_dtype(struct scheme *s, ft__json *j, bool activations)
{
    ft__text type;
    int64_t bits;

    if (!ft__json_string(j, &type))
        return;
    bits = FT__IS(type, "fp4") || FT__IS(type, "int4") || FT__IS(type, "uint4") ? 4
           : ft__llm_holds(type, "fp8") || FT__IS(type, "int8")                 ? 8
                                                                                : 0;
    *(activations ? &s->activation_bits : &s->bits) = bits;
    if (!activations && ft__llm_holds(type, "fp"))
        s->type = (ft__text){"float", strlen("float")};
}

static void take_text(struct scheme *s, ft__json *j, ft__text name, bool activations)
{
    ft__text skipped;

    ft__json_string(j, FT__IS(name, "quant_method")           ? &s->method
                       : FT__IS(name, "quant_algo")           ? &s->algorithm
                       : FT__IS(name, "type") && !activations ? &s->type
                                                              : &skipped);
}

static void take_count(struct scheme *s, ft__json *j, ft__text name, bool activations)
{
    ft__text skipped;

    if (FT__IS(name, "bits") || FT__IS(name, "num_bits"))
        ft__json_int(j, activations ? &s->activation_bits : &s->bits);
    else if (FT__IS(name, "group_size") && !activations)
        ft__json_int(j, &s->group);
    else
        ft__json_skip(j, &skipped);
}

static void take_scheme(struct scheme *s, ft__json *j, bool activations, int depth)
{
    ft__text name, skipped;
    bool yes;

    if (ft__json_peek(j) != '{' || depth > 4) {
        ft__json_skip(j, &skipped);
        return;
    }
    ft__json_object(j);
    while (ft__json_member(j, &name)) {
        const char next = ft__json_peek(j);

        if (FT__IS(name, "kv_cache_quant_algo") || FT__IS(name, "kv_cache_scheme"))
            take_kv(s, j);
        else if (FT__IS(name, "kv_cache_quant_config") && next == '{') /* Quark's */
            s->kv_bits =
                ft__json_skip(j, &skipped) && ft__llm_holds(skipped, "fp8") ? 8 : 0;
        else if (is_list_of_plain(name) && next == '[')
            take_plain(s, j);
        else if (FT__IS(name, "quantized_layers") && next == '{' && depth < 4)
            take_listed(s, j);
        else if (FT__IS(name, "weight_block_size") && next == '[' &&
                 ft__json_array(j) && ft__json_element(j)) {
            ft__json_int(j, &s->group);
            while (ft__json_element(j))
                ft__json_skip(j, &skipped);
        } else if (FT__IS(name, "config_groups") || FT__IS(name, "group_0") ||
                   FT__IS(name, "weights") || FT__IS(name, "quantization") ||
                   FT__IS(name, "global_quant_config") || FT__IS(name, "weight"))
            take_scheme(s, j, activations, depth + 1);
        else if (FT__IS(name, "input_activations") || FT__IS(name, "input_tensors"))
            take_scheme(s, j, true, depth + 1);
        else if (FT__IS(name, "dtype") && next == '"')
            take_dtype(s, j, activations);
        else if (next == '"')
            take_text(s, j, name, activations);
        else if (next == '0')
            take_count(s, j, name, activations);
        else if (FT__IS(name, "load_in_8bit") && next == 't')
            s->bits = ft__json_bool(j, &yes) ? 8 : 0;
        else
            ft__json_skip(j, &skipped);
    }
}

/* The quantisation of all parts but those left as they are; NONE: unknown. */
static ft__llm_quant scheme_of(const struct scheme *s)
{
    const bool narrow = s->activation_bits == 8;

    if (FT__IS(s->method, "fp8") || FT__IS(s->method, "fbgemm_fp8"))
        return (ft__llm_quant){FT_DTYPE_fp8e4m3, s->group, true};
    if (FT__IS(s->method, "mxfp4"))
        return (ft__llm_quant){FT_DTYPE_fp4, 32, false};
    if (FT__IS(s->method, "bitsandbytes") && !s->bits)
        return FT__LLM_NF4;
    if (s->bits == 8 && FT__IS(s->type, "float"))
        return (ft__llm_quant){FT_DTYPE_fp8e4m3, s->group, narrow};
    if (s->bits == 4 && FT__IS(s->type, "float"))
        return (ft__llm_quant){FT_DTYPE_fp4, s->group ? s->group : 16,
                               s->activation_bits == 4};
    if (s->bits == 4)
        return (ft__llm_quant){FT_DTYPE_int4, s->group ? s->group : 128, false};
    if (s->bits == 8)
        return (ft__llm_quant){FT_DTYPE_int8, s->group, narrow};
    return called(s->algorithm, s->group);
}

/* A part is left as it is where that is said of all layers, or of most of them. */
static bool is_plain(const struct scheme *s, const ft__llm *m, int part)
{
    return s->plain[part] || (s->n_plain[part] && 2 * s->n_plain[part] > m->layers);
}

static void take_all(ft__llm_reader *r, const struct scheme *s)
{
    const ft__llm_quant q = scheme_of(s);
    ft__llm *m = r->m;

    m->gptq = FT__IS(s->method, "gptq");
    if (q.weights == FT_DTYPE_NONE && !s->listed)
        ft__llm_refuse(r, "is of a method, or of bits, that are not known",
                       "quantization_config");
    for (int part = 0; part < FT__LLM_PARTS; part++) {
        const bool experts = part == FT__LLM_PART_EXPERTS;

        if (s->listed && s->own[part].weights)
            m->quant[part] = s->own[part];
        else if (part == FT__LLM_PART_HEAD || is_plain(s, m, part) ||
                 (FT__IS(s->method, "mxfp4") && !experts) ||
                 (s->listed && !FT__IS(s->method, "fp8")))
            m->quant[part] = (ft__llm_quant){0};
        else
            m->quant[part] = q;
    }
    if (s->kv_bits == 8 || FT__IS(s->kv, "FP8"))
        m->kv = FT_DTYPE_fp8e4m3;
}

void ft__llm_take_quant(ft__llm_reader *r, ft__json *j)
{
    struct scheme s = {0};
    ft__text skipped;

    if (ft__json_peek(j) != '{') {
        ft__json_skip(j, &skipped);
        return;
    }
    take_scheme(&s, j, false, 0);
    if (s.group < 0 || s.group > most)
        s.group = 0;
    take_all(r, &s);
}
