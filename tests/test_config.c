/* Steps of language models from a config.json: parameters counted by hand, what is in
 * the cache, what a rank has. */
#include <stdlib.h>

#include "graph/fuse.h"
#include "llm_config.h"

static double parameters_of(const char *more)
{
    ft_graph *g = imported(small, more, NULL);
    ft_totals sum;

    ft_graph_totals(g, &sum);
    ft_graph_free(g);
    return sum.parameters;
}

TEST(parameters_are_those_of_the_model)
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

TEST(a_step_has_its_context_in_the_cache)
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

TEST(a_window_bounds_what_a_layer_looks_back_on)
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

            CHECK(EQ(reach, 20) || EQ(reach, 50));
            n++;
        }
    CHECK_EQ(n, 2);
    ft_graph_free(g);
}

TEST(a_rank_has_its_part_of_heads_and_columns)
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
TEST(latent_attention_has_one_vector_for_all_heads)
{
    static const char latent[] =
        ", \"kv_lora_rank\": 16, \"q_lora_rank\": 24, \"qk_rope_head_dim\": 4, "
        "\"qk_nope_head_dim\": 8, \"v_head_dim\": 12";
    const ft_dim_value dims[] = {{"kv_bits", 8}, {"tokens", 7}};
    const ft_import_options opt = {.dims = dims, .n_dims = 2},
                            narrow = {.dims = dims, .n_dims = 1};
    ft_graph *decode = imported(small, latent, &narrow),
             *prefill = imported(small, latent, &opt);
    ft_op op = op_of(decode, FT_KIND_attention);
    ft_totals a, b;

    CHECK(EQ(ft_op_shape(&op, FT_K_y).dim[1], 1) &&
          EQ(ft_op_shape(&op, FT_K_y).dim[3], 20));
    CHECK_EQ(ft_op_shape(&op, FT_K_z).dim[3], 16);
    CHECK_EQ(ft_op_at(&op, FT_K_shared, 0), 1);
    CHECK_EQ(op.dtype, FT_DTYPE_fp8e4m3);
    op = op_of(prefill, FT_KIND_attention);
    CHECK_EQ(op.dtype, FT_DTYPE_bf16); /* expanded from the narrow cache */
    CHECK(EQ(ft_op_shape(&op, FT_K_y).dim[1], 4) &&
          EQ(ft_op_shape(&op, FT_K_y).dim[3], 12));
    ft_graph_totals(decode, &a);
    ft_graph_totals(prefill, &b);
    CHECK_NEAR(a.parameters, b.parameters, 0);
    ft_graph_free(decode);
    ft_graph_free(prefill);
}

/* Of a long context each query attends to the tokens that the indexer picks. */
TEST(an_indexer_bounds_what_a_query_attends_to)
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

static double parameters(const char *text)
{
    ft_graph *g = imported("%s", text, NULL);
    ft_totals sum;

    ft_graph_totals(g, &sum);
    ft_graph_free(g);
    return sum.parameters;
}

TEST(layers_may_be_one_half_alone)
{
    const double norm = 64;
    /* Into the gate, what is convolved (values, and keys and queries of two groups),
     * and a step for each head; a convolution with a bias; three constants of a head.
     */
    const double mamba = 64 * (64 + 96 + 4) + 96 * 5 + 3 * 4 + 64 + 64 * 64 + norm;
    const double dense = 2 * 64 * 96 + norm;
    const double attention = 64 * (4 + 2 * 2) * 16 + 64 * 64 + norm;
    const double experts = 64 * 4 + 2 * 64 * 32 + 4 * 2 * 32 * 32 + 2 * 64 * 48 + norm;

    CHECK_NEAR(
        parameters("{\"model_type\": \"nemotron_h\", \"hidden_size\": 64, "
                   "\"intermediate_size\": 96, \"num_attention_heads\": 4, "
                   "\"hybrid_override_pattern\": \"M-*E\", "
                   "\"num_key_value_heads\": 2, \"head_dim\": 16, "
                   "\"mamba_num_heads\": 4, \"mamba_head_dim\": 16, "
                   "\"ssm_state_size\": 8, \"n_groups\": 2, \"vocab_size\": 100, "
                   "\"n_routed_experts\": 4, \"num_experts_per_tok\": 2, "
                   "\"moe_intermediate_size\": 32, \"moe_latent_size\": 32, "
                   "\"n_shared_experts\": 1, "
                   "\"moe_shared_expert_intermediate_size\": 48}"),
        mamba + dense + attention + experts + 2 * 100 * 64 + norm, 0);
}

static const char delta[] =
    "{\"model_type\": \"qwen3_5\", \"text_config\": {\"model_type\": "
    "\"qwen3_5_moe_text\", \"hidden_size\": 64, \"num_hidden_layers\": 4, "
    "\"full_attention_interval\": 4, \"num_attention_heads\": 4, "
    "\"num_key_value_heads\": 2, \"head_dim\": 16, \"linear_num_key_heads\": 2, "
    "\"linear_num_value_heads\": 4, \"linear_key_head_dim\": 8, "
    "\"linear_value_head_dim\": 8, \"num_experts\": 4, "
    "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 32, "
    "\"shared_expert_intermediate_size\": 32, \"vocab_size\": 100}%s}";

TEST(linear_attention_has_a_state_in_place_of_a_cache)
{
    const double linear =
        64 * (2 * 16 + 32 + 32) + 64 * 8 + 64 * 4 + 2 * 4 + 8 + 32 * 64;
    const double full = 64 * (4 * 32 + 2 * 32) + 2 * 16 + 64 * 64;
    const double ffn = 64 * 4 + 5 * 3 * 64 * 32 + 64, norms = 2 * 64;
    const double all = 3 * linear + full + 4 * (ffn + norms) + 2 * 100 * 64 + 64;
    const ft_dim_value dims[] = {{"tokens", 130}};
    const ft_import_options opt = {.batch = 3, .dims = dims, .n_dims = 1};
    ft_graph *g = imported(delta, "", NULL);
    uint32_t states = 0;
    ft_op op;
    ft_totals sum;

    ft_graph_totals(g, &sum);
    CHECK_NEAR(sum.parameters, all, 0);
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (strcmp(g->tensor[i].name, "state") == 0) {
            CHECK_EQ(ft_tensor_bytes(&g->tensor[i].shape, g->tensor[i].dtype),
                     4 * 8 * 8 * 4);
            states++;
        }
    CHECK_EQ(states, 3);
    ft_graph_free(g);
    /* A prefill by chunks of 64 tokens: three for each head of each sequence. */
    g = imported(delta, "", &opt);
    op = op_of(g, FT_KIND_matmul);
    CHECK_EQ(ft_op_shape(&op, FT_K_x).dim[0], 3 * 4 * 3);
    ft_graph_free(g);
}

TEST(weights_of_a_vision_tower_are_counted)
{
    const double layer = 4 * 32 * 32 + 4 * 32 + 2 * 32 * 64 + 64 + 32 + 4 * 32;
    const double patches = 3 * 16 * 32 + 32, merged = 128;
    const double merger = merged * merged + merged + 2 * 32 + merged * 64;
    const double tap = merged * merged + 3 * merged + merged * 64;
    ft_graph *without = imported(delta, "", NULL);
    ft_graph *with =
        imported(delta,
                 ", \"vision_config\": {\"hidden_size\": 32, \"depth\": 2, "
                 "\"intermediate_size\": 64, \"patch_size\": 4, "
                 "\"spatial_merge_size\": 2, \"deepstack_visual_indexes\": [0, 1]}",
                 NULL);
    ft_totals a, b;

    ft_graph_totals(without, &a);
    ft_graph_totals(with, &b);
    CHECK_NEAR(b.parameters - a.parameters, 2 * layer + patches + merger + 2 * tap, 0);
    ft_graph_free(without);
    ft_graph_free(with);
}

/* Keys of 64 windows and one entry for every 4 tokens, of which 2 are picked. */
TEST(compressed_caches_are_read_in_part)
{
    static const char text[] =
        "{\"model_type\": \"deepseek_v4\", \"hidden_size\": 64, "
        "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
        "\"num_key_value_heads\": 1, \"head_dim\": 16, \"q_lora_rank\": 24, "
        "\"o_lora_rank\": 8, \"o_groups\": 2, \"index_topk\": 2, "
        "\"index_n_heads\": 2, \"index_head_dim\": 8, \"sliding_window\": 16, "
        "\"compress_ratios\": [0, 4], \"hc_mult\": 2, \"vocab_size\": 100}";
    const ft_dim_value dims[] = {{"context", 400}};
    const ft_import_options opt = {.dims = dims, .n_dims = 1};
    ft_graph *g = imported("%s", text, &opt);
    bool plain = false, picked = false;
    int64_t cached = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].kind == FT_KIND_attention) {
            const int64_t seen = ft_op_shape(&g->op[i], FT_K_y).dim[2];

            plain |= seen == 16;
            picked |= seen == 18;
            CHECK_EQ(ft_op_at(&g->op[i], FT_K_shared, 0), 1);
        }
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (strcmp(g->tensor[i].name, "window") == 0)
            cached += g->tensor[i].shape.dim[2];
    CHECK(plain && picked);
    CHECK_EQ(cached, 16 + 16 + 100);
    ft_graph_free(g);
}

TEST(values_in_the_memory_of_keys_are_read_once)
{
    ft_op apart, shared;
    ft_error err;
    ft_cost a, b;
    static const char spec[] = "attention x=1x4x1x20 y=1x1x50x20 z=1x1x50x16",
                      one[] = "attention x=1x4x1x20 y=1x1x50x20 z=1x1x50x16 shared=1";

    CHECK(!ft_op_parse(&apart, spec, strlen(spec), &err) &&
          !ft_op_parse(&shared, one, strlen(one), &err));
    ft_op_cost(&apart, &a);
    ft_op_cost(&shared, &b);
    CHECK_NEAR(a.bytes_read - b.bytes_read, 50 * 16 * 4, 0);
    CHECK_NEAR(a.flops, b.flops, 0);
}

/* Fields of newer families, against the counts that they are published with: ERNIE 4.5
 * 21B-A3B, Hunyuan-A13B (a list for each layer), Apertus 8B (no gate), Phi-3.5-MoE,
 * Grok 2 (a dense layer beside the experts), Gemma 3 1B (whose class knows the rest)
 * and two layers of Granite 4.0 Micro (sizes of Mamba, but no such layer). */
TEST(parameters_of_newer_families_are_those_published)
{
    static const struct published {
        double billions;
        const char *config;
    } all[] = {
        {21.83,
         "\"ernie4_5_moe\", \"hidden_size\": 2560, \"num_hidden_layers\": 28, "
         "\"vocab_size\": 103424, \"num_attention_heads\": 20, "
         "\"num_key_value_heads\": 4, \"intermediate_size\": 12288, "
         "\"moe_intermediate_size\": 1536, \"moe_num_experts\": 64, \"moe_k\": 6, "
         "\"moe_num_shared_experts\": 2, \"moe_layer_start_index\": 1, "
         "\"tie_word_embeddings\": true}"},
        {80.39, "\"hunyuan_v1_moe\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
                "\"vocab_size\": 128167, \"num_attention_heads\": 32, "
                "\"num_key_value_heads\": 8, \"intermediate_size\": 3072, "
                "\"moe_intermediate_size\": [3072, 3072], \"num_experts\": 64, "
                "\"moe_topk\": [8, 8], \"num_shared_expert\": [1, 1], "
                "\"tie_word_embeddings\": true}"},
        {8.053, "\"apertus\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
                "\"vocab_size\": 131072, \"num_attention_heads\": 32, "
                "\"num_key_value_heads\": 8, \"intermediate_size\": 21504}"},
        {41.87, "\"phimoe\", \"attention_bias\": true, \"hidden_size\": 4096, "
                "\"intermediate_size\": 6400, \"num_attention_heads\": 32, "
                "\"num_key_value_heads\": 8, \"num_hidden_layers\": 32, "
                "\"num_local_experts\": 16, \"num_experts_per_tok\": 2, "
                "\"vocab_size\": 32064}"},
        {269.5, "\"git\", \"hidden_size\": 8192, \"num_hidden_layers\": 64, "
                "\"vocab_size\": 131072, \"num_attention_heads\": 64, "
                "\"num_key_value_heads\": 8, \"intermediate_size\": 32768, "
                "\"moe_intermediate_size\": 16384, \"num_local_experts\": 8, "
                "\"num_experts_per_tok\": 2, \"residual_moe\": true}"},
        {0.99989,
         "\"gemma3_text\", \"hidden_size\": 1152, \"intermediate_size\": 6912, "
         "\"num_attention_heads\": 4, \"num_hidden_layers\": 26, "
         "\"num_key_value_heads\": 1, \"sliding_window\": 512}"},
        {0.41423,
         "\"granitemoehybrid\", \"hidden_size\": 2560, \"num_hidden_layers\": 2, "
         "\"vocab_size\": 100352, \"num_attention_heads\": 40, "
         "\"num_key_value_heads\": 8, \"intermediate_size\": 8192, "
         "\"layer_types\": [\"attention\", \"attention\"], \"mamba_d_state\": 128, "
         "\"mamba_n_heads\": 80, \"tie_word_embeddings\": true}"},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        char text[1000];

        snprintf(text, sizeof(text), "{\"model_type\": %s", all[i].config);
        CHECK_NEAR(parameters(text) / (1e9 * all[i].billions), 1, 0.005);
    }
    fails(", \"num_key_value_heads\": [2, 1]", NULL, FT_EUNSUPPORTED,
          "num_key_value_heads");
    fails(", \"num_key_value_heads\": [[2], [2]]", NULL, FT_EUNSUPPORTED,
          "num_key_value_heads");
    fails(", \"max_position_embeddings\": [64, null], \"head_dim\": [\"16\"]", NULL,
          FT_EUNSUPPORTED, "head_dim");
    fails(", \"zero_expert_num\": 8", NULL, FT_EUNSUPPORTED, "zero_expert_num");
}

/* BERT-large has 335,141,888 parameters with its pooler. */
TEST(an_encoder_attends_to_all_tokens_and_makes_a_vector)
{
    static const char bert[] =
        "{\"model_type\": \"bert\", \"hidden_size\": 1024, \"intermediate_size\": 4096,"
        " \"num_hidden_layers\": 24, \"num_attention_heads\": 16, \"vocab_size\": "
        "30522,"
        " \"max_position_embeddings\": 512}";
    const ft_import_options opt = {.batch = 8};
    const ft_dim_value context[] = {{"tokens", 8}, {"context", 9}};
    ft_graph *g = imported("%s", bert, &opt);
    ft_op op = op_of(g, FT_KIND_attention);
    int inputs = 0;

    CHECK_EQ(ft_op_shape(&op, FT_K_x).dim[2], 512);
    CHECK_EQ(ft_op_at(&op, FT_K_causal, 0), 0);
    for (uint32_t i = 0; i < g->n_tensors; i++)
        inputs += g->tensor[i].role == FT_ROLE_INPUT && *g->tensor[i].name;
    CHECK_EQ(inputs, 1); /* no cache */
    CHECK_EQ(g->tensor[g->output[0]].shape.dim[1], 1024);
    ft_graph_free(g);
    CHECK_NEAR(parameters(bert) / 335141888, 1, 1e-9);
    fails(", \"model_type\": \"roberta\"",
          &(ft_import_options){.dims = context, .n_dims = 2}, FT_EINVAL, "an encoder");
}

TEST(encoders_that_are_not_known_are_no_llamas)
{
    static const char *const more[] = {
        ", \"model_type\": \"modernbert\"",
        ", \"model_type\": \"electra\"",
        ", \"model_type\": \"deberta-v2\"",
        ", \"model_type\": \"new\", \"architectures\": [\"NewModel\"]",
        ", \"model_type\": \"t5\"",
        ", \"model_type\": \"bert-generation\"",
        ", \"model_type\": \"its\", \"architectures\": [\"ItsForMaskedLM\"]",
        ", \"model_type\": \"i\", \"architectures\": [\"IForSequenceClassification\"]"};
    static const char ranker[] = ", \"architectures\": "
                                 "[\"LlamaForSequenceClassification\", null]";

    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
        fails(more[i], NULL, FT_EUNSUPPORTED, "model_type");
    ft_graph_free(imported(small, ranker, NULL));
}

static double experts_of(const char *more)
{
    static const char all[] = ", \"num_local_experts\": 8, \"num_experts_per_tok\": 2, "
                              "\"num_hidden_layers\": 12";
    const ft_import_options none = {.batch = 1};
    char text[400];
    double n = 0;
    ft_graph *g;

    snprintf(text, sizeof(text), "%s%s", all, more);
    g = imported(small, text, &none);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        n += g->op[g->node[i].op].kind == FT_KIND_moe;
    ft_graph_free(g);
    return n;
}

/* Snowflake Arctic: 10 B are dense, beside 128 experts of 3.66 B. */
TEST(a_residual_beside_experts_is_as_wide_as_the_model)
{
    CHECK_NEAR(parameters("{\"model_type\": \"arctic\", \"hidden_size\": 7168, "
                          "\"num_hidden_layers\": 35, \"vocab_size\": 32000, "
                          "\"num_attention_heads\": 56, \"num_key_value_heads\": 8, "
                          "\"intermediate_size\": 4864, \"num_local_experts\": 128, "
                          "\"num_experts_per_tok\": 2, \"moe_layer_frequency\": 1, "
                          "\"parallel_attn_mlp_res\": true}") /
                   (10e9 + 128 * 3.66e9),
               1, 0.001);
}

/* Which layers of ERNIE are of experts: every so many, from one to another. */
TEST(experts_begin_and_end_where_it_is_said)
{
    CHECK_NEAR(experts_of(", \"moe_layer_start_index\": 3, \"moe_layer_interval\": 2"),
               5, 0);
    CHECK_NEAR(experts_of(", \"moe_layer_end_index\": 7"), 8, 0);
    CHECK_NEAR(experts_of(", \"moe_layer_end_index\": -1"), 12, 0);
    CHECK_NEAR(experts_of(", \"max_position_embeddings\": [64, 32]"), 12, 0);
}

/* Of a searched network: heads that share keys, and widths in steps of 256. */
TEST(layers_of_a_searched_network_have_their_own_sizes)
{
    const double first = 64 * (64 + 2 * 32) + 64 * 64 + 3 * 64 * 256 + 2 * 64;
    const double second = 3 * 64 * 512 + 64;

    CHECK_NEAR(
        parameters("{\"model_type\": \"nemotron-nas\", \"hidden_size\": 64, "
                   "\"num_hidden_layers\": 3, \"num_attention_heads\": 4, "
                   "\"vocab_size\": 100, \"block_configs\": [{\"attention\": "
                   "{\"n_heads_in_group\": 2, \"no_op\": false}, \"ffn\": "
                   "{\"ffn_mult\": 2.6, \"no_op\": false}}, {\"attention\": "
                   "{\"no_op\": true}, \"ffn\": {\"ffn_mult\": 7}}, {\"attention\": "
                   "{\"no_op\": true}, \"ffn\": {\"no_op\": true}}]}"),
        first + second + 2 * 100 * 64 + 64, 0);
}

TEST(each_part_has_its_own_type)
{
    static const char listed[] =
        ", \"num_local_experts\": 8, \"num_experts_per_tok\": 2, "
        "\"quantization_config\": {\"quant_algo\": \"MIXED_PRECISION\", "
        "\"kv_cache_scheme\": \"FP8\", \"quantized_layers\": "
        "{\"model.layers.0.self_attn.q_proj\": {\"quant_algo\": \"FP8\"}, "
        "\"model.layers.0.mlp.experts\": {\"quant_algo\": \"W4A16_NVFP4\", "
        "\"group_size\": 16}}}";
    static const char ignored[] =
        ", \"quantization_config\": {\"quant_algo\": \"NVFP4\", \"group_size\": 16, "
        "\"ignore\": [\"lm_head\", \"re:.*self_attn.*\"]}";
    static const char quark[] =
        ", \"quantization_config\": {\"quant_method\": \"quark\", \"exclude\": "
        "[\"lm_head\"], \"global_quant_config\": {\"bias\": null, \"input_tensors\": "
        "{\"dtype\": \"fp4\", \"group_size\": 32}, \"weight\": {\"dtype\": \"fp4\", "
        "\"group_size\": 32, \"qscheme\": \"per_group\"}}, \"kv_cache_quant_config\": "
        "{\"*k_proj\": {\"output_tensors\": {\"dtype\": \"fp8_e4m3\"}}}}";
    ft_graph *g = imported(small, quark, NULL);
    ft_op op;

    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].kind == FT_KIND_linear) {
            const bool head = ft_op_at(&g->op[i], FT_K_out, 0) == 100;

            CHECK_EQ(g->op[i].dtype, head ? FT_DTYPE_bf16 : FT_DTYPE_fp4);
            CHECK_EQ(ft_op_at(&g->op[i], FT_K_block, 0), head ? 0 : 32);
        }
    op = op_of(g, FT_KIND_attention);
    CHECK_EQ(op.dtype, FT_DTYPE_fp8e4m3);
    ft_graph_free(g);
    g = imported(small, listed, NULL);
    op = op_of(g, FT_KIND_moe);
    CHECK_EQ(ft_op_at(&op, FT_K_weights, 0), FT_DTYPE_fp4);
    CHECK_EQ(op.dtype, FT_DTYPE_bf16);
    op = op_of(g, FT_KIND_attention);
    CHECK_EQ(op.dtype, FT_DTYPE_fp8e4m3);
    ft_graph_free(g);
    g = imported(small, ignored, NULL);
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].kind == FT_KIND_linear) {
            const int64_t out = ft_op_at(&g->op[i], FT_K_out, 0);
            const bool ffn = out == 192 || ft_op_shape(&g->op[i], FT_K_x).dim[1] == 96;

            CHECK_EQ(g->op[i].dtype, ffn ? FT_DTYPE_fp4 : FT_DTYPE_bf16);
        }
    ft_graph_free(g);
}

TEST(a_file_beside_says_how_numbers_are_packed)
{
    static const char quant[] = "{\"quantization\": {\"quant_algo\": \"FP8\", "
                                "\"kv_cache_quant_algo\": \"FP8\"}}";
    char text[1000];
    ft_error err = {0};
    ft_graph *g;

    const ft__llm_beside packed = {quant, strlen(quant), NULL, 0},
                         cut = {"{", 1, NULL, 0};

    snprintf(text, sizeof(text), small, "");
    CHECK(!import(&g, text, &packed, NULL, &err));
    CHECK_EQ(op_of(g, FT_KIND_attention).dtype, FT_DTYPE_fp8e4m3);
    ft_graph_free(g);
    CHECK_EQ(import(&g, text, &cut, NULL, &err), FT_EFORMAT);
    CHECK(HAS(err.msg, "hf_quant_config.json"));
}

#define SIZE(n) "{\"metadata\": {\"total_size\": " #n "}, \"weight_map\": {"

/* 74,560 parameters of 2 bytes, to be trained, too; those of 8 bits are then not as the
 * checkpoint has them. */
TEST(a_checkpoint_of_another_size_is_said)
{
    static const char fp8[] = ", \"quantization_config\": {\"quant_method\": \"fp8\"}";
    static const ft_dim_value dims[] = {{"train", 1}, {"tokens", 8}};
    static const ft_import_options trained = {.dims = dims, .n_dims = 2};
    static const struct {
        const char *index, *more;
        const ft_import_options *opt;
        bool said;
    } cases[] = {{SIZE(149120), "", NULL, false},
                 {SIZE(300000), "", NULL, true},
                 {SIZE(300000), "", &trained, true},
                 {SIZE(300000), fp8, &trained, false},
                 {"{\"weight_map\": {}}", "", NULL, false}};
    char text[1000];
    ft_error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const ft__llm_beside beside = {NULL, 0, cases[i].index, strlen(cases[i].index)};
        bool said = false;
        ft_graph *g;

        snprintf(text, sizeof(text), small, cases[i].more);
        CHECK(!import(&g, text, &beside, cases[i].opt, &err));
        for (uint32_t k = 0; k < g->n_assumptions; k++)
            said |= HAS(g->assumption[k], "checkpoint");
        CHECK_EQ(said, cases[i].said);
        ft_graph_free(g);
    }
}

TEST(types_can_be_asked_for)
{
    const ft_dim_value dims[] = {{"kv_bits", 8}, {"weight_bits", 8}, {"context", 64}};
    const ft_import_options opt = {.dims = dims, .n_dims = 3},
                            plain = {.dims = dims + 2, .n_dims = 1};
    ft_graph *narrow = imported(small, "", &opt), *wide = imported(small, "", &plain);
    ft_totals a, b;
    double held[2] = {0};

    ft_graph_totals(narrow, &a);
    ft_graph_totals(wide, &b);
    CHECK_NEAR(b.weight_bytes - a.weight_bytes, 2 * (64 * 128 + 64 * 64 + 3 * 64 * 96),
               0);
    for (int k = 0; k < 2; k++) {
        const ft_graph *g = k ? wide : narrow;

        for (uint32_t i = 0; i < g->n_tensors; i++)
            if (strcmp(g->tensor[i].name, "keys") == 0)
                held[k] +=
                    (double)ft_tensor_bytes(&g->tensor[i].shape, g->tensor[i].dtype);
    }
    CHECK_NEAR(held[1], 2 * 2 * 64 * 16 * 2, 0);
    CHECK_NEAR(held[0], held[1] / 2, 0);
    ft_graph_free(narrow);
    ft_graph_free(wide);
}

/* As servers do; the cache has the type that the checkpoint says. */
TEST(what_is_stored_in_fp32_is_served_in_16_bits)
{
    static const char wide[] = ", \"torch_dtype\": \"float32\"",
                      cache[] = ", \"torch_dtype\": \"float32\", "
                                "\"quantization_config\": {\"quant_method\": \"fp8\", "
                                "\"kv_cache_scheme\": {\"num_bits\": 8}}";
    static const struct {
        const char *more;
        ft_dim_value dim[3];
        ft_dtype norms, cache;
    } c[] = {
        {wide, {{"tokens", 2}}, FT_DTYPE_fp32, FT_DTYPE_fp32},
        {wide, {{"served", 1}}, FT_DTYPE_bf16, FT_DTYPE_bf16},
        {wide, {{"weight_bits", 16}}, FT_DTYPE_bf16, FT_DTYPE_bf16},
        {wide, {{"weight_bits", 8}}, FT_DTYPE_bf16, FT_DTYPE_bf16},
        {wide, {{"weight_bits", 4}}, FT_DTYPE_bf16, FT_DTYPE_bf16},
        {cache, {{"served", 1}}, FT_DTYPE_bf16, FT_DTYPE_fp8e4m3},
        {cache, {{"served", 1}, {"kv_bits", 16}}, FT_DTYPE_bf16, FT_DTYPE_bf16},
        {wide,
         {{"train", 1}, {"tokens", 2}, {"weight_bits", 16}},
         FT_DTYPE_fp32,
         FT_DTYPE_NONE},
    };

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        const ft_import_options opt = {.dims = c[i].dim,
                                       .n_dims = c[i].dim[2].name   ? 3
                                                 : c[i].dim[1].name ? 2
                                                                    : 1};
        ft_graph *g = imported(small, c[i].more, &opt);

        CHECK_EQ(op_of(g, FT_KIND_rmsnorm).dtype, c[i].norms);
        for (uint32_t k = 0; k < g->n_tensors; k++)
            if (strcmp(g->tensor[k].name, "keys") == 0)
                CHECK_EQ(g->tensor[k].dtype, c[i].cache);
        ft_graph_free(g);
    }
}

TEST(a_stage_has_its_layers_and_what_the_one_before_sends)
{
    const ft_dim_value dims[] = {{"pp", 2}, {"tp", 4}, {"node", 4}};
    const ft_import_options opt = {.batch = 5, .dims = dims, .n_dims = 3};
    ft_graph *g = imported(small, "", &opt);
    uint64_t attentions = 0, sent = 0;

    for (uint32_t i = 0; i < g->n_ops; i++) {
        const ft_op *op = &g->op[i];

        if (op->kind == FT_KIND_attention)
            attentions += g->op_count[i];
        if (op->kind != FT_KIND_collective || ft_op_at(op, FT_K_mode, 0) != 2)
            continue;
        sent += g->op_count[i];
        CHECK(EQ(ft_op_shape(op, FT_K_x).dim[0], 5) &&
              EQ(ft_op_shape(op, FT_K_x).dim[1], 64));
        CHECK_EQ(ft_op_at(op, FT_K_nodes, 0), 2);
    }
    CHECK_EQ(attentions, 1);
    CHECK_EQ(sent, 1);
    ft_graph_free(g);
}

TEST(replicas_send_tokens_to_each_others_experts)
{
    static const char experts[] =
        ", \"num_local_experts\": 8, \"num_experts_per_tok\": 2";
    const ft_dim_value dims[] = {{"dp", 4}, {"ep", 4}, {"node", 2}};
    const ft_import_options opt = {.batch = 6, .dims = dims, .n_dims = 3};
    ft_graph *g = imported(small, experts, &opt);
    ft_op op = op_of(g, FT_KIND_moe);
    uint64_t exchanges = 0;

    CHECK_EQ(ft_op_shape(&op, FT_K_x).dim[0], 24);
    CHECK_EQ(ft_op_at(&op, FT_K_ep, 0), 4);
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].kind == FT_KIND_collective) {
            exchanges += g->op_count[i];
            CHECK_EQ(ft_op_at(&g->op[i], FT_K_mode, 0), 1);
            CHECK_EQ(ft_op_at(&g->op[i], FT_K_nodes, 0), 2);
            CHECK_EQ(ft_op_shape(&g->op[i], FT_K_x).dim[0], 12);
        }
    CHECK_EQ(exchanges, 2 * 2);
    ft_graph_free(g);
}

static uint32_t number_of(const ft_graph *g, const ft_op *op)
{
    uint32_t k = 0;

    while (k < g->n_ops && !ft_op_equal(&g->op[k], op))
        k++;
    CHECK(CMP(k, <, g->n_ops));
    return k;
}

static void is_as_large(const ft_graph *a, const ft_graph *b)
{
    const ft_memory_policy eager = {FT_POLICY_EAGER};
    ft_memory all, once;
    ft_totals of_all, of_once;

    CHECK(EQ(ft_memory_make(&all, a, &eager, NULL), FT_OK) &&
          EQ(ft_memory_make(&once, b, &eager, NULL), FT_OK));
    for (int i = 0; i < FT_PART_COUNT; i++)
        CHECK_EQ(all.part[i], once.part[i]);
    CHECK_NEAR(all.two_largest_bytes, once.two_largest_bytes, 0);
    CHECK_NEAR(all.twice_mean_bytes, once.twice_mean_bytes, 0);
    ft_graph_totals(a, &of_all);
    ft_graph_totals(b, &of_once);
    CHECK_NEAR(of_all.parameters, of_once.parameters, 0);
    CHECK_NEAR(of_all.weight_bytes, of_once.weight_bytes, 0);
}

/* Of three kinds of layers, each with operations of its own: as many of each as where
 * all layers stand, as many bytes, and as much is fused. */
TEST(layers_that_stand_once_count_as_often_as_there_are)
{
    static const char kinds[] =
        ", \"num_local_experts\": 8, \"num_experts_per_tok\": 2, "
        "\"first_k_dense_replace\""
        ": 1, \"num_hidden_layers\": 27, \"sliding_window\": 16, "
        "\"sliding_window_pattern\": 3";
    const ft_dim_value dims[] = {{"context", 64}, {"once", 1}};
    const ft_dim_value counted[] = {{"context", 64}, {"once", 2}};
    const ft_import_options all = {.batch = 3, .dims = dims, .n_dims = 1};
    const ft_import_options once = {.batch = 3, .dims = dims, .n_dims = 2};
    const ft_import_options alone = {.batch = 3, .dims = counted, .n_dims = 2};
    ft_graph *a = imported(small, kinds, &all), *b = imported(small, kinds, &once),
             *c = imported(small, kinds, &alone);
    ft__fused *of_all, *of_once;

    CHECK(EQ(a->n_ops, b->n_ops) && EQ(a->n_ops, c->n_ops));
    CHECK(CMP(2 * b->n_nodes, <, a->n_nodes) && CMP(c->n_nodes, <, b->n_nodes));
    is_as_large(a, b);
    is_as_large(a, c);
    CHECK(EQ(ft__graph_fuse(&of_all, a, NULL), FT_OK) &&
          EQ(ft__graph_fuse(&of_once, b, NULL), FT_OK));
    for (uint32_t i = 0; i < a->n_ops; i++) {
        const uint32_t k = number_of(b, &a->op[i]);

        CHECK_EQ(a->op_count[i], b->op_count[k]);
        CHECK_EQ(a->op_count[i], c->op_count[number_of(c, &a->op[i])]);
        CHECK_NEAR(of_all[i].moved, of_once[k].moved, 1e-12);
        CHECK_NEAR(of_all[i].generated, of_once[k].generated, 1e-12);
    }
    free(of_all);
    free(of_once);
    ft_graph_free(a);
    ft_graph_free(b);
    ft_graph_free(c);
}

/* Three tokens of each sequence are verified, then two drafted by one more layer. */
TEST(drafts_are_verified_and_made)
{
    static const char more[] = ", \"num_nextn_predict_layers\": 1";
    const ft_dim_value dims[] = {{"mtp", 2}, {"context", 40}};
    const ft_import_options opt = {.batch = 5, .dims = dims, .n_dims = 2};
    ft_graph *g = imported(small, more, &opt);
    uint64_t verified = 0, drafted = 0, heads = 0;
    ft_totals sum;

    ft_graph_totals(g, &sum);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const ft_op *op = &g->op[i];

        if (op->kind == FT_KIND_attention)
            *(ft_op_shape(op, FT_K_x).dim[2] == 3 ? &verified : &drafted) +=
                g->op_count[i];
        if (op->kind == FT_KIND_linear && ft_op_at(op, FT_K_out, 0) == 100)
            heads += g->op_count[i];
    }
    CHECK(EQ(verified, 2) && EQ(drafted, 2) && EQ(heads, 3));
    CHECK_NEAR(sum.parameters,
               parameters_of("") + 64 * 128 + 64 * 64 + 3 * 64 * 96 + 2 * 64 +
                   2 * 64 * 64 + 3 * 64,
               0);
    ft_graph_free(g);
}

static bool says(const char *more, const ft_dim_value *dims, size_t n_dims,
                 const char *what)
{
    ft_graph *g =
        imported(small, more, &(ft_import_options){.dims = dims, .n_dims = n_dims});
    bool said = false;

    for (uint32_t i = 0; i < g->n_assumptions; i++)
        said |= HAS(g->assumption[i], what);
    ft_graph_free(g);
    return said;
}

/* Scales of 8-bit experts hold for blocks, of which a rank has whole ones. */
TEST(experts_cut_within_blocks_are_said)
{
    static const char more[] =
        ", \"num_experts\": 8, \"num_experts_per_tok\": 2,"
        " \"moe_intermediate_size\": 256, \"quantization_config\": {\"quant_method\": "
        "\"fp8\", \"weight_block_size\": [128, 128]}";

    for (int64_t tp = 1; tp <= 4; tp *= 2)
        for (int64_t ep = 1; ep <= tp; ep *= 2) {
            const ft_dim_value dims[] = {{"tp", tp}, {"ep", ep}};

            CHECK_EQ(says(more, dims, 2, "blocks of 128"), (tp == 4 && ep == 1));
        }
}

TEST(a_network_between_machines_is_said)
{
    const ft_dim_value dims[] = {{"tp", 2}, {"node", 1}},
                       staged[] = {{"pp", 2}, {"node", 1}};

    CHECK(says("", dims, 2, "machines of 1 ") && says("", staged, 2, "machines of 1 "));
    CHECK(!says("", dims, 1, "machines") && !says("", staged, 1, "machines"));
}

TEST(what_is_wrong_or_not_known_is_named)
{
    const ft_dim_value three[] = {{"tp", 3}}, less[] = {{"tokens", 9}, {"context", 4}},
                       other[] = {{"sequence", 4}}, thrice[] = {{"once", 3}},
                       drafts[] = {{"mtp", 1}}, stages[] = {{"pp", 3}},
                       train[] = {{"train", 1}, {"context", 9}},
                       trained[] = {{"train", 1}, {"tokens", 8}, {"once", 1}},
                       bits[] = {{"kv_bits", 3}}, five[] = {{"tp", 5}, {"ep", 5}},
                       fifth[] = {{"dp", 5}},
                       many[] = {{"tp", 128}, {"dp", 4503599627370496}};
    static const char mixture[] =
        ", \"num_experts\": 10, \"num_experts_per_tok\": 2, "
        "\"moe_intermediate_size\": 768, \"intermediate_size\": 640, "
        "\"num_attention_heads\": 30, \"num_key_value_heads\": 5, \"head_dim\": 16, "
        "\"quantization_config\": {\"quant_method\": \"fp8\", "
        "\"weight_block_size\": [128, 128]}";

    fails(", \"num_hidden_layers\": 1000000000", NULL, FT_EUNSUPPORTED,
          "num_hidden_layers");
    fails(", \"num_hidden_layers\": 2000", NULL, FT_EUNSUPPORTED, "2000 layers");
    fails(", \"hidden_size\": -1", NULL, FT_EUNSUPPORTED, "hidden_size");
    fails(", \"num_attention_heads\": 3", NULL, FT_EFORMAT, "head_dim");
    fails(", \"layer_types\": [\"wavelets\"]", NULL, FT_EUNSUPPORTED, "layer_types");
    fails(", \"layer_types\": [\"linear_attention\"]", NULL, FT_EFORMAT,
          "linear_num_key_heads");
    fails(", \"hybrid_override_pattern\": \"M?\"", NULL, FT_EUNSUPPORTED,
          "hybrid_override_pattern");
    fails(", \"quantization_config\": {\"quant_method\": \"new\"}", NULL,
          FT_EUNSUPPORTED, "quantization_config");
    fails(", \"ssm_state_size\": 16", NULL, FT_EUNSUPPORTED, "ssm_state_size");
    fails(", \"cross_attention_layers\": [3]", NULL, FT_EUNSUPPORTED,
          "cross_attention_layers");
    fails(", \"num_kv_shared_layers\": 2", NULL, FT_EUNSUPPORTED,
          "num_kv_shared_layers");
    fails(", \"num_experts\": 4", NULL, FT_EFORMAT, "num_experts_per_tok");
    fails(", \"a\": [", NULL, FT_EFORMAT, "byte");
    fails("", &(ft_import_options){.dims = three, .n_dims = 1}, FT_EINVAL, "tp=3");
    fails(", \"num_attention_heads\": 12, \"num_key_value_heads\": 4, \"head_dim\": 16",
          &(ft_import_options){.dims = three, .n_dims = 1}, FT_EINVAL,
          "4 heads of keys and values; tp=1, 2, 4, 12 would");
    fails("", &(ft_import_options){.dims = less, .n_dims = 2}, FT_EINVAL, "context=4");
    fails("", &(ft_import_options){.dims = other, .n_dims = 1}, FT_EINVAL, "sequence");
    fails("", &(ft_import_options){.dims = drafts, .n_dims = 1}, FT_EINVAL, "mtp=1");
    fails("", &(ft_import_options){.dims = stages, .n_dims = 1}, FT_EINVAL, "pp=3");
    fails("", &(ft_import_options){.dims = train, .n_dims = 2}, FT_EINVAL, "train=1");
    fails(", \"vision_config\": {\"hidden_size\": 32, \"depth\": 2, \"num_heads\": 2}",
          &(ft_import_options){.dims = trained, .n_dims = 2}, FT_EINVAL, "text_config");
    fails("", &(ft_import_options){.dims = trained, .n_dims = 3}, FT_EINVAL, "once=1");
    fails("", &(ft_import_options){.dims = thrice, .n_dims = 1}, FT_EINVAL, "once=3");
    fails("", &(ft_import_options){.dims = bits, .n_dims = 1}, FT_EINVAL, "kv_bits");
    fails(mixture, &(ft_import_options){.dims = many, .n_dims = 2}, FT_EINVAL,
          "1048576 devices");
    fails(mixture, &(ft_import_options){.dims = five, .n_dims = 1}, FT_EINVAL,
          "tp=5 does not divide the 768 features of the experts; tp=1");
    fails(mixture, &(ft_import_options){.dims = fifth, .n_dims = 1}, FT_EINVAL,
          "tp x dp / ep=5 does not divide the 768 features");
    CHECK(says(mixture, five, 2, "one of 5 ranks"));
}
