/* The physical estimate: more work is never faster, a better device never slower; what
 * one chip draws on several boards, and kernels that generated ones are faster than. */
#include <math.h>

#include "physics/power.h"
#include "physics_rig.h"

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

TEST(more_work_takes_longer)
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

TEST(a_better_device_is_never_slower)
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

/* Measured by vidur on an A100; compilers load 16 B at a time. */
TEST(threads_that_load_one_number_at_a_time_hold_kernels_back)
{
    static const double measured[] = {190e-6, 149e-6, 427e-6};
    static const char *const many[] = {
        "rmsnorm x=4096x8192 norm=1 dtype=fp16", "rotary x=1x64x4096x128 dtype=fp16",
        "embedding x=4096 rows=32000 dim=8192 dtype=fp16"};

    for (int i = 0; i < 3; i++) {
        const ft__physics_params theta = ft__physics_default();
        ft_op op = op_of(many[i]);
        ft__hardware_spec chip = chip_of("a100-sxm-80gb", "run_mode=graph", "", &op);
        const double alone = seconds(many[i], "a100-sxm-80gb", "run_mode=graph");
        ft__terms fused;

        chip.fused = 1;
        ft__physics(&fused, &op, &chip, &theta);
        CHECK_NEAR(alone, measured[i], 0.15 * measured[i]);
        CHECK(CMP(fused.total_s, <, 0.75 * alone));
    }
}

/* What vidur's additions of 1 and 3 M numbers take more than one another on an A100,
 * whose cache holds them; 2.74 results a clock and core of gelu in bf16 on what is
 * taken for an H100 (pytorch/pytorch 141959). Types of 8 bits, TensorFlow's kernels and
 * a B200's were not measured. */
TEST(elementwise_kernels_wait_for_what_they_asked_for)
{
    const char *many = "add x=768x4096 y=768x4096 dtype=fp16",
               *few = "add x=256x4096 y=256x4096 dtype=fp16",
               *gelu = "gelu x=16384x16384 dtype=bf16",
               *bytes = "relu x=16384x16384 dtype=int8";
    const double more_s = seconds(many, "a100-sxm-80gb", "run_mode=graph") -
                          seconds(few, "a100-sxm-80gb", "run_mode=graph");

    CHECK_NEAR(more_s, 4.5e-6, 0.5e-6);
    CHECK_NEAR(seconds(gelu, "h100-sxm", "clock=1755MHz") * 132 * 1.755e9,
               16384 * 16384 / 2.74, 0.05 * 16384 * 16384 / 2.74);
    CHECK(CMP(seconds(gelu, "a100-sxm-80gb", "clock=510MHz"), >,
              1.5 * seconds(gelu, "a100-sxm-80gb", "clock=510MHz run_mode=compiled")));
    CHECK_NEAR(seconds(gelu, "b200", "run_mode=graph"),
               seconds(gelu, "b200", "run_mode=compiled"), 1e-5);
    CHECK_NEAR(seconds(bytes, "a100-sxm-80gb", "run_mode=graph"),
               seconds(bytes, "a100-sxm-80gb", "run_mode=compiled"), 1e-5);
    CHECK(CMP(seconds(gelu, "a100-sxm-80gb", "clock=510MHz"), >,
              1.5 * seconds(gelu, "a100-sxm-80gb", "clock=510MHz activation=none")));
    CHECK(CMP(seconds("gelu x=16384x16384 dtype=bf16 phase=backward", "a100-sxm-80gb",
                      "clock=510MHz"),
              >=, 0.99 * seconds(gelu, "a100-sxm-80gb", "clock=510MHz")));
}

/* More tiles of 128 x 256 than an A100 has cores take another wave: aiconfigurator's
 * takes 103.8 us for 96 of them, 203.8 for 120. Until Hopper, and NVIDIA's. */
TEST(large_tiles_come_in_whole_waves)
{
    const char *one = "linear x=768x4096 out=4096 dtype=bf16",
               *more = "linear x=768x4096 out=5120 dtype=bf16";

    CHECK(CMP(seconds(more, "a100-sxm-80gb", "loop=short"), >,
              1.3 * seconds(one, "a100-sxm-80gb", "loop=short")));
    CHECK(CMP(seconds(more, "h200-sxm", "loop=short"), <,
              1.3 * seconds(one, "h200-sxm", "loop=short")));
    CHECK(CMP(seconds("linear x=2432x4096 out=4352 dtype=bf16", "mi300x", ""), <,
              1.2 * seconds("linear x=2432x4096 out=4096 dtype=bf16", "mi300x", "")));
}

/* Below every cap: the smaller board's, 250 W. */
TEST(boards_of_one_chip_draw_alike)
{
    const ft__physics_params theta = ft__physics_default();
    const ft_op op = op_of("linear x=32x4096 out=12288 dtype=fp16");
    double w[2];

    for (int i = 0; i < 2; i++) {
        const char *const board[] = {"a100-sxm-40gb", "a100-pcie-40gb"};
        ft__hardware_spec chip = chip_of(board[i], "run_mode=graph", "", &op);
        ft__terms t;

        chip.power_w = 1000;
        ft__physics(&t, &op, &chip, &theta);
        w[i] = ft__physics_power(&t, &chip, &theta);
    }
    CHECK_NEAR(w[0], w[1], 0.03 * w[1]);
}

/* More bytes are never faster, nor are more devices, but where switches add: there on
 * H100 and H200 eight take less than four (below), though no less than two. */
static void check_collective(const ft_device_facts *facts, const char *mode)
{
    static const int ranks[] = {2, 3, 4, 7, 8, 9, 16, 17, 32};
    enum { SIZES = 116 }; /* to 2^28, each a tenth more */
    const ft__physics_params theta = ft__physics_default();
    double fewer[SIZES] = {0};

    for (size_t r = 0; r < sizeof(ranks) / sizeof(*ranks); r++) {
        double last = 0;

        for (int i = 0; i < SIZES; i++) {
            const double n = floor(4096 * pow(1.1, i));
            char spec[100];
            ft__hardware_spec chip;
            ft__terms t;
            ft_op op;
            bool added;

            snprintf(spec, sizeof(spec), "collective x=%.0f ranks=%d dtype=bf16%s", n,
                     ranks[r], mode);
            op = op_of(spec);
            ft__hardware_spec_make(&chip, facts, "", "", &op);
            if (ft__hardware_spec_lacks(&chip))
                return;
            ft__physics(&t, &op, &chip, &theta);
            added = !*mode && chip.hopper && 2 * n > chip.kernel_sum_bytes;
            if (t.total_s < last || t.total_s < fewer[i])
                fprintf(stderr, "%s on %s\n", spec, facts->name);
            CHECK(CMP(t.total_s, >=, last));
            CHECK(CMP(t.total_s, >=, fewer[i]));
            last = t.total_s;
            fewer[i] = added && fewer[i] > 0 ? fewer[i] : last;
        }
    }
}

TEST(more_bytes_and_devices_are_never_faster)
{
    static const char *const modes[] = {"", " mode=1", " mode=2"};
    char **names;
    size_t n;

    CHECK(!ft_device_names(&names, &n, data_dir, NULL) && CMP(n, >, 100));
    for (size_t i = 0; i < n; i++) {
        ft_device *d;

        CHECK(!ft_device_load(&d, data_dir, names[i], NULL));
        for (int m = 0; m < 3; m++)
            check_collective(ft_device_get(d), modes[m]);
        ft_device_free(d);
    }
    ft_device_names_free(names, n);
}

/* The least times of 32 MiB and 1 GiB in aiconfigurator's tables of all-reduce; NCCL is
 * behind them. */
TEST(large_sums_take_what_nccl_does)
{
    static const struct {
        const char *device;
        int ranks, mib;
        double measured_s;
    } c[] = {{"a100-sxm-80gb", 2, 32, 221.9e-6},  {"a100-sxm-80gb", 8, 32, 364.3e-6},
             {"a100-sxm-80gb", 2, 1024, 5297e-6}, {"a100-sxm-80gb", 8, 1024, 8249e-6},
             {"h200-sxm", 2, 32, 135.4e-6},       {"h200-sxm", 8, 32, 165.8e-6},
             {"h200-sxm", 4, 1024, 4518e-6},      {"h200-sxm", 8, 1024, 3993e-6},
             {"h100-sxm", 4, 1024, 4511e-6},      {"h100-sxm", 8, 1024, 4007e-6}};

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        char spec[100];

        snprintf(spec, sizeof(spec), "collective x=%dx524288 ranks=%d dtype=bf16",
                 c[i].mib, c[i].ranks);
        CHECK_NEAR(seconds(spec, c[i].device, "run_mode=graph") / c[i].measured_s, 1,
                   0.15);
    }
}

/* Likewise of all-to-all (mode=1) and sums of 8 bits, which no kernel but NCCL's makes:
 * up to a few MiB they were estimated to take a third. */
TEST(nccl_exchanges_what_it_does_not_sum)
{
    static const struct {
        const char *device, *spec;
        double measured_s;
    } c[] = {
        {"a100-sxm-80gb", "collective x=65536 ranks=2 mode=1 dtype=fp16", 14.4e-6},
        {"a100-sxm-80gb", "collective x=524288 ranks=8 mode=1 dtype=fp16", 25.8e-6},
        {"a100-sxm-80gb", "collective x=67108864 ranks=4 mode=1 dtype=fp16", 573.5e-6},
        {"a100-sxm-80gb", "collective x=131072 ranks=8 dtype=int8", 30.2e-6},
        {"a100-sxm-80gb", "collective x=16777216 ranks=4 dtype=int8", 203.3e-6},
        {"h200-sxm", "collective x=262144 ranks=8 mode=1 dtype=fp16", 12.2e-6},
        {"h200-sxm", "collective x=8388608 ranks=2 mode=1 dtype=fp16", 50.4e-6},
        {"h200-sxm", "collective x=131072 ranks=8 dtype=int8", 21.0e-6},
        {"h200-sxm", "collective x=67108864 ranks=8 dtype=int8", 369.1e-6}};

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++)
        CHECK_NEAR(seconds(c[i].spec, c[i].device, "run_mode=graph") / c[i].measured_s,
                   1, 0.3);
}

/* Whatever the link is, the same library sums and exchanges. */
TEST(a_slower_link_is_never_faster)
{
    static const char *const devices[] = {"h100-sxm", "a100-sxm-80gb", "l40s", "t4",
                                          "mi300x"};
    static const char *const rest[] = {"dtype=fp16", "dtype=int8", "mode=1 dtype=fp16",
                                       "mode=2 dtype=fp16"};
    static const double links[] = {NAN, 80e9, 150e9, 450e9};
    const ft__physics_params theta = ft__physics_default();

    for (size_t i = 0; i < 5 * 4 * 3 * 17; i++) {
        const int ranks = 2 << i / 4 % 3;
        const int n = 2048 << i / 12 % 17;
        ft_device_facts facts = facts_of(devices[i / 204]);
        double last = INFINITY;
        char spec[100];
        ft_op op;

        snprintf(spec, sizeof(spec), "collective x=%d ranks=%d %s", n, ranks,
                 rest[i % 4]);
        op = op_of(spec);
        for (size_t l = 0; l < sizeof(links) / sizeof(*links); l++) {
            ft__hardware_spec chip;
            ft__terms t;

            facts.link_bytes_per_s = links[l];
            ft__hardware_spec_make(&chip, &facts, "", "", &op);
            ft__physics(&t, &op, &chip, &theta);
            if (t.total_s > last)
                fprintf(stderr, "%s on %s\n", spec, devices[i / 204]);
            CHECK(CMP(t.total_s, <=, last));
            last = t.total_s;
        }
    }
    CHECK_NEAR(seconds("collective x=41943040 ranks=4 dtype=fp16", "h100-nvl", "") /
                   seconds("collective x=41943040 ranks=4 dtype=fp16", "h100-pcie", ""),
               1, 0.1);
}

/* NVIDIA's since Volta that NVLink connects leave sums of more than 8 MiB to NCCL, on
 * Hopper of more than 16. */
TEST(nccl_starts_where_nvlink_connects)
{
    static const struct {
        const char *device;
        int mib, starts;
    } c[] = {{"a100-sxm-80gb", 8, 1}, {"v100-sxm2-16gb", 8, 1}, {"h100-sxm", 16, 1},
             {"h100-sxm", 8, 0},      {"h100-nvl", 8, 0},       {"h100-pcie", 16, 0},
             {"a40", 8, 0},           {"p100-sxm2-16gb", 8, 0}, {"mi300x", 8, 0},
             {"epyc-9654", 8, 0}};

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        char last[100], next[100];

        snprintf(last, sizeof(last), "collective x=%d ranks=2 dtype=bf16",
                 c[i].mib << 19);
        snprintf(next, sizeof(next), "collective x=%d ranks=2 dtype=bf16",
                 (c[i].mib << 19) + 1);
        CHECK_EQ(seconds(next, c[i].device, "") - seconds(last, c[i].device, "") > 3e-5,
                 c[i].starts);
    }
}

/* Before Volta a machine has 8, for sums of whoever does not name several. */
TEST(machines_of_8_are_a_default_of_sums)
{
    static const char sum[] = "collective x=1048576 ranks=32",
                      two[] = "collective x=1048576 ranks=32 nodes=2",
                      four[] = "collective x=1048576 ranks=32 nodes=4";
    const char *const p100 = "p100-sxm2-16gb";

    CHECK(CMP(seconds(two, p100, ""), <, 0.8 * seconds(sum, p100, "")));
    CHECK_NEAR(seconds(four, p100, ""), seconds(sum, p100, ""), 1e-12);
}
