/* Influence, against functions whose shares of variance are known. */
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "explore_space.h"

enum { N = 5000 };

typedef double (*function)(const double *x);

static ft_influence influence_of(const ft_space *s, function f, size_t n)
{
    const ft_design_options opt = {.design = FT_DESIGN_SOBOL, .n = n, .seed = 1};
    double *point, *y = malloc(n * sizeof(*y));
    ft_influence in;
    size_t got;

    if (!y || ft_design_make(&point, &got, s, &opt, NULL))
        abort();
    for (size_t i = 0; i < got; i++)
        y[i] = f(point + i * s->n);
    CHECK_EQ(ft_influence_compute(&in, s, point, y, got, 2, NULL), FT_OK);
    free(point);
    free(y);
    return in;
}

/* Ishigami, Homma 1990, with a = 7, b = 0.1. */
static double ishigami(const double *x)
{
    return sin(x[0]) + 7 * pow(sin(x[1]), 2) + 0.1 * pow(x[2], 4) * sin(x[0]);
}

TEST(the_shares_of_ishigami_are_found)
{
    const double pi = acos(-1), a = 7, b = 0.1;
    const double one = pow(1 + b * pow(pi, 4) / 5, 2) / 2, two = a * a / 8;
    const double both = pow(b, 2) * pow(pi, 8) * (1.0 / 18 - 1.0 / 50);
    const double all = one + two + both;
    ft_space *s = cube(3, -pi, pi);
    ft_influence in = influence_of(s, ishigami, N);

    CHECK_EQ(in.k, 3);
    CHECK_NEAR(in.main[0], one / all, 0.05);
    CHECK_NEAR(in.main[1], two / all, 0.05);
    CHECK_NEAR(in.main[2], 0, 0.05);
    CHECK_NEAR(in.pair[0 * 3 + 2], both / all, 0.05);
    CHECK_NEAR(in.pair[0 * 3 + 1], 0, 0.05);
    CHECK_NEAR(in.pair[1 * 3 + 2], 0, 0.05);
    CHECK(EQ(in.pair[2 * 3 + 0], in.pair[0 * 3 + 2]) && EQ(in.pair[4], 0));
    CHECK(CMP(in.r2, >, 0.9) && CMP(in.r2, <, 1));
    for (int k = 0; k < 3; k++)
        CHECK(CMP(in.main_sigma[k], >, 0) && CMP(in.main_sigma[k], <, 0.1));
    ft_influence_free(&in);
}

/* Sobol's g (Saltelli, Sobol 1995): the share of a set is the product over it of
 * 1 / (3 (1 + a)^2). */
static const double g_a[] = {0, 1, 4.5, 9, 99, 99, 99, 99};

static double sobol_g(const double *x)
{
    double product = 1;

    for (int k = 0; k < 8; k++)
        product *= (fabs(4 * x[k] - 2) + g_a[k]) / (1 + g_a[k]);
    return product;
}

TEST(the_shares_of_sobol_g_are_found)
{
    double part[8], all = 1;
    ft_space *s = cube(8, 0, 1);
    ft_influence in = influence_of(s, sobol_g, N);

    for (int k = 0; k < 8; k++) {
        part[k] = 1 / (3 * (1 + g_a[k]) * (1 + g_a[k]));
        all *= 1 + part[k];
    }
    all -= 1;
    for (int k = 0; k < 8; k++) {
        CHECK_NEAR(in.main[k], part[k] / all, 0.05);
        for (int j = 0; j < k; j++)
            CHECK_NEAR(in.pair[8 * j + k], part[j] * part[k] / all, 0.05);
    }
    ft_influence_free(&in);
}

/* The compiler, and what only one of three has; batch does nothing. */
static double when_nvcc(const double *x)
{
    return x[0] + (isnan(x[1]) ? 0 : 4 * x[1]);
}

TEST(parameters_that_seldom_have_a_say_count_less)
{
    ft_space *s = conditional_space(0);
    ft_influence in = influence_of(s, when_nvcc, 14);

    CHECK(CMP(in.main[0], >, in.main[1]));
    CHECK(CMP(in.main[1] + in.pair[0 * 3 + 1], >, 0.05));
    CHECK(CMP(in.main[2], <, 0.05));
    ft_influence_free(&in);
}

/* A choice of four, a switch, and a whole number that matters only with the switch on;
 * exactly: f = c + 3 s (i - 2.5), i = 1 .. 4. */
static double switched(const double *x)
{
    return x[0] + 3 * x[1] * (x[2] - 2.5);
}

TEST(values_and_switches_have_their_exact_shares)
{
    const ft_parameter param[] = {categories("c", 4), ordinals("s", 2),
                                  integers("i", 1, 4, 0)};
    ft_space *s = space_of(param, 3);
    ft_influence in = influence_of(s, switched, 32);
    const double variance = 1.25, all = variance + 9 * variance / 4 * 2;

    CHECK_NEAR(in.main[0], variance / all, 0.06);
    CHECK_NEAR(in.main[1], 0, 0.06);
    CHECK_NEAR(in.main[2], 9 * variance / 4 / all, 0.06);
    CHECK_NEAR(in.pair[1 * 3 + 2], 9 * variance / 4 / all, 0.06);
    ft_influence_free(&in);
}

TEST(points_that_failed_are_left_out)
{
    ft_space *s = cube(2, 0, 1);
    const ft_design_options opt = {.design = FT_DESIGN_RANDOM, .n = 40};
    double *point, y[40], known_y[40];
    ft_influence a, b;
    ft_error err = {0};
    size_t n, known = 0;

    CHECK_EQ(ft_design_make(&point, &n, s, &opt, NULL), FT_OK);
    for (size_t i = 0; i < n; i++)
        y[i] = i % 3 ? point[2 * i] : NAN;
    CHECK_EQ(ft_influence_compute(&a, s, point, y, n, 1, NULL), FT_OK);
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i]))
            continue;
        memmove(point + 2 * known, point + 2 * i, 2 * sizeof(*point));
        known_y[known++] = y[i];
    }
    CHECK_EQ(ft_influence_compute(&b, s, point, known_y, known, 1, NULL), FT_OK);
    CHECK(BYTES(a.main, b.main, 2 * sizeof(*a.main)));
    CHECK(EQ(a.pair[1], b.pair[1]) && EQ(a.r2, b.r2));
    ft_influence_free(&a);
    ft_influence_free(&b);
    CHECK_EQ(ft_influence_compute(&a, s, point, known_y, 9, 1, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "9 points"));
    for (size_t i = 0; i < known; i++)
        known_y[i] = 7;
    CHECK_EQ(ft_influence_compute(&a, s, point, known_y, known, 1, NULL), FT_OK);
    CHECK(isnan(a.main[0]) && isnan(a.pair[1]) && isnan(a.r2));
    ft_influence_free(&a);
    free(point);
}
