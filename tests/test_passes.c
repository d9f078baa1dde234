/* What single kernels are known to do, each by what it moves or computes at its limit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "parse_spec.h"
#include "physics/op_kernels.h"

static void chip_of(ft__hardware_spec *out, const char *policy, const ft_op *op)
{
    ft_device *d;

    if (ft_device_load(&d, data_dir, "a30", NULL) != FT_OK)
        exit(1);
    ft__hardware_spec_make(out, ft_device_get(d), "", policy, op);
    ft_device_free(d);
}

static ft__terms terms(const char *spec, const char *policy,
                       const ft__physics_params *c)
{
    const ft_op op = parse(spec);
    ft__hardware_spec chip;
    ft__terms t;

    chip_of(&chip, policy, &op);
    ft__physics(&t, &op, &chip, c);
    return t;
}

/* Seconds of the device alone, with the constants as they are; "a30". */
static double busy(const char *spec, const char *policy)
{
    const ft__physics_params c = ft__physics_default();

    return terms(spec, policy, &c).busy_s;
}

static double value(const char *name)
{
    const ft__physics_params c = ft__physics_default();
    int i = 0;

    while (strcmp(ft__physics_name(i), name) != 0)
        i++;
    return c.v[i];
}

static const double clock_hz = 1440e6, cores = 56, lanes = 10.3e12 / 2;
static const double memory = 933e9 * 0.76 * 1.15;

TEST(statistics_of_a_batch_read_it_twice)
{
    double x = 4.0 * 64 * 8192 * 56 * 56, p = value("norm_passes");
    double train = busy("batchnorm x=64x8192x56x56 train=1", "ieee");

    CHECK_NEAR(busy("batchnorm x=64x8192x56x56", "ieee") / (2 * p * x / memory), 1,
               0.01);
    CHECK_NEAR(train / ((2 * p + 1) * x / memory), 1, 0.01);
    CHECK_NEAR(busy("batchnorm x=64x8192x56x56 train=1 phase=backward", "ieee") /
                   ((3 * p + 2) * x / memory),
               1, 0.01);
}

TEST(a_channel_is_one_blocks_work)
{
    double bytes = 2 * 4.0 * 64 * 256 * 256, more = 4.0 * 64 * 256 * 256;
    double alone =
        (bytes + more / value("norm_passes")) / (value("norm_block") * clock_hz);
    double one = busy("batchnorm x=64x1x256x256 train=1", "ieee");

    CHECK_NEAR(one / alone, 1, 0.02);
    CHECK_NEAR(busy("batchnorm x=64x4x256x256 train=1", "ieee") / one, 1, 0.1);
    CHECK(CMP(busy("batchnorm x=64x1x256x256 train=1 layout=channels_last", "ieee"), <,
              one / 4));
}

TEST(short_rows_end_before_the_next_are_there)
{
    double rows = 1 << 20;

    CHECK_NEAR(busy("layernorm x=1048576x16 norm=1", "ieee") /
                   (rows / cores * value("norm_row") / clock_hz),
               1, 0.05);
}

TEST(wide_rows_of_norms_leave_the_cache)
{
    double wide = busy("layernorm x=65536x4096 norm=1", "ieee"),
           narrow = busy("layernorm x=87381x3072 norm=1", "ieee");

    CHECK_NEAR(wide / narrow, value("norm_wide"), 0.04);
}

TEST(pools_find_their_place_by_divisions)
{
    double results = 64.0 * 64 * 56 * 56, inputs = 64.0 * 64 * 112 * 112;
    double each = (value("pool_place") + 9 * value("pool_tap")) / lanes;
    const char *pool = "maxpool2d x=64x64x112x112 kernel=3x3 stride=2x2 pad=1x1";
    char back[200];

    snprintf(back, sizeof(back), "%s phase=backward", pool);
    CHECK_NEAR(busy(pool, "ieee") / (results * each), 1, 0.02);
    CHECK_NEAR(busy(back, "ieee") / (inputs * each), 1, 0.02);
}

/* None of them knows of tensor cores. */
TEST(depthwise_convolutions_are_the_same_in_any_policy)
{
    const char *spec = "conv2d x=32x144x56x56 out=144 kernel=3x3 stride=1x1 pad=1x1 "
                       "groups=144 phase=backward wrt=w";
    double terms_of_weights = 32.0 * 144 * 56 * 56 * 9;

    CHECK_NEAR(busy(spec, "default") / busy(spec, "ieee"), 1, 0.03);
    CHECK_NEAR(busy(spec, "ieee") / (terms_of_weights * value("direct_sum") / lanes), 1,
               0.03);
}

TEST(an_image_of_three_channels_gains_nothing_by_tf32)
{
    const char *thin = "conv2d x=32x3x224x224 out=64 kernel=7x7 stride=2x2 pad=3x3",
               *wide = "conv2d x=32x32x224x224 out=64 kernel=7x7 stride=2x2 pad=3x3";

    CHECK_NEAR(busy(thin, "default") / busy(thin, "ieee"), 1, 0.05);
    CHECK(CMP(busy(wide, "default"), <, busy(wide, "ieee") / 2));
}

TEST(tf32_leaves_channels_where_they_are_if_that_is_faster)
{
    const char *flat = "conv2d x=32x64x112x112 out=64 kernel=1x1 stride=1x1 pad=0x0",
               *deep = "conv2d x=32x256x112x112 out=64 kernel=1x1 stride=1x1 pad=0x0",
               *square = "conv2d x=32x64x112x112 out=64 kernel=3x3 stride=1x1 pad=1x1";
    double once = 2 * 4.0 * 32 * 64 * 112 * 112 / memory;

    CHECK(CMP(busy(deep, "default"), <, 1.1 * once * (256 + 64) / (64 + 64)));
    CHECK(CMP(busy(flat, "default"), <, 1.25 * once)); /* tiles of 64 steps: starts */
    CHECK(CMP(busy(square, "default"), >, 1.9 * once));
    CHECK(CMP(busy("conv2d x=32x64x112x112 out=64 kernel=3x3 stride=1x1 pad=1x1 "
                   "layout=channels_last",
                   "default"),
              <, busy(square, "default") - 1.9 * once));
}

TEST(a_library_is_called_for_each_gradient)
{
    const ft__physics_params c = ft__physics_default();
    const char *conv = "conv2d x=32x64x8x8 out=64 kernel=1x1 stride=1x1 pad=0x0 phase=";
    static const struct {
        const char *phase;
        double calls;
    } want[] = {{"forward", 1},
                {"backward", 2},
                {"backward wrt=w", 1},
                {"forward_backward", 3}};

    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        char spec[200];

        snprintf(spec, sizeof(spec), "%s%s", conv, want[i].phase);
        CHECK_NEAR(terms(spec, "ieee", &c).launch_s,
                   want[i].calls * value("floor_s") * value("floor_conv"), 1e-9);
    }
    CHECK_NEAR(terms("relu x=64x64 phase=backward", "ieee", &c).launch_s,
               value("floor_s"), 1e-9);
}
