#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "decide/choose.h"
#include "graph/op_inside.h"

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

/* All cost the same. */
static void make_even(ft__choosing *c, const ft_op *ops, size_t n, ft_criterion by)
{
    CHECK(!ft__choosing_make(c, ops, NULL, n, by, 1, NULL));
    for (size_t i = 0; i < n; i++)
        c->work_s[i] = 0;
}

/* Schur complement of two known operations, the 2 x 2 inverse written out. */
TEST(covariance_is_conditioned_on_what_is_known)
{
    const double noise = 0.05;
    ft__choosing c;
    float before[N * N];
    ft_op ops[N];

    make_ops(ops);
    make_even(&c, ops, N, FT_CRITERION_ACTIVE);
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

/* What is left unknown of operation j when `a` and i are known: the 2 x 2 inverse
 * written out. */
static double left_of(const float *between, int j, int a, int i)
{
    const double noise = 0.05;
    double aa = (double)between[a * N + a] + noise,
           ii = (double)between[i * N + i] + noise;
    double ai = (double)between[a * N + i], det = aa * ii - ai * ai;
    double ja = (double)between[j * N + a], ji = (double)between[j * N + i];

    return (double)between[j * N + j] -
           (ja * (ii * ja - ai * ji) + ji * (aa * ji - ai * ja)) / det;
}

TEST(the_next_one_leaves_the_least_sum_of_deviations)
{
    const float weight[N] = {1, 2, 1, 5, 1, 1, 3, 1, 1};
    double least = INFINITY;
    float before[N * N];
    size_t best = N;
    ft__choosing c;
    ft_op ops[N];

    make_ops(ops);
    make_even(&c, ops, N, FT_CRITERION_ACTIVE);
    memcpy(c.weight, weight, sizeof(weight));
    memcpy(before, c.between, sizeof(before));
    ft__choosing_know(&c, 2);
    for (int i = 0; i < N; i++) {
        double sum = 0;

        for (int j = 0; i != 2 && j < N; j++)
            if (j != 2)
                sum += (double)weight[j] * sqrt(left_of(before, j, 2, i));
        if (i != 2 && sum < least) {
            least = sum;
            best = (size_t)i;
        }
    }
    CHECK_EQ(ft__choosing_next(&c, NULL, NULL), best);
    ft__choosing_free(&c);
}

/* Sums in double precision, over more operations than are summed at a time. */
TEST(of_many_the_next_one_leaves_the_least_too)
{
    enum { MANY = 301 };
    static ft_op ops[MANY];
    static double gain[MANY];
    double most = 0;
    ft__choosing c;
    size_t next;

    for (int i = 0; i < MANY; i++) {
        char spec[128];

        snprintf(spec, sizeof(spec), "linear x=%dx%d out=%d dtype=fp32", 1 + i * 7 % 61,
                 16 + i * 131 % 4001, 16 + i * 37 % 997);
        CHECK(!ft_op_parse(&ops[i], spec, strlen(spec), NULL));
    }
    make_even(&c, ops, MANY, FT_CRITERION_ACTIVE);
    for (size_t i = 0; i < MANY; i++) {
        const float *row = c.between + i * MANY;

        for (int j = 0; j < MANY; j++)
            gain[i] += 1 - sqrt(1 - (double)row[j] * (double)row[j] / 1.05);
        most = fmax(most, gain[i]);
    }
    next = ft__choosing_next(&c, NULL, NULL);
    CHECK(CMP(next, <, MANY));
    CHECK_NEAR(gain[next], most, 1e-4 * most);
    ft__choosing_free(&c);
}

static void the_first_few_are_unlike_each_other(ft_criterion by)
{
    size_t first[3];
    int small = 0, large = 0, product = 0;
    ft__choosing c;
    ft_op ops[N];

    make_ops(ops);
    make_even(&c, ops, N, by);
    for (int k = 0; k < 3; k++) {
        first[k] = ft__choosing_next(&c, NULL, NULL);
        CHECK(CMP(first[k], <, N));
        ft__choosing_know(&c, first[k]);
        small += first[k] < 4;
        large += first[k] >= 4 && first[k] < 8;
        product += first[k] == 8;
    }
    CHECK(EQ(small, 1) && EQ(large, 1) && EQ(product, 1));
    ft__choosing_free(&c);
}

static void each_comes_once_and_then_there_is_none(ft_criterion by)
{
    int seen[N] = {0};
    ft__choosing c;
    ft_op ops[N];

    make_ops(ops);
    make_even(&c, ops, N, by);
    for (int k = 0; k < N; k++) {
        size_t i = ft__choosing_next(&c, NULL, NULL);

        CHECK(CMP(i, <, N) && !seen[i]++);
        ft__choosing_know(&c, i);
    }
    CHECK_EQ(ft__choosing_next(&c, NULL, NULL), N);
    ft__choosing_free(&c);
}

static bool is_odd(const void *user, size_t i)
{
    (void)user;
    return i % 2 != 0;
}

TEST(what_is_dear_or_not_allowed_waits)
{
    size_t first;
    ft__choosing c;
    ft_op ops[N];

    make_ops(ops);
    make_even(&c, ops, N, FT_CRITERION_ACTIVE);
    first = ft__choosing_next(&c, NULL, NULL);
    CHECK(CMP(first, <, N));
    c.work_s[first] = 1000;
    CHECK(CMP(ft__choosing_next(&c, NULL, NULL), !=, first));
    CHECK_EQ(ft__choosing_next(&c, is_odd, NULL) % 2, 1);
    ft__choosing_free(&c);
}

TEST(what_weighs_nothing_comes_after_what_weighs)
{
    const float weight[N] = {[8] = 1};
    ft__choosing c;
    ft_op ops[N];

    make_ops(ops);
    make_even(&c, ops, N, FT_CRITERION_ACTIVE);
    memcpy(c.weight, weight, sizeof(weight));
    CHECK_EQ(ft__choosing_next(&c, NULL, NULL), 8);
    ft__choosing_free(&c);
}

/* Large ones cost more to measure, until the device is known to be fast. */
TEST(what_is_wanted_often_weighs_more_and_what_takes_long_less)
{
    const double often[N] = {32, [8] = 1};
    ft__choosing c;
    ft_op ops[N];

    make_ops(ops);
    CHECK(!ft__choosing_make(&c, ops, often, N, FT_CRITERION_ACTIVE, 1, NULL));
    CHECK(EQ(c.weight[0], 32) && EQ(c.weight[1], 0) && EQ(c.weight[8], 1));
    CHECK(CMP(c.work_s[4], >, 4 * c.work_s[0]) && EQ(c.pace, 1));
    CHECK_EQ(ft__choosing_next(&c, NULL, NULL), 0);
    c.work_s[0] = 1000;
    CHECK(CMP(ft__choosing_next(&c, NULL, NULL), !=, 0));
    c.pace = 1e-9;
    CHECK_EQ(ft__choosing_next(&c, NULL, NULL), 0);
    ft__choosing_free(&c);
}

enum { EACH = 30, ALL = 2 * EACH };

/* Convolutions, then as many products, each of another size. */
static void make_many(ft_op ops[ALL])
{
    for (int i = 0; i < ALL; i++) {
        char spec[128];
        ft_error err = {0};

        if (i < EACH)
            snprintf(
                spec, sizeof(spec),
                "conv2d x=8x%dx28x28 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32",
                16 * (i + 1));
        else
            snprintf(spec, sizeof(spec), "linear x=32x%d out=1000 bias=1 dtype=fp32",
                     64 * (i - EACH + 1));
        CHECK(!ft_op_parse(&ops[i], spec, strlen(spec), &err));
    }
}

/* Products take what their size says, convolutions up to e^2 times that. */
static ft__samples measure(const ft_op ops[ALL], ft__dataset *d, bool timed)
{
    static const double by_size = 1e-8;
    const double pattern[] = {0, 2, 0.5, 1.7, 0.2, 1.2, 1.9};
    ft__samples s = {.n = ALL, .dataset = d, .n_datasets = 1};

    s.v = calloc(ALL, sizeof(*s.v));
    for (int i = 0; s.v && i < ALL; i++) {
        double size = i < EACH ? i + 1 : i - EACH + 1;

        s.v[i] = (ft__sample){.op = ops[i], .hash = ft__op_hash(&ops[i])};
        for (int m = 0; m < FT__N_METRICS; m++)
            s.v[i].value[m] = NAN;
        if (timed)
            s.v[i].value[FT__METRIC_TIME] =
                by_size * size * (i < EACH ? 300 * exp(pattern[i % 7]) : 1);
    }
    return s;
}

static void know_every_other(ft__choosing *c, const ft_op ops[ALL])
{
    make_even(c, ops, ALL, FT_CRITERION_ACTIVE);
    for (size_t i = 0; i < ALL; i += 2)
        ft__choosing_know(c, i);
}

static void learn_from_known(ft__choosing *c, const ft_op ops[ALL], bool timed)
{
    ft__dataset d = {.device = (char[]){"one"},
                     .setting = (char[]){""},
                     .engine = (char[]){"fake"},
                     .engine_version = (char[]){"1"},
                     .policy = (char[]){"default"},
                     .n = ALL};
    ft__samples s = measure(ops, &d, timed);
    uint32_t row[EACH];

    CHECK(s.v != NULL);
    for (uint32_t i = 0; i < EACH; i++)
        row[i] = 2 * i;
    CHECK(!ft__choosing_learn(c, &s, row, EACH, 1, NULL));
    free(s.v);
}

static void learn_from_every_other(ft__choosing *c, const ft_op ops[ALL], bool timed)
{
    know_every_other(c, ops);
    learn_from_known(c, ops, timed);
}

TEST(what_is_hard_to_foretell_weighs_more)
{
    float least_hard = INFINITY, most_easy = 0;
    ft__choosing c;
    ft_op ops[ALL];

    make_many(ops);
    learn_from_every_other(&c, ops, true);
    CHECK(CMP(c.pace, >, 0) &&
          CMP(c.pace, <, 1e-2)); /* far less than on a slow device */
    for (int i = 0; i < EACH; i++)
        least_hard = fminf(least_hard, c.weight[i]);
    for (int i = EACH; i < ALL; i++)
        most_easy = fmaxf(most_easy, c.weight[i]);
    CHECK(CMP(least_hard, >, 1.5F * most_easy));
    CHECK(CMP(ft__choosing_next(&c, NULL, NULL), <, EACH));
    ft__choosing_free(&c);
}

TEST(without_times_nothing_is_learned)
{
    ft__choosing c;
    ft_op ops[ALL];

    make_many(ops);
    learn_from_every_other(&c, ops, false);
    for (int i = 0; i < ALL; i++)
        CHECK_EQ(c.weight[i], 1);
    ft__choosing_free(&c);
}

/* More alike to each other than to themselves: that is no covariance. */
TEST(without_an_inverse_weights_stay_as_they_are)
{
    ft__choosing c;
    ft_op ops[ALL];

    make_many(ops);
    know_every_other(&c, ops);
    for (size_t i = 0; i < (size_t)ALL * ALL; i++)
        c.alike[i] = i % (ALL + 1) ? 2 : 1;
    learn_from_known(&c, ops, true);
    for (int i = 0; i < ALL; i++)
        CHECK_EQ(c.weight[i], 1);
    ft__choosing_free(&c);
}

TEST(learning_is_due_again_with_half_as_many_more)
{
    ft__choosing c;
    ft_op ops[ALL];
    size_t known;

    make_many(ops);
    learn_from_every_other(&c, ops, true);
    for (known = EACH; known < 3 * EACH / 2; known++) {
        CHECK(!ft__choosing_is_due(&c));
        ft__choosing_know(&c, 2 * (known - EACH) + 1);
    }
    ft__choosing_know(&c, ALL - 1);
    CHECK(ft__choosing_is_due(&c));
    ft__choosing_free(&c);
    make_even(&c, ops, ALL, FT_CRITERION_SPREAD);
    for (size_t i = 0; i < ALL; i++)
        ft__choosing_know(&c, i);
    CHECK(!ft__choosing_is_due(&c));
    ft__choosing_free(&c);
}

/* One of each sort comes before a second one of any. */
TEST(few_are_one_of_each_sort_first)
{
    ft_op ops[N];
    uint32_t few[N], n;
    bool of[3] = {false}, seen[N] = {false};

    make_ops(ops);
    CHECK_EQ(ft_choose_few(few, &n, ops, N, 3, NULL), FT_OK);
    CHECK_EQ(n, 3);
    for (uint32_t k = 0; k < n; k++)
        of[few[k] / 4] = true;
    CHECK(of[0] && of[1] && of[2]);
    CHECK_EQ(ft_choose_few(few, &n, ops, N, 2 * N, NULL), FT_OK);
    CHECK_EQ(n, N);
    for (uint32_t k = 0; k < n; k++) {
        CHECK(!seen[few[k]]);
        seen[few[k]] = true;
    }
    CHECK_EQ(ft_choose_few(few, &n, ops, 0, 3, NULL), FT_OK);
    CHECK_EQ(n, 0);
}

/* Of more than can be compared nearly all are, not every other one. */
TEST(few_of_many_are_evenly_spaced)
{
    enum { MANY = FT_CHOOSE_MOST + 1 };
    ft_op some[N], *ops = calloc(MANY, sizeof(*ops));
    uint32_t few[2], n;

    make_ops(some);
    for (int i = 0; i < MANY; i++)
        ops[i] = some[i % 2 ? N - 1 : 0];
    CHECK_EQ(ft_choose_few(few, &n, ops, MANY, 2, NULL), FT_OK);
    CHECK_EQ(n, 2);
    CHECK_EQ(few[0] % 2 + few[1] % 2, 1);
    free(ops);
}

/* Empty ones are as small as any. */
TEST(few_may_be_chosen_of_empty_operations)
{
    static const char *const specs[] = {"linear x=1x64 out=32", "linear x=0x64 out=32",
                                        "linear x=0x32 out=32"};
    ft_op ops[3];
    uint32_t few[3], n = UINT32_MAX;
    bool seen[3] = {false};

    memset(few, 0xff, sizeof(few));
    for (int i = 0; i < 3; i++)
        CHECK_EQ(ft_op_parse(&ops[i], specs[i], strlen(specs[i]), NULL), FT_OK);
    CHECK_EQ(ft_choose_few(few, &n, ops, 3, 3, NULL), FT_OK);
    CHECK_EQ(n, 3);
    for (uint32_t k = 0; k < n; k++) {
        CHECK(CMP(few[k], <, 3));
        CHECK(!seen[few[k] % 3]);
        seen[few[k] % 3] = true;
    }
}

int main(void)
{
    check_all();
    the_first_few_are_unlike_each_other(FT_CRITERION_ACTIVE);
    the_first_few_are_unlike_each_other(FT_CRITERION_SPREAD);
    each_comes_once_and_then_there_is_none(FT_CRITERION_ACTIVE);
    each_comes_once_and_then_there_is_none(FT_CRITERION_SPREAD);
    each_comes_once_and_then_there_is_none(FT_CRITERION_RANDOM);
    CHECK_DONE();
}
