/* Memory of a server of a language model, against what vLLM's logs say. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "foretell/foretell.h"

static const double GiB = 1024.0 * 1024 * 1024;
static char path[1000];

/* By vLLM of a version; NULL: the newest. */
static ft_llm_memory asked_of(const char *version, double memory,
                              const ft_llm_limits *limits, const ft_dim_value *dims,
                              size_t n)
{
    ft_query q = FT_QUERY_INIT;
    ft_error err = {0};
    ft_llm_memory m;

    q.model = path;
    q.engine = "vllm";
    q.engine_version = version;
    q.dims = dims;
    q.n_dims = n;
    if (ft_llm_memory_ask(&m, &q, memory, limits, &err))
        fprintf(stderr, "%s\n", err.msg);
    return m;
}

static ft_llm_memory asked(double memory, const ft_llm_limits *limits,
                           const ft_dim_value *dims, size_t n)
{
    return asked_of(NULL, memory, limits, dims, n);
}

/* Two numbers of 2 bytes for each feature of 8 heads of 128 in 32 layers. */
static const double of_token = 2 * 2.0 * 8 * 128 * 32;

TEST(the_rest_of_the_budget_is_cache)
{
    const ft_llm_memory m = asked(24e9, NULL, NULL, 0);

    CHECK_NEAR(m.budget, 0.9 * 24e9, 1);
    CHECK_NEAR(m.weights, 2 * 8030261248.0, 0);
    CHECK_NEAR(m.budget, m.weights + m.activations + m.workspace + m.cache, 1);
    CHECK_NEAR(m.request, 4096 * of_token, 0);
    CHECK_NEAR(m.tokens, m.cache / of_token, 1);
    CHECK_NEAR(m.requests, m.tokens / 4096, 1e-6);
    CHECK(CMP(m.longest, <=, m.tokens) && CMP(m.longest, >, m.tokens - 16));
    CHECK(SAME(m.most, "weights"));
}

/* Llama-3.1-8B: on an H100 (79.18 GiB) 51.38 GiB by a vLLM that sorts logits, on an RTX
 * 4090 41408 tokens of 2048 at once by one that reserves CUDA graphs, by its memory
 * (docs/llm.md). */
TEST(a_cache_is_as_large_as_vllm_logs_it)
{
    const ft_llm_memory h100 = asked_of("0.16", 79.18 * GiB, NULL, NULL, 0),
                        rtx = asked(25250627584.0, NULL, NULL, 0);

    CHECK_NEAR(h100.cache / GiB / 51.38, 1, 0.01);
    CHECK_NEAR(rtx.tokens / 41408, 1, 0.05);
}

#define DENSE(family, hidden, wide, layers, heads, kv_heads, words)                    \
    "{\"model_type\": \"" family "\", \"hidden_size\": " #hidden                       \
    ", \"intermediate_size\": " #wide ", \"num_hidden_layers\": " #layers              \
    ", \"num_attention_heads\": " #heads ", \"num_key_value_heads\": " #kv_heads       \
    ", \"vocab_size\": " #words ", \"torch_dtype\": \"bfloat16\"}"
#define TWO_LAYERS "\"sliding_attention\", \"full_attention\""
#define SIX_LAYERS TWO_LAYERS ", " TWO_LAYERS ", " TWO_LAYERS

/* Runs that threads quote (docs/llm.md has each with its address): GiB of a device that
 * vLLM saw, its share, the largest step, ranks, and GiB of cache that it logged, or
 * blocks of 16 tokens. */
static const struct run {
    const char *config;
    double memory, share;
    uint64_t tokens, seqs;
    int64_t tp;
    double cache, blocks;
    const char *version;
} runs[] = {
    /* Llama-3-8B, H100; vLLM pull request 10511 */
    {DENSE("llama", 4096, 14336, 32, 32, 8, 128256), 79.22, 0.9, 8192, 256, 1, 53.29, 0,
     "0.16"},
    /* Llama-2-7B, A100 of 80 GB; pull request 2031 */
    {DENSE("llama", 4096, 11008, 32, 32, 32, 32000), 79.15, 0.9, 4096, 256, 1, 0, 7351,
     "0.16"},
    /* DeepSeek-R1-Distill-Qwen-14B, two RTX 4090; issue 13061 */
    {DENSE("qwen2", 5120, 13824, 48, 40, 8, 152064), 23.55, 0.98, 2048, 256, 2, 0, 5096,
     "0.16"},
    /* gpt-oss-20b, L40S; pull request 29830 */
    {"{\"model_type\": \"gpt_oss\", \"hidden_size\": 2880, \"intermediate_size\": 2880,"
     " \"head_dim\": 64, \"num_attention_heads\": 64, \"num_key_value_heads\": 8,"
     " \"num_hidden_layers\": 24, \"num_local_experts\": 32, \"num_experts_per_tok\": "
     "4,"
     " \"attention_bias\": true, \"sliding_window\": 128, \"vocab_size\": 201088,"
     " \"tie_word_embeddings\": false, \"layer_types\": [" SIX_LAYERS ", " SIX_LAYERS
     ", " SIX_LAYERS ", " SIX_LAYERS "], \"quantization_config\":"
     " {\"modules_to_not_convert\": [\"model.layers.*.self_attn\", "
     "\"model.layers.*.mlp."
     "router\", \"model.embed_tokens\", \"lm_head\"], \"quant_method\": \"mxfp4\"}}",
     44.4, 0.9, 2048, 256, 1, 24.38, 0, "0.16"},
    /* Qwen3-30B-A3B, two H100; issue 21524 */
    {"{\"model_type\": \"qwen3_moe\", \"hidden_size\": 2048, \"intermediate_size\": "
     "6144,"
     " \"moe_intermediate_size\": 768, \"head_dim\": 128, \"num_attention_heads\": 32,"
     " \"num_key_value_heads\": 4, \"num_hidden_layers\": 48, \"num_experts\": 128,"
     " \"num_experts_per_tok\": 8, \"decoder_sparse_step\": 1, \"mlp_only_layers\": [],"
     " \"tie_word_embeddings\": false, \"vocab_size\": 151936,"
     " \"torch_dtype\": \"bfloat16\"}",
     79.18, 0.9, 8192, 256, 2, 0, 54901, "0.16"},
    /* vLLM 0.19 on H100, a report in llm-d-incubation/llm-d-planner pull request 205:
     * Llama-3.1-8B on one, two and four (of its budget, less the parts listed),
     * Qwen2.5-7B */
    {DENSE("llama", 4096, 14336, 32, 32, 8, 128256), 79.19, 0.95, 8192, 1024, 1, 58.11,
     0, "0.19"},
    {DENSE("llama", 4096, 14336, 32, 32, 8, 128256), 79.19, 0.95, 8192, 1024, 2, 63.76,
     0, "0.19"},
    {DENSE("llama", 4096, 14336, 32, 32, 8, 128256), 79.19, 0.95, 8192, 1024, 4, 67.44,
     0, "0.19"},
    {DENSE("qwen2", 3584, 18944, 28, 28, 4, 152064), 79.19, 0.95, 8192, 1024, 1, 58.53,
     0, "0.19"},
};

static void write_config(const char *text)
{
    FILE *fp;
    int fd;

    snprintf(path, sizeof(path), "/tmp/foretell-config-XXXXXX");
    fd = mkstemp(path);
    fp = fd < 0 ? NULL : fdopen(fd, "w");
    CHECK(fp && CMP(fputs(text, fp), >=, 0));
    if (fp)
        fclose(fp);
}

TEST(caches_of_published_runs_are_within_a_twentieth)
{
    char before[sizeof(path)];

    memcpy(before, path, sizeof(before));
    for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
        const struct run *r = &runs[i];
        const ft_dim_value tp = {"tp", r->tp};
        ft_llm_limits l = FT_LLM_LIMITS_INIT;
        const bool sorts = strcmp(r->version, "0.17") < 0;
        const double within = sorts ? 0.05 : r->tp > 1 ? 0.03 : 0.01;
        ft_llm_memory m;
        double off;

        l.share = r->share;
        l.seqs = r->seqs;
        l.batched_tokens = r->tokens;
        write_config(r->config);
        m = asked_of(r->version, r->memory * GiB, &l, &tp, 1);
        off = (r->blocks > 0 ? m.tokens / (16 * r->blocks) : m.cache / GiB / r->cache) -
              1;
        if (fabs(off) > within)
            fprintf(stderr, "run %zu: %+.3f\n", i + 1, off);
        CHECK(CMP(fabs(off), <=, within));
        remove(path);
    }
    memcpy(path, before, sizeof(path));
}

/* By vLLM from 0.21 on, unless it is eager; by no other engine. */
TEST(who_reserves_cuda_graphs_has_less_cache)
{
    static const char *const none[][3] = {{"vllm", "0.20", NULL},
                                          {"vllm", "0.21", "eager"},
                                          {"sglang", NULL, NULL},
                                          {"llama.cpp", NULL, NULL}};
    const double graphs = asked_of("0.21", 79e9, NULL, NULL, 0).workspace;
    ft_query q = FT_QUERY_INIT;
    ft_error err;

    q.model = path;
    CHECK_NEAR(asked(79e9, NULL, NULL, 0).workspace, graphs, 0);
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        ft_llm_memory m;

        q.engine = none[i][0];
        q.engine_version = none[i][1];
        q.run_mode = none[i][2];
        CHECK(!ft_llm_memory_ask(&m, &q, 79e9, NULL, &err));
        CHECK_NEAR(graphs - m.workspace, 0.4 * GiB, 1);
    }
}

TEST(ranks_and_narrow_caches_hold_more)
{
    const ft_dim_value dims[] = {{"tp", 2}, {"kv_bits", 8}};
    const ft_llm_memory one = asked(40e9, NULL, NULL, 0),
                        two = asked(40e9, NULL, dims, 1),
                        narrow = asked(40e9, NULL, dims, 2);

    CHECK_NEAR(two.request, one.request / 2, 0);
    CHECK_NEAR(narrow.request, one.request / 4, 0);
    CHECK(CMP(two.requests, >, 2 * one.requests));
    CHECK_NEAR(narrow.requests, 2 * two.requests, 1e-6);
}

TEST(more_requests_have_shorter_contexts)
{
    ft_llm_limits l = FT_LLM_LIMITS_INIT;
    ft_llm_memory alone, many;

    l.context = 1000;
    l.block = 64;
    alone = asked(24e9, &l, NULL, 0);
    l.concurrency = 10;
    many = asked(24e9, &l, NULL, 0);
    CHECK_NEAR(alone.request, 1024 * of_token, 0); /* by blocks */
    CHECK(CMP(many.longest, <=, alone.longest / 10));
    CHECK(CMP(many.longest, >, alone.longest / 10 - 64));
    CHECK_NEAR(fmod(many.longest, 64), 0, 0);
}

TEST(what_does_not_fit_has_no_cache)
{
    const ft_llm_memory m = asked(16e9, NULL, NULL, 0);

    CHECK(CMP(m.cache, <, 0));
    CHECK(EQ(m.requests, 0) && EQ(m.tokens, 0) && EQ(m.longest, 0));
}

TEST(what_is_no_language_model_is_refused)
{
    static const char list[] = "relu x=8x64";
    ft_query q = FT_QUERY_INIT;
    ft_llm_limits l = FT_LLM_LIMITS_INIT;
    ft_error err = {0};
    ft_llm_memory m;
    ft_graph *g;

    CHECK(!ft_import_ops(&g, list, strlen(list), "list", &err));
    q.model = "list";
    q.graph = g;
    CHECK_EQ(ft_llm_memory_ask(&m, &q, 1e9, NULL, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "no language model"));
    ft_graph_free(g);
    q.graph = NULL;
    q.model = path;
    l.share = 1.5;
    CHECK_EQ(ft_llm_memory_ask(&m, &q, 1e9, &l, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "at most 1"));
}

int main(int argc, char **argv)
{
    snprintf(path, sizeof(path), "%s/examples/llm/llama-3-8b.json",
             argc > 1 ? argv[1] : ".");
    check_all();
    CHECK_DONE();
}
