/* The physical estimate of vectors: of GPUs before Volta, held against what DeepBench
 * measured on a P100, a GTX 1080 Ti, a Titan X (Maxwell) and a Titan X (Pascal), and of
 * types that tensor cores lack. */
#include <math.h>

#include "physics_rig.h"

static const char *const devices[] = {"p100-pcie-16gb", "gtx-1080-ti",
                                      "titan-x-maxwell", "titan-x-pascal"},
                         *const settings[] = {"calls=single", "calls=single",
                                              "calls=single cuda=7.5",
                                              "calls=single cuda=8.0"};
static const char *const eager[] = {"", "", "", ""};
enum { N_DEVICES = sizeof(devices) / sizeof(*devices) };

struct measured {
    const char *spec;
    double time_s[N_DEVICES]; /* 0: not measured there */
};

/* Estimates are off by no more than a factor of e^most. */
static void check_measured(const struct measured *v, size_t n, double most)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < N_DEVICES; d++) {
            const double off =
                log(seconds(v[i].spec, devices[d], settings[d]) / v[i].time_s[d]);

            if (v[i].time_s[d] == 0)
                continue;
            if (!(fabs(off) <= most))
                fprintf(stderr, "%s on %s: off by %g\n", v[i].spec, devices[d], off);
            CHECK(CMP(fabs(off), <=, most));
        }
}

/* By no more than a factor of its own on each device; setting: by device. */
static void check_each(const struct measured *v, size_t n, const char *const *setting,
                       const double *most)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < N_DEVICES; d++)
            if (v[i].time_s[d] > 0)
                CHECK(CMP(fabs(log(seconds(v[i].spec, devices[d], setting[d]) /
                                   v[i].time_s[d])),
                          <=, most[d]));
}

/* They were estimated 1.7 to 1.9 times too fast. */
TEST(gradients_of_the_data_in_steps_have_slow_kernels)
{
    static const struct measured v[] = {
        {"conv2d x=16x512x28x28 out=1024 kernel=1x1 stride=2x2 pad=0x0 phase=backward "
         "wrt=x",
         {1059e-6, 831e-6, 1510e-6}},
        {"conv2d x=16x256x14x14 out=1024 kernel=1x1 stride=2x2 pad=0x0 phase=backward "
         "wrt=x",
         {174e-6, 128e-6, 250e-6}},
        {"conv2d x=16x64x80x350 out=128 kernel=5x5 stride=2x2 pad=1x1 phase=backward "
         "wrt=x",
         {9938e-6, 9004e-6, 20972e-6}},
    };

    check_each(v, sizeof(v) / sizeof(*v), eager, (const double[]){0.22, 0.2, 0.16});
}

/* They take as long as forward; they were estimated 1.2 to 1.6 times too slow on
 * Pascals. */
TEST(gradients_of_the_data_are_as_fast_as_forward)
{
    static const struct measured v[] = {
        {"conv2d x=16x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 phase=backward "
         "wrt=x",
         {282e-6, 230e-6, 519e-6}},
        {"conv2d x=8x64x54x54 out=64 kernel=3x3 stride=1x1 pad=1x1 phase=backward "
         "wrt=x",
         {197e-6, 151e-6, 298e-6}},
    };

    check_each(v, sizeof(v) / sizeof(*v), eager, (const double[]){0.11, 0.19, 0.15});
}

/* No kernel makes Winograd's transforms and weights' gradients at once: layers of few
 * channels were estimated 1.4 to 1.7 times too fast. */
TEST(gradients_of_few_weights_are_no_winograd)
{
    static const struct measured v[] = {
        {"conv2d x=8x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 phase=backward "
         "wrt=w",
         {426e-6, 302e-6, 579e-6}},
        {"conv2d x=8x64x54x54 out=64 kernel=3x3 stride=1x1 pad=1x1 phase=backward "
         "wrt=w",
         {445e-6, 287e-6, 559e-6}},
    };

    check_each(v, sizeof(v) / sizeof(*v), eager, (const double[]){0.35, 0.05, 0.31});
}

/* Their parts of k add atomically, and 64 output channels fill half a tile but on a
 * P100: estimated 1.4 to 1.9 times too fast. */
TEST(gradients_of_weights_are_added_atomically)
{
    static const struct measured v[] = {
        {"conv2d x=16x256x56x56 out=64 kernel=1x1 stride=1x1 pad=0x0 phase=backward "
         "wrt=w",
         {369e-6, 672e-6, 1127e-6, 698e-6}},
        {"conv2d x=8x1024x14x14 out=2048 kernel=1x1 stride=2x2 pad=0x0 phase=backward "
         "wrt=w",
         {589e-6, 505e-6, 925e-6, 592e-6}},
    };

    check_each(v, sizeof(v) / sizeof(*v), settings,
               (const double[]){0.33, 0.24, 0.23, 0.26});
}

/* Whole tiles of 128 output channels, but for 32 of them, whose kernel has half. */
TEST(gradients_of_32_output_channels_have_a_kernel)
{
    static const int out[] = {32, 33, 128};
    double s[3];

    for (int i = 0; i < 3; i++) {
        char spec[160];

        snprintf(spec, sizeof(spec),
                 "conv2d x=16x256x56x56 out=%d kernel=1x1 stride=1x1 pad=0x0 "
                 "phase=backward wrt=w",
                 out[i]);
        s[i] = seconds(spec, "gtx-1080-ti", "calls=single");
    }
    CHECK(CMP(s[1], >, 1.5 * s[0]));
    CHECK(CMP(s[2], <=, 1.25 * s[1]));
}

/* Those of 16 bits add in turn: estimated 2.6 to 3.3 times too fast, and where weights
 * are many 1.5 times too slow. */
TEST(parts_of_16_bits_are_added_in_turn)
{
    static const struct measured v[] = {
        {"conv2d x=8x64x56x56 out=256 kernel=1x1 stride=2x2 pad=0x0 phase=backward "
         "wrt=w dtype=fp16",
         {222e-6}},
        {"conv2d x=8x64x56x56 out=256 kernel=1x1 stride=1x1 pad=0x0 phase=backward "
         "wrt=w dtype=fp16",
         {505e-6}},
        {"conv2d x=16x256x20x84 out=512 kernel=5x5 stride=2x2 pad=1x1 phase=backward "
         "wrt=w dtype=fp16",
         {2943e-6}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.35);
}

/* They were estimated 1.7 to 2.7 times too fast, as if k were cut into 256 parts. */
TEST(deep_products_are_cut_into_few_parts)
{
    static const struct measured v[] = {
        {"matmul x=1024x500000 y=500000x16", {11012e-6, 8050e-6, 19754e-6}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.9);
}

/* They were estimated 3 to 13 times too fast, with tiles and parts of k that only fp32
 * has. */
TEST(narrow_types_have_large_kernels_alone)
{
    static const struct measured v[] = {
        {"conv2d x=8x2048x7x7 out=512 kernel=1x1 stride=1x1 pad=0x0 dtype=fp16",
         {464e-6}},
        {"conv2d x=16x832x7x7 out=128 kernel=5x5 stride=1x1 pad=2x2 dtype=fp16",
         {4597e-6}},
        {"conv2d x=1x832x7x7 out=128 kernel=5x5 stride=1x1 pad=2x2 dtype=int8 to=int32",
         {0, 442e-6}},
        {"conv2d x=1x256x14x14 out=256 kernel=1x1 stride=1x1 pad=0x0 dtype=int8 "
         "to=int32",
         {0, 13e-6}}, /* with a framework's launch 23 us */
        {"matmul x=512x500000 y=500000x4 dtype=int8 to=int32", {0, 9487e-6}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.35);
}

/* DeepBench times cuDNN's calls one by one, and its layers skip the product of their
 * input: weights' gradients were estimated 3 to 5 times too slow. */
TEST(gradients_of_steps_are_calls_apart)
{
    static const struct measured v[] = {
        {"lstm x=25x128x4096 hidden=4096 phase=backward wrt=w",
         {48578e-6, 38989e-6, 82366e-6}},
        {"gru x=1500x32x2816 hidden=2816 phase=backward wrt=w",
         {256162e-6, 217491e-6, 448370e-6}},
    };
    static const char data[] = "lstm x=25x128x4096 hidden=4096 phase=backward wrt=x",
                      all[] = "lstm x=25x128x4096 hidden=4096 phase=backward";

    check_measured(v, sizeof(v) / sizeof(*v), 0.25);
    CHECK(CMP(seconds(data, devices[0], ""), <, 0.7 * seconds(all, devices[0], "")));
}

/* As fast as products by themselves they were estimated 1.4 to 2.2 times too fast. */
TEST(steps_are_slower_than_products)
{
    static const struct measured v[] = {
        {"gru x=750x32x1536 hidden=1536", {179981e-6, 148198e-6, 151858e-6}},
        {"lstm x=25x128x2048 hidden=2048", {23260e-6, 16171e-6, 30147e-6}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.4);
}

/* A P100 multiplies 16-bit numbers at twice the rate: cuDNN does, cuBLAS added up in
 * fp32 there. */
TEST(vectors_of_16_bits_serve_convolutions)
{
    static const char
        conv[] = "conv2d x=16x128x40x175 out=128 kernel=3x3 stride=1x1 pad=1x1",
        half[] = "conv2d x=16x128x40x175 out=128 kernel=3x3 stride=1x1 pad=1x1 "
                 "dtype=fp16",
        product[] = "matmul x=4096x4096 y=4096x7000",
        half_product[] = "matmul x=4096x4096 y=4096x7000 dtype=fp16";

    CHECK_NEAR(seconds(conv, devices[0], "") / seconds(half, devices[0], ""),
               2037. / 1270, 0.15);
    CHECK_NEAR(seconds(product, devices[0], "") / seconds(half_product, devices[0], ""),
               1, 0.05);
    CHECK(CMP(seconds(conv, devices[1], ""), <, 1.3 * seconds(half, devices[1], "")));
}

/* DeepBench's results of CUDA 7.5 and 8.0 had kernels of 32 columns and parts of k that
 * their cuBLAS lacks: estimated 2.5 to 4 times too fast. A larger batch of as many
 * tiles takes as long. */
TEST(products_of_old_libraries_have_large_tiles)
{
    static const struct measured v[] = {
        {"matmul x=2560x2560 y=2560x16", {0, 0, 358e-6, 162e-6}},
        {"matmul x=1760x1760 y=1760x32", {0, 0, 183e-6}},
        {"matmul x=4096x4096 y=4096x32", {0, 0, 749e-6, 495e-6}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.4);
}

/* Where both operands lie along k they lose by their bytes, unless rows are of 8 KB:
 * estimated 2.8 times too fast on a Titan X (Pascal). A P100 and a GTX 1080 Ti lose
 * nothing by a later cuBLAS: they were estimated 1.15 times too slow. */
TEST(crossed_products_of_old_libraries_are_slow)
{
    static const struct measured old[] = {
        {"matmul x=7680x2560 y=2560x24000 order=1", {0, 0, 339.7e-3, 287.0e-3}},
        {"matmul x=5124x1760 y=1760x9124 order=1", {0, 0, 56.34e-3, 47.78e-3}},
        {"matmul x=6144x2048 y=2048x24000 order=1", {0, 0, 120.0e-3, 92.7e-3}},
    };
    static const struct measured late[] = {
        {"matmul x=512x1530 y=1530x24000 order=1", {4413e-6, 3601e-6}},
        {"matmul x=3072x1024 y=1024x24000 order=1", {17.08e-3, 13.58e-3}},
    };

    check_measured(old, sizeof(old) / sizeof(*old), 0.42);
    check_measured(late, sizeof(late) / sizeof(*late), 0.1);
}

/* Of 64 columns they take a GTX 1080 Ti 1.2 to 4 times as long as plain ones, and a
 * P100 as long. */
TEST(few_crossed_columns_are_slow_on_cores_of_128_lanes)
{
    static const char plain[] = "matmul x=2048x2048 y=2048x64",
                      crossed[] = "matmul x=2048x2048 y=2048x64 order=1";

    CHECK_NEAR(seconds(crossed, devices[0], settings[0]),
               seconds(plain, devices[0], settings[0]), 1e-9);
    CHECK(CMP(seconds(crossed, devices[1], settings[1]), >,
              1.1 * seconds(plain, devices[1], settings[1])));
}

/* As written and added by a second kernel they were estimated 1.3 to 2.2 times too
 * slow. */
TEST(parts_of_products_are_added_in_place)
{
    static const struct measured v[] = {
        {"matmul x=2048x2048 y=2048x64", {91e-6}},
        {"matmul x=512x512 y=512x32", {11e-6}},
    };
    static const struct measured call[] = {
        {"matmul x=512x512 y=512x32", {0, 6e-6}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.25);
    check_measured(call, sizeof(call) / sizeof(*call), 0.65);
}

/* Four were estimated twice too slow, by tiles of 128, one and two 3 to 6 times too
 * fast. */
TEST(products_of_8_bits_of_few_columns_have_kernels_of_their_own)
{
    static const struct measured v[] = {
        {"matmul x=4608x1536 y=1536x4 dtype=int8 to=int32", {0, 39e-6, 0, 41e-6}},
        {"matmul x=6144x2048 y=2048x4 dtype=int8 to=int32", {0, 59e-6, 0, 60e-6}},
        {"matmul x=512x500000 y=500000x1 dtype=int8 to=int32",
         {0, 3396e-6, 0, 3522e-6}},
        {"matmul x=1024x500000 y=500000x2 dtype=int8 to=int32",
         {0, 3770e-6, 0, 3871e-6}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.25);
}

/* A law of few columns answered 129 as 1.2 times faster than 128 of either order, and a
 * GTX 1080 as faster than a GTX 1080 Ti of more cores. */
TEST(more_columns_or_fewer_cores_are_never_faster)
{
    static const char *const chips[] = {"gtx-1080-ti", "gtx-1080", "p40",
                                        "titan-x-pascal", "titan-x-maxwell"};
    static const char *const calls[] = {"calls=library", "calls=single cuda=8.0"};
    static const char *const layers[] = {
        "linear x=%dx2048 out=7680", "linear x=%dx2560 out=7680",
        "matmul x=512x512 y=512x%d order=1", "matmul x=1024x1024 y=1024x%d order=1",
        "matmul x=2048x2048 y=2048x%d order=1"};
    /* 60 tiles are three waves of 20 and of 28 cores, and the 20 have a higher clock.
     */
    static const double FEWER_WAVES = 0.92;

    for (int i = 0; i < 50; i++) {
        const char *const device = chips[i % 5], *const setting = calls[i / 5 % 2];
        double last = 0;

        for (int columns = 16; columns <= 1040; columns++) {
            char spec[100];
            double s;

            snprintf(spec, sizeof(spec), layers[i / 10], columns);
            s = seconds(spec, device, setting);
            if (!(s >= last))
                fprintf(stderr, "%s on %s by %s\n", spec, device, setting);
            CHECK(CMP(s, >=, last));
            if (i < 20 && i % 5 == 1 && columns >= 64)
                CHECK(CMP(s, >=, FEWER_WAVES * seconds(spec, chips[0], setting)));
            last = s;
        }
    }
}

/* F(4x4) came with cuDNN 5.1: estimated 2.1 to 2.3 times too fast. */
TEST(libraries_of_cuda_7_have_no_non_fused_winograd)
{
    static const struct measured v[] = {
        {"conv2d x=16x256x20x84 out=256 kernel=3x3 stride=1x1 pad=1x1 phase=backward "
         "wrt=w",
         {0, 0, 6281e-6, 1562e-6}},
        {"conv2d x=16x128x40x175 out=128 kernel=3x3 stride=1x1 pad=1x1 phase=backward "
         "wrt=w",
         {0, 0, 7391e-6, 2347e-6}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.3);
}

/* Those of TensorFlow 1 had large ones alone, which made up for a slow host. */
TEST(products_of_tensorflow_1_have_all_tiles)
{
    static const char layer[] = "linear x=64x4096 out=512";

    CHECK(CMP(seconds(layer, "p100-pcie-16gb", "activation=none run_mode=graph"), <,
              1.2 * seconds(layer, "p100-pcie-16gb", "run_mode=graph")));
}

/* 3000 x 3000 weights took a K80 0.29 ms with 8 rows, 0.67 with 9 to 32 and 0.69 with
 * 64, and were estimated as if 16 were half of 64. */
TEST(products_of_keplers_have_no_narrow_tiles)
{
    static const char sheet[] = "activation=none run_mode=graph";
    const double s8 = seconds("linear x=8x3000 out=3000", "k80", sheet),
                 s16 = seconds("linear x=16x3000 out=3000", "k80", sheet),
                 s64 = seconds("linear x=64x3000 out=3000", "k80", sheet);

    CHECK_NEAR(s16 / 0.67e-3, 1, 0.2);
    CHECK_NEAR(s64 / 0.69e-3, 1, 0.2);
    CHECK(CMP(s8, <, 0.6 * s16));
}

TEST(a_column_less_of_a_batch_is_no_slower_on_a_kepler)
{
    CHECK(CMP(seconds("matmul x=32x512x128 y=32x128x8", "k80", ""), <=,
              seconds("matmul x=32x512x128 y=32x128x9", "k80", "")));
}

/* One tile of k would keep 12 of 13 cores idle. */
TEST(keplers_cut_k_for_idle_cores)
{
    static const char sheet[] = "activation=none run_mode=graph";

    CHECK(CMP(seconds("linear x=9x8192 out=64", "k80", sheet), <,
              0.25 * seconds("linear x=832x8192 out=64", "k80", sheet)));
    CHECK(CMP(seconds("linear x=64x3000 out=512", "k80", sheet), >,
              0.9 * seconds("linear x=64x3000 out=832", "k80", sheet)));
}

/* Calls of Session.run(), which were estimated as those of PyTorch. */
TEST(sessions_of_tensorflow_1_take_the_host_longer)
{
    static const char one[] = "linear x=1x16 out=16",
                      large[] = "linear x=64x4096 out=4096";
    const char *const gpu = "gtx-1080-ti";
    const double host = seconds(one, gpu, "activation=none");

    CHECK(CMP(host, >, 1e-4));
    /* They come after one another. */
    CHECK(CMP(seconds(large, gpu, "activation=none"), >,
              0.95 * host + seconds(large, gpu, "activation=none run_mode=graph")));
}

/* A kernel for each array: Adam took no longer than in one. */
TEST(optimizers_of_tensorflow_1_pass_once_for_each_array)
{
    static const char step[] = "linear x=32x4000 out=4000 phase=step";
    const char *const p100 = devices[0];
    const double one = seconds(step, p100, "optimizer=Adam") -
                       seconds(step, p100, "optimizer=SGD"),
                 each = seconds(step, p100, "activation=none optimizer=Adam") -
                        seconds(step, p100, "activation=none optimizer=SGD");

    CHECK(CMP(each, >, 1.5 * one));
}

/* Lane operations that Justus' take for a number of the input, of 8 to 15 channels and
 * of 16 to 31, estimated within 15 and 30 %: moved in tiles a Kepler's are no dearer.
 */
TEST(tensorflow_1_moves_few_channels_by_divisions)
{
    static const char *const conv[] = {
        "conv2d x=16x8x512x512 out=8 kernel=1x1 stride=4x4 pad=0x0 dtype=fp32",
        "conv2d x=16x16x512x512 out=16 kernel=1x1 stride=4x4 pad=0x0 dtype=fp32"};
    static const struct {
        const char *name;
        double lanes_hz, measured[2];
    } gpus[] = {{"m60", 16 * 128 * 1.178e9, {200, 172}},
                {"p100-pcie-16gb", 56 * 64 * 1.303e9, {166, 124}},
                {"gtx-1080-ti", 28 * 128 * 1.582e9, {186, 172}},
                {"k80", 13 * 192 * 0.875e9, {237, 165}}};
    double lanes[4][2];

    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
            lanes[i][k] =
                seconds(conv[k], gpus[i].name, "activation=none run_mode=graph") *
                gpus[i].lanes_hz / (16 * 8 * (k + 1) * 512 * 512);
            CHECK_NEAR(lanes[i][k] / gpus[i].measured[k], 1, k ? 0.3 : 0.15);
        }
    CHECK(CMP(lanes[3][1], <, lanes[0][1]));
}

/* They are kernels in CUDA, and TF32's layouts are counted with its products. */
TEST(cpus_and_tf32_take_no_lanes_to_move_channels)
{
    static const char *const device[] = {"epyc-9354", "a100-sxm-40gb"},
                             *const setting[] = {"activation=none run_mode=graph",
                                                 "run_mode=graph"};
    const ft_op op =
        op_of("conv2d x=16x8x512x512 out=8 kernel=1x1 stride=4x4 pad=0x0 dtype=fp32");
    const ft__physics_params theta = ft__physics_default();
    ft__terms t[2];

    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            ft__hardware_spec chip = chip_of(device[i], setting[k], "default", &op);

            ft__physics(&t[k], &op, &chip, &theta);
        }
        CHECK_NEAR(t[0].total_s / t[1].total_s, 1, 1e-9);
    }
}

/* The input is copied where one side is padded more: 73 MB at 484 GB/s. */
TEST(uneven_padding_of_tensorflow_1_is_a_copy)
{
    static const char conv[] =
        "conv2d x=10x17x232x232 out=10 kernel=5x5 stride=2x2 pad=";
    char even[96], uneven[96];

    snprintf(even, sizeof(even), "%s2x2", conv);
    snprintf(uneven, sizeof(uneven), "%s1x1x2x2", conv);
    CHECK(CMP(seconds(uneven, devices[1], "activation=none"), >,
              seconds(even, devices[1], "activation=none") + 1.5e-4));
}

/* Latency of loads, whatever the lanes: 32 columns were estimated 2.7 times too fast. A
 * larger batch is never faster. */
TEST(steps_of_a_pascal_take_clocks_for_each_k)
{
    static const struct measured v[] = {
        {"gru x=1500x32x1024 hidden=1024 phase=backward wrt=x",
         {611.9e-3, 454.9e-3, 0}},
        {"lstm x=25x32x2048 hidden=2048 phase=backward wrt=x", {26.99e-3, 20.16e-3, 0}},
        {"rnn x=50x32x2560 hidden=2560", {19.05e-3, 14.69e-3, 0}},
        {"gru x=1x32x512 hidden=512 phase=backward wrt=x", {191e-6, 183e-6, 0}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.35);
    CHECK(CMP(seconds("lstm x=25x64x1024 hidden=1024", "gtx-1080-ti", ""), >=,
              seconds("lstm x=25x32x1024 hidden=1024", "gtx-1080-ti", "")));
}

/* Of up to 16 columns, and on a Maxwell, they were estimated 1.6 to 2.5 times too fast,
 * in 16 bits, of more columns, 2.9 times. */
TEST(steps_take_clocks_for_each_k)
{
    static const struct measured v[] = {
        {"lstm x=150x32x256 hidden=256 phase=backward wrt=x", {0, 0, 11.3e-3}},
        {"lstm x=25x16x512 hidden=512 phase=backward wrt=x", {0, 1.45e-3, 2.82e-3}},
        {"gru x=750x32x1536 hidden=1536 dtype=fp16", {421.8e-3, 0, 0}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.4);
    /* Nor does any but a P100 have vectors of 16 bits; 4 columns are hardly faster. */
    CHECK(CMP(seconds("lstm x=25x32x1024 hidden=1024 dtype=fp16", "gtx-1080-ti", ""), <,
              1.1 * seconds("lstm x=25x32x1024 hidden=1024", "gtx-1080-ti", "")));
    CHECK(CMP(seconds("lstm x=25x5x256 hidden=256", devices[1], settings[1]), <,
              1.1 * seconds("lstm x=25x4x256 hidden=256", devices[1], settings[1])));
}

/* An LSTM's forward steps take longer, and so do those of up to 16 columns where a core
 * has many rows: estimated 1.2 to 3.2 times too fast. More units or a larger batch are
 * never faster. */
TEST(steps_take_clocks_by_gates_and_rows)
{
    static const struct measured v[] = {
        {"lstm x=150x64x256 hidden=256 phase=backward wrt=x", {0, 0, 15.88e-3, 0}},
        {"lstm x=25x16x512 hidden=512", {1.478e-3, 1.259e-3, 2.56e-3, 1.322e-3}},
        {"gru x=750x32x1536 hidden=1536", {180e-3, 148.2e-3, 0, 153.7e-3}},
        {"rnn x=50x16x2560 hidden=2560 phase=backward wrt=x", {0, 9.17e-3, 0, 9.39e-3}},
    };
    static const char *const kinds[] = {"rnn", "gru", "lstm"};

    check_measured(v, sizeof(v) / sizeof(*v), 0.27);
    for (int i = 0; i < 3 * N_DEVICES * 2; i++) {
        double last = 0;

        for (int n = 5; n <= 70; n++) {
            char spec[120];
            double s;

            snprintf(spec, sizeof(spec), "%s x=25x%dx1024 hidden=1024%s", kinds[i % 3],
                     n, i / 3 / N_DEVICES ? " phase=backward wrt=x" : "");
            s = seconds(spec, devices[i / 3 % N_DEVICES], settings[i / 3 % N_DEVICES]);
            CHECK(CMP(s, >=, last));
            last = s;
        }
    }
}

/* 8 images were estimated 1.5 to 1.8 times too fast. */
TEST(convolutions_of_16_bits_take_16_images)
{
    static const struct measured v[] = {
        {"conv2d x=8x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 dtype=fp16",
         {202e-6, 0, 0}},
        {"conv2d x=8x128x56x56 out=256 kernel=3x3 stride=1x1 pad=1x1 dtype=fp16",
         {975e-6, 0, 0}},
        {"conv2d x=8x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 dtype=fp16 "
         "phase=backward wrt=x",
         {201e-6, 0, 0}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.25);
}

/* 1.7 and 4.3 times as long as in fp32; they were estimated to be faster. */
TEST(gradients_in_steps_of_16_bits_are_slower)
{
    static const char *const v[] = {
        "conv2d x=16x64x80x350 out=128 kernel=5x5 stride=2x2 pad=1x1 phase=backward "
        "wrt=x",
        "conv2d x=16x512x28x28 out=1024 kernel=1x1 stride=2x2 pad=0x0 phase=backward "
        "wrt=x",
    };

    for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
        char half[160];

        snprintf(half, sizeof(half), "%s dtype=fp16", v[i]);
        CHECK(CMP(seconds(half, devices[0], ""), >, seconds(v[i], devices[0], "")));
        for (int d = 1; d < N_DEVICES; d++) /* of them fp32 multiplies */
            CHECK(
                CMP(seconds(half, devices[d], ""), <=, seconds(v[i], devices[d], "")));
    }
}

/* 8 images that are stored in 16 bits and multiplied in fp32 need not be 16. */
TEST(halves_that_are_stored_alone_have_kernels_of_fp32)
{
    static const char few[] =
        "conv2d x=1x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1";
    char half[160];

    snprintf(half, sizeof(half), "%s dtype=fp16", few);
    for (int d = 1; d < N_DEVICES; d++)
        CHECK(CMP(seconds(half, devices[d], ""), <=,
                  1.01 * seconds(few, devices[d], "")));
}

/* One product of 8 bits is not slower than two in one call. */
TEST(products_of_8_bits_in_one_call_have_large_tiles)
{
    static const char one[] = "matmul x=512x2048 y=2048x16 dtype=int8 to=int32",
                      two[] = "matmul x=2x512x2048 y=2x2048x16 dtype=int8 to=int32";

    CHECK(CMP(seconds(two, "gtx-1080-ti", ""), >=, seconds(one, "gtx-1080-ti", "")));
}

/* They were estimated twice as fast: 16 devices lie in two machines. */
TEST(sums_of_many_cross_machines)
{
    static const struct measured v[] = {
        {"collective x=6553600 ranks=16 dtype=fp32", {0, 9221e-6, 10996e-6}},
        {"collective x=6553600 ranks=32 dtype=fp32", {0, 11044e-6, 12395e-6}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.5);
}

/* NCCL waits for each chunk, and a ring of more than four leaves their switch: they
 * were estimated 1.3 to 2.2 times too fast. */
TEST(sums_over_pcie_take_what_nccl_does)
{
    static const struct measured v[] = {
        {"collective x=100000 ranks=4 dtype=fp32", {0, 91e-6, 0, 92e-6}},
        {"collective x=100000 ranks=8 dtype=fp32", {0, 148e-6, 0, 150e-6}},
        {"collective x=64500000 ranks=8 dtype=fp32", {0, 51.8e-3, 0, 51.3e-3}},
    };

    check_measured(v, sizeof(v) / sizeof(*v), 0.2);
}

/* Other makers' and years' were slowed as well. */
TEST(rings_of_more_than_four_are_slow_where_that_was_seen)
{
    static const char *const chips[] = {"rtx-4090", "l4", "rx-7900-xtx", "gtx-1080-ti"};

    for (int i = 0; i < 4; i++)
        CHECK_NEAR(
            seconds("collective x=400000000 ranks=8 dtype=fp32", chips[i], "") /
                seconds("collective x=400000000 ranks=4 dtype=fp32", chips[i], ""),
            i < 3 ? 7 / 6. : 7 / 6. / 0.8, 0.01);
}

/* Without bf16 in its tensor cores a T4 is no faster than in fp32; an RX 7900 XTX has
 * no matrix instructions of fp32. */
TEST(types_without_hardware_take_the_rate_of_vectors)
{
    static const char
        conv[] = "conv2d x=32x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1",
        half[] = "conv2d x=32x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=bf16",
        product[] = "linear x=4096x4096 out=4096";

    CHECK(CMP(seconds(half, "t4", ""), >, 0.8 * seconds(conv, "t4", "")));
    CHECK(CMP(2 * pow(4096, 3) / seconds(product, "rx-7900-xtx", ""), <, 30.7e12));
}
