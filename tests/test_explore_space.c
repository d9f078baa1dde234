/* Spaces of parameters: coordinates, conditions, forbidden combinations. */

#include "base/prng.h"
#include "check.h"
#include "explore_space.h"

TEST(each_value_owns_an_equal_share)
{
    const ft_parameter param[] = {categories("c", 5), ordinals("o", 3),
                                  integers("i", -3, 3, 0), reals("r", 2, 10, 0)};
    ft_space *s = space_of(param, 4);
    int seen[3][7] = {{0}};
    double least = 10, greatest = 2;

    for (int i = 0; i < 1050; i++) {
        const double u = (i + 0.5) / 1050, unit[] = {u, u, u, u};
        double point[4];

        ft__space_from_unit(s, point, unit);
        seen[0][(int)point[0]]++;
        seen[1][(int)point[1]]++;
        seen[2][(int)point[2] + 3]++;
        least = fmin(least, point[3]);
        greatest = fmax(greatest, point[3]);
    }
    for (int k = 0; k < 5; k++)
        CHECK_EQ(seen[0][k], 210);
    for (int k = 0; k < 3; k++)
        CHECK_EQ(seen[1][k], 350);
    for (int k = 0; k < 7; k++)
        CHECK_EQ(seen[2][k], 150);
    CHECK_NEAR(least, 2, 0.01);
    CHECK_NEAR(greatest, 10, 0.01);
}

/* Without a file: its points are those of the same space in one. */
TEST(a_program_makes_a_space_and_points_of_it)
{
    const ft_parameter param[] = {categories("c", 3), integers("i", 1, 4, 0),
                                  reals("r", 2, 10, 0)};
    const ft_design_options how = {.design = FT_DESIGN_LATIN, .n = 20, .seed = 1};
    double *points = NULL, *same = NULL;
    size_t n = 0, n_same = 0;
    ft_space *s = NULL;
    ft_error err;

    CHECK_EQ(ft_space_new(&s, param, 3, NULL), FT_OK);
    CHECK_EQ(ft_design_make(&points, &n, s, &how, NULL), FT_OK);
    CHECK_EQ(ft_design_make(&same, &n_same, space_of(param, 3), &how, NULL), FT_OK);
    CHECK(EQ(n, 20) && EQ(n_same, n) && BYTES(points, same, 3 * n * sizeof(*points)));
    free(points);
    free(same);
    free(s);
    CHECK_EQ(ft_space_new(&s, &(const ft_parameter){.name = "r", .type = FT_PARAM_REAL},
                          1, &err),
             FT_EINVAL);
    CHECK(HAS(err.msg, "r goes from 0 to 0") && EQ(s == NULL, 1));
    CHECK_EQ(ft_space_new(&s, param, 0, NULL), FT_EINVAL);
}

TEST(orders_of_magnitude_count_alike)
{
    const ft_parameter param[] = {integers("i", 1, 1023, 1), reals("r", 1e-3, 1e3, 1)};
    ft_space *s = space_of(param, 2);
    const double unit[] = {0.55, 0.75};
    double point[2];

    ft__space_from_unit(s, point, unit);
    CHECK_EQ(point[0], 45); /* 2^5.5 */
    CHECK_NEAR(point[1], pow(10, 1.5), 1e-9);
}

TEST(every_point_comes_back_from_its_coordinates)
{
    const ft_parameter param[] = {categories("c", 5),       ordinals("o", 3),
                                  integers("i", -3, 30, 0), integers("l", 1, 4096, 1),
                                  reals("r", 2, 10, 0),     reals("g", 1e-3, 1e3, 1)};
    ft_space *s = space_of(param, 6);
    ft__prng rng = {1};

    for (int i = 0; i < 1000; i++) {
        double unit[6], point[6], again[6];

        for (int k = 0; k < 6; k++)
            unit[k] = ft__prng_unit(&rng);
        ft__space_from_unit(s, point, unit);
        ft__space_to_unit(s, unit, point);
        ft__space_from_unit(s, again, unit);
        for (int k = 0; k < 6; k++)
            CHECK_NEAR(again[k], point[k], 1e-9 * fabs(point[k]));
    }
}

TEST(coordinates_next_to_1_stay_inside)
{
    const ft_parameter param[] = {integers("i", 1, 1000, 1), integers("k", 0, 6, 0),
                                  categories("c", 7), reals("g", 1e-3, 1e3, 1)};
    const double last = 1 - 0x1p-53, unit[] = {last, last, last, last};
    ft_space *s = space_of(param, 4);
    double point[4];

    ft__space_from_unit(s, point, unit);
    CHECK_EQ(point[0], 1000);
    CHECK_EQ(point[1], 6);
    CHECK_EQ(point[2], 6);
    CHECK(CMP(point[3], <=, 1e3));
}

/* level waits for ftz, which stands before it and waits for compiler. */
TEST(parameters_have_a_say_only_when_their_conditions_hold)
{
    ft_space *s = conditional_space(1);
    const double none[] = {0.1, 0.9, 0.1, 0.5}, half[] = {0.9, 0.1, 0.1, 0.5};
    const double full[] = {0.9, 0.9, 0.1, 0.5};
    double point[4], unit[4];

    ft__space_from_unit(s, point, none);
    CHECK(EQ(point[0], 0) && isnan(point[1]) && EQ(point[2], 1) && isnan(point[3]));
    ft__space_to_unit(s, unit, point);
    CHECK(EQ(unit[1], 0.5) && EQ(unit[3], 0.5));
    ft__space_from_unit(s, point, half);
    CHECK(EQ(point[0], 2) && EQ(point[1], 0) && isnan(point[3]));
    ft__space_from_unit(s, point, full);
    CHECK_EQ(point[1], 1);
    CHECK_NEAR(point[3], 2, 1e-12);
}

TEST(forbidden_combinations_are_not_allowed)
{
    ft_space *s = conditional_space(0);
    const double good[] = {1, NAN, 2}, bad[] = {1, NAN, 3}, other[] = {0, NAN, 4};

    CHECK_EQ(ft__space_allows(s, good), 1);
    CHECK_EQ(ft__space_allows(s, bad), 0);
    CHECK_EQ(ft__space_allows(s, other), 1);
}

TEST(the_size_counts_points_that_differ)
{
    ft_space *s = conditional_space(0), *real = conditional_space(1);
    const ft_parameter param[] = {categories("c", 5), integers("i", 1, 1000000, 0)};
    ft_space *plain = space_of(param, 2);

    CHECK_EQ(s->size, (2 + 2) * 4); /* gcc, clang, nvcc with and without */
    CHECK(isinf(real->size));
    CHECK_EQ(plain->size, 5e6);
}

/* 8 parents of 3 values of which any two open the same child: against counting. */
TEST(the_size_of_tangled_conditions_is_counted_right)
{
    enum { PARENTS = 4, N = PARENTS + 3 };
    static const uint32_t low[] = {0, 1}, high[] = {2};
    const ft__condition condition[] = {{4, {0, 2, low}},
                                       {4, {1, 1, high}},
                                       {5, {2, 1, high}},
                                       {6, {3, 2, low}},
                                       {3, {0, 1, high}}};
    ft_parameter param[N];
    ft_space *s;
    ft__prng rng = {5};
    char seen[3 * 3 * 3 * 4 * 4 * 4 * 4] = {0};
    size_t n = 0;

    for (int i = 0; i < N; i++)
        param[i] = categories("c", 3);
    CHECK_EQ(ft__space_new(&s, &spaces, param, N, condition, 5, NULL, 0, NULL), FT_OK);
    for (int i = 0; i < 200000; i++) {
        double unit[N], point[N];
        size_t code = 0;

        for (int k = 0; k < N; k++)
            unit[k] = ft__prng_unit(&rng);
        ft__space_from_unit(s, point, unit);
        for (int k = 0; k < N; k++)
            code = code * (k < 3 ? 3 : 4) + (isnan(point[k]) ? 3 : (size_t)point[k]);
        n += !seen[code];
        seen[code] = 1;
    }
    CHECK_EQ(s->size, (double)n);
}

TEST(mistakes_are_refused_with_a_sentence)
{
    static const uint32_t first[] = {0}, ninth[] = {9};
    const ft_parameter good[] = {categories("c", 3), reals("r", 1, 2, 0)};
    const ft_parameter reversed = reals("r", 2, 1, 0), no_log = reals("r", 0, 1, 1);
    const ft_parameter no_value = categories("c", 0), half = integers("i", 0.5, 3.5, 0);
    const ft__condition circle[] = {{0, {0, 1, first}}}, unknown = {7, {0, 1, first}};
    const ft__condition on_real = {0, {1, 1, first}}, no_index = {1, {0, 1, ninth}};
    const struct {
        const ft_parameter *param;
        size_t n;
        const ft__condition *condition;
        const char *says;
    } bad[] = {
        {good, 0, NULL, "0 parameters"},       {&reversed, 1, NULL, "from 2 to 1"},
        {&no_log, 1, NULL, "magnitude"},       {&no_value, 1, NULL, "0 values"},
        {&half, 1, NULL, "not 4 integers"},    {good, 2, circle, "circle"},
        {good, 2, &unknown, "no parameter 7"}, {good, 2, &on_real, "real number"},
        {good, 2, &no_index, "no value 9"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        ft_error err = {0};
        ft_space *s;

        CHECK_EQ(ft__space_new(&s, &spaces, bad[i].param, bad[i].n, bad[i].condition,
                               bad[i].condition != NULL, NULL, 0, &err),
                 FT_EINVAL);
        CHECK(EQ(s, NULL));
        CHECK(HAS(err.msg, bad[i].says));
    }
}
