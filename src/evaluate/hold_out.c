#include "evaluate/hold_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/pairs.h"
#include "base/stats.h"
#include "evaluate/rank_inside.h"
#include "foretell/names.h"
#include "graph/op_inside.h"
#include "learn/learn_inside.h"

/* ---- networks ---- */

struct members {
    ft__networks *out;
    const char *only;
    ft_status st;
    ft_error err;
};

static ft__network_ops *network_of(ft__networks *n, const char *name, size_t len)
{
    ft__network_ops *v;

    if (len >= sizeof(v->name))
        len = sizeof(v->name) - 1;
    for (uint32_t i = n->n; i > 0; i--)
        if (strncmp(n->v[i - 1].name, name, len) == 0 && !n->v[i - 1].name[len])
            return &n->v[i - 1];
    v = realloc(n->v, (n->n + 1) * sizeof(*v));
    if (!v)
        return NULL;
    n->v = v;
    v += n->n++;
    *v = (ft__network_ops){0};
    memcpy(v->name, name, len);
    return v;
}

static bool add_hash(ft__network_ops *v, uint64_t hash)
{
    uint64_t *grown;

    /* Room grows at powers of two. */
    if ((v->n & (v->n - 1)) == 0) {
        grown = realloc(v->hash, (v->n ? 2 * v->n : 1) * sizeof(*grown));
        if (!grown)
            return false;
        v->hash = grown;
    }
    v->hash[v->n++] = hash;
    return true;
}

static int take_member(void *user, const ft_member *m)
{
    struct members *r = user;
    size_t len;
    const char *name = ft__pair(m->whole, "name", &len);
    ft__network_ops *v;
    ft_op op;

    if (!name || (r->only && (strlen(r->only) != len || memcmp(r->only, name, len))))
        return 0;
    /* Parts that are no operation of ours were not measured as one either. */
    if (ft_op_parse(&op, m->part, strlen(m->part), NULL))
        return 0;
    v = network_of(r->out, name, len);
    if (v && add_hash(v, ft__op_hash(&op)))
        return 0;
    r->st = ft_fail(&r->err, FT_ENOMEM, 0, "networks");
    return 1;
}

ft_status ft__networks_read(ft__networks *out, ft_store *store, const char *only,
                            ft_error *err)
{
    struct members r = {.out = out, .only = only};
    ft_status st;

    *out = (ft__networks){0};
    st = ft_store_each_member(store, NULL, NULL, take_member, &r, err);
    if (!st && r.st) {
        st = r.st;
        if (err)
            *err = r.err;
    }
    for (uint32_t i = 0; i < out->n; i++)
        qsort(out->v[i].hash, out->v[i].n, sizeof(uint64_t), ft__by_number);
    return st;
}

void ft__networks_free(ft__networks *n)
{
    for (uint32_t i = 0; i < n->n; i++)
        free(n->v[i].hash);
    free(n->v);
    *n = (ft__networks){0};
}

bool ft__network_has(const ft__network_ops *n, uint64_t hash)
{
    return n->n && bsearch(&hash, n->hash, n->n, sizeof(hash), ft__by_number) != NULL;
}

/* ---- results ---- */

ft_status ft__results_add(ft__test_results *r, const ft__tested *row,
                          const ft__op_answer *predicted, size_t n, uint32_t split,
                          ft_error *err)
{
    ft__result *v = realloc(r->v, (r->n + n + 1) * sizeof(*v));

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "results");
    r->v = v;
    for (size_t i = 0; i < n; i++)
        if (isnan(predicted[i].value))
            r->n_unanswered++;
        else
            v[r->n++] = (ft__result){row[i], split, predicted[i]};
    return FT_OK;
}

static void tell_rows(const ft__test_results *r, ft__metric metric,
                      const char (*split)[FT__SPLIT_NAME],
                      const ft_evaluate_options *opt)
{
    for (size_t i = 0; i < r->n && opt->row; i++) {
        const ft__tested *v = &r->v[i].row;
        const ft__dataset *d = v->on;
        const ft__op_answer *a = &r->v[i].predicted;
        char spec[1024];

        if (v->op)
            ft_op_print(v->op, spec, sizeof(spec));
        opt->row(opt->row_user,
                 &(ft_evaluated_row){.device = d->device,
                                     .setting = d->setting,
                                     .engine = d->engine,
                                     .engine_version = d->engine_version,
                                     .policy = d->policy,
                                     .spec = v->op ? spec : v->spec,
                                     .phase = v->phase,
                                     .metric = ft__metric_name(metric),
                                     .basis = ft_name(FT_NAMES_BASIS, a->basis),
                                     .split = split[r->v[i].split],
                                     .truth = v->truth,
                                     .value = a->value,
                                     .low = a->low,
                                     .high = a->high});
    }
}

static size_t add_choices(ft__test_results *r, size_t at, const ft__model_set *l)
{
    for (uint32_t i = 0; l && i < l->n_regressors && at < sizeof(r->chosen); i++) {
        const ft__regressor *p = &l->part[i];

        at += (size_t)snprintf(
            r->chosen + at, sizeof(r->chosen) - at, "%s%s %s%s: %zu rows, %s\n",
            ft__regressor_name(p), p->scope == FT__SCOPE_CLASS ? " (class)" : "",
            ft_phase_name(p->phase), l->opt.unseen ? ", other devices" : "",
            p->fit.n_rows, p->fit.choice);
    }
    return at;
}

void ft__results_choices(ft__test_results *r, const ft__family *f, ft__metric metric)
{
    size_t at = 0;

    r->chosen[0] = '\0';
    for (int unseen = 0; unseen < 2 && metric < FT__N_METRICS; unseen++)
        at = add_choices(r, at, f->model_set[metric][unseen]);
}

void ft__results_kernels(ft__test_results *r, const ft__kernel_models *k)
{
    const ft__fit *known = &k->of[FT__OF_KERNELS].fit,
                  *others = &k->of[FT__OF_DEVICES].fit;

    snprintf(r->chosen, sizeof(r->chosen),
             "kernels: %zu rows, %s\nkernels, other devices: %zu rows, %s\n",
             known->n_rows, known->choice, others->n_rows, others->choice);
}

static ft_status find_order(ft_rank_evaluation *out, const ft__test_results *r,
                            ft_choices choices, ft_error *err)
{
    ft_rank_row *row = calloc(r->n + 1, sizeof(*row));
    ft_status st;

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "results");
    for (size_t i = 0; i < r->n; i++) {
        const ft__tested *v = &r->v[i].row;
        const ft__op_answer *predicted = &r->v[i].predicted;

        row[i] =
            (ft_rank_row){v->hash,
                          choices == FT_CHOICES_DEVICE ? v->on->device : v->on->setting,
                          v->truth,
                          predicted->value,
                          predicted->low,
                          predicted->high};
    }
    st = ft__rank_evaluate(out, row, r->n, err);
    free(row);
    return st;
}

void ft__results_free(ft__test_results *r)
{
    free(r->v);
    *r = (ft__test_results){0};
}

/* ---- tables ---- */

struct score_table {
    double *truth;
    double *predicted[3];
    double *width;
    size_t n;
    size_t covered;
};

static void table_free(struct score_table *t)
{
    free(t->truth);
    for (int k = 0; k < 3; k++)
        free(t->predicted[k]);
    free(t->width);
}

static ft_status table_make(struct score_table *t, size_t n, ft_error *err)
{
    *t = (struct score_table){.truth = calloc(n + 1, sizeof(double)),
                              .width = calloc(n + 1, sizeof(double))};
    for (int k = 0; k < 3; k++)
        t->predicted[k] = calloc(n + 1, sizeof(double));
    if (t->truth && t->width && t->predicted[0] && t->predicted[1] && t->predicted[2])
        return FT_OK;
    table_free(t);
    return ft_fail(err, FT_ENOMEM, 0, "results");
}

static void add_result(struct score_table *t, const ft__result *r)
{
    t->truth[t->n] = r->row.truth;
    t->predicted[0][t->n] = r->predicted.value;
    t->predicted[1][t->n] = r->predicted.constant;
    t->predicted[2][t->n] = r->predicted.base;
    t->width[t->n] = r->predicted.high / r->predicted.low;
    t->covered += r->predicted.low <= r->row.truth && r->row.truth <= r->predicted.high;
    t->n++;
}

static ft_status summarise(ft_evaluated *out, struct score_table *t, ft_error *err)
{
    ft_errors *const errors[3] = {&out->learned, &out->constant, &out->base};
    ft_status st = FT_OK;

    for (int k = 0; k < 3 && !st; k++)
        st = ft__errors_compute(errors[k], t->truth, t->predicted[k], t->n, 0, err);
    out->covered = (double)t->covered / (double)t->n;
    out->width = ft__median(t->width, t->n);
    t->n = t->covered = 0;
    return st;
}

ft_status ft__results_errors(ft_errors *out, const ft__test_results *r, ft_error *err)
{
    ft_evaluated all;
    struct score_table t;
    ft_status st = table_make(&t, r->n, err);

    if (st)
        return st;
    for (size_t i = 0; i < r->n; i++)
        add_result(&t, &r->v[i]);
    st = summarise(&all, &t, err);
    *out = all.learned;
    table_free(&t);
    return st;
}

/* Bounds between the deciles of what was measured. */
static ft_status find_deciles(double bound[9], const ft__test_results *r, ft_error *err)
{
    double *v = malloc((r->n + 1) * sizeof(*v));

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "results");
    for (size_t i = 0; i < r->n; i++)
        v[i] = r->v[i].row.truth;
    ft__sort(v, r->n);
    for (int i = 0; i < 9; i++)
        bound[i] = ft__quantile(v, r->n, (i + 1) / 10.0);
    free(v);
    return FT_OK;
}

struct grouping {
    const ft__test_results *r;
    const char (*split)[FT__SPLIT_NAME];
    double decile[9];
};

/* Which line of a table a result belongs to: a number that orders the lines, and a
 * name. */
static uint32_t line_of(const struct grouping *g, ft_by by, const ft__result *v,
                        const char **name)
{
    static const char *const deciles[] = {"1 (least)", "2", "3", "4", "5",
                                          "6",         "7", "8", "9", "10 (most)"};
    uint32_t i = 0;

    switch (by) {
    case FT_BY_KIND: *name = v->row.kind; return v->row.kind_order;
    case FT_BY_DEVICE: *name = v->row.on->device; return v->row.device_order;
    case FT_BY_SIZE:
        while (i < 9 && v->row.truth > g->decile[i])
            i++;
        *name = deciles[i];
        return i;
    default: *name = g->split[v->split]; return v->split;
    }
}

static ft_status add_line(ft_evaluation *out, ft_by by, const char *name,
                          struct score_table *t, ft_error *err)
{
    ft_evaluated *v = realloc(out->by[by], (out->n_by[by] + 1) * sizeof(*v));

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "results");
    out->by[by] = v;
    v += out->n_by[by]++;
    *v = (ft_evaluated){0};
    snprintf(v->name, sizeof(v->name), "%s", name);
    return summarise(v, t, err);
}

static ft_status group_by(ft_evaluation *out, ft_by by, const struct grouping *g,
                          struct score_table *t, ft_error *err)
{
    uint32_t last = 0, line;
    const char *name, *found;
    ft_status st = FT_OK;

    for (size_t i = 0; i < g->r->n; i++) {
        line = line_of(g, by, &g->r->v[i], &name);
        last = line > last ? line : last;
    }
    for (uint32_t k = 0; k <= last && !st; k++) {
        found = NULL;
        for (size_t i = 0; i < g->r->n; i++)
            if (line_of(g, by, &g->r->v[i], &name) == k) {
                add_result(t, &g->r->v[i]);
                found = name;
            }
        if (found)
            st = add_line(out, by, found, t, err);
    }
    return st;
}

static ft_status make_tables(ft_evaluation *out, const ft__test_results *r,
                             const char (*split)[FT__SPLIT_NAME], ft_error *err)
{
    struct grouping g = {.r = r, .split = split};
    struct score_table t;
    ft_status st = table_make(&t, r->n, err);

    if (st)
        return st;
    st = find_deciles(g.decile, r, err);
    for (size_t i = 0; i < r->n && !st; i++)
        add_result(&t, &r->v[i]);
    if (!st)
        st = summarise(&out->all, &t, err);
    snprintf(out->all.name, sizeof(out->all.name), "all");
    for (int by = 0; by < FT_BY_COUNT && !st; by++)
        st = group_by(out, (ft_by)by, &g, &t, err);
    out->n_splits = r->n_splits;
    out->n_unanswered = r->n_unanswered;
    memcpy(out->unanswered, r->unanswered, sizeof(out->unanswered));
    out->n_learned = r->n_learned / (double)r->n_splits;
    memcpy(out->chosen, r->chosen, sizeof(out->chosen));
    table_free(&t);
    return st;
}

ft_status ft__results_report(ft_evaluation *out, const ft__test_results *r,
                             const ft__splits *s, ft__metric metric,
                             const ft_evaluate_options *opt, ft_error *err)
{
    const char(*names)[FT__SPLIT_NAME] = (const char(*)[FT__SPLIT_NAME])s->name;
    ft_status st = make_tables(out, r, names, err);

    if (st)
        return st;
    tell_rows(r, metric, names, opt);
    return opt->choices == FT_CHOICES_NONE || opt->kernels
               ? FT_OK
               : find_order(&out->order, r, opt->choices, err);
}

/* ---- splits ---- */

ft_status ft__splits_make(ft__splits *s, size_t n, ft_error *err)
{
    *s = (ft__splits){.of = calloc(n + 1, sizeof(*s->of))};
    for (size_t i = 0; s->of && i < n; i++)
        s->of[i] = FT__NOT_TESTED;
    return s->of ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "evaluation");
}

bool ft__split_is(const ft__splits *s, uint32_t split, const char *name)
{
    return strncmp(s->name[split], name, FT__SPLIT_NAME - 1) == 0;
}

ft_status ft__splits_add(uint32_t *index, ft__splits *s, const char *name,
                         ft_error *err)
{
    char(*grown)[FT__SPLIT_NAME];

    for (*index = 0; *index < s->n; ++*index)
        if (ft__split_is(s, *index, name))
            return FT_OK;
    grown = realloc(s->name, (s->n + 1) * sizeof(*grown));
    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "evaluation");
    s->name = grown;
    snprintf(grown[s->n++], sizeof(*grown), "%s", name);
    return FT_OK;
}

void ft__splits_free(ft__splits *s)
{
    free(s->of);
    free(s->name);
}

ft_status ft__splits_run(ft__test_results *out, const ft__splits *s, ft__split_run *run,
                         void *user, const ft_log *log, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < s->n && !st; i++) {
        ft__progress(log, i, s->n, s->name[i]);
        st = run(user, out, i, err);
    }
    ft__progress(log, s->n, s->n, "");
    if (!st && out->n == 0)
        st = ft_fail(err, FT_ENOTFOUND, 0, "%s",
                     *out->unanswered ? out->unanswered : "nothing is left to test on");
    return st;
}
