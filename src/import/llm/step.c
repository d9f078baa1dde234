/* One step of a language model as a graph: what vLLM and its like issue for each layer,
 * with queries, keys and values of one product, and gate and up of another. */
#include "import/llm/step.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"

static uint32_t dense(ft__llm_step *s, uint32_t x, int64_t size, ft__llm_part part)
{
    const ft__llm *m = &s->m;
    const ft_shape wide = SHAPE(s->rows, size);
    uint32_t gate, up;

    s->part = part;
    if (m->gated) {
        x = ft__llm_linear(s, "gate_up_proj", x, s->rows, m->hidden, 2 * size,
                           m->mlp_bias == 1);
        gate = ft__llm_view(s, x, SHAPE(s->rows, 2 * size), wide);
        up = ft__llm_view(s, x, SHAPE(s->rows, 2 * size), wide);
        gate = ft__llm_unary(s, "act_fn", FT_KIND_silu, gate, wide);
        x = ft__llm_binary(s, "mul", FT_KIND_mul, gate, up, wide, wide);
    } else {
        x = ft__llm_linear(s, "up_proj", x, s->rows, m->hidden, size, m->mlp_bias == 1);
        x = ft__llm_unary(s, "act_fn", FT_KIND_gelu, x, wide);
    }
    return ft__llm_linear(s, "down_proj", x, s->rows, size, m->hidden,
                          m->mlp_bias == 1);
}

/* Each token to where its experts are, or what they made of it back. */
static uint32_t exchanged(ft__llm_step *s, const char *name, uint32_t x, int64_t size)
{
    const int64_t picks = s->rows * s->m.topk, ranks = s->ranks * s->replicas;
    const int64_t own = (picks + s->ranks - 1) / s->ranks;
    const int64_t nodes = (ranks + s->node - 1) / s->node;

    if (s->replicas > 1)
        x = ft__llm_node(s, name, ft__llm_as(s, x, SHAPE(own, size)),
                         "collective x=%s ranks=%s mode=1%s%s", X(own, size), X(ranks),
                         nodes > 1 ? " nodes=" : "", nodes > 1 ? X(nodes) : "");
    return x;
}

/* Experts of all replicas' tokens. A server's kernels have all of them and skip what
 * others' experts are for; trainers bring each expert's rows to where it is. */
static uint32_t routed(ft__llm_step *s, uint32_t x, int64_t size)
{
    const ft__llm *m = &s->m;
    const int64_t ranks = s->ranks * s->replicas;
    const bool apart = s->whole && s->replicas > 1;
    const int64_t all = s->rows * s->replicas, ep = s->expert_ranks;
    const int64_t rows = apart ? ft__llm_rounded_up(all * m->topk, ep) : all;
    char types[96], split[64] = "";

    if (ranks > 1)
        snprintf(split, sizeof(split), " tp=%" PRId64 " ep=%" PRId64, ranks / ep,
                 apart ? 1 : ep);
    s->part = FT__LLM_PART_EXPERTS;
    ft__llm_put_types(types, s);
    x = exchanged(s, "dispatch", x, size);
    x = ft__llm_as(s, x, SHAPE(rows, size));
    x = ft__llm_node(s, "experts", x, "moe x=%s hidden=%s experts=%s topk=%s%s%s%s",
                     X(rows, size), X(m->expert_ffn), X(m->experts / (apart ? ep : 1)),
                     X(apart ? 1 : m->topk), split, types, m->gated ? "" : " gated=0");
    return ft__llm_as(s, exchanged(s, "combine", x, size), SHAPE(s->rows, size));
}

static uint32_t mixture(ft__llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;
    const ft__llm_sizes all = SIZES(s->rows, m->experts);
    const int64_t size = m->expert_in ? m->expert_in : m->hidden;
    uint32_t out = x, scores = ft__llm_node(s, "gate", x, "linear x=%s out=%s",
                                            X(s->rows, m->hidden), X(m->experts));

    scores = ft__llm_node(s, "gate", scores, "softmax x=%s axis=1", all.s);
    ft__llm_node(s, "gate", scores, "topk x=%s axis=1 size=%s", all.s, X(m->topk));
    s->part = FT__LLM_PART_SHARED;
    if (size != m->hidden)
        out = ft__llm_linear(s, "latent_down", out, s->rows, m->hidden, size, false);
    out = routed(s, out, size);
    s->part = FT__LLM_PART_SHARED;
    if (size != m->hidden)
        out = ft__llm_linear(s, "latent_up", out, s->rows, size, m->hidden, false);
    if (!m->shared_ffn)
        return out;
    if (m->shared_gate)
        ft__llm_node(s, "shared_gate", x, "linear x=%s out=1", X(s->rows, m->hidden));
    return ft__llm_add(s, "add", out, dense(s, x, m->shared_ffn, FT__LLM_PART_SHARED));
}

static uint32_t mixed(ft__llm_step *s, uint32_t x, int64_t layer)
{
    s->part = FT__LLM_PART_LINEAR;
    switch (s->l->mixer) {
    case FT__LLM_LINEAR: return ft__llm_linear_attention(s, x);
    case FT__LLM_MAMBA: return ft__llm_mamba2(s, x);
    case FT__LLM_MAMBA1: return ft__llm_mamba1(s, x);
    default: break;
    }
    s->part = FT__LLM_PART_ATTENTION;
    return s->m.o_rank    ? ft__llm_compressed(s, x)
           : s->m.kv_rank ? ft__llm_latent(s, x, layer)
                          : ft__llm_grouped(s, x, layer);
}

static uint32_t feed_forward(ft__llm_step *s, uint32_t x)
{
    const int64_t size = s->l->size;

    if (s->l->ffn == FT__LLM_BOTH)
        return ft__llm_add(s, "add", mixture(s, x),
                           dense(s, x, size, FT__LLM_PART_DENSE));
    return s->l->ffn == FT__LLM_EXPERTS ? mixture(s, x)
                                        : dense(s, x, size, FT__LLM_PART_DENSE);
}

/* Each rank has a part of sums; trainers scatter and gather them (arXiv:2205.05198). */
static uint32_t reduced(ft__llm_step *s, uint32_t x)
{
    static const char *const names[] = {"all_reduce", "reduce_scatter", "all_gather"};
    const int64_t nodes = (s->ranks + s->node - 1) / s->node;
    const int apart = s->whole && !s->scores;

    for (int i = apart; s->ranks > 1 && i <= 2 * apart; i++)
        x = ft__llm_node(s, names[i], x, "collective x=%s ranks=%s%s%s%s",
                         X(s->rows, s->m.hidden), X(s->ranks), apart ? " mode=1" : "",
                         nodes > 1 ? " nodes=" : "", nodes > 1 ? X(nodes) : "");
    return x;
}

/* Several residual streams (hyper-connections, arXiv:2409.19606): what goes into a part
 * of a layer is a sum of them, what comes out is added to each; weights of both come
 * from a product. */
static uint32_t gathered(ft__llm_step *s, uint32_t x)
{
    const int64_t n = s->m.streams, all = n * s->m.hidden;

    if (n == 1)
        return x;
    x = ft__llm_as(s, x, SHAPE(s->rows, all));
    ft__llm_node(s, "hc_weights", x, "linear x=%s out=%s dtype=fp32", X(s->rows, all),
                 X(n * (n + 2)));
    return ft__llm_view(s,
                        ft__llm_node_on(s, "hc_streams", (uint32_t[]){x, x}, 2,
                                        "mul x=%s y=%s", X(s->rows, all),
                                        X(s->rows, all)),
                        SHAPE(s->rows, all), SHAPE(s->rows, s->m.hidden));
}

struct layer_name {
    char s[8 + FT__NUMBER_TEXT];
};

static struct layer_name name_of(int64_t layer)
{
    struct layer_name out = {.s = "layers."};
    char *number = out.s + strlen(out.s);

    number[ft__whole_text(number, layer)] = '\0';
    return out;
}

/* part: a module inside the layer, "" is the layer itself. */
static void scope(ft__llm_step *s, int64_t layer, const char *part)
{
    const struct layer_name own = name_of(layer);
    char name[96];
    const int n = *part ? snprintf(name, sizeof(name), "%s/%s.%s", own.s, own.s, part)
                        : snprintf(name, sizeof(name), "%s", own.s);

    ft__build_scope(s->b, name, (size_t)n);
}

/* What mixes tokens, with the norm behind it where there are four. */
static uint32_t mixer_of(ft__llm_step *s, uint32_t x, int64_t layer)
{
    uint32_t y;

    scope(s, layer, "self_attn");
    y = reduced(s, mixed(s, x, layer));
    scope(s, layer, "");
    return s->m.four_norms ? ft__llm_norm(s, "post_attention_norm", y, s->m.hidden) : y;
}

static uint32_t ffn_of(ft__llm_step *s, uint32_t x, int64_t layer)
{
    uint32_t y;

    scope(s, layer, "mlp");
    y = reduced(s, feed_forward(s, x));
    scope(s, layer, "");
    return s->m.four_norms ? ft__llm_norm(s, "post_feedforward_norm", y, s->m.hidden)
                           : y;
}

static uint32_t layer_of(ft__llm_step *s, uint32_t x, int64_t layer)
{
    const ft__llm *m = &s->m;
    bool both;
    uint32_t in;

    s->l = &m->layer[layer];
    both = s->l->mixer != FT__LLM_NO_MIXER && s->l->ffn != FT__LLM_NO_FFN;
    scope(s, layer, "");
    if (s->l->mixer == FT__LLM_NO_MIXER && s->l->ffn == FT__LLM_NO_FFN)
        return x;
    in = ft__llm_norm(s, "input_norm", gathered(s, x), m->hidden);
    if (s->l->mixer != FT__LLM_NO_MIXER)
        x = ft__llm_add(s, "add", x, mixer_of(s, in, layer));
    if (both && !m->one_norm)
        in = ft__llm_norm(
            s, m->four_norms ? "pre_feedforward_norm" : "post_attention_norm",
            gathered(s, x), m->hidden);
    if (s->l->ffn != FT__LLM_NO_FFN)
        x = ft__llm_add(s, "add", x, ffn_of(s, in, layer));
    return x;
}

/* A layer that was made, to be copied for others like it. */
struct made {
    int64_t layer;
    ft__build_mark from, to;
    uint32_t in, out;
    uint32_t times; /* that it stands for, where layers that are alike stand once */
};

static uint32_t copy_of(ft__llm_step *s, const struct made *like, uint32_t x,
                        int64_t layer)
{
    const uint32_t further = ft__build_here(s->b).n_tensors - like->from.n_tensors;

    ft__build_copy(s->b, &like->from, &like->to, like->in, x, name_of(like->layer).s,
                   name_of(layer).s);
    return like->out == like->in ? x : like->out + further;
}

static bool is_like(const ft__llm_layer *a, const ft__llm_layer *b)
{
    return a->mixer == b->mixer && a->ffn == b->ffn && a->indexed == b->indexed &&
           a->compress == b->compress && a->heads == b->heads &&
           a->kv_heads == b->kv_heads && a->head == b->head && a->v_head == b->v_head &&
           a->size == b->size;
}

/* Does a layer stand for a later one? Between others that are alike, compilers fuse
 * both alike. */
static bool stands_for(const ft__llm_step *s, int64_t first, int64_t a, int64_t later)
{
    const ft__llm_layer *l = s->m.layer;
    const bool between = a > first && later + 1 < s->m.layers &&
                         is_like(&l[a - 1], &l[later - 1]) &&
                         is_like(&l[a + 1], &l[later + 1]);

    return is_like(&l[a], &l[later]) &&
           (s->once == FT__LLM_COUNTED || (s->once && between));
}

/* The layers of a pipeline stage, from number `first` on; one that is like an earlier
 * one is a copy of it, or is counted there. */
static uint32_t layers(ft__llm_step *s, uint32_t x, int64_t first)
{
    enum { KINDS = 16, STAND = 3 /* at most, of a kind: at both ends and between */ };
    const ft__llm_layer *l = s->m.layer;
    struct made made[KINDS];
    int n = 0, k;

    for (int64_t i = first; i < s->m.layers && !ft__build_failed(s->b); i++) {
        struct made now = {
            .layer = i, .from = ft__build_here(s->b), .in = x, .times = 1};

        for (k = 0; k < n && !stands_for(s, first, made[k].layer, i);)
            k++;
        if (k < n) {
            made[k].times++;
            continue;
        }
        for (k = 0; k < n && !is_like(&l[made[k].layer], &l[i]);)
            k++;
        x = now.out = k < n ? copy_of(s, &made[k], x, i) : layer_of(s, x, i);
        now.to = ft__build_here(s->b);
        if (n < KINDS && (k == n || s->once) &&
            now.from.n_assumptions == now.to.n_assumptions &&
            now.from.n_bounded == now.to.n_bounded) {
            if (k == n && s->once != FT__LLM_COUNTED)
                ft__build_reserve(s->b, &now.from, &now.to,
                                  (uint32_t)(s->once ? STAND : s->m.layers - i));
            made[n++] = now;
        }
    }
    for (k = 0; k < n && s->once; k++)
        ft__build_stand_for(s->b, &made[k].from, &made[k].to, made[k].times);
    return x;
}

static ft__llm_sizes table_types(const ft__llm *m)
{
    ft__llm_sizes out = {.s = ""};

    if (m->table)
        snprintf(out.s, sizeof(out.s), " weights=%s%s%.20s", ft_dtype_name(m->table),
                 m->table_block ? " block=" : "",
                 m->table_block ? X(m->table_block) : "");
    return out;
}

static uint32_t embed(ft__llm_step *s)
{
    const ft__llm *m = &s->m;
    const ft_shape ids = {.rank = 2, .dim = {s->batch, s->tokens}};
    uint32_t x = ft__llm_tensor_of(s, "input_ids", FT_ROLE_INPUT, FT_DTYPE_int64, &ids),
             places;

    s->embedding =
        ft__llm_tensor_of(s, "", FT_ROLE_WEIGHT, m->table ? m->table : m->dtype,
                          &(ft_shape){.rank = 2, .dim = {m->vocab, m->hidden}});
    x = ft__llm_node(s, "", x, "view x=%s out=%s dtype=int64", X(s->batch, s->tokens),
                     X(s->rows));
    x = ft__llm_node_with(s, "embed_tokens", x, s->embedding,
                          "embedding x=%s rows=%s dim=%s%s", X(s->rows), X(m->vocab),
                          X(m->hidden), table_types(m).s);
    if (m->table_block)
        ft__llm_tensor_of(s, "", FT_ROLE_WEIGHT, FT_DTYPE_fp8e8m0,
                          &(ft_shape){.rank = 1,
                                      .dim = {m->vocab * m->hidden / m->table_block *
                                              ft_dtype_bits(m->dtype) / 8}});
    if (m->embed_norm)
        x = ft__llm_norm(s, "embed_norm", x, m->hidden);
    if (!m->learned_positions)
        return x;
    places = ft__llm_weight(s, (ft_shape){.rank = 2, .dim = {m->positions, m->hidden}});
    places = ft__llm_view(s, places, SHAPE(m->positions, m->hidden),
                          SHAPE(s->rows, m->hidden));
    return ft__llm_add(s, "embed_positions", x, places);
}

/* Of the last token of each sequence, and of those that were drafted for it; an encoder
 * makes a vector of the first. */
static void head(ft__llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;
    const int64_t rows = s->whole ? s->rows : s->batch * (1 + s->drafts);
    char types[96];

    ft__build_scope(s->b, "", 0);
    x = ft__llm_norm(s, "norm", x, m->hidden);
    s->part = FT__LLM_PART_HEAD;
    ft__llm_put_types(types, s);
    x = ft__llm_view(s, x, SHAPE(s->rows, m->hidden), SHAPE(rows, m->hidden));
    x = ft__llm_node_with(s, m->encoder ? "pooler" : "lm_head", x, s->head,
                          "linear x=%s out=%s%s%s", X(rows, m->hidden),
                          X(m->encoder ? m->hidden : m->vocab),
                          m->head_bias ? " bias=1" : "", types);
    if (s->unfused)
        x = ft__llm_node(s, "logits", x, "cast x=%s to=fp32", X(rows, m->vocab));
    if (x != FT_NONE)
        ft__build_output(s->b, x);
}

/* A speculative head (multi-token prediction, arXiv:2404.19737, as DeepSeek-V3 has it):
 * what the model made of a token beside the next one's embedding, through a layer like
 * the last, to the model's own words. Once for each token that is drafted. */
static void draft(ft__llm_step *s, uint32_t x)
{
    const ft__llm *m = &s->m;
    const uint32_t first = ft__build_here(s->b).n_nodes;
    const int64_t drafts = s->drafts;

    x = ft__llm_view(s, x, SHAPE(s->rows, m->hidden), SHAPE(s->batch, m->hidden));
    s->rows = s->batch;
    s->tokens = 1;
    s->drafts = 0;
    scope(s, m->layers, "");
    ft__llm_norm(s, "enorm", x, m->hidden);
    x = ft__llm_norm(s, "hnorm", x, m->hidden);
    x = ft__llm_view(s, x, SHAPE(s->rows, m->hidden), SHAPE(s->rows, 2 * m->hidden));
    s->part = FT__LLM_PART_DENSE;
    x = ft__llm_linear(s, "eh_proj", x, s->rows, 2 * m->hidden, m->hidden, false);
    head(s, layer_of(s, x, m->layers - 1));
    ft__build_repeat_from(s->b, first, (uint64_t)drafts);
}

/* Of a tower of transformer layers: patches, positions, layers with biases and two
 * norms, and the products that bring merged patches to the model. */
static void tower(ft__llm_step *s)
{
    const ft__llm_vision *v = &s->m.vision;
    const double h = (double)v->hidden, merged = h * (double)(v->merge * v->merge);
    const double inner = v->attention ? (double)v->attention : h;
    const double layer = 4 * h * inner + 3 * inner + h + 2 * h * (double)v->ffn +
                         (double)v->ffn + h + 4 * h;
    double all =
        (double)v->channels * (double)(v->frames * v->patch * v->patch) * h + h;

    if (!v->hidden)
        return;
    all += (double)v->positions * h + (double)v->layers * layer;
    all += v->merge > 1 ? merged * merged + merged + 2 * h + merged * (double)v->out
                        : h * (double)v->out;
    all += (double)v->taps * (merged * merged + 3 * merged + merged * (double)v->out);
    all = ceil(all / (double)s->ranks);
    if (all < (double)FT__MAX_ELEMENTS)
        ft__llm_weight(s, (ft_shape){.rank = 1, .dim = {(int64_t)all}});
}

/* A checkpoint of another size than what was counted has parts that nothing said. */
static void say_unknown_part(ft__llm_step *s)
{
    const double said = s->m.checkpoint_bytes;
    const bool whole = s->ranks == 1 && s->stages == 1 && s->replicas == 1;
    double counted = 0;

    for (uint32_t i = 0, n = ft__build_here(s->b).n_tensors; i < n; i++) {
        const ft_tensor *t = ft__build_get(s->b, i);

        if (t->role == FT_ROLE_WEIGHT)
            counted += t->copies * (double)ft_tensor_bytes(&t->shape, t->dtype);
    }
    if (said > 0 && whole && !s->repacked && fabs(counted / said - 1) > 0.05)
        ft__build_assume(s->b,
                         "weights of %.4g GB; the checkpoint has %.4g GB "
                         "(model.safetensors.index.json)",
                         counted / 1e9, said / 1e9);
}

static void network(ft__llm_step *s)
{
    const int64_t own = ft__llm_rounded_up(s->m.layers, s->stages);
    const ft_shape shape = {.rank = 2, .dim = {s->rows, s->m.hidden}},
                   vectors = {.rank = 2, .dim = {s->m.vocab, s->m.hidden}};
    uint32_t x;

    if (s->stages > 1) {
        x = ft__llm_tensor_of(s, "hidden_states", FT_ROLE_INPUT, s->m.dtype, &shape);
        x = ft__llm_node(s, "receive", x, "collective x=%s ranks=2 mode=2%s",
                         X(s->rows, s->m.hidden),
                         s->ranks * s->stages > s->node ? " nodes=2" : "");
    } else {
        tower(s);
        x = embed(s);
    }
    s->rotations = ft__llm_rotations(s);
    x = layers(s, x, s->m.layers - own);
    s->head = s->m.tied   ? s->embedding
              : s->drafts ? ft__llm_weight(s, vectors)
                          : FT_NONE;
    head(s, x);
    if (s->drafts)
        draft(s, x);
    if (!ft__build_failed(s->b))
        say_unknown_part(s);
}

ft_status ft__llm_step_of(ft_graph **out, const ft__llm *m, const char *name,
                          const ft_import_options *opt, ft_error *err)
{
    ft__llm_step room, *s = &room;
    ft_error inner = {0};
    ft_status st;

    memset(s, 0, offsetof(ft__llm_step, m));
    memcpy(&s->m, m, offsetof(ft__llm, layer) + (size_t)m->layers * sizeof(*m->layer));
    s->embedding = FT_NONE;
    *out = NULL;
    s->b = ft__build_new(name);
    if (!s->b)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    ft__llm_ask(s, opt);
    if (!ft__build_failed(s->b))
        network(s);
    st = ft__build_finish_take(out, s->b, &inner);
    return st ? ft_fail(err, st, inner.pos, "%s: %.400s", name, inner.msg) : FT_OK;
}
