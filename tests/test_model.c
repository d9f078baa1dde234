/* Every method behind ft__learn_model. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "foretell/names.h"
#include "learn/learn_inside.h"
#include "learn/model.h"
#include "learn/tree/boost.h"
#include "learn_data.h"

static ft__learn_model *fit(ft_method method, const data *d, const double *w)
{
    const ft__learn_model_options opt = {.method = method, .rounds = 50, .seed = 3};
    ft_error err = {0};
    ft__learn_model *m;

    if (ft__model_fit(&m, &d->m, d->y, w, &opt, &err))
        fprintf(stderr, "%s: %s\n", ft_name(FT_NAMES_METHOD, method), err.msg);
    return m;
}

/* What every method has in common. */

/* Fitted on half of the rows, tried on the others; 1 is the spread of the targets. */
static double error_of(const ft__learn_model *m, const data *d)
{
    double squares = 0, about = 0, mean = 0;

    for (size_t i = 0; i < d->m.n_rows; i++)
        mean += d->y[i] / (double)d->m.n_rows;
    for (size_t i = 0; i < d->m.n_rows; i++) {
        const double r = d->y[i] - predict_one(m, d->x + i * d->m.n_cols);

        squares += r * r;
        about += (d->y[i] - mean) * (d->y[i] - mean);
    }
    return sqrt(squares / about);
}

TEST(every_method_learns_what_is_there)
{
    static const double most[FT_METHOD_COUNT] = {
        [FT_METHOD_RIDGE] = 0.4, [FT_METHOD_KNN] = 0.5,     [FT_METHOD_TEMPLATE] = 0.6,
        [FT_METHOD_TREE] = 0.15, [FT_METHOD_FOREST] = 0.15, [FT_METHOD_EXTRA] = 0.15,
        [FT_METHOD_BOOST] = 0.2, [FT_METHOD_MLP] = 0.3,     [FT_METHOD_SVR] = 0.3,
        [FT_METHOD_GP] = 0.15,   [FT_METHOD_HIST] = 0.2,    [FT_METHOD_MIDDLE] = 0.2,
    };
    data d = data_new(400, 5, 1), other = data_new(200, 5, 2);
    const char *why;

    for (int k = 0; k < FT_METHOD_COUNT; k++) {
        ft__learn_model *m;

        if (!ft_method_available((ft_method)k, &why))
            continue;
        m = fit((ft_method)k, &d, NULL);
        if (!m) {
            CHECK(m != NULL);
            continue;
        }
        CHECK(EQ(m->head->method, (uint32_t)k) && EQ(ft__model_width(m), 5));
        CHECK_NEAR(error_of(m, &other), 0, most[k]);
        ft__model_free(m);
    }
    data_free(&d);
    data_free(&other);
}

TEST(batches_and_single_rows_agree_bit_for_bit)
{
    enum { N = 77 };
    data d = data_new(150, 7, 4), q = data_new(N, 7, 5);
    double batch[N], single;
    const char *why;

    q.x[3] = NAN;
    q.x[20] = 1e30F;
    for (int k = 0; k < FT_METHOD_COUNT; k++) {
        ft__learn_model *m;

        if (!ft_method_available((ft_method)k, &why))
            continue;
        m = fit((ft_method)k, &d, NULL);
        if (!m)
            continue;
        ft__model_predict(m, q.x, N, batch);
        for (size_t i = 0; i < N; i++) {
            single = predict_one(m, q.x + i * 7);
            CHECK(BYTES(&single, &batch[i], sizeof(single)));
        }
        ft__model_free(m);
    }
    data_free(&d);
    data_free(&q);
}

/* The image of a model fitted with `threads`; the caller's to free. */
static void *image_of(ft_method method, const data *d, uint32_t threads, size_t *len)
{
    const ft__learn_model_options opt = {
        .method = method, .rounds = 5, .seed = 9, .threads = threads};
    ft__learn_model *m;
    void *copy;

    if (ft__model_fit(&m, &d->m, d->y, NULL, &opt, NULL))
        return NULL;
    copy = malloc((ft__model_image(m, len), *len));
    if (!copy)
        abort();
    memcpy(copy, ft__model_image(m, len), *len);
    ft__model_free(m);
    return copy;
}

TEST(images_do_not_depend_on_threads_and_load_again)
{
    data d = data_new(120, 4, 6);
    const char *why;

    for (int k = 0; k < FT_METHOD_COUNT; k++) {
        size_t len = 0, again = 0;
        void *a, *b;
        ft__learn_model *m = NULL;

        if (!ft_method_available((ft_method)k, &why))
            continue;
        a = image_of((ft_method)k, &d, 1, &len);
        b = image_of((ft_method)k, &d, 3, &again);
        CHECK(a && b && EQ(len, again) && BYTES(a, b, len));
        CHECK(a && EQ(ft__model_load(&m, a, len, NULL), FT_OK));
        if (m) {
            CHECK_EQ(m->head->method, (uint32_t)k);
            CHECK(EQ(ft__model_image(m, &again), a) && EQ(again, len));
            CHECK(isfinite(predict_one(m, d.x)));
            ft__model_free(m);
        }
        free(a);
        free(b);
    }
    data_free(&d);
}

/* Cut short anywhere, or a word replaced by one that is wild: refused, or a model
 * that still answers. Under the sanitizers this shows reads out of bounds. */
TEST(damaged_images_are_refused_or_harmless)
{
    static const uint32_t wild[] = {0, 1, 0xffffffffu, 0x7fc00000u, 0x7f800000u, 77};
    data d = data_new(40, 3, 7);
    const char *why;

    for (int k = 0; k < FT_METHOD_COUNT; k++) {
        size_t len = 0;
        uint32_t *a;
        ft_error err;
        ft__learn_model *m = NULL;

        if (!ft_method_available((ft_method)k, &why))
            continue;
        a = image_of((ft_method)k, &d, 1, &len);
        for (size_t cut = 0; a && cut < len; cut += 4)
            CHECK(EQ(ft__model_load(&m, a, cut, &err), FT_EFORMAT) && !m &&
                  CMP(err.pos, <=, len));
        for (size_t i = 0; a && i < 6 * (len / 4 < 300 ? len / 4 : 300); i++) {
            const uint32_t kept = a[i / 6];

            a[i / 6] = wild[i % 6];
            if (ft__model_load(&m, a, len, &err) == FT_OK)
                (void)predict_one(m, d.x);
            else
                CHECK(EQ(err.status, FT_EFORMAT) && CMP(err.pos, <=, len));
            ft__model_free(m);
            a[i / 6] = kept;
        }
        free(a);
    }
    data_free(&d);
}

TEST(bad_requests_are_refused)
{
    data d = data_new(20, 3, 8);
    ft__learn_model_options opt = {.method = FT_METHOD_RIDGE, .penalty = -1};
    ft__learn_model *m;

    CHECK(EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL), FT_EINVAL) && !m);
    opt = (ft__learn_model_options){.method = FT_METHOD_COUNT};
    CHECK(EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL), FT_EINVAL) && !m);
    opt = (ft__learn_model_options){.method = FT_METHOD_KNN, .neighbours = 65};
    CHECK(EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL), FT_EINVAL) && !m);
    d.x[4] = INFINITY;
    opt.neighbours = 3;
    CHECK(EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL), FT_EINVAL) && !m);
    data_free(&d);
}

TEST(rows_of_weight_0_are_as_good_as_absent)
{
    enum { N = 60 };
    data d = data_new(2 * N, 3, 9), half = data_new(N, 3, 10);
    double w[2 * N];
    const char *why;

    for (size_t i = 0; i < 2 * N; i++) {
        w[i] = (double)(i % 2);
        if (i % 2) {
            memcpy(half.x + i / 2 * 3, d.x + i * 3, 3 * sizeof(float));
            half.y[i / 2] = d.y[i];
        } else {
            d.y[i] = 1000;
        }
    }
    for (int k = 0; k < FT_METHOD_COUNT; k++) {
        ft__learn_model *a, *b;

        if (!ft_method_available((ft_method)k, &why))
            continue;
        a = fit((ft_method)k, &d, w);
        b = fit((ft_method)k, &half, NULL);
        for (size_t i = 0; a && b && i < N; i++)
            CHECK_EQ(predict_one(a, d.x + i * 6), predict_one(b, d.x + i * 6));
        CHECK(a && b);
        ft__model_free(a);
        ft__model_free(b);
    }
    data_free(&d);
    data_free(&half);
}

TEST(cross_validation_predicts_what_a_model_of_the_rest_does)
{
    enum { N = 30 };
    const ft__learn_model_options opt = {.method = FT_METHOD_KNN, .neighbours = 2};
    data d = data_new(N, 2, 11);
    ft__matrix rest = {d.x + 2 * 10, 20, 2};
    uint32_t fold[N];
    double out[N];
    ft__learn_model *m;

    for (uint32_t i = 0; i < N; i++)
        fold[i] = i < 10 ? 0 : 1 + i % 2;
    CHECK_EQ(ft__model_cross_validate(out, &d.m, d.y, NULL, fold, 3, &opt, NULL),
             FT_OK);
    CHECK_EQ(ft__model_fit(&m, &rest, d.y + 10, NULL, &opt, NULL), FT_OK);
    for (size_t i = 0; m && i < 10; i++)
        CHECK_EQ(predict_one(m, d.x + 2 * i), out[i]);
    ft__model_free(m);
    data_free(&d);
}

/* What only one method must do. */

/* One column, u = (x - mean) / sd: slope = sum u y / (n + penalty). */
TEST(ridge_is_its_closed_form)
{
    float x[] = {1, 2, 4, 9};
    double y[] = {2, 3, 7, 12}, mean_x = 4, mean_y = 6, sd = sqrt(38.0 / 4), cross = 0;
    const ft__matrix m = {x, 4, 1};
    const ft__learn_model_options opt = {.method = FT_METHOD_RIDGE, .penalty = 0.5};
    ft__learn_model *r;

    for (int i = 0; i < 4; i++)
        cross += ((double)x[i] - mean_x) / sd * y[i];
    CHECK_EQ(ft__model_fit(&r, &m, y, NULL, &opt, NULL), FT_OK);
    if (!r)
        return;
    CHECK_NEAR(predict_one(r, (float[]){6}), mean_y + cross / 4.5 * (6 - mean_x) / sd,
               1e-6);
    CHECK_NEAR(predict_one(r, (float[]){NAN}), mean_y + cross / 4.5 * (2 - mean_x) / sd,
               1e-6);
    ft__model_free(r);
}

/* y = 1 + 2 a - 3 b exactly, with a column that never changes between them. */
TEST(ridge_finds_a_plane)
{
    float x[40 * 3];
    double y[40];
    const ft__matrix m = {x, 40, 3};
    const ft__learn_model_options opt = {.method = FT_METHOD_RIDGE, .penalty = 1e-9};
    ft__learn_model *r;

    for (int i = 0; i < 40; i++) {
        x[3 * i] = (float)(i % 7);
        x[3 * i + 1] = 5;
        x[3 * i + 2] = (float)(i % 5);
        y[i] = 1 + 2 * (i % 7) - 3 * (i % 5);
    }
    CHECK_EQ(ft__model_fit(&r, &m, y, NULL, &opt, NULL), FT_OK);
    if (!r)
        return;
    CHECK_NEAR(predict_one(r, (float[]){100, 5, -50}), 351, 1e-3);
    ft__model_free(r);
}

/* By all distances; columns are standardised already. */
static double brute_force(const data *d, const float *q, uint32_t k)
{
    double best = 0, all = 0;
    char *taken = calloc(d->m.n_rows, 1);

    if (!taken)
        abort();
    for (uint32_t i = 0; i < k; i++) {
        double least = INFINITY;
        size_t at = 0;

        for (size_t r = 0; r < d->m.n_rows; r++) {
            double s = 0;

            for (size_t j = 0; j < d->m.n_cols; j++) {
                const double t = (double)d->x[r * d->m.n_cols + j] - (double)q[j];

                s += t * t;
            }
            if (!taken[r] && s < least) {
                least = s;
                at = r;
            }
        }
        taken[at] = 1;
        best += d->y[at] / sqrt(least);
        all += 1 / sqrt(least);
    }
    free(taken);
    return best / all;
}

TEST(neighbours_are_those_of_a_search_of_all)
{
    enum { N = 512, COLS = 6 };
    data d = data_new(N, COLS, 12), q = data_new(50, COLS, 13);
    ft__learn_model_options opt = {.method = FT_METHOD_KNN, .neighbours = 7};
    double mean[COLS] = {0}, var[COLS] = {0};
    ft__learn_model *m;

    for (size_t i = 0; i < N * COLS; i++)
        mean[i % COLS] += (double)d.x[i] / N;
    for (size_t i = 0; i < N * COLS; i++)
        var[i % COLS] += pow((double)d.x[i] - mean[i % COLS], 2) / N;
    CHECK_EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL), FT_OK);
    for (size_t i = 0; i < N * COLS; i++)
        d.x[i] = (float)(((double)d.x[i] - mean[i % COLS]) / sqrt(var[i % COLS]));
    for (size_t i = 0; m && i < 50; i++) {
        const double said = predict_one(m, q.x + i * COLS);
        float u[COLS];

        for (size_t j = 0; j < COLS; j++)
            u[j] = (float)(((double)q.x[i * COLS + j] - mean[j]) / sqrt(var[j]));
        CHECK_NEAR(said, brute_force(&d, u, 7), 1e-5);
    }
    ft__model_free(m);
    data_free(&d);
    data_free(&q);
}

TEST(one_neighbour_is_the_training_row)
{
    data d = data_new(333, 5, 14);
    const ft_method methods[] = {FT_METHOD_KNN, FT_METHOD_TEMPLATE};

    memcpy(d.x + 5 * 300, d.x + 5 * 100, 5 * sizeof(float));
    for (int k = 0; k < 2; k++) {
        const ft__learn_model_options opt = {.method = methods[k], .neighbours = 1};
        ft__learn_model *m;

        CHECK_EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL), FT_OK);
        for (size_t i = 0; m && i < 333; i++)
            CHECK_EQ(predict_one(m, d.x + 5 * i), d.y[i == 300 ? 100 : i]);
        ft__model_free(m);
    }
    data_free(&d);
}

TEST(a_tree_is_all_rows_with_their_best_split)
{
    float x[] = {1, 9, 2, 1, 3, 5, 10, 2, 11, 8, 12, 3};
    double y[] = {1, 1, 1, 5, 5, 5};
    const ft__matrix m = {x, 6, 2};
    ft__learn_model_options opt = {.method = FT_METHOD_TREE};
    ft__learn_model *t;

    CHECK_EQ(ft__model_fit(&t, &m, y, NULL, &opt, NULL), FT_OK);
    if (!t)
        return;
    CHECK_EQ(predict_one(t, (float[]){6, 0}), 1);
    CHECK_EQ(predict_one(t, (float[]){7, 0}), 5);
    ft__model_free(t);
}

/* The same labels and parameters through XGBoost's own interface, and its own
 * prediction; values are missing where they were in training and where not. */
TEST(boosting_is_what_xgboost_says)
{
    enum { N = 500, COLS = 5, ROUNDS = 30 };
    const ft__learn_model_options opt = {.method = FT_METHOD_BOOST,
                                         .rounds = ROUNDS,
                                         .share = 1,
                                         .rate = 0.3,
                                         .depth = 5,
                                         .seed = 1};
    static const char *const param[][2] = {
        {"tree_method", "hist"}, {"eta", "0.3"},     {"max_depth", "5"}, {"seed", "1"},
        {"base_score", "0"},     {"verbosity", "0"}, {"nthread", "1"},
    };
    data d, q;
    int (*ask)(void *, void *, int, unsigned, int, uint64_t *, const float **) = NULL;
    double mean = 0, var = 0;
    void *train = NULL, *test = NULL, *booster = NULL;
    const float *said = NULL;
    float label[N];
    uint64_t n = 0;
    ft__xgboost xgb;
    ft__learn_model *m;

    if (ft__xgboost_open(&xgb))
        return;
    d = data_new(N, COLS, 15);
    q = data_new(N, COLS, 16);
    for (size_t i = 0; i < N; i++) {
        d.x[i * COLS + i % 3] = i % 4 ? d.x[i * COLS + i % 3] : NAN;
        q.x[i * COLS + i % 5] = i % 4 ? q.x[i * COLS + i % 5] : NAN;
        mean += d.y[i] / N;
    }
    for (size_t i = 0; i < N; i++)
        var += (d.y[i] - mean) * (d.y[i] - mean) / N;
    for (size_t i = 0; i < N; i++)
        label[i] = (float)((d.y[i] - mean) / sqrt(var));
    *(void **)&ask = dlsym(xgb.dl, "XGBoosterPredict");
    CHECK(!xgb.matrix_new(d.x, N, COLS, NAN, &train));
    CHECK(!xgb.matrix_new(q.x, N, COLS, NAN, &test));
    CHECK(!xgb.matrix_set(train, "label", label, N));
    CHECK(!xgb.booster_new(&train, 1, &booster));
    for (size_t i = 0; i < sizeof(param) / sizeof(*param); i++)
        CHECK(!xgb.booster_set(booster, param[i][0], param[i][1]));
    for (int i = 0; i < ROUNDS; i++)
        CHECK(!xgb.booster_update(booster, i, train));
    CHECK(ask && !ask(booster, test, 0, 0, 0, &n, &said) && EQ(n, N));
    CHECK_EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL), FT_OK);
    for (size_t i = 0; m && i < n; i++)
        CHECK_NEAR(predict_one(m, q.x + i * COLS), mean + sqrt(var) * (double)said[i],
                   1e-5);
    ft__model_free(m);
    xgb.booster_free(booster);
    xgb.matrix_free(train);
    xgb.matrix_free(test);
    ft__xgboost_close(&xgb);
    data_free(&d);
    data_free(&q);
}

/* No linear model, and no tree without many leaves, finds a product. */
TEST(a_perceptron_learns_a_product)
{
    data d = data_new(600, 2, 17), q = data_new(300, 2, 18);
    ft__learn_model *m;

    for (size_t i = 0; i < 600; i++)
        d.y[i] = ((double)d.x[2 * i] - 0.5) * ((double)d.x[2 * i + 1] - 0.5);
    for (size_t i = 0; i < 300; i++)
        q.y[i] = ((double)q.x[2 * i] - 0.5) * ((double)q.x[2 * i + 1] - 0.5);
    m = fit(FT_METHOD_MLP, &d, NULL);
    CHECK(m != NULL);
    if (m)
        CHECK_NEAR(error_of(m, &q), 0, 0.05);
    ft__model_free(m);
    data_free(&d);
    data_free(&q);
}

/* With nothing to pay for being far away, every row ends inside the tube. */
TEST(support_vectors_hold_every_row_in_the_tube)
{
    enum { N = 200 };
    ft__learn_model_options opt = {
        .method = FT_METHOD_SVR, .penalty = 1e6, .epsilon = 0.1};
    data d = data_new(N, 2, 19);
    double mean = 0, var = 0;
    const char *why;
    ft__learn_model *m;

    if (!ft_method_available(FT_METHOD_SVR, &why)) {
        data_free(&d);
        return;
    }
    for (size_t i = 0; i < N; i++) {
        d.y[i] = (double)d.x[2 * i] * (double)d.x[2 * i] + (double)d.x[2 * i + 1];
        mean += d.y[i] / N;
    }
    for (size_t i = 0; i < N; i++)
        var += (d.y[i] - mean) * (d.y[i] - mean) / N;
    CHECK_EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL), FT_OK);
    for (size_t i = 0; m && i < N; i++)
        CHECK_NEAR(predict_one(m, d.x + 2 * i), d.y[i], (0.1 + 0.002) * sqrt(var));
    ft__model_free(m);
    data_free(&d);
}

enum { ROWS = 300, COLUMNS = 8, FOLDS = 5 };

static int read_table(float *x, double *y, uint32_t *fold)
{
    char path[4096], line[512];
    size_t n = 0;
    FILE *fp;

    snprintf(path, sizeof(path), "%s/tests/data/learn.csv", source_root);
    fp = fopen(path, "r");
    if (!fp || !fgets(line, sizeof(line), fp))
        return 0;
    for (; n < ROWS && fgets(line, sizeof(line), fp); n++) {
        char *at = line;

        for (size_t j = 0; j < COLUMNS; j++, at++)
            x[n * COLUMNS + j] = (float)strtod(at, &at);
        y[n] = strtod(at, &at);
        fold[n] = (uint32_t)strtod(at + 1, &at);
    }
    fclose(fp);
    return n == ROWS;
}

/* R2 out of fold as bench/learn tests/data/learn.csv printed it for scikit-learn 1.9
 * and XGBoost 3.2: the same number where a method has no chance in it, otherwise the
 * mean of four seeds and what they differed by, twice. For MIDDLE these are medians of
 * what the trees of its extra trees say. */
TEST(methods_err_as_those_of_others)
{
    static const struct {
        double r2, within;
    } theirs[FT_METHOD_COUNT] = {
        [FT_METHOD_RIDGE] = {0.9344, 1e-4},    [FT_METHOD_KNN] = {0.9160, 1e-4},
        [FT_METHOD_TEMPLATE] = {0.8641, 1e-4}, [FT_METHOD_TREE] = {0.968, 0.036},
        [FT_METHOD_FOREST] = {0.977, 0.01},    [FT_METHOD_EXTRA] = {0.989, 0.01},
        [FT_METHOD_BOOST] = {0.980, 0.016},    [FT_METHOD_MLP] = {0.983, 0.008},
        [FT_METHOD_SVR] = {0.9839, 2e-4},      [FT_METHOD_GP] = {0.9980, 1e-3},
        [FT_METHOD_HIST] = {0.980, 0.016},     [FT_METHOD_MIDDLE] = {0.955, 0.046},
    };
    float x[ROWS * COLUMNS];
    double y[ROWS], out[ROWS];
    uint32_t fold[ROWS];
    const ft__matrix m = {x, ROWS, COLUMNS};
    const char *why;

    CHECK(read_table(x, y, fold));
    for (int k = 0; k < FT_METHOD_COUNT; k++) {
        const ft__learn_model_options opt = {.method = (ft_method)k, .seed = 1};
        ft_errors e;

        if (!ft_method_available((ft_method)k, &why))
            continue;
        CHECK(!ft__model_cross_validate(out, &m, y, NULL, fold, FOLDS, &opt, NULL));
        CHECK(!ft__errors_compute(&e, y, out, ROWS, COLUMNS, NULL));
        CHECK_NEAR(e.r2, theirs[k].r2, theirs[k].within);
    }
}
