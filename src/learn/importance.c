/* Permutation importance (Breiman 2001; Fisher, Rudin, Dominici 2019): how much worse
 * rows that a model has not seen are predicted when one of their columns is another
 * row's. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/prng.h"
#include "foretell/learn.h"
#include "learn/learn_inside.h"

enum { REPEATS = 5, MOST_MODELS = 8 };
static const size_t most_rows = 1000;

struct importance_job {
    ft__arena room;
    const ft_matrix *x;
    const double *y;
    const uint32_t *fold;
    const ft_importance_options *opt;
    uint32_t n_repeats;
    uint32_t *row; /* those whose columns are permuted */
    size_t n;
    uint32_t *order; /* of them: where each takes its column from */
    float *test;     /* those of `row` that are in the fold */
    uint32_t *test_at;
    double *predicted;
    double *one; /* by one of the models */
    double *sum; /* of errors: as it is, then by column and repeat */
};

static ft_status job_make(struct importance_job *j, ft_error *err)
{
    size_t n = j->x->n_rows, width = j->x->n_cols;

    j->row = ft__arena_need(&j->room, n, sizeof(*j->row));
    j->order = ft__arena_need(&j->room, n, sizeof(*j->order));
    j->test = ft__arena_need(&j->room, n * width, sizeof(*j->test));
    j->test_at = ft__arena_need(&j->room, n, sizeof(*j->test_at));
    j->predicted = ft__arena_need(&j->room, n, sizeof(*j->predicted));
    j->one = ft__arena_need(&j->room, n, sizeof(*j->one));
    j->sum = ft__arena_need(&j->room, 1 + width * j->n_repeats, sizeof(*j->sum));
    return j->room.bad ? ft_fail(err, FT_ENOMEM, 0,
                                 "no memory for the importance of %zu columns", width)
                       : FT_OK;
}

static void shuffle(const struct importance_job *j, uint32_t *v, size_t n,
                    uint64_t stream)
{
    ft__prng p = ft__prng_stream(j->opt->seed, stream);

    ft__prng_shuffle(&p, v, n);
}

/* All rows, or as many as are enough, drawn. */
static void draw_rows(struct importance_job *j)
{
    size_t most = j->opt->most_rows ? j->opt->most_rows : most_rows;

    for (size_t i = 0; i < j->x->n_rows; i++)
        j->row[i] = (uint32_t)i;
    shuffle(j, j->row, j->x->n_rows, 0);
    j->n = j->x->n_rows < most ? j->x->n_rows : most;
}

static size_t take_test(struct importance_job *j, uint32_t fold)
{
    size_t n = 0, width = j->x->n_cols;

    for (size_t i = 0; i < j->n; i++) {
        if (j->fold[j->row[i]] != fold)
            continue;
        memcpy(j->test + n * width, j->x->x + j->row[i] * width, width * sizeof(float));
        j->test_at[n++] = (uint32_t)i;
    }
    return n;
}

/* Sum of relative errors of the rows in j->test, whose targets are logarithms. */
static double error_sum(struct importance_job *j, ft_model *const *model, size_t n)
{
    double sum = 0;

    memset(j->predicted, 0, n * sizeof(*j->predicted));
    for (uint32_t k = 0; k < j->opt->n_models; k++) {
        ft__model_predict(model[k], j->test, n, j->one);
        for (size_t i = 0; i < n; i++)
            j->predicted[i] += j->opt->weight[k] * j->one[i];
    }
    for (size_t i = 0; i < n; i++)
        sum += fabs(expm1(j->predicted[i] - j->y[j->row[j->test_at[i]]]));
    return sum;
}

/* A value is that of any row looked at, of whichever fold: what is the same in all rows
 * of a fold, such as the device where devices are left out, changes as well. */
static void permute(struct importance_job *j, size_t column, uint32_t repeat, size_t n)
{
    size_t width = j->x->n_cols;

    for (size_t i = 0; i < j->n; i++)
        j->order[i] = (uint32_t)i;
    shuffle(j, j->order, j->n, 1 + column * j->n_repeats + repeat);
    for (size_t i = 0; i < n; i++)
        j->test[i * width + column] =
            j->x->x[j->row[j->order[j->test_at[i]]] * width + column];
}

static void put_back(struct importance_job *j, size_t column, size_t n)
{
    size_t width = j->x->n_cols;

    for (size_t i = 0; i < n; i++)
        j->test[i * width + column] = j->x->x[j->row[j->test_at[i]] * width + column];
}

static bool varies(const struct importance_job *j, size_t column)
{
    float first = j->x->x[j->row[0] * j->x->n_cols + column];

    for (size_t i = 1; i < j->n; i++) {
        float v = j->x->x[j->row[i] * j->x->n_cols + column];

        if (v != first && !(isnan(v) && isnan(first)))
            return true;
    }
    return false;
}

static void add_errors(struct importance_job *j, ft_model *const *model, size_t n)
{
    j->sum[0] += error_sum(j, model, n);
    for (size_t c = 0; c < j->x->n_cols; c++) {
        if (!varies(j, c))
            continue;
        for (uint32_t r = 0; r < j->n_repeats; r++) {
            permute(j, c, r, n);
            j->sum[1 + c * j->n_repeats + r] += error_sum(j, model, n);
        }
        put_back(j, c, n);
    }
}

static ft_status one_fold(struct importance_job *j, uint32_t fold, ft_error *err)
{
    ft_model *model[MOST_MODELS] = {0};
    size_t n = take_test(j, fold);
    ft_status st = FT_OK;

    for (uint32_t k = 0; k < j->opt->n_models && n && !st; k++)
        st = ft__model_fit_without(&model[k], j->x, j->y, NULL, j->fold, fold,
                                   &j->opt->model[k], err);
    if (!st && n)
        add_errors(j, model, n);
    for (uint32_t k = 0; k < j->opt->n_models; k++)
        ft__model_free(model[k]);
    return st;
}

/* Mean and standard deviation over the repeats. */
static void summarise(ft_importance *out, const struct importance_job *j)
{
    double r = j->n_repeats;

    for (size_t c = 0; c < j->x->n_cols; c++) {
        const double *of = j->sum + 1 + c * j->n_repeats;
        double mean = 0, squares = 0;

        out[c] = (ft_importance){0};
        if (!varies(j, c))
            continue;
        for (uint32_t k = 0; k < j->n_repeats; k++)
            mean += (of[k] - j->sum[0]) / (double)j->n / r;
        for (uint32_t k = 0; k < j->n_repeats; k++) {
            double off = (of[k] - j->sum[0]) / (double)j->n - mean;

            squares += off * off;
        }
        out[c].increase = mean;
        out[c].spread = j->n_repeats > 1 ? sqrt(squares / (r - 1)) : (double)NAN;
    }
}

ft_status ft__model_importance(ft_importance *out, const ft_matrix *x, const double *y,
                               const uint32_t *fold, uint32_t n_folds,
                               const ft_importance_options *opt, ft_error *err)
{
    struct importance_job j = {.x = x,
                               .y = y,
                               .fold = fold,
                               .opt = opt,
                               .n_repeats = opt->n_repeats ? opt->n_repeats : REPEATS};
    ft_status st;

    if (x->n_rows == 0 || n_folds < 2 || opt->n_models == 0 ||
        opt->n_models > MOST_MODELS)
        return ft_fail(err, FT_EINVAL, 0,
                       "%zu rows, %u folds and %u models: importance needs rows, two "
                       "folds and one to %d models",
                       x->n_rows, n_folds, opt->n_models, MOST_MODELS);
    st = job_make(&j, err);
    if (!st)
        draw_rows(&j);
    for (uint32_t k = 0; k < n_folds && !st; k++)
        st = one_fold(&j, k, err);
    if (!st)
        summarise(out, &j);
    ft__arena_free(&j.room);
    return st;
}
