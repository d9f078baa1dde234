/* Networks on devices that nobody measured. */
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "foretell/predictor.h"
#include "physics/power.h"
#include "predict/query/network.h"

static ft_graph *read_list(const char *text)
{
    ft_graph *g = NULL;

    CHECK_EQ(ft_import_ops(&g, text, strlen(text), "list", NULL), FT_OK);
    return g;
}

static ft_status ask_of(ft__network_estimate *e, const char *device, ft__device_use on,
                        const ft_graph *g, ft_error *err)
{
    ft_device *d;
    ft_status st = ft_device_load(&d, data_dir, device, err);

    CHECK_EQ(st, FT_OK);
    on.device = d;
    st = ft__predict_network(e, NULL, &on, g, err);
    ft_device_free(d);
    return st;
}

static ft_status ask(ft__network_estimate *e, const char *device, const char *setting,
                     const char *policy, const ft_graph *g, ft_error *err)
{
    return ask_of(e, device, (ft__device_use){.setting = setting, .policy = policy}, g,
                  err);
}

/* Time, power and energy of a list; the rest is thrown away. */
static ft__network_estimate totals(const char *device, const char *setting,
                                   const char *policy, const char *text)
{
    ft_graph *g = read_list(text);
    ft__network_estimate e;

    CHECK_EQ(ask(&e, device, setting, policy, g, NULL), FT_OK);
    ft__network_estimate_free(&e);
    ft_graph_free(g);
    return e;
}

static const char large[] = "conv2d x=64x256x56x56 out=256 kernel=3x3 stride=1x1 "
                            "pad=1x1 dtype=fp32 *10\n";
static const char moving[] = "relu x=64x256x56x56 dtype=fp32 *10\n";
static const char apart[] = "conv2d x=64x256x56x56 out=256 kernel=3x3 stride=1x1 "
                            "pad=1x1 groups=256 dtype=fp32\n";
static const char small[] = "relu x=1x8 dtype=fp32 *100\n";

/* With a model loaded and nothing to do, at the highest clocks: nvidia-smi and rocm-smi
 * in reports on GitHub (docs/notes/power.md), which for one device (V100 SXM2: 53 and
 * 66 W) lie 0.11 from their mean. A board that is held below what its chip would draw
 * waits with more than its share; a T4's 23 W are less than any. */
TEST(a_waiting_board_draws_what_its_chip_does)
{
    static const struct {
        const char *device;
        double w, within;
    } seen[] = {{"l4", 29, 0.11},
                {"t4", 30.5, 0.27},
                {"rtx-a4000", 38, 0.11},
                {"mi300x", 191, 0.11}};
    const ft__physics_params theta = ft__physics_default();

    for (size_t i = 0; i < sizeof(seen) / sizeof(*seen); i++) {
        ft_device *d;

        CHECK_EQ(ft_device_load(&d, data_dir, seen[i].device, NULL), FT_OK);
        CHECK_NEAR(ft__idle_power(&theta, ft_device_get(d)), seen[i].w,
                   seen[i].within * seen[i].w);
        ft_device_free(d);
    }
}

/* What sustains the peak is fitted to times, which say nothing of what waits. */
TEST(a_fit_does_not_change_what_a_board_waits_with)
{
    const ft__physics_params theta = ft__physics_default();
    ft__physics_params half = theta;
    ft_device *d;

    half.v[FT__C_sustain_power] *= 2;
    CHECK_EQ(ft_device_load(&d, data_dir, "l4", NULL), FT_OK);
    CHECK_NEAR(ft__idle_power(&half, ft_device_get(d)) /
                   ft__idle_power(&theta, ft_device_get(d)),
               1, 0);
    ft_device_free(d);
}

TEST(the_busier_of_host_and_device_sets_the_time)
{
    ft__network_estimate e = totals("a30", NULL, NULL, large);

    CHECK(
        CMP(e.busy_s, >, e.host_s) && CMP(e.time.value, >, e.busy_s) &&
        CMP(e.time.value, <, e.busy_s + e.host_s)); /* the first launch is before it */
    CHECK(EQ(e.time.basis, FT_BASIS_SCALED) && EQ(e.n_scaled, 1) &&
          EQ(e.n_roofline, 0));
    CHECK(CMP(e.time.low, <, e.time.value) && CMP(e.time.value, <, e.time.high));
    e = totals("a30", NULL, NULL, small);
    CHECK(
        CMP(e.host_s, >, e.busy_s) && CMP(e.time.value, >, e.host_s) &&
        CMP(e.time.value, <, e.host_s + e.busy_s)); /* the last operation is after it */
}

/* ONNX Runtime, one core of a Zen 4: four convolutions take 8.49 ms in 8 bits, 32.9 in
 * fp32. Of others nothing was measured. */
TEST(cpus_that_add_up_products_of_8_bits_are_faster_in_them)
{
    static const char *const devices[] = {"epyc-9654", "epyc-9354", "graviton-2",
                                          "graviton-3", "xeon-platinum-8380"};
    static const char of[][100] = {"conv2d x=1x256x28x28 out=256 kernel=3x3 stride=1x1 "
                                   "pad=1x1 dtype=fp32\n",
                                   "conv2d x=1x256x28x28 out=256 kernel=3x3 stride=1x1 "
                                   "pad=1x1 dtype=int8\n"};

    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
        const double gain = totals(devices[i], "threads=1", NULL, of[0]).time.value /
                            totals(devices[i], "threads=1", NULL, of[1]).time.value;

        CHECK(CMP(gain, >, 1));
        if (i < 2)
            CHECK_NEAR(gain, 3.9, 0.3);
        if (i == 3) /* SMMLA */
            CHECK(CMP(gain, >, 6));
    }
}

/* They had an x86 server's, 8.6 times as fast as a Nano's; a TX1 has its Cortex-A57. */
TEST(modules_have_slow_hosts)
{
    static const char *const devices[] = {"jetson-tk1", "jetson-tx1", "jetson-tx2",
                                          "jetson-agx-thor"};
    const double nano_s = totals("jetson-nano", NULL, NULL, small).host_s;

    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
        const double host_s = totals(devices[i], NULL, NULL, small).host_s;

        CHECK(CMP(host_s, >, 0.35 * nano_s) && CMP(host_s, <, nano_s));
    }
}

/* Kernels of graphs have a least time of their own, however the graph is asked for. */
TEST(a_graph_is_one_by_its_setting_and_by_its_run_mode)
{
    ft_graph *g = read_list(small);
    ft__network_estimate e;

    CHECK_EQ(ask_of(&e, "h200-sxm", (ft__device_use){.run_mode = "graph"}, g, NULL),
             FT_OK);
    CHECK(EQ(e.busy_s, totals("h200-sxm", "run_mode=graph", NULL, small).busy_s));
    CHECK(CMP(e.busy_s, <, 0.8 * totals("h200-sxm", NULL, NULL, small).busy_s));
    ft__network_estimate_free(&e);
    ft_graph_free(g);
}

/* ResNet-50's heaviest layer, ten times: no device is faster than its roofline. */
TEST(nothing_is_faster_than_the_roofline)
{
    static const char *const devices[] = {"a30", "t4", "p100-pcie-16gb",
                                          "jetson-agx-xavier", "v100-sxm2-16gb"};
    ft_graph *g = read_list(moving);

    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
        ft__network_estimate e, bound;
        ft_device *d;

        CHECK_EQ(ask(&e, devices[i], NULL, "ieee", g, NULL), FT_OK);
        CHECK_EQ(ft_device_load(&d, data_dir, devices[i], NULL), FT_OK);
        CHECK_EQ(ft__predict_network_roofline(&bound, ft_device_get(d), g, NULL),
                 FT_OK);
        CHECK(CMP(e.busy_s, >, bound.time.value) &&
              CMP(e.busy_s, <, 3 * bound.time.value));
        ft__network_estimate_free(&e);
        ft__network_estimate_free(&bound);
        ft_device_free(d);
    }
    ft_graph_free(g);
}

TEST(the_clock_scales_what_computes_and_not_what_moves)
{
    ft__network_estimate fast = totals("a30", NULL, "ieee", large),
                         slow = totals("a30", "clock=720MHz", "ieee", large);

    CHECK(CMP(slow.time.value, >, 1.7 * fast.time.value) &&
          CMP(slow.time.value, <=, 2.001 * fast.time.value));
    CHECK(CMP(slow.power.value, <, fast.power.value));
    fast = totals("a30", NULL, NULL, moving);
    slow = totals("a30", "clock=720MHz", NULL, moving);
    CHECK_NEAR(slow.time.value / fast.time.value, 1, 0.05);
    CHECK(CMP(slow.energy.value, <, fast.energy.value));
}

/* 250 W hold products in fp32 below 1410 MHz on an A100 PCIe: a clock above what they
 * leave changes nothing, and one below it costs less than the clock says; the 400 W of
 * an SXM board suffice. A GPT-2 of EnergAIzer's takes 72 ms at 1320 and 1410 MHz and
 * 1.26 times as long at 960. */
TEST(a_clock_that_power_does_not_leave_costs_nothing)
{
    static const char *const pcie = "a100-pcie-40gb", *const sxm = "a100-sxm-40gb";
    const double top = totals(pcie, NULL, "ieee", large).time.value,
                 low = totals(pcie, "clock=960MHz", "ieee", large).time.value;

    CHECK_NEAR(totals(pcie, "clock=1410MHz", "ieee", large).time.value / top, 1, 1e-9);
    CHECK_NEAR(totals(pcie, "clock=1340MHz", "ieee", large).time.value / top, 1, 0.01);
    CHECK(CMP(low / top, >, 1.25) && CMP(low / top, <, 1.35));
    CHECK(CMP(totals(sxm, "clock=960MHz", "ieee", large).time.value /
                  totals(sxm, NULL, "ieee", large).time.value,
              >, 1.05 * low / top));
}

/* Busy time of a list under a setting. */
static double time_of(const ft_device *d, const char *setting, const ft_graph *g)
{
    ft__network_estimate e;
    double s;

    CHECK_EQ(ft__predict_network(
                 &e, NULL,
                 &(ft__device_use){.device = d, .setting = setting, .policy = "ieee"},
                 g, NULL),
             FT_OK);
    s = e.busy_s;
    ft__network_estimate_free(&e);
    return s;
}

static void no_time_falls_with_the_clock_of(const ft_device *d, const ft_graph *g)
{
    const ft_device_facts *f = ft_device_get(d);
    char setting[64], cap[32] = "";

    for (int capped = 0; capped < 1 + (f->tdp_w > 0); capped++) {
        double before = 0;

        if (capped)
            snprintf(cap, sizeof(cap), " power=%.0fW", 0.8 * f->tdp_w);
        for (int percent = 100; percent > 30; percent -= 2) {
            double s;

            snprintf(setting, sizeof(setting), "clock=%.0fkHz%s",
                     percent * f->boost_clock_hz / 1e5, cap);
            s = time_of(d, setting, g);
            CHECK(CMP(s, >=, (1 - 1e-9) * before));
            before = s;
        }
    }
}

/* A cap of a hundredth of the TDP less never takes less time, nor a tenth more: power
 * falls with the clock, and with what is done in a second. */
static void time_rises_gradually_under_caps_of(const ft_device *d, const ft_graph *g)
{
    const double tdp_w = ft_device_get(d)->tdp_w;
    double before = time_of(d, "", g);
    char cap[32];

    for (int percent = 100; percent >= 40 && tdp_w > 0; percent--) {
        double s;

        snprintf(cap, sizeof(cap), "power=%.2fW", percent * tdp_w / 100);
        s = time_of(d, cap, g);
        CHECK(CMP(s, >=, (1 - 1e-9) * before) && CMP(s, <, 1.1 * before));
        before = s;
    }
}

static bool is_gpu_of_known_clock(const ft_device *d)
{
    const ft_device_facts *f = ft_device_get(d);

    return strcmp(f->type, "gpu") == 0 && f->boost_clock_hz > 0 && f->peak_fp32 > 0 &&
           f->cores > 0 && f->bandwidth_bytes_per_s > 0;
}

/* Of every GPU that has a file, capped and not. */
TEST(times_go_with_clocks_and_caps)
{
    static const char *const lists[] = {
        "maxpool2d x=64x256x56x56 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32\n",
        apart,
        "conv2d x=64x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32\n",
        "linear x=4096x1024 out=4096 dtype=fp32\n",
        "linear x=4096x1024 out=4096 dtype=fp16\n",
        "softmax x=64x12x512x512 axis=3 dtype=fp32\n"};
    enum { N_LISTS = sizeof(lists) / sizeof(*lists) };
    ft_graph *g[N_LISTS];
    size_t n_names, n = 0;
    char **names;

    for (size_t i = 0; i < N_LISTS; i++)
        g[i] = read_list(lists[i]);
    CHECK_EQ(ft_device_names(&names, &n_names, data_dir, NULL), FT_OK);
    for (size_t k = 0; k < n_names; k++) {
        ft_device *d;

        CHECK_EQ(ft_device_load(&d, data_dir, names[k], NULL), FT_OK);
        n += is_gpu_of_known_clock(d);
        for (size_t i = 0; i < N_LISTS && is_gpu_of_known_clock(d); i++) {
            no_time_falls_with_the_clock_of(d, g[i]);
            time_rises_gradually_under_caps_of(d, g[i]);
        }
        ft_device_free(d);
    }
    CHECK(CMP(n, >, 50));
    ft_device_names_free(names, n_names);
    for (size_t i = 0; i < N_LISTS; i++)
        ft_graph_free(g[i]);
}

/* A device that waits for the host most of the time draws less where voltage and clock
 * are lower; no less than if all of it switched, which goes with f V^2, at the lowest
 * voltage that chips allow, about three quarters of the highest. */
TEST(a_device_that_waits_draws_less_at_a_lower_voltage)
{
    const ft__network_estimate as_it_comes = totals("a30", NULL, NULL, small),
                               low = totals("a30", "clock=600MHz", NULL, small),
                               top = totals("a30", "clock=1440MHz", NULL, small);

    CHECK(CMP(low.host_s, >, 3 * low.busy_s));
    CHECK_NEAR(low.time.value, as_it_comes.time.value, low.busy_s);
    CHECK(CMP(low.power.value, <, 0.9 * as_it_comes.power.value) &&
          CMP(low.power.value, >, 600. / 1440 * 0.75 * 0.75 * as_it_comes.power.value));
    CHECK_NEAR(top.power.value, as_it_comes.power.value, 1e-9);
}

/* What waits at the lowest clock draws what GDDR does; LPDDR draws less. */
TEST(only_gddr_draws_whatever_the_clock)
{
    static const char *const lpddr[] = {"jetson-agx-orin-64gb", "jetson-agx-thor",
                                        "gb10"};
    const double gddr = totals("rtx-2080-ti", "clock=300MHz", NULL, small).power.value /
                        totals("rtx-2080-ti", NULL, NULL, small).power.value;

    CHECK(CMP(gddr, >, 0.6));
    for (size_t i = 0; i < sizeof(lpddr) / sizeof(*lpddr); i++)
        CHECK(CMP(totals(lpddr[i], "clock=300MHz", NULL, small).power.value, <,
                  0.6 * totals(lpddr[i], NULL, NULL, small).power.value));
}

/* What the power of a T4 holds back of products in fp32 (half of its rate) is not given
 * again when a cap lowers the clock. */
TEST(a_cap_is_kept_and_costs_time)
{
    ft__network_estimate free = totals("v100-sxm2-16gb", NULL, NULL, large),
                         capped = totals("v100-sxm2-16gb", "power=100W", NULL, large);

    CHECK(CMP(free.power.value, >, 100) && CMP(capped.power.value, <=, 100) &&
          CMP(capped.power.high, <=, 100));
    CHECK(CMP(capped.time.value, >, free.time.value));
    CHECK_NEAR(capped.energy.value, capped.power.value * capped.time.value,
               1e-9 * capped.energy.value);
    free = totals("t4", NULL, NULL, large);
    capped = totals("t4", "power=35W", NULL, large);
    CHECK(CMP(capped.time.value, >, 1.5 * free.time.value) &&
          CMP(capped.time.value, <, 2.5 * free.time.value));
}

TEST(phases_add_up_to_the_step)
{
    ft__network_estimate e = totals("a30", NULL, NULL,
                                    "linear x=4096x1024 out=1024 dtype=fp32 *4\n"
                                    "linear x=4096x1024 out=1024 dtype=fp32 "
                                    "phase=backward *4\n");
    double sum = 0;

    for (int p = 0; p < FT_PHASE_COUNT; p++)
        sum += e.phase_time[p].value;
    CHECK_NEAR(sum, e.time.value, 1e-12);
    CHECK(CMP(e.phase_time[FT_PHASE_BACKWARD].value, >,
              1.5 * e.phase_time[FT_PHASE_FORWARD].value));
}

TEST(what_is_not_known_is_said)
{
    ft_graph *g = read_list(large);
    ft__network_estimate e = totals("epyc-9654", NULL, NULL, large);
    ft_error err = {0};

    CHECK(CMP(e.time.value, >, 0) && isnan(e.energy.value) &&
          EQ(e.energy.basis, FT_BASIS_UNAVAILABLE) && HAS(e.energy.why, "CPU"));
    CHECK_EQ(ask(&e, "iphone-6", NULL, NULL, g, &err), FT_ENOTFOUND);
    CHECK_EQ(strstr(err.msg, "iphone-6: its file does not say"), err.msg);
    CHECK_EQ(ask(&e, "a30", "clock=9000MHz", NULL, g, &err), FT_ENOTFOUND);
    CHECK(HAS(err.msg, "its highest clock is 1440 MHz"));
    ft_graph_free(g);
}

static double width(const ft_estimate *e)
{
    return e->high / e->low;
}

/* Of many devices left out, or of few; of convolutions in TF32, which are one product,
 * or on vectors, where libraries choose among algorithms; and where neither host nor
 * device decides, both do not err the same way at once. */
TEST(intervals_are_as_wide_as_devices_left_out_showed)
{
    static const char both[] = "relu x=16x256x56x56 dtype=fp32 *10\n"
                               "relu x=1x8 dtype=fp32 *50\n",
                      trained[] = "relu x=16x256x56x56 phase=backward dtype=fp32 *10\n";
    const ft__network_estimate nvidia = totals("a30", NULL, NULL, moving),
                               amd = totals("mi100", NULL, NULL, moving),
                               host = totals("a30", NULL, NULL, small),
                               mixed = totals("a30", NULL, NULL, both);
    const ft__network_estimate product = totals("a30", NULL, NULL, large),
                               algorithm = totals("a30", NULL, "ieee", large),
                               step = totals("a30", NULL, NULL, trained);

    CHECK(CMP(width(&nvidia.time), <, 0.9 * width(&amd.time)));
    CHECK(CMP(width(&product.time), <, 0.8 * width(&algorithm.time)));
    CHECK(CMP(mixed.host_s, >, 0.3 * mixed.busy_s) &&
          CMP(mixed.busy_s, >, 0.3 * mixed.host_s));
    CHECK(CMP(width(&mixed.time), <, width(&host.time)));
    /* Power alone has 2.02. */
    CHECK(CMP(width(&algorithm.energy), <, 1.01 * fmax(2.02, width(&algorithm.time))));
    /* Of training steps joules of 70 % lay within that, of 83 % within both together.
     */
    CHECK_NEAR(log(width(&step.energy)), hypot(log(2.014), log(width(&step.time))),
               0.01);
}
