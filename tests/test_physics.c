/* The physical estimate: laws it has to obey, limits known by hand, and constants that
 * were put into made-up measurements and have to come out again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "physics/op_kernels.h"
#include "predict/data/baseline.h"

static char data_dir[4096];

static ft_op op_of(const char *spec)
{
    ft_error err = {0};
    ft_op op;

    if (ft_op_parse(&op, spec, strlen(spec), &err) != FT_OK) {
        fprintf(stderr, "%s: %s\n", spec, err.msg);
        exit(1);
    }
    return op;
}

static ft_device_facts facts_of(const char *name)
{
    ft_device_facts f;
    ft_device *d;

    if (ft_device_load(&d, data_dir, name, NULL) != FT_OK)
        exit(1);
    f = *ft_device_get(d);
    f.vendor = strncmp(f.vendor, "AMD", 3) == 0 ? "AMD" : "NVIDIA";
    f.type = strcmp(f.type, "gpu") == 0 ? "gpu" : "cpu";
    f.name = f.title = f.source = f.note = "";
    ft_device_free(d);
    return f;
}

static ft__hardware_spec chip_of(const char *device, const char *setting,
                                 const char *policy, const ft_op *op)
{
    ft_device_facts f = facts_of(device);
    ft__hardware_spec chip;

    ft__hardware_spec_make(&chip, &f, setting, policy, op);
    return chip;
}

static double seconds(const char *spec, const char *device, const char *setting)
{
    ft_op op = op_of(spec);
    ft__hardware_spec chip = chip_of(device, setting, "ieee", &op);
    ft__physics_params theta = ft__physics_default();
    ft__terms t;

    ft__physics(&t, &op, &chip, &theta);
    return t.total_s;
}

static int constant(const char *name)
{
    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        if (strcmp(ft__physics_name(i), name) == 0)
            return i;
    fprintf(stderr, "no constant %s\n", name);
    exit(1);
}

static double value(const ft__physics_params *theta, const char *name)
{
    return theta->v[constant(name)];
}

/* ---- what a device offers ---- */
static void tensor_cores_serve_where_dtype_and_policy_use_them(void)
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

static void settings_scale_what_they_set(void)
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
}

static void what_is_not_known_is_named(void)
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

/* ---- kernels of an operation ---- */
static void a_convolution_has_three_products(void)
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

static void backward_of_linear_is_twice_forward(void)
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
static void gradients_are_added_to_those_that_are_there(void)
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
static void what_layers_multiply_in_fewer_bits_is_narrowed_first(void)
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

static void a_view_costs_nothing(void)
{
    CHECK_NEAR(seconds("view x=64x64 out=4096", "p4", ""), 0, 0);
}

/* ---- limits ---- */
static void a_tiny_operation_takes_the_floor(void)
{
    ft__physics_params c = ft__physics_default();
    double s = seconds("relu x=1x1", "v100-pcie-32gb", "");
    double host = value(&c, "floor_s"), kernel = value(&c, "kernel_s");

    CHECK(CMP(s, >, fmax(host, kernel)) && CMP(s, <, (host + kernel) * 1.001));
}

/* As vLLM starts products with scales for blocks, eager beside an H200: 52, 75, 84 us.
 */
static void products_with_scales_for_blocks_wait_for_the_host(void)
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

static void a_slow_host_slows_what_waits_for_it(void)
{
    const ft_op small = op_of("relu x=1x1"), large = op_of("relu x=16384x16384");
    const ft__hardware_spec chip = chip_of("v100-pcie-32gb", "", "ieee", &small);
    const ft__physics_params theta = ft__physics_default();
    ft__terms a, b;

    ft__physics(&a, &small, &chip, &theta);
    ft__physics(&b, &large, &chip, &theta);
    ft__physics_with_host(&a, 4, &theta);
    ft__physics_with_host(&b, 4, &theta);
    CHECK_NEAR(a.total_s, 4 * value(&theta, "floor_s"),
               0.1 * 4 * value(&theta, "floor_s"));
    CHECK_NEAR(b.total_s, b.busy_s, 0.01 * b.busy_s);
}

static void a_huge_product_runs_at_the_sustained_peak(void)
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
 * before Volta 64 at least; their k is not split. */
static void products_of_one_call_fill_large_tiles(void)
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
    CHECK(CMP(seconds("matmul x=4x43x4096 y=4x4096x12", "a100-pcie-40gb", ""), >,
              2.0 * 128 * 128 * 4096 / (19.5e12 / 108)));
    CHECK(CMP(seconds("linear x=43x4096 out=12", "a100-pcie-40gb", ""), <,
              2.0 * 128 * 128 * 4096 / (19.5e12 / 108)));
}

static void a_huge_tensor_streams_at_the_bandwidth(void)
{
    ft__physics_params c = ft__physics_default();
    double s = seconds("add x=16384x16384 y=16384x16384", "t4", "");

    CHECK_NEAR(s / (3 * 4.0 * 16384 * 16384 / (320e9 * value(&c, "memory_share"))), 1,
               0.01);
}

static double bandwidth_share(const char *device)
{
    const ft_device_facts f = facts_of(device);

    return 3 * 4.0 * 16384 * 16384 / f.bandwidth_bytes_per_s /
           seconds("add x=16384x16384 y=16384x16384", device, "");
}

/* A T4 has the memory of an RTX 2080 Ti, but keeps error correction in it. A device
 * file need not say how fast HBM is clocked. */
static void memory_reaches_what_its_kind_does(void)
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
static void large_windows_reach_the_rate_of_products(void)
{
    const double s = seconds(
        "conv2d x=256x512x56x56 out=512 kernel=1x7 stride=1x1 pad=0x3 dtype=fp32",
        "v100-pcie-32gb", "");
    const double product =
        seconds("linear x=802816x3584 out=512 dtype=fp32", "v100-pcie-32gb", "");

    CHECK(CMP(s / product, >, 0.95) && CMP(s / product, <, 1.1));
}

static void a_scalar_operand_is_nearly_free(void)
{
    double both = seconds("add x=16384x16384 y=16384x16384", "t4", "");
    double one = seconds("add x=16384x16384 y=1", "t4", "");

    CHECK_NEAR(one / both, 2.0 / 3, 0.01);
}

/* 48 heads over one mask of 16 MB: no cache keeps it until the next head. One of 4 KB
 * stays. */
static void an_operand_that_does_not_stay_is_read_again(void)
{
    double plain = seconds("add x=48x2048x2048 y=48x2048x2048", "t4", "");
    double wide = seconds("add x=48x2048x2048 y=1x2048x2048", "t4", "");
    double narrow = seconds("add x=48x2048x2048 y=1x1x2048", "t4", "");

    CHECK_NEAR(wide / plain, 1, 0.01);
    CHECK_NEAR(narrow / plain, 2.0 / 3, 0.01);
}

static void wide_rows_of_softmax_are_read_twice(void)
{
    ft__physics_params c = ft__physics_default();
    double narrow = seconds("softmax x=131072x1024 axis=1", "t4", "");
    double wide = seconds("softmax x=65536x2048 axis=1", "t4", "");

    CHECK_NEAR(wide / narrow, value(&c, "softmax_wide"), 0.01);
}

/* 14 TFLOP/s at 250 W are held at 12 nm, 8.1 at 70 W are not; the budget halved is the
 * rate halved. */
static void a_budget_binds_where_it_is_small(void)
{
    ft_op op = op_of("linear x=8192x8192 out=8192");
    ft__hardware_spec t4 = chip_of("t4", "", "ieee", &op),
                      v100 = chip_of("v100-pcie-32gb", "", "ieee", &op);
    ft__physics_params c = ft__physics_default();
    double u = ft__sustained(&t4, &c);

    CHECK(CMP(ft__sustained(&v100, &c), >, 0.98));
    t4.power_w /= 2;
    CHECK_NEAR(ft__sustained(&t4, &c) / u, 0.5, 0.001);
}

/* FLOP/s of a product that takes long. */
static double tensor_rate(const char *device, const char *setting)
{
    return 2.0 * 8192 * 8192 * 8192 /
           seconds("linear x=8192x8192 out=8192 dtype=fp16", device, setting);
}

/* Libraries: x W^T before Volta, and AMD's. */
static void libraries_reach_less_on_some_devices(void)
{
    ft__physics_params c = ft__physics_default();
    double p100 = seconds("linear x=8192x8192 out=8192 bias=0", "p100-pcie-16gb", ""),
           flat = seconds("matmul x=8192x8192 y=8192x8192", "p100-pcie-16gb", "");
    double v100 = seconds("linear x=8192x8192 out=8192 bias=0", "v100-pcie-32gb", ""),
           same = seconds("matmul x=8192x8192 y=8192x8192", "v100-pcie-32gb", "");

    CHECK_NEAR(flat / p100, value(&c, "crossed_share"), 0.001);
    CHECK_NEAR(same / v100, 1, 0.001);
    CHECK(CMP(tensor_rate("mi300x", ""), <, value(&c, "amd_share") * 1307e12));
}

static void a_small_power_budget_throttles(void)
{
    ft_op op = op_of("linear x=64x64 out=64");
    ft__hardware_spec t4 = chip_of("t4", "", "ieee", &op),
                      v100 = chip_of("v100-pcie-32gb", "", "ieee", &op);
    ft__physics_params c = ft__physics_default();

    CHECK(CMP(ft__sustained(&t4, &c), <, 0.65 * ft__sustained(&v100, &c)));
}

/* 400 W hold most of 312 TFLOP/s at 7 nm, 70 W not of 65 at 12 nm; half the budget
 * leaves the square root of a half. */
static void tensor_cores_have_a_budget_too(void)
{
    CHECK(CMP(tensor_rate("a100-sxm-80gb", ""), >, 0.75 * 312e12));
    CHECK(CMP(tensor_rate("t4", ""), <, 0.75 * 65e12));
    CHECK_NEAR(tensor_rate("t4", "power=35W") / tensor_rate("t4", ""), sqrt(0.5), 0.03);
}

/* Of a CUDA graph: as many clocks on every GPU. */
static void a_kernel_of_a_graph_starts_by_the_clock(void)
{
    ft__physics_params c = ft__physics_default();
    const double clocks = value(&c, "replay_clocks");

    CHECK_NEAR(seconds("relu x=1x1", "t4", "run_mode=graph"), clocks / 1590e6, 2e-9);
    CHECK_NEAR(seconds("relu x=1x1", "t4", "run_mode=graph clock=795MHz"),
               clocks / 795e6, 4e-9);
}

static void at_any_clock_a_product_costs_what_it_costs_alone(void)
{
    static const char *const specs[] = {
        "linear x=1x4096 out=4096 dtype=bf16", "linear x=96x3072 out=512 dtype=bf16",
        "linear x=2304x2048 out=128 dtype=bf16",
        "linear x=4096x8192 out=8192 to=bf16 block=128 dtype=fp8e4m3"};
    const ft_device_facts f = facts_of("h200-sxm");
    const ft__physics_params c = ft__physics_default();
    ft__arena arena = {0};

    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
        const ft_op op = op_of(specs[i]);
        ft__op_range range;
        ft__terms t;

        CHECK(ft__op_range_make(&range, &t, &op, &f, "ieee", &c, &arena));
        for (int mhz = 300; mhz < 2000; mhz += 100) {
            const ft__operating_point at = {mhz * 1e6, NAN, NAN};
            ft__hardware_spec chip;
            ft__terms alone;
            double sustained = NAN;

            ft__hardware_spec_at(&chip, &f, at.clock_hz, "ieee", &op);
            ft__physics(&alone, &op, &chip, &c);
            ft__op_range_cost(&t, &range, &at, 1, &sustained);
            CHECK(EQ(t.busy_s, alone.busy_s));
        }
    }
    ft__arena_free(&arena);
}

/* A number by a number is no tile of 32 x 32. */
static void products_of_vectors_are_read_and_done(void)
{
    CHECK(CMP(seconds("matmul x=1048576x1x1 y=1048576x1x1", "t4", ""), <,
              2 * seconds("add x=1048576 y=1048576", "t4", "")));
}

/* 4 x 8 bits at once since the GP102, but in no steps of a chain; the weights' gradient
 * of all steps is one product. */
static void chains_of_steps_have_their_own_products(void)
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

/* Two products, each behind what narrows its operand, and kernels that sort the rows.
 */
static void mixtures_narrow_what_they_multiply(void)
{
    ft_op wide = op_of("moe x=64x4096 hidden=1536 experts=128 topk=8 dtype=bf16"),
          narrow = op_of("moe x=64x4096 hidden=1536 experts=128 topk=8 dtype=fp8e4m3");
    ft__hardware_spec chip = chip_of("h100-sxm", "", "ieee", &wide);
    ft__work w;
    uint32_t n;

    ft__work_make(&w, &wide, &chip);
    n = w.n;
    CHECK(CMP(w.op_kernel[0].kernels, ==, 3));
    ft__work_make(&w, &narrow, &chip);
    CHECK(EQ(w.n, n + 2) && EQ(w.op_kernel[1].what, FT__OP_KERNEL_QUANTIZE));
    CHECK_NEAR(w.op_kernel[1].read, 64 * 8 * 4096 * 2, 0);
}

/* 16-bit convolutions are as fast as products with channels last, slower with channels
 * first; three channels are not, on vectors. */
static void convolutions_reach_what_their_kernels_do(void)
{
    const double conv = seconds("conv2d x=64x512x28x28 out=512 kernel=1x1 stride=1x1 "
                                "pad=0x0 dtype=fp16 layout=channels_last",
                                "a100-sxm-80gb", ""),
                 first = seconds("conv2d x=64x512x28x28 out=512 kernel=1x1 stride=1x1 "
                                 "pad=0x0 dtype=fp16",
                                 "a100-sxm-80gb", "");
    const double most = 2.0 * 64 * 784 * 512 * 512 / (0.7 * 312e12);
    const double three = seconds("conv2d x=64x3x224x224 out=512 kernel=5x5 stride=1x1 "
                                 "pad=2x2",
                                 "t4", ""),
                 four = seconds("conv2d x=64x4x224x224 out=512 kernel=5x5 stride=1x1 "
                                "pad=2x2",
                                "t4", "");

    CHECK(CMP(conv, <, most));
    CHECK(CMP(conv, <, first) && CMP(first, <, 2 * conv));
    CHECK(CMP(three, >, 0.9 * four));
}

/* As seconds(), by TF32 where the device has it. */
static double rounded_seconds(const char *spec, const char *device)
{
    ft_op op = op_of(spec);
    ft__hardware_spec chip = chip_of(device, "", "default", &op);
    ft__physics_params theta = ft__physics_default();
    ft__terms t;

    ft__physics(&t, &op, &chip, &theta);
    return t.total_s;
}

/* Eight times as many results of as many multiplications that are not zeros: tensor
 * cores skip the others, vectors multiply them, or add up columns. */
static void steps_of_transposed_convolutions_are_skipped_on_tensor_cores(void)
{
    static const char at_once[] = "conv_transpose3d x=16x64x32x32x32 out=64 "
                                  "kernel=4x4x4 stride=1x1x1 pad=1x1x1",
                      in_steps[] = "conv_transpose3d x=16x64x32x32x32 out=64 "
                                   "kernel=4x4x4 stride=2x2x2 pad=1x1x1";

    CHECK(CMP(rounded_seconds(in_steps, "a10"), <,
              2.5 * rounded_seconds(at_once, "a10")));
    CHECK(CMP(seconds(in_steps, "t4", ""), >, 1.7 * seconds(at_once, "t4", "")));
}

/* An A10's 150 W bind its vectors, not its tensor cores: TF32 is theirs. */
static void rounded_convolutions_have_the_budget_of_tensor_cores(void)
{
    static const char conv[] = "conv2d x=64x512x28x28 out=512 kernel=3x3 "
                               "stride=1x1 pad=1x1";
    const double flops = 2.0 * 64 * 28 * 28 * 512 * 512 * 9;

    CHECK(CMP(flops / rounded_seconds(conv, "a10"), >, 0.5 * 62.5e12));
}

/* A product of ten rows and a kernel for the state, whatever the GPU: 8 to 11 us. */
static void a_step_of_a_recurrent_layer_is_two_short_kernels(void)
{
    static const char *const devices[] = {"t4", "a10g", "a100-sxm-40gb"};

    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
        const double step =
            seconds("lstm x=512x10x256 hidden=256", devices[i], "") / 512;

        CHECK(CMP(step, >, 7e-6));
        CHECK(CMP(step, <, 11e-6));
    }
}

/* Moments of a group are found by one block of threads: few groups leave an A100
 * waiting, many do not. */
static void few_groups_of_a_norm_wait_for_their_blocks(void)
{
    const double few =
        seconds("groupnorm x=16x64x256x256 groups=8", "a100-sxm-40gb", "");
    const double many =
        seconds("groupnorm x=16x64x256x256 groups=64", "a100-sxm-40gb", "");

    CHECK(CMP(few, >, 1.5 * many));
    CHECK(CMP(seconds("instancenorm x=16x64x256x256", "a10", ""), <, 1.9e-3));
}

/* A T4's 70 W bind while all of its cores multiply, not for one tile after another. */
static void few_cores_stay_below_the_budget(void)
{
    const double few = seconds("lstm x=100x8x256 hidden=64", "t4", ""),
                 capped = seconds("lstm x=100x8x256 hidden=64", "t4", "power=35W");

    CHECK(CMP(capped, <, 1.1 * few));
    CHECK(CMP(seconds("matmul x=4096x4096 y=4096x4096", "t4", "power=35W"), >,
              1.5 * seconds("matmul x=4096x4096 y=4096x4096", "t4", "")));
}

static double attention_share(const char *device, double peak)
{
    return 4.0 * 8 * 32 * 4096 * 4096 * 64 / peak /
           seconds("attention x=8x32x4096x64 y=8x32x4096x64 z=8x32x4096x64 dtype=bf16",
                   device, "");
}

/* Scores are exponentials: fast tensor cores wait for them, slow ones do not. */
static void exponentials_bound_attention(void)
{
    CHECK(CMP(attention_share("rtx-3090", 71e12), >,
              1.1 * attention_share("a100-sxm-80gb", 312e12)));
    CHECK(CMP(attention_share("h100-nvl", 835e12), <, 1)); /* its clock is not known */
}

/* ---- more work is never faster, a better device never slower ---- */
static const char *const growing[] = {
    "linear x=%dx768 out=768",
    "linear x=512x%d out=768",
    "matmul x=12x%dx64 y=12x64x128",
    "matmul x=%dx128x64 y=%dx64x128",
    "conv2d x=%dx64x28x28 out=64 kernel=3x3 stride=1x1 pad=1x1",
    "conv2d x=4x%dx28x28 out=64 kernel=5x5 stride=1x1 pad=2x2",
    "conv2d x=4x64x28x28 out=%d kernel=1x1 stride=2x2 pad=0x0 phase=backward",
    "conv2d x=%dx96x28x28 out=96 kernel=3x3 stride=1x1 pad=1x1 groups=96",
    "conv2d x=%dx16x28x28 out=24 kernel=3x3 stride=1x1 pad=1x1 phase=step",
    "conv_transpose2d x=%dx16x28x28 out=24 kernel=2x2 stride=2x2 pad=0x0",
    "lstm x=%dx16x256 hidden=256",
    "softmax x=64x%d axis=1",
    "layernorm x=64x%d norm=1",
    "gelu x=64x%d",
    "maxpool2d x=%dx64x28x28 kernel=2x2 stride=2x2 pad=0x0",
    "adam x=%dx64",
    "attention x=%dx8x64x64 y=%dx8x64x64 z=%dx8x64x64",
};
enum { N_GROWING = sizeof(growing) / sizeof(*growing) };
static const char *const machines[] = {
    "k80", "p4",       "p100-pcie-16gb", "v100-pcie-32gb",
    "t4",  "h100-sxm", "mi100",          "xeon-e5-2680v3"};
enum { N_MACHINES = sizeof(machines) / sizeof(*machines) };

static void write_spec(char *out, size_t size, int line, int n)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
    snprintf(out, size, growing[line], n, n, n);
#pragma GCC diagnostic pop
}

static void more_work_takes_longer(void)
{
    char spec[200];

    for (int i = 0; i < N_GROWING; i++)
        for (int d = 0; d < N_MACHINES; d++) {
            double last = 0;

            for (int n = 8; n <= 8192; n *= 2) {
                double s;

                write_spec(spec, sizeof(spec), i, n);
                s = seconds(spec, machines[d], "");
                if (!(s >= last) || !isfinite(s))
                    fprintf(stderr, "%s on %s: %g after %g\n", spec, machines[d], s,
                            last);
                CHECK(isfinite(s) && CMP(s, >=, last));
                last = s;
            }
        }
}

static double with(const ft_op *op, ft__hardware_spec chip, double clock, double memory,
                   double power)
{
    ft__physics_params theta = ft__physics_default();
    ft__terms t;

    chip.clock_hz *= clock;
    chip.vector_flops *= clock;
    chip.peak_flops *= clock;
    chip.bandwidth *= memory;
    chip.power_w *= power;
    ft__physics(&t, op, &chip, &theta);
    return t.total_s;
}

static void a_better_device_is_never_slower(void)
{
    char spec[200];

    for (int i = 0; i < N_GROWING; i++)
        for (int n = 16; n <= 4096; n *= 16) {
            ft_op op;
            ft__hardware_spec chip;
            double s;

            write_spec(spec, sizeof(spec), i, n);
            op = op_of(spec);
            chip = chip_of("v100-pcie-32gb", "", "ieee", &op);
            s = with(&op, chip, 1, 1, 1);
            CHECK(CMP(with(&op, chip, 1, 1.5, 1), <=, s));
            CHECK(CMP(with(&op, chip, 1, 1, 1.5), <=, s));
            /* The cap holds: twice the clock is at most as fast as it allows. */
            CHECK(CMP(with(&op, chip, 2, 1, 2), <=, s));
            CHECK(CMP(with(&op, chip, 1, 1, 0.2), >=, s));
        }
}

/* ---- constants out of measurements ---- */
enum { N_ROWS = 240 };
struct made {
    ft_op op[N_ROWS];
    ft__hardware_spec chip[N_ROWS];
    ft__physics_row row[N_ROWS];
};

static const char *const made_on[] = {"p4", "t4", "gtx-1080-ti", "rtx-2080-ti"};

/* Rows of the first n_devices, timed by `law`; the last one's are `odd` times that. */
static void make(struct made *m, const ft__physics_params *law, uint32_t n_devices,
                 double odd, uint64_t seed)
{
    ft__prng rng = {seed};

    for (uint32_t i = 0; i < N_ROWS; i++) {
        uint32_t device = i % n_devices;
        int a = 1 << (3 + ft__prng_below(&rng, 8)),
            b = 1 << (3 + ft__prng_below(&rng, 8));
        int c = 1 << (4 + ft__prng_below(&rng, 7));
        char spec[200];
        ft__terms t;

        if (ft__prng_below(&rng, 2))
            snprintf(spec, sizeof(spec), "linear x=%dx%d out=%d", a, b, c);
        else
            snprintf(spec, sizeof(spec), "add x=%dx%d y=%dx%d", a * 4, b * 4, a * 4,
                     b * 4);
        m->op[i] = op_of(spec);
        m->chip[i] = chip_of(made_on[device], "", "ieee", &m->op[i]);
        ft__physics(&t, &m->op[i], &m->chip[i], law);
        m->row[i] = (ft__physics_row){.op = &m->op[i],
                                      .chip = &m->chip[i],
                                      .time_s = t.total_s,
                                      .weight = 1,
                                      .group = device};
        if (device == n_devices - 1)
            m->row[i].time_s *= odd;
    }
}

/* Mean of |log(estimate / time)| over the rows of groups below n. */
static double error_of(const struct made *m, const ft__physics_params *theta,
                       uint32_t n)
{
    double sum = 0, count = 0;

    for (int i = 0; i < N_ROWS; i++) {
        ft__terms t;

        if (m->row[i].group >= n)
            continue;
        ft__physics(&t, &m->op[i], &m->chip[i], theta);
        sum += fabs(log(t.total_s / m->row[i].time_s));
        count++;
    }
    return sum / count;
}

static ft__physics_params changed(void)
{
    ft__physics_params law = ft__physics_default();

    law.v[constant("floor_s")] = 4e-5;
    law.v[constant("floor_linear")] = 1.2;
    law.v[constant("memory_share")] = 0.55;
    law.v[constant("tile_share")] = 0.9;
    law.v[constant("cache_width")] = 20;
    return law;
}

static void threads_of_a_cpu_share_its_memory(void)
{
    static const char product[] = "matmul x=4096x4096 y=4096x4096",
                      stream[] = "relu x=64x1024x4096";
    const ft_device_facts f = facts_of("epyc-7763");
    double before = seconds(product, "epyc-7763", "threads=1");

    for (int threads = 2; threads <= 64; threads *= 2) {
        char setting[32];
        double s;

        snprintf(setting, sizeof(setting), "threads=%d", threads);
        s = seconds(product, "epyc-7763", setting);
        /* Never above what the cores do at the boost clock; never far below what they
         * do at the base clock. */
        CHECK(
            CMP(s, >,
                2 * 4096. * 4096 * 4096 /
                    (f.peak_fp32 * threads / 64 * f.boost_clock_hz / f.base_clock_hz)));
        CHECK(CMP(s, <, 1.5 * 2 * 4096. * 4096 * 4096 / (f.peak_fp32 * threads / 64)));
        CHECK(CMP(s, <, before) && CMP(s, >, 0.45 * before));
        before = s;
        CHECK(CMP(seconds(stream, "epyc-7763", setting), >,
                  2 * 4 * 64. * 1024 * 4096 / f.bandwidth_bytes_per_s));
    }
    CHECK(CMP(seconds(stream, "epyc-7763", "threads=1"), <,
              64 * 0.5 * seconds(stream, "epyc-7763", "threads=64")));
    CHECK(EQ(seconds(product, "epyc-7763", "threads=64"),
             seconds(product, "epyc-7763", "")));
    CHECK(CMP(seconds(product, "epyc-7763", "threads=64 clock=1225MHz"), >,
              2 * seconds(product, "epyc-7763", "threads=64 clock=2450MHz") * 0.99));
}

static void constants_come_out_again(void)
{
    static struct made m, fresh;
    ft__physics_params law = changed(), theta = ft__physics_default();

    make(&m, &law, 4, 1, 1);
    make(&fresh, &law, 4, 1, 2);
    CHECK(CMP(error_of(&fresh, &theta, 4), >, 0.3));
    CHECK_EQ(ft__physics_fit(&theta, m.row, N_ROWS, 1, NULL), FT_OK);
    CHECK(CMP(error_of(&fresh, &theta, 4), <, 0.02));
    CHECK_NEAR(value(&theta, "floor_s") / 4e-5, 1, 0.05);
    CHECK_NEAR(value(&theta, "memory_share") / 0.55, 1, 0.05);
    /* Nothing was measured of it. */
    CHECK_NEAR(value(&theta, "conv_share"), value(&law, "conv_share"), 1e-12);
}

/* A share of the peak that devices by the dozen reach is not unlearned from two. */
static void a_few_devices_do_not_move_what_is_known_of_many(void)
{
    static struct made m;
    const ft__physics_params usual = ft__physics_default();
    ft__physics_params law = usual, theta = usual;

    law.v[constant("tile_share")] *= 0.8;
    law.v[constant("memory_share")] *= 0.8;
    make(&m, &law, 2, 1, 4);
    CHECK_EQ(ft__physics_fit(&theta, m.row, N_ROWS, 1, NULL), FT_OK);
    CHECK_NEAR(value(&theta, "tile_share") / value(&usual, "tile_share"), 1, 0.03);
    CHECK_NEAR(value(&theta, "memory_share") / value(&law, "memory_share"), 1, 0.05);
}

static void an_odd_device_does_not_bend_the_constants(void)
{
    static struct made m;
    ft__physics_params law = changed(), theta = ft__physics_default();

    make(&m, &law, 4, 3, 3);
    CHECK_EQ(ft__physics_fit(&theta, m.row, N_ROWS, 1, NULL), FT_OK);
    CHECK(CMP(error_of(&m, &theta, 3), <, 0.05));
}

/* Constants that a training set of additions on n of made_on gives, of which the time
 * is that of memory; device d has share[d] of the usual bandwidth. */
static double memory_share_of(uint32_t n, const double *share)
{
    static ft__sample v[N_ROWS];
    static ft_device *file[sizeof(made_on) / sizeof(*made_on)];
    ft__dataset dataset[sizeof(made_on) / sizeof(*made_on)] = {0};
    ft__samples s = {.v = v, .n = N_ROWS, .dataset = dataset, .n_datasets = n};
    uint32_t row[N_ROWS];
    double found = NAN;
    ft__base base;

    for (uint32_t d = 0; d < n; d++) {
        CHECK(EQ(ft_device_load(&file[d], data_dir, made_on[d], NULL), FT_OK));
        dataset[d] = (ft__dataset){.file = file[d],
                                   .device = (char *)made_on[d],
                                   .setting = (char *)"run_mode=graph",
                                   .policy = (char *)"default",
                                   .engine = (char *)"torch",
                                   .engine_version = (char *)"1"};
    }
    for (uint32_t i = 0; i < N_ROWS; i++) {
        ft__physics_params law = ft__physics_default();
        char spec[100];
        ft__hardware_spec chip;
        ft__terms t;

        row[i] = i;
        snprintf(spec, sizeof(spec), "add x=%ux4096 y=%ux4096", 8192 + i, 8192 + i);
        v[i] = (ft__sample){.op = op_of(spec), .dataset = i % n};
        law.v[constant("memory_share")] *= share[i % n];
        chip = chip_of(made_on[i % n], "run_mode=graph", "default", &v[i].op);
        ft__physics(&t, &v[i].op, &chip, &law);
        for (int m = 0; m < FT__N_METRICS; m++)
            v[i].value[m] = NAN;
        v[i].value[FT__METRIC_TIME] = t.total_s;
    }
    if (ft__base_fit(&base, &s, row, N_ROWS, 1, NULL) == FT_OK) {
        found = value(&base.params[ft__group_of(&v[0].op)], "memory_share") /
                ft__physics_default().v[constant("memory_share")];
        ft__base_free(&base);
    }
    for (uint32_t d = 0; d < n; d++)
        ft_device_free(file[d]);
    return found;
}

/* What holds on chips left out is taken, what does not is not, and of what one chip
 * alone shows half. */
static void constants_are_taken_as_far_as_they_serve_other_chips(void)
{
    CHECK_NEAR(memory_share_of(3, (double[]){0.7, 0.7, 0.7}), 0.7, 0.02);
    CHECK_NEAR(memory_share_of(2, (double[]){0.6, 1 / 0.6}), 1, 0.05);
    CHECK_NEAR(memory_share_of(1, (double[]){0.7}), sqrt(0.7), 0.02);
}

static void fitting_again_gives_the_same_bits(void)
{
    static struct made m;
    ft__physics_params law = changed(), a = ft__physics_default(), b = a, none = a;

    make(&m, &law, 3, 1.2, 5);
    CHECK_EQ(ft__physics_fit(&a, m.row, N_ROWS, 9, NULL), FT_OK);
    CHECK_EQ(ft__physics_fit(&b, m.row, N_ROWS, 9, NULL), FT_OK);
    CHECK(BYTES(&a, &b, sizeof(a)));
    b = none;
    CHECK_EQ(ft__physics_fit(&none, NULL, 0, 9, NULL), FT_OK);
    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        CHECK_NEAR(none.v[i] / b.v[i], 1, 1e-12);
}

/* Frameworks update many parameters in one kernel: what is read and written counts. */
static void an_optimizer_takes_the_time_of_its_bytes(void)
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
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    snprintf(data_dir, sizeof(data_dir), "%s/data", argv[1]);
    tensor_cores_serve_where_dtype_and_policy_use_them();
    settings_scale_what_they_set();
    what_is_not_known_is_named();
    a_convolution_has_three_products();
    backward_of_linear_is_twice_forward();
    gradients_are_added_to_those_that_are_there();
    what_layers_multiply_in_fewer_bits_is_narrowed_first();
    a_view_costs_nothing();
    a_tiny_operation_takes_the_floor();
    products_with_scales_for_blocks_wait_for_the_host();
    a_slow_host_slows_what_waits_for_it();
    a_huge_product_runs_at_the_sustained_peak();
    products_of_one_call_fill_large_tiles();
    a_huge_tensor_streams_at_the_bandwidth();
    memory_reaches_what_its_kind_does();
    large_windows_reach_the_rate_of_products();
    a_scalar_operand_is_nearly_free();
    an_operand_that_does_not_stay_is_read_again();
    wide_rows_of_softmax_are_read_twice();
    a_budget_binds_where_it_is_small();
    libraries_reach_less_on_some_devices();
    a_small_power_budget_throttles();
    tensor_cores_have_a_budget_too();
    a_kernel_of_a_graph_starts_by_the_clock();
    at_any_clock_a_product_costs_what_it_costs_alone();
    products_of_vectors_are_read_and_done();
    chains_of_steps_have_their_own_products();
    mixtures_narrow_what_they_multiply();
    convolutions_reach_what_their_kernels_do();
    steps_of_transposed_convolutions_are_skipped_on_tensor_cores();
    rounded_convolutions_have_the_budget_of_tensor_cores();
    a_step_of_a_recurrent_layer_is_two_short_kernels();
    few_groups_of_a_norm_wait_for_their_blocks();
    few_cores_stay_below_the_budget();
    exponentials_bound_attention();
    more_work_takes_longer();
    a_better_device_is_never_slower();
    threads_of_a_cpu_share_its_memory();
    constants_come_out_again();
    a_few_devices_do_not_move_what_is_known_of_many();
    an_odd_device_does_not_bend_the_constants();
    constants_are_taken_as_far_as_they_serve_other_chips();
    fitting_again_gives_the_same_bits();
    an_optimizer_takes_the_time_of_its_bytes();
    CHECK_DONE();
}
