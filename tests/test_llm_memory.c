/* Memory of a server of a language model, against what vLLM's logs say. */
#include "check.h"
#include "foretell/foretell.h"

static const double GiB = 1024.0 * 1024 * 1024;
static char path[1000];

static ft_llm_memory asked(double memory, const ft_llm_limits *limits,
                           const ft_dim_value *dims, size_t n)
{
    ft_query q = FT_QUERY_INIT;
    ft_error err = {0};
    ft_llm_memory m;

    q.model = path;
    q.dims = dims;
    q.n_dims = n;
    if (ft_llm_memory_ask(&m, &q, memory, limits, &err))
        fprintf(stderr, "%s\n", err.msg);
    return m;
}

/* Two numbers of 2 bytes for each feature of 8 heads of 128 in 32 layers. */
static const double of_token = 2 * 2.0 * 8 * 128 * 32;

static void the_rest_of_the_budget_is_cache(void)
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

/* Llama-3.1-8B: on an H100 (79.18 GiB) 51.38 GiB, on an RTX 4090 41408 tokens of 2048
 * at once (docs/llm.md). */
static void a_cache_is_as_large_as_vllm_logs_it(void)
{
    const ft_llm_memory h100 = asked(79.18 * GiB, NULL, NULL, 0);
    const ft_llm_memory rtx = asked(25250627584.0, NULL, NULL, 0);

    CHECK_NEAR(h100.cache / GiB / 51.38, 1, 0.01);
    CHECK_NEAR(rtx.tokens / 41408, 1, 0.05);
}

static void ranks_and_narrow_caches_hold_more(void)
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

static void more_requests_have_shorter_contexts(void)
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

static void what_does_not_fit_has_no_cache(void)
{
    const ft_llm_memory m = asked(16e9, NULL, NULL, 0);

    CHECK(CMP(m.cache, <, 0));
    CHECK(EQ(m.requests, 0) && EQ(m.tokens, 0) && EQ(m.longest, 0));
}

static void what_is_no_language_model_is_refused(void)
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
    the_rest_of_the_budget_is_cache();
    a_cache_is_as_large_as_vllm_logs_it();
    ranks_and_narrow_caches_hold_more();
    more_requests_have_shorter_contexts();
    what_does_not_fit_has_no_cache();
    what_is_no_language_model_is_refused();
    CHECK_DONE();
}
