#include <stdint.h>
#include <string.h>

#include "check.h"
#include "evaluate/hold_out.h"
#include "foretell/rank.h"

static ft_estimate spread(double value, double factor)
{
    return (ft_estimate){value, value / factor, value * factor, FT_BASIS_LEARNED, ""};
}

static ft_estimate none(const char *why)
{
    return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, why};
}

static ft_rank_entry entry(const char *device, double items, double time_s,
                           double energy_j)
{
    ft_rank_entry e = {.device = device,
                       .items = items,
                       .time = spread(time_s, 1.2),
                       .energy = none("no sensor"),
                       .power = none("no sensor"),
                       .memory = spread(1e9, 1),
                       .memory_limit_bytes = NAN,
                       .price_per_s = NAN,
                       .co2_g_per_j = NAN};

    if (energy_j > 0) {
        e.energy = spread(energy_j, 1.1);
        e.power = spread(energy_j / time_s, 1.1);
    }
    return e;
}

TEST(the_least_comes_first)
{
    const ft_rank_entry e[] = {entry("b", 1, 3, 10), entry("a", 1, 1, 40),
                               entry("c", 1, 2, 20)};
    ft_rank_options how = {.by = FT_RANK_BY_TIME};
    ft_ranked r[3];

    CHECK_EQ(ft_rank(r, e, 3, &how, NULL), FT_OK);
    CHECK(EQ(r[0].place, 3) && EQ(r[1].place, 1) && EQ(r[2].place, 2));
    how.by = FT_RANK_BY_ENERGY;
    CHECK_EQ(ft_rank(r, e, 3, &how, NULL), FT_OK);
    CHECK(EQ(r[0].place, 1) && EQ(r[1].place, 3) && EQ(r[2].place, 2));
    how.by = FT_RANK_BY_EDP; /* 30, 40, 40: equal ones in the order given */
    CHECK_EQ(ft_rank(r, e, 3, &how, NULL), FT_OK);
    CHECK(EQ(r[0].place, 1) && EQ(r[1].place, 2) && EQ(r[2].place, 3));
    CHECK_NEAR(r[0].value[FT_RANK_BY_EDP].value, 30, 1e-12);
    how.by = FT_RANK_BY_POWER;
    CHECK(EQ(ft_rank(r, e, 3, &how, NULL), FT_OK) && EQ(r[0].place, 1));
}

TEST(values_are_of_an_item_and_limits_of_a_pass)
{
    ft_rank_entry e[] = {entry("a", 1, 0.010, 2), entry("a", 8, 0.040, 8)};
    ft_rank_options how = {.by = FT_RANK_BY_TIME};
    ft_ranked r[2];

    e[1].price_per_s = 0.5;
    e[1].co2_g_per_j = 1e-4;
    CHECK_EQ(ft_rank(r, e, 2, &how, NULL), FT_OK);
    CHECK_EQ(r[1].place, 1);
    CHECK_NEAR(r[1].value[FT_RANK_BY_TIME].value, 0.005, 1e-15);
    CHECK_NEAR(r[1].value[FT_RANK_BY_ENERGY].value, 1, 1e-15);
    CHECK_NEAR(r[1].value[FT_RANK_BY_COST].value, 0.0025, 1e-15);
    CHECK_NEAR(r[1].value[FT_RANK_BY_CO2].value, 1e-4, 1e-18);
    CHECK_NEAR(r[1].value[FT_RANK_BY_POWER].value, 200, 1e-9);
    CHECK_NEAR(r[1].value[FT_RANK_BY_TIME].high, 0.006, 1e-15);
    how.limit[how.n_limits++] = (ft_rank_limit){FT_RANK_BY_TIME, 0.020};
    CHECK_EQ(ft_rank(r, e, 2, &how, NULL), FT_OK);
    CHECK(EQ(r[0].place, 1) && !r[0].risky);
    CHECK(EQ(r[1].state, FT_RANK_OVER_LIMIT) && EQ(r[1].limit, 0) && EQ(r[1].place, 0));
    how.limit[0].most = 0.011; /* its interval ends at 0.012 */
    CHECK(EQ(ft_rank(r, e, 2, &how, NULL), FT_OK) && EQ(r[0].place, 1) && r[0].risky);
}

TEST(what_is_not_known_says_why)
{
    ft_rank_entry e[] = {entry("a", 1, 1, 0), entry("b", 1, 2, 5)};
    ft_rank_options how = {.by = FT_RANK_BY_ENERGY};
    ft_ranked r[2];

    CHECK_EQ(ft_rank(r, e, 2, &how, NULL), FT_OK);
    CHECK(EQ(r[0].state, FT_RANK_UNKNOWN) && SAME(r[0].why, "no sensor"));
    CHECK(isnan(r[0].value[FT_RANK_BY_ENERGY].value) && EQ(r[1].place, 1));
    how = (ft_rank_options){.by = FT_RANK_BY_COST};
    CHECK_EQ(ft_rank(r, e, 2, &how, NULL), FT_OK);
    CHECK(EQ(r[1].state, FT_RANK_UNKNOWN) && HAS(r[1].why, "price"));
    how = (ft_rank_options){
        .by = FT_RANK_BY_TIME, .n_limits = 1, .limit = {{FT_RANK_BY_ENERGY, 100}}};
    CHECK_EQ(ft_rank(r, e, 2, &how, NULL), FT_OK);
    CHECK(EQ(r[0].state, FT_RANK_UNKNOWN) && EQ(r[1].place, 1));
}

TEST(energy_follows_from_power_and_time)
{
    ft_rank_entry e = entry("a", 2, 3, 30);
    ft_rank_options how = {.by = FT_RANK_BY_ENERGY};
    ft_ranked r;

    e.energy = none("only power");
    CHECK(EQ(ft_rank(&r, &e, 1, &how, NULL), FT_OK) && EQ(r.place, 1));
    CHECK_NEAR(r.value[FT_RANK_BY_ENERGY].value, 15, 1e-12);
    CHECK_NEAR(r.value[FT_RANK_BY_ENERGY].high, 15 * 1.2 * 1.1, 1e-12);
}

TEST(what_does_not_fit_has_no_place)
{
    ft_rank_entry e[] = {entry("a", 1, 1, 0), entry("b", 1, 2, 0)};
    ft_rank_options how = {.by = FT_RANK_BY_TIME};
    ft_ranked r[2];

    e[0].memory_limit_bytes = 0.9e9;
    e[1].memory_limit_bytes = 1.1e9;
    CHECK_EQ(ft_rank(r, e, 2, &how, NULL), FT_OK);
    CHECK(EQ(r[0].state, FT_RANK_TOO_LARGE) && EQ(r[0].place, 0) && EQ(r[1].place, 1));
    CHECK_NEAR(r[1].chance, 1, 0);
    CHECK_NEAR(r[1].regret, 0, 0);
}

TEST(a_bound_stands_behind_estimates)
{
    ft_rank_entry e[] = {entry("bound", 1, 1, 0), entry("a", 1, 2, 0)};
    ft_rank_options how = {.by = FT_RANK_BY_TIME};
    ft_ranked r[2];

    e[0].time.high = NAN;
    CHECK_EQ(ft_rank(r, e, 2, &how, NULL), FT_OK);
    CHECK(EQ(r[1].place, 1) && EQ(r[0].place, 2) &&
          EQ(r[0].level, FT_RANK_LEVEL_INTERVALS));
    CHECK(isnan(r[0].chance) && isnan(r[1].regret));
    CHECK(r[0].pareto && r[1].pareto);
    e[0].time = (ft_estimate){9, 9, NAN, FT_BASIS_ROOFLINE, ""};
    CHECK(EQ(ft_rank(r, e, 2, &how, NULL), FT_OK) && !r[0].level);
    CHECK(!r[0].pareto && r[1].pareto);
}

/* Intervals that touch, and those of one device, whose errors are alike. */
TEST(overlap_is_between_devices)
{
    ft_rank_entry e[] = {entry("a", 1, 1.0, 0), entry("b", 1, 1.43, 0),
                         entry("c", 1, 1.45, 0), entry("a", 1, 1.1, 0)};
    ft_rank_options how = {.by = FT_RANK_BY_TIME};
    ft_ranked r[4];

    CHECK_EQ(ft_rank(r, e, 4, &how, NULL), FT_OK);
    CHECK(!r[0].level && r[1].level && !r[2].level && !r[3].level);
}

static double phi(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

/* Against the closed form: the logarithm of the ratio is normal. */
TEST(chance_and_regret_are_those_of_the_intervals)
{
    const double factor[] = {1.05, 1.3, 2}, ahead[] = {1.0, 1.1, 1.5};

    for (int i = 0; i < 9; i++) {
        ft_rank_entry e[] = {entry("a", 1, 1, 0), entry("b", 1, ahead[i / 3], 0)};
        ft_rank_options how = {.by = FT_RANK_BY_TIME, .seed = 7, .n_draws = 40000};
        double s = sqrt(2) * log(factor[i % 3]) / 1.6448536269514722;
        double mu = -log(ahead[i / 3]);
        double regret = exp(mu + s * s / 2) * phi((mu + s * s) / s) - phi(mu / s);
        ft_ranked r[2];

        e[0].time = spread(1, factor[i % 3]);
        e[1].time = spread(ahead[i / 3], factor[i % 3]);
        CHECK_EQ(ft_rank(r, e, 2, &how, NULL), FT_OK);
        CHECK_NEAR(r[0].chance, phi(-mu / s), 0.012);
        CHECK_NEAR(r[0].chance + r[1].chance, 1, 1e-12);
        CHECK_NEAR(r[0].regret, regret, 0.02 * s + 0.03 * regret);
        CHECK(CMP(r[1].regret, >=, r[0].regret) || CMP(ahead[i / 3], <, 1.01));
    }
}

TEST(one_device_errs_alike)
{
    ft_rank_entry e[] = {entry("a", 1, 1, 0), entry("a", 1, 1.01, 0)};
    ft_rank_options how = {.by = FT_RANK_BY_TIME};
    ft_ranked r[2];

    CHECK_EQ(ft_rank(r, e, 2, &how, NULL), FT_OK);
    CHECK_NEAR(r[0].chance, 1, 0);
    CHECK_NEAR(r[1].regret, 0.01, 1e-12);
}

/* Two devices that wait for one host, and one that does not. */
TEST(what_waits_for_a_host_errs_as_it_does)
{
    ft_rank_entry e[] = {entry("a", 1, 1, 0), entry("b", 1, 1.001, 0),
                         entry("c", 1, 90, 0)};
    ft_rank_options how = {.by = FT_RANK_BY_TIME, .seed = 3};
    ft_ranked r[3];

    for (int i = 0; i < 3; i++)
        e[i].time = spread(e[i].time.value, 3);
    CHECK_EQ(ft_rank(r, e, 3, &how, NULL), FT_OK);
    CHECK(CMP(r[0].regret, >, 0.3));
    e[0].host = e[1].host = "";
    CHECK_EQ(ft_rank(r, e, 3, &how, NULL), FT_OK);
    CHECK(CMP(r[0].regret, <, 0.01) && CMP(r[1].regret, <, 0.01) &&
          EQ(r[1].level, FT_RANK_LEVEL_HOST));
    CHECK_NEAR(r[0].chance, r[1].chance, 1e-12);
    e[0].price_per_s = 1;
    e[1].price_per_s = 1.5;
    how.by = FT_RANK_BY_COST;
    CHECK(EQ(ft_rank(r, e, 2, &how, NULL), FT_OK) && !r[1].level);
    CHECK_NEAR(r[0].chance, 1, 0);
    how.by = FT_RANK_BY_TIME;
    e[1].host = "another";
    CHECK_EQ(ft_rank(r, e, 3, &how, NULL), FT_OK);
    CHECK(CMP(r[0].regret, >, 0.3));
    e[1].host = "";
    how.by = FT_RANK_BY_ENERGY; /* which has the devices' power */
    for (int i = 0; i < 3; i++)
        e[i].energy = e[i].time;
    CHECK_EQ(ft_rank(r, e, 3, &how, NULL), FT_OK);
    CHECK(CMP(r[0].regret, >, 0.3));
}

/* Two clocks at which the host sets the time, but for rounding, and one that is slower.
 */
TEST(equal_ones_share_their_chance)
{
    const ft_rank_entry e[] = {entry("a", 1, 1, 0), entry("a", 1, 1 + 1e-13, 0),
                               entry("a", 1, 1.5, 0)};
    const ft_rank_options how = {.by = FT_RANK_BY_TIME, .seed = 1};
    ft_ranked r[3];

    CHECK_EQ(ft_rank(r, e, 3, &how, NULL), FT_OK);
    CHECK(EQ(r[0].place, 1) && EQ(r[1].place, 2) && EQ(r[2].place, 3));
    CHECK(EQ(r[0].chance, 0.5) && EQ(r[1].chance, 0.5) && EQ(r[2].chance, 0));
    CHECK_NEAR(r[1].regret, 0, 1e-9);
}

TEST(the_same_seed_draws_the_same)
{
    ft_rank_entry e[] = {entry("a", 1, 1, 0), entry("b", 1, 1.1, 0)};
    ft_rank_options how = {.by = FT_RANK_BY_TIME, .seed = 3};
    ft_ranked x[2], y[2];

    CHECK_EQ(ft_rank(x, e, 2, &how, NULL), FT_OK);
    CHECK_EQ(ft_rank(y, e, 2, &how, NULL), FT_OK);
    CHECK(!(x[0].regret < y[0].regret) && !(x[0].regret > y[0].regret));
    how.seed = 4;
    CHECK_EQ(ft_rank(y, e, 2, &how, NULL), FT_OK);
    CHECK(CMP(x[0].regret, <, y[0].regret) || CMP(x[0].regret, >, y[0].regret));
}

/* By definition, one against all. */
TEST(the_pareto_set_is_what_nothing_beats)
{
    enum { N = 60 };
    static char name[N][8];
    ft_rank_entry e[N];
    ft_rank_options how = {.by = FT_RANK_BY_TIME};
    ft_ranked r[N];
    uint64_t state = 5;

    for (int i = 0; i < N; i++) {
        double v[3];

        for (int k = 0; k < 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            v[k] = 1 + (double)(state >> 60);
        }
        snprintf(name[i], sizeof(name[i]), "d%d", i);
        e[i] = entry(name[i], 1, v[0], v[1]);
        e[i].price_per_s = v[2];
    }
    CHECK_EQ(ft_rank(r, e, N, &how, NULL), FT_OK);
    for (int i = 0; i < N; i++) {
        int beaten = 0;

        for (int j = 0; j < N; j++) {
            double t = e[j].time.value - e[i].time.value;
            double w = e[j].energy.value - e[i].energy.value;
            double c =
                e[j].time.value * e[j].price_per_s - e[i].time.value * e[i].price_per_s;

            beaten |= t <= 0 && w <= 0 && c <= 0 && (t < 0 || w < 0 || c < 0);
        }
        CHECK_EQ(r[i].pareto, !beaten);
    }
}

TEST(what_is_out_of_range_is_refused)
{
    const ft_rank_entry bad = entry("a", 0, 1, 0);
    ft_rank_options how = {.by = FT_RANK_BY_TIME};
    ft_error err = {0};
    ft_ranked r;

    CHECK_EQ(ft_rank(&r, &bad, 1, &how, &err), FT_EINVAL);
    how.by = FT_RANK_BY_COUNT;
    CHECK_EQ(ft_rank(&r, &bad, 0, &how, &err), FT_EINVAL);
    how = (ft_rank_options){.n_limits = 1, .limit = {{FT_RANK_BY_COUNT, 1}}};
    CHECK_EQ(ft_rank(&r, &bad, 0, &how, &err), FT_EINVAL);
    how = (ft_rank_options){0};
    CHECK_EQ(ft_rank(&r, NULL, 0, &how, &err), FT_OK);
}

static ft__rank_row row(uint64_t item, const char *choice, double truth, double value)
{
    return (ft__rank_row){item, choice, truth, value, value / 1.1, value * 1.1};
}

/* Three items by hand; the fourth was measured on one device only. */
TEST(foretold_orders_are_weighed_against_true_ones)
{
    const ft__rank_row r[] = {row(7, "a", 1, 1.0), row(9, "b", 4, 4.0),
                              row(7, "b", 2, 2.0), row(8, "b", 2, 2.5),
                              row(8, "a", 3, 2.4), row(9, "a", 5, 8.0),
                              row(6, "a", 1, 1.0)};
    ft_rank_evaluation e;

    CHECK_EQ(ft__rank_evaluate(&e, r, 7, NULL), FT_OK);
    CHECK(EQ(e.n_rows, 7) && EQ(e.n_items, 3) && EQ(e.n_choices, 2));
    CHECK_NEAR(e.right, 2.0 / 3, 1e-12);
    CHECK_NEAR(e.regret, (0 + 0.5 + 0) / 3, 1e-12);
    /* Always a: 0, 0.5, 0.25; always b: 1, 0, 0. */
    CHECK(SAME(e.constant, "a"));
    CHECK_NEAR(e.constant_regret, 0.25, 1e-12);
    CHECK_NEAR(e.constant_right, 1.0 / 3, 1e-12);
    CHECK_NEAR(e.worst_regret, 1.0 / 3, 1e-12);
    CHECK_NEAR(e.level, 1.0 / 3, 1e-12);
    CHECK_NEAR(e.regret_apart, 0, 1e-12);
    CHECK(CMP(e.expected_regret, >, 0) && CMP(e.expected_regret, <, 0.05));
}

TEST(what_was_measured_twice_counts_once)
{
    const ft__rank_row r[] = {row(1, "a", 1, 1), row(1, "a", 3, 3),
                              row(1, "b", 1.5, 1.5)};
    ft_rank_evaluation e;

    CHECK_EQ(ft__rank_evaluate(&e, r, 3, NULL), FT_OK);
    CHECK(EQ(e.n_items, 1) && SAME(e.constant, "b"));
    CHECK_NEAR(e.regret, 0, 0);
    CHECK_NEAR(e.worst_regret, 2 / 1.5 - 1, 1e-12);
}

TEST(without_a_choice_there_is_no_order)
{
    const ft__rank_row r[] = {row(1, "a", 1, 1), row(2, "b", 3, 3)};
    ft_rank_evaluation e;
    ft_error err = {0};

    CHECK_EQ(ft__rank_evaluate(&e, r, 1, &err), FT_ENOTFOUND);
    CHECK_EQ(ft__rank_evaluate(&e, r, 2, &err), FT_ENOTFOUND);
    CHECK_EQ(ft__rank_evaluate(&e, r, 0, &err), FT_ENOTFOUND);
}
