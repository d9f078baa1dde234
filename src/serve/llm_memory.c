/* Memory of a server of a language model: what is left for its cache, and how many
 * requests that holds. Sizes are read off the graphs of its steps. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "import/llm/llm.h"
#include "serve/serve.h"

/* Devices with so much memory have larger steps. */
static const double large_bytes = 70.0 * (1 << 30);
/* Of each word of the vocabulary and sequence: logits in 16 bits and in 32, their
 * probabilities and the random numbers beside; where they are sorted for top-k and
 * top-p, sorted ones, their places and sums, too. By vLLM's memory profiles on H100
 * (docs/llm.md).
 */
static const double sampled_bytes = 14, sorted_bytes = 38.4;
/* What the driver, cuBLAS and collectives hold; CUDA graphs: vLLM's logs estimate 0.26
 * to 0.45 GiB of dense models (docs/notes/llm-served.md). */
static const double alone_bytes = 0.2 * (1 << 30), together_bytes = 0.55 * (1 << 30),
                    graph_bytes = 0.4 * (1 << 30);

enum { MOST_TOKENS = 1 << 24 };

static bool is_cache(const ft_tensor *t)
{
    static const char *const names[] = {"keys",   "values", "latent",    "index",
                                        "window", "state",  "conv_state"};

    for (size_t i = 0; t->role == FT_ROLE_INPUT && i < sizeof(names) / sizeof(*names);
         i++)
        if (strcmp(t->name, names[i]) == 0)
            return true;
    return false;
}

/* B that a token has at once in a layer: what goes in and the residual, and around the
 * widest product or the experts what they make. */
static double wide_of(const ft_op *op)
{
    const ft_shape x = ft_op_shape(op, FT_K_x);
    const double in = x.rank ? (double)x.dim[x.rank - 1] : 0;
    double hidden;

    if (op->kind == FT_KIND_linear)
        return 2 * 1.5 * (double)ft_op_at(op, FT_K_out, 0);
    if (op->kind != FT_KIND_moe)
        return 0;
    hidden = (double)ft_op_at(op, FT_K_hidden, 0) / (double)ft_op_at(op, FT_K_tp, 0);
    return 2 * (double)ft_op_at(op, FT_K_topk, 0) * (fmax(in, 2 * hidden) + hidden);
}

static void take_op(ft__llm_sizes *s, const ft_op *op, const char *name)
{
    if (op->kind == FT_KIND_collective && strcmp(name, "all_reduce") == 0)
        s->ranks = (double)ft_op_at(op, FT_K_ranks, 0);
    if (strcmp(name, "lm_head") == 0) {
        s->vocab = (double)ft_op_at(op, FT_K_out, 0);
        s->hidden = (double)ft_op_at(op, FT_K_x, 1);
    } else {
        s->widest = fmax(s->widest, wide_of(op));
    }
}

void ft__llm_memory_of_step(ft__llm_sizes *out, const ft_graph *g)
{
    ft_totals sum;

    *out = (ft__llm_sizes){.ranks = 1};
    ft_graph_totals(g, &sum);
    out->weights = sum.weight_bytes;
    out->parameters = sum.parameters;
    out->positions = g->positions;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (is_cache(&g->tensor[i]))
            out->cache +=
                g->tensor[i].copies *
                (double)ft_tensor_bytes(&g->tensor[i].shape, g->tensor[i].dtype);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        take_op(out, &g->op[g->node[i].op], g->node[i].name);
}

ft_status ft__llm_memory_sizes(ft__llm_sizes *out, const ft_query *q, double context,
                               ft_error *err)
{
    ft_dim_value *dims = calloc(q->n_dims + 3, sizeof(*dims));
    ft_query asked = *q;
    ft_graph *g = NULL;
    size_t n = 0;
    ft_status st;

    if (!dims)
        return ft_fail(err, FT_ENOMEM, 0, "memory of %s", q->model);
    for (size_t i = 0; i < q->n_dims; i++)
        if (strcmp(q->dims[i].name, "context") != 0 &&
            strcmp(q->dims[i].name, "tokens") != 0 &&
            strcmp(q->dims[i].name, "once") != 0)
            dims[n++] = q->dims[i];
    dims[n++] = (ft_dim_value){"context", (int64_t)context};
    dims[n++] = (ft_dim_value){"once", FT__LLM_COUNTED};
    asked.graph = NULL;
    asked.batch = 1;
    asked.dims = dims;
    asked.n_dims = n;
    st = ft_query_import(&g, &asked, err);
    free(dims);
    if (st)
        return st;
    ft__llm_memory_of_step(out, g);
    ft_graph_free(g);
    return FT_OK;
}

uint64_t ft__llm_step_seqs(double memory_bytes)
{
    return memory_bytes >= large_bytes ? 1024 : 256;
}

uint64_t ft__llm_step_tokens(double memory_bytes)
{
    return memory_bytes >= large_bytes ? 8192 : 2048;
}

double ft__llm_activations(const ft__llm_sizes *s, double tokens, double seqs,
                           bool sorted_logits)
{
    return fmax(tokens * (6 * s->hidden + s->widest),
                (sorted_logits ? sorted_bytes : sampled_bytes) * fmin(seqs, tokens) *
                        s->vocab * s->ranks +
                    2 * tokens * s->hidden);
}

double ft__llm_workspace(const ft__llm_sizes *s, bool graphs)
{
    return (s->ranks > 1 ? together_bytes : alone_bytes) + (graphs ? graph_bytes : 0);
}

static ft_status read_limits(ft_llm_limits *out, const ft_llm_limits *in, double memory,
                             ft_error *err)
{
    *out = (ft_llm_limits)FT_LLM_LIMITS_INIT;
    if (in)
        memcpy(out, in, in->size < sizeof(*out) ? in->size : sizeof(*out));
    out->share = out->share > 0 ? out->share : 0.9;
    out->seqs = out->seqs ? out->seqs : ft__llm_step_seqs(memory);
    out->batched_tokens =
        out->batched_tokens ? out->batched_tokens : ft__llm_step_tokens(memory);
    out->context = out->context ? out->context : 4096;
    out->concurrency = out->concurrency ? out->concurrency : 1;
    out->block = out->block ? out->block : 16;
    if (!(memory > 0) || out->share > 1 || out->seqs > MOST_TOKENS ||
        out->batched_tokens > MOST_TOKENS || out->context > MOST_TOKENS ||
        out->concurrency > MOST_TOKENS || out->block > MOST_TOKENS)
        return ft_fail(err, FT_EINVAL, 0,
                       "a server's share of the memory is at most 1, and tokens and "
                       "sequences at most %d",
                       MOST_TOKENS);
    return FT_OK;
}

static double in_blocks(double tokens, const ft_llm_limits *l)
{
    return ceil(tokens / (double)l->block) * (double)l->block;
}

/* A request's part of the cache, by blocks. */
static ft_status request_bytes(double *out, const ft_query *q, double context,
                               const ft_llm_limits *l, ft_error *err)
{
    ft__llm_sizes s;
    ft_status st = ft__llm_memory_sizes(&s, q, in_blocks(context, l), err);

    *out = s.cache;
    return st;
}

/* The most blocks of tokens whose requests all fit; what a request takes grows with
 * them. */
static ft_status find_longest(double *out, const ft_query *q, const ft_llm_limits *l,
                              double cache, ft_error *err)
{
    double least = 0, most = MOST_TOKENS / (double)l->block, bytes;
    ft_status st = FT_OK;

    while (!st && most - least >= 1) {
        const double middle = ceil((least + most) / 2);

        st = request_bytes(&bytes, q, middle * (double)l->block, l, err);
        if (bytes * (double)l->concurrency <= cache)
            least = middle;
        else
            most = middle - 1;
    }
    *out = least * (double)l->block;
    return st;
}

static bool has_cache(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (is_cache(&g->tensor[i]))
            return true;
    return false;
}

static ft_status no_model(const ft_query *q, ft_error *err)
{
    return ft_fail(err, FT_EINVAL, 0, "%s: no language model with a cache", q->model);
}

static const char *largest(const ft_llm_memory *m)
{
    const double most =
        fmax(fmax(m->weights, m->activations), fmax(m->workspace, m->cache));

    return most == m->weights       ? "weights"
           : most == m->activations ? "activations"
           : most == m->cache       ? "cache"
                                    : "workspace";
}

ft_status ft_llm_memory_ask(ft_llm_memory *out, const ft_query *q, double memory_bytes,
                            const ft_llm_limits *limits, ft_error *err)
{
    ft__llm_sizes s;
    ft_llm_limits l;
    const ft__serve_engine e =
        ft__serve_engine_of(q->engine, q->engine_version, q->run_mode);
    ft_status st = read_limits(&l, limits, memory_bytes, err);

    *out = (ft_llm_memory){.most = ""};
    if (!st && q->graph && !has_cache(q->graph))
        st = no_model(q, err);
    if (!st)
        st = ft__llm_memory_sizes(&s, q, in_blocks((double)l.context, &l), err);
    if (!st && !(s.vocab > 0 && s.cache > 0))
        st = no_model(q, err);
    if (st)
        return st;
    out->budget = l.share * memory_bytes;
    out->weights = s.weights;
    out->activations = ft__llm_activations(&s, (double)l.batched_tokens, (double)l.seqs,
                                           e.sorted_logits);
    out->workspace = ft__llm_workspace(&s, e.reserves_graphs);
    out->cache = out->budget - out->weights - out->activations - out->workspace;
    out->request = s.cache;
    out->requests = fmax(0, out->cache / s.cache);
    out->tokens = out->requests * (double)l.context;
    out->most = largest(out);
    return find_longest(&out->longest, q, &l, out->cache, err);
}
