/* Operators of language models: products on tensor cores, attention, power, templates.
 */
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "physics/op_kernels.h"
#include "physics/power.h"

static const ft_device_facts facts = {
    .name = "a-gpu",
    .title = "a GPU",
    .vendor = "NVIDIA",
    .type = "gpu",
    .cores = 100,
    .base_clock_hz = NAN,
    .boost_clock_hz = 1.5e9,
    .memory_clock_hz = NAN,
    .peak_fp64 = NAN,
    .peak_fp32 = 20e12,
    .peak_tf32 = 150e12,
    .peak_fp16 = 300e12,
    .peak_bf16 = 300e12,
    .peak_fp8 = NAN,
    .peak_fp4 = NAN,
    .load_clock_hz = NAN,
    .peak_int8 = NAN,
    .bandwidth_bytes_per_s = 2e12,
    .memory_bytes = 80e9,
    .l2_bytes = 40e6,
    .l3_bytes = NAN,
    .shared_memory_per_core_bytes = NAN,
    .tdp_w = 400,
    .process_nm = 7,
    .compute_capability = 8,
    .year = 2020,
};

static ft_op op_of(const char *spec)
{
    ft_op op = {0};
    ft_error err;

    if (ft_op_parse(&op, spec, strlen(spec), &err))
        fprintf(stderr, "%s: %s\n", spec, err.msg);
    return op;
}

static ft_op product(int m, int n, int k)
{
    char spec[120];

    snprintf(spec, sizeof(spec), "linear x=%dx%d out=%d dtype=bf16", m, k, n);
    return op_of(spec);
}

static ft_op attention(int batch, int heads, int kv, int queries, int keys)
{
    char spec[200];

    snprintf(spec, sizeof(spec),
             "attention x=%dx%dx%dx128 y=%dx%dx%dx128 z=%dx%dx%dx128%s "
             "dtype=bf16",
             batch, heads, queries, batch, kv, keys, batch, kv, keys,
             queries > 1 ? " causal=1" : "");
    return op_of(spec);
}

static ft__terms terms_on(const ft_op *op, const ft_device_facts *d,
                          const char *setting, const ft__physics_params *theta)
{
    ft__hardware_spec chip;
    ft__terms t;

    ft__hardware_spec_make(&chip, d, setting, "default", op);
    ft__physics(&t, op, &chip, theta);
    return t;
}

static double seconds(ft_op op, const ft_device_facts *d)
{
    ft__physics_params theta = ft__physics_default();

    return terms_on(&op, d, "", &theta).total_s;
}

/* Host time and the launch out of the way. */
static ft__physics_params bare(void)
{
    ft__physics_params theta = ft__physics_default();

    theta.v[FT__C_floor_s] = 1e-7;
    theta.v[FT__C_kernel_s] = 5e-7;
    return theta;
}

TEST(a_large_product_runs_at_its_share_of_the_peak)
{
    ft_op op = product(16384, 16384, 16384);
    ft__physics_params theta = bare();
    double rate =
        2.0 * 16384 * 16384 * 16384 / terms_on(&op, &facts, "", &theta).total_s;

    CHECK(CMP(rate, <, 300e12 * theta.v[FT__C_tensor_share]));
    CHECK(CMP(rate, >, 300e12 * theta.v[FT__C_tensor_share] * 0.9));
}

TEST(a_thin_product_is_as_fast_as_its_weights_come_from_memory)
{
    ft_op op = product(1, 65536, 16384);
    ft__physics_params theta = bare();
    double rate = 2.0 * 65536 * 16384 / terms_on(&op, &facts, "", &theta).total_s;

    CHECK(CMP(rate, <, 2e12 * theta.v[FT__C_tensor_memory]));
    CHECK(CMP(rate, >, 2e12 * theta.v[FT__C_tensor_memory] * 0.8));
}

TEST(a_small_product_takes_a_launch)
{
    ft__physics_params theta = bare();
    ft_op op = product(1, 32, 32);
    double s = terms_on(&op, &facts, "", &theta).total_s;

    CHECK(CMP(s, >, theta.v[FT__C_kernel_s]));
    CHECK(CMP(s, <, theta.v[FT__C_kernel_s] + 1e-6));
}

TEST(more_work_never_takes_less)
{
    for (int k = 128; k <= 32768; k *= 2)
        for (int m = 1; m <= 16384; m *= 2) {
            CHECK(CMP(seconds(product(2 * m, 4096, k), &facts), >=,
                      seconds(product(m, 4096, k), &facts)));
            CHECK(CMP(seconds(product(m, 4096, 2 * k), &facts), >=,
                      seconds(product(m, 4096, k), &facts)));
        }
    for (int keys = 128; keys <= 65536; keys *= 2) {
        CHECK(CMP(seconds(attention(4, 32, 8, 1, 2 * keys), &facts), >=,
                  seconds(attention(4, 32, 8, 1, keys), &facts)));
        /* Twice as many may be faster: their keys need no second kernel. */
        CHECK(CMP(seconds(attention(64, 32, 8, 1, keys), &facts), >=,
                  seconds(attention(4, 32, 8, 1, keys), &facts)));
    }
    for (int n = 128; n <= 8192; n *= 2)
        CHECK(CMP(seconds(attention(4, 32, 8, 2 * n, 2 * n), &facts), >,
                  seconds(attention(4, 32, 8, n, n), &facts)));
}

/* Twice 2 TB/s is stacked memory, 2 TB/s none: of an Ampere its cache is in two halves.
 * What is copied into order and back is hidden by what starts it, smoothly, which 1e-7
 * of the time allows for. */
TEST(stacked_memory_takes_no_longer)
{
    ft_device_facts stacked = facts;

    stacked.bandwidth_bytes_per_s *= 2;
    for (int keys = 64; keys <= 65536; keys *= 4)
        CHECK(CMP(seconds(attention(16, 32, 8, 1, keys), &stacked), <=,
                  seconds(attention(16, 32, 8, 1, keys), &facts) * (1 + 1e-7)));
}

TEST(a_better_chip_never_takes_longer)
{
    ft_device_facts base = facts, more_memory, more_peak, more_cache;

    /* Twice of it is stacked memory, too, with a cache in two halves. */
    base.bandwidth_bytes_per_s = 2.1e12;
    more_memory = more_peak = more_cache = base;
    more_memory.bandwidth_bytes_per_s *= 2;
    more_peak.peak_bf16 *= 2;
    more_cache.l2_bytes *= 2;
    for (int m = 1; m <= 16384; m *= 4) {
        double s = seconds(product(m, 8192, 8192), &base);

        CHECK(CMP(seconds(product(m, 8192, 8192), &more_memory), <=, s));
        CHECK(CMP(seconds(product(m, 8192, 8192), &more_peak), <=, s));
    }
    for (int keys = 64; keys <= 65536; keys *= 4) {
        double s = seconds(attention(16, 32, 8, 1, keys), &base);

        CHECK(CMP(seconds(attention(16, 32, 8, 1, keys), &more_memory), <=, s));
        CHECK(CMP(seconds(attention(16, 32, 8, 1, keys), &more_cache), <=, s));
    }
}

/* What bounds an operation decides how much of a second memory's speed it gains. */
TEST(memory_counts_where_keys_do_not_fit_the_cache)
{
    ft_device_facts fast = facts;
    ft_op small = attention(1, 32, 8, 1, 512), large = attention(64, 32, 8, 1, 8192);
    ft_op prompt = attention(4, 32, 8, 8192, 8192);

    fast.bandwidth_bytes_per_s *= 1.5;
    CHECK_NEAR(seconds(small, &fast) / seconds(small, &facts), 1, 0.02);
    CHECK(CMP(seconds(large, &fast) / seconds(large, &facts), <, 0.9));
    CHECK(CMP(seconds(prompt, &fast) / seconds(prompt, &facts), >, 0.95));
}

/* Heads that share their keys read them once. */
TEST(shared_keys_are_read_once)
{
    double own = seconds(attention(64, 64, 64, 1, 4096), &facts);
    double shared = seconds(attention(64, 64, 8, 1, 4096), &facts);

    CHECK(CMP(shared, <, own / 4));
}

/* Both ways over the bus: read as they were made, written to where the others are. */
TEST(storing_new_keys_is_priced_apart)
{
    ft__physics_params theta = ft__physics_default();
    ft_op token = attention(64, 32, 8, 1, 4096),
          prompt = attention(4, 32, 8, 4096, 4096);
    double bytes = 2 * 2.0 * 4 * 8 * 4096 * 128 * 2;

    CHECK_EQ(terms_on(&prompt, &facts, "", &theta).aside_s, 0);
    for (int i = 0; i < 2; i++) {
        const ft_op *op = i ? &prompt : &token;
        ft__terms without = terms_on(op, &facts, "", &theta);
        ft__terms with = terms_on(op, &facts, "cache=written", &theta);

        CHECK_NEAR(with.busy_s - with.aside_s, without.busy_s, 1e-12);
        CHECK(CMP(with.total_s, >, without.total_s));
        CHECK(CMP(with.aside_s, >, (i ? bytes / 2e12 : 0) + 1e-6));
        CHECK(CMP(with.aside_s, <, (i ? bytes / 2e11 : 0) + 1e-5));
    }
}

/* Eight of keys and values, and as many queries: half of the bytes are theirs. */
TEST(queries_packed_with_keys_are_written_apart)
{
    ft__physics_params theta = ft__physics_default();
    ft_op token = attention(64, 16, 8, 1, 4096),
          prompt = attention(4, 16, 8, 4096, 4096);
    const double written = terms_on(&prompt, &facts, "cache=written", &theta).aside_s;
    const double packed = terms_on(&prompt, &facts, "cache=packed", &theta).aside_s;

    CHECK(CMP(packed, >, 1.9 * written));
    CHECK(CMP(packed, <, 2 * written));
    CHECK_EQ(terms_on(&token, &facts, "cache=packed", &theta).aside_s, 0);
}

/* With 64 heads a key each head reads it by itself; with 32 they do so together. */
TEST(more_than_32_heads_of_a_packed_key_have_blocks_of_their_own)
{
    ft__physics_params theta = ft__physics_default();
    ft_op few = attention(8, 64, 2, 1, 8192), many = attention(8, 64, 1, 1, 8192);

    CHECK(CMP(terms_on(&few, &facts, "cache=packed", &theta).busy_s, >,
              0.5 * terms_on(&few, &facts, "", &theta).busy_s));
    CHECK(CMP(terms_on(&few, &facts, "cache=packed", &theta).busy_s, <,
              1.1 * terms_on(&few, &facts, "", &theta).busy_s));
    CHECK(CMP(terms_on(&many, &facts, "cache=packed", &theta).busy_s, >,
              2 * terms_on(&many, &facts, "", &theta).busy_s));
}

/* Of a GPU with that compute capability. */
static ft__terms token_on(double capability, ft_op op, const char *setting)
{
    const ft__physics_params theta = ft__physics_default();
    ft_device_facts f = facts;

    f.compute_capability = capability;
    return terms_on(&op, &f, setting, &theta);
}

/* FlashAttention-2 copies queries and results where several groups of heads share keys;
 * Hopper's kernels and TensorRT-LLM's do not, and one group or one sequence lies in
 * order: 12.6 us on an A100, where two sequences take 18.5. */
TEST(groups_of_heads_are_copied_into_order_before_hopper)
{
    static const char graph[] = "run_mode=graph";
    const ft_op groups = attention(4, 32, 2, 1, 64), one = attention(4, 32, 1, 1, 64),
                own = attention(4, 32, 32, 1, 64), alone = attention(1, 32, 2, 1, 64);

    CHECK_NEAR(token_on(8, groups, graph).kernels, 3, 0);
    CHECK_NEAR(token_on(8, one, graph).kernels, 1, 0);
    CHECK_NEAR(token_on(8, own, graph).kernels, 1, 0);
    CHECK_NEAR(token_on(8, alone, graph).kernels, 1, 0);
    CHECK_NEAR(token_on(9, groups, graph).kernels, 1, 0);
    CHECK_NEAR(token_on(8, groups, "run_mode=graph cache=packed").kernels, 1, 0);
}

/* 40 heads are rows of one instruction of Hopper's tensor cores, and of one block of
 * FlashAttention-2, as 16 are: with 1024 sequences on an A100 64 heads took 71 us,
 * where blocks of 16 rows would take 150. XQA's 32 are two. */
TEST(a_block_has_64_rows)
{
    const ft_op few = attention(512, 32, 2, 1, 64), many = attention(512, 80, 2, 1, 64),
                twice = attention(512, 64, 2, 1, 64);

    CHECK_NEAR(token_on(9, few, "").waves, token_on(9, many, "").waves, 1e-9);
    CHECK_NEAR(token_on(8, few, "").waves, token_on(8, many, "").waves, 1e-9);
    CHECK_NEAR(2 * token_on(8, few, "cache=packed").waves,
               token_on(8, twice, "cache=packed").waves, 1e-9);
}

/* TensorRT-LLM reads the first token of a sequence as a prompt: tiles of 128 queries.
 */
TEST(the_first_token_of_a_sequence_is_a_prompt)
{
    static const char packed[] = "run_mode=graph cache=packed";
    const ft_op first = attention(256, 32, 8, 1, 1),
                second = attention(256, 32, 8, 1, 2);

    CHECK(CMP(token_on(9, first, packed).busy_s, >,
              1.3 * token_on(9, second, packed).busy_s));
    CHECK(CMP(token_on(9, first, "run_mode=graph").busy_s, <=,
              token_on(9, second, "run_mode=graph").busy_s));
}

/* In three passes, or by the way in the kernel that narrows the tensor. */
TEST(scales_of_tensors_are_found_as_engines_do)
{
    const ft_op op = op_of("reduce_max x=4096x8192 axes=0x1 dtype=bf16");
    const double alone = token_on(9, op, "run_mode=graph").busy_s;

    CHECK(CMP(token_on(9, op, "run_mode=graph cache=packed").busy_s, >, 2.5 * alone));
    CHECK(CMP(token_on(9, op, "run_mode=graph picks=all").busy_s, <, alone));
}

/* Two steps move 2 (n - 1) / n of a large sum over the link of each; a small one takes
 * its start; a hundred devices do not take it a hundred times. */
TEST(a_sum_over_devices_goes_over_their_link)
{
    ft_device_facts linked = facts;
    const double bytes = 2 * 8192.0 * 65536, pcie = 16e9 * 0.7, nvlink = 450e9 * 0.7;

    linked.type = "gpu";
    linked.year = 2018;
    linked.link_bytes_per_s = NAN;
    CHECK_NEAR(seconds(op_of("collective x=8192x65536 ranks=4 dtype=bf16"), &linked) /
                   (1.5 * bytes / pcie),
               1, 0.01);
    linked.link_bytes_per_s = 450e9;
    CHECK_NEAR(seconds(op_of("collective x=8192x65536 ranks=4 dtype=bf16"), &linked) /
                   (1.5 * bytes / nvlink),
               1, 0.05);
    CHECK(
        CMP(seconds(op_of("collective x=128 ranks=8 dtype=bf16"), &linked), <, 50e-6));
    CHECK(CMP(seconds(op_of("collective x=8192x65536 ranks=100 dtype=bf16"), &linked),
              <, 2.1 * bytes / nvlink));
    linked.link_devices = 2; /* a bridge */
    CHECK_NEAR(seconds(op_of("collective x=8192x65536 ranks=2 dtype=bf16"), &linked) /
                   (bytes / nvlink),
               1, 0.05);
    CHECK_NEAR(seconds(op_of("collective x=8192x65536 ranks=4 dtype=bf16"), &linked) /
                   (1.5 * bytes / pcie),
               1, 0.01);
}

/* How much longer one operation takes than another. */
static double ratio(const char *spec, const char *other)
{
    return seconds(op_of(spec), &facts) / seconds(op_of(other), &facts);
}

/* Five products in place of two, half of each where queries see what came before. */
TEST(attention_goes_back_as_one_kernel)
{
    const double back =
        ratio("attention x=2x32x4096x128 y=2x32x4096x128 z=2x32x4096x128 causal=1 "
              "dtype=bf16 phase=backward",
              "attention x=2x32x4096x128 y=2x32x4096x128 z=2x32x4096x128 causal=1 "
              "dtype=bf16");

    CHECK(CMP(back, >, 2.5));
    CHECK(CMP(back, <, 3.3));
}

/* Adapters of 200 Gbit/s in 2020: sums within machines first, then of a part on each
 * device; of parts for all others those for other machines go over the network. */
TEST(collectives_of_several_machines_go_over_the_network)
{
    ft_device_facts linked = facts;
    const double bytes = 2 * 8192.0 * 65536, nvlink = 450e9 * 0.7, network = 25e9 * 0.7;

    linked.type = "gpu";
    linked.link_bytes_per_s = 450e9;
    CHECK_NEAR(
        seconds(op_of("collective x=8192x65536 ranks=16 nodes=2 dtype=bf16"), &linked) /
            (1.75 * bytes / nvlink + bytes / 8 / network),
        1, 0.05);
    CHECK_NEAR(
        seconds(op_of("collective x=8192x65536 ranks=8 mode=1 dtype=bf16"), &linked) /
            (0.875 * bytes / nvlink),
        1, 0.05);
    CHECK_NEAR(
        seconds(op_of("collective x=8192x65536 ranks=16 mode=1 nodes=2 dtype=bf16"),
                &linked) /
            (0.5 * bytes / network),
        1, 0.05);
    CHECK_NEAR(
        seconds(op_of("collective x=8192x65536 ranks=2 mode=2 dtype=bf16"), &linked) /
            (bytes / nvlink),
        1, 0.05);
    CHECK_NEAR(
        seconds(op_of("collective x=8192x65536 ranks=2 mode=2 nodes=2 dtype=bf16"),
                &linked) /
            (bytes / network),
        1, 0.05);
}

/* K-quants: a type of 4 bits with a scale for every 6 weights reads as 6.67 bits do. */
TEST(scales_of_few_weights_are_read)
{
    CHECK_NEAR(ratio("linear x=1x16384 out=65536 weights=int4 block=6 dtype=bf16",
                     "linear x=1x16384 out=65536 weights=int4 block=32 dtype=bf16"),
               (4 + 16 / 6.0) / 4, 0.05);
}

/* Two tokens of a sequence that decodes read its keys as one does. */
TEST(drafted_tokens_decode)
{
    CHECK(CMP(ratio("attention x=16x16x2x576 y=16x1x4096x576 z=16x1x4096x512 causal=1 "
                    "shared=1 dtype=bf16",
                    "attention x=16x16x1x576 y=16x1x4096x576 z=16x1x4096x512 shared=1 "
                    "dtype=bf16"),
              <, 2.5));
}

TEST(experts_without_a_gate_read_two_matrices)
{
    CHECK_NEAR(ratio("moe x=64x4096 hidden=8192 experts=8 topk=8 gated=0 dtype=bf16",
                     "moe x=64x4096 hidden=8192 experts=8 topk=8 dtype=bf16"),
               2.0 / 3, 0.05);
}

TEST(other_numbers_are_priced_as_before)
{
    ft_op op = op_of("linear x=4096x4096 out=4096 dtype=fp32");
    ft__physics_params theta = ft__physics_default(), other = theta;

    for (int i = FT__C_tensor_share; i <= FT__C_tensor_blend; i++)
        other.v[i] *= 1.3;
    CHECK_EQ(terms_on(&op, &facts, "", &theta).total_s,
             terms_on(&op, &facts, "", &other).total_s);
    op = product(4096, 4096, 4096);
    CHECK(CMP(terms_on(&op, &facts, "", &theta).total_s, !=,
              terms_on(&op, &facts, "", &other).total_s));
}

enum { N_ROWS = 600 };

static void random_products(ft_op *op, uint64_t seed)
{
    for (int i = 0; i < N_ROWS; i++) {
        ft__prng p = ft__prng_stream(seed, (uint64_t)i);

        op[i] = product(1 << ft__prng_u64(&p) % 14, 32 << ft__prng_u64(&p) % 10,
                        32 << ft__prng_u64(&p) % 10);
    }
}

TEST(constants_of_a_synthetic_device_are_found_again)
{
    static ft_op op[N_ROWS];
    static ft__hardware_spec chip[N_ROWS];
    static ft__physics_row row[N_ROWS];
    ft__physics_params truth = bare(), found = ft__physics_default();
    double worst = 0, sum = 0;

    truth.v[FT__C_tensor_share] = 0.6;
    truth.v[FT__C_tensor_memory] = 0.7;
    truth.v[FT__C_kernel_s] = 5e-6;
    random_products(op, 3);
    for (int i = 0; i < N_ROWS; i++) {
        ft__terms t;

        ft__hardware_spec_make(&chip[i], &facts, "", "default", &op[i]);
        ft__physics(&t, &op[i], &chip[i], &truth);
        row[i] = (ft__physics_row){&op[i], &chip[i], t.total_s, 1, 0};
    }
    CHECK_EQ(ft__physics_fit(&found, row, N_ROWS, 1, NULL), FT_OK);
    random_products(op, 4);
    for (int i = 0; i < N_ROWS; i++) {
        double e = fabs(terms_on(&op[i], &facts, "", &found).total_s /
                            terms_on(&op[i], &facts, "", &truth).total_s -
                        1);

        worst = fmax(worst, e);
        sum += e;
    }
    CHECK(CMP(sum / N_ROWS, <, 0.03));
    CHECK(CMP(worst, <, 0.25));
}

TEST(power_lies_between_idle_and_the_cap)
{
    ft__physics_params theta = bare();
    ft_op idle = product(1, 32, 32), busy = product(16384, 16384, 16384);
    ft__hardware_spec chip;
    ft__terms t;
    double idle_w;

    ft__hardware_spec_make(&chip, &facts, "power=300W", "default", &busy);
    idle_w = ft__idle_power(&theta, &facts);
    ft__physics(&t, &busy, &chip, &theta);
    CHECK_NEAR(ft__physics_power(&t, &chip, &theta), 300, 0);
    ft__physics(&t, &idle, &chip, &theta);
    CHECK(CMP(ft__physics_power(&t, &chip, &theta), >, idle_w));
    CHECK(CMP(ft__physics_power(&t, &chip, &theta), <,
              1.1 * theta.v[FT__C_power_idle] * chip.tdp_w));
    chip.power_w = NAN;
    CHECK(isnan(ft__physics_power(&t, &chip, &theta)));
}

/* A row of a tile of 32 draws little more than its weights do from memory; 32 rows of
 * them take as long and draw more. An A100 that only waits draws 0.19 of its TDP: loops
 * that a host issues one by one. */
TEST(few_rows_draw_what_their_weights_take_from_memory)
{
    const ft__physics_params theta = ft__physics_default();
    const ft_op one = product(1, 16384, 16384), many = product(32, 16384, 16384);
    ft__hardware_spec chip;
    ft__terms t;
    double w, moved_w;

    ft__hardware_spec_at(&chip, &facts, NAN, "default", &one);
    ft__physics(&t, &one, &chip, &theta);
    moved_w = 1e-12 * theta.v[FT__C_pj_byte] * chip.process_nm / 7 * 2 * 16384 * 16384 /
              t.busy_s;
    w = ft__physics_power(&t, &chip, &theta) - theta.v[FT__C_power_idle] * chip.tdp_w;
    CHECK(CMP(w, >, moved_w) && CMP(w, <, 1.35 * moved_w));
    ft__physics(&t, &many, &chip, &theta);
    CHECK(CMP(ft__physics_power(&t, &chip, &theta), >,
              w + theta.v[FT__C_power_idle] * chip.tdp_w));
    CHECK_NEAR(ft__idle_power(&theta, &facts), 76, 1);
}

/* Whatever the operation: a lower clock or a longer time never draws more, and a cap is
 * kept at the highest clock that can keep it. */
TEST(power_falls_with_clock_and_cap)
{
    ft__physics_params theta = bare();
    ft_op op = product(2048, 4096, 4096);
    ft__hardware_spec chip;
    ft__power p;
    ft__terms t;
    double last = 0, clock;

    ft__hardware_spec_at(&chip, &facts, NAN, "default", &op);
    ft__physics(&t, &op, &chip, &theta);
    ft__power_make(&p, &t, &chip, &theta);
    for (double at = 0.1; at <= 1; at += 0.05) {
        CHECK(CMP(ft__idle_share(&theta, &facts, at), <, 1));
        CHECK(CMP(ft__power_at(&p, at, 1e-4 / at), >, last));
        CHECK(CMP(ft__power_at(&p, at, 2e-4 / at), <, ft__power_at(&p, at, 1e-4 / at)));
        last = ft__power_at(&p, at, 1e-4 / at);
    }
    last = 0;
    for (double cap_w = 120; cap_w < 700; cap_w += 20) {
        clock = ft__clock_under_cap(&p, cap_w);
        CHECK(CMP(clock, >=, last) && CMP(clock, <=, 1));
        if (clock < 1 && clock > 1.001 * theta.v[FT__C_clock_least])
            CHECK_NEAR(ft__power_at(&p, clock, ft__busy_at(&p, clock)), cap_w,
                       1e-3 * cap_w);
        last = clock;
    }
    CHECK_NEAR(ft__clock_under_cap(&p, 1), theta.v[FT__C_clock_least], 1e-6);
    CHECK(isnan(ft__power_at(&p, 1, 0)));
}

/* An A100 that waits for memory at 510 of 1410 MHz draws about half of what it does at
 * its highest clock (55 to 58 % of EnergAIzer's networks of long passes). */
TEST(what_is_moved_takes_less_at_a_low_voltage)
{
    const ft__physics_params theta = ft__physics_default();
    const ft__power p = {.params = &theta,
                         .chip = &(ft__hardware_spec){.gddr = 0},
                         .idle_w = 70,
                         .core_j = 3e-3,
                         .memory_j = 15e-3};
    const double low = ft__power_at(&p, 510. / 1410, 1.1e-4);
    ft_device_facts titan_x = facts;

    titan_x.memory_clock_hz = 3505e6;
    titan_x.bandwidth_bytes_per_s = 336e9;

    CHECK(CMP(low, >, 0.5 * ft__power_at(&p, 1, 1e-4)));
    CHECK(CMP(low, <, 0.62 * ft__power_at(&p, 1, 1e-4)));
    /* No kernel of a Titan X draws less than 0.79 at 595 of 1164 MHz of what one does
     * at the highest clock. */
    CHECK(CMP(ft__idle_share(&theta, &titan_x, 595. / 1164), >, 0.79));
}
