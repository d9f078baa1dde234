/* foretell explore report, for programs. */
#include <math.h>
#include <string.h>

#include "cli/explore/explore.h"
#include "foretell/names.h"

enum { POINT_TEXT = 4096 };

/* {"threads": 2, "wait": "active"}; parameters that are not set are left out. */
static json_t *point_json(const ft__explored *e, const double *point)
{
    json_t *all = json_object();

    for (size_t k = 0; k < e->n_params; k++) {
        const ft_parameter *p = &e->param[k];

        if (!isnan(point[k]))
            ft__json_set_take(&all, p->name,
                              p->value ? ft__json_text(p->value[(size_t)point[k]])
                                       : ft__json_real(point[k]));
    }
    return all;
}

static json_t *by_objective(const ft__explored *e, const double *v)
{
    json_t *all = json_object();

    for (size_t k = 0; k < e->n_objectives; k++)
        ft__json_set_take(&all, e->objective[k].name, ft__json_real(v[k]));
    return all;
}

static json_t *trials_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t i = 0; i < e->t.n; i++) {
        const ft_trial *t = &e->t.v[i];

        ft__json_append_take(
            &all, ft__json("workload:s point:o values:o errors:o runs:n front:b "
                           "within_limits:b failure:s output:s",
                           e->workload[t->workload], point_json(e, t->point),
                           by_objective(e, t->value), by_objective(e, t->error),
                           t->runs, e->front[i], ft_trial_keeps_limits(e->x, t),
                           t->failure, t->output));
    }
    return all;
}

static json_t *influence_json(const ft__explored *e, const ft__aspect *a)
{
    const ft_influence *in = &a->influence;
    json_t *main = json_object(), *pairs = json_array();

    for (size_t k = 0; k < e->n_params; k++)
        ft__json_set_take(&main, e->param[k].name, ft__json_real(in->main[k]));
    for (size_t x = 0; x < e->n_params; x++)
        for (size_t y = x + 1; y < e->n_params; y++)
            ft__json_append_take(&pairs, ft__json("a:s b:s share:g", e->param[x].name,
                                                  e->param[y].name,
                                                  in->pair[x * e->n_params + y]));
    return ft__json("main:o pairs:o r2:g", main, pairs, in->r2);
}

static json_t *model_json(const ft__explored *e, const ft_influence_model *m)
{
    json_t *all = json_array();

    for (size_t i = 0; i < m->n; i++) {
        const ft_influence_term *t = &m->term[i];
        json_t *factors = json_array();

        for (int k = 0; k < 2; k++) {
            const ft_parameter *p = t->param[k] < 0 ? NULL : &e->param[t->param[k]];

            if (!p)
                continue;
            ft__json_append_take(&factors,
                                 ft__json("parameter:s value:o power:d", p->name,
                                          t->category[k] < 0
                                              ? json_null()
                                              : ft__json_text(p->value[t->category[k]]),
                                          t->power[k]));
        }
        ft__json_append_take(
            &all, ft__json("coefficient:g factors:o", t->coefficient, factors));
    }
    return ft__json("terms:o r2:g", all, m->r2);
}

static json_t *aspects_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t i = 0; e->t.n && i < e->n_workloads * e->n_objectives; i++) {
        const ft__aspect *a = &e->aspect[i];
        bool any = a->best < e->t.n;

        ft__json_append_take(
            &all,
            ft__json("workload:s objective:s points:u best:o best_value:g median:g "
                     "influence:o model:o",
                     e->workload[a->workload], e->objective[a->objective].name, a->n,
                     any ? point_json(e, e->t.v[a->best].point) : json_null(),
                     any ? e->t.v[a->best].value[a->objective] : NAN, a->median,
                     a->has_influence ? influence_json(e, a) : json_null(),
                     a->has_influence ? model_json(e, &a->model) : json_null()));
    }
    return all;
}

static json_t *correlation_json(const ft_correlation *c)
{
    return ft__json("r:g low:g high:g n:u", c->r, c->low, c->high, c->n);
}

static json_t *correlations_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t i = 0; e->t.n && i < e->n_workloads * e->n_relations; i++) {
        const ft__relation *r = &e->relation[i];

        ft__json_append_take(
            &all, ft__json("workload:s a:s b:s pearson:o spearman:o kendall:o",
                           e->workload[i / e->n_relations], r->a, r->b,
                           correlation_json(&r->r[FT_PEARSON]),
                           correlation_json(&r->r[FT_SPEARMAN]),
                           correlation_json(&r->r[FT_KENDALL])));
    }
    return all;
}

static json_t *transfers_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t i = 0; e->t.n && i < e->n_objectives * e->n_transfers; i++) {
        const ft_transfer *f = &e->transfer[i];

        ft__json_append_take(
            &all, ft__json("objective:s from:s to:s rank:o regret:g regret_error:g "
                           "few:u error_with:g error_without:g",
                           e->objective[i / e->n_transfers].name, e->workload[f->from],
                           e->workload[f->to], correlation_json(&f->rank), f->regret,
                           f->regret_error, f->few, f->with, f->without));
    }
    return all;
}

static json_t *parameters_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t k = 0; k < e->n_params; k++) {
        const ft_parameter *p = &e->param[k];
        json_t *values =
            p->value ? ft__json_texts((const char *const *)p->value, p->n_values)
                     : json_null();

        ft__json_append_take(
            &all, ft__json("name:s type:s values:o low:g high:g log:b", p->name,
                           ft_name(FT_NAMES_PARAM_TYPE, p->type), values,
                           p->value ? NAN : p->low, p->value ? NAN : p->high, p->log));
    }
    return all;
}

static json_t *objectives_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t k = 0; k < e->n_objectives; k++) {
        const ft_objective *o = &e->objective[k];

        ft__json_append_take(&all,
                             ft__json("name:s unit:s goal:s limit:g", o->name, o->unit,
                                      o->maximize ? "maximize" : "minimize", o->limit));
    }
    return all;
}

static json_t *volumes_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (uint32_t w = 0; e->t.n && w < e->n_workloads; w++)
        ft__json_append_take(&all, ft__json("workload:s hypervolume:g", e->workload[w],
                                            e->hypervolume[w]));
    return all;
}

static json_t *document(const ft__explored *e)
{
    return ft__json("name:s points:u predicted:u runs:u failed:u parameters:o "
                    "objectives:o trials:o "
                    "fronts:o aspects:o correlations:o transfers:o",
                    ft_exploration_get(e->x)->name, e->t.n, e->predicted, e->runs,
                    e->failed, parameters_json(e), objectives_json(e), trials_json(e),
                    volumes_json(e), aspects_json(e), correlations_json(e),
                    transfers_json(e));
}

bool ft__explored_json(const ft__explored *e)
{
    return ft__json_print_take(document(e), stdout);
}

/* ---- a page ---- */

static const char page[] = {
#include "page.inc"
    , 0};

bool ft__explored_page(const ft__explored *e, FILE *fp)
{
    static const char mark[] = "@DATA@";
    const char *at = strstr(page, mark);
    json_t *doc = document(e);
    bool good = doc && at;

    if (good) {
        fwrite(page, 1, (size_t)(at - page), fp);
        char *text = json_dumps(doc, JSON_COMPACT);

        /* '<' stands in texts only, and "</script>" or "<!--" there would end the data.
         */
        good = text != NULL;
        for (const char *s = text; good && *s; s++)
            if (*s == '<')
                fputs("\\u003c", fp);
            else
                fputc(*s, fp);
        free(text);
        fputs(at + sizeof(mark) - 1, fp);
    }
    json_decref(doc);
    return good && !ferror(fp);
}

/* ---- CSV: a line a point and workload ---- */

void ft__number_csv(double v, char end)
{
    if (!isnan(v))
        printf("%.17g", v);
    putchar(end);
}

void ft__point_csv(const ft_exploration_facts *f, const double *point)
{
    for (size_t k = 0; k < f->n_params; k++)
        if (f->param[k].value && !isnan(point[k]))
            ft__record_csv_text(stdout, f->param[k].value[(size_t)point[k]], ',');
        else
            ft__number_csv(point[k], ',');
}

void ft__explored_csv(const ft__explored *e)
{
    fputs("workload,", stdout);
    for (size_t k = 0; k < e->n_params; k++)
        ft__record_csv_text(stdout, e->param[k].name, ',');
    for (size_t k = 0; k < e->n_objectives; k++)
        printf("%s,%s_error,", e->objective[k].name, e->objective[k].name);
    puts("runs,front,failure");
    for (size_t i = 0; i < e->t.n; i++) {
        const ft_trial *t = &e->t.v[i];

        ft__record_csv_text(stdout, e->workload[t->workload], ',');
        ft__point_csv(ft_exploration_get(e->x), t->point);
        for (size_t k = 0; k < e->n_objectives; k++) {
            ft__number_csv(t->value[k], ',');
            ft__number_csv(t->error[k], ',');
        }
        printf("%u,%d,", t->runs, e->front[i]);
        ft__record_csv_text(stdout, t->failure ? t->failure : "", '\n');
    }
}
