/* Let the 1st, 2nd, 3rd ... allocation fail until the call succeeds: every
 * failure must come back as FT_ENOMEM and leak nothing (run under ASan). */
#include "check.h"
#include "learn/learn_inside.h"
#include "learn/tree/forest.h"
#include "learn_data.h"
#include "refuse.h"

enum { ROWS = 12, COLS = 2 };

static data d;
static ft__forest *made; /* while memory lasted */
static const uint32_t fold[ROWS] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};

static ft_status fit(ft__forest_kind kind)
{
    const ft__forest_options opt = {.kind = kind, .n_trees = 3};
    ft__forest *f;
    ft_status st = ft__forest_fit(&f, &d.m, d.y, NULL, &opt, NULL);

    CHECK_EQ((st == FT_OK), (f != NULL));
    ft__forest_free(f);
    return st;
}

static ft_status load(void)
{
    ft__forest *f;
    ft_status st = ft__forest_load(&f, made->head, made->len, NULL);

    CHECK_EQ((st == FT_OK), (f != NULL));
    ft__forest_free(f);
    return st;
}

static ft_status cross_validate(void)
{
    const ft__learn_model_options opt = {.method = FT_METHOD_FOREST,
                                         .forest.n_trees = 2};
    double out[ROWS];

    return ft__model_cross_validate(out, &d.m, d.y, NULL, fold, 2, &opt, NULL);
}

static ft_status fit_method(ft_method method)
{
    const ft__learn_model_options opt = {
        .method = method, .forest = {.n_trees = 2}, .rounds = 2, .width = 2};
    ft__learn_model *m;
    ft_status st = ft__model_fit(&m, &d.m, d.y, NULL, &opt, NULL);

    CHECK_EQ((st == FT_OK), (m != NULL));
    ft__model_free(m);
    return st;
}

static ft_status cross_validate_model(void)
{
    const ft__learn_model_options opt = {.method = FT_METHOD_TEMPLATE};
    double out[ROWS];

    return ft__model_cross_validate(out, &d.m, d.y, NULL, fold, 2, &opt, NULL);
}

static ft_status make_folds(void)
{
    uint64_t group[ROWS];
    uint32_t out[ROWS];

    for (uint64_t i = 0; i < ROWS; i++)
        group[i] = i;
    return ft__folds_make(out, group, ROWS, 3, 0, NULL);
}

static ft_status compute_errors(void)
{
    ft_errors e;

    return ft__errors_compute(&e, d.y, d.y, ROWS, 1, NULL);
}

static ft_status conformal(void)
{
    double low, high;

    return ft__conformal(&low, &high, d.y, ROWS, 0.5, NULL);
}

int main(void)
{
    const ft__forest_options how = {.kind = FT_FOREST_EXTRA, .n_trees = 3};

    d = data_new(ROWS, COLS, 1);
    CHECK_EQ(ft__forest_fit(&made, &d.m, d.y, NULL, &how, NULL), FT_OK);
    CHECK_REFUSALS(fit(FT_FOREST_RANDOM), 12);
    CHECK_REFUSALS(fit(FT_FOREST_EXTRA), 12);
    CHECK_REFUSALS(load(), 1);
    CHECK_REFUSALS(cross_validate(), 30);
    CHECK_REFUSALS(make_folds(), 3);
    CHECK_REFUSALS(compute_errors(), 1);
    CHECK_REFUSALS(conformal(), 1);
    CHECK_REFUSALS(fit_method(FT_METHOD_RIDGE), 8);
    CHECK_REFUSALS(fit_method(FT_METHOD_KNN), 7);
    CHECK_REFUSALS(fit_method(FT_METHOD_TREE), 10);
    CHECK_REFUSALS(fit_method(FT_METHOD_MLP), 8);
    CHECK_REFUSALS(fit_method(FT_METHOD_GP), 14);
    CHECK_REFUSALS(fit_method(FT_METHOD_HIST), 12);
    CHECK_REFUSALS(cross_validate_model(), 12);
    ft__forest_free(made);
    data_free(&d);
    CHECK_DONE();
}
