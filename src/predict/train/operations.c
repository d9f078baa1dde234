/* Training: the regressors of operations, and their templates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "predict/train/readings.h"
#include "predict/train/train.h"

static const size_t default_bytes = 40000000;
/* Trees of a regressor; where there are more rows than fit in, few trees of many rows
 * tell more than many trees of few. */
enum { FULL_TREES = 64, FEW_TREES = 24 };
/* What a row of a regressor takes in a file, about: its leaf in every tree and what
 * leads there, and in the trees of its residual scale; and a template. */
enum { TREE_BYTES = 17, SPREAD_BYTES = 70, PROCESS_BYTES = 400 };
/* Bytes of a boosted regressor, whatever its rows. */
static const double boost_bytes = 1.6e6;
enum { TEMPLATE_BYTES = sizeof(uint64_t) + sizeof(float) };
/* Of the room, for devices among the datasets; the rest is for others. */
static const double seen_share = 0.67;

static bool is_value(ft__metric metric, double v)
{
    return v > 0 || (metric >= FT__METRIC_MEMORY && v == 0);
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

/* The total rows of all regressors with at most `most` each. */
static size_t rows_in_all(size_t (*count)[FT_PHASE_COUNT], size_t most)
{
    size_t sum = 0;

    for (int p = 0; p < FT_PHASE_COUNT; p++) {
        size_t of_class[FT_CLASS_COUNT] = {0}, all = 0;

        for (int k = 0; k < FT_KIND_COUNT; k++) {
            sum += at_most(count[k][p], most);
            of_class[ft_kind_class((ft_kind)k)] += count[k][p];
            all += count[k][p];
        }
        for (int c = 0; c < FT_CLASS_COUNT; c++)
            sum += at_most(of_class[c], ft__class_rows(most));
        sum += at_most(all, ft__class_rows(most));
    }
    return sum;
}

static size_t boosted(size_t (*count)[FT_PHASE_COUNT], size_t most)
{
    size_t n = 0;

    for (int p = 0; p < FT_PHASE_COUNT && most > FT__PROCESS_ROWS; p++)
        for (int k = 0; k < FT_KIND_COUNT; k++)
            n += count[k][p] > FT__PROCESS_ROWS;
    return n;
}

static void count_rows(size_t (*count)[FT_PHASE_COUNT], const ft__samples *s,
                       ft__metric metric)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_value(metric, s->v[i].value[metric]))
            count[s->v[i].op.kind][s->v[i].op.phase]++;
}

/* What regressors of how->part_rows rows may take, for each row. */
static double bytes_a_row(const ft__samples *s, const ft__model_set_options *how,
                          double room)
{
    size_t count[FT_KIND_COUNT][FT_PHASE_COUNT] = {0};

    count_rows(count, s, how->metric);
    return room / (double)rows_in_all(count, how->part_rows ? how->part_rows : s->n);
}

/* Rows of one regressor: so many that all of them fit into `room` bytes. */
static size_t rows_for(const ft__samples *s, const ft__model_set_options *how,
                       uint32_t trees, double room)
{
    const bool process = !how->fit.methods || how->fit.methods >> FT_METHOD_GP & 1;
    size_t count[FT_KIND_COUNT][FT_PHASE_COUNT] = {0}, lo = 200, hi = s->n + 201;
    const double bytes = (how->unseen ? 0 : SPREAD_BYTES) + TREE_BYTES * (double)trees +
                         (process ? PROCESS_BYTES : 0);

    count_rows(count, s, how->metric);
    while (lo + 1 < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if ((double)rows_in_all(count, mid) * bytes +
                (how->fit.methods || how->unseen ? 0 : boost_bytes) *
                    (double)boosted(count, mid) >
            room)
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}

static bool has_metric(const ft__samples *s, ft__metric metric)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_value(metric, s->v[i].value[metric]))
            return true;
    return false;
}

static bool is_several(const ft__samples *s, ft__metric metric)
{
    const char *first = NULL;

    for (size_t i = 0; i < s->n; i++) {
        const char *device = s->dataset[s->v[i].dataset].device;

        if (!is_value(metric, s->v[i].value[metric]) ||
            !ft__tells_of_others(&s->dataset[s->v[i].dataset], metric))
            continue;
        if (first && strcmp(first, device) != 0)
            return true;
        first = device;
    }
    return false;
}

static ft_status learn(ft__family *f, const ft__samples *s, const uint32_t *row,
                       const ft__model_set_options *how, ft_error *err)
{
    ft__model_set *l = calloc(1, sizeof(*l));
    ft_status st;

    if (!l)
        return ft_fail(err, FT_ENOMEM, 0, "regressors");
    st = ft__model_set_fit(l, s, row, s->n, NULL, 0, how, err);
    if (st) {
        free(l);
        return st;
    }
    f->model_set[how->metric][how->unseen] = l;
    return FT_OK;
}

/* Every model set has the same: rows with a time. */
static ft_status fit_base(ft__base *out, const ft__samples *s, uint32_t *row,
                          const ft__family_options *opt, ft_error *err)
{
    const ft__family *before = opt->before;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].value[FT__METRIC_TIME] > 0)
            row[n++] = (uint32_t)i;
    if (before)
        return ft__base_extend(out, &before->model_set[FT__METRIC_TIME][0]->base, s,
                               row, n, err);
    return ft__base_fit(out, s, row, n, opt->learn.fit.seed, err);
}

/* How large its regressors may be in `room` bytes: two forests each where all rows fit
 * in. */
static void fit_into(ft__model_set_options *how, const ft__samples *s, double room)
{
    uint32_t trees = how->fit.n_trees ? how->fit.n_trees : FULL_TREES;

    how->fit.one_forest = rows_for(s, how, 2 * trees, room) < s->n;
    how->part_rows = rows_for(s, how, trees, room);
    if (how->part_rows >= s->n)
        how->part_rows = 0;
    else if (!how->fit.n_trees) {
        how->fit.n_trees = FEW_TREES;
        how->part_rows = rows_for(s, how, FEW_TREES, room);
    }
}

/* A model set of its own, or one that goes on from where it was. */
static ft_status learn_as(ft__family *f, const ft__samples *s, const uint32_t *row,
                          const ft__model_set_options *common,
                          const ft__family_options *opt, double room, ft_error *err)
{
    ft__model_set_options how = *common;

    how.before = opt->before ? opt->before->model_set[how.metric][how.unseen] : NULL;
    fit_into(&how, s, room);
    if (how.before) {
        how.part_rows = how.before->opt.part_rows;
        how.fit.seed = how.before->opt.fit.seed;
        how.single = how.before->opt.single;
    }
    how.row_bytes = bytes_a_row(s, &how, room);
    ft__log(opt->log, FT_LOG_DEBUG, "%s%s: at most %zu rows a regressor",
            ft__metric_name(how.metric), how.unseen ? " of other devices" : "",
            how.part_rows);
    return learn(f, s, row, &how, err);
}

static ft_status learn_metric(ft__family *f, const ft__samples *s, const uint32_t *row,
                              ft__metric metric, const ft__family_options *opt,
                              const ft__base *base, double room, ft_error *err)
{
    bool several = is_several(s, metric);
    ft__model_set_options how = opt->learn;
    ft_status st;

    how.metric = metric;
    how.base = base;
    how.unseen = false;
    st = opt->no_known && several
             ? FT_OK
             : learn_as(f, s, row, &how, opt, several ? seen_share * room : room, err);
    how.unseen = true;
    if (!st && several && !opt->no_unknown)
        st = learn_as(f, s, row, &how, opt, (1 - seen_share) * room, err);
    return st;
}

static ft_status learn_all(ft__family *f, const ft__samples *s,
                           const ft__family_options *opt, double room, ft_error *err)
{
    static const ft__metric metrics[] = {FT__METRIC_TIME, FT__METRIC_POWER,
                                         FT__METRIC_MEMORY, FT__METRIC_WORKSPACE};
    enum { N = sizeof(metrics) / sizeof(*metrics) };
    uint32_t *row = calloc(s->n + 1, sizeof(*row));
    ft__base base = {0};
    ft_status st = row ? fit_base(&base, s, row, opt, err)
                       : ft_fail(err, FT_ENOMEM, 0, "%zu rows", s->n);
    int n = 0;

    for (size_t i = 0; i < s->n && row; i++)
        row[i] = (uint32_t)i;
    for (int m = 0; m < N; m++)
        n += has_metric(s, metrics[m]);
    for (int m = 0; m < N && !st; m++) {
        ft__progress(opt->log, (uint64_t)m, N, "training");
        if (has_metric(s, metrics[m]) &&
            (!opt->metrics || opt->metrics >> metrics[m] & 1))
            st = learn_metric(f, s, row, metrics[m], opt, &base, room / n, err);
    }
    ft__progress(opt->log, N, N, "");
    ft__base_free(&base);
    free(row);
    return st;
}

static ft_status copy_datasets(ft__family *f, const ft__samples *s, ft_error *err)
{
    f->dataset = calloc(s->n_datasets + 1u, sizeof(*f->dataset));
    f->templates = calloc(s->n_datasets + 1u, sizeof(*f->templates));
    for (uint32_t i = 0; i < s->n_datasets && f->dataset && f->templates; i++) {
        const ft__dataset *from = &s->dataset[i];
        ft__dataset *d = &f->dataset[i];
        bool good = ft__dataset_copy(d, from);

        d->file = NULL;
        if (from->roof && (d->roof = malloc(sizeof(*d->roof))))
            *d->roof = *from->roof;
        f->n_datasets++;
        f->templates[i].hardware = ft__hardware_of(from->file);
        if (!good || (from->roof && !d->roof))
            return ft_fail(err, FT_ENOMEM, 0, "predictor");
    }
    return f->dataset && f->templates ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "predictor");
}

struct template
{
    uint64_t hash;
    size_t order; /* of its row: means do not depend on how sorting breaks ties */
    double ratio, error;
};

static int by_hash(const void *a, const void *b)
{
    const struct template *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static ft_status set_templates(ft__templates *t, struct template *v, size_t n,
                               ft_error *err)
{
    uint64_t *hash = malloc((n + 1) * (TEMPLATE_BYTES + sizeof(float)));
    float *ratio = (float *)(hash + n), *error = ratio + n;
    bool known = false; /* errors */

    if (!hash)
        return ft_fail(err, FT_ENOMEM, 0, "templates");
    t->own = hash;
    t->hash = hash;
    qsort(v, n, sizeof(*v), by_hash);
    /* Runs of one operation are as many as there are different ones, at most n: their
     * ratios are put together at the end. */
    for (size_t i = 0; i < n;) {
        size_t end = i;
        double sum = 0;

        for (; end < n && v[end].hash == v[i].hash; end++)
            sum += v[end].ratio;
        hash[t->n] = v[i].hash;
        error[t->n] = (float)v[i].error; /* of all that it was measured */
        known = known || v[i].error > 0;
        ratio[t->n++] = (float)(sum / (double)(end - i));
        i = end;
    }
    memmove(hash + t->n, ratio, t->n * sizeof(*ratio));
    t->ratio = (const float *)(hash + t->n);
    if (known) {
        memmove((float *)(hash + t->n) + t->n, error, t->n * sizeof(*error));
        t->error = t->ratio + t->n;
    }
    return FT_OK;
}

static ft_status make_templates(ft__family *f, const ft__samples *s, uint32_t dataset,
                                const ft__weighed *weighed, const ft__family *before,
                                struct template *scratch, ft_error *err)
{
    const ft__model_set *l = ft__family_any(f, FT__METRIC_TIME);
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        double time_s = weighed[i].value_s;
        ft__terms terms;

        if (s->v[i].dataset != dataset || !(time_s > 0))
            continue;
        ft__base_terms(&l->base, &terms, s, (uint32_t)i);
        scratch[n] = (struct template){
            .hash = s->v[i].hash,
            .order = i,
            .ratio = log((time_s - terms.aside_s) / (terms.total_s - terms.aside_s)),
            .error = weighed[i].error};
        n += isfinite(scratch[n].ratio) ? 1 : 0;
    }
    if (n == 0 && before && dataset < before->n_datasets) {
        f->templates[dataset] =
            (ft__templates){.hash = before->templates[dataset].hash,
                            .ratio = before->templates[dataset].ratio,
                            .error = before->templates[dataset].error,
                            .n = before->templates[dataset].n,
                            .hardware = before->templates[dataset].hardware};
        return FT_OK;
    }
    return set_templates(&f->templates[dataset], scratch, n, err);
}

static ft_status all_templates(ft__family *f, const ft__samples *s,
                               const ft__weighed *weighed, const ft__family *before,
                               ft_error *err)
{
    struct template *scratch = calloc(s->n + 1, sizeof(*scratch));
    ft_status st = scratch ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "templates");

    for (uint32_t d = 0; d < s->n_datasets && !st; d++)
        st = make_templates(f, s, d, weighed, before, scratch, err);
    free(scratch);
    return st;
}

/* Without the times of readings that tell regressors nothing; shares all else. */
static ft_status leave_out(ft__samples *out, const ft__samples *s,
                           const ft__weighed *weighed, ft_error *err)
{
    *out = *s;
    out->v = malloc((s->n + 1) * sizeof(*out->v));
    if (!out->v)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", s->n);
    memcpy(out->v, s->v, s->n * sizeof(*out->v));
    for (size_t i = 0; i < s->n; i++)
        if (!weighed[i].learned_of)
            out->v[i].value[FT__METRIC_TIME] = NAN;
    return FT_OK;
}

static ft_status learn_weighed(ft__family *f, const ft__samples *s,
                               const ft__family_options *opt, bool forget, double room,
                               ft_error *err)
{
    ft__weighed *weighed = calloc(s->n + 1, sizeof(*weighed));
    ft__samples left = {0};
    ft_status st = weighed ? ft__readings_weigh(weighed, s, opt->learn.fit.seed,
                                                opt->learn.fit.threads, err)
                           : ft_fail(err, FT_ENOMEM, 0, "%zu rows", s->n);

    if (!st)
        st = leave_out(&left, s, weighed, err);
    if (!st)
        st = learn_all(f, &left, opt, room, err);
    if (!st && !forget)
        st = all_templates(f, s, weighed, opt->before, err);
    free(left.v);
    free(weighed);
    return st;
}

ft_status ft__train_operations(ft__family *out, const ft__samples *s,
                               const ft__family_options *opt, ft_error *err)
{
    const double room = (double)(opt->most_bytes ? opt->most_bytes : default_bytes);
    const double templates = (double)s->n * TEMPLATE_BYTES;
    const bool forget = opt->forget || templates > room / 3;
    ft_status st;

    *out = (ft__family){0};
    st = copy_datasets(out, s, err);
    if (st || !has_metric(s, FT__METRIC_TIME))
        return st;
    return learn_weighed(out, s, opt, forget, forget ? room : room - templates, err);
}
