/* Which step is asked for, from the options: its sizes, types, and what one rank has of
 * the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "import/llm/step.h"
#include "import/options.h"

enum {
    DECODE_CONTEXT = 1024,
    ENCODED = 512,          /* tokens, as many as BERT has */
    MOST_DEVICES = 1 << 20, /* more than any cluster has */
};

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

static bool has_heads(const ft__llm_layer *l)
{
    return l->mixer == FT__LLM_ATTENTION || l->mixer == FT__LLM_WINDOW;
}

static bool is_plain(const ft__llm *m)
{
    for (int64_t i = 0; i < m->layers; i++)
        if (!has_heads(&m->layer[i]) || m->layer[i].indexed)
            return false;
    return !m->kv_rank && !m->o_rank && !m->vision.hidden && !m->encoder;
}

static void take_options(ft__llm_step *s, const ft_import_options *opt)
{
    static const ft__dim_names there = {"tokens, context, tp, ep, pp, dp, node, mtp, "
                                        "train, lora, lora_attention, scores, "
                                        "unfused, once, kv_bits, weight_bits",
                                        1, false};
    bool *used = calloc(opt && opt->n_dims ? opt->n_dims : 1, sizeof(*used));

    if (!used) {
        ft__build_fail(s->b, FT_ENOMEM, 0, "options");
        return;
    }
    s->batch = opt && opt->batch ? opt->batch : 1;
    s->tokens = taken(opt, "tokens", used, s->m.encoder ? ENCODED : 1);
    s->ranks = taken(opt, "tp", used, 1);
    s->expert_ranks = taken(opt, "ep", used, 1);
    s->stages = taken(opt, "pp", used, 1);
    s->replicas = taken(opt, "dp", used, 1);
    s->node = taken(opt, "node", used, 8);
    s->drafts = taken(opt, "mtp", used, 0);
    s->whole = taken(opt, "train", used, 0) == 1;
    s->lora = taken(opt, "lora", used, 0);
    s->attention_alone = taken(opt, "lora_attention", used, 0) == 1;
    s->scores = taken(opt, "scores", used, 0) == 1;
    s->unfused = taken(opt, "unfused", used, 0) == 1;
    s->once = taken(opt, "once", used, 0);
    s->served = taken(opt, "served", used, 0) == 1;
    s->kv_bits = taken(opt, "kv_bits", used, 0);
    s->weight_bits = taken(opt, "weight_bits", used, 0);
    s->context =
        taken(opt, "context", used, s->tokens > 1 ? s->tokens : DECODE_CONTEXT);
    if (opt && ft__options_are_sizes(s->b, opt)) {
        if (opt->n_inputs)
            ft__build_fail(s->b, FT_EINVAL, 0,
                           "--input does not apply: --batch, --dim tokens= and --dim "
                           "context= say what goes in");
        ft__options_are_used(s->b, opt, used, &there, NULL);
    }
    free(used);
    if ((double)s->ranks * (double)s->replicas * (double)s->stages > MOST_DEVICES)
        ft__build_fail(s->b, FT_EINVAL, 0, "tp x dp x pp is at most %d devices",
                       MOST_DEVICES);
    if (s->drafts && (s->tokens > 1 || !s->m.drafts || s->drafts > 64))
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "--dim mtp=%" PRId64
                       ": at most 64, decoding, and of a model with speculative layers "
                       "(num_nextn_predict_layers)",
                       s->drafts);
    if ((s->whole || s->m.encoder) && s->context != s->tokens)
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "%s: sequences are as long as --dim tokens=N says, "
                       "without a context before them",
                       s->whole ? "--dim train=1"
                                : "an encoder answers in one pass, not token by token");
    else if (s->whole && (s->drafts || !is_plain(&s->m)))
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "--dim train=1: of models whose layers all have causal, grouped "
                       "attention over all tokens or a window%s",
                       s->m.vision.hidden
                           ? ", and no vision tower: its \"text_config\" alone is one"
                           : "");
    if (s->once < 0 || s->once > FT__LLM_COUNTED || (s->once && s->whole))
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "--dim once=%" PRId64
                       ": 0, 1 or 2, and steps that train go without it",
                       s->once);
    if ((s->scores || s->unfused || s->lora) && !s->whole)
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "--dim scores=1, unfused=1, lora=N: with train=1");
    if (s->lora < 0 || s->lora > s->m.hidden)
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "--dim lora=%" PRId64
                       ": a rank is at most hidden_size, %" PRId64,
                       s->lora, s->m.hidden);
    s->tokens += s->drafts;
    if (s->context < s->tokens)
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "--dim context=%" PRId64 ": less than the %" PRId64
                       " new tokens",
                       s->context, s->tokens);
    else if ((double)s->batch * (double)s->context > (double)FT__MAX_ELEMENTS)
        ft__build_fail(s->b, FT_EINVAL, 0, "batch times context is too large");
    s->rows = ft__build_failed(s->b) ? 1 : s->batch * s->tokens;
}

static bool has_dense(const ft__llm_layer *l)
{
    return l->ffn == FT__LLM_DENSE || l->ffn == FT__LLM_BOTH;
}

/* Heads of keys are shared evenly, or ranks by them: vLLM and SGLang refuse others. */
static bool divides_keys(int64_t heads, int64_t ranks)
{
    return heads % ranks == 0 || ranks % heads == 0;
}

/* The first size of the model that so many ranks do not share evenly; NULL: none. */
static const char *undivided(int64_t *size, const ft__llm_step *s, int64_t ranks)
{
    const ft__llm *m = &s->m;
    const struct {
        int64_t size;
        const char *what;
    } all[] = {{m->linear_v_heads, "heads of linear attention"},
               {m->mamba_heads, "heads of Mamba layers"},
               {m->o_groups, "groups of the output"},
               {m->shared_ffn, "features of the shared experts"}};

    if (m->experts && ranks % s->expert_ranks == 0 &&
        m->expert_ffn % (ranks / s->expert_ranks))
        return *size = m->expert_ffn, "features of the experts";
    for (int64_t i = 0; i < m->layers; i++) {
        const ft__llm_layer *l = &m->layer[i];

        if (has_heads(l) && l->heads % ranks)
            return *size = l->heads, "heads";
        if (has_heads(l) && !divides_keys(l->kv_heads, ranks))
            return *size = l->kv_heads, "heads of keys and values";
        if (has_dense(l) && l->size % ranks)
            return *size = l->size, "features of the feed-forward layers";
    }
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].size % ranks)
            return *size = all[i].size, all[i].what;
    return NULL;
}

/* Says which ranks would do, of those of a few machines. */
static bool check_divided(ft__llm_step *s)
{
    enum { MOST = 64 };
    char would[256] = "1";
    size_t n = 1;
    int64_t size, other;
    const char *what = undivided(&size, s, s->ranks);

    if (!what)
        return true;
    for (int64_t ranks = 2; ranks <= MOST; ranks++)
        if (!undivided(&other, s, ranks))
            n += (size_t)snprintf(would + n, sizeof(would) - n, ", %" PRId64, ranks);
    ft__build_fail(s->b, FT_EINVAL, 0,
                   "tp=%" PRId64 " does not divide the %" PRId64 " %s; tp=%s would",
                   s->ranks, size, what, would);
    return false;
}

static void divide(ft__llm_step *s)
{
    ft__llm *m = &s->m;
    const int64_t all = s->ranks * s->replicas;

    if (!check_divided(s))
        return;
    for (int64_t i = 0; i < m->layers; i++) {
        ft__llm_layer *l = &m->layer[i];

        l->heads /= has_heads(l) ? s->ranks : 1;
        l->kv_heads = ft__llm_rounded_up(l->kv_heads, s->ranks);
        l->size /= has_dense(l) ? s->ranks : 1;
    }
    m->heads /= s->ranks;
    m->linear_heads = ft__llm_rounded_up(m->linear_heads, s->ranks);
    m->linear_v_heads /= s->ranks;
    m->mamba_heads /= s->ranks;
    m->mamba_groups = ft__llm_rounded_up(m->mamba_groups, s->ranks);
    m->o_groups /= s->ranks;
    m->shared_ffn /= s->ranks;
    m->vocab = ft__llm_rounded_up(m->vocab, s->ranks);
    if (s->expert_ranks > 1 && !m->experts)
        ft__build_fail(s->b, FT_EINVAL, 0, "ep=%" PRId64 ": the model has no experts",
                       s->expert_ranks);
    else if (all % s->expert_ranks || m->experts % s->expert_ranks)
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "ep=%" PRId64 " does not divide tp x dp=%" PRId64
                       " and the %" PRId64 " experts",
                       s->expert_ranks, all, m->experts);
    else if (m->experts && m->expert_ffn % (all / s->expert_ranks))
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "tp x dp / ep=%" PRId64 " does not divide the %" PRId64
                       " features of the experts",
                       all / s->expert_ranks, m->expert_ffn);
    if (s->stages > m->layers)
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "--dim pp=%" PRId64 ": more than the %" PRId64 " layers",
                       s->stages, m->layers);
}

/* What is packed for serving is trained as what it was packed from, but for weights of
 * few bits that are frozen. */
static void unpack(ft__llm_step *s)
{
    ft__llm *m = &s->m;

    s->repacked = m->table != FT_DTYPE_NONE;
    for (int part = 0; part < FT__LLM_PARTS; part++) {
        if (s->lora && !m->quant[part].activations)
            continue;
        s->repacked |= m->quant[part].weights != FT_DTYPE_NONE;
        m->quant[part] = (ft__llm_quant){FT_DTYPE_NONE, 0, false};
    }
    m->table = FT_DTYPE_NONE;
    m->table_block = 0;
    m->kv = m->dtype;
}

/* Types that were asked for in place of the checkpoint's. */
static void retype(ft__llm_step *s)
{
    static const struct {
        int64_t bits;
        ft__llm_quant quant;
    } known[] = {{16, {FT_DTYPE_NONE, 0, false}},
                 {8, {FT_DTYPE_fp8e4m3, 0, true}},
                 {4, {FT_DTYPE_fp4, 16, true}}};
    bool found = s->weight_bits == 0;

    if (s->whole)
        unpack(s);
    s->repacked |= !found;
    s->m.gptq &= !s->weight_bits;
    if ((s->served || s->weight_bits) && !s->whole && s->m.dtype == FT_DTYPE_fp32) {
        s->m.kv = s->m.kv == FT_DTYPE_fp32 ? FT_DTYPE_bf16 : s->m.kv;
        s->m.dtype = FT_DTYPE_bf16;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        for (int part = 0; known[i].bits == s->weight_bits && part < FT__LLM_PARTS;
             part++) {
            found = true;
            if (part != FT__LLM_PART_HEAD)
                s->m.quant[part] =
                    s->lora && s->weight_bits == 4 ? FT__LLM_NF4 : known[i].quant;
        }
    if (s->kv_bits == 8)
        s->m.kv = FT_DTYPE_fp8e4m3;
    else if (s->kv_bits == 16)
        s->m.kv = s->m.dtype;
    if (!found || (s->kv_bits && s->kv_bits != 8 && s->kv_bits != 16))
        ft__build_fail(s->b, FT_EINVAL, 0,
                       "--dim weight_bits= is 16, 8 or 4, and kv_bits= 16 or 8");
}

/* vLLM and SGLang load no part of a block that shares a scale (vllm-project/vllm issues
 * 25292, 52997; vllm-project/recipes 96; sgl-project/sglang 3345). */
static void say_cut_blocks(ft__llm_step *s)
{
    const ft__llm *m = &s->m;
    const ft__llm_quant *q = &m->quant[FT__LLM_PART_EXPERTS];
    const int64_t ranks = s->ranks * s->replicas / s->expert_ranks;

    if (m->experts && ranks > 1 && q->weights == FT_DTYPE_fp8e4m3 && q->block &&
        (m->expert_ffn % ranks || m->expert_ffn / ranks % q->block))
        ft__build_assume(s->b,
                         "experts of %" PRId64 " features divided among %" PRId64
                         " ranks, though their scales hold for blocks of %" PRId64
                         ": vLLM and SGLang want fewer --tp, or more --ep",
                         m->expert_ffn, ranks, q->block);
}

static void say_assumed(ft__llm_step *s)
{
    const ft__llm *m = &s->m;

    if (s->whole || m->encoder)
        ft__build_assume(s->b,
                         "whole sequences of tokens=%" PRId64
                         ", without a cache, batch %" PRId64
                         " (--dim tokens=N, --batch N)",
                         s->tokens, s->batch);
    else
        ft__build_assume(s->b,
                         "one step: tokens=%" PRId64
                         " new of each sequence, context=%" PRId64
                         " in the cache, batch %" PRId64
                         " (--dim tokens=N, --dim context=N, --batch N)",
                         s->tokens, s->context, s->batch);
    if (s->lora)
        ft__build_assume(s->b,
                         "LoRA: every product of %s has an adapter of rank %" PRId64
                         "; all else is frozen",
                         s->attention_alone ? "attention"
                                            : "the layers but routers and experts",
                         s->lora);
    ft__build_language_model(s->b, m->positions, s->context);
    if (s->drafts)
        ft__build_assume(s->b,
                         "%" PRId64 " tokens of each sequence are drafted by a "
                         "speculative layer, and verified",
                         s->drafts);
    if (s->ranks > 1)
        ft__build_assume(s->b, "one of %" PRId64 " ranks of tensor parallelism",
                         s->ranks);
    if ((double)s->ranks * (double)s->replicas * (double)s->stages > (double)s->node)
        ft__build_assume(s->b,
                         "machines of %" PRId64
                         " devices, and a network between them (--dim node=N; a rack "
                         "of GB200 has 72)",
                         s->node);
    if (s->stages > 1)
        ft__build_assume(s->b,
                         "the last of %" PRId64
                         " stages of a pipeline, and what the one before it sends: a "
                         "token goes through all of them",
                         s->stages);
    if (s->replicas > 1)
        ft__build_assume(s->b,
                         "one of %" PRId64 " replicas with sequences of its own, whose "
                         "experts are those of all",
                         s->replicas);
    if (m->vision.hidden)
        ft__build_assume(s->b,
                         "the vision tower's weights are counted, not run; images "
                         "are tokens like others");
    if (m->named_type && !s->weight_bits && (!s->whole || s->lora)) {
        const char *fp = strstr(m->named_type, "fp"); /* others say how in the file */

        ft__build_assume(s->b,
                         "weights in %s: the configuration says no other type, though "
                         "its path has \"%s\": %s%s",
                         s->type, m->named_type, fp ? "--precision " : "",
                         fp ? fp : "quantization_config of the checkpoint is missing");
    }
    if (m->like_llama)
        ft__build_assume(s->b, "layers like Llama's: model_type \"%s\" is not known",
                         m->type);
    if (m->guessed_ffn)
        ft__build_assume(s->b,
                         "feed-forward layers of 4 times hidden_size: nothing says "
                         "their width (\"intermediate_size\")");
}

void ft__llm_ask(ft__llm_step *s, const ft_import_options *opt)
{
    take_options(s, opt);
    retype(s);
    s->type = ft_dtype_name(s->m.dtype);
    say_assumed(s);
    if (!ft__build_failed(s->b))
        divide(s);
    if (!ft__build_failed(s->b))
        say_cut_blocks(s);
}
