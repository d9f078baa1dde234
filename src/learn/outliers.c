/* Operations that are slower than those like them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/stats.h"
#include "foretell/learn.h"
#include "learn/learn_inside.h"

enum { FOLDS = 5, LEAST_GROUPS = 20, TREES = 100 };

static int ascending(const void *a, const void *b)
{
    const uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

    return (p > q) - (p < q);
}

struct find {
    ft__arena room;
    uint32_t *fold;
    uint64_t *group;   /* sorted */
    double *predicted; /* out of fold */
    double *faster;    /* how far each row lies below that, sorted */
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
    f->isolation = ft__arena_need(&f->room, n, sizeof(*f->isolation));
    if (f->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to compare %zu rows", n);
    memcpy(f->group, group, n * sizeof(*group));
    qsort(f->group, n, sizeof(*group), ascending);
    for (size_t i = 0; i < n; i++)
        groups += i == 0 || f->group[i] != f->group[i - 1];
    return groups < LEAST_GROUPS
               ? ft_fail(err, FT_EINVAL, 0,
                         "%zu different rows are too few to tell which is slow (%d)",
                         groups, LEAST_GROUPS)
               : FT_OK;
}

/* The residuals' fast side is what chance does: as far as it reaches, slow rows are not
 * called slow. */
static void judge(ft_outlier *out, struct find *f, const double *log_time, size_t n,
                  const ft_outlier_options *opt)
{
    const double share = opt->false_alarms > 0 ? opt->false_alarms : 0.01;
    const double least = log(opt->least > 0 ? opt->least : 1.5);
    double chance;

    for (size_t i = 0; i < n; i++)
        f->faster[i] = f->predicted[i] - log_time[i];
    ft__sort(f->faster, n);
    chance = ft__quantile(f->faster, n, 1 - share);
    for (size_t i = 0; i < n; i++) {
        const double residual = log_time[i] - f->predicted[i];

        out[i].slower = exp(residual);
        out[i].isolation = f->isolation[i];
        out[i].slow = residual > chance && residual > least;
    }
}

ft_status ft__outliers_find(ft_outlier *out, const ft_matrix *x, const double *log_time,
                            const uint64_t *group, const ft_outlier_options *opt,
                            ft_error *err)
{
    const ft_model_options how = {.method = FT_METHOD_EXTRA,
                                  .forest.n_trees = TREES,
                                  .seed = opt->seed,
                                  .threads = opt->threads};
    const ft_isolation_options isolate = {.seed = opt->seed};
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
        st = ft__model_cross_validate(f.predicted, x, log_time, NULL, f.fold, FOLDS,
                                      &how, err);
    if (!st)
        st = ft__isolation_scores(f.isolation, x, &isolate, err);
    if (!st)
        judge(out, &f, log_time, x->n_rows, opt);
    ft__arena_free(&f.room);
    return st;
}
