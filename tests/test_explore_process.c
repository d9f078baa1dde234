#include <math.h>
#include <stdlib.h>

#include "base/prng.h"
#include "check.h"
#include "explore/search/process.h"
#include "explore_space.h"

enum { N = 14, DIMS = 3, OBJECTIVES = 2 };

/* A number, one that has no say in every third row, a category of three. */
static ft_space *space_of_three(void)
{
    const ft_parameter param[] = {reals("a", 0, 1, 0), reals("b", 0, 1, 0),
                                  categories("c", 3)};

    return space_of(param, DIMS);
}

static void draw_rows(float *x, double *y, size_t n)
{
    ft__prng rng = {5};

    for (size_t i = 0; i < n; i++) {
        x[i * DIMS] = (float)ft__prng_unit(&rng);
        x[i * DIMS + 1] = i % 3 ? (float)ft__prng_unit(&rng) : NAN;
        x[i * DIMS + 2] = (float)ft__prng_below(&rng, 3) / 3;
        y[i] = sin(6 * (double)x[i * DIMS]) / 2;
        y[n + i] = y[i] * y[i] - 0.1;
    }
}

/* Rasmussen, Williams 2006, eq. 2.25 and 2.26, by elimination. */
static double kernel(const double *rate, const float *a, const float *b)
{
    double square = 0, r;

    for (int k = 0; k < DIMS; k++) {
        double d = (double)a[k] - (double)b[k];

        if (k == 2)
            d = a[k] != b[k];
        if (isnan(a[k]) || isnan(b[k]))
            d = isnan(a[k]) != isnan(b[k]);
        square += rate[k] * rate[k] * d * d;
    }
    r = sqrt(5 * square);
    return (1 + r + r * r / 3) * exp(-r);
}

static void solve(double *x, const ft__process *p, const float *row, const double *b)
{
    double a[N][N + 1];

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            a[i][j] = kernel(p->rate, row + i * DIMS, row + j * DIMS) +
                      (i == j ? p->noise : 0);
        a[i][N] = b[i];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double times = a[j][i] / a[i][i];

            for (int k = 0; k <= N && j != i; k++)
                a[j][k] -= times * a[i][k];
        }
    for (int i = 0; i < N; i++)
        x[i] = a[i][N] / a[i][i];
}

TEST(what_is_expected_is_the_textbooks)
{
    ft_space *s = space_of_three();
    ft__process p = {.rate = {2, 1, 0.5}, .noise = 1e-3};
    float x[N * DIMS];
    double y[OBJECTIVES * N], weight[N];

    draw_rows(x, y, N);
    CHECK_EQ(ft__process_fit(&p, s, x, y, N, N, OBJECTIVES, NULL), FT_OK);
    for (int t = 0; t < 6; t++) {
        const float at[DIMS] = {0.17f * (float)t, t % 2 ? 0.4f : NAN,
                                (float)(t % 3) / 3};
        double near[N], mean[OBJECTIVES], sigma[OBJECTIVES], left = 1;

        ft__process_ask(&p, s, at, mean, sigma);
        for (int i = 0; i < N; i++)
            near[i] = kernel(p.rate, at, x + i * DIMS);
        solve(weight, &p, x, near);
        for (int i = 0; i < N; i++)
            left -= weight[i] * near[i];
        for (int k = 0; k < OBJECTIVES; k++) {
            double expected = 0, alpha[N], amplitude = 0;

            solve(alpha, &p, x, y + k * N);
            for (int i = 0; i < N; i++) {
                expected += weight[i] * y[k * N + i];
                amplitude += alpha[i] * y[k * N + i] / N;
            }
            CHECK_NEAR(mean[k], expected, 1e-9);
            CHECK_NEAR(sigma[k], sqrt(left * amplitude), 1e-7);
        }
    }
    ft__arena_free(&p.arena);
}

TEST(what_matters_has_the_shorter_length)
{
    enum { MANY = 60 };
    ft_space *s = space_of_three();
    ft__process p = {0};
    float x[MANY * DIMS];
    double y[OBJECTIVES * MANY], mean[OBJECTIVES], sigma[OBJECTIVES];

    draw_rows(x, y, MANY);
    CHECK_EQ(ft__process_tune(&p, s, x, y, MANY, MANY, OBJECTIVES, NULL), FT_OK);
    CHECK(CMP(p.rate[0], >, 3 * p.rate[1]) && CMP(p.rate[0], >, 3 * p.rate[2]));
    CHECK_EQ(ft__process_fit(&p, s, x, y, MANY, MANY, OBJECTIVES, NULL), FT_OK);
    for (int i = 0; i < MANY; i++) {
        ft__process_ask(&p, s, x + i * DIMS, mean, sigma);
        CHECK_NEAR(mean[0], y[i], 0.01);
        CHECK(CMP(sigma[0], <, 0.02));
    }
    ft__arena_free(&p.arena);
}
