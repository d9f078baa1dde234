/* Middles of trees, and targets between bounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learn/learn_inside.h"
#include "learn/model.h"
#include "learn_data.h"

/* The bounds between which a curve is learned, or none. */
struct bounds {
    double least, most;
};

static double stretched(const struct bounds *b, double y)
{
    return b->most > b->least ? log((y - b->least) / (b->most - y)) : y;
}

static double bounded(const struct bounds *b, double v)
{
    return b->most > b->least ? b->least + (b->most - b->least) / (1 + exp(-v)) : v;
}

/* What k trees say in the mean, of one seed, as they learned it, times k. */
static double sum_of_trees(const data *d, uint32_t k, const struct bounds *b,
                           const float *row)
{
    const ft__learn_model_options opt = {.method = FT_METHOD_EXTRA,
                                         .forest.n_trees = k,
                                         .seed = 3,
                                         .least = b->least,
                                         .most = b->most};
    ft__learn_model *m;
    double sum;

    if (ft__model_fit(&m, &d->m, d->y, NULL, &opt, NULL))
        abort();
    sum = stretched(b, predict_one(m, row)) * k;
    ft__model_free(m);
    return sum;
}

/* Of the values of n trees, that whose exponential is nearest to theirs in proportion.
 */
static double nearest_in_proportion(const double *tree, int n)
{
    double best = NAN, least = INFINITY;

    for (int i = 0; i < n; i++) {
        double sum = 0;

        for (int k = 0; k < n; k++)
            sum += fabs(exp(tree[i] - tree[k]) - 1);
        if (sum < least) {
            least = sum;
            best = tree[i];
        }
    }
    return best;
}

enum { TREES = 9, ROWS_ASKED = 20 };

/* tree[TREES]: what each tree says of a row. */
static void single_trees(double *tree, const data *d, const struct bounds *b,
                         const float *row)
{
    double before = 0;

    for (uint32_t k = 0; k < TREES; k++) {
        const double sum = sum_of_trees(d, k + 1, b, row);

        tree[k] = bounded(b, sum - before);
        before = sum;
    }
}

static void middle_errs_least_in_proportion(const struct bounds *b)
{
    const ft__learn_model_options opt = {.method = FT_METHOD_MIDDLE,
                                         .forest.n_trees = TREES,
                                         .seed = 3,
                                         .least = b->least,
                                         .most = b->most};
    data d = data_new(60, 4, 21), q = data_new(ROWS_ASKED, 4, 22);
    ft__learn_model *m = NULL;
    int several = 0;

    CHECK(!ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL));
    for (size_t i = 0; m && i < ROWS_ASKED; i++) {
        double tree[TREES];

        single_trees(tree, &d, b, q.x + i * 4);
        several += fabs(tree[0] - tree[1]) > 0.01;
        CHECK_NEAR(predict_one(m, q.x + i * 4), nearest_in_proportion(tree, TREES),
                   1e-5);
    }
    CHECK(CMP(several, >, ROWS_ASKED / 2));
    ft__model_free(m);
    data_free(&d);
    data_free(&q);
}

TEST(a_middle_errs_least_in_proportion_among_its_trees)
{
    middle_errs_least_in_proportion(&(struct bounds){0, 0});
    middle_errs_least_in_proportion(&(struct bounds){-8, 8});
}

TEST(what_is_bounded_is_learned_through_a_logistic_curve)
{
    enum { N = 80 };
    ft__learn_model_options opt = {.method = FT_METHOD_RIDGE, .least = -1, .most = 3};
    data d = data_new(N, 3, 23), q = data_new(N, 3, 24);
    double stretched[N], bounded[N];
    ft__learn_model *m = NULL, *plain = NULL;

    for (size_t i = 0; i < N; i++) {
        stretched[i] = 3 * d.y[i];
        d.y[i] = -1 + 4 / (1 + exp(-stretched[i]));
    }
    CHECK(!ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL));
    opt.least = opt.most = 0;
    CHECK(!ft__model_fit(&plain, &d.m, stretched, NULL, &opt, NULL));
    if (m && plain)
        ft__model_predict(m, q.x, N, bounded);
    for (size_t i = 0; m && plain && i < N; i++) {
        CHECK(CMP(bounded[i], >, -1) && CMP(bounded[i], <, 3));
        CHECK_NEAR(bounded[i], -1 + 4 / (1 + exp(-predict_one(plain, q.x + i * 3))),
                   1e-9);
    }
    ft__model_free(m);
    ft__model_free(plain);
    data_free(&d);
    data_free(&q);
}

TEST(bounds_that_are_none_are_refused)
{
    static const double wild[] = {NAN, INFINITY, -1, -2};
    ft__learn_model_options opt = {.method = FT_METHOD_RIDGE, .least = -50, .most = 50};
    data d = data_new(20, 3, 25);
    ft__learn_model *m = NULL, *again = NULL;
    size_t len = 0;
    ft__model_header *h;

    CHECK(!ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL));
    h = m ? malloc((ft__model_image(m, &len), len)) : NULL;
    for (size_t i = 0; h && i < sizeof(wild) / sizeof(*wild); i++) {
        memcpy(h, ft__model_image(m, &len), len);
        h->least = -1;
        h->most = wild[i];
        CHECK(EQ(ft__model_load(&again, h, len, NULL), FT_EFORMAT) && !again);
    }
    free(h);
    ft__model_free(m);
    opt.most = d.y[7];
    CHECK(EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL), FT_EINVAL) && !m);
    data_free(&d);
}

TEST(bounds_between_which_nothing_lies_are_refused_before_learning)
{
    static const struct bounds wild[] = {
        {-1, NAN},       {NAN, 1},        {-INFINITY, INFINITY},
        {-INFINITY, 50}, {-50, INFINITY}, {-1e308, 1e308},
        {2, -2},         {5, 5}};
    data d = data_new(20, 3, 25);

    for (size_t i = 0; i < sizeof(wild) / sizeof(*wild); i++) {
        const ft__learn_model_options opt = {
            .method = FT_METHOD_RIDGE, .least = wild[i].least, .most = wild[i].most};
        ft_error err = {0};
        ft__learn_model *m = NULL;

        CHECK(EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, &err), FT_EINVAL) && !m);
        CHECK(HAS(err.msg, "nothing lies between"));
    }
    data_free(&d);
}

TEST(what_weighs_nothing_may_lie_outside_the_bounds)
{
    enum { N = 40 };
    const ft__learn_model_options opt = {
        .method = FT_METHOD_RIDGE, .least = -50, .most = 50};
    data d = data_new(2 * N, 3, 26);
    data half = {.m = {d.x, N, 3}};
    double w[2 * N];
    ft__learn_model *a = NULL, *b = NULL;

    for (size_t i = 0; i < 2 * N; i++) {
        w[i] = i < N;
        d.y[i] = i < N ? d.y[i] : 50 + (double)(i % 2);
    }
    CHECK(!ft__model_fit(&a, &d.m, d.y, w, &opt, NULL));
    CHECK(!ft__model_fit(&b, &half.m, d.y, NULL, &opt, NULL));
    for (size_t i = 0; a && b && i < N; i++)
        CHECK_EQ(predict_one(a, d.x + i * 3), predict_one(b, d.x + i * 3));
    ft__model_free(a);
    ft__model_free(b);
    w[N] = 1e-9;
    CHECK(EQ(ft__model_fit(&a, &d.m, d.y, w, &opt, NULL), FT_EINVAL) && !a);
    data_free(&d);
}

TEST(more_trees_than_fit_on_the_stack_are_refused)
{
    ft__learn_model_options opt = {.method = FT_METHOD_MIDDLE, .forest.n_trees = 1025};
    data d = data_new(4, 1, 27);
    ft__learn_model *m = NULL, *again = NULL;
    ft__model_header *h;
    ft_error err = {0};
    size_t len = 0;

    CHECK(EQ(ft__model_fit(&m, &d.m, d.y, NULL, &opt, &err), FT_EINVAL) && !m);
    CHECK(HAS(err.msg, "1025"));
    opt.method = FT_METHOD_EXTRA;
    CHECK(!ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL));
    h = m ? malloc((ft__model_image(m, &len), len)) : NULL;
    if (h) {
        memcpy(h, ft__model_image(m, &len), len);
        h->method = FT_METHOD_MIDDLE;
        CHECK(EQ(ft__model_load(&again, h, len, NULL), FT_EFORMAT) && !again);
    }
    free(h);
    ft__model_free(m);
    opt = (ft__learn_model_options){.method = FT_METHOD_MIDDLE, .forest.n_trees = 1024};
    CHECK(!ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL));
    CHECK(m && isfinite(predict_one(m, d.x)));
    ft__model_free(m);
    data_free(&d);
}
