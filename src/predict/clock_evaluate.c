/* Workloads measured at one pair of clocks, told at all others: what the other
 * workloads of the device teach. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "base/stats.h"
#include "foretell/evaluate.h"
#include "learn/learn_inside.h"
#include "predict/clock.h"
#include "predict/sample.h"

/* Activities that sources tell of a kernel at the clocks it ran at, memory's first. */
static const char *const hints[] = {"dram_active", "fp32_active",   "fp64_active",
                                    "fp16_active", "tensor_active", "sm_active",
                                    "sm_occ"};
enum { N_HINTS = sizeof(hints) / sizeof(*hints) };

struct point {
    ft__clock_row r;
    char *set;  /* device, and the version of what measured */
    char *spec; /* with phase and setting but for the clocks: the workload */
    char *name;
    uint64_t group; /* of its name */
    uint32_t fold;  /* UINT32_MAX: to learn from alone */
    int test;       /* of the second store */
};

struct points {
    struct point *v;
    size_t n, room;
    const char *where;
    int test;
    ft_error err;
    ft_status st;
};

/* ---- reading ---- */

static double condition(const char *json, const char *name)
{
    char key[40];
    const char *at;

    snprintf(key, sizeof(key), "\"%s\":", name);
    at = json ? strstr(json, key) : NULL;
    return at ? strtod(at + strlen(key) + strspn(at + strlen(key), " \""), NULL) : NAN;
}

static uint64_t hash(const char *text)
{
    uint64_t h = 1469598103934665603u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

static char *joined(const char *a, const char *b)
{
    size_t n = strlen(a) + strlen(b) + 2;
    char *out = malloc(n);

    if (out)
        snprintf(out, n, "%s %s", a, b);
    return out;
}

/* What follows "name=" in a kernel's or a network's spec, otherwise all of it. */
static char *name_of(const char *spec)
{
    const char *name = strstr(spec, "name=");

    name = name ? name + 5 : spec;
    return strndup(name, name == spec ? strlen(name) : strcspn(name, " "));
}

/* A setting without its clocks. */
static void drop_clocks(char *setting)
{
    char *to = setting;

    for (char *p = setting; *p;) {
        size_t n = strcspn(p, " ");

        if (strncmp(p, "clock=", 6) != 0 && strncmp(p, "memory=", 7) != 0) {
            memmove(to, p, n);
            to += n;
            *to++ = ' ';
        }
        p += n + (p[n] == ' ');
    }
    *(to > setting ? to - 1 : to) = '\0';
}

static int name_point(struct point *p, const ft_key *k)
{
    char *rest = strdup(k->setting), *workload = NULL;

    if (rest) {
        drop_clocks(rest);
        workload = joined(k->spec, k->phase);
    }
    if (workload)
        p->spec = joined(workload, rest);
    p->set = joined(k->device, k->engine_version);
    p->name = name_of(k->spec);
    free(rest);
    free(workload);
    return p->spec && p->set && p->name;
}

static struct point *new_point(struct points *s)
{
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 1024;
        struct point *v = realloc(s->v, room * sizeof(*v));

        if (!v)
            return NULL;
        s->v = v;
        s->room = room;
    }
    s->v[s->n] = (struct point){.r = {.time_s = NAN, .power_w = NAN}, .test = s->test};
    return &s->v[s->n++];
}

static int is_of_interest(const char *metric)
{
    return strcmp(metric, "time") == 0 || strcmp(metric, "power") == 0 ||
           strcmp(metric, "relative_performance") == 0;
}

static int take(void *user, const ft_row *row)
{
    struct points *s = user;
    double core = ft__pair_number(row->key.setting, "clock");
    struct point *p;

    if (!is_of_interest(row->key.metric) || isnan(core) ||
        !ft__where_has(s->where, &row->key))
        return 0;
    p = new_point(s);
    if (!p || !name_point(p, &row->key)) {
        s->st = ft_fail(&s->err, FT_ENOMEM, 0, "clocks of %zu rows", s->n);
        return 1;
    }
    p->group = hash(p->name);
    p->r.name = p->name;
    p->r.core_hz = core;
    p->r.memory_hz = ft__pair_number(row->key.setting, "memory");
    for (int i = 0; i < FT__CLOCK_HINTS; i++)
        p->r.hint[i] = i < N_HINTS ? condition(row->m.conditions, hints[i]) : NAN;
    if (strcmp(row->key.metric, "time") == 0)
        p->r.time_s = row->m.value;
    else if (strcmp(row->key.metric, "power") == 0)
        p->r.power_w = row->m.value;
    else
        p->r.time_s = 1 / row->m.value;
    return 0;
}

static ft_status read_store(struct points *s, ft_store *store, int test, ft_error *err)
{
    ft_status st;

    s->test = test;
    st = ft_store_each(store, NULL, 1, take, s, err);
    if (!st && s->st) {
        st = s->st;
        if (err)
            *err = s->err;
    }
    return st;
}

static void point_free(struct point *p)
{
    free(p->set);
    free(p->spec);
    free(p->name);
}

/* ---- one row a workload and pair of clocks ---- */

static double memory_of(const struct point *p)
{
    return isfinite(p->r.memory_hz) ? p->r.memory_hz : 0;
}

/* By set and workload, the highest clocks first. */
static int by_workload(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    int c = strcmp(x->set, y->set);

    c = c ? c : x->test - y->test;
    c = c ? c : strcmp(x->spec, y->spec);
    if (c)
        return c;
    if (x->r.core_hz != y->r.core_hz)
        return x->r.core_hz > y->r.core_hz ? -1 : 1;
    return (memory_of(x) < memory_of(y)) - (memory_of(x) > memory_of(y));
}

static int is_same_workload(const struct point *a, const struct point *b)
{
    return strcmp(a->set, b->set) == 0 && a->test == b->test &&
           strcmp(a->spec, b->spec) == 0;
}

/* Time and power of one point are rows of their own in a store. */
static void join(struct points *s)
{
    uint32_t workload = 0;
    size_t n = 0;

    if (s->n)
        qsort(s->v, s->n, sizeof(*s->v), by_workload);
    for (size_t i = 0; i < s->n; i++) {
        struct point *last = n ? &s->v[n - 1] : NULL, *p = &s->v[i];

        if (last && by_workload(last, p) == 0) {
            last->r.time_s = isfinite(p->r.time_s) ? p->r.time_s : last->r.time_s;
            last->r.power_w = isfinite(p->r.power_w) ? p->r.power_w : last->r.power_w;
            point_free(p);
            continue;
        }
        workload += last && !is_same_workload(last, p);
        s->v[n] = *p;
        s->v[n++].r.workload = workload;
    }
    s->n = n;
}

/* ---- one set ---- */

/* The points of one set: s->v[from] to s->v[to - 1]. */
struct set {
    struct point *v;
    size_t n;
    double *truth, *said[FT_CLOCKS_WAYS], *list;
    double *power_truth, *power_said[FT_CLOCKS_WAYS];
    double *width, *power_width; /* high / low; NaN: no interval */
    size_t covered, power_covered;
    size_t n_said;
};

static const struct point *first_of(const struct set *s, const struct point *p)
{
    while (p > s->v && p[-1].r.workload == p->r.workload)
        p--;
    return p;
}

/* The median ratio of what is learned from, at the same clocks. */
static double usual(const struct set *s, const struct point *p, int power)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct point *q = &s->v[i], *f = first_of(s, q);
        double ratio = power ? q->r.power_w / f->r.power_w : q->r.time_s / f->r.time_s;

        if (q->fold != p->fold && q->r.core_hz == p->r.core_hz &&
            memory_of(q) == memory_of(p) && isfinite(ratio))
            s->list[n++] = ratio;
    }
    return n ? ft__median(s->list, n) : NAN;
}

static ft_status fit(ft__clocks **out, const struct set *s, uint32_t fold, int trees,
                     uint64_t seed, ft_error *err)
{
    ft__clock_row *row = malloc((s->n + 1) * sizeof(*row));
    size_t n = 0;
    ft_status st;

    *out = NULL;
    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "clocks of %zu rows", s->n);
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].fold != fold)
            row[n++] = s->v[i].r;
    st = ft__clocks_fit(out, row, n, trees, seed, err);
    free(row);
    return st;
}

static void add_interval(struct set *s, const struct point *p, const struct point *f,
                         const ft__clock_ratio *r)
{
    const double time = p->r.time_s / f->r.time_s, power = p->r.power_w / f->r.power_w;

    s->width[s->n_said] = isfinite(time) ? r->time_high / r->time_low : (double)NAN;
    s->power_width[s->n_said] =
        isfinite(power) ? r->power_high / r->power_low : (double)NAN;
    s->covered += r->time_low <= time && time <= r->time_high;
    s->power_covered += r->power_low <= power && power <= r->power_high;
}

/* What is said of every point of a fold but those that are known. */
static void tell(struct set *s, uint32_t fold, const ft__clocks *learned,
                 const ft__clocks *formulae)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct point *p = &s->v[i], *f = first_of(s, p);
        ft__clock_ratio said[FT_CLOCKS_WAYS];

        if (p->fold != fold || f == p)
            continue;
        said[FT_CLOCKS_LEARNED] =
            ft__clocks_at(learned, &f->r, p->r.core_hz, p->r.memory_hz);
        said[FT_CLOCKS_FORMULAE] =
            ft__clocks_at(formulae, &f->r, p->r.core_hz, p->r.memory_hz);
        said[FT_CLOCKS_USUAL] =
            (ft__clock_ratio){.time = usual(s, p, 0), .power = usual(s, p, 1)};
        add_interval(s, p, f, &said[FT_CLOCKS_LEARNED]);
        s->truth[s->n_said] = p->r.time_s;
        s->power_truth[s->n_said] = p->r.power_w;
        for (int w = 0; w < FT_CLOCKS_WAYS; w++) {
            s->said[w][s->n_said] = f->r.time_s * said[w].time;
            s->power_said[w][s->n_said] = f->r.power_w * said[w].power;
        }
        s->n_said++;
    }
}

/* Of rows where both are known; none: n is 0. */
static ft_status errors_of(ft_errors *out, const double *truth, const double *said,
                           size_t n, double *scratch, ft_error *err)
{
    size_t m = 0;

    *out = (ft_errors){0};
    for (size_t i = 0; i < n; i++)
        if (isfinite(truth[i]) && isfinite(said[i])) {
            scratch[2 * m] = truth[i];
            scratch[2 * m++ + 1] = said[i];
        }
    for (size_t i = 0; i < m; i++)
        scratch[2 * n + i] = scratch[2 * i];
    for (size_t i = 0; i < m; i++)
        scratch[i] = scratch[2 * i + 1];
    return m ? ft_errors_compute(out, scratch + 2 * n, scratch, m, 1, err) : FT_OK;
}

/* width[n] is spoilt. */
static ft_clocks_interval interval_of(double *width, size_t n, size_t covered)
{
    size_t m = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(width[i]))
            width[m++] = width[i];
    if (m == 0)
        return (ft_clocks_interval){NAN, NAN};
    return (ft_clocks_interval){(double)covered / (double)m, ft__median(width, m)};
}

static ft_status sum_up(ft_clocks_evaluated *out, const struct set *s, ft_error *err)
{
    double *scratch = malloc((3 * s->n + 1) * sizeof(*scratch));
    ft_status st = scratch ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "clocks");

    for (int w = 0; w < FT_CLOCKS_WAYS && !st; w++) {
        st = errors_of(&out->time[w], s->truth, s->said[w], s->n_said, scratch, err);
        if (!st)
            st = errors_of(&out->power[w], s->power_truth, s->power_said[w], s->n_said,
                           scratch, err);
    }
    free(scratch);
    out->time_interval = interval_of(s->width, s->n_said, s->covered);
    out->power_interval = interval_of(s->power_width, s->n_said, s->power_covered);
    return st;
}

static ft_status deal(struct set *s, uint32_t n_folds, uint64_t seed, int test,
                      ft_error *err)
{
    uint64_t *group = malloc((s->n + 1) * sizeof(*group));
    uint32_t *fold = calloc(s->n + 1, sizeof(*fold));
    ft_status st = FT_OK;

    if (!group || !fold)
        st = ft_fail(err, FT_ENOMEM, 0, "clocks of %zu rows", s->n);
    for (size_t i = 0; i < s->n && !st; i++)
        group[i] = s->v[i].group;
    if (!st && !test)
        st = ft__folds_make(fold, group, s->n, n_folds, seed, err);
    for (size_t i = 0; i < s->n && !st; i++)
        s->v[i].fold = !test ? fold[i] : s->v[i].test ? 0 : UINT32_MAX;
    free(group);
    free(fold);
    return st;
}

static int has_fold(const struct set *s, uint32_t fold)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].fold == fold)
            return 1;
    return 0;
}

static ft_status run_folds(struct set *s, uint32_t n_folds, uint64_t seed,
                           ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t fold = 0; fold < n_folds && !st; fold++) {
        ft__clocks *learned = NULL, *formulae = NULL;

        if (!has_fold(s, fold))
            continue;
        st = fit(&learned, s, fold, 1, seed, err);
        if (!st)
            st = fit(&formulae, s, fold, 0, seed, err);
        if (!st)
            tell(s, fold, learned, formulae);
        ft__clocks_free(learned);
        ft__clocks_free(formulae);
    }
    return st;
}

/* Room for all that is said: 5 + 2 x ways numbers a point. */
static int set_make(struct set *s, struct point *v, size_t n)
{
    size_t numbers = 5 + 2 * FT_CLOCKS_WAYS;
    double *p = malloc((n * numbers + 1) * sizeof(*p));

    *s = (struct set){.v = v, .n = n, .truth = p};
    if (!p)
        return 0;
    s->list = p + n;
    s->power_truth = p + 2 * n;
    s->width = p + 3 * n;
    s->power_width = p + 4 * n;
    for (size_t w = 0; w < FT_CLOCKS_WAYS; w++) {
        s->said[w] = p + (5 + 2 * w) * n;
        s->power_said[w] = p + (6 + 2 * w) * n;
    }
    return 1;
}

static ft_status evaluate_set(ft_clocks_evaluated *out, struct point *v, size_t n,
                              const ft_clocks_options *o, int test, ft_error *err)
{
    uint32_t n_folds = test ? 1 : o->n_folds ? o->n_folds : 10;
    struct set s;
    ft_status st;

    *out = (ft_clocks_evaluated){0};
    snprintf(out->name, sizeof(out->name), "%s", v->set);
    for (size_t i = 0; i < n; i++)
        out->n_workloads +=
            (!test || v[i].test) && (i == 0 || v[i].r.workload != v[i - 1].r.workload);
    if (!set_make(&s, v, n))
        return ft_fail(err, FT_ENOMEM, 0, "clocks of %zu rows", n);
    st = deal(&s, n_folds, o->seed, test, err);
    if (!st)
        st = run_folds(&s, n_folds, o->seed, err);
    if (!st)
        st = sum_up(out, &s, err);
    free(s.truth);
    return st;
}

/* ---- all of it ---- */

static ft_status evaluate_all(ft_clocks_evaluation *out, const struct points *s,
                              const ft_clocks_options *o, int test, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t from = 0, to; from < s->n && !st; from = to) {
        ft_clocks_evaluated one, *grown;

        for (to = from; to < s->n && strcmp(s->v[to].set, s->v[from].set) == 0;)
            to++;
        st = evaluate_set(&one, s->v + from, to - from, o, test, err);
        if (st || one.time[0].n + one.power[0].n == 0)
            continue;
        grown = realloc(out->v, (out->n + 1) * sizeof(*grown));
        if (!grown)
            return ft_fail(err, FT_ENOMEM, 0, "clocks");
        out->v = grown;
        out->v[out->n++] = one;
    }
    if (!st && out->n == 0)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "the store holds no workload at several clocks that fits");
    return st;
}

ft_status ft_clocks_evaluate(ft_clocks_evaluation *out, ft_store *store, ft_store *test,
                             const ft_clocks_options *opt, ft_error *err)
{
    struct points s = {.where = opt->where ? opt->where : ""};
    ft_status st = ft__where_check(s.where, err);

    *out = (ft_clocks_evaluation){0};
    if (!st)
        st = read_store(&s, store, 0, err);
    if (!st && test)
        st = read_store(&s, test, 1, err);
    if (!st) {
        join(&s);
        st = evaluate_all(out, &s, opt, test != NULL, err);
    }
    for (size_t i = 0; i < s.n; i++)
        point_free(&s.v[i]);
    free(s.v);
    if (st)
        ft_clocks_evaluation_free(out);
    return st;
}

void ft_clocks_evaluation_free(ft_clocks_evaluation *e)
{
    free(e->v);
    *e = (ft_clocks_evaluation){0};
}
