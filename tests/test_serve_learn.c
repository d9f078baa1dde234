/* What is learned of measured runs. */

#include "serve_rig.h"

/* To be given latencies. */
static ft_serve_measured a_run(void)
{
    static const char text[] = "{\"avg_ts\": 1, \"n_gen\": 1}";
    ft_serve_measured m;
    size_t n;

    CHECK(!ft_serve_measured_read(&m, &n, 1, text, sizeof(text) - 1, "file", NULL));
    return m;
}

TEST(what_a_run_shows_is_learned_back)
{
    static const double factor[][2] = {{1, 1}, {1.3, 0.8}, {0.5, 2}};
    ft_serve_load l = small_load();
    ft_serve_steps *s = steps_of_load(&l);

    for (size_t i = 0; i < sizeof(factor) / sizeof(*factor); i++) {
        ft_serve_measured m = a_run();
        ft_error err = {0};
        double prompt, decode;
        ft_served r;

        l.prompt_factor = factor[i][0];
        l.decode_factor = factor[i][1];
        r = served(s, &l);
        m.latency[FT_SERVE_TTFT][FT_SERVE_MEAN] = mean_of(&r, FT_SERVE_TTFT);
        m.latency[FT_SERVE_TPOT][FT_SERVE_MEAN] = mean_of(&r, FT_SERVE_TPOT);
        l.prompt_factor = l.decode_factor = 0;
        CHECK(!ft_serve_learn(&prompt, &decode, s, &l, &m, &err));
        CHECK(near(prompt, factor[i][0], 0.02));
        CHECK(near(decode, factor[i][1], 0.02));
    }
    ft_serve_steps_close(s);
}

/* What one token shows has no time between tokens. */
TEST(what_no_run_can_show_teaches_nothing)
{
    ft_serve_load l = small_load();
    ft_serve_steps *s;
    ft_serve_measured m = a_run();
    double prompt, decode;

    l.generate = 1;
    s = steps_of_load(&l);
    m.tokens_per_s = NAN;
    m.latency[FT_SERVE_ITL][FT_SERVE_MEAN] = 0.01;
    CHECK(!ft_serve_learn(&prompt, &decode, s, &l, &m, NULL));
    CHECK_EQ(prompt, 1);
    CHECK_EQ(decode, 1);
    ft_serve_steps_close(s);
}

static double off_by(const ft_served *r, const ft_serve_measured *m)
{
    return hypot(
        log(mean_of(r, FT_SERVE_TTFT) / m->latency[FT_SERVE_TTFT][FT_SERVE_MEAN]),
        log(mean_of(r, FT_SERVE_TPOT) / m->latency[FT_SERVE_TPOT][FT_SERVE_MEAN]));
}

/* Of a server near its limit TTFT leaps, as requests meet in other steps. */
TEST(what_was_learned_is_no_farther_off_than_nothing)
{
    static const double measured[][2] = {
        {0.9, 0.95}, {0.85, 0.95}, {1.1, 0.9}, {0.7, 0.9}};
    ft_serve_load l = small_load();
    ft_serve_steps *s;

    l.concurrency = 64;
    l.rate_per_s = 20;
    l.n_requests = 100;
    l.vary = 0.8;
    s = steps_of_load(&l);
    for (size_t i = 0; i < sizeof(measured) / sizeof(*measured); i++) {
        ft_serve_measured m = a_run();
        double prompt, decode;
        ft_served without = served(s, &l), with;

        m.latency[FT_SERVE_TTFT][FT_SERVE_MEAN] =
            measured[i][0] * mean_of(&without, FT_SERVE_TTFT);
        m.latency[FT_SERVE_TPOT][FT_SERVE_MEAN] =
            measured[i][1] * mean_of(&without, FT_SERVE_TPOT);
        CHECK(!ft_serve_learn(&prompt, &decode, s, &l, &m, NULL));
        l.prompt_factor = prompt;
        l.decode_factor = decode;
        with = served(s, &l);
        l.prompt_factor = l.decode_factor = 0;
        CHECK(CMP(off_by(&with, &m), <=, off_by(&without, &m)));
    }
    ft_serve_steps_close(s);
}

TEST(a_run_that_was_not_timed_teaches_nothing)
{
    static const char mlperf[] = "MLPerf Results Summary\nSamples per second: 3.5\n";
    ft_serve_load l = small_load();
    ft_serve_steps *s = steps_of_load(&l);
    ft_serve_measured m;
    ft_error err = {0};
    double prompt, decode;
    size_t n;

    CHECK(!ft_serve_measured_read(&m, &n, 1, mlperf, sizeof(mlperf) - 1, "file", &err));
    CHECK_EQ(ft_serve_learn(&prompt, &decode, s, &l, &m, &err), FT_ENOTFOUND);
    l.decode_factor = -1;
    CHECK_EQ(ft_serve_learn(&prompt, &decode, s, &l, &m, &err), FT_EINVAL);
    ft_serve_steps_close(s);
}

int main(int argc, char **argv)
{
    take_model(argc, argv);
    check_all();
    CHECK_DONE();
}
