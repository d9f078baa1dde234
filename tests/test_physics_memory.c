/* The physical estimate of what reads and writes: memory, caches, and the kernels of
 * frameworks that move data. */
#include <math.h>

#include "physics_rig.h"

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
