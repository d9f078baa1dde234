/* Slow operations in a store. */
#include "foretell/outliers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/learn.h"
#include "learn/learn_inside.h"
#include "predict/data/columns.h"

enum { LEAST_OPS = 20 };

struct slow {
    ft__samples samples;
    uint32_t *row; /* samples of the dataset at hand */
    size_t n_rows;
    uint64_t *group;
    double *log_time;
    ft_outlier *found;
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
        to->time_s = v->value[FT__METRIC_TIME];
        to->slower = s->found[i].slower;
        to->isolation = s->found[i].isolation;
        s->n++;
    }
}

static ft_status compare(struct slow *s, uint32_t dataset, uint64_t seed, ft_error *err)
{
    const ft_outlier_options how = {.seed = seed};
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
        const ft_matrix m = {x, s->n_rows, c.n};

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
