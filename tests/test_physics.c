/* The physical estimate: laws it has to obey, and limits known by hand. */
#include <math.h>

#include "physics_rig.h"

/* What a device offers. */
TEST(tensor_cores_serve_where_dtype_and_policy_use_them)
{
    ft_op conv = op_of("conv2d x=8x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1");
    ft_op linear = op_of("linear x=8x64 out=64"),
          half = op_of("linear x=8x64 out=64 dtype=fp16");
    ft_op relu = op_of("relu x=8x64 dtype=fp16");

    CHECK_NEAR(chip_of("a100-sxm-80gb", "", "default", &conv).peak_flops, 156e12, 1e9);
    CHECK_NEAR(chip_of("a100-sxm-80gb", "", "default", &linear).peak_flops, 19.5e12,
               1e9);
    CHECK_NEAR(chip_of("a100-sxm-80gb", "", "tf32", &linear).peak_flops, 156e12, 1e9);
    CHECK_NEAR(chip_of("a100-sxm-80gb", "", "ieee", &conv).peak_flops, 19.5e12, 1e9);
    CHECK_NEAR(chip_of("a100-sxm-80gb", "", "ieee", &half).peak_flops, 312e12, 1e9);
    CHECK(!chip_of("a100-sxm-80gb", "", "ieee", &relu).tensor);
    /* Pascal adds halves up in fp32; V100 has no TF32. */
    CHECK_NEAR(chip_of("p100-pcie-16gb", "", "ieee", &half).peak_flops, 9.3e12, 1e9);
    CHECK(!chip_of("v100-pcie-32gb", "", "tf32", &linear).tensor);
}

TEST(settings_scale_what_they_set)
{
    ft_op op = op_of("linear x=8x64 out=64");
    ft__hardware_spec a = chip_of("a100-sxm-80gb", "", "ieee", &op);
    ft__hardware_spec b =
        chip_of("a100-sxm-80gb", "clock=705MHz power=200W", "ieee", &op);

    CHECK_NEAR(b.vector_flops, a.vector_flops / 2, 1e6);
    CHECK_NEAR(b.peak_flops, a.peak_flops / 2, 1e6);
    CHECK_NEAR(b.bandwidth, a.bandwidth, 0.01 * a.bandwidth);
    CHECK(CMP(b.bandwidth, <, a.bandwidth));
    /* 108 cores x 64 B x 210 MHz carry less than memory delivers. */
    CHECK(CMP(chip_of("a100-sxm-80gb", "clock=210MHz", "ieee", &op).bandwidth, <,
              1.451e12));
    CHECK_NEAR(chip_of("a100-sxm-80gb", "clock=1410MHz", "ieee", &op).bandwidth,
               a.bandwidth, 0);
    CHECK_NEAR(b.power_w, 200, 0);
    CHECK_NEAR(chip_of("p4", "optimizer=Adam", "ieee", &op).slots, 2, 0);
    CHECK_NEAR(chip_of("p4", "optimizer=SGD", "ieee", &op).slots, 0, 0);
    CHECK(chip_of("p4", "activation=relu", "ieee", &op).activated);
    CHECK(!chip_of("p4", "activation=none", "ieee", &op).activated);
    a = chip_of("p4", "run_mode=compiled-graph", "ieee", &op);
    CHECK(a.fused && a.graph);
    a = chip_of("p4", "run_mode=compiled", "ieee", &op);
    CHECK(a.fused && !a.graph);
    CHECK(!chip_of("p4", "run_mode=graph", "ieee", &op).fused);
}

TEST(what_is_not_known_is_named)
{
    ft_device_facts f = facts_of("p4");
    ft_op op = op_of("relu x=64x64");
    ft__physics_params theta = ft__physics_default();
    ft__terms t;
    ft__hardware_spec chip;

    f.bandwidth_bytes_per_s = NAN;
    ft__hardware_spec_make(&chip, &f, "", "ieee", &op);
    CHECK(SAME(ft__hardware_spec_lacks(&chip), "bandwidth"));
    ft__physics(&t, &op, &chip, &theta);
    CHECK(isnan(t.total_s));
}

/* Kernels of an operation. */
TEST(a_convolution_has_three_products)
{
    ft_op op = op_of("conv2d x=2x3x8x8 out=4 kernel=3x3 stride=2x2 pad=1x1 "
                     "phase=forward_backward");
    static const double want[3][3] = {
        {2 * 4 * 4, 4, 27}, {2 * 8 * 8, 3, 36}, {4, 27, 2 * 4 * 4}};
    ft__hardware_spec chip = chip_of("p4", "", "ieee", &op);
    ft__work w;
    int n = 0;

    ft__work_make(&w, &op, &chip);
    for (uint32_t i = 0; i < w.n; i++)
        if (w.op_kernel[i].what == FT__OP_KERNEL_CONV && n < 3) {
            CHECK_NEAR(w.op_kernel[i].m, want[n][0], 0);
            CHECK_NEAR(w.op_kernel[i].n, want[n][1], 0);
            CHECK_NEAR(w.op_kernel[i].k, want[n][2], 0);
            n++;
        }
    CHECK_EQ(n, 3);
}

TEST(backward_of_linear_is_twice_forward)
{
    double forward = seconds("linear x=8192x4096 out=4096", "v100-pcie-32gb", "");
    double back =
        seconds("linear x=8192x4096 out=4096 phase=backward", "v100-pcie-32gb", "");

    CHECK_NEAR(back / forward, 2, 0.1);
}

/* Bytes of all passes over memory, with what is added up or in place of it. */
static double streamed(const char *spec, int renews)
{
    ft_op op = op_of(spec);
    ft__hardware_spec chip = chip_of("p4", "", "ieee", &op);
    double sum = 0;
    ft__work w;

    chip.renews = renews;
    ft__work_make(&w, &op, &chip);
    for (uint32_t i = 0; i < w.n; i++)
        if (w.op_kernel[i].what == FT__OP_KERNEL_STREAM)
            sum += w.op_kernel[i].read + w.op_kernel[i].written;
    return sum;
}

/* relu reads and writes, reads a gradient and its result and writes a gradient, and
 * that one is added to another: 2 + 3 + 3 times. */
TEST(gradients_are_added_to_those_that_are_there)
{
    const double x = 64 * 64 * 4, weights = 64 * 32 * 4;

    CHECK_NEAR(streamed("relu x=64x64 phase=forward_backward", 0), 8 * x, 0);
    CHECK_NEAR(streamed("relu x=64x64 phase=forward_backward", 1), 5 * x, 0);
    CHECK_NEAR(streamed("relu x=64x64 phase=forward", 0), 2 * x, 0);
    CHECK_NEAR(streamed("linear x=64x64 out=32 phase=forward_backward", 0),
               3 * (x + weights), 0);
    CHECK_NEAR(streamed("stochastic_depth x=64x64 phase=forward_backward", 0), 3 * x,
               0);
}

/* What a layer is given in 16 bits is written in 8 before it is multiplied; what comes
 * in 8 bits is not. Results are of the type that is named. */
TEST(what_layers_multiply_in_fewer_bits_is_narrowed_first)
{
    ft_op layer = op_of("linear x=64x128 out=32 dtype=fp8e4m3 to=bf16");
    ft_op plain = op_of("linear x=64x128 out=32 dtype=fp8e4m3");
    ft_op weights = op_of("linear x=64x128 out=32 dtype=bf16 weights=int4");
    ft__hardware_spec chip = chip_of("h100-sxm", "", "ieee", &layer);
    ft__work w;

    ft__work_make(&w, &layer, &chip);
    CHECK(EQ(w.n, 2) && EQ(w.op_kernel[0].what, FT__OP_KERNEL_QUANTIZE));
    CHECK_NEAR(w.op_kernel[0].read, 64 * 128 * 2, 0);
    CHECK_NEAR(w.op_kernel[0].written, 64 * 128, 0);
    CHECK(CMP(w.op_kernel[0].kernels, ==, 2));
    CHECK_NEAR(w.op_kernel[1].read, 64 * 128 + 128 * 32, 0);
    CHECK_NEAR(w.op_kernel[1].written, 64 * 32 * 2, 0);
    ft__work_make(&w, &plain, &chip);
    CHECK(EQ(w.n, 1) && EQ(w.op_kernel[0].what, FT__OP_KERNEL_PRODUCT));
    ft__work_make(&w, &weights, &chip);
    CHECK(EQ(w.n, 1));
    CHECK_NEAR(w.op_kernel[0].read, 64 * 128 * 2 + 128 * 32 / 2, 0);
}

TEST(a_view_costs_nothing)
{
    CHECK_NEAR(seconds("view x=64x64 out=4096", "p4", ""), 0, 0);
}

TEST(a_tiny_operation_takes_the_floor)
{
    ft__physics_params c = ft__physics_default();
    double s = seconds("relu x=1x1", "v100-pcie-32gb", "");
    double host = value(&c, "floor_s"), kernel = value(&c, "kernel_s");

    CHECK(CMP(s, >, fmax(host, kernel)) && CMP(s, <, (host + kernel) * 1.001));
}

/* As vLLM starts products with scales for blocks, eager beside an H200: 52, 75, 84 us.
 */
TEST(products_with_scales_for_blocks_wait_for_the_host)
{
    static const struct {
        const char *spec;
        double s;
    } cases[] = {
        {"linear x=8x256 out=4096 to=bf16 block=128 dtype=fp8e4m3", 52e-6},
        {"linear x=64x256 out=4096 to=bf16 block=128 dtype=fp8e4m3", 75e-6},
        {"linear x=65x256 out=4096 to=bf16 block=128 dtype=fp8e4m3", 84e-6},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_NEAR(seconds(cases[i].spec, "h200-sxm", ""), cases[i].s,
                   0.1 * cases[i].s);
    CHECK(CMP(seconds(cases[0].spec, "h200-sxm", "run_mode=graph"), <, 20e-6));
}

TEST(a_slow_host_slows_what_waits_for_it)
{
    const ft_op small = op_of("relu x=1x1"), large = op_of("relu x=16384x16384");
    const ft__hardware_spec chip = chip_of("v100-pcie-32gb", "", "ieee", &small);
    const ft__physics_params theta = ft__physics_default();
    ft__terms a, b;

    ft__physics(&a, &small, &chip, &theta);
    ft__physics(&b, &large, &chip, &theta);
    ft__physics_with_host(&a, 4);
    ft__physics_with_host(&b, 4);
    CHECK_NEAR(a.total_s, 4 * value(&theta, "floor_s"),
               0.1 * 4 * value(&theta, "floor_s"));
    CHECK_NEAR(b.total_s, b.busy_s, 0.01 * b.busy_s);
}

/* A linear layer of PyTorch takes Grace 37.1 us beside a GB200, 33.2 beside a GH200,
 * the Xeon of a DGX H100 13.5 (TransformerEngine's issue 2053). */
TEST(a_host_of_the_device_s_module_has_its_own_launch_time)
{
    const double dgx = seconds("relu x=1x1", "h100-sxm", "");

    CHECK_NEAR(seconds("relu x=1x1", "gb200", "") / dgx, 2.6, 0.15);
    CHECK_NEAR(seconds("relu x=1x1", "gh200", "") / dgx, 2.6, 0.15);
    CHECK(CMP(seconds("relu x=1x1", "gh200", "run_mode=graph"), <, dgx));
}

TEST(a_huge_product_runs_at_the_sustained_peak)
{
    ft_op op = op_of("linear x=65536x16384 out=16384");
    ft__hardware_spec chip = chip_of("v100-pcie-32gb", "", "ieee", &op);
    ft__physics_params c = ft__physics_default();
    double u = ft__sustained(&chip, &c);
    double best = 2.0 * 65536 * 16384 * 16384 / (14e12 * u * value(&c, "tile_share"));

    CHECK(CMP(u, >, 0.3) && CMP(u, <, value(&c, "sustain_most")));
    CHECK_NEAR(seconds("linear x=65536x16384 out=16384", "v100-pcie-32gb", "") / best,
               1.005, 0.01);
}

/* Products of one call of cuBLAS fill tiles of 128 columns and, since Ampere, 128 rows,
 * before Volta 64 at least; their k is not split, but by Volta and Turing. */
TEST(products_of_one_call_fill_large_tiles)
{
    const char *narrow = "matmul x=400x17x512 y=400x512x90",
               *half = "matmul x=400x64x512 y=400x512x128",
               *whole = "matmul x=400x128x512 y=400x512x128";
    const double peak_s = 400 * 2.0 * 128 * 128 * 512 / 19.5e12;

    CHECK(CMP(seconds(narrow, "a100-pcie-40gb", ""), >, peak_s));
    CHECK_NEAR(seconds(narrow, "a100-pcie-40gb", ""),
               seconds(whole, "a100-pcie-40gb", ""), 1e-6);
    CHECK_NEAR(seconds(narrow, "p100-pcie-16gb", ""),
               seconds(half, "p100-pcie-16gb", ""), 1e-6);
    CHECK(CMP(seconds(half, "p100-pcie-16gb", ""), <,
              0.7 * seconds(whole, "p100-pcie-16gb", "")));
    CHECK_NEAR(seconds("matmul x=400x128x512 y=400x512x20", "t4", ""),
               seconds("matmul x=400x128x512 y=400x512x64", "t4", ""), 1e-6);
    CHECK(CMP(seconds("matmul x=4x43x4096 y=4x4096x12", "a100-pcie-40gb", ""), >,
              2.0 * 128 * 128 * 4096 / (19.5e12 / 108)));
    CHECK(CMP(seconds("linear x=43x4096 out=12", "a100-pcie-40gb", ""), <,
              2.0 * 128 * 128 * 4096 / (19.5e12 / 108)));
    CHECK(CMP(seconds("matmul x=2x64x2048 y=2x2048x64", "t4", ""), <,
              2 * seconds("matmul x=1x64x2048 y=1x2048x64", "t4", "")));
    CHECK(CMP(seconds("matmul x=400x128x512 y=400x512x20", "mali-t628-mp6", ""), <,
              0.6 * seconds("matmul x=400x128x512 y=400x512x64", "mali-t628-mp6", "")));
}

TEST(a_huge_tensor_streams_at_the_bandwidth)
{
    ft__physics_params c = ft__physics_default();
    double s = seconds("add x=16384x16384 y=16384x16384", "t4", "");

    CHECK_NEAR(s / (3 * 4.0 * 16384 * 16384 / (320e9 * value(&c, "memory_share"))), 1,
               0.01);
}

/* Seconds of its bytes, replayed: a compiler's kernel, which nothing else holds back.
 */
static double relu_s(const char *size, const char *device)
{
    const ft__physics_params theta = ft__physics_default();
    ft_op op = op_of("relu x=1");
    ft__hardware_spec chip = chip_of(device, "run_mode=graph", "ieee", &op);
    ft__terms one, all;
    char spec[64];

    chip.fused = 1;
    ft__physics(&one, &op, &chip, &theta);
    snprintf(spec, sizeof(spec), "relu x=%s", size);
    op = op_of(spec);
    ft__physics(&all, &op, &chip, &theta);
    return all.total_s - one.total_s;
}

/* NeuSight's T4 moves twice its cache at memory's rate. */
TEST(what_outgrows_the_cache_streams)
{
    CHECK_NEAR(256 * relu_s("1024x1024", "t4") / relu_s("16384x16384", "t4"), 1, 0.05);
}

/* Half of an EPYC's 256 MiB is not as if it were little. */
TEST(caches_of_cpus_end_less_sharply)
{
    CHECK(
        CMP(relu_s("16000000", "epyc-7543"), >, 2.6 * relu_s("8000000", "epyc-7543")));
}

/* A GB10's is no board's with GDDR, an RTX 5070 of as many cores and clocks is. */
TEST(caches_beside_lpddr_are_read_as_any)
{
    CHECK(CMP(relu_s("1000x1000", "gb10"), <, 0.8 * relu_s("1000x1000", "rtx-5070")));
}

/* What RRZE's gpu-benches read, 1 to 16 MiB again and again. */
TEST(boards_read_their_caches_as_published)
{
    CHECK_NEAR(2 * 4.0 * 512 * 256 / relu_s("512x256", "a40") / 2.43e12, 1, 0.1);
    CHECK_NEAR(2 * 4.0 * 2048 * 1024 / relu_s("2048x1024", "l40") / 5.2e12, 1, 0.1);
    CHECK_NEAR(2 * 4.0 * 1024 * 512 / relu_s("1024x512", "a100-sxm-80gb") / 5.4e12, 1,
               0.15);
}

static double bandwidth_share(const char *device)
{
    const ft_device_facts f = facts_of(device);

    return 3 * 4.0 * 16384 * 16384 / f.bandwidth_bytes_per_s /
           seconds("add x=16384x16384 y=16384x16384", device, "");
}

/* A T4 has the memory of an RTX 2080 Ti, but keeps error correction in it. A device
 * file need not say how fast HBM is clocked. */
TEST(memory_reaches_what_its_kind_does)
{
    const ft__physics_params c = ft__physics_default();

    CHECK_NEAR(bandwidth_share("rtx-2080-ti") / bandwidth_share("t4"),
               value(&c, "plain_share"), 0.01);
    CHECK_NEAR(bandwidth_share("h200-sxm") / bandwidth_share("a100-sxm-80gb"), 1, 0.01);
    CHECK_NEAR(bandwidth_share("a100-sxm-80gb") / bandwidth_share("t4"),
               value(&c, "stacked_share"), 0.01);
    CHECK_NEAR(bandwidth_share("a10") / bandwidth_share("t4"), 1.07, 0.01);
}

/* 1 x 7 in steps of 1, which no fast algorithm serves. */
TEST(large_windows_reach_the_rate_of_products)
{
    const double s = seconds(
        "conv2d x=256x512x56x56 out=512 kernel=1x7 stride=1x1 pad=0x3 dtype=fp32",
        "v100-pcie-32gb", "");
    const double product =
        seconds("linear x=802816x3584 out=512 dtype=fp32", "v100-pcie-32gb", "");

    CHECK(CMP(s / product, >, 0.95) && CMP(s / product, <, 1.1));
}

TEST(a_scalar_operand_is_nearly_free)
{
    double both = seconds("add x=16384x16384 y=16384x16384", "t4", "");
    double one = seconds("add x=16384x16384 y=1", "t4", "");

    CHECK_NEAR(one / both, 2.0 / 3, 0.01);
}

/* A mask's kernel reads less than that of two whole operands, but one number at a time,
 * which low clocks show from Ampere to Hopper beside a kernel that memory alone holds
 * back. */
TEST(a_broadcast_operand_is_added_number_by_number)
{
    const char *whole = "add x=32x12x512x512 y=32x12x512x512 dtype=bf16";
    const char *mask = "add x=32x12x512x512 y=32x1x512x512 dtype=bf16";
    const char *device = "a100-pcie-40gb";

    CHECK(CMP(seconds(mask, device, "clock=1410MHz"), <,
              seconds(whole, device, "clock=1410MHz")));
    CHECK(CMP(seconds(mask, device, "clock=510MHz"), >,
              2 * seconds(whole, device, "clock=510MHz run_mode=compiled")));
    CHECK(CMP(seconds(mask, "b200", ""), <, seconds(whole, "b200", "")));
    CHECK(CMP(seconds(mask, "v100-sxm2-16gb", "clock=510MHz"), <,
              seconds(whole, "v100-sxm2-16gb", "clock=510MHz")));
}

/* 48 heads over one mask of 16 MB: no cache keeps it until the next head. One of 4 KB
 * stays. */
TEST(an_operand_that_does_not_stay_is_read_again)
{
    double plain = seconds("add x=48x2048x2048 y=48x2048x2048", "t4", "");
    double wide = seconds("add x=48x2048x2048 y=1x2048x2048", "t4", "");
    double narrow = seconds("add x=48x2048x2048 y=1x1x2048", "t4", "");

    CHECK_NEAR(wide / plain, 1, 0.01);
    CHECK_NEAR(narrow / plain, 2.0 / 3, 0.01);
}

/* Those of a P100's blocks do not stay in 4 MiB, and those of an A100's do in 40. */
TEST(wide_rows_of_softmax_are_read_thrice_where_they_do_not_stay)
{
    const ft__physics_params c = ft__physics_default();
    const char *narrow = "softmax x=131072x1024 axis=1",
               *wide = "softmax x=32768x4096 axis=1";

    CHECK_NEAR(seconds(wide, "p100-pcie-16gb", "") /
                   seconds(narrow, "p100-pcie-16gb", ""),
               (3 + 1) / (1 + 1.0) * value(&c, "softmax_wide"), 0.06);
    CHECK(CMP(seconds(wide, "a100-pcie-40gb", ""), <,
              1.2 * seconds(narrow, "a100-pcie-40gb", "")));
}

/* No row is faster than one that is shorter by a number. */
TEST(longer_rows_of_softmax_take_no_less)
{
    static const char *const device[] = {"p100-pcie-16gb", "mi100", "t4"},
                             *const type[] = {"fp32", "fp16"};

    for (int i = 0; i < 6; i++) {
        double shorter = 0;

        for (int n = 1025; n <= 4200; n++) {
            char spec[64];
            double s;

            snprintf(spec, sizeof(spec), "softmax x=65536x%d axis=1 dtype=%s", n,
                     type[i / 3]);
            s = seconds(spec, device[i % 3], "");
            CHECK(CMP(s, >=, shorter));
            shorter = s;
        }
    }
}

/* AMD's customer acceptance guide: 4.256 of 5.3 TB/s of BabelStream's copies. */
TEST(amds_stacked_memory_streams_as_published)
{
    const double bytes = 2 * 4 * 32768.0 * 32768;

    CHECK_NEAR(bytes / seconds("relu x=32768x32768", "mi300x", "") / 4.256e12, 1, 0.03);
}

/* What NeuSight measured of powers. */
TEST(powers_take_what_was_measured)
{
    static const struct {
        const char *device, *spec;
        double s;
    } v[] = {{"mi100", "pow x=16101x3843 y=1", 911.935794e-6},
             {"mi100", "pow x=16101x3843 y=16101x3843", 985.407615e-6},
             {"mi100", "pow x=14050x3841 y=1", 795.999813e-6},
             {"t4", "pow x=131072x12288 y=1", 52596.5e-6}};

    for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
        CHECK_NEAR(seconds(v[i].spec, v[i].device, "") / v[i].s, 1, 0.12);
}

TEST(powers_of_64_bits_take_no_less_than_those_of_32)
{
    static const char *const device[] = {"mi100", "a100-sxm-80gb", "t4",
                                         "p100-pcie-16gb"};

    for (size_t i = 0; i < sizeof(device) / sizeof(*device); i++)
        CHECK(CMP(seconds("pow x=4096x4096 y=1 dtype=fp64", device[i], ""), >=,
                  seconds("pow x=4096x4096 y=1 dtype=fp32", device[i], "")));
}

/* An MI100's rows tell of AMD's with HBM. */
TEST(other_gpus_of_amd_are_as_any)
{
    static const char *const specs[] = {"softmax x=65536x1056 axis=1",
                                        "pow x=16384x4096 y=1"};
    const ft__physics_params theta = ft__physics_default();

    for (int i = 0; i < 2; i++) {
        const ft_op op = op_of(specs[i]);
        ft__hardware_spec chip = chip_of("rx-7900-xtx", "", "ieee", &op);
        ft__terms of_amd, of_any;

        chip.bandwidth *= 100; /* arithmetic counts */
        ft__physics(&of_amd, &op, &chip, &theta);
        chip.amd = 0;
        ft__physics(&of_any, &op, &chip, &theta);
        CHECK_NEAR(of_amd.busy_s, of_any.busy_s, 0);
    }
}

/* It streams as the oldest do. */
TEST(memory_of_no_known_year_reaches_no_more)
{
    const ft_op op = op_of("relu x=64x64");
    ft_device_facts f = facts_of("v100-pcie-32gb");
    ft__hardware_spec unknown, old;

    f.year = NAN;
    ft__hardware_spec_make(&unknown, &f, "", "ieee", &op);
    f.year = 2016;
    ft__hardware_spec_make(&old, &f, "", "ieee", &op);
    CHECK_NEAR(ft__stream_ratio(&unknown), ft__stream_ratio(&old), 0);
}

/* Libraries: x W^T before Volta, and AMD's. */
TEST(libraries_reach_less_on_some_devices)
{
    ft__physics_params c = ft__physics_default();
    double p100 = seconds("linear x=8192x1024 out=8192 bias=0", "p100-pcie-16gb", ""),
           flat = seconds("matmul x=8192x1024 y=1024x8192", "p100-pcie-16gb", "");
    double v100 = seconds("linear x=8192x8192 out=8192 bias=0", "v100-pcie-32gb", ""),
           same = seconds("matmul x=8192x8192 y=8192x8192", "v100-pcie-32gb", "");

    CHECK_NEAR(flat / p100, value(&c, "crossed_share"), 0.003);
    CHECK_NEAR(same / v100, 1, 0.001);
    CHECK(CMP(tensor_rate("mi300x", ""), <, value(&c, "amd_share") * 1307e12));
}

/* NeuSight measured a P100 and a V100. */
TEST(deep_and_ragged_rows_are_slow_before_volta)
{
    static const struct {
        const char *spec;
        double p100_s, v100_s;
    } measured[] = {
        {"linear x=8192x1024 out=4096", 9.526e-3, 5.100e-3},
        {"linear x=3925x1524 out=3926", 7.323e-3, 4.273e-3},
        {"linear x=16384x32768 out=4096", 1.707, 0.3406},
        {"linear x=8192x65536 out=2048", 0.9112, 0.2113},
        {"linear x=6219x54377 out=5256", 1.722, 0.3224},
    };

    for (size_t i = 0; i < sizeof(measured) / sizeof(*measured); i++) {
        const char *spec = measured[i].spec;

        CHECK_NEAR(seconds(spec, "p100-pcie-16gb", "") / measured[i].p100_s, 1, 0.25);
        CHECK_NEAR(seconds(spec, "v100-pcie-32gb", "") / measured[i].v100_s, 1, 0.25);
    }
}

/* A number by a number is no tile of 32 x 32. */
TEST(products_of_vectors_are_read_and_done)
{
    CHECK(CMP(seconds("matmul x=1048576x1x1 y=1048576x1x1", "t4", ""), <,
              2 * seconds("add x=1048576 y=1048576", "t4", "")));
}

/* 4 x 8 bits at once since the GP102, but in no steps of a chain; the weights' gradient
 * of all steps is one product. */
TEST(chains_of_steps_have_their_own_products)
{
    ft_op op = op_of("lstm x=25x32x1024 hidden=1024 phase=backward wrt=w");
    ft__hardware_spec chip = chip_of("gtx-1080-ti", "", "ieee", &op);
    ft__work w;

    CHECK(CMP(seconds("matmul x=4096x4096 y=4096x4096 dtype=int8", "gtx-1080-ti", ""),
              <, 0.3 * seconds("matmul x=4096x4096 y=4096x4096", "gtx-1080-ti", "")));
    CHECK(CMP(seconds("lstm x=25x32x1024 hidden=1024 dtype=int8", "gtx-1080-ti", ""), >,
              0.7 * seconds("lstm x=25x32x1024 hidden=1024", "gtx-1080-ti", "")));
    ft__work_make(&w, &op, &chip);
    CHECK(CMP(w.n, >, 1) && EQ(w.op_kernel[w.n - 1].count, 1));
    CHECK_NEAR(w.op_kernel[w.n - 1].k, 25 * 32, 0);
}

/* Products in fp32: cuBLAS' 23.2 TFLOP/s on an RTX A6000
 * (published), 23.6 on KernelBench's A10G; a core of 128 lanes issues loads in place of
 * multiply-adds. */
TEST(loads_take_the_place_of_multiply_adds)
{
    static const char product[] = "matmul x=8192x8192 y=8192x8192";
    const double flops = 2.0 * 8192 * 8192 * 8192;

    CHECK(CMP(flops / seconds(product, "a10g", ""), <, 0.75 * 35e12));
    CHECK(CMP(flops / seconds(product, "a10g", ""), >, 0.6 * 35e12));
    CHECK(CMP(flops / seconds(product, "a100-sxm-40gb", ""), >, 0.9 * 19.5e12));
}

/* Six passes over the operand, and places of 8 bytes beside results of 4. */
TEST(kernels_of_pytorch_move_more_than_operations)
{
    const double sum = seconds("reduce_sum x=64x64x256x256 axes=1", "a10g", ""),
                 log = seconds("reduce_logsumexp x=64x64x256x256 axes=1", "a10g", ""),
                 most =
                     seconds("maxpool2d x=16x64x512x512 kernel=2x2 stride=2x2 pad=0x0",
                             "t4", ""),
                 mean =
                     seconds("avgpool2d x=16x64x512x512 kernel=2x2 stride=2x2 pad=0x0",
                             "t4", "");

    CHECK(CMP(log, >, 5 * sum) && CMP(log, <, 7 * sum));
    CHECK(CMP(most, >, 1.05 * mean));
}

/* In passes over x: of a factor that was repeated, of one number too, its gradient, the
 * product and its sum (6), where both were the same (6 of the result), but of a number
 * that has no gradient fewer; of a norm its gradient and that of its weights (5 of 1.2
 * and more), of a bias one. A compiler's kernels do it at once. */
TEST(kernels_of_gradients_move_more_than_operations)
{
    static const char factor[] = "mul x=64x64x256x256 y=64x64x1x1 phase=backward",
                      scalar[] = "mul x=64x64x256x256 y=1 phase=backward",
                      both[] = "mul x=64x1x256x256 y=1x64x1x1 phase=backward",
                      number[] = "mul x=64x64x256x256 y=1 phase=backward wrt=x",
                      norm[] = "layernorm x=262144x1024 norm=1 phase=backward";
    const double passes = seconds("relu x=64x64x256x256", "a10g", "") / 2;
    const double wide = seconds("relu x=65536x4096", "a10g", "") / 2;

    CHECK_NEAR(seconds(factor, "a10g", "") / passes, 6, 0.3);
    CHECK_NEAR(seconds(scalar, "a10g", "") / passes, 6, 0.3);
    CHECK_NEAR(seconds(both, "a10g", "") / passes, 6, 0.3);
    CHECK(CMP(seconds(number, "a10g", "") / passes, <, 3.1));
    CHECK(CMP(seconds(norm, "a10g", "") / passes, >, 5));
    CHECK_NEAR(
        (seconds("linear x=65536x64 out=4096 bias=1 phase=backward", "a10g", "") -
         seconds("linear x=65536x64 out=4096 phase=backward", "a10g", "")) /
            wide,
        1, 0.2);
    CHECK(CMP(seconds(factor, "a10g", "run_mode=compiled") / passes, <, 4));
    CHECK(CMP(seconds(norm, "a10g", "run_mode=compiled") / passes, <, 4));
}

static double kernels_of(const char *spec, const char *setting)
{
    const ft_op op = op_of(spec);
    const ft__hardware_spec chip = chip_of("a10g", setting, "", &op);
    const ft__physics_params theta = ft__physics_default();
    ft__terms t;

    ft__physics(&t, &op, &chip, &theta);
    return t.kernels;
}

/* One for each gradient, and one for each sum. */
TEST(gradients_have_kernels_of_their_own)
{
    static const char norm[] = "layernorm x=8x8 norm=1 phase=backward";

    CHECK_EQ(kernels_of(norm, ""), 2);
    CHECK_EQ(kernels_of(norm, "run_mode=compiled"), 1);
    CHECK_EQ(kernels_of("mul x=8x8 y=8x8 phase=backward", ""), 2);
    CHECK_EQ(kernels_of("mul x=8x8 y=8x1 phase=backward", ""), 3);
    CHECK_EQ(kernels_of("mul x=8x8 y=8x1 phase=backward wrt=x", ""), 1);
}

/* Of a product's time, that of both its gradients. */
static double gradients_over_product(const char *device, const char *dtype)
{
    char forward[100], back[120];

    snprintf(forward, sizeof(forward), "linear x=16384x8192 out=8192 dtype=%s", dtype);
    snprintf(back, sizeof(back), "%s phase=backward", forward);
    return seconds(back, device, "") / seconds(forward, device, "");
}

/* Of NVIDIA's tensor cores; those of 8 bits lie along k in any case. */
TEST(gradients_of_16_bits_reach_less)
{
    CHECK(CMP(gradients_over_product("h100-sxm", "fp16"), >, 2.2));
    CHECK(CMP(gradients_over_product("h100-sxm", "bf16"), >, 2.2));
    CHECK(CMP(gradients_over_product("h100-sxm", "fp8e4m3"), <, 2.2));
    CHECK(CMP(gradients_over_product("mi300x", "fp16"), <, 2.2));
}

/* Of a depthwise convolution of so many channels. */
static double depthwise_s(int channels, const char *rest, const char *device)
{
    char spec[200];

    snprintf(spec, sizeof(spec), "conv2d x=256x%dx56x56 out=%d groups=%d stride=1x1 %s",
             channels, channels, channels, rest);
    return seconds(spec, device, "");
}

/* cuDNN's, which PyTorch takes for channels that lie last, and for fp16 with windows of
 * 1, 3 or 5 from 32 channels on, find no places. */
TEST(depthwise_kernels_of_cudnn_are_faster)
{
    static const struct {
        const char *rest, *device;
        int channels;
        bool faster;
    } c[] = {{"kernel=3x3 pad=1x1", "rtx-3090", 144, true},
             {"kernel=3x3 pad=1x1", "rtx-3090", 16, false},
             {"kernel=4x4 pad=1x1", "rtx-3090", 144, false},
             {"kernel=3x3 pad=2x2 dilation=2x2", "rtx-3090", 144, false},
             {"kernel=3x3 pad=1x1", "mi300x", 144, false}};

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        char fp16[100], bf16[100];

        snprintf(fp16, sizeof(fp16), "%s dtype=fp16", c[i].rest);
        snprintf(bf16, sizeof(bf16), "%s dtype=bf16", c[i].rest);
        CHECK_NEAR(depthwise_s(c[i].channels, fp16, c[i].device) /
                       depthwise_s(c[i].channels, bf16, c[i].device),
                   c[i].faster ? 0.45 : 1, 0.05);
    }
    CHECK(CMP(depthwise_s(144, "kernel=4x4 pad=1x1 dtype=bf16 layout=channels_last",
                          "rtx-3090"),
              <, 0.7 * depthwise_s(144, "kernel=4x4 pad=1x1 dtype=bf16", "rtx-3090")));
}

/* KernelBench's sums along 128 rows of 4000 take an A100 18 us beside the host's time,
 * the mean of a cross entropy, of which one block of 32 threads loads all, 60; backward
 * each loads once and not twice. AMD's blocks have up to 1024 threads. A generated
 * kernel has other ways, as have one row, columns and CPUs. */
TEST(threads_of_few_blocks_wait_for_themselves)
{
    static const char sums[] = "cumsum x=128x4000 axis=1";
    static const char along_columns[] = "cumsum x=4000x128 axis=0";
    const double loss = seconds("cross_entropy x=4096x10 axis=1", "a100-sxm-40gb", "");
    const double back =
        seconds("cross_entropy x=4096x10 axis=1 phase=backward", "a100-sxm-40gb", "");
    const double most_at_once =
        seconds("cumsum x=110592x2 axis=1", "a100-sxm-40gb", "run_mode=graph");

    CHECK(CMP(seconds(sums, "a100-sxm-40gb", ""), >, 12e-6));
    CHECK(CMP(seconds(sums, "a100-sxm-40gb", ""), <, 24e-6));
    CHECK(CMP(seconds(sums, "a100-sxm-40gb", "run_mode=compiled"), <, 12e-6));
    CHECK(CMP(seconds("cumsum x=1x512000 axis=1", "a100-sxm-40gb", ""), <, 12e-6));
    CHECK(CMP(seconds(along_columns, "a100-sxm-40gb", ""), <, 12e-6));
    CHECK_NEAR(seconds(sums, "epyc-7543", "") / seconds(along_columns, "epyc-7543", ""),
               1, 1e-9);
    CHECK(CMP(seconds("cumsum x=221184x2 axis=1", "a100-sxm-40gb", "run_mode=graph"), >,
              1.5 * most_at_once));
    CHECK(CMP(loss, >, 45e-6) && CMP(loss, <, 75e-6));
    CHECK(CMP(back, >, 0.4 * loss) && CMP(back, <, 0.6 * loss));
    CHECK(CMP(seconds("cross_entropy x=4096x10 axis=1", "mi300x", ""), <, 0.4 * loss));
    CHECK(CMP(seconds("cross_entropy x=8192x10 axis=1", "a100-sxm-40gb", ""), >,
              1.8 * loss));
}

/* A product of ten rows and a kernel for the state, whatever the GPU: 8 to 11 us. */
TEST(a_step_of_a_recurrent_layer_is_two_short_kernels)
{
    static const char *const devices[] = {"t4", "a10g", "a100-sxm-40gb"};

    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
        const double step =
            seconds("lstm x=512x10x256 hidden=256", devices[i], "") / 512;

        CHECK(CMP(step, >, 7e-6));
        CHECK(CMP(step, <, 11e-6));
    }
}

/* A call of MIOpen for each kernel: a GRU's states take eight, an LSTM's one, where
 * they took six in 1.3; the host's time of a step was left out. */
TEST(a_step_on_amd_takes_the_host_a_call_for_each_kernel)
{
    static const char gru[] = "gru x=512x10x256 hidden=256",
                      lstm[] = "lstm x=512x10x256 hidden=256";
    static const char early[] = "calls=single miopen=1.3", later[] = "calls=single";

    CHECK(CMP(seconds(gru, "mi100", ""), >, 512 * 9 * 14e-6));
    CHECK(CMP(seconds(lstm, "mi100", ""), <, 512 * 4 * 14e-6));
    CHECK(CMP(seconds(lstm, "mi25", early), >, 2 * seconds(lstm, "mi25", later)));
}

/* Moments of a group are found by one block of threads: few groups leave an A100
 * waiting, many do not. */
TEST(few_groups_of_a_norm_wait_for_their_blocks)
{
    const double few =
        seconds("groupnorm x=16x64x256x256 groups=8", "a100-sxm-40gb", "");
    const double many =
        seconds("groupnorm x=16x64x256x256 groups=64", "a100-sxm-40gb", "");

    CHECK(CMP(few, >, 1.5 * many));
    CHECK(CMP(seconds("instancenorm x=16x64x256x256", "a10", ""), <, 1.9e-3));
}

/* KernelBench's with K of 32 takes an A10G 2.8 ms and an A100 1.3, memory 2.2 and 0.8
 * of that; that with K of 256 an A10 72 ms, memory 18 and the main loop 60. */
TEST(epilogue_stores_hardly_overlap_the_main_loop)
{
    static const char shortest[] = "matmul x=16384x32 y=32x16384",
                      flat[] = "matmul x=2097152x256 y=256x768";
    const double a10_s = seconds(flat, "a10", "");

    CHECK(CMP(seconds(shortest, "a10g", ""), >, 0.9 * 2.77e-3));
    CHECK(CMP(seconds(shortest, "a100-sxm-40gb", ""), <, 1.1 * 1.32e-3));
    CHECK(CMP(a10_s, >, 0.9 * 71.9e-3) && CMP(a10_s, <, 1.1 * 71.9e-3));
}

/* Frameworks update many parameters in one kernel: what is read and written counts. */
TEST(an_optimizer_takes_the_time_of_its_bytes)
{
    const char *sgd = "sgd x=4096x9216 dtype=fp32 phase=optimizer";
    ft_op op = op_of(sgd);
    ft__hardware_spec chip = chip_of("a30", "", "ieee", &op);
    ft__physics_params theta = ft__physics_default();
    const double bytes = 3 * 4096 * 9216 * 4.0, least = bytes / 933e9;
    ft__terms t;

    ft__physics(&t, &op, &chip, &theta);
    CHECK(CMP(t.busy_s, >, least) && CMP(t.busy_s, <, 1.5 * least));
    CHECK_EQ(t.kernels, 0);
    CHECK(CMP(seconds("adamw x=4096x9216 dtype=fp32 phase=optimizer", "a30", ""), >,
              2 * least));
    /* Other parameters have displaced it from a cache of 96 MiB. */
    CHECK(CMP(seconds("sgd x=512x512x3x3 dtype=fp32 phase=optimizer", "l40s", ""), >,
              3 * 512 * 512 * 9 * 4 / 864e9));
}

int main(int argc, char **argv)
{
    take_folder(argc, argv);
    check_all();
    CHECK_DONE();
}
