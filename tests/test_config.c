/* Steps of language models from a config.json: parameters counted by hand, what is in
 * the cache, what a rank has. */
#include <stdlib.h>

#include "check.h"
#include "import/llm/llm.h"

static const char small[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"intermediate_size\": 96,"
    " \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 2,"
    " \"vocab_size\": 100, \"torch_dtype\": \"bfloat16\"%s}";

static ft_graph *imported(const char *fmt, const char *more,
                          const ft_import_options *opt)
{
    char text[2000];
    ft_error err = {0};
    ft_graph *g;

    snprintf(text, sizeof(text), fmt, more);
    if (ft__import_llm(&g, text, strlen(text), "config.json", opt, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(g);
    return g;
}

static double parameters_of(const char *more)
{
    ft_graph *g = imported(small, more, NULL);
    ft_totals sum;

    ft_graph_totals(g, &sum);
    ft_graph_free(g);
    return sum.parameters;
}

/* The largest operation of a kind. */
static ft_op op_of(const ft_graph *g, ft_kind kind)
{
    ft_op found = {0};
    double most = -1;

    for (uint32_t i = 0; i < g->n_ops; i++) {
        ft_cost c;

        ft_op_cost(&g->op[i], &c);
        if (g->op[i].kind == kind && c.bytes_read > most) {
            most = c.bytes_read;
            found = g->op[i];
        }
    }
    CHECK_EQ(found.kind, kind);
    return found;
}

static void parameters_are_those_of_the_model(void)
{
    /* Queries, keys and values, output; gate, up and down; two norms. */
    const double layer = 64 * (64 + 2 * 32) + 64 * 64 + 3 * 64 * 96 + 2 * 64;
    const double ends = 2 * 100 * 64 + 64;

    CHECK_NEAR(parameters_of(""), 2 * layer + ends, 0);
    CHECK_NEAR(parameters_of(", \"tie_word_embeddings\": true"),
               2 * layer + ends - 6400, 0);
    CHECK_NEAR(parameters_of(", \"attention_bias\": true"),
               2 * (layer + 128 + 64) + ends, 0);
    CHECK_NEAR(parameters_of(", \"head_dim\": 8"),
               2 * (layer - 64 * 64 - 32 * 64) + ends, 0);
    CHECK_NEAR(parameters_of(", \"num_local_experts\": 8, \"num_experts_per_tok\": 2"),
               2 * (layer + 7 * 3 * 64 * 96 + 8 * 64) + ends, 0);
    /* Scales are no parameters. */
    CHECK_NEAR(parameters_of(", \"quantization_config\": {\"quant_method\": \"fp8\", "
                             "\"weight_block_size\": [32, 32]}"),
               2 * layer + ends, 0);
}

static void a_step_has_its_context_in_the_cache(void)
{
    const ft_dim_value dims[] = {{"tokens", 3}, {"context", 50}};
    const ft_import_options opt = {.batch = 5, .dims = dims, .n_dims = 2};
    ft_graph *g = imported(small, "", &opt);
    ft_op op = op_of(g, FT_KIND_attention);
    const ft_shape x = ft_op_shape(&op, FT_K_x), y = ft_op_shape(&op, FT_K_y);

    CHECK(EQ(x.dim[0], 5) && EQ(x.dim[1], 4) && EQ(x.dim[2], 3) && EQ(x.dim[3], 16));
    CHECK(EQ(y.dim[0], 5) && EQ(y.dim[1], 2) && EQ(y.dim[2], 50) && EQ(y.dim[3], 16));
    CHECK_EQ(ft_op_at(&op, FT_K_causal, 0), 1);
    CHECK_EQ(g->batch, 5);
    /* Logits of the last token alone. */
    CHECK_EQ(g->tensor[g->output[0]].shape.dim[0], 5);
    CHECK(HAS(g->assumption[0], "tokens=3") && HAS(g->assumption[0], "context=50"));
    ft_graph_free(g);
}

static void a_window_bounds_what_a_layer_looks_back_on(void)
{
    const ft_dim_value dims[] = {{"context", 50}};
    const ft_import_options opt = {.dims = dims, .n_dims = 1};
    ft_graph *g = imported(small,
                           ", \"sliding_window\": 20, \"layer_types\": "
                           "[\"sliding_attention\", \"full_attention\"]",
                           &opt);
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].kind == FT_KIND_attention) {
            const int64_t reach = ft_op_shape(&g->op[i], FT_K_y).dim[2];

            CHECK(reach == 20 || reach == 50);
            n++;
        }
    CHECK_EQ(n, 2);
    ft_graph_free(g);
}

static void a_rank_has_its_part_of_heads_and_columns(void)
{
    const ft_dim_value dims[] = {{"tp", 4}};
    const ft_import_options opt = {.dims = dims, .n_dims = 1};
    ft_graph *g = imported(small, "", &opt);
    ft_op op = op_of(g, FT_KIND_attention);
    uint64_t reductions = 0;

    CHECK_EQ(ft_op_shape(&op, FT_K_x).dim[1], 1);
    CHECK_EQ(ft_op_shape(&op, FT_K_y).dim[1], 1); /* of two, which all need */
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].kind == FT_KIND_collective)
            reductions += g->op_count[i];
    CHECK_EQ(reductions, 4);
    ft_graph_free(g);
}

/* DeepSeek's: one vector of the cache for all heads when decoding; expanded when not.
 */
static void latent_attention_has_one_vector_for_all_heads(void)
{
    static const char latent[] =
        ", \"kv_lora_rank\": 16, \"q_lora_rank\": 24, \"qk_rope_head_dim\": 4, "
        "\"qk_nope_head_dim\": 8, \"v_head_dim\": 12";
    const ft_dim_value dims[] = {{"tokens", 7}};
    const ft_import_options opt = {.dims = dims, .n_dims = 1};
    ft_graph *decode = imported(small, latent, NULL),
             *prefill = imported(small, latent, &opt);
    ft_op op = op_of(decode, FT_KIND_attention);
    ft_totals a, b;

    CHECK(EQ(ft_op_shape(&op, FT_K_y).dim[1], 1) &&
          EQ(ft_op_shape(&op, FT_K_y).dim[3], 20));
    CHECK_EQ(ft_op_shape(&op, FT_K_z).dim[3], 16);
    op = op_of(prefill, FT_KIND_attention);
    CHECK(EQ(ft_op_shape(&op, FT_K_y).dim[1], 4) &&
          EQ(ft_op_shape(&op, FT_K_y).dim[3], 12));
    ft_graph_totals(decode, &a);
    ft_graph_totals(prefill, &b);
    CHECK_NEAR(a.parameters, b.parameters, 0);
    ft_graph_free(decode);
    ft_graph_free(prefill);
}

/* Of a long context each query attends to the tokens that the indexer picks. */
static void an_indexer_bounds_what_a_query_attends_to(void)
{
    static const char sparse[] =
        ", \"kv_lora_rank\": 16, \"q_lora_rank\": 24, \"qk_rope_head_dim\": 4, "
        "\"qk_nope_head_dim\": 8, \"v_head_dim\": 12, \"index_topk\": 20, "
        "\"index_n_heads\": 2, \"index_head_dim\": 6";
    const ft_dim_value dims[] = {{"context", 50}, {"tokens", 30}};

    for (size_t n = 1; n <= 2; n++) {
        const ft_import_options opt = {.dims = dims, .n_dims = n};
        ft_graph *g = imported(small, sparse, &opt);
        ft_op op = op_of(g, FT_KIND_attention);

        CHECK_EQ(ft_op_shape(&op, FT_K_y).dim[2], 20);
        op = op_of(g, FT_KIND_topk);
        CHECK(EQ(ft_op_shape(&op, FT_K_x).dim[1], 50) &&
              EQ(ft_op_at(&op, FT_K_size, 0), 20));
        ft_graph_free(g);
    }
}

static void fails(const char *more, const ft_import_options *opt, ft_status st,
                  const char *said)
{
    char text[2000];
    ft_error err = {0};
    ft_graph *g;

    snprintf(text, sizeof(text), small, more);
    CHECK_EQ(ft__import_llm(&g, text, strlen(text), "config.json", opt, &err), st);
    CHECK(!g && HAS(err.msg, said));
}

static void what_is_wrong_or_not_known_is_named(void)
{
    const ft_dim_value three[] = {{"tp", 3}}, less[] = {{"tokens", 9}, {"context", 4}},
                       other[] = {{"sequence", 4}};

    fails(", \"num_hidden_layers\": 1000000000", NULL, FT_EUNSUPPORTED,
          "num_hidden_layers");
    fails(", \"num_hidden_layers\": 2000", NULL, FT_EUNSUPPORTED, "2000 layers");
    fails(", \"hidden_size\": -1", NULL, FT_EUNSUPPORTED, "hidden_size");
    fails(", \"num_attention_heads\": 3", NULL, FT_EFORMAT, "head_dim");
    fails(", \"layer_types\": [\"linear_attention\"]", NULL, FT_EUNSUPPORTED,
          "layer_types");
    fails(", \"quantization_config\": {\"quant_method\": \"new\"}", NULL,
          FT_EUNSUPPORTED, "quantization_config");
    fails(", \"num_experts\": 4", NULL, FT_EFORMAT, "num_experts_per_tok");
    fails(", \"a\": [", NULL, FT_EFORMAT, "byte");
    fails("", &(ft_import_options){.dims = three, .n_dims = 1}, FT_EINVAL, "tp=3");
    fails("", &(ft_import_options){.dims = less, .n_dims = 2}, FT_EINVAL, "context=4");
    fails("", &(ft_import_options){.dims = other, .n_dims = 1}, FT_EINVAL, "sequence");
}

static void a_step_with_a_cache_is_not_trained(void)
{
    const ft_step s = {.given = true, .mode = FT_MODE_TRAINING};
    ft_graph *g = imported(small, "", NULL), *step;
    ft_error err = {0};

    CHECK_EQ(ft_step_make(&step, g, &s, &err), FT_EUNSUPPORTED);
    CHECK(HAS(err.msg, "cache"));
    ft_graph_free(g);
}

int main(void)
{
    parameters_are_those_of_the_model();
    a_step_has_its_context_in_the_cache();
    a_window_bounds_what_a_layer_looks_back_on();
    a_rank_has_its_part_of_heads_and_columns();
    latent_attention_has_one_vector_for_all_heads();
    an_indexer_bounds_what_a_query_attends_to();
    what_is_wrong_or_not_known_is_named();
    a_step_with_a_cache_is_not_trained();
    CHECK_DONE();
}
