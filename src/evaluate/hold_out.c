/* Rows that are held out of training and tested: the splits they are hidden in, what
 * was predicted of them, and what an evaluation says of it. */
#include "evaluate/hold_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "foretell/names.h"
#include "learn/learn_inside.h"

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

static size_t add_choices(ft__test_results *r, size_t at, const ft__model_set *l)
{
    for (uint32_t i = 0; l && i < l->n_regressors && at < sizeof(r->chosen); i++) {
        const ft__regressor *p = &l->part[i];

        at += (size_t)snprintf(
            r->chosen + at, sizeof(r->chosen) - at, "%s%s %s%s: %zu rows, %s\n",
            ft__regressor_name(p), p->scope == FT__SCOPE_CLASS ? " (class)" : "",
            ft_name(FT_NAMES_PHASE, p->phase), l->opt.unseen ? ", other devices" : "",
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

struct score_table {
    double *truth;
    double *predicted[3];
    double *width;
    size_t n, covered;
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

enum { MAX_CHOICES = 64, DRAWS = 512 };

/* Rows of one item and choice, added up. */
struct choice_sums {
    double truth, value, low, high;
    double n;
};

struct choice_table {
    const char *choice[MAX_CHOICES];
    size_t n_choices;
    double loss[MAX_CHOICES];  /* sum of regrets when it is always taken */
    double first[MAX_CHOICES]; /* how often it is the best */
};

static int by_item(const void *a, const void *b)
{
    const ft__rank_row *x = *(const ft__rank_row *const *)a;
    const ft__rank_row *y = *(const ft__rank_row *const *)b;

    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return (x > y) - (x < y);
}

static size_t index_of(const struct choice_table *t, const char *choice)
{
    size_t i = 0;

    while (i < t->n_choices && strcmp(t->choice[i], choice) != 0)
        i++;
    return i;
}

static ft_status name_choices(struct choice_table *t, const ft__rank_row *row, size_t n,
                              ft_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (index_of(t, row[i].choice) < t->n_choices)
            continue;
        if (t->n_choices == MAX_CHOICES)
            return ft_fail(err, FT_EINVAL, 0, "more than %d choices", MAX_CHOICES);
        t->choice[t->n_choices++] = row[i].choice;
    }
    if (t->n_choices < 2)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "there is nothing to choose from: all rows are of %s",
                       t->n_choices ? t->choice[0] : "no device");
    return FT_OK;
}

/* The first rows of p[n] that are one item's, added up by choice; how many rows. */
static size_t gather(struct choice_sums *cell, const struct choice_table *t,
                     const ft__rank_row *const *p, size_t n)
{
    size_t len = 0;

    memset(cell, 0, t->n_choices * sizeof(*cell));
    for (; len < n && p[len]->item == p[0]->item; len++) {
        struct choice_sums *c = &cell[index_of(t, p[len]->choice)];

        c->truth += p[len]->truth;
        c->value += p[len]->value;
        c->low += p[len]->low;
        c->high += p[len]->high;
        c->n++;
    }
    for (size_t i = 0; i < t->n_choices; i++) {
        cell[i].truth /= cell[i].n;
        cell[i].value /= cell[i].n;
        cell[i].low /= cell[i].n;
        cell[i].high /= cell[i].n;
    }
    return len;
}

static bool is_complete(const struct choice_sums *cell, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(cell[i].n > 0))
            return false;
    return true;
}

static ft_status add_item(ft_rank_evaluation *out, struct choice_table *t,
                          const struct choice_sums *cell, ft_error *err)
{
    const ft_rank_options how = {.by = FT_RANK_BY_TIME, .n_draws = DRAWS};
    ft_rank_entry entry[MAX_CHOICES];
    ft_ranked ranked[MAX_CHOICES];
    size_t n = t->n_choices, best = 0, taken = 0;
    bool level = false;
    ft_status st;

    for (size_t i = 0; i < n; i++) {
        const ft_estimate e = {cell[i].value, cell[i].low, cell[i].high,
                               FT_BASIS_LEARNED, ""};

        entry[i] = (ft_rank_entry){.device = t->choice[i],
                                   .items = 1,
                                   .time = e,
                                   .memory_limit_bytes = NAN,
                                   .price_per_s = NAN,
                                   .co2_g_per_j = NAN};
        best = cell[i].truth < cell[best].truth ? i : best;
    }
    st = ft_rank(ranked, entry, n, &how, err);
    if (st)
        return st;
    for (size_t i = 0; i < n; i++) {
        t->loss[i] += cell[i].truth / cell[best].truth - 1;
        taken = ranked[i].place == 1 ? i : taken;
        level = level || ranked[i].level;
    }
    t->first[best]++;
    out->n_items++;
    out->right += !(cell[taken].truth > cell[best].truth);
    out->regret += cell[taken].truth / cell[best].truth - 1;
    out->expected_regret += ranked[taken].regret;
    out->level += level;
    out->regret_apart += level ? 0 : cell[taken].truth / cell[best].truth - 1;
    return FT_OK;
}

/* Sums become means. */
static void take_means(ft_rank_evaluation *out, const struct choice_table *t)
{
    double n = (double)out->n_items;
    size_t best = 0, worst = 0;

    for (size_t i = 1; i < t->n_choices; i++) {
        best = t->loss[i] < t->loss[best] ? i : best;
        worst = t->loss[i] > t->loss[worst] ? i : worst;
    }
    snprintf(out->constant, sizeof(out->constant), "%s", t->choice[best]);
    out->constant_right = t->first[best] / n;
    out->constant_regret = t->loss[best] / n;
    out->worst_regret = t->loss[worst] / n;
    out->regret_apart /= n - out->level; /* NaN: none could be distinguished */
    out->right /= n;
    out->regret /= n;
    out->expected_regret /= n;
    out->level /= n;
}

ft_status ft__rank_evaluate(ft_rank_evaluation *out, const ft__rank_row *row, size_t n,
                            ft_error *err)
{
    const ft__rank_row **p = calloc(n + 1, sizeof(*p));
    struct choice_sums cell[MAX_CHOICES];
    struct choice_table t = {.n_choices = 0};
    ft_status st;

    *out = (ft_rank_evaluation){.n_rows = n};
    if (!p)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    st = name_choices(&t, row, n, err);
    for (size_t i = 0; i < n; i++)
        p[i] = &row[i];
    qsort(p, n, sizeof(*p), by_item);
    for (size_t i = 0; i < n && !st;) {
        i += gather(cell, &t, p + i, n - i);
        if (is_complete(cell, t.n_choices))
            st = add_item(out, &t, cell, err);
    }
    free(p);
    out->n_choices = t.n_choices;
    if (!st && !out->n_items)
        st = ft_fail(err, FT_ENOTFOUND, 0, "no operation was measured on all of them");
    if (!st)
        take_means(out, &t);
    return st;
}

static ft_status find_order(ft_rank_evaluation *out, const ft__test_results *r,
                            ft_choices choices, ft_error *err)
{
    ft__rank_row *row = calloc(r->n + 1, sizeof(*row));
    ft_status st;

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "results");
    for (size_t i = 0; i < r->n; i++) {
        const ft__tested *v = &r->v[i].row;
        const ft__op_answer *predicted = &r->v[i].predicted;

        row[i] = (ft__rank_row){
            v->hash,
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

static ft_status run_all(ft__test_results *out, const ft__splits *s, ft__split_run *run,
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

ft_status ft__splits_evaluate(ft_evaluation *out, const ft__splits *s,
                              ft__split_run *run, void *user, ft__metric metric,
                              const ft_evaluate_options *opt, ft_error *err)
{
    const char(*names)[FT__SPLIT_NAME] = (const char(*)[FT__SPLIT_NAME])s->name;
    ft__test_results r = {0};
    ft_status st = run_all(&r, s, run, user, opt->log, err);

    if (!st)
        st = make_tables(out, &r, names, err);
    if (!st)
        tell_rows(&r, metric, names, opt);
    if (!st && opt->choices != FT_CHOICES_NONE && !opt->kernels)
        st = find_order(&out->order, &r, opt->choices, err);
    free(r.v);
    return st;
}
