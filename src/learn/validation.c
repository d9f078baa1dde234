/* What predictions are worth: their errors and intervals; rows dealt to folds and
 * predicted by models that have not seen them; what each column is good for. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/prng.h"
#include "base/stats.h"
#include "learn/learn_inside.h"

static ft_status check_finite(const double *v, size_t n, const char *what,
                              ft_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return ft_fail(err, FT_EINVAL, 0, "%s %zu is %g: leave such rows out", what,
                           i, v[i]);
    return FT_OK;
}

static void absolute(ft_errors *e, const double *measured, const double *predicted,
                     size_t n, size_t n_features, double *ae)
{
    const double mean = ft__mean(measured, n);
    double residual = 0, total = 0;

    for (size_t i = 0; i < n; i++) {
        const double r = measured[i] - predicted[i], t = measured[i] - mean;

        residual += r * r;
        total += t * t;
        ae[i] = fabs(r);
    }
    if (total > 0)
        e->r2 = 1 - residual / total;
    if (n > n_features + 1)
        e->adjusted_r2 =
            1 - (1 - e->r2) * (double)(n - 1) / (double)(n - n_features - 1);
    e->mae = ft__mean(ae, n);
    e->median_ae = ft__median(ae, n);
    e->max_ae = ae[n - 1];
}

static void relative(ft_errors *e, const double *measured, const double *predicted,
                     size_t n, double *ape)
{
    size_t m = 0, close = 0;
    double bias = 0;

    for (size_t i = 0; i < n; i++) {
        const double r = (predicted[i] - measured[i]) / measured[i];

        if (measured[i] == 0)
            continue;
        bias += r;
        close += fabs(r) <= 0.10;
        ape[m++] = fabs(r);
    }
    if (m == 0)
        return;
    e->bias = bias / (double)m;
    e->within_10 = (double)close / (double)m;
    e->mape = ft__mean(ape, m);
    e->median_ape = ft__median(ape, m);
    e->p90_ape = ft__quantile(ape, m, 0.9);
    e->max_ape = ape[m - 1];
}

ft_status ft__errors_compute(ft_errors *out, const double *measured,
                             const double *predicted, size_t n, size_t n_features,
                             ft_error *err)
{
    ft_status st;
    double *scratch;

    *out = (ft_errors){n, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    st = check_finite(measured, n, "truth", err);
    if (!st)
        st = check_finite(predicted, n, "prediction", err);
    if (st || n == 0)
        return st;
    scratch = calloc(n, sizeof(*scratch));
    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu errors", n);
    absolute(out, measured, predicted, n, n_features, scratch);
    relative(out, measured, predicted, n, scratch);
    free(scratch);
    return FT_OK;
}

ft_status ft__conformal(double *low, double *high, const double *residuals, size_t n,
                        double coverage, ft_error *err)
{
    const double tail = (1 - coverage) / 2, rank = tail * ((double)n + 1);
    size_t below;
    double *sorted;
    ft_status st;

    *low = *high = NAN;
    if (!(coverage > 0 && coverage < 1))
        return ft_fail(err, FT_EINVAL, 0, "coverage %g is not between 0 and 1",
                       coverage);
    if (n == 0)
        return ft_fail(err, FT_EINVAL, 0, "no residuals to take an interval from");
    st = check_finite(residuals, n, "residual", err);
    if (st)
        return st;
    sorted = calloc(n, sizeof(*sorted));
    if (!sorted)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu residuals", n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = residuals[i];
    ft__sort(sorted, n);
    /* The floor(rank)-th from either end; the hair keeps an exact rank exact
     * when (1 - coverage) / 2 is not. */
    below = (size_t)(rank * (1 + 1e-12));
    *low = sorted[below ? below - 1 : 0];
    *high = sorted[below ? n - below : n - 1];
    free(sorted);
    return FT_OK;
}

struct row_of {
    uint64_t group;
    size_t row;
};

struct group {
    size_t first; /* in the rows sorted by group */
    size_t n;
    uint64_t lot; /* breaks ties of size; drawn from the group's number, so that
                     the order of the rows plays no part */
};

static int by_group(const void *a, const void *b)
{
    const struct row_of *p = a, *q = b;

    if (p->group != q->group)
        return p->group > q->group ? 1 : -1;
    return (p->row > q->row) - (p->row < q->row);
}

static int largest_first(const void *a, const void *b)
{
    const struct group *p = a, *q = b;

    if (p->n != q->n)
        return p->n < q->n ? 1 : -1;
    if (p->lot != q->lot)
        return p->lot > q->lot ? 1 : -1;
    return (p->first > q->first) - (p->first < q->first);
}

static size_t find_groups(struct group *g, const struct row_of *row, size_t n,
                          uint64_t seed)
{
    size_t n_groups = 0;

    for (size_t i = 0; i < n; i++) {
        if (i == 0 || row[i].group != row[i - 1].group) {
            ft__prng lot = ft__prng_stream(seed, row[i].group);

            g[n_groups++] = (struct group){.first = i, .lot = ft__prng_u64(&lot)};
        }
        g[n_groups - 1].n++;
    }
    qsort(g, n_groups, sizeof(*g), largest_first);
    return n_groups;
}

/* Largest group first, each to the fold that has fewest rows so far. */
static void deal(uint32_t *fold, const struct row_of *row, const struct group *g,
                 size_t n_groups, size_t *filled, uint32_t n_folds)
{
    for (size_t i = 0; i < n_groups; i++) {
        uint32_t to = 0;

        for (uint32_t k = 1; k < n_folds; k++)
            to = filled[k] < filled[to] ? k : to;
        filled[to] += g[i].n;
        for (size_t r = g[i].first; r < g[i].first + g[i].n; r++)
            fold[row[r].row] = to;
    }
}

ft_status ft__folds_make(uint32_t *fold, const uint64_t *group, size_t n,
                         uint32_t n_folds, uint64_t seed, ft_error *err)
{
    struct row_of *row = NULL;
    struct group *g = NULL;
    size_t *filled = NULL, n_groups;
    ft_status st = FT_OK;

    if (n_folds < 2 || n < n_folds)
        return ft_fail(err, FT_EINVAL, 0, "%zu rows cannot be dealt to %u folds", n,
                       n_folds);
    row = calloc(n, sizeof(*row));
    g = calloc(n, sizeof(*g));
    filled = calloc(n_folds, sizeof(*filled));
    if (!row || !g || !filled) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to deal %zu rows", n);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        row[i] = (struct row_of){group ? group[i] : i, i};
    qsort(row, n, sizeof(*row), by_group);
    n_groups = find_groups(g, row, n, seed);
    if (n_groups < n_folds)
        st = ft_fail(err, FT_EINVAL, 0,
                     "%zu groups cannot be dealt to %u folds: ask for fewer folds",
                     n_groups, n_folds);
    else
        deal(fold, row, g, n_groups, filled, n_folds);
done:
    free(row);
    free(g);
    free(filled);
    return st;
}

/* A model of the rows that are not in fold `without`. */
static ft_status fit_without(ft__learn_model **out, const ft__matrix *x,
                             const double *y, const double *weights,
                             const uint32_t *fold, uint32_t without,
                             const ft__learn_model_options *opt, ft_error *err)
{
    ft__arena room = {0};
    float *rest_x = ft__arena_need(&room, x->n_rows, x->n_cols * sizeof(*rest_x));
    double *rest_y = ft__arena_need(&room, x->n_rows, sizeof(*rest_y));
    double *rest_w = ft__arena_need(&room, x->n_rows, sizeof(*rest_w));
    ft__matrix rest = {rest_x, 0, x->n_cols};
    ft_status st;

    *out = NULL;
    for (size_t i = 0; i < x->n_rows && !room.bad; i++) {
        if (fold[i] == without)
            continue;
        memcpy(rest_x + rest.n_rows * x->n_cols, x->x + i * x->n_cols,
               x->n_cols * sizeof(*rest_x));
        rest_y[rest.n_rows] = y[i];
        rest_w[rest.n_rows++] = weights ? weights[i] : 1;
    }
    st = room.bad
             ? ft_fail(err, FT_ENOMEM, 0, "no memory to validate %zu rows", x->n_rows)
             : ft__model_fit(out, &rest, rest_y, rest_w, opt, err);
    ft__arena_free(&room);
    return st;
}

/* Predict the rows of fold k, if there are any, from the others. */
static ft_status predict_fold(double *out, const ft__matrix *x, const double *y,
                              const double *weights, const uint32_t *fold, uint32_t k,
                              const ft__learn_model_options *opt, ft_error *err)
{
    ft__learn_model *m = NULL;
    ft_status st = FT_OK;

    for (size_t i = 0; i < x->n_rows && !st; i++) {
        if (fold[i] != k)
            continue;
        if (!m)
            st = fit_without(&m, x, y, weights, fold, k, opt, err);
        if (!st)
            ft__model_predict(m, x->x + i * x->n_cols, 1, &out[i]);
    }
    ft__model_free(m);
    return st;
}

ft_status ft__model_cross_validate(double *out, const ft__matrix *x, const double *y,
                                   const double *weights, const uint32_t *fold,
                                   uint32_t n_folds, const ft__learn_model_options *opt,
                                   ft_error *err)
{
    ft_status st = FT_OK;

    if (x->n_rows == 0 || x->n_cols == 0 || n_folds < 2)
        return ft_fail(err, FT_EINVAL, 0,
                       "%zu rows and %u folds are too few to validate", x->n_rows,
                       n_folds);
    for (size_t i = 0; i < x->n_rows; i++)
        if (fold[i] >= n_folds)
            return ft_fail(err, FT_EINVAL, 0, "row %zu is in fold %u of %u", i, fold[i],
                           n_folds);
    for (uint32_t k = 0; !st && k < n_folds; k++)
        st = predict_fold(out, x, y, weights, fold, k, opt, err);
    return st;
}

/* By permutation (Breiman 2001; Fisher, Rudin, Dominici 2019): how much worse rows that
 * a model has not seen are predicted when one of their columns is another row's. */
enum { REPEATS = 5, MOST_MODELS = 8 };
static const size_t most_rows = 1000;

struct importance_job {
    ft__arena room;
    const ft__matrix *x;
    const double *y;
    const uint32_t *fold;
    const ft__importance_options *opt;
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
static double error_sum(struct importance_job *j, ft__learn_model *const *model,
                        size_t n)
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

static void add_errors(struct importance_job *j, ft__learn_model *const *model,
                       size_t n)
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
    ft__learn_model *model[MOST_MODELS] = {0};
    size_t n = take_test(j, fold);
    ft_status st = FT_OK;

    for (uint32_t k = 0; k < j->opt->n_models && n && !st; k++)
        st = fit_without(&model[k], j->x, j->y, NULL, j->fold, fold, &j->opt->model[k],
                         err);
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

ft_status ft__model_importance(ft_importance *out, const ft__matrix *x, const double *y,
                               const uint32_t *fold, uint32_t n_folds,
                               const ft__importance_options *opt, ft_error *err)
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
