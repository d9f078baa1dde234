/* Language models in training, from a config.json: what has gradients, in which types,
 * and what eager code does operation by operation. */
#include "llm_config.h"

static const ft_dim_value train_dims[] = {
    {"train", 1}, {"tokens", 8}, {"weight_bits", 8}};
static const ft_import_options trained = {.dims = train_dims, .n_dims = 2};

TEST(whole_sequences_alone_are_trained)
{
    const ft_import_options opt = {.batch = 3, .dims = train_dims, .n_dims = 2};
    const ft_step s = {.given = true,
                       .mode = FT_MODE_TRAINING,
                       .how = {.optimizer = FT_OPTIMIZER_ADAMW}};
    ft_graph *g = imported(small, "", &opt), *step;
    ft_op op = op_of(g, FT_KIND_attention);
    uint32_t updates = 0, back = 0;
    ft_error err = {0};

    CHECK_EQ(ft_op_shape(&op, FT_K_y).dim[2], 8);
    CHECK_EQ(g->tensor[g->output[0]].shape.dim[0], 3 * 8);
    for (uint32_t i = 0; i < g->n_tensors; i++)
        CHECK(!SAME(g->tensor[i].name, "keys"));
    CHECK_EQ(ft_step_make(&step, g, &s, &err), FT_OK);
    for (uint32_t i = 0; step && i < step->n_nodes; i++) {
        op = step->op[step->node[i].op];
        updates += op.kind == FT_KIND_adamw;
        back += op.kind == FT_KIND_attention && op.phase == FT_PHASE_BACKWARD;
    }
    /* Embeddings, norm, head, and of each layer two norms and four weights. */
    CHECK_EQ(updates, 3 + 2 * 6);
    CHECK_EQ(back, 2);
    ft_graph_free(step);
    ft_graph_free(g);
    g = imported(small, "", NULL); /* with a cache */
    CHECK_EQ(ft_step_make(&step, g, &s, &err), FT_EUNSUPPORTED);
    CHECK(HAS(err.msg, "cache"));
    ft_graph_free(g);
}

/* Of an fp8 checkpoint weights have gradients, and are as many bytes as those of a wide
 * one, unless fp8 is asked for. */
TEST(a_packed_checkpoint_is_trained_unpacked)
{
    static const ft_import_options narrow = {.dims = train_dims, .n_dims = 3};
    static const char fp8[] = ", \"quantization_config\": {\"quant_method\": \"fp8\", "
                              "\"kv_cache_quant_algo\": \"FP8\"}";
    static const char head[] = ", \"quantization_config\": {\"quantized_layers\": "
                               "{\"lm_head\": {\"quant_algo\": \"FP8\"}}}";
    ft_graph *g[] = {imported(small, "", &trained), imported(small, fp8, &trained),
                     imported(small, head, &trained), imported(small, fp8, &narrow)};
    ft_totals t[4];

    for (int i = 0; i < 4; i++) {
        ft_graph_totals(g[i], &t[i]);
        ft_graph_free(g[i]);
    }
    for (int i = 1; i < 3; i++) {
        CHECK_NEAR(t[i].weight_bytes, t[0].weight_bytes, 0);
        CHECK_NEAR(t[i].bytes_read, t[0].bytes_read, 0);
    }
    CHECK(CMP(t[3].bytes_read, <, 0.8 * t[0].bytes_read));
}

static uint32_t nodes_of(const ft_graph *g, ft_kind kind, ft_dtype t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; g && i < g->n_nodes; i++)
        n += g->op[g->node[i].op].kind == kind && g->op[g->node[i].op].dtype == t;
    return n;
}

/* Products in 8 bits, weights and what the optimizer has of them in the model's type.
 */
TEST(weights_that_are_multiplied_in_8_bits_are_trained)
{
    static const ft_import_options narrow = {.dims = train_dims, .n_dims = 3};
    const ft_step s = {.given = true,
                       .mode = FT_MODE_TRAINING,
                       .how = {.optimizer = FT_OPTIMIZER_ADAMW}};
    ft_graph *g = imported(small, "", &narrow), *step;
    ft_error err = {0};

    CHECK_EQ(ft_step_make(&step, g, &s, &err), FT_OK);
    CHECK_EQ(nodes_of(step, FT_KIND_linear, FT_DTYPE_fp8e4m3), 2 * 2 * 4);
    CHECK_EQ(nodes_of(step, FT_KIND_adamw, FT_DTYPE_bf16), 3 + 2 * 6);
    CHECK_EQ(nodes_of(step, FT_KIND_adamw, FT_DTYPE_fp8e4m3), 0);
    ft_graph_free(step);
    ft_graph_free(g);
}

/* Of scores alone: a kernel of attention drops some by the way. */
TEST(dropout_of_scores_is_a_pass_of_its_own)
{
    const ft_dim_value dims[] = {{"train", 1}, {"tokens", 8}, {"scores", 1}};
    const ft_import_options scores = {.dims = dims, .n_dims = 3},
                            one = {.dims = dims, .n_dims = 2};
    ft_graph *g[] = {
        imported(small, ", \"attn_pdrop\": 0.1", &scores),
        imported(small, ", \"attn_pdrop\": 0.1, \"attention_dropout\": 0.0", &scores),
        imported(small, ", \"attention_dropout\": 0.0", &scores),
        imported(small, ", \"attn_pdrop\": 0.1", &one)};

    for (int i = 0; i < 4; i++) {
        CHECK_EQ(nodes_of(g[i], FT_KIND_dropout, FT_DTYPE_bf16), i < 2 ? 2 : 0);
        ft_graph_free(g[i]);
    }
}

/* As eager code has them: of each of five norms a square, which is no power, and a
 * root, of each layer two rotations, and as many weights as before. */
TEST(norms_are_trained_operation_by_operation)
{
    const ft_dim_value dims[] = {{"train", 1}, {"tokens", 8}, {"unfused", 1}};
    const ft_import_options opt = {.dims = dims, .n_dims = 3};
    const ft_step s = {.given = true,
                       .mode = FT_MODE_TRAINING,
                       .how = {.optimizer = FT_OPTIMIZER_ADAMW}};
    ft_graph *g = imported(small, "", &opt), *step;
    uint32_t tables = 0;
    ft_error err = {0};

    CHECK_EQ(nodes_of(g, FT_KIND_rsqrt, FT_DTYPE_fp32), 5);
    CHECK_EQ(nodes_of(g, FT_KIND_abs, FT_DTYPE_fp32), 5);
    CHECK_EQ(nodes_of(g, FT_KIND_pow, FT_DTYPE_fp32), 0);
    CHECK_EQ(nodes_of(g, FT_KIND_mul, FT_DTYPE_fp32), 5 + 2 * 2);
    for (uint32_t i = 0; g && i < g->n_tensors; i++)
        tables +=
            g->tensor[i].role == FT_ROLE_INPUT && g->tensor[i].dtype == FT_DTYPE_fp32;
    CHECK_EQ(tables, 1);
    CHECK_EQ(nodes_of(g, FT_KIND_rmsnorm, FT_DTYPE_bf16), 0);
    CHECK_EQ(nodes_of(g, FT_KIND_rotary, FT_DTYPE_bf16), 0);
    CHECK_EQ(ft_step_make(&step, g, &s, &err), FT_OK);
    CHECK_EQ(nodes_of(step, FT_KIND_adamw, FT_DTYPE_bf16), 3 + 2 * 6);
    ft_graph_free(step);
    ft_graph_free(g);
    fails("", &(ft_import_options){.dims = &dims[1], .n_dims = 2}, FT_EINVAL,
          "unfused=1");
}

static ft_graph *step_of(const ft_graph *g, ft_optimizer optimizer)
{
    const ft_step s = {
        .given = true, .mode = FT_MODE_TRAINING, .how = {.optimizer = optimizer}};
    ft_error err = {0};
    ft_graph *step;

    CHECK_EQ(ft_step_make(&step, g, &s, &err), FT_OK);
    return step;
}

/* Adapters have gradients and states, of four products of each of two layers A and B;
 * each frozen product has one gradient, not two. */
TEST(adapters_are_trained_beside_frozen_weights)
{
    const ft_dim_value dims[] = {
        {"train", 1}, {"tokens", 8}, {"lora", 2}, {"lora_attention", 1}};
    for (uint32_t alone = 0; alone < 2; alone++) {
        const ft_import_options opt = {.dims = dims, .n_dims = 3 + alone};
        ft_graph *g = imported(small, "", &opt);
        ft_graph *step = step_of(g, FT_OPTIMIZER_ADAMW);
        uint32_t frozen = 0;

        CHECK_EQ(nodes_of(step, FT_KIND_adamw, FT_DTYPE_bf16), 2 * (alone ? 2 : 4) * 2);
        for (uint32_t i = 0; step && i < step->n_nodes; i++) {
            const ft_op *op = &step->op[step->node[i].op];

            frozen += op->kind == FT_KIND_linear && op->phase == FT_PHASE_BACKWARD &&
                      !(ft_op_wrt(op) & FT_WRT_WEIGHTS);
        }
        /* But for the first layer's queries, before which nothing is trained. */
        CHECK_EQ(frozen, 2 * 4 + 1 - 1);
        ft_graph_free(step);
        ft_graph_free(g);
    }
    fails("", &(ft_import_options){.dims = &dims[2], .n_dims = 1}, FT_EINVAL, "lora=N");
}

static uint32_t unpacked_in(const ft_graph *g, bool by_operations)
{
    return by_operations ? nodes_of(g, FT_KIND_generic, FT_DTYPE_bf16)
                         : nodes_of(g, FT_KIND_cast, FT_DTYPE_int4);
}

/* For each product, and none is kept until its gradient: it is made again. */
TEST(frozen_weights_of_few_bits_are_unpacked_for_each_product)
{
    static const char nf4[] = ", \"quantization_config\": {\"quant_method\": "
                              "\"bitsandbytes\", \"load_in_4bit\": true}";
    static const char gptq[] = ", \"quantization_config\": {\"quant_method\": "
                               "\"gptq\", \"bits\": 4, \"group_size\": 32}";
    static const char wide[] = ", \"quantization_config\": {\"quant_method\": "
                               "\"gptq\", \"bits\": 8, \"group_size\": 32}";
    const ft_dim_value dims[] = {
        {"train", 1}, {"tokens", 8}, {"lora", 2}, {"weight_bits", 4}};
    const ft_import_options own = {.dims = dims, .n_dims = 3},
                            asked = {.dims = dims, .n_dims = 4};
    ft_graph *g[] = {imported(small, nf4, &own), imported(small, "", &asked),
                     imported(small, gptq, &own), imported(small, gptq, &asked),
                     imported(small, wide, &own)};

    for (int i = 0; i < 5; i++) {
        const bool by_operations = i == 2 || i == 4;
        ft_graph *step = step_of(g[i], FT_OPTIMIZER_ADAMW);

        CHECK_EQ(unpacked_in(g[i], by_operations), 2 * 4);
        CHECK_EQ(unpacked_in(step, by_operations), 2 * 4 + 2 * 4 - 1);
        ft_graph_free(step);
        ft_graph_free(g[i]);
    }
}

/* 22 B of a weight, of whichever type the product is. */
TEST(unpacking_moves_as_many_bytes_for_wider_products)
{
    static const char *const of[] = {"", ", \"torch_dtype\": \"float32\""};
    const ft_dim_value dims[] = {{"train", 1}, {"tokens", 8}, {"lora", 2}};
    const ft_import_options own = {.dims = dims, .n_dims = 3};
    double bytes[2];

    for (int i = 0; i < 2; i++) {
        char gptq[256];
        ft_graph *g;
        ft_cost cost;
        ft_op op;

        snprintf(gptq, sizeof(gptq),
                 ", \"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": "
                 "4, \"group_size\": 32}%s",
                 of[i]);
        g = imported(small, gptq, &own);
        op = op_of(g, FT_KIND_generic);
        ft_op_cost(&op, &cost);
        bytes[i] = cost.bytes_read + cost.bytes_written;
        CHECK_EQ((uint64_t)bytes[i] % 22, 0);
        ft_graph_free(g);
    }
    CHECK_NEAR(bytes[1], bytes[0], 0);
}

static const char experts[] = ", \"num_local_experts\": 8, \"num_experts_per_tok\": 2";

/* There and back in both passes of each layer; the experts' weights are divided. */
TEST(gradients_of_experts_go_where_rows_came_from)
{
    const ft_dim_value dims[] = {{"train", 1}, {"tokens", 8}, {"ep", 4}, {"dp", 4}};
    const ft_import_options all = {.dims = dims, .n_dims = 2},
                            apart = {.dims = dims, .n_dims = 4};
    ft_graph *g[] = {imported(small, experts, &all), imported(small, experts, &apart)};
    ft_graph *step = step_of(g[1], FT_OPTIMIZER_ADAMW);
    ft_op op[] = {op_of(g[0], FT_KIND_moe), op_of(g[1], FT_KIND_moe)};
    ft_cost cost[2];

    CHECK_EQ(nodes_of(step, FT_KIND_collective, FT_DTYPE_bf16), 2 * 4);
    for (int i = 0; i < 2; i++)
        ft_op_cost(&op[i], &cost[i]);
    CHECK_NEAR(cost[1].flops, cost[0].flops, 0); /* of as many rows, of others' too */
    CHECK_EQ(ft_op_at(&op[1], FT_K_experts, 0), 2);
    ft_graph_free(step);
    ft_graph_free(g[0]);
    ft_graph_free(g[1]);
}

/* Each of 16 rows, what goes into the activation, and what comes out of it. */
TEST(rows_of_experts_are_kept_for_the_gradient)
{
    ft_graph *g = imported(small, experts, &trained);
    ft_graph *step = step_of(g, FT_OPTIMIZER_ADAMW);
    uint32_t kept = 0;

    for (uint32_t i = 0; step && i < step->n_nodes; i++) {
        const ft_node *n = &step->node[i];

        if (step->op[n->op].kind != FT_KIND_moe || n->phase != FT_PHASE_FORWARD)
            continue;
        CHECK_EQ(n->n_out, 2);
        CHECK_EQ(ft_shape_elements(&step->tensor[n->out[1]].shape), 16 * (64 + 3 * 96));
        kept++;
    }
    CHECK_EQ(kept, 2);
    ft_graph_free(step);
    ft_graph_free(g);
}

/* Two bytes of a weight, and no square root of all second moments. */
TEST(states_of_8_bits_are_updated_in_place)
{
    const ft_memory_policy policy = {.bits = FT_POLICY_FOREACH};
    ft_graph *g = imported(small, "", &trained);
    ft_memory m[2];

    for (int i = 0; i < 2; i++) {
        ft_graph *step = step_of(g, i ? FT_OPTIMIZER_ADAMW8BIT : FT_OPTIMIZER_ADAMW);

        CHECK_EQ(ft_memory_make(&m[i], step, &policy, NULL), FT_OK);
        ft_graph_free(step);
    }
    CHECK_EQ(2 * m[1].part[FT_PART_STATE], m[0].part[FT_PART_STATE]);
    CHECK(CMP(m[1].peak_bytes, <, m[0].peak_bytes - m[1].part[FT_PART_STATE]));
    ft_graph_free(g);
}
