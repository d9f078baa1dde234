/* What is said of readings whose truth can be worked out by hand. Random ones are in
 * test_power_random.c. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "foretell/power.h"
#include "measure/measure_inside.h"

enum { MOST = 20000 };
static ft_power_reading rows[MOST];
static size_t n_rows;
static ft_domain domain;

static void begin(int counts, int tells_power, double period, double window)
{
    n_rows = 0;
    domain = (ft_domain){.name = "x",
                         .part_of = "",
                         .note = "",
                         .counts = counts,
                         .tells_power = tells_power,
                         .period_s = period,
                         .window_s = window,
                         .duty = 1,
                         .least_s = NAN};
}

static void row(double at, double watts, double joules)
{
    rows[n_rows++] = (ft_power_reading){at, watts, joules};
}

static ft_power power(double from, double to)
{
    ft_power_reading *list = rows;
    ft_trace t = {.n_domains = 1, .domain = &domain, .n = &n_rows, .reading = &list};
    ft_power w;

    ft_power_of(&w, &t, 0, from, to);
    CHECK_EQ(isnan(w.joules), (*w.reason != '\0'));
    CHECK(CMP(w.joules, !=, 0) && CMP(w.watts, !=, 0));
    return w;
}

/* The thesis states of its seven example readings that their mean is 175.403 W, their
 * standard deviation 13.095 W, and that none is dropped. The readings themselves are
 * not published; these have the same two figures. */
TEST(seven_readings_keep_their_mean_and_scatter)
{
    static const double watts[] = {187.89, 157.59, 177.24, 179.04,
                                   178.01, 190.28, 157.77};
    ft_power w;

    begin(0, 1, NAN, NAN);
    domain.all_fresh = 1;
    for (int i = 0; i < 7; i++)
        row(0.1 * (i + 1), watts[i], NAN);
    w = power(0, 0.71);
    CHECK_NEAR(w.watts, 175.403, 0.0005);
    CHECK_NEAR(w.watts_std, 13.095, 0.0005);
    CHECK(EQ(w.n_fresh, 7) && EQ(w.n_dropped, 0) && EQ(w.n_readings, 7));
    /* Neighbours hardly correlate: close to the plain standard error. */
    CHECK(CMP(w.watts_error, >=, 13.095 / sqrt(7) * 0.999) &&
          CMP(w.watts_error, <, 13.095));
}

/* The largest deviation of n values is (n - 1) / sqrt(n) standard deviations. */
TEST(only_from_eleven_readings_on_one_can_be_dropped)
{
    for (int n = 5; n <= 14; n++) {
        ft_power w;

        begin(0, 1, NAN, NAN);
        domain.all_fresh = 1;
        for (int i = 0; i < n; i++)
            row(0.1 * (i + 1), i == 0 ? 20 : 200 + 1e-6 * i, NAN);
        w = power(0, 0.1 * n + 0.01);
        CHECK_EQ(w.n_dropped, (n >= 11));
        if (n >= 11)
            CHECK_NEAR(w.watts, 200, 1e-3);
    }
}

TEST(polls_of_one_value_are_no_readings)
{
    ft_power w;

    begin(0, 1, NAN, NAN);
    for (int i = 0; i < 600; i++)
        row(0.01 * i, 100 + (i / 10) % 7, NAN); /* a new value every 0.1 s */
    w = power(0.5, 5.5);
    CHECK_EQ(w.n_readings, 501);
    CHECK(CMP(w.n_fresh, >=, 47) && CMP(w.n_fresh, <=, 51));
    CHECK_NEAR(w.period_s, 0.1, 0.005);
    CHECK_NEAR(w.watts, 103, 0.2);
    CHECK_NEAR(w.joules, 515, 1.5);
}

/* A value told in whole watts, 100 nine times of ten: equal values that came anew
 * count, or the mean would be 100.5. */
TEST(coarse_values_keep_their_weight)
{
    ft_power w;

    begin(0, 1, NAN, NAN);
    for (int i = 0; i < 4000; i++)
        row(0.01 * i, 100 + (i / 10 % 10 == 3 || i / 10 % 100 == 4), NAN);
    w = power(1, 38);
    CHECK_NEAR(w.watts, 100.11, 0.02);
    CHECK(CMP(w.n_fresh, >=, 350) && CMP(w.n_fresh, <=, 372));
}

TEST(a_loop_that_is_too_short_is_told_how_long_to_be)
{
    ft_power w;

    begin(0, 1, 0.1, 1);
    for (int i = 0; i < 400; i++)
        row(0.01 * i, 100 + i / 10, NAN);
    w = power(1, 1.5);
    CHECK(SAME(w.reason,
               "0.5 s is shorter than the sensor's window (1 s): loop for 2.1 s"));
    begin(0, 1, 0.1, 0.025);
    domain.duty = 0.25;
    for (int i = 0; i < 400; i++)
        row(0.01 * i, 100 + i / 10, NAN);
    w = power(1, 1.05);
    CHECK(SAME(w.reason, "0.05 s is shorter than the sensor's time between values "
                         "(0.1 s): loop for 5 s"));
    CHECK(isnan(w.watts) && isnan(w.watts_error) && isnan(w.integral_j));
}

/* 10 W before and after, 100 W from 1.033 to 2.071 s; the counter steps every 0.1 s
 * and is read every 5 ms. */
static double step_energy(double t)
{
    return 10 * t + 90 * fmax(0, fmin(t, 2.071) - 1.033);
}

TEST(a_load_that_begins_between_steps_of_a_counter_is_told_exactly)
{
    ft_power w;

    begin(1, 0, NAN, NAN);
    for (int i = 0; i < 700; i++)
        row(0.005 * i + 1e-4, NAN, step_energy(0.1 * floor(0.005 * i / 0.1 + 1e-9)));
    w = power(1.033, 2.071);
    CHECK_NEAR(w.joules, 103.8, 0.5);
    CHECK(CMP(fabs(w.joules - 103.8), <=, 2 * w.joules_error));
    CHECK_NEAR(w.watts, 100, 0.5);
}

/* The same load seen as an average over the last second, told every 0.1 s, over 2.5
 * windows. */
static double long_energy(double t)
{
    return 10 * t + 90 * fmax(0, fmin(t, 5.5) - 3);
}

TEST(a_window_is_undone)
{
    ft_power w;

    begin(0, 1, NAN, 1);
    for (int i = 0; i < 800; i++) {
        double at = 0.1 * floor(0.01 * i / 0.1 + 1e-9);

        row(0.01 * i, long_energy(at) - long_energy(fmax(at - 1, 0)), NAN);
    }
    w = power(3, 5.5);
    CHECK_NEAR(w.joules, 250, 2.5);
    CHECK(CMP(fabs(w.joules - 250), <=, 2 * w.joules_error));
    CHECK_NEAR(w.watts, 100, 0.5); /* only windows that lie inside */
}

TEST(start_up_is_no_part_of_the_level_but_of_the_energy)
{
    ft_power w;

    begin(0, 1, NAN, 0.05);
    for (int i = 0; i < 3000; i++) {
        double t = 0.05 * floor(0.005 * i / 0.05 + 1e-9);

        row(0.005 * i, t < 2.15 ? 60 : 150 + 0.5 * (i / 10 % 2), NAN);
    }
    w = power(2, 14);
    CHECK(CMP(w.n_dropped, >=, 2) && CMP(w.n_dropped, <=, 3));
    CHECK_NEAR(w.watts, 150.25, 0.05);
    /* 0.1 to 0.15 s at 60 W; a value stands for the 0.05 s before it. */
    CHECK_NEAR(w.joules, 150.25 * 12 - 90.25 * 0.1, 5);
}

TEST(correlated_readings_count_for_what_they_are_worth)
{
    ft_power alternating, slow;

    begin(0, 1, NAN, NAN);
    domain.all_fresh = 1;
    for (int i = 0; i < 200; i++)
        row(0.1 * i, 100 + 10 * (i % 2) + 1e-3 * i, NAN);
    alternating = power(0, 19.9);
    begin(0, 1, NAN, NAN);
    domain.all_fresh = 1;
    for (int i = 0; i < 200; i++)
        row(0.1 * i, 100 + 10 * (i / 20 % 2) + 1e-3 * i, NAN);
    slow = power(0, 19.9);
    CHECK_NEAR(alternating.watts_std, slow.watts_std, 0.1);
    CHECK(CMP(slow.watts_error, >, 3 * alternating.watts_error));
}

TEST(nothing_is_said_of_nothing)
{
    ft_power w;

    begin(1, 1, NAN, NAN);
    CHECK(SAME(power(0, 1).reason, "no readings"));
    row(0.5, NAN, NAN);
    w = power(0, 1);
    CHECK(SAME(w.reason, "no readings") && EQ(w.n_readings, 1) && EQ(w.n_missing, 1));
    CHECK(SAME(power(1, 1).reason, "no such stretch of time"));
    CHECK(SAME(power(1, NAN).reason, "no such stretch of time"));
    begin(1, 0, NAN, NAN);
    for (int i = 0; i < 100; i++)
        row(0.01 * i, NAN, 5);
    CHECK(HAS(power(0.1, 0.9).reason, "its counter stood still for all of 0.8 s"));
}

TEST(a_counter_that_is_set_back_is_not_believed)
{
    ft_power w;

    begin(1, 0, NAN, NAN);
    for (int i = 0; i < 200; i++)
        row(0.01 * i, NAN, i < 100 ? 1000 + i : i);
    w = power(0.2, 1.8);
    CHECK(SAME(w.reason, "its counter went back"));
    begin(1, 1, NAN, NAN);
    for (int i = 0; i < 200; i++)
        row(0.01 * i, 100 + 0.01 * (i % 3), i < 100 ? 1000 + i : i);
    w = power(0.2, 1.8);
    CHECK_NEAR(w.joules, 160, 0.5); /* the integral stands in */
    CHECK(isnan(w.counter_j) && isnan(w.disagreement));
}

TEST(errors_of_power_and_time_propagate)
{
    double j, e;

    /* 175.403 W, 13.095 W / sqrt 7, 2.5 ms, 0.03 ms. */
    ft__energy_of(&j, &e, 175.403, 4.9494, 2.5e-3, 3e-5);
    CHECK_NEAR(j, 0.4385075, 1e-9);
    CHECK_NEAR(
        e, sqrt(175.403 * 3e-5 * 175.403 * 3e-5 + 2.5e-3 * 4.9494 * 2.5e-3 * 4.9494),
        1e-12);
    ft__energy_of(&j, &e, NAN, 1, 1, 1);
    CHECK(isnan(j) && isnan(e));
    ft__energy_of(&j, &e, 10, NAN, 1, 0.1);
    CHECK(EQ(j, 10) && isnan(e));
}
