/* What a Gaussian process is fitted with: matrices and walks downhill. */
#include <math.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "learn/decay.h"
#include "learn/numerics.h"

enum { MOST = 23 };

/* b b' + n, of random b: positive definite, well conditioned. */
static void draw_matrix(double *a, size_t n, uint64_t seed)
{
    ft__prng p = ft__prng_stream(seed, n);
    double b[MOST * MOST];

    for (size_t i = 0; i < n * n; i++)
        b[i] = 2 * ft__prng_unit(&p) - 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] = i == j ? (double)n : 0;
            for (size_t k = 0; k < n; k++)
                a[i * n + j] += b[i * n + k] * b[j * n + k];
        }
}

TEST(a_factor_times_itself_is_the_matrix)
{
    for (size_t n = 1; n <= MOST; n++) {
        double a[MOST * MOST], l[MOST * MOST];

        draw_matrix(a, n, 1);
        memcpy(l, a, sizeof(l));
        CHECK(ft__cholesky(l, n));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) {
                double sum = 0;

                for (size_t k = 0; k <= j; k++)
                    sum += l[i * n + k] * l[j * n + k];
                CHECK_NEAR(sum, a[i * n + j], 1e-12 * (double)n);
            }
    }
}

TEST(a_solution_fulfils_its_equations)
{
    for (size_t n = 1; n <= MOST; n++) {
        double a[MOST * MOST], l[MOST * MOST], x[MOST];

        draw_matrix(a, n, 2);
        memcpy(l, a, sizeof(l));
        for (size_t i = 0; i < n; i++)
            x[i] = (double)i - 3;
        CHECK(ft__cholesky(l, n));
        ft__cholesky_solve(x, l, x, n);
        for (size_t i = 0; i < n; i++)
            CHECK_NEAR(ft__dot(a + i * n, x, n), (double)i - 3, 1e-11);
    }
}

TEST(the_inverse_solves_for_unit_vectors)
{
    for (size_t n = 1; n <= MOST; n++) {
        double a[MOST * MOST], inverse[MOST * MOST], scratch[MOST * MOST], x[MOST];

        draw_matrix(a, n, 3);
        CHECK(ft__cholesky(a, n));
        ft__cholesky_invert(inverse, a, scratch, n);
        for (size_t j = 0; j < n; j++) {
            memset(x, 0, sizeof(x));
            x[j] = 1;
            ft__cholesky_solve(x, a, x, n);
            for (size_t i = j; i < n; i++)
                CHECK_NEAR(inverse[i * n + j], x[i], 1e-13);
        }
    }
}

TEST(what_is_not_positive_definite_has_no_factor)
{
    double turned[] = {1, 2, 2, 1}, flat[] = {1, 1, 1, 1}, no_number[] = {NAN};

    CHECK(!ft__cholesky(turned, 2));
    CHECK(!ft__cholesky(flat, 2));
    CHECK(!ft__cholesky(no_number, 1));
}

static double rosenbrock(void *calls, const double *x, double *g)
{
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];

    ++*(int *)calls;
    g[0] = -2 * a - 400 * x[0] * b;
    g[1] = 200 * b;
    return a * a + 100 * b * b;
}

TEST(a_walk_ends_in_a_curved_valley)
{
    double x[] = {-1.2, 1}, least;
    int calls = 0;

    CHECK_EQ(ft__minimise(&least, x, 2, 200, rosenbrock, &calls, NULL), FT_OK);
    CHECK_NEAR(x[0], 1, 1e-3);
    CHECK_NEAR(x[1], 1, 1e-3);
    CHECK(CMP(calls, <, 150));
}

/* Defined below 1 only, and least at its edge. */
static double up_to_one(void *with, const double *x, double *g)
{
    (void)with;
    g[0] = -1;
    return x[0] < 1 ? -x[0] : INFINITY;
}

TEST(a_walk_stays_where_the_function_is_defined)
{
    double x = -4.5, least;

    CHECK_EQ(ft__minimise(&least, &x, 1, 50, up_to_one, NULL, NULL), FT_OK);
    CHECK(CMP(x, <, 1) && CMP(x, >, 0.99) && EQ(least, -x));
}

TEST(decay_is_the_exponential_function)
{
    for (double t = 0; t < 690; t += 0.37)
        CHECK_NEAR(ft__decay(t) / exp(-t), 1, 4e-15);
    CHECK(EQ(ft__decay(0), 1) && EQ(ft__decay(1e9), 0) && EQ(ft__decay(INFINITY), 0));
}
