/* What single engines do besides kernels of a device: fusions of their own, how they
 * schedule, replicas of attention. */
#include "foretell/serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "files.h"
#include "serve/serve.h"
#include "serve_rig.h"

static char folder[] = "/tmp/test-engines-XXXXXX", mixture[64];

static const char *device = "a100-sxm-80gb";

/* Weights of 8 bits whose scales are of blocks. */
static const char mixture_text[] =
    "{\"model_type\": \"qwen3_moe\", \"hidden_size\": 4096, \"num_hidden_layers\": 4, "
    "\"num_attention_heads\": 16, \"num_key_value_heads\": 4, \"head_dim\": 128, "
    "\"intermediate_size\": 2048, \"moe_intermediate_size\": 1536, \"num_experts\": "
    "128, \"num_experts_per_tok\": 8, \"vocab_size\": 32000, \"torch_dtype\": "
    "\"bfloat16\", \"quantization_config\": {\"quant_method\": \"fp8\", "
    "\"activation_scheme\": \"dynamic\", \"weight_block_size\": [128, 128]}}";

static ft_serve_load load_of(uint64_t users)
{
    ft_serve_load l = FT_SERVE_LOAD_INIT;

    l.prompt = 512;
    l.generate = 200;
    l.concurrency = users;
    return l;
}

static ft_serve_steps *steps_of(const char *path, const char *engine,
                                const char *version, const ft_dim_value *dims,
                                size_t n_dims, const ft_serve_load *l)
{
    ft_query q = FT_QUERY_INIT;

    q.model = path;
    q.device = device;
    q.method = "physics";
    q.engine = engine;
    q.engine_version = version;
    q.dims = dims;
    q.n_dims = n_dims;
    return steps_for(&q, l, 1);
}

static double seconds_of(ft_serve_steps *s, double seqs)
{
    const ft_serve_step step = {.decode_seqs = seqs, .decode_context = 600 * seqs};
    ft_estimate time, energy;

    ft_serve_step_ask(&time, &energy, s, &step);
    return time.value;
}

/* An A100 needs 2 us at least for a kernel, of which 32 layers have four (two
 * rotations, two copies to the cache) within attention, and four (two additions, two
 * norms) behind sums over ranks. */
TEST(what_is_fused_takes_no_time_of_its_own)
{
    const ft_dim_value two[] = {{"tp", 2}};
    const ft_serve_load l = load_of(4);
    ft_serve_steps *any = steps_of(model, "vllm", NULL, NULL, 0, &l);
    ft_serve_steps *old = steps_of(model, "trtllm", "0.9", two, 1, &l);
    ft_serve_steps *now = steps_of(model, "trtllm", NULL, two, 1, &l);
    ft_serve_steps *alone = steps_of(model, "trtllm", NULL, NULL, 0, &l);
    ft_serve_steps *alone_old = steps_of(model, "trtllm", "0.9", NULL, 0, &l);

    CHECK(CMP(seconds_of(any, 4) - seconds_of(alone, 4), >, 32 * 2e-6));
    CHECK(CMP(seconds_of(old, 4) - seconds_of(now, 4), >, 64 * 2e-5 + 32 * 2e-6));
    CHECK_NEAR(seconds_of(alone, 4), seconds_of(alone_old, 4), 1e-12);
    ft_serve_steps_close(any);
    ft_serve_steps_close(old);
    ft_serve_steps_close(now);
    ft_serve_steps_close(alone);
    ft_serve_steps_close(alone_old);
}

TEST(blocks_that_are_reserved_are_never_missed)
{
    ft_serve_load l = load_of(8);
    ft_serve_steps *vllm = steps_of(model, "vllm", NULL, NULL, 0, &l);
    ft_serve_steps *trtllm = steps_of(model, "trtllm", NULL, NULL, 0, &l);
    ft_served a, b;

    l.kv_tokens = 5 * 712 + 5 * 16;
    a = served(vllm, &l);
    b = served(trtllm, &l);
    CHECK(CMP(a.preemptions, >, 0));
    CHECK_EQ(b.preemptions, 0);
    CHECK_EQ(b.most_batch, 5);
    CHECK(CMP(a.most_batch, >, 5));
    ft_serve_steps_close(vllm);
    ft_serve_steps_close(trtllm);
}

/* TensorRT-LLM's free_gpu_memory_fraction is of what weights and a step leave. */
TEST(the_cache_of_trtllm_has_a_share_of_free_memory)
{
    ft_serve_load l = load_of(8);
    ft_serve_steps *vllm = steps_of(model, "vllm", "0.20", NULL, 0, &l);
    ft_serve_steps *trtllm = steps_of(model, "trtllm", NULL, NULL, 0, &l);
    double all, half;

    l.memory_share = 1;
    all = served(vllm, &l).kv_tokens;
    CHECK_NEAR(served(trtllm, &l).kv_tokens / all, 1, 1e-9);
    l.memory_share = 0.5;
    half = served(trtllm, &l).kv_tokens;
    CHECK_NEAR(half / all, 0.5, 1e-9);
    CHECK(CMP(served(vllm, &l).kv_tokens, <, half));
    ft_serve_steps_close(vllm);
    ft_serve_steps_close(trtllm);
}

/* Of a load with 10 requests of 6000 tokens, in chunks of 2048: three steps for each,
 * none of which decodes. */
TEST(prompts_alone_come_before_decoding)
{
    ft_serve_load l = load_of(1);
    ft_serve_steps *s;
    ft_served r;

    l.prompt = 6000;
    l.generate = 2;
    l.n_requests = 10;
    l.max_batched_tokens = 2048;
    s = steps_of(model, "sglang", NULL, NULL, 0, &l);
    r = served(s, &l);
    CHECK(r.prompts_alone);
    CHECK_EQ(r.steps, 10 * (3 + 1));
    ft_serve_steps_close(s);
    l.concurrency = 2; /* what the second one waits for holds up the first one */
    s = steps_of(model, "sglang", NULL, NULL, 0, &l);
    r = served(s, &l);
    CHECK(CMP(r.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].value, >, 2 * seconds_of(s, 2)));
    ft_serve_steps_close(s);
}

/* Of few sequences as of many, which have a row for every expert. */
TEST(older_vllm_reads_all_experts)
{
    const double weights = 4 * 128.0 * 3 * 4096 * 1536;
    const double all_s = weights / (0.6 * 2.039e12);
    const ft_serve_load l = load_of(64);
    ft_serve_steps *old = steps_of(mixture, "vllm", "0.12", NULL, 0, &l);
    ft_serve_steps *now = steps_of(mixture, "vllm", "0.14", NULL, 0, &l);

    CHECK(CMP(seconds_of(old, 2), >, all_s));
    CHECK_NEAR(seconds_of(old, 64) / seconds_of(old, 2), 1, 0.15);
    CHECK(CMP(seconds_of(old, 8) - seconds_of(now, 8), >, 0.2 * all_s));
    ft_serve_steps_close(old);
    ft_serve_steps_close(now);
}

/* Two of 20 us more in each of 32 layers. */
TEST(older_engines_sum_slowly)
{
    const ft_dim_value two[] = {{"tp", 2}};
    const ft_serve_load l = load_of(4);

    for (size_t n = 1; n <= 2; n++) {
        const ft_dim_value *dims = n == 2 ? two : NULL;
        ft_serve_steps *old = steps_of(model, "vllm", "0.5", dims, n - 1, &l);
        ft_serve_steps *now = steps_of(model, "vllm", "0.6", dims, n - 1, &l);

        CHECK(CMP(
            fabs(seconds_of(old, 4) - seconds_of(now, 4) - (n == 2 ? 64 * 2e-5 : 0)), <,
            5e-5));
        ft_serve_steps_close(old);
        ft_serve_steps_close(now);
    }
}

/* By NCCL alone: 10 us more of what decodes, 45 of a prompt's 8 MiB; of what all sum by
 * NCCL it is in the sum's own time: on A100 more than 8 MiB, on H100 16, and 8 bits. */
TEST(the_oldest_vllm_sums_by_nccl)
{
    static const struct {
        const char *version, *spec;
        double capability, more_s;
    } c[] = {{"0.2", "collective x=1x8192 ranks=2 dtype=fp16", 8, 1e-5},
             {"0.2", "collective x=512x8192 ranks=2 dtype=fp16", 8, 4.5e-5},
             {"0.2", "collective x=513x8192 ranks=2 dtype=fp16", 8, 0},
             {"0.2", "collective x=513x8192 ranks=2 dtype=fp16", 9, 4.5e-5},
             {"0.2", "collective x=1024x8192 ranks=2 dtype=fp16", 9, 4.5e-5},
             {"0.2", "collective x=1025x8192 ranks=2 dtype=fp16", 9, 0},
             {"0.2", "collective x=1x8192 ranks=2 dtype=int8", 8, 0},
             {"0.2", "collective x=1x8192 ranks=2 mode=1 dtype=fp16", 8, 0},
             {"0.2", "add x=512x8192 y=512x8192 dtype=fp16", 8, 0},
             {"0.14", "collective x=512x8192 ranks=2 dtype=fp16", 8, 0}};
    ft_device_facts facts = {
        .vendor = "NVIDIA", .bandwidth_bytes_per_s = 2e12, .link_bytes_per_s = 3e11};

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        const ft__serve_engine e = ft__serve_engine_of("vllm", c[i].version, NULL);
        ft__serve_cost cost = {1e-3, 0.1};
        ft_op op;

        facts.compute_capability = c[i].capability;
        CHECK_EQ(ft_op_parse(&op, c[i].spec, strlen(c[i].spec), NULL), FT_OK);
        ft__serve_engine_cost(&cost, &e, &op, 0, &facts, 1e9, 50);
        CHECK_NEAR(cost.time_s - 1e-3, c[i].more_s, 1e-7);
    }
}

/* How much longer a first token may take than expected, in later ones. */
static double held_steps(const char *version, uint64_t users)
{
    ft_serve_load l = load_of(users);
    ft_served r;
    ft_serve_steps *s;

    l.generate = 32;
    s = steps_of(model, "trtllm", version, NULL, 0, &l);
    r = served(s, &l);
    for (int p = 0; p < FT_SERVE_POINT_COUNT; p++)
        CHECK(
            CMP(r.latency[FT_SERVE_TTFT][p].high, <=, r.latency[FT_SERVE_E2E][p].high));
    CHECK_NEAR(r.requests_per_s.low * r.latency[FT_SERVE_E2E][FT_SERVE_MEAN].high /
                   (double)users,
               1, 0.05);
    ft_serve_steps_close(s);
    return (r.latency[FT_SERVE_TTFT][FT_SERVE_MEAN].high -
            r.latency[FT_SERVE_TTFT][FT_SERVE_MEAN].value) /
           r.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].value;
}

/* A server may hold prompts back for 20 steps that decode, and users wait as much
 * longer: not a single one, and not before 1.0. */
TEST(prompts_may_be_held_back)
{
    CHECK(CMP(held_steps(NULL, 2), >, 20));
    CHECK(CMP(held_steps("0.20", 2), <, 10));
    CHECK(CMP(held_steps(NULL, 1), <, 10));
}

/* No longer than a request decodes; the work on prompts stays, and all of it where
 * nobody sends a second one. */
TEST(prompts_wait_for_what_decodes)
{
    ft_serve_load l = load_of(4);
    ft_serve_steps *s = steps_of(model, "trtllm", NULL, NULL, 0, &l);
    const double held = s->engine.held_steps;

    l.prompt = 128;
    l.generate = 2;
    for (int once = 0; once < 2; once++) {
        ft_served with, without;

        l.n_requests = once ? 4 : 32;
        s->engine.held_steps = held;
        with = served(s, &l);
        s->engine.held_steps = 0;
        without = served(s, &l);
        CHECK(CMP(with.latency[FT_SERVE_TTFT][FT_SERVE_MEAN].high, <=,
                  without.latency[FT_SERVE_TTFT][FT_SERVE_MEAN].high +
                      without.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].high));
        CHECK_NEAR(with.prefill_joules_per_token.high,
                   without.prefill_joules_per_token.high, 1e-12);
        CHECK_EQ(with.duration_s.high > without.duration_s.high, !once);
    }
    ft_serve_steps_close(s);
}

static double ttft_of(const char *engine, int64_t weight_bits, const ft_serve_load *l)
{
    const ft_dim_value dims[] = {{"tp", 4}, {"weight_bits", weight_bits}};
    ft_serve_steps *s = steps_of(mixture, engine, NULL, dims, weight_bits ? 2 : 1, l);
    const double ttft = served(s, l).latency[FT_SERVE_TTFT][FT_SERVE_MEAN].value;

    ft_serve_steps_close(s);
    return ttft;
}

/* TensorRT-LLM has kernels of its own for mixtures in fp8 with scales of blocks, which
 * take the host longer; others as any engine. */
TEST(prompts_of_block_experts_take_the_host_longer)
{
    ft_serve_load l = load_of(1);

    l.prompt = 600;
    CHECK(CMP(ttft_of("trtllm", 0, &l), >, 1.8 * ttft_of("vllm", 0, &l)));
    CHECK_NEAR(ttft_of("trtllm", 16, &l) / ttft_of("vllm", 16, &l), 1, 0.1);
}

/* Of requests within 5 % the interval has that of equal ones, whose prompts come at
 * once every time; of those within 10 % it has not. */
TEST(requests_may_stay_together)
{
    ft_serve_load l = load_of(16);
    ft_serve_steps *s;
    ft_estimate ttft[3];
    const double vary[] = {0, 0.05, 0.1};

    l.vary = 0.1;
    s = steps_of(model, "sglang", NULL, NULL, 0, &l);
    for (int i = 0; i < 3; i++) {
        l.vary = vary[i];
        ttft[i] = served(s, &l).latency[FT_SERVE_TTFT][FT_SERVE_MEAN];
    }
    CHECK(CMP(ttft[0].value, >, 1.5 * ttft[1].value));
    CHECK_NEAR(ttft[1].high, ttft[0].high, 1e-12);
    CHECK(CMP(ttft[2].high, <, ttft[0].high));
    ft_serve_steps_close(s);
}

/* Power is as unsure as that of a step by itself: time and joules need not err
 * together. */
TEST(power_has_an_interval_of_its_own)
{
    const ft_serve_load l = load_of(4);
    ft_serve_steps *s = steps_of(model, "vllm", NULL, NULL, 0, &l);
    const ft_served r = served(s, &l);
    ft_dim_value context = {"context", 600};
    ft_query q = FT_QUERY_INIT;
    ft_data *d = NULL;
    ft_answer *a = NULL;
    ft_error err;

    q.model = model;
    q.device = device;
    q.method = "physics";
    q.batch = 4;
    q.dims = &context;
    q.n_dims = 1;
    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    CHECK(!ft_query_ask(&a, d, &q, &err));
    CHECK(
        CMP(r.power_w.low / r.power_w.value, <, 1.05 * a->power.low / a->power.value));
    CHECK(CMP(r.power_w.high / r.power_w.value, >,
              0.95 * a->power.high / a->power.value));
    ft_answer_free(a);
    ft_data_close(d);
    ft_serve_steps_close(s);
}

/* 104 cores at 1.7 GHz. */
TEST(cores_of_amd_read_less_in_llama_cpp)
{
    const double weights = 2 * (8.03e9 - 128256.0 * 4096); /* but for the embedding */
    const double rate = 3.5 * 104 * 1.7e9;
    const ft_serve_load l = load_of(1);
    ft_serve_steps *s;

    device = "mi250";
    s = steps_of(model, "llama.cpp", NULL, NULL, 0, &l);
    CHECK(CMP(seconds_of(s, 1), >, weights / rate));
    CHECK(CMP(seconds_of(s, 1), <, 1.15 * weights / rate));
    ft_serve_steps_close(s);
    device = "a100-sxm-80gb";
}

/* One token's experts are read as any product of one row is. */
TEST(mixtures_of_llama_cpp_have_no_tiles)
{
    const ft_serve_load l = load_of(1);
    ft_serve_steps *own, *any;

    device = "rtx-3090";
    own = steps_of(mixture, "llama.cpp", NULL, NULL, 0, &l);
    any = steps_of(mixture, NULL, NULL, NULL, 0, &l);
    CHECK(CMP(seconds_of(own, 1), <, 0.95 * seconds_of(any, 1)));
    ft_serve_steps_close(own);
    ft_serve_steps_close(any);
    device = "a100-sxm-80gb";
}

/* Beyond the rows that those kernels are for as up to them; but for what attention
 * takes less of 14 sequences than of 13. */
TEST(more_requests_of_llama_cpp_take_no_less)
{
    const struct {
        const char *device, *path;
    } of[] = {
        {"a100-sxm-80gb", model}, {"a100-sxm-80gb", mixture}, {"rtx-3090", mixture}};

    for (size_t k = 0; k < sizeof(of) / sizeof(*of); k++) {
        double before = 0;

        device = of[k].device;
        for (uint64_t n = 1; n <= 16; n++) {
            const ft_serve_load l = load_of(n);
            ft_serve_steps *s = steps_of(of[k].path, "llama.cpp", NULL, NULL, 0, &l);
            const double time_s = seconds_of(s, (double)n);

            CHECK(CMP(time_s, >=, 0.995 * before));
            if (n == 9)
                CHECK(CMP(time_s, <, 1.1 * before));
            before = time_s;
            ft_serve_steps_close(s);
        }
    }
    device = "a100-sxm-80gb";
}

/* Two replicas with four sequences each: a device more for each, experts divided. */
TEST(replicas_share_a_load)
{
    const ft_dim_value dims[] = {{"dp", 2}, {"ep", 2}};
    const ft_serve_request recorded[] = {{0, 512, 200}};
    ft_serve_load l = load_of(8), half = load_of(4);
    ft_serve_steps *one, *two;
    ft_served a, b;
    ft_error err = {0};

    l.n_requests = 64;
    half.n_requests = 32;
    one = steps_of(mixture, NULL, NULL, NULL, 0, &half);
    two = steps_of(mixture, NULL, NULL, dims, 2, &l);
    a = served(one, &half);
    b = served(two, &l);
    CHECK_EQ(b.devices, 2 * a.devices);
    CHECK_EQ(b.requests, 64);
    CHECK_NEAR(b.mean_batch, 2 * a.mean_batch, 0.05 * b.mean_batch);
    CHECK_NEAR(b.tokens_per_s.value * b.duration_s.value, 64 * 200, 1e-6);
    CHECK(CMP(b.weight_bytes, <, 0.7 * a.weight_bytes));
    CHECK(CMP(b.power_w.value, >, 1.3 * a.power_w.value));
    l.request = recorded;
    l.n_recorded = 1;
    CHECK_EQ(ft_serve_run(&b, two, &l, &err), FT_EINVAL);
    CHECK(strstr(err.msg, "dp"));
    ft_serve_steps_close(one);
    ft_serve_steps_close(two);
}

/* While one replica reads a prompt, the other waits: a token of theirs takes longer
 * than that of one alone with half of the users. */
TEST(replicas_wait_for_each_other_s_prompts)
{
    const ft_dim_value dims[] = {{"dp", 4}};
    ft_serve_load l = load_of(16), quarter = load_of(4);
    ft_serve_steps *one, *four;
    ft_served a, b;

    l.generate = quarter.generate = 20;
    l.prompt = quarter.prompt = 4096;
    l.vary = quarter.vary = 0.1;
    one = steps_of(model, NULL, NULL, NULL, 0, &quarter);
    four = steps_of(model, NULL, NULL, dims, 1, &l);
    a = served(one, &quarter);
    b = served(four, &l);
    CHECK(CMP(b.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].value, >,
              1.3 * a.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].value));
    CHECK(CMP(b.tokens_per_s.value, >, 1.2 * a.tokens_per_s.value));
    CHECK(CMP(b.tokens_per_s.value, <, 4 * a.tokens_per_s.value));
    ft_serve_steps_close(one);
    ft_serve_steps_close(four);
}

/* A token goes through both stages; while one has its half of the sequences, the other
 * has the other half. */
TEST(stages_work_on_batches_in_turn)
{
    const ft_dim_value dims[] = {{"pp", 2}};
    const ft_serve_load l = load_of(8), four = load_of(4), alone = load_of(1);
    ft_serve_steps *one = steps_of(model, NULL, NULL, NULL, 0, &l);
    ft_serve_steps *two = steps_of(model, NULL, NULL, dims, 1, &l);
    ft_served a = served(one, &four), b = served(two, &l);

    CHECK_NEAR(seconds_of(two, 4) / seconds_of(one, 4), 1, 0.1);
    CHECK_NEAR(b.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].value /
                   a.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].value,
               1, 0.1);
    CHECK_NEAR(b.tokens_per_s.value / a.tokens_per_s.value, 2, 0.2);
    CHECK_EQ(b.devices, 2);
    CHECK_NEAR(b.joules_per_token.value / a.joules_per_token.value, 1, 0.15);
    a = served(one, &alone); /* one of the stages has nothing to do */
    b = served(two, &alone);
    CHECK_NEAR(b.tokens_per_s.value / a.tokens_per_s.value, 1, 0.1);
    CHECK(CMP(b.joules_per_token.value, >, a.joules_per_token.value));
    CHECK_EQ(b.requests, a.requests);
    ft_serve_steps_close(one);
    ft_serve_steps_close(two);
}

/* Nobody says whether a server drafts; where it does, a step makes two tokens at best.
 */
TEST(intervals_reach_to_servers_that_draft)
{
    const ft_dim_value none[] = {{"mtp", 0}}, one[] = {{"mtp", 1}};
    const ft_serve_load l = load_of(4);
    ft_query q = FT_QUERY_INIT;
    ft_serve_plan *p = NULL;
    ft_error err = {0};
    ft_serve_steps *open, *said;
    ft_served a, b;
    char text[1024];

    snprintf(text, sizeof(text), "{\"num_nextn_predict_layers\": 1, %s",
             mixture_text + 1);
    write_text(mixture, text);
    open = steps_of(mixture, "trtllm", NULL, NULL, 0, &l);
    said = steps_of(mixture, "trtllm", NULL, none, 1, &l);
    a = served(open, &l);
    b = served(said, &l);
    CHECK((a.may & FT_SERVE_MAY_DRAFT) && !(b.may & FT_SERVE_MAY_DRAFT));
    CHECK_NEAR(a.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].value,
               b.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].value, 1e-12);
    CHECK_NEAR(a.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].low /
                   b.latency[FT_SERVE_TPOT][FT_SERVE_MEAN].low,
               0.5, 0.1);
    ft_serve_steps_close(open);
    ft_serve_steps_close(said);
    q.model = mixture;
    q.dims = one;
    q.n_dims = 1;
    CHECK_EQ(ft_serve_plan_open(&p, &q, &l, 1, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "--dim mtp"));
}

/* 1.25 either way where a step decodes, 1.5 where it has a mixture's prompts, beside
 * what steps err by. */
TEST(engines_are_less_sure_than_their_kernels)
{
    const ft_serve_load l = load_of(4);
    ft_serve_steps *s = steps_of(mixture, "vllm", NULL, NULL, 0, &l);
    const ft_serve_step decode = {.decode_seqs = 4, .decode_context = 2400};
    const ft_serve_step prompt = {
        .prefill_tokens = 512, .prefill_seqs = 1, .prefill_pairs = 512. * 513 / 2};
    ft_estimate time, energy;

    ft_serve_step_ask(&time, &energy, s, &decode);
    CHECK(CMP(time.high / time.value, >, 1.25) && CMP(time.value / time.low, >, 1.25));
    ft_serve_step_ask(&time, &energy, s, &prompt);
    CHECK(CMP(time.high / time.value, >, 1.5) && CMP(time.value / time.low, >, 1.5));
    ft_serve_steps_close(s);
}

int main(int argc, char **argv)
{
    take_model(argc, argv);
    CHECK(mkdtemp(folder));
    snprintf(mixture, sizeof(mixture), "%s/config.json", folder);
    write_text(mixture, mixture_text);
    check_all();
    unlink(mixture);
    rmdir(folder);
    CHECK_DONE();
}
