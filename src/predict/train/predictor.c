/* Training: from samples, or a store, to a predictor. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "predict/file/predictor.h"
#include "predict/schedule/networks_only.h"
#include "predict/schedule/schedule.h"
#include "predict/train/readings.h"
#include "predict/train/train.h"

/* Residuals of one chip's networks, in parts of the mean bound of their operations. */
struct residuals {
    double squares;
    size_t n;
};

/* Adds a network's residual; one that cannot be predicted is skipped. */
static ft_status add_network(struct residuals *r, ft__unseen *sum, const ft__family *f,
                             const ft__network_sample *w, const ft__dataset *on,
                             ft_error *err)
{
    const ft_predictor p = {.family = (ft__family *)f};
    const ft__device_use use = ft__dataset_use(on);
    ft__network_estimate e;
    ft__op_bounds b;
    ft_status st = ft__predict_network(&e, &p, &use, w->graph, err);
    double off, bound;

    if (st)
        return st == FT_ENOTFOUND ? FT_OK : st;
    off = log(w->value[FT__METRIC_TIME] / e.time.value);
    if (ft__op_bounds_of(&b, &e, w->graph) && isfinite(off)) {
        bound = off < 0 ? b.low : b.high;
        r->squares += bound > 0 ? off / bound * (off / bound) : 0;
        r->n++;
        sum->n++;
        sum->alone += b.alone;
        for (int k = 0; k < FT__N_TASK_GROUPS; k++)
            sum->share[k] += b.share[k];
    }
    ft__network_estimate_free(&e);
    return FT_OK;
}

/* Residuals of a chip's networks by what rows of other chips teach, if there are any.
 */
static ft_status leave_chip(struct residuals *r, ft__unseen *sum, const ft__samples *s,
                            const ft__network_samples *w, const bool *usable,
                            const char *chip, const ft__family_options *opt,
                            ft_error *err)
{
    ft__family_options how = *opt;
    uint32_t *row = calloc(s->n + 1, sizeof(*row));
    ft__samples others = {0};
    ft__family f = {0};
    size_t n = 0;
    ft_status st = FT_OK;

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", s->n);
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(ft__dataset_chip(&s->dataset[s->v[i].dataset]), chip) != 0)
            row[n++] = (uint32_t)i;
    how.metrics = 1u << FT__METRIC_TIME;
    how.no_known = true;
    how.before = NULL;
    how.learn.importance = NULL;
    how.log = NULL;
    st = ft__samples_subset(&others, s, row, n, err);
    if (!st && n)
        st = ft__train_operations(&f, &others, &how, err);
    for (size_t i = 0; i < w->n && n && !st; i++)
        if (usable[i] &&
            strcmp(ft__dataset_chip(&w->dataset[w->v[i].dataset]), chip) == 0)
            st = add_network(r, sum, &f, &w->v[i], &w->dataset[w->v[i].dataset], err);
    ft__family_free(&f);
    ft__samples_free(&others);
    free(row);
    return st;
}

/* On a device as it comes, by an engine whose operations were measured. */
static bool is_usable(const ft__samples *s, const ft__dataset *on)
{
    bool engine = false;

    for (uint32_t i = 0; i < s->n_datasets; i++)
        engine = engine || strcmp(s->dataset[i].engine, on->engine) == 0;
    return on->file && engine && !ft__setting_differs(on->setting, "");
}

/* Is the chip of network i that of one before it? */
static bool is_known_chip(const ft__network_samples *w, const bool *usable, size_t i)
{
    const char *chip = ft__dataset_chip(&w->dataset[w->v[i].dataset]);

    for (size_t j = 0; j < i; j++)
        if (usable[j] &&
            strcmp(ft__dataset_chip(&w->dataset[w->v[j].dataset]), chip) == 0)
            return true;
    return false;
}

/* All networks of a chip err alike: each chip counts as one, and there are few of them,
 * which Student's t makes up for. */
static ft_status learn_unseen(ft__unseen *out, const ft__samples *s,
                              const ft__network_samples *w, const bool *usable,
                              const ft__family_options *opt, uint32_t n_chips,
                              ft_error *err)
{
    double squares = 0;
    ft_status st = FT_OK;

    for (size_t i = 0; i < w->n && !st; i++) {
        const char *chip = ft__dataset_chip(&w->dataset[w->v[i].dataset]);
        struct residuals r = {0};

        if (!usable[i] || is_known_chip(w, usable, i))
            continue;
        ft__progress(opt->log, out->chips, n_chips, chip);
        st = leave_chip(&r, out, s, w, usable, chip, opt, err);
        squares += r.n ? r.squares / (double)r.n : 0;
        out->chips += r.n > 0;
    }
    ft__progress(opt->log, n_chips, n_chips, "");
    if (st || out->chips < 2)
        return st;
    out->part = fmin((double)FT__WIDEST, ft__student((size_t)out->chips) *
                                             sqrt(squares / (double)out->chips));
    out->alone /= (double)out->n;
    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        out->share[k] /= (double)out->n;
    return FT_OK;
}

/* f->unseen from networks w but those that are hidden: every chip with networks is left
 * out of rows of s in turn, trained as opt says. Of fewer than two chips nothing is
 * said. */
static ft_status unseen_fit(ft__family *f, const ft__samples *s,
                            const ft__network_samples *w, const bool *hidden,
                            const ft__family_options *opt, ft_error *err)
{
    bool *usable = calloc(w->n + 1, sizeof(*usable));
    ft__unseen found = {0};
    uint32_t n_chips = 0;
    ft_status st = FT_OK;

    if (!usable)
        return ft_fail(err, FT_ENOMEM, 0, "%zu networks", w->n);
    for (size_t i = 0; i < w->n; i++) {
        usable[i] =
            !(hidden && hidden[i]) && is_usable(s, &w->dataset[w->v[i].dataset]);
        n_chips += usable[i] && !is_known_chip(w, usable, i);
    }
    if (n_chips >= 2)
        st = learn_unseen(&found, s, w, usable, opt, n_chips, err);
    free(usable);
    return st || !ft__unseen_sound(&found) ? st : ft__unseen_set(f, &found, err);
}

/* What networks that were measured whole say beside operations: of devices learned from
 * their schedules, of others how far off networks are. */
static ft_status learn_networks(ft__family *f, const ft__samples *s,
                                const ft__family_options *opt, ft_error *err)
{
    const bool operations = ft__family_any(f, FT__METRIC_TIME) != NULL;
    ft__schedules_found found = {0};
    uint32_t alone = 0;
    ft_status st = ft__alone_fit(f, opt->networks, opt->hidden, &alone, err);

    if (!st && !operations && !alone)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "no operation to learn from, and of networks alone nothing is "
                     "learned of fewer than %d families of architectures",
                     FT__LEAST_ARCHITECTURES);
    if (!st && operations && !opt->no_known)
        st = ft__device_schedules_fit(f, opt->networks, opt, &found, err);
    found.usable += alone;
    found.tried += alone > 0;
    if (!st && operations && !opt->no_unknown)
        st = unseen_fit(f, s, opt->networks, opt->hidden, opt, err);
    if (opt->found)
        *opt->found = found;
    return st;
}

static ft_status keep_networks(ft__family *f, const ft__family *before, ft_error *err)
{
    ft_status st = FT_OK;
    bool sound; /* as it was */

    for (uint32_t i = 0; i < before->n_device_schedules && !st; i++)
        st = ft__device_schedule_add(f, &before->device_schedule[i], err);
    for (uint32_t i = 0; i < before->n_alone && !st; i++)
        st = ft__alone_add(f, &before->alone[i], &sound, err);
    return st || !before->unseen ? st : ft__unseen_set(f, before->unseen, err);
}

static bool is_timed(const ft__samples *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].value[FT__METRIC_TIME] > 0)
            return true;
    return false;
}

ft_status ft__family_train(ft__family *out, const ft__samples *s,
                           const ft__family_options *opt, ft_error *err)
{
    ft_status st;

    *out = (ft__family){0};
    if (!is_timed(s) && !(opt->networks && s->n == 0) &&
        !(opt->workloads && opt->workloads->n))
        return ft_fail(err, FT_ENOTFOUND, 0, "no row with a time to learn from");
    st = ft__train_operations(out, s, opt, err);
    if (!st && opt->networks)
        st = learn_networks(out, s, opt, err);
    else if (!st && opt->before)
        st = keep_networks(out, opt->before, err);
    if (!st && opt->workloads)
        st = ft__clocked_fit(&out->clocked, opt->workloads, opt->learn.fit.seed, err);
    if (st)
        ft__family_free(out);
    return st;
}

/* Datasets of samples numbered so that those of a family come first, as there, with no
 * rows where the samples are of none. */
static ft_status order_as(ft__samples *s, const ft__family *f, ft_error *err)
{
    uint32_t n = 0, *to = calloc(s->n_datasets + 1u, sizeof(*to));
    ft__dataset *all = calloc(s->n_datasets + f->n_datasets + 1u, sizeof(*all));
    bool good = to && all;

    for (uint32_t k = 0; good && k < f->n_datasets; k++)
        good = ft__dataset_copy(&all[n++], &f->dataset[k]);
    for (uint32_t i = 0; good && i < s->n_datasets; i++) {
        uint32_t k = 0;

        while (k < f->n_datasets && ft__dataset_order(&s->dataset[i], &f->dataset[k]))
            k++;
        to[i] = k < f->n_datasets ? k : n++;
        ft__dataset_free(&all[to[i]]);
        all[to[i]] = s->dataset[i];
        s->dataset[i] = (ft__dataset){0};
    }
    for (size_t i = 0; good && i < s->n; i++)
        s->v[i].dataset = to[s->v[i].dataset];
    free(to);
    if (!good) {
        for (uint32_t i = 0; all && i < n; i++)
            ft__dataset_free(&all[i]);
        free(all);
        return ft_fail(err, FT_ENOMEM, 0, "training set");
    }
    free(s->dataset);
    s->dataset = all;
    s->n_datasets = n;
    return FT_OK;
}

static bool is_left_out(const ft_train_options *opt, const ft_op *op)
{
    for (size_t i = 0; i < opt->n_without; i++)
        if (ft_op_equal(op, &opt->without[i]))
            return true;
    return false;
}

/* All but what opt leaves out, in an order of their own. */
static ft_status take_rows(ft__samples *out, const ft__samples *s,
                           const ft_train_options *opt, ft_error *err)
{
    uint32_t *row = calloc(s->n + 1, sizeof(*row));
    size_t n = 0;
    ft_status st;

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", s->n);
    for (size_t i = 0; i < s->n; i++)
        if (!is_left_out(opt, &s->v[i].op))
            row[n++] = (uint32_t)i;
    st = ft__samples_subset(out, s, row, n, err);
    free(row);
    return st;
}

ft_status ft__family_of_rows(ft_predictor **out, const ft__samples *s,
                             const uint32_t *row, size_t n,
                             const ft__family_options *opt, ft_error *err)
{
    ft__family f = {0};
    ft__samples own;
    ft_status st = ft__samples_subset(&own, s, row, n, err);

    if (st)
        return st;
    st = ft__family_train(&f, &own, opt, err);
    if (!st)
        st = ft__predictor_of_family(out, &f, err);
    ft__family_free(&f);
    ft__samples_free(&own);
    return st;
}

ft_status ft__family_of_kernels(ft_predictor **out, const ft__kernel_row *row,
                                const uint32_t *use, size_t n,
                                const ft__kernels_options *opt, ft_error *err)
{
    ft__family f = {0};
    ft_status st = ft__kernels_train(&f.kernels, row, use, n, opt, err);

    *out = NULL;
    if (!st)
        st = ft__predictor_of_family(out, &f, err);
    ft__family_free(&f);
    return st;
}

static bool is_network_left_out(const ft_train_options *opt, const ft_graph *g)
{
    uint32_t n = 0;

    while (n < g->n_ops && is_left_out(opt, &g->op[n]))
        n++;
    return n == g->n_ops;
}

/* Those asked for; otherwise, of one machine, those that were measured on it, as its
 * operations were, and well. *hidden: those that opt leaves out. */
static ft_status read_networks(ft__network_samples *out, bool **hidden, ft_store *store,
                               const ft_train_options *opt, ft_error *err)
{
    const ft_key *own = &opt->filter;
    char where[600] = "";
    ft_status st;

    if (!opt->networks && !(store && own->device && own->engine && own->setting))
        return FT_OK;
    if (!opt->networks)
        snprintf(where, sizeof(where), "device=%s engine=%s %s", own->device,
                 own->engine, own->setting);
    st = ft__network_samples_read(out, store, opt->networks ? opt->networks : where,
                                  opt->networks ? opt->find : NULL, opt->find_user,
                                  opt->data_dir, err);
    *hidden = st ? NULL : calloc(out->n + 1, sizeof(**hidden));
    if (!st && !*hidden)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu networks", out->n);
    for (size_t i = 0; i < out->n && !st; i++)
        (*hidden)[i] = is_network_left_out(opt, out->v[i].graph) ||
                       (!opt->networks && out->v[i].error > FT__ROUGH_READING);
    return st;
}

/* Fails where networks were asked for and none could be used. */
static ft_status check_networks(const ft__schedules_found *found, ft_error *err)
{
    if (!found->usable)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "no network whose operations are listed was measured whole on a "
                       "device and engine that operations were learned of");
    if (!found->tried)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "no schedule: nowhere were %d networks measured whole, of one "
                       "device, policy, engine and phase",
                       FT__LEAST_NETWORKS);
    return FT_OK;
}

static ft_status nothing_fits(const ft_key *wanted, ft_error *err)
{
    if (!wanted->engine)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "the store holds no measurements that fit");
    return ft_fail(err, FT_ENOTFOUND, 0,
                   "the store holds no measurements of %s with engine %s%s%s",
                   wanted->device ? wanted->device : "any device", wanted->engine,
                   wanted->setting && *wanted->setting ? " and " : "",
                   wanted->setting ? wanted->setting : "");
}

/* *out borrows from *all. */
static ft_status read_rows(ft__samples *out, ft__samples *all, ft__samples *workloads,
                           ft_store *store, const ft_train_options *opt, ft_error *err)
{
    ft_status st = ft__samples_read(all, store, &opt->filter, opt->where, err);

    if (!st)
        st =
            ft__samples_read_workloads(workloads, store, &opt->filter, opt->where, err);
    if (!st)
        st = ft__samples_know(workloads, opt->data_dir, err);
    if (!st && all->n + workloads->n == 0 && !opt->networks)
        st = nothing_fits(&opt->filter, err);
    if (!st)
        st = ft__samples_know(all, opt->data_dir, err);
    return st ? st : take_rows(out, all, opt, err);
}

/* Does it do the same, whatever its registers? All members are doubles. */
static bool is_equal(const ft__kernel_row *a, const char *kernel,
                     const ft__kernel_work *work)
{
    const double *x = (const double *)&a->work, *y = (const double *)work;
    bool same = strcmp(a->kernel, kernel) == 0;

    for (size_t i = 0; i < sizeof(*work) / sizeof(*x) && same; i++)
        same = x[i] == y[i] || &y[i] == &work->registers;
    return same;
}

/* use[r->n]: all but what is equal to a launch of the launch file at `path`. */
static ft_status leave_out(bool *use, const ft__kernel_rows *r, const char *path,
                           ft_error *err)
{
    ft_ptx_launches *l = NULL;
    ft_status st = ft_ptx_launches_open(&l, path, NULL, err);
    const ft_ptx_listed *list = st ? NULL : ft_ptx_launches_get(l)->listed;
    const size_t n = st ? 0 : ft_ptx_launches_get(l)->n;

    for (size_t i = 0; i < n && !st; i++) {
        ft_kernel_query q = FT_KERNEL_QUERY_INIT;
        ft__kernel_work work;
        ft_ptx_counts counts;

        if (!list[i].module)
            continue;
        q.launch = &list[i];
        q.counts = &counts;
        st = ft_ptx_launches_count(&counts, l, i, err);
        if (!st)
            st = ft__kernel_work_of(&work, &q, err);
        for (size_t k = 0; k < r->n && !st; k++)
            use[k] =
                use[k] && !is_equal(&r->row[k], ft__kernel_name_of(&list[i]), &work);
    }
    ft_ptx_launches_free(l);
    return st;
}

/* All but those that opt leaves out. */
static ft_status take_launches(uint32_t **out, size_t *n, const ft__kernel_rows *r,
                               const ft_train_options *opt, ft_error *err)
{
    bool *use = malloc((r->n + 1) * sizeof(*use));
    ft_status st = FT_OK;

    *out = malloc((r->n + 1) * sizeof(**out));
    if (!use || !*out)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu launches", r->n);
    for (size_t i = 0; i < r->n && !st; i++)
        use[i] = true;
    for (size_t i = 0; i < opt->n_without_launches && !st; i++)
        st = leave_out(use, r, opt->without_launches[i], err);
    for (size_t i = 0; i < r->n && !st; i++)
        if (use[i])
            (*out)[(*n)++] = (uint32_t)i;
    free(use);
    return st;
}

/* Of the files, or as they were before rows were added. */
static ft_status learn_kernels(ft__family *f, const ft_train_options *opt,
                               ft_error *err)
{
    const ft__importance_to to = {opt->importance, opt->importance_user};
    const ft__kernels_options how = {
        .seed = opt->seed, .threads = opt->threads, .importance = to.tell ? &to : NULL};
    const ft__kernel_models *before = opt->add ? opt->add->family->kernels : NULL;
    ft__kernel_rows r = {0};
    uint32_t *use = NULL;
    size_t n = 0;
    ft_status st;

    if (!opt->kernels)
        return before ? ft__kernels_open(&f->kernels, before->section, before->bytes, 0,
                                         err)
                      : FT_OK;
    st = ft__kernel_rows_read(&r, opt->kernels, opt->where, opt->data_dir, err);
    if (!st)
        st = take_launches(&use, &n, &r, opt, err);
    if (!st)
        st = ft__kernels_train(&f->kernels, r.row, use, n, &how, err);
    free(use);
    ft__kernel_rows_free(&r);
    return st;
}

/* How far one board of a device is off another that was measured, by others, with
 * another version of the software: 90 % of the logarithm. What an H100's and an H200's
 * products, of one chip and two campaigns, miss of each other by the ratio of their
 * estimates (docs/notes/llm-operators.md). */
static const double between_boards = 0.13;

ft_status ft_predictor_train(ft_predictor **out, ft_store *store,
                             const ft_train_options *opt, ft_error *err)
{
    const ft__importance_to to = {opt->importance, opt->importance_user};
    ft__samples all = {0}, own = {0}, workloads = {0};
    ft__network_samples networks = {0};
    ft__schedules_found found;
    bool *hidden = NULL;
    ft__family_options how = {.learn = {.importance = to.tell ? &to : NULL,
                                        .fit = {.methods = opt->methods,
                                                .mix = opt->mix,
                                                .tune = opt->tune != 0,
                                                .n_folds = opt->n_folds,
                                                .n_trees = opt->n_trees,
                                                .seed = opt->seed,
                                                .threads = opt->threads},
                                        .single = opt->single != 0},
                              .most_bytes = opt->most_bytes,
                              .forget = opt->forget != 0,
                              .before = opt->add ? opt->add->family : NULL,
                              .workloads = &workloads,
                              .found = &found,
                              .log = opt->log};
    ft__family f = {0};
    ft_status st;

    *out = NULL;
    st = store ? read_rows(&own, &all, &workloads, store, opt, err) : FT_OK;
    if (!st && store && how.before)
        st = order_as(&own, how.before, err);
    if (!st)
        st = read_networks(&networks, &hidden, store, opt, err);
    if (!st && (opt->networks || networks.n >= FT__LEAST_NETWORKS))
        how.networks = &networks;
    how.hidden = hidden;
    if (!st && store)
        st = ft__family_train(&f, &own, &how, err);
    if (!st && opt->networks)
        st = check_networks(&found, err);
    if (!st)
        st = learn_kernels(&f, opt, err);
    f.between_boards = opt->other_boards ? between_boards
                       : how.before      ? how.before->between_boards
                                         : 0;
    if (!st)
        st = ft__predictor_of_family(out, &f, err);
    ft__family_free(&f);
    free(hidden);
    ft__network_samples_free(&networks);
    ft__samples_free(&own);
    ft__samples_free(&workloads);
    ft__samples_free(&all);
    return st;
}
