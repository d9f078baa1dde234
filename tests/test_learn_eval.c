#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learn/learn_inside.h"
#include "learn_data.h"

enum { MANY = 500 };

static void fill_groups(uint64_t *group, uint64_t n_groups)
{
    ft__prng rng = ft__prng_stream(1, 0);

    for (int i = 0; i < MANY; i++)
        group[i] = ft__prng_u64(&rng) % n_groups * 0x100000001u;
}

static void count(size_t *rows, const uint32_t *fold, size_t n, uint32_t n_folds)
{
    memset(rows, 0, n_folds * sizeof(*rows));
    for (size_t i = 0; i < n; i++) {
        CHECK(CMP(fold[i], <, n_folds));
        rows[fold[i] % n_folds]++;
    }
}

TEST(folds_never_part_a_group)
{
    uint64_t group[MANY];
    uint32_t fold[MANY];

    fill_groups(group, 60);
    CHECK_EQ(ft__folds_make(fold, group, MANY, 5, 2, NULL), FT_OK);
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < i; k++)
            CHECK(CMP(group[i], !=, group[k]) || EQ(fold[i], fold[k]));
}

TEST(folds_are_even)
{
    uint64_t group[MANY];
    uint32_t fold[MANY];
    size_t rows[7];

    for (uint64_t i = 0; i < MANY; i++)
        group[i] = i;
    CHECK_EQ(ft__folds_make(fold, group, MANY, 7, 2, NULL), FT_OK);
    count(rows, fold, MANY, 7);
    for (int k = 0; k < 7; k++)
        CHECK(EQ(rows[k], MANY / 7) || EQ(rows[k], MANY / 7 + 1));

    fill_groups(group, 60); /* groups of about 8 rows */
    CHECK_EQ(ft__folds_make(fold, group, MANY, 5, 2, NULL), FT_OK);
    count(rows, fold, MANY, 5);
    for (int k = 0; k < 5; k++)
        CHECK(CMP(rows[k], >=, 98) && CMP(rows[k], <=, 102));
}

TEST(a_giant_group_gets_a_fold_of_its_own)
{
    const uint64_t group[8] = {9, 9, 9, 9, 9, 1, 2, 3};
    uint32_t fold[8];

    CHECK_EQ(ft__folds_make(fold, group, 8, 3, 0, NULL), FT_OK);
    CHECK(CMP(fold[5], !=, fold[0]) && CMP(fold[6], !=, fold[0]) &&
          CMP(fold[7], !=, fold[0]));
    CHECK(CMP(fold[5], !=, fold[6]) || CMP(fold[6], !=, fold[7]));
}

TEST(folds_follow_the_groups_and_the_seed_not_the_order)
{
    uint64_t group[MANY], back[MANY];
    uint32_t fold[MANY], other[MANY];

    for (uint64_t i = 0; i < MANY; i++) {
        group[i] = i / 2;
        back[MANY - 1 - i] = i / 2;
    }
    CHECK_EQ(ft__folds_make(fold, group, MANY, 5, 2, NULL), FT_OK);
    CHECK_EQ(ft__folds_make(other, back, MANY, 5, 2, NULL), FT_OK);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(fold[i], other[MANY - 1 - i]);
    CHECK_EQ(ft__folds_make(other, group, MANY, 5, 3, NULL), FT_OK);
    CHECK(!BYTES(fold, other, sizeof(fold)));
}

TEST(refuses_more_folds_than_groups)
{
    const uint64_t group[5] = {1, 1, 2, 2, 2};
    uint32_t fold[5];

    CHECK_EQ(ft__folds_make(fold, group, 5, 2, 0, NULL), FT_OK);
    CHECK_EQ(ft__folds_make(fold, group, 5, 3, 0, NULL), FT_EINVAL);
    CHECK_EQ(ft__folds_make(fold, group, 5, 6, 0, NULL), FT_EINVAL);
    CHECK_EQ(ft__folds_make(fold, group, 5, 1, 0, NULL), FT_EINVAL);
    CHECK_EQ(ft__folds_make(fold, group, 0, 0, 0, NULL), FT_EINVAL);
}

TEST(each_row_is_predicted_by_a_forest_that_never_saw_its_fold)
{
    enum { ROWS = 60, COLS = 3 };
    const ft__forest_options opt = {.kind = FT_FOREST_EXTRA, .n_trees = 9, .seed = 3};
    const ft__learn_model_options how = {
        .method = FT_METHOD_EXTRA, .forest.n_trees = 9, .seed = 3};
    data d = data_new(ROWS, COLS, 4), rest = data_new(ROWS, COLS, 4);
    uint32_t fold[ROWS];
    double out[ROWS], w[ROWS], rest_w[ROWS];

    for (uint32_t i = 0; i < ROWS; i++) {
        fold[i] = i % 3;
        w[i] = 1 + i % 2;
    }
    CHECK_EQ(ft__model_cross_validate(out, &d.m, d.y, w, fold, 4, &how, NULL), FT_OK);
    for (uint32_t k = 0; k < 3; k++) { /* fold 3 is empty */
        ft__forest *f;
        size_t n = 0;

        for (size_t i = 0; i < ROWS; i++) {
            if (fold[i] == k)
                continue;
            memcpy(rest.x + n * COLS, d.x + i * COLS, COLS * sizeof(float));
            rest_w[n] = w[i];
            rest.y[n++] = d.y[i];
        }
        rest.m.n_rows = n;
        CHECK_EQ(ft__forest_fit(&f, &rest.m, rest.y, rest_w, &opt, NULL), FT_OK);
        for (size_t i = k; f && i < ROWS; i += 3)
            CHECK_EQ(out[i], ft__forest_predict(f, d.x + i * COLS));
        ft__forest_free(f);
    }
    data_free(&d);
    data_free(&rest);
}

TEST(refuses_folds_that_leave_nothing_to_learn_from)
{
    const ft__learn_model_options opt = {.method = FT_METHOD_FOREST,
                                         .forest.n_trees = 2};
    data d = data_new(4, 2, 1);
    double out[4];
    ft_error err = {0};

    CHECK_EQ(ft__model_cross_validate(out, &d.m, d.y, NULL, (uint32_t[4]){1, 1, 1, 1},
                                      2, &opt, &err),
             FT_EINVAL);
    CHECK_EQ(ft__model_cross_validate(out, &d.m, d.y, NULL, (uint32_t[4]){0, 1, 2, 1},
                                      2, &opt, &err),
             FT_EINVAL);
    CHECK(HAS(err.msg, "row 2"));
    CHECK_EQ(
        ft__model_cross_validate(out, &d.m, d.y, NULL, (uint32_t[4]){0}, 1, &opt, NULL),
        FT_EINVAL);
    data_free(&d);
}

TEST(error_figures_match_a_calculation_by_hand)
{
    const double truth[4] = {100, 200, 0, 50}, predicted[4] = {110, 190, 5, 50};
    ft_errors e;

    CHECK_EQ(ft__errors_compute(&e, truth, predicted, 4, 1, NULL), FT_OK);
    CHECK_EQ(e.n, 4);
    CHECK_NEAR(e.mape, 0.05, 1e-15); /* of 0.1, 0.05 and 0 */
    CHECK_NEAR(e.median_ape, 0.05, 1e-15);
    CHECK_NEAR(e.p90_ape, 0.09, 1e-15);
    CHECK_NEAR(e.within_10, 1, 0);
    CHECK_NEAR(e.max_ape, 0.1, 1e-15);
    CHECK_NEAR(e.bias, 0.05 / 3, 1e-15);
    CHECK_NEAR(e.mae, 6.25, 0);
    CHECK_NEAR(e.median_ae, 7.5, 0);
    CHECK_NEAR(e.max_ae, 10, 0);
    CHECK_NEAR(e.r2, 1 - 225.0 / 21875, 1e-15);
    CHECK_NEAR(e.adjusted_r2, 1 - 225.0 / 21875 * 3 / 2, 1e-15);
    CHECK_EQ(ft__errors_compute(&e, truth, predicted, 4, 3, NULL), FT_OK);
    CHECK(isnan(e.adjusted_r2));
}

TEST(far_predictions_count_against_the_ten_percent)
{
    const double truth[5] = {-10, 10, 10, 10, 10},
                 predicted[5] = {-12, 10, 9.5, 12, -10};
    ft_errors e;

    CHECK_EQ(ft__errors_compute(&e, truth, predicted, 5, 0, NULL), FT_OK);
    CHECK_NEAR(e.within_10, 0.4, 1e-15);
    CHECK_NEAR(e.max_ape, 2, 1e-15);
    CHECK_NEAR(e.bias, (0.2 + 0 - 0.05 + 0.2 - 2) / 5, 1e-15);
}

TEST(what_is_undefined_is_nan)
{
    ft_errors e;

    CHECK_EQ(ft__errors_compute(&e, NULL, NULL, 0, 0, NULL), FT_OK);
    CHECK(EQ(e.n, 0) && isnan(e.mape) && isnan(e.r2) && isnan(e.mae) &&
          isnan(e.max_ae));
    CHECK_EQ(ft__errors_compute(&e, (double[]){0, 0}, (double[]){1, 2}, 2, 0, NULL),
             FT_OK);
    CHECK(isnan(e.mape) && isnan(e.within_10) && isnan(e.bias) && isnan(e.p90_ape));
    CHECK(isnan(e.r2) && isnan(e.adjusted_r2)); /* the truth never varies */
    CHECK_NEAR(e.mae, 1.5, 0);
    CHECK_EQ(ft__errors_compute(&e, (double[]){NAN}, (double[]){1}, 1, 0, NULL),
             FT_EINVAL);
    CHECK_EQ(ft__errors_compute(&e, (double[]){1}, (double[]){INFINITY}, 1, 0, NULL),
             FT_EINVAL);
}

TEST(conformal_takes_the_corrected_ranks)
{
    double r[39], low, high;

    for (int i = 0; i < 39; i++)
        r[i] = (i * 7 + 3) % 39 + 1; /* 1 .. 39, shuffled */
    CHECK_EQ(ft__conformal(&low, &high, r, 39, 0.9, NULL), FT_OK);
    CHECK(EQ(low, 2) && EQ(high, 38)); /* ranks 40 x 0.05 and 40 x 0.95 */
    CHECK_EQ(ft__conformal(&low, &high, r, 39, 0.89, NULL), FT_OK);
    CHECK(EQ(low, 2) && EQ(high, 38)); /* never narrower than asked */
    CHECK_EQ(ft__conformal(&low, &high, r, 39, 0.95, NULL), FT_OK);
    CHECK(EQ(low, 1) && EQ(high, 39));
    CHECK_EQ(ft__conformal(&low, &high, r, 39, 0.999, NULL), FT_OK);
    CHECK(EQ(low, 1) && EQ(high, 39)); /* too few: the extremes */
    CHECK_EQ(ft__conformal(&low, &high, (double[]){-3}, 1, 0.5, NULL), FT_OK);
    CHECK(EQ(low, -3) && EQ(high, -3));
}

TEST(conformal_intervals_cover_as_often_as_they_say)
{
    enum { N = 99, TRIALS = 4000 };
    ft__prng rng = ft__prng_stream(5, 0);
    int covered = 0;

    for (int t = 0; t < TRIALS; t++) {
        double r[N + 1], low, high;

        for (int i = 0; i <= N; i++) { /* skewed, not centred */
            double u = ft__prng_unit(&rng);

            r[i] = 3 * u * u * u - 0.2;
        }
        CHECK_EQ(ft__conformal(&low, &high, r, N, 0.9, NULL), FT_OK);
        covered += r[N] >= low && r[N] <= high;
    }
    CHECK_NEAR((double)covered / TRIALS, 0.9, 0.015); /* three sigma */
}

TEST(conformal_refuses_what_it_cannot_answer)
{
    double low, high;

    CHECK_EQ(ft__conformal(&low, &high, NULL, 0, 0.9, NULL), FT_EINVAL);
    CHECK(isnan(low) && isnan(high));
    CHECK_EQ(ft__conformal(&low, &high, (double[]){1}, 1, 1, NULL), FT_EINVAL);
    CHECK_EQ(ft__conformal(&low, &high, (double[]){1}, 1, 0, NULL), FT_EINVAL);
    CHECK_EQ(ft__conformal(&low, &high, (double[]){1}, 1, NAN, NULL), FT_EINVAL);
    CHECK_EQ(ft__conformal(&low, &high, (double[]){1, NAN}, 2, 0.9, NULL), FT_EINVAL);
}

/* log y = 0.3 a + 0.1 b + 0.2 c, each 0 or 1, and a column that says nothing; c is the
 * same in all rows of a fold. Learned exactly, a coefficient k is worth the mean of
 * |exp(k (other - own)) - 1|: a quarter of the pairs differ in each direction. */
TEST(columns_are_worth_what_their_law_says)
{
    enum { N = 400, COLUMNS = 5 };
    static const double k[] = {0.3, 0.1, 0.2, 0};
    static const double weight[] = {0.25, 0.75};
    const ft__learn_model_options ridge[] = {
        {.method = FT_METHOD_RIDGE, .penalty = 1e-9},
        {.method = FT_METHOD_RIDGE, .penalty = 1e-9},
    };
    const ft__importance_options opt = {
        .model = ridge, .weight = weight, .n_models = 2, .n_repeats = 20, .seed = 1};
    float x[N * COLUMNS];
    double y[N];
    uint32_t fold[N];
    ft_importance v[COLUMNS], same[COLUMNS];
    const ft__matrix m = {x, N, COLUMNS};

    for (uint32_t i = 0; i < N; i++) {
        float *row = x + (size_t)i * COLUMNS;

        fold[i] = i / (N / 4);
        row[0] = (float)(i % 2);
        row[1] = (float)(i / 2 % 2);
        row[2] = (float)(fold[i] % 2);
        row[3] = (float)(i * 2654435761u >> 16);
        row[4] = 7; /* does not vary */
        y[i] = k[0] * row[0] + k[1] * row[1] + k[2] * row[2];
    }
    CHECK_EQ(ft__model_importance(v, &m, y, fold, 4, &opt, NULL), FT_OK);
    for (int c = 0; c < 4; c++) {
        CHECK_NEAR(v[c].increase, 0.5 * sinh(k[c]), 0.01);
        CHECK(CMP(v[c].spread, <, 0.01));
    }
    CHECK(CMP(v[0].spread, >, 0) && EQ(v[4].increase, 0) && EQ(v[4].spread, 0));
    CHECK_EQ(ft__model_importance(same, &m, y, fold, 4, &opt, NULL), FT_OK);
    CHECK(BYTES(v, same, sizeof(v)));
}

TEST(importance_needs_folds_and_models)
{
    const double one = 1;
    const ft__learn_model_options tree = {.method = FT_METHOD_TREE};
    const ft__importance_options none = {.model = &tree, .weight = &one},
                                 opt = {.model = &tree, .weight = &one, .n_models = 1};
    const float x[] = {1, 2, 3, 4};
    const double y[] = {1, 2, 3, 4};
    const uint32_t fold[] = {0, 1, 0, 1};
    ft_importance v;

    CHECK_EQ(ft__model_importance(&v, &(ft__matrix){x, 4, 1}, y, fold, 2, &none, NULL),
             FT_EINVAL);
    CHECK_EQ(ft__model_importance(&v, &(ft__matrix){x, 4, 1}, y, fold, 1, &opt, NULL),
             FT_EINVAL);
    CHECK_EQ(ft__model_importance(&v, &(ft__matrix){x, 0, 1}, y, fold, 2, &opt, NULL),
             FT_EINVAL);
    CHECK_EQ(ft__model_importance(&v, &(ft__matrix){x, 4, 1}, y, fold, 2, &opt, NULL),
             FT_OK);
}
