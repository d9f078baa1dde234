/* Isolation forest and slow outliers. */
#include <stdlib.h>

#include "check.h"
#include "decide/slow.h"
#include "learn_data.h"

/* A cloud around 0 and one row far away; what is far is isolated first. */
TEST(the_row_far_away_is_most_isolated)
{
    enum { N = 400, COLS = 3, FAR = 123 };
    const ft__isolation_options opt = {.seed = 1};
    data d = data_new(N, COLS, 1);
    double score[N];

    for (int j = 0; j < COLS; j++)
        d.x[FAR * COLS + j] = 5;
    CHECK_EQ(ft__isolation_scores(score, &d.m, &opt, NULL), FT_OK);
    for (int i = 0; i < N; i++) {
        CHECK(CMP(score[i], >, 0) && CMP(score[i], <, 1));
        CHECK(EQ(i, FAR) || CMP(score[i], <, score[FAR] - 0.1));
    }
    CHECK(CMP(score[FAR], >, 0.7));
    data_free(&d);
}

/* Two rows are parted by one cut, and c(2) = 1: 2^-1 each. Rows that are all equal
 * cannot be parted: c(n) / c(n), 2^-1, too. */
TEST(scores_are_those_of_the_paper_in_small_cases)
{
    float two[] = {1, 2}, same[] = {7, 7, 7, 7, 7};
    const ft__matrix a = {two, 2, 1}, b = {same, 5, 1};
    const ft__isolation_options opt = {.seed = 4};
    double score[5];

    CHECK_EQ(ft__isolation_scores(score, &a, &opt, NULL), FT_OK);
    CHECK_NEAR(score[0], 0.5, 1e-12);
    CHECK_NEAR(score[1], 0.5, 1e-12);
    CHECK_EQ(ft__isolation_scores(score, &b, &opt, NULL), FT_OK);
    for (int i = 0; i < 5; i++)
        CHECK_NEAR(score[i], 0.5, 1e-7);
}

TEST(missing_values_are_no_reason_to_fail)
{
    data d = data_new(100, 2, 2);
    const ft__isolation_options opt = {.seed = 1};
    double score[100];

    for (int i = 0; i < 100; i += 3)
        d.x[2 * i] = NAN;
    CHECK_EQ(ft__isolation_scores(score, &d.m, &opt, NULL), FT_OK);
    for (int i = 0; i < 100; i++)
        CHECK(CMP(score[i], >, 0) && CMP(score[i], <, 1));
    d.x[5] = INFINITY;
    CHECK_EQ(ft__isolation_scores(score, &d.m, &opt, NULL), FT_EINVAL);
    data_free(&d);
}

enum { N = 600, COLS = 4, PLANTED = 12 };

static ft__outlier *find(const data *d, const double *log_time, uint32_t threads)
{
    const ft__outlier_options opt = {.seed = 5, .threads = threads};
    ft__outlier *out = calloc(N, sizeof(*out));
    uint64_t group[N];

    if (!out)
        abort();
    for (uint64_t i = 0; i < N; i++)
        group[i] = i / 2;
    CHECK_EQ(ft__outliers_find(out, &d->m, log_time, group, &opt, NULL), FT_OK);
    return out;
}

/* Every 50th row takes five times what its columns say. */
TEST(slow_rows_are_found_and_few_others)
{
    data d = data_new(N, COLS, 3);
    double log_time[N];
    ft__outlier *out;
    int found = 0, false_alarms = 0;

    for (int i = 0; i < N; i++)
        log_time[i] = d.y[i] + (i % 50 == 7 ? log(5) : 0);
    out = find(&d, log_time, 1);
    for (int i = 0; i < N; i++) {
        if (i % 50 == 7) {
            found += out[i].slow;
            CHECK(CMP(out[i].slower, >, 3) && CMP(out[i].slower, <, 8));
        } else {
            false_alarms += out[i].slow;
        }
    }
    CHECK(EQ(found, PLANTED) && CMP(false_alarms, <=, N / 100));
    free(out);
    data_free(&d);
}

/* Of a search that had no time, a third of the rows is slow: three to ten times. */
TEST(a_third_of_slow_rows_hides_none_of_them)
{
    data d = data_new(N, COLS, 3);
    double log_time[N];
    ft__outlier *out;
    int found = 0, false_alarms = 0;

    for (int i = 0; i < N; i++)
        log_time[i] = d.y[i] + (i % 6 < 2 ? log(3 + i % 8) : 0);
    out = find(&d, log_time, 1);
    for (int i = 0; i < N; i++)
        *(i % 6 < 2 ? &found : &false_alarms) += out[i].slow;
    CHECK(CMP(found, >=, N / 3 * 95 / 100) && CMP(false_alarms, <=, N / 50));
    free(out);
    data_free(&d);
}

/* A fast row is no slow one, and nothing planted is nothing found. */
TEST(fast_rows_are_left_in_peace)
{
    data d = data_new(N, COLS, 3);
    double log_time[N];
    ft__outlier *out;

    for (int i = 0; i < N; i++)
        log_time[i] = d.y[i] - (i % 50 == 7 ? log(5) : 0);
    out = find(&d, log_time, 1);
    for (int i = 0; i < N; i++)
        CHECK(!out[i].slow);
    free(out);
    data_free(&d);
}

TEST(threads_change_no_bit)
{
    data d = data_new(N, COLS, 6);
    ft__outlier *a = find(&d, d.y, 1), *b = find(&d, d.y, 3);

    for (int i = 0; i < N; i++)
        CHECK(EQ(a[i].slower, b[i].slower) && EQ(a[i].isolation, b[i].isolation) &&
              EQ(a[i].slow, b[i].slow));
    free(a);
    free(b);
    data_free(&d);
}

TEST(what_cannot_be_judged_is_refused)
{
    data d = data_new(N, COLS, 7);
    ft__outlier_options opt = {0};
    ft__outlier out[N];
    uint64_t group[N];
    ft_error err;

    for (uint64_t i = 0; i < N; i++)
        group[i] = i % 19;
    CHECK_EQ(ft__outliers_find(out, &d.m, d.y, group, &opt, &err), FT_EINVAL);
    for (uint64_t i = 0; i < N; i++)
        group[i] = i;
    opt.false_alarms = 0.7;
    CHECK_EQ(ft__outliers_find(out, &d.m, d.y, group, &opt, &err), FT_EINVAL);
    opt.false_alarms = 0;
    d.y[3] = NAN;
    CHECK_EQ(ft__outliers_find(out, &d.m, d.y, group, &opt, &err), FT_EINVAL);
    data_free(&d);
}
