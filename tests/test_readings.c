/* Readings weighed against what is learned of other operations. Truth is a simulated
 * machine, of which the regressors know nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/prng.h"
#include "check.h"
#include "fake_engine.h"
#include "predict/train/readings.h"

enum { N = 300 };

static ft__roof roof;
static ft__dataset machine;
static ft__sample row[N + 2];
static ft__weighed weighed[N + 2];

/* Bytes through a memory that is slower beyond 1 MB, a call, and a bend of its own. */
static double truth(double elements)
{
    const double bytes = 8 * elements;

    return 2e-6 + bytes / (bytes < 1e6 ? 20e9 : 12e9) + 1e-7 * sqrt(elements);
}

static double elements_of(int i)
{
    return floor(2000 * pow(1.025, i));
}

static void put(int at, int i, double factor, double error)
{
    const double elements = elements_of(i);
    char spec[64];

    snprintf(spec, sizeof(spec), "relu x=%.0f dtype=fp32", elements);
    row[at] = (ft__sample){.op = parse(spec), .error_s = NAN};
    row[at].hash = ft__op_hash(&row[at].op);
    for (int m = 0; m < FT__N_METRICS; m++)
        row[at].value[m] = NAN;
    row[at].value[FT__METRIC_TIME] = factor * truth(elements);
    row[at].error_s = error * row[at].value[FT__METRIC_TIME];
}

/* One in fifty is 1 % off, as its error says. */
static ft__samples simulated(size_t n)
{
    roof = ft__flat_roof(50e9, 15e9, 1e-6);
    machine = (ft__dataset){.device = (char *)"here",
                            .setting = (char *)"",
                            .engine = (char *)"fake",
                            .engine_version = (char *)"1",
                            .policy = (char *)"default",
                            .n = n,
                            .roof = &roof};
    for (int i = 0; i < N; i++) {
        ft__prng p = ft__prng_stream(3, (uint64_t)i);

        put(i, i, 1 + 0.02 * (ft__prng_unit(&p) - 0.5), 0.01);
    }
    return (ft__samples){.v = row, .n = n, .dataset = &machine, .n_datasets = 1};
}

static void weigh(const ft__samples *s)
{
    ft_error err = {0};

    CHECK_EQ(ft__readings_weigh(weighed, s, 1, 1, &err), FT_OK);
    if (*err.msg)
        fprintf(stderr, "%s\n", err.msg);
}

static double off(int i)
{
    return weighed[i].value_s / truth(elements_of(i)) - 1;
}

TEST(good_readings_stay_what_they_are)
{
    const ft__samples s = simulated(N);
    size_t doubtful = 0, out = 0;

    weigh(&s);
    for (int i = 0; i < N; i++) {
        doubtful += weighed[i].doubtful;
        out += !weighed[i].learned_of;
        CHECK(CMP(fabs(off(i)), <, 0.02) && CMP(weighed[i].error, <=, 0.0101) &&
              CMP(weighed[i].error, >, 0));
    }
    CHECK(EQ(doubtful, 0) && EQ(out, 0));
}

/* Rounds disagree, and the reading says so: what is learned of others says more. */
TEST(a_reading_that_scatters_counts_as_much_as_its_error_lets_it)
{
    const ft__samples s = simulated(N);

    put(100, 100, 3, 0.5);
    put(200, 200, 1.04, 0.06);
    weigh(&s);
    CHECK(weighed[100].doubtful && isnan(weighed[100].value_s) &&
          !weighed[100].learned_of);
    CHECK(weighed[200].doubtful);
    CHECK(isnan(weighed[200].value_s) ||
          (CMP(fabs(off(200)), <, 0.04) && CMP(weighed[200].error, <, 0.06)));
    CHECK(CMP(fabs(off(101)), <, 0.02) && CMP(fabs(off(199)), <, 0.02));
}

/* All of its rounds were disturbed alike: only its neighbours tell. */
TEST(a_reading_far_too_slow_is_doubted_unless_another_agrees)
{
    ft__samples s = simulated(N);

    put(150, 150, 4, 0.02);
    weigh(&s);
    CHECK(weighed[150].doubtful && !weighed[150].learned_of &&
          isnan(weighed[150].value_s));

    /* Measured again, it was not disturbed. */
    s = simulated(N + 1);
    put(150, 150, 4, 0.02);
    put(N, 150, 1.005, 0.02);
    weigh(&s);
    CHECK(weighed[150].doubtful && !weighed[N].doubtful);
    CHECK(CMP(fabs(off(150)), <, 0.02) && EQ(weighed[N].value_s, weighed[150].value_s));

    /* Measured again, it takes as long: it does. */
    s = simulated(N + 1);
    put(150, 150, 4, 0.02);
    put(N, 150, 4.05, 0.02);
    weigh(&s);
    CHECK(!weighed[150].doubtful && !weighed[N].doubtful);
    CHECK_NEAR(weighed[150].value_s / truth(elements_of(150)), 4.02, 0.2);
}

TEST(a_reading_that_is_faster_was_not_disturbed)
{
    const ft__samples s = simulated(N);

    put(150, 150, 0.25, 0.02);
    weigh(&s);
    CHECK(!weighed[150].doubtful);
    CHECK_NEAR(weighed[150].value_s / truth(elements_of(150)), 0.25, 0.02);
}

/* Without an error, or of a table that others published, rows are as they stand. */
TEST(what_says_no_error_is_taken_as_it_is)
{
    ft__samples s = simulated(N);

    put(150, 150, 4, NAN);
    weigh(&s);
    CHECK(EQ(weighed[150].value_s, row[150].value[FT__METRIC_TIME]) &&
          EQ(weighed[150].error, 0) && !weighed[150].doubtful);
    put(150, 150, 4, 0.5);
    machine.roof = NULL;
    weigh(&s);
    CHECK(EQ(weighed[150].value_s, row[150].value[FT__METRIC_TIME]) &&
          EQ(weighed[150].error, 0) && weighed[150].learned_of);
}
