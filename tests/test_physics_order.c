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

/* Measured by vidur on an A100; compilers load 16 B at a time. */
static void threads_that_load_one_number_at_a_time_hold_kernels_back(void)
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

/* Below every cap: the smaller board's, 250 W. */
static void boards_of_one_chip_draw_alike(void)
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

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    snprintf(data_dir, sizeof(data_dir), "%s/data", argv[1]);
    more_work_takes_longer();
    a_better_device_is_never_slower();
    threads_that_load_one_number_at_a_time_hold_kernels_back();
    boards_of_one_chip_draw_alike();
    CHECK_DONE();
}
