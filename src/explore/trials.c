/* What came of an exploration, read back: the best of a workload, its front, and
 * whether it suits another workload. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/prng.h"
#include "base/stats.h"
#include "explore/runs.h"
#include "explore/space/params.h"
#include "learn/learn_inside.h"

struct loading {
    const ft_exploration *x;
    ft_trials *out;
    ft__runs *runs; /* of each trial */
    size_t cap_trials, cap_runs;
    ft__index index;
    ft_error *err;
    ft_status st;
};

void ft_trials_free(ft_trials *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->v[i].point); /* value and error behind it */
        free(t->v[i].failure);
        free(t->v[i].output);
    }
    free(t->v);
    *t = (ft_trials){0};
}

static ft_status add_trial(struct loading *l, uint32_t workload, const double *at)
{
    size_t n = l->out->params, n_objectives = l->out->objectives, i = l->out->n;
    ft_trial *trials = ft__list_grow(l->out->v, i, &l->cap_trials, sizeof(*trials));
    ft__runs *runs = ft__list_grow(l->runs, i, &l->cap_runs, sizeof(*runs));
    double *point = malloc((n + 2 * n_objectives) * sizeof(*point));

    l->out->v = trials ? trials : l->out->v;
    l->runs = runs ? runs : l->runs;
    if (!point || !trials || !runs) {
        free(point);
        return ft_fail(l->err, FT_ENOMEM, 0, "%s", l->x->name);
    }
    memcpy(point, at, n * sizeof(*point));
    trials[i] = (ft_trial){.workload = workload,
                           .point = point,
                           .value = point + n,
                           .error = point + n + n_objectives};
    runs[i] = (ft__runs){0};
    l->out->n++;
    return FT_OK;
}

/* Runs of the file as it was are passed over. */
static bool take(void *user, const ft__trial_run *t)
{
    struct loading *l = user;
    double point[FT__MAX_PARAMS];
    ft__index_slot *slot;
    uint64_t hash;
    uint32_t v;

    if (!ft__run_place(l->x, &v, point, t->workload, t->point))
        return true;
    hash = ft__point_hash(ft__hash_bytes(FT__HASH_BEGIN, &v, sizeof(v)), point,
                          l->out->params);
    slot = ft__index_at(&l->index, hash, NULL);
    if (!slot)
        l->st = ft_fail(l->err, FT_ENOMEM, 0, "%s", l->x->name);
    else if (!slot->hash)
        l->st = add_trial(l, v, point);
    if (slot && !slot->hash && !l->st) {
        *slot = (ft__index_slot){hash, NULL, (int64_t)l->out->n - 1};
        l->index.n++;
    }
    if (!l->st)
        l->st = ft__runs_add(&l->runs[slot->number], l->x, t, l->err);
    return !l->st;
}

static ft_status sum_up(struct loading *l)
{
    for (size_t i = 0; i < l->out->n; i++) {
        ft_trial *t = &l->out->v[i];
        ft__runs *r = &l->runs[i];

        for (size_t k = 0; k < l->out->objectives; k++) {
            ft_status st =
                ft__objective_of(&t->value[k], &t->error[k], l->x, r, k, l->err);

            if (st)
                return st;
        }
        t->runs = (uint32_t)r->n;
        t->failure = r->failure;
        t->output = r->output;
        r->failure = r->output = NULL;
    }
    return FT_OK;
}

/* By workload, then by point, so that the order of the runs does not show. */
static int in_order(const void *a, const void *b)
{
    const ft_trial *p = a, *q = b;

    if (p->workload != q->workload)
        return p->workload < q->workload ? -1 : 1;
    for (const double *v = p->point, *w = q->point; v < p->value; v++, w++)
        if (isnan(*v) != isnan(*w))
            return isnan(*v) ? -1 : 1;
        else if (*v != *w && !isnan(*v))
            return *v < *w ? -1 : 1;
    return 0;
}

ft_status ft_trials_load(ft_trials *out, const ft_exploration *x, ft_store *store,
                         ft_error *err)
{
    struct loading l = {.x = x, .out = out, .err = err};
    ft__trials stored;
    ft_status st = ft__trials_of(&stored, store, x->name, x->print, NULL, err);

    *out = (ft_trials){.params = x->space->n,
                       .objectives = x->n_objectives,
                       .workloads = x->n_workloads};
    free(stored.plan);
    if (!st && stored.number)
        st = ft__trial_each(store, stored.number, take, &l, err);
    if (!st)
        st = l.st;
    if (!st)
        st = sum_up(&l);
    for (size_t i = 0; i < out->n; i++)
        ft__runs_free(&l.runs[i]);
    free(l.runs);
    ft__index_free(&l.index);
    if (st)
        ft_trials_free(out);
    else if (out->n)
        qsort(out->v, out->n, sizeof(*out->v), in_order);
    return st;
}

enum { FEW = 10, DRAWS = 10 };

int ft_trial_keeps_limits(const ft_exploration *x, const ft_trial *t)
{
    if (t->failure)
        return 0;
    for (size_t k = 0; k < x->n_objectives; k++) {
        const ft_objective *o = &x->objective[k];

        if (isnan(o->limit))
            continue;
        if (!(o->maximize ? t->value[k] >= o->limit : t->value[k] <= o->limit))
            return 0;
    }
    return 1;
}

/* Small is good. */
static double cost(const ft_exploration *x, const ft_trial *t, size_t k)
{
    return x->objective[k].maximize ? -t->value[k] : t->value[k];
}

size_t ft_trials_best(const ft_exploration *x, const ft_trials *t, uint32_t workload,
                      size_t k)
{
    size_t best = t->n;

    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].workload == workload && ft_trial_keeps_limits(x, &t->v[i]) &&
            !isnan(t->v[i].value[k]) &&
            (best == t->n || cost(x, &t->v[i], k) < cost(x, &t->v[best], k)))
            best = i;
    return best;
}

/* Is objective k known of any trial of the workload? */
static bool is_known(const ft_trials *t, uint32_t workload, size_t k)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].workload == workload && !isnan(t->v[i].value[k]))
            return true;
    return false;
}

ft_status ft_trials_front(unsigned char *on, const ft_exploration *x,
                          const ft_trials *t, uint32_t workload, ft_error *err)
{
    double *y = malloc((t->n * x->n_objectives + 1) * sizeof(*y));
    size_t m = 0;
    ft_status st = FT_OK;

    if (!y)
        return ft_fail(err, FT_ENOMEM, 0, "%s", x->name);
    for (size_t k = 0; k < x->n_objectives; k++)
        m += is_known(t, workload, k);
    for (size_t i = 0; i < t->n; i++) {
        bool counts =
            t->v[i].workload == workload && ft_trial_keeps_limits(x, &t->v[i]);
        size_t at = 0;

        for (size_t k = 0; k < x->n_objectives; k++)
            if (is_known(t, workload, k))
                y[i * m + at++] = counts ? cost(x, &t->v[i], k) : NAN;
    }
    memset(on, 0, t->n);
    if (m)
        st = ft_pareto(on, y, t->n, m, err);
    free(y);
    return st;
}

/* The trial of `workload` at the same point; t->n: none. */
static size_t same_point(const ft_trials *t, const ft_trial *like, uint32_t workload)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t k = 0;

        if (t->v[i].workload != workload)
            continue;
        while (k < t->params && (t->v[i].point[k] == like->point[k] ||
                                 (isnan(t->v[i].point[k]) && isnan(like->point[k]))))
            k++;
        if (k == t->params)
            return i;
    }
    return t->n;
}

/* Points that both have run: indices of their trials. */
struct both {
    size_t *from, *to;
    size_t n;
};

static ft_status pair_up(struct both *b, const ft_trials *t, size_t k, uint32_t from,
                         uint32_t to, ft_error *err)
{
    b->from = malloc((2 * t->n + 1) * sizeof(*b->from));
    if (!b->from)
        return ft_fail(err, FT_ENOMEM, 0, "%zu trials", t->n);
    b->to = b->from + t->n;
    for (size_t i = 0; i < t->n; i++) {
        const ft_trial *a = &t->v[i];
        size_t j;

        if (a->workload != from || a->failure || isnan(a->value[k]))
            continue;
        j = same_point(t, a, to);
        if (j == t->n || t->v[j].failure || isnan(t->v[j].value[k]))
            continue;
        b->from[b->n] = i;
        b->to[b->n++] = j;
    }
    return FT_OK;
}

static ft_status rank(ft_transfer *out, const struct both *b, const ft_trials *t,
                      size_t k, ft_error *err)
{
    double *v = malloc((2 * b->n + 1) * sizeof(*v));
    ft_status st;

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "%zu trials", t->n);
    for (size_t i = 0; i < b->n; i++) {
        v[i] = t->v[b->from[i]].value[k];
        v[b->n + i] = t->v[b->to[i]].value[k];
    }
    st = ft_correlate(&out->rank, FT_SPEARMAN, v, v + b->n, b->n, err);
    free(v);
    return st;
}

static void regret(ft_transfer *out, const ft_exploration *x, const ft_trials *t,
                   size_t k)
{
    size_t from = ft_trials_best(x, t, out->from, k);
    const ft_trial *a, *b;
    double worse;

    out->best = ft_trials_best(x, t, out->to, k);
    out->best_from = from < t->n ? same_point(t, &t->v[from], out->to) : t->n;
    if (out->best == t->n || out->best_from == t->n)
        return;
    a = &t->v[out->best_from];
    b = &t->v[out->best];
    if (!ft_trial_keeps_limits(x, a) || !(a->value[k] > 0 && b->value[k] > 0))
        return; /* a share of what is not above zero says nothing */
    worse = x->objective[k].maximize ? b->value[k] / a->value[k]
                                     : a->value[k] / b->value[k];
    out->regret = worse - 1;
    out->regret_error =
        out->best_from == out->best
            ? 0
            : worse * hypot(a->error[k] / a->value[k], b->error[k] / b->value[k]);
}

struct training_rows {
    float *row; /* unit coordinates, and the logarithm of what the other workload has */
    double *y;  /* logarithm */
    size_t n, width;
};

static ft_status make_rows(struct training_rows *l, const ft_exploration *x,
                           const ft_trials *t, const struct both *b, size_t k,
                           ft_error *err)
{
    double *unit = malloc(t->params * sizeof(*unit));

    l->width = t->params + 1;
    l->row = malloc((b->n * l->width + 1) * sizeof(*l->row));
    l->y = malloc((b->n + 1) * sizeof(*l->y));
    for (size_t i = 0; i < b->n && unit && l->row && l->y; i++) {
        ft__space_to_unit(x->space, unit, t->v[b->from[i]].point);
        for (size_t j = 0; j < t->params; j++)
            l->row[i * l->width + j] = (float)unit[j];
        l->row[i * l->width + t->params] = (float)log(t->v[b->from[i]].value[k]);
        l->y[i] = log(t->v[b->to[i]].value[k]);
        l->n = i + 1;
    }
    free(unit);
    return l->n == b->n ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu trials", t->n);
}

/* Slope of y over what the other workload has, by least squares over the first few. */
static double slope_of(const struct training_rows *l, const uint32_t *order, size_t few)
{
    size_t at = l->width - 1;
    double x = 0, y = 0, xx = 0, xy = 0;

    for (size_t i = 0; i < few; i++) {
        x += (double)l->row[order[i] * l->width + at] / (double)few;
        y += l->y[order[i]] / (double)few;
    }
    for (size_t i = 0; i < few; i++) {
        double d = (double)l->row[order[i] * l->width + at] - x;

        xx += d * d;
        xy += d * (l->y[order[i]] - y);
    }
    return xx > 0 ? xy / xx : 0;
}

/* Learn from the rows whose place in `order` is below `few`; where the other workload
 * is known, what is left of it above a line over the other's. Errors of the rest:
 * error[]. */
static ft_status learn(double *error, const struct training_rows *l,
                       const uint32_t *order, size_t few, size_t n, bool with,
                       uint64_t seed, ft_error *err)
{
    ft__forest_options how = {.kind = FT_FOREST_EXTRA, .n_trees = 64, .seed = seed};
    size_t width = with ? l->width : l->width - 1, at = l->width - 1;
    double slope = with ? slope_of(l, order, few) : 0;
    float *row = malloc(few * width * sizeof(*row));
    double *y = malloc(few * sizeof(*y));
    ft__matrix m = {row, few, width};
    ft__forest *f = NULL;
    ft_status st = row && y ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu trials", l->n);

    for (size_t i = 0; i < few && !st; i++) {
        const float *from = l->row + order[i] * l->width;

        memcpy(row + i * width, from, width * sizeof(*row));
        y[i] = l->y[order[i]] - slope * (double)from[at];
    }
    if (!st)
        st = ft__forest_fit(&f, &m, y, NULL, &how, err);
    for (size_t i = few; i < n && !st; i++) {
        const float *from = l->row + order[i] * l->width;
        double predicted = ft__forest_predict(f, from) + slope * (double)from[at];

        error[i - few] = fabs(expm1(predicted - l->y[order[i]]));
    }
    ft__forest_free(f);
    free(row);
    free(y);
    return st;
}

/* Is the other workload of use? By leaving out each of the few in turn. */
static ft_status helps(bool *out, const struct training_rows *l, const uint32_t *order,
                       size_t few, uint64_t seed, ft_error *err)
{
    uint32_t *turned = malloc(few * sizeof(*turned));
    double *error = malloc(2 * few * sizeof(*error));
    ft_status st =
        turned && error ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu trials", l->n);

    for (size_t i = 0; i < few && !st; i++) {
        for (size_t j = 0; j < few; j++)
            turned[j] = order[(i + j) % few];
        st = learn(error + i, l, turned, few - 1, few, true, seed, err);
        if (!st)
            st = learn(error + few + i, l, turned, few - 1, few, false, seed, err);
    }
    *out = !st && ft__median(error, few) < ft__median(error + few, few);
    free(turned);
    free(error);
    return st;
}

/* Medians over several draws of the few. */
static ft_status compare(ft_transfer *out, const struct training_rows *l, uint64_t seed,
                         ft_error *err)
{
    size_t rest = l->n - out->few;
    double *error = malloc(2 * DRAWS * rest * sizeof(*error));
    uint32_t *order = malloc(l->n * sizeof(*order));
    ft_status st =
        error && order ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu trials", l->n);

    for (uint64_t draw = 0; draw < DRAWS && !st; draw++) {
        ft__prng p = ft__prng_stream(seed, draw);
        bool with;

        for (size_t i = 0; i < l->n; i++)
            order[i] = (uint32_t)i;
        ft__prng_shuffle(&p, order, l->n);
        st = helps(&with, l, order, out->few, seed, err);
        if (!st)
            st = learn(error + draw * rest, l, order, out->few, l->n, with, seed, err);
        if (!st)
            st = learn(error + (DRAWS + draw) * rest, l, order, out->few, l->n, false,
                       seed, err);
    }
    if (!st) {
        out->with = ft__median(error, DRAWS * rest);
        out->without = ft__median(error + DRAWS * rest, DRAWS * rest);
    }
    free(error);
    free(order);
    return st;
}

static bool all_positive(const ft_trials *t, const struct both *b, size_t k)
{
    for (size_t i = 0; i < b->n; i++)
        if (!(t->v[b->from[i]].value[k] > 0 && t->v[b->to[i]].value[k] > 0))
            return false;
    return true;
}

ft_status ft_transfer_compute(ft_transfer *out, const ft_exploration *x,
                              const ft_trials *t, size_t k, uint32_t from, uint32_t to,
                              size_t few, uint64_t seed, ft_error *err)
{
    struct training_rows l = {0};
    struct both b = {0};
    ft_status st = pair_up(&b, t, k, from, to, err);

    *out = (ft_transfer){.from = from,
                         .to = to,
                         .regret = NAN,
                         .regret_error = NAN,
                         .few = few ? few : FEW,
                         .with = NAN,
                         .without = NAN};
    if (!st)
        st = rank(out, &b, t, k, err);
    if (!st)
        regret(out, x, t, k);
    if (!st && b.n >= 2 * out->few && all_positive(t, &b, k)) {
        st = make_rows(&l, x, t, &b, k, err);
        if (!st)
            st = compare(out, &l, seed, err);
    }
    free(l.row);
    free(l.y);
    free(b.from);
    return st;
}
