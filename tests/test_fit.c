/* One regressor on a plain matrix: what it says of rows, and how sure it is. */
#include "predict/model/fit.h"

#include <math.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "predict/data/shrinkage.h"

enum { N = 200, COLS = 3 };

struct made {
    float x[N * COLS];
    double y[N];
    uint64_t group[N];
    double out[N], spread[N];
};

static void make(struct made *m)
{
    ft__prng p = {7};

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < COLS; j++)
            m->x[i * COLS + j] = (float)ft__prng_unit(&p);
        m->y[i] = sin(6 * (double)m->x[i * COLS]) + (double)m->x[i * COLS + 1];
        m->group[i] = (uint64_t)i;
    }
}

static ft__fit fit_of(struct made *m, const ft__fit_options *o)
{
    const ft__matrix x = {m->x, N, COLS};
    ft__fit f;

    CHECK_EQ(ft__fit_make(&f, m->out, m->spread, &x, m->y, m->group, o, NULL), FT_OK);
    return f;
}

TEST(without_a_spread_all_rows_have_the_typical_one)
{
    static struct made a, b;
    ft__fit_options how = {.methods = 1u << FT_METHOD_EXTRA, .n_trees = 16, .seed = 1};
    ft__fit with, without;

    make(&a);
    make(&b);
    with = fit_of(&a, &how);
    how.no_residual_scale = true;
    without = fit_of(&b, &how);
    CHECK(with.residual_scale && !without.residual_scale);
    CHECK(BYTES(a.out, b.out, sizeof(a.out)));
    CHECK(CMP(without.typical, >, 0.5 * with.typical) &&
          CMP(without.typical, <, 2 * with.typical));
    for (int i = 0; i < N; i++)
        CHECK_NEAR(b.spread[i], without.typical, 0);
    ft__fit_free(&without);
    ft__fit_free(&with);
}

static double relative_error(const struct made *m)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += fabs(exp(m->out[i] - m->y[i]) - 1);
    return sum / N;
}

static double mean_deviation(const struct made *m)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += fabs(m->out[i] - m->y[i]);
    return sum / N;
}

/* Of two minds: some more than half of the rows are three times as large, and no column
 * knows. */
static void make_of_two_minds(struct made *m)
{
    ft__prng p = {9};

    make(m);
    for (int i = 0; i < N; i++)
        m->y[i] += ft__prng_unit(&p) < 0.55 ? log(3) : 0;
}

TEST(what_errs_least_in_proportion_is_chosen_where_that_is_asked_for)
{
    static struct made a, b;
    ft__fit_options how = {.methods = 1u << FT_METHOD_EXTRA | 1u << FT_METHOD_MIDDLE,
                           .n_trees = 32,
                           .seed = 1};
    ft__fit plain, relative;

    make_of_two_minds(&a);
    make_of_two_minds(&b);
    plain = fit_of(&a, &how);
    how.relative = true;
    relative = fit_of(&b, &how);
    CHECK(SAME(relative.choice, "middle"));
    CHECK(!SAME(plain.choice, relative.choice));
    CHECK(CMP(relative_error(&b), <, 0.9 * relative_error(&a)));
    CHECK_NEAR(relative.deviation, mean_deviation(&b), 1e-9);
    ft__fit_free(&plain);
    ft__fit_free(&relative);
}

TEST(a_middle_is_usual_where_errors_are_relative)
{
    static struct made m;
    ft__fit_options how = {.n_trees = 32, .seed = 1, .relative = true};
    ft__fit f;

    make_of_two_minds(&m);
    f = fit_of(&m, &how);
    CHECK(HAS(f.choice, "middle"));
    ft__fit_free(&f);
    how.relative = false;
    f = fit_of(&m, &how);
    CHECK(!strstr(f.choice, "middle"));
    ft__fit_free(&f);
}

/* Targets pile up at 1.5: a regressor that does not know of the end says more. */
TEST(nothing_is_said_beyond_the_bounds)
{
    static struct made m;
    const ft__fit_options how = {
        .methods = 1u << FT_METHOD_GP, .seed = 1, .least = -1.2, .most = 1.51};
    double most = 0, value, spread, scratch;
    ft__fit f;

    make(&m);
    for (int i = 0; i < N; i++)
        m.y[i] = fmin(m.y[i], 1.5);
    f = fit_of(&m, &how);
    for (int i = 0; i < 100; i++) {
        const float row[COLS] = {0.26F, (float)i / 20, 0.5F};

        ft__fit_predict(&f, row, 1, &value, &spread, &scratch);
        most = fmax(most, value);
        CHECK(CMP(fabs(m.out[i] - m.y[i]), <, 0.5));
    }
    CHECK(CMP(most, >, 1.48) && CMP(most, <, 1.51));
    ft__fit_free(&f);
}

/* Errors that go from the first to the last in equal factors, share by share. */
static ft__share_errors errors_from(double first, double last)
{
    ft__share_errors e;

    for (int i = 0; i < FT__N_SHARES; i++)
        e.of[i] = first * pow(last / first, ft__share(i));
    return e;
}

TEST(what_serves_each_chip_left_out_is_taken_nearly_whole)
{
    const ft__share_errors chip[] = {errors_from(0.5, 0.1), errors_from(0.4, 0.1),
                                     errors_from(0.6, 0.15)};

    CHECK(CMP(ft__share_of_learned(chip, 3, 1000), >, 0.95));
}

TEST(what_harms_most_chips_left_out_is_hardly_taken)
{
    const ft__share_errors chip[] = {errors_from(0.4, 0.3), errors_from(0.2, 0.4),
                                     errors_from(0.3, 0.6)};

    CHECK(CMP(ft__share_of_learned(chip, 3, 1000), <, 0.05));
}

TEST(a_large_gain_outweighs_two_chips_harmed)
{
    const ft__share_errors chip[] = {errors_from(0.6, 0.2), errors_from(0.2, 0.4),
                                     errors_from(0.3, 0.4)};
    const ft__share_errors harmed[] = {errors_from(0.6, 0.3), errors_from(0.2, 0.4),
                                       errors_from(0.3, 0.4)};

    CHECK_NEAR(ft__share_of_learned(chip, 3, 1000), 0.7, 0.05);
    CHECK(CMP(ft__share_of_learned(harmed, 3, 1000), <, 0.25));
}

TEST(a_hundredth_of_an_error_hardly_changes_the_share)
{
    const ft__share_errors chip[] = {errors_from(0.2, 0.1935),
                                     errors_from(0.2, 0.1935)};
    const ft__share_errors next[] = {errors_from(0.2, 0.1954),
                                     errors_from(0.2, 0.1954)};

    CHECK_NEAR(ft__share_of_learned(chip, 2, 1000), ft__share_of_learned(next, 2, 1000),
               0.05);
}

TEST(a_chip_that_needs_nothing_learned_does_not_undo_what_serves_the_others)
{
    const ft__share_errors chip[] = {errors_from(0.4, 0.1), errors_from(0.4, 0.1),
                                     errors_from(0.4, 0.1), errors_from(0.4, 0.1),
                                     errors_from(0.4, 0.1), {{0, 0.1, 0.2, 0.3, 0.4}}};

    CHECK_NEAR(ft__share_of_learned(chip, 6, 1000), ft__share_of_learned(chip, 5, 1000),
               0.05);
}

TEST(of_shares_that_change_nothing_half_is_taken)
{
    const ft__share_errors chip[] = {errors_from(0.2, 0.2), errors_from(0.3, 0.3)};

    CHECK_NEAR(ft__share_of_learned(chip, 2, 1000), 0.5, 1e-12);
}

/* INFINITY: by that share no row has an estimate. */
TEST(shares_without_estimates_are_not_taken)
{
    const ft__share_errors last = {{0.4, 0.3, 0.2, 0.1, INFINITY}},
                           none = {{INFINITY, INFINITY, INFINITY, INFINITY, INFINITY}};
    const ft__share_errors two[] = {last, last}, nothing[] = {none, none};

    CHECK_NEAR(ft__share_of_learned(two, 2, 1000), 0.75, 0.05);
    CHECK_NEAR(ft__share_of_learned(nothing, 2, 1000), 0, 0);
}

TEST(of_one_chip_half_is_taken_where_rows_are_many)
{
    const ft__share_errors chip = errors_from(0.5, 0.1);

    CHECK_NEAR(ft__share_of_learned(&chip, 1, 1000), 0.5, 0);
    CHECK_NEAR(ft__share_of_learned(&chip, 1, 30), 0.05, 1e-12);
}
