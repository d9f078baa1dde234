/* Fronts and hypervolumes, against counting. */
#include <stdlib.h>

#include "base/prng.h"
#include "check.h"
#include "foretell/explore.h"

static int is_on(const double *y, size_t n, size_t m, size_t i)
{
    for (size_t k = 0; k < m; k++)
        if (isnan(y[i * m + k]))
            return 0;
    for (size_t j = 0; j < n; j++) {
        size_t good = 0, better = 0;

        for (size_t k = 0; k < m; k++) {
            good += y[j * m + k] <= y[i * m + k];
            better += y[j * m + k] < y[i * m + k];
        }
        if (good == m && better)
            return 0;
    }
    return 1;
}

/* Few values, so that many rows are equal; some are missing. */
TEST(a_front_is_what_nothing_dominates)
{
    enum { N = 200, M = 5 };
    ft__prng rng = {1};

    for (int t = 0; t < 300; t++) {
        const size_t m = 1 + (size_t)t % M, n = ft__prng_below(&rng, N);
        const uint32_t values = 2 + ft__prng_below(&rng, 60);
        unsigned char on[N];
        double y[N * M];

        for (size_t i = 0; i < n * m; i++)
            y[i] = ft__prng_below(&rng, 100) == 0 ? (double)NAN
                                                  : ft__prng_below(&rng, values);
        CHECK_EQ(ft_pareto(on, y, n, m, NULL), FT_OK);
        for (size_t i = 0; i < n; i++)
            CHECK_EQ(on[i], is_on(y, n, m, i));
    }
}

TEST(infinite_objectives_are_ordinary_ones)
{
    const double y[] = {INFINITY, 1, 1, INFINITY, INFINITY, INFINITY, -INFINITY, 2};
    unsigned char on[4];

    CHECK_EQ(ft_pareto(on, y, 4, 2, NULL), FT_OK);
    CHECK(EQ(on[0], 1) && EQ(on[1], 0) && EQ(on[2], 0) && EQ(on[3], 1));
}

TEST(a_million_rows_have_the_front_they_were_given)
{
    enum { N = 1000000, FRONT = 1000 };
    double *y = malloc(2 * N * sizeof(*y));
    unsigned char *on = malloc(N);
    ft__prng rng = {2};
    size_t wrong = 0;

    if (!y || !on)
        abort();
    for (size_t i = 0; i < N; i++) {
        const double x = ft__prng_unit(&rng), off = i % (N / FRONT) ? 0.1 : 0;

        y[2 * i] = x + off * (1 + ft__prng_unit(&rng));
        y[2 * i + 1] = 1 - x + off;
    }
    CHECK_EQ(ft_pareto(on, y, N, 2, NULL), FT_OK);
    for (size_t i = 0; i < N; i++)
        wrong += on[i] != (i % (N / FRONT) == 0);
    CHECK_EQ(wrong, 0);
    free(y);
    free(on);
}

/* Cells of a grid below the reference that some point dominates: exact for integers. */
static double count_cells(const double *y, size_t n, size_t m, int reference)
{
    double volume = 0;
    int cell[8] = {0};

    for (size_t k = 0; k < m;) {
        int covered = 0;

        for (size_t i = 0; i < n && !covered; i++) {
            size_t good = 0;

            for (size_t c = 0; c < m; c++)
                good += y[i * m + c] <= cell[c];
            covered = good == m;
        }
        volume += covered;
        for (k = 0; k < m && ++cell[k] == reference; k++)
            cell[k] = 0;
    }
    return volume;
}

TEST(the_hypervolume_is_the_volume_covered)
{
    enum { N = 30, M = 6 };
    ft__prng rng = {3};

    for (int t = 0; t < 300; t++) {
        const size_t m = 1 + (size_t)t % M, n = ft__prng_below(&rng, N);
        const int size = m < 4 ? 12 : 6;
        double y[N * M], reference[M], volume;

        for (size_t i = 0; i < n * m; i++)
            y[i] = ft__prng_below(&rng, (uint32_t)size + 2);
        for (size_t k = 0; k < m; k++)
            reference[k] = size;
        CHECK_EQ(ft_hypervolume(&volume, y, n, m, reference, NULL), FT_OK);
        CHECK_EQ(volume, count_cells(y, n, m, size));
    }
}

/* Of points on the sphere around 0 in the positive part, reference 1: nearly a part of
 * a ball is left over. */
TEST(many_points_on_a_sphere_leave_the_ball)
{
    enum { N = 4000 };
    static double y[3 * N];
    const double reference[] = {1, 1, 1};
    double volume;

    for (int i = 0; i < N; i++) {
        const double z = (i + 0.5) / N, turn = fmod(i * 0.6180339887498949, 1);
        const double angle = turn * acos(0), r = sqrt(1 - z * z);

        y[3 * i] = r * cos(angle);
        y[3 * i + 1] = r * sin(angle);
        y[3 * i + 2] = z;
    }
    CHECK_EQ(ft_hypervolume(&volume, y, N, 3, reference, NULL), FT_OK);
    CHECK(CMP(volume, <, 1 - acos(-1) / 6));
    CHECK_NEAR(volume, 1 - acos(-1) / 6, 0.03);
}

TEST(what_is_not_known_or_beyond_adds_nothing)
{
    const double y[] = {1, 1, NAN, 0, 3, 0, 2, 2}, reference[] = {3, 2};
    double volume;

    CHECK_EQ(ft_hypervolume(&volume, y, 4, 2, reference, NULL), FT_OK);
    CHECK_EQ(volume, 2);
    CHECK_EQ(ft_hypervolume(&volume, y, 0, 2, reference, NULL), FT_OK);
    CHECK_EQ(volume, 0);
    CHECK_EQ(ft_hypervolume(&volume, y, 4, 0, reference, NULL), FT_EINVAL);
}
