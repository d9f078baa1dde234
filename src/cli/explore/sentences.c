/* What a report says in short. Every sentence follows from a table of the same report:
 * tests/cli/explore-sentences computes each claim anew from the JSON. */
#include <math.h>
#include <stdlib.h>

#include "cli/explore/explore.h"

enum { POINT_TEXT = 4096 };

/* Half a 95 % interval, in standard errors. */
#define HALF_WIDTH 1.96

static const char *percent(ft__formatted *buf, double share)
{
    *buf = ft__text_percent(share);
    return buf->s;
}

/* " (+25.0 %)" by how much the median differs from the best; "" where a share says
 * nothing. */
static const char *beside_best(char *buf, size_t size, double median, double best)
{
    *buf = '\0';
    if (best > 0 && median > 0)
        snprintf(buf, size, " (%s)", ft__text_signed(median / best - 1).s);
    return buf;
}

/* Points within the limits that differ from the best by no more than both err. */
static size_t as_good(const ft__explored *e, const ft__aspect *a)
{
    const size_t k = a->objective;
    const ft_trial *best = &e->t.v[a->best];
    size_t n = 0;

    for (size_t i = 0; i < e->t.n; i++) {
        const ft_trial *t = &e->t.v[i];

        n += i != a->best && t->workload == a->workload &&
             ft_trial_keeps_limits(e->x, t) &&
             fabs(t->value[k] - best->value[k]) <=
                 HALF_WIDTH * hypot(t->error[k], best->error[k]);
    }
    return n;
}

/* Do all points of the workload have one value? */
static bool is_flat(const ft__explored *e, const ft__aspect *a)
{
    return a->n > 1 && a->best < e->t.n &&
           e->t.v[a->worst].value[a->objective] == e->t.v[a->best].value[a->objective];
}

static void add_best(FILE *fp, const ft__explored *e, const ft__aspect *a)
{
    const ft_objective *o = &e->objective[a->objective];
    const char *workload = e->workload[a->workload];
    char point[POINT_TEXT], share[64];
    size_t alike;

    if (a->best == e->t.n) {
        if (a->n)
            fprintf(fp, "No point%s%s for which %s is known is within the limits.\n",
                    *workload ? " of " : "", workload, o->name);
        return;
    }
    if (is_flat(e, a)) {
        fprintf(fp, "%s%s%s is %s at all %s: no setting changes it.\n", o->name,
                *workload ? " of " : "", workload,
                ft__objective_text(o, e->t.v[a->best].value[a->objective]).s,
                ft__text_counted(a->n, "point").s);
        return;
    }
    alike = as_good(e, a);
    ft_point_print(e->x, e->t.v[a->best].point, point, sizeof(point));
    fprintf(fp, "Set %s: %s%s%s is %s; ", point, o->name, *workload ? " of " : "",
            workload, ft__objective_text(o, e->t.v[a->best].value[a->objective]).s);
    if (a->n == 1) {
        fputs("no other point is known.\n", fp);
        return;
    }
    fprintf(fp, "the median of %s is %s%s, the worst ",
            ft__text_counted(a->n, "point").s, ft__objective_text(o, a->median).s,
            beside_best(share, sizeof(share), a->median,
                        e->t.v[a->best].value[a->objective]));
    fputs(ft__objective_text(o, e->t.v[a->worst].value[a->objective]).s, fp);
    if (alike)
        fprintf(fp, "; %s may be as good, by their errors",
                ft__text_counted(alike, "other point").s);
    if (!e->predicted && isnan(e->t.v[a->best].error[a->objective]))
        fputs("; the error of the best is not known", fp);
    fputs(".\n", fp);
}

static void add_influence(FILE *fp, const ft__explored *e, const ft__aspect *a)
{
    const char *name = e->objective[a->objective].name;
    const char *workload = e->workload[a->workload];
    const double r2 = a->influence.r2;

    if (!a->has_influence || a->n_effects == 0 || !(a->effect[0].share >= 0.01))
        return;
    fprintf(fp, "%s%s%s ", name, *workload ? " of " : "", workload);
    if (!(r2 > 0)) {
        fprintf(fp,
                "is not explained by the parameters: a model of these %zu points "
                "is worse than their mean (R2 %.2f out of fold).\n",
                a->n, r2);
        return;
    }
    fprintf(fp, "is decided by");
    for (size_t i = 0; i < a->n_effects && i < 3 && a->effect[i].share >= 0.01; i++) {
        char effect[256];

        ft__effect_print(effect, sizeof(effect), e, &a->effect[i]);
        fprintf(fp, "%s %s (%s)", i ? "," : "", effect,
                ft__text_percent(a->effect[i].share).s);
    }
    if (r2 < 0.5)
        fprintf(fp, "; but the parameters explain only %s of its variance.\n",
                ft__text_percent(r2).s);
    else
        fputs(" of its variance.\n", fp);
}

/* Pairs of workloads under one objective. */
struct pairs_known {
    size_t n, known, same;        /* same: both have their best at one point */
    size_t unsure;                /* known, with an error that is not */
    const ft_transfer *most;      /* whose best costs most; NULL: none is known */
    const ft_transfer *most_sure; /* of those beyond their error; NULL: none is */
};

static bool is_sure(const ft_transfer *f)
{
    return f->regret - HALF_WIDTH * f->regret_error > 0; /* false for NaN */
}

static struct pairs_known pairs_of(const ft__explored *e, size_t k)
{
    struct pairs_known p = {.n = e->n_transfers};

    for (size_t i = 0; i < p.n; i++) {
        const ft_transfer *f = &e->transfer[k * e->n_transfers + i];

        if (isnan(f->regret))
            continue;
        p.known++;
        p.same += f->best == f->best_from;
        p.unsure += isnan(f->regret_error) != 0;
        if (!p.most || f->regret > p.most->regret)
            p.most = f;
        if (is_sure(f) && (!p.most_sure || f->regret > p.most_sure->regret))
            p.most_sure = f;
    }
    return p;
}

/* "What is best for image costs series 80.2 % +- 7.1 % in pass against its own best" */
static void add_cost(FILE *fp, const ft__explored *e, size_t k, const ft_transfer *f)
{
    ft__formatted text;

    fprintf(fp, "What is best for %s costs %s %s", e->workload[f->from],
            e->workload[f->to], percent(&text, f->regret));
    if (!isnan(f->regret_error))
        fprintf(fp, " +- %s", percent(&text, HALF_WIDTH * f->regret_error));
    fprintf(fp, " in %s against its own best", e->objective[k].name);
}

static void add_most(FILE *fp, const ft__explored *e, size_t k,
                     const struct pairs_known *p)
{
    add_cost(fp, e, k, p->most);
    fprintf(fp, ", the most of %s pairs", p->known == p->n ? "all" : "the known");
    if (!isnan(p->most->rank.r))
        fprintf(fp, " (ranks correlate %+.2f)", p->most->rank.r);
    if (isnan(p->most->regret_error))
        fprintf(fp, e->predicted ? "; predictions have no error here"
                                 : "; its error is not known");
}

static void add_within_errors(FILE *fp, const ft__explored *e, size_t k,
                              const struct pairs_known *p)
{
    ft__formatted text;

    if (p->most_sure) {
        add_cost(fp, e, k, p->most_sure);
        fprintf(fp, ", the most of those pairs that differ by more than their error");
        return;
    }
    fprintf(fp,
            "No pair of workloads is known to differ by more than its error (%s): "
            "the most is %s",
            e->objective[k].name, percent(&text, p->most->regret));
    fprintf(fp, " +- %s, of the best of %s for %s",
            percent(&text, HALF_WIDTH * p->most->regret_error),
            e->workload[p->most->from], e->workload[p->most->to]);
    if (p->unsure)
        fprintf(fp, "; of %s the error is not known",
                ft__text_counted(p->unsure, "pair").s);
}

static void add_transfer(FILE *fp, const ft__explored *e, size_t k)
{
    const struct pairs_known p = pairs_of(e, k);
    const char *name = e->objective[k].name;

    if (p.known == 0)
        fprintf(fp, "Whether the best of one workload suits another is not known (%s)",
                name);
    else if (p.same == p.known)
        fprintf(fp,
                p.known == p.n
                    ? "One point is the best of all workloads (%s)"
                    : "Known pairs of workloads have the same best point (%s)",
                name);
    else if (!(p.most->regret > 0))
        fprintf(fp, "What is best for one workload is as good for the others (%s)",
                name);
    else if (isnan(p.most->regret_error) || is_sure(p.most))
        add_most(fp, e, k, &p);
    else
        add_within_errors(fp, e, k, &p);
    if (p.known && p.known < p.n)
        fprintf(fp, "; of %zu of %zu pairs it is not known", p.n - p.known, p.n);
    fputs(".\n", fp);
}

/* Of every workload: then one point is as good as another. */
static bool is_flat_everywhere(const ft__explored *e, size_t k)
{
    for (uint32_t w = 0; w < e->n_workloads; w++)
        if (!is_flat(e, &e->aspect[w * e->n_objectives + k]))
            return false;
    return true;
}

static void print_all(FILE *fp, const ft__explored *e)
{
    for (uint32_t w = 0; w < e->n_workloads; w++) {
        const ft__aspect *a = &e->aspect[w * e->n_objectives];

        for (size_t k = 0; k < e->n_objectives; k++)
            add_best(fp, e, &a[k]);
        add_influence(fp, e, &a[0]);
    }
    for (size_t k = 0; k < e->n_objectives && e->n_workloads > 1; k++)
        if (!is_flat_everywhere(e, k))
            add_transfer(fp, e, k);
}

json_t *ft__explored_sentences(const ft__explored *e)
{
    json_t *all = json_array();
    char *text = NULL, *rest;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    bool good = fp != NULL;

    if (fp && e->t.n)
        print_all(fp, e);
    good = fp && fclose(fp) == 0;
    rest = text;
    for (char *line = good ? strtok_r(rest, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        ft__json_append_take(&all, ft__json_text(line));
    free(text);
    if (!good) {
        json_decref(all);
        all = NULL;
    }
    return all;
}
