/* The physical estimate of attention and mixtures of experts. */

#include "physics_rig.h"

/* Two products, each behind what narrows its operand, and the kernel that gathers rows
 * behind those that sort them. */
TEST(mixtures_narrow_what_they_multiply)
{
    ft_op wide = op_of("moe x=64x4096 hidden=1536 experts=128 topk=8 dtype=bf16"),
          narrow = op_of("moe x=64x4096 hidden=1536 experts=128 topk=8 dtype=fp8e4m3");
    ft__hardware_spec chip = chip_of("h100-sxm", "", "ieee", &wide);
    ft__work w;
    uint32_t n;

    ft__work_make(&w, &wide, &chip);
    n = w.n;
    CHECK(CMP(w.op_kernel[0].kernels, ==, 5));
    ft__work_make(&w, &narrow, &chip);
    CHECK(EQ(w.n, n + 2) && EQ(w.op_kernel[1].what, FT__OP_KERNEL_QUANTIZE));
    CHECK_NEAR(w.op_kernel[1].read, 64 * 8 * 4096 * 2, 0);
}

/* Gradients of rows and of weights: twice the products, at 0.85 of their rate; of rows
 * alone beside frozen weights. */
TEST(gradients_of_mixtures_are_twice_their_products)
{
    static const char spec[] =
        "moe x=16384x4096 hidden=14336 experts=8 topk=2 dtype=bf16";
    char all[128], rows[160];
    double forward = seconds(spec, "h100-sxm", "run_mode=graph");

    snprintf(all, sizeof(all), "%s phase=backward", spec);
    snprintf(rows, sizeof(rows), "%s wrt=x", all);
    CHECK_NEAR(seconds(all, "h100-sxm", "run_mode=graph") / forward, 2 / 0.85, 0.15);
    CHECK_NEAR(seconds(rows, "h100-sxm", "run_mode=graph") / forward, 1 / 0.85, 0.1);
}

/* vLLM's kernels walk over the picks of 64 devices' experts, TensorRT-LLM's over those
 * of one: with 16384 rows that is most of the time, with all experts it is none. */
TEST(mixtures_of_one_device_walk_over_all_picks)
{
    static const char all[] =
        "moe x=16384x2048 hidden=512 experts=256 topk=8 dtype=bf16",
                      of_64[] = "moe x=16384x2048 hidden=512 experts=256 topk=8 ep=64 "
                                "dtype=bf16";
    static const char own[] = "run_mode=graph", masked[] = "run_mode=graph picks=all";

    CHECK(CMP(seconds(of_64, "h200-sxm", masked), >,
              3 * seconds(of_64, "h200-sxm", own)));
    CHECK(CMP(seconds(all, "h200-sxm", masked), <=, seconds(all, "h200-sxm", own)));
}

/* 64 heads that share keys: TensorRT-LLM reads the keys again for each. */
TEST(masked_multi_head_attention_reads_keys_for_every_head)
{
    static const char spec[] = "attention x=64x64x1x128 y=64x1x4096x128 "
                               "z=64x1x4096x128 dtype=bf16";

    CHECK(CMP(seconds(spec, "h200-sxm", "run_mode=graph cache=packed"), >,
              3 * seconds(spec, "h200-sxm", "run_mode=graph")));
}

/* Seconds of a token of each sequence. */
static double token_s(int sequences, int heads, int groups, int keys,
                      const char *device, const char *setting)
{
    char spec[160];

    snprintf(spec, sizeof(spec),
             "attention x=%dx%dx1x128 y=%dx%dx%dx128 z=%dx%dx%dx128 dtype=bf16",
             sequences, heads, sequences, groups, keys, sequences, groups, keys);
    return seconds(spec, device, setting);
}

/* Measured on an A100: 8 sequences of 16 heads that share keys take 25.9 us, 16 of 16
 * with two groups 11.9; 128 heads that share none 26 us, where 96 take 14.8 and
 * 192 13.8. XQA serves the second alone: its blocks of the first would be few. On
 * Blackwell others do. */
TEST(few_groups_are_masked_multi_head_attention)
{
    static const char packed[] = "run_mode=graph cache=packed";
    const double waves = token_s(16, 8, 8, 64, "a100-sxm-80gb", packed);

    CHECK(CMP(token_s(8, 16, 1, 64, "a100-sxm-80gb", packed), >,
              1.5 * token_s(16, 16, 2, 64, "a100-sxm-80gb", packed)));
    CHECK(CMP(waves, >, 1.5 * token_s(12, 8, 8, 64, "a100-sxm-80gb", packed)));
    CHECK(CMP(waves, >, 1.5 * token_s(24, 8, 8, 64, "a100-sxm-80gb", packed)));
    CHECK_NEAR(token_s(8, 16, 1, 64, "gb200", packed),
               token_s(8, 16, 1, 64, "gb200", "run_mode=graph"), 1e-12);
}

/* vLLM on an A100: 8 heads with 131072 keys each take 3.0 ms, 16 that share as many
 * 0.36. */
TEST(keys_that_no_heads_share_are_not_split)
{
    CHECK(CMP(token_s(1, 8, 8, 131072, "a100-sxm-80gb", "run_mode=graph"), >,
              5 * token_s(4, 4, 2, 131072, "a100-sxm-80gb", "run_mode=graph")));
}

/* Nothing of a tile on the diagonal is left out. */
TEST(causal_tiles_are_computed_whole)
{
    static const char spec[] = "attention x=64x32x128x128 y=64x32x128x128 "
                               "z=64x32x128x128 dtype=bf16",
                      causal[] = "attention x=64x32x128x128 y=64x32x128x128 "
                                 "z=64x32x128x128 causal=1 dtype=bf16";

    CHECK_NEAR(seconds(causal, "h200-sxm", "run_mode=graph"),
               seconds(spec, "h200-sxm", "run_mode=graph"), 1e-12);
}

/* However few its queries are: decoding kernels have no backward pass. */
TEST(few_queries_go_backward_by_five_products)
{
    static const char spec[] = "attention x=64x32x8x128 y=64x32x4096x128 "
                               "z=64x32x4096x128 causal=1 dtype=bf16";
    const ft__physics_params theta = ft__physics_default();
    ft_op op = op_of(spec);
    const ft__hardware_spec chip = chip_of("a100-sxm-80gb", "", "ieee", &op);
    ft__terms forward, backward;

    ft__physics(&forward, &op, &chip, &theta);
    op.phase = FT_PHASE_BACKWARD;
    ft__physics(&backward, &op, &chip, &theta);
    CHECK(CMP(backward.total_s, >, 2 * forward.total_s));
}

static double attention_share(const char *device, double peak)
{
    return 4.0 * 8 * 32 * 4096 * 4096 * 64 / peak /
           seconds("attention x=8x32x4096x64 y=8x32x4096x64 z=8x32x4096x64 dtype=bf16",
                   device, "");
}

/* Scores are exponentials: fast tensor cores wait for them, slow ones do not. */
TEST(exponentials_bound_attention)
{
    CHECK(CMP(attention_share("rtx-3090", 71e12), >,
              1.1 * attention_share("a100-sxm-80gb", 312e12)));
    CHECK(CMP(attention_share("h100-nvl", 835e12), <, 1)); /* its clock is not known */
}

/* 32 rows that are dealt to 256 experts, 8 for each, reach all of them; rows that pick
 * by themselves reach 1 - (1 - 8 / 256)^32 = 0.64. The weights are what takes the time.
 */
TEST(rows_that_are_dealt_reach_more_experts)
{
    static const char format[] =
        "moe x=%dx7168 hidden=2048 experts=256 topk=8 ep=%d%s dtype=fp8e4m3";
    char dealt[160], picked[160];

    for (int rows = 1; rows <= 4096; rows *= rows == 1 ? 32 : 128) {
        snprintf(dealt, sizeof(dealt), format, rows, 1, " dealt=1");
        snprintf(picked, sizeof(picked), format, rows, 1, "");
        CHECK_NEAR(seconds(picked, "h200-sxm", "run_mode=graph") /
                       seconds(dealt, "h200-sxm", "run_mode=graph"),
                   rows == 32 ? 0.64 : 1, 0.03);
    }
    /* Of 8 devices the one with most experts, 20 on average of 32, has 24. */
    snprintf(dealt, sizeof(dealt), format, 32, 8, " dealt=1");
    snprintf(picked, sizeof(picked), format, 32, 8, "");
    CHECK_NEAR(seconds(picked, "h200-sxm", "run_mode=graph") /
                   seconds(dealt, "h200-sxm", "run_mode=graph"),
               24.3 / 32, 0.03);
}

/* TensorRT-LLM gives each head a block of its own where more than 32 share keys, but
 * not where values lie in the keys: 128 heads of that took 20 times what they multiply.
 */
TEST(latent_attention_has_kernels_of_its_own)
{
    static const char spec[] = "attention x=32x128x1x576 y=32x1x5000x576 "
                               "z=32x1x5000x512 shared=1 dtype=bf16";
    const double flops = 2. * 32 * 128 * 5000 * (576 + 512);
    const double any = seconds(spec, "h200-sxm", "run_mode=graph");

    CHECK_NEAR(seconds(spec, "h200-sxm", "run_mode=graph cache=packed"), any, 1e-12);
    CHECK(CMP(any, <, 3 * flops / 989e12) && CMP(any, >, flops / 989e12));
}

/* Of the bandwidth that the data sheet has, beside what an H200 reaches. */
static double bandwidth_reached(const char *spec, const char *device)
{
    const char *const graph = "run_mode=graph";

    return seconds(spec, "h200-sxm", graph) *
           facts_of("h200-sxm").bandwidth_bytes_per_s /
           (seconds(spec, device, graph) * facts_of(device).bandwidth_bytes_per_s);
}

/* Weights and keys: error correction in the same memory takes a part of GDDR's
 * bandwidth, and GDDR without it reaches as much as HBM. */
TEST(gddr_is_read_as_it_streams)
{
    static const char weights[] = "linear x=1x32768 out=32768 dtype=bf16";
    static const char keys[] = "attention x=64x32x1x128 y=64x8x16000x128 "
                               "z=64x8x16000x128 dtype=bf16";
    const double a40 = bandwidth_reached(weights, "a40"),
                 rtx = bandwidth_reached(weights, "rtx-4090");

    CHECK(CMP(a40, >, 0.88) && CMP(a40, <, 0.96));
    CHECK(CMP(rtx, >, 1.015) && CMP(rtx, <, 1.06));
    CHECK(CMP(bandwidth_reached(keys, "a40"), <, bandwidth_reached(keys, "rtx-4090")));
    CHECK(CMP(bandwidth_reached(weights, "t4"), <, a40));
}

/* A fit of what HBM streams moves no memory but HBM's; none passes the data sheet's by
 * it. */
TEST(gddr_goes_by_no_fit_of_hbm)
{
    const ft_op keys = op_of("attention x=64x32x1x128 y=64x8x16000x128 "
                             "z=64x8x16000x128 dtype=bf16"),
                weights = op_of("linear x=1x32768 out=32768 dtype=bf16");
    ft__physics_params theta = ft__physics_default();
    ft__hardware_spec chip = chip_of("a40", "", "", &keys);
    ft__terms was, fitted;

    ft__physics(&was, &keys, &chip, &theta);
    theta.v[FT__C_stacked_share] *= 0.9;
    ft__physics(&fitted, &keys, &chip, &theta);
    CHECK_EQ(fitted.memory_s, was.memory_s);
    theta.v[FT__C_tensor_memory] = 1;
    chip = chip_of("rtx-4090", "", "", &weights);
    ft__physics(&fitted, &weights, &chip, &theta);
    CHECK(CMP(fitted.memory_s * chip.bandwidth, >=, 2.0 * 32768 * 32768));
}
