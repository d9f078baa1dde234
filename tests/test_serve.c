/* Serving of language models: steps as networks are, runs against what can be reckoned
 * by hand. */
#include "foretell/serve.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "files.h"
#include "serve/serve.h"
#include "serve_rig.h"

static double seconds_of(const ft_serve_steps *s, ft_serve_step step)
{
    ft_estimate time, energy;

    ft_serve_step_ask(&time, &energy, s, &step);
    CHECK(CMP(time.low, <=, time.value) && CMP(time.value, <=, time.high));
    CHECK(CMP(energy.value, >, 0));
    return time.value;
}

static ft_serve_steps *steps_of(const char *engine, const char *version)
{
    ft_serve_load l = small_load();
    ft_query q = about_model();

    q.engine = engine;
    q.engine_version = version;
    return steps_for(&q, &l, 1);
}

static const ft_serve_step one_token = {.decode_seqs = 1, .decode_context = 512};

TEST(an_eager_engine_takes_its_host_s_time_for_every_layer)
{
    ft_serve_steps *hf = steps_of("transformers", NULL), *old = steps_of("vllm", "0.2");
    ft_estimate time, energy;

    /* 32 layers; the device itself needs about 10 ms for its 15 GiB of weights. */
    CHECK(near(seconds_of(hf, one_token), 32 * 9.1e-4, 1e-9));
    CHECK(near(seconds_of(old, one_token), 32 * 5.5e-4, 1e-9));
    ft_serve_step_ask(&time, &energy, hf, &one_token); /* another host's differs */
    CHECK(CMP(time.low, <, 0.95 * time.value) && CMP(time.high, >, 1.05 * time.value));
    ft_serve_steps_close(hf);
    ft_serve_steps_close(old);
}

static const char mixture_text[] =
    "{\"model_type\": \"qwen3_moe\", \"hidden_size\": 1024, \"num_hidden_layers\": 10, "
    "\"num_attention_heads\": 16, \"num_key_value_heads\": 4, \"head_dim\": 64, "
    "\"intermediate_size\": 2048, \"moe_intermediate_size\": 256, \"num_experts\": 32, "
    "\"num_experts_per_tok\": 4, \"vocab_size\": 32000, \"torch_dtype\": \"bfloat16\"}";

/* Operations that are launched: an embedding; in a layer two norms, two of queries and
 * keys, two rotations, two copies to the cache, three products, attention, softmax, the
 * best, experts and two sums; a norm and the head. */
TEST(prompts_of_mixtures_wait_for_python)
{
    const ft_serve_step prompt = {
        .prefill_tokens = 1024, .prefill_pairs = 1024.0 * 1025 / 2, .prefill_seqs = 1};
    const ft_serve_step few = {
        .prefill_tokens = 256, .prefill_pairs = 256.0 * 257 / 2, .prefill_seqs = 1};
    const double n = 1 + 10 * 17 + 2;
    ft_serve_load l = small_load();
    ft_query q = about_model();
    ft_serve_steps *any, *sglang, *dense = steps_of("sglang", NULL);
    char folder[] = "/tmp/test-serve-XXXXXX", path[64];

    CHECK(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/config.json", folder);
    write_text(path, mixture_text);
    q.model = path;
    any = steps_for(&q, &l, 1);
    q.engine = "sglang";
    sglang = steps_for(&q, &l, 1);
    CHECK_NEAR(seconds_of(any, prompt), n * 8.5e-5, 1e-9);
    CHECK(CMP(seconds_of(any, few), <, 0.5 * n * 8.5e-5)); /* a CUDA graph */
    CHECK_NEAR(seconds_of(sglang, few), n * 1.65e-4, 1e-9);
    CHECK(CMP(seconds_of(sglang, one_token), <, 0.5 * n * 8.5e-5));
    CHECK(CMP(seconds_of(dense, few), <, 32 * 10 * 8.5e-5));
    unlink(path);
    rmdir(folder);
    ft_serve_steps_close(any);
    ft_serve_steps_close(sglang);
    ft_serve_steps_close(dense);
}

TEST(kernels_of_llama_cpp_read_weights_at_the_cores_pace)
{
    const ft_serve_load l = small_load();
    ft_query q = about_model();
    ft_serve_steps *own = steps_of("llama.cpp", NULL), *any = steps_of(NULL, NULL);
    ft_serve_steps *half;
    const double weights = 2 * (8.03e9 - 128256.0 * 4096); /* but for the embedding */
    const double rate = 5.5 * 108 * 1.41e9;
    const ft_serve_step many = {.decode_seqs = 8, .decode_context = 8 * 512};

    CHECK(CMP(seconds_of(own, one_token), >, weights / rate));
    CHECK(CMP(seconds_of(own, one_token), <, 1.1 * weights / rate));
    CHECK(CMP(seconds_of(any, one_token), <, 0.8 * weights / rate));
    CHECK(CMP(seconds_of(own, many), >, weights / rate));
    q.engine = "llama.cpp";
    q.setting = "clock=705MHz";
    half = steps_for(&q, &l, 1);
    CHECK(CMP(seconds_of(half, one_token), >, 2 * weights / rate));
    ft_serve_steps_close(half);
    ft_serve_steps_close(own);
    ft_serve_steps_close(any);
}

TEST(versions_of_engines_are_numbers)
{
    static const struct {
        const char *version;
        double overhead_s; /* between steps, of one user */
    } cases[] = {{"0.9", 7e-4},    {"0.13.2", 7e-4}, {"0.14", 5e-4},
                 {"0.14.1", 5e-4}, {"1.0", 5e-4},    {NULL, 5e-4}};
    ft_serve_load l = small_load();

    l.concurrency = 1;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_serve_steps *s = steps_of("vllm", cases[i].version);
        const ft_served r = served(s, &l);

        CHECK(near(r.step_overhead_s, cases[i].overhead_s, 1e-9));
        ft_serve_steps_close(s);
    }
}

TEST(older_vllm_samples_for_each_sequence_in_turn)
{
    ft_serve_load l = small_load();
    ft_serve_steps *old = steps_of("vllm", "0.11"), *now = steps_of("vllm", NULL);
    const ft_served a = served(old, &l), b = served(now, &l);
    ft_served said;
    const double more = mean_of(&a, FT_SERVE_ITL) - mean_of(&b, FT_SERVE_ITL);

    CHECK(near(more, 2e-4 + 5.8e-5 * 8, 0.1));
    l.step_overhead_s = 5e-4; /* all that there is, when it is said */
    said = served(old, &l);
    CHECK(near(mean_of(&b, FT_SERVE_ITL), mean_of(&said, FT_SERVE_ITL), 1e-9));
    ft_serve_steps_close(old);
    ft_serve_steps_close(now);
}

static double asked_directly(int64_t batch, int64_t tokens, int64_t context)
{
    const ft_dim_value dims[] = {{"tokens", tokens}, {"context", context}};
    ft_query q = about_model();
    ft_data *d = NULL;
    ft_answer *a = NULL;
    double s;

    q.batch = batch;
    q.dims = dims;
    q.n_dims = 2;
    q.run_mode = "compiled-graph";
    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    s = a ? a->time.value : NAN;
    ft_answer_free(a);
    ft_data_close(d);
    return s;
}

TEST(steps_between_grid_points_are_what_a_query_answers)
{
    const int64_t decode[][2] = {{3, 520}, {5, 900}, {8, 576}, {23, 700}};
    const int64_t prefill[] = {100, 300, 512, 900, 1500};
    ft_serve_load l = small_load();
    ft_serve_steps *s;

    l.concurrency = 32;
    l.prompt = 1024;
    s = steps_of_load(&l);
    for (size_t i = 0; i < sizeof(decode) / sizeof(*decode); i++) {
        const double n = (double)decode[i][0], c = (double)decode[i][1];

        CHECK(near(
            seconds_of(s, (ft_serve_step){.decode_seqs = n, .decode_context = n * c}),
            asked_directly(decode[i][0], 1, decode[i][1]), 0.08));
    }
    for (size_t i = 0; i < sizeof(prefill) / sizeof(*prefill); i++) {
        const double n = (double)prefill[i];

        CHECK(near(seconds_of(s, (ft_serve_step){.prefill_tokens = n,
                                                 .prefill_pairs = n * (n + 1) / 2,
                                                 .prefill_seqs = 1}),
                   asked_directly(1, prefill[i], prefill[i]), 0.06));
    }
    ft_serve_steps_close(s);
}

TEST(a_mixed_step_costs_less_than_its_parts_alone)
{
    const ft_serve_step decode = {.decode_seqs = 8, .decode_context = 8 * 540};
    const ft_serve_step prefill = {
        .prefill_tokens = 256, .prefill_pairs = 256 * 257 / 2, .prefill_seqs = 1};
    ft_serve_step both = prefill;
    ft_serve_load l = small_load();
    ft_serve_steps *s = steps_of_load(&l);

    both.decode_seqs = decode.decode_seqs;
    both.decode_context = decode.decode_context;
    CHECK(CMP(seconds_of(s, both), >, seconds_of(s, prefill)));
    CHECK(CMP(seconds_of(s, both), >, seconds_of(s, decode)));
    CHECK(CMP(seconds_of(s, both), <, seconds_of(s, prefill) + seconds_of(s, decode)));
    ft_serve_steps_close(s);
}

TEST(one_user_waits_for_each_step_in_turn)
{
    const double n = 512, overhead = 0.002;
    ft_serve_load l = small_load();
    ft_serve_steps *s;
    double first, rest = 0;
    ft_served r;

    l.concurrency = 1;
    l.n_requests = 3;
    l.step_overhead_s = overhead;
    s = steps_of_load(&l);
    r = served(s, &l);
    first = seconds_of(s, (ft_serve_step){.prefill_tokens = n,
                                          .prefill_pairs = n * (n + 1) / 2,
                                          .prefill_seqs = 1}) +
            overhead;
    for (int i = 1; i < 64; i++)
        rest +=
            seconds_of(s, (ft_serve_step){.decode_seqs = 1, .decode_context = n + i}) +
            overhead;
    CHECK(near(mean_of(&r, FT_SERVE_TTFT), first, 1e-9));
    CHECK(near(mean_of(&r, FT_SERVE_TPOT), rest / 63, 1e-3));
    CHECK(near(mean_of(&r, FT_SERVE_E2E), first + rest, 1e-3));
    CHECK(near(r.duration_s.value, 3 * (first + rest), 1e-3));
    CHECK_EQ(r.steps, 3 * 64);
    CHECK_EQ(r.preemptions, 0);
    ft_serve_steps_close(s);
}

TEST(little_s_law_holds_of_a_closed_load)
{
    ft_serve_load l = small_load();
    ft_serve_steps *s;
    ft_served r;

    l.n_requests = 400;
    s = steps_of_load(&l);
    r = served(s, &l);
    /* Until the last begin, 8 are under way. */
    CHECK(near(r.requests_per_s.value * mean_of(&r, FT_SERVE_E2E), 8, 0.03));
    CHECK(near(r.tokens_per_s.value, 64 * r.requests_per_s.value, 1e-9));
    CHECK(CMP(r.most_batch, <=, 8));
    CHECK(near(r.joules_per_token.value,
               r.prefill_joules_per_token.value + r.decode_joules_per_token.value +
                   r.idle_joules_per_token.value,
               1e-9));
    ft_serve_steps_close(s);
}

TEST(a_slow_poisson_load_is_served_as_one_user_is)
{
    ft_serve_load l = small_load();
    ft_query q = about_model();
    ft_served alone, r;
    ft_serve_steps *s;

    l.concurrency = 1;
    s = steps_for(&q, (ft_serve_load[]){small_load(), l}, 2);
    alone = served(s, &l);
    l.concurrency = 0;
    l.rate_per_s = 1e-3;
    l.n_requests = 50;
    /* At most 8 at once: what the steps were planned for. */
    l.concurrency = 8;
    r = served(s, &l);
    CHECK(near(mean_of(&r, FT_SERVE_TTFT), mean_of(&alone, FT_SERVE_TTFT), 1e-6));
    CHECK(near(mean_of(&r, FT_SERVE_TPOT), mean_of(&alone, FT_SERVE_TPOT), 1e-6));
    CHECK(CMP(r.idle_joules_per_token.value, >, alone.idle_joules_per_token.value));
    ft_serve_steps_close(s);
}

TEST(of_an_open_load_as_many_leave_as_arrive)
{
    ft_serve_load l = small_load();
    ft_serve_steps *s;
    ft_served r;

    l.concurrency = l.n_requests = 0;
    l.rate_per_s = 20;
    l.generate = 128;
    s = steps_of_load(&l);
    r = served(s, &l);
    CHECK(near(r.requests_per_s.value, l.rate_per_s, 0.05));
    ft_serve_steps_close(s);
}

/* Answers that take longer than a minute; beyond what is served the rate is that of a
 * full server, however many come. */
TEST(rates_of_an_open_load_are_those_of_its_steady_state)
{
    static const double come[] = {0.5, 5, 10};
    double tokens_per_s[3];

    for (int i = 0; i < 3; i++) {
        ft_serve_load l = small_load();
        ft_serve_steps *s;
        ft_served r;

        l.concurrency = l.n_requests = 0;
        l.rate_per_s = come[i];
        l.prompt = 64;
        l.generate = 4096;
        s = steps_of_load(&l);
        r = served(s, &l);
        tokens_per_s[i] = r.tokens_per_s.value;
        if (i == 0) {
            CHECK(near(r.requests_per_s.value, 0.5, 0.05));
            CHECK(CMP(r.latency[FT_SERVE_E2E][FT_SERVE_MEAN].low, >, 30));
        }
        ft_serve_steps_close(s);
    }
    CHECK(near(tokens_per_s[0], 2048, 0.05));
    CHECK(near(tokens_per_s[2], tokens_per_s[1], 0.05));
}

TEST(a_small_cache_makes_sequences_begin_anew)
{
    ft_serve_load l = small_load();
    ft_served wide, tight;
    ft_serve_steps *s;

    l.generate = 200;
    s = steps_of_load(&l);
    wide = served(s, &l);
    l.kv_tokens = 5 * 712;
    tight = served(s, &l);
    CHECK_EQ(wide.preemptions, 0);
    CHECK(CMP(tight.preemptions, >, 0));
    CHECK(CMP(tight.kv_peak, >, 0.95) && CMP(tight.kv_peak, <=, 1));
    CHECK(CMP(tight.duration_s.value, >, wide.duration_s.value));
    ft_serve_steps_close(s);
}

TEST(who_begins_anew_finds_what_nobody_took)
{
    ft_serve_load l = small_load();
    ft_served wide, kept, lost;
    ft_serve_steps *s;

    l.generate = 200;
    s = steps_of_load(&l);
    wide = served(s, &l);
    l.kv_tokens = 5 * 712;
    kept = served(s, &l);
    CHECK(s->engine.keeps_freed);
    s->engine.keeps_freed = false;
    lost = served(s, &l);
    CHECK_EQ(kept.preemptions, lost.preemptions);
    CHECK(CMP(kept.prefill_joules_per_token.value - wide.prefill_joules_per_token.value,
              <,
              0.7 * (lost.prefill_joules_per_token.value -
                     wide.prefill_joules_per_token.value)));
    CHECK(CMP(kept.duration_s.value, <, lost.duration_s.value));
    ft_serve_steps_close(s);
}

/* What it still has may be less than what all prompts begin with. */
TEST(who_begins_anew_finds_the_prefix_of_all)
{
    ft_serve_load l = small_load();
    ft_served kept, lost;
    ft_serve_steps *s;

    l.generate = 200;
    l.kv_tokens = 5 * 712;
    l.shared_prefix = 448;
    s = steps_of_load(&l);
    kept = served(s, &l);
    s->engine.keeps_freed = false;
    lost = served(s, &l);
    CHECK(CMP(kept.preemptions, >, 0));
    CHECK(CMP(kept.prefill_joules_per_token.value, <=,
              lost.prefill_joules_per_token.value));
    ft_serve_steps_close(s);
}

TEST(a_prefix_that_is_cached_is_not_computed_again)
{
    ft_serve_load l = small_load();
    ft_serve_steps *s = steps_of_load(&l);
    ft_served plain = served(s, &l), cached;

    l.shared_prefix = 448;
    cached = served(s, &l);
    CHECK(CMP(mean_of(&cached, FT_SERVE_TTFT), <, mean_of(&plain, FT_SERVE_TTFT)));
    CHECK(CMP(cached.prefill_joules_per_token.value, <,
              plain.prefill_joules_per_token.value / 2));
    ft_serve_steps_close(s);
}

TEST(groups_for_prompts_keep_decoding_undisturbed)
{
    ft_serve_load l = small_load();
    ft_served together, apart;
    ft_serve_steps *s;

    l.vary = 0.5;
    s = steps_of_load(&l);
    together = served(s, &l);
    l.prefill_workers = l.decode_workers = 1;
    apart = served(s, &l);
    CHECK_EQ(apart.devices, 2 * together.devices);
    CHECK(CMP(apart.latency[FT_SERVE_ITL][FT_SERVE_P90].value, <,
              together.latency[FT_SERVE_ITL][FT_SERVE_P90].value));
    ft_serve_steps_close(s);
}

TEST(a_plan_for_many_loads_answers_as_one_for_each)
{
    static const uint64_t users[] = {1, 3, 8, 24, 32};
    ft_serve_load all[5];
    ft_query q = about_model();
    ft_serve_steps *many;

    for (int i = 0; i < 5; i++) {
        all[i] = small_load();
        all[i].concurrency = users[i];
    }
    many = steps_for(&q, all, 5);
    for (int i = 0; i < 5; i++) {
        ft_serve_steps *one = steps_for(&q, &all[i], 1);
        const ft_served a = served(one, &all[i]), b = served(many, &all[i]);

        CHECK(near(a.tokens_per_s.value, b.tokens_per_s.value, 0.02));
        CHECK(near(mean_of(&a, FT_SERVE_TTFT), mean_of(&b, FT_SERVE_TTFT), 0.02));
        CHECK(near(mean_of(&a, FT_SERVE_TPOT), mean_of(&b, FT_SERVE_TPOT), 0.02));
        ft_serve_steps_close(one);
    }
    ft_serve_steps_close(many);
}

TEST(recorded_requests_come_when_they_did)
{
    const ft_serve_request of[] = {{0, 400, 8}, {0.5, 300, 1}, {100, 512, 16}};
    ft_serve_load l = FT_SERVE_LOAD_INIT;
    ft_serve_steps *s;
    ft_served r;

    l.request = of;
    l.n_recorded = 3;
    s = steps_of_load(&l);
    r = served(s, &l);
    CHECK_EQ(r.requests, 3);
    CHECK(near(r.tokens_per_s.value * r.duration_s.value, 25, 1e-9));
    CHECK(CMP(r.duration_s.value, >, 100) && CMP(r.duration_s.value, <, 101));
    ft_serve_steps_close(s);
}

/* What can be: nearly equal requests of a closed load that has others beside them. */
TEST(requests_may_stay_together_only_where_they_can)
{
    static const struct {
        double vary, rate_per_s;
        uint64_t concurrency;
        int may;
    } c[] = {{0.05, 0, 8, 1},
             {0, 0, 8, 0},
             {0.5, 0, 8, 0},
             {0.05, 2, 8, 0},
             {0.05, 0, 1, 0}};

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        ft_serve_load l = small_load();
        ft_serve_steps *s;

        l.vary = c[i].vary;
        l.rate_per_s = c[i].rate_per_s;
        l.concurrency = c[i].concurrency;
        s = steps_of_load(&l);
        CHECK_EQ((served(s, &l).may & FT_SERVE_MAY_STAY) != 0, c[i].may);
        ft_serve_steps_close(s);
    }
}

TEST(what_cannot_be_served_says_so)
{
    ft_serve_load l = small_load(), wrong = l;
    ft_query q = about_model();
    ft_serve_steps *s = steps_for(&q, &l, 1);
    ft_serve_plan *p;
    ft_error err = {0};
    ft_served r;

    wrong.vary = 1;
    CHECK_EQ(ft_serve_run(&r, s, &wrong, &err), FT_EINVAL);
    wrong = l;
    wrong.shared_prefix = wrong.prompt + 1;
    CHECK_EQ(ft_serve_run(&r, s, &wrong, &err), FT_EINVAL);
    wrong.shared_prefix = wrong.prompt * 3 / 4;
    wrong.vary = 0.5;
    CHECK_EQ(ft_serve_run(&r, s, &wrong, &err), FT_EINVAL);
    CHECK(strstr(err.msg, "prompts of 256 tokens"));
    wrong = l;
    wrong.prompt = 4096;
    CHECK_EQ(ft_serve_run(&r, s, &wrong, &err), FT_EINVAL);
    CHECK(strstr(err.msg, "planned"));
    wrong = l;
    wrong.kv_tokens = 100;
    CHECK_EQ(ft_serve_run(&r, s, &wrong, &err), FT_ENOTFOUND);
    CHECK(!r.fits && strstr(err.msg, "does not fit"));
    q.batch = 3;
    CHECK_EQ(ft_serve_plan_open(&p, &q, &l, 1, &err), FT_EINVAL);
    CHECK(!p);
    ft_serve_steps_close(s);
}

/* Also of a prompt that keeps the device busy, where sequences do not. */
TEST(a_slower_host_makes_no_step_shorter)
{
    const ft_serve_step step = {
        .prefill_tokens = 512, .prefill_pairs = 512.0 * 513 / 2, .prefill_seqs = 1};
    ft_serve_load l = small_load();
    double before = 0;

    l.prompt = 4096;
    for (double launch_s = 2e-6; launch_s < 1e-4; launch_s *= 1.25) {
        ft_query q = about_model();
        ft_estimate time, energy;
        ft_serve_steps *s;

        q.run_mode = "eager";
        q.launch_s = launch_s;
        s = steps_for(&q, &l, 1);
        ft_serve_step_ask(&time, &energy, s, &step);
        CHECK(CMP(time.value, >=, before));
        before = time.value;
        ft_serve_steps_close(s);
    }
}

TEST(the_first_requests_wait_less_than_all)
{
    ft_serve_load l = small_load();
    ft_serve_steps *s;
    ft_served all, first;

    l.rate_per_s = 1000; /* far more than are served */
    l.concurrency = 0;
    l.n_requests = 40;
    l.max_seqs = 4;
    s = steps_of_load(&l);
    all = served(s, &l);
    l.n_shown = 4;
    first = served(s, &l);
    CHECK(CMP(mean_of(&first, FT_SERVE_TTFT), <, 0.5 * mean_of(&all, FT_SERVE_TTFT)));
    CHECK(near(first.duration_s.value, all.duration_s.value, 1e-12));
    ft_serve_steps_close(s);
}

/* What rank orders by, money as device seconds of a token, of two runs of one setting.
 */
static void held_within(double share, ft_served a, ft_served b, const char *device,
                        int ranks, int users)
{
    const struct {
        const char *name;
        double a, b;
    } of[] = {
        {"tokens/s", a.tokens_per_s.value, b.tokens_per_s.value},
        {"TTFT", mean_of(&a, FT_SERVE_TTFT), mean_of(&b, FT_SERVE_TTFT)},
        {"TPOT", mean_of(&a, FT_SERVE_TPOT), mean_of(&b, FT_SERVE_TPOT)},
        {"J/token", a.joules_per_token.value, b.joules_per_token.value},
        {"money", (double)a.devices / a.tokens_per_s.value,
         (double)b.devices / b.tokens_per_s.value},
    };

    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
        const double off = of[i].a / of[i].b - 1;

        if (fabs(off) > share)
            fprintf(stderr, "%s tp=%d, %d users, %s: %+.3f\n", device, ranks, users,
                    of[i].name, off);
        CHECK(CMP(fabs(off), <=, share));
    }
}

/* Rank asks for steps of all its loads at once, predict for those of one. */
static int held_at(ft_data *d, const char *method, int ranks, uint64_t prompt,
                   uint64_t generate)
{
    static const char *const device[] = {"a100-sxm-80gb", "h100-sxm", "l4", "mi300x",
                                         "rtx-4090"};
    enum { DEVICES = 5, USERS = 8 };
    const ft_dim_value tp = {"tp", ranks};
    ft_serve_plan *all = NULL, *one[USERS] = {NULL};
    ft_serve_load l[USERS];
    ft_query q = about_model();
    int n = 0;

    q.method = method;
    q.dims = &tp;
    q.n_dims = 1;
    for (int u = 0; u < USERS; u++) {
        l[u] = small_load();
        l[u].prompt = prompt;
        l[u].generate = generate;
        l[u].concurrency = (uint64_t)1 << u;
        l[u].n_requests = 2 * l[u].concurrency + 16;
        l[u].kv_tokens = 10000000; /* whether it fits is not the question */
        CHECK(!ft_serve_plan_open(&one[u], &q, &l[u], 1, NULL));
    }
    CHECK(!ft_serve_plan_open(&all, &q, l, USERS, NULL));
    for (int i = 0; i < DEVICES; i++) {
        ft_serve_steps *ranked = NULL, *alone = NULL;

        q.device = device[i];
        CHECK(!ft_serve_steps_open(&ranked, d, all, &q, NULL));
        for (int u = 0; u < USERS; u++) {
            CHECK(!ft_serve_steps_open(&alone, d, one[u], &q, NULL));
            held_within(0.02, served(ranked, &l[u]), served(alone, &l[u]), device[i],
                        ranks, 1 << u);
            n++;
            ft_serve_steps_close(alone);
        }
        ft_serve_steps_close(ranked);
    }
    for (int u = 0; u < USERS; u++)
        ft_serve_plan_close(one[u]);
    ft_serve_plan_close(all);
    return n;
}

/* The longer prompts are read in chunks, also by one user. */
TEST(settings_are_ranked_as_they_are_predicted)
{
    const ft_serve_load l = small_load();
    ft_data *d = NULL;
    int n = 0;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    for (int ranks = 1; ranks <= 16; ranks *= 2) {
        n += held_at(d, "physics", ranks, l.prompt, l.generate);
        n += held_at(d, NULL, ranks, 6000, 1500);
    }
    CHECK_EQ(n, 400);
    ft_data_close(d);
}

/* A step that is asked for alone, and the steps of a server of one user. */
TEST(a_model_in_bf16_is_computed_in_fp16_where_there_are_units_for_that_alone)
{
    static const struct {
        const char *device, *dtype, *in;
    } asked[] = {{"v100-sxm2-32gb", NULL, "fp16"},
                 {"v100-sxm2-32gb", "bf16", "bf16"},
                 {"m40", NULL, "bf16"},
                 {"a100-sxm-80gb", NULL, "bf16"}};
    const ft_dim_value dims[] = {{"context", 512}};
    const ft_serve_load l = small_load();
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
        const bool half = i == 0;
        ft_query q = about_model();
        ft_estimate time, energy;
        ft_serve_steps *s;
        ft_answer *a = NULL;
        ft_error err = {0};

        q.device = asked[i].device;
        q.dtype = asked[i].dtype;
        q.run_mode = "graph";
        s = steps_for(&q, &l, 1);
        CHECK_EQ(s->half, half);
        ft_serve_step_ask(&time, &energy, s,
                          &(ft_serve_step){.decode_seqs = 1, .decode_context = 512});
        q.dims = dims;
        q.n_dims = 1;
        if (ft_query_ask(&a, d, &q, &err))
            fprintf(stderr, "%s\n", err.msg);
        CHECK_EQ(a->half, half);
        CHECK(SAME(a->dtype, asked[i].in));
        CHECK_NEAR(time.value / a->time.value, 1, 0.03);
        ft_answer_free(a);
        ft_serve_steps_close(s);
    }
    ft_data_close(d);
}

int main(int argc, char **argv)
{
    take_model(argc, argv);
    check_all();
    CHECK_DONE();
}
