/* Searchers: ask and tell, and problems whose fronts are known. */
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "explore/search/gain.h"
#include "explore/search/search.h"
#include "explore_space.h"

typedef void (*problem)(double *y, const double *x, size_t k);

static ft__search *search_of(const ft_space *s, ft_searcher which, uint32_t objectives,
                             const double *limit, uint64_t seed)
{
    const ft__search_options opt = {which, objectives, limit, 0, seed};
    ft__search *search;

    if (ft__search_new(&search, s, &opt, NULL))
        abort();
    return search;
}

static int holds(const double *rows, size_t n, const double *point, size_t k)
{
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;

        for (size_t c = 0; c < k; c++)
            same += rows[i * k + c] == point[c] ||
                    (isnan(rows[i * k + c]) && isnan(point[c]));
        if (same == k)
            return 1;
    }
    return 0;
}

/* Of 14 points, 2 were told without having been asked for. */
TEST(every_point_is_asked_for_once_then_there_are_no_others)
{
    ft_space *s = conditional_space(0);
    const double told[2][3] = {{0, NAN, 1}, {2, 1, 4}}, y[] = {1, 2};

    for (int which = 0; which < FT_SEARCH_COUNT; which++) {
        ft__search *search = search_of(s, (ft_searcher)which, 2, NULL, 1);
        double rows[15 * 3], point[3], gain;
        ft_error err = {0};
        size_t n = 0;

        for (; n < 2; n++) {
            memcpy(rows + 3 * n, told[n], sizeof(told[n]));
            CHECK_EQ(ft__search_tell(search, told[n], y, NULL), FT_OK);
        }
        while (n < 15 && ft__search_ask(search, point, &gain, &err) == FT_OK) {
            const double its[] = {point[0], 5 - point[2]};

            CHECK(ft__space_allows(s, point));
            CHECK(!holds(rows, n, point, 3));
            memcpy(rows + 3 * n++, point, sizeof(point));
            CHECK_EQ(ft__search_tell(search, point, its, NULL), FT_OK);
        }
        CHECK_EQ(n, 14);
        CHECK_EQ(ft__search_ask(search, point, &gain, &err), FT_ENOTFOUND);
        CHECK(HAS(err.msg, "all 14 points"));
        ft__search_free(search);
    }
}

/* Several points asked for before any is told. */
TEST(points_can_be_asked_for_in_batches)
{
    ft_space *s = cube(2, 0, 1);

    for (int which = 0; which < FT_SEARCH_COUNT; which++) {
        ft__search *search = search_of(s, (ft_searcher)which, 2, NULL, 1);
        double rows[60 * 2], gain;

        for (size_t n = 0; n < 60; n++) {
            double *point = rows + 2 * n;

            CHECK_EQ(ft__search_ask(search, point, &gain, NULL), FT_OK);
            CHECK(!holds(rows, n, point, 2));
            for (size_t i = n % 6 == 5 ? n - 5 : n + 1; i <= n; i++)
                CHECK_EQ(ft__search_tell(search, rows + 2 * i, rows + 2 * i, NULL),
                         FT_OK);
        }
        ft__search_free(search);
    }
}

TEST(the_same_seed_asks_the_same)
{
    ft_space *s = conditional_space(1);

    for (int which = 0; which < FT_SEARCH_COUNT; which++) {
        ft__search *a = search_of(s, (ft_searcher)which, 2, NULL, 3);
        ft__search *b = search_of(s, (ft_searcher)which, 2, NULL, 3);

        for (int i = 0; i < 40; i++) {
            double p[4], q[4], gain, y[2];

            CHECK_EQ(ft__search_ask(a, p, &gain, NULL), FT_OK);
            CHECK_EQ(ft__search_ask(b, q, &gain, NULL), FT_OK);
            CHECK(holds(p, 1, q, 4));
            y[0] = p[0] + p[2];
            y[1] = isnan(p[3]) ? 9 : p[3];
            CHECK_EQ(ft__search_tell(a, p, y, NULL), FT_OK);
            CHECK_EQ(ft__search_tell(b, p, y, NULL), FT_OK);
        }
        ft__search_free(a);
        ft__search_free(b);
    }
}

/* Told again of what the first one was told, another search goes on as that did. */
TEST(a_search_that_was_cut_off_goes_on_as_it_would_have)
{
    static const ft_searcher which[] = {FT_SEARCH_MODEL, FT_SEARCH_RANDOM};
    ft_space *s = cube(3, 0, 1);

    for (size_t v = 0; v < 2; v++) {
        ft__search *whole = search_of(s, which[v], 2, NULL, 3);
        double rows[40 * 3], ys[40 * 2], gain, point[3];

        for (size_t n = 0; n < 40; n++) {
            double *p = rows + 3 * n, *y = ys + 2 * n;

            CHECK_EQ(ft__search_ask(whole, p, &gain, NULL), FT_OK);
            if (n % 13 == 7 || n == 11) {
                ft__search *again = search_of(s, which[v], 2, NULL, 3);

                for (size_t i = 0; i < n; i++)
                    CHECK_EQ(ft__search_tell(again, rows + 3 * i, ys + 2 * i, NULL),
                             FT_OK);
                CHECK_EQ(ft__search_ask(again, point, &gain, NULL), FT_OK);
                CHECK(holds(p, 1, point, 3));
                ft__search_free(again);
            }
            y[0] = p[0] + p[2] * p[2];
            y[1] = p[1] - p[0];
            CHECK_EQ(ft__search_tell(whole, p, y, NULL), FT_OK);
        }
        ft__search_free(whole);
    }
}

TEST(points_that_fail_or_have_no_say_do_no_harm)
{
    ft_space *s = conditional_space(1);

    for (int which = 0; which < FT_SEARCH_COUNT; which++) {
        ft__search *search = search_of(s, (ft_searcher)which, 2, NULL, 3);

        for (int i = 0; i < 60; i++) {
            double p[4], gain, y[] = {NAN, NAN};

            CHECK_EQ(ft__search_ask(search, p, &gain, NULL), FT_OK);
            if (i > 30 && i % 3) {
                y[0] = p[0];
                y[1] = -p[2];
            }
            CHECK_EQ(ft__search_tell(search, p, y, NULL), FT_OK);
        }
        ft__search_free(search);
    }
}

/* Zitzler, Deb, Thiele 2000. */
static double zdt_g(const double *x, size_t k)
{
    double sum = 0;

    for (size_t i = 1; i < k; i++)
        sum += x[i];
    return 1 + 9 * sum / (double)(k - 1);
}

static void zdt1(double *y, const double *x, size_t k)
{
    const double g = zdt_g(x, k);

    y[0] = x[0];
    y[1] = g * (1 - sqrt(x[0] / g));
}

static void zdt2(double *y, const double *x, size_t k)
{
    const double g = zdt_g(x, k);

    y[0] = x[0];
    y[1] = g * (1 - x[0] / g * (x[0] / g));
}

static void zdt3(double *y, const double *x, size_t k)
{
    const double g = zdt_g(x, k), f = x[0] / g;

    y[0] = x[0];
    y[1] = g * (1 - sqrt(f) - f * sin(10 * acos(-1) * x[0]));
}

/* Deb, Thiele, Laumanns, Zitzler 2002, three objectives. */
static void dtlz2(double *y, const double *x, size_t k)
{
    const double half = acos(0);
    double g = 1;

    for (size_t i = 2; i < k; i++)
        g += (x[i] - 0.5) * (x[i] - 0.5);
    y[0] = g * cos(x[0] * half) * cos(x[1] * half);
    y[1] = g * cos(x[0] * half) * sin(x[1] * half);
    y[2] = g * sin(x[0] * half);
}

/* Hypervolume after some evaluations, the mean of three seeds. */
static double reached(ft_searcher which, problem f, size_t k, uint32_t m, size_t n,
                      const double *limit)
{
    const double reference[] = {1.1, 1.1, 1.1};
    double *y = malloc(n * m * sizeof(*y)), sum = 0, volume;
    ft_space *s = cube(k, 0, 1);

    if (!y)
        abort();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        ft__search *search = search_of(s, which, m, limit, seed);

        for (size_t i = 0; i < n; i++) {
            double point[16], gain;

            CHECK_EQ(ft__search_ask(search, point, &gain, NULL), FT_OK);
            f(y + i * m, point, k);
            CHECK_EQ(ft__search_tell(search, point, y + i * m, NULL), FT_OK);
        }
        CHECK_EQ(ft_hypervolume(&volume, y, n, m, reference, NULL), FT_OK);
        sum += volume / 3;
        ft__search_free(search);
    }
    free(y);
    return sum;
}

/* Of the whole fronts, reference 1.1: 1.21 - area below, by integration; ZDT3's from a
 * million points of its curve. */
static double whole(problem f, size_t k)
{
    enum { N = 1000000 };
    const double reference[] = {1.1, 1.1};
    double *y = malloc(2 * N * sizeof(*y)), x[16] = {0}, volume;

    if (!y)
        abort();
    for (int i = 0; i < N; i++) {
        x[0] = (i + 0.5) / N;
        f(y + 2 * i, x, k);
    }
    CHECK_EQ(ft_hypervolume(&volume, y, N, 2, reference, NULL), FT_OK);
    free(y);
    return volume;
}

TEST(fronts_of_zdt_are_found)
{
    static const problem all[] = {zdt1, zdt2, zdt3};

    CHECK_NEAR(whole(zdt1, 6), 1.21 - 1.0 / 3, 1e-3);
    CHECK_NEAR(whole(zdt2, 6), 1.21 - 2.0 / 3, 1e-3);
    for (int i = 0; i < 3; i++) {
        const double best = whole(all[i], 6);
        const double model = reached(FT_SEARCH_MODEL, all[i], 6, 2, 150, NULL);
        const double nsga2 = reached(FT_SEARCH_NSGA2, all[i], 6, 2, 3000, NULL);
        const double random = reached(FT_SEARCH_RANDOM, all[i], 6, 2, 3000, NULL);

        CHECK(CMP(nsga2, >, 0.9 * best) && CMP(nsga2, <, best));
        CHECK(CMP(model, >, 0.9 * best) && CMP(model, <, best));
        CHECK(CMP(random, <, 0.8 * best));
    }
}

TEST(the_front_of_dtlz2_is_found)
{
    const double best = 1.331 - acos(-1) / 6;
    const double model = reached(FT_SEARCH_MODEL, dtlz2, 6, 3, 100, NULL);
    const double nsga2 = reached(FT_SEARCH_NSGA2, dtlz2, 6, 3, 2000, NULL);
    const double random = reached(FT_SEARCH_RANDOM, dtlz2, 6, 3, 100, NULL);

    CHECK(CMP(model, >, 1.3 * random) && CMP(model, <, best));
    CHECK(CMP(nsga2, >, 0.9 * best) && CMP(nsga2, <, best));
}

/* Of the front 0.4 < x < 0.6 is within limits, and what lies close to it. */
TEST(points_within_limits_are_looked_for)
{
    const double limit[] = {0.6, 1 - 0.6324555};
    ft_space *s = cube(6, 0, 1);
    int within[FT_SEARCH_COUNT] = {0};

    for (int which = 0; which < FT_SEARCH_COUNT; which++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            ft__search *search = search_of(s, (ft_searcher)which, 2, limit, seed);

            for (int i = 0; i < (which == FT_SEARCH_NSGA2 ? 1500 : 120); i++) {
                double point[6], y[2], gain;

                CHECK_EQ(ft__search_ask(search, point, &gain, NULL), FT_OK);
                zdt1(y, point, 6);
                within[which] += y[0] <= limit[0] && y[1] <= limit[1];
                CHECK_EQ(ft__search_tell(search, point, y, NULL), FT_OK);
            }
            ft__search_free(search);
        }
    CHECK_EQ(within[FT_SEARCH_RANDOM], 0);
    CHECK(CMP(within[FT_SEARCH_MODEL], >, 15));
    CHECK(CMP(within[FT_SEARCH_NSGA2], >, 15));
}

/* What is best lies at the edge of a part of the space in which everything fails; how
 * near a point that works came is kept. */
static int n_failing(ft_searcher which, uint64_t seed, double *nearest)
{
    ft_space *s = cube(3, 0, 1);
    ft__search *search = search_of(s, which, 2, NULL, seed);
    int n = 0;

    for (int i = 0; i < 60; i++) {
        double p[3], gain, y[2] = {NAN, NAN};
        bool fails;

        CHECK_EQ(ft__search_ask(search, p, &gain, NULL), FT_OK);
        fails = p[1] > 0.5;
        if (!fails) {
            y[0] = p[0] + 2 * (1 - p[1]);
            y[1] = 1 - p[0] + 2 * (1 - p[1]) + p[2];
        }
        *nearest = fails ? *nearest : fmax(*nearest, p[1]);
        n += i >= 20 && fails;
        CHECK_EQ(ft__search_tell(search, p, y, NULL), FT_OK);
    }
    ft__search_free(search);
    return n;
}

TEST(a_search_learns_where_points_fail)
{
    int model = 0, random = 0;

    for (uint64_t seed = 1; seed <= 5; seed++) {
        double nearest = 0, unused = 0;

        model += n_failing(FT_SEARCH_MODEL, seed, &nearest);
        random += n_failing(FT_SEARCH_RANDOM, seed, &unused);
        CHECK(CMP(nearest, >, 0.48));
    }
    CHECK(CMP(random, >, 80));
    CHECK(CMP(model, <, 60));
}

/* Two objectives exactly, against drawing. */
TEST(the_expected_gain_is_the_mean_of_gains)
{
    const double front[] = {0.1, 0.8, 0.3, 0.4, 0.7, 0.2, 0.9, 0.9};
    const double reference[] = {1, 1};
    ft__gain g = {0};
    ft__prng rng = {8};

    CHECK_EQ(ft__gain_start(&g, front, 4, 2, NULL), FT_OK);
    CHECK_EQ(g.n, 3);
    CHECK_NEAR(g.volume, 0.2 * 0.2 + 0.4 * 0.6 + 0.3 * 0.8, 1e-12);
    for (int t = 0; t < 6; t++) {
        const double mean[] = {0.2 * t, 0.9 - 0.15 * t};
        const double sigma[] = {0.05 + 0.03 * t, 0.2};
        double rows[8], drawn = 0, volume;

        memcpy(rows, front, 6 * sizeof(*rows));
        for (int d = 0; d < 200000; d++) {
            const double r = sqrt(-2 * log(1 - ft__prng_unit(&rng)));
            const double angle = 2 * acos(-1) * ft__prng_unit(&rng);

            rows[6] = mean[0] + sigma[0] * r * cos(angle);
            rows[7] = mean[1] + sigma[1] * r * sin(angle);
            ft_hypervolume(&volume, rows, 4, 2, reference, NULL);
            drawn += (volume - g.volume) / 200000;
        }
        CHECK_NEAR(ft__gain_expected(&g, mean, sigma, &rng), drawn, 0.002);
    }
    ft__gain_free(&g);
}

/* Three objectives that are certain: the volume itself. */
TEST(a_certain_gain_is_the_volume_added)
{
    const double front[] = {0.5, 0.5, 0.5, 0.2, 0.9, 0.4}, sigma[] = {0, 0, 0};
    const double new[] = {0.4, 0.6, 0.3}, worse[] = {0.6, 0.6, 0.6};
    const double reference[] = {1, 1, 1};
    double rows[9], before, after;
    ft__gain g = {0};
    ft__prng rng = {8};

    memcpy(rows, front, sizeof(front));
    memcpy(rows + 6, new, sizeof(new));
    CHECK_EQ(ft_hypervolume(&before, rows, 2, 3, reference, NULL), FT_OK);
    CHECK_EQ(ft_hypervolume(&after, rows, 3, 3, reference, NULL), FT_OK);
    CHECK_EQ(ft__gain_start(&g, front, 2, 3, NULL), FT_OK);
    CHECK_NEAR(ft__gain_expected(&g, new, sigma, &rng), after - before, 1e-12);
    CHECK_EQ(ft__gain_expected(&g, worse, sigma, &rng), 0);
    ft__gain_free(&g);
}
