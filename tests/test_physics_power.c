/* The physical estimate under power budgets and at clocks. */
#include <math.h>

#include "physics/power.h"
#include "physics_rig.h"

/* 14 TFLOP/s at 250 W are held at 12 nm, 8.1 at 70 W are not; the budget halved is the
 * rate halved. */
TEST(a_budget_binds_where_it_is_small)
{
    ft_op op = op_of("linear x=8192x8192 out=8192");
    ft__hardware_spec t4 = chip_of("t4", "", "ieee", &op),
                      v100 = chip_of("v100-pcie-32gb", "", "ieee", &op);
    ft__physics_params c = ft__physics_default();
    double u = ft__sustained(&t4, &c);

    CHECK(CMP(ft__sustained(&v100, &c), >, 0.98) && CMP(u, <, 0.64));
    t4.power_w /= 2;
    CHECK_NEAR(ft__sustained(&t4, &c) / u, 0.5, 0.001);
}

/* 400 W hold most of 312 TFLOP/s at 7 nm, 70 W not of 65 at 12 nm; half the budget
 * leaves the square root of a half. */
TEST(tensor_cores_have_a_budget_too)
{
    CHECK(CMP(tensor_rate("a100-sxm-80gb", ""), >, 0.75 * 312e12));
    CHECK(CMP(tensor_rate("t4", ""), <, 0.75 * 65e12));
    CHECK_NEAR(tensor_rate("t4", "power=35W") / tensor_rate("t4", ""), sqrt(0.5), 0.03);
}

/* An L4 is held to half of what its chip draws, which waits with 29 of its 72 W:
 * published products of 8192 have 54 and 59 TFLOP/s of 121. */
TEST(the_waiting_chip_is_off_the_budget_of_a_small_board)
{
    CHECK(CMP(tensor_rate("l4", ""), <, 1.25 * 53.8e12));
}

static int halved(const char *device, const char *dtype)
{
    char spec[64];
    ft_op op;

    snprintf(spec, sizeof(spec), "linear x=8192x8192 out=8192 dtype=%s", dtype);
    op = op_of(spec);
    return chip_of(device, "", "ieee", &op).halved;
}

/* Published products reach 0.75 of a B200's peak and, of 10240, 0.96 of an H20's. A
 * GeForce's 8-bit integers are not held back, as its other types are. */
TEST(newer_tensor_cores_need_less_and_halved_ones_wait_less)
{
    CHECK(CMP(tensor_rate("b200", ""), >, 0.65 * 2250e12));
    CHECK(CMP(tensor_rate("h20", ""), >, 0.93 * 148e12));
    CHECK(halved("rtx-4090", "fp16") && halved("rtx-4090", "fp8e4m3"));
    CHECK(!halved("rtx-4090", "int8") && !halved("rtx-5090", "fp4"));
    CHECK(halved("h20", "int8") && halved("l40", "int8") && halved("a10g", "fp8e4m3"));
    CHECK(!halved("rtx-4000-ada", "fp16") && !halved("a10", "fp8e4m3"));
}

/* Large products run at the clock that the power budget leaves, unless they are over
 * before it falls; what leaves tensor cores idle keeps its clock. */
TEST(a_budget_binds_after_a_while_where_tensor_cores_draw)
{
    static const char large[] = "linear x=8192x8192 out=8192 dtype=bf16",
                      small[] = "linear x=16x8192 out=8192 dtype=bf16";

    CHECK(CMP(seconds(large, "h200-sxm", "run_mode=graph"), >,
              1.15 * seconds(large, "h200-sxm", "run_mode=graph loop=short")));
    CHECK_NEAR(seconds(small, "h200-sxm", "run_mode=graph") /
                   seconds(small, "h200-sxm", "run_mode=graph loop=short"),
               1, 0.02);
}

/* A T4's 70 W bind while all of its cores multiply, not for one tile after another. */
TEST(few_cores_stay_below_the_budget)
{
    const double few = seconds("lstm x=100x8x256 hidden=64", "t4", ""),
                 capped = seconds("lstm x=100x8x256 hidden=64", "t4", "power=35W");

    CHECK(CMP(capped, <, 1.1 * few));
    CHECK(CMP(seconds("matmul x=4096x4096 y=4096x4096", "t4", "power=35W"), >,
              1.5 * seconds("matmul x=4096x4096 y=4096x4096", "t4", "")));
}

/* Of a CUDA graph: as many clocks on every GPU, and no longer than a launched one. */
TEST(a_kernel_of_a_graph_starts_by_the_clock)
{
    ft__physics_params c = ft__physics_default();
    const double clocks = value(&c, "replay_clocks");

    CHECK_NEAR(seconds("relu x=1x1", "t4", "run_mode=graph"), clocks / 1590e6, 2e-9);
    CHECK_NEAR(seconds("relu x=1x1", "h100-sxm", "run_mode=graph clock=1500MHz"),
               clocks / 1500e6, 4e-9);
    CHECK_NEAR(seconds("relu x=1x1", "t4", "run_mode=graph clock=795MHz"),
               value(&c, "kernel_s"), 2e-9);
}

static ft__power_reading read_in(double steady_w, double cap_w, double loop_s)
{
    return ft__power_read(steady_w, 100, cap_w, 1, loop_s);
}

/* Read every 100 ms, first as the loop begins: of 3000 calls of 10 us what was before
 * alone, of 70 us that once and twice what they draw; of a second what they draw, or
 * halfway where the sensor averages a second. What it may show changes with no jump,
 * and is a number where no cap is known. */
TEST(a_short_loop_shows_what_was_before)
{
    const ft__power_reading steady = ft__power_read(700, 100, 700, NAN, 1e-5),
                            brief = ft__power_read(700, 100, 700, 3000, 1e-5),
                            longer = ft__power_read(700, 100, 700, 3000, 7e-5),
                            full = ft__power_read(700, 100, 700, 3000, 1e-3);

    CHECK_NEAR(steady.low, 700, 0);
    CHECK_NEAR(steady.value, 700, 0);
    CHECK_NEAR(steady.high, 700, 0);
    CHECK_NEAR(brief.value, 100, 1e-9);
    CHECK_NEAR(longer.value, (100 + 2 * 700) / 3.0, 1e-9);
    CHECK_NEAR(full.value, 700, 1e-9);
    CHECK_NEAR(full.low, 400, 1e-9);
    for (double s = 1e-3; s < 3; s *= 1.02) {
        const ft__power_reading r = read_in(200, 700, s),
                                more = read_in(200, 700, 1.02 * s);

        CHECK(CMP(r.low, <=, r.value) && CMP(r.value, <=, r.high));
        CHECK(CMP(r.value, <=, more.value));
        CHECK(CMP(more.high, <=, r.high) && CMP(r.high - more.high, <, 6));
        CHECK(isfinite(read_in(200, INFINITY, s).high));
    }
    CHECK_NEAR(ft__power_read(200, 100, 700, 3000, 7e-5).high, 647.5, 1e-9);
}

TEST(at_any_clock_a_product_costs_what_it_costs_alone)
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

            ft__hardware_spec_at(&chip, &f, at.clock_hz, "ieee", &op);
            ft__physics(&alone, &op, &chip, &c);
            ft__op_range_cost(&t, &range, &at, 1);
            CHECK(EQ(t.busy_s, alone.busy_s));
        }
    }
    ft__arena_free(&arena);
}
