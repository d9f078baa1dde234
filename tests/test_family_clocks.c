/* Predictors for a device that was measured at some clocks: others are answered by
 * them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/prng.h"
#include "family_rig.h"
#include "graph/build.h"
#include "import/list.h"
#include "predict/query/network.h"

enum { N_OPS = 60 };

/* Large products on an A30 of our own making: a part of the time goes with the clock,
 * more of it than specifications say, the rest does not. */
static double swept_s(const ft_op *op, const ft_device_facts *d, double clock_hz)
{
    ft_cost c;

    ft_op_cost(op, &c);
    return 20e-6 + 1.4 * c.flops / d->peak_fp32 * d->boost_clock_hz / clock_hz +
           4 * (c.bytes_read + c.bytes_written) / d->bandwidth_bytes_per_s;
}

static double swept_w(double clock_hz)
{
    return 40 + 100 * clock_hz / 1.2e9;
}

static ft_op large_product(unsigned i)
{
    ft__prng p = ft__prng_stream(11, i);
    char spec[200];
    ft_op op;

    snprintf(spec, sizeof(spec), "linear x=%ux%u out=%u dtype=fp32",
             2000 + ft__prng_below(&p, 2000), 1000 + ft__prng_below(&p, 3000),
             1000 + ft__prng_below(&p, 3000));
    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
    return op;
}

static void fill_swept(ft_store *s, const ft_device *d, const char *setting,
                       double clock_hz)
{
    int64_t run;

    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
    for (unsigned i = 0; i < N_OPS; i++) {
        const ft_op op = large_product(i);
        char spec[1024];
        ft_key key = {"a30", setting, "torch", "2.3", spec, "forward", "ieee", "time"};
        ft_measurement m = {.unit = "s", .error = NAN, .n = 1};

        ft_op_print(&op, spec, sizeof(spec));
        m.value = swept_s(&op, ft_device_get(d), clock_hz);
        CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
        key.metric = "power";
        m.value = swept_w(clock_hz);
        CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
    }
}

static ft__network_estimate ask_at(const ft_predictor *p, const ft_device *d,
                                   const ft_op *op, const char *setting)
{
    const ft__device_use on = {.device = d, .setting = setting};
    ft__build *b = ft__build_new("product");
    ft__network_estimate e;
    ft_graph *g;

    ft__list_op(b, "", 0, op, 1);
    CHECK_EQ(ft__build_finish_take(&g, b, NULL), FT_OK);
    CHECK_EQ(ft__predict_network(&e, p, &on, g, NULL), FT_OK);
    ft_graph_free(g);
    return e;
}

TEST(clocks_that_were_measured_tell_of_others)
{
    static const struct {
        const char *setting;
        double clock_hz;
        double time, power; /* most error */
    } asked[] = {{"clock=800MHz", 8e8, 0.03, 0.1},
                 {"clock=1000MHz", 1e9, 0.03, 0.1},
                 {"clock=1400MHz", 1.4e9, 0.03, 0.1},
                 {"clock=450MHz", 4.5e8, 0.06, 0.1}};
    const ft_train_options how = {.methods = 1u << FT_METHOD_EXTRA, .forget = 1};
    const ft_op op = large_product(3);
    ft__network_estimate e[4], low, high;
    ft_device *d;
    ft_predictor *p;
    ft_store *s;

    CHECK_EQ(ft_device_load(&d, data_dir, "a30", NULL), FT_OK);
    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    fill_swept(s, d, "clock=600MHz", 6e8);
    fill_swept(s, d, "clock=1200MHz", 1.2e9);
    p = train(s, &how);
    low = ask_at(p, d, &op, "clock=600MHz");
    high = ask_at(p, d, &op, "clock=1200MHz");
    CHECK_EQ(low.op_time[0].basis, FT_BASIS_LEARNED);
    for (int i = 0; i < 4; i++) {
        double truth = swept_s(&op, ft_device_get(d), asked[i].clock_hz);

        e[i] = ask_at(p, d, &op, asked[i].setting);
        CHECK_NEAR(e[i].time.value / truth, 1, asked[i].time);
        CHECK_NEAR(e[i].power.value / swept_w(asked[i].clock_hz), 1, asked[i].power);
        CHECK(CMP(e[i].time.low, <, truth) && CMP(truth, <, e[i].time.high));
        CHECK_EQ(e[i].op_time[0].basis, FT_BASIS_SCALED);
    }
    CHECK(CMP(high.time.value, <, e[1].time.value) &&
          CMP(e[1].time.value, <, e[0].time.value) &&
          CMP(e[0].time.value, <, low.time.value));
    /* Beyond what was measured less is sure. */
    CHECK(
        CMP(e[3].time.high / e[3].time.low, >, 1.03 * e[0].time.high / e[0].time.low));
    for (int i = 0; i < 4; i++)
        ft__network_estimate_free(&e[i]);
    ft__network_estimate_free(&low);
    ft__network_estimate_free(&high);
    ft_predictor_free(p);
    ft_store_close(s);
    ft_device_free(d);
}
