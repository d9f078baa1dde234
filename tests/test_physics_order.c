/* The physical estimate: more work is never faster, a better device never slower. */
#include <math.h>

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

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    snprintf(data_dir, sizeof(data_dir), "%s/data", argv[1]);
    more_work_takes_longer();
    a_better_device_is_never_slower();
    CHECK_DONE();
}
