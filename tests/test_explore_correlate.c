/* Correlations, against scipy and by hand. */
#include <stdlib.h>

#include "base/prng.h"
#include "check.h"
#include "foretell/explore.h"

#include "explore_correlations.h"

static ft_correlation correlate(ft_correlation_kind kind, const double *a,
                                const double *b, size_t n)
{
    ft_correlation c;

    CHECK_EQ(ft_correlate(&c, kind, a, b, n, NULL), FT_OK);
    return c;
}

TEST(correlations_are_those_of_scipy)
{
    for (size_t i = 0; i < sizeof(correlation) / sizeof(*correlation); i++)
        for (int k = 0; k < FT_CORRELATION_COUNT; k++) {
            const ft_correlation c = correlate((ft_correlation_kind)k, correlation[i].a,
                                               correlation[i].b, correlation[i].n);

            CHECK_EQ(c.n, correlation[i].n);
            CHECK_NEAR(c.r, correlation[i].r[k], 1e-12);
            CHECK(CMP(k, !=, FT_PEARSON) ||
                  CMP(fabs(c.low - correlation[i].low), <, 1e-9));
            CHECK(CMP(k, !=, FT_PEARSON) ||
                  CMP(fabs(c.high - correlation[i].high), <, 1e-9));
        }
}

/* Variances of z that they give for ranks. */
TEST(intervals_of_ranks_are_those_of_the_paper)
{
    const double z = 1.959963984540054;

    for (size_t i = 1; i < sizeof(correlation) / sizeof(*correlation); i++) {
        const double n = (double)correlation[i].n;
        const ft_correlation s = correlate(FT_SPEARMAN, correlation[i].a,
                                           correlation[i].b, correlation[i].n);
        const ft_correlation k =
            correlate(FT_KENDALL, correlation[i].a, correlation[i].b, correlation[i].n);

        CHECK_NEAR(atanh(s.high) - atanh(s.r), z * sqrt((1 + s.r * s.r / 2) / (n - 3)),
                   1e-9);
        CHECK_NEAR(atanh(k.r) - atanh(k.low), z * sqrt(0.437 / (n - 4)), 1e-9);
    }
}

/* Of pairs whose true correlation is known, most intervals hold it: 95 % within what
 * 600 draws allow, and Kendall's with its approximation. */
TEST(intervals_hold_the_truth_as_often_as_they_say)
{
    enum { TRIALS = 600, N = 40 };
    const double rho = 0.6, pi = acos(-1);
    const double truth[] = {rho, 6 / pi * asin(rho / 2), 2 / pi * asin(rho)};
    int held[FT_CORRELATION_COUNT] = {0};
    ft__prng rng = {6};

    for (int t = 0; t < TRIALS; t++) {
        double a[N], b[N];

        for (int i = 0; i < N; i++) {
            const double r = sqrt(-2 * log(1 - ft__prng_unit(&rng)));
            const double angle = 2 * pi * ft__prng_unit(&rng);

            a[i] = r * cos(angle);
            b[i] = rho * a[i] + sqrt(1 - rho * rho) * r * sin(angle);
        }
        for (int k = 0; k < FT_CORRELATION_COUNT; k++) {
            const ft_correlation c = correlate((ft_correlation_kind)k, a, b, N);

            held[k] += c.low <= truth[k] && truth[k] <= c.high;
        }
    }
    for (int k = 0; k < FT_CORRELATION_COUNT; k++) {
        CHECK(CMP(held[k], >, 0.92 * TRIALS));
        CHECK(CMP(held[k], <, 0.98 * TRIALS));
    }
}

TEST(what_cannot_be_said_is_not_a_number)
{
    const double a[] = {1, 2, 3, NAN, 5}, b[] = {2, NAN, 1, 4, 3};
    const double c[] = {1, 2, 3, 4, 5}, flat[] = {7, 7, 7, 7, 7};

    for (int k = 0; k < FT_CORRELATION_COUNT; k++) {
        const ft_correlation few = correlate((ft_correlation_kind)k, a, b, 5);
        const ft_correlation same = correlate((ft_correlation_kind)k, c, flat, 5);
        const ft_correlation one = correlate((ft_correlation_kind)k, c, c, 5);

        CHECK(EQ(few.n, 3) && isnan(few.r) && isnan(few.low) && isnan(few.high));
        CHECK(EQ(same.n, 5) && isnan(same.r));
        CHECK_NEAR(one.r, 1, 1e-12);
        CHECK(CMP(one.low, <=, 1) && CMP(one.high, <=, 1));
    }
}
