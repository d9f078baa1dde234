/* Kinds with few rows listen to the regressor of all kinds as far as it knows better.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "data_dir.h"
#include "foretell/store.h"
#include "predict/file/predictor.h"
#include "predict/model/family.h"
#include "predict/model/model_set.h"
#include "store/store_inside.h"

enum { N = 40 };

static double unit(int i, uint64_t seed)
{
    ft__prng p = ft__prng_stream(seed, (uint64_t)i);

    return 2 * ft__prng_unit(&p) - 1;
}

/* Of 40 rows, with 20 that would have it 5. */
TEST(the_share_is_near_the_one_that_errs_least)
{
    static const struct {
        double own, general; /* how far they are off, in opposite directions */
        uint32_t share;
    } cases[] = {{0, 1, 2}, {1, 0, 8}, {1, 1, 5}, {1, 4, 3}, {0.3, 0.7, 4}};

    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        double own[N], general[N], y[N], before[N];

        for (int i = 0; i < N; i++) {
            double off = 0.01 * unit(i, 2);

            y[i] = unit(i, 1);
            own[i] = before[i] = y[i] + cases[c].own * off;
            general[i] = y[i] - cases[c].general * off;
        }
        CHECK_EQ(ft__pooled_share(own, general, y, N), cases[c].share);
        for (int i = 0; i < N; i++)
            CHECK_NEAR(own[i],
                       before[i] + (general[i] - before[i]) * cases[c].share / 10,
                       1e-12);
    }
}

TEST(few_rows_say_little_of_the_share)
{
    double own[N] = {0}, general[N], y[N] = {0};

    for (int i = 0; i < N; i++)
        general[i] = 0.1 * unit(i, 3);
    CHECK_EQ(ft__pooled_share(own, general, y, 1), 5);
    CHECK(EQ(own[0], general[0] / 2) && EQ(own[1], 0));
}

/* Twice as much is a larger relative error than half as much. */
TEST(errors_are_relative)
{
    enum { MANY = 1000 };
    static double own[MANY], general[MANY], y[MANY];

    for (int i = 0; i < MANY; i++) {
        own[i] = -log(2);
        general[i] = log(2);
    }
    CHECK_EQ(ft__pooled_share(own, general, y, MANY), 5);
    for (int i = 0; i < MANY; i++) {
        own[i] = i % 2 ? -log(2) : 0;
        general[i] = i % 2 ? 0 : log(2);
    }
    CHECK_EQ(ft__pooled_share(own, general, y, MANY), 0);
}

TEST(intervals_are_those_of_the_mixture)
{
    double y[N], said[N], spread[N];
    ft__fit f = {.low = -9, .high = 9, .choice = "extra"};

    for (int i = 0; i < N; i++) {
        y[i] = unit(i, 4);
        said[i] = y[i] + (i % 2 ? 0.2 : -0.1);
        spread[i] = 0.1;
    }
    CHECK_EQ(ft__pooled_recalibrate(&f, 4, said, y, spread, N, NULL), FT_OK);
    CHECK_NEAR(f.low, -2, 1e-9);
    CHECK_NEAR(f.high, 1, 1e-9);
    CHECK(SAME(f.choice, "extra, 0.4 of all kinds"));
    CHECK_EQ(ft__pooled_recalibrate(&f, 10, said, y, spread, N, NULL), FT_OK);
    CHECK(SAME(f.choice, "as all kinds"));
}

/* Few of each kind; power rises with the bytes in the same way for all of them, which
 * few rows of one kind show less well than all. */
static void make_op(ft_op *op, int i)
{
    static const char *const kinds[] = {"relu", "sigmoid", "silu", "gelu"};
    ft__prng p = ft__prng_stream(11, (uint64_t)i);
    char spec[200];

    snprintf(spec, sizeof(spec), "%s x=%ux%u dtype=fp32", kinds[i % 4],
             8 + ft__prng_below(&p, 400), 64 + ft__prng_below(&p, 3000));
    CHECK_EQ(ft_op_parse(op, spec, strlen(spec), NULL), FT_OK);
}

static double power_w(const ft_op *op)
{
    ft_cost c;

    ft_op_cost(op, &c);
    return 30 + 40 * (1 + sin(log(c.bytes_read + c.bytes_written) * 3));
}

static void put(ft_store *s, int64_t run, const char *spec, const char *metric,
                double value)
{
    const ft_key key = {"t4", "", "torch", "2.3", spec, "forward", "ieee", metric};
    const ft_measurement m = {.unit = "s", .value = value, .error = NAN, .n = 1};

    CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
}

static ft_predictor *train(int n, uint32_t threads)
{
    const ft_train_options how = {.forget = 1,
                                  .data_dir = data_dir,
                                  .seed = 1,
                                  .n_trees = 24,
                                  .threads = threads};
    ft_predictor *p = NULL;
    ft_store *s;
    int64_t run;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
    for (int i = 0; i < n; i++) {
        char spec[1024];
        ft_op op;

        make_op(&op, i);
        ft_op_print(&op, spec, sizeof(spec));
        put(s, run, spec, "time", 1e-5);
        put(s, run, spec, "power", power_w(&op));
    }
    CHECK_EQ(ft_predictor_train(&p, s, &how, NULL), FT_OK);
    ft_store_close(s);
    return p;
}

static int count_sharing(const ft_predictor *p)
{
    const ft__model_set *l = p->family->model_set[FT__METRIC_POWER][0];
    int n = 0;

    for (uint32_t i = 0; i < l->n_regressors; i++) {
        n += l->part[i].pooled > 0;
        CHECK(!l->part[i].pooled || EQ(l->part[i].scope, FT__SCOPE_KIND));
    }
    return n;
}

static double error_of(const ft_predictor *p, int first)
{
    ft__dataset on = {.device = (char *)"t4"};
    double sum = 0;

    CHECK_EQ(ft_device_load(&on.file, data_dir, "t4", NULL), FT_OK);
    for (int i = first; i < first + N; i++) {
        ft__op_answer a = {0};
        ft_op op;

        make_op(&op, i);
        CHECK_EQ(
            ft__family_query(&a, p->family, FT__METRIC_POWER, &on, &op, NULL, 1, NULL),
            FT_OK);
        CHECK(CMP(a.low, <=, a.value) && CMP(a.value, <=, a.high));
        sum += fabs(a.value / power_w(&op) - 1) / N;
    }
    ft_device_free(on.file);
    return sum;
}

/* A file that lacks what a regressor needs says so. */
static void nothing_is_said_without_the_others(ft_predictor *p)
{
    ft__model_set *l = p->family->model_set[FT__METRIC_POWER][0];
    ft__dataset on = {.device = (char *)"t4"};
    ft_error err = {0};
    ft__op_answer a;
    ft_op op;
    uint32_t i = 0;

    make_op(&op, 0);
    CHECK_EQ(ft_device_load(&on.file, data_dir, "t4", NULL), FT_OK);
    while (l->part[i].scope != FT__SCOPE_ALL)
        i++;
    l->part[i].phase = FT_PHASE_BACKWARD;
    CHECK_EQ(ft__family_query(&a, p->family, FT__METRIC_POWER, &on, &op, NULL, 1, &err),
             FT_EFORMAT);
    CHECK(HAS(err.msg, "of all kinds"));
    l->part[i].phase = FT_PHASE_FORWARD;
    ft_device_free(on.file);
}

TEST(few_rows_of_many_kinds_help_each_other)
{
    enum { ROWS = 160 };
    ft_predictor *p = train(ROWS, 1), *again = train(ROWS, 2);

    CHECK(CMP(count_sharing(p), >=, 3));
    CHECK(p->family->model_set[FT__METRIC_POWER][0]->columns.common);
    CHECK(!p->family->model_set[FT__METRIC_TIME][0]->columns.common);
    CHECK(CMP(error_of(p, ROWS), <, 0.12));
    CHECK(EQ(p->len, again->len) && !memcmp(p->image, again->image, p->len));
    nothing_is_said_without_the_others(p);
    ft_predictor_free(again);
    ft_predictor_free(p);
}
