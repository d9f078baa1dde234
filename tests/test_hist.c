/* Boosting on histograms, against splits searched one by one. */
#include <string.h>

#include "check.h"
#include "learn/learn_inside.h"
#include "learn_data.h"

/* One tree that takes everything off at once. */
static const ft__learn_model_options whole_steps = {.method = FT_METHOD_HIST,
                                                    .rounds = 1,
                                                    .depth = 1,
                                                    .rate = 1,
                                                    .share = 1,
                                                    .penalty = 1e-12};

static double error_of(const ft__learn_model *m, const data *d)
{
    double sum = 0;

    for (size_t i = 0; i < d->m.n_rows; i++) {
        const double r = d->y[i] - predict_one(m, d->x + i * d->m.n_cols);

        sum += r * r;
    }
    return sum;
}

/* The squared error about the means of both sides. */
static double error_of_split(const data *d, size_t col, float cut)
{
    double sum[2] = {0, 0}, squares = 0, n[2] = {0, 0};

    for (size_t i = 0; i < d->m.n_rows; i++) {
        const int side = d->x[i * d->m.n_cols + col] > cut;

        sum[side] += d->y[i];
        squares += d->y[i] * d->y[i];
        n[side]++;
    }
    for (int side = 0; side < 2; side++)
        squares -= n[side] > 0 ? sum[side] * sum[side] / n[side] : 0;
    return squares;
}

/* Fewer values than bins: nothing is lost. */
TEST(the_first_split_is_the_best_of_all)
{
    data d = data_new(200, 4, 3);
    double least = INFINITY;
    ft__learn_model *m = NULL;

    for (size_t i = 0; i < 200; i++)
        for (size_t j = 0; j < 4; j++)
            least = fmin(least, error_of_split(&d, j, d.x[i * 4 + j]));
    CHECK(!ft__model_fit(&m, &d.m, d.y, NULL, &whole_steps, NULL));
    if (m)
        CHECK_NEAR(error_of(m, &d), least, 1e-6 * least);
    ft__model_free(m);
    data_free(&d);
}

/* Far more values than bins: a step is found to within a bin's share of the rows. */
TEST(a_step_is_found_among_many_values)
{
    enum { N = 20000, MOST_WRONG = 2 * N / 255 };
    data d = data_new(N, 2, 4);
    size_t wrong = 0;
    ft__learn_model *m = NULL;

    for (size_t i = 0; i < N; i++)
        d.y[i] = d.x[2 * i + 1] > 0.3F;
    CHECK(!ft__model_fit(&m, &d.m, d.y, NULL, &whole_steps, NULL));
    for (size_t i = 0; m && i < N; i++)
        wrong += fabs(predict_one(m, d.x + 2 * i) - d.y[i]) > 0.5;
    CHECK(m && CMP(wrong, <=, MOST_WRONG));
    ft__model_free(m);
    data_free(&d);
}

/* A column of mostly one value leaves bins for the others. */
TEST(a_frequent_value_does_not_take_the_bins_of_others)
{
    enum { N = 4000 };
    ft__learn_model_options opt = whole_steps;
    data d = data_new(N, 1, 5);
    ft__learn_model *m = NULL;

    for (size_t i = 0; i < N; i++) {
        d.x[i] = i % 4 ? 0 : 1 + d.x[i];
        d.y[i] = d.x[i];
    }
    opt.depth = 8;
    CHECK(!ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL));
    for (float v = 1.01F; m && v < 1.99F; v += 0.01F)
        CHECK_NEAR(predict_one(m, &v), (double)v, 0.02);
    ft__model_free(m);
    data_free(&d);
}

TEST(missing_values_go_where_they_fit)
{
    for (int high = 0; high < 2; high++) {
        float x[40], ask[] = {3, 30, NAN};
        double y[40];
        const ft__matrix matrix = {x, 40, 1};
        ft__learn_model *m = NULL;

        for (int i = 0; i < 40; i++) {
            x[i] = i % 4 == 3 ? NAN : (float)i;
            y[i] = i % 4 == 3 ? high : i >= 20;
        }
        CHECK(!ft__model_fit(&m, &matrix, y, NULL, &whole_steps, NULL));
        if (m) {
            CHECK_NEAR(predict_one(m, &ask[0]), 0, 1e-6);
            CHECK_NEAR(predict_one(m, &ask[1]), 1, 1e-6);
            CHECK_NEAR(predict_one(m, &ask[2]), high, 1e-6);
        }
        ft__model_free(m);
    }
}

/* And where whether it is there says all. */
TEST(missing_ones_may_differ_from_all_others)
{
    float x[200], ask[] = {5, 11, NAN};
    double y[200];
    const ft__matrix matrix = {x, 200, 1};
    ft__learn_model *m = NULL;

    for (int i = 0; i < 200; i++) {
        x[i] = i % 2 ? NAN : (float)(5 + i % 7);
        y[i] = i % 2 ? 3 : 1;
    }
    CHECK(!ft__model_fit(&m, &matrix, y, NULL, &whole_steps, NULL));
    if (m) {
        CHECK_NEAR(predict_one(m, &ask[0]), 1, 1e-4);
        CHECK_NEAR(predict_one(m, &ask[1]), 1, 1e-4);
        CHECK_NEAR(predict_one(m, &ask[2]), 3, 1e-4);
    }
    ft__model_free(m);
}

/* A row that weighs 2 counts as the same row twice. */
TEST(weights_count_as_repeats)
{
    enum { N = 100, COLS = 3 };
    ft__learn_model_options opt = whole_steps;
    data d = data_new(N, COLS, 6), twice = data_new(2 * N, COLS, 6);
    double w[N];
    ft__learn_model *a = NULL, *b = NULL;

    for (size_t i = 0; i < N; i++)
        w[i] = i % 2 ? 2 : 1;
    twice.m.n_rows = 0;
    for (size_t i = 0; i < N; i++)
        for (int k = 0; k < (i % 2 ? 2 : 1); k++) {
            memcpy(twice.x + twice.m.n_rows * COLS, d.x + i * COLS,
                   COLS * sizeof(float));
            twice.y[twice.m.n_rows++] = d.y[i];
        }
    opt.depth = 2;
    CHECK(!ft__model_fit(&a, &d.m, d.y, w, &opt, NULL));
    CHECK(!ft__model_fit(&b, &twice.m, twice.y, NULL, &opt, NULL));
    for (size_t i = 0; a && b && i < N; i++)
        CHECK_NEAR(predict_one(a, d.x + i * COLS), predict_one(b, d.x + i * COLS),
                   1e-6);
    ft__model_free(a);
    ft__model_free(b);
    data_free(&d);
    data_free(&twice);
}

/* Each round takes a share of what is left, so that the last of many leaves little. */
TEST(more_rounds_leave_less)
{
    data d = data_new(300, 3, 7);
    double before = INFINITY, first = 0;

    for (uint32_t rounds = 1; rounds <= 64; rounds *= 4) {
        const ft__learn_model_options opt = {
            .method = FT_METHOD_HIST, .rounds = rounds, .seed = 1};
        ft__learn_model *m = NULL;

        CHECK(!ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL));
        CHECK(m && CMP(error_of(m, &d), <, before));
        before = m ? error_of(m, &d) : 0;
        first = rounds == 1 ? before : first;
        ft__model_free(m);
    }
    CHECK(CMP(before, <, first / 50));
    data_free(&d);
}
