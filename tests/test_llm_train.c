/* Training of a language model over many devices: against passes of one device, and
 * what can be reckoned by hand. */
#include <inttypes.h>

#include "foretell/foretell.h"
#include "onnx_text.h"
#include "scratch.h"
#include "serve_rig.h"

static ft_status ask(ft_llm_trained *out, const ft_llm_train *how, ft_error *err)
{
    const ft_query q = about_model();
    ft_data *d = NULL;
    ft_status st;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    st = ft_llm_train_ask(out, d, &q, how, err);
    ft_data_close(d);
    return st;
}

static ft_llm_trained trained(ft_llm_train how)
{
    ft_error err = {0};
    ft_llm_trained a;

    how.size = sizeof(how);
    how.sequence = how.sequence ? how.sequence : 2048;
    if (ask(&a, &how, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(CMP(a.step_s.value, >, 0));
    CHECK(CMP(a.step_s.low, <=, a.step_s.value) &&
          CMP(a.step_s.value, <=, a.step_s.high));
    CHECK_NEAR(a.compute_s + a.bubble_s + a.exchange_s + a.optimizer_s, a.step_s.value,
               1e-9);
    return a;
}

TEST(one_device_does_what_a_query_answers)
{
    const ft_dim_value dims[] = {{"train", 1}, {"tokens", 2048}};
    const ft_llm_trained a = trained((ft_llm_train){.devices = 1});
    ft_query q = about_model();
    ft_answer *x = NULL;
    ft_data *d = NULL;
    double optimizer_s;

    q.batch = 1;
    q.dims = dims;
    q.n_dims = 2;
    q.mode = "training";
    q.optimizer = "adamw";
    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    CHECK(!ft_query_ask(&x, d, &q, NULL));
    optimizer_s = x->phase_time[FT_PHASE_OPTIMIZER].value;
    CHECK_NEAR(a.compute_s,
               x->phase_time[FT_PHASE_FORWARD].value +
                   x->phase_time[FT_PHASE_BACKWARD].value,
               1e-9);
    CHECK_NEAR(a.optimizer_s, 2 * optimizer_s, 1e-9);
    CHECK_NEAR(log(a.step_s.high / a.step_s.value),
               hypot(log(x->time.high / x->time.value), 0.31), 1e-9);
    CHECK_NEAR(log(a.step_s.low / a.step_s.value),
               -hypot(log(x->time.low / x->time.value), 0.31), 1e-9);
    CHECK_NEAR(a.weights, 2 * 8030261248.0, 0);
    CHECK_NEAR(a.states, 12 * 8030261248.0, 1);
    CHECK(CMP(a.bubble_s, <=, 0) && CMP(a.exchange_s, <=, 0));
    /* 6 FLOPs of a weight and token, but for the embedding, and attention. */
    CHECK(CMP(a.mfu * 312e12 * a.step_s.value, >, 6 * 7.5e9 * 2048));
    CHECK(CMP(a.mfu * 312e12 * a.step_s.value, <, 1.15 * 6 * 7.5e9 * 2048));
    ft_answer_free(x);
    ft_data_close(d);
}

static ft_query about_training(const ft_dim_value *dims, uint32_t n_dims)
{
    ft_query q = about_model();

    q.batch = 1;
    q.dims = dims;
    q.n_dims = n_dims;
    q.mode = "training";
    q.optimizer = "adamw";
    return q;
}

/* Each sum of a forward pass has one of the backward pass, in two steps each. */
TEST(gradients_go_between_ranks_as_activations_do)
{
    const ft_dim_value dims[] = {{"train", 1}, {"tokens", 128}, {"tp", 4}};
    const ft_query q = about_training(dims, 3);
    uint64_t sums = 0, backward = 0;
    ft_answer *a = NULL;
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    for (uint32_t i = 0; i < a->n_ops; i++) {
        const ft_op *op = a->op[i]->op;

        if (op->kind == FT_KIND_collective)
            sums += a->op[i]->count;
        if (op->kind == FT_KIND_attention && op->phase == FT_PHASE_BACKWARD)
            backward += a->op[i]->count;
    }
    CHECK_EQ(sums, 2 * 2 * 64); /* scattered, then gathered */
    CHECK_EQ(backward, 32);
    ft_answer_free(a);
    ft_data_close(d);
}

/* One normalization a layer and pass in place of each attention, and longer, although
 * the backward pass does not compute scores again. */
TEST(scores_of_attention_go_through_memory)
{
    const ft_dim_value dims[] = {{"train", 1}, {"tokens", 4096}, {"scores", 1}};
    ft_query q = about_training(dims, 2);
    uint64_t attention = 0, softmax = 0;
    ft_answer *one = NULL, *a = NULL;
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    CHECK(!ft_query_ask(&one, d, &q, NULL));
    q.n_dims = 3;
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    for (uint32_t i = 0; i < a->n_ops; i++) {
        attention += a->op[i]->op->kind == FT_KIND_attention ? a->op[i]->count : 0;
        softmax += a->op[i]->op->kind == FT_KIND_softmax ? a->op[i]->count : 0;
    }
    CHECK_EQ(attention, 0);
    CHECK_EQ(softmax, 2 * 32);
    CHECK_NEAR((one->flops - a->flops) / (2 * 32 * 32 * 128 * 4096.0 * 4096), 1, 0.1);
    CHECK(CMP(a->time.value, >, 1.05 * one->time.value));
    ft_answer_free(a);
    ft_answer_free(one);
    q.dims = &dims[1];
    q.n_dims = 2;
    CHECK_EQ(ft_query_ask(&a, d, &q, NULL), FT_EINVAL);
    ft_data_close(d);
}

/* Where replicas do not scatter them: 6 of the 14 B of a weight that an update has. */
TEST(gradients_of_micro_batches_are_added)
{
    ft_llm_train how = {.devices = 2, .global_batch = 2};
    const ft_llm_trained one = trained(how);
    ft_llm_trained two;

    how.global_batch = 4;
    two = trained(how);
    CHECK_NEAR(two.compute_s - 2 * one.compute_s, 6.0 / 14 * one.optimizer_s, 1e-9);
    how.zero = 3;
    CHECK_NEAR(trained(how).compute_s, 2 * one.compute_s, 1e-9);
}

TEST(stages_wait_for_the_first_and_the_last_micro_batch)
{
    const ft_llm_train how = {.devices = 4, .pp = 4, .global_batch = 8};
    ft_llm_train parts = how;
    ft_llm_trained a = trained(how), b;

    CHECK_EQ(a.micro_batches, 8);
    CHECK_EQ(a.replicas, 1);
    CHECK_NEAR(a.bubble_s, 3.0 / 8 * a.compute_s, 1e-9);
    CHECK_NEAR(a.weights, 2 * 8030261248.0 / 4, 0);
    parts.interleave = 4;
    b = trained(parts);
    CHECK_NEAR(b.bubble_s, a.bubble_s / 4, 1e-9);
    CHECK_NEAR(b.compute_s, a.compute_s, 1e-9);
}

TEST(what_is_computed_again_is_a_forward_pass_and_frees_memory)
{
    ft_llm_train how = {.devices = 1};
    const ft_llm_trained a = trained(how);
    ft_llm_trained b;

    how.recompute = 1;
    b = trained(how);
    CHECK(CMP(b.compute_s, >, 1.2 * a.compute_s) &&
          CMP(b.compute_s, <, 1.4 * a.compute_s));
    CHECK(CMP(b.activations, <, 0.2 * a.activations));
    /* What goes into 32 layers; logits, their logarithms and gradients are no layer's.
     */
    CHECK(CMP(b.activations, >=, 2048 * (32 * 4096 + 3 * 128256) * 2.0));
}

TEST(replicas_shard_by_the_stage_of_zero)
{
    ft_llm_train how = {.devices = 16};
    ft_llm_trained a[4];

    for (how.zero = 0; how.zero < 4; how.zero++)
        a[how.zero] = trained(how);
    CHECK_NEAR(a[1].states, a[0].states / 16, 1);
    CHECK_NEAR(a[1].gradients, a[0].gradients, 0);
    CHECK_NEAR(a[2].gradients, a[0].gradients / 16, 1);
    CHECK_NEAR(a[2].weights, a[0].weights, 0);
    CHECK_NEAR(a[3].weights, a[0].weights / 16, 1);
    CHECK_NEAR(a[3].activations - a[0].activations, 3 * a[0].weights / 32, 1);
    CHECK_NEAR(a[1].optimizer_s, a[0].optimizer_s / 16, 1e-9);
    CHECK(CMP(a[3].exchange_s, >=, a[1].exchange_s));
    how.devices = 1; /* nothing is divided, nothing gathered */
    for (how.zero = 0; how.zero < 4; how.zero += 3)
        a[how.zero] = trained(how);
    CHECK_NEAR(a[3].activations, a[0].activations, 0);
    how.devices = 16;
    /* Sixteen do the work of sixteen, less what they wait for. */
    CHECK(CMP(a[1].tokens_per_s.value, >, 8 * a[1].tokens_per_s_per_device.value));
    /* Of a short step the backward pass hides less than both passes do. */
    how.sequence = 128;
    for (how.zero = 0; how.zero < 2; how.zero++)
        a[how.zero] = trained(how);
    CHECK(CMP(a[1].exchange_s, <, a[0].exchange_s));
}

/* Mixed precision leaves weights, gradients and both moments in fp32, and needs no
 * copy: 16 B of a weight, as with 16-bit weights and their copy. */
TEST(weights_in_fp32_have_no_copy)
{
    const ft_llm_train how = {.size = sizeof(how), .devices = 1};
    ft_query q = about_model();
    ft_llm_trained a[2];
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    for (int i = 0; i < 2; i++) {
        q.dtype = i ? "amp-bf16" : NULL;
        CHECK(!ft_llm_train_ask(&a[i], d, &q, &how, NULL));
        CHECK_NEAR(a[i].weights + a[i].gradients + a[i].states, 16 * 8030261248.0, 1);
    }
    CHECK_NEAR(a[1].states, 8 * 8030261248.0, 1);
    ft_data_close(d);
}

/* Whether the question says so or the model itself; gradients are summed in fp32. */
TEST(weights_may_be_in_fp32_by_their_own_type)
{
    ft_llm_train how = {
        .size = sizeof(how), .devices = 2, .sequence = 512, .global_batch = 2};
    ft_query q = about_model();
    ft_llm_trained a[2], two;
    char text[4096], *type;
    struct path file;
    FILE *fp = fopen(model, "r");
    ft_data *d = NULL;

    CHECK(fp);
    text[fread(text, 1, sizeof(text) - 1, fp)] = '\0';
    fclose(fp);
    type = strstr(text, "\"bfloat16\"");
    CHECK(type);
    memcpy(type, "\"float32\" ", strlen("\"bfloat16\""));
    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    q.dtype = "fp32";
    CHECK(!ft_llm_train_ask(&a[0], d, &q, &how, NULL));
    make_scratch();
    file = in_scratch("config.json");
    fp = fopen(file.s, "w");
    CHECK(fp);
    fputs(text, fp);
    fclose(fp);
    q.model = file.s;
    q.dtype = NULL;
    CHECK(!ft_llm_train_ask(&a[1], d, &q, &how, NULL));
    CHECK(a[0].fp32 && a[1].fp32);
    CHECK_NEAR(a[1].states, a[0].states, 1);
    CHECK_NEAR(a[1].step_s.value, a[0].step_s.value, 1e-9);
    how.global_batch = 4;
    CHECK(!ft_llm_train_ask(&two, d, &q, &how, NULL));
    CHECK_NEAR(two.compute_s - 2 * a[1].compute_s, 2 * a[1].optimizer_s / 7, 1e-9);
    ft_data_close(d);
    remove_scratch();
}

/* Of what an operation of its own keeps: features of tokens in fp32 and a number for
 * each token are divided among ranks, heads are already. */
TEST(ranks_divide_what_unfused_operations_keep)
{
    const ft_dim_value dims[] = {{"unfused", 1}};
    ft_query q = about_model();
    double more[2];
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    q.dims = dims;
    for (int i = 0; i < 2; i++) {
        const uint64_t tp = i ? 8 : 1;
        const ft_llm_train how = {
            .size = sizeof(how), .devices = tp, .tp = tp, .sequence = 2048};
        ft_llm_trained a, b;

        q.n_dims = 0;
        CHECK(!ft_llm_train_ask(&a, d, &q, &how, NULL));
        q.n_dims = 1;
        CHECK(!ft_llm_train_ask(&b, d, &q, &how, NULL));
        more[i] = b.activations - a.activations;
    }
    CHECK_NEAR(more[0] / more[1], 8, 0.01);
    ft_data_close(d);
}

/* PEFT prints 41,943,040 trained parameters of this model and rank; bitsandbytes' 4-bit
 * checkpoint of it (unsloth/llama-3-8b-bnb-4bit) has 5.70 GB. */
TEST(adapters_alone_have_gradients_and_states)
{
    const ft_dim_value dims[] = {{"weight_bits", 4}};
    const ft_llm_train how = {
        .size = sizeof(how), .devices = 1, .sequence = 2048, .lora = 16};
    const ft_llm_trained full = trained((ft_llm_train){.devices = 1});
    const double adapters = 41943040;
    ft_query q = about_model();
    ft_llm_trained a[2];
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    q.dims = dims;
    for (int i = 0; i < 2; i++) {
        q.n_dims = (size_t)i;
        CHECK(!ft_llm_train_ask(&a[i], d, &q, &how, NULL));
        CHECK_NEAR(a[i].gradients, 2 * adapters, 1);
        CHECK_NEAR(a[i].states, 12 * adapters, 1);
        CHECK(CMP(a[i].step_s.value, <, full.step_s.value));
        CHECK(CMP(a[i].bytes, <, full.bytes));
    }
    CHECK_NEAR(a[0].weights / (full.weights + 2 * adapters), 1, 1e-6);
    CHECK_NEAR((a[1].weights - 2 * adapters) / 5.70e9, 1, 0.03);
    CHECK(CMP(a[1].step_s.value, >, a[0].step_s.value)); /* unpacked for each product */
    ft_data_close(d);
}

/* Of 2 (4) B of weights and gradients and 1 B of each state, in one device's answer,
 * too. */
TEST(states_of_8_bits_have_no_copy)
{
    const ft_dim_value dims[] = {{"train", 1}, {"tokens", 2048}};
    const ft_llm_train how = {.size = sizeof(how), .devices = 1, .sequence = 2048};
    const ft_llm_trained wide = trained(how);
    ft_query q = about_model(), step = about_training(dims, 2);
    double update_s[2];
    ft_llm_trained a, of_fp32;
    ft_answer *one = NULL;
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    q.optimizer = "adamw8bit";
    CHECK(!ft_llm_train_ask(&a, d, &q, &how, NULL));
    CHECK_NEAR(a.weights + a.gradients + a.states, 6 * 8030261248.0, 1);
    step.method = "roofline"; /* bytes over bandwidth, without launches */
    for (int i = 0; i < 4; i++) {
        step.dtype = i < 2 ? "bf16" : "fp32";
        step.optimizer = i % 2 ? "adamw8bit" : "adamw";
        CHECK(!ft_query_ask(&one, d, &step, NULL));
        update_s[i % 2] = one->phase_time[FT_PHASE_OPTIMIZER].value;
        ft_answer_free(one);
        if (i % 2)
            CHECK_NEAR(update_s[1] / update_s[0], i < 2 ? 10.0 / 14 : 16.0 / 28, 1e-12);
    }
    CHECK_NEAR(a.optimizer_s / wide.optimizer_s * 28, 10, 1e-4);
    q.dtype = "fp32";
    CHECK(!ft_llm_train_ask(&a, d, &q, &how, NULL));
    q.optimizer = NULL;
    CHECK(!ft_llm_train_ask(&of_fp32, d, &q, &how, NULL));
    CHECK_NEAR(a.optimizer_s / of_fp32.optimizer_s * 28, 16, 1e-4);
    q.optimizer = "sgd";
    CHECK_EQ(ft_llm_train_ask(&a, d, &q, &how, NULL), FT_EINVAL);
    ft_data_close(d);
}

static const double experts = 4 * 8 * 3 * 1024 * 2048.0;

static ft_query about_mixture(void)
{
    static const char mixture[] =
        "{\"model_type\": \"mixtral\", \"hidden_size\": 1024, \"intermediate_size\": "
        "2048, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"vocab_size\": "
        "1000, \"num_local_experts\": 8, \"num_experts_per_tok\": 2}";
    static struct path file;
    ft_query q = about_model();
    FILE *fp;

    make_scratch();
    file = in_scratch("config.json");
    fp = fopen(file.s, "w");
    CHECK(fp);
    fputs(mixture, fp);
    fclose(fp);
    q.model = file.s;
    return q;
}

/* Of a device an eighth of them, alone: replicas divide no more of their states, and
 * rows go there and back. */
TEST(devices_divide_experts)
{
    ft_llm_train how = {.size = sizeof(how), .devices = 8, .sequence = 512};
    const ft_query q = about_mixture();
    ft_llm_trained a[2];
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    for (how.zero = 0; how.zero < 2; how.zero++) {
        for (int i = 0; i < 2; i++) {
            how.ep = i ? 8 : 1;
            CHECK(!ft_llm_train_ask(&a[i], d, &q, &how, NULL));
        }
        CHECK_NEAR(a[0].weights - a[1].weights, 2 * experts * 7 / 8, 1);
        CHECK_NEAR(a[0].states - a[1].states, how.zero ? 0 : 12 * experts * 7 / 8, 1);
        CHECK(CMP(a[1].compute_s, >, a[0].compute_s));
    }
    how.zero = 3; /* of an expert there is one replica: none is gathered */
    CHECK(!ft_llm_train_ask(&a[0], d, &q, &how, NULL));
    CHECK_NEAR(a[0].activations - a[1].activations,
               (2 * a[1].weights + a[1].gradients - 3 * 2 * experts / 8) / 4, 1);
    how.ep = 3;
    CHECK_EQ(ft_llm_train_ask(&a[0], d, &q, &how, NULL), FT_EINVAL);
    ft_data_close(d);
    remove_scratch();
}

static double collective_s(ft_data *d, double elements, int ranks, int nodes)
{
    ft_query q = about_model();
    ft_answer *a = NULL;
    char list[128];
    double s;

    q.model = "sum";
    q.run_mode = "graph";
    q.list = list;
    q.list_len = (size_t)snprintf(list, sizeof(list),
                                  "collective x=%.0f ranks=%d nodes=%d dtype=bf16\n",
                                  elements, ranks, nodes);
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    s = a->time.value;
    ft_answer_free(a);
    return s;
}

/* Two machines of eight: of an expert one replica in each, of all else sixteen. */
TEST(gradients_of_experts_go_between_machines)
{
    const ft_dim_value dims[] = {
        {"train", 1}, {"tokens", 64}, {"node", 8}, {"ep", 8}, {"dp", 8}};
    ft_llm_train how = {.size = sizeof(how), .devices = 16, .ep = 8, .sequence = 64};
    const ft_query q = about_mixture();
    ft_query one = about_training(dims, 5);
    ft_llm_trained a;
    ft_answer *x = NULL;
    ft_data *d = NULL;
    double others, shared;

    one.model = q.model;
    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    CHECK(!ft_llm_train_ask(&a, d, &q, &how, NULL));
    CHECK(!ft_query_ask(&x, d, &one, NULL));
    others = a.gradients / 2 - experts / 8;
    CHECK(CMP(a.exchange_s, >, 0));
    shared = x->busy_s / x->host_s; /* small: the host sets the time */
    CHECK(CMP(shared, <, 1));
    CHECK_NEAR(a.exchange_s,
               collective_s(d, others, 16, 2) + collective_s(d, experts / 8, 2, 2) -
                   (1 - 0.189 * shared) * x->phase_time[FT_PHASE_BACKWARD].value,
               1e-9);
    ft_answer_free(x);
    ft_data_close(d);
    remove_scratch();
}

TEST(an_exchange_slows_the_passes_that_hide_it)
{
    const ft_llm_trained a = trained((ft_llm_train){.devices = 16, .sequence = 8192});
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    CHECK_NEAR(a.exchange_s, 0.189 * collective_s(d, a.gradients / 2, 16, 2), 1e-9);
    ft_data_close(d);
}

/* A batch of its own on each device, and one sum of gradients in fp32. */
TEST(any_network_has_replicas)
{
    ft_llm_train how = {.size = sizeof(how),
                        .devices = 8,
                        .micro_batch = 32,
                        .tokens = 2560,
                        .network = 1};
    ft_query q = {.size = sizeof(q), .device = "a30", .optimizer = "momentum"};
    ft_llm_trained a, one, apart, none, added;
    char path[4200];
    ft_error err = {0};
    ft_answer *x = NULL;
    ft_data *d = NULL;

    snprintf(path, sizeof(path), "%s/models/resnet18.onnx", data_dir);
    q.model = path;
    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    CHECK(!ft_llm_train_ask(&a, d, &q, &how, NULL));
    how.devices = 1;
    CHECK(!ft_llm_train_ask(&one, d, &q, &how, NULL));
    how.devices = 8;
    q.dims = &(ft_dim_value){"node", 2};
    q.n_dims = 1;
    CHECK(!ft_llm_train_ask(&apart, d, &q, &how, NULL));
    CHECK(CMP(apart.exchange_s, >, a.exchange_s)); /* between four machines */
    q.n_dims = 0;
    how.tp = 8;
    CHECK_EQ(ft_llm_train_ask(&none, d, &q, &how, NULL), FT_EINVAL);
    how.tp = 1;
    how.zero = 3;
    CHECK_EQ(ft_llm_train_ask(&none, d, &q, &how, NULL), FT_EINVAL);
    how.zero = 0;
    q.device =
        "epyc-7763"; /* all hidden, and nobody measured by how much it slows it */
    CHECK(!ft_llm_train_ask(&none, d, &q, &how, NULL));
    CHECK(CMP(none.exchange_s, <=, 0));
    q.device = "a30";
    how.global_batch = 300;
    CHECK_EQ(ft_llm_train_ask(&none, d, &q, &how, &err), FT_EINVAL);
    CHECK(strstr(err.msg, "300 items of a step"));
    /* Of 20 B that an update of SGD with momentum moves a sum in place moves 12. */
    how.global_batch = 3 * 8 * 32;
    CHECK(!ft_llm_train_ask(&added, d, &q, &how, NULL));
    CHECK_NEAR(added.compute_s - 3 * one.compute_s, 2 * 0.6 * one.optimizer_s, 1e-9);
    q.mode = "training";
    q.batch = 32;
    CHECK(!ft_query_ask(&x, d, &q, NULL));
    CHECK_NEAR(one.step_s.value, x->time.value, 1e-9);
    CHECK_NEAR(one.step_j.value, x->energy.value, 1e-9);
    CHECK_NEAR(one.states, x->part_bytes[FT_PART_STATE], 0);
    CHECK_NEAR(a.step_s.value, one.step_s.value + a.exchange_s, 1e-9);
    CHECK(CMP(a.exchange_s, >, 0));
    CHECK_EQ(a.global_batch, 256);
    CHECK_NEAR(a.run_s.value, 10 * a.step_s.value, 1e-9);
    ft_answer_free(x);
    ft_data_close(d);
}

/* Not the devices of a machine. */
TEST(a_network_may_have_a_dimension_called_node)
{
    static const char text[] = "in x fp32 batch,node,64\nconst w fp32 64,32\n"
                               "node MatMul x,w y\nout y\n";
    const ft_llm_train how = {.size = sizeof(how), .devices = 2, .network = 1};
    ft_query q = {.size = sizeof(q), .device = "a30", .n_dims = 1};
    struct path file;
    ft_llm_trained a;
    ft_data *d = NULL;
    uint8_t *bytes;
    size_t len;
    FILE *fp;

    make_scratch();
    file = in_scratch("net.onnx");
    bytes = onnx_from_text(text, &len);
    fp = fopen(file.s, "wb");
    CHECK(fp && EQ(fwrite(bytes, 1, len, fp), len) && EQ(fclose(fp), 0));
    free(bytes);
    q.model = file.s;
    q.dims = &(ft_dim_value){"node", 4096};
    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    CHECK(!ft_llm_train_ask(&a, d, &q, &how, NULL));
    CHECK_NEAR(a.weights, 4 * 64 * 32, 0);
    ft_data_close(d);
    remove_scratch();
}

TEST(a_run_is_as_many_steps_as_its_tokens_are)
{
    const ft_llm_trained a =
        trained((ft_llm_train){.devices = 8, .global_batch = 64, .tokens = 1e12});
    const double steps = 1e12 / (64 * 2048);

    CHECK_NEAR(a.run_s.value / steps, a.step_s.value, 1e-6);
    CHECK_NEAR(a.device_hours.value, a.run_s.value * 8 / 3600, 1e-3);
    CHECK_NEAR(a.run_j.value / steps, a.step_j.value, 1e-3);
}

TEST(what_does_not_divide_is_refused)
{
    static const struct {
        ft_llm_train how;
        const char *what;
    } bad[] = {
        {{.devices = 6, .tp = 4}, "not a multiple of tp x pp = 4"},
        {{.devices = 8, .global_batch = 12}, "not a multiple of 8 replicas"},
        {{.devices = 1, .zero = 4}, "zero 0 to 3"},
        {{.devices = 64, .pp = 64, .sequence = 16}, "64 stages, and 32 layers"},
        {{.devices = 1, .tokens = -1}, "a number of tokens"},
        {{.devices = 7, .tp = 7}, "does not divide"},
        {{.devices = 8, .ep = 8}, "ep=8: the model has no experts"},
        {{.devices = 1, .lora = 16777217}, "a rank is at most hidden_size, 4096"},
        {{.devices = 1, .lora = UINT64_MAX}, "no model is so wide"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        ft_llm_train how = bad[i].how;
        ft_error err = {0};
        ft_llm_trained a;

        how.size = sizeof(how);
        CHECK_EQ(ask(&a, &how, &err), FT_EINVAL);
        CHECK(strstr(err.msg, bad[i].what));
    }
}

TEST(dimensions_that_training_sets_are_refused)
{
    static const char *const own[] = {"train", "tokens", "context", "tp",   "pp",
                                      "dp",    "ep",     "lora",    "once", "mtp"};
    const ft_llm_train how = {.size = sizeof(how), .devices = 8};
    ft_dim_value dim = {.value = 1};
    ft_query q = about_model();
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    q.dims = &dim;
    q.n_dims = 1;
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
        ft_error err = {0};
        ft_llm_trained a;

        dim.name = own[i];
        CHECK_EQ(ft_llm_train_ask(&a, d, &q, &how, &err), FT_EINVAL);
        CHECK(strstr(err.msg, "training over devices "));
    }
    ft_data_close(d);
}

int main(int argc, char **argv)
{
    take_model(argc, argv);
    check_all();
    CHECK_DONE();
}
