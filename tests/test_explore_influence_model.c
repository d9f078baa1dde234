/* Performance-influence models, against polynomials that are known. */
#include <stdlib.h>

#include "base/prng.h"
#include "check.h"
#include "explore_space.h"

typedef double (*function)(const double *x, ft__prng *rng);

static ft_influence_model model_of(const ft_space *s, function f, size_t n)
{
    const ft_design_options opt = {.design = FT_DESIGN_RANDOM, .n = n, .seed = 1};
    double *point, *y = malloc(n * sizeof(*y));
    ft_influence_model m;
    ft__prng rng = {3};
    size_t got;

    if (!y || ft_design_make(&point, &got, s, &opt, NULL))
        abort();
    for (size_t i = 0; i < got; i++)
        y[i] = f(point + i * s->n, &rng);
    CHECK_EQ(ft_influence_fit(&m, s, point, y, got, 2, NULL), FT_OK);
    free(point);
    free(y);
    return m;
}

/* The coefficient of a term, NaN: it was not chosen. */
static double coefficient(const ft_influence_model *m, int32_t a, int32_t a_value,
                          int32_t b, int32_t b_value, int32_t power)
{
    for (size_t i = 0; i < m->n; i++) {
        const ft_influence_term *t = &m->term[i];

        if (t->param[0] == a && t->category[0] == a_value && t->param[1] == b &&
            t->category[1] == b_value && t->power[0] == power)
            return t->coefficient;
    }
    return NAN;
}

/* 5 + 3 [c = 2] - 4 x^2 + 6 [s = 1] x; what nothing depends on is left out. */
static double polynomial(const double *p, ft__prng *rng)
{
    const double x = (p[2] - 10) / 10;

    (void)rng;
    return 5 + 3 * (p[0] == 2) - 4 * x * x + 6 * p[1] * x;
}

static ft_space *mixed_space(void)
{
    const ft_parameter param[] = {categories("c", 4), categories("s", 2),
                                  reals("x", 10, 20, 0), reals("z", 0, 1, 0)};

    return space_of(param, 4);
}

TEST(the_terms_of_a_polynomial_are_found)
{
    ft_space *s = mixed_space();
    ft_influence_model m = model_of(s, polynomial, 200);

    CHECK_EQ(m.term[0].param[0], -1);
    CHECK_NEAR(m.term[0].coefficient, 5, 1e-3);
    CHECK_NEAR(coefficient(&m, 0, 2, -1, -1, 1), 3, 1e-3);
    CHECK_NEAR(coefficient(&m, 2, -1, -1, -1, 2), -4, 1e-2);
    CHECK_NEAR(coefficient(&m, 1, 1, 2, -1, 1), 6, 1e-2);
    CHECK(CMP(m.n, <, 8));
    CHECK(CMP(m.r2, >, 0.9999));
    ft_influence_model_free(&m);
}

static double noisy(const double *p, ft__prng *rng)
{
    return polynomial(p, rng) + 2 * (ft__prng_unit(rng) - 0.5);
}

/* Noise of variance 1/3 is not explained, nor are terms made up for it. */
TEST(noise_is_not_explained)
{
    ft_space *s = mixed_space();
    ft_influence_model m = model_of(s, noisy, 400),
                       exact = model_of(s, polynomial, 400);

    CHECK_NEAR(coefficient(&m, 0, 2, -1, -1, 1), 3, 0.3);
    CHECK(CMP(m.n, <=, exact.n + 4));
    CHECK(CMP(m.r2, >, 0.8) && CMP(m.r2, <, 0.96));
    ft_influence_model_free(&exact);
    ft_influence_model_free(&m);
}

static double nothing(const double *p, ft__prng *rng)
{
    (void)p;
    return ft__prng_unit(rng);
}

TEST(chance_alone_is_no_model)
{
    ft_space *s = mixed_space();
    ft_influence_model m = model_of(s, nothing, 100);

    CHECK(CMP(m.n, <=, 3));
    CHECK(CMP(m.r2, <, 0.1));
    CHECK_NEAR(m.term[0].coefficient, 0.5, 0.15);
    ft_influence_model_free(&m);
}

/* ftz has a say with nvcc only, and costs 4 there. */
static double conditional(const double *p, ft__prng *rng)
{
    (void)rng;
    return p[2] + (isnan(p[1]) ? 0 : 4 * p[1]);
}

TEST(parameters_without_a_say_add_nothing)
{
    ft_space *s = conditional_space(0);
    ft_influence_model m = model_of(s, conditional, 14);

    CHECK_NEAR(coefficient(&m, 1, 1, -1, -1, 1), 4, 1e-6);
    CHECK_NEAR(coefficient(&m, 2, -1, -1, -1, 1), 4, 1e-6); /* 4 of range 0 .. 1 */
    ft_influence_model_free(&m);
}

TEST(too_few_points_are_refused)
{
    ft_space *s = cube(2, 0, 1);
    const double point[18] = {0}, y[9] = {0};
    ft_influence_model m;
    ft_error err = {0};

    CHECK_EQ(ft_influence_fit(&m, s, point, y, 9, 1, &err), FT_EINVAL);
    CHECK(EQ(m.term, NULL) && HAS(err.msg, "9 points"));
}
