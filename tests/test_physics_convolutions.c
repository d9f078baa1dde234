/* Physical estimates of convolutions: beside products, and as they were measured. */
#include "physics_rig.h"

/* 16-bit convolutions are as fast as products with channels last, slower with channels
 * first; three channels are not, on vectors. */
TEST(convolutions_reach_what_their_kernels_do)
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
TEST(steps_of_transposed_convolutions_are_skipped_on_tensor_cores)
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
TEST(rounded_convolutions_have_the_budget_of_tensor_cores)
{
    static const char conv[] = "conv2d x=64x512x28x28 out=512 kernel=3x3 "
                               "stride=1x1 pad=1x1";
    const double flops = 2.0 * 64 * 28 * 28 * 512 * 512 * 9;

    CHECK(CMP(flops / rounded_seconds(conv, "a10"), >, 0.5 * 62.5e12));
}

/* To start a tile takes the same time on tensor cores, which are 8 times as fast as an
 * A100's vectors and not faster than an A10G's: short products lose more there. */
TEST(short_products_lose_more_on_fast_tensor_cores)
{
    static const char
        deep[] = "conv2d x=64x2048x28x28 out=128 kernel=1x1 stride=1x1 pad=0x0",
        flat[] = "conv2d x=64x128x28x28 out=2048 kernel=1x1 stride=1x1 pad=0x0";

    CHECK(CMP(rounded_seconds(flat, "a100-sxm-40gb") /
                  rounded_seconds(deep, "a100-sxm-40gb"),
              >, 1.1 * rounded_seconds(flat, "a10g") / rounded_seconds(deep, "a10g")));
}

/* Sixteen results of three channels take a tile of 64: KernelBench's on a T4, 0.2 ms.
 */
TEST(few_channels_fill_tiles_of_64_results)
{
    const double few = seconds(
                     "conv2d x=128x3x32x32 out=16 kernel=3x3 stride=1x1 pad=0x0", "t4",
                     ""),
                 all = seconds(
                     "conv2d x=128x3x32x32 out=64 kernel=3x3 stride=1x1 pad=0x0", "t4",
                     "");

    const double each = seconds("conv2d x=32x96x56x56 out=96 kernel=3x3 stride=1x1 "
                                "pad=1x1 groups=48",
                                "t4", ""),
                 twice = seconds("conv2d x=32x96x56x56 out=96 kernel=3x3 stride=1x1 "
                                 "pad=1x1 groups=24",
                                 "t4", "");

    CHECK(CMP(each, <, 2 * twice)); /* a group is no image */
    CHECK(CMP(few, >, 0.13e-3) && CMP(few, <, 0.27e-3) && CMP(all, <, 2.2 * few));
}

/* KernelBench's on an A10G and a T4, 0.72 and 2.35 ms with 0.05 of the host's: what is
 * read to start a tile is not read once more. */
TEST(few_channels_are_read_once)
{
    static const char spec[] =
        "conv2d x=16x3x256x256 out=64 kernel=3x3 stride=1x1 pad=0x0";
    const double a10g = rounded_seconds(spec, "a10g"), t4 = rounded_seconds(spec, "t4");

    CHECK(CMP(a10g, >, 0.65e-3) && CMP(a10g, <, 0.76e-3));
    CHECK(CMP(t4, >, 2.1e-3) && CMP(t4, <, 2.5e-3));
}

/* Channels that lie last are padded to TF32's four: KernelBench's on an A100, 0.34 ms
 * but for its copies. */
TEST(few_channels_that_lie_last_are_padded)
{
    const double s =
        rounded_seconds("conv2d x=16x3x256x256 out=64 kernel=3x5 stride=1x1 pad=0x0 "
                        "layout=channels_last",
                        "a100-sxm-40gb");

    CHECK(CMP(s, >, 0.28e-3) && CMP(s, <, 0.42e-3));
}

TEST(amds_gpus_start_no_kernels_to_pad)
{
    CHECK(CMP(rounded_seconds("conv2d x=1x3x16x16 out=16 kernel=3x3 stride=1x1 pad=1x1 "
                              "layout=channels_last",
                              "mi300x"),
              <=,
              rounded_seconds("conv2d x=1x4x16x16 out=16 kernel=3x3 stride=1x1 pad=1x1 "
                              "layout=channels_last",
                              "mi300x")));
}

static double laid_last(int in, int out, int groups)
{
    char spec[160];

    snprintf(spec, sizeof(spec),
             "conv2d x=16x%dx128x128 out=%d kernel=7x7 stride=1x1 pad=3x3 groups=%d "
             "layout=channels_last",
             in, out, groups);
    return rounded_seconds(spec, "a100-sxm-40gb");
}

/* Padded is what is read, and not in groups: one channel is multiplied as four. */
TEST(results_and_groups_are_not_padded)
{
    CHECK(CMP(laid_last(1, 512, 1), >, 0.9 * laid_last(3, 512, 1)));
    CHECK(CMP(laid_last(256, 3, 1), >, 1.2 * laid_last(256, 4, 1)));
    CHECK(CMP(laid_last(48, 512, 16), >, 1.2 * laid_last(64, 512, 16)));
}

/* KernelBench's 3-D convolution with three input channels takes a T4 85 ms, an A10 32,
 * and an A100 6: that one has other kernels. The A10's power budget does not bind
 * there, as it does in products. */
TEST(few_channel_conv3d_has_slow_kernels)
{
    static const char spec[] =
        "conv3d x=16x3x64x64x64 out=64 kernel=3x5x7 stride=1x1x1 "
        "pad=0x0x0",
                      product[] = "matmul x=4096x4096 y=4096x4096";
    const double a10_s = seconds(spec, "a10", "");

    CHECK(CMP(seconds(spec, "t4", ""), >, 0.8 * 85e-3));
    CHECK(CMP(a10_s, >, 0.85 * 32e-3) && CMP(a10_s, <, 1.15 * 32e-3));
    CHECK(CMP(a10_s / seconds(spec, "a10g", ""), <, 1.2));
    CHECK(CMP(seconds(product, "a10", "") / seconds(product, "a10g", ""), >, 1.3));
    CHECK(CMP(seconds(spec, "a100-sxm-40gb", ""), <, 1.6 * 6.2e-3));
}
