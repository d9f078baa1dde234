/* One regressor on a plain matrix: methods are tried in grouped cross-validation, the
 * best or a mixture is fitted and its residuals are scaled; then its answers. */
#include "predict/model/fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/prng.h"
#include "base/stats.h"
#include "foretell/names.h"
#include "learn/learn_inside.h"
#include "predict/data/sample.h"

enum { RESIDUAL_SCALE_TREES = 16, RESIDUAL_SCALE_LEAF = 5, VALUE_TREES = 64 };
/* A mixture has to better the best single method by this share. */
static const double worth_mixing = 0.01;

/* 0: as the method has it by default. */
struct candidate {
    ft_method method;
    uint32_t min_leaf;
    bool tuning;    /* tried only where the options ask for tuning */
    double columns; /* share that a split looks at */
    uint32_t rounds, depth;
    double rate;
    uint32_t neighbours;
    double penalty;
};

enum { WHOLE = 1 << 30 };

/* Trees from fully grown to coarse: few or noisy rows are better served by the latter.
 */
static const struct candidate candidates[] = {
    {.method = FT_METHOD_EXTRA, .min_leaf = 1},
    {.method = FT_METHOD_EXTRA, .min_leaf = 3},
    {.method = FT_METHOD_EXTRA, .min_leaf = 8},
    {.method = FT_METHOD_EXTRA, .min_leaf = WHOLE}, /* one leaf: always the mean */
    {.method = FT_METHOD_FOREST, .min_leaf = 1},
    {.method = FT_METHOD_FOREST, .min_leaf = 3},
    {.method = FT_METHOD_TREE, .min_leaf = 1},
    {.method = FT_METHOD_BOOST},
    {.method = FT_METHOD_RIDGE},
    {.method = FT_METHOD_KNN},
    {.method = FT_METHOD_SVR},
    {.method = FT_METHOD_TEMPLATE},
    {.method = FT_METHOD_MLP},
    {.method = FT_METHOD_GP},
    {.method = FT_METHOD_HIST},
    {.method = FT_METHOD_MIDDLE, .min_leaf = 1},
    {.method = FT_METHOD_EXTRA, .min_leaf = 1, .tuning = true, .columns = 0.3},
    {.method = FT_METHOD_EXTRA, .min_leaf = 1, .tuning = true, .columns = 0.6},
    {.method = FT_METHOD_EXTRA, .min_leaf = 2, .tuning = true},
    {.method = FT_METHOD_EXTRA, .min_leaf = 3, .tuning = true, .columns = 0.5},
    {.method = FT_METHOD_FOREST, .min_leaf = 1, .tuning = true, .columns = 0.3},
    {.method = FT_METHOD_BOOST,
     .tuning = true,
     .rounds = 600,
     .depth = 4,
     .rate = 0.05},
    {.method = FT_METHOD_BOOST,
     .tuning = true,
     .rounds = 600,
     .depth = 8,
     .rate = 0.05},
    {.method = FT_METHOD_KNN, .tuning = true, .neighbours = 3},
    {.method = FT_METHOD_KNN, .tuning = true, .neighbours = 10},
    {.method = FT_METHOD_RIDGE, .tuning = true, .penalty = 10},
    {.method = FT_METHOD_SVR, .tuning = true, .penalty = 100},
};
enum { N_CANDIDATES = sizeof(candidates) / sizeof(*candidates) };

/* The usual ones: trees, their middle where errors are relative, and a process as long
 * as it can take in every row; where it cannot there are rows enough for boosting. */
static uint32_t methods_for(const ft__fit_options *o, size_t n)
{
    uint32_t usual =
        1u << FT_METHOD_EXTRA |
        (n <= FT__PROCESS_ROWS ? 1u << FT_METHOD_GP : 1u << FT_METHOD_HIST);

    if (o->relative)
        usual |= 1u << FT_METHOD_MIDDLE;
    return o->methods ? o->methods : usual;
}

static ft__learn_model_options options_of(const struct candidate *c, size_t n,
                                          const ft__fit_options *o)
{
    bool whole = c->min_leaf == WHOLE;

    return (ft__learn_model_options){
        .method = c->method,
        .forest = {.n_trees = whole        ? 1
                              : o->n_trees ? o->n_trees
                                           : VALUE_TREES,
                   .min_leaf = whole ? (uint32_t)n : c->min_leaf,
                   .max_features = c->columns,
                   .seed = o->seed,
                   .threads = o->threads},
        .penalty = c->penalty,
        .neighbours = c->neighbours,
        .rounds = c->rounds,
        .depth = c->depth,
        .rate = c->rate,
        .least = o->least,
        .most = o->most,
        .seed = o->seed,
        .threads = o->threads,
    };
}

/* The rows of a matrix that cross-validation looks at, dealt to folds, and what was
 * predicted for them. */
struct cv_subset {
    size_t n;
    size_t n_all;  /* rows that the model is fitted to */
    uint32_t *row; /* which of the matrix */
    float *x;
    double *y;
    uint64_t *group; /* whose rows are of one fold */
    uint64_t *given; /* those of blocks, where groups are in blocks */
    uint32_t *fold;
    uint32_t n_folds;
    double *predicted[N_CANDIDATES]; /* out of fold, NULL: not tried */
    double *best;                    /* of the choice */
    double *residual, *residual_scale;
    ft__matrix m;
    bool few; /* groups */
};

/* Below this many rows or groups there is nothing to choose by. */
enum { LEAST_ROWS = 12 };

static void cv_subset_free(struct cv_subset *l)
{
    free(l->row);
    free(l->x);
    free(l->y);
    free(l->group);
    free(l->given);
    free(l->fold);
    free(l->best);
    free(l->residual);
    free(l->residual_scale);
    for (int c = 0; c < N_CANDIDATES; c++)
        free(l->predicted[c]);
}

/* Groups are drawn whole, but where there are few (of devices) all of them are looked
 * at, in rows. */
enum { FEW_GROUPS = 50, MOST_ROWS = 4000 };

static bool is_looked_at(uint64_t key, size_t n, const ft__fit_options *o)
{
    ft__prng p = ft__prng_stream(o->seed, key);

    return n <= MOST_ROWS || ft__prng_unit(&p) < (double)MOST_ROWS / (double)n;
}

static ft_status deal_folds(struct cv_subset *l, const ft__fit_options *o,
                            ft_error *err)
{
    uint64_t *scratch = malloc((l->n + 1) * sizeof(*scratch));
    size_t groups;

    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", l->n);
    groups = ft__count_different(l->group, l->n, scratch);
    free(scratch);
    l->n_folds = o->n_folds ? o->n_folds : l->n < 300 ? 10 : 5;
    if (l->n_folds > groups)
        l->n_folds = (uint32_t)groups;
    if (l->n < LEAST_ROWS || l->n_folds < 2) {
        l->n_folds = 0;
        return FT_OK;
    }
    return ft__folds_make(l->fold, l->group, l->n, l->n_folds, o->seed, err);
}

static ft_status cv_subset_make(struct cv_subset *l, const ft__matrix *x,
                                const double *y, const uint64_t *group,
                                const ft__fit_options *o, ft_error *err)
{
    size_t n = x->n_rows + 1;
    uint64_t *scratch;

    *l = (struct cv_subset){.n_all = x->n_rows,
                            .row = calloc(n, sizeof(*l->row)),
                            .x = malloc(n * x->n_cols * sizeof(*l->x)),
                            .y = calloc(n, sizeof(*l->y)),
                            .group = calloc(n, sizeof(*l->group)),
                            .given = o->blocks ? calloc(n, sizeof(*l->given)) : NULL,
                            .fold = calloc(n, sizeof(*l->fold)),
                            .best = calloc(n, sizeof(*l->best)),
                            .residual = calloc(n, sizeof(*l->residual)),
                            .residual_scale = calloc(n, sizeof(*l->residual_scale))};
    if (!l->row || !l->x || !l->y || !l->group || (o->blocks && !l->given) ||
        !l->fold || !l->best || !l->residual || !l->residual_scale)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", x->n_rows);
    scratch = malloc(n * sizeof(*scratch));
    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", x->n_rows);
    l->few = ft__count_different(group, x->n_rows, scratch) < FEW_GROUPS;
    free(scratch);
    for (size_t i = 0; i < x->n_rows; i++) {
        if (!is_looked_at(l->few ? i : group[i], x->n_rows, o))
            continue;
        memcpy(l->x + l->n * x->n_cols, x->x + i * x->n_cols,
               x->n_cols * sizeof(*l->x));
        l->y[l->n] = y[i];
        if (o->blocks)
            l->given[l->n] = group[i];
        l->group[l->n] = o->blocks ? group[i] >> FT__BLOCK_BITS : group[i];
        l->row[l->n++] = (uint32_t)i;
    }
    l->m = (ft__matrix){l->x, l->n, x->n_cols};
    return deal_folds(l, o, err);
}

static double deviation(const struct cv_subset *l, const double *predicted)
{
    double sum = 0;

    for (size_t i = 0; i < l->n; i++)
        sum += fabs(l->y[i] - predicted[i]);
    return sum / (double)l->n;
}

static double error_of(const struct cv_subset *l, const double *predicted,
                       const ft__fit_options *o)
{
    double sum = 0;

    if (!o->relative)
        return deviation(l, predicted);
    for (size_t i = 0; i < l->n; i++)
        sum += fabs(exp(predicted[i] - l->y[i]) - 1);
    return sum / (double)l->n;
}

static bool is_tried(const struct candidate *c, size_t n, const ft__fit_options *o)
{
    const char *why;

    if (c->tuning && !o->tune)
        return false;
    return c->min_leaf == WHOLE || (o->gain < 1 && methods_for(o, n) >> c->method & 1 &&
                                    ft_method_available(c->method, &why));
}

/* Out-of-fold predictions of every candidate, ordered from best to worst. order:
 * N_CANDIDATES. */
static ft_status try_all(struct cv_subset *l, uint32_t *order, uint32_t *n_order,
                         double *error, const ft__fit_options *o, ft_error *err)
{
    *n_order = 0;
    for (uint32_t c = 0; c < N_CANDIDATES; c++) {
        ft__learn_model_options how = options_of(&candidates[c], l->n, o);
        uint32_t at = *n_order;
        ft_status st;

        if (!is_tried(&candidates[c], l->n_all, o))
            continue;
        l->predicted[c] = calloc(l->n + 1, sizeof(double));
        if (!l->predicted[c])
            return ft_fail(err, FT_ENOMEM, 0, "%zu rows", l->n);
        st = ft__model_cross_validate(l->predicted[c], &l->m, l->y, NULL, l->fold,
                                      l->n_folds, &how, err);
        if (st)
            return st;
        error[c] = error_of(l, l->predicted[c], o);
        for (; at > 0 && error[c] < error[order[at - 1]]; at--)
            order[at] = order[at - 1];
        order[at] = c;
        ++*n_order;
    }
    return FT_OK;
}

struct mixture {
    uint32_t n;
    uint32_t part[FT__MAX_MIXED]; /* candidates */
    double weight[FT__MAX_MIXED];
    double error;
};

/* Writes the mixture's predictions to l->residual. */
static void predict_mixed(struct cv_subset *l, const struct mixture *m)
{
    for (size_t i = 0; i < l->n; i++) {
        double v = 0;

        for (uint32_t k = 0; k < m->n; k++)
            v += m->weight[k] * l->predicted[m->part[k]][i];
        l->residual[i] = v;
    }
}

/* A single leaf is a method of its own. */
static bool is_like(const struct candidate *a, const struct candidate *b,
                    const ft__fit_options *o)
{
    const uint32_t forests = 1u << FT_METHOD_EXTRA | 1u << FT_METHOD_MIDDLE;

    if ((a->min_leaf == WHOLE) != (b->min_leaf == WHOLE))
        return false;
    return a->method == b->method ||
           (o->one_forest && forests >> a->method & 1 && forests >> b->method & 1);
}

/* The best candidate of each method, as many as are mixed: others of the same method
 * err where it does. */
static uint32_t best_of_methods(uint32_t best[FT__MAX_MIXED], const uint32_t *order,
                                uint32_t n_order, const ft__fit_options *o)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_order && n < FT__MAX_MIXED; i++) {
        bool is_new = true;

        for (uint32_t k = 0; k < n; k++)
            is_new &= !is_like(&candidates[best[k]], &candidates[order[i]], o);
        if (is_new)
            best[n++] = order[i];
    }
    return n;
}

/* The best single candidate, or shares of the best of three methods in tenths when that
 * is better by enough to be no accident. */
static struct mixture mix(struct cv_subset *l, const uint32_t *order, uint32_t n_order,
                          const double *error, const ft__fit_options *o)
{
    struct mixture best = {1, {order[0]}, {1}, error[order[0]]}, single = best;
    uint32_t part[FT__MAX_MIXED] = {0};
    uint32_t n = o->mix || !o->methods ? best_of_methods(part, order, n_order, o) : 1;

    for (int a = 0; n > 1 && a <= 10; a++)
        for (int b = 0; b <= 10 - a; b++) {
            struct mixture m = {.n = n,
                                .part = {part[0], part[1], part[2]},
                                .weight = {a / 10.0, b / 10.0, (10 - a - b) / 10.0}};

            if (n == 2 && a + b != 10)
                continue;
            predict_mixed(l, &m);
            m.error = error_of(l, l->residual, o);
            if (m.error < best.error)
                best = m;
        }
    return best.error < (1 - worth_mixing) * single.error ? best : single;
}

/* The constant, unless m betters it by as much as is wanted. */
static struct mixture trust(const struct mixture *m, const uint32_t *order,
                            uint32_t n_order, const double *error,
                            const ft__fit_options *o)
{
    for (uint32_t i = 0; i < n_order; i++)
        if (candidates[order[i]].min_leaf == WHOLE &&
            m->error > (1 - o->gain) * error[order[i]])
            return (struct mixture){1, {order[i]}, {1}, error[order[i]]};
    return *m;
}

/* Drops members of weight 0. */
static void drop_empty(struct mixture *m)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < m->n; k++)
        if (m->weight[k] > 0) {
            m->part[n] = m->part[k];
            m->weight[n++] = m->weight[k];
        }
    m->n = n;
}

/* "extra leaf 3 columns 0.5" */
static void put_candidate(ft__buf *b, const struct candidate *c)
{
    ft__buf_str(b, c->min_leaf == WHOLE ? "constant"
                                        : ft_name(FT_NAMES_METHOD, c->method));
    if (c->min_leaf > 1 && c->min_leaf != WHOLE)
        ft__buf_fmt(b, " leaf %u", c->min_leaf);
    if (c->columns > 0)
        ft__buf_fmt(b, " columns %.1f", c->columns);
    if (c->rounds)
        ft__buf_fmt(b, " rounds %u depth %u rate %.2f", c->rounds, c->depth, c->rate);
    if (c->neighbours)
        ft__buf_fmt(b, " k %u", c->neighbours);
    if (c->penalty > 0)
        ft__buf_fmt(b, " penalty %.0f", c->penalty);
}

static void put_choice(ft__fit *f, const struct mixture *m)
{
    ft__buf b = {0};

    for (uint32_t k = 0; k < m->n; k++) {
        if (m->n > 1)
            ft__buf_fmt(&b, "%s%.1f ", k ? " + " : "", m->weight[k]);
        put_candidate(&b, &candidates[m->part[k]]);
    }
    snprintf(f->choice, sizeof(f->choice), "%s", b.bad ? "" : b.s);
    ft__buf_free(&b);
}

/* Out of fold. How far a block is missed, other blocks do not tell, but its other
 * groups do. */
static ft_status cross_validate_scale(struct cv_subset *l, const ft__fit_options *o,
                                      const ft__learn_model_options *how, ft_error *err)
{
    uint32_t *fold = o->blocks ? malloc((l->n + 1) * sizeof(*fold)) : l->fold;
    ft_status st = fold ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu rows", l->n);

    if (!st && o->blocks)
        st = ft__folds_make(fold, l->given, l->n, l->n_folds, o->seed, err);
    if (!st)
        st = ft__model_cross_validate(l->residual_scale, &l->m, l->residual, NULL, fold,
                                      l->n_folds, how, err);
    if (fold != l->fold)
        free(fold);
    return st;
}

/* Conformal intervals, normalised: residuals in units of a residual scale that is
 * itself learned (Papadopoulos, Gammerman, Vovk 2008), so that regular rows get narrow
 * intervals and irregular ones wide ones. */
static ft_status calibrate(ft__fit *f, struct cv_subset *l, const ft__fit_options *o,
                           ft_error *err)
{
    ft__learn_model_options coarse = {.method = FT_METHOD_EXTRA,
                                      .forest = {.n_trees = RESIDUAL_SCALE_TREES,
                                                 .min_leaf = RESIDUAL_SCALE_LEAF,
                                                 .seed = o->seed,
                                                 .threads = o->threads}};
    double typical;
    ft_status st;

    for (size_t i = 0; i < l->n; i++)
        l->residual[i] = fabs(l->y[i] - l->best[i]);
    st = cross_validate_scale(l, o, &coarse, err);
    if (!st)
        st = ft__model_fit(&f->residual_scale, &l->m, l->residual, NULL, &coarse, err);
    if (st)
        return st;
    for (size_t i = 0; i < l->n; i++)
        l->residual[i] = l->residual_scale[i] = fmax(0, l->residual_scale[i]);
    /* What is added is a third of the median then, or the median is not below it. */
    typical = ft__median(l->residual, l->n);
    f->least = ft__fit_least(1.5 * typical);
    f->typical = typical + f->least;
    for (size_t i = 0; i < l->n; i++) {
        l->residual_scale[i] += f->least;
        l->residual[i] = (l->y[i] - l->best[i]) / l->residual_scale[i];
    }
    return ft__conformal(&f->low, &f->high, l->residual, l->n, FT__COVERAGE, err);
}

/* Regressors made of many more rows than cross-validation looked at err less than it
 * saw: what it held out of some folds is held out of all the rows. */
enum { TIMES_MORE = 2, FOLDS_OUT = 2 };

static bool is_held_out(const struct cv_subset *l, size_t i)
{
    return l->fold[i] < FOLDS_OUT;
}

/* The mixture of f without those rows, in l->residual. */
static ft_status answer_held(struct cv_subset *l, const ft__fit *f, const ft__matrix *x,
                             const double *y, double *weight, double *predicted,
                             const struct mixture *m, const ft__fit_options *o,
                             ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < x->n_rows; i++)
        weight[i] = 1;
    for (size_t i = 0; i < l->n; i++) {
        l->residual[i] = 0;
        if (is_held_out(l, i))
            weight[l->row[i]] = 0;
    }
    for (uint32_t k = 0; k < f->n_models && !st; k++) {
        ft__learn_model_options how = options_of(&candidates[m->part[k]], x->n_rows, o);
        ft__learn_model *model = NULL;

        st = ft__model_fit(&model, x, y, weight, &how, err);
        if (st)
            break;
        ft__model_predict(model, l->x, l->n, predicted);
        for (size_t i = 0; i < l->n; i++)
            l->residual[i] += f->weight[k] * predicted[i];
        ft__model_free(model);
    }
    return st;
}

/* Recalibrates the interval on rows held out of the full fit. */
static ft_status calibrate_again(ft__fit *f, struct cv_subset *l, const ft__matrix *x,
                                 const double *y, const struct mixture *m,
                                 const ft__fit_options *o, ft_error *err)
{
    double *weight, *predicted, missed = 0;
    size_t n = 0;
    ft_status st;

    if (l->few || x->n_rows < TIMES_MORE * l->n || l->n_folds <= FOLDS_OUT)
        return FT_OK;
    weight = malloc((x->n_rows + 1) * sizeof(*weight));
    predicted = malloc((l->n + 1) * sizeof(*predicted));
    st = weight && predicted ? answer_held(l, f, x, y, weight, predicted, m, o, err)
                             : ft_fail(err, FT_ENOMEM, 0, "%zu rows", x->n_rows);
    for (size_t i = 0; i < l->n && !st; i++)
        if (is_held_out(l, i)) {
            predicted[n++] = (l->y[i] - l->residual[i]) / l->residual_scale[i];
            missed += fabs(l->y[i] - l->residual[i]);
        }
    f->deviation = n ? missed / (double)n : f->deviation;
    if (!st)
        st = ft__conformal(&f->low, &f->high, predicted, n, FT__COVERAGE, err);
    free(weight);
    free(predicted);
    return st;
}

static void be_even(ft__fit *f, struct cv_subset *l)
{
    for (size_t i = 0; i < l->n; i++)
        l->residual[i] = fabs(l->y[i] - l->best[i]);
    f->typical = fmax(ft__median(l->residual, l->n), FT__LEAST_RESIDUAL_SCALE);
    for (size_t i = 0; i < l->n; i++)
        l->residual_scale[i] = f->typical;
    f->low = -1;
    f->high = 1;
}

/* Too few rows to hold any out: their scatter around the median. */
static ft_status be_constant(ft__fit *f, const double *y, double *out,
                             double *residual_scale, size_t n, ft_error *err)
{
    ft_status st;

    for (size_t i = 0; i < n; i++) {
        out[i] = f->centre;
        residual_scale[i] = y[i] - f->centre;
    }
    st = ft__conformal(&f->low, &f->high, residual_scale, n, FT__COVERAGE, err);
    f->typical = fmax(fmax(-f->low, f->high), FT__LEAST_RESIDUAL_SCALE);
    f->low = -1;
    f->high = 1;
    for (size_t i = 0; i < n; i++)
        residual_scale[i] = f->typical;
    snprintf(f->choice, sizeof(f->choice), "constant");
    return st;
}

static ft_status find_importance(const struct cv_subset *l, const struct mixture *m,
                                 const ft__fit_options *o, ft_error *err)
{
    ft__learn_model_options model[FT__MAX_MIXED];
    const ft__importance_options how = {
        .model = model, .weight = m->weight, .n_models = m->n, .seed = o->seed};

    if (!o->importance)
        return FT_OK;
    for (uint32_t k = 0; k < m->n; k++)
        model[k] = options_of(&candidates[m->part[k]], l->n, o);
    return ft__model_importance(o->importance, &l->m, l->y, l->fold, l->n_folds, &how,
                                err);
}

static ft_status choose(ft__fit *f, struct cv_subset *l, const ft__matrix *x,
                        const double *y, const ft__fit_options *o, ft_error *err)
{
    uint32_t order[N_CANDIDATES], n_order;
    double error[N_CANDIDATES];
    struct mixture m;
    ft_status st = try_all(l, order, &n_order, error, o, err);

    if (!st && n_order == 0)
        st = ft_fail(err, FT_EUNSUPPORTED, 0,
                     "none of these methods can be fitted here");
    if (st)
        return st;
    m = mix(l, order, n_order, error, o);
    m = trust(&m, order, n_order, error, o);
    drop_empty(&m);
    predict_mixed(l, &m);
    f->deviation = deviation(l, l->residual);
    f->refused = o->ceiling > 0 && !(f->deviation < o->ceiling);
    if (f->refused)
        return FT_OK;
    memcpy(l->best, l->residual, l->n * sizeof(*l->best));
    put_choice(f, &m);
    st = find_importance(l, &m, o, err);
    for (uint32_t k = 0; k < m.n && !st; k++) {
        ft__learn_model_options how = options_of(&candidates[m.part[k]], x->n_rows, o);

        st = ft__model_fit(&f->model[k], x, y, NULL, &how, err);
        f->weight[k] = m.weight[k];
        f->n_models = k + 1;
    }
    if (!st && o->no_residual_scale) {
        be_even(f, l);
        return FT_OK;
    }
    if (!st)
        st = calibrate(f, l, o, err);
    return st ? st : calibrate_again(f, l, x, y, &m, o, err);
}

static ft_status find_centre(ft__fit *f, const double *y, size_t n, ft_error *err)
{
    double *v = malloc((n + 1) * sizeof(*v));

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    memcpy(v, y, n * sizeof(*v));
    f->centre = ft__median(v, n);
    free(v);
    return FT_OK;
}

ft_status ft__fit_make(ft__fit *f, double *out, double *residual_scale,
                       const ft__matrix *x, const double *y, const uint64_t *group,
                       const ft__fit_options *opt, ft_error *err)
{
    struct cv_subset l = {0};
    ft_status st;

    *f = (ft__fit){.n_rows = x->n_rows};
    st = find_centre(f, y, x->n_rows, err);
    if (!st)
        st = cv_subset_make(&l, x, y, group, opt, err);
    if (!st && l.n_folds == 0) {
        st = be_constant(f, y, out, residual_scale, x->n_rows, err);
    } else if (!st) {
        st = choose(f, &l, x, y, opt, err);
        for (size_t i = 0; i < x->n_rows; i++)
            out[i] = residual_scale[i] = NAN;
        for (size_t i = 0; i < l.n; i++) {
            out[l.row[i]] = l.best[i];
            residual_scale[l.row[i]] = l.residual_scale[i];
        }
    }
    cv_subset_free(&l);
    if (st)
        ft__fit_free(f);
    return st;
}

double ft__fit_least(double typical)
{
    /* No sensor tells less apart. */
    const double nothing = 0.0005;

    return typical < FT__LEAST_RESIDUAL_SCALE ? fmax(nothing, typical / 3)
                                              : FT__LEAST_RESIDUAL_SCALE;
}

void ft__fit_predict(const ft__fit *f, const float *rows, size_t n, double *value,
                     double *residual_scale, double *scratch)
{
    for (size_t i = 0; i < n; i++) {
        value[i] = f->n_models ? 0 : f->centre;
        residual_scale[i] = f->typical;
    }
    for (uint32_t k = 0; k < f->n_models; k++) {
        ft__model_predict(f->model[k], rows, n, scratch);
        for (size_t i = 0; i < n; i++)
            value[i] += f->weight[k] * scratch[i];
    }
    if (!f->residual_scale)
        return;
    ft__model_predict(f->residual_scale, rows, n, residual_scale);
    for (size_t i = 0; i < n; i++)
        residual_scale[i] = fmax(0, residual_scale[i]) + f->least;
}

void ft__fit_free(ft__fit *f)
{
    for (uint32_t k = 0; k < FT__MAX_MIXED; k++)
        ft__model_free(f->model[k]);
    ft__model_free(f->residual_scale);
    *f = (ft__fit){0};
}
