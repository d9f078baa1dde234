/* Sessions and the measuring loop on the fake engine: its clock moves by a formula, so
 * results can be told in advance. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/stats.h"
#include "check.h"
#include "fake_engine.h"
#include "foretell/measure.h"
#include "measure/measure_inside.h"
#include "measure/readings.h"

static const char *plugin_dir;
static char model[4096];

static ft_session *open_fake(const char *options)
{
    return fake_session(options, plugin_dir, "");
}

TEST(an_unknown_engine_lists_those_there_are)
{
    ft_session_options how = {.engine = "nosuch", .plugin_dir = plugin_dir};
    ft_session *s;
    ft_error err = {0};

    CHECK(EQ(ft_session_open(&s, &how, &err), FT_ENOTFOUND) && EQ(s, NULL));
    CHECK(HAS(err.msg, "nosuch") && HAS(err.msg, "fake"));
    how.engine = "../fake";
    CHECK_EQ(ft_session_open(&s, &how, &err), FT_ENOTFOUND);
}

TEST(figures_of_readings_are_per_iteration)
{
    ft_reading r[] = {{1.0, 0, 10, 0, 0},
                      {1.1, 1, 10, 0, 0},
                      {0.9, 2, 10, 0, 0},
                      {2.0, 3, 20, 0, 0},
                      {50.0, 4, 10, 0, 0}};
    ft_measurement m;

    CHECK_EQ(ft__measurement_of_times(&m, r, 5, NULL), FT_OK);
    CHECK_NEAR(m.value, 0.1, 1e-15);
    CHECK_NEAR(m.mean, (0.1 + 0.11 + 0.09 + 0.1 + 5) / 5, 1e-12);
    CHECK_NEAR(m.mad, 1.4826 * 0.01, 1e-12);
    CHECK(EQ(m.n, 5) && EQ(m.iterations, 60));
    CHECK_NEAR(m.error, m.mad * sqrt(1.5707963267948966 / 5), 1e-15);
}

/* Batches of a round agree, rounds do not: medians 10, 11, 12, 13, 14. */
TEST(the_error_is_that_between_rounds)
{
    ft_reading r[15];
    ft_measurement m;
    double mean_square = (4 + 1 + 0 + 1 + 4) / 4.0;

    for (uint32_t i = 0; i < 15; i++)
        r[i] = (ft_reading){.value = 10 + i / 3 + 1e-3 * (i % 3 - 1.0),
                            .iterations = 1,
                            .round = i / 3};
    CHECK_EQ(ft__measurement_of_times(&m, r, 15, NULL), FT_OK);
    CHECK_NEAR(m.value, 12, 1e-12);
    /* t(4, 95 %) = 2.132 stands for 1.645. */
    CHECK_NEAR(m.error, 2.132 / 1.645 * sqrt(1.5707963267948966 * mean_square / 5),
               1e-3);

    /* Two rounds that were disturbed do not count; with three they all do. */
    for (int i = 9; i < 15; i++)
        r[i].marks = FT_READING_DISTURBED;
    CHECK_EQ(ft__measurement_of_times(&m, r, 15, NULL), FT_OK);
    CHECK_NEAR(m.value, 11, 1e-12);
    CHECK_EQ(m.n, 15);
    for (int i = 6; i < 9; i++)
        r[i].marks = FT_READING_DISTURBED;
    CHECK_EQ(ft__measurement_of_times(&m, r, 15, NULL), FT_OK);
    CHECK_NEAR(m.value, 12, 1e-12);
}

TEST(a_measurement_keeps_every_batch)
{
    ft_session *s = open_fake("noise=0");
    ft_op small = parse("relu x=1x1000"), large = parse("relu x=1x4000000");
    ft_measure_options how = {.min_time_s = 0.05, .min_batches = 7};
    ft_network_timing a, b;

    CHECK_EQ(ft__measure_op(&a, s, &small, &how, NULL), FT_OK);
    CHECK_EQ(ft__measure_op(&b, s, &large, &how, NULL), FT_OK);
    CHECK(CMP(a.n_readings, >=, 7) && EQ(a.time.n, a.n_readings));
    CHECK(CMP(a.readings[0].iterations, >, 1) && CMP(a.readings[0].value, >=, 1e-3));
    CHECK(CMP(a.time.value, >, 0) && CMP(b.time.value, >, 10 * a.time.value));
    /* Without noise every batch says the same. */
    CHECK_NEAR(a.time.std / a.time.value, 0, 1e-9);
    ft_network_timing_free(&a);
    ft_network_timing_free(&b);
    ft_session_close(s);
}

static ft_session *open_seeded(const char *options, uint64_t seed)
{
    ft_session_options how = {.engine = "fake",
                              .plugin_dir = plugin_dir,
                              .engine_options = options,
                              .dtype_policy = "tf32",
                              .seed = seed};
    ft_session *s = NULL;

    if (ft_session_open(&s, &how, NULL))
        exit(1);
    return s;
}

TEST(every_reading_says_its_round)
{
    ft_session *s = open_fake("noise=0.05");
    ft_op op = parse("relu x=1x1000");
    ft_measure_options how = {.min_time_s = 0.05, .rounds = 4};
    ft_network_timing t;
    double before = -1;

    CHECK_EQ(ft__measure_op(&t, s, &op, &how, NULL), FT_OK);
    CHECK(EQ(t.rounds, 4) && EQ(t.redone, 0));
    CHECK(EQ(t.readings[0].round, 0) && EQ(t.readings[t.n_readings - 1].round, 3));
    for (size_t i = 0; i < t.n_readings; i++) {
        CHECK(CMP(t.readings[i].start_s, >, before));
        before = t.readings[i].start_s;
        CHECK(EQ(i, 0) || CMP(t.readings[i].round - t.readings[i - 1].round, <=, 1));
    }
    CHECK(isnan(t.launch.value) && EQ(t.launches, NULL) && isnan(t.calibration_s));
    ft_network_timing_free(&t);
    ft_session_close(s);
}

/* The machine's speed drifts by 10 %: sessions differ, and not when divided by what
 * the calibration took beside. */
TEST(what_drifts_is_told_by_the_calibration)
{
    enum { N = 12 };
    ft_measure_options how = {.min_time_s = 0.05, .error_floor = -1};
    double raw[N], calibrated[N], most_raw = 0, most_calibrated = 0;
    ft_op ops[] = {parse("linear x=8x512 out=512"), parse("relu x=1x100000")};

    for (uint64_t seed = 0; seed < N; seed++) {
        ft_session *s = open_seeded("noise=0.01,drift=0.1", seed);
        ft_network_timing t[2];
        ft_error why[2];

        CHECK_EQ(ft__measure_ops(t, why, s, ops, 2, &how, NULL), FT_OK);
        CHECK(!why[0].status && !why[1].status);
        raw[seed] = t[1].time.value;
        calibrated[seed] = t[1].time.value / t[1].calibration_s;
        most_raw = fmax(most_raw, fabs(raw[seed] / raw[0] - 1));
        most_calibrated =
            fmax(most_calibrated, fabs(calibrated[seed] / calibrated[0] - 1));
        ft_network_timing_free(&t[0]);
        ft_network_timing_free(&t[1]);
        ft_session_close(s);
    }
    CHECK(CMP(most_raw, >, 0.08) && CMP(most_calibrated, <, 0.01));
}

/* Noise alone: two measurements differ as much as they say. */
TEST(stated_intervals_hold)
{
    enum { N = 200 };
    ft_op op = parse("relu x=1x100000");
    ft_measure_options how = {.min_time_s = 1e-3, .batch_time_s = 1e-5};
    ft_measurement before = {0};
    int covered = 0;

    for (uint64_t seed = 0; seed <= N; seed++) {
        ft_session *s = open_seeded("noise=0.3", 1000000 * seed);
        ft_measurement now;
        ft_network_timing t;

        CHECK_EQ(ft__measure_op(&t, s, &op, &how, NULL), FT_OK);
        now = t.time;
        if (seed)
            covered +=
                fabs(log(now.value / before.value)) <=
                1.645 * hypot(now.error / now.value, before.error / before.value);
        before = now;
        ft_network_timing_free(&t);
        ft_session_close(s);
    }
    CHECK(CMP(covered, >, 0.85 * N) && CMP(covered, <, 0.98 * N));
}

/* A short operation, one of about 4.5 ms, and between. */
static const char *const in_bursts[] = {
    "relu x=1x100000", "linear x=8x512 out=512",
    "conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1"};
enum { BURST_SEEDS = 30, N_IN_BURSTS = sizeof(in_bursts) / sizeof(*in_bursts) };

/* value / time without disturbance - 1, of operations on many machines; absolute,
 * sorted. */
static void find_off(double *off, const char *options)
{
    const ft_measure_options how = {.min_time_s = 0.05, .error_floor = -1};
    double quiet[N_IN_BURSTS];
    ft_op ops[N_IN_BURSTS];

    for (size_t k = 0; k < N_IN_BURSTS; k++)
        ops[k] = parse(in_bursts[k]);
    for (uint64_t seed = 0; seed <= BURST_SEEDS; seed++) {
        ft_session *s = open_seeded(seed ? options : "noise=0", 1000000 * seed);
        ft_network_timing t[N_IN_BURSTS];
        ft_error why[N_IN_BURSTS];

        CHECK_EQ(ft__measure_ops(t, why, s, ops, N_IN_BURSTS, &how, NULL), FT_OK);
        for (size_t k = 0; k < N_IN_BURSTS; k++) {
            if (seed)
                *off++ = fabs(t[k].time.value / quiet[k] - 1);
            else
                quiet[k] = t[k].time.value;
            ft_network_timing_free(&t[k]);
        }
        ft_session_close(s);
    }
    ft__sort(off - BURST_SEEDS * N_IN_BURSTS, BURST_SEEDS * N_IN_BURSTS);
}

/* Three batches of ten take up to ten times as long. */
TEST(bursts_do_not_change_what_an_operation_takes)
{
    enum { N = BURST_SEEDS * N_IN_BURSTS };
    double off[N];

    find_off(off, "burst=0.3:10");
    CHECK(CMP(off[N / 2], <, 0.05) && CMP(off[N * 9 / 10], <, 0.2));
    find_off(off, "noise=0.1");
    CHECK(CMP(off[N / 2], <, 0.01));
}

/* Where nothing disturbs, the value is the median of the batches. */
TEST(quiet_measurements_are_medians)
{
    ft_reading r[200];
    double v[200];
    ft_measurement m;

    for (uint32_t i = 0; i < 200; i++) {
        /* A normal distribution with sigma 5 %, roughly: a sum of four. */
        double sum = 0;

        for (uint32_t k = 1; k <= 4; k++)
            sum += (double)((i * 7919 * k + k * 104729) % 1009) / 1009 - 0.5;
        v[i] = 1 + 0.0866 * sum;
        r[i] = (ft_reading){.value = v[i], .iterations = 1, .round = i / 40};
    }
    CHECK_EQ(ft__measurement_of_times(&m, r, 200, NULL), FT_OK);
    CHECK(CMP(fabs(m.value / ft__median(v, 200) - 1), <, 0.01));
}

TEST(times_from_elsewhere_have_the_same_statistics)
{
    ft_reading r[40], same[40], none[] = {{.value = 1}};
    ft_measurement m, wanted;
    ft_error err;

    for (uint32_t i = 0; i < 40; i++) {
        double value = (1 + 0.01 * (i % 5) + 0.02 * (i / 8)) * (i == 11 ? 3 : 1);

        r[i] = (ft_reading){.value = 7 * value, .iterations = 7, .round = i / 8};
        same[i] = r[i];
    }
    CHECK_EQ(ft__measurement_of_times(&wanted, same, 40, NULL), FT_OK);
    CHECK_EQ(ft_measurement_of_times(&m, r, 40, &err), FT_OK);
    CHECK_EQ(memcmp(&m, &wanted, sizeof(m)), 0);
    for (uint32_t i = 0; i < 40; i++)
        CHECK_EQ(r[i].marks, i == 11 ? FT_READING_OUTLIER : 0);
    CHECK_EQ(ft_measurement_of_times(&m, r, 0, &err), FT_EINVAL);
    CHECK_EQ(ft_measurement_of_times(&m, none, 1, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "0 iterations"));
}

/* What takes as long as a pass of a network, for a second: high / low is below 1.5. */
TEST(a_network_in_bursts_has_a_narrow_interval)
{
    const ft_measure_options how = {.min_time_s = 1};
    ft_op op = parse("conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1");
    int narrow = 0, right = 0;

    for (uint64_t seed = 1; seed <= BURST_SEEDS; seed++) {
        ft_session *s = open_seeded("burst=0.3:10", 1000000 * seed);
        ft_session *calm = open_seeded("noise=0", 1);
        ft_network_timing t, quiet;

        CHECK_EQ(ft__measure_op(&t, s, &op, &how, NULL), FT_OK);
        CHECK_EQ(ft__measure_op(&quiet, calm, &op, &how, NULL), FT_OK);
        narrow += t.time.value + 1.645 * t.time.error <
                  1.5 * (t.time.value - 1.645 * t.time.error);
        right += fabs(t.time.value / quiet.time.value - 1) < 0.05;
        ft_network_timing_free(&t);
        ft_network_timing_free(&quiet);
        ft_session_close(s);
        ft_session_close(calm);
    }
    CHECK(CMP(narrow, >=, BURST_SEEDS - 1) && CMP(right, >=, BURST_SEEDS - 1));
}

/* Another process keeps a CPU busy: rounds are marked, redone, and in the end used
 * for want of better ones. */
TEST(other_load_is_noticed)
{
    ft_session *s = open_fake("noise=0,foreign=1");
    ft_op op = parse("linear x=64x1024 out=1024");
    ft_measure_options how = {.min_time_s = 0.24, .rounds = 2, .max_redone = 1};
    char text[512];
    ft_network_timing t;

    CHECK_EQ(ft__measure_op(&t, s, &op, &how, NULL), FT_OK);
    CHECK(t.conditions.marks & FT_MARK_FOREIGN_LOAD);
    CHECK(CMP(t.conditions.foreign_load, >, 0.3));
    CHECK(EQ(t.redone, 1) && EQ(t.rounds, 2));
    CHECK(t.readings[0].marks & FT_READING_DISTURBED);
    CHECK(EQ(t.readings[t.n_readings - 1].round, 2) && CMP(t.time.value, >, 0));
    CHECK(CMP(ft__timing_conditions(&t, text, sizeof(text)), <, sizeof(text)));
    CHECK(HAS(text, "\"redone\": 1") && HAS(text, "\"foreign load\""));
    ft_network_timing_free(&t);
    ft_session_close(s);
}

TEST(conditions_are_json_in_any_locale)
{
    char folder[] = "/tmp/foretell-locale-XXXXXX", command[128], text[512];
    const ft_energy e = {.counter_j = 1.5, .integral_j = NAN, .seconds = 0.25};

    CHECK(mkdtemp(folder));
    snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de", folder);
    setenv("LOCPATH", folder, 1);
    if (system(command) == 0 && setlocale(LC_ALL, "de")) { /* else nothing is shown */
        snprintf(text, sizeof(text), "%.1f", 1.5);
        CHECK(SAME(text, "1,5"));
        ft__energy_conditions(&e, text, sizeof(text));
        CHECK(HAS(text, "\"counter_j\": 1.5"));
        snprintf(text, sizeof(text), "%.1f", 1.5);
        CHECK(SAME(text, "1,5"));
    }
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK_EQ(system(command), 0);
}

/* The other process has the same CPU for half of the time: a batch of 50 ms, which it
 * always interrupts, takes 100 ms by the clock on the wall. */
TEST(what_others_have_the_cpu_for_is_not_counted)
{
    const ft_measure_options how = {.min_time_s = 0.25, .error_floor = -1};
    ft_op op = parse("linear x=64x4096 out=4096");
    ft_session *alone = open_fake("noise=0"), *beside = open_fake("noise=0,foreign=1");
    ft_network_timing quiet, t;

    CHECK_EQ(ft__measure_op(&quiet, alone, &op, &how, NULL), FT_OK);
    CHECK_EQ(ft__measure_op(&t, beside, &op, &how, NULL), FT_OK);
    CHECK_NEAR(t.time.value / quiet.time.value, 1, 0.1);
    ft_network_timing_free(&quiet);
    ft_network_timing_free(&t);
    ft_session_close(alone);
    ft_session_close(beside);
}

/* One run in about a hundred is slow: its batch is marked, kept, and counts little. */
TEST(outliers_are_marked_and_kept)
{
    ft_reading r[40];
    uint32_t marked;
    ft_measurement m;

    for (uint32_t i = 0; i < 40; i++)
        r[i] = (ft_reading){.value = i % 10 == 7 ? 3 : 1 + 1e-3 * (i % 5),
                            .iterations = 1,
                            .round = i / 20};
    CHECK(EQ(ft__mark_outliers(&marked, r, 40, NULL), FT_OK) && EQ(marked, 4));
    for (uint32_t i = 0; i < 40; i++)
        CHECK_EQ(!(r[i].marks & FT_READING_OUTLIER), (i % 10 != 7));
    CHECK_EQ(ft__measurement_of_times(&m, r, 40, NULL), FT_OK);
    CHECK(EQ(m.n, 40) && CMP(m.value, <, 1.004) && CMP(m.mean, >, 1.19));
}

TEST(issuing_is_timed_where_it_is_not_the_work)
{
    ft_session *s = open_fake("noise=0.01,ahead=0.25");
    ft_op op = parse("relu x=1x100000");
    ft_measure_options how = {.min_time_s = 0.05, .rounds = 6};
    ft_network_timing t;

    CHECK_EQ(ft__measure_op(&t, s, &op, &how, NULL), FT_OK);
    CHECK(t.launches != NULL && EQ(t.launch.n, 6));
    CHECK_NEAR(t.launch.value / t.time.value, 0.25, 0.01);
    ft_network_timing_free(&t);
    ft_session_close(s);
}

/* A recording of 12.5 W: an iteration of the loop costs 12.5 W times its part of the
 * loop's time, which is the engine's. */
TEST(energy_is_power_times_time)
{
    char path[] = "/tmp/foretell-watts-XXXXXX", sources[64];
    ft_op op = parse("relu x=1x100000");
    ft_measure_options how = {.min_time_s = 0.02, .power_time_s = 0.4};
    ft_meter_options source = {.sources = sources};
    ft_session *s = open_fake("noise=0.01");
    FILE *fp = fdopen(mkstemp(path), "w");
    char text[512];
    ft_error err = {0};
    ft_energy *e;
    ft_network_timing t;

    snprintf(sources, sizeof(sources), "replay:%s", path);
    CHECK(fp && CMP(fputs("# foretell trace 1\n"
                          "# domain,part_of,counts,tells_power,all_fresh,period_s,"
                          "window_s,duty,least_s\n"
                          "# wall,,0,1,1,0.01,0.01,1,\nat_s,domain,watts,joules\n",
                          fp),
                    >=, 0));
    for (int i = 0; fp && i < 1000; i++)
        fprintf(fp, "%g,wall,12.5,\n", 0.01 * i);
    CHECK(fp && EQ(fclose(fp), 0));
    if (ft_meter_open(&how.meter, &source, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        CHECK(0);
    }
    CHECK_EQ(ft__measure_op(&t, s, &op, &how, &err), FT_OK);
    CHECK_EQ(t.n_energy, 2); /* the sum, which is that of one domain */
    e = &t.energy[0];
    if (e->reason[0])
        fprintf(stderr, "%s\n", e->reason);
    CHECK_NEAR(e->power.value, 12.5, 1e-9);
    CHECK(CMP(e->seconds, >=, 0.4) && CMP(e->seconds, <, 0.51) &&
          CMP(e->iterations, >, 0));
    CHECK_NEAR((double)e->iterations * t.time.value / e->seconds, 1, 0.01);
    CHECK_NEAR(e->energy.value * (double)e->iterations / (12.5 * e->seconds), 1, 1e-9);
    CHECK(
        CMP(e->energy.error / e->energy.value, >, 0.999 * t.time.error / t.time.value));
    CHECK(isnan(e->counter_j) && !e->reason[0]);
    CHECK(CMP(t.energy[1].n_readings, >, 10) &&
          EQ(t.energy[1].readings[5].value, 12.5));
    CHECK(ft__energy_conditions(e, text, sizeof(text)) && HAS(text, "\"loop_s\""));
    ft_network_timing_free(&t);
    ft_meter_close(how.meter);
    ft_session_close(s);
    remove(path);
}

TEST(a_fault_of_the_engine_is_an_error_not_a_number)
{
    ft_session *s = open_fake("fail_kind=softmax");
    ft_op op = parse("softmax x=1x1000 axis=1");
    ft_measure_options how = {.min_time_s = 0.01};
    ft_network_timing t;
    ft_error err = {0};

    CHECK(EQ(ft__measure_op(&t, s, &op, &how, &err), FT_EBACKEND) && err.msg[0]);
    CHECK(EQ(t.readings, NULL));
    ft_session_close(s);
}

TEST(time_is_proportional_above_the_floor)
{
    ft_session *s = open_fake("noise=0");
    ft_op op = parse("relu x=1x16");
    ft_linearity l;

    CHECK_EQ(ft_measure_linearity(&l, s, &op, NULL), FT_OK);
    CHECK(CMP(l.n, >=, 8) && CMP(l.slope_s, >, 0) && CMP(l.floor_s, >, 0));
    CHECK_NEAR(l.slope_s * (double)l.iterations[l.n - 1] / l.duration_s[l.n - 1], 1,
               1e-3);
    ft_session_close(s);
}

TEST(a_network_runs_in_order_and_says_where_memory_went)
{
    static const char text[] =
        "conv2d x=1x3x32x32 out=8 kernel=3x3 stride=1x1 pad=1x1 *2\n"
        "relu x=1x8x32x32\n";
    ft_session *s = open_fake("noise=0");
    ft_measure_options how = {.min_time_s = 0.01};
    ft_network_timing t;
    ft_op conv = parse("conv2d x=1x3x32x32 out=8 kernel=3x3 stride=1x1 pad=1x1");
    ft_op relu = parse("relu x=1x8x32x32");
    ft_network_timing c, r;
    ft_graph *g;

    CHECK_EQ(ft_import_ops(&g, text, sizeof(text) - 1, "list", NULL), FT_OK);
    CHECK_EQ(ft_measure_network(&t, s, g, &how, NULL), FT_OK);
    CHECK_EQ(ft__measure_op(&c, s, &conv, &how, NULL), FT_OK);
    CHECK_EQ(ft__measure_op(&r, s, &relu, &how, NULL), FT_OK);
    CHECK_NEAR(t.time.value / (2 * c.time.value + r.time.value), 1, 1e-6);
    CHECK(CMP(t.activation_bytes, >=, 4 * 32 * 32 * (3 + 8)) &&
          CMP(t.n_readings, >, 0));
    ft_network_timing_free(&t);
    ft_network_timing_free(&c);
    ft_network_timing_free(&r);
    ft_graph_free(g);
    ft_session_close(s);
}

TEST(a_session_says_what_stands_in_its_keys)
{
    ft_session *s = open_fake("noise=0");
    const ft_session_facts *f = ft_session_get(s);
    const ft_measure_options how = {.min_time_s = 0.01};
    ft_network_timing t;
    ft_error err = {0};
    ft_graph *g;
    char **names;
    size_t n, i = 0;

    CHECK(SAME(f->engine, "fake") && SAME(f->setting, "threads=1"));
    CHECK(*f->engine_version && BEGINS(f->device, "cpu-", 4));
    CHECK_EQ(ft_engine_names(&names, &n, plugin_dir, NULL), FT_OK);
    while (i < n && strcmp(names[i], "fake") != 0)
        i++;
    CHECK(CMP(i, <, n));
    free(names);
    CHECK(EQ(ft_engine_names(&names, &n, "/nonexistent", &err), FT_ENOTFOUND) &&
          !names);

    CHECK_EQ(ft_import_ops(&g, "relu x=4\n", 9, "list", NULL), FT_OK);
    CHECK(!ft_session_runs_whole(s, model));
    CHECK_EQ(ft_measure_model(&t, s, model, g, &how, &err), FT_EUNSUPPORTED);
    CHECK(HAS(err.msg, "fake does not run models whole"));
    ft_graph_free(g);
    ft_session_close(s);
}

/* Of an engine that lists devices: the one that is used, where it is no processor. */
TEST(measurements_on_a_gpu_are_kept_under_its_name)
{
    ft_session *s = open_fake("gpu=Toy G31");

    CHECK(SAME(ft_session_get(s)->device, "Toy G31"));
    ft_session_close(s);
}

TEST(preparing_runs_nothing)
{
    ft_session *s = open_fake("fail_kind=softmax,fail_after=0");
    ft_error err = {0};
    ft_graph *g;
    ft_op op;

    CHECK_EQ(ft_op_parse(&op, "relu x=4", 8, NULL), FT_OK);
    CHECK_EQ(ft_session_prepare(s, &op, &err), FT_OK);
    CHECK_EQ(ft_session_prepare(s, NULL, &err), FT_OK);
    CHECK_EQ(ft_op_parse(&op, "softmax x=4 axis=0", 18, NULL), FT_OK);
    CHECK_EQ(ft_session_prepare(s, &op, &err), FT_EBACKEND);
    CHECK(HAS(err.msg, "softmax"));
    CHECK_EQ(ft_import_ops(&g, "relu x=4\n", 9, "list", NULL), FT_OK);
    CHECK_EQ(ft_session_prepare_model(s, model, g, &err), FT_EUNSUPPORTED);
    CHECK(HAS(err.msg, "fake does not run models whole"));
    ft_graph_free(g);
    ft_session_close(s);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 77;
    plugin_dir = argv[2];
    snprintf(model, sizeof(model), "%s/data/models/resnet18.onnx", argv[1]);
    check_all();
    CHECK_DONE();
}
