#include <string.h>

#include "check.h"
#include "predict/choose.h"

enum { N = 9 };

/* Eight convolutions of two sizes, nearly alike among themselves, and a product. */
static void make_ops(ft_op ops[N])
{
    for (int i = 0; i < N; i++) {
        char spec[128];
        ft_error err = {0};

        snprintf(spec, sizeof(spec),
                 "conv2d x=%dx%dx56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32",
                 1 + i % 4, i < 4 ? 16 : 512);
        if (i == N - 1)
            snprintf(spec, sizeof(spec), "linear x=32x4096 out=1000 bias=1 dtype=fp32");
        if (ft_op_parse(&ops[i], spec, strlen(spec), &err)) {
            fprintf(stderr, "%s\n", err.msg);
            check_failed++;
        }
    }
}

/* Schur complement of two known operations, the 2 x 2 inverse written out. */
static void covariance_is_conditioned_on_what_is_known(void)
{
    const double noise = 0.05;
    ft__choosing c;
    float before[N * N];
    ft_op ops[N];

    make_ops(ops);
    CHECK(!ft__choosing_make(&c, ops, NULL, N, FT_CRITERION_ACTIVE, 1, NULL));
    memcpy(before, c.between, sizeof(before));
    ft__choosing_know(&c, 2);
    ft__choosing_know(&c, 8);
    for (int i = 0; i < N; i++)
        for (int j = 0; i != 2 && i != 8 && j < N; j++) {
            double a = (double)before[2 * N + 2] + noise,
                   d = (double)before[8 * N + 8] + noise;
            double b = (double)before[2 * N + 8], det = a * d - b * b;
            double i2 = (double)before[i * N + 2], i8 = (double)before[i * N + 8];
            double j2 = (double)before[j * N + 2], j8 = (double)before[j * N + 8];
            double less = (i2 * (d * j2 - b * j8) + i8 * (a * j8 - b * j2)) / det;

            CHECK_NEAR((double)c.between[i * N + j], (double)before[i * N + j] - less,
                       1e-5);
        }
    ft__choosing_free(&c);
}

static void the_first_few_are_unlike_each_other(ft_criterion by)
{
    size_t first[3];
    int small = 0, large = 0, product = 0;
    ft__choosing c;
    ft_op ops[N];

    make_ops(ops);
    CHECK(!ft__choosing_make(&c, ops, NULL, N, by, 1, NULL));
    for (int k = 0; k < 3; k++) {
        first[k] = ft__choosing_next(&c, NULL, NULL, NULL);
        CHECK(first[k] < N);
        ft__choosing_know(&c, first[k]);
        small += first[k] < 4;
        large += first[k] >= 4 && first[k] < 8;
        product += first[k] == 8;
    }
    CHECK(small == 1 && large == 1 && product == 1);
    ft__choosing_free(&c);
}

static void each_comes_once_and_then_there_is_none(ft_criterion by)
{
    int seen[N] = {0};
    ft__choosing c;
    ft_op ops[N];

    make_ops(ops);
    CHECK(!ft__choosing_make(&c, ops, NULL, N, by, 1, NULL));
    for (int k = 0; k < N; k++) {
        size_t i = ft__choosing_next(&c, NULL, NULL, NULL);

        CHECK(i < N && !seen[i]++);
        ft__choosing_know(&c, i);
    }
    CHECK(ft__choosing_next(&c, NULL, NULL, NULL) == N);
    ft__choosing_free(&c);
}

static bool is_odd(const void *user, size_t i)
{
    (void)user;
    return i % 2 != 0;
}

static void what_is_dear_or_not_allowed_waits(void)
{
    double cost[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    size_t first;
    ft__choosing c;
    ft_op ops[N];

    make_ops(ops);
    CHECK(!ft__choosing_make(&c, ops, NULL, N, FT_CRITERION_ACTIVE, 1, NULL));
    first = ft__choosing_next(&c, cost, NULL, NULL);
    CHECK(first < N);
    cost[first] = 1000;
    CHECK(ft__choosing_next(&c, cost, NULL, NULL) != first);
    CHECK(ft__choosing_next(&c, NULL, is_odd, NULL) % 2 == 1);
    ft__choosing_free(&c);
}

static void what_weighs_nothing_comes_after_what_weighs(void)
{
    double weight[N] = {[8] = 1};
    ft__choosing c;
    ft_op ops[N];

    make_ops(ops);
    CHECK(!ft__choosing_make(&c, ops, weight, N, FT_CRITERION_ACTIVE, 1, NULL));
    CHECK(ft__choosing_next(&c, NULL, NULL, NULL) == 8);
    ft__choosing_free(&c);
}

static void names_are_read_back(void)
{
    for (int by = 0; by < FT_CRITERION_COUNT; by++) {
        const char *name = ft_criterion_name((ft_criterion)by);

        CHECK(ft_criterion_from_name(name, strlen(name)) == (ft_criterion)by);
    }
    CHECK(ft_criterion_from_name("act", 3) == FT_CRITERION_COUNT);
}

int main(void)
{
    covariance_is_conditioned_on_what_is_known();
    the_first_few_are_unlike_each_other(FT_CRITERION_ACTIVE);
    the_first_few_are_unlike_each_other(FT_CRITERION_SPREAD);
    each_comes_once_and_then_there_is_none(FT_CRITERION_ACTIVE);
    each_comes_once_and_then_there_is_none(FT_CRITERION_SPREAD);
    each_comes_once_and_then_there_is_none(FT_CRITERION_RANDOM);
    what_is_dear_or_not_allowed_waits();
    what_weighs_nothing_comes_after_what_weighs();
    names_are_read_back();
    CHECK_DONE();
}
