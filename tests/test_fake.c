/* The fake engine's clock and its planned faults. Argument: the plug-in. */
#include <string.h>
#include <time.h>

#include "check.h"
#include "foretell/engine.h"
#include "parse_spec.h"

static const ft_engine *fake;

static ft_engine_context *open_with(const char *options)
{
    ft_engine_context *c = NULL;

    CHECK_EQ(
        fake->open(&c, &(ft_engine_config){.threads = 1, .seed = 5, .options = options},
                   NULL),
        FT_OK);
    return c;
}

static ft_block *prepare(ft_engine_context *c, const char *spec, ft_status want)
{
    const ft_op op = parse(spec);
    ft_block *b = NULL;
    ft_block_info info;
    ft_error err = {0};

    CHECK_EQ(fake->prepare(c, &b, &info, &op, 1, NULL, 0, &err), want);
    CHECK(EQ((want == FT_OK), (b != NULL)) && EQ((want == FT_OK), !err.msg[0]));
    return b;
}

/* Virtual seconds of n runs. */
static double time_of(ft_engine_context *c, const char *spec, int n)
{
    ft_block *b = prepare(c, spec, FT_OK);
    double before = fake->now(c);

    for (int i = 0; i < n && b; i++)
        CHECK_EQ(fake->run(b, 0, NULL, NULL, NULL, NULL), FT_OK);
    fake->free_block(b);
    return fake->now(c) - before;
}

TEST(time_follows_the_formula)
{
    ft_engine_context *c = open_with("noise=0");

    /* 2 us + 100 FLOPs at 20 % of 50 GFLOP/s + 800 bytes at 10 GB/s */
    CHECK_NEAR(time_of(c, "relu x=100", 1), 2e-6 + 1e-8 + 8e-8, 1e-15);
    fake->close(c);
}

TEST(the_same_seed_gives_the_same_times)
{
    ft_engine_context *a = open_with(""), *b = open_with("");
    double first = time_of(a, "relu x=1000", 3);

    CHECK_EQ(first, time_of(b, "relu x=1000", 3));
    CHECK(CMP(first, !=, time_of(b, "relu x=1000", 3))); /* later noise */
    fake->close(a);
    fake->close(b);
}

TEST(slow_operations_are_slower)
{
    ft_engine_context *c = open_with("noise=0,slow=relu x=1000:3");
    double relu = time_of(c, "relu x=1000", 1), abs = time_of(c, "abs x=1000", 1);

    CHECK_NEAR(relu / abs, 3, 1e-9);
    fake->close(c);
}

TEST(faults_come_as_planned)
{
    ft_engine_context *c = open_with("fail_kind=conv2d,fail_after=2,oom_above=1000");
    ft_block *b = prepare(c, "relu x=10", FT_OK);
    ft_error err = {0};
    void *p = fake->alloc(c, 1000);

    prepare(c, "conv2d x=1x1x4x4 out=1 kernel=1x1 stride=1x1 pad=0x0", FT_EBACKEND);
    prepare(c, "linear x=1x100 out=10", FT_ENOMEM);
    CHECK(p != NULL && EQ(fake->alloc(c, 1001), NULL));
    fake->release(c, p);
    CHECK_EQ(fake->run(b, 0, NULL, NULL, NULL, &err), FT_OK);
    CHECK_EQ(fake->run(b, 0, NULL, NULL, NULL, &err), FT_OK);
    CHECK(EQ(fake->run(b, 0, NULL, NULL, NULL, &err), FT_EBACKEND) && err.msg[0]);
    fake->free_block(b);
    fake->close(c);
}

TEST(sleep_takes_real_time)
{
    ft_engine_context *c = open_with("noise=0,sleep=1000");
    struct timespec from, to;

    clock_gettime(CLOCK_MONOTONIC, &from);
    CHECK(CMP(time_of(c, "relu x=100", 1), <, 1e-5));
    clock_gettime(CLOCK_MONOTONIC, &to);
    CHECK(CMP((double)(to.tv_sec - from.tv_sec) +
                  1e-9 * (double)(to.tv_nsec - from.tv_nsec),
              >=, 2e-3));
    fake->close(c);
}

/* Relative time of an operation at many moments: 1 + drift sin(t + phase). */
TEST(drift_is_slow_and_bounded)
{
    ft_engine_context *c = open_with("noise=0,drift=0.1");
    double still = 2e-6 + 1e-8 + 8e-8, least = 2, most = 0;

    for (int i = 0; i < 100; i++) {
        double t = time_of(c, "relu x=100", 1) / still;

        CHECK(CMP(t, >=, 0.9 - 1e-9) && CMP(t, <=, 1.1 + 1e-9));
        least = t < least ? t : least;
        most = t > most ? t : most;
        CHECK(CMP(time_of(c, "relu x=30000000", 3), >, 0.07)); /* pass the time */
    }
    CHECK(CMP(least, <, 0.91) && CMP(most, >, 1.09));
    fake->close(c);
}

/* About three stretches of ten are slower, none more than tenfold. */
TEST(bursts_come_and_go)
{
    ft_engine_context *c = open_with("noise=0,burst=0.3:10");
    double still = 2e-6 + 1e-8 + 8e-8, most = 0;
    int slower = 0;

    for (int i = 0; i < 1000; i++) {
        double t = time_of(c, "relu x=100", 1) / still;

        CHECK(CMP(t, >=, 1 - 1e-6) && CMP(t, <=, 10 + 1e-6));
        slower += t > 1.001;
        most = t > most ? t : most;
        CHECK(CMP(time_of(c, "relu x=30000000", 1), >, 0.02)); /* pass the time */
    }
    CHECK(CMP(slower, >, 250) && CMP(slower, <, 350) && CMP(most, >, 9));
    fake->close(c);
}

TEST(what_is_issued_ahead_is_waited_for)
{
    ft_engine_context *c = open_with("noise=0,ahead=0.25");
    double issued = time_of(c, "relu x=1000", 4), before = fake->now(c);

    CHECK_EQ(fake->sync(c, NULL), FT_OK);
    CHECK_NEAR((fake->now(c) - before) / issued, 3, 1e-9);
    fake->close(c);
}

TEST(bad_options_are_named)
{
    static const char *const bad[] = {
        "noise=x", "noise=2",    "drift=1", "ahead=2",   "slow=relu", "fail_after=-1",
        "speed=9", "fail_kind=", "sleep",   "burst=0.3", "burst=2:3", "burst=0.3:0.5"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        ft_engine_context *c;
        ft_error err = {0};

        CHECK_EQ(
            fake->open(&c, &(ft_engine_config){.threads = 1, .options = bad[i]}, &err),
            FT_EINVAL);
        CHECK(EQ(c, NULL) && HAS(err.msg, bad[i]));
    }
}

int main(int argc, char **argv)
{
    if (argc < 2 || ft_engine_load(&fake, argv[1], NULL))
        return 1;
    check_all();
    CHECK_DONE();
}
