/* Slow operations of a store: which take longer than those like them. */
#include "decide/slow.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/stats.h"
#include "foretell/outliers.h"
#include "learn/learn_inside.h"
#include "predict/data/columns.h"

enum { FOLDS = 5, LEAST_GROUPS = 20, TREES = 100, MOST_FITS = 4 };

struct find {
    ft__arena room;
    uint32_t *fold;
    uint64_t *group;   /* sorted */
    double *predicted; /* out of fold */
    double *faster;    /* how far each row lies below that, sorted */
    double *weight;    /* of each row in the fit: 1, or 0 where it is slow */
    double *isolation;
};

static ft_status find_make(struct find *f, const uint64_t *group, size_t n,
                           ft_error *err)
{
    size_t groups = 0;

    f->fold = ft__arena_need(&f->room, n, sizeof(*f->fold));
    f->group = ft__arena_need(&f->room, n, sizeof(*f->group));
    f->predicted = ft__arena_need(&f->room, n, sizeof(*f->predicted));
    f->faster = ft__arena_need(&f->room, n, sizeof(*f->faster));
    f->weight = ft__arena_need(&f->room, n, sizeof(*f->weight));
    f->isolation = ft__arena_need(&f->room, n, sizeof(*f->isolation));
    if (f->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to compare %zu rows", n);
    memcpy(f->group, group, n * sizeof(*group));
    qsort(f->group, n, sizeof(*group), ft__by_number);
    for (size_t i = 0; i < n; i++)
        groups += i == 0 || f->group[i] != f->group[i - 1];
    return groups < LEAST_GROUPS
               ? ft_fail(err, FT_EINVAL, 0,
                         "%zu different rows are too few to tell which is slow (%d)",
                         groups, LEAST_GROUPS)
               : FT_OK;
}

/* Standard deviation of a normal distribution over its quartile's distance from the
 * median. */
static const double sigma_of_quartile = 1.4826;

/* How far rows lie below their prediction, sorted; returns how many. kept: of those
 * in the fit alone. */
static size_t sort_faster(struct find *f, const double *log_time, size_t n, bool kept)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (!kept || f->weight[i] > 0)
            f->faster[k++] = f->predicted[i] - log_time[i];
    ft__sort(f->faster, k);
    return k;
}

/* A third of the rows may be slow, which makes the others look fast: two thirds of the
 * way up is then the median of these, and their fast side says how far they scatter. */
static double robust_limit(struct find *f, const double *log_time, size_t n)
{
    double median;

    (void)sort_faster(f, log_time, n, false);
    median = ft__quantile(f->faster, n, 4 / 6.0);
    return 2.5 * sigma_of_quartile * (ft__quantile(f->faster, n, 5 / 6.0) - median) -
           median;
}

static double least_of(const ft__outlier_options *opt)
{
    return log(opt->least > 0 ? opt->least : 1.5);
}

/* The residuals' fast side is what chance does: as far as it reaches, slow rows are not
 * called slow. Of few rows its end is one row's: then no further than that of a normal
 * distribution as wide. */
static double limit_of(struct find *f, const double *log_time, size_t n,
                       const ft__outlier_options *opt)
{
    const double share = opt->false_alarms > 0 ? opt->false_alarms : 0.01;
    const size_t kept = sort_faster(f, log_time, n, true);
    const double sigma = sigma_of_quartile * ft__quantile(f->faster, kept, 0.75);
    double chance = ft__quantile(f->faster, kept, 1 - share);

    if (share * (double)n < 3)
        chance = fmin(chance, 2.33 * sigma);
    return fmax(chance, least_of(opt));
}

/* Weight 0 for slow rows in the next fit. False: the same rows as before. */
static bool leave_out_slow(struct find *f, const double *log_time, size_t n,
                           double limit)
{
    bool moved = false;

    for (size_t i = 0; i < n; i++) {
        const double weight = log_time[i] - f->predicted[i] <= limit ? 1 : 0;

        moved = moved || weight != f->weight[i];
        f->weight[i] = weight;
    }
    return moved;
}

/* The share of slow rows above which trees are fitted again without them; fewer hardly
 * disturb the fit. */
static const double many_slow = 0.05;

static bool has_many_slow(const struct find *f, const double *log_time, size_t n,
                          double limit)
{
    size_t slow = 0;

    for (size_t i = 0; i < n; i++)
        slow += log_time[i] - f->predicted[i] > limit;
    return (double)slow > many_slow * (double)n;
}

static ft_status fit_without_slow(struct find *f, const ft__matrix *x,
                                  const double *log_time,
                                  const ft__outlier_options *opt, ft_error *err)
{
    const ft__learn_model_options how = {.method = FT_METHOD_EXTRA,
                                         .forest.n_trees = TREES,
                                         .seed = opt->seed,
                                         .threads = opt->threads};
    const size_t n = x->n_rows;
    ft_status st = FT_OK;
    double limit;

    for (size_t i = 0; i < n; i++)
        f->weight[i] = 1;
    for (int fit = 0; fit < MOST_FITS && !st; fit++) {
        st = ft__model_cross_validate(f->predicted, x, log_time, f->weight, f->fold,
                                      FOLDS, &how, err);
        if (st)
            break;
        limit = fit == 0 ? robust_limit(f, log_time, n) : limit_of(f, log_time, n, opt);
        if ((fit == 0 && !has_many_slow(f, log_time, n, fmax(limit, least_of(opt)))) ||
            fit + 1 == MOST_FITS || !leave_out_slow(f, log_time, n, limit))
            break;
    }
    return st;
}

static void judge(ft__outlier *out, struct find *f, const double *log_time, size_t n,
                  const ft__outlier_options *opt)
{
    const double limit = limit_of(f, log_time, n, opt);

    for (size_t i = 0; i < n; i++) {
        const double residual = log_time[i] - f->predicted[i];

        out[i].slower = exp(residual);
        out[i].isolation = f->isolation[i];
        out[i].slow = residual > limit;
    }
}

ft_status ft__outliers_find(ft__outlier *out, const ft__matrix *x,
                            const double *log_time, const uint64_t *group,
                            const ft__outlier_options *opt, ft_error *err)
{
    const ft__isolation_options isolate = {.seed = opt->seed};
    struct find f = {0};
    ft_status st;

    if (!(opt->false_alarms >= 0 && opt->false_alarms < 0.5) || !(opt->least >= 0))
        return ft_fail(err, FT_EINVAL, 0,
                       "false alarms of %g, from %g times: a share below 0.5 and a "
                       "positive factor are asked for",
                       opt->false_alarms, opt->least);
    st = find_make(&f, group, x->n_rows, err);
    if (!st)
        st = ft__folds_make(f.fold, group, x->n_rows, FOLDS, opt->seed, err);
    if (!st)
        st = fit_without_slow(&f, x, log_time, opt, err);
    if (!st)
        st = ft__isolation_scores(f.isolation, x, &isolate, err);
    if (!st)
        judge(out, &f, log_time, x->n_rows, opt);
    ft__arena_free(&f.room);
    return st;
}

enum { LEAST_OPS = 20 };

struct slow {
    ft__samples samples;
    uint32_t *row; /* samples of the dataset at hand */
    size_t n_rows;
    uint64_t *group;
    double *log_time;
    ft__outlier *found;
    ft_slow_op *out;
    size_t n;
};

static void slow_free(struct slow *s)
{
    ft__samples_free(&s->samples);
    free(s->row);
    free(s->group);
    free(s->log_time);
    free(s->found);
}

static ft_status make_room(struct slow *s, ft_error *err)
{
    const size_t n = s->samples.n + 1;

    s->row = calloc(n, sizeof(*s->row));
    s->group = calloc(n, sizeof(*s->group));
    s->log_time = calloc(n, sizeof(*s->log_time));
    s->found = calloc(n, sizeof(*s->found));
    s->out = calloc(n, sizeof(*s->out));
    return s->row && s->group && s->log_time && s->found && s->out
               ? FT_OK
               : ft_fail(err, FT_ENOMEM, 0, "no memory to compare %zu operations", n);
}

/* Those of a dataset that were timed and do something. */
static void choose_rows(struct slow *s, uint32_t dataset)
{
    s->n_rows = 0;
    for (size_t i = 0; i < s->samples.n; i++) {
        const ft__sample *v = &s->samples.v[i];

        if (v->dataset == dataset && v->value[FT__METRIC_TIME] > 0 &&
            ft_kind_class(v->op.kind) != FT_CLASS_VIEW) {
            s->group[s->n_rows] = v->hash;
            s->row[s->n_rows++] = (uint32_t)i;
        }
    }
}

static ft_status fill(float **x, struct slow *s, const ft__columns *c,
                      const ft__base *base, ft_error *err)
{
    *x = calloc(s->n_rows * c->n + 1, sizeof(**x));
    if (!*x)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to compare %zu operations",
                       s->n_rows);
    for (size_t i = 0; i < s->n_rows; i++) {
        const ft__sample *v = &s->samples.v[s->row[i]];
        ft__terms terms;

        ft__base_terms(base, &terms, &s->samples, s->row[i]);
        ft__columns_fill(c, *x + i * c->n, &s->samples, s->row[i], &terms);
        s->log_time[i] = log(v->value[FT__METRIC_TIME] / terms.total_s);
    }
    return FT_OK;
}

static void keep(struct slow *s, uint32_t dataset)
{
    const ft__dataset *d = &s->samples.dataset[dataset];

    for (size_t i = 0; i < s->n_rows; i++) {
        const ft__sample *v = &s->samples.v[s->row[i]];
        ft_slow_op *to = &s->out[s->n];

        if (!s->found[i].slow)
            continue;
        to->op = v->op;
        snprintf(to->device, sizeof(to->device), "%s", d->device);
        snprintf(to->setting, sizeof(to->setting), "%s", d->setting);
        snprintf(to->engine, sizeof(to->engine), "%s", d->engine);
        snprintf(to->engine_version, sizeof(to->engine_version), "%s",
                 d->engine_version);
        to->time_s = v->value[FT__METRIC_TIME];
        to->slower = s->found[i].slower;
        to->isolation = s->found[i].isolation;
        s->n++;
    }
}

static ft_status compare(struct slow *s, uint32_t dataset, uint64_t seed, ft_error *err)
{
    const ft__outlier_options how = {.seed = seed};
    ft__columns c = {0};
    ft__base base = {0};
    float *x = NULL;
    ft_status st = ft__base_fit(&base, &s->samples, s->row, s->n_rows, seed, err);

    if (st)
        return st;
    st = ft__columns_make(&c, NULL, &s->samples, s->row, s->n_rows, false, false, err);
    if (!st)
        st = fill(&x, s, &c, &base, err);
    if (!st) {
        const ft__matrix m = {x, s->n_rows, c.n};

        st = ft__outliers_find(s->found, &m, s->log_time, s->group, &how, err);
    }
    if (!st)
        keep(s, dataset);
    free(x);
    ft__columns_free(&c);
    ft__base_free(&base);
    return st;
}

static int slowest_first(const void *a, const void *b)
{
    const ft_slow_op *p = a, *q = b;

    return (p->slower < q->slower) - (p->slower > q->slower);
}

static ft_status compare_all(struct slow *s, uint32_t *n_datasets, uint64_t seed,
                             ft_error *err)
{
    uint64_t *scratch = calloc(s->samples.n + 1, sizeof(*scratch));
    ft_status st = FT_OK;

    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to compare operations");
    for (uint32_t d = 0; d < s->samples.n_datasets && !st; d++) {
        choose_rows(s, d);
        if (ft__count_different(s->group, s->n_rows, scratch) < LEAST_OPS)
            continue;
        st = compare(s, d, seed, err);
        ++*n_datasets;
    }
    free(scratch);
    return st;
}

ft_status ft_slow_ops_find(ft_slow_op **out, size_t *n, uint32_t *n_datasets,
                           ft_store *store, const char *where, const char *data_dir,
                           uint64_t seed, ft_error *err)
{
    struct slow s = {0};
    ft_status st;

    *out = NULL;
    *n = 0;
    *n_datasets = 0;
    st = ft__samples_read(&s.samples, store, NULL, where, err);
    if (!st)
        st = ft__samples_know(&s.samples, data_dir, err);
    if (!st)
        st = make_room(&s, err);
    if (!st)
        st = compare_all(&s, n_datasets, seed, err);
    slow_free(&s);
    if (st) {
        free(s.out);
        return st;
    }
    qsort(s.out, s.n, sizeof(*s.out), slowest_first);
    *out = s.out;
    *n = s.n;
    return FT_OK;
}
