/* Designs: the property that defines each. */

#include "base/prng.h"
#include "base/stats.h"
#include "check.h"
#include "explore/design/design.h"
#include "explore_space.h"

static double *make(size_t *n, const ft_space *s, ft_design_options opt)
{
    double *row;
    ft_error err = {0};

    if (ft_design_make(&row, n, s, &opt, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    return row;
}

static void check_points_are_proper(const ft_space *s, const double *row, size_t n)
{
    const size_t k = s->n;

    for (size_t i = 0; i < n; i++) {
        CHECK(ft__space_allows(s, row + i * k));
        for (size_t j = 0; j < i; j++) {
            size_t same = 0;

            for (size_t c = 0; c < k; c++)
                same += row[i * k + c] == row[j * k + c] ||
                        (isnan(row[i * k + c]) && isnan(row[j * k + c]));
            CHECK(CMP(same, <, k));
        }
    }
}

TEST(a_full_design_has_every_combination_once)
{
    const ft_parameter param[] = {categories("c", 3), integers("i", 2, 5, 0),
                                  reals("r", 1, 100, 1)};
    ft_space *s = space_of(param, 3), *c = conditional_space(0);
    size_t n;
    double *row = make(&n, s, (ft_design_options){.levels = 3});

    CHECK_EQ(n, 3 * 4 * 3);
    check_points_are_proper(s, row, n);
    for (size_t i = 0; i < n; i++) {
        CHECK_EQ(row[3 * i], (double)(i / 12));
        CHECK_EQ(row[3 * i + 1], 2 + (double)(i / 3 % 4));
        CHECK_NEAR(row[3 * i + 2], pow(10, (double)(i % 3)), 1e-12);
    }
    free(row);
    row = make(&n, c, (ft_design_options){0});
    CHECK_EQ(n, 4 + 2 + 2 * 4); /* gcc, clang without two batches, nvcc */
    check_points_are_proper(c, row, n);
    free(row);
}

TEST(a_part_of_a_full_design_varies_in_everything)
{
    const ft_parameter param[] = {categories("c", 4), integers("i", 0, 99, 0)};
    ft_space *s = space_of(param, 2);
    size_t n;
    double *row = make(&n, s, (ft_design_options){.n = 40, .seed = 3});
    int seen[4] = {0};

    CHECK_EQ(n, 40);
    check_points_are_proper(s, row, n);
    for (size_t i = 0; i < n; i++)
        seen[(int)row[2 * i]]++;
    for (int i = 0; i < 4; i++)
        CHECK(CMP(seen[i], >=, 3) && CMP(seen[i], <=, 17));
    free(row);
}

TEST(a_design_too_large_or_empty_is_refused)
{
    static const uint32_t all[] = {0, 1, 2};
    const ft_parameter param[] = {categories("c", 3), integers("i", 1, 10000000, 0)};
    const ft__among part[] = {{0, 3, all}};
    const ft__forbidden forbidden = {part, 1};
    ft_space *s = space_of(param, 2), *none;
    ft_error err = {0};
    double *row;
    size_t n;

    CHECK_EQ(ft_design_make(&row, &n, s, &(ft_design_options){0}, &err), FT_EINVAL);
    CHECK(EQ(row, NULL) && EQ(n, 0) && HAS(err.msg, "more than 16777216"));
    CHECK_EQ(ft__space_new(&none, &spaces, param, 1, NULL, 0, &forbidden, 1, NULL),
             FT_OK);
    for (int d = 0; d < FT_DESIGN_COUNT; d++) {
        const ft_design_options opt = {.design = (ft_design)d, .n = 5};

        CHECK_EQ(ft_design_make(&row, &n, none, &opt, &err), FT_EINVAL);
        CHECK(EQ(row, NULL) && HAS(err.msg, "no point"));
    }
}

/* Products of up to `order` columns of -1 and 1, behind column `from`, with `product`
 * sum to 0 over the runs: by counting. */
static int is_orthogonal(const double *sign, size_t n, size_t k, size_t from,
                         const double *product, uint32_t order)
{
    double next[1024];

    for (size_t c = from; order && c < k; c++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += next[i] = product[i] * sign[i * k + c];
        if (sum != 0 || !is_orthogonal(sign, n, k, c + 1, next, order - 1))
            return 0;
    }
    return 1;
}

/* In a fraction of resolution R any R - 1 factors have all combinations equally often.
 */
TEST(fractions_have_their_resolution)
{
    double one[1024];

    for (int i = 0; i < 1024; i++)
        one[i] = 1;
    for (size_t k = 1; k <= 16; k++)
        for (uint32_t resolution = 3; resolution <= 5; resolution++) {
            ft_parameter param[16];
            ft_space *s;
            double *row;
            size_t n;

            for (size_t i = 0; i < k; i++)
                param[i] = i % 2 ? integers("i", -1, 1, 0) : reals("r", -1, 1, 0);
            s = space_of(param, k);
            row = make(&n, s,
                       (ft_design_options){.design = FT_DESIGN_FRACTIONAL,
                                           .resolution = resolution});
            CHECK_EQ((n & (n - 1)), 0);
            check_points_are_proper(s, row, n < 300 ? n : 300);
            CHECK(CMP(n, <=, 1024) && is_orthogonal(row, n, k, 0, one, resolution - 1));
            free(row);
        }
}

/* Words of length 3, 4 and 5 in minimum-aberration fractions: tables of Chen, Sun and
 * Wu, A catalogue of two-level and three-level fractional factorial designs with small
 * runs, Int. Stat. Rev. 61, 1993. */
TEST(fractions_are_those_of_minimum_aberration)
{
    static const struct {
        uint32_t factors, resolution, runs;
        double word[3];
    } known[] = {
        {3, 3, 4, {1, 0, 0}},        {5, 5, 16, {0, 0, 1}},
        {6, 4, 16, {0, 3, 0}},       {7, 4, 16, {0, 7, 0}},
        {8, 4, 16, {0, 14, 0}},      {7, 3, 8, {7, 7, 0}},
        {9, 3, 16, {4, 14, 8}},      {10, 3, 16, {8, 18, 16}},
        {11, 3, 16, {12, 26, 28}},   {12, 3, 16, {16, 39, 48}},
        {15, 3, 16, {35, 105, 168}}, {9, 4, 32, {0, 6, 8}},
        {10, 4, 32, {0, 10, 16}},    {11, 4, 32, {0, 25, 0}},
        {12, 4, 32, {0, 38, 0}},     {13, 4, 32, {0, 55, 0}},
        {14, 4, 32, {0, 77, 0}},     {15, 4, 32, {0, 105, 0}},
        {16, 4, 32, {0, 140, 0}},    {8, 5, 64, {0, 0, 2}},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        uint32_t column[16], bits;
        double word[17] = {0}; /* words are no longer than there are factors */

        CHECK_EQ(ft__fraction_find(column, &bits, known[i].factors, known[i].resolution,
                                   NULL),
                 FT_OK);
        CHECK_EQ(UINT32_C(1) << bits, known[i].runs);
        ft__fraction_words(word, column, known[i].factors, bits);
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(word[3 + k], known[i].word[k], 1e-9);
    }
}

/* Words counted over all products of generators. */
TEST(words_are_counted_right)
{
    enum { K = 9 };
    uint32_t column[K], bits;
    double word[K + 1], by_hand[K + 1] = {0};

    CHECK_EQ(ft__fraction_find(column, &bits, K, 3, NULL), FT_OK);
    ft__fraction_words(word, column, K, bits);
    for (uint32_t set = 0; set >> K == 0; set++) {
        uint32_t product = 0;

        for (int k = 0; k < K; k++)
            product ^= set >> k & 1 ? column[k] : 0;
        by_hand[__builtin_popcount(set)] += product == 0;
    }
    for (int k = 0; k <= K; k++)
        CHECK_NEAR(word[k], by_hand[k], 1e-9);
}

TEST(many_factors_find_a_fraction)
{
    uint32_t column[FT__MAX_PARAMS], bits;
    static const uint32_t most[] = {8, 9, 17};

    for (uint32_t r = 3; r <= 5; r++) {
        CHECK_EQ(ft__fraction_find(column, &bits, 200, r, NULL), FT_OK);
        CHECK(CMP(bits, <=, most[r - 3]));
    }
    CHECK_EQ(ft__fraction_find(column, &bits, 8, 6, NULL), FT_EINVAL);
}

TEST(drawn_designs_have_as_many_points_as_asked_for_or_all)
{
    ft_space *s = conditional_space(0), *real = conditional_space(1);

    for (int d = FT_DESIGN_RANDOM; d <= FT_DESIGN_SOBOL; d++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            const ft_design design = (ft_design)d;
            size_t n;
            double *row = make(&n, s, (ft_design_options){design, 9, 0, 0, seed});

            CHECK_EQ(n, 9);
            check_points_are_proper(s, row, n);
            free(row);
            row = make(&n, s, (ft_design_options){design, 100, 0, 0, seed});
            CHECK_EQ(n, 14);
            check_points_are_proper(s, row, n);
            free(row);
            row = make(&n, real, (ft_design_options){design, 100, 0, 0, seed});
            CHECK_EQ(n, 100);
            check_points_are_proper(real, row, n);
            free(row);
        }
}

TEST(the_same_seed_draws_the_same)
{
    ft_space *s = cube(3, 0, 1);

    for (int d = FT_DESIGN_RANDOM; d <= FT_DESIGN_SOBOL; d++) {
        const ft_design_options a = {.design = (ft_design)d, .n = 16, .seed = 1};
        ft_design_options b = a;
        size_t n;
        double *row = make(&n, s, a), *same = make(&n, s, a), *other;

        b.seed = 2;
        other = make(&n, s, b);
        CHECK(BYTES(row, same, n * 3 * sizeof(*row)));
        CHECK(!BYTES(row, other, n * 3 * sizeof(*row)));
        free(row);
        free(same);
        free(other);
    }
}

static double least_distance(const double *row, size_t n, size_t k)
{
    double least = INFINITY;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double sum = 0;

            for (size_t c = 0; c < k; c++)
                sum += pow(row[i * k + c] - row[j * k + c], 2);
            least = fmin(least, sqrt(sum));
        }
    return least;
}

TEST(a_hypercube_has_one_point_in_each_row_of_each_column)
{
    enum { N = 50, K = 4 };
    ft_space *s = cube(K, 0, 1);
    size_t n;
    double *row =
        make(&n, s, (ft_design_options){.design = FT_DESIGN_LATIN, .n = N, .seed = 9});
    int seen[K][N] = {{0}};

    CHECK_EQ(n, N);
    for (size_t i = 0; i < n * K; i++)
        seen[i % K][(int)(row[i] * N)]++;
    for (size_t i = 0; i < N * K; i++)
        CHECK_EQ(seen[i % K][i / K], 1);
    free(row);
}

/* Ordinary hypercubes for comparison: columns shuffled. */
TEST(a_hypercube_is_spread_out)
{
    enum { N = 30, K = 3, PLAIN = 500 };
    ft_space *s = cube(K, 0, 1);
    double plain[N * K], least[PLAIN], *row;
    ft__prng rng = {7};
    size_t n;

    for (int t = 0; t < PLAIN; t++) {
        for (size_t i = 0; i < N * K; i++) {
            const size_t at = i / K, with = ft__prng_below(&rng, (uint32_t)at + 1);

            plain[i] = plain[with * K + i % K];
            plain[with * K + i % K] = ((double)at + 0.5) / N;
        }
        least[t] = least_distance(plain, N, K);
    }
    ft__sort(least, PLAIN);
    for (uint64_t seed = 0; seed < 5; seed++) {
        row = make(&n, s, (ft_design_options){FT_DESIGN_LATIN, N, 0, 0, seed});
        CHECK(CMP(least_distance(row, n, K), >, least[PLAIN - 1]));
        free(row);
    }
}

/* The first points of Joe and Kuo's program in dimensions 1 to 4. */
TEST(the_sequence_begins_as_published)
{
    static const double want[][4] = {
        {0, 0, 0, 0},
        {0.5, 0.5, 0.5, 0.5},
        {0.75, 0.25, 0.25, 0.25},
        {0.25, 0.75, 0.75, 0.75},
        {0.375, 0.375, 0.625, 0.875},
        {0.875, 0.875, 0.125, 0.375},
        {0.625, 0.125, 0.875, 0.625},
        {0.125, 0.625, 0.375, 0.125},
    };
    ft__sobol s;

    CHECK_EQ(ft__sobol_start(&s, 4, NULL, NULL), FT_OK);
    for (int i = 0; i < 8; i++) {
        double unit[4];

        ft__sobol_next(&s, unit);
        for (int k = 0; k < 4; k++)
            CHECK_EQ(unit[k], want[i][k]);
    }
    CHECK_EQ(ft__sobol_start(&s, 65, NULL, NULL), FT_EINVAL);
}

/* Each block of 2^k points has one in every interval of length 2^-k, in every
 * dimension, shifted or not: true only of proper directions (m[i] odd and below 2^i).
 */
TEST(every_dimension_of_the_sequence_is_even)
{
    enum { N = 1024 };
    uint32_t shift[FT__SOBOL_DIMENSIONS];
    static char seen[FT__SOBOL_DIMENSIONS][N];
    ft__prng rng = {4};
    ft__sobol s;

    for (int k = 0; k < FT__SOBOL_DIMENSIONS; k++)
        shift[k] = (uint32_t)ft__prng_u64(&rng);
    CHECK_EQ(ft__sobol_start(&s, FT__SOBOL_DIMENSIONS, shift, NULL), FT_OK);
    for (int i = 0; i < N; i++) {
        double unit[FT__SOBOL_DIMENSIONS];

        ft__sobol_next(&s, unit);
        for (int k = 0; k < FT__SOBOL_DIMENSIONS; k++)
            seen[k][(int)(unit[k] * N)]++;
    }
    for (int k = 0; k < FT__SOBOL_DIMENSIONS; k++)
        for (int i = 0; i < N; i++)
            CHECK_EQ(seen[k][i], 1);
}

/* Squared L2 star discrepancy (Warnock 1972). */
static double discrepancy(const double *x, size_t n, size_t k)
{
    double one = 0, two = 0;

    for (size_t i = 0; i < n; i++) {
        double product = 1;

        for (size_t c = 0; c < k; c++)
            product *= (1 - x[i * k + c] * x[i * k + c]) / 2;
        one += product;
        for (size_t j = 0; j < n; j++) {
            product = 1;
            for (size_t c = 0; c < k; c++)
                product *= 1 - fmax(x[i * k + c], x[j * k + c]);
            two += product;
        }
    }
    return pow(3, -(double)k) - 2 * one / (double)n + two / ((double)n * (double)n);
}

TEST(the_sequence_is_more_even_than_chance)
{
    static const size_t dimensions[] = {2, 4, 6};

    for (size_t d = 0; d < 3; d++) {
        const size_t k = dimensions[d];
        ft_space *s = cube(k, 0, 1);

        double even = 0, chance = 0;

        for (uint64_t seed = 0; seed < 10; seed++) {
            size_t n;
            double *sobol =
                make(&n, s, (ft_design_options){FT_DESIGN_SOBOL, 256, 0, 0, seed});
            double *random =
                make(&n, s, (ft_design_options){FT_DESIGN_RANDOM, 256, 0, 0, seed});

            even += discrepancy(sobol, n, k);
            chance += discrepancy(random, n, k);
            free(sobol);
            free(random);
        }
        CHECK(CMP(even, <, 0.5 * chance));
    }
}
