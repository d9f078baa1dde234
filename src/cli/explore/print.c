/* foretell explore report, for reading. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore/explore.h"

enum { POINT_TEXT = 4096, SHOWN_INFLUENCES = 8, SHOWN_FAILURES = 5 };

/* " of image" */
static const char *of_workload(const ft__explored *e, uint32_t w, char *buf,
                               size_t size)
{
    snprintf(buf, size, "%s%s", *e->workload[w] ? " of " : "", e->workload[w]);
    return buf;
}

static const ft__aspect *aspect_of(const ft__explored *e, uint32_t w, size_t k)
{
    return &e->aspect[w * e->n_objectives + k];
}

/* ---- fronts ---- */

static void value_cells(ft__table *t, const ft__explored *e, const ft_trial *trial)
{
    for (size_t k = 0; k < e->n_objectives; k++) {
        double v = trial->value[k], error = trial->error[k];

        if (error > 0 && v != 0)
            ft__table_cell(t, "%s +-%s", ft__objective_text(&e->objective[k], v).s,
                           ft__text_percent(fabs(1.96 * error / v)).s);
        else
            ft__table_cell(t, "%s", ft__objective_text(&e->objective[k], v).s);
    }
}

static ft__table *table_of(const ft__explored *e, const char *first)
{
    char columns[POINT_TEXT];
    size_t len = (size_t)snprintf(columns, sizeof(columns), "%s<", first);

    for (size_t k = 0; k < e->n_objectives && len < sizeof(columns); k++)
        len += (size_t)snprintf(columns + len, sizeof(columns) - len, "|%s>",
                                e->objective[k].name);
    return ft__table_new(columns);
}

static ft__table *front_table(const ft__explored *e, const size_t *at, size_t n)
{
    ft__table *t = table_of(e, "best settings");
    char text[POINT_TEXT];

    for (size_t k = 0; k < n; k++) {
        const ft_trial *trial = &e->t.v[at[k]];

        ft__trial_text(e, trial, text, sizeof(text));
        ft__table_cell(t, "%s", text);
        value_cells(t, e, trial);
    }
    return t;
}

static void front_line(const ft__explored *e, uint32_t w, size_t n)
{
    printf("\n%s%s: %zu point%s that no other beats in every objective", e->workload[w],
           *e->workload[w] ? "" : "front", n, n == 1 ? "" : "s");
    if (!isnan(e->hypervolume[w]))
        printf(", hypervolume %.3f", e->hypervolume[w]);
    puts(n == 0 ? " and is within the limits" : "");
}

static bool print_front(const ft__explored *e, uint32_t w, uint64_t top)
{
    unsigned char *may = calloc(e->t.n + 1, 1);
    size_t *at = calloc(e->t.n + 1, sizeof(*at)), n = 0, shown;
    bool printed = may && at;

    for (size_t i = 0; i < e->t.n && printed; i++) {
        may[i] = e->t.v[i].workload == w && e->front[i];
        n += may[i];
    }
    if (printed) {
        shown = ft__explored_spread(at, e, may, top < n ? (size_t)top : n);
        front_line(e, w, n);
        printed = n == 0 || ft__table_print_take(front_table(e, at, shown), stdout);
        if (n > shown)
            printf("and %zu more between these; --top shows them\n", n - shown);
    }
    free(may);
    free(at);
    return printed;
}

/* ---- what matters ---- */

struct effect {
    size_t a, b; /* equal: one parameter alone */
    double share;
};

static int by_share(const void *x, const void *y)
{
    double a = ((const struct effect *)x)->share, b = ((const struct effect *)y)->share;

    return (a < b) - (a > b);
}

/* Main effects and pairs, the largest first; the caller frees. */
static struct effect *effects_of(const ft_influence *in, size_t *n)
{
    struct effect *v = malloc((in->k * in->k + 1) * sizeof(*v));

    *n = 0;
    for (size_t a = 0; a < in->k && v; a++) {
        v[(*n)++] = (struct effect){a, a, in->main[a]};
        for (size_t b = a + 1; b < in->k; b++)
            v[(*n)++] = (struct effect){a, b, in->pair[a * in->k + b]};
    }
    if (v)
        qsort(v, *n, sizeof(*v), by_share);
    return v;
}

static void effect_text(const ft__explored *e, const struct effect *v, char *buf,
                        size_t size)
{
    snprintf(buf, size, "%s%s%s", e->param[v->a].name, v->a == v->b ? "" : " with ",
             v->a == v->b ? "" : e->param[v->b].name);
}

static void print_influence(const ft__explored *e, const ft__aspect *a)
{
    size_t n, shown = 0, width = 0;
    struct effect *v = effects_of(&a->influence, &n);
    char of[128], name[256];

    printf("\nwhat decides %s%s (%zu points, R2 %.2f out of fold)\n",
           e->objective[a->objective].name, of_workload(e, a->workload, of, sizeof(of)),
           a->n, a->influence.r2);
    while (v && shown < n && shown < SHOWN_INFLUENCES && v[shown].share >= 0.01) {
        effect_text(e, &v[shown++], name, sizeof(name));
        width = strlen(name) > width ? strlen(name) : width;
    }
    for (size_t i = 0; i < shown; i++) {
        char padded[256];

        effect_text(e, &v[i], name, sizeof(name));
        snprintf(padded, sizeof(padded), "%-*s", (int)width, name);
        ft__bar_print(stdout, padded, v[i].share, ft__text_percent(v[i].share).s);
    }
    free(v);
}

/* ---- correlations ---- */

static ft__formatted correlation_text(const ft_correlation *c)
{
    ft__formatted t = {"-"};

    if (!isnan(c->r))
        snprintf(t.s, sizeof(t.s), "%+.2f (%+.2f..%+.2f)", c->r, c->low, c->high);
    return t;
}

static bool print_correlations(const ft__explored *e, uint32_t w)
{
    ft__table *t = ft__table_new("correlation<|Pearson>|Spearman>|Kendall>");
    size_t n = 0;

    for (size_t i = 0; i < e->n_relations; i++) {
        const ft__relation *r = &e->relation[w * e->n_relations + i];
        char name[256];

        if (isnan(r->r[FT_SPEARMAN].r))
            continue;
        snprintf(name, sizeof(name), "%s, %s", r->a, r->b);
        ft__table_row(t, name, correlation_text(&r->r[FT_PEARSON]).s,
                      correlation_text(&r->r[FT_SPEARMAN]).s,
                      correlation_text(&r->r[FT_KENDALL]).s);
        n++;
    }
    if (n)
        putchar('\n');
    return ft__table_print_take(t, n ? stdout : NULL);
}

/* ---- transfer ---- */

static bool print_transfers(const ft__explored *e, size_t k)
{
    ft__table *t = ft__table_new("best of<|used for<|ranks>|worse than its own best>|"
                                 "learned from few>%|with the other's>%");

    for (size_t i = 0; i < e->n_transfers; i++) {
        const ft_transfer *f = &e->transfer[k * e->n_transfers + i];
        char worse[128] = "not known";

        if (!isnan(f->regret))
            snprintf(worse, sizeof(worse), "%s%s%s", ft__text_percent(f->regret).s,
                     isnan(f->regret_error) ? "" : " +-",
                     isnan(f->regret_error)
                         ? ""
                         : ft__text_percent(1.96 * f->regret_error).s);
        ft__table_row(t, e->workload[f->from], e->workload[f->to],
                      correlation_text(&f->rank).s, worse, f->without, f->with);
    }
    printf("\ndoes the best of one workload suit another? %s\n", e->objective[k].name);
    if (!ft__table_print_take(t, stdout))
        return false;
    printf("learned from few: median error of the rest, learned from %zu points of the "
           "workload at random;\nthen with all points of the other one as well\n",
           e->n_transfers ? e->transfer[k * e->n_transfers].few : 0);
    return true;
}

/* ---- in three sentences ---- */

static void say_best(const ft__explored *e, uint32_t w, size_t k)
{
    const ft__aspect *a = aspect_of(e, w, k);
    const ft_objective *o = &e->objective[k];
    char point[POINT_TEXT], of[128];

    if (a->best == e->t.n)
        return;
    ft__trial_text(e, &e->t.v[a->best], point, sizeof(point));
    printf("- Set %s: %s%s is %s; the median of %zu points is %s (%s), the worst %s.\n",
           point, o->name, of_workload(e, w, of, sizeof(of)),
           ft__objective_text(o, e->t.v[a->best].value[k]).s, a->n,
           ft__objective_text(o, a->median).s,
           ft__text_signed(a->median / e->t.v[a->best].value[k] - 1).s,
           ft__objective_text(o, e->t.v[a->worst].value[k]).s);
}

static void say_influence(const ft__explored *e, uint32_t w, size_t k)
{
    const ft__aspect *a = aspect_of(e, w, k);
    size_t n;
    struct effect *v;
    char of[128];

    if (!a->has_influence || !(v = effects_of(&a->influence, &n)))
        return;
    if (n == 0 || !(v[0].share >= 0.01)) {
        free(v);
        return;
    }
    printf("- %s%s is decided by", e->objective[k].name,
           of_workload(e, w, of, sizeof(of)));
    for (size_t i = 0; i < n && i < 3 && v[i].share >= 0.01; i++) {
        char name[256];

        effect_text(e, &v[i], name, sizeof(name));
        printf("%s %s (%s)", i ? "," : "", name, ft__text_percent(v[i].share).s);
    }
    puts(a->influence.r2 < 0.5 ? "; but half of its variance and more is not explained "
                                 "by the parameters."
                               : " of its variance.");
    free(v);
}

/* What it costs at least. */
static double surely(const ft_transfer *f)
{
    return f->regret - 1.96 * f->regret_error;
}

static struct rank_remark {
    char s[64];
} ranks(const ft_transfer *f)
{
    struct rank_remark r = {""};

    if (!isnan(f->rank.r))
        snprintf(r.s, sizeof(r.s), " (ranks correlate %+.2f)", f->rank.r);
    return r;
}

static void say_transfer(const ft__explored *e, size_t k)
{
    const ft_transfer *worst = NULL;

    for (size_t i = 0; i < e->n_transfers; i++) {
        const ft_transfer *f = &e->transfer[k * e->n_transfers + i];

        if (!isnan(f->regret) && (!worst || surely(f) > surely(worst)))
            worst = f;
    }
    if (!worst)
        return;
    if (!(surely(worst) > 0) && !isnan(worst->regret_error))
        printf("- What is best for one workload is, within what was measured, best for "
               "the others (%s).\n",
               e->objective[k].name);
    else
        printf("- What is best for %s costs %s %s in %s against its own best, the most "
               "of all pairs%s.\n",
               e->workload[worst->from], e->workload[worst->to],
               ft__text_percent(worst->regret).s, e->objective[k].name, ranks(worst).s);
}

static void print_summary(const ft__explored *e)
{
    puts("\nin short");
    for (uint32_t w = 0; w < e->n_workloads; w++) {
        for (size_t k = 0; k < e->n_objectives; k++)
            say_best(e, w, k);
        say_influence(e, w, 0);
    }
    for (size_t k = 0; k < e->n_objectives && e->n_workloads > 1; k++)
        say_transfer(e, k);
}

/* ---- all of it ---- */

static void print_failures(const ft__explored *e)
{
    size_t shown = 0;
    char text[POINT_TEXT];

    if (e->failed == 0)
        return;
    printf("\n%zu failed\n", e->failed);
    for (size_t i = 0; i < e->t.n && shown < SHOWN_FAILURES; i++) {
        if (!e->t.v[i].failure)
            continue;
        ft__trial_text(e, &e->t.v[i], text, sizeof(text));
        printf("  %s%s%s: ", e->workload[e->t.v[i].workload],
               *e->workload[e->t.v[i].workload] ? " " : "", text);
        ft__put_line(stdout, "", e->t.v[i].failure);
        shown++;
    }
    if (e->failed > shown)
        printf("  and %zu more; --json has them all, with what they wrote\n",
               e->failed - shown);
}

static void print_predicted(const ft__explored *e)
{
    printf("%s: %zu points predicted in %s, none was run\n",
           ft_exploration_get(e->x)->name, e->predicted,
           ft__text_seconds(e->seconds).s);
    if (e->t.n < e->predicted)
        puts("effects and medians below are of randomly drawn points");
}

bool ft__explored_print(const ft__explored *e, uint64_t top)
{
    bool printed = true;

    if (e->predicted)
        print_predicted(e);
    else
        printf("%s: %zu results (points and workloads), %zu runs in all, %zu failed\n",
               ft_exploration_get(e->x)->name, e->t.n, e->runs, e->failed);
    for (uint32_t w = 0; w < e->n_workloads && printed; w++)
        printed = print_front(e, w, top);
    for (uint32_t w = 0; w < e->n_workloads && printed; w++) {
        for (size_t k = 0; k < e->n_objectives; k++)
            if (aspect_of(e, w, k)->has_influence)
                print_influence(e, aspect_of(e, w, k));
        printed = print_correlations(e, w);
    }
    for (size_t k = 0; k < e->n_objectives && e->n_workloads > 1 && printed; k++)
        printed = print_transfers(e, k);
    print_failures(e);
    if (printed)
        print_summary(e);
    return printed;
}
