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
